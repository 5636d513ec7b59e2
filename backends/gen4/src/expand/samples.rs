//! The mask of samples, of which a pixel has one. G45 vol. 4, 4.7.2.

use gpucc_ir::ssa::{Builder, Builtin, Func, Imm, Op, OutputKind};

/// Masks that a program leaves become that of the one sample.
pub fn mask(func: &mut Func) -> bool {
    let masks = |func: &Func, inst| match (func.insts[inst].op, &func.insts[inst].imm) {
        (Op::Output, Imm::Output(output, _)) => {
            func.outputs[*output].kind == OutputKind::Builtin(Builtin::SampleMask)
        }
        _ => false,
    };
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        if !func.regions[region].insts.iter().any(|&inst| masks(func, inst)) {
            continue;
        }
        changed = true;
        for inst in std::mem::take(&mut func.regions[region].insts) {
            if masks(func, inst) {
                let value = func.insts[inst].args[0];
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                let one = b.u32(1);
                let masked = b.op2(Op::And, value, one);
                func.insts[inst].args[0] = masked;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}
