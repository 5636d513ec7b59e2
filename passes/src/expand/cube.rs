//! A direction becomes a place on a cube's face, by the four operations that machines have for it.

use gpucc_ir::ssa::{Builder, InstData, Op, Value};

/// The place of a direction on its face: s and t in 1..=2 and the face, as a `projected` lookup
/// takes them. `gradients` holds none, or ddx then ddy of the direction; each becomes that of s, of
/// t, and 0.
pub fn project(b: &mut Builder<'_>, direction: [Value; 3], gradients: &mut [Value]) -> [Value; 3] {
    let major = b.op(Op::CubeMajor, &direction);
    let r = b.op1(Op::FRcp, major);
    let face = b.op(Op::CubeFace, &direction);
    let middle = b.f32(1.5);
    let place = [Op::CubeS, Op::CubeT].map(|op| {
        let c = b.op(op, &direction);
        b.op3(Op::FMa, c, r, middle)
    });
    if !gradients.is_empty() {
        let sides = Sides::of(b, face);
        for d in gradients.chunks_exact_mut(3) {
            let along = sides.gradient(b, [d[0], d[1], d[2]], place, r);
            d.copy_from_slice(&along);
        }
    }
    [place[0], place[1], face]
}

/// Which axis a face lies on, and on which side.
struct Sides {
    z: Value,
    y: Value,
    negative: Value,
}

impl Sides {
    fn of(b: &mut Builder<'_>, face: Value) -> Sides {
        let (four, two, half, zero) = (b.f32(4.0), b.f32(2.0), b.f32(0.5), b.f32(0.0));
        let pair = b.op2(Op::FMul, face, half);
        let odd = b.op1(Op::FFract, pair);
        Sides {
            z: b.op2(Op::FLe, four, face),
            y: b.op2(Op::FLe, two, face),
            negative: b.op2(Op::FNe, odd, zero),
        }
    }

    /// The gradient of s and t by the quotient rule: `(c' - (2p - 3) * |ma|') * r`.
    fn gradient(
        &self,
        b: &mut Builder<'_>,
        [x, y, z]: [Value; 3],
        place: [Value; 2],
        r: Value,
    ) -> [Value; 3] {
        let signed = |b: &mut Builder<'_>, v: Value| {
            let minus = b.op1(Op::FNeg, v);
            b.select(self.negative, minus, v)
        };
        let (sx, sy, sz) = (signed(b, x), signed(b, y), signed(b, z));
        let (minus_y, minus_sz) = (b.op1(Op::FNeg, y), b.op1(Op::FNeg, sz));
        let pick = |b: &mut Builder<'_>, on_x: Value, on_y: Value, on_z: Value| {
            let other = b.select(self.y, on_y, on_x);
            b.select(self.z, on_z, other)
        };
        let along = [pick(b, minus_sz, x, sx), pick(b, minus_y, sz, minus_y)];
        let major = pick(b, sx, sy, sz);
        let (two, three, zero) = (b.f32(2.0), b.f32(3.0), b.f32(0.0));
        let mut out = [zero; 3];
        for ((out, c), p) in out.iter_mut().zip(along).zip(place) {
            let twice = b.op2(Op::FMul, p, two);
            let across = b.op2(Op::FSub, twice, three);
            let moved = b.op2(Op::FMul, across, major);
            let difference = b.op2(Op::FSub, c, moved);
            *out = b.op2(Op::FMul, difference, r);
        }
        out
    }
}

/// Which axis the face of a direction lies on, and on which side.
struct Side {
    z: Value,
    y: Value,
    /// The direction along that axis.
    along: Value,
    negative: Value,
}

/// z goes before y and y before x where they are as large.
fn side(b: &mut Builder, data: &InstData) -> Side {
    let [x, y, z] = [data.args[0], data.args[1], data.args[2]];
    let [ax, ay, az] = [x, y, z].map(|coordinate| b.op1(Op::FAbs, coordinate));
    let above_x = b.op2(Op::FLe, ax, az);
    let above_y = b.op2(Op::FLe, ay, az);
    let on_z = b.op2(Op::And, above_x, above_y);
    let on_y = b.op2(Op::FLe, ax, ay);
    let other = b.select(on_y, y, x);
    let along = b.select(on_z, z, other);
    let zero = b.f32(0.0);
    let negative = b.op2(Op::FLt, along, zero);
    Side { z: on_z, y: on_y, along, negative }
}

/// The coordinate along s of a direction's face, by choices, on a machine without operations of cubes. Exact.
pub fn s(b: &mut Builder, data: &InstData) -> Value {
    let (x, z) = (data.args[0], data.args[2]);
    let side = side(b, data);
    let (minus_x, minus_z) = (b.op1(Op::FNeg, x), b.op1(Op::FNeg, z));
    let on_x = b.select(side.negative, z, minus_z);
    let on_z = b.select(side.negative, minus_x, x);
    let other = b.select(side.y, x, on_x);
    b.select(side.z, on_z, other)
}

/// The coordinate along t. Exact.
pub fn t(b: &mut Builder, data: &InstData) -> Value {
    let (y, z) = (data.args[1], data.args[2]);
    let side = side(b, data);
    let (minus_y, minus_z) = (b.op1(Op::FNeg, y), b.op1(Op::FNeg, z));
    let on_y = b.select(side.negative, minus_z, z);
    let other = b.select(side.y, on_y, minus_y);
    b.select(side.z, minus_y, other)
}

/// Twice the magnitude along the axis. Exact.
pub fn major(b: &mut Builder, data: &InstData) -> Value {
    let side = side(b, data);
    let magnitude = b.op1(Op::FAbs, side.along);
    let two = b.f32(2.0);
    b.op2(Op::FMul, magnitude, two)
}

/// The number of the face: +x -x +y -y +z -z. Exact.
pub fn face(b: &mut Builder, data: &InstData) -> Value {
    let side = side(b, data);
    let [zero, one, two, four] = [0.0, 1.0, 2.0, 4.0].map(|number| b.f32(number));
    let other = b.select(side.y, two, zero);
    let axis = b.select(side.z, four, other);
    let behind = b.select(side.negative, one, zero);
    b.op2(Op::FAdd, axis, behind)
}
