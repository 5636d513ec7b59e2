//! Slots, waits, reconvergence and end: what stands in the flow field of every instruction. isa/valhall_rogue.md 1.6, 1.8.
//!
//! A message runs by itself and signals one of three slots when it is done. Before its result is touched, and before
//! memory that it touches is touched again, the slot must be waited for. One forward analysis finds what may be on its
//! way at each point; each wait is then put on the instruction before the one that needs it, and becomes a NOP only where
//! no instruction can carry it.

use crate::emit;
use crate::fau::Read;
use crate::graph::Tree;
use crate::helpers;
use crate::inst::{Inst, Op, Special, Src};
use crate::isa::{Opcode, Unit, f};
use cranelift_entity::{EntityRef, SecondaryMap};
use gpucc_ir::mach::{Block, Edges, Func, Loops, Node, Reg};
use gpucc_ir::ssa::{Span, Stage};
use gpucc_passes::mach::Effects;
use smallvec::SmallVec;

/// Slots that messages may choose.
const SLOTS: usize = 3;
/// The slot of barriers.
const BARRIER_SLOT: u32 = 7;

/// Masks of what to wait for: bit 0..=2 a slot.
const ANY_SLOT: u8 = 0b00_111;
/// What fragments wait for before they test: slot 6.
const FRAGMENT: u8 = 0b01_000;
/// What fragments wait for before they write, and barriers: slot 7.
const LAST: u8 = 0b10_000;

/// Instructions of the call of a blend shader.
const CALL: u32 = 2;
/// The register of its return address.
pub const LINK: u8 = 48;

/// Values of the flow field.
mod code {
    pub const WAIT0126: u32 = 8;
    pub const WAIT: u32 = 9;
    pub const RECONVERGE: u32 = 10;
    pub const END: u32 = 15;
}

/// The flow value that waits for a mask.
fn wait_code(mask: u8) -> u32 {
    if mask & LAST != 0 {
        code::WAIT
    } else if mask & FRAGMENT != 0 {
        code::WAIT0126
    } else {
        u32::from(mask)
    }
}

/// What a flow value waits for.
fn wait_mask(code: u32) -> u8 {
    match code {
        0..=7 => code as u8,
        code::WAIT0126 => ANY_SLOT | FRAGMENT,
        code::WAIT => ANY_SLOT | FRAGMENT | LAST,
        _ => 0,
    }
}

/// What the order of messages asks of an instruction.
struct Facts {
    /// Registers read, by any operand.
    reads: u64,
    /// Registers written, at once or later.
    writes: u64,
    /// Registers read as staging.
    staging: u64,
    /// Registers written when the message is done.
    later: u64,
    /// The slot it signals.
    slot: Option<usize>,
    effects: Effects,
    /// Waits for these whatever is on its way in them; the fragment's own only where they are not yet past.
    fence: u8,
    /// Changes or reads the interpolation state of a fragment.
    varying: bool,
    /// It changes it.
    moves_varying: bool,
}

fn bit(reg: Reg) -> u64 {
    1 << reg.cell().index
}

/// What memory an instruction touches, if lowering has not said: everything, as far as its opcode goes.
pub fn effects(op: &Op) -> Effects {
    if let Some(effects) = op.effects {
        return effects;
    }
    let all = u32::MAX;
    let (reads, writes) = match op.opcode {
        Opcode::LdAttr
        | Opcode::LdAttrImm
        | Opcode::LeaAttr
        | Opcode::LeaAttrImm
        | Opcode::LeaBuf
        | Opcode::LeaBuffer
        | Opcode::LeaBufImm
        | Opcode::LeaTex
        | Opcode::LeaTexImm => (0, 0),
        _ => match op.opcode.unit() {
            Unit::Ls if op.opcode.staging().reads() && op.opcode.staging().writes() => (all, all),
            Unit::Ls if op.opcode.staging().reads() => (0, all),
            Unit::Ls | Unit::T | Unit::Vt => (all, 0),
            _ => (0, 0),
        },
    };
    // Atomics that return nothing still read; those with a result only still write.
    let atomic = matches!(
        op.opcode,
        Opcode::AtomI32
            | Opcode::AtomI64
            | Opcode::Atom1I32
            | Opcode::Atom1I64
            | Opcode::Atom1ReturnI32
            | Opcode::Atom1ReturnI64
    );
    if atomic {
        Effects {
            reads: all,
            writes: all,
        }
    } else {
        Effects { reads, writes }
    }
}

fn facts(op: &Op) -> Facts {
    let mut reads = 0;
    for source in &op.src {
        match *source {
            Src::Reg(reg) | Src::Low(reg) => reads |= bit(reg),
            Src::Pair(pair) => reads |= bit(pair[0]) | bit(pair[1]),
            _ => {}
        }
    }
    let set = |list: &[Reg]| list.iter().fold(0, |set, &reg| set | bit(reg));
    let (staging, later) = (set(&op.read) | set(&op.second), set(&op.write));
    // What a blend shader may overwrite while it runs.
    let clobbered = op.clobbers.iter().fold(0, |set, &(reg, _)| set | bit(reg));
    let slot = if op.opcode.has_slot() {
        Some(op.word.get(f::SLOT) as usize).filter(|&slot| slot < SLOTS)
    } else {
        // An alpha test always signals slot 0.
        (op.opcode == Opcode::Atest).then_some(0)
    };
    let fence = match op.opcode {
        Opcode::Barrier => ANY_SLOT,
        Opcode::Atest | Opcode::ZsEmit => ANY_SLOT | FRAGMENT,
        Opcode::Blend | Opcode::LdTile | Opcode::StTile => ANY_SLOT | FRAGMENT | LAST,
        _ => 0,
    };
    let varying = matches!(op.opcode.unit(), Unit::V | Unit::Vt);
    let moves_varying = varying
        && (op.opcode.has(f::UPDATE) && op.word.get(f::UPDATE) != 1
            || op.opcode.has(f::SAMPLE_UPDATE) && op.word.get(f::SAMPLE_UPDATE) != 7);
    Facts {
        reads: reads | staging,
        writes: later | set(&op.dst) | clobbered,
        staging,
        later,
        slot,
        effects: effects(op),
        fence,
        varying,
        moves_varying,
    }
}

/// What may be on its way.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
struct Pending {
    /// Registers that will be written, by slot.
    written: [u64; SLOTS],
    /// Staging registers that may still be read, by slot.
    read: [u64; SLOTS],
    effects: [Effects; SLOTS],
    /// Slots with anything in them, and the fragment's own dependences that are not past.
    busy: u8,
    /// Slots with varyings in them.
    varying: u8,
}

impl Pending {
    fn union(&mut self, other: &Pending) {
        for slot in 0..SLOTS {
            self.written[slot] |= other.written[slot];
            self.read[slot] |= other.read[slot];
            self.effects[slot].reads |= other.effects[slot].reads;
            self.effects[slot].writes |= other.effects[slot].writes;
        }
        self.busy |= other.busy;
        self.varying |= other.varying;
    }

    /// What must be waited for before an instruction.
    fn needed(&self, facts: &Facts) -> u8 {
        let mut mask = facts.fence & self.busy;
        for slot in 0..SLOTS {
            let touched = self.written[slot] & (facts.reads | facts.writes) != 0;
            let (ours, theirs) = (facts.effects, self.effects[slot]);
            let ordered =
                ours.writes & (theirs.reads | theirs.writes) | ours.reads & theirs.writes != 0;
            if touched || ordered {
                mask |= 1 << slot;
            }
        }
        if facts.moves_varying {
            mask |= self.varying;
        }
        mask
    }

    fn wait(&mut self, mask: u8) {
        // Waiting for the fragment's own dependences takes all slots along.
        let mask = wait_mask(wait_code(mask));
        for slot in 0..SLOTS {
            if mask >> slot & 1 != 0 {
                self.written[slot] = 0;
                self.read[slot] = 0;
                self.effects[slot] = Effects::default();
            }
        }
        self.busy &= !mask;
        self.varying &= !mask;
    }

    fn issue(&mut self, facts: &Facts) {
        let Some(slot) = facts.slot else { return };
        self.written[slot] |= facts.later;
        self.read[slot] |= facts.staging;
        self.effects[slot].reads |= facts.effects.reads;
        self.effects[slot].writes |= facts.effects.writes;
        self.busy |= 1 << slot;
        if facts.varying {
            self.varying |= 1 << slot;
        }
    }
}

/// Fills operands, slots, flow and last-use marks into every word. Blocks get NOPs where nothing else can wait.
pub fn run(func: &mut Func<Inst>, stage: Stage) {
    drop_jumps_to_next(func);
    turn_branches(func);
    drop_unreached(func);
    drop_jumps_to_next(func);
    for &block in &func.layout {
        for node in &mut func.blocks[block].nodes {
            if let Inst::Op(op) = &mut node.inst {
                emit::operands(op);
            }
        }
    }
    lift_above_first(func);
    assign_slots(func);
    let start = Pending {
        busy: if stage == Stage::Fragment {
            FRAGMENT | LAST
        } else {
            0
        },
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
                        Src::Fast(Read::Special { page, slot, .. }) => Some((
                            ends,
                            Read::Special {
                                page,
                                slot,
                                word: 1,
                            },
                        )),
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
            let (from, distance) = if ends {
                (Read::ZERO, 0)
            } else {
                (Special::ProgramCounter.read(0), 8)
            };
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
            for mut op in ops {
                emit::operands(&mut op);
                let inst = Inst::Op(Box::new(op));
                nodes.push(Node { inst, span });
            }
        }
    }
}

/// A branch over a jump becomes a branch to where the jump leads, and a branch to a jump one to where that leads.
fn turn_branches(func: &mut Func<Inst>) {
    // A chain of jumps is followed only so far: jumps in a circle have no end.
    const LONGEST_CHAIN: usize = 8;
    let only_jump = |func: &Func<Inst>, block: Block| match &func.blocks[block].nodes[..] {
        [node] => node
            .inst
            .op()
            .filter(|op| is_jump(op))
            .and_then(|op| op.target),
        _ => None,
    };
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
        retarget(func, block, target);
        let Some(&over) = func.layout.get(position + 1) else {
            continue;
        };
        let last = func.blocks[block]
            .nodes
            .last()
            .and_then(|node| node.inst.op());
        let turns = last.is_some_and(|op| op.opcode == Opcode::Branchz && !is_jump(op));
        let preds_of_over = || {
            let all = func.layout.iter();
            all.filter(|&&from| func.successors(Edges::Logical, from).contains(&over))
                .count()
        };
        if let Some(beyond) = only_jump(func, over)
            && turns
            && lands_next(func, position + 1, Some(target))
            && preds_of_over() == 1
        {
            func.blocks[over].nodes.clear();
            for list in [Edges::Logical, Edges::Physical] {
                replace_edge(func, list, over, beyond, target);
            }
            retarget(func, block, beyond);
            if let Some(node) = func.blocks[block].nodes.last_mut()
                && let Inst::Op(op) = &mut node.inst
            {
                op.word = op.word.with(f::EQ, u32::from(!op.word.flag(f::EQ)));
            }
        }
    }
}

/// Blocks that nothing leads to are nothing.
fn drop_unreached(func: &mut Func<Inst>) {
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
fn branch_target(func: &Func<Inst>, block: Block) -> Option<Block> {
    func.blocks[block].nodes.last()?.inst.op()?.target
}

/// Makes the branch at the end of a block lead elsewhere.
fn retarget(func: &mut Func<Inst>, block: Block, to: Block) {
    let Some(node) = func.blocks[block].nodes.last_mut() else {
        return;
    };
    let Inst::Op(op) = &mut node.inst else { return };
    let Some(from) = op.target.replace(to).filter(|&from| from != to) else {
        return;
    };
    for edges in [Edges::Logical, Edges::Physical] {
        replace_edge(func, edges, block, from, to);
    }
}

fn replace_edge(func: &mut Func<Inst>, edges: Edges, block: Block, from: Block, to: Block) {
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
}

/// Jumps to the block that comes next are nothing.
fn drop_jumps_to_next(func: &mut Func<Inst>) {
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        let target = func.blocks[block].nodes.last().and_then(|node| {
            let op = node.inst.op()?;
            op.target
                .filter(|_| is_jump(op) || lands_next(func, position, op.target))
        });
        let Some(target) = target else { continue };
        if lands_next(func, position, Some(target)) {
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
        if !func.blocks[block].nodes.is_empty() {
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
                    let free = (0..SLOTS)
                        .map(|k| (next + k) % SLOTS)
                        .find(|&k| ahead[k].is_none());
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
    if func.successors(Edges::Logical, block).is_empty() {
        0
    } else {
        pending.varying
    }
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

/// Marks registers that nobody reads after an instruction. Staging registers are never marked, nor registers that a
/// message may still be reading. A pair is marked when both halves are dead.
fn mark_last_uses(func: &mut Func<Inst>, analysis: &Analysis) {
    let live = live_at_end(func);
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        // What pending messages may still read, before each instruction.
        let mut pending = analysis.begin[block];
        let busy: Vec<u64> = func.blocks[block]
            .nodes
            .iter()
            .map(|node| {
                let Some(op) = node.inst.op() else { return 0 };
                let facts = facts(op);
                pending.wait(pending.needed(&facts));
                pending.issue(&facts);
                pending.read.iter().fold(0, |set, &slot| set | slot)
            })
            .collect();
        let mut alive = live[block];
        for (node, busy) in func.blocks[block].nodes.iter_mut().zip(busy).rev() {
            let Inst::Op(op) = &mut node.inst else {
                continue;
            };
            let facts = facts(op);
            alive &= !facts.writes;
            // What a blend shader gets is never dead.
            let kept = if op.opcode == Opcode::Blend {
                u64::MAX
            } else {
                0
            };
            let dead = !(alive | busy | facts.staging | kept);
            let fields = op.opcode.sources();
            for (source, place) in op.src.iter().zip(fields) {
                let registers = match *source {
                    Src::Reg(reg) => bit(reg),
                    // The other half of the pair would die with it.
                    Src::Low(reg) => bit(reg) | bit(reg) << 1,
                    Src::Pair(pair) => bit(pair[0]) | bit(pair[1]),
                    _ => continue,
                };
                if registers & !dead == 0 {
                    let byte = op.word.get(place.field);
                    op.word = op.word.with(place.field, byte | emit::LAST_USE);
                }
            }
            alive |= facts.reads;
        }
    }
}

/// Registers that are read after the end of each block.
fn live_at_end(func: &Func<Inst>) -> SecondaryMap<Block, u64> {
    let mut gen_kill: SecondaryMap<Block, (u64, u64)> = SecondaryMap::new();
    for &block in &func.layout {
        let (mut read, mut written) = (0, 0);
        for node in &func.blocks[block].nodes {
            if let Some(op) = node.inst.op() {
                let facts = facts(op);
                read |= facts.reads & !written;
                written |= facts.writes;
            }
        }
        gen_kill[block] = (read, written);
    }
    let mut out: SecondaryMap<Block, u64> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for &block in func.layout.iter().rev() {
            let mut live = 0;
            for &to in func.successors(Edges::Logical, block) {
                let (read, written) = gen_kill[to];
                live |= read | out[to] & !written;
            }
            if live != out[block] {
                out[block] = live;
                changed = true;
            }
        }
    }
    out
}

/// Registers that hold a value when the program starts: those that some way reads before it writes them.
pub fn live_at_start(func: &Func<Inst>) -> u64 {
    let mut alive = live_at_end(func)[func.layout[0]];
    for node in func.blocks[func.layout[0]].nodes.iter().rev() {
        if let Some(op) = node.inst.op() {
            let facts = facts(op);
            alive = alive & !facts.writes | facts.reads;
        }
    }
    alive
}

/// What the last instruction of each block must do: end, reconverge, or nothing (0).
fn tails(func: &Func<Inst>) -> SecondaryMap<Block, u32> {
    let mut tails: SecondaryMap<Block, u32> = SecondaryMap::new();
    let gathers = gathers(func);
    for &block in &func.layout {
        let successors = func.successors(Edges::Logical, block);
        tails[block] = if successors.is_empty() {
            code::END
        } else if parts(func, block) || successors.iter().any(|&to| gathers[to]) {
            code::RECONVERGE
        } else {
            0
        };
    }
    tails
}

/// Whether a block ends in a branch that lanes of a warp may take differently.
fn parts(func: &Func<Inst>, block: Block) -> bool {
    let last = func.blocks[block].nodes.last();
    let op = last.and_then(|node| node.inst.op());
    op.is_some_and(|op| op.target.is_some() && op.divergent && !is_jump(op))
}

/// Blocks where lanes meet again that a divergent branch parted: reached from both its sides, no further than where all
/// of them have met.
fn gathers(func: &Func<Inst>) -> SecondaryMap<Block, bool> {
    let mut gathers: SecondaryMap<Block, bool> = SecondaryMap::with_default(false);
    let parting: Vec<Block> = func
        .layout
        .iter()
        .copied()
        .filter(|&block| parts(func, block))
        .collect();
    if parting.is_empty() {
        return gathers;
    }
    let after = Tree::postdominators(func);
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
        if preds
            .of(waiting)
            .iter()
            .any(|&from| between.contains(&position[from]))
        {
            gathers[waiting] = true;
        }
    }
    for a_loop in &Loops::of(func).all {
        let within = a_loop.first as usize..=a_loop.last as usize;
        if !parting
            .iter()
            .any(|&block| within.contains(&position[block]))
        {
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
    Node {
        inst: Inst::Op(Box::new(op)),
        span,
    }
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
fn place(func: &mut Func<Inst>, analysis: &Analysis, tails: &SecondaryMap<Block, u32>) {
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
            // The tail stands on the last instruction already, so that this goes before it if it can.
            let last_signals = out
                .last()
                .and_then(|node| node.inst.op())
                .is_some_and(|op| facts(op).slot.is_some_and(|slot| mask >> slot & 1 != 0));
            match carrier(&out, mask) {
                Some(at) => add_wait(&mut out[at], mask),
                None if last_signals || out.is_empty() => {
                    // The tail moves to the NOP's successor: a wait first, then the tail.
                    if let Some(node) = out.last_mut()
                        && let Inst::Op(op) = &mut node.inst
                        && op.target.is_none()
                        && tails[block] != 0
                    {
                        op.word = op.word.with(f::FLOW, wait_code(mask));
                    } else {
                        out.push(nop(wait_code(mask), span));
                    }
                }
                None => {
                    let before = out.len() - 1;
                    out.insert(before, nop(wait_code(mask), span));
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
        let carriers: Option<SmallVec<[usize; 4]>> = ways
            .iter()
            .map(|&from| carrier(&func.blocks[from].nodes, mask))
            .collect();
        let entered_at_start = func.layout[0] == block;
        match carriers {
            Some(carriers) if !entered_at_start => {
                for (&from, &at) in ways.iter().zip(&carriers) {
                    add_wait(&mut func.blocks[from].nodes[at], mask);
                }
            }
            _ => {
                let span = func.blocks[block]
                    .nodes
                    .first()
                    .map_or(Span::NONE, |node| node.span);
                func.blocks[block]
                    .nodes
                    .insert(0, nop(wait_code(mask), span));
            }
        }
    }
    debug_assert!(
        func.layout
            .iter()
            .all(|block| block.index() < func.blocks.len())
    );
}

#[cfg(test)]
mod tests;
