//! Assembler text as tokens with positions, and a cursor that says what it expected where.
//!
//! The same lexer serves every machine: words (which may begin with a digit, as `32_32_FLOAT` does), numbers, single
//! punctuation marks, and ends of line. `;` ends a line as a newline does; `//` starts a comment. Linear in the text.

use std::fmt;

/// What a token is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Letters, digits and `_`; a decimal number keeps its point and exponent.
    Word,
    Punct(char),
    EndOfLine,
    End,
}

/// One token and where it stands; lines and columns count from 1, columns in characters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Word => {
                write!(f, "`{}`", self.text.chars().take(40).collect::<String>())
            }
            Kind::Punct(mark) => write!(f, "`{}`", mark.escape_default()),
            Kind::EndOfLine => f.write_str("the end of the line"),
            Kind::End => f.write_str("the end of the text"),
        }
    }
}

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Diagnostic {
    pub line: u32,
    pub column: u32,
    pub message: String,
}

/// Cuts a text into tokens, one at a time.
#[derive(Clone, Debug)]
struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Lexer<'a> {
    /// The next token; [`Kind::End`] again and again at the end.
    fn next(&mut self) -> Token<'a> {
        loop {
            let Some(first) = self.rest.chars().next() else {
                return self.token(Kind::End, 0);
            };
            let (kind, length) = match first {
                '\n' | ';' => (Some(Kind::EndOfLine), 1),
                '/' if self.rest.starts_with("//") => {
                    (None, self.rest.find('\n').unwrap_or(self.rest.len()))
                }
                _ if first.is_whitespace() => (None, first.len_utf8()),
                _ if is_word(first) => (Some(Kind::Word), word_length(self.rest)),
                _ => (Some(Kind::Punct(first)), first.len_utf8()),
            };
            let token = self.token(kind.unwrap_or(Kind::End), length);
            if first == '\n' {
                self.line += 1;
                self.column = 1;
            }
            if kind.is_some() {
                return token;
            }
        }
    }

    /// Takes `length` bytes off the front.
    fn token(&mut self, kind: Kind, length: usize) -> Token<'a> {
        let (text, rest) = self.rest.split_at(length);
        let token = Token { kind, text, line: self.line, column: self.column };
        self.rest = rest;
        self.column += text.chars().count() as u32;
        token
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    while digit(at) {
        at += 1;
    }
    // A number may go on with `.5` and `e-7`; what follows a letter is a swizzle.
    if at > 0 {
        if bytes.get(at) == Some(&b'.') && digit(at + 1) {
            at += 1;
            while digit(at) {
                at += 1;
            }
        }
        if matches!(bytes.get(at), Some(b'e' | b'E'))
            && matches!(bytes.get(at + 1), Some(b'+' | b'-'))
            && digit(at + 2)
        {
            at += 2;
        }
    }
    while bytes.get(at).is_some_and(|byte| is_word(char::from(*byte))) {
        at += 1;
    }
    at
}

/// Walks over the tokens of a text, with one token of lookahead.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    lexer: Lexer<'a>,
    next: Token<'a>,
    after: Token<'a>,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        let mut lexer = Lexer { rest: text, line: 1, column: 1 };
        let next = lexer.next();
        let after = lexer.next();
        Cursor { lexer, next, after }
    }

    pub fn peek(&self) -> Token<'a> {
        self.next
    }

    /// The token after the next one.
    pub fn peek_after(&self) -> Token<'a> {
        self.after
    }

    /// Takes a token; [`Kind::End`] again and again at the end.
    pub fn take(&mut self) -> Token<'a> {
        let token = self.next;
        self.next = self.after;
        self.after = self.lexer.next();
        token
    }

    /// Steps over empty lines.
    pub fn skip_empty_lines(&mut self) {
        while self.peek().kind == Kind::EndOfLine {
            self.take();
        }
    }

    pub fn at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    pub fn at_line_end(&self) -> bool {
        matches!(self.peek().kind, Kind::End | Kind::EndOfLine)
    }

    /// # Errors
    /// If more stands on the line.
    pub fn expect_line_end(&mut self) -> Result<(), Diagnostic> {
        if !self.at_line_end() {
            return Err(self.expected("the end of the line"));
        }
        self.take();
        Ok(())
    }

    pub fn is(&self, mark: char) -> bool {
        self.peek().kind == Kind::Punct(mark)
    }

    pub fn eat(&mut self, mark: char) -> bool {
        let there = self.is(mark);
        if there {
            self.take();
        }
        there
    }

    /// # Errors
    /// If another token stands here.
    pub fn expect(&mut self, mark: char) -> Result<(), Diagnostic> {
        if self.eat(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    /// # Errors
    /// If no word stands here; `what` says which one was expected.
    pub fn word(&mut self, what: &str) -> Result<Token<'a>, Diagnostic> {
        if self.peek().kind == Kind::Word { Ok(self.take()) } else { Err(self.expected(what)) }
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let token = self.peek();
        let there = token.kind == Kind::Word && token.text == word;
        if there {
            self.take();
        }
        there
    }

    /// An unsigned number, decimal or `0x` hexadecimal.
    ///
    /// # Errors
    /// If there is none, or it has more than 32 bits.
    pub fn number(&mut self, what: &str) -> Result<u32, Diagnostic> {
        let token = self.peek();
        match (token.kind == Kind::Word).then(|| number(token.text)).flatten() {
            Some(value) => {
                self.take();
                Ok(value)
            }
            None => Err(self.expected(what)),
        }
    }

    /// `expected what, found token`, at the next token.
    pub fn expected(&self, what: &str) -> Diagnostic {
        let token = self.peek();
        error_at(token, format!("expected {what}, found {token}"))
    }
}

/// A message at a token.
pub fn error_at(token: Token<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic { line: token.line, column: token.column, message: message.into() }
}

/// A whole word as a number, decimal or `0x` hexadecimal.
pub fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut cursor = Cursor::new(text);
        let mut tokens = Vec::new();
        while !cursor.at_end() {
            tokens.push(cursor.take());
        }
        tokens
    }

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn numbers_keep_their_point_and_swizzles_do_not_join() {
        assert_eq!(
            texts("0.5.x R1.01_ 1e-7 32_32_FLOAT"),
            ["0.5", ".", "x", "R1", ".", "01_", "1e-7", "32_32_FLOAT"]
        );
    }

    #[test]
    fn an_exponent_needs_both_its_letter_and_its_sign() {
        assert_eq!(texts("3x-7 2e.5 1e-7"), ["3x", "-", "7", "2e", ".", "5", "1e-7"]);
    }

    #[test]
    fn a_semicolon_ends_a_line_and_a_comment_is_nothing() {
        let kinds: Vec<Kind> = tokens("a ; b // c ; d\ne").iter().map(|token| token.kind).collect();
        use Kind::{EndOfLine, Word};
        assert_eq!(kinds, [Word, EndOfLine, Word, EndOfLine, Word]);
    }

    #[test]
    fn errors_say_where_and_what_was_expected() {
        let mut cursor = Cursor::new("one\n  two");
        cursor.take();
        cursor.take();
        let error = cursor.expect(',').expect_err("no comma");
        assert_eq!(error.to_string(), "line 2, column 3: expected `,`, found `two`");
    }

    #[test]
    fn text_that_is_not_ascii_is_punctuation() {
        assert_eq!(tokens("é→").len(), 2);
        assert_eq!(tokens("é→")[1].column, 2);
    }
}
