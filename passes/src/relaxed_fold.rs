//! Fast-math folding and reassociation.
//!
//! Constant folding under the freedoms of the source language: floats are never NaN, zeros have no sign that matters, and
//! constants of sums and products are regrouped (WGSL, reassociation and fusion). What comes out is a machine's reference for bits.

use crate::{ctx::Ctx, fold};
use gpucc_ir::ssa::Func;

/// Folds as [`fold`] does, and by the language's freedoms.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    ctx.relaxed = true;
    let changed = fold::run(func, ctx);
    ctx.relaxed = false;
    changed
}
