//! From the calling convention to a finished program: lowering, registers, groups, judgement, figures.

use crate::abi::Abi;
use crate::chip::Chip;
use crate::isa::program::decode_program;
use crate::legal::{self, Context};
use crate::{clean, cost, describe, emit, lower, pack, regs};
use gpucc_ir::budget::{EXPANDED, PART};
use gpucc_ir::driver::{Failure, Limit};
use gpucc_ir::mach;
use gpucc_ir::ssa::{Func, Span, Stage};
use gpucc_machine::Request;
use gpucc_machine::compiled::{Compiled, Placed, Program};
use gpucc_machine::described::Stats;
use gpucc_machine::named::Figure;
use gpucc_passes::Proof;
use gpucc_passes::mach::runner::Dump;
use gpucc_passes::pass::Listed;
use gpucc_regalloc::Error;

/// Invocations of a workgroup. isa/rogue-pipeline.md 3.3.
pub const INVOCATIONS: u64 = 512;

/// Fewer registers of the allocator than these are always enough.
const MANY: usize = crate::inst::TEMPS as usize;
/// The step that drops what nobody reads.
const CLEAN: &str = "clean";
/// The step that puts two operations into a group.
const PACK: &str = "pack";

/// What a caller may leave out behind the passes over SSA.
pub fn machine_passes() -> Vec<Listed> {
    let listed = |name, doc| Listed { name, doc, required: false, proof: Proof::Exact, run: () };
    vec![
        listed(CLEAN, "copies are forwarded, and what nobody reads goes"),
        listed(PACK, "operations that do not wait for one another share groups"),
    ]
}

/// Makes machine code of an entry point that the plan has expanded.
///
/// # Errors
/// See [`Failure`].
pub fn finish(expanded: Func, chip: Chip, request: &Request) -> Result<Compiled, Failure> {
    let internal = |pass, message: String| Failure::Internal { pass, message };
    request.budget.hold(EXPANDED, expanded.live_parts() as u64, PART)?;
    let invocations =
        expanded.workgroup_size.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
    Limit::new("invocations of a workgroup", INVOCATIONS, "use smaller workgroups")
        .admit(invocations)?;
    let mut pipeline = request.pipeline.clone();
    let notes = match expanded.stage {
        Stage::Vertex => pipeline.vertex.infer(&expanded),
        _ => Vec::new(),
    };
    let abi = Abi::of(&expanded, chip, &pipeline)?;
    let mut func = lower::lower(&expanded, &abi)?.func;
    let mut dumps = Vec::new();
    let mut ran = |pass, func: &mach::Func<crate::inst::Inst>| {
        if request.passes.dump {
            let (text, spans) = mach::print_with_spans(func);
            dumps.push(Dump { pass, text, spans });
        }
    };
    ran("lower", &func);
    if request.passes.gate.admits(CLEAN) && request.passes.fuel != Some(0) {
        clean::clean(&mut func);
        ran(CLEAN, &func);
    }
    let context = Context {
        compute: expanded.stage == Stage::Compute,
        no_overlap: false,
        features: chip.features(),
    };
    let packs = request.passes.gate.admits(PACK) && request.passes.fuel != Some(0);
    // Values of packed code live longer.
    let mut spare = (packs && func.vregs.len() > MANY).then(|| func.clone());
    let mut saved = 0;
    if packs {
        saved = pack::pack(&mut func, &context);
        ran(PACK, &func);
    }
    mach::verify(&func).map_err(|fault| internal("lower", fault.to_string()))?;
    let mut allocated = regs::allocate(&mut func, request.budget);
    if let (Err(Error::OutOfRegisters { .. }), Some(spare)) = (&allocated, spare.take()) {
        func = spare;
        saved = 0;
        allocated = regs::allocate(&mut func, request.budget);
    }
    let registers = allocated.map_err(|error| match error {
        Error::Exceeded(exceeded) => exceeded.into(),
        Error::OutOfRegisters { .. } | Error::NotConverged { .. } => Failure::NotYet {
            feature: "values that go to memory for want of registers".into(),
            stage: "registers",
            span: Span::NONE,
        },
        error => internal("registers", error.to_string()),
    })?;
    ran("registers", &func);
    let emitted = emit::emit(&func, expanded.stage, packs.then_some(&context))?;
    judge(&emitted.code, &context)?;
    let (bound, bound_unit) = emitted.work.bound();
    let stats = Stats {
        instructions: emitted.groups,
        code_bytes: emitted.code.len() as u64,
        registers: registers.into(),
        loops: emitted.loops,
        branches: emitted.branches,
        occupancy: occupancy(registers),
        cycles: cost::turns(&emitted),
        cycles_lower_bound: bound as f64,
        bound_unit: bound_unit.into(),
        ..Stats::default()
    };
    let figures = [
        ("groups", Figure(emitted.groups as f64)),
        ("operations", Figure((emitted.groups + emitted.shared + saved) as f64)),
        ("messages", Figure(emitted.messages as f64)),
        ("waits", Figure(emitted.waits as f64)),
    ];
    let described = describe::described(&expanded, &abi, stats, figures.into_iter().collect());
    Ok(Compiled {
        programs: vec![Program {
            name: "".into(),
            code: Placed::Within(0..emitted.code.len()),
            registers,
        }],
        code: emitted.code,
        described,
        expanded,
        lines: emitted.lines,
        notes,
        pipeline,
        dumps,
        times: Vec::new(),
    })
}

/// Every group is legal: what is not never leaves the compiler.
fn judge(code: &[u8], context: &Context) -> Result<(), Failure> {
    let internal = |message: String| Failure::Internal { pass: "legal", message };
    let groups = decode_program(code).map_err(|error| internal(error.to_string()))?;
    legal::admit_program(&groups, code.len(), context)
        .map_err(|breach| internal(breach.to_string()))
}

/// Up to 24 temporaries all slots have their tasks; then as many as the store holds. 3.3.
fn occupancy(registers: u32) -> f64 {
    const FULL: u32 = 24;
    (f64::from(FULL) / f64::from(registers.max(1).next_multiple_of(4))).min(1.0)
}
