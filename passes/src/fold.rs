//! Computes at compile time what can be: constants, and identities that hold to the bit under the
//! target's numeric model.
//!
//! The one evaluation function of each op ([`mod@gpucc_ir::ssa::eval`]) folds constants. An identity that
//! would let a denormal or a NaN's payload through (`x * 1`) is used only where `x` comes out of
//! float arithmetic or goes into nothing else. Inside the arms of an `if` its condition is a
//! constant. One walk in program order; what an identity makes is looked at again at once.

mod choice;
mod float;
mod integer;
mod relaxed;
pub(crate) mod settled;

use crate::{ctx::Ctx, rename::Renames};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Flags, Func, Imm, Inst, InstData, Op, Region, Type, Value, eval_inst, verify};
use smallvec::SmallVec;

/// Folds.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let float_only = float::used_as_floats_only(func, &ctx.numerics);
    ctx.settled.begin(func);
    let mut fold = Fold {
        ctx,
        renames: Renames::new(),
        float_only,
        known: SecondaryMap::new(),
        facts: 0,
        truth: [None; 2],
        demoted: SecondaryMap::new(),
        demotes: Vec::new(),
        prologue: Vec::new(),
        changed: false,
    };
    fold.region(func, func.body);
    let Fold { prologue, changed, .. } = fold;
    func.regions[func.body].insts.splice(0..0, prologue);
    changed
}

/// How often one instruction may be rewritten.
const ROUNDS: u32 = 8;

/// What an instruction turns into.
#[derive(Clone, Debug)]
pub(crate) enum Rewrite {
    /// A value that is there.
    Value(Value),
    /// A constant of the result's type.
    Bits(u64),
    /// Another op on values that are there.
    Op(Op, SmallVec<[Value; 4]>),
    /// Another op whose last operand is a new constant of this type.
    OpBits(Op, SmallVec<[Value; 4]>, Type, u64),
    /// Another op whose first operand is a new constant of this type.
    BitsOp(Op, Type, u64, Value),
    /// `x * a + b` with new constants of 32 bits.
    Line(Value, f32, f32),
    /// `x * a + y` with a new constant of 32 bits in the middle.
    Scaled(Value, u64, Value),
    /// One of two new constants of the result's type, by this condition.
    Choice(Value, u64, u64),
    /// Another op both operands of which are a new instruction's result.
    Twice(Op, Op, SmallVec<[Value; 4]>),
    /// The second value where the first is these bits, else the third.
    Chosen(Value, u64, Value, Value),
    /// Another op of the first value and of a comparison of the second with new bits.
    Truths(Op, Value, Op, Value, u64),
}

impl Rewrite {
    pub(crate) fn op(op: Op, args: &[Value]) -> Option<Rewrite> {
        Some(Rewrite::Op(op, SmallVec::from_slice(args)))
    }
    pub(crate) fn op_bits(op: Op, args: &[Value], ty: Type, bits: u64) -> Option<Rewrite> {
        Some(Rewrite::OpBits(op, SmallVec::from_slice(args), ty, bits & ty.mask()))
    }
}

struct Fold<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    renames: Renames,
    /// Values that only float arithmetic and comparisons read.
    float_only: float::FloatOnly,
    /// Conditions that are decided in the region being walked.
    known: SecondaryMap<Value, Option<bool>>,
    /// How many of them at most: where there are none, nobody asks.
    facts: usize,
    truth: [Option<Value>; 2],
    /// Conditions under which all that are still no helpers have been demoted before.
    demoted: SecondaryMap<Value, bool>,
    /// Those of the regions around.
    demotes: Vec<Value>,
    prologue: Vec<Inst>,
    changed: bool,
}

impl Fold<'_, '_> {
    fn region(&mut self, func: &mut Func, region: Region) {
        let mut insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = self.ctx.spare.take(insts.len());
        let scope = self.demotes.len();
        // What earlier conditions of this region have decided for the rest of it, and what was known.
        let mut decided: SmallVec<[(Value, Option<bool>); 4]> = SmallVec::new();
        self.ctx.steps += insts.len() as u64;
        for inst in insts.drain(..) {
            let op = func.insts[inst].op;
            if op == Op::Const {
                self.ctx.settled.may_apply(func, inst, 0);
                out.push(inst);
                continue;
            }
            self.renames.args(func, inst);
            if self.facts > 0 {
                self.decided(func, inst);
            }
            if op.flags().has(Flags::REGIONS) {
                if self.demotes_again(func, inst) {
                    continue;
                }
                let regions = func.insts[inst].regions.clone();
                let cond = (func.insts[inst].op == Op::If).then(|| func.insts[inst].args[0]);
                // The condition, and what it is the opposite of.
                let opposite = cond.and_then(|cond| {
                    let data = func.def(cond).filter(|data| data.op == Op::Not)?;
                    Some(data.args[0])
                });
                for (index, inner) in regions.into_iter().enumerate() {
                    let facts = [(cond, index == 0), (opposite, index != 0)];
                    let before = facts.map(|(value, holds)| {
                        value.map(|value| (value, self.known[value].replace(holds)))
                    });
                    let known = before.iter().flatten().count();
                    self.facts += known;
                    self.region(func, inner);
                    self.facts -= known;
                    for (value, old) in before.into_iter().flatten() {
                        self.known[value] = old;
                    }
                }
                if let Some((cond, holds)) = cond.zip(cond.and_then(|_| survivor(func, inst))) {
                    for (value, holds) in [(Some(cond), holds), (opposite, !holds)] {
                        let Some(value) = value else { continue };
                        decided.push((value, self.known[value].replace(holds)));
                        self.facts += 1;
                    }
                }
                out.push(inst);
                continue;
            }
            // What is pure accesses nothing.
            let goes = match op.is_pure() {
                true => self.may_fold(func, inst) && self.gone(func, inst, &mut out),
                false => {
                    self.ctx.settled.pass_by(inst);
                    self.wrong_address(func, inst, &mut out)
                }
            };
            if !goes {
                out.push(inst);
            }
        }
        func.regions[region].insts = out;
        self.ctx.spare.give(insts);
        self.facts -= decided.len();
        for (value, old) in decided.into_iter().rev() {
            self.known[value] = old;
        }
        for cond in self.demotes.drain(scope..) {
            self.demoted[cond] = false;
        }
    }

    /// Nobody is left to demote: the same condition has demoted before.
    fn demotes_again(&mut self, func: &Func, inst: Inst) -> bool {
        let Some(cond) = demotion(func, inst) else {
            return false;
        };
        if !self.demoted[cond] {
            self.demoted[cond] = true;
            self.demotes.push(cond);
            return false;
        }
        let gone = self.ctx.draw();
        self.changed |= gone;
        gone
    }

    /// Replaces operands that the conditions around decide.
    fn decided(&mut self, func: &mut Func, inst: Inst) {
        // Truths alone are known, and few instructions read one that is.
        if func.insts[inst].args.iter().all(|&arg| self.known[arg].is_none()) {
            return;
        }
        for index in 0..func.insts[inst].args.len() {
            let arg = func.insts[inst].args[index];
            if let Some(known) = self.known[arg]
                && self.ctx.draw()
            {
                self.changed = true;
                let prologue = &mut self.prologue;
                let value = *self.truth[usize::from(known)].get_or_insert_with(|| {
                    let data = plain(Op::Const, Imm::Bits(known.into()));
                    let inst = func.new_inst(data, &[Type::B1]);
                    prologue.push(inst);
                    func.insts[inst].results[0]
                });
                func.insts[inst].args[index] = value;
            }
        }
    }

    /// Replaces an access at a constant address that the verifier refuses: only an unreachable access or a wrong program
    /// has one. A load gives zeros, a store does nothing. It takes no fuel, since the constant did.
    fn wrong_address(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) -> bool {
        let data = &func.insts[inst];
        let access = matches!(data.imm, Imm::Mem(_) | Imm::MemAtomic(..));
        if !access || verify::wrong_address(func, data).is_none() {
            return false;
        }
        for result in func.insts[inst].results.clone() {
            let ty = func.ty(result);
            let zero = func.new_inst(plain(Op::Const, Imm::Bits(0)), &[ty]);
            out.push(zero);
            self.renames.set(result, func.insts[zero].results[0]);
        }
        self.changed = true;
        true
    }

    /// Some rule may apply to a pure instruction: it is not as it was when none did.
    fn may_fold(&mut self, func: &Func, inst: Inst) -> bool {
        let clean = match func.insts[inst].results[..] {
            [result] => self.float_only.contains(result),
            _ => false,
        };
        let how = 2 * u64::from(clean) + u64::from(self.ctx.relaxed);
        self.ctx.settled.may_apply(func, inst, how)
    }

    /// Rewrites an instruction; true when nothing of it is left here.
    fn gone(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) -> bool {
        let before = self.ctx.rewrites;
        let gone = self.rewritten(func, inst, out);
        if self.ctx.rewrites > before {
            self.ctx.settled.changed(inst);
        }
        gone
    }

    fn rewritten(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) -> bool {
        for _ in 0..ROUNDS {
            let data = &func.insts[inst];
            if !data.op.is_pure() || data.op == Op::Const {
                return false;
            }
            let [result] = data.results[..] else {
                return false;
            };
            let Some(rewrite) = self.rewrite(func, data, result) else {
                return false;
            };
            if !self.ctx.draw() {
                return false;
            }
            self.changed = true;
            match rewrite {
                Rewrite::Value(value) => {
                    self.renames.set(result, value);
                    return true;
                }
                Rewrite::Bits(bits) => {
                    let bits = bits & func.ty(result).mask();
                    let data = &mut func.insts[inst];
                    data.op = Op::Const;
                    data.imm = Imm::Bits(bits);
                    data.args.clear();
                    return false;
                }
                Rewrite::Op(op, args) => {
                    let data = &mut func.insts[inst];
                    data.op = op;
                    data.args = args;
                }
                Rewrite::OpBits(op, mut args, ty, bits) => {
                    let constant = func.new_inst(plain(Op::Const, Imm::Bits(bits)), &[ty]);
                    out.push(constant);
                    args.push(func.insts[constant].results[0]);
                    let data = &mut func.insts[inst];
                    data.op = op;
                    data.args = args;
                }
                Rewrite::BitsOp(op, ty, bits, arg) => {
                    let bits = bits & ty.mask();
                    let constant = func.new_inst(plain(Op::Const, Imm::Bits(bits)), &[ty]);
                    out.push(constant);
                    let args = SmallVec::from_slice(&[func.insts[constant].results[0], arg]);
                    let data = &mut func.insts[inst];
                    data.op = op;
                    data.args = args;
                }
                Rewrite::Line(x, scale, offset) => {
                    let mut args = SmallVec::from_slice(&[x]);
                    for number in [scale, offset] {
                        let bits = Imm::Bits(number.to_bits().into());
                        let constant = func.new_inst(plain(Op::Const, bits), &[Type::B32]);
                        out.push(constant);
                        args.push(func.insts[constant].results[0]);
                    }
                    let data = &mut func.insts[inst];
                    data.op = Op::FMa;
                    data.args = args;
                }
                Rewrite::Scaled(x, scale, y) => {
                    let scale = func.new_inst(plain(Op::Const, Imm::Bits(scale)), &[Type::B32]);
                    out.push(scale);
                    let scale = func.insts[scale].results[0];
                    let data = &mut func.insts[inst];
                    data.op = Op::FMa;
                    data.args = SmallVec::from_slice(&[x, scale, y]);
                }
                Rewrite::Chosen(key, bits, yes, no) => {
                    let ty = func.ty(key);
                    let constant = func.new_inst(plain(Op::Const, Imm::Bits(bits)), &[ty]);
                    let mut test = plain(Op::IEq, Imm::None);
                    test.args = SmallVec::from_slice(&[key, func.insts[constant].results[0]]);
                    test.span = func.insts[inst].span;
                    let test = func.new_inst(test, &[Type::B1]);
                    out.extend([constant, test]);
                    let cond = func.insts[test].results[0];
                    let data = &mut func.insts[inst];
                    data.op = Op::Select;
                    data.args = SmallVec::from_slice(&[cond, yes, no]);
                }
                Rewrite::Truths(op, truth, compare, number, bits) => {
                    let ty = func.ty(number);
                    let bits = func.new_inst(plain(Op::Const, Imm::Bits(bits)), &[ty]);
                    let mut test = plain(compare, Imm::None);
                    test.args = SmallVec::from_slice(&[number, func.insts[bits].results[0]]);
                    test.span = func.insts[inst].span;
                    let test = func.new_inst(test, &[Type::B1]);
                    out.extend([bits, test]);
                    let test = func.insts[test].results[0];
                    let data = &mut func.insts[inst];
                    data.op = op;
                    data.args = SmallVec::from_slice(&[truth, test]);
                }
                Rewrite::Choice(cond, yes, no) => {
                    let ty = func.ty(result);
                    let mut args = SmallVec::from_slice(&[cond]);
                    for bits in [yes, no] {
                        let imm = Imm::Bits(bits & ty.mask());
                        let constant = func.new_inst(plain(Op::Const, imm), &[ty]);
                        out.push(constant);
                        args.push(func.insts[constant].results[0]);
                    }
                    let data = &mut func.insts[inst];
                    data.op = Op::Select;
                    data.imm = Imm::None;
                    data.args = args;
                }
                Rewrite::Twice(op, inner, args) => {
                    let mut made = plain(inner, Imm::None);
                    made.args = args;
                    made.span = func.insts[inst].span;
                    let ty = func.ty(result);
                    let made = func.new_inst(made, &[ty]);
                    out.push(made);
                    let value = func.insts[made].results[0];
                    let data = &mut func.insts[inst];
                    data.op = op;
                    data.args = SmallVec::from_slice(&[value, value]);
                }
            }
        }
        false
    }

    fn rewrite(&self, func: &Func, data: &InstData, result: Value) -> Option<Rewrite> {
        let model = &self.ctx.numerics;
        if data.op == Op::Index {
            return self.index(func, data);
        }
        if !self.ctx.relaxed && is_plain(func, data) {
            return None;
        }
        let mut bits: SmallVec<[u64; 8]> = SmallVec::new();
        for &arg in &data.args {
            match func.as_const(arg) {
                Some(constant) => bits.push(constant),
                None => break,
            }
        }
        if bits.len() == data.args.len()
            && !bits.is_empty()
            && let Some(value) = eval_inst(func, data, &bits, model)
        {
            return Some(Rewrite::Bits(value));
        }
        if let Some(chosen) = choice::rewrite(func, data, result, model) {
            return Some(chosen);
        }
        integer::rewrite(func, data).or_else(|| {
            let clean = self.float_only.contains(result);
            let relaxed = self.ctx.relaxed;
            float::rewrite(func, data, model, clean)
                .or_else(|| relaxed.then(|| relaxed::rewrite(func, data))?)
        })
    }

    /// A constant index in range is itself; out of range it depends on the robustness option.
    fn index(&self, func: &Func, data: &InstData) -> Option<Rewrite> {
        let (index, length) = (func.as_const(data.args[0])?, func.as_const(data.args[1])?);
        if index < length {
            return Some(Rewrite::Value(data.args[0]));
        }
        match self.ctx.options.robustness {
            // Of no elements none is the last: such an access does not happen.
            crate::Robustness::Restrict if length > 0 => Some(Rewrite::Bits(length - 1)),
            _ => None,
        }
    }
}

/// No exact rule is about such an instruction: several operands, of which the first two differ, and none is a constant or
/// made by an operation that rules look into.
fn is_plain(func: &Func, data: &InstData) -> bool {
    let differ = match data.args[..] {
        [a, b] | [a, b, _] => a != b,
        _ => false,
    };
    let looked_into = |&arg: &Value| {
        func.def(arg).is_some_and(|data| {
            matches!(
                data.op,
                Op::Const
                    | Op::Select
                    | Op::UConvert
                    | Op::FNeg
                    | Op::SMin
                    | Op::SMax
                    | Op::UMin
                    | Op::UMax
                    | Op::And
                    | Op::Or
            )
        })
    };
    differ
        && !matches!(data.op, Op::Select | Op::Join16 | Op::Join64)
        && !data.args.iter().any(looked_into)
}

/// What the condition of an `if` is after it, where exactly one arm comes out.
fn survivor(func: &Func, inst: Inst) -> Option<bool> {
    let comes_out = |arm: usize| {
        let end = func.terminator(func.insts[inst].regions[arm]);
        end.is_some_and(|end| func.insts[end].op == Op::Yield)
    };
    match (comes_out(0), comes_out(1)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// The condition of an `if` that does nothing but demote.
fn demotion(func: &Func, inst: Inst) -> Option<Value> {
    let data = &func.insts[inst];
    if data.op != Op::If || !data.results.is_empty() {
        return None;
    }
    let ends = |region: Region| {
        let list = &func.regions[region].insts;
        let (&end, before) = list.split_last()?;
        (func.insts[end].op == Op::Yield).then_some(before)
    };
    let [yes] = ends(data.regions[0])? else {
        return None;
    };
    let none = ends(data.regions[1])?.is_empty();
    (func.insts[*yes].op == Op::Demote && none).then(|| data.args[0])
}

fn plain(op: Op, imm: Imm) -> InstData {
    InstData::new(op, imm, &[], gpucc_ir::ssa::Span::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::{Neutral, Options};
    use gpucc_ir::ssa::{Numerics, parse};

    /// A rule that [`is_plain`] does not know would never be asked.
    #[test]
    fn plain_instructions_have_no_rule() {
        use gpucc_ir::ssa::random;
        let (mut plain, mut all) = (0, 0);
        for seed in 0..200 {
            let mut func = random::program(seed, &random::Config::COMPUTE);
            let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
            run(&mut func, &mut ctx);
            func.each_inst(|data| {
                all += 1;
                let [result] = data.results[..] else { return };
                if data.op.is_pure() && is_plain(&func, data) {
                    plain += 1;
                    assert!(integer::rewrite(&func, data).is_none(), "{data:?}");
                    assert!(choice::rewrite(&func, data, result, &ctx.numerics).is_none());
                    for clean in [false, true] {
                        let found = float::rewrite(&func, data, &ctx.numerics, clean);
                        assert!(found.is_none(), "{data:?}");
                    }
                }
            });
        }
        assert!(plain > 1000 && all > plain, "{plain} of {all}");
    }

    #[test]
    fn the_second_demotion_by_a_condition_goes_and_is_told() {
        let demotion = "if %1 { demote yield } else { yield }";
        let text = format!(
            "func \"main\" fragment {{ in0 = \"x\" f32 x 1 location 0 perspective center }} body {{\n\
             %0: b32 = input in0.0 %1: b1 = flt %0, %0 {demotion} {demotion} yield }}"
        );
        let mut module = parse(&text).expect("it parses");
        let func = &mut module.funcs[0];
        let before = func.live_insts();
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        assert!(run(func, &mut ctx));
        assert_eq!(func.live_insts(), before - 4);
        assert!(!run(func, &mut ctx));
    }
}
