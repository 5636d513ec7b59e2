//! Files that are printed from the table or checked against it: docs/r700.md, uncovered.txt, ERRATA.md. BLESS=1 rewrites
//! the first two.
#![allow(clippy::print_stderr)]

use gpucc_isa::coverage::Coverage;
use gpucc_r700::isa::program::{decode_alu_slot, decode_cf, decode_fetch, decode_group};
use gpucc_r700::isa::{Body, Program, R700, assemble, decode_program, disassemble, doc};
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
            "{path} is stale from line {:?}: BLESS=1 cargo test -p gpucc-r700",
            line.map(|line| line + 1)
        );
    }
}

#[test]
fn the_document_is_what_the_table_prints() {
    expect_file("../../docs/r700.md", &doc::markdown());
}

#[test]
fn the_example_of_the_document_is_a_program() {
    let bytes = assemble(doc::EXAMPLE).expect("the example assembles");
    assert_eq!(disassemble(&bytes).as_deref(), Ok(doc::EXAMPLE));
}

fn note_program(coverage: &mut Coverage, program: &Program) {
    for cf in &program.cf {
        coverage.note(&R700.cf, &cf.inst);
    }
    for clause in &program.clauses {
        match &clause.body {
            Body::Alu(groups) => {
                for slot in groups.iter().flat_map(|group| &group.slots) {
                    coverage.note(&R700.alu, slot.inst_ref());
                }
            }
            Body::Fetch(fetches) => fetches
                .iter()
                .for_each(|fetch| coverage.note(&R700.fetch, fetch)),
        }
    }
}

#[test]
fn uncovered_rows_are_those_that_no_foreign_word_has() {
    let root = match std::env::var_os("GPUCC_SHARED") {
        Some(path) => PathBuf::from(path),
        None => crate_file("../../../shared"),
    };
    let Ok(text) = std::fs::read_to_string(root.join("golden/r700.jsonl")) else {
        eprintln!("skipped: {} has no golden/r700.jsonl", root.display());
        return;
    };
    let mut coverage = Coverage::default();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("a JSON row");
        let words: Vec<u32> = row["words"]
            .as_array()
            .expect("words")
            .iter()
            .map(|word| {
                u32::from_str_radix(&word.as_str().expect("a word")[2..], 16).expect("hexadecimal")
            })
            .collect();
        match row["kind"].as_str().expect("kind") {
            "cf" => coverage.note(&R700.cf, &decode_cf(&R700, &words).expect("accepted")),
            "fetch" => coverage.note(&R700.fetch, &decode_fetch(&R700, &words).expect("accepted")),
            "alu-slot" => {
                coverage.note(
                    &R700.alu,
                    decode_alu_slot(&R700, &words).expect("accepted").inst_ref(),
                );
            }
            "alu-group" => {
                for slot in decode_group(&R700, &words).expect("accepted").slots {
                    coverage.note(&R700.alu, slot.inst_ref());
                }
            }
            _ => note_program(&mut coverage, &decode_program(&words).expect("accepted")),
        }
    }
    let head = "# Rows, fields and values of the table that no foreign word has yet. This list only shrinks.\n";
    let missing = coverage.missing(&[&R700.cf, &R700.alu, &R700.fetch]);
    if std::env::var_os("BLESS").is_some() {
        expect_file("uncovered.txt", &(head.to_owned() + &missing));
    }
    // A collection with more words than we saw covers more; it must not cover less.
    let known = std::fs::read_to_string(crate_file("uncovered.txt")).expect("uncovered.txt");
    let known: BTreeSet<&str> = known.lines().collect();
    let new: Vec<&str> = missing
        .lines()
        .filter(|line| !known.contains(line))
        .collect();
    assert!(new.is_empty(), "not in uncovered.txt: {new:?}");
}

#[test]
fn every_erratum_that_a_row_cites_is_explained() {
    let errata = std::fs::read_to_string(crate_file("ERRATA.md")).expect("ERRATA.md");
    for op in [&R700.cf, &R700.alu, &R700.fetch]
        .into_iter()
        .flat_map(|table| table.ops)
    {
        for cited in op.cite.split(", ").filter(|cited| cited.starts_with('E')) {
            assert!(
                errata.contains(&format!("| {cited} |")),
                "{} cites {cited}",
                op.name
            );
        }
    }
}
