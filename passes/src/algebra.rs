//! A product and a sum become one `fma` where the machine has it and the option allows contraction.
//!
//! WGSL 15.7.4 lets an implementation contract. Where `fma` rounds twice the result is the same to the
//! bit. Only products that nobody else needs are contracted, so that no multiplication is done twice.

use crate::ctx::Ctx;
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Value, numerics::Fma};
use smallvec::{SmallVec, smallvec};

/// Contracts.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    // Which products are for one sum alone depends on the rest of the program.
    let rounds = ctx.numerics.fma != Fma::Twice;
    if !ctx.options.contract || func.invariant && rounds {
        return false;
    }
    let regions = func.regions_in_order();
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
    for &(region, ..) in &regions {
        for &inst in &func.regions[region].insts {
            for &arg in &func.insts[inst].args {
                uses[arg] += 1;
            }
        }
    }
    let mut changed = false;
    for &(region, ..) in &regions {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            ctx.steps += 1;
            if matches!(func.insts[inst].op, Op::FAdd | Op::FSub)
                && ctx.target.has_fma(func.ty(func.insts[inst].args[0]))
                && let Some(side) = product(func, &uses, inst)
                && ctx.draw()
            {
                contract(func, inst, side, &mut out);
                changed = true;
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
    changed
}

/// The operand that is a product for this sum alone.
fn product(func: &Func, uses: &SecondaryMap<Value, u32>, inst: Inst) -> Option<usize> {
    let args = &func.insts[inst].args;
    (0..2).find(|&side| {
        uses[args[side]] == 1 && func.def(args[side]).is_some_and(|data| data.op == Op::FMul)
    })
}

fn contract(func: &mut Func, inst: Inst, side: usize, out: &mut Vec<Inst>) {
    let args = func.insts[inst].args.clone();
    let subtracts = func.insts[inst].op == Op::FSub;
    let factors: SmallVec<[Value; 4]> = match func.def(args[side]) {
        Some(data) => data.args.clone(),
        None => return,
    };
    let (mut a, b, mut c) = (factors[0], factors[1], args[1 - side]);
    if subtracts {
        // a b - c adds -c; c - a b adds (-a) b.
        let negated = if side == 0 { &mut c } else { &mut a };
        let ty = func.ty(*negated);
        let neg = func.new_inst(
            InstData {
                op: Op::FNeg,
                args: smallvec![*negated],
                imm: Imm::None,
                regions: SmallVec::new(),
                results: SmallVec::new(),
                span: func.insts[inst].span,
                bundle: func.insts[inst].bundle,
            },
            &[ty],
        );
        out.push(neg);
        *negated = func.insts[neg].results[0];
    }
    let data = &mut func.insts[inst];
    data.op = Op::FMa;
    data.args = smallvec![a, b, c];
}
