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
    /// Vertices may name a layer.
    pub render_targets: bool,
    /// Depth of the unified store, of eight banks.
    pub store_depth: u32,
    /// Invocations that a workgroup may have.
    pub most_invocations: u32,
    /// Words of a vertex that vary over a primitive.
    pub most_varyings: u32,
}

impl Core {
    /// BXS-4-64. Its public header has no `eight_output_registers`.
    pub const BXS_4_64: Core = Core {
        name: "bxs-4-64",
        rounds_even: true,
        eight_outputs: false,
        iterates_by_control: true,
        extended_lookup: true,
        render_targets: true,
        store_depth: 256,
        most_invocations: 512,
        most_varyings: 64,
    };

    /// AXE-1-16M. Its store has a depth of 64, and it has 14 slots for tasks.
    pub const AXE_1_16M: Core = Core {
        name: "axe-1-16m",
        rounds_even: false,
        eight_outputs: false,
        iterates_by_control: false,
        extended_lookup: true,
        render_targets: false,
        store_depth: 64,
        most_invocations: 384,
        most_varyings: 128,
    };

    /// GX6250. Its public header has `eight_output_registers`, and its vendor's configuration `gs_rta_support`.
    pub const GX6250: Core = Core {
        name: "gx6250",
        rounds_even: false,
        eight_outputs: true,
        iterates_by_control: false,
        extended_lookup: true,
        render_targets: true,
        store_depth: 256,
        most_invocations: 512,
        most_varyings: 128,
    };

    /// Blocks of the store that temporaries have: one is 64 temporaries of the 32 instances of a task. The first two are others'. 3.3.
    const fn blocks(&self) -> u32 {
        self.store_depth / 16 - 2
    }

    /// Temporaries that an instance may have: half of the store, and not more than an operand names. 3.3.
    pub const fn temporaries(&self) -> u32 {
        let half = 128 * self.blocks() / 2;
        if half < 248 { half } else { 248 }
    }

    /// Whether so many tasks of so many temporaries are there at once, with room for one more. A task has whole blocks, or quads of
    /// temporaries where there are more tasks than blocks. 3.3.
    pub const fn holds(&self, tasks: u32, temps: u32) -> bool {
        let whole = self.blocks() / (tasks + 1);
        if whole > 0 {
            return temps <= 64 * whole;
        }
        temps.div_ceil(4) <= 16 * self.blocks() / (tasks + 1)
    }
}
