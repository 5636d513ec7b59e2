//! Finds orders of one region: of few registers, or of little waiting.

mod early;

use super::{NONE, Region};
use crate::mach::alive::{Alive, Lives};
use crate::mach::depend::{Depend, Graph};
use crate::mach::model::Model;
use gpucc_ir::mach::{Func, Inst, Node};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Instructions whose turn it may be that are compared for one place.
const WINDOW: usize = 16;

/// How an order that needs few registers is looked for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Way {
    /// From the end: who leaves fewest alive, then by the rule.
    Fewest(Tie),
    /// From the end: who leaves no more alive, then by the rule alone.
    Freeing(Tie),
    /// From the beginning: who leaves no more alive, then the program's order.
    Forwards,
}

/// What decides between instructions that change the number of registers alike.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Tie {
    /// The later one of the program goes behind.
    Program,
    /// The one that reads what needs fewest registers to be computed goes behind.
    Need,
    /// The one that was found last: whoever's result is read by what was just placed.
    Depth,
}

/// The ways, those that find the best order most often first.
const WAYS: [Way; 6] = [
    Way::Fewest(Tie::Program),
    Way::Freeing(Tie::Program),
    Way::Forwards,
    Way::Freeing(Tie::Depth),
    Way::Fewest(Tie::Depth),
    Way::Freeing(Tie::Need),
];

/// Memory that regions share.
#[derive(Default)]
struct Scratch {
    /// By instruction of the region: successors or predecessors not placed yet.
    waits: Vec<u32>,
    /// Predecessors, all in one list, and where each instruction's begin.
    pred_start: Vec<u32>,
    preds: Vec<u32>,
    /// By instruction: what placing it changes, once all behind it are placed.
    change: Vec<i32>,
    is_ready: Vec<bool>,
    need: Vec<u32>,
    /// By register: the instruction of the region that wrote it last.
    writer: Vec<u32>,
    rank: Vec<u32>,
    /// By instruction: whose predecessor it is.
    marked: Vec<u32>,
    /// By place: registers alive at once there.
    peaks: Vec<u32>,
    /// By register: reads not placed yet.
    reads: Vec<u32>,
    /// By register: it is alive at the place that is looked at.
    present: Vec<bool>,
}

/// Finds orders of regions.
pub struct Sorter {
    depend: Depend,
    /// The instruction at each place of the function.
    order: Vec<u32>,
    /// By register: the first place in `next` of its readers within the region.
    readers: Vec<u32>,
    /// Readers: an instruction and the next place.
    next: Vec<(u32, u32)>,
    best: Vec<u32>,
    scratch: Scratch,
}

impl Sorter {
    /// The program's own order of so many instructions over so many registers.
    pub fn new(instructions: usize, registers: usize) -> Sorter {
        Sorter {
            depend: Depend::default(),
            order: (0..instructions as u32).collect(),
            readers: vec![NONE; registers],
            next: Vec::new(),
            best: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// The order of a region as it is now.
    pub fn of(&self, region: &Region) -> &[u32] {
        &self.order[region.nodes.start as usize..region.nodes.end as usize]
    }

    /// Looks for orders of a region that need fewer registers, until one needs no more than `enough`.
    pub fn relieve<I: Inst, M: Model<I>>(
        &mut self,
        machine: (&Func<I>, &M),
        region: &mut Region,
        lives: &Lives,
        alive: &mut Alive,
        enough: u32,
    ) {
        if region.nodes.len() < 2 {
            return;
        }
        let mut depend = std::mem::take(&mut self.depend);
        let graph = build(&mut depend, machine, region, lives);
        self.predecessors(graph);
        self.link_readers(region, lives);
        for way in WAYS {
            let found = match way {
                Way::Fewest(tie) | Way::Freeing(tie) => {
                    let any = way == Way::Fewest(tie);
                    self.backwards(graph, region, lives, alive, (any, tie))
                }
                Way::Forwards => {
                    self.forwards(graph, region, lives, alive);
                    let peak = self.peak(lives, alive);
                    Some(peak).filter(|&peak| peak < region.peak)
                }
            };
            if let Some(peak) = found {
                region.peak = peak;
                self.order[region.nodes.start as usize..region.nodes.end as usize]
                    .copy_from_slice(&self.best);
            }
            if region.peak <= enough {
                break;
            }
        }
        for node in region.nodes.clone() {
            for touch in lives.touches(node) {
                self.readers[touch.index()] = NONE;
            }
        }
        self.depend = depend;
    }

    /// The most registers alive at once in the order that was found last.
    fn peak(&self, lives: &Lives, alive: &mut Alive) -> u32 {
        let mark = alive.mark();
        let order = self.best.iter().rev();
        let peak = order.map(|&node| alive.before(lives.touches(node), |_| ()));
        let peak = peak.max().unwrap_or(0);
        alive.back_to(mark);
        peak
    }

    fn predecessors(&mut self, graph: &Graph) {
        let count = graph.len();
        let Scratch { pred_start, preds, .. } = &mut self.scratch;
        pred_start.clear();
        pred_start.push(0);
        for k in 0..count {
            pred_start.push(pred_start[k] + graph.waits_for[k]);
        }
        preds.clear();
        preds.resize(pred_start[count] as usize, 0);
        // Filled from the end of each list, after which the starts stand where they were.
        let mut at: Vec<u32> = pred_start[1..].to_vec();
        for from in 0..count as u32 {
            for edge in graph.successors(from) {
                let slot = &mut at[edge.to as usize];
                *slot -= 1;
                preds[*slot as usize] = from;
            }
        }
    }

    fn link_readers(&mut self, region: &Region, lives: &Lives) {
        self.next.clear();
        for node in region.nodes.clone() {
            for touch in lives.touches(node).iter().filter(|touch| !touch.is_def()) {
                let head = &mut self.readers[touch.index()];
                self.next.push((node - region.nodes.start, *head));
                *head = self.next.len() as u32 - 1;
            }
        }
    }

    /// Registers that computing each instruction's results takes, results included: of what it reads, what needs most
    /// first (Sethi and Ullman's number, taken for graphs).
    fn needs(&mut self, region: &Region, lives: &Lives) {
        let Scratch { need, writer, .. } = &mut self.scratch;
        need.clear();
        writer.resize(self.readers.len(), NONE);
        let mut reads: Vec<(u32, u32, u32)> = Vec::new();
        for node in region.nodes.clone() {
            reads.clear();
            let mut most = 0;
            for touch in lives.touches(node) {
                let from = writer[touch.index()];
                if touch.is_def() {
                    most += 1;
                } else if from != NONE && !reads.iter().any(|read| read.2 == from) {
                    let held = lives.touches(region.nodes.start + from);
                    let held = held.iter().filter(|touch| touch.is_def()).count() as u32;
                    reads.push((need[from as usize], held, from));
                }
            }
            for touch in lives.touches(node).iter().filter(|touch| touch.is_def()) {
                writer[touch.index()] = node - region.nodes.start;
            }
            reads.sort_unstable_by_key(|&(need, held, _)| Reverse(need.saturating_sub(held)));
            let mut holding = 0;
            for &(need, held, _) in &reads {
                most = most.max(holding + need);
                holding += held;
            }
            need.push(most);
        }
        for node in region.nodes.clone() {
            for touch in lives.touches(node) {
                writer[touch.index()] = NONE;
            }
        }
    }

    /// An order built from the end: always the instruction that leaves fewest registers alive before it, or one that
    /// leaves no more than there are. `None` where that is no better than what the region has.
    fn backwards(
        &mut self,
        graph: &Graph,
        region: &Region,
        lives: &Lives,
        alive: &mut Alive,
        (fewest, tie): (bool, Tie),
    ) -> Option<u32> {
        if tie == Tie::Need {
            self.needs(region, lives);
        }
        let first = region.nodes.start;
        let count = region.nodes.len();
        let Sorter { best, scratch, readers, next, .. } = self;
        let Scratch { waits, pred_start, preds, change, is_ready, need, .. } = scratch;
        waits.clear();
        waits.extend((0..count as u32).map(|node| graph.successors(node).len() as u32));
        change.clear();
        change.resize(count, 0);
        is_ready.clear();
        is_ready.resize(count, false);
        let mut queue: BinaryHeap<(i32, u32, u32)> = BinaryHeap::new();
        let mut found = 0u32;
        let key = |node: u32, found: u32| match tie {
            Tie::Program => node,
            Tie::Need => u32::MAX - need[node as usize],
            Tie::Depth => found,
        };
        let saves = |change: i32| if fewest { -change } else { (-change).max(-1) };
        let measure = |node: u32, alive: &Alive| -> i32 {
            lives
                .touches(first + node)
                .iter()
                .map(|touch| match (touch.is_def(), alive.is(touch.index())) {
                    (true, true) => -1,
                    (false, false) => 1,
                    _ => 0,
                })
                .sum()
        };
        for node in 0..count as u32 {
            if waits[node as usize] == 0 {
                is_ready[node as usize] = true;
                change[node as usize] = measure(node, alive);
                queue.push((saves(change[node as usize]), key(node, found), node));
            }
        }
        best.clear();
        let mark = alive.mark();
        let mut peak = alive.now;
        while let Some((saved, _, node)) = queue.pop() {
            if !is_ready[node as usize] || saved != saves(change[node as usize]) {
                continue;
            }
            is_ready[node as usize] = false;
            best.push(first + node);
            let touches = lives.touches(first + node);
            // Whoever reads what became alive just now leaves one less alive.
            let born = |v: usize| {
                let mut at = readers[v];
                while at != NONE {
                    let (reader, after) = next[at as usize];
                    if is_ready[reader as usize] {
                        change[reader as usize] -= 1;
                        queue.push((saves(change[reader as usize]), key(reader, found), reader));
                    }
                    at = after;
                }
            };
            peak = peak.max(alive.before(touches, born));
            if peak >= region.peak {
                break;
            }
            found += 1;
            let range = pred_start[node as usize]..pred_start[node as usize + 1];
            for &pred in &preds[range.start as usize..range.end as usize] {
                waits[pred as usize] -= 1;
                if waits[pred as usize] == 0 {
                    is_ready[pred as usize] = true;
                    change[pred as usize] = measure(pred, alive);
                    queue.push((saves(change[pred as usize]), key(pred, found), pred));
                }
            }
        }
        alive.back_to(mark);
        best.reverse();
        (best.len() == count && peak < region.peak).then_some(peak)
    }

    /// Puts distance between late results and their readers: each instruction goes up over what it does not need, as far as no
    /// more than `limit` registers are alive then, until its latency is hidden.
    pub fn hide<I: Inst, M: Model<I>>(
        &mut self,
        machine: (&Func<I>, &M),
        region: &Region,
        lives: &Lives,
        alive: &mut Alive,
        limit: u32,
    ) {
        let mut depend = std::mem::take(&mut self.depend);
        let graph = build(&mut depend, machine, region, lives);
        self.predecessors(graph);
        let places = region.nodes.start as usize..region.nodes.end as usize;
        let first = region.nodes.start;
        let Sorter { best, order, scratch, .. } = self;
        let Scratch { pred_start, preds, rank, marked, peaks, .. } = scratch;
        best.clear();
        best.extend_from_slice(&order[places.clone()]);
        rank.clear();
        rank.resize(best.len(), 0);
        for (place, &node) in best.iter().enumerate() {
            rank[(node - first) as usize] = place as u32;
        }
        peaks.clear();
        let mark = alive.mark();
        peaks.extend(best.iter().rev().map(|&node| alive.before(lives.touches(node), |_| ())));
        peaks.reverse();
        alive.back_to(mark);
        marked.clear();
        marked.resize(best.len(), NONE);
        for from in 0..best.len() {
            let node = best[from] - first;
            let late = graph.successors(node).iter().filter(|edge| edge.latency > 1);
            let Some((reader, latency)) =
                late.map(|edge| (rank[edge.to as usize], edge.latency)).min()
            else {
                continue;
            };
            let range = pred_start[node as usize] as usize..pred_start[node as usize + 1] as usize;
            for &pred in &preds[range] {
                marked[pred as usize] = node;
            }
            let touches = lives.touches(first + node).iter();
            let results = touches.filter(|touch| touch.is_def()).count() as u32;
            let mut to = from;
            while to > 0
                && reader - (to as u32) < latency
                && marked[(best[to - 1] - first) as usize] != node
                && peaks[to - 1] + results <= limit
            {
                to -= 1;
                peaks[to] += results;
            }
            best[to..=from].rotate_right(1);
            peaks[to..=from].rotate_right(1);
            peaks[to] = peaks[to].max(peaks[(to + 1).min(from)]);
            for (place, &node) in best.iter().enumerate().take(from + 1).skip(to) {
                rank[(node - first) as usize] = place as u32;
            }
        }
        let shorter = duration(graph, first, &self.best) < duration(graph, first, self.of(region));
        if shorter && self.peak(lives, alive) <= limit.max(region.peak) {
            self.order[places].copy_from_slice(&self.best);
        }
        self.depend = depend;
    }

    /// An order built from the beginning: of those whose turn it may be, one that leaves no more registers alive; else
    /// the next one of the order that the region has.
    fn forwards(&mut self, graph: &Graph, region: &Region, lives: &Lives, alive: &Alive) {
        let first = region.nodes.start;
        let count = region.nodes.len();
        let registers = self.readers.len();
        let Sorter { best, scratch, order, .. } = self;
        let Scratch { waits, rank, reads, .. } = scratch;
        rank.clear();
        rank.resize(count, 0);
        let places = first as usize..region.nodes.end as usize;
        for (place, &node) in order[places].iter().enumerate() {
            rank[(node - first) as usize] = place as u32;
        }
        reads.resize(registers, 0);
        for node in region.nodes.clone() {
            for touch in lives.touches(node).iter().filter(|touch| !touch.is_def()) {
                reads[touch.index()] += 1;
            }
        }
        waits.clear();
        waits.extend_from_slice(&graph.waits_for);
        let mut ready: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
        for node in 0..count as u32 {
            if waits[node as usize] == 0 {
                ready.push(Reverse((rank[node as usize], node)));
            }
        }
        best.clear();
        let mut window: Vec<(u32, u32)> = Vec::with_capacity(WINDOW);
        while best.len() < count {
            window.clear();
            let mut choice = 0;
            while window.len() < WINDOW
                && let Some(Reverse(entry)) = ready.pop()
            {
                window.push(entry);
                let more: i32 = lives
                    .touches(first + entry.1)
                    .iter()
                    .map(|touch| {
                        let last = reads[touch.index()] == 1 && !alive.is(touch.index());
                        i32::from(touch.is_def()) - i32::from(!touch.is_def() && last)
                    })
                    .sum();
                if more <= 0 {
                    choice = window.len() - 1;
                    break;
                }
            }
            // A dependence graph has no cycles, so some instruction is ready.
            let (_, node) = window.swap_remove(choice);
            ready.extend(window.iter().copied().map(Reverse));
            best.push(first + node);
            for touch in lives.touches(first + node).iter().filter(|touch| !touch.is_def()) {
                reads[touch.index()] -= 1;
            }
            for edge in graph.successors(node) {
                let to = edge.to as usize;
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready.push(Reverse((rank[to], edge.to)));
                }
            }
        }
    }

    /// Some instruction has another place than in the program.
    pub fn moves(&self) -> bool {
        !self.order.iter().copied().eq(0..self.order.len() as u32)
    }

    /// Moves the instructions to their places.
    pub fn apply<I: Inst>(self, func: &mut Func<I>, lives: &Lives) {
        let mut moved: Vec<Option<Node<I>>> = Vec::new();
        for position in 0..func.layout.len() {
            let block = func.layout[position];
            let places = lives.nodes(position);
            let order = &self.order[places.start as usize..places.end as usize];
            if order.iter().copied().eq(places.clone()) {
                continue;
            }
            let nodes = &mut func.blocks[block].nodes;
            moved.clear();
            moved.extend(nodes.drain(..).map(Some));
            nodes.extend(order.iter().map(|&node| {
                moved[(node - places.start) as usize]
                    .take()
                    .expect("an order names each instruction once")
            }));
        }
    }
}

/// What waits for what in a region.
fn build<'d, I: Inst, M: Model<I>>(
    depend: &'d mut Depend,
    (func, model): (&Func<I>, &M),
    region: &Region,
    lives: &Lives,
) -> &'d Graph {
    let nodes = &func.blocks[func.layout[region.block]].nodes;
    let base = lives.nodes(region.block).start;
    let range = (region.nodes.start - base) as usize..(region.nodes.end - base) as usize;
    depend.build(nodes, range, func.vregs.len(), func.files, model)
}

/// Cycles that one thread takes for a region in an order, if nothing else runs: one instruction a cycle, each when what it
/// waits for is there.
fn duration(graph: &Graph, first: u32, order: &[u32]) -> u32 {
    let mut earliest = vec![0u32; order.len()];
    let mut cycle = 0;
    for &node in order {
        let node = node - first;
        let issued = earliest[node as usize].max(cycle);
        cycle = issued + 1;
        for edge in graph.successors(node) {
            let at = &mut earliest[edge.to as usize];
            *at = (*at).max(issued + edge.latency);
        }
    }
    cycle
}
