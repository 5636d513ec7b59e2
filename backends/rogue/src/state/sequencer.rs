//! Programs of the data sequencer: constants, and the instructions that send them. isa/rogue-pipeline.md 5.1.

use super::block::Block;
use crate::limits;
use crate::words::pds::{self, dout, doutd, doutd_to, doutu, doutw_to};
use gpucc_ir::driver::Failure;
use gpucc_isa::{FieldId, Inst};
use gpucc_machine::described::Setting;

/// The program that fills shared registers: its data and its code.
pub const UPLOAD_DATA: &str = "PDS_UPLOAD_DATA";
pub const UPLOAD_CODE: &str = "PDS_UPLOAD_CODE";

/// Destinations of DOUT.
pub const DOUTD: u32 = 0;
pub const DOUTW: u32 = 1;
pub const DOUTU: u32 = 2;
pub const DOUTI: u32 = 4;
pub const DOUTC: u32 = 5;
/// The register pair of the first temporaries, and that of the first persistent ones.
pub const TEMPS: u32 = 64;
pub const PERSISTENT: u32 = 96;
/// Which words of a pair DOUTW sends.
pub const LOW: u32 = 0;
pub const HIGH: u32 = 1;
pub const BOTH: u32 = 2;
/// HALT among special operations.
const HALT: u32 = 6;
/// Temporaries that DOUTU counts as one.
const TEMP_UNIT: u32 = 4;

/// A program in the making.
#[derive(Clone, Debug, Default)]
pub struct Sequencer {
    pub data: Block,
    pub code: Block,
    /// Words that are known, with their places.
    known: Vec<(u32, u32)>,
}

impl Sequencer {
    /// A constant of one word that is the program's, where it is not known already: its number.
    pub fn number(&mut self, word: u32) -> u32 {
        if let Some((_, at)) = self.known.iter().find(|(known, _)| *known == word) {
            return *at;
        }
        self.known.push((word, self.data.len()));
        self.data.fixed(word);
        self.data.len() - 1
    }

    /// An operand of 32 bits: its number.
    pub fn operand(&mut self, label: &str, word: Inst) -> u32 {
        self.data.word(label, word, &[]);
        self.data.len() - 1
    }

    /// Begins a pair: its number among registers of 64 bits.
    pub fn pair(&mut self) -> u32 {
        if !self.data.len().is_multiple_of(2) {
            self.data.fixed(0);
        }
        self.data.len() / 2
    }

    /// An operand of 64 bits: its number among registers of 64 bits.
    pub fn wide(&mut self, label: &str, word: Inst, driver: &[FieldId]) -> u32 {
        let number = self.pair();
        self.data.word(label, word, driver);
        number
    }

    /// The operand that starts the program of the core, whose place is the driver's.
    pub fn start(&mut self, temps: u32) -> u32 {
        self.start_at(temps, 0)
    }

    /// The same for pixels, at a rate: 0 starts an instance for a pixel, 2 one for each sample.
    pub fn start_at(&mut self, temps: u32, rate: u32) -> u32 {
        let word = doutu::word()
            .with(doutu::TEMPS, temps.div_ceil(TEMP_UNIT))
            .with(doutu::SAMPLE_RATE, rate);
        self.wide("start", word, &[doutu::EXE_OFF])
    }

    /// The operand of DOUTW: which words of its pair go to which register.
    pub fn transfer(&mut self, label: &str, to: &Transfer) -> u32 {
        let word = doutw_to::word()
            .with(doutw_to::BSIZE, to.words)
            .with(doutw_to::A0, to.register)
            .with(doutw_to::DEST, to.common.into())
            .with(doutw_to::LAST, to.last.into());
        self.operand(label, word)
    }

    /// DOUT of a pair with an operand.
    pub fn out(&mut self, to: u32, source: u32, operand: u32, when: When) {
        let word = dout::word()
            .with(dout::CC, (when == When::LastInstance).into())
            .with(dout::END, (when != When::Always).into())
            .with(dout::SRC1, operand)
            .with(dout::SRC0, source)
            .with(dout::DST, to);
        self.code.instruction(word);
    }

    /// The end of the program.
    pub fn halt(&mut self) {
        self.code.instruction(pds::sp::word().with(pds::sp::OP, HALT));
    }

    /// Refuses what has more constants than instructions name.
    ///
    /// # Errors
    /// [`Failure::Limit`].
    pub fn admit(&self) -> Result<(), Failure> {
        limits::SEQUENCER.admit(u64::from(self.data.len()))
    }
}

/// Where words go.
#[derive(Copy, Clone, Debug)]
pub struct Transfer {
    /// [`LOW`], [`HIGH`] or [`BOTH`].
    pub words: u32,
    pub register: u32,
    /// The common store: coefficients and shared registers.
    pub common: bool,
    pub last: bool,
}

/// When an output happens, and whether it ends the program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// Always, and the program goes on.
    Always,
    /// Always, and the program ends.
    End,
    /// By the last instance of a task, whose program ends.
    LastInstance,
}

/// The program that brings so many words from memory to shared registers: data and code.
pub fn upload(shareds: u32) -> (Setting, Setting) {
    let mut program = Sequencer::default();
    let from = program.wide("from", doutd::word(), &[doutd::SBASE_LO, doutd::SBASE_HI]);
    let to = doutd_to::word()
        .with(doutd_to::BSIZE, shareds)
        .with(doutd_to::DEST, 1)
        .with(doutd_to::LAST, 1);
    let to = program.operand("to", to);
    program.out(DOUTD, from, to, When::Always);
    program.out(DOUTC, 0, 0, When::End);
    program.data.whole();
    program.code.tell("instructions", 2);
    (program.data.setting(), program.code.setting())
}
