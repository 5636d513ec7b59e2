//! Why reading or lowering stopped: what [`crate::Failure`] is made from.

use crate::diagnostic::{Diagnostic, Failure, FailureKind, Needs};
use crate::places::Places;
use crate::source::SourceMap;
use gpucc_ir::budget::Exceeded;
use gpucc_ir::ssa::Span;

/// The stage of ours that refuses what it does not lower.
pub const LOWERING: &str = "lowering to SSA";
/// The stage of ours that reads languages.
pub const READING: &str = "naga's reader";

/// One reason to stop.
#[derive(Debug)]
pub struct Stop {
    /// Where; empty when unknown.
    pub span: Span,
    /// Whose fault, and what is said.
    what: Box<(FailureKind, Diagnostic)>,
}

impl Stop {
    /// A reason with its message.
    pub fn new(kind: FailureKind, diagnostic: Diagnostic) -> Self {
        Stop { span: Span::NONE, what: Box::new((kind, diagnostic)) }
    }

    /// The user's error.
    pub fn invalid(message: impl Into<String>) -> Self {
        Stop::new(FailureKind::Invalid, Diagnostic::error("invalid", message))
    }

    /// Valid, but `stage` of ours lacks it.
    pub fn unsupported(feature: impl Into<String>, stage: &'static str) -> Self {
        let feature = feature.into();
        let message = format!("not supported by gpucc yet: {feature} ({stage})");
        let kind = FailureKind::Unsupported { feature, stage, needs: None };
        Stop::new(kind, Diagnostic::error("unsupported", message))
    }

    /// Says what a machine must have for what is not supported.
    pub fn needing(mut self, what: Needs) -> Self {
        if let FailureKind::Unsupported { needs, .. } = &mut self.what.0 {
            *needs = Some(what);
        }
        self
    }

    /// Too large.
    pub fn limit(what: impl Into<String>, needed: u64, available: u64, hint: &'static str) -> Self {
        let what = what.into();
        let message = format!("{what}: needs {needed}, the limit is {available}");
        let kind = FailureKind::Limit { what, needed, available, hint };
        Stop::new(kind, Diagnostic::error("limit", message).with_note(hint))
    }

    /// A type of more bytes than naga counts; how many is not known.
    pub fn too_large(mut diagnostic: Diagnostic) -> Self {
        let available = i32::MAX as u64;
        let hint = "declare shorter arrays";
        let what = "bytes of one type";
        let reason = std::mem::take(&mut diagnostic.message);
        diagnostic.message =
            format!("{what}: needs more than {available}, which is the limit ({reason})");
        diagnostic.code = "limit".to_owned();
        let kind =
            FailureKind::Limit { what: what.to_owned(), needed: available + 1, available, hint };
        Stop::new(kind, diagnostic.with_note(hint))
    }

    /// More than the budget has.
    pub fn budget(exceeded: Exceeded) -> Self {
        let Exceeded { what, needed, available, hint } = exceeded;
        Stop::limit(what, needed, available, hint)
    }

    /// Our bug.
    pub fn internal(message: impl Into<String>) -> Self {
        let message = format!("internal error in the front end: {}", message.into());
        Stop::new(FailureKind::Internal, Diagnostic::error("internal", message))
    }

    /// The exit code that it means.
    #[cfg(test)]
    pub fn exit_code(&self) -> u8 {
        match self.what.0 {
            FailureKind::Invalid => 1,
            FailureKind::Unsupported { .. } => 6,
            FailureKind::Limit { .. } => 4,
            FailureKind::Internal => 101,
        }
    }

    /// Gives the place, unless there is one already.
    pub fn at(mut self, span: Span) -> Self {
        if self.span.is_none() {
            self.span = span;
        }
        self
    }

    /// Too large.
    pub fn is_limit(&self) -> bool {
        matches!(self.what.0, FailureKind::Limit { .. })
    }

    /// Adds a remark.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.what.1.notes.push(note.into());
        self
    }

    /// The same with the places that the user knows.
    pub fn mended(mut self, places: &Places) -> Self {
        self.what.1.notes.extend(places.told(self.span));
        self.span = places.original(self.span);
        places.mend(&mut self.what.1);
        self
    }

    /// The failure that the user of the crate sees.
    pub fn into_failure(self, map: &SourceMap) -> Failure {
        let (kind, mut diagnostic) = *self.what;
        if diagnostic.labels.is_empty() {
            diagnostic = diagnostic.at(self.span, "");
        }
        Failure { kind, diagnostics: vec![diagnostic], map: Box::new(map.clone()) }
    }
}
