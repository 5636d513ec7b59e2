//! What is computed from a choice between constants is a choice between results, or one of them.

use super::Rewrite;
use gpucc_ir::ssa::{Func, InstData, Numerics, Op, Type, Value, eval_inst};
use smallvec::SmallVec;

/// Choices within choices that are followed.
const DEPTH: u32 = 4;

/// What the op gives for every constant that its operand may be.
#[derive(Copy, Clone)]
enum Found {
    Bits(u64),
    /// One thing where the condition holds, another where it does not.
    Choice(Value, u64, u64),
}

struct Follow<'a> {
    func: &'a Func,
    data: &'a InstData,
    model: &'a Numerics,
    /// The operand that is no constant.
    open: Value,
    /// Conditions that decide where we are.
    facts: SmallVec<[(Value, bool); 4]>,
}

/// An op whose only operand that is no constant chooses between constants.
pub(super) fn rewrite(
    func: &Func,
    data: &InstData,
    result: Value,
    model: &Numerics,
) -> Option<Rewrite> {
    let open = |value: &&Value| func.as_const(**value).is_none();
    let &first = data.args.iter().find(open)?;
    let _ = choice(func, first)?;
    if data.args.iter().filter(open).any(|&arg| arg != first) {
        return None;
    }
    let mut follow = Follow { func, data, model, open: first, facts: SmallVec::new() };
    let truth = func.ty(result) == Type::B1;
    match follow.found(first, DEPTH)? {
        Found::Bits(bits) => Some(Rewrite::Bits(bits)),
        Found::Choice(cond, 1, 0) if truth => Some(Rewrite::Value(cond)),
        Found::Choice(cond, ..) if truth => Rewrite::op(Op::Not, &[cond]),
        Found::Choice(cond, yes, no) => Some(Rewrite::Choice(cond, yes, no)),
    }
}

/// Condition and arms of a choice; a truth made a number chooses between 1 and 0.
fn choice(func: &Func, value: Value) -> Option<(Value, [Result<Value, u64>; 2])> {
    let data = func.def(value)?;
    match data.op {
        Op::Select => Some((data.args[0], [Ok(data.args[1]), Ok(data.args[2])])),
        Op::UConvert if func.ty(data.args[0]) == Type::B1 => Some((data.args[0], [Err(1), Err(0)])),
        _ => None,
    }
}

impl Follow<'_> {
    fn found(&mut self, value: Value, depth: u32) -> Option<Found> {
        if let Some(bits) = self.func.as_const(value) {
            return self.computed(bits);
        }
        let (cond, arms) = choice(self.func, value).filter(|_| depth > 0)?;
        let known = self.facts.iter().find(|fact| fact.0 == cond);
        if let Some(&(_, holds)) = known {
            return self.arm(arms[usize::from(!holds)], depth);
        }
        let mut of = [None; 2];
        for (index, arm) in arms.into_iter().enumerate() {
            self.facts.push((cond, index == 0));
            of[index] = self.arm(arm, depth);
            self.facts.pop();
            of[index]?;
        }
        match of {
            [Some(Found::Bits(yes)), Some(Found::Bits(no))] if yes == no => Some(Found::Bits(yes)),
            [Some(Found::Bits(yes)), Some(Found::Bits(no))] => Some(Found::Choice(cond, yes, no)),
            _ => None,
        }
    }

    fn arm(&mut self, arm: Result<Value, u64>, depth: u32) -> Option<Found> {
        match arm {
            Ok(value) => self.found(value, depth - 1),
            Err(bits) => self.computed(bits),
        }
    }

    fn computed(&self, bits: u64) -> Option<Found> {
        let args = self.data.args.iter().map(|&arg| match arg == self.open {
            true => Some(bits),
            false => self.func.as_const(arg),
        });
        let args: Option<SmallVec<[u64; 8]>> = args.collect();
        eval_inst(self.func, self.data, &args?, self.model).map(Found::Bits)
    }
}
