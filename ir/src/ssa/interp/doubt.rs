//! Branches whose condition depends on the order of invocations: what hangs on them is not compared.
//!
//! A machine may take the other arm. So all that either arm may write is left out, and the results of the construct are
//! tainted for the lanes in doubt. Where an arm leaves a loop or a block around it, that whole construct is in doubt.

use super::exec::{Machine, Mask};
use crate::ssa::func::{Func, Imm, Inst, Mem, MemSpace, Region};
use crate::ssa::op::{Flags, Op};
use crate::ssa::resource::{AtomicOp, Resource};
use crate::{Map, Set};

/// Constructs in doubt and what was read.
#[derive(Default)]
pub(super) struct Doubts {
    /// Lanes for which a construct that is being executed is in doubt.
    lanes: Map<Inst, Mask>,
    /// How many frames stand around the outermost construct that a branch puts in doubt.
    reaches: Map<Inst, usize>,
    /// Variables that lanes in doubt may have written, and those lanes.
    written: Map<Mem, Mask>,
    /// Variables that each branch in doubt may write.
    mems: Map<Inst, Set<Mem>>,
    /// Buffers and images that were read before any doubt.
    read: Set<Resource>,
    /// Variables of workgroups that were read before any doubt.
    read_mems: Set<Mem>,
}

/// What a region may do.
#[derive(Default)]
struct Effects {
    resources: Set<Resource>,
    mems: Set<Mem>,
    /// Something that is not told apart by lanes and words.
    all: bool,
    /// There are loops.
    loops: bool,
    /// The least number of frames around a construct that is left.
    reach: Option<usize>,
}

impl Machine<'_> {
    /// Lanes for which the condition of a branch depends on the order: `inst` is the `if`, or the `break_if` of the innermost loop.
    pub(super) fn doubt(&mut self, inst: Inst, lanes: &Mask) {
        let func = self.func;
        let reach = match self.doubts.reaches.get(&inst) {
            Some(&reach) => reach,
            None => {
                let reach = self.leave_out(inst);
                self.doubts.reaches.insert(inst, reach);
                reach
            }
        };
        for &mem in self.doubts.mems.get(&inst).into_iter().flatten() {
            match self.doubts.written.get_mut(&mem) {
                Some(known) => known.add(lanes),
                None => {
                    self.doubts.written.insert(mem, lanes.clone());
                }
            }
        }
        let around: Vec<Inst> = self.frames_from(reach).collect();
        let own = (func.insts[inst].op == Op::If).then_some(inst);
        for construct in around.into_iter().chain(own) {
            match self.doubts.lanes.get_mut(&construct) {
                Some(known) => known.add(lanes),
                None => {
                    self.doubts.lanes.insert(construct, lanes.clone());
                }
            }
        }
    }

    /// Leaves out what a branch may do; gives the number of frames around the outermost construct in doubt.
    fn leave_out(&mut self, inst: Inst) -> usize {
        let func = self.func;
        let mut reach = match func.insts[inst].op {
            Op::If => self.depth(),
            _ => self.depth().saturating_sub(1),
        };
        loop {
            let construct =
                if reach == self.depth() { Some(inst) } else { self.frames_from(reach).next() };
            let Some(construct) = construct else { break };
            let frames: Vec<Inst> = self.frames_from(0).take(reach).collect();
            let effects = effects(func, construct, &frames);
            if let Some(further) = effects.reach.filter(|&further| further < reach) {
                reach = further;
                continue;
            }
            let late = effects.resources.iter().any(|one| self.doubts.read.contains(one))
                || effects.mems.iter().any(|one| self.doubts.read_mems.contains(one));
            self.excluded.all |= effects.all || late;
            self.excluded.endless |= effects.loops;
            self.excluded.resources.extend(effects.resources);
            self.doubts.mems.insert(inst, effects.mems);
            break;
        }
        reach
    }

    /// A construct has ended: its results are tainted for lanes in doubt.
    pub(super) fn settle(&mut self, inst: Inst) {
        if self.doubts.lanes.is_empty() {
            return;
        }
        let Some(lanes) = self.doubts.lanes.swap_remove(&inst) else { return };
        let func = self.func;
        for &result in &func.insts[inst].results {
            for lane in lanes.iter() {
                self.set_taint(result, lane, true);
            }
        }
    }

    /// Whether a lane in doubt may have written a variable: this lane, where each has its own.
    pub(super) fn may_be_written(&self, mem: Mem, lane: usize) -> bool {
        let Some(lanes) = self.doubts.written.get(&mem) else { return false };
        self.func.mems[mem].space != MemSpace::Private || lanes.contains(lane)
    }

    fn note_resource(&mut self, resource: Resource) {
        if !self.excluded.resources.contains(&resource) {
            self.doubts.read.insert(resource);
        }
    }

    /// Notes what is read. A write in doubt that comes later might have come before.
    pub(super) fn note_read(&mut self, imm: &Imm) {
        match *imm {
            Imm::Resource(resource) | Imm::BufferAtomic(resource, AtomicOp::Load) => {
                self.note_resource(resource);
            }
            Imm::ImageAtomic(resource, AtomicOp::Load) => self.note_resource(resource),
            Imm::Tex(ref tex) => self.note_resource(tex.texture),
            Imm::Mem(access) | Imm::MemAtomic(access, AtomicOp::Load)
                if self.func.mems[access.mem].space == MemSpace::Workgroup
                    && !self.doubts.written.contains_key(&access.mem) =>
            {
                self.doubts.read_mems.insert(access.mem);
            }
            _ => {}
        }
    }
}

/// What the regions of a construct may do. `frames`: the constructs around it, the outermost first.
fn effects(func: &Func, construct: Inst, frames: &[Inst]) -> Effects {
    let mut effects = Effects::default();
    // Regions with how many loops of the construct stand around each.
    let loops = usize::from(func.insts[construct].op == Op::Loop);
    effects.loops = loops > 0;
    let mut todo: Vec<(Region, usize)> =
        func.insts[construct].regions.iter().map(|&region| (region, loops)).collect();
    let mut inside: Set<Inst> = Set::default();
    inside.insert(construct);
    let leaves = |target: Option<usize>, effects: &mut Effects| match target {
        Some(frame) => effects.reach = Some(effects.reach.map_or(frame, |reach| reach.min(frame))),
        None => effects.all = true,
    };
    while let Some((region, loops)) = todo.pop() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            // What lanes see of others counts who is there, and a barrier in an arm hides races of the other order.
            effects.all |= data.flags().has(Flags::QUAD) || data.op == Op::Barrier;
            match (data.op, &data.imm) {
                (Op::BufferStore | Op::ImageStore, &Imm::Resource(resource)) => {
                    effects.resources.insert(resource);
                }
                (Op::BufferAtomic, &Imm::BufferAtomic(resource, op))
                | (Op::ImageAtomic, &Imm::ImageAtomic(resource, op))
                    if op != AtomicOp::Load =>
                {
                    effects.resources.insert(resource);
                }
                (Op::MemStore, &Imm::Mem(access)) => {
                    effects.mems.insert(access.mem);
                }
                (Op::MemAtomic, &Imm::MemAtomic(access, op)) if op != AtomicOp::Load => {
                    effects.mems.insert(access.mem);
                }
                // Who is there counts for other lanes, and outputs are those of a lane at its end.
                (
                    Op::Output
                    | Op::EmitVertex
                    | Op::EndPrimitive
                    | Op::Demote
                    | Op::Ballot
                    | Op::Shuffle
                    | Op::Reduce
                    | Op::SubgroupBarrier,
                    _,
                ) => effects.all = true,
                (Op::Break | Op::Continue, _) if loops == 0 => {
                    let target = frames.iter().rposition(|&one| func.insts[one].op == Op::Loop);
                    leaves(target, &mut effects);
                }
                (Op::Exit, &Imm::Label(block)) if !inside.contains(&block) => {
                    leaves(frames.iter().rposition(|&one| one == block), &mut effects);
                }
                (Op::If | Op::Block, _) => {
                    inside.insert(inst);
                    todo.extend(data.regions.iter().map(|&region| (region, loops)));
                }
                (Op::Loop, _) => {
                    effects.loops = true;
                    inside.insert(inst);
                    todo.extend(data.regions.iter().map(|&region| (region, loops + 1)));
                }
                _ => {}
            }
        }
    }
    effects
}
