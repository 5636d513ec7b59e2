//! Statements that compute: one op on values in sight.

use super::{Generator, Kind};
use crate::ssa::{Builder, Number, Op, Sig, Value};

impl Generator {
    /// One computing op on values in sight.
    pub(super) fn compute(&mut self, b: &mut Builder<'_>) {
        if self.ops.is_empty() {
            return;
        }
        let plain = [Op::FAdd, Op::FSub, Op::FMul, Op::FNeg];
        if self.rng.one_in(24) && plain.into_iter().all(self.config.allow) {
            self.identity(b);
            return;
        }
        let ops = std::mem::take(&mut self.ops);
        let op = self.rng.pick(&ops);
        self.ops = ops;
        let wide = |g: &mut Generator, is_float: bool| match (is_float, g.rng.below(24)) {
            (true, 0) if g.config.halves && (g.config.allow)(Op::Join16) => Kind::Half,
            (true, 1) if g.config.doubles && (g.config.allow)(Op::Join64) => Kind::Double,
            (true, _) => Kind::Float,
            (false, 0) if (g.config.allow)(Op::Join16) => Kind::Short,
            (false, 1..=3) if (g.config.allow)(Op::Join64) => Kind::Long,
            (false, _) => Kind::Int,
        };
        let float = op.reads() == Number::Float;
        match op.sig() {
            Sig::Unary | Sig::UnaryBits => {
                let kind = if float && is_f32_only(op) { Kind::Float } else { wide(self, float) };
                let kind = if op.sig() == Sig::UnaryBits && self.rng.one_in(3) {
                    Kind::Truth
                } else {
                    kind
                };
                let a = self.any(b, kind);
                let a = match op {
                    // The unit takes turns within half a turn.
                    Op::FSinTurns | Op::FCosTurns => self.half_turn(b, a),
                    _ => a,
                };
                let value = b.op1(op, a);
                self.add(kind, value);
            }
            Sig::Binary | Sig::BinaryBits => {
                let kind = if float && is_f32_only(op) { Kind::Float } else { wide(self, float) };
                let kind = if op.sig() == Sig::BinaryBits && self.rng.one_in(2) {
                    Kind::Truth
                } else {
                    kind
                };
                let (a, c) = (self.any(b, kind), self.any(b, kind));
                let value = b.op2(op, a, c);
                self.add(kind, value);
            }
            Sig::Ternary => {
                let kind = wide(self, float);
                let (x, y, z) = (self.any(b, kind), self.any(b, kind), self.any(b, kind));
                let value = b.op3(op, x, y, z);
                self.add(kind, value);
            }
            Sig::Shift => {
                let kind = if float { Kind::Float } else { wide(self, false) };
                let (a, amount) = (self.any(b, kind), self.any(b, Kind::Int));
                let value = b.op2(op, a, amount);
                self.add(kind, value);
            }
            Sig::Compare | Sig::CompareBits => {
                let kind = wide(self, float);
                let (a, c) = (self.any(b, kind), self.any(b, kind));
                let value = b.op2(op, a, c);
                self.add(Kind::Truth, value);
            }
            Sig::Select => {
                let is_float = self.rng.one_in(2);
                let kind = wide(self, is_float);
                let c = self.any(b, Kind::Truth);
                let (x, y) = (self.any(b, kind), self.any(b, kind));
                let value = b.select(c, x, y);
                self.add(kind, value);
            }
            Sig::ExtractBits | Sig::InsertBits => {
                // Those of 16 bits are left to tests of their own.
                let kind = match wide(self, false) {
                    Kind::Long => Kind::Long,
                    _ => Kind::Int,
                };
                let mut args = vec![self.any(b, kind)];
                if op.sig() == Sig::InsertBits {
                    args.push(self.any(b, kind));
                }
                for _ in 0..2 {
                    args.push(self.any(b, Kind::Int));
                }
                let value = b.op(op, &args);
                self.add(kind, value);
            }
            Sig::Dot => {
                let count = 2 * (2 + self.rng.below(3));
                let args: Vec<Value> = (0..count).map(|_| self.any(b, Kind::Float)).collect();
                let value = b.op(op, &args);
                self.add(Kind::Float, value);
            }
            Sig::Convert => self.convert(b, op),
            Sig::Const | Sig::Custom | Sig::Fixed(..) => self.move_bits(b, op),
        }
        if self.rng.one_in(12) {
            self.reinterpret(b);
        }
    }

    fn half_turn(&mut self, b: &mut Builder<'_>, a: Value) -> Value {
        // NaN and infinities become 0 first, then fract(x) - 0.5 is within half a turn.
        let clean = b.op1(Op::FSat, a);
        let half = b.f32(0.5);
        b.op2(Op::FSub, clean, half)
    }

    fn convert(&mut self, b: &mut Builder<'_>, op: Op) {
        let long = (self.config.allow)(Op::Join64) && self.rng.one_in(4);
        let short = (self.config.allow)(Op::Join16) && self.rng.one_in(8);
        let (from, to) = match op {
            Op::SToF | Op::UToF if long => (Kind::Long, Kind::Float),
            Op::FToS | Op::FToU if long => (Kind::Float, Kind::Long),
            Op::SConvert | Op::UConvert if long => self.rng.pick(&[
                (Kind::Int, Kind::Long),
                (Kind::Long, Kind::Int),
                (Kind::Truth, Kind::Long),
            ]),
            Op::SToF | Op::UToF if short => (Kind::Short, Kind::Float),
            Op::FToS | Op::FToU if short => (Kind::Float, Kind::Short),
            Op::SToF | Op::UToF => (Kind::Int, Kind::Float),
            Op::FToS | Op::FToU | Op::FrexpExp => (Kind::Float, Kind::Int),
            Op::FConvert if self.config.halves && (self.config.allow)(Op::Join16) => {
                self.rng.pick(&[(Kind::Float, Kind::Half), (Kind::Half, Kind::Float)])
            }
            Op::SConvert | Op::UConvert if (self.config.allow)(Op::Join16) => {
                self.rng.pick(&[(Kind::Int, Kind::Short), (Kind::Short, Kind::Int)])
            }
            Op::UConvert => (Kind::Truth, Kind::Int),
            _ => return,
        };
        let a = self.any(b, from);
        let value = b.convert(op, to.ty(), a);
        self.add(to, value);
    }

    fn move_bits(&mut self, b: &mut Builder<'_>, op: Op) {
        let (from, count, to) = match op {
            Op::PackHalf => (Kind::Float, 2, Kind::Int),
            Op::UnpackHalfLo | Op::UnpackHalfHi => (Kind::Int, 1, Kind::Float),
            Op::Join16 => (Kind::Short, 2, Kind::Int),
            Op::Lo16 | Op::Hi16 => (Kind::Int, 1, Kind::Short),
            Op::Join64 => (Kind::Int, 2, Kind::Long),
            Op::Lo64 | Op::Hi64 => (Kind::Long, 1, Kind::Int),
            Op::Index => (Kind::Int, 2, Kind::Int),
            Op::CubeS | Op::CubeT | Op::CubeMajor | Op::CubeFace => (Kind::Float, 3, Kind::Float),
            _ => return,
        };
        let mut args: Vec<Value> = (0..count).map(|_| self.any(b, from)).collect();
        if op == Op::PackHalf {
            for arg in &mut args {
                *arg = self.number(b, *arg);
            }
        }
        if op == Op::Index {
            args[1] = b.u32(1 + self.rng.below(20) as u32);
        }
        let value = b.op(op, &args);
        self.add(to, value);
    }

    /// The float, or a number that nothing else gives when it is a NaN: so a NaN that is missing shows.
    pub(super) fn number(&mut self, b: &mut Builder<'_>, float: Value) -> Value {
        let is = b.op2(Op::FEq, float, float);
        let other = b.f32(-1234.5);
        b.select(is, float, other)
    }

    /// A float that everyday algebra calls another float of the program, or a constant: it is, but for infinities,
    /// NaNs and negative zeros, which are among what it is made of.
    fn identity(&mut self, b: &mut Builder<'_>) {
        const SPECIAL: [f32; 4] = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0];
        let x = self.any(b, Kind::Float);
        let when = self.any(b, Kind::Truth);
        let special = self.rng.pick(&SPECIAL);
        let special = b.f32(special);
        let x = b.select(when, special, x);
        let of = |b: &mut Builder<'_>, op, constant: f32| {
            let constant = b.f32(constant);
            b.op2(op, x, constant)
        };
        let value = match self.rng.below(11) {
            0 | 1 => b.op2(Op::FSub, x, x),
            2 => of(b, Op::FMul, 0.0),
            3 => of(b, Op::FAdd, 0.0),
            4 => of(b, Op::FAdd, -0.0),
            5 => of(b, Op::FSub, 0.0),
            6 => {
                let zero = b.f32(0.0);
                b.op2(Op::FSub, zero, x)
            }
            7 => of(b, Op::FMul, 1.0),
            8 => of(b, Op::FMul, -1.0),
            9 => {
                let y = self.any(b, Kind::Float);
                let sum = b.op2(Op::FAdd, x, y);
                b.op2(Op::FSub, sum, y)
            }
            _ => {
                let negative = b.op1(Op::FNeg, x);
                b.op2(Op::FAdd, x, negative)
            }
        };
        self.add(Kind::Float, value);
        // Often nothing else would look at it.
        let bits = self.number(b, value);
        self.add(Kind::Int, bits);
    }

    /// Float bits as an integer, or integer bits as a float that is finite.
    fn reinterpret(&mut self, b: &mut Builder<'_>) {
        if self.rng.one_in(2) {
            let float = self.any(b, Kind::Float);
            let bits = self.number(b, float);
            self.add(Kind::Int, bits);
        } else {
            let word = self.any(b, Kind::Int);
            let mask = b.u32(0xbfff_ffff);
            let bits = b.op2(Op::And, word, mask);
            self.add(Kind::Float, bits);
        }
    }
}

/// Float ops that are defined on f32 alone here.
const fn is_f32_only(op: Op) -> bool {
    matches!(op, Op::FQuantize | Op::FSinTurns | Op::FCosTurns)
}
