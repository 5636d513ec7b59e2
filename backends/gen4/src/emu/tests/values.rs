//! What instructions compute, worked out by hand. Every opcode that computes stands here once at least.

use super::{Bench, Dice};
use crate::emu::decode::Opcode;
use crate::emu::float::{self, Exact};
use crate::emu::{Model, Rule};

const DENORMAL: f32 = f32::from_bits(0x0000_0123);
const NAN: u32 = 0x7fc0_0000;
const INF: f32 = f32::INFINITY;

/// g2, g3: floats; g4, g5: dwords; g6, g7: words; g8: bytes.
fn bench(model: Model) -> Bench {
    Bench::new(model)
        .floats(2, [1.5, -2.25, 0.0, -0.0, INF, -INF, f32::NAN, DENORMAL])
        .floats(3, [2.0, 3.0, -0.0, -0.0, 1.0, INF, 1.0, 2.0])
        .register(4, [7, -7i32 as u32, 0x7fff_ffff, 0x8000_0000, 0, 1, 0x1_2345, 0xffff_0001])
        .register(5, [3, 3, 1, 1, 5, 31, 33, 2])
        .words(6, [1, 2, 0xffff, 0x8000, 0x7fff, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
        .words(7, [3, 3, 2, 1, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xfff0])
        .register(8, [0x0403_0201, 0xff80_7f05, 0x0000_0010, 0, 0, 0, 0, 0])
}

fn bits(values: [f32; 8]) -> [u32; 8] {
    values.map(f32::to_bits)
}

/// An instruction that writes g10, and the double words of it.
fn cases() -> Vec<(&'static str, [u32; 8])> {
    let quiet = f32::from_bits(NAN);
    let int = |values: [i32; 8]| values.map(|value| value as u32);
    vec![
        // Raw moves keep every bit; others flush, negate, convert.
        (
            "mov(8) g10<1>F g2<8,8,1>F { align1 };",
            bits([1.5, -2.25, 0.0, -0.0, INF, -INF, f32::NAN, DENORMAL]),
        ),
        (
            "mov(8) g10<1>F -g2<8,8,1>F { align1 };",
            bits([-1.5, 2.25, -0.0, 0.0, -INF, INF, quiet, -0.0]),
        ),
        ("mov(8) g10<1>D g2<8,8,1>F { align1 };", int([1, -2, 0, 0, i32::MAX, i32::MIN, 0, 0])),
        ("mov(8) g10<1>UD g2<8,8,1>F { align1 };", [1, 0, 0, 0, u32::MAX, 0, 0, 0]),
        (
            "mov.sat(8) g10<1>F g2<8,8,1>F { align1 };",
            bits([1.0, 0.0, 0.0, -0.0, 1.0, 0.0, 0.0, 0.0]),
        ),
        // 0x7fffffff has 31 bits; 24 are kept, toward zero.
        (
            "mov(8) g10<1>F g4<8,8,1>D { align1 };",
            bits([7.0, -7.0, 2147483520.0, -2147483648.0, 0.0, 1.0, 74565.0, -65535.0]),
        ),
        ("mov(8) g10<1>D g6<8,8,1>W { align1 };", int([1, 2, -1, -32768, 32767, 5, 6, 7])),
        ("mov(8) g10<1>UD g8<8,8,1>B { align1 };", int([1, 2, 3, 4, 5, 127, -128, -1])),
        // 0x30 is 1.0, 0x48 is 3.0, 0xa8 is -0.75, 0 is 0.
        (
            "mov(8) g10<1>F 0x00a84830VF { align1 };",
            bits([1.0, 3.0, -0.75, 0.0, 1.0, 3.0, -0.75, 0.0]),
        ),
        (
            "mov(16) g10<1>W 0xf7654321V { align1 };",
            [
                0x0002_0001,
                0x0004_0003,
                0x0006_0005,
                0xffff_0007,
                0x0002_0001,
                0x0004_0003,
                0x0006_0005,
                0xffff_0007,
            ],
        ),
        // Sums toward zero. -0 and -0 is -0; inf and -inf is no number.
        (
            "add(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 };",
            bits([3.5, 0.75, 0.0, -0.0, INF, quiet, quiet, 2.0]),
        ),
        (
            "add(8) g10<1>D g4<8,8,1>D g5<8,8,1>D { align1 };",
            [10, -4i32 as u32, 0x8000_0000, 0x8000_0001, 5, 32, 0x1_2366, 0xffff_0003],
        ),
        (
            "add.sat(8) g10<1>D g4<8,8,1>D g5<8,8,1>D { align1 };",
            [10, -4i32 as u32, 0x7fff_ffff, 0x8000_0001, 5, 32, 0x1_2366, 0xffff_0003],
        ),
        (
            "add(8) g10<1>F g6<8,8,1>W g3<8,8,1>F { align1 };",
            bits([3.0, 5.0, -1.0, -32768.0, 32768.0, INF, 7.0, 9.0]),
        ),
        // Infinity by zero is no number; a denormal is zero.
        (
            "mul(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 };",
            bits([3.0, -6.75, -0.0, 0.0, INF, -INF, quiet, 0.0]),
        ),
        // The low half of the first, unsigned: 7 3, 0xfff9 3, 0xffff 1, 0 1, 0 5, 1 31, 0x2345 33, 1 2.
        (
            "mul(8) g10<1>D g4<8,8,1>D g5<8,8,1>D { align1 };",
            [21, 0x2_ffeb, 0xffff, 0, 0, 31, 0x2345 * 33, 2],
        ),
        // 7 by 1, -7 by 2, the largest by -1, the least by -32768, and so on; the low dword.
        (
            "mul(8) g10<1>D g6<8,8,1>W g4<8,8,1>D { align1 };",
            [7, -14i32 as u32, 0x8000_0001, 0, 0, 5, 6 * 0x1_2345, 0xfff9_0007],
        ),
        (
            "avg(8) g10<1>D g4<8,8,1>D g5<8,8,1>D { align1 };",
            int([5, -2, 0x4000_0000, -0x3fff_ffff, 3, 16, 0x91b3, -32766]),
        ),
        // The fraction is never negative; of infinities there is none.
        (
            "frc(8) g10<1>F g2<8,8,1>F { align1 };",
            bits([0.5, 0.75, 0.0, 0.0, quiet, quiet, quiet, 0.0]),
        ),
        (
            "rndd(8) g10<1>F g2<8,8,1>F { align1 };",
            bits([1.0, -3.0, 0.0, -0.0, INF, -INF, quiet, 0.0]),
        ),
        // The other three round down too, and say in the flag what is missing.
        (
            "rndu.r.f0.0(8) g10<1>F g2<8,8,1>F { align1 };\n(+f0.0) add(8) g10<1>F g10<8,8,1>F 1.0F { align1 };",
            bits([2.0, -2.0, 0.0, -0.0, INF, -INF, quiet, 0.0]),
        ),
        (
            "rnde.r.f0.0(8) g10<1>F g2<8,8,1>F { align1 };\n(+f0.0) add(8) g10<1>F g10<8,8,1>F 1.0F { align1 };",
            bits([2.0, -2.0, 0.0, -0.0, INF, -INF, quiet, 0.0]),
        ),
        (
            "rndz.r.f0.0(8) g10<1>F g2<8,8,1>F { align1 };\n(+f0.0) add(8) g10<1>F g10<8,8,1>F 1.0F { align1 };",
            bits([1.0, -2.0, 0.0, -0.0, INF, -INF, quiet, 0.0]),
        ),
        ("lzd(8) g10<1>UD g4<8,8,1>UD { align1 };", [29, 0, 1, 0, 32, 31, 15, 0]),
        ("lzd(8) g10<1>UD (abs)g4<8,8,1>D { align1 };", [29, 29, 1, 0, 32, 31, 15, 16]),
        // A macro of three: the high and the low dword of 64 bits.
        (
            "mul(8) acc0<1>D g4<8,8,1>D g5<8,8,1>D { align1 };\nmach(8) g10<1>D g4<8,8,1>D g5<8,8,1>D { align1 };",
            int([0, -1, 0, -1, 0, 0, 0, -1]),
        ),
        (
            "mul(8) acc0<1>D g4<8,8,1>D g5<8,8,1>D { align1 };\nmach(8) g11<1>D g4<8,8,1>D g5<8,8,1>D { align1 };\nmov(8) g10<1>D acc0<8,8,1>D { align1 };",
            int([21, -21, 0x7fff_ffff, i32::MIN, 0, 31, 0x1_2345 * 33, -131070]),
        ),
        (
            "mul(8) acc0<1>UD g4<8,8,1>UD g5<8,8,1>UD { align1 };\nmach(8) g10<1>UD g4<8,8,1>UD g5<8,8,1>UD { align1 };",
            [0, 2, 0, 0, 0, 0, 0, 1],
        ),
        // 1.5 2 and then 1.5 2: the accumulator holds the first product.
        (
            "mul(8) g11<1>F g2<8,8,1>F g3<8,8,1>F { align1 };\nmac(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 };",
            bits([6.0, -13.5, -0.0, 0.0, INF, -INF, quiet, 0.0]),
        ),
        (
            "mul(16) g11<1>W g6<16,16,1>W g7<16,16,1>W { align1 };\nmac(16) g10<1>W g6<16,16,1>W g7<16,16,1>W { align1 };",
            // Twice 3, 6, -2, -32768, 32767, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, -240.
            [
                0x000c_0006,
                0x0000_fffc,
                0x0032_fffe,
                0x0062_0048,
                0x00a2_0080,
                0x00f2_00c8,
                0x0152_0120,
                0xfe20_0188,
            ],
        ),
        ("and(8) g10<1>UD g4<8,8,1>UD 0xffUD { align1 };", [7, 0xf9, 0xff, 0, 0, 1, 0x45, 1]),
        (
            "or(8) g10<1>UD g4<8,8,1>UD g5<8,8,1>UD { align1 };",
            [7, 0xffff_fffb, 0x7fff_ffff, 0x8000_0001, 5, 31, 0x1_2365, 0xffff_0003],
        ),
        (
            "xor(8) g10<1>UD g4<8,8,1>UD g5<8,8,1>UD { align1 };",
            [4, 0xffff_fffa, 0x7fff_fffe, 0x8000_0001, 5, 30, 0x1_2364, 0xffff_0003],
        ),
        (
            "not(8) g10<1>UD g4<8,8,1>UD { align1 };",
            [!7, 6, 0x8000_0000, 0x7fff_ffff, !0, !1, !0x1_2345, 0xfffe],
        ),
        // Five bits of the count: 33 is 1.
        (
            "shl(8) g10<1>UD g4<8,8,1>UD g5<8,8,1>UD { align1 };",
            [56, 0xffff_ffc8, 0xffff_fffe, 0, 0, 0x8000_0000, 0x2_468a, 0xfffc_0004],
        ),
        (
            "shr(8) g10<1>UD g4<8,8,1>UD g5<8,8,1>UD { align1 };",
            [0, 0x1fff_ffff, 0x3fff_ffff, 0x4000_0000, 0, 0, 0x91a2, 0x3fff_c000],
        ),
        (
            "asr(8) g10<1>D g4<8,8,1>D g5<8,8,1>D { align1 };",
            [0, -1i32 as u32, 0x3fff_ffff, 0xc000_0000, 0, 0, 0x91a2, 0xffff_c000],
        ),
        // Within words 33 bits are kept: 0x7fff by 2 saturates.
        (
            "shl.sat(16) g10<1>W g6<16,16,1>W 1W { align1 };",
            [
                0x0004_0002,
                0x8000_fffe,
                0x000a_7fff,
                0x000e_000c,
                0x0012_0010,
                0x0016_0014,
                0x001a_0018,
                0x001e_001c,
            ],
        ),
        (
            "cmp.ge.f0.0(8) g11<1>D g4<8,8,1>D g5<8,8,1>D { align1 };\n(+f0.0) sel(8) g10<1>D g4<8,8,1>D g5<8,8,1>D { align1 };",
            int([7, 3, i32::MAX, 1, 5, 31, 0x1_2345, 2]),
        ),
        // A minimum: the number where the other is none.
        (
            "cmpn.l.f0.0(8) null<1>F g2<8,8,1>F g3<8,8,1>F { align1 };\n(+f0.0) sel(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 };",
            bits([1.5, -2.25, -0.0, -0.0, 1.0, -INF, 1.0, DENORMAL]),
        ),
        // p u + q with p of element 0 and q of element 3: 1.5 u - 0.
        (
            "line(8) g10<1>F g2<0,1,0>F g6<8,8,1>W { align1 };",
            bits([1.5, 3.0, -1.5, -49152.0, 49150.5, 7.5, 9.0, 10.5]),
        ),
        // p u + q v + r: 1.5 u - 2.25 v - 0 with u of g12 and v of g13.
        (
            "mov(8) g12<1>F g6<8,8,1>W { align1 };\nmov(8) g13<1>F g7<8,8,1>W { align1 };\npln(8) g10<1>F g2<0,1,0>F g12<8,8,1>F { align1 };",
            bits([-5.25, -3.75, -6.0, -49154.25, 49148.25, -3.75, -4.5, -5.25]),
        ),
    ]
}

#[test]
fn every_result_is_the_one_by_hand() {
    for (text, expected) in cases() {
        let ended = bench(Model::G45).run(text);
        let found = ended.words(10);
        assert_eq!(
            found.map(|word| format!("{word:08x}")),
            expected.map(|word| format!("{word:08x}")),
            "{text}"
        );
    }
}

#[test]
fn differences_go_to_the_first_of_two_channels() {
    let text = "sad2(8) g10<1>UW g8<8,8,1>UB g8.8<0,1,0>UB { align1 };";
    let ended = bench(Model::G45).run(text);
    // |1-16| + |2-16|, |3-16| + |4-16|, |5-16| + |127-16|, |128-16| + |255-16|.
    let register = ended.thread.general(10);
    let even = |word: usize| register.words[word] & 0xffff;
    assert_eq!([even(0), even(1), even(2), even(3)], [29, 25, 122, 351]);
    assert_eq!(register.undefined & 0xffff, 0xcccc, "odd words are undefined");
    let text = format!("{text}\nsada2(8) g10<1>UW g8<8,8,1>UB g8.8<0,1,0>UB {{ align1 }};");
    let ended = bench(Model::G45).run(&text);
    assert_eq!(ended.thread.general(10).words[0] & 0xffff, 58);
}

#[test]
fn dot_products_are_rounded_once() {
    let bench = || {
        Bench::new(Model::G45)
            .floats(2, [1.0, 2.0, 3.0, 4.0, 1e30, 1.0, -1e30, 0.5])
            .floats(3, [5.0, 6.0, 7.0, 8.0, 1e30, 1.0, 1e30, 2.0])
    };
    for (name, first, second) in [
        ("dp4", 70.0, 2.0),
        ("dph", 5.0 + 12.0 + 21.0 + 8.0, 3.0),
        ("dp3", 38.0, 1.0),
        ("dp2", 17.0, INF),
    ] {
        let text = format!("{name}(8) g10<1>.xyzwF g2<4>.xyzwF g3<4>.xyzwF {{ align16 }};");
        let found = bench().run(&text).floats(10);
        assert_eq!(found, [first, first, first, first, second, second, second, second], "{name}");
    }
}

#[test]
fn sums_are_rounded_toward_zero() {
    let tiny = f32::from_bits(1 << 23);
    let below_one = f32::from_bits(0x3f7f_ffff);
    let ended = Bench::new(Model::I965)
        .floats(2, [1.0, -1.0, 16777216.0, f32::MAX, f32::MAX, tiny, 1.0, 3.0])
        .floats(3, [-1e-20, 1e-20, 1.0, 1e20, f32::MAX, -tiny, tiny, 0.1])
        .run("add(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 };\nmul(8) g11<1>F g2<8,8,1>F g3<8,8,1>F { align1 };");
    assert_eq!(ended.floats(10), [below_one, -below_one, 16777216.0, f32::MAX, INF, 0.0, 1.0, 3.1]);
    let product = 3.0f64 * f64::from(0.1f32);
    assert!(f64::from(ended.floats(11)[7]) <= product);
    assert_eq!(
        ended.floats(11)[5].to_bits(),
        0x8000_0000,
        "what is too small is a zero of its sign"
    );
}

#[test]
fn the_alternative_mode_knows_no_infinity() {
    let mut bench = Bench::new(Model::G45).floats(2, [f32::MAX; 8]).floats(3, [INF; 8]);
    bench.alternate = true;
    let ended = bench.run(
        "mul(8) g10<1>F g2<8,8,1>F -g2<8,8,1>F { align1 };\nadd(8) g11<1>F g2<8,8,1>F g3<8,8,1>F { align1 };",
    );
    assert_eq!(ended.floats(10), [-f32::MAX; 8]);
    assert_eq!(ended.undefined(11), !0, "an infinity goes in: nothing is known");
}

#[test]
fn conditions_are_those_of_the_stored_result() {
    let cases = [
        ("z", 0b0000_1100),
        ("nz", 0b1111_0011),
        ("g", 0b0001_0001),
        ("ge", 0b0001_1101),
        ("l", 0b0010_0010),
        ("le", 0b0010_1110),
        ("u", 0b1100_0000),
        ("o", 0),
    ];
    for (name, expected) in cases {
        let text = format!(
            "add.{name}.f0.1(8) null<1>F g2<8,8,1>F -0.0F {{ align1 }};\nmov(1) g10<1>UD 0UD {{ align1 nomask }};\nmov(1) g10<1>UW f0.1<0,1,0>UW {{ align1 nomask }};"
        );
        let ended = Bench::new(Model::G45)
            .floats(2, [1.5, -2.25, 0.0, -0.0, INF, -INF, f32::NAN, f32::NAN])
            .run(&text);
        let found = ended.thread.general(10).words[0] & 0xff;
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn comparisons_write_one_bit() {
    let ended = bench(Model::G45).run(
        "cmp.l.f0.0(8) g10<1>D g4<8,8,1>D g5<8,8,1>D { align1 };\nand(8) g11<1>D g10<8,8,1>D 1D { align1 };",
    );
    assert_eq!(ended.words(11), [0, 1, 0, 1, 1, 1, 0, 1]);
    assert_eq!(ended.undefined(10), !0, "the other bits are undefined");
}

#[test]
fn what_is_undefined_moves_and_ends_at_what_decides() {
    let text = "add(8) g10<1>F g12<8,8,1>F g3<8,8,1>F { align1 };\nand(8) g11<1>UD g12<8,8,1>UD 0x00ff0000UD { align1 };";
    let ended = bench(Model::G45).undefined(12).run(text);
    assert_eq!(ended.undefined(10), !0);
    assert_eq!(ended.undefined(11), 0x4444_4444, "a zero that is known is known");
    let text = "cmp.z.f0.0(8) null<1>F g12<8,8,1>F g3<8,8,1>F { align1 };\n(+f0.0) mov(8) g10<1>F g3<8,8,1>F { align1 };";
    assert_eq!(bench(Model::G45).undefined(12).breaks(text), Rule::Undefined);
}

#[test]
fn no_opcode_is_left_without_a_test() {
    let mut tested: Vec<String> = cases()
        .iter()
        .flat_map(|(text, _)| text.lines())
        .map(|line| {
            line.trim_start_matches("(+f0.0) ").split(['(', '.']).next().unwrap_or("").to_string()
        })
        .collect();
    tested.extend(["sad2", "sada2", "dp4", "dph", "dp3", "dp2"].map(String::from));
    // `regions` executes these, `messages` SEND, `rules` ILLEGAL.
    tested.extend(["movi", "nop", "nenop", "send", "illegal"].map(String::from));
    let missing: Vec<Opcode> = Opcode::ALL
        .iter()
        .copied()
        .filter(|opcode| !super::flow::OPCODES.contains(opcode))
        .filter(|opcode| !tested.contains(&format!("{opcode:?}").to_lowercase()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_does_not_fit_its_type_overflows() {
    for (text, expected) in [
        ("mov.o.f0.0(8) g10<2>W g4<8,8,1>D { align1 };", 0b1100_1100),
        ("shl.o.f0.0(8) g10<1>D g4<8,8,1>D 1D { align1 };", 0b0000_1100),
        ("add.o.f0.0(8) g10<1>D g4<8,8,1>D 1D { align1 };", 0b0000_0100),
        ("mul.o.f0.0(8) g10<1>F g3<8,8,1>F 3.0e38F { align1 };", 0b1000_0011),
    ] {
        let text = format!("{text}\nmov(1) g11<1>UD f0.0<0,1,0>UW {{ align1 nomask }};");
        let found = bench(Model::G45).run(&text).thread.general(11).words[0] & 0xff;
        assert_eq!(found, expected, "{text}");
    }
}

/// A float of up to 24 bits and a small exponent, and its value in units of 2^-33.
fn small(dice: &mut Dice) -> (f32, i128) {
    let mantissa = dice.next() as u32 >> (8 + dice.below(23));
    let shift = dice.below(20) as i32;
    let value = mantissa as f32 * 2f32.powi(shift - 33);
    let units = i128::from(mantissa) << shift;
    if dice.below(2) == 0 { (value, units) } else { (-value, -units) }
}

/// The float next to a number of units of 2^-66 toward zero.
fn toward_zero(units: i128) -> f32 {
    let magnitude = units.unsigned_abs();
    let spare = (128 - magnitude.leading_zeros()).saturating_sub(24);
    let kept = (magnitude >> spare) as f32 * 2f32.powi(spare as i32 - 66);
    if units < 0 { -kept } else { kept }
}

#[test]
fn sums_of_products_are_those_of_wide_integers() {
    let mut dice = Dice(5);
    for _ in 0..200_000 {
        let mut sum = Exact::of(0.0);
        let mut units = 0;
        let mut last: Option<((f32, i128), (f32, i128))> = None;
        for _ in 0..1 + dice.below(5) {
            let (a, b) = (small(&mut dice), small(&mut dice));
            // What cancels the term before, now and then, but for its last bits.
            let (a, b) = match last {
                Some(((x, n), b)) if dice.below(3) == 0 => ((-x, -n), b),
                _ => (a, b),
            };
            last = Some((a, b));
            sum = sum.plus(&Exact::product(a.0, b.0));
            units += a.1 * b.1;
        }
        let (found, overflow) = sum.rounded();
        assert_eq!(found, toward_zero(units), "{sum:?}");
        assert!(!overflow);
    }
}

#[test]
fn integers_become_floats_toward_zero() {
    let mut dice = Dice(6);
    for _ in 0..100_000 {
        let value = dice.next() as i64 >> dice.below(64);
        let found = float::of_int(value);
        assert!(found.abs() as i128 <= i128::from(value).abs(), "{value}");
        if value.unsigned_abs() < 1 << 24 {
            assert_eq!(i128::from(value), found as i128);
        } else {
            let next = f32::from_bits(found.abs().to_bits() + 1);
            assert!(next as i128 > i128::from(value).abs(), "{value}");
        }
        assert_eq!(found < 0.0, value < 0);
    }
}

#[test]
fn comparisons_of_what_is_no_number_follow_their_tables() {
    let value = [1.0, NAN_VALUE, 1.0, NAN_VALUE, 1.0, 2.0, 1.0, -0.0];
    let other = [1.0, 1.0, NAN_VALUE, NAN_VALUE, 2.0, 1.0, 1.0, 0.0];
    // By channel from bit 0: equal, first none, second none, both none, less, greater, equal, zeros.
    for (name, condition, expected) in [
        ("cmp", "z", 0b1100_0001),
        ("cmp", "nz", 0b0011_1110),
        ("cmp", "g", 0b0010_0000),
        ("cmp", "ge", 0b1110_0001),
        ("cmp", "l", 0b0001_0000),
        ("cmp", "le", 0b1101_0001),
        ("cmpn", "z", 0b1100_1101),
        ("cmpn", "nz", 0b0011_0010),
        ("cmpn", "g", 0b0010_1100),
        ("cmpn", "ge", 0b1110_1101),
        ("cmpn", "l", 0b0001_1100),
        ("cmpn", "le", 0b1101_1101),
    ] {
        let text = format!(
            "{name}.{condition}.f0.0(8) null<1>F g2<8,8,1>F g3<8,8,1>F {{ align1 }};\nmov(1) g11<1>UD f0.0<0,1,0>UW {{ align1 nomask }};"
        );
        let ended = Bench::new(Model::G45).floats(2, value).floats(3, other).run(&text);
        let found = ended.thread.general(11).words[0] & 0xff;
        assert_eq!(found, expected, "{name}.{condition} {found:08b}");
    }
}

const NAN_VALUE: f32 = f32::from_bits(NAN);

#[test]
fn rounding_says_what_is_to_be_added() {
    let source = [2.5, 3.5, -2.5, 0.5, -0.5, 2.75, 70000.5, -3.0];
    // Words cannot hold 70000.5: the increment is none then.
    for (name, expected) in
        [("rndu", 0b0011_1111), ("rnde", 0b0011_0110), ("rndz", 0b0001_0100), ("rndd", 0)]
    {
        let text = format!(
            "{name}.r.f0.0(8) g10<2>W g2<8,8,1>F {{ align1 }};\nmov(1) g11<1>UD f0.0<0,1,0>UW {{ align1 nomask }};"
        );
        let ended = Bench::new(Model::G45).floats(2, source).run(&text);
        let found = ended.thread.general(11).words[0] & 0xff;
        assert_eq!(found, expected, "{name} {found:08b}");
    }
}

#[test]
fn a_word_of_the_accumulator_has_33_bits() {
    // Four times 2^30 is 2^32, whose sign bit is set then.
    let mac = "mac(16) g10<1>W g2<16,16,1>W g2<16,16,1>W { align1 };\n";
    let text = format!(
        "mul(16) g10<1>W g2<16,16,1>W g2<16,16,1>W {{ align1 }};\n{mac}{mac}MORE\nmov.sat(16) g10<1>W acc0<16,16,1>W {{ align1 }};"
    );
    let bench = || Bench::new(Model::G45).words(2, [0x8000; 16]);
    assert_eq!(bench().run(&text.replace("MORE", "")).halves(10), [0x7fff; 16]);
    assert_eq!(bench().run(&text.replace("MORE", mac)).halves(10), [0x8000; 16]);
}

#[test]
fn the_least_number_has_no_other_sign() {
    let text = "cmp.l.f0.0(8) null<1>D -g4<8,8,1>D 0D { align1 };\nmov(1) g11<1>UD f0.0<0,1,0>UW { align1 nomask };\nshr(16) g10<1>UW (abs)g6<16,16,1>W 1UW { align1 };";
    let ended = bench(Model::G45).run(text);
    // The positive ones, and the least: 7, the largest, the least, 1, 0x12345.
    assert_eq!(ended.thread.general(11).words[0] & 0xff, 0b0110_1101);
    assert_eq!(ended.halves(10)[..4], [0, 1, 0, 0x4000]);
}

#[test]
fn what_is_known_of_an_undefined_word_stays_known() {
    let text = "mov(8) g10<1>UD 0xff00UD { align1 };\nand(8) g10<1>UD g10<8,8,1>UD g12<8,8,1>UD { align1 };\nor(8) g11<1>UD g12<8,8,1>UD 0xffff00ffUD { align1 };\nshl(8) g13<1>UD g12<8,8,1>UD 16UD { align1 };\nmov(8) g14<1>UD g12<16,8,2>UW { align1 };\nmov(8) g15<1>UD 0xffff00ffUD { align1 };\nor(8) g15<1>UD g15<8,8,1>UD g12<8,8,1>UD { align1 };\nxor(8) g16<1>UD g12<8,8,1>UD 1UD { align1 };";
    let ended = bench(Model::G45).undefined(12).run(text);
    let byte = |register| ended.undefined(register);
    assert_eq!([byte(10), byte(11), byte(15)], [0x2222_2222; 3]);
    assert_eq!(byte(16), !0);
    assert_eq!([byte(13), byte(14)], [0xcccc_cccc, 0x3333_3333]);
}

#[test]
fn products_below_the_normal_floats_are_zero() {
    let least = f32::from_bits(0x0080_0000);
    let below = f32::from_bits(0x3f7f_ffff);
    let text = "mul(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 };";
    let ended = Bench::new(Model::I965).floats(2, [least; 8]).floats(3, [below; 8]).run(text);
    assert_eq!(ended.floats(10), [0.0; 8]);
}

#[test]
fn a_word_that_is_shifted_beyond_33_bits_is_not_saturated() {
    let text = |count: u32| format!("shl.sat(16) g10<1>W g6<16,16,1>W {count}W {{ align1 }};");
    assert_eq!(bench(Model::G45).run(&text(17)).halves(10)[3..5], [0x8000, 0x7fff]);
    // Channels 3 and 4 have numbers of 16 bits, the others of 5 at most.
    assert_eq!(bench(Model::G45).run(&text(18)).undefined(10), 0b11_1100_0000);
}

#[test]
fn a_raw_move_has_conditions_of_the_number() {
    let source = [1.5, -2.25, 0.0, -0.0, INF, -DENORMAL, NAN_VALUE, DENORMAL];
    for (condition, expected) in [
        ("z", 0b1010_1100),
        ("nz", 0b0101_0011),
        ("l", 0b0000_0010),
        ("g", 0b0001_0001),
        ("u", 0b0100_0000),
    ] {
        let text = format!(
            "mov.{condition}.f0.0(8) g10<1>F g2<8,8,1>F {{ align1 }};\nmov(1) g11<1>UD f0.0<0,1,0>UW {{ align1 nomask }};"
        );
        let ended = Bench::new(Model::G45).floats(2, source).run(&text);
        let found = ended.thread.general(11).words[0] & 0xff;
        assert_eq!(found, expected, "{condition} {found:08b}");
    }
}
