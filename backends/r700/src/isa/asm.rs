//! Text as machine code: reads what [`super::disasm`] writes, and the same with less said: without ADDR and COUNT a
//! clause is placed after the control flow and counted.
//!
//! Grammar, a line at a time (`;` ends a line too, `//` starts a comment):
//! - `[address] CF_NAME[:] [operands] FIELD(value)...`: control flow;
//! - `[number] x: NAME dst, src, ... FIELD(value)...`: a slot; a number begins a group;
//! - `literal.c 0x...`: a literal dword that no source names;
//! - `[number] FETCH_NAME dst, src, ... FIELD(value)...`: an instruction of the fetch clause above it;
//! - `@dword .dword 0x... ...`: words as they are.

use super::alu::{AluGroup, AluSlot, Chan, Dst, MAX_SLOTS, Operand, Src, Unit};
use super::disasm::{INDEX_NAMES, INLINE_NAMES, SCALAR_SWIZZLES, SELECT_LETTERS};
use super::fields::{BANK_SWIZZLE_E, DST_SELS, DST_WRS, SELS, SRC_SELS, f};
use super::ops::{FetchOp, flag};
use super::program::{Body, Cf, Clause, ClauseId, EncodeError, Program, Raw, encode_program};
use super::{Inst, Isa, R700};
use gpucc_isa::lex::{Cursor, Diagnostic, Kind, Token, error_at, number};
use gpucc_isa::text::read_field;
use gpucc_isa::{FieldId, Op};
use smallvec::SmallVec;

/// Largest program in dwords; its addresses fit every ADDR that a clause needs.
const MAX_DWORDS: u32 = 1 << 25;

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
        self.group.literals = self.pool[..dwords]
            .iter()
            .map(|bits| bits.unwrap_or(0))
            .collect();
        let ways = [self.group.units(true), self.group.units(false)];
        for (i, token) in self.letters.iter().enumerate() {
            let letters = ways
                .each_ref()
                .map(|units| units[i].map_or('?', Unit::letter));
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
        Parser {
            isa,
            cursor: Cursor::new(text),
        }
    }

    /// Nothing but empty lines may follow.
    fn end(&mut self) -> Result<(), Diagnostic> {
        self.cursor.expect_line_end()?;
        self.cursor.skip_empty_lines();
        if self.cursor.at_end() {
            Ok(())
        } else {
            Err(self.cursor.expected("the end of the text"))
        }
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
            return Err(error_at(
                token,
                format!("dword {at} is beyond the largest program"),
            ));
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
        letter && self.cursor.ahead(1).kind == Kind::Punct(':')
    }

    fn at_literal(&self) -> bool {
        self.cursor.peek().text == "literal" && self.cursor.ahead(1).kind == Kind::Punct('.')
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
            return Err(self
                .cursor
                .expected("a slot: `x:`, `y:`, `z:`, `w:` or `t:`"));
        }
        if group.group.slots.len() == MAX_SLOTS {
            return Err(error_at(
                first,
                format!("a group has at most {MAX_SLOTS} instructions"),
            ));
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

    /// A control-flow instruction, up to the end of its line.
    fn cf(&mut self) -> Result<CfText<'a>, Diagnostic> {
        let name = self.cursor.word("a control-flow instruction")?;
        let Some(op) = self.isa.cf.named(name.text) else {
            return Err(error_at(name, self.unknown(name)));
        };
        let mut cf = CfText {
            inst: Inst::usual(op),
            name,
            addr: false,
            count: false,
        };
        self.cursor.eat(':');
        if op.has(flag::EXPORTS) {
            self.export_target(&mut cf.inst)?;
            self.selects(&mut cf.inst, &SELS)?;
        } else if op.has(flag::WRITES_MEMORY) {
            self.export_target(&mut cf.inst)?;
            self.component_mask(&mut cf.inst)?;
            if cf.inst.get(f::TYPE) & 1 == 1 {
                self.cursor.expect(',')?;
                self.gpr(&mut cf.inst, f::INDEX_GPR)?;
                self.cursor.expect('.')?;
                if !self.cursor.eat_word("x") {
                    return Err(self.cursor.expected("`x`, the only component that indexes"));
                }
            }
        }
        while !self.cursor.at_line_end() {
            let name = self.cursor.word("a field")?;
            match name.text {
                "KCACHE0" => self.kcache(
                    &mut cf.inst,
                    [f::KCACHE_MODE0, f::KCACHE_BANK0, f::KCACHE_ADDR0],
                )?,
                "KCACHE1" => self.kcache(
                    &mut cf.inst,
                    [f::KCACHE_MODE1, f::KCACHE_BANK1, f::KCACHE_ADDR1],
                )?,
                _ => read_field(&mut self.cursor, name, &mut cf.inst)?,
            }
            cf.addr |= name.text.eq_ignore_ascii_case("ADDR");
            cf.count |= name.text.eq_ignore_ascii_case("COUNT");
        }
        Ok(cf)
    }

    /// What to say about a name that no control-flow instruction has.
    fn unknown(&self, name: Token<'_>) -> String {
        if self.isa.fetch.named(name.text).is_some() {
            return format!(
                "{name} is a fetch instruction: it stands in a clause, below TEX or VTX"
            );
        }
        if self.isa.alu.named(name.text).is_some() {
            return format!(
                "{name} is an ALU instruction: it stands in a slot, as `x: {}`",
                name.text
            );
        }
        format!("there is no instruction {name}")
    }

    /// `PIXEL[0], R1`
    fn export_target(&mut self, inst: &mut Inst) -> Result<(), Diagnostic> {
        let token = self.cursor.word("what is written to")?;
        let field = inst
            .op()
            .format
            .field(f::TYPE)
            .expect("exports have a TYPE");
        let gpucc_isa::Kind::Enum(set) = field.kind else {
            unreachable!("TYPE is an enum")
        };
        let Some(value) = set.value_of(token.text) else {
            let names: Vec<&str> = set.members.iter().map(|member| member.name).collect();
            return Err(error_at(
                token,
                format!("expected {}, found {token}", names.join(", ")),
            ));
        };
        self.store(inst, f::TYPE, value, token)?;
        self.cursor.expect('[')?;
        self.number_into(inst, f::ARRAY_BASE)?;
        self.cursor.expect(']')?;
        self.cursor.expect(',')?;
        self.gpr(inst, f::RW_GPR)?;
        self.loop_relative(inst, f::RW_REL)
    }

    fn component_mask(&mut self, inst: &mut Inst) -> Result<(), Diagnostic> {
        self.cursor.expect('.')?;
        let token = self.cursor.word("a mask such as `xy__`")?;
        let mask = write_mask(token)?;
        self.store(inst, f::COMP_MASK, mask, token)
    }

    /// `(CB1:32-63)`
    fn kcache(
        &mut self,
        inst: &mut Inst,
        [mode, bank, addr]: [FieldId; 3],
    ) -> Result<(), Diagnostic> {
        self.cursor.expect('(')?;
        let buffer = self.cursor.word("a constant buffer `CBn`")?;
        let Some(number) = buffer.text.strip_prefix("CB").and_then(number) else {
            return Err(error_at(
                buffer,
                format!("expected a constant buffer `CBn`, found {buffer}"),
            ));
        };
        self.store(inst, bank, number, buffer)?;
        self.cursor.expect(':')?;
        let token = self.cursor.peek();
        let first = self.cursor.number("the first constant")?;
        self.cursor.expect('-')?;
        let last = self.cursor.number("the last constant")?;
        let lines = last.wrapping_add(1).wrapping_sub(first) / 16;
        if !matches!(lines, 1 | 2) || first % 16 != 0 || last % 16 != 15 {
            return Err(error_at(
                token,
                "a set locks one or two lines of 16 constants",
            ));
        }
        self.store(inst, mode, lines, token)?;
        self.store(inst, addr, first / 16, token)?;
        self.cursor.expect(')')
    }

    /// A slot after its letter: name, destination, sources, fields. `group` takes the literals; without it a literal
    /// source is `L.c`.
    fn slot(&mut self, mut group: Option<&mut GroupText<'a>>) -> Result<AluSlot, Diagnostic> {
        let name = self.cursor.word("an ALU instruction")?;
        let Some(op) = self.isa.alu.named(name.text) else {
            return Err(error_at(
                name,
                format!("there is no ALU instruction {name}"),
            ));
        };
        let mut inst = Inst::usual(op);
        let mut index = None;
        let dst = self.dst(&inst, &mut index)?;
        let mut slot = AluSlot::from_inst(inst).with_dst(dst);
        let (needed, most) = (slot.sources(), slot.source_fields());
        for i in 0..most {
            if i >= needed && !self.cursor.is(',') {
                break;
            }
            self.cursor.expect(',')?;
            let start = self.cursor.peek();
            let src = self.src(group.as_deref_mut(), &mut index)?;
            if src.abs && slot.is_op3() {
                return Err(error_at(
                    start,
                    format!("{} has no absolute values", op.name),
                ));
            }
            slot = slot.with_src(i, src);
        }
        if let Some(index) = index {
            slot = slot.with(f::INDEX_MODE, index);
        }
        inst = slot.inst();
        while !self.cursor.at_line_end() {
            let name = self.cursor.word("a field")?;
            let scalar = SCALAR_SWIZZLES
                .iter()
                .position(|known| *known == name.text)
                .map(|at| at as u32);
            match scalar.or_else(|| BANK_SWIZZLE_E.value_of(name.text)) {
                Some(swizzle) => self.store(&mut inst, f::BANK_SWIZZLE, swizzle, name)?,
                None => read_field(&mut self.cursor, name, &mut inst)?,
            }
        }
        Ok(AluSlot::from_inst(inst))
    }

    fn dst(&mut self, inst: &Inst, index: &mut Option<u32>) -> Result<Dst, Diagnostic> {
        let token = self.cursor.word("a destination `Rn` or `____`")?;
        let mut dst = Dst {
            gpr: 0,
            chan: Chan::X,
            rel: false,
            write: true,
        };
        if token.text == "____" {
            if !inst.has_field(f::WRITE_MASK) {
                return Err(error_at(
                    token,
                    format!("{} cannot leave out its write", inst.op().name),
                ));
            }
            dst.write = false;
        } else {
            dst.gpr = gpr_number(token)?;
            dst.rel = self.index(index)?;
        }
        self.cursor.expect('.')?;
        dst.chan = self.chan()?;
        Ok(dst)
    }

    fn src(
        &mut self,
        group: Option<&mut GroupText<'a>>,
        index: &mut Option<u32>,
    ) -> Result<Src, Diagnostic> {
        let neg = self.cursor.eat('-');
        let abs = self.cursor.eat('|');
        let start = self.cursor.peek();
        let literal = if self.cursor.is('(') {
            Some(self.literal()?)
        } else {
            None
        };
        let operand = match literal {
            Some(_) => Operand::Literal,
            None => self.operand()?,
        };
        let rel = self.index(index)?;
        let plain = operand == Operand::Ps || operand.inline_bits().is_some();
        let chan = if plain && !self.cursor.is('.') {
            Chan::X
        } else {
            self.cursor.expect('.')?;
            self.chan()?
        };
        match (literal, group) {
            (Some(bits), Some(group)) => group.set_literal(chan.index(), bits, start)?,
            (Some(_), None) => {
                return Err(error_at(
                    start,
                    "a slot alone has no literals: write `L` and the channel",
                ));
            }
            (None, Some(_)) if operand == Operand::Literal => {
                return Err(error_at(
                    start,
                    "a literal in a group is written `(bits).channel`",
                ));
            }
            (None, _) => {}
        }
        if abs {
            self.cursor.expect('|')?;
        }
        Ok(Src {
            operand,
            chan,
            rel,
            neg,
            abs,
        })
    }

    /// `(0x3f800000, 1.0)`, `(0x3f800000)` or `(1.5)`.
    fn literal(&mut self) -> Result<u32, Diagnostic> {
        self.cursor.expect('(')?;
        let first = self.cursor.peek();
        if first.text.starts_with("0x") {
            let bits = self.cursor.number("the literal's bits")?;
            if self.cursor.eat(',') {
                let token = self.cursor.peek();
                let value = self.float()?;
                let same =
                    value.to_bits() == bits || (value.is_nan() && f32::from_bits(bits).is_nan());
                if !same {
                    return Err(error_at(
                        token,
                        format!("{bits:#010x} is {:?}", f32::from_bits(bits)),
                    ));
                }
            }
            self.cursor.expect(')')?;
            return Ok(bits);
        }
        let value = self.float()?;
        self.cursor.expect(')')?;
        Ok(value.to_bits())
    }

    fn float(&mut self) -> Result<f32, Diagnostic> {
        let negative = self.cursor.eat('-');
        let token = self.cursor.word("a number")?;
        match token.text.parse::<f32>() {
            Ok(value) => Ok(if negative { -value } else { value }),
            Err(_) => Err(error_at(token, format!("expected a number, found {token}"))),
        }
    }

    fn operand(&mut self) -> Result<Operand, Diagnostic> {
        let what = "a source: `Rn`, `KC0[n]`, `Cn`, `PV`, `PS`, a constant or a literal";
        let token = self.cursor.word(what)?;
        if let Some((operand, _)) = INLINE_NAMES.iter().find(|(_, name)| *name == token.text) {
            return Ok(*operand);
        }
        match token.text {
            "PV" => return Ok(Operand::Pv),
            "PS" => return Ok(Operand::Ps),
            "L" => return Ok(Operand::Literal),
            "KC0" | "KC1" => {
                let set = u8::from(token.text == "KC1");
                self.cursor.expect('[')?;
                let at = self.cursor.peek();
                let index = self.cursor.number("a constant, 0 to 31")?;
                if index > 31 {
                    return Err(error_at(at, "a locked set has 32 constants at most"));
                }
                self.cursor.expect(']')?;
                return Ok(Operand::Kcache {
                    set,
                    index: index as u8,
                });
            }
            _ => {}
        }
        if let Some(index) = token.text.strip_prefix('C').and_then(number) {
            return match u8::try_from(index) {
                Ok(index) => Ok(Operand::Cfile(index)),
                Err(_) => Err(error_at(token, "the constant file has 256 constants")),
            };
        }
        if token.text.strip_prefix('R').and_then(number).is_some() {
            return Ok(Operand::Gpr(gpr_number(token)?));
        }
        Err(error_at(token, format!("expected {what}, found {token}")))
    }

    /// `[AR.x]` and its like, if there is one: whether the operand is relative. All of one instruction agree.
    fn index(&mut self, index: &mut Option<u32>) -> Result<bool, Diagnostic> {
        if !self.cursor.eat('[') {
            return Ok(false);
        }
        let start = self.cursor.peek();
        let mut text = String::new();
        while !self.cursor.is(']') {
            let token = self.cursor.peek();
            if self.cursor.at_line_end() || text.len() > 16 {
                return Err(self.cursor.expected("`]`"));
            }
            text.push_str(token.text);
            self.cursor.take();
        }
        self.cursor.expect(']')?;
        let Some(mode) = INDEX_NAMES.iter().position(|name| *name == text) else {
            return Err(error_at(
                start,
                format!("expected one of {}", INDEX_NAMES.join(", ")),
            ));
        };
        let mode = mode as u32;
        match index.replace(mode) {
            Some(known) if known != mode => Err(error_at(start, "one instruction has one index")),
            _ => Ok(true),
        }
    }

    /// A fetch instruction after its name.
    fn fetch(&mut self, name: Token<'a>) -> Result<Inst, Diagnostic> {
        let Some(op) = self.isa.fetch.named(name.text) else {
            return Err(error_at(
                name,
                format!("there is no fetch instruction {name}"),
            ));
        };
        let mut inst = Inst::usual(op);
        match FetchOp::of(op.id) {
            FetchOp::DS_LOCAL_WRITE | FetchOp::DS_GLOBAL_WRITE => {
                self.gpr(&mut inst, f::SRC_GPR)?;
                self.selects(&mut inst, &SRC_SELS)?;
            }
            FetchOp::DS_LOCAL_READ | FetchOp::DS_GLOBAL_READ => {
                self.gpr(&mut inst, f::DST_GPR)?;
                self.cursor.expect('.')?;
                let token = self.cursor.word("a mask such as `xy__`")?;
                let mask = write_mask(token)?;
                for (i, field) in DST_WRS.into_iter().enumerate() {
                    self.store(&mut inst, field, mask >> i & 1, token)?;
                }
                self.cursor.expect(',')?;
                self.gpr(&mut inst, f::SRC_GPR)?;
                self.selects(&mut inst, &SRC_SELS[..2])?;
            }
            _ => self.fetch_operands(op, &mut inst)?,
        }
        while !self.cursor.at_line_end() {
            let name = self.cursor.word("a field")?;
            read_field(&mut self.cursor, name, &mut inst)?;
        }
        Ok(inst)
    }

    fn fetch_operands(&mut self, op: &'static Op, inst: &mut Inst) -> Result<(), Diagnostic> {
        if inst.has_field(f::SEMANTIC_ID) {
            self.prefixed(inst, f::SEMANTIC_ID, 'S')?;
        } else {
            self.gpr(inst, f::DST_GPR)?;
            self.loop_relative(inst, f::DST_REL)?;
        }
        self.selects(inst, &DST_SELS)?;
        self.cursor.expect(',')?;
        self.gpr(inst, f::SRC_GPR)?;
        self.loop_relative(inst, f::SRC_REL)?;
        if op.has(flag::TEXTURE) {
            self.selects(inst, &SRC_SELS)?;
            self.cursor.expect(',')?;
            self.prefixed(inst, f::RESOURCE_ID, 't')?;
            self.cursor.expect(',')?;
            self.prefixed(inst, f::SAMPLER_ID, 's')?;
        } else {
            self.selects(inst, &[f::SRC_SEL_X])?;
        }
        if op.has(flag::VERTEX) {
            self.cursor.expect(',')?;
            self.prefixed(inst, f::BUFFER_ID, 'b')?;
        }
        Ok(())
    }

    fn gpr(&mut self, inst: &mut Inst, field: FieldId) -> Result<(), Diagnostic> {
        self.prefixed(inst, field, 'R')
    }

    /// A letter and a number, such as `R5`.
    fn prefixed(
        &mut self,
        inst: &mut Inst,
        field: FieldId,
        letter: char,
    ) -> Result<(), Diagnostic> {
        let what = format!("`{letter}` and a number");
        let token = self.cursor.word(&what)?;
        match token.text.strip_prefix(letter).and_then(number) {
            Some(value) => self.store(inst, field, value, token),
            None => Err(error_at(token, format!("expected {what}, found {token}"))),
        }
    }

    /// `[aL]`
    fn loop_relative(&mut self, inst: &mut Inst, field: FieldId) -> Result<(), Diagnostic> {
        if self.cursor.eat('[') {
            let token = self.cursor.word("`aL`")?;
            if token.text != "aL" {
                return Err(error_at(token, format!("expected `aL`, found {token}")));
            }
            self.store(inst, field, 1, token)?;
            self.cursor.expect(']')?;
        }
        Ok(())
    }

    /// `.xyz1`, one letter a field.
    fn selects(&mut self, inst: &mut Inst, fields: &[FieldId]) -> Result<(), Diagnostic> {
        self.cursor.expect('.')?;
        let token = self.cursor.word("component selects")?;
        if token.text.len() != fields.len() {
            return Err(error_at(
                token,
                format!("expected {} of xyzw01_, found {token}", fields.len()),
            ));
        }
        for (letter, field) in token.text.chars().zip(fields) {
            let Some(select) = SELECT_LETTERS.iter().position(|known| *known == letter) else {
                return Err(error_at(
                    token,
                    format!("expected {} of xyzw01_, found {token}", fields.len()),
                ));
            };
            self.store(inst, *field, select as u32, token)?;
        }
        Ok(())
    }

    fn chan(&mut self) -> Result<Chan, Diagnostic> {
        let token = self.cursor.word("a channel")?;
        match token.text {
            "x" => Ok(Chan::X),
            "y" => Ok(Chan::Y),
            "z" => Ok(Chan::Z),
            "w" => Ok(Chan::W),
            _ => Err(error_at(
                token,
                format!("expected x, y, z or w, found {token}"),
            )),
        }
    }

    fn number_into(&mut self, inst: &mut Inst, field: FieldId) -> Result<(), Diagnostic> {
        let token = self.cursor.peek();
        let value = self.cursor.number("a number")?;
        self.store(inst, field, value, token)
    }

    fn store(
        &self,
        inst: &mut Inst,
        field: FieldId,
        value: u32,
        at: Token<'_>,
    ) -> Result<(), Diagnostic> {
        inst.set(field, value)
            .map_err(|error| error_at(at, error.to_string()))
    }
}

fn gpr_number(token: Token<'_>) -> Result<u8, Diagnostic> {
    match token.text.strip_prefix('R').and_then(number) {
        Some(value @ 0..=127) => Ok(value as u8),
        Some(_) => Err(error_at(token, "registers are R0 to R127")),
        None => Err(error_at(
            token,
            format!("expected a register `Rn`, found {token}"),
        )),
    }
}

/// `xy_w` as bits, x lowest.
fn write_mask(token: Token<'_>) -> Result<u32, Diagnostic> {
    let wrong = || {
        error_at(
            token,
            format!("expected a mask such as `xy__`, found {token}"),
        )
    };
    if token.text.len() != 4 {
        return Err(wrong());
    }
    let mut mask = 0;
    for (i, (letter, own)) in token.text.chars().zip("xyzw".chars()).enumerate() {
        match letter {
            '_' => {}
            _ if letter == own => mask |= 1 << i,
            _ => return Err(wrong()),
        }
    }
    Ok(mask)
}

/// Puts lines together to a program.
#[derive(Default)]
struct Builder<'a> {
    program: Program,
    /// Where each control-flow instruction, clause and raw run stands in the text.
    cf_at: Vec<Token<'a>>,
    clause_at: Vec<Token<'a>>,
    raw_at: Vec<Token<'a>>,
    /// Clauses without an address.
    unplaced: Vec<(usize, ClauseId)>,
    open: Option<Open<'a>>,
}

/// The clause that lines are added to.
struct Open<'a> {
    cf: CfText<'a>,
    body: Body,
    group: Option<GroupText<'a>>,
}

impl<'a> Builder<'a> {
    fn cf(&mut self, cf: CfText<'a>, at: Option<u32>, token: Token<'a>) -> Result<(), Diagnostic> {
        self.close(token)?;
        let next = self.program.cf.last().map_or(0, |last| last.at + 1);
        let at = at.unwrap_or(next);
        if at < next || at >= MAX_DWORDS / 2 {
            return Err(error_at(
                token,
                format!("expected an address of at least {next}, found {token}"),
            ));
        }
        self.program.cf.push(Cf {
            at,
            inst: cf.inst,
            clause: None,
        });
        self.cf_at.push(cf.name);
        let op = cf.inst.op();
        if op.has(flag::ALU_CLAUSE) {
            self.open = Some(Open {
                cf,
                body: Body::Alu(Vec::new()),
                group: None,
            });
        } else if op.has(flag::FETCH_CLAUSE) {
            self.open = Some(Open {
                cf,
                body: Body::Fetch(Vec::new()),
                group: None,
            });
        }
        Ok(())
    }

    fn in_fetch_clause(&self) -> bool {
        matches!(
            &self.open,
            Some(Open {
                body: Body::Fetch(_),
                ..
            })
        )
    }

    fn fetch(&mut self, inst: Inst) {
        if let Some(Open {
            body: Body::Fetch(fetches),
            ..
        }) = &mut self.open
        {
            fetches.push(inst);
        }
    }

    /// The group that a slot line belongs to.
    fn group(&mut self, starts: bool, token: Token<'a>) -> Result<&mut GroupText<'a>, Diagnostic> {
        let Some(Open {
            body: Body::Alu(groups),
            group,
            ..
        }) = &mut self.open
        else {
            return Err(error_at(token, "a slot stands in a clause, below ALU"));
        };
        if starts {
            if let Some(done) = group.take() {
                groups.push(done.finish(token)?);
            }
        }
        Ok(group.get_or_insert_with(GroupText::default))
    }

    fn raw(&mut self, at: u32, words: Vec<u32>, token: Token<'a>) {
        self.program.raw.push(Raw { at, words });
        self.raw_at.push(token);
    }

    /// Ends the open clause.
    fn close(&mut self, token: Token<'a>) -> Result<(), Diagnostic> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        if let (Some(group), Body::Alu(groups)) = (open.group.take(), &mut open.body) {
            groups.push(group.finish(token)?);
        }
        let count = open.body.count();
        if count == 0 {
            return Ok(());
        }
        let place = self.program.cf.len() - 1;
        let cf = &mut self.program.cf[place];
        let said = cf.inst.get(f::COUNT) + 1;
        if open.cf.count && said != count {
            let message = format!("COUNT is {said}, but the clause has {count}");
            return Err(error_at(open.cf.name, message));
        }
        cf.inst.set(f::COUNT, count - 1).map_err(|_| {
            let most = cf
                .inst
                .op()
                .format
                .field(f::COUNT)
                .map_or(0, |field| 1u32 << field.width());
            error_at(
                open.cf.name,
                format!("the clause has {count} instruction slots, it can have {most}"),
            )
        })?;
        let id = ClauseId(self.program.clauses.len() as u32);
        cf.clause = Some(id);
        if !open.cf.addr {
            self.unplaced.push((place, id));
        }
        self.program.clauses.push(Clause {
            at: cf.inst.get(f::ADDR),
            body: open.body,
        });
        self.clause_at.push(open.cf.name);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u32>, Diagnostic> {
        self.place()?;
        let mut dwords = 0;
        for (i, cf) in self.program.cf.iter().enumerate() {
            dwords = dwords.max(check_end(2 * u64::from(cf.at) + 2, self.cf_at[i])?);
        }
        for (i, clause) in self.program.clauses.iter().enumerate() {
            let end = 2 * (u64::from(clause.at) + u64::from(clause.body.qwords()));
            dwords = dwords.max(check_end(end, self.clause_at[i])?);
        }
        for (i, raw) in self.program.raw.iter().enumerate() {
            dwords = dwords.max(check_end(
                u64::from(raw.at) + raw.words.len() as u64,
                self.raw_at[i],
            )?);
        }
        self.program.dwords = dwords;
        encode_program(&self.program).map_err(|error| self.locate(&error))
    }

    /// Gives addresses to clauses that have none: after everything that has one.
    fn place(&mut self) -> Result<(), Diagnostic> {
        let mut next = self.program.cf.last().map_or(0, |cf| cf.at + 1);
        for raw in &self.program.raw {
            next = next.max((raw.at + raw.words.len() as u32).div_ceil(2));
        }
        let mut placed = vec![true; self.program.clauses.len()];
        for (_, id) in &self.unplaced {
            placed[id.index()] = false;
        }
        for (clause, _) in self
            .program
            .clauses
            .iter()
            .zip(&placed)
            .filter(|(_, placed)| **placed)
        {
            next = next.max(clause.at.saturating_add(clause.body.qwords()));
        }
        for (cf, id) in std::mem::take(&mut self.unplaced) {
            let clause = &mut self.program.clauses[id.index()];
            if matches!(clause.body, Body::Fetch(_)) {
                next = next.next_multiple_of(2);
            }
            let token = self.clause_at[id.index()];
            check_end(
                2 * (u64::from(next) + u64::from(clause.body.qwords())),
                token,
            )?;
            clause.at = next;
            let cf = &mut self.program.cf[cf].inst;
            cf.set(f::ADDR, next)
                .map_err(|error| error_at(token, error.to_string()))?;
            next += clause.body.qwords();
        }
        Ok(())
    }

    /// An encoding error at the last part of the text that covers the place.
    fn locate(&self, error: &EncodeError) -> Diagnostic {
        let at = match error {
            EncodeError::Overlap { at }
            | EncodeError::Outside { at, .. }
            | EncodeError::Literals { at, .. }
            | EncodeError::Last { at } => *at,
        };
        let cf = self
            .program
            .cf
            .iter()
            .map(|cf| (2 * cf.at, 2))
            .zip(&self.cf_at);
        let clauses = self
            .program
            .clauses
            .iter()
            .map(|clause| (2 * clause.at, 2 * clause.body.qwords()));
        let raw = self
            .program
            .raw
            .iter()
            .map(|raw| (raw.at, raw.words.len() as u32));
        let parts = cf
            .chain(clauses.zip(&self.clause_at))
            .chain(raw.zip(&self.raw_at));
        let token = parts
            .filter(|((start, length), _)| (*start..start + length).contains(&at))
            .last();
        match token {
            Some((_, token)) => error_at(*token, error.to_string()),
            None => Diagnostic {
                line: 1,
                column: 1,
                message: error.to_string(),
            },
        }
    }
}

fn check_end(end: u64, token: Token<'_>) -> Result<u32, Diagnostic> {
    if end > u64::from(MAX_DWORDS) {
        return Err(error_at(
            token,
            format!("the program would have {end} dwords, at most {MAX_DWORDS}"),
        ));
    }
    Ok(end as u32)
}
