//! Truth values as flags: conditions are comparisons where they decide something, each of which may go on from the flag that
//! the one before it left. G45 vol. 4, 14.1.2.
//!
//! A truth value in a register is 1 or 0.

use super::Lower;
use crate::inst::{Condition, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use cranelift_entity::SecondaryMap;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{InstData, Op, Type, Value};
use smallvec::SmallVec;

/// Comparisons of a truth value that is made anew wherever something reads it.
const FEW: u32 = 2;
/// Signs and magnitudes of one another that a source takes at once.
const DEEPEST: usize = 4;

/// What a chain of comparisons goes on with: `and` or `or` with a truth value, or its opposite.
struct Link {
    and: bool,
    value: Value,
    opposite: bool,
}

impl Lower<'_> {
    /// Finds the truth values that are read as values, not as conditions alone, and those that no chain of comparisons makes.
    pub(super) fn find_values(&mut self) {
        let ssa = self.ssa;
        let regions: Vec<_> = ssa.regions_in_order().into_iter().collect();
        for &(region, ..) in &regions {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                let joins = matches!(data.op, Op::And | Op::Or | Op::Not)
                    && ssa.ty(data.results[0]) == Type::B1;
                let conditions = match data.op {
                    Op::If | Op::Select | Op::BreakIf => 1,
                    _ if joins => data.args.len(),
                    _ => 0,
                };
                let counts = !self.loads(data);
                for (at, &value) in data.args.iter().enumerate() {
                    self.reads[value] += 1;
                    if counts {
                        self.counts.insert(value);
                    }
                    if at >= conditions {
                        self.in_registers.insert(value);
                    }
                }
            }
        }
        // A definition stands before its readers. A chain has one long end.
        let mut count: SecondaryMap<Value, u32> = SecondaryMap::new();
        for &(region, ..) in &regions {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                let Some(&result) = data.results.first() else { continue };
                if ssa.ty(result) != Type::B1 {
                    continue;
                }
                count[result] = match data.op {
                    Op::Not => count[data.args[0]].max(1),
                    Op::And | Op::Or => {
                        let [first, second] = [data.args[0], data.args[1]];
                        if self.parts(first).is_some() && self.parts(second).is_some() {
                            self.in_registers.insert(self.stripped(second).0);
                            count[second] = 1;
                        }
                        count[first].max(1) + count[second].max(1)
                    }
                    _ => 1,
                };
                if count[result] > FEW && self.reads[result] > 1 {
                    self.in_registers.insert(result);
                }
                if self.in_registers.contains(result) {
                    count[result] = 1;
                }
            }
        }
    }

    /// What is known of the flag and of numbers in registers holds no longer.
    pub(super) fn forget(&mut self) {
        self.flag = None;
        self.spread = None;
        self.numbers.clear();
    }

    /// A value is in a register, whoever else could make it again. What another phase made is in a register too.
    fn is_in_register(&self, value: Value) -> bool {
        self.in_registers.contains(value) || !self.is_near(value)
    }

    /// What a value is the opposite of, as often as it says so, and whether that is its opposite.
    fn stripped(&self, mut value: Value) -> (Value, bool) {
        let mut opposite = false;
        while !self.is_in_register(value)
            && let Some(data) = self.ssa.def(value)
            && data.op == Op::Not
        {
            value = data.args[0];
            opposite = !opposite;
        }
        (value, opposite)
    }

    /// What a value, or its opposite, joins, where nothing has it in a register.
    fn parts(&self, value: Value) -> Option<&InstData> {
        let value = self.stripped(value).0;
        let data = self.ssa.def(value)?;
        let joins = matches!(data.op, Op::And | Op::Or) && self.ssa.ty(value) == Type::B1;
        (joins && !self.is_in_register(value)).then_some(data)
    }

    /// The flag becomes a truth value; true where it is the opposite.
    pub(super) fn decide(&mut self, value: Value) -> bool {
        let (value, opposite) = self.stripped(value);
        if let Some((held, inverse)) = self.flag
            && held == value
        {
            return inverse ^ opposite;
        }
        let inverse = match self.parts(value) {
            Some(_) => self.chain(value, false),
            None => {
                let test = self.leaf(value);
                self.push(Inst::Compare(test));
                false
            }
        };
        self.flag = Some((value, inverse));
        inverse ^ opposite
    }

    /// Comparisons whose last one leaves a value, or its opposite, in the flag; true where it is the opposite. `root`: a
    /// value that is made just now.
    fn chain(&mut self, value: Value, opposite: bool) -> bool {
        let ssa = self.ssa;
        let mut links: SmallVec<[Link; 4]> = SmallVec::new();
        let (mut inner, mut flipped, mut root) = (value, opposite, true);
        loop {
            let data = match ssa.def(inner) {
                Some(data) if root => Some(data),
                _ => {
                    let (value, opposite) = self.stripped(inner);
                    (inner, flipped) = (value, flipped ^ opposite);
                    match self.parts(inner) {
                        Some(_) => ssa.def(inner),
                        None => None,
                    }
                }
            };
            root = false;
            match data {
                Some(data) if matches!(data.op, Op::And | Op::Or) => {
                    let [first, second] = [data.args[0], data.args[1]];
                    let (rest, leaf) = match self.parts(second) {
                        Some(_) => (second, first),
                        None => (first, second),
                    };
                    let (leaf, opposite) = self.stripped(leaf);
                    let and = (data.op == Op::And) ^ flipped;
                    links.push(Link { and, value: leaf, opposite: flipped ^ opposite });
                    inner = rest;
                }
                Some(data) if data.op == Op::Not => {
                    (inner, flipped) = (data.args[0], !flipped);
                }
                _ => break,
            }
        }
        links.push(Link { and: true, value: inner, opposite: flipped });
        let mut tests: SmallVec<[Test; 4]> =
            links.iter().map(|link| self.leaf(link.value)).collect();
        // An order of floats has no opposite: the whole chain is the opposite where the first of them must be.
        let bound = |test: &Test| test.condition.opposite(test.ty).is_none();
        let demand = links.iter().zip(&tests).rev().find(|(_, test)| bound(test));
        let inverse = demand.is_some_and(|(link, _)| link.opposite);
        for (link, test) in links.iter().zip(&mut tests) {
            if link.opposite == inverse {
                continue;
            }
            match test.condition.opposite(test.ty) {
                Some(condition) => test.condition = condition,
                None => {
                    let dst = self.fresh();
                    self.push(Inst::Truth { dst: dst.into(), test: *test });
                    *test =
                        Test { condition: Condition::Equal, ..of_register(Src::Reg(dst.into())) };
                }
            }
        }
        for (at, (link, test)) in links.iter().zip(tests).enumerate().rev() {
            let first = at + 1 == links.len();
            let join = (!first).then_some(link.and == inverse);
            self.push(Inst::Compare(Test { join, ..test }));
        }
        inverse
    }

    /// The comparison that makes a truth value, or one of its register.
    fn leaf(&mut self, value: Value) -> Test {
        if self.is_near(value)
            && let Some(test) = self.bits(value).or_else(|| self.comparison(value))
        {
            return test;
        }
        let source = self.source(value);
        let source = self.no_number(source);
        of_register(source.src)
    }

    /// Whether some bit is set in two values, or none: one word, where nothing else reads their bits.
    fn bits(&mut self, value: Value) -> Option<Test> {
        let data = self.ssa.def(value)?;
        let condition = match data.op {
            Op::INe => Condition::AnyBit,
            Op::IEq => Condition::NoBit,
            _ => return None,
        };
        let [both, zero] = data.args[..] else { return None };
        let and = self.ssa.def(both)?;
        let alone = self.reads[both] == 1 && self.is_near(both);
        let whole = and.op == Op::And && self.ssa.ty(both) == Type::B32;
        if !alone || !whole || self.ssa.as_const(zero) != Some(0) {
            return None;
        }
        let sources = [self.source(and.args[0]), self.source(and.args[1])];
        Some(self.test(condition, Ty::Ud, sources))
    }

    /// The comparison that a value is.
    fn comparison(&mut self, value: Value) -> Option<Test> {
        let data = self.ssa.def(value)?;
        let (condition, ty) = match data.op {
            Op::IEq => (Condition::Equal, Ty::D),
            Op::INe => (Condition::NotEqual, Ty::D),
            Op::SLt => (Condition::Less, Ty::D),
            Op::SLe => (Condition::LessEqual, Ty::D),
            Op::ULt => (Condition::Less, Ty::Ud),
            Op::ULe => (Condition::LessEqual, Ty::Ud),
            Op::FEq => (Condition::Equal, Ty::F),
            Op::FNe => (Condition::NotEqual, Ty::F),
            Op::FLt => (Condition::Less, Ty::F),
            Op::FLe => (Condition::LessEqual, Ty::F),
            _ => return None,
        };
        if !matches!(self.ssa.ty(data.args[0]), Type::B1 | Type::B32) {
            return None;
        }
        let (first, second) = (data.args[0], data.args[1]);
        let sources = match ty {
            Ty::F => [self.float(first), self.float(second)],
            _ => [self.source(first), self.source(second)],
        };
        Some(self.test(condition, ty, sources))
    }

    /// A comparison whose first operand is no number.
    pub(super) fn test(&mut self, condition: Condition, ty: Ty, sources: [Source; 2]) -> Test {
        let [first, second] = sources;
        let (condition, first, second) = match (first.src, second.src) {
            (Src::Bits(_), Src::Bits(_)) => (condition, self.no_number(first), second),
            (Src::Bits(_), _) => (condition.exchanged(), second, first),
            _ => (condition, first, second),
        };
        Test { condition, ty, first, second, join: None }
    }

    /// A truth value is in a register, where something asks for it there.
    pub(super) fn truth(&mut self, data: &InstData) -> Result<(), Failure> {
        let result = data.results[0];
        if !self.is_in_register(result) {
            return Ok(());
        }
        if let Some(test) = self.comparison(result) {
            let dst = self.define(result);
            self.push(Inst::Truth { dst: dst.into(), test });
            return Ok(());
        }
        let plain = |lower: &Self, value: Value| {
            lower.values[value].is_some() || lower.ssa.as_const(value).is_some()
        };
        if data.args.iter().all(|&value| plain(self, value)) {
            let mut sources: SmallVec<[Source; 2]> =
                data.args.iter().map(|&value| self.source(value)).collect();
            let opcode = match data.op {
                Op::And => Opcode::And,
                Op::Or => Opcode::Or,
                _ => {
                    sources.push(Src::Bits(1).into());
                    Opcode::Xor
                }
            };
            let dst = self.define(result);
            self.alu(opcode, Ty::Ud, dst, &sources);
            return Ok(());
        }
        let inverse = self.chain(result, false);
        self.flag = Some((result, inverse));
        let dst = self.define(result);
        self.push(Inst::Flagged { dst: dst.into(), inverse });
        Ok(())
    }

    /// A float with its sign and magnitude taken as the instruction reads it.
    pub(super) fn float(&self, value: Value) -> Source {
        let (mut inner, mut negate, mut absolute) = (value, false, false);
        for _ in 0..DEEPEST {
            let Some(data) = self.ssa.def(inner) else { break };
            match data.op {
                Op::FNeg if self.is_near(inner) => negate ^= !absolute,
                Op::FAbs if self.is_near(inner) => absolute = true,
                _ => break,
            }
            inner = data.args[0];
        }
        let source = self.source(inner);
        if let Src::Bits(bits) = source.src {
            let bits = if absolute { bits & 0x7fff_ffff } else { bits };
            return Src::Bits(bits ^ u32::from(negate) << 31).into();
        }
        Source { negate, absolute, ..source }
    }
}

/// Whether a register is not 0.
fn of_register(src: Src) -> Test {
    Test {
        condition: Condition::NotEqual,
        ty: Ty::D,
        first: src.into(),
        second: Src::Bits(0).into(),
        join: None,
    }
}
