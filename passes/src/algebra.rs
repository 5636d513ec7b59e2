//! Contraction to fused multiply-adds.
//!
//! A product and a sum become one `fma` where the machine has it and the option allows contraction.
//!
//! WGSL (reassociation and fusion) lets an implementation contract. Where `fma` rounds twice the result is the same to the
//! bit. Only products that disappear by it are contracted: every use is a sum of the same region that takes
//! the product in, or the one use is a sum.

use crate::ctx::Ctx;
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Region, Value, numerics::Fma};
use smallvec::{SmallVec, smallvec};

/// Contracts.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    // Which products are for one sum alone depends on the rest of the program.
    let rounds = ctx.numerics.fma != Fma::Twice;
    if !ctx.options.contract || func.invariant && rounds {
        return false;
    }
    let regions = func.regions_in_order();
    let taken = taken_in(func, &regions);
    let mut changed = false;
    for &(region, ..) in &regions {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            ctx.steps += 1;
            if is_sum(func, inst)
                && ctx.target.has_fma(func.ty(func.insts[inst].args[0]))
                && let Some(side) = (0..2).find(|&side| taken[func.insts[inst].args[side]])
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

fn is_sum(func: &Func, inst: Inst) -> bool {
    matches!(func.insts[inst].op, Op::FAdd | Op::FSub)
}

/// Products that every use can take in. Of two in one sum the second remains.
fn taken_in(func: &Func, regions: &[(Region, Option<Inst>, u32)]) -> SecondaryMap<Value, bool> {
    let mut uses: SecondaryMap<Value, u32> = func.by_value();
    let mut home: SecondaryMap<Value, Option<Region>> = func.by_value();
    for &(region, ..) in regions {
        for &inst in &func.regions[region].insts {
            for &arg in &func.insts[inst].args {
                uses[arg] += 1;
            }
            if func.insts[inst].op == Op::FMul {
                home[func.insts[inst].results[0]] = Some(region);
            }
        }
    }
    let mut taken: SecondaryMap<Value, bool> = func.by_value();
    for (value, home) in home.iter() {
        taken[value] = home.is_some();
    }
    for &(region, ..) in regions {
        for &inst in &func.regions[region].insts {
            let sum = is_sum(func, inst);
            for &arg in &func.insts[inst].args {
                taken[arg] &= sum && (uses[arg] == 1 || home[arg] == Some(region));
            }
        }
    }
    for &(region, ..) in regions {
        for &inst in &func.regions[region].insts {
            if let (true, &[a, b]) = (is_sum(func, inst), &func.insts[inst].args[..])
                && taken[a]
                && taken[b]
            {
                taken[b] = false;
            }
        }
    }
    taken
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
                bundle: func.insts[inst].bundle,
                ..InstData::new(Op::FNeg, Imm::None, &[*negated], func.insts[inst].span)
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
