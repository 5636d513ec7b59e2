#![forbid(unsafe_code)]
// The emulated machine asks for what nobody else does.
#![cfg_attr(not(feature = "emulator"), allow(dead_code, unused_imports))]
//! The Valhall back end: optimised structured SSA becomes machine code for Arm Valhall v9.

pub mod abi;
mod api;
mod back;
mod constants;
mod cost;
mod dead;
mod describe;
#[cfg(feature = "emulator")]
mod device;
mod emit;
#[cfg(feature = "emulator")]
pub mod emu;
mod evidence;
mod expand;
mod fau;
mod flow;
mod helpers;
mod inst;
pub mod isa;
mod legal;
mod limits;
mod looked;
mod lower;
mod machine;
mod numerics;
mod parse;
mod refuse;
mod regs;
mod schedule;
#[cfg(feature = "emulator")]
mod sites;
pub mod state;
mod steps;
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
    Attribute, BindingSlot, Chip, Effort, Failure, FauWord, Fetch, Options, State, Step, Uniforms,
    VertexBuffer, VertexForm, VertexState,
};
pub use gpucc_machine::Compiled;

use gpucc_ir::budget::{EXPANDED, PART};
use gpucc_ir::ssa::Func;
use gpucc_machine::compiled::Placed;
use gpucc_machine::place;

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
    if expanded.stage == gpucc_ir::ssa::Stage::Fragment
        && let Some(targets) = &options.pipeline.fragment
    {
        state::targets::admit(targets)?;
    }
    let mut runner = gpucc_passes::mach::runner::Runner::new(&options.passes);
    let abi = abi::Abi::of(&expanded, options)?;
    place::apart(&expanded, abi.taken())?;
    let mut parts = Vec::new();
    for &part in lower::parts(&expanded, &abi) {
        let lowered = lower::lower(&lower::only(&expanded, part), &abi, part)?;
        parts.push(back::Part {
            func: lowered.func,
            fau: lowered.fau.into_iter().collect(),
            private_bytes: lowered.tls_bytes,
        });
    }
    let finished = back::finish(parts, expanded.stage, options, &mut runner)?;
    let gpucc_passes::mach::runner::Runner { mut stages, dumps, .. } = runner;
    let programs = finished.programs.iter().enumerate().map(|(number, program)| {
        let start = program.offset as usize;
        gpucc_machine::Program {
            name: if number == 0 { "" } else { "varying" }.into(),
            code: Placed::Within(start..start + program.bytes as usize),
            registers: program.registers,
        }
    });
    let programs = programs.collect();
    let described = describe::described(&expanded, &abi, options.chip, &finished);
    stages.end("report");
    Ok(Compiled {
        code: finished.code,
        programs,
        described,
        expanded,
        lines: finished.lines,
        notes: abi.notes,
        pipeline: abi.pipeline,
        dumps,
        times: stages.times,
    })
}
