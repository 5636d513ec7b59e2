//! The list scheduler: fills groups with the instructions that the critical path wants most, as far
//! as the target's rules admit and the registers last.
//!
//! Time is linear in instructions and dependences times the window: at each step at most
//! [`Tuning::window`] candidates are looked at, each asked at most once per group (admission only
//! shrinks as a group fills).

use super::depend::{Depend, Graph};
use super::model::{Model, Rules};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Block, Func, Inst, Node, VReg};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Taste of the scheduler.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Candidates looked at per step.
    pub window: usize,
    /// Cells of each file, in the order of the target's files, beyond which saving registers goes
    /// before the critical path. Empty: registers are assigned already, do not look.
    pub pressure: Vec<u32>,
    /// Prefer program order among equals (true) or the newest ready instruction (false).
    pub stable: bool,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            window: 16,
            pressure: Vec::new(),
            stable: true,
        }
    }
}

/// One group of instructions that issue together.
#[derive(Clone, Debug)]
pub struct Group<R> {
    /// Position in the order of its first instruction; it ends where the next group begins.
    pub first: u32,
    /// Cycle in which it issues, from 0 at the start of the region. A gap means waiting.
    pub cycle: u32,
    /// The rules' state with the whole group in it.
    pub rules: R,
}

/// The order of one region.
#[derive(Clone, Debug)]
pub struct Schedule<R> {
    /// Node indices of the region, in issue order.
    pub order: Vec<u32>,
    /// The groups that the order falls into.
    pub groups: Vec<Group<R>>,
    /// Lower bound of the length in cycles: the longest dependence path, plus one.
    pub critical: u32,
}

/// A group's rules refuse an instruction even when it is alone: the target must repair it first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck<V> {
    /// The block.
    pub block: Block,
    /// The instruction's index in its block, before scheduling.
    pub index: u32,
    /// The rule it breaks.
    pub violation: V,
}

/// Tracks how many cells of each file are occupied while a region is ordered.
///
/// Registers that are used in one region only die with their last use there. All others count as
/// occupied in every block between their first and their last, which is never optimistic.
#[derive(Clone, Debug, Default)]
pub struct Pressure {
    /// Uses left in the region; `GLOBAL` for registers known in several regions.
    uses: Vec<u32>,
    seen: Vec<bool>,
    /// Cells occupied by registers of several regions, per block of the layout and file.
    base: Vec<u32>,
    files: usize,
    /// Cells occupied now, per file.
    now: Vec<u32>,
    limit: Vec<u32>,
}

const GLOBAL: u32 = u32::MAX;

impl Pressure {
    fn of<I: Inst, M: Model<I>>(func: &Func<I>, model: &M, limit: &[u32]) -> Pressure {
        let files = func.files.0.len();
        let mut this = Pressure {
            files,
            limit: limit.to_vec(),
            now: vec![0; files],
            ..Pressure::default()
        };
        if limit.is_empty() {
            return this;
        }
        let count = func.vregs.len();
        // Region and block of the first and block of the last occurrence.
        let mut home = vec![(u32::MAX, 0u32, 0u32); count];
        this.uses = vec![0; count];
        let mut region = 0u32;
        for (position, &block) in func.layout.iter().enumerate() {
            region += 1;
            for node in &func.blocks[block].nodes {
                let ends = model.ends_region(&node.inst);
                region += u32::from(ends);
                node.inst.operands(&mut |operand| {
                    let Some(v) = operand.reg.as_virt() else {
                        return;
                    };
                    let (first_region, _, last) = &mut home[v.index()];
                    let uses = &mut this.uses[v.index()];
                    if *first_region == u32::MAX {
                        home[v.index()] = (region, position as u32, position as u32);
                    } else {
                        *last = position as u32;
                        if *first_region != region {
                            *uses = GLOBAL;
                        }
                    }
                    if !operand.role.is_def() && *uses != GLOBAL {
                        *uses += 1;
                    }
                });
                region += u32::from(ends);
            }
        }
        let mut change = vec![0i64; (func.layout.len() + 1) * files];
        for (v, data) in func.vregs.iter() {
            let (region, first, last) = home[v.index()];
            if region != u32::MAX && this.uses[v.index()] == GLOBAL {
                let file = data.demand.file.0 as usize;
                change[first as usize * files + file] += i64::from(data.demand.count);
                change[(last as usize + 1) * files + file] -= i64::from(data.demand.count);
            }
        }
        this.base = vec![0; func.layout.len() * files];
        let mut sum = vec![0i64; files];
        for position in 0..func.layout.len() {
            for file in 0..files {
                sum[file] += change[position * files + file];
                this.base[position * files + file] = sum[file] as u32;
            }
        }
        this.seen = vec![false; count];
        this
    }

    fn active(&self) -> bool {
        !self.limit.is_empty()
    }

    fn enter(&mut self, position: usize) {
        if self.active() {
            self.now
                .copy_from_slice(&self.base[position * self.files..(position + 1) * self.files]);
        }
    }

    fn high(&self) -> bool {
        self.active()
            && self
                .now
                .iter()
                .zip(&self.limit)
                .any(|(now, limit)| now > limit)
    }

    /// Cells that issuing the instruction would occupy more, all files together.
    fn change<I: Inst>(&self, func_vregs: &VRegs<'_>, inst: &I) -> i32 {
        let mut change = 0i32;
        let mut ending: smallvec::SmallVec<[(VReg, u32); 8]> = smallvec::SmallVec::new();
        inst.operands(&mut |operand| {
            let Some(v) = operand.reg.as_virt() else {
                return;
            };
            let uses = self.uses[v.index()];
            if uses == GLOBAL {
                return;
            }
            let cells = func_vregs.cells(v);
            if operand.role.is_def() {
                if !self.seen[v.index()] {
                    change += cells;
                }
                return;
            }
            let count = match ending.iter_mut().find(|(other, _)| *other == v) {
                Some((_, count)) => {
                    *count += 1;
                    *count
                }
                None => {
                    ending.push((v, 1));
                    1
                }
            };
            if count == uses {
                change -= cells;
            }
        });
        change
    }

    fn issue<I: Inst>(&mut self, func_vregs: &VRegs<'_>, inst: &I) {
        inst.operands(&mut |operand| {
            let Some(v) = operand.reg.as_virt() else {
                return;
            };
            let file = func_vregs.file(v);
            let uses = &mut self.uses[v.index()];
            if *uses == GLOBAL {
                return;
            }
            let cells = func_vregs.cells(v) as u32;
            if operand.role.is_def() {
                if !self.seen[v.index()] && *uses > 0 {
                    self.seen[v.index()] = true;
                    self.now[file] += cells;
                }
            } else {
                *uses -= 1;
                if *uses == 0 && self.seen[v.index()] {
                    self.now[file] = self.now[file].saturating_sub(cells);
                }
            }
        });
    }
}

/// Demands of registers, apart from the function's blocks.
struct VRegs<'f>(&'f cranelift_entity::PrimaryMap<VReg, gpucc_ir::mach::VRegData>);

impl VRegs<'_> {
    fn cells(&self, v: VReg) -> i32 {
        i32::from(self.0[v].demand.count)
    }
    fn file(&self, v: VReg) -> usize {
        self.0[v].demand.file.0 as usize
    }
}

/// Reusable memory of the scheduler.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    depend: Depend,
    earliest: Vec<u32>,
    waits: Vec<u32>,
    done: Vec<bool>,
    ready: BinaryHeap<(u32, Reverse<u32>)>,
    by_order: BinaryHeap<Reverse<u32>>,
    pending: BinaryHeap<Reverse<(u32, u32)>>,
    window: Vec<Candidate>,
    /// Instructions asked for admission since the scheduler was made: its measure of work.
    pub asked: u64,
}

/// The node of a region that is refused alone, and why.
type Refused<I, M> = (u32, <<M as Model<I>>::Rules as Rules<I>>::Violation);

/// What a candidate is chosen by: affinity, cells saved, height, program order.
type Rank = (u32, i32, u32, Reverse<u32>);

#[derive(Copy, Clone, Debug)]
struct Candidate {
    node: u32,
    /// Number of the group that refused it.
    refused: u32,
}

/// Empty groups in a row after which an instruction that is refused alone counts as stuck: rules
/// may ask for a pause after the group before.
const LONGEST_PAUSE: u32 = 8;

impl Scheduler {
    /// Orders one region: the nodes `range` of a block. Refused: the rules want none of it alone.
    fn region<I: Inst, M: Model<I>>(
        &mut self,
        nodes: &[Node<I>],
        range: Range<usize>,
        vregs: &VRegs<'_>,
        machine: (&M, gpucc_ir::mach::Files),
        tuning: &Tuning,
        pressure: &mut Pressure,
    ) -> Result<Schedule<M::Rules>, Refused<I, M>> {
        let region = &nodes[range.clone()];
        let (model, files) = machine;
        let mut depend = std::mem::take(&mut self.depend);
        let graph = depend.build(nodes, range, vregs.0.len(), files, model);
        let result = self.fill(region, graph, vregs, model, tuning, pressure);
        self.depend = depend;
        result
    }

    fn fill<I: Inst, M: Model<I>>(
        &mut self,
        region: &[Node<I>],
        graph: &Graph,
        vregs: &VRegs<'_>,
        model: &M,
        tuning: &Tuning,
        pressure: &mut Pressure,
    ) -> Result<Schedule<M::Rules>, Refused<I, M>> {
        let count = region.len();
        self.begin(graph);
        let critical = graph
            .height
            .iter()
            .copied()
            .max()
            .map_or(0, |height| height + 1);
        let mut schedule = Schedule {
            order: Vec::with_capacity(count),
            groups: Vec::new(),
            critical,
        };
        let mut rules = model.start();
        let (mut cycle, mut group, mut pause) = (0u32, 1u32, 0u32);
        let mut first = 0u32;
        while schedule.order.len() < count {
            let high = pressure.high();
            self.refill(tuning.window, high);
            let mut choice: Option<(usize, Rank)> = None;
            if !rules.is_full() {
                for (slot, candidate) in self.window.iter().enumerate() {
                    if candidate.refused == group {
                        continue;
                    }
                    let inst = &region[candidate.node as usize].inst;
                    let saved = if high {
                        -pressure.change(vregs, inst)
                    } else {
                        0
                    };
                    let height = if high {
                        0
                    } else {
                        graph.height[candidate.node as usize]
                    };
                    let order = if tuning.stable || high {
                        candidate.node
                    } else {
                        count as u32 - candidate.node
                    };
                    let key = (rules.affinity(inst), saved, height, Reverse(order));
                    if choice.as_ref().is_none_or(|(_, best)| key > *best) {
                        choice = Some((slot, key));
                    }
                }
            }
            if let Some((slot, _)) = choice {
                let node = self.window[slot].node;
                let inst = &region[node as usize].inst;
                self.asked += 1;
                match rules.admit(inst) {
                    Ok(next) => {
                        rules = next;
                        self.window.swap_remove(slot);
                        self.done[node as usize] = true;
                        schedule.order.push(node);
                        if pressure.active() {
                            pressure.issue(vregs, inst);
                        }
                        self.release(graph, node, cycle, tuning.window, pressure.high());
                    }
                    Err(violation) => {
                        self.window[slot].refused = group;
                        let alone = schedule.order.len() as u32 == first;
                        if alone
                            && pause >= LONGEST_PAUSE
                            && self.window.iter().all(|c| c.refused == group)
                        {
                            return Err((node, violation));
                        }
                    }
                }
                continue;
            }
            // Nothing more fits: close the group, or wait.
            let next = rules.next();
            if schedule.order.len() as u32 > first {
                schedule.groups.push(Group {
                    first,
                    cycle,
                    rules,
                });
                first = schedule.order.len() as u32;
                pause = 0;
                cycle += 1;
            } else if self.window.is_empty() {
                let Some(&Reverse((at, _))) = self.pending.peek() else {
                    unreachable!(
                        "a dependence graph has no cycles, so some node is ready or pending"
                    )
                };
                cycle = at.max(cycle + 1);
            } else {
                pause += 1;
                cycle += 1;
            }
            rules = next;
            group += 1;
            while let Some(&Reverse((at, node))) = self.pending.peek() {
                if at > cycle {
                    break;
                }
                self.pending.pop();
                self.make_ready(graph, node, tuning.window, pressure.high());
            }
        }
        if schedule.order.len() as u32 > first {
            schedule.groups.push(Group {
                first,
                cycle,
                rules,
            });
        }
        Ok(schedule)
    }

    fn begin(&mut self, graph: &Graph) {
        let count = graph.len();
        self.earliest.clear();
        self.earliest.resize(count, 0);
        self.waits.clear();
        self.waits.extend_from_slice(&graph.waits_for);
        self.done.clear();
        self.done.resize(count, false);
        self.ready.clear();
        self.by_order.clear();
        self.pending.clear();
        self.window.clear();
        for node in 0..count as u32 {
            if self.waits[node as usize] == 0 {
                self.ready
                    .push((graph.height[node as usize], Reverse(node)));
                self.by_order.push(Reverse(node));
            }
        }
    }

    /// Fills the window from the ready nodes: by critical path, or in program order when registers
    /// are short (the program's own order rarely needs many).
    fn refill(&mut self, size: usize, high: bool) {
        while self.window.len() < size.max(1) {
            let node = if high {
                self.by_order.pop().map(|Reverse(node)| node)
            } else {
                self.ready.pop().map(|(_, Reverse(node))| node)
            };
            // Either queue holds every ready node that is not in the window, besides stale ones.
            let Some(node) = node else { return };
            if !self.done[node as usize]
                && !self.window.iter().any(|candidate| candidate.node == node)
            {
                self.window.push(Candidate { node, refused: 0 });
            }
        }
    }

    fn release(&mut self, graph: &Graph, node: u32, cycle: u32, size: usize, high: bool) {
        for edge in graph.successors(node) {
            let to = edge.to as usize;
            self.earliest[to] = self.earliest[to].max(cycle + edge.latency);
            self.waits[to] -= 1;
            if self.waits[to] == 0 {
                if self.earliest[to] <= cycle {
                    self.make_ready(graph, edge.to, size, high);
                } else {
                    self.pending.push(Reverse((self.earliest[to], edge.to)));
                }
            }
        }
    }

    /// A node whose dependences are met. It displaces the least urgent candidate of a full window.
    fn make_ready(&mut self, graph: &Graph, node: u32, size: usize, high: bool) {
        let height = |node: u32| graph.height[node as usize];
        if self.window.len() < size.max(1) {
            self.window.push(Candidate { node, refused: 0 });
            return;
        }
        let worst = (0..self.window.len())
            .min_by_key(|&slot| {
                (
                    height(self.window[slot].node),
                    Reverse(self.window[slot].node),
                )
            })
            .expect("a full window is not empty");
        let displaced = self.window[worst].node;
        let newcomer = if high || height(node) > height(displaced) {
            self.window[worst] = Candidate { node, refused: 0 };
            displaced
        } else {
            node
        };
        self.ready.push((height(newcomer), Reverse(newcomer)));
        self.by_order.push(Reverse(newcomer));
    }
}

/// Reorders every block of a function, region by region, and hands each block's schedule out:
/// `visit(block, first_node, schedule)` is called once per region in program order, where the
/// region begins at index `first_node` of the block. Instructions that end a region keep their
/// places and belong to no group.
///
/// # Errors
/// When the rules refuse an instruction that is alone: the target repairs it (a move, a split) and
/// calls again. The function is unchanged in the block of the error and behind it.
pub fn reorder<I: Inst, M: Model<I>>(
    func: &mut Func<I>,
    model: &M,
    tuning: &Tuning,
    scheduler: &mut Scheduler,
    mut visit: impl FnMut(Block, u32, Schedule<M::Rules>),
) -> Result<(), Stuck<<M::Rules as Rules<I>>::Violation>> {
    let mut pressure = Pressure::of(func, model, &tuning.pressure);
    let files = func.files;
    let layout = func.layout.clone();
    let mut moved: Vec<Option<Node<I>>> = Vec::new();
    let mut order: Vec<u32> = Vec::new();
    for (position, &block) in layout.iter().enumerate() {
        pressure.enter(position);
        order.clear();
        let nodes = &func.blocks[block].nodes;
        let vregs = VRegs(&func.vregs);
        let mut first = 0;
        while first < nodes.len() {
            let end = nodes[first..]
                .iter()
                .position(|node| model.ends_region(&node.inst));
            let end = end.map_or(nodes.len(), |offset| first + offset);
            if end > first {
                let schedule = scheduler
                    .region(
                        nodes,
                        first..end,
                        &vregs,
                        (model, files),
                        tuning,
                        &mut pressure,
                    )
                    .map_err(|(node, violation)| Stuck {
                        block,
                        index: first as u32 + node,
                        violation,
                    })?;
                order.extend(schedule.order.iter().map(|&k| first as u32 + k));
                visit(block, first as u32, schedule);
            }
            if let Some(node) = nodes.get(end) {
                order.push(end as u32);
                if pressure.active() {
                    pressure.issue(&vregs, &node.inst);
                }
            }
            first = end + 1;
        }
        moved.clear();
        moved.extend(func.blocks[block].nodes.drain(..).map(Some));
        let take = |&k: &u32| {
            moved[k as usize]
                .take()
                .expect("an order names each node once")
        };
        let ordered = order.iter().map(take);
        func.blocks[block].nodes.extend(ordered);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
