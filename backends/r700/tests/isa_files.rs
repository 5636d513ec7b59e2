//! Files that are printed from the table or checked against it: docs/r700.md, ERRATA.md. BLESS=1 rewrites
//! the first.

use gpucc_r700::isa::{R700, assemble, disassemble, doc};
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

#[test]
fn every_erratum_that_a_row_cites_is_explained() {
    let errata = std::fs::read_to_string(crate_file("ERRATA.md")).expect("ERRATA.md");
    for op in [&R700.cf, &R700.alu, &R700.fetch].into_iter().flat_map(|table| table.ops) {
        for cited in op.cite.split(", ").filter(|cited| cited.starts_with('E')) {
            assert!(errata.contains(&format!("| {cited} |")), "{} cites {cited}", op.name);
        }
    }
}
