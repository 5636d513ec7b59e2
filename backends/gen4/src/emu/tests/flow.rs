//! Masks and control flow.

use super::{Bench, Ended, code};
use crate::emu::decode::Opcode;
use crate::emu::{Model, Rule, Run, Status};

/// The opcodes that the tests of this file execute.
pub const OPCODES: &[Opcode] = &[
    Opcode::Jmpi,
    Opcode::If,
    Opcode::Iff,
    Opcode::Else,
    Opcode::Endif,
    Opcode::While,
    Opcode::Break,
    Opcode::Cont,
    Opcode::Halt,
    Opcode::Do,
    Opcode::Msave,
    Opcode::Mrest,
    Opcode::Push,
    Opcode::Pop,
    Opcode::Wait,
];

const BOTH: [Model; 2] = [Model::I965, Model::G45];

/// g2: the channel's number. g10: zeros.
fn bench(model: Model) -> Bench {
    Bench::new(model)
        .channels(0xff)
        .register(2, [0, 1, 2, 3, 4, 5, 6, 7])
        .register(10, [0; 8])
        .register(11, [0; 8])
}

fn add(register: u32, number: u32) -> String {
    format!("add(8) g{register}<1>D g{register}<8,8,1>D {number}D {{ align1 }};")
}

/// A comparison of the channel's number.
fn less(than: u32) -> String {
    format!("cmp.l.f0.0(8) null<1>D g2<8,8,1>D {than}D {{ align1 }};")
}

fn run(model: Model, lines: &[&str]) -> Ended {
    bench(model).run(&lines.join("\n"))
}

#[test]
fn conditions_split_and_join() {
    for model in BOTH {
        let ended = run(
            model,
            &[
                &less(3),
                "(+f0.0) if(8) Jump: 2;",
                &add(10, 1),
                "else(8) Jump: 3 Pop: 1;",
                &add(10, 2),
                "endif(8) Pop: 1;",
                &add(10, 16),
            ],
        );
        assert_eq!(ended.words(10), [17, 17, 17, 18, 18, 18, 18, 18]);
    }
}

#[test]
fn what_no_channel_takes_is_skipped() {
    // The body of either branch would break a rule: it reads a predicate that nobody wrote.
    let trap = "(+f0.1) mov(8) g10<1>D 99D { align1 };";
    for (limit, then, other, expected) in
        [(0, trap.to_string(), add(10, 2), 2), (9, add(10, 1), trap.to_string(), 1)]
    {
        let ended = run(
            Model::G45,
            &[
                &less(limit),
                "(+f0.0) if(8) Jump: 2;",
                &then,
                "else(8) Jump: 3 Pop: 1;",
                &other,
                "endif(8) Pop: 1;",
                &add(11, 1),
            ],
        );
        assert_eq!(ended.words(10), [expected; 8]);
        assert_eq!(ended.words(11), [1; 8], "all channels are back");
    }
}

#[test]
fn a_fast_condition_pushes_only_where_it_enters() {
    for (limit, expected) in [(0, [16; 8]), (2, [17, 17, 16, 16, 16, 16, 16, 16])] {
        let ended = run(
            Model::I965,
            &[
                &less(limit),
                "(+f0.0) iff(8) Jump: 3;",
                &add(10, 1),
                "endif(8) Pop: 1;",
                &add(10, 16),
            ],
        );
        assert_eq!(ended.words(10), expected);
    }
}

#[test]
fn channels_leave_a_loop_one_by_one() {
    for model in BOTH {
        let ended = run(
            model,
            &[
                "do(8);",
                &add(10, 1),
                "cmp.g.f0.0(8) null<1>D g10<8,8,1>D g2<8,8,1>D { align1 };",
                "(+f0.0) break(8) Jump: 3 Pop: 0;",
                &add(11, 1),
                "while(8) Jump: -4;",
                &add(10, 100),
            ],
        );
        assert_eq!(ended.words(10), [101, 102, 103, 104, 105, 106, 107, 108]);
        assert_eq!(ended.words(11), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn a_break_within_conditions_pops_them() {
    let ended = run(
        Model::I965,
        &[
            "do(8);",
            &add(10, 1),
            "cmp.g.f0.0(8) null<1>D g10<8,8,1>D g2<8,8,1>D { align1 };",
            "(+f0.0) if(8) Jump: 7;",
            &less(9),
            "(+f0.0) iff(8) Jump: 4;",
            &add(11, 1),
            "break(8) Jump: 4 Pop: 2;",
            "endif(8) Pop: 1;",
            // Of those whose break left others in the loop none is active here.
            "endif(8) Pop: 1;",
            "while(8) Jump: -9;",
            &add(10, 100),
        ],
    );
    assert_eq!(ended.words(10), [101, 102, 103, 104, 105, 106, 107, 108]);
    assert_eq!(ended.words(11), [1; 8]);
}

#[test]
fn cont_waits_for_the_others_at_while() {
    // All channels count to 3; those below 4 skip the second counter.
    let ended = run(
        Model::G45,
        &[
            "do(8);",
            &add(10, 1),
            "cmp.l.f0.1(8) null<1>D g10<8,8,1>D 3D { align1 };",
            &less(4),
            "(+f0.0) cont(8) Jump: 2 Pop: 0;",
            &add(11, 1),
            "(+f0.1) while(8) Jump: -5;",
        ],
    );
    assert_eq!(ended.words(10), [3; 8]);
    assert_eq!(ended.words(11)[4..], [3; 4]);
    assert_eq!(ended.words(11)[..4], [0; 4]);
}

#[test]
fn counters_are_pushed_and_popped_by_channel() {
    let push = "push(1) ms0<1>UW mask0.1<0,1,0>UW { align1 };\n";
    let text = format!(
        "mov(1) mask0.1<1>UW 0x000fUW {{ align1 nomask }};\n{push}{push}{push}pop(1) ms0<1>UW ms0<0,1,0>UW 2UD {{ align1 }};\nmov(4) g10<1>UD ms0<4,4,1>UD {{ align1 nomask }};\nmov(1) g10.4<1>UD msd0<0,1,0>UD {{ align1 nomask }};\nmov(1) mask0.1<1>UW 0xffUW {{ align1 nomask }};\npop(1) ms0<1>UW ms0<0,1,0>UW 1UD {{ align1 }};"
    );
    let ended = bench(Model::I965).run(&text);
    let one = 0x0101_0101;
    assert_eq!(ended.words(10)[..5], [0, one, one, one, 1]);
}

#[test]
fn a_predicate_that_one_half_decides_needs_no_other() {
    let text = |control: &str, bits: u32| {
        format!(
            "mov(1) f0.0<1>UW {bits}UW {{ align1 nomask }};\n(+f0.0{control}) mov(8) g10<1>D 1D {{ align1 }};"
        )
    };
    assert_eq!(bench(Model::G45).run(&text(".allv", 0)).words(10), [0; 8]);
    assert_eq!(bench(Model::G45).run(&text(".anyv", 0xffff)).words(10), [1; 8]);
    assert_eq!(bench(Model::G45).breaks(&text(".allv", 1)), Rule::Undefined);
    assert_eq!(bench(Model::G45).breaks(&text(".anyv", 1)), Rule::Undefined);
}

#[test]
fn a_loop_is_as_wide_as_the_thread() {
    let ended = bench(Model::G45).channels(0xffff).run(
        "mov(1) f0.0<1>UW 0UW { align1 nomask };\ndo(8);\nmov(16) g10<1>D 1D { align1 compr };\n(+f0.0) while(16) Jump: -1;",
    );
    assert_eq!((ended.words(10), ended.words(11)), ([1; 8], [1; 8]));
}

#[test]
fn channels_that_left_a_loop_do_not_hold_up_cont() {
    let ended = run(
        Model::I965,
        &[
            "do(8);",
            &add(10, 1),
            &less(4),
            "(+f0.0) break(8) Jump: 5 Pop: 0;",
            // Nobody is left before the end of the loop's body.
            "cont(8) Jump: 2 Pop: 0;",
            "illegal;",
            "cmp.l.f0.0(8) null<1>D g10<8,8,1>D 3D { align1 nomask };",
            "(+f0.0) while(8) Jump: -6;",
            &add(10, 16),
        ],
    );
    assert_eq!(ended.words(10), [17, 17, 17, 17, 19, 19, 19, 19]);
}

#[test]
fn a_jump_counts_from_the_next_instruction() {
    for (limit, expected) in [(1, 2), (0, 3)] {
        let ended = run(
            Model::I965,
            &[&less(limit), "(+f0.0) jmpi(1) 1D { align1 nomask };", &add(10, 1), &add(10, 2)],
        );
        assert_eq!(ended.words(10), [expected; 8]);
    }
    // Sixteen bits of the distance count.
    let ended = run(Model::G45, &["jmpi(1) 0x50001D { align1 nomask };", &add(10, 1), &add(10, 2)]);
    assert_eq!(ended.words(10), [2; 8]);
    // And an addition to ip in bytes from the instruction itself.
    let ended = run(
        Model::G45,
        &["add(1) ip<1>UD ip<0,1,0>UD 32D { align1 nomask };", &add(10, 1), &add(10, 2)],
    );
    assert_eq!(ended.words(10), [2; 8]);
}

#[test]
fn halted_channels_come_back_when_the_program_says() {
    let ended = run(
        Model::G45,
        &[
            &less(3),
            "(+f0.0) halt(8) Jump: 3;",
            &add(10, 1),
            "halt(8) Jump: 1;",
            "mov(1) mask0<1>UW sr0.2<0,1,0>UW { align1 nomask switch };",
            &add(10, 16),
        ],
    );
    assert_eq!(ended.words(10), [16, 16, 16, 17, 17, 17, 17, 17]);
}

#[test]
fn masks_are_saved_and_restored() {
    let ended = run(
        Model::I965,
        &[
            &less(3),
            "msave(1) ms0<1>UW mask0.1<0,1,0>UW { align1 };",
            "push(1) ms0<1>UW mask0.1<0,1,0>UW { align1 };",
            "mov(1) mask0.1<1>UW 0x000fUW { align1 nomask };",
            &add(10, 1),
            "pop(1) ms0<1>UW ms0<0,1,0>UW 1UD { align1 };",
            "mrest(1) mask0.1<1>UW ms0<0,1,0>UW { align1 };",
            &add(10, 16),
        ],
    );
    assert_eq!(ended.words(10), [17, 17, 17, 17, 16, 16, 16, 16]);
}

#[test]
fn the_second_half_has_the_upper_channels() {
    let ended = bench(Model::G45).channels(0xffff).run(
        "cmp.ge.f0.0(16) null<1>D g2<8,8,1>D 6D { align1 compr };\nmov(8) g10<1>D 5D { align1 };\n(+f0.0) mov(8) g10<1>D 1D { align1 };\n(+f0.0) mov(8) g11<1>D 2D { align1 sechalf };",
    );
    // g3 holds 0x300 in each channel of the upper half.
    assert_eq!(ended.words(10), [5, 5, 5, 5, 5, 5, 1, 1]);
    assert_eq!(ended.words(11), [2; 8]);
}

#[test]
fn groups_of_flags_are_combined() {
    let cases = [
        ("", 0b0101_0011_0000_1111),
        (".any2h", 0b1111_0011_0000_1111),
        (".all2h", 0b0000_0011_0000_1111),
        (".any4h", 0b1111_1111_0000_1111),
        (".all4h", 0b0000_0000_0000_1111),
        (".any8h", 0xffff),
        (".all8h", 0),
        (".any16h", 0xffff),
        (".all16h", 0),
        (".anyv", 0b1101_0011_1000_1111),
        (".allv", 0b0000_0001_0000_1000),
    ];
    for (name, expected) in cases {
        for sign in ["+", "-"] {
            let text = format!(
                "mov(1) f0.0<1>UW 0x530fUW {{ align1 nomask }};\nmov(1) f0.1<1>UW 0x8188UW {{ align1 nomask }};\nmov(16) g10<1>UW 0UW {{ align1 }};\n({sign}f0.0{name}) mov(16) g10<1>UW 1UW {{ align1 }};"
            );
            let ended = bench(Model::G45).channels(0xffff).run(&text);
            let found =
                ended.halves(10).iter().rev().fold(0u32, |all, bit| all << 1 | u32::from(*bit));
            let expected = if sign == "-" { !expected & 0xffff } else { expected };
            assert_eq!(found, expected, "{sign}{name}");
        }
    }
}

#[test]
fn align16_predicates_take_one_of_four() {
    for (name, expected) in [
        (".x", 0b0000_1111),
        (".y", 0b1111_0000),
        (".z", 0b0000_0000),
        (".w", 0b1111_1111),
        (".any4h", 0b1111_1111),
        (".all4h", 0b0000_0000),
    ] {
        let text = format!(
            "mov(1) f0.0<1>UW 0xa9UW {{ align1 nomask }};\n(+f0.0{name}) mov(8) g10<1>.xyzwUD 1UD {{ align16 }};"
        );
        let ended = bench(Model::I965).run(&text);
        let found = ended.words(10).iter().rev().fold(0u32, |all, bit| all << 1 | bit);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn single_program_flow_leaves_the_stacks() {
    let mut bench = bench(Model::I965);
    bench.spf = true;
    let lines = [
        &less(9),
        "(+f0.0) if(8) Jump: 2;",
        &add(10, 1),
        "else(8) Jump: 3 Pop: 1;",
        &add(10, 2),
        "endif(8) Pop: 1;",
        "do(8);",
        &add(10, 4),
        "cmp.l.f0.0(8) null<1>D g10<8,8,1>D 9D { align1 };",
        "(+f0.0) while(8) Jump: -2;",
    ];
    assert_eq!(bench.run(&lines.join("\n")).words(10), [9; 8]);
}

/// Masks that each stack of a chip holds.
const DEPTHS: [(Model, usize); 3] = [(Model::I965, 15), (Model::Gm965, 7), (Model::G45, 12)];

/// A stack of masks is kept in a register; with `anew` it is empty then.
fn keep(register: u32, anew: bool) -> String {
    let mut lines =
        vec![format!("mov(8) g{register}<1>UW ms0<8,8,1>UW {{ align1 nomask switch }};")];
    if anew {
        lines.push("mov(8) ms0<1>UW 0UW { align1 nomask switch };".into());
        lines.push("mov(1) msd0<1>UW 0UW { align1 nomask switch };".into());
    }
    lines.join("\n")
}

/// It comes back with so many masks.
fn restore(register: u32, depth: usize) -> String {
    format!(
        "mov(8) ms0<1>UW g{register}<8,8,1>UW {{ align1 nomask switch }};
         mov(1) msd0<1>UW {depth}UW {{ align1 nomask switch }};"
    )
}

/// So many conditions, one within the other, around a text.
fn conditions(count: usize, within: &[String]) -> Vec<String> {
    let mut lines = vec!["(+f0.0) iff(8) Jump: 99;".to_string(); count];
    lines.extend_from_slice(within);
    lines.extend(vec!["endif(8) Pop: 1;".to_string(); count]);
    lines
}

/// 11.3.4.8, 11.3.4.9.
#[test]
fn a_stack_that_a_register_keeps_holds_as_much_again() {
    for (model, most) in DEPTHS {
        let program = |back: &str| {
            let mut within = vec![keep(20, true), less(3)];
            within.extend(conditions(most, &[add(10, 1)]));
            within.extend([back.to_string(), add(10, 2)]);
            let mut lines = vec![less(6)];
            lines.extend(conditions(most, &within));
            lines.push(add(10, 4));
            lines.join("\n")
        };
        let ended = bench(model).run(&program(&restore(20, most)));
        assert_eq!(ended.words(10), [7, 7, 7, 6, 6, 6, 4, 4]);
        assert_eq!(bench(model).breaks(&program("nop;")), Rule::StackUnderflow);
    }
}

/// All lanes leave out of a stack that was begun within the loop: the one that was kept in front of it knows the mask there.
#[test]
fn a_stack_that_was_kept_in_front_of_a_loop_comes_back_behind_it() {
    for (model, _) in DEPTHS {
        let lines = [
            &less(9),
            "(+f0.0) iff(8) Jump: 99;",
            &keep(21, false),
            "do(8);",
            &less(6),
            "(-f0.0) break(8) Jump: 14 Pop: 0;",
            "(+f0.0) iff(8) Jump: 99;",
            &keep(20, true),
            &less(9),
            "(+f0.0) iff(8) Jump: 99;",
            &add(10, 1),
            "break(8) Jump: 6 Pop: 1;",
            "endif(8) Pop: 1;",
            &restore(20, 2),
            "endif(8) Pop: 1;",
            "while(8) Jump: -14;",
            &restore(21, 1),
            "endif(8) Pop: 1;",
            &add(10, 8),
        ];
        assert_eq!(run(model, &lines).words(10), [9, 9, 9, 9, 9, 9, 8, 8]);
    }
}

#[test]
fn a_single_flow_leaves_the_stacks_as_they_are() {
    let mut bench = bench(Model::I965);
    bench.spf = true;
    let text = "mov(4) ms0<1>UD 0x01010101UD { align1 nomask };
        mov(1) msd0<1>UD 1UD { align1 nomask };
        mov(4) g10<1>UD ms0<4,4,1>UD { align1 nomask };
        mov(1) g10.4<1>UD msd0<0,1,0>UD { align1 nomask };";
    assert_eq!(bench.run(text).words(10)[..5], [0; 5]);
}

#[test]
fn the_stack_of_conditions_has_its_depth() {
    for (model, most) in DEPTHS {
        let nested = |depth: usize| {
            let mut lines = vec![less(9)];
            lines.extend(conditions(depth, &[]));
            lines.join("\n")
        };
        bench(model).run(&nested(most));
        assert_eq!(bench(model).breaks(&nested(most + 1)), Rule::StackOverflow);
        assert_eq!(bench(model).breaks("endif(8) Pop: 1;"), Rule::StackUnderflow);
    }
}

#[test]
fn a_thread_waits_for_its_notification() {
    let mut bench = bench(Model::G45);
    bench.mock.code = code(Model::G45, &format!("wait(1) n0<1>UD {{ align1 }};\n{}", add(10, 1)));
    let mut thread = bench.start();
    let mut steps = 100;
    let mut run = Run { steps: &mut steps, trace: None };
    let mut step = |thread: &mut crate::emu::Thread| {
        thread.step(&mut bench.mock, &mut run).unwrap_or_else(|trap| panic!("{trap}"))
    };
    assert_eq!(step(&mut thread), Status::Waiting);
    assert_eq!(step(&mut thread), Status::Waiting);
    thread.notify();
    assert_eq!(step(&mut thread), Status::Running);
    assert_eq!(step(&mut thread), Status::Running);
    assert_eq!(step(&mut thread), Status::Done);
    assert_eq!(thread.general(10).words, [1; 8]);
}

#[test]
fn a_trace_shows_what_was_written() {
    let mut bench = bench(Model::G45).undefined(12).channels(0x0f);
    bench.mock.code = code(Model::G45, "mov(8) g12<1>D 5D { align1 };");
    let mut lines = Vec::new();
    let mut steps = 1;
    let mut note = |line: &str| lines.push(line.to_string());
    let mut run = Run { steps: &mut steps, trace: Some(&mut note) };
    let status = bench.start().step(&mut bench.mock, &mut run);
    assert_eq!(status.map_err(|trap| trap.rule), Ok(Status::Running));
    assert_eq!(
        lines,
        [
            "0x0000 Mov(8) masks 000f flags deadbeef",
            "       r12 = 00000005 00000005 00000005 00000005 ???????? ???????? ???????? ????????",
        ]
    );
}

#[test]
fn a_program_that_changes_is_read_again() {
    let mut bench = bench(Model::G45);
    bench.mock.code = code(Model::G45, "jmpi(1) -1D { align1 nomask };");
    let mut thread = bench.start();
    let mut steps = 9;
    let mut run = Run { steps: &mut steps, trace: None };
    for _ in 0..2 {
        let status = thread.step(&mut bench.mock, &mut run).map_err(|trap| trap.rule);
        assert_eq!(status, Ok(Status::Running));
    }
    bench.mock.code = code(Model::G45, "illegal;");
    let status = thread.step(&mut bench.mock, &mut run).map_err(|trap| trap.rule);
    assert_eq!(status, Err(Rule::Illegal));
}

#[test]
fn steps_end_a_loop_without_end() {
    let mut bench = bench(Model::I965);
    bench.mock.code = code(Model::I965, "jmpi(1) -1D { align1 nomask };");
    let mut lines = Vec::new();
    let mut thread = bench.start();
    let mut steps = 3;
    let mut note = |line: &str| lines.push(line.to_string());
    let mut run = Run { steps: &mut steps, trace: Some(&mut note) };
    let trap = loop {
        if let Err(trap) = thread.step(&mut bench.mock, &mut run) {
            break trap;
        }
    };
    assert_eq!((trap.rule, trap.offset), (Rule::Steps, 0));
    assert_eq!(lines.len(), 3);
    assert!(lines[0].contains("Jmpi(1)"), "{}", lines[0]);
}
