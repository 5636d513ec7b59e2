//! Rows that no foreign word has or that no test executes, with the reason: `uncovered.txt`. BLESS=1 rewrites it.

#[path = "../../../../../tests/src/shared.rs"]
mod foreign;

use super::executed;
use super::{alu, control, memory, r600, rules, samples};
use crate::isa::{AluGroup, Isa, R600, R700, flag};
use gpucc_isa::coverage::Coverage;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Runs what executes instructions, whatever order the harness has.
fn run_all() {
    alu::every_instruction_of_one_slot_gives_what_the_manual_says();
    alu::reductions_replicate_their_result();
    alu::cube_gives_coordinates_axis_and_face();
    alu::doubles_take_high_dwords_first_and_leave_low_ones_first();
    alu::mova_indexes_registers_from_the_next_group_on();
    control::random_nests_agree_with_one_lane_at_a_time();
    control::loops_with_constants_count_and_index();
    control::subroutines_return_to_their_caller();
    control::alu_continue_skips_the_rest_of_a_trip();
    control::alu_else_after_turns_to_the_other_arm();
    control::alu_pop_after_ends_a_branch();
    memory::vertices_stream_out_in_their_order();
    memory::geometry_programs_read_one_ring_write_the_other_and_emit();
    memory::reduction_buffers_keep_what_a_thread_put_there();
    memory::a_semantic_fetch_writes_the_register_of_its_place_in_the_table();
    memory::control_flow_that_pops_and_pushes_at_once();
    memory::branches_and_loops_are_the_same_on_both();
    memory::threads_exchange_through_the_share_within_a_clause_or_behind_a_barrier();
    memory::a_fetch_program_returns_to_its_caller();
    memory::address_loads_round_as_their_names_say_and_nop_leaves_nothing();
    r600::instructions_of_one_slot_give_what_they_give_on_r700();
    r600::sine_and_cosine_take_radians();
    r600::scratch_is_read_by_the_instruction_that_writes_it();
    r600::registers_are_indexed_by_ar_on_rv670_and_by_something_undescribed_elsewhere();
    rules::every_rule_refuses_its_breach_by_name_and_lets_its_neighbour_run();
    samples::samples_take_their_level_from_where_they_say();
    samples::gradients_are_set_got_and_kept();
    samples::queries_and_loads_read_the_image_itself();
    samples::a_cube_is_chosen_by_its_face_and_the_index_that_was_set();
    samples::kills_end_their_clause_and_no_pixel_comes_back();
    samples::clauses_through_the_texture_cache_fetch_vertices();
}

/// Why a row is not executed.
fn reason(name: &str, flags: u32) -> &'static str {
    match name {
        "MOVA_GPR_INT" => "nothing describes the index that it loads",
        "FETCH4" => "no document says which texels in which order",
        "SAMPLE_G_L" | "SAMPLE_G_LB" | "SAMPLE_G_LZ" | "SAMPLE_C_G_L" | "SAMPLE_C_G_LB"
        | "SAMPLE_C_G_LZ" => "no document says what a level does beside gradients",
        "DS_GLOBAL_WRITE" | "DS_GLOBAL_READ" => "the document lists the number and nothing else",
        _ if flags & flag::RESERVED != 0 => "reserved: decoded for foreign programs",
        _ => "",
    }
}

/// What of R700's table no word in ../shared has: rows, fields and values, a line each.
fn without_foreign_word() -> Option<String> {
    use crate::isa::program::{Body, decode_alu_slot, decode_cf, decode_fetch, decode_group};
    let text = foreign::text_or_skip("golden/r700.jsonl")?;
    let mut coverage = Coverage::default();
    let group = |coverage: &mut Coverage, group: &AluGroup| {
        for slot in &group.slots {
            coverage.note(&R700.alu, slot.inst_ref());
        }
    };
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("a JSON row");
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
                let slot = decode_alu_slot(&R700, &words).expect("accepted");
                coverage.note(&R700.alu, slot.inst_ref());
            }
            "alu-group" => group(&mut coverage, &decode_group(&R700, &words).expect("accepted")),
            _ => {
                let program = crate::isa::decode_program(&words).expect("accepted");
                for cf in &program.cf {
                    coverage.note(&R700.cf, &cf.inst);
                }
                for clause in &program.clauses {
                    match &clause.body {
                        Body::Alu(groups) => groups.iter().for_each(|g| group(&mut coverage, g)),
                        Body::Fetch(list) => {
                            list.iter().for_each(|inst| coverage.note(&R700.fetch, inst));
                        }
                    }
                }
            }
        }
    }
    Some(coverage.missing(&[&R700.cf, &R700.alu, &R700.fetch]))
}

#[test]
fn every_row_is_executed_or_says_why_not() {
    run_all();
    let executed = executed::all();
    let mut silent = Vec::new();
    let mut lines = String::from(
        "# What of the tables is without a word from a foreign encoder, or without an executed test and why. Generated by\n\
         # `BLESS=1 cargo test -p gpucc-r700 --lib every_row`. R6xx's foreign words are R700's moved into chapter 4's layout.\n",
    );
    let missing = without_foreign_word();
    let tables = |isa: &'static Isa| [&isa.cf, &isa.alu, &isa.fetch];
    for isa in [&R700, &R600] {
        for table in tables(isa) {
            for op in table.rows() {
                let key = (isa.name, table.name, op.name.to_owned());
                let runs = executed.contains(&key);
                let why = reason(op.name, op.flags);
                if !runs && why.is_empty() {
                    silent.push(format!("{} {} {}", isa.name, table.name, op.name));
                }
                let line = format!("row {} {}", table.name, op.name);
                let known = missing
                    .as_ref()
                    .is_none_or(|missing| missing.lines().all(|known| known != line));
                let line = match (known, runs) {
                    (true, true) => continue,
                    (false, true) => "no foreign word".to_owned(),
                    (true, false) => format!("not executed: {why}"),
                    (false, false) => format!("no foreign word; not executed: {why}"),
                };
                lines.push_str(&format!("{} {} {}: {line}\n", isa.name, table.name, op.name));
            }
        }
    }
    assert!(silent.is_empty(), "neither executed nor explained: {silent:#?}");
    let Some(missing) = missing else { return };
    for line in missing.lines().filter(|line| !line.starts_with("row ")) {
        lines.push_str(&format!("r700 {line}: no foreign word\n"));
    }
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/uncovered.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &lines).expect("the file can be written");
    }
    // A collection with more words than we saw covers more; it must not cover less.
    let known = std::fs::read_to_string(&file).expect("uncovered.txt");
    let known: BTreeSet<&str> = known.lines().collect();
    let new: Vec<&str> = lines.lines().filter(|line| !known.contains(line)).collect();
    assert!(new.is_empty(), "not in uncovered.txt: {new:#?}");
}
