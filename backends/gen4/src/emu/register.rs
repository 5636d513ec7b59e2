//! The register files of a thread, the replies that are on their way to them, and what the 965 does not check.
//! G45 vol. 4, 11.3.1 to 11.3.4; 14.2.44; isa/gen4.md 1.3, 5.1.

use super::Model;
use super::decode::{ADDRESS, CONTROL, DEPTH, FLAG, IP, MASK, NOTIFICATION, STACK, STATE};
use super::message::{Register, Reply};
use super::rule::Rule;
use super::value::{Raw, Type, Wide};

/// Bytes of a register.
pub const BYTES: u32 = 32;

/// A rule that a step breaks, and more in words.
pub type Fault = (Rule, String);

/// A register with what is undefined of it, by bit.
#[derive(Copy, Clone, Debug)]
pub struct Cell {
    pub words: [u32; 8],
    pub undefined: [u32; 8],
}

impl Cell {
    pub const UNDEFINED: Cell = Cell { words: [0xdead_beef; 8], undefined: [!0; 8] };

    /// A register as a message brings it.
    fn of(register: &Register) -> Cell {
        let undefined = std::array::from_fn(|word| bits_of(register.undefined >> (4 * word)));
        Cell { words: register.words, undefined }
    }

    /// As a message takes it: a byte with an undefined bit is undefined.
    pub fn register(&self) -> Register {
        let mut undefined = 0;
        for (word, bits) in self.undefined.iter().enumerate() {
            for byte in 0..4 {
                let any = bits >> (8 * byte) & 0xff != 0;
                undefined |= u32::from(any) << (4 * word + byte);
            }
        }
        Register { words: self.words, undefined }
    }

    /// An element at a byte that is a multiple of its size.
    pub fn get(&self, byte: u32, ty: Type) -> Raw {
        let (word, shift) = (byte as usize / 4 % 8, byte % 4 * 8);
        Raw {
            bits: self.words[word] >> shift & ty.ones(),
            undefined: self.undefined[word] >> shift & ty.ones(),
        }
    }

    pub fn set(&mut self, byte: u32, ty: Type, raw: Raw) {
        let (word, shift) = (byte as usize / 4 % 8, byte % 4 * 8);
        let ones = ty.ones() << shift;
        self.words[word] = self.words[word] & !ones | raw.bits << shift & ones;
        self.undefined[word] = self.undefined[word] & !ones | raw.undefined << shift & ones;
    }
}

/// Four bits for bytes as 32 for bits.
fn bits_of(bytes: u32) -> u32 {
    (0..4).map(|byte| ((bytes >> byte & 1) * 0xff) << (8 * byte)).sum()
}

/// A stack of masks: a counter a channel and the depth. 14.1.3.
#[derive(Copy, Clone, Debug, Default)]
pub struct Stack {
    pub counters: [u8; 16],
    pub depth: u8,
}

/// A reply that has not arrived.
#[derive(Clone, Debug)]
struct Pending {
    /// The registers that it goes to.
    registers: u128,
    first: usize,
    reply: Reply,
}

/// The registers of a thread.
#[derive(Clone, Debug)]
pub struct Registers {
    model: Model,
    general: Vec<Cell>,
    pub message: [Cell; 16],
    address: Cell,
    pub accumulators: [[Wide; 16]; 2],
    /// f0.0 in the low half, f0.1 in the high one.
    pub flags: Raw,
    /// AMask, IMask, LMask, CMask.
    pub masks: [u16; 4],
    /// Of conditions and of loops.
    pub stacks: [Stack; 2],
    state: [u32; 2],
    pub control: [u32; 4],
    pub notifications: [u32; 2],
    /// Byte address of the instruction; a write goes to `jump`.
    pub ip: u32,
    pub jump: Option<u32>,
    pending: Vec<Pending>,
    in_flight: u128,
    /// The registers that the instruction read.
    read: u128,
    /// The registers that the instruction has written so far.
    current: u128,
    /// Written by an instruction that does not clear the dependency. 13.2.2, NoDDClr.
    held: u128,
    /// Written and not read since: a message's reply may overtake the write. 14.2.44 [DevBW, DevCL].
    unread: u128,
    /// Written by a reply and not read since. 14.2.44 [DevBW, DevCL], errata.
    unread_reply: u128,
    /// Last written from outside of the EU. 11.3.10 rule 14.
    outside: u128,
}

impl Registers {
    /// Registers at dispatch: the payload from r0 on, and `count` registers in all.
    pub fn new(model: Model, payload: &[Register], count: u32, state: [u32; 2]) -> Registers {
        let count = count.clamp(1, 128) as usize;
        let mut general = vec![Cell::UNDEFINED; count];
        let mut outside = 0;
        for (at, (cell, register)) in general.iter_mut().zip(payload).enumerate() {
            *cell = Cell::of(register);
            outside |= 1 << at;
        }
        let dispatched = state[1] as u16;
        Registers {
            model,
            general,
            message: [Cell::UNDEFINED; 16],
            address: Cell::UNDEFINED,
            accumulators: Default::default(),
            flags: Raw { bits: 0xdead_beef, undefined: !0 },
            masks: [dispatched; 4],
            stacks: Default::default(),
            state,
            control: [0; 4],
            notifications: [0; 2],
            ip: 0,
            jump: None,
            pending: Vec::new(),
            in_flight: 0,
            read: 0,
            current: 0,
            held: 0,
            unread: 0,
            unread_reply: 0,
            outside,
        }
    }

    /// A general register's element. A reply that is under way to it arrives first.
    ///
    /// # Errors
    /// The thread has no such register, the element lies across its size, or nothing clears the dependency.
    pub fn general(&mut self, address: u32, ty: Type) -> Result<Raw, Fault> {
        aligned(address, ty)?;
        self.open(address / BYTES)?;
        Ok(self.element(address, ty))
    }

    /// A general register is read. A reply that is under way to it arrives first.
    ///
    /// # Errors
    /// The thread has no such register, or nothing clears its dependency.
    pub fn open(&mut self, register: u32) -> Result<(), Fault> {
        let bit = self.bit(register)?;
        if self.held & bit & !self.current != 0 {
            return Err((Rule::Held, format!("r{register} is read, and would wait for ever")));
        }
        if self.in_flight & bit != 0 {
            self.land(bit);
        }
        self.read |= bit;
        Ok(())
    }

    /// An aligned element of a register that is open.
    pub fn element(&self, address: u32, ty: Type) -> Raw {
        let cell = self.general.get((address / BYTES) as usize);
        cell.map_or(Raw::unknown(ty), |cell| cell.get(address % BYTES, ty))
    }

    /// The bit of a register that exists.
    fn bit(&self, register: u32) -> Result<u128, Fault> {
        let count = self.count();
        if register >= count {
            return Err((Rule::RegisterCount, format!("r{register} of {count} registers")));
        }
        Ok(1 << register)
    }

    /// A whole general register as it is; nothing where there is none. A reply that is under way does not arrive by it.
    pub fn cell(&self, register: u32) -> Cell {
        self.general.get(register as usize).copied().unwrap_or(Cell::UNDEFINED)
    }

    /// A whole general register as a source.
    ///
    /// # Errors
    /// As [`Registers::general`].
    pub fn whole(&mut self, register: u32) -> Result<Cell, Fault> {
        self.general(register * BYTES, Type::Ud)?;
        Ok(self.general[register as usize])
    }

    /// How many general registers there are.
    pub fn count(&self) -> u32 {
        self.general.len() as u32
    }

    /// Writes an aligned element of a register that is claimed.
    pub fn put(&mut self, address: u32, ty: Type, raw: Raw) {
        if let Some(cell) = self.general.get_mut((address / BYTES) as usize) {
            cell.set(address % BYTES, ty, raw);
        }
    }

    /// A general register is written. `waits`: the write waits for its dependency; `last`: it clears it.
    ///
    /// # Errors
    /// As [`Registers::open`]; a reply is under way and the write does not wait for it; on the 965, the register holds
    /// a reply that no instruction read.
    pub fn claim(&mut self, register: u32, waits: bool, last: bool) -> Result<(), Fault> {
        let bit = self.bit(register)?;
        if self.in_flight & bit != 0 {
            if !waits {
                return Err((
                    Rule::Overtaken,
                    format!("r{register} is written while a reply is under way to it"),
                ));
            }
            self.land(bit);
        }
        if waits && self.held & bit & !self.current != 0 {
            return Err((Rule::Held, format!("r{register} is written, and would wait for ever")));
        }
        // What reads the register itself waits for the reply (undocumented: OWN_READ).
        if self.model.is_early() && self.unread_reply & bit & !self.read != 0 {
            return Err((
                Rule::ReplyUnread,
                format!("r{register} is written and no instruction read its reply"),
            ));
        }
        if last {
            self.unread |= bit;
            self.held &= !bit;
        } else {
            self.held |= bit;
        }
        self.current |= bit;
        self.outside &= !bit;
        Ok(())
    }

    /// The replies to any of these registers arrive.
    fn land(&mut self, registers: u128) {
        let mut at = 0;
        while at < self.pending.len() {
            if self.pending[at].registers & registers == 0 {
                at += 1;
                continue;
            }
            let pending = self.pending.swap_remove(at);
            self.in_flight &= !pending.registers;
            self.outside |= pending.registers;
            if self.model.is_early() {
                self.unread_reply |= pending.registers;
            }
            let cells = self.general[pending.first..].iter_mut();
            for (cell, (register, mask)) in cells.zip(&pending.reply.registers) {
                let arrived = Cell::of(register);
                for word in (0..8).filter(|word| mask >> word & 1 == 1) {
                    cell.words[word] = arrived.words[word];
                    cell.undefined[word] = arrived.undefined[word];
                }
            }
        }
    }

    /// Sends a reply on its way to `count` registers from `first` on. `last`: its arrival clears their dependencies.
    ///
    /// # Errors
    /// A register does not exist, another reply is under way to it, or on the 965 a write to it may be.
    pub fn expect(
        &mut self,
        first: u32,
        count: u32,
        mut reply: Reply,
        last: bool,
    ) -> Result<(), Fault> {
        self.room(first, count)?;
        reply.registers.truncate(count as usize);
        let registers = span(first, count);
        self.in_flight |= registers;
        // The dependency that a message names is the reply's from here on.
        self.unread &= !registers;
        self.held = if last { self.held & !registers } else { self.held | registers };
        self.pending.push(Pending { registers, first: first as usize, reply });
        Ok(())
    }

    /// The first register to which a reply is under way.
    pub fn under_way(&self) -> Option<u32> {
        (self.in_flight != 0).then(|| self.in_flight.trailing_zeros())
    }

    /// Whether a reply may go to these registers: asked before the message is sent.
    ///
    /// # Errors
    /// As [`Registers::expect`].
    pub fn room(&self, first: u32, count: u32) -> Result<(), Fault> {
        let end = first + count;
        if end > self.count() {
            return Err((
                Rule::RegisterCount,
                format!("a reply ends at r{} of {} registers", end - 1, self.count()),
            ));
        }
        let registers = span(first, count);
        if self.in_flight & registers != 0 {
            return Err((
                Rule::RepliesOverlap,
                format!("a reply is under way to one of r{first} to r{}", end - 1),
            ));
        }
        // What the message itself reads has arrived when it is sent.
        let unread = registers & (self.unread | self.unread_reply) & !self.read;
        if self.model.is_early() && unread != 0 {
            let register = unread.trailing_zeros();
            return Err((
                Rule::SendUnread,
                format!("r{register} was written and not read before the message that writes it"),
            ));
        }
        Ok(())
    }

    /// Whether any of the registers of two rows came from outside of the EU. 11.3.10 rule 14.
    pub fn is_from_outside(&self, registers: u128) -> bool {
        self.outside & registers != 0
    }

    /// An instruction begins.
    pub fn begin(&mut self) {
        self.read = 0;
        self.current = 0;
        self.jump = None;
    }

    /// An instruction ends, whose destination was these general registers.
    pub fn end(&mut self, written: u128, switches: bool) {
        // What the instruction itself wrote is unread again.
        self.unread &= !(self.read & !written);
        self.unread_reply &= !self.read;
        if switches {
            self.unread = 0;
        }
    }

    /// The index in a0, of 12 bits. 11.3.4.4.
    ///
    /// # Errors
    /// It is undefined.
    pub fn index(&self, index: u32) -> Result<u32, Fault> {
        let raw = self.address.get(2 * index, Type::Uw);
        if raw.undefined & 0xfff != 0 {
            return Err((Rule::Undefined, format!("the index a0.{index}")));
        }
        Ok(raw.bits & 0xfff)
    }

    /// a0.0 as a descriptor.
    ///
    /// # Errors
    /// It is undefined.
    pub fn descriptor(&self) -> Result<u32, Fault> {
        let raw = self.address.get(0, Type::Ud);
        if raw.undefined != 0 {
            return Err((Rule::Undefined, "the descriptor in a0.0".into()));
        }
        Ok(raw.bits)
    }

    /// An element of an architecture register that is no accumulator.
    pub fn architecture(&self, register: u8, byte: u32, ty: Type) -> Raw {
        let word = byte / 4;
        let shift = byte % 4 * 8;
        let raw = self.word(register, word);
        Raw { bits: raw.bits >> shift & ty.ones(), undefined: raw.undefined >> shift & ty.ones() }
    }

    /// Writes an element of an architecture register that is no accumulator; where there is none nothing happens.
    ///
    /// # Errors
    /// A value that decides is undefined.
    pub fn set_architecture(
        &mut self,
        register: u8,
        byte: u32,
        ty: Type,
        raw: Raw,
    ) -> Result<(), Fault> {
        let word = byte / 4;
        let shift = byte % 4 * 8;
        let ones = ty.ones() << shift;
        let old = self.word(register, word);
        let new = Raw {
            bits: old.bits & !ones | raw.bits << shift & ones,
            undefined: old.undefined & !ones | raw.undefined << shift & ones,
        };
        self.set_word(register, word, new, ones)
    }

    /// A double word of an architecture register.
    fn word(&self, register: u8, word: u32) -> Raw {
        let at = word as usize;
        match (register & 0xf0, word) {
            (ADDRESS, 0) => {
                Raw { bits: self.address.words[0], undefined: self.address.undefined[0] }
            }
            // Twelve bits of each. 11.3.4.4.
            (ADDRESS, 1..=3) => Raw {
                bits: self.address.words[at] & 0x0fff_0fff,
                undefined: self.address.undefined[at] & 0x0fff_0fff,
            },
            (FLAG, 0) => self.flags,
            (MASK, 0 | 1) => {
                Raw::new(u32::from(self.masks[2 * at]) | u32::from(self.masks[2 * at + 1]) << 16)
            }
            (STACK, 0..=7) => {
                let counters = &self.stacks[at / 4].counters[at % 4 * 4..];
                Raw::new(
                    counters
                        .iter()
                        .take(4)
                        .rev()
                        .fold(0, |word, counter| word << 8 | u32::from(*counter)),
                )
            }
            (DEPTH, 0) => {
                Raw::new(u32::from(self.stacks[0].depth) | u32::from(self.stacks[1].depth) << 16)
            }
            (STATE, 0 | 1) => Raw::new(self.state[at]),
            (CONTROL, 0..=2) => Raw::new(self.control[at]),
            (NOTIFICATION, 0) => Raw::new(self.notifications[usize::from(register & 1)]),
            (IP, 0) => Raw::new(self.ip),
            _ => Raw::unknown(Type::Ud),
        }
    }

    /// `written`: the bits that the instruction writes.
    fn set_word(&mut self, register: u8, word: u32, raw: Raw, written: u32) -> Result<(), Fault> {
        let at = word as usize;
        let decides = matches!(register & 0xf0, MASK | STACK | DEPTH | CONTROL | NOTIFICATION | IP);
        if decides && raw.undefined & written != 0 {
            return Err((Rule::Undefined, "a control register is written with it".into()));
        }
        let flows = self.control[0] & 4 != 0;
        match (register & 0xf0, word) {
            (ADDRESS, 0..=3) => {
                self.address.words[at] = raw.bits;
                self.address.undefined[at] = raw.undefined;
            }
            (FLAG, 0) => self.flags = raw,
            (MASK, 0 | 1) => {
                self.masks[2 * at] = raw.bits as u16;
                self.masks[2 * at + 1] = (raw.bits >> 16) as u16;
            }
            // 11.3.4.8, 11.3.4.9: with a single flow both are only read.
            (STACK, 0..=7) if !flows => {
                for (byte, counter) in
                    self.stacks[at / 4].counters[at % 4 * 4..].iter_mut().take(4).enumerate()
                {
                    *counter = (raw.bits >> (8 * byte) & 15) as u8;
                }
            }
            (DEPTH, 0) if !flows => {
                self.stacks[0].depth = (raw.bits & 15) as u8;
                self.stacks[1].depth = (raw.bits >> 16 & 15) as u8;
            }
            (CONTROL, 0) => {
                // The bits that software may set without an exception. 11.3.4.11.
                let changes = (raw.bits ^ self.control[0]) & !0x0000_0107;
                if changes != 0 {
                    return Err((Rule::ControlRegister, format!("bits {changes:#x} of cr0.0")));
                }
                self.control[0] = raw.bits;
            }
            (CONTROL, 1) if raw.bits != self.control[1] => {
                return Err((Rule::ControlRegister, "exceptions in cr0.1".into()));
            }
            (CONTROL, 2) => self.control[2] = raw.bits,
            (NOTIFICATION, 0) => self.notifications[usize::from(register & 1)] = raw.bits,
            (IP, 0) => self.jump = Some(raw.bits & !15),
            // What nobody populated, and what is read alone, drops the write. 11.3.4.2.
            _ => {}
        }
        Ok(())
    }
}

/// Whether an address is a multiple of an element's size.
///
/// # Errors
/// It is not.
pub fn aligned(address: u32, ty: Type) -> Result<(), Fault> {
    if address & (ty.bytes() - 1) != 0 {
        return Err((Rule::Alignment, format!("byte {address:#x} of the registers for {ty:?}")));
    }
    Ok(())
}

/// `count` registers from `first` on as bits.
pub fn span(first: u32, count: u32) -> u128 {
    let ones = if count >= 128 { !0 } else { (1u128 << count) - 1 };
    ones.checked_shl(first).unwrap_or(0)
}
