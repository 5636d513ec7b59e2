//! Rewrites the flat function so that chosen registers live in slots or in another file, or are recomputed.
//!
//! Where the target has a file to go to before memory, a register becomes one of that file, copied to a short one before
//! each use and from a short one behind each definition, part by part as the instruction names it. If that file is full too,
//! it goes on from there.
//!
//! Around each instruction a spilled register becomes a short one, loaded before and stored behind. A slot is
//! loaded and stored whole, also where an instruction writes a part only.
//! A register that is read but not written in a loop is first given a copy for the whole loop,
//! loaded once before it; if that copy must go too, it is loaded at each use. A register whose one
//! definition the target calls recomputable is computed again at each use instead.

use crate::api::{Shape, Target};
use crate::classes::Classes;
use crate::work::{NONE, Operands, Origin, Work, WorkNode, virt};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Inst, Operand, Part, Phases, Reg, Role, Slot, VReg};
use gpucc_ir::ssa::Span;
use smallvec::SmallVec;

/// Where the value of a register of the program lives when it has no register of its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Home {
    /// In a register (or nowhere).
    Register,
    /// In a spill slot.
    Slot(u32),
    /// Recomputed by this instruction of the program.
    Again(u32),
}

/// How a register is treated in this rewriting.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Plan {
    Keep,
    /// Load and store around each instruction.
    Slot(u32),
    /// Copy from and to this register of another file around each instruction.
    Moved(VReg),
    /// Clone the node at each use.
    Again(u32),
}

/// What spilling has done so far, over all rounds.
#[derive(Clone, Debug)]
pub(crate) struct Spilled<I> {
    /// By register of the program.
    pub home: Vec<Home>,
    /// One past the highest slot.
    pub slots: u32,
    pub spilled: u32,
    /// Registers that went to another file.
    pub moved: u32,
    pub recomputed: u32,
    /// Something was spilled in an earlier round.
    pub began: bool,
    /// Recomputed instructions of the program, sorted by number.
    pub again: Vec<(u32, I)>,
}

fn shape_of<I>(work: &Work<I>, v: VReg) -> Shape {
    Shape::of(&work.regs[v.index()].data)
}

/// The registers of some classes that gain from being spilled.
fn members<I: Inst>(work: &Work<I>, classes: &mut Classes, chosen: &[u32]) -> Vec<Vec<VReg>> {
    let mut in_chosen = vec![NONE; classes.class.len()];
    for (k, &class) in chosen.iter().enumerate() {
        in_chosen[class as usize] = k as u32;
    }
    let mut members: Vec<Vec<VReg>> = vec![Vec::new(); chosen.len()];
    for (index, reg) in work.regs.iter().enumerate() {
        let class = classes.find(index as u32);
        let at = in_chosen[class as usize];
        if at != NONE && !reg.tiny {
            members[at as usize].push(VReg::from_u32(index as u32));
        }
    }
    members
}

/// Whether spilling `chosen` classes stores nothing: all of them can be recomputed.
pub(crate) fn recomputable<I: Inst, T: Target<I>>(
    work: &Work<I>,
    classes: &mut Classes,
    chosen: &[u32],
    target: &T,
) -> bool {
    let definitions = Definitions::of(work);
    let members = members(work, classes, chosen);
    members.iter().all(|regs| definitions.recomputed(work, regs, target).is_some())
}

/// By class: its registers are not just one that can be computed again, so that spilling it stores something.
pub(crate) fn stored<I: Inst, T: Target<I>>(
    work: &Work<I>,
    classes: &Classes,
    target: &T,
) -> Vec<bool> {
    let definitions = Definitions::of(work);
    let mut only = vec![None; classes.class.len()];
    let mut stored = vec![true; classes.class.len()];
    for (index, _) in work.regs.iter().enumerate().filter(|(_, reg)| !reg.tiny) {
        let class = classes.root(index as u32) as usize;
        let v = VReg::from_u32(index as u32);
        stored[class] = only[class].replace(v).is_some()
            || definitions.recomputed(work, &[v], target).is_none();
    }
    stored
}

/// Spills the registers of `chosen` classes. Returns false when there is nothing left to spill in them.
pub(crate) fn spill<I: Inst, T: Target<I>>(
    work: &mut Work<I>,
    classes: &mut Classes,
    chosen: &[u32],
    target: &mut T,
    state: &mut Spilled<I>,
) -> bool {
    let count = work.regs.len();
    let members = members(work, classes, chosen);
    let definitions = Definitions::of(work);
    let mut plans = vec![Plan::Keep; count];
    let mut slots = SlotPool { first: state.slots, ends: Vec::new() };
    let mut order: Vec<usize> = (0..chosen.len()).collect();
    let start = |k: usize| {
        classes.class[chosen[k] as usize].segments.first().map_or(0, |segment| segment.start)
    };
    order.sort_by_key(|&k| (start(k), k));
    let mut any = false;
    for k in order {
        let regs = &members[k];
        if regs.is_empty() {
            continue;
        }
        any = true;
        if let Some((only, node, number)) = definitions.recomputed(work, regs, target) {
            plans[only.index()] = Plan::Again(node);
            state.home[work.regs[only.index()].root.index()] = Home::Again(number);
            state.recomputed += 1;
            if let Err(at) = state.again.binary_search_by_key(&number, |entry| entry.0) {
                state.again.insert(at, (number, work.nodes[node as usize].inst.clone()));
            }
            continue;
        }
        // Copies for a loop have their slots already; the others of the class share one.
        let mut shared = None;
        for &v in regs {
            if let Some(slot) = work.regs[v.index()].backed {
                plans[v.index()] = Plan::Slot(slot);
                continue;
            }
            if let Some(file) = target.spill_file(shape_of(work, v)) {
                let other = work.make_reg(v, false);
                plans.push(Plan::Keep);
                plans[v.index()] = Plan::Moved(other);
                let reg = &mut work.regs[other.index()];
                reg.data.demand.file = file;
                reg.data.demand.phases = Phases::ANY;
                reg.data.prefer = None;
                reg.tiny = !target.can_spill(Shape::of(&reg.data));
                state.moved += 1;
                continue;
            }
            let slot = *shared.get_or_insert_with(|| {
                let data = &classes.class[chosen[k] as usize];
                let last = data.segments[data.segments.len() - 1].end;
                slots.take(data.segments[0].start, last, data.shape)
            });
            plans[v.index()] = Plan::Slot(slot);
            state.home[work.regs[v.index()].root.index()] = Home::Slot(slot);
            state.spilled += 1;
        }
    }
    state.slots = slots.end();
    if any {
        let first_time = !std::mem::replace(&mut state.began, true);
        rewrite(work, plans, target, first_time);
    }
    any
}

/// Slots handed out in this round: classes that do not live at the same time share one.
struct SlotPool {
    first: u32,
    /// Per slot: the point where it becomes free, and the shape it was made for.
    ends: Vec<(u32, Shape)>,
}

impl SlotPool {
    /// A slot for a life from `start` to `end`; lives come in the order of their starts.
    fn take(&mut self, start: u32, end: u32, shape: Shape) -> u32 {
        // The search is bounded: a pool of busy slots must not make spilling quadratic.
        let recent = self.ends.len().saturating_sub(64);
        let found = self.ends[recent..]
            .iter()
            .position(|&(free, made_for)| free <= start && made_for == shape);
        let at = match found {
            Some(at) => recent + at,
            None => {
                self.ends.push((0, shape));
                self.ends.len() - 1
            }
        };
        self.ends[at].0 = end;
        self.first + at as u32
    }

    fn end(&self) -> u32 {
        self.first + self.ends.len() as u32
    }
}

/// How often each register is defined, and where when it is once and whole.
struct Definitions {
    node: Vec<u32>,
}

const SEVERAL: u32 = u32::MAX - 1;

impl Definitions {
    fn of<I: Inst>(work: &Work<I>) -> Definitions {
        let mut node = vec![NONE; work.regs.len()];
        for index in 0..work.nodes.len() as u32 {
            let operands = work.operands.of(index);
            for operand in operands.iter().filter(|operand| operand.role.is_def()) {
                let entry = &mut node[virt(operand).index()];
                let first = *entry == NONE && operand.part.is_whole();
                *entry = if first { index } else { SEVERAL };
            }
        }
        Definitions { node }
    }

    fn single(&self, v: VReg) -> Option<u32> {
        Some(self.node[v.index()]).filter(|&node| node < SEVERAL)
    }

    /// The one register of a class, the node that defines it and that node's number in the program, if the target says
    /// that it may be computed again.
    fn recomputed<I: Inst, T: Target<I>>(
        &self,
        work: &Work<I>,
        regs: &[VReg],
        target: &T,
    ) -> Option<(VReg, u32, u32)> {
        let [only] = regs else { return None };
        let node = self.single(*only)?;
        let data = &work.nodes[node as usize];
        let (Origin::Program(number) | Origin::Again(number)) = data.origin else {
            return None;
        };
        target.remat(&data.inst).then_some((*only, node, number))
    }
}

/// Loops at the outermost level, as ranges of layout positions, that are entered from the block before
/// them and from nowhere else.
fn outer_loops<I>(work: &Work<I>) -> Vec<(u32, u32)> {
    let mut loops: Vec<(u32, u32)> = Vec::new();
    let mut at = 0;
    while at < work.blocks.len() {
        if work.blocks[at].depth == 0 {
            at += 1;
            continue;
        }
        let first = at;
        while at < work.blocks.len() && work.blocks[at].depth > 0 {
            at += 1;
        }
        let inside = first as u32..at as u32;
        let single_entry = first > 0
            && (first..at).all(|block| {
                work.preds.iter().all(|preds| {
                    let mut outside = preds.of(block).iter().filter(|from| !inside.contains(from));
                    outside.all(|&from| block == first && from + 1 == first as u32)
                })
            });
        if single_entry {
            loops.push((first as u32, at as u32 - 1));
        }
    }
    loops
}

/// Registers that a loop reads and does not write, of those that go to slots: (register, its copy
/// for the loop) for each loop.
fn loop_copies<I: Inst>(
    work: &mut Work<I>,
    plans: &mut Vec<Plan>,
    loops: &[(u32, u32)],
) -> Vec<Vec<(VReg, VReg)>> {
    let mut copies = vec![Vec::new(); loops.len()];
    let mut read_in = vec![NONE; work.regs.len()];
    let mut written_in = vec![NONE; work.regs.len()];
    for (k, &(first, last)) in loops.iter().enumerate() {
        let mut candidates: Vec<VReg> = Vec::new();
        let nodes = work.blocks[first as usize].first..work.blocks[last as usize].end;
        for node in nodes {
            for operand in work.operands.of(node) {
                let v = virt(operand);
                if !matches!(plans[v.index()], Plan::Slot(_))
                    || work.regs[v.index()].backed.is_some()
                {
                    continue;
                }
                if operand.role.is_def() {
                    written_in[v.index()] = k as u32;
                } else if read_in[v.index()] != k as u32 {
                    read_in[v.index()] = k as u32;
                    candidates.push(v);
                }
            }
        }
        for v in candidates {
            if written_in[v.index()] == k as u32 {
                continue;
            }
            let Plan::Slot(slot) = plans[v.index()] else {
                continue;
            };
            let copy = work.make_reg(v, false);
            work.regs[copy.index()].backed = Some(slot);
            plans.push(Plan::Keep);
            copies[k].push((v, copy));
        }
    }
    copies
}

struct Rewriter<'a, I, T> {
    work: &'a mut Work<I>,
    target: &'a mut T,
    plans: Vec<Plan>,
    /// The register that stands for another in the loop being rewritten.
    stands_for: Vec<VReg>,
    /// Definitions of the registers that are recomputed, by position in the old nodes.
    again: Vec<(u32, WorkNode<I>)>,
    /// Short registers of the instruction being rewritten: for a register, and the part of it that they stand for.
    locals: Vec<(VReg, Part, VReg)>,
    out: Vec<WorkNode<I>>,
    /// Operands of `out`.
    operands: Operands,
}

fn rewrite<I: Inst, T: Target<I>>(
    work: &mut Work<I>,
    mut plans: Vec<Plan>,
    target: &mut T,
    first_time: bool,
) {
    let loops = outer_loops(work);
    // Only at first: a copy that must go again costs another round.
    let copies = if first_time {
        loop_copies(work, &mut plans, &loops)
    } else {
        vec![Vec::new(); loops.len()]
    };
    let nodes = std::mem::take(&mut work.nodes);
    let capacity = nodes.len() + nodes.len() / 4;
    let given = std::mem::replace(&mut work.operands, Operands::with_capacity(capacity));
    let mut again: Vec<(u32, WorkNode<I>)> = Vec::new();
    for plan in &plans {
        if let Plan::Again(node) = *plan {
            again.push((node, nodes[node as usize].clone()));
        }
    }
    again.sort_by_key(|entry| entry.0);
    let stands_for = (0..work.regs.len() as u32).map(VReg::from_u32).collect();
    let blocks = work.blocks.clone();
    let mut input = nodes.into_iter();
    let mut rewriter = Rewriter {
        work,
        target,
        plans,
        stands_for,
        again,
        locals: Vec::new(),
        out: Vec::with_capacity(capacity),
        operands: Operands::with_capacity(capacity),
    };
    let mut next_loop = 0;
    for (position, block) in blocks.iter().enumerate() {
        if loops.get(next_loop).is_some_and(|&(first, _)| first as usize == position) {
            for &(v, copy) in &copies[next_loop] {
                rewriter.stands_for[v.index()] = copy;
            }
        }
        let first = rewriter.out.len() as u32;
        let to_load = loops.get(next_loop).filter(|&&(first, _)| first as usize == position + 1);
        let mut to_load = to_load.map_or(&[][..], |_| &copies[next_loop][..]);
        for index in block.first..block.end {
            let node = input.next().expect("blocks cover the nodes");
            if node.inst.ends_block() {
                rewriter.load_copies(to_load, node.happened, node.span);
                to_load = &[];
            }
            rewriter.node(node, given.of(index));
        }
        rewriter.load_copies(to_load, block.happened, Span::NONE);
        let end = rewriter.out.len() as u32;
        rewriter.work.blocks[position].first = first;
        rewriter.work.blocks[position].end = end;
        if loops.get(next_loop).is_some_and(|&(_, last)| last as usize == position) {
            for &(v, _) in &copies[next_loop] {
                rewriter.stands_for[v.index()] = v;
            }
            next_loop += 1;
        }
    }
    let Rewriter { out, operands, .. } = rewriter;
    work.nodes = out;
    work.operands = operands;
}

impl<I: Inst, T: Target<I>> Rewriter<'_, I, T> {
    fn push(&mut self, node: WorkNode<I>) {
        self.operands.ask(&node.inst);
        self.out.push(node);
    }

    fn push_move(&mut self, inst: I, shape: Shape, happened: u32, span: Span) {
        let origin = Origin::Move { count: shape.count, stride: shape.stride };
        self.push(WorkNode { inst, span, origin, happened });
    }

    /// Loads the copies of a loop.
    fn load_copies(&mut self, copies: &[(VReg, VReg)], happened: u32, span: Span) {
        for &(v, copy) in copies {
            if let Plan::Slot(slot) = self.plans[v.index()] {
                let shape = shape_of(self.work, v);
                let inst = self.target.load(Slot(slot), copy, shape);
                self.push_move(inst, shape, happened, span);
            }
        }
    }

    /// One instruction, with what it needs before and behind.
    fn node(&mut self, mut node: WorkNode<I>, operands: &[Operand]) {
        let plan_of = |this: &Self, operand: &Operand| this.plans[virt(operand).index()];
        let affected = |this: &Self, operand: &Operand| {
            let v = virt(operand);
            this.stands_for[v.index()] != v || this.plans[v.index()] != Plan::Keep
        };
        if !operands.iter().any(|operand| affected(self, operand)) {
            self.operands.push(operands);
            self.out.push(node);
            return;
        }
        // Definitions that vanish: of what is recomputed; loads of a slot into a register that now
        // stays in that slot; copies within a slot.
        if let Some(def) = operands.iter().find(|operand| operand.role.is_def()) {
            match plan_of(self, def) {
                Plan::Again(_) => return,
                Plan::Slot(slot) => {
                    if node.inst.access() == Some(gpucc_ir::mach::Access::Load(Slot(slot))) {
                        return;
                    }
                    if node.inst.is_copy()
                        && operands.len() == 2
                        && plan_of(self, &operands[0]) == plan_of(self, &operands[1])
                        && operands[0].part == operands[1].part
                    {
                        return;
                    }
                }
                Plan::Keep | Plan::Moved(_) => {}
            }
        }
        self.locals.clear();
        for operand in operands {
            let v = virt(operand);
            // What a definition leaves of a slot's value is stored with it.
            let leaves =
                matches!(plan_of(self, operand), Plan::Slot(_)) && !operand.part.is_whole();
            let reads = operand.role == Role::Use || leaves;
            if !reads || self.stands_for[v.index()] != v || self.local_of(operand).is_some() {
                continue;
            }
            let shape = shape_of(self.work, v);
            match self.plans[v.index()] {
                Plan::Keep => {}
                Plan::Slot(slot) => {
                    let local = self.local(operand);
                    let inst = self.target.load(Slot(slot), local, shape);
                    self.push_move(inst, shape, node.happened, node.span);
                }
                Plan::Moved(other) => {
                    let local = self.local(operand);
                    let (shape, part) = (shape.part(operand.part), operand.part);
                    let inst = self.target.copy(Reg::virt(local), Reg::virt(other), shape);
                    self.push_move(inst, shape, node.happened, node.span);
                    self.operands.name(Role::Use, part);
                }
                Plan::Again(at) => {
                    let local = self.local(operand);
                    let found = self
                        .again
                        .binary_search_by_key(&at, |entry| entry.0)
                        .expect("it was collected");
                    let mut copy = self.again[found].1.clone();
                    copy.inst.rewrite(&mut |_, _| Reg::virt(local));
                    if let Origin::Program(number) = copy.origin {
                        copy.origin = Origin::Again(number);
                    }
                    copy.happened = node.happened;
                    self.push(copy);
                }
            }
        }
        let mut stores: SmallVec<[(VReg, Part, VReg, Plan); 4]> = SmallVec::new();
        for operand in operands.iter().filter(|operand| operand.role.is_def()) {
            let plan = self.plans[virt(operand).index()];
            if matches!(plan, Plan::Slot(_) | Plan::Moved(_)) {
                let local = match self.local_of(operand) {
                    Some(local) => local,
                    None => self.local(operand),
                };
                if !stores.iter().any(|&(_, _, stored, _)| stored == local) {
                    stores.push((virt(operand), operand.part, local, plan));
                }
            }
        }
        let mut rewritten: SmallVec<[Operand; 8]> = SmallVec::from_slice(operands);
        for operand in &mut rewritten {
            let v = virt(operand);
            if operand.role == Role::Use && self.stands_for[v.index()] != v {
                operand.reg = Reg::virt(self.stands_for[v.index()]);
            } else if let Some(local) = self.local_of(operand) {
                operand.reg = Reg::virt(local);
                if !self.stood_for(v, operand.part).is_whole() {
                    operand.part = Part::WHOLE;
                }
            }
        }
        let mut next = rewritten.iter();
        node.inst
            .rewrite(&mut |_, _| next.next().expect("rewrite visits what operands visits").reg);
        let is_program = matches!(node.origin, Origin::Program(_));
        let (happened, span) = (node.happened + u32::from(is_program), node.span);
        self.operands.push(&rewritten);
        self.out.push(node);
        for (v, part, local, plan) in stores {
            let shape = shape_of(self.work, v);
            let slot = match plan {
                Plan::Slot(slot) => slot,
                Plan::Moved(other) => {
                    let shape = shape_of(self.work, other).part(part);
                    let inst = self.target.copy(Reg::virt(other), Reg::virt(local), shape);
                    self.push_move(inst, shape, happened, span);
                    self.operands.name(Role::Def, part);
                    continue;
                }
                Plan::Keep | Plan::Again(_) => continue,
            };
            let phases = self.target.slot_phases(Slot(slot), shape.file);
            let mut stored = local;
            if phases != Phases::ANY {
                // The slot is particular about positions. Another register, not a narrower one: the
                // instruction may be particular too. The hint makes them one where that is possible.
                stored = self.work.make_reg(v, true);
                self.grow(stored);
                self.work.regs[stored.index()].data.demand.phases = phases;
                if phases.0.is_power_of_two() {
                    self.work.regs[local.index()].data.prefer =
                        Some(phases.0.trailing_zeros() as u8);
                }
                let inst = self.target.copy(Reg::virt(stored), Reg::virt(local), shape);
                self.push_move(inst, shape, happened, span);
            }
            let inst = self.target.store(Slot(slot), stored, shape);
            self.push_move(inst, shape, happened, span);
        }
    }

    /// What a short register stands for where an operand names a part of `v`.
    fn stood_for(&self, v: VReg, part: Part) -> Part {
        match self.plans[v.index()] {
            Plan::Moved(_) => part,
            Plan::Keep | Plan::Slot(_) | Plan::Again(_) => Part::WHOLE,
        }
    }

    /// The short register that stands for an operand, if there is one.
    fn local_of(&self, operand: &Operand) -> Option<VReg> {
        let v = virt(operand);
        let part = self.stood_for(v, operand.part);
        let mut locals = self.locals.iter();
        locals.find(|local| (local.0, local.1) == (v, part)).map(|local| local.2)
    }

    /// A short register for an operand of the current instruction.
    fn local(&mut self, operand: &Operand) -> VReg {
        let v = virt(operand);
        let local = self.work.make_reg(v, true);
        let part = self.stood_for(v, operand.part);
        if !part.is_whole() {
            self.work.regs[local.index()].data.demand = self.work.demand(operand);
        }
        self.grow(local);
        self.locals.push((v, part, local));
        local
    }

    /// Keeps the tables as long as the list of registers.
    fn grow(&mut self, made: VReg) {
        self.plans.push(Plan::Keep);
        self.stands_for.push(made);
    }
}
