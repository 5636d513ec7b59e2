//! The width of points, as a vertex's header can hold it: eighths of a pixel in eleven bits. isa/gen4-pipeline.md 2.

use crate::abi::of_vertices;
use gpucc_ir::ssa::{Builder, Builtin, Func, Imm, Op, OutputKind};

/// The least and the greatest width.
const LEAST: f32 = 0.125;
const GREATEST: f32 = 255.875;

/// Widths that a vertex program writes become the next ones below that the header has.
pub fn widths(func: &mut Func) -> bool {
    if !of_vertices(func.stage) {
        return false;
    }
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        if !func.regions[region].insts.iter().any(|&inst| is_width(func, inst)) {
            continue;
        }
        changed = true;
        for inst in std::mem::take(&mut func.regions[region].insts) {
            if is_width(func, inst) {
                let value = func.insts[inst].args[0];
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                let (least, greatest) = (b.f32(LEAST), b.f32(GREATEST));
                let (eight, eighth) = (b.f32(8.0), b.f32(0.125));
                let value = b.op2(Op::FMax, value, least);
                let value = b.op2(Op::FMin, value, greatest);
                let eighths = b.op2(Op::FMul, value, eight);
                let whole = b.op1(Op::FFloor, eighths);
                let value = b.op2(Op::FMul, whole, eighth);
                func.insts[inst].args[0] = value;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

fn is_width(func: &Func, inst: gpucc_ir::ssa::Inst) -> bool {
    let data = &func.insts[inst];
    match (data.op, &data.imm) {
        (Op::Output, Imm::Output(output, _)) => {
            func.outputs[*output].kind == OutputKind::Builtin(Builtin::PointSize)
        }
        _ => false,
    }
}
