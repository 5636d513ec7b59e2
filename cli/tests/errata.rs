//! docs/errata.md against the project's ledger of what drivers know: every row has an answer, and what an answer names
//! exists: rules of the emulator, files, and what a file is said to hold behind a colon.

use crate::common::shared;
use gpucc_emu::trap::Law;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

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
        let digits = cells[0].trim_end_matches(|c: char| c.is_ascii_lowercase());
        if within && line.starts_with('|') && digits.parse::<u32>().is_ok() {
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
    for section in sections() {
        let known = rows(&ledger, |heading| section.ledger.iter().any(|n| heading.starts_with(n)));
        let answered = rows(&answers, |heading| heading == section.heading);
        assert_eq!(numbers(&answered), numbers(&known), "{}", section.heading);
        assert_eq!(numbers(&answered).len(), answered.len(), "{}: a number twice", section.heading);
    }
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
                let known = ["Followed", "Followed in part", "Rule", "Driver", "n.a."];
                assert!(known.contains(&word), "{row}: {word}");
            }
            let named: Vec<&str> =
                place.split("`Rule::").skip(1).filter_map(|rest| rest.split('`').next()).collect();
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
