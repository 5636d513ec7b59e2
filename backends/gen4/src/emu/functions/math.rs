//! Extended math: functions rounded once toward zero (10.3.1), or off within the bounds of a perturbation. G45 vol. 4, chapter 6.

use super::super::Model;
use super::super::memory::Refused;
use super::super::message::{Message, Register, Reply};
use super::super::rule::Rule;
use super::{Functions, defined};
use gpucc_ir::ssa::Numerics;
use gpucc_ir::ssa::numerics::{Function, Perturbation, truncated};

/// The relative error of POW is that of EXP by this factor: 2^-15 beside 2^-21. 6.2.
const POWER: u32 = 64;

/// The double words of a channel's results.
type Results = [u32; 2];

impl Functions<'_> {
    /// # Errors
    /// The message is none of extended math.
    pub(super) fn math(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        let bits = message.descriptor & 0xffff;
        let function = bits & 15;
        let form = |what: &str| Err((Rule::MathForm, format!("{what} of function {function:#x}")));
        let (operands, results) = match function {
            1..=7 => (1, 1),
            8 => (1, 2),
            10 => (2, 1),
            11 => (2, 2),
            12 | 13 => (2, 1),
            _ => return Err((Rule::MathFunction, format!("function {function:#x}"))),
        };
        if bits & 0xff00 != 0 {
            return form("reserved bits");
        }
        // 16 channels at once are one operand and one result of two registers. 6.1.
        let wide = self.model == Model::G45 && message.channels == 16 && !message.second_half;
        let twice = wide && operands == 1 && results == 1 && message.payload.len() == 2;
        let count = if twice { 2 } else { 1 };
        if message.payload.len() != operands * count {
            return form("the registers");
        }
        if message.response as usize != results * count {
            return form("the registers of the reply");
        }
        if message.enabled >> (8 * count) != 0 || !twice && message.channels > 8 {
            return form("the channels");
        }
        if message.saturate && bits & 0x40 == 0 {
            return form("the instruction's own saturation");
        }
        if bits & 0x20 != 0 && !self.alternate(message)? {
            return form("partial precision in IEEE mode");
        }
        let alternate = self.alternate(message)?;
        let (signed, scalar) = (bits & 0x10 != 0, bits & 0x80 != 0);
        let mut reply = vec![(Register::UNDEFINED, 0u8); results * count];
        for channel in (0..8 * count).filter(|channel| message.enabled >> channel & 1 == 1) {
            let (group, lane) = (channel / 8, channel % 8);
            let from = if scalar { lane & !3 } else { lane };
            let first = defined(message.payload, group, from)?;
            let second = if operands == 2 { defined(message.payload, 1, from)? } else { 0 };
            let out = match function {
                11..=13 => divided(function, second, first, signed),
                _ => self.float(function, first, second, alternate)?,
            };
            for (index, value) in out.into_iter().take(results).enumerate() {
                let float = function < 11;
                let value = if float && bits & 0x40 != 0 { saturated(value) } else { value };
                let (register, written) = &mut reply[group + index];
                register.words[lane] = value;
                register.undefined &= !(15 << (4 * lane));
                *written |= 1 << lane;
            }
        }
        Ok(Reply { registers: reply })
    }

    fn float(&self, function: u32, x: u32, y: u32, alternate: bool) -> Result<Results, Refused> {
        let model = &self.numerics;
        // The alternative mode has no infinities and takes the magnitude where IEEE has NaN. 6.2.
        let magnitude = if alternate { x & 0x7fff_ffff } else { x };
        let result = match function {
            1 => [model.rcp(x), 0],
            2 => [model.log2(magnitude), 0],
            3 => [model.exp2(x), 0],
            4 => [model.sqrt(magnitude), 0],
            5 => [model.rsq(magnitude), 0],
            6 => [turned(model, x, Function::Sin), 0],
            7 => [turned(model, x, Function::Cos), 0],
            8 => [turned(model, x, Function::Sin), turned(model, x, Function::Cos)],
            10 => [power(model, x & 0x7fff_ffff, y), 0],
            _ => return Err((Rule::MathFunction, format!("function {function:#x}"))),
        };
        Ok(if alternate { result.map(largest) } else { result })
    }
}

/// A sine or cosine of radians.
fn turned(model: &Numerics, bits: u32, function: Function) -> u32 {
    let x = model.in32(bits);
    let y = if function == Function::Sin { truncated::sin(x) } else { truncated::cos(x) };
    let off = |errors: &Perturbation| errors.near_absolute(y, (x, function));
    let off = model.perturbation.as_ref().filter(|_| y.is_finite() && x != 0.0).map(off);
    model.out32(off.unwrap_or(y))
}

/// 2^(y log2 x), which is NaN for 0^0, inf^0 and 1^inf. 6.2.
fn power(model: &Numerics, x: u32, y: u32) -> u32 {
    let (x, y) = (model.in32(x), model.in32(y));
    if y == 0.0 && (x == 0.0 || x.is_infinite()) || x == 1.0 && y.is_infinite() {
        return model.out32(f32::NAN);
    }
    let result = truncated::pow(x, y);
    let off = model.perturbation.as_ref().filter(|_| result.is_normal() && y != 0.0);
    let off = off.map(|errors| {
        let bound = errors.exp2_ulps.saturating_mul(POWER);
        errors.near(result, (x, Function::Pow), bound)
    });
    model.out32(off.unwrap_or(result))
}

/// An infinity as the largest float of its sign.
fn largest(bits: u32) -> u32 {
    if bits & 0x7fff_ffff == 0x7f80_0000 { bits - 1 } else { bits }
}

/// Within 0 and 1; NaN is 0.
fn saturated(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    if value > 0.0 { value.min(1.0).to_bits() } else { 0 }
}

/// Quotient and remainder, or the one that is asked for; the first operand is the denominator. 6.2.
fn divided(function: u32, numerator: u32, denominator: u32, signed: bool) -> Results {
    let (quotient, remainder) = if signed {
        let (a, b) = (numerator as i32, denominator as i32);
        match b {
            0 if a < 0 => (0x8000_0000, 0x8000_0000),
            0 => (0x7fff_ffff, 0x7fff_ffff),
            _ => (a.wrapping_div(b) as u32, a.wrapping_rem(b) as u32),
        }
    } else {
        match denominator {
            0 => (u32::MAX, u32::MAX),
            _ => (numerator / denominator, numerator % denominator),
        }
    };
    if function == 13 { [remainder, 0] } else { [quotient, remainder] }
}
