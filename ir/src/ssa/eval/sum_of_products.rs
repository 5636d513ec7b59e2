//! Exact sums of products of floats of 32 bits, by integers wide enough for all of them.

/// Words of a sum: products are multiples of 2^-298 below 2^256, and some more bits count several of them and the sign.
const WORDS: usize = 9;
/// The weight of the lowest bit.
const LOWEST: i32 = -298;
/// Bits of a float of 64 bits.
const DIGITS: u32 = 53;

/// The sum of numbers, each of which is a product of two floats of 32 bits, as a float of 64 bits. What does not fit is cut off, and the
/// last bit is 1 then: rounded to 32 bits in any way, the result is what the exact sum would be. The sum of numbers that cancel
/// is +0, and that of zeros is -0 where all are.
pub(super) fn to_odd(products: impl Iterator<Item = f64>) -> f64 {
    let mut sum = [0u64; WORDS];
    let (mut special, mut negative_zeros, mut any) = (0.0f64, true, false);
    for product in products {
        if !product.is_finite() {
            // Infinities of both signs, and what is no number, leave none.
            special += product;
        } else if product == 0.0 {
            negative_zeros &= product.is_sign_negative();
        } else {
            any = true;
            add(&mut sum, product);
        }
    }
    if special != 0.0 {
        return special;
    }
    if !any {
        return if negative_zeros { -0.0 } else { 0.0 };
    }
    let negative = sum[WORDS - 1] >> 63 == 1;
    if negative {
        negate(&mut sum);
    }
    let magnitude = rounded(&sum);
    if negative { -magnitude } else { magnitude }
}

/// Adds a finite number that is not 0.
fn add(sum: &mut [u64; WORDS], number: f64) {
    let bits = number.to_bits();
    // Products of floats of 32 bits are normal floats of 64.
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    let mut significand = bits & ((1 << 52) - 1) | 1 << 52;
    let mut place = exponent - LOWEST;
    if place < 0 {
        // The product has no bits below the lowest.
        significand >>= -place;
        place = 0;
    }
    let (word, shift) = (place as usize / 64, place as u32 % 64);
    let wide = u128::from(significand) << shift;
    let mut added = [0u64; WORDS];
    added[word] = wide as u64;
    added[word + 1] = (wide >> 64) as u64;
    if number < 0.0 {
        negate(&mut added);
    }
    let mut carry = false;
    for (digit, added) in sum.iter_mut().zip(added) {
        let (first, over) = digit.overflowing_add(added);
        let (second, again) = first.overflowing_add(carry.into());
        *digit = second;
        carry = over | again;
    }
}

fn negate(number: &mut [u64; WORDS]) {
    let mut carry = true;
    for digit in number {
        let (negative, over) = (!*digit).overflowing_add(carry.into());
        *digit = negative;
        carry = over;
    }
}

/// A positive sum, or 0.
fn rounded(sum: &[u64; WORDS]) -> f64 {
    let Some(top) = sum.iter().rposition(|&digit| digit != 0) else { return 0.0 };
    let length = 64 * top as u32 + 64 - sum[top].leading_zeros();
    let shift = length.saturating_sub(DIGITS);
    let (word, bit) = ((shift / 64) as usize, shift % 64);
    let above = sum.get(word + 1).copied().unwrap_or(0);
    let wide = u128::from(above) << 64 | u128::from(sum[word]);
    let mut significand = (wide >> bit) as u64 & ((1 << DIGITS) - 1);
    let rest = sum[word] & ((1u64 << bit) - 1) != 0;
    if rest || sum[..word].iter().any(|&digit| digit != 0) {
        significand |= 1;
    }
    libm::scalbn(significand as f64, shift as i32 + LOWEST)
}

#[cfg(test)]
mod tests {
    use super::to_odd;

    fn sum(products: &[f64]) -> f64 {
        to_odd(products.iter().copied())
    }

    #[test]
    fn nothing_is_lost_of_what_cancels() {
        let (huge, tiny) = (2f64.powi(255), 2f64.powi(-298));
        assert_eq!(sum(&[huge, tiny, -huge]), tiny);
        assert_eq!(sum(&[huge, -tiny, -huge]), -tiny);
        assert_eq!(sum(&[1.5, 2.25, -0.75]), 3.0);
    }

    #[test]
    fn what_is_cut_off_leaves_an_odd_number() {
        let tiny = 2f64.powi(-200);
        assert_eq!(sum(&[1.0, tiny]), 1.0 + 2f64.powi(-52));
        assert_eq!(sum(&[1.0, -tiny]), 1.0 - 2f64.powi(-53));
        assert_eq!(sum(&[-1.0, -tiny]), -1.0 - 2f64.powi(-52));
    }

    #[test]
    fn zeros_and_what_is_no_number_are_those_of_ordinary_sums() {
        assert!(sum(&[-0.0, -0.0]).is_sign_negative());
        assert!(sum(&[-0.0, 0.0]).is_sign_positive());
        assert!(sum(&[4.0, -4.0, -0.0]).is_sign_positive());
        assert_eq!(sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(sum(&[f64::NAN, 1.0]).is_nan());
    }
}
