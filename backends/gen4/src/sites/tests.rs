//! Flips that mean nothing, each beside one that does.

use super::places;
use crate::isa::fields::f;
use crate::isa::{Machine, assemble};
use gpucc_isa::FieldId;

/// What follows a word so that its result is read: a write of r10, r12 and m5, and the end of the thread.
const READ: &str = "
    mov(8) m2<1>UD g10<8,8,1>UD { align1 };
    mov(8) m3<1>UD g12<8,8,1>UD { align1 };
    send(16) 1 null<1>UW g0<8,8,1>UW 0x055033ff write MsgDesc: mlen 5 rlen 0 { align1 };
    send(16) 1 null<1>UW g0<8,8,1>UW 0x87100000 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 EOT };";

/// Whether a flip of the word after so many others has a meaning, in a program that [`READ`] follows.
fn means(text: &str, at: usize, field: FieldId, value: u32, whole: bool) -> bool {
    let text = format!("{text}{READ}");
    let code = assemble(Machine::G45, &text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let places = places(Machine::G45, &code, whole);
    assert!(places.len() > at, "{text}");
    let place = &places[at].1;
    let format = place.decoded.inst.op().format;
    place.has_meaning(format.field(field).expect("a field of the format"), value)
}

/// A word whose flip means nothing, and one whose does.
type Pair = (FieldId, u32, &'static str, &'static str);

const PAIRS: &[Pair] = &[
    // Integers of one type are within its range.
    (
        f::SATURATE,
        1,
        "(+f0.0) sel(8) g10<1>UD g2<8,8,1>UD 7UD { align1 };",
        "(+f0.0) sel(8) g10<1>UD g2<8,8,1>D 7D { align1 };",
    ),
    (
        f::SATURATE,
        1,
        "mov(8) g10<1>D g2<8,8,1>D { align1 };",
        "mov(8) g10<1>D -g2<8,8,1>D { align1 };",
    ),
    (
        f::SATURATE,
        1,
        "mov(8) g10<1>F 0x3f800000F { align1 };",
        "mov(8) g10<1>F 0x3f800001F { align1 };",
    ),
    (
        f::SATURATE,
        1,
        "mov(8) g10<1>F 0x30003000VF { align1 };",
        "mov(8) g10<1>F 0x80VF { align1 };",
    ),
    // Floats become integers within the range.
    (
        f::SATURATE,
        1,
        "mov(8) g10<1>D g2<8,8,1>F { align1 };",
        "mov(8) g10<1>F g2<8,8,1>F { align1 };",
    ),
    // 0 beside a float is 0 in any type.
    (
        f::SRC1_TYPE,
        2,
        "add(8) g10<1>F g2<8,8,1>F 0x0F { align1 };",
        "add(8) g10<1>F g2<8,8,1>F 0x3f800000F { align1 };",
    ),
    // Without a mask, a flag and an accumulator there are no halves.
    (
        f::COMPR_CTRL,
        1,
        "add(8) g10<1>F g16<8,8,1>UW -g1<0,1,0>F { align1 nomask };",
        "add(8) g10<1>F g16<8,8,1>UW -g1<0,1,0>F { align1 };",
    ),
    // The end of a thread has no lanes.
    (
        f::EXEC_SIZE,
        3,
        "send(16) 1 null<1>UW g0<8,8,1>UW 0x87100000 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 EOT };",
        "mov(16) g10<1>UD g2<8,8,1>UD { align1 compr };",
    ),
    // Numbers without a sign bit, counts, and 0.
    (
        f::SRC1_TYPE,
        1,
        "cmp.l.f0.0(8) g10<1>UD g2<8,8,1>UD 7UD { align1 };",
        "cmp.l.f0.0(8) g10<1>UD g2<8,8,1>UD 0x80000007UD { align1 };",
    ),
    (
        f::SRC1_TYPE,
        1,
        "shr(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 };",
        "cmp.l.f0.0(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 };",
    ),
    (
        f::SRC1_TYPE,
        5,
        "add(8) g10<1>F g2<8,8,1>F 0x0F { align1 };",
        "add(8) g10<1>F g2<8,8,1>F 0x1F { align1 };",
    ),
    (f::DST_TYPE, 1, "mov(8) g10<1>F 0x0F { align1 };", "mov(8) g10<1>F 0x3f800000F { align1 };"),
    // Low bits of words.
    (
        f::SRC0_TYPE,
        3,
        "add(8) g10<2>UW g2<16,8,2>UW g3<16,8,2>UW { align1 };",
        "add(8) g10<1>UD g2<16,8,2>UW g3<16,8,2>UW { align1 };",
    ),
    // What nobody reads.
    (
        f::DST_TYPE,
        7,
        "cmp.l.f0.0(8) null<1>UD g2<8,8,1>UD 7UD { align1 };",
        "cmp.l.f0.0(8) g10<1>UD g2<8,8,1>UD 7UD { align1 };",
    ),
    (
        f::DST_FILE,
        2,
        "mov(8) null<1>UD g8<8,8,1>UD { align1 nomask };",
        "mov(8) g10<1>UD g8<8,8,1>UD { align1 nomask };",
    ),
    (
        f::PRED_CTRL,
        8,
        "mov(8) null<1>UD g8<8,8,1>UD { align1 nomask };",
        "mov(8) g10<1>UD g8<8,8,1>UD { align1 nomask };",
    ),
    (
        f::COMPR_CTRL,
        1,
        "mov(8) null<1>UD g8<8,8,1>UD { align1 nomask };",
        "mov.nz.f0.0(8) null<1>UD g8<8,8,1>UD { align1 nomask };\n(+f0.0) mov(8) g10<1>UD 1UD { align1 };",
    ),
    // The operand of extended math moves to a message register that nobody reads, or to one that somebody does.
    (
        f::MRF,
        9,
        "send(8) 15 g10<1>F g2<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1 { align1 };",
        "send(8) 14 g10<1>F g2<8,8,1>F 0x0121000a math MsgDesc: pow mlen 2 rlen 1 { align1 };",
    ),
    (
        f::MRF,
        9,
        "send(8) 15 g10<1>F g2<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1 { align1 };",
        "send(8) 15 g10<1>F null<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1 { align1 };",
    ),
    // A message's channels are 8 or 16.
    (
        f::DST_TYPE,
        2,
        "send(8) 1 g10<1>UD g0<8,8,1>UD 0x04217200 read MsgDesc: DWord Scattered Read MsgCtrl = 0x2 Surface = 0 mlen 2 rlen 1 { align1 };",
        "send(16) 1 g10<1>UW g0<8,8,1>UW 0x04327300 read MsgDesc: DWord Scattered Read MsgCtrl = 0x3 Surface = 0 mlen 3 rlen 2 { align1 };",
    ),
    (
        f::SRC0_TYPE,
        1,
        "send(8) 1 g10<1>UD g0<8,8,1>UD 0x04217200 read MsgDesc: DWord Scattered Read MsgCtrl = 0x2 Surface = 0 mlen 2 rlen 1 { align1 };",
        "send(8) 15 g10<1>F g2<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1 { align1 };",
    ),
];

#[test]
fn what_changes_nothing_is_left_out_and_its_neighbour_is_not() {
    for (field, value, same, other) in PAIRS {
        assert!(!means(same, 0, *field, *value, true), "{same}");
        // Of the types of this pair the value is another number's.
        let value = if other.contains("send(16)") { 0 } else { *value };
        assert!(means(other, 0, *field, value, true), "{other}");
    }
}

#[test]
fn the_mask_matters_where_lanes_wait_or_never_began() {
    let add = "add(8) g10<1>D g10<8,8,1>D 1D { align1 };";
    let alone = add.replace("align1", "align1 nomask");
    assert!(!means(add, 0, f::MASK_CTRL, 1, true));
    assert!(!means(&alone, 0, f::MASK_CTRL, 0, true));
    // A pixel that was not dispatched lacks what nobody reads, but a header's words and what all lanes read.
    assert!(!means(&alone, 0, f::MASK_CTRL, 0, false));
    let header = "mov(8) m2<1>UD g1<8,8,1>UD { align1 nomask };
send(16) 1 null<1>UW g0<8,8,1>UW 0x85a04800 write MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0 { align1 EOT };";
    assert!(means(header, 0, f::MASK_CTRL, 0, false));
    let read = format!("{alone}\nadd(8) g12<1>D g12<8,8,1>D g10.3<0,1,0>D {{ align1 }};");
    assert!(means(&read, 0, f::MASK_CTRL, 0, false));
    let arm = format!("(+f0.0) iff(8) Jump: 3;\n{add}\nendif(8) Pop: 1;");
    assert!(means(&arm, 1, f::MASK_CTRL, 1, true));
    // All lanes leave a loop together where they compare what is one for all.
    let end = |bound: &str| {
        format!(
            "do(8);\n{add}\ncmp.l.f0.0(8) null<1>UD {bound} 7UD {{ align1 }};\n(+f0.0) while(8) Jump: -2;"
        )
    };
    assert!(!means(&end("g4<0,1,0>UD"), 1, f::MASK_CTRL, 1, true));
    assert!(means(&end("g4<8,8,1>UD"), 1, f::MASK_CTRL, 1, true));
    // One loop's breaks are not those of the loop around it.
    let broken = |before: &str, behind: &str| {
        format!(
            "do(8);\n{before}do(8);\n(+f0.0) break(8) Jump: 2;\nwhile(8) Jump: -1;\n{add}\n{behind}cmp.l.f0.0(8) null<1>UD g4<0,1,0>UD 7UD {{ align1 }};\n(+f0.0) while(8) Jump: -5;"
        )
    };
    assert!(!means(&broken("", ""), 4, f::MASK_CTRL, 1, true));
    let left = broken("", "(+f0.0) break(8) Jump: 3;\n").replace("Jump: -5", "Jump: -6");
    assert!(means(&left, 4, f::MASK_CTRL, 1, true));
}

#[test]
fn a_predicate_that_is_known_may_be_another_one() {
    let arm = |pred: &str, made: &str, inner: &str| {
        format!(
            "({pred}f0.0) iff(8) Jump: 4;\n{made}\n{inner}mov(8) g10<1>UD 1UD {{ align1 }};\nendif(8) Pop: 1;"
        )
    };
    let nop = "mov(8) g12<1>UD 2UD { align1 };";
    let cmp = "cmp.l.f0.0(8) null<1>UD g2<8,8,1>UD 7UD { align1 };";
    for any in [1, 4, 6, 8] {
        assert!(!means(&arm("+", nop, ""), 2, f::PRED_CTRL, any, true), "{any}");
    }
    for all in [5, 7, 9] {
        assert!(means(&arm("+", nop, ""), 2, f::PRED_CTRL, all, true), "{all}");
        // The flag is 0 for these lanes: not all are 1.
        assert!(!means(&arm("-", nop, "(-f0.0) "), 2, f::PRED_CTRL, all, true), "{all}");
    }
    assert!(means(&arm("-", nop, ""), 2, f::PRED_CTRL, 1, true));
    assert!(means(&arm("+", cmp, ""), 2, f::PRED_CTRL, 1, true));
}
