//! Source text with its lines: from byte offsets to what editors show.

use crate::{Diagnostic, report::Message};
use std::fmt::Write as _;

/// A source by name; SPIR-V has no text.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// As the user named it, with `/`.
    pub name: String,
    /// Its text, `None` for binary sources.
    pub text: Option<String>,
    starts: Vec<u32>,
}

impl SourceText {
    /// A source and its lines.
    pub fn new(name: impl Into<String>, text: Option<String>) -> Self {
        let mut starts = vec![0];
        if let Some(text) = &text {
            starts.extend(
                text.bytes()
                    .enumerate()
                    .filter(|&(_, byte)| byte == b'\n')
                    .map(|(at, _)| at as u32 + 1),
            );
        }
        SourceText { name: name.into(), text, starts }
    }

    /// Line and column (in characters), both from 1, of a byte offset. Without text the line is 0
    /// and the column is the number of the 32-bit word.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let Some(text) = &self.text else {
            return (0, offset / 4);
        };
        let offset = offset.min(text.len() as u32);
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let start = self.starts[line] as usize;
        let column = text
            .as_bytes()
            .get(start..offset as usize)
            .unwrap_or_default()
            .iter()
            // Continuation bytes do not start a character.
            .filter(|&&byte| byte & 0xC0 != 0x80)
            .count();
        (line as u32 + 1, column as u32 + 1)
    }

    /// `name:line:column` of a byte offset.
    pub fn place(&self, offset: u32) -> String {
        match self.position(offset) {
            (0, word) => format!("{}: word {word}", self.name),
            (line, column) => format!("{}:{line}:{column}", self.name),
        }
    }
}

/// A diagnostic as reports carry it.
pub fn message(diagnostic: &Diagnostic, source: Option<&SourceText>) -> Message {
    let place = diagnostic
        .labels
        .first()
        .and_then(|label| source.map(|source| (source, source.position(label.start))));
    Message {
        severity: diagnostic.severity,
        message: diagnostic.message.clone(),
        file: source.map(|source| source.name.clone()),
        line: place.map(|(_, (line, _))| line),
        column: place.map(|(_, (_, column))| column),
        notes: diagnostic.notes.clone(),
    }
}

/// Text of somebody else's on one line, with nothing that moves a terminal's cursor or turns its text round: control
/// characters are escaped as Rust does (`\n`, `\x1b`, `\u{202e}`).
pub fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => clean.extend(c.escape_default()),
            '\0'..='\x1f' | '\x7f' => {
                let _ = write!(clean, "\\x{:02x}", c as u32);
            }
            // The other half of the controls, line separators, and marks that change the direction of writing.
            '\u{80}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                let _ = write!(clean, "\\u{{{:x}}}", c as u32);
            }
            _ => clean.push(c),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_start_at_one() {
        let source = SourceText::new("a.wgsl", Some("äb\ncd".into()));
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(2), (1, 2));
        assert_eq!(source.position(4), (2, 1));
        assert_eq!(source.position(1000), (2, 3));
        assert_eq!(source.place(5), "a.wgsl:2:2");
    }

    #[test]
    fn sources_without_text_give_words() {
        let source = SourceText::new("a.spv", None);
        assert_eq!(source.place(8), "a.spv: word 2");
    }
}
