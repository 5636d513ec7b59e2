//! Vertex and texture fetches. R700 ISA chapters 5 and 6, register guide chapter 5. What a sampled value
//! is stands in the shared sampler.

use super::decode::{Fetch, TextureFetch, VertexFetch};
use super::formats::{convert, data_format};
use super::lanes::{Word, each, quads};
use super::rule::{Rule, Trap};
use super::state::{BufferResource, FetchResource, FetchSource, Stage, State};
use super::wave::Wave;
use gpucc_emu::image::{Image, Texel};
use gpucc_emu::sampler::{FacePoint, Level, Lookup, Position, Sampler, queried_level, sample};
use gpucc_ir::ssa::Dim;

/// TEX_INST.
mod op {
    pub const LD: u32 = 3;
    pub const RESINFO: u32 = 4;
    pub const SAMPLES: u32 = 5;
    pub const COMPUTED_LOD: u32 = 6;
    pub const GRADIENTS_H: u32 = 7;
    pub const GRADIENTS_V: u32 = 8;
    pub const LERP: u32 = 9;
    pub const KEEP: u32 = 10;
    pub const CUBEMAP: u32 = 14;
    pub const SET_H: u32 = 11;
    pub const SET_V: u32 = 12;
    pub const PASS: u32 = 13;
    pub const SAMPLE: u32 = 16;
    pub const SAMPLE_L: u32 = 17;
    pub const SAMPLE_LB: u32 = 18;
    pub const SAMPLE_LZ: u32 = 19;
    pub const SAMPLE_G: u32 = 20;
    pub const SAMPLE_C: u32 = 24;
    pub const SAMPLE_C_L: u32 = 25;
    pub const SAMPLE_C_LB: u32 = 26;
    pub const SAMPLE_C_LZ: u32 = 27;
    pub const SAMPLE_C_G: u32 = 28;
}

impl Wave<'_> {
    /// One instruction of a fetch clause.
    pub fn fetch(&mut self, inst: &Fetch, lanes: u64, offset: u32) -> Result<(), Trap> {
        match inst {
            Fetch::Vertex(v) => self.vertex_fetch(v, lanes, offset),
            Fetch::Texture(t) => self.texture_fetch(t, lanes, offset),
            Fetch::Memory(m) => self.memory_read(m, lanes, offset),
            Fetch::ShareWrite(s) => self.share_write(s, lanes, offset),
            Fetch::ShareRead(s) => self.share_read(s, lanes, offset),
        }
    }

    /// A register with the loop index added: reads outside of the declared ones give R0, writes none.
    fn relative(&self, gpr: u32, rel: bool) -> Option<u32> {
        if !rel {
            return Some(gpr);
        }
        let at = i64::from(gpr) + i64::from(self.loop_index);
        (0..i64::from(self.gprs)).contains(&at).then_some(at as u32)
    }

    /// The bindings that an instruction means: its own kind's, or with ALT_CONST those of the other.
    pub fn bound(&self, alternate: bool, offset: u32) -> Result<&'_ State, Trap> {
        if !alternate {
            return Ok(self.state);
        }
        self.state.alternate.as_deref().ok_or_else(|| {
            let detail = "ALT_CONST, and no other kind of program is bound";
            Trap::new(Rule::State, offset, detail)
        })
    }

    /// A program reads resources of its own kind's part of the table. R700 ISA 10.4, RESOURCE_ID.
    fn within(state: &State, number: u32, offset: u32) -> Result<(), Trap> {
        let most = match state.stage {
            Stage::Pixel | Stage::Geometry => 160,
            Stage::Compute | Stage::Vertex | Stage::Export => 176,
        };
        if number < most {
            return Ok(());
        }
        let detail = format!("resource {number}, and its kind of program has {most}");
        Err(Trap::new(Rule::ResourceRange, offset, detail))
    }

    fn vertex_fetch(&mut self, inst: &VertexFetch, lanes: u64, offset: u32) -> Result<(), Trap> {
        let state = self.state;
        let from = match &state.alternate {
            Some(alternate) if inst.alternate => alternate,
            _ => {
                self.bound(inst.alternate, offset)?;
                state
            }
        };
        Self::within(from, inst.buffer, offset)?;
        let Some(FetchResource::Buffer(resource)) = from.resources.get(&inst.buffer) else {
            let detail = format!("resource {} is not a buffer", inst.buffer);
            return Err(Trap::new(Rule::Resource, offset, detail));
        };
        let (code, number, signed, srf) = if inst.use_constant {
            resource.format.ok_or_else(|| {
                let detail = format!("resource {} has no format", inst.buffer);
                Trap::new(Rule::FetchFormat, offset, detail)
            })?
        } else {
            (inst.format, inst.number, inst.signed, inst.srf)
        };
        let Some(format) = data_format(code) else {
            let detail = format!("DATA_FORMAT {code}");
            return Err(Trap::new(Rule::FetchFormat, offset, detail));
        };
        if inst.mega && inst.mega_bytes < format.bytes() {
            let detail = format!("{} bytes for {}", inst.mega_bytes, format.bytes());
            return Err(Trap::new(Rule::MegaFetch, offset, detail));
        }
        let source = self.relative(inst.src.0, inst.src_rel).unwrap_or(0);
        let index = self.registers[(source * 4 + inst.src.1) as usize];
        self.observed(&index, lanes, offset, "the index of a fetch")?;
        let first = match inst.kind {
            0 => state.first_vertex,
            1 => state.first_instance,
            _ => 0,
        };
        let stride = if inst.no_stride { 0 } else { resource.stride };
        let mut values = [Word::splat(0); 4];
        for lane in each(lanes) {
            let index = index.v[lane].wrapping_add(first);
            let at = u64::from(index) * u64::from(stride) + u64::from(inst.offset);
            let Some(bytes) = self.bytes(resource, at, format.bytes(), offset)? else {
                continue;
            };
            let read = convert(&format, number, signed, srf, inst.endian, &bytes);
            for (value, word) in values.iter_mut().zip(read) {
                value.v[lane] = word;
            }
        }
        if let Some(dst) = self.relative(inst.dst, inst.dst_rel) {
            let components = format.components();
            self.write_fetched(dst, &inst.swizzle, &values, components, lanes, offset);
        }
        Ok(())
    }

    /// Up to 16 bytes of a buffer; `None` where the element is not wholly inside.
    fn bytes(
        &self,
        resource: &BufferResource,
        at: u64,
        len: u32,
        offset: u32,
    ) -> Result<Option<[u8; 16]>, Trap> {
        let mut out = [0u8; 16];
        let end = at + u64::from(len);
        match &resource.source {
            FetchSource::Bytes(bytes) => {
                if end > bytes.len() as u64 {
                    return Ok(None);
                }
                let (at, len) = (at as usize, len as usize);
                out[..len].copy_from_slice(&bytes[at..at + len]);
            }
            FetchSource::Aperture { start, size } => {
                if end > u64::from(*size) {
                    return Ok(None);
                }
                for (n, byte) in out.iter_mut().enumerate().take(len as usize) {
                    let place = u64::from(*start) + at + n as u64;
                    let word = (place / 4) as usize;
                    if self.memory.wrote(word, self.number) {
                        let detail = "a vertex fetch goes through a cache that does not see it";
                        return Err(Trap::new(Rule::Uncached, offset, detail));
                    }
                    let word = self.memory.words.get(word).copied().unwrap_or(0);
                    *byte = word.to_le_bytes()[(place % 4) as usize];
                }
            }
        }
        Ok(Some(out))
    }

    fn texture_fetch(&mut self, inst: &TextureFetch, lanes: u64, offset: u32) -> Result<(), Trap> {
        let gpr = self.relative(inst.src, inst.src_rel).unwrap_or(0);
        let source: [Word; 4] = std::array::from_fn(|c| match inst.src_swizzle[c] {
            select @ 0..4 => self.registers[(gpr * 4 + select) as usize],
            4 => Word::splat(0),
            _ => Word::splat(1f32.to_bits()),
        });
        let values = match inst.op {
            op::SET_H | op::SET_V => {
                let place = (inst.op - op::SET_H) as usize;
                self.gradients[place] = [source[0], source[1], source[2]];
                return Ok(());
            }
            op::KEEP => {
                // Keeps what SAMPLE would compute, for a SAMPLE_G behind it; returns nothing of use.
                if self.state.stage != Stage::Pixel {
                    let detail = "gradients belong to quads of pixels";
                    return Err(Trap::new(Rule::ComputedLod, offset, detail));
                }
                for vertical in [false, true] {
                    let kept = [0, 1, 2].map(|c| self.gradient(&source[c], vertical));
                    self.gradients[usize::from(vertical)] = kept;
                }
                if inst.swizzle.iter().any(|&select| select < 4) {
                    let detail = "KEEP_GRADIENTS returns a border colour that nothing describes";
                    return Err(Trap::new(Rule::Unsupported, offset, detail));
                }
                source
            }
            op::LERP => self.lerp(inst, &source, lanes, offset)?,
            op::CUBEMAP => {
                self.cubemap = Some(source[2]);
                return Ok(());
            }
            op::PASS => source,
            op::GRADIENTS_H | op::GRADIENTS_V => {
                if self.state.stage != Stage::Pixel {
                    let detail = "gradients belong to quads of pixels";
                    return Err(Trap::new(Rule::ComputedLod, offset, detail));
                }
                source.map(|word| self.gradient(&word, inst.op == op::GRADIENTS_V))
            }
            op::RESINFO | op::SAMPLES => self.query(inst, &source, lanes, offset)?,
            op::LD => self.load(inst, &source, lanes, offset)?,
            op::COMPUTED_LOD | op::SAMPLE..=op::SAMPLE_G | op::SAMPLE_C..=op::SAMPLE_C_G => {
                self.sampled(inst, &source, lanes, offset)?
            }
            other => {
                let detail = format!("TEX_INST {other}");
                return Err(Trap::new(Rule::Unsupported, offset, detail));
            }
        };
        if let Some(dst) = self.relative(inst.dst, inst.dst_rel) {
            self.write_fetched(dst, &inst.swizzle, &values, 4, lanes, offset);
        }
        Ok(())
    }

    /// A word as its quads see it. A lane that stands elsewhere may hold nothing without any fault of the
    /// program's: flow that is not uniform leaves derivatives indeterminate, and the unit takes what it finds. Here
    /// that is far from the lanes that run, so that a quad which the source does not part gives another result.
    fn across(&self, word: &Word) -> Word {
        let mut out = *word;
        for lane in each(quads(self.active) & !self.active & word.poison) {
            let running = self.active & 15 << (lane & !3);
            let near = f32::from_bits(word.v[running.trailing_zeros() as usize]);
            out.v[lane] = (near + 0.25).to_bits();
            out.poison &= !(1 << lane);
        }
        out
    }

    /// Difference within the quad: of the own row (`right - left`) or the own column (`lower - upper`).
    fn gradient(&self, word: &Word, vertical: bool) -> Word {
        let word = self.across(word);
        let mut out = Word::splat(0);
        let step = if vertical { 2 } else { 1 };
        let numerics = &self.state.numerics;
        for lane in each(quads(self.active)) {
            let (low, high) = (lane & !step, lane | step);
            let difference = numerics.in32(word.v[high]) - numerics.in32(word.v[low]);
            out.v[lane] = numerics.out32(difference);
            if word.poison & (1 << low | 1 << high) != 0 {
                out.poison |= 1 << lane;
                out.origin = word.origin;
            }
        }
        out
    }

    fn image(&self, inst: &TextureFetch, offset: u32) -> Result<&Image, Trap> {
        let state = self.bound(inst.alternate, offset)?;
        Self::within(state, inst.resource, offset)?;
        match state.resources.get(&inst.resource) {
            Some(FetchResource::Texture(image)) => Ok(image),
            Some(FetchResource::Buffer(_)) | None => {
                let detail = format!("resource {} is not a texture", inst.resource);
                Err(Trap::new(Rule::Resource, offset, detail))
            }
        }
    }

    fn sampler(&self, inst: &TextureFetch, offset: u32) -> Result<&Sampler, Trap> {
        let samplers = &self.bound(inst.alternate, offset)?.samplers;
        samplers.get(&inst.sampler).ok_or_else(|| {
            let detail = format!("sampler {} is not bound", inst.sampler);
            Trap::new(Rule::Resource, offset, detail)
        })
    }

    /// In whole texels: the fields count halves.
    fn texel_offset(inst: &TextureFetch, offset: u32) -> Result<[i32; 3], Trap> {
        if inst.offset.iter().any(|o| o % 2 != 0) {
            let detail = "an offset of half a texel";
            return Err(Trap::new(Rule::Unsupported, offset, detail));
        }
        Ok(inst.offset.map(|o| o / 2))
    }

    fn query(
        &self,
        inst: &TextureFetch,
        source: &[Word; 4],
        lanes: u64,
        offset: u32,
    ) -> Result<[Word; 4], Trap> {
        let image = self.image(inst, offset)?;
        let extent = *image.extent();
        let mut out = [Word::splat(0); 4];
        if inst.op == op::SAMPLES {
            out[3] = Word::splat(extent.samples);
            return Ok(out);
        }
        self.observed(&source[0], lanes, offset, "the level of a query")?;
        for lane in each(lanes) {
            let level = source[0].v[lane];
            let [w, h, d] = if level < extent.levels { image.size(level) } else { [0; 3] };
            let third = if extent.dim == Dim::D3 { d } else { extent.layers };
            for (word, value) in out.iter_mut().zip([w, h, third, extent.levels]) {
                word.v[lane] = value;
            }
        }
        Ok(out)
    }

    /// GET_LERP: the weights of a bilinear fetch from the base level. Guide 5, TEX_WORD0.
    fn lerp(
        &self,
        inst: &TextureFetch,
        source: &[Word; 4],
        lanes: u64,
        offset: u32,
    ) -> Result<[Word; 4], Trap> {
        let size = self.image(inst, offset)?.size(0);
        let dims = self.image(inst, offset)?.extent().dim.coords();
        if self.image(inst, offset)?.extent().levels > 1 {
            let detail = "the weight between levels is not described";
            return Err(Trap::new(Rule::Unsupported, offset, detail));
        }
        let mut out = [Word::splat(0); 4];
        for c in 0..dims {
            self.observed(&source[c], lanes, offset, "a coordinate of a sample")?;
            for lane in each(lanes) {
                let mut at = f32::from_bits(source[c].v[lane]);
                if inst.normalized[c] {
                    at *= size[c] as f32;
                }
                at -= 0.5;
                out[c].v[lane] = (at - at.floor()).to_bits();
            }
        }
        Ok(out)
    }

    fn load(
        &self,
        inst: &TextureFetch,
        source: &[Word; 4],
        lanes: u64,
        offset: u32,
    ) -> Result<[Word; 4], Trap> {
        let image = self.image(inst, offset)?;
        let extent = *image.extent();
        if extent.dim == Dim::Cube {
            return Err(Trap::new(Rule::FetchFormat, offset, "LD of a cube"));
        }
        let dims = extent.dim.coords();
        let layered = extent.layers > 1;
        for (c, word) in source.iter().enumerate() {
            let used = c < dims || (c == 2 && layered) || c == 3;
            if used {
                self.observed(word, lanes, offset, "the address of a texel")?;
            }
        }
        let offsets = Self::texel_offset(inst, offset)?;
        let mut out = [Word::splat(0); 4];
        for lane in each(lanes) {
            let coordinate = |c: usize| (source[c].v[lane] as i32).wrapping_add(offsets[c]);
            let natural = |v: i32| u32::try_from(v).unwrap_or(u32::MAX);
            let last = natural(source[3].v[lane] as i32);
            let mut at = Texel { x: natural(coordinate(0)), ..Texel::default() };
            if dims > 1 {
                at.y = natural(coordinate(1));
            }
            if dims > 2 {
                at.z = natural(coordinate(2));
            }
            if layered {
                at.layer = natural(source[2].v[lane] as i32);
            }
            if extent.samples > 1 {
                at.sample = last;
            } else {
                at.level = last;
            }
            if let Some(texel) = image.load(at) {
                for (word, value) in out.iter_mut().zip(texel) {
                    word.v[lane] = value;
                }
            }
        }
        Ok(out)
    }

    fn sampled(
        &self,
        inst: &TextureFetch,
        source: &[Word; 4],
        lanes: u64,
        offset: u32,
    ) -> Result<[Word; 4], Trap> {
        let image = self.image(inst, offset)?;
        let sampler = self.sampler(inst, offset)?;
        let extent = *image.extent();
        let dims = extent.dim.coords();
        let cube = extent.dim == Dim::Cube;
        let layered = extent.layers > 1 && !cube;
        let compares = (op::SAMPLE_C..=op::SAMPLE_C_G).contains(&inst.op);
        let computed = matches!(
            inst.op,
            op::SAMPLE | op::SAMPLE_LB | op::SAMPLE_C | op::SAMPLE_C_LB | op::COMPUTED_LOD
        );
        if computed && self.state.stage != Stage::Pixel {
            let detail = "quads of pixels alone have gradients";
            return Err(Trap::new(Rule::ComputedLod, offset, detail));
        }
        let overrides = self.bound(inst.alternate, offset)?.array_samplers.contains(&inst.sampler);
        if (layered && !overrides) || ((cube || dims > 2) && overrides) {
            let detail =
                format!("sampler {} on a texture of {} layers", inst.sampler, extent.layers);
            return Err(Trap::new(Rule::ArrayFilter, offset, detail));
        }
        if compares && sampler.compare.is_none() {
            let detail = format!("sampler {} does not compare", inst.sampler);
            return Err(Trap::new(Rule::Resource, offset, detail));
        }
        let both = matches!(inst.op, op::SAMPLE_C_L | op::SAMPLE_C_LB);
        let with_level = both || matches!(inst.op, op::SAMPLE_L | op::SAMPLE_LB);
        // The reference is in W, or in Z where W has the level.
        let reference = compares.then_some(if both { 2 } else { 3 });
        if both && (layered || dims > 2) {
            let detail = "Z cannot hold both a coordinate and the reference";
            return Err(Trap::new(Rule::Unsupported, offset, detail));
        }
        let across;
        let source = if computed {
            across = source.each_ref().map(|word| self.across(word));
            &across
        } else {
            source
        };
        for (c, word) in source.iter().enumerate() {
            let coordinate = c < dims || (c == 2 && layered);
            let used = coordinate || (c == 3 && with_level) || reference == Some(c);
            if used {
                let seen = if coordinate && computed { quads(lanes) } else { lanes };
                self.observed(word, seen, offset, "a coordinate of a sample")?;
            }
        }
        let normalized = inst.normalized[0];
        if (1..dims.min(2)).any(|c| inst.normalized[c] != normalized) {
            let detail = "coordinates of two kinds";
            return Err(Trap::new(Rule::Unsupported, offset, detail));
        }
        let offsets = Self::texel_offset(inst, offset)?;
        if cube && offsets != [0; 3] {
            return Err(Trap::new(Rule::Unsupported, offset, "an offset on a cube"));
        }
        let bias = inst.lod_bias as f32 / 16.0;
        let gradient_axes = if cube { 2 } else { dims };
        let float = |c: usize, lane: usize| f32::from_bits(source[c].v[lane]);
        let set: [[&Word; 3]; 2] = [0, 1].map(|n| [0, 1, 2].map(|c| &self.gradients[n][c]));
        if matches!(inst.op, op::SAMPLE_G | op::SAMPLE_C_G) {
            for word in set.iter().flat_map(|v| v.iter().take(gradient_axes)) {
                self.observed(word, lanes, offset, "a gradient")?;
            }
        }
        let mut out = [Word::splat(0); 4];
        for lane in each(lanes) {
            let mut coords = [0f32; 3];
            for (c, value) in coords.iter_mut().enumerate().take(dims) {
                *value = float(c, lane);
            }
            let mut layer = 0;
            let position = if cube {
                let number = coords[2].round_ties_even().max(0.0) as u32;
                layer = (number / 8) as i32;
                if let Some(cubemap) = &self.cubemap {
                    // SET_CUBEMAP_INDEX: "Z set index for array of cubemaps". Guide 5, TEX_WORD0.
                    layer += f32::from_bits(cubemap.v[lane]).round_ties_even() as i32;
                }
                Position::Face { s: coords[0], t: coords[1], face: number % 8 }
            } else if normalized {
                Position::Normalized(coords)
            } else {
                Position::Texels(coords)
            };
            if layered {
                layer = float(2, lane).round_ties_even() as i32;
            }
            let difference = |step: usize| {
                if cube {
                    // Of the own pixel towards the other: the sampler has one rule for edges.
                    let point =
                        |lane: usize| FacePoint::from_numbers([0, 1, 2].map(|c| float(c, lane)));
                    return point(lane).gradient(&point(lane ^ step));
                }
                let mut d = [0f32; 3];
                for (c, d) in d.iter_mut().enumerate().take(gradient_axes) {
                    *d = float(c, lane | step) - float(c, lane & !step);
                }
                d
            };
            let level = match inst.op {
                op::SAMPLE_L | op::SAMPLE_C_L => Level::Given(float(3, lane) + bias),
                op::SAMPLE_LZ | op::SAMPLE_C_LZ => Level::Given(0.0),
                op::SAMPLE_G | op::SAMPLE_C_G => {
                    let take = |n: usize| {
                        let mut d = [0f32; 3];
                        for (c, d) in d.iter_mut().enumerate().take(gradient_axes) {
                            *d = f32::from_bits(set[n][c].v[lane]);
                        }
                        d
                    };
                    Level::Gradient { ddx: take(0), ddy: take(1), bias }
                }
                op::SAMPLE_LB | op::SAMPLE_C_LB => {
                    let bias = float(3, lane) + bias;
                    Level::Gradient { ddx: difference(1), ddy: difference(2), bias }
                }
                _ => Level::Gradient { ddx: difference(1), ddy: difference(2), bias },
            };
            let reference = reference.map(|c| float(c, lane));
            let lookup = Lookup { position, layer, level, reference, offset: offsets };
            let values = if inst.op == op::COMPUTED_LOD {
                // R700 ISA 9.4, TEX_INST 6: X = clamped, Y = non-clamped. Whether a nearest level is rounded, it does not say.
                let found = queried_level(image, sampler, &lookup);
                [found.clamped.to_bits(), found.computed.to_bits(), 0, 0]
            } else {
                sample(image, sampler, &lookup)
            };
            for (word, value) in out.iter_mut().zip(values) {
                word.v[lane] = value;
            }
        }
        Ok(out)
    }
}
