//! Circular functions and their inverses.

use super::build::Expander;
use gpucc_ir::ssa::{Op, Value};
use std::f32::consts::{FRAC_1_PI, FRAC_PI_2, PI};

/// The angle in turns, in -0.5..=0.5: x / 2 pi less its nearest integer.
fn turns(e: &mut Expander, x: Value) -> Value {
    let scale = e.f(0.5 * FRAC_1_PI);
    let turns = e.fmul(x, scale);
    let whole = e.op(Op::FRound, &[turns]);
    e.fsub(turns, whole)
}

/// Within 2^-11 absolutely in -pi..=pi, WGSL's bound: the product's error is 2^-25 turns there, or 2^-24 toward zero.
pub(super) fn sin(e: &mut Expander, args: &[Value]) -> Value {
    let turns = turns(e, args[0]);
    e.op(Op::FSinTurns, &[turns])
}

/// Within 2^-11 absolutely in -pi..=pi, WGSL's bound.
pub(super) fn cos(e: &mut Expander, args: &[Value]) -> Value {
    let turns = turns(e, args[0]);
    e.op(Op::FCosTurns, &[turns])
}

/// sin x / cos x, WGSL's own definition; the range is reduced once.
pub(super) fn tan(e: &mut Expander, args: &[Value]) -> Value {
    let turns = turns(e, args[0]);
    let sin = e.op(Op::FSinTurns, &[turns]);
    let cos = e.op(Op::FCosTurns, &[turns]);
    e.op(Op::FDiv, &[sin, cos])
}

/// arcsin of min(|x|, sqrt((1 - |x|) / 2)), and whether |x| > 1/2. The odd polynomial of Cephes'
/// asinf: within 3 units on 0..=0.5.
fn small_arcsin(e: &mut Expander, x: Value) -> (Value, Value) {
    let size = e.fabs(x);
    let (half, minus_half) = (e.f(0.5), e.f(-0.5));
    let large = e.flt(half, size);
    let folded = e.fma(size, minus_half, half);
    let square = e.fmul(size, size);
    let z = e.select(large, folded, square);
    let root = e.op(Op::FSqrt, &[folded]);
    let s = e.select(large, root, size);
    let p = e.polynomial(
        z,
        &[1.666_675_2e-1, 7.495_300_3e-2, 4.547_002_6e-2, 2.418_131e-2, 4.216_32e-2],
    );
    let cube = e.fmul(z, s);
    (e.fma(p, cube, s), large)
}

/// Within 2^-21 absolutely (WGSL: 6.77e-5); odd, exact at 0; NaN beyond 1.
pub(super) fn asin(e: &mut Expander, args: &[Value]) -> Value {
    let (p, large) = small_arcsin(e, args[0]);
    let (minus_two, quarter) = (e.f(-2.0), e.f(FRAC_PI_2));
    let folded = e.fma(p, minus_two, quarter);
    let size = e.select(large, folded, p);
    e.with_sign(size, args[0])
}

/// Within 2^-21 absolutely (WGSL: 6.77e-5); NaN beyond 1.
pub(super) fn acos(e: &mut Expander, args: &[Value]) -> Value {
    let (p, large) = small_arcsin(e, args[0]);
    let (quarter, half_turn, zero) = (e.f(FRAC_PI_2), e.f(PI), e.f(0.0));
    // Of |x|: 2 p, or pi/2 - p up to 1/2; of a negative x what is left of pi.
    let (twice, rest) = (e.fadd(p, p), e.fsub(quarter, p));
    let angle = e.select(large, twice, rest);
    let mirrored = e.fsub(half_turn, angle);
    let negative = e.flt(args[0], zero);
    e.select(negative, mirrored, angle)
}

/// arctan of t in 0..=1: minimax in t^2, relative error below 2^-20.
fn arctan_to_one(e: &mut Expander, t: Value) -> Value {
    let z = e.fmul(t, t);
    let p = e.polynomial(
        z,
        &[
            9.999_993_5e-1,
            -3.332_651_5e-1,
            1.988_147_8e-1,
            -1.348_717_4e-1,
            8.387_086e-2,
            -3.701_270_7e-2,
            7.863_278e-3,
        ],
    );
    e.fmul(p, t)
}

/// Within 32 units (WGSL: 4096); odd, exact at 0.
pub(super) fn atan(e: &mut Expander, args: &[Value]) -> Value {
    let size = e.fabs(args[0]);
    let (one, quarter) = (e.f(1.0), e.f(FRAC_PI_2));
    let large = e.flt(one, size);
    let inverse = e.frcp(size);
    let t = e.select(large, inverse, size);
    let p = arctan_to_one(e, t);
    let folded = e.fsub(quarter, p);
    let angle = e.select(large, folded, p);
    e.with_sign(angle, args[0])
}

/// Within 64 units for |x| in 2^-126..=2^126 (WGSL: 4096); 0 for (0, +-0).
pub(super) fn atan2(e: &mut Expander, args: &[Value]) -> Value {
    let (y, x) = (args[0], args[1]);
    let (y_size, x_size) = (e.fabs(y), e.fabs(x));
    let (one, quarter, half_turn, zero) = (e.f(1.0), e.f(FRAC_PI_2), e.f(PI), e.f(0.0));
    let larger = e.fmax(y_size, x_size);
    let smaller = e.fmin(y_size, x_size);
    // The reciprocal of what is near the largest float is denormal: a quarter of both is as good.
    let (limit, shrink) = (e.f(2f32.powi(125)), e.f(0.25));
    let huge = e.flt(limit, larger);
    let scale = e.select(huge, shrink, one);
    let (larger, smaller) = (e.fmul(larger, scale), e.fmul(smaller, scale));
    let nowhere = e.op(Op::FEq, &[larger, zero]);
    let larger = e.select(nowhere, one, larger);
    let reciprocal = e.frcp(larger);
    let t = e.fmul(smaller, reciprocal);
    let p = arctan_to_one(e, t);
    let steep = e.flt(x_size, y_size);
    let folded = e.fsub(quarter, p);
    let angle = e.select(steep, folded, p);
    let behind = e.flt(x, zero);
    let mirrored = e.fsub(half_turn, angle);
    let angle = e.select(behind, mirrored, angle);
    e.with_sign(angle, y)
}
