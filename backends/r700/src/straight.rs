//! One block of machine instructions, for the tests of passes over blocks.

use crate::inst::{Alu, FILES, Inst, Source};
use crate::isa::AluOp;
use gpucc_ir::mach::{Block, Demand, FileId, Func, VReg};
use gpucc_ir::ssa::Span;

/// A function of one block.
pub struct Program {
    pub func: Func<Inst>,
    pub block: Block,
}

impl Program {
    pub fn new() -> Program {
        let mut func = Func::new("f", FILES);
        let block = func.push_block();
        Program { func, block }
    }
    pub fn reg(&mut self) -> VReg {
        self.func.make_vreg(Demand::scalar(FileId(0)), Span::NONE)
    }
    pub fn add(&mut self, inst: Inst) {
        self.func.push(self.block, inst, Span::NONE);
    }
    pub fn alu(&mut self, op: AluOp, src: &[Source]) -> VReg {
        let dst = self.reg();
        self.add(Inst::Alu(Alu::new(op, Some(dst.into()), src)));
        dst
    }
}
