//! What passes between a thread and a shared function: registers, messages and replies.

use super::rule::Trap;

/// A register of 256 bits as eight double words. A bit of `undefined` stands for a byte (bit 4i is the lowest
/// byte of double word i) that nobody wrote.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The double words.
    pub words: [u32; 8],
    /// By byte, set where the value is undefined.
    pub undefined: u32,
}

impl Register {
    /// A register that nobody wrote.
    pub const UNDEFINED: Register = Register { words: [0xdead_beef; 8], undefined: !0 };

    /// A register whose double words are defined.
    pub const fn new(words: [u32; 8]) -> Register {
        Register { words, undefined: 0 }
    }
}

/// A message as the shared function sees it: what SEND put on the bus.
#[derive(Debug)]
pub struct Message<'a> {
    /// Shared function: bits 27:24 of the descriptor's double word (0 null, 1 math, 2 sampler, 3 gateway,
    /// 4 data port read, 5 data port write, 6 URB, 7 thread spawner).
    pub function: u8,
    /// The whole descriptor double word, or what a register gave for it.
    pub descriptor: u32,
    /// The thread ends with it.
    pub end_of_thread: bool,
    /// Channels of the instruction: 1 to 16.
    pub channels: u32,
    /// The half of a compressed pair that the instruction names as the second.
    pub second_half: bool,
    /// The channels that are enabled, from bit 0.
    pub enabled: u16,
    /// The saturate bit, which extended math obeys.
    pub saturate: bool,
    /// The types of the source and destination are signed integers: extended math's INT DIV reads them.
    pub signed: bool,
    /// The registers of the payload, in order: as many as the descriptor's message length says.
    pub payload: &'a [Register],
    /// The registers of the reply that the descriptor's response length names.
    pub response: u32,
    /// r0 as the thread got it, for what a unit knows of its sender (FFTID, scratch size).
    pub sender: &'a Sender,
    /// Byte offset of the SEND within the program, for traps.
    pub offset: u32,
}

/// What a unit knows of the thread that it started.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// The unit that dispatched the thread.
    pub unit: Unit,
    /// Index of the thread among those in flight.
    pub thread: u32,
    /// The mask of channels at dispatch.
    pub dispatched: u16,
}

/// The units that dispatch threads.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// The media pipeline's root thread.
    #[default]
    Media,
    /// Vertex shader.
    Vertex,
    /// Geometry shader.
    Geometry,
    /// Clipper.
    Clip,
    /// Strips and fans: setup.
    Setup,
    /// Windower: pixels.
    Pixel,
}

/// What a shared function answers: register by register, the double words that it writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Registers and, by double word, whether it is written. No more than the message's `response`.
    pub registers: Vec<(Register, u8)>,
}

/// The shared functions, as a thread reaches them.
pub trait SharedFunctions {
    /// Takes a message and gives the reply. It acts on memory at once; when the reply lands in registers is the
    /// thread's matter.
    ///
    /// # Errors
    /// The rule that the message breaks.
    fn send(&mut self, message: &Message<'_>) -> Result<Reply, Trap>;

    /// The 16 bytes of an instruction word at an address (General State Base is added).
    ///
    /// # Errors
    /// Nothing is mapped there.
    fn fetch(&mut self, address: u32) -> Result<[u8; 16], Trap>;
}
