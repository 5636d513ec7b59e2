//! Colour targets: words of the pixel back end, and the program at the end of a tile that hands them over. It is for colours that the
//! program packs. isa/rogue-pipeline.md 4.6.

use super::Facts;
use super::block::Block;
use super::sequencer::{BOTH, DOUTU, DOUTW, Sequencer, Transfer, When};
use crate::abi::Abi;
use crate::isa::program::assemble;
use crate::words::pixel::{reg0, state0, state1};
use gpucc_ir::driver::Failure;
use gpucc_machine::Named;
use gpucc_machine::described::Setting;

/// Both state words of a target, by its location, and the words of its registers 0 to 2.
pub const PBE_STATE: &str = "PBE_STATE";
pub const PBE_REGISTERS: &str = "PBE_REG";
/// The sequencer's program at the end of a tile, and the one of the core.
pub const EOT_DATA: &str = "PDS_EOT_DATA";
pub const EOT_CODE: &str = "PDS_EOT_CODE";
pub const EOT_PROGRAM: &str = "EOT_PROGRAM";

/// The source of bytes, and of words as they are.
const BYTES: u32 = 1;

/// The words of the targets: whether there are some.
///
/// # Errors
/// [`Failure::Internal`] where the program at the end of a tile is none.
pub fn words(abi: &Abi, facts: &Facts, state: &mut Named<Setting>) -> Result<bool, Failure> {
    debug_assert!(facts.shareds > 0);
    if abi.colors.is_empty() {
        return Ok(false);
    }
    for target in &abi.colors {
        let stored = target.stored;
        let place = abi.outputs.iter().find(|words| words.what == target.output);
        let place = place.map_or(0, |words| u32::from(words.first));
        let first = state0::word();
        let second = state1::word()
            .with(state1::SOURCE_FORMAT, if stored.halves { 0 } else { BYTES })
            .with(state1::SOURCE_POS, place % 4)
            .with(state1::SOURCE_POS_128, place / 4)
            .with(state1::MRT_INDEX, target.location & 7)
            .with(state1::NORM, stored.normal.into())
            .with(state1::PACKMODE, stored.mode);
        let mut block = Block::default();
        block.word("first", first, &[state0::ADDRESS_LO]);
        let theirs = [state1::YUV_PMODE, state1::DOWNSCALE, state1::EMPTYTILE, state1::ADDRESS_HI];
        block.word("second", second, &theirs);
        state.set(format!("{PBE_STATE} {}", target.location), block.setting());
        let [red, blue] = if stored.swaps { [2, 0] } else { [0, 2] };
        let first = reg0::word()
            .with(reg0::SWIZ0, red)
            .with(reg0::SWIZ1, 1)
            .with(reg0::SWIZ2, blue)
            .with(reg0::SWIZ3, 3)
            .with(reg0::GAMMA, stored.gamma.into());
        let theirs = [
            reg0::TILERELATIVE,
            reg0::SIZE_Z,
            reg0::ROTATION,
            reg0::LINESTRIDE,
            reg0::MEMLAYOUT,
            reg0::MINCLIP_X,
            reg0::COMPRESSION,
            reg0::COMPRESS_SIZE,
            reg0::Y_FLIP,
        ];
        let mut block = Block::default();
        block.word("first", first, &theirs);
        // Registers 1 and 2 have places and sizes.
        block.driver(4);
        state.set(format!("{PBE_REGISTERS} {}", target.location), block.setting());
    }
    end_of_tile(abi.colors.len() as u32, state)?;
    Ok(true)
}

/// The programs that hand the state words of each target over, from shared registers.
fn end_of_tile(count: u32, state: &mut Named<Setting>) -> Result<(), Failure> {
    let mut program = Sequencer::default();
    let start = program.start(0);
    let pairs: Vec<u32> = (0..count)
        .map(|_| {
            let pair = program.pair();
            program.data.driver(2);
            pair
        })
        .collect();
    for (at, pair) in (0..count).zip(pairs) {
        let last = at + 1 == count;
        let to = Transfer { words: BOTH, register: 2 * at, common: true, last };
        let to = program.transfer(&format!("target {at}"), &to);
        program.out(DOUTW, pair, to, When::Always);
    }
    program.out(DOUTU, start, 0, When::End);
    program.data.whole();
    program.code.tell("instructions", program.code.len());
    state.set(EOT_DATA, program.data.setting());
    state.set(EOT_CODE, program.code.setting());
    let mut text = String::new();
    for at in 0..count {
        let (low, high) = (2 * at, 2 * at + 1);
        let sources = format!(" s0 = sh{low}, s2 = sh{high}\n");
        text += &match at + 1 == count {
            true => format!("{} : end\n{sources} emitpix.freep s0, s2\n", 2 * at),
            false => format!("{} :\n{sources} emitpix s0, s2\n{} :\n wop\n", 2 * at, 2 * at + 1),
        };
    }
    let bytes = assemble(&text).map_err(|error| Failure::Internal {
        pass: "state",
        message: format!("the end of a tile: {}", error.message),
    })?;
    let mut block = Block::default();
    for word in bytes.chunks(4) {
        block.fixed(word.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
    }
    block.tell("bytes", bytes.len() as u32);
    state.set(EOT_PROGRAM, block.setting());
    Ok(())
}
