//! Stages: what a program starts and ends with, the inputs of compute programs, helpers.

use super::memory::both;
use super::operand::{Lane, Opnd, build};
use super::{Lower, Place};
use crate::api::{Failure, FauWord};
use crate::inst::{Special, Src};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{self, Builtin, Input, InputKind, Op, Region, Stage, Value};

/// Sources of LD_GCLK.
const CYCLE_COUNTER: u32 = 6;
const SYSTEM_TIMESTAMP: u32 = 7;
/// Lanes of a warp.
pub(super) const WARP: u32 = 16;

impl Lower<'_> {
    pub(super) fn prologue(&mut self) -> Result<(), Failure> {
        match self.ssa.stage {
            Stage::Compute | Stage::Geometry => Ok(()),
            Stage::Vertex => self.prologue_vertex(),
            Stage::Fragment => self.prologue_fragment(),
        }
    }

    pub(super) fn epilogue(&mut self) -> Result<(), Failure> {
        match self.ssa.stage {
            Stage::Compute | Stage::Geometry => Ok(()),
            Stage::Vertex => self.epilogue_vertex(),
            Stage::Fragment => self.epilogue_fragment(),
        }
    }

    pub(super) fn input(
        &mut self,
        result: Value,
        input: Input,
        component: u8,
    ) -> Result<(), Failure> {
        match self.ssa.stage {
            Stage::Vertex => self.input_vertex(result, input, component),
            Stage::Fragment => self.input_fragment(result, input, component),
            Stage::Compute | Stage::Geometry => self.input_compute(result, input, component),
        }
    }

    pub(super) fn output(
        &mut self,
        output: ssa::Output,
        component: u8,
        value: Value,
    ) -> Result<(), Failure> {
        match self.ssa.stage {
            Stage::Vertex => self.output_vertex(output, component, value),
            Stage::Fragment => self.output_fragment(output, component, value),
            Stage::Compute | Stage::Geometry => Err(self.not_yet("outputs of a compute program")),
        }
    }

    fn input_compute(&mut self, result: Value, input: Input, component: u8) -> Result<(), Failure> {
        let InputKind::Builtin(builtin) = self.ssa.inputs[input].kind else {
            return Err(self.not_yet("locations as inputs of a compute program"));
        };
        let size = self.ssa.workgroup_size;
        let invocations: u32 = size.iter().product();
        let place = match builtin {
            Builtin::GlobalInvocationId => Place::Reg(self.preload(60 + component)),
            Builtin::WorkgroupId => Place::Reg(self.preload(57 + component)),
            Builtin::LocalInvocationId => match size[usize::from(component)] {
                1 => Place::Src(Src::Bits(0)),
                _ => {
                    let (reg, lane) = self.local_id(component);
                    Place::Part(reg, lane)
                }
            },
            Builtin::LocalInvocationIndex => match self.local_index() {
                Some(reg) => Place::Reg(reg),
                None => Place::Src(Src::Bits(0)),
            },
            Builtin::NumWorkgroups => Place::Src(self.fau(FauWord::NumWorkgroups(component))),
            Builtin::SubgroupSize => Place::Src(Src::Bits(WARP)),
            Builtin::SubgroupInvocationId => Place::Src(Src::Special(Special::LaneId, 0)),
            Builtin::NumSubgroups => Place::Src(Src::Bits(invocations.div_ceil(WARP))),
            Builtin::SubgroupId => match self.local_index() {
                Some(index) => {
                    let sources =
                        [Opnd::reg(index), Opnd::bits(WARP.trailing_zeros()), Opnd::bits(0)];
                    Place::Reg(self.emit(Opcode::RshiftOrI32, &sources))
                }
                None => Place::Src(Src::Bits(0)),
            },
            _ => return Err(self.not_yet(format!("{builtin:?} in a compute program"))),
        };
        self.define(result, place);
        Ok(())
    }

    /// Where a component of the local invocation id stands.
    fn local_id(&mut self, component: u8) -> (VReg, Lane) {
        match component {
            0 => (self.preload(55), Lane::Half(0)),
            1 => (self.preload(55), Lane::Half(1)),
            _ => (self.preload(56), Lane::Half(0)),
        }
    }

    /// x + y * size.x + z * size.x * size.y; none for a single invocation.
    fn local_index(&mut self) -> Option<VReg> {
        let size = self.ssa.workgroup_size;
        let strides = [1, size[0], size[0] * size[1]];
        let mut sum: Option<Opnd> = None;
        for component in 0..3u8 {
            let axis = usize::from(component);
            if size[axis] == 1 {
                continue;
            }
            let (reg, lane) = self.local_id(component);
            let id = Opnd::reg(reg).lane(lane);
            let scaled = match strides[axis] {
                1 => id,
                stride => Opnd::reg(self.emit(Opcode::ImulI32, &[id, Opnd::bits(stride)])),
            };
            sum = Some(match sum {
                None => scaled,
                Some(sum) => Opnd::reg(self.emit(Opcode::IaddU32, &[sum, scaled])),
            });
        }
        let sum = sum?;
        Some(match (sum.src, sum.lane) {
            (Src::Reg(reg), Lane::Half(_)) => {
                let reg = reg.as_virt().expect("before allocation");
                self.extract(reg, sum.lane, false)
            }
            _ => self.in_register(sum),
        })
    }

    /// True for an `if` whose arm only demotes.
    pub(super) fn is_demotion(&self, inst: ssa::Inst) -> bool {
        let data = &self.ssa.insts[inst];
        let ops = |region: Region| -> Vec<Op> {
            self.ssa.regions[region].insts.iter().take(3).map(|&i| self.ssa.insts[i].op).collect()
        };
        data.results.is_empty()
            && ops(data.regions[0]) == [Op::Demote, Op::Yield]
            && ops(data.regions[1]) == [Op::Yield]
    }

    /// The invocation becomes a helper, where the condition holds. Where no quad needs it any more, the
    /// thread ends; else its coverage is cleared, which drops its output and its stores.
    pub(super) fn demote(&mut self, condition: Option<Value>) {
        if self.helpers {
            let mask = self.coverage_mask();
            let Some(value) = condition else {
                return self.emit_to(mask, Opcode::MovI32, &[Opnd::bits(0)], &[]);
            };
            let (test, zero_is_true) = self.branch_condition(value);
            let test = Opnd::reg(self.in_register(test.lane(Lane::All)));
            // The condition is `eq` when a zero means true.
            let cmp = if zero_is_true { 0 } else { 3 };
            let sources = [test, Opnd::bits(0), Opnd::bits(0), Opnd::reg(mask)];
            self.emit_to(mask, Opcode::CselU32, &sources, &[(f::CMP, cmp)]);
            return;
        }
        let op = match condition.and_then(|value| self.float_test(value)) {
            Some(op) => op,
            None => {
                let (test, cmp) = match condition {
                    None => (Opnd::bits(0), 0),
                    Some(value) => self.truth_as_float(value),
                };
                build(Opcode::DiscardF32, &[test, Opnd::bits(0)]).with(f::CMP, cmp)
            }
        };
        self.push(op);
    }

    /// The mask of covered samples, a register that demotion clears.
    pub(super) fn coverage_mask(&mut self) -> VReg {
        self.coverage.expect("the prologue of a fragment program copies it")
    }

    /// No sample is covered (any more).
    /// The counter of cycles or that of the system, in two registers.
    pub(super) fn clock(&mut self, inst: ssa::Inst) {
        let data = &self.ssa.insts[inst];
        let source = if data.op == Op::Clock { CYCLE_COUNTER } else { SYSTEM_TIMESTAMP };
        let results = data.results.clone();
        let words: [VReg; 2] = [self.fresh(), self.fresh()];
        let mut op = build(Opcode::LdGclk, &[])
            .with(f::CLOCK, source)
            .writing(&words.map(gpucc_ir::mach::Reg::from));
        // What is measured stays on its side of the clock.
        op.effects = both(u32::MAX);
        self.push(op);
        for (&result, word) in results.iter().zip(words) {
            self.define_reg(result, word);
        }
    }

    pub(super) fn is_helper(&mut self, result: Value) {
        let reg = match self.ssa.stage {
            Stage::Fragment => {
                let mask = self.coverage_mask();
                let sources = [Opnd::reg(mask), Opnd::bits(0), Opnd::bits(0)];
                self.emit_with(Opcode::IcmpOrU32, &sources, &[(f::CMP, 0), (f::RESULT, 2)])
            }
            _ => self.mov(Src::Bits(0)),
        };
        self.define(result, Place::Reg(reg));
    }
}
