//! How messages reach the user: in the user's own source, short, or as JSON.

use super::args::{Form, MessageArgs, When};
use super::files::write_stderr;
use super::names::printable;
use codespan_reporting::diagnostic as codespan;
use codespan_reporting::files::{Files, SimpleFile};
use codespan_reporting::term::{self, termcolor};
use gpucc::{Diagnostic, Failure, Severity, SourceText};
use std::io::IsTerminal;

/// Lines longer than this are not shown, only named.
const LONGEST_SHOWN_LINE: usize = 500;

/// Where messages go and how they look.
#[derive(Clone, Debug)]
pub struct Console {
    form: Form,
    color: bool,
    source: Option<SourceText>,
}

impl Console {
    /// By the message arguments and the terminal.
    pub fn new(args: &MessageArgs) -> Console {
        let color = match args.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
                    && std::io::stderr().is_terminal()
            }
        };
        Console { form: args.diagnostics, color, source: None }
    }

    /// For messages before the arguments are known.
    pub fn plain(form: Form) -> Console {
        Console { form, color: false, source: None }
    }

    /// Messages point into this source from now on.
    pub fn set_source(&mut self, source: SourceText) {
        self.source = Some(source);
    }

    /// Shows a failure.
    pub fn failure(&self, failure: &Failure) {
        let code = failure.exit_code();
        for diagnostic in &failure.diagnostics {
            self.show(diagnostic, Some(code));
        }
    }

    /// Shows one message.
    pub fn show(&self, diagnostic: &Diagnostic, exit: Option<u8>) {
        write_stderr(&self.render(diagnostic, exit));
    }

    /// A message as text.
    pub fn render(&self, diagnostic: &Diagnostic, exit: Option<u8>) -> String {
        if self.form == Form::Json {
            return self.json(diagnostic, exit);
        }
        let (name, text) = match &self.source {
            Some(source) => (printable(&source.name), source.text.as_deref()),
            None => (String::new(), None),
        };
        let name = name.as_str();
        let Some(text) = text else {
            return self.without_text(diagnostic, name);
        };
        // Control characters of the source would move the terminal's cursor.
        let harmless: String = text
            .chars()
            .map(|c| match c {
                '\n' | '\t' | '\r' => c,
                '\0'..='\x1f' | '\x7f' => '?',
                _ => c,
            })
            .collect();
        let file = SimpleFile::new(name, harmless.as_str());
        let labels: Vec<codespan::Label<()>> = diagnostic
            .labels
            .iter()
            .map(|label| {
                let start = floor_boundary(text, label.start as usize);
                let end = floor_boundary(text, label.end as usize).max(start);
                let style = if label.primary {
                    codespan::LabelStyle::Primary
                } else {
                    codespan::LabelStyle::Secondary
                };
                codespan::Label::new(style, (), start..end).with_message(label.text.clone())
            })
            .collect();
        let long = labels.iter().any(|label| {
            let line = file.line_index((), label.range.start).unwrap_or(0);
            file.line_range((), line).is_ok_and(|range| range.len() > LONGEST_SHOWN_LINE)
                || label.range.len() > 16 * LONGEST_SHOWN_LINE
        });
        let severity = match diagnostic.severity {
            Severity::Error => codespan::Severity::Error,
            Severity::Warning => codespan::Severity::Warning,
            Severity::Note => codespan::Severity::Note,
        };
        let shown = codespan::Diagnostic::new(severity)
            .with_message(clip(&diagnostic.message))
            .with_labels(labels)
            .with_notes(diagnostic.notes.iter().map(|note| clip(note)).collect());
        let config = term::Config {
            display_style: match self.form {
                Form::Short => term::DisplayStyle::Short,
                Form::Human | Form::Json if long => term::DisplayStyle::Medium,
                Form::Human | Form::Json => term::DisplayStyle::Rich,
            },
            ..term::Config::default()
        };
        let mut buffer =
            if self.color { termcolor::Buffer::ansi() } else { termcolor::Buffer::no_color() };
        match term::emit_to_write_style(&mut buffer, &config, &file, &shown) {
            Ok(()) => {
                let mut text = String::from_utf8_lossy(buffer.as_slice()).into_owned();
                while text.ends_with("\n\n") {
                    text.pop();
                }
                if diagnostic.labels.is_empty() {
                    self.name_file(&mut text, name);
                }
                text
            }
            Err(_) => self.without_text(diagnostic, name),
        }
    }

    /// A message without a place names at least the file.
    fn name_file(&self, text: &mut String, name: &str) {
        if name.is_empty() {
            return;
        }
        if self.form == Form::Short {
            text.insert_str(0, &format!("{name}: "));
        } else {
            let end = text.find('\n').unwrap_or(text.len());
            text.insert_str(end, &format!("\n ┌─ {name}"));
        }
    }

    fn without_text(&self, diagnostic: &Diagnostic, name: &str) -> String {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let label = diagnostic.labels.first();
        let source = label.zip(self.source.as_ref());
        let origin = source.and_then(|(label, source)| source.origin(label.start));
        let mut text = match label {
            // What the module was made from, as far as it says so.
            Some(_) if let Some(origin) = origin => {
                let gpucc::Origin { file, line, column } = origin;
                format!("{}:{line}:{column}: ", gpucc::printable(file))
            }
            // Without lines the place is a byte of the module.
            Some(label) => format!("{name}:byte {}: ", label.start),
            None if name.is_empty() => String::new(),
            None => format!("{name}: "),
        };
        text.push_str(&format!("{severity}: {}", clip(&diagnostic.message)));
        if let (Form::Short, Some(label), Some(_)) = (self.form, label, origin) {
            text.push_str(&format!(" ({name}, byte {})", label.start));
        }
        text.push('\n');
        if self.form == Form::Human {
            for note in &diagnostic.notes {
                text.push_str(&format!("  = {}\n", clip(note).replace('\n', "\n    ")));
            }
            if let (Some(label), Some(_)) = (label, origin) {
                text.push_str(&format!("  = {name}, byte {}\n", label.start));
            }
        }
        text
    }

    fn json(&self, diagnostic: &Diagnostic, exit: Option<u8>) -> String {
        let message = gpucc::message(diagnostic, self.source.as_ref());
        let mut value = serde_json::to_value(message).expect("a message is plain data");
        if let (Some(code), Some(object)) = (exit, value.as_object_mut()) {
            object.insert("exit_code".into(), code.into());
            object.insert(
                "labels".into(),
                serde_json::to_value(&diagnostic.labels).expect("labels are plain data"),
            );
        }
        format!("{value}\n")
    }
}

/// Shortens long quotes and replaces control characters, which would reach the terminal.
fn clip(text: &str) -> String {
    const MOST: usize = 2000;
    let clipped = &text[..floor_boundary(text, MOST)];
    let mut clean: String =
        clipped.chars().map(|c| if c.is_control() && c != '\n' { '?' } else { c }).collect();
    if clipped.len() < text.len() {
        clean.push_str("...");
    }
    clean
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
