//! List scheduling of VLIW groups.
//!
//! Before registers are given: puts the ALU work of each run into groups, as the packer will, so that
//! every result gets the channel whose slot it takes, and the order in which registers are given is
//! the order of the groups.
//!
//! A list scheduler by critical path over [`legal::Group::admit`]. Whether a group is legal depends on
//! channels and on which registers are equal, not on their numbers, so that what fits here fits the
//! packer, as long as the allocator can follow the channels wished for.

mod run;

use crate::inst::{Alu, Inst, Source, Src};
use crate::isa::Isa;
use crate::late::Variables;
use crate::legal::{self, TRANS};
use crate::op::{self, Units};
use crate::slot::{Dst, Read, Slot};
use crate::tidy;
use cranelift_entity::{EntityRef, SecondaryMap};
use gpucc_ir::mach::{Func, Inst as _, Node, Phases, Reg, Relation, Role, VReg};
use gpucc_passes::mach::{Depend, Key, Queue};
use run::{Run, chain, with_chains};
use smallvec::SmallVec;

/// Operations that are scheduled together.
const WINDOW: usize = 256;
/// Sums of products from which on their run is also tried with chains in their place.
const MANY_DOTS: usize = 3;
/// Ready operations that a group looks at before it closes.
const LOOKAHEAD: usize = 32;

/// Orders every run of ALU work and wishes a channel for every result.
pub fn run(func: &mut Func<Inst>, isa: &'static Isa, variables: &Variables) {
    let mut scheduler = Scheduler::new(func, isa, variables);
    for block in func.layout.clone() {
        let nodes = std::mem::take(&mut func.blocks[block].nodes);
        let mut out = Vec::with_capacity(nodes.len());
        let mut segment: Vec<Node<Inst>> = Vec::new();
        for node in nodes {
            if moves(&node.inst) {
                segment.push(node);
                if segment.len() == WINDOW {
                    scheduler.segment(&mut segment, &mut out);
                }
            } else {
                scheduler.segment(&mut segment, &mut out);
                scheduler.passed(&node.inst);
                out.push(node);
            }
        }
        scheduler.segment(&mut segment, &mut out);
        func.blocks[block].nodes = out;
    }
    for (vreg, data) in func.vregs.iter_mut() {
        data.prefer = scheduler.chan[vreg].or(data.prefer);
    }
}

/// Registers of one group are told apart by this, nearly always.
fn number(v: VReg) -> u8 {
    (v.index() % 127) as u8
}

/// ALU work that the scheduler may order.
fn moves(inst: &Inst) -> bool {
    match inst {
        Inst::Alu(alu) => !op::is_kill(alu.op),
        Inst::Dot { .. } | Inst::Cube { .. } | Inst::Double(_) | Inst::Copy { .. } => true,
        _ => false,
    }
}

struct Scheduler<'a> {
    isa: &'static Isa,
    variables: &'a Variables,
    /// The channel that each register gets.
    chan: SecondaryMap<VReg, Option<u8>>,
    /// Channels that an operand restricts it to.
    phases: SecondaryMap<VReg, Option<u8>>,
    /// The row that it shares with others.
    row: SecondaryMap<VReg, Option<u32>>,
    /// Channels taken in each row.
    taken: Vec<u8>,
    /// The channel of the next fetch's first result.
    turn: u8,
    /// Copies between registers.
    partner: SecondaryMap<VReg, Option<VReg>>,
    /// Uses that are still to come, and results alive by channel.
    uses: SecondaryMap<VReg, u32>,
    alive: [i32; 4],
    /// What the group before left in PV.x to PV.w and PS.
    left: [Option<VReg>; 5],
    vregs: usize,
    depend: Depend,
}

/// What the slots of a group leave: unit (5 for none that can be read behind it), register, channel.
type Left = SmallVec<[(usize, VReg, u8); 4]>;

impl<'a> Scheduler<'a> {
    fn new(func: &Func<Inst>, isa: &'static Isa, variables: &'a Variables) -> Scheduler<'a> {
        let mut new = Scheduler {
            isa,
            variables,
            chan: SecondaryMap::new(),
            phases: SecondaryMap::new(),
            row: SecondaryMap::new(),
            taken: Vec::new(),
            turn: 0,
            partner: SecondaryMap::new(),
            uses: SecondaryMap::new(),
            alive: [0; 4],
            left: [None; 5],
            vregs: func.vregs.len(),
            depend: Depend::default(),
        };
        for &block in &func.layout {
            for node in &func.blocks[block].nodes {
                new.constraints(&node.inst);
            }
        }
        new
    }

    /// What an instruction asks of the places of its registers.
    fn constraints(&mut self, inst: &Inst) {
        let first = self.taken.len() as u32;
        let mut sets: SmallVec<[u8; 4]> = SmallVec::new();
        inst.operands(&mut |operand| {
            let Some(v) = operand.reg.as_virt() else {
                return;
            };
            if operand.role == Role::Use {
                self.uses[v] += 1;
            }
            if operand.phases != Phases::ANY {
                self.phases[v] = Some(operand.phases.0.trailing_zeros() as u8);
            }
            match operand.relation {
                Relation::SameRow(set) => {
                    let at = sets.iter().position(|&other| other == set);
                    let at = at.unwrap_or_else(|| {
                        sets.push(set);
                        self.taken.push(0);
                        sets.len() - 1
                    });
                    self.row[v].get_or_insert(first + at as u32);
                }
                Relation::Fixed(cell) => self.chan[v] = Some(cell.phase(4)),
                _ => {}
            }
        });
        if let Inst::Copy { dst, src } = inst {
            for (d, s) in dst.iter().zip(src) {
                if let (Some(d), Some(s)) = (d.as_virt(), s.as_virt()) {
                    self.partner[d] = Some(s);
                    self.partner[s] = Some(d);
                }
            }
        }
    }

    /// An instruction that is not ALU work. Results of a fetch come in the order of components, each
    /// fetch one channel further: like components of several fetches are often read together, and a
    /// channel has three read ports.
    fn passed(&mut self, inst: &Inst) {
        self.left = [None; 5];
        let dst = match inst {
            Inst::Vertex(fetch) => &fetch.dst,
            Inst::Texture(fetch) => &fetch.dst,
            Inst::MemRead(read) => &read.dst,
            Inst::ShareRead(read) => &read.dst,
            _ => return,
        };
        for (component, reg) in (self.turn..).zip(dst) {
            if let Some(v) = reg.and_then(Reg::as_virt)
                && self.chan[v].is_none()
            {
                self.take(v, self.phases[v].unwrap_or(component % 4));
            }
        }
        self.turn = (self.turn + 1) % 4;
    }

    fn take(&mut self, v: VReg, chan: u8) {
        self.chan[v] = Some(chan);
        if let Some(row) = self.row[v] {
            self.taken[row as usize] |= 1 << chan;
        }
        self.alive[usize::from(chan)] += 1;
    }

    fn place(&self, v: VReg) -> u8 {
        self.chan[v].or(self.phases[v]).unwrap_or((v.index() % 4) as u8)
    }

    /// Channels for a result, the best first.
    fn channels(&self, v: VReg) -> SmallVec<[u8; 4]> {
        if let Some(chan) = self.chan[v].or(self.phases[v]) {
            return SmallVec::from_slice(&[chan]);
        }
        let taken = self.row[v].map_or(0, |row| self.taken[row as usize]);
        let wish = self.partner[v].and_then(|partner| self.chan[partner]);
        // One number each, the best channel's the least: taken in its row, not wished for, results alive, its own.
        let mut keys: [u64; 4] = std::array::from_fn(|chan| {
            let is_taken = u64::from(taken >> chan & 1);
            let unwished = u64::from(wish.is_some_and(|wish| usize::from(wish) != chan));
            let alive = (i64::from(self.alive[chan]) + (1 << 32)) as u64;
            is_taken << 62 | unwished << 61 | alive << 2 | chan as u64
        });
        for (a, b) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
            (keys[a], keys[b]) = (keys[a].min(keys[b]), keys[a].max(keys[b]));
        }
        // Where a channel is left, none that is taken comes into question.
        let free = keys.iter().filter(|&&key| taken == 0xf || key >> 62 == 0);
        free.map(|key| (key & 3) as u8).collect()
    }

    /// Where a register is read: what is not chosen yet stands where nothing else does.
    fn read(&self, reg: Reg) -> Read {
        let Some(v) = reg.as_virt() else {
            return Read::gpr(127, 0);
        };
        match self.left.iter().position(|&left| left == Some(v)) {
            Some(TRANS) => Read::Ps,
            Some(unit) => Read::Pv(unit as u8),
            None => Read::gpr(number(v), self.place(v)),
        }
    }

    fn slot(&self, alu: &Alu, chan: Option<u8>) -> Slot {
        let dst = chan.map(|chan| self.dst(alu.dst, chan));
        Slot::of(alu, dst, |reg| self.read(reg))
    }

    fn dst(&self, reg: Option<Reg>, chan: u8) -> Dst {
        let v = reg.and_then(Reg::as_virt);
        Dst::gpr(v.map_or(127, number), chan)
    }

    /// The group with an instruction in it, and what each slot leaves.
    fn place_in(
        &self,
        group: &legal::Group,
        inst: &Inst,
        trans: bool,
    ) -> Option<(legal::Group, Left)> {
        let one = |group, unit, v: Option<VReg>, chan| {
            let list = v.map(|v| (unit, v, chan)).into_iter().collect();
            Some((group, list))
        };
        match inst {
            Inst::Alu(alu) => {
                let v = alu.dst.and_then(Reg::as_virt);
                let Some(v) = v else {
                    let slot = self.slot(alu, None);
                    return (0..TRANS)
                        .find_map(|unit| group.admit(unit, &slot).ok())
                        .and_then(|group| one(group, 0, None, 0));
                };
                let units = op::units(group.isa(), alu.op);
                let unit_of = |chan: u8| match units {
                    Units::Trans => TRANS,
                    Units::Any if trans => TRANS,
                    _ => usize::from(chan),
                };
                // In the slot of its channel it would execute there.
                let beside = |chan: u8| {
                    units != Units::Any || !trans || group.slots[usize::from(chan)].is_some()
                };
                let mut channels = self.channels(v);
                channels.retain(|chan| group.slots[unit_of(*chan)].is_none() && beside(*chan));
                if channels.is_empty() {
                    return None;
                }
                let mut slot = self.slot(alu, Some(0));
                for chan in channels {
                    slot.dst = Some(self.dst(alu.dst, chan));
                    let unit = unit_of(chan);
                    if let Ok(next) = group.admit(unit, &slot) {
                        return one(next, unit, Some(v), chan);
                    }
                }
                None
            }
            Inst::Dot { dst, src, clamp } if !trans => {
                let v = dst.as_virt()?;
                let chan = *self.channels(v).first()?;
                let to = self.dst(Some(*dst), chan);
                let slots = Slot::dot(src, to, *clamp, |reg| self.read(reg));
                // The sum stands in PV.x.
                one(group.admit_reduction(&slots).ok()?, 0, Some(v), chan)
            }
            Inst::Double(double) if !trans => {
                let mut list = Left::new();
                let mut to = [None; 2];
                for (chan, reg) in (0u8..).zip(double.dst) {
                    let Some(v) = reg.and_then(Reg::as_virt) else {
                        continue;
                    };
                    to[usize::from(chan)] = Some(self.dst(reg, chan));
                    list.push((usize::from(chan), v, chan));
                }
                let slots = Slot::double(double, to, |reg| self.read(reg));
                Some((group.admit_double(0, &slots).ok()?, list))
            }
            Inst::Cube { dst, src } if !trans => {
                let to = std::array::from_fn(|unit| self.dst(Some(dst[unit]), unit as u8));
                let slots = Slot::cube(src.map(|reg| self.read(reg)), to);
                let results = dst.iter().zip(0u8..);
                let list =
                    results.filter_map(|(reg, chan)| Some((5, reg.as_virt()?, chan))).collect();
                Some((group.admit_reduction(&slots).ok()?, list))
            }
            _ => None,
        }
    }

    /// Orders a run and empties it into `out`: by the critical path, where constants are scarce in other ways too, and
    /// where many sums of products might go faster as chains, also so; the first with the fewest groups is taken.
    fn segment(&mut self, segment: &mut Vec<Node<Inst>>, out: &mut Vec<Node<Inst>>) {
        if segment.is_empty() {
            return;
        }
        let mut run = self.run_of(std::mem::take(segment));
        let mut best = self.attempt(&run, Taste::Height);
        // A group reads two pairs of constants: these may be what the order hangs on.
        if 2 * run.constants > best.groups {
            let better = self.better(&run, &[Taste::Constants, Taste::Pairs], best.groups);
            best = better.unwrap_or(best);
        }
        let dots = run.nodes.iter().filter(|node| chain(&node.inst).is_some());
        if dots.count() >= MANY_DOTS {
            let chains = self.run_of(with_chains(&run.nodes));
            self.count(&chains.nodes, &run.nodes);
            let tastes = [Taste::Height, Taste::Constants, Taste::Pairs];
            match self.better(&chains, &tastes, best.groups) {
                Some(next) => (run, best) = (chains, next),
                None => self.count(&run.nodes, &chains.nodes),
            }
        }
        for &(v, chan) in &best.chans {
            self.take(v, chan);
        }
        for node in &run.nodes {
            self.read_by(&node.inst);
        }
        let mut slots: Vec<Option<Node<Inst>>> = run.nodes.into_iter().map(Some).collect();
        let order = best.order.into_iter();
        out.extend(order.filter_map(|at| slots[at as usize].take()));
    }

    /// The first order with the fewest groups, if that are fewer than `most`.
    fn better(&mut self, run: &Run, tastes: &[Taste], mut most: u32) -> Option<Order> {
        let mut best = None;
        for &taste in tastes {
            if most <= run.least {
                break;
            }
            let next = self.attempt(run, taste);
            if next.groups < most {
                most = next.groups;
                best = Some(next);
            }
        }
        best
    }

    fn run_of(&mut self, nodes: Vec<Node<Inst>>) -> Run {
        Run::of(nodes, self.vregs, &mut self.depend, self.variables, self.isa)
    }

    /// Uses are those of some nodes instead of others.
    fn count(&mut self, now: &[Node<Inst>], before: &[Node<Inst>]) {
        for node in now {
            tidy::each_use(&node.inst, |v| self.uses[v] += 1);
        }
        for node in before {
            tidy::each_use(&node.inst, |v| self.uses[v] -= 1);
        }
    }

    /// Registers that an instruction reads for the last time are no longer alive.
    fn read_by(&mut self, inst: &Inst) {
        tidy::each_use(inst, |v| {
            self.uses[v] = self.uses[v].saturating_sub(1);
            if self.uses[v] == 0
                && let Some(chan) = self.chan[v]
            {
                self.alive[usize::from(chan)] -= 1;
            }
        });
    }

    /// Tries one way to order a run, and leaves no trace.
    fn attempt(&mut self, run: &Run, taste: Taste) -> Order {
        let n = run.nodes.len();
        let alive = self.alive;
        self.left = [None; 5];
        let graph = &run.graph;
        let mut queue = match taste {
            Taste::Pairs => Queue::of(graph, &run.pairs_first()),
            _ => Queue::of(graph, &graph.height),
        };
        let mut order =
            Order { order: Vec::with_capacity(n), chans: Vec::with_capacity(n), groups: 0 };
        while order.order.len() < n {
            queue.wake();
            let before = order.order.len();
            self.group(run, taste, &mut queue, &mut order);
            if order.order.len() == before
                && let Some(key) = queue.next(None)
            {
                // What no group takes as it stands is emission's to break up.
                self.left = [None; 5];
                let at = key.1 as usize;
                run.nodes[at].inst.operands(&mut |operand| {
                    if let Some(v) = operand.reg.as_virt()
                        && operand.role.is_def()
                        && self.chan[v].is_none()
                    {
                        let chan = self.channels(v).first().copied().unwrap_or(0);
                        self.take(v, chan);
                        order.chans.push((v, chan));
                    }
                });
                order.order.push(key.1);
                queue.take(graph, key);
            }
            queue.now += 1;
        }
        order.groups = queue.now;
        for node in &run.nodes {
            tidy::each_use(&node.inst, |v| self.uses[v] += 1);
        }
        for &(v, chan) in &order.chans {
            self.chan[v] = None;
            if let Some(row) = self.row[v] {
                self.taken[row as usize] &= !(1 << chan);
            }
        }
        self.alive = alive;
        order
    }

    fn group(&mut self, run: &Run, taste: Taste, queue: &mut Queue, order: &mut Order) {
        let mut group = legal::Group::of(self.isa);
        let mut left: [Option<VReg>; 5] = [None; 5];
        let first = order.order.len();
        for trans in [false, true] {
            let mut from: Option<Key> = None;
            let mut tries = 0;
            // Only what reads no constants but those that the group reads already.
            let mut closed = false;
            while group.has_room(trans) {
                let next = queue.next(from).filter(|_| tries < LOOKAHEAD);
                let Some(key) = next else {
                    if !closed {
                        break;
                    }
                    (closed, from, tries) = (false, None, 0);
                    continue;
                };
                from = Some(key);
                tries += 1;
                let inst = &run.nodes[key.1 as usize].inst;
                let opens = taste != Taste::Height && opens(&group, inst);
                if closed && opens {
                    continue;
                }
                let Some((next, results)) = self.place_in(&group, inst, trans) else {
                    continue;
                };
                group = next;
                for (unit, v, chan) in results {
                    if self.chan[v].is_none() {
                        self.take(v, chan);
                        order.chans.push((v, chan));
                    }
                    if let Some(place) = left.get_mut(unit) {
                        *place = Some(v);
                    }
                }
                order.order.push(key.1);
                let joined = queue.take(&run.graph, key).is_some();
                if opens {
                    closed = true;
                }
                if joined || opens {
                    (from, tries) = (None, 0);
                }
            }
        }
        for at in first..order.order.len() {
            self.read_by(&run.nodes[order.order[at] as usize].inst);
        }
        self.left = left;
    }
}

/// Reads a pair of constants that the group does not read yet.
fn opens(group: &legal::Group, inst: &Inst) -> bool {
    let source = |source: &Source| match source.src {
        Src::Const { buffer, index, chan } => !group.reads_pair(buffer, index, chan),
        _ => false,
    };
    match inst {
        Inst::Alu(alu) => alu.src.iter().any(source),
        Inst::Dot { src, .. } => src.iter().flatten().any(source),
        Inst::Double(double) => double.src.iter().flatten().any(source),
        _ => false,
    }
}

/// What is taken first of what is ready.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Taste {
    /// What the longest chain hangs on.
    Height,
    /// The same, but what reads the constants of the group before what reads others.
    Constants,
    /// As constants, but first what reads as many pairs of constants as a group may: no pair is left over beside it.
    Pairs,
}

/// An order of a run.
struct Order {
    order: Vec<u32>,
    /// Channels that it gives.
    chans: Vec<(VReg, u8)>,
    groups: u32,
}

#[cfg(test)]
mod tests;
