//! Statements that branch, loop and leave.

use super::{Generator, Kind};
use crate::ssa::{Access, Builder, Imm, MemData, MemSpace, Op, Region, Type, Value};

impl Generator {
    /// A condition; one in three depends on the invocation.
    fn condition(&mut self, b: &mut Builder<'_>) -> (Value, bool) {
        if self.rng.one_in(3) || self.uniform.is_empty() {
            let value = match (self.id, self.rng.one_in(2)) {
                (Some(id), true) => {
                    let bit = b.u32(1 << self.rng.below(6));
                    let (masked, zero) = (b.op2(Op::And, id, bit), b.u32(0));
                    b.op2(Op::INe, masked, zero)
                }
                _ => self.any(b, Kind::Truth),
            };
            (value, true)
        } else {
            let (x, y) = (self.rng.pick(&self.uniform), self.rng.pick(&self.uniform));
            let op = self.rng.pick(&[Op::ULt, Op::SLe, Op::IEq, Op::INe]);
            (b.op2(op, x, y), false)
        }
    }

    /// Fills a region of its own: values made inside are out of sight afterwards.
    fn region(
        &mut self,
        b: &mut Builder<'_>,
        divergent: bool,
        fill: impl FnOnce(&mut Self, &mut Builder<'_>),
    ) -> Region {
        let sizes: Vec<usize> = self.pools.iter().map(Vec::len).collect();
        let together = self.together;
        self.together = together && !divergent;
        let region = b.in_new_region(|b| fill(self, b));
        self.together = together;
        for (pool, size) in self.pools.iter_mut().zip(sizes) {
            pool.truncate(size);
        }
        region
    }

    pub(super) fn construct(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        match self.rng.below(6) {
            0..=2 => self.if_(b, budget, depth),
            3 | 4 if self.rng.one_in(8) => self.endless(b, budget, depth),
            3 | 4 if self.rng.one_in(12) => self.stuck(b, budget, depth),
            3 | 4 => self.loop_(b, budget, depth),
            _ => self.block(b, budget, depth),
        }
    }

    /// What a construct carries: integers, of 64 bits now and then.
    fn carried(&mut self) -> Kind {
        match (self.config.allow)(Op::Join64) && self.rng.one_in(4) {
            true => Kind::Long,
            false => Kind::Int,
        }
    }

    fn if_(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let (condition, divergent) = self.condition(b);
        let kinds = [self.carried(), Kind::Float];
        let mut regions = Vec::new();
        for _ in 0..2 {
            let region = self.region(b, divergent, |g, b| {
                g.statements(b, budget / 2, depth + 1);
                g.leave_or(b, |g, b| {
                    let values = kinds.map(|kind| g.any(b, kind));
                    b.end(Op::Yield, &values);
                });
            });
            regions.push(region);
        }
        let types = kinds.map(Kind::ty);
        let inst = b.inst(Op::If, Imm::None, &[condition], &regions, &types);
        for (index, kind) in kinds.into_iter().enumerate() {
            let value = b.func.insts[inst].results[index];
            self.add(kind, value);
        }
    }

    /// Ends a region by a jump now and then, where one is possible, else as told. In divergent code
    /// a jump makes what follows the construct divergent too, so it is only taken where nothing
    /// below needs all invocations together.
    fn leave_or(&mut self, b: &mut Builder<'_>, end: impl FnOnce(&mut Self, &mut Builder<'_>)) {
        if !self.together && self.rng.one_in(5) {
            let label = self.labels.last().copied();
            match label {
                Some((label, kind)) if self.rng.one_in(2) => {
                    let value = self.any(b, kind);
                    b.exit(label, &[value]);
                    return;
                }
                _ if let Some(kind) = self.in_loop => {
                    let value = self.any(b, kind);
                    let op = self.rng.pick(&[Op::Break, Op::Continue]);
                    b.end(op, &[value]);
                    return;
                }
                _ => {}
            }
        }
        end(self, b);
    }

    /// A loop of at most four trips: the counter is a variable of the loop that nothing else sees.
    fn loop_(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let (limit, divergent) = match self.rng.below(3) {
            0 => {
                let any = self.any(b, Kind::Int);
                let (three, one) = (b.u32(3), b.u32(1));
                let few = b.op2(Op::And, any, three);
                (b.op2(Op::IAdd, few, one), true)
            }
            _ => (b.u32(1 + self.rng.below(4) as u32), false),
        };
        let mut variable = |name: &str| {
            b.func.mems.push(MemData {
                name: name.into(),
                size: 4,
                space: MemSpace::Private,
                words: Vec::new(),
            })
        };
        let (counter, round) = (variable("counter"), variable("round"));
        let access = Access { mem: counter, lo: 0, hi: 4 };
        let zero = b.u32(0);
        b.mem_store(access, zero, &[zero]);
        let kind = self.carried();
        let init = self.any(b, kind);
        // A jump out of the body under a divergent condition makes the loop divergent as a whole.
        let jumps = self.rng.one_in(2);
        let inst = b.inst(Op::Loop, Imm::None, &[init], &[], &[kind.ty()]);
        let outer = std::mem::replace(&mut self.in_loop, jumps.then_some(kind));
        let labels = std::mem::take(&mut self.labels);
        if jumps {
            self.labels.clone_from(&labels);
        }
        self.rounds.push(round);
        let body = self.region(b, divergent || jumps, |g, b| {
            let region = b.region;
            let param = b.func.add_param(region, kind.ty());
            g.add(kind, param);
            let zero = b.u32(0);
            let access = Access { mem: round, lo: 0, hi: 4 };
            let value = b.mem_load(access, zero, &[Type::B32])[0];
            g.add(Kind::Int, value);
            g.statements(b, budget, depth + 1);
            if !b.ended() {
                let value = g.any(b, kind);
                b.end(Op::Continue, &[value]);
            }
        });
        self.rounds.pop();
        self.in_loop = outer;
        self.labels.clear();
        let with_break_if = self.rng.one_in(2);
        let in_continuing = self.in_loop.take();
        let continuing = self.region(b, divergent || jumps, |g, b| {
            let region = b.region;
            let param = b.func.add_param(region, kind.ty());
            g.add(kind, param);
            for _ in 0..g.rng.below(3) {
                g.compute(b);
            }
            // One in four holds constructs of its own, loops among them.
            if g.rng.one_in(4) {
                g.statements(b, budget / 2, depth + 1);
            }
            let (zero, one) = (b.u32(0), b.u32(1));
            let count = b.mem_load(access, zero, &[Type::B32])[0];
            let next = b.op2(Op::IAdd, count, one);
            b.mem_store(access, zero, &[next]);
            let done = b.op2(Op::ULe, limit, next);
            let value = g.any(b, kind);
            if with_break_if {
                b.end(Op::BreakIf, &[done, param, value]);
            } else {
                b.end(Op::Next, &[value]);
            }
        });
        self.in_loop = in_continuing;
        self.labels = labels;
        b.func.insts[inst].regions.extend([body, continuing]);
        if !with_break_if {
            self.guard_head(b, body, access, limit);
        }
        let value = b.func.insts[inst].results[0];
        self.add(kind, value);
    }

    /// Puts `if counter >= limit { break }` at the head of a loop's body.
    fn guard_head(&mut self, b: &mut Builder<'_>, body: Region, access: Access, limit: Value) {
        let rest = std::mem::take(&mut b.func.regions[body].insts);
        let outer = std::mem::replace(&mut b.region, body);
        let param = b.func.regions[body].params[0];
        let zero = b.u32(0);
        let count = b.mem_load(access, zero, &[Type::B32])[0];
        let done = b.op2(Op::ULe, limit, count);
        b.if_else(
            done,
            &[],
            |b| {
                b.end(Op::Break, &[param]);
                vec![]
            },
            |_| vec![],
        );
        b.func.regions[body].insts.extend(rest);
        b.region = outer;
    }

    /// A block around a loop that only `exit` leaves, so that nothing behind it is reached.
    fn endless(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let any = self.any(b, Kind::Int);
        let (three, zero, one) = (b.u32(3), b.u32(0), b.u32(1));
        let limit = b.op2(Op::And, any, three);
        let kind = self.carried();
        let block = b.inst(Op::Block, Imm::None, &[], &[], &[kind.ty()]);
        let (in_loop, labels) = (self.in_loop.take(), std::mem::take(&mut self.labels));
        let region = self.region(b, true, |g, b| {
            let inst = b.inst(Op::Loop, Imm::None, &[zero], &[], &[]);
            let body = g.region(b, true, |g, b| {
                let region = b.region;
                let trip = b.func.add_param(region, Type::B32);
                g.add(Kind::Int, trip);
                g.statements(b, budget, depth + 2);
                let done = b.op2(Op::ULe, limit, trip);
                b.if_else(
                    done,
                    &[],
                    |b| {
                        let value = g.any(b, kind);
                        b.exit(block, &[value]);
                        vec![]
                    },
                    |_| vec![],
                );
                b.end(Op::Continue, &[trip]);
            });
            let continuing = g.region(b, true, |_, b| {
                let region = b.region;
                let trip = b.func.add_param(region, Type::B32);
                let next = b.op2(Op::IAdd, trip, one);
                b.end(Op::Next, &[next]);
            });
            b.func.insts[inst].regions.extend([body, continuing]);
            b.end(Op::Unreachable, &[]);
        });
        (self.in_loop, self.labels) = (in_loop, labels);
        b.func.insts[block].regions.push(region);
        let value = b.func.insts[block].results[0];
        self.add(kind, value);
    }

    /// A loop that is left on its first trip, which nothing but the input tells, for its `continuing` never ends or
    /// has an arm that never ends.
    fn stuck(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let any = self.any(b, Kind::Int);
        let (zero, one) = (b.u32(0), b.u32(1));
        let odd = b.op2(Op::Or, any, one);
        let leaves = b.op2(Op::INe, odd, zero);
        let kind = self.carried();
        let init = self.any(b, kind);
        let inst = b.inst(Op::Loop, Imm::None, &[init], &[], &[kind.ty()]);
        let (in_loop, labels) = (self.in_loop.take(), std::mem::take(&mut self.labels));
        let body = self.region(b, true, |g, b| {
            let region = b.region;
            let param = b.func.add_param(region, kind.ty());
            g.add(kind, param);
            g.statements(b, budget / 2, depth + 1);
            let value = g.any(b, kind);
            b.if_else(
                leaves,
                &[],
                |b| {
                    b.end(Op::Break, &[value]);
                    vec![]
                },
                |_| vec![],
            );
            let value = g.any(b, kind);
            b.end(Op::Continue, &[value]);
        });
        let continuing = self.region(b, true, |g, b| {
            let region = b.region;
            let param = b.func.add_param(region, kind.ty());
            g.add(kind, param);
            g.compute(b);
            if g.rng.one_in(2) {
                g.forever(b);
                return;
            }
            let region = g.region(b, true, Self::forever);
            let other = g.region(b, true, |_, b| {
                b.end(Op::Yield, &[]);
            });
            b.inst(Op::If, Imm::None, &[leaves], &[region, other], &[]);
            let value = g.any(b, kind);
            b.end(Op::Next, &[value]);
        });
        (self.in_loop, self.labels) = (in_loop, labels);
        b.func.insts[inst].regions.extend([body, continuing]);
        let value = b.func.insts[inst].results[0];
        self.add(kind, value);
    }

    /// Ends a region by a loop that nothing leaves.
    fn forever(&mut self, b: &mut Builder<'_>) {
        let start = self.any(b, Kind::Int);
        let inst = b.inst(Op::Loop, Imm::None, &[start], &[], &[]);
        let body = self.region(b, true, |g, b| {
            let region = b.region;
            let trip = b.func.add_param(region, Type::B32);
            g.add(Kind::Int, trip);
            g.compute(b);
            let value = g.any(b, Kind::Int);
            b.end(Op::Continue, &[value]);
        });
        let continuing = self.region(b, true, |_, b| {
            let region = b.region;
            let trip = b.func.add_param(region, Type::B32);
            b.end(Op::Next, &[trip]);
        });
        b.func.insts[inst].regions.extend([body, continuing]);
        b.end(Op::Unreachable, &[]);
    }

    fn block(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let kind = self.carried();
        let inst = b.inst(Op::Block, Imm::None, &[], &[], &[kind.ty()]);
        self.labels.push((inst, kind));
        // Exits may be divergent, so nothing inside may need all invocations.
        let region = self.region(b, true, |g, b| {
            g.statements(b, budget, depth + 1);
            if !b.ended() {
                let value = g.any(b, kind);
                b.end(Op::Yield, &[value]);
            }
        });
        self.labels.pop();
        b.func.insts[inst].regions.push(region);
        let value = b.func.insts[inst].results[0];
        self.add(kind, value);
    }
}
