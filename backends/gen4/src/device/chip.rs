//! The emulated chip as a driver fills it: memory from the bottom up, and commands that are gathered and run.
//! isa/gen4-pipeline.md 1.4.

use crate::emu::{Gpu, Model, Refused, Run, Trap, admit};
use gpucc_emu::device::{Stop, bytes_of};
use gpucc_ir::ssa::Span;
use gpucc_ir::ssa::numerics::Perturbation;

/// The first address in use: 0 and what is near it are never mapped.
const FIRST: u32 = 0x1_0000;
/// Bytes behind what is mapped that stay unmapped, at least.
const GAP: u64 = 64;
/// What states, programs and buffers begin at a multiple of.
const ALIGNED: u64 = 64;
/// Bytes behind a program's end that are fetched ahead. isa/gen4.md 7.
const AHEAD: u32 = 128;

const FLUSH: u32 = 0x0200_0000;
const END: u32 = 0x0500_0000;

/// A chip, what is free of its addresses, and commands that are to run.
pub struct Chip {
    pub gpu: Gpu,
    pub model: Model,
    next: u64,
    commands: Vec<u32>,
    /// Where commands go, and for how many bytes there is room.
    batch: (u32, u32),
}

/// A refusal of memory: the device itself is at fault.
fn stop((rule, detail): Refused) -> Stop {
    let message = format!("the memory of the chip: {rule}: {detail}");
    Stop::Illegal { rule: "the emulated machine".into(), message, span: Span::NONE }
}

/// A word of a program that is no instruction of the chip.
fn refused(trap: Trap) -> Stop {
    let message = format!("{} at byte {:#x}, which no run need reach", trap.detail, trap.offset);
    Stop::Illegal { rule: trap.rule.to_string(), message, span: Span::NONE }
}

impl Chip {
    /// A chip with nothing in memory.
    pub fn new(model: Model, order: u64, errors: Option<Perturbation>) -> Chip {
        let mut gpu = Gpu::new(model);
        gpu.set_order(order);
        gpu.set_errors(errors);
        Chip { gpu, model, next: FIRST.into(), commands: Vec::new(), batch: (0, 0) }
    }

    /// Takes addresses, none of which is mapped, from a multiple of `aligned` on, a power of two.
    ///
    /// # Errors
    /// [`Stop::TooLarge`] beyond 4 GB.
    pub fn reserve(&mut self, bytes: u64, aligned: u64) -> Result<u32, Stop> {
        let at = self.next.next_multiple_of(aligned.max(ALIGNED));
        let end = at.saturating_add(bytes).saturating_add(GAP);
        let too_large = || Stop::TooLarge("more memory than the machine's 4 GB".into());
        let address = u32::try_from(at).map_err(|_| too_large())?;
        if end > 1 << 32 {
            return Err(too_large());
        }
        self.next = end;
        Ok(address)
    }

    /// Maps bytes at reserved addresses; nobody has written them.
    ///
    /// # Errors
    /// They are mapped already.
    pub fn map_at(&mut self, address: u32, bytes: u32) -> Result<(), Stop> {
        self.gpu.memory().map(address, bytes).map_err(stop)
    }

    /// Maps bytes that nobody has written.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub fn map(&mut self, bytes: u32, aligned: u64) -> Result<u32, Stop> {
        let address = self.reserve(bytes.into(), aligned)?;
        if bytes > 0 {
            self.map_at(address, bytes)?;
        }
        Ok(address)
    }

    /// Writes mapped bytes as the processor does.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), Stop> {
        self.gpu.memory().write(address, bytes).map_err(stop)
    }

    /// Maps bytes and writes them: no byte more can be reached from there.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub fn put(&mut self, bytes: &[u8]) -> Result<u32, Stop> {
        let len = u32::try_from(bytes.len());
        let len = len.map_err(|_| Stop::TooLarge("a binding of 4 GB".into()))?;
        let address = self.map(len, ALIGNED)?;
        if len > 0 {
            self.gpu.memory().write(address, bytes).map_err(stop)?;
        }
        Ok(address)
    }

    /// As [`Chip::put`], words in memory order.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub fn put_words(&mut self, words: &[u32]) -> Result<u32, Stop> {
        self.put(&bytes_of(words))
    }

    /// A program with what is fetched ahead behind it.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub fn put_program(&mut self, code: &[u8]) -> Result<u32, Stop> {
        admit(self.model, code).map_err(refused)?;
        let len = u32::try_from(code.len()).ok().and_then(|len| len.checked_add(AHEAD));
        let len = len.ok_or_else(|| Stop::TooLarge("a program of 4 GB".into()))?;
        let address = self.map(len, ALIGNED)?;
        self.gpu.memory().write(address, code).map_err(stop)?;
        Ok(address)
    }

    /// Bytes as the processor reads them, behind a flush.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn read(&mut self, address: u32, bytes: usize) -> Result<Vec<u8>, Stop> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        self.gpu.memory().read(address, bytes).map_err(stop)
    }

    /// Whether anybody wrote all of the bytes.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn is_written(&mut self, address: u32, bytes: usize) -> Result<bool, Stop> {
        self.gpu.memory().is_defined(address, bytes).map_err(stop)
    }

    /// Adds the words of a command.
    pub fn command(&mut self, words: &[u32]) {
        self.commands.extend(words);
    }

    /// What every batch begins with: a pipeline, and bases that are all 0, so that pointers are addresses.
    pub fn begin(&mut self, media: bool) {
        let select = if self.model == Model::G45 { 0x6904_0000 } else { 0x6104_0000 };
        self.command(&[FLUSH, select | u32::from(media)]);
        self.command(&[0x6101_0004, 1, 1, 1, 0xffff_f001, 1]);
    }

    /// URB_FENCE: where the sections of VS, GS, CLIP, SF, VFE and CS end, in units of 64 bytes; none for one that is not
    /// meant. The command may not leave its 64 bytes.
    pub fn fence(&mut self, ends: [Option<u32>; 6]) {
        while self.commands.len() % 16 > 13 {
            self.commands.push(0);
        }
        let meant = (8..).zip(&ends).map(|(bit, end)| u32::from(end.is_some()) << bit);
        let meant = meant.fold(0, |all, bit| all | bit);
        let [vs, gs, clip, sf, vfe, cs] = ends.map(Option::unwrap_or_default);
        self.command(&[0x6000_0001 | meant, vs | gs << 10 | clip << 20, sf | vfe << 10 | cs << 20]);
    }

    /// The URB's entry of constants, and constants to it: nothing where there are none. What a last row lacks is undefined.
    ///
    /// # Errors
    /// As [`Chip::reserve`].
    pub fn constants(&mut self, words: &[u32]) -> Result<(), Stop> {
        let units = Chip::constant_units(words.len());
        if units == 0 {
            return Ok(());
        }
        let at = self.map(64 * units, ALIGNED)?;
        self.gpu.memory().write(at, &bytes_of(words)).map_err(stop)?;
        self.command(&[0x6001_0000, (units - 1) << 4 | 1]);
        self.command(&[0x6002_0100, at | (units - 1)]);
        Ok(())
    }

    /// Units of 64 bytes of so many doublewords.
    pub fn constant_units(words: usize) -> u32 {
        words.div_ceil(16) as u32
    }

    /// Runs the commands that were added, and a flush.
    ///
    /// # Errors
    /// The rule that a command or a thread breaks.
    pub fn submit(&mut self, run: &mut Run<'_>) -> Result<(), Trap> {
        self.command(&[FLUSH, END]);
        let bytes = bytes_of(&self.commands);
        self.commands.clear();
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        if bytes.len() > self.batch.1 as usize {
            let at = self.reserve(bytes.len() as u64, ALIGNED);
            let Ok(at) = at else {
                return Err(Trap::new(crate::emu::Rule::Mapped, 0, "no room for commands"));
            };
            self.gpu.memory().map(at, bytes.len() as u32).map_err(trap)?;
            self.batch = (at, bytes.len() as u32);
        }
        self.gpu.memory().write(self.batch.0, &bytes).map_err(trap)?;
        let ended = self.gpu.batch(self.batch.0, bytes.len() as u32, run);
        // The flush at the end does not come where a run is stopped.
        if ended.is_err() {
            self.gpu.memory().flush();
        }
        ended
    }
}
