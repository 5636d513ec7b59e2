//! Choices of truth values as what flags join: a comparison may go on from the flag of the one before it, where a choice needs both
//! in registers.

use super::uses::{Uses, uses};
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

/// Choices within choices that are followed.
const DEPTH: u32 = 8;

/// Makes `and` and `or` of choices between a truth value and a constant, and of comparisons of choices between numbers one of which
/// is constant. A choice between 0 and 1 becomes the opposite truth value as a number, which takes a comparison and a mask.
pub fn join(func: &mut Func) -> bool {
    let uses = uses(func);
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let mut join = Join { func, uses: &uses, out: &mut out, inst };
            if let Some((op, args)) = join.rewritten() {
                let data = &mut func.insts[inst];
                (data.op, data.args, data.imm) = (op, args, Imm::None);
                changed = true;
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
    changed
}

struct Join<'a> {
    func: &'a mut Func,
    uses: &'a Uses,
    out: &'a mut Vec<Inst>,
    /// The instruction that is rewritten.
    inst: Inst,
}

type Rewritten = (Op, SmallVec<[Value; 4]>);

impl Join<'_> {
    fn push(&mut self, op: Op, args: &[Value]) -> Value {
        let span = self.func.insts[self.inst].span;
        let inst = self.func.new_inst(InstData::new(op, Imm::None, args, span), &[Type::B1]);
        self.out.push(inst);
        self.func.insts[inst].results[0]
    }

    /// What the instruction becomes.
    fn rewritten(&mut self) -> Option<Rewritten> {
        let data = self.func.insts[self.inst].clone();
        let &result = data.results.first()?;
        match data.op {
            Op::Select if self.func.ty(result) == Type::B1 => {
                let [cond, yes, no] = data.args[..] else { return None };
                let known = [(yes, true), (no, false)].map(|(value, holds)| {
                    self.func.as_const(value).or_else(|| self.implied(cond, value, holds))
                });
                match known {
                    [None, Some(bits)] => self.joined(cond, yes, bits != 0, false),
                    [Some(bits), None] => self.joined(cond, no, bits != 0, true),
                    _ => None,
                }
            }
            Op::Select if self.func.ty(result) == Type::B32 => {
                let [cond, yes, no] = data.args[..] else { return None };
                let numbers = [yes, no].map(|value| self.func.as_const(value));
                let opposite = (numbers == [Some(0), Some(1)]).then(|| self.opposite(cond))??;
                Some((Op::UConvert, smallvec![opposite]))
            }
            Op::IEq | Op::INe => {
                let [choice, number] = data.args[..] else { return None };
                let number = self.func.as_const(number)?;
                self.compared(data.op, choice, number, DEPTH)
            }
            _ => None,
        }
    }

    /// The opposite of a comparison that nothing else reads, as another comparison. No float is no number.
    fn opposite(&mut self, cond: Value) -> Option<Value> {
        let data = self.func.def(cond).filter(|_| self.uses[cond] == 1)?;
        let (op, exchanged) = data.op.opposite()?;
        let [a, b] = data.args[..] else { return None };
        Some(self.push(op, &if exchanged { [b, a] } else { [a, b] }))
    }

    /// What a comparison is where another of the same operands holds, or does not.
    fn implied(&self, cond: Value, value: Value, holds: bool) -> Option<u64> {
        let (known, asked) = (self.func.def(cond)?, self.func.def(value)?);
        let opposite = match (known.op, asked.op) {
            (Op::IEq, Op::INe) | (Op::INe, Op::IEq) | (Op::FEq, Op::FNe) | (Op::FNe, Op::FEq) => {
                true
            }
            (Op::IEq | Op::INe | Op::FEq | Op::FNe, op) if op == known.op => false,
            _ => return None,
        };
        (known.args == asked.args).then_some(u64::from(holds != opposite))
    }

    /// `open` where the condition holds and a constant elsewhere, or with `first` the other way round.
    fn joined(&mut self, cond: Value, open: Value, other: bool, first: bool) -> Option<Rewritten> {
        // The constant decides where `open` does not: `true` by an `or`, `false` by an `and`.
        let cond = if other == first { cond } else { self.push(Op::Not, &[cond]) };
        let op = if other { Op::Or } else { Op::And };
        Some((op, smallvec![cond, open]))
    }

    /// A comparison of a choice with a number, where one of what is chosen is a number too.
    fn compared(&mut self, op: Op, choice: Value, number: u64, depth: u32) -> Option<Rewritten> {
        let data = self.func.def(choice)?;
        if data.op != Op::Select || self.uses[choice] != 1 || depth == 0 {
            return None;
        }
        let [cond, yes, no] = data.args[..] else { return None };
        if self.func.ty(yes) != Type::B32 {
            return None;
        }
        let holds = |bits: u64| (bits == number) == (op == Op::IEq);
        let (open, bits, first) = match [yes, no].map(|value| self.func.as_const(value)) {
            [None, Some(bits)] => (yes, bits, false),
            [Some(bits), None] => (no, bits, true),
            _ => return None,
        };
        let (op, args) = match self.compared(op, open, number, depth - 1) {
            Some(inner) => inner,
            None => {
                let span = self.func.insts[self.inst].span;
                let inst = self.func.new_constant(Type::B32, number, span);
                self.out.push(inst);
                (op, smallvec![open, self.func.insts[inst].results[0]])
            }
        };
        let open = self.push(op, &args);
        self.joined(cond, open, holds(bits), first)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::join;

    /// A body behind two truth values, once choices are joined.
    fn joined(body: &str) -> String {
        let text = format!(
            "func \"one\" fragment {{
              in0 = \"v\" f32 x 4 location 0 flat center
              out0 = \"\" f32 x 4 location 0 perspective
            }} body {{
              %0: b32 = input in0.0
              %1: b32 = input in0.1
              %2: b1 = flt %0, %1
              %3: b1 = fle %0, %1
              %4: b1 = const 1
              %5: b32 = const 0
              %6: b32 = const 7
              {body}
              %9: b32 = select %8, %0, %1
              output out0.0, %9
              yield
            }}"
        );
        let mut func = parsed(&text);
        join(&mut func);
        func.to_string()
    }

    #[test]
    fn a_choice_of_truths_is_one_of_both() {
        let text = joined("%8: b1 = select %2, %3, %4");
        let has = |text: &str, op: &str| text.matches(&format!("= {op} ")).count();
        assert_eq!(
            (has(&text, "or"), has(&text, "not"), has(&text, "select")),
            (1, 1, 1),
            "{text}"
        );
        let text = joined("%8: b1 = select %2, %4, %3");
        assert_eq!(
            (has(&text, "or"), has(&text, "not"), has(&text, "select")),
            (1, 0, 1),
            "{text}"
        );
    }

    /// `a == b` is true where `a != b` does not hold.
    #[test]
    fn comparisons_of_the_same_operands_decide_each_other() {
        let text = joined(
            "%7: b1 = feq %0, %1
             %10: b1 = fne %0, %1
             %8: b1 = select %10, %3, %7",
        );
        assert_eq!(
            (text.matches("= or ").count(), text.matches("= select ").count()),
            (1, 1),
            "{text}"
        );
    }

    #[test]
    fn comparisons_of_choices_are_joined_within_each_other() {
        let text = joined(
            "%10: b32 = select %2, %6, %0
             %7: b32 = select %3, %10, %5
             %8: b1 = ine %7, %5",
        );
        assert_eq!(text.matches("= and ").count(), 1, "{text}");
        assert_eq!(text.matches("= or ").count(), 1, "{text}");
    }

    /// A comparison writes its truth, and a mask makes a number of it: a choice would take a register with 0.
    #[test]
    fn a_choice_between_0_and_1_is_the_opposite_truth() {
        let text = joined(
            "%10: b32 = const 1
             %7: b32 = select %2, %5, %10
             %8: b1 = ine %7, %6",
        );
        assert_eq!(text.matches(": b1 = fle %1, %0").count(), 1, "{text}");
        assert_eq!(text.matches("= uconvert ").count(), 1, "{text}");
        let shared = joined(
            "%10: b32 = const 1
             %7: b32 = select %2, %5, %10
             %11: b32 = select %2, %7, %0
             %8: b1 = ine %11, %6",
        );
        assert_eq!(shared.matches("= uconvert ").count(), 0, "{shared}");
    }
}
