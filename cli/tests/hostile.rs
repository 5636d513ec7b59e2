//! Inputs that ask for too much, and accesses that leave their memory: on every machine each ends as the table says,
//! within 10 s and 512 MiB.

#[path = "../../tests/src/limited.rs"]
mod limited;

use std::path::{Path, PathBuf};

const MACHINES: [&str; 4] = ["interp", "r700", "r600", "valhall"];

/// Exit codes that are right, for each of [`MACHINES`].
type Codes = [&'static [i32]; 4];

const DONE: Codes = [&[0]; 4];
const LIMIT: Codes = [&[4]; 4];
const WRONG: Codes = [&[1]; 4];
/// R6xx writes no memory.
const STORES: Codes = [&[0], &[0], &[3], &[0]];
/// In proportion, or a limit.
const IN_PROPORTION: Codes = [&[0, 4], &[0, 4], &[3, 4], &[0, 4]];

/// A file, what compiling it gives, and what proving it gives.
struct Case {
    file: &'static str,
    options: &'static [&'static str],
    compiled: Codes,
    verified: Codes,
}

const fn case(file: &'static str, compiled: Codes, verified: Codes) -> Case {
    Case { file, options: &[], compiled, verified }
}

const CASES: &[Case] = &[
    case("a_constant_index_beyond_the_end_stays_in_its_binding.wgsl", STORES, STORES),
    case("a_constant_index_into_a_structure_stays_in_its_binding.wgsl", STORES, STORES),
    case(
        "an_atomic_of_a_constant_index_stays_in_its_binding.wgsl",
        [&[0], &[3], &[3], &[0]],
        [&[0], &[3], &[3], &[0]],
    ),
    case("a_point_coordinate_of_four_components.spv", WRONG, WRONG),
    case("an_empty_array_is_not_accessed.wgsl", STORES, STORES),
    case("a_binding_without_room_for_its_array_is_not_accessed.wgsl", STORES, STORES),
    Case {
        file: "an_access_out_of_bounds_without_bounds_is_the_users.wgsl",
        options: &["--robust", "off"],
        compiled: STORES,
        // No proof, or wrong usage: the shader asked for no bounds. The reference against itself may not differ.
        verified: [&[0, 2, 5], &[2, 5], &[3], &[2, 5]],
    },
    Case {
        file: "a_constant_index_below_an_array_of_registers.vert",
        options: &["--robust", "off", "-O0"],
        compiled: DONE,
        verified: [&[0, 2, 5]; 4],
    },
    // No input ends, so nothing can be compared.
    case("a_loop_within_continuing_may_be_endless.wgsl", STORES, [&[0, 5], &[0, 5], &[3], &[0, 5]]),
    case("a_composite_of_four_billion_elements_is_a_limit.spv", LIMIT, LIMIT),
    case("an_index_beyond_an_array_of_bindings_stays_in_it.frag", DONE, DONE),
    case("a_texel_offset_of_9_is_the_users_error.wgsl", WRONG, WRONG),
    case("an_array_whose_elements_overlap_is_no_module.spv", WRONG, WRONG),
    case("a_member_between_words_is_no_module.spv", WRONG, WRONG),
    case("elements_between_words_are_no_module.spv", WRONG, WRONG),
    case("a_structure_of_64_bits_lies_without_gaps.comp", STORES, STORES),
    case("a_copy_of_fifty_thousand_scalars_is_a_limit.comp", LIMIT, LIMIT),
    case("an_output_of_two_billion_elements_is_a_limit.vert", LIMIT, LIMIT),
    // A number that no integer holds is the user's error too.
    case("an_output_block_longer_than_32_bits_is_a_limit.vert", [&[1, 4]; 4], [&[1, 4]; 4]),
    case("a_captured_block_longer_than_32_bits_is_a_limit.vert", [&[1, 4]; 4], [&[1, 4]; 4]),
    case("an_input_of_many_million_elements_is_a_limit.frag", LIMIT, LIMIT),
    case(
        "a_function_inlined_a_thousand_times.wgsl",
        IN_PROPORTION,
        [&[0, 4, 5], &[0, 4, 5], &[3, 4], &[0, 4, 5]],
    ),
    case(
        "a_function_inlined_two_hundred_thousand_times.wgsl",
        IN_PROPORTION,
        [&[0, 4, 5], &[0, 4, 5], &[3, 4], &[0, 4, 5]],
    ),
    case("a_pointer_that_nobody_uses.wgsl", STORES, STORES),
    case("an_access_chain_that_nobody_uses.spv", DONE, DONE),
    case(
        "one_load_gives_a_word_and_two_halves.ir",
        [&[0], &[3], &[3], &[0]],
        [&[0], &[3], &[3], &[0]],
    ),
    case(
        "one_store_takes_a_word_and_three_halves.ir",
        [&[0], &[3], &[3], &[0]],
        [&[0], &[3], &[3], &[0]],
    ),
    case("an_access_wider_than_its_part_is_no_program.ir", [&[1]; 4], [&[1]; 4]),
    case("texels_of_a_sampled_texture_are_not_written.ir", [&[1]; 4], [&[1]; 4]),
    // The interpreter has no registers that a location would have to fit.
    case(
        "a_location_of_256_is_a_limit.wgsl",
        [&[0, 4], &[4], &[4], &[4]],
        [&[0, 4], &[4], &[4], &[4]],
    ),
    case("cull_distances_are_no_doubles.vert", [&[1]; 4], [&[1]; 4]),
    case("lanes_that_return_from_loops_meet.wgsl", DONE, [&[0, 5]; 4]),
    case(
        "loops_in_branches_hundreds_deep.wgsl",
        IN_PROPORTION,
        [&[0, 4, 5], &[0, 4, 5], &[3, 4], &[0, 4, 5]],
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile")
}

fn gpucc(arguments: &[&str]) -> limited::Ended {
    limited::run(Path::new(env!("CARGO_BIN_EXE_gpucc")), arguments).expect("gpucc starts")
}

/// Runs the cases whose number leaves `part` of 3, so that the tests share the processors.
fn run_part(part: usize) {
    let mut wrong = Vec::new();
    for case in CASES.iter().skip(part).step_by(3) {
        let path = folder().join(case.file);
        let path = path.to_string_lossy();
        for (index, machine) in MACHINES.into_iter().enumerate() {
            let mut compile = vec![&*path, "--target", machine];
            compile.extend(case.options);
            let mut verify = vec!["verify"];
            verify.extend(&compile);
            verify.extend(["--inputs", "2"]);
            for (what, arguments, right) in [
                ("compile", compile, case.compiled[index]),
                ("verify", verify, case.verified[index]),
            ] {
                let ended = gpucc(&arguments);
                if !ended.code.is_some_and(|code| right.contains(&code)) {
                    let told = ended.told();
                    wrong.push(format!(
                        "{} {machine} {what}: {told}, right is {right:?}",
                        case.file
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_ends_as_the_table_says_first_part() {
    run_part(0);
}

#[test]
fn each_ends_as_the_table_says_second_part() {
    run_part(1);
}

#[test]
fn each_ends_as_the_table_says_third_part() {
    run_part(2);
}

#[test]
fn every_file_stands_in_the_table() {
    for entry in std::fs::read_dir(folder()).expect("readable") {
        let name = entry.expect("readable").file_name();
        let name = name.to_string_lossy();
        // The text of a module stands beside it.
        let known = CASES.iter().any(|case| case.file == name) || name.ends_with(".spvasm");
        assert!(known, "{name} is in no case");
    }
}

/// Runs a shader whose binding 0 of group 0 holds `words`, with `5 6 7 8` in binding 1; gives both as they are afterwards.
fn run(file: &str, machine: &str, words: &str) -> String {
    let path = folder().join(file);
    let own = format!("0.0={words}");
    let ended = gpucc(&[
        "run",
        &path.to_string_lossy(),
        "--target",
        machine,
        "--groups",
        "1",
        "--set",
        &own,
        "--set",
        "0.1=u32:5,6,7,8",
        "--dump",
        "0.0",
        "--dump",
        "0.1",
    ]);
    match ended.code {
        Some(0) => ended.stdout.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => ended.told(),
    }
}

/// R6xx runs no program that stores.
const RUNNING: [&str; 3] = ["interp", "r700", "valhall"];

#[test]
fn a_constant_index_is_clamped_as_one_that_is_computed() {
    let file = "a_constant_index_beyond_the_end_stays_in_its_binding.wgsl";
    for machine in RUNNING {
        for (words, after) in [
            ("u32:1,2", "0.0: 1 9 0.1: 5 9 7 8"),
            ("u32:1", "0.0: 9 0.1: 5 9 7 8"),
            ("u32:1,2,3", "0.0: 1 2 9 0.1: 5 9 7 8"),
            ("zeros:0", "0.0: 0.1: 5 0 7 8"),
        ] {
            assert_eq!(run(file, machine, words), after, "{machine}, {words}");
        }
    }
}

#[test]
fn a_buffer_of_no_elements_is_neither_read_nor_written() {
    for machine in RUNNING {
        let after = run("an_empty_array_is_not_accessed.wgsl", machine, "zeros:0");
        assert_eq!(after, "0.0: 0.1: 0 6 7 8", "{machine}");
    }
}

#[test]
fn an_array_behind_the_end_of_its_buffer_has_no_elements() {
    let file = "a_binding_without_room_for_its_array_is_not_accessed.wgsl";
    for machine in RUNNING {
        let after = run(file, machine, "u32:1,2,3,4,5");
        assert_eq!(after, "0.0: 1 2 3 4 5 0.1: 0 0 7 8", "{machine}");
    }
}

#[test]
fn a_buffer_for_run_holds_its_type_and_whole_elements() {
    for (file, words, said) in [
        (
            "a_binding_without_room_for_its_array_is_not_accessed.wgsl",
            "u32:1,2,3",
            "takes 20 bytes before its array, and 12 were given",
        ),
        (
            "an_empty_array_is_not_accessed.wgsl",
            "zeros:6",
            "elements of 4 bytes, and 6 bytes were given for it",
        ),
    ] {
        let told = run(file, "interp", words);
        assert!(told.contains(said), "{told}");
    }
}
