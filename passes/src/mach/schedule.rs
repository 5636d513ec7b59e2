//! The scheduler before registers are given: as few values alive at once as can be, and within that number late results
//! early and their readers late.
//!
//! Registers are what counts first: threads share them, and other threads hide what one waits for. A result that is read at
//! once makes the thread wait, though.
//!
//! What must be kept apart is a region: between the instructions that [`Model::ends_region`] names. First the program's own
//! order is judged everywhere. Then the regions that need more than any order of all others would get new orders, built
//! backwards, and keep the best. In the end regions with late results are ordered once more, forwards and by latency, as far
//! as the number that the function needs anyway allows.
//!
//! A machine that issues groups fills them from a [`super::Queue`] and its own rules; this is for those that issue one
//! instruction a cycle.

mod order;

use super::alive::{Alive, Lives};
use super::model::Model;
use gpucc_ir::mach::{Func, Inst};
use order::Sorter;
use std::ops::Range;

/// Instructions between which everything may move, by their numbers through the function.
struct Region {
    block: usize,
    nodes: Range<u32>,
    /// Most registers alive at once, in the order that it has.
    peak: u32,
    /// A late result is read in it.
    waits: bool,
}

/// Orders every block. Returns how many registers the function needs at least, alignment apart: no region needs more at
/// once. `spare` are registers that stay free where latency is hidden: what alignment may cost.
pub fn schedule<I: Inst, M: Model<I>>(func: &mut Func<I>, model: &M, spare: u32) -> u32 {
    let lives = Lives::of(func, |inst, reg| model.is_result(inst, reg));
    let mut alive = Alive::new(func.vregs.len());
    let (mut regions, floor) = regions(func, model, &lives, &mut alive);
    let mut sorter = Sorter::new(lives.len(), func.vregs.len());
    let mut needed = floor;
    let high = |region: &Region| region.peak > floor;
    each(&mut regions, high, &lives, &mut alive, &mut sorter, |region, alive, sorter| {
        if region.peak > needed {
            sorter.relieve((func, model), region, &lives, alive, needed);
        }
        needed = needed.max(region.peak);
    });
    let waits = |region: &Region| region.waits;
    each(&mut regions, waits, &lives, &mut alive, &mut sorter, |region, alive, sorter| {
        sorter.hide((func, model), region, &lives, alive, needed.saturating_sub(spare));
    });
    sorter.apply(func, &lives);
    needed
}

/// Orders every block so that late results are asked for early and read late. `limit` gives how many registers may be alive at
/// once, alignment apart, from how many the program's own order needs; that many may be in any case. Gives the function in that
/// order, where it is another.
pub fn overlap<I: Inst, M: Model<I>>(
    func: &Func<I>,
    model: &M,
    limit: impl FnOnce(u32) -> u32,
) -> Option<Func<I>> {
    let lives = Lives::of(func, |inst, reg| model.is_result(inst, reg));
    let mut alive = Alive::new(func.vregs.len());
    let (mut regions, _) = regions(func, model, &lives, &mut alive);
    let waits = |region: &Region| region.waits;
    if !regions.iter().any(waits) {
        return None;
    }
    let needed = regions.iter().map(|region| region.peak).max().unwrap_or(0);
    let limit = limit(needed).max(needed);
    let mut sorter = Sorter::new(lives.len(), func.vregs.len());
    each(&mut regions, waits, &lives, &mut alive, &mut sorter, |region, alive, sorter| {
        sorter.overlap((func, model), region, &lives, alive, limit);
    });
    sorter.moves().then(|| {
        let mut ordered = func.clone();
        sorter.apply(&mut ordered, &lives);
        ordered
    })
}

/// Visits the regions that are `wanted`, from the last to the first, standing behind each. Blocks without such a region, and
/// what stands before the first of a block, are not walked.
fn each(
    regions: &mut [Region],
    wanted: impl Fn(&Region) -> bool,
    lives: &Lives,
    alive: &mut Alive,
    sorter: &mut Sorter,
    mut visit: impl FnMut(&mut Region, &mut Alive, &mut Sorter),
) {
    for block in regions.chunk_by_mut(|a, b| a.block == b.block).rev() {
        let Some(first) = block.iter().position(&wanted) else {
            continue;
        };
        alive.enter(lives, block[first].block);
        for (at, region) in block.iter_mut().enumerate().skip(first).rev() {
            if wanted(region) {
                visit(region, alive, sorter);
            }
            if at == first {
                break;
            }
            for &node in sorter.of(region).iter().rev() {
                alive.before(lives.touches(node), |_| ());
            }
        }
    }
}

/// All regions in the order of the program, instructions that stay in their places as regions of one; and a number of
/// registers that every order of some region needs.
fn regions<I: Inst, M: Model<I>>(
    func: &Func<I>,
    model: &M,
    lives: &Lives,
    alive: &mut Alive,
) -> (Vec<Region>, u32) {
    let mut list: Vec<Region> = Vec::new();
    let mut floor = 0;
    // The region in which a register was written last, if its result was late.
    let mut message = vec![NONE; func.vregs.len()];
    for (block, &name) in func.layout.iter().enumerate() {
        let nodes = lives.nodes(block);
        let mut begin = nodes.start;
        let mut waits = false;
        for (at, node) in nodes.clone().zip(&func.blocks[name].nodes) {
            let alone = model.ends_region(&node.inst);
            if alone {
                if begin < at {
                    list.push(Region { block, nodes: begin..at, peak: 0, waits });
                }
                list.push(Region { block, nodes: at..at + 1, peak: 0, waits: false });
                (begin, waits) = (at + 1, false);
                continue;
            }
            let late = model.result(&node.inst) > 1;
            for touch in lives.touches(at) {
                let written = &mut message[touch.index()];
                if touch.is_def() {
                    *written = if late { begin } else { NONE };
                } else {
                    waits |= *written == begin;
                }
            }
        }
        if begin < nodes.end {
            list.push(Region { block, nodes: begin..nodes.end, peak: 0, waits });
        }
    }
    let mut at = None;
    let mut written: Vec<u32> = vec![NONE; func.vregs.len()];
    for region in list.iter_mut().rev() {
        if at != Some(region.block) {
            alive.enter(lives, region.block);
            at = Some(region.block);
        }
        let stamp = region.nodes.start;
        // What is alive through the whole region, whatever the order.
        let mut through = alive.now;
        for node in region.nodes.clone() {
            for touch in lives.touches(node).iter().filter(|touch| touch.is_def()) {
                let v = touch.index();
                if std::mem::replace(&mut written[v], stamp) != stamp && alive.is(v) {
                    through -= 1;
                }
            }
        }
        floor = floor.max(alive.now);
        for node in region.nodes.clone() {
            let (mut read, mut results) = (0, 0);
            for touch in lives.touches(node) {
                if touch.is_def() {
                    results += 1;
                } else if written[touch.index()] == stamp || !alive.is(touch.index()) {
                    read += 1;
                }
            }
            floor = floor.max(through + u32::max(read, results));
        }
        for node in region.nodes.clone().rev() {
            region.peak = region.peak.max(alive.before(lives.touches(node), |_| ()));
        }
        floor = floor.max(alive.now);
    }
    (list, floor)
}

const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests;
