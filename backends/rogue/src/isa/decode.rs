//! Bytes to groups. Every bit is kept: what a group does not say by itself stands in its [`Layout`]. Pipeline page, section 1.

use super::encode::{ORIGINS, ended, form_of, is_brief};
use super::fields::{FIRST_CUTS, cuts, f};
use super::group::{Condition, Feed, Group, Layout, MUX, MainOps, Ops};
use super::ops::{
    BACKEND, BITWISE0, BITWISE1, BITWISE2, CONTROL, Control, MAIN, MOVE, PACK, TEST,
    control_has_sources,
};
use super::word::{self, DESTINATION, DESTINATIONS, Form, LOWER, UPPER, Word, WordError};
use gpucc_isa::{DecodeError, Inst, Table};

/// Why bytes are no group.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GroupError {
    #[error("the group has {needed} bytes, and {found} are left")]
    Partial { needed: usize, found: usize },
    #[error("reserved bits of the header must be 0")]
    Header,
    #[error("there is no ALU of type {0}")]
    Alu(u8),
    #[error("a bitwise group has no phases")]
    NoPhases,
    #[error("{0}")]
    Operation(#[from] DecodeError),
    #[error("{0}")]
    Word(#[from] WordError),
    #[error("an operation goes beyond the group")]
    Short,
    #[error("an extension of {0} comes without the one before it")]
    Extension(&'static str),
    #[error("phase 2 has no operation that begins with {0:#04x}")]
    Chain(u8),
    #[error("the selector byte {0:#04x} has a reserved value")]
    Selector(u8),
    #[error("the decode assist says {said}, and the operations end at byte {found}")]
    Assist { said: u8, found: usize },
    #[error("the bytes behind the group are no padding")]
    Padding,
}

type Read<T> = Result<T, GroupError>;

/// The bytes of one group, and how far they are read.
struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn peek(&self) -> Read<u8> {
        self.rest().first().copied().ok_or(GroupError::Short)
    }

    /// An operation of a table: its longest form, and how many bytes more it has than the shortest one.
    fn op(&mut self, table: &'static Table, first: &[u8], p2end: bool) -> Read<(Inst, u8)> {
        let rest = self.rest();
        let byte = |at: usize| match at.checked_sub(first.len()) {
            None => Some(first[at]),
            Some(at) => rest.get(at).copied(),
        };
        let mut long = [0; 16];
        let row = find(table, byte)?;
        let (format, cuts) = (row.format, cuts(row.format));
        let all = usize::from(format.bits / 8);
        let base = all - cuts.len();
        let mut taken = base;
        for (at, to) in long.iter_mut().enumerate().take(base) {
            *to = byte(at).ok_or(GroupError::Short)?;
        }
        let mut cut_off = false;
        for (cut, at) in cuts.iter().zip(base..) {
            let (holder, bit) = (usize::from(cut.bit / 8), 1 << (cut.bit % 8));
            let there = long[holder] & bit != 0;
            if there && cut_off {
                return Err(GroupError::Extension(row.name));
            }
            cut_off |= !there;
            if there {
                long[at] = byte(at).ok_or(GroupError::Short)?;
                taken = at + 1;
            } else {
                long[at] = cut.absent;
            }
        }
        for cut in cuts {
            long[usize::from(cut.bit / 8)] |= 1 << (cut.bit % 8);
        }
        let mut bits = u128::from_le_bytes(long);
        let mut ends = false;
        if p2end && let Some(field) = format.field(f::P2END) {
            ends = bits & field.mask() != 0;
            bits &= !field.mask();
        }
        let inst = table.decode(bits)?;
        self.at += taken - first.len();
        let mut shortest = ended(&inst, ends);
        form_of(&mut shortest, &inst, 0);
        Ok((inst, (taken - shortest.len()) as u8))
    }

    fn word(&mut self, forms: &[Form], layout: &mut Option<u8>) -> Read<Word> {
        let word = word::read(forms, self.rest())?;
        self.at += word.bytes;
        let usual = word::shortest(forms, word.operands, word.mux);
        *layout = (usual != Some(word.form)).then_some(word.form);
        Ok(word)
    }

    fn sources(&mut self, group: &mut Group) -> Read<()> {
        let lower = self.word(&LOWER, &mut group.layout.lower)?;
        let upper = self.word(&UPPER, &mut group.layout.upper)?;
        let ([s0, s1, s2], [s3, s4, s5]) = (lower.operands, upper.operands);
        group.sources = [s0, s1, s2, s3, s4, s5];
        group.selectors.is0 = MUX[usize::from(lower.mux)];
        Ok(())
    }
}

/// The row of the operation whose bytes these are. The bits that tell rows apart lie in bytes that their shortest forms
/// have; of forms that leave bytes out, the bits that say so are 1 in every row.
fn find(table: &'static Table, byte: impl Fn(usize) -> Option<u8>) -> Read<&'static gpucc_isa::Op> {
    let bits = (0..16).fold(0, |bits, at| bits | u128::from(byte(at).unwrap_or(0)) << (8 * at));
    let first = bits as u8 & !FIRST_CUTS;
    let fits = |op: &&'static gpucc_isa::Op| {
        // Most rows differ in the first byte.
        if (first ^ op.bits as u8) & op.mask as u8 & !FIRST_CUTS != 0 {
            return false;
        }
        let cuts = cuts(op.format);
        let base = usize::from(op.format.bits / 8) - cuts.len();
        let (mut bits, mut cut_off) = (bits, false);
        for (cut, at) in cuts.iter().zip(base..) {
            cut_off |= bits >> cut.bit & 1 == 0;
            if cut_off {
                bits = bits & !(0xff << (8 * at)) | u128::from(cut.absent) << (8 * at);
            }
        }
        let bits = cuts.iter().fold(bits, |bits, cut| bits | 1 << cut.bit);
        let without = op.format.field(f::P2END).map_or(0, |field| field.mask());
        op.matches(bits & !without)
    };
    let unknown = || DecodeError::UnknownOpcode {
        table: table.name,
        words: gpucc_isa::table::hex_words(bits & 0xff_ffff),
    };
    Ok(table.rows().find(fits).ok_or_else(unknown)?)
}

/// Reads the group at the beginning of `bytes`, and says how many bytes it has.
///
/// # Errors
/// What is wrong with it.
pub fn decode(bytes: &[u8]) -> Result<(Group, usize), GroupError> {
    let found = bytes.len();
    let [first, second, ..] = *bytes else {
        return Err(GroupError::Partial { needed: 2, found });
    };
    let words = match first & 15 {
        0 => 16,
        words => usize::from(words),
    };
    let needed = 2 * words;
    let bytes = bytes.get(..needed).ok_or(GroupError::Partial { needed, found })?;
    let mut read = Bytes { bytes, at: 2 };
    let mut third = 0;
    if second >> 7 == 1 {
        third = read.peek()?;
        read.at = 3;
    }
    let group = match third >> 5 & 3 {
        0 => main(&mut read, second, third)?,
        2 => bitwise(&mut read, second, third)?,
        3 => control(&mut read, second, third)?,
        other => return Err(GroupError::Alu(other)),
    };
    let mut group = group.finish(&mut read, second, third)?;
    group.layout.pad = padding(&read)?;
    if let Ops::Main(_) = group.ops {
        group.layout.long_header = second >> 7 == 1 && is_brief(&group);
    }
    Ok((group, needed))
}

/// A group whose header, destinations and end of operations are still to be looked at.
struct Begun {
    group: Group,
    /// What the decode assist must be.
    assist: usize,
}

impl Begun {
    fn finish(self, read: &mut Bytes<'_>, second: u8, third: u8) -> Read<Group> {
        let Begun { mut group, mut assist } = self;
        let control = matches!(group.ops, Ops::Control(_));
        let code = second & 1 | (third & 1) << 1;
        group.condition = Condition::ALL[usize::from(code)];
        group.olchk = second >> 3 & 1 == 1;
        if !control {
            if third >> 4 & 1 == 1 {
                return Err(GroupError::Header);
            }
            group.end = third >> 7 == 1;
            group.atom = third >> 3 & 1 == 1;
            group.repeat = 1 + (third >> 1 & 3);
        }
        let destination = &mut group.layout.destination;
        match (second >> 1 & 1, second >> 2 & 1) {
            (0, 0) => {
                let operandless =
                    matches!(&group.ops, Ops::Control(inst) if !control_has_sources(inst.op()));
                if operandless {
                    assist = 0;
                }
            }
            (1, 1) => {
                let [first, second, _] = read.word(&DESTINATIONS, destination)?.operands;
                group.writes = [Some(first), Some(second)];
            }
            (first, _) => {
                let [one, ..] = read.word(&DESTINATION, destination)?.operands;
                group.writes = if first == 1 { [Some(one), None] } else { [None, Some(one)] };
            }
        }
        let said = read.bytes[0] >> 4;
        if usize::from(said) != assist {
            return Err(GroupError::Assist { said, found: assist });
        }
        Ok(group)
    }
}

/// Words of padding behind what was read. 1.1.
fn padding(read: &Bytes<'_>) -> Read<u8> {
    let rest = match (read.at % 2, read.rest()) {
        (0, rest) => rest,
        (_, [0xff, rest @ ..]) => rest,
        _ => return Err(GroupError::Padding),
    };
    let Some((first, others)) = rest.split_first() else { return Ok(0) };
    let words = first & 15;
    let told = first >> 4 == 15 && 2 * usize::from(words) == rest.len();
    if !told || others.iter().any(|byte| *byte != 0xff) {
        return Err(GroupError::Padding);
    }
    Ok(words)
}

fn main(read: &mut Bytes<'_>, second: u8, third: u8) -> Read<Begun> {
    if third >> 4 & 1 == 1 {
        return Err(GroupError::Header);
    }
    let [p0, p1, p2, backend] = ORIGINS[usize::from(second >> 4 & 7)];
    let mut ops = MainOps::default();
    let mut layout = Layout::default();
    if backend {
        let (inst, spare) = read.op(&BACKEND, &[], false)?;
        (ops.backend, layout.spare[5]) = (Some(inst), spare);
    }
    if p2 {
        phase2(read, &mut ops, &mut layout.spare)?;
    }
    let assist = read.at;
    if p1 {
        let (inst, spare) = read.op(&MAIN, &[], false)?;
        (ops.p1, layout.spare[1]) = (Some(inst), spare);
    }
    if p0 {
        let (inst, spare) = read.op(&MAIN, &[], false)?;
        (ops.p0, layout.spare[0]) = (Some(inst), spare);
    }
    let mut group = Group { layout, ..Group::new(Ops::Main(ops)) };
    read.sources(&mut group)?;
    let byte = read.peek()?;
    read.at += 1;
    group.selectors.is = selectors(byte).ok_or(GroupError::Selector(byte))?;
    Ok(Begun { group, assist })
}

/// MOV, TEST and PACK as far as the marks go. 1.1, p2end.
fn phase2(read: &mut Bytes<'_>, ops: &mut MainOps, spare: &mut [u8; 6]) -> Read<()> {
    let ends = |read: &Bytes<'_>, from: usize, long: bool, bit: u8| {
        long && read.bytes.get(from + 1).is_some_and(|byte| byte >> bit & 1 == 1)
    };
    for (main_op, table, place) in [(6, &MOVE, 4), (7, &TEST, 3)] {
        let first = read.peek()?;
        if first >> 5 != main_op {
            continue;
        }
        let from = read.at;
        let (inst, more) = read.op(table, &[], true)?;
        spare[place] = more;
        let bit = if place == 4 { 0 } else { 4 };
        let end = ends(read, from, first >> 4 & 1 == 1, bit);
        *(if place == 4 { &mut ops.mov } else { &mut ops.test }) = Some(inst);
        if end {
            return Ok(());
        }
    }
    let first = read.peek()?;
    // Arithmetic stands here in the documented example alone.
    let table = match first >> 5 {
        4 => &PACK,
        0..4 => &MAIN,
        _ => return Err(GroupError::Chain(first)),
    };
    (ops.pack, spare[2]) = {
        let (inst, more) = read.op(table, &[], false)?;
        (Some(inst), more)
    };
    Ok(())
}

/// IS1 to IS5 of a selector byte. 1.3.
fn selectors(byte: u8) -> Option<[Feed; 5]> {
    let of = |shift: u8| Feed::ALL[usize::from(byte >> shift & 3)];
    let two = |bit: u8, first: Feed| if byte >> bit & 1 == 1 { Feed::Fte } else { first };
    let is3 = of(2);
    (is3 != Feed::Ft2).then(|| [two(0, Feed::Ft0), two(1, Feed::Ft1), is3, of(4), of(6)])
}

fn bitwise(read: &mut Bytes<'_>, second: u8, third: u8) -> Read<Begun> {
    if third >> 4 & 1 == 1 {
        return Err(GroupError::Header);
    }
    let count = second >> 4 & 7;
    if count == 0 {
        return Err(GroupError::NoPhases);
    }
    let mut phases = [None; 3];
    for (at, table) in [(2, &BITWISE2), (1, &BITWISE1), (0, &BITWISE0)] {
        if count >> at & 1 == 1 {
            phases[at] = Some(read.op(table, &[], false)?.0);
        }
    }
    let assist = read.at;
    let mut group = Group::new(Ops::Bitwise(phases));
    read.sources(&mut group)?;
    Ok(Begun { group, assist })
}

fn control(read: &mut Bytes<'_>, second: u8, third: u8) -> Read<Begun> {
    if second >> 4 & 7 != 0 {
        return Err(GroupError::Header);
    }
    let mut head = third & 0b1001_1110;
    let nop = head >> 1 & 15 == 7;
    if nop {
        head &= 0x7f;
    }
    let (inst, spare) = read.op(&CONTROL, &[head], false)?;
    let assist = read.at;
    let mut group = Group::new(Ops::Control(inst));
    group.layout.spare[0] = spare;
    group.end = nop && third >> 7 == 1;
    debug_assert!(!nop || Control::of(inst.op()) == Control::Nop);
    if control_has_sources(inst.op()) {
        read.sources(&mut group)?;
    }
    Ok(Begun { group, assist })
}
