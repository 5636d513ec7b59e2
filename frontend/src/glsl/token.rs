//! Lexical analysis: tokens of a text without macros, with the directives that the preprocessor leaves.

use crate::lower::Result;
use crate::preprocess::MEMORY_MODEL;
use crate::stop::Stop;
use gpucc_ir::Set;
use gpucc_ir::ssa::Span;

/// What a token is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword.
    Word,
    /// A number.
    Number,
    /// An operator or bracket.
    Symbol,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Copy, Clone, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub span: Span,
}

/// Version, profile and extensions of a text.
#[derive(Clone, Debug)]
pub struct Dialect {
    /// 110 to 460; of a text without a version the newest.
    pub version: u32,
    /// OpenGL ES.
    pub es: bool,
    /// The compatibility profile, or a version before there were profiles.
    pub compatible: bool,
    /// The text says its version.
    pub stated: bool,
    /// Extensions that are switched on.
    pub extensions: Set<String>,
    /// Memory and volatile inputs are as Vulkan's memory model has them.
    pub memory_model: bool,
}

impl Dialect {
    /// True from a version of OpenGL's language on, from one of ES, and with one of some extensions.
    pub fn since(&self, version: u32, es: u32, extensions: &[&str]) -> bool {
        let wanted = if self.es { es } else { version };
        self.version >= wanted || extensions.iter().any(|part| self.has(part))
    }

    /// True where what older versions had is gone: in a core profile from a version on, and in ES.
    pub fn removed(&self, version: u32, es: u32) -> bool {
        match self.es {
            true => self.version >= es,
            false => !self.compatible && self.version >= version && !self.has("compatibility"),
        }
    }

    /// True where an extension is on whose name contains a text.
    pub fn has(&self, part: &str) -> bool {
        self.extensions.iter().any(|name| name.contains(part))
    }
}

/// Symbols of several characters, longest first.
const LONG: [&str; 22] = [
    "<<=", ">>=", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "^^", "+=", "-=",
    "*=", "/=", "%=", "&=", "^=", "|=", "::",
];

/// Cuts a text into tokens; the last one is [`Kind::End`].
pub fn tokens(text: &str) -> Result<(Vec<Token<'_>>, Dialect)> {
    let bytes = text.as_bytes();
    let mut all = Vec::with_capacity(text.len() / 4 + 1);
    let mut dialect = Dialect {
        version: 460,
        es: false,
        compatible: true,
        stated: false,
        extensions: Set::default(),
        memory_model: false,
    };
    let mut at = 0;
    let mut starts_line = true;
    while let Some(&byte) = bytes.get(at) {
        let span = |end: usize| Span { start: at as u32, end: end as u32 };
        match byte {
            b'\n' => {
                starts_line = true;
                at += 1;
                continue;
            }
            _ if byte.is_ascii_whitespace() || byte == 0x0b => {
                at += 1;
                continue;
            }
            b'#' if starts_line => {
                let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
                let line = &text[at + 1..end];
                let again = dialect.stated || !all.is_empty();
                if line.trim_start().starts_with("version") && again {
                    let message = "`#version` stands before everything else (GLSL 4.60, 3.3)";
                    return Err(Stop::invalid(message).at(span(end)));
                }
                directive(line, &mut dialect)
                    .map_err(|stop| stop.at(span(at + text[at..end].trim_end().len())))?;
                at = end;
                continue;
            }
            _ => {}
        }
        starts_line = false;
        let rest = &text[at..];
        let (kind, length) = match byte {
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
                (Kind::Word, end.unwrap_or(rest.len()))
            }
            b'0'..=b'9' => (Kind::Number, number_length(bytes, at)),
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                (Kind::Number, number_length(bytes, at))
            }
            b'"' => {
                let line = rest.find('\n').unwrap_or(rest.len());
                let end = rest[1..line].find('"').map_or(line, |end| end + 2);
                (Kind::Symbol, end)
            }
            _ => {
                let long = LONG.iter().find(|long| rest.starts_with(**long));
                let one = rest.chars().next().map_or(1, char::len_utf8);
                (Kind::Symbol, long.map_or(one, |long| long.len()))
            }
        };
        all.push(Token { kind, text: &rest[..length], span: span(at + length) });
        at += length;
    }
    let end = text.len() as u32;
    let last = Span { start: end.saturating_sub(1), end: end.max(1) };
    all.push(Token { kind: Kind::End, text: "", span: last });
    Ok((all, dialect))
}

/// Bytes of a number. A second point selects components: `1.0.xxxx` is a number and a swizzle (GLSL 4.60, 5.5).
fn number_length(bytes: &[u8], at: usize) -> usize {
    let length = crate::prescan::number_end(bytes, at) - at;
    let mut points = bytes[at..at + length].iter().enumerate().filter(|(_, byte)| **byte == b'.');
    points.nth(1).map_or(length, |(second, _)| second)
}

/// `#version`, `#extension` and the pragma of Vulkan's memory model; others say nothing to the reader.
fn directive(line: &str, dialect: &mut Dialect) -> Result<()> {
    let mut words =
        line.split(|c: char| c.is_ascii_whitespace() || c == ':').filter(|w| !w.is_empty());
    match words.next() {
        Some("version") => {
            let number = words.next().and_then(|number| number.parse::<u32>().ok());
            let known = [
                100, 110, 120, 130, 140, 150, 300, 310, 320, 330, 400, 410, 420, 430, 440, 450, 460,
            ];
            let Some(number) = number.filter(|number| known.contains(number)) else {
                return Err(Stop::invalid("there is no such version of GLSL"));
            };
            dialect.version = number;
            dialect.stated = true;
            let profile = words.next();
            dialect.compatible = number < 150 || profile == Some("compatibility");
            match profile {
                None => dialect.es = number == 100,
                Some("es") if matches!(number, 100 | 300 | 310 | 320) => dialect.es = true,
                Some("core" | "compatibility") if number >= 150 => {}
                Some(profile) => {
                    let message = format!("version {number} has no profile `{profile}`");
                    return Err(Stop::invalid(message));
                }
            }
            if matches!(number, 300 | 310 | 320) && !dialect.es {
                let message = format!("version {number} needs the profile `es`");
                return Err(Stop::invalid(message));
            }
        }
        Some("extension") => {
            let name = words.next().unwrap_or_default().to_owned();
            match words.next() {
                Some("require" | "enable" | "warn") => {
                    dialect.extensions.insert(name);
                }
                Some("disable") => {
                    dialect.extensions.swap_remove(&name);
                }
                _ => {
                    let message =
                        "`#extension` takes a name, and `require`, `enable`, `warn` or `disable`";
                    return Err(Stop::invalid(message));
                }
            }
        }
        Some("pragma") => dialect.memory_model |= words.next() == Some(MEMORY_MODEL),
        _ => {}
    }
    Ok(())
}
