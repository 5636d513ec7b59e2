//! Text to words: the syntax of the public assembler, with the names of Arm's description and of older tools as well.

use super::alias::{self, Alias};
use super::disasm::always_written;
use super::fields::{self, f};
use super::ops::Opcode;
use super::rules;
use super::shapes::{Source, Staging};
use super::source::{OLD_NAMES, SourceByte, Special};
use super::{Inst, TABLE};
use gpucc_isa::{Diagnostic, Enum, Field, FieldError, FieldId, Kind};

/// One line of text as one word.
///
/// # Errors
/// Column (the line is 1) and what was expected, or the rule that is broken.
pub fn assemble_line(text: &str) -> Result<u64, Diagnostic> {
    Ok(Line::new(text).instruction()?.bits() as u64)
}

/// A piece of the line and where it starts.
#[derive(Copy, Clone)]
struct Piece<'a> {
    at: usize,
    text: &'a str,
}

impl<'a> Piece<'a> {
    fn wrong<T>(self, message: impl Into<String>) -> Result<T, Diagnostic> {
        Err(Diagnostic { line: 1, column: self.at as u32 + 1, message: message.into() })
    }

    fn trim(self) -> Piece<'a> {
        let lead = self.text.len() - self.text.trim_start().len();
        Piece { at: self.at + lead, text: self.text.trim() }
    }

    /// The parts between `mark`.
    fn split(self, mark: char) -> impl Iterator<Item = Piece<'a>> {
        let mut at = self.at;
        self.text.split(mark).map(move |text| {
            let piece = Piece { at, text };
            at += text.len() + mark.len_utf8();
            piece
        })
    }

    fn from(self, offset: usize) -> Piece<'a> {
        Piece { at: self.at + offset, text: &self.text[offset..] }
    }
}

struct Line<'a> {
    mnemonic: Piece<'a>,
    operands: Vec<Piece<'a>>,
}

/// A row as the text names it.
struct Named {
    inst: Inst,
    fixed: &'static [(FieldId, u32)],
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Line<'a> {
        let code = text.find("//").map_or(text, |end| &text[..end]);
        let line = Piece { at: 0, text: code }.trim();
        let end = line.text.find(char::is_whitespace).unwrap_or(line.text.len());
        let mnemonic = Piece { at: line.at, text: &line.text[..end] };
        let rest = line.from(end).trim();
        let operands = if rest.text.is_empty() {
            Vec::new()
        } else {
            rest.split(',').map(Piece::trim).collect()
        };
        Line { mnemonic, operands }
    }

    fn instruction(&self) -> Result<Inst, Diagnostic> {
        let parts: Vec<Piece<'a>> = self.mnemonic.split('.').collect();
        let (mut named, used) = self.row(&parts)?;
        // The public text of an atomic that gives nothing back is the returning one with an empty group.
        let row = Opcode::of(named.inst.op());
        let silent = [
            (Opcode::Atom1ReturnI32, Opcode::Atom1I32),
            (Opcode::Atom1ReturnI64, Opcode::Atom1I64),
        ];
        let empty = self.operands.first().is_some_and(|first| first.text == "@");
        let silent = silent.iter().find(|&&(returning, _)| empty && row == returning);
        if let Some((_, silent)) = silent {
            named.inst = Inst::usual(silent.op());
        }
        let Named { mut inst, fixed } = named;
        let shape = Opcode::of(inst.op()).shape();
        self.modifiers(&mut inst, &parts[used..], fixed)?;
        let name = inst.op().name;
        let mut operands = self.operands.iter().copied().skip(usize::from(silent.is_some()));
        let mut next = |what: &str| match operands.next() {
            Some(piece) => Ok(piece),
            None => Piece { at: self.mnemonic.at + self.mnemonic.text.len(), text: "" }
                .wrong(format!("operand rule: {name} lacks {what}")),
        };
        let mut page = None;
        if shape.dst.is_some() {
            destination(&mut inst, next("the destination register")?)?;
        }
        let staging = shape.staging;
        if staging.writes() {
            let (base, count) = match staging {
                Staging::ReadWrite | Staging::Texture => (f::SR_WRITE, f::SR_WRITE_COUNT),
                Staging::WriteOnly => (f::SR, f::SR_WRITE_COUNT),
                _ => (f::SR, f::SR_COUNT),
            };
            group(&mut inst, next("the group of written staging registers")?, base, count)?;
        }
        if staging.reads() {
            group(&mut inst, next("the group of read staging registers")?, f::SR, f::SR_COUNT)?;
        }
        // An alias that fixes operands is written without them, or in full.
        let full = self.operands.len()
            == usize::from(shape.dst.is_some())
                + usize::from(staging.writes())
                + usize::from(staging.reads())
                + shape.sources.len()
                + shape.immediates.len();
        for (i, source) in shape.sources.iter().enumerate() {
            if !full && fixed.iter().any(|(field, _)| *field == source.field) {
                continue;
            }
            let piece = next(&format!("source {i}"))?;
            self.source(&mut inst, i, source, piece, &mut page)?;
        }
        for &id in shape.immediates {
            let field = inst.op().format.field(id).expect("immediates are in the layout");
            if !full && fixed.iter().any(|(fixed, _)| *fixed == id) {
                continue;
            }
            let piece = next(&format!("the constant {}", field.name))?;
            immediate(&mut inst, field, piece)?;
        }
        if let Some(extra) = operands.next() {
            return extra
                .wrong(format!("operand rule: {} takes no further operand", inst.op().name));
        }
        if let Some(page) = page {
            set(&mut inst, self.mnemonic, f::FAU_PAGE, u32::from(page))?;
        }
        match rules::check(&inst) {
            Ok(()) => Ok(inst),
            Err(rule) => self.mnemonic.wrong(format!("{}: {rule}", inst.op().name)),
        }
    }

    /// The row with the longest name that the mnemonic starts with, and how many of its parts that is.
    fn row(&self, parts: &[Piece<'a>]) -> Result<(Named, usize), Diagnostic> {
        for used in (1..=parts.len().min(4)).rev() {
            let last = parts[used - 1];
            let name = &self.mnemonic.text[..last.at + last.text.len() - self.mnemonic.at];
            if let Some(op) = TABLE.named(name) {
                let named = Named { inst: Inst::usual(op), fixed: &[] };
                return Ok((named, used));
            }
            if let Some(Alias { opcode, fixed, .. }) = alias::named(name) {
                let mut inst = Inst::usual(opcode.op());
                for &(field, value) in *fixed {
                    inst = inst.with(field, value);
                }
                return Ok((Named { inst, fixed }, used));
            }
        }
        self.mnemonic
            .wrong(format!("mnemonic rule: no instruction is called `{}`", self.mnemonic.text))
    }

    fn modifiers(
        &self,
        inst: &mut Inst,
        parts: &[Piece<'a>],
        fixed: &[(FieldId, u32)],
    ) -> Result<(), Diagnostic> {
        let shape = Opcode::of(inst.op()).shape();
        let mut said = Vec::new();
        let mut i = 0;
        while i < parts.len() {
            let part = parts[i];
            // Two values of one enumeration have a dot in their names.
            let joined = parts.get(i + 1).map(|next| {
                &self.mnemonic.text[part.at - self.mnemonic.at..]
                    [..part.text.len() + 1 + next.text.len()]
            });
            let mut taken = 0;
            for &id in shape.modifiers {
                let Some(field) = inst.op().format.field(id) else {
                    continue;
                };
                if inst.op().is_fixed(field) || said.contains(&id) {
                    continue;
                }
                if fixed.iter().any(|(fixed, _)| *fixed == id) {
                    continue;
                }
                let found = joined
                    .and_then(|name| value_named(field, name))
                    .map(|value| (value, 2))
                    .or_else(|| value_named(field, part.text).map(|value| (value, 1)));
                if let Some((value, length)) = found {
                    set(inst, part, id, value)?;
                    said.push(id);
                    taken = length;
                    break;
                }
            }
            if taken == 0 {
                taken = 1;
                if let Some(flow) = flow_named(part.text) {
                    if said.contains(&f::FLOW) {
                        return part.wrong(
                            "flow rule: an instruction has one flow (bits 59 to 62); waits on several slots have one name",
                        );
                    }
                    said.push(f::FLOW);
                    set(inst, part, f::FLOW, flow)?;
                } else if let Some(page) = part.text.strip_prefix("fau_page") {
                    match page.parse() {
                        Ok(page) => set(inst, part, f::FAU_PAGE, page)?,
                        Err(_) => {
                            return part
                                .wrong("FAU page rule: the pages are fau_page0 to fau_page3");
                        }
                    }
                } else {
                    return part.wrong(format!(
                        "modifier rule: {} takes no modifier `.{}`, or has it already",
                        inst.op().name,
                        part.text
                    ));
                }
            }
            i += taken;
        }
        // Older names leave out what their tables had a usual value for.
        if self.mnemonic.text.starts_with(inst.op().name) {
            self.complete(inst, &said)?;
        }
        Ok(())
    }

    /// Refuses an instruction that leaves out a modifier without a usual value.
    fn complete(&self, inst: &Inst, said: &[FieldId]) -> Result<(), Diagnostic> {
        for &id in Opcode::of(inst.op()).shape().modifiers {
            let Some(field) = inst.op().format.field(id) else {
                continue;
            };
            if let Kind::Enum(set) = field.kind
                && always_written(set)
                && !inst.op().is_fixed(field)
                && !said.contains(&id)
            {
                let names: Vec<&str> = set.members.iter().map(|member| member.name).collect();
                return self.mnemonic.wrong(format!(
                    "modifier rule: {} says its {}: one of .{}",
                    inst.op().name,
                    set.name,
                    names.join(", .")
                ));
            }
        }
        Ok(())
    }

    fn source(
        &self,
        inst: &mut Inst,
        number: usize,
        source: &Source,
        piece: Piece<'a>,
        page: &mut Option<u8>,
    ) -> Result<(), Diagnostic> {
        let last = piece.text.starts_with('^');
        let bare = piece.from(usize::from(last));
        let parts: Vec<Piece<'a>> = bare.split('.').collect();
        let (byte, used) = source_byte(piece, &parts, last)?;
        if let Some(its) = byte.page() {
            match *page {
                Some(other) if other != its => {
                    let rule = rules::Broken::TwoPages(other, its);
                    return piece.wrong(format!("{}: {rule}", inst.op().name));
                }
                _ => *page = Some(its),
            }
        }
        set(inst, piece, source.field, u32::from(byte.encode()))?;
        let mut said = Vec::new();
        for part in &parts[used..] {
            let mut done = false;
            let selection = source.swizzle().into_iter().chain((number == 0).then_some(f::COMBINE));
            let flags = [
                ("neg", source.neg()),
                ("abs", source.abs()),
                ("not", (source.byte() == 2).then_some(f::NOT2)),
            ];
            for (name, id) in flags {
                if let Some(id) = id
                    && name == part.text
                    && inst.has_field(id)
                    && !said.contains(&id)
                {
                    said.push(id);
                    set(inst, *part, id, 1)?;
                    done = true;
                }
            }
            for id in selection {
                if let Some(field) = inst.op().format.field(id)
                    && !done
                    && !said.contains(&id)
                    && let Some(value) = value_named(field, part.text)
                {
                    said.push(id);
                    set(inst, *part, id, value)?;
                    done = true;
                }
            }
            if !done {
                return part.wrong(format!(
                    "modifier rule: source {number} of {} takes no modifier `.{}`, or has it already",
                    inst.op().name,
                    part.text
                ));
            }
        }
        Ok(())
    }
}

/// The byte of a source, and how many of its dotted parts name it.
fn source_byte(
    piece: Piece,
    parts: &[Piece],
    last: bool,
) -> Result<(SourceByte, usize), Diagnostic> {
    let name = parts[0].text;
    let number = |prefix: &str, limit: u32| -> Option<Option<u8>> {
        let digits = name.strip_prefix(prefix)?;
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        Some(digits.parse().ok().filter(|n: &u32| *n < limit).map(|n| n as u8))
    };
    if let Some(index) = number("r", 64) {
        return match index {
            Some(index) => Ok((SourceByte::Register { index, last }, 1)),
            None => piece.wrong("register rule: the registers are r0 to r63"),
        };
    }
    if last {
        return piece
            .wrong("last-use rule: `^` marks the last use of a register and of nothing else");
    }
    if let Some(word) = number("u", 256) {
        return match word {
            Some(word) => Ok((SourceByte::Uniform(word), 1)),
            None => piece.wrong("uniform rule: the uniforms are u0 to u255, four pages of 64"),
        };
    }
    if let Some(at) = number("lut", 32) {
        return match at {
            Some(at) => Ok((SourceByte::Constant(at), 1)),
            None => piece.wrong("constant rule: the constants of the table are lut0 to lut31"),
        };
    }
    if let Some(value) = integer(name) {
        let constant = u32::try_from(value).ok().and_then(SourceByte::constant);
        return match constant {
            Some(byte) => Ok((byte, 1)),
            None => piece.wrong(format!(
                "constant rule: {name} is none of the 32 constants that a source can name"
            )),
        };
    }
    if let Some((_, what, word)) = OLD_NAMES.iter().find(|row| row.0 == name) {
        let (what, word) = (*what, *word);
        return Ok((SourceByte::Special { what, word }, 1));
    }
    if let Some(what) = Special::named(name) {
        let word = match parts.get(1).map(|part| part.text) {
            Some("w0") => 0,
            Some("w1") => 1,
            // The first public table has one word of these.
            _ if what.page() == 3 => return Ok((SourceByte::Special { what, word: 0 }, 1)),
            _ => {
                return piece.wrong(format!(
                    "special value rule: {name} is two words: {name}.w0 or {name}.w1"
                ));
            }
        };
        return Ok((SourceByte::Special { what, word }, 2));
    }
    let what = if name.starts_with('#') { "an inline constant, which is" } else { "is" };
    piece.wrong(format!(
        "source rule: `{}` {what} no source: a register (r0), a uniform (u0), a constant of the table (0x0) or a special value",
        piece.text
    ))
}

fn destination(inst: &mut Inst, piece: Piece) -> Result<(), Diagnostic> {
    let mut parts = piece.split('.');
    let name = parts.next().expect("a split has a first part");
    let register = register(name)?;
    set(inst, name, f::DST, register)?;
    let Some(mask) = parts.next() else {
        return Ok(());
    };
    let field = inst.op().format.field(f::DST_MASK).expect("destinations have a mask");
    match value_named(field, mask.text) {
        Some(value) => set(inst, mask, f::DST_MASK, value)?,
        None => {
            return mask.wrong(format!(
                "destination rule: the destination of {} takes no mask `.{}`",
                inst.op().name,
                mask.text
            ));
        }
    }
    match parts.next() {
        None => Ok(()),
        Some(extra) => extra.wrong("destination rule: a destination has one mask"),
    }
}

fn register(piece: Piece) -> Result<u32, Diagnostic> {
    match piece.text.strip_prefix('r').map(str::parse::<u32>) {
        Some(Ok(register)) if register < 64 && !piece.text.contains('+') => Ok(register),
        _ => piece
            .wrong(format!("register rule: `{}` is none of the registers r0 to r63", piece.text)),
    }
}

/// `@r0:r1:r2`.
fn group(inst: &mut Inst, piece: Piece, base: FieldId, count: FieldId) -> Result<(), Diagnostic> {
    if !piece.text.starts_with('@') {
        return piece.wrong(format!(
            "staging rule: {} wants a group of staging registers here: @r0 or @r0:r1",
            inst.op().name
        ));
    }
    let mut first = 0;
    let mut registers = 0;
    for part in piece.from(1).split(':') {
        let number = register(part.trim())?;
        if registers == 0 {
            first = number;
        } else if number != first + registers {
            return part.wrong("staging rule: staging registers follow each other");
        }
        registers += 1;
    }
    let texture = Opcode::of(inst.op()).staging() == Staging::Texture;
    let stored = if count == f::SR_WRITE_COUNT {
        registers - 1
    } else if texture && registers == 8 {
        0
    } else {
        registers
    };
    if stored > 7 {
        return piece
            .wrong(format!("staging rule: a group of {registers} staging registers is too long"));
    }
    set(inst, piece, base, first)?;
    set(inst, piece, count, stored)
}

fn immediate(inst: &mut Inst, field: &'static Field, piece: Piece) -> Result<(), Diagnostic> {
    let value = if field.id == f::IMM {
        match piece.text.strip_prefix('#') {
            Some(digits) => digits,
            None => return piece.wrong("constant rule: an inline constant is written `#0x1`"),
        }
    } else {
        match piece.text.split_once(':') {
            Some((name, digits)) if name.trim() == field.name => digits,
            _ => {
                return piece.wrong(format!(
                    "operand rule: {0} is written `{0}:` and a number",
                    field.name
                ));
            }
        }
    };
    let Some(number) = integer(value.trim()) else {
        return piece.wrong(format!("operand rule: `{value}` is no number"));
    };
    let width = field.width();
    let (low, high) = match field.kind {
        Kind::Signed => (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1),
        // The 32-bit constants can be written with a sign.
        _ if width == 32 => (-(1i64 << 31), (1i64 << 32) - 1),
        _ => (0, (1i64 << width) - 1),
    };
    if number < low || number > high {
        return piece.wrong(format!(
            "range rule: {} of {} is {low} to {high}, not {number}",
            field.name,
            inst.op().name
        ));
    }
    let stored = (number & ((1i64 << width) - 1)) as u32;
    set(inst, piece, field.id, stored)
}

/// Decimal or hexadecimal, with a sign or without.
fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((digits, 10), |digits| (digits, 16));
    if digits.is_empty() || digits.len() > 12 || !digits.bytes().all(|d| d.is_ascii_alphanumeric())
    {
        return None;
    }
    let value = i64::from_str_radix(digits, radix).ok()?;
    Some(if negative { -value } else { value })
}

fn flow_named(name: &str) -> Option<u32> {
    let name = match name {
        // Names of older tools.
        "return" => "end",
        "td" => "discard",
        "barrier" => "wait",
        "none" => return None,
        name => name,
    };
    member(&fields::FLOW, name)
}

fn member(set: &Enum, name: &str) -> Option<u32> {
    set.members.iter().find(|member| member.name == name).map(|member| member.value)
}

/// The value of a modifier by its name; a flag's is 1.
fn value_named(field: &Field, name: &str) -> Option<u32> {
    let direct = |name: &str| match field.kind {
        Kind::Enum(set) => member(set, name),
        Kind::Flag => (field.name == name).then_some(1),
        _ => None,
    };
    direct(name).or_else(|| {
        alias::MODIFIERS
            .iter()
            .filter(|(known, _)| *known == name)
            .find_map(|(_, ours)| direct(ours))
    })
}

fn set(inst: &mut Inst, piece: Piece, id: FieldId, value: u32) -> Result<(), Diagnostic> {
    let name = inst.op().name;
    inst.set(id, value)
        .or_else(|error: FieldError| piece.wrong(format!("value rule: {name}: {error}")))
}
