//! Comparisons: as truth values in registers, as p0, and within choices. isa/rogue-pipeline.md 2.4.

use super::Lower;
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Feed, MainOps};
use crate::isa::ops::{Main, Move, Pack, Test};
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{InstData, Op, Value};
use gpucc_isa::Inst as Word;

/// Codes of tests.
pub(super) const ZERO: u32 = 0;
pub(super) const POSITIVE: u32 = 1;
pub(super) const NOT_NEGATIVE: u32 = 2;
pub(super) const EQUAL: u32 = 4;
pub(super) const GREATER: u32 = 5;
pub(super) const GREATER_EQUAL: u32 = 6;
pub(super) const NOT_EQUAL: u32 = 7;
pub(super) const LESS: u32 = 8;
pub(super) const LESS_EQUAL: u32 = 9;
/// Codes of types.
pub(super) const F32: u32 = 0;
pub(super) const U32: u32 = 5;
pub(super) const S32: u32 = 6;

/// The pack that gives 0. 2.3.
pub(super) const PACK_ZERO: u32 = 30;

/// A comparison with its operands.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    pub test: u32,
    pub ty: u32,
    pub operands: [Src; 2],
}

impl Asked {
    /// The test of one value that it is, where it compares with 0.
    pub fn against_zero(self) -> Option<(u32, u32, Src)> {
        let zero = Src::ZERO;
        let [a, b] = self.operands;
        if b == zero {
            let test = match self.test {
                EQUAL => ZERO,
                GREATER => POSITIVE,
                GREATER_EQUAL => NOT_NEGATIVE,
                // Of numbers without a sign, what differs from 0 is above it.
                NOT_EQUAL if self.ty == U32 => POSITIVE,
                _ => return None,
            };
            return Some((test, self.ty, a));
        }
        if a == zero {
            let test = match self.test {
                EQUAL => ZERO,
                LESS => POSITIVE,
                LESS_EQUAL => NOT_NEGATIVE,
                NOT_EQUAL if self.ty == U32 => POSITIVE,
                _ => return None,
            };
            return Some((test, self.ty, b));
        }
        None
    }
}

impl Lower<'_> {
    /// Finds the truth values that somebody reads as numbers: all but comparisons that only choices and conditions ask, each in
    /// the region of the comparison.
    pub(super) fn find_truths(&mut self) {
        let ssa = self.ssa;
        let mut home = ssa.by_value::<Option<gpucc_ir::ssa::Region>>();
        for (region, ..) in ssa.regions_in_order() {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                for &value in &data.results {
                    home[value] = Some(region);
                }
                let (deciders, others) = match data.op {
                    Op::Select | Op::If | Op::BreakIf => data.args.split_at(1),
                    _ => data.args.split_at(0),
                };
                for &value in deciders {
                    let near = home[value] == Some(region);
                    self.in_registers[value] |= !near;
                }
                for &value in others {
                    self.in_registers[value] = true;
                }
            }
        }
    }

    /// The comparison that decides, where its truth is in no register.
    pub(super) fn open_comparison(&mut self, value: Value) -> Option<Asked> {
        let ssa = self.ssa;
        let data = ssa.def(value)?;
        (data.op.is_comparison() && !self.in_registers[value]).then(|| self.asked(data))
    }

    /// What a comparison asks.
    pub(super) fn asked(&mut self, data: &InstData) -> Asked {
        let operands = [self.source(data.args[0]), self.source(data.args[1])];
        let (test, ty) = match data.op {
            Op::IEq => (EQUAL, U32),
            Op::INe => (NOT_EQUAL, U32),
            Op::SLt => (LESS, S32),
            Op::SLe => (LESS_EQUAL, S32),
            Op::ULt => (LESS, U32),
            Op::ULe => (LESS_EQUAL, U32),
            Op::FEq => (EQUAL, F32),
            Op::FNe => (NOT_EQUAL, F32),
            Op::FLt => (LESS, F32),
            _ => (LESS_EQUAL, F32),
        };
        Asked { test, ty, operands }
    }

    /// 1 where a comparison holds, 0 elsewhere. 2.4, bcmp.
    pub(super) fn truth(&mut self, asked: Asked) -> VReg {
        let dst = self.fresh();
        let ops = MainOps {
            p0: Some(Word::usual(Main::Mbyp.op())),
            p1: Some(Word::usual(Main::Mbyp.op())),
            pack: Some(Word::usual(Pack::Pck.op()).with(f::FORMAT, PACK_ZERO)),
            test: Some(
                Word::usual(Test::Tst.op()).with(f::TEST, asked.test).with(f::TYPE, asked.ty),
            ),
            mov: Some(Word::usual(Move::Movc.op()).with(f::MOV_W0, Feed::Fte as u32)),
            ..MainOps::default()
        };
        let [a, b] = asked.operands;
        let one = Src::ONE;
        let step = Step::main(ops).from(0, a).from(3, b).from(1, one).external(1);
        self.push(step.select(2, Feed::Ft1).select(4, Feed::Ft2).to(0, dst));
        dst
    }

    /// Puts a comparison into p0.
    pub(super) fn compare(&mut self, asked: Asked) {
        let test = Word::usual(Test::Tst.op()).with(f::PWEN, 1);
        let pass = Word::usual(Main::Mbyp.op());
        let [a, b] = asked.operands;
        let step = match asked.against_zero() {
            Some((code, ty, value)) => {
                let test = test.with(f::TEST, code).with(f::TYPE, ty);
                let ops = MainOps { p0: Some(pass), test: Some(test), ..MainOps::default() };
                Step::main(ops).from(0, value)
            }
            None => {
                let test = test.with(f::TEST, asked.test).with(f::TYPE, asked.ty);
                let p1 = Some(pass);
                let ops = MainOps { p0: Some(pass), p1, test: Some(test), ..MainOps::default() };
                Step::main(ops).from(0, a).from(3, b).select(2, Feed::Ft1)
            }
        };
        self.push(step.effect());
    }

    /// Puts a truth value into p0; p0 is 1 where it holds.
    pub(super) fn decide(&mut self, value: Value) {
        let asked = match self.open_comparison(value) {
            Some(asked) => asked,
            None => {
                let operands = [self.source(value), Src::ZERO];
                Asked { test: NOT_EQUAL, ty: U32, operands }
            }
        };
        self.compare(asked);
    }
}
