//! What went wrong, whose fault it is, and how it is shown in the user's source.

use crate::source::{Language, SourceMap};
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
        Diagnostic { severity: Severity::Note, ..Diagnostic::error(code, message) }
    }

    /// Adds a place; an empty span adds nothing.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        if !span.is_none() {
            self.labels.push(Label { span, text: text.into() });
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
    /// The stage of geometry.
    Geometry,
    /// The stages of tessellation.
    Tessellation,
    /// Task and mesh stages.
    MeshStages,
    /// Ray queries and the stages of ray tracing.
    RayTracing,
    /// Cooperative matrices.
    CooperativeMatrices,
    /// Texels that say whether memory stands behind them.
    Residency,
    /// Sections of a fragment shader in the order of primitives.
    Interlock,
    /// A shading rate that shaders see or choose.
    ShadingRate,
    /// A viewport that shaders see or choose.
    Viewports,
    /// What the corners of a primitive say: their values, and where a fragment lies between them.
    Corners,
    /// Whether a primitive covers a pixel wholly.
    WholePixels,
    /// Storage textures whose texels have several samples, and that are written.
    StoredSamples,
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

    /// All messages as text without excerpts of the source: see [`render`].
    pub fn render(&self) -> String {
        self.diagnostics.iter().map(|diagnostic| render(diagnostic, &self.map)).collect()
    }
}

/// Control characters would move a terminal's cursor; each becomes one mark.
fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' | '\r' => c,
            '\0'..='\x1f' | '\x7f' => '?',
            _ => c,
        })
        .collect()
}

/// One message as text: `name:line:column: severity: message` (`word N` for SPIR-V), then a line for each note.
pub fn render(diagnostic: &Diagnostic, source: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let label = diagnostic.labels.first();
    let place =
        label.and_then(|label| source.location(label.span)).map_or_else(String::new, |at| {
            match source.language {
                Language::SpirV => format!("word {}:", at.line),
                Language::Wgsl | Language::Glsl => format!("{}:{}:", at.line, at.column),
            }
        });
    let line = |text: &str| harmless(text).replace('\n', " ");
    let message = line(&diagnostic.message);
    let mut out = format!("{}:{place} {severity}: {message}\n", source.name);
    for note in &diagnostic.notes {
        out += &format!("  = {}\n", line(note));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Diagnostic, SourceMap) {
        let source = SourceMap::text("a.wgsl", Language::Wgsl, "let a = 1;\nlet b = ä;\n");
        let span = Span { start: 19, end: 21 };
        let diagnostic =
            Diagnostic::error("x", "no such name").at(span, "here").with_note("declare it");
        (diagnostic, source)
    }

    #[test]
    fn a_message_has_line_and_column_and_its_notes_below() {
        let (diagnostic, source) = sample();
        let text = render(&diagnostic, &source);
        assert_eq!(text, "a.wgsl:2:9: error: no such name\n  = declare it\n");
    }

    #[test]
    fn spans_outside_the_text_or_within_a_character_do_not_panic() {
        let (mut diagnostic, source) = sample();
        for start in [20, 8000] {
            diagnostic.labels[0].span = Span { start, end: 9000 };
            assert!(!render(&diagnostic, &source).is_empty());
        }
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let source = SourceMap::text("a.wgsl", Language::Wgsl, "a");
        let diagnostic = Diagnostic::error("x", "bad \x1b[2J").at(Span { start: 0, end: 1 }, "");
        let text = render(&diagnostic, &source);
        assert!(!text.contains('\x1b'), "{text}");
    }
}
