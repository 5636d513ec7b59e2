//! Scalar operations: each becomes one ALU operation, or a fixed pair.

use super::{Lower, Place};
use crate::api::{Failure, Family};
use crate::expand::native::alu_op;
use crate::inst::{Alu, Inst, Omod, Source};
use crate::isa::AluOp;
use crate::op;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{Func, Inst as SsaInst, InstData, Op, Type, Value};

/// The comparison as the machine makes it: only E, GT, GE and NE exist. Those of doubles are none: see `double`.
pub fn comparison(func: &Func, data: &InstData) -> Option<(AluOp, Value, Value)> {
    if func.ty(*data.args.first()?) == Type::B64 {
        return None;
    }
    if !data.op.is_comparison() {
        return None;
    }
    let op = alu_op(data.op)?;
    let swap = matches!(data.op, Op::FLt | Op::FLe | Op::SLt | Op::SLe | Op::ULt | Op::ULe);
    let (a, b) = (data.args[0], data.args[1]);
    Some(if swap { (op, b, a) } else { (op, a, b) })
}

/// How a `select` is made without the truth value in a register.
#[derive(Copy, Clone, Debug)]
pub enum Choice {
    /// The comparison gives 1.0 or 0.0 itself.
    Float(AluOp, Value, Value),
    /// A conditional move tests the value (its sign flipped) against 0; the arms trade places.
    Test {
        /// Which conditional move.
        op: AluOp,
        /// What is tested.
        value: Value,
        /// Its sign is flipped.
        neg: bool,
        /// What is given when the test holds comes second.
        swap: bool,
    },
}

/// The way of a `select` whose condition is a comparison that it can make itself.
pub fn choice(func: &Func, data: &InstData) -> Option<Choice> {
    if data.op != Op::Select || func.ty(data.results[0]) == Type::B64 {
        return None;
    }
    let test = func.def(data.args[0])?;
    let (machine, a, b) = comparison(func, test)?;
    let bits = |value: Value| func.as_const(value).map(|bits| bits as u32);
    let float = match machine {
        AluOp::SETE_DX10 => Some((AluOp::SETE, Some(AluOp::SETNE))),
        AluOp::SETNE_DX10 => Some((AluOp::SETNE, Some(AluOp::SETE))),
        AluOp::SETGT_DX10 => Some((AluOp::SETGT, None)),
        AluOp::SETGE_DX10 => Some((AluOp::SETGE, None)),
        _ => None,
    };
    if let Some((straight, inverse)) = float {
        match (bits(data.args[1]), bits(data.args[2]), inverse) {
            (Some(0x3f80_0000), Some(0), _) => return Some(Choice::Float(straight, a, b)),
            (Some(0), Some(0x3f80_0000), Some(inverse)) => {
                return Some(Choice::Float(inverse, a, b));
            }
            _ => {}
        }
    }
    let zero = |value: Value| match float {
        Some(_) => matches!(bits(value), Some(0 | 0x8000_0000)),
        None => bits(value) == Some(0),
    };
    let (value, right) = match (zero(a), zero(b)) {
        (false, true) => (a, true),
        (true, false) => (b, false),
        _ => return None,
    };
    // Operations of three sources have no ABS.
    if float.is_some() && super::uses::is_absolute(func, value) {
        return None;
    }
    // `right`: value > 0 or value >= 0; otherwise 0 > value or 0 >= value. A float that is no
    // number fails every test but NE, so only the sign of what is tested may turn, not the test.
    let (op, neg, swap) = match (machine, right) {
        (AluOp::SETE_DX10, _) => (AluOp::CNDE, false, false),
        (AluOp::SETNE_DX10, _) => (AluOp::CNDE, false, true),
        (AluOp::SETGT_DX10, right) => (AluOp::CNDGT, !right, false),
        (AluOp::SETGE_DX10, right) => (AluOp::CNDGE, !right, false),
        (AluOp::SETE_INT, _) => (AluOp::CNDE_INT, false, false),
        (AluOp::SETNE_INT, _) => (AluOp::CNDE_INT, false, true),
        (AluOp::SETGT_INT, true) => (AluOp::CNDGT_INT, false, false),
        (AluOp::SETGT_INT, false) => (AluOp::CNDGE_INT, false, true),
        (AluOp::SETGE_INT, true) => (AluOp::CNDGE_INT, false, false),
        (AluOp::SETGE_INT, false) => (AluOp::CNDGT_INT, false, true),
        _ => return None,
    };
    Some(Choice::Test { op, value, neg, swap })
}

/// The operation reads floats, so its sources take NEG and ABS (but see OP3).
pub fn takes_floats(op: Op) -> bool {
    op == Op::FSat || alu_op(op).is_some_and(|op| op::may_negate(op, 0))
}

/// The result may carry CLAMP.
pub fn may_clamp(op: Op) -> bool {
    alu_op(op).is_some_and(op::may_clamp)
}

/// The result may carry OMOD. No operation of three sources has it; public drivers never run the rows that scale a MULADD.
pub fn may_scale(op: Op) -> bool {
    may_clamp(op) && alu_op(op).is_some_and(|op| !op::is_op3(op)) && op != Op::FDot
}

/// The scale that a product with a constant is.
pub fn scale(func: &Func, data: &InstData) -> Option<Omod> {
    if data.op != Op::FMul {
        return None;
    }
    match func.as_const(data.args[1])? as u32 {
        0x4000_0000 => Some(Omod::Mul2),
        0x4080_0000 => Some(Omod::Mul4),
        0x3f00_0000 => Some(Omod::Div2),
        _ => None,
    }
}

impl Lower<'_> {
    /// Lowers what computes a value from values.
    pub(super) fn compute(&mut self, inst: SsaInst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let result = data.results[0];
        if self.is_double(data) {
            return self.double(inst);
        }
        if self.uses.folded_into(result).is_some() {
            return Ok(());
        }
        match data.op {
            Op::FNeg | Op::FAbs | Op::Not if !self.uses.in_register(result) => return Ok(()),
            _ if !self.uses.in_register(result) && comparison(self.ssa, data).is_some() => {
                return Ok(());
            }
            // These only pass a value on.
            Op::Index => {
                self.forward(result, data.args[0]);
                return Ok(());
            }
            Op::SConvert | Op::UConvert | Op::FConvert
                if self.ssa.ty(result) == self.ssa.ty(data.args[0]) =>
            {
                self.forward(result, data.args[0]);
                return Ok(());
            }
            Op::SConvert if self.ssa.ty(data.args[0]) == Type::B1 => {
                self.forward(result, data.args[0]);
                return Ok(());
            }
            _ => {}
        }
        let dst = self.fresh();
        self.compute_to(inst, dst, false, Omod::Off)?;
        self.define(result, dst);
        Ok(())
    }

    fn forward(&mut self, result: Value, from: Value) {
        let source = self.plain(from);
        self.values[result] = Some(match source.src {
            crate::inst::Src::Reg(reg) => {
                Place::Reg(reg.as_virt().expect("lowering makes virtual registers only"))
            }
            src => Place::Source(src),
        });
    }

    /// Lowers one operation into a register, scaled and then clamped if asked.
    fn compute_to(
        &mut self,
        inst: SsaInst,
        dst: VReg,
        clamp: bool,
        omod: Omod,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let args = &data.args;
        let emit = |lower: &mut Self, op: AluOp, src: &[Source]| {
            let mut alu = Alu::new(op, Some(dst.into()), src);
            alu.clamp = clamp;
            lower.push(Inst::Alu(Alu { omod, ..alu }));
        };
        if let Some((op, a, b)) = comparison(self.ssa, data) {
            let src = [self.source(a, op, 0), self.source(b, op, 1)];
            emit(self, op, &src);
            return Ok(());
        }
        if let Some(omod) = scale(self.ssa, data)
            && self.uses.folded_into(args[0]) == Some(inst)
            && let gpucc_ir::ssa::ValueDef::Result(def, _) = self.ssa.values[args[0]].def
        {
            return self.compute_to(def, dst, clamp, omod);
        }
        match data.op {
            Op::FAdd | Op::FSub => {
                let op = AluOp::MULADD_IEEE;
                // a - b * c is -b * c + a: the sign of a product is exact.
                for (index, &arg) in args.iter().enumerate() {
                    if self.uses.folded_into(arg) != Some(inst) {
                        continue;
                    }
                    let product = self.ssa.def(arg).expect("a folded product is an instruction");
                    let mut a = self.source(product.args[0], op, 0);
                    let b = self.source(product.args[1], op, 1);
                    let mut c = self.source(args[1 - index], op, 2);
                    if data.op == Op::FSub {
                        if index == 1 {
                            a.neg = !a.neg;
                        } else {
                            c.neg = !c.neg;
                        }
                    }
                    emit(self, op, &[a, b, c]);
                    return Ok(());
                }
                let a = self.source(args[0], AluOp::ADD, 0);
                let mut b = self.source(args[1], AluOp::ADD, 1);
                b.neg ^= data.op == Op::FSub;
                emit(self, AluOp::ADD, &[a, b]);
            }
            Op::FSat => {
                if self.uses.folded_into(args[0]) == Some(inst)
                    && let gpucc_ir::ssa::ValueDef::Result(def, _) = self.ssa.values[args[0]].def
                {
                    return self.compute_to(def, dst, true, Omod::Off);
                }
                let mut alu = Alu::new(
                    AluOp::MUL_IEEE,
                    Some(dst.into()),
                    &[self.source(args[0], AluOp::MUL_IEEE, 0), Source::bits(0x3f80_0000)],
                );
                alu.clamp = true;
                self.push(Inst::Alu(alu));
            }
            Op::FDot => {
                let n = args.len() / 2;
                let zero = [Source::bits(0); 2];
                let mut src = [zero; 4];
                for (slot, pair) in src.iter_mut().enumerate().take(n) {
                    *pair = [
                        self.source(args[slot], AluOp::DOT4_IEEE, 0),
                        self.source(args[n + slot], AluOp::DOT4_IEEE, 1),
                    ];
                }
                self.push(Inst::Dot { dst: dst.into(), src, clamp });
            }
            // The sign alone: bits that are no number stay what they are.
            Op::FNeg => {
                let src = [self.plain(args[0]), Source::bits(0x8000_0000)];
                emit(self, AluOp::XOR_INT, &src);
            }
            Op::FAbs => {
                let src = [self.plain(args[0]), Source::bits(0x7fff_ffff)];
                emit(self, AluOp::AND_INT, &src);
            }
            Op::INeg => {
                let src = [Source::bits(0), self.plain(args[0])];
                emit(self, AluOp::SUB_INT, &src);
            }
            Op::IAbs => {
                let value = self.plain(args[0]);
                let negative = self.alu(AluOp::SUB_INT, &[Source::bits(0), value]);
                emit(self, AluOp::MAX_INT, &[value, Source::reg(negative)]);
            }
            Op::Shl | Op::LShr | Op::AShr => {
                let op = alu_op(data.op).expect("a row of its own");
                let amount = self.shift_amount(args[1]);
                let src = [self.plain(args[0]), amount];
                emit(self, op, &src);
            }
            Op::Select => self.select(data, dst),
            // On R6xx the unit takes radians: see the numerics of that family.
            Op::FSinTurns | Op::FCosTurns if self.abi.chip.family() == Family::R600 => {
                let turns = self.source(args[0], AluOp::MUL_IEEE, 0);
                let scale = Source::bits(crate::numerics::TWO_PI.to_bits());
                let radians = self.alu(AluOp::MUL_IEEE, &[turns, scale]);
                let op = alu_op(data.op).expect("a row of its own");
                emit(self, op, &[Source::reg(radians)]);
            }
            Op::UConvert if self.ssa.ty(args[0]) == Type::B1 => {
                let src = [self.plain(args[0]), Source::bits(1)];
                emit(self, AluOp::AND_INT, &src);
            }
            op => {
                let Some(machine) = alu_op(op) else {
                    return Err(self.not_yet(format!("the operation `{}`", op.name())));
                };
                let src: smallvec::SmallVec<[Source; 3]> = args
                    .iter()
                    .enumerate()
                    .map(|(index, &arg)| self.source(arg, machine, index))
                    .collect();
                emit(self, machine, &src);
            }
        }
        Ok(())
    }

    /// Amounts of 32 and more are undefined on the machine (isa/r700.md 3.6): masked unless known
    /// to be small.
    fn shift_amount(&mut self, amount: Value) -> Source {
        if let Some(bits) = self.const_bits(amount) {
            return Source::bits(bits & 31);
        }
        let small = self.ssa.def(amount).is_some_and(|def| match def.op {
            Op::And => {
                def.args.iter().any(|&arg| self.const_bits(arg).is_some_and(|bits| bits < 32))
            }
            Op::UMin => {
                def.args.iter().any(|&arg| self.const_bits(arg).is_some_and(|bits| bits < 32))
            }
            _ => false,
        });
        let plain = self.plain(amount);
        if small {
            return plain;
        }
        Source::reg(self.alu(AluOp::AND_INT, &[plain, Source::bits(31)]))
    }

    /// `select`: by the truth value, or by a comparison that the operation makes itself.
    fn select(&mut self, data: &InstData, dst: VReg) {
        match choice(self.ssa, data) {
            Some(Choice::Float(op, a, b)) => {
                let src = [self.source(a, op, 0), self.source(b, op, 1)];
                self.alu_to(dst, op, &src);
            }
            Some(Choice::Test { op, value, neg, swap }) => {
                let (mut yes, mut no) = (self.plain(data.args[1]), self.plain(data.args[2]));
                if swap {
                    std::mem::swap(&mut yes, &mut no);
                }
                let mut test = self.source(value, op, 0);
                test.neg ^= neg;
                self.alu_to(dst, op, &[test, yes, no]);
            }
            None => {
                let cond = self.plain(data.args[0]);
                let (yes, no) = (self.plain(data.args[1]), self.plain(data.args[2]));
                self.alu_to(dst, AluOp::CNDE_INT, &[cond, no, yes]);
            }
        }
    }
}
