use super::super::program::Program;
use super::super::rule::Rule;
use super::super::state::Stage;
use super::{Bench, assemble, refused};

fn memory() -> Bench {
    let mut bench = Bench::new().reg(0, 0x1000).reg(1, 0).reg(2, 7).reg(3, 8);
    bench.state.memory.map(0x1000, (0..64).collect(), true);
    bench
}

#[test]
fn a_register_is_not_read_after_its_last_use() {
    let mut bench = Bench::new().reg(0, 1);
    assert_eq!(bench.refused("MOV.i32 r1, ^r0\nMOV.i32.end r2, r0"), Rule::LastUse);
    assert!(bench.run("MOV.i32 r0, ^r0\nMOV.i32.end r2, r0").is_ok());
}

#[test]
fn a_last_use_of_a_pair_ends_both_registers() {
    let mut bench = Bench::new().reg(2, 1).reg(3, 1).reg(4, 1).reg(5, 0);
    assert_eq!(bench.refused("IADD.u64 r4, ^r2, r4\nMOV.i32.end r0, r3"), Rule::LastUse);
}

#[test]
fn a_result_is_not_read_before_its_wait() {
    assert_eq!(
        refused(memory, "LOAD.i32.unsigned.slot0 @r4, r0, offset:0\nMOV.i32.end r5, r4"),
        Rule::NotWaited
    );
    assert_eq!(
        refused(memory, "LOAD.i32.unsigned.slot0 @r4, r0, offset:0\nNOP.wait1\nMOV.i32.end r5, r4"),
        Rule::NotWaited
    );
    let text = "LOAD.i32.unsigned.slot0.wait0 @r4, r0, offset:4\nMOV.i32.end r5, r4";
    assert_eq!(memory().result(text, 5), 0x0706_0504);
}

#[test]
fn a_result_is_not_overwritten_before_its_wait() {
    let load = "LOAD.i32.unsigned.slot0 @r4, r0, offset:0\n";
    assert_eq!(refused(memory, &format!("{load}MOV.i32.end r4, r2")), Rule::Overwritten);
    let twice = format!("{load}LOAD.i32.unsigned.slot1 @r4, r0, offset:0\nNOP.end");
    assert_eq!(refused(memory, &twice), Rule::Overwritten);
}

#[test]
fn what_a_store_reads_may_be_overwritten_at_once_but_not_marked_as_last_used() {
    let store = "STORE.i32.slot0 @r2, r0, offset:0\n";
    assert!(memory().run(&format!("{store}MOV.i32.end r2, 0x0")).is_ok());
    assert_eq!(refused(memory, &format!("{store}MOV.i32.end r5, ^r2")), Rule::LastUseStaging);
    assert!(memory().run(&format!("{store}NOP.wait0\nMOV.i32.end r5, ^r2")).is_ok());
}

#[test]
fn with_32_registers_the_middle_ones_do_not_exist() {
    let mut bench = Bench::new().reg(15, 1).reg(48, 1);
    bench.state.work_registers = 32;
    assert!(bench.run("IADD.u32.end r63, r15, r48").is_ok());
    for text in ["MOV.i32.end r16, r15", "MOV.i32.end r0, r47"] {
        assert_eq!(bench.refused(text), Rule::RegisterFile);
    }
}

#[test]
fn pairs_and_groups_start_at_even_registers() {
    let word = |text: &str, reg: u64, at: u32| {
        let word = crate::isa::assemble_line(text).expect("assembles");
        (word & !(63 << at)) | reg << at
    };
    // The assembler refuses these texts, so the registers are put in by hand.
    let cases = [
        (word("IADD.u64.end r2, r4, r6", 3, 40), Rule::Pair),
        (word("IADD.u64.end r2, r4, r6", 5, 0), Rule::Pair),
        (word("LOAD.i64.unsigned.slot0.end @r2:r3, r4, offset:0", 5, 40), Rule::StagingAlign),
    ];
    for (word, rule) in cases {
        let refused = super::super::decode::decode(word, 0).map(drop).map_err(|trap| trap.rule);
        assert_eq!(refused, Err(rule));
    }
}

#[test]
fn staging_counts_are_those_of_the_instruction() {
    let text = "LD_VAR_BUF_IMM.f32.slot0.v3.src_f32.center.store @r8:r9, r61, index:0x0\nNOP.end";
    let mut bench = Bench::new();
    bench.stage = super::Stage::Fragment;
    assert_eq!(bench.refused(text), Rule::StagingCount);
    let word = crate::isa::assemble_line("LOAD.i64.unsigned.slot0.end @r2:r3, r4, offset:0")
        .expect("assembles");
    for count in [0u64, 1, 3, 4] {
        let word = (word & !(7 << 33)) | count << 33;
        let refused = super::super::decode::decode(word, 0).map(drop).map_err(|trap| trap.rule);
        assert_eq!(refused, Err(Rule::Reserved), "{count}");
    }
}

#[test]
fn undefined_values_may_move_but_not_decide() {
    let mut bench = memory();
    assert!(bench.run("IADD.u32 r9, r8, r2\nNOP.end").is_ok());
    for text in [
        "BRANCHZ.eq.reconverge r8, offset:0\nNOP.end",
        "STORE.i32.slot0 @r8, r0, offset:0\nNOP.end",
        "IADD.u32 r0, r0, r8\nSTORE.i32.slot0 @r2, r0, offset:0\nNOP.end",
    ] {
        assert_eq!(bench.refused(text), Rule::Undefined, "{text}");
    }
}

#[test]
fn halves_are_undefined_on_their_own() {
    // r8 has a low half alone.
    let low = "FADD.v2f16 r8.h0, r2, r3\n";
    let mut bench = memory();
    assert_eq!(
        bench.refused(&format!("{low}STORE.i32.slot0 @r8, r0, offset:0\nNOP.end")),
        Rule::Undefined
    );
    assert!(bench.run(&format!("{low}STORE.i16.slot0 @r8, r0, offset:0\nNOP.end")).is_ok());
    let joined =
        format!("{low}MKVEC.v2i16 r8, r8.h00, r8.h00\nSTORE.i32.slot0 @r8, r0, offset:0\nNOP.end");
    assert!(bench.run(&joined).is_ok());
}

#[test]
fn a_float_that_does_not_fit_is_an_undefined_integer() {
    let mut bench = memory().float(9, 3e9).float(10, f32::NAN).float(11, -2.5);
    let store = "STORE.i32.slot0 @r8, r0, offset:0\nNOP.end";
    for reg in [9, 10] {
        let text = format!("F32_TO_S32.rtz r8, r{reg}\n{store}");
        assert_eq!(bench.refused(&text), Rule::Undefined);
    }
    assert_eq!(bench.result("F32_TO_S32.rtz r8, r11\nNOP.end", 8) as i32, -2);
    assert_eq!(bench.result("F32_TO_S32.rtn r8, r11\nNOP.end", 8) as i32, -3);
    assert_eq!(bench.result("F32_TO_U32.rtz r8, r9\nNOP.end", 8), 3_000_000_000);
}

#[test]
fn staging_registers_lie_within_the_file() {
    let load = |first: u64| {
        let mut code = assemble("LOAD.i128.unsigned.slot0 @r0:r1:r2:r3, r0, offset:0\nNOP.end");
        // Arm's description: the first register stands at 45:40.
        let word = u64::from_le_bytes(code[..8].try_into().expect("a word")) | first << 40;
        code[..8].copy_from_slice(&word.to_le_bytes());
        Program::load(&code, 0, Stage::Compute, 64).map(drop).map_err(|trap| trap.rule)
    };
    assert_eq!(load(60), Ok(()));
    assert_eq!(load(62), Err(Rule::StagingRange));
}

#[test]
fn a_program_is_whole_words_and_not_empty() {
    let load = |bytes: usize| {
        let code = assemble("NOP\nNOP.end");
        Program::load(&code[..bytes], 0, Stage::Compute, 64).map(drop).map_err(|trap| trap.rule)
    };
    assert_eq!(load(16), Ok(()));
    for bytes in [0, 4, 15] {
        assert_eq!(load(bytes), Err(Rule::ProgramSize), "{bytes}");
    }
}
