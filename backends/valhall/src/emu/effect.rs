//! What messages do to memory, and when: at issue or at their wait, as the dice say.

use super::inst::{Atom, Inst, Op, RegFormat, Staging};
use super::rule::{Rule, Trap};
use super::state::{State, THREAD_BASE};
use super::texel;
use super::value::{LANES, Mask, Why, Word, each};
use super::warp::{Env, Message, Warp};
use gpucc_emu::format::Format;

/// Bytes that one lane touches.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// First.
    pub start: u64,
    /// Behind the last.
    pub end: u64,
    /// Changes them.
    pub write: bool,
    /// Of the lane's own storage.
    pub thread: bool,
}

/// What happens there.
#[derive(Clone, Debug)]
pub enum What {
    /// Reads into registers; `lane` and `signed` say how narrow ones land.
    Load { lane: u8, signed: bool },
    /// Writes these registers.
    Store(Vec<Word>),
    /// Reads, computes, writes; gives the old value.
    Atomic { op: Atom, data: Vec<Word> },
    /// Reads a texel.
    Texel { pixel: Format, format: RegFormat, count: u8 },
    /// Writes a texel.
    StoreTexel { pixel: Format, format: RegFormat, count: u8, data: Vec<Word> },
}

/// An access of each lane.
#[derive(Clone, Debug)]
pub struct Effect {
    /// What.
    pub what: What,
    /// Where; `None` touches nothing and reads 0.
    pub at: [Option<u64>; LANES],
    /// Bytes.
    pub bytes: u8,
}

impl Effect {
    fn writes(&self) -> bool {
        !matches!(self.what, What::Load { .. } | What::Texel { .. })
    }

    /// Alignment that the access needs.
    fn align(&self) -> u64 {
        match (&self.what, self.bytes) {
            (What::Atomic { .. }, bytes) => u64::from(bytes),
            (What::Texel { .. } | What::StoreTexel { .. }, _) => 1,
            (_, 1 | 3) => 1,
            (_, 2 | 6) => 2,
            _ => 4,
        }
    }
}

/// What a message leaves in registers: each with the bytes that it writes.
pub type Results = Vec<(u8, u8, Word)>;

/// `count` whole registers of a staging operand, undefined until something fills them.
pub fn whole(staging: Option<Staging>) -> Results {
    let Some(Staging { reg, count }) = staging else {
        return Vec::new();
    };
    (reg..reg + count).map(|reg| (reg, 15, Word::splat(0))).collect()
}

fn thread_range(state: &State, address: u64) -> bool {
    (THREAD_BASE..THREAD_BASE + 0x8000_0000).contains(&address) && state.thread_bytes > 0
}

impl Warp {
    /// Reads the staging registers of a message.
    pub fn staging(&self, staging: Option<Staging>) -> Result<Vec<Word>, Trap> {
        let Some(Staging { reg, count }) = staging else {
            return Ok(Vec::new());
        };
        (reg..reg + count).map(|reg| self.fetch_register(reg, 15, self.active)).collect()
    }

    /// Puts a message on its way. Its operands have been read.
    pub fn send(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        results: Results,
        effect: Option<Effect>,
        varying: bool,
    ) -> Result<(), Trap> {
        self.kill_last(inst)?;
        let lanes = self.active;
        if self.messages.iter().any(|m| m.test && m.lanes & lanes != 0) {
            return Err(self.trap(Rule::AfterAtest, inst.name, None));
        }
        for (reg, bytes, _) in &results {
            let place = &mut self.regs[usize::from(*reg)];
            for byte in 0..4 {
                if bytes >> byte & 1 == 0 {
                    continue;
                }
                if let Some(lane) = each(place.pending[byte] & lanes).next() {
                    let detail = format!("r{reg} is the result of two messages");
                    return Err(self.trap(Rule::Overwritten, detail, Some(lane)));
                }
                place.pending[byte] |= lanes;
            }
            place.dead &= !lanes;
        }
        let reads: Vec<u8> = match inst.read {
            Some(Staging { reg, count }) => (reg..reg + count).collect(),
            None => Vec::new(),
        };
        for &reg in &reads {
            self.regs[usize::from(reg)].busy |= lanes;
        }
        let touches = match &effect {
            Some(effect) => self.touches(env, effect)?,
            None => Vec::new(),
        };
        let mut message = Message {
            slot: inst.slot.expect("messages have slots"),
            lanes,
            results,
            reads,
            effect,
            touches,
            varying,
            test: inst.op == Op::Atest,
        };
        if env.dice.coin()
            && let Some(effect) = message.effect.take()
        {
            let words = self.perform(env, &effect, lanes)?;
            for (result, word) in message.results.iter_mut().zip(words) {
                result.2 = word;
            }
        }
        for (reg, _, word) in &message.results {
            if message.effect.is_none() {
                self.trace_value(env, &format!("r{reg} ~"), word);
            }
        }
        self.messages.push(message);
        Ok(())
    }

    /// The memory of an effect, lane by lane; refuses what is not mapped, not aligned, or touched by
    /// a message on its way.
    fn touches(&self, env: &Env<'_, '_>, effect: &Effect) -> Result<Vec<(u8, Interval)>, Trap> {
        let mut touches = Vec::new();
        let bytes = u64::from(effect.bytes);
        let write = effect.writes();
        for lane in each(self.active) {
            let Some(start) = effect.at[lane] else {
                continue;
            };
            if start % effect.align() != 0 {
                let detail = format!("{bytes} bytes at {start:#x}");
                return Err(self.trap(Rule::MemoryAlign, detail, Some(lane)));
            }
            let thread = thread_range(env.state, start);
            if thread {
                let at = start - THREAD_BASE;
                if at + bytes > u64::from(env.state.thread_bytes) {
                    let detail = format!(
                        "{bytes} bytes at byte {at} of {} of thread storage",
                        env.state.thread_bytes
                    );
                    return Err(self.trap(Rule::MemoryMap, detail, Some(lane)));
                }
                if at % 16 + bytes > 16 {
                    let detail = format!("{bytes} bytes at byte {at} of thread storage");
                    return Err(self.trap(Rule::ThreadMemory, detail, Some(lane)));
                }
            } else {
                env.state
                    .memory
                    .probe(start, effect.bytes.into(), write)
                    .map_err(|(rule, detail)| self.trap(rule, detail, Some(lane)))?;
            }
            let interval = Interval { start, end: start + bytes, write, thread };
            for message in self.messages.iter().filter(|m| m.lanes >> lane & 1 == 1) {
                let clash = message.touches.iter().any(|&(other, i)| {
                    usize::from(other) == lane
                        && i.start < interval.end
                        && interval.start < i.end
                        && (i.write || write)
                });
                if clash {
                    let detail = format!("{bytes} bytes at {start:#x} in slot {}", message.slot);
                    return Err(self.trap(Rule::MemoryOrder, detail, Some(lane)));
                }
            }
            touches.push((lane as u8, interval));
        }
        Ok(touches)
    }

    /// Acts for these lanes and gives the words that the message leaves.
    pub fn perform(
        &mut self,
        env: &mut Env<'_, '_>,
        effect: &Effect,
        lanes: Mask,
    ) -> Result<Vec<Word>, Trap> {
        let mut results = vec![Word::splat(0); 4];
        let first = env.dice.below(LANES);
        for lane in (0..LANES).map(|k| (k + first) % LANES) {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            self.act(env, effect, lane, &mut results)
                .map_err(|(rule, detail)| self.trap(rule, detail, Some(lane)))?;
        }
        Ok(results)
    }

    fn act(
        &mut self,
        env: &mut Env<'_, '_>,
        effect: &Effect,
        lane: usize,
        results: &mut [Word],
    ) -> Result<(), super::memory::Refused> {
        let Some(address) = effect.at[lane] else {
            return Ok(());
        };
        let bytes = usize::from(effect.bytes);
        let mut buffer = [0u8; 16];
        let place = &mut buffer[..bytes];
        match &effect.what {
            What::Load { lane: lands, signed } => {
                let undefined = self.read_bytes(env, lane, address, place)?;
                land(results, lane, effect.bytes, *lands, *signed, &buffer, undefined);
            }
            What::Store(data) => {
                let mut undefined = 0;
                for (k, byte) in place.iter_mut().enumerate() {
                    *byte = data[k / 4].v[lane].to_le_bytes()[k % 4];
                    undefined |= u32::from(data[k / 4].poison[k % 4] >> lane & 1) << k;
                }
                self.write_bytes(env, lane, address, &buffer[..bytes], undefined)?;
            }
            What::Atomic { op, data } => {
                self.read_bytes(env, lane, address, place)?;
                let mut old = [0; 8];
                old[..bytes].copy_from_slice(&buffer[..bytes]);
                let old = u64::from_le_bytes(old);
                let words = bytes / 4;
                let operand = |n: usize| {
                    let word = |k: usize| {
                        data.get(n * words + k).map_or(0, |word| u64::from(word.v[lane]))
                    };
                    word(0) | if words == 2 { word(1) << 32 } else { 0 }
                };
                let first = match op {
                    Atom::AddSigned => data[0].v[lane] as i32 as u64,
                    _ => operand(0),
                };
                let new = atomic(*op, bytes, old, first, operand(1));
                self.write_bytes(env, lane, address, &new.to_le_bytes()[..bytes], 0)?;
                results[0].v[lane] = old as u32;
                results[1].v[lane] = (old >> 32) as u32;
            }
            What::Texel { pixel, format, count } => {
                self.read_bytes(env, lane, address, place)?;
                let texel = pixel.decode(&buffer);
                let words = texel::pack(texel, *format, *count);
                for (result, word) in results.iter_mut().zip(words) {
                    result.v[lane] = word;
                }
            }
            What::StoreTexel { pixel, format, count, data } => {
                let words: Vec<u32> = data.iter().map(|word| word.v[lane]).collect();
                let texel = texel::unpack(&words, *format, *count);
                env.state.memory.read(address, place)?;
                pixel.encode(texel, &mut buffer);
                self.write_bytes(env, lane, address, &buffer[..bytes], 0)?;
            }
        }
        Ok(())
    }

    fn read_bytes(
        &self,
        env: &Env<'_, '_>,
        lane: usize,
        address: u64,
        out: &mut [u8],
    ) -> Result<u32, super::memory::Refused> {
        if !thread_range(env.state, address) {
            return env.state.memory.read(address, out);
        }
        let at = self.thread_at(env, lane, address);
        out.copy_from_slice(&self.thread.0[at..at + out.len()]);
        let undefined = &self.thread.1[at..at + out.len()];
        Ok(undefined.iter().enumerate().fold(0, |mask, (k, &u)| mask | u32::from(u) << k))
    }

    fn write_bytes(
        &mut self,
        env: &mut Env<'_, '_>,
        lane: usize,
        address: u64,
        data: &[u8],
        undefined: u32,
    ) -> Result<(), super::memory::Refused> {
        if !thread_range(env.state, address) {
            return env.state.memory.write(address, data, undefined);
        }
        let at = self.thread_at(env, lane, address);
        self.thread.0[at..at + data.len()].copy_from_slice(data);
        for (k, place) in self.thread.1[at..at + data.len()].iter_mut().enumerate() {
            *place = (undefined >> k & 1) as u8;
        }
        Ok(())
    }

    /// Where a lane's byte of thread storage stands; the range was checked at issue.
    fn thread_at(&self, env: &Env<'_, '_>, lane: usize, address: u64) -> usize {
        lane * env.state.thread_bytes as usize + (address - THREAD_BASE) as usize
    }

    /// Refuses that undefined bytes go where others see them: `data` by bytes of the store.
    pub fn stored(
        &self,
        env: &Env<'_, '_>,
        data: &[Word],
        bytes: u8,
        at: &[Option<u64>; LANES],
    ) -> Result<(), Trap> {
        for k in 0..usize::from(bytes) {
            let word = &data[k / 4];
            let mut lanes = word.poison[k % 4] & self.active;
            for lane in each(lanes) {
                if at[lane].is_none_or(|address| thread_range(env.state, address)) {
                    lanes &= !(1 << lane);
                }
            }
            self.observed(lanes, word.why, "a stored value")?;
        }
        Ok(())
    }
}

/// Puts loaded bytes into results: narrow ones into a byte or half, or extended.
fn land(
    results: &mut [Word],
    lane: usize,
    bytes: u8,
    lands: u8,
    signed: bool,
    buffer: &[u8; 16],
    undefined: u32,
) {
    let low = u32::from_le_bytes(buffer[..4].try_into().expect("four bytes"));
    let extend = |width: u32| {
        let left = 32 - width;
        if signed { (((low << left) as i32) >> left) as u32 } else { low << left >> left }
    };
    let spoil = |word: &mut Word, mask: u32| {
        for byte in 0..4 {
            if mask >> byte & 1 == 1 {
                word.poison[byte] |= 1 << lane;
                word.why = Why::Memory;
            }
        }
    };
    let all = if undefined != 0 { 15 } else { 0 };
    let wide = |results: &mut [Word], value: u32| {
        results[0].v[lane] = value;
        results[1].v[lane] = if signed { ((value as i32) >> 31) as u32 } else { 0 };
        spoil(&mut results[0], all);
        spoil(&mut results[1], all);
    };
    match (bytes, lands) {
        (1, 0..=3) => {
            results[0].v[lane] = low << (8 * lands);
            spoil(&mut results[0], undefined << lands);
        }
        (1, 4 | 5) => {
            results[0].v[lane] = (extend(8) & 0xFFFF) << (16 * (lands - 4));
            spoil(&mut results[0], all);
        }
        (2, 0 | 1) => {
            results[0].v[lane] = low << (16 * lands);
            spoil(&mut results[0], undefined << (2 * lands));
        }
        (1, 7) | (2, 3) | (4, 1) => wide(results, extend(8 * u32::from(bytes))),
        (1, _) | (2, _) => {
            results[0].v[lane] = extend(8 * u32::from(bytes));
            spoil(&mut results[0], all);
        }
        _ => {
            for (k, word) in results.iter_mut().enumerate().take(usize::from(bytes.div_ceil(4))) {
                let at = &buffer[4 * k..4 * k + 4];
                word.v[lane] = u32::from_le_bytes(at.try_into().expect("four bytes"));
                spoil(word, undefined >> (4 * k) & 15);
            }
        }
    }
}

/// The results of a load: registers and the bytes that are written.
pub fn load_results(staging: Option<Staging>, bytes: u8, lands: u8) -> Results {
    let mut results = whole(staging);
    if let Some(first) = results.first_mut() {
        first.1 = match (bytes, lands) {
            (1, 0..=3) => 1 << lands,
            (1, 4 | 5) => 3 << (2 * (lands - 4)),
            (2, 0 | 1) => 3 << (2 * lands),
            _ => 15,
        };
    }
    results
}

/// The new value.
fn atomic(op: Atom, bytes: usize, old: u64, a: u64, b: u64) -> u64 {
    let signed = |v: u64| {
        if bytes == 4 { i64::from(v as u32 as i32) } else { v as i64 }
    };
    match op {
        Atom::Add | Atom::AddUnsigned | Atom::AddSigned => old.wrapping_add(a),
        Atom::SMin => {
            if signed(a) < signed(old) {
                a
            } else {
                old
            }
        }
        Atom::SMax => {
            if signed(a) > signed(old) {
                a
            } else {
                old
            }
        }
        Atom::UMin => old.min(a),
        Atom::UMax => old.max(a),
        Atom::And => old & a,
        Atom::Or => old | a,
        Atom::Xor => old ^ a,
        Atom::Xchg => a,
        // Errata 121: the first staging operand is stored, the second compared.
        Atom::CmpXchg => {
            if old == b {
                a
            } else {
                old
            }
        }
        Atom::Inc => old.wrapping_add(1),
        Atom::Dec => old.wrapping_sub(1),
    }
}
