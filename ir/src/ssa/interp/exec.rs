//! The walk over regions under lane masks.

use super::doubt::Doubts;
use super::memory::Memory;
use super::slots::Slots;
use super::{
    Emitted, Excluded, FETCH, Inexact, Lanes, Marks, Options, Outcome, Stop, WAVE, has_quads,
};
use crate::ssa::eval::{data_type, eval, eval_lanes};
use crate::ssa::func::{Emits, Func, Imm, Inst, InstData, Region, Type, Value};
use crate::ssa::numerics::Numerics;
use crate::ssa::op::{Flags, Number, Op};
use crate::ssa::resource::{Builtin, InputKind};
use crate::ssa::world::World;
use smallvec::SmallVec;
use std::cell::Cell;

/// A set of lanes; four words hold the 256 of a usual run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mask(SmallVec<[u64; 4]>);

impl Mask {
    fn none(lanes: usize) -> Mask {
        Mask(SmallVec::from_elem(0, lanes.div_ceil(64)))
    }
    fn all(lanes: usize) -> Mask {
        let mut mask = Mask::none(lanes);
        for lane in 0..lanes {
            mask.insert(lane);
        }
        mask
    }
    fn insert(&mut self, lane: usize) {
        self.0[lane / 64] |= 1 << (lane % 64);
    }
    pub(super) fn contains(&self, lane: usize) -> bool {
        self.0[lane / 64] >> (lane % 64) & 1 != 0
    }
    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
    pub(super) fn add(&mut self, other: &Mask) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }
}

/// A construct that is being executed and that inner regions may leave.
struct Frame {
    inst: Inst,
    /// Lanes that left it: `break` of a loop, `exit` or `yield` of a block, `yield` of an if.
    left: Mask,
    /// Loops: lanes that go to `continuing`.
    continued: Mask,
}

/// A run in progress.
pub(super) struct Machine<'a> {
    pub(super) func: &'a Func,
    pub(super) lanes: &'a Lanes,
    pub(super) world: &'a mut dyn World,
    pub(super) numerics: &'a Numerics,
    trace: Option<&'a mut dyn super::Trace>,
    beyond: Option<&'a mut Option<Inst>>,
    limit: u64,
    steps: u64,
    work: Option<&'a mut u64>,
    pub(super) slots: Slots,
    /// `[slot][lane]`.
    pub(super) values: Vec<u64>,
    /// The same for taint; empty when nothing is followed.
    pub(super) taint: Vec<bool>,
    /// Addresses made of an index into no elements: accesses there do not happen. Empty where every length is a
    /// constant above 0.
    pub(super) nowhere: Vec<bool>,
    pub(super) memory: Memory,
    frames: Vec<Frame>,
    pub(super) helper: Vec<bool>,
    outputs: Vec<Vec<[u32; 4]>>,
    /// By lane: what was emitted, and whether the next vertex begins a strip.
    emitted: Vec<(Vec<Emitted>, bool)>,
    pub(super) marks: Marks,
    known: Option<&'a Marks>,
    /// What is followed beside the marks.
    pub(super) inexact: Inexact,
    pub(super) excluded: Excluded,
    pub(super) doubts: Doubts,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        func: &'a Func,
        lanes: &'a Lanes,
        world: &'a mut dyn World,
        options: Options<'a>,
    ) -> Self {
        let slots = Slots::new(func);
        let size = slots.count * lanes.count;
        let mut values = vec![0; size];
        for (row, &bits) in (slots.first_constant()..).zip(&slots.constants) {
            values[row * lanes.count..(row + 1) * lanes.count].fill(bits);
        }
        let mut excluded = Excluded::default();
        if let Some(marks) = options.marks {
            excluded.words.extend(marks.racy.iter().copied());
            excluded.outputs = vec![vec![false; lanes.count]; func.outputs.len() * 4];
        }
        Machine {
            func,
            lanes,
            world,
            numerics: options.numerics,
            trace: options.trace,
            beyond: options.beyond,
            limit: options.steps,
            steps: 0,
            work: options.work,
            slots,
            values,
            taint: vec![false; if options.marks.is_some() { size } else { 0 }],
            nowhere: vec![false; if may_be_empty(func) { size } else { 0 }],
            memory: Memory::new(func, lanes, options.marks.is_some()),
            frames: Vec::new(),
            helper: lanes.helper.clone(),
            outputs: vec![vec![[0; 4]; lanes.count]; func.outputs.len()],
            emitted: match func.geometry {
                Some(_) => vec![(Vec::new(), true); lanes.count],
                None => Vec::new(),
            },
            marks: Marks::default(),
            known: options.marks,
            inexact: options.inexact,
            excluded,
            doubts: Doubts::default(),
        }
    }

    /// Constructs that are being executed.
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// The constructs that are being executed from one on, the outermost first.
    pub(super) fn frames_from(&self, first: usize) -> impl Iterator<Item = Inst> + '_ {
        self.frames.iter().skip(first).map(|frame| frame.inst)
    }

    pub(super) fn run(mut self) -> Result<Outcome, Stop> {
        let all = Mask::all(self.lanes.count);
        let result = self.region(self.func.body, all);
        if let Some(beyond) = self.beyond.take() {
            *beyond = self.memory.beyond;
        }
        result?;
        Ok(Outcome {
            outputs: self.outputs,
            emitted: self.emitted.into_iter().map(|(emitted, _)| emitted).collect(),
            helper: self.helper,
            steps: self.steps,
            marks: self.marks,
            excluded: self.excluded,
            beyond: self.memory.beyond,
        })
    }

    fn at(&self, value: Value, lane: usize) -> usize {
        self.slots.row(value) * self.lanes.count + lane
    }
    pub(super) fn get(&self, value: Value, lane: usize) -> u64 {
        self.values[self.at(value, lane)]
    }
    pub(super) fn set(&mut self, value: Value, lane: usize, bits: u64) {
        let at = self.at(value, lane);
        self.values[at] = bits;
        if let Some(nowhere) = self.nowhere.get_mut(at) {
            *nowhere = false;
        }
    }
    /// True for an address that is made of an index into no elements.
    pub(super) fn is_nowhere(&self, address: Value, lane: usize) -> bool {
        !self.nowhere.is_empty() && self.nowhere[self.at(address, lane)]
    }
    /// True when taint is followed.
    pub(super) fn follows(&self) -> bool {
        self.known.is_some()
    }
    pub(super) fn known_racy(&self, word: super::Word) -> bool {
        self.known.is_some_and(|marks| marks.racy.contains(&word))
    }
    /// True when it is not known that the word stands still while it is read.
    pub(super) fn known_moving(&self, word: super::Word) -> bool {
        self.known.is_none_or(|marks| marks.moving.contains(&word))
    }
    pub(super) fn tainted(&self, value: Value, lane: usize) -> bool {
        self.follows() && self.taint[self.at(value, lane)]
    }
    pub(super) fn set_taint(&mut self, value: Value, lane: usize, taint: bool) {
        if self.follows() {
            let at = self.at(value, lane);
            self.taint[at] = taint;
        }
    }

    /// Copies values to the results or parameters that a terminator gives them to.
    fn give(&mut self, to: &[Value], from: &[Value], mask: &Mask) {
        for (&to, &from) in to.iter().zip(from) {
            for lane in mask.iter() {
                let (to, from) = (self.at(to, lane), self.at(from, lane));
                self.values[to] = self.values[from];
                if !self.taint.is_empty() {
                    self.taint[to] = self.taint[from];
                }
                if let Some(nowhere) = self.nowhere.get_mut(to) {
                    *nowhere = false;
                }
            }
        }
    }

    /// Lanes of `mask` by the truth of a condition of `inst`.
    fn split(&mut self, inst: Inst, condition: Value, mask: &Mask) -> (Mask, Mask) {
        let (mut yes, mut no) = (Mask::none(self.lanes.count), Mask::none(self.lanes.count));
        let mut doubtful = Mask::none(self.lanes.count);
        for lane in mask.iter() {
            if self.tainted(condition, lane) {
                doubtful.insert(lane);
            }
            if self.get(condition, lane) != 0 {
                yes.insert(lane);
            } else {
                no.insert(lane);
            }
        }
        if !doubtful.is_empty() {
            self.doubt(inst, &doubtful);
        }
        (yes, no)
    }

    /// Counts an instruction against both limits.
    fn charge(&mut self, op: Op, active: &Mask) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps > self.limit {
            return Err(Stop::OutOfSteps(self.limit));
        }
        if let Some(left) = &mut self.work {
            let each = if op == Op::Tex { FETCH } else { 1 };
            let cost = each * (active.count().div_ceil(WAVE) as u64);
            if cost > **left {
                **left = 0;
                return Err(Stop::OutOfSteps(self.steps));
            }
            **left -= cost;
        }
        Ok(())
    }

    /// Executes a region; lanes that `yield` are added to the innermost frame's `left`, or, in the
    /// function's body, just end.
    fn region(&mut self, region: Region, mut active: Mask) -> Result<(), Stop> {
        let func = self.func;
        for &inst in &func.regions[region].insts {
            if active.is_empty() {
                return Ok(());
            }
            let data = &func.insts[inst];
            self.charge(data.op, &active)?;
            match data.op {
                Op::If => active = self.if_(inst, data, &active)?,
                Op::Block => active = self.block(inst, data, active)?,
                Op::Loop => active = self.loop_(inst, data, active)?,
                Op::Yield => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.left.add(&active);
                        let owner = frame.inst;
                        self.give(&func.insts[owner].results, &data.args, &active);
                    }
                    return Ok(());
                }
                Op::Break | Op::Continue | Op::Exit => return self.leave(inst, data, &active),
                Op::Next | Op::BreakIf => {
                    return Err(Stop::Malformed(inst, "outside of continuing"));
                }
                Op::Unreachable => return Err(Stop::Unreachable(inst)),
                _ => self.simple(inst, data, &active)?,
            }
            if self.trace.is_some() {
                self.report(inst, &active);
            }
        }
        Ok(())
    }

    fn report(&mut self, inst: Inst, active: &Mask) {
        let lanes: Vec<usize> = active.iter().collect();
        let results = &self.func.insts[inst].results;
        let (values, slots, count) = (&self.values, &self.slots, self.lanes.count);
        let value = |lane: usize, k: usize| {
            results.get(k).map_or(0, |&v| values[slots.row(v) * count + lane])
        };
        if let Some(trace) = self.trace.as_deref_mut() {
            trace.executed(self.func, inst, &lanes, &value);
        }
    }

    /// `break`, `continue` and `exit`: the lanes go to the frame that they name.
    fn leave(&mut self, inst: Inst, data: &InstData, active: &Mask) -> Result<(), Stop> {
        let func = self.func;
        let frame = self
            .frames
            .iter_mut()
            .rev()
            .find(|frame| match data.imm {
                Imm::Label(block) => frame.inst == block,
                _ => func.insts[frame.inst].op == Op::Loop,
            })
            .ok_or(Stop::Malformed(inst, "leaves nothing that encloses it"))?;
        let owner = &func.insts[frame.inst];
        if data.op == Op::Continue {
            frame.continued.add(active);
            let params = &func.regions[owner.regions[1]].params;
            self.give(params, &data.args, active);
        } else {
            frame.left.add(active);
            self.give(&owner.results, &data.args, active);
        }
        Ok(())
    }

    fn push(&mut self, inst: Inst) {
        self.frames.push(Frame {
            inst,
            left: Mask::none(self.lanes.count),
            continued: Mask::none(self.lanes.count),
        });
    }
    fn pop(&mut self, inst: Inst) -> Mask {
        self.settle(inst);
        self.frames.pop().expect("every frame is popped by who pushed it").left
    }

    fn if_(&mut self, inst: Inst, data: &InstData, active: &Mask) -> Result<Mask, Stop> {
        let (yes, no) = self.split(inst, data.args[0], active);
        self.push(inst);
        self.region(data.regions[0], yes)?;
        self.region(data.regions[1], no)?;
        Ok(self.pop(inst))
    }

    fn block(&mut self, inst: Inst, data: &InstData, active: Mask) -> Result<Mask, Stop> {
        self.push(inst);
        self.region(data.regions[0], active)?;
        Ok(self.pop(inst))
    }

    fn loop_(&mut self, inst: Inst, data: &InstData, active: Mask) -> Result<Mask, Stop> {
        let func = self.func;
        let (body, continuing) = (data.regions[0], data.regions[1]);
        self.give(&func.regions[body].params, &data.args, &active);
        self.push(inst);
        let mut trip = active;
        while !trip.is_empty() {
            self.region(body, trip)?;
            let frame = self.frames.last_mut().expect("the loop's own frame");
            let lanes = std::mem::replace(&mut frame.continued, Mask::none(self.lanes.count));
            trip = self.continuing(inst, data, continuing, lanes)?;
        }
        Ok(self.pop(inst))
    }

    /// Executes `continuing` up to its terminator and gives the lanes of the next trip.
    fn continuing(
        &mut self,
        inst: Inst,
        data: &InstData,
        region: Region,
        lanes: Mask,
    ) -> Result<Mask, Stop> {
        let func = self.func;
        if lanes.is_empty() {
            return Ok(lanes);
        }
        let insts = &func.regions[region].insts;
        let (&last, straight) =
            insts.split_last().ok_or(Stop::Malformed(inst, "continuing has no terminator"))?;
        // All lanes that enter `continuing` reach its end: nothing in it may leave the loop but its
        // own terminator, and constructs inside give back the lanes they were given.
        let mut active = lanes;
        for &inner in straight {
            let inner_data = &func.insts[inner];
            self.charge(inner_data.op, &active)?;
            match inner_data.op {
                Op::If => active = self.if_(inner, inner_data, &active)?,
                Op::Block => active = self.block(inner, inner_data, active)?,
                Op::Loop => active = self.loop_(inner, inner_data, active)?,
                _ => self.simple(inner, inner_data, &active)?,
            }
            if self.trace.is_some() {
                self.report(inner, &active);
            }
        }
        let end = &func.insts[last];
        self.charge(end.op, &active)?;
        let params = &func.regions[data.regions[0]].params;
        match end.op {
            Op::Next => {
                self.give(params, &end.args, &active);
                Ok(active)
            }
            Op::BreakIf => {
                let (done, more) = self.split(last, end.args[0], &active);
                let (results, next) = end.args[1..].split_at(data.results.len());
                self.give(&data.results, results, &done);
                self.give(params, next, &more);
                let frame = self.frames.last_mut().expect("the loop's own frame");
                frame.left.add(&done);
                Ok(more)
            }
            _ => Err(Stop::Malformed(last, "not a terminator of continuing")),
        }
    }

    /// Everything that does not touch control flow.
    fn simple(&mut self, inst: Inst, data: &InstData, active: &Mask) -> Result<(), Stop> {
        match data.op {
            Op::BufferLoad
            | Op::BufferStore
            | Op::BufferSize
            | Op::BufferAtomic
            | Op::MemLoad
            | Op::MemStore
            | Op::MemAtomic
            | Op::ImageStore
            | Op::ImageAtomic => {
                self.accesses(inst, data, active);
                if self.follows() && data.op != Op::BufferSize && data.op.flags().has(Flags::READS)
                {
                    self.note_read(&data.imm);
                }
                self.memory_access(data, active);
            }
            Op::Tex | Op::TexQuery => {
                self.accesses(inst, data, active);
                if self.follows() {
                    self.note_read(&data.imm);
                }
                self.texture(data, active);
            }
            Op::Input => {
                let Imm::Input(input, component) = data.imm else {
                    return Err(Stop::Malformed(inst, "input without its number"));
                };
                let result = data.results[0];
                // Of a pixel's position this is a reciprocal.
                let position = InputKind::Builtin(Builtin::Position);
                let quotient = self.inexact != Inexact::Nothing
                    && component == 3
                    && self.func.inputs[input].kind == position;
                let mask = self.func.ty(result).mask();
                for lane in active.iter() {
                    let word =
                        self.lanes.inputs[super::slot(input)][lane][usize::from(component & 3)];
                    self.set(result, lane, u64::from(word) & mask);
                    self.set_taint(result, lane, quotient);
                }
            }
            Op::Output => {
                let Imm::Output(output, component) = data.imm else {
                    return Err(Stop::Malformed(inst, "output without its number"));
                };
                let (index, component) = (output.as_u32() as usize, usize::from(component & 3));
                for lane in active.iter() {
                    self.outputs[index][lane][component] = self.get(data.args[0], lane) as u32;
                    if self.tainted(data.args[0], lane) {
                        self.excluded.outputs[index * 4 + component][lane] = true;
                    }
                }
            }
            Op::EmitVertex | Op::EndPrimitive => {
                let geometry = self.func.geometry;
                let most = geometry.map_or(0, |geometry| geometry.most as usize);
                // Each point is a primitive of its own.
                let points = geometry.is_some_and(|geometry| geometry.emits == Emits::Points);
                for lane in active.iter() {
                    let Some((emitted, begins)) = self.emitted.get_mut(lane) else {
                        return Err(Stop::Malformed(inst, "outside of a geometry program"));
                    };
                    if data.op == Op::EndPrimitive {
                        *begins = true;
                    } else if emitted.len() < most {
                        let outputs = self.outputs.iter().map(|output| output[lane]).collect();
                        let begins = std::mem::take(begins) || points;
                        emitted.push(Emitted { outputs, begins });
                    }
                }
            }
            Op::Ddx | Op::DdxFine | Op::DdxCoarse | Op::Ddy | Op::DdyFine | Op::DdyCoarse => {
                self.derivative(data, active);
            }
            Op::Demote => {
                for lane in active.iter() {
                    self.helper[lane] = true;
                }
            }
            Op::IsHelper => {
                for lane in active.iter() {
                    let helper = self.helper[lane];
                    self.set(data.results[0], lane, helper.into());
                    self.set_taint(data.results[0], lane, false);
                }
            }
            Op::Clock | Op::DeviceClock => {
                for lane in active.iter() {
                    self.marks.free = true;
                    let now = self.steps;
                    for (&result, word) in data.results.iter().zip([now as u32, (now >> 32) as u32])
                    {
                        self.set(result, lane, word.into());
                        self.set_taint(result, lane, true);
                    }
                }
            }
            Op::Ballot | Op::Shuffle | Op::Reduce => self.cooperate(data, active),
            // Lanes run in lock step; what they exchange through memory is still called racy.
            Op::SubgroupBarrier => {}
            Op::Barrier => self.barrier(inst, active)?,
            _ => self.compute(inst, data, active)?,
        }
        Ok(())
    }

    fn compute(&mut self, inst: Inst, data: &InstData, active: &Mask) -> Result<(), Stop> {
        let no_function = Stop::Malformed(inst, "not a function of its operands");
        let count = self.lanes.count;
        let Some(&result) = data.results.first() else {
            return Err(no_function);
        };
        let to = self.slots.row(result) * count;
        if let Imm::Bits(bits) = data.imm {
            if to >= self.slots.first_constant() * count {
                return Ok(());
            }
            self.values[to..to + count].fill(bits);
            if !self.taint.is_empty() {
                self.taint[to..to + count].fill(false);
            }
            if !self.nowhere.is_empty() {
                self.nowhere[to..to + count].fill(false);
            }
            return Ok(());
        }
        let result_ty = self.func.ty(result);
        let ty = data_type(self.func, data, result_ty);
        let rows: SmallVec<[usize; 8]> =
            data.args.iter().map(|&arg| self.slots.row(arg) * count).collect();
        // Lanes that are not here cannot see this value again before it is computed anew, so all
        // lanes may compute it; that is cheaper than picking lanes unless few are here.
        if active.count() * 4 >= count {
            let cells = Cell::from_mut(self.values.as_mut_slice()).as_slice_of_cells();
            let args: SmallVec<[&[Cell<u64>]; 8]> =
                rows.iter().map(|&row| &cells[row..row + count]).collect();
            let out = &cells[to..to + count];
            if !eval_lanes(data.op, ty, result_ty, &args, out, self.numerics) {
                return Err(no_function);
            }
        } else {
            for lane in active.iter() {
                let args: SmallVec<[u64; 8]> =
                    rows.iter().map(|row| self.values[row + lane]).collect();
                self.values[to + lane] = eval(data.op, ty, result_ty, &args, self.numerics)
                    .ok_or(no_function.clone())?;
            }
        }
        // As with values, all lanes may be marked where that is cheaper.
        if !self.taint.is_empty() {
            let own = self.is_inexact(data.op);
            let any = own || rows.iter().any(|&row| self.taint[row..row + count].contains(&true));
            if !any {
                self.taint[to..to + count].fill(false);
            }
            for lane in active.iter().filter(|_| any) {
                self.taint[to + lane] = own || rows.iter().any(|row| self.taint[row + lane]);
            }
        }
        if !self.nowhere.is_empty() {
            let is_index = data.op == Op::Index;
            // The length of an index is no part of an address.
            let parts = &rows[..rows.len() - usize::from(is_index)];
            let carries = data.op.makes_address()
                && parts.iter().any(|&row| self.nowhere[row..row + count].contains(&true));
            if !carries && !is_index {
                self.nowhere[to..to + count].fill(false);
            }
            for lane in active.iter().filter(|_| carries || is_index) {
                let none = is_index && self.values[rows[1] + lane] == 0;
                self.nowhere[to + lane] =
                    none || carries && parts.iter().any(|row| self.nowhere[row + lane]);
            }
        }
        Ok(())
    }

    /// Another form of the program may give other bits of what an operation computes.
    pub(super) fn is_inexact(&self, op: Op) -> bool {
        match self.inexact {
            Inexact::Nothing => false,
            Inexact::Functions => op.is_approximated(),
            Inexact::Floats => op.reads() == Number::Float,
        }
    }

    /// The difference across the quad: of the lane's own row or column, or (coarse) of the first.
    fn derivative(&mut self, data: &InstData, active: &Mask) {
        let (arg, result) = (data.args[0], data.results[0]);
        for lane in active.iter() {
            let value = self.quad_difference(arg, lane, data.op);
            self.set(result, lane, value);
            let torn = self.quad_is_torn(lane, active);
            self.marks.absent_lanes |= torn;
            if self.follows() {
                let quad = lane & !3;
                let near = (quad..quad + 4).any(|lane| self.tainted(arg, lane));
                let taint = torn || near || self.is_inexact(data.op);
                self.set_taint(result, lane, taint);
            }
        }
    }

    /// A pixel of the lane's quad is not here: what is taken across the quad is nobody's promise.
    pub(super) fn quad_is_torn(&self, lane: usize, active: &Mask) -> bool {
        let quad = lane & !3;
        (quad..quad + 4).any(|lane| !active.contains(lane))
    }

    pub(super) fn quad_difference(&self, arg: Value, lane: usize, op: Op) -> u64 {
        if !has_quads(self.func) {
            return 0;
        }
        let (quad, own) = (lane & !3, lane & 3);
        let (from, to) = match op {
            Op::Ddx | Op::DdxFine => (own & 2, own | 1),
            Op::Ddy | Op::DdyFine => (own & 1, own | 2),
            Op::DdxCoarse => (0, 1),
            _ => (0, 2),
        };
        let ty = self.func.ty(arg);
        let (to, from) = (self.get(arg, quad + to), self.get(arg, quad + from));
        eval(Op::FSub, ty, ty, &[to, from], self.numerics)
            .expect("a difference is a function of its operands")
    }

    fn barrier(&mut self, inst: Inst, active: &Mask) -> Result<(), Stop> {
        let groups = self.memory.epochs.len();
        let (mut here, mut all) = (vec![0u32; groups], vec![0u32; groups]);
        for (lane, &group) in self.lanes.workgroup.iter().enumerate() {
            all[group as usize] += 1;
            here[group as usize] += u32::from(active.contains(lane));
        }
        for (group, (&here, &all)) in here.iter().zip(&all).enumerate() {
            if here != 0 && here != all {
                return Err(Stop::DivergentBarrier(inst));
            }
            self.memory.epochs[group] += u32::from(here != 0);
        }
        Ok(())
    }

    /// The type of a value.
    pub(super) fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }
}

/// Some `index` has a length that may be 0.
fn may_be_empty(func: &Func) -> bool {
    func.regions_in_order().iter().any(|&(region, ..)| {
        func.regions[region].insts.iter().any(|&inst| {
            let data = &func.insts[inst];
            data.op == Op::Index && func.as_const(data.args[1]).is_none_or(|length| length == 0)
        })
    })
}
