//! Programs that are made of SSA and run on the emulated machine, against numbers by hand; compute by commands, too.

mod compute;
mod draw;
mod geometry;
mod setup;
mod vectors;
mod vertex;

use crate::emu::{Gpu, Model, Run};
use crate::machine::{G45, GEN4, Member};
use gpucc_emu::draw::{Quad, QuadBatch};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::{
    Builder, Builtin, Func, ImageAccess, InputData, InputKind, Interpolation, Op, OutputData,
    OutputKind, ResourceData, ResourceKind, Sampling, Scalar, Stage, Type,
};
use gpucc_machine::described::Setting;
use gpucc_machine::{Machine, Request};

const MEMBERS: [&Member; 2] = [&GEN4, &G45];

/// A fragment program whose colour is one input.
fn passing(interpolation: Interpolation, scalar: Scalar) -> Func {
    let mut func = Func::new("pass", Stage::Fragment);
    let kind = InputKind::Location { location: 0, interpolation, sampling: Sampling::Center };
    let input = func.inputs.push(InputData { kind, components: 1, scalar, name: "in".into() });
    let kind = OutputKind::Location { location: 0, blend_src: 0, interpolation };
    let output = func.outputs.push(OutputData { kind, components: 1, scalar, name: "out".into() });
    let mut b = Builder::at_body(&mut func);
    let value = b.input(input, 0);
    b.output(output, 0, value);
    b.end(Op::Yield, &[]);
    func
}

/// A quad whose 1 / w is 1/4 on the left and 1/2 on the right, with these values.
fn quad(values: [f32; 4]) -> QuadBatch {
    let position = std::array::from_fn(|pixel| {
        let (x, y) = (pixel % 2, pixel / 2);
        [6.5 + x as f32, 4.5 + y as f32, 0.5, if x == 0 { 0.25 } else { 0.5 }]
    });
    let quad = Quad {
        x: 6,
        y: 4,
        covered: 15,
        front: true,
        primitive: 0,
        position,
        point: [[0.0; 2]; 4],
        several: None,
    };
    let values = values.map(|value| [value.to_bits(), 0, 0, 0]).to_vec();
    QuadBatch { quads: vec![quad], varyings: 1, values }
}

fn shaded(member: &Member, func: Func, batch: &QuadBatch) -> [u32; 4] {
    let request = Request { chip: member.about().chips[0], ..Request::default() };
    let mut bindings = Bindings::new(&func);
    let compiled = member.finish(func, &request).expect("it compiles");
    let mut device = member.device(&compiled, request.chip);
    let pixels = device.quads(&mut bindings, batch).expect("it runs");
    std::array::from_fn(|pixel| {
        assert!(!pixels[pixel].discarded);
        pixels[pixel].outputs[0][0]
    })
}

/// Values over w lie in a plane here, and the values do not.
#[test]
fn inputs_with_perspective_are_divided_by_the_interpolated_w() {
    let values = [4.0, 3.0, 8.0, 5.0];
    for member in MEMBERS {
        let func = passing(Interpolation::Perspective, Scalar::F32);
        let found = shaded(member, func, &quad(values)).map(f32::from_bits);
        assert_eq!(found, values, "{}", member.about().name);
    }
}

#[test]
fn linear_inputs_lie_in_a_plane_and_flat_ones_keep_their_bits() {
    for member in MEMBERS {
        let linear = passing(Interpolation::Linear, Scalar::F32);
        let found = shaded(member, linear, &quad([1.0, 1.5, 3.0, 3.5])).map(f32::from_bits);
        assert_eq!(found, [1.0, 1.5, 3.0, 3.5], "{}", member.about().name);
        let flat = passing(Interpolation::Flat, Scalar::U32);
        let bits = f32::from_bits(0x7fa0_0001);
        assert_eq!(shaded(member, flat, &quad([bits; 4])), [0x7fa0_0001; 4]);
    }
}

/// The commit of a store is read before the pixels that live are written to its register.
#[test]
fn a_store_before_a_discard_commits() {
    let text = "func \"main\" fragment trusted {
  res0 = \"words\" group 0 binding 0 storage 64 stride 4 load store as u32
  in0 = \"flag\" u32 x 1 location 0 flat center
  out0 = \"color\" u32 x 1 location 0 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0
  %5: b32 = const 1
  %6: b1 = ieq %0, %5
  buffer_store res0, %1, %0
  output out0.0, %5
  if %6 {
    demote
    yield
  } else {
    yield
  }
  yield
}";
    for member in MEMBERS {
        let func = gpucc_ir::ssa::parse(text).expect("text of the IR").funcs.remove(0);
        assert_eq!(shaded(member, func, &quad([2.0; 4])), [1; 4], "{}", member.about().name);
    }
}

/// `data[id] = data[id] * 3 + workgroup` for 20 invocations a group.
fn tripling() -> Func {
    let mut func = Func::new("triple", Stage::Compute);
    func.workgroup_size = [20, 1, 1];
    let access = ImageAccess { load: true, store: true, atomic: false };
    let kind = ResourceKind::Storage { size: 0, stride: 4, access };
    let data = ResourceData {
        group: 0,
        binding: 0,
        name: "data".into(),
        kind,
        count: None,
        scalar: Scalar::U32,
        mixed: false,
    };
    let resource = func.resources.push(data);
    let mut input = |which, name: &str| {
        let kind = InputKind::Builtin(which);
        let scalar = Scalar::U32;
        func.inputs.push(InputData { kind, components: 3, scalar, name: name.into() })
    };
    let (id, group) =
        (input(Builtin::GlobalInvocationId, "id"), input(Builtin::WorkgroupId, "group"));
    let mut b = Builder::at_body(&mut func);
    let (id, group) = (b.input(id, 0), b.input(group, 0));
    let (two, three) = (b.u32(2), b.u32(3));
    let address = b.op2(Op::Shl, id, two);
    let value = b.buffer_load(resource, None, address, &[Type::B32]);
    let product = b.op2(Op::IMul, value[0], three);
    let sum = b.op2(Op::IAdd, product, group);
    b.buffer_store(resource, None, address, &[sum]);
    b.end(Op::Yield, &[]);
    func
}

/// The whole way of a driver: state in memory, commands, a thread for each workgroup.
#[test]
fn a_dispatch_by_commands_computes_what_the_program_says() {
    const PROGRAM: u32 = 0x1_0000;
    const STATE: u32 = 0x2_0000;
    const BATCH: u32 = 0x3_0000;
    const BUFFER: u32 = 0x4_0000;
    const GROUPS: u32 = 3;
    for (member, model) in [(&GEN4, Model::I965), (&G45, Model::G45)] {
        let request = Request { chip: member.about().chips[0], ..Request::default() };
        let compiled = member.finish(tripling(), &request).expect("it compiles");
        let word = |name: &str, at: usize| match compiled.described.state.get(name) {
            Some(Setting::Descriptor { words, .. }) => words[at],
            _ => panic!("{name} is described"),
        };
        let mut gpu = Gpu::new(model);
        let mut put = |address: u32, bytes: u32, words: &[u32]| {
            gpu.memory().map(address, bytes).expect("free");
            let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            gpu.memory().write(address, &words).expect("mapped");
        };
        let code: Vec<u32> = gpucc_emu::device::words_of(&compiled.code).collect();
        put(PROGRAM, 0x4000, &code);
        let mut state = vec![0u32; 0x200];
        // VFE_STATE: 16 entries of 2 units, 8 threads; the interface descriptor; a surface of 15 elements; its table.
        state[..3].copy_from_slice(&[
            word("VFE_STATE", 0),
            7 << 25 | 1 << 16 | 16 << 9,
            STATE + 0x40,
        ]);
        let interface = [0, 1, 2, 3].map(|at| word("Interface Descriptor", at));
        state[0x10..0x14].copy_from_slice(&[
            interface[0] | PROGRAM,
            interface[1],
            interface[2],
            interface[3] | (STATE + 0x400),
        ]);
        state[0x40..0x44].copy_from_slice(&[4 << 29 | 1 << 8, BUFFER, 14 << 6, 15 << 3]);
        state[0x100] = STATE + 0x100;
        put(STATE, 0x1000, &state);
        let data: Vec<u32> = (0..60).map(|n| 7 * n).collect();
        put(BUFFER, 0x1000, &data);
        let select = if model == Model::G45 { 0x6904_0001 } else { 0x6104_0001 };
        let mut batch = vec![0x0200_0000, select];
        batch.extend([0x6101_0004, 1, 1, 1, 0xffff_f001, 1]);
        batch.extend([0x6000_3001, 0, 128 << 10 | 132 << 20]);
        batch.extend([0x6001_0000, 1 << 4 | 1]);
        batch.extend([0x7000_0001, 0, STATE]);
        for group in 0..GROUPS {
            batch.extend([0x7100_000a, 0, 0, 0, group, 0, 0, group, GROUPS, 1, 1, 0]);
        }
        batch.extend([0x0200_0000, 0x0500_0000]);
        put(BATCH, 0x1000, &batch);
        let mut steps = 1_000_000;
        let mut run = Run { steps: &mut steps, trace: None };
        let end = gpu.batch(BATCH, 4 * batch.len() as u32, &mut run);
        assert_eq!(end.map_err(|trap| trap.to_string()), Ok(()), "{}", member.about().name);
        let bytes = gpu.memory().read(BUFFER, 240).expect("mapped");
        let found: Vec<u32> = gpucc_emu::device::words_of(&bytes).collect();
        let right: Vec<u32> = (0..60).map(|n| 21 * n + n / 20).collect();
        assert_eq!(found, right, "{}", member.about().name);
    }
}
