//! Words, numbers and single characters of WGSL, without comments.

use crate::prescan::{comment_end, line_end, number_end, word_end};
use crate::source::Language;
use crate::stop::Stop;
use std::cell::Cell;

/// A text in tokens.
pub struct Tokens<'a> {
    text: &'a str,
    /// Bytes of each token.
    places: Vec<(u32, u32)>,
    /// Tokens walked over to find the ends of brackets and declarations.
    walked: Cell<u64>,
}

impl<'a> Tokens<'a> {
    /// Reads a text.
    pub fn new(text: &'a str) -> Tokens<'a> {
        let bytes = text.as_bytes();
        let mut tokens = Tokens { text, places: Vec::new(), walked: Cell::new(0) };
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            match bytes[at] {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    at += 1;
                    continue;
                }
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    at = line_end(bytes, at);
                    continue;
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    at = comment_end(bytes, at, Language::Wgsl);
                    continue;
                }
                b'0'..=b'9' => at = number_end(bytes, at),
                b'_' | b'a'..=b'z' | b'A'..=b'Z' | 128.. => at = word_end(bytes, at),
                _ => at += 1,
            }
            tokens.places.push((start as u32, at as u32));
        }
        tokens
    }

    /// Tokens that may be walked over: many times those of any text whose brackets close and whose
    /// declarations end.
    fn most_walked(&self) -> u64 {
        64 * self.len() as u64 + (1 << 16)
    }

    /// Notes a walk over tokens; false when there were too many, and nothing more is looked for.
    pub fn walk(&self, tokens: usize) -> bool {
        self.walked.set(self.walked.get() + tokens as u64);
        self.walked.get() <= self.most_walked()
    }

    /// Refuses a text in which looking for ends took more steps than its size allows.
    pub fn check_walked(&self) -> Result<(), Stop> {
        let what = "tokens walked over to find the lengths of arrays";
        let hint = "close every bracket and end every declaration";
        let start = self.start(0);
        super::bound(what, self.walked.get(), self.most_walked(), hint, start)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The token at an index; empty behind the last.
    pub fn word(&self, index: usize) -> &'a str {
        self.places.get(index).map_or("", |&(start, end)| &self.text[start as usize..end as usize])
    }

    /// The first byte of a token.
    pub fn start(&self, index: usize) -> u32 {
        self.places.get(index).map_or(0, |&(start, _)| start)
    }

    /// A name or a keyword.
    pub fn is_word(&self, index: usize) -> bool {
        let first = self.word(index).bytes().next();
        first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte >= 128)
    }

    /// The bracket that closes the one at a token, or the end.
    pub fn closing(&self, open: usize) -> usize {
        if !self.walk(0) {
            return self.len();
        }
        let close = self.closing_of(open);
        self.walk(close.saturating_sub(open));
        close
    }

    fn closing_of(&self, open: usize) -> usize {
        let mut depth = 0u32;
        for at in open..self.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at;
                    }
                }
                _ => {}
            }
        }
        self.len()
    }

    /// The first of some characters from a token on that stands in no bracket, or the end.
    pub fn find(&self, from: usize, wanted: &[&str]) -> usize {
        if !self.walk(0) {
            return self.len();
        }
        let found = self.first(from, wanted);
        self.walk(found.saturating_sub(from));
        found
    }

    fn first(&self, from: usize, wanted: &[&str]) -> usize {
        let mut depth = 0u32;
        for at in from..self.len() {
            let word = self.word(at);
            if depth == 0 && wanted.contains(&word) {
                return at;
            }
            match word {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.len()
    }

    /// The `>` that ends a template list whose first token is given.
    pub fn template_end(&self, from: usize) -> usize {
        let (mut depth, mut at) = (0u32, from);
        while at < self.len() && self.walk(1) {
            match self.word(at) {
                "(" | "[" => at = self.closing(at),
                // A shift, which a list may hold.
                "<" if self.word(at + 1) == "<" => at += 1,
                "<" => depth += 1,
                ">" if depth == 0 => return at,
                ">" => depth -= 1,
                ";" | "{" | "}" => return at,
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// The comma or the brace behind the type of a member, which begins at a token.
    pub fn member_end(&self, at: usize) -> usize {
        let from = match self.word(at + 1) {
            "<" => self.template_end(at + 2),
            _ => at + 1,
        };
        self.find(from, &[",", "}"])
    }
}
