//! Waits, reconvergence and end, in the flow fields of instructions that can carry them.

use super::jumps::is_jump;
use super::pending::{FRAGMENT, LAST, code, facts, wait_code, wait_mask};
use super::{Analysis, at_end};
use crate::inst::{Inst, Op};
use crate::isa::{Opcode, f};
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Edges, Func, Loops, Node};
use gpucc_ir::ssa::Span;
use gpucc_passes::mach::Tree;
use smallvec::SmallVec;

/// What the last instruction of each block must do: end, reconverge, or nothing (0). An empty block that control runs
/// through has no instruction: who goes there goes to the next one that has.
pub fn tails(func: &Func<Inst>) -> SecondaryMap<Block, u32> {
    let mut tails: SecondaryMap<Block, u32> = SecondaryMap::new();
    let edges = Landings::of(func);
    let mut gathers: SecondaryMap<Block, bool> = SecondaryMap::new();
    for (block, &found) in self::gathers(func).iter() {
        gathers[edges.at[block]] |= found;
    }
    for &block in &edges.blocks {
        tails[block] = if func.successors(Edges::Logical, block).is_empty() {
            code::END
        } else if parts(func, block) || edges.to(func, block).any(|to| gathers[to]) {
            code::RECONVERGE
        } else {
            0
        };
    }
    close(func, &edges, &mut tails);
    tails
}

/// Where control lands: at blocks with instructions, and at empty ones that end the program.
struct Landings {
    /// The blocks where control lands, in layout order.
    blocks: Vec<Block>,
    /// For each block the one whose first instruction is its own.
    at: SecondaryMap<Block, Block>,
    /// Place of each block in the layout.
    position: SecondaryMap<Block, usize>,
}

impl Landings {
    fn of(func: &Func<Inst>) -> Landings {
        let mut blocks = Vec::with_capacity(func.layout.len());
        let mut at: SecondaryMap<Block, Block> = SecondaryMap::with_default(func.layout[0]);
        let mut position: SecondaryMap<Block, usize> = SecondaryMap::new();
        let mut next = None;
        for (place, &block) in func.layout.iter().enumerate().rev() {
            position[block] = place;
            let ends = func.successors(Edges::Logical, block).is_empty();
            let landing = match next {
                Some(next) if func.blocks[block].nodes.is_empty() && !ends => next,
                _ => {
                    blocks.push(block);
                    block
                }
            };
            at[block] = landing;
            next = Some(landing);
        }
        blocks.reverse();
        Landings { blocks, at, position }
    }

    /// Where control may land behind a block.
    fn to<'a>(&'a self, func: &'a Func<Inst>, block: Block) -> impl Iterator<Item = Block> + 'a {
        let successors = func.successors(Edges::Logical, block).iter();
        successors.map(|&to| self.at[to])
    }
}

/// Lanes that reconverge wait where they go until nobody stands lower. So where one way into a block reconverges,
/// every other way there does that lanes may take while some wait: those behind a branch that parts lanes, and
/// those behind the branch that the waiting ones took. A way back to the head of a loop is none of them: who comes
/// from within has passed the head, where nobody waited any more.
fn close(func: &Func<Inst>, edges: &Landings, tails: &mut SecondaryMap<Block, u32>) {
    let mut work: Vec<Block> =
        edges.blocks.iter().copied().filter(|&block| tails[block] == code::RECONVERGE).collect();
    if work.is_empty() {
        return;
    }
    let mut from: SecondaryMap<Block, SmallVec<[Block; 2]>> = SecondaryMap::new();
    for &block in &edges.blocks {
        for to in edges.to(func, block) {
            if !from[to].contains(&block) {
                from[to].push(block);
            }
        }
    }
    // Blocks that run while lanes may wait elsewhere.
    let mut parted: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut stack: Vec<Block> = Vec::new();
    for &block in &edges.blocks {
        if parts(func, block) {
            stack.extend(edges.to(func, block));
        }
    }
    while let Some(block) = stack.pop() {
        if !std::mem::replace(&mut parted[block], true) {
            stack.extend(edges.to(func, block));
        }
    }
    // For each block the first one in the layout that reconverges into it.
    let mut first: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
    while let Some(block) = work.pop() {
        let place = edges.position[block];
        for to in edges.to(func, block) {
            let known = first[to];
            if known.is_some_and(|known| known <= place) {
                continue;
            }
            first[to] = Some(place);
            for &other in &from[to] {
                let position = edges.position[other];
                let may = parted[other] || position > place;
                if tails[other] == 0 && may && position < edges.position[to] {
                    tails[other] = code::RECONVERGE;
                    work.push(other);
                }
            }
        }
    }
}

/// Whether a block ends in a branch that lanes of a warp may take differently.
fn parts(func: &Func<Inst>, block: Block) -> bool {
    let last = func.blocks[block].nodes.last();
    let op = last.and_then(|node| node.inst.op());
    op.is_some_and(|op| op.target.is_some() && op.divergent && !is_jump(op))
}

/// Visits of blocks in search of where lanes meet, for each block; a thousand ways out of one loop would take a thousand.
const VISITS: u64 = 64;

/// Blocks where lanes meet again that a divergent branch parted: reached from both its sides, no further than where all
/// of them have met.
fn gathers(func: &Func<Inst>) -> SecondaryMap<Block, bool> {
    let mut gathers: SecondaryMap<Block, bool> = SecondaryMap::with_default(false);
    let parting: Vec<Block> =
        func.layout.iter().copied().filter(|&block| parts(func, block)).collect();
    if parting.is_empty() {
        return gathers;
    }
    let after = Tree::postdominators(func);
    let mut budget = VISITS * func.layout.len() as u64;
    let mut seen: SecondaryMap<Block, (u32, u8)> = SecondaryMap::new();
    let mut stack: Vec<Block> = Vec::new();
    for (number, &block) in (1u32..).zip(&parting) {
        let meeting = after.parent(block);
        if let Some(meeting) = meeting {
            gathers[meeting] = true;
        }
        for (side, &first) in func.successors(Edges::Logical, block).iter().enumerate() {
            let side = 1u8 << side.min(7);
            stack.push(first);
            while let Some(at) = stack.pop() {
                if Some(at) == meeting {
                    continue;
                }
                if budget == 0 {
                    // Lanes may gather anywhere: it costs time where none were parted, and is never wrong.
                    for &block in &func.layout {
                        gathers[block] = true;
                    }
                    return gathers;
                }
                budget -= 1;
                let entry = &mut seen[at];
                if entry.0 != number {
                    *entry = (number, 0);
                }
                if entry.1 & side != 0 {
                    continue;
                }
                entry.1 |= side;
                if entry.1 != side {
                    gathers[at] = true;
                }
                stack.extend_from_slice(func.successors(Edges::Logical, at));
            }
        }
    }
    // Lanes leave a loop on different trips. Those that left first may be ahead of where the paths meet by the graph
    // alone, for that may stand within the loop's code, which the lanes of later trips run through again.
    let mut position: SecondaryMap<Block, usize> = SecondaryMap::new();
    for (at, &block) in func.layout.iter().enumerate() {
        position[block] = at;
    }
    // Lanes that took the later of a branch's two ways wait there, also where the graph has all of them meet before it:
    // in a loop the way back may lead above the branch, and those that run on come down to the waiting ones.
    let preds = func.predecessors(Edges::Logical);
    for &block in &parting {
        let ways = func.successors(Edges::Logical, block).iter().copied();
        let Some(waiting) = ways.max_by_key(|&to| position[to]) else {
            continue;
        };
        let between = position[block] + 1..position[waiting];
        if preds.of(waiting).iter().any(|&from| between.contains(&position[from])) {
            gathers[waiting] = true;
        }
    }
    for a_loop in &Loops::of(func).all {
        let within = a_loop.first as usize..=a_loop.last as usize;
        if !parting.iter().any(|&block| within.contains(&position[block])) {
            continue;
        }
        for &block in &func.layout[within.clone()] {
            for &to in func.successors(Edges::Logical, block) {
                if !within.contains(&position[to]) {
                    gathers[to] = true;
                }
            }
        }
    }
    gathers
}

fn nop(flow: u32, span: Span) -> Node<Inst> {
    let op = Op::new(Opcode::Nop).with(f::FLOW, flow);
    Node { inst: Inst::Op(Box::new(op)), span }
}

/// The instruction at or before `last` that can carry a wait: after the last message that signals one of its slots.
fn carrier(nodes: &[Node<Inst>], mask: u8) -> Option<usize> {
    for (index, node) in nodes.iter().enumerate().rev() {
        let op = node.inst.op()?;
        let flow = op.word.get(f::FLOW);
        if flow == 0 || wait_mask(flow) != 0 {
            return Some(index);
        }
        let facts = facts(op);
        let signals = facts.slot.map_or(0, |slot| 1 << slot);
        // Nothing moves above what it waits for, nor above a place where lanes meet.
        if signals & mask != 0 || mask & (FRAGMENT | LAST) != 0 {
            return None;
        }
    }
    None
}

fn add_wait(node: &mut Node<Inst>, mask: u8) {
    if let Inst::Op(op) = &mut node.inst {
        let mask = mask | wait_mask(op.word.get(f::FLOW));
        op.word = op.word.with(f::FLOW, wait_code(mask));
    }
}

/// Puts waits and tails into the flow fields.
pub fn place(func: &mut Func<Inst>, analysis: &Analysis, tails: &SecondaryMap<Block, u32>) {
    let mut at_start: SmallVec<[(Block, u8); 8]> = SmallVec::new();
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        let old = std::mem::take(&mut func.blocks[block].nodes);
        let count = old.len();
        let mut out: Vec<Node<Inst>> = Vec::with_capacity(count + 2);
        let mut pending = analysis.begin[block];
        for (index, mut node) in old.into_iter().enumerate() {
            let Inst::Op(op) = &mut node.inst else {
                continue;
            };
            let facts = facts(op);
            if op.opcode == Opcode::Barrier {
                op.word = op.word.with(f::FLOW, code::WAIT);
            }
            if index + 1 == count && tails[block] != 0 && op.word.get(f::FLOW) == 0 {
                op.word = op.word.with(f::FLOW, tails[block]);
            }
            let mask = pending.needed(&facts);
            if mask != 0 {
                match carrier(&out, mask) {
                    Some(at) => add_wait(&mut out[at], mask),
                    None if out.is_empty() => at_start.push((block, mask)),
                    None => out.push(nop(wait_code(mask), node.span)),
                }
                pending.wait(mask);
            }
            pending.issue(&facts);
            out.push(node);
        }
        let mask = at_end(func, block, &pending);
        let span = out.last().map_or(Span::NONE, |node| node.span);
        if mask != 0 {
            match carrier(&out, mask) {
                Some(at) => add_wait(&mut out[at], mask),
                // The last instruction sends what is waited for and has the tail already. It waits instead, and a NOP
                // behind it gets the tail.
                None => {
                    if let Some(Node { inst: Inst::Op(op), .. }) = out.last_mut() {
                        op.word = op.word.with(f::FLOW, wait_code(mask));
                    }
                }
            }
        }
        let has_tail = out
            .last()
            .and_then(|node| node.inst.op())
            .is_some_and(|op| op.word.get(f::FLOW) == tails[block]);
        if tails[block] != 0 && !has_tail {
            out.push(nop(tails[block], span));
        }
        func.blocks[block].nodes = out;
    }
    let preds = func.predecessors(Edges::Logical);
    for (block, mask) in at_start {
        // Before the block, where every way that has something to wait for can carry it.
        let ways: SmallVec<[Block; 4]> = preds
            .of(block)
            .iter()
            .copied()
            .filter(|&from| {
                let busy = analysis.end[from].busy;
                busy & mask != 0
            })
            .collect();
        let carriers: Option<SmallVec<[usize; 4]>> =
            ways.iter().map(|&from| carrier(&func.blocks[from].nodes, mask)).collect();
        let entered_at_start = func.layout[0] == block;
        match carriers {
            Some(carriers) if !entered_at_start => {
                for (&from, &at) in ways.iter().zip(&carriers) {
                    add_wait(&mut func.blocks[from].nodes[at], mask);
                }
            }
            _ => {
                let span = func.blocks[block].nodes.first().map_or(Span::NONE, |node| node.span);
                func.blocks[block].nodes.insert(0, nop(wait_code(mask), span));
            }
        }
    }
}
