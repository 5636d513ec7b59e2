//! Short arms without control flow of their own: their groups ask p0 themselves, and nothing adjusts the execution mask for them.
//! isa/rogue-pipeline.md 1.1 (cc), 2.7.

use crate::inst::{Inst, Step};
use crate::isa::group::{Condition, Ops};
use crate::pack::predicate;
use gpucc_ir::mach::{Block, Func};

/// Groups that both arms of a condition have at most: no instance jumps over them.
const MOST: u64 = 12;

/// A condition whose arms ask p0.
#[derive(Copy, Clone)]
pub(super) struct Arms {
    /// What the second arm asks.
    pub opposite: Condition,
}

/// What groups ask that run where p0 is this.
pub(super) fn asks(p0: bool) -> Condition {
    if p0 { Condition::IfP0 } else { Condition::IfNotP0 }
}

/// Whether a group may ask p0, which it then leaves as it is. What all instances do whatever the mask says, nobody asks for.
fn asks_well(step: &Step) -> bool {
    let (reads, writes) = predicate(&step.group);
    let group = &step.group;
    let runs = group.condition == Condition::Runs;
    runs && !reads && !writes && !group.atom && !matches!(group.ops, Ops::Control(_))
}

/// How many groups straight nodes make; nothing where one of them cannot ask p0.
fn weight<'a>(nodes: impl Iterator<Item = &'a Inst>) -> Option<u64> {
    let mut sum = 0;
    for inst in nodes {
        match inst {
            // A message and its wait.
            Inst::Step(step) if asks_well(step) => {
                sum += u64::from(step.group.repeat) + u64::from(step.message.is_some());
            }
            Inst::Copy { .. } => {}
            _ => return None,
        }
    }
    Some(sum)
}

/// The arms of the condition at the end of the block of this place of the layout, where they may ask p0 themselves.
pub(super) fn arms(func: &Func<Inst>, place: usize, p0: bool, target: Block) -> Option<Arms> {
    let block = |ahead: usize| func.layout.get(place + ahead).copied();
    let nodes = |block: Block| func.blocks[block].nodes.iter().map(|node| &node.inst);
    let first = block(1)?;
    let count = func.blocks[first].nodes.len();
    let arms = Arms { opposite: asks(!p0) };
    let ends = |block: Block| matches!(nodes(block).next(), Some(Inst::EndIf));
    if let Some(Inst::Break(_)) = nodes(first).next_back() {
        // Nothing is behind the break.
        let dead = func.blocks[block(2)?].nodes.is_empty();
        let sum = weight(nodes(first).take(count - 1))?;
        return (dead && block(3)? == target && ends(target) && sum <= MOST).then_some(arms);
    }
    let mut sum = weight(nodes(first))?;
    if block(2)? != target {
        return None;
    }
    if let Some(&Inst::Else { target: join }) = nodes(target).next() {
        sum += weight(nodes(target).skip(1))?;
        return (block(3)? == join && ends(join) && sum <= MOST).then_some(arms);
    }
    (ends(target) && sum <= MOST).then_some(arms)
}

/// Whether all that is left of a program behind a node of its last block may ask p0.
pub(super) fn rest(func: &Func<Inst>, place: usize, node: usize) -> bool {
    let Some((&block, [])) = func.layout[place..].split_first() else { return false };
    let nodes = &func.blocks[block].nodes[node + 1..];
    let Some((last, nodes)) = nodes.split_last() else { return false };
    matches!(last.inst, Inst::End) && weight(nodes.iter().map(|node| &node.inst)).is_some()
}
