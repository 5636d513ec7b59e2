//! A program of hexadecimal groups, run by one task or several.

use crate::emu::Stage;
use crate::emu::core::Core;
use crate::emu::machine::{Machine, Run};
use crate::emu::memory::Memory;
use crate::emu::register::{Common, each};
use crate::emu::rule::{Rule, Trap};
use crate::emu::task::{Sizes, Task};
use gpucc_ir::ssa::Numerics;
use gpucc_ir::ssa::numerics::{Denormals, Rounding};

/// Where code lies.
pub const CODE: u64 = 0x10_0000;
/// Where data lie, and how many bytes.
pub const DATA: u64 = 0x20_0000;
pub const DATA_LEN: usize = 0x1000;
/// The end of every program.
pub const END: &str = "04 80 ee 00 f2 ff ff ff";
/// A wait for the first data fence.
pub const WAIT: &str = "02 80 6a ff";

/// The model of a core.
pub fn numerics(core: &Core) -> Numerics {
    Numerics {
        name: "rogue",
        rounding: if core.rounds_even { Rounding::NearestEven } else { Rounding::TowardZero },
        f32_denormals: Denormals::FLUSH,
        ..Numerics::REFERENCE
    }
}

/// What is run.
pub struct Bench {
    pub core: Core,
    pub tasks: Vec<Task>,
    pub memory: Memory,
    pub shared: Common,
    pub coefficients: Vec<Common>,
    pub seed: u64,
    pub steps: u64,
    pub sizes: Sizes,
    pub unrestricted: bool,
    pub trace: Vec<String>,
}

impl Bench {
    /// One task whose instances are valid, with 32 temporaries and 16 vertex inputs that nobody has written.
    pub fn new(stage: Stage) -> Bench {
        let sizes = Sizes { temps: 32, inputs: 16 };
        let mut memory = Memory::default();
        memory.map(DATA, DATA_LEN).expect("maps");
        Bench {
            core: Core::BXS_4_64,
            tasks: vec![Task::new(stage, 0, sizes, u32::MAX, 32)],
            memory,
            shared: Common::new("sh", 32),
            coefficients: vec![Common::new("cf", 64)],
            seed: 1,
            steps: 10_000,
            sizes,
            unrestricted: false,
            trace: Vec::new(),
        }
    }

    /// Gives a temporary of the first task a value in each instance.
    pub fn temp(mut self, index: usize, value: impl Fn(usize) -> u32) -> Bench {
        for lane in 0..32 {
            self.tasks[0].temps.set(index, lane, value(lane));
        }
        self
    }

    /// Gives a shared register a value.
    pub fn share(mut self, index: usize, value: u32) -> Bench {
        self.shared.set(index, value);
        self
    }

    /// An address of data in two temporaries, by instance.
    pub fn pointer(self, index: usize, at: impl Fn(usize) -> u32) -> Bench {
        self.temp(index, move |lane| DATA as u32 + at(lane)).temp(index + 1, |_| 0)
    }

    /// Runs groups, with an end behind them that is padded as it must.
    pub fn run(&mut self, groups: &[&str]) -> Result<(), Trap> {
        let mut code: Vec<u8> = groups.iter().flat_map(|group| super::bytes(group)).collect();
        align(&mut code);
        code.extend(super::bytes(END));
        self.bytes(&code)
    }

    /// Runs a program's bytes.
    pub fn bytes(&mut self, code: &[u8]) -> Result<(), Trap> {
        self.memory.map(CODE, code.len().max(1) + 64).expect("maps");
        self.memory.write(CODE, code).expect("is mapped");
        let numerics = numerics(&self.core);
        let core = self.core;
        let mut machine = Machine::new(&core, numerics, &mut self.memory, CODE, self.seed);
        machine.shared = std::mem::take(&mut self.shared);
        machine.coefficients = std::mem::take(&mut self.coefficients);
        machine.unrestricted = self.unrestricted;
        let mut steps = self.steps;
        let trace = &mut self.trace;
        let mut line = |text: &str| trace.push(text.to_string());
        let mut run = Run { steps: &mut steps, trace: Some(&mut line) };
        let result = machine.run(&mut self.tasks, &mut run);
        self.shared = std::mem::take(&mut machine.shared);
        self.coefficients = std::mem::take(&mut machine.coefficients);
        result
    }

    /// The rule that a run breaks.
    pub fn rule(&mut self, groups: &[&str]) -> Option<Rule> {
        self.run(groups).err().map(|trap| trap.rule)
    }

    /// A temporary of the first task in every instance.
    pub fn result(&self, index: usize) -> [u32; 32] {
        let task = &self.tasks[0];
        let mut words = [0; 32];
        for lane in each(task.valid) {
            words[lane] = task.temps.peek(index, lane).expect("was written");
        }
        words
    }

    /// A word of data.
    pub fn word(&self, at: u64) -> u32 {
        self.memory.word(DATA + at).expect("is mapped")
    }
}

/// Lengthens the last group so that the next one begins at a multiple of eight.
fn align(code: &mut Vec<u8>) {
    let missing = (8 - code.len() % 8) % 8;
    if missing == 0 {
        return;
    }
    // A mask operation of no adjustment would do as well: a nop of its own is the simplest.
    let words = missing / 2;
    let nop: &[u8] = match words {
        1 => return align_by_two(code),
        2 => &[0x02, 0x80, 0x6e, 0x00],
        _ => &[0x03, 0x80, 0x6e, 0x00, 0xf1, 0xff],
    };
    code.extend(nop);
}

/// Five words behind a multiple of eight less two.
fn align_by_two(code: &mut Vec<u8>) {
    code.extend([0x05, 0x80, 0x6e, 0x00, 0xf3, 0xff, 0xff, 0xff, 0xff, 0xff]);
}
