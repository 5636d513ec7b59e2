//! Integer operations, tests and the bitwise ALU on one instance's words. 2.4 to 2.6.
//!
//! Ours to assume [A]: signs and magnitudes of 64-bit operations are taken of the extended operands, those of
//! `add64_32` of the pair and of S2; shifts and masks take their counts modulo 32; the highest bit of 0 is all ones;
//! S2's bits are the even ones of an interleaving.

use super::inst::{
    Bitwise, Count, FirstShift, LogicalOp, Mask, Modifiers, Relation, ShiftOp, Type, Wide,
};
use super::rule::{Refused, Rule};
use super::value::Floats;
use std::cmp::Ordering;

/// Low and high word of an operation of phase 0. `high` is the external feedthrough, `carry` what is added.
///
/// # Errors
/// An operation that is not documented.
pub fn wide(
    op: Wide,
    signed: bool,
    [a, b, c]: [u32; 3],
    high: u32,
    carry: bool,
    modifiers: [Modifiers; 3],
) -> Result<(u32, u32), Refused> {
    let extend = |word: u32| {
        if signed { i128::from(word as i32) } else { i128::from(word) }
    };
    let pair = |low: u32, high: u32| {
        let word = u64::from(high) << 32 | u64::from(low);
        if signed { i128::from(word as i64) } else { i128::from(word) }
    };
    let modify = |value: i128, modifiers: Modifiers| {
        let value = if modifiers.abs { value.abs() } else { value };
        if modifiers.neg { -value } else { value }
    };
    let carry = i128::from(carry);
    let [first, second, third] = modifiers;
    let total = match op {
        Wide::Add64 => {
            return Err((Rule::Undocumented, "a sum of two operands of 64 bits".into()));
        }
        Wide::Add64By32 => {
            if second != Modifiers::default() {
                return Err((Rule::Undocumented, "a modifier of S1 of add64_32".into()));
            }
            modify(pair(a, b), first) + modify(extend(c), third) + carry
        }
        Wide::Mad32 => {
            let a = modify(i128::from(a as i32), first);
            let b = modify(i128::from(b as i32), second);
            a * b + modify(i128::from(c as i32), third) + carry
        }
        Wide::Mad64 => {
            let product = modify(extend(a), first) * modify(extend(b), second);
            product + modify(pair(c, high), third) + carry
        }
    };
    Ok((total as u32, (total >> 32) as u32))
}

/// Whether a test holds.
///
/// # Errors
/// A test that is not documented.
pub fn test(
    relation: Relation,
    kind: Type,
    element: u8,
    [a, b]: [u32; 2],
    floats: Floats,
) -> Result<bool, Refused> {
    let order = match kind {
        Type::F32 => {
            let b = if relation.of_two() { floats.operand(b) } else { 0.0 };
            floats.operand(a).partial_cmp(&b)
        }
        _ => {
            let b = if relation.of_two() { element_of(b, kind, element) } else { 0 };
            Some(element_of(a, kind, element).cmp(&b))
        }
    };
    Ok(match relation {
        Relation::Carry => return Err((Rule::Undocumented, "a test of the carry".into())),
        Relation::Zero | Relation::Equal => order == Some(Ordering::Equal),
        Relation::Positive | Relation::Greater => order == Some(Ordering::Greater),
        Relation::NotNegative | Relation::GreaterEqual => {
            matches!(order, Some(Ordering::Greater | Ordering::Equal))
        }
        Relation::NotEqual => order != Some(Ordering::Equal),
        Relation::Less => order == Some(Ordering::Less),
        Relation::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
    })
}

fn element_of(word: u32, kind: Type, element: u8) -> i64 {
    let half = (word >> (16 * u32::from(element & 1))) as u16;
    let byte = (word >> (8 * u32::from(element))) as u8;
    match kind {
        Type::U32 | Type::F32 => i64::from(word),
        Type::S32 => i64::from(word as i32),
        Type::U16 => i64::from(half),
        Type::S16 => i64::from(half as i16),
        Type::U8 => i64::from(byte),
        Type::S8 => i64::from(byte as i8),
    }
}

/// What a bitwise group makes: W0, W1 and the test. 2.6.
///
/// # Errors
/// An operation that is not documented.
pub fn bitwise(op: &Bitwise, s: &[u32; 6]) -> Result<(u32, u32, bool), Refused> {
    let by = |count: u32| count & 31;
    let width = by(s[0]);
    let ft1 = match op.p0.mask {
        Mask::Bypass => s[1],
        Mask::Ones => ((1u32 << width) - 1) << by(s[1]),
        Mask::Number(number) => number,
    };
    let ft2 = match op.p0.shift {
        FirstShift::Bypass => s[2],
        FirstShift::Interleave => spread(s[2]) | spread(s[1]) << 1,
        FirstShift::Reverse => s[2].reverse_bits(),
        FirstShift::Left => s[2] << by(s[1]),
    };
    let counted = if op.p0.counts_shifted { ft2 } else { s[2] };
    let ft3 = match op.p0.count {
        Count::Bits => counted.count_ones(),
        Count::Top => 31u32.wrapping_sub(counted.leading_zeros()),
        Count::Bypass => counted,
    };
    let ft4 = match op.logical {
        None => ft1,
        Some(logical) => {
            let a = if logical.mask_a { ft2 & ft1 } else { ft2 };
            let b = if logical.mask_b { s[3] & !ft1 } else { s[3] };
            match logical.op {
                LogicalOp::Or => a | b,
                LogicalOp::And => a & b,
                LogicalOp::Xor => a ^ b,
                LogicalOp::Nor => !(a | b),
                LogicalOp::Nand => !(a & b),
                LogicalOp::Xnor => !(a ^ b),
                LogicalOp::Bypass => a,
            }
        }
    };
    let Some(shift) = op.shift else { return Ok((ft4, ft3, false)) };
    let count = by(s[4]);
    let ft5 = match shift.op {
        ShiftOp::Left => ft4 << count,
        ShiftOp::Right => ft4 >> count,
        ShiftOp::Rotate => ft4.rotate_left(count),
        ShiftOp::ArithmeticTop => (ft4 as i32 >> count) as u32,
        ShiftOp::ArithmeticMask => match width {
            0 => ft4 >> count,
            _ => extended(ft4 >> count, width),
        },
        ShiftOp::Cps | ShiftOp::ArithmeticPartial | ShiftOp::ArithmeticFirst => {
            return Err((Rule::Undocumented, format!("shift {:?}", shift.op)));
        }
    };
    let tested = if shift.tests_count { ft3 } else { ft5 };
    Ok((ft5, ft3, (tested != 0) == shift.not_zero))
}

/// The low bits with the sign of the highest of them.
const fn extended(word: u32, width: u32) -> u32 {
    ((word << (32 - width)) as i32 >> (32 - width)) as u32
}

/// The low 16 bits, at the even places.
fn spread(word: u32) -> u32 {
    (0..16).fold(0, |spread, bit| spread | (word >> bit & 1) << (2 * bit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emu::inst::{Logical, Masks, Shift};

    const PLAIN: [Modifiers; 3] = [Modifiers { floor: false, abs: false, neg: false }; 3];

    #[test]
    fn sums_and_products_by_hand() {
        let neg = Modifiers { neg: true, ..Modifiers::default() };
        let abs = Modifiers { abs: true, ..Modifiers::default() };
        let mad = |a, b, c, m| wide(Wide::Mad32, true, [a, b, c], 0, false, m).map(|w| w.0);
        assert_eq!(mad(7, 6, 5, PLAIN), Ok(47));
        assert_eq!(mad(u32::MAX, 6, 5, PLAIN), Ok(u32::MAX));
        assert_eq!(mad(7, 1, 9, [neg, PLAIN[0], PLAIN[0]]), Ok(2));
        assert_eq!(mad(-7i32 as u32, 1, 0, [abs, PLAIN[0], PLAIN[0]]), Ok(7));
        assert_eq!(mad(0x8000_0000, 1, 0, [abs, PLAIN[0], PLAIN[0]]), Ok(0x8000_0000));
        let wide64 = |signed, words, high| wide(Wide::Mad64, signed, words, high, false, PLAIN);
        assert_eq!(wide64(false, [u32::MAX, u32::MAX, 0], 0), Ok((1, 0xffff_fffe)));
        assert_eq!(wide64(true, [u32::MAX, u32::MAX, 0], 0), Ok((1, 0)));
        assert_eq!(wide64(false, [4, 16, 8], 5), Ok((72, 5)));
        let sum = |signed, words, m| wide(Wide::Add64By32, signed, words, 0, false, m);
        assert_eq!(sum(false, [u32::MAX, 1, 1], PLAIN), Ok((0, 2)));
        assert_eq!(sum(true, [0, 1, u32::MAX], PLAIN), Ok((u32::MAX, 0)));
        // The public compiler's borrow: the high word is not zero where b < a.
        assert_eq!(sum(false, [5, 0, 3], [neg, PLAIN[0], PLAIN[0]]), Ok((-2i32 as u32, u32::MAX)));
        assert_eq!(sum(false, [3, 0, 5], [neg, PLAIN[0], PLAIN[0]]), Ok((2, 0)));
        assert_eq!(wide(Wide::Mad32, false, [0; 3], 0, true, PLAIN), Ok((1, 0)));
    }

    #[test]
    fn tests_by_hand() {
        let floats = Floats { even: true, flush: true };
        let ask = |relation, kind, a: u32, b: u32| {
            test(relation, kind, 0, [a, b], floats).expect("is documented")
        };
        let (one, nan) = (1f32.to_bits(), f32::NAN.to_bits());
        assert!(ask(Relation::Less, Type::F32, 0, one));
        assert!(!ask(Relation::Less, Type::F32, nan, one));
        assert!(ask(Relation::NotEqual, Type::F32, nan, nan));
        assert!(!ask(Relation::Equal, Type::F32, nan, nan));
        assert!(ask(Relation::Zero, Type::F32, 0x8000_0000, 7));
        assert!(ask(Relation::Zero, Type::F32, 3, 7));
        assert!(!ask(Relation::Zero, Type::U32, 0x8000_0000, 0));
        assert!(ask(Relation::Positive, Type::U32, u32::MAX, 0));
        assert!(!ask(Relation::Positive, Type::S32, u32::MAX, 0));
        assert!(!ask(Relation::NotNegative, Type::S32, u32::MAX, 0));
        assert!(ask(Relation::NotNegative, Type::U32, u32::MAX, 0));
        assert!(ask(Relation::GreaterEqual, Type::S32, 5, 5));
        assert!(ask(Relation::LessEqual, Type::U32, 5, 6));
        let third = test(Relation::Greater, Type::S8, 2, [0x0005_0000, 0x00ff_0000], floats);
        assert_eq!(third, Ok(true));
        assert_eq!(test(Relation::Less, Type::U16, 1, [0x1_0000, 0x2_0000], floats), Ok(true));
        assert!(test(Relation::Carry, Type::U32, 0, [0, 0], floats).is_err());
    }

    fn masks(mask: Mask, shift: FirstShift) -> Masks {
        Masks { counts_shifted: false, count: Count::Bypass, shift, mask }
    }

    #[test]
    fn bit_operations_by_hand() {
        let plain = masks(Mask::Bypass, FirstShift::Bypass);
        let logical = |op| Bitwise {
            p0: plain,
            logical: Some(Logical { mask_a: false, mask_b: false, op }),
            shift: None,
        };
        let s = [0, 0, 0b1100, 0b1010, 0, 0];
        for (op, result) in [
            (LogicalOp::Or, 0b1110),
            (LogicalOp::And, 0b1000),
            (LogicalOp::Xor, 0b0110),
            (LogicalOp::Nor, !0b1110),
            (LogicalOp::Nand, !0b1000),
            (LogicalOp::Xnor, !0b0110u32),
            (LogicalOp::Bypass, 0b1100),
        ] {
            assert_eq!(bitwise(&logical(op), &s), Ok((result, 0b1100, false)), "{op:?}");
        }
        let shift = |op| Bitwise {
            p0: plain,
            logical: None,
            shift: Some(Shift { predicate: true, tests_count: false, not_zero: true, op }),
        };
        let s = [8, 0x8000_00f1, 0, 0, 4, 0];
        for (op, result) in [
            (ShiftOp::Left, 0x0000_0f10),
            (ShiftOp::Right, 0x0800_000f),
            (ShiftOp::Rotate, 0x0000_0f18),
            (ShiftOp::ArithmeticTop, 0xf800_000f),
            (ShiftOp::ArithmeticMask, 0x0000_000f),
        ] {
            assert_eq!(bitwise(&shift(op), &s), Ok((result, 0, true)), "{op:?}");
        }
        assert!(bitwise(&shift(ShiftOp::Cps), &s).is_err());
        let count = |count, shift| Bitwise {
            p0: Masks { counts_shifted: true, count, shift, mask: Mask::Number(9) },
            logical: None,
            shift: None,
        };
        let s = [0, 3, 0b1011, 0, 0, 0];
        assert_eq!(bitwise(&count(Count::Bits, FirstShift::Bypass), &s), Ok((9, 3, false)));
        assert_eq!(bitwise(&count(Count::Top, FirstShift::Left), &s), Ok((9, 6, false)));
        let reversed = bitwise(&count(Count::Bypass, FirstShift::Reverse), &s);
        assert_eq!(reversed, Ok((9, 0xd000_0000, false)));
        let woven = bitwise(&count(Count::Bypass, FirstShift::Interleave), &s);
        assert_eq!(woven, Ok((9, 0b0100_1111, false)));
        let none = [0; 6];
        assert_eq!(
            bitwise(&count(Count::Top, FirstShift::Bypass), &none),
            Ok((9, u32::MAX, false))
        );
    }

    #[test]
    fn fields_are_extracted_and_inserted_as_the_public_compiler_does() {
        let masked = Some(Logical { mask_a: true, mask_b: true, op: LogicalOp::Or });
        let extract = |op| Bitwise {
            p0: masks(Mask::Ones, FirstShift::Bypass),
            logical: masked,
            shift: Some(Shift { predicate: false, tests_count: false, not_zero: false, op }),
        };
        for (width, offset) in [(1, 0), (5, 3), (8, 24), (31, 1), (12, 7)] {
            for word in [0u32, u32::MAX, 0x1234_5678, 0x89ab_cdef] {
                let s = [width, offset, word, 0, offset, 0];
                let field = word >> offset & ((1 << width) - 1);
                let unsigned = bitwise(&extract(ShiftOp::Right), &s).map(|r| r.0);
                assert_eq!(unsigned, Ok(field));
                let signed = bitwise(&extract(ShiftOp::ArithmeticMask), &s).map(|r| r.0);
                assert_eq!(signed, Ok(((field << (32 - width)) as i32 >> (32 - width)) as u32));
                let insert = Bitwise {
                    p0: masks(Mask::Ones, FirstShift::Left),
                    logical: masked,
                    shift: None,
                };
                let s = [width, offset, word, 0x5555_aaaa, 0, 0];
                let mask = ((1u32 << width) - 1) << offset;
                let expected = word << offset & mask | 0x5555_aaaa & !mask;
                assert_eq!(bitwise(&insert, &s).map(|r| r.0), Ok(expected));
            }
        }
    }
}
