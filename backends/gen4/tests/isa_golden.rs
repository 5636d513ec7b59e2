//! Words of foreign encoders through our tables and back, and foreign texts to the words that stand beside them. The
//! foreign lists stay in ../shared; without them these tests say that they skip.

use crate::foreign;
use gpucc_gen4::isa::compact;
use gpucc_gen4::isa::fields::f;
use gpucc_gen4::isa::operand::{File, Role, layout};
use gpucc_gen4::isa::ops::{self, Opcode, Shape};
use gpucc_gen4::isa::program::decode_program;
use gpucc_gen4::isa::{Machine, assemble, disassemble, message};
use gpucc_isa::Table;
use gpucc_isa::coverage::Coverage;
use serde_json::Value;
use std::path::PathBuf;

/// The lists, and the machine that each is about.
const LISTS: [(&str, Machine); 4] = [
    ("golden/gen4.jsonl", Machine::Gen4),
    ("golden/gen45.jsonl", Machine::G45),
    ("golden/gen4-extra.jsonl", Machine::Gen4),
    ("golden/gen45-extra.jsonl", Machine::G45),
];

fn rows(file: &str) -> Option<Vec<Value>> {
    let text = foreign::text_or_skip(file)?;
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a JSON row")).collect())
}

/// Every list with its rows; nothing where one is absent.
fn lists() -> Vec<(&'static str, Machine, Vec<Value>)> {
    LISTS.into_iter().filter_map(|(file, machine)| Some((file, machine, rows(file)?))).collect()
}

fn bytes(row: &Value) -> Vec<u8> {
    let words = row["words"].as_array().expect("words");
    let word = |word: &Value| {
        let digits = word.as_str().expect("a word").trim_start_matches("0x");
        u32::from_str_radix(digits, 16).expect("a hexadecimal word").to_le_bytes()
    };
    words.iter().flat_map(word).collect()
}

fn text(row: &Value) -> &str {
    row["asm"].as_str().expect("text")
}

fn told(what: &str, wrong: &[String], of: usize) {
    let some: Vec<&str> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {of} {what}:\n{}", wrong.len(), some.join("\n"));
}

#[test]
fn every_foreign_word_comes_back_from_its_text() {
    for (file, machine, rows) in lists() {
        let mut wrong = Vec::new();
        for row in &rows {
            let code = bytes(row);
            let result =
                disassemble(machine, &code).map_err(|error| error.to_string()).and_then(|text| {
                    match assemble(machine, &text) {
                        Err(error) => Err(format!("{error} in {text}")),
                        Ok(back) if back != code => Err(format!("other bytes from {text}")),
                        Ok(_) => Ok(()),
                    }
                });
            if let Err(error) = result {
                wrong.push(format!("{} {}: {error}", row["id"], row["asm"]));
            }
        }
        told(file, &wrong, rows.len());
    }
}

#[test]
fn every_text_of_the_public_test_suites_assembles_to_its_words() {
    let mut suites = 0;
    for (file, machine, rows) in lists() {
        let mut wrong = Vec::new();
        let of_suites = |row: &&Value| {
            row["source"].as_str().is_some_and(|source| source.contains("elk/tests"))
        };
        for row in rows.iter().filter(of_suites) {
            suites += 1;
            let back = assemble(machine, text(row));
            if back.as_ref() != Ok(&bytes(row)) {
                wrong.push(format!("{} {}: {back:02x?}", row["id"], text(row)));
            }
        }
        told(file, &wrong, rows.len());
    }
    assert!(suites == 0 || suites > 400, "only {suites} texts are of the suites");
}

/// What a line of ours would be in the public text, where ours says more.
fn public(ours: &str) -> String {
    let mut text = ours.to_owned();
    // Options that no public text has: what the words hold beyond it.
    for option in [" src1_type(", " gfx5_sfid(", " src0(", " dst("] {
        while let Some(at) = text.find(option) {
            let end = text[at..].find(')').map_or(text.len(), |end| at + end + 1);
            text.replace_range(at..end, "");
        }
    }
    text
}

#[test]
fn our_text_is_the_public_one_but_for_what_that_leaves_out() {
    for (file, machine, rows) in lists() {
        let (mut other, mut assembled, mut lines) = (Vec::new(), 0, 0);
        for row in &rows {
            let ours = disassemble(machine, &bytes(row)).expect("accepted");
            assembled += usize::from(assemble(machine, text(row)).as_ref() == Ok(&bytes(row)));
            for (ours, theirs) in ours.lines().zip(text(row).lines()) {
                lines += 1;
                let same = public(ours) == theirs;
                // Two generations of descriptions; `ip` with a type of its own; offsets with their sign (E15); words of
                // Gen5 (E11); a size and a register that are reserved (E10).
                let known = ["MsgDesc: ", "ip", " -", "function10", "reserved7"];
                if !same && !known.iter().any(|part| ours.contains(part)) {
                    other.push(format!("{theirs}\n{ours}"));
                }
            }
        }
        told(file, &other, lines);
        // What does not assemble to its own words leaves something out of its text: the hand-written kernels of the
        // longer lists alone.
        assert!(assembled * 100 >= rows.len() * 97, "{file}: {assembled} of {}", rows.len());
    }
}

#[test]
fn compact_words_expand_to_what_compacts_again() {
    let mut seen = 0;
    for (_, machine, rows) in lists() {
        for row in &rows {
            for (_, decoded) in decode_program(machine, &bytes(row)).expect("accepted") {
                if decoded.compact {
                    seen += 1;
                    let native = decoded.inst.bits();
                    let word = compact::compact(native).expect("it came from one");
                    assert_eq!(compact::expand(word).as_ref(), Ok(&native), "{}", row["id"]);
                }
            }
        }
    }
    assert!(seen == 0 || seen > 2000, "only {seen} compact words");
}

/// The tables of `file` as the collector found them.
#[test]
fn every_opcode_is_the_one_that_another_table_has() {
    let Some(text) = foreign::text_or_skip("golden/gen4_tables.json") else { return };
    let tables: Value = serde_json::from_str(&text).expect("JSON");
    for (name, machine) in [("gen4", Machine::Gen4), ("gen45", Machine::G45)] {
        let rows = tables["opcodes"][name].as_object().expect("opcodes");
        for (mnemonic, row) in rows {
            let ours = machine.table().named(mnemonic);
            if mnemonic == "sendc" {
                // The manual has none (E16).
                assert!(ours.is_none());
                continue;
            }
            let ours = ours.unwrap_or_else(|| panic!("{name} lacks {mnemonic}"));
            assert_eq!(row["opcode"].as_u64(), Some(ours.bits as u64), "{mnemonic}");
        }
        assert_eq!(machine.table().rows().count() + 1, rows.len(), "{name} has other rows");
    }
}

/// `uncovered.txt` lists the rows, fields and values that no foreign word has.
#[test]
fn what_no_foreign_word_reaches_is_listed() {
    let lists = lists();
    if lists.len() < LISTS.len() {
        return;
    }
    let mut seen = Coverage::default();
    for (_, machine, rows) in &lists {
        for row in rows {
            for (_, decoded) in decode_program(*machine, &bytes(row)).expect("accepted") {
                let inst = decoded.inst;
                seen.note(&ops::G45, &inst);
                if decoded.compact {
                    let word = compact::compact(inst.bits()).expect("it came from one");
                    let word = compact::TABLE.decode(word.into()).expect("it was read");
                    seen.note(&compact::TABLE, &word);
                }
                let shape = Opcode::of(inst.op()).shape();
                if shape == Shape::Special {
                    continue;
                }
                let align16 = inst.flag(f::ACCESS_MODE);
                let mut note = |role, bits| {
                    let known: &Table = match (role, align16) {
                        (Role::Destination, false) => &ops::DST_ALIGN1,
                        (Role::Destination, true) => &ops::DST_ALIGN16,
                        (Role::Source, false) => &ops::SRC_ALIGN1,
                        (Role::Source, true) => &ops::SRC_ALIGN16,
                    };
                    seen.note(known, &layout(role, align16, bits).expect("it was read"));
                };
                note(Role::Destination, inst.get(f::DST));
                if decoded.operands.src0.is_some() {
                    note(Role::Source, inst.get(f::SRC0));
                }
                if decoded.operands.src1.is_some() {
                    note(Role::Source, inst.get(f::SRC1));
                }
                let immediate = File::of(inst.get(f::SRC1_FILE)) == File::Imm;
                if shape == Shape::Send
                    && immediate
                    && let Ok(descriptor) = message::decode(*machine, inst.get(f::SRC1))
                {
                    seen.note(&message::ALL, &descriptor);
                }
            }
        }
    }
    let mut tables: Vec<&Table> = vec![&ops::G45, &compact::TABLE];
    tables.extend(ops::OPERAND_TABLES);
    tables.push(&message::ALL);
    let text = format!(
        "# Rows, fields and values of the tables that no foreign word has. Generated by\n\
         # `BLESS=1 cargo test -p gpucc-gen4 --test integration listed` where ../shared is present.\n{}",
        seen.missing(&tables)
    );
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/uncovered.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &text).expect("the file can be written");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(known == text, "uncovered.txt is stale; it would be:\n{text}");
}
