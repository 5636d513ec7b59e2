//! The compact form of G45: 64 bits whose indices select common bits of the native form. G45 vol. 4, 11.6.
//!
//! Two tables of the manual lost digits in print; ERRATA.md E4 says how ours were found.

use super::fields::{self as l, f};
use super::rules::Broken;
use gpucc_isa::{Op, OpId, Table};

static ROWS: &[Op] = &[Op {
    cite: "11.6, table 13-18, E4",
    ..Op::new(OpId(0), "compact", &l::COMPACT, &[(f::COMPACT, 1)])
}];

/// The compact word as a table of one row.
pub static TABLE: Table = Table::new("compact", ROWS);

/// Bits 31 and 23:8.
pub const CONTROL: [u32; 32] = [
    0x00000, 0x08000, 0x06000, 0x00002, 0x04000, 0x02000, 0x08020, 0x08100, 0x0a020, 0x00102,
    0x18000, 0x01102, 0x09100, 0x00100, 0x18020, 0x01100, 0x16000, 0x1a020, 0x06100, 0x04100,
    0x08008, 0x08004, 0x07800, 0x05600, 0x06010, 0x02100, 0x08024, 0x08028, 0x06006, 0x0000a,
    0x0a028, 0x0a024,
];

/// Bits 63:61 and 46:32.
pub const DATATYPE: [u32; 32] = [
    0x08021, 0x0b5ad, 0x08231, 0x0f7bd, 0x0b5ac, 0x081ad, 0x08020, 0x145b1, 0x0c62d, 0x08022,
    0x08236, 0x10231, 0x08232, 0x18232, 0x0f7bc, 0x08128, 0x14631, 0x0a529, 0x08229, 0x10236,
    0x28231, 0x0b62d, 0x08109, 0x0b62c, 0x34631, 0x083bd, 0x30231, 0x1812a, 0x28229, 0x0b58c,
    0x081a1, 0x0a508,
];

/// Bits 100:96, 68:64 and 52:48.
pub const SUBREG: [u32; 32] = [
    0x0000, 0x0080, 0x0200, 0x0800, 0x0020, 0x4000, 0x0010, 0x1800, 0x1400, 0x0100, 0x1000, 0x0008,
    0x0040, 0x0001, 0x0400, 0x00a0, 0x0007, 0x0220, 0x3000, 0x0180, 0x0002, 0x0004, 0x0060, 0x0802,
    0x1cc6, 0x1d08, 0x0cc6, 0x0218, 0x0c84, 0x1806, 0x0086, 0x0230,
];

/// Bits 88:77 for the first source, 120:109 for the second.
pub const SOURCE: [u32; 32] = [
    0x000, 0x468, 0x588, 0x690, 0x348, 0x58a, 0x570, 0x678, 0x228, 0x028, 0x450, 0xf6c, 0x58c,
    0x46c, 0x694, 0x44c, 0x328, 0x002, 0xf4c, 0x668, 0x548, 0x004, 0x02c, 0x46a, 0x038, 0x558,
    0x120, 0x580, 0x404, 0x438, 0x160, 0xf74,
];

/// Opcode of the filler, which the tables do not concern.
const NENOP: u32 = 0x7d;

/// Pieces of the native form: where they come from in a looked-up value (low bit, width), and where they lie.
type Pieces = &'static [(u32, u32, u32)];

const CONTROL_PIECES: Pieces = &[(16, 1, 31), (0, 16, 8)];
const DATATYPE_PIECES: Pieces = &[(15, 3, 61), (0, 15, 32)];
const SUBREG_PIECES: Pieces = &[(10, 5, 96), (5, 5, 64), (0, 5, 48)];
const SRC0_PIECES: Pieces = &[(0, 12, 77)];
const SRC1_PIECES: Pieces = &[(0, 12, 109)];
/// Fields that both forms have: compact field, low bit in the native form, width.
const COMMON: &[(gpucc_isa::FieldId, u32, u32)] = &[
    (f::OPCODE, 0, 7),
    (f::DEBUG_CTRL, 30, 1),
    (f::COND_MODIFIER, 24, 4),
    (f::FLAG_SUBREG, 89, 1),
    (f::DST_REG, 53, 8),
    (f::SRC0_REG, 69, 8),
    (f::SRC1_REG, 101, 8),
];
/// Index, table and what it gives.
type LookedUp = (gpucc_isa::FieldId, &'static [u32; 32], Pieces);

const LOOKED_UP: &[LookedUp] = &[
    (f::CONTROL_INDEX, &CONTROL, CONTROL_PIECES),
    (f::DATATYPE_INDEX, &DATATYPE, DATATYPE_PIECES),
    (f::SUBREG_INDEX, &SUBREG, SUBREG_PIECES),
    (f::SRC0_INDEX, &SOURCE, SRC0_PIECES),
    (f::SRC1_INDEX, &SOURCE, SRC1_PIECES),
];

const fn ones(width: u32) -> u128 {
    (1 << width) - 1
}

/// The native form of a compact word.
///
/// # Errors
/// Reserved bits of the compact word.
pub fn expand(word: u64) -> Result<u128, Broken> {
    let inst = TABLE
        .decode(u128::from(word))
        .map_err(|what| Broken::Layout { which: "the compact form", what })?;
    let mut native = 0u128;
    for &(id, low, _) in COMMON {
        native |= u128::from(inst.get(id)) << low;
    }
    if inst.get(f::OPCODE) == NENOP {
        // The filler has no operands, so nothing is looked up.
        let rest = word & !(0x7f | 1 << 7 | 1 << 29);
        return if rest == 0 { Ok(native) } else { Err(Broken::Nenop) };
    }
    for &(id, table, pieces) in LOOKED_UP {
        let value = u128::from(table[inst.get(id) as usize]);
        for &(from, width, to) in pieces {
            native |= (value >> from & ones(width)) << to;
        }
    }
    Ok(native)
}

/// The compact form of a native word, `None` where the tables lack its bits.
pub fn compact(native: u128) -> Option<u64> {
    let mut inst = gpucc_isa::Inst::new(&ROWS[0]);
    let mut covered = 0u128;
    for &(id, low, width) in COMMON {
        inst.set(id, (native >> low & ones(width)) as u32).ok()?;
        covered |= ones(width) << low;
    }
    if inst.get(f::OPCODE) != NENOP {
        for &(id, table, pieces) in LOOKED_UP {
            let mut value = 0;
            for &(from, width, to) in pieces {
                value |= (native >> to & ones(width)) << from;
                covered |= ones(width) << to;
            }
            let index = table.iter().position(|known| u128::from(*known) == value)?;
            inst.set(id, index as u32).ok()?;
        }
    }
    (native & !covered == 0).then_some(inst.bits() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_of_a_table_stands_twice() {
        for table in [&CONTROL, &DATATYPE, &SUBREG, &SOURCE] {
            for (i, row) in table.iter().enumerate() {
                assert!(!table[..i].contains(row), "{row:#x}");
            }
        }
    }

    #[test]
    fn every_index_expands_and_comes_back() {
        for index in 0..32u64 {
            for low in [8, 13, 18, 30, 35] {
                let word = 0x40 | 1 << 29 | index << low;
                let native = expand(word).expect("no reserved bits");
                assert_eq!(compact(native), Some(word), "{word:#x}");
            }
        }
    }

    #[test]
    fn bits_that_no_row_has_have_no_compact_form() {
        let native = expand(0x40 | 1 << 29).expect("all indices 0");
        assert_eq!(compact(native | 0xf << 16), None, "a predicate that no row has");
        assert_eq!(compact(native | 1 << 125), None, "a bit that the form lacks");
        assert!(expand(1 << 29 | 1 << 23 | 0x40).is_err(), "MaskCtrlEx is reserved");
    }
}
