//! What is bound to a shader's resources in one input.

use super::inputs::{CaseKind, Sizes};
use super::random::{Draw, Mood};
use crate::Failure;
use gpucc_emu::format::{Format, Kind};
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{
    AtomicOp, Dim, Func, Imm, Number, Op, Resource, ResourceKind, SampleType, Scalar, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// By how much textures are wider and higher than the least one, in turn. No two neighbours are alike, and none is square: a
/// program that asks the wrong one, or exchanges axes, is seen.
const WIDER: [[u32; 2]; 5] = [[0, 1], [2, 0], [1, 3], [3, 2], [5, 4]];

const WRAPS: [Wrap; 6] = [
    Wrap::Repeat,
    Wrap::Mirror,
    Wrap::Clamp,
    Wrap::MirrorOnce,
    Wrap::Border,
    Wrap::MirrorOnceBorder,
];
const COMPARISONS: [Compare; 8] = [
    Compare::Never,
    Compare::Less,
    Compare::Equal,
    Compare::LessEqual,
    Compare::Greater,
    Compare::NotEqual,
    Compare::GreaterEqual,
    Compare::Always,
];

/// Which words of a buffer are floats and which are not, where loads from constant addresses show it.
fn word_kinds(func: &Func) -> BTreeMap<(Resource, u32), Scalar> {
    let mut float_uses = vec![None; func.values.len()];
    for data in func.insts.values() {
        let Some(scalar) = operand_scalar(data.op) else {
            continue;
        };
        for arg in &data.args {
            float_uses[arg.as_u32() as usize].get_or_insert(scalar);
        }
    }
    let mut kinds = BTreeMap::new();
    for data in func.insts.values() {
        let (Op::BufferLoad, Imm::Resource(resource)) = (data.op, &data.imm) else {
            continue;
        };
        let address = data.args.last().and_then(|&at: &Value| func.as_const(at));
        for (index, result) in data.results.iter().enumerate() {
            if let (Some(address), Some(scalar)) = (address, float_uses[result.as_u32() as usize]) {
                kinds.insert((*resource, address as u32 + 4 * index as u32), scalar);
            }
        }
    }
    kinds
}

/// Buffers to which floats are added atomically: atomics are declared as integers.
fn float_sums(func: &Func) -> BTreeSet<Resource> {
    let atomics = func.insts.values().filter_map(|data| match data.imm {
        Imm::BufferAtomic(buffer, AtomicOp::FAdd) => Some(buffer),
        _ => None,
    });
    atomics.collect()
}

/// How an op reads its operands, where it tells.
fn operand_scalar(op: Op) -> Option<Scalar> {
    match op.reads() {
        Number::Float => Some(Scalar::F32),
        Number::Int => Some(Scalar::I32),
        Number::Any => None,
    }
}

/// Integers at which indices meet their lengths: one before the end, the end, and one beyond it.
pub fn edges(func: &Func, sizes: &Sizes) -> Vec<u32> {
    let constant = func.insts.values().filter_map(|data| match data.op {
        Op::Index => func.as_const(*data.args.get(1)?).map(|bits| bits as u32),
        _ => None,
    });
    let mut edges: Vec<u32> = constant
        .chain(sizes.elements)
        .flat_map(|length| [length.wrapping_sub(1), length, length.wrapping_add(1)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Bytes behind the last whole element: none, words, or any number of them.
fn part(draw: &mut Draw, stride: u32) -> u32 {
    match draw.random.below(3) {
        0 => 0,
        1 => draw.random.below(stride) & !3,
        _ => draw.random.below(stride),
    }
}

/// A sampler of which each axis wraps in another way, with another filter near than far, that clamps and
/// shifts levels.
fn uneven_sampler(draw: &mut Draw) -> Sampler {
    let first = draw.random.below(6);
    let second = (first + 1 + draw.random.below(5)) % 6;
    // The third differs from both where it can.
    let third = (0..6).find(|&wrap| wrap != first && wrap != second);
    let wrap = [first, second, third.unwrap_or(0)].map(|wrap| WRAPS[wrap as usize]);
    let filters = [Filter::Nearest, Filter::Linear];
    let lod_min = draw.pick(&[0.0, 0.0, 0.5, 1.25]);
    Sampler {
        wrap,
        mag: draw.pick(&filters),
        min: draw.pick(&filters),
        mip: draw.pick(&[MipFilter::None, MipFilter::Nearest, MipFilter::Linear]),
        lod_min,
        lod_max: lod_min + draw.pick(&[0.5, 1.5, 16.0]),
        lod_bias: draw.pick(&[0.0, 0.0, -0.75, 1.5]),
        compare: None,
        border: [0.25f32, 0.5, 0.75, 1.0].map(f32::to_bits),
    }
}

/// What is bound to a function's resources.
///
/// # Errors
/// Formats that the emulators do not hold.
pub fn bindings(
    func: &Func,
    draw: &mut Draw,
    of: CaseKind,
    sizes: &Sizes,
) -> Result<Bindings, Failure> {
    let kinds = word_kinds(func);
    let sums = float_sums(func);
    let mut bindings = crate::execute::bindings(func)?;
    let mut samplers = 0;
    let mut textures = 0;
    let mut measures = || {
        textures += 1;
        extent(textures - 1, sizes.side)
    };
    for (resource, data) in &func.resources {
        let scalar = match sums.contains(&resource) {
            true => Scalar::F32,
            false => data.scalar,
        };
        let elements = sizes.elements[resource.as_u32() as usize % 2];
        for element in 0..data.count.unwrap_or(1) {
            let bound = match data.kind {
                ResourceKind::Uniform { size } | ResourceKind::Immediate { size } => {
                    buffer(draw, resource, scalar, size, &kinds)
                }
                ResourceKind::Storage { size, stride, .. } => {
                    let mut size = size + stride * elements;
                    if of.small {
                        size += part(draw, stride);
                    }
                    buffer(draw, resource, scalar, size, &kinds)
                }
                ResourceKind::Texture { dim, arrayed, sample, multisampled } => {
                    Bound::Image(texture(
                        draw,
                        sampled_format(resource.as_u32() % 2 == 1, sample),
                        dim,
                        arrayed,
                        multisampled,
                        measures(),
                    )?)
                }
                ResourceKind::StorageTexture { dim, arrayed, format, .. } => {
                    let known = Format::from_name(format.0).ok_or_else(|| {
                        Failure::not_yet(format!("texel format {}", format.0), "verification")
                    })?;
                    let mut image = texture(draw, known, dim, arrayed, false, measures())?;
                    if image.extent().levels != 1 {
                        let extent = Extent { levels: 1, ..*image.extent() };
                        let texels = image.level_bytes(0).to_vec();
                        image = Image::new(known, extent)
                            .map_err(|error| Failure::internal("verification", error))?;
                        image.level_bytes_mut(0).copy_from_slice(&texels);
                    }
                    Bound::Image(image)
                }
                ResourceKind::Sampler { comparison } => {
                    samplers += 1;
                    let mut sampler = if of.uneven {
                        uneven_sampler(draw)
                    } else if samplers % 2 == 1 {
                        Sampler::nearest(Wrap::Repeat)
                    } else {
                        Sampler::linear(Wrap::Clamp)
                    };
                    sampler.compare = comparison.then(|| match of.uneven {
                        true => draw.pick(&COMPARISONS),
                        false => Compare::LessEqual,
                    });
                    Bound::Sampler(sampler)
                }
            };
            bindings.set_element(resource, element, bound);
        }
    }
    Ok(bindings)
}

/// A buffer of `size` bytes; the last word may be less than one.
fn buffer(
    draw: &mut Draw,
    resource: Resource,
    scalar: Scalar,
    size: u32,
    kinds: &BTreeMap<(Resource, u32), Scalar>,
) -> Bound {
    let mut bytes = Vec::with_capacity(size as usize + 3);
    for address in (0..size).step_by(4) {
        let scalar = kinds.get(&(resource, address)).copied().unwrap_or(match scalar {
            // Now and then a word of the other kind: buffers of structures hold both.
            Scalar::F32
                if !matches!(draw.mood, Mood::Tame | Mood::Whole) && draw.random.percent(5) =>
            {
                Scalar::U32
            }
            known => known,
        });
        bytes.extend_from_slice(&draw.word(scalar).to_le_bytes());
    }
    bytes.truncate(size as usize);
    Bound::Buffer(bytes)
}

/// A format of a sample type; half of the float textures hold floats, half bytes.
fn sampled_format(other: bool, sample: SampleType) -> Format {
    match (sample, other) {
        (SampleType::Float, false) => Format::Rgba8Unorm,
        (SampleType::Float, true) => Format::Rgba32Float,
        (SampleType::Sint, _) => Format::Rgba32Sint,
        (SampleType::Uint, _) => Format::Rgba32Uint,
        (SampleType::Depth, _) => Format::Depth32Float,
    }
}

/// Width, height, and depth or layers of the texture of a number.
fn extent(number: u32, side: u32) -> [u32; 3] {
    let [wider, higher] = WIDER[number as usize % WIDER.len()];
    [side + wider, side + higher, 4 + number % 3]
}

fn texture(
    draw: &mut Draw,
    format: Format,
    dim: Dim,
    arrayed: bool,
    multisampled: bool,
    [width, height, deep]: [u32; 3],
) -> Result<Image, Failure> {
    let layers = if arrayed { deep } else { 1 };
    let mut extent = Extent {
        dim,
        width,
        height: match dim {
            Dim::D1 => 1,
            Dim::Cube => width,
            _ => height,
        },
        depth: if dim == Dim::D3 { deep } else { 1 },
        layers: if dim == Dim::Cube { 6 * layers } else { layers },
        levels: 1,
        samples: if multisampled { 4 } else { 1 },
    };
    if !multisampled && dim != Dim::D1 {
        extent.levels = extent.full_chain();
    }
    let mut image =
        Image::new(format, extent).map_err(|error| Failure::internal("verification", error))?;
    let kind = format.kind();
    if kind == Kind::Float && format.bytes().is_multiple_of(4) {
        let mut tame = Draw { mood: Mood::Tame, ..draw.clone() };
        let depth = format == Format::Depth32Float;
        for texel in image.bytes_mut().chunks_exact_mut(4) {
            let bits = match draw.mood {
                Mood::Whole if !depth => draw.float(),
                mood if depth || mood == Mood::Tame => draw.random.between(0.0, 1.0).to_bits(),
                _ => tame.float(),
            };
            texel.copy_from_slice(&bits.to_le_bytes());
        }
    } else if kind.is_integer() && format.bytes().is_multiple_of(4) {
        for texel in image.bytes_mut().chunks_exact_mut(4) {
            texel.copy_from_slice(&draw.integer().to_le_bytes());
        }
    } else {
        for byte in image.bytes_mut() {
            *byte = draw.random.bits() as u8;
        }
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_that_follow_each_other_differ_in_every_size_and_none_is_square() {
        for number in 0..20 {
            let [[width, height, deep], next] = [number, number + 1].map(|at| extent(at, 8));
            assert!(width != height && width >= 8 && height >= 8 && deep >= 4);
            assert!(width != next[0] && height != next[1] && deep != next[2], "{number}");
            assert_ne!([width, height], [next[1], next[0]]);
        }
    }
}
