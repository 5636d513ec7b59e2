//! The one definition of what a sampled value is, shared by the interpreter and every emulator.
//!
//! All arithmetic is f32, each operation rounded to nearest even by itself, in the order given.
//!
//! # Level of detail
//! 1. From gradients: with `w, h, d` the size of level 0, `px = ddx * (w, h, d)` and
//!    `py = ddy * (w, h, d)` by component; `rx = px.x*px.x + px.y*px.y + px.z*px.z`, summed left to
//!    right, `ry` likewise; `rho = max(rx, ry)`; `level = log2(rho) / 2`, where [`log2_256`] gives
//!    eight bits after the point, truncated. Then `level + bias + sampler bias`. NaN is level 0.
//! 2. Given levels are taken as they are.
//! 3. Clamp to the sampler's range. `level <= 0` uses the magnification filter.
//! 4. Clamp to `0 ..= levels - 1`. Nearest mip: `floor(level + 0.5)`. Linear mip: the levels
//!    `n = floor(level)` and `n + 1`, mixed by `level - n`.
//!
//! # Texels
//! `u = s * size + offset` on each axis (unnormalised coordinates: `u = s + offset`). Nearest takes
//! `floor(u)`; linear rounds `u - 0.5` to [`STEPS`] places in a texel, a tie upwards, takes `n = floor` of it
//! and `n + 1`, and mixes by the fraction: drivers of both makers publish eight bits within a texel
//! (Vulkan, `subTexelPrecisionBits`). Wrapping acts on the integers. `mix(a, b, f)` is `a` when `f` is 0, else `a + (b - a) * f`; x is mixed
//! before y before z before levels. Integer formats are always nearest. Anisotropy is ignored.
//!
//! # Comparison
//! Each texel becomes 1.0 or 0.0 by `reference OP texel` before it is mixed; the reference is
//! clamped to 0..=1 for unorm depth. The result is (value, 0, 0, 1).
//!
//! # Cubes
//! The face is that of the largest coordinate by magnitude; z wins over y and y over x when they
//! tie. `r = 1 / |2 * major|`, `s = sc * r + 1.5`, `t = tc * r + 1.5`, and the position on the face is
//! `(s - 1, t - 1)`: so a machine that computes these itself gets the same bits. Footprints that
//! leave a face continue on its neighbour; a corner takes the texel across the s edge.
//!
//! Explicit gradients of a direction are taken to the face by the quotient rule: with `sc' tc' ma'`
//! the gradient of each, `ds = (sc' - (2s - 3) * |ma|') * r`, the same for t.
//!
//! Implicit gradients are differences of (s, t) on the pixel's *own* face ([`FacePoint::gradient`]):
//! each pixel of a quad computes its s, t and face, and the gradient towards the other pixel of its
//! row (column) is that pixel's (s, t) minus its own. Where the other pixel is on another face, its
//! point there, `(2s - 3, 2t - 3)` across and down and 1 along the axis, is first projected onto the
//! plane of the own face: with `sc tc ma` its components there, `s = sc * r + 1.5`, `r = 1 / (2 * ma)`.
//! A point that is not before that plane (`ma <= 0`) counts as one whole face away, (1, 1). So a
//! level never jumps at an edge, and every machine that hands s, t and face to its texture unit
//! finds the same bits.

use crate::format::Kind;
use crate::image::{Image, Texel};
use gpucc_ir::ssa::{Dim, cube, sampler_modes as modes};

/// Places within a texel that a linear filter tells apart on each axis.
pub const STEPS: f32 = 256.0;

/// What happens to texel numbers outside of a level.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Start again.
    Repeat,
    /// Go back and forth.
    Mirror,
    /// The nearest texel inside.
    #[default]
    Clamp,
    /// Mirrored once at 0, then the nearest inside.
    MirrorOnce,
    /// The border colour.
    Border,
    /// Mirrored once at 0, then the border colour.
    MirrorOnceBorder,
}

/// How texels of one level are combined.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest.
    #[default]
    Nearest,
    /// The surrounding ones, weighted.
    Linear,
}

/// How levels are combined.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum MipFilter {
    /// Level 0 alone.
    None,
    /// The nearest.
    #[default]
    Nearest,
    /// The two around, weighted.
    Linear,
}

/// A comparison: `reference OP texel`, and `fragment OP stored` for depth tests.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// False.
    Never,
    /// `<`
    Less,
    /// `==`
    Equal,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `!=`
    NotEqual,
    /// `>=`
    GreaterEqual,
    /// True.
    Always,
}

impl Compare {
    /// Names as WebGPU spells them.
    pub fn from_name(name: &str) -> Option<Compare> {
        Some(match name {
            "never" => Compare::Never,
            "less" => Compare::Less,
            "equal" => Compare::Equal,
            "less-equal" => Compare::LessEqual,
            "greater" => Compare::Greater,
            "not-equal" => Compare::NotEqual,
            "greater-equal" => Compare::GreaterEqual,
            "always" => Compare::Always,
            _ => return None,
        })
    }

    /// `left OP right`; NaN fails all but `NotEqual` and `Always`.
    pub fn test(self, left: f32, right: f32) -> bool {
        match self {
            Compare::Never => false,
            Compare::Less => left < right,
            Compare::Equal => left == right,
            Compare::LessEqual => left <= right,
            Compare::Greater => left > right,
            Compare::NotEqual => left != right,
            Compare::GreaterEqual => left >= right,
            Compare::Always => true,
        }
    }
}

/// A sampler.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Sampler {
    /// By axis.
    pub wrap: [Wrap; 3],
    /// Magnification.
    pub mag: Filter,
    /// Minification.
    pub min: Filter,
    /// Between levels.
    pub mip: MipFilter,
    /// Smallest level.
    pub lod_min: f32,
    /// Largest level.
    pub lod_max: f32,
    /// Added to levels that come from gradients.
    pub lod_bias: f32,
    /// Comparison of depth.
    pub compare: Option<Compare>,
    /// f32 bits or integers, by the format of the texture.
    pub border: [u32; 4],
}

impl Default for Sampler {
    /// WebGPU's default: nearest, clamped.
    fn default() -> Self {
        Sampler {
            wrap: [Wrap::Clamp; 3],
            mag: Filter::Nearest,
            min: Filter::Nearest,
            mip: MipFilter::Nearest,
            lod_min: 0.0,
            lod_max: 32.0,
            lod_bias: 0.0,
            compare: None,
            border: [0; 4],
        }
    }
}

impl Sampler {
    /// Linear within and between levels, with one wrap mode.
    pub fn linear(wrap: Wrap) -> Sampler {
        Sampler {
            wrap: [wrap; 3],
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: MipFilter::Linear,
            ..Sampler::default()
        }
    }

    /// Nearest, with one wrap mode.
    pub fn nearest(wrap: Wrap) -> Sampler {
        Sampler { wrap: [wrap; 3], ..Sampler::default() }
    }

    /// The same wraps, border and comparison over single texels of level 0.
    #[must_use]
    pub fn of_texels(&self) -> Sampler {
        Sampler {
            mag: Filter::Nearest,
            min: Filter::Nearest,
            mip: MipFilter::None,
            lod_min: 0.0,
            lod_max: 0.0,
            lod_bias: 0.0,
            ..*self
        }
    }

    /// A word of it as a program may ask for it ([`TexQuery::Sampler`](gpucc_ir::ssa::TexQuery)); 0 of a number that there is not.
    pub fn word(&self, number: u32) -> u32 {
        match number {
            0 => self.modes(),
            1 => self.lod_min.to_bits(),
            2 => self.lod_max.to_bits(),
            3 => self.lod_bias.to_bits(),
            4..8 => self.border[number as usize - 4],
            _ => 0,
        }
    }

    fn modes(&self) -> u32 {
        let compare = self.compare.unwrap_or(Compare::Never);
        // Less, equal, greater, and with a NaN.
        let pairs = [(0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (f32::NAN, 0.0)];
        let held = (0..).zip(pairs).filter(|&(_, (left, right))| compare.test(left, right));
        let mut modes = held.fold(0, |bits, (bit, _)| bits | modes::LESS << bit);
        if self.mag == Filter::Linear {
            modes |= modes::MAG_LINEAR;
        }
        if self.min == Filter::Linear {
            modes |= modes::MIN_LINEAR;
        }
        modes |= match self.mip {
            MipFilter::None => modes::MIP_NONE,
            MipFilter::Nearest => 0,
            MipFilter::Linear => modes::MIP_LINEAR,
        };
        for (axis, wrap) in (0..).zip(self.wrap) {
            let mode = match wrap {
                Wrap::Repeat => modes::REPEATS,
                Wrap::Mirror => modes::MIRRORS,
                Wrap::Clamp => 0,
                Wrap::MirrorOnce => modes::MIRRORS_ONCE,
                Wrap::Border => modes::BORDER,
                Wrap::MirrorOnceBorder => modes::MIRRORS_ONCE | modes::BORDER,
            };
            modes |= mode << (modes::WRAP + axis * modes::WRAP_BITS);
        }
        modes
    }
}

/// Where to sample.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Position {
    /// The texture's own coordinates, 0..1 across it; a direction for a cube.
    Normalized([f32; 3]),
    /// In texels of the level.
    Texels([f32; 3]),
    /// A cube's face and the position on it, 1..2 across, as the cube instruction gives it.
    Face {
        /// Across.
        s: f32,
        /// Down.
        t: f32,
        /// 0..=5: +x -x +y -y +z -z.
        face: u32,
    },
}

/// Which level.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Level {
    /// From gradients of the position (a cube's face: of s and t).
    Gradient {
        /// d position / dx.
        ddx: [f32; 3],
        /// d position / dy.
        ddy: [f32; 3],
        /// Added to the level.
        bias: f32,
    },
    /// Given.
    Given(f32),
}

/// One sample.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Lookup {
    /// Where.
    pub position: Position,
    /// Array layer (cube arrays: cube), clamped to those that exist.
    pub layer: i32,
    /// Which level.
    pub level: Level,
    /// Reference of a comparison; the sampler says which.
    pub reference: Option<f32>,
    /// In texels.
    pub offset: [i32; 3],
}

/// Clamps coordinates to half a texel from the edges of level 0: `h = 0.5 / size`, then
/// `min(max(c, h), 1 - h)`; NaN becomes h.
pub fn clamp_to_edge(image: &Image, mut coords: [f32; 3]) -> [f32; 3] {
    let size = image.size(0);
    for (c, n) in coords.iter_mut().zip(size) {
        let half = 0.5 / n as f32;
        let low = if *c > half { *c } else { half };
        let high = 1.0 - half;
        *c = if low < high { low } else { high };
    }
    coords
}

/// `floor(256 * log2(x)) / 256` of a positive finite number by repeated squaring of a 32-bit
/// fraction, truncated at each step. 0 gives -1000, infinity 1000.
pub fn log2_256(x: f32) -> f32 {
    if x.is_nan() {
        return 0.0;
    }
    if x <= 0.0 {
        return -1000.0;
    }
    if x.is_infinite() {
        return 1000.0;
    }
    let bits = f64::from(x).to_bits();
    let mut whole = (bits >> 52) as i32 - 1023;
    // 1.31 fixed point, in 1..2.
    let mut fraction = (bits >> 21 & 0x7FFF_FFFF) | 1 << 31;
    for _ in 0..8 {
        fraction = (fraction * fraction) >> 31;
        whole *= 2;
        if fraction >= 1 << 32 {
            fraction >>= 1;
            whole += 1;
        }
    }
    whole as f32 / 256.0
}

/// A direction's face and position: (s, t, face, r), s and t in 1..2, r = 1 / |2 * major|.
pub fn cube_face([x, y, z]: [f32; 3]) -> (f32, f32, u32, f32) {
    let (sc, tc, major, face) = cube::axes([x, y, z], [x, y, z]);
    let r = 1.0 / (2.0 * major).abs();
    (sc * r + 1.5, tc * r + 1.5, face, r)
}

/// A point on a face of a cube.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct FacePoint {
    /// Across, 1..2 on the face.
    pub s: f32,
    /// Down, 1..2 on the face.
    pub t: f32,
    /// 0..=5: +x -x +y -y +z -z.
    pub face: u32,
}

impl FacePoint {
    /// Where a direction meets the cube.
    pub fn of(direction: [f32; 3]) -> FacePoint {
        let (s, t, face, _) = cube_face(direction);
        FacePoint { s, t, face }
    }

    /// From s, t and the face as a number, which is rounded and taken modulo 8 (above it a machine
    /// may keep the layer).
    pub fn from_numbers([s, t, face]: [f32; 3]) -> FacePoint {
        let number = face.round_ties_even().max(0.0) as u32;
        FacePoint { s, t, face: (number % 8).min(5) }
    }

    /// As a place to sample.
    pub fn position(&self) -> Position {
        Position::Face { s: self.s, t: self.t, face: self.face }
    }

    /// The gradient of s and t towards another pixel of the quad: see the module, "Cubes".
    pub fn gradient(&self, other: &FacePoint) -> [f32; 3] {
        if other.face == self.face {
            return [other.s - self.s, other.t - self.t, 0.0];
        }
        let on_axis = |c: f32| f64::from(2.0 * c - 3.0);
        let seen = face_direction(other.face, on_axis(other.s), on_axis(other.t));
        let (s, t, major) = cube::components(self.face, seen.map(|v| v as f32));
        let before = if self.face & 1 == 1 { -major } else { major };
        if before > 0.0 {
            let r = 1.0 / (2.0 * before);
            [s * r + 1.5 - self.s, t * r + 1.5 - self.t, 0.0]
        } else {
            [1.0, 1.0, 0.0]
        }
    }
}

/// The direction to a point of a face: a and b in -1..1 along s and t.
fn face_direction(face: u32, a: f64, b: f64) -> [f64; 3] {
    match face {
        0 => [1.0, -b, -a],
        1 => [-1.0, -b, a],
        2 => [a, 1.0, b],
        3 => [a, -1.0, -b],
        4 => [a, -b, 1.0],
        _ => [-a, -b, -1.0],
    }
}

/// The level that a sample would take.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct QueriedLevel {
    /// Behind the clamps to the sampler's range and to the image's levels, rounded where the sampler takes the nearest level.
    pub taken: f32,
    /// The same level before it was rounded.
    pub clamped: f32,
    /// Before the clamps, with all biases.
    pub computed: f32,
    /// The rounding changed it. APIs want the rounded level; a texture unit may give the one before, which no program can
    /// round: it does not see the sampler.
    pub rounded: bool,
}

/// What a query of the level of detail gives (Vulkan, 16.5.7, "LOD operation" and "image level selection"): steps 1 to 4 of
/// the module.
pub fn queried_level(image: &Image, sampler: &Sampler, lookup: &Lookup) -> QueriedLevel {
    let computed = unclamped_level(image, sampler, lookup);
    let level = level_of_detail(image, sampler, lookup);
    let top = (image.extent().levels - 1) as f32;
    let clamped = if level > 0.0 { level.min(top) } else { 0.0 };
    let taken = match sampler.mip {
        MipFilter::None => 0.0,
        MipFilter::Nearest => (clamped + 0.5).floor().min(top),
        MipFilter::Linear => clamped,
    };
    QueriedLevel { taken, clamped, computed, rounded: taken != clamped }
}

/// The level of detail before the image's own range: see the module.
pub fn level_of_detail(image: &Image, sampler: &Sampler, lookup: &Lookup) -> f32 {
    let unclamped = unclamped_level(image, sampler, lookup);
    let low = if unclamped > sampler.lod_min { unclamped } else { sampler.lod_min };
    if low < sampler.lod_max { low } else { sampler.lod_max }
}

/// Steps 1 and 2 of the module.
fn unclamped_level(image: &Image, sampler: &Sampler, lookup: &Lookup) -> f32 {
    match lookup.level {
        Level::Given(level) => {
            if level.is_nan() {
                0.0
            } else {
                level
            }
        }
        Level::Gradient { ddx, ddy, bias } => {
            computed_level(image, lookup.position, ddx, ddy) + bias + sampler.lod_bias
        }
    }
}

/// The level from gradients, without biases and clamps.
pub fn computed_level(image: &Image, position: Position, ddx: [f32; 3], ddy: [f32; 3]) -> f32 {
    let mut size = image.size(0).map(|n| n as f32);
    let dims = image.extent().dim.coords();
    let (mut ddx, mut ddy) = (ddx, ddy);
    match position {
        Position::Normalized(direction) if image.extent().dim == Dim::Cube => {
            let (s, t, _, r) = cube_face(direction);
            for d in [&mut ddx, &mut ddy] {
                let (sc, tc, ma, face) = cube::axes(direction, *d);
                let ma = if face & 1 == 1 { -ma } else { ma };
                // Of the face's width: half of what sc / ma gives, and r is half of 1 / ma.
                *d = [(sc - (2.0 * s - 3.0) * ma) * r, (tc - (2.0 * t - 3.0) * ma) * r, 0.0];
            }
            size[2] = 0.0;
        }
        Position::Normalized(_) => {}
        Position::Texels(_) => size = [1.0; 3],
        Position::Face { .. } => size[2] = 0.0,
    }
    let length = |d: [f32; 3]| {
        let p = |c: usize| if c < dims { d[c] * size[c] } else { 0.0 };
        let (x, y, z) = (p(0), p(1), p(2));
        x * x + y * y + z * z
    };
    let (rx, ry) = (length(ddx), length(ddy));
    log2_256(if ry > rx { ry } else { rx }) / 2.0
}

/// Samples: four components, f32 bits or integers by the format.
pub fn sample(image: &Image, sampler: &Sampler, lookup: &Lookup) -> [u32; 4] {
    let level = level_of_detail(image, sampler, lookup);
    let filter = if level <= 0.0 { sampler.mag } else { sampler.min };
    let top = image.extent().levels - 1;
    let clamped = if level > 0.0 { level.min(top as f32) } else { 0.0 };
    let integer = image.format().kind().is_integer();
    let taps = |level: u32| filter_level(image, sampler, lookup, filter, level);
    match sampler.mip {
        MipFilter::None => taps(0),
        MipFilter::Nearest => taps(((clamped + 0.5).floor() as u32).min(top)),
        MipFilter::Linear if integer => taps(((clamped + 0.5).floor() as u32).min(top)),
        MipFilter::Linear => {
            let below = clamped.floor();
            let fraction = clamped - below;
            let first = taps(below as u32);
            if fraction == 0.0 {
                return first;
            }
            let second = taps((below as u32 + 1).min(top));
            mix4(first, second, fraction)
        }
    }
}

/// Four texels of one component around a position of level 0: (0,1) (1,1) (1,0) (0,0). With a
/// reference each is compared.
pub fn gather(image: &Image, sampler: &Sampler, lookup: &Lookup, component: u8) -> [u32; 4] {
    let place = Place::new(image, lookup, 0);
    let mut first = [0i64; 3];
    for (axis, first) in first.iter_mut().enumerate().take(2) {
        *first = (place.u[axis] - 0.5).floor() as i64;
    }
    let component = if lookup.reference.is_some() { 0 } else { usize::from(component & 3) };
    [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(x, y)| {
        let at = [first[0].saturating_add(x), first[1].saturating_add(y), 0];
        tap(image, sampler, lookup, &place, at)[component]
    })
}

/// A position in texels of one level.
struct Place {
    u: [f32; 3],
    /// Layer or, for a cube, first layer of the cube.
    layer: u32,
    face: Option<u32>,
    level: u32,
    /// Axes that are filtered.
    axes: usize,
}

impl Place {
    fn new(image: &Image, lookup: &Lookup, level: u32) -> Place {
        let size = image.size(level);
        let cube = image.extent().dim == Dim::Cube;
        let groups = if cube { image.extent().layers / 6 } else { image.extent().layers };
        let mut layer = (lookup.layer.max(0) as u32).min(groups - 1);
        if cube {
            layer *= 6;
        }
        let axes = if cube { 2 } else { image.extent().dim.coords() };
        let offset = lookup.offset.map(|o| o as f32);
        let scaled = |c: [f32; 3]| {
            let mut u = [0.0; 3];
            for axis in 0..axes {
                u[axis] = c[axis] * size[axis] as f32 + offset[axis];
            }
            u
        };
        let (u, face) = match lookup.position {
            Position::Normalized(direction) if cube => {
                let (s, t, face, _) = cube_face(direction);
                (scaled([s - 1.0, t - 1.0, 0.0]), Some(face))
            }
            Position::Normalized(c) => (scaled(c), None),
            Position::Texels(c) => {
                let mut u = [0.0; 3];
                for axis in 0..axes {
                    u[axis] = c[axis] + offset[axis];
                }
                (u, cube.then_some(0))
            }
            Position::Face { s, t, face } => {
                (scaled([s - 1.0, t - 1.0, 0.0]), cube.then_some(face.min(5)))
            }
        };
        // NaN falls to the first texel when it becomes an integer.
        Place { u, layer, face, level, axes }
    }
}

fn filter_level(
    image: &Image,
    sampler: &Sampler,
    lookup: &Lookup,
    filter: Filter,
    level: u32,
) -> [u32; 4] {
    let place = Place::new(image, lookup, level);
    let integer = image.format().kind().is_integer();
    let result = if filter == Filter::Nearest || integer {
        let mut at = [0i64; 3];
        for (axis, at) in at.iter_mut().enumerate().take(place.axes) {
            *at = place.u[axis].floor() as i64;
        }
        tap(image, sampler, lookup, &place, at)
    } else {
        let mut first = [0i64; 3];
        let mut fraction = [0f32; 3];
        for axis in 0..place.axes {
            let shifted = snap(place.u[axis] - 0.5);
            first[axis] = shifted.floor() as i64;
            fraction[axis] = if shifted.is_finite() { shifted - shifted.floor() } else { 0.0 };
        }
        let [x, y, z] = first;
        let row = |y: i64, z: i64| {
            let a = tap(image, sampler, lookup, &place, [x, y, z]);
            if fraction[0] == 0.0 {
                return a;
            }
            let b = tap(image, sampler, lookup, &place, [x.saturating_add(1), y, z]);
            mix4(a, b, fraction[0])
        };
        let plane = |z: i64| {
            let a = row(y, z);
            if fraction[1] == 0.0 {
                return a;
            }
            mix4(a, row(y.saturating_add(1), z), fraction[1])
        };
        let a = plane(z);
        if fraction[2] == 0.0 { a } else { mix4(a, plane(z.saturating_add(1)), fraction[2]) }
    };
    if lookup.reference.is_some() && sampler.compare.is_some() {
        return [result[0], 0, 0, 1f32.to_bits()];
    }
    result
}

/// The nearest of the places that a linear filter tells apart. What is too large to have a fraction stays.
fn snap(texels: f32) -> f32 {
    let steps = texels * STEPS;
    if steps.is_finite() { (steps + 0.5).floor() / STEPS } else { texels }
}

fn mix4(a: [u32; 4], b: [u32; 4], f: f32) -> [u32; 4] {
    let mut out = a;
    for c in 0..4 {
        let (x, y) = (f32::from_bits(a[c]), f32::from_bits(b[c]));
        out[c] = (x + (y - x) * f).to_bits();
    }
    out
}

/// One texel after wrapping and comparison.
fn tap(image: &Image, sampler: &Sampler, lookup: &Lookup, place: &Place, at: [i64; 3]) -> [u32; 4] {
    let size = image.size(place.level);
    let mut texel = Texel { level: place.level, layer: place.layer, ..Texel::default() };
    let loaded = if let Some(face) = place.face {
        let (face, x, y) = cross_edges(face, at[0], at[1], i64::from(size[0]));
        (texel.x, texel.y) = (x, y);
        texel.layer += face;
        image.load(texel)
    } else {
        let mut wrapped = [Some(0u32); 3];
        for axis in 0..place.axes {
            wrapped[axis] = wrap(sampler.wrap[axis], at[axis], i64::from(size[axis]));
        }
        match wrapped {
            [Some(x), Some(y), Some(z)] => {
                (texel.x, texel.y, texel.z) = (x, y, z);
                image.load(texel)
            }
            _ => None,
        }
    };
    let value = loaded.unwrap_or(sampler.border);
    match (lookup.reference, sampler.compare) {
        (Some(reference), Some(compare)) => {
            let reference = if image.format().kind() == Kind::Unorm {
                if reference > 0.0 { reference.min(1.0) } else { 0.0 }
            } else {
                reference
            };
            let passes = compare.test(reference, f32::from_bits(value[0]));
            let word = f32::from(u8::from(passes)).to_bits();
            [word, word, word, word]
        }
        _ => value,
    }
}

/// The texel number within `0..n`, or `None` for the border.
fn wrap(mode: Wrap, at: i64, n: i64) -> Option<u32> {
    let inside = |at: i64| (0..n).contains(&at).then_some(at as u32);
    // -1 mirrors to 0.
    let mirrored = if at < 0 { -1 - at } else { at };
    match mode {
        Wrap::Repeat => Some(at.rem_euclid(n) as u32),
        Wrap::Mirror => {
            let m = at.rem_euclid(2 * n);
            Some(if m < n { m } else { 2 * n - 1 - m } as u32)
        }
        Wrap::Clamp => Some(at.clamp(0, n - 1) as u32),
        Wrap::MirrorOnce => Some(mirrored.clamp(0, n - 1) as u32),
        Wrap::Border => inside(at),
        Wrap::MirrorOnceBorder => inside(mirrored),
    }
}

/// Face and texel of a footprint that may leave its face by one texel.
fn cross_edges(face: u32, x: i64, y: i64, n: i64) -> (u32, u32, u32) {
    let (x, y) = (x.clamp(-1, n), y.clamp(-1, n));
    let inside = |v: i64| (0..n).contains(&v);
    if inside(x) && inside(y) {
        return (face, x as u32, y as u32);
    }
    let y = if inside(x) { y } else { y.clamp(0, n - 1) };
    let along = |v: i64| (2 * v + 1) as f64 / n as f64 - 1.0;
    let direction = face_direction(face, along(x), along(y));
    // Narrowing keeps which is largest: they differ by 1/n, and n is below 2^17.
    let narrow = direction.map(|v| v as f32);
    let (sc, tc, ma, face) = cube::axes(narrow, narrow);
    let texel = |c: f32| {
        let u = (f64::from(c) / f64::from(ma.abs()) + 1.0) / 2.0 * n as f64;
        (u.floor() as i64).clamp(0, n - 1) as u32
    };
    (face, texel(sc), texel(tc))
}

#[cfg(test)]
mod tests;
