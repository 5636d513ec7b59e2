//! One run of a program's bytes on a strict emulator: its trace, and what a trap means to who asked.

use super::Stop;
use crate::SourceText;
use gpucc_emu::trap::{Law, Trap};
use gpucc_ir::ssa::Span;
use std::fmt::Write;

/// Bytes of a trace that are kept: nobody reads more, and a long run has no end of it.
const LONGEST_TRACE: usize = 256 << 20;

/// Adds to a trace, or says once that the rest is left out.
pub(super) fn record(trace: &mut String, text: std::fmt::Arguments<'_>) {
    if trace.len() < LONGEST_TRACE {
        let _ = trace.write_fmt(text);
        if trace.len() >= LONGEST_TRACE {
            trace.push_str("... the rest is left out\n");
        }
    }
}

/// A program's bytes, and how to say where in the source a run stopped.
pub struct Launcher {
    code: Vec<u8>,
    /// Source positions by code offset, ascending.
    lines: Vec<(u32, Span)>,
    source: SourceText,
    tracing: bool,
    trace: String,
}

impl Launcher {
    /// For bytes whose instructions came from `lines` of `source`.
    pub fn new(code: &[u8], lines: &[(u32, Span)], source: &SourceText) -> Launcher {
        Launcher {
            code: code.to_vec(),
            lines: lines.to_vec(),
            source: source.clone(),
            tracing: false,
            trace: String::new(),
        }
    }

    /// Runs the bytes; `run` gets them with the writer of the trace, when tracing is on.
    ///
    /// # Errors
    /// [`Stop`]: out of steps, or the rule that was broken with the source line it came from.
    pub fn run<T, R: Law>(
        &mut self,
        run: impl FnOnce(&[u8], Option<&mut dyn FnMut(&str)>) -> Result<T, Trap<R>>,
    ) -> Result<T, Stop> {
        let trace = &mut self.trace;
        let mut write = |line: &str| {
            record(trace, format_args!("{line}\n"));
        };
        let result = if self.tracing {
            run(&self.code, Some(&mut write))
        } else {
            run(&self.code, None)
        };
        result.map_err(|trap| self.stop(&trap))
    }

    fn stop<R: Law>(&self, trap: &Trap<R>) -> Stop {
        if trap.rule == R::STEPS {
            return Stop::OutOfSteps;
        }
        let at = self
            .lines
            .partition_point(|&(offset, _)| offset <= trap.offset);
        let span = at
            .checked_sub(1)
            .map_or(Span::NONE, |index| self.lines[index].1);
        let place = if span.is_none() {
            String::new()
        } else {
            format!(" (from {})", self.source.place(span.start))
        };
        Stop::Illegal {
            rule: "the emulated machine".into(),
            message: format!("{trap}{place}"),
            span,
        }
    }

    /// Text of what was executed since the last call, when tracing is on.
    pub fn take_trace(&mut self) -> String {
        std::mem::take(&mut self.trace)
    }

    /// Turns tracing on or off.
    pub fn set_trace(&mut self, on: bool) {
        self.tracing = on;
    }
}
