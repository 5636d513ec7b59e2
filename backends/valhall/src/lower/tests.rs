//! Lowering over random programs: what it makes is a sound machine function. And what small programs become.

use super::{Part, lower};
use crate::abi::Abi;
use crate::api::{Effort, Options, Uniforms};
use crate::inst::Inst;
use crate::isa;
use gpucc_ir::mach::{self, Block};
use gpucc_ir::ssa::random::{Config, program};
use gpucc_ir::ssa::{Func, Op};
use gpucc_passes::{Ctx, Plan, Quiet, Runner};

#[test]
fn random_compute_programs_become_machine_code() {
    let config = Config {
        textures: false,
        // Those go with textures.
        allow: |op| !matches!(op, Op::CubeS | Op::CubeT | Op::CubeMajor | Op::CubeFace),
        ..Config::COMPUTE
    };
    for seed in 0..150 {
        let mut func = program(seed, &config);
        // Doubles are refused.
        if crate::refuse::check(&func).is_err() {
            continue;
        }
        let effort = if seed % 4 == 0 { Effort::None } else { Effort::Full };
        let options = Options { effort, ..Options::default() };
        {
            let level = match effort {
                Effort::None => gpucc_passes::Level::O0,
                _ => gpucc_passes::Level::O2,
            };
            let mut ctx = Ctx::new(
                gpucc_passes::Options { level, ..gpucc_passes::Options::default() },
                crate::numerics(),
                crate::target_info(),
            );
            let plan = Plan::for_options(&ctx.options);
            Runner::default().run(&plan, &mut func, &mut ctx, &mut Quiet).expect("the passes run");
        }
        if let Err(failure) = crate::compile(func.clone(), &options) {
            panic!("seed {seed}: {failure}");
        }
        let mut expanded = func;
        crate::expand(&mut expanded, &options).expect("sound");
        let abi = Abi::of(&expanded, &options).expect("few bindings");
        let lowered = lower(&expanded, &abi, Part::Whole).expect("compute programs are built");
        mach::verify(&lowered.func).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        assert!(!lowered.func.is_empty());
    }
}

/// The one entry point of a text.
fn entry(text: &str) -> Func {
    let mut module = gpucc_ir::ssa::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.funcs.remove(0)
}

/// The machine code of a text, a line for each instruction.
fn code(text: &str) -> Vec<String> {
    code_with(text, &Options::default())
}

fn code_with(text: &str, options: &Options) -> Vec<String> {
    let compiled = crate::compile(entry(text), options);
    let compiled = compiled.unwrap_or_else(|failure| panic!("{failure}\n{text}"));
    let words = isa::program::words_of(&compiled.code).expect("whole words");
    let lines = words.into_iter().map(isa::disassemble_word);
    lines.map(|line| line.expect("what was emitted")).collect()
}

/// What lowering makes of a text.
fn lowered(text: &str) -> mach::Func<Inst> {
    let func = entry(text);
    let abi = Abi::of(&func, &Options::default()).expect("few bindings");
    let lowered = lower(&func, &abi, Part::Whole);
    lowered.expect("it lowers").func
}

fn count(lines: &[String], what: &str) -> usize {
    lines.iter().filter(|line| line.contains(what)).count()
}

/// A compute program of 64 invocations in a row, with their number in `%0`, a zero in `%1`, and a buffer.
fn compute(variables: &str, body: &str) -> Vec<String> {
    code(&format!(
        "func \"main\" compute workgroup 64 1 1 {{
            res0 = \"data\" group 0 binding 0 storage 40000 load store as u32
            in0 = \"index\" u32 x 1 builtin local_invocation_index
            in1 = \"id\" u32 x 3 builtin global_invocation_id
            in2 = \"local\" u32 x 3 builtin local_invocation_id
            {variables}
        }} body {{
            %0: b32 = input in0.0
            %1: b32 = const 0x0
            {body}
            yield
        }}"
    ))
}

/// A fragment program with an input in `%0` and a zero in `%1`, whose colour is `%9`.
fn fragment(body: &str) -> String {
    format!(
        "func \"main\" fragment {{
            in0 = \"a\" f32 x 1 location 0 perspective center
            in1 = \"b\" f32 x 1 location 1 perspective center
            out0 = \"\" f32 x 4 location 0 perspective
        }} body {{
            %0: b32 = input in0.0
            %1: b32 = const 0x0
            {body}
            output out0.0, %9
            output out0.1, %9
            output out0.2, %9
            output out0.3, %9
            yield
        }}"
    )
}

#[test]
fn all_parts_of_an_access_are_within_reach_of_its_base() {
    // Ten bytes are a store of eight and one of two behind them.
    let second = |at: u32| {
        compute(
            "",
            &format!(
                "%2: b32 = const {at:#x}
                 %3: b16 = const 0x3c00
                 buffer_store res0, %1, %0
                 buffer_store res0, %2, %0, %3, %3, %3"
            ),
        )
    };
    let near = second(0x7ff0);
    assert_eq!(count(&near, "LEA_BUFFER"), 1, "{near:#?}");
    assert_eq!(count(&near, "offset:32760"), 1, "{near:#?}");
    let far = second(0x7ffc);
    assert_eq!(count(&far, "LEA_BUFFER"), 2, "{far:#?}");
    assert_eq!(count(&far, "offset:-"), 0, "{far:#?}");
}

#[test]
fn a_workgroup_variable_stands_behind_the_one_before() {
    let lines = compute(
        "mem0 = \"a\" workgroup 256
         mem1 = \"b\" workgroup 256",
        "%2: b32 = const 0x4
         mem_store mem0[0..256], %2, %0
         mem_store mem1[0..256], %2, %0
         barrier workgroup
         %3: b32 = mem_load mem0[0..256], %1
         %4: b32 = mem_load mem1[0..256], %1
         buffer_store res0, %1, %3, %4",
    );
    let at = |row: &str, offset: u32| {
        let end = format!("workgroup_local_pointer.w0, offset:{offset}");
        let found = lines.iter().filter(|line| line.starts_with(row));
        found.filter(|line| line.ends_with(&end)).count()
    };
    for (row, offset) in [("STORE", 4), ("STORE", 260), ("LOAD", 0), ("LOAD", 256)] {
        assert_eq!(at(row, offset), 1, "{row} {offset}: {lines:#?}");
    }
}

#[test]
fn accesses_to_variables_of_one_invocation_are_forced_and_others_have_no_hint() {
    let body = "%2: b32 = const 0x2
         %3: b32 = shl %0, %2
         mem_store mem0[0..256], %3, %0
         barrier workgroup
         %4: b32 = const 0x3c
         %5: b32 = and %3, %4
         %6: b32 = mem_load mem0[0..256], %5
         buffer_store res0, %1, %6";
    for (space, hint) in [("private", ".force"), ("workgroup", "")] {
        let lines = compute(&format!("mem0 = \"v\" {space} 256"), body);
        let starts = [format!("STORE.i32{hint}.slot"), format!("LOAD.i32{hint}.unsigned.slot")];
        for start in starts {
            let found = lines.iter().filter(|line| line.starts_with(&start));
            assert!(found.count() > 0, "{start}: {lines:#?}");
        }
        assert_eq!(count(&lines, ".force"), if hint.is_empty() { 0 } else { 2 });
    }
}

#[test]
fn an_unsigned_order_compares_whole_words() {
    let order = |op: &str| {
        compute(
            "",
            &format!(
                "%2: b16, %3: b16 = buffer_load res0, %1
                 %4: b32 = sconvert %2
                 %5: b1 = {op} %4, %0
                 %6: b32 = uconvert %5
                 buffer_store res0, %1, %6"
            ),
        )
    };
    for op in ["ult", "ule"] {
        let lines = order(op);
        assert_eq!(count(&lines, "ICMP_OR.u32"), 1, "{lines:#?}");
        assert_eq!(count(&lines, "ICMP_OR.s32"), 0, "{lines:#?}");
    }
    // The sign is part of what is read by those that have one, or no order.
    for op in ["slt", "ieq"] {
        let lines = order(op);
        assert_eq!(count(&lines, "ICMP_OR.s32"), 1, "{lines:#?}");
    }
}

#[test]
fn the_number_on_an_axis_of_one_invocation_is_zero() {
    let of = |axis: u32| {
        compute(
            "",
            &format!(
                "%2: b32 = input in2.{axis}
                 buffer_store res0, %1, %2"
            ),
        )
    };
    assert!(count(&of(0), "r55") > 0, "{:#?}", of(0));
    assert_eq!(count(&of(1), "r55"), 0, "{:#?}", of(1));
}

/// Whether each branch on a condition reconverges.
fn reconverge(lines: &[String]) -> Vec<bool> {
    let branches = lines.iter().filter(|line| line.starts_with("BRANCHZ"));
    let asked = branches.filter(|line| !line.contains("0x0"));
    asked.map(|line| line.contains(".reconverge")).collect()
}

/// A loop that counts in fours until it is beyond a value.
fn counting_to(bound: &str) -> String {
    format!(
        "loop %1 body (%2: b32) {{
            buffer_store res0, %1, %2
            continue %2
        }} continuing (%3: b32) {{
            %4: b32 = const 0x4
            %5: b32 = iadd %3, %4
            %6: b1 = ult {bound}, %5
            break_if %6, %5
        }}"
    )
}

#[test]
fn a_loop_that_lanes_leave_on_different_trips_ends_in_a_branch_that_reconverges() {
    let lines = compute("", &counting_to("%0"));
    assert_eq!(reconverge(&lines), [true], "{lines:#?}");
    let lines = compute("", &counting_to("%1"));
    assert_eq!(reconverge(&lines), [false], "{lines:#?}");
    // Nothing is carried to the next trip; others may store what is loaded.
    let lines = compute(
        "",
        "loop body {
            %2: b32 = buffer_load res0, %1
            buffer_store res0, %1, %2
            continue
        } continuing {
            %3: b32 = buffer_load res0, %1
            %4: b1 = ult %0, %3
            break_if %4
        }",
    );
    assert_eq!(reconverge(&lines), [true], "{lines:#?}");
}

#[test]
fn a_loop_that_lanes_run_without_the_others_ends_in_a_branch_that_reconverges() {
    // They agree on when it ends.
    let lines = compute(
        "res1 = \"bound\" group 0 binding 1 uniform 16 as u32",
        "%2: b32 = const 0x28
         %3: b1 = ult %0, %2
         if %3 {
            loop body {
                %4: b32 = buffer_load res0, %1
                %5: b32 = iadd %4, %0
                buffer_store res0, %1, %5
                continue
            } continuing {
                %6: b32 = buffer_load res1, %1
                %7: b1 = ult %1, %6
                break_if %7
            }
            buffer_store res0, %1, %2
            yield
         } else {
            yield
         }",
    );
    assert_eq!(reconverge(&lines), [true, true], "{lines:#?}");
}

#[test]
fn coverage_is_copied_where_somebody_clears_it() {
    let copies = |body: &str| {
        let func = lowered(&fragment(body));
        let blocks = func.layout.iter().map(|&block| &func.blocks[block]);
        let nodes = blocks.flat_map(|block| &block.nodes);
        nodes.filter(|node| matches!(node.inst, Inst::Copy { .. })).count()
    };
    let demotion = "%2: b1 = flt %0, %1
        if %2 { demote yield } else { yield }";
    let across = "%9: b32 = ddx %0";
    let alone = "%9: b32 = fadd %0, %0";
    let base = copies(alone);
    assert_eq!(copies(across), base);
    // Without quads a demoted invocation ends.
    assert_eq!(copies(&format!("{demotion} {alone}")), base);
    assert_eq!(copies(&format!("{demotion} {across}")), base + 1);
}

#[test]
fn an_input_of_two_arms_is_loaded_before_the_branch() {
    let text = fragment(
        "%2: b1 = flt %0, %1
         %9: b32 = if %2 {
            %3: b32 = input in1.0
            %4: b32 = fmul %3, %3
            yield %4
         } else {
            %5: b32 = input in1.0
            %6: b32 = fadd %5, %0
            yield %6
         }",
    );
    let func = lowered(&text);
    let loads = |block: Block| {
        let ops = func.blocks[block].nodes.iter().filter_map(|n| n.inst.op());
        ops.filter(|op| op.opcode.unit() == isa::Unit::V).count()
    };
    let [start, rest @ ..] = &func.layout[..] else { panic!("a program begins somewhere") };
    assert_eq!(loads(*start), 2);
    assert!(!rest.is_empty() && rest.iter().all(|&block| loads(block) == 0));
}

#[test]
fn only_the_low_bits_of_the_number_of_a_neighbour_count() {
    let quad = |lane: u32| {
        code(&fragment(&format!(
            "%2: b32 = const {lane:#x}
             %9: b32 = shuffle quad, %0, %2"
        )))
    };
    assert_eq!(quad(7), quad(3));
    assert_ne!(quad(2), quad(3));
}

#[test]
fn whether_a_coordinate_is_small_is_asked_of_a_few_operations() {
    let choices = |mins: usize| {
        let mut body = String::from("%10: b32 = const 0x64\n%20: b32 = umin %0, %10\n");
        for k in 1..mins {
            body += &format!("%{}: b32 = input in1.{}\n", 10 + k, k % 3);
            body += &format!("%{}: b32 = umin %{}, %{}\n", 20 + k, 19 + k, 10 + k);
        }
        let last = 19 + mins;
        body += &format!("image_store res1, %{last}, %1, %0, %0, %0, %0");
        let image = "res1 = \"i\" group 0 binding 1 storage_texture d2 uint rgba8uint store as u32";
        let lines = compute(image, &body);
        count(&lines, "CSEL.u32")
    };
    // Each minimum is one; what is not known to be small is made so by one more.
    assert_eq!([1, 3, 4].map(choices), [1, 3, 5]);
}

#[test]
fn a_position_that_nobody_writes_is_not_stored() {
    let stores = |body: &str| {
        let lines = code(&format!(
            "func \"main\" vertex {{
                in0 = \"a\" f32 x 1 location 0 perspective center
                out0 = \"p\" f32 x 4 builtin position
                out1 = \"v\" f32 x 1 location 0 perspective
            }} body {{
                %0: b32 = input in0.0
                output out1.0, %0
                {body}
                yield
            }}"
        ));
        count(&lines, "STORE.i128")
    };
    let all: String = (0..4).map(|k| format!("output out0.{k}, %0\n")).collect();
    assert_eq!(stores(""), 0);
    assert_eq!(stores(&all), 1);
}

#[test]
fn an_alpha_that_is_pushed_is_moved_once() {
    let text = "func \"main\" fragment {
            res0 = \"color\" group 0 binding 0 uniform 16 as f32
            out0 = \"\" f32 x 4 location 0 perspective
        } body {
            %0: b32 = const 0x0
            %1: b32, %2: b32, %3: b32, %4: b32 = buffer_load res0, %0
            output out0.0, %1
            output out0.1, %2
            output out0.2, %3
            output out0.3, %4
            yield
        }";
    let mut options = Options::default();
    options.pipeline.uniforms = Uniforms::Pushed;
    let lines = code_with(text, &options);
    assert_eq!(count(&lines, "MOV.i32"), 4, "{lines:#?}");
}
