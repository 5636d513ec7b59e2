//! The end of a fragment program: coverage, depth and stencil, colours. isa/valhall_rogue.md 1.10.

use super::Lower;
use super::operand::{Lane, Opnd, build};
use super::varying::register_format;
use super::vertex::Written;
use crate::inst::{Special, Src};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::{Reg, VReg};
use gpucc_ir::ssa::numerics::f64_to_f16;
use gpucc_ir::ssa::{Output, Scalar};
use gpucc_machine::described::{Handed, Memory, OutputPlace};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// 1.0 as f32.
const ONE: u32 = 0x3f80_0000;

impl Lower<'_> {
    /// The output of the ABI at a place.
    fn output_at(&self, at: impl Fn(OutputPlace) -> bool) -> Option<Output> {
        self.abi
            .outputs
            .iter()
            .find(|slot| at(slot.place))
            .map(|slot| slot.output)
            .filter(|&output| self.components_written(output).1 > 0)
    }

    /// Coverage, then depth, then each colour target in ascending order.
    pub(super) fn fragment_epilogue(&mut self) {
        let mut coverage = match self.coverage {
            Some(coverage) => coverage,
            None => self.preload(60),
        };
        if let Some(mask) =
            self.output_at(|at| at == OutputPlace::Single { place: Memory::Coverage })
            && let Some(mask) = self.written(mask, 0)
        {
            coverage = self.and(Opnd::reg(coverage), mask);
        }
        coverage = self.alpha_test(coverage);
        let [depth, stencil] = [Memory::Depth, Memory::Stencil].map(|place| {
            let output = self.output_at(|at| at == OutputPlace::Single { place })?;
            self.written(output, 0)
        });
        if depth.is_some() || stencil.is_some() {
            coverage = self.emit_depth(depth, stencil, coverage);
        }
        let mut targets: BTreeMap<u8, ([Option<Output>; 2], Handed)> = BTreeMap::new();
        for slot in &self.abi.outputs {
            if let OutputPlace::Blend { index: target, source, format, .. } = slot.place
                && self.components_written(slot.output).1 > 0
            {
                let (sources, _) = targets.entry(target as u8).or_insert(([None; 2], format));
                sources[source.min(1) as usize] = Some(slot.output);
            }
        }
        let last = targets.keys().next_back().copied();
        for (target, colors) in targets {
            self.blend(target, colors, coverage, Some(target) == last);
        }
    }

    /// ATEST with the first target's alpha; every program makes one.
    fn alpha_test(&mut self, coverage: VReg) -> VReg {
        let first =
            self.output_at(|at| matches!(at, OutputPlace::Blend { index: 0, source: 0, .. }));
        let alpha = match first {
            None => Opnd::bits(0),
            Some(output) => match self.ssa.outputs[output].scalar {
                Scalar::F32 | Scalar::F16 => self.written(output, 3).unwrap_or(Opnd::bits(ONE)),
                _ => Opnd::bits(ONE),
            },
        };
        let alpha = match (first.map(|output| self.ssa.outputs[output].scalar), alpha) {
            // Both halves of a constant are its f16.
            (Some(Scalar::F16), alpha)
                if alpha.lane == Lane::All && alpha.src != Src::Bits(ONE) =>
            {
                alpha.lane(Lane::Half(0))
            }
            (_, alpha) => alpha,
        };
        // One instruction reads one word of the fast access uniforms: what stands there is moved, once for BLEND too.
        let alpha = match (first, alpha.src) {
            (Some(output), Src::Fau(_))
                if self.ssa.outputs[output].scalar == Scalar::F32 && alpha.lane == Lane::All =>
            {
                let reg = self.in_register(alpha);
                self.outputs.lanes.insert((output, 3), Written::Reg(reg));
                Opnd::reg(reg)
            }
            _ => alpha,
        };
        let datum = Opnd::plain(Src::Special(Special::AtestDatum, 0));
        let made = self.fresh();
        let op = build(Opcode::Atest, &[Opnd::reg(coverage), alpha, datum]);
        self.push(op.writing(&[made.into()]));
        made
    }

    /// ZS_EMIT of the program's own depth, of its own reference of the stencil test, or of both.
    fn emit_depth(&mut self, depth: Option<Opnd>, stencil: Option<Opnd>, coverage: VReg) -> VReg {
        let made = self.fresh();
        let [z, s] = [depth, stencil].map(|value| value.unwrap_or(Opnd::bits(0)));
        let op = build(Opcode::ZsEmit, &[z, s, Opnd::reg(coverage)])
            .with(f::Z, depth.is_some().into())
            .with(f::STENCIL, stencil.is_some().into());
        self.push(op.writing(&[made.into()]));
        made
    }

    /// Floats of 32 bits that f16 holds, two to a register.
    fn narrowed(&mut self, components: &[Opnd]) -> SmallVec<[Reg; 4]> {
        let half = |operand: Opnd| match operand.src {
            Src::Bits(bits) => Some(u32::from(f64_to_f16(f32::from_bits(bits).into()))),
            _ => None,
        };
        let pairs = components.chunks(2);
        pairs
            .map(|two| {
                Reg::from(match (half(two[0]), half(two[1])) {
                    (Some(low), Some(high)) => self.mov(Src::Bits(low | high << 16)),
                    _ => self.emit(Opcode::V2f32ToV2f16, two),
                })
            })
            .collect()
    }

    /// BLEND of one target.
    fn blend(
        &mut self,
        target: u8,
        (sources, handed): ([Option<Output>; 2], Handed),
        coverage: VReg,
        last: bool,
    ) {
        let (format, half) = register_format(handed);
        let colors: SmallVec<[SmallVec<[Reg; 4]>; 2]> = sources
            .iter()
            .flatten()
            .map(|&output| {
                let components = self.components_of(output, 0, 4);
                match half && self.ssa.outputs[output].scalar == Scalar::F32 {
                    true => self.narrowed(&components),
                    false => self.staged_vector(&components, half),
                }
            })
            .collect();
        let descriptor = Opnd::plain(Src::Special64(Special::BlendDescriptor(target)));
        let mut op = build(Opcode::Blend, &[descriptor, Opnd::reg(coverage)])
            .with(f::REGFMT, format)
            .with(f::VECSIZE, 3)
            .reading(&colors[0]);
        if let Some(second) = colors.get(1) {
            op.second = second.clone();
        }
        if !last {
            // A blend shader may run here.
            op.clobbers = (0..16).chain([48]).map(|at| (self.fresh().into(), at)).collect();
        }
        self.push(op);
    }
}
