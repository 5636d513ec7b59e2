//! Slots of ALU groups: destination, sources, literals, fields.

use super::{GroupText, Parser, error_at};
use crate::isa::Inst;
use crate::isa::alu::{AluSlot, Chan, Dst, Operand, Src};
use crate::isa::disasm::{INDEX_NAMES, INLINE_NAMES, SCALAR_SWIZZLES};
use crate::isa::fields::{BANK_SWIZZLE_E, f};
use gpucc_isa::lex::{Diagnostic, Token, number};
use gpucc_isa::text::read_field;

impl<'a> Parser<'a> {
    /// A slot after its letter: name, destination, sources, fields. `group` takes the literals; without it a literal
    /// source is `L.c`.
    pub(super) fn slot(
        &mut self,
        mut group: Option<&mut GroupText<'a>>,
    ) -> Result<AluSlot, Diagnostic> {
        let name = self.cursor.word("an ALU instruction")?;
        let Some(op) = self.isa.alu.named(name.text) else {
            return Err(error_at(name, format!("there is no ALU instruction {name}")));
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
                return Err(error_at(start, format!("{} has no absolute values", op.name)));
            }
            slot = slot.with_src(i, src);
        }
        if let Some(index) = index {
            slot = slot.with(f::INDEX_MODE, index);
        }
        inst = slot.inst();
        while !self.cursor.at_line_end() {
            let name = self.cursor.word("a field")?;
            let scalar =
                SCALAR_SWIZZLES.iter().position(|known| *known == name.text).map(|at| at as u32);
            match scalar.or_else(|| BANK_SWIZZLE_E.value_of(name.text)) {
                Some(swizzle) => self.store(&mut inst, f::BANK_SWIZZLE, swizzle, name)?,
                None => read_field(&mut self.cursor, name, &mut inst)?,
            }
        }
        Ok(AluSlot::from_inst(inst))
    }

    pub(super) fn dst(&mut self, inst: &Inst, index: &mut Option<u32>) -> Result<Dst, Diagnostic> {
        let token = self.cursor.word("a destination `Rn` or `____`")?;
        let mut dst = Dst { gpr: 0, chan: Chan::X, rel: false, write: true };
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

    pub(super) fn src(
        &mut self,
        group: Option<&mut GroupText<'a>>,
        index: &mut Option<u32>,
    ) -> Result<Src, Diagnostic> {
        let neg = self.cursor.eat('-');
        let abs = self.cursor.eat('|');
        let start = self.cursor.peek();
        let literal = if self.cursor.is('(') { Some(self.literal()?) } else { None };
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
                return Err(error_at(start, "a literal in a group is written `(bits).channel`"));
            }
            (None, _) => {}
        }
        if abs {
            self.cursor.expect('|')?;
        }
        Ok(Src { operand, chan, rel, neg, abs })
    }

    /// `(0x3f800000, 1.0)`, `(0x3f800000)` or `(1.5)`.
    pub(super) fn literal(&mut self) -> Result<u32, Diagnostic> {
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

    pub(super) fn float(&mut self) -> Result<f32, Diagnostic> {
        let negative = self.cursor.eat('-');
        let token = self.cursor.word("a number")?;
        match token.text.parse::<f32>() {
            Ok(value) => Ok(if negative { -value } else { value }),
            Err(_) => Err(error_at(token, format!("expected a number, found {token}"))),
        }
    }

    pub(super) fn operand(&mut self) -> Result<Operand, Diagnostic> {
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
                return Ok(Operand::Kcache { set, index: index as u8 });
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
    pub(super) fn index(&mut self, index: &mut Option<u32>) -> Result<bool, Diagnostic> {
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
            return Err(error_at(start, format!("expected one of {}", INDEX_NAMES.join(", "))));
        };
        let mode = mode as u32;
        match index.replace(mode) {
            Some(known) if known != mode => Err(error_at(start, "one instruction has one index")),
            _ => Ok(true),
        }
    }
}

fn gpr_number(token: Token<'_>) -> Result<u8, Diagnostic> {
    match token.text.strip_prefix('R').and_then(number) {
        Some(value @ 0..=127) => Ok(value as u8),
        Some(_) => Err(error_at(token, "registers are R0 to R127")),
        None => Err(error_at(token, format!("expected a register `Rn`, found {token}"))),
    }
}
