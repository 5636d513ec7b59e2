//! Messages of media threads: extended math and the data port.

use super::media::store;
use super::{BOTH, Chip};
use crate::emu::{Model, Rule};
use gpucc_ir::ssa::numerics::Perturbation;

/// Numbers of the lanes as floats in g10, as integers in g11.
const LANES: &str = "mov(8) g9<1>W 0x76543210V { align1 };
mov(8) g10<1>F g9<8,8,1>W { align1 };
mov(8) g11<1>D g9<8,8,1>W { align1 };";

fn run(model: Model, text: &str) -> Vec<u32> {
    Chip::new(model, &format!("{LANES}\n{text}\n{}", store(12))).run()
}

fn breaks(model: Model, text: &str) -> Rule {
    Chip::new(model, &format!("{LANES}\n{text}\n{}", store(12))).breaks()
}

/// The float that a number is cut to: the nearest, or the one below it in size.
fn cut(exact: f64) -> f32 {
    let nearest = exact as f32;
    let above = f64::from(nearest).abs() > exact.abs() && nearest.is_finite();
    if above { f32::from_bits(nearest.to_bits() - 1) } else { nearest }
}

#[test]
fn extended_math_is_rounded_toward_zero_without_errors() {
    type Case = (u32, fn(f64) -> f64);
    let cases: [Case; 7] = [
        (1, |x| 1.0 / x),
        (2, f64::log2),
        (3, f64::exp2),
        (4, f64::sqrt),
        (5, |x| 1.0 / x.sqrt()),
        (6, f64::sin),
        (7, f64::cos),
    ];
    for (function, expected) in cases {
        for model in BOTH {
            let words = run(
                model,
                &format!(
                    "send(8) 4 g12<1>F g10<8,8,1>F {:#x} {{ align1 }};",
                    0x0111_0000 + function
                ),
            );
            for (lane, word) in words.iter().enumerate().take(8) {
                let (got, right) = (f32::from_bits(*word), cut(expected(lane as f64)));
                assert_eq!(got, right, "{function} of {lane}");
            }
        }
    }
}

#[test]
fn scalar_mode_and_saturation_are_of_the_descriptor() {
    let words = run(Model::G45, "send(8) 4 g12<1>F g10<8,8,1>F 0x01110083 { align1 };");
    assert_eq!(words[..8], [1.0f32, 1.0, 1.0, 1.0, 16.0, 16.0, 16.0, 16.0].map(f32::to_bits));
    let words = run(Model::G45, "send(8) 4 g12<1>F g10<8,8,1>F 0x01110042 { align1 };");
    assert_eq!(words[..4], [0.0f32, 0.0, 1.0, 1.0].map(f32::to_bits));
}

/// The first register is the denominator.
#[test]
fn integers_are_divided() {
    let divide = |function: u32, numerator: i32, denominator: i32| {
        let signed = 0x10;
        let text = format!(
            "mov(8) m4<1>D {denominator}D {{ align1 }};
mov(8) m5<1>D {numerator}D {{ align1 }};
send(8) 4 g12<1>D null<8,8,1>D {:#x} {{ align1 }};",
            0x0121_0000 + signed + function
        );
        run(Model::G45, &text)[0] as i32
    };
    assert_eq!((divide(12, 7, 2), divide(13, 7, 2)), (3, 1));
    assert_eq!((divide(12, -7, 2), divide(13, -7, 2)), (-3, -1));
    assert_eq!((divide(12, 7, -2), divide(13, 7, -2)), (-3, 1));
    assert_eq!((divide(12, 7, 0), divide(12, -7, 0)), (i32::MAX, i32::MIN));
    assert_eq!((divide(12, i32::MIN, -1), divide(13, i32::MIN, -1)), (i32::MIN, 0));
}

#[test]
fn extended_math_has_a_form() {
    let cases = [
        ("send(8) 4 g12<1>F g10<8,8,1>F 0x01110009 { align1 };", Rule::MathFunction),
        ("send(8) 4 g12<1>F g10<8,8,1>F 0x01210001 { align1 };", Rule::MathForm),
        ("send(8) 4 g12<1>F g10<8,8,1>F 0x01120001 { align1 };", Rule::MathForm),
        ("send(8) 4 g12<1>F g10<8,8,1>F 0x01110101 { align1 };", Rule::MathForm),
        ("send(8) 4 g12<1>F g10<8,8,1>F 0x01110021 { align1 };", Rule::MathForm),
        ("send(16) 4 g12<1>UW g10<8,8,1>UW 0x01110001 { align1 };", Rule::MathForm),
        ("send(8) 4 g12<1>F g40<8,8,1>F 0x01110001 { align1 };", Rule::Undefined),
    ];
    for (text, rule) in cases {
        for model in BOTH {
            assert_eq!(breaks(model, text), rule, "{text}");
        }
    }
}

#[test]
fn media_threads_write_to_neither_urb_nor_targets() {
    for model in BOTH {
        let urb = "send(8) 1 null<1>UD g0<8,8,1>UD 0x0620c000 { align1 };";
        assert_eq!(
            breaks(model, &format!("mov(8) m2<1>UD 0UD {{ align1 }};\n{urb}")),
            Rule::UrbUnit
        );
        let target = "send(8) 1 null<1>UD g0<8,8,1>UD 0x05204400 { align1 };";
        assert_eq!(
            breaks(model, &format!("mov(8) m2<1>UD 0UD {{ align1 }};\n{target}")),
            Rule::TargetUnit
        );
    }
}

/// A header without a global offset in m1, and offsets 4, 8, 12 .. in m2.
const HEADER: &str = "mov(8) m1<1>UD g0<8,8,1>UD { align1 nomask };
mov(1) m1.2<1>UD 0UD { align1 nomask };
shl(8) g13<1>D g11<8,8,1>D 2D { align1 };
add(8) g13<1>D g13<8,8,1>D 4D { align1 };
mov(8) m2<1>D g13<8,8,1>D { align1 };";

/// The descriptor of a read by the numbers of G45's type and control.
fn read(model: Model, kind: u32, control: u32, length: u32, response: u32, entry: u32) -> String {
    let kind = if model == Model::G45 { kind << 11 } else { kind << 11 & 0x3000 };
    let bits = 4 << 24 | length << 20 | response << 16 | 1 << 14 | kind | control << 8 | entry;
    format!("send(8) 1 g12<1>UD null<8,8,1>UD {bits:#x} {{ align1 }};")
}

#[test]
fn words_are_gathered_and_blocks_read() {
    for model in BOTH {
        let words = run(model, &format!("{HEADER}\n{}", read(model, 6, 2, 2, 1, 0)));
        assert_eq!(words[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        // Two OWords from byte 32 on.
        let header = HEADER.replace("m1.2<1>UD 0UD", "m1.2<1>UD 32UD");
        let words = run(model, &format!("{header}\n{}", read(model, 0, 2, 1, 1, 0)));
        assert_eq!(words[..8], [8, 9, 10, 11, 12, 13, 14, 15]);
        // Two OWords of their own, from bytes 16 and 64 on.
        let header = format!(
            "{HEADER}\nmov(1) m2<1>UD 16UD {{ align1 }};\nmov(1) m2.4<1>UD 64UD {{ align1 }};"
        );
        let words = run(model, &format!("{header}\n{}", read(model, 2, 0, 2, 1, 0)));
        assert_eq!(words[..8], [4, 5, 6, 7, 16, 17, 18, 19]);
        // The global offset moves both. 5.10.3.
        let moved = header.replace("m1.2<1>UD 0UD", "m1.2<1>UD 32UD");
        let words = run(model, &format!("{moved}\n{}", read(model, 2, 0, 2, 1, 0)));
        assert_eq!(words[..8], [12, 13, 14, 15, 24, 25, 26, 27]);
        let odd = header.replace("m1.2<1>UD 0UD", "m1.2<1>UD 8UD");
        let pair = format!("{odd}\n{}", read(model, 2, 0, 2, 1, 0));
        assert_eq!(breaks(model, &pair), Rule::PortAligned);
    }
}

#[test]
fn the_data_port_has_rules() {
    for model in BOTH {
        let gather = read(model, 6, 2, 2, 1, 0);
        let cases = [
            (HEADER.into(), read(model, 6, 1, 2, 1, 0), Rule::PortType),
            (HEADER.into(), read(model, 6, 2, 3, 1, 0), Rule::PortForm),
            (HEADER.into(), read(model, 6, 2, 2, 2, 0), Rule::PortForm),
            (HEADER.into(), read(model, 2, 2, 2, 1, 0), Rule::PortType),
            (HEADER.replace(" 4D {", " 2D {"), gather.clone(), Rule::PortAligned),
            (HEADER.replace(" 4D {", " 1000D {"), gather.clone(), Rule::PortBounds),
            (HEADER.replace("0UD", "8UD"), read(model, 0, 2, 1, 1, 0), Rule::PortAligned),
            (HEADER.into(), read(model, 6, 2, 2, 1, 1), Rule::Undefined),
            (HEADER.replace("m2<1>D g13", "m2<1>D g40"), gather.clone(), Rule::Undefined),
            // Scratch ends behind 1024 bytes.
            (HEADER.replace(" 4D {", " 1000D {"), read(model, 6, 2, 2, 1, 255), Rule::PortBounds),
        ];
        for (header, read, rule) in cases {
            assert_eq!(breaks(model, &format!("{header}\n{read}")), rule, "{header}\n{read}");
        }
        // Scratch that nobody wrote is undefined, and so is what is stored of it.
        let scratch = read(model, 6, 2, 2, 1, 255);
        assert_eq!(breaks(model, &format!("{HEADER}\n{scratch}")), Rule::Undefined);
    }
    // A single OWord, with all eight channels: the 965 forbids it.
    let single = |model| format!("{HEADER}\n{}", read(model, 0, 0, 1, 1, 0));
    assert_eq!(breaks(Model::I965, &single(Model::I965)), Rule::PortMask);
}

#[test]
fn a_thread_reads_back_what_it_committed() {
    for model in BOTH {
        let write = |commit: bool| {
            let (bits, dst) =
                if commit { (0x0531_b2ff, "g14<1>UD") } else { (0x0530_32ff, "null<1>UD") };
            let wait = if commit { "mov(8) g15<1>UD g14<8,8,1>UD { align1 };" } else { "" };
            format!(
                "{HEADER}\nmov(8) m3<1>F g10<8,8,1>F {{ align1 }};
send(8) 1 {dst} null<8,8,1>UD {bits:#x} {{ align1 }};\n{wait}"
            )
        };
        let scratch = read(model, 6, 2, 2, 1, 255);
        let words = run(model, &format!("{}\n{scratch}", write(true)));
        assert_eq!(words[..8], [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(f32::to_bits));
        assert_eq!(breaks(model, &format!("{}\n{scratch}", write(false))), Rule::Uncommitted);
    }
}

#[test]
fn a_buffer_that_is_read_and_written_says_so() {
    let mut chip = Chip::new(Model::G45, &store(1));
    let word = (4u32 << 29).to_le_bytes();
    chip.gpu.memory().write(super::SURFACES, &word).unwrap();
    assert_eq!(chip.breaks(), Rule::PortMode);
    let mut chip = Chip::new(Model::G45, &store(1));
    // A volume of one texel.
    let word = (2u32 << 29 | 1 << 8).to_le_bytes();
    chip.gpu.memory().write(super::SURFACES + 8, &[0; 4]).unwrap();
    chip.gpu.memory().write(super::SURFACES, &word).unwrap();
    assert_eq!(chip.breaks(), Rule::PortSurface);
}

#[test]
fn errors_stay_within_their_bounds() {
    let errors = |seed| Perturbation {
        seed,
        rcp_ulps: 1,
        rsq_ulps: 1,
        sqrt_ulps: 1,
        exp2_ulps: 2,
        log2_ulps: 1,
        sin_cos_absolute: 0.0008,
    };
    let mut off = 0;
    for seed in 0..20 {
        for (function, ulps) in [(1, 1), (3, 2), (4, 1)] {
            let text = format!(
                "send(8) 4 g12<1>F g10<8,8,1>F {:#x} {{ align1 }};",
                0x0111_0000 + function
            );
            let exact = run(Model::G45, &text);
            let mut chip = Chip::new(Model::G45, &format!("{LANES}\n{text}\n{}", store(12)));
            chip.gpu.set_errors(Some(errors(seed)));
            for (got, right) in chip.run().iter().zip(exact).take(8) {
                assert!(got.abs_diff(right) <= ulps, "{function}: {got:#x} {right:#x}");
                off += u32::from(*got != right);
            }
        }
    }
    assert!(off > 50, "{off}");
}

#[test]
fn the_gateway_forwards_and_notifies() {
    let open = "mov(8) m1<1>UD 0UD { align1 nomask };
mov(1) m1.4<1>UD 77UD { align1 nomask };
mov(1) m1.5<1>UD 0x03c00000UD { align1 nomask };
send(8) 1 null<1>UW null<8,8,1>UW 0x03100000 { align1 };
wait(1) n0<1>UD { align1 nomask };
mov(8) g12<1>UD g30<0,1,0>UD { align1 };";
    let words = run(Model::G45, &format!("mov(8) g30<1>UD 5UD {{ align1 }};\n{FORWARD}"));
    // It forwards to itself: its own gateway, key 77, a word to r30.
    assert_eq!(words[0], 99);
    // Nobody notifies.
    assert_eq!(breaks(Model::G45, open), Rule::Deadlock);
    for (from, to, rule) in [
        ("0x03108002", "0x03100003", Rule::Gateway),
        ("0x200UD", "0x100UD", Rule::Gateway),
        ("0x03c00000UD", "0x03c00600UD", Rule::Gateway),
        ("0x03100000 {", "0x03100001 {", Rule::GatewayOpen),
        // Its own gateway has another key, or one register fewer: nothing comes.
        ("77UD", "76UD", Rule::Deadlock),
        ("0x200UD", "0x200200UD", Rule::Deadlock),
    ] {
        // The first of several: the gateway's own key.
        let text = FORWARD.replacen(from, to, 1);
        let text = match to {
            "76UD" => text.replace("mov(1) m1<1>UD 99UD", "mov(1) m1.4<1>UD 77UD"),
            _ => text,
        };
        let text = format!("mov(8) g30<1>UD 5UD {{ align1 }};\n{text}");
        assert_eq!(breaks(Model::G45, &text), rule, "{to}");
    }
}

const FORWARD: &str = "mov(8) m1<1>UD 0UD { align1 nomask };
mov(1) m1.4<1>UD 77UD { align1 nomask };
mov(1) m1.5<1>UD 0x03c00000UD { align1 nomask };
send(8) 1 null<1>UW null<8,8,1>UW 0x03100000 { align1 };
mov(1) m1<1>UD 99UD { align1 nomask };
mov(1) m1.5<1>UD 0x200UD { align1 nomask };
send(8) 1 null<1>UW null<8,8,1>UW 0x03108002 { align1 };
wait(1) n0<1>UD { align1 nomask };
mov(8) g12<1>UD g30<0,1,0>UD { align1 };";
