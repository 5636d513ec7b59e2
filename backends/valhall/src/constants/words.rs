//! Which word of the uniforms each entry gets: what one instruction reads stands in one slot.

use super::PAGE;
use crate::api::FauWord;
use crate::fau::Reader;
use crate::inst::{FauRef, Inst, Op, Src};
use gpucc_ir::mach::{Func, Loops};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Gives every uniform a word: entries that are read as 64 bits first, then those that one instruction reads together,
/// in one slot; what is read most in the lower pages. Entries with several partners stand in several slots, as far as the
/// first page has room: else one of the two would have to be moved to a register, and held there.
pub(super) fn words(funcs: &mut [Func<Inst>], entries: &mut Vec<FauWord>) -> Vec<Option<FauRef>> {
    let mut weight: BTreeMap<FauRef, u64> = BTreeMap::new();
    let mut together: BTreeMap<(FauRef, FauRef), u64> = BTreeMap::new();
    let mut pairs: BTreeMap<FauRef, u64> = BTreeMap::new();
    // What some instruction reads, and no third word.
    let mut two: BTreeSet<(FauRef, FauRef)> = BTreeSet::new();
    for func in funcs.iter() {
        let loops = Loops::of(func);
        for &block in &func.layout {
            let frequency = 1u64 << (3 * loops.depth(block).min(7));
            for node in &func.blocks[block].nodes {
                let Some(op) = node.inst.op() else { continue };
                for source in &op.src {
                    if let Src::FauPair(entry) = *source {
                        *pairs.entry(entry).or_default() += frequency;
                    }
                }
                let (single, one_slot) = singles(op);
                if let [a, b] = single[..]
                    && one_slot
                {
                    two.insert((a, b));
                }
                for (k, &a) in single.iter().enumerate() {
                    *weight.entry(a).or_default() += frequency;
                    for &b in single[k + 1..].iter().filter(|_| one_slot) {
                        *together.entry((a, b)).or_default() += frequency;
                    }
                }
            }
        }
    }
    // Slots with their weights; each entry is in one.
    let mut slots: Vec<(u64, [Option<FauRef>; 2])> = Vec::new();
    // Who stands beside it, by entry that has a word.
    let mut placed: BTreeMap<FauRef, FauRef> = BTreeMap::new();
    for (&entry, &count) in &pairs {
        let high = FauRef(entry.0 + 1);
        if placed.contains_key(&entry) || placed.contains_key(&high) {
            continue;
        }
        placed.insert(entry, high);
        placed.insert(high, entry);
        slots.push((count, [Some(entry), Some(high)]));
    }
    let mut wishes: Vec<(std::cmp::Reverse<u64>, (FauRef, FauRef))> =
        together.iter().map(|(&pair, &count)| (std::cmp::Reverse(count), pair)).collect();
    wishes.sort_unstable();
    // Who reads this pair reads that one.
    let mut again: BTreeMap<(FauRef, FauRef), (FauRef, FauRef)> = BTreeMap::new();
    let mut left = weight.keys().filter(|entry| !placed.contains_key(entry)).count();
    for (_, (a, b)) in wishes {
        if placed.get(&a) == Some(&b) {
            continue;
        }
        let known = [a, b].map(|entry| placed.contains_key(&entry));
        let unplaced = known.iter().filter(|known| !**known).count();
        let needed = 2 * (slots.len() + 1) + (left - unplaced).next_multiple_of(2);
        let room = needed <= PAGE && entries.len() + 2 <= usize::from(u16::MAX);
        if unplaced < 2 && !(room && two.contains(&(a, b))) {
            continue;
        }
        left -= unplaced;
        let mut of = |entry: FauRef, other: FauRef, known: bool| {
            if !known {
                placed.insert(entry, other);
                return entry;
            }
            entries.push(entries[usize::from(entry.0)]);
            FauRef((entries.len() - 1) as u16)
        };
        let (one, other) = (of(a, b, known[0]), of(b, a, known[1]));
        if (one, other) != (a, b) {
            again.insert((a, b), (one, other));
        }
        let count = match unplaced {
            2 => weight[&a] + weight[&b],
            _ => 2 * together[&(a, b)],
        };
        slots.push((count, [Some(one), Some(other)]));
    }
    let nodes = funcs.iter_mut().flat_map(|func| {
        let Func { blocks, .. } = func;
        blocks.values_mut().flat_map(|block| &mut block.nodes)
    });
    for node in nodes {
        if let Inst::Op(op) = &mut node.inst {
            read_pairs(op, &again);
        }
    }
    // The others fill slots two by two, in the order in which lowering found them.
    let mut alone: Vec<FauRef> =
        weight.keys().copied().filter(|entry| !placed.contains_key(entry)).collect();
    alone.sort_unstable();
    for chunk in alone.chunks(2) {
        let count = chunk.iter().map(|entry| weight[entry]).sum();
        slots.push((count, [Some(chunk[0]), chunk.get(1).copied()]));
    }
    if slots.len() > 32 {
        slots.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    }
    slots.into_iter().flat_map(|(_, slot)| slot).collect()
}

/// The single words that an instruction reads, ascending, and whether they should stand in one slot: messages read two
/// slots, and beside something else at least one of two words must move anyway.
fn singles(op: &Op) -> (SmallVec<[FauRef; 4]>, bool) {
    let mut single: SmallVec<[FauRef; 4]> = SmallVec::new();
    let mut one_slot = Reader::of(op.opcode) != Reader::Message;
    for source in &op.src {
        match *source {
            Src::Fau(entry) if !single.contains(&entry) => single.push(entry),
            Src::FauPair(_) | Src::Fast(_) | Src::Special(..) | Src::Special64(_) => {
                one_slot = false;
            }
            _ => {}
        }
    }
    single.sort_unstable();
    (single, one_slot)
}

/// An instruction that reads two single words reads them where they stand together.
fn read_pairs(op: &mut Op, again: &BTreeMap<(FauRef, FauRef), (FauRef, FauRef)>) {
    let (single, true) = singles(op) else {
        return;
    };
    let [a, b] = single[..] else {
        return;
    };
    let Some(&(one, other)) = again.get(&(a, b)) else {
        return;
    };
    for source in &mut op.src {
        if let Src::Fau(entry) = source {
            *entry = if *entry == a { one } else { other };
        }
    }
}
