//! One operation of a group from its line: the row by its name, modifiers, operands.

use super::super::disasm::{is_constant, is_unary, result_name, source_name, syntax};
use super::super::fields::f;
use super::super::group::Place;
use super::super::ops::{
    Arg, BACKEND, BBYP0S1, BITWISE0, BITWISE1, BITWISE2, CONTROL, MAIN, MOVE, Mod, Modifiers, PACK,
    TEST,
};
use super::{Parsed, Piece, number};
use gpucc_isa::field::{Field, Kind};
use gpucc_isa::{FieldId, Inst, Op, Table};

/// What a line says.
pub(in crate::isa) struct Read {
    pub place: Place,
    pub inst: Inst,
    pub spare: u8,
    pub target: Option<usize>,
}

/// Tables with the places in which their operations may stand, the usual one first.
const PLACES: [(&Table, &[Place]); 9] = [
    (&MAIN, &[Place::P0, Place::P1, Place::Pack]),
    (&PACK, &[Place::Pack]),
    (&TEST, &[Place::Test]),
    (&MOVE, &[Place::Move]),
    (&BACKEND, &[Place::Backend]),
    (&BITWISE0, &[Place::Bitwise0]),
    (&BITWISE1, &[Place::Bitwise1]),
    (&BITWISE2, &[Place::Bitwise2]),
    (&CONTROL, &[Place::Control]),
];

/// The row whose name begins the words between dots, and how many of them it takes.
fn row(words: &[Piece<'_>]) -> Option<(&'static Op, &'static [Place], usize)> {
    // No name has more than five words.
    (1..=words.len().min(5)).rev().find_map(|count| {
        let name: Vec<&str> = words[..count].iter().map(|word| word.text).collect();
        let name = name.join(".");
        PLACES.iter().find_map(|(table, places)| Some((table.named(&name)?, *places, count)))
    })
}

/// Reads a line of an operation.
pub(in crate::isa) fn read(line: Piece<'_>) -> Parsed<Read> {
    let length = line.text.find(char::is_whitespace).unwrap_or(line.text.len());
    let (name, rest) = (line.within(0, length), line.within(length, line.text.len()));
    let mut words = Vec::new();
    let mut left = name;
    while let Some((word, behind)) = left.split_at('.') {
        words.push(word);
        left = behind;
    }
    words.push(left);
    let Some((op, places, taken)) = row(&words) else {
        return name.wrong(format!("there is no operation {}", words[0].quoted()));
    };
    let args = rest.list();
    let mut first = None;
    for place in places {
        let mut reading = Reading { place: *place, inst: Inst::usual(op), spare: 0, target: None };
        let result =
            reading.modifiers(name, &words[taken..]).and_then(|()| reading.args(name, &args));
        match result {
            Ok(()) => {
                let Reading { place, inst, spare, target } = reading;
                return Ok(Read { place, inst, spare, target });
            }
            Err(error) => first = first.or(Some(error)),
        }
    }
    match first {
        Some(error) => Err(error),
        None => name.wrong("the operation has no place"),
    }
}

struct Reading {
    place: Place,
    inst: Inst,
    spare: u8,
    target: Option<usize>,
}

impl Reading {
    fn field(&self, id: FieldId) -> &'static Field {
        self.inst.op().format.field(id).expect("the row's format has the field")
    }

    fn set(&mut self, piece: Piece<'_>, id: FieldId, value: u32) -> Parsed<()> {
        match self.inst.set(id, value) {
            Ok(()) => Ok(()),
            Err(error) => piece.wrong(error.to_string()),
        }
    }

    /// The value that an enumeration gives this name.
    fn named(&self, id: FieldId, name: &str) -> Option<u32> {
        match self.field(id).kind {
            Kind::Enum(set) => {
                set.members.iter().find(|member| member.name == name).map(|member| member.value)
            }
            _ => None,
        }
    }

    /// The modifiers in the words behind the name.
    fn modifiers(&mut self, name: Piece<'_>, words: &[Piece<'_>]) -> Parsed<()> {
        let mods = syntax(self.place, &self.inst).mods;
        let mut seen = vec![false; mods.len()];
        for word in words {
            if let Some(count) =
                word.text.strip_prefix("long(").and_then(|rest| rest.strip_suffix(')'))
            {
                match count.parse::<u8>() {
                    Ok(count @ 1..=3) => self.spare = count,
                    _ => return word.wrong("an operation has at most 3 bytes more than it needs"),
                }
                continue;
            }
            let mut taken = false;
            for (one, seen) in mods.iter().zip(&mut seen) {
                let again = matches!(one, Mod::Bytes(_));
                if (!*seen || again) && self.modifier(*word, *one, *seen)? {
                    (*seen, taken) = (true, true);
                    break;
                }
            }
            if !taken {
                return word.wrong(format!(
                    "{} has no modifier {}",
                    self.inst.op().name,
                    word.quoted()
                ));
            }
        }
        for (one, _) in mods.iter().zip(seen).filter(|(_, seen)| !*seen) {
            match *one {
                Mod::Name(id) => {
                    return name.wrong(format!(
                        "{} lacks its {}",
                        self.inst.op().name,
                        self.field(id).name
                    ));
                }
                Mod::Unless(id, usual) => self.set(name, id, usual)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a word is this modifier; then it is stored. `again` where it is so for a second time.
    fn modifier(&mut self, word: Piece<'_>, one: Mod, again: bool) -> Parsed<bool> {
        match one {
            Mod::Flag(id, text) if text == word.text => self.set(word, id, 1)?,
            Mod::Flag(..) => return Ok(false),
            Mod::Name(id) | Mod::Unless(id, _) => match self.named(id, word.text) {
                Some(value) => self.set(word, id, value)?,
                None => return Ok(false),
            },
            Mod::Bytes(id) => {
                let before = if again { self.inst.get(id) } else { 0 };
                let bit = match word.text {
                    "none" if !again => 0,
                    "e0" => 1,
                    "e1" => 2,
                    "e2" => 4,
                    "e3" => 8,
                    _ => return Ok(false),
                };
                self.set(word, id, before | bit)?;
            }
            Mod::Kept(id) => match called(word, "kept") {
                Some(value) => {
                    let value = number(value)?;
                    self.set(word, id, value)?;
                }
                None => return Ok(false),
            },
            Mod::Index(id, text) => match called(word, text) {
                Some(value) => match self.named(id, value.text) {
                    Some(value) => self.set(word, id, value)?,
                    None => return value.wrong("expected an index register"),
                },
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn args(&mut self, name: Piece<'_>, given: &[Piece<'_>]) -> Parsed<()> {
        let mut args = syntax(self.place, &self.inst).args;
        if name.text.split('.').next() == Some("bbyp0s1") {
            args = BBYP0S1;
        }
        if let [Arg::Moved] = args {
            return self.moved(name, given);
        }
        if args.len() != given.len() {
            return name.wrong(format!(
                "{} has {} operands, and {} are given",
                self.inst.op().name,
                args.len(),
                given.len()
            ));
        }
        args.iter().zip(given).try_for_each(|(arg, given)| self.arg(*arg, *given))
    }

    fn word(&self, given: Piece<'_>, expected: &str) -> Parsed<()> {
        if given.text == expected {
            return Ok(());
        }
        given.wrong(format!("expected `{expected}`, found {}", given.quoted()))
    }

    fn arg(&mut self, arg: Arg, given: Piece<'_>) -> Parsed<()> {
        match arg {
            Arg::Text(word) => self.word(given, word),
            Arg::Ft => self.word(given, result_name(self.place)),
            Arg::Src(n, modifiers) => self.source(n, modifiers, given),
            Arg::Port(n) => self.word(given, source_name(Place::P0, n)),
            Arg::PortOf(id) => match self.named(id, given.text) {
                Some(value) => self.set(given, id, value),
                None => given.wrong(format!("expected a source, found {}", given.quoted())),
            },
            Arg::If(id, yes, no) => {
                if given.text != yes && given.text != no {
                    return given
                        .wrong(format!("expected `{yes}` or `{no}`, found {}", given.quoted()));
                }
                self.set(given, id, u32::from(given.text == yes))
            }
            Arg::Second => self.word(given, if is_unary(&self.inst) { "_" } else { "is2" }),
            Arg::Packed => self.word(given, if is_constant(&self.inst) { "_" } else { "is3" }),
            Arg::Moved => given.wrong("a move has its operands"),
            Arg::Number(id) | Arg::Hex(id) => {
                let value = number(given)?;
                self.set(given, id, value)
            }
            Arg::Count(id) => {
                let (value, most) = (number(given)?, 1 << self.field(id).width());
                if !(1..=most).contains(&value) {
                    return given.wrong(format!("the count is 1 to {most}"));
                }
                self.set(given, id, value % most)
            }
            Arg::Plus(id) => match number(given)?.checked_sub(1) {
                Some(value) => self.set(given, id, value),
                None => given.wrong("the count is at least 1"),
            },
            Arg::Drc(id) => match given.text {
                "drc0" => self.set(given, id, 0),
                "drc1" => self.set(given, id, 1),
                _ => given.wrong(format!("expected `drc0` or `drc1`, found {}", given.quoted())),
            },
            Arg::Register(prefix, unit, id) => self.register(prefix, unit.into(), id, given),
            Arg::Target => self.target(given),
        }
    }

    /// `s0.abs.neg`.
    fn source(&mut self, n: u8, modifiers: Modifiers, given: Piece<'_>) -> Parsed<()> {
        let mut parts = given.text.split('.');
        let expected = source_name(self.place, n);
        if parts.next() != Some(expected) {
            return given.wrong(format!("expected `{expected}`, found {}", given.quoted()));
        }
        for part in parts {
            let flag = match part {
                "flr" => modifiers.flr,
                "abs" => modifiers.abs,
                "neg" => modifiers.neg,
                _ => None,
            };
            if let Some(id) = flag {
                self.set(given, id, 1)?;
                continue;
            }
            let lane = modifiers.lane.and_then(|id| Some((id, self.named(id, part)?)));
            match lane {
                Some((id, value)) => self.set(given, id, value)?,
                None => {
                    return given
                        .wrong(format!("{expected} has no modifier `{}`", part.escape_debug()));
                }
            }
        }
        Ok(())
    }

    /// Both forms of each move. 1.5.
    fn moved(&mut self, name: Piece<'_>, given: &[Piece<'_>]) -> Parsed<()> {
        let always = self.inst.flag(f::ALWAYS);
        let (words, first, second): (&[(usize, &str)], usize, Option<usize>) =
            match (always, given.len()) {
                (true, 3) => (&[(0, "w0"), (2, "is4")], 1, None),
                (true, 6) => (&[(0, "w0"), (1, "w1"), (3, "is4"), (5, "is5")], 2, Some(4)),
                (false, 7) if given[5].text == "_" => {
                    (&[(0, "w0"), (1, "_"), (2, "ftt"), (4, "is4"), (6, "_")], 3, None)
                }
                (false, 7) => {
                    (&[(0, "w0"), (1, "w1"), (2, "ftt"), (4, "is4"), (6, "is5")], 3, Some(5))
                }
                (true, _) => return name.wrong("movwm has 3 or 6 operands"),
                (false, _) => return name.wrong("movc has 7 operands"),
            };
        for (at, word) in words {
            self.word(given[*at], word)?;
        }
        for (at, id) in [(Some(first), f::MOV_W0), (second, f::MOV_W1)] {
            let Some(at) = at else { continue };
            match self.named(id, given[at].text) {
                Some(value) => self.set(given[at], id, value)?,
                None => {
                    return given[at]
                        .wrong(format!("expected a result, found {}", given[at].quoted()));
                }
            }
        }
        Ok(())
    }

    fn register(&mut self, prefix: &str, unit: u32, id: FieldId, given: Piece<'_>) -> Parsed<()> {
        let digits = given
            .text
            .strip_prefix(prefix)
            .filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()));
        let Some(at) = digits.and_then(|digits| digits.parse::<u32>().ok()) else {
            return given
                .wrong(format!("expected `{prefix}` and a number, found {}", given.quoted()));
        };
        if !at.is_multiple_of(unit) {
            return given.wrong(format!("the register's number is a multiple of {unit}"));
        }
        self.set(given, id, at / unit)
    }

    /// `@12`, `+20`, `-64`, `=128`.
    fn target(&mut self, given: Piece<'_>) -> Parsed<()> {
        let expected = "expected `@` and a group, or a number of bytes with its sign";
        if let Some(group) = given.text.strip_prefix('@') {
            let group = group.parse::<u32>().ok();
            let Some(group) = group.filter(|_| !given.text.starts_with("@+")) else {
                return given.wrong(expected);
            };
            self.target = Some(group as usize);
            return Ok(());
        }
        let absolute = self.inst.flag(f::ABSOLUTE);
        let number = match given.text.strip_prefix('=') {
            Some(number) if absolute => number,
            None if !absolute && given.text.starts_with(['+', '-']) => given.text,
            _ => return given.wrong(expected),
        };
        let Ok(bytes) = number.parse::<i32>() else { return given.wrong(expected) };
        if bytes % 2 != 0 {
            return given.wrong("groups begin at even bytes");
        }
        self.set(given, f::OFFSET, (bytes >> 1) as u32 & 0x7fff_ffff)
    }
}

/// The value of a word `NAME(value)`.
fn called<'a>(word: Piece<'a>, name: &str) -> Option<Piece<'a>> {
    let (before, value) = word.split_at('(')?;
    let length = value.text.strip_suffix(')')?.len();
    (before.text == name).then(|| value.within(0, length))
}
