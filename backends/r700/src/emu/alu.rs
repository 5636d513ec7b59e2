//! ALU clauses: operands are gathered, every slot computes, then registers, PV, PS, AR, predicate and kills
//! change together. R700 ISA chapter 4.

use super::decode::{AluClause, AluInst, Source};
use super::double;
use super::group::{Group, sel};
use super::lanes::{Word, each};
use super::math;
use super::ops::{AluOp, Effect, Unit};
use super::rule::{Rule, Trap};
use super::wave::Wave;

/// What lives as long as a clause.
pub(super) struct ClauseState {
    pv: [Word; 4],
    ps: Word,
    /// AR, signed; poison where it was not loaded.
    ar: [Word; 4],
    predicate: u64,
    /// Lanes that stay active.
    stay: u64,
    /// What the group before wrote: register, channel, by index, lanes.
    written: Vec<Written>,
    /// Some of that by AR.
    wrote_by_ar: bool,
    kcache: [u32; 2],
}

/// A register write, for the hazards of indexed registers.
struct Written {
    cell: usize,
    mode: Index,
    lanes: u64,
}

/// How a register is addressed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Index {
    Fixed,
    Loop,
    Ar,
}

impl Index {
    fn of(rel: bool, mode: u32) -> Index {
        match (rel, mode) {
            (false, _) => Index::Fixed,
            (true, 4) => Index::Loop,
            (true, _) => Index::Ar,
        }
    }
}

impl Wave<'_> {
    /// Runs the groups of a clause on some lanes.
    pub fn clause(&mut self, groups: &[Group], clause: &AluClause, lanes: u64) -> Result<(), Trap> {
        for cell in &mut self.registers[self.program.limits.first_temp as usize * 4..] {
            if cell.poison != u64::MAX {
                cell.poison(u64::MAX, Rule::ClauseTemp, clause.addr * 8);
            }
        }
        let looped = |mode: u32| match mode {
            3 => self.loop_index.max(0) as u32 / 16,
            _ => 0,
        };
        let constants = &self.bound(clause.alternate, clause.addr * 8)?.constants;
        for kcache in clause.kcache.iter().filter(|kcache| kcache.mode != 0) {
            let lines = constants[kcache.bank as usize].len().div_ceil(256);
            let last = kcache.line + looped(kcache.mode) + u32::from(kcache.mode > 1);
            if last as usize >= lines {
                let detail =
                    format!("line {last} of buffer {} is locked, it has {lines}", kcache.bank);
                return Err(Trap::new(Rule::KcacheBounds, clause.addr * 8, detail));
            }
        }
        let line = |set: usize| {
            let kcache = clause.kcache[set];
            kcache.line + looped(kcache.mode)
        };
        let mut state = ClauseState {
            pv: [Word::UNDEFINED; 4],
            ps: Word::UNDEFINED,
            ar: [Word::UNDEFINED; 4],
            predicate: lanes,
            stay: u64::MAX,
            written: Vec::with_capacity(8),
            wrote_by_ar: false,
            kcache: [line(0), line(1)],
        };
        if lanes != 0 {
            for group in groups {
                self.count(group.offset)?;
                self.group(group, clause, &mut state, lanes)?;
            }
        }
        self.active &= state.stay;
        Ok(())
    }

    fn group(
        &mut self,
        group: &Group,
        clause: &AluClause,
        state: &mut ClauseState,
        lanes: u64,
    ) -> Result<(), Trap> {
        let offset = group.offset;
        let executing: [u64; 5] = std::array::from_fn(|unit| match &group.slots[unit] {
            None => 0,
            Some(inst) => match inst.pred_sel {
                2 => lanes & !state.predicate,
                3 => lanes & state.predicate,
                _ => lanes,
            },
        });
        let mut results: [Option<Word>; 5] = [None; 5];
        let mut unit = 0;
        while unit < 5 {
            let Some(inst) = &group.slots[unit] else {
                unit += 1;
                continue;
            };
            let gather = |slot: usize, n: usize| -> Result<Word, Trap> {
                let inst = group.slots[slot].as_ref().expect("its slots were checked");
                self.operand(group, clause, state, inst, n, executing[slot])
            };
            match inst.unit {
                Unit::Any | Unit::Vector | Unit::Trans => {
                    let mut sources = [Word::splat(0); 3];
                    for (n, source) in sources.iter_mut().enumerate().take(inst.op.sources()) {
                        *source = gather(unit, n)?;
                    }
                    let run = executing[unit];
                    results[unit] = Some(self.compute(inst, &sources, run, offset));
                    unit += 1;
                }
                Unit::Reduction => {
                    let mut a = [Word::splat(0); 4];
                    let mut b = [Word::splat(0); 4];
                    for slot in 0..4 {
                        a[slot] = gather(slot, 0)?;
                        if inst.op.sources() > 1 {
                            b[slot] = gather(slot, 1)?;
                        }
                    }
                    let four = math::reduce(self, inst, &a, &b, executing[0]);
                    for (slot, word) in four.into_iter().enumerate() {
                        results[slot] = Some(word);
                    }
                    unit = 4;
                }
                Unit::Pair | Unit::Quad => {
                    let count = if inst.unit == Unit::Pair { 2 } else { 4 };
                    let mut sources = [[Word::splat(0); 3]; 4];
                    for (slot, three) in sources.iter_mut().enumerate().take(count) {
                        for (n, source) in three.iter_mut().enumerate().take(inst.op.sources()) {
                            *source = gather(unit + slot, n)?;
                        }
                    }
                    let numerics = &self.state.numerics;
                    let words = double::compute(inst, &sources, executing[unit], numerics, offset);
                    for (slot, word) in words.into_iter().enumerate().take(count) {
                        results[unit + slot] = Some(word);
                    }
                    unit += count;
                }
            }
        }
        self.commit(group, state, &results, &executing)?;
        #[cfg(test)]
        for inst in group.slots.iter().flatten() {
            super::tests::executed::alu(self.state.chip, inst.op);
        }
        Ok(())
    }

    /// The value of an operand with its modifiers.
    fn operand(
        &self,
        group: &Group,
        clause: &AluClause,
        state: &ClauseState,
        inst: &AluInst,
        n: usize,
        lanes: u64,
    ) -> Result<Word, Trap> {
        let source = &inst.src[n];
        let chan = source.chan;
        let offset = group.offset;
        let mut word = match source.sel {
            0..128 => self.read_register(state, inst, source, lanes, offset)?,
            sel::KCACHE0..sel::KCACHE_END => self.kcache(clause, state, source, offset),
            248 => Word::splat(0),
            249 => Word::splat(1f32.to_bits()),
            250 => Word::splat(1),
            251 => Word::splat(u32::MAX),
            252 => Word::splat(0.5f32.to_bits()),
            sel::LITERAL => Word::splat(group.literals[chan as usize]),
            sel::PV => state.pv[chan as usize],
            sel::PS => state.ps,
            // 1.0 and 0.5 as doubles: low dword, high dword.
            244 | 246 => Word::splat(0),
            245 => Word::splat(0x3FF0_0000),
            _ => Word::splat(0x3FE0_0000),
        };
        if source.abs {
            for v in &mut word.v {
                *v &= 0x7FFF_FFFF;
            }
        }
        if source.neg {
            for v in &mut word.v {
                *v ^= 0x8000_0000;
            }
        }
        Ok(word)
    }

    fn read_register(
        &self,
        state: &ClauseState,
        inst: &AluInst,
        source: &Source,
        lanes: u64,
        offset: u32,
    ) -> Result<Word, Trap> {
        let cell = (source.sel * 4 + source.chan) as usize;
        let mode = Index::of(source.rel, inst.index_mode);
        let hazard = |cell: usize, lanes: u64| {
            let clash = state.written.iter().any(|w| {
                let other = w.mode != mode && (w.mode == Index::Ar || mode == Index::Ar);
                other && w.cell == cell && w.lanes & lanes != 0
            });
            if clash {
                let detail = format!("R{} was written by another index", cell / 4);
                return Err(Trap::new(Rule::IndexHazard, offset, detail));
            }
            Ok(())
        };
        match mode {
            Index::Fixed => {
                if state.wrote_by_ar {
                    hazard(cell, lanes)?;
                }
                Ok(self.registers[cell])
            }
            Index::Loop => {
                let cell = self.indexed(source.sel, self.loop_index).unwrap_or(0) * 4
                    + source.chan as usize;
                hazard(cell, lanes)?;
                Ok(self.registers[cell])
            }
            Index::Ar => {
                let ar = &state.ar[0];
                self.observed(ar, lanes, offset, "AR.x")?;
                let mut word = Word::splat(0);
                for lane in each(lanes) {
                    let register = self.indexed(source.sel, ar.v[lane] as i32).unwrap_or(0);
                    let cell = register * 4 + source.chan as usize;
                    hazard(cell, 1 << lane)?;
                    word.write(&self.registers[cell], 1 << lane, self.full);
                }
                Ok(word)
            }
        }
    }

    /// A register by index, or `None` outside of the declared ones.
    fn indexed(&self, base: u32, index: i32) -> Option<usize> {
        let at = i64::from(base) + i64::from(index);
        (0..i64::from(self.gprs)).contains(&at).then_some(at as usize)
    }

    fn kcache(
        &self,
        clause: &AluClause,
        state: &ClauseState,
        source: &Source,
        offset: u32,
    ) -> Word {
        let set = ((source.sel - sel::KCACHE0) / 32) as usize;
        let mut index = i64::from((source.sel - sel::KCACHE0) % 32);
        if source.rel {
            index += i64::from(self.loop_index);
            let locked = if clause.kcache[set].mode == 1 { 16 } else { 32 };
            if !(0..locked).contains(&index) {
                return Word::splat(0x7FFF_FFFF);
            }
        }
        let vector = u64::from(state.kcache[set]) * 16 + index as u64;
        let at = (vector * 16 + u64::from(source.chan) * 4) as usize;
        let from = match &self.state.alternate {
            Some(alternate) if clause.alternate => alternate,
            _ => self.state,
        };
        let buffer = &from.constants[clause.kcache[set].bank as usize];
        match buffer.get(at..at + 4) {
            Some(bytes) => {
                Word::splat(u32::from_le_bytes(bytes.try_into().expect("four bytes were taken")))
            }
            None => {
                let mut word = Word::splat(0);
                word.poison(u64::MAX, Rule::KcacheBounds, offset);
                word
            }
        }
    }

    /// The result of one slot.
    fn compute(&self, inst: &AluInst, sources: &[Word; 3], lanes: u64, offset: u32) -> Word {
        let mut word = math::compute(self, inst, sources, lanes, offset);
        if let Some(first) = math::chosen(&self.state.numerics, inst.op, &sources[0]) {
            // Only the operand that is taken matters.
            word.inherit(&sources[0]);
            let mut taken = sources[1];
            taken.poison &= first;
            word.inherit(&taken);
            let mut taken = sources[2];
            taken.poison &= !first;
            word.inherit(&taken);
            return word;
        }
        for source in &sources[..inst.op.sources()] {
            word.inherit(source);
        }
        word
    }

    fn commit(
        &mut self,
        group: &Group,
        state: &mut ClauseState,
        results: &[Option<Word>; 5],
        executing: &[u64; 5],
    ) -> Result<(), Trap> {
        let offset = group.offset;
        state.written.clear();
        state.wrote_by_ar = false;
        let mut predicate = state.predicate;
        let mut new_ar: Option<(usize, Word)> = None;
        for unit in 0..5 {
            let (Some(inst), Some(word)) = (&group.slots[unit], &results[unit]) else {
                // A slot that is not there leaves PV and PS undefined.
                let (undefined, rule) = if unit < 4 {
                    (&mut state.pv[unit], Rule::StalePv)
                } else {
                    (&mut state.ps, Rule::StalePs)
                };
                undefined.poison(u64::MAX, rule, offset);
                continue;
            };
            let lanes = executing[unit];
            match inst.op.effect() {
                Effect::None => {}
                Effect::Kill => {
                    self.observed(word, lanes, offset, "the condition of a kill")?;
                    let mut killed = 0u64;
                    for lane in each(lanes) {
                        killed |= u64::from(word.v[lane] != 0) << lane;
                    }
                    self.killed = true;
                    self.valid &= !killed;
                }
                Effect::Predicate => {
                    let second_half = inst.unit == Unit::Pair && unit & 1 == 1;
                    if (inst.update_pred || inst.update_exec) && !second_half {
                        self.observed(word, lanes, offset, "the condition of a predicate")?;
                        let passed = math::predicate(inst.op, word, lanes);
                        if inst.update_pred {
                            predicate = (predicate & !lanes) | passed;
                        }
                        if inst.update_exec {
                            state.stay &= passed | !lanes;
                        }
                    }
                }
                Effect::Mova => {
                    let mut ar = state.ar[unit];
                    ar.write(word, lanes, self.full);
                    new_ar = Some((unit, ar));
                }
            }
            if inst.write && inst.op != AluOp::NOP && inst.op.effect() != Effect::Mova {
                self.write_register(inst, word, lanes, state, offset)?;
            }
            if self.trace.is_some() {
                let slot = ["x", "y", "z", "w", "t"][unit];
                let name = ["x", "y", "z", "w"][inst.chan as usize];
                let text = format!("{slot}: {} R{}.{name}", inst.op.name(), inst.dst);
                self.trace_value(offset, &text, word, lanes);
            }
            let mut left = *word;
            left.poison(self.full & !lanes, Rule::Predicate, offset);
            if inst.op.effect() == Effect::Mova {
                left.poison(u64::MAX, Rule::MovaResult, offset);
            }
            if inst.dst_rel {
                left.poison(u64::MAX, Rule::RelativeResult, offset);
            }
            match unit {
                4 => state.ps = left,
                _ => state.pv[unit] = left,
            }
        }
        // KILL* and PRED_SET* took their values above; now the new predicate and AR.
        state.predicate = predicate;
        if let Some((unit, ar)) = new_ar {
            state.ar[unit] = ar;
        }
        Ok(())
    }

    fn write_register(
        &mut self,
        inst: &AluInst,
        word: &Word,
        lanes: u64,
        state: &mut ClauseState,
        offset: u32,
    ) -> Result<(), Trap> {
        let chan = inst.chan as usize;
        let mode = Index::of(inst.dst_rel, inst.index_mode);
        let full = self.full;
        match mode {
            Index::Fixed => {
                if !self.program.limits.declared(inst.dst) {
                    return Ok(());
                }
                let cell = inst.dst as usize * 4 + chan;
                self.registers[cell].write(word, lanes, full);
                state.written.push(Written { cell, mode, lanes });
            }
            Index::Loop => {
                if let Some(register) = self.indexed(inst.dst, self.loop_index) {
                    let cell = register * 4 + chan;
                    self.registers[cell].write(word, lanes, full);
                    state.written.push(Written { cell, mode, lanes });
                }
            }
            Index::Ar => {
                let ar = state.ar[0];
                self.observed(&ar, lanes, offset, "AR.x")?;
                state.wrote_by_ar = true;
                for lane in each(lanes) {
                    if let Some(register) = self.indexed(inst.dst, ar.v[lane] as i32) {
                        let cell = register * 4 + chan;
                        self.registers[cell].write(word, 1 << lane, full);
                        state.written.push(Written { cell, mode, lanes: 1 << lane });
                    }
                }
            }
        }
        Ok(())
    }
}
