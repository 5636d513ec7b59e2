//! Orders instructions before registers are given: as few values alive at once as can be, and within that number messages
//! early and their results late.
//!
//! Registers are what counts first: threads share them, and other warps hide what one waits for. A result that is read at
//! once makes the warp wait, though. isa/valhall_rogue.md 1.8, 5.
//!
//! What must be kept apart is a region: between barriers, blends and the ends of blocks. First the program's own order is
//! judged everywhere. Then the regions that need more than any order of all others would get new orders, built backwards,
//! and keep the best. In the end regions with messages are ordered once more, forwards and by latency, as far as the number
//! that the function needs anyway allows.

mod order;

use crate::flow;
use crate::inst::Inst;
use crate::isa::{Opcode, Unit};
use crate::live::{Alive, Lives};
use gpucc_ir::mach::{Func, Inst as _};
use gpucc_passes::mach::{Dependence, Effects, Model, Rules};
use order::Sorter;
use std::convert::Infallible;
use std::ops::Range;

/// The class of what a fragment puts out, and of what may end a fragment.
const OUTPUT: u32 = 1 << 27;
/// The class of the interpolation state.
const INTERPOLATION: u32 = 1 << 26;
/// The class of which lanes there are.
const LANES: u32 = 1 << 25;
/// Registers that alignment may cost, left free where latency is hidden.
const ALIGNMENT: u32 = 2;

/// One instruction a cycle.
#[derive(Clone)]
pub struct Issue;

impl Rules<Inst> for Issue {
    type Violation = Infallible;

    fn admit(&self, _inst: &Inst) -> Result<Issue, Infallible> {
        Ok(Issue)
    }

    fn next(&self) -> Issue {
        Issue
    }
}

/// The machine as the dependence graph asks for it.
pub struct Machine;

impl Model<Inst> for Machine {
    type Rules = Issue;

    fn start(&self) -> Issue {
        Issue
    }

    fn latency(&self, from: &Inst, _to: &Inst, why: Dependence) -> u32 {
        match (from.op(), why) {
            (Some(op), Dependence::True) => latency(op.opcode),
            _ => 1,
        }
    }

    fn effects(&self, inst: &Inst) -> Effects {
        let Some(op) = inst.op() else {
            return Effects::default();
        };
        let mut effects = flow::effects(op);
        match op.opcode {
            Opcode::Atest | Opcode::ZsEmit | Opcode::Blend | Opcode::LdTile | Opcode::StTile => {
                effects.writes |= OUTPUT;
            }
            // What a lane does behind its end does not happen, so that nothing visible moves across.
            Opcode::DiscardF32 => effects.writes = u32::MAX,
            Opcode::ClperI32 | Opcode::Wmask => effects.reads |= LANES,
            _ => {}
        }
        if matches!(op.opcode.unit(), Unit::V | Unit::Vt) {
            effects.writes |= INTERPOLATION;
        }
        effects
    }

    fn ends_region(&self, inst: &Inst) -> bool {
        inst.ends_block()
            || match inst {
                Inst::Entry(_) => true,
                // What a blend shader may overwrite is not filled before it runs, and the last one ends the program.
                Inst::Op(op) => matches!(op.opcode, Opcode::Barrier | Opcode::Blend),
                Inst::Copy { .. } => false,
            }
    }
}

/// Cycles from an instruction to one that reads its result, taken for granted: no document gives them for messages.
pub fn latency(opcode: Opcode) -> u32 {
    match opcode.unit() {
        Unit::T | Unit::Vt => 24,
        Unit::Ls => 16,
        Unit::V => 8,
        Unit::None => 4,
        Unit::Fma | Unit::Cvt | Unit::Sfu => 1,
    }
}

/// Instructions between which everything may move, by their numbers through the function.
struct Region {
    block: usize,
    nodes: Range<u32>,
    /// Most registers alive at once, in the order that it has.
    peak: u32,
    /// A message's result is read in it.
    waits: bool,
}

/// Orders every block. Returns how many registers the function needs at least, alignment apart: no region needs more at
/// once.
pub fn run(func: &mut Func<Inst>) -> u32 {
    let lives = Lives::of(func);
    let mut alive = Alive::new(func.vregs.len());
    let (mut regions, floor) = regions(func, &lives, &mut alive);
    let mut sorter = Sorter::new(lives.len(), func.vregs.len());
    let mut needed = floor;
    each(
        &mut regions,
        &lives,
        &mut alive,
        &mut sorter,
        |region, alive, sorter| {
            if region.peak > needed {
                sorter.relieve(func, region, &lives, alive, needed);
            }
            needed = needed.max(region.peak);
        },
    );
    each(
        &mut regions,
        &lives,
        &mut alive,
        &mut sorter,
        |region, alive, sorter| {
            if region.waits {
                sorter.hide(
                    func,
                    region,
                    &lives,
                    alive,
                    needed.saturating_sub(ALIGNMENT),
                );
            }
        },
    );
    sorter.apply(func, &lives);
    needed
}

/// Visits regions from the last to the first, standing behind each.
fn each(
    regions: &mut [Region],
    lives: &Lives,
    alive: &mut Alive,
    sorter: &mut Sorter,
    mut visit: impl FnMut(&mut Region, &mut Alive, &mut Sorter),
) {
    let mut at = None;
    for region in regions.iter_mut().rev() {
        if at != Some(region.block) {
            alive.enter(lives, region.block);
            at = Some(region.block);
        }
        visit(region, alive, sorter);
        for &node in sorter.of(region).iter().rev() {
            alive.before(lives.touches(node), |_| ());
        }
    }
}

/// All regions in the order of the program, instructions that stay in their places as regions of one; and a number of
/// registers that every order of some region needs.
fn regions(func: &Func<Inst>, lives: &Lives, alive: &mut Alive) -> (Vec<Region>, u32) {
    let mut list: Vec<Region> = Vec::new();
    let mut floor = 0;
    // Who wrote a register last, if that was a message of the current region.
    let mut message = vec![NONE; func.vregs.len()];
    for (block, &name) in func.layout.iter().enumerate() {
        let nodes = lives.nodes(block);
        let mut begin = nodes.start;
        let mut waits = false;
        for (at, node) in nodes.clone().zip(&func.blocks[name].nodes) {
            let alone = Machine.ends_region(&node.inst);
            if alone {
                if begin < at {
                    list.push(Region {
                        block,
                        nodes: begin..at,
                        peak: 0,
                        waits,
                    });
                }
                list.push(Region {
                    block,
                    nodes: at..at + 1,
                    peak: 0,
                    waits: false,
                });
                (begin, waits) = (at + 1, false);
                continue;
            }
            let late = node.inst.op().is_some_and(|op| latency(op.opcode) > 1);
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
            list.push(Region {
                block,
                nodes: begin..nodes.end,
                peak: 0,
                waits,
            });
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
        let mark = alive.mark();
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
        alive.back_to(mark);
        for node in region.nodes.clone().rev() {
            alive.before(lives.touches(node), |_| ());
        }
    }
    (list, floor)
}

const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests;
