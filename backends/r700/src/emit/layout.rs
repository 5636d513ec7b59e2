//! The end of a program and the addresses of its clauses. R700 ISA 2.3, 3.2, 3.3.

use super::{Draft, Emitted, Entry, broken};
use crate::api::{Failure, Family};
use crate::group::{self, Clause};
use crate::isa::{self, CfOp, f};
use crate::limits;
use crate::slot::Read;
use crate::temporaries;
use gpucc_ir::ssa::Span;

/// A CF instruction in its place.
enum Place {
    /// Without a clause.
    Plain(isa::Inst),
    /// An ALU clause: index into the clauses.
    Alu(usize, CfOp),
    /// A fetch clause: index into the fetch clauses.
    Fetch(usize, CfOp),
}

/// Clauses and CF instructions in their places, the addresses of jumps among them.
struct Linked<'d> {
    entries: Vec<(Place, Span)>,
    clauses: Vec<&'d Clause>,
}

impl Draft {
    /// Addresses and words.
    ///
    /// # Errors
    /// [`Failure::Limit`] when the program is larger than addresses reach, [`Failure::Internal`] when a run is not packed.
    pub fn emit(&self) -> Result<Emitted, Failure> {
        self.layout(&self.link()?)
    }

    fn isa(&self) -> &'static isa::Isa {
        self.config.isa()
    }

    /// Each run becomes its clauses; what leads to a place of the draft leads to what stands there now.
    fn link(&self) -> Result<Linked<'_>, Failure> {
        let count = self.entries.len();
        let mut is_target = vec![false; count + 1];
        for jump in &self.jumps {
            is_target[jump.target] = true;
        }
        let plain = |op: CfOp| isa::Inst::new(self.isa().cf_op(op)).with(f::BARRIER, 1);
        let mut place: Vec<usize> = Vec::with_capacity(count + 1);
        let mut entries: Vec<(Place, Span)> = Vec::with_capacity(count + 1);
        let mut clauses: Vec<&Clause> = Vec::new();
        // A jump leads to what comes next.
        let mut targeted = false;
        for (at, (entry, span)) in self.entries.iter().enumerate() {
            place.push(entries.len());
            targeted |= is_target[at];
            let before = entries.len();
            match entry {
                Entry::Plain(inst) => entries.push((Place::Plain(*inst), *span)),
                Entry::Fetch(index, op) => entries.push((Place::Fetch(*index, *op), *span)),
                Entry::Pop => match entries.last_mut() {
                    Some((Place::Alu(_, op @ CfOp::ALU), _)) if !targeted => {
                        *op = CfOp::ALU_POP_AFTER;
                    }
                    _ => {
                        let next = entries.len() as u32 + 1;
                        let pop = plain(CfOp::POP).with(f::POP_COUNT, 1).with(f::ADDR, next);
                        entries.push((Place::Plain(pop), *span));
                    }
                },
                Entry::Run(run, op) => {
                    let list = self.runs[*run].clauses.as_deref();
                    let list = list.ok_or_else(|| broken("a run is not packed"))?;
                    if list.is_empty() && *op != CfOp::ALU {
                        return Err(broken("an `if` ends in an ALU clause"));
                    }
                    for (k, clause) in list.iter().enumerate() {
                        let op = if k + 1 == list.len() { *op } else { CfOp::ALU };
                        let span = clause.groups.first();
                        let span = span.map_or(Span::NONE, |packed| packed.span);
                        entries.push((Place::Alu(clauses.len(), op), span));
                        clauses.push(clause);
                    }
                }
            }
            if entries.len() > before {
                targeted = false;
            }
        }
        place.push(entries.len());
        targeted |= is_target[count];
        for jump in &self.jumps {
            let target = place[jump.target] as u32;
            if let Some((Place::Plain(inst), _)) = entries.get_mut(place[jump.at]) {
                *inst = inst.with(f::ADDR, target).with(f::POP_COUNT, jump.pops);
            }
        }
        // Something must carry END_OF_PROGRAM: not ALU, not a jump or a pop. R700 ISA 3.2.
        let carries = match entries.last() {
            Some((Place::Plain(inst), _)) => {
                let op = CfOp::of(inst.op().id);
                matches!(op, CfOp::EXPORT | CfOp::EXPORT_DONE | CfOp::MEM_EXPORT | CfOp::NOP)
                    && !targeted
            }
            _ => false,
        };
        if !carries {
            entries.push((Place::Plain(plain(CfOp::NOP)), Span::NONE));
        }
        if let Some((Place::Plain(inst), _)) = entries.last_mut() {
            *inst = inst.with(f::END_OF_PROGRAM, 1);
        }
        Ok(Linked { entries, clauses })
    }

    /// One past the highest register that the program names.
    fn gprs(&self, clauses: &[&Clause]) -> u32 {
        let mut gprs = self.gprs;
        let groups = clauses.iter().flat_map(|clause| &clause.groups);
        for slot in groups.flat_map(|packed| packed.group.slots.iter().flatten()) {
            let reads = slot.sources().iter().filter_map(|source| match source.read {
                Read::Gpr { gpr, .. } => Some(gpr),
                _ => None,
            });
            let named = reads.chain(slot.dst.map(|dst| dst.gpr));
            let most = named.filter(|&gpr| gpr < temporaries::FIRST).max();
            gprs = gprs.max(most.map_or(0, |gpr| u32::from(gpr) + 1));
        }
        gprs
    }

    fn layout(&self, linked: &Linked<'_>) -> Result<Emitted, Failure> {
        let Linked { entries, clauses } = linked;
        let mut program = isa::Program::default();
        let mut lines: Vec<(u32, Span)> = Vec::new();
        let mut at = entries.len() as u32;
        let mut stats = self.stats;
        stats.cf_instructions = entries.len() as u32;
        stats.alu_clauses = clauses.len() as u32;
        for packed in clauses.iter().flat_map(|clause| &clause.groups) {
            stats.alu_groups += 1;
            stats.alu_slots += packed.group.len() as u32;
            stats.literals += packed.group.literals().len() as u32;
        }
        for (number, (_, span)) in entries.iter().enumerate() {
            lines.push((number as u32 * 8, *span));
        }
        let mut alu_at = Vec::with_capacity(clauses.len());
        for clause in clauses {
            alu_at.push(at);
            let mut groups = Vec::with_capacity(clause.groups.len());
            for packed in &clause.groups {
                lines.push((at * 8, packed.span));
                let group = group::encode(&packed.group, &clause.locks, self.isa());
                at += group.qwords();
                groups.push(group);
            }
            program
                .clauses
                .push(isa::Clause { at: alu_at[alu_at.len() - 1], body: isa::Body::Alu(groups) });
        }
        let mut fetch_at = Vec::with_capacity(self.fetches.len());
        for (insts, spans) in &self.fetches {
            // Fetch clauses start on 16 bytes. R700 ISA 3.3.
            at += at % 2;
            fetch_at.push(at);
            for (number, span) in spans.iter().enumerate() {
                lines.push(((at + 2 * number as u32) * 8, *span));
            }
            program.clauses.push(isa::Clause { at, body: isa::Body::Fetch(insts.clone()) });
            at += 2 * insts.len() as u32;
        }
        limits::CODE.admit(at)?;
        for (number, (entry, _)) in entries.iter().enumerate() {
            let (inst, clause) = match entry {
                Place::Plain(inst) => (*inst, None),
                Place::Alu(index, op) => {
                    let clause = clauses[*index];
                    let mut inst = isa::Inst::new(self.isa().cf_op(*op))
                        .with(f::ADDR, alu_at[*index])
                        .with(f::COUNT, clause.qwords - 1)
                        .with(f::BARRIER, 1);
                    if self.config.chip.family() == Family::R600 && clause.loads_address() {
                        inst = inst.with(f::USES_WATERFALL, 1);
                    }
                    let fields = [
                        (f::KCACHE_BANK0, f::KCACHE_MODE0, f::KCACHE_ADDR0),
                        (f::KCACHE_BANK1, f::KCACHE_MODE1, f::KCACHE_ADDR1),
                    ];
                    for (lock, (bank, mode, addr)) in clause.locks.sets.iter().zip(fields) {
                        if let Some((buffer, line, lines)) = *lock {
                            inst = inst
                                .with(bank, buffer.into())
                                .with(mode, lines.into())
                                .with(addr, line.into());
                        }
                    }
                    (inst, Some(isa::ClauseId(*index as u32)))
                }
                Place::Fetch(index, op) => {
                    let inst = isa::Inst::new(self.isa().cf_op(*op))
                        .with(f::ADDR, fetch_at[*index])
                        .with(f::COUNT, self.fetches[*index].0.len() as u32 - 1)
                        .with(f::BARRIER, 1);
                    (inst, Some(isa::ClauseId((clauses.len() + index) as u32)))
                }
            };
            program.cf.push(isa::Cf { at: number as u32, inst, clause });
        }
        program.dwords = at * 2;
        let words = isa::encode_program(&program).map_err(|error| broken(error.to_string()))?;
        lines.dedup_by_key(|(_, span)| *span);
        stats.instructions = stats.alu_slots
            + stats.cf_instructions
            + stats.tex_instructions
            + stats.vtx_instructions;
        stats.gprs = self.gprs(clauses);
        stats.stack_entries = self.stack;
        let kills = clauses
            .iter()
            .filter_map(|clause| clause.groups.last())
            .any(|packed| packed.group.has_kill());
        Ok(Emitted {
            words,
            program,
            lines,
            gprs: stats.gprs,
            stack: self.stack,
            stats,
            kills,
            writes_memory: self.writes_memory,
            least_groups: self.runs.iter().map(|run| run.least).sum(),
        })
    }
}
