//! How a call ended: status, numbers and diagnostics, as structures that live as long as their handle.

use crate::abi::gpucc_text;
use crate::callback::Log;
use crate::status::status;
use gpucc::{Diagnostic, Failure, FailureKind, Severity, SourceText};
use std::any::Any;

/// A place that a message is about.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_label {
    /// sizeof(gpucc_label).
    pub struct_size: u32,
    /// 1: the place that matters most; 0: context.
    pub is_primary: u32,
    /// Line from 1; 0 where the source has no lines.
    pub line: u32,
    /// Column in characters, from 1; of SPIR-V the number of the word.
    pub column: u32,
    /// First byte.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// A remark; may be empty.
    pub text: gpucc_text,
}

/// A message. Line, column, start and end are those of its first label.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_diagnostic {
    /// sizeof(gpucc_diagnostic).
    pub struct_size: u32,
    /// A gpucc_severity.
    pub severity: u32,
    /// What is wrong or assumed.
    pub message: gpucc_text,
    /// Line from 1; 0 where there is no place, or the source has no lines.
    pub line: u32,
    /// Column in characters, from 1; of SPIR-V the number of the word.
    pub column: u32,
    /// First byte of the place.
    pub start: u32,
    /// One past its last byte; equal to `start` where there is no place.
    pub end: u32,
    /// What to know and what to do.
    pub notes: *const gpucc_text,
    /// How many.
    pub note_count: usize,
    /// All places that it is about, the first of them in front.
    pub labels: *const *const gpucc_label,
    /// How many.
    pub label_count: usize,
}

/// How a call ended.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_outcome {
    /// sizeof(gpucc_outcome).
    pub struct_size: u32,
    /// A gpucc_status.
    pub status: u32,
    /// GPUCC_LIMIT: how many are needed.
    pub needed: u64,
    /// GPUCC_LIMIT: how many there are.
    pub available: u64,
    /// GPUCC_LIMIT: of what. GPUCC_REFUSED, GPUCC_NOT_YET: the feature. GPUCC_INTERNAL: the pass.
    pub subject: gpucc_text,
    /// GPUCC_REFUSED: the manual's section. GPUCC_NOT_YET: the stage that lacks it. GPUCC_INTERNAL: the program when it
    /// happened, as text.
    pub reason: gpucc_text,
    /// Errors, warnings and notes.
    pub diagnostics: *const *const gpucc_diagnostic,
    /// How many.
    pub diagnostic_count: usize,
}

/// What structures of a handle point to. Nothing that it has is moved or changed.
#[derive(Default)]
pub(crate) struct Arena(Vec<Box<dyn Any + Send + Sync>>);

/// Structures of the interface: numbers, and pointers into an [`Arena`] or into what was made, which live as long.
#[derive(Copy, Clone, Debug)]
#[repr(transparent)]
pub(crate) struct Fixed<T: Structure>(pub T);

/// What an [`Arena`] keeps.
///
/// # Safety
/// It has numbers and pointers alone. What these lead to is only read, by any thread, as long as the structure is there: it
/// has nothing that is changed through a shared reference, such as a `Cell`.
pub(crate) unsafe trait Structure: Copy {}

// SAFETY: a number.
unsafe impl Structure for u8 {}
// SAFETY: a number.
unsafe impl Structure for u32 {}
// SAFETY: it leads to what is such a structure itself.
unsafe impl<T: Structure> Structure for *const T {}

// SAFETY: a structure owns nothing, and what its pointers lead to is only read.
unsafe impl<T: Structure> Send for Fixed<T> {}
// SAFETY: the same.
unsafe impl<T: Structure> Sync for Fixed<T> {}

impl Arena {
    /// Keeps items; null where there are none.
    pub(crate) fn items<T: Structure + 'static>(&mut self, items: Vec<T>) -> *const T {
        if items.is_empty() {
            return std::ptr::null();
        }
        // A vector may be moved behind its pointer's making; a box may not, for its pointer is a unique one.
        let items: Vec<Fixed<T>> = items.into_iter().map(Fixed).collect();
        let at = items.as_ptr();
        self.0.push(Box::new(items));
        at.cast()
    }

    /// Keeps items of a structure that may grow: an array of pointers to them.
    pub(crate) fn list<T: Structure + 'static>(
        &mut self,
        items: Vec<T>,
    ) -> (*const *const T, usize) {
        let count = items.len();
        let first = self.items(items);
        // Within the array of `count` items.
        let pointers = (0..count).map(|index| first.wrapping_add(index)).collect();
        (self.items(pointers), count)
    }

    /// Keeps a text with a zero byte behind it. Zero bytes within it become U+FFFD.
    pub(crate) fn text(&mut self, text: &str) -> gpucc_text {
        let mut bytes = text.replace('\0', "\u{fffd}").into_bytes();
        let size = bytes.len();
        bytes.push(0);
        gpucc_text { data: self.items(bytes).cast(), size }
    }
}

/// The number of a severity.
pub(crate) fn severity(severity: Severity) -> u32 {
    match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    }
}

/// An outcome and what it points to.
pub(crate) struct Outcome {
    _arena: Arena,
    outcome: Fixed<gpucc_outcome>,
}

impl Outcome {
    /// How a call ended, and what is to be told of it.
    pub(crate) fn new(
        failure: Option<&Failure>,
        others: &[Diagnostic],
        source: Option<&SourceText>,
        log: &Log,
    ) -> Outcome {
        let mut arena = Arena::default();
        let failed = failure.map_or(&[][..], |failure| &failure.diagnostics);
        let all = failed.iter().chain(others);
        let made = all.map(|diagnostic| {
            log.tell(severity(diagnostic.severity), &diagnostic.message);
            self::diagnostic(&mut arena, diagnostic, source)
        });
        let made = made.collect();
        let (diagnostics, diagnostic_count) = arena.list(made);
        let mut outcome = gpucc_outcome {
            struct_size: size_of::<gpucc_outcome>() as u32,
            status: status(failure) as u32,
            needed: 0,
            available: 0,
            subject: arena.text(""),
            reason: arena.text(""),
            diagnostics,
            diagnostic_count,
        };
        if let Some(failure) = failure {
            match &failure.kind {
                FailureKind::Refused { feature, manual } => {
                    (outcome.subject, outcome.reason) = (arena.text(feature), arena.text(manual));
                }
                FailureKind::Unproven { feature, class } => {
                    outcome.subject = arena.text(feature);
                    outcome.reason = arena.text(class.words());
                }
                FailureKind::Limit { what, needed, available } => {
                    outcome.subject = arena.text(what);
                    (outcome.needed, outcome.available) = (*needed, *available);
                }
                FailureKind::NotYet { feature, stage } => {
                    (outcome.subject, outcome.reason) = (arena.text(feature), arena.text(stage));
                }
                FailureKind::Internal { pass } => {
                    outcome.subject = arena.text(pass);
                    outcome.reason = arena.text(failure.ir.as_deref().unwrap_or_default());
                }
                _ => {}
            }
        }
        Outcome { _arena: arena, outcome: Fixed(outcome) }
    }

    /// The structure. It lives as long as this does.
    pub(crate) fn get(&self) -> &gpucc_outcome {
        &self.outcome.0
    }
}

fn diagnostic(
    arena: &mut Arena,
    diagnostic: &Diagnostic,
    source: Option<&SourceText>,
) -> gpucc_diagnostic {
    let label = diagnostic.labels.first();
    let (line, column) = match (label, source) {
        (Some(label), Some(source)) => source.position(label.start),
        _ => (0, 0),
    };
    let labels = diagnostic.labels.iter().map(|label| {
        let (line, column) = source.map_or((0, 0), |source| source.position(label.start));
        gpucc_label {
            struct_size: size_of::<gpucc_label>() as u32,
            is_primary: label.primary.into(),
            line,
            column,
            start: label.start,
            end: label.end,
            text: arena.text(&label.text),
        }
    });
    let labels: Vec<gpucc_label> = labels.collect();
    let (labels, label_count) = arena.list(labels);
    let notes: Vec<gpucc_text> = diagnostic.notes.iter().map(|note| arena.text(note)).collect();
    gpucc_diagnostic {
        struct_size: size_of::<gpucc_diagnostic>() as u32,
        severity: severity(diagnostic.severity),
        message: arena.text(&diagnostic.message),
        line,
        column,
        start: label.map_or(0, |label| label.start),
        end: label.map_or(0, |label| label.end),
        note_count: notes.len(),
        notes: arena.items(notes),
        labels,
        label_count,
    }
}
