//! The ends of tiles: a program emits the state words of each target, and pixels go to memory. 4.6. A row of a linear target
//! is twice as many pixels apart as its field counts, beginning with two (the public description's unit).

use super::super::check::Stage;
use super::super::machine::Run;
use super::super::pds::{Action, Pds};
use super::super::register::Common;
use super::super::rule::{Refused, Rule, Trap};
use super::super::task::{Sizes, Task};
use super::Gpu;
use super::compute::{place, temporaries, upload};
use super::pixels::Render;
use gpucc_emu::format::Format;
use gpucc_ir::ssa::numerics::f16_to_f64;

/// The registers of one target. 4.6.
pub type Target = [u64; 3];

/// What a driver sets up for the ends of tiles.
#[derive(Clone, Debug)]
pub struct TargetState {
    /// The program of the data sequencer: data, its words, and code, from the heap's base.
    pub program: (u32, u32, u32),
    /// Registers of each target.
    pub targets: Vec<Target>,
    /// Shared registers.
    pub shared: u32,
}

const fn field(word: u64, high: u32, low: u32) -> u32 {
    (word >> low & ((1 << (high - low + 1)) - 1)) as u32
}

/// What one emission says.
pub(in crate::emu) struct Emission {
    pub address: u64,
    pub source: usize,
    pub halves: bool,
    pub normal: bool,
    pub pack: u32,
    pub target: usize,
}

impl Emission {
    /// From both state words.
    ///
    /// # Errors
    /// Reserved bits, and what is not built.
    pub fn read([low, high]: [u32; 2]) -> Result<Emission, Refused> {
        let word = u64::from(high);
        if field(word, 31, 29) != 0 {
            return Err((Rule::State, format!("reserved bits of the state word {high:#x}")));
        }
        if field(word, 27, 20) != 0 || field(word, 6, 6) != 0 {
            return Err((Rule::NotBuilt, format!("state word {high:#x}")));
        }
        Ok(Emission {
            address: u64::from(low) << 2 | u64::from(field(word, 5, 0)) << 34,
            source: field(word, 15, 14) as usize + 4 * field(word, 28, 28) as usize,
            halves: field(word, 19, 19) == 0,
            normal: field(word, 13, 13) == 1,
            pack: field(word, 12, 7),
            target: field(word, 18, 16) as usize,
        })
    }
}

/// Where the pixels of a target go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::emu) struct Surface {
    /// Pixels from one row to the next.
    pub stride: u64,
    /// Where each component comes from.
    pub swizzle: [u32; 4],
    pub gamma: bool,
    /// Left, top, right and bottom, the last ones inside.
    pub clip: [u32; 4],
}

impl Surface {
    /// From the registers of a target.
    ///
    /// # Errors
    /// Reserved bits, and what is not built.
    pub fn read([first, second, third]: Target) -> Result<Surface, Refused> {
        if first & (0x3f << 58 | 1 << 56 | 1 << 1) != 0 || third >> 47 != 0 {
            return Err((
                Rule::State,
                format!("reserved bits of a target: {first:#x}, {third:#x}"),
            ));
        }
        let others = [(33, 32), (51, 50), (55, 52), (57, 57), (5, 5), (3, 2), (0, 0)];
        if others.into_iter().any(|(high, low)| field(first, high, low) != 0) {
            let what = "a target that is not linear, or is compressed, turned or flipped";
            return Err((Rule::NotBuilt, what.into()));
        }
        Ok(Surface {
            stride: 2 * (u64::from(field(first, 49, 34)) + 1),
            swizzle: [22, 25, 28, 31].map(|high| field(first, high, high - 2)),
            gamma: field(first, 4, 4) == 1,
            clip: [
                field(first, 19, 6),
                field(second, 59, 46),
                field(second, 45, 32),
                field(second, 13, 0),
            ],
        })
    }
}

/// How a pixel's words become bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::emu) enum Packing {
    /// The words as they are, as far as the format has bytes.
    Raw,
    /// Halves are converted.
    Converted,
}

/// The mode of packing. 4.6. [A] Integers and 32-bit components come as words of bytes. So do normalised bytes. Floats and normalised
/// integers of 16 bits come in fields of 16 bits. What is encoded as sRGB, or has fields of 10 and 11 bits, comes as halves and is
/// rounded to nearest.
pub(in crate::emu) fn packing(
    emission: &Emission,
    gamma: bool,
) -> Result<(Packing, Format), Refused> {
    use Format::*;
    use Packing::{Converted, Raw};
    let other = || {
        let Emission { pack, normal, halves, .. } = emission;
        let what = format!("pack mode {pack:#x}, normal {normal}, halves {halves}, gamma {gamma}");
        Err((Rule::NotBuilt, what))
    };
    if gamma {
        return match (emission.pack, emission.normal, emission.halves) {
            (0, true, true) => Ok((Converted, Rgba8UnormSrgb)),
            _ => other(),
        };
    }
    let format = match (emission.normal, emission.pack) {
        (true, 0) => Rgba8Unorm,
        (false, 0) => Rgba8Uint,
        (true, 1) => Rgba8Snorm,
        (false, 1) => Rgba8Sint,
        (true, 0x8) => Rgba16Unorm,
        (false, 0x8) => Rgba16Uint,
        (true, 0x9) => Rgba16Snorm,
        (false, 0x9) => Rgba16Sint,
        (false, 0xa) => Rgba16Float,
        (false, 0xb) => Rgba32Uint,
        (false, 0xc) => Rgba32Sint,
        (false, 0xd) => Rgba32Float,
        (true, 0xe) => Rgb10a2Unorm,
        // By name the float of 10 bits is highest.
        (false, 0x1d) => Rg11b10Ufloat,
        (true, 0x23) => Rg8Unorm,
        (false, 0x23) => Rg8Uint,
        (true, 0x24) => Rg8Snorm,
        (false, 0x24) => Rg8Sint,
        (true, 0x25) => Rg16Unorm,
        (false, 0x25) => Rg16Uint,
        (true, 0x26) => Rg16Snorm,
        (false, 0x26) => Rg16Sint,
        (false, 0x27) => Rg16Float,
        (false, 0x28) => Rg32Uint,
        (false, 0x29) => Rg32Sint,
        (false, 0x2a) => Rg32Float,
        (true, 0x2f) => R8Unorm,
        (false, 0x2f) => R8Uint,
        (true, 0x30) => R8Snorm,
        (false, 0x30) => R8Sint,
        (true, 0x31) => R16Unorm,
        (false, 0x31) => R16Uint,
        (true, 0x32) => R16Snorm,
        (false, 0x32) => R16Sint,
        (false, 0x33) => R16Float,
        (false, 0x34) => R32Uint,
        (false, 0x35) => R32Sint,
        (false, 0x36) => R32Float,
        _ => return other(),
    };
    let sixteen = matches!(
        format,
        Rgba16Unorm
            | Rgba16Snorm
            | Rgba16Float
            | Rg16Unorm
            | Rg16Snorm
            | Rg16Float
            | R16Unorm
            | R16Snorm
            | R16Float
    );
    match (format, emission.halves) {
        (Rgb10a2Unorm | Rg11b10Ufloat | Rgba8Unorm, true) => Ok((Converted, format)),
        (Rgb10a2Unorm | Rg11b10Ufloat, false) => other(),
        (_, halves) if halves == sixteen => Ok((Raw, format)),
        _ => other(),
    }
}

/// Runs the program that ends tiles, and writes what it emits.
///
/// # Errors
/// As [`Gpu::end`].
pub fn end(
    gpu: &mut Gpu,
    state: &TargetState,
    render: &Render,
    run: &mut Run<'_>,
) -> Result<(), Trap> {
    let (data, words, code) = state.program;
    let mut program = Pds {
        memory: &gpu.memory,
        data: gpu.bases.pds + u64::from(data),
        constants: words,
        code: gpu.bases.pds + u64::from(code),
        temps: [None; 32],
        persistent: [None; 32],
        count: 32,
        if0: true,
        if1: false,
    };
    let mut actions = program.run(run.steps).map_err(place)?;
    let Some(Action::Start { entry, temps, .. }) = actions.pop() else {
        return Err(place((Rule::PdsEnd, "no program starts for the tile".into())));
    };
    let mut shared = Common::new("sh", state.shared as usize);
    upload(&actions, &mut shared).map_err(place)?;
    let sizes = Sizes { temps: temporaries(gpu, temps).map_err(place)?, inputs: 0 };
    let mut task = Task::new(Stage::Fragment, entry, sizes, 1, 0);
    gpu.core(&mut shared, Vec::new(), |machine| machine.run(std::slice::from_mut(&mut task), run))?;
    for (_, words) in &task.fragments.emitted {
        write(gpu, state, render, *words).map_err(place)?;
    }
    Ok(())
}

/// Writes the pixels of one target.
fn write(
    gpu: &mut Gpu,
    state: &TargetState,
    render: &Render,
    words: [u32; 2],
) -> Result<(), Refused> {
    let emission = Emission::read(words)?;
    let Some(target) = state.targets.get(emission.target) else {
        return Err((Rule::State, format!("target {}", emission.target)));
    };
    let Surface { stride, swizzle, gamma, clip: [left, top, right, bottom] } =
        Surface::read(*target)?;
    let (packing, format) = packing(&emission, gamma)?;
    for (at, pixel) in render.pixels.iter().enumerate() {
        let (x, y) = (at as u32 % render.width, at as u32 / render.width);
        if x < left || x > right || y < top || y > bottom {
            continue;
        }
        let word = |step: usize| {
            let word = pixel.outputs.get(emission.source + step).copied().flatten();
            word.ok_or_else(|| {
                (Rule::Undefined, format!("output {} of pixel {x}, {y}", emission.source + step))
            })
        };
        let count = format.bytes() as usize;
        let bytes = match packing {
            Packing::Raw => {
                let mut bytes = Vec::new();
                for step in 0..count.div_ceil(4) {
                    bytes.extend(word(step)?.to_le_bytes());
                }
                bytes.truncate(count);
                swizzled(&bytes, format, swizzle)?
            }
            Packing::Converted => {
                let halves = [word(0)?, word(0)? >> 16, word(1)?, word(1)? >> 16];
                let values = halves.map(|half| (f16_to_f64(half as u16) as f32).to_bits());
                let chosen = chosen(values, swizzle)?;
                let mut bytes = vec![0; count];
                format.encode(chosen, &mut bytes);
                bytes
            }
        };
        let place =
            emission.address + (u64::from(y) * stride + u64::from(x)) * u64::from(format.bytes());
        gpu.memory.write(place, &bytes)?;
    }
    Ok(())
}

/// Components in the order that a target asks for.
fn chosen(values: [u32; 4], swizzle: [u32; 4]) -> Result<[u32; 4], Refused> {
    let mut chosen = [0; 4];
    for (value, source) in chosen.iter_mut().zip(swizzle) {
        let source = values.get(source as usize);
        *value = *source.ok_or_else(|| (Rule::State, format!("swizzle {swizzle:?}")))?;
    }
    Ok(chosen)
}

/// Bytes of components in the order that a target asks for. Of a format with fewer than four, the first ones say where they
/// come from.
///
/// # Errors
/// A component that the source does not have.
fn swizzled(bytes: &[u8], format: Format, swizzle: [u32; 4]) -> Result<Vec<u8>, Refused> {
    let count = format.components() as usize;
    let mut parts = Vec::with_capacity(bytes.len());
    for source in &swizzle[..count] {
        let part = bytes.chunks_exact(bytes.len() / count).nth(*source as usize);
        parts.extend(
            part.ok_or_else(|| (Rule::State, format!("swizzle {swizzle:?} of {format:?}")))?,
        );
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_change_places_and_only_those_that_there_are() {
        let halves = [1, 2, 3, 4];
        assert_eq!(swizzled(&halves, Format::Rg16Float, [1, 0, 2, 3]).expect("both"), [3, 4, 1, 2]);
        assert_eq!(swizzled(&halves, Format::Rgba8Uint, [2, 1, 0, 3]).expect("all"), [3, 2, 1, 4]);
        assert_eq!(swizzled(&halves, Format::R32Float, [0, 1, 2, 3]).expect("one"), halves);
        for (format, swizzle) in
            [(Format::Rg16Float, [0, 2, 2, 3]), (Format::Rgba8Uint, [4, 1, 2, 3])]
        {
            let (rule, _) = swizzled(&halves, format, swizzle).expect_err("no such component");
            assert_eq!(rule, Rule::State);
        }
    }
}
