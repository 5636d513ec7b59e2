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
    /// Groups to wait after the issue of the source.
    pub latency: u32,
    /// The reason that asks for the longest wait.
    pub why: Dependence,
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
    pub fn successors(&self, node: u32) -> &[Edge] {
        &self.edges[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }
}

const NONE: u32 = u32::MAX;

/// What is known of one resource within the current region.
#[derive(Copy, Clone)]
struct Track {
    epoch: u32,
    last_def: u32,
    /// Head of the list of readers since the last definition.
    readers: u32,
}

const UNTRACKED: Track = Track {
    epoch: 0,
    last_def: NONE,
    readers: NONE,
};

/// Builds graphs; keeps its memory from region to region.
#[derive(Clone, Debug, Default)]
pub struct Depend {
    epoch: u32,
    virt: Vec<Track>,
    phys: Vec<Track>,
    classes: Vec<Track>,
    file_base: Vec<u32>,
    readers: Vec<(u32, u32)>,
    raw: Vec<(u32, Edge)>,
    operands: Vec<gpucc_ir::mach::Operand>,
    graph: Graph,
}

impl std::fmt::Debug for Track {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.epoch, self.last_def)
    }
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
        self.reset(vregs, files);
        for (at, node) in nodes[range.clone()].iter().enumerate() {
            self.add(at as u32, node, &nodes[range.clone()], model);
        }
        let count = range.len();
        self.finish(count);
        &self.graph
    }

    fn reset(&mut self, vregs: usize, files: Files) {
        self.epoch += 1;
        if self.virt.len() < vregs {
            self.virt.resize(vregs, UNTRACKED);
        }
        self.file_base.clear();
        let mut total = 0;
        for file in files.0 {
            self.file_base.push(total);
            total += u32::from(file.cells);
        }
        if self.phys.len() < total as usize {
            self.phys.resize(total as usize, UNTRACKED);
        }
        self.classes.resize(32, UNTRACKED);
        self.readers.clear();
        self.raw.clear();
    }

    fn add<I: Inst, M: Model<I>>(
        &mut self,
        at: u32,
        node: &Node<I>,
        region: &[Node<I>],
        model: &M,
    ) {
        let mut operands = std::mem::take(&mut self.operands);
        operands.clear();
        node.inst.operands(&mut |operand| operands.push(operand));
        // All reads before all writes: an instruction does not depend on itself.
        for defs in [false, true] {
            for operand in operands
                .iter()
                .filter(|operand| operand.role.is_def() == defs)
            {
                match (operand.reg.as_virt(), operand.reg.as_phys()) {
                    (Some(v), _) => self.touch(Resource::Virt(v.index()), defs, at, region, model),
                    (None, Some(_)) => {
                        let extent = model.extent(&node.inst, operand);
                        for k in 0..u32::from(extent.count) {
                            let cell = self.cell_index(operand.reg) + k * u32::from(extent.stride);
                            if (cell as usize) < self.phys.len() {
                                self.touch(Resource::Phys(cell as usize), defs, at, region, model);
                            }
                        }
                    }
                    (None, None) => {}
                }
            }
        }
        self.operands = operands;
        let effects = model.effects(&node.inst);
        for (mut set, write) in [
            (effects.reads & !effects.writes, false),
            (effects.writes, true),
        ] {
            while set != 0 {
                let class = set.trailing_zeros() as usize;
                set &= set - 1;
                self.touch(Resource::Class(class), write, at, region, model);
            }
        }
    }

    fn cell_index(&self, reg: Reg) -> u32 {
        let cell = reg.cell();
        self.file_base[cell.file.0 as usize] + u32::from(cell.index)
    }

    fn touch<I: Inst, M: Model<I>>(
        &mut self,
        what: Resource,
        write: bool,
        at: u32,
        region: &[Node<I>],
        model: &M,
    ) {
        let (track, order) = match what {
            Resource::Virt(index) => (&mut self.virt[index], false),
            Resource::Phys(index) => (&mut self.phys[index], false),
            Resource::Class(index) => (&mut self.classes[index], true),
        };
        if track.epoch != self.epoch {
            *track = Track {
                epoch: self.epoch,
                last_def: NONE,
                readers: NONE,
            };
        }
        let inst = |index: u32| &region[index as usize].inst;
        let mut link = |from: u32, why: Dependence| {
            if from != NONE && from != at {
                let why = if order { Dependence::Order } else { why };
                let latency = model.latency(inst(from), inst(at), why);
                self.raw.push((
                    from,
                    Edge {
                        to: at,
                        latency,
                        why,
                    },
                ));
            }
        };
        if write {
            link(track.last_def, Dependence::Output);
            let mut reader = track.readers;
            while reader != NONE {
                let (from, next) = self.readers[reader as usize];
                link(from, Dependence::Anti);
                reader = next;
            }
            track.last_def = at;
            track.readers = NONE;
        } else {
            link(track.last_def, Dependence::True);
            self.readers.push((at, track.readers));
            track.readers = self.readers.len() as u32 - 1;
        }
    }

    /// Sorts edges by source (a counting sort), merges parallel ones, and computes heights.
    fn finish(&mut self, count: usize) {
        let graph = &mut self.graph;
        graph.start.clear();
        graph.start.resize(count + 1, 0);
        for &(from, _) in &self.raw {
            graph.start[from as usize + 1] += 1;
        }
        for k in 1..=count {
            graph.start[k] += graph.start[k - 1];
        }
        let blank = Edge {
            to: NONE,
            latency: 0,
            why: Dependence::Order,
        };
        graph.edges.clear();
        graph.edges.resize(self.raw.len(), blank);
        let mut next: Vec<u32> = graph.start[..count].to_vec();
        // Edges were made in the order of their targets, so those of one source stay sorted by target.
        for &(from, edge) in &self.raw {
            let slot = &mut next[from as usize];
            let first = graph.start[from as usize];
            if *slot > first && graph.edges[*slot as usize - 1].to == edge.to {
                let last = &mut graph.edges[*slot as usize - 1];
                if edge.latency > last.latency {
                    *last = edge;
                }
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
    }
}

#[derive(Copy, Clone)]
enum Resource {
    Virt(usize),
    Phys(usize),
    Class(usize),
}
