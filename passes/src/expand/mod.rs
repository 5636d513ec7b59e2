//! Expansions: high-level ops become ops that a machine has, each with a stated error bound.
//!
//! A back end calls [`expand`] once, after the shared passes, with its own [`Native`]; running `fold`,
//! `gvn` and `dce` afterwards pays, for expansions share subexpressions. Afterwards the function holds
//! native ops only (and those that no expansion exists for, which the back end refuses by name).
//! Expansions may use other ops of the table, which are expanded in turn. All are straight-line code
//! on 32-bit values, or on integers of 64 bits.
//!
//! The bounds hold on a machine that rounds to nearest or toward zero (where a docstring counts roundings, it means to
//! nearest unless it says otherwise), flushes denormals, rounds `fma` twice, and whose `frcp`, `frsq`, `fsqrt` and `flog2` are within 1 unit in the last place of the exact value, `fexp2` within 2, and
//! `fsin_turns`, `fcos_turns` within 2^-13 absolutely. WGSL's own bounds are the wider ones
//! (WGSL, reassociation and fusion).

pub mod arrays;
mod bits;
pub(crate) mod build;
pub mod cube;
mod float;
mod half;
pub mod image;
mod integer;
pub mod samples;
pub mod subgroup;
pub mod texture;
mod trigonometry;
mod wide;

use crate::rename::Renames;
use crate::runner::{self, Proof, required};
use build::Expander;
use gpucc_ir::ssa::{Builder, Func, Inst, InstData, Numerics, Op, Sig, Type, Value};

/// Derivatives that may be either become coarse ones, where a machine has these.
pub const COARSE_DERIVATIVES: runner::Pass = required(
    "coarse_derivatives",
    Proof::Licence("WGSL, derivative built-in functions: a derivative may be a coarse one"),
    "derivatives that may be either are those of one row or column",
    |func, _| coarse_derivatives(func),
);

fn coarse_derivatives(func: &mut Func) -> bool {
    let mut changed = false;
    for data in func.insts.values_mut() {
        data.op = match data.op {
            Op::Ddx => Op::DdxCoarse,
            Op::Ddy => Op::DdyCoarse,
            _ => continue,
        };
        changed = true;
    }
    changed
}

/// What the machine has as instructions.
pub trait Native {
    /// `op` at the width of its first operand (its first result when it has no operands; 64 bits when a conversion
    /// gives that many) needs no expansion.
    fn native(&self, op: Op, ty: Type) -> bool;

    /// The machine's own expansion of `op`, which goes before the shared one; at any width.
    fn recipe(&self, op: Op, ty: Type) -> Option<OwnRecipe> {
        let _ = (op, ty);
        None
    }
}

/// An expansion of a machine's own: appends operations and gives the value that the instruction's
/// result becomes. What it appends is expanded in turn, except within regions that it opens.
pub type OwnRecipe = fn(&mut Builder, &InstData) -> Value;

impl<T: crate::TargetInfo + ?Sized> Native for T {
    fn native(&self, op: Op, ty: Type) -> bool {
        crate::TargetInfo::native(self, op, ty)
    }
}

/// Expansions within expansions end here; what is left then is refused by the back end.
const DEPTH: u32 = 8;

/// Rewrites every op that is not native and has an expansion; true when anything changed.
pub fn expand(func: &mut Func, native: &dyn Native, numerics: &Numerics) -> bool {
    let mut pass = Pass { native, numerics, renames: Renames::new(), changed: false };
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        pass.list(func, insts, DEPTH, &mut out);
        func.regions[region].insts = out;
    }
    pass.renames.apply(func);
    pass.changed
}

struct Pass<'a> {
    native: &'a dyn Native,
    numerics: &'a Numerics,
    renames: Renames,
    changed: bool,
}

impl Pass<'_> {
    fn list(&mut self, func: &mut Func, insts: Vec<Inst>, depth: u32, out: &mut Vec<Inst>) {
        for inst in insts {
            self.renames.args(func, inst);
            let Some(recipe) = self.wanted(func, inst, depth) else {
                out.push(inst);
                continue;
            };
            let data = func.insts[inst].clone();
            let mut expander = Expander::new(func, self.numerics, &data);
            let value = match recipe {
                Wanted::Shared(recipe) => recipe(&mut expander, &data.args),
                Wanted::Own(recipe) => recipe(expander.builder(), &data),
            };
            let made = expander.finish();
            self.changed = true;
            self.renames.set(data.results[0], value);
            self.list(func, made, depth - 1, out);
        }
    }

    fn wanted(&self, func: &Func, inst: Inst, depth: u32) -> Option<Wanted> {
        let data = &func.insts[inst];
        // Reductions are no pure operations: they read other lanes, and so does their expansion.
        let expands = data.op.is_pure() || data.op == Op::Reduce;
        if depth == 0 || !expands || data.results.len() != 1 {
            return None;
        }
        let first = data.args.first().copied().unwrap_or(data.results[0]);
        let (from, to) = (func.ty(first), func.ty(data.results[0]));
        let ty = match (data.op.sig(), to) {
            (Sig::Convert, Type::B64) => to,
            _ => from,
        };
        if self.native.native(data.op, ty) {
            return None;
        }
        if let Some(own) = self.native.recipe(data.op, ty) {
            return Some(Wanted::Own(own));
        }
        match ty {
            Type::B1 | Type::B16 => None,
            Type::B32 => recipe(data.op),
            Type::B64 => wide::recipe(data.op, from, to),
        }
        .map(Wanted::Shared)
    }
}

/// Integer operations of 64 bits that have an expansion here.
pub(crate) fn is_wide(op: Op, from: Type, to: Type) -> bool {
    (from == Type::B64 || to == Type::B64) && wide::recipe(op, from, to).is_some()
}

/// How an instruction is expanded.
enum Wanted {
    Shared(Recipe),
    Own(OwnRecipe),
}

/// Builds the value of an op from its operands.
type Recipe = fn(&mut Expander, &[Value]) -> Value;

/// The expansion of an op at 32 bits. Error bounds stand with the functions.
fn recipe(op: Op) -> Option<Recipe> {
    Some(match op {
        Op::UDiv => integer::udiv,
        Op::URem => integer::urem,
        Op::SDiv => integer::sdiv,
        Op::SRem => integer::srem,
        Op::UMulHi => integer::umulhi,
        Op::SMulHi => integer::smulhi,
        Op::INeg => integer::ineg,
        Op::IAbs => integer::iabs,
        Op::PopCount => bits::popcount,
        Op::BitReverse => bits::bitreverse,
        Op::Clz => bits::clz,
        Op::Ctz => bits::ctz,
        Op::UMsb => bits::umsb,
        Op::SMsb => bits::smsb,
        Op::Lsb => bits::lsb,
        Op::UBfe => bits::ubfe,
        Op::SBfe => bits::sbfe,
        Op::Bfi => bits::bfi,
        Op::FSub => float::sub,
        Op::FMa => float::fma,
        Op::FDot => float::dot,
        Op::FDiv => float::div,
        Op::FRem => float::rem,
        Op::FSign => float::sign,
        Op::FSat => float::saturate,
        Op::FCeil => float::ceil,
        Op::FFract => float::fract,
        Op::FSqrt => float::sqrt,
        Op::FRsq => float::rsq,
        Op::FExp => float::exp,
        Op::FLog => float::log,
        Op::FPow => float::pow,
        Op::FSinh => float::sinh,
        Op::FCosh => float::cosh,
        Op::FTanh => float::tanh,
        Op::FAsinh => float::asinh,
        Op::FAcosh => float::acosh,
        Op::FAtanh => float::atanh,
        Op::FLdexp => float::ldexp,
        Op::FrexpFract => float::frexp_fract,
        Op::FrexpExp => float::frexp_exp,
        Op::FSin => trigonometry::sin,
        Op::FCos => trigonometry::cos,
        Op::FTan => trigonometry::tan,
        Op::FAsin => trigonometry::asin,
        Op::FAcos => trigonometry::acos,
        Op::FAtan => trigonometry::atan,
        Op::FAtan2 => trigonometry::atan2,
        Op::PackHalf => half::pack,
        Op::UnpackHalfLo => half::unpack_low,
        Op::UnpackHalfHi => half::unpack_high,
        Op::FQuantize => half::quantize,
        _ => return None,
    })
}

#[cfg(test)]
pub(crate) mod tests;
