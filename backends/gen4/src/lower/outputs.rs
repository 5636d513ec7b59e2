//! What outputs have at the end: values, and registers where branches or loops write them.

use super::Lower;
use crate::inst::{Source, Src};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use crate::strips::{self, Component};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{Builtin, Imm, InstData, Output, OutputKind};
use std::collections::{BTreeMap, BTreeSet};

/// What outputs have: a register where a branch writes them, else the value.
#[derive(Default)]
pub(super) struct Written {
    registers: BTreeMap<Component, VReg>,
    values: BTreeMap<Component, Source>,
}

pub(super) const ZERO: Source = Source { src: Src::Bits(0), negate: false, absolute: false };

impl Lower<'_> {
    /// Registers for what branches and loops write: zeros until then.
    pub(super) fn begin_outputs(&mut self) {
        let branched = match self.abi.is_geometry() {
            true => strips::far(self.ssa),
            false => self.branched(),
        };
        for component in branched {
            let reg = self.fresh();
            // A pixel that leaves no mask keeps its sample.
            let kept = OutputKind::Builtin(Builtin::SampleMask);
            let first = u32::from(self.ssa.outputs[component.0].kind == kept);
            self.alu(Opcode::Mov, Ty::Ud, reg, &[Src::Bits(first).into()]);
            self.written.registers.insert(component, reg);
        }
    }

    /// Components of outputs that inner regions write.
    fn branched(&self) -> BTreeSet<Component> {
        let regions = self.ssa.regions_in_order();
        let inner = regions.iter().map(|&(region, ..)| region).filter(|it| *it != self.ssa.body);
        let insts = inner.flat_map(|region| &self.ssa.regions[region].insts);
        insts
            .filter_map(|&inst| match self.ssa.insts[inst].imm {
                Imm::Output(output, component) => Some((output, component)),
                _ => None,
            })
            .collect()
    }

    /// A component of an output.
    pub(super) fn output(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Output(output, component) = data.imm else {
            return Err(self.not_yet("this output"));
        };
        let source = self.source(data.args[0]);
        match self.written.registers.get(&(output, component)) {
            Some(&reg) => self.alu(Opcode::Mov, Ty::Ud, reg, &[source]),
            None => {
                self.written.values.insert((output, component), source);
            }
        }
        Ok(())
    }

    /// What a component of an output has at the end, where somebody wrote it.
    pub(super) fn written_value(&self, output: Output, component: u8) -> Option<Source> {
        if let Some(&reg) = self.written.registers.get(&(output, component)) {
            return Some(Src::Reg(reg.into()).into());
        }
        self.written.values.get(&(output, component)).copied()
    }

    /// What a component of an output has at the end: 0 where nobody wrote it.
    pub(super) fn final_value(&self, output: Option<Output>, component: u8) -> Source {
        output.and_then(|output| self.written_value(output, component)).unwrap_or(ZERO)
    }
}
