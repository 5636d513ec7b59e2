//! The report that `--emit json` writes and that a driver reads: the contract's layout, by serde.

use serde::Serialize;
use serde_json::{Map, Value};

/// The whole report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Which layout this is.
    pub schema: Schema,
    /// Who made it.
    pub producer: String,
    /// Target name.
    pub target: &'static str,
    /// Chip name, absent for the interpreter.
    pub chip: Option<&'static str>,
    /// One per entry point.
    pub shaders: Vec<Shader>,
    /// Warnings and notes.
    pub warnings: Vec<Message>,
    /// Errors (with `--keep-going`).
    pub errors: Vec<Message>,
}

/// Name and version of the layout.
#[derive(Clone, Debug, Serialize)]
pub struct Schema {
    /// Always `gpucc-report`.
    pub name: &'static str,
    /// Counts up when a key changes its meaning.
    pub version: u32,
}

impl Schema {
    /// The layout that this crate writes.
    pub const CURRENT: Schema = Schema {
        name: "gpucc-report",
        version: 1,
    };
}

/// A diagnostic with its place in lines.
#[derive(Clone, Debug, Serialize)]
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One entry point.
#[derive(Clone, Debug, Serialize)]
pub struct Shader {
    /// Source file.
    pub source: String,
    /// Entry point.
    pub entry: String,
    /// `vertex`, `fragment` or `compute`.
    pub stage: &'static str,
    /// Machine code.
    pub code: Code,
    /// Figures that every machine has.
    pub stats: Stats,
    /// Figures of this machine.
    pub machine: Map<String, Value>,
    /// Bindings and their places.
    pub resources: Vec<Value>,
    /// Stage inputs.
    pub inputs: Vec<Value>,
    /// Stage outputs.
    pub outputs: Vec<Value>,
    /// What a driver programs.
    pub state: Map<String, Value>,
    /// What the program reads of the driver's constants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub driver_constants: Vec<Value>,
    /// Vertex: the separate program that fetches attributes, where the pipeline asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetch_program: Option<Code>,
    /// Constant tables that the program fetches: the fetch resource, its stride and its memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Value>,
    /// Compute: how a dispatch is laid out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Value>,
    /// Source positions of the code.
    pub lines: Vec<Line>,
}

/// Machine code.
#[derive(Clone, Debug, Serialize)]
pub struct Code {
    /// Length.
    pub bytes: usize,
    /// Bytes in memory order, two digits each.
    pub hex: String,
}

/// Figures that every machine has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Instructions.
    pub instructions: u64,
    /// Length of the code.
    pub code_bytes: u64,
    /// Registers of an invocation.
    pub registers: u64,
    /// Stores that the allocator made.
    pub spills: u64,
    /// Loads that the allocator made.
    pub fills: u64,
    /// Scratch of an invocation.
    pub scratch_bytes: u64,
    /// Workgroup memory.
    pub shared_bytes: u64,
    /// Loops.
    pub loops: u64,
    /// Conditional branches.
    pub branches: u64,
    /// Waves that fit, over the most that fit.
    pub occupancy: f64,
    /// Estimated clocks of a wave.
    pub cycles: f64,
    /// No schedule is faster.
    pub cycles_lower_bound: f64,
    /// What limits it.
    pub bound_unit: String,
    /// From the end of the front end to the encoded bytes.
    pub compile_microseconds: u64,
    /// Reading the source.
    pub frontend_microseconds: u64,
}

/// From this offset on the code comes from this place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
