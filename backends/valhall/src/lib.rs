#![forbid(unsafe_code)]
//! The Valhall back end: optimised structured SSA becomes machine code for Arm Valhall v9.

pub mod abi;
mod api;
mod back;
mod constants;
mod cost;
mod dead;
mod emit;
pub mod emu;
mod expand;
mod fau;
mod flow;
mod graph;
mod helpers;
mod inst;
pub mod isa;
mod legal;
mod live;
mod lower;
mod numerics;
mod refuse;
mod regs;
mod schedule;
pub mod state;
mod target;
mod text;
mod warp;

pub use numerics::numerics;
pub use refuse::refusals;
pub use target::target_info;

pub use api::{
    Attribute, AttributeFetch, BindingSlot, Chip, Compiled, ConstantBuffer, Descriptor, Effort,
    Failure, FauWord, Fetch, ImageWord, InputPlace, InputSlot, Options, OutputPlace, OutputSlot,
    ProgramInfo, ResourceSlot, Slot, State, Stats, Step, TableUse, Uniforms, VertexBuffer,
    VertexForm, VertexState,
};

use gpucc_ir::ssa::{Func, Stage};

/// Compiles one entry point, given after the shared passes, to machine code.
///
/// # Errors
/// See [`Failure`].
pub fn compile(func: Func, options: &Options) -> Result<Compiled, Failure> {
    let mut stages = gpucc_ir::driver::Stages::new(options.clock);
    refuse::check(&func)?;
    let expanded = expand::expand(func, options);
    stages.end("expand");
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
    stages.end("lower");
    let mut dumps = Vec::new();
    let watch = |pass, func: &_| {
        if options.dump {
            dumps.push((pass, text::print(func)));
        }
    };
    let mut finished = back::finish(parts, expanded.stage, options.effort, watch, &mut stages)?;
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
