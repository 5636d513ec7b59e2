//! Main and bitwise groups: all sources are read, phases follow each other through the feedthroughs, ports are written. 1.5.

use super::check::{self, Stage};
use super::inst::{
    Alu, Backend, Bitwise, Feed, Format, Main, Modifiers, Move, Pack, Register, Single,
};
use super::integer;
use super::machine::{Fetched, Machine};
use super::pack;
use super::register::{INSTANCES, Lanes, each, elsewhere};
use super::rule::{Refused, Rule};
use super::special;
use super::task::Task;
use super::value::signed;
use smallvec::SmallVec;

/// What one instance's phases give.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Given {
    /// W0 and W1.
    pub writes: [u32; 2],
    /// p0, where it is written.
    predicate: Option<bool>,
    /// The sources.
    pub sources: [u32; 6],
}

/// What phases hand over.
#[derive(Copy, Clone, Default)]
struct Feeds {
    ft: [u32; 3],
    fte: u32,
}

impl Feeds {
    fn get(&self, feed: Feed) -> u32 {
        match feed {
            Feed::Ft0 => self.ft[0],
            Feed::Ft1 => self.ft[1],
            Feed::Ft2 => self.ft[2],
            Feed::Fte => self.fte,
        }
    }
}

impl Machine<'_> {
    /// A main group.
    pub(super) fn main(
        &mut self,
        task: &mut Task,
        fetched: &Fetched,
        main: &Main,
        lanes: Lanes,
    ) -> Result<(), Refused> {
        let group = &fetched.group;
        let unpacks = matches!(main.p0, Some(Alu::Unpack { .. }));
        let packs = main.pack.is_some();
        let mut packed = [0u32; 32];
        if packs {
            each(lanes).for_each(|lane| packed[lane] = self.order.next() as u32);
        }
        for step in 0..usize::from(group.repeat) {
            let derived = [
                self.derivatives(task, fetched, main.p0, 0, lanes, step)?,
                self.derivatives(task, fetched, main.p1, 3, lanes, step)?,
            ];
            let source_step = if unpacks { 0 } else { step };
            let target_step = if packs && group.repeat > 1 { 0 } else { step };
            let order = self.lane_order(lanes, fetched);
            let mut given = [Given::default(); 32];
            for &lane in &order {
                let sources = self.sources(task, fetched, lane, source_step)?;
                let derived = [derived[0][lane], derived[1][lane]];
                let all = (sources, derived, step);
                given[lane] = self.phases(task, fetched, main, lane, all, &mut packed[lane])?;
                if group.atomic {
                    self.finish(task, fetched, lane, &given[lane], target_step)?;
                }
            }
            if !group.atomic {
                for &lane in &order {
                    self.finish(task, fetched, lane, &given[lane], target_step)?;
                }
            }
            if let Some(backend) = &main.backend {
                self.backend(task, fetched, backend, &given, lanes, step)?;
            }
        }
        Ok(())
    }

    /// The order of instances, which shows where they share what the group writes.
    fn lane_order(&mut self, lanes: Lanes, fetched: &Fetched) -> SmallVec<[usize; INSTANCES]> {
        let mut order: SmallVec<[usize; INSTANCES]> = each(lanes).collect();
        if fetched.shares {
            self.order.shuffle(&mut order);
        }
        order
    }

    /// The words of the sources that are read.
    fn sources(
        &self,
        task: &Task,
        fetched: &Fetched,
        lane: usize,
        step: usize,
    ) -> Result<[u32; 6], Refused> {
        let mut words = [0; 6];
        for (port, word) in words.iter_mut().enumerate() {
            if fetched.uses.sources[port] {
                let slot = self.slot(task, fetched.group.sources[port], lane, step)?;
                *word = self.read(task, slot, lane)?;
            }
        }
        Ok(words)
    }

    /// The derivatives of a phase, by instance. 2.2; of a coarse one the quad's first pixel decides [A].
    fn derivatives(
        &self,
        task: &Task,
        fetched: &Fetched,
        op: Option<Alu>,
        port: usize,
        lanes: Lanes,
        step: usize,
    ) -> Result<[u32; 32], Refused> {
        let mut results = [0; 32];
        let Some(Alu::Single(op, modifiers)) = op else { return Ok(results) };
        let value = |lane: usize| {
            if task.valid >> lane & 1 == 0 {
                return Err((Rule::Quad, format!("instance {lane} is not there")));
            }
            let held = |lane: usize| {
                let slot = self.slot(task, fetched.group.sources[port], lane, step)?;
                self.read(task, slot, lane)
            };
            let word = match held(lane) {
                Err((Rule::Undefined, _)) if lanes >> lane & 1 == 0 => {
                    let running = (lanes & 15 << (lane & !3)).trailing_zeros();
                    elsewhere(held(running as usize)?)
                }
                word => word?,
            };
            Ok(self.floats.modified(word, modifiers))
        };
        for lane in each(lanes) {
            let quad = lane & !3;
            let (from, to) = match op {
                Single::Dsx => (quad, quad + 1),
                Single::Dsy => (quad, quad + 2),
                Single::DsxFine => (lane & !1, lane | 1),
                Single::DsyFine => (lane & !2, lane | 2),
                _ => return Ok(results),
            };
            results[lane] = self.floats.add(value(to)?, -value(from)?, false);
        }
        Ok(results)
    }

    /// Phases 0, 1 and 2 of one instance.
    fn phases(
        &self,
        task: &Task,
        fetched: &Fetched,
        main: &Main,
        lane: usize,
        (sources, derived, step): ([u32; 6], [u32; 2], usize),
        packed: &mut u32,
    ) -> Result<Given, Refused> {
        let mut given = Given { sources, ..Given::default() };
        let external = sources[usize::from(main.external)];
        let mut feeds = Feeds { fte: external, ..Feeds::default() };
        let carry = || Ok(self.predicate(task, 1 << lane)? >> lane & 1 == 1);
        if let Some(op) = main.p0 {
            match op {
                Alu::Wide { op, signed, carry: carries, modifiers } => {
                    let carry = if carries { carry()? } else { false };
                    let words = [sources[0], sources[1], sources[2]];
                    let (low, high) = integer::wide(op, signed, words, external, carry, modifiers)?;
                    feeds.ft[0] = low;
                    if check::drives_external(main) {
                        feeds.fte = high;
                    }
                }
                Alu::Single(Single::Sinc, modifiers) => {
                    if modifiers != Modifiers::default() {
                        return Err((Rule::Undocumented, "a modifier of fsinc".into()));
                    }
                    let (value, flag) = special::sinc(sources[0]);
                    feeds.ft[0] = value;
                    given.predicate = Some(flag);
                }
                Alu::Reduce { .. } => feeds.ft[0] = self.reduce(op, &sources)?,
                Alu::Unpack { format, element, flag } => {
                    let number = element + step as u8;
                    let even = self.floats.even;
                    feeds.ft[0] = pack::unpack(format, number, sources[0], flag, even)?;
                }
                op => {
                    feeds.ft[0] =
                        self.float(op, [sources[0], sources[1], sources[2]], derived[0])?
                }
            }
        }
        if let Some(op) = main.p1 {
            feeds.ft[1] = self.float(op, [sources[3], sources[4], sources[5]], derived[1])?;
        }
        if let Some(pack) = main.pack {
            feeds.ft[2] =
                self.packed(task, pack, feeds.get(main.packed), feeds.fte, step, packed)?;
        }
        let mut holds = false;
        if let Some(test) = main.test {
            let operands = [feeds.get(main.tested[0]), feeds.get(main.tested[1])];
            holds = integer::test(test.relation, test.kind, test.element, operands, self.floats)?;
            if test.predicate {
                given.predicate = Some(holds);
            }
        }
        given.writes = moved(main, &feeds, holds);
        if let Some(Backend::SaveMask(mode)) = main.backend {
            given.writes[0] = self.mask(task, fetched, mode, lane)?;
        }
        Ok(given)
    }

    /// A float operation of one phase.
    fn float(&self, op: Alu, [a, b, c]: [u32; 3], derived: u32) -> Result<u32, Refused> {
        let floats = self.floats;
        let lower = |low: bool| match low && !self.lower_precision {
            true => Err((Rule::Undocumented, "an operation of lower precision".to_string())),
            false => Ok(()),
        };
        Ok(match op {
            Alu::Float { product, low, saturate, modifiers } => {
                lower(low)?;
                let (a, b) = (floats.modified(a, modifiers[0]), floats.modified(b, modifiers[1]));
                if product { floats.mul(a, b, saturate) } else { floats.add(a, b, saturate) }
            }
            Alu::Mad { low, saturate, modifiers: [first, second, third] } => {
                lower(low)?;
                let (a, b) = (floats.modified(a, first), floats.modified(b, second));
                floats.mad(a, b, floats.modified(c, third), saturate)
            }
            Alu::Single(Single::Bypass, modifiers) => signed(a, modifiers),
            Alu::Single(Single::Dsx | Single::Dsy | Single::DsxFine | Single::DsyFine, _) => {
                derived
            }
            Alu::Single(op, modifiers) => {
                special::function(&self.numerics, op, signed(a, modifiers))?
            }
            other => return Err((Rule::Undocumented, format!("{other:?}"))),
        })
    }

    /// A part of the reduction of an angle.
    fn reduce(&self, op: Alu, sources: &[u32; 6]) -> Result<u32, Refused> {
        let Alu::Reduce { second, iteration, cosine, predicate, modifiers } = op else {
            return Err((Rule::Undocumented, format!("{op:?}")));
        };
        if iteration != 0 || predicate {
            let what = format!("iteration {iteration} of a reduction, or its predicate");
            return Err((Rule::Undocumented, what));
        }
        let x = signed(sources[0], modifiers);
        if second {
            return special::reduced(&self.numerics, x, cosine, sources[3]);
        }
        Ok(special::mark(x, cosine))
    }

    /// A pack: the elements that were packed so far, and bits of chance elsewhere.
    fn packed(
        &self,
        task: &Task,
        pack: Pack,
        value: u32,
        external: u32,
        step: usize,
        word: &mut u32,
    ) -> Result<u32, Refused> {
        let mut format = pack.format;
        if pack.programmed {
            let number = external as u8;
            let named = if external < 30 { Format::from_number(number) } else { None };
            format = named.ok_or_else(|| {
                (Rule::Undocumented, format!("a programmed pack by {external:#x}"))
            })?;
        }
        match format {
            Format::Zero => return Ok(0),
            Format::One => return Ok(1f32.to_bits()),
            Format::Coverage => {
                let count = task.fragments.count;
                let alpha = f32::from_bits(value);
                let share = if alpha > 0.0 { alpha.min(1.0) } else { 0.0 };
                let samples = (share * count as f32).round_ties_even() as u32;
                return Ok((1u32 << samples) - 1);
            }
            _ => {}
        }
        let (mask, bits) = pack::pack(format, step as u8, value, (pack.scale, pack.toward_zero))?;
        *word = *word & !mask | bits;
        Ok(*word)
    }

    /// Writes ports and p0 of one instance.
    fn finish(
        &mut self,
        task: &mut Task,
        fetched: &Fetched,
        lane: usize,
        given: &Given,
        step: usize,
    ) -> Result<(), Refused> {
        self.write_ports(task, &fetched.group.writes, lane, given.writes, step)?;
        match given.predicate {
            Some(value) => self.set_predicate(task, lane, value),
            None => Ok(()),
        }
    }

    fn write_ports(
        &mut self,
        task: &mut Task,
        registers: &[Option<Register>; 2],
        lane: usize,
        words: [u32; 2],
        step: usize,
    ) -> Result<(), Refused> {
        // Both are found before one is written: an index that W0 changes counts for later groups.
        let mut slots = [None; 2];
        for (slot, register) in slots.iter_mut().zip(registers) {
            if let Some(register) = register {
                *slot = Some(self.slot(task, *register, lane, step)?);
            }
        }
        if slots[0].is_some() && slots[0] == slots[1] {
            return Err((Rule::TwoWrites, format!("{:?}", slots[0])));
        }
        for (slot, word) in slots.into_iter().zip(words) {
            if let Some(slot) = slot {
                self.write(task, slot, lane, word)?;
            }
        }
        Ok(())
    }

    /// A bitwise group.
    pub(super) fn bitwise(
        &mut self,
        task: &mut Task,
        fetched: &Fetched,
        op: &Bitwise,
        lanes: Lanes,
    ) -> Result<(), Refused> {
        let group = &fetched.group;
        let predicate = op.shift.is_some_and(|shift| shift.predicate);
        for step in 0..usize::from(group.repeat) {
            let order = self.lane_order(lanes, fetched);
            let mut results = [(0, 0, false); 32];
            for &lane in &order {
                let sources = self.sources(task, fetched, lane, step)?;
                results[lane] = integer::bitwise(op, &sources)?;
                if group.atomic {
                    self.give_bits(task, fetched, lane, results[lane], predicate, step)?;
                }
            }
            if !group.atomic {
                for &lane in &order {
                    self.give_bits(task, fetched, lane, results[lane], predicate, step)?;
                }
            }
        }
        Ok(())
    }

    fn give_bits(
        &mut self,
        task: &mut Task,
        fetched: &Fetched,
        lane: usize,
        (first, second, holds): (u32, u32, bool),
        predicate: bool,
        step: usize,
    ) -> Result<(), Refused> {
        self.write_ports(task, &fetched.group.writes, lane, [first, second], step)?;
        if predicate { self.set_predicate(task, lane, holds) } else { Ok(()) }
    }

    /// The mask that an instance saves. 2.8, 4.2.
    fn mask(
        &self,
        task: &Task,
        fetched: &Fetched,
        mode: super::inst::MaskMode,
        lane: usize,
    ) -> Result<u32, Refused> {
        use super::inst::MaskMode::{Coverage, Valid};
        if fetched.group.writes[1].is_some() {
            return Err((Rule::Undocumented, "W1 of a saved mask".into()));
        }
        // A task of each sample: both are the bit of the instance's own [A].
        match mode {
            Valid | Coverage if task.stage == Stage::Fragment => Ok(task.fragments.samples[lane]),
            _ => Err((Rule::Undocumented, format!("mask {mode:?} of {:?}", task.stage))),
        }
    }
}

/// W0 and W1. 1.5.
fn moved(main: &Main, feeds: &Feeds, holds: bool) -> [u32; 2] {
    let others = main.defaults.map(|feed| feeds.get(feed));
    let Some(Move { taken, mask, always }) = main.mov else { return others };
    if !always && !holds {
        return others;
    }
    let bytes = (0..4).filter(|byte| mask >> byte & 1 == 1);
    let bits = bytes.fold(0u32, |bits, byte| bits | 0xff << (8 * byte));
    [feeds.get(taken[0]) & bits | others[0] & !bits, feeds.get(taken[1])]
}
