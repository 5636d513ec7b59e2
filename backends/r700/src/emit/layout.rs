//! The end of a program and the addresses of its clauses. R700 ISA 2.3, 3.2, 3.3.

use super::{Emitted, Emitter, Entry, broken};
use crate::api::{Failure, Family};
use crate::group;
use crate::isa::{self, CfOp, f};
use gpucc_ir::driver::Limit;
use gpucc_ir::ssa::Span;

impl Emitter<'_> {
    pub(super) fn finish(mut self) -> Result<Emitted, Failure> {
        self.flush()?;
        if !self.frames.is_empty() {
            return Err(broken("control flow is open at the end"));
        }
        // Something must carry END_OF_PROGRAM: not ALU, not a jump or a pop. R700 ISA 3.2.
        let carries = match self.entries.last() {
            Some((Entry::Plain(inst), _)) => {
                let op = CfOp::of(inst.op().id);
                matches!(
                    op,
                    CfOp::EXPORT | CfOp::EXPORT_DONE | CfOp::MEM_EXPORT | CfOp::NOP
                ) && !self.targeted
            }
            _ => false,
        };
        if !carries {
            self.plain(isa::Inst::new(self.isa().cf_op(CfOp::NOP)), Span::NONE);
        }
        if let Some((Entry::Plain(inst), _)) = self.entries.last_mut() {
            *inst = inst.with(f::END_OF_PROGRAM, 1);
        }
        self.layout()
    }

    fn layout(self) -> Result<Emitted, Failure> {
        let mut program = isa::Program::default();
        let mut lines: Vec<(u32, Span)> = Vec::new();
        let mut at = self.entries.len() as u32;
        let mut stats = self.stats;
        stats.cf_instructions = self.entries.len() as u32;
        stats.alu_clauses = self.clauses.len() as u32;
        for (number, (_, span)) in self.entries.iter().enumerate() {
            lines.push((number as u32 * 8, *span));
        }
        let mut alu_at = Vec::with_capacity(self.clauses.len());
        for clause in &self.clauses {
            alu_at.push(at);
            let mut groups = Vec::with_capacity(clause.groups.len());
            for packed in &clause.groups {
                lines.push((at * 8, packed.span));
                let group = group::encode(&packed.group, &clause.locks, self.isa());
                at += group.qwords();
                groups.push(group);
            }
            program.clauses.push(isa::Clause {
                at: alu_at[alu_at.len() - 1],
                body: isa::Body::Alu(groups),
            });
        }
        let mut fetch_at = Vec::with_capacity(self.fetches.len());
        for (insts, spans) in &self.fetches {
            // Fetch clauses start on 16 bytes. R700 ISA 3.3.
            at += at % 2;
            fetch_at.push(at);
            for (number, span) in spans.iter().enumerate() {
                lines.push(((at + 2 * number as u32) * 8, *span));
            }
            program.clauses.push(isa::Clause {
                at,
                body: isa::Body::Fetch(insts.clone()),
            });
            at += 2 * insts.len() as u32;
        }
        let hint = "split the shader or unroll less";
        Limit::new("64-bit words of code", (1 << 22) - 1, hint).admit(at)?;
        for (number, (entry, _)) in self.entries.iter().enumerate() {
            let (inst, clause) = match entry {
                Entry::Plain(inst) => (*inst, None),
                Entry::Alu(index, op) => {
                    let clause = &self.clauses[*index];
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
                Entry::Fetch(index, op) => {
                    let inst = isa::Inst::new(self.isa().cf_op(*op))
                        .with(f::ADDR, fetch_at[*index])
                        .with(f::COUNT, self.fetches[*index].0.len() as u32 - 1)
                        .with(f::BARRIER, 1);
                    (
                        inst,
                        Some(isa::ClauseId((self.clauses.len() + index) as u32)),
                    )
                }
            };
            program.cf.push(isa::Cf {
                at: number as u32,
                inst,
                clause,
            });
        }
        program.dwords = at * 2;
        let words = isa::encode_program(&program).map_err(|error| broken(error.to_string()))?;
        lines.dedup_by_key(|(_, span)| *span);
        stats.instructions = stats.alu_slots
            + stats.cf_instructions
            + stats.tex_instructions
            + stats.vtx_instructions;
        stats.gprs = self.gprs;
        stats.stack_entries = self.stack;
        Ok(Emitted {
            words,
            program,
            lines,
            gprs: self.gprs,
            stack: self.stack,
            stats,
            kills: self.kills,
            writes_memory: self.writes_memory,
            least_groups: self.least_groups,
        })
    }
}
