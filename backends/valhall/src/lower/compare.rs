//! Comparisons, truth values and selects. A truth value in a register is 0 or all ones (`m1`).

use super::operand::{Lane, Opnd, build};
use super::{Lower, Place};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{InstData, Op, Type, Value};

/// Values of the condition field.
mod cond {
    pub const EQ: u32 = 0;
    pub const NE: u32 = 3;
    pub const LT: u32 = 4;
    pub const LE: u32 = 5;
}

/// The condition of a comparison that holds for lesser numbers.
pub(super) const LESS: u32 = cond::LT;

/// What a comparison gives for true.
pub(super) mod result {
    /// 1.
    pub const I1: u32 = 0;
    /// 1.0.
    pub const F1: u32 = 1;
    /// All ones.
    pub const M1: u32 = 2;
    /// What ICMP_MULTI takes as its third source.
    pub const U1: u32 = 3;
}

/// A comparison that the machine makes.
#[derive(Copy, Clone, Debug)]
pub(super) struct Test {
    /// Condition field.
    condition: u32,
    /// Kind of the operands.
    kind: Kind,
    operands: [Value; 2],
    /// The result is to be inverted.
    inverted: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Kind {
    Unsigned,
    Signed,
    Float,
    /// f16, compared as f32.
    Half,
    /// 64 bits.
    Wide {
        signed: bool,
    },
    /// Truth values.
    Truth,
}

impl Lower<'_> {
    /// The comparison that defines a value, through inversions; none when the value is in a register
    /// already or is no comparison.
    pub(super) fn test_of(&self, value: Value) -> Option<Test> {
        let mut value = value;
        let mut inverted = false;
        loop {
            if self.place(value).is_some() {
                return None;
            }
            let data = self.ssa.def(value)?;
            if data.op == Op::Not {
                inverted = !inverted;
                value = data.args[0];
                continue;
            }
            let mut test = self.comparison_test(data)?;
            test.inverted = inverted;
            return Some(test);
        }
    }

    fn comparison_test(&self, data: &InstData) -> Option<Test> {
        if !data.op.is_comparison() {
            return None;
        }
        let ty = self.ssa.ty(data.args[0]);
        let condition = match data.op {
            Op::IEq | Op::FEq => cond::EQ,
            Op::INe | Op::FNe => cond::NE,
            Op::SLt | Op::ULt | Op::FLt => cond::LT,
            _ => cond::LE,
        };
        let signed = matches!(data.op, Op::SLt | Op::SLe);
        let float = matches!(data.op, Op::FEq | Op::FNe | Op::FLt | Op::FLe);
        let kind = match ty {
            Type::B1 => Kind::Truth,
            Type::B64 => Kind::Wide { signed },
            Type::B16 => Kind::Half,
            Type::B32 if float => Kind::Float,
            Type::B32 if signed => Kind::Signed,
            Type::B32 => Kind::Unsigned,
        };
        Some(Test { condition, kind, operands: [data.args[0], data.args[1]], inverted: false })
    }

    /// A comparison's result in a register, as `m1`.
    pub(super) fn comparison(&mut self, value: Value) -> VReg {
        let data = self.ssa.def(value).expect("a comparison");
        let test = self.comparison_test(data).expect("a comparison");
        self.compare(test, result::M1, None, false)
    }

    /// Makes a comparison; with a third operand the result is combined with it (`and` or else `or`).
    fn compare(&mut self, test: Test, result: u32, third: Option<Opnd>, and: bool) -> VReg {
        let mut test = test;
        if test.inverted {
            test.inverted = false;
            // Integers have every opposite, floats those of eq and ne alone.
            let float = matches!(test.kind, Kind::Float | Kind::Half);
            match test.condition {
                cond::EQ => test.condition = cond::NE,
                cond::NE => test.condition = cond::EQ,
                cond::LT if !float => {
                    test.condition = cond::LE;
                    test.operands.swap(0, 1);
                }
                cond::LE if !float => {
                    test.condition = cond::LT;
                    test.operands.swap(0, 1);
                }
                _ => {
                    let plain = self.compare(test, result::M1, None, false);
                    let sources = [Opnd::reg(plain), Opnd::bits(0), third.unwrap_or(Opnd::bits(0))];
                    let opcode = if and { Opcode::IcmpAndU32 } else { Opcode::IcmpOrU32 };
                    let fields = [(f::CMP, cond::EQ), (f::RESULT, result)];
                    return self.emit_with(opcode, &sources, &fields);
                }
            }
        }
        if let Kind::Wide { signed } = test.kind {
            return self.compare_wide(test, signed, result, third, and);
        }
        // An unsigned order takes no parts that are widened with their sign (`expand::extras`): only eq and ne extend.
        let opcode = match (test.kind, and) {
            (Kind::Unsigned | Kind::Truth, false) => {
                self.extending(Opcode::IcmpOrU32, Opcode::IcmpOrS32, &test.operands)
            }
            (Kind::Unsigned | Kind::Truth, true) => {
                self.extending(Opcode::IcmpAndU32, Opcode::IcmpAndS32, &test.operands)
            }
            (Kind::Signed, false) => Opcode::IcmpOrS32,
            (Kind::Signed, true) => Opcode::IcmpAndS32,
            (_, false) => Opcode::FcmpOrF32,
            (_, true) => Opcode::FcmpAndF32,
        };
        let mut sources = [
            self.arg(opcode, 0, test.operands[0]),
            self.arg(opcode, 1, test.operands[1]),
            third.unwrap_or(Opnd::bits(0)),
        ];
        if test.kind == Kind::Half {
            for source in &mut sources[..2] {
                if source.lane == Lane::All {
                    source.lane = Lane::Half(0);
                }
            }
        }
        self.emit_with(opcode, &sources, &[(f::CMP, test.condition), (f::RESULT, result)])
    }

    /// 64 bits: the low words compared unsigned, the high words with that result as the third source.
    fn compare_wide(
        &mut self,
        test: Test,
        signed: bool,
        result: u32,
        third: Option<Opnd>,
        and: bool,
    ) -> VReg {
        let [x, y] = test.operands.map(|value| self.words(value));
        let low = self.emit_with(
            Opcode::IcmpMultiU32,
            &[x[0], y[0], Opnd::bits(0)],
            &[(f::CMP, test.condition), (f::RESULT, result::U1)],
        );
        let high = if signed { Opcode::IcmpMultiS32 } else { Opcode::IcmpMultiU32 };
        let own = if third.is_some() { result::M1 } else { result };
        let made = self.emit_with(
            high,
            &[x[1], y[1], Opnd::reg(low)],
            &[(f::CMP, test.condition), (f::RESULT, own)],
        );
        match third {
            None => made,
            Some(third) => {
                let opcode = if and { Opcode::IcmpAndU32 } else { Opcode::IcmpOrU32 };
                let sources = [Opnd::reg(made), Opnd::bits(0), third];
                self.emit_with(opcode, &sources, &[(f::CMP, cond::NE), (f::RESULT, result)])
            }
        }
    }

    /// Operations on truth values.
    pub(super) fn logic(&mut self, data: &InstData, result: Value) {
        let reg = match data.op {
            Op::And | Op::Or => self.combine(data.op == Op::And, data.args[0], data.args[1]),
            Op::Xor => {
                let [x, y] = [0, 1].map(|k| self.plain(data.args[k]));
                self.emit(Opcode::LshiftXorI32, &[x, Opnd::bits(0), y])
            }
            Op::Not => self.inverse(data.args[0]),
            Op::UConvert => {
                let reg = self.as_number(data.args[0], result::I1);
                if self.ssa.ty(result) == Type::B16 {
                    return self.define(result, Place::Half(reg, 0));
                }
                reg
            }
            Op::SConvert => self.reg(data.args[0]),
            op => unreachable!("`{}` is not native on truth values", op.name()),
        };
        self.define_reg(result, reg);
    }

    /// A truth value inverted, in a register.
    fn inverse(&mut self, value: Value) -> VReg {
        if let Some(mut test) = self.test_of(value) {
            test.inverted = !test.inverted;
            return self.compare(test, result::M1, None, false);
        }
        let x = self.plain(value);
        let fields = [(f::CMP, cond::EQ), (f::RESULT, result::M1)];
        self.emit_with(Opcode::IcmpOrU32, &[x, Opnd::bits(0), Opnd::bits(0)], &fields)
    }

    /// A truth value as a number.
    fn as_number(&mut self, value: Value, number: u32) -> VReg {
        if let Some(test) = self.test_of(value) {
            return self.compare(test, number, None, false);
        }
        let x = self.plain(value);
        let fields = [(f::CMP, cond::NE), (f::RESULT, number)];
        self.emit_with(Opcode::IcmpOrU32, &[x, Opnd::bits(0), Opnd::bits(0)], &fields)
    }

    /// And, or: a comparison takes the other operand as its third source.
    fn combine(&mut self, and: bool, x: Value, y: Value) -> VReg {
        let (x, y) = match self.test_of(y) {
            Some(_) => (x, y),
            None => (y, x),
        };
        let third = self.plain_truth(x);
        if let Some(test) = self.test_of(y) {
            return self.compare(test, result::M1, Some(third), and);
        }
        let y = self.plain(y);
        let opcode = if and { Opcode::LshiftAndI32 } else { Opcode::LshiftOrI32 };
        self.emit(opcode, &[third, Opnd::bits(0), y])
    }

    fn plain_truth(&mut self, value: Value) -> Opnd {
        match self.test_of(value) {
            Some(test) => Opnd::reg(self.compare(test, result::M1, None, false)),
            None => self.plain(value),
        }
    }

    /// A branch condition: the register that is tested against 0, and whether zero means true.
    pub(super) fn branch_condition(&mut self, value: Value) -> (Opnd, bool) {
        if let Some(test) = self.test_of(value) {
            let zero = self.ssa.as_const(test.operands[1]) == Some(0);
            if zero
                && matches!(test.kind, Kind::Unsigned | Kind::Truth)
                && matches!(test.condition, cond::EQ | cond::NE)
            {
                let operand = self.plain(test.operands[0]);
                return (operand, (test.condition == cond::EQ) != test.inverted);
            }
            let inverted = test.inverted;
            let reg = self.compare(Test { inverted: false, ..test }, result::M1, None, false);
            return (Opnd::reg(reg), inverted);
        }
        let mut value = value;
        let mut inverted = false;
        while self.place(value).is_none()
            && let Some(data) = self.ssa.def(value)
            && data.op == Op::Not
        {
            value = data.args[0];
            inverted = !inverted;
        }
        (self.plain(value), inverted)
    }

    /// One of two values.
    pub(super) fn select(&mut self, data: &InstData, result: Value) {
        let (cond, yes, no) = (data.args[0], data.args[1], data.args[2]);
        match self.ssa.ty(result) {
            Type::B64 => {
                let (yes, no) = (self.words(yes), self.words(no));
                let test = self.plain_truth(cond);
                let words = [0, 1].map(|k| self.choose_by(test, yes[k], no[k]));
                self.define_pair(result, words);
            }
            Type::B16 => {
                let (mut yes, mut no) = (self.plain(yes), self.plain(no));
                // Equal lanes, or constants, which stand in both: whole registers are chosen.
                let lane = match (yes.lane, no.lane) {
                    (Lane::Half(a), Lane::Half(b)) if a == b => Some(a),
                    (Lane::Half(a), Lane::All) | (Lane::All, Lane::Half(a)) => Some(a),
                    (Lane::All, Lane::All) => Some(0),
                    _ => None,
                };
                let Some(lane) = lane else {
                    let test = self.plain_truth(cond);
                    let reg = self.emit(Opcode::MuxV2i16, &[no, yes, test]);
                    return self.define(result, Place::Half(reg, 0));
                };
                yes.lane = Lane::All;
                no.lane = Lane::All;
                let reg = self.select_of(cond, yes, no);
                self.define(result, Place::Half(reg, lane));
            }
            _ => {
                let constants = (self.const_bits(yes), self.const_bits(no));
                let number = match constants {
                    (Some(1), Some(0)) => Some((result::I1, false)),
                    (Some(0), Some(1)) => Some((result::I1, true)),
                    (Some(u32::MAX), Some(0)) => Some((result::M1, false)),
                    (Some(0), Some(u32::MAX)) => Some((result::M1, true)),
                    (Some(0x3f80_0000), Some(0)) => Some((result::F1, false)),
                    (Some(0), Some(0x3f80_0000)) => Some((result::F1, true)),
                    _ => None,
                };
                if let Some((number, inverted)) = number {
                    if !inverted {
                        let reg = self.as_number(cond, number);
                        return self.define_reg(result, reg);
                    }
                    if self.test_of(cond).is_none() {
                        let x = self.plain(cond);
                        let sources = [x, Opnd::bits(0), Opnd::bits(0)];
                        let fields = [(f::CMP, cond::EQ), (f::RESULT, number)];
                        let reg = self.emit_with(Opcode::IcmpOrU32, &sources, &fields);
                        return self.define_reg(result, reg);
                    }
                }
                let (yes, no) = (self.plain_or_part(yes), self.plain_or_part(no));
                let reg = self.select_of(cond, yes, no);
                self.define_reg(result, reg);
            }
        }
    }

    /// Truth values and numbers in registers.
    fn plain_or_part(&mut self, value: Value) -> Opnd {
        if self.ssa.ty(value) == Type::B1 {
            return self.plain_truth(value);
        }
        self.plain(value)
    }

    /// `yes` where the register is not zero.
    fn choose_by(&mut self, test: Opnd, yes: Opnd, no: Opnd) -> VReg {
        let sources = [test, Opnd::bits(0), yes, no];
        self.emit_with(Opcode::CselU32, &sources, &[(f::CMP, cond::NE)])
    }

    fn select_of(&mut self, cond: Value, yes: Opnd, no: Opnd) -> VReg {
        let Some(test) = self.test_of(cond) else {
            let test = self.plain(cond);
            return self.choose_by(test, yes, no);
        };
        let opcode = match test.kind {
            Kind::Unsigned | Kind::Truth => Opcode::CselU32,
            Kind::Signed => Opcode::CselS32,
            Kind::Float => Opcode::CselF32,
            Kind::Half | Kind::Wide { .. } => {
                let inverted = test.inverted;
                let plain = Test { inverted: false, ..test };
                let reg = Opnd::reg(self.compare(plain, result::M1, None, false));
                let (yes, no) = if inverted { (no, yes) } else { (yes, no) };
                return self.choose_by(reg, yes, no);
            }
        };
        // CSEL has no modifiers: what has some is compared by FCMP first.
        if opcode == Opcode::CselF32 && self.wants_modifiers(&test.operands) {
            let inverted = test.inverted;
            let plain = Test { inverted: false, ..test };
            let reg = Opnd::reg(self.compare(plain, result::M1, None, false));
            let (yes, no) = if inverted { (no, yes) } else { (yes, no) };
            return self.choose_by(reg, yes, no);
        }
        let [x, y] = test.operands.map(|value| self.plain(value));
        let (yes, no) = if test.inverted { (no, yes) } else { (yes, no) };
        self.emit_with(opcode, &[x, y, yes, no], &[(f::CMP, test.condition)])
    }

    fn wants_modifiers(&self, operands: &[Value]) -> bool {
        operands.iter().any(|&value| self.uses.is_lazy(value) && self.place(value).is_none())
    }

    /// A truth value in a register as DISCARD.f32 tests it against 0, and the condition under which it holds:
    /// 1.0 as a comparison gives it, or all ones, a NaN, which `ne` finds different from everything.
    pub(super) fn truth_as_float(&mut self, value: Value) -> (Opnd, u32) {
        if let Some(test) = self.test_of(value) {
            let one = self.compare(test, result::F1, None, false);
            return (Opnd::reg(one), cond::NE);
        }
        let (truth, zero_is_true) = self.branch_condition(value);
        let truth = Opnd::reg(self.in_register(truth.lane(Lane::All)));
        (truth, if zero_is_true { cond::EQ } else { cond::NE })
    }

    /// DISCARD.f32 on a comparison of floats, where the condition is one.
    pub(super) fn float_test(&mut self, value: Value) -> Option<crate::inst::Op> {
        let test = self.test_of(value)?;
        let condition = match (test.condition, test.inverted) {
            (condition, false) => condition,
            (cond::EQ, true) => cond::NE,
            (cond::NE, true) => cond::EQ,
            _ => return None,
        };
        if !matches!(test.kind, Kind::Float | Kind::Half) {
            return None;
        }
        let sources = [0, 1].map(|k| {
            let operand = self.arg(Opcode::DiscardF32, k, test.operands[k]);
            match operand.lane {
                Lane::All if test.kind == Kind::Half => operand.lane(Lane::Half(0)),
                _ => operand,
            }
        });
        Some(build(Opcode::DiscardF32, &sources).with(f::CMP, condition))
    }
}
