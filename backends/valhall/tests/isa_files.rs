//! Files that are printed from the table or checked against it: docs/valhall.md, uncovered.txt, ERRATA.md. BLESS=1 rewrites
//! the first two.

use crate::foreign::text_or_skip;
use gpucc_isa::coverage::Coverage;
use gpucc_valhall::isa::{TABLE, assemble, decode_word, disassemble, disassemble_word, doc};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn crate_file(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/")).join(path)
}

/// Compares a file with what it should be, or writes it where BLESS is set.
fn expect_file(path: &str, text: &str) {
    let file = crate_file(path);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, text).expect("the file can be written");
        return;
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    if known != text {
        let line = known.lines().zip(text.lines()).position(|(a, b)| a != b);
        panic!(
            "{path} is stale from line {:?}: BLESS=1 cargo test -p gpucc-valhall",
            line.map(|line| line + 1)
        );
    }
}

#[test]
fn the_document_is_what_the_table_prints() {
    expect_file("../../docs/valhall.md", &doc::markdown());
}

#[test]
fn the_example_of_the_document_is_a_program() {
    let bytes = assemble(doc::EXAMPLE).expect("the example assembles");
    assert_eq!(disassemble(&bytes).as_deref(), Ok(doc::EXAMPLE));
}

fn golden() -> Option<Vec<Value>> {
    let text = text_or_skip("golden/valhall.jsonl")?;
    let row = |line| serde_json::from_str(line).expect("a JSON row");
    Some(text.lines().map(row).collect())
}

fn words(row: &Value) -> Vec<u64> {
    let words = row["words"].as_array().expect("words");
    words
        .iter()
        .map(|word| u64::from_str_radix(&word.as_str().expect("a word")[2..], 16).expect("hex"))
        .collect()
}

#[test]
fn uncovered_rows_are_those_that_no_foreign_word_has() {
    let Some(rows) = golden() else { return };
    let mut coverage = Coverage::default();
    for word in rows.iter().flat_map(words) {
        if let Ok(inst) = decode_word(word) {
            coverage.note(&TABLE, &inst);
        }
    }
    let head = "# Rows, fields and values of the table that no foreign word has yet. This list only shrinks.\n";
    let missing = coverage.missing(&[&TABLE]);
    if std::env::var_os("BLESS").is_some() {
        expect_file("uncovered.txt", &(head.to_owned() + &missing));
    }
    // A collection with more words than we saw covers more; it must not cover less.
    let known = std::fs::read_to_string(crate_file("uncovered.txt")).expect("uncovered.txt");
    let known: BTreeSet<&str> = known.lines().collect();
    let new: Vec<&str> = missing.lines().filter(|line| !known.contains(line)).collect();
    assert!(new.is_empty(), "not in uncovered.txt: {new:?}");
}

#[test]
fn errata_names_every_row_whose_text_or_words_differ_from_the_foreign_ones() {
    let Some(rows) = golden() else { return };
    let errata = std::fs::read_to_string(crate_file("ERRATA.md")).expect("ERRATA.md");
    let mut listed = 0;
    for row in rows.iter().filter(|row| row["kind"] != "negative") {
        let lines = row["asm"].as_str().expect("text").lines();
        let same = lines.zip(words(row)).all(|(line, word)| {
            disassemble_word(word)
                .is_ok_and(|ours| ours.split_whitespace().eq(line.split_whitespace()))
        });
        let id = row["id"].as_str().expect("an id");
        assert!(same || errata.contains(id), "{id} is not in ERRATA.md");
        listed += u32::from(!same);
    }
    assert!(listed <= 60, "{listed}");
}
