//! Rewrites what R700 lacks into what it has, SSA to SSA, under the published numerics.

mod texture;

use crate::api::{Effort, Options};
use gpucc_ir::ssa::{Builder, Func, Op, Type};
use gpucc_passes::Ctx;

/// The machine has an instruction (or a fixed pair) for it at 32 bits.
pub fn is_native(op: Op) -> bool {
    !matches!(
        op,
        Op::SDiv
            | Op::UDiv
            | Op::SRem
            | Op::URem
            | Op::PopCount
            | Op::BitReverse
            | Op::Clz
            | Op::Ctz
            | Op::UMsb
            | Op::SMsb
            | Op::Lsb
            | Op::UBfe
            | Op::SBfe
            | Op::Bfi
            | Op::FDiv
            | Op::FRem
            | Op::FSign
            | Op::FExp
            | Op::FLog
            | Op::FPow
            | Op::FSin
            | Op::FCos
            | Op::FTan
            | Op::FAsin
            | Op::FAcos
            | Op::FAtan
            | Op::FAtan2
            | Op::FSinh
            | Op::FCosh
            | Op::FTanh
            | Op::FAsinh
            | Op::FAcosh
            | Op::FAtanh
            | Op::FLdexp
            | Op::FrexpFract
            | Op::FrexpExp
            | Op::FQuantize
            | Op::PackHalf
            | Op::UnpackHalfLo
            | Op::UnpackHalfHi
            | Op::DdxCoarse
            | Op::DdyCoarse
    )
}

/// Rewrites a function until it holds native operations only, and cleans up after that.
///
/// Float to integer saturates in WGSL but is undefined on the machine out of range (isa/r700.md
/// 3.36): such values are clamped first. Expansions of other operations convert what is in range,
/// or throw away what is not.
pub fn expand(mut func: Func, options: &Options) -> Func {
    let target = crate::target::target_info();
    let model = crate::numerics_of(options.chip.family());
    clamp_conversions(&mut func);
    refine_derivatives(&mut func);
    texture::expand(&mut func);
    gpucc_passes::expand::expand(&mut func, &crate::target::R700, &model);
    if options.effort > Effort::None {
        let mut ctx = Ctx::new(gpucc_passes::Options::default(), model, target);
        ctx.fuel = options.fuel;
        gpucc_passes::fold::run(&mut func, &mut ctx);
        gpucc_passes::gvn::run(&mut func, &mut ctx);
        gpucc_passes::dce::run(&mut func, &mut ctx);
    }
    func
}

/// Coarse derivatives become plain ones: GET_GRADIENTS differs a pixel's own row or column, and a
/// coarse derivative may be that fine. Said here, the interpreter and the machine mean the same
/// rows, and equal derivatives of both names are computed once.
fn refine_derivatives(func: &mut Func) {
    for data in func.insts.values_mut() {
        data.op = match data.op {
            Op::DdxCoarse | Op::DdxFine => Op::Ddx,
            Op::DdyCoarse | Op::DdyFine => Op::Ddy,
            other => other,
        };
    }
}

/// The largest f32 that converts to a signed and to an unsigned integer, and the smallest.
const SIGNED: (f32, f32) = (-2_147_483_648.0, 2_147_483_520.0);
const UNSIGNED: (f32, f32) = (0.0, 4_294_967_040.0);

fn clamp_conversions(func: &mut Func) {
    for (region, ..) in func.regions_in_order() {
        let list = &func.regions[region].insts;
        if !list
            .iter()
            .any(|&inst| matches!(func.insts[inst].op, Op::FToS | Op::FToU))
        {
            continue;
        }
        let list = std::mem::take(&mut func.regions[region].insts);
        for inst in list {
            let (low, high) = match func.insts[inst].op {
                Op::FToS => SIGNED,
                Op::FToU => UNSIGNED,
                _ => {
                    func.regions[region].insts.push(inst);
                    continue;
                }
            };
            let (value, span) = (func.insts[inst].args[0], func.insts[inst].span);
            if func.ty(value) == Type::B32 {
                let mut b = Builder::at(func, region);
                b.span = span;
                let (low, high) = (b.f32(low), b.f32(high));
                let above = b.op2(Op::FMax, value, low);
                let clamped = b.op2(Op::FMin, above, high);
                func.insts[inst].args[0] = clamped;
            }
            func.regions[region].insts.push(inst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::Stage;

    #[test]
    fn every_derivative_becomes_the_one_that_get_gradients_computes() {
        let mut func = Func::new("derivatives", Stage::Fragment);
        let mut b = Builder::at_body(&mut func);
        let value = b.f32(1.0);
        for op in [Op::DdxCoarse, Op::DdyCoarse, Op::DdxFine, Op::DdyFine] {
            b.op1(op, value);
        }
        let options = Options {
            effort: Effort::None,
            ..Options::default()
        };
        let ops: Vec<Op> = expand(func, &options)
            .insts
            .values()
            .map(|data| data.op)
            .filter(|&op| op != Op::Const)
            .collect();
        assert_eq!(ops, [Op::Ddx, Op::Ddy, Op::Ddx, Op::Ddy]);
    }
}
