//! Pixels of several samples: where each lies, what it is told, and the rate that the state asks for.

use crate::code::{CHIPS, bindings, compile_for, func, quads};
use gpucc_emu::draw::{QuadBatch, Samples};
use gpucc_emu::raster;
use gpucc_ir::driver::{Failure, FragmentState};
use gpucc_ir::ssa::random::Rng;
use gpucc_machine::described::Setting;
use gpucc_machine::{Compiled, Machine as _};
use gpucc_rogue::ROGUE;

const TOLD: &str = "func \"main\" fragment trusted {
  in0 = \"place\" f32 x 2 builtin sample_position
  in1 = \"number\" u32 x 1 builtin sample_index
  in2 = \"mask\" u32 x 1 builtin sample_mask
  in3 = \"position\" f32 x 4 builtin position
  out0 = \"color\" f32 x 4 location 0 flat
  out1 = \"rest\" f32 x 2 location 1 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in1.0
  %3: b32 = input in2.0
  %4: b32 = input in3.0
  %5: b32 = input in3.2
  output out0.0, %0
  output out0.1, %1
  output out0.2, %2
  output out0.3, %3
  output out1.0, %4
  output out1.1, %5
  yield
}";

/// A program for pixels of so many samples.
fn compiled(text: &str, chip: &'static str, samples: u32) -> Result<Compiled, Failure> {
    let fragment = FragmentState { samples: Some(samples), ..FragmentState::default() };
    compile_for(&func(text), chip, Some(fragment))
}

/// Quads of a sample, whose middles lie elsewhere.
fn sampled(compiled: &Compiled, count: u32, own: u32) -> QuadBatch {
    let mut batch = quads(&compiled.expanded, &mut Rng::new(3));
    let place = raster::places(count)[own as usize].map(|at| f32::from(at) / 256.0);
    for quad in &mut batch.quads {
        let (centers, points) = (quad.position, quad.point);
        let masks = [0, 1, 2, 3].map(|pixel| u32::from(quad.covered >> pixel & 1) << own);
        quad.several = Some(Samples { count, own, masks, centers, points });
        for position in &mut quad.position {
            position[0] += place[0] - 0.5;
            position[1] += place[1] - 0.5;
            position[2] += 8.0;
        }
    }
    batch
}

#[test]
fn a_sample_knows_its_number_its_mask_and_its_place() {
    for chip in CHIPS {
        for count in [2, 4, 8] {
            let found = compiled(TOLD, chip, count);
            if count == 8 && chip != "gx6250" {
                assert!(matches!(found, Err(Failure::Limit { available: 4, .. })), "{chip}");
                continue;
            }
            let program = found.expect("it compiles");
            for own in 0..count {
                let batch = sampled(&program, count, own);
                let mut bound = bindings(&program.expanded, &mut Rng::new(1));
                let mut device = ROGUE.device(&program, chip);
                assert!(device.by_sample());
                let pixels = device.quads(&mut bound, &batch).expect("it runs");
                for (at, pixel) in pixels.iter().enumerate() {
                    let quad = &batch.quads[at / 4];
                    let position = quad.position[at % 4];
                    let place = raster::places(count)[own as usize];
                    let [x, y] = place.map(|at| (f32::from(at) / 256.0).to_bits());
                    assert_eq!(pixel.outputs[0], [x, y, own, quad.mask(at % 4)], "{chip} {count}");
                    // Words that lie in tile buffers are those of covered samples.
                    if quad.mask(at % 4) == 0 {
                        continue;
                    }
                    let rest = [position[0], position[2]].map(f32::to_bits);
                    assert_eq!(pixel.outputs[1][..2], rest, "{chip} {count}");
                }
            }
        }
    }
}

#[test]
fn a_program_of_the_middle_has_what_is_there() {
    let text = "func \"main\" fragment trusted {
  in0 = \"position\" f32 x 4 builtin position
  out0 = \"color\" f32 x 4 location 0 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in0.2
  %3: b32 = input in0.3
  output out0.0, %0
  output out0.1, %1
  output out0.2, %2
  output out0.3, %3
  yield
}";
    for chip in CHIPS {
        let program = compiled(text, chip, 4).expect("it compiles");
        let batch = sampled(&program, 4, 2);
        let mut bound = bindings(&program.expanded, &mut Rng::new(1));
        let pixels = ROGUE.device(&program, chip).quads(&mut bound, &batch).expect("it runs");
        for (at, pixel) in pixels.iter().enumerate() {
            let center = batch.quads[at / 4].several.expect("of several").centers[at % 4];
            assert_eq!(pixel.outputs[0], center.map(f32::to_bits), "{chip}");
        }
    }
}

#[test]
fn a_program_of_another_rate_is_not_run() {
    for chip in CHIPS {
        let mut program = compiled(TOLD, chip, 4).expect("it compiles");
        let batch = sampled(&program, 4, 1);
        for (name, setting) in &mut program.described.state.0 {
            if let (true, Setting::Descriptor { words, .. }) =
                (&name[..] == "PDS_PIXEL_SHADER", setting)
            {
                assert_eq!(words[1] >> 1 & 3, 2);
                words[1] &= !6;
            }
        }
        let mut bound = bindings(&program.expanded, &mut Rng::new(1));
        let mut device = ROGUE.device(&program, chip);
        assert!(!device.by_sample());
        let stop = device.quads(&mut bound, &batch).expect_err("it starts once a pixel");
        assert!(format!("{stop:?}").contains("rate 0"), "{stop:?}");
    }
}
