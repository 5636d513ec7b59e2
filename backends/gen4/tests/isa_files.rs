//! Files that are printed from the tables or checked against them: docs/gen4.md, ERRATA.md. BLESS=1 rewrites the first.

use gpucc_gen4::isa::{Machine, assemble, compact, disassemble, doc, message, ops};
use std::path::PathBuf;

fn crate_file(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/")).join(path)
}

#[test]
fn the_document_is_what_the_tables_print() {
    let file = crate_file("../../docs/gen4.md");
    let text = doc::markdown();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &text).expect("the file can be written");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let line = known.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(known == text, "stale from line {line:?}: BLESS=1 cargo test -p gpucc-gen4");
}

#[test]
fn the_example_of_the_document_is_a_program() {
    let bytes = assemble(Machine::Gen4, doc::EXAMPLE).expect("the example assembles");
    assert_eq!(disassemble(Machine::Gen4, &bytes).as_deref(), Ok(doc::EXAMPLE));
}

#[test]
fn the_tables_are_sound() {
    let tables = [&ops::GEN4, &ops::G45, &compact::TABLE, &message::GEN4, &message::G45];
    for table in tables.into_iter().chain(ops::OPERAND_TABLES) {
        assert_eq!(table.problems(), Vec::<String>::new(), "{}", table.name);
    }
}

#[test]
fn every_erratum_that_is_cited_is_explained() {
    let errata = std::fs::read_to_string(crate_file("ERRATA.md")).expect("ERRATA.md");
    let mut cited: Vec<String> = Vec::new();
    let mut note = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let number = |word: &&str| {
            word.len() < 4 && word.strip_prefix('E').is_some_and(|rest| rest.parse::<u32>().is_ok())
        };
        cited.extend(words.filter(number).map(str::to_owned));
    };
    for op in [&ops::G45, &message::ALL, &compact::TABLE].into_iter().flat_map(|table| table.ops) {
        note(op.cite);
    }
    for file in ["fields.rs", "operand.rs", "compact.rs", "message.rs", "doc.rs", "rules.rs"] {
        let path = crate_file("src/isa").join(file);
        note(&std::fs::read_to_string(path).expect("a source"));
    }
    assert!(cited.len() > 12);
    for number in cited {
        assert!(errata.contains(&format!("| {number} |")), "{number} is not explained");
    }
}
