//! One warp: registers, lanes and where each stands, and how instructions end.
//!
//! Lanes run together at the lowest place that any of them stands at; they part at a branch that
//! carries `reconverge` and meet again at the next instruction that does. isa 4.1.

use super::effect::{Effect, Interval};
use super::fragment::Fragment;
use super::inst::{BranchBits, Flow, Inst, Op, Place, Select, Source, Ty};
use super::program::{Program, WORD};
use super::rule::{Rule, Trap};
use super::state::{State, THREAD_BASE, WORKGROUP_BASE};
use super::value::{Dice, LANES, Mask, Why, Wide, Word, each};
use gpucc_ir::ssa::numerics::f16_to_f64;

/// Receives a line for each executed instruction.
pub type Trace<'a> = Option<&'a mut dyn FnMut(&str)>;

/// One register.
#[derive(Clone, Debug)]
pub struct Reg {
    /// What it holds.
    pub word: Word,
    /// Lanes where it was marked as last used and not written since.
    pub dead: Mask,
    /// By byte: lanes where a message will write it.
    pub pending: [Mask; 4],
    /// Lanes where a message still reads it.
    pub busy: Mask,
}

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its slot.
    pub slot: u8,
    /// Lanes that have not waited for it.
    pub lanes: Mask,
    /// Registers and bytes that it writes, with what it writes.
    pub results: Vec<(u8, u8, Word)>,
    /// Registers that it reads.
    pub reads: Vec<u8>,
    /// What it does to memory when it has not done so yet.
    pub effect: Option<Effect>,
    /// Memory that it touches: lane and interval.
    pub touches: Vec<(u8, Interval)>,
    /// It uses the interpolator.
    pub varying: bool,
    /// It is an ATEST.
    pub test: bool,
}

/// Why a warp stopped.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It may go on.
    Running,
    /// It waits at a barrier.
    Barrier,
    /// Every lane ended.
    Ended,
}

/// What warps share while a launch runs.
pub struct Env<'a, 't> {
    /// The program.
    pub program: &'a Program,
    /// Everything outside.
    pub state: &'a mut State,
    /// Decides what is free.
    pub dice: Dice,
    /// Instructions executed.
    pub steps: u64,
    /// Where lines go.
    pub trace: Trace<'t>,
}

/// One warp.
pub struct Warp {
    /// Number within the launch.
    pub number: u32,
    /// Registers.
    pub regs: Vec<Reg>,
    /// Place of each lane that does not run now.
    pc: [u32; LANES],
    /// Lanes that have not ended.
    pub live: Mask,
    /// Lanes that run.
    pub active: Mask,
    /// Where they stand.
    pub at: u32,
    /// Messages on their way.
    pub messages: Vec<Message>,
    /// Thread-local storage, lane by lane, and which bytes nobody wrote.
    pub thread: (Vec<u8>, Vec<u8>),
    /// A barrier was issued and not waited for.
    barrier: bool,
    /// Lanes that waited for slots 6 and 7.
    pub tile: [Mask; 2],
    /// What belongs to pixels.
    pub fragment: Option<Box<Fragment>>,
}

impl Warp {
    /// A warp at byte `entry` with nothing in its registers.
    pub fn new(number: u32, lanes: Mask, entry: u32, thread_bytes: u32) -> Warp {
        let reg = Reg { word: Word::undefined(Why::Unwritten), dead: 0, pending: [0; 4], busy: 0 };
        let bytes = thread_bytes as usize * LANES;
        Warp {
            number,
            regs: vec![reg; 64],
            pc: [entry / WORD as u32; LANES],
            live: lanes,
            active: lanes,
            at: entry / WORD as u32,
            messages: Vec::new(),
            thread: (vec![0xDB; bytes], vec![1; bytes]),
            barrier: false,
            tile: [0; 2],
            fragment: None,
        }
    }

    /// Fills a register before the start.
    pub fn preload(&mut self, reg: u8, word: Word) {
        self.regs[usize::from(reg)].word = word;
    }

    /// Byte offset of the instruction that runs.
    pub fn offset(&self) -> u32 {
        self.at * WORD as u32
    }

    /// A trap here; `lane` is to blame.
    pub fn trap(&self, rule: Rule, detail: impl Into<String>, lane: Option<usize>) -> Trap {
        let trap = Trap::new(rule, self.offset(), detail);
        match lane {
            Some(lane) => trap.at_lane(self.number * LANES as u32 + lane as u32),
            None => trap,
        }
    }

    /// Runs until it stops or `quantum` instructions were executed.
    pub fn run(&mut self, env: &mut Env<'_, '_>, mut quantum: u32) -> Result<Status, Trap> {
        loop {
            if self.active == 0 && !self.pick() {
                self.drain(env)?;
                return Ok(Status::Ended);
            }
            if quantum == 0 {
                return Ok(Status::Running);
            }
            quantum -= 1;
            if env.state.steps == 0 {
                return Err(self.trap(Rule::Steps, "too many instructions", None));
            }
            env.state.steps -= 1;
            env.steps += 1;
            if self.step(env)? == Status::Barrier {
                return Ok(Status::Barrier);
            }
        }
    }

    /// Lanes at the lowest place run next.
    fn pick(&mut self) -> bool {
        let Some(lowest) = each(self.live).map(|lane| self.pc[lane]).min() else {
            return false;
        };
        self.at = lowest;
        self.active = 0;
        for lane in each(self.live) {
            if self.pc[lane] == lowest {
                self.active |= 1 << lane;
            }
        }
        true
    }

    fn step(&mut self, env: &mut Env<'_, '_>) -> Result<Status, Trap> {
        let program = env.program;
        let inst = program.at(self.at).map_err(|refused| {
            let outside = || self.trap(Rule::Address, "control flow leaves the program", None);
            refused.cloned().unwrap_or_else(outside)
        })?;
        if self.barrier && inst.op != Op::Nop && inst.flow.wait & 0x80 == 0 {
            let detail = format!("{} before the wait for slot 7", inst.name);
            return Err(self.trap(Rule::BarrierWait, detail, None));
        }
        if env.trace.is_some() {
            let line = format!(
                "warp {} {:#06x} {} active {:04x}",
                self.number,
                self.offset(),
                inst.name,
                self.active
            );
            if let Some(trace) = &mut env.trace {
                trace(&line);
            }
        }
        let mut next = self.at + 1;
        let mut split = None;
        match inst.op {
            Op::Nop => {}
            Op::Branch { bits, on_zero, offset } => {
                let taken =
                    self.condition(env, inst, bits)? ^ if on_zero { self.active } else { 0 };
                self.kill_last(inst)?;
                let target = (i64::from(self.at) + 1 + i64::from(offset)) as u32;
                (next, split) = self.branched(inst, taken, target)?;
            }
            Op::Jump { bits, on_zero } => {
                let taken =
                    self.condition(env, inst, bits)? ^ if on_zero { self.active } else { 0 };
                let target = self.address(env, inst, taken)?;
                self.kill_last(inst)?;
                (next, split) = self.branched(inst, taken, target)?;
            }
            Op::Barrier => self.barrier(inst)?,
            Op::Discard(cmp) => self.discard(env, inst, cmp)?,
            _ if inst.slot.is_some() => {
                if let Some(by) = self.message(env, inst)? {
                    next = (i64::from(next) + i64::from(by)) as u32;
                }
            }
            _ => self.alu(env, inst)?,
        }
        self.finish(env, inst.flow, next, split)
    }

    /// Where the lanes go: the place of those that run on, and those that part from them with theirs.
    fn branched(
        &self,
        inst: &Inst,
        taken: Mask,
        target: u32,
    ) -> Result<(u32, Option<(Mask, u32)>), Trap> {
        if taken == self.active {
            return Ok((target, None));
        }
        if taken != 0 && !inst.flow.reconverge {
            let detail = format!("lanes {taken:04x} of {:04x} branch", self.active);
            return Err(self.trap(Rule::Divergence, detail, None));
        }
        // The lanes of a quad part: what is interpolated for all of them is past.
        let waited = |m: &&Message| m.varying && m.lanes & self.active != 0;
        if taken != 0
            && let Some(message) = self.messages.iter().find(waited)
        {
            let detail =
                format!("a varying in slot {} is on its way where lanes part", message.slot);
            return Err(self.trap(Rule::VaryingOrder, detail, None));
        }
        Ok((self.at + 1, (taken != 0).then_some((taken, target))))
    }

    /// The place that BRANCHZI names: a byte address within the program, the same for all lanes that go there.
    fn address(&mut self, env: &Env<'_, '_>, inst: &Inst, taken: Mask) -> Result<u32, Trap> {
        let Some(first) = each(taken).next() else {
            return Ok(0);
        };
        let source = &inst.sources[1];
        if let Place::Special(0, number @ 8..=15, _) = source.place
            && env.state.blend[usize::from(number - 8)] & 3 != 0
        {
            let detail = format!("target {} has no blend shader to call", number - 8);
            return Err(self.trap(Rule::BlendTarget, detail, None));
        }
        let word = self.read(env, source, inst)?;
        self.observed(word.any() & taken, word.why, "the address of a jump")?;
        let address = word.v[first];
        if let Some(lane) = each(taken).find(|&lane| word.v[lane] != address) {
            let detail = format!("lanes jump to {address:#x} and {:#x}", word.v[lane]);
            return Err(self.trap(Rule::Divergence, detail, Some(lane)));
        }
        if !address.is_multiple_of(WORD as u32) {
            let detail = format!("a jump to {address:#x}");
            return Err(self.trap(Rule::Address, detail, Some(first)));
        }
        Ok(address / WORD as u32)
    }

    /// The end of an instruction. isa 1.6.
    fn finish(
        &mut self,
        env: &mut Env<'_, '_>,
        flow: Flow,
        next: u32,
        split: Option<(Mask, u32)>,
    ) -> Result<Status, Trap> {
        let mut status = Status::Running;
        if flow.wait != 0 {
            self.wait(env, flow.wait)?;
            if flow.wait & 0x80 != 0 && std::mem::take(&mut self.barrier) {
                status = Status::Barrier;
            }
        }
        if flow.discard {
            let helpers = self.fragment.as_ref().map_or(0, |f| f.helpers);
            self.kill(self.active & helpers);
        }
        if flow.end {
            if self.barrier {
                return Err(self.trap(Rule::BarrierWait, "the program ends", None));
            }
            self.kill(self.active);
            return Ok(status);
        }
        for lane in each(self.active) {
            self.pc[lane] = next;
        }
        if let Some((taken, target)) = split {
            for lane in each(taken & self.active) {
                self.pc[lane] = target;
            }
        }
        if flow.reconverge {
            self.active = 0;
            self.pick();
            return Ok(status);
        }
        let waiting = self.live & !self.active;
        if self.active != 0
            && let Some(lane) = each(waiting).find(|&lane| self.pc[lane] == next)
        {
            let detail =
                format!("lanes {:04x} run into waiting lanes without reconverge", self.active);
            return Err(self.trap(Rule::Reconverge, detail, Some(lane)));
        }
        self.at = next;
        Ok(status)
    }

    /// Lanes end.
    pub fn kill(&mut self, lanes: Mask) {
        self.live &= !lanes;
        self.active &= !lanes;
    }

    /// Lanes where the branch's source is not zero.
    fn condition(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        bits: BranchBits,
    ) -> Result<Mask, Trap> {
        let word = self.read(env, &inst.sources[0], inst)?;
        let (select, bytes) = match bits {
            BranchBits::Low => (0xFFFF, 0..2),
            BranchBits::High => (0xFFFF_0000, 2..4),
            BranchBits::Whole => (u32::MAX, 0..4),
        };
        for byte in bytes {
            self.observed(word.poison[byte], word.why, "a branch condition")?;
        }
        let mut taken = 0;
        for lane in each(self.active) {
            if word.v[lane] & select != 0 {
                taken |= 1 << lane;
            }
        }
        Ok(taken)
    }

    /// Refuses that something depends on undefined lanes.
    pub fn observed(&self, lanes: Mask, why: Why, what: &str) -> Result<(), Trap> {
        match each(lanes & self.active).next() {
            Some(lane) => {
                let detail = format!("{what} is undefined: {}", why.text());
                Err(self.trap(Rule::Undefined, detail, Some(lane)))
            }
            None => Ok(()),
        }
    }

    fn barrier(&mut self, inst: &Inst) -> Result<(), Trap> {
        if self.active != self.live {
            let detail = format!("lanes {:04x} of {:04x} arrive", self.active, self.live);
            return Err(self.trap(Rule::BarrierDivergent, detail, None));
        }
        // The slots of other warps count nothing here: a message of any kind may pass what they do behind the barrier.
        if let Some(message) = self.messages.iter().find(|m| m.lanes & self.active != 0) {
            let detail =
                format!("{} with a message in slot {} on its way", inst.name, message.slot);
            return Err(self.trap(Rule::BarrierMemory, detail, None));
        }
        self.barrier = true;
        Ok(())
    }

    /// Delivers what the active lanes wait for, in an order of the dice's choice.
    fn wait(&mut self, env: &mut Env<'_, '_>, slots: u8) -> Result<(), Trap> {
        for (k, bit) in [6, 7].into_iter().enumerate() {
            if slots >> bit & 1 == 1 {
                self.tile[k] |= self.active;
            }
        }
        let mut chosen: Vec<usize> = (0..self.messages.len())
            .filter(|&k| {
                let m = &self.messages[k];
                slots >> m.slot & 1 == 1 && m.lanes & self.active != 0
            })
            .collect();
        while !chosen.is_empty() {
            let k = chosen.swap_remove(env.dice.below(chosen.len()));
            let lanes = self.messages[k].lanes & self.active;
            self.deliver(env, k, lanes)?;
        }
        self.messages.retain(|m| m.lanes != 0);
        Ok(())
    }

    /// What the program leaves on its way still reaches memory.
    fn drain(&mut self, env: &mut Env<'_, '_>) -> Result<(), Trap> {
        while !self.messages.is_empty() {
            let k = env.dice.below(self.messages.len());
            let lanes = self.messages[k].lanes;
            if let Some(effect) = self.messages[k].effect.take() {
                self.perform(env, &effect, lanes)?;
            }
            self.messages.swap_remove(k);
        }
        Ok(())
    }

    /// Lets a message act for these lanes and gives its results to the registers.
    fn deliver(&mut self, env: &mut Env<'_, '_>, k: usize, lanes: Mask) -> Result<(), Trap> {
        if let Some(effect) = self.messages[k].effect.clone() {
            let words = self.perform(env, &effect, lanes)?;
            for (result, word) in self.messages[k].results.iter_mut().zip(words) {
                merge(&mut result.2, &word, lanes, 15);
            }
        }
        let message = &mut self.messages[k];
        message.lanes &= !lanes;
        if message.lanes == 0 {
            message.effect = None;
        }
        let (results, reads) = (message.results.clone(), message.reads.clone());
        for (reg, bytes, word) in &results {
            let place = &mut self.regs[usize::from(*reg)];
            merge(&mut place.word, word, lanes, *bytes);
            for byte in 0..4 {
                if bytes >> byte & 1 == 1 {
                    place.pending[byte] &= !lanes;
                }
            }
            place.dead &= !lanes;
        }
        for reg in reads {
            let others = self
                .messages
                .iter()
                .filter(|m| m.reads.contains(&reg))
                .fold(0, |mask, m| mask | m.lanes);
            self.regs[usize::from(reg)].busy &= !lanes | others;
        }
        Ok(())
    }

    /// The bits of a source: modifiers of selection done, sign modifiers not.
    pub fn read(&mut self, env: &Env<'_, '_>, source: &Source, inst: &Inst) -> Result<Word, Trap> {
        let word = self.fetch(env, source.place, self.needs(source))?;
        Ok(selected(word, source, inst.ty))
    }

    /// Both words of a 64-bit source, or its selected part extended.
    pub fn read_wide(
        &mut self,
        env: &Env<'_, '_>,
        source: &Source,
        inst: &Inst,
    ) -> Result<Wide, Trap> {
        if source.wide {
            let low = self.fetch(env, source.place, 15)?;
            let high = match source.place {
                Place::Reg(reg) => self.fetch(env, Place::Reg(reg + 1), 15)?,
                Place::Uniform(word) => self.fetch(env, Place::Uniform(word + 1), 15)?,
                Place::Special(page, number, _) => {
                    self.fetch(env, Place::Special(page, number, 1), 15)?
                }
                Place::Constant(_) => Word::splat(0),
            };
            return Ok(Wide { low, high });
        }
        let low = self.read(env, source, inst)?;
        let signed = matches!(inst.ty, Ty::Int { signed: true, .. });
        let mut high = low;
        for v in &mut high.v {
            *v = if signed { ((*v as i32) >> 31) as u32 } else { 0 };
        }
        Ok(Wide { low, high })
    }

    /// Bytes of a register that a source looks at.
    fn needs(&self, source: &Source) -> u8 {
        match source.select {
            Select::Whole => 15,
            Select::Float(half) => 3 << (2 * half),
            Select::Integer { first, width } => ((1 << width) - 1) << first,
            Select::Bytes(order) => order.iter().fold(0, |mask, &k| mask | 1 << k),
            Select::TwoBytes(pair) => pair.iter().fold(0, |mask, &k| mask | 1 << k),
        }
    }

    fn fetch(&mut self, env: &Env<'_, '_>, place: Place, bytes: u8) -> Result<Word, Trap> {
        match place {
            Place::Reg(reg) => self.fetch_register(reg, bytes, self.active),
            Place::Uniform(word) => match env.state.fau.get(usize::from(word)) {
                Some(&value) => Ok(Word::splat(value)),
                None => {
                    let detail = format!("u{word} of {} uniform words", env.state.fau.len());
                    Err(self.trap(Rule::FauRange, detail, None))
                }
            },
            Place::Constant(value) => Ok(Word::splat(value)),
            Place::Special(page, number, word) => self.special(env, page, number, word),
        }
    }

    /// A register for these lanes, when its bytes may be read.
    pub fn fetch_register(&self, reg: u8, bytes: u8, lanes: Mask) -> Result<Word, Trap> {
        let place = &self.regs[usize::from(reg)];
        if let Some(lane) = each(place.dead & lanes).next() {
            let detail = format!("r{reg} is read after its last use");
            return Err(self.trap(Rule::LastUse, detail, Some(lane)));
        }
        for byte in 0..4 {
            if bytes >> byte & 1 == 1
                && let Some(lane) = each(place.pending[byte] & lanes).next()
            {
                let detail = format!("r{reg} waits for a message");
                return Err(self.trap(Rule::NotWaited, detail, Some(lane)));
            }
        }
        Ok(place.word)
    }

    /// Special values. isa 1.2.
    fn special(&self, env: &Env<'_, '_>, page: u8, number: u8, word: u8) -> Result<Word, Trap> {
        let pick = |value: u64| Word::splat((value >> (32 * u32::from(word))) as u32);
        match (page, number) {
            (0, 8..=15) => Ok(match env.state.blend[usize::from(number - 8)] {
                // Nothing describes a target that does not exist.
                0 => Word::undefined(Why::Open),
                descriptor => pick(descriptor),
            }),
            // The datum of ATEST, which alone knows what it says.
            (0, 5) => Ok(Word::undefined(Why::Open)),
            (0, 6) if env.state.samples == 0 => Ok(Word::undefined(Why::Open)),
            (0, 6) => Ok(pick(env.state.samples)),
            (1, 1) => Ok(pick(THREAD_BASE)),
            (1, 3) => Ok(pick(WORKGROUP_BASE)),
            (1, 7) => Ok(pick(env.state.tables)),
            (3, 1) if word == 0 => Ok(Word::from_fn(|lane| lane as u32)),
            (3, 15) if word == 0 => Ok(Word::splat((self.at + 1) * WORD as u32)),
            _ => {
                let detail = format!("special value {number} of page {page}, word {word}");
                Err(self.trap(Rule::Unsupported, detail, None))
            }
        }
    }

    /// Marks the registers that `inst` uses for the last time; after it read everything.
    pub fn kill_last(&mut self, inst: &Inst) -> Result<(), Trap> {
        for source in inst.sources.iter().filter(|source| source.last) {
            let Place::Reg(reg) = source.place else {
                continue;
            };
            for reg in reg..=reg + u8::from(source.wide) {
                let place = &self.regs[usize::from(reg)];
                if let Some(lane) = each(place.busy & self.active).next() {
                    let detail = format!("r{reg} is marked while a message reads it");
                    return Err(self.trap(Rule::LastUseStaging, detail, Some(lane)));
                }
                self.regs[usize::from(reg)].dead |= self.active;
            }
        }
        Ok(())
    }

    /// Writes bytes of a register in the active lanes.
    pub fn write(&mut self, reg: u8, bytes: u8, word: &Word) -> Result<(), Trap> {
        let lanes = self.active;
        let place = &mut self.regs[usize::from(reg)];
        for byte in 0..4 {
            if bytes >> byte & 1 == 1 && place.pending[byte] & lanes != 0 {
                let lane = each(place.pending[byte] & lanes).next();
                let detail = format!("r{reg} is written while a message will write it");
                return Err(self.trap(Rule::Overwritten, detail, lane));
            }
        }
        if bytes != 15 && place.dead & lanes != 0 {
            // What was not kept has no other half.
            let dead = place.dead & lanes;
            place.word = place.word.spoiled(dead, Why::Unwritten);
        }
        merge(&mut place.word, word, lanes, bytes);
        place.dead &= !lanes;
        Ok(())
    }

    /// One line of a trace: the first four lanes of a result.
    pub fn trace_value(&self, env: &mut Env<'_, '_>, name: &str, word: &Word) {
        if let Some(trace) = &mut env.trace {
            let mut line = format!("        {name}");
            for lane in each(self.active).take(4) {
                if word.any() >> lane & 1 == 1 {
                    line.push_str(&format!(" {lane}:undefined"));
                } else {
                    let bits = word.v[lane];
                    line.push_str(&format!(" {lane}:{bits:08x}({:?})", f32::from_bits(bits)));
                }
            }
            trace(&line);
        }
    }
}

/// Replaces the bytes of some lanes.
pub fn merge(into: &mut Word, from: &Word, lanes: Mask, bytes: u8) {
    let mut select = 0u32;
    for byte in 0..4 {
        if bytes >> byte & 1 == 1 {
            select |= 0xFF << (8 * byte);
            into.poison[byte] = (into.poison[byte] & !lanes) | (from.poison[byte] & lanes);
        }
    }
    if from.any() & lanes != 0 {
        into.why = from.why;
    }
    for lane in each(lanes) {
        into.v[lane] = (into.v[lane] & !select) | (from.v[lane] & select);
    }
}

/// What a source's selection makes of a register's word.
fn selected(word: Word, source: &Source, ty: Ty) -> Word {
    let signed = matches!(ty, Ty::Int { signed: true, .. });
    match source.select {
        Select::Whole => word,
        Select::Bytes(order) => word.permuted(order),
        Select::Integer { first, width } => word.extended(first, width, signed),
        Select::Float(half) => {
            let mut out = word.extended(2 * half, 2, false);
            for v in &mut out.v {
                *v = half_to_float(*v as u16);
            }
            out
        }
        Select::TwoBytes([low, high]) => {
            let low = word.extended(low, 1, signed);
            let high = word.extended(high, 1, signed);
            let mut out = Word::from_fn(|lane| low.v[lane] & 0xFFFF | high.v[lane] << 16);
            out.poison = [low.poison[0], low.poison[0], high.poison[0], high.poison[0]];
            out.why = word.why;
            out
        }
    }
}

/// Exact. Nothing is documented about the bits of a NaN: conversions make the one that arithmetic makes, as
/// [`crate::numerics`] has it.
pub fn half_to_float(bits: u16) -> u32 {
    let value = f16_to_f64(bits);
    if value.is_nan() {
        return 0x7FC0_0000;
    }
    (value as f32).to_bits()
}
