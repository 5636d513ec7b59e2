//! What went wrong, whose fault it is, and how it is shown in the user's source.

use crate::source::{Language, SourceMap};
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term;
use gpucc_ir::ssa::Span;

/// How grave a message is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing comes out.
    Error,
    /// Something comes out that may not be what was meant.
    Warning,
    /// Something was inferred.
    Note,
}

/// A place in the source with what it has to do with the message; the first is the primary one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there; may be empty.
    pub text: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How grave.
    pub severity: Severity,
    /// A stable short name of the kind of message, such as `naga-validation`; may be empty.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub labels: Vec<Label>,
    /// Why, and what to do.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(code: &str, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code: code.to_owned(),
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A note without a place.
    pub fn note(code: &str, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Note,
            ..Diagnostic::error(code, message)
        }
    }

    /// Adds a place; an empty span adds nothing.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        if !span.is_none() {
            self.labels.push(Label {
                span,
                text: text.into(),
            });
        }
        self
    }

    /// Adds a remark.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// Whose fault a failure is; the command's exit codes follow from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The shader or its overrides are wrong (exit code 1).
    Invalid,
    /// Valid as far as we know, but `stage` of ours does not handle `feature` (exit code 6).
    Unsupported {
        /// What the shader uses.
        feature: String,
        /// Which part of ours lacks it.
        stage: &'static str,
        /// What a machine must have for it, where some have not.
        needs: Option<Needs>,
    },
    /// Larger than we take (exit code 4).
    Limit {
        /// What is limited.
        what: String,
        /// What the shader needs; a lower bound where counting stopped.
        needed: u64,
        /// What there is.
        available: u64,
        /// How to raise or avoid it.
        hint: &'static str,
    },
    /// Our bug (exit code 101).
    Internal,
}

/// What a machine may lack: then it, and not the front end, is why a shader does not run on it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needs {
    /// Atomic operations of any kind.
    Atomics,
    /// Task and mesh stages.
    MeshStages,
    /// Ray queries and the stages of ray tracing.
    RayTracing,
    /// Cooperative matrices.
    CooperativeMatrices,
}

/// Why a source gave no module.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", .diagnostics.first().map_or("front end failure", |first| first.message.as_str()))]
pub struct Failure {
    /// Whose fault it is.
    pub kind: FailureKind,
    /// The messages, gravest first; never empty.
    pub diagnostics: Vec<Diagnostic>,
    /// The source that spans refer to.
    pub map: Box<SourceMap>,
}

/// How [`render`] writes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Source excerpt with marks.
    Human {
        /// With ANSI colours.
        color: bool,
    },
    /// `name:line:column: severity: message`, one line a message.
    Short,
}

impl Failure {
    /// The command's exit code.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::Invalid => 1,
            FailureKind::Unsupported { .. } => 6,
            FailureKind::Limit { .. } => 4,
            FailureKind::Internal => 101,
        }
    }

    /// All messages as text.
    pub fn render(&self, style: Style) -> String {
        self.diagnostics
            .iter()
            .map(|diagnostic| render(diagnostic, &self.map, style))
            .collect()
    }
}

/// Control characters would move a terminal's cursor; each becomes one mark of the same length.
fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' | '\r' => c,
            '\0'..='\x1f' | '\x7f' => '?',
            _ => c,
        })
        .collect()
}

/// A byte range that lies within the text and on character boundaries.
fn clamp(text: &str, span: Span) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}

/// One message as text, ending in a newline.
pub fn render(diagnostic: &Diagnostic, source: &SourceMap, style: Style) -> String {
    let color = match style {
        Style::Human { color } => color,
        Style::Short => return short(diagnostic, source),
    };
    let severity = match diagnostic.severity {
        Severity::Error => codespan::Severity::Error,
        Severity::Warning => codespan::Severity::Warning,
        Severity::Note => codespan::Severity::Note,
    };
    let mut notes: Vec<String> = diagnostic.notes.iter().map(|note| harmless(note)).collect();
    let labels = if source.language == Language::SpirV {
        for label in &diagnostic.labels {
            let word = label.span.start / 4;
            notes.insert(
                0,
                format!("at word {word}{}{}", sep(&label.text), label.text),
            );
        }
        Vec::new()
    } else {
        let labels = diagnostic.labels.iter().enumerate();
        labels
            .map(|(index, label)| {
                let range = clamp(&source.text, label.span);
                let text = harmless(&label.text);
                match index {
                    0 => codespan::Label::primary((), range).with_message(text),
                    _ => codespan::Label::secondary((), range).with_message(text),
                }
            })
            .collect()
    };
    let shown = codespan::Diagnostic::new(severity)
        .with_message(harmless(&diagnostic.message))
        .with_labels(labels)
        .with_notes(notes);
    let file = SimpleFile::new(&source.name, harmless(&source.text));
    let config = term::Config::default();
    let mut out = term::termcolor::Buffer::no_color();
    if color {
        out = term::termcolor::Buffer::ansi();
    }
    match term::emit_to_write_style(&mut out, &config, &file, &shown) {
        Ok(()) => {
            let mut text = String::from_utf8_lossy(out.as_slice()).into_owned();
            if text.ends_with("\n\n") {
                text.pop();
            }
            text
        }
        Err(_) => short(diagnostic, source),
    }
}

fn sep(text: &str) -> &'static str {
    if text.is_empty() { "" } else { ": " }
}

fn short(diagnostic: &Diagnostic, source: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let place = diagnostic
        .labels
        .first()
        .and_then(|label| source.location(label.span))
        .map_or_else(String::new, |at| match source.language {
            Language::SpirV => format!("word {}:", at.line),
            Language::Wgsl | Language::Glsl => format!("{}:{}:", at.line, at.column),
        });
    let message = harmless(&diagnostic.message).replace('\n', " ");
    format!("{}:{place} {severity}: {message}\n", source.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Diagnostic, SourceMap) {
        let source = SourceMap::text("a.wgsl", Language::Wgsl, "let a = 1;\nlet b = ä;\n");
        let span = Span { start: 19, end: 21 };
        let diagnostic = Diagnostic::error("x", "no such name")
            .at(span, "here")
            .with_note("declare it");
        (diagnostic, source)
    }

    #[test]
    fn a_human_sees_the_line_with_a_mark_below_the_place() {
        let (diagnostic, source) = sample();
        let text = render(&diagnostic, &source, Style::Human { color: false });
        assert!(text.contains("error: no such name"), "{text}");
        assert!(text.contains("a.wgsl:2:9"), "{text}");
        assert!(text.contains("let b = ä;"), "{text}");
        assert!(text.contains("declare it"), "{text}");
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn colour_is_only_there_when_asked_for() {
        let (diagnostic, source) = sample();
        let text = render(&diagnostic, &source, Style::Human { color: true });
        assert!(text.contains('\x1b'));
    }

    #[test]
    fn short_style_is_one_line_with_line_and_column() {
        let (diagnostic, source) = sample();
        let text = render(&diagnostic, &source, Style::Short);
        assert_eq!(text, "a.wgsl:2:9: error: no such name\n");
    }

    #[test]
    fn spans_outside_the_text_or_within_a_character_do_not_panic() {
        let (mut diagnostic, source) = sample();
        diagnostic.labels[0].span = Span {
            start: 20,
            end: 9000,
        };
        assert!(!render(&diagnostic, &source, Style::Human { color: false }).is_empty());
        diagnostic.labels[0].span = Span {
            start: 8000,
            end: 9000,
        };
        assert!(!render(&diagnostic, &source, Style::Human { color: false }).is_empty());
    }

    #[test]
    fn control_characters_of_the_source_never_reach_the_terminal() {
        let source = SourceMap::text("a.wgsl", Language::Wgsl, "a\x1b[2Jb");
        let diagnostic = Diagnostic::error("x", "bad").at(Span { start: 0, end: 1 }, "");
        let text = render(&diagnostic, &source, Style::Human { color: false });
        assert!(!text.contains('\x1b'), "{text}");
    }
}
