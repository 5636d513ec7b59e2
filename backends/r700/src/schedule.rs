//! Before registers are given: puts the ALU work of each run into groups, as the packer will, so that
//! every result gets the channel whose slot it takes, and the order in which registers are given is
//! the order of the groups.
//!
//! A list scheduler by critical path over [`legal::Group::admit`]. Whether a group is legal depends on
//! channels and on which registers are equal, not on their numbers, so that what fits here fits the
//! packer, as long as the allocator can follow the channels wished for.

use crate::inst::{Alu, Inst, Source, Src};
use crate::isa::{AluOp, Isa};
use crate::late::Variables;
use crate::legal::{self, TRANS};
use crate::op::{self, Units};
use crate::slot::{Dst, Operand, Read, Slot};
use cranelift_entity::{EntityRef, SecondaryMap};
use gpucc_ir::mach::{Func, Inst as _, Node, Phases, Reg, Relation, Role, VReg};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Operations that are scheduled together.
const WINDOW: usize = 256;
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

/// Removes ALU work whose results nobody reads: addresses that lowering took apart, mostly.
pub fn sweep(func: &mut Func<Inst>) {
    let mut uses: SecondaryMap<VReg, u32> = SecondaryMap::new();
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            each_use(&node.inst, |v| uses[v] += 1);
        }
    }
    // Backwards, so that what a dead instruction reads is looked at after it.
    for &block in func.layout.iter().rev() {
        let nodes = std::mem::take(&mut func.blocks[block].nodes);
        let mut kept: Vec<Node<Inst>> = Vec::with_capacity(nodes.len());
        for node in nodes.into_iter().rev() {
            let result = match &node.inst {
                Inst::Alu(Alu { dst: Some(dst), .. })
                | Inst::Dot { dst, .. }
                | Inst::ArrayRead { dst, .. } => dst.as_virt(),
                _ => None,
            };
            if result.is_some_and(|v| uses[v] == 0) {
                each_use(&node.inst, |v| uses[v] -= 1);
            } else {
                kept.push(node);
            }
        }
        kept.reverse();
        func.blocks[block].nodes = kept;
    }
}

fn each_use(inst: &Inst, mut visit: impl FnMut(VReg)) {
    inst.operands(&mut |operand| {
        if operand.role == Role::Use
            && let Some(v) = operand.reg.as_virt()
        {
            visit(v);
        }
    });
}

/// ALU work that the scheduler may order.
fn moves(inst: &Inst) -> bool {
    match inst {
        Inst::Alu(alu) => !op::is_kill(alu.op),
        Inst::Dot { .. } | Inst::Cube { .. } | Inst::Copy { .. } => true,
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
    seen: Seen,
}

/// Who wrote and read each register in the run that is looked at: kept from run to run, so that a
/// run costs what it holds and not what the program holds.
#[derive(Default)]
struct Seen {
    /// The run that the facts are of.
    run: u32,
    facts: SecondaryMap<VReg, Facts>,
}

#[derive(Clone, Default)]
struct Facts {
    run: u32,
    writer: Option<u32>,
    readers: SmallVec<[u32; 2]>,
}

impl Seen {
    fn of(&mut self, v: VReg) -> &mut Facts {
        let run = self.run;
        let facts = &mut self.facts[v];
        if facts.run != run {
            facts.run = run;
            facts.writer = None;
            facts.readers.clear();
        }
        facts
    }
}

/// Dependences within a run.
#[derive(Default)]
struct Graph {
    succ: Vec<SmallVec<[(u32, u32); 4]>>,
    preds: Vec<u32>,
    height: Vec<u32>,
    earliest: Vec<u32>,
}

/// What the slots of a group leave: unit (5 for none that can be read behind it), register, channel.
type Left = SmallVec<[(usize, VReg, u8); 4]>;
type Ready = BTreeSet<(Reverse<u32>, u32)>;

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
            seen: Seen::default(),
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
        self.chan[v]
            .or(self.phases[v])
            .unwrap_or((v.index() % 4) as u8)
    }

    /// Channels for a result, the best first.
    fn channels(&self, v: VReg) -> SmallVec<[u8; 4]> {
        if let Some(chan) = self.chan[v].or(self.phases[v]) {
            return SmallVec::from_slice(&[chan]);
        }
        let taken = self.row[v].map_or(0, |row| self.taken[row as usize]);
        let wish = self.partner[v].and_then(|partner| self.chan[partner]);
        let mut list: SmallVec<[u8; 4]> = (0..4).collect();
        list.sort_by_key(|&chan| {
            (
                taken >> chan & 1 != 0,
                wish.is_some_and(|wish| wish != chan),
                self.alive[usize::from(chan)],
                chan,
            )
        });
        if taken != 0xf {
            list.retain(|chan| taken >> *chan & 1 == 0);
        }
        list
    }

    fn operand(&self, source: &Source, op: AluOp, index: usize) -> Operand {
        let read = match source.src {
            Src::Reg(reg) => match reg.as_virt() {
                Some(v) => self.read(v),
                None => Read::Gpr {
                    gpr: 127,
                    chan: 0,
                    rel: false,
                },
            },
            Src::Const {
                buffer,
                index,
                chan,
            } => Read::Kcache {
                buffer,
                index,
                chan,
            },
            Src::Bits(mut bits) => {
                if source.abs {
                    bits &= 0x7fff_ffff;
                }
                if source.neg {
                    bits ^= 0x8000_0000;
                }
                return Operand::constant(bits, op::may_negate(op, index));
            }
        };
        Operand {
            read,
            neg: source.neg,
            abs: source.abs,
        }
    }

    fn read(&self, v: VReg) -> Read {
        if let Some(unit) = self.left.iter().position(|&left| left == Some(v)) {
            return if unit == TRANS {
                Read::Ps
            } else {
                Read::Pv(unit as u8)
            };
        }
        Read::Gpr {
            // Registers of one group are told apart by this, nearly always.
            gpr: (v.index() % 127) as u8,
            chan: self.place(v),
            rel: false,
        }
    }

    fn slot(&self, alu: &Alu, chan: Option<u8>) -> Slot {
        let mut src = [Operand::UNUSED; 3];
        for (index, source) in alu.src.iter().enumerate() {
            src[index] = self.operand(source, alu.op, index);
        }
        Slot {
            op: alu.op,
            dst: chan.map(|chan| self.dst(alu.dst, chan)),
            src,
            sources: alu.src.len() as u8,
            clamp: alu.clamp,
            omod: alu.omod.code(),
        }
    }

    fn dst(&self, reg: Option<Reg>, chan: u8) -> Dst {
        let v = reg.and_then(Reg::as_virt);
        Dst {
            gpr: v.map_or(127, |v| (v.index() % 127) as u8),
            chan,
            rel: false,
        }
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
                for chan in self.channels(v) {
                    let unit = match op::units(group.isa(), alu.op) {
                        Units::Trans => TRANS,
                        Units::Any if trans => {
                            if group.slots[usize::from(chan)].is_none() {
                                continue;
                            }
                            TRANS
                        }
                        _ => usize::from(chan),
                    };
                    if let Ok(next) = group.admit(unit, &self.slot(alu, Some(chan))) {
                        return one(next, unit, Some(v), chan);
                    }
                    if unit == TRANS && group.slots[TRANS].is_some() {
                        return None;
                    }
                }
                None
            }
            Inst::Dot { dst, src, clamp } if !trans => {
                let v = dst.as_virt()?;
                let chan = *self.channels(v).first()?;
                let slots: [Slot; 4] = std::array::from_fn(|unit| Slot {
                    op: AluOp::DOT4_IEEE,
                    dst: (unit == usize::from(chan)).then(|| self.dst(Some(*dst), chan)),
                    src: [
                        self.operand(&src[unit][0], AluOp::DOT4_IEEE, 0),
                        self.operand(&src[unit][1], AluOp::DOT4_IEEE, 1),
                        Operand::UNUSED,
                    ],
                    sources: 2,
                    clamp: *clamp,
                    omod: 0,
                });
                // The sum stands in PV.x.
                one(group.admit_reduction(&slots).ok()?, 0, Some(v), chan)
            }
            Inst::Cube { dst, src } if !trans => {
                let read = |reg: Reg| self.operand(&Source::reg(reg), AluOp::CUBE, 0);
                let [x, y, z] = src.map(read);
                let pairs = [[z, y], [z, x], [x, z], [y, z]];
                let slots: [Slot; 4] = std::array::from_fn(|unit| Slot {
                    op: AluOp::CUBE,
                    dst: Some(self.dst(Some(dst[unit]), unit as u8)),
                    src: [pairs[unit][0], pairs[unit][1], Operand::UNUSED],
                    sources: 2,
                    clamp: false,
                    omod: 0,
                });
                let results = dst.iter().zip(0u8..);
                let list = results
                    .filter_map(|(reg, chan)| Some((5, reg.as_virt()?, chan)))
                    .collect();
                Some((group.admit_reduction(&slots).ok()?, list))
            }
            _ => None,
        }
    }

    /// Orders a run and empties it into `out`.
    fn segment(&mut self, segment: &mut Vec<Node<Inst>>, out: &mut Vec<Node<Inst>>) {
        let n = segment.len();
        if n == 0 {
            return;
        }
        self.left = [None; 5];
        let mut graph = Graph::build(segment, &mut self.seen, self.variables);
        let mut ready: Ready = BTreeSet::new();
        let mut later: Vec<u32> = Vec::new();
        for at in 0..n {
            if graph.preds[at] == 0 {
                ready.insert((Reverse(graph.height[at]), at as u32));
            }
        }
        let mut order: Vec<u32> = Vec::with_capacity(n);
        let mut now = 0;
        while order.len() < n {
            later.retain(|&at| {
                let due = graph.earliest[at as usize] <= now;
                if due {
                    ready.insert((Reverse(graph.height[at as usize]), at));
                }
                !due
            });
            let before = order.len();
            self.group(segment, &mut graph, &mut ready, &mut later, now, &mut order);
            if order.len() == before
                && let Some(key) = ready.pop_first()
            {
                // What no group takes as it stands is emission's to break up.
                self.left = [None; 5];
                let at = key.1 as usize;
                segment[at].inst.operands(&mut |operand| {
                    if let Some(v) = operand.reg.as_virt()
                        && operand.role.is_def()
                        && self.chan[v].is_none()
                    {
                        let chan = self.channels(v).first().copied().unwrap_or(0);
                        self.take(v, chan);
                    }
                });
                order.push(key.1);
                graph.release(key.1, now, &mut ready, &mut later);
            }
            now += 1;
        }
        let mut slots: Vec<Option<Node<Inst>>> = segment.drain(..).map(Some).collect();
        out.extend(order.into_iter().filter_map(|at| slots[at as usize].take()));
    }

    fn group(
        &mut self,
        segment: &[Node<Inst>],
        graph: &mut Graph,
        ready: &mut Ready,
        later: &mut Vec<u32>,
        now: u32,
        order: &mut Vec<u32>,
    ) {
        let mut group = legal::Group::of(self.isa);
        let mut left: [Option<VReg>; 5] = [None; 5];
        let mut placed: SmallVec<[u32; 8]> = SmallVec::new();
        for trans in [false, true] {
            let mut from: Option<(Reverse<u32>, u32)> = None;
            let mut tries = 0;
            while tries < LOOKAHEAD && group.len() < 5 {
                let next = match from {
                    None => ready.first().copied(),
                    Some(key) => ready
                        .range((std::ops::Bound::Excluded(key), std::ops::Bound::Unbounded))
                        .next()
                        .copied(),
                };
                let Some(key) = next else { break };
                from = Some(key);
                tries += 1;
                let inst = &segment[key.1 as usize].inst;
                let Some((next, results)) = self.place_in(&group, inst, trans) else {
                    continue;
                };
                group = next;
                for (unit, v, chan) in results {
                    if self.chan[v].is_none() {
                        self.take(v, chan);
                    }
                    if let Some(place) = left.get_mut(unit) {
                        *place = Some(v);
                    }
                }
                ready.remove(&key);
                order.push(key.1);
                placed.push(key.1);
                if graph.release(key.1, now, ready, later) {
                    from = None;
                }
            }
        }
        for at in placed {
            segment[at as usize].inst.operands(&mut |operand| {
                if let Some(v) = operand.reg.as_virt()
                    && operand.role == Role::Use
                {
                    self.uses[v] = self.uses[v].saturating_sub(1);
                    if self.uses[v] == 0
                        && let Some(chan) = self.chan[v]
                    {
                        self.alive[usize::from(chan)] -= 1;
                    }
                }
            });
        }
        self.left = left;
    }
}

impl Graph {
    fn build(segment: &[Node<Inst>], seen: &mut Seen, variables: &Variables) -> Graph {
        let n = segment.len();
        let mut graph = Graph {
            succ: vec![SmallVec::new(); n],
            preds: vec![0; n],
            height: vec![0; n],
            earliest: vec![0; n],
        };
        seen.run += 1;
        for (at, node) in segment.iter().enumerate() {
            let mut edge = |from: u32, latency: u32| {
                if from as usize != at {
                    graph.succ[from as usize].push((at as u32, latency));
                    graph.preds[at] += 1;
                }
            };
            let (mut reads, mut writes): (SmallVec<[VReg; 4]>, SmallVec<[VReg; 4]>) =
                (SmallVec::new(), SmallVec::new());
            node.inst.operands(&mut |operand| {
                if let Some(v) = operand.reg.as_virt() {
                    if operand.role == Role::Use {
                        reads.push(v);
                    } else {
                        writes.push(v);
                    }
                }
            });
            for &v in &reads {
                if let Some(from) = seen.of(v).writer {
                    edge(from, 1);
                }
            }
            for &v in &writes {
                let facts = seen.of(v);
                if let Some(from) = facts.writer {
                    edge(from, 1);
                }
                for &reader in &facts.readers {
                    edge(reader, 0);
                }
            }
            // The next value of a variable comes after the reads of its value now.
            for v in variables.replaced(&node.inst) {
                for &reader in &seen.of(v).readers {
                    edge(reader, 0);
                }
            }
            for &v in &reads {
                seen.of(v).readers.push(at as u32);
            }
            for &v in &writes {
                let facts = seen.of(v);
                facts.writer = Some(at as u32);
                facts.readers.clear();
            }
        }
        for at in (0..n).rev() {
            let tallest = graph.succ[at]
                .iter()
                .map(|&(to, latency)| graph.height[to as usize] + latency)
                .max();
            graph.height[at] = tallest.unwrap_or(0);
        }
        graph
    }

    /// An operation was placed; true when something may join its group.
    fn release(&mut self, at: u32, now: u32, ready: &mut Ready, later: &mut Vec<u32>) -> bool {
        let mut joined = false;
        for (to, latency) in std::mem::take(&mut self.succ[at as usize]) {
            let index = to as usize;
            self.earliest[index] = self.earliest[index].max(now + latency);
            self.preds[index] -= 1;
            if self.preds[index] == 0 {
                if self.earliest[index] <= now {
                    ready.insert((Reverse(self.height[index]), to));
                    joined = true;
                } else {
                    later.push(to);
                }
            }
        }
        joined
    }
}
