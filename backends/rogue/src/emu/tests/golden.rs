//! The collected groups and programs: each decodes to its exact length, and no rule forbids it but those listed.

use super::shared::{skip, text_or_skip};
use crate::emu::core::Core;
use crate::emu::rule::Rule;
use crate::emu::{Stage, admit, decode, program};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A collected row.
pub struct Row {
    pub id: String,
    pub text: String,
    pub note: String,
    pub bytes: Vec<u8>,
    pub program: bool,
    pub stage: Stage,
    pub core: Core,
}

/// Every row of the collection; none without it, and the test says that it skips.
pub fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    let rows = ROWS.get_or_init(read_rows);
    if rows.is_empty() {
        skip("golden/rogue.jsonl");
    }
    rows
}

fn read_rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for file in ["golden/rogue.jsonl", "golden/rogue-extra.jsonl"] {
        let Some(text) = text_or_skip(file) else { continue };
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).expect("JSON");
            rows.push(read(&row));
        }
    }
    rows
}

fn read(row: &Value) -> Row {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_string();
    let words = row["words"].as_array().expect("words");
    let byte = |word: &Value| {
        let word = word.as_str().unwrap_or_default();
        u8::from_str_radix(word.trim_start_matches("0x"), 16).expect("a byte")
    };
    let (note, source) = (text("note"), text("source"));
    let asm = text("asm");
    let stage = if note.starts_with("vertex") || asm.contains("uvsw") || note.contains("vdm") {
        Stage::Vertex
    } else if note.starts_with("compute") || note.contains("cdm") || note.contains("pvr_simple") {
        Stage::Compute
    } else {
        Stage::Fragment
    };
    let enhanced = source.contains("BXS") || source.contains("25.0.7 PCO");
    Row {
        id: text("id"),
        text: asm,
        note,
        bytes: words.iter().map(byte).collect(),
        program: text("kind") == "program",
        stage,
        core: if enhanced { Core::BXS_4_64 } else { Core::GX6250 },
    }
}

#[test]
fn every_collected_group_decodes_to_its_length() {
    let rows = rows();
    if rows.is_empty() {
        return;
    }
    let mut groups = 0;
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| !CUT.contains(&row.id.as_str())) {
        match program(&row.bytes) {
            Ok(found) => {
                assert!(row.program || found.len() == 1, "{}: {}", row.id, row.text);
                groups += found.len();
            }
            Err(trap) => wrong.push(format!("{} {}: {trap} {:02x?}", row.id, row.text, row.bytes)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(groups > 20_000, "{groups} groups");
}

/// Rows whose bytes end in the middle of a group, by its own length.
const CUT: [&str; 2] = ["xrogue-08363", "xrogue-08786"];

/// The public compiler puts coefficients on S1 where a select's condition is one. The page forbids them there, and the
/// compiler's own table of ports does (1.2).
fn is_known(rule: Rule, detail: &str) -> bool {
    rule == Rule::Port && detail.starts_with("File(Coefficient") && detail.ends_with("on S1")
}

#[test]
fn no_rule_forbids_a_collected_group() {
    let mut broken: BTreeMap<Rule, (usize, String)> = BTreeMap::new();
    for row in rows() {
        for (offset, group) in program(&row.bytes).unwrap_or_default() {
            if let Err((rule, detail)) = admit(&group, &row.core, row.stage)
                && !is_known(rule, &detail)
            {
                let entry = broken.entry(rule).or_default();
                entry.0 += 1;
                if entry.1.is_empty() {
                    entry.1 = format!("{} at {offset}: {detail}\n{}", row.id, row.text);
                }
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn a_cut_group_is_refused() {
    for row in rows().iter().filter(|row| !row.program) {
        for length in 0..row.bytes.len() {
            assert!(decode(&row.bytes[..length]).is_err(), "{} cut to {length}", row.id);
        }
    }
}

/// Every rule is named by a test, but for the two that any test may meet.
#[test]
fn every_rule_has_a_case() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/emu");
    let mut text = String::new();
    for folder in [folder.join("tests"), folder] {
        for file in std::fs::read_dir(&folder).expect("is a folder").flatten() {
            let name = file.file_name();
            let own = name == "memory.rs" || folder.ends_with("tests");
            if own && name.to_string_lossy().ends_with(".rs") {
                text += &std::fs::read_to_string(file.path()).expect("is text");
            }
        }
    }
    let missing: Vec<&Rule> =
        Rule::ALL.iter().filter(|rule| !text.contains(&format!("Rule::{rule:?}"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
