//! Arithmetic, bit operations and conversions. isa/rogue-pipeline.md 2.2 to 2.6.

use super::Lower;
use super::test::{self, Asked};
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Feed, MainOps};
use crate::isa::ops::{Bitwise0, Bitwise1, Bitwise2, Main, Move, Pack, Test};
use crate::isa::register::Register;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Role, VReg};
use gpucc_ir::ssa::{InstData, Op, Type, Value};
use gpucc_isa::{FieldId, Inst as Word};

/// Codes of shifts of phase 2. 2.6.
pub(super) const LEFT: u32 = 0;
pub(super) const RIGHT: u32 = 1;
pub(super) const ARITHMETIC: u32 = 4;

/// Codes of logical operations of phase 1. 2.6.
pub(super) const OR: u32 = 0;
pub(super) const AND: u32 = 1;
pub(super) const XOR: u32 = 2;
const XNOR: u32 = 6;

const ZERO: Src = Src::ZERO;
const ONE: Src = Src::ONE;
/// 1.0 among the constants. 3.2.
const ONE_F: Src = Src::Fixed(Register::Special(64));

/// Formats of packs. 2.3.
const PACK_U32: u32 = 6;
const PACK_S32: u32 = 7;
pub(super) const PACK_HALVES: u32 = 14;

fn word(row: Main, flags: &[FieldId]) -> Word {
    flags.iter().fold(Word::usual(row.op()), |word, &flag| word.with(flag, 1))
}

impl Lower<'_> {
    /// Lowers an operation that computes.
    pub(super) fn compute(&mut self, data: &InstData) -> Result<(), Failure> {
        let result = data.results[0];
        // A half is a word with anything above, which is chosen as words are and lost at a store.
        let other = |value: &gpucc_ir::ssa::Value| match self.ssa.ty(*value) {
            Type::B16 => !matches!(data.op, Op::UConvert | Op::Select),
            ty => ty == Type::B64,
        };
        if data.args.iter().chain(&data.results).any(other) {
            return Err(self.not_yet("values of other than 32 bits"));
        }
        if data.op.is_comparison() {
            // Who decides by it asks it where it decides.
            if self.in_registers[result] {
                let asked = self.asked(data);
                let reg = self.truth(asked);
                self.values[result] = Some(Src::Reg(reg.into()));
            }
            return Ok(());
        }
        if self.joined[result] {
            return Ok(());
        }
        if data.op == Op::Select {
            let reg = self.chosen(data);
            self.values[result] = Some(Src::Reg(reg.into()));
            return Ok(());
        }
        let args: smallvec::SmallVec<[Src; 4]> =
            data.args.iter().map(|&arg| self.source(arg)).collect();
        let reg = match (data.op, self.ssa.ty(result)) {
            (Op::Not, Type::B1) => self.logical(XOR, args[0], ONE),
            (Op::SConvert, _) if self.ssa.ty(data.args[0]) == Type::B1 => {
                self.p0(word(Main::Imadd32, &[f::NEG0]), &[args[0], ONE, ZERO])
            }
            (Op::UConvert, Type::B32) if self.ssa.ty(data.args[0]) == Type::B16 => {
                // Inputs have zeros above.
                if self.ssa.def(data.args[0]).is_some_and(|def| def.op == Op::Input) {
                    self.values[result] = Some(args[0]);
                    return Ok(());
                }
                let mask = self.number(0xffff);
                self.logical(AND, args[0], mask)
            }
            (Op::UConvert | Op::SConvert, _) => {
                self.values[result] = Some(args[0]);
                return Ok(());
            }
            _ => match self.fused(data).or_else(|| self.operation(data.op, &args)) {
                Some(reg) => reg,
                None => return Err(self.not_yet(format!("`{}`", data.op.name()))),
            },
        };
        self.values[result] = Some(Src::Reg(reg.into()));
        Ok(())
    }

    /// A sum with a product is one operation. 2.5. Registers of an operation's operands hold them as long as its result is seen.
    fn fused(&mut self, data: &InstData) -> Option<VReg> {
        let ssa = self.ssa;
        if data.op != Op::IAdd {
            return None;
        }
        [(0, 1), (1, 0)].into_iter().find_map(|(product, other)| {
            let product = ssa.def(data.args[product])?;
            let factor = match product.op {
                Op::IMul => None,
                // Powers of two stand among the constants, or in shared registers.
                Op::Shl => Some(1 << ssa.as_const(product.args[1]).filter(|by| *by < 32)?),
                _ => return None,
            };
            let a = self.source(product.args[0]);
            let b = match factor {
                Some(factor) => self.number(factor),
                None => self.source(product.args[1]),
            };
            let c = self.source(data.args[other]);
            Some(self.multiply_add(a, b, c))
        })
    }

    fn operation(&mut self, op: Op, args: &[Src]) -> Option<VReg> {
        let a = *args.first()?;
        let b = args.get(1).copied().unwrap_or(ZERO);
        let c = args.get(2).copied().unwrap_or(ZERO);
        Some(match op {
            Op::IAdd => self.p0(word(Main::Imadd32, &[]), &[a, ONE, b]),
            Op::ISub => self.p0(word(Main::Imadd32, &[f::NEG0]), &[b, ONE, a]),
            Op::IMul => self.p0(word(Main::Imadd32, &[]), &[a, b, ZERO]),
            Op::INeg => self.p0(word(Main::Imadd32, &[f::NEG0]), &[a, ONE, ZERO]),
            Op::IAbs => self.p0(word(Main::Imadd32, &[f::SIGNED, f::ABS0]), &[a, ONE, ZERO]),
            Op::UMulHi => self.high_product(&[], a, b),
            Op::SMulHi => self.high_product(&[f::SIGNED], a, b),
            Op::SMin => self.bound(test::LESS, test::S32, a, b),
            Op::SMax => self.bound(test::GREATER, test::S32, a, b),
            Op::UMin => self.bound(test::LESS, test::U32, a, b),
            Op::UMax => self.bound(test::GREATER, test::U32, a, b),
            Op::And => self.logical(AND, a, b),
            Op::Or => self.logical(OR, a, b),
            Op::Xor => self.logical(XOR, a, b),
            Op::Not => self.logical(XNOR, a, ZERO),
            Op::Shl => self.shift(LEFT, a, b),
            Op::LShr => self.shift(RIGHT, a, b),
            Op::AShr => self.shift(ARITHMETIC, a, b),
            Op::PopCount => self.counted(Word::usual(Bitwise0::Cbs.op()), a),
            Op::UMsb => self.counted(Word::usual(Bitwise0::Ftb.op()), a),
            Op::Clz => {
                let top = self.counted(Word::usual(Bitwise0::Ftb.op()), a);
                let most = self.number(31);
                self.p0(word(Main::Imadd32, &[f::NEG0]), &[Src::Reg(top.into()), ONE, most])
            }
            Op::BitReverse => {
                self.counted(Word::usual(Bitwise0::Rev.op()).with(f::COUNT_SRC, 1), a)
            }
            Op::FAdd => self.p0(word(Main::Fadd, &[]), &[a, b]),
            Op::FSub => self.p0(word(Main::Fadd, &[f::NEG0]), &[b, a]),
            Op::FMul => self.p0(word(Main::Fmul, &[]), &[a, b]),
            Op::FMa => self.p0(word(Main::Fmad, &[]), &[a, b, c]),
            Op::FNeg => self.p0(word(Main::Mbyp, &[f::NEG0]), &[a]),
            Op::FAbs => self.p0(word(Main::Mbyp, &[f::ABS0]), &[a]),
            // A product keeps the sign of a zero.
            Op::FFloor => self.p0(word(Main::Fmul, &[f::FLR0]), &[a, ONE_F]),
            Op::FFract => self.p0(word(Main::Fadd, &[f::FLR0, f::NEG0]), &[a, a]),
            Op::FSat => self.p0(word(Main::Fmul, &[f::SAT]), &[a, ONE_F]),
            Op::FMin => self.bound(test::LESS, test::F32, a, b),
            Op::FMax => self.bound(test::GREATER_EQUAL, test::F32, a, b),
            Op::FRcp => self.p0(word(Main::Frcp, &[]), &[a]),
            Op::FRsq => self.p0(word(Main::Frsq, &[]), &[a]),
            Op::FExp2 => self.p0(word(Main::Fexp, &[]), &[a]),
            Op::FLog2 => self.p0(word(Main::Flog, &[]), &[a]),
            Op::FSin => self.wave(0, a),
            Op::FCos => self.wave(1, a),
            Op::Ddx | Op::DdxCoarse => self.p0(word(Main::Fdsx, &[]), &[a]),
            Op::Ddy | Op::DdyCoarse => self.p0(word(Main::Fdsy, &[]), &[a]),
            Op::DdxFine => self.p0(word(Main::Fdsxf, &[]), &[a]),
            Op::DdyFine => self.p0(word(Main::Fdsyf, &[]), &[a]),
            Op::PackHalf => self.halves(a, b),
            Op::SToF => self.unpacked(PACK_S32, 0, a),
            Op::UToF => self.unpacked(PACK_U32, 0, a),
            Op::UnpackHalfLo => self.unpacked(PACK_HALVES, 0, a),
            Op::UnpackHalfHi => self.unpacked(PACK_HALVES, 1, a),
            // The largest floats that the integers hold (the operation's definition); NaN stays for the pack, which makes 0 of it.
            Op::FToS => self.truncated(PACK_S32, 2_147_483_520.0, a),
            Op::FToU => self.truncated(PACK_U32, 4_294_967_040.0, a),
            _ => return None,
        })
    }

    /// The high word of a product. 2.5.
    fn high_product(&mut self, flags: &[FieldId], a: Src, b: Src) -> VReg {
        let dst = self.fresh();
        let step = Step::p0(word(Main::Imadd64, flags)).from(0, a).from(1, b);
        self.push(step.external(3).select(4, Feed::Fte).to(0, dst));
        dst
    }

    /// The one of two that a test of both chooses: the first where it holds. 2.4.
    pub(super) fn bound(&mut self, test: u32, ty: u32, a: Src, b: Src) -> VReg {
        let dst = self.fresh();
        let step = Step::main(choice(test, ty)).from(0, a).from(3, b).select(2, Feed::Ft1);
        self.push(step.select(4, Feed::Ft1).to(0, dst));
        dst
    }

    /// A logical operation by its code. 2.6.
    pub(super) fn logical(&mut self, code: u32, a: Src, b: Src) -> VReg {
        let dst = self.fresh();
        let pass = Word::usual(Bitwise0::Bbyp.op());
        let logical = Word::usual(Bitwise1::Logical.op()).with(f::LOGIC, code);
        let step = Step::bits([Some(pass), Some(logical), None]);
        self.push(step.from(2, a).from(3, b).to(0, dst));
        dst
    }

    /// A shift by its code. 2.6.
    pub(super) fn shift(&mut self, code: u32, value: Src, by: Src) -> VReg {
        let dst = self.fresh();
        let pass = Word::usual(Bitwise0::Bbyp.op());
        let shift = Word::usual(Bitwise2::Shift.op()).with(f::SHIFT2, code);
        let step = Step::bits([Some(pass), None, Some(shift)]);
        self.push(step.from(1, value).from(4, by).to(0, dst));
        dst
    }

    /// What phase 0 of the bitwise ALU counts or turns round. 2.6.
    pub(super) fn counted(&mut self, word: Word, value: Src) -> VReg {
        let dst = self.fresh();
        self.push(Step::bits([Some(word), None, None]).from(2, value).to(1, dst));
        dst
    }

    /// A float of an element. 2.3.
    pub(super) fn unpacked(&mut self, format: u32, element: u32, value: Src) -> VReg {
        let word = Word::usual(Main::Unpck.op()).with(f::FORMAT, format).with(f::ELEM, element);
        self.p0(word, &[value])
    }

    /// Two halves in a word: a pack that repeats takes registers that follow each other. 2.3.
    pub(super) fn halves(&mut self, low: Src, high: Src) -> VReg {
        let (dst, regs) = (self.fresh(), [self.own(low), self.own(high)]);
        let toward_zero = u32::from(!self.abi.chip.rounds_even());
        let pack = Word::usual(Pack::Pck.op()).with(f::FORMAT, PACK_HALVES);
        let pack = Some(pack.with(f::RTZ, toward_zero));
        let mut step = Step::main(MainOps { pack, ..MainOps::default() });
        step.group.repeat = 2;
        let step = step.range(0, &regs, Role::Use).external(0);
        self.push(step.select(3, Feed::Fte).select(4, Feed::Ft2).early(dst));
        dst
    }

    /// An integer of a float, toward zero, that is at most what both types hold.
    fn truncated(&mut self, format: u32, most: f32, value: Src) -> VReg {
        let most = self.number(most.to_bits());
        // Where the test holds the bound is taken: NaN stays.
        let within = self.bound(test::LESS, test::F32, most, value);
        let dst = self.fresh();
        let pack = Word::usual(Pack::Pck.op()).with(f::FORMAT, format).with(f::RTZ, 1);
        let ops = MainOps { pack: Some(pack), ..MainOps::default() };
        let step = Step::main(ops).from(0, Src::Reg(within.into())).external(0);
        self.push(step.select(3, Feed::Fte).select(4, Feed::Ft2).to(0, dst));
        dst
    }

    /// Sine or cosine of radians: both parts of the reduction, the quotient, and the product that its flag asks for. 2.4, 7.
    fn wave(&mut self, kind: u32, x: Src) -> VReg {
        let part = |part| Word::usual(Main::Fred.op()).with(f::TRIG, kind).with(f::PART, part);
        let (first, second, quotient, dst) =
            (self.fresh(), self.fresh(), self.fresh(), self.fresh());
        self.push(Step::p0(part(0)).from(0, x).to(1, first));
        let step = Step::p0(part(1)).from(0, x).from(3, Src::Reg(first.into()));
        self.push(step.to(0, second));
        let second = Src::Reg(second.into());
        let step = Step::p0(word(Main::Fsinc, &[])).from(0, second).to(0, quotient);
        self.push(step.effect());
        let quotient = Src::Reg(quotient.into());
        let ops = MainOps {
            p0: Some(word(Main::Imadd64, &[f::CARRY])),
            p1: Some(word(Main::Fmul, &[])),
            test: Some(Word::usual(Test::Tst.op()).with(f::TYPE, test::U32)),
            mov: Some(Word::usual(Move::Movc.op()).with(f::MOV_W0, Feed::Fte as u32)),
            ..MainOps::default()
        };
        let step = Step::main(ops).from(3, quotient).from(4, second).external(3);
        self.push(step.select(4, Feed::Ft1).to(0, dst));
        dst
    }

    /// The choice of a select.
    fn chosen(&mut self, data: &InstData) -> VReg {
        let (yes, no) = (self.source(data.args[1]), self.source(data.args[2]));
        let Some((op, [first, second])) = self.join(data.args[0]) else {
            return self.chosen_by(data.args[0], yes, no);
        };
        let inner = Src::Reg(self.chosen_by(second, yes, no).into());
        match op {
            Op::Or => self.chosen_by(first, yes, inner),
            _ => self.chosen_by(first, inner, no),
        }
    }

    /// The choice of one truth value.
    fn chosen_by(&mut self, condition: Value, yes: Src, no: Src) -> VReg {
        let Some(asked) = self.open_comparison(condition) else {
            let condition = self.source(condition);
            return self.choose(test::POSITIVE, test::U32, condition, yes, no);
        };
        if let Some(reg) = self.bounded(asked, yes, no) {
            return reg;
        }
        if let Some((test, ty, value)) = asked.against_zero() {
            return self.choose(test, ty, value, yes, no);
        }
        if let Some(reg) = self.beside(asked, yes, no) {
            return reg;
        }
        match (asked.ty, asked.test) {
            (test::U32, test::EQUAL) => self.where_equal(asked.operands, yes, no),
            (test::U32, test::NOT_EQUAL) => self.where_equal(asked.operands, no, yes),
            _ => {
                let truth = self.truth(asked);
                self.choose(test::POSITIVE, test::U32, Src::Reg(truth.into()), yes, no)
            }
        }
    }

    /// `test(value) ? yes : no`, of a test of one value. 2.4, csel.
    pub(super) fn choose(&mut self, test: u32, ty: u32, value: Src, yes: Src, no: Src) -> VReg {
        let dst = self.fresh();
        let step = Step::main(choice(test, ty)).from(0, yes).from(3, no).from(1, value).external(1);
        self.push(step.select(1, Feed::Fte).select(4, Feed::Ft1).to(0, dst));
        dst
    }

    /// A choice by a comparison where one of the two is compared, 0 or 1.0: the other one is the external feedthrough. 2.3, 2.4.
    fn beside(&mut self, asked: Asked, yes: Src, no: Src) -> Option<VReg> {
        const PACK_ONE: u32 = 31;
        let [a, b] = asked.operands;
        let mut ops = choice(asked.test, asked.ty);
        let mut external = None;
        let mut feed = |src: Src| {
            let packed = [(ZERO, test::PACK_ZERO), (ONE_F, PACK_ONE)];
            let packed = packed.into_iter().find(|(number, _)| *number == src);
            let packed =
                packed.map(|(_, format)| Word::usual(Pack::Pck.op()).with(f::FORMAT, format));
            if src == a {
                Some(Feed::Ft0)
            } else if src == b {
                Some(Feed::Ft1)
            } else if packed.is_some() && ops.pack.is_none_or(|old| Some(old) == packed) {
                ops.pack = packed;
                Some(Feed::Ft2)
            } else {
                (*external.get_or_insert(src) == src).then_some(Feed::Fte)
            }
        };
        let (taken, other) = (feed(yes)?, feed(no)?);
        ops.mov = ops.mov.map(|mov| mov.with(f::MOV_W0, taken as u32));
        let dst = self.fresh();
        let mut step = Step::main(ops).from(0, a).from(3, b).select(2, Feed::Ft1);
        if let Some(src) = external {
            step = step.from(1, src).external(1);
        }
        self.push(step.select(4, other).to(0, dst));
        Some(dst)
    }

    /// A choice where two words are equal: their difference is tested beside it. 2.4, 2.5.
    fn where_equal(&mut self, [a, b]: [Src; 2], yes: Src, no: Src) -> VReg {
        let ops = MainOps {
            p0: Some(word(Main::Imadd32, &[f::NEG2])),
            mov: Some(Word::usual(Move::Movc.op()).with(f::MOV_W0, Feed::Ft1 as u32)),
            ..choice(test::ZERO, test::U32)
        };
        let dst = self.fresh();
        let step = Step::main(ops).from(0, a).from(1, ONE).from(2, b).from(3, yes).from(4, no);
        self.push(step.external(4).select(4, Feed::Fte).to(0, dst));
        dst
    }

    /// A choice between what is compared is one group.
    fn bounded(&mut self, asked: Asked, yes: Src, no: Src) -> Option<VReg> {
        let [a, b] = asked.operands;
        (yes == a && no == b).then(|| self.bound(asked.test, asked.ty, a, b))
    }
}

/// What chooses between the results of two moves by a test: the first where it holds. 2.4.
fn choice(test: u32, ty: u32) -> MainOps {
    MainOps {
        p0: Some(word(Main::Mbyp, &[])),
        p1: Some(word(Main::Mbyp, &[])),
        test: Some(Word::usual(Test::Tst.op()).with(f::TEST, test).with(f::TYPE, ty)),
        mov: Some(Word::usual(Move::Movc.op()).with(f::MOV_W0, Feed::Ft0 as u32)),
        ..MainOps::default()
    }
}
