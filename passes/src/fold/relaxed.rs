//! Identities of floats that hold for numbers, but not for NaNs, infinities and signs of zeros, which
//! WGSL lets an implementation take as absent (15.7.2), and sums and products of constants taken
//! together (15.7.3). These are rounded to nearest whatever the model says: regrouping is the language's freedom, and
//! toward zero a product of constants that overflows would be a number. Only for [`crate::Options::relaxed`].

use super::Rewrite;
use super::float::is_whole;
use super::integer::opposite;
use gpucc_ir::ssa::{Func, InstData, Op, Type, Value};
use smallvec::SmallVec;

fn constant(func: &Func, value: Value) -> Option<f32> {
    Some(f32::from_bits(func.as_const(value)? as u32))
}

/// The value is a number wherever it comes from.
fn is_number(func: &Func, value: Value) -> bool {
    match func.def(value) {
        Some(data) => match data.op {
            Op::SToF | Op::UToF | Op::FSat => true,
            Op::Const => constant(func, value).is_some_and(|number| !number.is_nan()),
            Op::FNeg | Op::FAbs | Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRound => {
                is_number(func, data.args[0])
            }
            _ => false,
        },
        None => false,
    }
}

/// The exact sum of two numbers, and the exact product; none where it is no number of 32 bits.
fn exact_sum(a: f32, b: f32) -> Option<f32> {
    let (a, b) = (f64::from(a), f64::from(b));
    let sum = a + b;
    let is_exact = sum - a == b && sum - b == a && f64::from(sum as f32) == sum;
    (is_exact && ((sum as f32).is_normal() || sum == 0.0)).then_some(sum as f32)
}

fn exact_product(a: f32, b: f32) -> Option<f32> {
    let product = f64::from(a) * f64::from(b);
    let is_exact = f64::from(product as f32) == product;
    (is_exact && ((product as f32).is_normal() || product == 0.0)).then_some(product as f32)
}

/// What a constant does to `x * scale + offset`: one operation in place of two, which rounds less often, since
/// the new constants are exact.
fn line(func: &Func, data: &InstData) -> Option<Rewrite> {
    let number = |value: Value| constant(func, value);
    let of = |value: Value| {
        let inner = func.def(value).filter(|inner| inner.op == Op::FMa)?;
        Some((inner.args[0], number(inner.args[1])?, number(inner.args[2])?))
    };
    let moved = |(x, scale, offset): (Value, f32, f32), by: f32| {
        Some(Rewrite::Line(x, scale, exact_sum(offset, by)?))
    };
    match (data.op, &data.args[..]) {
        (Op::FAdd, &[a, b]) => moved(of(a)?, number(b)?),
        (Op::FSub, &[a, b]) => match number(a) {
            Some(from) => {
                let (x, scale, offset) = of(b)?;
                moved((x, -scale, -offset), from)
            }
            None => moved(of(a)?, -number(b)?),
        },
        (Op::FMul, &[a, b]) => {
            let (x, scale, offset) = of(a)?;
            let by = number(b)?;
            Some(Rewrite::Line(x, exact_product(scale, by)?, exact_product(offset, by)?))
        }
        (Op::FMa, &[a, b, c]) => {
            let (by, last) = (number(b)?, number(c)?);
            let (x, scale, offset) = of(a)?;
            moved((x, exact_product(scale, by)?, exact_product(offset, by)?), last)
        }
        _ => None,
    }
}

pub(super) fn rewrite(func: &Func, data: &InstData) -> Option<Rewrite> {
    let &first = data.args.first()?;
    if func.ty(first) != Type::B32 && data.op != Op::Not {
        return None;
    }
    let number = |value: Value| constant(func, value);
    let is = |value: Value, wanted: f32| number(value) == Some(wanted);
    let def = |value: Value, op: Op| func.def(value).filter(|data| data.op == op);
    // `x op constant`, where `x` is one too.
    let chain = |op: Op, x: Value, by: f32| {
        let inner = def(x, op)?;
        Some((inner.args[0], number(inner.args[1])?, by))
    };
    let new = |op: Op, x: Value, by: f32| {
        (by.is_normal() || by == 0.0)
            .then(|| Rewrite::op_bits(op, &[x], Type::B32, by.to_bits().into()))?
    };
    if let Some(line) = line(func, data) {
        return Some(line);
    }
    match (data.op, &data.args[..]) {
        (Op::FMul, &[a, b]) => {
            if is(a, 0.0) || is(b, 0.0) {
                return Some(Rewrite::Bits(0));
            }
            if is(b, 1.0) {
                return Some(Rewrite::Value(a));
            }
            let (x, before, by) = chain(Op::FMul, a, number(b)?)?;
            new(Op::FMul, x, before * by)
        }
        (Op::FAdd, &[a, b]) => {
            if is(b, 0.0) {
                return Some(Rewrite::Value(a));
            }
            // (c - x) + d
            if let Some(inner) = def(a, Op::FSub)
                && let Some(sum) = number(inner.args[0]).zip(number(b)).map(|(c, d)| c + d)
            {
                return (sum.is_normal() || sum == 0.0).then(|| {
                    Rewrite::BitsOp(Op::FSub, Type::B32, sum.to_bits().into(), inner.args[1])
                });
            }
            let (x, before, by) = chain(Op::FAdd, a, number(b)?)?;
            new(Op::FAdd, x, before + by)
        }
        (Op::FSub, &[a, b]) => {
            if is(b, 0.0) {
                return Some(Rewrite::Value(a));
            }
            if is(a, 0.0) {
                return Rewrite::op(Op::FNeg, &[b]);
            }
            if a == b {
                return Some(Rewrite::Bits(0));
            }
            if let Some(from) = number(a) {
                // c - (x + d)
                if let Some((x, by)) =
                    def(b, Op::FAdd).and_then(|inner| Some((inner.args[0], number(inner.args[1])?)))
                {
                    let rest = exact_sum(from, -by)?;
                    return Some(Rewrite::BitsOp(Op::FSub, Type::B32, rest.to_bits().into(), x));
                }
                // c - (d - x)
                let inner = def(b, Op::FSub)?;
                return new(Op::FAdd, inner.args[1], exact_sum(from, -number(inner.args[0])?)?);
            }
            new(Op::FAdd, a, -number(b)?)
        }
        (Op::FMa, &[a, b, c]) => {
            if is(a, 0.0) || is(b, 0.0) {
                return Some(Rewrite::Value(c));
            }
            if is(c, 0.0) {
                return Rewrite::op(Op::FMul, &[a, b]);
            }
            if is(a, 1.0) {
                return Rewrite::op(Op::FAdd, &[b, c]);
            }
            // (x * d) * b + c, and the same of -(x * d).
            let (factor, sign) = match def(a, Op::FNeg) {
                Some(negated) => (negated.args[0], -1.0),
                None => (a, 1.0),
            };
            let (x, before, by) = chain(Op::FMul, factor, number(b)?)?;
            // Machines scale a result by these for nothing, and others may read it scaled. A product that is the addend, too,
            // stays whatever becomes of this sum.
            if matches!(before.abs(), 0.5 | 2.0 | 4.0) || c == a || c == factor {
                return None;
            }
            let product = sign * before * by;
            let scale = product.is_normal().then_some(u64::from(product.to_bits()))?;
            Some(Rewrite::Scaled(x, scale, c))
        }
        (Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRound, &[a]) => {
            is_whole(func, a).then_some(Rewrite::Value(a))
        }
        (Op::FFract, &[a]) => is_whole(func, a).then_some(Rewrite::Bits(0)),
        (Op::FDot, args) => {
            let n = args.len() / 2;
            // One product is left beside constants: they are one constant.
            let both = |k: usize| Some(number(args[k])? * number(args[n + k])?);
            let open: SmallVec<[usize; 4]> = (0..n).filter(|&k| both(k).is_none()).collect();
            if let [k] = open[..] {
                let sum: f32 = (0..n).filter_map(both).sum();
                return Rewrite::op_bits(
                    Op::FMa,
                    &[args[k], args[n + k]],
                    Type::B32,
                    sum.to_bits().into(),
                );
            }
            let kept: SmallVec<[(Value, Value); 4]> = (0..n)
                .map(|k| (args[k], args[n + k]))
                .filter(|&(a, b)| !is(a, 0.0) && !is(b, 0.0))
                .collect();
            match kept[..] {
                _ if kept.len() == n => None,
                [] => Some(Rewrite::Bits(0)),
                [(a, b)] => Rewrite::op(Op::FMul, &[a, b]),
                _ => {
                    let left = kept.iter().map(|pair| pair.0);
                    let right = kept.iter().map(|pair| pair.1);
                    Some(Rewrite::Op(Op::FDot, left.chain(right).collect()))
                }
            }
        }
        (Op::Not, &[a]) => opposite(func.def(a)?),
        (Op::FDiv, &[a, b]) if a == b => Some(Rewrite::Bits(1f32.to_bits().into())),
        (Op::FMin | Op::FMax, &[a, b]) if number(a).is_some() && number(b).is_none() => {
            Rewrite::op(data.op, &[b, a])
        }
        (Op::FMin | Op::FMax, &[a, b]) => {
            let other = if data.op == Op::FMin { Op::FMax } else { Op::FMin };
            let absorbs = |x: Value, inner: Value| {
                def(inner, other).is_some_and(|inner| inner.args.contains(&x))
            };
            if absorbs(a, b) {
                return Some(Rewrite::Value(a));
            }
            if absorbs(b, a) {
                return Some(Rewrite::Value(b));
            }
            let inner = def(a, other)?;
            let (low, high) = match data.op {
                Op::FMin => (number(inner.args[1])?, number(b)?),
                _ => (number(b)?, number(inner.args[1])?),
            };
            if low >= high {
                return Some(Rewrite::Value(b));
            }
            (low == 0.0 && high == 1.0).then(|| Rewrite::op(Op::FSat, &[inner.args[0]]))?
        }
        (Op::FPow, &[a, b]) => match (number(a), number(b)) {
            (_, Some(1.0)) => Some(Rewrite::Value(a)),
            (_, Some(2.0)) => Rewrite::op(Op::FMul, &[a, a]),
            (_, Some(4.0)) => Some(Rewrite::Twice(Op::FMul, Op::FMul, smallvec::smallvec![a, a])),
            (_, Some(0.5)) => Rewrite::op(Op::FSqrt, &[a]),
            (Some(2.0), _) => Rewrite::op(Op::FExp2, &[b]),
            _ => None,
        },
        (Op::FLt | Op::FLe | Op::FEq | Op::FNe, &[a, b])
            if number(a).is_some() != number(b).is_some() =>
        {
            compared(func, data.op, a, b)
        }
        (Op::FEq | Op::FLe, &[a, b]) if a == b && is_number(func, a) => Some(Rewrite::Bits(1)),
        (Op::FNe, &[a, b]) if a == b && is_number(func, a) => Some(Rewrite::Bits(0)),
        (Op::FLt, &[a, b]) if a == b => Some(Rewrite::Bits(0)),
        _ => None,
    }
}

/// A root or a sum compared with a constant: what is under the root, or the sum's other term, is
/// compared with another constant.
fn compared(func: &Func, op: Op, a: Value, b: Value) -> Option<Rewrite> {
    let left = constant(func, a);
    let bound = left.or_else(|| constant(func, b))?;
    let inner = func.def(if left.is_some() { b } else { a })?;
    let new = |value: Value, bound: f32| {
        let bits = u64::from(bound.to_bits());
        (bound.is_normal() || bound == 0.0).then(|| match left {
            Some(_) => Rewrite::BitsOp(op, Type::B32, bits, value),
            None => Rewrite::OpBits(op, smallvec::smallvec![value], Type::B32, bits),
        })
    };
    match inner.op {
        Op::FSqrt if bound >= 0.0 && matches!(op, Op::FLt | Op::FLe) => {
            new(inner.args[0], bound * bound)
        }
        Op::FAdd => {
            let term = constant(func, inner.args[1])?;
            // Only where nothing is lost.
            let rest = bound - term;
            if rest + term == bound { new(inner.args[0], rest) } else { None }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ctx, Neutral, Options};
    use gpucc_ir::ssa::{
        Builder, Builtin, InputData, InputKind, Numerics, OutputData, OutputKind, Scalar, Stage,
        verify,
    };

    /// What folding leaves of a value made of four inputs: the operation, and its operands.
    fn folded(
        relaxed: bool,
        make: impl FnOnce(&mut Builder<'_>, [Value; 4]) -> Value,
    ) -> (Func, Value, [Value; 4]) {
        let mut func = Func::new("relaxed", Stage::Fragment);
        let input = func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::Position),
            components: 4,
            scalar: Scalar::F32,
            name: String::new(),
        });
        let output = func.outputs.push(OutputData {
            kind: OutputKind::Builtin(Builtin::FragDepth),
            components: 1,
            scalar: Scalar::F32,
            name: String::new(),
        });
        let mut b = Builder::at_body(&mut func);
        let inputs = std::array::from_fn(|k| b.input(input, k as u8));
        let value = make(&mut b, inputs);
        let value = match b.func.ty(value) {
            Type::B1 => b.convert(Op::UConvert, Type::B32, value),
            _ => value,
        };
        b.output(output, 0, value);
        b.end(Op::Yield, &[]);
        verify(&func).expect("sound");
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        let fold = match relaxed {
            true => crate::relaxed_fold::run,
            false => crate::fold::run,
        };
        for _ in 0..2 {
            fold(&mut func, &mut ctx);
            verify(&func).expect("still sound");
        }
        let body = &func.regions[func.body].insts;
        let output = func.insts[body[body.len() - 2]].args[0];
        (func, output, inputs)
    }

    #[test]
    fn a_dot_product_without_constants_stays_and_nothing_changes() {
        let (mut func, value, inputs) =
            folded(true, |b, [x, y, z, w]| b.op(Op::FDot, &[x, y, z, w]));
        assert_eq!(func.def(value).expect("an instruction").args[..], inputs);
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        assert!(!crate::relaxed_fold::run(&mut func, &mut ctx));
    }

    /// The operation that a value is made by.
    fn op(func: &Func, value: Value) -> Op {
        func.def(value).expect("an instruction").op
    }

    #[test]
    fn only_relaxed_folding_takes_zero_times_anything_as_zero() {
        let zero = |b: &mut Builder<'_>, [x, ..]: [Value; 4]| {
            let zero = b.f32(0.0);
            b.op2(Op::FMul, x, zero)
        };
        let (func, value, _) = folded(true, zero);
        assert_eq!(func.as_const(value), Some(0));
        let (func, value, _) = folded(false, zero);
        assert_eq!(op(&func, value), Op::FMul);
    }

    #[test]
    fn a_difference_with_itself_is_zero_and_a_quotient_is_one() {
        let (func, value, _) = folded(true, |b, [x, ..]| b.op2(Op::FSub, x, x));
        assert_eq!(func.as_const(value), Some(0));
        let (func, value, _) = folded(true, |b, [x, ..]| b.op2(Op::FDiv, x, x));
        assert_eq!(func.as_const(value), Some(1f32.to_bits().into()));
    }

    #[test]
    fn constants_of_chains_are_taken_together_while_they_stay_numbers() {
        let chain = |op: Op, one: f32, two: f32| {
            move |b: &mut Builder<'_>, [x, ..]: [Value; 4]| {
                let (one, two) = (b.f32(one), b.f32(two));
                let inner = b.op2(op, x, one);
                b.op2(op, inner, two)
            }
        };
        let (func, value, [x, ..]) = folded(true, chain(Op::FMul, 3.0, 5.0));
        let args = &func.def(value).expect("a product").args;
        assert_eq!(args[0], x);
        assert_eq!(func.as_const(args[1]), Some(15f32.to_bits().into()));
        let (func, value, _) = folded(true, chain(Op::FAdd, 3.0, 5.0));
        let args = &func.def(value).expect("a sum").args;
        assert_eq!(func.as_const(args[1]), Some(8f32.to_bits().into()));
        // 1e30 * 1e30 is no number.
        let (func, value, _) = folded(true, chain(Op::FMul, 1e30, 1e30));
        let inner = func.def(value).expect("a product").args[0];
        assert_eq!(op(&func, inner), Op::FMul);
    }

    #[test]
    fn a_product_within_a_sum_takes_the_constants_together() {
        for negated in [false, true] {
            let (func, value, [x, y, ..]) = folded(true, |b, [x, y, ..]| {
                let (five, three) = (b.f32(5.0), b.f32(3.0));
                let mut inner = b.op2(Op::FMul, x, five);
                if negated {
                    inner = b.op1(Op::FNeg, inner);
                }
                b.op3(Op::FMa, inner, three, y)
            });
            let data = func.def(value).expect("a sum");
            assert_eq!((data.op, data.args[0], data.args[2]), (Op::FMa, x, y));
            let both = if negated { -15f32 } else { 15.0 };
            assert_eq!(func.as_const(data.args[1]), Some(both.to_bits().into()));
        }
        // 1e30 * 1e30 is no number.
        let (func, value, _) = folded(true, |b, [x, y, ..]| {
            let much = b.f32(1e30);
            let inner = b.op2(Op::FMul, x, much);
            b.op3(Op::FMa, inner, much, y)
        });
        let inner = func.def(value).expect("a sum").args[0];
        assert_eq!(op(&func, inner), Op::FMul);
    }

    #[test]
    fn a_comparison_of_numbers_chosen_in_turn_asks_their_conditions() {
        let asked = |op: Op, bits: u32| {
            folded(false, move |b, [x, y, z, ..]| {
                let (first, second) = (b.op2(Op::ULt, x, y), b.op2(Op::ULt, y, z));
                let (zero, one) = (b.u32(0), b.u32(1));
                let inner = b.select(second, one, zero);
                let outer = b.select(first, inner, zero);
                let bits = b.u32(bits);
                b.op2(op, outer, bits)
            })
        };
        for (op, bits) in [(Op::IEq, 1), (Op::INe, 0)] {
            let (func, value, _) = asked(op, bits);
            let truth = func.def(value).expect("a conversion").args[0];
            let data = func.def(truth).expect("a truth");
            assert_eq!(data.op, Op::And);
            let tests = data.args.iter().map(|&arg| func.def(arg).map(|data| data.op));
            assert_eq!(tests.collect::<Vec<_>>(), [Some(Op::ULt); 2]);
        }
        // Where it is 0, the first condition may fail or the second.
        let (func, value, _) = asked(Op::IEq, 0);
        let truth = func.def(value).expect("a conversion").args[0];
        assert_ne!(func.def(truth).map(|data| data.op), Some(Op::And));
    }

    #[test]
    fn bounds_of_zero_and_one_in_either_order_saturate() {
        for (first, second, low) in [(Op::FMax, Op::FMin, true), (Op::FMin, Op::FMax, false)] {
            let (func, value, [x, ..]) = folded(true, |b, [x, ..]| {
                let (zero, one) = (b.f32(0.0), b.f32(1.0));
                let (a, z) = if low { (zero, one) } else { (one, zero) };
                let inner = b.op2(first, x, a);
                b.op2(second, inner, z)
            });
            let data = func.def(value).expect("an instruction");
            assert_eq!((data.op, data.args[0]), (Op::FSat, x));
        }
    }

    #[test]
    fn a_maximum_absorbs_the_minimum_with_the_same_value() {
        let (_, value, [x, ..]) = folded(true, |b, [x, y, ..]| {
            let least = b.op2(Op::FMin, x, y);
            b.op2(Op::FMax, least, x)
        });
        assert_eq!(value, x);
    }

    #[test]
    fn the_opposite_of_less_is_at_most_the_other_way_round() {
        let opposite = |b: &mut Builder<'_>, [x, y, ..]: [Value; 4]| {
            let less = b.op2(Op::FLt, x, y);
            b.op1(Op::Not, less)
        };
        let (func, value, [x, y, ..]) = folded(true, opposite);
        let truth = func.def(value).expect("a conversion").args[0];
        let data = func.def(truth).expect("a comparison");
        assert_eq!((data.op, &data.args[..]), (Op::FLe, &[y, x][..]));
    }

    #[test]
    fn whole_numbers_have_no_fraction_and_are_not_rounded() {
        // ((x 34) + 1) x of a whole x less its whole part: the permutation of a noise.
        let permuted = |b: &mut Builder<'_>, [x, ..]: [Value; 4]| {
            let x = b.op1(Op::FFloor, x);
            let (scale, one) = (b.f32(34.0), b.f32(1.0));
            let inner = b.op3(Op::FMa, x, scale, one);
            let product = b.op2(Op::FMul, inner, x);
            let whole = b.op1(Op::FTrunc, product);
            b.op2(Op::FSub, product, whole)
        };
        let (func, value, _) = folded(true, permuted);
        assert_eq!(func.as_const(value), Some(0));
        // That it is whole holds to the bit; a difference with itself may be no number.
        let (func, value, _) = folded(false, permuted);
        let data = func.def(value).expect("a difference");
        assert_eq!((data.op, data.args[0]), (Op::FSub, data.args[1]));
        // Half of a whole number need not be whole.
        let (func, value, _) = folded(true, |b, [x, ..]| {
            let x = b.op1(Op::FFloor, x);
            let half = b.f32(0.5);
            let product = b.op2(Op::FMul, x, half);
            b.op1(Op::FFract, product)
        });
        assert_eq!(op(&func, value), Op::FFract);
    }

    #[test]
    fn a_dot_of_one_unknown_pair_is_one_product_and_a_constant() {
        let (func, value, [x, y, ..]) = folded(true, |b, [x, y, ..]| {
            let (two, three) = (b.f32(2.0), b.f32(3.0));
            b.op(Op::FDot, &[two, x, three, three, y, two])
        });
        let data = func.def(value).expect("a sum");
        assert_eq!((data.op, &data.args[..2]), (Op::FMa, &[x, y][..]));
        assert_eq!(func.as_const(data.args[2]), Some(12f32.to_bits().into()));
    }

    #[test]
    fn powers_of_small_constants_are_products() {
        let (func, value, [x, ..]) = folded(true, |b, [x, ..]| {
            let four = b.f32(4.0);
            b.op2(Op::FPow, x, four)
        });
        let data = func.def(value).expect("a product");
        assert_eq!((data.op, data.args[0]), (Op::FMul, data.args[1]));
        let square = func.def(data.args[0]).expect("a product");
        assert_eq!((square.op, &square.args[..]), (Op::FMul, &[x, x][..]));
    }

    #[test]
    fn a_distance_is_compared_by_its_square() {
        let (func, value, [x, ..]) = folded(true, |b, [x, ..]| {
            let (root, bound) = (b.op1(Op::FSqrt, x), b.f32(0.25));
            b.op2(Op::FLt, root, bound)
        });
        let truth = func.def(value).expect("a conversion").args[0];
        let data = func.def(truth).expect("a comparison");
        assert_eq!((data.op, data.args[0]), (Op::FLt, x));
        assert_eq!(func.as_const(data.args[1]), Some(0.0625f32.to_bits().into()));
    }

    #[test]
    fn constants_behind_a_product_and_a_sum_go_into_them_where_they_stay_exact() {
        type Make = fn(&mut Builder<'_>, Value) -> Value;
        fn with(b: &mut Builder<'_>, op: Op, value: Value, by: f32, left: bool) -> Value {
            let by = b.f32(by);
            if left { b.op2(op, by, value) } else { b.op2(op, value, by) }
        }
        let cases: [(Make, Option<(f32, f32)>); 5] = [
            (|b, y| with(b, Op::FSub, y, 1.0, true), Some((-0.5, 0.5))),
            (|b, y| with(b, Op::FSub, y, 2.0, false), Some((0.5, -1.5))),
            (|b, y| with(b, Op::FAdd, y, 0.25, false), Some((0.5, 0.75))),
            (|b, y| with(b, Op::FMul, y, 6.0, false), Some((3.0, 3.0))),
            // The sum of 0.5 and 1e-9 is no number of 32 bits.
            (|b, y| with(b, Op::FAdd, y, 1e-9, false), None),
        ];
        for (number, (make, expected)) in cases.into_iter().enumerate() {
            let (func, value, [x, ..]) = folded(true, |b, [x, ..]| {
                let half = b.f32(0.5);
                let line = b.op3(Op::FMa, x, half, half);
                make(b, line)
            });
            let data = func.def(value).expect("an instruction");
            let of = |at: usize| f32::from_bits(func.as_const(data.args[at]).expect("bits") as u32);
            let found = (data.op == Op::FMa).then(|| {
                assert_eq!(data.args[0], x);
                (of(1), of(2))
            });
            assert_eq!(found, expected, "case {number}");
        }
        // 1 - (x + 0.25), and 1 - (0.25 - x).
        for (first, expected) in [(Op::FAdd, Op::FSub), (Op::FSub, Op::FAdd)] {
            let (func, value, _) = folded(true, |b, [x, ..]| {
                let inner = with(b, first, x, 0.25, first == Op::FSub);
                with(b, Op::FSub, inner, 1.0, true)
            });
            assert_eq!(op(&func, value), expected);
        }
    }

    #[test]
    fn sums_of_constants_are_taken_together_through_a_difference() {
        let (func, value, [x, ..]) = folded(true, |b, [x, ..]| {
            let (one, two) = (b.f32(1.0), b.f32(2.0));
            let difference = b.op2(Op::FSub, one, x);
            b.op2(Op::FAdd, difference, two)
        });
        let data = func.def(value).expect("a difference");
        assert_eq!((data.op, data.args[1]), (Op::FSub, x));
        assert_eq!(func.as_const(data.args[0]), Some(3f32.to_bits().into()));
    }
}
