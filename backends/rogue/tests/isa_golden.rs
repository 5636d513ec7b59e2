//! Groups of foreign encoders through our tables and back. The foreign lists stay in ../shared; without them these tests
//! say that they skip.

use crate::foreign;
use gpucc_rogue::isa::group::Layout;
use gpucc_rogue::isa::{Group, GroupError, assemble, decode, disassemble, encode};
use serde_json::Value;

/// The lists. Rows without bytes of one group are programs.
const LISTS: [&str; 3] =
    ["golden/rogue.jsonl", "golden/rogue-extra.jsonl", "golden/rogue-vendor-text.jsonl"];

fn rows(file: &str) -> Option<Vec<Value>> {
    let text = foreign::text_or_skip(file)?;
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a JSON row")).collect())
}

/// Every list with its rows; nothing where one is absent.
pub fn lists() -> Vec<(&'static str, Vec<Value>)> {
    LISTS.into_iter().filter_map(|file| Some((file, rows(file)?))).collect()
}

pub fn bytes(row: &Value) -> Vec<u8> {
    let words = row["words"].as_array().expect("words");
    let byte = |word: &Value| {
        let digits = word.as_str().expect("a word").trim_start_matches("0x");
        u8::from_str_radix(digits, 16).expect("a hexadecimal byte")
    };
    words.iter().map(byte).collect()
}

pub fn told(what: &str, wrong: &[String], of: usize) {
    let some: Vec<&str> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {of} {what}:\n{}", wrong.len(), some.join("\n"));
}

/// Every group with its bytes, and those of programs by walking.
fn groups(code: &[u8]) -> Result<Vec<(Group, usize)>, String> {
    let (mut at, mut groups) = (0, Vec::new());
    while at < code.len() {
        let (group, taken) = decode(&code[at..]).map_err(|error| format!("at {at:#x}: {error}"))?;
        let back = encode(&group).map_err(|error| format!("at {at:#x}: {error} of {group:?}"))?;
        if back != code[at..at + taken] {
            return Err(format!(
                "at {at:#x}: {back:02x?} of {:02x?} {group:?}",
                &code[at..at + taken]
            ));
        }
        groups.push((group, taken));
        at += taken;
    }
    Ok(groups)
}

/// `eight_output_registers` is a feature of GX6250, and none of BXS-4-64.
#[test]
fn rows_of_a_chip_name_its_output_registers_alone() {
    let mut beyond = [0; 2];
    for (_, rows) in lists() {
        for row in &rows {
            let source = row["source"].as_str().unwrap_or_default();
            let Some(chip) = ["GX6250", "BXS"].iter().position(|name| source.contains(name)) else {
                continue;
            };
            let text = disassemble(&bytes(row)).unwrap_or_default();
            let names = ["po4", "po5", "po6", "po7"];
            beyond[chip] += usize::from(names.iter().any(|name| text.contains(name)));
        }
    }
    assert_eq!(beyond[1], 0);
    assert!(lists().is_empty() || beyond[0] > 10, "{beyond:?}");
}

/// Rows that the collector cut off: they say that the group has four words, and hold the first two.
const CUT_OFF: [&str; 2] = ["xrogue-08363", "xrogue-08786"];

#[test]
fn every_foreign_group_has_its_exact_length_and_comes_back() {
    for (file, rows) in lists() {
        let (mut wrong, mut seen) = (Vec::new(), 0);
        for row in &rows {
            let code = bytes(row);
            if CUT_OFF.iter().any(|id| row["id"] == *id) {
                assert_eq!(decode(&code), Err(GroupError::Partial { needed: 8, found: 4 }));
                continue;
            }
            match groups(&code) {
                Err(error) => wrong.push(format!("{} {}: {error}", row["id"], row["asm"])),
                Ok(groups) if row["kind"] != "program" && groups.len() != 1 => {
                    wrong.push(format!("{} {}: {} groups", row["id"], row["asm"], groups.len()));
                }
                Ok(groups) => seen += groups.len(),
            }
        }
        told(file, &wrong, rows.len());
        assert!(seen + CUT_OFF.len() >= rows.len(), "{file}");
    }
}

#[test]
fn every_foreign_group_and_program_comes_back_from_its_text() {
    for (file, rows) in lists() {
        let mut wrong = Vec::new();
        for row in rows.iter().filter(|row| CUT_OFF.iter().all(|id| row["id"] != *id)) {
            let code = bytes(row);
            let result =
                disassemble(&code).map_err(|error| error.to_string()).and_then(
                    |text| match assemble(&text) {
                        Err(error) => Err(format!("{error} in\n{text}")),
                        Ok(back) if back != code => Err(format!("other bytes from\n{text}")),
                        Ok(_) => Ok(()),
                    },
                );
            if let Err(error) = result {
                wrong.push(format!("{} {}: {error}", row["id"], row["asm"]));
            }
        }
        told(file, &wrong, rows.len());
    }
}

/// What a foreign group says in our own bytes is never longer, and says the same.
#[test]
fn our_bytes_of_foreign_groups_are_never_longer() {
    let (mut theirs, mut ours) = (0, 0);
    for (_, rows) in lists() {
        for row in rows.iter().filter(|row| row["kind"] == "program") {
            for (group, taken) in groups(&bytes(row)).expect("a program") {
                // Padding is the program's.
                let pad = group.layout.pad;
                let usual = Layout { pad, ..Layout::default() };
                let shortest = Group { layout: usual, ..group.clone() };
                let code = encode(&shortest).expect("a group");
                assert!(code.len() <= taken, "{}: {group:?}", row["id"]);
                assert_eq!(decode(&code), Ok((shortest, code.len())), "{}", row["id"]);
                (theirs, ours) = (theirs + taken, ours + code.len());
            }
        }
    }
    // The public compiler takes three bytes of header and the longer form of moves everywhere.
    assert!(theirs == 0 || ours * 100 < theirs * 95, "{ours} of {theirs} bytes");
}
