//! Which changes of a word mean something.

mod live;

use crate::isa::fields::f;
use crate::isa::operand::{File, Type};
use crate::isa::ops::{Opcode, Shape};
use crate::isa::program::decode_program;
use crate::isa::{Decoded, Machine};
use gpucc_isa::Field;
use gpucc_machine::{Compiled, Site};
use live::{Live, Set};

/// Shared functions whose messages are those of the lanes alone, by number. Table 14-15.
const MATH: u32 = 1;
const WRITE: u32 = 5;

/// The instructions of a program.
pub fn sites(compiled: &Compiled, machine: Machine) -> Vec<Site> {
    let program = decode_program(machine, &compiled.code).unwrap_or_default();
    let words: Vec<Decoded> = program.iter().map(|(_, word)| word.clone()).collect();
    let live = Live::of(&words);
    let site = |(at, (offset, decoded)): (usize, (usize, Decoded))| {
        let inst = decoded.inst;
        let place = Place { decoded, behind: live.behind[at], waiting: live.waiting[at] };
        Site {
            offset,
            inst,
            meaning: Box::new(move |field, value| place.has_meaning(field, value)),
        }
    };
    program.into_iter().enumerate().map(site).collect()
}

/// A word where it stands.
struct Place {
    decoded: Decoded,
    /// What is read behind it.
    behind: Set,
    /// What lanes read that wait meanwhile; none where no lane can wait.
    waiting: Option<Set>,
}

impl Place {
    /// False for what says when and not what: thread switches, dependency control, breakpoints; for the flag that nobody
    /// names or reads, for the second source of an instruction with one, for lanes that have nothing to lose, and for what
    /// types say of bits that are moved as they are.
    fn has_meaning(&self, field: &Field, value: u32) -> bool {
        let inst = &self.decoded.inst;
        let opcode = Opcode::of(inst.op());
        let unread = [f::THREAD_CTRL, f::NO_DD_CLR, f::NO_DD_CHK, f::DEBUG_CTRL];
        if unread.contains(&field.id) {
            return false;
        }
        let predicated = inst.get(f::PRED_CTRL) != 0;
        let shape = opcode.shape();
        let conditional = shape != Shape::Send && inst.get(f::COND_MODIFIER) != 0;
        if field.id == f::PRED_INV && !predicated {
            return false;
        }
        if field.id == f::FLAG_SUBREG && !predicated && !conditional {
            return false;
        }
        let alone = shape == Shape::Unary && File::of(inst.get(f::SRC0_FILE)) != File::Imm;
        if alone && (field.id == f::SRC1 || field.id == f::SRC1_TYPE) {
            return false;
        }
        let alu = matches!(shape, Shape::Unary | Shape::Binary);
        if field.id == f::COND_MODIFIER && alu && !self.behind.meets(live::flag(&self.decoded)) {
            return false;
        }
        if field.id == f::MASK_CTRL && value == 1 {
            return self.lanes_matter(opcode);
        }
        match shape {
            Shape::Send => self.message_matters(field, value),
            Shape::Branch { .. } | Shape::Jump | Shape::Do => {
                ![f::DST_TYPE, f::SRC0_TYPE].contains(&field.id)
            }
            _ => !(alu && same_bits(&self.decoded, opcode, field, value)),
        }
    }

    /// Whether lanes that wait would notice that a word is executed for them.
    fn lanes_matter(&self, opcode: Opcode) -> bool {
        match (opcode.shape(), self.waiting) {
            (Shape::Send, waiting) => {
                waiting.is_some() || self.decoded.inst.get(f::SRC1) >> 24 & 15 == WRITE
            }
            (Shape::Branch { .. } | Shape::Do, waiting) => {
                waiting.is_some() && !matches!(opcode, Opcode::Else | Opcode::Endif)
            }
            (_, None) => false,
            (_, Some(waiting)) => waiting.meets(live::written(&self.decoded)),
        }
    }

    /// Saturation and types say nothing of a message's bits, but for extended math, whose operand moves by them. 14.2.44.
    fn message_matters(&self, field: &Field, value: u32) -> bool {
        let inst = &self.decoded.inst;
        let math = inst.get(f::SRC1) >> 24 & 15 == MATH;
        let bytes = |code: u32| Type::of(File::Grf, code).map(Type::bytes);
        let types = [f::DST_TYPE, f::SRC0_TYPE, f::SRC1_TYPE];
        if field.id == f::SATURATE || field.id == f::SRC1_TYPE {
            return false;
        }
        math || !types.contains(&field.id) || bytes(inst.get(field.id)) != bytes(value)
    }
}

/// Doublewords with or without a sign, of what has the same low bits either way.
fn same_bits(word: &Decoded, opcode: Opcode, field: &Field, value: u32) -> bool {
    let inst = &word.inst;
    let sources = [word.operands.src0, word.operands.src1];
    let absolute = sources.into_iter().flatten().any(|source| source.modifier & 1 == 1);
    use Opcode::{Add, And, Mov, Not, Or, Sel, Shl, Xor};
    let either = |code: u32| code < 2;
    let types = [f::DST_TYPE, f::SRC0_TYPE, f::SRC1_TYPE];
    types.contains(&field.id)
        && matches!(opcode, Add | And | Mov | Not | Or | Sel | Shl | Xor)
        && !absolute
        && !inst.flag(f::SATURATE)
        && (types.into_iter().all(|id| either(inst.get(id))))
        && either(value)
}
