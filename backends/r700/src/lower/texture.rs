//! Sampling, texel loads, size queries and derivatives. R700 ISA 5.4, 9.4; operand conventions of
//! isa/r700.md 1.12: layer in z, reference in w, level or bias in w.

use super::{Lower, narrow};
use crate::abi::SamplerUse;
use crate::api::Failure;
use crate::inst::{Inst, Lane, Source, Texture};
use crate::isa::{AluOp, FetchOp};
use gpucc_ir::mach::Reg;
use gpucc_ir::ssa::{self, Dim, Op, Resource, ResourceKind, TexKind, TexOp, TexQuery, Value};
use smallvec::SmallVec;

/// More layers than a texture has. Register guide, SQ_TEX_RESOURCE_WORD1: TEX_DEPTH has 13 bits.
const LAST_LAYER: u32 = 8191;

impl Lower<'_> {
    fn lane(&mut self, value: Value) -> Lane {
        match self.const_bits(value) {
            Some(0) => Lane::Zero,
            Some(0x3f80_0000) => Lane::One,
            _ => Lane::Reg(self.reg(value).into()),
        }
    }

    pub(super) fn tex(&mut self, inst: ssa::Inst, tex: TexOp) -> Result<(), Failure> {
        let args: SmallVec<[Value; 8]> = SmallVec::from_slice(&self.ssa.insts[inst].args);
        let (ResourceKind::Texture { dim, arrayed, .. }
        | ResourceKind::StorageTexture { dim, arrayed, .. }) = self.ssa.resources[tex.texture].kind
        else {
            return Err(Failure::Internal {
                pass: "lower",
                message: "a texture instruction without a texture".into(),
            });
        };
        let (element, args) = self.element(tex.texture, &args);
        let resource =
            element + self.abi.slots[tex.texture].resource.expect("textures have resources");
        let mut args = args;
        let mut sampler = 0;
        if let Some(used) = tex.sampler.expand() {
            let (element, rest) = self.element(used, args);
            args = rest;
            let number = self.abi.slots[used].samplers[SamplerUse::of(self.ssa, &tex).index()];
            sampler = element + number.expect("samplers have their numbers");
        }
        let n = dim.coords();
        let mut next = n;
        let mut take = || {
            let value = args.get(next).copied();
            next += 1;
            value
        };
        let mut src = [Lane::Zero; 4];
        let mut normalized = [true; 4];
        let loads = tex.kind == TexKind::Load;
        let offset = tex.offset;
        if dim == Dim::Cube {
            src[0] = self.lane(args[0]);
            src[1] = self.lane(args[1]);
            src[2] = if arrayed {
                let layer = take().expect("an arrayed texture has a layer");
                let layer = self.plain(layer);
                // Kept where face + 8 * layer is exact; the unit clamps it to the layers there are.
                let layer = self.alu(AluOp::MAX_INT, &[layer, Source::bits(0)]);
                let last = Source::bits(LAST_LAYER);
                let layer = self.alu(AluOp::MIN_INT, &[Source::reg(layer), last]);
                let layer = self.alu(AluOp::INT_TO_FLT, &[Source::reg(layer)]);
                let eight = Source::bits(8f32.to_bits());
                let face = self.plain(args[2]);
                let number = self.alu(AluOp::MULADD_IEEE, &[Source::reg(layer), eight, face]);
                Lane::Reg(number.into())
            } else {
                self.lane(args[2])
            };
            normalized[2] = false;
        } else {
            for (k, &coordinate) in args[..n].iter().enumerate() {
                src[k] = self.lane(coordinate);
            }
            if arrayed {
                let layer = take().expect("an arrayed texture has a layer");
                src[2] = if loads {
                    self.lane(layer)
                } else {
                    let layer = self.plain(layer);
                    Lane::Reg(self.alu(AluOp::INT_TO_FLT, &[layer]).into())
                };
                normalized[2] = false;
            }
        }
        let mut fetch = Texture {
            op: FetchOp::SAMPLE,
            resource: narrow(resource),
            sampler: narrow(sampler),
            src,
            dst: [None; 4],
            select: [0, 1, 2, 3],
            normalized,
            offset,
            gradients: None,
        };
        let reference = tex.compare.then(&mut take).flatten();
        if let Some(reference) = reference {
            fetch.src[3] = self.lane(reference);
        }
        match tex.kind {
            TexKind::Sample => {
                fetch.op = if tex.compare { FetchOp::SAMPLE_C } else { FetchOp::SAMPLE };
            }
            TexKind::SampleBias => {
                let bias = take().expect("SampleBias has a bias");
                fetch.op = if tex.compare {
                    fetch.src[2] = fetch.src[3];
                    FetchOp::SAMPLE_C_LB
                } else {
                    FetchOp::SAMPLE_LB
                };
                fetch.src[3] = self.lane(bias);
            }
            TexKind::SampleLevel => {
                let level = take().expect("SampleLevel has a level");
                let zero = self.const_bits(level) == Some(0);
                fetch.op = match (tex.compare, zero) {
                    (false, true) => FetchOp::SAMPLE_LZ,
                    (false, false) => {
                        fetch.src[3] = self.lane(level);
                        FetchOp::SAMPLE_L
                    }
                    (true, true) => FetchOp::SAMPLE_C_LZ,
                    (true, false) => {
                        // The reference makes room for the level; expansion left z free.
                        fetch.src[2] = fetch.src[3];
                        fetch.src[3] = self.lane(level);
                        FetchOp::SAMPLE_C_L
                    }
                };
            }
            TexKind::SampleGrad => {
                let mut gradients = [[Lane::Zero; 4]; 2];
                for src in &mut gradients {
                    for (k, lane) in src.iter_mut().enumerate().take(n) {
                        let value = take().expect("SampleGrad has both gradients");
                        // A cube's are of s and t.
                        if dim != Dim::Cube || k < 2 {
                            *lane = self.lane(value);
                        }
                    }
                }
                fetch.gradients = Some(Box::new(gradients));
                fetch.op = if tex.compare { FetchOp::SAMPLE_C_G } else { FetchOp::SAMPLE_G };
            }
            TexKind::QueryLevel => fetch.op = FetchOp::GET_COMP_TEX_LOD,
            TexKind::SampleBaseClampToEdge | TexKind::Gather => {
                return Err(Failure::Internal {
                    pass: "lower",
                    message: format!("{:?} was not expanded", tex.kind),
                });
            }
            TexKind::Load => {
                fetch.op = FetchOp::LD;
                fetch.normalized = [false; 4];
                // The level, or the sample of a multisampled texture.
                if let Some(level) = take() {
                    // Integer 0 has the bits of 0.0; integer 1 does not have those of 1.0.
                    fetch.src[3] = self.lane(level);
                }
            }
        }
        if tex.kind == TexKind::Load {
            for lane in &mut fetch.src {
                if *lane == Lane::One {
                    *lane = Lane::Reg(self.alu(AluOp::MOV, &[Source::bits(0x3f80_0000)]).into());
                }
            }
        }
        fetch.dst = self.results(&self.ssa.insts[inst].results);
        self.push(Inst::Texture(fetch));
        Ok(())
    }

    /// One of the four numbers of the face that a direction points to.
    pub(super) fn cube(&mut self, inst: ssa::Inst) {
        let data = &self.ssa.insts[inst];
        let result = data.results[0];
        let direction = [data.args[0], data.args[1], data.args[2]];
        let found = self.cubes.iter().rev().find(|(known, _)| *known == direction);
        let [t, s, major, face] = match found {
            Some(&(_, registers)) => registers,
            None => {
                let dst = [self.fresh(), self.fresh(), self.fresh(), self.fresh()];
                let src = direction.map(|value| self.reg(value));
                self.push(Inst::Cube { dst: dst.map(Reg::from), src: src.map(Reg::from) });
                self.cubes.push((direction, dst));
                dst
            }
        };
        let register = match data.op {
            Op::CubeS => s,
            Op::CubeT => t,
            Op::CubeFace => face,
            // The machine gives it with its sign.
            _ if self.uses.in_register(result) => {
                let mut magnitude = Source::reg(major);
                magnitude.abs = true;
                self.alu(AluOp::MOV, &[magnitude])
            }
            _ => major,
        };
        self.define(result, register);
    }

    pub(super) fn query(
        &mut self,
        inst: ssa::Inst,
        resource: Resource,
        query: TexQuery,
    ) -> Result<(), Failure> {
        let cubes = matches!(
            self.ssa.resources[resource].kind,
            ResourceKind::Texture { dim: Dim::Cube, .. }
        );
        if self.is_linear_image(resource) || cubes && query == TexQuery::Layers {
            self.image_query(inst, resource, query);
            return Ok(());
        }
        let args: SmallVec<[Value; 4]> = self.ssa.insts[inst].args.clone();
        let (element, args) = self.element(resource, &args);
        let slot = element + self.abi.slots[resource].resource.expect("textures have resources");
        let level = match (query, args.first()) {
            (TexQuery::Size, Some(&level)) => match self.const_bits(level) {
                Some(0) => Lane::Zero,
                _ => Lane::Reg(self.reg(level).into()),
            },
            _ => Lane::Zero,
        };
        let mut fetch = Texture {
            op: FetchOp::GET_TEXTURE_RESINFO,
            resource: narrow(slot),
            sampler: 0,
            src: [level, Lane::Zero, Lane::Zero, Lane::Zero],
            dst: [None; 4],
            select: [0, 1, 2, 3],
            normalized: [false; 4],
            offset: [0; 3],
            gradients: None,
        };
        match query {
            TexQuery::Size => {}
            TexQuery::Levels => fetch.select = [3, 3, 3, 3],
            TexQuery::Layers => fetch.select = [2, 2, 2, 2],
            // Nothing of this machine's plan asks for it.
            TexQuery::Sampler => return Err(self.not_yet("words of a sampler")),
            TexQuery::Samples => {
                fetch.op = FetchOp::GET_NUMBER_OF_SAMPLES;
                fetch.select = [3, 3, 3, 3];
            }
        }
        fetch.dst = self.results(&self.ssa.insts[inst].results);
        if fetch.dst.iter().any(Option::is_some) {
            self.push(Inst::Texture(fetch));
        }
        Ok(())
    }

    pub(super) fn derivative(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let op = match data.op {
            Op::Ddx | Op::DdxFine | Op::DdxCoarse => FetchOp::GET_GRADIENTS_H,
            _ => FetchOp::GET_GRADIENTS_V,
        };
        let value = self.reg(data.args[0]);
        let dst = self.results(&self.ssa.insts[inst].results);
        self.push(Inst::Texture(Texture {
            op,
            resource: 0,
            sampler: 0,
            src: [Lane::Reg(value.into()), Lane::Zero, Lane::Zero, Lane::Zero],
            dst,
            select: [0, 1, 2, 3],
            normalized: [true; 4],
            offset: [0; 3],
            gradients: None,
        }));
        Ok(())
    }
}
