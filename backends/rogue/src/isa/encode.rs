//! Groups to bytes: the shortest ones, where [`Layout`] says nothing else. Pipeline page, section 1.

use super::fields::{cuts, f};
use super::group::{Condition, Group, Layout, MUX, MainOps, Ops, Selectors};
use super::ops::{Control, control_has_sources};
use super::register::Register;
use super::word::{self, DESTINATION, DESTINATIONS, Form, LOWER, UPPER};
use gpucc_isa::Inst;
use smallvec::SmallVec;

/// The most bytes of a group.
pub const MAX_BYTES: usize = 32;

/// Why a group has no bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EncodeError {
    #[error("no group has these phases together")]
    Phases,
    #[error("a group repeats 1 to 4 times")]
    Repeat,
    #[error("no word of {0} holds these registers")]
    Word(&'static str),
    #[error("a control group neither repeats nor is atomic, and `nop` alone ends a program")]
    ControlHeader,
    #[error("a group has at most {MAX_BYTES} bytes, and this one has {0}")]
    Long(usize),
    #[error("a selector cannot pass this on")]
    Selector,
    #[error("at most 15 words of padding")]
    Pad,
    #[error(
        "the group says something of sources, selectors or destinations that its bytes have no place for"
    )]
    NoPlace,
}

/// The combinations of phases (phase 0, phase 1, phase 2, backend) by their code. 1.1, oporg.
pub const ORIGINS: [[bool; 4]; 8] = [
    [true, false, false, false],
    [false, false, true, false],
    [false, false, false, true],
    [true, true, false, false],
    [true, false, true, false],
    [true, true, true, false],
    [true, false, true, true],
    [true, true, true, true],
];

/// Bytes of one operation.
pub(crate) type OpBytes = SmallVec<[u8; 16]>;

/// Bytes of an operation, as many as its longest form has.
fn longest(inst: &Inst) -> OpBytes {
    inst.bytes().collect()
}

/// Leaves the last byte of an operation out, where a shorter form does without it.
fn cut_last(bytes: &mut OpBytes, inst: &Inst) -> bool {
    let at = bytes.len() - 1;
    let cut = at.checked_sub(base(inst)).and_then(|cut| cuts(inst.op().format).get(cut));
    let Some(cut) = cut.filter(|cut| bytes[at] == cut.absent) else { return false };
    bytes.truncate(at);
    bytes[usize::from(cut.bit / 8)] &= !(1 << (cut.bit % 8));
    true
}

/// Makes the longest form of an operation the shortest one with so many more bytes as `spare` says.
pub(crate) fn form_of(bytes: &mut OpBytes, inst: &Inst, spare: u8) {
    if spare == 0 {
        while cut_last(bytes, inst) {}
        return;
    }
    let mut shortest = bytes.clone();
    while cut_last(&mut shortest, inst) {}
    while bytes.len() > shortest.len() + usize::from(spare) && cut_last(bytes, inst) {}
}

/// Bytes of the shortest form that a format has.
fn base(inst: &Inst) -> usize {
    usize::from(inst.op().format.bits / 8) - cuts(inst.op().format).len()
}

fn put_op(out: &mut Vec<u8>, inst: &Inst, spare: u8) {
    let mut bytes = longest(inst);
    form_of(&mut bytes, inst, spare);
    out.extend(bytes);
}

/// A test or a move with the mark that no further operation of phase 2 follows.
pub(crate) fn ended(inst: &Inst, ends: bool) -> OpBytes {
    let field = inst.op().format.field(f::P2END).map_or(0, |field| field.mask());
    let mut bytes = longest(inst);
    if ends {
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte |= (field >> (8 * at)) as u8;
        }
    }
    bytes
}

/// Bytes of phase 2 and of the backend, the highest first.
fn put_high(out: &mut Vec<u8>, ops: &MainOps, spare: [u8; 6]) {
    if let Some(inst) = &ops.backend {
        put_op(out, inst, spare[5]);
    }
    let chain = [
        (&ops.mov, 4, ops.test.is_none() && ops.pack.is_none()),
        (&ops.test, 3, ops.pack.is_none()),
    ];
    for (inst, place, ends) in chain {
        let Some(inst) = inst else { continue };
        let mut bytes = ended(inst, ends);
        form_of(&mut bytes, inst, spare[place]);
        out.extend(bytes);
    }
    if let Some(inst) = &ops.pack {
        put_op(out, inst, spare[2]);
    }
}

fn put_word(
    out: &mut Vec<u8>,
    (name, forms): (&'static str, &[Form]),
    chosen: Option<u8>,
    operands: [Register; 3],
    mux: u8,
) -> Result<(), EncodeError> {
    let at = chosen.or_else(|| word::shortest(forms, operands, mux));
    let form = at.and_then(|at| forms.get(usize::from(at))).filter(|form| form.fits(operands, mux));
    form.ok_or(EncodeError::Word(name))?.put(operands, mux, out);
    Ok(())
}

fn put_sources(out: &mut Vec<u8>, group: &Group, mux: u8) -> Result<(), EncodeError> {
    let [s0, s1, s2, s3, s4, s5] = group.sources;
    put_word(out, ("S0 to S2", &LOWER), group.layout.lower, [s0, s1, s2], mux)?;
    put_word(out, ("S3 to S5", &UPPER), group.layout.upper, [s3, s4, s5], 0)
}

fn put_destinations(out: &mut Vec<u8>, group: &Group) -> Result<(), EncodeError> {
    let (name, chosen) = ("destinations", group.layout.destination);
    let zero = Register::ZERO;
    match group.writes {
        [None, None] => Ok(()),
        [Some(both), Some(second)] => {
            put_word(out, (name, &DESTINATIONS), chosen, [both, second, zero], 0)
        }
        [Some(one), None] | [None, Some(one)] => {
            put_word(out, (name, &DESTINATION), chosen, [one, zero, zero], 0)
        }
    }
}

/// The byte of the internal selectors. 1.3.
fn selector_byte(group: &Group) -> Result<u8, EncodeError> {
    use super::group::Feed::{Ft0, Ft1, Ft2, Fte};
    let one_of_two = |feed, first| match feed {
        Fte => Ok(1),
        feed if feed == first => Ok(0),
        _ => Err(EncodeError::Selector),
    };
    let [is1, is2, is3, is4, is5] = group.selectors.is;
    if is3 == Ft2 {
        return Err(EncodeError::Selector);
    }
    let low = one_of_two(is1, Ft0)? | one_of_two(is2, Ft1)? << 1;
    Ok(low | (is3 as u8) << 2 | (is4 as u8) << 4 | (is5 as u8) << 6)
}

/// Whether two bytes of header hold what the group says. 1.1.
pub fn is_brief(group: &Group) -> bool {
    let short = matches!(group.condition, Condition::Runs | Condition::IfP0);
    matches!(group.ops, Ops::Main(_)) && short && !group.end && !group.atom && group.repeat == 1
}

/// The second and the third byte of a header, without what the ALU says. 1.1.
fn header(group: &Group) -> (u8, u8) {
    let condition = group.condition as u8;
    let [w0, w1] = group.writes.map(|write| u8::from(write.is_some()));
    let second = condition & 1 | w0 << 1 | w1 << 2 | u8::from(group.olchk) << 3;
    let repeat = (group.repeat - 1) << 1;
    (second, condition >> 1 | repeat | u8::from(group.atom) << 3 | u8::from(group.end) << 7)
}

/// Header, operations, sources and selectors of a main group; returns the decode assist.
fn put_main(
    out: &mut Vec<u8>,
    group: &Group,
    ops: &MainOps,
    mux: u8,
) -> Result<usize, EncodeError> {
    let (second, third) = header(group);
    let has = [ops.p0.is_some(), ops.p1.is_some(), ops.has_p2(), ops.backend.is_some()];
    let origin = ORIGINS.iter().position(|known| *known == has);
    let second = second | (origin.ok_or(EncodeError::Phases)? as u8) << 4;
    if is_brief(group) && !group.layout.long_header {
        out.extend([0, second]);
    } else {
        out.extend([0, 1 << 7 | second, third]);
    }
    let spare = group.layout.spare;
    put_high(out, ops, spare);
    let assist = out.len();
    for (inst, place) in [(&ops.p1, 1), (&ops.p0, 0)] {
        if let Some(inst) = inst {
            put_op(out, inst, spare[place]);
        }
    }
    put_sources(out, group, mux)?;
    out.push(selector_byte(group)?);
    Ok(assist)
}

/// The same of a bitwise group.
fn put_bitwise(
    out: &mut Vec<u8>,
    group: &Group,
    phases: &[Option<Inst>; 3],
    mux: u8,
) -> Result<usize, EncodeError> {
    let (second, third) = header(group);
    let there = phases.iter().zip(0..).filter(|(op, _)| op.is_some());
    let count = there.fold(0, |set, (_, at)| set | 1 << at);
    if count == 0 {
        return Err(EncodeError::Phases);
    }
    out.extend([0, 1 << 7 | second | count << 4, third | 2 << 5]);
    for inst in phases.iter().rev().flatten() {
        put_op(out, inst, 0);
    }
    let assist = out.len();
    put_sources(out, group, mux)?;
    Ok(assist)
}

/// The same of a control group.
fn put_control(
    out: &mut Vec<u8>,
    group: &Group,
    inst: &Inst,
    mux: u8,
) -> Result<usize, EncodeError> {
    let nop = Control::of(inst.op()) == Control::Nop;
    if group.repeat != 1 || group.atom || group.end && !nop {
        return Err(EncodeError::ControlHeader);
    }
    let (second, third) = header(group);
    let mut bytes = longest(inst);
    form_of(&mut bytes, inst, group.layout.spare[0]);
    out.extend([0, 1 << 7 | second, third | 3 << 5 | bytes[0]]);
    out.extend_from_slice(&bytes[1..]);
    let sources = control_has_sources(inst.op());
    let assist = if sources || group.writes != [None; 2] { out.len() } else { 0 };
    if sources {
        put_sources(out, group, mux)?;
    }
    Ok(assist)
}

/// Whether a group says something that its kind has no bytes for.
fn says_more(group: &Group) -> bool {
    let selectors = Selectors { is0: group.selectors.is0, ..Selectors::default() };
    let Layout { lower, upper, destination, .. } = group.layout;
    let forms = [lower, upper];
    let no_destination = group.writes == [None; 2] && destination.is_some();
    let no_sources = match &group.ops {
        Ops::Main(_) => return no_destination,
        Ops::Bitwise(_) => false,
        Ops::Control(inst) => !control_has_sources(inst.op()),
    };
    let sourced = group.sources != [Register::ZERO; 6] || selectors.is0 != 0 || forms != [None; 2];
    no_destination || group.selectors != selectors || no_sources && sourced
}

/// Bytes of a group in memory order.
///
/// # Errors
/// What no bytes say.
pub fn encode(group: &Group) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::with_capacity(MAX_BYTES);
    if !(1..=4).contains(&group.repeat) {
        return Err(EncodeError::Repeat);
    }
    if says_more(group) {
        return Err(EncodeError::NoPlace);
    }
    let mux = MUX.iter().position(|source| *source == group.selectors.is0);
    let mux = mux.ok_or(EncodeError::Selector)? as u8;
    let assist = match &group.ops {
        Ops::Main(ops) => put_main(&mut out, group, ops, mux)?,
        Ops::Bitwise(phases) => put_bitwise(&mut out, group, phases, mux)?,
        Ops::Control(inst) => put_control(&mut out, group, inst, mux)?,
    };
    put_destinations(&mut out, group)?;
    if out.len() % 2 == 1 {
        out.push(0xff);
    }
    let pad = group.layout.pad;
    if pad > 15 {
        return Err(EncodeError::Pad);
    }
    if pad > 0 {
        out.push(0xf0 + pad);
        out.extend(std::iter::repeat_n(0xff, 2 * usize::from(pad) - 1));
    }
    if out.len() > MAX_BYTES || assist > 15 {
        return Err(EncodeError::Long(out.len()));
    }
    out[0] = (assist as u8) << 4 | (out.len() / 2 % 16) as u8;
    Ok(out)
}
