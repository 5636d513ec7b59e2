//! The mask of samples that a program leaves, on machines whose pixels have one sample (G45 vol. 4, 4.7.2; isa/rogue-pipeline.md 4.2).

use crate::runner::{Pass, Proof, required};
use gpucc_ir::ssa::{Builder, Builtin, Func, Imm, Inst, Op, OutputKind};

/// The pass.
pub const PASS: Pass = required(
    "sample_mask",
    Proof::Licence("WebGPU, sample masking: a mask has a bit for each sample"),
    "a mask of samples is that of the one sample",
    |func, _| run(func),
);

fn leaves_mask(func: &Func, inst: Inst) -> bool {
    let Imm::Output(output, _) = func.insts[inst].imm else { return false };
    func.outputs[output].kind == OutputKind::Builtin(Builtin::SampleMask)
        && func.insts[inst].op == Op::Output
}

/// The bit of the one sample is what is left of a mask.
fn run(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        if !func.regions[region].insts.iter().any(|&inst| leaves_mask(func, inst)) {
            continue;
        }
        changed = true;
        for inst in std::mem::take(&mut func.regions[region].insts) {
            if leaves_mask(func, inst) {
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                let (mask, one) = (b.func.insts[inst].args[0], b.u32(1));
                let bit = b.op2(Op::And, mask, one);
                func.insts[inst].args[0] = bit;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}
