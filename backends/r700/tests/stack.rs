//! STACK_SIZE of foreign programs by the compiler's formula: what a public driver programs for the same control flow.

use crate::common::shared;
use gpucc_r700::{Chip, Family};
use serde_json::Value;

/// Entries that a program's control flow needs, by the sizes of the chip.
fn needed(flow: &[&str], chip: Chip) -> u64 {
    let (mut pushes, mut loops, mut most) = (0u64, 0u64, 0u64);
    for line in flow {
        let op = line.split(' ').next().unwrap_or_default();
        let pops = line.split("POP:").nth(1).map_or(0, |text| {
            let digits = text.split(' ').next().unwrap_or_default();
            digits.parse().expect("a count")
        });
        match op {
            "ALU_PUSH_BEFORE" | "PUSH" => pushes += 1,
            "LOOP_START_DX10" | "LOOP_START" | "LOOP_START_NO_AL" => loops += 1,
            _ => {}
        }
        most = most.max(chip.stack_entries(loops as u32, pushes as u32).into());
        match op {
            "LOOP_END" => loops -= 1,
            "ALU_POP_AFTER" => pushes -= 1,
            "ALU_POP2_AFTER" => pushes -= 2,
            "POP" => pushes -= pops,
            _ => {}
        }
    }
    most
}

#[test]
fn the_formula_gives_what_a_public_driver_programs() {
    let Some(rows) = shared("peers/state-r700.jsonl") else { return };
    let mut checked = 0;
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).expect("JSON");
        let (Some(flow), Some(stack)) = (row["cf"].as_array(), row["stack"].as_u64()) else {
            continue;
        };
        let name = row["chip"].as_str().expect("a chip");
        let chip = Family::R700.chip(name).or(Family::R600.chip(name)).expect("a known chip");
        let flow: Vec<&str> = flow.iter().filter_map(Value::as_str).collect();
        // Every vertex program has an entry: a return address takes no more.
        let least = u64::from(row["stage"] == "vertex");
        assert_eq!(needed(&flow, chip).max(least), stack, "{} {}", row["path"], row["chip"]);
        checked += u32::from(stack > 0);
    }
    assert!(checked > 100, "{checked} programs with a stack");
}
