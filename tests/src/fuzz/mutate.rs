//! Mutations of sources. A mutation of text keeps its words whole and prefers words of the same kind, for what no
//! reader takes tests nothing behind the reader.

use super::Language;
use super::vocabulary::{self, GROUPS, NUMBERS, OPERATORS};
use gpucc_ir::ssa::random::Rng;

/// Mutated sources have no more bytes than this: the promise of bounded time and memory is about those.
pub const MOST_BYTES: usize = 65_535;

/// A mutation of `seed`, with pieces of `other`, a seed of the same language. At most [`MOST_BYTES`] long.
pub fn source(rng: &mut Rng, language: Language, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut made = match language {
        // Bytes that are no text reach the readers too.
        _ if rng.one_in(24) => bytes(rng, seed),
        Language::SpirV => super::words::module(rng, seed, other),
        _ => {
            let (seed, other) = (String::from_utf8_lossy(seed), String::from_utf8_lossy(other));
            text(rng, language, &seed, &other).into_bytes()
        }
    };
    made.truncate(MOST_BYTES);
    made
}

/// A mutation of some bytes: pieces removed, repeated, swapped, or overwritten.
pub fn bytes(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + rng.below(6) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = rng.below(bytes.len());
        let length = 1 + rng.below(12.min(bytes.len() - at));
        match rng.below(5) {
            0 => bytes[at] = rng.bits() as u8,
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let piece = bytes[at..at + length].to_vec();
                let to = rng.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            3 => bytes.truncate(at),
            _ => {
                bytes[at] = *b"(){}<>[];,.+-*/=&|!0123456789\0\xff".get(rng.below(31)).unwrap_or(&0)
            }
        }
    }
    bytes
}

/// What a word is, as far as mutations care.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Kind {
    Number,
    Type,
    Name,
    Space,
    /// An operator: what may stand between two operands.
    Operator,
    /// Brackets and separators.
    Mark,
}

const MARKS: &[&str] = &["(", ")", "[", "]", "{", "}", ",", ";", "@", "#", "\"", "\\", "\n"];

fn kind(language: Language, word: &str) -> Kind {
    let first = word.chars().next().unwrap_or(' ');
    if first.is_whitespace() {
        Kind::Space
    } else if first.is_ascii_digit() {
        Kind::Number
    } else if first.is_alphanumeric() || first == '_' {
        if vocabulary::of(language).types.contains(&word) { Kind::Type } else { Kind::Name }
    } else if "()[]{},;@#\"\\".contains(first) {
        Kind::Mark
    } else {
        Kind::Operator
    }
}

/// A mutation of text, with pieces of `other`: words swapped, removed, repeated or taken from elsewhere, numbers
/// replaced by those at the edges of types, whole statements and brackets moved, pieces repeated very often.
pub fn text(rng: &mut Rng, language: Language, seed: &str, other: &str) -> String {
    let mut list = words(seed);
    let others = words(other);
    // One change leaves most sources valid, and those reach furthest.
    let changes = match rng.below(8) {
        0..4 => 1,
        4..6 => 2,
        6 => 3 + rng.below(3),
        _ => 6 + rng.below(20),
    };
    let mut length = seed.len();
    for _ in 0..changes {
        if list.is_empty() {
            break;
        }
        change(rng, language, &mut list, &others);
        length = list.iter().map(|word| word.len()).sum();
        if length > MOST_BYTES {
            break;
        }
    }
    let mut made = String::with_capacity(length);
    for word in list {
        if made.len() + word.len() > MOST_BYTES {
            break;
        }
        made.push_str(word);
    }
    made
}

/// A place whose word is no white space, if a few tries find one.
fn place(rng: &mut Rng, list: &[&str]) -> usize {
    let mut at = rng.below(list.len());
    for _ in 0..4 {
        if !list[at].starts_with(char::is_whitespace) {
            break;
        }
        at = rng.below(list.len());
    }
    at
}

/// The next place from `at` on, round the end, where `wanted` holds.
fn next(list: &[&str], at: usize, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    let places = (at..list.len()).chain(0..at);
    places.into_iter().find(|&place| wanted(list[place]))
}

fn change<'a>(rng: &mut Rng, language: Language, list: &mut Vec<&'a str>, others: &[&'a str]) {
    let at = place(rng, list);
    match rng.below(20) {
        // A word becomes another of its kind: the likeliest to stay valid.
        0..6 => list[at] = alike(rng, language, at, list, others),
        6 | 7 => {
            if let Some(at) = next(list, at, |word| kind(language, word) == Kind::Number) {
                list[at] = alike(rng, language, at, list, others);
            }
        }
        // A statement within another.
        8 => {
            let frames = vocabulary::of(language).frames;
            if !frames.is_empty() {
                let (before, after) = rng.pick(frames);
                let range = statement(list, at);
                list.insert(range.end, after);
                list.insert(range.start, before);
            }
        }
        9 => {
            let to = place(rng, list);
            list.swap(at, to);
        }
        10 => drop(list.remove(at)),
        11 => {
            let word = list[place(rng, list)];
            list.insert(at, word);
        }
        // Statements removed, repeated, moved, or taken from the other source.
        12 => drop(list.drain(statement(list, at))),
        13 => {
            let piece = list[statement(list, at)].to_vec();
            let to = statement(list, place(rng, list)).start;
            list.splice(to..to, piece);
        }
        14 | 15 if !others.is_empty() => {
            let piece = &others[statement(others, place(rng, others))];
            let to = statement(list, at);
            let to = if rng.one_in(2) { to } else { to.start..to.start };
            list.splice(to, piece.iter().copied());
        }
        // What stands in brackets becomes what stands in others.
        16 => {
            if let (Some(a), Some(b)) = (group(list, at), group(list, place(rng, list))) {
                let piece = list[b].to_vec();
                list.splice(a, piece);
            }
        }
        17 => {
            let end = list.len().min(at + 1 + rng.below(40));
            let piece = list[at..end].to_vec();
            list.splice(at..at, piece);
        }
        // Something very often: nesting, long lists, long chains.
        18 => {
            let piece = match rng.below(3) {
                0 => list[statement(list, at)].to_vec(),
                1 => group(list, at).map_or_else(Vec::new, |range| list[range].to_vec()),
                _ => list[at..list.len().min(at + 1 + rng.below(4))].to_vec(),
            };
            let bytes = piece.iter().map(|word| word.len()).sum::<usize>().max(1);
            let often = (1 << rng.below(14)).min(MOST_BYTES / bytes);
            let repeated = piece.iter().copied().cycle().take(piece.len() * often);
            list.splice(at..at, repeated);
        }
        _ => list.truncate(at),
    }
}

/// A word for a place: most often one that leaves the text valid, else another of its kind from this source, from the
/// other one, or of the language.
fn alike<'a>(
    rng: &mut Rng,
    language: Language,
    at: usize,
    list: &[&'a str],
    others: &[&'a str],
) -> &'a str {
    let word = list[at];
    let of = kind(language, word);
    if !rng.one_in(4) {
        if let Some(group) = GROUPS.iter().find(|group| group.contains(&word)) {
            return rng.pick(group);
        }
        if of == Kind::Number {
            // The name of a value is a number behind a mark: another value's.
            let valued = |place: usize| place > 0 && list[place - 1] == "%";
            if language == Language::Ir && valued(at) {
                let start = rng.below(list.len());
                let mut places = (start..list.len()).chain(0..start);
                return places.find(|&place| valued(place)).map_or(word, |place| list[place]);
            }
            let like = |number: &str| form(number) == form(word);
            let start = rng.below(NUMBERS.len());
            let mut numbers = NUMBERS.iter().cycle().skip(start).take(NUMBERS.len());
            if let Some(number) = numbers.find(|number| like(number)) {
                return number;
            }
        }
    }
    let known = match of {
        Kind::Number => &NUMBERS[..],
        Kind::Type => &vocabulary::of(language).types,
        Kind::Name => &vocabulary::of(language).names,
        Kind::Operator => &OPERATORS,
        Kind::Mark => MARKS,
        Kind::Space => &[" ", "\n", "\t"],
    };
    let from = match rng.below(4) {
        0 if !known.is_empty() => return rng.pick(known),
        1 if !others.is_empty() => others,
        _ => list,
    };
    let at = place(rng, from);
    next(from, at, |word| kind(language, word) == of).map_or("", |at| from[at])
}

/// Whether a number is a float, and its suffix.
fn form(number: &str) -> (bool, Option<char>) {
    let last = number.chars().next_back().filter(|c| matches!(c, 'u' | 'i' | 'f' | 'h'));
    let hexadecimal = number.starts_with("0x");
    let float =
        number.contains('.') || number.contains('p') || (!hexadecimal && number.contains('e'));
    (float, last.filter(|_| !hexadecimal))
}

/// The words from behind the last `;`, `{`, `}` or end of line before a place up to the next such mark, a bracketed
/// body included.
fn statement(list: &[&str], at: usize) -> std::ops::Range<usize> {
    let ends = |word: &&str| matches!(*word, ";" | "{" | "}");
    let start = list[..at].iter().rposition(ends).map_or(0, |place| place + 1);
    let mut depth = 0_u32;
    for (place, word) in list.iter().enumerate().skip(start) {
        match *word {
            "{" => depth += 1,
            "}" if depth <= 1 => {
                return start..place + usize::from(depth == 1);
            }
            "}" => depth -= 1,
            ";" if depth == 0 => return start..place + 1,
            _ => {}
        }
        // Line by line where a language has no marks between statements.
        if depth == 0 && place > at && word.contains('\n') {
            return start.max(line_start(list, at))..place + 1;
        }
    }
    start..list.len()
}

fn line_start(list: &[&str], at: usize) -> usize {
    let line = |word: &&str| word.contains('\n');
    list[..at].iter().rposition(line).map_or(0, |place| place + 1)
}

/// The words between the first opening bracket from `at` on and its partner, the brackets included.
fn group(list: &[&str], at: usize) -> Option<std::ops::Range<usize>> {
    let start = (at..list.len()).find(|&place| matches!(list[place], "(" | "[" | "{"))?;
    let mut depth = 0_u32;
    for (place, word) in list.iter().enumerate().skip(start) {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth -= 1;
                if depth == 0 {
                    return Some(start..place + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Identifiers and numbers, stretches of white space, and everything else one by one.
pub fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let end = chars.peek().map_or(text.len(), |&(at, _)| at);
        let goes_on =
            chars.peek().is_some_and(|&(_, next)| class(next) == class(c) && class(c) < 2);
        if !goes_on {
            words.push(&text[start..end]);
            start = end;
        }
    }
    words
}
