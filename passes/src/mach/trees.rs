//! Dominators and postdominators of a machine function, over logical edges.

use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Edges, Func};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

const NONE: u32 = u32::MAX;

/// A tree over blocks: each block's immediate (post)dominator.
pub struct Tree {
    parent: SecondaryMap<Block, Option<Block>>,
    /// Steps from the root; `NONE` for blocks that it does not reach.
    depth: SecondaryMap<Block, u32>,
}

impl Tree {
    /// Dominators: who must have run before.
    pub fn dominators<I>(func: &Func<I>) -> Tree {
        Tree::build(func, |graph, root, position| {
            graph.add_edge(root, NodeIndex::new(0), ());
            for (from, &block) in func.layout.iter().enumerate() {
                for &to in func.successors(Edges::Logical, block) {
                    graph.add_edge(NodeIndex::new(from), position[to], ());
                }
            }
        })
    }

    /// Postdominators: who will run. Blocks from which no exit is reached have none.
    pub fn postdominators<I>(func: &Func<I>) -> Tree {
        Tree::build(func, |graph, root, position| {
            for (to, &block) in func.layout.iter().enumerate() {
                let next = func.successors(Edges::Logical, block);
                if next.is_empty() {
                    graph.add_edge(root, NodeIndex::new(to), ());
                }
                for &from in next {
                    graph.add_edge(position[from], NodeIndex::new(to), ());
                }
            }
        })
    }

    /// A tree from a root that is no block, so that several blocks may stand directly below it.
    fn build<I>(
        func: &Func<I>,
        edges: impl FnOnce(&mut DiGraph<(), ()>, NodeIndex, &SecondaryMap<Block, NodeIndex>),
    ) -> Tree {
        let count = func.layout.len();
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(count + 1, 2 * count);
        let mut position: SecondaryMap<Block, NodeIndex> =
            SecondaryMap::with_capacity(func.blocks.len());
        for &block in &func.layout {
            position[block] = graph.add_node(());
        }
        let root = graph.add_node(());
        edges(&mut graph, root, &position);
        let tree = simple_fast(&graph, root);
        let mut parent: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
        let mut depth: SecondaryMap<Block, u32> = SecondaryMap::with_default(NONE);
        let mut path: Vec<Block> = Vec::new();
        for (k, &block) in func.layout.iter().enumerate() {
            let above = tree.immediate_dominator(NodeIndex::new(k));
            parent[block] = above.and_then(|above| func.layout.get(above.index()).copied());
            if above.is_none() {
                continue;
            }
            // The way up to a block whose depth is known, and down again.
            let mut up = Some(block);
            while let Some(at) = up.filter(|&at| depth[at] == NONE) {
                path.push(at);
                let above = tree.immediate_dominator(position[at]);
                up = above.and_then(|above| func.layout.get(above.index()).copied());
            }
            let mut steps = up.map_or(0, |at| depth[at]);
            while let Some(at) = path.pop() {
                steps += 1;
                depth[at] = steps;
            }
        }
        Tree { parent, depth }
    }

    /// Whether the root reaches a block.
    pub fn reaches(&self, block: Block) -> bool {
        self.depth[block] != NONE
    }

    /// The immediate (post)dominator; `None` for roots and blocks that are not reached.
    pub fn parent(&self, block: Block) -> Option<Block> {
        self.parent[block]
    }

    /// The nearest block that (post)dominates both; both must be reached.
    pub fn common(&self, a: Block, b: Block) -> Option<Block> {
        let (mut a, mut b) = (a, b);
        while a != b {
            if self.depth[a] < self.depth[b] {
                (a, b) = (b, a);
            }
            a = self.parent(a)?;
        }
        Some(a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::mach::Files;

    /// Blocks in layout order with these successors.
    fn graph(edges: &[&[usize]]) -> (Func<()>, Vec<Block>) {
        let mut func = Func::new("graph", Files(&[]));
        let blocks: Vec<Block> = edges.iter().map(|_| func.push_block()).collect();
        for (from, list) in edges.iter().enumerate() {
            for &to in *list {
                func.add_both_edges(blocks[from], blocks[to]);
            }
        }
        (func, blocks)
    }

    #[test]
    fn a_diamond_in_a_loop_has_the_trees_one_draws() {
        // 0 -> 1 -> {2, 3} -> 4 -> {1, 5}
        let (func, b) = graph(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[]]);
        let tree = Tree::dominators(&func);
        let parents: Vec<Option<Block>> = b.iter().map(|&block| tree.parent(block)).collect();
        assert_eq!(parents, [None, Some(b[0]), Some(b[1]), Some(b[1]), Some(b[1]), Some(b[4])]);
        assert_eq!(tree.common(b[2], b[3]), Some(b[1]));
        let tree = Tree::postdominators(&func);
        let parents: Vec<Option<Block>> = b.iter().map(|&block| tree.parent(block)).collect();
        assert_eq!(parents, [Some(b[1]), Some(b[4]), Some(b[4]), Some(b[4]), Some(b[5]), None]);
    }

    #[test]
    fn two_exits_have_no_common_postdominator() {
        let (func, b) = graph(&[&[1, 2], &[], &[]]);
        let tree = Tree::postdominators(&func);
        assert!(tree.reaches(b[0]) && tree.parent(b[0]).is_none());
    }
}
