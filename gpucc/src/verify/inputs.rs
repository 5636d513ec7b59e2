//! Inputs of a verification: what the contract's "What runs" says, from a seed.

use super::random::{Draw, Mood, Random};
use super::resources::{bindings, edges};
use crate::Failure;
use crate::execute::layout;
use crate::pipeline::{Step, VertexState};
use gpucc_emu::device::PrimitiveIn;
use gpucc_emu::draw::{Quad, QuadBatch, VertexId};
use gpucc_emu::format::{Format, Kind, VertexFormat};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{
    AtomicOp, Builtin, Func, Imm, InputData, InputKind, Interpolation, Part, ResourceKind,
    Sampling, Scalar, Stage,
};

/// Workgroups of a compute run.
pub const GROUPS: [u32; 3] = [4, 1, 1];
/// Vertices of a vertex run.
pub const VERTICES: u32 = 64;
/// Instances of a vertex run.
pub const INSTANCES: u32 = 2;
/// Primitives of a geometry run.
pub const PRIMITIVES: u32 = 32;
/// How large a run is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Workgroups of a compute run.
    pub groups: [u32; 3],
    /// Elements of runtime arrays, of even and of odd resources.
    pub elements: [u32; 2],
    /// The least width and height of a texture: each texture has sizes of its own.
    pub side: u32,
    /// Runtime arrays are [`MOST_SMALL`] elements at most, and part of one, where the input is of that kind.
    pub small: bool,
}

/// Elements of the runtime arrays of a small input, at most.
pub const MOST_SMALL: u32 = 3;

/// What is unusual about an input, by its number: see [`kind`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CaseKind {
    /// How far values stray.
    pub mood: Mood,
    /// Runtime arrays have few elements or none, and buffers end within an element.
    pub small: bool,
    /// Samplers differ by axis, by filter and in levels.
    pub uneven: bool,
}

/// The kind of an input: in every eight two are small (one of them wild) and four have uneven samplers.
pub const fn kind(number: u32) -> CaseKind {
    CaseKind { mood: Mood::of(number), small: matches!(number % 8, 1 | 7), uneven: number % 2 == 1 }
}

/// The sizes of a verification.
pub const SIZES: Sizes = Sizes { groups: GROUPS, elements: [256; 2], side: 8, small: true };
/// Width and height of the tile of a fragment run.
const TILE: u32 = 8;

/// What one run is given.
#[derive(Clone, Debug)]
pub struct Case {
    /// Buffers, textures and samplers.
    pub bindings: Bindings,
    /// Stage inputs.
    pub stage: StageCase,
}

/// Stage inputs.
#[derive(Clone, Debug)]
pub enum StageCase {
    /// So many workgroups.
    Compute([u32; 3]),
    /// Vertices and their buffers.
    Vertex {
        /// Which.
        ids: Vec<VertexId>,
        /// Added to vertex numbers.
        first_vertex: u32,
        /// Added to instance numbers.
        first_instance: u32,
        /// By the layout's numbers.
        buffers: Vec<Vec<u8>>,
        /// Where attributes stand.
        layout: VertexState,
    },
    /// Quads of one tile.
    Fragment(QuadBatch),
    /// Primitives.
    Geometry(Vec<PrimitiveIn>),
}

impl Case {
    /// The input of a number.
    ///
    /// # Errors
    /// Bindings of kinds that the emulators cannot hold.
    pub fn new(
        func: &Func,
        vertex: Option<&VertexState>,
        seed: u64,
        number: u32,
        sizes: &Sizes,
    ) -> Result<Case, Failure> {
        let mut kind = kind(number);
        if kind.mood == Mood::Mixed && sums_floats(func) {
            kind.mood = Mood::Whole;
        }
        kind.small &= sizes.small;
        let mut draw =
            Draw { random: Random::new(seed, number), mood: kind.mood, edges: Vec::new() };
        let sizes = if kind.small {
            &Sizes {
                elements: std::array::from_fn(|_| draw.random.below(MOST_SMALL + 1)),
                ..*sizes
            }
        } else {
            sizes
        };
        draw.edges = edges(func, sizes);
        Ok(Case {
            bindings: bindings(func, &mut draw, kind, sizes)?,
            stage: match func.stage {
                Stage::Compute => StageCase::Compute(sizes.groups),
                Stage::Vertex => vertices(func, vertex, &mut draw, number),
                Stage::Fragment => StageCase::Fragment(quads(func, &mut draw, number)),
                Stage::Geometry => StageCase::Geometry(primitives(func, &mut draw)),
            },
        })
    }
}

impl Case {
    /// The same bits for a function that reads storage textures as other formats, as a machine does
    /// that packs texels itself.
    #[must_use]
    pub fn viewed_by(&self, func: &Func) -> Case {
        let mut case = self.clone();
        for (resource, data) in func.resources.iter() {
            let ResourceKind::StorageTexture { format, .. } = data.kind else {
                continue;
            };
            for element in 0..data.count.unwrap_or(1) {
                if let Some(format) = Format::from_name(format.0)
                    && let Bound::Image(image) = case.bindings.get(resource, element)
                    && let Some(viewed) = image.viewed_as(format)
                {
                    let bound = Bound::Image(viewed);
                    case.bindings.set_element(resource, element, bound);
                }
            }
        }
        case
    }
}

impl Case {
    /// Changes samplers into those that a machine has; see [`gpucc_machine::Machine::restrict`].
    pub fn restrict(
        &mut self,
        func: &Func,
        mut restrict: impl FnMut(&mut gpucc_emu::sampler::Sampler, bool),
    ) {
        for (resource, data) in &func.resources {
            if !matches!(data.kind, ResourceKind::Sampler { .. }) {
                continue;
            }
            let words = func.insts.values().any(|data| {
                let Imm::Tex(tex) = data.imm else { return false };
                let image = |element| match self.bindings.get(tex.texture, element) {
                    Bound::Image(image) => {
                        let format = image.format();
                        4 * format.components() == format.bytes()
                    }
                    _ => false,
                };
                let count = func.resources[tex.texture].count.unwrap_or(1);
                tex.sampler.expand() == Some(resource) && !tex.compare && (0..count).any(image)
            });
            for element in 0..data.count.unwrap_or(1) {
                if let Some(Bound::Sampler(sampler)) = self.bindings.get_mut(resource, element) {
                    restrict(sampler, words);
                }
            }
        }
    }

    /// The same input for a machine whose programs interpolate: in each quad depth and what varies lie in a plane, with numbers
    /// so short that sums of them are exact, 1 / w is 1, and a centroid is a centre.
    #[must_use]
    pub fn on_planes(mut self, func: &Func) -> Case {
        if let StageCase::Fragment(batch) = &mut self.stage {
            let smooth: Vec<bool> = func
                .inputs
                .values()
                .filter_map(|data| match data.kind {
                    InputKind::Location { interpolation, .. } => {
                        Some(interpolation != Interpolation::Flat && data.scalar == Scalar::F32)
                    }
                    InputKind::Builtin(_) | InputKind::Corner { .. } => None,
                })
                .collect();
            for quad in &mut batch.quads {
                let depths = flattened(quad.position.map(|position| position[2]));
                for (position, depth) in quad.position.iter_mut().zip(depths) {
                    position[2] = depth;
                    position[3] = 1.0;
                }
            }
            for quad in batch.values.chunks_exact_mut(4 * smooth.len().max(1)) {
                for varying in (0..smooth.len()).filter(|&varying| smooth[varying]) {
                    let at = |pixel: usize| pixel * smooth.len() + varying;
                    let planes: [[f32; 4]; 4] = std::array::from_fn(|component| {
                        let value = |pixel| f32::from_bits(quad[at(pixel)][component]);
                        flattened(std::array::from_fn(value))
                    });
                    for pixel in 0..4 {
                        quad[at(pixel)] = planes.map(|plane| plane[pixel].to_bits());
                    }
                }
            }
        }
        self
    }
}

/// The plane through the first three pixels of a quad, in steps of 2^-10 up to 2^6. No value is a negative zero: a plane is a
/// sum of slopes and a first value, and a sum with a zero of each sign is a positive zero.
fn flattened(values: [f32; 4]) -> [f32; 4] {
    let short = |value: f32| match value.is_finite() {
        true => (value.clamp(-64.0, 64.0) * 1024.0).round() / 1024.0 + 0.0,
        false => 0.0,
    };
    let [first, right, below, _] = values.map(short);
    [first, right, below, right + below - first]
}

/// Whether atomics add floats: the order of the terms shows in the sum unless it is exact.
fn sums_floats(func: &Func) -> bool {
    func.insts.values().any(|data| {
        matches!(
            data.imm,
            Imm::BufferAtomic(_, AtomicOp::FAdd)
                | Imm::MemAtomic(_, AtomicOp::FAdd)
                | Imm::ImageAtomic(_, AtomicOp::FAdd)
        )
    })
}

/// Invocations of one run.
pub fn invocations(func: &Func) -> u64 {
    match func.stage {
        Stage::Compute => {
            let size: u64 = func.workgroup_size.iter().map(|&n| u64::from(n)).product();
            size * u64::from(GROUPS[0])
        }
        Stage::Vertex => u64::from(VERTICES * INSTANCES),
        Stage::Fragment => u64::from(TILE * TILE),
        Stage::Geometry => {
            let invocations = func.geometry.map_or(1, |geometry| geometry.invocations);
            u64::from(PRIMITIVES) * u64::from(invocations)
        }
    }
}

fn primitives(func: &Func, draw: &mut Draw) -> Vec<PrimitiveIn> {
    let mut one = |number| {
        let words = |data: &InputData| {
            let words: [u32; 4] = std::array::from_fn(|_| draw.word(data.scalar));
            match data.kind {
                // Widths that a machine hands on: eighths of a pixel up to 256.
                InputKind::Corner { part: Part::Builtin(Builtin::PointSize), .. } => {
                    words.map(|word| ((1 + word % 2047) as f32 / 8.0).to_bits())
                }
                _ => words,
            }
        };
        PrimitiveIn { number, inputs: func.inputs.values().map(words).collect() }
    };
    (0..PRIMITIVES).map(&mut one).collect()
}

fn vertices(func: &Func, given: Option<&VertexState>, draw: &mut Draw, number: u32) -> StageCase {
    let layout = layout::complete(func, given);
    let (first_vertex, first_instance) = first(number, &layout);
    let mut buffers = Vec::new();
    for (slot, buffer) in layout.buffers.iter().enumerate() {
        let elements = match buffer.step {
            Step::Vertex => VERTICES + first_vertex,
            Step::Instance => INSTANCES + first_instance,
        };
        let formats = layout.attributes.iter().filter(|data| data.buffer as usize == slot);
        let formats =
            formats.filter_map(|data| Some((data, VertexFormat::from_name(&data.format)?)));
        let formats: Vec<_> = formats.collect();
        // Elements may overlap, and an element may end behind its stride: the last one is there whole.
        let ends = formats.iter().map(|(attribute, format)| attribute.offset + format.bytes());
        let last = ends.max().unwrap_or(0).max(buffer.stride);
        let mut bytes = vec![0u8; (buffer.stride * (elements - 1) + last) as usize];
        for element in 0..elements {
            for &(attribute, format) in &formats {
                let at = (buffer.stride * element + attribute.offset) as usize;
                fill_attribute(&mut bytes[at..at + format.bytes() as usize], format, draw);
            }
        }
        buffers.push(bytes);
    }
    let ids = (0..INSTANCES)
        .flat_map(|instance| (0..VERTICES).map(move |vertex| VertexId { vertex, instance }))
        .collect();
    StageCase::Vertex { ids, first_vertex, first_instance, buffers, layout }
}

/// Which vertex and instance a draw starts with: elsewhere than at 0 it shows whether they are added, and far away that their
/// numbers have more than a byte, or a half. Attributes of a vertex lie in a buffer that reaches there, so that these are nearer.
fn first(number: u32, layout: &VertexState) -> (u32, u32) {
    let fetches = layout.buffers.iter().any(|buffer| buffer.step == Step::Vertex);
    match (number % 4, fetches) {
        (0 | 2, _) => (0, 0),
        (3, true) => (259, 257),
        (3, false) => (0x1_0103, 257),
        _ => (3, 1),
    }
}

fn fill_attribute(bytes: &mut [u8], format: VertexFormat, draw: &mut Draw) {
    match (format.kind(), format.bits()) {
        (Kind::Float, 32) => {
            for place in bytes.chunks_exact_mut(4) {
                place.copy_from_slice(&draw.float().to_le_bytes());
            }
        }
        (Kind::Uint | Kind::Sint, 32) => {
            for place in bytes.chunks_exact_mut(4) {
                place.copy_from_slice(&draw.integer().to_le_bytes());
            }
        }
        (Kind::Float, _) => {
            for place in bytes.chunks_exact_mut(2) {
                let value = half::f16::from_f32(draw.random.between(-8.0, 8.0));
                place.copy_from_slice(&value.to_le_bytes());
            }
        }
        _ => {
            for byte in bytes {
                *byte = draw.random.bits() as u8;
            }
        }
    }
}

/// Coverage of the tile as one bit a pixel, row by row: an intersection of half-planes with at least
/// one quad that is neither full nor empty.
fn coverage(random: &mut Random) -> u64 {
    for _ in 0..32 {
        let mut covered = u64::MAX;
        for _ in 0..3 {
            let (a, b) = (random.between(-1.0, 1.0), random.between(-1.0, 1.0));
            let c = random.between(0.0, 4.0);
            for y in 0..TILE {
                for x in 0..TILE {
                    let (dx, dy) = (x as f32 - 3.5, y as f32 - 3.5);
                    if a * dx + b * dy + c < 0.0 {
                        covered &= !(1 << (y * TILE + x));
                    }
                }
            }
        }
        let quad_counts = || (0..16u32).map(|quad| quad_mask(covered, quad).count_ones());
        if quad_counts().any(|n| n > 0 && n < 4) && quad_counts().any(|n| n == 4) {
            return covered;
        }
    }
    // A corner cut off.
    !1
}

fn quad_mask(covered: u64, quad: u32) -> u8 {
    let (x, y) = (quad % 4 * 2, quad / 4 * 2);
    let bit = |dx: u32, dy: u32| (covered >> ((y + dy) * TILE + x + dx) & 1) as u8;
    bit(0, 0) | bit(1, 0) << 1 | bit(0, 1) << 2 | bit(1, 1) << 3
}

fn quads(func: &Func, draw: &mut Draw, number: u32) -> QuadBatch {
    let random = &mut draw.random;
    let covered = coverage(random);
    let (left, top) = (TILE * random.below(16), TILE * random.below(16));
    // Depth and 1/w are planes too.
    let (z, zx, zy) =
        (random.between(0.2, 0.6), random.between(-0.02, 0.02), random.between(-0.02, 0.02));
    // Powers of two: some machines give w and some 1/w, and these have exact reciprocals.
    let least = random.below(4);
    let mut batch = QuadBatch::default();
    for quad in 0..16 {
        let mask = quad_mask(covered, quad);
        if mask == 0 {
            continue;
        }
        let (x, y) = (quad % 4 * 2, quad / 4 * 2);
        let position = std::array::from_fn(|pixel| {
            let (px, py) = (x + pixel as u32 % 2, y + pixel as u32 / 2);
            [
                (left + px) as f32 + 0.5,
                (top + py) as f32 + 0.5,
                z + zx * px as f32 + zy * py as f32,
                1.0 / (1u32 << (least + px / 2)) as f32,
            ]
        });
        batch.quads.push(Quad {
            x: left + x,
            y: top + y,
            covered: mask,
            front: number.is_multiple_of(2),
            primitive: 0,
            several: None,
            position,
            // Corner to corner, as though a point covered the tile.
            point: std::array::from_fn(|pixel| {
                let (px, py) = (x + pixel as u32 % 2, y + pixel as u32 / 2);
                [px, py].map(|at| (at as f32 + 0.5) / 8.0)
            }),
        });
    }
    let planes: Vec<Planes> = func
        .inputs
        .values()
        .filter_map(|data| match data.kind {
            InputKind::Location { interpolation, sampling, .. } => {
                Some(Planes::new(draw, data.scalar, interpolation, sampling))
            }
            InputKind::Builtin(_) | InputKind::Corner { .. } => None,
        })
        .collect();
    batch.varyings = planes.len();
    for quad in &batch.quads {
        let first = quad.covered.trailing_zeros() as usize;
        for pixel in 0..4 {
            for plane in &planes {
                let inside = quad.covered >> pixel & 1 == 1;
                let at =
                    if plane.sampling == Sampling::Centroid && !inside { first } else { pixel };
                let x = (quad.x - left) as f32 + (at % 2) as f32 + 0.5;
                let y = (quad.y - top) as f32 + (at / 2) as f32 + 0.5;
                batch.values.push(plane.at(x, y));
            }
        }
    }
    batch
}

/// Four planes `a + b x + c y`, or one value a draw.
struct Planes {
    flat: bool,
    half: bool,
    sampling: Sampling,
    value: [[u32; 3]; 4],
}

impl Planes {
    fn new(
        draw: &mut Draw,
        scalar: Scalar,
        interpolation: Interpolation,
        sampling: Sampling,
    ) -> Planes {
        let flat = interpolation == Interpolation::Flat;
        let value = std::array::from_fn(|_| {
            if flat {
                return [draw.word(scalar), 0, 0];
            }
            let base = if draw.random.percent(mood_boundaries(draw.mood)) {
                draw.float()
            } else {
                draw.random.between(-2.0, 2.0).to_bits()
            };
            let mut slope = || draw.random.between(-0.5, 0.5).to_bits();
            [base, slope(), slope()]
        });
        Planes { flat, half: scalar == Scalar::F16, sampling, value }
    }

    /// f32 bits, f16 bits of an f16 input, or the raw word of a flat one.
    fn at(&self, x: f32, y: f32) -> [u32; 4] {
        self.value.map(|[a, b, c]| {
            if self.flat {
                return a;
            }
            let [a, b, c] = [a, b, c].map(f32::from_bits);
            let value = a + b * x + c * y;
            if self.half {
                return half::f16::from_f32(value).to_bits().into();
            }
            value.to_bits()
        })
    }
}

fn mood_boundaries(mood: Mood) -> u32 {
    match mood {
        Mood::Tame | Mood::Whole => 0,
        Mood::Mixed => 3,
        Mood::Wild => 15,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_always_has_a_partial_quad_and_is_not_empty() {
        for seed in 0..200 {
            let covered = coverage(&mut Random::new(seed, 0));
            assert!(
                (0..16).any(|quad| {
                    let n = quad_mask(covered, quad).count_ones();
                    n > 0 && n < 4
                }),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn draws_start_at_numbers_of_one_two_and_three_bytes() {
        let near = VertexState::default();
        let firsts: Vec<u32> = (0..4).map(|number| first(number, &near).0).collect();
        assert_eq!(firsts, [0, 3, 0, 0x1_0103]);
        // Each has a vertex whose lowest byte, or half, is another's number.
        assert!(firsts[3] % 256 < VERTICES && firsts[3] % 65536 > 255);
    }

    #[test]
    fn four_values_become_a_plane_of_short_numbers() {
        assert_eq!(flattened([0.5, 1.0, 0.25, 9.0]), [0.5, 1.0, 0.25, 0.75]);
        assert_eq!(
            flattened([f32::NAN, 1e9, 0.1, 0.0]),
            [0.0, 64.0, 102.0 / 1024.0, 64.0 + 102.0 / 1024.0]
        );
        let zeros = flattened([-0.0, -1e-9, -f32::MIN_POSITIVE, 0.0]);
        assert_eq!(zeros.map(f32::to_bits), [0; 4]);
    }

    #[test]
    fn planes_are_linear_in_x_and_y() {
        let planes = Planes {
            flat: false,
            half: false,
            sampling: Sampling::Center,
            value: [[1f32, 2.0, 4.0].map(f32::to_bits); 4],
        };
        assert_eq!(planes.at(1.5, 0.5)[0], 6f32.to_bits());
    }
}
