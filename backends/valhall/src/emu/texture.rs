//! Texture instructions: staging words as coordinates, and the shared sampler behind them. isa 1.11.

use super::descriptor;
use super::effect::whole;
use super::inst::{Inst, LodMode, RegFormat, Tex, TexKind, Varying};
use super::rule::{Rule, Trap};
use super::state::Stage;
use super::texel;
use super::value::{Dice, Mask, Why, Word, each};
use super::warp::{Env, Warp};
use gpucc_emu::format::Kind;
use gpucc_emu::image::{Image, Texel};
use gpucc_emu::sampler::{
    FacePoint, Level, Lookup, Position, Sampler, computed_level, gather, sample,
};
use gpucc_ir::ssa::Dim;

/// The staging words of one lane in their order.
struct Words<'a> {
    words: &'a [Word],
    lane: usize,
    next: usize,
}

impl Words<'_> {
    fn take(&mut self) -> u32 {
        self.next += 1;
        self.words[self.next - 1].v[self.lane]
    }

    fn float(&mut self) -> f32 {
        f32::from_bits(self.take())
    }
}

/// Coordinates that a dimension reads: a cube two, its face within the first.
const fn coords(dim: u8) -> usize {
    [1, 2, 3, 2][dim as usize]
}

/// s and t in 0..=1 with the face in the top bits of s: docs/abi-valhall.md, Textures.
fn face_point(s: u32, t: u32) -> FacePoint {
    let magnitude = s & 0x1FFF_FFFF;
    let s01 = if magnitude == 0 { 0 } else { magnitude | 0x2000_0000 };
    FacePoint { s: f32::from_bits(s01) + 1.0, t: f32::from_bits(t) + 1.0, face: (s >> 29).min(5) }
}

/// What one lane asks for.
struct Ask {
    position: Position,
    level: Level,
    layer: i32,
    reference: Option<f32>,
    offset: [i32; 3],
}

impl Warp {
    /// TEX_SINGLE, TEX_FETCH, TEX_GATHER, TEX_GRADIENT.
    pub fn texture(&mut self, env: &mut Env<'_, '_>, inst: &Inst, tex: Tex) -> Result<(), Trap> {
        let words = self.staging(inst.read)?;
        self.sampled(env, inst, tex, words, false)
    }

    /// VAR_TEX_BUF_*: as LD_VAR_BUF of two floats, and what is done with them. The place is the pixel's own.
    pub fn varying_texture(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        tex: Tex,
        how: Varying,
    ) -> Result<(), Trap> {
        let offsets = self.read(env, &inst.sources[1], inst)?;
        let words = self.components_of(inst, &offsets, 2, how)?;
        self.sampled(env, inst, tex, words[..coords(tex.dim)].to_vec(), true)
    }

    /// What the texture unit makes of coordinates and what follows them.
    fn sampled(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        tex: Tex,
        mut words: Vec<Word>,
        varying: bool,
    ) -> Result<(), Trap> {
        let handle = self.read_wide(env, &inst.sources[0], inst)?;
        let (low, high) =
            (self.one_handle(&handle.low, inst)?, self.one_handle(&handle.high, inst)?);
        let (sampler, texture) = if tex.wide {
            (low, high)
        } else if high != 0 {
            let detail = format!("a narrow handle with {high:#x} above it");
            return Err(self.trap(Rule::Descriptor, detail, None));
        } else {
            // Five bits of a table, eleven of an entry. isa 1.11.
            let part = |bits: u32| (bits >> 11 & 31) << 24 | bits & 0x7FF;
            (part(low), part(low >> 16))
        };
        let first = self.active.trailing_zeros() as usize;
        let found = self.described(descriptor::texture(env.state, texture), first)?;
        let sampler = match tex.kind {
            TexKind::Fetch => Sampler::default(),
            _ => self.described(descriptor::sampler(env.state, sampler), first)?,
        };
        let mut undefined = words.iter().fold(0, |mask, word| mask | word.any());
        let implicit = matches!(tex.lod, LodMode::Computed | LodMode::ComputedBias);
        if implicit || matches!(tex.kind, TexKind::Gradient { derivative: false, .. }) {
            self.neighbours(inst)?;
        }
        if implicit {
            if env.state.stage != Stage::Fragment {
                return Err(self.trap(Rule::Helper, inst.name, None));
            }
            undefined |= self.without_neighbours(&mut env.dice, &mut words[..coords(tex.dim)]);
        }
        let mut results = whole(inst.write);
        for lane in each(self.active & !undefined) {
            let mut at = Words { words: &words, lane, next: 0 };
            let value = match (&found, tex.kind) {
                (None, _) => [0; 4],
                (Some((_, image, _)), TexKind::Fetch) => fetch(image, &tex, &mut at),
                (Some((_, image, _)), TexKind::Gradient { no_bias, derivative, .. }) => {
                    let level = if derivative {
                        gradient(image, &tex, &mut at)
                    } else {
                        let (position, [ddx, ddy]) = place_of(&tex, &at);
                        computed_level(image, position, ddx, ddy)
                    };
                    let bias = if no_bias { 0.0 } else { sampler.lod_bias };
                    [(level + 0.0 + bias).to_bits(), 0, 0, 0]
                }
                (Some((_, image, _)), kind) => {
                    let ask = ask(&tex, &sampler, &mut at);
                    let lookup = Lookup {
                        position: ask.position,
                        layer: ask.layer,
                        level: ask.level,
                        reference: ask.reference,
                        offset: ask.offset,
                    };
                    match kind {
                        TexKind::Gather { component, integer: false } => {
                            gather(image, &sampler, &lookup, component)
                        }
                        TexKind::Gather { .. } => {
                            let detail = "no document defines the corner of whole coordinates";
                            return Err(self.trap(Rule::Unsupported, detail, None));
                        }
                        _ => sample(image, &sampler, &lookup),
                    }
                }
            };
            let kind = found.as_ref().map(|(_, image, _)| image.format().kind());
            let raw = matches!(tex.kind, TexKind::Gradient { .. });
            place(&mut results, lane, value, &tex, kind.filter(|_| !raw));
        }
        if tex.skip {
            undefined |= self.fragment.as_ref().map_or(0, |f| f.helpers);
        }
        let why = if implicit { Why::Neighbour } else { Why::Unwritten };
        for result in &mut results {
            result.2 = result.2.spoiled(undefined, why);
        }
        self.send(env, inst, results, None, varying)
    }

    /// Refuses to take anything from lanes that an alpha test may have ended.
    pub fn neighbours(&self, inst: &Inst) -> Result<(), Trap> {
        let tested = self.fragment.as_ref().map_or(0, |fragment| fragment.tested);
        match each(tested & self.active).next() {
            Some(lane) => Err(self.trap(Rule::Neighbours, inst.name, Some(lane))),
            None => Ok(()),
        }
    }

    /// Lanes whose neighbours in the row or column were ended, or are helpers that never ran, or hold nothing.
    ///
    /// A neighbour that stands elsewhere, or that `discard` ended, may be no fault of the program's: flow that is not
    /// uniform leaves derivatives indeterminate, and what the unit finds in that lane gives some level of detail. Here
    /// the dice choose it, so that flow which is uniform in the source and parts lanes here gives another result.
    fn without_neighbours(&self, dice: &mut Dice, words: &mut [Word]) -> Mask {
        let ended = self.fragment.as_ref().map_or(0, |f| f.killed | f.absent);
        let (mut missing, mut around) = (ended & !self.live, 0);
        for word in &*words {
            missing |= word.any() & self.active;
        }
        let mut without = 0;
        for lane in each(self.active) {
            let needed = 1 << (lane ^ 1) | 1 << (lane ^ 2);
            around |= needed & !self.active;
            if missing & needed != 0 {
                without |= 1 << lane;
            }
        }
        for lane in each(around) {
            let quad = self.active & 15 << (lane & !3);
            for word in &mut *words {
                let near = f32::from_bits(word.v[quad.trailing_zeros() as usize]);
                let step = f32::from_bits((127 - dice.below(12) as u32) << 23);
                let away = if dice.coin() { step } else { -step };
                word.v[lane] = (near + away).to_bits();
            }
        }
        without
    }
}

/// The place that the first words name, and how it changes to the right and downwards.
fn place_of(tex: &Tex, at: &Words<'_>) -> (Position, [[f32; 3]; 2]) {
    let n = coords(tex.dim);
    let coordinate = |lane: usize, k: usize| at.words[k].v[lane];
    let (own, right, below) = (at.lane, at.lane ^ 1, at.lane ^ 2);
    if tex.dim == 3 {
        let point = |lane| face_point(coordinate(lane, 0), coordinate(lane, 1));
        let here = point(own);
        let towards = [point(right), point(below)];
        (here.position(), towards.map(|other| here.gradient(&other)))
    } else {
        let value = |lane: usize| -> [f32; 3] {
            std::array::from_fn(|k| if k < n { f32::from_bits(coordinate(lane, k)) } else { 0.0 })
        };
        let across = |step: usize| -> [f32; 3] {
            // Always from the upper or left pixel to the other.
            let (from, to) = (value(own & !step), value(own | step));
            std::array::from_fn(|k| to[k] - from[k])
        };
        (Position::Normalized(value(own)), [across(1), across(2)])
    }
}

/// What the staging words say, in their order: coordinates, layer, reference, offsets, level.
fn ask(tex: &Tex, sampler: &Sampler, at: &mut Words<'_>) -> Ask {
    let (position, [ddx, ddy]) = place_of(tex, at);
    at.next = coords(tex.dim);
    let layer = if tex.array { at.take().min(i32::MAX as u32) as i32 } else { 0 };
    let reference = tex.compare.then(|| at.float());
    let offset = if tex.offset { offsets(at.take()) } else { [0; 3] };
    let fixed = |word: u32| f32::from(word as i16) / 256.0;
    let level = match tex.lod {
        LodMode::Zero => Level::Given(0.0),
        LodMode::Computed => Level::Gradient { ddx, ddy, bias: 0.0 },
        LodMode::ComputedBias => Level::Gradient { ddx, ddy, bias: fixed(at.take()) },
        LodMode::Explicit => Level::Given(fixed(at.take())),
        // What public drivers rely on: the sample adds the bias once more. errata 121b.
        LodMode::Gradient => Level::Given(at.float() + sampler.lod_bias),
    };
    Ask { position, level, layer, reference, offset }
}

fn offsets(word: u32) -> [i32; 3] {
    let [x, y, z, _] = word.to_le_bytes();
    [x, y, z].map(|byte| i32::from(byte as i8))
}

/// The level of detail of derivatives that stand as (dx, dy) of each coordinate.
fn gradient(image: &Image, tex: &Tex, at: &mut Words<'_>) -> f32 {
    let (mut ddx, mut ddy) = ([0.0; 3], [0.0; 3]);
    for k in 0..coords(tex.dim) {
        ddx[k] = at.float();
        ddy[k] = at.float();
    }
    let position = if tex.dim == 3 {
        Position::Face { s: 1.5, t: 1.5, face: 0 }
    } else {
        Position::Normalized([0.0; 3])
    };
    computed_level(image, position, ddx, ddy)
}

/// One texel; outside of the texture 0.
fn fetch(image: &Image, tex: &Tex, at: &mut Words<'_>) -> [u32; 4] {
    let mut c = [0i64; 3];
    for place in c.iter_mut().take(coords(tex.dim)) {
        *place = i64::from(at.take() as i32);
    }
    let mut texel = Texel::default();
    let layer = if tex.array { at.take() } else { 0 };
    if tex.offset {
        let word = at.take();
        let offset = offsets(word);
        let samples = image.extent().samples > 1;
        for k in 0..3 {
            // The third byte is the sample where there are several.
            if k < 2 || !samples {
                c[k] += i64::from(offset[k]);
            }
        }
        if samples {
            texel.sample = word >> 16 & 0xFF;
        }
        texel.level = word >> 24;
    }
    let natural = |v: i64| u32::try_from(v).ok();
    let (Some(x), Some(y), Some(z)) = (natural(c[0]), natural(c[1]), natural(c[2])) else {
        return [0; 4];
    };
    (texel.x, texel.layer) = (x, layer);
    match image.extent().dim {
        Dim::D1 => {}
        Dim::D2 | Dim::Cube => texel.y = y,
        Dim::D3 => (texel.y, texel.z) = (y, z),
    }
    image.load(texel).unwrap_or([0; 4])
}

/// The components of the mask, one after the other, as registers of 32 or 16 bits.
fn place(
    results: &mut [(u8, u8, Word)],
    lane: usize,
    value: [u32; 4],
    tex: &Tex,
    kind: Option<Kind>,
) {
    let format = match kind {
        _ if tex.full => RegFormat::U32,
        Some(Kind::Uint) => RegFormat::U16,
        Some(Kind::Sint) => RegFormat::S16,
        _ => RegFormat::F16,
    };
    let mut written = 0;
    for (k, &component) in value.iter().enumerate() {
        if tex.mask >> k & 1 == 0 {
            continue;
        }
        let v = texel::component(component, format);
        if tex.full {
            results[written].2.v[lane] = v;
        } else {
            results[written / 2].2.v[lane] |= v << (16 * (written % 2));
        }
        written += 1;
    }
    if !tex.full && written % 2 == 1 {
        // Nothing fills the last half.
        let last = &mut results[written / 2].2;
        for byte in 2..4 {
            last.poison[byte] |= 1 << lane;
        }
        last.why = Why::Open;
    }
}
