//! Vertices: the sequencer's program that fetches inputs, words of the vertex data master, and what the primitive processor
//! is told of a vertex. isa/rogue-pipeline.md 4.1, 5.1, 5.3, 5.4.

use super::block::Block;
use super::sequencer::{DOUTU, DOUTW, HIGH, LOW, PERSISTENT, Sequencer, TEMPS, Transfer, When};
use super::{Facts, Words};
use crate::abi::Abi;
use crate::words::pds::{ddmad, ddmad_to};
use crate::words::ppp::{output_sel, varying};
use crate::words::streams::{
    vdm_pds0, vdm_pds1, vdm_pds2, vdm_state0, vdm_state2, vdm_state3, vdm_state4, vdm_state5,
};
use gpucc_ir::driver::{Failure, State, Step};
use gpucc_ir::ssa::{Builtin, Func, Input, InputKind, Interpolation, OutputKind};

/// The program of the sequencer that a vertex runs: data and code.
pub const FETCH_DATA: &str = "PDS_VERTEX_DATA";
pub const FETCH_CODE: &str = "PDS_VERTEX_CODE";
/// The block of the stream that fills shared registers.
pub const VDM_PDS: &str = "VDM_PDS_STATE";
/// The block of the stream that names the vertex program.
pub const VDM_STATE: &str = "VDM_STATE";
/// What of a vertex leaves the vertex buffer; a fragment program adds bits of its own.
pub const OUTPUTS: &str = "PPP_OUTPUT_SEL";
/// How many words of varyings there are, and how they vary.
pub const VARYING_COUNTS: &str = "PPP_VARYING0";

/// Words of the data that the driver fills in: the first instance, the number of the draw, that of the view.
const NUMBERS: usize = 3;
/// The pair of the first instance and of the draw's number, and that of the view's number.
const FIRST: u32 = 1;
const VIEW: u32 = 2;
/// The temporaries with the numbers of vertex and instance.
const INDEX: u32 = 0;
const INSTANCE: u32 = 1;

/// The words of a vertex program.
///
/// # Errors
/// [`Failure::Limit`] where the sequencer lacks constants; [`Failure::Internal`] for a value that it has not.
pub fn words(
    func: &Func,
    abi: &Abi,
    pipeline: &State,
    facts: &Facts,
    words: &mut Words,
) -> Result<(), Failure> {
    let constants = fetch(func, abi, pipeline, facts, words)?;
    let state = &mut words.state;
    if facts.shareds > 0 {
        let first = vdm_pds0::word()
            .with(vdm_pds0::COMMON, facts.shareds.div_ceil(16))
            .with(vdm_pds0::PDS_TEMP, 1)
            .with(vdm_pds0::PDS_DATA, 1);
        let mut block = Block::default();
        block.word("state", first, &[]);
        block.word("data", vdm_pds1::word(), &[vdm_pds1::DATA_ADDR]);
        block.word("code", vdm_pds2::word(), &[vdm_pds2::CODE_ADDR]);
        state.set(VDM_PDS, block.setting());
    }
    let mut block = Block::default();
    let first =
        vdm_state0::word().with(vdm_state0::DATA_PRESENT, 1).with(vdm_state0::OTHER_PRESENT, 1);
    // An index that cuts strips is a word that the driver puts behind the first one.
    let theirs = [
        vdm_state0::CUT_PRESENT,
        vdm_state0::CUT_ENABLE,
        vdm_state0::CAM_SIZE,
        vdm_state0::UVS_SCRATCH,
        vdm_state0::FLATSHADE,
    ];
    block.word("state", first, &theirs);
    block.word("data", vdm_state2::word(), &[vdm_state2::DATA_ADDR]);
    block.word("code", vdm_state3::word(), &[vdm_state3::CODE_ADDR]);
    let size = u32::from(abi.vertex_words);
    block.word("vertex", vdm_state4::word().with(vdm_state4::OUTPUT_SIZE, size), &[]);
    let last = vdm_state5::word()
        .with(vdm_state5::UNIFIED, u32::from(abi.inputs).div_ceil(4))
        .with(vdm_state5::PDS_TEMP, 1)
        .with(vdm_state5::PDS_DATA, constants.div_ceil(4));
    block.word("program", last, &[]);
    state.set(VDM_STATE, block.setting());
    primitives(func, size, words);
    Ok(())
}

/// The program that fills vertex inputs and starts the program: how many constants it has.
fn fetch(
    func: &Func,
    abi: &Abi,
    pipeline: &State,
    facts: &Facts,
    words: &mut Words,
) -> Result<u32, Failure> {
    let mut program = Sequencer::default();
    let start = program.start(facts.temps);
    program.data.driver(NUMBERS);
    program.data.fixed(0);
    let count = abi.attributes.len();
    for (at, placed) in abi.attributes.iter().enumerate() {
        let last = at + 1 == count;
        match func.inputs[placed.what].kind {
            InputKind::Corner { .. } => {
                let message = "a vertex program takes no vertices".to_owned();
                return Err(Failure::Internal { pass: "state", message });
            }
            InputKind::Builtin(which) => {
                let (source, half) = match which {
                    Builtin::VertexIndex => (TEMPS, LOW),
                    Builtin::InstanceIndex => (TEMPS, HIGH),
                    Builtin::BaseInstance => (FIRST, LOW),
                    Builtin::DrawIndex => (FIRST, HIGH),
                    Builtin::ViewIndex => (VIEW, LOW),
                    Builtin::BaseVertex => (PERSISTENT, LOW),
                    other => {
                        let message = format!("{other:?} is no value of the sequencer");
                        return Err(Failure::Internal { pass: "state", message });
                    }
                };
                let register = placed.first.into();
                let to = Transfer { words: half, register, common: false, last };
                let operand = program.transfer(&format!("input {at}"), &to);
                program.out(DOUTW, source, operand, When::Always);
            }
            InputKind::Location { location, .. } => {
                let address = attribute(&mut program, pipeline, (at, location), placed, last);
                words.addresses.push((placed.what, address));
            }
        }
    }
    program.out(DOUTU, start, 0, When::LastInstance);
    program.halt();
    program.data.whole();
    program.admit()?;
    let constants = program.data.len();
    program.code.tell("instructions", program.code.len());
    words.state.set(FETCH_DATA, program.data.setting());
    words.state.set(FETCH_CODE, program.code.setting());
    Ok(constants)
}

/// Fetches an attribute: the word of the data that takes the low half of its address.
fn attribute(
    program: &mut Sequencer,
    pipeline: &State,
    (at, location): (usize, u32),
    placed: &crate::abi::Words<Input>,
    last: bool,
) -> u32 {
    let told = pipeline.vertex.attribute(location);
    let buffer = told.map(|told| pipeline.vertex.buffer(told));
    let index = match buffer.map(|buffer| buffer.step) {
        Some(Step::Instance) => INSTANCE,
        _ => INDEX,
    };
    let stride = program.number(buffer.map_or(0, |buffer| buffer.stride));
    let base = program.pair();
    program.data.driver(2);
    let to = ddmad_to::word()
        .with(ddmad_to::BSIZE, placed.count.into())
        .with(ddmad_to::A0, placed.first.into())
        .with(ddmad_to::LAST, last.into());
    let to = program.wide(&format!("input {at}"), to, &[]);
    let fetch = ddmad::word()
        .with(ddmad::SRC0, stride & 0xff)
        .with(ddmad::SRC1, index)
        .with(ddmad::SRC2, base & 0x7f)
        .with(ddmad::SRC3, to & 0x3f);
    program.code.instruction(fetch);
    2 * base
}

/// What the primitive processor is told. 5.4.
fn primitives(func: &Func, size: u32, words: &mut Words) {
    let (mut clip, mut cull) = (0, 0);
    let mut select = output_sel::word().with(output_sel::VTXSIZE, size);
    let mut counts = [0; 3];
    for data in func.outputs.values() {
        let planes = |first: u8| ((1 << data.components) - 1) << first & 0xff;
        match data.kind {
            OutputKind::Builtin(Builtin::ClipDistance(first)) => clip |= planes(first),
            OutputKind::Builtin(Builtin::CullDistance(first)) => cull |= planes(first),
            OutputKind::Builtin(Builtin::PointSize) => {
                select = select.with(output_sel::PSPRITE_SIZE, 1);
            }
            OutputKind::Builtin(Builtin::Layer) => {
                select = select.with(output_sel::RENDER_TARGET, 1);
            }
            OutputKind::Builtin(_) => {}
            OutputKind::Location { interpolation, .. } => {
                let class = match interpolation {
                    Interpolation::Perspective => 0,
                    Interpolation::Flat => 1,
                    Interpolation::Linear => 2,
                };
                counts[class] += u32::from(data.components);
            }
        }
    }
    let select = select.with(output_sel::CLIP, clip).with(output_sel::CULL, cull);
    let theirs = [
        output_sel::UNCLAMPED_Z,
        output_sel::VIEWPORT_TARGET,
        output_sel::CLAMP_Z,
        output_sel::RHW,
    ];
    let mut block = Block::default();
    block.word("outputs", select, &theirs);
    words.state.set(OUTPUTS, block.setting());
    let [smooth, flat, linear] = counts;
    let counts = varying::word()
        .with(varying::LINEAR, smooth)
        .with(varying::FLAT, flat)
        .with(varying::NPC, linear);
    let mut block = Block::default();
    block.word("varyings", counts, &[]);
    words.state.set(VARYING_COUNTS, block.setting());
}
