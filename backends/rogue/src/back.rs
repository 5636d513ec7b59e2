//! From the calling convention to a finished program: lowering, registers, groups, judgement, figures.

use crate::abi::{Abi, SCRATCH_WORDS};
use crate::chip::Chip;
use crate::constants::Constants;
use crate::emit::Emitted;
use crate::isa::program::decode_program;
use crate::legal::{self, Context};
use crate::limits;
use crate::{clean, describe, emit, lower, pack, regs};
use gpucc_ir::budget::{EXPANDED, PART};
use gpucc_ir::driver::{Effort, Failure};
use gpucc_ir::mach;
use gpucc_ir::ssa::{Func, Op, Span, Stage};
use gpucc_isa::Inst as Word;
use gpucc_machine::Request;
use gpucc_machine::compiled::{Compiled, Placed, Program};
use gpucc_machine::described::Stats;
use gpucc_machine::named::Figure;
use gpucc_passes::Proof;
use gpucc_passes::mach::runner::Dump;
use gpucc_passes::pass::Listed;
use gpucc_regalloc::Error;

/// Instances of a task. 3.3.
const TASK: u64 = 32;

/// The step that drops what nobody reads.
const CLEAN: &str = "clean";
/// The step that puts two operations into a group.
const PACK: &str = "pack";
/// The step that puts numbers into shared registers.
const CONSTANTS: &str = "constants";

/// What a caller may leave out behind the passes over SSA.
pub fn machine_passes() -> Vec<Listed> {
    let listed = |name, doc| Listed { name, doc, required: false, proof: Proof::Exact, run: () };
    vec![
        listed(CLEAN, "copies are forwarded, and what nobody reads goes"),
        listed(CONSTANTS, "numbers that the machine has no constant for stand in shared registers"),
        listed(PACK, "operations that do not wait for one another share groups"),
    ]
}

/// Makes machine code of an entry point that the plan has expanded.
///
/// # Errors
/// See [`Failure`].
pub fn finish(expanded: Func, chip: Chip, request: &Request) -> Result<Compiled, Failure> {
    request.budget.hold(EXPANDED, expanded.live_parts() as u64, PART)?;
    let invocations =
        expanded.workgroup_size.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
    limits::invocations(chip).admit(invocations)?;
    let mut pipeline = request.pipeline.clone();
    let mut notes = match expanded.stage {
        Stage::Vertex => pipeline.vertex.infer(&expanded),
        _ => Vec::new(),
    };
    let abi = Abi::of(&expanded, chip, &pipeline)?;
    let context = Context {
        compute: expanded.stage == Stage::Compute,
        no_overlap: false,
        features: chip.features(),
    };
    let packs = request.passes.gate.admits(PACK) && request.passes.fuel != Some(0);
    let ways = [
        Way { packs, spills: false },
        // Values of packed code live longer.
        Way { packs: false, spills: false },
        // Arrays leave their registers; then values go to memory.
        Way { packs: false, spills: true },
    ];
    let temps = if meets(&expanded) {
        chip.temps_together(invocations.div_ceil(TASK) as u32)
    } else {
        chip.temps()
    };
    let mut found = None;
    for way in ways.into_iter().skip(usize::from(!packs)) {
        found = allocated(&expanded, &abi, request, &context, (way, temps))?;
        if found.is_some() {
            break;
        }
    }
    let Some((made, dumps)) = found else {
        return Err(Failure::NotYet {
            feature: "values that go to memory for want of registers".into(),
            stage: "registers",
            span: Span::NONE,
        });
    };
    let Made { func, taken, arrays, saved, constants } = made;
    let registers = taken.registers;
    let scratch_bytes = arrays + 4 * taken.slots;
    limits::PRIVATE.admit(scratch_bytes)?;
    let scratch = emit::Scratch { shared: abi.shareds, first: arrays };
    let constants = Constants { first: abi.shareds + scratch_words(scratch_bytes), ..constants };
    let packs = packs.then_some(&context);
    let emitted = emit::emit(&func, expanded.stage, scratch, packs, constants)?;
    judge(&emitted, &context)?;
    let (bound, bound_unit) = emitted.bound.least();
    if request.effort == Effort::Max && emitted.turns == bound {
        notes.push(format!("the packing is optimal: {bound} turns are the least that this takes"));
    }
    let stats = Stats {
        instructions: emitted.groups,
        code_bytes: emitted.code.len() as u64,
        registers: registers.into(),
        spills: emitted.spills,
        fills: emitted.fills,
        scratch_bytes: scratch_bytes.into(),
        loops: emitted.loops,
        branches: emitted.branches,
        occupancy: occupancy(registers),
        cycles: emitted.turns as f64,
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
    let figures = figures.into_iter().collect();
    let described = describe::described(
        &expanded,
        (&abi, &pipeline),
        scratch_bytes,
        &emitted.constants,
        stats,
        figures,
    )?;
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

/// Whether invocations of a workgroup wait for one another.
fn meets(func: &Func) -> bool {
    func.regions_in_order().into_iter().any(|(region, ..)| {
        func.regions[region].insts.iter().any(|&inst| func.insts[inst].op == Op::Barrier)
    })
}

/// A function with its registers.
struct Made {
    func: mach::Func<crate::inst::Inst>,
    taken: regs::Taken,
    /// Bytes of scratch memory that arrays take.
    arrays: u32,
    /// Groups that packing saved.
    saved: u64,
    /// Numbers in shared registers, behind those that say where scratch memory is.
    constants: Constants,
}

/// Shared registers that say where scratch memory is.
fn scratch_words(bytes: u32) -> u16 {
    if bytes > 0 { SCRATCH_WORDS } else { 0 }
}

/// How a function gets its registers.
#[derive(Copy, Clone)]
struct Way {
    packs: bool,
    spills: bool,
}

/// Lowers a function and gives it registers; nothing where they do not do.
fn allocated(
    expanded: &Func,
    abi: &Abi,
    request: &Request,
    context: &Context,
    (way, temps): (Way, u16),
) -> Result<Option<(Made, Vec<Dump>)>, Failure> {
    let internal = |pass, message: String| Failure::Internal { pass, message };
    let lowered = lower::lower(expanded, abi, way.spills)?;
    let mut func = lowered.func;
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
    let first = abi.shareds + scratch_words(lowered.scratch);
    let shares = way.packs && request.passes.gate.admits(CONSTANTS);
    let most = if shares { limits::SHARED.row().1 as u16 - first } else { 0 };
    let mut constants = Constants { first, most, numbers: Vec::new() };
    let mut saved = 0;
    if way.packs {
        let searches = request.effort == Effort::Max;
        saved = pack::pack(&mut func, context, &mut constants, searches);
        ran(PACK, &func);
    }
    if request.passes.verify_each || cfg!(debug_assertions) {
        mach::verify(&func).map_err(|fault| internal("lower", fault.to_string()))?;
    }
    let taken = match regs::allocate(&mut func, request.budget, way.spills, temps) {
        Ok(taken) => taken,
        Err(Error::OutOfRegisters { .. } | Error::NotConverged { .. }) => return Ok(None),
        Err(Error::Exceeded(exceeded)) => return Err(exceeded.into()),
        Err(error) => return Err(internal("registers", error.to_string())),
    };
    ran("registers", &func);
    Ok(Some((Made { func, taken, arrays: lowered.scratch, saved, constants }, dumps)))
}

/// Every group is legal: what is not never leaves the compiler.
fn judge(emitted: &Emitted, context: &Context) -> Result<(), Failure> {
    let Emitted { laid, code, .. } = emitted;
    let internal = |message: String| Failure::Internal { pass: "legal", message };
    debug_assert_eq!(decode_program(code).as_ref(), Ok(laid), "bytes say what the groups do");
    for (_, word) in laid.iter().flat_map(|(_, group)| group.operations()) {
        // No field has a reserved value.
        Word::decode(word.op(), word.bits()).map_err(|error| internal(error.to_string()))?;
    }
    legal::admit_program(laid, code.len(), context).map_err(|breach| internal(breach.to_string()))
}

/// Up to so many temporaries all slots have their tasks; then as many as the store holds. 3.3.
fn occupancy(registers: u32) -> f64 {
    let full = f64::from(regs::FREE_TEMPS);
    (full / f64::from(registers.max(1).next_multiple_of(4))).min(1.0)
}
