//! From the calling convention to a finished program: lowering, registers, words, judgement, figures.

use crate::abi::Abi;
use crate::emit::Emitted;
use crate::inst::{Inst, REGISTERS};
use crate::isa::program::decode_program;
use crate::isa::{Machine, native};
use crate::legal::{self, Chip};
use crate::limits;
use crate::lower::{self, texture};
use crate::regs::{Places, Registers};
use crate::{clean, dead, describe, dots, emit, forward, pack, predicate, regs, schedule, when};
use gpucc_ir::budget::{Budget, EXPANDED, PART};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach;
use gpucc_ir::ssa::{Func, Span, Stage};
use gpucc_isa::Inst as Word;
use gpucc_machine::compiled::{Compiled, Placed, Program};
use gpucc_machine::described::Stats;
use gpucc_machine::named::Figure;
use gpucc_machine::{Named, Request};
use gpucc_passes::Proof;
use gpucc_passes::mach::runner::Dump;
use gpucc_passes::pass::Listed;
use gpucc_regalloc::Error;

/// Figures and bytes of a program.
pub struct Finished {
    pub code: Vec<u8>,
    pub stats: Stats,
    pub machine: Named<Figure>,
    pub lines: Vec<(u32, Span)>,
    /// The machine IR behind each step, where the request asks for it.
    pub dumps: Vec<Dump>,
    /// Lanes of a step.
    pub lanes: u32,
    /// Stacks of masks go to registers.
    pub deep: bool,
}

/// Makes machine code of an entry point that the plan has expanded.
///
/// # Errors
/// See [`Failure`].
pub fn finish(expanded: Func, chip: Chip, request: &Request) -> Result<Compiled, Failure> {
    request.budget.hold(EXPANDED, expanded.live_parts() as u64, PART)?;
    let invocations =
        expanded.workgroup_size.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
    limits::INVOCATIONS.admit(invocations)?;
    let mut pipeline = request.pipeline.clone();
    let notes = match expanded.stage {
        Stage::Vertex => pipeline.vertex.infer(&expanded),
        _ => Vec::new(),
    };
    let abi = Abi::of(&expanded, chip, &pipeline)?;
    let finished = make(&expanded, &abi, chip, request)?;
    let abi = abi.of_lanes(finished.lanes);
    let described = describe::described(&expanded, &abi, &finished, &pipeline);
    let registers = described.stats.registers as u32;
    Ok(Compiled {
        programs: vec![Program {
            name: "".into(),
            code: Placed::Within(0..finished.code.len()),
            registers,
        }],
        code: finished.code,
        described,
        expanded,
        lines: finished.lines,
        notes,
        pipeline,
        dumps: finished.dumps,
        times: Vec::new(),
    })
}

/// The step that makes 16 lanes of eight.
const SIXTEEN: &str = "sixteen_lanes";
/// The step that drops what nobody reads.
const CLEAN: &str = "clean";
/// The step that predicates words whose results are chosen.
const WHEN: &str = "when";
/// The step that makes vectors of what is alike in two vertices.
const PACK: &str = "pack_vectors";
/// The step that makes words of dot products.
const DOTS: &str = "dots";
/// The step that sends messages early and reads their replies late.
const OVERLAP: &str = "overlap_messages";
/// The step that writes message registers straight.
const FORWARD: &str = "forward";
/// The step that takes short branches out.
const PREDICATE: &str = "predicate";

/// The steps behind the passes over SSA that have names. A caller may leave out those that are not required.
pub fn machine_passes() -> Vec<Listed> {
    let listed = |name, doc| Listed { name, doc, required: false, proof: Proof::Exact, run: () };
    vec![
        listed(SIXTEEN, "a step has 16 lanes where all that lives fits the registers"),
        listed(CLEAN, "copies are forwarded, and what nobody reads goes"),
        listed(
            WHEN,
            "a choice between a value and what one word makes is that word with a predicate",
        ),
        listed(PACK, "single operations of vertices that are alike become one on four components"),
        Listed { required: true, ..listed(DOTS, "dot products of vertices become words") },
        listed(OVERLAP, "messages are sent early and their replies are read late (on G45)"),
        listed(FORWARD, "what is made for a message alone is made in its register"),
        listed(PREDICATE, "the words of short arms have a predicate in place of a branch"),
    ]
}

/// A caller does not leave a step out.
fn admits(request: &Request, name: &str) -> bool {
    request.passes.gate.admits(name) && request.passes.fuel != Some(0)
}

fn not_yet(feature: &str) -> Failure {
    Failure::NotYet { feature: feature.to_owned(), stage: "lanes", span: Span::NONE }
}

/// Makes a program of 16 lanes a step where nothing of it needs memory for want of registers, else one of eight. By the clocks of
/// `cost` 16 lanes are never slower than eight twice: an instruction of 16 takes as long as two of eight, and a message has one
/// delay in place of two.
fn make(expanded: &Func, abi: &Abi, chip: Chip, request: &Request) -> Result<Finished, Failure> {
    let must = abi.subgroups;
    if must && (abi.is_vertex() || texture::lacks_sixteen(expanded, abi)) {
        let what =
            "subgroups of vertices, or beside lookups that have messages of eight channels alone";
        return Err(not_yet(what));
    }
    let wanted = must || admits(request, SIXTEEN);
    let serves = match expanded.stage {
        Stage::Fragment => true,
        _ if must => true,
        // Steps of 16 are half as many: none is spent on lanes that are no invocations.
        Stage::Compute => {
            let sizes = expanded.workgroup_size.iter();
            let invocations = sizes.fold(1u32, |all, &n| all.saturating_mul(n));
            invocations.div_ceil(8).is_multiple_of(2)
        }
        Stage::Vertex | Stage::Geometry => false,
    };
    if wanted && serves && !texture::lacks_sixteen(expanded, abi) {
        let wide = abi.of_lanes(16);
        let room = u32::from(wide.payload()) < u32::from(REGISTERS) / 2;
        let finished = room.then(|| of_width(expanded, &wide, chip, request)).transpose();
        match finished {
            Ok(finished) => {
                if let Some(finished) = finished.flatten() {
                    return Ok(finished);
                }
            }
            // Eight lanes have half of the memory.
            Err(Failure::Limit { .. }) => {}
            Err(failure) => return Err(failure),
        }
    }
    if must {
        return Err(not_yet("subgroups in a program of more registers than 16 lanes have"));
    }
    let finished = of_width(expanded, abi, chip, request)?;
    finished.ok_or_else(|| Failure::Internal {
        pass: "registers",
        message: "eight lanes may go to memory".into(),
    })
}

/// Makes a program of the calling convention's lanes; nothing where one of 16 does not fit the registers.
fn of_width(
    expanded: &Func,
    abi: &Abi,
    chip: Chip,
    request: &Request,
) -> Result<Option<Finished>, Failure> {
    let internal = |pass, message: String| Failure::Internal { pass, message };
    let lowered = lower::lower(expanded, abi)?;
    let mut func = lowered.func;
    let mut dumps = Vec::new();
    let mut ran = |pass, func: &mach::Func<Inst>| {
        if request.passes.dump {
            let (text, spans) = mach::print_with_spans(func);
            dumps.push(Dump { pass, text, spans });
        }
    };
    ran("lower", &func);
    if admits(request, CLEAN) {
        clean::clean(&mut func);
        ran(CLEAN, &func);
    }
    // Vertices have choices on vectors: they are predicated behind `pack`.
    if !abi.is_vertex() && admits(request, WHEN) {
        when::when(&mut func);
        ran(WHEN, &func);
    }
    if abi.is_vertex() && admits(request, PACK) {
        pack::pack(&mut func, abi.lane_offsets());
        ran(PACK, &func);
    }
    if abi.is_vertex() && admits(request, WHEN) {
        when::apply(&mut func);
        when::when(&mut func);
        ran(WHEN, &func);
    }
    if abi.is_vertex() {
        dots::write(&mut func);
        ran(DOTS, &func);
    }
    if request.passes.verify_each || cfg!(debug_assertions) {
        mach::verify(&func).map_err(|fault| internal("lower", fault.to_string()))?;
    }
    let places = lowered.places;
    let eight = abi.lanes == 8;
    // The 965 waits for each reply at once: it does not check where replies go (errata of 14.2.44).
    let overlaps = admits(request, OVERLAP) && chip.machine() == Machine::G45;
    let early = match overlaps {
        true => early(&func, abi, chip, (places, request.budget))?,
        false => None,
    };
    let registers = match early {
        Some((ordered, registers)) => {
            func = ordered;
            registers
        }
        None => match regs::allocate(&mut func, abi, places, eight, request.budget) {
            Ok(registers) => registers,
            Err(Error::OutOfRegisters { .. } | Error::NotConverged { .. }) if !eight => {
                // What nobody reads may be what is too much.
                return match lowered.unread {
                    true => of_width(expanded, &abi.hiding(), chip, request),
                    false => Ok(None),
                };
            }
            Err(Error::Exceeded(exceeded)) => return Err(exceeded.into()),
            Err(error) => return Err(internal("registers", error.to_string())),
        },
    };
    if lowered.unread && registers.spilled > 0 {
        return of_width(expanded, &abi.hiding(), chip, request);
    }
    ran("registers", &func);
    limits::MEMORY.admit(u64::from(registers.scratch))?;
    if admits(request, CLEAN) {
        dead::drop_dead(&mut func);
    }
    if admits(request, FORWARD) {
        forward::forward(&mut func, abi);
        ran(FORWARD, &func);
    }
    if admits(request, PREDICATE) {
        predicate::predicate(&mut func);
        ran(PREDICATE, &func);
    }
    let emitted = emit::emit(&func, abi, chip.machine())?;
    judge(&emitted, chip)?;
    let instructions = emitted.code.len() as u64 / 16;
    let cycles = crate::cost::clocks(&emitted.code) as f64;
    let (least, bound_unit) = crate::cost::bound(&emitted.code);
    debug_assert!(least as f64 <= cycles, "{least} clocks at least, of {cycles}");
    let threads = threads(chip, registers.used);
    let stats = Stats {
        instructions,
        code_bytes: emitted.code.len() as u64,
        registers: registers.used.into(),
        spills: registers.spilled.into(),
        fills: registers.filled.into(),
        scratch_bytes: registers.scratch.into(),
        loops: emitted.loops,
        branches: emitted.branches,
        occupancy: f64::from(threads) / f64::from(most_threads(chip)),
        cycles,
        cycles_lower_bound: least as f64,
        bound_unit: bound_unit.into(),
        ..Stats::default()
    };
    let machine =
        [("messages", Figure(emitted.sends as f64)), ("lanes", Figure(f64::from(abi.lanes)))];
    Ok(Some(Finished {
        code: emitted.code,
        stats,
        machine: machine.into_iter().collect(),
        lines: emitted.lines,
        dumps,
        lanes: abi.lanes,
        deep: lowered.deep,
    }))
}

/// The program with messages that overlap and its registers, where that takes neither memory nor a thread of an execution unit.
fn early(
    func: &mach::Func<Inst>,
    abi: &Abi,
    chip: Chip,
    (places, budget): (Places, Budget),
) -> Result<Option<(mach::Func<Inst>, Registers)>, Failure> {
    let Some((mut ordered, most)) = schedule::overlap_messages(func, (abi, places.taken), chip)
    else {
        return Ok(None);
    };
    match regs::allocate(&mut ordered, abi, places, false, budget) {
        Ok(registers) => Ok((registers.used <= most).then_some((ordered, registers))),
        Err(Error::OutOfRegisters { .. } | Error::NotConverged { .. } | Error::Exceeded(_)) => {
            Ok(None)
        }
        Err(error) => Err(Failure::Internal { pass: "registers", message: error.to_string() }),
    }
}

/// Every word is legal: what is not never leaves the compiler.
fn judge(emitted: &Emitted, chip: Chip) -> Result<(), Failure> {
    let internal = |message: String| Failure::Internal { pass: "legal", message };
    let machine = chip.machine();
    debug_assert_eq!(
        decode_program(machine, &emitted.code).map(|words| {
            words.into_iter().map(|(_, decoded)| decoded.inst).collect::<Vec<_>>()
        }),
        Ok(emitted.words.clone()),
        "bytes say what the words do"
    );
    let mut program = Vec::with_capacity(emitted.words.len());
    for (number, &word) in emitted.words.iter().enumerate() {
        // A member of the family may lack the row.
        if !machine.table().holds(word.op()) {
            return Err(internal(format!("{} has no {}", machine.table().name, word.op().name)));
        }
        // No field has a reserved value.
        let word = Word::decode(word.op(), word.bits());
        let word = word.map_err(|error| internal(error.to_string()))?;
        let decoded = native(machine, word).map_err(|error| internal(error.to_string()))?;
        program.push((16 * number, decoded));
    }
    legal::admit_program(chip, &program).map_err(|(offset, rule)| {
        let text = program
            .iter()
            .find(|(at, _)| *at == offset)
            .map_or(String::new(), |(_, word)| crate::isa::disasm::text_of(machine, word));
        internal(format!("offset {offset:#x}: {text}: {rule}"))
    })
}

/// Threads of an execution unit. isa/gen4.md 6.
pub fn most_threads(chip: Chip) -> u32 {
    match chip.machine() {
        Machine::Gen4 => 4,
        Machine::G45 => 5,
    }
}

/// Threads of an execution unit for whose registers there is room. isa/gen4.md 6.
pub fn threads(chip: Chip, registers: u32) -> u32 {
    let pool = match chip.machine() {
        Machine::Gen4 => 256,
        Machine::G45 => 320,
    };
    most_threads(chip).min(pool / registers.max(1).next_multiple_of(16))
}
