//! A 64-bit word as an instruction. The table says which row it is and refuses what is reserved; where
//! operands and modifiers stand is read here from Arm's description, apart from the encoder.

use super::fau;
use super::inst::{
    BranchBits, Clamp, Cmp, Combine, Dest, Flow, Inst, Logic, Op, Place, Round, Select, Shift,
    Source, Staging, Truth, Ty,
};
use super::message;
use super::rule::{Rule, Trap};
use super::undocumented;

/// The small constants. isa 1.2; Arm's `small_constant_t` names the same.
pub const CONSTANTS: [u32; 32] = [
    0x0000_0000,
    0xFFFF_FFFF,
    0x7FFF_FFFF,
    0xFAFC_FDFE,
    0x0100_0000,
    0x8000_2000,
    0x7060_5030,
    0xC0B0_A090,
    0x0302_0100,
    0x0706_0504,
    0x0B0A_0908,
    0x0F0E_0D0C,
    0x1312_1110,
    0x1716_1514,
    0x1B1A_1918,
    0x1F1E_1D1C,
    0x3F80_0000,
    0x3DCC_CCCD,
    0x3EA2_F983,
    0x3F31_7218,
    0x4049_0FDB,
    0x0000_0000,
    0x477F_FF00,
    0x5C00_5BF8,
    0x2E66_0000,
    0x3400_0000,
    0x3800_0000,
    0x3C00_0000,
    0x4000_0000,
    0x4400_0000,
    0x4800_0000,
    0x4248_0000,
];

/// An error of decoding: rule and what happened.
pub type Refused = (Rule, String);

/// The bits of one instruction.
#[derive(Copy, Clone)]
pub struct Bits(pub u64);

impl Bits {
    /// `width` bits from `low`.
    pub const fn at(self, low: u32, width: u32) -> u32 {
        (self.0 >> low & ((1 << width) - 1)) as u32
    }

    /// One bit.
    pub const fn flag(self, low: u32) -> bool {
        self.0 >> low & 1 == 1
    }
}

pub fn reserved(what: impl std::fmt::Display) -> Refused {
    (Rule::Reserved, format!("{what} is reserved"))
}

/// Refuses what no document defines: `what` says what of it.
pub fn unsupported(what: impl std::fmt::Display) -> Refused {
    (Rule::Unsupported, format!("no document defines {what}"))
}

/// Decodes the word at `offset`.
///
/// # Errors
/// What the table refuses; operands that the manual forbids whatever is in the registers.
pub fn decode(word: u64, offset: u32) -> Result<Inst, Trap> {
    decode_word(word).map_err(|(rule, detail)| Trap::new(rule, offset, detail))
}

fn decode_word(word: u64) -> Result<Inst, Refused> {
    let row = crate::isa::TABLE
        .decode(u128::from(word))
        .map_err(|error| (Rule::Reserved, error.to_string()))?;
    crate::isa::limits::check(&row).map_err(|error| (Rule::Reserved, error.to_string()))?;
    let name = row.op().name;
    if row.op().flags & crate::isa::ops::flag::FOREIGN != 0 {
        let detail = format!("Arm's description of v9 has no {name}");
        return Err((Rule::Reserved, detail));
    }
    let bits = Bits(word);
    let mut inst = Inst {
        name,
        op: Op::Nop,
        ty: Ty::Int {
            bits: 32,
            signed: false,
        },
        sources: Vec::new(),
        dest: None,
        read: None,
        write: None,
        slot: None,
        flow: flow(bits.at(59, 4))?,
    };
    // What follows the type says what the fields say too.
    let mut parts = name.split('.');
    let (stem, suffix) = (parts.next().unwrap_or(name), parts.next().unwrap_or(""));
    if let Some(ty) = ty(suffix) {
        inst.ty = ty;
    }
    if let Some(what) = undocumented::of(name) {
        return Err(unsupported(what));
    }
    if !message::decode(&mut inst, stem, suffix, bits)? {
        alu(&mut inst, stem, bits)?;
    }
    fau::check(&inst, bits.at(57, 2))?;
    operands(&inst)?;
    Ok(inst)
}

/// isa 1.6.
fn flow(code: u32) -> Result<Flow, Refused> {
    let mut flow = Flow::default();
    match code {
        0..=7 => flow.wait = code as u8,
        8 => flow.wait = 0x47,
        9 => flow.wait = 0xC7,
        10 => flow.reconverge = true,
        13 => flow.discard = true,
        15 => flow.end = true,
        _ => return Err(reserved(format!("flow {code}"))),
    }
    Ok(flow)
}

fn ty(suffix: &str) -> Option<Ty> {
    let int = |bits, signed| Some(Ty::Int { bits, signed });
    match suffix {
        "f32" => Some(Ty::F32),
        "v2f16" => Some(Ty::V2F16),
        "f16" => Some(Ty::F16),
        "i32" | "u32" => int(32, false),
        "s32" => int(32, true),
        "v2i16" | "v2u16" => int(16, false),
        "v2s16" => int(16, true),
        "v4i8" | "v4u8" | "v2i8" => int(8, false),
        "v4s8" => int(8, true),
        "i64" | "u64" => int(64, false),
        "s64" => int(64, true),
        _ => None,
    }
}

/// A source byte. isa 1.2.
pub fn source(bits: Bits, index: u32, wide: bool) -> Result<Source, Refused> {
    let byte = bits.at(8 * index, 8) as u8;
    let page = bits.at(57, 2) as u8;
    let (place, last) = match byte >> 6 {
        0 | 1 => (Place::Reg(byte & 63), byte & 64 != 0),
        2 => (
            Place::Uniform(u16::from(page) * 64 + u16::from(byte & 63)),
            false,
        ),
        _ if byte < 0xE0 => (Place::Constant(CONSTANTS[usize::from(byte & 31)]), false),
        _ => (Place::Special(page, byte >> 1 & 15, byte & 1), false),
    };
    Ok(Source {
        place,
        last,
        wide,
        select: Select::Whole,
        neg: false,
        abs: false,
        not: false,
    })
}

/// Neg and abs of source `i` stand at 38 - 2i and 39 - 2i; widening and swizzles of floats at 28 - 2i.
fn float_source(bits: Bits, i: u32, ty: Ty, selects: bool) -> Result<Source, Refused> {
    let mut out = source(bits, i, false)?;
    out.neg = bits.flag(38 - 2 * i);
    out.abs = bits.flag(39 - 2 * i);
    if selects {
        let code = bits.at(28 - 2 * i, 2);
        out.select = match ty {
            Ty::V2F16 => halves(code),
            _ => widen(code)?,
        };
    }
    Ok(out)
}

/// `widen_m`.
fn widen(code: u32) -> Result<Select, Refused> {
    match code {
        0 => Ok(Select::Whole),
        1 => Ok(Select::Float(0)),
        2 => Ok(Select::Float(1)),
        _ => Err(reserved("widen 3")),
    }
}

/// `swiz_m`: the digits name the source of the low half, then of the high half.
fn halves(code: u32) -> Select {
    match code & 3 {
        0 => Select::Bytes([0, 1, 0, 1]),
        1 => Select::Bytes([2, 3, 0, 1]),
        2 => Select::Bytes([0, 1, 2, 3]),
        _ => Select::Bytes([2, 3, 2, 3]),
    }
}

/// `widen_int_m`, `swiz_int_m`, `lanes_int_m`: by the width of the type.
fn int_select(code: u32, width: u8) -> Result<Select, Refused> {
    let part = |first, width| Ok(Select::Integer { first, width });
    match (width, code) {
        (32 | 64, 0) => Ok(Select::Whole),
        (32 | 64, 2) => part(0, 2),
        (32 | 64, 3) => part(2, 2),
        (32 | 64, 4..=7) => part(code as u8 - 4, 1),
        (64, 8) => part(0, 4),
        (16, 0..=3) => Ok(halves(code)),
        (16, 4..=13) => {
            const PAIRS: [[u8; 2]; 10] = [
                [0, 0],
                [2, 0],
                [0, 2],
                [2, 2],
                [1, 1],
                [3, 1],
                [1, 3],
                [3, 3],
                [0, 1],
                [2, 3],
            ];
            Ok(Select::TwoBytes(PAIRS[code as usize - 4]))
        }
        (8, 0..=11) => {
            const LANES: [[u8; 4]; 12] = [
                [0, 1, 2, 3],
                [3, 2, 1, 0],
                [0, 1, 0, 1],
                [2, 3, 2, 3],
                [0; 4],
                [1; 4],
                [2; 4],
                [3; 4],
                [2, 3, 0, 1],
                [1, 0, 3, 2],
                [0, 0, 1, 1],
                [2, 2, 3, 3],
            ];
            Ok(Select::Bytes(LANES[code as usize]))
        }
        _ => Err(reserved(format!("lane select {code} of {width} bits"))),
    }
}

/// An integer source: 0 selects at 36, 1 at 26.
fn int_source(bits: Bits, i: u32, ty: Ty) -> Result<Source, Refused> {
    let Ty::Int { bits: width, .. } = ty else {
        return source(bits, i, false);
    };
    let mut out = source(bits, i, width == 64)?;
    out.select = int_select(bits.at(if i == 0 { 36 } else { 26 }, 4), width)?;
    if out.select != Select::Whole {
        out.wide = false;
    }
    Ok(out)
}

fn clamp(bits: Bits) -> Clamp {
    match bits.at(32, 2) {
        0 => Clamp::None,
        1 => Clamp::Positive,
        2 => Clamp::Signed,
        _ => Clamp::Unit,
    }
}

/// `round_m` in two bits, the others in three.
fn round(code: u32) -> Result<Round, Refused> {
    match code {
        0 => Ok(Round::Even),
        1 => Ok(Round::Up),
        2 => Ok(Round::Down),
        3 => Ok(Round::Zero),
        4 => Ok(Round::Away),
        _ => Err(reserved(format!("round mode {code}"))),
    }
}

pub fn cmp(code: u32) -> Cmp {
    match code & 7 {
        0 => Cmp::Eq,
        1 => Cmp::Gt,
        2 => Cmp::Ge,
        3 => Cmp::Ne,
        4 => Cmp::Lt,
        5 => Cmp::Le,
        6 => Cmp::GtLt,
        _ => Cmp::Total,
    }
}

/// What an ALU result may be.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Result_ {
    None,
    /// 32 bits as a whole.
    Word,
    /// Two halves, each with its bit of the mask.
    Halves,
    /// One half: with the full mask the low one, and the high one is left open.
    Half,
    /// 64 bits.
    Pair,
}

fn dest(inst: &mut Inst, bits: Bits, kind: Result_) -> Result<(), Refused> {
    if kind == Result_::None {
        return Ok(());
    }
    let (reg, mask) = (bits.at(40, 6) as u8, bits.at(46, 2));
    let bytes = match (kind, mask) {
        (_, 3) => 15,
        (Result_::Halves | Result_::Half, 1) => 3,
        (Result_::Halves | Result_::Half, 2) => 12,
        (Result_::Word, _)
            if matches!(
                inst.op,
                Op::FAdd { .. } | Op::Fma { .. } | Op::FAddLscale { .. }
            ) =>
        {
            return Err(unsupported("whether a narrowed sum is rounded twice"));
        }
        _ => {
            let detail = format!("{} writes half a register", inst.name);
            return Err((Rule::DestMask, detail));
        }
    };
    inst.dest = Some(Dest {
        reg,
        bytes,
        wide: kind == Result_::Pair,
    });
    Ok(())
}

fn alu(inst: &mut Inst, stem: &str, bits: Bits) -> Result<(), Refused> {
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

/// Shift counts: which byte counts for each element.
fn count_lanes(code: u32, width: u8) -> Result<Select, Refused> {
    match (width, code) {
        (8, _) => int_select(code, 8),
        (16, 0) => Ok(Select::Bytes([0, 0, 2, 2])),
        (16, 10) => Ok(Select::Bytes([0, 0, 1, 1])),
        (16, 11) => Ok(Select::Bytes([2, 2, 3, 3])),
        (_, 4..=7) => Ok(Select::Bytes([code as u8 - 4; 4])),
        _ => Err(reserved(format!("shift lanes {code}"))),
    }
}

fn shift_or_convert(inst: &mut Inst, stem: &str, bits: Bits) -> Result<(), Refused> {
    const SHIFTS: [(&str, Shift); 5] = [
        ("RSHIFT", Shift::Right),
        ("LSHIFT", Shift::Left),
        ("RROT", Shift::RotateRight),
        ("LROT", Shift::RotateLeft),
        ("ARSHIFT", Shift::Arithmetic),
    ];
    let Some((name, logic)) = stem.split_once('_') else {
        return Err(unsupported(inst.name));
    };
    let logic = match logic {
        "AND" => Logic::And,
        "OR" => Logic::Or,
        "XOR" => Logic::Xor,
        _ => return convert(inst, stem, bits),
    };
    let Some(&(_, shift)) = SHIFTS.iter().find(|(n, _)| *n == name) else {
        return Err(unsupported(inst.name));
    };
    // The public table has one row for logical and arithmetic right shifts; bit 34 tells them apart.
    let shift = match (shift, bits.flag(34)) {
        (Shift::Right, true) => Shift::Arithmetic,
        (shift, _) => shift,
    };
    let Ty::Int { bits: width, .. } = inst.ty else {
        return Err(unsupported(inst.name));
    };
    let wide = width == 64;
    let mut a = source(bits, 0, wide)?;
    a.select = int_select(bits.at(36, 4), width)?;
    if a.select != Select::Whole {
        a.wide = false;
    }
    let mut count = source(bits, 1, false)?;
    count.select = count_lanes(bits.at(26, 4), width)?;
    let mut b = source(bits, 2, wide)?;
    b.not = bits.flag(35);
    inst.op = Op::ShiftLogic {
        shift,
        logic,
        not_result: bits.flag(30),
    };
    inst.sources = vec![a, count, b];
    let kind = match width {
        64 => Result_::Pair,
        32 => Result_::Word,
        _ => Result_::Halves,
    };
    dest(inst, bits, kind)
}

/// Opcode 0x90, and the one of two sources.
fn convert(inst: &mut Inst, stem: &str, bits: Bits) -> Result<(), Refused> {
    let mut a = source(bits, 0, false)?;
    let three = bits.at(30, 3);
    let mut float = |selects: Select| {
        a.neg = bits.flag(38);
        a.abs = bits.flag(39);
        a.select = selects;
    };
    let half = bits.at(28, 1) as u8;
    let low_half = Select::Bytes([2 * half, 2 * half + 1, 2 * half, 2 * half + 1]);
    let (signed, mut result) = (!stem.contains('U'), Result_::Word);
    let op = match stem {
        "V2F32_TO_V2F16" => {
            let f = |i| float_source(bits, i, Ty::F32, false);
            inst.sources = vec![f(0)?, f(1)?];
            inst.op = Op::FloatsToHalves {
                round: round(bits.at(30, 2))?,
                clamp: clamp(bits),
            };
            return dest(inst, bits, Result_::Halves);
        }
        "F16_TO_F32" => {
            float(low_half);
            Op::HalfToFloat
        }
        "F32_TO_S32" | "F32_TO_U32" => {
            float(Select::Whole);
            Op::ToInt {
                half: false,
                bits: 32,
                signed,
                round: round(three)?,
            }
        }
        "F16_TO_S32" | "F16_TO_U32" => {
            float(low_half);
            Op::ToInt {
                half: true,
                bits: 32,
                signed,
                round: round(three)?,
            }
        }
        "V2F16_TO_V2S16" | "V2F16_TO_V2U16" => {
            float(halves(bits.at(28, 2)));
            result = Result_::Halves;
            Op::ToInt {
                half: true,
                bits: 16,
                signed,
                round: round(three)?,
            }
        }
        "S32_TO_F32" | "U32_TO_F32" => Op::ToFloat {
            half: false,
            signed,
            round: round(three)?,
        },
        "S16_TO_F32" | "U16_TO_F32" => {
            a.select = Select::Integer {
                first: 2 * half,
                width: 2,
            };
            Op::ToFloat {
                half: false,
                signed,
                round: Round::Even,
            }
        }
        "S8_TO_F32" | "U8_TO_F32" => {
            a.select = Select::Integer {
                first: bits.at(28, 2) as u8,
                width: 1,
            };
            Op::ToFloat {
                half: false,
                signed,
                round: Round::Even,
            }
        }
        "V2S16_TO_V2F16" | "V2U16_TO_V2F16" => {
            a.select = int_select(bits.at(36, 4), 16)?;
            result = Result_::Halves;
            Op::ToFloat {
                half: true,
                signed,
                round: round(three)?,
            }
        }
        "V2S8_TO_V2F16" | "V2U8_TO_V2F16" => {
            a.select = two_bytes(bits);
            result = Result_::Halves;
            Op::ToFloat {
                half: true,
                signed,
                round: Round::Even,
            }
        }
        "S16_TO_S32" | "U16_TO_U32" => {
            a.select = Select::Integer {
                first: 2 * half,
                width: 2,
            };
            Op::Move
        }
        "S8_TO_S32" | "U8_TO_U32" => {
            a.select = Select::Integer {
                first: bits.at(28, 2) as u8,
                width: 1,
            };
            Op::Move
        }
        "V2S8_TO_V2S16" | "V2U8_TO_V2U16" => {
            a.select = two_bytes(bits);
            result = Result_::Halves;
            Op::Move
        }
        _ => return Err(unsupported(inst.name)),
    };
    inst.ty = Ty::Int { bits: 32, signed };
    inst.op = op;
    inst.sources = vec![a];
    dest(inst, bits, result)
}

/// `swiz8_2_full_m`: the low two bits choose the byte of the low half.
fn two_bytes(bits: Bits) -> Select {
    Select::TwoBytes([bits.at(36, 2) as u8, bits.at(38, 2) as u8])
}

/// Pairs and staging registers, whatever they hold.
fn operands(inst: &Inst) -> Result<(), Refused> {
    for source in &inst.sources {
        let odd = match source.place {
            Place::Reg(reg) => reg & 1 == 1,
            Place::Uniform(word) => word & 1 == 1,
            Place::Special(.., word) => word == 1,
            Place::Constant(_) => false,
        };
        if source.wide && odd {
            let detail = format!("a 64-bit source of {} starts at an odd word", inst.name);
            return Err((Rule::Pair, detail));
        }
    }
    if let Some(Dest {
        reg, wide: true, ..
    }) = inst.dest
        && reg & 1 == 1
    {
        return Err((
            Rule::Pair,
            format!("{} writes a pair from r{reg}", inst.name),
        ));
    }
    for Staging { reg, count } in [inst.read, inst.write].into_iter().flatten() {
        if count >= 2 && reg & 1 == 1 {
            let detail = format!("{count} staging registers start at r{reg}");
            return Err((Rule::StagingAlign, detail));
        }
        if usize::from(reg) + usize::from(count) > 64 {
            let detail = format!("{count} staging registers start at r{reg}");
            return Err((Rule::StagingRange, detail));
        }
    }
    Ok(())
}
