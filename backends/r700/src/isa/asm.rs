//! Text as machine code: reads what [`super::disasm`] writes, and the same with less said: without ADDR and COUNT a
//! clause is placed after the control flow and counted.
//!
//! Grammar, a line at a time (`;` ends a line too, `//` starts a comment):
//! - `[address] CF_NAME[:] [operands] FIELD(value)...`: control flow;
//! - `[number] x: NAME dst, src, ... FIELD(value)...`: a slot; a number begins a group;
//! - `literal.c 0x...`: a literal dword that no source names;
//! - `[number] FETCH_NAME dst, src, ... FIELD(value)...`: an instruction of the fetch clause above it;
//! - `@dword .dword 0x... ...`: words as they are.

mod build;
mod inst;
mod slot;

use super::alu::{AluGroup, AluSlot, Chan, MAX_SLOTS, Unit};
use super::program::MAX_DWORDS;
use super::{Inst, Isa, R700};
use build::Builder;
use gpucc_isa::lex::{Cursor, Diagnostic, Kind, Token, error_at, number};
use smallvec::SmallVec;

/// Assembles a program to bytes in memory order.
///
/// # Errors
/// The first mistake, with line, column and what was expected.
pub fn assemble(text: &str) -> Result<Vec<u8>, Diagnostic> {
    let words = assemble_of(&R700, text)?;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// Assembles a program of `isa` to dwords.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_of(isa: &'static Isa, text: &str) -> Result<Vec<u32>, Diagnostic> {
    let mut parser = Parser::new(isa, text);
    let mut builder = Builder::default();
    parser.program(&mut builder)?;
    builder.finish()
}

/// Assembles one control-flow instruction.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_cf(isa: &'static Isa, text: &str) -> Result<Inst, Diagnostic> {
    let mut parser = Parser::new(isa, text);
    parser.cursor.skip_empty_lines();
    let cf = parser.cf()?;
    parser.end()?;
    Ok(cf.inst)
}

/// Assembles one fetch instruction.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_fetch(isa: &'static Isa, text: &str) -> Result<Inst, Diagnostic> {
    let mut parser = Parser::new(isa, text);
    parser.cursor.skip_empty_lines();
    let name = parser.cursor.word("a fetch instruction")?;
    let inst = parser.fetch(name)?;
    parser.end()?;
    Ok(inst)
}

/// Assembles one slot without its group.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_slot(isa: &'static Isa, text: &str) -> Result<AluSlot, Diagnostic> {
    let mut parser = Parser::new(isa, text);
    parser.cursor.skip_empty_lines();
    let slot = parser.slot(None)?;
    parser.end()?;
    Ok(slot)
}

/// Assembles one group.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_group(isa: &'static Isa, text: &str) -> Result<AluGroup, Diagnostic> {
    let mut parser = Parser::new(isa, text);
    let mut group = GroupText::default();
    loop {
        parser.cursor.skip_empty_lines();
        if parser.cursor.at_end() {
            break;
        }
        parser.group_line(&mut group)?;
    }
    group.finish(parser.cursor.peek())
}

/// A control-flow line.
struct CfText<'a> {
    inst: Inst,
    name: Token<'a>,
    /// Whether ADDR and COUNT were said.
    addr: bool,
    count: bool,
}

/// A group as its lines come in.
#[derive(Default)]
struct GroupText<'a> {
    group: AluGroup,
    letters: SmallVec<[Token<'a>; 5]>,
    pool: [Option<u32>; 4],
    /// Literals that stand on a line of their own.
    extra: SmallVec<[(usize, Token<'a>); 4]>,
}

impl<'a> GroupText<'a> {
    fn set_literal(&mut self, chan: usize, bits: u32, at: Token<'a>) -> Result<(), Diagnostic> {
        match self.pool[chan].replace(bits) {
            Some(known) if known != bits => {
                let letter = Chan::ALL[chan].letter();
                Err(error_at(
                    at,
                    format!("literal.{letter} is {known:#010x} already, it cannot be {bits:#010x}"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Completes the group: LAST, the literal pool, and the check that the letters say what the hardware does.
    fn finish(mut self, end: Token<'a>) -> Result<AluGroup, Diagnostic> {
        let Some(last) = self.group.slots.last_mut() else {
            return Err(error_at(end, format!("expected a slot, found {end}")));
        };
        *last = last.with_last(true);
        let dwords = AluGroup::literal_dwords(self.group.literal_mask());
        if let Some((_, token)) = self.extra.iter().find(|(chan, _)| *chan >= dwords) {
            return Err(error_at(
                *token,
                format!("the group's sources call for {dwords} literal dwords"),
            ));
        }
        self.group.literals = self.pool[..dwords].iter().map(|bits| bits.unwrap_or(0)).collect();
        let ways = [self.group.units(true), self.group.units(false)];
        for (i, token) in self.letters.iter().enumerate() {
            let letters = ways.each_ref().map(|units| units[i].map_or('?', Unit::letter));
            if !letters.iter().any(|letter| token.text.starts_with(*letter)) {
                let message = format!(
                    "the hardware executes this instruction in slot {}, not {token}",
                    letters[0]
                );
                return Err(error_at(*token, message));
            }
        }
        Ok(self.group)
    }
}

/// Reads lines.
struct Parser<'a> {
    isa: &'static Isa,
    cursor: Cursor<'a>,
}

impl<'a> Parser<'a> {
    fn new(isa: &'static Isa, text: &'a str) -> Parser<'a> {
        Parser { isa, cursor: Cursor::new(text) }
    }

    /// Nothing but empty lines may follow.
    fn end(&mut self) -> Result<(), Diagnostic> {
        self.cursor.expect_line_end()?;
        self.cursor.skip_empty_lines();
        if self.cursor.at_end() { Ok(()) } else { Err(self.cursor.expected("the end of the text")) }
    }

    fn program(&mut self, builder: &mut Builder<'a>) -> Result<(), Diagnostic> {
        loop {
            self.cursor.skip_empty_lines();
            if self.cursor.at_end() {
                return builder.close(self.cursor.peek());
            }
            if self.cursor.is('@') {
                builder.close(self.cursor.peek())?;
                self.raw_line(builder)?;
                continue;
            }
            self.line(builder)?;
        }
    }

    fn raw_line(&mut self, builder: &mut Builder<'a>) -> Result<(), Diagnostic> {
        let token = self.cursor.take();
        let at = self.cursor.number("the address of a dword")?;
        self.cursor.expect('.')?;
        if !self.cursor.eat_word("dword") {
            return Err(self.cursor.expected("`dword`"));
        }
        let mut words = Vec::new();
        while !self.cursor.at_line_end() {
            words.push(self.cursor.number("a dword")?);
        }
        let end = u64::from(at) + words.len() as u64;
        if end > u64::from(MAX_DWORDS) {
            return Err(error_at(token, format!("dword {at} is beyond the largest program")));
        }
        builder.raw(at, words, token);
        self.cursor.expect_line_end()
    }

    /// A line that begins with a number, a slot letter or a name.
    fn line(&mut self, builder: &mut Builder<'a>) -> Result<(), Diagnostic> {
        let first = self.cursor.peek();
        let numbered = match number(first.text) {
            Some(value) if first.kind == Kind::Word => {
                self.cursor.take();
                Some(value)
            }
            _ => None,
        };
        if self.at_slot() || self.at_literal() {
            let group = builder.group(numbered.is_some(), self.cursor.peek())?;
            return self.group_line(group);
        }
        let name = self.cursor.peek();
        if name.kind != Kind::Word {
            return Err(self.cursor.expected("an instruction"));
        }
        if builder.in_fetch_clause() && self.isa.fetch.named(name.text).is_some() {
            self.cursor.take();
            let inst = self.fetch(name)?;
            builder.fetch(inst);
        } else {
            let cf = self.cf()?;
            builder.cf(cf, numbered, first)?;
        }
        self.cursor.expect_line_end()
    }

    fn at_slot(&self) -> bool {
        let token = self.cursor.peek();
        let letter = matches!(token.text, "x" | "y" | "z" | "w" | "t" | "?");
        letter && self.cursor.peek_after().kind == Kind::Punct(':')
    }

    fn at_literal(&self) -> bool {
        self.cursor.peek().text == "literal" && self.cursor.peek_after().kind == Kind::Punct('.')
    }

    /// One slot or literal of a group, and the end of its line.
    fn group_line(&mut self, group: &mut GroupText<'a>) -> Result<(), Diagnostic> {
        let first = self.cursor.peek();
        if self.at_literal() {
            self.cursor.take();
            self.cursor.take();
            let chan = self.chan()?.index();
            let bits = self.cursor.number("the literal's bits")?;
            group.extra.push((chan, first));
            group.set_literal(chan, bits, first)?;
            return self.cursor.expect_line_end();
        }
        if !self.at_slot() {
            return Err(self.cursor.expected("a slot: `x:`, `y:`, `z:`, `w:` or `t:`"));
        }
        if group.group.slots.len() == MAX_SLOTS {
            return Err(error_at(first, format!("a group has at most {MAX_SLOTS} instructions")));
        }
        self.cursor.take();
        self.cursor.take();
        group.letters.push(first);
        let slot = self.slot(Some(&mut *group))?;
        if slot.is_last() {
            return Err(error_at(first, "LAST follows from the order of the slots"));
        }
        group.group.slots.push(slot);
        self.cursor.expect_line_end()
    }
}
