//! Hoisting of common code out of branches.
//!
//! What both arms of an `if` compute is computed before it, once: the arms become smaller, and small arms
//! become selects.
//!
//! Only what gives the same before the `if` moves: a load does where its arm has not written to such memory before it. Out of long arms it moves where many operations come to few values: what
//! would have to wait in a register through a long arm is better computed where it is needed.

use crate::{
    ctx::Ctx,
    gvn,
    rename::Renames,
    walk::{Event, walk},
};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Flags, Func, Inst, Op, Region, Type, Value};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that an arm may have.
const ARM: usize = 48;
/// Operations of longer arms for each value that would wait.
const DENSITY: usize = 4;

/// Moves what both arms of an `if` begin with in common, or could.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let mut regions: Vec<Region> = Vec::new();
    walk(func, |event| {
        if let Event::Enter(region) = event {
            regions.push(region);
        }
    });
    let mut renames = Renames::new();
    // Inner regions stand later: backwards, what leaves an inner `if` may leave the outer one too.
    for &region in regions.iter().rev() {
        let has_if = |&inst: &Inst| func.insts[inst].op == Op::If;
        if !func.regions[region].insts.iter().any(has_if) {
            continue;
        }
        let list = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(list.len());
        for inst in list {
            ctx.steps += 1;
            if func.insts[inst].op == Op::If {
                common(func, ctx, &mut renames, inst, &mut out);
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
    renames.apply(func);
    !renames.is_empty()
}

/// A set of operations.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
struct Ops([u64; Op::ALL.len().div_ceil(64)]);

impl Ops {
    fn add(&mut self, op: Op) {
        self.0[op as usize / 64] |= 1 << (op as usize % 64);
    }
    fn has(&self, op: Op) -> bool {
        self.0[op as usize / 64] >> (op as usize % 64) & 1 != 0
    }
    fn and(mut self, other: Ops) -> Ops {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own &= other;
        }
        self
    }
}

fn ops(func: &Func, insts: &[Inst]) -> Ops {
    let mut ops = Ops::default();
    for &inst in insts {
        ops.add(func.insts[inst].op);
    }
    ops
}

/// The instructions of an arm that give the same before it: no load among them stands behind a write.
fn movable(func: &Func, arm: Region) -> SmallVec<[Inst; 16]> {
    let mut written = 0;
    let mut movable = SmallVec::new();
    for &inst in &func.regions[arm].insts {
        let data = &func.insts[inst];
        written |= match data.regions.is_empty() {
            true => gvn::written_by(func, inst),
            false => u8::MAX,
        };
        let reads = gvn::read_by(func, inst).filter(|_| !data.flags().has(Flags::QUAD));
        if data.op != Op::Const && reads.is_some_and(|reads| reads & written == 0) {
            movable.push(inst);
        }
    }
    movable
}

/// What tells an instruction from others.
type Key = (Op, SmallVec<[Value; 4]>, SmallVec<[Type; 1]>);

fn key(func: &Func, mut same: impl FnMut(Value) -> Value, inst: Inst) -> Key {
    let data = &func.insts[inst];
    (
        data.op,
        data.args.iter().map(|&arg| same(arg)).collect(),
        data.results.iter().map(|&value| func.ty(value)).collect(),
    )
}

/// Whether what has been found may wait in registers through arms that are long: many operations that come to few values.
fn gathers(func: &Func, arms: [Region; 2], pairs: &[(Inst, Inst)]) -> bool {
    if pairs.len() < DENSITY {
        return false;
    }
    let moved: BTreeSet<Inst> = pairs.iter().flat_map(|&(first, second)| [first, second]).collect();
    // Results, and whether what stays in the arm reads them; the same for both arms.
    let results = moved.iter().flat_map(|&inst| &func.insts[inst].results);
    let mut waits: BTreeMap<Value, bool> = results.map(|&value| (value, false)).collect();
    let mut todo: SmallVec<[Region; 8]> = SmallVec::from_slice(&arms);
    while let Some(region) = todo.pop() {
        for inst in &func.regions[region].insts {
            if moved.contains(inst) {
                continue;
            }
            let data = &func.insts[*inst];
            todo.extend(data.regions.iter().copied());
            for arg in &data.args {
                if let Some(waits) = waits.get_mut(arg) {
                    *waits = true;
                }
            }
        }
    }
    let waiting = waits.values().filter(|&&waits| waits).count();
    waiting.div_ceil(2) * DENSITY <= pairs.len()
}

/// Moves what both arms of one `if` compute to `out`.
fn common(func: &mut Func, ctx: &mut Ctx, renames: &mut Renames, inst: Inst, out: &mut Vec<Inst>) {
    let [yes, no] = [0, 1].map(|arm| func.insts[inst].regions[arm]);
    let small = |region: Region| func.regions[region].insts.len() <= ARM;
    let small = small(yes) && small(no);
    // Most arms have hardly an operation in common: what only one of them does is not looked at.
    let of_first = movable(func, yes);
    if of_first.is_empty() {
        return;
    }
    let of_second = movable(func, no);
    ctx.steps += of_second.len() as u64;
    let both = ops(func, &of_first).and(ops(func, &of_second));
    if both == Ops::default() {
        return;
    }
    let shared = |inst: &Inst| both.has(func.insts[*inst].op);
    // What the first arm still computes.
    let mut known: BTreeMap<Key, SmallVec<[Inst; 1]>> = BTreeMap::new();
    for inst in of_first.into_iter().filter(shared) {
        known.entry(key(func, |value| renames.get(value), inst)).or_default().push(inst);
    }
    // What is the same in both arms, in order, and which results of the second arm are which of the first.
    let mut pairs: Vec<(Inst, Inst)> = Vec::new();
    let mut same: BTreeMap<Value, Value> = BTreeMap::new();
    let mut taken: BTreeSet<Inst> = BTreeSet::new();
    for second in of_second.into_iter().filter(shared) {
        // Operands that the second arm alone knows are none of the first arm's.
        let of_first = |value| same.get(&value).copied().unwrap_or_else(|| renames.get(value));
        let Some(first) = known.get(&key(func, of_first, second)).and_then(|all| {
            let imm = func.insts[second].imm;
            all.iter().copied().find(|&first| func.insts[first].imm == imm)
        }) else {
            continue;
        };
        if !taken.insert(first) {
            continue;
        }
        let results = func.insts[second].results.iter().copied();
        same.extend(results.zip(func.insts[first].results.iter().copied()));
        pairs.push((first, second));
    }
    if !small && !gathers(func, [yes, no], &pairs) {
        return;
    }
    let mut moved: SecondaryMap<Inst, bool> = SecondaryMap::new();
    let mut any = false;
    for (first, second) in pairs {
        if !ctx.draw() {
            break;
        }
        for index in 0..func.insts[second].results.len() {
            let from = func.insts[second].results[index];
            renames.set(from, func.insts[first].results[index]);
        }
        for inst in [first, second] {
            moved[inst] = true;
        }
        out.push(first);
        any = true;
    }
    if any {
        for arm in [yes, no] {
            func.regions[arm].insts.retain(|&inst| !moved[inst]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ctx, Neutral, Options};
    use gpucc_ir::ssa::{
        Builder, Builtin, Imm, InputData, InputKind, InstData, Numerics, Scalar, Span, Stage,
        verify,
    };

    /// How many operations stand before an `if` whose arms do so many things of their own, and compute the same chain;
    /// every link of the chain is wanted behind the `if` where it is `open`.
    fn hoisted(own: usize, open: bool) -> usize {
        let mut func = Func::new("arms", Stage::Fragment);
        let input = func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::Position),
            components: 4,
            scalar: Scalar::F32,
            name: String::new(),
        });
        let mut b = Builder::at_body(&mut func);
        let x = b.input(input, 0);
        let cond = b.op2(Op::FLt, x, x);
        let body = func.body;
        let arms = [Op::FAdd, Op::FMul].map(|op| {
            let arm = func.new_region();
            let mut b = Builder::at(&mut func, arm);
            let mut value = x;
            for _ in 0..own {
                value = b.op2(op, value, x);
            }
            let mut link = x;
            let mut results = vec![value];
            for _ in 0..8 {
                link = b.op2(Op::FMax, link, x);
                results.push(link);
            }
            if !open {
                results = vec![value, link];
            }
            b.end(Op::Yield, &results);
            (arm, results.len())
        });
        let mut data = InstData::new(Op::If, Imm::None, &[cond], Span::NONE);
        data.regions = [arms[0].0, arms[1].0].into();
        let branch = func.new_inst(data, &vec![Type::B32; arms[0].1]);
        func.regions[body].insts.push(branch);
        Builder::at(&mut func, body).end(Op::Yield, &[]);
        verify(&func).expect("sound");
        let before = func.regions[body].insts.len();
        run(&mut func, &mut Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral));
        verify(&func).expect("still sound");
        func.regions[body].insts.len() - before
    }

    #[test]
    fn long_arms_share_what_comes_to_few_values() {
        assert_eq!(hoisted(4, false), 8);
        assert_eq!(hoisted(ARM, false), 8);
        assert_eq!(hoisted(4, true), 8);
        assert_eq!(hoisted(ARM, true), 0);
    }
}
