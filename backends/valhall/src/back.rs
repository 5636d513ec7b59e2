//! From what lowering made to the bytes: constants and uniforms, order, registers, flow, words, judgement, figures.

use crate::api::{Effort, Failure, FauWord, ProgramInfo, Stats};
use crate::inst::{FauRef, Inst, Src};
use crate::isa::Opcode;
use crate::{constants, cost, dead, emit, flow, helpers, legal, regs, schedule, warp};
use gpucc_ir::driver::{Limit, Stages};
use gpucc_ir::mach::{self, Func};
use gpucc_ir::ssa::{Span, Stage};
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
    pub programs: Vec<ProgramInfo>,
    pub fau: Vec<FauWord>,
    /// Bytes of private memory, spills included.
    pub private_bytes: u32,
    /// Figures of the code; occupancy, shared memory and the like are the caller's.
    pub stats: Stats,
    pub lines: Vec<(u32, Span)>,
}

/// Finishes the programs of one binary. `dump` is told the text of the machine IR after each step.
///
/// # Errors
/// Limits that the shader breaks, and our own faults.
pub fn finish(
    parts: Vec<Part>,
    stage: Stage,
    effort: Effort,
    mut dump: impl FnMut(&'static str, &Func<Inst>),
    stages: &mut Stages,
) -> Result<Finished, Failure> {
    let internal = |pass: &'static str, message: String| Failure::Internal { pass, message };
    let private: Vec<u32> = parts.iter().map(|part| part.private_bytes).collect();
    let (mut funcs, mut entries) = merge(parts);
    for func in &mut funcs {
        dump("lower", func);
        dead::run(func);
        if stage == Stage::Fragment {
            helpers::skip(func);
        }
    }
    let map = constants::run(&mut funcs, &mut entries);
    stages.end("constants");
    let hint = "load uniform buffers instead of pushing them";
    Limit::new("words of uniforms", MOST_UNIFORMS as u64, hint).admit(map.len() as u64)?;
    let mut registers = Vec::new();
    for (func, private) in funcs.iter_mut().zip(&private) {
        dump("constants", func);
        mach::verify(func).map_err(|fault| internal("lower", fault.to_string()))?;
        stages.end("verify");
        if effort != Effort::None {
            schedule::run(func);
            dump("schedule", func);
            stages.end("schedule");
        }
        let found = regs::allocate(func, *private)
            .map_err(|error| internal("registers", error.to_string()))?;
        if found.spilled > 0 {
            let hint = "private arrays and spilled values must lie within the reach of an offset";
            let limit = Limit::new("bytes of private memory", regs::REACH.into(), hint);
            limit.admit(found.private_bytes)?;
        }
        stages.end("registers");
        registers.push(found);
        dump("registers", func);
        flow::run(func, stage);
        dump("flow", func);
        stages.end("flow");
    }
    let emitted = emit::emit(&funcs);
    stages.end("emit");
    let mut stats = Stats::default();
    let mut programs = Vec::new();
    let mut all = cost::Cycles::default();
    for (program, found) in emitted.programs.iter().zip(&registers) {
        let first = (program.offset / emit::WORD) as usize;
        let insts = &emitted.insts[first..first + (program.size / emit::WORD) as usize];
        let config = legal::Config {
            stage,
            work: found.work,
        };
        legal::legal(insts, config).map_err(|finding| {
            let text = insts
                .get(finding.at as usize)
                .map_or(String::new(), crate::isa::text_of);
            let at = finding.at + first as u32;
            internal(
                "legal",
                format!("{} (instruction {at}: {text})", finding.violation),
            )
        })?;
        let count = program.registers.count_ones();
        programs.push(ProgramInfo {
            offset: program.offset,
            size: program.size,
            preload: program.preload,
            registers: count,
            work_registers: found.work,
        });
        let cycles = cost::cycles(insts);
        all = all.plus(&cycles);
        stats.instructions += insts.len() as u32;
        stats.cycles += cycles.bound().0;
        stats.cycles_lower_bound += cost::lower_bound(insts);
        let warp = warp::warp(insts);
        stats.warp_cycles += warp.cycles;
        stats.warp_cycles_lower_bound += warp.least;
        stats.spills += program.spills;
        stats.fills += program.fills;
        stats.loops += program.loops;
        stats.branches += program.branches;
        stats.nops += insts
            .iter()
            .filter(|inst| Opcode::of(inst.op()) == Opcode::Nop)
            .count() as u32;
        stats.registers = stats.registers.max(count);
        stats.work_registers = stats.work_registers.max(found.work);
    }
    stages.end("legal");
    (stats.fma, stats.cvt, stats.sfu) = (all.fma, all.cvt, all.sfu);
    (stats.v, stats.ls, stats.t) = (all.v, all.ls, all.t);
    stats.bound_unit = all.bound().1;
    stats.fau_words = map.len() as u32;
    stats.occupancy = if stats.work_registers == 64 { 0.5 } else { 1.0 };
    let private_bytes = registers.iter().map(|found| found.private_bytes).max();
    stats.scratch_bytes = private_bytes.unwrap_or(0);
    Ok(Finished {
        code: emitted.bytes(),
        programs,
        fau: map
            .iter()
            .map(|entry| entry.map_or(FauWord::Unused, |entry| entries[usize::from(entry.0)]))
            .collect(),
        private_bytes: stats.scratch_bytes,
        stats,
        lines: emitted.lines,
    })
}

/// Words of uniforms that every known device has (isa/valhall_rogue.md 1.2).
const MOST_UNIFORMS: usize = 128;

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
