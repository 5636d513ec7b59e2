//! Functions that are public by name alone, defined by us [A]. 2.2, 7; R 6.9.
//!
//! `rcp`, `rsq`, `log` and `exp` are rounded once, or off within the bounds of a perturbation. Of `fred` and `fsinc` the
//! documents say how they are composed, and nothing more: part a of a reduction goes to W1, part b is given it, the sinc of
//! part b comes with a flag, and the result is the sinc, times part b where the flag is set. Our pair keeps to that and to
//! nothing that code could lean on: part a is a mark of its operand and kind, part b twice the value of the function, and the
//! sinc returns either the value with the flag clear, or 1/2 with the flag set, by the value's last bit. So the composition
//! is the sine or cosine of the operand, rounded once, and code that leaves a step out is wrong for half of all operands.

use super::inst::Single;
use super::rule::{Refused, Rule};
use gpucc_ir::ssa::Numerics;

/// A complex operation of one operand.
///
/// # Errors
/// Nothing public says what it does.
pub fn function(model: &Numerics, op: Single, x: u32) -> Result<u32, Refused> {
    Ok(match op {
        Single::Rcp => model.rcp(x),
        Single::Rsq => model.rsq(x),
        Single::Log => model.log2(x),
        Single::Exp => model.exp2(x),
        other => return Err((Rule::Undocumented, format!("{other:?}"))),
    })
}

/// Part a of the reduction of an angle: a mark of it.
pub fn mark(x: u32, cosine: bool) -> u32 {
    let mixed = u64::from(x).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    1 << 30 | u32::from(cosine) << 29 | mixed as u32
}

/// Part b of the reduction of an angle, given what part a made.
///
/// # Errors
/// It is not what part a makes of this operand.
pub fn reduced(model: &Numerics, x: u32, cosine: bool, part: u32) -> Result<u32, Refused> {
    if part != mark(x, cosine) {
        return Err((Rule::ReduceParts, format!("{part:#x} of {x:#x}")));
    }
    let value = if cosine { model.cos(x) } else { model.sin(x) };
    Ok((2.0 * f32::from_bits(value)).to_bits())
}

/// The sinc of part b, and its flag.
pub fn sinc(part: u32) -> (u32, bool) {
    let flag = part & 1 == 1;
    (if flag { 0.5f32 } else { 0.5 * f32::from_bits(part) }.to_bits(), flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_composition_is_the_function_and_needs_every_step() {
        let model = Numerics::REFERENCE;
        let mut flags = [0; 2];
        for step in -2000..2000 {
            let x = (step as f32 * 0.37).to_bits();
            for cosine in [false, true] {
                let b = reduced(&model, x, cosine, mark(x, cosine)).expect("the parts agree");
                let (value, flag) = sinc(b);
                flags[usize::from(flag)] += 1;
                let product = f32::from_bits(value) * f32::from_bits(b);
                let result = if flag { product.to_bits() } else { value };
                let exact = if cosine { model.cos(x) } else { model.sin(x) };
                assert_eq!(result, exact);
                assert!(reduced(&model, x, cosine, mark(x, !cosine)).is_err());
                assert!(reduced(&model, x ^ 1, cosine, mark(x, cosine)).is_err());
            }
        }
        assert!(flags.iter().all(|count| *count > 3000), "{flags:?}");
        assert!(function(&model, Single::F16Sop, 0).is_err());
    }
}
