use super::Bench;

const ONE: u32 = 0x3F80_0000;

/// Registers 0 to 6 with numbers of both widths.
pub fn floats() -> Bench {
    Bench::new()
        .float(0, 1.5)
        .float(1, -2.0)
        .float(2, 0.25)
        .reg(3, 0xC000_3C00) // halves 1, -2
        .reg(4, 0x4200_3800) // halves 0.5, 3
        .reg(5, 0x8000_0001)
        .reg(6, 0x1234_5678)
}

fn f32_of(text: &str) -> f32 {
    f32::from_bits(floats().result(&format!("{text}\nNOP.end"), 9))
}

fn word_of(text: &str) -> u32 {
    floats().result(&format!("{text}\nNOP.end"), 9)
}

#[test]
fn floats_add_multiply_and_clamp() {
    for (text, value) in [
        ("FADD.f32 r9, r0, r1", -0.5),
        ("FADD.f32 r9, r0, r1.neg", 3.5),
        ("FADD.f32 r9, r0, r1.abs", 3.5),
        ("FADD.f32 r9, r0, r1.neg.abs", -0.5),
        ("FADD.f32.clamp_0_1 r9, r0, r0", 1.0),
        ("FADD.f32.clamp_0_inf r9, r0, r1", 0.0),
        ("FADD.f32.clamp_m1_1 r9, r1, r1", -1.0),
        ("FMA.f32 r9, r0, r1, r2", -2.75),
        ("FMA.f32 r9, r0, r1, r2.neg", -3.25),
        ("FADD.f32 r9, r0, r3.h1", -0.5),
        ("FADD.f32 r9, r0, r3.h0", 2.5),
        ("FADD_IMM.f32 r9, r0, #0x40000000", 3.5),
        ("FMIN.f32 r9, r0, r1", -2.0),
        ("FMAX.f32 r9, r0, r1", 1.5),
        ("FROUND.f32.rtn r9, r1", -2.0),
        ("FROUND.f32.rtp r9, r0", 2.0),
        ("FRCP.f32 r9, r1", -0.5),
        ("FRSQ.f32 r9, r2", 2.0),
        ("F16_TO_F32 r9, r4.h1", 3.0),
        ("S32_TO_F32 r9, r5", -2_147_483_648.0),
        ("U32_TO_F32 r9, r5", 2_147_483_648.0),
        ("CSEL.f32.lt r9, r1, r0, r2, r0", 0.25),
        ("FMA_RSCALE.f32 r9, r0, r1, r2, 0x3020100", f32::NAN),
    ] {
        if value.is_nan() {
            continue;
        }
        assert_eq!(f32_of(text), value, "{text}");
    }
}

#[test]
fn halves_are_swizzled_and_computed_apart() {
    // 1 + 0.5, -2 + 3.
    assert_eq!(word_of("FADD.v2f16 r9, r3, r4"), 0x3C00_3E00);
    // 1 + 3, -2 + 0.5.
    assert_eq!(word_of("FADD.v2f16 r9, r3, r4.h10"), 0xBE00_4400);
    // -2 * 3 + 1, both halves.
    assert_eq!(word_of("FMA.v2f16 r9, r3.h11, r4.h11, r3.h00"), 0xC500_C500);
    assert_eq!(word_of("V2F32_TO_V2F16 r9, r0, r1"), 0xC000_3E00);
    assert_eq!(word_of("FMAX.v2f16 r9, r3, r4"), 0x4200_3C00);
}

#[test]
fn integers_add_with_every_width_and_saturate_by_their_sign() {
    for (text, value) in [
        ("IADD.u32 r9, r5, r5", 2),
        ("IADD.s32.sat r9, r5, r5", 0x8000_0000),
        ("IADD.u32.sat r9, r5, r5", u32::MAX),
        ("ISUB.u32 r9, r6, r5", 0x9234_5677),
        ("IADD.u32 r9, r5, r6.b1", 0x8000_0057),
        ("IADD.s32 r9, r5, r6.h0", 0x8000_5679),
        ("IADD.v2u16 r9, r6, r5", 0x9234_5679),
        ("IADD.v4u8 r9, r6, r6", 0x2468_ACF0),
        ("IADD_IMM.i32 r9, r6, #0x10", 0x1234_5688),
        ("IADD_IMM.i32 r9, 0x0, #0xDEADBEEF", 0xDEAD_BEEF),
        ("IMUL.i32 r9, r6, 0x3020100.b3", 0x369D_0368),
        ("HADD.u32 r9, r5, r6", 0x491A_2B3C),
        ("CLZ.u32 r9, r6", 3),
        ("POPCOUNT.i32 r9, r6", 13),
        ("BITREV.i32 r9, r5", 0x8000_0001),
        ("IABS.s32 r9, r5", 0x7FFF_FFFF),
        ("MKVEC.v2i16 r9, r6.h10, r6.h00", 0x5678_1234),
        ("MKVEC.v2i8 r9, r6.b3, r6.b0, r5", 0x0001_7812),
    ] {
        assert_eq!(word_of(text), value, "{text}");
    }
}

#[test]
fn shifts_take_their_count_from_a_byte_and_join_the_third_source() {
    for (text, value) in [
        ("LSHIFT_OR.i32 r9, r6, 0x7060504.b00, 0x0", 0x2345_6780),
        ("LSHIFT_OR.i32 r9, r6, 0x7060504.b11, 0x0", 0x468A_CF00),
        ("RSHIFT_OR.i32 r9, r5, 0x7060504.b00, 0x0", 0x0800_0000),
        ("ARSHIFT_OR.i32 r9, r5, 0x7060504.b00, 0x0", 0xF800_0000),
        ("LSHIFT_AND.i32 r9, r6, 0x0.b00, r5", 0),
        ("LSHIFT_AND.i32 r9, r6, 0x0.b00, r5.not", 0x1234_5678),
        ("LSHIFT_XOR.i32 r9, r6, 0x0.b00, r5", 0x9234_5679),
        ("LSHIFT_OR.i32.not_result r9, r6, 0x0.b00, r5", 0x6DCB_A986),
        ("LSHIFT_OR.v2i16 r9, r6, 0x7060504.b00, 0x0", 0x2340_6780),
        ("LSHIFT_OR.i32 r9, r6.b1, 0x7060504.b00, 0x0", 0x560),
    ] {
        assert_eq!(word_of(text), value, "{text}");
    }
}

#[test]
fn comparisons_say_true_as_they_are_told_and_join_a_third_source() {
    for (text, value) in [
        ("FCMP_OR.f32.lt.m1 r9, r1, r0, 0x0", u32::MAX),
        ("FCMP_OR.f32.lt.i1 r9, r1, r0, 0x0", 1),
        ("FCMP_OR.f32.lt.f1 r9, r1, r0, 0x0", ONE),
        ("FCMP_OR.f32.gt.m1 r9, r1, r0, 0x0", 0),
        ("ICMP_OR.s32.lt.m1 r9, r5, r6, 0x0", u32::MAX),
        ("ICMP_OR.u32.lt.m1 r9, r5, r6, 0x0", 0),
        ("ICMP_AND.u32.lt.m1 r9, r6, r5, 0xFFFFFFFF", u32::MAX),
        ("ICMP_AND.u32.lt.m1 r9, r6, r5, 0x0", 0),
        ("ICMP_OR.u32.gt.m1 r9, r6, r5, 0xFFFFFFFF", u32::MAX),
        ("FCMP_OR.v2f16.lt.m1 r9, r3, r4, 0x0", 0xFFFF_0000),
        ("MUX.i32 r9, r0, r1, 0x0", 0x3FC0_0000),
        ("MUX.i32 r9, r0, r1, r6", 0xC000_0000),
        ("MUX.i32.bit r9, r6, 0x0, 0x3020100", 0x0200_0000),
        ("CSEL.s32.lt r9, r5, r6, r0, r1", 0x3FC0_0000),
        ("CSEL.u32.lt r9, r5, r6, r0, r1", 0xC000_0000),
    ] {
        assert_eq!(word_of(text), value, "{text}");
    }
    // NaN is different from everything and ordered with nothing.
    let mut bench = floats().float(7, f32::NAN);
    for (cmp, value) in [("ne", 1), ("eq", 0), ("gtlt", 0), ("total", 0)] {
        let text = format!("FCMP_OR.f32.{cmp}.i1 r9, r7, r0, 0x0\nNOP.end");
        assert_eq!(bench.result(&text, 9), value, "{cmp}");
    }
}

#[test]
fn numbers_of_64_bits_stand_in_pairs() {
    let mut bench = Bench::new()
        .reg(0, 0xFFFF_FFFF)
        .reg(1, 1)
        .reg(2, 2)
        .reg(3, 0)
        .reg(4, 0x8000_0000)
        .reg(5, 0x8000_0001);
    for (text, low, high) in [
        ("IADD.u64 r10, r0, r2", 1, 2),
        ("ISUB.u64 r10, r2, r0", 3, 0xFFFF_FFFE),
        ("SHADDX.u64 r10, r0, r2.w0, shift:0x2", 7, 2),
        ("SHADDX.s64 r10, r2, r4.w0, shift:0x1", 2, 0xFFFF_FFFF),
        ("IMULD.u64 r10, r0.w0, r2.w0", 0xFFFF_FFFE, 1),
        ("LSHIFT_OR.i64 r10, r0, 0x7060504.b00, 0x0", 0xFFFF_FFF0, 0x1F),
        ("RSHIFT_OR.i64 r10, r4, 0x7060504.b00, 0x0", 0x1800_0000, 0x0800_0000),
        ("ARSHIFT_OR.i64 r10, r4, 0x7060504.b00, 0x0", 0x1800_0000, 0xF800_0000),
    ] {
        let text = format!("{text}\nNOP.end");
        assert_eq!(bench.result(&text, 10), low, "{text}");
        assert_eq!(bench.result(&text, 11), high, "{text}");
    }
}

#[test]
fn a_comparison_of_64_bits_takes_two_instructions() {
    // 0x1_0000_0005 < 0x1_0000_0007, and not the other way round.
    for (low, other, expected) in [(5, 7, u32::MAX), (7, 5, 0), (5, 5, 0)] {
        let mut bench = Bench::new().reg(0, low).reg(1, 1).reg(2, other).reg(3, 1);
        let text = "ICMP_MULTI.u32.lt.u1 r4, r0, r2, 0x0
                    ICMP_MULTI.u32.lt.m1 r5, r1, r3, r4
                    NOP.end";
        assert_eq!(bench.result(text, 5), expected);
    }
}

#[test]
fn lanes_look_at_each_other() {
    let text = "CLPER.i32.subgroup4.xor r1, r0, 0x3020100.b11
                CLPER.i32.subgroup16 r2, r0, 0x7060504.b00
                NOP.end";
    let warp = Bench::new().lane_numbers(0).run(text).unwrap_or_else(|trap| panic!("{trap}"));
    for lane in 0..16usize {
        assert_eq!(warp.regs[1].word.v[lane], lane as u32 ^ 1);
        assert_eq!(warp.regs[2].word.v[lane], 4);
    }
}

#[test]
fn a_lane_that_does_not_run_gives_the_instructions_own_answer() {
    let mut bench = Bench::new().lane_numbers(0);
    bench.lanes = 0x7;
    let warp = bench
        .run("WMASK.subgroup16 r2, 0xFFFFFFFF\nNOP.end")
        .unwrap_or_else(|trap| panic!("{trap}"));
    assert_eq!(warp.regs[2].word.v[0], 7);
}

#[test]
fn cubes_take_the_face_of_the_largest_coordinate() {
    let mut bench = Bench::new().float(0, 0.5).float(1, -3.0).float(2, 1.0);
    assert_eq!(f32::from_bits(bench.result("CUBEFACE1 r4, r0, r1, r2\nNOP.end", 4)), 3.0);
    // -y is face 3.
    assert_eq!(bench.result("CUBEFACE2_V9 r4, r0, r1, r2\nNOP.end", 4), 3 << 29);
    let text =
        "CUBEFACE2_V9 r4, r0, r1, r2\nCUBE_SSEL r5, r2, r0, r4\nCUBE_TSEL r6, r1, r2, r4\nNOP.end";
    assert_eq!(f32::from_bits(bench.result(text, 5)), 0.5);
    assert_eq!(f32::from_bits(bench.result(text, 6)), -1.0);
}

#[test]
fn exponentials_and_logarithms_are_their_sequences() {
    let exp2 = "FMA_RSCALE.f32 r1, r0, 0x3F800000, 0x0.neg, r7
                F32_TO_S32 r2, r1
                FEXP.f32 r3, r2, r1
                NOP.end";
    let mut bench = Bench::new().float(0, 3.0).reg(7, 24);
    assert_eq!(f32::from_bits(bench.result(exp2, 3)), 8.0);
    let log2 = "FLOGD.f32 r1, r0
                FADD_LSCALE.f32 r2, r7, r0
                FREXPE.f32.log r3, r0
                S32_TO_F32 r3, r3
                FMA.f32 r4, r1, r2, r3
                NOP.end";
    let mut bench = Bench::new().float(0, 8.0).float(7, -1.0);
    assert_eq!(f32::from_bits(bench.result(log2, 4)), 3.0);
}

#[test]
fn a_half_result_leaves_the_other_half_open() {
    let mut bench = Bench::new().reg(0, 0x4000).reg(1, 0x4400_4400);
    let warp = bench.run("FRCP.f16 r1, r0.h00\nNOP.end").unwrap_or_else(|trap| panic!("{trap}"));
    assert_eq!(warp.regs[1].word.v[0] & 0xFFFF, 0x3800);
    assert_eq!(warp.regs[1].word.poison[2], 0xFFFF);
    assert_eq!(warp.regs[1].word.poison[0], 0);
}
