//! Scoreboarding and reconvergence.
//!
//! Slots, waits, reconvergence and end: what stands in the flow field of every instruction. isa/valhall_rogue.md 1.6, 1.8.
//!
//! A message runs by itself and signals one of three slots when it is done. Before its result is touched, and before
//! memory that it touches is touched again, the slot must be waited for. One forward analysis finds what may be on its
//! way at each point; each wait is then put on the instruction before the one that needs it, and becomes a NOP only where
//! no instruction can carry it.

mod jumps;
mod last;
mod pending;
mod place;

use crate::fau::Read;
use crate::helpers;
use crate::inst::{Inst, Op, Special, Src};
use crate::isa::{Opcode, f};
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Edges, Func, Node, Reg};
use gpucc_ir::ssa::Stage;
pub use jumps::is_jump;
use jumps::{drop_jumps_to_next, drop_unreached, turn_branches};
pub use last::live_at_start;
use last::mark_last_uses;
pub use pending::effects;
use pending::{BARRIER_SLOT, FRAGMENT, LAST, Pending, SLOTS, code, facts};
use place::{place, tails};

/// Instructions of the call of a blend shader.
const CALL: u32 = 2;
/// The register of its return address.
pub const LINK: u8 = 48;

/// Fills slots and flow into every word, and marks last uses. Blocks get NOPs where nothing else can wait.
pub fn run(func: &mut Func<Inst>, stage: Stage) {
    drop_unreached(func);
    drop_jumps_to_next(func);
    turn_branches(func);
    drop_unreached(func);
    drop_jumps_to_next(func);
    lift_above_first(func);
    assign_slots(func);
    let start = Pending {
        busy: if stage == Stage::Fragment { FRAGMENT | LAST } else { 0 },
        ..Pending::default()
    };
    let analysis = analyse(func, start);
    mark_last_uses(func, &analysis);
    let tails = tails(func);
    place(func, &analysis, &tails);
    if stage == Stage::Fragment {
        helpers::end(func);
    }
    call_blend_shaders(func);
}

/// Behind each BLEND stands the call of a blend shader, which it skips where the target needs none: a return address in
/// r48, nothing where the program ends, and a jump to the second word of the descriptor. isa/valhall_rogue.md 1.10.
fn call_blend_shaders(func: &mut Func<Inst>) {
    for &block in &func.layout {
        let nodes = &mut func.blocks[block].nodes;
        let is_blend =
            |node: &Node<Inst>| node.inst.op().is_some_and(|op| op.opcode == Opcode::Blend);
        if !nodes.iter().any(is_blend) {
            continue;
        }
        for mut node in std::mem::take(nodes) {
            let span = node.span;
            let call = match &mut node.inst {
                Inst::Op(op) if op.opcode == Opcode::Blend => {
                    let ends = op.word.get(f::FLOW) == code::END;
                    let skipped = if ends { 0 } else { CALL };
                    op.word = op.word.with(f::TARGET, skipped);
                    match op.src[0] {
                        Src::Fast(Read::Special { page, slot, .. }) => {
                            Some((ends, Read::Special { page, slot, word: 1 }))
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            nodes.push(node);
            let Some((ends, address)) = call else {
                continue;
            };
            let link = Reg::phys(crate::inst::cell(LINK));
            let (from, distance) =
                if ends { (Read::ZERO, 0) } else { (Special::ProgramCounter.read(0), 8) };
            let ops = [
                Op::new(Opcode::IaddImmI32)
                    .from(&[Src::Fast(from)])
                    .with(f::IMM, distance)
                    .to(link),
                Op::new(Opcode::Branchzi)
                    .from(&[Src::Fast(Read::ZERO), Src::Fast(address)])
                    .with(f::EQ, 1)
                    .with(f::ABSOLUTE, 1),
            ];
            for op in ops {
                let inst = Inst::Op(Box::new(op));
                nodes.push(Node { inst, span });
            }
        }
    }
}

/// How far an instruction is looked for that may go first.
const REACH: usize = 12;

/// A program whose first instruction must wait wants another one before it, to carry the wait.
fn lift_above_first(func: &mut Func<Inst>) {
    let nodes = &mut func.blocks[func.layout[0]].nodes;
    let fact_of = |node: &Node<Inst>| node.inst.op().map(facts);
    let Some(first) = nodes.first().and_then(fact_of) else {
        return;
    };
    if first.fence == 0 {
        return;
    }
    let (mut read, mut written) = (first.reads, first.writes);
    for at in 1..nodes.len().min(REACH) {
        let Some(op) = nodes[at].inst.op() else {
            return;
        };
        let facts = facts(op);
        let free = facts.writes & (read | written) == 0 && facts.reads & written == 0;
        if free && !op.opcode.is_message() && op.target.is_none() && !op.dst.is_empty() {
            nodes[..=at].rotate_right(1);
            return;
        }
        read |= facts.reads;
        written |= facts.writes;
    }
}

/// Gives messages their slots: results that are read together share one, results that are read at different times do not.
fn assign_slots(func: &mut Func<Inst>) {
    let mut next = 0;
    for &block in &func.layout {
        let nodes = &func.blocks[block].nodes;
        // Where the result of each message of the block is touched first; the end of the block if nowhere.
        let mut touched = vec![nodes.len(); nodes.len()];
        let mut owner = [usize::MAX; 64];
        for (index, node) in nodes.iter().enumerate() {
            let Some(op) = node.inst.op() else { continue };
            let facts = facts(op);
            let mut left = facts.reads | facts.writes;
            while left != 0 {
                let register = left.trailing_zeros() as usize;
                left &= left - 1;
                if owner[register] != usize::MAX {
                    let first = &mut touched[owner[register]];
                    *first = (*first).min(index);
                }
                if facts.writes >> register & 1 != 0 {
                    owner[register] = usize::MAX;
                }
            }
            let mut left = facts.later;
            while left != 0 {
                owner[left.trailing_zeros() as usize] = index;
                left &= left - 1;
            }
        }
        // By slot: where what it holds is touched first, while that lies ahead.
        let mut ahead = [None::<usize>; SLOTS];
        for (index, touched) in touched.iter().enumerate() {
            let Inst::Op(op) = &mut func.blocks[block].nodes[index].inst else {
                continue;
            };
            for entry in &mut ahead {
                *entry = entry.filter(|&first| first > index);
            }
            match op.opcode {
                Opcode::Barrier => {
                    op.word = op.word.with(f::SLOT, BARRIER_SLOT);
                    ahead = [None; SLOTS];
                }
                _ if !op.opcode.has_slot() => {}
                Opcode::Blend | Opcode::ZsEmit => op.word = op.word.with(f::SLOT, 0),
                _ => {
                    let first = *touched;
                    let shared = ahead.iter().position(|&other| other == Some(first));
                    let free = (0..SLOTS).map(|k| (next + k) % SLOTS).find(|&k| ahead[k].is_none());
                    let slot = shared.or(free).unwrap_or_else(|| {
                        // All are taken: share with whoever is touched at the nearest time.
                        (0..SLOTS)
                            .min_by_key(|&k| ahead[k].unwrap_or(0).abs_diff(first))
                            .unwrap_or(0)
                    });
                    ahead[slot] = Some(ahead[slot].map_or(first, |other| other.min(first)));
                    next = (slot + 1) % SLOTS;
                    op.word = op.word.with(f::SLOT, slot as u32);
                }
            }
        }
    }
}

/// What may be on its way where each block begins and ends.
struct Analysis {
    begin: SecondaryMap<Block, Pending>,
    end: SecondaryMap<Block, Pending>,
}

/// Waits at the end of a block: varyings are not left on their way where lanes part.
fn at_end(func: &Func<Inst>, block: Block, pending: &Pending) -> u8 {
    if func.successors(Edges::Logical, block).is_empty() { 0 } else { pending.varying }
}

fn through(func: &Func<Inst>, block: Block, mut pending: Pending) -> Pending {
    for node in &func.blocks[block].nodes {
        if let Some(op) = node.inst.op() {
            let facts = facts(op);
            pending.wait(pending.needed(&facts));
            pending.issue(&facts);
            // A barrier waits for itself.
        }
    }
    pending.wait(at_end(func, block, &pending));
    pending
}

/// What is on its way only grows from round to round, so that a handful of rounds settles it.
fn analyse(func: &Func<Inst>, start: Pending) -> Analysis {
    let mut begin: SecondaryMap<Block, Pending> = SecondaryMap::new();
    let mut end: SecondaryMap<Block, Pending> = SecondaryMap::new();
    begin[func.layout[0]] = start;
    let mut queued: SecondaryMap<Block, bool> = SecondaryMap::with_default(false);
    let mut changed = true;
    for &block in &func.layout {
        queued[block] = true;
    }
    while changed {
        changed = false;
        for &block in &func.layout {
            if !std::mem::replace(&mut queued[block], false) {
                continue;
            }
            let out = through(func, block, begin[block]);
            end[block] = out;
            for &to in func.successors(Edges::Logical, block) {
                let mut merged = begin[to];
                merged.union(&out);
                if merged != begin[to] {
                    begin[to] = merged;
                    queued[to] = true;
                    changed = true;
                }
            }
        }
    }
    Analysis { begin, end }
}

#[cfg(test)]
mod tests;
