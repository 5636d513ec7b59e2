//! Chips as the emulator knows them, apart from what the compiler does: R700 ISA 3.6.5 (the stack), register guide
//! (SQ_CONFIG, PA_SC_MPASS_PS_CNTL) and what peers' drivers program.

use crate::Chip;

/// What differs between chips for a program that runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Lanes of a wavefront.
    pub wave: u32,
    /// Elements of the stack that a loop takes, and those of a call.
    pub looping: u32,
    pub call: u32,
    /// Registers of a lane, for all stages and their clause temporaries.
    pub rows: u32,
    /// Entries of the stack for pixels and for vertices, as peers' drivers split them.
    pub stack: u32,
    /// VTX clauses have a cache of their own.
    pub vertex_cache: bool,
    /// AR.x indexes registers.
    pub indexes: bool,
    /// Behind a group that writes a register by index stands one of NOPs.
    pub rests: bool,
}

const fn row(wave: u32, [looping, call, stack]: [u32; 3], rows: u32, has: [bool; 3]) -> Facts {
    let [vertex_cache, indexes, rests] = has;
    Facts { wave, looping, call, rows, stack, vertex_cache, indexes, rests }
}

/// The row of a chip.
pub const fn facts(chip: Chip) -> Facts {
    match chip {
        Chip::Rv770 | Chip::Rv790 => row(64, [4, 1, 128], 256, [true, true, true]),
        Chip::Rv740 => row(64, [4, 1, 128], 128, [true, true, false]),
        Chip::Rv730 => row(32, [8, 1, 128], 128, [true, true, false]),
        Chip::Rv710 => row(32, [8, 1, 128], 256, [false, true, false]),
        Chip::R600 => row(64, [4, 1, 128], 256, [true, false, true]),
        Chip::Rv670 => row(64, [4, 1, 40], 256, [true, true, false]),
        Chip::Rv630 | Chip::Rv635 => row(32, [8, 1, 40], 128, [true, false, true]),
        Chip::Rv610 | Chip::Rv620 => row(16, [8, 2, 40], 128, [false, false, true]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_readings_of_the_chips_agree() {
        for chip in Chip::ALL.into_iter().chain(Chip::R6XX) {
            let theirs = Facts {
                wave: chip.wave(),
                looping: chip.loop_elements(),
                call: chip.call_elements(),
                rows: chip.register_rows(),
                stack: chip.stage_stack(),
                vertex_cache: chip.has_vertex_cache(),
                indexes: chip.indexes_registers(),
                rests: chip.rests_after_indexed_writes(),
            };
            assert_eq!(facts(chip), theirs, "{}", chip.name());
        }
    }
}
