//! The value of what stands behind `#if`.

use super::NESTING;
use super::lex::{Kind, Token};
use crate::stop::Stop;

/// Binary operators, loosest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

struct Parser<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    depth: usize,
    es: bool,
}

/// The value of an expression. A name that is no macro is 0, and in OpenGL ES an error where it counts.
pub fn value(tokens: &[Token<'_>], es: bool) -> Result<i64, Stop> {
    let mut parser = Parser { tokens, at: 0, depth: 0, es };
    let value = parser.binary(0, true)?;
    match parser.tokens.get(parser.at) {
        None => Ok(value),
        Some(rest) => {
            Err(Stop::invalid(format!("a condition does not go on with `{}`", rest.text)))
        }
    }
}

/// The values of expressions one behind the other.
pub fn values(tokens: &[Token<'_>], es: bool) -> Result<Vec<i64>, Stop> {
    let mut parser = Parser { tokens, at: 0, depth: 0, es };
    let mut values = Vec::new();
    while parser.at < tokens.len() {
        values.push(parser.binary(0, true)?);
    }
    Ok(values)
}

impl Parser<'_, '_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| &*token.text)
    }

    /// `counts` is false where the value is not asked for: there a division by zero is none.
    fn binary(&mut self, level: usize, counts: bool) -> Result<i64, Stop> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary(counts);
        };
        let mut left = self.binary(level + 1, counts)?;
        while let Some(operator) = operators.iter().find(|operator| **operator == self.peek()) {
            self.at += 1;
            let counts = counts
                && match *operator {
                    "||" => left == 0,
                    "&&" => left != 0,
                    _ => true,
                };
            let right = self.binary(level + 1, counts)?;
            left = apply(operator, left, right, counts)?;
        }
        Ok(left)
    }

    fn unary(&mut self, counts: bool) -> Result<i64, Stop> {
        self.depth += 1;
        if self.depth > NESTING {
            let limit = NESTING as u64;
            return Err(Stop::limit("nesting of a condition", limit + 1, limit, "nest less"));
        }
        let Some(token) = self.tokens.get(self.at) else {
            return Err(Stop::invalid("a condition ends too early"));
        };
        self.at += 1;
        let value = match (&*token.text, token.kind) {
            ("(", _) => {
                let value = self.binary(0, counts)?;
                if self.peek() != ")" {
                    return Err(Stop::invalid("a bracket of a condition is not closed"));
                }
                self.at += 1;
                value
            }
            ("-", _) => self.unary(counts)?.wrapping_neg(),
            ("+", _) => self.unary(counts)?,
            ("!", _) => i64::from(self.unary(counts)? == 0),
            ("~", _) => !self.unary(counts)?,
            (name, Kind::Word) if self.es && counts => {
                let message = format!("`{name}` is no macro, and no number");
                return Err(Stop::invalid(message).at(token.span()));
            }
            (_, Kind::Word) => 0,
            (text, Kind::Number) => match number(text) {
                Some(value) => value,
                None => return Err(Stop::invalid(format!("`{text}` is no integer"))),
            },
            (text, _) => return Err(Stop::invalid(format!("`{text}` is no part of a condition"))),
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn number(text: &str) -> Option<i64> {
    let text = text.trim_end_matches(['u', 'U']);
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    i64::from_str_radix(digits, radix).ok()
}

fn apply(operator: &str, a: i64, b: i64, counts: bool) -> Result<i64, Stop> {
    Ok(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        _ if b == 0 && counts => return Err(Stop::invalid("a condition divides by zero")),
        _ if b == 0 => 0,
        "/" => a.wrapping_div(b),
        _ => a.wrapping_rem(b),
    })
}
