//! Which changes of a word mean something.

mod alike;
mod live;
#[cfg(test)]
mod tests;

use crate::isa::fields::f;
use crate::isa::operand::{File, Type};
use crate::isa::ops::{Opcode, Shape};
use crate::isa::program::decode_program;
use crate::isa::{Decoded, Machine};
use gpucc_ir::ssa::Stage;
use gpucc_isa::Field;
use gpucc_machine::{Compiled, Site};
use live::{Live, MATH, Set};

/// Shared functions whose messages are those of the lanes alone, by number. Table 14-15.
const WRITE: u32 = 5;
/// The data port's message to a render target. Table 5-9.
const TARGET: u32 = 4;
/// The thread spawner, by its number. Table 14-15.
const SPAWNER: u32 = 7;
/// Codes of eight channels and of 16. 13.2.2, ExecSize.
const EIGHT: u32 = 3;
const SIXTEEN: u32 = 4;

/// The instructions of a program.
pub fn sites(compiled: &Compiled, machine: Machine) -> Vec<Site> {
    let whole = compiled.expanded.stage == Stage::Compute;
    places(machine, &compiled.code, whole)
        .into_iter()
        .map(|(offset, place)| Site {
            offset,
            inst: place.decoded.inst,
            meaning: Box::new(move |field, value| place.has_meaning(field, value)),
        })
        .collect()
}

/// The words of a program by their offsets; `whole` says that all lanes of a thread begin.
fn places(machine: Machine, code: &[u8], whole: bool) -> Vec<(usize, Place)> {
    let program = decode_program(machine, code).unwrap_or_default();
    let words: Vec<Decoded> = program.iter().map(|(_, word)| word.clone()).collect();
    let live = Live::of(&words);
    let known = live::known(&words);
    let place = |(at, (offset, decoded))| {
        let place = Place {
            machine,
            decoded,
            behind: live.behind[at],
            waiting: live.waiting[at],
            crossed: live.crossed,
            known: known[at],
            whole,
        };
        (offset, place)
    };
    program.into_iter().enumerate().map(place).collect()
}

/// A word where it stands.
struct Place {
    machine: Machine,
    decoded: Decoded,
    /// What is read behind it.
    behind: Set,
    /// What lanes read that wait meanwhile; none where no lane can wait.
    waiting: Option<Set>,
    /// What a lane may read of another.
    crossed: Set,
    /// What the flag is for all lanes that execute it.
    known: Option<(Set, bool)>,
    /// All lanes of a thread begin: those of the media pipeline. isa/gen4-pipeline.md 6.
    whole: bool,
}

impl Place {
    /// False for what says when and not what: thread switches, dependency control, breakpoints; for the flag that nobody
    /// names or reads, for the second source of an instruction with one, for lanes that have nothing to lose, for words that
    /// write what nobody reads, and for what [`alike`] shows to be the same.
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
        let number = File::of(inst.get(f::SRC0_FILE)) == File::Imm;
        if shape == Shape::Unary && (field.id == f::SRC1_TYPE || field.id == f::SRC1 && !number) {
            return false;
        }
        let alu = matches!(shape, Shape::Unary | Shape::Binary);
        if field.id == f::COND_MODIFIER && alu && !self.behind.meets(live::flag(&self.decoded)) {
            return false;
        }
        let noticed = self.waiting.map_or(self.behind, |waiting| self.behind.with(waiting));
        if alu && alike::does_nothing(self.machine, &self.decoded, field, value, noticed) {
            return false;
        }
        if field.id == f::PRED_CTRL
            && self.known.is_some_and(|known| alike::both_fulfilled(&self.decoded, known, value))
        {
            return false;
        }
        if field.id == f::MASK_CTRL {
            return self.lanes_matter(opcode, value == 1);
        }
        match shape {
            Shape::Send => self.message_matters(field, value, noticed),
            Shape::Branch { .. } | Shape::Jump | Shape::Do => {
                let types = [f::DST_TYPE, f::SRC0_TYPE].contains(&field.id)
                    || shape == Shape::Do && field.id == f::SRC1_TYPE;
                // Masks are popped of all channels. 14.2.15.
                let pops = opcode == Opcode::Endif && field.id == f::EXEC_SIZE;
                !types && !pops
            }
            _ => !(alu && alike::same_value(&self.decoded, field, value)),
        }
    }

    /// Whether lanes that wait would notice that a word is executed for them, or lanes that never began; where `all` is false
    /// whether any would that the word is not executed for them.
    fn lanes_matter(&self, opcode: Opcode, all: bool) -> bool {
        let none = self.whole && self.waiting.is_none();
        if none && opcode != Opcode::Jmpi {
            return false;
        }
        if !all {
            return !self.is_for_lanes_that_began(opcode);
        }
        match (opcode.shape(), self.waiting) {
            (Shape::Send, waiting) => {
                let bits = self.decoded.inst.get(f::SRC1);
                // Pixels of a render target are those of the header. 5.10.6.
                let target = bits >> 24 & 15 == WRITE && bits >> 12 & 7 == TARGET;
                !target && (waiting.is_some() || bits >> 24 & 15 == WRITE)
            }
            (Shape::Branch { .. } | Shape::Do, waiting) => {
                waiting.is_some() && !matches!(opcode, Opcode::Else | Opcode::Endif)
            }
            (_, None) => false,
            (_, Some(waiting)) => waiting.with(self.crossed).meets(live::written(&self.decoded)),
        }
    }

    /// Whether lanes that never began are the only ones that lack what a word makes where it has their mask: nobody waits, the word
    /// makes a register, and no lane reads another's part of that.
    fn is_for_lanes_that_began(&self, opcode: Opcode) -> bool {
        let inst = &self.decoded.inst;
        let alu = matches!(opcode.shape(), Shape::Unary | Shape::Binary);
        let general = File::of(inst.get(f::DST_FILE)) == File::Grf;
        let quiet = inst.get(f::COND_MODIFIER) == 0;
        let own = !self.crossed.meets(live::written(&self.decoded));
        alu && general && quiet && own && self.waiting.is_none()
    }

    /// Saturation and types say nothing of a message's bits, but for extended math, whose operand moves by them. The size of
    /// the destination's type tells 8 channels of a message from 16. 14.2.44.
    fn message_matters(&self, field: &Field, value: u32, noticed: Set) -> bool {
        let inst = &self.decoded.inst;
        let math = inst.get(f::SRC1) >> 24 & 15 == MATH;
        let bytes = |code: u32| Type::of(File::Grf, code).map(Type::bytes);
        match field.id {
            f::SATURATE | f::SRC1_TYPE => false,
            // The end of a root thread is one register for all lanes.
            f::EXEC_SIZE if inst.get(f::SRC1) >> 24 & 15 == SPAWNER => {
                ![EIGHT, SIXTEEN].contains(&value)
            }
            f::MRF => !alike::moves_itself(&self.decoded, value, noticed),
            f::SRC0_TYPE if !math => bytes(value).is_none(),
            f::DST_TYPE if !math && inst.get(f::EXEC_SIZE) <= EIGHT => {
                bytes(value).is_none_or(|bytes| bytes < 2)
            }
            f::DST_TYPE if !math => bytes(inst.get(field.id)) != bytes(value),
            _ => true,
        }
    }
}
