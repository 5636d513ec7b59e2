//! Text to words: the syntax of the public i965 assembler, one instruction a statement, with `;` behind it.
//!
//! ```text
//! (+f0.0) add.sat.nz.f0.0(8) g4<1>F -g2.1<0,1,0>F (abs)g3<8,8,1>F { align1 NoDDClr };
//! ```
//! What the text leaves out is what every encoder writes; the options at its end say everything else.

mod operand;
mod text;

use super::disasm::{PREDICATES, PREDICATES16, usual_second_type};
use super::fields::{self as l, f};
use super::implied::{Raw, implied, repeated};
use super::operand::{COMPR4, File, Operand, Role, Type};
use super::ops::{Opcode, Shape};
use super::{Machine, compact, decode, decode_compact, message};
use gpucc_isa::{FieldId, Inst};
use text::{Parsed, Text, parse_u32};

/// One instruction in memory order.
pub type Bytes = Vec<u8>;

/// What a statement says, before it is put into the word.
struct Statement<'a> {
    text: Text<'a>,
    machine: Machine,
    inst: Inst,
    opcode: Opcode,
    align16: bool,
    /// Options that concern more than a field.
    compact: bool,
    compr4: bool,
    eot: bool,
    flag: Option<u32>,
    overrides: [Option<(Role, usize)>; 3],
    second_type: Option<u32>,
}

/// One statement without its `;` as bytes in memory order. `line` counts from 1, `before` are the line's characters that
/// stand before it.
///
/// # Errors
/// Place and what was expected, or the rule that is broken.
pub fn statement(machine: Machine, text: &str, line: u32, before: usize) -> Parsed<Bytes> {
    let mut text = Text { text, at: 0, line, before };
    text.space();
    let predicate = predicate(&mut text)?;
    text.space();
    let start = text.at;
    let name = text.word();
    let Some(op) = machine.table().named(name) else {
        if name.is_empty() {
            return text.expected("an instruction");
        }
        return text.wrong_at(start, format!("there is no instruction `{name}`"));
    };
    let mut this = Statement {
        text,
        machine,
        inst: Inst::usual(op),
        opcode: Opcode::of(op),
        align16: false,
        compact: false,
        compr4: false,
        eot: false,
        flag: None,
        overrides: [None; 3],
        second_type: None,
    };
    if this.opcode.shape() == Shape::Special {
        if predicate.is_some() {
            return this.text.wrong_at(start, format!("{name} has no predicate"));
        }
        return this.special();
    }
    // The access mode decides how everything before it reads.
    this.align16 = access_mode(this.text.rest());
    this.predicate(predicate, start)?;
    this.modifiers()?;
    this.operands()?;
    this.finish()
}

/// `{ align16`: what the options begin with. Without it, Align1.
fn access_mode(rest: &str) -> bool {
    rest.rfind('{').is_some_and(|at| {
        rest[at..].split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "align16")
    })
}

/// A predicate as text has it: sign, flag, what combines its bits.
struct Predicate<'a> {
    inverse: bool,
    flag: u32,
    control: &'a str,
}

fn predicate<'a>(text: &mut Text<'a>) -> Parsed<Option<Predicate<'a>>> {
    if !text.eat("(") {
        return Ok(None);
    }
    text.space();
    let inverse = text.eat("-");
    if !inverse {
        text.eat("+");
    }
    let flag = flag_register(text)?;
    let start = text.at;
    if text.eat(".") && text.word().is_empty() {
        return text.expected("a predicate control");
    }
    let control = &text.text[start..text.at];
    text.space();
    text.expect(")")?;
    Ok(Some(Predicate { inverse, flag, control }))
}

/// `f0.1`, or `f0` for the first half.
fn flag_register(text: &mut Text<'_>) -> Parsed<u32> {
    text.expect("f0")?;
    if text.eat(".0") {
        Ok(0)
    } else if text.eat(".1") {
        Ok(1)
    } else {
        Ok(0)
    }
}

impl<'a> Statement<'a> {
    fn set(&mut self, id: FieldId, value: u32, at: usize) -> Parsed<()> {
        match self.inst.set(id, value) {
            Ok(()) => Ok(()),
            Err(error) => self.text.wrong_at(at, error.to_string()),
        }
    }

    /// `nop ;`
    fn special(mut self) -> Parsed<Bytes> {
        self.text.space();
        if self.text.eat("{") {
            self.text.space();
            if self.text.eat("breakpoint") {
                self.inst = self.inst.with(f::DEBUG_CTRL, 1);
            }
            self.text.space();
            self.text.expect("}")?;
        }
        self.compact = self.opcode == Opcode::Nenop;
        self.end()?;
        self.encode()
    }

    fn predicate(&mut self, predicate: Option<Predicate<'a>>, at: usize) -> Parsed<()> {
        let Some(Predicate { inverse, flag, control }) = predicate else {
            return Ok(());
        };
        let names: &[&str] = if self.align16 { &PREDICATES16 } else { &PREDICATES };
        // The first name is that of no predicate.
        let code = match control {
            "" => Some(1),
            _ => names.iter().position(|known| *known == control),
        };
        let Some(code) = code else {
            let mode = if self.align16 { "align16" } else { "align1" };
            return self.text.wrong_at(at, format!("{mode} has no predicate control `{control}`"));
        };
        self.set(f::PRED_CTRL, code as u32, at)?;
        self.set(f::PRED_INV, inverse.into(), at)?;
        self.flag = Some(flag);
        Ok(())
    }

    /// `.sat.nz.f0.0(8)`
    fn modifiers(&mut self) -> Parsed<()> {
        loop {
            let at = self.text.at;
            if !self.text.eat(".") {
                break;
            }
            let name = self.text.letters();
            if name == "sat" {
                self.set(f::SATURATE, 1, at)?;
                continue;
            }
            let name = match name {
                "e" => "z",
                "ne" => "nz",
                other => other,
            };
            let code = l::COND_E.value_of(name).filter(|code| *code != 0);
            let (Some(code), true) = (code, self.inst.has_field(f::COND_MODIFIER)) else {
                return self
                    .text
                    .wrong_at(at, format!("{} has no modifier `.{name}`", self.inst.op().name));
            };
            self.set(f::COND_MODIFIER, code, at)?;
            self.text.expect(".")?;
            let flag = flag_register(&mut self.text)?;
            if self.flag.is_some_and(|known| known != flag) {
                return self
                    .text
                    .wrong_at(at, "predicate and condition have one flag register (13.2.4)");
            }
            self.flag = Some(flag);
        }
        self.text.space();
        self.text.expect("(")?;
        let at = self.text.at;
        let size = self.text.word();
        let Some(code) = l::EXEC_E.value_of(size) else {
            return self
                .text
                .wrong_at(at, format!("`{size}` is no execution size: 1, 2, 4, 8, 16, 32"));
        };
        self.set(f::EXEC_SIZE, code, at)?;
        self.text.expect(")")
    }

    fn operands(&mut self) -> Parsed<()> {
        self.text.space();
        match self.opcode.shape() {
            Shape::Special | Shape::Do => {}
            Shape::Unary => {
                self.put_operand(Role::Destination, 0)?;
                self.put_source_or_number(1)?;
            }
            Shape::Binary => {
                self.put_operand(Role::Destination, 0)?;
                self.put_operand(Role::Source, 1)?;
                self.put_source_or_number(2)?;
            }
            Shape::Wait => self.put_operand(Role::Destination, 0)?,
            Shape::Jump => self.put_source_or_number(2)?,
            Shape::Branch { .. } => self.location()?,
            Shape::Send => self.message()?,
        }
        Ok(())
    }

    /// `Jump: 3 Pop: 1`
    fn location(&mut self) -> Parsed<()> {
        loop {
            let at = self.text.at;
            if self.text.eat("Jump:") {
                self.text.space();
                let count = self.text.signed("a number of instructions")?;
                let Ok(count) = i16::try_from(count) else {
                    return self.text.wrong_at(at, "a jump is -32768 to 32767 instructions");
                };
                self.set(f::JUMP_COUNT, u32::from(count as u16), at)?;
            } else if self.text.eat("Pop:") {
                self.text.space();
                let count = self.text.number("a number of levels")?;
                self.set(f::POP_COUNT, count, at)?;
            } else {
                return Ok(());
            }
            self.text.space();
        }
    }

    /// `2 g12<1>F g10<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1`
    fn message(&mut self) -> Parsed<()> {
        let at = self.text.at;
        let register = self.text.number("a message register")?;
        self.set(f::MRF, register, at)?;
        self.text.space();
        self.put_operand(Role::Destination, 0)?;
        self.put_operand(Role::Source, 1)?;
        let number = |text: &Text<'_>| text.rest().starts_with(|c: char| c.is_ascii_digit());
        if !number(&self.text) {
            self.put_operand(Role::Source, 2)?;
            // The public disassembler prints the operand's word once more.
            if number(&self.text) {
                let at = self.text.at;
                let word = self.raw_number()?;
                if word != self.inst.get(f::SRC1) {
                    return self.text.wrong_at(at, "the number is not the descriptor's operand");
                }
            }
            self.text.space();
            self.description(None)?;
            return Ok(());
        }
        let at = self.text.at;
        let descriptor = self.raw_number()?;
        self.set(f::SRC1_FILE, File::Imm.code(), at)?;
        self.set(f::SRC1, descriptor, at)?;
        self.text.space();
        self.description(Some(descriptor))
    }

    /// `math MsgDesc: inv mlen 1 rlen 1`, all of it for the reader, and checked.
    fn description(&mut self, descriptor: Option<u32>) -> Parsed<()> {
        let at = self.text.at;
        let rest = self.text.rest();
        let end = rest.find('{').unwrap_or(rest.len());
        let said = &rest[..end];
        self.text.at += end;
        let Some(descriptor) = descriptor else {
            return Ok(());
        };
        let name = said.split("MsgDesc:").next().unwrap_or_default().trim();
        let function = message::function(descriptor);
        let code = descriptor >> 24 & 15;
        let numbered = name.strip_prefix("function").and_then(|code| code.parse().ok());
        if !name.is_empty() && function != Some(name) && numbered != Some(code) {
            let function = function.unwrap_or("a reserved function");
            return self
                .text
                .wrong_at(at, format!("the descriptor {descriptor:#010x} is for {function}"));
        }
        message::agrees(descriptor, said).or_else(|message| self.text.wrong_at(at, message))
    }

    /// `0x01110001` or decimal.
    fn raw_number(&mut self) -> Parsed<u32> {
        let at = self.text.at;
        let word = self.text.word();
        parse_u32(word)
            .map_or_else(|| self.text.wrong_at(at, format!("`{word}` is no number of 32 bits")), Ok)
    }

    /// Parses an operand and puts it into the word.
    fn put_operand(&mut self, role: Role, slot: usize) -> Parsed<()> {
        let at = self.text.at;
        let operand = self.text.operand(role, self.align16)?;
        self.store(&operand, slot, at)?;
        self.text.space();
        Ok(())
    }

    fn store(&mut self, operand: &Operand, slot: usize, at: usize) -> Parsed<()> {
        let Some(bits) = operand.encode() else {
            return self.text.wrong_at(at, "the operand does not fit its fields (13.2.1)");
        };
        let Some(ty) = operand.ty.code(operand.file) else {
            return self.text.wrong_at(at, format!("a register has no type {}", operand.ty.name()));
        };
        self.store_raw(Raw { file: operand.file.code(), ty, bits }, slot, at)
    }

    fn store_raw(&mut self, raw: Raw, slot: usize, at: usize) -> Parsed<()> {
        const SLOTS: [[FieldId; 3]; 3] = [
            [f::DST_FILE, f::DST_TYPE, f::DST],
            [f::SRC0_FILE, f::SRC0_TYPE, f::SRC0],
            [f::SRC1_FILE, f::SRC1_TYPE, f::SRC1],
        ];
        let [file, ty, bits] = SLOTS[slot];
        self.set(file, raw.file, at)?;
        self.set(ty, raw.ty, at)?;
        self.set(bits, raw.bits, at)
    }

    /// The last source, which may be a number.
    fn put_source_or_number(&mut self, slot: usize) -> Parsed<()> {
        let rest = self.text.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return self.put_operand(Role::Source, slot);
        }
        let at = self.text.at;
        let (ty, value) = self.text.immediate()?;
        let code = ty.code(File::Imm);
        let Some(code) = code else {
            return self.text.wrong_at(at, format!("a number has no type {}", ty.name()));
        };
        let (file, kind) = match slot {
            1 => (f::SRC0_FILE, f::SRC0_TYPE),
            _ => (f::SRC1_FILE, f::SRC1_TYPE),
        };
        self.set(file, File::Imm.code(), at)?;
        self.set(kind, code, at)?;
        self.set(f::SRC1, value, at)?;
        self.text.space();
        Ok(())
    }

    /// The options, then the word.
    fn finish(mut self) -> Parsed<Bytes> {
        self.text.space();
        let align16 = self.align16;
        self.set(f::ACCESS_MODE, align16.into(), 0)?;
        let end = self.text.at;
        if self.text.eat("{") {
            loop {
                self.text.space();
                if self.text.eat("}") {
                    break;
                }
                if self.text.eat(",") {
                    continue;
                }
                self.option()?;
            }
        }
        self.end()?;
        self.imply(end)?;
        if let Some(flag) = self.flag {
            self.set(f::FLAG_SUBREG, flag, end)?;
        }
        if self.compr4 {
            let bits = self.inst.get(f::DST);
            let message = File::of(self.inst.get(f::DST_FILE)) == File::Mrf;
            if !message || bits >> 15 != 0 {
                return self.text.wrong_at(end, "compr4 needs a message register");
            }
            self.set(f::DST, bits | COMPR4 << 5, end)?;
        }
        if self.eot {
            if File::of(self.inst.get(f::SRC1_FILE)) != File::Imm {
                return self
                    .text
                    .wrong_at(end, "EOT needs a descriptor that is a number (14.2.44)");
            }
            let descriptor = self.inst.get(f::SRC1);
            self.set(f::SRC1, descriptor | 1 << 31, end)?;
        }
        self.encode()
    }

    /// One option.
    fn option(&mut self) -> Parsed<()> {
        let at = self.text.at;
        let name = self.text.word();
        match name {
            "align1" | "align16" => Ok(()),
            "nomask" => self.set(f::MASK_CTRL, 1, at),
            "NoDDClr" => self.set(f::NO_DD_CLR, 1, at),
            "NoDDChk" => self.set(f::NO_DD_CHK, 1, at),
            "sechalf" => self.set(f::COMPR_CTRL, 1, at),
            "compr" => self.set(f::COMPR_CTRL, 2, at),
            "compr4" => {
                self.compr4 = true;
                self.set(f::COMPR_CTRL, 2, at)
            }
            "compacted" => {
                self.compact = true;
                Ok(())
            }
            "atomic" => self.set(f::THREAD_CTRL, 1, at),
            "switch" => self.set(f::THREAD_CTRL, 2, at),
            "breakpoint" => self.set(f::DEBUG_CTRL, 1, at),
            "predinv" => self.set(f::PRED_INV, 1, at),
            "EOT" if self.opcode.shape() == Shape::Send => {
                self.eot = true;
                Ok(())
            }
            "flag" => {
                let flag = self.parenthesised("a flag register")?;
                self.flag = Some(flag);
                Ok(())
            }
            "gfx5_sfid" => {
                let code = self.parenthesised("a function")?;
                self.set(f::GFX5_SFID, code, at)
            }
            "src1_type" => {
                let code = self.parenthesised("a type's code")?;
                self.second_type = Some(code);
                Ok(())
            }
            "dst" => self.unusual(Role::Destination, 0),
            "src0" => self.unusual(Role::Source, 1),
            "src1" => self.unusual(Role::Source, 2),
            _ => {
                self.text.at = at;
                self.text.expected("an option")
            }
        }
    }

    fn parenthesised(&mut self, what: &str) -> Parsed<u32> {
        self.text.expect("(")?;
        let value = self.text.number(what)?;
        self.text.expect(")")?;
        Ok(value)
    }

    /// `src0(ip<0,1,0>UD)`: an operand that the text otherwise leaves out.
    fn unusual(&mut self, role: Role, slot: usize) -> Parsed<()> {
        let at = self.text.at;
        let implied = implied(self.opcode, self.align16, self.inst.get(f::EXEC_SIZE));
        let there = match slot {
            0 => implied.dst.is_some(),
            1 => implied.src0.is_some() || self.opcode.shape() == Shape::Wait,
            _ => implied.src1.is_some(),
        };
        if !there {
            return self
                .text
                .wrong_at(at, format!("{} says this operand itself", self.inst.op().name));
        }
        self.text.expect("(")?;
        let operand_at = self.text.at;
        let operand = self.text.operand(role, self.align16)?;
        self.store(&operand, slot, operand_at)?;
        self.text.expect(")")?;
        self.overrides[slot] = Some((role, operand_at));
        Ok(())
    }

    /// Puts in what the text leaves out.
    fn imply(&mut self, at: usize) -> Parsed<()> {
        let mut implied = implied(self.opcode, self.align16, self.inst.get(f::EXEC_SIZE));
        if self.opcode.shape() == Shape::Wait {
            implied.src0 = self.written().as_ref().and_then(repeated);
        }
        for (slot, raw) in [implied.dst, implied.src0, implied.src1].into_iter().enumerate() {
            if let (Some(raw), None) = (raw, self.overrides[slot]) {
                self.store_raw(raw, slot, at)?;
            }
        }
        let ty = match self.second_type {
            Some(ty) => ty,
            None => usual_second_type(&self.inst, self.opcode),
        };
        self.set(f::SRC1_TYPE, ty, at)
    }

    /// The destination that the word holds.
    fn written(&self) -> Option<Operand> {
        let file = File::of(self.inst.get(f::DST_FILE));
        let ty = Type::of(file, self.inst.get(f::DST_TYPE))?;
        Operand::decode(Role::Destination, self.align16, file, ty, self.inst.get(f::DST)).ok()
    }

    fn end(&mut self) -> Parsed<()> {
        self.text.space();
        if self.text.rest().is_empty() { Ok(()) } else { self.text.expected("`;`") }
    }

    /// The bytes, once the rules allow the word.
    fn encode(self) -> Parsed<Bytes> {
        let native = self.inst.bits();
        if self.compact {
            let Some(word) = compact::compact(native) else {
                return self.text.wrong_at(0, "the instruction has no compact form (11.6)");
            };
            return match decode_compact(self.machine, word) {
                Ok(_) => Ok(word.to_le_bytes().to_vec()),
                Err(error) => self.text.wrong_at(0, error.to_string()),
            };
        }
        match decode(self.machine, native) {
            Ok(_) => Ok(native.to_le_bytes().to_vec()),
            Err(error) => self.text.wrong_at(0, error.to_string()),
        }
    }
}
