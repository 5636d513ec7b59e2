//! Dominators and postdominators of a machine function, over logical edges.

use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Edges, Func};

const NONE: u32 = u32::MAX;

/// A tree over blocks: each block's immediate (post)dominator.
pub struct Tree {
    /// Number of each block in an order in which parents come first; `NONE` when it is not reached.
    number: SecondaryMap<Block, u32>,
    order: Vec<Block>,
    /// By number; the root's is itself.
    parent: Vec<u32>,
    /// The root is not a block but the point behind all exits.
    virtual_root: bool,
}

impl Tree {
    /// Dominators: who must have run before.
    pub fn dominators<I>(func: &Func<I>) -> Tree {
        let entry = func.layout[0];
        let order = reverse_postorder(func, &[entry], |block| {
            func.successors(Edges::Logical, block)
        });
        let preds = func.predecessors(Edges::Logical);
        Tree::build(order, false, |block| preds.of(block).to_vec(), |_| false)
    }

    /// Postdominators: who will run. Blocks from which no exit is reached have none.
    pub fn postdominators<I>(func: &Func<I>) -> Tree {
        let preds = func.predecessors(Edges::Logical);
        let exits: Vec<Block> = func
            .layout
            .iter()
            .copied()
            .filter(|&block| func.successors(Edges::Logical, block).is_empty())
            .collect();
        let order = reverse_postorder(func, &exits, |block| preds.of(block));
        Tree::build(
            order,
            true,
            |block| func.successors(Edges::Logical, block).to_vec(),
            |block| func.successors(Edges::Logical, block).is_empty(),
        )
    }

    /// The simple iteration of Cooper, Harvey and Kennedy. `before` are the blocks that lead here in the tree's sense.
    fn build(
        order: Vec<Block>,
        virtual_root: bool,
        before: impl Fn(Block) -> Vec<Block>,
        is_root: impl Fn(Block) -> bool,
    ) -> Tree {
        let offset = u32::from(virtual_root);
        let mut number: SecondaryMap<Block, u32> = SecondaryMap::with_default(NONE);
        for (k, &block) in order.iter().enumerate() {
            number[block] = k as u32 + offset;
        }
        let before: Vec<Vec<u32>> = order
            .iter()
            .map(|&block| {
                let list = before(block).into_iter().map(|from| number[from]);
                let mut list: Vec<u32> = list.filter(|&k| k != NONE).collect();
                if is_root(block) {
                    list.push(0);
                }
                list
            })
            .collect();
        let mut parent = vec![NONE; order.len() + offset as usize];
        if !parent.is_empty() {
            parent[0] = 0;
        }
        let first = usize::from(!virtual_root);
        let mut changed = true;
        while changed {
            changed = false;
            for (k, list) in before.iter().enumerate().skip(first) {
                let this = k + offset as usize;
                let mut new = NONE;
                for &from in list {
                    if parent[from as usize] != NONE {
                        new = if new == NONE {
                            from
                        } else {
                            meet(&parent, new, from)
                        };
                    }
                }
                if new != parent[this] {
                    parent[this] = new;
                    changed = true;
                }
            }
        }
        Tree {
            number,
            order,
            parent,
            virtual_root,
        }
    }

    fn block(&self, number: u32) -> Option<Block> {
        let offset = u32::from(self.virtual_root);
        self.order
            .get(number.checked_sub(offset)? as usize)
            .copied()
    }

    /// Whether the root reaches a block.
    pub fn reaches(&self, block: Block) -> bool {
        self.number[block] != NONE
    }

    /// The immediate (post)dominator; `None` for roots and blocks that are not reached.
    pub fn parent(&self, block: Block) -> Option<Block> {
        let number = self.number[block];
        if number == NONE {
            return None;
        }
        let parent = self.parent[number as usize];
        if parent == NONE || parent == number {
            return None;
        }
        self.block(parent)
    }

    /// The nearest block that (post)dominates both; both must be reached.
    pub fn common(&self, a: Block, b: Block) -> Option<Block> {
        self.block(meet(&self.parent, self.number[a], self.number[b]))
    }
}

fn meet(parent: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = parent[a as usize];
        }
        while b > a {
            b = parent[b as usize];
        }
    }
    a
}

fn reverse_postorder<'f, I>(
    func: &'f Func<I>,
    roots: &[Block],
    next: impl Fn(Block) -> &'f [Block],
) -> Vec<Block> {
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::with_capacity(func.blocks.len());
    let mut order = Vec::with_capacity(func.layout.len());
    let mut stack: Vec<(Block, usize)> = Vec::new();
    for &root in roots {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        stack.push((root, 0));
        while let Some((block, at)) = stack.last_mut() {
            let Some(&to) = next(*block).get(*at) else {
                order.push(*block);
                stack.pop();
                continue;
            };
            *at += 1;
            if !std::mem::replace(&mut seen[to], true) {
                stack.push((to, 0));
            }
        }
    }
    order.reverse();
    order
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
        assert_eq!(
            parents,
            [
                None,
                Some(b[0]),
                Some(b[1]),
                Some(b[1]),
                Some(b[1]),
                Some(b[4])
            ]
        );
        assert_eq!(tree.common(b[2], b[3]), Some(b[1]));
        let tree = Tree::postdominators(&func);
        let parents: Vec<Option<Block>> = b.iter().map(|&block| tree.parent(block)).collect();
        assert_eq!(
            parents,
            [
                Some(b[1]),
                Some(b[4]),
                Some(b[4]),
                Some(b[4]),
                Some(b[5]),
                None
            ]
        );
    }

    #[test]
    fn two_exits_have_no_common_postdominator() {
        let (func, b) = graph(&[&[1, 2], &[], &[]]);
        let tree = Tree::postdominators(&func);
        assert!(tree.reaches(b[0]) && tree.parent(b[0]).is_none());
    }
}
