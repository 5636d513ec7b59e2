//! Values of constant integer expressions, as far as lengths of arrays use them.

use super::tokens::Tokens;

/// Names within names.
const DEPTH: u32 = 64;

/// Who knows what names stand for.
pub trait Names {
    /// The value of a constant.
    fn value(&mut self, name: &str, depth: u32) -> Option<i128>;
}

/// The value of the expression in the tokens `from..end`; `None` for forms beyond this.
pub fn value(
    tokens: &Tokens<'_>,
    from: usize,
    end: usize,
    names: &mut dyn Names,
    depth: u32,
) -> Option<i128> {
    if depth > DEPTH {
        return None;
    }
    let mut reader = Reader { tokens, at: from, end, names, depth };
    let value = reader.binary(0)?;
    (reader.at == end).then_some(value)
}

struct Reader<'a, 'b> {
    tokens: &'b Tokens<'a>,
    at: usize,
    end: usize,
    names: &'b mut dyn Names,
    depth: u32,
}

impl Reader<'_, '_> {
    fn word(&self) -> &str {
        match self.at < self.end {
            true => self.tokens.word(self.at),
            false => "",
        }
    }

    /// The operator that stands next, its precedence and its tokens.
    fn operator(&self) -> Option<(char, u32, usize)> {
        let next = match self.at + 1 < self.end {
            true => self.tokens.word(self.at + 1),
            false => "",
        };
        Some(match (self.word(), next) {
            ("<", "<") => ('<', 4, 2),
            (">", ">") => ('>', 4, 2),
            ("|", "|") | ("&", "&") => return None,
            ("|", _) => ('|', 1, 1),
            ("^", _) => ('^', 2, 1),
            ("&", _) => ('&', 3, 1),
            ("+", _) => ('+', 5, 1),
            ("-", _) => ('-', 5, 1),
            ("*", _) => ('*', 6, 1),
            ("/", _) => ('/', 6, 1),
            ("%", _) => ('%', 6, 1),
            _ => return None,
        })
    }

    fn binary(&mut self, least: u32) -> Option<i128> {
        let mut left = self.unary()?;
        while let Some((operator, precedence, length)) = self.operator() {
            if precedence < least {
                break;
            }
            self.at += length;
            let right = self.binary(precedence + 1)?;
            let shift = || u32::try_from(right).ok().filter(|&by| by < 64);
            left = match operator {
                '|' => left | right,
                '^' => left ^ right,
                '&' => left & right,
                '<' => (left as i64 as i128).checked_shl(shift()?)?,
                '>' => left.checked_shr(shift()?)?,
                '+' => left.saturating_add(right),
                '-' => left.saturating_sub(right),
                '*' => left.saturating_mul(right),
                '/' => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i128> {
        let mut negative = false;
        while matches!(self.word(), "-" | "+") {
            negative ^= self.word() == "-";
            self.at += 1;
        }
        let value = self.primary()?;
        Some(if negative { value.saturating_neg() } else { value })
    }

    fn primary(&mut self) -> Option<i128> {
        let word = self.word();
        let first = word.bytes().next()?;
        if first.is_ascii_digit() {
            let value = number(word)?;
            self.at += 1;
            return Some(value);
        }
        if word == "(" {
            return self.bracketed();
        }
        if self.at + 1 < self.end && self.tokens.word(self.at + 1) == "(" {
            let function = word.to_owned();
            self.at += 1;
            return match function.as_str() {
                "u32" | "i32" | "uint" | "int" => self.bracketed(),
                "max" | "min" => {
                    let (a, b) = self.pair()?;
                    Some(if function == "max" { a.max(b) } else { a.min(b) })
                }
                _ => None,
            };
        }
        let value = self.names.value(self.tokens.word(self.at), self.depth + 1)?;
        self.at += 1;
        Some(value)
    }

    fn bracketed(&mut self) -> Option<i128> {
        self.at += 1;
        let value = self.binary(0)?;
        let closed = self.word() == ")";
        self.at += 1;
        closed.then_some(value)
    }

    fn pair(&mut self) -> Option<(i128, i128)> {
        self.at += 1;
        let a = self.binary(0)?;
        let comma = self.word() == ",";
        self.at += 1;
        let b = self.binary(0)?;
        let closed = self.word() == ")";
        self.at += 1;
        (comma && closed).then_some((a, b))
    }
}

/// A literal; a float is cut off to an integer.
fn number(word: &str) -> Option<i128> {
    let lower = word.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        let digits = digits.trim_end_matches(['u', 'i', 'l']);
        return i128::from_str_radix(digits, 16).ok();
    }
    let digits = lower.trim_end_matches(['u', 'i', 'l', 'f', 'h']);
    let octal = digits.len() > 1 && digits.starts_with('0');
    match digits.parse::<i128>() {
        Ok(value) if octal => Some(i128::from_str_radix(digits, 8).unwrap_or(value)),
        Ok(value) => Some(value),
        Err(_) => digits.parse::<f64>().ok().map(|value| value as i128),
    }
}

/// An upper bound of an expression that only picks one of the literals in it: `array(array(6))[0][0]`.
pub fn picked(tokens: &Tokens<'_>, from: usize, end: usize) -> Option<i128> {
    let mut largest = None;
    for at in from..end {
        match tokens.word(at) {
            "array" | "(" | ")" | "[" | "]" | "," => {}
            word if word.starts_with(|first: char| first.is_ascii_digit()) => {
                largest = largest.max(Some(number(word)?));
            }
            _ => return None,
        }
    }
    largest
}

/// A length: at least 0.
pub fn length(value: Option<i128>) -> Option<u64> {
    value.map(|value| u64::try_from(value.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Known;
    impl Names for Known {
        fn value(&mut self, name: &str, _: u32) -> Option<i128> {
            (name == "N").then_some(10)
        }
    }

    fn of(text: &str) -> Option<i128> {
        let tokens = Tokens::new(text);
        value(&tokens, 0, tokens.len(), &mut Known, 0)
    }

    #[test]
    fn lengths_as_people_write_them_are_computed() {
        for (text, want) in [
            ("3", 3),
            ("0x10u", 16),
            ("2 + N * 3", 32),
            ("(2 + N) * 3", 36),
            ("1u << 20u", 1 << 20),
            ("N / 3 - -1", 4),
            ("max(N, u32(1e9))", 1_000_000_000),
            ("0xffu & 0x0fu | 1u", 15),
        ] {
            assert_eq!(of(text), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_not_computed_is_not_guessed() {
        for text in ["", "f(3)", "M", "3 +", "N / 0", "a.b", "3 4", "N && N", "(3"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
