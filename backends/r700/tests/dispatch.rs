//! A dispatch as a driver would send it: the kernel admits the commands, and what they write runs.

use gpucc_ir::ssa::parse;
use gpucc_machine::described::Takes;
use gpucc_r700 as r700;
use r700::driver::{self, Placement, Range};
use r700::emu::commands::{Draw, Refused, admitted};
use r700::emu::model::Model;
use r700::emu::{Stage, run_compute};

/// Each invocation stores one more than its number.
const NUMBERS: &str = r#"func "main" compute workgroup 64 1 1 trusted {
  in0 = "i" u32 x 3 builtin global_invocation_id
  res0 = "w" group 0 binding 0 storage 0 stride 4 load store as u32
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0x1
  %2: b32 = iadd %0, %1
  %3: b32 = const 0x4
  %4: b32 = imul %0, %3
  buffer_store res0, %4, %2
  yield
}"#;

const WORKGROUPS: u32 = 3;
const CHIP: r700::Chip = r700::Chip::Rv770;
const FAMILY: r700::Family = r700::Family::R700;

/// The program in memory, the registers that a driver writes, and the points that it draws.
fn described() -> (Model, Vec<u8>, Vec<r700::StateRegister>, u32) {
    let module = parse(NUMBERS).expect("the text is right");
    let options = r700::Options { chip: CHIP, ..r700::Options::default() };
    let compiled = r700::compile(module.funcs[0].clone(), &options).expect("it compiles");
    let mut model = Model::default();
    let code = model.place(&compiled.code);
    let words = Range { address: model.place(&[0; 1024]), size: 1024 };
    // Workgroups, then a vec4 of the draw, then where the buffer stands in the aperture and its size.
    let constants = [WORKGROUPS, 1, 1, 0, 0, 0, 0, 0, 0, 1024, 0, 0];
    let mut bytes: Vec<u8> = constants.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(256, 0);
    let constants = Range { address: model.place(&bytes), size: 256 };
    let mut placement =
        Placement { code, driver_constants: constants, aperture: words, ..Placement::default() };
    for binding in &compiled.described.resources {
        placement.buffers.insert(binding.resource.expect("compiled just now"), words);
    }
    let block = driver::program_block(&compiled, &placement).expect("describable");
    let takes = compiled.described.dispatch.expect("a compute program").takes;
    let Takes::Threads { threads_per_workgroup, .. } = takes else {
        panic!("threads are points");
    };
    (model, compiled.code, block, WORKGROUPS * threads_per_workgroup)
}

fn sent(stream: &[u32]) -> Result<Vec<Draw>, Refused> {
    admitted(FAMILY, stream)
}

#[test]
fn the_commands_of_a_dispatch_are_admitted_and_run() {
    let (mut model, code, block, points) = described();
    let stream = driver::draw_stream(FAMILY, &[&block], points, 1);
    let draws = sent(&stream).unwrap_or_else(|refused| panic!("{refused}"));
    let [draw] = &draws[..] else { panic!("{} draws", draws.len()) };
    assert_eq!((draw.vertices, draw.instances), (points, 1));
    for (&address, &value) in &draw.registers {
        model.write(address, value);
    }
    let mut state = model.state(CHIP, Stage::Compute).expect("describes something");
    run_compute(&code, &mut state, points, None).unwrap_or_else(|trap| panic!("{trap}"));
    let expected: Vec<u32> = (1..=64 * WORKGROUPS).collect();
    assert_eq!(state.aperture.words[..expected.len()], expected[..]);
}

#[test]
fn a_dispatch_without_a_register_of_its_block_is_refused() {
    let (.., block, points) = described();
    // Depth that nobody turned off, targets that nobody turned off, points that somebody rasterises without a program.
    for (address, part) in
        [(0x28800, "depth is tested"), (0x28238, "target 0"), (0x28810, "has no place")]
    {
        let fewer: Vec<r700::StateRegister> =
            block.iter().filter(|register| register.address != address).cloned().collect();
        assert_eq!(fewer.len() + 1, block.len(), "{address:#x} is programmed");
        let why = sent(&driver::draw_stream(FAMILY, &[&fewer], points, 1));
        let why = why.expect_err("must be refused").why;
        assert!(why.contains(part), "{why} for {part}");
    }
}

#[test]
fn the_count_of_points_is_reset_by_an_event_and_never_by_a_register() {
    const EVENT: u32 = 0x28A90;
    let (.., block, points) = described();
    let stream = driver::draw_stream(FAMILY, &[&block], points, 1);
    let register = [3 << 30 | 1 << 16 | 0x69 << 8, (EVENT - 0x28000) / 4, 33];
    let why = sent(&[&register[..], &stream].concat()).expect_err("must be refused").why;
    assert!(why.contains("0x28a90 is forbidden"), "{why}");
    // VGT_VTX_VECT_EJECT_REG is let through, its neighbour is not.
    for (address, admits) in [(0x88B0, true), (0x88B4, false)] {
        let register = [3 << 30 | 1 << 16 | 0x68 << 8, (address - 0x8000) / 4, 0x3FF];
        assert_eq!(sent(&[&register[..], &stream].concat()).is_ok(), admits, "{address:#x}");
    }
    // The event is past with its draw: NUM_INSTANCES and DRAW_INDEX_AUTO once more go on counting.
    let twice = [&stream[..], &stream[stream.len() - 5..]].concat();
    let draws = sent(&twice).unwrap_or_else(|refused| panic!("{refused}"));
    let reset: Vec<bool> = draws.iter().map(|draw| draw.registers.contains_key(&EVENT)).collect();
    assert_eq!(reset, [true, false]);
}
