//! Facts about a function's graph that every pass wants: predecessors, and loops as block ranges.

use super::func::{Block, Edges, Func};
use cranelift_entity::{EntityRef, SecondaryMap};

/// For each block the blocks on the other end of its edges, in one flat array: by name (`Adjacency<Block>`), or by place in
/// the layout (`Adjacency<u32>`).
#[derive(Clone, Debug)]
pub struct Adjacency<N = Block> {
    start: Vec<u32>,
    list: Vec<N>,
}

impl<N: Copy> Adjacency<N> {
    /// The neighbours `to` of each of `count` blocks `from`, in the order in which `edges` names the pairs `(from, to)`.
    fn collect(count: usize, blank: N, edges: impl Fn(&mut dyn FnMut(usize, N))) -> Self {
        let mut start = vec![0u32; count + 1];
        edges(&mut |from, _| start[from + 1] += 1);
        for k in 1..start.len() {
            start[k] += start[k - 1];
        }
        let mut list = vec![blank; start[count] as usize];
        let mut next = start.clone();
        edges(&mut |from, to| {
            list[next[from] as usize] = to;
            next[from] += 1;
        });
        Adjacency { start, list }
    }

    fn row(&self, index: usize) -> &[N] {
        &self.list[self.start[index] as usize..self.start[index + 1] as usize]
    }
}

impl Adjacency {
    /// Predecessors over one kind of edges; edges of unplaced blocks do not count.
    pub(super) fn predecessors<I>(func: &Func<I>, edges: Edges) -> Adjacency {
        Adjacency::collect(func.blocks.len(), Block::from_u32(0), |add| {
            for &block in &func.layout {
                for &to in func.successors(edges, block) {
                    add(to.index(), block);
                }
            }
        })
    }

    /// The neighbours of a block, in program order.
    #[inline]
    pub fn of(&self, block: Block) -> &[Block] {
        self.row(block.index())
    }
}

impl Adjacency<u32> {
    /// Successors over one kind of edges, by places in the layout.
    pub fn successors<I>(func: &Func<I>, edges: Edges) -> Adjacency<u32> {
        let mut position: SecondaryMap<Block, u32> = SecondaryMap::with_capacity(func.blocks.len());
        for (k, &block) in (0..).zip(&func.layout) {
            position[block] = k;
        }
        Adjacency::collect(func.layout.len(), 0, |add| {
            for (from, &block) in func.layout.iter().enumerate() {
                for &to in func.successors(edges, block) {
                    add(from, position[to]);
                }
            }
        })
    }

    /// The same edges from their other ends; neighbours in program order.
    #[must_use]
    pub fn reversed(&self) -> Adjacency<u32> {
        Adjacency::collect(self.len(), 0, |add| {
            for from in 0..self.len() {
                for &to in self.of(from) {
                    add(to as usize, from as u32);
                }
            }
        })
    }

    /// The neighbours of the block at a place, in the order of their edges.
    #[inline]
    pub fn of(&self, position: usize) -> &[u32] {
        self.row(position)
    }

    /// Blocks.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// True for a function without blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
                loops.all.push(Loop { first: k as u32, last, depth: open.len() as u32 });
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
