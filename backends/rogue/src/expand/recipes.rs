//! The machine's own expansions, with their error bounds.

use gpucc_ir::ssa::{Builder, InstData, Op, Value};

/// The floor of the magnitude with the sign of x. Exact.
pub fn truncated(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let magnitude = b.op1(Op::FAbs, x);
    let floor = b.op1(Op::FFloor, magnitude);
    signed(b, floor, x)
}

/// The nearest integer, ties to even, with the sign of x: what the floor of a magnitude leaves is exact, and below, at or above one
/// half; at one half the floor is taken where half of it is an integer. Exact: magnitudes of 2^23 and more are integers, of which
/// nothing is left.
pub fn rounded(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let magnitude = b.op1(Op::FAbs, x);
    let floor = b.op1(Op::FFloor, magnitude);
    let left = b.op2(Op::FSub, magnitude, floor);
    let (half, one) = (b.f32(0.5), b.f32(1.0));
    let above = b.op2(Op::FAdd, floor, one);
    let halved = b.op2(Op::FMul, floor, half);
    let even = b.op1(Op::FFloor, halved);
    let odd = b.op2(Op::FNe, even, halved);
    let more = b.op2(Op::FLt, half, left);
    let tie = b.op2(Op::FEq, half, left);
    let tie = b.op2(Op::And, tie, odd);
    let up = b.op2(Op::Or, more, tie);
    let nearest = b.select(up, above, floor);
    signed(b, nearest, x)
}

/// A magnitude with the sign of x.
fn signed(b: &mut Builder, magnitude: Value, x: Value) -> Value {
    let mask = b.u32(0x8000_0000);
    let sign = b.op2(Op::And, x, mask);
    b.op2(Op::Or, magnitude, sign)
}

/// The angle of so many turns.
fn angle(b: &mut Builder, data: &InstData) -> Value {
    let whole = b.f32(std::f32::consts::TAU);
    b.op2(Op::FMul, data.args[0], whole)
}

/// The angle is at most pi and off by two units, which is less than 2^-20, so the result is within 2^-20 absolutely.
pub fn sine_of_turns(b: &mut Builder, data: &InstData) -> Value {
    let angle = angle(b, data);
    b.op1(Op::FSin, angle)
}

/// As [`sine_of_turns`].
pub fn cosine_of_turns(b: &mut Builder, data: &InstData) -> Value {
    let angle = angle(b, data);
    b.op1(Op::FCos, angle)
}

/// The quotient that the language defines it as.
pub fn tangent(b: &mut Builder, data: &InstData) -> Value {
    let (sine, cosine) = (b.op1(Op::FSin, data.args[0]), b.op1(Op::FCos, data.args[0]));
    b.op2(Op::FDiv, sine, cosine)
}
