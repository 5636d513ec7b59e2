//! `@response-file`: arguments from a file, separated by white space, with quotes.

use super::files;
use gpucc::Failure;
use std::ffi::OsString;
use std::path::Path;

/// Response files may name response files this deep.
const DEEPEST: u32 = 8;
/// Arguments that response files may give.
const MOST: usize = 100_000;

/// Replaces every `@file` by the arguments in it.
pub fn expand(args: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, Failure> {
    let mut out = Vec::new();
    for (index, arg) in args.enumerate() {
        // The name of the program is no argument.
        if index == 0 {
            out.push(arg);
        } else {
            push(arg, &mut out, 0)?;
        }
    }
    Ok(out)
}

fn push(arg: OsString, out: &mut Vec<OsString>, depth: u32) -> Result<(), Failure> {
    let file = match arg.to_str().and_then(|text| text.strip_prefix('@')) {
        Some(file) if !file.is_empty() => file.to_owned(),
        _ => {
            out.push(arg);
            return Ok(());
        }
    };
    if depth == DEEPEST {
        return Err(Failure::usage(format!(
            "@{file}: response files name each other more than {DEEPEST} deep"
        )));
    }
    for word in split(&files::read_text(Path::new(&file))?)
        .map_err(|problem| Failure::usage(format!("@{file}: {problem}")))?
    {
        push(word.into(), out, depth + 1)?;
        if out.len() > MOST {
            return Err(Failure::usage(format!("@{file}: more than {MOST} arguments")));
        }
    }
    Ok(())
}

/// Words of a response file: `"` and `'` quote, `\` takes the next character outside of `'`.
fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = chars.next().ok_or("it ends in a backslash")?;
                word.get_or_insert_default().push(next);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn quotes_keep_spaces_and_empty_words() {
        assert_eq!(
            split("a 'b c'\n\"d\\\"e\" '' f\\ g").expect("balanced"),
            ["a", "b c", "d\"e", "", "f g"]
        );
        assert!(split("'open").is_err());
        assert!(split("end\\").is_err());
    }
}
