//! A finished program and all that is needed to run, to describe and to check it.

use crate::described::Described;
use crate::named::Name;
use gpucc_ir::driver::State;
use gpucc_ir::ssa::{Func, Span};
use gpucc_passes::mach::runner::Dump;
use std::ops::Range;
use std::time::Duration;

/// One program: a shader may be several, and fixed function may want programs of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name behind the entry point's; empty for the first.
    pub name: Name,
    /// Its code: bytes of [`Compiled::code`], or a binary of its own that a driver places elsewhere.
    pub code: Placed,
    /// Registers of an invocation.
    pub registers: u32,
}

/// Where a program's code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    /// These bytes of [`Compiled::code`].
    Within(Range<usize>),
    /// Alone.
    Apart(Vec<u8>),
}

/// A finished entry point.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Machine code in memory order.
    pub code: Vec<u8>,
    /// The programs in it and beside it, the one that runs first in front.
    pub programs: Vec<Program>,
    /// What a driver and tools are told: figures, places, state, constants.
    pub described: Described,
    /// The SSA after the machine's expansions: what the interpreter runs under the machine's numerics for the bits to be
    /// equal. Its inputs, outputs and resources are those that were given, by the same numbers.
    pub expanded: Func,
    /// Source position of the code from this byte offset on, ascending.
    pub lines: Vec<(u32, Span)>,
    /// What was inferred, one line each.
    pub notes: Vec<String>,
    /// The pipeline state with what was inferred filled in.
    pub pipeline: State,
    /// The machine IR after each pass over it, where the request asks for it.
    pub dumps: Vec<Dump>,
    /// How long each stage took, where a clock was lent.
    pub times: Vec<(&'static str, Duration)>,
}

impl Compiled {
    /// The binary of a program that stands apart, by its name.
    pub fn apart(&self, name: &str) -> Option<&[u8]> {
        self.programs.iter().find_map(|program| match &program.code {
            Placed::Apart(code) if program.name == name => Some(code.as_slice()),
            _ => None,
        })
    }
}
