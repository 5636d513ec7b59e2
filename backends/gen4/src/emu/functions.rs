//! The shared functions, as the threads in flight reach them.

mod filter;
mod gateway;
mod math;
mod port;
mod sampler;
mod target;
mod texture;
mod urb;

pub use gateway::Delivery;
pub use target::{Pixels, test};
pub use texture::Textures;

use super::Model;
use super::memory::{Memory, Refused};
use super::message::{Message, Register, Reply, Sender, SharedFunctions, Unit};
use super::rule::{Rule, Trap};
use super::state::Bases;
use gateway::Gateway;
use gpucc_ir::ssa::Numerics;
use std::collections::{BTreeMap, BTreeSet};

/// Shared functions by their number. Table 14-15.
const MATH: u8 = 1;
const SAMPLER: u8 = 2;
const GATEWAY: u8 = 3;
const DATA_READ: u8 = 4;
const DATA_WRITE: u8 = 5;
const URB: u8 = 6;
const SPAWNER: u8 = 7;

/// Bytes that are fetched ahead of an instruction's end.
const AHEAD: usize = 128;

/// The entries that a unit has, as it names them to threads.
#[derive(Copy, Clone, Debug, Default)]
pub struct Pool {
    /// How many there are.
    pub count: u32,
    /// Units of 64 bytes of each.
    pub units: u32,
}

impl Pool {
    /// The first doubleword of a header for the entry that the unit hands out as its `number`th: the handle, which is the unit where
    /// the entry begins in its section, and the unit's own ID in the upper half. 8.4.3.1.
    pub fn handle(self, number: u32) -> u32 {
        let (own, place) = (number.wrapping_add(1), number % self.count.max(1));
        own << 16 | (place * self.units) & 0xffff
    }
}

/// An entry of the URB.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What threads call it: the handle, and the ID in the upper half.
    pub handle: u32,
    /// Rows of 32 bytes.
    pub rows: Vec<Register>,
    /// The thread said that it wrote all.
    pub complete: bool,
    /// The thread said that it is of use.
    pub used: bool,
    /// Primitive type, start and end, as the last header said (GS and CLIP).
    pub primitive: u32,
}

impl Entry {
    /// An entry of some rows that nobody wrote.
    pub fn new(handle: u32, rows: usize) -> Entry {
        let rows = vec![Register::UNDEFINED; rows];
        Entry { handle, rows, complete: false, used: false, primitive: 0 }
    }
}

/// What the machine knows of a thread in flight.
#[derive(Clone, Debug)]
pub struct Context {
    /// r0 as dispatched.
    pub header: Register,
    /// Address of its binding table, relative to Surface State Base.
    pub table: u32,
    /// Scratch: its base relative to General State Base, and bytes.
    pub scratch: (u32, u32),
    /// The alternative mode of floats.
    pub alternate: bool,
    /// Its entries of the URB.
    pub entries: Vec<Entry>,
    /// Those of its unit.
    pub pool: Pool,
    /// How many its unit had handed out when it began.
    pub handed: u32,
    /// Double words that it wrote and did not commit.
    pub uncommitted: BTreeSet<u32>,
    /// What a pixel thread was dispatched with.
    pub pixels: Option<Box<Pixels>>,
}

impl Context {
    /// A thread with a header and nothing else.
    pub fn new(header: Register) -> Context {
        Context {
            header,
            table: 0,
            scratch: (0, 0),
            alternate: false,
            entries: Vec::new(),
            pool: Pool::default(),
            handed: 0,
            uncommitted: BTreeSet::new(),
            pixels: None,
        }
    }

    /// Gives the thread one more entry of its unit, of some rows; what a header calls it.
    pub fn give(&mut self, rows: usize) -> u32 {
        let handle = self.pool.handle(self.handed.wrapping_add(self.entries.len() as u32));
        self.entries.push(Entry::new(handle, rows));
        handle
    }
}

/// The shared functions, with the memory and state that they work on.
pub struct Functions<'a> {
    pub model: Model,
    pub memory: &'a mut Memory,
    pub bases: &'a Bases,
    pub numerics: Numerics,
    /// Threads in flight, by their number.
    pub contexts: BTreeMap<u32, Context>,
    pub gateway: Gateway,
    /// What the gateway has for threads.
    pub deliveries: Vec<Delivery>,
    /// What the sampler's cache holds.
    pub textures: &'a mut Textures,
}

impl<'a> Functions<'a> {
    /// Shared functions without a thread in flight.
    pub fn new(
        model: Model,
        (memory, textures): (&'a mut Memory, &'a mut Textures),
        bases: &'a Bases,
        numerics: Numerics,
    ) -> Functions<'a> {
        Functions {
            model,
            memory,
            bases,
            numerics,
            contexts: BTreeMap::new(),
            gateway: Gateway::default(),
            deliveries: Vec::new(),
            textures,
        }
    }

    fn context(&mut self, sender: &Sender) -> Result<&mut Context, Refused> {
        let unknown = || (Rule::Header, format!("thread {} is not in flight", sender.thread));
        self.contexts.get_mut(&sender.thread).ok_or_else(unknown)
    }

    fn answer(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        if message.end_of_thread {
            self.ends(message)?;
        }
        match message.function {
            MATH => self.math(message),
            SAMPLER => self.sampler(message),
            GATEWAY => self.gateway(message),
            DATA_READ => self.port_read(message),
            DATA_WRITE => self.port_write(message),
            URB => self.urb(message),
            SPAWNER => self.spawner(message),
            other => Err((Rule::Function, format!("function {other}"))),
        }
    }

    /// What every last message must have.
    fn ends(&mut self, message: &Message<'_>) -> Result<(), Refused> {
        let right = match message.sender.unit {
            Unit::Media => message.function == SPAWNER,
            Unit::Pixel => message.function == DATA_WRITE,
            _ => message.function == URB,
        };
        if !right {
            let what = format!("{:?} ends with function {}", message.sender.unit, message.function);
            return Err((Rule::EndUnit, what));
        }
        // Bits 7:0 are the thread's number among those of its unit.
        self.header_word(message, 5, 0xff)
    }

    /// Holds that a word of the header is that of r0 as far as a mask goes.
    fn header_word(
        &mut self,
        message: &Message<'_>,
        word: usize,
        mask: u32,
    ) -> Result<(), Refused> {
        let header = defined(message.payload, 0, word)?;
        let own = self.context(message.sender)?.header.words[word];
        if (header ^ own) & mask != 0 {
            let what = format!("word {word} of the header is {header:#x}, of r0 {own:#x}");
            return Err((Rule::Header, what));
        }
        Ok(())
    }

    /// The end of a media thread. isa/gen4-pipeline.md 5.7.
    fn spawner(&mut self, message: &Message<'_>) -> Result<Reply, Refused> {
        let bits = message.descriptor & 0xffff;
        let refused = |what: String| Err((Rule::Spawner, what));
        if message.sender.unit != Unit::Media || !message.end_of_thread {
            return refused("the thread spawner ends media threads".into());
        }
        // Bit 4 keeps the URB handle, which fixed functions own in modes other than the generic one.
        if message.payload.len() != 1 || bits != 0 {
            return refused(format!(
                "descriptor {bits:#06x} of {} registers",
                message.payload.len()
            ));
        }
        self.header_word(message, 0, 0xffff)?;
        Ok(Reply::default())
    }

    /// The alternative mode and errors, as extended math has them.
    fn alternate(&mut self, message: &Message<'_>) -> Result<bool, Refused> {
        Ok(self.context(message.sender)?.alternate)
    }
}

/// A double word of the payload that must be defined.
fn defined(payload: &[Register], register: usize, word: usize) -> Result<u32, Refused> {
    let Some(found) = payload.get(register) else {
        return Err((Rule::Header, format!("register {register} of a payload is missing")));
    };
    if found.undefined >> (4 * word) & 15 != 0 {
        let what = format!("word {word} of register {register} of a payload");
        return Err((Rule::Undefined, what));
    }
    Ok(found.words[word])
}

impl SharedFunctions for Functions<'_> {
    fn send(&mut self, message: &Message<'_>) -> Result<Reply, Trap> {
        self.answer(message).map_err(|(rule, detail)| {
            Trap::new(rule, message.offset, detail).at_lane(message.sender.thread)
        })
    }

    fn fetch(&mut self, address: u32) -> Result<[u8; 16], Trap> {
        let at = self.bases.general.wrapping_add(address);
        let trap = |(rule, detail): Refused| Trap::new(rule, address, detail);
        self.memory.instruction(at, AHEAD).map_err(trap)
    }
}
