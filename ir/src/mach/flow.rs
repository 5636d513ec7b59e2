//! Facts about a function's graph that every pass wants: predecessors, and loops as block ranges.

use super::func::{Block, Edges, Func};
use cranelift_entity::{EntityRef, SecondaryMap};

/// For each block the blocks on the other end of its edges, in one flat array.
#[derive(Clone, Debug, Default)]
pub struct Adjacency {
    start: Vec<u32>,
    list: Vec<Block>,
}

impl Adjacency {
    /// Predecessors over one kind of edges; edges of unplaced blocks do not count.
    pub(super) fn predecessors<I>(func: &Func<I>, edges: Edges) -> Adjacency {
        let mut start = vec![0u32; func.blocks.len() + 1];
        for &block in &func.layout {
            for &to in func.successors(edges, block) {
                start[to.index() + 1] += 1;
            }
        }
        for k in 1..start.len() {
            start[k] += start[k - 1];
        }
        let mut list = vec![Block::from_u32(0); start[start.len() - 1] as usize];
        let mut next = start.clone();
        for &block in &func.layout {
            for &to in func.successors(edges, block) {
                list[next[to.index()] as usize] = block;
                next[to.index()] += 1;
            }
        }
        Adjacency { start, list }
    }

    /// The neighbours of a block, in program order.
    pub fn of(&self, block: Block) -> &[Block] {
        &self.list[self.start[block.index()] as usize..self.start[block.index() + 1] as usize]
    }
}

/// A loop: a run of blocks in program order that an edge closes backwards.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Position in the layout of the first block.
    pub first: u32,
    /// Position in the layout of the last block from which control returns to the first.
    pub last: u32,
    /// Loops around this one, itself included: 1 for an outermost loop.
    pub depth: u32,
}

/// The loops of a function, outermost first, and the depth of every block.
///
/// Structured code places a loop's blocks together, so a loop is a range of the layout. Any edge
/// to the same or an earlier block closes a loop; ranges that overlap without nesting (no
/// structured program has them) count as if nested, which only affects weights.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// Sorted by first block; an outer loop before the loops in it.
    pub all: Vec<Loop>,
    depth: SecondaryMap<Block, u32>,
}

impl Loops {
    /// Finds the loops over both kinds of edges.
    pub fn of<I>(func: &Func<I>) -> Loops {
        let mut position: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(func.blocks.len());
        for (k, &block) in func.layout.iter().enumerate() {
            position[block] = k as u32;
        }
        // The last latch of each header; headers in layout order.
        let mut latch: Vec<Option<u32>> = vec![None; func.layout.len()];
        for (k, &block) in func.layout.iter().enumerate() {
            let data = &func.blocks[block];
            for &to in data.logical.iter().chain(&data.physical) {
                let header = position[to] as usize;
                if header <= k && func.layout.get(header) == Some(&to) {
                    latch[header] = latch[header].max(Some(k as u32));
                }
            }
        }
        let mut loops = Loops::default();
        let mut open: Vec<u32> = Vec::new();
        for (k, &block) in func.layout.iter().enumerate() {
            open.retain(|&last| last >= k as u32);
            if let Some(last) = latch[k] {
                open.push(last);
                loops.all.push(Loop {
                    first: k as u32,
                    last,
                    depth: open.len() as u32,
                });
            }
            loops.depth[block] = open.len() as u32;
        }
        loops
    }

    /// Loops around a block.
    pub fn depth(&self, block: Block) -> u32 {
        self.depth[block]
    }
}
