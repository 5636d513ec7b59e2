//! Which core a program is for, and what that changes. isa/rogue-pipeline.md 3.3, 7.

#[cfg(feature = "emulator")]
use crate::emu::Core;
use crate::legal::Features;

/// A core.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Chip {
    /// GX6250: rounds toward zero and iterates by the backend.
    Gx6250,
    /// AXE-1-16M: rounds toward zero. What else it has is assumed to be the least [A].
    Axe116m,
    /// BXS-4-64: rounds to nearest and iterates by control groups.
    Bxs464,
}

/// The names of the chips, the usual one first.
pub const NAMES: &[&str] = &["gx6250", "axe1_16m", "bxs_4_64"];

impl Chip {
    /// By its name; the usual one for a name that is none.
    pub fn named(name: &str) -> Chip {
        match name {
            "axe1_16m" => Chip::Axe116m,
            "bxs_4_64" => Chip::Bxs464,
            _ => Chip::Gx6250,
        }
    }

    /// Sums, products and conversions round to nearest, ties to even; toward zero otherwise.
    pub fn rounds_even(self) -> bool {
        self == Chip::Bxs464
    }

    /// Fragments iterate by control groups; by the backend otherwise.
    pub fn iterates_by_control(self) -> bool {
        self == Chip::Bxs464
    }

    /// What the legality rules ask.
    pub fn features(self) -> Features {
        Features {
            eight_outputs: self != Chip::Axe116m,
            enhanced_iteration: self.iterates_by_control(),
            integer_lookup: self == Chip::Bxs464,
        }
    }

    /// The emulated core.
    #[cfg(feature = "emulator")]
    pub(crate) fn core(self) -> Core {
        match self {
            Chip::Gx6250 => Core::GX6250,
            Chip::Axe116m => Core::AXE_1_16M,
            Chip::Bxs464 => Core::BXS_4_64,
        }
    }
}
