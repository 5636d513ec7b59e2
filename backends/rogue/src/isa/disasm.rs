//! Groups to text in the form of the Main Instruction Group page: a numbered line with the condition, then a line an
//! operation in the order of phases. What the page's example leaves open stands on lines of its own: sources and internal
//! selectors before the operations, destinations behind them.

use super::fields::f;
use super::group::{Condition, Feed, Group, Ops, Place};
use super::ops::{
    Arg, BBYP0S1, Backend, Bitwise0, Bitwise1, Bitwise2, Control, Main, Mod, Modifiers, Move, Pack,
    Syntax, Test,
};
use super::page;
use super::register::Register;
use super::word::{DESTINATION, DESTINATIONS, LOWER, UPPER};
use gpucc_isa::field::Kind;
use gpucc_isa::{FieldId, Inst};
use std::collections::BTreeSet;
use std::fmt::Write;

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// What the text of a group needs to know of the program around it.
#[derive(Copy, Clone, Debug)]
pub struct Around<'a> {
    /// The number of the group.
    pub number: usize,
    /// Its byte offset.
    pub offset: i64,
    /// Byte offsets of all groups, and behind them the end.
    pub starts: &'a [i64],
    /// Words of padding, where the text says them.
    pub pad: Option<u8>,
}

/// How the text of an operation reads in its place.
pub(super) fn syntax(place: Place, inst: &Inst) -> Syntax {
    let op = inst.op();
    match place {
        Place::P0 | Place::P1 => Main::of(op).syntax(),
        Place::Pack if std::ptr::eq(op.format, &super::fields::PCK) => Pack::of(op).syntax(),
        Place::Pack => Main::of(op).syntax(),
        Place::Test => Test::of(op).syntax(),
        Place::Move => Move::of(op).syntax(),
        Place::Backend => Backend::of(op).syntax(),
        Place::Bitwise0 => Bitwise0::of(op).syntax(),
        Place::Bitwise1 => Bitwise1::of(op).syntax(),
        Place::Bitwise2 => Bitwise2::of(op).syntax(),
        Place::Control => Control::of(op).syntax(),
    }
}

/// What an operation of a group is called, and its operands.
pub fn name_and_args(group: &Group, place: Place, inst: &Inst) -> (&'static str, &'static [Arg]) {
    let before_logic = matches!(group.ops, Ops::Bitwise([_, Some(_), _]));
    if place == Place::Bitwise0 && Bitwise0::of(inst.op()) == Bitwise0::Bbyp && before_logic {
        return ("bbyp0s1", BBYP0S1);
    }
    (inst.op().name, syntax(place, inst).args)
}

/// The name of source `n` of an operation in its place. In phase 2 of the documented example sources are what the page
/// names there.
pub(super) fn source_name(place: Place, n: u8) -> &'static str {
    const NAMES: [&str; 6] = ["s0", "s1", "s2", "s3", "s4", "s5"];
    match place {
        Place::P1 => NAMES[usize::from(n + 3)],
        Place::Pack => ["is0", "ft0", "ft1"][usize::from(n)],
        _ => NAMES[usize::from(n)],
    }
}

/// The result of an arithmetic operation in its place.
pub(super) fn result_name(place: Place) -> &'static str {
    match place {
        Place::P1 => "ft1",
        Place::Pack => "ft2",
        _ => "ft0",
    }
}

/// The number of a source that an operand of an operation reads.
pub fn port_of(place: Place, inst: &Inst, arg: &Arg) -> Option<u8> {
    match *arg {
        Arg::Src(_, _) if place == Place::Pack => None,
        Arg::Src(n, _) => Some(n + if place == Place::P1 { 3 } else { 0 }),
        Arg::Port(n) => Some(n),
        Arg::PortOf(field) => Some(inst.get(field) as u8),
        _ => None,
    }
}

/// Whether a test has one operand. 2.4.
pub fn is_unary(test: &Inst) -> bool {
    test.get(f::TEST) < 4
}

/// Whether a pack makes a constant. 2.3.
pub fn is_constant(pack: &Inst) -> bool {
    !pack.flag(f::PROG) && matches!(pack.get(f::FORMAT), 30 | 31)
}

fn name_of(inst: &Inst, id: FieldId) -> &'static str {
    let field = inst.op().format.field(id).expect("the row's format has the field");
    match field.kind {
        Kind::Enum(set) => set.name_of(inst.get(id)).expect("a decoded value has a name"),
        _ => unreachable!("names stand for enumerations"),
    }
}

/// `.e0.e2` of a mask of bytes; nothing where all are meant.
fn bytes_of(mask: u32) -> String {
    match mask {
        15 => String::new(),
        0 => ".none".into(),
        _ => (0..4).filter(|at| mask >> at & 1 == 1).map(|at| format!(".e{at}")).collect(),
    }
}

fn modifier(inst: &Inst, modifier: Mod) -> String {
    let dotted = |text: &str| format!(".{text}");
    match modifier {
        Mod::Flag(id, word) if inst.flag(id) => dotted(word),
        Mod::Flag(..) => String::new(),
        Mod::Name(id) => dotted(name_of(inst, id)),
        Mod::Unless(id, usual) if inst.get(id) == usual => String::new(),
        Mod::Unless(id, _) => dotted(name_of(inst, id)),
        Mod::Bytes(id) => bytes_of(inst.get(id)),
        Mod::Kept(id) if inst.get(id) == 0 => String::new(),
        Mod::Kept(id) => format!(".kept({})", inst.get(id)),
        Mod::Index(id, _) if inst.get(id) == 0 => String::new(),
        Mod::Index(id, word) => format!(".{word}({})", name_of(inst, id)),
    }
}

fn source(place: Place, inst: &Inst, n: u8, modifiers: Modifiers) -> String {
    let mut text = source_name(place, n).to_owned();
    if let Some(lane) = modifiers.lane.filter(|lane| inst.get(*lane) != 0) {
        put!(text, ".{}", name_of(inst, lane));
    }
    for (id, word) in [(modifiers.flr, "flr"), (modifiers.abs, "abs"), (modifiers.neg, "neg")] {
        if id.is_some_and(|id| inst.flag(id)) {
            put!(text, ".{word}");
        }
    }
    text
}

/// Both choices of a move. 1.5.
fn moved(group: &Group, inst: &Inst) -> String {
    let [w0, w1] = [f::MOV_W0, f::MOV_W1].map(|id| name_of(inst, id));
    let second = group.writes[1].is_some() || inst.get(f::MOV_W1) != 0;
    match (inst.flag(f::ALWAYS), second) {
        (true, false) => format!("w0, {w0}, is4"),
        (true, true) => format!("w0, w1, {w0}, is4, {w1}, is5"),
        (false, false) => format!("w0, _, ftt, {w0}, is4, _, _"),
        (false, true) => format!("w0, w1, ftt, {w0}, is4, {w1}, is5"),
    }
}

/// Where a branch goes: a group of the program, or bytes from the branch. 0.1, 2.7.
fn target(inst: &Inst, around: &Around<'_>) -> String {
    let raw = inst.get(f::OFFSET);
    let bytes = 2 * i64::from((raw << 1) as i32 >> 1);
    let absolute = inst.flag(f::ABSOLUTE);
    let place = if absolute { bytes } else { around.offset + bytes };
    match around.starts.binary_search(&place) {
        Ok(number) => format!("@{number}"),
        Err(_) if absolute => format!("={bytes}"),
        Err(_) => format!("{bytes:+}"),
    }
}

fn operand(place: Place, group: &Group, inst: &Inst, arg: Arg, around: &Around<'_>) -> String {
    match arg {
        Arg::Text(word) => word.into(),
        Arg::Ft => result_name(place).into(),
        Arg::Src(n, modifiers) => source(place, inst, n, modifiers),
        Arg::Port(n) => format!("s{n}"),
        Arg::PortOf(id) => name_of(inst, id).into(),
        Arg::If(id, yes, no) => if inst.flag(id) { yes } else { no }.into(),
        Arg::Second => if is_unary(inst) { "_" } else { "is2" }.into(),
        Arg::Packed => if is_constant(inst) { "_" } else { "is3" }.into(),
        Arg::Moved => moved(group, inst),
        Arg::Number(id) => inst.get(id).to_string(),
        Arg::Count(id) => {
            let field = inst.op().format.field(id).expect("the row's format has the field");
            let value = inst.get(id);
            (if value == 0 { 1 << field.width() } else { value }).to_string()
        }
        Arg::Plus(id) => (inst.get(id) + 1).to_string(),
        Arg::Drc(id) => format!("drc{}", inst.get(id)),
        Arg::Hex(id) => format!("{:#x}", inst.get(id)),
        Arg::Register(prefix, unit, id) => format!("{prefix}{}", inst.get(id) * u32::from(unit)),
        Arg::Target => target(inst, around),
    }
}

/// One operation.
pub(super) fn operation(
    place: Place,
    group: &Group,
    inst: &Inst,
    spare: u8,
    around: &Around<'_>,
) -> String {
    let mods = syntax(place, inst).mods;
    let (name, args) = name_and_args(group, place, inst);
    let mut text = name.to_owned();
    for one in mods {
        text.push_str(&modifier(inst, *one));
    }
    if spare > 0 {
        put!(text, ".long({spare})");
    }
    for (at, arg) in args.iter().enumerate() {
        text.push_str(if at == 0 { " " } else { ", " });
        text.push_str(&operand(place, group, inst, *arg, around));
    }
    text
}

/// Appends ` A, B` and so on as a line, where there is anything.
fn line(out: &mut String, parts: &[String]) {
    if !parts.is_empty() {
        put!(out, " {}\n", parts.join(", "));
    }
}

/// Sources that are read or named.
fn sources(group: &Group, read: &BTreeSet<u8>) -> Vec<String> {
    let sources = group.sources.iter().zip(0u8..);
    let said = sources.filter(|(register, n)| **register != Register::ZERO || read.contains(n));
    said.map(|(register, n)| format!("s{n} = {register}")).collect()
}

/// Whether anything of a main group may ask the external feedthrough: a selector, a move, the high word of an addend, a
/// format that is told at run time.
pub fn asks_external(group: &Group) -> bool {
    let Ops::Main(main) = &group.ops else { return false };
    let fte = Feed::Fte as u32;
    let moves = |mov: Inst| mov.get(f::MOV_W0) == fte || mov.get(f::MOV_W1) == fte;
    let adds = |inst: Inst| matches!(Main::of(inst.op()), Main::Add64 | Main::Imadd64);
    group.selectors.is.contains(&Feed::Fte)
        || main.mov.is_some_and(moves)
        || main.p0.is_some_and(adds)
        || main.documented().is_none() && main.pack.is_some_and(|pack| pack.flag(f::PROG))
}

/// Selectors that something asks, or that are not what a byte of 0 says.
fn selectors(group: &Group) -> Vec<String> {
    let mut said = Vec::new();
    let is = group.selectors.is;
    let mut asked = [false; 5];
    if let Ops::Main(main) = &group.ops {
        asked[0] = main.test.is_some();
        asked[1] = main.test.is_some_and(|test| !is_unary(&test));
        asked[2] = main.documented().is_none() && main.pack.is_some_and(|pack| !is_constant(&pack));
        asked[3] = group.writes[0].is_some() || main.backend.is_some() && main.has_p2();
        asked[4] = group.writes[1].is_some();
    }
    if asks_external(group) || group.selectors.is0 != 0 {
        said.push(format!("is0 = s{}", group.selectors.is0));
    }
    let usual = super::group::Selectors::default().is;
    for (at, feed) in is.iter().enumerate() {
        if asked[at] || *feed != usual[at] {
            said.push(format!("is{} = {}", at + 1, feed.name()));
        }
    }
    said
}

/// What stands behind the number of a group.
fn header(group: &Group, around: &Around<'_>) -> String {
    let mut text = format!("{} :", around.number);
    text.push_str(match group.condition {
        Condition::Runs => "",
        Condition::IfP0 => " if (p0)",
        Condition::IgnorePe => " (ignorepe)",
        Condition::IfNotP0 => " if (!p0)",
    });
    if group.repeat != 1 {
        put!(text, " repeat({})", group.repeat);
    }
    let layout = &group.layout;
    for (there, word) in [
        (group.atom, "atom"),
        (group.olchk, "olchk"),
        (group.end, "end"),
        (layout.long_header, "long"),
    ] {
        if there {
            put!(text, " {word}");
        }
    }
    let destination =
        if group.writes.contains(&None) { &DESTINATION[..] } else { &DESTINATIONS[..] };
    for (word, forms, form) in [
        ("lower", &LOWER[..], layout.lower),
        ("upper", &UPPER[..], layout.upper),
        ("dest", destination, layout.destination),
    ] {
        if let Some(form) = form.and_then(|form| forms.get(usize::from(form))) {
            put!(text, " {word}({})", form.name);
        }
    }
    if let Some(pad) = around.pad {
        put!(text, " pad({pad})");
    }
    text
}

/// Appends the text of a group, each line with its end.
pub fn write_group(out: &mut String, group: &Group, around: &Around<'_>) {
    if let Some(text) = page::example(group, around) {
        out.push_str(&text);
        return;
    }
    put!(out, "{}\n", header(group, around));
    let operations = group.operations();
    let ports = operations.iter().flat_map(|(place, inst)| {
        let (_, args) = name_and_args(group, *place, inst);
        args.iter().filter_map(|arg| port_of(*place, inst, arg))
    });
    let read = ports.collect();
    line(out, &sources(group, &read));
    line(out, &selectors(group));
    for (place, inst) in &operations {
        let spare = match place {
            Place::Control => group.layout.spare[0],
            place => {
                let at = Place::MAIN.iter().position(|known| known == place);
                at.map_or(0, |at| group.layout.spare[at])
            }
        };
        put!(out, " {}\n", operation(*place, group, inst, spare, around));
    }
    let writes = group.writes.iter().enumerate();
    let writes: Vec<String> =
        writes.filter_map(|(n, register)| Some(format!("w{n} = {}", (*register)?))).collect();
    line(out, &writes);
}
