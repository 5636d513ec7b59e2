//! Arithmetic, comparisons, lanes and branches.

use super::convert::{count_lanes, shift_or_convert};
use super::*;
use crate::emu::inst::{BranchBits, Combine, Logic, Shift, Truth};

pub(super) fn alu(inst: &mut Inst, stem: &str, bits: Bits) -> Result<(), Refused> {
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
    let two = bits.at(30, 2);
    let three = bits.at(30, 3);
    let mut result = by_type;
    let (op, sources) = match stem {
        "NOP" => {
            result = Result_::None;
            (Op::Nop, vec![])
        }
        "BRANCHZ" | "BRANCH" => {
            result = Result_::None;
            let bit = branch_bits(bits)?;
            let offset = (bits.at(8, 27) << 5) as i32 >> 5;
            let on_zero = bits.flag(36);
            (
                Op::Branch {
                    bits: bit,
                    on_zero,
                    offset,
                },
                vec![plain(0)?],
            )
        }
        "BRANCHZI" => {
            result = Result_::None;
            if !bits.flag(40) {
                return Err(unsupported("the unit of a jump relative to here"));
            }
            let op = Op::Jump {
                bits: branch_bits(bits)?,
                on_zero: bits.flag(36),
            };
            (op, vec![plain(0)?, plain(1)?])
        }
        "DISCARD" => {
            result = Result_::None;
            let sources = vec![
                float_source(bits, 0, Ty::F32, true)?,
                float_source(bits, 1, Ty::F32, true)?,
            ];
            (Op::Discard(cmp(bits.at(32, 3))), sources)
        }
        "FADD" | "FADD_LSCALE" => {
            if bits.flag(34) {
                return Err(unsupported("what a sticky addition keeps"));
            }
            let (round, clamp) = (round(two)?, clamp(bits));
            let op = if stem == "FADD" {
                Op::FAdd { round, clamp }
            } else {
                Op::FAddLscale { round, clamp }
            };
            (op, vec![float(0)?, float(1)?])
        }
        "FMIN" | "FMAX" => {
            if two > 1 {
                return Err(reserved("a NaN rule above 1"));
            }
            let op = Op::FMin {
                max: stem == "FMAX",
                propagate: two == 1,
                clamp: clamp(bits),
            };
            (op, vec![float(0)?, float(1)?])
        }
        "FMA" => {
            let op = Op::Fma {
                round: round(two)?,
                clamp: clamp(bits),
            };
            (op, vec![float(0)?, float(1)?, float(2)?])
        }
        "FMA_RSCALE" | "FMA_RSCALE_N" | "FMA_RSCALE_LEFT" | "FMA_RSCALE_SCALE16" => {
            let no = |i| float_source(bits, i, ty, false);
            let op = Op::FmaRscale {
                special: bits.at(48, 2) as u8,
                round: if bits.flag(50) {
                    Round::Zero
                } else {
                    Round::Even
                },
                clamp: clamp(bits),
            };
            (op, vec![no(0)?, no(1)?, no(2)?, plain(3)?])
        }
        "FEXP" => (Op::FExp, vec![plain(0)?, float(1)?]),
        "LDEXP" => {
            if bits.at(28, 2) != 0 {
                return Err(unsupported("LDEXP's rules for infinities"));
            }
            let op = Op::Ldexp {
                round: round(three)?,
            };
            (op, vec![float_source(bits, 0, ty, false)?, plain(1)?])
        }
        "FREXPM" => {
            let op = Op::Frexpm {
                special: bits.at(24, 2) as u8,
            };
            (op, vec![float(0)?])
        }
        "FREXPE" => {
            let mut a = plain(0)?;
            a.select = match ty {
                Ty::V2F16 => halves(bits.at(28, 2)),
                _ => widen(bits.at(28, 2))?,
            };
            let op = Op::Frexpe {
                special: bits.at(24, 2) as u8,
                neg: bits.flag(30),
            };
            (op, vec![a])
        }
        "FLUSH" => {
            let op = Op::Flush {
                nan: bits.at(8, 2) as u8,
                ftz: bits.flag(10),
                inf: bits.flag(11),
            };
            (op, vec![float(0)?])
        }
        "FROUND" => (Op::FRound(round(three)?), vec![float(0)?]),
        "FRCP" | "FRSQ" => {
            let mut a = float_source(bits, 0, ty, ty == Ty::F32)?;
            if ty == Ty::F16 {
                let half = bits.at(28, 1) as u8;
                a.select = Select::Bytes([2 * half, 2 * half + 1, 2 * half, 2 * half + 1]);
            }
            (if stem == "FRCP" { Op::Frcp } else { Op::Frsq }, vec![a])
        }
        "FLOGD" => (Op::Flogd, vec![float(0)?]),
        "FSIN_TABLE" | "FCOS_TABLE" => {
            result = Result_::Word;
            if bits.flag(30) {
                return Err(unsupported("the offset of a trigonometric table"));
            }
            let op = if stem == "FSIN_TABLE" {
                Op::FSinTable
            } else {
                Op::FCosTable
            };
            (op, vec![plain(0)?])
        }
        "MOV" => (Op::Move, vec![plain(0)?]),
        "CLZ" => {
            if bits.flag(30) {
                return Err(unsupported("the mask of CLZ"));
            }
            let mut a = plain(0)?;
            if matches!(ty, Ty::Int { bits: 16, .. }) {
                a.select = halves(bits.at(28, 2));
            }
            (Op::Clz, vec![a])
        }
        "IABS" => (Op::IAbs, vec![int(0)?]),
        "POPCOUNT" => (Op::Popcount, vec![plain(0)?]),
        "BITREV" => (Op::BitRev, vec![plain(0)?]),
        "NOT_OLD" => {
            let wide = by_type == Result_::Pair;
            let mut b = source(bits, 0, wide)?;
            b.not = true;
            let mut zero = b;
            zero.place = Place::Constant(0);
            zero.not = false;
            zero.last = false;
            let op = Op::ShiftLogic {
                shift: Shift::Left,
                logic: Logic::Or,
                not_result: false,
            };
            let count = Source {
                wide: false,
                select: Select::Bytes([0; 4]),
                ..zero
            };
            (op, vec![zero, count, b])
        }
        "WMASK" => {
            let size = subgroup(bits)?;
            (Op::Wmask { size }, vec![plain(0)?])
        }
        "IADD" | "ISUB" => {
            let op = Op::IAdd {
                sub: stem == "ISUB",
                saturate: bits.flag(30),
            };
            (op, vec![int(0)?, int(1)?])
        }
        "IADDC" | "ISUBB" => {
            let op = Op::IAddCarry {
                sub: stem == "ISUBB",
                carry: bits.flag(30),
            };
            (op, vec![plain(0)?, plain(1)?, plain(2)?])
        }
        "IMUL" | "IMULD" => {
            // The 64-bit form multiplies two numbers of 32 bits and has no saturation.
            let saturate = by_type != Result_::Pair && bits.flag(30);
            let mut sources = vec![int(0)?, int(1)?];
            if by_type == Result_::Pair {
                for source in &mut sources {
                    if source.select == Select::Whole {
                        return Err(reserved("a 64-bit factor"));
                    }
                    source.wide = false;
                }
            }
            (Op::IMul { saturate }, sources)
        }
        "HADD" => (Op::HAdd { up: bits.flag(30) }, vec![int(0)?, int(1)?]),
        "SHADDX" | "SHADD" => {
            let op = Op::ShiftAdd {
                shift: bits.at(20, 3) as u8,
            };
            (op, vec![source(bits, 0, true)?, int(1)?])
        }
        "CLPER" => {
            let xor = match bits.at(32, 4) {
                0 => false,
                1 => true,
                2..=4 => return Err(unsupported("how CLPER accumulates, shifts and rotates")),
                other => return Err(reserved(format!("lane operation {other}"))),
            };
            let mut b = plain(1)?;
            b.select = count_lanes(bits.at(26, 4), 32)?;
            let op = Op::Clper {
                xor,
                size: subgroup(bits)?,
                inactive: INACTIVE[bits.at(22, 4) as usize],
            };
            (op, vec![plain(0)?, b])
        }
        "MKVEC" if matches!(ty, Ty::Int { bits: 16, .. }) => {
            let half = |i, at| -> Result<Source, Refused> {
                let mut s = plain(i)?;
                // Two bits in the public table, one in Arm's: both name the half that is taken.
                s.select = Select::Integer {
                    first: 2 * bits.at(at, 1) as u8,
                    width: 2,
                };
                Ok(s)
            };
            result = Result_::Word;
            (Op::MakeHalves, vec![half(0, 28)?, half(1, 26)?])
        }
        "MKVEC" => {
            let byte = |i, at| -> Result<Source, Refused> {
                let mut s = plain(i)?;
                s.select = Select::Integer {
                    first: bits.at(at, 2) as u8,
                    width: 1,
                };
                Ok(s)
            };
            result = Result_::Word;
            let mut high = plain(2)?;
            high.select = Select::Integer { first: 0, width: 2 };
            (Op::MakeBytes, vec![byte(0, 38)?, byte(1, 36)?, high])
        }
        "MUX" => {
            let mut sources = vec![plain(0)?, plain(1)?, plain(2)?];
            if matches!(ty, Ty::Int { bits: 16, .. }) {
                for (i, source) in sources.iter_mut().enumerate() {
                    source.select = halves(bits.at(28 - 2 * i as u32, 2));
                }
            }
            (Op::Mux(bits.at(32, 2) as u8), sources)
        }
        "CUBE_SSEL" | "CUBE_TSEL" => {
            result = Result_::Word;
            let t = stem == "CUBE_TSEL";
            let f = |i| float_source(bits, i, Ty::F32, true);
            (Op::CubeSelect { t }, vec![f(0)?, f(1)?, plain(2)?])
        }
        "CUBEFACE1" | "CUBEFACE2" | "CUBEFACE2_V9" => {
            result = Result_::Word;
            let f = |i| float_source(bits, i, Ty::F32, true);
            let op = if stem == "CUBEFACE1" {
                Op::CubeMajor
            } else {
                Op::CubeFace
            };
            (op, vec![f(0)?, f(1)?, f(2)?])
        }
        "IDP" | "IDPADD" => {
            result = Result_::Word;
            let op = Op::Dot {
                saturate: bits.flag(30),
            };
            (op, vec![plain(0)?, plain(1)?, plain(2)?])
        }
        "ICMP_OR" | "ICMP_AND" | "ICMP_MULTI" | "FCMP_OR" | "FCMP_AND" => {
            let a = match ty {
                Ty::Int { .. } => [int(0)?, int(1)?],
                _ => [float(0)?, float(1)?],
            };
            let truth = match two {
                0 => Truth::One,
                1 => Truth::Float,
                2 => Truth::Minus,
                _ => Truth::Low,
            };
            let combine = match &stem[5..] {
                "OR" => Combine::Or,
                "AND" => Combine::And,
                _ => Combine::Multi,
            };
            let op = Op::Compare {
                cmp: int_cmp(ty, bits)?,
                truth,
                combine,
            };
            (op, vec![a[0], a[1], plain(2)?])
        }
        "CSEL" => {
            let sources = vec![plain(0)?, plain(1)?, plain(2)?, plain(3)?];
            (Op::Select(int_cmp(ty, bits)?), sources)
        }
        "IADD_IMM" => (Op::IAddImm(bits.at(8, 32)), vec![plain(0)?]),
        "FADD_IMM" => (Op::FAddImm(bits.at(8, 32)), vec![plain(0)?]),
        _ => return shift_or_convert(inst, stem, bits),
    };
    inst.op = op;
    inst.sources = sources;
    dest(inst, bits, result)
}

/// `branch_combine_m`.
fn branch_bits(bits: Bits) -> Result<BranchBits, Refused> {
    match bits.at(37, 3) {
        0 => Ok(BranchBits::Whole),
        1 => Ok(BranchBits::Low),
        2 => Ok(BranchBits::High),
        3 => Err(unsupported("how a branch combines both halves")),
        4 => Err(unsupported("which bits of a branch are the lowest")),
        other => Err(reserved(format!("branch combine {other}"))),
    }
}

fn int_cmp(ty: Ty, bits: Bits) -> Result<Cmp, Refused> {
    let cmp = cmp(bits.at(32, 3));
    if matches!(ty, Ty::Int { .. }) && matches!(cmp, Cmp::GtLt | Cmp::Total) {
        return Err(reserved("an integer comparison of floats"));
    }
    Ok(cmp)
}

fn subgroup(bits: Bits) -> Result<u8, Refused> {
    match bits.at(36, 4) {
        code @ 0..=3 => Ok(2 << code),
        other => Err(reserved(format!("subgroup {other}"))),
    }
}

/// `clper_inactive_result_m`.
const INACTIVE: [u32; 16] = [
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
