//! Comparisons: as truth values in registers, as p0, and within choices. isa/rogue-pipeline.md 2.4.

use super::Lower;
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, MainOps};
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
    /// the region of the comparison, and what joins two such for one choice or condition.
    pub(super) fn find_truths(&mut self) {
        let ssa = self.ssa;
        let mut home = ssa.by_value::<Option<gpucc_ir::ssa::Region>>();
        let mut uses = ssa.by_value::<u32>();
        for (region, ..) in ssa.regions_in_order() {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                data.results.iter().for_each(|&value| home[value] = Some(region));
                data.args.iter().for_each(|&value| uses[value] += 1);
            }
        }
        for (region, ..) in ssa.regions_in_order() {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                let decides = matches!(data.op, Op::Select | Op::If | Op::BreakIf);
                let (deciders, others) = data.args.split_at(usize::from(decides));
                for &value in deciders {
                    let near = home[value] == Some(region);
                    self.in_registers[value] |= !near;
                    let parts = ssa.def(value).filter(|def| {
                        let joins = matches!(def.op, Op::And | Op::Or);
                        let part = |part: &Value| {
                            let compares = |def: &InstData| def.op.is_comparison();
                            home[*part] == Some(region) && ssa.def(*part).is_some_and(compares)
                        };
                        joins && near && uses[value] == 1 && def.args.iter().all(part)
                    });
                    self.joined[value] = parts.is_some();
                }
                for &value in others {
                    self.in_registers[value] = true;
                }
            }
        }
        // What is joined piece by piece asks no register.
        let mut asked = ssa.by_value::<u32>();
        for (region, ..) in ssa.regions_in_order() {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                if data.results.first().is_some_and(|&value| self.joined[value]) {
                    data.args.iter().for_each(|&value| asked[value] += 1);
                }
                if matches!(data.op, Op::Select | Op::If | Op::BreakIf)
                    && home[data.args[0]] == Some(region)
                {
                    asked[data.args[0]] += 1;
                }
            }
        }
        for (value, asked) in asked.iter() {
            if *asked > 0 && *asked == uses[value] {
                self.in_registers[value] = false;
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
        let step = self.comparison(asked);
        self.push(step);
    }

    /// The group that puts a comparison into p0.
    fn comparison(&self, asked: Asked) -> Step {
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
        step.effect()
    }

    /// Puts a truth value into p0; p0 is 1 where it holds.
    pub(super) fn decide(&mut self, value: Value) {
        if let Some((op, [first, second])) = self.join(value) {
            self.decide(first);
            // Where the first has settled it the second does not run.
            let asks = if op == Op::Or { Condition::IfNotP0 } else { Condition::IfP0 };
            let asked = self.decider(second);
            let mut step = self.comparison(asked);
            step.group.condition = asks;
            self.push(step);
            return;
        }
        let asked = self.decider(value);
        self.compare(asked);
    }

    /// What a truth value that decides asks.
    fn decider(&mut self, value: Value) -> Asked {
        match self.open_comparison(value) {
            Some(asked) => asked,
            None => {
                let operands = [self.source(value), Src::ZERO];
                Asked { test: NOT_EQUAL, ty: U32, operands }
            }
        }
    }

    /// The two comparisons of a truth value that is decided piece by piece, and what joins them.
    pub(super) fn join(&self, value: Value) -> Option<(Op, [Value; 2])> {
        let data = self.ssa.def(value).filter(|_| self.joined[value])?;
        Some((data.op, [data.args[0], data.args[1]]))
    }
}
