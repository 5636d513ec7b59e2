//! The source text that positions refer to: its name, its bytes, and its line starts.

use gpucc_ir::ssa::Span;

/// A text with line feeds where carriage returns alone end its lines, so that all that count lines agree; `None` where none
/// does. Byte offsets stay. WGSL (3.2) and GLSL (3.2) end a line at a carriage return.
pub fn with_line_feeds(text: &str) -> Option<String> {
    let ends = |at: usize| text.as_bytes().get(at + 1) != Some(&b'\n');
    let any = text.match_indices('\r').any(|(at, _)| ends(at));
    let feed = |(at, c): (usize, char)| if c == '\r' && ends(at) { '\n' } else { c };
    any.then(|| text.char_indices().map(feed).collect())
}

/// In which language a source is written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// WebGPU Shading Language.
    Wgsl,
    /// SPIR-V words.
    SpirV,
    /// GLSL.
    Glsl,
}

impl Language {
    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Wgsl => "WGSL",
            Language::SpirV => "SPIR-V",
            Language::Glsl => "GLSL",
        }
    }
}

/// A place in a source, counted from 1. For SPIR-V the line is the word's index in the module
/// counted from 0 and the column is 0.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Line.
    pub line: u32,
    /// Column in Unicode scalar values.
    pub column: u32,
}

/// A named source and its line table.
#[derive(Clone, Debug)]
pub struct SourceMap {
    /// What messages call it (usually a path).
    pub name: String,
    /// In which language it is written.
    pub language: Language,
    /// The text; empty for SPIR-V.
    pub text: String,
    /// Byte offset of each line's first byte.
    lines: Vec<u32>,
}

impl SourceMap {
    /// A text, [`with_line_feeds`]. A leading byte-order mark is replaced by spaces, so that byte offsets stay.
    pub fn text(name: &str, language: Language, text: &str) -> Self {
        let fed = with_line_feeds(text);
        let text = fed.as_deref().unwrap_or(text);
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => format!("   {rest}"),
            None => text.to_owned(),
        };
        let mut lines = vec![0];
        lines.extend(
            text.bytes()
                .enumerate()
                .filter(|&(_, byte)| byte == b'\n')
                .map(|(at, _)| at as u32 + 1),
        );
        SourceMap { name: name.to_owned(), language, text, lines }
    }

    /// SPIR-V words: positions are byte offsets into the module.
    pub fn words(name: &str) -> Self {
        SourceMap {
            name: name.to_owned(),
            language: Language::SpirV,
            text: String::new(),
            lines: vec![0],
        }
    }

    /// Where a span starts, or `None` when it has no position.
    pub fn location(&self, span: Span) -> Option<Location> {
        if span.is_none() {
            return None;
        }
        if self.language == Language::SpirV {
            return Some(Location { line: span.start / 4, column: 0 });
        }
        let start = span.start.min(self.text.len() as u32);
        let index = self.lines.partition_point(|&line| line <= start) - 1;
        let from = self.lines[index] as usize;
        let column = self
            .text
            .get(from..start as usize)
            .map_or(start as usize - from, |prefix| prefix.chars().count());
        Some(Location { line: index as u32 + 1, column: column as u32 + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(map: &SourceMap, start: u32) -> (u32, u32) {
        let span = Span { start, end: start + 1 };
        let location = map.location(span).expect("the span has a position");
        (location.line, location.column)
    }

    #[test]
    fn lines_and_columns_count_from_one_and_columns_count_characters() {
        let map = SourceMap::text("a.wgsl", Language::Wgsl, "äb\r\nc");
        assert_eq!(at(&map, 0), (1, 1));
        assert_eq!(at(&map, 2), (1, 2));
        assert_eq!(at(&map, 5), (2, 1));
        assert_eq!(at(&map, 900), (2, 2));
        assert_eq!(map.location(Span::NONE), None);
    }

    #[test]
    fn a_byte_order_mark_leaves_offsets_where_they_were() {
        let map = SourceMap::text("a.wgsl", Language::Wgsl, "\u{feff}fn");
        assert_eq!(&map.text[3..5], "fn");
    }

    #[test]
    fn spirv_positions_are_word_indices() {
        let map = SourceMap::words("a.spv");
        assert_eq!(at(&map, 40), (10, 0));
    }
}
