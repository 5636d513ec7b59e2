#![forbid(unsafe_code)]
//! The Valhall back end: optimised structured SSA becomes machine code for Arm Valhall v9.

pub mod abi;
mod api;
mod back;
mod constants;
mod cost;
mod dead;
mod describe;
mod device;
mod emit;
pub mod emu;
mod expand;
mod fau;
mod flow;
mod helpers;
mod inst;
pub mod isa;
mod legal;
mod lower;
mod machine;
mod numerics;
mod parse;
mod refuse;
mod regs;
mod schedule;
mod sites;
pub mod state;
mod target;
mod text;
mod warp;

pub use back::machine_passes;
pub use expand::plan;
pub use machine::Valhall;
pub use numerics::numerics;
pub use refuse::refusals;
pub use target::{expansion_target, target_info};

pub use api::{
    Attribute, AttributeFetch, BindingSlot, Chip, Compiled, ConstantBuffer, Descriptor, Effort,
    Failure, FauWord, Fetch, ImageWord, InputPlace, InputSlot, Options, OutputPlace, OutputSlot,
    ProgramInfo, ResourceSlot, Slot, State, Stats, Step, TableUse, Uniforms, VertexBuffer,
    VertexForm, VertexState,
};

use gpucc_ir::budget::{EXPANDED, PART};
use gpucc_ir::ssa::{Func, Stage};

/// Asks whether the machine can do what an entry point does, given after the shared passes.
///
/// # Errors
/// [`Failure::Refused`] for what it cannot.
pub fn admit(func: &Func) -> Result<(), Failure> {
    refuse::check(func)
}

/// Compiles one entry point, given after the shared passes, to machine code: [`admit`], [`plan`] and [`finish`].
///
/// # Errors
/// See [`Failure`].
pub fn compile(mut func: Func, options: &Options) -> Result<Compiled, Failure> {
    admit(&func)?;
    expand(&mut func, options)?;
    finish(func, options)
}

/// Runs [`plan`] alone.
fn expand(func: &mut Func, options: &Options) -> Result<(), Failure> {
    let target = expansion_target(options);
    let mut ctx = gpucc_passes::Ctx::new(gpucc_passes::Options::default(), numerics(), target);
    ctx.pipeline = Some(&options.pipeline);
    gpucc_passes::Runner::default()
        .go_on(&plan(options), func, &mut ctx, &mut gpucc_passes::Quiet)
        .map_err(|error| Failure::Internal { pass: "expand", message: error.to_string() })?;
    Ok(())
}

/// Makes machine code of an entry point that [`plan`] has expanded.
///
/// # Errors
/// See [`Failure`].
pub fn finish(expanded: Func, options: &Options) -> Result<Compiled, Failure> {
    let parts = expanded.live_parts() as u64;
    options.budget.hold(EXPANDED, parts, PART)?;
    let mut runner = gpucc_passes::mach::runner::Runner::new(&options.passes);
    let abi = abi::Abi::of(&expanded, options)?;
    let mut parts = Vec::new();
    for &part in lower::parts(&expanded, &abi) {
        let lowered = lower::lower(&lower::only(&expanded, part), &abi, part)?;
        parts.push(back::Part {
            func: lowered.func,
            fau: lowered.fau.into_iter().collect(),
            private_bytes: lowered.tls_bytes,
        });
    }
    let mut finished = back::finish(parts, expanded.stage, options, &mut runner)?;
    let (mut stages, dumps) = (runner.stages, runner.dumps);
    if expanded.stage == Stage::Fragment {
        // A blend shader finds the coverage and the sample there.
        for program in &mut finished.programs {
            program.preload |= 0b11 << (60 - 48);
        }
    }
    let state = state::state(
        &expanded,
        &abi,
        &finished.programs,
        finished.fau.len() as u32,
        finished.private_bytes,
    );
    let mut stats = finished.stats;
    stats.shared_bytes = abi.wls_bytes;
    let mut compiled = Compiled {
        code: finished.code,
        secondary_offset: finished.programs.get(1).map(|program| program.offset),
        programs: finished.programs,
        fau: finished.fau,
        tables: Vec::new(),
        info_buffer: None,
        constants: Vec::new(),
        resources: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        varying_stride: 0,
        tls_bytes: finished.private_bytes,
        wls_bytes: 0,
        state,
        pipeline: State::default(),
        notes: Vec::new(),
        stats,
        lines: finished.lines,
        expanded,
        dumps,
        times: Vec::new(),
    };
    abi.report(&mut compiled);
    stages.end("report");
    compiled.times = stages.times;
    Ok(compiled)
}
