//! Sampler messages of media threads: forms, textures, states.

use super::media::store;
use super::{BOTH, BUFFER, Chip, STATE, SURFACES};
use crate::emu::{Model, Rule};

/// Where the samplers' states are, which r0.3 points to.
const SAMPLERS: u32 = STATE + 0xa00;

/// A header without masks in m1; coordinates of lanes 0 to 7, an eighth each from a sixteenth on, in g12, and 0 in g13.
const START: &str = "mov(8) g9<1>W 0x76543210V { align1 };
mov(8) g11<1>D g9<8,8,1>W { align1 };
mov(8) g12<1>F g9<8,8,1>W { align1 };
mul(8) g12<1>F g12<8,8,1>F 0.125F { align1 };
add(8) g12<1>F g12<8,8,1>F 0.0625F { align1 };
mov(8) g13<1>UD 0UD { align1 };
mov(8) m1<1>UD g0<8,8,1>UD { align1 nomask };
mov(1) m1.2<1>UD 0UD { align1 nomask };";

/// A descriptor: G45 has the type in bits 15:12, the 965 in 15:14 and the kind of the reply below.
fn send(model: Model, kind: u32, length: u32, response: u32, integers: bool) -> String {
    let kind = match model {
        Model::G45 => kind << 12,
        Model::I965 | Model::Gm965 => kind << 14 | u32::from(integers) << 13,
    };
    let bits = 2 << 24 | length << 20 | response << 16 | kind;
    let exec = if response == 4 { 8 } else { 16 };
    format!("send({exec}) 1 g30<1>UW null<8,8,1>UW {bits:#x} {{ align1 }};")
}

/// Parameters as registers from m2 on: each stands once, or twice in a message of 16.
fn parameters(registers: &[u32]) -> String {
    (2..)
        .zip(registers)
        .map(|(message, register)| {
            format!("mov(8) m{message}<1>UD g{register}<8,8,1>UD {{ align1 nomask }};\n")
        })
        .collect()
}

/// A plane of 8 by 2 texels of one byte, 0 to 15 from the buffer's start; a nearest and a linear state.
fn chip(model: Model, text: &str) -> Chip {
    let mut chip = Chip::new(model, &format!("{START}\n{text}\n{}", store(30)));
    let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
    let memory = chip.gpu.memory();
    // A second surface, for the texture; the buffer that is written stays behind entry 0.
    let plane = [1 << 29 | 0x140 << 18, BUFFER + 512, 7 << 6 | 1 << 19, 15 << 3, 0, 0];
    memory.write(SURFACES + 0x40, &words(&plane)).unwrap();
    memory.write(super::TABLE + 4, &words(&[SURFACES + 0x40])).unwrap();
    let texels: Vec<u8> =
        (0..32).map(|at| if at % 16 < 8 { 16 * (at % 8) + at / 16 } else { 0 }).collect();
    memory.write(BUFFER + 512, &texels).unwrap();
    memory.write(SAMPLERS, &words(&[0, 832 << 12 | 2 << 6 | 2 << 3 | 2, 0, 0])).unwrap();
    chip.descriptor[2] = SAMPLERS;
    chip
}

/// The first register of a reply.
fn run(model: Model, text: &str) -> Vec<u32> {
    chip(model, text).run()[..8].to_vec()
}

fn breaks(model: Model, text: &str) -> Rule {
    chip(model, text).breaks()
}

fn entry(text: &str) -> String {
    text.replace("0 { align1 };", "1 { align1 };")
}

#[test]
fn texels_are_sampled_by_eight_and_sixteen() {
    let expected: Vec<u32> = (0..8).map(|n| (16.0 * n as f32 / 255.0).to_bits()).collect();
    for model in BOTH {
        let eight = format!("{}{}", parameters(&[12, 13, 13]), entry(&send(model, 0, 4, 4, false)));
        assert_eq!(run(model, &eight), expected, "{model:?}");
        let sixteen =
            format!("{}{}", parameters(&[12, 12, 13, 13]), entry(&send(model, 0, 5, 8, false)));
        assert_eq!(run(model, &sixteen), expected, "{model:?}");
        // A level as a parameter: the only one there is.
        let level = parameters(&[12, 12, 13, 13, 13, 13, 12, 12]);
        let level = format!("{level}{}", entry(&send(model, 1, 9, 8, false)));
        assert_eq!(run(model, &level), expected, "{model:?}");
    }
}

#[test]
fn texels_are_loaded_and_offset_by_the_header() {
    for model in BOTH {
        let load = format!("{}{}", parameters(&[11, 13, 13]), entry(&send(model, 3, 4, 4, false)));
        let expected: Vec<u32> = (0..8).map(|n| (16.0 * n as f32 / 255.0).to_bits()).collect();
        assert_eq!(run(model, &load), expected);
        // u + 1, v + 1: what is beyond the row is 0.
        let moved = format!("mov(1) m1.2<1>UD 0x110UD {{ align1 nomask }};\n{load}");
        let expected: Vec<u32> =
            (1..8).map(|n| ((16.0 * n as f32 + 1.0) / 255.0).to_bits()).chain([0]).collect();
        assert_eq!(run(model, &moved), expected);
    }
}

#[test]
fn sizes_are_told() {
    for model in BOTH {
        let info = format!("{}{}", parameters(&[13, 13]), entry(&send(model, 2, 3, 8, true)));
        assert_eq!(run(model, &info), [8; 8]);
        // Width is masked: the height comes first.
        let masked = format!("mov(1) m1.2<1>UD 0x1000UD {{ align1 nomask }};\n{info}");
        assert_eq!(run(model, &masked.replace("0x238", "0x236")), [2; 8]);
        assert_eq!(breaks(model, &masked), Rule::SamplerForm);
    }
}

#[test]
fn sampler_messages_have_rules() {
    for model in BOTH {
        let plain = format!("{}{}", parameters(&[12, 13, 13]), entry(&send(model, 0, 4, 4, false)));
        let reply = plain.replace("send(8)", "send(16)").replace("244", "248");
        assert_eq!(breaks(model, &reply), Rule::SamplerForm);
        assert_eq!(breaks(model, &plain.replace("g12<8,8,1>UD", "g40<8,8,1>UD")), Rule::Undefined);
        let mut chip = chip(model, &plain);
        chip.descriptor[2] = 0x9000_0000;
        assert_eq!(chip.breaks(), Rule::Mapped);
    }
}
