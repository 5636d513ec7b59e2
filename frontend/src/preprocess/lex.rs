//! Tokens of GLSL before macros: words, numbers, symbols.

use crate::prescan::number_end;
use gpucc_ir::ssa::Span;
use std::borrow::Cow;

/// What a token is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name.
    Word,
    /// A number.
    Number,
    /// Anything else.
    Symbol,
    /// An empty argument that `##` joins.
    Nothing,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: Cow<'a, str>,
    /// Its bytes in the text; of what a macro made those of the macro's name.
    pub start: usize,
    pub end: usize,
    /// The first of its line.
    pub first: bool,
    /// A macro's name within what it made: it is not expanded any more.
    pub spent: bool,
}

/// Two tokens are the same wherever they stand: macros may be defined again as what they are.
impl PartialEq for Token<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.text == other.text
    }
}
impl Eq for Token<'_> {}

impl Token<'_> {
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub fn span(&self) -> Span {
        Span { start: self.start as u32, end: self.end as u32 }
    }
}

/// Cuts a text into tokens.
pub struct Lexer<'a> {
    /// What is included is no part of the user's text.
    pub text: Cow<'a, str>,
    /// The place of its first byte among all texts.
    base: usize,
    at: usize,
    last_end: usize,
    /// What `#line` adds to the numbers of the lines behind it.
    pub shift: i64,
    /// What `__FILE__` stands for.
    pub source: u32,
    /// First bytes of the lines.
    lines: Vec<usize>,
    /// Arguments that are being expanded within one another.
    pub depth: usize,
    /// A comment that does not end.
    pub open_comment: Option<usize>,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn length(rest: &[u8]) -> (Kind, usize) {
    match rest {
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => (Kind::Number, number_end(rest, 0)),
        [first, ..] if is_word(*first) => {
            let end = rest.iter().position(|&byte| !is_word(byte));
            (Kind::Word, end.unwrap_or(rest.len()))
        }
        // A string ends on its line.
        [b'"', rest @ ..] => {
            let line = &rest[..rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())];
            (Kind::Symbol, line.iter().position(|&byte| byte == b'"').map_or(1, |end| end + 2))
        }
        [b'<', b'<', b'=', ..] | [b'>', b'>', b'=', ..] => (Kind::Symbol, 3),
        [a, b, ..] if a == b && b"<>&|^=+-#".contains(a) => (Kind::Symbol, 2),
        [a, b'=', ..] if b"<>!+-*/%&|^".contains(a) => (Kind::Symbol, 2),
        [first, ..] if *first < 0x80 => (Kind::Symbol, 1),
        _ => {
            let end = rest.iter().position(|&byte| byte < 0x80);
            (Kind::Symbol, end.unwrap_or(rest.len()))
        }
    }
}

/// The kind of a text that is one token.
pub fn single(text: &str) -> Option<Kind> {
    if text.is_empty() {
        return Some(Kind::Nothing);
    }
    let (kind, length) = length(text.as_bytes());
    (length == text.len()).then_some(kind)
}

impl<'a> Lexer<'a> {
    /// `base` is the place of the text's first byte.
    pub fn new(text: Cow<'a, str>, base: usize) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        Lexer {
            text,
            base,
            at: 0,
            last_end: 0,
            shift: 0,
            source: 0,
            lines,
            depth: 0,
            open_comment: None,
        }
    }

    /// One past the last token that was read.
    pub fn last_end(&self) -> usize {
        self.base + self.last_end
    }

    /// One past the last place of the text.
    pub fn end(&self) -> usize {
        self.base + self.text.len()
    }

    /// The text between two places.
    pub fn between(&self, start: usize, end: usize) -> &str {
        let start = start.clamp(self.base, self.end()) - self.base;
        self.text.get(start..end.clamp(self.base, self.end()) - self.base).unwrap_or_default()
    }

    /// The rest of the line behind a place, comments and all.
    pub fn raw_line(&self, from: usize) -> &str {
        self.between(from, self.end()).lines().next().unwrap_or_default()
    }

    /// The line of a place, counted from 1.
    pub fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|&line| line + self.base <= at)
    }

    /// Skips white space; tells whether a line ended in it.
    fn skip(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut newline = self.at == 0;
        loop {
            match &bytes[self.at..] {
                [b'\n', ..] => {
                    newline = true;
                    self.at += 1;
                }
                [b'\\', b'\r', b'\n', ..] => self.at += 3,
                [b'\\', b'\n', ..] => self.at += 2,
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => self.at += 1,
                [b'/', b'/', ..] => self.at = crate::prescan::logical_line_end(&self.text, self.at),
                [b'/', b'*', rest @ ..] => {
                    let end = rest.windows(2).position(|pair| pair == b"*/");
                    if end.is_none() {
                        self.open_comment = Some(self.base + self.at);
                    }
                    self.at += end.map_or(rest.len() + 2, |end| end + 4);
                }
                _ => return newline,
            }
        }
    }

    pub fn next(&mut self) -> Option<Token<'a>> {
        let first = self.skip();
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        let (kind, length) = length(&self.text.as_bytes()[start..]);
        // Neither half of a character stays alone: what is not ASCII is one token, and so is what joins it.
        let mut end = start + length;
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.at = end;
        self.last_end = end;
        let text = match &self.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
            Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
        };
        let (start, end) = (self.base + start, self.base + end);
        Some(Token { kind, text, start, end, first, spent: false })
    }

    /// Takes the next token if it is this one and starts no directive.
    pub fn take(&mut self, text: &str) -> bool {
        let (at, last_end) = (self.at, self.last_end);
        if self.next().is_some_and(|token| token.is(text)) {
            return true;
        }
        (self.at, self.last_end) = (at, last_end);
        false
    }

    /// The rest of the line.
    pub fn line(&mut self) -> Vec<Token<'a>> {
        let mut tokens = Vec::new();
        loop {
            let (at, last_end) = (self.at, self.last_end);
            match self.next() {
                Some(token) if !token.first => tokens.push(token),
                _ => {
                    (self.at, self.last_end) = (at, last_end);
                    return tokens;
                }
            }
        }
    }
}
