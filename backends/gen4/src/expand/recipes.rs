//! The machine's own expansions, with their error bounds.

use gpucc_ir::ssa::{Builder, InstData, Op, Value};

/// `a < b ? a : b`: a comparison and `sel`. Exact.
pub fn least(b: &mut Builder, data: &InstData) -> Value {
    let (x, y) = (data.args[0], data.args[1]);
    let less = b.op2(Op::FLt, x, y);
    b.select(less, x, y)
}

/// `a >= b ? a : b`. Exact.
pub fn most(b: &mut Builder, data: &InstData) -> Value {
    let (x, y) = (data.args[0], data.args[1]);
    let above = b.op2(Op::FLe, y, x);
    b.select(above, x, y)
}

/// The sign bit of a float.
fn sign_of(b: &mut Builder, x: Value) -> Value {
    let mask = b.u32(0x8000_0000);
    b.op2(Op::And, x, mask)
}

/// The floor of the magnitude with the sign of x: RNDZ is a floor and a flag, and gives -0.5 a zero without its sign
/// (G45 vol. 4, 14.2.40). Exact.
pub fn truncated(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let magnitude = b.op1(Op::FAbs, x);
    let floor = b.op1(Op::FFloor, magnitude);
    let sign = sign_of(b, x);
    b.op2(Op::Or, floor, sign)
}

/// The floor of the magnitude, one more where the rest is above a half, or a half behind an odd floor; with the sign of x.
/// Exact: the rest of a float is a float.
pub fn rounded(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let magnitude = b.op1(Op::FAbs, x);
    let floor = b.op1(Op::FFloor, magnitude);
    let rest = b.op2(Op::FSub, magnitude, floor);
    let half = b.f32(0.5);
    let above = b.op2(Op::FLt, half, rest);
    let tie = b.op2(Op::FEq, half, rest);
    let halved = b.op2(Op::FMul, floor, half);
    let pairs = b.op1(Op::FFloor, halved);
    let odd = b.op2(Op::FLt, pairs, halved);
    let up = b.op2(Op::And, tie, odd);
    let up = b.op2(Op::Or, above, up);
    let one = b.f32(1.0);
    let next = b.op2(Op::FAdd, floor, one);
    let size = b.select(up, next, floor);
    let sign = sign_of(b, x);
    b.op2(Op::Or, size, sign)
}

/// The sine of an angle of -0.25 to 0.25 turns, by its series up to the ninth power: within 2^-17 absolutely. SIN of extended
/// math is off by up to 0.0008 (G45 vol. 4, 6.2.6), more than WGSL allows.
fn quarter_sine(b: &mut Builder, turns: Value) -> Value {
    let tau = b.f32(std::f32::consts::TAU);
    let angle = b.op2(Op::FMul, turns, tau);
    let square = b.op2(Op::FMul, angle, angle);
    let mut sum = b.f32(1.0 / 362_880.0);
    for coefficient in [-1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0] {
        let product = b.op2(Op::FMul, sum, square);
        let term = b.f32(coefficient);
        sum = b.op2(Op::FAdd, product, term);
    }
    b.op2(Op::FMul, sum, angle)
}

/// sin(2 pi x) for |x| <= 0.5: what is beyond a quarter turn is mirrored.
pub fn sine(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let magnitude = b.op1(Op::FAbs, x);
    let (half, quarter) = (b.f32(0.5), b.f32(0.25));
    let mirrored = b.op2(Op::FSub, half, magnitude);
    let beyond = b.op2(Op::FLt, quarter, magnitude);
    let folded = b.select(beyond, mirrored, magnitude);
    let size = quarter_sine(b, folded);
    let sign = sign_of(b, x);
    b.op2(Op::Xor, size, sign)
}

/// cos(2 pi x) for |x| <= 0.5: the sine of what is missing to a quarter turn.
pub fn cosine(b: &mut Builder, data: &InstData) -> Value {
    let magnitude = b.op1(Op::FAbs, data.args[0]);
    let quarter = b.f32(0.25);
    let rest = b.op2(Op::FSub, quarter, magnitude);
    quarter_sine(b, rest)
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

#[cfg(test)]
mod tests {
    use super::super::native::Machine;
    use crate::numerics::numerics;
    use gpucc_ir::ssa::{Builder, Func, Imm, Op, Stage, Value};

    /// What the expansion of an operation gives for operands, under the model.
    fn computed(op: Op, args: &[f32]) -> f32 {
        let mut func = Func::new("one", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let args: Vec<Value> = args.iter().map(|&value| b.f32(value)).collect();
        let result = b.op(op, &args);
        let inst = match func.values[result].def {
            gpucc_ir::ssa::ValueDef::Result(inst, _) => inst,
            gpucc_ir::ssa::ValueDef::Param(..) => panic!("an operation made it"),
        };
        // Somebody reads it, so that its new name is known.
        let mut b = Builder::at_body(&mut func);
        let last = b.op1(Op::FNeg, result);
        let model = numerics("g45");
        gpucc_passes::expand::expand(&mut func, &Machine, &model);
        assert!(!func.regions[func.body].insts.contains(&inst), "{op:?} is expanded");
        let mut known: std::collections::BTreeMap<Value, u64> = std::collections::BTreeMap::new();
        for &inst in &func.regions[func.body].insts {
            let data = &func.insts[inst];
            let bits = match data.imm {
                Imm::Bits(bits) => bits,
                _ => {
                    let args: Vec<u64> = data.args.iter().map(|value| known[value]).collect();
                    let from = func.ty(data.args[0]);
                    let to = func.ty(data.results[0]);
                    gpucc_ir::ssa::eval(data.op, from, to, &args, &model).expect("it computes")
                }
            };
            known.insert(data.results[0], bits);
        }
        -f32::from_bits(known[&last] as u32)
    }

    #[test]
    fn sines_and_cosines_of_turns_are_within_two_to_the_minus_fourteenth() {
        for step in -500..=500 {
            let turns = step as f32 / 1000.0;
            let angle = f64::from(turns) * std::f64::consts::TAU;
            for (op, exact) in [(Op::FSinTurns, angle.sin()), (Op::FCosTurns, angle.cos())] {
                let error = (f64::from(computed(op, &[turns])) - exact).abs();
                assert!(error < 1.0 / 16384.0, "{op:?} of {turns}: {error}");
            }
        }
    }

    /// The four numbers of a face, under the model of the expansions, are those that the evaluation of the operations gives.
    #[test]
    fn faces_of_directions_are_exact() {
        let model = numerics("g45");
        let values = [-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0];
        for x in values {
            for y in values {
                for z in values {
                    for op in [Op::CubeS, Op::CubeT, Op::CubeMajor, Op::CubeFace] {
                        let args = [x, y, z].map(|value: f32| u64::from(value.to_bits()));
                        let ty = gpucc_ir::ssa::Type::B32;
                        let right = gpucc_ir::ssa::eval(op, ty, ty, &args, &model);
                        let right = f32::from_bits(right.expect("it computes") as u32);
                        let found = computed(op, &[x, y, z]);
                        assert_eq!(found.to_bits(), right.to_bits(), "{op:?} of {x} {y} {z}");
                    }
                }
            }
        }
    }

    #[test]
    fn rounding_and_extremes_are_exact() {
        let values = [
            0.0,
            -0.0,
            0.25,
            0.5,
            -0.5,
            0.75,
            1.5,
            -1.5,
            2.5,
            -2.5,
            3.4999,
            8_388_609.0,
            -1e30,
            f32::INFINITY,
        ];
        for x in values {
            let same = |op, right: f32| {
                let found = computed(op, &[x]);
                assert_eq!(found.to_bits(), right.to_bits(), "{op:?} of {x}: {found}");
            };
            same(Op::FTrunc, x.trunc());
            same(Op::FRound, x.round_ties_even());
            for y in values {
                let least = if x < y { x } else { y };
                let most = if x >= y { x } else { y };
                assert_eq!(computed(Op::FMin, &[x, y]).to_bits(), least.to_bits(), "{x} {y}");
                assert_eq!(computed(Op::FMax, &[x, y]).to_bits(), most.to_bits(), "{x} {y}");
            }
        }
    }
}
