//! Packing and unpacking. 2.3.
//!
//! Ours to assume [A]: elements lie from the lowest bit on; a normalised element is the float times the largest integer,
//! rounded to nearest, and back the quotient rounded once; integers saturate and NaN is 0. The formats whose names alone
//! are public stop a run.

use super::inst::Format;
use super::rule::{Refused, Rule};
use gpucc_emu::format::{Kind, decode_channel, encode_channel};
use gpucc_ir::ssa::numerics::{NAN32, f16_to_f64, f64_to_f16};

/// Where an element lies, and how it is read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Element {
    /// An integer of so many bits.
    Integer { shift: u8, bits: u8, signed: bool },
    /// A half.
    Half { shift: u8 },
    /// An unsigned float of 10 or 11 bits.
    Small { shift: u8, bits: u8 },
    /// The word itself.
    Word,
}

fn undocumented<T>(format: Format) -> Result<T, Refused> {
    Err((Rule::Undocumented, format!("format {format:?}")))
}

/// An element of a format; past the last one there is none.
fn element(format: Format, number: u8) -> Result<Element, Refused> {
    use Element::{Half, Integer, Small, Word};
    let none = || Err((Rule::Repeat, format!("element {number} of {format:?}")));
    let integer = |shift, bits, signed| Ok(Integer { shift, bits, signed });
    let row = |widths: &[u8], signed| {
        let Some(&bits) = widths.get(usize::from(number)) else { return none() };
        let shift = widths[..usize::from(number)].iter().sum();
        integer(shift, bits, signed)
    };
    match format {
        Format::U8888 => row(&[8; 4], false),
        Format::S8888 => row(&[8; 4], true),
        Format::U1616 => row(&[16; 2], false),
        Format::S1616 => row(&[16; 2], true),
        Format::U32 => row(&[32], false),
        Format::S32 => row(&[32], true),
        Format::U1010102 => row(&[10, 10, 10, 2], false),
        Format::S1010102 => row(&[10, 10, 10, 2], true),
        Format::U111110 => row(&[11, 11, 10], false),
        Format::S111110 => row(&[11, 11, 10], true),
        Format::F111110 => match number {
            0 => Ok(Small { shift: 0, bits: 11 }),
            1 => Ok(Small { shift: 11, bits: 11 }),
            2 => Ok(Small { shift: 22, bits: 10 }),
            _ => none(),
        },
        Format::F16F16 if number < 2 => Ok(Half { shift: 16 * number }),
        Format::F32 if number == 0 => Ok(Word),
        Format::F16F16 | Format::F32 => none(),
        other => undocumented(other),
    }
}

/// Bits from one on.
const fn ones(bits: u8) -> u32 {
    if bits == 32 { u32::MAX } else { (1 << bits) - 1 }
}

/// An integer next to a float, within a range.
fn to_integer(value: f64, toward_zero: bool, low: f64, high: f64) -> i64 {
    if value.is_nan() {
        return 0;
    }
    let whole = if toward_zero { value.trunc() } else { value.round_ties_even() };
    whole.clamp(low, high) as i64
}

/// One element of a float: the bits that it fills, and its bits.
///
/// # Errors
/// A format that is not documented, or that lacks the element.
pub fn pack(
    format: Format,
    number: u8,
    value: u32,
    (scale, toward_zero): (bool, bool),
) -> Result<(u32, u32), Refused> {
    let float = f64::from(f32::from_bits(value));
    match element(format, number)? {
        Element::Word => Ok((u32::MAX, value)),
        Element::Small { shift, bits } => {
            if toward_zero || scale {
                return undocumented(format);
            }
            let packed = encode_channel(value, bits, Kind::UFloat);
            Ok((ones(bits) << shift, packed << shift))
        }
        Element::Half { shift } => {
            if scale {
                return undocumented(format);
            }
            let half = if toward_zero { half_toward_zero(float) } else { f64_to_f16(float) };
            Ok((0xffff << shift, u32::from(half) << shift))
        }
        Element::Integer { shift, bits, signed } => {
            let mask = ones(bits);
            if scale {
                if toward_zero || bits == 32 {
                    return undocumented(format);
                }
                let kind = if signed { Kind::Snorm } else { Kind::Unorm };
                let packed = encode_channel(value, bits, kind) & mask;
                return Ok((mask << shift, packed << shift));
            }
            let half = (1u64 << (bits - 1)) as f64;
            let (low, high) = if signed { (-half, half - 1.0) } else { (0.0, f64::from(mask)) };
            let whole = to_integer(float, toward_zero, low, high) as u32 & mask;
            Ok((mask << shift, whole << shift))
        }
    }
}

/// A half toward zero; what is too large becomes the largest finite one.
fn half_toward_zero(value: f64) -> u16 {
    let near = f64_to_f16(value);
    if value.is_nan() || f16_to_f64(near).abs() <= value.abs() { near } else { near - 1 }
}

/// A float of one element. The flag normalises integers of fewer than 32 bits, and rounds those of 32 toward zero.
///
/// # Errors
/// As [`pack`].
pub fn unpack(
    format: Format,
    number: u8,
    word: u32,
    flag: bool,
    rounds_even: bool,
) -> Result<u32, Refused> {
    let bits = match element(format, number)? {
        Element::Word if !flag => word,
        Element::Small { shift, bits } if !flag => {
            decode_channel(word >> shift & ones(bits), bits, Kind::UFloat)
        }
        Element::Half { shift } if !flag => {
            let value = f16_to_f64((word >> shift) as u16) as f32;
            if value.is_nan() { NAN32 } else { value.to_bits() }
        }
        Element::Word | Element::Small { .. } | Element::Half { .. } => {
            return undocumented(format);
        }
        Element::Integer { shift, bits, signed } => {
            let raw = word >> shift & ones(bits);
            let value = if signed {
                i64::from((raw << (32 - bits)) as i32 >> (32 - bits))
            } else {
                i64::from(raw)
            };
            if flag && bits < 32 {
                let kind = if signed { Kind::Snorm } else { Kind::Unorm };
                return Ok(decode_channel(raw, bits, kind));
            }
            let value = value as f64;
            let float =
                if flag || !rounds_even { super::value::toward_zero(value) } else { value as f32 };
            float.to_bits()
        }
    };
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(format: Format, values: &[f32], scale: bool) -> u32 {
        let mut word = 0;
        for (number, value) in values.iter().enumerate() {
            let (mask, bits) =
                pack(format, number as u8, value.to_bits(), (scale, false)).expect("packs");
            assert_eq!(bits & !mask, 0);
            word = word & !mask | bits;
        }
        word
    }

    #[test]
    fn packs_by_hand() {
        assert_eq!(packed(Format::U8888, &[0.0, 0.5, 1.0, 2.0], true), 0xffff_8000);
        assert_eq!(packed(Format::S8888, &[-1.0, -2.0, 1.0, 0.0], true), 0x007f_8181);
        assert_eq!(packed(Format::U8888, &[1.5, 2.5, 300.0, -4.0], false), 0x00ff_0202);
        assert_eq!(packed(Format::U1616, &[1.0, 0.25], true), 0x4000_ffff);
        assert_eq!(packed(Format::F16F16, &[1.0, -2.0], false), 0xc000_3c00);
        assert_eq!(packed(Format::U1010102, &[1.0, 0.0, 1.0, 1.0], true), 0xfff0_03ff);
        assert_eq!(packed(Format::F111110, &[1.0, 0.0, 0.0], false), 0x3c0);
        assert_eq!(packed(Format::F32, &[3.25], false), 3.25f32.to_bits());
        assert_eq!(packed(Format::S32, &[-2.5], false), -2i32 as u32);
        assert_eq!(packed(Format::S32, &[1e20], false), 0x7fff_ffff);
        assert_eq!(packed(Format::U32, &[f32::NAN], false), 0);
        // The sign of a NaN says nothing behind a conversion (value.rs).
        assert_eq!(unpack(Format::F16F16, 0, 0xfe00, false, true).ok(), Some(NAN32));
        let cut = pack(Format::S32, 0, (-2.5f32).to_bits(), (false, true)).expect("packs");
        assert_eq!(cut.1, -2i32 as u32);
        let cut = pack(Format::S32, 0, 2.75f32.to_bits(), (false, true)).expect("packs");
        assert_eq!(cut.1, 2);
        let half = pack(Format::F16F16, 0, 70000f32.to_bits(), (false, true)).expect("packs");
        assert_eq!(half.1, 0x7bff);
        assert_eq!(packed(Format::F16F16, &[70000.0], false) & 0xffff, 0x7c00);
        assert!(pack(Format::U1616, 2, 0, (false, false)).is_err());
        assert!(pack(Format::O8888, 0, 0, (false, false)).is_err());
    }

    #[test]
    fn unpacks_by_hand() {
        let float = |format, number, word, flag| {
            f32::from_bits(unpack(format, number, word, flag, true).expect("unpacks"))
        };
        assert_eq!(float(Format::U8888, 3, 0xff00_0000, true), 1.0);
        assert_eq!(float(Format::U8888, 3, 0xff00_0000, false), 255.0);
        assert_eq!(float(Format::S8888, 1, 0x8000, true), -1.0);
        assert_eq!(float(Format::S8888, 1, 0x8000, false), -128.0);
        assert_eq!(float(Format::F16F16, 1, 0xc000_0000, false), -2.0);
        assert_eq!(float(Format::S32, 0, 0xffff_fffe, false), -2.0);
        assert_eq!(float(Format::U32, 0, 0xffff_ffff, false), 4_294_967_296.0);
        assert_eq!(float(Format::U32, 0, 0xffff_ffff, true), 4_294_967_040.0);
        assert_eq!(float(Format::F111110, 0, 0x3c0, false), 1.0);
        let cut = unpack(Format::U32, 0, 0xffff_ffff, false, false).expect("unpacks");
        assert_eq!(f32::from_bits(cut), 4_294_967_040.0);
    }

    #[test]
    fn what_is_packed_comes_back() {
        for raw in 0..=255u32 {
            for (format, scale) in [(Format::U8888, true), (Format::S8888, false)] {
                let value = unpack(format, 0, raw, scale, true).expect("unpacks");
                let back = pack(format, 0, value, (scale, false)).expect("packs").1;
                assert_eq!(back, raw, "{format:?}");
            }
        }
    }
}
