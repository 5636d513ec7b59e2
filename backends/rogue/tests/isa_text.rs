//! Text of groups: the page's example, what bytes and texts must do whatever they are, and messages.

use crate::foreign;
use gpucc_isa::{Inst, Table};
use gpucc_rogue::isa::group::{MainOps, Ops, Place};
use gpucc_rogue::isa::ops::{self, Main};
use gpucc_rogue::isa::program::decode_program;
use gpucc_rogue::isa::{Group, GroupError, assemble, decode, disassemble, encode};

/// The example of the Main Instruction Group page.
const EXAMPLE: &str = "\
0 : if (p0)
 mul ft0, s0, s1 # phase 0 instruction\x20
 mad ft1, s3, s4, s5 # ft1 drives w1 by default, second to last phase present
 mul ft2, is0, ft0 # ft2 drives w0 by default, last phase present
 tstz.f32 ftt, p0, is1 # test instruction always drives feedthrough ftt
\x20
 # p0 write optional
 movc w0,w1, ftt, ft0, ft1 # ft1 or ft0 output to w0 (overrides default)
 uvsw w0 # backend instruction
";

#[test]
fn the_pages_example_comes_back_as_it_was() {
    let bytes = assemble(EXAMPLE).expect("the example assembles");
    assert_eq!(disassemble(&bytes).as_deref(), Ok(EXAMPLE));
    let program = decode_program(&bytes).expect("what was assembled");
    let [(0, group)] = program.as_slice() else { panic!("one group: {program:?}") };
    let Ops::Main(ops) = &group.ops else { panic!("a main group: {group:?}") };
    assert!(ops.documented().is_some(), "it is marked as the documented example");
    if let Some(page) = foreign::text_or_skip("seeds/004_d473518c078729b6.txt") {
        assert!(page.contains(EXAMPLE), "the page's text is another one");
    }
}

/// A group a line of the text below.
const PROGRAM: &str = "\
0 :
 s0 = r4, s1 = sc1, s3 = sc0
 is0 = s1, is1 = fte, is4 = ft0
 mbyp ft0, s0
 mbyp ft1, s3.neg
 tst.u32.z ftt, p0, is1, _
 movc w0, _, ftt, ft1, is4, _, _
 w0 = r0
1 : if (!p0) olchk
 s0 = sh1, s1 = vi2, s2 = cf3, s3 = r4, s4 = vi5, s5 = sc64
 is4 = ft0, is5 = ft1
 fmad.sat ft0, s0.abs.neg, s1, s2.flr
 fmul ft1, s3.abs, s4.abs
 w0 = po1, w1 = i3
2 : (ignorepe)
 s0 = r14
 cndst.if(!p0) pe, w0, s0, 2
 w0 = r14
3 :
 br.allinst @5
4 :
 s0 = r0, s1 = r1, s2 = r2, s3 = r3, s4 = sc5
 msk_lsl.cbs ft0, ft1, ft2, s0, s1, s2
 logical.or ft4, ft1, ft2, ~ft1, s3
 shift.asr_mtb.nz ft5, ft4, s4, p0
 w0 = cf3[idx0]
5 :
 ditrp.sample.f16.cf(idx1) r8, drc1, cf20, cf0, 16
6 :
 wdf drc1
7 : end
 nop
";

#[test]
fn a_program_comes_back_as_it_was_written() {
    let bytes = assemble(PROGRAM).expect("the program assembles");
    assert_eq!(disassemble(&bytes).as_deref(), Ok(PROGRAM));
    let program = decode_program(&bytes).expect("what was assembled");
    let (last, _) = program.last().expect("groups");
    assert!(
        [*last, bytes.len()].iter().all(|at| at.is_multiple_of(8)),
        "the last group lies in lines of its own"
    );
}

#[test]
fn the_last_phase_drives_w0_and_the_one_before_it_w1() {
    for (short, whole) in [
        (
            "mbyp ft0, s0\n fmul ft1, s3, s4\n w0 = r0, w1 = r1",
            "is4 = ft1, is5 = ft0\n mbyp ft0, s0\n fmul ft1, s3, s4\n w0 = r0, w1 = r1",
        ),
        (
            "mbyp ft0, s0\n pck.u32 ft2, is3\n w0 = r0",
            "is4 = ft2\n mbyp ft0, s0\n pck.u32 ft2, is3\n w0 = r0",
        ),
        (
            "mbyp ft0, s0\n w0 = r0, w1 = r1",
            "is4 = ft0, is5 = ft0\n mbyp ft0, s0\n w0 = r0, w1 = r1",
        ),
    ] {
        let [short, whole] =
            [short, whole].map(|lines| assemble(&format!("0 :\n {lines}\n")).expect(lines));
        assert_eq!(short, whole);
    }
}

/// Numbers that look random: xorshift.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// 32 bytes whose header says something that may exist.
fn random(numbers: &mut Numbers) -> [u8; 32] {
    let mut bytes = [0; 32];
    for byte in &mut bytes {
        let value = numbers.next() >> 11;
        // Many zeros, for reserved bits must be 0.
        *byte = if value & 3 == 0 {
            (value >> 8) as u8
        } else {
            (value >> 8 & value >> 16 & value >> 24) as u8
        };
    }
    bytes
}

#[test]
fn whatever_is_a_group_comes_back_from_bytes_and_from_text() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut seen = 0;
    for _ in 0..10_000 {
        let mut bytes = random(&mut numbers);
        // Every length and every decode assist: one of them fits most bodies.
        for first in 0..=255u8 {
            bytes[0] = first;
            let padded = usize::from(first & 15).wrapping_sub(1) % 16 + 1;
            let Ok((group, taken)) = decode(&bytes) else { continue };
            seen += 1;
            assert_eq!(taken, 2 * padded);
            let code = &bytes[..taken];
            assert_eq!(encode(&group).as_deref(), Ok(code), "{group:?}");
            let text = disassemble(code).expect("a group");
            assert_eq!(assemble(&text).as_deref(), Ok(code), "{text}");
        }
    }
    assert!(seen > 1_000, "only {seen} groups");
}

#[test]
fn texts_that_are_wrong_say_where() {
    for (text, message) in [
        ("mbyp ft0, s0", "line 1, column 1: expected the number of a group and `:`"),
        ("0 : atoms\n nop", "line 1, column 5: a group has no attribute `atoms`"),
        ("1 :\n nop", "line 1, column 1: group 0 is numbered `1`"),
        ("0 :\n mbip ft0, s0", "line 2, column 2: there is no operation `mbip`"),
        ("0 :\n mbyp ft3, s0", "line 2, column 7: expected `ft0`, found `ft3`"),
        ("0 :\n fmul.abs ft0, s0, s1", "line 2, column 7: fmul has no modifier `abs`"),
        ("0 :\n fmul ft0, s0, s1.neg", "line 2, column 16: s1 has no modifier `neg`"),
        ("0 :\n s0 = r2048\n mbyp ft0, s0", "line 2, column 7: there is no register `r2048`"),
        ("0 :\n is3 = ft2\n mbyp ft0, s0", "line 2, column 8: is3 cannot be `ft2`"),
        ("0 :\n mbyp ft1, s3", "line 1, column 1: no group has these phases together"),
        (
            "0 :\n mbyp ft0, s0\n nop",
            "line 1, column 1: the main ALU, the bitwise ALU and control do not stand in one group",
        ),
        (
            "0 :\n tst.f32.z ftt, _, is1, _\n mbyp ft0, s0",
            "line 3, column 2: operations stand in the order of phases, a test before a move, the backend last",
        ),
        ("0 :\n tst.z ftt, _, is1, _", "line 2, column 2: tst lacks its TYPE"),
        ("0 :\n br @2", "line 1, column 1: there is no group 2"),
        ("0 :\n br +3", "line 2, column 5: groups begin at even bytes"),
        ("0 :\n s3 = r0, s0 = r1\n ld s3, drc0, 17, s0", "line 3, column 15: the count is 1 to 16"),
        (
            "0 :\n s0 = r1\n wop",
            "line 1, column 1: the group says something of sources, selectors or destinations that its bytes have no place for",
        ),
        (
            "0 :\n ditr.pixel r0, drc0, cf3, 1",
            "line 2, column 23: the register's number is a multiple of 4",
        ),
        ("0 :", "line 1, column 1: a group has an operation"),
        ("0 : repeat(5)\n mbyp ft0, s0", "line 1, column 12: a group repeats 1 to 4 times"),
        (
            "0 : end\n wdf drc0",
            "line 1, column 1: a control group neither repeats nor is atomic, and `nop` alone ends a program",
        ),
    ] {
        let error = assemble(text).expect_err(text);
        assert_eq!(error.to_string(), message, "{text}");
    }
}

/// A group that has an operation in a place, and what the place needs beside it.
fn group_of(place: Place, inst: Inst) -> Group {
    let byp = Inst::usual(Main::Mbyp.op());
    let mut main = MainOps::default();
    let ops = match place {
        Place::Control => Ops::Control(inst),
        Place::Bitwise0 => Ops::Bitwise([Some(inst), None, None]),
        Place::Bitwise1 => Ops::Bitwise([None, Some(inst), None]),
        Place::Bitwise2 => Ops::Bitwise([None, None, Some(inst)]),
        place => {
            *match place {
                Place::P0 => &mut main.p0,
                Place::P1 => {
                    main.p0 = Some(byp);
                    &mut main.p1
                }
                Place::Pack => &mut main.pack,
                Place::Test => &mut main.test,
                Place::Move => &mut main.mov,
                _ => &mut main.backend,
            } = Some(inst);
            Ops::Main(main)
        }
    };
    Group::new(ops)
}

#[test]
fn every_value_of_every_field_comes_back_from_bytes_and_from_text() {
    let places: [(&Table, &[Place]); 9] = [
        (&ops::MAIN, &[Place::P0, Place::P1]),
        (&ops::PACK, &[Place::Pack]),
        (&ops::TEST, &[Place::Test]),
        (&ops::MOVE, &[Place::Move]),
        (&ops::BACKEND, &[Place::Backend]),
        (&ops::BITWISE0, &[Place::Bitwise0]),
        (&ops::BITWISE1, &[Place::Bitwise1]),
        (&ops::BITWISE2, &[Place::Bitwise2]),
        (&ops::CONTROL, &[Place::Control]),
    ];
    let mut seen = 0;
    for (table, places) in places {
        for (op, place) in table.rows().flat_map(|op| places.iter().map(move |place| (op, *place)))
        {
            let free = op.format.fields().filter(|field| !op.is_fixed(field));
            for field in free.filter(|field| field.name != "P2END") {
                let most = if field.width() == 32 { u32::MAX } else { (1 << field.width()) - 1 };
                let values = (0..=most.min(63)).chain([most / 3, most - 1, most]);
                for value in values.filter(|&value| field.accepts(value)) {
                    // The least value of a field that has no 0.
                    let mut inst = Inst::usual(op);
                    for other in op.format.checked().filter(|other| !op.is_fixed(other)) {
                        let least = (0..4).find(|&value| other.accepts(value)).expect("a value");
                        if !other.accepts(inst.get(other.id)) {
                            inst = inst.with(other.id, least);
                        }
                    }
                    let group = group_of(place, inst.with(field.id, value));
                    let code = encode(&group).expect("a group");
                    assert_eq!(
                        decode(&code),
                        Ok((group, code.len())),
                        "{} {}",
                        op.name,
                        field.name
                    );
                    let text = disassemble(&code).expect("a group");
                    assert_eq!(assemble(&text).as_ref(), Ok(&code), "{text}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 3_000, "only {seen} values");
}

#[test]
fn an_extension_needs_the_ones_before_it() {
    let code = assemble("0 :\n s4 = r0\n smp.2d.tao.bias.f16 s4, drc0, s0, s1, s2, s3, 4\n")
        .expect("text");
    // The second byte of the operation says which bytes follow: bit 4 the third, bit 7 the fourth.
    let at = code.iter().position(|byte| *byte == 0xe4).expect("the operation") + 1;
    assert_eq!(code[at] & 0x90, 0x90);
    let mut gap = code;
    gap[at] &= !0x10;
    assert_eq!(decode(&gap), Err(GroupError::Extension("smp")));
}

#[test]
fn the_start_of_fuzzing_is_a_program() {
    let text = include_str!("../../../fuzz/seeds/rogue.s");
    let code = assemble(text).unwrap_or_else(|error| panic!("{error}"));
    let back = disassemble(&code).expect("a program");
    assert_eq!(assemble(&back).as_ref(), Ok(&code));
}
