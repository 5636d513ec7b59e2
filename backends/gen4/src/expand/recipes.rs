//! The machine's own expansions, with their error bounds.

use super::uses::uses;
use crate::abi::of_vertices;
use gpucc_ir::ssa::{Builder, Func, InstData, Op, Type, Value};
use smallvec::SmallVec;

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

/// x / y within 2 units for |y| in 2^-126..=2^126; WGSL's bound is 2.5. The reciprocal is off by a unit. Where it is too small, its
/// product with y is below 1, and the next float away from zero stands in for it: so it is less than a unit too large, never too
/// small. Its unit is less than two of the quotient's, and rounding the product toward zero takes less than one away. What divides
/// without a remainder is not too small, so that its floor is right. r (1 + 2^-23) toward zero is the next float, and keeps zeros and
/// infinities. All but the last product is of y alone, so that quotients by one number share it.
pub fn quotient(b: &mut Builder, data: &InstData) -> Value {
    let (x, y) = (data.args[0], data.args[1]);
    let reciprocal = b.op1(Op::FRcp, y);
    // A power of two keeps the reciprocal's unit, and divides without a remainder by powers of two alone, whose reciprocals are exact.
    if let Some(bits) = b.func.as_const(x)
        && bits as u32 & 0x7f_ffff == 0
    {
        return b.op2(Op::FMul, x, reciprocal);
    }
    let product = b.op2(Op::FMul, reciprocal, y);
    let one = b.f32(1.0);
    let below = b.op2(Op::FLt, product, one);
    let above = b.f32(1.0 + f32::EPSILON);
    let next = b.op2(Op::FMul, reciprocal, above);
    let reciprocal = b.select(below, next, reciprocal);
    b.op2(Op::FMul, x, reciprocal)
}

/// x / c becomes x r for a number c, r the reciprocal of c or the next float away from zero: r is less than a unit too large, so
/// the product is less than two, and rounding toward zero takes less than one away. So it is within 2 units, and c / c is 1.
pub fn constant_divisors(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let data = &func.insts[inst];
            if data.op == Op::FDiv
                && func.ty(data.results[0]) == Type::B32
                && let Some(divisor) = func.as_const(data.args[1])
                && let Some(factor) = reciprocal(f32::from_bits(divisor as u32))
            {
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                let factor = b.f32(factor);
                let data = &mut func.insts[inst];
                (data.op, data.args[1]) = (Op::FMul, factor);
                changed = true;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// x less its whole part is the fraction of its magnitude with the sign of x: three words, where the whole part alone takes as many.
/// The fraction of a whole number has the sign of x too, which WGSL lets a zero have (15.7.2).
pub fn fractions(func: &mut Func) -> bool {
    let uses = uses(func);
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let data = &func.insts[inst];
            if data.op == Op::FSub
                && func.ty(data.results[0]) == Type::B32
                && let [x, whole] = data.args[..]
                && uses[whole] == 1
                && func.def(whole).is_some_and(|whole| whole.op == Op::FTrunc && whole.args[0] == x)
            {
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                let magnitude = b.op1(Op::FAbs, x);
                let fraction = b.op1(Op::FFract, magnitude);
                let sign = sign_of(&mut b, x);
                let data = &mut func.insts[inst];
                (data.op, data.args) = (Op::Or, SmallVec::from_slice(&[fraction, sign]));
                changed = true;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// The reciprocal of a number, or the next float that is larger in magnitude; none where either is near the ends of the range.
fn reciprocal(number: f32) -> Option<f32> {
    let size = number.abs();
    if !(1e-30..=1e30).contains(&size) {
        return None;
    }
    let near = (1.0 / f64::from(size)) as f32;
    // 48 bits of a product fit the 53 of a double.
    let exact = f64::from(near) * f64::from(size);
    let above = if exact < 1.0 { f32::from_bits(near.to_bits() + 1) } else { near };
    Some(above.copysign(number))
}

/// The angle in turns, in -0.5..=0.5: x / 2 pi less its nearest integer. The product's error is 2^-24 turns in -pi..=pi, the
/// sum's 2^-24 more where it falls below an integer.
fn turns(b: &mut Builder, x: Value) -> Value {
    let (scale, half) = (b.f32(0.5 * std::f32::consts::FRAC_1_PI), b.f32(0.5));
    let turns = b.op2(Op::FMul, x, scale);
    let above = b.op2(Op::FAdd, turns, half);
    let whole = b.op1(Op::FFloor, above);
    b.op2(Op::FSub, turns, whole)
}

/// sin x within 2^-15 absolutely in -pi..=pi; WGSL's bound is 2^-11. SIN of extended math is off by up to 0.0008 (G45 vol. 4,
/// 6.2.6), more than that.
pub fn sine_of(b: &mut Builder, data: &InstData) -> Value {
    let turns = turns(b, data.args[0]);
    b.op1(Op::FSinTurns, turns)
}

/// cos x within 2^-13 in -pi..=pi; WGSL's bound is 2^-11. Of the part t of a turn it is the sine of |t - 0.5| less a quarter turn.
pub fn cosine_of(b: &mut Builder, data: &InstData) -> Value {
    let (scale, half) = (b.f32(0.5 * std::f32::consts::FRAC_1_PI), b.f32(-0.5));
    let turns = b.op2(Op::FMul, data.args[0], scale);
    let part = b.op1(Op::FFract, turns);
    let from_half = b.op2(Op::FAdd, part, half);
    near_sine(b, from_half, 1.0, -0.25)
}

/// sin x / cos x, WGSL's own definition; the range is reduced once.
pub fn tangent_of(b: &mut Builder, data: &InstData) -> Value {
    let turns = turns(b, data.args[0]);
    let (sine, cosine) = (b.op1(Op::FSinTurns, turns), b.op1(Op::FCosTurns, turns));
    b.op2(Op::FDiv, sine, cosine)
}

/// sin(2 pi x) for |x| <= 0.5: the arch u = x (8 - 16 |x|) has its zeros and its top, and within a half turn the sine is a
/// function of |u| alone, u (c0 + c1 |u| + c2 u^2), here the one with the least greatest error: within 2^-16.9. Vertices have a
/// term more, within 2^-24: an outline shows what a place is off by.
pub fn sine(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let magnitude = b.op1(Op::FAbs, x);
    if of_vertices(b.func.stage) {
        let slope = line(b, magnitude, -16.0, 8.0);
        let arch = b.op2(Op::FMul, x, slope);
        let size = b.op1(Op::FAbs, arch);
        let mut sum = b.f32(0.000_856_701_7);
        for coefficient in [0.017_381_184, 0.196_365_56, 0.785_396_5] {
            let term = b.f32(coefficient);
            let product = b.op2(Op::FMul, size, sum);
            sum = b.op2(Op::FAdd, product, term);
        }
        return b.op2(Op::FMul, arch, sum);
    }
    // The third root of c2, so that the last coefficient is 1.
    const SCALE: f32 = 0.266_971_9;
    let slope = line(b, magnitude, -16.0 * SCALE, 8.0 * SCALE);
    let arch = b.op2(Op::FMul, x, slope);
    let size = b.op1(Op::FAbs, arch);
    let inner = line(b, size, 0.195_409_75 / (SCALE * SCALE), 0.785_554_3 / SCALE);
    let square = b.op2(Op::FMul, arch, arch);
    let sum = b.op2(Op::FAdd, square, inner);
    b.op2(Op::FMul, arch, sum)
}

/// cos(2 pi x) for |x| <= 0.5: the sine of what is missing to a quarter turn.
pub fn cosine(b: &mut Builder, data: &InstData) -> Value {
    near_sine(b, data.args[0], -1.0, 0.25)
}

/// sin(2 pi r) of r = slope |x| + offset in -0.25..=0.25: r (c0 + c1 r^2 + c2 r^4) with the least greatest error is within 2^-13.8.
/// What scales r so that c2 is 1 costs nothing where LINE makes it. Vertices have the nearer sine.
fn near_sine(b: &mut Builder, x: Value, slope: f32, offset: f32) -> Value {
    let size = b.op1(Op::FAbs, x);
    if of_vertices(b.func.stage) {
        let offset = b.f32(offset);
        let size = if slope < 0.0 { b.op1(Op::FNeg, size) } else { size };
        let rest = b.op2(Op::FAdd, offset, size);
        return b.op1(Op::FSinTurns, rest);
    }
    // The fifth root of c2.
    const SCALE: f32 = 2.362_423_4;
    let rest = line(b, size, slope * SCALE, offset * SCALE);
    let square = b.op2(Op::FMul, rest, rest);
    let inner = line(b, square, -41.095_203 / (SCALE * SCALE * SCALE), 6.281_279_6 / SCALE);
    let fourth = b.op2(Op::FMul, square, square);
    let sum = b.op2(Op::FAdd, fourth, inner);
    b.op2(Op::FMul, rest, sum)
}

/// slope x + offset.
fn line(b: &mut Builder, x: Value, slope: f32, offset: f32) -> Value {
    let [slope, offset] = [slope, offset].map(|number| b.f32(number));
    let product = b.op2(Op::FMul, x, slope);
    b.op2(Op::FAdd, product, offset)
}

#[cfg(test)]
pub mod tests {
    use super::super::native::Machine;
    use crate::numerics::{ERRORS, numerics};
    use gpucc_ir::ssa::numerics::Perturbation;
    use gpucc_ir::ssa::{Builder, Func, Imm, Numerics, Op, Stage, Value};

    /// What the expansion of an operation gives for operands, under the model.
    pub fn computed(op: Op, args: &[f32]) -> f32 {
        computed_by(&numerics("g45"), op, args)
    }

    /// As [`computed`], under a model whose functions may be off.
    fn computed_by(model: &Numerics, op: Op, args: &[f32]) -> f32 {
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
        gpucc_passes::expand::expand(&mut func, &Machine { vertex: false }, model);
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
                    gpucc_ir::ssa::eval(data.op, from, to, &args, model).expect("it computes")
                }
            };
            known.insert(data.results[0], bits);
        }
        -f32::from_bits(known[&last] as u32)
    }

    #[test]
    fn sines_of_turns_are_within_two_to_the_minus_fourteenth_and_cosines_twice_that() {
        for step in -500..=500 {
            let turns = step as f32 / 1000.0;
            let angle = f64::from(turns) * std::f64::consts::TAU;
            let cases =
                [(Op::FSinTurns, angle.sin(), 16384.0), (Op::FCosTurns, angle.cos(), 8192.0)];
            for (op, exact, parts) in cases {
                let error = (f64::from(computed(op, &[turns])) - exact).abs();
                assert!(error < 1.0 / parts, "{op:?} of {turns}: {error}");
            }
        }
    }

    #[test]
    fn cosines_of_angles_are_within_two_to_the_minus_twelfth() {
        for step in -1000..=1000 {
            let angle = step as f32 * std::f32::consts::PI / 1000.0;
            let error = (f64::from(computed(Op::FCos, &[angle])) - f64::from(angle).cos()).abs();
            assert!(error < 1.0 / 4096.0, "cos {angle}: {error}");
        }
        // It is even, and a turn more makes little of a difference.
        for angle in [0.5f32, 1.0, 3.0] {
            let [right, other, further] =
                [angle, -angle, angle + std::f32::consts::TAU].map(|x| computed(Op::FCos, &[x]));
            assert!((right - other).abs() < 1e-6, "cos {angle}");
            assert!((right - further).abs() < 1e-5, "cos {angle}");
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
    fn quotients_are_within_two_units_and_keep_what_is_special() {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits((state >> 4) + 0x3800_0000)
        };
        let mut model = numerics("g45");
        for seed in 0..10_000 {
            let (x, y) = (next(), next());
            // Every second reciprocal is off: a unit to either side of the one that is rounded toward zero, which is nearly two from
            // the exact one at most, and one more than the machine's.
            let errors = Perturbation { seed, ..ERRORS.bounds };
            model.perturbation = (seed % 2 == 1).then_some(errors);
            let found = computed_by(&model, Op::FDiv, &[x, y]);
            let right = f64::from(x) / f64::from(y);
            let unit = f64::from(f32::from_bits((right as f32).to_bits() & 0x7f80_0000));
            let off = (f64::from(found) - right).abs() * 8_388_608.0 / unit;
            let most = if seed % 2 == 1 { 3.0 } else { 2.0 };
            assert!(off <= most, "{x} / {y}: {found}, off by {off}");
        }
        for (x, y) in [(6.0f32, 3.0f32), (49.0, 7.0), (-21.0, 3.0), (1e6, 10.0)] {
            let found = computed(Op::FDiv, &[x, y]).abs();
            assert!(found >= (x / y).abs(), "{x} / {y} is not too small: {found}");
        }
        let infinity = f32::INFINITY;
        let cases = [
            (0.0, 3.0, 0.0),
            (-0.0, 3.0, -0.0),
            (1.0, 0.0, infinity),
            (-1.0, 0.0, -infinity),
            (infinity, 2.0, infinity),
            (2.0, infinity, 0.0),
            (1e-30, 1e30, 0.0),
            (1e30, 1e-30, infinity),
        ];
        for (x, y, right) in cases {
            let found = computed(Op::FDiv, &[x, y]);
            assert_eq!(found.to_bits(), f32::to_bits(right), "{x} / {y}: {found}");
        }
        assert!(computed(Op::FDiv, &[0.0, 0.0]).is_nan());
    }

    /// Numbers over something, with a reciprocal that is off by its unit to either side.
    #[test]
    fn quotients_of_powers_of_two_are_within_two_units() {
        let model = numerics("g45");
        let mut state = 1u32;
        for number in [1.0f32, -2.0, 0.5, 1024.0] {
            for step in 0..2_000u32 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let y = f32::from_bits((state >> 9) | 0x3f80_0000);
                let exact = f64::from(number) / f64::from(y);
                let unit = f64::from(f32::from_bits((exact as f32).to_bits() & 0x7f80_0000));
                // The floats below and above the exact one.
                let exactly = 1.0 / f64::from(y);
                let near = exactly as f32;
                let above = u32::from(f64::from(near) > exactly);
                let reciprocal = f32::from_bits(near.to_bits() - above + step % 2);
                let bits = [number, reciprocal].map(|x| u64::from(x.to_bits()));
                let ty = gpucc_ir::ssa::Type::B32;
                let found = gpucc_ir::ssa::eval(Op::FMul, ty, ty, &bits, &model);
                let found = f64::from(f32::from_bits(found.expect("it computes") as u32));
                let off = (found - exact).abs() * 8_388_608.0 / unit.abs();
                assert!(off <= 2.0, "{number} / {y}: off by {off}");
            }
        }
    }

    #[test]
    fn numbers_divide_by_a_factor_within_two_units() {
        let mut state = 1u32;
        for _ in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let divisor = f32::from_bits(state % 0x1000_0000 + 0x3800_0000);
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let x = f32::from_bits(state % 0x1000_0000 + 0x3800_0000);
            let factor = super::reciprocal(divisor).expect("it is in range");
            let multiply = |x: f32| {
                let bits = [x, factor].map(|x| u64::from(x.to_bits()));
                let ty = gpucc_ir::ssa::Type::B32;
                let product = gpucc_ir::ssa::eval(Op::FMul, ty, ty, &bits, &numerics("g45"));
                f32::from_bits(product.expect("it computes") as u32)
            };
            let (found, right) = (multiply(x), f64::from(x) / f64::from(divisor));
            let unit =
                f64::from(f32::from_bits((right as f32).to_bits() & 0x7f80_0000)) / 8_388_608.0;
            assert!((f64::from(found) - right).abs() <= 2.0 * unit, "{x} / {divisor}: {found}");
            assert_eq!(multiply(divisor), 1.0, "{divisor}");
        }
    }

    #[test]
    fn cutting_off_is_exact() {
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
        }
    }

    /// The text of x less its whole part, where `reads` others read that.
    fn fraction(reads: &str) -> String {
        let text = format!(
            "func \"one\" vertex {{
              in0 = \"v\" f32 x 4 location 0 flat center
              out0 = \"\" f32 x 4 location 0 flat
            }} body {{
              %0: b32 = input in0.0
              %1: b32 = ftrunc %0
              %2: b32 = fsub %0, %1
              output out0.0, %2
              {reads}
              yield
            }}"
        );
        let mut func = super::super::parsed(&text);
        super::fractions(&mut func);
        gpucc_ir::ssa::verify(&func).expect("still sound");
        func.to_string()
    }

    #[test]
    fn what_is_left_of_a_whole_part_is_a_fraction_with_a_sign() {
        let text = fraction("");
        for step in ["fabs %0", "ffract %2", "const 0x80000000", "and %0, %4", "or %3, %5"] {
            assert!(text.contains(&format!(": b32 = {step}")), "{step}: {text}");
        }
        let text = fraction("output out0.1, %1");
        assert!(text.contains("= fsub %0, %1"), "the whole part is there anyway: {text}");
    }
}
