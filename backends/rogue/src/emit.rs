//! Machine IR becomes groups in memory order: waits for messages, marks as mask operations and branches, padding.
//! isa/rogue-pipeline.md 1.1, 2.7, 5.6.

mod meet;
mod pack;
mod predicate;
mod repeat;
mod spill;

use crate::constants::Constants;
use crate::cost::Bound;
use crate::inst::{COUNTER, Inst, Message, Port, Step};
use crate::isa::encode::encode;
use crate::isa::fields::f;
use crate::isa::group::{Condition, Group, Ops};
use crate::isa::ops::{Backend, Control};
use crate::isa::program::LINE;
use crate::isa::register::{Register, constant};
use crate::legal::Context;
use cranelift_entity::SecondaryMap;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, Func};
use gpucc_ir::ssa::{Span, Stage};
use gpucc_isa::Inst as Word;
use std::collections::BTreeSet;

/// A finished program.
pub struct Emitted {
    pub code: Vec<u8>,
    /// The groups whose bytes these are, with their offsets.
    pub laid: Vec<(usize, Group)>,
    /// Source position of the code from a byte offset on.
    pub lines: Vec<(u32, Span)>,
    pub groups: u64,
    /// Turns of a task: a group that repeats takes one each time.
    pub turns: u64,
    pub messages: u64,
    /// Stores and loads of the allocator.
    pub spills: u64,
    pub fills: u64,
    pub waits: u64,
    pub loops: u64,
    pub branches: u64,
    /// Groups that a program with one operation a group would have beside these.
    pub shared: u64,
    /// The least turns of what all groups do.
    pub bound: Bound,
    /// Numbers in shared registers.
    pub constants: Constants,
}

/// Codes of which instances a mask operation asks. 2.7.
const ALWAYS: u32 = 0;
const IF_P0: u32 = 1;
const IF_NOT_P0: u32 = 3;
/// A branch that is taken where no instance runs. 2.7.
const ALL: u32 = 1;

/// Messages under way on one counter.
#[derive(Default)]
struct Pending {
    any: bool,
    loads: bool,
    stores: bool,
    reads: BTreeSet<u16>,
    writes: BTreeSet<u16>,
}

/// Where a branch leads.
#[derive(Copy, Clone)]
enum Target {
    Block(Block),
    /// The group of this number.
    Group(usize),
}

struct Emitter<'a> {
    func: &'a Func<Inst>,
    /// The block that is laid out, as a place of the layout, and the node.
    place: usize,
    node: usize,
    /// What groups of straight code ask, and the condition whose arms they are.
    condition: Condition,
    arms: Option<predicate::Arms>,
    stage: Stage,
    scratch: Scratch,
    groups: Vec<(Group, Option<Target>, Span)>,
    /// The first group of each block.
    starts: SecondaryMap<Block, usize>,
    /// The counter of the execution mask has been written.
    begun: bool,
    /// What all blocks before each one weigh.
    places: SecondaryMap<Block, u64>,
    /// What the blocks before the one that is laid out weigh, with its own nodes so far.
    weight: u64,
    /// What a group may be that is made of two; none is made where it is absent.
    pairs: Option<&'a Context>,
    /// The first group of this block, or behind the last branch within it.
    first: usize,
    pending: [Pending; 2],
    span: Span,
    emitted: Emitted,
}

/// Where registers lie that went to memory.
#[derive(Copy, Clone)]
pub struct Scratch {
    /// The first of the shared registers that say where the memory is.
    pub shared: u16,
    /// The first byte of the registers within an instance's block.
    pub first: u32,
}

/// Lays out a function whose registers are chosen; where a context of legality is given, neighbours share groups.
///
/// # Errors
/// [`Failure::Internal`] for a group that has no bytes: our fault.
pub fn emit(
    func: &Func<Inst>,
    stage: Stage,
    scratch: Scratch,
    pairs: Option<&Context>,
    constants: Constants,
) -> Result<Emitted, Failure> {
    let emitted = Emitted {
        code: Vec::new(),
        laid: Vec::new(),
        lines: Vec::new(),
        groups: 0,
        turns: 0,
        messages: 0,
        spills: 0,
        fills: 0,
        waits: 0,
        loops: 0,
        branches: 0,
        shared: 0,
        bound: Bound::default(),
        constants,
    };
    let mut emitter = Emitter {
        func,
        place: 0,
        node: 0,
        condition: Condition::Runs,
        arms: None,
        stage,
        scratch,
        groups: Vec::with_capacity(func.len()),
        starts: SecondaryMap::new(),
        begun: false,
        places: SecondaryMap::new(),
        weight: 0,
        pairs,
        first: 0,
        pending: Default::default(),
        span: Span::NONE,
        emitted,
    };
    let mut before = 0;
    for &block in &func.layout {
        emitter.places[block] = before;
        before += func.blocks[block].nodes.iter().map(|node| weight(&node.inst)).sum::<u64>();
    }
    for (place, &block) in func.layout.iter().enumerate() {
        emitter.place = place;
        emitter.weight = emitter.places[block];
        emitter.first = emitter.groups.len();
        emitter.starts[block] = emitter.first;
        for (at, node) in func.blocks[block].nodes.iter().enumerate() {
            emitter.node = at;
            emitter.span = node.span;
            emitter.weight += weight(&node.inst);
            emitter.inst(&node.inst);
        }
        if emitter.arms.is_none() {
            // Whoever comes here from elsewhere waits for nothing.
            emitter.wait_all();
        }
    }
    emitter.lay_out()
}

/// An arm of no more groups than these is not jumped over: groups that no instance runs do nothing, and the branch is a group, too.
const SHORT: u64 = 6;

/// How many groups a node takes, where those do nothing if no instance runs; else more than an arm may have that nobody jumps over.
fn weight(inst: &Inst) -> u64 {
    match inst {
        Inst::Step(step) if step.message.is_none() => u64::from(step.group.repeat),
        Inst::EndIf => 1,
        Inst::If { .. } | Inst::Else { .. } => 2,
        _ => SHORT + 1,
    }
}

/// A mask operation: the counter comes in and goes out.
fn mask(row: Control, condition: u32, adjust: u32) -> Group {
    let word = Word::usual(row.op()).with(f::COND, condition);
    let word = if word.has_field(f::ADJUST) { word.with(f::ADJUST, adjust) } else { word };
    let mut group = Group::new(Ops::Control(word));
    group.condition = Condition::IgnorePe;
    group.sources[0] = COUNTER;
    group.writes[0] = Some(COUNTER);
    group
}

fn branch(bpred: u32, condition: Condition) -> Group {
    let word = Word::usual(Control::Br.op()).with(f::BPRED, bpred);
    Group { condition, ..Group::new(Ops::Control(word)) }
}

impl Emitter<'_> {
    fn push(&mut self, group: Group) {
        self.groups.push((group, None, self.span));
    }

    /// Opens a mask: the first one of a program begins the counter. 2.7.
    fn open(&mut self, condition: u32) {
        let mut group = mask(Control::Cndst, condition, 1);
        if !std::mem::replace(&mut self.begun, true) {
            group.sources[0] = Register::ZERO;
        }
        self.push(group);
    }

    /// Jumps to the end of an arm where no instance runs it, if it is worth a group.
    fn skip(&mut self, target: Block) {
        if self.places[target].saturating_sub(self.weight) > SHORT {
            self.push_to(branch(ALL, Condition::Runs), target);
        }
    }

    fn push_to(&mut self, group: Group, target: Block) {
        self.groups.push((group, Some(Target::Block(target)), self.span));
        self.emitted.branches += 1;
    }

    /// A branch to a group that is named later; gives its number.
    fn push_forward(&mut self, condition: Condition) -> usize {
        let target = Some(Target::Group(self.groups.len()));
        self.groups.push((branch(0, condition), target, self.span));
        self.emitted.branches += 1;
        self.groups.len() - 1
    }

    /// The branch of this number leads here.
    fn land(&mut self, number: usize) {
        self.groups[number].1 = Some(Target::Group(self.groups.len()));
    }

    fn wait(&mut self, drc: usize) {
        if !self.pending[drc].any {
            return;
        }
        let word = Word::usual(Control::Wdf.op()).with(f::MISC, drc as u32);
        self.push(Group::new(Ops::Control(word)));
        self.pending[drc] = Pending::default();
        self.emitted.waits += 1;
    }

    fn wait_all(&mut self) {
        self.wait(0);
        self.wait(1);
    }

    /// Waits for what a step meets: results that it reads, registers under way that it writes, memory that it follows.
    fn meet(&mut self, step: &Step) {
        for drc in 0..2 {
            let pending = &self.pending[drc];
            let meets = |port: &Port| {
                let index = port.reg.cell().index;
                pending.writes.contains(&index)
                    || port.role.is_def() && pending.reads.contains(&index)
            };
            let memory = match step.message {
                None | Some(Message::Reads | Message::Decides) => false,
                Some(Message::Loads) => pending.stores,
                Some(Message::Stores) => pending.stores || pending.loads,
            };
            if memory || step.ports.iter().any(meets) {
                self.wait(drc);
            }
        }
    }

    fn step(&mut self, step: &Step) {
        self.meet(step);
        let mut group = step.placed();
        if self.condition != Condition::Runs {
            group.condition = self.condition;
        }
        if let Some(message) = step.message {
            let drc = usize::from(message == Message::Stores);
            let word = match &mut group.ops {
                Ops::Main(main) => main.backend.as_mut(),
                Ops::Control(word) => Some(word),
                Ops::Bitwise(_) => None,
            };
            if let Some(word) = word.filter(|word| word.has_field(f::DRC)) {
                *word = word.with(f::DRC, drc as u32);
            }
            let pending = &mut self.pending[drc];
            pending.any = true;
            pending.loads |= message == Message::Loads;
            pending.stores |= message == Message::Stores;
            for port in &step.ports {
                let index = port.reg.cell().index;
                match port.role.is_def() {
                    true => pending.writes.insert(index),
                    false => pending.reads.insert(index),
                };
            }
            self.emitted.messages += 1;
            if message == Message::Decides {
                self.push(group);
                self.wait(drc);
                return;
            }
        }
        if !self.shares(&group) {
            self.push(group);
        }
    }

    /// Puts a group into the one before it, where that can be; what the two are then may be the next turn of the one before them.
    fn shares(&mut self, group: &Group) -> bool {
        let Some(context) = self.pairs.filter(|_| self.groups.len() > self.first) else {
            return false;
        };
        let Some((before, None, _)) = self.groups.last_mut() else { return false };
        let constants = &mut self.emitted.constants;
        if let Some(pair) = pack::pair(before, group, context) {
            *before = pair;
            self.emitted.shared += 1;
            if self.groups.len() - self.first > 1
                && let Some((pair, None, span)) = self.groups.pop()
                && !self.shares(&pair)
            {
                self.groups.push((pair, None, span));
            }
            return true;
        }
        match repeat::join(before, group, context, constants) {
            Some(joined) => *before = joined,
            None => return false,
        }
        true
    }

    fn inst(&mut self, inst: &Inst) {
        match *inst {
            Inst::Step(ref step) => self.step(step),
            Inst::Copy { .. } => {}
            Inst::Spill { reg, access } => spill::spill(self, reg, access),
            Inst::If { p0, target } => {
                let packs = self.pairs.is_some();
                self.arms = predicate::arms(self.func, self.place, p0, target).filter(|_| packs);
                if self.arms.is_some() {
                    self.emitted.shared += 1;
                    self.condition = predicate::asks(p0);
                    return;
                }
                self.wait_all();
                let condition = if p0 { IF_P0 } else { IF_NOT_P0 };
                self.open(condition);
                self.skip(target);
            }
            Inst::Guard
                if self.pairs.is_some() && predicate::rest(self.func, self.place, self.node) =>
            {
                self.emitted.shared += 1;
                self.condition = Condition::IfP0;
            }
            Inst::Guard => self.open(IF_P0),
            Inst::Else { .. } if self.arms.is_some() => {
                self.emitted.shared += 1;
                self.condition = self.arms.map_or(Condition::Runs, |arms| arms.opposite);
            }
            Inst::EndIf if self.arms.take().is_some() => {
                self.emitted.shared += 1;
                self.condition = Condition::Runs;
            }
            Inst::Else { target } => {
                self.push(mask(Control::Cndef, ALWAYS, 1));
                self.skip(target);
            }
            Inst::EndIf => self.push(mask(Control::Cndend, ALWAYS, 1)),
            Inst::Do => {
                self.wait_all();
                self.emitted.loops += 1;
                self.open(ALWAYS);
            }
            Inst::Break(depth) => match self.condition {
                // The condition around it has no level of its own.
                Condition::IfP0 => self.leave(depth, IF_P0),
                Condition::IfNotP0 => self.leave(depth, IF_NOT_P0),
                _ => self.leave(depth + 1, ALWAYS),
            },
            Inst::While { p0, target } => {
                self.wait_all();
                let condition = match p0 {
                    None => ALWAYS,
                    Some(true) => IF_P0,
                    Some(false) => IF_NOT_P0,
                };
                self.push(mask(Control::Cndlt, condition, 1));
                self.push_to(branch(0, Condition::IfP0), target);
            }
            Inst::Meet(tasks) => {
                self.wait_all();
                meet::meet(self, tasks);
                self.first = self.groups.len();
            }
            Inst::End => {
                self.wait_all();
                self.end();
            }
        }
    }

    /// The last group of straight code ends the program where it can; else one of its own does. 1.1, 2.8.
    fn end(&mut self) {
        let straight = self.groups.len() > self.first;
        if let Some((last, None, _)) = self.groups.last_mut().filter(|_| straight)
            && last.condition == Condition::Runs
        {
            let backend = match &mut last.ops {
                Ops::Main(main) => Some(&mut main.backend),
                Ops::Bitwise(_) => Some(&mut None),
                Ops::Control(_) => None,
            };
            match (self.stage, backend) {
                (Stage::Vertex, Some(Some(word)))
                    if Backend::of(word.op()) == Backend::UvswWrite && last.repeat == 1 =>
                {
                    let (address, port) = (word.get(f::ADDRESS), word.get(f::DSEL));
                    let ends = Word::usual(Backend::UvswWriteEmitEndtask.op());
                    *word = ends.with(f::ADDRESS, address).with(f::DSEL, port);
                    last.end = true;
                    self.emitted.shared += 1;
                    return;
                }
                (Stage::Fragment | Stage::Compute, Some(None)) => {
                    last.end = true;
                    self.emitted.shared += 1;
                    return;
                }
                _ => {}
            }
        }
        let mut group = match self.stage {
            Stage::Vertex => Step::backend(Word::usual(Backend::UvswEmitEndtask.op())).group,
            _ => Group::new(Ops::Control(Word::usual(Control::Nop.op()))),
        };
        group.end = true;
        self.push(group);
    }

    /// Sets the counter of those who run and whose p0 is as is asked.
    fn leave(&mut self, level: u32, condition: u32) {
        self.wait_all();
        let mut group = mask(Control::Cndsm, condition, 0);
        group.sources[2] = match constant(level) {
            Some(number) => Register::Special(number),
            None => {
                // The second internal register has the number.
                let second = Register::internal(1);
                let mut number =
                    Step::number(gpucc_ir::mach::Reg::phys(crate::inst::cell(0)), level);
                number.ports.clear();
                number.group.writes[0] = Some(second);
                self.push(number.group);
                second
            }
        };
        self.push(group);
    }

    fn lay_out(mut self) -> Result<Emitted, Failure> {
        let internal = |message: String| Failure::Internal { pass: "emit", message };
        let bytes_of = |group: &Group| encode(group).map_err(|error| internal(error.to_string()));
        let mut parts = Vec::with_capacity(self.groups.len());
        for (group, ..) in &self.groups {
            parts.push(bytes_of(group)?);
        }
        let count = parts.len();
        let before: usize = parts[..count - 1].iter().map(|bytes| bytes.len()).sum();
        let words = |bytes: usize| (bytes.next_multiple_of(LINE) - bytes) as u8 / 2;
        let missing = words(before);
        if count > 1 && missing > 0 {
            let pad = 2 * usize::from(missing);
            // The latest group that has room for it.
            let room = |bytes: &[u8]| bytes.len() + pad <= crate::isa::encode::MAX_BYTES;
            let Some(at) = parts[..count - 1].iter().rposition(|bytes| room(bytes)) else {
                return Err(internal("groups that are too long for their padding".into()));
            };
            self.groups[at].0.layout.pad = missing;
            parts[at] = bytes_of(&self.groups[at].0)?;
        }
        self.groups[count - 1].0.layout.pad = words(parts[count - 1].len());
        parts[count - 1] = bytes_of(&self.groups[count - 1].0)?;
        let mut offsets = vec![0usize];
        for bytes in &parts {
            offsets.push(offsets[offsets.len() - 1] + bytes.len());
        }
        let mut emitted = self.emitted;
        emitted.code.reserve_exact(offsets[count]);
        emitted.laid.reserve_exact(count);
        let firsts: BTreeSet<usize> = self.starts.values().copied().collect();
        for (at, ((mut group, target, span), mut bytes)) in
            self.groups.into_iter().zip(parts).enumerate()
        {
            if let (Some(target), Ops::Control(word)) = (target, &mut group.ops) {
                let target = match target {
                    Target::Block(block) => self.starts[block],
                    Target::Group(number) => number,
                };
                let way = (offsets[target] as i64 - offsets[at] as i64) / 2;
                *word = word.with(f::OFFSET, way as u32 & 0x7fff_ffff);
                bytes = bytes_of(&group)?;
            }
            if firsts.contains(&at) {
                emitted.bound.end_block();
            }
            emitted.bound.add(&group);
            emitted.groups += 1;
            emitted.turns += u64::from(group.repeat);
            emitted.shared += u64::from(group.repeat) - 1;
            if emitted.lines.last().is_none_or(|(_, last)| *last != span) {
                emitted.lines.push((offsets[at] as u32, span));
            }
            emitted.code.extend(bytes);
            emitted.laid.push((offsets[at], group));
        }
        emitted.bound.end_block();
        Ok(emitted)
    }
}
