//! Parameters of a loop that start equal and step equally are one: a vector of four times the same, or
//! two counters.
//!
//! Those that start as the same value are taken as equal until a trip shows otherwise; what each trip
//! gives them is compared under that assumption, and who differs leaves the others.

use crate::{
    ctx::Ctx,
    rename::Renames,
    shape::{Carries, Shape, carried_at},
};
use gpucc_ir::ssa::{Func, Inst, Region, Value, ValueDef};
use smallvec::SmallVec;

/// How far what is computed from parameters is compared.
const DEPTH: u32 = 6;
/// Values that one comparison looks at.
const VISITS: u32 = 64;
/// How often the assumption may be corrected.
const ROUNDS: u32 = 8;

/// Merges the parameters of a loop's body.
pub(super) fn params(
    func: &Func,
    ctx: &mut Ctx,
    shape: &Shape,
    renames: &mut Renames,
    construct: Inst,
) {
    let data = &func.insts[construct];
    let list = &func.regions[data.regions[0]].params;
    let inits: SmallVec<[Value; 8]> = data.args.iter().map(|&arg| renames.get(arg)).collect();
    // The first of those that each is taken to be equal to.
    let first = |index: usize| inits.iter().position(|&init| init == inits[index]);
    let leader: SmallVec<[usize; 8]> =
        (0..list.len()).map(|index| first(index).unwrap_or(index)).collect();
    let mut same = Same {
        func,
        shape,
        renames,
        construct,
        body: data.regions[0],
        continuing: data.regions[1],
        leader,
        visits: 0,
    };
    if !same.settle(ctx) {
        return;
    }
    let leader = same.leader;
    for (index, &leader) in leader.iter().enumerate() {
        if leader != index && ctx.draw() {
            renames.set(list[index], list[leader]);
        }
    }
}

struct Same<'a> {
    func: &'a Func,
    shape: &'a Shape,
    renames: &'a mut Renames,
    construct: Inst,
    body: Region,
    continuing: Region,
    leader: SmallVec<[usize; 8]>,
    visits: u32,
}

impl Same<'_> {
    /// Corrects the assumption until a trip keeps it; false when there is nothing to assume or no end of it.
    fn settle(&mut self, ctx: &mut Ctx) -> bool {
        for _ in 0..ROUNDS {
            if self.leader.iter().enumerate().all(|(at, &to)| at == to) {
                return false;
            }
            let before = self.leader.clone();
            for index in 0..before.len() {
                let old = before[index];
                if old == index || self.step_alike(ctx, index, old) {
                    continue;
                }
                // With another that has left the same one, or alone.
                let other = (old + 1..index).find(|&other| {
                    let left = before[other] == old && self.leader[other] == other;
                    left && self.step_alike(ctx, index, other)
                });
                self.leader[index] = other.unwrap_or(index);
            }
            if self.leader == before {
                return true;
            }
        }
        false
    }

    /// Every trip gives both the same.
    fn step_alike(&mut self, ctx: &mut Ctx, a: usize, b: usize) -> bool {
        self.visits = VISITS;
        let alike = self.given_alike(self.construct, Carries::Params, (a, b), DEPTH);
        ctx.steps += u64::from(VISITS - self.visits);
        alike
    }

    fn given_alike(
        &mut self,
        construct: Inst,
        which: Carries,
        (a, b): (usize, usize),
        depth: u32,
    ) -> bool {
        let (func, shape) = (self.func, self.shape);
        shape.terminators(construct).all(|term| {
            let given = |index| carried_at(func, term, construct, which, index);
            match (given(a), given(b)) {
                (Some(a), Some(b)) => self.alike(a, b, depth),
                _ => true,
            }
        })
    }

    fn alike(&mut self, a: Value, b: Value, depth: u32) -> bool {
        let (a, b) = (self.renames.get(a), self.renames.get(b));
        if a == b {
            return true;
        }
        let func = self.func;
        if func.ty(a) != func.ty(b) || depth == 0 || self.visits == 0 {
            return false;
        }
        self.visits -= 1;
        let depth = depth - 1;
        match (func.values[a].def, func.values[b].def) {
            (ValueDef::Param(x, i), ValueDef::Param(y, j)) if x == y => {
                let (i, j) = (usize::from(i), usize::from(j));
                if x == self.body {
                    return self.leader[i] == self.leader[j];
                }
                x == self.continuing
                    && self.given_alike(self.construct, Carries::Continuing, (i, j), depth)
            }
            (ValueDef::Result(x, i), ValueDef::Result(y, j)) => {
                let (left, right) = (&func.insts[x], &func.insts[y]);
                if !left.regions.is_empty() {
                    let pair = (usize::from(i), usize::from(j));
                    return x == y && self.given_alike(x, Carries::Results, pair, depth);
                }
                left.op == right.op
                    && left.op.is_pure()
                    && left.imm == right.imm
                    && i == j
                    && left.args.len() == right.args.len()
                    && left.args.iter().zip(&right.args).all(|(&a, &b)| self.alike(a, b, depth))
            }
            _ => false,
        }
    }
}
