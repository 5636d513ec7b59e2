//! Control flow: if, else, loop, break, continue and their nests, against an oracle that runs one lane at
//! a time.

use super::build::*;
use crate::emu::AluOp::*;
use crate::emu::Rule;

/// `R[dst].x = R[dst].x * 3 + n`.
fn mark(dst: u32, n: u32) -> Cf {
    alu(&[
        group(&[i(MULLO_INT, 6, 0, &[r(dst, 0), lit(0)])], &[3]),
        group(&[i(ADD_INT, dst, 0, &[ps(), lit(0)])], &[n]),
    ])
}

/// A predicate: bit `bit` of R0.x + R[salt].x.
fn test_bit(bit: u32) -> Vec<Vec<u32>> {
    vec![
        group(&[i(ADD_INT, 6, 0, &[r(0, 0), r(2, 0)]).mask()], &[]),
        group(&[i(LSHR_INT, 6, 0, &[pv(0), lit(0)]).mask()], &[bit]),
        group(&[i(AND_INT, 6, 0, &[pv(0), lit(0)]).mask()], &[1]),
        group(&[i(PRED_SETNE_INT, 0, 0, &[pv(0), zero()]).exec()], &[]),
    ]
}

/// A statement of the random nests.
#[derive(Clone, Debug)]
enum Statement {
    Mark(u32),
    /// Bit, then, else.
    If(u32, Vec<Statement>, Vec<Statement>),
    /// Trips at most, body.
    Loop(u32, Vec<Statement>),
    /// Bit.
    BreakIf(u32),
    ContinueIf(u32),
}

struct Random(u64);

impl Random {
    fn next(&mut self, n: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
}

fn statements(random: &mut Random, depth: u32, in_loop: bool) -> Vec<Statement> {
    (0..1 + random.next(3))
        .map(|_| match random.next(if depth == 0 { 2 } else { 6 }) {
            2 | 3 => Statement::If(
                random.next(6),
                statements(random, depth - 1, in_loop),
                statements(random, depth - 1, in_loop),
            ),
            4 => Statement::Loop(1 + random.next(3), statements(random, depth - 1, true)),
            1 if in_loop => Statement::BreakIf(random.next(6)),
            5 if in_loop => Statement::ContinueIf(random.next(6)),
            _ => Statement::Mark(random.next(100)),
        })
        .collect()
}

/// One lane's state: R1 (the mark) and R2 (the salt of conditions).
enum Leave {
    No,
    Break,
    Continue,
}

fn oracle(list: &[Statement], lane: u32, value: &mut u32, salt: &mut u32) -> Leave {
    let bit = |bit: u32, salt: u32| (lane.wrapping_add(salt)) >> bit & 1 == 1;
    for statement in list {
        match statement {
            Statement::Mark(n) => {
                *value = value.wrapping_mul(3).wrapping_add(*n);
                *salt = salt.wrapping_mul(3).wrapping_add(*n);
            }
            Statement::If(b, yes, no) => {
                let arm = if bit(*b, *salt) { yes } else { no };
                match oracle(arm, lane, value, salt) {
                    Leave::No => {}
                    other => return other,
                }
            }
            Statement::Loop(trips, body) => {
                for _ in 0..*trips {
                    if let Leave::Break = oracle(body, lane, value, salt) {
                        break;
                    }
                }
            }
            Statement::BreakIf(b) if bit(*b, *salt) => return Leave::Break,
            Statement::ContinueIf(b) if bit(*b, *salt) => return Leave::Continue,
            Statement::BreakIf(_) | Statement::ContinueIf(_) => {}
        }
    }
    Leave::No
}

/// Emits statements; loop counters stand in R3, R4, R5 by depth.
fn emit(list: &[Statement], out: &mut Vec<Cf>, loops: u32) {
    for statement in list {
        match statement {
            Statement::Mark(n) => {
                out.push(mark(1, *n));
                out.push(mark(2, *n));
            }
            Statement::If(bit, yes, no) => {
                out.push(alu_kind(ALU_PUSH_BEFORE, &test_bit(*bit)));
                let jump = out.len();
                out.push(Cf::Flow(JUMP, 0, 0));
                emit(yes, out, loops);
                let other = out.len();
                out.push(Cf::Flow(ELSE, 0, 1));
                emit(no, out, loops);
                out.push(Cf::Flow(POP, 0, 1));
                let end = out.len() as u32;
                out[jump] = Cf::Flow(JUMP, other as u32, 0);
                out[other] = Cf::Flow(ELSE, end, 1);
            }
            Statement::Loop(trips, body) => {
                let counter = 3 + loops;
                out.push(alu(&[group(&[i(MOV, counter, 0, &[lit(0)])], &[*trips])]));
                let start = out.len();
                out.push(Cf::Flow(LOOP_START_DX10, 0, 0));
                // Leave when the counter is used up, else count down.
                out.push(alu_kind(
                    ALU_BREAK,
                    &[
                        group(&[i(PRED_SETNE_INT, 0, 0, &[r(counter, 0), zero()]).exec()], &[]),
                        group(&[i(SUB_INT, counter, 0, &[r(counter, 0), lit(0)])], &[1]),
                    ],
                ));
                let first = out.len();
                emit(body, out, loops + 1);
                let end = out.len() as u32;
                out.push(Cf::Flow(LOOP_END, start as u32 + 1, 0));
                out[start] = Cf::Flow(LOOP_START_DX10, end + 1, 0);
                // Breaks and continues of this loop point at its LOOP_END.
                for cf in &mut out[first..] {
                    if let Cf::Flow(LOOP_BREAK | LOOP_CONTINUE, target @ u32::MAX, _) = cf {
                        *target = end;
                    }
                }
            }
            Statement::BreakIf(bit) | Statement::ContinueIf(bit) => {
                let leave = match statement {
                    Statement::BreakIf(_) => LOOP_BREAK,
                    _ => LOOP_CONTINUE,
                };
                out.push(alu_kind(ALU_PUSH_BEFORE, &test_bit(*bit)));
                let jump = out.len() as u32;
                out.push(Cf::Flow(JUMP, jump + 3, 1));
                out.push(Cf::Flow(leave, u32::MAX, 0));
                out.push(Cf::Flow(POP, 0, 1));
            }
        }
    }
}

#[test]
pub fn random_nests_agree_with_one_lane_at_a_time() {
    let mut deepest = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        let list = statements(&mut random, 3, false);
        let mut cfs = vec![alu(&[group(&[i(MOV, 1, 0, &[zero()]), i(MOV, 2, 0, &[zero()])], &[])])];
        // MOV writes x twice: the second goes to trans. Both read inline constants.
        emit(&list, &mut cfs, 0);
        deepest = deepest.max(cfs.len());
        cfs.push(scatter(1, 0, 1));
        let mut state = state();
        state.registers.insert(crate::emu::address::SQ_PGM_RESOURCES_VS, 8 | 9 << 8);
        state.steps = 10_000_000;
        if let Err(trap) = run_in(&cfs, 64, &mut state) {
            panic!("seed {seed}: {trap}\n{list:?}");
        }
        for lane in 0..64 {
            let (mut value, mut salt) = (0, 0);
            oracle(&list, lane, &mut value, &mut salt);
            assert_eq!(
                state.aperture.words[lane as usize], value,
                "seed {seed}, lane {lane}: {list:?}"
            );
        }
    }
    assert!(deepest > 60, "{deepest}");
}

fn seeded() -> Cf {
    alu(&[group(&[i(MOV, 1, 0, &[zero()])], &[]), group(&[i(MOV, 2, 0, &[zero()])], &[])])
}

#[test]
pub fn a_jump_that_no_lane_takes_keeps_the_frame() {
    // Every lane passes: JUMP falls through without popping, POP finds its frame.
    let all = alu_kind(
        ALU_PUSH_BEFORE,
        &[group(&[i(PRED_SETE_INT, 0, 0, &[zero(), zero()]).exec()], &[])],
    );
    let cfs =
        [seeded(), all, Cf::Flow(JUMP, 5, 1), mark(1, 5), Cf::Flow(POP, 0, 1), scatter(1, 0, 1)];
    assert_eq!(run_cf(&cfs, 2).expect("legal")[..2], [5, 5]);
}

#[test]
pub fn alu_pop_after_ends_a_branch() {
    let cfs = [
        seeded(),
        alu_kind(ALU_PUSH_BEFORE, &test_bit(0)),
        Cf::Flow(JUMP, 4, 1),
        Cf::Alu(ALU_POP_AFTER, group(&[i(MOV, 1, 0, &[lit(0)])], &[9]), (0, 0, 0)),
        scatter(1, 0, 1),
    ];
    assert_eq!(run_cf(&cfs, 4).expect("legal")[..4], [0, 9, 0, 9]);
}

#[test]
pub fn push_tests_before_it_pushes() {
    // COND = FALSE: no lane passes, so nothing is pushed and control jumps.
    let cfs = [seeded(), Cf::Raw(3, PUSH << 23 | 1 << 8 | 1 << 31), mark(1, 7), scatter(1, 0, 1)];
    assert_eq!(run_cf(&cfs, 1).expect("legal")[0], 0);
}

#[test]
pub fn subroutines_return_to_their_caller() {
    // 0 seed, 1 call 6, 2 call 6, 3 store, 4 and 5 exports, 6 mark, 7 return.
    let mut cfs = vec![
        seeded(),
        Cf::Raw(6, CALL << 23 | 1 << 13 | 1 << 31),
        Cf::Raw(6, CALL << 23 | 1 << 13 | 1 << 31),
        scatter(1, 0, 1),
    ];
    cfs.extend(tail());
    cfs.push(mark(1, 4));
    cfs.push(Cf::Flow(RETURN, 0, 0));
    let mut state = state();
    crate::emu::run_compute(&link(&cfs), &mut state, 1, None).expect("legal");
    assert_eq!(state.aperture.words[0], 16);
}

#[test]
pub fn loops_with_constants_count_and_index() {
    // Three trips from 1 by 2: R1[aL] is R2, R4, R6 in turn.
    let body = alu(&[group(
        &[crate::emu::tests::build::I { dst_rel: true, index_mode: 4, ..i(MOV, 1, 0, &[lit(0)]) }],
        &[77],
    )]);
    let zeros: Vec<Vec<u32>> = (1..8).map(|n| group(&[i(MOV, n, 0, &[zero()])], &[])).collect();
    let cfs = [
        alu(&zeros),
        Cf::Flow(4, 4, 0),
        body,
        Cf::Flow(LOOP_END, 2, 0),
        alu(&[
            group(&[i(MOV, 7, 1, &[r(2, 0)])], &[]),
            group(&[i(ADD_INT, 7, 1, &[pv(1), r(4, 0)])], &[]),
            group(&[i(ADD_INT, 7, 1, &[pv(1), r(6, 0)])], &[]),
            group(&[i(ADD_INT, 7, 1, &[pv(1), r(3, 0)])], &[]),
            group(&[i(MOV, 7, 0, &[pv(1)])], &[]),
        ]),
        scatter(7, 0, 1),
    ];
    let mut state = state();
    let first_vs = crate::emu::address::SQ_LOOP_CONST + 4 * 32;
    state.registers.insert(first_vs, 3 | 1 << 12 | 2 << 24);
    run_in(&cfs, 1, &mut state).expect("legal");
    assert_eq!(state.aperture.words[0], 231);
}

#[test]
pub fn a_dx10_loop_ends_with_its_constant() {
    let cfs = [
        seeded(),
        Cf::Flow(LOOP_START_DX10, 4, 0),
        mark(1, 1),
        Cf::Flow(LOOP_END, 2, 0),
        scatter(1, 0, 1),
    ];
    let mut state = state();
    state.registers.insert(crate::emu::address::SQ_LOOP_CONST + 4 * 32, 3);
    run_in(&cfs, 1, &mut state).expect("legal");
    assert_eq!(state.aperture.words[0], 13);
    // With what drivers preset it would take sixteen million trips: the step limit ends it.
    let mut state = super::build::state();
    let trap = run_in(&cfs, 1, &mut state).expect_err("it is long");
    assert_eq!(trap.rule, Rule::Steps);
}

#[test]
pub fn alu_continue_skips_the_rest_of_a_trip() {
    // Four trips; lanes whose bit 0 is set never reach the mark.
    let cfs = [
        seeded(),
        alu(&[group(&[i(MOV, 3, 0, &[lit(0)])], &[4])]),
        Cf::Flow(LOOP_START_DX10, 7, 0),
        alu_kind(
            ALU_BREAK,
            &[
                group(&[i(PRED_SETNE_INT, 0, 0, &[r(3, 0), zero()]).exec()], &[]),
                group(&[i(SUB_INT, 3, 0, &[r(3, 0), lit(0)])], &[1]),
            ],
        ),
        alu_kind(
            ALU_CONTINUE,
            &[
                group(&[i(AND_INT, 6, 0, &[r(0, 0), lit(0)])], &[1]),
                group(&[i(PRED_SETE_INT, 0, 0, &[pv(0), zero()]).exec()], &[]),
            ],
        ),
        mark(1, 1),
        Cf::Flow(LOOP_END, 3, 0),
        scatter(1, 0, 1),
    ];
    assert_eq!(run_cf(&cfs, 4).expect("legal")[..4], [40, 0, 40, 0]);
}

#[test]
pub fn alu_else_after_turns_to_the_other_arm() {
    let cfs = [
        seeded(),
        Cf::Flow(PUSH, 2, 0),
        alu_kind(ALU_ELSE_AFTER, &test_bit(0)),
        alu(&[group(&[i(MOV, 1, 0, &[lit(0)])], &[8])]),
        Cf::Flow(POP, 0, 1),
        scatter(1, 0, 1),
    ];
    // Lanes whose bit 0 is set pass, so the others run what follows.
    assert_eq!(run_cf(&cfs, 4).expect("legal")[..4], [8, 0, 8, 0]);
}
