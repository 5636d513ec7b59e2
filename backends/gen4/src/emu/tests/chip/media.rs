//! Media objects: payloads, order, limits, and rules of commands.

use super::{BATCH, BOTH, BUFFER, Chip, STATE, TABLE};
use crate::emu::{Model, Rule};

/// Writes a register of eight double words to the buffer, at a byte offset of the group by 32.
pub fn store(register: u32) -> String {
    format!(
        "mov(8) g20<1>W 0x76543210V {{ align1 }};
mov(8) g21<1>D g20<8,8,1>W {{ align1 }};
shl(8) g21<1>D g21<8,8,1>D 2D {{ align1 }};
shl(1) g22<1>D g3<0,1,0>D 5D {{ align1 }};
add(8) g21<1>D g21<8,8,1>D g22<0,1,0>D {{ align1 }};
mov(8) m1<1>UD g0<8,8,1>UD {{ align1 nomask }};
mov(1) m1.2<1>UD 0UD {{ align1 nomask }};
mov(8) m2<1>D g21<8,8,1>D {{ align1 }};
mov(8) m3<1>UD g{register}<8,8,1>UD {{ align1 }};
send(8) 1 g23<1>UD null<8,8,1>UD 0x0531b200 {{ align1 }};
mov(8) g24<1>UD g23<8,8,1>UD {{ align1 }};"
    )
}

/// Objects whose first inline word is their number.
fn objects(count: u32) -> Vec<Vec<u32>> {
    (0..count).map(|n| vec![n, 10 + n, 20, 30, 40, 50, 60, 70]).collect()
}

#[test]
fn a_thread_gets_constants_and_inline_data_and_scatters_words() {
    for model in BOTH {
        for (register, expected) in [
            (1, [100, 101, 102, 103, 104, 105, 106, 107]),
            (2, [108, 109, 110, 111, 112, 113, 114, 115]),
            (3, [0, 10, 20, 30, 40, 50, 60, 70]),
        ] {
            let mut chip = Chip::new(model, &store(register));
            chip.objects = objects(1);
            let words = chip.run();
            assert_eq!(words[..8], expected);
            assert_eq!(words[8..16], [8, 9, 10, 11, 12, 13, 14, 15]);
        }
    }
}

#[test]
fn every_object_runs_whatever_the_order() {
    for model in BOTH {
        for seed in 0..8 {
            let mut chip = Chip::new(model, &store(3));
            chip.objects = objects(32);
            chip.gpu.set_order(seed);
            let words = chip.run();
            for n in 0..32 {
                assert_eq!(words[8 * n..8 * n + 3], [n as u32, 10 + n as u32, 20]);
            }
        }
    }
}

#[test]
fn every_root_thread_gives_its_entry_back() {
    // More objects than entries.
    let mut chip = Chip::new(Model::G45, "");
    chip.objects = objects(40);
    chip.run();
    let text = "send(8) 0 null<1>UW g0<8,8,1>UW 0x87100010 { align1 EOT };";
    assert_eq!(Chip::new(Model::G45, text).breaks(), Rule::Spawner);
}

#[test]
fn the_last_message_has_the_header_of_the_thread() {
    let text = "mov(8) g5<1>UD g0<8,8,1>UD { align1 nomask };
add(1) g5.5<1>UD g5.5<0,1,0>UD 1UD { align1 nomask };
send(8) 0 null<1>UW g5<8,8,1>UW 0x87100000 { align1 EOT };";
    assert_eq!(Chip::new(Model::G45, text).breaks(), Rule::Header);
    let text = "send(8) 0 null<1>UW g1<8,8,1>UW 0x87100000 { align1 EOT };";
    assert_eq!(Chip::new(Model::G45, text).breaks(), Rule::Header);
    // To the URB, and with a reserved bit.
    let text = "send(8) 0 null<1>UW g0<8,8,1>UW 0x8610c000 { align1 EOT };";
    assert_eq!(Chip::new(Model::G45, text).breaks(), Rule::EndUnit);
    let text = "send(8) 0 null<1>UW g0<8,8,1>UW 0x87100100 { align1 EOT };";
    assert_eq!(Chip::new(Model::G45, text).breaks(), Rule::Spawner);
}

#[test]
fn the_global_offset_of_a_header_counts() {
    // r0.2 points to the interface descriptor: a header that keeps it is far beyond the buffer.
    let text = store(1).replace("mov(1) m1.2<1>UD 0UD { align1 nomask };\n", "");
    assert_eq!(Chip::new(Model::G45, &text).breaks(), Rule::PortBounds);
    let text = store(1).replace("m1.2<1>UD 0UD", "m1.2<1>UD 64UD");
    let mut chip = Chip::new(Model::G45, &text);
    assert_eq!(chip.run()[16..24], [100, 101, 102, 103, 104, 105, 106, 107]);
}

/// Replaces words of the commands and gives the rule that is broken.
fn with(model: Model, change: impl Fn(&mut Chip)) -> Rule {
    let mut chip = Chip::new(model, &store(3));
    chip.objects = objects(2);
    change(&mut chip);
    chip.breaks()
}

#[test]
fn each_command_has_its_rules() {
    type Case = (&'static str, Rule, fn(&mut Chip));
    let cases: &[Case] = &[
        ("no flush", Rule::FlushMissing, |chip| chip.commands[0] = 0),
        ("the other chip's select", Rule::Command, |chip| chip.commands[1] ^= 0x0800_0000),
        ("draws are selected", Rule::Pipeline, |chip| chip.commands[1] &= !1),
        ("a reserved bit of select", Rule::CommandReserved, |chip| chip.commands[1] |= 0x100),
        ("an unknown command", Rule::Command, |chip| chip.commands[0] = 0x7345_0000),
        ("a command of another engine", Rule::Command, |chip| chip.commands[0] = 0x4000_0000),
        ("a short command", Rule::CommandLength, |chip| chip.commands[2] -= 1),
        ("bases with low bits", Rule::StateAligned, |chip| chip.commands[3] = 0x801),
        ("no general bound", Rule::Bases, |chip| chip.commands[6] = 1),
        ("a general bound that is not set", Rule::Bases, |chip| chip.commands[6] = 0xffff_f000),
        ("a reserved bit of bases", Rule::CommandReserved, |chip| chip.commands[2] |= 0x100),
        ("a reserved bit of constant entries", Rule::CommandReserved, |chip| {
            chip.commands[11] |= 0x100;
        }),
        ("a reserved bit of pointers", Rule::CommandReserved, |chip| chip.commands[15] |= 0x8000),
        ("a reserved bit of an object", Rule::CommandReserved, |chip| {
            chip.commands.extend([0x7100_0102, 0, 0, 0]);
        }),
        ("bases that are not set", Rule::Bases, |chip| chip.commands[4] = 0),
        ("a fence beyond the URB", Rule::Fences, |chip| chip.commands[10] |= 0x7ff << 20),
        ("fences out of order", Rule::Fences, |chip| chip.commands[10] = 128 << 10 | 100 << 20),
        ("too small a section", Rule::Fences, |chip| chip.commands[10] = 31 << 10 | 35 << 20),
        ("too many constants", Rule::Constants, |chip| chip.commands[14] |= 2),
        ("constants that are not valid", Rule::Constants, |chip| chip.commands[13] = 0x6002_0000),
        ("a fence behind constants", Rule::Constants, |chip| {
            // The fence begins a line of the batch.
            chip.commands.splice(15..15, [0, 0x6000_3001, 0, 128 << 10 | 132 << 20]);
        }),
        ("constants of no memory", Rule::Mapped, |chip| chip.commands[14] = 0x8000_0000),
        ("an extended state", Rule::CommandReserved, |chip| chip.commands[16] = 1),
        ("a pointer that is not aligned", Rule::CommandReserved, |chip| chip.commands[17] |= 16),
        ("a state of no memory", Rule::Mapped, |chip| chip.commands[17] = 0x8000_0000),
        ("children", Rule::Vfe, |chip| chip.vfe[1] |= 4),
        ("another mode", Rule::Vfe, |chip| chip.vfe[1] |= 1 << 3),
        ("no entries", Rule::Vfe, |chip| chip.vfe[1] &= !(0x7f << 9)),
        ("too many threads", Rule::Vfe, |chip| chip.vfe[1] |= 0x7f << 25),
        ("even blocks", Rule::Interface, |chip| chip.descriptor[0] &= !1),
        ("exceptions", Rule::Interface, |chip| chip.descriptor[1] |= 1 << 13),
        ("rows that were not uploaded", Rule::Constants, |chip| chip.descriptor[1] |= 32 << 26),
        ("an entry that is too small", Rule::Payload, |chip| chip.objects[1] = vec![0; 33]),
        ("a program of no memory", Rule::Mapped, |chip| chip.descriptor[0] = 0x5000_0007),
        ("a program that was not written", Rule::Undefined, |chip| {
            chip.descriptor[0] = (super::PROGRAM + 0x800) | 7;
        }),
        ("a binding table that was not written", Rule::Undefined, |chip| {
            chip.descriptor[3] = TABLE + 0x100;
        }),
        ("no steps", Rule::Steps, |chip| chip.steps = 5),
    ];
    for (what, rule, change) in cases {
        for model in BOTH {
            assert_eq!(with(model, change), *rule, "{what}, {model:?}");
        }
    }
}

/// The last instruction of a program ends 128 bytes before its memory does, or there is nothing to fetch ahead.
#[test]
fn memory_goes_on_behind_a_program() {
    for (from_end, breaks) in [(16 + 128, false), (16 + 64, true)] {
        let mut chip = Chip::new(Model::G45, "");
        let memory = chip.gpu.memory();
        let code = memory.read(super::PROGRAM, 16).unwrap();
        // The program begins 64 bytes behind the start of its mapping.
        memory.map(0x8_0000, 64 + from_end).unwrap();
        memory.write(0x8_0040, &code).unwrap();
        chip.descriptor[0] = 0x8_0040 | 7;
        match chip.go() {
            Ok(()) => assert!(!breaks),
            Err(trap) => assert!(breaks && trap.rule == Rule::Prefetch, "{trap}"),
        }
    }
}

#[test]
fn what_is_relative_to_bases_is_sent_again() {
    let again = [0x6101_0004, 1, 1, 1, 0xffff_f001, 1];
    assert_eq!(with(Model::G45, |chip| chip.commands.extend(again)), Rule::Vfe);
}

#[test]
fn a_fence_lies_within_a_line() {
    // The fence stands at byte 32 of the batch; five words further it leaves the line.
    for (before, breaks) in [(4, false), (5, false), (6, true), (7, true), (8, false)] {
        let mut chip = Chip::new(Model::G45, &store(3));
        for _ in 0..before {
            chip.commands.insert(0, 0);
        }
        match chip.go() {
            Ok(()) => assert!(!breaks, "{before}"),
            Err(trap) => assert!(breaks && trap.rule == Rule::FenceLine, "{before}: {trap}"),
        }
    }
}

#[test]
fn the_render_cache_is_flushed_before_others_read() {
    // The thread writes to where constants come from.
    let chip = |flush: bool| {
        let mut chip = Chip::new(Model::G45, &store(1));
        let mut commands = chip.commands.clone();
        commands.extend([0x7100_000a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        if flush {
            commands.push(0x0200_0000);
        }
        commands.extend([0x6002_0100, BUFFER]);
        chip.commands = commands;
        chip
    };
    assert_eq!(chip(true).run()[..8], [100, 101, 102, 103, 104, 105, 106, 107]);
    assert_eq!(chip(false).breaks(), Rule::Stale);
}

#[test]
fn a_batch_is_bounded_by_its_bytes() {
    let mut chip = Chip::new(Model::G45, &store(1));
    chip.go().unwrap();
    let mut steps = 1000;
    let mut run = crate::emu::Run { steps: &mut steps, trace: None };
    let short = chip.gpu.batch(BATCH, 16, &mut run).unwrap_err();
    assert_eq!(short.rule, Rule::CommandLength);
    let mut run = crate::emu::Run { steps: &mut steps, trace: None };
    let state = chip.gpu.batch(STATE, 7, &mut run).unwrap_err();
    assert_eq!(state.rule, Rule::CommandLength);
    let mut run = crate::emu::Run { steps: &mut steps, trace: None };
    let unmapped = chip.gpu.batch(0x9000_0000, 64, &mut run).unwrap_err();
    assert_eq!(unmapped.rule, Rule::Mapped);
}
