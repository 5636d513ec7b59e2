//! Evaluation against the host's own numbers: conversions, products with sums, sums of products, least and greatest, over all
//! widths, on numbers at which a width ends.

use gpucc_ir::ssa::numerics::{
    Denormals, Dot, DotOrder, Fma, NanRule, ZeroRule, f16_to_f64, f64_to_f16, tabled,
};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::{Numerics, Op, Type, eval, identity};

const REF: &Numerics = &Numerics::REFERENCE;

/// Words with all lengths of runs, and some without any order.
fn words() -> Vec<u64> {
    let mut words = vec![0, 1, 2, 3, u64::MAX, 0x8000, 0x7fff, 0x8000_0000, 0x7fff_ffff];
    for shift in 0..64 {
        words.extend([
            1 << shift,
            u64::MAX >> shift,
            u64::MAX << shift,
            0x5555_5555_5555_5555 >> shift,
        ]);
    }
    let mut rng = Rng::new(3);
    words.extend((0..400).map(|_| rng.bits()));
    words
}

/// Floats of every exponent that f64 has in the range of f32 and a little beyond, both signs, and what is no number.
fn floats() -> Vec<f64> {
    let mut floats = vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 65504.0, 65520.0];
    let mut rng = Rng::new(4);
    for exponent in -160..160 {
        let fraction = 1.0 + rng.below(1 << 30) as f64 / f64::from(1 << 30);
        for fraction in [1.0, 1.5, fraction] {
            let size = fraction * 2f64.powi(exponent);
            floats.extend([size, -size]);
        }
    }
    floats
}

/// The bits of a number in a width, rounded once.
fn bits(ty: Type, number: f64) -> u64 {
    match ty {
        Type::B16 => f64_to_f16(number).into(),
        Type::B32 => (number as f32).to_bits().into(),
        _ => number.to_bits(),
    }
}

fn number(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::B16 => f16_to_f64(bits as u16),
        Type::B32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The same number; any NaN is one.
fn same(ty: Type, got: u64, want: u64) -> bool {
    got == want || number(ty, got).is_nan() && number(ty, want).is_nan()
}

const WIDTHS: [Type; 3] = [Type::B16, Type::B32, Type::B64];

#[test]
fn integers_become_the_floats_that_the_host_makes_of_them() {
    for from in WIDTHS {
        for word in words().into_iter().map(|word| word & from.mask()) {
            let signed = match from {
                Type::B16 => i64::from(word as i16),
                Type::B32 => i64::from(word as i32),
                _ => word as i64,
            };
            for (op, double, single) in
                [(Op::UToF, word as f64, word as f32), (Op::SToF, signed as f64, signed as f32)]
            {
                let convert = |to| eval(op, from, to, &[word], REF).expect("a conversion");
                assert_eq!(convert(Type::B64), double.to_bits(), "{word:#x}");
                assert_eq!(convert(Type::B32), single.to_bits().into(), "{word:#x}");
                // What f64 rounds lies far beyond f16.
                assert_eq!(convert(Type::B16), f64_to_f16(double).into(), "{word:#x}");
            }
        }
    }
}

#[test]
fn floats_become_the_nearest_floats_and_the_integers_below_them() {
    let keeping = Numerics { f64_keeps_nans: true, ..Numerics::REFERENCE };
    for from in WIDTHS {
        for float in floats() {
            let operand = bits(from, float);
            let held = number(from, operand);
            for to in WIDTHS {
                let got = eval(Op::FConvert, from, to, &[operand], REF).expect("a conversion");
                assert!(same(to, got, bits(to, held)), "{held}: {got:#x}");
                let signed = eval(Op::FToS, from, to, &[operand], REF).expect("a conversion");
                let unsigned = eval(Op::FToU, from, to, &[operand], REF).expect("a conversion");
                if held.abs() < 2f64.powi(to.bits() as i32 - 1) {
                    assert_eq!(signed, (held as i64 as u64) & to.mask(), "{held}");
                }
                if held >= 0.0 && held < 2f64.powi(to.bits() as i32) {
                    assert_eq!(unsigned, held as u64, "{held}");
                }
                assert!(held > 0.0 || unsigned == 0, "{held}: {unsigned}");
                assert!(!held.is_nan() || signed == 0 && unsigned == 0);
            }
        }
    }
    // Sign and payload of a NaN go into the wider float, its sign into the narrower one.
    let convert = |from, to, bits| eval(Op::FConvert, from, to, &[bits], &keeping);
    assert_eq!(convert(Type::B32, Type::B64, 0xffc1_2345), Some(0xfff8_2468_a000_0000));
    assert_eq!(convert(Type::B32, Type::B64, 0x7fc0_0001), Some(0x7ff8_0000_2000_0000));
    assert_eq!(convert(Type::B64, Type::B32, 0xfff8_0000_0000_0001), Some(0xffc0_0000));
    assert_eq!(convert(Type::B64, Type::B32, 0x7ff8_0000_0000_0001), Some(0x7fc0_0000));
    assert_eq!(convert(Type::B64, Type::B32, 0xc000_0000_0000_0000), Some(0xc000_0000));
}

#[test]
fn products_and_sums_round_where_the_model_says() {
    let twice = Numerics { fma: Fma::Twice, ..Numerics::REFERENCE };
    let mut rng = Rng::new(5);
    for ty in WIDTHS {
        for _ in 0..20_000 {
            let exponents = if ty == Type::B16 { 8 } else { 40 };
            let mut next = || {
                let size = 2f64.powi(rng.below(exponents) as i32 - exponents as i32 / 2);
                let float = (rng.below(1 << 24) as f64 / f64::from(1 << 23) - 1.0) * size;
                number(ty, bits(ty, float))
            };
            let (a, b, c) = (next(), next(), next());
            let args = [a, b, c].map(|float| bits(ty, float));
            let rounded = |float: f64| number(ty, bits(ty, float));
            // Products and sums of f16 are exact in f64; so are products of f32, and sums of f32 lose nothing by
            // being rounded to f64 first.
            let want = match ty {
                Type::B64 => a * b + c,
                _ => rounded(a * b) + c,
            };
            assert_eq!(
                eval(Op::FMa, ty, ty, &args, &twice),
                Some(bits(ty, want)),
                "{a} * {b} + {c}"
            );
            let once = match ty {
                Type::B32 => (a as f32).mul_add(b as f32, c as f32).into(),
                Type::B64 => a.mul_add(b, c),
                // 22 bits of a product and 11 of a sum, at most 38 places apart.
                _ => a * b + c,
            };
            assert_eq!(eval(Op::FMa, ty, ty, &args, REF), Some(bits(ty, once)), "{a} * {b} + {c}");
        }
    }
}

#[test]
fn sums_of_products_go_in_the_order_of_the_model() {
    let mut rng = Rng::new(6);
    for ty in WIDTHS {
        for pairs in 2..=4usize {
            for order in
                [DotOrder::Ascending, DotOrder::Descending, DotOrder::Pairwise, DotOrder::Exact]
            {
                for fused in [false, true] {
                    let model =
                        Numerics { dot: Dot { order, fused, filled_to: 0 }, ..Numerics::REFERENCE };
                    for _ in 0..300 {
                        let mut args = Vec::new();
                        for _ in 0..2 * pairs {
                            let float = (rng.below(1 << 20) as f64 - f64::from(1 << 19)) / 4096.0;
                            args.push(bits(ty, float));
                        }
                        let of = |n: usize| (number(ty, args[n]), number(ty, args[pairs + n]));
                        let round = |float: f64| number(ty, bits(ty, float));
                        let product = |n: usize| round(of(n).0 * of(n).1);
                        // Sums of few products of 20 bits are exact in f64.
                        let want = if order == DotOrder::Exact && ty == Type::B32 {
                            round((0..pairs).map(|n| of(n).0 * of(n).1).sum())
                        } else if order == DotOrder::Pairwise && pairs == 4 {
                            round(round(product(0) + product(1)) + round(product(2) + product(3)))
                        } else {
                            let mut terms: Vec<usize> = (0..pairs).collect();
                            if order == DotOrder::Descending {
                                terms.reverse();
                            }
                            let mut sum = product(terms[0]);
                            for &n in &terms[1..] {
                                let (a, b) = of(n);
                                let apart =
                                    !fused || matches!(order, DotOrder::Pairwise | DotOrder::Exact);
                                sum = if apart {
                                    round(sum + product(n))
                                } else if ty == Type::B64 {
                                    a.mul_add(b, sum)
                                } else if ty == Type::B32 {
                                    (a as f32).mul_add(b as f32, sum as f32).into()
                                } else {
                                    round(a * b + sum)
                                };
                            }
                            sum
                        };
                        let got = eval(Op::FDot, ty, ty, &args, &model);
                        assert_eq!(got, Some(bits(ty, want)), "{ty:?} {order:?} {fused} {args:x?}");
                    }
                }
            }
        }
    }
}

#[test]
fn nothing_changes_beside_the_identity_of_an_operation() {
    let integers =
        [Op::IAdd, Op::Or, Op::Xor, Op::UMax, Op::IMul, Op::And, Op::UMin, Op::SMin, Op::SMax];
    for ty in WIDTHS {
        for op in integers {
            let nothing = identity(op, ty).expect("it has one");
            for word in words().into_iter().map(|word| word & ty.mask()) {
                assert_eq!(eval(op, ty, ty, &[word, nothing], REF), Some(word), "{op:?} {ty:?}");
            }
        }
        for op in [Op::FAdd, Op::FMul, Op::FMin, Op::FMax] {
            let nothing = identity(op, ty).expect("it has one");
            // -0 + 0 is 0, and a half has fewer numbers.
            for word in floats().into_iter().map(|float| bits(ty, float)) {
                let got = eval(op, ty, ty, &[word, nothing], REF).expect("a value");
                let float = number(ty, word);
                let lost =
                    float == 0.0 || float.is_nan() || ty == Type::B16 && float.abs() < 6.2e-5;
                assert!(got == word || lost, "{op:?} {ty:?}: {word:#x} became {got:#x}");
            }
        }
    }
    assert_eq!(identity(Op::ISub, Type::B32), None);
}

#[test]
fn least_and_greatest_treat_nans_and_zeros_as_the_model_says() {
    for ty in WIDTHS {
        let (nan, zero, minus, one) =
            (bits(ty, f64::NAN), bits(ty, 0.0), bits(ty, -0.0), bits(ty, 1.0));
        for (nan_rule, zero_rule) in [
            (NanRule::Other, ZeroRule::Ordered),
            (NanRule::Second, ZeroRule::Compared),
            (NanRule::Nan, ZeroRule::Ordered),
        ] {
            let model =
                Numerics { min_max_nan: nan_rule, min_max_zero: zero_rule, ..Numerics::REFERENCE };
            for op in [Op::FMin, Op::FMax] {
                let of = |a, b| eval(op, ty, ty, &[a, b], &model).expect("a value");
                let with_nan = match nan_rule {
                    NanRule::Other => [one, one],
                    NanRule::Second => [one, nan],
                    NanRule::Nan => [nan, nan],
                };
                let got = [of(nan, one), of(one, nan)];
                assert!((0..2).all(|n| same(ty, got[n], with_nan[n])), "{op:?} {ty:?} {got:x?}");
                assert!(number(ty, of(nan, nan)).is_nan());
                let zeros = [of(zero, minus), of(minus, zero)];
                let want = match (zero_rule, op) {
                    (ZeroRule::Ordered, Op::FMin) => [minus; 2],
                    (ZeroRule::Ordered, _) => [zero; 2],
                    // fmin takes the second of equals, fmax the first.
                    (ZeroRule::Compared, Op::FMin) => [minus, zero],
                    (ZeroRule::Compared, _) => [zero, minus],
                };
                assert_eq!(zeros, want, "{op:?} {ty:?} {zero_rule:?}");
                for a in [-2.5f64, -1.0, 0.5, 3.0] {
                    for b in [-2.0, 0.25, 3.0] {
                        let want = if op == Op::FMin { a.min(b) } else { f64::max(a, b) };
                        assert_eq!(of(bits(ty, a), bits(ty, b)), bits(ty, want));
                    }
                }
            }
        }
    }
}

#[test]
fn least_and_greatest_flush_only_where_both_they_and_the_width_do() {
    // Half the least normal number of each width.
    let denormals = [0x0200u64, 0x0040_0000, 1 << 51];
    for (min_max_flush, denormal_rule) in [
        (false, Denormals::KEEP),
        (false, Denormals::FLUSH),
        (true, Denormals::KEEP),
        (true, Denormals::FLUSH),
    ] {
        let model = Numerics {
            min_max_flush,
            f16_denormals: denormal_rule,
            f32_denormals: denormal_rule,
            f64_denormals: denormal_rule,
            ..Numerics::REFERENCE
        };
        for (ty, denormal) in WIDTHS.into_iter().zip(denormals) {
            let one = bits(ty, 1.0);
            let flushed = min_max_flush && denormal_rule == Denormals::FLUSH;
            let want = if flushed { 0 } else { denormal };
            let got = eval(Op::FMin, ty, ty, &[denormal, one], &model);
            assert_eq!(got, Some(want), "{ty:?} {min_max_flush} {denormal_rule:?}");
            let saturated = eval(Op::FSat, ty, ty, &[denormal], &model);
            assert_eq!(saturated, Some(want), "{ty:?} {min_max_flush} {denormal_rule:?}");
        }
    }
}

#[test]
fn least_and_greatest_by_comparisons_take_denormals_for_zeros_where_operands_are_flushed() {
    let (least, next) = (1, 2);
    for f32_denormals in [Denormals::KEEP, Denormals::FLUSH] {
        let model =
            Numerics { f32_denormals, min_max_zero: ZeroRule::Compared, ..Numerics::REFERENCE };
        let of = |op, args: &[u64]| eval(op, Type::B32, Type::B32, args, &model).expect("a value");
        let flushed = f32_denormals == Denormals::FLUSH;
        // Of equals the least is the second, and the greatest the first; none of them loses its bits.
        assert_eq!(of(Op::FMin, &[least, next]), if flushed { next } else { least });
        assert_eq!(of(Op::FMax, &[least, next]), if flushed { least } else { next });
        assert_eq!(of(Op::FSat, &[least]), if flushed { 0 } else { least });
    }
}

#[test]
fn a_level_of_detail_is_a_256th_between_its_ends() {
    for step in -5000..5000 {
        let level = step as f32 / 256.0;
        assert_eq!(tabled::level(level), level.clamp(-16.0, 16.0));
        assert_eq!(tabled::level(level + 0.001), level.clamp(-16.0, 16.0));
    }
    assert_eq!(tabled::level(f32::NAN), -16.0);
    assert_eq!(tabled::level(f32::INFINITY), 16.0);
    assert_eq!(tabled::level(f32::NEG_INFINITY), -16.0);
    // Halfway goes to the even one.
    assert_eq!(tabled::level(1.0 / 512.0), 0.0);
    assert_eq!(tabled::level(3.0 / 512.0), 2.0 / 256.0);
}

#[test]
fn what_has_no_logarithm_has_no_quotient_by_it() {
    for x in [-1.0f32, -1e-40, -f32::MAX, f32::NEG_INFINITY, f32::NAN] {
        assert!(tabled::flogd(x).is_nan(), "{x}");
        assert!(tabled::log2(x).is_nan(), "{x}");
    }
}
