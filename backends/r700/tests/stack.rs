//! STACK_SIZE of foreign programs by the compiler's formula: what a public driver programs for the same control flow; and
//! programs that take more than their share of it.

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

/// A fragment program of so many loops, each within the one before.
fn loops(count: usize) -> String {
    let (mut open, mut close) = (String::new(), String::new());
    let (mut next, mut carried) = (2, 0);
    for _ in 0..count {
        let [result, counter, last] = [next, next + 1, next + 2];
        next += 3;
        open += &format!(
            "  %{result}: b32 = loop %{carried} body (%{counter}: b32) {{
    %{last}: b1 = ult %{counter}, %1
    if %{last} {{
      break %{counter}
    }} else {{
      yield
    }}
"
        );
        carried = counter;
    }
    for depth in (0..count).rev() {
        // What the loop within leaves, less one; the innermost counts itself.
        let from = if depth + 1 == count { 3 * depth + 3 } else { 3 * depth + 5 };
        close += &format!(
            "    %{next}: b32 = isub %{from}, %1
    continue %{next}
  }} continuing (%{}: b32) {{
    next %{}
  }}
",
            next + 1,
            next + 1
        );
        next += 2;
    }
    format!(
        "func \"fragment\" fragment trusted {{
  in0 = \"n\" u32 x 1 location 0 flat center
  out0 = \"\" u32 x 1 location 0 flat
}} body {{
  %0: b32 = input in0.0
  %1: b32 = const 0x1
{open}{close}  output out0.0, %2
  yield
}}"
    )
}

/// docs/errata.md 53. 20 loops take 8 elements each where wavefronts are narrow: 41 entries of 4.
#[test]
fn a_program_beyond_its_share_of_the_stack_is_a_limit() {
    let compile = |chip: Chip, count: usize| {
        let module = gpucc_ir::ssa::parse(&loops(count)).expect("the text is right");
        let options = gpucc_r700::Options { chip, ..gpucc_r700::Options::default() };
        let compiled = gpucc_r700::compile(module.funcs[0].clone(), &options);
        compiled.map(drop).map_err(|failure| failure.to_string())
    };
    for (chip, most) in [(Chip::Rv610, 19), (Chip::Rv630, 19), (Chip::Rv670, 39)] {
        assert_eq!(compile(chip, most), Ok(()), "{}", chip.name());
        let refused = compile(chip, most + 1).expect_err("too deep");
        assert!(refused.contains("stack entries: 41 needed, 40 available"), "{refused}");
    }
    assert_eq!(compile(Chip::R600, 40), Ok(()));
    assert_eq!(compile(Chip::Rv730, 40), Ok(()));
}
