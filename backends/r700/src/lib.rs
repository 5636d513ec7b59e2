#![forbid(unsafe_code)]
// The emulated machine asks for what nobody else does.
#![cfg_attr(not(feature = "emulator"), allow(dead_code, unused_imports))]
//! The R700 back end: optimised structured SSA becomes VLIW machine code for AMD RV7xx.

mod abi;
mod ahead;
mod api;
mod cost;
mod describe;
#[cfg(feature = "emulator")]
mod device;
pub mod driver;
mod early;
mod emit;
#[cfg(feature = "emulator")]
pub mod emu;
mod evidence;
mod expand;
mod fetch;
mod gather;
pub mod group;
pub mod inst;
pub mod isa;
mod late;
pub mod legal;
mod limits;
mod live;
mod lower;
mod machine;
mod numerics;
pub mod op;
mod parse;
#[cfg(test)]
mod planted;
mod rebalance;
mod refuse;
mod regs;
mod retarget;
mod schedule;
mod share;
#[cfg(feature = "emulator")]
mod sites;
pub mod slot;
mod state;
mod steps;
#[cfg(test)]
mod straight;
mod target;
mod temporaries;
mod text;
mod tidy;
mod value;

pub use api::{
    Attribute, BindingSlot, Chip, Effort, Failure, Family, Fetch, Options, State, StateRegister,
    Step, Uniforms, VertexBuffer, VertexForm, VertexState,
};
pub use gpucc_machine::Compiled;

pub use expand::plan;
pub use numerics::{numerics, numerics_of};
pub use refuse::{refusals, refusals_of};
pub use target::target_info;

use gpucc_ir::budget::{Budget, EXPANDED, PART};
use gpucc_ir::mach;
use gpucc_ir::ssa::{Func, Span, Stage};
use gpucc_machine::compiled::Placed;
use gpucc_machine::text::holds_registers;
use gpucc_machine::{Code, Excerpt, TextError, place};
use gpucc_passes::mach::remove_dead;
use gpucc_passes::mach::runner::{self, optional, required};
use gpucc_passes::pass::Listed;

/// A program on its way from lowering to words.
struct Program {
    func: mach::Func<inst::Inst>,
    config: emit::Config,
    /// What becomes of `func` once it has registers.
    draft: Option<emit::Draft>,
    budget: Budget,
    /// Where values of variables change, for the passes that order instructions.
    variables: Option<late::Variables>,
    /// vec4 of scratch: those of variables, then those of spills.
    scratch: u32,
}

impl runner::Program for Program {
    fn check(&self, each: bool) -> Result<(), String> {
        mach::verify(&self.func).map_err(|fault| fault.to_string())?;
        match &self.draft {
            Some(draft) if each => {
                let before = emit::draft(&self.func, &self.config);
                draft.check(&before.map_err(|failure| failure.to_string())?)
            }
            // Its rules are asked of the finished program.
            None if each => mach::reads_back(&self.func),
            _ => Ok(()),
        }
    }
    fn print(&self) -> (String, Vec<Span>) {
        match &self.draft {
            Some(draft) => (draft.print(), Vec::new()),
            None => mach::print_with_spans(&self.func),
        }
    }
}

impl Program {
    fn new(func: mach::Func<inst::Inst>, scratch: u32, stage: Stage, options: &Options) -> Program {
        Program {
            func,
            config: emit::Config {
                chip: options.chip,
                pixel: stage == Stage::Fragment,
                fetch_shader: stage == Stage::Vertex
                    && options.pipeline.vertex.fetch == Fetch::Separate,
                search: options.effort == Effort::Max,
            },
            draft: None,
            budget: options.budget,
            variables: None,
            scratch,
        }
    }

    /// Runs a pass that wants to know where variables change.
    fn with_variables(&mut self, run: impl FnOnce(&mut Self, &late::Variables)) {
        let variables = self.variables.take();
        let variables = variables.unwrap_or_else(|| late::Variables::of(&self.func));
        run(self, &variables);
        self.variables = Some(variables);
    }
}

/// The passes over machine IR, in order; at `-O0` the required ones alone.
const PASSES: &[runner::Pass<Program>] = &[
    optional("number", "computes nothing twice in a block", |program| {
        tidy::number(&mut program.func);
        Ok(())
    }),
    optional("sweep", "removes instructions whose results nobody reads", |program| {
        remove_dead(&mut program.func);
        Ok(())
    }),
    optional("gather", "vectors that fetches and exports take lie in one register", |program| {
        gather::run(&mut program.func);
        Ok(())
    }),
    optional("late", "what is needed late is computed late", |program| {
        program.with_variables(|program, variables| late::run(&mut program.func, variables));
        Ok(())
    }),
    optional("schedule", "instructions form groups, and choose channels", |program| {
        program.with_variables(|program, variables| {
            schedule::run(&mut program.func, program.config.isa(), variables)
        });
        Ok(())
    }),
    required("registers", "virtual registers become general-purpose registers", registers),
    optional("early", "what a lane takes out of a loop is moved before it leaves", |program| {
        early::run(&mut program.func);
        Ok(())
    }),
    required(
        "clauses",
        "instructions become runs of ALU work, clauses of fetches and marks of control flow",
        |program| {
            program.draft = Some(emit::draft(&program.func, &program.config)?);
            Ok(())
        },
    ),
    optional("retarget", "moves that need not be go", |program| {
        program.draft.iter_mut().for_each(emit::Draft::retarget);
        Ok(())
    }),
    required("group", "ALU work becomes groups", |program| {
        program.draft.iter_mut().try_for_each(emit::Draft::group)
    }),
    optional("temporaries", "values of one clause move to clause temporaries", |program| {
        program.draft.iter_mut().for_each(emit::Draft::temporaries);
        Ok(())
    }),
];

/// The passes over machine IR, the lowering first.
pub fn machine_passes() -> Vec<Listed> {
    runner::listed(PASSES)
}

/// Allocates registers; spills lie behind the variables in scratch.
fn registers(program: &mut Program) -> Result<(), Failure> {
    let mut hooks = regs::Hooks { first: program.scratch };
    let mut limits = gpucc_regalloc::Options::for_files(inst::FILES.0);
    limits.budget = program.budget;
    // R6xx may take one register more, in which scratch lands.
    let landing = u32::from(program.config.chip.family() == Family::R600);
    let most = (program.config.chip.stage_registers() - landing) as u16;
    limits.rows.iter_mut().for_each(|rows| *rows = (*rows).min(most));
    limits.policy = gpucc_regalloc::Policy::Compact { free_rows: 1 };
    let allocation =
        gpucc_regalloc::allocate(&mut program.func, &mut hooks, &limits).map_err(|error| {
            match error {
                gpucc_regalloc::Error::Exceeded(exceeded) => exceeded.into(),
                error => internal("registers", error.to_string()),
            }
        })?;
    program.scratch += allocation.slots.div_ceil(4);
    lower::within_scratch(program.scratch)
}

fn internal(pass: &'static str, message: String) -> Failure {
    Failure::Internal { pass, message }
}

/// Asks whether the machine can do what an entry point does, given after the shared passes.
///
/// # Errors
/// [`Failure::Refused`] for what it cannot, [`Failure::Limit`] for what it has too few of.
pub fn admit(func: &Func, chip: Chip) -> Result<(), Failure> {
    refuse::check(func, chip)?;
    expand::coverage::admit(func)?;
    abi::check_arrays(func)
}

/// Compiles one entry point, given after the shared passes, to machine code: [`admit`], [`plan`] and [`finish`].
///
/// # Errors
/// See [`Failure`].
pub fn compile(mut func: Func, options: &Options) -> Result<Compiled, Failure> {
    admit(&func, options.chip)?;
    let mut ctx = gpucc_passes::Ctx::new(
        gpucc_passes::Options::default(),
        numerics_of(options.chip.family()),
        target_info(),
    );
    ctx.pipeline = Some(&options.pipeline);
    gpucc_passes::Runner::default()
        .go_on(&plan(options.effort), &mut func, &mut ctx, &mut gpucc_passes::Quiet)
        .map_err(|error| Failure::Internal { pass: "expand", message: error.to_string() })?;
    finish(func, options)
}

/// Runs passes over machine IR that is given as text: [`gpucc_machine::Machine::run_passes`].
fn run_passes(
    excerpt: Excerpt<'_>,
    names: &[&str],
    options: &Options,
) -> Result<String, TextError> {
    let func = mach::parse(excerpt.text, inst::FILES)?;
    let chosen = runner::choose(PASSES, names).map_err(TextError::Passes)?;
    if !names.is_empty() {
        holds_registers(&func, chosen.allocated)?;
    }
    let scratch = lower::scratch_of(&func);
    let mut program = Program::new(func, scratch, excerpt.stage, options);
    runner::Program::check(&program, true).map_err(TextError::Broken)?;
    let control = runner::Control { verify_each: true, ..options.passes.clone() };
    runner::Runner::new(&control).run(chosen.passes, &mut program)?;
    if !chosen.emits {
        return Ok(runner::Program::print(&program).0);
    }
    let draft =
        program.draft.ok_or_else(|| TextError::Passes("there are no clauses yet".into()))?;
    let bytes: Vec<u8> = draft.emit()?.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let text = isa::disasm::disassemble_of(options.chip.family().isa(), &bytes);
    Ok(text.map_err(|error| internal("emit", error.to_string()))?)
}

/// Makes machine code of an entry point that [`plan`] has expanded.
///
/// # Errors
/// See [`Failure`].
pub fn finish(expanded: Func, options: &Options) -> Result<Compiled, Failure> {
    let parts = expanded.live_parts() as u64;
    options.budget.hold(EXPANDED, parts, PART)?;
    if expanded.stage == Stage::Fragment
        && let Some(targets) = &options.pipeline.fragment
    {
        state::targets::admit(targets, options.chip)?;
    }
    let mut runner = runner::Runner::new(&options.passes);
    let abi = abi::Abi::of(&expanded, options)?;
    place::apart(&expanded, abi.taken(&expanded))?;
    let lowered = lower::lower(&expanded, &abi)?;
    let mut program = Program::new(lowered.func, lowered.scratch, expanded.stage, options);
    runner.lowered(&program)?;
    let passes = PASSES.iter().filter(|pass| pass.required || options.effort > Effort::None);
    runner.run(passes, &mut program)?;
    let runner::Runner { mut stages, dumps, .. } = runner;
    let scratch = program.scratch;
    let draft = program.draft.ok_or_else(|| internal("clauses", "there is no draft".into()))?;
    let emitted = draft.emit()?;
    stages.end("emit");
    limits::stack(options.chip).admit(emitted.stack)?;
    let state = state::state(&expanded, &abi, &emitted, scratch);
    let gprs = abi.registers(emitted.gprs);
    legal::legal(options.chip.family().isa(), &emitted.program, gprs).map_err(|finished| {
        internal("legal", format!("{} (quadword {})", finished.violation, finished.at))
    })?;
    stages.end("legal");
    let mut stats = emitted.stats;
    stats.gprs = gprs;
    stats.scratch_bytes = 16 * scratch;
    stats.shared_bytes = abi.compute.map_or(0, |layout| {
        4 * (layout.workgroup_dwords + layout.share_stride * layout.threads_per_workgroup)
    });
    stats.stack_entries = emitted.stack;
    cost::fill(&mut stats, emitted.least_groups, options.chip);
    let optimal = stats.alu_groups == emitted.least_groups;
    let code: Vec<u8> = emitted.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    stats.code_bytes = code.len() as u32;
    let tables: Vec<u8> = lowered.tables.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut programs = vec![gpucc_machine::Program {
        name: "".into(),
        code: Placed::Within(0..code.len()),
        registers: gprs,
    }];
    let evidence = evidence::evidence(&expanded, &emitted.program);
    let mut described = abi.described(&expanded, &stats, state, evidence, &lowered.driver, &tables);
    if expanded.stage == Stage::Vertex
        && let Some(fetch) = fetch::program(&abi)?
    {
        described.fetch_program = Some(Code::of(&fetch));
        programs.push(gpucc_machine::Program {
            name: "fetch".into(),
            code: Placed::Apart(fetch),
            registers: 0,
        });
    }
    let mut notes = abi.notes;
    if options.effort == Effort::Max && optimal {
        notes.push(format!(
            "the schedule is optimal: {} groups are the least that these operations need",
            stats.alu_groups
        ));
    }
    stages.end("report");
    Ok(Compiled {
        code,
        programs,
        described,
        expanded,
        lines: emitted.lines,
        notes,
        pipeline: abi.pipeline,
        dumps,
        times: stages.times,
    })
}
