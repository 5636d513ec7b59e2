//! Programs of SSA, compiled and run on the emulated machine from control streams and state words, against the reference
//! interpreter bit for bit.

use gpucc_emu::device::{FragmentOut, VertexRun};
use gpucc_emu::draw::{Quad, QuadBatch, VertexId};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::driver::{Effort, Failure, FragmentState, State};
use gpucc_ir::ssa::interp::{self, Lanes, Outcome, Word};
use gpucc_ir::ssa::random::{Config, Rng, program};
use gpucc_ir::ssa::{Builtin, Func, InputKind, Numerics, Op, ResourceKind, Scalar, Stage, parse};
use gpucc_machine::{Compiled, Machine as _, Request};
use gpucc_passes::Plan;
use gpucc_passes::ctx::{Ctx, Options};
use gpucc_passes::runner::{Quiet, Runner};
use gpucc_rogue::ROGUE;
use std::collections::BTreeMap;

pub(crate) const CHIPS: [&str; 2] = ["gx6250", "bxs_4_64"];

/// What went wrong, or why there is nothing to compare.
#[derive(Debug)]
#[allow(dead_code, reason = "messages print it")]
pub(crate) enum Found {
    Failure(Failure),
    Wrong(String),
    Skipped,
}

pub(crate) fn compile(func: &Func, chip: &'static str) -> Result<Compiled, Failure> {
    compile_for(func, chip, None)
}

/// The same for a pipeline.
pub(crate) fn compile_for(
    func: &Func,
    chip: &'static str,
    fragment: Option<FragmentState>,
) -> Result<Compiled, Failure> {
    let mut func = func.clone();
    let numerics = ROGUE.numerics(chip);
    let pipeline = State { fragment, ..State::default() };
    let request = Request { chip, effort: Effort::default(), pipeline, ..Request::default() };
    let mut runner = Runner::default();
    let options = Options::default();
    let mut ctx = Ctx::new(options, numerics, ROGUE.info());
    let shared = Plan::for_options(&options);
    runner.run(&shared, &mut func, &mut ctx, &mut Quiet).expect("the passes run");
    ROGUE.admit(&func, chip)?;
    runner.go_on(&ROGUE.plan(&request), &mut func, &mut ctx, &mut Quiet).expect("the plan runs");
    ROGUE.finish(func, &request)
}

/// Bindings of chance: small integers, floats near 1 and bits of all kinds.
pub(crate) fn bindings(func: &Func, rng: &mut Rng) -> Bindings {
    let mut bindings = Bindings::new(func);
    for (resource, data) in &func.resources {
        let len = match data.kind {
            ResourceKind::Uniform { size } | ResourceKind::Immediate { size } => size,
            ResourceKind::Storage { size, stride, .. } => size + stride * rng.below(40) as u32,
            kind => {
                for element in 0..data.count.unwrap_or(1) {
                    bindings.set_element(resource, element, super::textures::bound(kind, rng));
                }
                continue;
            }
        };
        let words: Vec<u32> = (0..len.div_ceil(4)).map(|_| word(rng)).collect();
        let mut bytes = gpucc_emu::device::bytes_of(&words);
        bytes.truncate(len as usize);
        bindings.set(resource, Bound::Buffer(bytes));
    }
    bindings
}

fn word(rng: &mut Rng) -> u32 {
    match rng.below(4) {
        0 => rng.below(16) as u32,
        1 => (rng.below(4096) as f32 / 64.0 - 32.0).to_bits(),
        2 => rng.below(1 << 30) as u32,
        _ => rng.bits() as u32,
    }
}

/// Runs the reference twice: what depends on the order of invocations is known the second time.
fn reference(
    func: &Func,
    lanes: &Lanes,
    numerics: &Numerics,
    bindings: &Bindings,
) -> Option<(Outcome, Bindings)> {
    let mut world = bindings.clone();
    let marks = interp::run(func, lanes, &mut world, interp::Options::new(numerics)).ok()?.marks;
    let mut world = bindings.clone();
    let options = interp::Options { marks: Some(&marks), ..interp::Options::new(numerics) };
    let outcome = interp::run(func, lanes, &mut world, options).ok()?;
    Some((outcome, world))
}

fn same(a: u32, b: u32) -> bool {
    a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

/// Compares buffers, but for words that are left out.
fn buffers(
    func: &Func,
    outcome: &Outcome,
    right: &Bindings,
    found: &Bindings,
) -> Result<(), Found> {
    let excluded = &outcome.excluded;
    for (resource, data) in &func.resources {
        if let (Bound::Image(a), Bound::Image(b), false) = (
            right.get(resource, 0),
            found.get(resource, 0),
            excluded.all || excluded.resources.contains(&resource),
        ) && a.bytes() != b.bytes()
        {
            let at = a.bytes().iter().zip(b.bytes()).position(|(a, b)| a != b);
            return Err(Found::Wrong(format!("texels of {} differ at {at:?}", data.name)));
        }
        if !matches!(data.kind, ResourceKind::Storage { .. })
            || excluded.all
            || excluded.resources.contains(&resource)
        {
            continue;
        }
        let (a, b) = (right.get(resource, 0).bytes(), found.get(resource, 0).bytes());
        for (at, (a, b)) in a.chunks(4).zip(b.chunks(4)).enumerate() {
            let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
            let word = Word::Buffer(resource, 0, 4 * at as u32);
            if !same(number(a), number(b)) && !excluded.words.contains(&word) {
                let what = format!("{}[{at}]: {a:x?} is right, {b:x?} came", data.name);
                return Err(Found::Wrong(what));
            }
        }
    }
    Ok(())
}

/// Proves a compute program on one input in several orders.
pub(crate) fn dispatch(
    func: &Func,
    chip: &'static str,
    groups: [u32; 3],
    seed: u64,
) -> Result<(), Found> {
    let compiled = compile(func, chip).map_err(Found::Failure)?;
    let (expanded, numerics) = (&compiled.expanded, ROGUE.numerics(chip));
    let before = bindings(expanded, &mut Rng::new(seed));
    let count = groups.iter().product();
    let lanes = Lanes::compute(expanded, groups, 0, count);
    let Some((outcome, right)) = reference(expanded, &lanes, &numerics, &before) else {
        return Err(Found::Skipped);
    };
    for order in 0..3 {
        let mut device = ROGUE.device(&compiled, chip);
        device.set_order(seed.wrapping_add(order));
        let mut found = before.clone();
        device.dispatch(&mut found, groups).map_err(|stop| Found::Wrong(format!("{stop:?}")))?;
        buffers(expanded, &outcome, &right, &found)?;
    }
    Ok(())
}

/// Quads whose varyings are numbers of chance.
pub(crate) fn quads(func: &Func, rng: &mut Rng) -> QuadBatch {
    let located = func.inputs.values().filter_map(|data| match data.kind {
        InputKind::Location { .. } => Some(data.scalar),
        InputKind::Builtin(_) | InputKind::Corner { .. } => None,
    });
    let scalars: Vec<Scalar> = located.collect();
    let mut batch = QuadBatch { varyings: scalars.len(), ..QuadBatch::default() };
    for number in 0..5 {
        let (x, y) = (2 * number, 2 * (number & 1));
        let position = std::array::from_fn(|pixel| {
            let (across, down) = (pixel as u32 % 2, pixel as u32 / 2);
            let depth = rng.below(64) as f32 / 64.0;
            [(x + across) as f32 + 0.5, (y + down) as f32 + 0.5, depth, 0.5]
        });
        let covered = [15, 15, 7, 1, 12][number as usize];
        let front = number % 2 == 0;
        let point = [[0.0; 2]; 4];
        batch.quads.push(Quad {
            x,
            y,
            covered,
            front,
            primitive: 0,
            position,
            point,
            several: None,
        });
        for _ in 0..4 {
            for scalar in &scalars {
                batch.values.push(std::array::from_fn(|_| match scalar {
                    Scalar::F32 => (rng.below(1024) as f32 / 32.0 - 16.0).to_bits(),
                    _ => word(rng),
                }));
            }
        }
    }
    // What is flat is so for the whole quad.
    let flat: Vec<bool> = func
        .inputs
        .values()
        .filter_map(|data| match data.kind {
            InputKind::Location { interpolation, .. } => {
                Some(interpolation == gpucc_ir::ssa::Interpolation::Flat)
            }
            InputKind::Builtin(_) | InputKind::Corner { .. } => None,
        })
        .collect();
    for quad in 0..batch.quads.len() {
        for (varying, _) in flat.iter().enumerate().filter(|(_, flat)| **flat) {
            let first = batch.varying(quad, 0, varying);
            for pixel in 1..4 {
                batch.values[(quad * 4 + pixel) * scalars.len() + varying] = first;
            }
        }
    }
    batch
}

pub(crate) fn quad_lanes(func: &Func, batch: &QuadBatch) -> Lanes {
    let mut lanes = Lanes::new(func, 4 * batch.quads.len());
    let mut varying = 0;
    for (input, data) in &func.inputs {
        for lane in 0..lanes.count {
            let (quad, pixel) = (&batch.quads[lane / 4], lane % 4);
            lanes.helper[lane] = quad.covered >> pixel & 1 == 0;
            lanes.inputs[interp::slot(input)][lane] = match data.kind {
                InputKind::Location { .. } => batch.varying(lane / 4, pixel, varying),
                InputKind::Builtin(Builtin::Position) => quad.position[pixel].map(f32::to_bits),
                InputKind::Builtin(Builtin::FrontFacing) => [quad.front.into(), 0, 0, 0],
                InputKind::Builtin(Builtin::PrimitiveIndex) => [quad.primitive, 0, 0, 0],
                InputKind::Builtin(Builtin::PointCoord) => {
                    let [s, t] = quad.point[pixel].map(f32::to_bits);
                    [s, t, 0, 0]
                }
                InputKind::Builtin(Builtin::SubgroupSize) => [interp::SUBGROUP, 0, 0, 0],
                InputKind::Builtin(Builtin::SubgroupInvocationId) => {
                    [lane as u32 % interp::SUBGROUP, 0, 0, 0]
                }
                InputKind::Builtin(_) | InputKind::Corner { .. } => [0; 4],
            };
        }
        varying += usize::from(matches!(data.kind, InputKind::Location { .. }));
    }
    lanes
}

/// Proves a fragment program on one input in several orders.
pub(crate) fn shade(func: &Func, chip: &'static str, seed: u64) -> Result<(), Found> {
    shade_as(func, chip, seed, |_| {})
}

/// The same with quads that are changed first.
pub(crate) fn shade_as(
    func: &Func,
    chip: &'static str,
    seed: u64,
    change: impl Fn(&mut QuadBatch),
) -> Result<(), Found> {
    let compiled = compile(func, chip).map_err(Found::Failure)?;
    let (expanded, numerics) = (&compiled.expanded, ROGUE.numerics(chip));
    let mut rng = Rng::new(seed);
    let before = bindings(expanded, &mut rng);
    let mut batch = quads(expanded, &mut rng);
    change(&mut batch);
    let lanes = quad_lanes(expanded, &batch);
    let Some((outcome, right)) = reference(expanded, &lanes, &numerics, &before) else {
        return Err(Found::Skipped);
    };
    for order in 0..3 {
        let mut device = ROGUE.device(&compiled, chip);
        device.set_order(seed.wrapping_add(order));
        let mut found = before.clone();
        let pixels =
            device.quads(&mut found, &batch).map_err(|stop| Found::Wrong(format!("{stop:?}")))?;
        buffers(expanded, &outcome, &right, &found)?;
        outputs(expanded, &outcome, &lanes, &pixels)?;
    }
    Ok(())
}

fn outputs(
    func: &Func,
    outcome: &Outcome,
    lanes: &Lanes,
    pixels: &[FragmentOut],
) -> Result<(), Found> {
    let excluded = &outcome.excluded;
    if excluded.all {
        return Ok(());
    }
    for (lane, pixel) in pixels.iter().enumerate().filter(|(lane, _)| !lanes.helper[*lane]) {
        if pixel.discarded != outcome.helper[lane] {
            return Err(Found::Wrong(format!("pixel {lane}: discarded {}", pixel.discarded)));
        }
        if pixel.discarded {
            continue;
        }
        for (number, data) in func.outputs.values().enumerate() {
            for component in 0..usize::from(data.components) {
                let left_out = outcome.excluded.outputs.get(number * 4 + component);
                if left_out.is_some_and(|lanes| lanes[lane]) {
                    continue;
                }
                let (a, b) =
                    (outcome.outputs[number][lane][component], pixel.outputs[number][component]);
                if !same(a, b) {
                    let what =
                        format!("pixel {lane}, {number}.{component}: {a:x} is right, {b:x} came");
                    return Err(Found::Wrong(what));
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn func(text: &str) -> Func {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.funcs.into_iter().next().expect("one function")
}

#[test]
fn a_colour_that_is_constant_leaves_through_every_stage() {
    let text = "func \"main\" fragment trusted {
  out0 = \"color\" f32 x 4 location 0 flat
} body {
  %0: b32 = const 0x3f800000
  %1: b32 = const 0x3e99999a
  output out0.0, %0
  output out0.1, %1
  output out0.2, %1
  output out0.3, %0
  yield
}";
    for chip in CHIPS {
        shade(&func(text), chip, 1).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

#[test]
fn a_kernel_reads_computes_and_stores() {
    let text = "func \"main\" compute workgroup 20 2 1 trusted {
  res0 = \"data\" group 0 binding 0 storage 1024 stride 0 load store as u32
  in0 = \"id\" u32 x 3 builtin local_invocation_id
  in1 = \"group\" u32 x 3 builtin workgroup_id
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in1.0
  %3: b32 = const 20
  %4: b32 = imul %1, %3
  %5: b32 = iadd %4, %0
  %6: b32 = const 40
  %7: b32 = imul %2, %6
  %8: b32 = iadd %7, %5
  %9: b32 = const 2
  %10: b32 = shl %8, %9
  %11: b32 = buffer_load res0, %10
  %12: b32 = const 3
  %13: b32 = imul %11, %12
  %14: b32 = iadd %13, %2
  buffer_store res0, %10, %14
  yield
}";
    for chip in CHIPS {
        let run = dispatch(&func(text), chip, [3, 1, 1], 7);
        run.unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// Programs of chance of a stage: how many hold, and why the others are not built.
pub(crate) fn random(config: &Config, count: u64) -> (usize, BTreeMap<String, usize>) {
    let (mut holds, mut others) = (0, BTreeMap::new());
    for seed in 0..count {
        let func = program(seed, config);
        let chip = CHIPS[(seed % 2) as usize];
        let found = match config.stage {
            Stage::Compute => dispatch(&func, chip, [2, 1, 1], seed),
            _ => shade(&func, chip, seed),
        };
        match found {
            Ok(()) => holds += 1,
            Err(Found::Failure(Failure::NotYet { feature, .. })) => {
                *others.entry(feature).or_default() += 1;
            }
            Err(Found::Skipped) => *others.entry("skipped".into()).or_default() += 1,
            Err(found) => panic!("seed {seed} on {chip}: {found:?}"),
        }
    }
    (holds, others)
}

pub(crate) const PLAIN: Config = Config {
    size: 60,
    workgroup: false,
    textures: false,
    halves: false,
    doubles: false,
    workgroup_size: 48,
    allow: |op| !matches!(op, Op::Ballot | Op::Shuffle | Op::Reduce | Op::SubgroupBarrier),
    ..Config::COMPUTE
};

#[test]
fn compute_programs_of_chance_give_what_the_reference_gives() {
    let (holds, others) = random(&PLAIN, 400);
    assert!(holds >= 390, "{holds} hold; {others:?}");
}

#[test]
fn fragment_programs_of_chance_give_what_the_reference_gives() {
    let (holds, others) = random(&Config { stage: Stage::Fragment, ..PLAIN }, 400);
    assert!(holds >= 390, "{holds} hold; {others:?}");
}

/// Attributes and numbers come by the sequencer, words leave by the vertex buffer.
#[test]
fn vertices_fetch_compute_and_leave() {
    let text = "func \"main\" vertex trusted {
  res0 = \"scale\" group 0 binding 0 uniform 16 as f32
  in0 = \"place\" f32 x 3 location 0 perspective center
  in1 = \"tag\" u32 x 2 location 2 flat center
  in2 = \"vertex\" u32 x 1 builtin vertex_index
  in3 = \"instance\" u32 x 1 builtin instance_index
  out0 = \"position\" f32 x 4 builtin position
  out1 = \"tag\" u32 x 2 location 0 flat
  out2 = \"smooth\" f32 x 2 location 1 perspective
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in0.2
  %3: b32 = input in1.1
  %4: b32 = input in2.0
  %5: b32 = input in3.0
  %6: b32 = const 4
  %7: b32 = buffer_load res0, %6
  %8: b32 = fmul %0, %7
  %9: b32 = iadd %3, %4
  %10: b32 = const 0x3f800000
  output out0.0, %8
  output out0.1, %1
  output out0.3, %10
  output out1.0, %9
  output out1.1, %5
  output out2.1, %2
  yield
}";
    let func = func(text);
    for chip in CHIPS {
        let compiled = compile(&func, chip).expect("it compiles");
        let mut rng = Rng::new(3);
        let mut bindings = bindings(&func, &mut rng);
        bindings.set(
            gpucc_ir::ssa::Resource::from_u32(0),
            Bound::Buffer(gpucc_emu::device::bytes_of(&[0, 2f32.to_bits(), 0, 0])),
        );
        let ids: Vec<VertexId> = (0..2)
            .flat_map(|instance| (0..35).map(move |vertex| VertexId { vertex, instance }))
            .collect();
        let places: Vec<u32> = (0..111).map(|n| (n as f32 / 4.0).to_bits()).collect();
        let tags: Vec<u32> = (0..74).map(|n| 1000 + n).collect();
        let buffers = [places, tags].map(|words| gpucc_emu::device::bytes_of(&words));
        let run = VertexRun { ids: &ids, first_vertex: 2, first_instance: 5, buffers: &buffers };
        let mut device = ROGUE.device(&compiled, chip);
        let found = device.vertices(&mut bindings, &run).expect("it runs");
        assert_eq!(found.len(), 70);
        for (id, out) in ids.iter().zip(&found) {
            let vertex = id.vertex + 2;
            let place = |component: u32| (3 * vertex + component) as f32 / 4.0;
            let float = |value: f32| value.to_bits();
            assert_eq!(out[0], [float(2.0 * place(0)), float(place(1)), 0, float(1.0)]);
            assert_eq!(out[1], [1000 + 2 * vertex + 1 + vertex, id.instance + 5, 0, 0]);
            assert_eq!(out[2], [0, float(place(2)), 0, 0]);
        }
    }
}

/// A loop whose invocations leave it at different times, from within conditions, around an array that they index.
#[test]
fn invocations_leave_loops_one_by_one_and_index_arrays() {
    let text = "func \"main\" compute workgroup 40 1 1 trusted {
  res0 = \"data\" group 0 binding 0 storage 320 stride 0 load store as u32
  in0 = \"id\" u32 x 1 builtin local_invocation_index
  mem0 = \"cells\" private 16
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0
  %2: b32 = const 1
  %3: b32 = const 2
  %4: b32 = const 3
  %20: b32 = const 4
  %21: b32 = const 8
  %22: b32 = const 12
  mem_store mem0[0..4], %1, %2
  mem_store mem0[4..8], %20, %3
  mem_store mem0[8..12], %21, %4
  mem_store mem0[12..16], %22, %0
  %5: b32 = loop %1 body (%6: b32) {
    %7: b32 = and %6, %4
    %8: b32 = shl %7, %3
    %9: b32 = mem_load mem0[0..16], %8
    %10: b32 = iadd %9, %6
    mem_store mem0[0..16], %8, %10
    %11: b1 = ult %0, %6
    if %11 {
      %12: b32 = imul %6, %4
      break %12
    } else {
      yield
    }
    continue %6
  } continuing (%23: b32) {
    %13: b32 = iadd %23, %2
    next %13
  }
  %14: b32 = and %0, %4
  %15: b32 = shl %14, %3
  %16: b32 = mem_load mem0[0..16], %15
  %17: b32 = iadd %16, %5
  %18: b32 = shl %0, %3
  buffer_store res0, %18, %17
  yield
}";
    for chip in CHIPS {
        let run = dispatch(&func(text), chip, [1, 1, 1], 7);
        run.unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
}

/// Pixels that are demoted store nothing more, leave no colour, and still help their neighbours.
#[test]
fn demoted_pixels_help_and_leave_nothing() {
    let text = "func \"main\" fragment trusted {
  res0 = \"words\" group 0 binding 0 storage 256 stride 0 load store as u32
  in0 = \"value\" f32 x 1 location 0 linear center
  in1 = \"position\" f32 x 4 builtin position
  out0 = \"color\" f32 x 2 location 0 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0
  %2: b1 = flt %0, %1
  if %2 {
    demote
    yield
  } else {
    yield
  }
  %3: b32 = ddx_fine %0
  %4: b32 = input in1.0
  %5: b32 = f2u %4
  %6: b32 = const 2
  %7: b32 = shl %5, %6
  buffer_store res0, %7, %3
  output out0.0, %3
  output out0.1, %4
  yield
}";
    for chip in CHIPS {
        for seed in 0..8 {
            shade(&func(text), chip, seed).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
        }
    }
}

#[test]
fn workgroups_share_coefficients_and_meet_at_barriers() {
    for workgroup_size in [32, 64, 100] {
        let config = Config { workgroup: true, workgroup_size, ..PLAIN };
        let (holds, others) = random(&config, 120);
        assert!(holds >= 115, "{holds} hold; {others:?}");
    }
}

/// Sums that do not wait for one another share groups, two by two.
#[test]
fn independent_operations_share_groups() {
    let text = "func \"main\" fragment trusted {
  in0 = \"a\" f32 x 4 location 0 linear center
  in1 = \"b\" f32 x 4 location 1 linear center
  out0 = \"color\" f32 x 4 location 0 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in0.2
  %3: b32 = input in0.3
  %4: b32 = input in1.0
  %5: b32 = input in1.1
  %6: b32 = input in1.2
  %7: b32 = input in1.3
  %8: b32 = fadd %0, %4
  %9: b32 = fmul %1, %5
  %10: b32 = fadd %2, %6
  %11: b32 = fmul %3, %7
  output out0.0, %8
  output out0.1, %9
  output out0.2, %10
  output out0.3, %11
  yield
}";
    let func = func(text);
    for chip in CHIPS {
        shade(&func, chip, 3).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
        let groups = |skip: Vec<String>| {
            let mut request = Request { chip, ..Request::default() };
            request.passes.gate.skip = skip;
            let compiled = ROGUE.finish(func.clone(), &request).expect("it compiles");
            compiled.described.stats.instructions
        };
        // Two iterators, a wait; four operations and four outputs, the last of which ends the program.
        assert_eq!(groups(vec!["pack".into()]), 11, "{chip}");
        // Two operations write two outputs each time.
        assert_eq!(groups(Vec::new()), 5, "{chip}");
    }
}

/// The machine rounds `fma` once, so that the shared passes, which are exact, contract nothing: its own plan does.
#[test]
fn products_and_sums_are_contracted_by_the_plan_alone() {
    let text = "func \"main\" fragment trusted {
  in0 = \"a\" f32 x 3 location 0 linear center
  out0 = \"color\" f32 x 1 location 0 flat
} body {
  %0: b32 = input in0.0
  %1: b32 = input in0.1
  %2: b32 = input in0.2
  %3: b32 = fmul %0, %1
  %4: b32 = fadd %3, %2
  output out0.0, %4
  yield
}";
    let has = |func: &Func| {
        func.regions[func.body].insts.iter().any(|&inst| func.insts[inst].op == Op::FMa)
    };
    let mut shared = func(text);
    let options = Options::default();
    let mut ctx = Ctx::new(options, ROGUE.numerics("gx6250"), ROGUE.info());
    let plan = Plan::for_options(&options);
    Runner::default().run(&plan, &mut shared, &mut ctx, &mut Quiet).expect("the passes run");
    assert!(!has(&shared));
    let compiled = compile(&func(text), "gx6250").expect("it compiles");
    assert!(has(&compiled.expanded));
}
