#![forbid(unsafe_code)]
//! The R700 back end: optimised structured SSA becomes VLIW machine code for AMD RV7xx.

mod abi;
mod api;
mod cost;
mod depend;
pub mod driver;
mod emit;
pub mod emu;
mod expand;
mod fetch;
mod gather;
pub mod group;
pub mod inst;
pub mod isa;
mod late;
pub mod legal;
mod live;
mod lower;
mod numerics;
pub mod op;
mod rebalance;
mod refuse;
mod regs;
mod retarget;
mod schedule;
mod share;
pub mod slot;
mod state;
#[cfg(test)]
mod straight;
mod target;
mod temporaries;
mod text;
mod tidy;

pub use api::{
    Attribute, AttributeFetch, BindingSlot, Chip, Compiled, ComputeLayout, DriverConstant, Effort,
    ExportKind, Failure, Family, Fetch, InputSlot, Options, OutputSlot, ResourceSlot, Slot, State,
    StateRegister, Stats, Step, TABLE_STRIDE, TABLES, Uniforms, VertexBuffer, VertexForm,
    VertexState,
};

pub use numerics::{numerics, numerics_of};
pub use refuse::{refusals, refusals_of};
pub use target::target_info;

use gpucc_ir::mach;
use gpucc_ir::ssa::{Func, Stage};

/// Compiles one entry point, given after the shared passes, to machine code.
///
/// # Errors
/// See [`Failure`].
pub fn compile(func: Func, options: &Options) -> Result<Compiled, Failure> {
    let mut stages = gpucc_ir::driver::Stages::new(options.clock);
    refuse::check(&func, options.chip)?;
    abi::check_arrays(&func)?;
    let expanded = expand::expand(func, options);
    stages.end("expand");
    let abi = abi::Abi::of(&expanded, options)?;
    let mut lowered = lower::lower(&expanded, &abi)?;
    let mut dumps = Vec::new();
    let mut dump = |pass: &'static str, func: &mach::Func<inst::Inst>| {
        if options.dump {
            dumps.push((pass, text::print(func)));
        }
    };
    dump("lower", &lowered.func);
    let internal = |pass, message: String| Failure::Internal { pass, message };
    mach::verify(&lowered.func).map_err(|fault| internal("lower", fault.to_string()))?;
    stages.end("lower");
    if options.effort > Effort::None {
        tidy::number(&mut lowered.func);
        tidy::sweep(&mut lowered.func);
        gather::run(&mut lowered.func);
        dump("gather", &lowered.func);
        let variables = late::Variables::of(&lowered.func);
        late::run(&mut lowered.func, &variables);
        schedule::run(&mut lowered.func, options.chip.family().isa(), &variables);
        dump("schedule", &lowered.func);
    }
    stages.end("schedule");
    let mut hooks = regs::Hooks {
        first: lowered.scratch,
    };
    let mut limits = gpucc_regalloc::Options::for_files(inst::FILES.0);
    limits.policy = gpucc_regalloc::Policy::Compact { free_rows: 1 };
    let allocation = gpucc_regalloc::allocate(&mut lowered.func, &mut hooks, &limits)
        .map_err(|error| internal("registers", error.to_string()))?;
    let scratch = lowered.scratch + allocation.slots.div_ceil(4);
    lower::within_scratch(scratch)?;
    dump("registers", &lowered.func);
    stages.end("registers");
    let config = emit::Config {
        chip: options.chip,
        pixel: expanded.stage == Stage::Fragment,
        fetch_shader: expanded.stage == Stage::Vertex
            && options.pipeline.vertex.fetch == Fetch::Separate,
        search: options.effort == Effort::Max,
    };
    let emitted = emit::emit(&lowered.func, &config)?;
    stages.end("emit");
    let state = state::state(&expanded, &abi, &emitted, scratch);
    let gprs = state[0].fields[0].1;
    legal::legal(options.chip.family().isa(), &emitted.program, gprs).map_err(|finished| {
        internal(
            "legal",
            format!("{} (quadword {})", finished.violation, finished.at),
        )
    })?;
    stages.end("legal");
    let mut stats = emitted.stats;
    stats.gprs = gprs;
    stats.scratch_bytes = 16 * scratch;
    stats.shared_bytes = abi.compute.map_or(0, |layout| {
        4 * (layout.workgroup_dwords + layout.share_stride * layout.threads_per_workgroup)
    });
    stats.stack_entries = emitted.stack;
    cost::fill(&mut stats, emitted.least_groups);
    let optimal = stats.alu_groups == emitted.least_groups;
    let mut compiled = Compiled {
        code: emitted
            .words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect(),
        state,
        resources: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        driver_constants: abi.driver_constants(&lowered.driver),
        fetch_program: if expanded.stage == Stage::Vertex {
            fetch::program(&abi)?
        } else {
            None
        },
        tables: lowered
            .tables
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect(),
        compute: None,
        pipeline: State::default(),
        notes: Vec::new(),
        stats,
        lines: emitted.lines,
        expanded,
        dumps,
        times: Vec::new(),
    };
    abi.report(&mut compiled);
    stages.end("report");
    compiled.times = stages.times;
    if options.effort == Effort::Max && optimal {
        compiled.notes.push(format!(
            "the schedule is optimal: {} groups are the least that these operations need",
            compiled.stats.alu_groups
        ));
    }
    Ok(compiled)
}
