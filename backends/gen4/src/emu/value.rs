//! Types of elements, elements as bits, and their conversion. G45 vol. 4, 10.2 to 10.4, 11.3.5, 11.3.9, 13.2.3.

use super::float::{self, Exact};

/// The type of an element.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Ud,
    D,
    Uw,
    W,
    Ub,
    B,
    F,
    /// A number of eight signed half-bytes, which are words.
    V,
    /// A number of four floats of 8 bits.
    Vf,
}

impl Type {
    /// The type of a register by its code of 3 bits.
    pub const fn register(code: u32) -> Option<Type> {
        match code {
            0 => Some(Type::Ud),
            1 => Some(Type::D),
            2 => Some(Type::Uw),
            3 => Some(Type::W),
            4 => Some(Type::Ub),
            5 => Some(Type::B),
            7 => Some(Type::F),
            _ => None,
        }
    }

    /// The type of a number by its code of 3 bits.
    pub const fn number(code: u32) -> Option<Type> {
        match code {
            4 => None,
            5 => Some(Type::Vf),
            6 => Some(Type::V),
            _ => Type::register(code),
        }
    }

    /// Bytes of an element.
    pub const fn bytes(self) -> u32 {
        match self {
            Type::Ud | Type::D | Type::F | Type::Vf => 4,
            Type::Uw | Type::W | Type::V => 2,
            Type::Ub | Type::B => 1,
        }
    }

    /// Every bit of an element.
    pub const fn ones(self) -> u32 {
        u32::MAX >> (32 - 8 * self.bytes())
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Type::F | Type::Vf)
    }

    pub const fn is_dword(self) -> bool {
        matches!(self, Type::Ud | Type::D)
    }

    pub const fn is_byte(self) -> bool {
        matches!(self, Type::Ub | Type::B)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self, Type::D | Type::W | Type::B | Type::V)
    }

    /// Whether an integer is within its range.
    pub fn holds(self, value: i64) -> bool {
        let (least, most) = self.range();
        self.is_float() || (least..=most).contains(&value)
    }

    /// The least and the largest integer.
    const fn range(self) -> (i64, i64) {
        let bits = 8 * self.bytes();
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }
}

/// The type that an instruction computes in. 11.3.9.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    Float,
    Dword,
    Word,
}

impl Execution {
    /// Any float makes it float, else any dword makes it a signed dword, else it is a signed word.
    pub fn of(types: impl Iterator<Item = Type>) -> Execution {
        types.fold(Execution::Word, |so_far, ty| match (so_far, ty) {
            (Execution::Float, _) | (_, Type::F | Type::Vf) => Execution::Float,
            (Execution::Dword, _) | (_, Type::Ud | Type::D) => Execution::Dword,
            _ => Execution::Word,
        })
    }

    pub const fn bytes(self) -> u32 {
        match self {
            Execution::Word => 2,
            _ => 4,
        }
    }
}

/// An element as its register holds it, in the low bits.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    pub bits: u32,
    /// Bits that nobody defined.
    pub undefined: u32,
}

impl Raw {
    pub const fn new(bits: u32) -> Raw {
        Raw { bits, undefined: 0 }
    }

    /// An element of which nothing is defined.
    pub const fn unknown(ty: Type) -> Raw {
        Raw { bits: 0xdead_beef & ty.ones(), undefined: ty.ones() }
    }
}

/// A number that is computed with.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Number {
    Float(f32),
    Int(i64),
}

impl Number {
    /// The value of bits of a type.
    pub fn of(bits: u32, ty: Type) -> Number {
        match ty {
            Type::F | Type::Vf => Number::Float(f32::from_bits(bits)),
            Type::Ud => Number::Int(i64::from(bits)),
            Type::D => Number::Int(i64::from(bits as i32)),
            Type::Uw => Number::Int(i64::from(bits as u16)),
            Type::W | Type::V => Number::Int(i64::from(bits as i16)),
            Type::Ub => Number::Int(i64::from(bits as u8)),
            Type::B => Number::Int(i64::from(bits as i8)),
        }
    }

    /// In the execution type: an integer beside a float becomes one, toward zero. 10.4.4.
    pub fn widened(self, execution: Execution) -> Number {
        match (self, execution) {
            (Number::Int(value), Execution::Float) => Number::Float(float::of_int(value)),
            _ => self,
        }
    }

    /// Source modifiers: the absolute value first, then the negative. A signed integer of the execution type's size
    /// wraps (undocumented: NEGATE).
    pub fn modified(self, absolute: bool, negate: bool, ty: Type, execution: Execution) -> Number {
        match self {
            Number::Float(value) => {
                let value = if absolute { value.abs() } else { value };
                Number::Float(if negate { -value } else { value })
            }
            Number::Int(value) => {
                let value = if absolute { value.abs() } else { value };
                let value = if negate { -value } else { value };
                let (least, most) = ty.range();
                // Only the negative of the least one is beyond a signed type.
                let wraps = ty.is_signed() && ty.bytes() == execution.bytes() && value > most;
                Number::Int(if wraps { least } else { value })
            }
        }
    }

    /// A float, of either. Denormals are not flushed.
    pub fn float(self) -> f32 {
        match self {
            Number::Float(value) => value,
            Number::Int(value) => float::of_int(value),
        }
    }

    /// An integer, of either.
    pub fn int(self) -> i64 {
        match self {
            Number::Float(value) => value as i64,
            Number::Int(value) => value,
        }
    }
}

/// An element of a number in the instruction. 11.3.5.
pub fn element(bits: u32, ty: Type, channel: u32) -> u32 {
    match ty {
        Type::V => {
            let nibble = bits >> (4 * (channel % 8)) & 15;
            ((nibble << 28) as i32 >> 28) as u32 & 0xffff
        }
        Type::Vf => float::of_byte((bits >> (8 * (channel % 4))) as u8).to_bits(),
        _ => bits & ty.ones(),
    }
}

/// What the conditional modifiers ask of a result. 11.8.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    pub zero: bool,
    pub negative: bool,
    pub nan: bool,
    pub overflow: bool,
    pub increment: bool,
}

/// The result in its destination's type, and the signals of what is stored. `overflowed`: the computation itself did.
/// `alternate`: infinities become the largest finite numbers. 10.3.2, 10.4.
pub fn converted(
    number: Number,
    ty: Type,
    saturate: bool,
    alternate: bool,
    overflowed: bool,
) -> (u32, Signals) {
    let mut signals = Signals { overflow: overflowed, ..Signals::default() };
    if ty.is_float() {
        let mut value = float::flush(number.float());
        signals.nan = value.is_nan();
        if saturate {
            value = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
            signals.nan = false;
        }
        if alternate && value.is_infinite() {
            value = f32::MAX.copysign(value);
        }
        if value.is_nan() {
            value = float::NAN;
        }
        signals.zero = value == 0.0;
        signals.negative = value.is_sign_negative() && !value.is_nan();
        return (value.to_bits(), signals);
    }
    let (least, most) = ty.range();
    let value = match number {
        Number::Float(value) => {
            signals.nan = value.is_nan();
            let whole = if value.is_nan() { 0 } else { value as i64 };
            signals.overflow |= !value.is_nan() && (whole < least || whole > most);
            whole.clamp(least, most)
        }
        Number::Int(value) => {
            signals.overflow |= value < least || value > most;
            if saturate { value.clamp(least, most) } else { value }
        }
    };
    let bits = value as u32 & ty.ones();
    signals.zero = bits == 0;
    signals.negative = match Number::of(bits, ty) {
        Number::Int(value) => value < 0,
        Number::Float(_) => false,
    };
    (bits, signals)
}

/// A channel of an accumulator. 11.3.4.5, table 11-9.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Wide {
    #[default]
    Undefined,
    Float(Exact),
    /// 64 bits.
    Dword(i64),
    /// 33 bits.
    Word(i64),
}
