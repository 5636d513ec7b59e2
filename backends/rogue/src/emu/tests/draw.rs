//! A triangle from memory alone: control stream, programs of the data sequencer, state of primitives and pixels, programs of
//! the core, and the end of the tile.

use super::bench::{END, WAIT, numerics};
use super::bytes;
use crate::emu::core::Core;
use crate::emu::gpu::{Bases, Gpu, Pixel, Quad, Render, TargetState};
use crate::emu::machine::Run;
use crate::emu::rule::{Rule, Trap};

const CODE: u64 = 0x10_0000;
const PDS: u64 = 0x20_0000;
const STREAM: u64 = 0x30_0000;
const DATA: u64 = 0x40_0000;
const TARGET: u64 = 0x50_0000;
const SIDE: u32 = 16;

/// Places in the heaps of programs.
const VERTEX: u32 = 0;
const FRAGMENT: u32 = 0x100;
const END_OF_TILE: u32 = 0x200;
const VERTEX_DATA: u32 = 0x100;
const VERTEX_CODE: u32 = 0x140;
const SHADER: u32 = 0x200;
const VARYINGS: u32 = 0x280;
const END_DATA: u32 = 0x300;
const END_CODE: u32 = 0x340;
/// Where the state of primitives is.
const STATE: u64 = STREAM + 0x100;

const HALT: u32 = 0xd300_0000;

const fn dout(cc: u32, end: u32, control: u32, source: u32, to: u32) -> u32 {
    0xf000_0000 | cc << 27 | end << 26 | control << 16 | source << 8 | to
}

struct Chip {
    gpu: Gpu,
    stream: Vec<u32>,
    state: Vec<u32>,
    steps: u64,
}

fn put(gpu: &mut Gpu, at: u64, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    gpu.memory().write(at, &bytes).expect("is mapped");
}

fn code(groups: &[&str]) -> Vec<u8> {
    groups.iter().flat_map(|group| bytes(group)).collect()
}

/// Position and colour of each vertex: red goes from left to right, green from the top to the bottom.
fn vertices() -> Vec<u32> {
    let rows: [[f32; 8]; 3] = [
        [-1.0, -1.0, 0.25, 1.0, 0.0, 0.0, 0.5, 1.0],
        [3.0, -1.0, 0.25, 1.0, 2.0, 0.0, 0.5, 1.0],
        [-1.0, 3.0, 0.25, 1.0, 0.0, 2.0, 0.5, 1.0],
    ];
    rows.iter().flatten().map(|value| value.to_bits()).collect()
}

impl Chip {
    fn new() -> Chip {
        Chip::of(Core::BXS_4_64)
    }

    fn of(core: Core) -> Chip {
        let mut gpu = Gpu::new(core, numerics(&core), Bases { code: CODE, pds: PDS });
        for at in [CODE, PDS, STREAM, DATA, TARGET] {
            gpu.memory().map(at, 0x1000).expect("maps");
        }
        // vi0..3 and vi4..7 go to the vertex buffer.
        let vertex = code(&[
            "55 a0 06 08 00 80 04 00 00 30",
            "55 a0 06 08 04 84 04 00 00 30",
            "02 80 6e 00",
            "44 a0 80 05 00 00 00 ff",
        ]);
        gpu.memory().write(CODE + u64::from(VERTEX), &vertex).expect("is mapped");
        // ditrp r0..3, a wait, and the colour packed into po0.
        let fragment = code(&[
            "04 80 78 00 05 00 40 00",
            WAIT,
            "02 80 6e 00",
            "58 9a 86 9c 20 c0 00 00 00 2c 20 ff f2 ff ff ff",
        ]);
        gpu.memory().write(CODE + u64::from(FRAGMENT), &fragment).expect("is mapped");
        // emitpix of sh0 and sh1.
        let end = code(&["48 a0 80 c2 80 40 80 01 88 00 00 ff f2 ff ff ff"]);
        gpu.memory().write(CODE + u64::from(END_OF_TILE), &end).expect("is mapped");
        let pds = |at: u32| PDS + u64::from(at);
        let temps = 2 << 3;
        let constants = [32, 0, DATA as u32, 0, 0x8000_0008, 0, VERTEX, temps];
        put(&mut gpu, pds(VERTEX_DATA), &constants);
        let fetch = 0xe000_0000 | 1 << 6 | 2;
        put(&mut gpu, pds(VERTEX_CODE), &[fetch, dout(1, 1, 0, 3, 2), HALT]);
        put(&mut gpu, pds(SHADER), &[FRAGMENT, temps, 0, 0, 0, 0, 0, 0, dout(0, 1, 0, 0, 2)]);
        // The reciprocal of w is set 0; four components from the first word behind it, sets 1 to 4.
        let (gouraud, perspective) = (3 << 24, 1 << 16);
        let colour = gouraud | perspective | 3 << 18 | 2 << 8;
        let sets = [gouraud, 0, colour, 1 << 22 | 1 << 31];
        put(&mut gpu, pds(VARYINGS), &sets);
        put(&mut gpu, pds(VARYINGS) + 16, &[dout(0, 0, 0, 0, 4), dout(0, 1, 0, 1, 4)]);
        let words = [(TARGET >> 2) as u32, 1 << 13 | 1 << 19];
        put(&mut gpu, pds(END_DATA), &[words[0], words[1], 0x9000_0002, 0, END_OF_TILE, temps]);
        put(&mut gpu, pds(END_CODE), &[dout(0, 0, 2, 0, 1), dout(0, 1, 0, 2, 2)]);
        put(&mut gpu, DATA, &vertices());
        let float = |value: f32| value.to_bits();
        let state = vec![
            1 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 11 | 1 << 17 | 1 << 18,
            0,
            7 << 17,
            7 << 25,
            SHADER,
            0,
            1 << 10 | 2 << 4 | 1,
            0,
            VARYINGS,
            float(8.0),
            float(8.0),
            float(8.0),
            float(8.0),
            float(0.0),
            float(1.0),
            1 << 16,
            4,
        ];
        let stream = vec![
            17 << 8,
            STATE as u32,
            2 << 29 | 1 << 27 | 1 << 26,
            VERTEX_DATA,
            VERTEX_CODE,
            8,
            2 << 10 | 1 << 6 | 2,
            3 << 29 | 1 << 27 | 6 << 8,
            3,
            6 << 29,
        ];
        Chip { gpu, stream, state, steps: 100_000 }
    }

    fn draw(&mut self) -> Result<Render, Trap> {
        let (stream, state) = (self.stream.clone(), self.state.clone());
        put(&mut self.gpu, STREAM, &stream);
        put(&mut self.gpu, STATE, &state);
        let pixel = Pixel { outputs: [None; 8], depth: 0.5, stencil: 3 };
        let mut render = Render::new(SIDE, SIDE, pixel);
        let mut run = Run { steps: &mut self.steps, trace: None };
        self.gpu.draw(STREAM, &mut render, &mut run)?;
        Ok(render)
    }

    fn end(&mut self, render: &Render) -> Result<(), Trap> {
        let swizzle = 1 << 23 | 2 << 26 | 3 << 29;
        let clip = u64::from(SIDE - 1) << 32 | u64::from(SIDE - 1);
        let target = [u64::from(SIDE / 2 - 1) << 34 | swizzle, clip, 0];
        let program = (END_DATA, 6, END_CODE);
        let state = TargetState { program, targets: vec![target], shared: 16 };
        let mut run = Run { steps: &mut self.steps, trace: None };
        self.gpu.end(&state, render, &mut run)
    }

    fn rule(&mut self) -> Option<Rule> {
        self.draw().err().map(|trap| trap.rule)
    }
}

/// The byte of a share.
fn byte(share: f64) -> f64 {
    (share * 255.0).round()
}

#[test]
fn a_triangle_is_drawn_from_its_words_alone() {
    for seed in 0..3 {
        let mut chip = Chip::new();
        chip.gpu.set_order(seed);
        let render = chip.draw().expect("draws");
        chip.end(&render).expect("ends");
        for y in 0..SIDE {
            for x in 0..SIDE {
                let at = TARGET + 4 * u64::from(y * SIDE + x);
                let word = chip.gpu.memory().word(at).expect("is mapped");
                let expected = [
                    byte((f64::from(x) + 0.5) / 16.0),
                    byte((f64::from(y) + 0.5) / 16.0),
                    byte(0.5),
                    255.0,
                ];
                for (channel, value) in expected.into_iter().enumerate() {
                    let found = f64::from(word >> (8 * channel) & 255);
                    assert!((found - value).abs() <= 1.0, "{x} {y} {channel}: {found} {value}");
                }
            }
        }
    }
}

#[test]
fn vertices_are_indexed_and_instanced() {
    let mut chip = Chip::new();
    // Indices of 16 bits, one of which is added to; two instances.
    put(&mut chip.gpu, DATA + 0x800, &[1 << 16, 0]);
    chip.stream.truncate(7);
    let list = 3 << 29 | 1 << 28 | 1 << 27 | 1 << 26 | 1 << 25 | 1 << 17 | 6 << 8;
    chip.stream.extend([list, (DATA + 0x800) as u32, 3, 2, 1, 6 << 29]);
    let stream = chip.stream.clone();
    put(&mut chip.gpu, STREAM, &stream);
    let state = chip.state.clone();
    put(&mut chip.gpu, STATE, &state);
    let mut run = Run { steps: &mut chip.steps, trace: None };
    let draws = chip.gpu.vertices(STREAM, &mut run).expect("runs");
    assert_eq!((draws.len(), draws[0].vertices.len()), (1, 6));
    assert_eq!(draws[0].runs, [0..3, 3..6]);
    // Vertices 1, 2 and 1 of each instance: by their x.
    let x: Vec<f32> =
        draws[0].vertices.iter().map(|v| f32::from_bits(v[0].expect("is written"))).collect();
    assert_eq!(x, [3.0, -1.0, 3.0, 3.0, -1.0, 3.0]);
}

#[test]
fn depth_is_tested_before_the_program() {
    // Less than 0.5 everywhere, greater nowhere; equal after the first draw has written 0.25.
    for (compare, drawn) in [(1u32, true), (4, false), (2, false), (7, true), (0, false)] {
        let mut chip = Chip::new();
        chip.state[2] = compare << 17;
        let render = chip.draw().expect("draws");
        let written = render.pixels.iter().filter(|pixel| pixel.outputs[0].is_some()).count();
        assert_eq!(written, if drawn { 256 } else { 0 }, "{compare}");
        let depth = if drawn { 0.25 } else { 0.5 };
        assert!(render.pixels.iter().all(|pixel| pixel.depth == depth));
    }
    let mut chip = Chip::new();
    chip.state[2] = 7 << 17 | 1 << 21;
    let render = chip.draw().expect("draws");
    assert!(render.pixels.iter().all(|pixel| pixel.depth == 0.5));
    // Punch through: nobody gives feedback, so nobody survives.
    let mut chip = Chip::new();
    chip.state[2] = 7 << 17 | 2 << 24;
    let render = chip.draw().expect("draws");
    assert!(render.pixels.iter().all(|pixel| pixel.outputs[0].is_none()));
}

#[test]
fn draws_that_break_a_rule() {
    let stream = |at: usize, word: u32| {
        let mut chip = Chip::new();
        chip.stream[at] = word;
        chip.rule()
    };
    let state = |at: usize, word: u32| {
        let mut chip = Chip::new();
        chip.state[at] = word;
        chip.rule()
    };
    let right = Chip::new();
    assert_eq!(stream(0, right.stream[0]), None);
    assert_eq!(stream(0, 16 << 8), Some(Rule::State));
    assert_eq!(stream(0, 5 << 29), Some(Rule::Stream));
    assert_eq!(stream(4, VERTEX_CODE | 4), Some(Rule::StreamReserved));
    // A vertex of four words where eight are written; four inputs where eight are fetched.
    assert_eq!(stream(5, 4), Some(Rule::VertexAddress));
    assert_eq!(stream(5, 0x108), Some(Rule::StreamReserved));
    assert_eq!(stream(6, 1 << 10 | 1 << 6 | 2), Some(Rule::PdsTarget));
    assert_eq!(stream(7, right.stream[7] | 3 << 17), Some(Rule::Stream));
    assert_eq!(state(0, right.state[0] | 1 << 30), Some(Rule::StreamReserved));
    // Coefficients for one set less; a pass that has no shader; a scissor.
    assert_eq!(state(6, 1 << 10 | 1 << 4 | 1), Some(Rule::PdsTarget));
    assert_eq!(state(2, 7 << 17 | 3 << 24), Some(Rule::NotBuilt));
    assert_eq!(state(1, 1 << 16), Some(Rule::NotBuilt));
    // A program of the data sequencer at an address that is no multiple of 16.
    let mut chip = Chip::new();
    let render = chip.draw().expect("draws");
    let state = TargetState { program: (END_DATA + 4, 6, END_CODE), targets: vec![], shared: 16 };
    let mut run = Run { steps: &mut chip.steps, trace: None };
    let ended = chip.gpu.end(&state, &render, &mut run).err().map(|trap| trap.rule);
    assert_eq!(ended, Some(Rule::PdsAligned));
    // Outputs that nobody wrote are not written to memory.
    let mut chip = Chip::new();
    let pixel = Pixel { outputs: [None; 8], depth: 1.0, stencil: 0 };
    let render = Render::new(SIDE, SIDE, pixel);
    let ended = chip.end(&render).err().map(|trap| trap.rule);
    assert_eq!(ended, Some(Rule::Undefined));
}

#[test]
fn vertices_and_layers_fit_the_core() {
    let rule = |core: Core, edit: &dyn Fn(&mut Chip)| {
        let mut chip = Chip::of(core);
        edit(&mut chip);
        chip.rule()
    };
    let (bxs, flat) = (Core::BXS_4_64, Core { render_targets: false, ..Core::BXS_4_64 });
    assert_eq!(rule(bxs, &|chip| chip.state[15] |= 1 << 20), None);
    assert_eq!(rule(flat, &|chip| chip.state[15] |= 1 << 20), Some(Rule::State));
    // Varying words, and those of a vertex.
    assert_eq!(rule(bxs, &|chip| chip.state[16] = 64), None);
    assert_eq!(rule(bxs, &|chip| chip.state[16] = 65), Some(Rule::State));
    assert_eq!(rule(bxs, &|chip| chip.stream[5] = 79), None);
    assert_eq!(rule(bxs, &|chip| chip.stream[5] = 80), Some(Rule::State));
}

/// What a program gives back is what its pass takes.
#[test]
fn feedback_is_that_of_the_pass() {
    let depth = "44 a0 00 80 42 00 30 ff";
    let always = "45 a8 00 82 80 40 00 07 00 00";
    let aligned = ["02 80 6e 00", "05 80 6e 00 f3 ff ff ff ff ff"];
    for (feedback, nop, right) in [(depth, aligned[0], 5), (always, aligned[1], 2)] {
        for pass in [0, 2, 5] {
            let mut chip = Chip::new();
            let groups = ["04 80 78 00 05 00 40 00", WAIT, "02 80 6e 00", feedback, WAIT, nop, END];
            chip.gpu.memory().write(CODE + u64::from(FRAGMENT), &code(&groups)).expect("mapped");
            chip.state[2] = 7 << 17 | pass << 24;
            let rule = if pass == right { None } else { Some(Rule::State) };
            assert_eq!(chip.rule(), rule, "{feedback} in {pass}");
        }
    }
}

/// A pass that punches through runs what no test hides, and writes those pixels alone that survive.
#[test]
fn passes_that_punch_through_test_before_the_program_and_write_behind_it() {
    let shaded = |survive: bool, compare: u32, stencil: u32| {
        let feedback = match survive {
            true => "45 a8 00 82 80 40 00 07 00 00",
            false => "45 a8 00 82 80 40 00 00 00 00",
        };
        let aligned = "05 80 6e 00 f3 ff ff ff ff ff";
        let groups = ["04 80 78 00 05 00 40 00", WAIT, "02 80 6e 00", feedback, WAIT, aligned, END];
        let mut chip = Chip::new();
        chip.gpu.memory().write(CODE + u64::from(FRAGMENT), &code(&groups)).expect("mapped");
        chip.state[1] = 1 << 18;
        chip.state[2] = compare << 17 | 2 << 24 | 1;
        // Where both tests pass the stencil is incremented, where the depth fails it becomes 0.
        chip.state[3] = stencil << 25 | 6 << 22 | 1 << 19 | 0xff << 8 | 0xff;
        let render = chip.draw().expect("draws");
        let first = render.pixels[0];
        assert!(render.pixels.iter().all(|pixel| *pixel == first));
        (first.depth, first.stencil, 100_000 - chip.steps)
    };
    const LESS: u32 = 1;
    const GREATER: u32 = 4;
    const ALWAYS: u32 = 7;
    let (depth, stencil, run) = shaded(true, LESS, ALWAYS);
    assert_eq!((depth, stencil), (0.25, 4));
    let (depth, stencil, gone) = shaded(false, LESS, ALWAYS);
    assert_eq!((depth, stencil), (0.5, 3));
    // Those that a test hides do not run, and their stencils change whoever survives.
    let (depth, stencil, hidden) = shaded(true, GREATER, ALWAYS);
    assert_eq!((depth, stencil), (0.5, 0));
    assert_eq!(run, gone);
    assert!(hidden < run);
    let (.., outside) = shaded(true, LESS, 0);
    assert_eq!(outside, hidden);
}

/// A pixel of a translucent object may write no output: what was there stays, though its depth is written. Nobody draws what is
/// behind an opaque object, so that it may not.
#[test]
fn pixels_leave_what_is_behind_a_translucent_object() {
    // The right half is drawn.
    let program = crate::isa::assemble(
        "0 :
 ditrp.pixel r0, drc0, cf4, cf0, 4
1 :
 wdf drc0
2 :
 s0 = sc0, s1 = r0, s3 = sc75
 is0 = s1, is1 = fte, is2 = ft1
 mbyp ft0, s0
 mbyp ft1, s3
 tst.f32.g ftt, p0, is1, is2
3 : if (p0) olchk
 s0 = r0
 is4 = ft0
 mbyp ft0, s0
 w0 = po0
4 : end
 nop
",
    );
    let program = program.expect("it assembles");
    let drawn = |pass: u32| {
        let mut chip = Chip::new();
        chip.gpu.memory().write(CODE + u64::from(FRAGMENT), &program).expect("is mapped");
        chip.state[2] = 7 << 17 | pass << 24;
        chip
    };
    assert_eq!(drawn(0).rule(), Some(Rule::State));
    let render = drawn(1).draw().expect("draws");
    for (at, pixel) in (0u32..).zip(&render.pixels) {
        assert_eq!((pixel.outputs[0].is_some(), pixel.depth), (at % SIDE >= 8, 0.25), "{at}");
    }
}

#[test]
fn quads_are_shaded_without_a_rasteriser() {
    let mut chip = Chip::new();
    let state = chip.state.clone();
    put(&mut chip.gpu, STATE, &state);
    let state = chip.gpu.pixel_state(STATE, 17).expect("is one");
    let quads: Vec<Quad> = (0..11u32)
        .map(|number| {
            let word = |channel: u32| {
                [0, 1, 2, 3]
                    .map(|pixel| ((number * 16 + pixel * 4 + channel) as f32 / 255.0).to_bits())
            };
            let words = vec![[0; 4], [0; 4], [0; 4], [0; 4], word(0), word(1), word(2), word(3)];
            Quad {
                x: 2 * number,
                y: 4,
                covered: 15,
                back: number == 5,
                places: [[0.5; 2]; 4],
                words,
                ..Quad::default()
            }
        })
        .collect();
    let mut run = Run { steps: &mut chip.steps, trace: None };
    let shaded = chip.gpu.quads(&state, &quads, &mut run).expect("runs");
    assert_eq!(shaded.len(), quads.len());
    for (number, pixels) in shaded.iter().enumerate() {
        for (pixel, shaded) in pixels.iter().enumerate() {
            let first = (number * 16 + pixel * 4) as u32;
            let word = first | (first + 1) << 8 | (first + 2) << 16 | (first + 3) << 24;
            assert_eq!(shaded.outputs[0], Some(word));
            assert!(!shaded.fed);
        }
    }
}

#[test]
fn changed_bits_of_a_draw_end_or_name_a_rule() {
    let mut dice = super::Dice::new(23);
    let mut rules = std::collections::BTreeMap::new();
    for round in 0..3000 {
        let mut chip = Chip::new();
        chip.steps = 3000;
        for _ in 0..1 + dice.below(3) {
            let bit = dice.below(32) as u32;
            match dice.below(3) {
                0 => {
                    let at = dice.below(chip.stream.len() as u64) as usize;
                    chip.stream[at] ^= 1 << bit;
                }
                1 => {
                    let at = dice.below(chip.state.len() as u64) as usize;
                    chip.state[at] ^= 1 << bit;
                }
                _ => {
                    // Programs of both kinds, and vertices.
                    let base = [CODE, PDS, DATA][dice.below(3) as usize];
                    let at = base + 4 * dice.below(0xd8);
                    let word = chip.gpu.memory().word(at).expect("is mapped");
                    put(&mut chip.gpu, at, &[word ^ 1 << bit]);
                }
            }
        }
        chip.gpu.set_order(round);
        let rule = match chip.draw() {
            Ok(render) => chip.end(&render).err().map(|trap| trap.rule),
            Err(trap) => Some(trap.rule),
        };
        *rules.entry(rule).or_insert(0) += 1;
    }
    assert!(rules.len() > 15, "{rules:?}");
}

#[test]
fn two_targets_are_emitted_with_a_wait_between() {
    let emission = "46 a0 00 c2 80 40 80 01 88 00 00 ff";
    let end = "48 a0 80 c2 80 40 80 01 88 00 00 ff f2 ff ff ff";
    let wait = "02 80 68 ff";
    for (groups, rule) in [
        (vec![emission, wait, end], None),
        (vec![emission, "02 80 6e 00", end], Some(Rule::EmissionWait)),
    ] {
        let mut chip = Chip::new();
        let render = chip.draw().expect("draws");
        let groups = code(&groups);
        chip.gpu.memory().write(CODE + u64::from(END_OF_TILE), &groups).expect("is mapped");
        assert_eq!(chip.end(&render).err().map(|trap| trap.rule), rule);
    }
}

#[test]
fn faces_are_culled_and_regions_clipped() {
    let drawn = |edit: &dyn Fn(&mut Vec<u32>)| {
        let mut chip = Chip::new();
        edit(&mut chip.state);
        chip.stream[0] = (chip.state.len() as u32) << 8;
        let render = chip.draw().expect("draws");
        render.pixels.iter().filter(|pixel| pixel.outputs[0].is_some()).count()
    };
    let cull = |mode: u32| {
        drawn(&move |state| {
            state[0] |= 1 << 21;
            state.push(mode);
        })
    };
    // One of the two modes takes the triangle away, no culling none.
    assert_eq!((cull(0), cull(1) + cull(2)), (256, 256));
    assert_ne!(cull(1), cull(2));
    // A region that begins 32 pixels to the right, and one that ends there.
    let region = |left: u32| {
        drawn(&move |state| {
            state[0] |= 1 << 10;
            state.splice(9..9, [1 << 31 | left << 16 | 1, 1]);
        })
    };
    assert_eq!((region(0), region(1)), (256, 0));
}

#[test]
fn stencils_are_tested_and_changed() {
    // The stencil is 3 and the reference 1: equal fails, less passes; both increment where they do so.
    for (compare, mask, passes) in
        [(2u32, 0xff, false), (1, 0xff, true), (2, 0x01, true), (7, 0, true)]
    {
        let mut chip = Chip::new();
        chip.state[1] = 1 << 18;
        chip.state[2] = 7 << 17 | 1;
        chip.state[3] = compare << 25 | 6 << 22 | 5 << 16 | mask << 8 | 0x0f;
        let render = chip.draw().expect("draws");
        for pixel in &render.pixels {
            assert_eq!(pixel.outputs[0].is_some(), passes, "{compare} {mask:#x}");
            // Incremented, or inverted, in the low four bits.
            assert_eq!(pixel.stencil, if passes { 4 } else { 0x0c });
        }
    }
    // An object that only changes depths.
    let mut chip = Chip::new();
    chip.state[1] = 1 << 21;
    let render = chip.draw().expect("draws");
    let untouched = |pixel: &Pixel| pixel.outputs[0].is_none() && pixel.depth == 0.25;
    assert!(render.pixels.iter().all(untouched));
}

#[test]
fn an_index_cuts_a_strip() {
    let mut chip = Chip::new();
    // Indices of 32 bits: a strip of three, the cut, and two that make no triangle.
    put(&mut chip.gpu, DATA + 0x800, &[0, 1, 2, 0xffff, 0, 1]);
    chip.stream[2] |= 1 << 28 | 1 << 5;
    chip.stream.insert(3, 0xffff);
    chip.stream.truncate(8);
    let list = 3 << 29 | 1 << 28 | 1 << 27 | 2 << 17 | 9 << 8;
    chip.stream.extend([list, (DATA + 0x800) as u32, 6, 6 << 29]);
    let render = chip.draw().expect("draws");
    assert!(render.pixels.iter().all(|pixel| pixel.outputs[0].is_some()));
    let mut run = Run { steps: &mut chip.steps, trace: None };
    let draws = chip.gpu.vertices(STREAM, &mut run).expect("runs");
    assert_eq!(draws[0].runs, [0..3, 3..5]);
}
