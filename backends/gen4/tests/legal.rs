//! What the manual forbids: a breach and a legal neighbour of every rule, and foreign compilers' words, which are legal.

use crate::foreign;
use gpucc_gen4::isa::disasm::text_of;
use gpucc_gen4::isa::program::decode_program;
use gpucc_gen4::isa::{Decoded, assemble};
use gpucc_gen4::legal::{Chip, Rule, admit, admit_program};
use serde_json::Value;
use std::collections::BTreeSet;

use Chip::{G45, Gm965, I965};

/// Chip, rule, a text that breaks it, and the nearest text that does not.
#[rustfmt::skip]
const RULES: &[(Chip, Rule, &str, &str)] = &[
    (G45, Rule::ExecSizeReserved, "mov(reserved7) g4<1>UW g6<0,1,0>UW", "mov(16) g4<1>UW g6<0,1,0>UW"),
    (G45, Rule::ExecSizeType, "mov(16) g4<1>F g6<8,8,1>F", "mov(8) g4<1>F g6<8,8,1>F"),
    (G45, Rule::ExecSizeType, "mov(32) g4<1>UW g6<0,1,0>UW", "mov(32) g4<1>UW g6<0,1,0>UW { compr }"),
    (G45, Rule::WidthAboveSize, "mov(4) g4<1>F g6<8,8,1>F", "mov(4) g4<1>F g6<4,4,1>F"),
    (G45, Rule::RowStride, "mov(8) g4<1>F g6<4,8,1>F", "mov(8) g4<1>F g6<4,4,1>F"),
    (G45, Rule::WidthOneStride, "mov(8) g4<1>F g6<1,1,1>F", "mov(8) g4<1>F g6<1,1,0>F"),
    (G45, Rule::ScalarStride, "mov(1) g4<1>F g6<1,1,0>F", "mov(1) g4<1>F g6<0,1,0>F"),
    (G45, Rule::ScalarWidth, "mov(8) g4<1>F g6<0,4,0>F", "mov(8) g4<1>F g6<0,4,1>F"),
    (G45, Rule::Align16Row, "mov(8) g4<1>.xyzwUW g6<4>.xyzwUW { align16 }", "mov(8) g4<1>.xyzwUD g6<4>.xyzwUD { align16 }"),
    (I965, Rule::IndirectMessage, "mov(8) m[a0]<1>F g6<8,8,1>F", "mov(8) g[a0]<1>F g6<8,8,1>F"),
    (G45, Rule::DestinationCrosses, "mov(8) g4.1<1>F g6<8,8,1>F", "mov(4) g4.4<1>F g6<4,4,1>F"),
    (G45, Rule::DestinationCrosses, "mov(8) g4<2>F g6<0,1,0>F", "mov(4) g4<2>F g6<0,1,0>F"),
    (G45, Rule::DestinationAlignment, "mov(1) g4.1<1>UW g6<0,1,0>D", "mov(1) g4.2<1>UW g6<0,1,0>D"),
    (G45, Rule::DestinationAlignment, "mov(1) g4.2<1>UB g6<0,1,0>D", "mov(1) g4.1<1>UB g6<0,1,0>D"),
    (G45, Rule::DestinationStride, "mov(8) g4<1>UW g6<8,8,1>D", "mov(8) g4<2>UW g6<8,8,1>D"),
    (G45, Rule::DestinationStrideZero, "mov(1) g4<0>F g6<0,1,0>F", "mov(1) g4<1>F g6<0,1,0>F"),
    (G45, Rule::PackedBytes, "mov(8) g4<1>UB g6<8,8,1>UW", "mov(8) g4<1>UB g6<8,8,1>UB"),
    (G45, Rule::SplitDestination, "mov(8) g4.2<1>W g6.12<4,4,1>W", "mov(8) g4.4<1>W g6.12<4,4,1>W"),
    (I965, Rule::RelaxedBytes, "mov(8) g4.1<2>UB g6<8,8,1>UW", "mov(8) g4<2>UB g6<8,8,1>UW"),
    (G45, Rule::SourceTwoRegisters, "mov(8) g4<1>F g6<16,1,0>F", "mov(8) g4<1>F g6<2,1,0>F"),
    (G45, Rule::RowCrosses, "mov(8) g4<1>F g6.1<8,8,1>F", "mov(8) g4<1>F g6.4<4,4,1>F"),
    (G45, Rule::SecondCrosses, "add(8) g4<1>F g6<8,8,1>F g8.4<4,4,1>F", "add(8) g4<1>F g6<8,8,1>F g8.4<8,4,1>F"),
    (G45, Rule::Align16Crosses, "mov(8) g4<1>F g6.4<4>F { align16 }", "mov(8) g4<1>F g6.4<0>F { align16 }"),
    (I965, Rule::IndirectSecond, "add(8) g4<1>F g6<8,8,1>F g[a0]<8,8,1>F", "add(8) g4<1>F g[a0]<8,8,1>F g6<8,8,1>F"),
    (Gm965, Rule::IndirectSecondRows, "add(8) g4<1>F g6<8,8,1>F g[a0]<VxH,4,1>F", "add(8) g4<1>F g6<8,8,1>F g[a0]<4,4,1>F"),
    (Gm965, Rule::IndexSix, "mov(8) g4<1>F g[a0.6]<VxH,4,1>F", "mov(8) g4<1>F g[a0.4]<VxH,4,1>F"),
    (Gm965, Rule::IndexSeven, "mov(1) g4<1>UB g[a0.7 -4]<0,1,0>UB", "mov(1) g4<1>UB g[a0.7 4]<0,1,0>UB"),
    (Gm965, Rule::IndexSeven, "mov(1) g[a0.7 -4]<1>UB g4<0,1,0>UB", "mov(1) g[a0.7 -4]<1>UW g4<0,1,0>UW"),
    (G45, Rule::CompressedAlign16, "mov(16) g4<1>F g6<4>F { align16 compr }", "mov(8) g4<1>F g6<4>F { align16 }"),
    (G45, Rule::CompressedSize, "mov(8) g4<1>F g6<8,8,1>F { compr }", "mov(16) g4<1>F g6<8,8,1>F { compr }"),
    (G45, Rule::CompressedControl, "send(16) 2 g4<1>UW g8<8,8,1>UW 0x01110001 { compr }", "send(16) 2 g4<1>F g8<8,8,1>F 0x01110001 { compr }"),
    (G45, Rule::CompressedControl, "send(16) 2 g4<1>UD g8<8,8,1>UD 0x0121000c { compr }", "send(8) 2 g4<1>UD g8<8,8,1>UD 0x0121000c { sechalf }"),
    (G45, Rule::CompressedControl, "send(16) 15 g4<1>F g8<8,8,1>F 0x01110001 { compr }", "send(16) 14 g4<1>F g8<8,8,1>F 0x01110001 { compr }"),
    (G45, Rule::CompressedRegister, "send(16) 2 g4<1>F g9<8,8,1>F 0x01110001 { compr }", "send(16) 2 g4<1>F g8<8,8,1>F 0x01110001 { compr }"),
    (Gm965, Rule::CompressedControl, "send(16) 2 g4<1>F g8<8,8,1>F 0x01110001 { compr }", "send(8) 2 g4<1>F g8<8,8,1>F 0x01110001 { sechalf }"),
    (G45, Rule::CompressedNever, "sad2(16) g4<1>W g6<16,16,1>UB g8<16,16,1>UB { compr }", "sad2(16) g4<1>W g6<16,16,1>UB g8<16,16,1>UB"),
    (G45, Rule::CompressedRegister, "mov(16) g5<1>F g6<8,8,1>F { compr }", "mov(16) m5<1>F g6<8,8,1>F { compr }"),
    (G45, Rule::CompressedRegister, "mov(16) g4<1>F g7<8,8,1>F { compr }", "mov(16) g4<1>F g7<0,1,0>F { compr }"),
    (G45, Rule::CompressedByte, "mov(16) m4.4<1>F g6<8,8,1>F { compr }", "mov(16) m4<1>F g6<8,8,1>F { compr }"),
    (G45, Rule::CompressedByte, "mov(16) g4<1>F g6.4<4,4,1>F { compr }", "mov(16) g4<1>F g6<4,4,1>F { compr }"),
    (G45, Rule::CompressedPackedWords, "mov(16) g4<1>F g6.8<8,8,1>UW { compr }", "mov(16) g4<1>F g6<8,8,1>UW { compr }"),
    (G45, Rule::CompressedBytes, "mov(16) g4<1>F g6<8,8,1>UB { compr }", "mov(16) g4<1>F g6<16,8,2>UB { compr }"),
    (G45, Rule::CompressedArchitecture, "mov(16) g4<1>F f0<0,1,0>UW { compr }", "mov(16) g4<1>F acc0<8,8,1>F { compr }"),
    (G45, Rule::CompressedArchitecture, "mov(16) acc1<1>F g4<8,8,1>F { compr }", "mov(16) acc0<1>F g4<8,8,1>F { compr }"),
    (G45, Rule::CompressedIndex, "mov(16) g4<1>F g[a0.1]<8,8,1>F { compr }", "mov(16) g4<1>F g[a0.2]<8,8,1>F { compr }"),
    (Gm965, Rule::Compr4, "mov(16) m4<1>F g6<8,8,1>F { compr4 }", "mov(16) m4<1>F g6<8,8,1>F { compr }"),
    (Gm965, Rule::CompressedAccumulates, "mac(32) g4<1>W g6<16,16,1>W g8<16,16,1>W { compr }", "add(32) g4<1>W g6<16,16,1>W g8<16,16,1>W { compr }"),
    (G45, Rule::AccumulatorSecond, "add(8) g4<1>F g6<8,8,1>F acc0<8,8,1>F", "add(8) g4<1>F acc0<8,8,1>F g6<8,8,1>F"),
    (G45, Rule::AccumulatorModifier, "mov(8) g4<1>F -acc0<8,8,1>F", "mov(8) g4<1>F acc0<8,8,1>F"),
    (G45, Rule::AccumulatorSaturates, "mov.sat(8) acc0<1>F g4<8,8,1>F", "mov(8) acc0<1>F g4<8,8,1>F"),
    (G45, Rule::AccumulatorsDiffer, "add(8) acc1<1>F acc0<8,8,1>F g4<8,8,1>F", "add(8) acc0<1>F acc0<8,8,1>F g4<8,8,1>F"),
    (G45, Rule::AccumulatorSource, "mul(8) g4<1>F acc0<8,8,1>F g6<8,8,1>F", "add(8) g4<1>F acc0<8,8,1>F g6<8,8,1>F"),
    (G45, Rule::AccumulatorDestination, "rndd(8) acc0<1>F g4<8,8,1>F", "add(8) acc0<1>F g4<8,8,1>F g6<8,8,1>F"),
    (G45, Rule::AccumulatorDestination, "mov(8) acc0<1>F acc0<8,8,1>F", "mov(8) g4<1>F acc0<8,8,1>F"),
    (G45, Rule::VectorWords, "add(8) g4<1>W g6<8,8,1>D 0x00000011V", "add(8) g4<1>W g6<8,8,1>W 0x00000011V"),
    (G45, Rule::VectorDestination, "mov(4) g4.1<1>F 0x30VF", "mov(4) g4.4<1>F 0x30VF"),
    (G45, Rule::VectorDestination, "mov(8) g4<2>UW 0x00000011V", "mov(8) g4<1>UW 0x00000011V"),
    (G45, Rule::FloatSource, "frc(8) g4<1>F g6<8,8,1>D", "frc(8) g4<1>F g6<8,8,1>F"),
    (G45, Rule::IntegerSource, "and(8) g4<1>D g6<8,8,1>F g8<8,8,1>D", "and(8) g4<1>D g6<8,8,1>D g8<8,8,1>D"),
    (G45, Rule::IntegerSource, "shl(8) g4<1>F g6<8,8,1>D 1D", "shl(8) g4<1>D g6<8,8,1>D 1D"),
    (G45, Rule::DwordBesideFloat, "add(8) g4<1>F g6<8,8,1>F g8<8,8,1>D", "add(8) g4<1>F g6<8,8,1>F g8<8,8,1>W"),
    (G45, Rule::DwordToFloat, "mul(8) g4<1>F g6<8,8,1>D g8<8,8,1>D", "mul(8) g4<1>F g6<8,8,1>W g8<8,8,1>W"),
    (G45, Rule::DwordProductFlags, "mul.sat(8) g4<1>D g6<8,8,1>D g8<8,8,1>D", "mul(8) g4<1>D g6<8,8,1>D g8<8,8,1>D"),
    (G45, Rule::DwordProductFlags, "mul.nz.f0.0(8) g4<1>D g6<8,8,1>W g8<8,8,1>D", "mul.nz.f0.0(8) g4<1>D g6<8,8,1>W g8<8,8,1>W"),
    (G45, Rule::MacDword, "mac(8) g4<1>D g6<8,8,1>D g8<8,8,1>D", "mac(8) g4<1>F g6<8,8,1>F g8<8,8,1>F"),
    (G45, Rule::MachDword, "mach(8) g4<1>D g6<8,8,1>W g8<8,8,1>D", "mach(8) g4<1>D g6<8,8,1>D g8<8,8,1>D"),
    (G45, Rule::MachTypes, "mach(8) g4<1>UD g6<8,8,1>D g8<8,8,1>UD", "mach(8) g4<1>UD (abs)g6<8,8,1>D g8<8,8,1>UD"),
    (G45, Rule::MachTypes, "mach(8) g4<1>D g6<8,8,1>UD g8<8,8,1>D", "mach(8) g4<1>D g6<8,8,1>D g8<8,8,1>D"),
    (G45, Rule::NoSaturation, "or.sat(8) g4<1>D g6<8,8,1>D g8<8,8,1>D", "or(8) g4<1>D g6<8,8,1>D g8<8,8,1>D"),
    (G45, Rule::NoSaturation, "shl.sat(8) g4<1>D g6<8,8,1>D 1D", "shl.sat(8) g4<1>W g6<8,8,1>W 1W"),
    (G45, Rule::ConditionMissing, "cmp(8) g4<1>D g6<8,8,1>D g8<8,8,1>D", "cmp.l.f0.0(8) g4<1>D g6<8,8,1>D g8<8,8,1>D"),
    (G45, Rule::ComparisonDestination, "cmpn.l.f0.0(8) acc0<1>F g6<8,8,1>F g8<8,8,1>F", "cmpn.l.f0.0(8) null<1>F g6<8,8,1>F g8<8,8,1>F"),
    (G45, Rule::PredicateMissing, "sel(8) g4<1>F g6<8,8,1>F g8<8,8,1>F", "(+f0.0) sel(8) g4<1>F g6<8,8,1>F g8<8,8,1>F"),
    (G45, Rule::SelectBytes, "(+f0.0) sel(8) g4.1<2>UB g6<8,8,1>UW g8<8,8,1>UW", "(+f0.0) sel(8) g4.2<2>UB g6<8,8,1>UW g8<8,8,1>UW"),
    (G45, Rule::ShiftUnsigned, "shr(8) g4<1>UD g6<8,8,1>D 1UD", "shr(8) g4<1>UD (abs)g6<8,8,1>D 1UD"),
    (G45, Rule::ShiftUnsigned, "shr(8) g4<1>UD -g6<8,8,1>UD 1UD", "shr(8) g4<1>UD g6<8,8,1>UD 1UD"),
    (G45, Rule::LeadingZeros, "lzd(8) g4<1>UD g6<8,8,1>D", "lzd(8) g4<1>UD (abs)g6<8,8,1>D"),
    (G45, Rule::LeadingZeros, "lzd(8) g4<1>D g6<8,8,1>UD", "lzd(8) g4<1>UD g6<8,8,1>UD"),
    (G45, Rule::DotSize, "dp4(2) g4<1>F g6<2,2,1>F g8<2,2,1>F", "dp4(4) g4<1>F g6<4,4,1>F g8<4,4,1>F"),
    (G45, Rule::DotStride, "dp4(4) g4<1>F g6<8,4,2>F g8<4,4,1>F", "dp4(4) g4<1>F g6<4,4,1>F g8<4,4,1>F"),
    (G45, Rule::LineSize, "line(4) g4<1>F g6<0,1,0>F g8<4,4,1>F", "line(8) g4<1>F g6<0,1,0>F g8<8,8,1>F"),
    (G45, Rule::LineScalar, "line(8) g4<1>F g6<8,8,1>F g8<8,8,1>F", "line(8) g4<1>F g6.4<0,1,0>F g8<8,8,1>F"),
    (G45, Rule::LineSubregister, "line(8) g4<1>F g6.1<0,1,0>F g8<8,8,1>F", "line(8) g4<1>F g6.4<0,1,0>F g8<8,8,1>F"),
    (G45, Rule::DwordBesideFloat, "line(8) g4<1>F g6<0,1,0>F g8<8,8,1>D", "line(8) g4<1>F g6<0,1,0>F g8<8,8,1>W"),
    (G45, Rule::PlaneRegister, "pln(8) g4<1>F g6<0,1,0>F g9<8,8,1>F", "pln(8) g4<1>F g6<0,1,0>F g8<8,8,1>F"),
    (G45, Rule::MoviSource, "movi(8) g4<1>UB g6<8,8,1>UB", "movi(8) g4<1>UB g[a0]<1,1,0>UB"),
    (G45, Rule::MoviSource, "movi(8) g4<1>UB g[a0.2]<1,1,0>UB", "movi(8) g4<1>UB g[a0 2]<1,1,0>UB"),
    (G45, Rule::MoviAlign, "movi(8) g4.8<1>UB g[a0]<1,1,0>UB", "movi(8) g4.16<1>UB g[a0]<1,1,0>UB"),
    (G45, Rule::MoviSize, "movi(16) g4<1>UB g[a0]<1,1,0>UB", "movi(8) g4<1>UB g[a0]<1,1,0>UB"),
    (G45, Rule::SadTypes, "sad2(16) g4<1>W g6<16,16,1>W g8<16,16,1>UB", "sad2(16) g4<1>W g6<16,16,1>B g8<16,16,1>UB"),
    (G45, Rule::SadSize, "sada2(1) g4<1>W g6<0,1,0>UB g8<0,1,0>UB", "sada2(2) g4<1>W g6<2,2,1>UB g8<2,2,1>UB"),
    (G45, Rule::OneChannel, "jmpi(2) 4D", "jmpi(1) 4D { nomask }"),
    (G45, Rule::OneChannel, "push(2) ms0<1>UW mask0<0,1,0>UW", "push(1) ms0<1>UW mask0<0,1,0>UW"),
    (G45, Rule::NoPredicate, "(+f0.0) endif(8) Pop: 1", "endif(8) Pop: 1"),
    (G45, Rule::NoPredicate, "(+f0.0) wait(1) n0<1>UD", "wait(1) n0<1>UD"),
    (G45, Rule::StackTypes, "msave(1) ms0<1>UW mask0<0,1,0>W", "msave(1) ms0<1>UW mask0<0,1,0>UW"),
    (G45, Rule::BranchOperands, "if(8) Jump: 4 { dst(null<1>UD) }", "if(8) Jump: 4 { src0(ip) }"),
    (G45, Rule::NoCondition, "if.z.f0.0(8) Jump: 4", "if(8) Jump: 4"),
    (G45, Rule::NoCondition, "(+f0.0) sel.z.f0.0(8) g4<1>F g6<8,8,1>F g8<8,8,1>F", "(+f0.0) sel(8) g4<1>F g6<8,8,1>F g8<8,8,1>F"),
    (I965, Rule::JumpNoMask, "jmpi(1) 4D", "jmpi(1) 4D { nomask }"),
    (G45, Rule::PopCount, "endif(8) Pop: 2", "endif(8) Pop: 1"),
    (G45, Rule::PopCount, "break(8) Jump: 4 Pop: 13", "break(8) Jump: 4 Pop: 12"),
    (Gm965, Rule::PopCount, "cont(8) Jump: 4 Pop: 8", "cont(8) Jump: 4 Pop: 7"),
    (G45, Rule::SwitchMissing, "mov(1) mask0<1>UW 0xffUW { nomask }", "mov(1) mask0<1>UW 0xffUW { nomask switch }"),
    (G45, Rule::SwitchMissing, "mov(1) msd0<1>UD 0UD { nomask }", "mov(1) msd0<1>UD 0UD { nomask switch }"),
    (I965, Rule::SwitchMissing, "mov(1) g4<1>UD cr0<0,1,0>UD", "mov(1) g4<1>UD cr0<0,1,0>UD { switch }"),
    (G45, Rule::WaitRegister, "wait(1) f0<1>UD", "wait(1) n1<1>UD"),
    (G45, Rule::WaitRegister, "wait(1) n1<1>UD { src0(n0<0,1,0>UD) }", "wait(1) n0<1>UD"),
    (G45, Rule::MessageLength, "send(8) 2 null<1>UD g0<8,8,1>UD 0x07000000", "send(8) 2 null<1>UD g0<8,8,1>UD 0x07100000"),
    (G45, Rule::MessageRegisters, "send(8) 13 null<1>UD g0<8,8,1>UD 0x0640c400", "send(8) 12 null<1>UD g0<8,8,1>UD 0x0640c400"),
    (G45, Rule::ResponseLength, "send(8) 2 g4<1>UD g0<8,8,1>UD 0x0419a004", "send(8) 2 g4<1>UD g0<8,8,1>UD 0x0418a004"),
    (G45, Rule::ResponseMissing, "send(8) 2 g4<1>UD g0<8,8,1>UD 0x0640c400", "send(8) 2 null<1>UD g0<8,8,1>UD 0x0640c400"),
    (G45, Rule::MessageType, "send(8) 2 null<1>UB g0<8,8,1>UD 0x0640c400", "send(8) 2 null<1>UW g0<8,8,1>UD 0x0640c400"),
    (G45, Rule::MessageWords, "send(16) 2 g4<1>F g0<8,8,1>UD 0x02380001", "send(16) 2 g4<1>UW g0<8,8,1>UD 0x02380001"),
    (G45, Rule::MessageSource, "send(8) 2 g4<1>F g[a0]<8,8,1>F 0x01110001", "send(8) 2 g4<1>F null<8,8,1>F 0x01110001"),
    (G45, Rule::MessageSource, "send(8) 2 g4<1>F acc0<8,8,1>F 0x01110001", "send(8) 2 g4<1>F g6<8,8,1>F 0x01110001"),
    (G45, Rule::MessageNoDDChk, "send(8) 2 g4<1>F g6<8,8,1>F 0x01110001 { NoDDChk }", "send(8) 2 g4<1>F g6<8,8,1>F 0x01110001 { NoDDClr }"),
    (G45, Rule::Descriptor, "send(8) 2 g4<1>F g6<8,8,1>F 0x01110009", "send(8) 2 g4<1>F g6<8,8,1>F 0x01110001"),
    (I965, Rule::Descriptor, "send(8) 2 g4<1>UW g0<8,8,1>UW 0x02441000", "send(8) 2 g4<1>UW g0<8,8,1>UW 0x02442000"),
    (G45, Rule::EndDestination, "send(8) 2 acc0<1>UW g0<8,8,1>UW 0x87100000", "send(8) 2 null<1>UW g0<8,8,1>UW 0x87100000"),
    (G45, Rule::EndFunction, "send(8) 2 null<1>F g6<8,8,1>F 0x81100001", "send(8) 2 null<1>F g6<8,8,1>F 0x87100000"),
    (G45, Rule::MathLength, "send(8) 2 g4<1>F g6<8,8,1>F 0x0111000a", "send(8) 2 g4<1>F g6<8,8,1>F 0x0121000a"),
    (G45, Rule::SamplerLength, "send(8) 1 g4<1>UW g0<8,8,1>UW 0x02880001", "send(8) 1 g4<1>UW g0<8,8,1>UW 0x02980001"),
    (G45, Rule::DataLength, "send(8) 14 g4<1>UD g0<8,8,1>UD 0x04110300", "send(8) 14 g4<1>UD g0<8,8,1>UD 0x04120300"),
    (Gm965, Rule::DataLength, "send(8) 1 g4<1>UD g0<8,8,1>UD 0x04213300", "send(8) 1 g4<1>UD g0<8,8,1>UD 0x04323300"),
    (G45, Rule::DataLength, "send(8) 1 null<1>UD g0<8,8,1>UD 0x05203200", "send(8) 1 null<1>UD g0<8,8,1>UD 0x05303200"),
    (G45, Rule::DataLength, "send(8) 1 g4<1>UD g0<8,8,1>UD 0x05311000", "send(8) 1 g4<1>UD g0<8,8,1>UD 0x05319000"),
    (G45, Rule::UrbLength, "send(8) 1 null<1>UD g0<8,8,1>UD 0x0630e000", "send(8) 1 g4<1>UD g0<8,8,1>UD 0x0631e000"),
];

/// Programs: rule, the offset at which one breaks it, and the nearest that does not.
#[rustfmt::skip]
const PROGRAMS: &[(Rule, usize, &str, &str)] = &[
    (Rule::NativeAlign, 8, "pln(16) g6<1>F g4<0,1,0>F g8<8,8,1>F { compr compacted }; nop ;", "pln(16) g6<1>F g4<0,1,0>F g8<8,8,1>F { compr compacted }; nenop ; nop ;"),
    (Rule::NenopFirst, 0, "nenop ; nenop ;", "pln(16) g6<1>F g4<0,1,0>F g8<8,8,1>F { compr compacted }; nenop ;"),
    (Rule::WaitTwice, 16, "wait(1) n0<1>UD; wait(1) n0<1>UD;", "wait(1) n0<1>UD; nop ; wait(1) n0<1>UD;"),
    (Rule::CompressedSize, 16, "nop ; mov(8) g4<1>F g6<8,8,1>F { compr };", "nop ; mov(8) g4<1>F g6<8,8,1>F;"),
];

fn read(chip: Chip, text: &str) -> Decoded {
    let code = assemble(chip.machine(), text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut program = decode_program(chip.machine(), &code).expect("it was assembled");
    assert_eq!(program.len(), 1, "{text}");
    program.remove(0).1
}

/// Access modes stand in the options; the table leaves out the usual one.
#[test]
fn every_rule_has_a_breach_and_a_legal_neighbour() {
    let mut breached = BTreeSet::new();
    let mut wrong = Vec::new();
    for &(chip, rule, breach, neighbour) in RULES {
        breached.insert(rule);
        if admit(chip, &read(chip, breach)) != Err(rule) {
            wrong.push(format!("{rule:?}: {breach}: {:?}", admit(chip, &read(chip, breach))));
        }
        if let Err(other) = admit(chip, &read(chip, neighbour)) {
            wrong.push(format!("{rule:?}: {neighbour} breaks {other:?}"));
        }
    }
    for &(rule, offset, breach, neighbour) in PROGRAMS {
        breached.insert(rule);
        let asked = |text: &str| {
            let code = assemble(G45.machine(), text).expect(text);
            admit_program(G45, &decode_program(G45.machine(), &code).expect("assembled"))
        };
        if asked(breach) != Err((offset, rule)) || asked(neighbour) != Ok(()) {
            wrong.push(format!("{rule:?}: {breach}: {:?}, {:?}", asked(breach), asked(neighbour)));
        }
    }
    let missing: Vec<&Rule> = Rule::ALL.iter().filter(|rule| !breached.contains(rule)).collect();
    assert!(wrong.is_empty() && missing.is_empty(), "{}\n{missing:?}", wrong.join("\n"));
}

#[test]
fn every_rule_names_its_section() {
    for rule in Rule::ALL {
        let text = rule.to_string();
        assert!(text.contains('(') && text.ends_with(')'), "{rule:?}: {text}");
    }
}

/// Where compilers do what the manual forbids: ERRATA E22; and two words of their test suites, E23 and an odd
/// register that no compiler made.
const KNOWN: &[(Rule, &str)] = &[
    (Rule::SamplerLength, "mlen 8 rlen 4"),
    (Rule::NoSaturation, "frc.sat"),
    (Rule::CompressedRegister, "mov(16) m"),
];

#[test]
fn what_compilers_made_is_legal() {
    for (file, chip) in [
        ("golden/gen4.jsonl", Gm965),
        ("golden/gen45.jsonl", G45),
        ("golden/gen4-extra.jsonl", Gm965),
        ("golden/gen45-extra.jsonl", G45),
    ] {
        let Some(text) = foreign::text_or_skip(file) else { continue };
        let (mut all, mut known, mut wrong) = (0, 0, Vec::new());
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).expect("a JSON row");
            let source = row["source"].as_str().expect("a source");
            if !source.contains("crocus") && !source.contains("elk/tests") {
                continue;
            }
            let words = row["words"].as_array().expect("words").iter();
            let number = |word: &Value| {
                let digits = word.as_str().expect("a word").trim_start_matches("0x");
                u32::from_str_radix(digits, 16).expect("a hexadecimal word").to_le_bytes()
            };
            let code: Vec<u8> = words.flat_map(number).collect();
            let program = decode_program(chip.machine(), &code).expect("accepted");
            if row["kind"] == "program" {
                // Where instructions stand, whatever the words are.
                let placed = admit_program(chip, &program);
                let misplaced = matches!(
                    placed,
                    Err((_, Rule::NativeAlign | Rule::NenopFirst | Rule::WaitTwice))
                );
                assert!(!misplaced, "{}: {placed:?}", row["id"]);
            }
            for (_, decoded) in program {
                all += 1;
                let Err(rule) = admit(chip, &decoded) else { continue };
                let text = text_of(chip.machine(), &decoded);
                match KNOWN.iter().any(|(known, part)| *known == rule && text.contains(part)) {
                    true => known += 1,
                    false => wrong.push(format!("{rule:?}: {text}")),
                }
            }
        }
        assert!(wrong.is_empty(), "{file}: {} of {all}\n{}", wrong.len(), wrong.join("\n"));
        assert!(
            all > 2000 && known * 20 < all,
            "{file}: {known} of {all} are known to be forbidden"
        );
    }
}
