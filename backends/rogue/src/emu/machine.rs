//! Tasks side by side: which goes on, its groups, and what it shares with others.

use super::check::{self, Stage, Uses};
use super::core::Core;
use super::decode;
use super::inst::{Condition, Control, File, Group, Kind, Register};
use super::memory::Memory;
use super::order::Order;
use super::register::{Common, Lanes, each};
use super::rule::{Refused, Rule, Trap};
use super::task::{Status, Task};
use super::texture::Textures;
use super::value::Floats;
use gpucc_ir::ssa::Numerics;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run: its steps are shared by all tasks.
pub struct Run<'a> {
    /// Groups that may still be executed.
    pub steps: &'a mut u64,
    /// Takes a line a group.
    pub trace: Option<&'a mut dyn FnMut(&str)>,
}

/// A group that was read, with what its ports name.
#[derive(Debug)]
pub(super) struct Fetched {
    pub group: Group,
    pub uses: Uses,
    /// It writes what instances share.
    pub shares: bool,
    /// The stamp of the memory that it was read from.
    stamp: u64,
}

/// What was made of memory: groups by place and stage, and images.
#[derive(Clone, Debug, Default)]
pub(super) struct Caches {
    fetched: BTreeMap<(u32, u8), Arc<Fetched>>,
    pub textures: Textures,
}

/// Where an operand lies for one instance.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Constant(u32),
    Temp(usize),
    Input(usize),
    Coefficient(usize),
    Shared(usize),
    Internal(usize),
    Output(usize),
    Global(usize),
    Index(usize),
    Special(u8),
}

/// The shader core with what its tasks share.
pub struct Machine<'a> {
    pub(super) core: &'a Core,
    pub(super) floats: Floats,
    pub(super) numerics: Numerics,
    pub(super) memory: &'a mut Memory,
    /// Shared registers.
    pub shared: Common,
    /// Coefficients, by workgroup or primitive.
    pub coefficients: Vec<Common>,
    pub(super) globals: Common,
    /// Which task holds each mutex.
    pub(super) mutexes: [Option<u32>; 16],
    pub(super) order: Order,
    /// Groups that were executed: what the timer shows.
    time: u32,
    /// Where code begins in memory.
    code_base: u64,
    pub(super) caches: Caches,
    /// The table of border colours, where one is set.
    pub border_table: Option<u64>,
    /// Memory of instances alone: what pixels store there hides nothing from the tests behind them.
    pub private: std::ops::Range<u64>,
    /// Depths that go back may lie beyond 0 and 1.
    pub unrestricted: bool,
    /// Operations of lower precision compute as others do, rather than stop: how exact they are is public nowhere.
    pub lower_precision: bool,
}

impl<'a> Machine<'a> {
    /// A core whose code begins at an address.
    pub fn new(
        core: &'a Core,
        numerics: Numerics,
        memory: &'a mut Memory,
        code_base: u64,
        seed: u64,
    ) -> Machine<'a> {
        Machine {
            core,
            floats: Floats { even: core.rounds_even, flush: numerics.f32_denormals.flush_inputs },
            numerics,
            memory,
            shared: Common::new("sh", 0),
            coefficients: Vec::new(),
            globals: Common::new("g", 8),
            mutexes: [None; 16],
            order: Order::new(seed),
            time: 0,
            code_base,
            caches: Caches::default(),
            border_table: None,
            private: 0..0,
            unrestricted: false,
            lower_precision: false,
        }
    }

    /// Memory, as the processor sees it.
    pub fn memory(&mut self) -> &mut Memory {
        self.memory
    }

    /// Runs tasks until all are done.
    ///
    /// # Errors
    /// The rule that one of them breaks.
    pub fn run(&mut self, tasks: &mut [Task], run: &mut Run<'_>) -> Result<(), Trap> {
        let mut ready: Vec<usize> = (0..tasks.len()).collect();
        loop {
            ready.retain(|at| tasks[*at].status != Status::Done);
            if ready.is_empty() {
                return Ok(());
            }
            let start = self.order.below(ready.len());
            let found = (0..ready.len())
                .map(|step| ready[(start + step) % ready.len()])
                .find(|at| self.may_go_on(&tasks[*at]));
            let Some(at) = found else {
                let task = &tasks[ready[0]];
                let what = format!("task {} waits: {:?}", task.number, task.status);
                return Err(Trap::new(Rule::Deadlock, task.pc, what));
            };
            // A task goes on for some groups, so that long runs and fine interleavings both happen.
            let turns = 1 + self.order.below(16);
            for _ in 0..turns {
                if tasks[at].status == Status::Done || !self.may_go_on(&tasks[at]) {
                    break;
                }
                if let Some(id) = self.step(&mut tasks[at], run)? {
                    wake(tasks, id);
                }
            }
        }
    }

    fn may_go_on(&self, task: &Task) -> bool {
        match task.status {
            Status::Ready => true,
            Status::Locking(id) => self.mutexes[usize::from(id & 15)].is_none(),
            Status::Sleeping(_) | Status::Done => false,
        }
    }

    /// Executes one group of a task; gives the mutex whose sleepers wake up.
    fn step(&mut self, task: &mut Task, run: &mut Run<'_>) -> Result<Option<u8>, Trap> {
        let pc = task.pc;
        let trap = |(rule, detail): Refused| Trap::new(rule, pc, detail);
        if *run.steps == 0 {
            return Err(Trap::new(Rule::Steps, pc, "no steps are left"));
        }
        *run.steps -= 1;
        self.time = self.time.wrapping_add(1);
        let fetched = self.fetch(task).map_err(trap)?;
        let group = &fetched.group;
        if let Some(trace) = &mut run.trace {
            trace(&format!(
                "{:4} {pc:6x} {:08x} {:08x} {:?}",
                task.number, task.executing, task.p0, group.kind
            ));
        }
        self.some_complete(task).map_err(trap)?;
        let lanes = self.lanes(task, group).map_err(trap)?;
        let next = pc.wrapping_add(u32::from(group.length));
        task.pc = next;
        let mut woken = None;
        match &group.kind {
            Kind::Main(main) => self.main(task, &fetched, main, lanes),
            Kind::Bitwise(op) => self.bitwise(task, &fetched, op, lanes),
            Kind::Control(op) => {
                self.control(task, &fetched, op, lanes, pc).map(|waker| woken = waker)
            }
        }
        .map_err(trap)?;
        if group.end {
            self.end(task).map_err(trap)?;
        }
        Ok(woken)
    }

    fn end(&mut self, task: &mut Task) -> Result<(), Refused> {
        if let Some(message) = task.messages.first() {
            return Err((Rule::PendingEnd, message.to_string()));
        }
        if let Some(id) = self.mutexes.iter().position(|holder| *holder == Some(task.number)) {
            return Err((Rule::MutexHeld, format!("mutex {id}")));
        }
        if task.stage == Stage::Vertex && task.vertices.ended != task.valid {
            let left = task.valid & !task.vertices.ended;
            return Err((Rule::VertexEnd, format!("vertices {left:#x} have no end of task")));
        }
        task.status = Status::Done;
        Ok(())
    }

    /// The group at a task's place.
    fn fetch(&mut self, task: &Task) -> Result<Arc<Fetched>, Refused> {
        let stage = match task.stage {
            Stage::Vertex => 0,
            Stage::Fragment => 1,
            Stage::Compute => 2,
        };
        let key = (task.pc, stage);
        let address = self.code_base + u64::from(task.pc);
        let (stamp, _) = self.memory.stamp(address).unwrap_or_default();
        if let Some(found) = self.caches.fetched.get(&key) {
            if found.stamp == stamp {
                return Ok(Arc::clone(found));
            }
            self.caches.fetched.clear();
        }
        if task.pc & 1 == 1 {
            return Err((Rule::BranchTarget, format!("{:#x} is odd", task.pc)));
        }
        let bytes = self.memory.up_to(address, 32)?;
        let group = decode::decode(bytes)?;
        let end = u64::from(task.pc) + u64::from(group.length);
        let before = self.caches.fetched.range(..key).rev().find(|((_, other), _)| *other == stage);
        let inside = before.is_some_and(|((at, _), other)| {
            u64::from(*at) + u64::from(other.group.length) > u64::from(task.pc)
        });
        let behind = self.caches.fetched.range(key..).find(|((_, other), _)| *other == stage);
        if inside || behind.is_some_and(|((at, _), _)| u64::from(*at) < end) {
            let what = format!("{:#x} is within a group that was executed", task.pc);
            return Err((Rule::BranchTarget, what));
        }
        if group.end && (!task.pc.is_multiple_of(8) || !group.length.is_multiple_of(8)) {
            let what = format!("{} bytes at {:#x}", group.length, task.pc);
            return Err((Rule::EndAligned, what));
        }
        let skips = Group { checked: true, ..group.clone() };
        check::admit(if task.unchecked { &skips } else { &group }, self.core, task.stage)?;
        let uses = Uses::of(&group)?;
        let shares = group.writes.iter().flatten().any(|register| match register {
            Register::Global(_) => true,
            Register::File(file, _) | Register::Relative { file, .. } => {
                matches!(file, File::Coefficient | File::Shared)
            }
            _ => false,
        });
        let fetched = Arc::new(Fetched { group, uses, shares, stamp });
        self.caches.fetched.insert(key, Arc::clone(&fetched));
        Ok(fetched)
    }

    /// The instances that execute a group.
    fn lanes(&self, task: &Task, group: &Group) -> Result<Lanes, Refused> {
        let running = task.valid & task.executing;
        Ok(match group.condition {
            Condition::Executing => running,
            Condition::Always => task.valid,
            Condition::IfTrue => running & self.predicate(task, running)?,
            Condition::IfFalse => running & !self.predicate(task, running)?,
        })
    }

    /// p0, which these instances must have written.
    pub(super) fn predicate(&self, task: &Task, lanes: Lanes) -> Result<Lanes, Refused> {
        if lanes & task.p0_pending != 0 {
            return Err((Rule::Pending, "p0 is read".into()));
        }
        match lanes & !task.p0_defined {
            0 => Ok(task.p0),
            left => Err((Rule::Predicate, format!("instances {left:#x} have not written p0"))),
        }
    }

    /// Writes p0 in one instance.
    pub(super) fn set_predicate(
        &self,
        task: &mut Task,
        lane: usize,
        value: bool,
    ) -> Result<(), Refused> {
        if task.p0_pending >> lane & 1 == 1 {
            return Err((Rule::Pending, "p0 is written".into()));
        }
        task.p0 = task.p0 & !(1 << lane) | u32::from(value) << lane;
        task.p0_defined |= 1 << lane;
        Ok(())
    }

    /// Where a register lies for an instance, so many behind the one that is named.
    pub(super) fn slot(
        &self,
        task: &Task,
        register: Register,
        lane: usize,
        step: usize,
    ) -> Result<Slot, Refused> {
        let file = |file: File, index: usize| match file {
            File::Temp => Slot::Temp(index),
            File::VertexIn => Slot::Input(index),
            File::Coefficient => Slot::Coefficient(index),
            File::Shared => Slot::Shared(index),
            File::PixelOut => Slot::Output(index),
        };
        Ok(match register {
            Register::Constant(bits) => Slot::Constant(bits),
            Register::File(which, index) => file(which, usize::from(index) + step),
            Register::Internal(index) => Slot::Internal(usize::from(index) + step),
            Register::Global(index) => Slot::Global(usize::from(index) + step),
            Register::Index(index) => Slot::Index(usize::from(index)),
            Register::Special(number) => Slot::Special(number),
            Register::Relative { index, file: which, offset } => {
                let base = task.indices.read(usize::from(index), lane)?;
                let at = u64::from(base) + u64::from(offset) + step as u64;
                let Ok(at) = usize::try_from(at) else {
                    return Err((Rule::Bounds, format!("register {at}")));
                };
                file(which, at)
            }
        })
    }

    /// What an instance reads.
    pub(super) fn read(&self, task: &Task, slot: Slot, lane: usize) -> Result<u32, Refused> {
        match slot {
            Slot::Constant(bits) => Ok(bits),
            Slot::Temp(index) => task.temps.read(index, lane),
            Slot::Input(index) => task.inputs.read(index, lane),
            Slot::Coefficient(index) => self.own(task)?.read(index),
            Slot::Shared(index) => self.shared.read(index),
            Slot::Internal(index) => task.internals.read(index, lane),
            Slot::Output(index) => task.outputs.read(index, lane),
            Slot::Global(index) => self.globals.read(index),
            Slot::Index(index) => task.indices.read(index, lane),
            Slot::Special(number) => self.special(task, number, lane),
        }
    }

    /// The coefficients of a task.
    fn own(&self, task: &Task) -> Result<&Common, Refused> {
        let missing = || (Rule::Bounds, "a task without coefficients".to_string());
        self.coefficients.get(task.coefficients).ok_or_else(missing)
    }

    /// Writes a register of an instance.
    pub(super) fn write(
        &mut self,
        task: &mut Task,
        slot: Slot,
        lane: usize,
        word: u32,
    ) -> Result<(), Refused> {
        match slot {
            Slot::Temp(index) => task.temps.write(index, lane, word),
            Slot::Input(index) => task.inputs.write(index, lane, word),
            Slot::Coefficient(index) => match self.coefficients.get_mut(task.coefficients) {
                Some(own) => own.write(index, word),
                None => Err((Rule::Bounds, "a task without coefficients".into())),
            },
            Slot::Shared(index) => self.shared.write(index, word),
            Slot::Internal(index) => task.internals.write(index, lane, word),
            Slot::Output(index) => {
                task.fragments.written |= 1 << lane;
                task.outputs.write(index, lane, word)
            }
            Slot::Global(index) => self.globals.write(index, word),
            Slot::Index(index) => task.indices.write(index, lane, word),
            Slot::Constant(_) | Slot::Special(_) => {
                Err((Rule::Written, format!("{slot:?} is written")))
            }
        }
    }

    /// A special register. 3.1.
    fn special(&self, task: &Task, number: u8, lane: usize) -> Result<u32, Refused> {
        let fragments = &task.fragments;
        let pixel = |values: &[u32; 32]| {
            if task.stage == Stage::Fragment {
                return Ok(values[lane]);
            }
            Err((Rule::Undefined, format!("special register {number} of {:?}", task.stage)))
        };
        Ok(match number {
            44 => return pixel(&[u32::from(fragments.back); 32]),
            45 => 0,
            47 | 48 => task.number,
            51 => lane as u32,
            53 => return pixel(&fragments.sample),
            54..=61 | 119..=126 => {
                // Word n of the pixel within its tile of 32 by 32, eight words a pixel and a sample, for loads and stores
                // alike [A].
                let at = match number {
                    54..=61 => u32::from(number - 54) % 4,
                    _ => 4 + u32::from(number - 119) % 4,
                };
                let (x, y) = (pixel(&fragments.x)? & 31, pixel(&fragments.y)? & 31);
                let own = fragments.count * (32 * y + x) + pixel(&fragments.sample)?;
                4 * (8 * own + at)
            }
            63 => task.valid >> lane & 1,
            97 | 98 => return pixel(&fragments.x),
            100 | 101 => return pixel(&fragments.y),
            103 => self.shared.count() as u32,
            112 => task.number.wrapping_mul(32).wrapping_add(lane as u32),
            118 => return pixel(&[fragments.layer; 32]),
            // How long a group takes is nobody's to know; each is one of its units here.
            160 => self.time,
            other => return Err((Rule::Undocumented, format!("special register {other}"))),
        })
    }

    /// A mask operation, a branch and the like; gives the mutex whose sleepers wake up.
    fn control(
        &mut self,
        task: &mut Task,
        fetched: &Fetched,
        op: &Control,
        lanes: Lanes,
        pc: u32,
    ) -> Result<Option<u8>, Refused> {
        match *op {
            Control::Mutex { op, id } => return self.mutex(task, op, id, lanes, pc),
            Control::Wait(drc) => self.wait(task, drc)?,
            Control::WaitOutputs => task.fragments.emitting = false,
            Control::Nop => {}
            Control::Iterate(iterate) => self.iterate_by_control(task, &iterate, lanes)?,
            Control::IterateSample { .. } | Control::StoreOffset { .. } => {
                return Err((Rule::Undocumented, format!("{op:?}")));
            }
            Control::Conditional { op, when, adjust } => {
                self.conditional(task, fetched, (op, when), u32::from(adjust))?;
            }
            Control::Return => match task.link {
                Some(link) if lanes != 0 => task.pc = link,
                Some(_) => {}
                None => return Err((Rule::Link, "the link was never written".into())),
            },
            Control::SaveLink => {
                let link = task.link;
                let link = link.ok_or((Rule::Link, "the link was never written".to_string()))?;
                if let Some(register) = fetched.group.writes[0] {
                    for lane in each(lanes) {
                        let slot = self.slot(task, register, lane, 0)?;
                        self.write(task, slot, lane, link)?;
                    }
                }
            }
            Control::Branch { .. } => self.branch(task, &fetched.group, op, lanes, pc)?,
        }
        Ok(None)
    }

    /// Locks and releases. 2.7.
    fn mutex(
        &mut self,
        task: &mut Task,
        op: u8,
        id: u8,
        lanes: Lanes,
        pc: u32,
    ) -> Result<Option<u8>, Refused> {
        if lanes == 0 {
            return Ok(None);
        }
        let holder = &mut self.mutexes[usize::from(id & 15)];
        let own = *holder == Some(task.number);
        if op == 3 {
            match holder {
                None => {
                    *holder = Some(task.number);
                    task.status = Status::Ready;
                }
                Some(_) if own => return Err((Rule::Mutex, format!("mutex {id} is locked twice"))),
                Some(_) => {
                    task.pc = pc;
                    task.status = Status::Locking(id);
                }
            }
            return Ok(None);
        }
        if !own {
            return Err((Rule::Mutex, format!("mutex {id} is released by who does not hold it")));
        }
        *holder = None;
        if op == 1 {
            if task.crowded {
                let what = format!("task {} waits for tasks that have no room", task.number);
                return Err((Rule::Resident, what));
            }
            task.status = Status::Sleeping(id);
        }
        Ok((op == 2).then_some(id))
    }
}

/// Wakes the tasks that sleep on a mutex.
fn wake(tasks: &mut [Task], id: u8) {
    for task in tasks {
        if task.status == Status::Sleeping(id) {
            task.status = Status::Ready;
        }
    }
}
