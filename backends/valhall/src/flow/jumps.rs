//! Branches and jumps that need not be.

use crate::fau::Read;
use crate::inst::{Inst, Op, Src};
use crate::isa::{Opcode, f};
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Edges, Func};
use smallvec::SmallVec;

/// A branch over a jump becomes a branch to where the jump leads, and a branch to a jump one to where that leads.
pub fn turn_branches(func: &mut Func<Inst>) {
    // A chain of jumps is followed only so far: jumps in a circle have no end.
    const LONGEST_CHAIN: usize = 8;
    let only_jump = |func: &Func<Inst>, block: Block| match &func.blocks[block].nodes[..] {
        [node] => node.inst.op().filter(|op| is_jump(op)).and_then(|op| op.target),
        _ => None,
    };
    // How many blocks lead to each.
    let mut ways: Ways = SecondaryMap::new();
    for &block in &func.layout {
        count(&mut ways, func.successors(Edges::Logical, block), &[]);
    }
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        let Some(mut target) = branch_target(func, block) else {
            continue;
        };
        for _ in 0..LONGEST_CHAIN {
            match only_jump(func, target) {
                Some(next) if next != target => target = next,
                _ => break,
            }
        }
        retarget(func, block, target, &mut ways);
        let Some(&over) = func.layout.get(position + 1) else {
            continue;
        };
        let last = func.blocks[block].nodes.last().and_then(|node| node.inst.op());
        let turns = last.is_some_and(|op| op.opcode == Opcode::Branchz && !is_jump(op));
        if let Some(beyond) = only_jump(func, over)
            && turns
            && lands_next(func, position + 1, Some(target))
            && ways[over] == 1
        {
            func.blocks[over].nodes.clear();
            for list in [Edges::Logical, Edges::Physical] {
                replace_edge(func, list, over, (beyond, target), &mut ways);
            }
            retarget(func, block, beyond, &mut ways);
            if let Some(node) = func.blocks[block].nodes.last_mut()
                && let Inst::Op(op) = &mut node.inst
            {
                op.word = op.word.with(f::EQ, u32::from(!op.word.flag(f::EQ)));
            }
        }
    }
}

/// Blocks that nothing leads to are nothing.
pub fn drop_unreached(func: &mut Func<Inst>) {
    let mut reached: SecondaryMap<Block, bool> = SecondaryMap::with_default(false);
    let mut stack = vec![func.layout[0]];
    while let Some(block) = stack.pop() {
        if !std::mem::replace(&mut reached[block], true) {
            stack.extend_from_slice(func.successors(Edges::Logical, block));
        }
    }
    func.layout.retain(|&block| reached[block]);
}

/// Where the branch at the end of a block leads.
pub fn branch_target(func: &Func<Inst>, block: Block) -> Option<Block> {
    func.blocks[block].nodes.last()?.inst.op()?.target
}

/// How many blocks lead to each, logically.
type Ways = SecondaryMap<Block, i32>;

/// A block leads to some others, and no longer to those before.
fn count(ways: &mut Ways, now: &[Block], before: &[Block]) {
    for (list, change) in [(before, -1), (now, 1)] {
        for (k, &to) in list.iter().enumerate() {
            if !list[..k].contains(&to) {
                ways[to] += change;
            }
        }
    }
}

/// Makes the branch at the end of a block lead elsewhere.
fn retarget(func: &mut Func<Inst>, block: Block, to: Block, ways: &mut Ways) {
    let Some(node) = func.blocks[block].nodes.last_mut() else {
        return;
    };
    let Inst::Op(op) = &mut node.inst else { return };
    let Some(from) = op.target.replace(to).filter(|&from| from != to) else {
        return;
    };
    for edges in [Edges::Logical, Edges::Physical] {
        replace_edge(func, edges, block, (from, to), ways);
    }
}

/// A block leads to the second place instead of the first.
fn replace_edge(
    func: &mut Func<Inst>,
    edges: Edges,
    block: Block,
    (from, to): (Block, Block),
    ways: &mut Ways,
) {
    let before: SmallVec<[Block; 2]> = SmallVec::from_slice(func.successors(edges, block));
    let data = &mut func.blocks[block];
    let list = match edges {
        Edges::Logical => &mut data.logical,
        Edges::Physical => &mut data.physical,
    };
    if list.contains(&to) {
        list.retain(|&mut other| other != from);
    } else if let Some(place) = list.iter_mut().find(|place| **place == from) {
        *place = to;
    }
    if edges == Edges::Logical {
        count(ways, func.successors(edges, block), &before);
    }
}

/// Branches and jumps to the block that comes next are nothing.
pub fn drop_jumps_to_next(func: &mut Func<Inst>) {
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        if lands_next(func, position, branch_target(func, block)) {
            func.blocks[block].nodes.pop();
        }
    }
}

/// Whether a branch from the block at a position of the layout leads where control falls anyway.
fn lands_next(func: &Func<Inst>, position: usize, target: Option<Block>) -> bool {
    let Some(target) = target else { return false };
    for &block in &func.layout[position + 1..] {
        if block == target {
            return true;
        }
        // Where the program ends an instruction will say so: nobody runs through that.
        let ends = func.successors(Edges::Logical, block).is_empty();
        if ends || !func.blocks[block].nodes.is_empty() {
            return false;
        }
    }
    false
}

/// A branch that every lane takes: BRANCHZ.eq on zero.
pub fn is_jump(op: &Op) -> bool {
    op.opcode == Opcode::Branchz
        && op.word.flag(f::EQ)
        && matches!(op.src[..], [Src::Fast(Read::ZERO)])
}
