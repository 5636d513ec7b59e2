//! Tokens of the text form, with their positions.

use std::fmt::{self, Display, Formatter};

/// Why a text is no program: where, what was expected, what stood there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// What was expected and what was found.
    pub message: String,
}

/// A token; words and strings borrow from the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    Word(&'t str),
    Number {
        value: u64,
        negative: bool,
    },
    Text(String),
    Value(u32),
    Block(u32),
    Punct(char),
    /// `..`
    Range,
    End,
}

impl Display for Token<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "'{}'", shortened(word)),
            Token::Number { value, negative } => {
                write!(f, "number {}{value}", if *negative { "-" } else { "" })
            }
            Token::Text(text) => write!(f, "string \"{}\"", shortened(text)),
            Token::Value(number) => write!(f, "%{number}"),
            Token::Block(number) => write!(f, "^{number}"),
            Token::Punct(c) => write!(f, "'{c}'"),
            Token::Range => write!(f, "'..'"),
            Token::End => write!(f, "the end of the text"),
        }
    }
}

/// The string in quotes that a text begins with, and what follows it.
pub(crate) fn unquote(text: &str) -> Result<(String, &str), String> {
    let mut lexer = Lexer::new(text);
    match lexer.next() {
        Ok(Token::Text(inner)) => Ok((inner, &text[lexer.at..])),
        Ok(found) => Err(format!("expected a name in quotes, found {found}")),
        Err(error) => Err(error.message),
    }
}

/// The first 40 characters, so that a message stays a line.
fn shortened(text: &str) -> &str {
    match text.char_indices().nth(40) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Reads tokens one after the other.
pub(super) struct Lexer<'t> {
    text: &'t str,
    pub(super) at: usize,
    /// Start of the token that was read last.
    pub start: usize,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Self {
        Lexer { text, at: 0, start: 0 }
    }

    /// An error at a byte; only here are line and column counted.
    pub fn error_at(&self, byte: usize, message: impl Into<String>) -> ParseError {
        let before = &self.text[..byte.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ParseError {
            line: before.bytes().filter(|&b| b == b'\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            message: message.into(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(&keep) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    pub fn next(&mut self) -> Result<Token<'t>, ParseError> {
        loop {
            self.take_while(|b| b.is_ascii_whitespace());
            if self.peek() != Some(b';') {
                break;
            }
            self.take_while(|b| b != b'\n');
        }
        self.start = self.at;
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                Ok(Token::Word(self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_')))
            }
            b'0'..=b'9' => Ok(Token::Number { value: self.number()?, negative: false }),
            b'-' => {
                self.at += 1;
                let value = self.number()?;
                Ok(Token::Number { value, negative: true })
            }
            b'%' => {
                self.at += 1;
                Ok(Token::Value(self.id("a value's number")?))
            }
            b'^' => {
                self.at += 1;
                Ok(Token::Block(self.id("a block's number")?))
            }
            b'"' => self.string(),
            b'.' if self.text[self.at..].starts_with("..") => {
                self.at += 2;
                Ok(Token::Range)
            }
            b'{' | b'}' | b'(' | b')' | b'[' | b']' | b',' | b':' | b'=' | b'.' | b'!' | b'#' => {
                self.at += 1;
                Ok(Token::Punct(first.into()))
            }
            _ => {
                let found = self.text[self.at..].chars().next().unwrap_or_default();
                Err(self.error_at(self.at, format!("no token begins with {found:?}")))
            }
        }
    }

    fn id(&mut self, what: &str) -> Result<u32, ParseError> {
        let start = self.at;
        let digits = self.take_while(|b| b.is_ascii_digit());
        digits.parse().map_err(|_| self.error_at(start, format!("expected {what} below 2^32")))
    }

    fn number(&mut self) -> Result<u64, ParseError> {
        let start = self.at;
        let text = self.take_while(|b| b.is_ascii_alphanumeric());
        let parsed = match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => text.parse(),
        };
        parsed.map_err(|_| self.error_at(start, "expected a number below 2^64, decimal or 0x..."))
    }

    fn string(&mut self) -> Result<Token<'t>, ParseError> {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.text[self.at + 1..].char_indices();
        let end = start + 1;
        loop {
            let Some((offset, c)) = chars.next() else {
                return Err(self.error_at(start, "this string has no closing quote"));
            };
            match c {
                '"' => {
                    self.at = end + offset + 1;
                    return Ok(Token::Text(text));
                }
                '\\' => {
                    let bad = |lexer: &Self| {
                        lexer.error_at(end + offset, "expected \\\", \\\\ or \\u{hex} here")
                    };
                    match chars.next() {
                        Some((_, c @ ('"' | '\\'))) => text.push(c),
                        Some((_, 'u')) => {
                            if chars.next().map(|(_, c)| c) != Some('{') {
                                return Err(bad(self));
                            }
                            let mut code = 0u32;
                            loop {
                                match chars.next().map(|(_, c)| c) {
                                    Some('}') => break,
                                    Some(c) if c.is_ascii_hexdigit() && code < 0x0100_0000 => {
                                        let digit = c.to_digit(16).unwrap_or_default();
                                        code = code * 16 + digit;
                                    }
                                    _ => return Err(bad(self)),
                                }
                            }
                            text.push(char::from_u32(code).ok_or_else(|| bad(self))?);
                        }
                        _ => return Err(bad(self)),
                    }
                }
                c => text.push(c),
            }
        }
    }
}
