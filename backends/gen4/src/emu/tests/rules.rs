//! Each rule: a program that breaks it, and one next to it that does not.

use super::{Bench, code};
use crate::emu::{Model, Rule};
use Model::{G45, I965};

/// The chip, the breach, the legal neighbour.
type Case = (Rule, Model, &'static str, &'static str);

const CASES: &[Case] = &[
    (Rule::Illegal, I965, "illegal;", "nop;"),
    (
        Rule::RegisterCount,
        I965,
        "mov(8) g64<1>UD 1UD { align1 };",
        "mov(8) g63<1>UD 1UD { align1 };",
    ),
    (
        Rule::Undefined,
        I965,
        "(+f0.0) mov(8) g10<1>UD 1UD { align1 };",
        "mov(1) f0.0<1>UW 0UW { align1 nomask };\n(+f0.0) mov(8) g10<1>UD 1UD { align1 };",
    ),
    (
        Rule::ControlRegister,
        I965,
        "mov(1) cr0.1<1>UD 0x20000000UD { align1 nomask switch };",
        "mov(1) cr0<1>UD 3UD { align1 nomask switch };",
    ),
    (
        Rule::SwitchMissing,
        G45,
        "mov(1) mask0<1>UW 0xffUW { align1 nomask };",
        "mov(1) mask0<1>UW 0xffUW { align1 nomask switch };",
    ),
    (
        Rule::SwitchMissing,
        I965,
        "mov(1) g10<1>UD cr0<0,1,0>UD { align1 nomask };",
        "mov(1) g10<1>UD cr0<0,1,0>UD { align1 nomask switch };",
    ),
    (
        Rule::Granularity,
        I965,
        "mov(1) f0.0<1>UB 0UW { align1 nomask };",
        "mov(1) f0.0<1>UW 0UW { align1 nomask };",
    ),
    (
        Rule::Granularity,
        I965,
        "mov(1) ms0<1>UD 0UD { align1 nomask };",
        "mov(4) ms0<1>UD 0UD { align1 nomask };",
    ),
    (
        Rule::Granularity,
        I965,
        "mov(4) g10<1>UW ms0<4,4,1>UW { align1 nomask };",
        "mov(8) g10<1>UW ms0<8,8,1>UW { align1 nomask };",
    ),
    (
        Rule::Granularity,
        I965,
        "mov(8) g10<1>UW ms0.4<8,8,1>UW { align1 nomask };",
        "mov(8) g10<1>UW ms0.8<8,8,1>UW { align1 nomask };",
    ),
    (
        Rule::MaskRead,
        I965,
        "mov(1) g10<1>UW mask0<0,1,0>UW { align1 };\nnop;\niff(8) Jump: 2;\nendif(8) Pop: 1;",
        "mov(1) g10<1>UW mask0<0,1,0>UW { align1 };\nnop;\nnop;\niff(8) Jump: 2;\nendif(8) Pop: 1;",
    ),
    (
        Rule::Held,
        G45,
        "mov(4) g10<1>UD 1UD { align1 NoDDClr };\nmov(4) g10.4<1>UD 1UD { align1 NoDDClr,NoDDChk };\nmov(8) g11<1>UD g10<8,8,1>UD { align1 };",
        "mov(4) g10<1>UD 1UD { align1 NoDDClr };\nmov(4) g10.4<1>UD 1UD { align1 NoDDChk };\nmov(8) g11<1>UD g10<8,8,1>UD { align1 };",
    ),
    (
        Rule::Held,
        G45,
        "mov(4) g10<1>UD 1UD { align1 NoDDClr };\nmov(4) g10.4<1>UD 1UD { align1 };",
        "mov(4) g10<1>UD 1UD { align1 NoDDClr };\nmov(4) g11.4<1>UD 1UD { align1 };",
    ),
    (
        Rule::AccumulatorTwice,
        I965,
        "add(8) acc1<1>F g2<8,8,1>F 1.0F { align1 };\nmov(8) g10<1>F acc1<8,8,1>F { align1 };",
        "add(8) acc1<1>F g2<8,8,1>F 1.0F { align1 switch };\nmov(8) g10<1>F acc1<8,8,1>F { align1 };",
    ),
    (
        Rule::IndexRows,
        I965,
        "mov(1) a0<1>UD 0UD { align1 nomask };\nadd(8) g10<1>UD g2<8,8,1>UD g[a0]<0,1,0>UD { align1 };",
        "mov(1) a0<1>UD 0UD { align1 nomask };\nadd(8) g10<1>UD g[a0]<0,1,0>UD g2<8,8,1>UD { align1 };",
    ),
    (
        Rule::IndexRows,
        G45,
        "mov(8) a0<1>UW 0UW { align1 nomask };\nmov(8) g10<1>UD g[a0.3]<VxH,4,1>UD { align1 };",
        "mov(8) a0<1>UW 0UW { align1 nomask };\nmov(8) g10<1>UD g[a0.4]<VxH,4,1>UD { align1 };",
    ),
    (
        Rule::ExecutionSize,
        I965,
        "mov(16) g10<1>UD g2<8,8,1>UD { align1 };",
        "mov(16) g10<1>UW g2<8,8,1>UW { align1 };",
    ),
    (
        Rule::Width,
        I965,
        "mov(4) g10<1>UD g2<8,8,1>UD { align1 };",
        "mov(4) g10<1>UD g2<4,4,1>UD { align1 };",
    ),
    (
        Rule::RowStride,
        I965,
        "mov(8) g10<1>UD g2<4,8,1>UD { align1 };",
        "mov(8) g10<1>UD g2<4,4,1>UD { align1 };",
    ),
    (
        Rule::OneWide,
        I965,
        "mov(8) g10<1>UD g2<0,8,0>UD { align1 };",
        "mov(8) g10<1>UD g2<0,1,0>UD { align1 };",
    ),
    (
        Rule::Crosses,
        I965,
        "mov(8) g10.4<1>UD g2<8,8,1>UD { align1 };",
        "mov(4) g10.4<1>UD g2<4,4,1>UD { align1 };",
    ),
    (
        Rule::Crosses,
        I965,
        "mov(8) g10<1>UD g2.4<8,8,1>UD { align1 };",
        "mov(8) g10<1>UD g2.4<4,4,1>UD { align1 };",
    ),
    (
        Rule::Crosses,
        G45,
        "mov(8) g10<2>UB g2.8<8,1,0>UB { align1 };",
        "mov(8) g10<2>UB g2.7<8,1,0>UB { align1 };",
    ),
    (
        Rule::SecondCrosses,
        I965,
        "add(8) g10<1>UD g2<8,8,1>UD g4.4<4,4,1>UD { align1 };",
        "add(8) g10<1>UD g2.4<4,4,1>UD g4<8,4,1>UD { align1 };",
    ),
    (
        Rule::DestinationAligned,
        I965,
        "mov(1) g10.1<1>UB 5UW { align1 };",
        "mov(1) g10.2<1>UB 5UW { align1 };",
    ),
    (
        Rule::DestinationStride,
        I965,
        "mov(8) g10<1>UW g2<8,8,1>UD { align1 };",
        "mov(8) g10<2>UW g2<8,8,1>UD { align1 };",
    ),
    (
        Rule::PackedBytes,
        G45,
        "mov(8) g10<1>UB g2<16,8,2>B { align1 };",
        "mov(8) g10<1>UB g2<16,8,2>UB { align1 };",
    ),
    (
        Rule::SplitDestination,
        I965,
        "mov(4) g10.2<1>UD g2.6<4,2,1>UD { align1 };\nmov(8) g10.1<1>UW g2.12<8,4,1>UW { align1 };",
        "mov(4) g10.2<1>UD g2.6<4,2,1>UD { align1 };\nmov(8) g10<1>UW g2.12<8,4,1>UW { align1 };",
    ),
    (
        Rule::Align16Type,
        I965,
        "mov(8) g10<1>.xyzwUW g2<4>.xyzwUW { align16 };",
        "mov(8) g10<1>.xyzwUD g2<4>.xyzwUD { align16 };",
    ),
    (
        Rule::Compressible,
        G45,
        "sad2(16) g10<1>UW g2<16,16,1>UB g4<16,16,1>UB { align1 compr };",
        "sad2(16) g10<1>UW g2<16,16,1>UB g4<16,16,1>UB { align1 };",
    ),
    (
        Rule::CompressedSize,
        I965,
        "mov(8) g10<1>UD g2<4,4,1>UD { align1 compr };",
        "mov(16) g10<1>UD g2<4,4,1>UD { align1 compr };",
    ),
    (
        Rule::CompressedOperand,
        I965,
        "mov(16) g11<1>UD g2<8,8,1>UD { align1 compr };",
        "mov(16) m11<1>UD g2<8,8,1>UD { align1 compr };",
    ),
    (
        Rule::CompressedOperand,
        I965,
        "mov(16) g10<1>UD g3<8,8,1>UD { align1 compr };",
        "mov(16) g10<1>UD g3<8,8,1>UW { align1 compr };",
    ),
    (
        Rule::CompressedOperand,
        I965,
        "add(16) g10<1>UD g2<8,8,1>UD g4<8,8,1>UW { align1 compr };",
        "add(16) g10<1>UD g4<8,8,1>UW g2<8,8,1>UD { align1 compr };",
    ),
    (
        Rule::CompressedBytes,
        I965,
        "mov(16) g10<1>UD g2<8,8,1>UB { align1 compr };",
        "mov(16) g10<1>UD g2<16,8,2>UB { align1 compr };",
    ),
    (
        Rule::CompressedArchitecture,
        I965,
        "mov(16) g10<1>UD sr0<0,1,0>UD { align1 compr };",
        "mul(16) null<1>F g2<8,8,1>F g4<8,8,1>F { align1 compr };",
    ),
    (
        Rule::CompressedIndex,
        G45,
        "mov(8) a0<1>UW 0UW { align1 nomask };\nmov(16) g10<1>UD g[a0.1]<8,8,1>UD { align1 compr };",
        "mov(8) a0<1>UW 0UW { align1 nomask };\nmov(16) g10<1>UD g[a0.2]<8,8,1>UD { align1 compr };",
    ),
    (
        Rule::Compr4,
        I965,
        "mov(16) m2<1>UD 0UD { align1 compr4 };",
        "mov(16) m2<1>UD 0UD { align1 compr };",
    ),
    (
        Rule::CompressedFlags,
        I965,
        "cmp.z.f0.0(32) null<1>UW g2<16,16,1>UW g4<16,16,1>UW { align1 compr };",
        "add(32) g10<1>UW g2<16,16,1>UW g4<16,16,1>UW { align1 compr };",
    ),
    (
        Rule::SecondHalf,
        G45,
        "mov(16) g10<1>UW g2<16,16,1>UW { align1 sechalf };",
        "mov(8) g10<1>UW g2<8,8,1>UW { align1 sechalf };",
    ),
    (
        Rule::AccumulatorOperand,
        I965,
        "add(8) g10<1>D g2<8,8,1>D acc0<8,8,1>D { align1 };",
        "add(8) g10<1>D acc0<8,8,1>D g2<8,8,1>D { align1 };",
    ),
    (
        Rule::AccumulatorRegion,
        I965,
        "add(8) acc0<1>F g2<8,8,1>D 1D { align1 };",
        "add(8) acc0<1>D g2<8,8,1>D 1D { align1 };",
    ),
    (
        Rule::AccumulatorRegion,
        I965,
        "mov(8) g10<1>D acc0<4,4,0>D { align1 };",
        "mov(8) g10<1>D acc0<8,8,1>D { align1 };",
    ),
    (
        Rule::Vector,
        I965,
        "mov(8) g10<2>UW 0x76543210V { align1 };",
        "mov(8) g10<1>UW 0x76543210V { align1 };",
    ),
    (
        Rule::Types,
        I965,
        "and(8) g10<1>UD g2<8,8,1>F g3<8,8,1>F { align1 };",
        "and(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 };",
    ),
    (
        Rule::FloatBesideDword,
        I965,
        "add(8) g10<1>F g2<8,8,1>F g3<8,8,1>D { align1 };",
        "add(8) g10<1>F g2<8,8,1>F g3<8,8,1>W { align1 };",
    ),
    (
        Rule::Saturation,
        I965,
        "mul.sat(8) g10<1>D g2<8,8,1>D 3D { align1 };",
        "add.sat(8) g10<1>D g2<8,8,1>D 3D { align1 };",
    ),
    (
        Rule::Condition,
        I965,
        "and.l.f0.0(8) g10<1>D g2<8,8,1>D 3D { align1 };",
        "and.nz.f0.0(8) g10<1>D g2<8,8,1>D 3D { align1 };",
    ),
    (
        Rule::Condition,
        I965,
        "cmp.o.f0.0(8) g10<1>D g2<8,8,1>D 3D { align1 };",
        "add.o.f0.0(8) g10<1>D g2<8,8,1>D 3D { align1 };",
    ),
    (
        Rule::Predicate,
        I965,
        "sel(8) g10<1>D g2<8,8,1>D 3D { align1 };",
        "mov(1) f0.0<1>UW 1UW { align1 nomask };\n(+f0.0) sel(8) g10<1>D g2<8,8,1>D 3D { align1 };",
    ),
    (
        Rule::Operand,
        I965,
        "line(8) g10<1>F g2.1<0,1,0>F g3<8,8,1>F { align1 };",
        "line(8) g10<1>F g2.4<0,1,0>F g3<8,8,1>F { align1 };",
    ),
    (
        Rule::Operand,
        G45,
        "pln(8) g10<1>F g2<0,1,0>F g3<8,8,1>F { align1 };",
        "pln(8) g10<1>F g2<0,1,0>F g4<8,8,1>F { align1 };",
    ),
    (
        Rule::Size,
        I965,
        "line(4) g10<1>F g2<0,1,0>F g3<4,4,1>F { align1 };",
        "line(8) g10<1>F g2<0,1,0>F g3<8,8,1>F { align1 };",
    ),
    (
        Rule::Modifier,
        I965,
        "shr(8) g10<1>UD g2<8,8,1>D 3UD { align1 };",
        "shr(8) g10<1>UD (abs)g2<8,8,1>D 3UD { align1 };",
    ),
    (
        Rule::SelectBytes,
        G45,
        "mov(1) f0.0<1>UW 1UW { align1 nomask };\n(+f0.0) sel(8) g10.1<2>UB g2<16,8,2>UB g3<16,8,2>UB { align1 };",
        "mov(1) f0.0<1>UW 1UW { align1 nomask };\n(+f0.0) sel(8) g10<2>UB g2<16,8,2>UB g3<16,8,2>UB { align1 };",
    ),
    (
        Rule::BranchOperands,
        I965,
        "iff(8) Jump: 2 { align1 src1_type(0) };\nendif(8) Pop: 1;",
        "iff(8) Jump: 2;\nendif(8) Pop: 1;",
    ),
    (
        Rule::BranchOperands,
        I965,
        "iff(8) Jump: 2;\nendif(8) Pop: 1 { align1 dst(m4<1>D) };",
        "iff(8) Jump: 2;\nendif(8) Pop: 1;",
    ),
    (
        Rule::BranchOperands,
        I965,
        "do(8) { align1 dst(m4<1>F) };\nbreak(8) Jump: 2;\nwhile(8) Jump: -1;",
        "do(8);\nbreak(8) Jump: 2;\nwhile(8) Jump: -1;",
    ),
    (
        Rule::BranchMode,
        I965,
        "do(32);\nbreak(16) Jump: 2;\nwhile(16) Jump: -1;",
        "do(16);\nbreak(16) Jump: 2;\nwhile(16) Jump: -1;",
    ),
    (
        Rule::BranchMode,
        I965,
        "iff(8) Jump: 2 { align1 sechalf };\nendif(8) Pop: 1;",
        "iff(8) Jump: 2 { align1 switch };\nendif(8) Pop: 1;",
    ),
    (
        Rule::PopCount,
        I965,
        "iff(8) Jump: 2;\nendif(8) Pop: 0;",
        "iff(8) Jump: 2;\nendif(8) Pop: 1;",
    ),
    (
        Rule::PopCount,
        G45,
        "do(8);\nbreak(8) Jump: 2 Pop: 13;\nwhile(8) Jump: -1;",
        "do(8);\nbreak(8) Jump: 2 Pop: 0;\nwhile(8) Jump: -1;",
    ),
    (
        Rule::StackUnderflow,
        I965,
        "iff(8) Jump: 2;\nendif(8) Pop: 1;\nendif(8) Pop: 1;",
        "iff(8) Jump: 3;\niff(8) Jump: 2;\nendif(8) Pop: 1;\nendif(8) Pop: 1;",
    ),
    (
        Rule::StackOperand,
        I965,
        "push(1) ms0.4<1>UW mask0<0,1,0>UW { align1 };",
        "push(1) ms0<1>UW mask0<0,1,0>UW { align1 };\npop(1) ms0<1>UW ms0<0,1,0>UW 1UD { align1 };",
    ),
    (Rule::NoMask, I965, "jmpi(1) 0D { align1 };", "jmpi(1) 0D { align1 nomask };"),
    (
        Rule::MessageLength,
        I965,
        "send(8) 15 null<1>UW g2<8,8,1>UD 0x06200000 { align1 };",
        "send(8) 15 null<1>UW g2<8,8,1>UD 0x06100000 { align1 };",
    ),
    (
        Rule::ResponseLength,
        I965,
        "send(8) 2 null<1>UW g2<8,8,1>UD 0x02110000 { align1 };",
        "send(8) 2 g10<1>UW g2<8,8,1>UD 0x02110000 { align1 };\nmov(8) null<1>UD g10<8,8,1>UD { align1 };",
    ),
    (
        Rule::MessageOperand,
        I965,
        "send(8) 2 acc0<1>UW g2<8,8,1>UD 0x06100000 { align1 };",
        "send(8) 2 null<1>UW g2<8,8,1>UD 0x06100000 { align1 };",
    ),
    (
        Rule::MessageOperand,
        I965,
        "send(8) 2 null<1>UW g[a0]<8,8,1>UD 0x06100000 { align1 };",
        "send(8) 2 null<1>UW null<8,8,1>UD 0x06100000 { align1 };",
    ),
    (
        Rule::MessageType,
        I965,
        "send(16) 2 null<1>UD g2<8,8,1>UD 0x06100000 { align1 };",
        "send(16) 2 null<1>UW g2<8,8,1>UD 0x06100000 { align1 };",
    ),
    (
        Rule::MessageCompressed,
        I965,
        "send(16) 2 g10<1>F g2<8,8,1>F 0x01110001 { align1 compr };",
        "send(8) 2 g10<1>F g2<8,8,1>F 0x01110001 { align1 };\nmov(8) null<1>UD g10<8,8,1>UD { align1 };",
    ),
    (
        Rule::MessageCheck,
        I965,
        "send(8) 2 g10<1>F g2<8,8,1>F 0x01110001 { align1 NoDDChk };",
        "send(8) 2 g10<1>F g2<8,8,1>F 0x01110001 { align1 };\nmov(8) null<1>UD g10<8,8,1>UD { align1 };",
    ),
    (
        Rule::MessageReserved,
        I965,
        "send(8) 2 null<1>UW g2<8,8,1>UD 0x46100000 { align1 };",
        "send(8) 2 null<1>UW g2<8,8,1>UD 0x06100000 { align1 };",
    ),
    (
        Rule::EndOfThread,
        I965,
        "send(8) 2 null<1>UW g2<8,8,1>UD 0x04100000 { align1 EOT };",
        "send(8) 2 null<1>UW g2<8,8,1>UD 0x05100000 { align1 EOT };",
    ),
];

/// Rules whose breach is shown elsewhere, or that bytes alone can break.
const ELSEWHERE: &[Rule] = &[
    // `flow`, `messages`, `regions`.
    Rule::Steps,
    Rule::StackOverflow,
    Rule::RepliesOverlap,
    Rule::Overtaken,
    Rule::SendUnread,
    Rule::ReplyUnread,
    Rule::ReplyLeft,
    Rule::StackLeft,
    Rule::TwoRows,
    Rule::Function,
    Rule::Alignment,
    // `bytes_that_no_text_makes` below.
    Rule::Opcode,
    Rule::Reserved,
    Rule::Code,
    Rule::CompactForm,
    Rule::Number,
    Rule::Register,
    Rule::Descriptor,
    Rule::WaitOperand,
    Rule::WaitTwice,
];

/// Registers 2 to 5 hold small numbers, the accumulator dwords.
fn bench(model: Model) -> Bench {
    Bench::new(model)
        .register(2, [1; 8])
        .register(3, [2; 8])
        .register(4, [3; 8])
        .register(5, [4; 8])
}

#[test]
fn each_rule_has_a_breach_and_a_legal_neighbour() {
    let mut wrong = Vec::new();
    for (rule, model, breach, legal) in CASES {
        match bench(*model).bytes(code(*model, breach)) {
            Err(trap) if trap.rule == *rule => {}
            Err(trap) => wrong.push(format!("{rule:?}: {trap}\n{breach}")),
            Ok(_) => wrong.push(format!("{rule:?}: it runs\n{breach}")),
        }
        if let Err(trap) = bench(*model).bytes(code(*model, legal)) {
            wrong.push(format!("beside {rule:?}: {trap}\n{legal}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_rule_of_the_execution_unit_is_left_out() {
    // The rules of messages and fixed functions begin with the first of them.
    let own = Rule::ALL.iter().take_while(|rule| **rule != Rule::Mapped);
    for rule in own {
        let shown = CASES.iter().any(|(known, ..)| known == rule) || ELSEWHERE.contains(rule);
        assert!(shown, "{rule:?}");
    }
}

#[test]
fn bytes_that_no_text_makes_are_refused() {
    let mov = |model| {
        let bytes = code(model, "mov(8) g10<1>UD g2<8,8,1>UD { align1 };");
        u128::from_le_bytes(*bytes.first_chunk().expect("16 bytes"))
    };
    let number = |model| {
        let bytes = code(model, "mov(8) g10<1>UW 5UW { align1 };");
        u128::from_le_bytes(*bytes.first_chunk().expect("16 bytes"))
    };
    let cases = [
        (I965, 0x5b, Rule::Opcode),
        // PLN of the 965.
        (I965, mov(I965) & !0x7f | 0x5a, Rule::Opcode),
        (I965, mov(I965) | 1 << 7, Rule::Reserved),
        (I965, mov(I965) | 3 << 12, Rule::Code),
        (I965, mov(I965) | 7 << 22, Rule::Code),
        (I965, mov(I965) | 1 << 29, Rule::CompactForm),
        // A general register of 128.
        (I965, mov(I965) | 1 << 60, Rule::Register),
        // A byte in the middle of a dword.
        (I965, mov(I965) | 1 << 48, Rule::Alignment),
        // A number of one half.
        (I965, number(I965) ^ 1 << 127, Rule::Number),
        // A descriptor in g0.
        (I965, mov(I965) & !0x7f | 0x31 | 1 << 42, Rule::Descriptor),
        (G45, 0x7d, Rule::CompactForm),
        (G45, u128::from(0x7du32 | 1 << 29), Rule::CompactForm),
    ];
    for (model, bits, rule) in cases {
        let trap = match bench(model).bytes(bits.to_le_bytes().to_vec()) {
            Ok(_) => panic!("{bits:#034x} runs"),
            Err(trap) => trap,
        };
        assert_eq!(trap.rule, rule, "{bits:#034x} {trap}");
    }
}

#[test]
fn waits_stand_apart() {
    let two = "wait(1) n0<1>UD { align1 };\nwait(1) n0<1>UD { align1 };";
    let set = "mov(1) n0<1>UD 2UD { align1 nomask };\n";
    assert_eq!(bench(G45).breaks(&format!("{set}{two}")), Rule::WaitTwice);
    bench(G45).run(&format!("{set}{}", two.replace("};\nwait", "};\nnop;\nwait")));
    let other = "wait(1) n0<1>UD { align1 src0(n1<0,1,0>UD) };";
    assert_eq!(bench(G45).breaks(&format!("{set}{other}")), Rule::WaitOperand);
}

#[test]
fn a_trap_names_the_rule_and_its_section() {
    let bytes = code(I965, "nop;\nillegal;");
    let trap = match bench(I965).bytes(bytes) {
        Ok(_) => panic!("it runs"),
        Err(trap) => trap,
    };
    assert_eq!(
        trap.to_string(),
        "W10 illegal is not executed [G45 vol. 4 13.3.5]: illegal is executed, at byte 0x10"
    );
}
