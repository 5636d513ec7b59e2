//! Which core a program is for, and what that changes. isa/rogue-pipeline.md 3.3, 7.

#[cfg(feature = "emulator")]
use crate::emu::Core;
use crate::inst::TEMPS;
use crate::legal::Features;

/// A core.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Chip {
    /// GX6250: rounds toward zero and iterates by the backend.
    Gx6250,
    /// AXE-1-16M: rounds toward zero and iterates by the backend. Its store is a quarter of the others'.
    Axe116m,
    /// BXS-4-64: rounds to nearest, iterates by control groups and renders to layers.
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

    /// What the legality rules ask. `eight_output_registers` is a feature of GX6250 alone, `tpu_extended_integer_lookup` one of all.
    pub fn features(self) -> Features {
        Features {
            eight_outputs: self == Chip::Gx6250,
            enhanced_iteration: self.iterates_by_control(),
            integer_lookup: true,
        }
    }

    /// Vertices say which layer they are for: `gs_rta_support`.
    pub fn renders_layers(self) -> bool {
        self != Chip::Axe116m
    }

    /// Samples of a pixel: `max_multisample`.
    pub fn samples(self) -> u64 {
        if self == Chip::Gx6250 { 8 } else { 4 }
    }

    /// Components of a vertex's varyings: fewer where the vertex buffer has 160 entries of primitives (`uvs_pba_entries`).
    pub fn varying_components(self) -> u64 {
        if self == Chip::Bxs464 { 64 } else { 128 }
    }

    /// Invocations of a workgroup: AXE-1-16M has 14 places for tasks (`usc_slots`), fewer than 512 invocations take. 3.3.
    pub fn invocations(self) -> u64 {
        if self == Chip::Axe116m { 384 } else { 512 }
    }

    /// Lines of the unified store that temporaries may have, each 64 temporaries of a task. Two are not theirs. 3.3.
    fn store_lines(self) -> u32 {
        /// `unified_store_depth`, banks beside each other, and words of a line.
        const BANKS: u32 = 8;
        const LINE: u32 = 128;
        let depth = if self == Chip::Axe116m { 64 } else { 256 };
        (depth * BANKS / LINE).saturating_sub(2)
    }

    /// Temporaries of an instance: two tasks fill the store at most. 3.3.
    pub fn temps(self) -> u16 {
        (self.store_lines() * 64).min(u32::from(TEMPS)) as u16
    }

    /// Temporaries of an instance where so many tasks wait for one another: all of them are there at once, beside another one. 3.3.
    pub fn temps_together(self, tasks: u32) -> u16 {
        if tasks < 2 {
            return self.temps();
        }
        // Whole lines of a task; where there are not as many, units of four temporaries, of which a line has 16.
        let units = match self.store_lines() / (tasks + 1) {
            0 => self.store_lines() * 16 / (tasks + 1),
            lines => 16 * lines,
        };
        (4 * units).min(self.temps().into()) as u16
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of the public driver for 32 to 512 invocations.
    #[test]
    fn tasks_that_wait_for_one_another_share_the_store() {
        let together = |chip: Chip| [1, 2, 3, 4, 8, 12, 16].map(|tasks| chip.temps_together(tasks));
        assert_eq!(together(Chip::Gx6250), [248, 248, 192, 128, 64, 64, 52]);
        assert_eq!(together(Chip::Bxs464), together(Chip::Gx6250));
        assert_eq!(together(Chip::Axe116m), [128, 40, 32, 24, 12, 8, 4]);
    }
}
