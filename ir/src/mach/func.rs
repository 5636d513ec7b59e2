//! A machine function: blocks in program order, nodes in blocks, virtual registers with demands.

use super::flow::Adjacency;
use super::regs::{Demand, Files, VReg};
use crate::ssa::Span;
use cranelift_entity::{PrimaryMap, entity_impl};
use smallvec::SmallVec;

/// A basic block. Printed `b3`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(u32);
entity_impl!(Block, "b");

/// Which edges to follow.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Edges {
    /// Where a lane goes.
    Logical,
    /// Where the thread goes.
    Physical,
}

/// One instruction in its place.
#[derive(Clone, Debug)]
pub struct Node<I> {
    /// The instruction.
    pub inst: I,
    /// The source text it came from.
    pub span: Span,
}

/// One block.
#[derive(Clone, Debug)]
pub struct BlockData<I> {
    /// Instructions in order.
    pub nodes: Vec<Node<I>>,
    /// Where a lane that ends the block may go.
    pub logical: SmallVec<[Block; 2]>,
    /// Where the thread may go; a superset of what any instruction of the block jumps to.
    pub physical: SmallVec<[Block; 2]>,
}

impl<I> Default for BlockData<I> {
    fn default() -> Self {
        BlockData { nodes: Vec::new(), logical: SmallVec::new(), physical: SmallVec::new() }
    }
}

/// One virtual register.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct VRegData {
    /// The cells it needs.
    pub demand: Demand,
    /// Each lane has a value of its own, which lives over logical edges and is written under the mask. Otherwise the thread
    /// has one, which lives over physical edges and is written whatever lanes run. One file may hold values of both kinds.
    pub per_lane: bool,
    /// A position within the row that would be good (R700: the slot the scheduler chose). No duty.
    pub prefer: Option<u8>,
    /// Where the value comes from.
    pub span: Span,
}

/// A function over one target's instruction type.
#[derive(Clone, Debug)]
pub struct Func<I> {
    /// Its name: the entry point's.
    pub name: String,
    /// All blocks, placed or not.
    pub blocks: PrimaryMap<Block, BlockData<I>>,
    /// Placed blocks in program order; the first is the entry. Analyses see placed blocks only.
    pub layout: Vec<Block>,
    /// All virtual registers.
    pub vregs: PrimaryMap<VReg, VRegData>,
    /// The register files its registers belong to.
    pub files: Files,
}

impl<I> Func<I> {
    /// An empty function.
    pub fn new(name: impl Into<String>, files: Files) -> Self {
        Func {
            name: name.into(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
            vregs: PrimaryMap::new(),
            files,
        }
    }

    /// A new block, not placed yet: [`place`](Self::place) it when its turn in program order comes.
    pub fn make_block(&mut self) -> Block {
        self.blocks.push(BlockData::default())
    }

    /// Puts a block at the end of the program order.
    pub fn place(&mut self, block: Block) {
        self.layout.push(block);
    }

    /// A new block at the end of the program order.
    pub fn push_block(&mut self) -> Block {
        let block = self.make_block();
        self.place(block);
        block
    }

    /// A new virtual register, per lane where its file usually is.
    pub fn make_vreg(&mut self, demand: Demand, span: Span) -> VReg {
        self.vregs.push(VRegData {
            demand,
            per_lane: self.files.get(demand.file).per_lane,
            prefer: None,
            span,
        })
    }

    /// Appends an instruction to a block.
    pub fn push(&mut self, block: Block, inst: I, span: Span) {
        self.blocks[block].nodes.push(Node { inst, span });
    }

    /// Adds an edge of one kind, once.
    pub fn add_edge(&mut self, edges: Edges, from: Block, to: Block) {
        let list = match edges {
            Edges::Logical => &mut self.blocks[from].logical,
            Edges::Physical => &mut self.blocks[from].physical,
        };
        if !list.contains(&to) {
            list.push(to);
        }
    }

    /// Adds an edge that lanes and thread take alike.
    pub fn add_both_edges(&mut self, from: Block, to: Block) {
        self.add_edge(Edges::Logical, from, to);
        self.add_edge(Edges::Physical, from, to);
    }

    /// Successors of a block over one kind of edges.
    pub fn successors(&self, edges: Edges, block: Block) -> &[Block] {
        match edges {
            Edges::Logical => &self.blocks[block].logical,
            Edges::Physical => &self.blocks[block].physical,
        }
    }

    /// Predecessors of all blocks over one kind of edges, in one linear pass.
    pub fn predecessors(&self, edges: Edges) -> Adjacency {
        Adjacency::predecessors(self, edges)
    }

    /// Number of instructions in placed blocks.
    pub fn len(&self) -> usize {
        self.layout.iter().map(|&block| self.blocks[block].nodes.len()).sum()
    }

    /// True without a single instruction.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
