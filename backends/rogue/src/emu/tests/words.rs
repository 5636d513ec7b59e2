//! Words by hand: what they decode to, and what breaks a rule of words.

use super::{Dice, group};
use crate::emu::core::Core;
use crate::emu::inst::{File, Kind, Register};
use crate::emu::rule::Rule;
use crate::emu::{Stage, admit, decode};

fn refused(text: &str) -> Rule {
    match group(text) {
        Err((rule, _)) => rule,
        Ok(group) => panic!("{text} is {group:?}"),
    }
}

#[test]
fn a_move_names_its_registers() {
    let group = group("24 02 87 46 00 00 42 ff").expect("a move");
    assert_eq!(group.sources[0], Register::File(File::Temp, 6));
    assert_eq!(group.writes, [Some(Register::File(File::Temp, 2)), None]);
    assert!(matches!(&group.kind, Kind::Main(main) if main.p0.is_some() && main.p1.is_none()));
}

#[test]
fn words_that_break_a_rule_of_words() {
    // The move of the test above with one byte changed at a time.
    for (text, rule) in [
        ("23 02 87 46 00 00", Rule::Length),
        ("34 02 87 46 00 00 42 ff", Rule::DecodeAssist),
        ("24 02 87 46 00 00 42 fe", Rule::Padding),
        ("35 02 87 46 00 00 42 ff f1 ff", Rule::DecodeAssist),
        ("25 02 97 04 46 00 00 42 ff ff", Rule::Reserved),
        ("24 02 8c 46 00 00 42 ff", Rule::Code),
        ("25 02 9c 0d 46 00 00 42 ff ff", Rule::Code),
        ("24 02 87 46 00 08 42 ff", Rule::Code),
        ("26 02 87 46 00 00 42 ff f2 ff ff fe", Rule::Padding),
        // A special register that none is, the second view of coefficients, a mask operation without W0.
        ("25 02 87 a1 03 00 00 00 44 ff", Rule::Register),
        ("35 82 00 87 c5 08 00 00 00 44", Rule::Register),
        ("43 80 67 38 47 00", Rule::ControlPorts),
        // A kind of group that none has, a bitwise group without phase 0, extension B without A.
        ("34 82 20 87 46 00 00 42", Rule::Code),
        ("55 e2 40 00 40 80 a4 80 84 44", Rule::BitwisePhases),
        ("78 a0 00 f4 8c 00 00 00 98 61 80 20 88 80 a5 00", Rule::ExtensionOrder),
        // A test alone whose word says that more follows.
        ("46 40 f9 a0 87 80 40 a0 2a 30 00 02", Rule::PhaseEnd),
        // Cache mode 3 of a load.
        ("65 a0 00 f1 03 00 44 44 00 ff", Rule::CacheMode),
    ] {
        let found = refused_any(text);
        assert_eq!(found, rule, "{text}");
    }
    let cut = decode(&[0x24, 0x02, 0x87]);
    assert!(matches!(cut, Err((Rule::Truncated, _))));
}

fn refused_any(text: &str) -> Rule {
    match decode(&super::bytes(text)) {
        Err((rule, _)) => rule,
        Ok(group) => panic!("{text} is {group:?}"),
    }
}

#[test]
fn a_branch_and_an_end_are_read() {
    assert!(group("04 80 60 04 6e 01 00 00").is_ok());
    assert!(group("04 80 ee 00 f2 ff ff ff").is_ok_and(|group| group.end));
    assert_eq!(refused("04 80 60 04 6f 01 00 00"), Rule::Reserved);
    assert_eq!(refused("04 80 60 0c 6e 01 00 00"), Rule::Code);
}

/// One group's rules, beyond its words.
#[test]
fn groups_that_break_a_rule_of_groups() {
    let ask = |text: &str, core: &Core, stage| match group(text) {
        Ok(group) => admit(&group, core, stage).err().map(|refused| refused.0),
        Err((rule, detail)) => panic!("{text}: {rule}: {detail}"),
    };
    use Stage::{Compute, Fragment, Vertex};
    let bxs = Core::BXS_4_64;
    for (text, stage, rule) in [
        // mbyp of a shared register on S0, then on S1 of a sum.
        ("35 82 00 87 85 08 00 00 00 44", Compute, None),
        ("36 82 00 00 c0 c5 88 00 00 00 40 ff", Compute, None),
        // W0 is a coefficient.
        ("35 82 00 87 43 00 00 c3 04 ff", Compute, None),
        ("35 82 00 87 43 00 00 c3 04 ff", Fragment, Some(Rule::CoefficientWrite)),
        // W0 is a constant and a shared register.
        ("34 82 00 87 43 00 00 03", Compute, Some(Rule::Written)),
        ("35 82 00 87 43 00 00 83 08 ff", Compute, None),
        // A pixel output without and with the overlap check.
        ("34 82 00 87 46 00 00 20", Fragment, Some(Rule::Overlap)),
        ("34 8a 80 87 46 00 00 20", Fragment, None),
        ("34 8a 80 87 46 00 00 20", Compute, Some(Rule::Written)),
        // W0 takes the feedthrough of a phase that is not there.
        ("34 82 00 87 46 00 10 41", Compute, Some(Rule::Feedthrough)),
        // Twice the same register.
        ("36 86 00 e8 d4 75 00 00 00 c0 96 56", Compute, Some(Rule::TwoWrites)),
        // A repeated move of registers, of a constant, of a special register, and a repeated reciprocal.
        ("34 82 02 87 4d 00 00 55", Compute, None),
        ("34 82 02 87 0d 00 00 55", Compute, None),
        ("56 92 02 d3 3f 80 c1 83 10 00 30 41", Compute, Some(Rule::RepeatSpecial)),
        ("34 82 02 80 4d 00 00 55", Compute, Some(Rule::Repeat)),
        // A reciprocal with W1 alone, and reductions with the wrong port.
        ("34 84 00 80 40 00 00 40", Compute, Some(Rule::WritePort)),
        ("35 82 00 9d 00 43 00 00 44 ff", Compute, Some(Rule::ReducePort)),
        ("35 84 00 9d 00 43 00 00 44 ff", Compute, None),
        // Writes to the vertex buffer, depth feedback and iterators elsewhere.
        ("55 a0 00 08 04 84 04 00 00 30", Vertex, None),
        ("55 a0 00 08 04 84 04 00 00 30", Compute, Some(Rule::VertexStage)),
        ("55 a0 00 a0 01 c4 04 00 4b 00", Fragment, Some(Rule::IteratorStage)),
        ("04 80 78 04 15 00 40 00", Fragment, None),
        ("04 80 78 04 15 00 40 00", Compute, Some(Rule::IteratorStage)),
        ("45 a8 00 82 80 40 00 07 00 00", Fragment, None),
        ("45 a8 00 82 80 40 00 07 00 00", Compute, Some(Rule::FeedbackStage)),
        // A lookup, and one with a register for the level of all instances.
        ("57 20 f4 5e 80 88 65 80 10 88 80 ac 00 ff", Fragment, None),
        ("57 20 f4 5e 80 88 65 80 10 88 c0 ac 00 ff", Fragment, Some(Rule::SharedLevel)),
        // A mask operation that heeds the execution bit.
        ("44 82 67 38 47 00 47 ff", Compute, None),
        ("44 82 66 38 47 00 47 ff", Compute, Some(Rule::ConditionHeader)),
        // An end of levels with a condition, a wait and a mutex where p0 is 1.
        ("45 82 67 24 24 00 24 ff f1 ff", Compute, None),
        ("45 82 67 34 24 00 24 ff f1 ff", Compute, Some(Rule::Unconditional)),
        ("02 80 6a ff", Compute, None),
        ("02 81 6a ff", Compute, Some(Rule::Unconditional)),
        ("02 80 6c c4", Compute, None),
        ("02 81 6c c4", Compute, Some(Rule::Unconditional)),
        // A derivative of what has no quads.
        ("34 82 00 88 45 00 00 40", Fragment, None),
        ("34 82 00 88 45 00 00 40", Vertex, Some(Rule::Quad)),
        // An atomic operation's result in a shared register.
        ("67 a0 00 e5 00 03 44 85 08 00 00 ff f1 ff", Compute, Some(Rule::SharedWrite)),
        // Phase 1 unpacks; a reciprocal beside a second phase; a programmed pack with a format; element 2 of 16 bits.
        ("35 b2 00 9c 00 87 40 40 00 40", Compute, Some(Rule::PhaseOne)),
        ("35 b2 00 87 80 40 40 00 40 ff", Compute, Some(Rule::ComplexAlone)),
        ("56 c2 02 9c 86 87 c1 10 00 0e 20 4e", Compute, Some(Rule::ProgrammedPack)),
        ("56 c2 02 9c 80 87 c1 10 00 0e 20 4e", Compute, None),
        ("55 c0 00 f1 38 87 40 00 00 ff", Compute, Some(Rule::TestType)),
        ("55 c0 00 f1 34 87 40 00 00 ff", Compute, None),
        // A special register on S0, and on S1.
        ("35 82 00 87 ac 00 00 00 00 44", Compute, Some(Rule::Port)),
        ("56 92 00 d3 3f 80 c1 83 10 00 30 41", Compute, None),
    ] {
        assert_eq!(ask(text, &bxs, stage), rule, "{text}");
    }
    let second = group("35 82 00 87 ac 00 00 00 00 44");
    assert!(second.is_ok());
    let old = Core::GX6250;
    assert_eq!(ask("04 80 78 04 15 00 40 00", &old, Fragment), Some(Rule::IteratorStage));
    assert_eq!(ask("55 a0 00 a0 01 c4 04 00 4b 00", &old, Fragment), None);
}

/// Output registers and temporaries that a core has not.
#[test]
fn a_core_has_its_registers_and_no_others() {
    let ask = |text: &str, core: &Core| {
        let group = group(text).expect("a group");
        admit(&group, core, Stage::Fragment).err().map(|refused| refused.0)
    };
    // mbyp to po3 and po4.
    let [third, fourth] = ["34 8a 80 87 46 00 00 23", "35 8a 80 87 46 00 00 a4 02 ff"];
    // mbyp to r127 and r128.
    let [inside, beyond] = ["35 82 80 87 46 00 00 ff 01 ff", "35 82 80 87 46 00 00 c0 02 ff"];
    for core in [Core::GX6250, Core::AXE_1_16M, Core::BXS_4_64] {
        let eight = core == Core::GX6250;
        assert_eq!(ask(third, &core), None);
        assert_eq!(ask(fourth, &core), if eight { None } else { Some(Rule::Register) });
        let small = core == Core::AXE_1_16M;
        assert_eq!(ask(inside, &core), None);
        assert_eq!(ask(beyond, &core), if small { Some(Rule::Register) } else { None });
    }
}

#[test]
fn random_bytes_decode_or_name_a_rule() {
    let mut dice = Dice::new(3);
    let mut decoded = 0;
    for _ in 0..400_000 {
        let known = KNOWN[dice.below(KNOWN.len() as u64) as usize];
        let mut bytes = super::bytes(known);
        // Half are bytes of chance, half are a group that exists with some bits changed.
        if dice.below(2) == 0 {
            bytes = (0..2 + dice.below(34)).map(|_| dice.next() as u8).collect();
        } else {
            for _ in 0..1 + dice.below(3) {
                let bit = dice.below(8 * bytes.len() as u64);
                bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
        }
        if let Ok(group) = decode(&bytes) {
            decoded += 1;
            for stage in [Stage::Vertex, Stage::Fragment, Stage::Compute] {
                let _ = admit(&group, &Core::BXS_4_64, stage);
            }
        }
    }
    assert!(decoded > 50_000, "{decoded}");
}

/// A group of each kind.
pub const KNOWN: [&str; 12] = [
    "24 02 87 46 00 00 42 ff",
    "99 d2 00 d3 3c f0 01 9c 1e 87 87 c0 cf 80 11 42 20 45",
    "36 82 00 d2 14 c8 6b 00 4e 00 00 49",
    "38 86 00 e3 8d 50 a3 0b 88 8c 08 00 c0 94 55 ff",
    "67 f2 40 01 68 03 81 59 80 00 80 80 99 40",
    "86 92 40 13 cd cc cc 3d 00 00 44 ff",
    "44 82 67 38 47 00 47 ff",
    "04 80 60 04 6e 01 00 00",
    "04 80 78 04 15 00 40 00",
    "78 a0 00 f4 dd 81 00 94 60 84 1c a8 80 a4 00 ff",
    "76 a8 00 f2 64 88 04 48 c6 a3 00 ff",
    "55 a0 06 08 04 84 04 00 00 30",
];
