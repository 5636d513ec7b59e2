//! Words that a wrong constant of the compiler's would give are noticed: every fault here is planted in the words.

use super::words::{compared, sampler};
use super::*;
use crate::driver;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::{Compare, Sampler, Wrap};
use gpucc_emu::world::Bound;
use gpucc_machine::described::{Export, Setting};

const VERTEX: &str = r#"func "vertex" vertex trusted {
  in0 = "p" f32 x 4 location 0 perspective center
  out0 = "at" f32 x 4 builtin position
  out1 = "a" f32 x 4 location 0 perspective
  out2 = "b" u32 x 2 location 2 flat
  out3 = "c" f32 x 3 location 5 linear
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in0.2
  %3: b32 = input in0.3
  %4: b32 = f2u %0
  %5: b32 = f2u %1
  output out0.0, %0
  output out0.1, %1
  output out0.2, %2
  output out0.3, %3
  output out1.0, %1
  output out1.1, %0
  output out1.2, %3
  output out1.3, %2
  output out2.0, %4
  output out2.1, %5
  output out3.0, %2
  output out3.1, %1
  output out3.2, %0
  yield
}"#;

const FRAGMENT: &str = r#"func "fragment" fragment trusted {
  in0 = "at" f32 x 4 builtin position
  in1 = "a" f32 x 4 location 0 perspective center
  in2 = "b" u32 x 2 location 2 flat center
  in3 = "c" f32 x 3 location 5 linear centroid
  out0 = "" f32 x 4 location 0 perspective
} body {
  %0: b32 = input in1.0
  %1: b32 = input in1.1
  %2: b32 = input in1.2
  %3: b32 = input in1.3
  %4: b32 = input in2.0
  %5: b32 = input in2.1
  %6: b32 = input in3.0
  %7: b32 = input in3.1
  %8: b32 = input in3.2
  %9: b32 = iadd %4, %5
  %10: b32 = u2f %9
  %11: b32 = fadd %0, %6
  %12: b32 = fadd %1, %7
  %13: b32 = fadd %2, %8
  %14: b32 = fadd %3, %10
  output out0.0, %11
  output out0.1, %12
  output out0.2, %13
  output out0.3, %14
  yield
}"#;

fn machine(text: &str) -> Machine {
    let module = gpucc_ir::ssa::parse(text).expect("it parses");
    let func = module.funcs.into_iter().next().expect("there is one");
    let compiled = crate::compile(func, &crate::Options::default()).expect("it compiles");
    Machine::new(Chip::Rv770, &compiled)
}

fn flipped(mut machine: Machine, address: u32, bits: u32) -> Machine {
    let state = &mut machine.compiled.described.state.0;
    let mut values = state.iter_mut().filter_map(|(_, setting)| match setting {
        Setting::Register { address: at, value, .. } => (*at == address).then_some(value),
        _ => None,
    });
    *values.next().expect("programmed") ^= bits;
    machine
}

#[test]
fn a_parameter_of_another_semantic_arrives_nowhere() {
    let right = machine(FRAGMENT);
    let batch = right.pixels(&QuadBatch::default()).expect("they are linked");
    let semantics: Vec<u32> = batch.semantics.iter().map(|own| own.0).collect();
    assert_eq!(semantics, [1, 3, 6]);
    // SPI_PS_INPUT_CNTL_0 to _2: the semantic, FLAT_SHADE, SEL_CENTROID, SEL_LINEAR, SEL_SAMPLE.
    for register in 0..3 {
        for bit in [0, 1, 2, 10, 11, 12, 18] {
            let wrong = flipped(machine(FRAGMENT), 0x28644 + 4 * register, 1 << bit);
            // How what is flat would be interpolated is nobody's business.
            let idle = register == 1 && matches!(bit, 11 | 12 | 18);
            let noticed = wrong.pixels(&QuadBatch::default()).is_err();
            // What is at the centroid already is not moved to the sample.
            let kept = register == 2 && bit == 18;
            assert_eq!(noticed, !idle && !kept, "register {register}, bit {bit}");
        }
    }
}

#[test]
fn a_parameter_is_found_by_what_the_vertex_program_says_of_it() {
    let right = machine(VERTEX);
    let parameters = |machine: &Machine| {
        let exports = machine.exports().ok()?;
        let slots = machine.slots().zip(exports);
        let of = |slot: &Slot| slot.export == Export::Parameter;
        let found: Vec<u32> = slots.filter(|(slot, _)| of(slot)).map(|(_, n)| n).collect();
        Some(found)
    };
    assert_eq!(parameters(&right), Some(vec![0, 1, 2]));
    // SPI_VS_OUT_ID_0 has four semantics; a wrong one of a location belongs to none.
    for bit in [0, 9, 18] {
        let wrong = flipped(machine(VERTEX), 0x28614, 1 << bit);
        assert_eq!(parameters(&wrong), None, "bit {bit}");
    }
    // Two that change places are two parameters that change places.
    let swapped = flipped(machine(VERTEX), 0x28614, (1 ^ 3) << 8 | (1 ^ 3));
    assert_eq!(parameters(&swapped), Some(vec![1, 0, 2]));
}

#[test]
fn a_texture_is_what_its_words_say() {
    let extent = Extent { levels: 3, ..Extent::plane(10, 6) };
    let image = Image::new(gpucc_emu::format::Format::Rgba8Unorm, extent).expect("fits");
    let described =
        driver::Texture { format: image.format(), extent, arrayed: false, base: 0, mips: 0 };
    let written = driver::texture_words(&described, 0).expect("describable");
    let words: [u32; 7] = std::array::from_fn(|n| written[n].value);
    compared(&image, &words).expect("it is the image");
    // DIM, TEX_WIDTH, TEX_HEIGHT, DATA_FORMAT, FORMAT_COMP_X, NUM_FORMAT_ALL, LAST_LEVEL.
    for (word, bit) in [(0, 0), (0, 1), (0, 19), (1, 0), (1, 26), (4, 0), (4, 8), (5, 0)] {
        let mut wrong = words;
        wrong[word] ^= 1 << bit;
        assert!(compared(&image, &wrong).is_err(), "word {word}, bit {bit}");
    }
}

#[test]
fn a_sampler_is_what_its_words_say() {
    let bound = Sampler {
        wrap: [Wrap::Mirror, Wrap::Border, Wrap::MirrorOnce],
        lod_min: 0.5,
        lod_max: 9.0,
        lod_bias: -1.25,
        compare: Some(Compare::GreaterEqual),
        border: [1, 2, 3, 4],
        ..Sampler::linear(Wrap::Clamp)
    };
    for (of, _) in SamplerUse::ALL {
        let described = if of.texels { bound.of_texels() } else { bound };
        assert_eq!(sampler(&bound, of).expect("describable"), (described, of.layered));
    }
}

#[test]
fn an_empty_buffer_is_read_and_not_written_where_it_is_all_that_is_bound() {
    let mut machine = machine(
        r#"func "main" compute trusted {
  res0 = "list" group 0 binding 0 storage 0 stride 4 load store as u32
} body {
  %0: b32 = const 0x0
  %1: b32 = buffer_size res0
  %2: b1 = ine %1, %0
  %3: b32 = buffer_load res0, %0
  if %2 {
    buffer_store res0, %0, %3
    yield
  } else {
    yield
  }
  yield
}"#,
    );
    let mut bindings = Bindings::new(&machine.compiled.expanded);
    let list = machine.compiled.described.resources[0].resource.expect("compiled just now");
    bindings.set(list, Bound::Buffer(Vec::new()));
    machine.dispatch(&mut bindings, [2, 1, 1]).expect("the aperture has a word");
    assert!(bindings.get(list, 0).bytes().is_empty());
}
