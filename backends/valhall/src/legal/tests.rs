//! One program that breaks each rule, and the same program mended.

use super::*;
use gpucc_isa::FieldId;

const COMPUTE: Config = Config { stage: Stage::Compute, work: 32 };
const FRAGMENT: Config = Config { stage: Stage::Fragment, work: 32 };

/// Lines of the public assembler's text.
fn code(text: &str) -> Vec<isa::Inst> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| isa::decode_word(isa::assemble_line(line).expect(line)).expect(line)).collect()
}

fn judge(text: &str, config: Config) -> Result<(), Violation> {
    legal(&code(text), config).map_err(|finding| finding.violation)
}

fn compute(text: &str) -> Result<(), Violation> {
    judge(text, COMPUTE)
}

/// One instruction with fields that the assembler would refuse.
fn forced(text: &str, fields: &[(FieldId, u32)]) -> Result<(), Violation> {
    let word = code(text)[0];
    let word = fields.iter().fold(word, |word, &(id, value)| word.with(id, value));
    admit(&word, &registers(&word), COMPUTE)
}

#[test]
fn uniforms_of_two_slots_do_not_stand_together() {
    let fields = [(f::SRC0, 0x80), (f::SRC1, 0x84)];
    assert_eq!(forced("FADD.f32 r0, r1, r2", &fields), Err(Violation::Fau(fau::Violation::Slots)));
}

#[test]
fn pairs_are_even() {
    let broken = forced("LOAD.i32.unsigned.slot0 @r0, r2, offset:0", &[(f::SRC0, 3)]);
    assert_eq!(broken, Err(Violation::Operands(rules::Broken::OddPair(0, 3))));
}

#[test]
fn the_middle_half_does_not_exist_at_full_occupancy() {
    let text = "MOV.i32.end r16, r55";
    assert_eq!(compute(text), Err(Violation::NoRegister(16)));
    let whole = Config { work: 64, ..COMPUTE };
    assert_eq!(judge(text, whole), Ok(()));
}

#[test]
fn rows_of_foreign_programs_are_not_written() {
    let row = Opcode::ClperV2u16;
    let word = isa::Inst::usual(row.op());
    assert_eq!(admit(&word, &registers(&word), COMPUTE), Err(Violation::Foreign(row.name())));
}

#[test]
fn slot_7_is_for_barriers() {
    assert_eq!(
        forced("LOAD.i32.unsigned.slot0 @r0, r2, offset:0", &[(f::SLOT, 7)]),
        Err(Violation::Slot)
    );
    assert_eq!(forced("BARRIER.slot7.wait", &[(f::SLOT, 1)]), Err(Violation::Slot));
}

#[test]
fn thread_local_accesses_stay_within_16_bytes() {
    let load = |offset: u32| {
        forced(
            "LOAD.i64.unsigned.force.slot0 @r0:r1, thread_local_pointer.w0, offset:0",
            &[(f::OFFSET, offset)],
        )
    };
    assert_eq!(load(8), Ok(()));
    assert_eq!(load(12), Err(Violation::Crosses));
}

#[test]
fn results_are_waited_for_before_they_are_read_or_overwritten() {
    let text = |wait: &str, then: &str| {
        format!(
            "LOAD.i32.unsigned.slot1{wait} @r0, r60, offset:0
             {then}"
        )
    };
    let early = Err(Violation::NotWaited(0, 1));
    assert_eq!(compute(&text("", "MOV.i32.end r1, r0")), early);
    assert_eq!(compute(&text(".wait0", "MOV.i32.end r1, r0")), early);
    assert_eq!(compute(&text("", "MOV.i32.end r0, r55")), early);
    assert_eq!(compute(&text(".wait1", "MOV.i32.end r1, r0")), Ok(()));
}

#[test]
fn a_wait_on_one_way_does_not_serve_the_other() {
    let text = |wait: &str| {
        format!(
            "LOAD.i32.unsigned.slot0 @r0, r60, offset:0
             BRANCHZ r55, offset:1
             NOP.wait0
             MOV.i32{wait} r1, r55
             MOV.i32.end r1, r0"
        )
    };
    assert_eq!(compute(&text("")), Err(Violation::NotWaited(0, 0)));
    assert_eq!(compute(&text(".wait0")), Ok(()));
}

#[test]
fn a_register_that_was_read_for_the_last_time_is_dead() {
    let text = "MOV.i32 r0, ^r55\nMOV.i32.end r1, r55";
    assert_eq!(compute(text), Err(Violation::Dead(55)));
    assert_eq!(compute("MOV.i32 r55, ^r55\nMOV.i32.end r1, r55"), Ok(()));
}

#[test]
fn the_last_use_of_a_register_waits_for_messages_that_read_it() {
    let text = |wait: &str| {
        format!(
            "STORE.i32.slot0{wait} @r55, r60, offset:0
             MOV.i32.end r1, ^r55"
        )
    };
    assert_eq!(compute(&text("")), Err(Violation::DeadTooSoon(55)));
    assert_eq!(compute(&text(".wait0")), Ok(()));
}

#[test]
fn registers_that_nothing_fills_are_not_read() {
    assert_eq!(compute("MOV.i32.end r0, r1"), Err(Violation::Unwritten(1)));
    assert_eq!(compute("MOV.i32.end r0, r62"), Ok(()));
}

#[test]
fn a_barrier_waits_for_messages_and_for_itself() {
    let text = |before: &str, behind: &str| {
        format!(
            "STORE.i32.slot2{before} @r55, r60, offset:0
             BARRIER.slot7{behind}
             NOP.end"
        )
    };
    assert_eq!(compute(&text("", ".wait")), Err(Violation::Barrier));
    assert_eq!(compute(&text(".wait2", "")), Err(Violation::Barrier));
    assert_eq!(compute(&text(".wait2", ".wait")), Ok(()));
}

#[test]
fn fragments_wait_before_they_test_and_before_they_write() {
    let text = |first: &str, second: &str| {
        format!(
            "MOV.i32{first} r0, r59
             MOV.i32 r1, r59
             MOV.i32 r2, r59
             MOV.i32 r3, r59
             ATEST{second} @r60, r60, r0, atest_datum.w0
             BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0"
        )
    };
    let judge = |first: &str, second: &str| judge(&text(first, second), FRAGMENT);
    assert_eq!(judge("", ".wait"), Err(Violation::Dependence("ATEST")));
    assert_eq!(judge(".wait0126", ".wait0"), Err(Violation::Dependence("BLEND")));
    assert_eq!(judge(".wait0126", ".wait"), Ok(()));
}

#[test]
fn nothing_is_blended_before_the_test() {
    let text = "MOV.i32 r0, r59
        MOV.i32 r1, r59
        MOV.i32 r2, r59
        MOV.i32.wait r3, r59
        BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0";
    assert_eq!(judge(text, FRAGMENT), Err(Violation::BeforeTest("BLEND")));
}

#[test]
fn coverage_lives_in_r60() {
    let atest = forced("ATEST @r60, r60, r0, atest_datum.w0", &[(f::SR, 58)]);
    assert_eq!(atest, Err(Violation::OutputRegister("ATEST")));
    let blend = "BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0";
    assert_eq!(forced(blend, &[]), Ok(()));
    assert_eq!(forced(blend, &[(f::SRC2, 59)]), Err(Violation::OutputRegister("BLEND")));
}

#[test]
fn varyings_arrive_before_their_block_ends_and_before_the_state_changes() {
    let load = "LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store";
    let text = |first: &str, second: &str| {
        format!(
            "{load}{first} @r0:r1, r61, index:0x0
             {load}{second} @r2:r3, r61, index:0x8
             BRANCHZ r59, offset:0
             NOP.end"
        )
    };
    let judge = |first: &str, second: &str| judge(&text(first, second), FRAGMENT);
    assert_eq!(judge(".wait0", ""), Err(Violation::VaryingAtEnd));
    assert_eq!(judge("", ".wait0"), Err(Violation::Interpolation));
    assert_eq!(judge(".wait0", ".wait0"), Ok(()));
}

#[test]
fn branches_stay_in_their_program_and_every_way_ends() {
    assert_eq!(compute("BRANCHZ r55, offset:5\nNOP.end"), Err(Violation::Target));
    assert_eq!(compute("BRANCHZ r55, offset:-2\nNOP.end"), Err(Violation::Target));
    assert_eq!(compute("MOV.i32 r0, r55"), Err(Violation::NoEnd));
    assert_eq!(compute("BRANCHZ r55, offset:-1\nNOP.end"), Ok(()));
}

#[test]
fn lanes_meet_where_the_way_in_reconverges() {
    let text = |last: &str| {
        format!(
            "BRANCHZ.reconverge r55, offset:1
             MOV.i32{last} r0, r56
             NOP.end"
        )
    };
    assert_eq!(compute(&text("")), Err(Violation::Reconverge));
    assert_eq!(compute(&text(".reconverge")), Ok(()));
}

#[test]
fn accesses_to_thread_local_memory_end_where_their_16_bytes_end() {
    let known = code("LOAD.i64.unsigned.force.slot0 @r0:r1, thread_local_pointer.w0, offset:0")[0];
    for (opcode, bytes) in [
        (Opcode::LoadI8, 1u32),
        (Opcode::LoadI16, 2),
        (Opcode::LoadI24, 3),
        (Opcode::LoadI32, 4),
        (Opcode::LoadI48, 6),
        (Opcode::LoadI64, 8),
        (Opcode::LoadI96, 12),
        (Opcode::LoadI128, 16),
    ] {
        let load = isa::Inst::usual(opcode.op())
            .with(f::SRC0, known.get(f::SRC0))
            .with(f::FAU_PAGE, known.get(f::FAU_PAGE))
            .with(f::UNSIGNED, 1)
            .with(f::SR_COUNT, bytes.div_ceil(4));
        for offset in 0..64u32 {
            let crosses = offset % 16 + bytes > 16;
            let load = load.with(f::OFFSET, offset);
            let found = admit(&load, &registers(&load), COMPUTE);
            let name = opcode.name();
            assert_eq!(found == Err(Violation::Crosses), crosses, "{name} at {offset}: {found:?}");
        }
    }
}

#[test]
fn every_slot_is_waited_for_by_its_own_bit() {
    for slot in 0..3 {
        for waited in 0..8u32 {
            let digits: String =
                (0..3).filter(|n| waited >> n & 1 != 0).map(|n| n.to_string()).collect();
            let wait = if waited == 0 { String::new() } else { format!(".wait{digits}") };
            let text = format!(
                "LOAD.i32.unsigned.slot{slot} @r0, r60, offset:0
                 NOP{wait}
                 MOV.i32.end r1, r0"
            );
            let done = waited >> slot & 1 != 0;
            let want = if done { Ok(()) } else { Err(Violation::NotWaited(0, slot)) };
            assert_eq!(compute(&text), want, "{text}");
            let text = format!(
                "STORE.i32.slot{slot} @r55, r60, offset:0
                 STORE.i32.slot{slot} @r55, r60, offset:4
                 NOP{wait}
                 MOV.i32.end r1, ^r55"
            );
            let want = if done { Ok(()) } else { Err(Violation::DeadTooSoon(55)) };
            assert_eq!(compute(&text), want, "{text}");
        }
    }
}

#[test]
fn uniforms_of_one_slot_stand_together() {
    let fields = [(f::SRC0, 0x80), (f::SRC1, 0x81)];
    assert_eq!(forced("FADD.f32 r0, r1, r2", &fields), Ok(()));
}

#[test]
fn a_value_that_v9_reserves_is_refused() {
    let test = |cmp: u32| forced("ICMP_OR.u32.gt.m1 r0, r1, r2, 0x0", &[(f::CMP, cmp)]);
    assert_eq!(test(5), Ok(()));
    let broken = test(6);
    assert!(matches!(broken, Err(Violation::Reserved(_))), "{broken:?}");
}

#[test]
fn a_varying_that_keeps_the_interpolation_state_has_no_place_of_its_own() {
    let kept = |sample: u32| {
        forced(
            "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.retrieve @r0, r61, index:0x0",
            &[(f::SAMPLE, sample)],
        )
    };
    assert_eq!(kept(0), Ok(()));
    let broken = kept(1);
    assert!(matches!(broken, Err(Violation::Reserved(_))), "{broken:?}");
}

#[test]
fn a_register_has_a_value_where_every_way_writes_it() {
    let text = |arm: &str| {
        format!(
            "BRANCHZ r55, offset:2
             MOV.i32 r0, r56
             BRANCHZ.eq 0x0, offset:1
             MOV.i32 {arm}, r57
             MOV.i32.end r1, r0"
        )
    };
    assert_eq!(compute(&text("r1")), Err(Violation::Unwritten(0)));
    assert_eq!(compute(&text("r0")), Ok(()));
}

#[test]
fn a_register_is_dead_where_one_way_read_it_for_the_last_time() {
    let text = |mark: &str| {
        format!(
            "BRANCHZ r55, offset:1
             MOV.i32 r0, {mark}r56
             MOV.i32.end r1, r56"
        )
    };
    assert_eq!(compute(&text("^")), Err(Violation::Dead(56)));
    assert_eq!(compute(&text("")), Ok(()));
}

#[test]
fn a_message_of_one_way_may_still_read_where_the_ways_meet() {
    let text = |wait: &str| {
        format!(
            "BRANCHZ r55, offset:1
             STORE.i32.slot1{wait} @r56, r60, offset:0
             MOV.i32.end r1, ^r56"
        )
    };
    assert_eq!(compute(&text("")), Err(Violation::DeadTooSoon(56)));
    assert_eq!(compute(&text(".wait1")), Ok(()));
}

#[test]
fn a_barrier_waits_for_messages_of_every_way() {
    let text = |wait: &str| {
        format!(
            "BRANCHZ r55, offset:1
             STORE.i32.slot1{wait} @r56, r60, offset:0
             BARRIER.slot7.wait
             NOP.end"
        )
    };
    assert_eq!(compute(&text("")), Err(Violation::Barrier));
    assert_eq!(compute(&text(".wait1")), Ok(()));
}

#[test]
fn nothing_is_blended_where_one_way_goes_round_the_test() {
    let text = |offset: u32| {
        format!(
            "MOV.i32 r0, r59
             MOV.i32 r1, r59
             MOV.i32 r2, r59
             MOV.i32.wait r3, r59
             BRANCHZ r59, offset:{offset}
             NOP
             ATEST.wait @r60, r60, r0, atest_datum.w0
             BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0"
        )
    };
    assert_eq!(judge(&text(2), FRAGMENT), Err(Violation::BeforeTest("BLEND")));
    assert_eq!(judge(&text(1), FRAGMENT), Ok(()));
}

#[test]
fn nothing_is_taken_across_lanes_where_helpers_may_have_ended() {
    let text = |flow: &str, lane: &str| {
        format!(
            "BRANCHZ r59, offset:1
             MOV.i32{flow} r1, r59
             {lane}
             NOP.end"
        )
    };
    let across = "CLPER.i32 r0, r59, 0x0";
    assert_eq!(judge(&text(".discard", across), FRAGMENT), Err(Violation::Helpers("CLPER.i32")));
    assert_eq!(judge(&text("", across), FRAGMENT), Ok(()));
    assert_eq!(judge(&text(".discard", "NOP"), FRAGMENT), Ok(()));
    // Errata 101: an alpha test may end lanes too.
    let test = |lane: &str| {
        format!(
            "MOV.i32.wait0126 r3, r59
             ATEST.wait @r60, r60, r3, atest_datum.w0
             {lane}
             NOP.end"
        )
    };
    assert_eq!(judge(&test(across), FRAGMENT), Err(Violation::Helpers("CLPER.i32")));
    assert_eq!(judge(&test("NOP"), FRAGMENT), Ok(()));
}

/// A program that goes on behind its first target: `skip` instructions further where no blend shader runs, then `rest`.
fn blended(skip: u32, rest: &str) -> Result<(), Violation> {
    let text = format!(
        "MOV.i32 r48, r59
         MOV.i32 r0, r59
         MOV.i32 r1, r59
         MOV.i32 r2, r59
         MOV.i32.wait r3, r59
         ATEST.wait @r60, r60, r0, atest_datum.w0
         BLEND.slot0.v4.f32.wait @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x{skip:x}
         IADD_IMM.i32 r48, program_counter.w0, #0x8
         BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1
         {rest}"
    );
    judge(&text, FRAGMENT)
}

#[test]
fn what_a_blend_shader_overwrites_is_not_read_behind_its_call() {
    assert_eq!(blended(2, "MOV.i32.end r1, r0"), Err(Violation::Unwritten(0)));
    assert_eq!(blended(2, "MOV.i32.end r1, r48"), Err(Violation::Unwritten(48)));
    assert_eq!(blended(2, "MOV.i32.end r1, r59"), Ok(()));
}

#[test]
fn the_call_of_a_blend_shader_is_skipped_to_an_instruction_of_the_program() {
    assert_eq!(blended(2, "NOP.end"), Ok(()));
    assert_eq!(blended(3, "NOP.end"), Err(Violation::Target));
    assert_eq!(blended(2, ""), Err(Violation::Target));
}

#[test]
fn no_message_runs_beside_an_alpha_test() {
    let text = |wait: &str| {
        format!(
            "MOV.i32.wait r3, r59
             ATEST{wait} @r60, r60, r3, atest_datum.w0
             LD_GCLK.cycle_counter.slot1 @r4:r5
             NOP.end"
        )
    };
    assert_eq!(judge(&text(""), FRAGMENT), Err(Violation::Dependence("LD_GCLK")));
    assert_eq!(judge(&text(".wait0"), FRAGMENT), Ok(()));
}

#[test]
fn a_blend_waits_for_every_message() {
    let text = |wait: &str| {
        format!(
            "MOV.i32 r0, r59
             MOV.i32 r1, r59
             MOV.i32 r2, r59
             MOV.i32.wait r3, r59
             ATEST.wait0 @r60, r60, r0, atest_datum.w0
             STORE.i32.slot1{wait} @r58, r58, offset:0
             BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0"
        )
    };
    assert_eq!(judge(&text(""), FRAGMENT), Err(Violation::Dependence("BLEND")));
    assert_eq!(judge(&text(".wait1"), FRAGMENT), Err(Violation::Dependence("BLEND")));
    assert_eq!(judge(&text(".wait"), FRAGMENT), Ok(()));
}

#[test]
fn colours_are_blended_from_r0_or_r4_and_depth_leaves_through_r60() {
    let blend = "BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0";
    assert_eq!(forced(blend, &[(f::SR, 4)]), Ok(()));
    assert_eq!(forced(blend, &[(f::SR, 8)]), Err(Violation::OutputRegister("BLEND")));
    let depth = "ZS_EMIT.z.slot0 @r60, r0, 0x0, r60";
    assert_eq!(forced(depth, &[]), Ok(()));
    assert_eq!(forced(depth, &[(f::SR, 58)]), Err(Violation::OutputRegister("ZS_EMIT")));
    let test = "ATEST @r60, r60, r0, atest_datum.w0";
    assert_eq!(forced(test, &[]), Ok(()));
    assert_eq!(forced(test, &[(f::SRC0, 59)]), Err(Violation::OutputRegister("ATEST")));
}

#[test]
fn lanes_meet_on_a_jump_down_to_them() {
    // Some go from the second branch to the last instruction and wait there, others come by the first on a later trip.
    let text = |first: &str| {
        format!(
            "BRANCHZ{first} r55, offset:2
             BRANCHZ.reconverge r56, offset:1
             BRANCHZ.eq 0x0, offset:-3
             NOP.end"
        )
    };
    let found = legal(&code(&text("")), COMPUTE);
    assert_eq!(found, Err(Finding { at: 0, violation: Violation::Reconverge }));
    assert_eq!(compute(&text(".reconverge")), Ok(()));
}

#[test]
fn lanes_that_parted_below_are_not_met_without_a_way_back() {
    let text = "BRANCHZ r55, offset:2
                BRANCHZ.reconverge r56, offset:1
                NOP.end
                NOP.end";
    assert_eq!(compute(text), Ok(()));
}

#[test]
fn the_call_of_a_blend_shader_may_be_the_last_instruction() {
    let text = "MOV.i32 r0, r59
        MOV.i32 r1, r59
        MOV.i32 r2, r59
        MOV.i32.wait r3, r59
        ATEST.wait @r60, r60, r0, atest_datum.w0
        BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
        IADD_IMM.i32 r48, 0x0, #0x0
        BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1";
    assert_eq!(judge(text, FRAGMENT), Ok(()));
}

#[test]
fn each_stage_begins_with_registers_of_its_own() {
    for (stage, first, last) in
        [(Stage::Vertex, 59, 62), (Stage::Fragment, 57, 62), (Stage::Compute, 55, 62)]
    {
        let config = Config { stage, work: 32 };
        let read = |register: u32| judge(&format!("MOV.i32.end r0, r{register}"), config);
        for register in first..=last {
            assert_eq!(read(register), Ok(()), "{stage:?}");
        }
        for register in [first - 1, last + 1] {
            assert_eq!(read(register), Err(Violation::Unwritten(register)), "{stage:?}");
        }
    }
}

#[test]
fn the_other_word_of_a_low_word_is_not_read() {
    assert_eq!(compute("IADD.u64.end r0, r56, r62.w0"), Ok(()));
    assert_eq!(compute("IADD.u64.end r0, r56, r62"), Err(Violation::Unwritten(63)));
}

#[test]
fn no_operand_is_in_the_middle_half_at_full_occupancy() {
    for text in [
        "MOV.i32.end r20, r55",
        "MOV.i32.end r0, r20",
        "STORE.i32.slot0 @r20, r60, offset:0",
        "LOAD.i32.unsigned.slot0 @r20, r60, offset:0",
        // In two roles.
        "STORE.i32.slot0 @r20, r20, offset:0",
        "ATOM_RETURN.i32.slot0.aadd @r20, @r20, r60, offset:0x0",
    ] {
        assert_eq!(compute(text), Err(Violation::NoRegister(20)), "{text}");
    }
    assert_eq!(compute("MOV.i32.end r48, r55"), Ok(()));
}

#[test]
fn the_register_that_is_dead_is_named() {
    let text = "MOV.i32 r0, ^r56\nIADD.u32.end r1, r55, r56";
    assert_eq!(compute(text), Err(Violation::Dead(56)));
    let text = "STORE.i32.slot0 @r56, r60, offset:0\nIADD.u32.end r1, ^r55, ^r56";
    assert_eq!(compute(text), Err(Violation::DeadTooSoon(56)));
}

#[test]
fn varyings_that_keep_the_interpolation_state_do_not_wait() {
    let second = |row: &str| {
        let text = format!(
            "LD_VAR_BUF_IMM.f32.slot1.src_f32.center.store @r0, r61, index:0x0
             {row}
             NOP.end"
        );
        judge(&text, FRAGMENT)
    };
    for (update, found) in [("retrieve", Ok(())), ("store", Err(Violation::Interpolation))] {
        let load = "LD_VAR_BUF_IMM.f32.slot1.src_f32.center";
        let load = format!("{load}.{update} @r1, r61, index:0x4");
        assert_eq!(second(&load), found);
    }
    for (update, found) in [("retrieve", Ok(())), ("center_store", Err(Violation::Interpolation))] {
        let row =
            format!("VAR_TEX_BUF_SINGLE.slot1.{update}.32.2d.computed @r4:r5:r6:r7, r58, r61");
        assert_eq!(second(&row), found);
    }
}

#[test]
fn a_branch_behind_the_last_instruction_leaves_the_program() {
    assert_eq!(compute("BRANCHZ r55, offset:0\nNOP.end"), Ok(()));
    assert_eq!(compute("BRANCHZ r55, offset:1\nNOP.end"), Err(Violation::Target));
}

#[test]
fn only_a_branch_that_every_lane_takes_is_a_jump() {
    let text = |branch: &str| {
        format!(
            "{branch}, offset:1
             MOV.i32 r1, r0
             NOP.end"
        )
    };
    assert_eq!(compute(&text("BRANCHZ.eq 0x0")), Ok(()));
    for branch in ["BRANCHZ 0x0", "BRANCHZ.eq r55", "BRANCHZ r55"] {
        let found = compute(&text(branch));
        assert_eq!(found, Err(Violation::Unwritten(0)), "{branch}");
    }
}

#[test]
fn the_first_violation_of_the_program_is_found_whichever_way_leads_there() {
    let text = |early: &str| {
        format!(
            "BRANCHZ r59, offset:2
             BRANCHZ.eq 0x0, offset:3
             {early}
             MOV.i32.end r2, r1
             NOP.end
             BRANCHZ.eq 0x0, offset:-4"
        )
    };
    let load = "LD_VAR_BUF_IMM.f32.slot1.src_f32.center.store @r4, r61, index:0x0";
    for (early, violation) in
        [("MOV.i32.end r4, r0", Violation::Unwritten(0)), (load, Violation::VaryingAtEnd)]
    {
        let found = legal(&code(&text(early)), FRAGMENT);
        assert_eq!(found, Err(Finding { at: 2, violation }));
    }
    let found = legal(&code(&text("NOP.end")), FRAGMENT);
    assert_eq!(found.map_err(|finding| finding.at), Err(3));
}

#[test]
fn lanes_that_left_a_loop_are_met_behind_its_way_back() {
    let text = |leaves: &str| {
        format!(
            "BRANCHZ{leaves} r55, offset:1
             BRANCHZ.reconverge r56, offset:-2
             NOP.end"
        )
    };
    assert_eq!(compute(&text("")), Err(Violation::Reconverge));
    assert_eq!(compute(&text(".reconverge")), Ok(()));
}

#[test]
fn lanes_that_parted_in_a_loop_below_are_not_met_from_above_it() {
    let text = "BRANCHZ r55, offset:3
                NOP
                BRANCHZ.reconverge r56, offset:1
                BRANCHZ.reconverge r57, offset:-3
                NOP.end";
    assert_eq!(compute(text), Ok(()));
}

#[test]
fn lanes_do_not_wait_on_a_later_trip_where_the_loop_leads_through_their_place() {
    let text = "BRANCHZ r55, offset:2
                BRANCHZ.reconverge r56, offset:1
                NOP.reconverge
                BRANCHZ r57, offset:-4
                NOP.end";
    assert_eq!(compute(text), Ok(()));
}

#[test]
fn a_way_back_meets_nobody() {
    let text = "BRANCHZ.reconverge r55, offset:1
                NOP.reconverge
                BRANCHZ r56, offset:-1
                NOP.end";
    assert_eq!(compute(text), Ok(()));
}
