//! Where constants and uniforms end up in small functions.

use super::*;
use crate::inst::{FILES, Special};
use gpucc_ir::mach::VReg;

/// One block of these instructions; sources named `v` are results of an entry.
struct Case {
    func: Func<Inst>,
    block: Block,
    v: VReg,
}

impl Case {
    fn new() -> Case {
        let mut func = Func::new("case", FILES);
        let block = func.push_block();
        let v = func.make_vreg(Demand::scalar(GPR), Span::NONE);
        let entry = SmallVec::from_slice(&[(Reg::from(v), crate::inst::cell(60))]);
        func.push(block, Inst::Entry(entry), Span::NONE);
        Case { func, block, v }
    }

    fn push(&mut self, opcode: Opcode, sources: &[Src]) -> &mut Op {
        let dst = self.func.make_vreg(Demand::scalar(GPR), Span::NONE);
        let op = Op::new(opcode).from(sources).to(dst);
        self.func.push(self.block, Inst::Op(Box::new(op)), Span::NONE);
        match &mut self.func.blocks[self.block].nodes.last_mut().unwrap().inst {
            Inst::Op(op) => op,
            _ => unreachable!(),
        }
    }

    /// The body as text, after constants were resolved.
    fn run(self) -> String {
        let mut funcs = [self.func];
        run(&mut funcs, &mut Vec::new());
        gpucc_ir::mach::verify(&funcs[0]).unwrap();
        let text = crate::text::print(&funcs[0]);
        text.split_once("entry").unwrap().1.split_once('\n').unwrap().1.to_owned()
    }
}

fn body(build: impl FnOnce(&mut Case, Src)) -> String {
    let mut case = Case::new();
    let v = Src::Reg(case.v.into());
    build(&mut case, v);
    case.run()
}

#[test]
fn the_table_serves_as_it_is_negated_as_a_half_and_as_a_byte() {
    let fma = |bits: u32| {
        body(|case, v| {
            case.push(Opcode::FmaF32, &[v, Src::Bits(bits), Src::Bits(bits)]);
        })
    };
    assert_eq!(fma(0x3f80_0000).trim(), "v1 = FMA.f32 v0, 0x3f800000, 0x3f800000");
    assert_eq!(fma(0x8000_0000).trim(), "v1 = FMA.f32 v0, 0x0.neg, 0x0.neg");
    // 8.0 is a half of the table, -8.0 a negated one.
    assert_eq!(fma(0x4100_0000).trim(), "v1 = FMA.f32 v0, 0x48000000.h1, 0x48000000.h1");
    assert_eq!(fma(0xc100_0000).trim(), "v1 = FMA.f32 v0, 0x48000000.h1.neg, 0x48000000.h1.neg");
    let and = |bits: u32| {
        body(|case, v| {
            case.push(Opcode::LshiftAndI32, &[Src::Bits(bits), Src::Bits(0), v]);
        })
    };
    assert_eq!(and(0xff).trim(), "v1 = LSHIFT_AND.i32 0xffffffff.b0, 0x0, v0");
    assert_eq!(and(0xffff).trim(), "v1 = LSHIFT_AND.i32 0xffffffff.h0, 0x0, v0");
}

#[test]
fn signed_sources_extend_their_bytes_with_the_sign() {
    let compare = |opcode: Opcode, bits: u32| {
        body(|case, v| {
            case.push(opcode, &[v, Src::Bits(bits), Src::Bits(0)]);
        })
    };
    assert!(compare(Opcode::IcmpOrS32, 0xffff_fffe).contains("0xfafcfdfe.b0"));
    assert!(compare(Opcode::IcmpOrU32, 0xfe).contains("0xfafcfdfe.b0"));
    assert!(!compare(Opcode::IcmpOrU32, 0xffff_fffe).contains("0xfafcfdfe"));
}

#[test]
fn counts_of_shifts_are_bytes_of_the_table() {
    let text = body(|case, v| {
        case.push(Opcode::LshiftOrI32, &[v, Src::Bits(13), Src::Bits(0)]);
    });
    assert_eq!(text.trim(), "v1 = LSHIFT_OR.i32 v0, 0xf0e0d0c.b11, 0x0");
}

#[test]
fn additions_take_immediates() {
    let add = |opcode: Opcode, a: Src, b: Src| {
        body(|case, _| {
            case.push(opcode, &[a, b]);
        })
    };
    let v = Src::Reg(Case::new().v.into());
    let text = add(Opcode::IaddU32, v, Src::Bits(1234));
    assert_eq!(text.trim(), "v1 = IADD_IMM.i32 constant:0x4d2 v0");
    let text = add(Opcode::IsubU32, v, Src::Bits(1));
    assert_eq!(text.trim(), "v1 = IADD_IMM.i32 constant:0xffffffff v0");
    let text = add(Opcode::IsubU32, Src::Bits(77), v);
    assert!(text.contains("ISUB.u32 u0, v0"), "{text}");
    let text = add(Opcode::FaddF32, Src::Bits(2.75f32.to_bits()), v);
    assert_eq!(text.trim(), "v1 = FADD_IMM.f32 constant:0x40300000 v0");
    let text = add(Opcode::IsubV2u16, v, Src::Bits(0x0001_0000));
    assert_eq!(text.trim(), "v1 = IADD_IMM.v2i16 constant:0xffff0000 v0");
}

#[test]
fn what_modifies_the_other_source_keeps_the_addition_as_it_is() {
    let text = body(|case, v| {
        let op = case.push(Opcode::FaddF32, &[v, Src::Bits(2.75f32.to_bits())]);
        op.word = op.word.with(f::NEG0, 1);
    });
    assert!(text.contains("FADD.f32 v0.neg, u0"), "{text}");
}

#[test]
fn a_constant_outside_the_table_stands_in_a_word_of_the_uniforms() {
    let mut case = Case::new();
    let v = Src::Reg(case.v.into());
    case.push(Opcode::FmaF32, &[v, Src::Bits(0x1234_5678), v]);
    case.push(Opcode::FmaF32, &[Src::Bits(77), Src::Bits(0x1234_5678), v]);
    let (mut funcs, mut entries) = ([case.func], vec![FauWord::FirstVertex]);
    let map = run(&mut funcs, &mut entries);
    assert_eq!(map.len(), 2);
    let text = crate::text::print(&funcs[0]);
    assert!(!text.contains("IADD_IMM") && !text.contains("MOV"), "{text}");
    for entry in map.into_iter().flatten() {
        let word = entries[usize::from(entry.0)];
        assert!(matches!(word, FauWord::Constant(77 | 0x1234_5678)), "{word:?}");
    }
}

#[test]
fn a_third_word_is_moved_once_for_all_its_uses() {
    let text = body(|case, _| {
        for _ in 0..2 {
            case.push(Opcode::FmaF32, &[Src::Bits(11), Src::Bits(12), Src::Bits(99)]);
        }
    });
    assert_eq!(text.matches("IADD_IMM.i32").count(), 1, "{text}");
}

#[test]
fn constants_that_find_no_room_are_moved() {
    let mut case = Case::new();
    let v = Src::Reg(case.v.into());
    for k in 0..70 {
        case.push(Opcode::FmaF32, &[v, Src::Bits(1000 + k), v]);
    }
    let mut funcs = [case.func];
    let map = run(&mut funcs, &mut Vec::new());
    assert_eq!(map.len(), 64);
    let text = crate::text::print(&funcs[0]);
    assert_eq!(text.matches("IADD_IMM.i32").count(), 6, "{text}");
}

#[test]
fn moves_leave_loops_and_stand_above_all_their_uses() {
    let mut case = Case::new();
    let (header, after) = (case.func.push_block(), case.func.push_block());
    case.func.add_both_edges(case.block, header);
    case.func.add_both_edges(header, header);
    case.func.add_both_edges(header, after);
    let entry = std::mem::replace(&mut case.block, header);
    let three = [Src::Bits(11), Src::Bits(12), Src::Bits(99)];
    case.push(Opcode::FmaF32, &three);
    case.block = after;
    case.push(Opcode::FmaF32, &three);
    let mut funcs = [case.func];
    run(&mut funcs, &mut Vec::new());
    let constants = |block: Block| {
        let nodes = funcs[0].blocks[block].nodes.iter();
        nodes
            .filter(|node| node.inst.op().is_some_and(|op| op.opcode == Opcode::IaddImmI32))
            .count()
    };
    assert_eq!((constants(entry), constants(header), constants(after)), (1, 0, 0));
}

#[test]
fn uniforms_that_are_read_together_share_a_slot() {
    let mut case = Case::new();
    let v = Src::Reg(case.v.into());
    let fau = |n: u16| Src::Fau(FauRef(n));
    case.push(Opcode::FaddF32, &[fau(0), v]);
    case.push(Opcode::FmaF32, &[fau(1), fau(3), v]);
    case.push(Opcode::FmaF32, &[fau(0), fau(2), v]);
    let mut funcs = [case.func];
    let map = run(&mut funcs, &mut Vec::new());
    let word = |n: u16| map.iter().position(|&entry| entry == Some(FauRef(n))).unwrap();
    assert_eq!(word(1) / 2, word(3) / 2);
    assert_eq!(word(0) / 2, word(2) / 2);
    let text = crate::text::print(&funcs[0]);
    assert!(!text.contains("MOV"), "{text}");
}

#[test]
fn what_cannot_stand_together_is_moved() {
    let text = body(|case, v| {
        let lane = Src::Special(Special::LaneId, 0);
        case.push(Opcode::LshiftOrI32, &[lane, Src::Bits(2), v]);
    });
    assert!(text.contains("= MOV.i32 lane_id.w0"), "{text}");
    assert!(text.contains("LSHIFT_OR.i32 v2, 0x3020100.b22, v0"), "{text}");
}

#[test]
fn a_constant_of_64_bits_has_a_slot_of_its_own() {
    let mut case = Case::new();
    let v = Reg::virt(case.v);
    let op = case.push(Opcode::IaddU64, &[Src::Pair([v, v]), Src::Bits(1000)]);
    let second = op.dst[0];
    op.dst.push(second);
    let (mut funcs, mut entries) = ([case.func], Vec::new());
    let map = run(&mut funcs, &mut entries);
    assert_eq!(map, [Some(FauRef(0)), Some(FauRef(1))]);
    assert_eq!(entries, [FauWord::Constant(1000), FauWord::Constant(0)]);
}

#[test]
fn halves_become_singles_exactly() {
    for half in 0..=u16::MAX {
        let (exponent, mantissa) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
        if exponent == 31 {
            continue;
        }
        let magnitude = match exponent {
            0 => mantissa * 2f64.powi(-24),
            _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
        };
        let value = if half >> 15 == 1 { -magnitude } else { magnitude };
        assert_eq!(half_to_single(half), (value as f32).to_bits(), "{half:#06x}");
    }
}

#[test]
fn arithmetic_shifts_take_no_byte_with_a_sign_from_the_table() {
    let text = |opcode, bits| {
        body(|case, v| {
            case.push(opcode, &[Src::Bits(bits), v, Src::Bits(0)]);
        })
        .to_lowercase()
    };
    // The table has 0xfafcfdfe, whose bytes are negative or not as they are extended.
    assert!(!text(Opcode::ArshiftOrI32, 0xffff_fffc).contains("fafcfdfe"));
    assert!(!text(Opcode::ArshiftOrI32, 0xfc).contains("fafcfdfe"));
    assert!(text(Opcode::RshiftOrI32, 0xfc).contains("fafcfdfe"));
}

#[test]
fn a_constant_with_several_partners_stands_beside_each() {
    let [mask, one, two] = [0x1234_5678, 0x2345_6789, 0x3456_789a].map(Src::Bits);
    let text = body(|case, v| {
        case.push(Opcode::FmaF32, &[v, one, mask]);
        case.push(Opcode::FmaF32, &[v, two, mask]);
        case.push(Opcode::FmaF32, &[v, two, one]);
    });
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        ["v1 = FMA.f32 v0, u1, u0", "v2 = FMA.f32 v0, u3, u2", "v3 = FMA.f32 v0, u5, u4",],
        "{text}"
    );
}
