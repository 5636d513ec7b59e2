//! Structurisation of early exits: predication by guards.
//!
//! Early leaving becomes guarded code: a mask-stack machine then sees only `if`, `loop` and `break`.
//!
//! Does nothing on machines with branches ([`crate::TargetInfo::has_branches`]). Otherwise, after it:
//! - there is no `exit` and no `block`;
//! - `break` may end any region inside the body of its loop, nested in any number of `if`s;
//! - and unless the machine runs `continuing` itself ([`crate::TargetInfo::has_continue`]):
//!   `continue` stands only at the very end of a loop's body; `continuing` holds nothing but `next`
//!   (of its own parameters; later passes may put values from outside the loop there); there is no `break_if`, what it decided is an `if` around a
//!   `break` just before the `continue`. The `continuing` of a body that never comes round is
//!   `next` too, and never reached.
//!
//! How: what follows an `if` of which one arm leaves moves into the other arm (no flag is needed), and there behind the
//! innermost code that goes on.
//! Where both arms may fall through, the `if` also yields one flag per place that it may be bound
//! for, with the values to take there, and what follows is guarded. Leaving through a loop is a
//! `break` that carries flag and values as additional results. A block with many exits becomes a
//! loop of one trip that they `break`, so that guards never nest without bound.

mod loops;
mod prepare;
mod write;

use crate::{ctx::Ctx, rename::Renames, shape::Shape};
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::ssa::{Func, Imm, Inst, Op, Region, Span, Type, Value};
use prepare::prepare;
use smallvec::SmallVec;
use write::{ends, plain, terminator};

/// A block with more exits than this becomes a loop of one trip.
const MAX_GUARDS: u32 = 16;

/// Removes `exit`s and `block`s, and `continue`s where the target wants that.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    if ctx.target.has_branches() {
        return false;
    }
    ctx.guarded = true;
    let keep_continue = ctx.target.has_continue();
    if !needed(func, keep_continue) {
        return false;
    }
    let (shape, one_trip) = prepare(func, keep_continue);
    ctx.steps += shape.count;
    let mut guards = Guards {
        shape,
        one_trip,
        keep_continue,
        crossing: SecondaryMap::new(),
        base: SecondaryMap::new(),
        loops: Vec::new(),
        renames: Renames::new(),
        zeros: [None; 4],
        truth: None,
        prologue: Vec::new(),
    };
    guards.find_crossing(func);
    let insts = std::mem::take(&mut func.regions[func.body].insts);
    let mut out = Vec::with_capacity(insts.len());
    let ending = guards.seq(func, Code::of(&insts), &mut out);
    if let [end] = &ending[..] {
        let inst = terminator(func, Op::Yield, Imm::None, &end.values);
        out.push(inst);
    }
    let mut body = std::mem::take(&mut guards.prologue);
    body.append(&mut out);
    func.regions[func.body].insts = body;
    true
}

fn needed(func: &Func, keep_continue: bool) -> bool {
    func.any_inst(|data| match data.op {
        Op::Exit | Op::Block => true,
        Op::Loop => !keep_continue,
        _ => false,
    })
}

/// Where control may go.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Target {
    /// The end of an `if` or `block`.
    After(Inst),
    /// The end of a loop (or a block that becomes one).
    Break(Inst),
    /// The loop's `continuing`.
    Continue(Inst),
    /// The loop's next trip; only ever the one way out of `continuing`.
    Next,
    /// The same with a condition.
    BreakIf,
    /// The end of the function.
    End,
}

impl Target {
    fn construct(self) -> Option<Inst> {
        match self {
            Target::After(inst) | Target::Break(inst) | Target::Continue(inst) => Some(inst),
            Target::Next | Target::BreakIf | Target::End => None,
        }
    }
}

/// One way out of a piece of code.
#[derive(Clone, Debug)]
struct Outcome {
    target: Target,
    /// True when this way is taken; none when it is the only one.
    flag: Option<Value>,
    /// What is carried there.
    values: SmallVec<[Value; 4]>,
}

/// The ways out of a piece of code; none when it ends in a terminator of its own.
type Ending = SmallVec<[Outcome; 2]>;

/// Instructions up to a terminator, and what follows there.
#[derive(Copy, Clone)]
struct Code<'a> {
    insts: &'a [Inst],
    /// The terminator is the `yield` of an arm of this `if`, and what follows the `if` goes on there.
    behind: Option<&'a (Inst, Code<'a>)>,
}

impl<'a> Code<'a> {
    fn of(insts: &'a [Inst]) -> Code<'a> {
        Code { insts, behind: None }
    }

    /// What is left behind so many instructions.
    fn skip(self, count: usize) -> Code<'a> {
        Code { insts: &self.insts[count..], ..self }
    }
}

struct Guards {
    shape: Shape,
    one_trip: EntitySet<Inst>,
    keep_continue: bool,
    /// For each loop: what is left for through it.
    crossing: SecondaryMap<Inst, Vec<Target>>,
    /// Results that a loop had of its own.
    base: SecondaryMap<Inst, usize>,
    /// Loops around the code being written, innermost last.
    loops: Vec<Inst>,
    renames: Renames,
    zeros: [Option<Value>; 4],
    truth: Option<Value>,
    prologue: Vec<Inst>,
}

impl Guards {
    fn is_loop(&self, func: &Func, inst: Inst) -> bool {
        func.insts[inst].op == Op::Loop || self.one_trip.contains(inst)
    }

    /// Where a terminator goes, in terms of the loops that will be.
    fn target(&self, func: &Func, terminator: Inst) -> Option<Target> {
        let target = self.shape.target[terminator].expand();
        let end_of = |inst: Inst| match self.is_loop(func, inst) {
            true => Target::Break(inst),
            false => Target::After(inst),
        };
        match (func.insts[terminator].op, target) {
            (Op::Yield, None) => Some(Target::End),
            (Op::Yield | Op::Exit | Op::Break, Some(inst)) => Some(end_of(inst)),
            (Op::Continue, Some(inst)) => Some(Target::Continue(inst)),
            (Op::Next, _) => Some(Target::Next),
            (Op::BreakIf, _) => Some(Target::BreakIf),
            _ => None,
        }
    }

    fn find_crossing(&mut self, func: &Func) {
        for (region, ..) in func.regions_in_order() {
            let Some(term) = func.terminator(region) else {
                continue;
            };
            let Some(target) = self.target(func, term) else {
                continue;
            };
            let Some(construct) = target.construct() else {
                continue;
            };
            let mut at = self.shape.owner[term].expand();
            while let Some(owner) = at
                && owner != construct
            {
                if self.is_loop(func, owner) && !self.crossing[owner].contains(&target) {
                    self.crossing[owner].push(target);
                }
                at = self.shape.owner[owner].expand();
            }
        }
    }

    fn payload_types(&self, func: &Func, target: Target) -> SmallVec<[Type; 4]> {
        match target {
            Target::After(inst) => {
                func.insts[inst].results.iter().map(|&value| func.ty(value)).collect()
            }
            Target::Break(inst) => func.insts[inst].results[..self.base[inst]]
                .iter()
                .map(|&value| func.ty(value))
                .collect(),
            Target::Continue(inst) => func.regions[func.insts[inst].regions[1]]
                .params
                .iter()
                .map(|&value| func.ty(value))
                .collect(),
            Target::Next | Target::BreakIf | Target::End => SmallVec::new(),
        }
    }

    fn zero(&mut self, func: &mut Func, ty: Type) -> Value {
        if let Some(value) = self.zeros[ty as usize] {
            return value;
        }
        let value = self.constant(func, ty, 0);
        self.zeros[ty as usize] = Some(value);
        value
    }

    fn truth(&mut self, func: &mut Func) -> Value {
        if let Some(value) = self.truth {
            return value;
        }
        let value = self.constant(func, Type::B1, 1);
        self.truth = Some(value);
        value
    }

    fn constant(&mut self, func: &mut Func, ty: Type, bits: u64) -> Value {
        let inst = func.new_inst(plain(Op::Const, Imm::Bits(bits), &[]), &[ty]);
        self.prologue.push(inst);
        func.insts[inst].results[0]
    }

    /// Writes code to `out`, and says where it leads.
    fn seq(&mut self, func: &mut Func, mut code: Code, out: &mut Vec<Inst>) -> Ending {
        while let Some(&inst) = code.insts.first() {
            let rest = code.skip(1);
            self.renames.args(func, inst);
            let op = func.insts[inst].op;
            let mut results: SmallVec<[Value; 4]> = SmallVec::new();
            let (ending, own) = match op {
                Op::If => {
                    let (ending, done) = self.branch(func, inst, rest, out);
                    if done {
                        return ending;
                    }
                    // `join` has already said what stands for the results.
                    (ending, Target::After(inst))
                }
                Op::Block if !self.one_trip.contains(inst) => {
                    let region = func.insts[inst].regions[0];
                    let inner = std::mem::take(&mut func.regions[region].insts);
                    results = func.insts[inst].results.iter().copied().collect();
                    (self.seq(func, Code::of(&inner), out), Target::After(inst))
                }
                Op::Block | Op::Loop => (self.repeat(func, inst, out), Target::Break(inst)),
                _ if op.is_terminator() => match (code.behind, op) {
                    (Some(&(construct, behind)), Op::Yield) => {
                        let results = func.insts[construct].results.clone();
                        let values = func.insts[inst].args.clone();
                        self.take_results(&results, &values);
                        code = behind;
                        continue;
                    }
                    _ => return self.jump(func, inst, out),
                },
                _ => {
                    out.push(inst);
                    code = rest;
                    continue;
                }
            };
            match &ending[..] {
                [Outcome { target, flag: None, values }] if *target == own => {
                    self.take_results(&results, values);
                    code = rest;
                }
                _ => return self.after(func, &results, own, ending, rest, out),
            }
        }
        unreachable!("a region ends in a terminator")
    }

    /// From now on these values stand for the results.
    fn take_results(&mut self, results: &[Value], values: &[Value]) {
        for (&result, &value) in results.iter().zip(values) {
            if result != value {
                self.renames.set(result, value);
            }
        }
    }

    /// Goes on with `rest` where `ending` leads to `own`, the end of the construct with `results`.
    fn after(
        &mut self,
        func: &mut Func,
        results: &[Value],
        own: Target,
        mut ending: Ending,
        rest: Code,
        out: &mut Vec<Inst>,
    ) -> Ending {
        let Some(index) = ending.iter().position(|outcome| outcome.target == own) else {
            if ending.is_empty() && !ends(func, out) {
                let inst = terminator(func, Op::Unreachable, Imm::None, &[]);
                out.push(inst);
            }
            return ending;
        };
        let falls = ending.remove(index);
        self.take_results(results, &falls.values);
        let Some(flag) = falls.flag.filter(|_| !ending.is_empty()) else {
            return self.seq(func, rest, out);
        };
        if let [only] = &mut ending[..] {
            only.flag = None;
        }
        let mut then = Vec::with_capacity(rest.insts.len());
        let through = self.seq(func, rest, &mut then);
        let (yes, no) = (func.new_region(), func.new_region());
        let mut data = plain(Op::If, Imm::None, &[flag]);
        data.regions = [yes, no].into();
        let guard = func.new_inst(data, &[]);
        self.join(func, guard, [(then, through), (Vec::new(), ending)], out)
    }

    /// An `if` with what follows it. The flag says that `rest` is done with.
    ///
    /// Where one arm alone goes on, `rest` follows the innermost code of this arm that goes on: nothing has to remember
    /// that it does.
    fn branch(
        &mut self,
        func: &mut Func,
        inst: Inst,
        rest: Code,
        out: &mut Vec<Inst>,
    ) -> (Ending, bool) {
        let arms = [0, 1].map(|arm| func.insts[inst].regions[arm]);
        let goes_on = arms.map(|arm| {
            let end = func.terminator(arm).expect("a region ends in a terminator");
            func.insts[end].op == Op::Yield
        });
        if goes_on == [true; 2] {
            let arms = arms.map(|arm| self.arm(func, arm, None));
            return (self.join(func, inst, arms, out), false);
        }
        // The arm that does not go on comes first: it says whether it needs what follows to stand aside.
        let first = usize::from(goes_on[0]);
        let leaves = self.arm(func, arms[first], None);
        let done = !leaves.1.is_empty() && goes_on[1 - first];
        let behind = (inst, rest);
        let other = self.arm(func, arms[1 - first], done.then_some(&behind));
        let arms = if first == 0 { [leaves, other] } else { [other, leaves] };
        (self.join(func, inst, arms, out), done)
    }

    /// Writes one arm of an `if`, and what follows it there.
    fn arm(
        &mut self,
        func: &mut Func,
        arm: Region,
        behind: Option<&(Inst, Code)>,
    ) -> (Vec<Inst>, Ending) {
        let insts = std::mem::take(&mut func.regions[arm].insts);
        let mut out = Vec::with_capacity(insts.len());
        let ending = self.seq(func, Code { insts: &insts, behind }, &mut out);
        (out, ending)
    }

    /// Finishes an `if` whose arms are written: its results become flags and values of all ways out.
    fn join(
        &mut self,
        func: &mut Func,
        inst: Inst,
        arms: [(Vec<Inst>, Ending); 2],
        out: &mut Vec<Inst>,
    ) -> Ending {
        let mut all: SmallVec<[(Target, SmallVec<[Type; 4]>); 2]> = SmallVec::new();
        for outcome in arms.iter().flat_map(|(_, ending)| ending) {
            if all.iter().all(|(target, _)| *target != outcome.target) {
                let types = outcome.values.iter().map(|&value| func.ty(value)).collect();
                all.push((outcome.target, types));
            }
        }
        let flags = all.len() > 1;
        let regions = func.insts[inst].regions.clone();
        for ((mut arm, ending), &region) in arms.into_iter().zip(&regions) {
            if !ending.is_empty() {
                let mut values: SmallVec<[Value; 8]> = SmallVec::new();
                if flags {
                    for (target, _) in &all {
                        let found = ending.iter().find(|outcome| outcome.target == *target);
                        values.push(match found {
                            Some(Outcome { flag: Some(flag), .. }) => *flag,
                            Some(_) => self.truth(func),
                            None => self.zero(func, Type::B1),
                        });
                    }
                }
                for (target, types) in &all {
                    match ending.iter().find(|outcome| outcome.target == *target) {
                        Some(outcome) => values.extend(outcome.values.iter().copied()),
                        None => {
                            for &ty in types {
                                let zero = self.zero(func, ty);
                                values.push(zero);
                            }
                        }
                    }
                }
                let end = terminator(func, Op::Yield, Imm::None, &values);
                arm.push(end);
            }
            func.regions[region].insts = arm;
        }
        out.push(inst);
        if let [(target, _)] = &all[..]
            && *target == Target::After(inst)
        {
            let values = func.insts[inst].results.iter().copied().collect();
            return SmallVec::from_iter([Outcome { target: *target, flag: None, values }]);
        }
        // The old results stay in the arena, unused but for the renames that `after` sets.
        let own: SmallVec<[Value; 2]> = std::mem::take(&mut func.insts[inst].results);
        let mut ending = Ending::new();
        for (target, _) in &all {
            let flag = flags.then(|| func.add_result(inst, Type::B1));
            ending.push(Outcome { target: *target, flag, values: SmallVec::new() });
        }
        for (outcome, (_, types)) in ending.iter_mut().zip(&all) {
            outcome.values = types.iter().map(|&ty| func.add_result(inst, ty)).collect();
            if outcome.target == Target::After(inst) {
                for (&result, &value) in own.iter().zip(&outcome.values) {
                    self.renames.set(result, value);
                }
            }
        }
        ending
    }

    /// A terminator.
    fn jump(&mut self, func: &mut Func, inst: Inst, out: &mut Vec<Inst>) -> Ending {
        let values: SmallVec<[Value; 4]> = func.insts[inst].args.iter().copied().collect();
        match self.target(func, inst) {
            Some(target) => self.leave(func, target, values, func.insts[inst].span, out),
            None => {
                out.push(inst);
                Ending::new()
            }
        }
    }

    /// Goes to a target from inside the current loops.
    fn leave(
        &mut self,
        func: &mut Func,
        target: Target,
        values: SmallVec<[Value; 4]>,
        span: Span,
        out: &mut Vec<Inst>,
    ) -> Ending {
        let native = match self.loops.last() {
            Some(&inner) if target == Target::Break(inner) => {
                let args = self.break_args(func, inner, &values, None);
                Some((Op::Break, args))
            }
            Some(&inner) if self.crossing[inner].contains(&target) => {
                let types: SmallVec<[Type; 4]> = func.insts[inner].results[..self.base[inner]]
                    .iter()
                    .map(|&value| func.ty(value))
                    .collect();
                let own: SmallVec<[Value; 4]> =
                    types.into_iter().map(|ty| self.zero(func, ty)).collect();
                let args = self.break_args(func, inner, &own, Some((target, &values)));
                Some((Op::Break, args))
            }
            _ if self.keep_continue && matches!(target, Target::Continue(_)) => {
                Some((Op::Continue, values.iter().copied().collect()))
            }
            _ => None,
        };
        match native {
            Some((op, args)) => {
                let inst = terminator(func, op, Imm::None, &args);
                func.insts[inst].span = span;
                out.push(inst);
                Ending::new()
            }
            None => SmallVec::from_iter([Outcome { target, flag: None, values }]),
        }
    }

    /// The operands of a `break`: the loop's own results, then flag and values of each crossing.
    fn break_args(
        &mut self,
        func: &mut Func,
        inner: Inst,
        own: &[Value],
        crossing: Option<(Target, &[Value])>,
    ) -> SmallVec<[Value; 8]> {
        let mut args: SmallVec<[Value; 8]> = own.iter().copied().collect();
        for index in 0..self.crossing[inner].len() {
            let target = self.crossing[inner][index];
            match crossing {
                Some((to, values)) if to == target => {
                    args.push(self.truth(func));
                    args.extend(values.iter().copied());
                }
                _ => {
                    args.push(self.zero(func, Type::B1));
                    for ty in self.payload_types(func, target) {
                        args.push(self.zero(func, ty));
                    }
                }
            }
        }
        args
    }
}
