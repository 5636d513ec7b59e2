//! The dependence graph of one region: who must wait for whom, and how long.
//!
//! Edges sit in one flat array, in the order of their sources; building and walking are linear in
//! operands. A general graph would do, but the graph's users need only successors, predecessor counts
//! and heights.

use super::model::{Dependence, Model};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Files, Inst, Node, Reg};
use std::ops::Range;

/// One dependence.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The node that waits; an index into the region.
    pub to: u32,
    /// Groups to wait after the issue of the source, for the reason that asks for the longest wait.
    pub latency: u32,
}

/// The dependences of one region.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    start: Vec<u32>,
    edges: Vec<Edge>,
    /// Number of edges into each node.
    pub waits_for: Vec<u32>,
    /// Groups from each node's issue to the end of the region along the longest path.
    pub height: Vec<u32>,
}

impl Graph {
    /// Nodes in the region.
    pub fn len(&self) -> usize {
        self.height.len()
    }
    /// True for an empty region.
    pub fn is_empty(&self) -> bool {
        self.height.is_empty()
    }
    /// Dependences on a node.
    #[inline]
    pub fn successors(&self, node: u32) -> &[Edge] {
        &self.edges[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }
}

const NONE: u32 = u32::MAX;

/// What is known of one resource within the current region.
#[derive(Copy, Clone, Debug)]
struct Track {
    epoch: u32,
    last_def: u32,
    /// Head of the list of readers since the last definition.
    readers: u32,
}

const UNTRACKED: Track = Track { epoch: 0, last_def: NONE, readers: NONE };

/// Builds graphs; keeps its memory from region to region.
///
/// A machine that has its instructions as [`Node`]s asks [`Depend::build`]. One that has them in another form names what each
/// reads and writes, in the order of the region and reads before writes: [`Depend::begin`], [`Depend::read`],
/// [`Depend::write`], [`Depend::finish`].
#[derive(Clone, Debug, Default)]
pub struct Depend {
    epoch: u32,
    tracks: Vec<Track>,
    readers: Vec<(u32, u32)>,
    raw: Vec<(u32, Edge)>,
    operands: Vec<gpucc_ir::mach::Operand>,
    graph: Graph,
}

impl Depend {
    /// The graph of the nodes in `range`. Virtual registers have numbers below `vregs`.
    pub fn build<I: Inst, M: Model<I>>(
        &mut self,
        nodes: &[Node<I>],
        range: Range<usize>,
        vregs: usize,
        files: Files,
        model: &M,
    ) -> &Graph {
        let region = &nodes[range];
        let mut places = Places::of(vregs, files);
        self.begin(places.count);
        let mut operands = std::mem::take(&mut self.operands);
        for (at, node) in region.iter().enumerate() {
            let at = at as u32;
            let latency = |from: u32, why: Dependence| {
                model.latency(&region[from as usize].inst, &node.inst, why)
            };
            operands.clear();
            node.inst.operands(&mut |operand| operands.push(operand));
            // All reads before all writes: an instruction does not depend on itself.
            for operand in operands.iter().filter(|operand| !operand.role.is_def()) {
                self.read(places.reg(operand.reg), at, latency);
            }
            model.follows(&node.inst, &mut |v| self.follow(v.index(), at, latency));
            for operand in operands.iter().filter(|operand| operand.role.is_def()) {
                self.write(places.reg(operand.reg), at, latency);
            }
            let effects = model.effects(&node.inst);
            let order = |from: u32, _| latency(from, Dependence::Order);
            places.classes(effects.reads & !effects.writes, |class| {
                self.read(class, at, order);
            });
            places.classes(effects.writes, |class| self.write(class, at, order));
        }
        self.operands = operands;
        self.finish(region.len())
    }

    /// Begins a region over resources with numbers below `resources`.
    pub fn begin(&mut self, resources: usize) {
        self.epoch += 1;
        if self.tracks.len() < resources {
            self.tracks.resize(resources, UNTRACKED);
        }
        self.readers.clear();
        self.raw.clear();
    }

    fn track(&mut self, resource: usize) -> Track {
        match self.tracks[resource] {
            track if track.epoch == self.epoch => track,
            _ => Track { epoch: self.epoch, ..UNTRACKED },
        }
    }

    /// Node `at` reads a resource: it waits for who wrote it last, as long as `latency` of that node and the reason says.
    pub fn read(
        &mut self,
        resource: usize,
        at: u32,
        mut latency: impl FnMut(u32, Dependence) -> u32,
    ) {
        let mut track = self.track(resource);
        if track.last_def != NONE {
            let from = track.last_def;
            self.link(from, at, latency(from, Dependence::True));
        }
        self.readers.push((at, track.readers));
        track.readers = self.readers.len() as u32 - 1;
        self.tracks[resource] = track;
    }

    /// Node `at` comes behind who reads a resource as it is now.
    pub fn follow(
        &mut self,
        resource: usize,
        at: u32,
        mut latency: impl FnMut(u32, Dependence) -> u32,
    ) {
        let mut reader = self.track(resource).readers;
        while reader != NONE {
            let (from, next) = self.readers[reader as usize];
            if from != at {
                self.link(from, at, latency(from, Dependence::Anti));
            }
            reader = next;
        }
    }

    /// Node `at` writes a resource.
    pub fn write(
        &mut self,
        resource: usize,
        at: u32,
        mut latency: impl FnMut(u32, Dependence) -> u32,
    ) {
        let mut track = self.track(resource);
        if track.last_def != NONE && track.last_def != at {
            let from = track.last_def;
            self.link(from, at, latency(from, Dependence::Output));
        }
        self.follow(resource, at, latency);
        track.last_def = at;
        track.readers = NONE;
        self.tracks[resource] = track;
    }

    /// One more dependence, whatever it comes from.
    pub fn link(&mut self, from: u32, to: u32, latency: u32) {
        if from != to {
            self.raw.push((from, Edge { to, latency }));
        }
    }

    /// The graph of what was named. Further dependences may be linked, and the graph asked for again.
    pub fn finish(&mut self, count: usize) -> &Graph {
        // A counting sort by source; parallel edges become one.
        let graph = &mut self.graph;
        graph.start.clear();
        graph.start.resize(count + 1, 0);
        for &(from, _) in &self.raw {
            graph.start[from as usize + 1] += 1;
        }
        for k in 1..=count {
            graph.start[k] += graph.start[k - 1];
        }
        let blank = Edge { to: NONE, latency: 0 };
        graph.edges.clear();
        graph.edges.resize(self.raw.len(), blank);
        let mut next: Vec<u32> = graph.start[..count].to_vec();
        // Most edges were made in the order of their targets, so those of one source stay sorted by target.
        for &(from, edge) in &self.raw {
            let slot = &mut next[from as usize];
            let first = graph.start[from as usize];
            if *slot > first && graph.edges[*slot as usize - 1].to == edge.to {
                let last = &mut graph.edges[*slot as usize - 1];
                last.latency = last.latency.max(edge.latency);
            } else {
                graph.edges[*slot as usize] = edge;
                *slot += 1;
            }
        }
        // Close the gaps that merged edges left.
        let mut write = 0u32;
        for (k, &end) in next.iter().enumerate() {
            let first = graph.start[k];
            graph.start[k] = write;
            for read in first..end {
                graph.edges[write as usize] = graph.edges[read as usize];
                write += 1;
            }
        }
        graph.start[count] = write;
        graph.edges.truncate(write as usize);
        graph.waits_for.clear();
        graph.waits_for.resize(count, 0);
        graph.height.clear();
        graph.height.resize(count, 0);
        for node in (0..count).rev() {
            let (first, end) = (graph.start[node] as usize, graph.start[node + 1] as usize);
            let mut height = 0;
            for edge in &graph.edges[first..end] {
                graph.waits_for[edge.to as usize] += 1;
                height = height.max(edge.latency + graph.height[edge.to as usize]);
            }
            graph.height[node] = height;
        }
        &self.graph
    }
}

/// Numbers of resources: virtual registers, the cells of every file, classes of effects.
struct Places {
    vregs: usize,
    /// Where the cells of each file begin.
    files: smallvec::SmallVec<[usize; 4]>,
    first_class: usize,
    count: usize,
}

impl Places {
    fn of(vregs: usize, files: Files) -> Places {
        let mut next = vregs;
        let begins = files.0.iter().map(|file| {
            let begin = next;
            next += usize::from(file.cells);
            begin
        });
        let files = begins.collect();
        Places { vregs, files, first_class: next, count: next + 32 }
    }

    /// A physical operand is its first cell: instructions that name cells before allocation name one.
    fn reg(&mut self, reg: Reg) -> usize {
        match reg.as_virt() {
            Some(v) => {
                debug_assert!(v.index() < self.vregs);
                v.index()
            }
            None => {
                let cell = reg.cell();
                self.files[usize::from(cell.file.0)] + usize::from(cell.index)
            }
        }
    }

    fn classes(&self, mut set: u32, mut visit: impl FnMut(usize)) {
        while set != 0 {
            visit(self.first_class + set.trailing_zeros() as usize);
            set &= set - 1;
        }
    }
}
