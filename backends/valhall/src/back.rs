//! From what lowering made to the bytes: constants and uniforms, order, registers, flow, words, judgement, figures.

use crate::api::{Effort, Failure, FauWord, Options};
use crate::inst::{FILES, FauRef, Inst, Src};
use crate::isa::Opcode;
use crate::limits;
use crate::{constants, cost, dead, emit, flow, helpers, legal, regs, schedule, warp};
use gpucc_ir::budget::Budget;
use gpucc_ir::mach::{self, Edges, Func};
use gpucc_ir::ssa::{Span, Stage};
use gpucc_machine::described::{ProgramState, Stats};
use gpucc_machine::named::Figure;
use gpucc_machine::text::holds_registers;
use gpucc_machine::{Excerpt, Named, TextError};
use gpucc_passes::mach::runner::{self, Runner, optional, required};
use gpucc_passes::pass::Listed;
use std::collections::BTreeMap;

/// One program as lowering leaves it.
pub struct Part {
    /// Its machine IR, over virtual registers.
    pub func: Func<Inst>,
    /// What the entries of its uniforms are.
    pub fau: Vec<FauWord>,
    /// Bytes of private memory of its variables.
    pub private_bytes: u32,
}

/// The binary of all programs.
pub struct Finished {
    pub code: Vec<u8>,
    pub programs: Vec<ProgramState>,
    pub fau: Vec<FauWord>,
    /// Bytes of private memory, spills included.
    pub private_bytes: u32,
    /// Figures of the code; workgroup memory is the caller's.
    pub stats: Stats,
    /// Figures of this machine.
    pub machine: Named<Figure>,
    pub lines: Vec<(u32, Span)>,
}

/// The programs of one binary on their way from lowering to flow.
struct Binary {
    stage: Stage,
    budget: Budget,
    funcs: Vec<Func<Inst>>,
    /// Bytes of private memory of each program's variables.
    private: Vec<u32>,
    /// What entries of uniforms are, as lowering numbered them.
    entries: Vec<FauWord>,
    /// The entry of each uniform word that the programs read.
    map: Vec<Option<FauRef>>,
    registers: Vec<regs::Registers>,
    /// The flow fields are filled: what is left is words.
    flows: bool,
}

impl Binary {
    fn new(parts: Vec<Part>, stage: Stage, budget: Budget) -> Binary {
        let private: Vec<u32> = parts.iter().map(|part| part.private_bytes).collect();
        let (funcs, entries) = merge(parts);
        Binary::of(funcs, entries, private, stage, budget)
    }

    fn of(
        funcs: Vec<Func<Inst>>,
        entries: Vec<FauWord>,
        private: Vec<u32>,
        stage: Stage,
        budget: Budget,
    ) -> Binary {
        Binary {
            stage,
            budget,
            funcs,
            private,
            entries,
            map: Vec::new(),
            registers: Vec::new(),
            flows: false,
        }
    }
}

impl runner::Program for Binary {
    fn check(&self, each: bool) -> Result<(), String> {
        for func in &self.funcs {
            mach::verify(func).map_err(|fault| fault.to_string())?;
            if each {
                mach::reads_back(func)?;
            }
        }
        match self.flows && each {
            true => judge(&emit::emit(&self.funcs), &self.registers, self.stage),
            // Its rules are asked of the finished programs.
            false => Ok(()),
        }
    }
    fn print(&self) -> (String, Vec<Span>) {
        let (mut text, mut spans) = (String::new(), Vec::new());
        for func in &self.funcs {
            let (own, places) = mach::print_with_spans(func);
            text.push_str(&own);
            spans.extend(places);
        }
        for (word, entry) in self.map.iter().enumerate() {
            let line = match entry.map(|entry| (entry, self.entries[usize::from(entry.0)])) {
                Some((_, FauWord::Constant(bits))) => format!("; u{word} is {bits:#x}\n"),
                Some((entry, _)) => format!("; u{word} is fau[{}]\n", entry.0),
                None => continue,
            };
            text.push_str(&line);
        }
        (text, spans)
    }
}

/// The passes over machine IR, in order; at `-O0` all but the schedule.
const PASSES: &[runner::Pass<Binary>] = &[
    optional("dead", "removes instructions whose results nobody reads", |binary| {
        binary.funcs.iter_mut().for_each(dead::run);
        Ok(())
    }),
    optional("skip_helpers", "helper lanes fetch no texels that nobody needs", |binary| {
        if binary.stage == Stage::Fragment {
            binary.funcs.iter_mut().for_each(helpers::skip);
        }
        Ok(())
    }),
    required("constants", "constants and uniforms become operands", |binary| {
        binary.map = constants::run(&mut binary.funcs, &mut binary.entries);
        limits::UNIFORMS.admit(binary.map.len() as u64)
    }),
    optional(SCHEDULE, "instructions stand in the order of least waiting", |binary| {
        for func in &mut binary.funcs {
            schedule::run(func);
        }
        Ok(())
    }),
    required(REGISTERS, "virtual registers become work registers", registers),
    required("flow", "slots, waits, reconvergence and last uses", |binary| {
        for func in &mut binary.funcs {
            flow::run(func, binary.stage);
        }
        binary.flows = true;
        Ok(())
    }),
];

const SCHEDULE: &str = "schedule";
const REGISTERS: &str = "registers";

/// The passes over machine IR, the lowering first.
pub fn machine_passes() -> Vec<Listed> {
    runner::listed(PASSES)
}

/// Allocates registers; spills lie behind the variables in private memory.
fn registers(binary: &mut Binary) -> Result<(), Failure> {
    for (func, &private) in binary.funcs.iter_mut().zip(&binary.private) {
        let found = regs::allocate(func, private, binary.budget).map_err(|error| match error {
            gpucc_regalloc::Error::Exceeded(exceeded) => exceeded.into(),
            error => internal("registers", error.to_string()),
        })?;
        if found.spilled > 0 {
            limits::PRIVATE.admit(found.private_bytes)?;
        }
        binary.registers.push(found);
    }
    Ok(())
}

/// Asks the rules of finished programs.
fn judge(
    emitted: &emit::Emitted,
    registers: &[regs::Registers],
    stage: Stage,
) -> Result<(), String> {
    for (program, found) in emitted.programs.iter().zip(registers) {
        let insts = emitted.of(program);
        let config = legal::Config { stage, work: found.work };
        legal::legal(insts, config).map_err(|finding| {
            let text = insts.get(finding.at as usize).map_or(String::new(), crate::isa::text_of);
            let at = finding.at + program.offset / emit::WORD;
            format!("{} (instruction {at}: {text})", finding.violation)
        })?;
    }
    Ok(())
}

fn internal(pass: &'static str, message: String) -> Failure {
    Failure::Internal { pass, message }
}

/// Finishes the programs of one binary.
///
/// # Errors
/// Limits that the shader breaks, and our own faults.
pub fn finish(
    parts: Vec<Part>,
    stage: Stage,
    options: &Options,
    runner: &mut Runner<'_>,
) -> Result<Finished, Failure> {
    let mut binary = Binary::new(parts, stage, options.budget);
    runner.lowered(&binary)?;
    let orders = options.effort > Effort::None;
    let passes = PASSES.iter().filter(|pass| orders || pass.name != SCHEDULE);
    runner.run(passes, &mut binary)?;
    let Binary { funcs, entries, map, registers, .. } = binary;
    let stages = &mut runner.stages;
    let emitted = emit::emit(&funcs);
    stages.end("emit");
    let mut stats = Stats::default();
    let mut programs = Vec::new();
    let mut all = cost::Cycles::default();
    let (mut nops, mut warps) = (0, warp::Warp::default());
    judge(&emitted, &registers, stage).map_err(|message| internal("legal", message))?;
    for (program, found) in emitted.programs.iter().zip(&registers) {
        let insts = emitted.of(program);
        let count = program.registers.count_ones();
        // A blend shader finds the coverage and the sample in r60 and r61.
        let handed = if stage == Stage::Fragment { 0b11 << (60 - 48) } else { 0 };
        programs.push(ProgramState {
            offset: program.offset,
            bytes: program.size,
            preload: program.preload | handed,
            registers: count,
            work_registers: found.work,
        });
        let cycles = cost::cycles(insts);
        all = all.plus(&cycles);
        stats.instructions += insts.len() as u64;
        stats.cycles += cycles.bound().0;
        let warp = warp::warp(insts);
        stats.cycles_lower_bound += cost::lower_bound(insts, warp.brought);
        warps.cycles += warp.cycles;
        warps.least += warp.least;
        stats.spills += u64::from(program.spills);
        stats.fills += u64::from(program.fills);
        stats.loops += u64::from(program.loops);
        stats.branches += u64::from(program.branches);
        nops += insts.iter().filter(|inst| Opcode::of(inst.op()) == Opcode::Nop).count();
        stats.registers = stats.registers.max(count.into());
    }
    stages.end("legal");
    let work = programs.iter().map(|program| program.work_registers).max().unwrap_or(32);
    let private_bytes = registers.iter().map(|found| found.private_bytes).max().unwrap_or(0);
    let code = emitted.bytes();
    stats.code_bytes = code.len() as u64;
    stats.bound_unit = all.bound().1.to_owned();
    // Registers are given in two sizes: half the threads fit where a thread has 64.
    stats.occupancy = if work == 64 { 0.5 } else { 1.0 };
    stats.scratch_bytes = private_bytes.into();
    let machine = [
        ("fma", all.fma),
        ("cvt", all.cvt),
        ("sfu", all.sfu),
        ("v", all.v),
        ("ls", all.ls),
        ("t", all.t),
        ("fau_words", map.len() as f64),
        ("work_registers", work.into()),
        ("nops", nops as f64),
        ("warp_cycles", warps.cycles.into()),
        ("warp_cycles_lower_bound", warps.least.into()),
    ];
    Ok(Finished {
        code,
        programs,
        fau: map
            .iter()
            .map(|entry| entry.map_or(FauWord::Unused, |entry| entries[usize::from(entry.0)]))
            .collect(),
        private_bytes,
        stats,
        machine: machine.into_iter().map(|(name, value)| (name, Figure(value))).collect(),
        lines: emitted.lines,
    })
}

/// Runs passes over machine IR that is given as text: [`gpucc_machine::Machine::run_passes`].
///
/// # Errors
/// As there.
pub fn run_passes(
    excerpt: Excerpt<'_>,
    names: &[&str],
    options: &Options,
) -> Result<String, TextError> {
    let func: Func<Inst> = mach::parse(excerpt.text, FILES)?;
    if names.is_empty() {
        mach::verify(&func).map_err(|fault| TextError::Broken(fault.to_string()))?;
        return Ok(crate::text::print(&func));
    }
    let chosen = runner::choose(PASSES, names).map_err(TextError::Passes)?;
    let allocated = chosen.allocated;
    let used = Used::of(&func).map_err(TextError::Broken)?;
    holds_registers(&func, allocated)?;
    if allocated && used.unplaced {
        let message = "passes behind 'registers' take instructions whose sources have places";
        return Err(TextError::Broken(message.into()));
    }
    let entries = vec![FauWord::Unused; used.entries];
    let mut binary = Binary::of(vec![func], entries, vec![0], excerpt.stage, options.budget);
    if allocated {
        binary.registers.push(regs::Registers {
            work: if used.cells & regs::MIDDLE_CELLS == 0 { 32 } else { 64 },
            private_bytes: 0,
            spilled: 0,
        });
    }
    binary.flows = chosen.passes.is_empty();
    runner::Program::check(&binary, true).map_err(TextError::Broken)?;
    let control = runner::Control { verify_each: true, ..runner::Control::default() };
    Runner::new(&control).run(chosen.passes, &mut binary)?;
    if !chosen.emits {
        return Ok(runner::Program::print(&binary).0);
    }
    let code = emit::emit(&binary.funcs).bytes();
    let text = crate::isa::disassemble(&code);
    Ok(text.map_err(|error| internal("emit", error.reason.to_string()))?)
}

/// What the text of a function names.
#[derive(Default)]
struct Used {
    /// Cells, one bit each.
    cells: u64,
    /// Sources without a place, or an instruction that is none of the machine's: what only stands before allocation.
    unplaced: bool,
    /// Entries of the uniforms.
    entries: usize,
}

impl Used {
    /// # Errors
    /// A branch to where no edge leads.
    fn of(func: &Func<Inst>) -> Result<Used, String> {
        use gpucc_ir::mach::Inst as _;
        let mut used = Used::default();
        for &block in &func.layout {
            for node in &func.blocks[block].nodes {
                node.inst.operands(&mut |operand| {
                    if let Some(cell) = operand.reg.as_phys() {
                        used.cells |= 1 << cell.index;
                    }
                });
                let Some(op) = node.inst.op() else {
                    used.unplaced = true;
                    continue;
                };
                if let Some(target) = op.target
                    && !func.successors(Edges::Logical, block).contains(&target)
                {
                    return Err(format!("{block} branches to {target}, and no edge leads there"));
                }
                for source in &op.src {
                    let entries = match *source {
                        Src::Fau(entry) => usize::from(entry.0) + 1,
                        Src::FauPair(entry) => usize::from(entry.0) + 2,
                        Src::Bits(_) | Src::Special(..) | Src::Special64(_) => 0,
                        _ => continue,
                    };
                    used.unplaced = true;
                    used.entries = used.entries.max(entries);
                }
            }
        }
        Ok(used)
    }
}

/// One list of uniforms for all programs.
fn merge(parts: Vec<Part>) -> (Vec<Func<Inst>>, Vec<FauWord>) {
    let mut list: Vec<FauWord> = Vec::new();
    let mut known: BTreeMap<Vec<FauWord>, u16> = BTreeMap::new();
    let mut funcs = Vec::new();
    for part in parts {
        let mut func = part.func;
        // Entries that are read as 64 bits stay beside the ones behind them.
        let mut renamed = |entry: FauRef, wide: bool| -> FauRef {
            let first = usize::from(entry.0);
            let words = part.fau[first..first + 1 + usize::from(wide)].to_vec();
            let at = *known.entry(words.clone()).or_insert_with(|| {
                list.extend(&words);
                (list.len() - words.len()) as u16
            });
            FauRef(at)
        };
        for &block in &func.layout {
            for node in &mut func.blocks[block].nodes {
                let Inst::Op(op) = &mut node.inst else {
                    continue;
                };
                for source in &mut op.src {
                    match source {
                        Src::Fau(entry) => *entry = renamed(*entry, false),
                        Src::FauPair(entry) => *entry = renamed(*entry, true),
                        _ => {}
                    }
                }
            }
        }
        funcs.push(func);
    }
    (funcs, list)
}

#[cfg(test)]
#[path = "planted.rs"]
mod planted;
