//! Failures that say whose fault they are, and diagnostics that point into the user's source.

use gpucc_ir::ssa::Span;
use gpucc_machine::described::EvidenceClass;
use serde::{Deserialize, Serialize};

/// The note of an internal failure.
const OUR_BUG: &str = "this is a bug of gpucc, not of the shader";

/// Whose fault it is. Each kind has one exit code of the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The shader is wrong.
    Invalid,
    /// The command or the request is wrong.
    Usage,
    /// The shader is right, but this machine cannot do it.
    Refused {
        /// What it asks for.
        feature: String,
        /// The manual's section that shows the lack.
        manual: String,
    },
    /// The machine can do it, but it rests on more than [`crate::Options::evidence`] allows.
    Unproven {
        /// What the program does.
        feature: String,
        /// Who vouches for it.
        class: EvidenceClass,
    },
    /// A limit.
    Limit {
        /// Of what.
        what: String,
        /// Needed.
        needed: u64,
        /// Available.
        available: u64,
    },
    /// [`crate::Options::cancel`] said so.
    Cancelled,
    /// The emulated bytes and the reference differ, or a figure is worse than allowed.
    Mismatch,
    /// Right as far as we know, but not written yet.
    NotYet {
        /// What it asks for.
        feature: String,
        /// The stage of ours that lacks it.
        stage: String,
    },
    /// Our bug.
    Internal {
        /// The pass that noticed or fell.
        pass: String,
    },
}

impl FailureKind {
    /// The command's exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            FailureKind::Invalid => 1,
            FailureKind::Usage => 2,
            FailureKind::Refused { .. } | FailureKind::Unproven { .. } => 3,
            FailureKind::Limit { .. } => 4,
            FailureKind::Mismatch => 5,
            FailureKind::NotYet { .. } => 6,
            FailureKind::Cancelled => 7,
            FailureKind::Internal { .. } => 101,
        }
    }
}

/// How grave a diagnostic is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing was made.
    Error,
    /// Made, but look at this.
    Warning,
    /// Made; this was assumed.
    Note,
}

/// A place in the source with a remark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Remark, may be empty.
    pub text: String,
    /// The place that matters most, as opposed to context.
    pub primary: bool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How grave.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where.
    pub labels: Vec<Label>,
    /// What to know and what to do.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic { severity, message: message.into(), labels: Vec::new(), notes: Vec::new() }
    }
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Diagnostic::new(Severity::Error, message)
    }
    /// Points at a span, unless it is unknown.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        if !span.is_none() {
            self.labels.push(Label {
                start: span.start,
                end: span.end,
                text: text.into(),
                primary: self.labels.is_empty(),
            });
        }
        self
    }
    /// Adds what to know or to do.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.summary())]
pub struct Failure {
    /// Whose fault.
    pub kind: FailureKind,
    /// What to tell.
    pub diagnostics: Vec<Diagnostic>,
    /// For our bugs: the text of the IR when it happened, if there was any.
    pub ir: Option<String>,
}

impl Failure {
    /// A failure with one diagnostic.
    pub fn new(kind: FailureKind, diagnostic: Diagnostic) -> Self {
        Failure { kind, diagnostics: vec![diagnostic], ir: None }
    }
    /// More is needed of something than there is. `what` is its plural: the message is `too many {what}: ...`.
    pub fn limit(what: &str, needed: u64, available: u64) -> Failure {
        let message = format!("too many {what}: {needed} needed, {available} available");
        let kind = FailureKind::Limit { what: what.to_owned(), needed, available };
        Failure::new(kind, Diagnostic::error(message))
    }
    /// The user's error in the shader.
    pub fn invalid(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Invalid, Diagnostic::error(message))
    }
    /// Wrong usage, or a file that cannot be read or written.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Usage, Diagnostic::error(message))
    }
    /// The caller wants no result any more.
    pub fn cancelled() -> Self {
        Failure::new(FailureKind::Cancelled, Diagnostic::error("the caller cancelled"))
    }
    /// What was compared differs by more than it may.
    pub fn mismatch(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Mismatch, Diagnostic::error(message))
    }
    /// Valid as far as we know; ours to write.
    pub fn not_yet(feature: impl Into<String>, stage: impl Into<String>) -> Self {
        let (feature, stage) = (feature.into(), stage.into());
        let message = format!("{feature} is not supported by gpucc yet (missing in: {stage})");
        Failure::new(FailureKind::NotYet { feature, stage }, Diagnostic::error(message))
    }
    /// Our bug.
    pub fn internal(pass: impl Into<String>, message: impl std::fmt::Display) -> Self {
        let pass = pass.into();
        let diagnostic =
            Diagnostic::error(format!("internal error in {pass}: {message}")).note(OUR_BUG);
        Failure::new(FailureKind::Internal { pass }, diagnostic)
    }
    /// An internal failure as the user's error, where the user made what the run began with; others stay what they are.
    /// Places, rule and notes stay, but for the note that it is our bug.
    #[must_use]
    pub fn users_own(mut self) -> Self {
        let FailureKind::Internal { pass } = &self.kind else {
            return self;
        };
        let ours = format!("internal error in {pass}: ");
        for diagnostic in &mut self.diagnostics {
            if let Some(message) = diagnostic.message.strip_prefix(&ours) {
                diagnostic.message = format!("{pass}: {message}");
            }
            diagnostic.notes.retain(|note| note != OUR_BUG);
        }
        self.kind = FailureKind::Usage;
        self
    }
    /// Points the first diagnostic at a span.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        if let Some(first) = self.diagnostics.first_mut() {
            *first = first.clone().at(span, "");
        }
        self
    }
    /// Adds another place to the first diagnostic, with what stands there; a place that is unknown adds nothing.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        if let Some(first) = self.diagnostics.first_mut() {
            *first = first.clone().at(span, text);
        }
        self
    }
    /// Adds a note to the first diagnostic.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        if let Some(first) = self.diagnostics.first_mut() {
            first.notes.push(note.into());
        }
        self
    }
    /// The command's exit code.
    pub const fn exit_code(&self) -> u8 {
        self.kind.exit_code()
    }
    /// The first message.
    pub fn summary(&self) -> &str {
        self.diagnostics.first().map_or("failed", |diagnostic| diagnostic.message.as_str())
    }
}

impl From<gpucc_ir::budget::Exceeded> for Failure {
    fn from(exceeded: gpucc_ir::budget::Exceeded) -> Self {
        Failure::limit(exceeded.what, exceeded.needed, exceeded.available).note(exceeded.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internal_failure_of_the_user_keeps_rule_place_and_notes() {
        let span = Span { start: 3, end: 5 };
        let ours = Failure::internal("rule 7", "what happened").at(span).note("and so");
        let theirs = ours.clone().users_own();
        assert_eq!(
            (&theirs.kind, theirs.summary()),
            (&FailureKind::Usage, "rule 7: what happened")
        );
        assert_eq!(theirs.diagnostics[0].labels, ours.diagnostics[0].labels);
        assert_eq!(theirs.diagnostics[0].notes, ["and so"]);
        let other = Failure::limit("things", 2, 1);
        assert_eq!(other.clone().users_own(), other);
    }
}
