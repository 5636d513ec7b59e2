//! A driver in small: programs are compiled, the words of their state are filled up and put into memory, and the emulated
//! chip draws and dispatches from them alone.

use super::*;
use crate::chip::Chip;
use crate::describe::SHAREDS;
use crate::emu::{Bases, Gpu, Pixel, Render, Rule, Run, TargetState, Trap};
use crate::numerics::numerics;
use gpucc_ir::driver::{Attribute, ColorTarget, Effort, FragmentState, VertexBuffer};
use gpucc_ir::ssa::parse;
use gpucc_machine::described::{Described, Driven, DriverWord};
use gpucc_machine::{Compiled, Machine as _, Request};
use gpucc_passes::Plan;
use gpucc_passes::ctx::{Ctx, Options};
use gpucc_passes::runner::{Quiet, Runner};

const CODE: u64 = 0x10_0000;
const FRAGMENT: u32 = 0x1000;
const TILE: u32 = 0x2000;
const PDS: u64 = 0x20_0000;
const STREAM: u64 = 0x30_0000;
const DATA: u64 = 0x40_0000;
const TARGETS: [u64; 2] = [0x50_0000, 0x60_0000];
const SIDE: u32 = 16;
/// The chip whose output registers hold both targets.
const CHIP: &str = "gx6250";

fn compile(text: &str, pipeline: &State) -> Compiled {
    compiled(text, pipeline).expect("it compiles")
}

fn compiled(text: &str, pipeline: &State) -> Result<Compiled, Failure> {
    let mut func = parse::parse(text).expect("a module").funcs.remove(0);
    let request = Request {
        chip: CHIP,
        effort: Effort::default(),
        pipeline: pipeline.clone(),
        ..Request::default()
    };
    let mut runner = Runner::default();
    let options = Options::default();
    let mut ctx = Ctx::new(options, crate::ROGUE.numerics(CHIP), crate::ROGUE.info());
    runner.run(&Plan::for_options(&options), &mut func, &mut ctx, &mut Quiet).expect("passes");
    runner.go_on(&crate::ROGUE.plan(&request), &mut func, &mut ctx, &mut Quiet).expect("a plan");
    crate::ROGUE.finish(func, &request)
}

/// What a driver writes: memory, and the words of programs by their names.
struct Driver {
    gpu: Gpu,
    pds: u64,
    stream: u64,
    data: u64,
}

impl Driver {
    fn new() -> Driver {
        let chip = Chip::named(CHIP);
        let mut gpu = Gpu::new(chip.core(), numerics(chip), Bases { code: CODE, pds: PDS });
        for at in [CODE, PDS, STREAM, DATA, TARGETS[0], TARGETS[1]] {
            gpu.memory().map(at, 0x4000).expect("maps");
        }
        Driver { gpu, pds: PDS, stream: STREAM, data: DATA }
    }

    fn write(&mut self, at: u64, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.gpu.memory().write(at, &bytes).expect("is mapped");
    }

    fn data(&mut self, words: &[u32]) -> u64 {
        let at = self.data;
        self.write(at, words);
        self.data += (4 * words.len() as u64).next_multiple_of(64);
        at
    }

    fn stream(&mut self, words: &[u32]) -> u64 {
        let at = self.stream;
        self.write(at, words);
        self.stream += (4 * words.len() as u64).next_multiple_of(16);
        at
    }

    /// Puts words into the sequencer's heap: their place in it.
    fn pds(&mut self, words: &Filled) -> u32 {
        let at = self.pds;
        self.write(at, words.words());
        self.pds += (4 * words.words().len() as u64).next_multiple_of(16);
        (at - PDS) as u32
    }

    /// The program that fills shared registers: data and code.
    fn upload(&mut self, state: &Named<Setting>, shared: &[u32]) -> [u32; 2] {
        let at = self.data(shared) as u32;
        let mut data = words(state, UPLOAD_DATA);
        assert!(data.fill(0, at));
        [self.pds(&data), self.pds(&words(state, UPLOAD_CODE))]
    }
}

/// Words by their name.
fn words(state: &Named<Setting>, name: &str) -> Filled {
    let setting = state.get(name).unwrap_or_else(|| panic!("{name}"));
    Filled::of(setting).unwrap_or_else(|| panic!("{name}"))
}

fn float(value: f32) -> u32 {
    value.to_bits()
}

const VERTEX: &str = "func \"vs\" vertex trusted {
  in0 = \"place\" f32 x 4 location 0 perspective center
  in1 = \"tint\" f32 x 2 location 3 perspective center
  in2 = \"instance\" u32 x 1 builtin instance_index
  out0 = \"position\" f32 x 4 builtin position
  out1 = \"number\" u32 x 1 location 1 flat
  out2 = \"tint\" f32 x 2 location 4 perspective
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in0.2
  %3: b32 = input in0.3
  %4: b32 = input in1.0
  %5: b32 = input in1.1
  %6: b32 = input in2.0
  output out0.0, %0
  output out0.1, %1
  output out0.2, %2
  output out0.3, %3
  output out1.0, %6
  output out2.0, %4
  output out2.1, %5
  yield
}";

const COLOR: &str = "func \"fs\" fragment trusted {
  in0 = \"tint\" f32 x 2 location 4 perspective center
  in1 = \"number\" u32 x 1 location 1 flat center
  in2 = \"position\" f32 x 4 builtin position
  out0 = \"color\" f32 x 4 location 0 flat
  out1 = \"numbers\" u32 x 2 location 1 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in1.0
  %3: b32 = input in2.0
  %4: b32 = input in2.2
  %5: b32 = f2u %3
  output out0.0, %0
  output out0.1, %1
  output out0.2, %4
  output out0.3, %3
  output out1.0, %2
  output out1.1, %5
  yield
}";

fn pipeline() -> State {
    let mut state = State::default();
    state.vertex.buffers = vec![VertexBuffer { stride: 24, ..VertexBuffer::default() }];
    let attribute = |location, format: &str, offset| Attribute {
        location,
        format: format.into(),
        buffer: 0,
        offset,
    };
    state.vertex.attributes = vec![attribute(0, "float32x4", 0), attribute(3, "float32x2", 16)];
    let target = |format: &str| {
        Some(ColorTarget { format: format.into(), write_mask: ColorTarget::ALL, blend: None })
    };
    state.fragment = Some(FragmentState {
        targets: vec![target("rgba32float"), target("rg32uint")],
        ..FragmentState::default()
    });
    state
}

/// Blocks of the stream of draws that are the driver's own: a list without indices, and the end.
const LIST: u32 = 3 << 29 | 1 << 27 | 1 << 26 | 1 << 25 | 1 << 24 | 6 << 8;
const TERMINATE: u32 = 6 << 29;
/// ISPCTL, the front, programs, varyings, uniforms, the viewport, outputs and their counts.
const UPDATE: u32 = 1 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 9 | 1 << 11 | 1 << 17 | 1 << 18;

/// What shared registers hold: these words first, and the numbers of the program at their places.
fn shared(told: &Described, first: &[u32]) -> Vec<u32> {
    let Some(&Setting::Number(count)) = told.state.get(SHAREDS) else { panic!("no number") };
    let mut words = vec![0; count as usize];
    words[..first.len()].copy_from_slice(first);
    for told in &told.driver_constants {
        let DriverWord::Other(Driven::Constant { bits }) = told.word else { panic!("{told:?}") };
        words[told.constant.expect("a register") as usize] = bits;
    }
    words
}

/// Draws a triangle over everything, instance 7 alone; the words of both targets.
fn draw(seed: u64, change: &dyn Fn(&mut Named<Setting>)) -> Result<[Vec<u32>; 2], Trap> {
    let [vertex, fragment] = [VERTEX, COLOR].map(|text| compile(text, &pipeline()));
    let (mut vs, mut fs) = (vertex.described.state.clone(), fragment.described.state.clone());
    change(&mut vs);
    change(&mut fs);
    let mut driver = Driver::new();
    driver.gpu.set_order(seed);
    driver.gpu.memory().write(CODE, &vertex.code).expect("is mapped");
    driver.gpu.memory().write(CODE + u64::from(FRAGMENT), &fragment.code).expect("is mapped");
    // Vertices: their attributes in memory, and where the program looks for them.
    let rows = [[-1.0, -1.0, 0.25, 1.0, 0.0, 0.0], [3.0, -1.0, 0.25, 1.0, 2.0, 0.0]];
    let rows = rows.into_iter().chain([[-1.0, 3.0, 0.25, 1.0, 0.0, 2.0]]);
    let rows: Vec<u32> = rows.flatten().map(float).collect();
    let buffer = driver.data(&rows) as u32;
    let mut data = words(&vs, FETCH_DATA);
    for input in &vertex.described.inputs {
        let Some(attribute) = &input.attribute else { continue };
        let gpucc_machine::described::AttributePlace::Resource { resource } = attribute.place
        else {
            panic!("{attribute:?}")
        };
        assert!(data.fill(resource as usize, buffer + attribute.offset));
    }
    let mut block = words(&vs, VDM_STATE);
    let (data, code) = (driver.pds(&data), driver.pds(&words(&vs, FETCH_CODE)));
    assert!(block.fill(1, data) && block.fill(2, code));
    // Pixels.
    let mut shader = words(&fs, PIXEL_SHADER);
    assert!(shader.fill(0, FRAGMENT));
    let mut programs = words(&fs, PIXEL_STATE);
    let [data, code] = driver.upload(&fs, &shared(&fragment.described, &[]));
    let shader = driver.pds(&shader);
    // Behind z and w, by location: the words of the vertex as the report of its program has them.
    let mut varyings = words(&fs, VARYINGS);
    let mut inputs: Vec<_> = fragment.described.inputs.iter().collect();
    inputs.retain(|input| matches!(input.which, gpucc_machine::described::Which::Location(_)));
    inputs.sort_by_key(|input| match input.which {
        gpucc_machine::described::Which::Location(location) => location,
        _ => 0,
    });
    for (at, input) in inputs.iter().enumerate() {
        let output = vertex.described.outputs.iter().find(|output| output.which == input.which);
        let gpucc_machine::described::OutputPlace::Register { register } =
            output.expect("an output").place
        else {
            panic!("{output:?}")
        };
        // Four words of the position, of which z and the reciprocal of w stay here.
        assert!(varyings.fill(2 * (2 + at), (2 * (register - 4 + 2)) << 8));
    }
    let varyings = driver.pds(&varyings);
    for (at, bits) in [(0, shader), (1, code), (4, varyings), (5, data)] {
        assert!(programs.fill(at, bits));
    }
    let mut faces = words(&fs, ISPA);
    assert!(faces.fill(0, 7 << 17));
    let outputs = words(&fs, OUTPUTS).merged(words(&vs, OUTPUTS).words());
    let mut state = vec![UPDATE, 0, faces.words()[0], 7 << 25];
    state.extend(programs.words());
    state.extend([8.0, 8.0, 8.0, 8.0, 0.0, 1.0].map(float));
    state.extend(outputs);
    state.extend(words(&vs, "PPP_VARYING0").words());
    let place = driver.stream(&state);
    let mut stream = vec![(state.len() as u32) << 8, place as u32];
    stream.extend(block.words());
    stream.extend([LIST, 3, 1, 0, 0, 7, TERMINATE]);
    let stream = driver.stream(&stream);
    let pixel = Pixel { outputs: [None; 8], depth: 1.0, stencil: 0 };
    let mut render = Render::new(SIDE, SIDE, pixel);
    let mut steps = 100_000;
    let mut run = Run { steps: &mut steps, trace: None };
    driver.gpu.draw(stream, &mut render, &mut run)?;
    end(&mut driver, &fs, &render)?;
    let counts = [4, 2];
    Ok([0, 1].map(|at| {
        let count = u64::from(SIDE * SIDE * counts[at]);
        let word = |n| driver.gpu.memory().word(TARGETS[at] + 4 * n).expect("is mapped");
        (0..count).map(word).collect()
    }))
}

/// The end of the tile.
fn end(driver: &mut Driver, fs: &Named<Setting>, render: &Render) -> Result<(), Trap> {
    let program = words(fs, EOT_PROGRAM);
    let Setting::Descriptor { fields, .. } = fs.get(EOT_PROGRAM).expect("a program") else {
        panic!("no words")
    };
    assert_eq!(fields.get("bytes"), Some(&(4 * program.words().len() as u32)));
    driver.write(CODE + u64::from(TILE), program.words());
    let mut data = words(fs, EOT_DATA);
    assert!(data.fill(0, TILE));
    let mut registers = Vec::new();
    for (at, target) in TARGETS.into_iter().enumerate() {
        let mut state = words(fs, &format!("{PBE_STATE} {at}"));
        assert!(state.fill(0, (target >> 2) as u32));
        for (word, bits) in state.words().iter().enumerate() {
            assert!(data.fill(2 + 2 * at + word, *bits));
        }
        // A stride of two pixels times its field, and the last pixel of each axis.
        let mut registered = words(fs, &format!("{PBE_REGISTERS} {at}"));
        assert!(registered.fill(1, (SIDE / 2 - 1) << 2));
        assert!(registered.fill(2, SIDE - 1) && registered.fill(3, SIDE - 1));
        let pairs = registered.words().chunks(2);
        let wide: Vec<u64> =
            pairs.map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
        registers.push([wide[0], wide[1], wide[2]]);
    }
    let constants = data.words().len() as u32;
    let (data, code) = (driver.pds(&data), driver.pds(&words(fs, EOT_CODE)));
    let target = TargetState { program: (data, constants, code), targets: registers, shared: 16 };
    let mut steps = 10_000;
    let mut run = Run { steps: &mut steps, trace: None };
    driver.gpu.end(&target, render, &mut run)
}

#[test]
fn a_pair_draws_from_the_words_of_its_state_alone() {
    for seed in 0..3 {
        let [colors, numbers] = draw(seed, &|_| {}).expect("draws");
        for (at, pixel) in colors.chunks(4).enumerate() {
            let (x, y) = ((at as u32 % SIDE) as f32, (at as u32 / SIDE) as f32);
            let expected = [(x + 0.5) / 16.0, (y + 0.5) / 16.0, 0.25, x + 0.5];
            for (word, value) in pixel.iter().zip(expected) {
                let found = f32::from_bits(*word);
                assert!((found - value).abs() < 1e-5, "{x} {y}: {found} {value}");
            }
        }
        for (at, pixel) in numbers.chunks(2).enumerate() {
            assert_eq!(pixel, [7, at as u32 % SIDE]);
        }
    }
}

/// Flips bits that a program decides, one at a time; how many there are, and how many are noticed: another result, or a rule.
fn flipped(
    names: &[(&str, &Named<Setting>)],
    every: usize,
    noticed: &dyn Fn(&str, usize, u32) -> bool,
) -> (usize, usize) {
    let (mut count, mut found) = (0, 0);
    for (name, state) in names {
        let Some(Setting::Descriptor { mask, .. }) = state.get(name) else { panic!("{name}") };
        for (at, mask) in mask.iter().enumerate() {
            for bit in (0..32).filter(|bit| mask >> bit & 1 == 1) {
                if (32 * at + bit).is_multiple_of(every) {
                    count += 1;
                    found += usize::from(noticed(name, at, 1 << bit));
                }
            }
        }
    }
    (count, found)
}

fn flip(state: &mut Named<Setting>, name: &str, at: usize, bit: u32) {
    let setting = state.0.iter_mut().find(|(known, _)| known == name);
    if let Some((_, Setting::Descriptor { words, .. })) = setting {
        words[at] ^= bit;
    }
}

#[test]
fn bits_of_a_draw_that_the_program_decides_are_noticed() {
    let [vertex, fragment] = [VERTEX, COLOR].map(|text| compile(text, &pipeline()).described.state);
    let right = draw(0, &|_| {}).expect("draws");
    let names = [
        (FETCH_DATA, &vertex),
        (FETCH_CODE, &vertex),
        (VDM_STATE, &vertex),
        (PIXEL_SHADER, &fragment),
        (PIXEL_STATE, &fragment),
        (VARYINGS, &fragment),
        (ISPA, &fragment),
        (EOT_DATA, &fragment),
        (EOT_CODE, &fragment),
        ("PBE_STATE 1", &fragment),
        ("PBE_REG 0", &fragment),
    ];
    let (count, found) = flipped(&names, 7, &|name, at, bit| {
        draw(0, &|state| flip(state, name, at, bit)) != Ok(right.clone())
    });
    // Sizes that are larger than they must be, cache modes and words that fill a segment up change nothing.
    assert!(count > 100 && 10 * found > 6 * count, "{found} of {count}");
}

#[test]
fn a_vertex_of_more_attributes_than_the_sequencer_has_constants_is_refused() {
    let text = |count: usize| {
        let declared = |at| format!("  in{at} = \"a\" f32 x 1 location {at} perspective center\n");
        let inputs: String = (0..count).map(declared).collect();
        format!("func \"vs\" vertex trusted {{\n{inputs}}} body {{\n  yield\n}}")
    };
    assert!(compiled(&text(30), &State::default()).is_ok());
    assert!(matches!(compiled(&text(31), &State::default()), Err(Failure::Limit { .. })));
}

/// The header says what the numbers of the state say.
#[test]
fn the_header_of_a_program_has_its_sizes() {
    let kernel = compile(KERNEL, &State::default());
    let state = &kernel.described.state;
    let number = |name: &str| match state.get(name) {
        Some(Setting::Number(number)) => u64::from(*number),
        other => panic!("{name}: {other:?}"),
    };
    let told = words(state, HEADER);
    let header = u64::from(told.words()[0]) | u64::from(told.words()[1]) << 32;
    assert_eq!(header & 0xff, number("temporaries"));
    assert_eq!(header >> 8 & 0xff, number("vertex inputs"));
    assert_eq!(header >> 16 & 0xfff, number("coefficients"));
    assert_eq!(header >> 28 & 0xfff, number("shared registers"));
    assert_eq!(header >> 40, kernel.code.len() as u64 / 4);
}

const KERNEL: &str = "func \"main\" compute workgroup 40 1 1 trusted {
  res0 = \"words\" group 0 binding 0 storage 1024 stride 0 load store as u32
  in0 = \"group\" u32 x 3 builtin workgroup_id
  in1 = \"index\" u32 x 1 builtin local_invocation_index
  in2 = \"groups\" u32 x 3 builtin num_workgroups
} body {
  %0: b32 = input in0.0
  %1: b32 = input in1.0
  %2: b32 = input in2.0
  %3: b32 = const 64
  %4: b32 = imul %0, %3
  %5: b32 = iadd %4, %1
  %6: b32 = const 2
  %7: b32 = shl %5, %6
  %8: b32 = imul %2, %3
  %9: b32 = iadd %8, %5
  buffer_store res0, %7, %9
  yield
}";

/// Runs three workgroups of 40 invocations: the words that they stored.
fn dispatch(change: &dyn Fn(&mut Named<Setting>)) -> Result<Vec<u32>, Trap> {
    let kernel = compile(KERNEL, &State::default());
    let mut state = kernel.described.state.clone();
    change(&mut state);
    let mut driver = Driver::new();
    driver.gpu.memory().write(CODE, &kernel.code).expect("is mapped");
    let buffer = [TARGETS[0] as u32, 0, 1024];
    let [data, code] = driver.upload(&state, &shared(&kernel.described, &buffer));
    let mut stream = words(&state, CDM);
    assert!(stream.fill(1, data) && stream.fill(2, code));
    let mut constants = words(&state, KERNEL_DATA);
    for axis in 0..3 {
        let count = [3, 1, 1][axis];
        assert!(constants.fill(2 + axis, count) && stream.fill(10 + axis, count - 1));
    }
    let (data, code) = (driver.pds(&constants), driver.pds(&words(&state, KERNEL_CODE)));
    let fence = driver.pds(&words(&state, FENCE));
    assert!(stream.fill(8, data) && stream.fill(9, code) && stream.fill(16, fence));
    let stream = driver.stream(stream.words());
    let mut steps = 20_000;
    let mut run = Run { steps: &mut steps, trace: None };
    driver.gpu.compute(stream, &mut run)?;
    let word = |n: u64| driver.gpu.memory().word(TARGETS[0] + 4 * n).expect("is mapped");
    Ok((0..256).map(word).collect())
}

#[test]
fn a_kernel_runs_from_the_words_of_its_state_alone() {
    let words = dispatch(&|_| {}).expect("runs");
    for (at, word) in (0u32..).zip(words) {
        let stored = at / 64 < 3 && at % 64 < 40;
        assert_eq!(word, if stored { at + 192 } else { 0xdead_beef }, "{at}");
    }
}

#[test]
fn bits_of_a_dispatch_that_the_program_decides_are_noticed() {
    let state = compile(KERNEL, &State::default()).described.state;
    let right = dispatch(&|_| {}).expect("runs");
    let names = [UPLOAD_DATA, UPLOAD_CODE, KERNEL_DATA, KERNEL_CODE, FENCE, CDM];
    let names = names.map(|name| (name, &state));
    let (count, found) = flipped(&names, 3, &|name, at, bit| {
        dispatch(&|state| flip(state, name, at, bit)) != Ok(right.clone())
    });
    assert!(count > 300 && 10 * found > 6 * count, "{found} of {count}");
    // What a launch forbids is named.
    let rule = |name: &str, at: usize, bit: u32| {
        dispatch(&|state| flip(state, name, at, bit)).err().map(|trap| trap.rule)
    };
    // An upload on one core, with state data, of two workgroups.
    assert_eq!(rule(CDM, 0, 2), Some(Rule::Stream));
    assert_eq!(rule(CDM, 1, 8), Some(Rule::Stream));
    assert_eq!(rule(CDM, 4, 1), Some(Rule::Stream));
    // A kernel without shared registers.
    assert!(rule(CDM, 8, 8).is_some());
    // The last transfer is not marked; the program has no end.
    assert_eq!(rule(UPLOAD_DATA, 2, 1 << 31), Some(Rule::PdsEnd));
    assert_eq!(rule(KERNEL_DATA, 1, 1), Some(Rule::PdsCode));
}
