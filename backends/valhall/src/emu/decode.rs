//! A 64-bit word as an instruction. The emulator's own table says which form it is and refuses what is reserved; what the
//! fields mean is read here.

mod alu;
mod convert;

use super::fau;
use super::inst::{Clamp, Cmp, Dest, Flow, Inst, Op, Place, Round, Select, Source, Staging, Ty};
use super::message;
use super::rule::{Rule, Trap};
use super::table::{self, *};
use alu::alu;

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

/// Reads one word.
///
/// # Errors
/// Which rule it breaks and how.
pub fn decode_word(word: u64) -> Result<Inst, Refused> {
    let form = table::find(word)?;
    let bits = Bits(word);
    let mut inst = Inst {
        name: form.name,
        op: Op::Nop,
        ty: form.ty.ty(),
        sources: Vec::new(),
        dest: None,
        read: None,
        write: None,
        slot: None,
        flow: flow(bits.get(FLOW))?,
    };
    if let Code::Missing(what) = form.code {
        return Err(unsupported(what));
    }
    if !message::decode(&mut inst, form.code, bits)? {
        alu(&mut inst, form.code, bits)?;
    }
    fau::check(&inst, bits.get(PAGE))?;
    operands(&inst)?;
    if form.code == Code::NotOld {
        // What the word does not read is no operand of its rules.
        inst.sources = alu::complemented(inst.sources[0]);
    }
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

/// A source byte. isa 1.2.
pub fn source(bits: Bits, index: usize, wide: bool) -> Result<Source, Refused> {
    let byte = bits.get([S0, S1, S2, S3][index]) as u8;
    let page = bits.get(PAGE) as u8;
    let (place, last) = match byte >> 6 {
        0 | 1 => (Place::Reg(byte & 63), byte & 64 != 0),
        2 => (Place::Uniform(u16::from(page) * 64 + u16::from(byte & 63)), false),
        _ if byte < 0xE0 => (Place::Constant(CONSTANTS[usize::from(byte & 31)]), false),
        _ => (Place::Special(page, byte >> 1 & 15, byte & 1), false),
    };
    Ok(Source { place, last, wide, select: Select::Whole, neg: false, abs: false, not: false })
}

/// A float source: signs, and where the form has them a widening or a swizzle.
fn float_source(bits: Bits, i: usize, ty: Ty, selects: bool) -> Result<Source, Refused> {
    let mut out = source(bits, i, false)?;
    let sign = bits.get([SIGN0, SIGN1, SIGN2][i]);
    (out.neg, out.abs) = (sign & 1 == 1, sign & 2 == 2);
    if selects {
        let code = bits.get([HALVES0, HALVES1, HALVES2][i]);
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
        (64, 9) => Err(unsupported("which register the high word of a source is")),
        (16, 0..=3) => Ok(halves(code)),
        (16, 4..=13) => {
            const PAIRS: [[u8; 2]; 10] =
                [[0, 0], [2, 0], [0, 2], [2, 2], [1, 1], [3, 1], [1, 3], [3, 3], [0, 1], [2, 3]];
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

/// An integer source. Which codes a form has its table row says; what they mean the width says.
fn int_source(bits: Bits, i: usize, ty: Ty) -> Result<Source, Refused> {
    let Ty::Int { bits: width, .. } = ty else {
        return source(bits, i, false);
    };
    let mut out = source(bits, i, width == 64)?;
    out.select = int_select(bits.get([BYTES0, BYTES1][i]), width)?;
    if out.select != Select::Whole {
        out.wide = false;
    }
    Ok(out)
}

fn clamp(bits: Bits) -> Clamp {
    match bits.get(CLAMP) {
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
    let (reg, mask) = (bits.get(REG) as u8, bits.get(NARROW));
    let bytes = match (kind, mask) {
        (_, 3) => 15,
        (Result_::Halves | Result_::Half, 1) => 3,
        (Result_::Halves | Result_::Half, 2) => 12,
        (Result_::Word, _)
            if matches!(inst.op, Op::FAdd { .. } | Op::Fma { .. } | Op::FAddLscale { .. }) =>
        {
            return Err(unsupported("whether a narrowed sum is rounded twice"));
        }
        _ => {
            let detail = format!("{} writes half a register", inst.name);
            return Err((Rule::DestMask, detail));
        }
    };
    inst.dest = Some(Dest { reg, bytes, wide: kind == Result_::Pair });
    Ok(())
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
    if let Some(Dest { reg, wide: true, .. }) = inst.dest
        && reg & 1 == 1
    {
        return Err((Rule::Pair, format!("{} writes a pair from r{reg}", inst.name)));
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
