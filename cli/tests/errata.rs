//! docs/errata.md against the project's ledger of what drivers know: every row has an answer, and what an answer names
//! exists: rules of the emulator, files, and what a file is said to hold behind a colon.

use crate::common::shared;
use gpucc_emu::trap::Law;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

/// The section of Gen4 and G45.
const GEN4: &str = "Gen4 and G45";

/// A section of docs/errata.md: its heading, the sections of the ledger that it answers, the folder that `X/` stands for,
/// and the emulator's rules.
struct Section {
    heading: &'static str,
    ledger: &'static [&'static str],
    folder: (&'static str, &'static str),
    rules: Vec<String>,
}

fn names<R: Law>(all: &[R]) -> Vec<String> {
    all.iter().map(|rule| format!("{rule:?}")).collect()
}

fn sections() -> Vec<Section> {
    vec![
        Section {
            heading: "R600 and R700",
            ledger: &["2.", "3.", "4.", "5.", "6.", "7."],
            folder: ("R/", "backends/r700/src/"),
            rules: names(gpucc_r700::emu::Rule::ALL),
        },
        Section {
            heading: "Valhall",
            ledger: &["9.", "10.", "11."],
            folder: ("V/", "backends/valhall/src/"),
            rules: names(gpucc_valhall::emu::Rule::ALL),
        },
        // The ledger has no rows of it.
        Section {
            heading: "Rogue",
            ledger: &[],
            folder: ("G/", "backends/rogue/src/"),
            rules: names(gpucc_rogue::emu::Rule::ALL),
        },
        // Its ledger is a list of its own.
        Section {
            heading: GEN4,
            ledger: &[],
            folder: ("I/", "backends/gen4/src/"),
            rules: names(gpucc_gen4::emu::Rule::ALL),
        },
    ]
}

/// The text of the project's own file.
fn own(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The rows of a text's tables below the headings that `wanted` admits: the cells of each whose first is a number.
fn rows(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let mut within = false;
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            within = wanted(heading);
        }
        let cells: Vec<String> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        if within && line.starts_with('|') && whole(&cells[0]).parse::<u32>().is_ok() {
            rows.push(cells);
        }
    }
    rows
}

fn numbers(rows: &[Vec<String>]) -> BTreeSet<&str> {
    rows.iter().map(|cells| cells[0].as_str()).collect()
}

#[test]
fn every_row_of_the_ledger_is_answered_once() {
    let Some(ledger) = shared::text_or_skip("isa/errata.md") else { return };
    let answers = own("docs/errata.md");
    for section in sections().into_iter().filter(|section| !section.ledger.is_empty()) {
        let known = rows(&ledger, |heading| section.ledger.iter().any(|n| heading.starts_with(n)));
        let answered = rows(&answers, |heading| heading == section.heading);
        assert_eq!(numbers(&answered), numbers(&known), "{}", section.heading);
        assert_eq!(numbers(&answered).len(), answered.len(), "{}: a number twice", section.heading);
    }
}

/// A number without the letter behind it.
fn whole(number: &str) -> &str {
    number.trim_end_matches(|c: char| c.is_ascii_lowercase())
}

/// The numbers of a text's list below the heading that begins so.
fn items<'a>(text: &'a str, heading: &str) -> BTreeSet<&'a str> {
    let mut within = false;
    let mut items = BTreeSet::new();
    for line in text.lines() {
        if let Some(found) = line.strip_prefix("## ") {
            within = found.starts_with(heading);
        }
        let number = line.split_once(". ").map_or("", |(number, _)| number);
        if within && number.parse::<u32>().is_ok() {
            items.insert(number);
        }
    }
    items
}

#[test]
fn every_item_of_gen4s_ledger_is_answered() {
    let answers = own("docs/errata.md");
    let answered = rows(&answers, |heading| heading == GEN4);
    assert_eq!(numbers(&answered).len(), answered.len(), "a number twice");
    let Some(ledger) = shared::text_or_skip("isa/gen4-pipeline.md") else { return };
    let known = items(&ledger, "7.");
    assert!(known.len() >= 25, "{known:?}");
    let told: BTreeSet<&str> = numbers(&answered).into_iter().map(whole).collect();
    let missing: Vec<&&str> = known.difference(&told).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What is said to be among the driver's duties stands there, by the row's number.
#[test]
fn duties_of_gen4s_driver_stand_on_the_page_of_its_convention() {
    let page = own("docs/abi-gen4.md");
    let duties = page.split_once("## Duties of the driver").map_or("", |(_, duties)| duties);
    let duties = duties.split("\n## ").next().unwrap_or_default();
    for cells in rows(&own("docs/errata.md"), |heading| heading == GEN4) {
        if cells[3].contains("(Duties of the driver)") {
            let number = whole(&cells[0]);
            let stands = duties.lines().any(|line| line.starts_with(&format!("- {number}: ")));
            assert!(stands, "{number}");
        }
    }
}

/// The rules that an answer names.
fn named_rules(place: &str) -> Vec<&str> {
    place.split("`Rule::").skip(1).filter_map(|rest| rest.split('`').next()).collect()
}

/// The tests of a back end by the rules that they expect: each test, or table of cases, that names one.
fn planted(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut folders = vec![root.join("emu"), root.join("device")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry"))
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let shown = path.display().to_string();
            if !shown.contains("tests") && !shown.ends_with("planted.rs") {
                continue;
            }
            let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let mut test = String::new();
            for line in fs::read_to_string(&path).expect("text").lines() {
                let table = line.strip_prefix("const ");
                if let Some(rest) = table.or(line.split_once("fn ").map(|(_, rest)| rest)) {
                    let name = rest.split(['(', '<', ':']).next().unwrap_or_default();
                    test = format!("{file}::{name}");
                }
                for part in line.split("Rule::").skip(1) {
                    let end = part.find(|c: char| !c.is_alphanumeric()).unwrap_or(part.len());
                    found.entry(part[..end].to_owned()).or_default().insert(test.clone());
                }
            }
        }
    }
    found
}

/// `--nocapture` prints the list.
#[test]
fn a_test_plants_a_fault_for_every_rule_of_the_ledger() {
    let answers = own("docs/errata.md");
    let mut list = String::new();
    let (mut count, mut bare) = (0, Vec::new());
    for section in sections() {
        let planted = planted(section.folder.1);
        for cells in rows(&answers, |heading| heading == section.heading) {
            for rule in named_rules(&cells[3]) {
                let tests: Vec<&str> =
                    planted.get(rule).into_iter().flatten().map(String::as_str).collect();
                list += &format!("{:>4} {rule}: {}\n", cells[0], tests.join(", "));
                if tests.is_empty() {
                    bare.push(rule.to_owned());
                }
            }
            count += u32::from(cells[2].contains("Rule"));
        }
    }
    let _ = std::io::stdout().write_all(list.as_bytes());
    assert!(bare.is_empty(), "no test plants a fault for {bare:?}");
    assert!(count >= 25, "{count} rows");
}

#[test]
fn what_an_answer_names_exists() {
    let answers = own("docs/errata.md");
    for section in sections() {
        for cells in rows(&answers, |heading| heading == section.heading) {
            let [number, fact, answer, place] = &cells[..] else {
                panic!("four cells: {cells:?}");
            };
            let row = format!("{}, row {number}", section.heading);
            assert!(fact.ends_with('.') && !place.is_empty(), "{row}");
            for word in answer.split(", ") {
                let known =
                    ["Followed", "Followed in part", "Rule", "Driver", "n.a.", "Refused", "Open"];
                assert!(known.contains(&word), "{row}: {word}");
            }
            let named = named_rules(place);
            let announced = answer.contains("Rule");
            assert_eq!(announced, !named.is_empty(), "{row}: a rule is named where it is said");
            for rule in named {
                assert!(section.rules.iter().any(|known| known == rule), "{row}: no rule {rule}");
            }
            let (short, folder) = section.folder;
            for part in place.split(short).skip(1) {
                let (file, rest) =
                    part.split_once(".rs").unwrap_or_else(|| panic!("{row}: {part}"));
                let text = own(&format!("{folder}{file}.rs"));
                if let Some(symbol) = rest.strip_prefix(": ") {
                    let end = symbol.find(|c: char| !c.is_alphanumeric() && c != '_');
                    let symbol = &symbol[..end.unwrap_or(symbol.len())];
                    assert!(text.contains(symbol), "{row}: no {symbol} in {file}.rs");
                }
            }
        }
    }
}
