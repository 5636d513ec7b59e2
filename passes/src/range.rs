//! Value-range analysis of integers.
//!
//! Bounds of values as unsigned, and what conditions on the way say about them.

use crate::robust::leaves;
use crate::shape::{Carries, Shape, carried_at};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Builtin, Func, Imm, InputKind, Inst, Op, Region, Type, Value, ValueDef};

/// How many conditions of the form `index < length` with a run-time length are remembered.
const RELATIONS: usize = 8;
/// How deep a condition is taken apart.
const DEPTH: u32 = 4;

/// Bounds known at one point of a walk in program order. Facts of a region leave with it.
pub(crate) struct Ranges {
    /// Largest value as unsigned; `u64::MAX` when nothing is known.
    max: SecondaryMap<Value, u64>,
    /// Smallest value as unsigned that conditions say; 0 when nothing is known.
    least: SecondaryMap<Value, u64>,
    /// Changes to undo: the value, and its bounds before.
    log: Vec<(Value, u64, u64)>,
    /// `a < b` unsigned, of run-time values.
    less: Vec<(Value, Value)>,
    /// Loop counters that start at or above 0 and step up, with their loop and step.
    counters: SecondaryMap<Value, Option<Counter>>,
    /// Continues met so far, by loop.
    continued: SecondaryMap<Inst, bool>,
}

#[derive(Copy, Clone)]
struct Counter {
    owner: Inst,
    body: Region,
    step: u64,
}

/// A point to return to; the default is where nothing was known.
#[derive(Default)]
pub(crate) struct Mark {
    log: usize,
    less: usize,
}

impl Ranges {
    pub(crate) fn new(func: &Func) -> Self {
        let mut max = SecondaryMap::with_default(u64::MAX);
        max.resize(func.values.len());
        Ranges {
            max,
            least: SecondaryMap::new(),
            log: Vec::new(),
            less: Vec::new(),
            counters: SecondaryMap::new(),
            continued: SecondaryMap::new(),
        }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { log: self.log.len(), less: self.less.len() }
    }

    pub(crate) fn undo(&mut self, mark: &Mark) {
        while self.log.len() > mark.log {
            let (value, least, max) = self.log.pop().expect("longer than the mark");
            (self.least[value], self.max[value]) = (least, max);
        }
        self.less.truncate(mark.less);
    }

    /// The largest that a value can be, read as unsigned.
    pub(crate) fn max(&self, func: &Func, value: Value) -> u64 {
        let known = self.max[value].min(func.ty(value).mask());
        func.as_const(value).map_or(known, |bits| known.min(bits))
    }

    /// True when `a < b` unsigned is certain.
    pub(crate) fn less(&self, func: &Func, a: Value, b: Value) -> bool {
        match func.as_const(b) {
            Some(bits) => self.max(func, a) < bits,
            None => {
                let from = self.less.len().saturating_sub(RELATIONS);
                self.less[from..].contains(&(a, b))
            }
        }
    }

    /// Values that conditions since a mark leave one value, with that value.
    pub(crate) fn fixed_since(&self, mark: &Mark) -> impl Iterator<Item = (Value, u64)> {
        let changed = self.log[mark.log..].iter().map(|&(value, ..)| value);
        let fixed = changed.filter(|&value| self.least[value] == self.max[value]);
        fixed.map(|value| (value, self.max[value]))
    }

    fn at_most(&mut self, func: &Func, value: Value, bound: u64) {
        self.within(func, value, 0, bound);
    }

    /// Learns that a value lies between bounds. Bounds that leave no value belong to code that never runs, and say nothing.
    fn within(&mut self, func: &Func, value: Value, least: u64, most: u64) {
        let before = (self.least[value], self.max[value]);
        let (least, max) = (least.max(before.0), most.min(before.1));
        if (least, max) != before && least <= max && func.as_const(value).is_none() {
            self.log.push((value, before.0, before.1));
            (self.least[value], self.max[value]) = (least, max);
        }
    }

    /// The smallest that a value can be, read as unsigned, as far as conditions say it.
    pub(crate) fn least(&self, func: &Func, value: Value) -> u64 {
        func.as_const(value).unwrap_or(self.least[value])
    }

    /// Learns that a value is not one of its bounds.
    fn not(&mut self, func: &Func, value: Value, other: u64) {
        let (least, max) = (self.least[value], self.max(func, value));
        if least < max && other == least {
            self.within(func, value, least + 1, u64::MAX);
        } else if least < max && other == max {
            self.within(func, value, 0, max - 1);
        }
    }

    /// Learns from what an instruction computes. Such bounds hold wherever the value is visible.
    pub(crate) fn define(&mut self, func: &Func, inst: Inst) {
        let data = &func.insts[inst];
        if data.op == Op::Continue {
            return;
        }
        let [result] = data.results[..] else { return };
        let mask = func.ty(result).mask();
        let max = |index: usize| self.max(func, data.args[index]);
        let constant = |index: usize| func.as_const(data.args[index]);
        let signed_max = mask >> 1;
        let bound = match data.op {
            Op::Const => constant_bits(func, result),
            Op::And => max(0).min(max(1)),
            Op::Or | Op::Xor => below_power_of_two(max(0) | max(1)),
            Op::UMin => max(0).min(max(1)),
            Op::UMax => max(0).max(max(1)),
            // Of two values that are not negative, or at least one of them.
            Op::SMin if max(0) <= signed_max && max(1) <= signed_max => max(0).min(max(1)),
            Op::SMax if max(0) <= signed_max && max(1) <= signed_max => max(0).max(max(1)),
            Op::SMax if max(0) <= signed_max || max(1) <= signed_max => signed_max,
            Op::LShr => match constant(1) {
                Some(by) => max(0) >> (by % u64::from(func.ty(result).bits())),
                None => max(0),
            },
            Op::UDiv => match constant(1) {
                Some(by) if by != 0 => max(0) / by,
                _ => max(0),
            },
            Op::URem => match constant(1) {
                Some(by) if by != 0 => max(0).min(by - 1),
                _ => max(0),
            },
            Op::IAdd => max(0).saturating_add(max(1)),
            Op::IMul => max(0).saturating_mul(max(1)),
            Op::Shl => match constant(1) {
                Some(by) if by < u64::from(func.ty(result).bits()) => {
                    max(0).saturating_mul(1 << by)
                }
                _ => u64::MAX,
            },
            Op::Select => max(1).max(max(2)),
            Op::UConvert | Op::Join16 | Op::Index => max(0),
            Op::UBfe => match constant(2) {
                Some(count) if count < 64 => (1 << count) - 1,
                _ => u64::MAX,
            },
            Op::PopCount | Op::Clz | Op::Ctz => u64::from(func.ty(data.args[0]).bits()),
            Op::Input => local_id(func, data.imm).unwrap_or(u64::MAX),
            _ => u64::MAX,
        };
        let bound = match data.op {
            Op::Join16 => u64::MAX,
            // A truncation may drop anything, but what fits stays as it is.
            _ => bound,
        };
        if bound <= mask {
            self.max[result] = bound;
        }
    }

    /// Learns the counters of a loop before its body is walked.
    pub(crate) fn enter_loop(&mut self, func: &Func, shape: &Shape, owner: Inst) {
        let data = &func.insts[owner];
        let (body, continuing) = (data.regions[0], data.regions[1]);
        for (index, &param) in func.regions[body].params.iter().enumerate() {
            self.ends_at(func, shape, owner, index, param);
            let init = match func.as_const(data.args[index]) {
                Some(init) if func.ty(param) == Type::B32 && init <= 0x7fff_ffff => init,
                _ => continue,
            };
            let _ = init;
            let mut step = None;
            let mut nexts = 0;
            for term in shape.terminators(owner) {
                if let Some(next) = carried_at(func, term, owner, Carries::Params, index) {
                    nexts += 1;
                    step = step_of(func, shape, owner, continuing, next, param);
                }
            }
            if let (1, Some(step)) = (nexts, step) {
                self.counters[param] = Some(Counter { owner, body, step });
            }
        }
    }

    /// A parameter that begins below a constant and is carried on only while it is below.
    fn ends_at(&mut self, func: &Func, shape: &Shape, owner: Inst, index: usize, param: Value) {
        let mut bound = self.max(func, func.insts[owner].args[index]).checked_add(1);
        for term in shape.terminators(owner) {
            let Some(next) = carried_at(func, term, owner, Carries::Params, index) else {
                continue;
            };
            let data = &func.insts[term];
            let end = (data.op == Op::BreakIf)
                .then(|| func.def(data.args[0]))
                .flatten()
                .filter(|done| done.op == Op::ULe && done.args[1] == next)
                .and_then(|done| func.as_const(done.args[0]));
            bound = match (bound, end) {
                (Some(bound), Some(end)) => Some(bound.max(end)),
                _ => None,
            };
        }
        if let Some(most) = bound.and_then(|bound| bound.checked_sub(1)) {
            self.at_most(func, param, most);
        }
    }

    /// Notes that a loop has been continued, so that later conditions do not guard every trip.
    pub(crate) fn continues(&mut self, owner: Inst) {
        self.continued[owner] = true;
    }

    /// Learns from a condition that holds (or does not) from here to the end of `region`.
    pub(crate) fn assume(&mut self, func: &Func, region: Region, cond: Value, holds: bool) {
        let known = self.log.len();
        self.assume_to(func, region, cond, holds, DEPTH);
        // What a later one of several conditions says may be what an earlier one needs.
        if self.log.len() > known
            && func.def(cond).is_some_and(|data| matches!(data.op, Op::And | Op::Or))
        {
            self.assume_to(func, region, cond, holds, DEPTH);
        }
    }

    fn assume_to(&mut self, func: &Func, region: Region, cond: Value, holds: bool, depth: u32) {
        let Some(data) = func.def(cond) else { return };
        if depth == 0 {
            return;
        }
        let deeper = depth - 1;
        match (data.op, holds) {
            (Op::Not, _) => self.assume_to(func, region, data.args[0], !holds, deeper),
            (Op::And, true) | (Op::Or, false) => {
                self.assume_to(func, region, data.args[0], holds, deeper);
                self.assume_to(func, region, data.args[1], holds, deeper);
            }
            (Op::ULt, _) | (Op::ULe, _) | (Op::SLt, _) | (Op::SLe, _) => {
                let signed = matches!(data.op, Op::SLt | Op::SLe);
                let strict = matches!(data.op, Op::ULt | Op::SLt) == holds;
                // Not (a < b) is b <= a.
                let (a, b) = match holds {
                    true => (data.args[0], data.args[1]),
                    false => (data.args[1], data.args[0]),
                };
                self.ordered(func, region, a, b, signed, strict);
            }
            (Op::IEq, true) | (Op::INe, false) => {
                let (a, b) = (data.args[0], data.args[1]);
                let bounds = |value: Value| (self.least(func, value), self.max(func, value));
                let (of_a, of_b) = (bounds(a), bounds(b));
                self.within(func, a, of_b.0, of_b.1);
                self.within(func, b, of_a.0, of_a.1);
            }
            (Op::IEq | Op::INe, _) => {
                let (a, b) = (data.args[0], data.args[1]);
                match (func.as_const(a), func.as_const(b)) {
                    (None, Some(bits)) => self.not(func, a, bits),
                    (Some(bits), None) => self.not(func, b, bits),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn ordered(
        &mut self,
        func: &Func,
        region: Region,
        a: Value,
        b: Value,
        signed: bool,
        strict: bool,
    ) {
        if !signed && strict && func.as_const(b).is_none() {
            self.less.push((a, b));
        }
        let bound = self.max(func, b);
        let Some(bound) = bound.checked_sub(u64::from(strict)) else {
            return;
        };
        if !signed {
            self.at_most(func, a, bound);
            if let Some(least) = self.least(func, a).checked_add(u64::from(strict)) {
                self.within(func, b, least, u64::MAX);
            }
            return;
        }
        // Signed: only counts where both are known not to be negative. What is not below such a value is not either.
        let positive = func.ty(a).mask() >> 1;
        if self.max(func, a) <= positive
            && let Some(least) = self.least(func, a).checked_add(u64::from(strict))
        {
            self.within(func, b, least, positive);
        }
        if self.max(func, b) > positive {
            return;
        }
        if self.max(func, a) <= positive {
            self.at_most(func, a, bound);
        } else if let Some(counter) = self.counters[a]
            && counter.body == region
            && !self.continued[counter.owner]
            && bound + counter.step <= 0x7fff_ffff
        {
            // Every trip passes here before it steps, and a step from below the bound cannot wrap.
            self.at_most(func, a, bound);
        }
    }
}

/// A walk in program order that learns from conditions and loops.
pub(crate) trait RangeWalk {
    /// What is known here, and the shape of the function.
    fn known(&mut self) -> (&mut Ranges, &Shape);

    /// Walks a region. What is learned in it is forgotten behind it.
    fn region(&mut self, func: &mut Func, region: Region);

    /// Walks what stands within a construct of `region`.
    fn construct(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let regions = func.insts[inst].regions.clone();
        if func.insts[inst].op == Op::Loop {
            let (ranges, shape) = self.known();
            ranges.enter_loop(func, shape, inst);
        }
        let cond = (func.insts[inst].op == Op::If).then(|| func.insts[inst].args[0]);
        for (index, &inner) in regions.iter().enumerate() {
            let mark = self.known().0.mark();
            if let Some(cond) = cond {
                self.known().0.assume(func, inner, cond, index == 0);
            }
            self.region(func, inner);
            self.known().0.undo(&mark);
        }
        if let Some(cond) = cond {
            // What follows runs only after the arm that does not leave.
            let (yes, no) = (leaves(func, regions[0]), leaves(func, regions[1]));
            if yes != no {
                self.known().0.assume(func, region, cond, no);
            }
        }
    }

    /// Notes that a loop is continued.
    fn continues(&mut self, inst: Inst) {
        let (ranges, shape) = self.known();
        if let Some(owner) = shape.target[inst].expand() {
            ranges.continues(owner);
        }
    }
}

/// The largest value of a component of `local_invocation_id` or of `local_invocation_index`.
fn local_id(func: &Func, imm: Imm) -> Option<u64> {
    let Imm::Input(input, component) = imm else {
        return None;
    };
    let lanes = match func.inputs[input].kind {
        InputKind::Builtin(Builtin::LocalInvocationId) => {
            u64::from(*func.workgroup_size.get(usize::from(component))?)
        }
        InputKind::Builtin(Builtin::LocalInvocationIndex) => func
            .workgroup_size
            .iter()
            .try_fold(1u64, |all, &size| all.checked_mul(u64::from(size)))?,
        _ => return None,
    };
    lanes.checked_sub(1)
}

fn constant_bits(func: &Func, value: Value) -> u64 {
    func.as_const(value).unwrap_or(u64::MAX)
}

fn below_power_of_two(max: u64) -> u64 {
    match max.checked_add(1) {
        Some(next) => next.checked_next_power_of_two().map_or(u64::MAX, |power| power - 1),
        None => u64::MAX,
    }
}

/// The constant by which `next` is more than `param`, if it always is and it is positive.
fn step_of(
    func: &Func,
    shape: &Shape,
    owner: Inst,
    continuing: Region,
    next: Value,
    param: Value,
) -> Option<u64> {
    let through = |value: Value| match func.values[value].def {
        ValueDef::Param(region, index) if region == continuing => {
            let mut only = None;
            for term in shape.terminators(owner) {
                let given = carried_at(func, term, owner, Carries::Continuing, usize::from(index));
                match (given, only) {
                    (None, _) => {}
                    (Some(given), None) => only = Some(given),
                    (Some(given), Some(other)) if given == other => {}
                    _ => return value,
                }
            }
            only.unwrap_or(value)
        }
        _ => value,
    };
    let sum = func.def(through(next))?;
    if sum.op != Op::IAdd {
        return None;
    }
    let (a, b) = (sum.args[0], sum.args[1]);
    let (base, step) = match (func.as_const(a), func.as_const(b)) {
        (_, Some(step)) => (a, step),
        (Some(step), _) => (b, step),
        _ => return None,
    };
    (through(base) == param && (1..=0x7fff_ffff).contains(&step)).then_some(step)
}
