//! Control-flow and fetch lines, and the pieces that they share.

use super::{CfText, Parser, error_at};
use crate::isa::disasm::SELECT_LETTERS;
use crate::isa::fields::{DST_SELS, DST_WRS, SELS, SRC_SELS, f};
use crate::isa::ops::{FetchOp, flag};
use crate::isa::{Chan, Inst};
use gpucc_isa::lex::{Diagnostic, Token, number};
use gpucc_isa::text::read_field;
use gpucc_isa::{FieldId, Op};

impl<'a> Parser<'a> {
    /// A control-flow instruction, up to the end of its line.
    pub(super) fn cf(&mut self) -> Result<CfText<'a>, Diagnostic> {
        let name = self.cursor.word("a control-flow instruction")?;
        let Some(op) = self.isa.cf.named(name.text) else {
            return Err(error_at(name, self.unknown(name)));
        };
        let mut cf = CfText { inst: Inst::usual(op), name, addr: false, count: false };
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
                "KCACHE0" => {
                    self.kcache(&mut cf.inst, [f::KCACHE_MODE0, f::KCACHE_BANK0, f::KCACHE_ADDR0])?
                }
                "KCACHE1" => {
                    self.kcache(&mut cf.inst, [f::KCACHE_MODE1, f::KCACHE_BANK1, f::KCACHE_ADDR1])?
                }
                _ => read_field(&mut self.cursor, name, &mut cf.inst)?,
            }
            cf.addr |= name.text.eq_ignore_ascii_case("ADDR");
            cf.count |= name.text.eq_ignore_ascii_case("COUNT");
        }
        Ok(cf)
    }

    /// What to say about a name that no control-flow instruction has.
    pub(super) fn unknown(&self, name: Token<'_>) -> String {
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
    pub(super) fn export_target(&mut self, inst: &mut Inst) -> Result<(), Diagnostic> {
        let token = self.cursor.word("what is written to")?;
        let field = inst.op().format.field(f::TYPE).expect("exports have a TYPE");
        let gpucc_isa::Kind::Enum(set) = field.kind else { unreachable!("TYPE is an enum") };
        let Some(value) = set.value_of(token.text) else {
            let names: Vec<&str> = set.members.iter().map(|member| member.name).collect();
            return Err(error_at(token, format!("expected {}, found {token}", names.join(", "))));
        };
        self.store(inst, f::TYPE, value, token)?;
        self.cursor.expect('[')?;
        self.number_into(inst, f::ARRAY_BASE)?;
        self.cursor.expect(']')?;
        self.cursor.expect(',')?;
        self.gpr(inst, f::RW_GPR)?;
        self.loop_relative(inst, f::RW_REL)
    }

    pub(super) fn component_mask(&mut self, inst: &mut Inst) -> Result<(), Diagnostic> {
        self.cursor.expect('.')?;
        let token = self.cursor.word("a mask such as `xy__`")?;
        let mask = write_mask(token)?;
        self.store(inst, f::COMP_MASK, mask, token)
    }

    /// `(CB1:32-63)`
    pub(super) fn kcache(
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
            return Err(error_at(token, "a set locks one or two lines of 16 constants"));
        }
        self.store(inst, mode, lines, token)?;
        self.store(inst, addr, first / 16, token)?;
        self.cursor.expect(')')
    }

    /// A fetch instruction after its name.
    pub(super) fn fetch(&mut self, name: Token<'a>) -> Result<Inst, Diagnostic> {
        let Some(op) = self.isa.fetch.named(name.text) else {
            return Err(error_at(name, format!("there is no fetch instruction {name}")));
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

    pub(super) fn fetch_operands(
        &mut self,
        op: &'static Op,
        inst: &mut Inst,
    ) -> Result<(), Diagnostic> {
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

    pub(super) fn gpr(&mut self, inst: &mut Inst, field: FieldId) -> Result<(), Diagnostic> {
        self.prefixed(inst, field, 'R')
    }

    /// A letter and a number, such as `R5`.
    pub(super) fn prefixed(
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
    pub(super) fn loop_relative(
        &mut self,
        inst: &mut Inst,
        field: FieldId,
    ) -> Result<(), Diagnostic> {
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
    pub(super) fn selects(
        &mut self,
        inst: &mut Inst,
        fields: &[FieldId],
    ) -> Result<(), Diagnostic> {
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

    pub(super) fn chan(&mut self) -> Result<Chan, Diagnostic> {
        let token = self.cursor.word("a channel")?;
        match token.text {
            "x" => Ok(Chan::X),
            "y" => Ok(Chan::Y),
            "z" => Ok(Chan::Z),
            "w" => Ok(Chan::W),
            _ => Err(error_at(token, format!("expected x, y, z or w, found {token}"))),
        }
    }

    pub(super) fn number_into(
        &mut self,
        inst: &mut Inst,
        field: FieldId,
    ) -> Result<(), Diagnostic> {
        let token = self.cursor.peek();
        let value = self.cursor.number("a number")?;
        self.store(inst, field, value, token)
    }

    pub(super) fn store(
        &self,
        inst: &mut Inst,
        field: FieldId,
        value: u32,
        at: Token<'_>,
    ) -> Result<(), Diagnostic> {
        inst.set(field, value).map_err(|error| error_at(at, error.to_string()))
    }
}

/// `xy_w` as bits, x lowest.
fn write_mask(token: Token<'_>) -> Result<u32, Diagnostic> {
    let wrong = || error_at(token, format!("expected a mask such as `xy__`, found {token}"));
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
