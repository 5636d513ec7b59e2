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

/// What decides of a direction.
struct Side {
    /// The largest component is z; it is y, where it is not z.
    z: Value,
    y: Value,
    /// It is negative.
    negative: Value,
    along: Value,
}

/// z before y before x where magnitudes are equal.
fn side(b: &mut Builder, data: &InstData) -> Side {
    let [x, y, z] = [data.args[0], data.args[1], data.args[2]];
    let (ax, ay, az) = (b.op1(Op::FAbs, x), b.op1(Op::FAbs, y), b.op1(Op::FAbs, z));
    let (z_to_x, z_to_y) = (b.op2(Op::FLe, ax, az), b.op2(Op::FLe, ay, az));
    let is_z = b.op2(Op::And, z_to_x, z_to_y);
    let is_y = b.op2(Op::FLe, ax, ay);
    let other = b.select(is_y, y, x);
    let along = b.select(is_z, z, other);
    let zero = b.f32(0.0);
    let negative = b.op2(Op::FLt, along, zero);
    Side { z: is_z, y: is_y, negative, along }
}

/// The coordinate along s of a direction's face. Exact.
pub fn cube_s(b: &mut Builder, data: &InstData) -> Value {
    let (x, z) = (data.args[0], data.args[2]);
    let side = side(b, data);
    let (minus_x, minus_z) = (b.op1(Op::FNeg, x), b.op1(Op::FNeg, z));
    let on_x = b.select(side.negative, z, minus_z);
    let on_z = b.select(side.negative, minus_x, x);
    let other = b.select(side.y, x, on_x);
    b.select(side.z, on_z, other)
}

/// The coordinate along t. Exact.
pub fn cube_t(b: &mut Builder, data: &InstData) -> Value {
    let (y, z) = (data.args[1], data.args[2]);
    let side = side(b, data);
    let (minus_y, minus_z) = (b.op1(Op::FNeg, y), b.op1(Op::FNeg, z));
    let on_y = b.select(side.negative, minus_z, z);
    let other = b.select(side.y, on_y, minus_y);
    b.select(side.z, minus_y, other)
}

/// Twice the magnitude along the axis. Exact.
pub fn cube_major(b: &mut Builder, data: &InstData) -> Value {
    let side = side(b, data);
    let magnitude = b.op1(Op::FAbs, side.along);
    let two = b.f32(2.0);
    b.op2(Op::FMul, magnitude, two)
}

/// The number of the face: +x -x +y -y +z -z. Exact.
pub fn cube_face(b: &mut Builder, data: &InstData) -> Value {
    let side = side(b, data);
    let [zero, one, two, four] = [0.0, 1.0, 2.0, 4.0].map(|number| b.f32(number));
    let other = b.select(side.y, two, zero);
    let axis = b.select(side.z, four, other);
    let behind = b.select(side.negative, one, zero);
    b.op2(Op::FAdd, axis, behind)
}
