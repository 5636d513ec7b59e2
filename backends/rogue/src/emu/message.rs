//! Messages: what they ask of memory and of the units beside the ALU, when they complete, and what registers they have
//! to do with until then. 2.8, 5.6.
//!
//! A message's operands are read when it is issued. It completes at a time of chance before its data fence is waited for,
//! messages of one fence in any order; its results arrive at the wait. Until then nobody reads or writes a register that it
//! writes, and nobody writes a register that it reads: when a unit reads them, no document says [A].

use super::check::Stage;
use super::execute::Given;
use super::inst::{Address, Atomic, Backend, Burst, Iterate, Mode, Register, Uvsw};
use super::machine::{Fetched, Machine, Slot};
use super::register::{Lanes, each};
use super::rule::{Refused, Rule};
use super::task::Task;
use super::texture::Request;
use smallvec::SmallVec;
use std::fmt;

/// What a message still has to do.
#[derive(Clone, Debug)]
enum Work {
    /// Nothing: its results are known.
    Nothing,
    /// Words from memory, by instance: where, and to which registers.
    Load(Vec<(usize, u64, Vec<Slot>)>),
    /// Bytes to memory.
    Store(Vec<(u64, SmallVec<[u8; 16]>)>),
    /// An operation on a word, by instance: its address, its operand, and the register of what was there.
    Atomic(Atomic, Vec<(usize, u64, u32, Slot)>),
    /// Texels.
    Sample(Box<Request>),
}

/// A message that is under way.
#[derive(Clone, Debug)]
pub struct Message {
    name: &'static str,
    drc: u8,
    work: Work,
    done: bool,
    /// Registers that it reads.
    reads: Vec<(Slot, usize)>,
    /// Registers that it writes.
    writes: Vec<(Slot, usize)>,
    /// What they are to hold.
    results: Vec<(Slot, usize, u32)>,
    /// What p0 is to be, by instance.
    predicates: Vec<(usize, bool)>,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} under way on drc{}", self.name, self.drc)
    }
}

impl Message {
    fn new(name: &'static str, drc: u8) -> Message {
        Message {
            name,
            drc,
            work: Work::Nothing,
            done: false,
            reads: Vec::new(),
            writes: Vec::new(),
            results: Vec::new(),
            predicates: Vec::new(),
        }
    }
}

/// How many words an instance's burst has: a number, or what stands in a register, where 0 is 1024. 2.8.
fn burst_count(burst: Burst, given: &Given) -> Result<usize, Refused> {
    let word = match burst {
        Burst::Number(count) => return Ok(usize::from(count)),
        Burst::Port(port) => given.sources[usize::from(port)],
    };
    match word {
        0 => Ok(1024),
        1..=1023 => Ok(word as usize),
        1024 => Ok(1024),
        _ => Err((Rule::BurstLength, format!("{word} words"))),
    }
}

/// The address of two words. The chip has 40 bits of them.
fn address(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// What an atomic operation leaves in memory.
fn combined(op: Atomic, old: u32, operand: u32) -> u32 {
    let (a, b) = (old as i32, operand as i32);
    match op {
        Atomic::Add => old.wrapping_add(operand),
        Atomic::Sub => old.wrapping_sub(operand),
        Atomic::Exchange => operand,
        Atomic::UMin => old.min(operand),
        Atomic::SMin => a.min(b) as u32,
        Atomic::UMax => old.max(operand),
        Atomic::SMax => a.max(b) as u32,
        Atomic::And => old & operand,
        Atomic::Or => old | operand,
        Atomic::Xor => old ^ operand,
    }
}

impl Machine<'_> {
    /// A backend operation of a group that has executed.
    pub(super) fn backend(
        &mut self,
        task: &mut Task,
        fetched: &Fetched,
        backend: &Backend,
        given: &[Given; 32],
        lanes: Lanes,
        step: usize,
    ) -> Result<(), Refused> {
        let sources = &fetched.group.sources;
        match *backend {
            Backend::Uvsw(uvsw) => return self.uvsw(task, uvsw, given, lanes, step),
            Backend::SaveMask(_) => return Ok(()),
            Backend::SetLink(port) => return set_link(task, given, lanes, usize::from(port)),
            Backend::MoveMask(_) | Backend::Phase => {
                return Err((Rule::Undocumented, format!("{backend:?}")));
            }
            Backend::EmitPixel { .. } => {
                if std::mem::replace(&mut task.fragments.emitting, lanes != 0) {
                    return Err((Rule::EmissionWait, "two emissions without a wait".into()));
                }
                for lane in each(lanes) {
                    let words = [given[lane].sources[0], given[lane].sources[2]];
                    task.fragments.emitted.push((lane, words));
                }
                return Ok(());
            }
            _ => {}
        }
        let message = match *backend {
            Backend::Depth => {
                let message = Message::new("depth feedback", 0);
                for lane in each(lanes) {
                    let depth = given[lane].writes[0];
                    if !self.unrestricted && !(0.0..=1.0).contains(&f32::from_bits(depth)) {
                        let what = format!("{} of instance {lane}", f32::from_bits(depth));
                        return Err((Rule::DepthRange, what));
                    }
                    feed_back(task, lane, true)?;
                    task.fragments.depth[lane] = Some(depth);
                }
                message
            }
            Backend::AlphaTest { predicate, quiet } => {
                alpha_test(task, given, lanes, (predicate, quiet))?
            }
            Backend::Iterate { perspective, drc, mode, saturate, count } => {
                let mut message = Message::new("iterator", drc);
                for lane in each(lanes) {
                    let first = self.slot(task, sources[0], lane, 0)?;
                    let by = if perspective {
                        By::Set(self.slot(task, sources[2], lane, 0)?)
                    } else {
                        By::Nothing
                    };
                    let values = self.iterated(task, lane, (first, by), mode, count.into())?;
                    for (at, value) in values.into_iter().enumerate() {
                        let slot = self.slot(task, sources[3], lane, at)?;
                        let value = if saturate { super::value::saturated(value) } else { value };
                        message.writes.push((slot, lane));
                        message.results.push((slot, lane, value));
                    }
                }
                message
            }
            Backend::Fence { drc, address, .. } => {
                let mut message = Message::new("fence", drc);
                for lane in each(lanes) {
                    self.pair(task, sources[usize::from(address)], lane, &mut message)?;
                }
                message
            }
            Backend::Load { drc, address, burst, .. } => {
                self.load(task, sources, given, lanes, (drc, address, burst))?
            }
            Backend::Store { drc, address, data, burst, size, tiled, .. } => {
                let form = (drc, address, data, size);
                self.store(task, sources, given, lanes, form, (burst, tiled))?
            }
            Backend::Atomic { drc, op, source, destination } => {
                let mut message = Message::new("atomic operation", drc);
                let mut work = Vec::new();
                let source = sources[usize::from(source)];
                for lane in each(lanes) {
                    let at = self.pair(task, source, lane, &mut message)?;
                    let slot = self.slot(task, source, lane, 2)?;
                    let operand = self.read(task, slot, lane)?;
                    message.reads.push((slot, lane));
                    let result = self.slot(task, sources[usize::from(destination)], lane, 0)?;
                    message.writes.push((result, lane));
                    aligned(at, 4)?;
                    if acts(task, lane) {
                        task.fragments.stored |= 1 << lane;
                        work.push((lane, at, operand, result));
                    } else {
                        message.results.push((result, lane, self.order.next() as u32));
                    }
                }
                message.work = Work::Atomic(op, work);
                message
            }
            Backend::Sample(sample) => {
                let mut message = Message::new("texture operation", sample.drc);
                let request = self.request(task, sources, &sample, lanes)?;
                if sample.write {
                    task.fragments.stored |= lanes & task.fragments.covered;
                }
                for (slot, lane) in &request.reads {
                    message.reads.push((*slot, *lane));
                }
                for (lane, slots) in &request.targets {
                    message.writes.extend(slots.iter().map(|slot| (*slot, *lane)));
                }
                message.work = Work::Sample(Box::new(request));
                message
            }
            _ => return Ok(()),
        };
        self.issue(task, message)
    }

    /// Two words at a register, as an address.
    fn pair(
        &self,
        task: &Task,
        register: Register,
        lane: usize,
        message: &mut Message,
    ) -> Result<u64, Refused> {
        let mut words = [0; 2];
        for (at, word) in words.iter_mut().enumerate() {
            let slot = self.range(task, register, lane, at)?;
            *word = self.read(task, slot, lane)?;
            message.reads.push((slot, lane));
        }
        Ok(address(words[0], words[1]))
    }

    /// A register of a range: a constant has no next one.
    pub(super) fn range(
        &self,
        task: &Task,
        register: Register,
        lane: usize,
        at: usize,
    ) -> Result<Slot, Refused> {
        if at > 0 && matches!(register, Register::Constant(_) | Register::Special(_)) {
            return Err((Rule::Register, format!("{at} registers behind {register:?}")));
        }
        self.slot(task, register, lane, at)
    }

    fn load(
        &self,
        task: &Task,
        sources: &[Register; 6],
        given: &[Given; 32],
        lanes: Lanes,
        (drc, port, burst): (u8, u8, Burst),
    ) -> Result<Message, Refused> {
        let mut message = Message::new("load", drc);
        let mut work = Vec::new();
        for lane in each(lanes) {
            let at = self.pair(task, sources[usize::from(port)], lane, &mut message)?;
            let count = burst_count(burst, &given[lane])?;
            aligned(at, 4)?;
            let mut slots = Vec::with_capacity(count);
            for step in 0..count {
                let slot = self.range(task, sources[3], lane, step)?;
                message.writes.push((slot, lane));
                slots.push(slot);
            }
            work.push((lane, at, slots));
        }
        message.work = Work::Load(work);
        Ok(message)
    }

    fn store(
        &self,
        task: &mut Task,
        sources: &[Register; 6],
        given: &[Given; 32],
        lanes: Lanes,
        (drc, port, data, size): (u8, u8, u8, u8),
        (burst, tiled): (Burst, Option<(u8, u8)>),
    ) -> Result<Message, Refused> {
        let mut message = Message::new("store", drc);
        let mut work = Vec::with_capacity(lanes.count_ones() as usize);
        for lane in each(lanes) {
            let at = self.pair(task, sources[usize::from(port)], lane, &mut message)?;
            let count = burst_count(burst, &given[lane])?;
            if size != 4 && count != 1 {
                let what = format!("a burst of {count} elements of {size} bytes");
                return Err((Rule::Undocumented, what));
            }
            aligned(at, size)?;
            let mut bytes = SmallVec::with_capacity(4 * count);
            message.reads.reserve(count);
            for step in 0..count {
                let slot = self.range(task, sources[usize::from(data)], lane, step)?;
                let word = self.read(task, slot, lane)?;
                message.reads.push((slot, lane));
                bytes.extend_from_slice(&word.to_le_bytes()[..usize::from(size)]);
            }
            // The vendor's words set bits above the port on ordinary memory: their mask is a constant. 8.
            let covers = tiled
                .is_none_or(|(port, raw)| raw != 0 || given[lane].sources[usize::from(port)] != 0);
            if covers && acts(task, lane) {
                if tiled.is_some_and(|(_, raw)| raw == 0) {
                    let words = gpucc_emu::device::words_of(&bytes).enumerate();
                    let places =
                        words.map(|(step, word)| (lane, at.wrapping_add(4 * step as u64), word));
                    task.fragments.tiled.extend(places);
                } else if !self.private.contains(&at) {
                    task.fragments.stored |= 1 << lane;
                }
                work.push((at, bytes));
            }
        }
        message.work = Work::Store(work);
        Ok(message)
    }

    /// Marks the registers of a message, and sends it.
    fn issue(&mut self, task: &mut Task, message: Message) -> Result<(), Refused> {
        for (slot, lane) in &message.writes {
            self.admit(task, *slot, *lane)?;
        }
        for (lane, _) in &message.predicates {
            if task.p0_pending >> lane & 1 == 1 {
                return Err((Rule::Pending, "p0 is written".into()));
            }
        }
        self.mark(task, &message);
        task.messages.push(message);
        Ok(())
    }

    /// Asks whether a register may be written.
    fn admit(&self, task: &Task, slot: Slot, lane: usize) -> Result<(), Refused> {
        match slot {
            Slot::Temp(index) => task.temps.admit(index, lane),
            Slot::Input(index) => task.inputs.admit(index, lane),
            Slot::Internal(index) => task.internals.admit(index, lane),
            Slot::Shared(index) => self.shared.admit(index),
            other => Err((Rule::Written, format!("{other:?} by a message"))),
        }
    }

    fn mark(&mut self, task: &mut Task, message: &Message) {
        let written = message.writes.iter().map(|place| (place, true));
        let read = message.reads.iter().map(|place| (place, false));
        for ((slot, lane), written) in written.chain(read) {
            match *slot {
                Slot::Temp(index) => task.temps.mark(index, *lane, written),
                Slot::Input(index) => task.inputs.mark(index, *lane, written),
                Slot::Internal(index) => task.internals.mark(index, *lane, written),
                Slot::Index(index) => task.indices.mark(index, *lane, written),
                Slot::Shared(index) if written => self.shared.mark(index, true),
                _ => {}
            }
        }
        for (lane, _) in &message.predicates {
            task.p0_pending |= 1 << lane;
        }
    }

    /// Lets a message complete, by chance.
    pub(super) fn some_complete(&mut self, task: &mut Task) -> Result<(), Refused> {
        if task.messages.is_empty() || self.order.below(4) != 0 {
            return Ok(());
        }
        let at = self.order.below(task.messages.len());
        self.complete(task, at)
    }

    /// Does what a message has to do.
    fn complete(&mut self, task: &mut Task, at: usize) -> Result<(), Refused> {
        if std::mem::replace(&mut task.messages[at].done, true) {
            return Ok(());
        }
        let work = std::mem::replace(&mut task.messages[at].work, Work::Nothing);
        let mut results = Vec::new();
        match work {
            Work::Nothing => {}
            Work::Load(mut loads) => {
                self.order.shuffle(&mut loads);
                for (lane, at, slots) in loads {
                    for (step, slot) in slots.into_iter().enumerate() {
                        let word = self.memory.word(at.wrapping_add(4 * step as u64))?;
                        results.push((slot, lane, word));
                    }
                }
            }
            Work::Store(mut stores) => {
                self.order.shuffle(&mut stores);
                for (at, bytes) in stores {
                    self.memory.write(at, &bytes)?;
                }
            }
            Work::Atomic(op, mut operations) => {
                self.order.shuffle(&mut operations);
                for (lane, at, operand, slot) in operations {
                    let old = self.memory.word(at)?;
                    self.memory.write(at, &combined(op, old, operand).to_le_bytes())?;
                    results.push((slot, lane, old));
                }
            }
            Work::Sample(request) => results = self.sampled(&request)?,
        }
        task.messages[at].results.append(&mut results);
        Ok(())
    }

    /// Waits for a data fence.
    pub(super) fn wait(&mut self, task: &mut Task, drc: u8) -> Result<(), Refused> {
        let mut waited: Vec<usize> =
            (0..task.messages.len()).filter(|at| task.messages[*at].drc == drc).collect();
        if waited.is_empty() {
            return Ok(());
        }
        self.order.shuffle(&mut waited);
        for at in waited {
            self.complete(task, at)?;
        }
        let (done, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut task.messages).into_iter().partition(|message| message.drc == drc);
        task.p0_pending = 0;
        for message in &done {
            for (slot, lane) in message.reads.iter().chain(&message.writes) {
                match *slot {
                    Slot::Temp(index) => task.temps.unmark(index, *lane),
                    Slot::Input(index) => task.inputs.unmark(index, *lane),
                    Slot::Internal(index) => task.internals.unmark(index, *lane),
                    Slot::Index(index) => task.indices.unmark(index, *lane),
                    _ => {}
                }
            }
            for (slot, lane, word) in &message.results {
                match *slot {
                    Slot::Temp(index) => task.temps.set(index, *lane, *word),
                    Slot::Input(index) => task.inputs.set(index, *lane, *word),
                    Slot::Internal(index) => task.internals.set(index, *lane, *word),
                    Slot::Shared(index) => self.shared.set(index, *word),
                    _ => {}
                }
            }
            for (slot, _) in &message.writes {
                if let Slot::Shared(index) = *slot {
                    self.shared.mark(index, false);
                }
            }
            for (lane, value) in &message.predicates {
                self.set_predicate(task, *lane, *value)?;
            }
        }
        for message in &left {
            self.mark(task, message);
        }
        task.messages = left;
        Ok(())
    }

    /// Words and ends of the vertex buffer. 2.8, 4.1.
    fn uvsw(
        &mut self,
        task: &mut Task,
        uvsw: Uvsw,
        given: &[Given; 32],
        lanes: Lanes,
        step: usize,
    ) -> Result<(), Refused> {
        if uvsw.cut || uvsw.emit.is_some_and(|stream| stream != 0) {
            return Err((Rule::Undocumented, "cuts and streams of the vertex buffer".into()));
        }
        for lane in each(lanes) {
            if task.vertices.ended >> lane & 1 == 1 {
                return Err((Rule::VertexEnd, format!("vertex {lane} goes on behind its end")));
            }
            if let Some((second, place)) = uvsw.write {
                let at = match place {
                    Address::Number(at) => usize::from(at) + step,
                    Address::Port(port) => given[lane].sources[usize::from(port)] as usize,
                };
                if at >= task.vertices.outputs.count() {
                    let most = task.vertices.outputs.count();
                    return Err((Rule::VertexAddress, format!("word {at} of {most}")));
                }
                let word = given[lane].writes[usize::from(second)];
                task.vertices.outputs.write(at, lane, word)?;
            }
            let bit = 1 << lane;
            if uvsw.emit.is_some() {
                task.vertices.emitted |= bit;
            }
            if uvsw.end_task {
                task.vertices.ended |= bit;
            }
        }
        Ok(())
    }

    /// The iterator as a control group. 2.7.
    pub(super) fn iterate_by_control(
        &mut self,
        task: &mut Task,
        op: &Iterate,
        lanes: Lanes,
    ) -> Result<(), Refused> {
        let mut message = Message::new("iterator", op.drc);
        for lane in each(lanes) {
            let mut bases = [usize::from(op.coefficient), usize::from(op.reciprocal)];
            for (base, index) in bases.iter_mut().zip(op.indices) {
                if index != 0 {
                    *base += task.indices.read(usize::from(index) - 1, lane)? as usize;
                }
            }
            let first = Slot::Coefficient(bases[0]);
            let by = match op.perspective {
                1 | 2 => By::Set(Slot::Coefficient(bases[1])),
                3 => match task.kept[lane] {
                    Some(w) => By::Kept(w),
                    None => return Err((Rule::Undefined, "the kept reciprocal of w".into())),
                },
                _ => By::Nothing,
            };
            let count = usize::from(op.count);
            let values = self.iterated(task, lane, (first, by), op.mode, count)?;
            if op.perspective == 2 {
                task.kept[lane] = Some(self.component(task, lane, bases[1], op.mode)?);
            }
            for (at, value) in values.into_iter().enumerate() {
                let slot = Slot::Temp(usize::from(op.destination) + at);
                let value = if op.saturate { super::value::saturated(value) } else { value };
                message.writes.push((slot, lane));
                message.results.push((slot, lane, value));
            }
        }
        self.issue(task, message)?;
        if op.schedule == 2 { self.wait(task, op.drc) } else { Ok(()) }
    }

    /// Iterated components: planes over the pixel's place, divided by that of the reciprocal of w where there is one. 4.2.
    fn iterated(
        &self,
        task: &Task,
        lane: usize,
        (first, by): (Slot, By),
        mode: Mode,
        count: usize,
    ) -> Result<Vec<u32>, Refused> {
        let set = |slot: Slot| match slot {
            Slot::Coefficient(at) if at % 4 == 0 => Ok(at),
            other => Err((Rule::Iterator, format!("{other:?}"))),
        };
        let first = set(first)?;
        let by = match by {
            By::Nothing => None,
            By::Kept(w) => Some(w),
            By::Set(slot) => Some(self.component(task, lane, set(slot)?, mode)?),
        };
        let mut values = Vec::with_capacity(count);
        for step in 0..count {
            if let Some(given) = &task.fragments.given {
                let at = first / 4 + step;
                values.push(given.value(at, lane, by, mode)?);
                continue;
            }
            let value = self.plane(task, lane, first + 4 * step, mode)?;
            values.push(by.map_or(value.to_bits(), |by| divided(value, by)));
        }
        Ok(values)
    }

    /// What one set is that nothing divides.
    fn component(&self, task: &Task, lane: usize, at: usize, mode: Mode) -> Result<f32, Refused> {
        let Some(given) = &task.fragments.given else { return self.plane(task, lane, at, mode) };
        Ok(f32::from_bits(given.value(at / 4, lane, None, mode)?))
    }

    /// A x + B y + C of one set, rounded once [A].
    fn plane(&self, task: &Task, lane: usize, at: usize, mode: Mode) -> Result<f32, Refused> {
        let fragments = &task.fragments;
        let [sample, centroid] = fragments.places[lane];
        let within = match mode {
            Mode::Pixel => [0.5, 0.5],
            Mode::Sample => sample,
            Mode::Centroid => centroid,
        };
        let x = f64::from(fragments.x[lane]) + f64::from(within[0]);
        let y = f64::from(fragments.y[lane]) + f64::from(within[1]);
        let word = |step: usize| {
            let word = self.read(task, Slot::Coefficient(at + step), lane)?;
            Ok(f64::from(f32::from_bits(word)))
        };
        Ok((word(0)? * x + word(1)? * y + word(2)?) as f32)
    }
}

/// What divides iterated components.
#[derive(Copy, Clone)]
enum By {
    Nothing,
    /// The plane of a set.
    Set(Slot),
    /// The reciprocal of w that was kept.
    Kept(f32),
}

/// A component by the iterated reciprocal of w, rounded once.
fn divided(value: f32, w: f32) -> u32 {
    ((f64::from(value) / f64::from(w)) as f32).to_bits()
}

/// An instance's stores and atomic operations happen: those of pixels that the primitive does not cover do not [A].
fn acts(task: &Task, lane: usize) -> bool {
    task.stage != Stage::Fragment || task.fragments.covered >> lane & 1 == 1
}

fn aligned(at: u64, size: u8) -> Result<(), Refused> {
    if at.is_multiple_of(u64::from(size)) {
        return Ok(());
    }
    Err((Rule::Aligned, format!("{size} bytes at {at:#x}")))
}

/// Feedback of a fragment: that it survives, or not. 2.8.
fn feed_back(task: &mut Task, lane: usize, survives: bool) -> Result<(), Refused> {
    let fragments = &mut task.fragments;
    let bit = 1 << lane;
    if fragments.fed & bit != 0 || fragments.written & bit != 0 {
        let what = if fragments.written & bit != 0 { "behind an output" } else { "twice" };
        return Err((Rule::Feedback, format!("instance {lane} gives feedback {what}")));
    }
    fragments.fed |= bit;
    fragments.survive |= u32::from(survives) << lane;
    Ok(())
}

/// A test of alpha: S1 and S0 by the comparison in S2. 2.8.
fn alpha_test(
    task: &mut Task,
    given: &[Given; 32],
    lanes: Lanes,
    (predicate, quiet): (bool, bool),
) -> Result<Message, Refused> {
    let mut message = Message::new("test of alpha", 0);
    for lane in each(lanes) {
        let [a, b, op, ..] = given[lane].sources;
        let (left, right) = (f32::from_bits(b), f32::from_bits(a));
        let holds = match op & 7 {
            0 => false,
            1 => left < right,
            2 => left == right,
            3 => left <= right,
            4 => left > right,
            5 => left != right,
            6 => left >= right,
            _ => true,
        };
        if predicate {
            message.predicates.push((lane, holds));
        }
        if !quiet {
            feed_back(task, lane, holds)?;
        }
    }
    Ok(message)
}

/// The link from W0 or W1, which every instance gives alike.
fn set_link(
    task: &mut Task,
    given: &[Given; 32],
    lanes: Lanes,
    port: usize,
) -> Result<(), Refused> {
    let mut words = each(lanes).map(|lane| given[lane].writes[port]);
    let Some(first) = words.next() else { return Ok(()) };
    if words.any(|word| word != first) || first >> 31 != 0 {
        return Err((Rule::Link, format!("{first:#x} and others")));
    }
    task.link = Some(first);
    Ok(())
}
