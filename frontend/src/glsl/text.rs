//! A text as tokens, and what is to be changed in it.

use super::{Placed, Rewritten};
use crate::diagnostic::Diagnostic;
use crate::places::{self, Edit, Places};
use gpucc_ir::ssa::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// Tokens that a declaration has at most before its name, and behind it. What is longer stays as it is: so texts without
/// ends take no time.
const LONGEST: usize = 1024;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Token {
    pub start: usize,
    pub end: usize,
}

/// Words, numbers and single characters; comments are left out.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest[0] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                at += end.map_or(rest.len(), |end| end + 4);
                continue;
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => rest
                .iter()
                .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
                .unwrap_or(rest.len()),
            byte if byte < 0x80 => 1,
            _ => rest.iter().position(|b| *b < 0x80).unwrap_or(rest.len()),
        };
        tokens.push(Token { start: at, end: at + length });
        at += length;
    }
    tokens
}

/// A text while it is rewritten.
pub struct Work<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    pub edits: Vec<Edit>,
    /// Names of combined samplers with the constructor of each.
    pub combined: BTreeMap<&'a str, &'a str>,
    /// Functions that take one.
    pub takers: BTreeSet<&'a str>,
    /// Combined samplers without a binding, and what they get.
    pub inferred: BTreeMap<&'a str, u32>,
    pub notes: Vec<Diagnostic>,
    pub stage: Stage,
    /// Where each word stands.
    pub words: BTreeMap<&'a str, Vec<usize>>,
    /// Braces around each token, and whether it is part of a directive.
    pub around: Vec<(u32, bool)>,
    /// For a bracket the token of its partner, whatever the kinds of the two.
    partners: Vec<Option<u32>>,
    /// What comes before everything but the version.
    pub prelude: Vec<String>,
    /// Members of the block of loose uniforms.
    pub loose: Vec<String>,
    pub placed: Vec<Placed>,
}

impl<'a> Work<'a> {
    pub fn new(text: &'a str, stage: Stage) -> Self {
        let tokens = tokens(text);
        let mut words: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut around = Vec::with_capacity(tokens.len());
        let mut depth = 0u32;
        let mut directive = false;
        let mut end = 0;
        let mut partners = vec![None; tokens.len()];
        let mut open = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            let word = &text[token.start..token.end];
            let first = index == 0 || text[end..token.start].contains('\n');
            directive = if first { word == "#" } else { directive };
            end = token.end;
            if word == "}" {
                depth = depth.saturating_sub(1);
            }
            around.push((depth, directive));
            if word == "{" {
                depth += 1;
            }
            match word {
                "(" | "[" | "{" => open.push(index),
                ")" | "]" | "}" => {
                    if let Some(first) = open.pop() {
                        partners[first] = Some(index as u32);
                        partners[index] = Some(first as u32);
                    }
                }
                _ => {}
            }
            if word.len() > 1 || word.as_bytes()[0].is_ascii_alphabetic() {
                words.entry(word).or_default().push(index);
            }
        }
        Work {
            text,
            tokens,
            edits: Vec::new(),
            combined: BTreeMap::new(),
            takers: BTreeSet::new(),
            inferred: BTreeMap::new(),
            notes: Vec::new(),
            stage,
            words,
            around,
            partners,
            prelude: Vec::new(),
            loose: Vec::new(),
            placed: Vec::new(),
        }
    }

    /// Where a word stands, in order.
    pub fn uses(&self, name: &str) -> &[usize] {
        self.words.get(name).map_or(&[], Vec::as_slice)
    }

    /// Braces around a token.
    pub fn depth(&self, index: usize) -> u32 {
        self.around.get(index).map_or(0, |around| around.0)
    }

    /// The bracket that closes the one at a token.
    pub fn closing(&self, open: usize) -> Option<usize> {
        self.partner(open).filter(|&close| close > open)
    }

    /// The bracket that opens the one at a token.
    pub fn opening(&self, close: usize) -> Option<usize> {
        self.partner(close).filter(|&open| open < close)
    }

    fn partner(&self, bracket: usize) -> Option<usize> {
        let partner = *self.partners.get(bracket)?;
        partner.map(|partner| partner as usize)
    }

    /// The first token from one on that is one of these words, within the length of a declaration.
    pub fn next(&self, from: usize, words: &[&str]) -> Option<usize> {
        let end = self.tokens.len().min(from + LONGEST);
        (from..end).find(|&at| words.contains(&self.word(at)))
    }

    /// Replaces tokens whatever the length.
    pub fn replace_text(&mut self, first: usize, last: usize, added: &str) {
        let (start, end) = (self.tokens[first].start, self.tokens[last].end);
        self.edits.push(Edit { at: start, removed: end - start, added: added.to_owned() });
    }

    pub fn word(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |token| &self.text[token.start..token.end])
    }

    pub fn is_word(&self, index: usize) -> bool {
        let first = self.word(index).bytes().next();
        first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    }

    pub fn insert(&mut self, at: usize, added: impl Into<String>) {
        let added = added.into();
        self.edits.push(Edit { at, removed: 0, added });
    }

    pub fn replace(&mut self, first: usize, last: usize, added: impl Into<String>) {
        let (start, end) = (self.tokens[first].start, self.tokens[last].end);
        let mut added = added.into();
        while added.len() < end - start {
            added.push(' ');
        }
        self.edits.push(Edit { at: start, removed: end - start, added });
    }

    pub fn replace_exactly(&mut self, index: usize, added: &str) {
        let token = self.tokens[index];
        self.edits.push(Edit {
            at: token.start,
            removed: token.end - token.start,
            added: added.to_owned(),
        });
    }

    /// Spaces instead; lines stay.
    pub fn blank(&mut self, first: usize, last: usize) {
        let (start, end) = (self.tokens[first].start, self.tokens[last].end);
        let spaces = |c: char| if c == '\n' { '\n' } else { ' ' };
        let added: String =
            self.text[start..end].chars().filter(char::is_ascii).map(spaces).collect();
        self.edits.push(Edit { at: start, removed: end - start, added });
    }

    /// Adds to the `layout(...)` of the declaration that begins at a token, or gives it one.
    pub fn qualify(&mut self, first: usize, index: usize, what: &str) {
        let layout =
            (first..index).find(|&at| self.word(at) == "layout" && self.word(at + 1) == "(");
        match layout {
            Some(at) => {
                let inside = self.tokens[at + 1].end;
                self.insert(inside, format!("{what}, "));
            }
            None => {
                let start = self.tokens[first].start;
                self.insert(start, format!("layout({what}) "));
            }
        }
    }

    /// The names of a declaration whose first stands at a token.
    pub fn declared(&self, mut at: usize) -> Vec<&'a str> {
        let mut names = Vec::new();
        while self.is_word(at) {
            names.push(self.word(at));
            at = self.after_index(at + 1);
            if self.word(at) != "," {
                break;
            }
            at += 1;
        }
        names
    }

    /// The first token of the declaration that a token belongs to.
    pub fn declaration_start(&self, index: usize) -> usize {
        let mut first = index;
        while first > index.saturating_sub(LONGEST) {
            let before = self.tokens[first - 1];
            let ends = matches!(self.word(first - 1), ";" | "}" | "{");
            // A directive ends with its line.
            let directive = self.in_directive(first - 1)
                && self.text[before.end..self.tokens[first].start].contains('\n');
            if ends || directive {
                break;
            }
            first -= 1;
        }
        first
    }

    /// A token on a line that starts with `#`.
    pub fn in_directive(&self, index: usize) -> bool {
        self.around.get(index).is_some_and(|around| around.1)
    }

    /// The token after `[...]`s that start at this one.
    pub fn after_index(&self, mut index: usize) -> usize {
        while self.word(index) == "["
            && let Some(close) = self.closing(index)
        {
            index = close + 1;
        }
        index
    }

    pub fn between(&self, first: usize, end: usize) -> &'a str {
        match first < end {
            true => &self.text[self.tokens[first].start..self.tokens[end - 1].end],
            false => "",
        }
    }

    pub fn finish(mut self) -> Rewritten {
        if !self.prelude.is_empty() {
            let version = (0..self.tokens.len()).find(|&at| !self.in_directive(at));
            let last = (0..version.unwrap_or(self.tokens.len()))
                .rfind(|&at| self.word(at) == "version" && self.in_directive(at));
            let at = last.map_or(0, |last| {
                let from = self.tokens[last].end;
                let line = self.text[from..].find('\n');
                line.map_or(self.text.len(), |line| from + line + 1)
            });
            let added = format!("{}\n", self.prelude.concat().trim_end());
            let edit = Edit { at, removed: 0, added };
            self.edits.insert(0, edit);
        }
        if self.edits.is_empty() {
            return Rewritten {
                text: self.text.to_owned(),
                places: Places::default(),
                notes: self.notes,
                placed: self.placed,
            };
        }
        let (text, places) = places::edited(self.text, self.edits);
        Rewritten { text, places, notes: self.notes, placed: self.placed }
    }
}
