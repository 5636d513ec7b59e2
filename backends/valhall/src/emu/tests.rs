//! Programs of a few instructions, in the assembler's text, and what the manual says of them.

mod agree;
mod compute;
mod fau;
mod flow;
mod fragment;
mod memory;
mod messages;
mod registers;
mod rows;
mod values;

use super::program::Program;
use super::rule::{Rule, Trap};
use super::state::{Stage, State};
use super::value::{Dice, Mask, Word};
use super::warp::{Env, Warp};
use crate::isa;

/// The bytes of a program, one instruction a line.
pub fn assemble(text: &str) -> Vec<u8> {
    let mut code = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let word = isa::assemble_line(line).unwrap_or_else(|e| panic!("{line}: {e:?}"));
        code.extend(word.to_le_bytes());
    }
    code
}

/// A warp and what it runs in.
pub struct Bench {
    pub stage: Stage,
    pub state: State,
    pub lanes: Mask,
    pub registers: Vec<(u8, Word)>,
    pub fragment: Option<super::fragment::Fragment>,
}

impl Bench {
    pub fn new() -> Bench {
        Bench {
            stage: Stage::Compute,
            state: State::new(Stage::Compute),
            lanes: 0xFFFF,
            registers: Vec::new(),
            fragment: None,
        }
    }

    /// The same value in a register of each lane.
    #[must_use]
    pub fn reg(self, reg: u8, value: u32) -> Bench {
        self.word(reg, Word::splat(value))
    }

    /// A float in a register of each lane.
    #[must_use]
    pub fn float(self, reg: u8, value: f32) -> Bench {
        self.reg(reg, value.to_bits())
    }

    /// A register.
    #[must_use]
    pub fn word(mut self, reg: u8, word: Word) -> Bench {
        self.registers.push((reg, word));
        self
    }

    /// The lane numbers in a register.
    #[must_use]
    pub fn lane_numbers(self, reg: u8) -> Bench {
        self.word(reg, Word::from_fn(|lane| lane as u32))
    }

    /// Uniform words.
    #[must_use]
    pub fn uniforms(mut self, words: &[u32]) -> Bench {
        self.state.fau = words.to_vec();
        self
    }

    /// Runs to the end.
    pub fn run(&mut self, text: &str) -> Result<Warp, Trap> {
        self.state.stage = self.stage;
        let code = assemble(text);
        let program = Program::load(&code, 0, self.stage, self.state.work_registers)?;
        let mut warp = Warp::new(0, self.lanes, 0, self.state.thread_bytes);
        for (reg, word) in &self.registers {
            warp.preload(*reg, *word);
        }
        warp.fragment = self.fragment.clone().map(Box::new);
        let dice = Dice::new(self.state.seed);
        let mut env =
            Env { program: &program, state: &mut self.state, dice, steps: 0, trace: None };
        while warp.run(&mut env, u32::MAX)? != super::warp::Status::Ended {}
        Ok(warp)
    }

    /// What a register holds in lane 0 at the end.
    pub fn result(&mut self, text: &str, reg: u8) -> u32 {
        let warp = self.run(text).unwrap_or_else(|trap| panic!("{text}: {trap}"));
        let register = &warp.regs[usize::from(reg)];
        assert_eq!(register.word.any() & 1, 0, "{text}: r{reg} is undefined");
        register.word.v[0]
    }

    /// The rule that the program breaks.
    pub fn refused(&mut self, text: &str) -> Rule {
        match self.run(text) {
            Ok(_) => panic!("{text}: was not refused"),
            Err(trap) => trap.rule,
        }
    }
}

/// Refuses the same with every seed.
pub fn refused(bench: impl Fn() -> Bench, text: &str) -> Rule {
    let rules: Vec<Rule> = (0..8)
        .map(|seed| {
            let mut bench = bench();
            bench.state.seed = seed;
            bench.refused(text)
        })
        .collect();
    assert!(rules.iter().all(|&rule| rule == rules[0]), "{rules:?}");
    rules[0]
}
