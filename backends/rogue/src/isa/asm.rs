//! Text to groups; [`super::disasm`] says the form. `#` begins a comment. What the text leaves out is what our own encoder
//! writes.

mod operation;

use super::group::{Condition, Feed, Group, Layout, MainOps, Ops, Place};
use super::page;
use super::register::Register;
use super::word::{DESTINATION, DESTINATIONS, Form, LOWER, UPPER};
use gpucc_isa::{Diagnostic, Inst};

/// A group as its text says it.
#[derive(Debug)]
pub(super) struct Draft {
    pub group: Group,
    /// The line of its number.
    pub line: u32,
    /// The text says the padding.
    pub padded: bool,
    /// The group that its branch goes to, where the text names one.
    pub target: Option<usize>,
}

pub(super) type Parsed<T> = Result<T, Diagnostic>;

/// A piece of a line, with its place.
#[derive(Copy, Clone, Debug)]
pub(super) struct Piece<'a> {
    pub text: &'a str,
    pub line: u32,
    /// Characters before it.
    before: u32,
}

impl<'a> Piece<'a> {
    pub fn wrong<T>(self, message: impl Into<String>) -> Parsed<T> {
        let column = self.before + 1;
        Err(Diagnostic { line: self.line, column, message: message.into() })
    }

    /// `found` as messages quote it.
    pub fn quoted(self) -> String {
        let text: String = self.text.chars().take(40).collect();
        if text.is_empty() { "nothing".into() } else { format!("`{}`", text.escape_debug()) }
    }

    fn within(self, from: usize, to: usize) -> Piece<'a> {
        let before = self.before + self.text[..from].chars().count() as u32;
        Piece { text: &self.text[from..to], line: self.line, before }
    }

    pub fn trim(self) -> Piece<'a> {
        let from = self.text.len() - self.text.trim_start().len();
        self.within(from, from + self.text.trim().len())
    }

    /// What stands before the first of these characters, and what stands behind it.
    pub fn split_at(self, mark: char) -> Option<(Piece<'a>, Piece<'a>)> {
        let at = self.text.find(mark)?;
        Some((self.within(0, at), self.within(at + mark.len_utf8(), self.text.len())))
    }

    /// The pieces between commas, trimmed; none where there is nothing.
    pub fn list(self) -> Vec<Piece<'a>> {
        let mut parts = Vec::new();
        if self.text.trim().is_empty() {
            return parts;
        }
        let mut rest = self;
        while let Some((part, behind)) = rest.split_at(',') {
            parts.push(part.trim());
            rest = behind;
        }
        parts.push(rest.trim());
        parts
    }
}

/// A number without sign, decimal or hexadecimal.
pub(super) fn number(piece: Piece<'_>) -> Parsed<u32> {
    match gpucc_isa::lex::number(piece.text) {
        Some(value) if !piece.text.starts_with('+') => Ok(value),
        _ => piece.wrong(format!("expected a number, found {}", piece.quoted())),
    }
}

/// What a line's group has so far.
struct Building<'a> {
    draft: Draft,
    /// Forms of words by name; the destinations' one is found once these are known.
    destination: Option<Piece<'a>>,
    /// The lines of operations, for the page's example.
    plain: Vec<&'a str>,
    operations: Vec<Piece<'a>>,
    /// A line that the page's example does not have.
    bound: bool,
    /// Whether the text says IS4 and IS5.
    routed: [bool; 2],
}

/// The groups of a text.
///
/// # Errors
/// The first line that is wrong.
pub(super) fn drafts(text: &str) -> Parsed<Vec<Draft>> {
    let mut done = Vec::new();
    let mut building: Option<Building<'_>> = None;
    for (line, whole) in (1..).zip(text.lines()) {
        let code = whole.split('#').next().unwrap_or_default();
        let piece = Piece { text: code, line, before: 0 }.trim();
        if piece.text.is_empty() {
            continue;
        }
        if piece.text.starts_with(|c: char| c.is_ascii_digit()) {
            if let Some(building) = building.take() {
                done.push(building.finish()?);
            }
            building = Some(header(piece, done.len())?);
            continue;
        }
        let Some(building) = &mut building else {
            return piece.wrong("expected the number of a group and `:`");
        };
        if is_binding(piece) {
            building.bindings(piece)?;
        } else {
            building.plain.push(piece.text);
            building.operations.push(piece);
        }
    }
    if let Some(building) = building {
        done.push(building.finish()?);
    }
    Ok(done)
}

/// Whether a line says `name = value`.
fn is_binding(piece: Piece<'_>) -> bool {
    piece.split_at('=').is_some_and(|(name, _)| {
        let name = name.text.trim();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// `12 : if (p0) repeat(4) olchk`.
fn header(piece: Piece<'_>, expected: usize) -> Parsed<Building<'_>> {
    let Some((count, rest)) = piece.split_at(':') else {
        return piece.wrong("expected the number of a group and `:`");
    };
    if count.trim().text != expected.to_string() {
        return piece.wrong(format!("group {expected} is numbered {}", count.trim().quoted()));
    }
    // Until the operations are known, a group of none.
    let group = Group::new(Ops::Main(MainOps::default()));
    let draft = Draft { group, line: piece.line, padded: false, target: None };
    let (plain, operations) = (Vec::new(), Vec::new());
    let routed = [false; 2];
    let mut building =
        Building { draft, destination: None, plain, operations, bound: false, routed };
    let mut rest = rest.trim();
    let conditions = [
        ("if (p0)", Condition::IfP0),
        ("if (!p0)", Condition::IfNotP0),
        ("(ignorepe)", Condition::IgnorePe),
    ];
    for (text, condition) in conditions {
        if let Some(behind) = rest.text.strip_prefix(text) {
            building.draft.group.condition = condition;
            rest = rest.within(rest.text.len() - behind.len(), rest.text.len()).trim();
            break;
        }
    }
    while !rest.text.is_empty() {
        let length = rest.text.find(char::is_whitespace).unwrap_or(rest.text.len());
        building.attribute(rest.within(0, length))?;
        rest = rest.within(length, rest.text.len()).trim();
    }
    Ok(building)
}

/// A form of a word by its name.
fn form(forms: &[Form], name: Piece<'_>) -> Parsed<u8> {
    match forms.iter().position(|form| form.name == name.text) {
        Some(at) => Ok(at as u8),
        None => name.wrong(format!("there is no form {} here", name.quoted())),
    }
}

impl<'a> Building<'a> {
    /// A word behind the number of a group.
    fn attribute(&mut self, piece: Piece<'a>) -> Parsed<()> {
        let group = &mut self.draft.group;
        if let Some((name, value)) = piece.split_at('(') {
            let Some(length) = value.text.strip_suffix(')').map(str::len) else {
                return piece.wrong(format!("expected `)` at the end of {}", piece.quoted()));
            };
            let value = value.within(0, length);
            match name.text {
                "repeat" => match number(value)? {
                    count @ 1..=4 => group.repeat = count as u8,
                    _ => return value.wrong("a group repeats 1 to 4 times"),
                },
                "pad" => match number(value)? {
                    words @ 0..=15 => {
                        group.layout.pad = words as u8;
                        self.draft.padded = true;
                    }
                    _ => return value.wrong("at most 15 words of padding"),
                },
                "lower" => group.layout.lower = Some(form(&LOWER, value)?),
                "upper" => group.layout.upper = Some(form(&UPPER, value)?),
                "dest" => self.destination = Some(value),
                _ => return name.wrong(format!("a group has no attribute {}", name.quoted())),
            }
            return Ok(());
        }
        match piece.text {
            "atom" => group.atom = true,
            "olchk" => group.olchk = true,
            "end" => group.end = true,
            "long" => group.layout.long_header = true,
            _ => return piece.wrong(format!("a group has no attribute {}", piece.quoted())),
        }
        Ok(())
    }

    /// `s0 = r4, is0 = s0, w0 = r1`.
    fn bindings(&mut self, piece: Piece<'a>) -> Parsed<()> {
        self.bound = true;
        for part in piece.list() {
            let Some((name, value)) = part.split_at('=') else {
                return part.wrong(format!("expected `name = value`, found {}", part.quoted()));
            };
            self.binding(name.trim(), value.trim())?;
        }
        Ok(())
    }

    fn binding(&mut self, name: Piece<'a>, value: Piece<'a>) -> Parsed<()> {
        let group = &mut self.draft.group;
        let numbered = |prefix: &str, count: usize| {
            let at = name.text.strip_prefix(prefix)?.parse::<usize>().ok()?;
            (at < count && name.text.len() == prefix.len() + 1).then_some(at)
        };
        let register = || match Register::parse(value.text) {
            Some(register) => Ok(register),
            None => value.wrong(format!("there is no register {}", value.quoted())),
        };
        if let Some(at) = numbered("s", 6) {
            group.sources[at] = register()?;
        } else if let Some(at) = numbered("w", 2) {
            group.writes[at] = Some(register()?);
        } else if name.text == "is0" {
            let source = value.text.strip_prefix('s').filter(|digit| digit.len() == 1);
            match source.and_then(|digit| digit.parse().ok()).filter(|source| *source < 6) {
                Some(source) => group.selectors.is0 = source,
                None => return value.wrong(format!("expected a source, found {}", value.quoted())),
            }
        } else if let Some(at) = numbered("is", 6) {
            let feed = Feed::ALL.into_iter().find(|feed| feed.name() == value.text);
            let possible: &[Feed] = match at {
                1 => &[Feed::Ft0, Feed::Fte],
                2 => &[Feed::Ft1, Feed::Fte],
                3 => &[Feed::Ft0, Feed::Ft1, Feed::Fte],
                _ => &Feed::ALL,
            };
            match feed.filter(|feed| possible.contains(feed)) {
                Some(feed) => {
                    group.selectors.is[at - 1] = feed;
                    if let Some(port) = at.checked_sub(4) {
                        self.routed[port] = true;
                    }
                }
                None => {
                    return value.wrong(format!("is{at} cannot be {}", value.quoted()));
                }
            }
        } else {
            return name.wrong(format!("nothing is called {}", name.quoted()));
        }
        Ok(())
    }

    /// The group with its operations.
    fn finish(mut self) -> Parsed<Draft> {
        let layout = self.draft.group.layout;
        let bare = !self.bound && self.destination.is_none() && layout == Layout::default();
        if bare && let Some(example) = page::parse(self.draft.group.condition, &self.plain) {
            let usual = Group {
                ops: example.ops.clone(),
                selectors: example.selectors,
                ..self.draft.group
            };
            self.draft.group = usual;
            return Ok(self.draft);
        }
        let mut given: Vec<(Place, Inst, u8)> = Vec::new();
        for line in std::mem::take(&mut self.operations) {
            let read = operation::read(line)?;
            if given.last().is_some_and(|(place, ..)| *place >= read.place) {
                return line.wrong("operations stand in the order of phases, a test before a move, the backend last");
            }
            self.draft.target = self.draft.target.or(read.target);
            given.push((read.place, read.inst, read.spare));
        }
        self.place(&given)?;
        self.route();
        if let Some(name) = self.destination {
            let both = !self.draft.group.writes.contains(&None);
            let forms = if both { &DESTINATIONS[..] } else { &DESTINATION[..] };
            self.draft.group.layout.destination = Some(form(forms, name)?);
        }
        Ok(self.draft)
    }

    /// What drives write ports of which the text does not say it: the last phase that is there W0, the one before it W1
    /// (page, Example).
    fn route(&mut self) {
        let group = &mut self.draft.group;
        let Ops::Main(ops) = &group.ops else { return };
        let results = [(&ops.pack, Feed::Ft2), (&ops.p1, Feed::Ft1), (&ops.p0, Feed::Ft0)];
        let mut results = results.into_iter().filter_map(|(op, feed)| op.as_ref().map(|_| feed));
        for port in 0..2 {
            let Some(feed) = results.next() else { return };
            if group.writes[port].is_some() && !self.routed[port] {
                group.selectors.is[3 + port] = feed;
            }
        }
    }

    fn place(&mut self, given: &[(Place, Inst, u8)]) -> Parsed<()> {
        let line = self.draft.line;
        let wrong = |message: &str| Err(Diagnostic { line, column: 1, message: message.into() });
        let group = &mut self.draft.group;
        let Some((first, inst, spare)) = given.first() else {
            return wrong("a group has an operation");
        };
        let mixed = "the main ALU, the bitwise ALU and control do not stand in one group";
        group.ops = match first {
            Place::Control if given.len() == 1 => {
                group.layout.spare[0] = *spare;
                Ops::Control(*inst)
            }
            Place::Bitwise0 | Place::Bitwise1 | Place::Bitwise2 => {
                let mut phases = [None; 3];
                for (place, inst, _) in given {
                    match Place::BITWISE.iter().position(|known| known == place) {
                        Some(at) => phases[at] = Some(*inst),
                        None => return wrong(mixed),
                    }
                }
                Ops::Bitwise(phases)
            }
            Place::Control => return wrong(mixed),
            _ => {
                let mut places = [None; 6];
                for (place, inst, spare) in given {
                    match Place::MAIN.iter().position(|known| known == place) {
                        Some(at) => {
                            places[at] = Some(*inst);
                            group.layout.spare[at] = *spare;
                        }
                        None => return wrong(mixed),
                    }
                }
                let [p0, p1, pack, test, mov, backend] = places;
                Ops::Main(MainOps { p0, p1, pack, test, mov, backend })
            }
        };
        if matches!(group.ops, Ops::Bitwise(_)) && given.iter().any(|(_, _, spare)| *spare > 0) {
            return wrong("operations of bitwise groups have one form");
        }
        Ok(())
    }
}
