//! Finds an order in which late results are asked for early. An instruction whose result is late goes up together with what it
//! needs, so that what is made for a message stays beside it; the rest keeps the program's order, and nobody waits while
//! another has something to do.

use super::{Sorter, build, duration};
use crate::mach::alive::{Alive, Lives};
use crate::mach::depend::Graph;
use crate::mach::model::Model;
use crate::mach::schedule::Region;
use gpucc_ir::mach::{Func, Inst};

/// Late instructions that are looked at for one place.
const AHEAD: usize = 8;
/// Instructions that go up together.
const MOST: usize = 48;
/// How often one does not go up for want of registers before it stays where it is.
const TRIES: u8 = 8;
/// Instructions of the program's order that are looked at for one place.
const NEAR: usize = 16;

/// Why a late instruction does not go up now.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Wait {
    /// Nothing is known against it.
    No,
    /// What it needs is there at this cycle.
    Until(u32),
    /// It needs another late result, of this instruction.
    Behind(u32),
    /// There is room once fewer registers are alive.
    Room(u32),
    /// It needs too much.
    Ever,
}

/// What a step did to registers, to be taken back.
#[derive(Copy, Clone)]
enum Change {
    Read(usize),
    Died(usize),
    Born(usize),
}

/// An order while it is built. Instructions are numbered within the region.
struct Placing<'a> {
    graph: &'a Graph,
    lives: &'a Lives,
    /// The region's first instruction.
    first: u32,
    /// What is alive behind the region.
    behind: &'a Alive,
    pred_start: &'a [u32],
    preds: &'a [u32],
    /// By register: reads not placed yet, and whether it is alive now.
    reads: &'a mut [u32],
    present: &'a mut [bool],
    alive: u32,
    changes: Vec<Change>,
    /// By instruction: predecessors not placed yet, and the cycle at which what it needs is there.
    waits: Vec<u32>,
    earliest: Vec<u32>,
    placed: Vec<bool>,
    late: Vec<bool>,
    /// The search that met an instruction last.
    met: Vec<u32>,
    searches: u32,
    now: u32,
    order: Vec<u32>,
}

impl Placing<'_> {
    /// Counts registers behind an instruction. Returns how many are alive at once there.
    fn step(&mut self, node: u32) -> u32 {
        let before = self.alive;
        let touches = self.lives.touches(self.first + node);
        for touch in touches.iter().filter(|touch| !touch.is_def()) {
            let v = touch.index();
            self.reads[v] -= 1;
            self.changes.push(Change::Read(v));
            if self.reads[v] == 0 && self.present[v] && !self.behind.is(v) {
                self.present[v] = false;
                self.alive -= 1;
                self.changes.push(Change::Died(v));
            }
        }
        let mut unread = 0;
        for touch in touches.iter().filter(|touch| touch.is_def()) {
            let v = touch.index();
            if self.present[v] {
                continue;
            }
            if self.reads[v] > 0 || self.behind.is(v) {
                self.present[v] = true;
                self.alive += 1;
                self.changes.push(Change::Born(v));
            } else {
                unread += 1;
            }
        }
        before.max(self.alive + unread)
    }

    /// Takes steps back.
    fn back(&mut self) {
        while let Some(change) = self.changes.pop() {
            match change {
                Change::Read(v) => self.reads[v] += 1,
                Change::Died(v) => {
                    self.present[v] = true;
                    self.alive += 1;
                }
                Change::Born(v) => {
                    self.present[v] = false;
                    self.alive -= 1;
                }
            }
        }
    }

    /// Registers alive at once while instructions are executed one after the other.
    fn peak(&mut self, nodes: &[u32]) -> u32 {
        let peak = nodes.iter().map(|&node| self.step(node)).max().unwrap_or(0);
        self.back();
        peak
    }

    fn place(&mut self, node: u32) {
        self.step(node);
        self.changes.clear();
        let issued = self.now.max(self.earliest[node as usize]);
        self.now = issued + 1;
        for edge in self.graph.successors(node) {
            let to = edge.to as usize;
            self.earliest[to] = self.earliest[to].max(issued + edge.latency);
            self.waits[to] -= 1;
        }
        self.placed[node as usize] = true;
        self.order.push(node);
    }

    /// What a late instruction needs and what is not placed, with it, in the program's order.
    fn needs(&mut self, node: u32) -> Result<Vec<u32>, Wait> {
        self.searches += 1;
        let mut todo = vec![node];
        let mut needs = Vec::new();
        self.met[node as usize] = self.searches;
        while let Some(next) = todo.pop() {
            if self.earliest[next as usize] > self.now {
                return Err(Wait::Until(self.earliest[next as usize]));
            }
            if next != node && self.late[next as usize] {
                return Err(Wait::Behind(next));
            }
            needs.push(next);
            if needs.len() > MOST {
                return Err(Wait::Ever);
            }
            let preds = self.pred_start[next as usize]..self.pred_start[next as usize + 1];
            for &pred in &self.preds[preds.start as usize..preds.end as usize] {
                let met = std::mem::replace(&mut self.met[pred as usize], self.searches);
                if met != self.searches && !self.placed[pred as usize] {
                    todo.push(pred);
                }
            }
        }
        needs.sort_unstable();
        Ok(needs)
    }

    /// Whether one of these waits holds still.
    fn holds(&self, wait: Wait) -> bool {
        match wait {
            Wait::No => false,
            Wait::Until(cycle) => self.now < cycle,
            Wait::Behind(node) => !self.placed[node as usize],
            Wait::Room(alive) => self.alive >= alive,
            Wait::Ever => true,
        }
    }

    /// The next instruction of the program's order that waits for nothing and finds room, else the next one.
    fn next(&mut self, cursor: u32, limit: u32) -> u32 {
        let end = self.placed.len().min(cursor as usize + NEAR) as u32;
        for node in cursor..end {
            let at = node as usize;
            let ready = !self.placed[at] && self.waits[at] == 0 && self.earliest[at] <= self.now;
            if ready && (node == cursor || self.peak(&[node]) <= limit) {
                return node;
            }
        }
        cursor
    }

    fn run(&mut self, limit: u32) {
        let late: Vec<u32> =
            (0..self.late.len() as u32).filter(|&k| self.late[k as usize]).collect();
        let mut waits = vec![(Wait::No, 0u8); late.len()];
        let (mut begin, mut cursor) = (0, 0);
        while self.order.len() < self.placed.len() {
            while late.get(begin).is_some_and(|&node| self.placed[node as usize]) {
                begin += 1;
            }
            let mut found = None;
            for at in begin..late.len().min(begin + AHEAD) {
                let (wait, tries) = waits[at];
                if self.placed[late[at] as usize] || self.holds(wait) {
                    continue;
                }
                match self.needs(late[at]) {
                    Err(wait) => waits[at].0 = wait,
                    Ok(needs) if self.peak(&needs) <= limit => {
                        found = Some(needs);
                        break;
                    }
                    Ok(_) => {
                        let wait = if tries < TRIES { Wait::Room(self.alive) } else { Wait::Ever };
                        waits[at] = (wait, tries + 1);
                    }
                }
            }
            if let Some(needs) = found {
                needs.into_iter().for_each(|node| self.place(node));
                continue;
            }
            while self.placed.get(cursor as usize) == Some(&true) {
                cursor += 1;
            }
            let node = self.next(cursor, limit);
            self.place(node);
        }
    }
}

impl Sorter {
    /// Asks for the late results of a region early, as far as no more than `limit` registers are alive at once. It begins with
    /// the program's order.
    pub fn overlap<I: Inst, M: Model<I>>(
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
        self.early(graph, region, lives, alive, limit);
        let first = region.nodes.start;
        let shorter = duration(graph, first, &self.best) < duration(graph, first, self.of(region));
        if shorter && self.peak(lives, alive) <= limit {
            let places = first as usize..region.nodes.end as usize;
            self.order[places].copy_from_slice(&self.best);
        }
        self.depend = depend;
    }

    fn early(
        &mut self,
        graph: &Graph,
        region: &Region,
        lives: &Lives,
        alive: &mut Alive,
        limit: u32,
    ) {
        let registers = self.readers.len();
        let scratch = &mut self.scratch;
        scratch.reads.resize(registers, 0);
        scratch.present.resize(registers, false);
        let mark = alive.mark();
        for node in region.nodes.clone().rev() {
            alive.before(lives.touches(node), |_| ());
        }
        let before = alive.now;
        for touch in region.nodes.clone().flat_map(|node| lives.touches(node)) {
            scratch.present[touch.index()] = alive.is(touch.index());
            scratch.reads[touch.index()] += u32::from(!touch.is_def());
        }
        alive.back_to(mark);
        let count = graph.len();
        let is_late = |node: u32| graph.successors(node).iter().any(|edge| edge.latency > 1);
        let mut placing = Placing {
            graph,
            lives,
            first: region.nodes.start,
            behind: alive,
            pred_start: &scratch.pred_start,
            preds: &scratch.preds,
            reads: &mut scratch.reads,
            present: &mut scratch.present,
            alive: before,
            changes: Vec::new(),
            waits: graph.waits_for.clone(),
            earliest: vec![0; count],
            placed: vec![false; count],
            late: (0..count as u32).map(is_late).collect(),
            met: vec![0; count],
            searches: 0,
            now: 0,
            order: Vec::with_capacity(count),
        };
        placing.run(limit);
        self.best.clear();
        self.best.extend(placing.order.iter().map(|node| region.nodes.start + node));
    }
}
