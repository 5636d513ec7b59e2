//! What a driver programs around a program, as words: programs of the data sequencer, words of the control streams, state of
//! primitives and pixels, of textures, of samplers and of targets. Each says which of its bits the program decides; the
//! others are the driver's. docs/abi-rogue.md, Words; isa/rogue-pipeline.md 4.5 to 5.4.

mod block;
mod compute;
mod fragment;
mod sequencer;
mod target;
#[cfg(test)]
mod tests;
mod texture;
mod vertex;

pub use block::Filled;
pub use compute::{CDM, FENCE, KERNEL_CODE, KERNEL_DATA};
pub use fragment::{ISPA, PIXEL_SHADER, PIXEL_STATE, VARYINGS};
pub use sequencer::{UPLOAD_CODE, UPLOAD_DATA};
pub use texture::{SAMPLER, TEXEL_SAMPLER_STATE, TEXTURE, code, is_rows, swizzle, texture_type};
pub use vertex::{FETCH_CODE, FETCH_DATA, OUTPUTS, VARYING_COUNTS, VDM_PDS, VDM_STATE};

use crate::abi::Abi;
use crate::words::program;
use gpucc_ir::driver::{Failure, State};
use gpucc_ir::ssa::{Func, Input, Stage};
use gpucc_machine::Named;
use gpucc_machine::described::Setting;
pub use target::{EOT_CODE, EOT_DATA, EOT_PROGRAM, PBE_REGISTERS, PBE_STATE};

/// What the words are made of.
#[derive(Copy, Clone, Debug)]
pub struct Facts {
    /// Temporaries of an instance.
    pub temps: u32,
    /// Shared registers with those of scratch memory and of numbers.
    pub shareds: u32,
    /// Bytes of the code.
    pub bytes: u64,
    /// Pixels give feedback.
    pub feeds: bool,
    /// Pixels give depths: those that they compute, or those of their places where they store.
    pub depth: bool,
    /// Pixels that are gone give no feedback, and write no colours: tests are early.
    pub keeps: bool,
}

/// The words of a program.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// All of it by name.
    pub state: Named<Setting>,
    /// Vertex: the words of the fetch program's data that take the addresses of attributes.
    pub addresses: Vec<(Input, u32)>,
    /// Fragment: there are words of targets.
    pub targets: bool,
}

/// The words of a function's program.
///
/// # Errors
/// [`Failure::Limit`] where the sequencer lacks constants; [`Failure::Internal`] where a program is none.
pub fn words(func: &Func, abi: &Abi, pipeline: &State, facts: &Facts) -> Result<Words, Failure> {
    let mut words = Words::default();
    if facts.shareds > 0 {
        let (data, code) = sequencer::upload(facts.shareds);
        words.state.set(UPLOAD_DATA, data);
        words.state.set(UPLOAD_CODE, code);
    }
    match func.stage {
        // The calling convention has none.
        Stage::Geometry => {}
        Stage::Compute => compute::words(func, abi, facts, &mut words.state),
        Stage::Vertex => vertex::words(func, abi, pipeline, facts, &mut words)?,
        Stage::Fragment => {
            fragment::words(abi, facts, &mut words.state);
            words.targets = target::words(abi, facts, &mut words.state)?;
        }
    }
    texture::words(func, abi, &mut words.state);
    header(abi, facts, &mut words.state);
    Ok(words)
}

/// The header of a precompiled program: what a driver must know of its registers. A program that is too long has none.
pub const HEADER: &str = "PROGRAM_HEADER";

fn header(abi: &Abi, facts: &Facts, state: &mut Named<Setting>) {
    let Ok(size) = u16::try_from(facts.bytes.div_ceil(4)) else { return };
    let word = program::header::word()
        .with(program::header::TEMPS, facts.temps)
        .with(program::header::INPUTS, abi.inputs.into())
        .with(program::header::COEFFICIENTS, abi.coefficients.into())
        .with(program::header::SHAREDS, facts.shareds)
        .with(program::header::SIZE, size.into());
    let mut block = block::Block::default();
    block.word("program", word, &[]);
    state.set(HEADER, block.setting());
}
