//! Setup of lines and points, which the emulated rasteriser does not draw: the planes that their programs write.

use super::MEMBERS;
use super::draw::{fragment, vertex};
use crate::device::chip::Chip;
use crate::device::{Machine as Device, run_with};
use crate::emu::{Model, Object};
use crate::isa;
use crate::kernels::{Class, SETUP, kernels};
use crate::legal;
use gpucc_machine::{Machine, Request};

/// Depth, 1 / w and the value of each vertex.
type End = ([f32; 2], f32, f32, [f32; 4]);

/// The entry of a vertex: header, device coordinates, position, the value at locations 3, 5 and 7.
fn entry(&(place, depth, inverse, value): &End) -> Vec<u8> {
    let device = [place[0], place[1], depth, inverse];
    let slots = [[0.0; 4], device, [9.0; 4], value, value, value];
    slots.concat().into_iter().flat_map(f32::to_le_bytes).collect()
}

/// What setup writes, as floats: of slot and component the two slopes, 0, and the first value.
fn written(model: Model, class: Class, ends: &[End]) -> Vec<[f32; 4]> {
    let table = if model == Model::G45 { isa::Machine::G45 } else { isa::Machine::Gen4 };
    let made = kernels(table, &vertex(false), &fragment(), &Request::default());
    let made = made.expect("they are made");
    let program = made.iter().find(|made| made.programs[0].name == class.setup());
    let chip = if model == Model::G45 { legal::Chip::G45 } else { legal::Chip::I965 };
    let mut device = Device::new(program.expect("one for the class"), chip);
    let mut chip = Chip::new(model, 0, None);
    let program = chip.put_program(&device.compiled.code).expect("it fits");
    let view = [1f32, 1.0, 1.0, 0.0, 0.0, 0.0].map(f32::to_bits);
    let view = chip.put_words(&view).expect("it fits");
    let mut state: [u32; 8] = std::array::from_fn(|at| device.word(SETUP, at));
    let size = (state[4] >> 19 & 31) + 1;
    state[0] |= program;
    state[4] |= 1 << 11;
    state[5] |= view;
    // A width of 3 pixels, from here.
    state[7] |= 1 << 11 | 24;
    let state = chip.put_words(&state).expect("it fits");
    chip.begin(false);
    chip.command(&[0x7800_0005, 0, 0, 0, state, 0, 0]);
    chip.fence([Some(0), Some(0), Some(0), Some(size), None, Some(size)]);
    let vertices = ends.iter().map(|end| entry(end).into()).collect();
    let object = Object { topology: ends.len() as u32, vertices, provoking: 0 };
    let bytes = run_with(&mut device.launcher, |run| {
        chip.submit(run)?;
        chip.gpu.setup_thread(&object, run)
    });
    let words = bytes.expect("it runs");
    let floats = words.chunks_exact(4).map(|w| f32::from_le_bytes(w.try_into().expect("four")));
    let floats: Vec<f32> = floats.collect();
    floats.chunks_exact(4).map(|four| four.try_into().expect("four")).collect()
}

const ENDS: [End; 2] = [
    ([2.5, 4.5], 0.25, 0.5, [1.0, 2.0, -4.0, 8.0]),
    ([10.5, 8.5], 0.75, 0.25, [3.0, -2.0, 4.0, 0.5]),
];

#[test]
fn lines_have_slopes_along_them() {
    for member in MEMBERS {
        let model = if member.about().name == "g45" { Model::G45 } else { Model::I965 };
        let found = written(model, Class::Lines, &ENDS);
        let [(_, z0, w0, a), (_, z1, w1, b)] = ENDS;
        // 8 columns and 4 rows: 80 is the square of the length.
        let along =
            |first: f32, last: f32| [(last - first) * 8.0 / 80.0, (last - first) * 4.0 / 80.0];
        let near = |found: &[f32; 4], slopes: [f32; 2], first: f32| {
            let right = [slopes[0], slopes[1], 0.0, first];
            let off = found.iter().zip(right).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f32::max) < 1e-5, "{found:?} for {right:?}");
        };
        near(&found[2], along(z0, z1), z0);
        near(&found[3], along(w0, w1), w0);
        for component in 0..4 {
            let (a, b) = (a[component], b[component]);
            // The inputs in their order: perspective, linear, flat.
            near(&found[4 + component], along(a * w0, b * w1), a * w0);
            near(&found[8 + component], along(a, b), a);
            near(&found[12 + component], [0.0; 2], a);
        }
    }
}

#[test]
fn points_are_level() {
    for member in MEMBERS {
        let model = if member.about().name == "g45" { Model::G45 } else { Model::I965 };
        let found = written(model, Class::Points, &ENDS[..1]);
        let (_, depth, inverse, value) = ENDS[0];
        assert_eq!(found[2], [0.0, 0.0, 0.0, depth]);
        assert_eq!(found[3], [0.0, 0.0, 0.0, inverse]);
        for component in 0..4 {
            let value = value[component];
            assert_eq!(found[4 + component], [0.0, 0.0, 0.0, value * inverse]);
            assert_eq!(found[8 + component], [0.0, 0.0, 0.0, value]);
            assert_eq!(found[12 + component], [0.0, 0.0, 0.0, value]);
        }
    }
}
