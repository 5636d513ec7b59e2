//! What differs between cores. 3.3, 7.

/// A core.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Its public name.
    pub name: &'static str,
    /// Floats round to nearest, else toward zero.
    pub rounds_even: bool,
    /// Pixel outputs 4 to 7 exist.
    pub eight_outputs: bool,
    /// Fragments iterate by control groups, else by the backend.
    pub iterates_by_control: bool,
    /// Texture operations have extension C.
    pub extended_lookup: bool,
}

impl Core {
    /// BXS-4-64. Its extended lookup is ours to assume: nothing public that we have says which core has it [A].
    pub const BXS_4_64: Core = Core {
        name: "bxs-4-64",
        rounds_even: true,
        eight_outputs: true,
        iterates_by_control: true,
        extended_lookup: true,
    };

    /// AXE-1-16M. Nothing public that we have says more than its rounding; the rest is the least [A].
    pub const AXE_1_16M: Core = Core {
        name: "axe-1-16m",
        rounds_even: false,
        eight_outputs: false,
        iterates_by_control: false,
        extended_lookup: false,
    };

    /// GX6250. The public compiler gives it eight outputs.
    pub const GX6250: Core = Core {
        name: "gx6250",
        rounds_even: false,
        eight_outputs: true,
        iterates_by_control: false,
        extended_lookup: false,
    };
}
