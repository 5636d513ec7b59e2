//! Arithmetic, comparisons, lanes and branches.

use super::convert::{convert, count_lanes, one_half, part, shift};
use super::*;
use crate::emu::inst::{BranchBits, Logic, Shift, Truth};

pub(super) fn alu(inst: &mut Inst, code: Code, bits: Bits) -> Result<(), Refused> {
    let ty = inst.ty;
    let by_type = match ty {
        Ty::V2F16 | Ty::Int { bits: 16 | 8, .. } => Result_::Halves,
        Ty::F16 => Result_::Half,
        Ty::F32 | Ty::Int { bits: 32, .. } => Result_::Word,
        Ty::Int { .. } => Result_::Pair,
    };
    let float = |i| float_source(bits, i, ty, true);
    let plain = |i| source(bits, i, false);
    let int = |i| int_source(bits, i, ty);
    let mut result = by_type;
    let (op, sources) = match code {
        Code::Nop => {
            result = Result_::None;
            (Op::Nop, vec![])
        }
        Code::Branch => {
            result = Result_::None;
            let op = Op::Branch {
                bits: branch_bits(bits)?,
                on_zero: bits.has(ON_ZERO),
                offset: (bits.get(BRANCH_OFFSET) << 5) as i32 >> 5,
            };
            (op, vec![plain(0)?])
        }
        Code::Jump => {
            result = Result_::None;
            if !bits.has(ABSOLUTE) {
                return Err(unsupported("the unit of a jump relative to here"));
            }
            let op = Op::Jump { bits: branch_bits(bits)?, on_zero: bits.has(ON_ZERO) };
            (op, vec![plain(0)?, plain(1)?])
        }
        Code::Discard => {
            result = Result_::None;
            (Op::Discard(cmp(bits.get(CMP))), vec![float(0)?, float(1)?])
        }
        Code::FAdd | Code::FAddLscale => {
            if bits.has(STICKY) {
                return Err(unsupported("what a sticky addition keeps"));
            }
            let (round, clamp) = (round(bits.get(ROUND))?, clamp(bits));
            let op = if code == Code::FAdd {
                Op::FAdd { round, clamp }
            } else {
                Op::FAddLscale { round, clamp }
            };
            (op, vec![float(0)?, float(1)?])
        }
        Code::FMin { max } => {
            let op = Op::FMin { max, propagate: bits.has(NAN_RULE), clamp: clamp(bits) };
            (op, vec![float(0)?, float(1)?])
        }
        Code::Fma => {
            let op = Op::Fma { round: round(bits.get(ROUND))?, clamp: clamp(bits) };
            (op, vec![float(0)?, float(1)?, float(2)?])
        }
        Code::FmaRscale => {
            let no = |i| float_source(bits, i, ty, false);
            let op = Op::FmaRscale {
                special: bits.get(RSCALE_SPECIAL) as u8,
                round: if bits.has(RSCALE_ZERO) { Round::Zero } else { Round::Even },
                clamp: clamp(bits),
            };
            (op, vec![no(0)?, no(1)?, no(2)?, plain(3)?])
        }
        Code::FExp => (Op::FExp, vec![plain(0)?, float(1)?]),
        Code::Ldexp => {
            if bits.has(LDEXP_INF) {
                return Err(unsupported("LDEXP's rules for infinities"));
            }
            let op = Op::Ldexp { round: round(bits.get(ROUND_TIES))? };
            (op, vec![float_source(bits, 0, ty, false)?, plain(1)?])
        }
        Code::Frexpm => {
            let op = Op::Frexpm { special: bits.get(FREXP_MODE) as u8 };
            (op, vec![float(0)?])
        }
        Code::Frexpe => {
            let mut a = plain(0)?;
            a.select = match ty {
                Ty::V2F16 => halves(bits.get(HALVES0)),
                _ => widen(bits.get(WIDEN0))?,
            };
            let op = Op::Frexpe { special: bits.get(FREXP_MODE) as u8, neg: bits.has(NEG_RESULT) };
            (op, vec![a])
        }
        Code::Flush => {
            let op = Op::Flush {
                nan: bits.get(NAN_MODE) as u8,
                ftz: bits.has(FTZ),
                inf: bits.has(FLUSH_INF),
            };
            (op, vec![float(0)?])
        }
        Code::FRound => (Op::FRound(round(bits.get(ROUND_TIES))?), vec![float(0)?]),
        Code::Frcp | Code::Frsq => {
            let mut a = float_source(bits, 0, ty, ty == Ty::F32)?;
            if ty == Ty::F16 {
                a.select = one_half(bits);
            }
            let op = if code == Code::Frcp { Op::Frcp } else { Op::Frsq };
            (op, vec![a])
        }
        Code::Flogd => (Op::Flogd, vec![float(0)?]),
        Code::FSinTable | Code::FCosTable => {
            if bits.has(TABLE_OFFSET) {
                return Err(unsupported("the offset of a trigonometric table"));
            }
            let op = if code == Code::FSinTable { Op::FSinTable } else { Op::FCosTable };
            (op, vec![plain(0)?])
        }
        Code::Mov => (Op::Move, vec![plain(0)?]),
        Code::Clz => {
            if bits.has(LEADING_ONES) {
                return Err(unsupported("the mask of CLZ"));
            }
            let mut a = plain(0)?;
            if matches!(ty, Ty::Int { bits: 16, .. }) {
                a.select = halves(bits.get(HALVES0));
            }
            (Op::Clz, vec![a])
        }
        Code::IAbs => (Op::IAbs, vec![int(0)?]),
        Code::Popcount => (Op::Popcount, vec![plain(0)?]),
        Code::BitRev => (Op::BitRev, vec![plain(0)?]),
        Code::NotOld => {
            let op = Op::ShiftLogic { shift: Shift::Left, logic: Logic::Or, not_result: false };
            (op, vec![source(bits, 0, by_type == Result_::Pair)?])
        }
        Code::Wmask => {
            let size = subgroup(bits);
            (Op::Wmask { size }, vec![plain(0)?])
        }
        Code::IAdd { sub } => {
            let op = Op::IAdd { sub, saturate: bits.has(SATURATE) };
            (op, vec![int(0)?, int(1)?])
        }
        Code::IAddCarry { sub } => {
            let op = Op::IAddCarry { sub, carry: bits.has(CARRY) };
            (op, vec![plain(0)?, plain(1)?, plain(2)?])
        }
        Code::IMul => {
            // The 64-bit form multiplies two numbers of 32 bits and has no saturation.
            let saturate = by_type != Result_::Pair && bits.has(SATURATE);
            (Op::IMul { saturate }, vec![int(0)?, int(1)?])
        }
        Code::HAdd => {
            let up = bits.has(UP);
            (Op::HAdd { up }, vec![int(0)?, int(1)?])
        }
        Code::ShiftAdd => {
            let op = Op::ShiftAdd { shift: bits.get(SHIFT) as u8 };
            (op, vec![source(bits, 0, true)?, int(1)?])
        }
        Code::Clper => {
            let xor = match bits.get(LANE_OP) {
                0 => false,
                1 => true,
                _ => return Err(unsupported("how CLPER accumulates, shifts and rotates")),
            };
            let mut b = plain(1)?;
            b.select = count_lanes(bits.get(SHIFT_BYTE), 32)?;
            let op = Op::Clper {
                xor,
                size: subgroup(bits),
                inactive: INACTIVE_VALUES[bits.get(INACTIVE) as usize],
            };
            (op, vec![plain(0)?, b])
        }
        Code::MakeHalves => {
            let half = |i, field| part(bits, i, 2 * bits.get(field), 2);
            result = Result_::Word;
            (Op::MakeHalves, vec![half(0, HALF0)?, half(1, HALF1)?])
        }
        Code::MakeBytes => {
            let byte = |i, field| part(bits, i, bits.get(field), 1);
            result = Result_::Word;
            let sources = vec![byte(0, BYTE_AT_38)?, byte(1, BYTE_AT_36)?, part(bits, 2, 0, 2)?];
            (Op::MakeBytes, sources)
        }
        Code::Mux => {
            let mut sources = vec![plain(0)?, plain(1)?, plain(2)?];
            if matches!(ty, Ty::Int { bits: 16, .. }) {
                for (source, field) in sources.iter_mut().zip([HALVES0, HALVES1, HALVES2]) {
                    source.select = halves(bits.get(field));
                }
            }
            (Op::Mux(bits.get(MUX) as u8), sources)
        }
        Code::CubeSelect { t } => {
            let f = |i| float_source(bits, i, Ty::F32, true);
            (Op::CubeSelect { t }, vec![f(0)?, f(1)?, plain(2)?])
        }
        Code::CubeMajor | Code::CubeFace => {
            let f = |i| float_source(bits, i, Ty::F32, true);
            let op = if code == Code::CubeMajor { Op::CubeMajor } else { Op::CubeFace };
            (op, vec![f(0)?, f(1)?, f(2)?])
        }
        Code::Dot => {
            result = Result_::Word;
            let op = Op::Dot { saturate: bits.has(SATURATE) };
            (op, vec![plain(0)?, plain(1)?, plain(2)?])
        }
        Code::Compare(combine) => {
            let [a, b] = match ty {
                Ty::Int { .. } => [int(0)?, int(1)?],
                _ => [float(0)?, float(1)?],
            };
            let truth = match bits.get(TRUTH) {
                0 => Truth::One,
                1 => Truth::Float,
                2 => Truth::Minus,
                _ => Truth::Low,
            };
            let op = Op::Compare { cmp: cmp(bits.get(CMP)), truth, combine };
            (op, vec![a, b, plain(2)?])
        }
        Code::Select => {
            let sources = vec![plain(0)?, plain(1)?, plain(2)?, plain(3)?];
            (Op::Select(cmp(bits.get(CMP))), sources)
        }
        Code::IAddImm => (Op::IAddImm(bits.get(IMMEDIATE)), vec![plain(0)?]),
        Code::FAddImm => (Op::FAddImm(bits.get(IMMEDIATE)), vec![plain(0)?]),
        Code::ShiftLogic => return shift(inst, bits),
        _ => return convert(inst, code, bits),
    };
    inst.op = op;
    inst.sources = sources;
    dest(inst, bits, result)
}

/// NOT_OLD as a shift: zero, shifted by nothing, or the complement of the source.
pub(super) fn complemented(source: Source) -> Vec<Source> {
    let zero = Source { place: Place::Constant(0), last: false, ..source };
    let count = Source { wide: false, select: Select::Bytes([0; 4]), ..zero };
    let not = Source { not: true, ..source };
    vec![zero, count, not]
}

/// `branch_combine_m`.
fn branch_bits(bits: Bits) -> Result<BranchBits, Refused> {
    match bits.get(BRANCH_BITS) {
        0 => Ok(BranchBits::Whole),
        1 => Ok(BranchBits::Low),
        2 => Ok(BranchBits::High),
        3 => Err(unsupported("how a branch combines both halves")),
        4 => Err(unsupported("which bits of a branch are the lowest")),
        other => Err(reserved(format!("branch combine {other}"))),
    }
}

/// Lanes of a subgroup.
fn subgroup(bits: Bits) -> u8 {
    2 << bits.get(SUBGROUP)
}

/// `clper_inactive_result_m`.
const INACTIVE_VALUES: [u32; 16] = [
    0,
    0xFFFF_FFFF,
    1,
    0x0001_0001,
    0x8000_0000,
    0x7FFF_FFFF,
    0x8000_8000,
    0x7FFF_7FFF,
    0x8080_8080,
    0x7F7F_7F7F,
    0x3F80_0000,
    0x3C00_3C00,
    0xFF80_0000,
    0x7F80_0000,
    0xFC00_FC00,
    0x7C00_7C00,
];
