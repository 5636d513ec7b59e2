//! A direction becomes a place on a cube's face, by the four operations that machines have for it.

use gpucc_ir::ssa::{Builder, Op, Value};

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
