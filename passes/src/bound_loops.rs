//! No loop runs for ever: each counts down from 2^64 - 1 in two words and ends at zero.
//!
//! Counting down costs one comparison with zero and starts from words that no driver mistakes for a
//! short loop. A loop that ends this way gives zeros as its results.

use crate::{ctx::Ctx, shape::Shape};
use gpucc_ir::ssa::{Builder, Func, Inst, Op, Type, Value};

/// Bounds every loop.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if !ctx.options.bound_loops {
        return false;
    }
    let shape = Shape::find(func);
    ctx.steps += shape.count;
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let mut index = 0;
        while index < func.regions[region].insts.len() {
            let inst = func.regions[region].insts[index];
            if func.insts[inst].op == Op::Loop {
                index += usize::from(bound(func, &shape, inst, region, index));
                changed = true;
            }
            index += 1;
        }
    }
    changed
}

/// Bounds one loop; true since it has put one constant before it.
fn bound(
    func: &mut Func,
    shape: &Shape,
    inst: Inst,
    around: gpucc_ir::ssa::Region,
    index: usize,
) -> bool {
    let (body, continuing) = (func.insts[inst].regions[0], func.insts[inst].regions[1]);
    let before = func.new_region();
    let most = Builder::at(func, before).u32(u32::MAX);
    let insts = std::mem::take(&mut func.regions[before].insts);
    func.regions[around].insts.splice(index..index, insts);
    func.insts[inst].args.extend([most, most]);
    let low = func.add_param(body, Type::B32);
    let high = func.add_param(body, Type::B32);
    let results: Vec<Type> = func.insts[inst].results.iter().map(|&v| func.ty(v)).collect();

    let head = func.new_region();
    let mut b = Builder::at(func, head);
    let zero = b.u32(0);
    let one = b.u32(1);
    let any = b.op2(Op::Or, low, high);
    let spent = b.op2(Op::IEq, any, zero);
    b.if_else(
        spent,
        &[],
        |b| {
            let zeros: Vec<Value> = results.iter().map(|&ty| b.constant(ty, 0)).collect();
            b.end(Op::Break, &zeros);
            Vec::new()
        },
        |_| Vec::new(),
    );
    let next_low = b.op2(Op::ISub, low, one);
    let borrow = b.op2(Op::IEq, low, zero);
    let less = b.op2(Op::ISub, high, one);
    let next_high = b.select(borrow, less, high);
    let insts = std::mem::take(&mut func.regions[head].insts);
    func.regions[body].insts.splice(0..0, insts);

    let low = func.add_param(continuing, Type::B32);
    let high = func.add_param(continuing, Type::B32);
    for term in shape.terminators(inst) {
        match func.insts[term].op {
            Op::Continue => func.insts[term].args.extend([next_low, next_high]),
            Op::Next | Op::BreakIf => func.insts[term].args.extend([low, high]),
            _ => {}
        }
    }
    true
}
