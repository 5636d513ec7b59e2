//! Arcs of tangents. WGSL's bound is 4096 units, which is 2^-12 of the result; these are within 2^-14.

use gpucc_ir::ssa::{Builder, InstData, Op, Value};
use std::f32::consts::{FRAC_PI_2, PI};

/// arctan t / t in t^2 for |t| <= 1, with the least greatest relative error: 2^-15.
const ARC: [f32; 5] = [0.023_863_41, -0.091_926_58, 0.185_215_68, -0.331_700_84, 0.999_97];

/// arctan |t| for |t| <= 1.
fn arc(b: &mut Builder, t: Value) -> Value {
    let square = b.op2(Op::FMul, t, t);
    let [first, rest @ ..] = ARC;
    let mut sum = b.f32(first);
    for term in rest {
        let term = b.f32(term);
        let product = b.op2(Op::FMul, square, sum);
        sum = b.op2(Op::FAdd, product, term);
    }
    let size = b.op1(Op::FAbs, t);
    b.op2(Op::FMul, size, sum)
}

/// A positive number with the sign of another.
fn with_sign(b: &mut Builder, size: Value, of: Value) -> Value {
    let mask = b.u32(0x8000_0000);
    let sign = b.op2(Op::And, of, mask);
    b.op2(Op::Or, size, sign)
}

/// arctan x; odd, 0 at 0.
pub fn atan(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let (one, quarter) = (b.f32(1.0), b.f32(FRAC_PI_2));
    let size = b.op1(Op::FAbs, x);
    let large = b.op2(Op::FLt, one, size);
    let inverse = b.op1(Op::FRcp, x);
    let t = b.select(large, inverse, x);
    let p = arc(b, t);
    let folded = b.op2(Op::FSub, quarter, p);
    let angle = b.select(large, folded, p);
    with_sign(b, angle, x)
}

/// The angle of (x, y) for |x| in 2^-126..=2^126; 0 for (0, +-0). Signs are left out where numbers are read.
pub fn atan2(b: &mut Builder, data: &InstData) -> Value {
    let (y, x) = (data.args[0], data.args[1]);
    let [y_size, x_size] = [y, x].map(|of| b.op1(Op::FAbs, of));
    let (quarter, half_turn, zero) = (b.f32(FRAC_PI_2), b.f32(PI), b.f32(0.0));
    let steep = b.op2(Op::FLt, x_size, y_size);
    let larger = b.select(steep, y, x);
    let smaller = b.select(steep, x, y);
    // The reciprocal of what is near the largest float is denormal: a quarter of both is as good.
    let (limit, shrink) = (b.f32(2f32.powi(125)), b.f32(0.25));
    let size = b.op1(Op::FAbs, larger);
    let huge = b.op2(Op::FLt, limit, size);
    let [larger, smaller] = [larger, smaller].map(|of| {
        let part = b.op2(Op::FMul, of, shrink);
        b.select(huge, part, of)
    });
    let nowhere = b.op2(Op::FEq, larger, zero);
    let one = b.f32(1.0);
    let larger = b.select(nowhere, one, larger);
    let reciprocal = b.op1(Op::FRcp, larger);
    let t = b.op2(Op::FMul, smaller, reciprocal);
    let p = arc(b, t);
    let folded = b.op2(Op::FSub, quarter, p);
    let angle = b.select(steep, folded, p);
    let behind = b.op2(Op::FLt, x, zero);
    let mirrored = b.op2(Op::FSub, half_turn, angle);
    let angle = b.select(behind, mirrored, angle);
    with_sign(b, angle, y)
}

#[cfg(test)]
mod tests {
    use super::super::recipes::tests::computed;
    use gpucc_ir::ssa::Op;

    fn near(found: f32, right: f64, what: &str) {
        let error = (f64::from(found) - right).abs();
        assert!(error <= right.abs() / 16384.0, "{what}: {found} for {right}");
        assert_eq!(found.is_sign_negative(), right.is_sign_negative(), "{what}");
    }

    #[test]
    fn arcs_of_tangents_are_within_two_to_the_minus_fourteenth() {
        let sizes = [1e-37f32, 1e-20, 0.001, 0.3, 0.77, 0.99, 1.0, 1.01, 1.7, 12.5, 1e20, 8e37];
        let numbers: Vec<f32> = sizes.iter().flat_map(|&size| [size, -size]).collect();
        for &x in &numbers {
            near(computed(Op::FAtan, &[x]), f64::from(x).atan(), &format!("atan {x}"));
            for &y in &numbers {
                let right = f64::from(y).atan2(f64::from(x));
                // Results that are no normal floats are flushed.
                if right.abs() > 1e-37 {
                    near(computed(Op::FAtan2, &[y, x]), right, &format!("atan2 {y} {x}"));
                }
            }
        }
    }

    #[test]
    fn arcs_of_zeros_and_infinities_are_right() {
        let quarter = std::f32::consts::FRAC_PI_2;
        for (x, right) in [(0.0f32, 0.0f32), (-0.0, -0.0)] {
            assert_eq!(computed(Op::FAtan, &[x]).to_bits(), right.to_bits());
            assert_eq!(computed(Op::FAtan2, &[x, 0.0]).to_bits(), right.to_bits());
        }
        assert_eq!(computed(Op::FAtan, &[f32::NEG_INFINITY]), -quarter);
        assert_eq!(computed(Op::FAtan2, &[2.0, 0.0]), quarter);
        assert_eq!(computed(Op::FAtan2, &[-0.0, -3.0]), -std::f32::consts::PI);
    }
}
