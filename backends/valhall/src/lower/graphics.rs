//! Where programs of the graphics stages start and end.

use super::Lower;
use crate::api::Failure;
use gpucc_ir::ssa::{Input, Op, Output, Value};

impl Lower<'_> {
    pub(super) fn prologue_vertex(&mut self) -> Result<(), Failure> {
        self.declare_outputs();
        self.load_early_inputs()
    }
    pub(super) fn prologue_fragment(&mut self) -> Result<(), Failure> {
        let covered = self.preload(60);
        let own = if self.demotes() {
            let own = self.fresh();
            self.copy(own, covered.into());
            own
        } else {
            covered
        };
        self.coverage = Some(own);
        self.declare_outputs();
        self.load_early_inputs()
    }
    /// Whether invocations become helpers that go on: their coverage is cleared.
    fn demotes(&self) -> bool {
        self.helpers
            && self.ssa.regions_in_order().iter().any(|&(region, ..)| {
                let list = &self.ssa.regions[region].insts;
                list.iter().any(|&inst| self.ssa.insts[inst].op == Op::Demote)
            })
    }
    pub(super) fn epilogue_vertex(&mut self) -> Result<(), Failure> {
        self.vertex_epilogue();
        Ok(())
    }
    pub(super) fn epilogue_fragment(&mut self) -> Result<(), Failure> {
        self.fragment_epilogue();
        Ok(())
    }
    pub(super) fn input_vertex(&mut self, v: Value, i: Input, c: u8) -> Result<(), Failure> {
        self.graphics_input(v, i, c)
    }
    pub(super) fn input_fragment(&mut self, v: Value, i: Input, c: u8) -> Result<(), Failure> {
        self.graphics_input(v, i, c)
    }
    pub(super) fn output_vertex(&mut self, o: Output, c: u8, v: Value) -> Result<(), Failure> {
        self.write_output(o, c, v);
        Ok(())
    }
    pub(super) fn output_fragment(&mut self, o: Output, c: u8, v: Value) -> Result<(), Failure> {
        self.write_output(o, c, v);
        Ok(())
    }
}
