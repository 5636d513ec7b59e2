//! Arithmetic and logic of one channel. G45 vol. 4, 14.2; isa/gen4.md 5.

use super::decode::{Condition, Opcode};
use super::float::{self, Exact};
use super::value::{Execution, Number, Raw, Signals, Type, Wide, converted};

/// A source's element of one channel.
#[derive(Copy, Clone, Debug)]
pub struct Input {
    pub raw: Raw,
    pub ty: Type,
    pub absolute: bool,
    pub negate: bool,
}

impl Input {
    /// What stands for a source that is not there.
    pub const NONE: Input =
        Input { raw: Raw::new(0), ty: Type::Ud, absolute: false, negate: false };

    /// In the execution type, with its modifiers.
    pub fn number(&self, execution: Execution) -> Number {
        let number = Number::of(self.raw.bits, self.ty).widened(execution);
        number.modified(self.absolute, self.negate, self.ty, execution)
    }

    fn is_plain(&self) -> bool {
        !self.absolute && !self.negate
    }

    fn is_undefined(&self) -> bool {
        self.raw.undefined != 0
    }

    /// 32 bits of an integer, extended by its sign, with the undefined ones.
    fn extended(&self, execution: Execution) -> Raw {
        let bits = self.number(execution).int() as u32;
        let undefined = self.raw.undefined;
        if !self.is_plain() {
            let undefined = if undefined == 0 { 0 } else { !0 };
            return Raw { bits, undefined };
        }
        let spare = 32 - 8 * self.ty.bytes();
        let undefined = if self.ty.is_signed() {
            ((undefined << spare) as i32 >> spare) as u32
        } else {
            undefined
        };
        Raw { bits, undefined }
    }
}

/// What decides how all channels of an instruction compute.
#[derive(Copy, Clone, Debug)]
pub struct Mode {
    pub opcode: Opcode,
    pub execution: Execution,
    /// The destination's type.
    pub ty: Type,
    pub saturate: bool,
    pub condition: Condition,
    /// The alternative mode of floats.
    pub alternate: bool,
    /// The first source is an accumulator.
    pub accumulator: bool,
}

/// The result of a channel.
#[derive(Clone, Debug)]
pub struct Output {
    pub raw: Raw,
    /// What the conditional modifier makes of it.
    pub flag: bool,
    /// The flag's bit is undefined.
    pub flag_undefined: bool,
    /// What goes to an accumulator that is written.
    pub wide: Wide,
}

/// A result before its conversion.
struct Result {
    number: Number,
    overflow: bool,
    increment: bool,
    wide: Wide,
}

impl Result {
    fn new(number: Number, wide: Wide) -> Result {
        Result { number, overflow: false, increment: false, wide }
    }

    /// A float that is rounded, with the exact one for the accumulator.
    fn exact(exact: Exact) -> Result {
        let (value, overflow) = exact.rounded();
        let number = Number::Float(value);
        Result { number, overflow, increment: false, wide: Wide::Float(exact) }
    }

    fn int(value: i64, execution: Execution) -> Result {
        Result::new(Number::Int(value), Mode::wide(value, execution))
    }
}

impl Mode {
    fn wide(value: i64, execution: Execution) -> Wide {
        match execution {
            Execution::Word => Wide::Word(value << 31 >> 31),
            _ => Wide::Dword(value),
        }
    }

    /// A result of which nothing is known.
    pub fn undefined(&self) -> Output {
        Output {
            raw: Raw::unknown(self.ty),
            flag: false,
            flag_undefined: true,
            wide: Wide::Undefined,
        }
    }

    /// Moves an element: the bits where nothing changes them, else with conversion. 11.3.10.2.
    pub fn moved(&self, input: &Input) -> Output {
        let raw_move = input.ty == self.ty && input.is_plain() && !self.saturate;
        if raw_move && self.ty.is_float() {
            let raw = input.raw;
            let value = f32::from_bits(raw.bits);
            let flushed = float::flush(value);
            let signals = Signals {
                zero: flushed == 0.0,
                negative: value.is_sign_negative() && !value.is_nan(),
                nan: value.is_nan(),
                ..Signals::default()
            };
            // A denormal in an accumulator leaves its user undefined. 11.3.4.5.
            let wide = if value.is_subnormal() || raw.undefined != 0 {
                Wide::Undefined
            } else {
                Wide::Float(Exact::of(value))
            };
            return self.output(raw, signals, wide);
        }
        let integers = !input.ty.is_float() && !self.ty.is_float();
        if integers && !self.saturate {
            let raw = input.extended(self.execution);
            let value = input.number(self.execution).int();
            let wide = match raw.undefined {
                0 => Mode::wide(value, self.execution),
                _ => Wide::Undefined,
            };
            return self.bits(raw, wide, value);
        }
        if input.is_undefined() {
            return self.undefined();
        }
        let number = input.number(self.execution);
        let wide = match number {
            Number::Float(value) => Wide::Float(Exact::of(value)),
            Number::Int(value) => Mode::wide(value, self.execution),
        };
        self.finish(Result::new(number, wide))
    }

    /// The low 32 bits of an integer, cut to the destination's type.
    fn bits(&self, raw: Raw, wide: Wide, value: i64) -> Output {
        let overflow = !self.ty.holds(value);
        let ones = self.ty.ones();
        let raw = Raw { bits: raw.bits & ones, undefined: raw.undefined & ones };
        let negative = matches!(Number::of(raw.bits, self.ty), Number::Int(value) if value < 0);
        let signals = Signals { zero: raw.bits == 0, negative, overflow, ..Signals::default() };
        self.output(raw, signals, wide)
    }

    fn finish(&self, result: Result) -> Output {
        let (bits, mut signals) =
            converted(result.number, self.ty, self.saturate, self.alternate, result.overflow);
        signals.increment = result.increment;
        self.output(Raw::new(bits), signals, result.wide)
    }

    /// 11.8: flags of everything but comparisons.
    fn output(&self, raw: Raw, signals: Signals, wide: Wide) -> Output {
        let Signals { zero, negative, nan, overflow, increment } = signals;
        let flag = match self.condition {
            Condition::None => false,
            Condition::Zero => zero && !nan,
            Condition::NotZero => !zero || nan,
            Condition::Greater => !negative && !zero && !nan,
            Condition::GreaterEqual => (!negative || zero) && !nan,
            Condition::Less => negative && !zero && !nan,
            Condition::LessEqual => (negative || zero) && !nan,
            Condition::Increment => increment && !overflow,
            Condition::Overflow => overflow,
            Condition::Unordered => nan,
        };
        Output { raw, flag, flag_undefined: raw.undefined != 0, wide }
    }

    /// A comparison: bit 0 of the result, the rest of which is undefined, and the flag. 14.2.6, 14.2.7, tables 10-3 to
    /// 10-14.
    pub fn compare(&self, a: &Input, b: &Input, acc: &Wide) -> Output {
        if self.unusable(a, b, acc) {
            return self.undefined();
        }
        let (a, b) = (self.number(a, acc), b.number(self.execution));
        let (order, first_nan, second_nan) = match (a, b) {
            (Number::Int(a), Number::Int(b)) => (Some(a.cmp(&b)), false, false),
            _ => {
                let (a, b) = (float::flush(a.float()), float::flush(b.float()));
                (a.partial_cmp(&b), a.is_nan(), b.is_nan())
            }
        };
        let nan_decides = self.opcode == Opcode::Cmpn && (first_nan || second_nan);
        let flag = if nan_decides {
            // Where the second is not a number the first is what a minimum or maximum returns.
            second_nan != (self.condition == Condition::NotZero)
        } else {
            match self.condition {
                Condition::Zero => order.is_some_and(|order| order.is_eq()),
                Condition::NotZero => order.is_none_or(|order| order.is_ne()),
                Condition::Greater => order.is_some_and(|order| order.is_gt()),
                Condition::GreaterEqual => order.is_some_and(|order| order.is_ge()),
                Condition::Less => order.is_some_and(|order| order.is_lt()),
                Condition::LessEqual => order.is_some_and(|order| order.is_le()),
                _ => false,
            }
        };
        let ones = self.ty.ones();
        let bits = (0xdead_beee | u32::from(flag)) & ones;
        let raw = Raw { bits, undefined: ones & !1 };
        Output { raw, flag, flag_undefined: false, wide: Wide::Undefined }
    }

    /// A source that decides nothing: undefined, or an accumulator of another type.
    fn unusable(&self, a: &Input, b: &Input, acc: &Wide) -> bool {
        let fits = match acc {
            Wide::Undefined => false,
            Wide::Float(_) => self.execution == Execution::Float,
            Wide::Dword(_) => self.execution == Execution::Dword,
            Wide::Word(_) => self.execution == Execution::Word,
        };
        let first = if self.accumulator { !fits } else { a.is_undefined() };
        let reads = matches!(self.opcode, Opcode::Mac | Opcode::Mach | Opcode::Sada2);
        first || b.is_undefined() || reads && !fits
    }

    /// The first source, which may be an accumulator.
    fn number(&self, a: &Input, acc: &Wide) -> Number {
        match acc {
            Wide::Float(exact) if self.accumulator => Number::Float(exact.rounded().0),
            Wide::Dword(value) | Wide::Word(value) if self.accumulator => Number::Int(*value),
            _ => a.number(self.execution),
        }
    }

    /// An accumulator's element as a source of moves.
    pub fn moved_accumulator(&self, acc: &Wide) -> Output {
        if self.unusable(&Input::NONE, &Input::NONE, acc) {
            return self.undefined();
        }
        self.finish(Result::new(self.number(&Input::NONE, acc), acc.clone()))
    }

    /// Bitwise operations and shifts: bits that are undefined stay where they are. 14.2.
    pub fn logic(&self, a: &Input, b: &Input, acc: &Wide) -> Output {
        let (x, y) = if self.accumulator {
            if self.unusable(a, b, acc) {
                return self.undefined();
            }
            (Raw::new(self.number(a, acc).int() as u32), b.extended(self.execution))
        } else {
            (a.extended(self.execution), b.extended(self.execution))
        };
        let raw = match self.opcode {
            Opcode::Not => Raw { bits: !x.bits, undefined: x.undefined },
            Opcode::And => Raw {
                bits: x.bits & y.bits,
                // A zero that is known makes the bit known.
                undefined: (x.undefined | y.undefined)
                    & (x.undefined | x.bits)
                    & (y.undefined | y.bits),
            },
            Opcode::Or => Raw {
                bits: x.bits | y.bits,
                undefined: (x.undefined | y.undefined)
                    & (x.undefined | !x.bits)
                    & (y.undefined | !y.bits),
            },
            Opcode::Xor => Raw { bits: x.bits ^ y.bits, undefined: x.undefined | y.undefined },
            _ => return self.shift(a, &x, y, acc),
        };
        let value = i64::from(raw.bits as i32);
        self.bits(raw, Mode::wide(value, self.execution), value)
    }

    fn shift(&self, a: &Input, x: &Raw, y: Raw, acc: &Wide) -> Output {
        if y.undefined & 31 != 0 || self.saturate && x.undefined != 0 {
            return self.undefined();
        }
        let count = y.bits & 31;
        let value = self.number(a, acc).int();
        // The unsigned number as wide as the execution type.
        let ones = if self.execution == Execution::Word { 0xffff } else { u32::MAX };
        let (shifted, undefined) = match self.opcode {
            Opcode::Shl => (value.wrapping_shl(count), x.undefined << count),
            Opcode::Shr => {
                (i64::from((value as u32 & ones) >> count), (x.undefined & ones) >> count)
            }
            _ if a.ty.is_signed() => (value >> count, (x.undefined as i32 >> count) as u32),
            _ => (value >> count, x.undefined >> count),
        };
        if self.saturate {
            // What does not fit the 33 bits of a word is not saturated rightly. 14.2.45.
            if shifted << 31 >> 31 != shifted {
                return self.undefined();
            }
            return self.finish(Result::int(shifted, self.execution));
        }
        self.bits(Raw { bits: shifted as u32, undefined }, Wide::Undefined, shifted)
    }

    /// Operations on a channel of one or two sources, and of the accumulator.
    pub fn arithmetic(&self, a: &Input, b: &Input, acc: &Wide) -> Output {
        if self.unusable(a, b, acc) {
            return self.undefined();
        }
        let (x, y) = (self.number(a, acc), b.number(self.execution));
        let result = if self.execution == Execution::Float {
            let (x, y) = (x.float(), y.float());
            if self.alternate && !(x.is_finite() && y.is_finite()) {
                return self.undefined();
            }
            self.float(x, y, acc)
        } else {
            self.integer(a, b, x.int(), y.int(), acc)
        };
        self.finish(result)
    }

    fn float(&self, x: f32, y: f32, acc: &Wide) -> Result {
        match (self.opcode, acc) {
            (Opcode::Add, Wide::Float(exact)) if self.accumulator => {
                Result::exact(Exact::of(y).plus(exact))
            }
            (Opcode::Add, _) => Result::exact(Exact::of(x).plus(&Exact::of(y))),
            (Opcode::Mac, Wide::Float(exact)) => Result::exact(Exact::product(x, y).plus(exact)),
            (Opcode::Frc, _) => {
                let value = float::flush(x);
                let rest = Exact::of(value).plus(&Exact::of(-value.floor()));
                Result { wide: Wide::Undefined, ..Result::exact(rest) }
            }
            (Opcode::Rndd | Opcode::Rndu | Opcode::Rnde | Opcode::Rndz, _) => {
                let value = float::flush(x);
                let floor = value.floor();
                let fraction = value - floor;
                let increment = match self.opcode {
                    Opcode::Rndu => fraction > 0.0,
                    Opcode::Rnde => {
                        fraction > 0.5 || fraction == 0.5 && (floor * 0.5).fract() != 0.0
                    }
                    Opcode::Rndz => value < 0.0 && fraction > 0.0,
                    _ => false,
                };
                Result { increment, ..Result::new(Number::Float(floor), Wide::Undefined) }
            }
            _ => Result::exact(Exact::product(x, y)),
        }
    }

    fn integer(&self, a: &Input, b: &Input, x: i64, y: i64, acc: &Wide) -> Result {
        let before = match acc {
            Wide::Dword(value) | Wide::Word(value) => *value,
            _ => 0,
        };
        let value = match self.opcode {
            Opcode::Add => x.wrapping_add(y),
            Opcode::Avg => x.wrapping_add(y).wrapping_add(1) >> 1,
            Opcode::Mac => x.wrapping_mul(y).wrapping_add(before),
            Opcode::Mach => {
                let high = (x >> 16).wrapping_mul(y).wrapping_shl(16).wrapping_add(before);
                return Result::new(Number::Int(high >> 32), Wide::Dword(high));
            }
            Opcode::Lzd => {
                let count = (x as u32).leading_zeros();
                return Result::new(Number::Int(i64::from(count)), Wide::Undefined);
            }
            // Two dwords: the low half of the first, which is unsigned (undocumented: LOW_HALF).
            _ if a.ty.is_dword() && b.ty.is_dword() => (x & 0xffff).wrapping_mul(y),
            _ => x.wrapping_mul(y),
        };
        Result::int(value, self.execution)
    }

    /// A sum of products of floats that is rounded once, `None` where a source is undefined. `keeps`: the accumulator
    /// gets it, else it is undefined afterwards.
    pub fn sum(&self, terms: &[(Input, Input)], keeps: bool) -> Output {
        let mut sum: Option<Exact> = None;
        for (a, b) in terms {
            if a.is_undefined() || b.is_undefined() {
                return self.undefined();
            }
            let (x, y) = (a.number(Execution::Float).float(), b.number(Execution::Float).float());
            if self.alternate && !(x.is_finite() && y.is_finite()) {
                return self.undefined();
            }
            let product = Exact::product(x, y);
            sum = Some(match sum {
                Some(sum) => sum.plus(&product),
                None => product,
            });
        }
        let Some(sum) = sum else { return self.undefined() };
        let mut result = Result::exact(sum);
        if !keeps {
            result.wide = Wide::Undefined;
        }
        self.finish(result)
    }

    /// The sum of the absolute differences of two channels, and for SADA2 the accumulator. 14.2.41, 14.2.42.
    pub fn differences(&self, pairs: &[(Input, Input); 2], acc: &Wide) -> Output {
        let mut sum = 0;
        for (a, b) in pairs {
            if self.unusable(a, b, acc) {
                return self.undefined();
            }
            let (x, y) = (a.number(self.execution).int(), b.number(self.execution).int());
            sum += (x - y).abs();
        }
        if let (Opcode::Sada2, Wide::Word(before)) = (self.opcode, acc) {
            sum += before;
        }
        self.finish(Result::int(sum, Execution::Word))
    }
}
