//! What the facade asks of a back end: the one place where machines are dynamic.

pub mod r700;
pub mod valhall;
mod words;

use crate::compiler::Options;
use crate::execute::Executor;
use crate::pipeline::Pipeline;
use crate::report::Shader;
use crate::{Diagnostic, Failure, Severity, SourceText};
use gpucc_ir::driver::State;
use gpucc_ir::ssa::{Func, Numerics, Span};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The clock that back ends are lent: time since it was first asked.
fn clock() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// A machine that code is made for.
pub trait Backend: Send + Sync {
    /// What the shared passes ask.
    fn info(&self) -> &dyn gpucc_passes::TargetInfo;
    /// How floats behave.
    fn numerics(&self) -> Numerics;
    /// Makes code of structured SSA after the shared passes.
    ///
    /// # Errors
    /// [`Failure`] says whose fault it is.
    fn compile(&self, ssa: &Func, options: &Options) -> Result<Box<dyn Program>, Failure>;
}

/// One line of a program's assembly with what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingLine {
    /// Byte offset of the instruction.
    pub offset: u32,
    /// It stands outside of the clauses that the source's lines are known for: only a position at
    /// this very offset is its own.
    pub flow: bool,
    /// Text without the line end.
    pub text: String,
}

/// What every machine's program holds.
#[derive(Copy, Clone)]
pub struct Common<'a> {
    /// Machine code in memory order.
    pub code: &'a [u8],
    /// The SSA after the machine's expansions.
    pub expanded: &'a Func,
    /// Source positions by code offset, ascending.
    pub lines: &'a [(u32, Span)],
    /// What was inferred.
    pub notes: &'a [String],
    /// How long each stage of the back end took.
    pub times: &'a [(&'static str, Duration)],
    /// Text after each pass of the back end.
    pub dumps: &'a [(&'static str, String)],
    /// The pipeline state with what was inferred filled in.
    pub pipeline: &'a State,
}

/// What two machines' compiled programs call by the same names.
macro_rules! common {
    ($compiled:expr) => {
        Common {
            code: &$compiled.code,
            expanded: &$compiled.expanded,
            lines: &$compiled.lines,
            notes: &$compiled.notes,
            times: &$compiled.times,
            dumps: &$compiled.dumps,
            pipeline: &$compiled.pipeline,
        }
    };
}
use common;

/// Machine code and all that describes and runs it.
pub trait Program: Send + Sync {
    /// What every program holds.
    fn common(&self) -> Common<'_>;
    /// Machine code in memory order.
    fn code(&self) -> &[u8] {
        self.common().code
    }
    /// Programs within the code that start elsewhere than at its beginning, by name: byte ranges.
    fn parts(&self) -> Vec<(&'static str, std::ops::Range<usize>)> {
        Vec::new()
    }
    /// Vertex: the separate program that fetches attributes, where the pipeline asks for one.
    fn fetch_program(&self) -> Option<&[u8]> {
        None
    }
    /// Machine code as hexadecimal text, one word group a line.
    fn hex(&self) -> String;
    /// Machine code as text that assembles to the same bytes.
    ///
    /// # Errors
    /// Code that our own disassembler refuses: our bug.
    fn assembly(&self) -> Result<String, Failure>;
    /// The lines of [`Program::assembly`] with their places in the code.
    ///
    /// # Errors
    /// As [`Program::assembly`].
    fn listing(&self) -> Result<Vec<ListingLine>, Failure>;
    /// Machine IR as it was last.
    fn machine_ir(&self) -> &str {
        self.common().dumps.last().map_or("", |(_, text)| text)
    }
    /// The SSA after the machine's expansions: the reference for its bits.
    fn expanded(&self) -> &Func {
        self.common().expanded
    }
    /// Source positions by code offset, ascending.
    fn lines(&self) -> &[(u32, Span)] {
        self.common().lines
    }
    /// What was inferred.
    fn notes(&self) -> Vec<Diagnostic> {
        let notes = self.common().notes.iter();
        notes
            .map(|note| Diagnostic::new(Severity::Note, note.as_str()))
            .collect()
    }
    /// How long each stage of the back end took, in order.
    fn times(&self) -> &[(&'static str, Duration)] {
        self.common().times
    }
    /// Text after each pass of the back end.
    fn dumps(&self) -> Vec<(String, String)> {
        let dumps = self.common().dumps.iter();
        dumps
            .map(|(pass, text)| ((*pass).to_owned(), text.clone()))
            .collect()
    }
    /// The pipeline state with what was inferred filled in.
    fn pipeline(&self) -> Pipeline {
        Pipeline::of(self.common().pipeline.clone())
    }
    /// Fills a report's figures, places and state.
    fn describe(&self, shader: &mut Shader);
    /// The same program with other bytes for its code: for tests that break them.
    fn with_code(&self, code: Vec<u8>) -> Box<dyn Program>;
    /// A vertex program leaves its position divided by w with 1 / w in the place of w, and linear varyings times w,
    /// as the expanded SSA does.
    fn divides_positions(&self) -> bool {
        false
    }
    /// The emulated machine, set up from what [`Program::describe`] says and from nothing else; the
    /// code is decoded from its bytes.
    ///
    /// # Errors
    /// Code that does not decode: our bug.
    fn executor(&self, source: &SourceText) -> Result<Box<dyn Executor>, Failure>;
}
