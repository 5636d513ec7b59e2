//! A SPIR-V module as a list of instructions that remember where they stood.

use rspirv::spirv::Op;
use smallvec::SmallVec;

/// Words of the header.
pub const HEADER: usize = 5;

/// One instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// Byte of its first word in the user's module.
    pub at: usize,
    /// What it does; nothing where its number is unknown.
    pub op: Op,
    /// Its words; the first holds length and opcode.
    pub words: SmallVec<[u32; 6]>,
}

impl Inst {
    /// An instruction that stands for the place of another.
    pub fn new(at: usize, opcode: u32, operands: &[u32]) -> Inst {
        let mut words = SmallVec::with_capacity(operands.len() + 1);
        words.push((operands.len() as u32 + 1) << 16 | opcode);
        words.extend_from_slice(operands);
        Inst::of_words(at, words)
    }
    fn of_words(at: usize, words: SmallVec<[u32; 6]>) -> Inst {
        Inst { at, op: Op::from_u32(words[0] & 0xffff).unwrap_or(Op::Nop), words }
    }
    /// Its number.
    pub fn opcode(&self) -> u32 {
        self.words[0] & 0xffff
    }
    /// What follows the first word.
    pub fn operands(&self) -> &[u32] {
        &self.words[1..]
    }
    /// An operand, 0 where there is none.
    pub fn operand(&self, index: usize) -> u32 {
        self.words.get(index + 1).copied().unwrap_or(0)
    }
    /// Operands from one on, none where there are too few.
    pub fn rest(&self, from: usize) -> &[u32] {
        self.operands().get(from..).unwrap_or_default()
    }
    /// Replaces opcode and operands.
    pub fn become_inst(&mut self, opcode: u32, operands: &[u32]) {
        *self = Inst::new(self.at, opcode, operands);
    }
}

/// A module whose instructions are as long as they say.
#[derive(Clone, Debug)]
pub struct Module {
    /// Magic number, version, generator, bound, schema.
    pub header: [u32; HEADER],
    /// In order.
    pub insts: Vec<Inst>,
}

impl Module {
    /// Splits words.
    pub fn read(bytes: &[u8]) -> Module {
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let mut header = [0; HEADER];
        header.copy_from_slice(&words[..HEADER]);
        // Most instructions have three to five words.
        let mut insts = Vec::with_capacity(words.len() / 4);
        let mut index = HEADER;
        while index < words.len() {
            let length = ((words[index] >> 16) as usize).max(1);
            let end = words.len().min(index + length);
            insts.push(Inst::of_words(4 * index, SmallVec::from_slice(&words[index..end])));
            index = end;
        }
        Module { header, insts }
    }
}
