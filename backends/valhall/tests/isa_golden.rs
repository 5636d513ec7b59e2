//! Words of foreign encoders through our table and back. The foreign words stay in ../shared; without them these tests say
//! so and pass.

use crate::foreign::text_or_skip;
use gpucc_valhall::isa::{assemble, assemble_line, disassemble, disassemble_word};
use serde_json::Value;

fn rows() -> Option<Vec<Value>> {
    let text = text_or_skip("golden/valhall.jsonl")?;
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a JSON row")).collect())
}

fn of_kind<'a>(rows: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    rows.iter().filter(move |row| row["kind"] == kind)
}

fn words(row: &Value) -> Vec<u64> {
    let words = row["words"].as_array().expect("words");
    words
        .iter()
        .map(|word| {
            let digits = word.as_str().expect("a word").trim_start_matches("0x");
            u64::from_str_radix(digits, 16).expect("a hexadecimal word")
        })
        .collect()
}

fn text(row: &Value) -> &str {
    row["asm"].as_str().expect("text")
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn expect_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_foreign_instruction_has_the_foreign_text() {
    let Some(rows) = rows() else { return };
    let mut wrong = Vec::new();
    for row in of_kind(&rows, "instr") {
        let word = words(row)[0];
        match disassemble_word(word) {
            Ok(ours) if without_space(&ours) == without_space(text(row)) => {}
            Ok(ours) => wrong.push(format!("{} {word:#018x}: {} | {ours}", row["id"], text(row))),
            Err(error) => {
                wrong.push(format!("{} {word:#018x}: {} | {error}", row["id"], text(row)))
            }
        }
    }
    expect_none(&wrong);
}

#[test]
fn every_foreign_text_assembles_to_the_foreign_word() {
    let Some(rows) = rows() else { return };
    let mut wrong = Vec::new();
    for row in of_kind(&rows, "instr") {
        let word = words(row)[0];
        match assemble_line(text(row)) {
            Ok(ours) if ours == word => {}
            Ok(ours) => {
                wrong.push(format!("{} {}: {word:#018x} {ours:#018x}", row["id"], text(row)))
            }
            Err(error) => wrong.push(format!("{} {}: {error}", row["id"], text(row))),
        }
    }
    expect_none(&wrong);
}

#[test]
fn every_foreign_program_comes_back_from_its_text() {
    let Some(rows) = rows() else { return };
    let mut wrong = Vec::new();
    for row in of_kind(&rows, "program") {
        let bytes: Vec<u8> = words(row).iter().flat_map(|word| word.to_le_bytes()).collect();
        let result = disassemble(&bytes)
            .map_err(|error| error.to_string())
            .and_then(|text| assemble(&text).map_err(|error| error.to_string()));
        match result {
            Ok(back) if back == bytes => {}
            Ok(_) => wrong.push(format!("{}: other bytes", row["id"])),
            Err(error) => wrong.push(format!("{}: {error}", row["id"])),
        }
    }
    expect_none(&wrong);
}

#[test]
fn every_negative_row_is_refused_for_its_rule() {
    let Some(rows) = rows() else { return };
    let mut wrong = Vec::new();
    for row in of_kind(&rows, "negative") {
        let respelled = text(row).replace('`', "^");
        match assemble_line(&respelled) {
            Ok(word) => wrong.push(format!("{} {respelled}: {word:#018x}", row["id"])),
            Err(error) if error.message.contains("rule") => {}
            Err(error) => wrong.push(format!("{} {respelled}: {error}", row["id"])),
        }
    }
    expect_none(&wrong);
}
