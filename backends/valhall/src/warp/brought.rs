//! Moves that no program with the same messages does without: a message takes its data from registers, so somebody has to
//! put constants and uniform words there.

use super::each;
use crate::fau::Read;
use crate::isa::source::CONSTANTS;
use crate::isa::{self, Opcode, f};
use crate::legal::Registers;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// A word that is in no register when the program begins.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Constant(u32),
    Uniform(u8),
}

impl Word {
    /// The word that an instruction brings to a register as it is.
    fn of(inst: &isa::Inst) -> Option<Word> {
        let opcode = Opcode::of(inst.op());
        let source = inst.get(opcode.sources().first()?.field);
        let read = Read::of(source as u8, inst.get(f::FAU_PAGE) as u8).ok()??;
        match (opcode, read) {
            (Opcode::MovI32, Read::Lut(number)) => {
                CONSTANTS.get(usize::from(number)).copied().map(Word::Constant)
            }
            (Opcode::MovI32, Read::Uniform(word)) => Some(Word::Uniform(word)),
            (Opcode::IaddImmI32, Read::ZERO) => Some(Word::Constant(inst.get(f::IMM))),
            _ => None,
        }
    }
}

/// Counts them for a program, block by block: what a block takes from another is not counted.
#[derive(Clone, Debug)]
pub struct Brought {
    /// By register: the word that it holds, where that came within this block.
    holds: [Option<Word>; 64],
    /// Words that messages of this block take, and registers with such words that one of them takes, at most.
    here: (BTreeSet<Word>, usize),
    /// The same of all blocks so far.
    all: (BTreeSet<Word>, usize),
}

impl Default for Brought {
    fn default() -> Brought {
        Brought { holds: [None; 64], here: Default::default(), all: Default::default() }
    }
}

impl Brought {
    /// Meets an instruction that names these registers.
    pub fn meet(&mut self, inst: &isa::Inst, registers: &Registers) {
        let opcode = Opcode::of(inst.op());
        // A blend shader finds where to go back to in r48, which it reads behind the jump.
        let handed = if opcode == Opcode::Branchzi { 1 << 48 } else { 0 };
        let words = each(registers.read | handed).filter_map(|register| self.holds[register]);
        let words: SmallVec<[Word; 8]> = words.collect();
        self.here.1 = self.here.1.max(words.len());
        self.here.0.extend(words);
        let brings = match opcode {
            // A copy of a word is the word.
            Opcode::MovI32 if registers.sources.count_ones() == 1 => {
                self.holds[registers.sources.trailing_zeros() as usize]
            }
            _ => Word::of(inst),
        };
        for register in each(registers.written) {
            self.holds[register] = brings;
        }
    }

    /// A block ends. Moves that bring its messages' words, at least.
    pub fn end_block(&mut self) -> u32 {
        self.holds = [None; 64];
        let (words, at_once) = std::mem::take(&mut self.here);
        let moves = words.len().max(at_once);
        self.all.0.extend(words);
        self.all.1 = self.all.1.max(at_once);
        moves as u32
    }

    /// Moves that bring all of them, at least.
    pub fn moves(&self) -> u32 {
        self.all.0.len().max(self.all.1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legal;

    fn brings(register: u32, source: u32) -> isa::Inst {
        let field = Opcode::MovI32.sources()[0].field;
        isa::Inst::usual(Opcode::MovI32.op()).with(f::DST, register).with(field, source)
    }

    fn sends(first: u32, count: u32) -> isa::Inst {
        isa::Inst::usual(Opcode::StoreI32.op()).with(f::SR, first).with(f::SR_COUNT, count)
    }

    fn moves(blocks: &[&[isa::Inst]]) -> (Vec<u32>, u32) {
        let mut brought = Brought::default();
        let mut block = |insts: &&[isa::Inst]| {
            insts.iter().for_each(|inst| brought.meet(inst, &legal::registers(inst)));
            brought.end_block()
        };
        (blocks.iter().map(&mut block).collect(), brought.moves())
    }

    #[test]
    fn what_a_message_takes_is_moved_once_a_register_and_once_a_word() {
        // One word in two registers of one message takes two moves, a copy of a register or not.
        assert_eq!(moves(&[&[brings(4, 0x81), brings(5, 4), sends(4, 2)]]), (vec![2], 2));
        // Two messages take one register.
        assert_eq!(moves(&[&[brings(4, 0x81), sends(4, 1), sends(4, 1)]]), (vec![1], 1));
        // Two words are two moves, wherever they lie; the same again is none.
        let block = [brings(4, 0x81), sends(4, 1), brings(4, 0xd0), sends(4, 1)];
        assert_eq!(moves(&[&block, &block]), (vec![2, 2], 2));
        // What another block brought, and what nobody sends, is not counted.
        assert_eq!(moves(&[&[brings(4, 0x81), brings(6, 0x82)], &[sends(4, 1)]]), (vec![0, 0], 0));
    }
}
