//! Memory that programs write: the scatter aperture and the local data share; exports and scratch of a
//! wavefront. R700 ISA 3.5, 8 and 9 (MEM_*).

mod share;

use super::decode::{ExportInst, ExportOp, MemoryRead};
use super::formats::convert;
use super::lanes::{Word, each};
use super::rule::{Rule, Trap};
use super::state::{Stage, Stream, address};
use super::wave::{ExportValue, Wave};
use crate::api::Family;
use share::Written;

/// Dwords of the local data share of a SIMD.
const SHARE_WORDS: usize = 4096;
/// The stamp of a write that is never acknowledged.
const UNACKNOWLEDGED: u32 = u32::MAX;

/// What a geometry thread signalled.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Emitted {
    /// The vertex that it wrote is complete.
    Vertex,
    /// The strip ends.
    Cut,
}

/// Memory of a launch.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Stream-out buffers.
    pub streams: [Option<Stream>; 4],
    /// The ring that this kind of program writes: an item a thread; nothing where nobody wrote.
    pub ring: Vec<Option<u32>>,
    /// What threads signalled, in order.
    pub emitted: Vec<(u32, Emitted)>,
    /// The scatter aperture in dwords.
    pub words: Vec<u32>,
    /// Which wavefront wrote a dword last (0 none), and the number of that write.
    writers: Vec<(u32, u32)>,
    share: Vec<u32>,
    share_written: Vec<Written>,
}

impl Memory {
    /// Memory that starts with these words.
    pub fn new(words: Vec<u32>) -> Memory {
        Memory {
            writers: vec![(0, 0); words.len()],
            words,
            share: vec![0; SHARE_WORDS],
            share_written: vec![Written::Nothing; SHARE_WORDS],
            ..Memory::default()
        }
    }

    /// True when the wavefront itself wrote the dword.
    pub fn wrote(&self, at: usize, wave: u32) -> bool {
        self.writers.get(at).is_some_and(|&(writer, _)| writer == wave)
    }
}

impl Wave<'_> {
    /// The number of a memory write: acknowledged ones count up.
    fn stamp(&mut self, acknowledged: bool) -> u32 {
        if acknowledged {
            self.writes += 1;
            self.writes
        } else {
            UNACKNOWLEDGED
        }
    }

    /// An export or memory write.
    pub fn export(&mut self, inst: &ExportInst, lanes: u64, offset: u32) -> Result<(), Trap> {
        match inst.op {
            ExportOp::Export | ExportOp::ExportDone => {
                let done = inst.op == ExportOp::ExportDone;
                self.finish(inst.kind as usize, done, offset)?;
                self.export_values(inst, lanes, offset)
            }
            ExportOp::Scratch if inst.kind > 1 && self.state.chip.family() == Family::R600 => {
                self.scratch_read_cf(inst, lanes, offset)
            }
            ExportOp::Scratch => self.scratch_write(inst, lanes, offset),
            ExportOp::MemExport => self.scatter_write(inst, lanes, offset),
            ExportOp::Stream(_) | ExportOp::Ring => self.ring_write(inst, lanes, offset),
            ExportOp::Reduction if inst.kind > 1 && self.state.chip.family() == Family::R600 => {
                self.in_reduction(|wave| wave.scratch_read_cf(inst, lanes, offset))
            }
            ExportOp::Reduction => {
                self.in_reduction(|wave| wave.scratch_write(inst, lanes, offset))
            }
        }
    }

    /// What a select takes of a register: a channel, zero or one; `None` where it masks.
    fn selected(&self, gpr: u32, select: u32) -> Option<Word> {
        match select {
            0..4 => Some(self.registers[(gpr * 4 + select) as usize]),
            4 => Some(Word::splat(0)),
            5 => Some(Word::splat(1f32.to_bits())),
            _ => None,
        }
    }

    /// A register of an export's burst, the loop index added.
    fn burst_register(&self, gpr: u32, rel: bool, n: u32) -> u32 {
        let at = gpr + n;
        if !rel {
            return at;
        }
        let at = i64::from(at) + i64::from(self.loop_index);
        if (0..i64::from(self.gprs)).contains(&at) { at as u32 } else { 0 }
    }

    fn export_values(&mut self, inst: &ExportInst, lanes: u64, offset: u32) -> Result<(), Trap> {
        let seen = lanes & self.valid;
        if self.state.stage == Stage::Compute && inst.swizzle != [7; 4] {
            let detail = "a compute program exports nothing: all components are masked (the ABI)";
            return Err(Trap::new(Rule::Stage, offset, detail));
        }
        for n in 0..inst.burst {
            let gpr = self.burst_register(inst.gpr, inst.rel, n);
            let base = inst.base + n;
            let found = self.exports.iter().position(|e| e.kind == inst.kind && e.base == base);
            let place = found.unwrap_or_else(|| {
                self.exports.push(ExportValue {
                    kind: inst.kind,
                    base,
                    words: [Word::UNDEFINED; 4],
                    written: [0; 4],
                });
                self.exports.len() - 1
            });
            for (c, &select) in inst.swizzle.iter().enumerate() {
                let Some(word) = self.selected(gpr, select) else {
                    continue;
                };
                let name = ["x", "y", "z", "w"][c];
                self.observed(&word, seen, offset, &format!("export {base}.{name}"))?;
                let value = &mut self.exports[place];
                value.words[c].write(&word, lanes, self.full);
                value.written[c] |= lanes;
                self.trace_value(offset, &format!("export {base}.{name}"), &word, lanes);
            }
        }
        Ok(())
    }

    /// Compares what was exported with what the state declares.
    pub fn check_export_count(&self, offset: u32) -> Result<(), Trap> {
        let count = |detail: String| Err(Trap::new(Rule::ExportCount, offset, detail));
        let has =
            |kind: u32, base: u32| self.exports.iter().any(|e| e.kind == kind && e.base == base);
        if self.state.stage == Stage::Pixel {
            self.check_pixel_state(offset)?;
            if let Some(mode) = self.state.register(address::SQ_PGM_EXPORTS_PS) {
                let colors = mode >> 1 & 15;
                for base in 0..8 {
                    if has(0, base) != (base < colors) {
                        return count(format!("{colors} colours declared, place {base} differs"));
                    }
                }
                if has(0, 61) != (mode & 1 == 1) {
                    return count("the depth export differs from EXPORT_MODE".into());
                }
            }
        } else if let Some(config) = self.state.register(address::SPI_VS_OUT_CONFIG) {
            let declared = (config >> 1 & 31) + 1;
            let used = self.exports.iter().filter(|e| e.kind == 2).map(|e| e.base + 1).max();
            if used != Some(declared) {
                return count(format!("{declared} parameters declared, {used:?} exported"));
            }
        }
        Ok(())
    }

    /// Compares what a pixel program did with what CB_SHADER_MASK and DB_SHADER_CONTROL announce.
    fn check_pixel_state(&self, offset: u32) -> Result<(), Trap> {
        let count = |detail: String| Err(Trap::new(Rule::ExportCount, offset, detail));
        let found = |base: u32| self.exports.iter().find(|e| e.kind == 0 && e.base == base);
        let wrote = |base: u32, c: usize| found(base).is_some_and(|e| e.written[c] != 0);
        // A colour that fills a gap: the mask must have some of it, and nothing arrives.
        let masked = |base: u32| found(base).is_some_and(|e| e.written == [0; 4]);
        if self.active & self.valid == 0 {
            return Ok(());
        }
        if let Some(mask) = self.state.register(address::CB_SHADER_MASK) {
            for bit in (0..32).filter(|bit| mask >> bit & 1 == 1) {
                if !wrote(bit / 4, bit as usize % 4) && !masked(bit / 4) {
                    let detail = format!("component {} of colour {}", bit % 4, bit / 4);
                    return count(format!("CB_SHADER_MASK has {detail}, which is not exported"));
                }
            }
        }
        if let Some(control) = self.state.register(address::DB_SHADER_CONTROL) {
            let single = self.state.single_sampled();
            for (bit, c, name) in
                [(0, 0, "Z_EXPORT"), (1, 1, "STENCIL_REF_EXPORT"), (8, 2, "MASK_EXPORT")]
            {
                let taken = wrote(61, c) && !(bit == 8 && single);
                if taken != (control >> bit & 1 == 1) {
                    return count(format!("{name}_ENABLE differs from what is exported"));
                }
            }
            if self.killed && control >> 6 & 1 == 0 {
                return count("pixels were killed without KILL_ENABLE".into());
            }
        }
        Ok(())
    }

    /// The vector of scratch that each lane means.
    fn scratch_place(
        &self,
        base: u32,
        array_size: u32,
        index: Option<u32>,
        offset: u32,
    ) -> Result<u32, Trap> {
        let index = index.map_or(0, |i| (i as i32).clamp(0, array_size.max(1) as i32 - 1) as u32);
        let place = base + index;
        if place as usize >= self.scratch_stamp.len() {
            let detail = format!("vector {place} of {}", self.scratch_stamp.len());
            return Err(Trap::new(Rule::ScratchRange, offset, detail));
        }
        Ok(place)
    }

    /// The reduction buffer is private to a thread as scratch is: R700 ISA 7.1 gives both one formula.
    fn in_reduction<T>(&mut self, access: impl FnOnce(&mut Self) -> T) -> T {
        let swap = |wave: &mut Self| {
            std::mem::swap(&mut wave.scratch, &mut wave.reduction);
            std::mem::swap(&mut wave.scratch_stamp, &mut wave.reduction_stamp);
        };
        swap(self);
        let result = access(self);
        swap(self);
        result
    }

    /// Stream and ring: ARRAY_BASE counts dwords, an index and the burst count elements. R700 ISA 3.4.2.
    fn ring_write(&mut self, inst: &ExportInst, lanes: u64, offset: u32) -> Result<(), Trap> {
        let elements = inst.elem_size + 1;
        let index = self.registers[(inst.index_gpr * 4) as usize];
        let indexed = inst.kind & 1 == 1;
        if indexed {
            self.observed(&index, lanes, offset, "the index of a ring write")?;
        }
        let item = self.state.ring_item();
        for n in 0..inst.burst {
            let gpr = self.burst_register(inst.gpr, inst.rel, n);
            for c in (0..elements).filter(|c| inst.mask >> c & 1 == 1) {
                let word = self.registers[(gpr * 4 + c) as usize];
                self.observed(&word, lanes & self.valid, offset, "written data")?;
                for lane in each(lanes & self.valid) {
                    let first = if indexed { u64::from(index.v[lane]) } else { 0 };
                    let at = (first + u64::from(n)) * u64::from(elements)
                        + u64::from(inst.base)
                        + u64::from(c);
                    let thread = self.first_thread + lane as u32;
                    match inst.op {
                        ExportOp::Stream(number) => {
                            self.stream(number, thread, at, &word, offset)?
                        }
                        _ if at >= u64::from(item) => {
                            let detail = format!("dword {at} of an item of {item}");
                            return Err(Trap::new(Rule::RingRange, offset, detail).at_lane(thread));
                        }
                        _ => {
                            let place = thread as usize * item as usize + at as usize;
                            self.memory.ring[place] = Some(word.v[lane]);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// One dword of a vertex to a stream-out buffer: vertices stand in their order, what does not fit is dropped.
    fn stream(
        &mut self,
        number: u32,
        thread: u32,
        at: u64,
        word: &Word,
        offset: u32,
    ) -> Result<(), Trap> {
        if !self.state.streams_to(number) {
            let detail = format!("VGT_STRMOUT_EN or VGT_STRMOUT_BUFFER_EN is clear for {number}");
            return Err(Trap::new(Rule::State, offset, detail));
        }
        let Some(stream) = &mut self.memory.streams[number as usize] else {
            let detail = format!("stream-out buffer {number} is not bound");
            return Err(Trap::new(Rule::Resource, offset, detail));
        };
        if at >= u64::from(stream.stride) {
            let detail = format!("dword {at} of a vertex of {}", stream.stride);
            return Err(Trap::new(Rule::RingRange, offset, detail).at_lane(thread));
        }
        let place = u64::from(thread) * u64::from(stream.stride) + at;
        let lane = (thread - self.first_thread) as usize;
        if let Some(place) = stream.words.get_mut(place as usize) {
            *place = word.v[lane];
        }
        Ok(())
    }

    fn scratch_write(&mut self, inst: &ExportInst, lanes: u64, offset: u32) -> Result<(), Trap> {
        let indexed = inst.kind & 1 == 1;
        // Without acknowledgements BARRIER orders writes and reads of one queue.
        let stamp = match self.state.chip.family() {
            Family::R600 => 0,
            Family::R700 => self.stamp(inst.kind & 2 != 0),
        };
        let index = self.registers[(inst.index_gpr * 4) as usize];
        if indexed {
            self.observed(&index, lanes, offset, "the index of a scratch write")?;
        }
        for n in 0..inst.burst {
            let gpr = self.burst_register(inst.gpr, inst.rel, n);
            for c in (0..4).filter(|c| inst.mask >> c & 1 == 1) {
                let word = self.registers[(gpr * 4 + c) as usize];
                if !indexed {
                    let place = self.scratch_place(inst.base + n, inst.array_size, None, offset)?;
                    self.scratch[(place * 4 + c) as usize].write(&word, lanes, self.full);
                    self.scratch_stamp[place as usize] = stamp;
                    continue;
                }
                for lane in each(lanes) {
                    let index = Some(index.v[lane]);
                    let place =
                        self.scratch_place(inst.base + n, inst.array_size, index, offset)?;
                    self.scratch[(place * 4 + c) as usize].write(&word, 1 << lane, self.full);
                    self.scratch_stamp[place as usize] = stamp;
                }
            }
        }
        Ok(())
    }

    /// Guide 4, CF_ALLOC_EXPORT_WORD0: READ and READ_IND bring whole vectors; COMP_MASK applies to writes alone.
    fn scratch_read_cf(&mut self, inst: &ExportInst, lanes: u64, offset: u32) -> Result<(), Trap> {
        let indexed = inst.kind & 1 == 1;
        let index = self.registers[(inst.index_gpr * 4) as usize];
        if indexed {
            self.observed(&index, lanes, offset, "the index of a scratch read")?;
        }
        for n in 0..inst.burst {
            let gpr = self.burst_register(inst.gpr, inst.rel, n);
            for lane in each(lanes) {
                let index = indexed.then_some(index.v[lane]);
                let place = self.scratch_place(inst.base + n, inst.array_size, index, offset)?;
                for c in 0..4 {
                    let word = self.scratch[(place * 4 + c) as usize];
                    self.registers[(gpr * 4 + c) as usize].write(&word, 1 << lane, self.full);
                }
            }
        }
        Ok(())
    }

    fn scatter_write(&mut self, inst: &ExportInst, lanes: u64, offset: u32) -> Result<(), Trap> {
        let elements = inst.elem_size + 1;
        if inst.mask >> elements != 0 || inst.mask == 0 {
            let detail = format!("mask {:#x} for elements of {elements} dwords", inst.mask);
            return Err(Trap::new(Rule::ElementSize, offset, detail));
        }
        let stamp = self.stamp(inst.kind & 2 != 0);
        let index = self.registers[(inst.index_gpr * 4) as usize];
        self.observed(&index, lanes, offset, "the address of a write")?;
        for n in 0..inst.burst {
            let gpr = self.burst_register(inst.gpr, inst.rel, n);
            for c in (0..elements).filter(|c| inst.mask >> c & 1 == 1) {
                let word = self.registers[(gpr * 4 + c) as usize];
                self.observed(&word, lanes, offset, "written data")?;
                for lane in each(lanes) {
                    let at = u64::from(index.v[lane])
                        + u64::from(inst.base)
                        + u64::from(n * elements + c);
                    let Ok(at) = usize::try_from(at) else {
                        continue;
                    };
                    if let Some(place) = self.memory.words.get_mut(at) {
                        *place = word.v[lane];
                        self.memory.writers[at] = (self.number, stamp);
                    }
                }
                self.trace_value(offset, "scatter write", &word, lanes);
            }
        }
        Ok(())
    }

    /// A read of scratch or of the scatter aperture.
    pub fn memory_read(&mut self, inst: &MemoryRead, lanes: u64, offset: u32) -> Result<(), Trap> {
        let source = self.burst_register(inst.src.0, inst.src_rel, 0);
        let index = self.registers[(source * 4 + inst.src.1) as usize];
        if inst.indexed {
            self.observed(&index, lanes, offset, "the address of a read")?;
        }
        for n in 0..inst.burst {
            let mut raw = [Word::UNDEFINED; 4];
            for word in &mut raw {
                word.poison = 0;
            }
            match inst.op {
                0 => self.scratch_read(inst, n, &index, lanes, offset, &mut raw)?,
                1 => self.in_reduction(|wave| {
                    wave.scratch_read(inst, n, &index, lanes, offset, &mut raw)
                })?,
                2 => self.scatter_read(inst, n, &index, lanes, offset, &mut raw)?,
                op => {
                    return Err(Trap::new(Rule::Opcode, offset, format!("MEM_OP {op}")));
                }
            }
            let components = convert_words(inst, &mut raw, lanes, offset)?;
            let dst = self.burst_register(inst.dst, inst.dst_rel, n);
            self.write_fetched(dst, &inst.swizzle, &raw, components, lanes, offset);
        }
        Ok(())
    }

    fn check_fresh(&self, stamp: u32, uncached: bool, offset: u32) -> Result<(), Trap> {
        if !uncached {
            let detail = "UNCACHED is clear and this program wrote there";
            return Err(Trap::new(Rule::Uncached, offset, detail));
        }
        if stamp > self.acknowledged {
            let detail = "the write is not acknowledged yet";
            return Err(Trap::new(Rule::Acknowledge, offset, detail));
        }
        Ok(())
    }

    fn scratch_read(
        &mut self,
        inst: &MemoryRead,
        n: u32,
        index: &Word,
        lanes: u64,
        offset: u32,
        raw: &mut [Word; 4],
    ) -> Result<(), Trap> {
        if inst.elem_size != 3 {
            let detail = format!("scratch elements of {} dwords", inst.elem_size + 1);
            return Err(Trap::new(Rule::ElementSize, offset, detail));
        }
        let read = |wave: &Wave, index: Option<u32>| {
            let place = wave.scratch_place(inst.base + n, inst.array_size, index, offset)?;
            let stamp = wave.scratch_stamp[place as usize];
            if stamp != 0 {
                wave.check_fresh(stamp, inst.uncached, offset)?;
            }
            Ok(place)
        };
        if !inst.indexed {
            let place = read(self, None)?;
            for (c, word) in raw.iter_mut().enumerate() {
                *word = self.scratch[place as usize * 4 + c];
            }
            return Ok(());
        }
        for lane in each(lanes) {
            let place = read(self, Some(index.v[lane]))?;
            for (c, word) in raw.iter_mut().enumerate() {
                let from = self.scratch[place as usize * 4 + c];
                word.write(&from, 1 << lane, self.full);
            }
        }
        Ok(())
    }

    fn scatter_read(
        &mut self,
        inst: &MemoryRead,
        n: u32,
        index: &Word,
        lanes: u64,
        offset: u32,
        raw: &mut [Word; 4],
    ) -> Result<(), Trap> {
        let elements = inst.elem_size + 1;
        let Some(last) = self.memory.words.len().checked_sub(1) else {
            let detail = "the scatter aperture is empty";
            return Err(Trap::new(Rule::Resource, offset, detail));
        };
        for (c, word) in raw.iter_mut().enumerate().take(elements as usize) {
            for lane in each(lanes) {
                // R700 ISA 10.5: INDEXED includes the source register in the address.
                let start = if inst.indexed { index.v[lane] } else { 0 };
                let at =
                    u64::from(start) + u64::from(inst.base) + u64::from(n * elements) + c as u64;
                let at = (at as usize).min(last);
                let (writer, stamp) = self.memory.writers[at];
                if writer == self.number {
                    self.check_fresh(stamp, inst.uncached, offset)?;
                }
                word.v[lane] = self.memory.words[at];
            }
        }
        for word in raw.iter_mut().skip(elements as usize) {
            word.poison(u64::MAX, Rule::FetchFormat, offset);
        }
        Ok(())
    }

    /// Writes what a fetch brought: selects 0..=3 take components, 4 and 5 constants, 7 nothing.
    pub fn write_fetched(
        &mut self,
        dst: u32,
        swizzle: &[u32; 4],
        values: &[Word; 4],
        components: usize,
        lanes: u64,
        offset: u32,
    ) {
        for (c, &select) in swizzle.iter().enumerate() {
            let mut word = match select {
                0..4 => values[select as usize],
                4 => Word::splat(0),
                5 => Word::splat(1f32.to_bits()),
                _ => continue,
            };
            if select < 4 && select as usize >= components {
                word.poison(u64::MAX, Rule::FetchFormat, offset);
            }
            self.registers[dst as usize * 4 + c].write(&word, lanes, self.full);
            if self.trace.is_some() {
                let name = ["x", "y", "z", "w"][c];
                self.trace_value(offset, &format!("fetch R{dst}.{name}"), &word, lanes);
            }
        }
    }
}

/// Reads the dwords of a memory read as its format; the number of components.
fn convert_words(
    inst: &MemoryRead,
    raw: &mut [Word; 4],
    lanes: u64,
    offset: u32,
) -> Result<usize, Trap> {
    let Some(format) = super::formats::data_format(inst.format) else {
        let detail = format!("DATA_FORMAT {}", inst.format);
        return Err(Trap::new(Rule::FetchFormat, offset, detail));
    };
    // Floats and integers of whole dwords keep their bits.
    if format.keeps_words(inst.number) && inst.endian == 0 {
        return Ok(format.components());
    }
    for lane in each(lanes) {
        let mut bytes = [0u8; 16];
        for (c, word) in raw.iter().enumerate() {
            bytes[4 * c..4 * c + 4].copy_from_slice(&word.v[lane].to_le_bytes());
        }
        let values = convert(&format, inst.number, inst.signed, false, inst.endian, &bytes);
        for (word, value) in raw.iter_mut().zip(values) {
            word.v[lane] = value;
        }
    }
    Ok(format.components())
}
