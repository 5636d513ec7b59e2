//! The reference interpreter as a device.

use super::layout;
use crate::pipeline::VertexState;
use gpucc_emu::device::{
    Device, FragmentOut, Launcher, PrimitiveIn, PrimitiveOut, Stop, VertexOut, VertexRun,
    invocations, record,
};
use gpucc_emu::draw::{Early, Quad, QuadBatch};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::interp::{self, Lanes, Options, Outcome, SUBGROUP, Trace};
use gpucc_ir::ssa::numerics::half_bits;
use gpucc_ir::ssa::{Builtin, Func, InputKind, Inst, Numerics, Scalar, Span};

/// Lanes that run together: larger dispatches are cut at workgroups.
const MOST_LANES: u32 = 4096;

/// Instructions of 64 invocations that all runs may take together unless told otherwise.
const STEPS: u64 = 6_000_000;

/// Runs structured SSA.
pub struct Interp {
    func: Func,
    numerics: Numerics,
    vertex: VertexState,
    launcher: Launcher,
    beyond: Option<Span>,
}

impl Interp {
    /// Runs a function under a numeric model; attributes lie as the pipeline says.
    pub fn new(func: &Func, numerics: Numerics, vertex: Option<&VertexState>) -> Interp {
        Interp {
            func: func.clone(),
            numerics,
            vertex: layout::complete(func, vertex),
            launcher: Launcher::new(&[], &[], STEPS),
            beyond: None,
        }
    }

    /// The place of the first access so far that went beyond a variable, a buffer or an array of bindings.
    pub fn beyond(&self) -> Option<Span> {
        self.beyond
    }

    fn run(&mut self, lanes: &Lanes, bindings: &mut Bindings) -> Result<Outcome, Stop> {
        let (func, numerics) = (&self.func, &self.numerics);
        let mut beyond = None;
        let outcome = self.launcher.interpret(|left, trace| {
            gpucc_ir::stack::for_regions(func, || {
                let mut writer = trace.map(Writer);
                let mut options = Options::new(numerics);
                options.steps = u64::MAX;
                options.work = Some(left);
                options.beyond = Some(&mut beyond);
                options.trace = writer.as_mut().map(|writer| writer as &mut dyn Trace);
                match interp::run(func, lanes, bindings, options) {
                    Err(interp::Stop::OutOfSteps(_)) => Ok(None),
                    done => done.map(Some).map_err(|stop| stopped(func, stop)),
                }
            })
        });
        if let Some(inst) = beyond {
            self.beyond.get_or_insert(func.insts[inst].span);
        }
        outcome
    }
}

/// A stop of the interpreter in a device's words.
pub fn stopped(func: &Func, stop: interp::Stop) -> Stop {
    let span = |inst: Inst| func.insts.get(inst).map_or(Span::NONE, |data| data.span);
    match stop {
        interp::Stop::OutOfSteps(steps) => Stop::OutOfSteps(steps),
        interp::Stop::DivergentBarrier(inst) => Stop::Invalid {
            message: "a barrier is not reached by every invocation of a workgroup".into(),
            span: span(inst),
        },
        interp::Stop::Memory { needed, available } => Stop::TooLarge(format!(
            "the variables of the invocations need {needed} words, more than {available}"
        )),
        interp::Stop::Unreachable(inst) | interp::Stop::Malformed(inst, _) => Stop::Illegal {
            rule: "the interpreter".into(),
            message: stop.to_string(),
            span: span(inst),
        },
    }
}

/// Lanes of vertices.
pub fn vertex_lanes(func: &Func, state: &VertexState, run: &VertexRun<'_>) -> Lanes {
    let mut lanes = Lanes::new(func, run.ids.len());
    for (input, data) in &func.inputs {
        for (lane, id) in run.ids.iter().enumerate() {
            let value = match data.kind {
                InputKind::Builtin(Builtin::VertexIndex) => {
                    [id.vertex.wrapping_add(run.first_vertex), 0, 0, 0]
                }
                InputKind::Builtin(Builtin::InstanceIndex) => {
                    [id.instance.wrapping_add(run.first_instance), 0, 0, 0]
                }
                InputKind::Builtin(Builtin::SubgroupSize) => [SUBGROUP, 0, 0, 0],
                InputKind::Builtin(Builtin::SubgroupInvocationId) => {
                    [lane as u32 % SUBGROUP, 0, 0, 0]
                }
                InputKind::Builtin(Builtin::BaseVertex) => [run.first_vertex, 0, 0, 0],
                InputKind::Builtin(Builtin::BaseInstance) => [run.first_instance, 0, 0, 0],
                InputKind::Builtin(_) | InputKind::Corner { .. } => [0; 4],
                InputKind::Location { location, .. } => layout::fetch(
                    state,
                    location,
                    run.buffers,
                    *id,
                    run.first_vertex,
                    run.first_instance,
                )
                .map_or([0; 4], |words| match data.scalar {
                    Scalar::F16 => words.map(half_bits),
                    _ => words,
                }),
            };
            lanes.inputs[interp::slot(input)][lane] = value;
        }
    }
    lanes
}

/// Lanes of primitives: the invocations of each, in order.
pub fn primitive_lanes(func: &Func, primitives: &[PrimitiveIn]) -> Lanes {
    let invocations = func.geometry.map_or(1, |geometry| geometry.invocations as usize);
    let mut lanes = Lanes::new(func, primitives.len() * invocations);
    for (input, data) in &func.inputs {
        let slot = interp::slot(input);
        for lane in 0..lanes.count {
            let primitive = &primitives[lane / invocations];
            lanes.inputs[slot][lane] = match data.kind {
                InputKind::Corner { .. } => primitive.inputs.get(slot).copied().unwrap_or_default(),
                InputKind::Builtin(Builtin::PrimitiveIndex) => [primitive.number, 0, 0, 0],
                InputKind::Builtin(Builtin::InvocationIndex) => {
                    [(lane % invocations) as u32, 0, 0, 0]
                }
                InputKind::Builtin(Builtin::SubgroupSize) => [SUBGROUP, 0, 0, 0],
                InputKind::Builtin(Builtin::SubgroupInvocationId) => {
                    [lane as u32 % SUBGROUP, 0, 0, 0]
                }
                InputKind::Builtin(_) | InputKind::Location { .. } => [0; 4],
            };
        }
    }
    lanes
}

/// What each primitive became.
pub fn primitive_outs(func: &Func, outcome: &Outcome) -> Vec<PrimitiveOut> {
    let invocations = func.geometry.map_or(1, |geometry| geometry.invocations as usize);
    outcome.emitted.chunks(invocations).map(<[_]>::concat).collect()
}

/// Lanes of quads.
pub fn quad_lanes(func: &Func, batch: &QuadBatch) -> Lanes {
    let mut lanes = Lanes::new(func, batch.quads.len() * 4);
    for lane in 0..lanes.count {
        lanes.helper[lane] = batch.quads[lane / 4].covered >> (lane % 4) & 1 == 0;
    }
    let mut varying = 0;
    for (input, data) in &func.inputs {
        let slot = interp::slot(input);
        for (index, quad) in batch.quads.iter().enumerate() {
            for pixel in 0..4 {
                lanes.inputs[slot][index * 4 + pixel] = match data.kind {
                    InputKind::Location { .. } => batch.varying(index, pixel, varying),
                    InputKind::Builtin(builtin) => pixel_builtin(builtin, quad, index * 4 + pixel),
                    InputKind::Corner { .. } => [0; 4],
                };
            }
        }
        varying += usize::from(matches!(data.kind, InputKind::Location { .. }));
    }
    lanes
}

/// A builtin of one pixel, by its lane.
fn pixel_builtin(builtin: Builtin, quad: &Quad, lane: usize) -> [u32; 4] {
    let pixel = lane % 4;
    match builtin {
        Builtin::SubgroupSize => [SUBGROUP, 0, 0, 0],
        Builtin::SubgroupInvocationId => [lane as u32 % SUBGROUP, 0, 0, 0],
        Builtin::Position => quad.position[pixel].map(f32::to_bits),
        Builtin::FrontFacing => [u32::from(quad.front), 0, 0, 0],
        Builtin::SampleMask => [quad.mask(pixel), 0, 0, 0],
        Builtin::SampleIndex => [quad.sample(), 0, 0, 0],
        Builtin::PrimitiveIndex => [quad.primitive, 0, 0, 0],
        Builtin::SamplePosition => {
            let place = quad.places().get(quad.sample() as usize).copied().unwrap_or_default();
            let [x, y] = place.map(|part| (f32::from(part) / 256.0).to_bits());
            [x, y, 0, 0]
        }
        Builtin::PointCoord => {
            let [s, t] = quad.point[pixel].map(f32::to_bits);
            [s, t, 0, 0]
        }
        _ => [0; 4],
    }
}

/// What each lane gave, in the facade's words.
pub fn vertex_outs(outcome: &Outcome, lanes: usize) -> Vec<VertexOut> {
    (0..lanes).map(|lane| outcome.outputs.iter().map(|output| output[lane]).collect()).collect()
}

/// What each pixel gave.
pub fn pixel_outs(outcome: &Outcome, batch: &QuadBatch) -> Vec<FragmentOut> {
    (0..batch.quads.len() * 4)
        .map(|lane| FragmentOut {
            discarded: outcome.helper[lane] && batch.quads[lane / 4].covered >> (lane % 4) & 1 == 1,
            outputs: outcome.outputs.iter().map(|output| output[lane]).collect(),
        })
        .collect()
}

impl Device for Interp {
    fn most_samples(&self) -> u32 {
        crate::pipeline::MOST_SAMPLES
    }

    fn by_sample(&self) -> bool {
        self.func.runs_by_sample()
    }

    fn early(&self) -> Early {
        // The API tests behind the program unless that asks for tests before it.
        let early = self.func.early_fragment_tests;
        Early { test: early, write: early }
    }
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop> {
        let sizes = self.func.workgroup_size.iter();
        let size = sizes.fold(1u32, |size, &n| size.saturating_mul(n.max(1)));
        let chunk = (MOST_LANES / size).max(1);
        let total = invocations(groups, size)? / size;
        let mut from = 0;
        while from < total {
            let to = total.min(from.saturating_add(chunk));
            let lanes = Lanes::compute(&self.func, groups, from, to);
            self.run(&lanes, bindings)?;
            from = to;
        }
        Ok(())
    }

    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop> {
        let lanes = vertex_lanes(&self.func, &self.vertex, run);
        let outcome = self.run(&lanes, bindings)?;
        Ok(vertex_outs(&outcome, lanes.count))
    }

    fn primitives(
        &mut self,
        bindings: &mut Bindings,
        primitives: &[PrimitiveIn],
    ) -> Result<Vec<PrimitiveOut>, Stop> {
        let lanes = primitive_lanes(&self.func, primitives);
        let outcome = self.run(&lanes, bindings)?;
        Ok(primitive_outs(&self.func, &outcome))
    }

    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop> {
        let lanes = quad_lanes(&self.func, batch);
        let outcome = self.run(&lanes, bindings)?;
        Ok(pixel_outs(&outcome, batch))
    }

    fn launcher(&mut self) -> &mut Launcher {
        &mut self.launcher
    }

    fn steps(&self) -> u64 {
        self.launcher.steps
    }
}

/// Writes executed instructions: `%7 = fadd  lane 0: 0x3f800000  lane 1: ...`.
struct Writer<'a>(&'a mut String);

impl Trace for Writer<'_> {
    fn executed(
        &mut self,
        func: &Func,
        inst: Inst,
        lanes: &[usize],
        value: &dyn Fn(usize, usize) -> u64,
    ) {
        let data = &func.insts[inst];
        let results: Vec<String> = data.results.iter().map(ToString::to_string).collect();
        let args: Vec<String> = data.args.iter().map(ToString::to_string).collect();
        let head =
            if results.is_empty() { String::new() } else { format!("{} = ", results.join(", ")) };
        let args = args.join(", ");
        record(self.0, format_args!("{head}{} {args}\n", data.op.name()));
        for &lane in lanes {
            let values: Vec<String> =
                (0..results.len()).map(|result| format!("{:#010x}", value(lane, result))).collect();
            if !values.is_empty() {
                record(self.0, format_args!("    lane {lane}: {}\n", values.join(" ")));
            }
        }
    }
}
