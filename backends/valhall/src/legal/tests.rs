//! One program that breaks each rule, and the same program mended.

use super::*;
use gpucc_isa::FieldId;

const COMPUTE: Config = Config {
    stage: Stage::Compute,
    work: 32,
};
const FRAGMENT: Config = Config {
    stage: Stage::Fragment,
    work: 32,
};

/// Lines of the public assembler's text.
fn code(text: &str) -> Vec<isa::Inst> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| isa::decode_word(isa::assemble_line(line).expect(line)).expect(line))
        .collect()
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
    let word = fields
        .iter()
        .fold(word, |word, &(id, value)| word.with(id, value));
    admit(&word, COMPUTE)
}

#[test]
fn uniforms_of_two_slots_do_not_stand_together() {
    let fields = [(f::SRC0, 0x80), (f::SRC1, 0x84)];
    assert_eq!(
        forced("FADD.f32 r0, r1, r2", &fields),
        Err(Violation::Fau(fau::Violation::Slots))
    );
}

#[test]
fn pairs_are_even() {
    let broken = forced("LOAD.i32.unsigned.slot0 @r0, r2, offset:0", &[(f::SRC0, 3)]);
    assert_eq!(
        broken,
        Err(Violation::Operands(rules::Broken::OddPair(0, 3)))
    );
}

#[test]
fn the_middle_half_does_not_exist_at_full_occupancy() {
    let text = "MOV.i32.end r16, r55";
    assert_eq!(compute(text), Err(Violation::NoRegister(16)));
    let whole = Config {
        work: 64,
        ..COMPUTE
    };
    assert_eq!(judge(text, whole), Ok(()));
}

#[test]
fn rows_of_foreign_programs_are_not_written() {
    let row = Opcode::ClperV2u16;
    let word = isa::Inst::usual(row.op());
    assert_eq!(admit(&word, COMPUTE), Err(Violation::Foreign(row.name())));
}

#[test]
fn slot_7_is_for_barriers() {
    assert_eq!(
        forced("LOAD.i32.unsigned.slot0 @r0, r2, offset:0", &[(f::SLOT, 7)]),
        Err(Violation::Slot)
    );
    assert_eq!(
        forced("BARRIER.slot7.wait", &[(f::SLOT, 1)]),
        Err(Violation::Slot)
    );
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
    assert_eq!(
        judge(".wait0126", ".wait0"),
        Err(Violation::Dependence("BLEND"))
    );
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
    assert_eq!(
        forced(blend, &[(f::SRC2, 59)]),
        Err(Violation::OutputRegister("BLEND"))
    );
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
    assert_eq!(
        compute("BRANCHZ r55, offset:5\nNOP.end"),
        Err(Violation::Target)
    );
    assert_eq!(
        compute("BRANCHZ r55, offset:-2\nNOP.end"),
        Err(Violation::Target)
    );
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
            let found = admit(&load.with(f::OFFSET, offset), COMPUTE);
            let name = opcode.name();
            assert_eq!(
                found == Err(Violation::Crosses),
                crosses,
                "{name} at {offset}: {found:?}"
            );
        }
    }
}

#[test]
fn every_slot_is_waited_for_by_its_own_bit() {
    for slot in 0..3 {
        for waited in 0..8u32 {
            let digits: String = (0..3)
                .filter(|n| waited >> n & 1 != 0)
                .map(|n| n.to_string())
                .collect();
            let wait = if waited == 0 {
                String::new()
            } else {
                format!(".wait{digits}")
            };
            let text = format!(
                "LOAD.i32.unsigned.slot{slot} @r0, r60, offset:0
                 NOP{wait}
                 MOV.i32.end r1, r0"
            );
            let done = waited >> slot & 1 != 0;
            let want = if done {
                Ok(())
            } else {
                Err(Violation::NotWaited(0, slot))
            };
            assert_eq!(compute(&text), want, "{text}");
            let text = format!(
                "STORE.i32.slot{slot} @r55, r60, offset:0
                 STORE.i32.slot{slot} @r55, r60, offset:4
                 NOP{wait}
                 MOV.i32.end r1, ^r55"
            );
            let want = if done {
                Ok(())
            } else {
                Err(Violation::DeadTooSoon(55))
            };
            assert_eq!(compute(&text), want, "{text}");
        }
    }
}
