use super::*;

#[test]
fn every_f16_survives_the_way_through_f64() {
    for bits in 0..=u16::MAX {
        let back = f64_to_f16(f16_to_f64(bits));
        let nan = bits & 0x7c00 == 0x7c00 && bits & 0x3ff != 0;
        assert_eq!(back, if nan { NAN16 } else { bits });
    }
}

#[test]
fn halves_between_two_f16_round_to_the_even_one() {
    for bits in 0..0x7bffu16 {
        let (lo, hi) = (f16_to_f64(bits), f16_to_f64(bits + 1));
        let middle = (lo + hi) / 2.0;
        let even = bits + (bits & 1);
        assert_eq!(f64_to_f16(middle), even, "between {lo} and {hi}");
        assert_eq!(f64_to_f16(f64::from_bits(middle.to_bits() + 1)), bits + 1);
        assert_eq!(f64_to_f16(f64::from_bits(middle.to_bits() - 1)), bits);
    }
    assert_eq!(f64_to_f16(65519.999), 0x7bff);
    assert_eq!(f64_to_f16(65520.0), 0x7c00);
    assert_eq!(f64_to_f16(-1e300), 0xfc00);
}

#[test]
fn fma32_agrees_with_libms_on_a_walk_over_all_exponents() {
    let mut state = 7;
    for _ in 0..200_000 {
        let mut next = || {
            state = mix(state);
            f32::from_bits(state as u32)
        };
        let (a, b, c) = (next(), next(), next());
        let (ours, theirs) = (fma32(a, b, c), libm::fmaf(a, b, c));
        assert!(
            ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(),
            "{a:?} * {b:?} + {c:?}: {ours:?} {theirs:?}"
        );
    }
}

#[test]
fn fma32_rounds_once_where_f64_would_tie() {
    // 1 + 2^-23 times 1 + 2^-24 needs 48 bits; the last bit of c decides the tie.
    let (a, b) = (1.0 + f32::EPSILON, 1.0 + f32::EPSILON);
    assert_eq!(fma32(a, b, -1.0), libm::fmaf(a, b, -1.0));
    // 2^-24 is half a unit of 1: alone it ties down, with 2^-80 more it rounds up.
    let half = 2f32.powi(-24);
    assert_eq!(fma32(half, 1.0, 1.0), 1.0);
    assert_eq!(fma32(half, 1.0 + f32::EPSILON, 1.0).to_bits(), 1.0f32.to_bits() + 1);
}

#[test]
fn turns_are_exact_at_quarters() {
    for (x, sin, cos) in [
        (0.0, 0.0, 1.0),
        (0.25, 1.0, 0.0),
        (0.5, 0.0, -1.0),
        (-0.25, -1.0, 0.0),
        (-0.5, 0.0, -1.0),
        (3.25, 1.0, 0.0),
    ] {
        assert_eq!(exact::sin_turns(x), sin, "sin of {x} turns");
        assert_eq!(exact::cos_turns(x), cos, "cos of {x} turns");
    }
}

#[test]
fn flushing_keeps_signs_and_leaves_normal_numbers() {
    assert_eq!(flush32(0x8000_0001), 0x8000_0000);
    assert_eq!(flush32(0x007f_ffff), 0);
    assert_eq!(flush32(0x0080_0000), 0x0080_0000);
    assert_eq!(flush16(0x83ff), 0x8000);
    assert_eq!(flush64(0x000f_ffff_ffff_ffff), 0);
    let model = Numerics { f32_denormals: Denormals::FLUSH, ..Numerics::REFERENCE };
    assert_eq!(model.rcp(0x8000_0001), 0xff80_0000);
    assert_eq!(Numerics::REFERENCE.rcp(0x7f00_0000), 0x0040_0000);
    assert_eq!(model.rcp(0x7f00_0000), 0);
}

#[test]
fn perturbation_stays_within_its_bound_and_reaches_it() {
    let model = Numerics::REFERENCE.perturbed(Perturbation {
        seed: 1,
        rcp_ulps: 1,
        rsq_ulps: 1,
        sqrt_ulps: 1,
        exp2_ulps: 2,
        log2_ulps: 2,
        sin_cos_absolute: 0.001,
    });
    let mut reached = [false; 5];
    for i in 1..2000u32 {
        let x = (i as f32 * 0.37).to_bits();
        let off = i64::from(model.exp2(x)) - i64::from(Numerics::REFERENCE.exp2(x));
        if f32::from_bits(Numerics::REFERENCE.exp2(x)).is_finite() {
            reached[usize::try_from(off + 2).expect("at most two units below")] = true;
        }
        let x = (i as f32 / 4000.0).to_bits();
        let (a, b) = (model.sin_turns(x), Numerics::REFERENCE.sin_turns(x));
        assert!((f32::from_bits(a) - f32::from_bits(b)).abs() <= 0.00101);
    }
    assert_eq!(reached, [true; 5]);
    assert_eq!(model.rcp(1.0f32.to_bits()), 1.0f32.to_bits());
    assert_eq!(model.rcp(0), f32::INFINITY.to_bits());
}

#[test]
fn units_of_an_error_count_from_the_exact_value_and_both_ways_are_gone() {
    type Unary = (fn(&Numerics, u32) -> u32, fn(f64) -> f64);
    let functions: [Unary; 4] = [
        (Numerics::rcp, |x| 1.0 / x),
        (Numerics::rsq, |x| 1.0 / x.sqrt()),
        (Numerics::sqrt, f64::sqrt),
        (Numerics::log2, f64::log2),
    ];
    for functions_of in [Functions::EXACT, Functions::TRUNCATED] {
        for (number, (function, exact)) in functions.into_iter().enumerate() {
            let mut ways = [0; 3];
            for k in 0..3000u32 {
                let x = 1.5 + k as f32 * 0.0137;
                let model = Numerics { functions: functions_of, ..Numerics::REFERENCE };
                let model = model.perturbed(Perturbation {
                    seed: u64::from(k),
                    rcp_ulps: 1,
                    rsq_ulps: 1,
                    sqrt_ulps: 1,
                    exp2_ulps: 1,
                    log2_ulps: 1,
                    sin_cos_absolute: 0.0,
                });
                let (found, exact) = (function(&model, x.to_bits()), exact(x.into()));
                let found = f32::from_bits(found);
                let unit = 2f64.powi(exact.log2().floor() as i32 - 23);
                let off = f64::from(found) - exact;
                assert!(off.abs() <= unit, "{number}: {x}: {off} of {unit}");
                ways[usize::from(off > 0.0) + usize::from(off >= 0.0)] += 1;
            }
            assert!(ways[0] > 800 && ways[2] > 800, "{number}: {ways:?}");
        }
    }
}

#[test]
fn a_function_that_is_a_sequence_errs_by_instruction() {
    let model = Numerics { functions: tabled::FUNCTIONS, ..Numerics::REFERENCE };
    let errors = |seed, ulps| Perturbation {
        seed,
        rcp_ulps: ulps,
        rsq_ulps: ulps,
        sqrt_ulps: 0,
        exp2_ulps: ulps,
        log2_ulps: ulps,
        sin_cos_absolute: ulps as f32 * f32::EPSILON / 2.0,
    };
    type Unary = fn(&Numerics, u32) -> u32;
    let functions: [(Unary, u32); 9] = [
        (Numerics::rcp, 2),
        (Numerics::rsq, 2),
        // 2 units of the root's reciprocal are up to 4 of the root, and 2 of its own come on top.
        (Numerics::sqrt, 6),
        (Numerics::exp2, 2),
        (Numerics::exp, 2),
        // 2 units of the quotient are up to 4 of the product with a fraction.
        (Numerics::log2, 5),
        // The logarithm of x, times 0.5, and the power: its exponent is below 2, so that 5 units of it are below 8.
        (|n, x| n.pow(x, 0.5f32.to_bits()), 10),
        // From 2 to 2.9 both are above 0.2, where a unit is an eighth of the error of an entry.
        (|n, x| n.sin(f32::to_bits(2.0 + (f32::from_bits(x) - 2.0) * 0.45)), 10),
        (|n, x| n.cos(f32::to_bits(2.0 + (f32::from_bits(x) - 2.0) * 0.45)), 10),
    ];
    for (number, (function, bound)) in functions.into_iter().enumerate() {
        let mut differ = 0;
        for k in 0..2000u32 {
            let x = (2.0 + k as f32 / 1024.0).to_bits();
            let exact = function(&model, x);
            assert_eq!(function(&model.perturbed(errors(k.into(), 0)), x), exact);
            let errs = function(&model.perturbed(errors(k.into(), 2)), x);
            assert!(errs.abs_diff(exact) <= bound, "{number}: {}", f32::from_bits(x));
            differ += u32::from(errs != exact);
        }
        assert!(differ > 400, "{number}: {differ}");
    }
    // What every machine gives exactly stays.
    let model = model.perturbed(errors(7, 2));
    let one = 1f32.to_bits();
    assert_eq!([model.rcp(one), model.rsq(one), model.sqrt(one)], [one; 3]);
    assert_eq!(model.log2(one), 0);
}
