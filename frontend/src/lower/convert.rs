//! Conversions and bit casts.

use super::frame::Frame;
use super::types::width;
use super::{Lower, OfNaga, Result, Values};
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{Op, Type, Value};
use naga::{Expression, Handle, Scalar, ScalarKind};

impl<'a> OfNaga<'a> {
    /// `As`: a conversion to a kind of `convert` bytes, or a bit cast when there is none.
    pub fn cast(
        &mut self,
        frame: &mut Frame<'a>,
        expr: Handle<Expression>,
        kind: ScalarKind,
        convert: Option<u8>,
    ) -> Result<Values> {
        let from = self.scalar_of(frame, expr)?;
        let values = self.values(frame, expr)?;
        let Some(bytes) = convert else {
            // Values have widths, not kinds: a bit cast of one width is nothing.
            if kind == ScalarKind::Bool || from.kind == ScalarKind::Bool {
                return Err(Stop::unsupported("a bit cast of truth values", LOWERING));
            }
            return Ok(values);
        };
        let to = Scalar { kind, width: bytes };
        self.lanes(values.len(), |lower, lane| lower.convert_scalar(values[lane], from, to))
    }
}

impl<S> Lower<'_, S> {
    /// A signed integer of 64 bits as the nearest one of 32.
    pub fn nearest_word(&mut self, wide: Value) -> Value {
        let [low, high] = [Op::Lo64, Op::Hi64].map(|half| self.op1(half, wide));
        let (by, most) = (self.u32(31), self.u32(0x7fff_ffff));
        let [sign, upper] = [low, high].map(|word| self.op2(Op::AShr, word, by));
        let fits = self.op2(Op::IEq, high, sign);
        let limit = self.op2(Op::Xor, upper, most);
        self.select(fits, low, limit)
    }

    /// One scalar from one type to another, as WGSL's value constructors do.
    pub fn convert_scalar(&mut self, value: Value, from: Scalar, to: Scalar) -> Result<Value> {
        use ScalarKind as K;
        let (source, target) = (width(from), width(to));
        let result = match (from.kind, to.kind) {
            (K::Bool, K::Bool) => value,
            (K::Bool, K::Sint | K::Uint) => self.convert(Op::UConvert, target, value),
            (K::Bool, K::Float) => {
                let (one, zero) = (self.float(target, 1.0), self.float(target, 0.0));
                self.select(value, one, zero)
            }
            (K::Sint | K::Uint, K::Bool) => {
                let zero = self.constant(source, 0);
                self.op2(Op::INe, value, zero)
            }
            (K::Float, K::Bool) => {
                let zero = self.float(source, 0.0);
                self.op2(Op::FNe, value, zero)
            }
            (K::Sint | K::Uint, K::Sint | K::Uint) if source == target => value,
            (K::Sint, K::Sint | K::Uint) => self.convert(Op::SConvert, target, value),
            (K::Uint, K::Sint | K::Uint) => self.convert(Op::UConvert, target, value),
            (K::Sint, K::Float) => self.convert(Op::SToF, target, value),
            (K::Uint, K::Float) => self.convert(Op::UToF, target, value),
            (K::Float, K::Sint) => self.convert(Op::FToS, target, value),
            (K::Float, K::Uint) => self.convert(Op::FToU, target, value),
            (K::Float, K::Float) if source == target => value,
            (K::Float, K::Float) => self.convert(Op::FConvert, target, value),
            (K::AbstractInt | K::AbstractFloat, _) | (_, K::AbstractInt | K::AbstractFloat) => {
                return Err(Stop::internal("an abstract number is left after validation"));
            }
        };
        Ok(result)
    }

    /// The bits of some scalars as scalars of another width, the lowest first.
    pub fn recast(&mut self, values: Values, from: Type, to: Type) -> Values {
        let (mut values, mut ty) = (values, from);
        // Down to the parts, and up again.
        while ty.bits() > to.bits() {
            let (low, high, next) = match ty {
                Type::B64 => (Op::Lo64, Op::Hi64, Type::B32),
                _ => (Op::Lo16, Op::Hi16, Type::B16),
            };
            let mut parts = Values::new();
            for value in values {
                parts.extend([self.op1(low, value), self.op1(high, value)]);
            }
            (values, ty) = (parts, next);
        }
        while ty.bits() < to.bits() {
            let (join, next) = match ty {
                Type::B16 => (Op::Join16, Type::B32),
                _ => (Op::Join64, Type::B64),
            };
            let mut joined = Values::new();
            for pair in values.chunks_exact(2) {
                joined.push(self.op2(join, pair[0], pair[1]));
            }
            (values, ty) = (joined, next);
        }
        values
    }

    /// A word as i32, whatever integer it was; floats are rounded (SPIR-V's array layers).
    pub fn layer_number(&mut self, value: Value, kind: ScalarKind) -> Value {
        match kind {
            ScalarKind::Float => {
                let rounded = self.op1(Op::FRound, value);
                self.convert(Op::FToS, Type::B32, rounded)
            }
            _ => value,
        }
    }
}
