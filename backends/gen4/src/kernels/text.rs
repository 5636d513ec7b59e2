//! Text of the machine with labels: programs of fixed function are written as their assembly.

use crate::isa::{self, Machine};
use gpucc_ir::driver::Failure;

/// A line, or a jump whose distance is not known yet.
enum Line {
    Whole(String),
    Jump { predicate: &'static str, label: usize },
}

/// A program.
#[derive(Default)]
pub struct Text {
    lines: Vec<Line>,
    /// Where each label stands, once it does.
    labels: Vec<usize>,
    /// One past the highest register.
    registers: u32,
}

/// A place in a program.
#[derive(Copy, Clone)]
pub struct Label(usize);

impl Text {
    /// Adds an instruction that no channel mask holds back.
    pub fn add(&mut self, text: impl std::fmt::Display) {
        self.lines.push(Line::Whole(format!("{text} {{ align1 nomask }};")));
    }

    /// Adds a message that ends the thread.
    pub fn end(&mut self, text: impl std::fmt::Display) {
        self.lines.push(Line::Whole(format!("{text} {{ align1 nomask EOT }};")));
    }

    /// A label that stands nowhere yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(0);
        Label(self.labels.len() - 1)
    }

    /// A label stands before what is added next.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = self.lines.len();
    }

    /// A label before what is added next.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    /// Jumps, where a predicate such as `(+f0.0) ` holds.
    pub fn jump(&mut self, predicate: &'static str, label: Label) {
        self.lines.push(Line::Jump { predicate, label: label.0 });
    }

    /// The program has registers below this one.
    pub fn uses(&mut self, registers: usize) {
        self.registers = self.registers.max(registers as u32);
    }

    /// How many registers it has.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// The words: distances of jumps are counted from the instruction behind. isa/gen4.md 0.12.
    ///
    /// # Errors
    /// [`Failure::Internal`] for text that is none.
    pub fn assembled(&self, machine: Machine) -> Result<Vec<u8>, Failure> {
        let mut text = String::new();
        for (at, line) in self.lines.iter().enumerate() {
            match line {
                Line::Whole(line) => text.push_str(line),
                Line::Jump { predicate, label } => {
                    let distance = self.labels[*label] as i64 - at as i64 - 1;
                    text.push_str(&format!("{predicate}jmpi(1) {distance}D {{ align1 nomask }};"));
                }
            }
            text.push('\n');
        }
        isa::assemble(machine, &text).map_err(|error| Failure::Internal {
            pass: "kernels",
            message: format!("line {}: {}", error.line, error.message),
        })
    }
}
