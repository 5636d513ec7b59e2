//! The report that `--emit json` writes and that a driver reads: the contract's layout, by serde in both directions.

use crate::properties::Properties;
pub use gpucc_machine::described::{Code, Described, Stats};
use gpucc_machine::flow::Flow;
pub use gpucc_machine::flow::{Instruction, Paths, Pressure, Trip};
use gpucc_machine::named::Name;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// The whole report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Which layout this is.
    pub schema: Schema,
    /// Who made it.
    pub producer: String,
    /// Target name.
    pub target: Name,
    /// Chip name, absent for the interpreter.
    pub chip: Option<Name>,
    /// One per entry point.
    pub shaders: Vec<Shader>,
    /// Warnings and notes.
    pub warnings: Vec<Message>,
    /// Errors (with `--keep-going`).
    pub errors: Vec<Message>,
}

/// Name and version of the layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Always `gpucc-report`.
    pub name: Name,
    /// Counts up when a key changes its meaning.
    pub version: u32,
}

impl Schema {
    /// The layout that this crate writes.
    pub const CURRENT: Schema = Schema { name: Name::Borrowed("gpucc-report"), version: 1 };
}

/// A diagnostic with its place in lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// `error`, `warning` or `note`.
    pub severity: crate::Severity,
    /// Text.
    pub message: String,
    /// Source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What to know and what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One entry point. What the machine's back end says of it is [`Described`], to which this dereferences:
/// `shader.stats`, `shader.resources`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shader {
    /// Source file.
    pub source: String,
    /// Entry point.
    pub entry: String,
    /// `vertex`, `fragment` or `compute`.
    pub stage: Name,
    /// Machine code.
    pub code: Code,
    /// What it does that costs on any machine, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Properties>,
    /// Figures, places, state and constants.
    #[serde(flatten)]
    pub described: Described,
    /// Source positions of the code.
    pub lines: Vec<Line>,
    /// Live registers and ways of each program within the code, the one that runs first in front, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<ProgramFlow>,
}

impl Deref for Shader {
    type Target = Described;
    fn deref(&self) -> &Described {
        &self.described
    }
}

impl DerefMut for Shader {
    fn deref_mut(&mut self) -> &mut Described {
        &mut self.described
    }
}

/// Live registers of a program, and ways through it. They follow from its bytes alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramFlow {
    /// Its name behind the entry point's; empty for the first.
    pub program: Name,
    /// Where most registers are alive.
    pub pressure: Pressure,
    /// What ways through it cost.
    pub paths: Paths,
    /// Each instruction, or group of instructions that issue together.
    pub instructions: Vec<Instruction>,
}

impl ProgramFlow {
    /// The flow of a program of this name.
    pub fn new(program: Name, flow: Flow) -> ProgramFlow {
        let Flow { instructions, pressure, paths } = flow;
        ProgramFlow { program, pressure, paths, instructions }
    }
}

/// From this offset on the code comes from this place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Byte offset in the code.
    pub offset: u32,
    /// Source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}
