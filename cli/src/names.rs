//! Names of files as messages and make rules show them.

use gpucc::Failure;
pub use gpucc::printable;
use std::fmt::Write as _;
use std::path::Path;

/// A path on one line that must not move a terminal's cursor or reverse its text. Control characters and bytes that
/// are no text are escaped as in Rust (`\n`, `\x1b`, `\u{202e}`).
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(&printable(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Where a name stands in a make rule.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// In front of the colon.
    Target,
    /// Behind it.
    Source,
}

/// A name in a make rule that GNU make reads back byte for byte. Blanks, `#`, `:` and patterns have a backslash, and
/// `$` is doubled. GNU make, 4.2 (Rule Syntax), 4.4 (Wildcards). What these leave open was tried on make 4.3.
///
/// # Errors
/// Characters that no escape brings through a rule.
pub fn in_rule(path: &Path, side: Side) -> Result<Vec<u8>, Failure> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let refuse = |what: &str| {
        Failure::usage(format!(
            "{} cannot stand in a make rule: make has no escape for {what}",
            shown(path)
        ))
        .note("rename the file, or leave out --depfile")
    };
    let mut rule = Vec::with_capacity(bytes.len());
    let mut plain = bytes;
    while let Some(rest) = plain.strip_prefix(b"./") {
        plain = rest;
    }
    if plain.starts_with(b"~") {
        // A user's folder, and make drops `./` before it looks.
        return Err(refuse("`~` at the beginning"));
    }
    for (at, &byte) in bytes.iter().enumerate() {
        let last = at + 1 == bytes.len();
        match byte {
            b'\n' | b'\r' => return Err(refuse("line breaks")),
            b'\t' | b'\x0b' | b'\x0c' => return Err(refuse("tabs and page breaks")),
            b' ' | b'\\' if last => return Err(refuse("a blank or backslash at the end")),
            b';' => return Err(refuse("`;`")),
            b'=' => return Err(refuse("`=`")),
            b'%' if side == Side::Target => return Err(refuse("`%` in what is made")),
            b'&' if side == Side::Target && last => return Err(refuse("`&` at the end")),
            b'\\' if cfg!(windows) => rule.push(b'/'),
            b'$' => rule.extend_from_slice(b"$$"),
            b' ' | b'#' | b':' | b'*' | b'?' | b'[' | b'|' => {
                if byte == b'|' && side == Side::Target {
                    rule.push(byte);
                    continue;
                }
                // Backslashes in front of an escape are read in pairs.
                let before = bytes[..at].iter().rev().take_while(|&&b| b == b'\\');
                rule.extend(before.map(|_| b'\\'));
                rule.extend_from_slice(&[b'\\', byte]);
            }
            _ => rule.push(byte),
        }
    }
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_reaches_a_terminal_but_its_letters() {
        assert_eq!(printable("a b/ä.wgsl"), "a b/ä.wgsl");
        assert_eq!(
            printable("a\x1b[2J\n\u{9b}m\u{202e}\x7f\t"),
            "a\\x1b[2J\\n\\u{9b}m\\u{202e}\\x7f\\t"
        );
        for c in (0..0x2100).filter_map(char::from_u32) {
            let clean = printable(&c.to_string());
            assert!(!clean.chars().any(char::is_control), "{c:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_are_shown_as_numbers() {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"a\xff\x1b.wgsl");
        assert_eq!(shown(Path::new(name)), "a\\xff\\x1b.wgsl");
    }
}
