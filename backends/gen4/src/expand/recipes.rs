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
