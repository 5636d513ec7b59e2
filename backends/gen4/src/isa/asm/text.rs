//! A statement as characters with places.

use gpucc_isa::Diagnostic;

/// A place in one statement.
pub struct Text<'a> {
    pub text: &'a str,
    pub at: usize,
    pub line: u32,
    /// Characters of the line before the statement.
    pub before: usize,
}

pub type Parsed<T> = Result<T, Diagnostic>;

impl<'a> Text<'a> {
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn wrong_at<T>(&self, at: usize, message: impl Into<String>) -> Parsed<T> {
        let column = self.before + self.text[..at].chars().count() + 1;
        Err(Diagnostic { line: self.line, column: column as u32, message: message.into() })
    }

    pub fn wrong<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.wrong_at(self.at, message)
    }

    pub fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found: String =
            self.rest().chars().take_while(|c| !c.is_whitespace()).take(40).collect();
        if found.is_empty() {
            return self.wrong(format!("expected {what}, found the end of the instruction"));
        }
        self.wrong(format!("expected {what}, found `{found}`"))
    }

    pub fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    pub fn is(&self, mark: &str) -> bool {
        self.rest().starts_with(mark)
    }

    pub fn eat(&mut self, mark: &str) -> bool {
        let there = self.is(mark);
        if there {
            self.at += mark.len();
        }
        there
    }

    pub fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    /// The characters from here that satisfy `is`.
    pub fn span(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    pub fn letters(&mut self) -> &'a str {
        self.span(|c| c.is_ascii_alphabetic())
    }

    pub fn word(&mut self) -> &'a str {
        self.span(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// An unsigned decimal number.
    pub fn number(&mut self, what: &str) -> Parsed<u32> {
        let start = self.at;
        let digits = self.span(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) if digits.is_empty() => self.expected(what),
            Err(_) => self.wrong_at(start, format!("{what} is larger than 32 bits")),
        }
    }

    /// A decimal number with a sign.
    pub fn signed(&mut self, what: &str) -> Parsed<i64> {
        let negative = self.eat("-");
        let value = i64::from(self.number(what)?);
        Ok(if negative { -value } else { value })
    }
}

/// A number of 32 bits, decimal or `0x` hexadecimal.
pub fn parse_u32(word: &str) -> Option<u32> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) if digits.chars().all(|c| c.is_ascii_hexdigit()) => {
            u32::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None if word.chars().all(|c| c.is_ascii_digit()) => word.parse().ok(),
        None => None,
    }
}
