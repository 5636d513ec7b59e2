//! Packing and unpacking words, by WGSL's formulas.

use super::{Lower, Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Type, Value};
use naga::MathFunction;

impl<S> Lower<'_, S> {
    /// A packing, unpacking or packed dot product function.
    pub fn packed(&mut self, fun: MathFunction, a: &Values, b: &Values) -> Result<Values> {
        use MathFunction as F;
        let one = |value| Values::from_elem(value, 1);
        Ok(match fun {
            F::Pack4x8snorm => one(self.pack_norm(a, 127.0, -1.0, Op::FToS)?),
            F::Pack4x8unorm => one(self.pack_norm(a, 255.0, 0.0, Op::FToU)?),
            F::Pack2x16snorm => one(self.pack_norm(a, 32767.0, -1.0, Op::FToS)?),
            F::Pack2x16unorm => one(self.pack_norm(a, 65535.0, 0.0, Op::FToU)?),
            F::Pack2x16float => one(self.op2(Op::PackHalf, a[0], a[1])),
            F::Pack4xI8 | F::Pack4xU8 => one(self.join(a)),
            F::Pack4xI8Clamp => {
                let (low, high) = (self.u32(-128i32 as u32), self.u32(127));
                let least = self.map(Op::SMax, &[a, &one(low)])?;
                let clamped = self.map(Op::SMin, &[&least, &one(high)])?;
                one(self.join(&clamped))
            }
            F::Pack4xU8Clamp => {
                let high = self.u32(255);
                let clamped = self.map(Op::UMin, &[a, &one(high)])?;
                one(self.join(&clamped))
            }
            F::Unpack4x8snorm => self.unpack_norm(a[0], 4, 127.0, true)?,
            F::Unpack4x8unorm => self.unpack_norm(a[0], 4, 255.0, false)?,
            F::Unpack2x16snorm => self.unpack_norm(a[0], 2, 32767.0, true)?,
            F::Unpack2x16unorm => self.unpack_norm(a[0], 2, 65535.0, false)?,
            F::Unpack2x16float => {
                let low = self.op1(Op::UnpackHalfLo, a[0]);
                let high = self.op1(Op::UnpackHalfHi, a[0]);
                Values::from_slice(&[low, high])
            }
            F::Unpack4xI8 => self.fields(a[0], 4, Op::SBfe)?,
            F::Unpack4xU8 => self.fields(a[0], 4, Op::UBfe)?,
            F::Dot4I8Packed => one(self.packed_dot(a[0], b[0], Op::SBfe)?),
            F::Dot4U8Packed => one(self.packed_dot(a[0], b[0], Op::UBfe)?),
            _ => return Err(Stop::internal("not a packing function")),
        })
    }

    /// `floor(0.5 + scale * clamp(e, low, 1))` of each lane, as a field of the word.
    fn pack_norm(&mut self, a: &Values, scale: f64, low: f64, to_int: Op) -> Result<Value> {
        let ty = Type::B32;
        let constants = [low, 1.0, scale, 0.5].map(|value| self.float(ty, value));
        let [low, one, scale, half] = constants.map(|value| Values::from_elem(value, 1));
        let least = self.map(Op::FMax, &[a, &low])?;
        let clamped = self.map(Op::FMin, &[&least, &one])?;
        let scaled = self.map(Op::FMul, &[&clamped, &scale])?;
        let shifted = self.map(Op::FAdd, &[&scaled, &half])?;
        let floored = self.map(Op::FFloor, &[&shifted])?;
        let fields =
            self.lanes(a.len(), |lower, lane| Ok(lower.convert(to_int, ty, floored[lane])))?;
        Ok(self.join(&fields))
    }

    /// The low bits of each lane side by side, the first lowest.
    fn join(&mut self, fields: &[Value]) -> Value {
        let width = 32 / fields.len() as u32;
        let mask = self.u32((1 << width) - 1);
        let mut word = None;
        for (lane, &field) in fields.iter().enumerate() {
            let last = lane + 1 == fields.len();
            // What is shifted to the top loses its upper bits anyway.
            let low = if last { field } else { self.op2(Op::And, field, mask) };
            word = Some(match word {
                None => low,
                Some(word) => {
                    let amount = self.u32(lane as u32 * width);
                    let placed = self.op2(Op::Shl, low, amount);
                    self.op2(Op::Or, word, placed)
                }
            });
        }
        word.expect("there are two or four fields")
    }

    fn fields(&mut self, word: Value, count: u32, op: Op) -> Result<Values> {
        let width = 32 / count;
        self.lanes(count as usize, |lower, lane| {
            let offset = lower.u32(lane as u32 * width);
            let bits = lower.u32(width);
            Ok(lower.op3(op, word, offset, bits))
        })
    }

    /// Fields divided by the scale. The products with the rounded reciprocals are within half a unit
    /// of the quotient's last place and exact at both ends; on a machine that rounds toward zero within
    /// one unit, and the greatest field of all but four unsigned ones is the float below 1.
    fn unpack_norm(&mut self, word: Value, count: u32, scale: f64, signed: bool) -> Result<Values> {
        let (bits, to_float) = if signed { (Op::SBfe, Op::SToF) } else { (Op::UBfe, Op::UToF) };
        let fields = self.fields(word, count, bits)?;
        let numbers = self.lanes(count as usize, |lower, lane| {
            Ok(lower.convert(to_float, Type::B32, fields[lane]))
        })?;
        let scale = Values::from_elem(self.float(Type::B32, scale), 1);
        let quotients = self.map(Op::FDiv, &[&numbers, &scale])?;
        if !signed {
            return Ok(quotients);
        }
        let least = Values::from_elem(self.float(Type::B32, -1.0), 1);
        self.map(Op::FMax, &[&quotients, &least])
    }

    fn packed_dot(&mut self, a: Value, b: Value, op: Op) -> Result<Value> {
        let a = self.fields(a, 4, op)?;
        let b = self.fields(b, 4, op)?;
        Ok(self.dot(naga::ScalarKind::Uint, &a, &b))
    }
}
