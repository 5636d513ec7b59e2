//! Tests of the execution unit: programs in the assembler's text, and what the manual says of them.

mod agree;
mod chance;
mod chip;
mod flow;
mod foreign;
mod messages;
mod regions;
mod rules;
mod sampler;
mod values;

#[path = "../../../../tests/src/shared.rs"]
mod shared;

use super::Model;
use super::message::{Message, Register, Reply, Sender, SharedFunctions};
use super::rule::{Rule, Trap};
use super::run::Run;
use super::thread::{Start, Status, Thread};
use crate::isa::{Machine, assemble};

/// Numbers that a seed fixes (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

pub const fn machine(model: Model) -> Machine {
    match model {
        Model::I965 | Model::Gm965 => Machine::Gen4,
        Model::G45 => Machine::G45,
    }
}

/// A message that was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub descriptor: u32,
    pub enabled: u16,
    pub payload: Vec<Register>,
    pub channels: u32,
    pub second_half: bool,
    pub ends: bool,
    pub signed: bool,
}

/// Shared functions that hold a program, note messages, and answer each with what a test gives.
#[derive(Default)]
pub struct Mock {
    pub code: Vec<u8>,
    pub sent: Vec<Sent>,
    pub replies: Vec<Reply>,
}

/// Where programs begin.
pub const BASE: u32 = 0x1000;

impl SharedFunctions for Mock {
    fn send(&mut self, message: &Message<'_>) -> Result<Reply, Trap> {
        self.sent.push(Sent {
            descriptor: message.descriptor,
            enabled: message.enabled,
            payload: message.payload.to_vec(),
            channels: message.channels,
            second_half: message.second_half,
            ends: message.end_of_thread,
            signed: message.signed,
        });
        if message.response == 0 || self.replies.is_empty() {
            return Ok(Reply::default());
        }
        Ok(self.replies.remove(0))
    }

    fn fetch(&mut self, address: u32) -> Result<[u8; 16], Trap> {
        let at = address.wrapping_sub(BASE) as usize;
        match self.code.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(word) => Ok(*word),
            None => Err(Trap::new(Rule::Mapped, address.wrapping_sub(BASE), "no program there")),
        }
    }
}

/// A thread to be run.
pub struct Bench {
    pub model: Model,
    pub payload: Vec<Register>,
    pub dispatched: u16,
    pub spf: bool,
    pub alternate: bool,
    pub mock: Mock,
}

/// A thread that ended.
pub struct Ended {
    pub thread: Thread,
    pub mock: Mock,
}

/// What ends a thread in a test: a message of r0 to the thread spawner.
pub const END: &str = "send(8) 0 null<1>UW g0<8,8,1>UW 0x87100000 { align1 EOT };";

/// The bytes of a program, and of the instruction that ends it.
pub fn code(model: Model, text: &str) -> Vec<u8> {
    let text = format!("{text}\n{END}\n");
    let mut code =
        assemble(machine(model), &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    code.resize(code.len().next_multiple_of(16), 0);
    code
}

impl Bench {
    pub fn new(model: Model) -> Bench {
        // Registers of defined numbers: 32 n and up.
        let payload = (0..16).map(|n| Register::new([0; 8].map(|_| 0x100 * n))).collect();
        Bench {
            model,
            payload,
            dispatched: !0,
            spf: false,
            alternate: false,
            mock: Mock::default(),
        }
    }

    #[must_use]
    pub fn register(mut self, number: usize, words: [u32; 8]) -> Bench {
        while self.payload.len() <= number {
            self.payload.push(Register::UNDEFINED);
        }
        self.payload[number] = Register::new(words);
        self
    }

    #[must_use]
    pub fn floats(self, number: usize, values: [f32; 8]) -> Bench {
        self.register(number, values.map(f32::to_bits))
    }

    #[must_use]
    pub fn words(self, number: usize, values: [u16; 16]) -> Bench {
        let words = std::array::from_fn(|at| {
            u32::from(values[2 * at]) | u32::from(values[2 * at + 1]) << 16
        });
        self.register(number, words)
    }

    #[must_use]
    pub fn undefined(mut self, number: usize) -> Bench {
        self = self.register(number, [0; 8]);
        self.payload[number] = Register::UNDEFINED;
        self
    }

    #[must_use]
    pub fn channels(mut self, dispatched: u16) -> Bench {
        self.dispatched = dispatched;
        self
    }

    #[must_use]
    pub fn reply(mut self, registers: &[([u32; 8], u8)]) -> Bench {
        let registers =
            registers.iter().map(|(words, mask)| (Register::new(*words), *mask)).collect();
        self.mock.replies.push(Reply { registers });
        self
    }

    pub fn start(&self) -> Thread {
        Thread::start(
            self.model,
            Start {
                payload: &self.payload,
                program: BASE,
                dispatched: self.dispatched,
                single_program_flow: self.spf,
                alternate_floats: self.alternate,
                registers: 64,
                sender: Sender::default(),
            },
        )
    }

    /// Runs bytes.
    pub fn bytes(mut self, code: Vec<u8>) -> Result<Ended, Trap> {
        let mut thread = self.start();
        self.mock.code = code;
        let mut steps = 10_000;
        let mut run = Run { steps: &mut steps, trace: None };
        while thread.step(&mut self.mock, &mut run)? != Status::Done {}
        Ok(Ended { thread, mock: self.mock })
    }

    /// Runs a program to its end.
    pub fn run(self, text: &str) -> Ended {
        let code = code(self.model, text);
        self.bytes(code).unwrap_or_else(|trap| panic!("{trap}\n{text}"))
    }

    /// Runs a program that breaks a rule.
    pub fn breaks(self, text: &str) -> Rule {
        let code = code(self.model, text);
        match self.bytes(code) {
            Ok(_) => panic!("it runs\n{text}"),
            Err(trap) => trap.rule,
        }
    }
}

impl Ended {
    /// The double words of a register, all of which must be defined.
    pub fn words(&self, register: u32) -> [u32; 8] {
        let register = self.thread.general(register);
        assert_eq!(register.undefined, 0, "{register:x?}");
        register.words
    }

    pub fn floats(&self, register: u32) -> [f32; 8] {
        self.words(register).map(f32::from_bits)
    }

    pub fn halves(&self, register: u32) -> [u16; 16] {
        let words = self.words(register);
        std::array::from_fn(|at| (words[at / 2] >> (16 * (at % 2))) as u16)
    }

    /// Bytes that are undefined.
    pub fn undefined(&self, register: u32) -> u32 {
        self.thread.general(register).undefined
    }
}
