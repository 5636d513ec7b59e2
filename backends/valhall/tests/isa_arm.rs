//! The table against Arm's description of v9, which stays in ../shared; without it this test says so and passes.

use crate::foreign::text_or_skip;
use gpucc_valhall::isa::{Opcode, TABLE, alias, limits};
use std::collections::{BTreeMap, BTreeSet};

fn description() -> Option<String> {
    text_or_skip("isa/arm-mali-isa-v9-v14.xml")
}

/// The attributes of a tag; the file has one tag a line.
fn attributes(line: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    let mut rest = line;
    while let Some((name, after)) = rest.split_once("=\"") {
        let (value, next) = after.split_once('"').expect("a closed value");
        found.insert(name.rsplit(' ').next().expect("a name"), value);
        rest = next;
    }
    found
}

#[derive(Default)]
struct Described {
    name: String,
    /// Arm's other name for it, if it is but another name.
    alias_of: Option<String>,
    exact: u64,
    /// Position, and the values that the description allows.
    fields: Vec<(u32, Vec<u64>)>,
    /// Position, width, allowed values if not all.
    ranges: Vec<(u32, u32, Option<Vec<u64>>)>,
}

fn in_v9(attributes: &BTreeMap<&str, &str>) -> bool {
    let number = |name: &str| attributes[name].parse::<u32>().expect("a number");
    number("since") <= 9 && 9 <= number("until")
}

fn full_name(name: &str, variant: Option<&&str>) -> String {
    match variant {
        Some(variant) => format!("{name}.{variant}"),
        None => name.to_owned(),
    }
}

/// Instructions of v9 with all their fields.
fn read(text: &str) -> Vec<Described> {
    let mut enums: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    let mut current: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        let its = || attributes(line);
        if line.starts_with("<enum ") {
            current = Some(its()["name"]).filter(|_| in_v9(&its()));
        } else if line.starts_with("<value ")
            && let Some(name) = current
        {
            let its = its();
            let value = its["value"].parse().expect("a number");
            enums.entry(name).or_default().insert(its["name"], value);
        }
    }
    let mut all = Vec::new();
    let mut open: Option<Described> = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with("<instruction ") {
            let its = attributes(line);
            open = in_v9(&its).then(|| Described {
                name: full_name(its["name"], its.get("variant")),
                alias_of: its.get("alias").map(|name| full_name(name, its.get("alias_variant"))),
                ..Described::default()
            });
        } else if line == "</instruction>" {
            all.extend(open.take());
        } else if line.starts_with("<field ")
            && let Some(described) = &mut open
        {
            let its = attributes(line);
            let (at, width): (u32, u32) =
                (its["pos"].parse().expect("a position"), its["width"].parse().expect("a width"));
            let set = its.get("type").and_then(|name| enums.get(name));
            let value = |name: &str| match name.parse() {
                Ok(value) => value,
                Err(_) => set.expect("a named value has an enum")[name],
            };
            if let Some(exact) = its.get("exact") {
                described.exact |= value(exact) << at;
            } else {
                let values = match (its.get("restrict"), set) {
                    (Some(names), _) => names.split(' ').map(value).collect(),
                    (None, Some(set)) => set.values().copied().collect(),
                    // Registers and sources are even, so that pairs and groups are legal.
                    _ if (6..=8).contains(&width) => vec![0, 2, 0x14],
                    _ => vec![0, (1 << width) - 1, 1 << (width - 1), 1],
                };
                let free = !its.contains_key("restrict") && set.is_none();
                described.ranges.push((at, width, (!free).then(|| values.clone())));
                described.fields.push((at, values));
            }
        }
    }
    all
}

#[test]
fn every_encoding_of_arms_v9_description_is_a_word_of_its_row() {
    let Some(text) = description() else { return };
    let described = read(&text);
    assert!(described.len() > 300, "{}", described.len());
    let mut wrong = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for instruction in &described {
        let base = instruction
            .fields
            .iter()
            .fold(instruction.exact, |word, (at, values)| word | values[0] << at);
        let mut words = vec![base];
        for (at, values) in &instruction.fields {
            let without = base ^ values[0] << at;
            words.extend(values.iter().map(|value| without | value << at));
        }
        for word in words {
            match TABLE.decode(u128::from(word)) {
                Ok(inst) => {
                    let row = inst.op();
                    seen.insert(row.cite);
                    let is_it = row.cite == instruction.name
                        || instruction.alias_of.as_deref() == Some(row.cite)
                        || alias::named(&instruction.name)
                            .is_some_and(|alias| alias.opcode.op().id == row.id);
                    if !is_it {
                        wrong.insert(format!("{}: {word:#018x} is {}", instruction.name, row.name));
                    }
                }
                Err(error) => {
                    wrong.insert(format!("{}: {word:#018x}: {error}", instruction.name));
                }
            }
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    let unseen: Vec<&str> = TABLE
        .ops
        .iter()
        .filter(|op| op.cite != "-" && !seen.contains(op.cite))
        .map(|op| op.name)
        .collect();
    assert_eq!(unseen, Vec::<&str>::new(), "rows that Arm's description lacks");
}

#[test]
fn every_name_of_arms_v9_description_is_taken() {
    let Some(text) = description() else { return };
    let unknown: Vec<String> = read(&text)
        .into_iter()
        .map(|instruction| instruction.name)
        .filter(|name| TABLE.named(name).is_none() && alias::named(name).is_none())
        .collect();
    assert_eq!(unknown, Vec::<String>::new());
}

/// Whether the description allows a word.
fn allows(instruction: &Described, word: u64) -> bool {
    let mut rest = word ^ instruction.exact;
    for (at, width, values) in &instruction.ranges {
        let value = word >> at & ((1 << width) - 1);
        if values.as_ref().is_some_and(|values| !values.contains(&value)) {
            return false;
        }
        rest &= !(((1u64 << width) - 1) << at);
    }
    rest == 0
}

#[test]
fn the_limits_are_those_of_arms_description() {
    let Some(text) = description() else { return };
    let described = read(&text);
    let mut wrong = Vec::new();
    for &row in Opcode::ALL {
        let op = row.op();
        let forms: Vec<&Described> = described
            .iter()
            .filter(|form| form.alias_of.is_none())
            .filter(|form| {
                form.name == op.cite
                    || form.name.starts_with("ACMPXCHG")
                        && form.name.rsplit('.').next() == op.cite.rsplit('.').next()
                        && op.cite.starts_with("ATOM_RETURN")
            })
            .collect();
        for form in &forms {
            let first = |word, (at, values): &(u32, Vec<u64>)| word | values[0] << at;
            let word = form.fields.iter().fold(form.exact, first);
            let base = u128::from(word) & !op.mask | op.bits;
            for field in op.format.fields() {
                if op.is_fixed(field) || field.width() > 8 {
                    continue;
                }
                for value in (0..1 << field.width()).filter(|value| field.accepts(*value)) {
                    let word = field.put(base, value) as u64;
                    let arms = forms.iter().any(|form| allows(form, word));
                    let inst = TABLE.decode(u128::from(word)).expect("the table takes it");
                    let ours = limits::check(&inst);
                    if arms != ours.is_ok() {
                        wrong.push(format!("{word:#018x} {}: {arms} {ours:?}", op.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
