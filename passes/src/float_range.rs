//! Value-range analysis of floats.
//!
//! Ranges of floats, and what they decide: conversions that cannot leave the integers, comparisons
//! with one outcome, minima and maxima of one operand.

use crate::pass::Proof;
use crate::runner::{Pass, optional};
use gpucc_ir::ssa::{Builtin, Func, Imm, InputKind, Op, Type, Value};
use smallvec::SmallVec;

/// The pass of machines on which no number is looked for: [`decide`].
pub const DECIDE: Pass = optional(
    "decide_ranges",
    Proof::Licence("WGSL, differences from IEEE-754: no NaN"),
    "comparisons that the ranges of floats decide are constants",
    |func, _| decide(func),
);

/// Nothing is known: not even that it is a number.
pub const UNKNOWN: (f32, f32) = (f32::NEG_INFINITY, f32::INFINITY);

fn finite((least, most): (f32, f32)) -> bool {
    least.is_finite() && most.is_finite()
}

/// Bounds of a sum. An end that rounding moved inwards (the error of a sum: Knuth, TAOCP 4.2.2) goes to the next float, and an
/// end that is infinite for being too large back to the largest: toward zero the sum itself is there.
fn sum(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
    let end = |x: f32, y: f32| {
        let sum = x + y;
        let part = sum - x;
        (sum, (x - (sum - part)) + (y - part))
    };
    let ((least, below), (most, above)) = (end(a.0, b.0), end(a.1, b.1));
    let least = match least {
        f32::INFINITY => f32::MAX,
        _ if below < 0.0 => least.next_down(),
        _ => least,
    };
    let most = match most {
        f32::NEG_INFINITY => f32::MIN,
        _ if above > 0.0 => most.next_up(),
        _ => most,
    };
    (least, most)
}

/// Bounds of a number that is certainly one, looking back a few operations; rounding included, whichever it is.
pub fn bounds(func: &Func, value: Value, depth: u32) -> Option<(f32, f32)> {
    let data = func.def(value)?;
    let of = |index: usize| bounds(func, data.args[index], depth.checked_sub(1)?);
    let product = |a: (f32, f32), b: (f32, f32)| {
        let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
        let least = all.into_iter().fold(f32::INFINITY, f32::min);
        let most = all.into_iter().fold(f32::NEG_INFINITY, f32::max);
        (least, most)
    };
    let (least, most) = match data.op {
        Op::Const => {
            let number = f32::from_bits(func.as_const(value)? as u32);
            (number, number)
        }
        Op::FSat => (0.0, 1.0),
        // Of an infinity these are no number.
        Op::FFract => finite(of(0)?).then_some((0.0, 1.0))?,
        Op::FSinTurns | Op::FCosTurns => finite(of(0)?).then_some((-1.0, 1.0))?,
        // Larger angles are beyond what a machine's reduction may hold.
        Op::FSin | Op::FCos => {
            let (least, most) = of(0)?;
            (least >= -1e5 && most <= 1e5).then_some((-1.0, 1.0))?
        }
        // Targets are at most 8192 pixels wide; the register guide has 13 bits.
        Op::Input => match data.imm {
            Imm::Input(input, 0 | 1)
                if func.inputs[input].kind == InputKind::Builtin(Builtin::Position)
                    && func.stage == gpucc_ir::ssa::Stage::Fragment =>
            {
                (0.0, 65_536.0)
            }
            _ => return None,
        },
        Op::SToF | Op::UToF => {
            let half = (1u64 << (func.ty(data.args[0]).bits() - 1)) as f32;
            match data.op {
                Op::SToF => (-half, half),
                _ => (0.0, 2.0 * half),
            }
        }
        Op::FNeg => of(0).map(|(least, most)| (-most, -least))?,
        Op::FAbs => of(0).map(|(least, most)| (0.0, most.max(-least)))?,
        Op::FFloor => of(0).map(|(least, most)| (least.floor(), most))?,
        Op::FCeil => of(0).map(|(least, most)| (least, most.ceil()))?,
        Op::FTrunc => of(0).map(|(least, most)| (least.min(0.0), most.max(0.0)))?,
        Op::FRound => of(0).map(|(least, most)| (least - 0.5, most + 0.5))?,
        Op::FAdd => sum(of(0)?, of(1)?),
        Op::FSub => {
            of(1).map(|(least, most)| (-most, -least)).and_then(|b| Some(sum(of(0)?, b)))?
        }
        Op::FMul => product(of(0)?, of(1)?),
        Op::FMa => sum(product(of(0)?, of(1)?), of(2)?),
        // A number on either side is what comes of a NaN on the other.
        Op::FMin | Op::FMax => {
            let (a, b) = (of(0), of(1));
            let both = (a.unwrap_or(UNKNOWN), b.unwrap_or(UNKNOWN));
            a.or(b)?;
            if data.op == Op::FMin {
                let hidden =
                    if a.is_none() || b.is_none() { f32::NEG_INFINITY } else { f32::INFINITY };
                (both.0.0.min(both.1.0).min(hidden), both.0.1.min(both.1.1))
            } else {
                let hidden =
                    if a.is_none() || b.is_none() { f32::INFINITY } else { f32::NEG_INFINITY };
                (both.0.0.max(both.1.0), both.0.1.max(both.1.1).max(hidden))
            }
        }
        Op::Select => {
            let (a, b) = (of(1)?, of(2)?);
            (a.0.min(b.0), a.1.max(b.1))
        }
        _ => return None,
    };
    // Each step may round; an infinite bound of a product of bounds is no number.
    if least.is_nan() || most.is_nan() {
        return None;
    }
    // What is denormal may be flushed, and what is the least normal number may be the host's rounding of a denormal.
    let slack = |x: f32| match x.abs() {
        size if size > f32::MIN_POSITIVE || size == 0.0 => size * 1e-6,
        size => size,
    };
    Some((least - slack(least), most + slack(most)))
}

/// As [`bounds`], of a value that is taken to be a number (WGSL, differences from IEEE-754).
fn taken(func: &Func, value: Value, depth: u32) -> (f32, f32) {
    if let Some(bits) = func.as_const(value) {
        let number = f32::from_bits(bits as u32);
        return if number.is_nan() { UNKNOWN } else { (number, number) };
    }
    if let Some(known) = bounds(func, value, depth) {
        return known;
    }
    let (Some(data), Some(deeper)) = (func.def(value), depth.checked_sub(1)) else {
        return UNKNOWN;
    };
    let of = |index: usize| taken(func, data.args[index], deeper);
    let (least, most) = match data.op {
        Op::FSqrt | Op::FRsq | Op::FExp2 => (0.0, f32::INFINITY),
        Op::FAbs => {
            let (least, most) = of(0);
            (0.0, most.max(-least))
        }
        Op::FSinTurns | Op::FCosTurns => (-1.0, 1.0),
        Op::FFract | Op::FSat => (0.0, 1.0),
        Op::FDot => {
            let (a, b) = data.args.split_at(data.args.len() / 2);
            if a == b { (0.0, f32::INFINITY) } else { UNKNOWN }
        }
        Op::FMul if data.args[0] == data.args[1] => (0.0, f32::INFINITY),
        Op::FNeg => {
            let (least, most) = of(0);
            (-most, -least)
        }
        Op::FAdd => sum(of(0), of(1)),
        Op::FSub => {
            let (least, most) = of(1);
            sum(of(0), (-most, -least))
        }
        Op::FMin => {
            let (a, b) = (of(0), of(1));
            (a.0.min(b.0), a.1.min(b.1))
        }
        Op::FMax => {
            let (a, b) = (of(0), of(1));
            (a.0.max(b.0), a.1.max(b.1))
        }
        _ => UNKNOWN,
    };
    if least.is_nan() || most.is_nan() {
        return UNKNOWN;
    }
    // One rounding; bounds that are exact stay so.
    let slack = |x: f32| {
        if x == 0.0 || x.abs() == 1.0 { 0.0 } else { x.abs() * 1e-6 }
    };
    let widen = |x: f32, by: f32| if x.is_finite() { x + by } else { x };
    (widen(least, -slack(least)), widen(most, slack(most)))
}

/// The first number behind the signed integers: conversions are guarded by a test against it.
pub const BEYOND_SIGNED: f32 = 2_147_483_648.0;

/// Operations back that ranges are sought.
const DEPTH: u32 = 4;

/// Decides what ranges decide, of values that are taken to be numbers; true when that was anything.
pub fn decide(func: &mut Func) -> bool {
    decide_by(func, taken)
}

/// Decides what ranges of values decide that are certainly numbers; true when that was anything.
pub fn decide_certain(func: &mut Func) -> bool {
    decide_by(func, |func, value, depth| bounds(func, value, depth).unwrap_or(UNKNOWN))
}

fn decide_by(func: &mut Func, range: fn(&Func, Value, u32) -> (f32, f32)) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        for index in 0..func.regions[region].insts.len() {
            let inst = func.regions[region].insts[index];
            let data = &func.insts[inst];
            let &[a, b] = &data.args[..] else { continue };
            if func.ty(a) != Type::B32 {
                continue;
            }
            let number =
                |value: Value| func.as_const(value).map(|bits| f32::from_bits(bits as u32));
            let (x, y) = match data.op {
                // Guards a conversion, whose result is undefined for a NaN: what is certain counts here.
                Op::FLt if number(b) == Some(BEYOND_SIGNED) => {
                    let certain = |value| bounds(func, value, DEPTH).unwrap_or(UNKNOWN);
                    (certain(a), certain(b))
                }
                Op::FLt | Op::FLe | Op::FEq | Op::FNe | Op::FMin | Op::FMax => {
                    (range(func, a, DEPTH), range(func, b, DEPTH))
                }
                _ => continue,
            };
            let apart = x.1 < y.0 || y.1 < x.0;
            let outcome = match data.op {
                Op::FLt if x.1 < y.0 => Some(true),
                Op::FLt if x.0 >= y.1 => Some(false),
                Op::FLe if x.1 <= y.0 => Some(true),
                Op::FLe if x.0 > y.1 => Some(false),
                Op::FEq if apart => Some(false),
                Op::FNe if apart => Some(true),
                _ => None,
            };
            let one = match data.op {
                Op::FMin if x.1 <= y.0 => Some(a),
                Op::FMin if y.1 <= x.0 => Some(b),
                Op::FMax if x.0 >= y.1 => Some(a),
                Op::FMax if y.0 >= x.1 => Some(b),
                _ => None,
            };
            // A bound on one side that the value keeps on the other: the clamp of its own operation.
            let saturates = match (data.op, number(b)) {
                (Op::FMax, Some(0.0)) => x.1 <= 1.0,
                (Op::FMin, Some(1.0)) => x.0 >= 0.0,
                _ => false,
            };
            let data = &mut func.insts[inst];
            if let Some(outcome) = outcome {
                data.op = Op::Const;
                data.imm = Imm::Bits(outcome.into());
                data.args.clear();
                changed = true;
            } else if let Some(one) = one {
                // Folding takes a minimum of a value and itself as the value.
                data.args = SmallVec::from_slice(&[one, one]);
                changed = true;
            } else if saturates {
                data.op = Op::FSat;
                data.args.truncate(1);
                changed = true;
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Builder, Stage};

    #[test]
    fn roots_are_not_negative_and_sines_are_within_one() {
        let mut func = Func::new("ranges", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let x = b.f32(3.0);
        // Something that nobody knows.
        let x = b.op2(Op::IAdd, x, x);
        let root = b.op1(Op::FRsq, x);
        let sine = b.op1(Op::FSinTurns, x);
        let (minus, two) = (b.f32(-1.0), b.f32(2.0));
        let decided = [
            (b.op2(Op::FLt, root, minus), Some(0)),
            (b.op2(Op::FLe, minus, root), Some(1)),
            (b.op2(Op::FEq, sine, two), Some(0)),
            (b.op2(Op::FNe, two, sine), Some(1)),
            (b.op2(Op::FLt, sine, root), None),
            (b.op2(Op::FLt, x, minus), None),
        ];
        let least = b.op2(Op::FMin, sine, two);
        assert!(decide(&mut func));
        for (value, outcome) in decided {
            assert_eq!(func.as_const(value), outcome);
        }
        assert_eq!(func.def(least).expect("an instruction").args[..], [sine, sine]);
    }

    #[test]
    fn the_size_of_a_value_is_that_of_its_farther_bound() {
        let mut func = Func::new("ranges", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = b.u32(7);
        let x = b.op2(Op::IAdd, word, word);
        let (one, two) = (b.f32(1.0), b.f32(2.0));
        // From 1 down without an end.
        let root = b.op1(Op::FSqrt, x);
        let below = b.op2(Op::FSub, one, root);
        let size = b.op1(Op::FAbs, below);
        let near = b.op2(Op::FLt, size, two);
        let zero = b.f32(0.0);
        let negative = b.op2(Op::FLt, size, zero);
        assert!(decide(&mut func));
        assert_eq!([near, negative].map(|v| func.as_const(v)), [None, Some(0)]);
    }

    #[test]
    fn the_guard_of_a_conversion_stays_where_a_nan_may_come() {
        let mut func = Func::new("guard", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = b.u32(7);
        let x = b.op2(Op::IAdd, word, word);
        let whole = b.convert(Op::SToF, Type::B32, x);
        let small = b.f32(0.5);
        let half = b.op2(Op::FMul, whole, small);
        let [sine, certain] = [x, half].map(|x| b.op1(Op::FSinTurns, x));
        let limit = b.f32(BEYOND_SIGNED);
        let guards = [sine, certain].map(|value| {
            let size = b.op1(Op::FAbs, value);
            b.op2(Op::FLt, size, limit)
        });
        assert!(decide(&mut func));
        assert_eq!(guards.map(|guard| func.as_const(guard)), [None, Some(1)]);
    }

    #[test]
    fn a_bound_that_the_value_keeps_on_the_other_side_is_a_clamp() {
        let mut func = Func::new("ranges", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = b.u32(7);
        let x = b.op2(Op::IAdd, word, word);
        let (zero, one) = (b.f32(0.0), b.f32(1.0));
        let root = b.op1(Op::FSqrt, x);
        let rest = b.op2(Op::FSub, one, root);
        let least = b.op2(Op::FMax, rest, zero);
        let most = b.op2(Op::FMin, root, one);
        let open = b.op2(Op::FMax, root, one);
        assert!(decide(&mut func));
        for value in [least, most] {
            assert_eq!(func.def(value).expect("an instruction").op, Op::FSat);
        }
        assert_eq!(func.def(open).expect("an instruction").op, Op::FMax);
    }

    #[test]
    fn what_may_be_no_number_is_certain_of_nothing() {
        let mut func = Func::new("certain", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = b.u32(7);
        let x = b.op2(Op::IAdd, word, word);
        let (root, whole) = (b.op1(Op::FSqrt, x), b.convert(Op::UToF, Type::B32, x));
        let minus = b.f32(-1.0);
        let compared = [root, whole].map(|value| b.op2(Op::FLt, minus, value));
        assert!(decide_certain(&mut func));
        assert_eq!(compared.map(|value| func.as_const(value)), [None, Some(1)]);
    }

    #[test]
    fn a_sum_is_not_held_to_a_bound_that_only_one_rounding_keeps() {
        let mut func = Func::new("ranges", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = b.u32(7);
        let x = b.op2(Op::IAdd, word, word);
        let (one, little) = (b.f32(1.0), b.f32(-1e-9));
        let fraction = b.op1(Op::FFract, x);
        let least = b.op2(Op::FAdd, fraction, one);
        // To nearest this is 1 at least, toward zero the float below it.
        let sum = b.op2(Op::FAdd, least, little);
        let below = [least, sum].map(|value| b.op2(Op::FLt, value, one));
        assert!(decide(&mut func));
        assert_eq!(below.map(|v| func.as_const(v)), [Some(0), None]);
    }

    #[test]
    fn a_product_that_may_be_flushed_may_be_zero() {
        let mut func = Func::new("ranges", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = b.u32(7);
        let x = b.op2(Op::IAdd, word, word);
        let (whole, little) = (b.convert(Op::UToF, Type::B32, x), b.f32(1e-20));
        let least = b.op2(Op::FMax, whole, little);
        let square = b.op2(Op::FMul, least, least);
        let zero = b.f32(0.0);
        let above = [least, square].map(|value| b.op2(Op::FLt, zero, value));
        assert!(decide_certain(&mut func));
        assert_eq!(above.map(|v| func.as_const(v)), [Some(1), None]);
    }

    #[test]
    fn a_number_that_may_leave_the_range_decides_nothing() {
        let mut func = Func::new("ranges", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = b.u32(7);
        let x = b.op2(Op::IAdd, word, word);
        let whole = b.convert(Op::UToF, Type::B32, x);
        let most = b.f32(4_294_967_296.0);
        b.op2(Op::FLt, whole, most);
        assert!(!decide(&mut func));
    }
}
