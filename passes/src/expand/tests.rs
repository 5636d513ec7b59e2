//! Each expansion against the exact value: at least 10 000 operands, boundaries among them, on
//! machines that flush, round `fma` twice, round toward zero, and are off by as much as the bounds allow.

use super::{Native, expand};
use gpucc_ir::ssa::numerics::{Denormals, Fma, Functions, Perturbation, Rounding, exact};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{
    Builder, Func, Imm, InputData, InputKind, Numerics, Op, Scalar, Stage, Type, Value, eval,
    eval_inst,
};

/// What no expansion may end with.
struct Poor;

impl Native for Poor {
    fn native(&self, op: Op, _: Type) -> bool {
        super::recipe(op).is_none() || matches!(op, Op::FSub | Op::FMa | Op::FSqrt | Op::UMulHi)
    }
}

/// The same without square root, wide products, subtraction, fma.
struct Poorest;

impl Native for Poorest {
    fn native(&self, op: Op, _: Type) -> bool {
        super::recipe(op).is_none() || op == Op::FRsq
    }
}

/// Never above the exact value, less than one unit below.
fn down(f: fn(f64) -> f64, x: f32) -> f32 {
    directed(f(x.into()), true)
}
fn up(f: fn(f64) -> f64, x: f32) -> f32 {
    directed(f(x.into()), false)
}
fn directed(y: f64, down: bool) -> f32 {
    let near = y as f32;
    if !near.is_finite() || f64::from(near) == y {
        return near;
    }
    let is_below = f64::from(near) < y;
    match (down, is_below) {
        (true, true) | (false, false) => near,
        (true, false) => near.next_down(),
        (false, true) => near.next_up(),
    }
}

const SLOPPY: Numerics = Numerics {
    name: "sloppy",
    f32_denormals: Denormals::FLUSH,
    min_max_flush: true,
    fma: Fma::Twice,
    ..Numerics::REFERENCE
};

/// Machines whose functions are within the bounds that the module promises for.
pub(crate) fn machines() -> Vec<Numerics> {
    let below = Functions {
        rcp: |x| down(|x| 1.0 / x, x),
        rsq: |x| down(|x| 1.0 / x.sqrt(), x),
        sqrt: |x| down(f64::sqrt, x),
        log2: |x| down(f64::log2, x),
        exp2: |x| exact::exp2(x),
        sin_turns: exact::sin_turns,
        cos_turns: exact::cos_turns,
        ..Functions::EXACT
    };
    let above = Functions {
        rcp: |x| up(|x| 1.0 / x, x),
        rsq: |x| up(|x| 1.0 / x.sqrt(), x),
        sqrt: |x| up(f64::sqrt, x),
        log2: |x| up(f64::log2, x),
        ..below
    };
    let errors = Perturbation {
        seed: 5,
        rcp_ulps: 0,
        rsq_ulps: 0,
        sqrt_ulps: 0,
        exp2_ulps: 1,
        log2_ulps: 0,
        sin_cos_absolute: 1.0 / 8192.0,
    };
    let nearest = [
        Numerics::REFERENCE,
        SLOPPY,
        Numerics { functions: below, ..SLOPPY }.perturbed(errors),
        Numerics { functions: above, ..SLOPPY }.perturbed(errors),
    ];
    let cutting = |machine: Numerics, rounding| Numerics { rounding, ..machine };
    let [reference, sloppy, below, above] = nearest;
    let toward_zero = [
        cutting(reference, Rounding::TowardZero),
        cutting(sloppy, Rounding::TowardZeroOverflowing),
        cutting(below, Rounding::TowardZero),
        cutting(above, Rounding::TowardZeroOverflowing),
    ];
    [nearest, toward_zero].concat()
}

/// A function of one op, expanded.
struct Expanded {
    func: Func,
    inputs: Vec<Value>,
    result: Value,
}

fn expanded(op: Op, operands: usize, numerics: &Numerics, native: &dyn Native) -> Expanded {
    expanded_of(op, &vec![None; operands], numerics, native)
}

/// Some operands are constants.
fn expanded_of(
    op: Op,
    operands: &[Option<f32>],
    numerics: &Numerics,
    native: &dyn Native,
) -> Expanded {
    let mut func = Func::new("one", Stage::Compute);
    let input = func.inputs.push(InputData {
        kind: InputKind::Builtin(gpucc_ir::ssa::Builtin::GlobalInvocationId),
        components: 4,
        scalar: Scalar::U32,
        name: "operands".into(),
    });
    let sink = func.outputs.push(gpucc_ir::ssa::OutputData {
        kind: gpucc_ir::ssa::OutputKind::Builtin(gpucc_ir::ssa::Builtin::FragDepth),
        components: 1,
        scalar: Scalar::U32,
        name: "result".into(),
    });
    let mut b = Builder::at_body(&mut func);
    let args: Vec<Value> = (0..operands.len())
        .map(|at| match operands[at] {
            Some(number) => b.f32(number),
            None => b.input(input, at as u8),
        })
        .collect();
    let open = args.iter().zip(operands).filter(|(_, constant)| constant.is_none());
    let inputs = open.map(|(&arg, _)| arg).collect();
    let inst = b.inst(op, Imm::None, &args, &[], &[Type::B32]);
    let result = b.result(inst);
    b.output(sink, 0, result);
    b.end(Op::Yield, &[]);
    assert!(expand(&mut func, native, numerics), "{op:?} has an expansion");
    let insts = &func.regions[func.body].insts;
    for &inst in insts {
        let data = &func.insts[inst];
        assert!(native.native(data.op, Type::B32), "{op:?} leaves {:?}", data.op);
    }
    let output = insts[insts.len() - 2];
    let result = func.insts[output].args[0];
    Expanded { func, inputs, result }
}

impl Expanded {
    fn run(&self, operands: &[u32], numerics: &Numerics) -> u32 {
        let mut values = vec![0u64; self.func.values.len()];
        for &inst in &self.func.regions[self.func.body].insts {
            let data = &self.func.insts[inst];
            let Some(&result) = data.results.first() else {
                continue;
            };
            let value = match self.inputs.iter().position(|&input| input == result) {
                Some(index) => operands[index].into(),
                None => {
                    let args: Vec<u64> =
                        data.args.iter().map(|arg| values[arg.as_u32() as usize]).collect();
                    eval_inst(&self.func, data, &args, numerics).expect("computes")
                }
            };
            values[result.as_u32() as usize] = value;
        }
        values[self.result.as_u32() as usize] as u32
    }
}

/// 12 000 words: boundaries, small ones, all bit patterns.
fn words() -> Vec<u32> {
    let mut rng = Rng::new(11);
    let mut words =
        vec![0, 1, 2, 3, 31, 32, 33, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fffe];
    for bit in 0..32 {
        words.extend([1 << bit, (1u32 << bit).wrapping_sub(1), !(1 << bit), (1 << bit) + 1]);
    }
    while words.len() < 12_000 {
        let bits = rng.bits() as u32;
        words.push(bits >> rng.below(32));
    }
    words
}

fn exact_integers(op: Op, operands: usize) {
    let words = words();
    let mut rng = Rng::new(3);
    for numerics in machines() {
        for native in [&Poor as &dyn Native, &Poorest] {
            if native.native(op, Type::B32) {
                continue;
            }
            let code = expanded(op, operands, &numerics, native);
            for &first in &words {
                let mut args = vec![first];
                while args.len() < operands {
                    args.push(rng.pick(&words));
                }
                let wide: Vec<u64> = args.iter().map(|&arg| arg.into()).collect();
                let expected = eval(op, Type::B32, Type::B32, &wide, &numerics);
                let actual = code.run(&args, &numerics);
                assert_eq!(Some(u64::from(actual)), expected, "{op:?} {args:x?}");
            }
        }
    }
}

#[test]
fn integer_division_is_exact_whatever_the_reciprocal() {
    for op in [Op::UDiv, Op::URem, Op::SDiv, Op::SRem] {
        exact_integers(op, 2);
    }
}

#[test]
fn integer_division_bears_a_reciprocal_two_units_off() {
    for seed in 0..6 {
        let rounding = [Rounding::NearestEven, Rounding::TowardZero][seed as usize % 2];
        let numerics = Numerics { rounding, ..SLOPPY }.perturbed(Perturbation {
            seed,
            rcp_ulps: 2,
            rsq_ulps: 0,
            sqrt_ulps: 0,
            exp2_ulps: 0,
            log2_ulps: 0,
            sin_cos_absolute: 0.0,
        });
        let mut rng = Rng::new(seed);
        let words = words();
        for op in [Op::UDiv, Op::URem] {
            let code = expanded(op, 2, &numerics, &Poor);
            for &y in &words {
                let x = rng.pick(&words);
                let wide = [u64::from(x), u64::from(y)];
                let expected = eval(op, Type::B32, Type::B32, &wide, &numerics);
                assert_eq!(Some(code.run(&[x, y], &numerics).into()), expected, "{x} {op:?} {y}");
            }
        }
    }
}

#[test]
fn bit_operations_are_exact() {
    for op in [Op::PopCount, Op::BitReverse, Op::Clz, Op::Ctz, Op::UMsb, Op::SMsb, Op::Lsb] {
        exact_integers(op, 1);
    }
    for op in [Op::INeg, Op::IAbs] {
        exact_integers(op, 1);
    }
    for op in [Op::UMulHi, Op::SMulHi] {
        exact_integers(op, 2);
    }
}

#[test]
fn bit_fields_follow_the_clamps_of_wgsl() {
    let words = words();
    let mut rng = Rng::new(4);
    for (op, operands) in [(Op::UBfe, 3), (Op::SBfe, 3), (Op::Bfi, 4)] {
        let code = expanded(op, operands, &SLOPPY, &Poor);
        for round in 0..20_000u32 {
            let mut args: Vec<u32> = (0..operands - 2).map(|_| rng.pick(&words)).collect();
            // All offsets and counts to 40, then any.
            match round {
                0..1681 => args.extend([round / 41, round % 41]),
                _ => args.extend([rng.pick(&words), rng.pick(&words)]),
            }
            let wide: Vec<u64> = args.iter().map(|&arg| arg.into()).collect();
            let expected = eval(op, Type::B32, Type::B32, &wide, &SLOPPY);
            assert_eq!(Some(code.run(&args, &SLOPPY).into()), expected, "{op:?} {args:x?}");
        }
    }
}

fn float_words(range: std::ops::RangeInclusive<f32>) -> Vec<f32> {
    let mut rng = Rng::new(17);
    let (low, high) = (*range.start(), *range.end());
    let mut list = vec![low, high, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, f32::MIN_POSITIVE];
    for power in -126..=127 {
        let x = 2f32.powi(power);
        list.extend([x, -x, x.next_up(), x.next_down(), -x * 1.5, x * 1.999_999_9]);
    }
    while list.len() < 6_000 {
        let unit = (rng.bits() >> 40) as f32 / (1u64 << 24) as f32;
        list.push(low + (high - low) * unit);
    }
    while list.len() < 14_000 {
        list.push(f32::from_bits(rng.bits() as u32));
    }
    list.retain(|x| range.contains(x) && (*x == 0.0 || x.is_normal()));
    list
}

/// Units in the last place of f32 at `exact`.
fn unit(exact: f64) -> f64 {
    let size = exact.abs().max(f64::from(f32::MIN_POSITIVE));
    2f64.powi(size.log2().floor() as i32 - 23)
}

/// Compares an expansion with the exact function over a range; `allowed` gives the absolute error
/// that is allowed for operands and exact value.
fn within(
    op: Op,
    range: std::ops::RangeInclusive<f32>,
    function: fn(&[f64]) -> f64,
    allowed: fn(&[f64], f64) -> f64,
) {
    let native: &dyn Native = if Poor.native(op, Type::B32) { &Poorest } else { &Poor };
    let operands = if matches!(op, Op::FDiv | Op::FPow | Op::FAtan2) { 2 } else { 1 };
    let list = float_words(range);
    let mut rng = Rng::new(8);
    let (mut worst, mut tried) = (0f64, 0);
    for numerics in machines() {
        let code = expanded(op, operands, &numerics, native);
        for &first in &list {
            let mut args = vec![first];
            while args.len() < operands {
                args.push(rng.pick(&list));
            }
            let wide: Vec<f64> = args.iter().map(|&arg| arg.into()).collect();
            let exact = function(&wide);
            let bits: Vec<u32> = args.iter().map(|arg| arg.to_bits()).collect();
            let actual = f64::from(f32::from_bits(code.run(&bits, &numerics)));
            let allowed = allowed(&wide, exact);
            let tiny = f64::from(f32::MIN_POSITIVE);
            tried += 1;
            if exact.is_nan() || allowed.is_nan() || exact.abs() > f64::from(f32::MAX) {
                continue;
            }
            if actual == exact || exact.abs() < 1.001 * tiny && actual.abs() <= tiny {
                continue;
            }
            let error = (actual - exact).abs() / allowed;
            assert!(
                error <= 1.0,
                "{op:?} {args:?}: {actual:e} for {exact:e}, {error} of what {} {:?} allows",
                numerics.name,
                numerics.rounding
            );
            worst = worst.max(error);
        }
    }
    assert!(tried >= 10_000, "{op:?}: only {tried} operands");
    assert!(worst > 0.01, "{op:?}: the bound {worst} is far too wide to mean anything");
}

#[test]
fn division_is_within_two_and_a_half_units() {
    within(
        Op::FDiv,
        -1e30..=1e30,
        |x| x[0] / x[1],
        |x, exact| {
            let fits = x[1].abs() >= 2f64.powi(-126) && x[1].abs() <= 2f64.powi(126);
            if fits { 2.5 * unit(exact) } else { f64::NAN }
        },
    );
}

/// Machines that round toward zero and `fma` once, whose reciprocals are a unit too small or too large at most.
fn fusing() -> Vec<Numerics> {
    let cut = machines().into_iter().filter(|machine| machine.rounding != Rounding::NearestEven);
    cut.map(|machine| Numerics { fma: Fma::Fused, ..machine }).collect()
}

#[test]
fn quotients_toward_zero_are_within_two_and_a_half_units_where_fma_rounds_once() {
    let list = float_words(-1e30..=1e30);
    let mut rng = Rng::new(9);
    for numerics in fusing() {
        let code = expanded(Op::FDiv, 2, &numerics, &Poor);
        for &x in &list {
            let y = rng.pick(&list);
            let exact = f64::from(x) / f64::from(y);
            let fits = y.abs() >= f32::MIN_POSITIVE && y.abs() <= 2f32.powi(126);
            if !fits || exact.abs() > f64::from(f32::MAX) || exact.abs() < 1.2e-38 {
                continue;
            }
            let found = f32::from_bits(code.run(&[x.to_bits(), y.to_bits()], &numerics));
            let off = (f64::from(found) - exact).abs() / unit(exact);
            assert!(off < 2.5, "{x:e} / {y:e}: {found:e}, off by {off}");
        }
        for (x, y) in [(6.0f32, 3.0f32), (49.0, 7.0), (-21.0, 3.0), (1e6, 10.0), (5.0, 1e-3)] {
            let found = f32::from_bits(code.run(&[x.to_bits(), y.to_bits()], &numerics));
            assert!(found.abs() >= (x / y).abs(), "{x} / {y} is not too small: {found}");
        }
        let infinity = f32::INFINITY;
        for (x, y, exact) in [
            (0.0, 3.0, 0.0),
            (-0.0, 3.0, -0.0),
            (1.0, 0.0, infinity),
            (-1.5, 0.0, -infinity),
            (infinity, 3.0, infinity),
            (3.0, -infinity, -0.0),
        ] {
            let found = code.run(&[x.to_bits(), y.to_bits()], &numerics);
            assert_eq!(found, f32::to_bits(exact), "{x} / {y}");
        }
        let none = f32::from_bits(code.run(&[0, 0], &numerics));
        assert!(none.is_nan(), "0 / 0 is {none}");
    }
}

#[test]
fn quotients_toward_zero_by_a_constant_are_one_product() {
    let list = float_words(-1e30..=1e30);
    for numerics in machines() {
        if numerics.rounding == Rounding::NearestEven {
            continue;
        }
        for y in [3.0f32, -10.0, 7.0, 1e-3, 0.7, f32::MIN_POSITIVE, -2f32.powi(126), 1.999_999_9] {
            let code = expanded_of(Op::FDiv, &[None, Some(y)], &numerics, &Poor);
            let insts = code.func.regions[code.func.body].insts.iter();
            let ops = insts.map(|&inst| code.func.insts[inst].op);
            assert_eq!(ops.filter(|op| *op == Op::FMul).count(), 1);
            for &x in &list {
                let exact = f64::from(x) / f64::from(y);
                if exact.abs() > f64::from(f32::MAX) || exact.abs() < 1.2e-38 {
                    continue;
                }
                let found = f32::from_bits(code.run(&[x.to_bits()], &numerics));
                let off = (f64::from(found) - exact).abs() / unit(exact);
                assert!(off < 2.0, "{x:e} / {y:e}: {found:e}, off by {off}");
                let whole = exact == f64::from(exact as f32);
                let small = f64::from(found).abs() < exact.abs();
                assert!(!(whole && small), "{x:e} / {y:e} is not too small: {found:e}");
            }
        }
        // A number over something is its reciprocal.
        let code = expanded_of(Op::FDiv, &[Some(-4.0), None], &numerics, &Poor);
        for &y in &list {
            let exact = -4.0 / f64::from(y);
            if y.abs() < f32::MIN_POSITIVE || y.abs() > 2f32.powi(126) || exact.abs() > 3e38 {
                continue;
            }
            let found = f32::from_bits(code.run(&[y.to_bits()], &numerics));
            assert!((f64::from(found) - exact).abs() <= unit(exact), "-4 / {y:e}: {found:e}");
        }
        // What has no reciprocal is divided as others are.
        let code = expanded_of(Op::FDiv, &[None, Some(0.0)], &numerics, &Poor);
        assert_eq!(code.run(&[3f32.to_bits()], &numerics), f32::INFINITY.to_bits());
    }
}

#[test]
fn the_root_by_its_reciprocal_is_within_three_units() {
    within(Op::FSqrt, f32::MIN_POSITIVE..=f32::MAX, |x| x[0].sqrt(), |_, y| 3.0 * unit(y));
}

#[test]
fn exponentials_and_logarithms_are_within_wgsl_bounds() {
    within(Op::FExp, -87.0..=88.0, |x| x[0].exp(), |x, y| (3.0 + 2.0 * x[0].abs()) * unit(y));
    within(
        Op::FLog,
        f32::MIN_POSITIVE..=3e38,
        |x| x[0].ln(),
        |x, y| match x[0] {
            0.5..=2.0 => 2f64.powi(-21),
            _ => 3.0 * unit(y),
        },
    );
    // The error of 2^(y log2 x): 3 + |y log2 x| units and those of the logarithm.
    within(
        Op::FPow,
        1e-4..=1e4,
        |x| x[0].powf(x[1]),
        |x, exact| {
            let power = x[1] * x[0].log2();
            (4.0 + 4.0 * power.abs()) * unit(exact)
        },
    );
}

#[test]
fn circular_functions_are_within_wgsl_bounds() {
    let pi = std::f32::consts::PI;
    within(Op::FSin, -pi..=pi, |x| x[0].sin(), |_, _| 2f64.powi(-11));
    within(Op::FCos, -pi..=pi, |x| x[0].cos(), |_, _| 2f64.powi(-11));
    // sin / cos with both off by 2^-11.
    within(
        Op::FTan,
        -1.4..=1.4,
        |x| x[0].tan(),
        |x, _| 2f64.powi(-11) * (1.0 + x[0].tan().abs()) / (x[0].cos() - 2f64.powi(-11)),
    );
}

#[test]
fn inverse_circular_functions_are_within_wgsl_bounds() {
    within(Op::FAsin, -1.0..=1.0, |x| x[0].asin(), |_, _| 2f64.powi(-21));
    within(Op::FAcos, -1.0..=1.0, |x| x[0].acos(), |_, _| 2f64.powi(-20));
    within(Op::FAtan, -3e38..=3e38, |x| x[0].atan(), |_, y| 32.0 * unit(y));
    within(
        Op::FAtan2,
        -8e37..=8e37,
        |x| x[0].atan2(x[1]),
        |x, y| {
            if x[1] == 0.0 { f64::NAN } else { 64.0 * unit(y) }
        },
    );
}

#[test]
fn arctangents_know_their_quadrants() {
    for numerics in machines() {
        let code = expanded(Op::FAtan2, 2, &numerics, &Poor);
        for (y, x, expected) in [
            (0.0f32, 1.0f32, 0.0f32),
            (-0.0, 1.0, -0.0),
            (1.0, 0.0, std::f32::consts::FRAC_PI_2),
            (-1.0, 0.0, -std::f32::consts::FRAC_PI_2),
            (0.0, -1.0, std::f32::consts::PI),
            (1.7e38, 8.5e37, 2f32.atan()),
            (0.0, 0.0, 0.0),
        ] {
            let actual = f32::from_bits(code.run(&[y.to_bits(), x.to_bits()], &numerics));
            assert!((actual - expected).abs() <= 2e-6, "atan2({y}, {x}) = {actual}");
            assert_eq!(actual.is_sign_negative(), expected.is_sign_negative());
        }
    }
}

#[test]
fn hyperbolic_functions_are_within_wgsl_bounds() {
    // Inherited from (exp(x) +- exp(-x)) / 2.
    fn sum(x: &[f64], _: f64) -> f64 {
        let size = x[0].abs();
        (3.0 + 2.0 * size) * (unit(size.exp()) + unit((-size).exp())) / 2.0 + unit(size.exp() / 2.0)
    }
    within(Op::FSinh, -88.0..=88.0, |x| x[0].sinh(), sum);
    within(Op::FCosh, -88.0..=88.0, |x| x[0].cosh(), sum);
    within(Op::FTanh, -100.0..=100.0, |x| x[0].tanh(), |_, _| 1e-5);
    // Inherited from log of a sum: its relative error as an absolute one, and the logarithm's.
    fn log(_: &[f64], y: f64) -> f64 {
        3.0 * unit(y) + 2f64.powi(-20)
    }
    within(Op::FAsinh, -1e18..=1e18, |x| x[0].asinh(), log);
    within(
        Op::FAcosh,
        1.0..=1e18,
        |x| x[0].acosh(),
        |x, y| 3.0 * unit(y) + 2f64.powi(-21) / (x[0] - 1.0).sqrt().clamp(1e-3, 1.0),
    );
    within(
        Op::FAtanh,
        -0.999..=0.999,
        |x| x[0].atanh(),
        |x, y| 3.0 * unit(y) + 2f64.powi(-21) / (1.0 - x[0].abs()),
    );
}

#[test]
fn signs_fractions_and_remainders_are_what_wgsl_says() {
    let list = float_words(-1e6..=1e6);
    for numerics in machines() {
        for (op, function) in [
            (Op::FSign, (|x: f32| if x == 0.0 { 0.0 } else { x.signum() }) as fn(f32) -> f32),
            (Op::FSat, |x| x.clamp(0.0, 1.0)),
            (Op::FCeil, f32::ceil),
        ] {
            let code = expanded(op, 1, &numerics, &Poor);
            for &x in &list {
                let actual = f32::from_bits(code.run(&[x.to_bits()], &numerics));
                assert_eq!(actual, function(x), "{op:?} {x:e}");
            }
        }
        let code = expanded(Op::FFract, 1, &numerics, &Poor);
        for &x in &list {
            let nearest = x - x.floor();
            // Of two neighbours the lower one.
            let cut = directed(f64::from(x) - f64::from(x.floor()), true);
            let expected = match numerics.rounding {
                Rounding::NearestEven => nearest,
                // A sum of 1 and what f64 loses beside it.
                _ if x > -1e-10 && x < 0.0 => 1f32.next_down(),
                _ => cut,
            };
            let actual = f32::from_bits(code.run(&[x.to_bits()], &numerics));
            assert_eq!(actual, expected, "fract of {x:e}");
        }
        let code = expanded(Op::FRem, 2, &numerics, &Poor);
        let mut rng = Rng::new(2);
        for &x in &list {
            let y = rng.pick(&list);
            if y.abs() < 1e-30 || (x / y).abs() > 1e6 {
                continue;
            }
            let actual =
                f64::from(f32::from_bits(code.run(&[x.to_bits(), y.to_bits()], &numerics)));
            // The quotient may fall to the other side of a whole number.
            let exact = f64::from(x) % f64::from(y);
            let size = f64::from(y).abs();
            let off = [0.0, size, -size].map(|shift| (actual - exact + shift).abs());
            let off = off.into_iter().fold(f64::MAX, f64::min);
            assert!(off <= 2.0 * unit(x.into()), "{x} % {y} = {actual}, not {exact}");
        }
    }
}

#[test]
fn exponents_are_moved_and_taken_off_exactly() {
    let list = float_words(-3e38..=3e38);
    let mut rng = Rng::new(6);
    for numerics in machines() {
        let ldexp = expanded(Op::FLdexp, 2, &numerics, &Poor);
        let fract = expanded(Op::FrexpFract, 1, &numerics, &Poor);
        let exponent = expanded(Op::FrexpExp, 1, &numerics, &Poor);
        for &x in &list {
            let k = rng.below(800) as i32 - 400;
            let exact = f64::from(x) * 2f64.powi(k);
            let actual = f32::from_bits(ldexp.run(&[x.to_bits(), k as u32], &numerics));
            if exact.abs() < f64::from(f32::MIN_POSITIVE) {
                assert!(actual.abs() <= f32::MIN_POSITIVE, "ldexp({x:e}, {k})");
            } else if exact.abs() <= f64::from(f32::MAX) && k >= -252 {
                assert_eq!(f64::from(actual), exact, "ldexp({x:e}, {k})");
            }
            for (op, code) in [(Op::FrexpFract, &fract), (Op::FrexpExp, &exponent)] {
                let bits = u64::from(x.to_bits());
                let expected = eval(op, Type::B32, Type::B32, &[bits], &numerics);
                assert_eq!(
                    Some(code.run(&[x.to_bits()], &numerics).into()),
                    expected,
                    "{op:?} {x:e}"
                );
            }
        }
        for x in [f32::MAX, f32::MIN] {
            for k in [-254, -256, -1000, i32::MIN] {
                let actual = f32::from_bits(ldexp.run(&[x.to_bits(), k as u32], &numerics));
                assert_eq!(actual, 0.0, "ldexp({x:e}, {k})");
            }
            let least = f32::from_bits(ldexp.run(&[x.to_bits(), -252i32 as u32], &numerics));
            assert_eq!(f64::from(least), f64::from(x) * 2f64.powi(-252));
        }
        for x in [f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0] {
            assert_eq!(fract.run(&[x.to_bits()], &numerics), x.to_bits());
            assert_eq!(exponent.run(&[x.to_bits()], &numerics), 0);
        }
    }
}

#[test]
fn halves_are_packed_and_unpacked_exactly() {
    let mut floats: Vec<u32> = float_words(-7e4..=7e4).iter().map(|x| x.to_bits()).collect();
    // Around every f16: the value, and both neighbours of the middle to the next one.
    for half in 0..0x7c01u32 {
        let wide = gpucc_ir::ssa::numerics::f16_to_f64(half as u16);
        let next = gpucc_ir::ssa::numerics::f16_to_f64((half + 1) as u16);
        let middle = ((wide + next) / 2.0) as f32;
        floats.push((wide as f32).to_bits());
        if middle.is_finite() {
            floats.extend([middle, middle.next_up(), middle.next_down()].map(f32::to_bits));
        }
    }
    floats.extend([f32::INFINITY.to_bits(), 0xff80_0000, 0x7fc0_0000, 0x8000_0000, 1, 0x477f_f000]);
    for numerics in machines() {
        let pack = expanded(Op::PackHalf, 2, &numerics, &Poor);
        let quantize = expanded(Op::FQuantize, 1, &numerics, &Poor);
        let nan = |bits: u32| f32::from_bits(bits).is_nan();
        for pair in floats.chunks(2) {
            let (a, b) = (pair[0], *pair.last().expect("one at least"));
            let expected =
                eval(Op::PackHalf, Type::B32, Type::B32, &[a.into(), b.into()], &numerics);
            let actual = pack.run(&[a, b], &numerics);
            if !nan(a) && !nan(b) {
                assert_eq!(Some(actual.into()), expected, "pack {a:#x} {b:#x}");
            }
            for x in [a, b] {
                let expected = eval(Op::FQuantize, Type::B32, Type::B32, &[x.into()], &numerics);
                let actual = quantize.run(&[x], &numerics);
                let both_nan = nan(actual) && nan(x);
                assert!(
                    both_nan || Some(actual.into()) == expected,
                    "quantize {x:#x}: {actual:#x}"
                );
            }
        }
        for (op, shift) in [(Op::UnpackHalfLo, 0), (Op::UnpackHalfHi, 16)] {
            let code = expanded(op, 1, &numerics, &Poor);
            for half in 0..=0xffffu32 {
                let word = half << shift | 0xabcd_u32 << (16 - shift);
                let expected =
                    eval(op, Type::B32, Type::B32, &[word.into()], &numerics).expect("computes");
                let actual = code.run(&[word], &numerics);
                let both_nan = nan(actual) && nan(expected as u32);
                assert!(both_nan || u64::from(actual) == expected, "{op:?} {half:#x}: {actual:#x}");
            }
        }
    }
}
