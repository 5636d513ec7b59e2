//! Fragments: the sequencer's programs of pixels, and the words of state that name them. isa/rogue-pipeline.md 4.2, 5.1, 5.4.

use super::Facts;
use super::block::Block;
use super::sequencer::{DOUTI, DOUTU, Sequencer, When};
use super::vertex::OUTPUTS;
use crate::abi::Abi;
use crate::words::pds::douti;
use crate::words::ppp::{ispa, output_sel, sizeinfo1, sizeinfo2};
use gpucc_ir::ssa::Interpolation;
use gpucc_machine::Named;
use gpucc_machine::described::Setting;

/// The program of the sequencer that starts pixels: eight words of data, then its code.
pub const PIXEL_SHADER: &str = "PDS_PIXEL_SHADER";
/// The program of the sequencer that sets coefficients up: data, then code. Programs without any have none.
pub const VARYINGS: &str = "PDS_VARYINGS";
/// SHADERBASE, TEXUNICODEBASE, SIZEINFO1, SIZEINFO2, VARYINGBASE, UNIFORMDATABASE.
pub const PIXEL_STATE: &str = "PPP_PDS_STATE";
/// The word A of the front and of the back.
pub const ISPA: &str = "PPP_ISPA";

/// Words of data before the code that starts pixels.
const DATA: u32 = 8;
/// Rates of programs: once for a pixel, once for each of its samples. The public driver takes the other where there are several.
const INSTANCE: u32 = 0;
const FULL: u32 = 2;
/// Shade models: of the first vertex, and of all of them.
const FLAT: u32 = 0;
const GOURAUD: u32 = 3;

/// The pass of a fragment program: `emu::Pass` says when each one tests. 5.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Pass {
    /// Nothing goes back.
    Opaque = 0,
    /// Nothing goes back, and pixels that are gone keep what is behind them.
    Translucent = 1,
    /// Who survives goes back.
    PunchThrough = 2,
    /// The depths of those who survive go back.
    DepthFeedback = 5,
}

impl Pass {
    /// Of a program.
    fn of(facts: &Facts) -> Pass {
        match (facts.depth, facts.feeds, facts.keeps) {
            (true, ..) => Pass::DepthFeedback,
            (false, true, _) => Pass::PunchThrough,
            (false, false, true) => Pass::Translucent,
            (false, false, false) => Pass::Opaque,
        }
    }
}

/// The words of a fragment program.
pub fn words(abi: &Abi, facts: &Facts, state: &mut Named<Setting>) {
    let mut shader = Sequencer::default();
    let start = shader.start_at(facts.temps, if abi.samples > 1 { FULL } else { INSTANCE });
    while shader.data.len() < DATA {
        shader.data.fixed(0);
    }
    shader.out(DOUTU, start, 0, When::End);
    let mut block = shader.data;
    block.append(shader.code);
    state.set(PIXEL_SHADER, block.setting());
    let constants = varyings(abi, state);
    let first = sizeinfo1::word()
        // The upload's address and operand.
        .with(sizeinfo1::UNIFORM_SIZE, 1)
        .with(sizeinfo1::PDS_VARYING, constants.div_ceil(4))
        .with(sizeinfo1::VARYING_SIZE, u32::from(abi.coefficients).div_ceil(16))
        .with(sizeinfo1::TEMP_SIZE, 1);
    let second = sizeinfo2::word().with(sizeinfo2::SHARED_SIZE, facts.shareds.div_ceil(16));
    let mut block = Block::default();
    block.driver(2);
    block.word("SIZEINFO1", first, &[]);
    block.word("SIZEINFO2", second, &[sizeinfo2::TRI_MERGE_DISABLE]);
    block.driver(2);
    state.set(PIXEL_STATE, block.setting());
    let pass = Pass::of(facts) as u32;
    let theirs = [ispa::OBJTYPE, ispa::DWRITE_DISABLE, ispa::DCMP, ispa::WIDTH, ispa::SREF];
    let mut block = Block::default();
    block.word("pass", ispa::word().with(ispa::PASSTYPE, pass), &theirs);
    state.set(ISPA, block.setting());
    let select = output_sel::word()
        .with(output_sel::RHW, abi.w.is_some().into())
        .with(output_sel::UNCLAMPED_Z, abi.z.is_some().into());
    let theirs = [
        output_sel::VTXSIZE,
        output_sel::RENDER_TARGET,
        output_sel::VIEWPORT_TARGET,
        output_sel::PSPRITE_SIZE,
        output_sel::CLAMP_Z,
        output_sel::CULL,
        output_sel::CLIP,
    ];
    let mut block = Block::default();
    block.word("outputs", select, &theirs);
    state.set(OUTPUTS, block.setting());
}

/// The program of varyings: how many constants it has. z is behind the reciprocal of w; where the words of a varying are is
/// the vertex program's to say, and the driver's to fill in.
fn varyings(abi: &Abi, state: &mut Named<Setting>) -> u32 {
    let iterated = douti::word().with(douti::SHADE_MODEL, GOURAUD);
    let mut words = Vec::new();
    if let Some(set) = abi.z {
        let word = iterated.with(douti::F32_OFF, 2 * u32::from(abi.w.is_some()));
        words.push(("z".to_owned(), word.with(douti::DEST, set.into()), &[][..]));
    }
    if let Some(set) = abi.w {
        words.push(("w".to_owned(), iterated.with(douti::DEST, set.into()), &[]));
    }
    if let Some(set) = abi.point {
        let word = iterated.with(douti::SIZE, 1).with(douti::POINT_SPRITE, 1);
        words.push(("point".to_owned(), word.with(douti::DEST, set.into()), &[]));
    }
    if let Some(set) = abi.primitive {
        let word = douti::word().with(douti::PRIMITIVE_ID, 1);
        words.push(("primitive".to_owned(), word.with(douti::DEST, set.into()), &[]));
    }
    for varying in &abi.varyings {
        let (shade, perspective) = match varying.interpolation {
            Interpolation::Flat => (FLAT, 0),
            Interpolation::Perspective => (GOURAUD, 1),
            Interpolation::Linear => (GOURAUD, 0),
        };
        let word = douti::word()
            // One less.
            .with(douti::SIZE, u32::from(varying.components.max(1)) - 1)
            .with(douti::PERSPECTIVE, perspective)
            .with(douti::SHADE_MODEL, shade)
            .with(douti::DEST, varying.set.into());
        words.push((format!("location {}", varying.location), word, &[douti::F32_OFF]));
    }
    let Some((_, last, _)) = words.last_mut() else { return 0 };
    *last = last.with(douti::LAST, 1);
    let count = words.len();
    let mut program = Sequencer::default();
    let sources: Vec<_> =
        words.into_iter().map(|(label, word, theirs)| program.wide(&label, word, theirs)).collect();
    program.data.whole();
    let constants = program.data.len();
    for (at, source) in sources.iter().enumerate() {
        let when = if at + 1 == count { When::End } else { When::Always };
        program.out(DOUTI, *source, 0, when);
    }
    let mut block = program.data;
    block.append(program.code);
    state.set(VARYINGS, block.setting());
    constants
}
