//! Our text of foreign groups beside the public compiler's: the same operations with the same modifiers and operands, the
//! same registers, the same selectors.

use crate::isa_golden::{bytes, lists, told};
use gpucc_isa::FieldId;
use gpucc_rogue::isa::fields::f;
use gpucc_rogue::isa::group::{Feed, Group, MUX};
use gpucc_rogue::isa::{decode, disassemble};
use std::collections::{BTreeMap, BTreeSet};

/// What a text of a group says, whoever wrote it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Said {
    condition: String,
    repeat: u32,
    /// Sources, selectors and destinations by name.
    bindings: BTreeMap<String, String>,
    operations: Vec<(BTreeSet<String>, Vec<String>)>,
}

/// The first register of a range, however it is written: `cf[4..7]`, `cf4..7`, `cf4`.
fn register(text: &str) -> String {
    let first = text.split("..").next().unwrap_or(text);
    let relative = first.contains("[idx");
    let plain = if relative { first.to_owned() } else { first.replace(['[', ']'], "") };
    // One number is one register, whatever it is called: constants, internal ones and pixel outputs are special registers.
    let (name, number) =
        plain.split_at(plain.find(|c: char| c.is_ascii_digit()).unwrap_or(plain.len()));
    match (name, number.parse::<u32>()) {
        ("sc" | "sr", Ok(number)) => match number {
            32..=35 => format!("po{}", number - 32),
            36..=43 => format!("i{}", number - 36),
            number => format!("special{number}"),
        },
        _ => plain,
    }
}

/// An operand: numbers as numbers.
fn operand(text: &str) -> String {
    let digits = text.strip_suffix('u').unwrap_or(text);
    if let Some(hexadecimal) = digits.strip_prefix("0x")
        && let Ok(value) = u32::from_str_radix(hexadecimal, 16)
    {
        return value.to_string();
    }
    if let Ok(value) = digits.parse::<i64>() {
        return (value as u32).to_string();
    }
    if let Some(Ok(value)) = text.strip_suffix('f').map(str::parse::<f32>) {
        return format!("float {:.6}", value);
    }
    let is_register =
        text.starts_with(['r', 'c', 'v']) && text.contains(|c: char| c.is_ascii_digit());
    if is_register { register(text) } else { text.to_owned() }
}

/// The words of a name, with one name for what the public text calls in several ways.
fn words(name: &str) -> BTreeSet<String> {
    let name = match name {
        // The same bits: which result is meant follows from the phases beside it.
        "byp" => "bbyp0bm",
        "mbyp0" | "mbyp1" => "mbyp",
        name => name,
    };
    let quiet = ["phase2end", "none"];
    let words = name.split('.').filter(|word| !quiet.contains(word) && !word.is_empty());
    words.map(str::to_owned).collect()
}

fn operation(text: &str) -> (BTreeSet<String>, Vec<String>) {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut words = words(name);
    let mut args: Vec<String> =
        rest.split(',').map(str::trim).filter(|arg| !arg.is_empty()).map(operand).collect();
    // Vendors' bit 7 says nothing that anyone knows; older texts say nothing of an immediate but its value.
    words.remove("b7");
    let immediate = args.last().is_some_and(|arg| {
        arg.starts_with(|c: char| c.is_ascii_digit()) || arg.starts_with("float")
    });
    if immediate && words.remove("bbyp0bm") {
        words.insert("bbyp0bm_imm32".into());
    }
    let is = |name: &str| words.contains(name);
    // A branch names blocks.
    if is("br") {
        args.clear();
        words.retain(|word| word != "next" && word != "skip_next");
    }
    if words.iter().any(|word| word.starts_with("bbyp0bm_imm")) {
        args.drain(..3);
    }
    if words.contains("shift") {
        // The width of a partial word is an operand there; here it is ft0 in every such shift.
        args.pop();
    }
    (words, args)
}

/// The public compiler's text.
fn public(text: &str) -> Said {
    let mut said = Said { repeat: 1, ..Said::default() };
    let text = match (text.find("/*"), text.find("*/")) {
        (Some(from), Some(to)) => format!("{} {}", &text[..from], &text[to + 2..]),
        _ => text.to_owned(),
    };
    let (before, body) = text.split_once('{').expect("a group");
    said.condition = before.replace(' ', "").replace("(rpt4)", "");
    if before.contains("(rpt4)") {
        said.repeat = 4;
    }
    let body = body.rsplit_once('}').map_or(body, |(body, _)| body);
    let labels = [
        "p0:", "p1:", "p2:", "p2pck:", "p2_pck:", "p2_tst:", "p2_mov:", "backend:", "ctrl:",
        "p0bm:",
    ];
    let mut flat = body.replace("is4/w0", "is4").replace("(rpt4)", "repeat 4");
    for label in labels {
        flat = flat.replace(&format!(" {label}"), &format!(";@{label}"));
    }
    for part in flat.split(';') {
        let part = part.trim();
        let stated = part.strip_prefix('@').and_then(|part| part.split_once(':'));
        match stated {
            Some((_, text)) => {
                let text = text.trim();
                let text = text.strip_prefix("repeat 4 ").unwrap_or(text);
                said.operations.push(operation(text));
            }
            None => bindings(part, &mut said),
        }
    }
    said
}

fn bindings(part: &str, said: &mut Said) {
    let spaced = part.replace('=', " = ").replace(',', " ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    for (at, token) in tokens.iter().enumerate() {
        if *token == "repeat" {
            said.repeat = tokens[at + 1].parse().expect("a count");
        }
        if *token == "=" {
            said.bindings.insert(tokens[at - 1].into(), register(tokens[at + 1]));
        }
    }
}

/// Our own text.
fn ours(text: &str) -> Said {
    let mut said = Said { repeat: 1, ..Said::default() };
    for line in text.lines() {
        if let Some((_, header)) = line.split_once(" :").filter(|_| !line.starts_with(' ')) {
            for word in header.split(' ') {
                if let Some(count) = word.strip_prefix("repeat(") {
                    said.repeat = count.trim_end_matches(')').parse().expect("a count");
                }
            }
            let conditions = ["if (p0)", "if (!p0)", "(ignorepe)"];
            let condition = conditions.into_iter().find(|known| header.contains(known));
            said.condition = condition.unwrap_or_default().replace(' ', "");
        } else if line.contains(" = ") {
            bindings(line, &mut said);
        } else {
            let text = line.trim();
            let long = text.find(".long(").map(|at| (at, at + ".long(1)".len()));
            let text = long
                .map_or(text.to_owned(), |(from, to)| format!("{}{}", &text[..from], &text[to..]));
            said.operations.push(operation(&text));
        }
    }
    said
}

/// What our text says and the public one does not, or otherwise.
fn differences(ours: &Said, theirs: &Said) -> Vec<String> {
    let mut found = Vec::new();
    if (ours.condition != theirs.condition) || ours.repeat != theirs.repeat {
        found.push(format!("{:?} {}", ours.condition, ours.repeat));
    }
    for (name, register) in &theirs.bindings {
        let known = ours.bindings.get(name);
        // A source that no operation reads is constant 0 in both, and so is what our text leaves out.
        let left_out = known.is_none() && ["special0", "ft0"].contains(&register.as_str());
        if known != Some(register) && !left_out {
            found.push(format!("{name} = {known:?} and {register}"));
        }
    }
    for (name, register) in &ours.bindings {
        let usual = ["special0", "ft0", "ft1", "s0"].contains(&register.as_str());
        if !theirs.bindings.contains_key(name) && !usual {
            found.push(format!("{name} = {register} of ours alone"));
        }
    }
    if ours.operations.len() != theirs.operations.len() {
        found.push("another number of operations".into());
    }
    for ((names, args), (other_names, other_args)) in ours.operations.iter().zip(&theirs.operations)
    {
        // The public compiler prints fine derivatives and encodes coarse ones (isa/rogue-pipeline.md 0.6).
        let fine: BTreeSet<String> = names.iter().map(|name| format!("{name}f")).collect();
        let known = other_names.iter().all(|name| ["fdsxf", "fdsyf"].contains(&name.as_str()));
        if names != other_names && !(known && fine == *other_names) {
            found.push(format!("{names:?} and {other_names:?}"));
        }
        let same = args.len() == other_args.len()
            && args.iter().zip(other_args).all(|(ours, theirs)| {
                let float =
                    ours.parse::<u32>().map(|bits| format!("float {:.6}", f32::from_bits(bits)));
                // A low word that nobody reads.
                let unread = names.contains("imadd64") && ours == "ft0" && theirs == "_";
                ours == theirs || unread || float.as_ref() == Ok(theirs)
            });
        if !same {
            found.push(format!("{names:?}: {args:?} and {other_args:?}"));
        }
    }
    found
}

#[test]
fn our_text_has_the_operations_and_operands_of_the_public_one() {
    let mut seen = 0;
    for (file, rows) in lists() {
        let mut wrong = Vec::new();
        for row in &rows {
            let text = row["asm"].as_str().expect("text");
            if row["kind"] != "group" || !text.contains('{') || text.starts_with("alu") {
                continue;
            }
            let Ok(own) = disassemble(&bytes(row)) else { continue };
            seen += 1;
            let found = differences(&ours(&own), &public(text));
            if !found.is_empty() {
                wrong.push(format!("{} {text}\n{own}  {found:?}", row["id"]));
            }
        }
        told(file, &wrong, rows.len());
    }
    assert!(seen == 0 || seen > 6_000, "only {seen} texts");
}

/// A register of the vendor rows: `sp106`, `vi2`, `idx0.5`, which is index register 0 itself.
fn vendor_register(text: &str) -> String {
    match text.strip_prefix("sp") {
        Some(number) => register(&format!("sc{number}")),
        None => text.trim_end_matches(".5").replace("idx0.3", "sh0[idx0]"),
    }
}

/// Fields of the vendor rows that our rows keep under other names, by the vendor row's name.
const FIELDS: [(&str, FieldId); 30] = [
    ("movw1", f::MOV_W1),
    ("movw0", f::MOV_W0),
    ("maskw0", f::MASK),
    ("aw", f::ALWAYS),
    ("tst_op", f::TEST),
    ("pwen", f::PWEN),
    ("type", f::TYPE),
    ("elem", f::ELEM),
    ("sngl_op", f::CODE),
    ("s", f::SIGNED),
    ("s2neg", f::NEG2),
    ("int32_64_op", f::INT_OP),
    ("tst_src", f::TEST_SRC),
    ("bw_tst_op", f::BIT_TEST),
    ("shift2_op", f::SHIFT2),
    ("mskb", f::MASK_B),
    ("mska", f::MASK_A),
    ("logical_op", f::LOGIC),
    ("count_src", f::COUNT_SRC),
    ("count_op", f::COUNT_OP),
    ("shift1_op", f::SHIFT1),
    ("bitmask_src_op", f::BITMASK),
    ("link", f::LINK),
    ("bpred", f::BPRED),
    ("adjust", f::ADJUST),
    ("pcnd", f::COND),
    ("cndinst", f::CND),
    ("lr", f::MUTEX),
    ("id", f::ID),
    ("abs", f::ABSOLUTE),
];

/// What a vendor row says of a group and the group does not.
fn vendor_differences(text: &str, group: &Group) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, ours: String, theirs: String| {
        if ours != theirs {
            found.push(format!("{what}: {ours} and {theirs}"));
        }
    };
    let written = |at: usize| u8::from(group.writes[at].is_some());
    check(
        "header",
        format!(
            "cc{} w{}{} ol{} rpt{}",
            group.condition as u8,
            written(0),
            written(1),
            u8::from(group.olchk),
            group.repeat
        ),
        ["cc", "w", "ol", "rpt"]
            .map(|name| {
                let is = |word: &&str| {
                    word.trim_end_matches(';')
                        .strip_prefix(name)
                        .is_some_and(|rest| rest.parse::<u8>().is_ok())
                };
                text.split(' ').find(is).unwrap_or_default().trim_end_matches(';').to_owned()
            })
            .join(" "),
    );
    let usual = ["special0"; 6].map(str::to_owned);
    let mut sources = usual;
    for part in text.split("; ") {
        let mut words = part.split(' ').map(|word| word.trim_end_matches(';'));
        match words.next() {
            Some(word @ ("lo" | "up")) => {
                let first = if word == "lo" { 0 } else { 3 };
                for (at, word) in words.enumerate() {
                    match word.strip_prefix("is0=") {
                        Some(mux) => {
                            let ours = MUX.iter().position(|source| *source == group.selectors.is0);
                            check(
                                "is0",
                                format!("{ours:?}"),
                                format!("{:?}", mux.parse::<usize>().ok()),
                            );
                        }
                        None => sources[first + at] = vendor_register(word),
                    }
                }
            }
            Some("dst") => {
                let ours = group.writes.iter().flatten().map(|write| register(&write.to_string()));
                let theirs = words.map(vendor_register);
                check(
                    "dst",
                    ours.collect::<Vec<_>>().join(" "),
                    theirs.collect::<Vec<_>>().join(" "),
                );
            }
            Some("iss") => {
                let codes = [
                    group.selectors.is[4] as u8,
                    group.selectors.is[3] as u8,
                    group.selectors.is[2] as u8,
                ];
                let two = |at: usize| u8::from(group.selectors.is[at] == Feed::Fte);
                let ours = format!(
                    "is5={} is4={} is3={} is2={} is1={}",
                    codes[0],
                    codes[1],
                    codes[2],
                    two(1),
                    two(0)
                );
                check("iss", ours, words.collect::<Vec<_>>().join(" "));
            }
            _ => {}
        }
    }
    let ours = group.sources.iter().map(|source| register(&source.to_string()));
    check("sources", ours.collect::<Vec<_>>().join(" "), sources.join(" "));
    // Operations stand there from the last to the first.
    let theirs =
        text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(fields, _)| fields);
    let operations = group.operations();
    for (fields, (_, inst)) in theirs.zip(operations.iter().rev()) {
        for field in fields.split(", ") {
            let (name, value) = field.split_once(": ").expect("a field");
            let name = name.trim_matches('\'');
            let Some((_, id)) = FIELDS.iter().find(|(known, _)| *known == name) else { continue };
            check(name, inst.get(*id).to_string(), value.to_owned());
        }
    }
    found
}

#[test]
fn vendor_groups_have_the_fields_that_another_reading_found() {
    let vendor = lists().into_iter().find(|(file, _)| file.ends_with("vendor-text.jsonl"));
    let Some((file, rows)) = vendor else { return };
    let mut wrong = Vec::new();
    for row in &rows {
        let text = row["asm"].as_str().expect("text");
        let (group, _) = decode(&bytes(row)).expect("a group");
        let found = vendor_differences(text, &group);
        if !found.is_empty() {
            wrong.push(format!("{} {text}\n  {found:?}", row["id"]));
        }
    }
    told(file, &wrong, rows.len());
    assert_eq!(rows.len(), 44);
}
