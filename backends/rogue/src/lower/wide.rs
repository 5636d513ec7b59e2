//! Atomic operations on pairs of words. Neither the memory nor an atomic group has them (isa/rogue-pipeline.md 1.1, 2.8): instances
//! take turns. Values of 64 bits stand between pairs of words and these operations alone.

use super::Lower;
use super::alu::{AND, OR, XOR};
use super::atomic::mutex;
use super::test::{self, Asked};
use crate::inst::{Message, Src, Step, WORDS};
use crate::isa::ops::{Control, Main};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{AtomicOp, Imm, InstData, Op, Type, Value};
use gpucc_isa::Inst as Word;

/// Low and high word.
pub(super) type Pair = [Src; 2];

/// Where a pair of words lies.
enum Place {
    /// In memory behind this address.
    Memory([Src; 2]),
    /// In coefficients from this one on.
    Workgroup(u16),
}

impl Lower<'_> {
    /// Operations that make words of pairs and pairs of words; false for others.
    pub(super) fn pairs(&mut self, data: &InstData) -> Result<bool, Failure> {
        match data.op {
            Op::Join64 => {
                let pair = [self.source(data.args[0]), self.source(data.args[1])];
                self.pairs.insert(data.results[0], pair);
            }
            Op::Lo64 | Op::Hi64 => {
                let [low, high] = self.pair(data.args[0])?;
                self.values[data.results[0]] = Some(if data.op == Op::Lo64 { low } else { high });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn pair(&mut self, value: Value) -> Result<Pair, Failure> {
        if let Some(bits) = self.ssa.as_const(value) {
            return Ok([self.number(bits as u32), self.number((bits >> 32) as u32)]);
        }
        let known = self.pairs.get(&value).copied();
        known.ok_or_else(|| self.not_yet("values of 64 bits"))
    }

    /// Whether an atomic operation is one of pairs.
    pub(super) fn is_wide(&self, data: &InstData) -> bool {
        let wide = |value: &Value| self.ssa.ty(*value) == Type::B64;
        data.args.iter().chain(&data.results).any(wide)
    }

    /// An atomic operation on a pair of a buffer, whose arguments begin with the offset.
    pub(super) fn wide_atomic(
        &mut self,
        base: [Src; 2],
        data: &InstData,
        args: &[Value],
        op: AtomicOp,
    ) -> Result<(), Failure> {
        let dst = [self.fresh(), self.fresh()];
        for reg in dst {
            self.push(Step::copy(reg, Src::ZERO));
        }
        self.living(|lower| lower.wide_turns(&Place::Memory(base), data, args, op, dst))?;
        self.pairs_of(data, dst);
        Ok(())
    }

    /// The same of a workgroup variable.
    pub(super) fn wide_shared(&mut self, data: &InstData, first: u16) -> Result<(), Failure> {
        let op = match data.imm {
            Imm::MemAtomic(_, op) => op,
            _ => return Err(self.not_yet("variables of 64 bits")),
        };
        let dst = [self.fresh(), self.fresh()];
        for reg in dst {
            self.push(Step::copy(reg, Src::ZERO));
        }
        self.wide_turns(&Place::Workgroup(first), data, &data.args, op, dst)?;
        self.pairs_of(data, dst);
        Ok(())
    }

    fn pairs_of(&mut self, data: &InstData, dst: [VReg; 2]) {
        if let Some(&result) = data.results.first() {
            self.pairs.insert(result, dst.map(|reg| Src::Reg(reg.into())));
        }
    }

    fn wide_turns(
        &mut self,
        place: &Place,
        data: &InstData,
        args: &[Value],
        op: AtomicOp,
        dst: [VReg; 2],
    ) -> Result<(), Failure> {
        let mut operands = Vec::new();
        for &value in &args[1..] {
            operands.push(self.pair(value)?);
        }
        let address = match place {
            Place::Memory(base) => Some(self.address(*base, args[0], 0)),
            Place::Workgroup(_) => None,
        };
        self.push(mutex(Control::MutexLock));
        let turns = self.first_turn();
        let old = [self.fresh(), self.fresh()];
        match (place, &address) {
            (Place::Workgroup(first), _) => {
                for (reg, at) in old.into_iter().zip(0..) {
                    let cell = self.cell_of(data, *first, at);
                    let pass = Step::p0(Word::usual(Main::Mbyp.op()));
                    self.push(pass.from(0, Src::Fixed(cell)).to(0, reg).effect());
                }
            }
            (_, Some(address)) => {
                self.push(Step::load(address, &old.map(Into::into), Message::Loads));
            }
            _ => {}
        }
        let before = old.map(|reg| Src::Reg(reg.into()));
        if op != AtomicOp::Load {
            let new = self.combined_pair(op, before, &operands)?;
            match (place, &address) {
                (Place::Workgroup(first), _) => {
                    for (word, at) in new.into_iter().zip(0..) {
                        let cell = self.cell_of(data, *first, at);
                        let pass = Step::p0(Word::usual(Main::Mbyp.op())).from(0, word);
                        self.push(pass.fixed(0, cell));
                    }
                }
                (_, Some(address)) => {
                    let words = new.map(|word| self.own(word));
                    self.push(Step::store(&words, address, WORDS));
                }
                _ => {}
            }
        }
        for (to, from) in dst.into_iter().zip(before) {
            self.push(Step::copy(to, from));
        }
        self.last_turn(turns);
        self.push(mutex(Control::MutexRelease));
        Ok(())
    }

    /// What an operation leaves.
    fn combined_pair(
        &mut self,
        op: AtomicOp,
        old: Pair,
        operands: &[Pair],
    ) -> Result<Pair, Failure> {
        let a = operands.first().copied().unwrap_or([Src::ZERO; 2]);
        let each = |lower: &mut Self, code| {
            [0, 1].map(|at| Src::Reg(lower.logical(code, old[at], a[at]).into()))
        };
        Ok(match op {
            AtomicOp::Store | AtomicOp::Exchange => a,
            AtomicOp::Add => self.sum(old, a),
            AtomicOp::And => each(self, AND),
            AtomicOp::Or => each(self, OR),
            AtomicOp::Xor => each(self, XOR),
            AtomicOp::UMin => self.lesser(test::U32, [old, a], old, a),
            AtomicOp::SMin => self.lesser(test::S32, [old, a], old, a),
            AtomicOp::UMax => self.lesser(test::U32, [a, old], old, a),
            AtomicOp::SMax => self.lesser(test::S32, [a, old], old, a),
            AtomicOp::CompareExchange => {
                let Some(&value) = operands.get(1) else {
                    return Err(self.not_yet("this atomic operation"));
                };
                let [low, high] =
                    [0, 1].map(|at| self.asked_truth(test::EQUAL, test::U32, [old[at], a[at]]));
                let same = Src::Reg(self.logical(AND, low, high).into());
                self.either(same, value, old)
            }
            AtomicOp::Sub | AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax | AtomicOp::Load => {
                return Err(self.not_yet("this atomic operation"));
            }
        })
    }

    /// The sum of two pairs: one operation adds a word to a pair. 2.5.
    fn sum(&mut self, a: Pair, b: Pair) -> Pair {
        let (low, carried) = (self.fresh(), self.fresh());
        self.push(Step::behind(a[0], Src::ONE, b).to(0, low).to(1, carried));
        let high = self.multiply_add(a[1], Src::ONE, Src::Reg(carried.into()));
        [low, high].map(|reg| Src::Reg(reg.into()))
    }

    fn asked_truth(&mut self, test: u32, ty: u32, operands: [Src; 2]) -> Src {
        Src::Reg(self.truth(Asked { test, ty, operands }).into())
    }

    /// `yes` where the first pair is less than the second; the high words have a sign or not.
    fn lesser(&mut self, ty: u32, [a, b]: [Pair; 2], yes: Pair, no: Pair) -> Pair {
        let below = self.asked_truth(test::LESS, ty, [a[1], b[1]]);
        let equal = self.asked_truth(test::EQUAL, test::U32, [a[1], b[1]]);
        let low = self.asked_truth(test::LESS, test::U32, [a[0], b[0]]);
        let low = Src::Reg(self.logical(AND, equal, low).into());
        let less = Src::Reg(self.logical(OR, below, low).into());
        self.either(less, yes, no)
    }

    fn either(&mut self, truth: Src, yes: Pair, no: Pair) -> Pair {
        [0, 1].map(|at| {
            let reg = self.choose(test::POSITIVE, test::U32, truth, yes[at], no[at]);
            Src::Reg(reg.into())
        })
    }
}
