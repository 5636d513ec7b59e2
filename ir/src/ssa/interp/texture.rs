//! Texture instructions: operands are gathered per lane and handed to the world.

use super::exec::{Machine, Mask};
use super::{Inexact, has_quads};
use crate::ssa::func::{Imm, InstData, Value};
use crate::ssa::op::{Flags, Op};
use crate::ssa::resource::{Dim, Resource, ResourceKind, TexKind, TexOp};
use crate::ssa::world::{Lod, Sample, TexelAddress};

/// Dimension and layers of a texture or storage texture.
fn shape(kind: ResourceKind) -> (Dim, bool) {
    match kind {
        ResourceKind::Texture { dim, arrayed, .. }
        | ResourceKind::StorageTexture { dim, arrayed, .. } => (dim, arrayed),
        ResourceKind::Uniform { .. }
        | ResourceKind::Storage { .. }
        | ResourceKind::Immediate { .. }
        | ResourceKind::Sampler { .. } => (Dim::D2, false),
    }
}

/// One number per texel of an image.
pub(super) fn texel_number(at: &TexelAddress) -> u64 {
    let part = |value: i32, shift: u32| u64::from(value as u32 & 0xffff) << shift;
    part(at.coords[0], 0) | part(at.coords[1], 16) | part(at.coords[2], 32) | part(at.layer, 48)
}

impl Machine<'_> {
    /// Element, coordinates and layer of a storage texture access; and how many operands they took.
    pub(super) fn texel_address(
        &self,
        image: Resource,
        args: &[Value],
        lane: usize,
    ) -> (TexelAddress, usize) {
        let (element, mut used) = self.element(image, args, lane);
        let (dim, arrayed) = shape(self.func.resources[image].kind);
        let mut next = || {
            used += 1;
            args.get(used - 1).map_or(0, |&value| self.get(value, lane) as i32)
        };
        let mut coords = [0; 3];
        for coord in coords.iter_mut().take(dim.coords()) {
            *coord = next();
        }
        let layer = if arrayed { next() } else { 0 };
        let at = TexelAddress { texture: (image, element), coords, layer, level: 0, sample: 0 };
        (at, used)
    }

    pub(super) fn texture(&mut self, data: &InstData, active: &Mask) {
        match data.imm {
            Imm::Query(texture, what) => {
                for lane in active.iter() {
                    let (element, used) = self.element(texture, &data.args, lane);
                    let level =
                        data.args.get(used).map_or(0, |&level| self.get(level, lane) as i32);
                    let words = self.world.query((texture, element), what, level);
                    let taint = data.args.iter().any(|&v| self.tainted(v, lane));
                    self.texels(data, lane, &words, taint);
                }
            }
            Imm::Tex(tex) if tex.kind == TexKind::Load => {
                for lane in active.iter() {
                    let (at, _) = self.load_address(&tex, &data.args, lane);
                    let racy = self.mark_texel_load(tex.texture, &at, lane);
                    let words = self.world.load_texel(&at);
                    let taint = racy || data.args.iter().any(|&v| self.tainted(v, lane));
                    self.texels(data, lane, &words, taint);
                    if self.numerics.alpha_outside_is_free
                        && let Some(&alpha) = data.results.get(3)
                        && !self.world.has_texel(&at)
                    {
                        self.marks.free = true;
                        self.set_taint(alpha, lane, true);
                    }
                }
            }
            Imm::Tex(tex) => {
                let quads = data.flags().has(Flags::QUAD);
                let kind = self.func.resources[tex.texture].kind;
                // A machine may project a direction by a reciprocal, and make gradients of the level of a comparison.
                let is_cube = matches!(kind, ResourceKind::Texture { dim: Dim::Cube, .. });
                let by_level = matches!(tex.kind, TexKind::SampleBias | TexKind::SampleLevel);
                let approximated = match self.inexact {
                    Inexact::Nothing => false,
                    Inexact::Functions => is_cube || tex.compare && by_level,
                    Inexact::Floats => is_cube || tex.kind != TexKind::Gather,
                };
                for lane in active.iter() {
                    let sample = self.sample(&tex, &data.args, lane);
                    let mut words = self.world.sample(&sample);
                    let free = sample.level_only && words[2] != 0
                        || self.numerics.nan_reference_is_free
                            && sample.compare.is_some_and(f32::is_nan);
                    if sample.level_only {
                        words[2] = 0;
                    }
                    let torn = quads && self.quad_is_torn(lane, active);
                    self.marks.absent_lanes |= torn;
                    // The level hangs on all four lanes.
                    let near = match quads && has_quads(self.func) {
                        true => lane & !3..(lane & !3) + 4,
                        false => lane..lane + 1,
                    };
                    let taint = torn
                        || approximated
                        || near
                            .into_iter()
                            .any(|lane| data.args.iter().any(|&v| self.tainted(v, lane)));
                    self.texels(data, lane, &words, taint);
                    self.marks.free |= free;
                    let of_one = if sample.level_only { 1 } else { data.results.len() };
                    for &result in data.results.iter().take(of_one).filter(|_| free) {
                        self.set_taint(result, lane, true);
                    }
                }
            }
            _ => {}
        }
    }

    fn texels(&mut self, data: &InstData, lane: usize, words: &[u32], taint: bool) {
        for (&result, &word) in data.results.iter().zip(words) {
            self.set(result, lane, word.into());
            self.set_taint(result, lane, taint);
        }
    }

    fn load_address(&self, tex: &TexOp, args: &[Value], lane: usize) -> (TexelAddress, usize) {
        let (mut at, used) = self.texel_address(tex.texture, args, lane);
        for (coord, offset) in at.coords.iter_mut().zip(tex.offset) {
            *coord = coord.wrapping_add(offset.into());
        }
        let last = args.get(used).map_or(0, |&value| self.get(value, lane) as i32);
        match self.func.resources[tex.texture].kind {
            ResourceKind::Texture { multisampled: true, .. } => at.sample = last,
            _ => at.level = last,
        }
        (at, used)
    }

    fn sample(&self, tex: &TexOp, args: &[Value], lane: usize) -> Sample {
        let (texture, mut used) = self.element(tex.texture, args, lane);
        let sampler_resource = tex.sampler.expand().unwrap_or(tex.texture);
        let (sampler, more) = self.element(sampler_resource, &args[used..], lane);
        used += more;
        let (dim, arrayed) = shape(self.func.resources[tex.texture].kind);
        let mut next = || {
            used += 1;
            args.get(used - 1).copied()
        };
        let float = |value: Option<Value>| {
            value.map_or(0.0, |value| f32::from_bits(self.get(value, lane) as u32))
        };
        let level = |value| (self.numerics.functions.level)(float(value));
        let places: [Option<Value>; 3] =
            std::array::from_fn(|k| if k < dim.coords() { next() } else { None });
        let layer =
            if arrayed { next().map_or(0, |value| self.get(value, lane) as i32) } else { 0 };
        let compare = tex.compare.then(|| float(next()));
        let corner = self.numerics.level_of_quad && has_quads(self.func);
        let at = |lane: usize| -> [f32; 3] {
            places.map(|place| {
                place.map_or(0.0, |value| f32::from_bits(self.get(value, lane) as u32))
            })
        };
        let across = |op: Op| -> [f32; 3] {
            if corner {
                let (first, step) = (lane & !3, if op == Op::Ddx { 1 } else { 2 });
                let (from, to) = (at(first), at(first + step));
                return std::array::from_fn(|axis| to[axis] - from[axis]);
            }
            places.map(|place| {
                place.map_or(0.0, |value| {
                    f32::from_bits(self.quad_difference(value, lane, op) as u32)
                })
            })
        };
        let beside = |step: usize| -> [f32; 3] {
            match (corner, has_quads(self.func)) {
                (true, _) => at((lane & !3) + step),
                (false, true) => at(lane ^ step),
                (false, false) => at(lane),
            }
        };
        let lod = match tex.kind {
            TexKind::Sample | TexKind::SampleBias | TexKind::QueryLevel if dim == Dim::Cube => {
                Lod::Quad {
                    from: if corner { at(lane & !3) } else { at(lane) },
                    x: beside(1),
                    y: beside(2),
                    bias: if tex.kind == TexKind::SampleBias { level(next()) } else { 0.0 },
                }
            }
            TexKind::Sample | TexKind::SampleBias | TexKind::QueryLevel => Lod::Gradient {
                ddx: across(Op::Ddx),
                ddy: across(Op::Ddy),
                bias: if tex.kind == TexKind::SampleBias { level(next()) } else { 0.0 },
            },
            TexKind::SampleGrad => {
                let mut gradient = || -> [f32; 3] {
                    std::array::from_fn(|k| if k < dim.coords() { float(next()) } else { 0.0 })
                };
                let ddx = gradient();
                Lod::Gradient { ddx, ddy: gradient(), bias: 0.0 }
            }
            TexKind::SampleLevel => Lod::Level(level(next())),
            TexKind::SampleBaseClampToEdge => Lod::BaseClampToEdge,
            TexKind::Gather | TexKind::Load => Lod::Level(0.0),
        };
        Sample {
            texture: (tex.texture, texture),
            sampler: (sampler_resource, sampler),
            coords: places.map(float),
            layer,
            lod,
            compare,
            offset: tex.offset,
            projected: tex.projected,
            texel: tex.texel,
            gather: (tex.kind == TexKind::Gather).then_some(tex.component),
            level_only: tex.kind == TexKind::QueryLevel,
        }
    }
}
