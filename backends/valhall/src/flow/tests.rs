//! What stands in the flow field of small programs, as the public assembler would say it.

use super::*;
use crate::emit;
use crate::inst::{FILES, cell};
use gpucc_ir::mach::Edges;
use gpucc_ir::ssa::Span;
use gpucc_passes::mach::Effects;

fn r(register: u8) -> Reg {
    Reg::phys(cell(register))
}
fn s(register: u8) -> Src {
    Src::Reg(r(register))
}

struct Case {
    func: Func<Inst>,
    block: Block,
}

impl Case {
    fn new() -> Case {
        let mut func = Func::new("case", FILES);
        let block = func.push_block();
        Case { func, block }
    }
    fn push(&mut self, op: Op) {
        self.func.push(self.block, Inst::Op(Box::new(op)), Span::NONE);
    }
    fn load(&mut self, to: u8, from: u8, effects: Effects) {
        let address = Src::Pair([r(from), r(from + 1)]);
        let mut op = Op::new(Opcode::LoadI32).from(&[address]).writing(&[r(to)]);
        op.effects = Some(effects);
        self.push(op);
    }
    fn store(&mut self, value: u8, to: u8, effects: Effects) {
        let address = Src::Pair([r(to), r(to + 1)]);
        let mut op = Op::new(Opcode::StoreI32).from(&[address]).reading(&[r(value)]);
        op.effects = Some(effects);
        self.push(op);
    }
    fn mov(&mut self, to: u8, from: u8) {
        self.push(Op::new(Opcode::MovI32).from(&[s(from)]).to(r(to)));
    }
    fn branch(&mut self, condition: u8, to: Block, divergent: bool) {
        let mut op = Op::new(Opcode::Branchz).from(&[s(condition)]);
        op.target = Some(to);
        op.divergent = divergent;
        self.push(op);
        self.func.add_both_edges(self.block, to);
    }
    fn jump(&mut self, to: Block) {
        let mut op = Op::new(Opcode::Branchz).from(&[Src::Fast(Read::ZERO)]).with(f::EQ, 1);
        op.target = Some(to);
        self.push(op);
        self.func.add_both_edges(self.block, to);
    }
    fn fall(&mut self, to: Block) {
        self.func.add_both_edges(self.block, to);
    }
    /// Another block, where pushing goes on.
    fn begin(&mut self, block: Block) {
        self.func.place(block);
        self.block = block;
    }
    fn lines(mut self, stage: Stage) -> Vec<String> {
        run(&mut self.func, stage);
        let emitted = emit::emit(&[self.func]);
        let config = crate::legal::Config { stage, work: 64 };
        if let Err(finding) = crate::legal::legal(&emitted.insts, config)
            && !matches!(finding.violation, crate::legal::Violation::Unwritten(_))
        {
            panic!("{finding:?}");
        }
        emitted.insts.iter().map(crate::isa::text_of).collect()
    }
    fn compute(self) -> Vec<String> {
        self.lines(Stage::Compute)
    }
}

const READ_ONLY: Effects = Effects { reads: 0, writes: 0 };
const READS: Effects = Effects { reads: 1, writes: 0 };
const WRITES: Effects = Effects { reads: 0, writes: 1 };

#[test]
fn a_result_is_waited_for_on_the_instruction_before_its_use() {
    let mut case = Case::new();
    case.load(0, 60, READ_ONLY);
    case.mov(1, 58);
    case.mov(2, 59);
    case.mov(3, 0);
    assert_eq!(
        case.compute(),
        [
            "LOAD.i32.slot0 @r0, ^r60, offset:0",
            "MOV.i32 r1, ^r58",
            "MOV.i32.wait0 r2, ^r59",
            "MOV.i32.end r3, ^r0",
        ]
    );
}

#[test]
fn loads_that_are_read_at_different_times_have_slots_of_their_own() {
    let mut case = Case::new();
    case.load(0, 60, READ_ONLY);
    case.load(1, 58, READ_ONLY);
    case.mov(2, 0);
    case.mov(3, 1);
    let lines = case.compute();
    assert!(lines[0].contains("slot0") && lines[1].contains("slot1.wait0"), "{lines:?}");
    assert!(lines[2].contains("wait1"), "{lines:?}");
}

#[test]
fn memory_that_may_be_the_same_is_ordered_and_other_memory_is_not() {
    let two = |first: Effects, second: Effects| {
        let mut case = Case::new();
        case.store(57, 60, first);
        case.load(1, 58, second);
        case.mov(2, 2);
        case.compute()[0].contains("wait")
    };
    assert!(two(WRITES, READS));
    assert!(two(WRITES, WRITES));
    assert!(!two(WRITES, READ_ONLY));
    let elsewhere = Effects { reads: 2, writes: 0 };
    assert!(!two(WRITES, elsewhere));
}

#[test]
fn staging_is_not_marked_as_a_last_use_and_not_waited_for() {
    let mut case = Case::new();
    case.store(56, 60, WRITES);
    case.mov(1, 56);
    case.mov(56, 57);
    let lines = case.compute();
    assert_eq!(lines[0], "STORE.i32.slot0 @r56, ^r60, offset:0");
    assert_eq!(lines[1], "MOV.i32 r1, r56");
}

#[test]
fn a_wait_that_only_one_way_needs_stands_on_that_way() {
    let mut case = Case::new();
    let (arm, after) = (case.func.make_block(), case.func.make_block());
    case.branch(55, after, false);
    case.fall(arm);
    case.begin(arm);
    case.load(0, 60, READ_ONLY);
    case.fall(after);
    case.begin(after);
    case.mov(1, 0);
    let lines = case.compute();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].contains("slot0.wait0"), "{lines:?}");
}

#[test]
fn lanes_reconverge_at_divergent_branches_and_where_they_meet() {
    // if (divergent) a else b
    let mut case = Case::new();
    let start = case.block;
    let (then, other, after) =
        (case.func.make_block(), case.func.make_block(), case.func.make_block());
    case.branch(55, other, true);
    case.func.add_edge(Edges::Logical, start, then);
    case.func.add_edge(Edges::Physical, start, then);
    case.begin(then);
    case.mov(0, 56);
    case.jump(after);
    case.begin(other);
    case.mov(0, 57);
    case.fall(after);
    case.begin(after);
    case.mov(1, 0);
    let lines = case.compute();
    assert_eq!(
        lines,
        [
            "BRANCHZ.reconverge ^r55, offset:2",
            "MOV.i32 r0, ^r56",
            "BRANCHZ.eq.reconverge 0x0, offset:1",
            "MOV.i32.reconverge r0, ^r57",
            "MOV.i32.end r1, ^r0",
        ]
    );
}

#[test]
fn uniform_branches_do_not_reconverge_and_jumps_to_the_next_block_vanish() {
    let mut case = Case::new();
    let start = case.block;
    let (then, after) = (case.func.make_block(), case.func.make_block());
    case.branch(55, after, false);
    case.func.add_edge(Edges::Logical, start, then);
    case.func.add_edge(Edges::Physical, start, then);
    case.begin(then);
    case.mov(0, 56);
    case.jump(after);
    case.begin(after);
    case.mov(1, 57);
    let lines = case.compute();
    assert_eq!(lines, ["BRANCHZ ^r55, offset:1", "MOV.i32 r0, ^r56", "MOV.i32.end r1, ^r57",]);
}

#[test]
fn a_barrier_waits_for_what_is_on_its_way() {
    let mut case = Case::new();
    case.store(56, 60, WRITES);
    case.push(Op::new(Opcode::Barrier));
    case.mov(0, 57);
    let lines = case.compute();
    assert!(lines[0].contains("slot0.wait0"), "{lines:?}");
    assert_eq!(lines[1], "BARRIER.slot7.wait");
}

#[test]
fn fragments_test_after_their_dependences_and_blend_after_the_test() {
    let mut case = Case::new();
    for k in 0..4 {
        case.mov(k, 59);
    }
    let datum = crate::inst::Special::AtestDatum.read(0);
    let blend = crate::inst::Special::BlendDescriptor(0).read(0);
    case.push(Op::new(Opcode::Atest).from(&[s(60), s(0), Src::Fast(datum)]).writing(&[r(60)]));
    case.push(
        Op::new(Opcode::Blend)
            .from(&[Src::Fast(blend), s(60)])
            .with(f::VECSIZE, 3)
            .with(f::REGFMT, 2)
            .reading(&[r(0), r(1), r(2), r(3)]),
    );
    let lines = case.lines(Stage::Fragment);
    assert!(lines[3].contains("wait0126"), "{lines:?}");
    assert!(lines[4].starts_with("ATEST.wait "), "{lines:?}");
    assert!(lines[5].contains("slot0") && lines[5].contains("end"), "{lines:?}");
    // A blend shader may still want the coverage.
    assert!(!lines[5].contains("^r60"), "{lines:?}");
}

#[test]
fn a_value_for_the_next_trip_waits_at_the_end_of_the_loop_or_before_its_use() {
    let mut case = Case::new();
    let header = case.func.make_block();
    case.mov(0, 56);
    case.fall(header);
    case.begin(header);
    case.mov(1, 0);
    case.load(0, 60, READ_ONLY);
    case.mov(2, 57);
    case.branch(55, header, true);
    let after = case.func.make_block();
    case.fall(after);
    case.begin(after);
    case.mov(3, 58);
    let lines = case.compute();
    assert!(!lines.iter().any(|line| line.starts_with("NOP")), "{lines:?}");
}

#[test]
fn a_branch_over_a_jump_is_a_branch_to_where_the_jump_leads() {
    // while (!a) { b }
    let mut case = Case::new();
    let (leave, body, after) =
        (case.func.make_block(), case.func.make_block(), case.func.make_block());
    let header = case.func.make_block();
    case.fall(header);
    case.begin(header);
    case.branch(55, body, true);
    case.fall(leave);
    case.begin(leave);
    case.jump(after);
    case.begin(body);
    case.mov(55, 56);
    case.jump(header);
    case.begin(after);
    case.mov(1, 57);
    let lines = case.compute();
    assert_eq!(
        lines,
        [
            "BRANCHZ.eq.reconverge ^r55, offset:2",
            "MOV.i32 r55, r56",
            "BRANCHZ.eq 0x0, offset:-3",
            "MOV.i32.end r1, ^r57",
        ]
    );
}

#[test]
fn lanes_that_wait_at_the_later_way_of_a_branch_are_met_although_all_meet_at_the_head_of_the_loop()
{
    let mut case = Case::new();
    let [way, back, down, later, out] = std::array::from_fn(|_| case.func.make_block());
    let head = case.func.make_block();
    case.mov(5, 60);
    case.fall(head);
    case.begin(head);
    case.branch(55, down, false);
    case.fall(way);
    case.begin(way);
    case.branch(56, later, true);
    case.fall(back);
    case.begin(back);
    case.mov(0, 57);
    case.jump(head);
    case.begin(down);
    case.branch(58, out, false);
    case.fall(later);
    case.begin(later);
    case.mov(1, 57);
    case.jump(head);
    case.begin(out);
    case.mov(2, 5);
    let lines = case.compute();
    let at = lines.iter().position(|line| line.contains("r1")).expect("it is there");
    assert!(lines[at - 1].contains("reconverge"), "{lines:#?}");
}

/// An arm that lanes part in and that ends in nothing; the other arm jumps to the same place, in a loop.
#[test]
fn an_empty_block_begins_where_the_next_one_does() {
    let mut case = Case::new();
    let [head, arm, inner, ends, meets, behind] = [(); 6].map(|()| case.func.make_block());
    case.mov(0, 55);
    case.mov(1, 56);
    case.mov(2, 57);
    case.fall(head);
    case.begin(head);
    case.branch(0, arm, false);
    let other = case.func.make_block();
    case.fall(other);
    case.begin(other);
    case.mov(3, 0);
    case.jump(meets);
    case.begin(arm);
    case.branch(1, ends, true);
    case.fall(inner);
    case.begin(inner);
    case.mov(3, 1);
    case.fall(ends);
    case.begin(ends);
    case.fall(meets);
    case.begin(meets);
    case.branch(2, head, false);
    case.fall(behind);
    case.begin(behind);
    case.mov(4, 2);
    let lines = case.compute();
    let jump = lines.iter().find(|line| line.starts_with("BRANCHZ.eq"));
    let jump = jump.unwrap_or_else(|| panic!("{lines:#?}"));
    // Lanes may wait behind it: those that parted in the other arm on an earlier trip of theirs.
    assert!(jump.starts_with("BRANCHZ.eq.reconverge"), "{lines:#?}");
    let nothing = lines.iter().filter(|line| line.starts_with("NOP")).count();
    assert_eq!(nothing, 0, "{lines:#?}");
}

#[test]
fn no_jump_runs_into_the_end_of_another_way() {
    let mut case = Case::new();
    let [ends, other, last] = [(); 3].map(|()| case.func.make_block());
    case.branch(55, other, true);
    let beside = case.func.make_block();
    case.fall(beside);
    case.begin(beside);
    case.jump(last);
    case.begin(ends);
    case.begin(last);
    case.mov(1, 56);
    case.jump(other);
    case.begin(other);
    case.branch(57, ends, false);
    let finish = case.func.make_block();
    case.fall(finish);
    case.begin(finish);
    case.mov(0, 58);
    let lines = case.compute();
    // The end that has no instruction of its own stands in front of where the jump leads.
    let ends = lines.iter().position(|line| line == "NOP.end");
    let jump = lines.iter().position(|line| line.starts_with("BRANCHZ.eq"));
    assert!(jump.is_some() && jump < ends, "{lines:#?}");
}

#[test]
fn a_branch_to_the_block_that_comes_next_is_nothing() {
    let mut case = Case::new();
    let next = case.func.make_block();
    case.branch(55, next, false);
    case.fall(next);
    case.begin(next);
    case.mov(0, 56);
    assert_eq!(case.compute(), ["MOV.i32.end r0, ^r56"]);
}

#[test]
fn the_low_word_of_a_pair_is_read_for_the_last_time_when_nobody_reads_the_other_either() {
    let first = |other: u8| {
        let mut case = Case::new();
        let sum = Op::new(Opcode::IaddU64)
            .from(&[Src::Pair([r(56), r(57)]), Src::Low(r(58))])
            .with(f::SWZ1, 8);
        case.push(Op { dst: [r(0), r(1)].into_iter().collect(), ..sum });
        case.mov(2, other);
        case.compute().swap_remove(0)
    };
    assert_eq!(first(55), "IADD.u64 r0, ^r56, ^r58.w0");
    assert_eq!(first(59), "IADD.u64 r0, ^r56, r58.w0");
    assert_eq!(first(58), "IADD.u64 r0, ^r56, r58.w0");
}

/// A program that tests first and then moves what the test does not need.
fn tested_first(moves: &[(u8, u8)]) -> Vec<String> {
    let mut case = Case::new();
    let datum = crate::inst::Special::AtestDatum.read(0);
    case.push(Op::new(Opcode::Atest).from(&[s(60), s(0), Src::Fast(datum)]).writing(&[r(60)]));
    for &(to, from) in moves {
        case.mov(to, from);
    }
    case.lines(Stage::Fragment)
}

#[test]
fn an_instruction_goes_above_the_first_one_to_wait_for_it() {
    let lines = tested_first(&[(1, 59), (2, 58)]);
    assert_eq!(lines[0], "MOV.i32.wait0126 r1, ^r59");
    assert!(lines[1].starts_with("ATEST "), "{lines:?}");
}

#[test]
fn what_the_first_instruction_reads_or_makes_is_not_moved_above_it() {
    // It writes what the test reads; it reads what the test makes.
    for stays in [(0, 59), (1, 60)] {
        let lines = tested_first(&[stays]);
        assert_eq!(lines[0], "NOP.wait0126", "{lines:?}");
        let lines = tested_first(&[stays, (2, 58)]);
        assert_eq!(lines[0], "MOV.i32.wait0126 r2, ^r58", "{lines:?}");
    }
    // It writes what the one before it reads; it reads what that one makes.
    for stays in [(59, 58), (2, 0)] {
        let lines = tested_first(&[(0, 59), stays]);
        assert_eq!(lines[0], "NOP.wait0126", "{lines:?}");
    }
    let lines = tested_first(&[(1, 60), (3, 1)]);
    assert_eq!(lines[0], "NOP.wait0126", "{lines:?}");
}

#[test]
fn a_message_takes_the_slot_of_the_result_that_it_waited_for() {
    let mut case = Case::new();
    case.load(0, 60, READ_ONLY);
    case.load(4, 58, READ_ONLY);
    case.load(6, 56, READ_ONLY);
    case.load(8, 0, READ_ONLY);
    case.mov(10, 4);
    case.mov(11, 6);
    case.mov(12, 8);
    let lines = case.compute();
    let slot_of = |at: usize| lines[at].split('.').find(|part| part.starts_with("slot"));
    assert!(lines[2].contains("wait0"), "{lines:?}");
    for (at, slot) in [(0, "slot0"), (1, "slot1"), (2, "slot2"), (3, "slot0")] {
        let found = slot_of(at).map(|part| part.split(' ').next());
        assert_eq!(found, Some(Some(slot)), "{lines:?}");
    }
}

#[test]
fn a_target_is_blended_when_the_one_before_is_done() {
    let mut case = Case::new();
    for k in 0..4 {
        case.mov(k, 59);
    }
    let datum = crate::inst::Special::AtestDatum.read(0);
    case.push(Op::new(Opcode::Atest).from(&[s(60), s(0), Src::Fast(datum)]).writing(&[r(60)]));
    for target in 0..2 {
        let blend = crate::inst::Special::BlendDescriptor(target).read(0);
        case.push(
            Op::new(Opcode::Blend)
                .from(&[Src::Fast(blend), s(60)])
                .with(f::VECSIZE, 3)
                .with(f::REGFMT, 2)
                .reading(&[r(0), r(1), r(2), r(3)]),
        );
    }
    run(&mut case.func, Stage::Fragment);
    let emitted = emit::emit(&[case.func]);
    let lines = emitted.insts.iter().map(crate::isa::text_of);
    let blends: Vec<String> = lines.filter(|line| line.starts_with("BLEND")).collect();
    assert!(blends[0].starts_with("BLEND.slot0.v4.f32.wait "), "{blends:?}");
}

/// Two varyings, the second by this interpolation state, and whether the first one is waited for.
fn second_varying_waits(update: u32) -> bool {
    let mut case = Case::new();
    for (to, update) in [(0, 0), (1, update)] {
        case.push(
            Op::new(Opcode::LdVarBufImmF32)
                .from(&[s(61)])
                .with(f::SOURCE_FORMAT, 2)
                .with(f::UPDATE, update)
                .writing(&[r(to)]),
        );
    }
    case.mov(2, 0);
    case.mov(3, 1);
    let lines = case.lines(Stage::Fragment);
    assert!(lines[0].starts_with("LD_VAR_BUF_IMM.f32.slot0."), "{lines:?}");
    lines[0].contains("wait")
}

#[test]
fn a_varying_that_keeps_the_interpolation_state_waits_for_no_other() {
    let [store, retrieve] = [0, 1];
    assert!(second_varying_waits(store));
    assert!(!second_varying_waits(retrieve));
}

#[test]
fn a_varying_at_the_end_of_a_block_waits_for_itself_before_lanes_meet() {
    let mut case = Case::new();
    let after = case.func.make_block();
    case.branch(59, after, true);
    let arm = case.func.make_block();
    case.fall(arm);
    case.begin(arm);
    case.push(
        Op::new(Opcode::LdVarBufImmF32).from(&[s(61)]).with(f::SOURCE_FORMAT, 2).writing(&[r(0)]),
    );
    case.fall(after);
    case.begin(after);
    case.mov(1, 0);
    let lines = case.lines(Stage::Fragment);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[1].contains(".wait0 @r0"), "{lines:?}");
    assert_eq!(lines[2], "NOP.reconverge");
}

/// A message of an arm, and what stands where the ways meet.
fn met(arm: impl Fn(&mut Case), behind: impl Fn(&mut Case)) -> Vec<String> {
    let mut case = Case::new();
    let after = case.func.make_block();
    case.branch(55, after, false);
    let taken = case.func.make_block();
    case.fall(taken);
    case.begin(taken);
    arm(&mut case);
    case.fall(after);
    case.begin(after);
    behind(&mut case);
    case.compute()
}

#[test]
fn what_is_on_its_way_on_one_way_is_so_where_ways_meet() {
    let store = |case: &mut Case| case.store(57, 60, WRITES);
    let load = |case: &mut Case| case.load(0, 60, READS);
    let waits = |lines: &[String]| lines[1].contains(".slot0.wait0 ");
    // Memory that is read before it is written, and written before it is read.
    let lines = met(load, |case| case.store(56, 58, WRITES));
    assert!(waits(&lines), "{lines:?}");
    let lines = met(store, |case| case.load(1, 58, READS));
    assert!(waits(&lines), "{lines:?}");
    let lines = met(load, |case| case.load(1, 58, READS));
    assert!(!waits(&lines), "{lines:?}");
    // A barrier waits for all.
    let lines = met(store, |case| {
        case.push(Op::new(Opcode::Barrier));
        case.mov(1, 56);
    });
    assert!(waits(&lines), "{lines:?}");
    // A register that may still be read is not read for the last time.
    let lines = met(store, |case| case.mov(1, 57));
    assert_eq!(lines[2], "MOV.i32.end r1, r57");
}
