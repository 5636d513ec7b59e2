//! Source text with its lines: from byte offsets to what editors show.

use crate::{Diagnostic, report::Message};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// A source by name; SPIR-V has no text.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// As the user named it, with `/`.
    pub name: String,
    /// Its text, `None` for binary sources.
    pub text: Option<String>,
    starts: Vec<u32>,
    /// What a module says of the source that it was made from, from a byte on; `None`: nothing. Sorted.
    origins: Vec<(u32, Option<Origin>)>,
}

/// A place in the source that a SPIR-V module was made from, as the module says (OpLine).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name of the source, of which 255 bytes are kept.
    pub file: Arc<str>,
    /// From 1 on.
    pub line: u32,
    /// From 1 on; 0 where the module does not say it.
    pub column: u32,
}

impl SourceText {
    /// A SPIR-V module of either byte order. Its own words about lines are kept, as far as they can be read.
    pub fn spirv(name: impl Into<String>, module: &[u8]) -> Self {
        SourceText { origins: origins(module), ..SourceText::new(name, None) }
    }

    /// What the module says of the place that a byte offset was made from.
    pub fn origin(&self, offset: u32) -> Option<&Origin> {
        let behind = self.origins.partition_point(|(start, _)| *start <= offset);
        self.origins[..behind].last()?.1.as_ref()
    }

    /// The file, line and column that people look at: the module's origin where it says one.
    pub fn shown(&self, offset: u32) -> (&str, u32, u32) {
        if let Some(origin) = self.origin(offset) {
            return (&origin.file, origin.line, origin.column);
        }
        let (line, column) = self.position(offset);
        (&self.name, line, column)
    }

    /// A source and its lines, which line feeds and carriage returns end.
    pub fn new(name: impl Into<String>, text: Option<String>) -> Self {
        let text = text.map(|text| gpucc_frontend::with_line_feeds(&text).unwrap_or(text));
        let mut starts = vec![0];
        if let Some(text) = &text {
            starts.extend(
                text.bytes()
                    .enumerate()
                    .filter(|&(_, byte)| byte == b'\n')
                    .map(|(at, _)| at as u32 + 1),
            );
        }
        SourceText { name: name.into(), text, starts, origins: Vec::new() }
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
            (0, word) => match self.origin(offset) {
                Some(Origin { file, line, .. }) => {
                    format!("{}: word {word}, {}:{line}", self.name, printable(file))
                }
                None => format!("{}: word {word}", self.name),
            },
            (line, column) => format!("{}:{line}:{column}", self.name),
        }
    }
}

/// What a module's OpLine, OpNoLine and ends of blocks say of the bytes behind them (SPIR-V 2.16, 3.52.2).
fn origins(module: &[u8]) -> Vec<(u32, Option<Origin>)> {
    const STRING: u32 = 7;
    const LINE: u32 = 8;
    const NO_LINE: u32 = 317;
    const FUNCTION_END: u32 = 56;
    /// OpBranch to OpUnreachable; also OpTerminateInvocation.
    const LAST_OF_BLOCK: std::ops::RangeInclusive<u32> = 249..=255;
    const TERMINATE: u32 = 4416;
    /// Bytes of a name. Each line of a program names its source.
    const MOST: usize = 255;
    const MAGIC: u32 = 0x0723_0203;
    let Some(&first) = module.first_chunk::<4>() else { return Vec::new() };
    let word = match u32::from_le_bytes(first) {
        MAGIC => u32::from_le_bytes,
        _ => u32::from_be_bytes,
    };
    let words: Vec<u32> =
        module.chunks_exact(4).map(|four| word([four[0], four[1], four[2], four[3]])).collect();
    let mut files: BTreeMap<u32, Arc<str>> = BTreeMap::new();
    let mut found: Vec<(u32, Option<Origin>)> = Vec::new();
    let mut at = 5;
    while let Some(&head) = words.get(at) {
        let (count, opcode) = ((head >> 16) as usize, head & 0xffff);
        let Some(inst @ [_, ..]) = words.get(at..at + count) else { break };
        at += count;
        let now = match (opcode, inst) {
            (STRING, [_, id, literal @ ..]) => {
                let bytes = literal.iter().flat_map(|word| word.to_le_bytes());
                let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).take(MOST).collect();
                if !bytes.is_empty() {
                    files.insert(*id, String::from_utf8_lossy(&bytes).into());
                }
                continue;
            }
            (LINE, &[_, file, line @ 1..=u32::MAX, column, ..]) => {
                files.get(&file).map(|file| Origin { file: Arc::clone(file), line, column })
            }
            (LINE | NO_LINE | FUNCTION_END | TERMINATE, _) => None,
            _ if LAST_OF_BLOCK.contains(&opcode) => None,
            _ => continue,
        };
        if found.last().map_or(now.is_some(), |(_, last)| *last != now) {
            found.push((4 * at as u32, now));
        }
    }
    found
}

/// A diagnostic as reports carry it.
pub fn message(diagnostic: &Diagnostic, source: Option<&SourceText>) -> Message {
    let place =
        diagnostic.labels.first().and_then(|label| source.map(|source| source.shown(label.start)));
    Message {
        severity: diagnostic.severity,
        message: diagnostic.message.clone(),
        file: place
            .map(|(file, ..)| file.to_owned())
            .or_else(|| source.map(|source| source.name.clone())),
        line: place.map(|(_, line, _)| line),
        column: place.map(|(.., column)| column),
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

    #[test]
    fn modules_say_what_they_were_made_from() {
        let text = |text: &[u8; 8]| {
            [0, 4].map(|at| u32::from_le_bytes(text[at..at + 4].try_into().expect("four")))
        };
        let [name, end] = text(b"a.frag\0\0");
        let words = [
            [0x0723_0203, 0x0001_0000, 0, 9, 0].as_slice(),
            &[4 << 16 | 7, 1, name, end],
            &[4 << 16 | 8, 1, 12, 3],
            &[1 << 16],
            &[1 << 16 | 253],
            &[1 << 16],
            // Cut off.
            &[9 << 16 | 8, 1],
        ]
        .concat();
        let bytes = |swap: fn(u32) -> [u8; 4]| -> Vec<u8> {
            words.iter().flat_map(|&word| swap(word)).collect()
        };
        // A literal's characters lie in words, whatever the order of their bytes.
        for module in [bytes(u32::to_le_bytes), bytes(u32::to_be_bytes)] {
            let source = SourceText::spirv("a.spv", &module);
            assert_eq!(source.shown(36), ("a.spv", 0, 9));
            assert_eq!(source.shown(52), ("a.frag", 12, 3));
            assert_eq!(source.place(56), "a.spv: word 14, a.frag:12");
            assert_eq!(source.shown(60), ("a.spv", 0, 15));
        }
        for length in 0..words.len() * 4 {
            SourceText::spirv("a.spv", &bytes(u32::to_le_bytes)[..length]);
        }
    }
}
