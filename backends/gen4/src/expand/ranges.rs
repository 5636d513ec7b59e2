//! Comparisons of integers with numbers that conditions around them decide: where `i < 2` holds and `i == 0` does not, i is 1.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Builder, Func, Inst, InstData, Op, Region, Type, Value};

/// Truth values that are followed through `and`, `or` and `not`.
const DEPTH: u32 = 4;

/// The numbers that a value may be: both ends belong to it, without signs and with them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Range {
    whole: (u32, u32),
    signed: (i32, i32),
}

impl Default for Range {
    fn default() -> Range {
        Range { whole: (0, u32::MAX), signed: (i32::MIN, i32::MAX) }
    }
}

impl Range {
    fn of(number: u32) -> Range {
        Range { whole: (number, number), signed: (number as i32, number as i32) }
    }

    /// What both forms say of each other, where all numbers have one sign.
    fn joined(mut self) -> Range {
        let flip = |(least, most): (i32, i32)| (least as u32, most as u32);
        if self.signed.0 >= 0 || self.signed.1 < 0 {
            let (least, most) = flip(self.signed);
            self.whole = (self.whole.0.max(least), self.whole.1.min(most));
        }
        if self.whole.1 <= i32::MAX as u32 || self.whole.0 > i32::MAX as u32 {
            let (least, most) = (self.whole.0 as i32, self.whole.1 as i32);
            self.signed = (self.signed.0.max(least), self.signed.1.min(most));
        }
        self
    }

    /// Without a number, where that is an end.
    fn without(mut self, number: u32) -> Range {
        let signed = number as i32;
        self.whole.0 += u32::from(self.whole.0 == number && number < u32::MAX);
        self.whole.1 -= u32::from(self.whole.1 == number && number > 0);
        self.signed.0 += i32::from(self.signed.0 == signed && signed < i32::MAX);
        self.signed.1 -= i32::from(self.signed.1 == signed && signed > i32::MIN);
        self.joined()
    }

    /// What a comparison of this with another gives; none where it may be either.
    fn compared(&self, op: Op, other: &Range) -> Option<bool> {
        fn below<T: Ord>(a: (T, T), b: (T, T)) -> Option<bool> {
            if a.1 < b.0 { Some(true) } else { (a.0 >= b.1).then_some(false) }
        }
        let opposite = |found: Option<bool>| found.map(|holds| !holds);
        match op {
            Op::ULt => below(self.whole, other.whole),
            Op::ULe => opposite(below(other.whole, self.whole)),
            Op::SLt => below(self.signed, other.signed),
            Op::SLe => opposite(below(other.signed, self.signed)),
            Op::IEq | Op::INe => {
                let same = self.whole.0 == self.whole.1 && self.whole == other.whole;
                let apart = self.whole.1 < other.whole.0
                    || other.whole.1 < self.whole.0
                    || self.signed.1 < other.signed.0
                    || other.signed.1 < self.signed.0;
                (same || apart).then_some(same == (op == Op::IEq))
            }
            _ => None,
        }
    }
}

/// What is known in the region that is looked at.
#[derive(Default)]
struct Known {
    ranges: SecondaryMap<Value, Option<Range>>,
    truths: SecondaryMap<Value, Option<bool>>,
    /// What was known before, by the depth of the region that changed it.
    undo: Vec<(u32, Value, Option<Range>, Option<bool>)>,
}

impl Known {
    fn leave(&mut self, depth: u32) {
        while let Some(&(at, value, range, truth)) = self.undo.last()
            && at >= depth
        {
            self.ranges[value] = range;
            self.truths[value] = truth;
            self.undo.pop();
        }
    }

    fn range(&self, func: &Func, value: Value) -> Range {
        match func.as_const(value) {
            Some(bits) => Range::of(bits as u32),
            None => self.ranges[value].unwrap_or_default(),
        }
    }

    fn narrow(&mut self, depth: u32, value: Value, range: Range) {
        self.undo.push((depth, value, self.ranges[value], self.truths[value]));
        self.ranges[value] = Some(range);
    }

    /// A truth value holds, or does not.
    fn learn(&mut self, func: &Func, depth: u32, value: Value, holds: bool, deep: u32) {
        self.undo.push((depth, value, self.ranges[value], self.truths[value]));
        self.truths[value] = Some(holds);
        let Some(data) = func.def(value).filter(|_| deep > 0) else { return };
        match (data.op, holds) {
            (Op::Not, _) => self.learn(func, depth, data.args[0], !holds, deep - 1),
            (Op::And, true) | (Op::Or, false) => {
                for &arg in &data.args {
                    self.learn(func, depth, arg, holds, deep - 1);
                }
            }
            _ if compares(func, data) => self.compare(func, depth, data, holds),
            _ => {}
        }
    }

    fn compare(&mut self, func: &Func, depth: u32, data: &InstData, holds: bool) {
        let (a, b) = (data.args[0], data.args[1]);
        let (first, second) = (self.range(func, a), self.range(func, b));
        let (mut less, mut more) = (first, second);
        match (data.op, holds) {
            (Op::IEq, true) | (Op::INe, false) => {
                let both = Range {
                    whole: (less.whole.0.max(more.whole.0), less.whole.1.min(more.whole.1)),
                    signed: (less.signed.0.max(more.signed.0), less.signed.1.min(more.signed.1)),
                };
                (less, more) = (both.joined(), both.joined());
            }
            (Op::IEq, false) | (Op::INe, true) => {
                if more.whole.0 == more.whole.1 {
                    less = less.without(more.whole.0);
                } else if less.whole.0 == less.whole.1 {
                    more = more.without(less.whole.0);
                }
            }
            (Op::ULt, true) | (Op::ULe, false) | (Op::ULe, true) | (Op::ULt, false) => {
                let strict = u32::from((data.op == Op::ULt) == holds);
                let (lower, upper) =
                    if holds { (&mut less, &mut more) } else { (&mut more, &mut less) };
                lower.whole.1 = lower.whole.1.min(upper.whole.1.saturating_sub(strict));
                upper.whole.0 = upper.whole.0.max(lower.whole.0.saturating_add(strict));
                (less, more) = (less.joined(), more.joined());
            }
            _ => {
                let strict = i32::from((data.op == Op::SLt) == holds);
                let (lower, upper) =
                    if holds { (&mut less, &mut more) } else { (&mut more, &mut less) };
                lower.signed.1 = lower.signed.1.min(upper.signed.1.saturating_sub(strict));
                upper.signed.0 = upper.signed.0.max(lower.signed.0.saturating_add(strict));
                (less, more) = (less.joined(), more.joined());
            }
        }
        for (value, was, now) in [(a, first, less), (b, second, more)] {
            // Code that no lane reaches has ranges without numbers.
            let some = now.whole.0 <= now.whole.1 && now.signed.0 <= now.signed.1;
            if now != was && some && func.as_const(value).is_none() {
                self.narrow(depth, value, now);
            }
        }
    }

    /// What a truth value is here.
    fn truth(&self, func: &Func, value: Value, deep: u32) -> Option<bool> {
        if let Some(known) = self.truths[value] {
            return Some(known);
        }
        let data = func.def(value).filter(|_| deep > 0)?;
        let of = |at: usize| self.truth(func, data.args[at], deep - 1);
        match data.op {
            Op::Not => of(0).map(|holds| !holds),
            Op::And | Op::Or => {
                let decides = data.op == Op::Or;
                match (of(0), of(1)) {
                    (Some(one), _) | (_, Some(one)) if one == decides => Some(decides),
                    (Some(_), Some(_)) => Some(!decides),
                    _ => None,
                }
            }
            _ if compares(func, data) => {
                let [first, second] = [0, 1].map(|at| self.range(func, data.args[at]));
                first.compared(data.op, &second)
            }
            _ => None,
        }
    }
}

/// A comparison of integers of 32 bits.
fn compares(func: &Func, data: &InstData) -> bool {
    let of_integers = matches!(data.op, Op::IEq | Op::INe | Op::ULt | Op::ULe | Op::SLt | Op::SLe);
    of_integers && func.ty(data.args[0]) == Type::B32
}

/// Puts numbers for the truth values that are known where they are read.
pub fn decide(func: &mut Func) -> bool {
    let mut known = Known::default();
    let mut changed = false;
    for (region, owner, depth) in func.regions_in_order() {
        known.leave(depth);
        if let Some(owner) = owner {
            enter(func, &mut known, owner, region, depth);
        }
        // Nothing is known outside of conditions.
        if known.undo.is_empty() {
            continue;
        }
        for inst in std::mem::take(&mut func.regions[region].insts) {
            for at in 0..func.insts[inst].args.len() {
                let value = func.insts[inst].args[at];
                if func.ty(value) != Type::B1 || func.as_const(value).is_some() {
                    continue;
                }
                if let Some(holds) = known.truth(func, value, DEPTH) {
                    let mut b = Builder::at(func, region);
                    b.span = b.func.insts[inst].span;
                    let number = b.bool(holds);
                    func.insts[inst].args[at] = number;
                    changed = true;
                }
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// What an arm of a condition knows.
fn enter(func: &Func, known: &mut Known, owner: Inst, region: Region, depth: u32) {
    let data = &func.insts[owner];
    if data.op == Op::If {
        let holds = data.regions.first() == Some(&region);
        known.learn(func, depth, data.args[0], holds, DEPTH);
    }
}

#[cfg(test)]
mod tests {
    use super::decide;
    use gpucc_ir::ssa::{Func, Op, parse};

    /// The function whose arm where a condition holds, within one where `outer` holds, chooses by `asked`, behind the pass.
    fn decided(outer: &str, inner: &str, asked: &str) -> Option<u64> {
        let text = format!(
            "func \"one\" fragment {{
              in0 = \"v\" u32 x 4 location 0 flat center
              out0 = \"\" u32 x 4 location 0 flat
            }} body {{
              %1: b32 = input in0.0
              %2: b32 = const 2
              %3: b32 = const 0
              %4: b32 = const 5
              %10: b1 = {outer}
              %20: b32 = if %10 {{
                %11: b1 = {inner}
                %21: b32 = if %11 {{
                  yield %3
                }} else {{
                  %12: b1 = {asked}
                  %13: b32 = select %12, %2, %4
                  yield %13
                }}
                yield %21
              }} else {{
                yield %4
              }}
              output out0.0, %20
              yield
            }}"
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut func = module.funcs.into_iter().next().expect("one function");
        let changed = decide(&mut func);
        let choice = |func: &Func| {
            let mut insts = func.insts.values().filter(|data| data.op == Op::Select);
            insts.next().and_then(|data| func.as_const(data.args[0]))
        };
        assert_eq!(choice(&func).is_some(), changed);
        choice(&func)
    }

    #[test]
    fn what_conditions_around_a_choice_leave_decides_it() {
        // 0 or 1, and not 0.
        let one = |asked| decided("ult %1, %2", "ieq %1, %3", asked);
        assert_eq!(one("ieq %1, %2"), Some(0));
        assert_eq!(one("slt %3, %1"), Some(1));
        assert_eq!(one("ine %1, %3"), Some(1));
        assert_eq!(one("ule %1, %3"), Some(0));
        // -2^31 to 4, and not 0.
        let signed = |asked| decided("slt %1, %4", "ieq %1, %3", asked);
        assert_eq!(signed("slt %4, %1"), Some(0));
        assert_eq!(signed("ult %1, %4"), None, "negative numbers are large");
        assert_eq!(signed("ieq %1, %2"), None);
        // 3 to the end, and not below 5 with a sign: 5 to 2^31 - 1, or negative.
        let large = |asked| decided("ult %2, %1", "slt %1, %4", asked);
        assert_eq!(large("ult %1, %4"), Some(0), "what is not less has no sign");
        assert_eq!(large("ieq %1, %4"), None);
    }
}
