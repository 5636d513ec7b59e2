//! Operations on 32 bits.

use super::operand::{Lane, Opnd};
use super::{Lower, Place, compare, uses};
use crate::inst::Src;
use crate::isa::{Opcode, f};
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::numerics::tabled::{MINUS_HALF_PI, SINCOS_BIAS, TWO_OVER_PI};
use gpucc_ir::ssa::{InstData, Op, Type, Value};
use gpucc_isa::FieldId;
use smallvec::SmallVec;

/// Round to nearest even, up, down, toward zero.
pub(super) mod round {
    pub const UP: u32 = 1;
    pub const DOWN: u32 = 2;
    pub const ZERO: u32 = 3;
}

type Fields = SmallVec<[(FieldId, u32); 2]>;

impl Lower<'_> {
    /// An operation whose first operand (or, without operands, whose result) has 32 bits.
    pub(super) fn alu(&mut self, data: &InstData, result: Value) {
        match data.op {
            Op::Join16 => return self.join16(data, result),
            Op::Lo16 | Op::Hi16 => {
                let reg = self.reg(data.args[0]);
                return self.define(result, Place::Half(reg, u8::from(data.op == Op::Hi16)));
            }
            Op::Join64 => {
                let words = [0, 1].map(|k| {
                    let operand = self.plain(data.args[k]);
                    self.as_word(operand)
                });
                return self.define(result, Place::Pair(words));
            }
            Op::UConvert | Op::SConvert if self.ssa.ty(result) == Type::B16 => {
                let reg = self.reg(data.args[0]);
                return self.define(result, Place::Half(reg, 0));
            }
            Op::FConvert if self.ssa.ty(result) == Type::B16 => {
                let reg = self.pack(data.args[0], None, result);
                return self.define(result, Place::Half(reg, 0));
            }
            _ => {}
        }
        let reg = self.alu_reg(data, result);
        self.define_reg(result, reg);
    }

    /// A word of a 64-bit value: what a register or FAU holds stays there.
    fn as_word(&mut self, operand: Opnd) -> Src {
        match operand.src {
            Src::Reg(_) | Src::Fau(_) | Src::Bits(_) if operand.is_plain() => operand.src,
            _ => Src::Reg(self.in_register(operand).into()),
        }
    }

    /// Two f32 as halves of one register.
    pub(super) fn pack(&mut self, low: Value, high: Option<Value>, result: Value) -> VReg {
        let op = Opcode::V2f32ToV2f16;
        let first = self.arg(op, 0, low);
        let second = match high {
            Some(high) => self.arg(op, 1, high),
            None => first,
        };
        let fields: Fields = self.clamp(result).into_iter().collect();
        self.emit_with(op, &[first, second], &fields)
    }

    fn join16(&mut self, data: &InstData, result: Value) {
        let [low, high] = [0, 1].map(|k| self.plain(data.args[k]));
        if let (Src::Bits(a), Src::Bits(b)) = (low.src, high.src) {
            let bits = a & 0xffff | b << 16;
            return self.define(result, Place::Src(Src::Bits(bits)));
        }
        let half = |operand: Opnd| match operand.lane {
            Lane::Half(h) => Some((operand.src, h)),
            _ => None,
        };
        if let (Some((a, 0)), Some((b, 1))) = (half(low), half(high))
            && a == b
            && let Some(reg) = a.as_reg().and_then(|reg| reg.as_virt())
        {
            return self.define(result, Place::Reg(reg));
        }
        let reg = self.emit(Opcode::MkvecV2i16, &[low, high]);
        self.define_reg(result, reg);
    }

    /// A row on the operation's operands, with the clamp that users want.
    fn row(&mut self, opcode: Opcode, values: &[Value], result: Value) -> VReg {
        let sources = self.args(opcode, values);
        let fields: Fields = self.clamp(result).into_iter().collect();
        self.emit_with(opcode, &sources, &fields)
    }

    fn rounded(&mut self, value: Value, mode: u32) -> VReg {
        let operand = self.arg(Opcode::FroundF32, 0, value);
        self.emit_with(Opcode::FroundF32, &[operand], &[(f::ROUND, mode)])
    }

    fn alu_reg(&mut self, data: &InstData, result: Value) -> VReg {
        let a = &data.args;
        let clamp: Fields = self.clamp(result).into_iter().collect();
        match data.op {
            // Floats.
            Op::FAdd => self.row(Opcode::FaddF32, a, result),
            Op::FSub => {
                let mut sources = self.args(Opcode::FaddF32, a);
                sources[1] = sources[1].negated();
                self.emit_with(Opcode::FaddF32, &sources, &clamp)
            }
            Op::FMul => {
                let mut sources = self.args(Opcode::FmaF32, a);
                sources.push(Opnd::minus_zero());
                self.emit_with(Opcode::FmaF32, &sources, &clamp)
            }
            Op::FMa => self.row(Opcode::FmaF32, a, result),
            Op::FDot => {
                let pairs = a.len() / 2;
                let mut sum = Opnd::minus_zero();
                for k in 0..pairs {
                    let sources = [
                        self.arg(Opcode::FmaF32, 0, a[k]),
                        self.arg(Opcode::FmaF32, 1, a[pairs + k]),
                        sum,
                    ];
                    let fields: &[_] = if k + 1 == pairs { &clamp } else { &[] };
                    sum = Opnd::reg(self.emit_with(Opcode::FmaF32, &sources, fields));
                }
                self.in_register(sum)
            }
            Op::FMin => self.row(Opcode::FminF32, a, result),
            Op::FMax => self.row(Opcode::FmaxF32, a, result),
            Op::FSat => {
                let operand = self.arg(Opcode::FaddF32, 0, a[0]);
                let sources = [operand, Opnd::minus_zero()];
                self.emit_with(Opcode::FaddF32, &sources, &[(f::CLAMP, 3)])
            }
            // The sign bit alone, so that a NaN keeps its bits.
            Op::FNeg => {
                let reg = self.reg(a[0]);
                self.add_constant(Opnd::reg(reg), 0x8000_0000)
            }
            Op::FAbs => {
                let reg = self.reg(a[0]);
                self.and(Opnd::reg(reg), Opnd::bits(0x7fff_ffff))
            }
            Op::FFloor => self.rounded(a[0], round::DOWN),
            Op::FCeil => self.rounded(a[0], round::UP),
            Op::FTrunc => self.rounded(a[0], round::ZERO),
            Op::FRound => self.rounded(a[0], 0),
            Op::FFract => {
                let floor = self.rounded(a[0], round::DOWN);
                let operand = self.arg(Opcode::FaddF32, 0, a[0]);
                let sources = [operand, Opnd::reg(floor).negated()];
                self.emit_with(Opcode::FaddF32, &sources, &clamp)
            }
            Op::CubeS | Op::CubeT | Op::CubeMajor | Op::CubeFace => self.cube(data),
            Op::FRcp => self.row(Opcode::FrcpF32, a, result),
            Op::FRsq => self.row(Opcode::FrsqF32, a, result),
            Op::FSqrt => {
                let inverse = self.row(Opcode::FrsqF32, a, result);
                self.emit(Opcode::FrcpF32, &[Opnd::reg(inverse)])
            }
            Op::FExp2 => {
                let x = self.arg(Opcode::FmaF32, 0, a[0]);
                self.power(x, Opnd::f32(1.0), &clamp)
            }
            Op::FExp => {
                let x = self.arg(Opcode::FmaF32, 0, a[0]);
                self.power(x, Opnd::f32(std::f32::consts::LOG2_E), &clamp)
            }
            Op::FPow => {
                let logarithm = self.log2(a[0], &[]);
                let y = self.arg(Opcode::FmaRscaleF32, 1, a[1]);
                self.power(Opnd::reg(logarithm), y, &clamp)
            }
            Op::FLog2 => self.log2(a[0], &clamp),
            Op::FSin => self.sine(a[0], false, &clamp),
            Op::FCos => self.sine(a[0], true, &clamp),
            Op::FLdexp => {
                let x = self.arg(Opcode::LdexpF32, 0, a[0]);
                let by = self.plain(a[1]);
                self.emit(Opcode::LdexpF32, &[x, by])
            }
            Op::FrexpFract => self.row(Opcode::FrexpmF32, a, result),
            Op::FrexpExp => self.row(Opcode::FrexpeF32, a, result),
            // Conversions.
            Op::SToF => self.convert_to_float(a[0], true),
            Op::UToF => self.convert_to_float(a[0], false),
            Op::FToS => self.convert_to_integer(Opcode::F32ToS32, a[0]),
            Op::FToU => self.convert_to_integer(Opcode::F32ToU32, a[0]),
            Op::FConvert | Op::UConvert | Op::SConvert => self.reg(a[0]),
            Op::FQuantize => {
                let half = self.pack(a[0], None, result);
                self.emit(Opcode::F16ToF32, &[Opnd::reg(half)])
            }
            Op::PackHalf => self.pack(a[0], Some(a[1]), result),
            Op::UnpackHalfLo | Op::UnpackHalfHi => {
                let reg = self.reg(a[0]);
                let lane = Lane::Half(u8::from(data.op == Op::UnpackHalfHi));
                self.emit(Opcode::F16ToF32, &[Opnd::reg(reg).lane(lane)])
            }
            // Integers.
            Op::IAdd => self.add(a[0], a[1]),
            Op::ISub => self.subtract(a[0], a[1]),
            Op::IMul => {
                let opcode = self.extending(Opcode::ImulI32, Opcode::ImulS32, a);
                self.row(opcode, a, result)
            }
            Op::UMulHi => self.high_product(Opcode::ImuldU64, a),
            Op::SMulHi => self.high_product(Opcode::ImuldS64, a),
            Op::INeg => {
                let opcode = self.extending(Opcode::IsubU32, Opcode::IsubS32, a);
                let x = self.arg(opcode, 1, a[0]);
                self.emit(opcode, &[Opnd::bits(0), x])
            }
            Op::IAbs => self.row(Opcode::IabsS32, a, result),
            Op::SMin => self.choose(Opcode::CselS32, 4, a),
            Op::SMax => self.choose(Opcode::CselS32, 1, a),
            Op::UMin => self.choose(Opcode::CselU32, 4, a),
            Op::UMax => self.choose(Opcode::CselU32, 1, a),
            Op::And | Op::Or | Op::Xor => self.logical(data, result),
            Op::Not => {
                let x = self.plain(a[0]);
                let sources = [x, Opnd::bits(0), Opnd::bits(0)];
                self.emit_with(Opcode::LshiftOrI32, &sources, &[(f::NOT_RESULT, 1)])
            }
            // Shifts are the special-function unit's, at a quarter of the converter's rate.
            Op::Shl if self.ssa.as_const(a[1]) == Some(1) => {
                let x = self.plain(a[0]);
                let reg = self.emit(Opcode::IaddU32, &[x, x]);
                self.remember_shift(a[0], 1, reg);
                reg
            }
            Op::LShr | Op::AShr if self.ssa.as_const(a[1]) == Some(31) => {
                let sources = [self.plain(a[0]), Opnd::bits(0), Opnd::bits(0)];
                let truth = match data.op {
                    Op::LShr => compare::result::I1,
                    _ => compare::result::M1,
                };
                let fields = [(f::CMP, compare::LESS), (f::RESULT, truth)];
                self.emit_with(Opcode::IcmpOrS32, &sources, &fields)
            }
            Op::Shl => {
                let reg = self.shift(Opcode::LshiftOrI32, a);
                if let Some(by @ 1..=7) = self.ssa.as_const(a[1]) {
                    self.remember_shift(a[0], by as u32, reg);
                }
                reg
            }
            Op::LShr => match uses::part(self.ssa, result) {
                Some(part) => self.extracted(part),
                None => self.shift(Opcode::RshiftOrI32, a),
            },
            Op::AShr => match uses::part(self.ssa, result) {
                Some(part) => self.extracted(part),
                None => self.shift(Opcode::ArshiftOrI32, a),
            },
            Op::PopCount => self.row(Opcode::PopcountI32, a, result),
            Op::BitReverse => self.row(Opcode::BitrevI32, a, result),
            Op::Clz => self.row(Opcode::ClzU32, a, result),
            // robust made them something else; what is left promises to be in range.
            Op::Index => self.reg(a[0]),
            Op::Ddx | Op::Ddy | Op::DdxFine | Op::DdyFine | Op::DdxCoarse | Op::DdyCoarse => {
                self.derivative(data.op, a[0])
            }
            op => unreachable!("`{}` is not native at 32 bits", op.name()),
        }
    }

    /// 2^(x * multiplier). FMA_RSCALE takes two constants of its own; a power of two as a factor of a
    /// constant multiplier gives the same bits with one, and LDEXP does where there is no multiplier.
    fn power(&mut self, x: Opnd, multiplier: Opnd, clamp: &[(FieldId, u32)]) -> VReg {
        let by = match multiplier.src {
            Src::Bits(bits) if multiplier.is_plain() => Some(f32::from_bits(bits)),
            _ => None,
        };
        let scaled = match by {
            Some(1.0) if x.lane == Lane::All => self.emit(Opcode::LdexpF32, &[x, Opnd::bits(24)]),
            Some(by) if (by * 16_777_216.0).is_finite() && by.is_normal() => {
                let by = Opnd::f32(by * 16_777_216.0);
                self.emit(Opcode::FmaF32, &[x, by, Opnd::minus_zero()])
            }
            _ => {
                let sources = [x, multiplier, Opnd::minus_zero(), Opnd::bits(24)];
                self.emit(Opcode::FmaRscaleF32, &sources)
            }
        };
        let scaled = Opnd::reg(scaled);
        let fixed = self.emit(Opcode::F32ToS32, &[scaled]);
        self.emit_with(Opcode::FexpF32, &[Opnd::reg(fixed), scaled], clamp)
    }

    fn log2(&mut self, x: Value, clamp: &[(FieldId, u32)]) -> VReg {
        let x = Opnd::reg(self.reg(x));
        let exponent = self.emit_with(Opcode::FrexpeF32, &[x], &[(f::LOG, 1)]);
        let exponent = self.emit(Opcode::S32ToF32, &[Opnd::reg(exponent)]);
        let fraction = self.emit(Opcode::FaddLscaleF32, &[Opnd::f32(-1.0), x]);
        let slope = self.emit(Opcode::FlogdF32, &[x]);
        let sources = [slope, fraction, exponent].map(Opnd::reg);
        self.emit_with(Opcode::FmaF32, &sources, clamp)
    }

    /// Sine or cosine: the instructions of [`gpucc_ir::ssa::numerics::tabled::sin`].
    fn sine(&mut self, x: Value, cosine: bool, clamp: &[(FieldId, u32)]) -> VReg {
        let (rest, sine, cos) = self.angle(x);
        let (value, derivative) = if cosine { (cos, sine.negated()) } else { (sine, cos) };
        let sources = [rest, value, Opnd::minus_zero(), Opnd::bits(u32::MAX)];
        let half = Opnd::reg(self.emit(Opcode::FmaRscaleF32, &sources));
        let slope = self.emit(Opcode::FaddF32, &[derivative, half.negated()]);
        self.emit_with(Opcode::FmaF32, &[rest, Opnd::reg(slope), value], clamp)
    }

    /// What is left of an angle beside the table's, and the table's sine and cosine: computed once for
    /// both functions.
    fn angle(&mut self, angle: Value) -> (Opnd, Opnd, Opnd) {
        if let Some(&(_, known)) = self.angles.iter().rev().find(|&&(value, _)| value == angle) {
            return known;
        }
        let x = self.arg(Opcode::FmaF32, 0, angle);
        let bias = Opnd::f32(SINCOS_BIAS);
        let index = Opnd::reg(self.emit(Opcode::FmaF32, &[x, Opnd::f32(TWO_OVER_PI), bias]));
        let steps = self.emit(Opcode::FaddF32, &[index, bias.negated()]);
        let sources = [Opnd::reg(steps), Opnd::f32(MINUS_HALF_PI), x];
        let rest = Opnd::reg(self.emit(Opcode::FmaF32, &sources));
        let sine = Opnd::reg(self.emit(Opcode::FsinTableU6, &[index]));
        let cos = Opnd::reg(self.emit(Opcode::FcosTableU6, &[index]));
        self.angles.push((angle, (rest, sine, cos)));
        (rest, sine, cos)
    }

    /// Integer to float: a byte or half that stands in its register is converted from there.
    fn convert_to_float(&mut self, value: Value, signed: bool) -> VReg {
        let known = match self.place(value) {
            Some(Place::Part(reg, lane)) => Some((reg, lane, false)),
            Some(_) => None,
            None => uses::part(self.ssa, value).map(|part| {
                let (reg, lane) = self.part_place(part);
                (reg, lane, part.signed)
            }),
        };
        // Zeros above make a number that is no less than 0 either way.
        if let Some((reg, lane, extends)) = known
            && (signed || !extends)
        {
            let opcode = match (lane, extends) {
                (Lane::Byte(_), false) => Opcode::U8ToF32,
                (Lane::Byte(_), true) => Opcode::S8ToF32,
                (_, false) => Opcode::U16ToF32,
                (_, true) => Opcode::S16ToF32,
            };
            return self.emit(opcode, &[Opnd::reg(reg).lane(lane)]);
        }
        let opcode = match signed {
            true => Opcode::S32ToF32,
            false => Opcode::U32ToF32,
        };
        let x = self.plain(value);
        self.emit(opcode, &[x])
    }

    /// The register of a part, and which part.
    pub(super) fn part_place(&mut self, part: uses::Part) -> (VReg, Lane) {
        let inner = self.plain(part.of);
        let lane = part.lane.unwrap_or(match inner.lane {
            Lane::All => Lane::Half(0),
            lane => lane,
        });
        (self.in_register(inner.lane(Lane::All)), lane)
    }

    /// Float to integer, toward zero.
    fn convert_to_integer(&mut self, opcode: Opcode, value: Value) -> VReg {
        let x = self.arg(opcode, 0, value);
        self.emit_with(opcode, &[x], &[(f::ROUND, round::ZERO)])
    }

    /// The row that widens as the operands want it.
    pub(super) fn extending(&self, unsigned: Opcode, signed: Opcode, values: &[Value]) -> Opcode {
        let wants_sign = values.iter().any(|&value| {
            self.uses.is_lazy(value)
                && self.place(value).is_none()
                && uses::part(self.ssa, value).is_some_and(|part| part.signed)
        });
        if wants_sign { signed } else { unsigned }
    }

    fn add(&mut self, x: Value, y: Value) -> VReg {
        let (x, y) = match self.ssa.as_const(x) {
            Some(_) => (y, x),
            None => (x, y),
        };
        let opcode = self.extending(Opcode::IaddU32, Opcode::IaddS32, &[x, y]);
        let sources = [self.arg(opcode, 0, x), self.arg(opcode, 1, y)];
        match sources[1].src {
            Src::Bits(bits) if sources[0].is_plain() => self.add_constant(sources[0], bits),
            _ => self.emit(opcode, &sources),
        }
    }

    fn subtract(&mut self, x: Value, y: Value) -> VReg {
        let opcode = self.extending(Opcode::IsubU32, Opcode::IsubS32, &[x, y]);
        let sources = [self.arg(opcode, 0, x), self.arg(opcode, 1, y)];
        match sources[1].src {
            Src::Bits(bits) if sources[0].is_plain() => {
                self.add_constant(sources[0], bits.wrapping_neg())
            }
            _ => self.emit(opcode, &sources),
        }
    }

    /// x + constant.
    pub(super) fn add_constant(&mut self, x: Opnd, constant: u32) -> VReg {
        match constant {
            0 => self.in_register(x),
            _ => self.emit_with(Opcode::IaddImmI32, &[x], &[(f::IMM, constant)]),
        }
    }

    pub(super) fn and(&mut self, x: Opnd, y: Opnd) -> VReg {
        self.emit(Opcode::LshiftAndI32, &[x, Opnd::bits(0), y])
    }

    /// The high word of a product.
    fn high_product(&mut self, opcode: Opcode, values: &[Value]) -> VReg {
        let sources = [0, 1].map(|k| {
            let operand = self.plain(values[k]);
            self.extended(operand)
        });
        self.emit_pair(opcode, &sources, &[])[1]
    }

    /// The operand for which the comparison with the other holds.
    fn choose(&mut self, opcode: Opcode, condition: u32, values: &[Value]) -> VReg {
        let [x, y] = [0, 1].map(|k| self.plain(values[k]));
        self.emit_with(opcode, &[x, y, x, y], &[(f::CMP, condition)])
    }

    /// A byte or half as 32 bits in a register of its own.
    fn extracted(&mut self, part: uses::Part) -> VReg {
        let (reg, lane) = self.part_place(part);
        self.extract(reg, lane, part.signed)
    }

    fn shift(&mut self, opcode: Opcode, values: &[Value]) -> VReg {
        let sources = [self.plain(values[0]), self.plain(values[1]), Opnd::bits(0)];
        self.emit(opcode, &sources)
    }

    /// And, or, xor: of a shifted value and one that may be inverted.
    fn logical(&mut self, data: &InstData, result: Value) -> VReg {
        if data.op == Op::And
            && let Some(part) = uses::part(self.ssa, result)
        {
            return self.extracted(part);
        }
        if data.op == Op::Or
            && let Some(reg) = self.bit_select(data)
        {
            return reg;
        }
        let shifts = |value: Value| {
            self.place(value).is_none()
                && self
                    .ssa
                    .def(value)
                    .is_some_and(|def| matches!(def.op, Op::Shl | Op::LShr | Op::AShr))
        };
        let inverted = |value: Value| {
            self.place(value).is_none() && self.ssa.def(value).is_some_and(|def| def.op == Op::Not)
        };
        let (mut x, mut y) = (data.args[0], data.args[1]);
        if !shifts(x) && (shifts(y) || inverted(x) && !inverted(y)) {
            std::mem::swap(&mut x, &mut y);
        }
        // Constants in the first source may be bytes of the table; the third takes whole words alone.
        if !shifts(x) && self.ssa.as_const(y).is_some() {
            std::mem::swap(&mut x, &mut y);
        }
        let (shifted, direction) = match self.ssa.def(x) {
            Some(def) if shifts(x) => (Some((def.args[0], def.args[1])), def.op),
            _ => (None, Op::Shl),
        };
        let inverts = inverted(y);
        let opcode = match (direction, data.op) {
            (Op::Shl, Op::And) => Opcode::LshiftAndI32,
            (Op::Shl, Op::Or) => Opcode::LshiftOrI32,
            (Op::Shl, _) => Opcode::LshiftXorI32,
            (Op::LShr, Op::And) => Opcode::RshiftAndI32,
            (Op::LShr, Op::Or) => Opcode::RshiftOrI32,
            (Op::LShr, _) => Opcode::RshiftXorI32,
            (_, Op::And) => Opcode::ArshiftAndI32,
            (_, Op::Or) => Opcode::ArshiftOrI32,
            (_, _) => Opcode::ArshiftXorI32,
        };
        let (first, by) = match shifted {
            Some((value, by)) => (self.plain(value), self.plain(by)),
            None => (self.plain(x), Opnd::bits(0)),
        };
        let (second, not) = match (inverts, self.ssa.def(y)) {
            (true, Some(def)) => (self.plain(def.args[0]), 1),
            _ => (self.plain(y), 0),
        };
        self.emit_with(opcode, &[first, by, second], &[(f::NOT2, not)])
    }

    /// `new & m | old & !m` is one MUX.
    fn bit_select(&mut self, data: &InstData) -> Option<VReg> {
        let parts = |value: Value| {
            let def = self.ssa.def(value)?;
            (def.op == Op::And && self.uses.count(value) == 1).then(|| [def.args[0], def.args[1]])
        };
        let (a, b) = (parts(data.args[0])?, parts(data.args[1])?);
        let complement = |x: Value, y: Value| {
            let constants = (self.ssa.as_const(x), self.ssa.as_const(y));
            let inverse = self.ssa.def(y).is_some_and(|def| def.op == Op::Not && def.args[0] == x);
            inverse || matches!(constants, (Some(x), Some(y)) if x as u32 == !(y as u32))
        };
        let (new, old, mask) = [(0, 0), (0, 1), (1, 0), (1, 1)].iter().find_map(|&(i, j)| {
            if complement(a[i], b[j]) {
                Some((a[1 - i], b[1 - j], a[i]))
            } else if complement(b[j], a[i]) {
                Some((b[1 - j], a[1 - i], b[j]))
            } else {
                None
            }
        })?;
        let sources = [new, old, mask].map(|value| self.plain(value));
        Some(self.emit_with(Opcode::MuxI32, &sources, &[(f::MUX, 3)]))
    }

    /// Differences across the quad: the fine ones from the lane's own row or column, the coarse ones
    /// from the first.
    pub(super) fn derivative(&mut self, op: Op, value: Value) -> VReg {
        let x = Opnd::reg(self.reg(value));
        let along_x = matches!(op, Op::Ddx | Op::DdxFine | Op::DdxCoarse);
        let step = if along_x { 1 } else { 2 };
        let (first, second) = if matches!(op, Op::DdxFine | Op::DdyFine | Op::Ddx | Op::Ddy) {
            let lane = self.mov(Src::Special(crate::inst::Special::LaneId, 0));
            let first = self.and(Opnd::reg(lane), Opnd::bits(3 & !step));
            let second = self.add_constant(Opnd::reg(first), step);
            (Opnd::reg(first), Opnd::reg(second))
        } else {
            (Opnd::bits(0), Opnd::bits(step))
        };
        let quad = [(f::SUBGROUP, 1)];
        let coarse = matches!(first.src, Src::Bits(_));
        let known = self.corners.iter().rev().find(|&&(of, _)| of == value);
        let low = match known {
            Some(&(_, corner)) if coarse => corner,
            _ => self.emit_with(Opcode::ClperI32, &[x, first], &quad),
        };
        if coarse {
            self.corners.push((value, low));
        }
        let high = self.emit_with(Opcode::ClperI32, &[x, second], &quad);
        match self.ssa.ty(value) {
            Type::B16 => {
                let half = match self.plain(value).lane {
                    Lane::Half(h) => Lane::Half(h),
                    _ => Lane::Half(0),
                };
                let sources = [Opnd::reg(high).lane(half), Opnd::reg(low).lane(half).negated()];
                self.emit(Opcode::FaddV2f16, &sources)
            }
            _ => self.emit(Opcode::FaddF32, &[Opnd::reg(high), Opnd::reg(low).negated()]),
        }
    }
}
