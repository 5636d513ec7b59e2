//! Pixel threads: payloads, interpolation, render targets, blending, depth.

use super::draw::{DEPTH, Draws, bytes};
use super::{BATCH, BOTH};
use crate::emu::color::{Presence, When};
use crate::emu::{Model, Rule, Run, Subspan, Trap};

/// Interpolates slot 1 and writes it, eight pixels at a time.
pub const PROGRAM: &str = "add(16) g10<1>UW g1.4<2,4,0>UW 0x10101010V { align1 };
add(16) g11<1>UW g1.5<2,4,0>UW 0x11001100V { align1 };
add(8) g12<1>F g10<8,8,1>UW -g1<0,1,0>F { align1 };
add(8) g13<1>F g11<8,8,1>UW -g1.1<0,1,0>F { align1 };
line(8) null<1>F g4<0,1,0>F g12<8,8,1>F { align1 };
mac(8) m3<1>F g4.1<0,1,0>F g13<8,8,1>F { align1 };
line(8) null<1>F g4.4<0,1,0>F g12<8,8,1>F { align1 };
mac(8) m4<1>F g4.5<0,1,0>F g13<8,8,1>F { align1 };
line(8) null<1>F g5<0,1,0>F g12<8,8,1>F { align1 };
mac(8) m5<1>F g5.1<0,1,0>F g13<8,8,1>F { align1 };
line(8) null<1>F g5.4<0,1,0>F g12<8,8,1>F { align1 };
mac(8) m6<1>F g5.5<0,1,0>F g13<8,8,1>F { align1 };
mov(8) m2<1>UD g1<8,8,1>UD { align1 nomask };
send(8) 1 null<1>UW g0<8,8,1>UW 0x85604c00 { align1 EOT };";

/// Rows of a setup entry: POS, which nothing reads, and a slot whose component c is c + 2 dx + 16 dy.
fn entry() -> Vec<u8> {
    let mut words = vec![0; 16];
    for component in 0..4 {
        words.extend([2.0f32, 16.0, 0.0, component as f32].map(f32::to_bits));
    }
    bytes(&words)
}

fn span(x: u16, y: u16, covered: u8) -> Subspan {
    Subspan { at: [x, y], covered, depth: [0.25, 0.5, 0.75, 1.0], origin: [1.0, 0.0], back: false }
}

fn run(draws: &mut Draws, spans: &[Subspan]) -> Result<(), Trap> {
    run_behind(draws, 0, spans)
}

/// With so many places before the first subspan.
fn run_behind(draws: &mut Draws, vacant: usize, spans: &[Subspan]) -> Result<(), Trap> {
    draws.send()?;
    let mut steps = 100_000;
    draws.gpu.pixel_threads(&entry(), spans, vacant, &mut Run { steps: &mut steps, trace: None })
}

fn expected(x: u32, y: u32) -> [f32; 4] {
    std::array::from_fn(|c| c as f32 + 2.0 * (x as f32 - 1.0) + 16.0 * y as f32)
}

#[test]
fn covered_pixels_alone_are_written() {
    let spans = [span(0, 0, 15), span(4, 2, 0b1001), span(14, 6, 15), span(2, 4, 2), span(8, 0, 1)];
    for model in BOTH {
        let mut draws = Draws::new(model, PROGRAM);
        run(&mut draws, &spans).unwrap_or_else(|trap| panic!("{trap}"));
        for y in 0..8u32 {
            for x in 0..16u32 {
                let covered = spans.iter().any(|span| {
                    let (dx, dy) =
                        (x.wrapping_sub(span.at[0].into()), y.wrapping_sub(span.at[1].into()));
                    dx < 2 && dy < 2 && span.covered >> (dx + 2 * dy) & 1 == 1
                });
                let right = if covered { expected(x, y) } else { [0.0; 4] };
                assert_eq!(draws.texel(x, y), right, "{x}, {y}");
            }
        }
    }
}

/// 16 channels: every instruction is compressed, and colours are pairs of registers.
fn wide() -> String {
    let mut text = "add(16) g10<1>UW g1.4<2,4,0>UW 0x10101010V { align1 };
add(16) g11<1>UW g1.5<2,4,0>UW 0x11001100V { align1 };
add(16) g12<1>F g10<8,8,1>UW -g1<0,1,0>F { align1 compr };
add(16) g14<1>F g11<8,8,1>UW -g1.1<0,1,0>F { align1 compr };\n"
        .to_string();
    for (component, source) in ["g4", "g4.4", "g5", "g5.4"].into_iter().enumerate() {
        let next = ["g4.1", "g4.5", "g5.1", "g5.5"][component];
        let first = 20 + 2 * component;
        text += &format!(
            "line(16) null<1>F {source}<0,1,0>F g12<8,8,1>F {{ align1 compr }};
mac(16) g{first}<1>F {next}<0,1,0>F g14<8,8,1>F {{ align1 compr }};
mov(8) m{}<1>F g{first}<8,8,1>F {{ align1 }};
mov(8) m{}<1>F g{}<8,8,1>F {{ align1 sechalf }};\n",
            3 + component,
            7 + component,
            first + 1
        );
    }
    text + "mov(8) m2<1>UD g1<8,8,1>UD { align1 nomask };
send(16) 1 null<1>UW g0<8,8,1>UW 0x85a04800 { align1 EOT };"
}

#[test]
fn sixteen_pixels_are_written_at_once() {
    for model in BOTH {
        let mut draws = Draws::new(model, &wide());
        draws.pixel[5] = 2 | 1 << 19;
        run(
            &mut draws,
            &[span(0, 0, 15), span(2, 0, 15), span(4, 2, 7), span(6, 6, 8), span(8, 6, 15)],
        )
        .unwrap_or_else(|trap| panic!("{trap}"));
        for [x, y] in [[0, 0], [1, 1], [3, 0], [5, 2], [4, 3], [7, 7], [9, 7]] {
            assert_eq!(draws.texel(x, y), expected(x, y), "{x}, {y}");
        }
        assert_eq!(draws.texel(5, 3), [0.0; 4]);
        assert_eq!(draws.texel(6, 6), [0.0; 4]);
    }
}

/// isa/gen4-pipeline.md 7.17: any places of a dispatch may hold subspans.
#[test]
fn a_subspan_is_drawn_alike_in_each_place_of_a_thread() {
    for model in BOTH {
        for (places, text, width) in [(2, PROGRAM.to_string(), 1), (4, wide(), 2)] {
            for vacant in 0..places {
                let mut draws = Draws::new(model, &text);
                draws.pixel[5] = width | 1 << 19;
                run_behind(&mut draws, vacant, &[span(2, 4, 0b1011), span(6, 2, 15)])
                    .unwrap_or_else(|trap| panic!("{vacant} of {places}: {trap}"));
                for [x, y] in [[2, 4], [3, 4], [3, 5], [6, 2], [7, 3]] {
                    assert_eq!(draws.texel(x, y), expected(x, y), "{vacant}: {x}, {y}");
                }
                assert_eq!(draws.texel(2, 5), [0.0; 4], "{vacant} of {places}");
            }
        }
    }
}

#[test]
fn masks_and_blending_keep_what_was() {
    let mut draws = Draws::new(Model::G45, PROGRAM);
    // Green is not written, and the sum of source and target is.
    draws.target[0] |= 1 << 15 | 1 << 13;
    draws.color[3] = 1 << 12;
    draws.color[6] = 1 << 19 | 1 << 24;
    draws.gpu.memory().write(super::draw::TARGET, &bytes(&[1000.0f32.to_bits(); 4])).unwrap();
    run(&mut draws, &[span(0, 0, 3)]).unwrap();
    assert_eq!(draws.texel(0, 0), [998.0, 1000.0, 1000.0, 1001.0]);
    assert_eq!(draws.texel(1, 0), [0.0, 0.0, 2.0, 3.0]);
}

#[test]
fn depth_is_tested_and_written_before_the_thread() {
    let mut draws = Draws::new(Model::G45, PROGRAM);
    // D32F in tiles of Y, 16 by 8; less, written.
    draws.depth = [1 << 29 | 3 << 26 | 1 << 18 | 127, DEPTH, 15 << 6 | 7 << 19, 0, 0];
    draws.color[2] = 1 << 15 | 2 << 12 | 1 << 11;
    // Pixels 0 and 1 of a row of the tile lie side by side, the next row 16 bytes further.
    let depth = [0.5f32, 0.5, 0.5, 1.0].map(f32::to_bits);
    draws.gpu.memory().write(DEPTH, &bytes(&depth[..2])).unwrap();
    draws.gpu.memory().write(DEPTH + 16, &bytes(&depth[2..])).unwrap();
    run(&mut draws, &[span(0, 0, 15)]).unwrap();
    // The processor does not see what the render cache holds.
    assert_eq!(draws.gpu.memory().read(DEPTH, 8).unwrap_err().0, Rule::Stale);
    assert_eq!(draws.texel(0, 0), expected(0, 0));
    for [x, y] in [[1, 0], [0, 1], [1, 1]] {
        assert_eq!(draws.texel(x, y), [0.0; 4], "{x}, {y}");
    }
    let read = draws.gpu.memory().read(DEPTH, 8).unwrap();
    assert_eq!(read, bytes(&[0.25f32.to_bits(), 0.5f32.to_bits()]));
}

#[test]
fn pixel_threads_have_rules() {
    type Change = fn(&mut Draws);
    let nothing: Change = |_| {};
    type Case = (&'static str, &'static str, &'static str, Rule, Change);
    let cases: &[Case] = &[
        ("the type of 16", "0x85604c00", "0x85604800", Rule::TargetForm, nothing),
        ("too long", "0x85604c00", "0x85704c00", Rule::TargetForm, nothing),
        ("not the last", "0x85604c00", "0x85604400", Rule::TargetLast, nothing),
        ("no surface", "0x85604c00", "0x85604c01", Rule::Undefined, nothing),
        ("another function", "0x85604c00", "0x87600000", Rule::EndUnit, nothing),
        ("a colour that is missing", "m5<1>F", "m7<1>F", Rule::Undefined, nothing),
        ("no r1", "m2<1>UD g1", "m2<1>UD g20", Rule::Undefined, nothing),
        ("another r1", "m2<1>UD g1<8,8,1>UD", "m2<1>UD 0x20000000UD", Rule::TargetForm, nothing),
        ("two widths", "", "", Rule::ThreadState, |draws| draws.pixel[5] |= 2),
        ("no dispatch", "", "", Rule::ThreadState, |draws| draws.pixel[5] &= !(1 << 19)),
        ("transposed", "", "", Rule::ThreadState, |draws| draws.pixel[5] |= 1 << 24),
        ("no row of depth", "", "", Rule::ThreadState, |draws| draws.pixel[1] = 0),
        ("rows beyond the entry", "", "", Rule::Payload, |draws| draws.pixel[3] += 1 << 11),
        ("a payload that is larger", "", "", Rule::Payload, |draws| draws.pixel[5] |= 1 << 20),
        ("constants beyond", "", "", Rule::Constants, |draws| draws.pixel[3] |= 40 << 25),
        ("a format", "", "", Rule::TargetFormat, |draws| draws.target[0] |= 0x40 << 18),
        ("integers are blended", "", "", Rule::TargetFormat, |draws| {
            draws.target[0] |= 2 << 18 | 1 << 13;
            draws.color[3] = 1 << 12;
            draws.color[6] = 1 << 19 | 1 << 24;
        }),
        ("no factor", "", "", Rule::ThreadState, |draws| draws.color[3] = 1 << 12),
        ("a target of no memory", "", "", Rule::Mapped, |draws| draws.target[1] = 0x9000_0000),
        ("a reserved bit of d1", "", "", Rule::ThreadState, |draws| draws.pixel[1] |= 1 << 14),
        ("a reserved bit of d4", "", "", Rule::ThreadState, |draws| draws.pixel[4] |= 2),
        ("a rotation", "", "", Rule::SurfaceState, |draws| draws.target[2] |= 1),
        ("a row beyond its pitch", "", "", Rule::SurfaceState, |draws| draws.target[3] -= 8),
        ("depths beyond their pitch", "", "", Rule::SurfaceState, |draws| {
            draws.depth = [1 << 29 | 3 << 26 | 1 << 18 | 62, DEPTH, 15 << 6, 0, 0];
        }),
        ("16 bytes in tiles of Y", "", "", Rule::TargetFormat, |draws| draws.target[3] |= 3),
        ("depths without tiles", "", "", Rule::StateAligned, |draws| {
            draws.depth = [1 << 29 | 1 << 18 | 127, DEPTH, 15 << 6, 0, 0];
        }),
        ("depths within a tile", "", "", Rule::StateAligned, |draws| {
            draws.depth = [1 << 29 | 3 << 26 | 1 << 18 | 127, DEPTH + 64, 15 << 6, 0, 0];
        }),
        ("an odd offset of depths", "", "", Rule::StateAligned, |draws| {
            draws.depth = [1 << 29 | 3 << 26 | 1 << 18 | 127, DEPTH, 15 << 6, 0, 1];
        }),
        ("an offset of depths", "", "", Rule::NotBuilt, |draws| {
            draws.depth = [1 << 29 | 3 << 26 | 1 << 18 | 127, DEPTH, 15 << 6, 0, 8];
        }),
        ("a kill that is counted", "", "", Rule::Payload, |draws| {
            draws.pixel[4] |= 1;
            draws.pixel[5] |= 1 << 22;
        }),
        ("a surface of no type", "", "", Rule::SurfaceState, |draws| draws.target[0] |= 5 << 29),
    ];
    for (what, from, to, rule, change) in cases {
        let text = if from.is_empty() { PROGRAM.to_string() } else { PROGRAM.replace(from, to) };
        let mut draws = Draws::new(Model::G45, &text);
        change(&mut draws);
        let trap = run(&mut draws, &[span(0, 0, 15)]).expect_err(what);
        assert_eq!(trap.rule, *rule, "{what}: {trap}");
    }
}

#[test]
fn the_key_of_depth_and_stencil_decides_the_payload() {
    // Kill and depth write; computed depth and test; every bit.
    let cases = [
        (0, When::Early, [false; 4]),
        (5, When::Late, [true, true, false, false]),
        (0xa, When::Late, [false, true, true, false]),
        (0x25, When::Late, [true, true, false, true]),
        (0x3f, When::Late, [false, true, true, true]),
    ];
    for (key, when, [source, sent, destination, stencil]) in cases {
        let expected = Presence { when, source, sent, destination, stencil };
        assert_eq!(Presence::of(key), expected, "{key:#x}");
    }
}

/// The program with its setup entry two registers further, behind depths.
fn behind_depths() -> String {
    PROGRAM.replace("g5", "g7").replace("g4", "g6")
}

/// isa/gen4-pipeline.md 7.14: where pixels are counted, a thread that kills sends depths.
#[test]
fn depths_go_through_a_thread_that_kills_and_is_counted() {
    let text = behind_depths()
        .replace("send(8)", "mov(8) m7<1>UD g2<8,8,1>UD { align1 };\nsend(8)")
        .replace("0x85604c00", "0x85704c00");
    for model in BOTH {
        let mut draws = Draws::new(model, &text);
        draws.pixel[3] = 4 | 4 << 11;
        draws.pixel[4] |= 1;
        draws.pixel[5] |= 1 << 22;
        run(&mut draws, &[span(0, 0, 15)]).unwrap_or_else(|trap| panic!("{trap}"));
        for [x, y] in [[0, 0], [1, 0], [1, 1]] {
            assert_eq!(draws.texel(x, y), expected(x, y), "{x}, {y}");
        }
    }
}

/// isa/gen4-pipeline.md 7.1: threads ask for depths, and nothing tests any.
#[test]
fn the_965_wants_a_clamp_between_constants_and_depths() {
    for (model, clamp, breaks) in
        [(Model::I965, false, true), (Model::I965, true, false), (Model::G45, false, false)]
    {
        let mut draws = Draws::new(model, &behind_depths());
        draws.pixel[3] = 4 | 4 << 11;
        draws.pixel[5] |= 1 << 20;
        draws.send().unwrap_or_else(|trap| panic!("{trap}"));
        let mut steps = 100_000;
        let mut run = Run { steps: &mut steps, trace: None };
        if clamp {
            let commands = bytes(&[0x7909_0000, 0, 0x0500_0000]);
            draws.gpu.memory().write(BATCH, &commands).unwrap();
            draws.gpu.batch(BATCH, 12, &mut run).unwrap_or_else(|trap| panic!("{trap}"));
        }
        let ended = draws.gpu.pixel_threads(&entry(), &[span(0, 0, 15)], 0, &mut run);
        let rule = ended.err().map(|trap| trap.rule);
        assert_eq!(rule, breaks.then_some(Rule::DepthClampMissing), "{model:?}, {clamp}");
    }
}

/// A thread that kills: the live mask of the header decides, and the dispatched one must stay.
#[test]
fn the_live_mask_is_the_headers() {
    let kill =
        |word: &str| format!("mov(1) g0{word}<1>UW 0x0005UW {{ align1 nomask }};\n{PROGRAM}");
    let mut draws = Draws::new(Model::G45, &kill(""));
    run(&mut draws, &[span(0, 0, 15)]).unwrap_or_else(|trap| panic!("{trap}"));
    assert_eq!(draws.texel(0, 0), expected(0, 0));
    assert_eq!(draws.texel(1, 0), [0.0; 4]);
    assert_eq!(draws.texel(0, 1), expected(0, 1));
    let mut draws = Draws::new(Model::G45, &kill(".1"));
    let trap = run(&mut draws, &[span(0, 0, 15)]).unwrap_err();
    assert_eq!(trap.rule, Rule::TargetMask);
}
