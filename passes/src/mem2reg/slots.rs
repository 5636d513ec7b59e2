//! Which words of private variables can be promoted, and what each access is made of.

use crate::{
    ctx::Ctx,
    walk::{Event, walk},
};
use gpucc_ir::ssa::{Access, Flags, Func, Imm, Inst, Mem, MemSpace, Op, Type, Value};

/// What one value of one access is made of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Stays in memory.
    Memory,
    /// A whole slot.
    Slot(u32),
    /// The low half of a word slot.
    Low(u32),
    /// The high half of a word slot.
    High(u32),
    /// Two word slots.
    Pair(u32, u32),
}

/// The promoted words and what every access is made of.
pub(super) struct Slots {
    pub(super) types: Vec<Type>,
    /// For each value of each private access in program order.
    pub(super) parts: Vec<Part>,
    /// Regions, constructs and private accesses in program order: what later walks ask about.
    pub(super) events: Vec<Event>,
}

/// A private load or store, with the variable's bytes.
pub(super) fn private_access(func: &Func, inst: Inst) -> Option<Access> {
    let data = &func.insts[inst];
    match (data.op, data.imm) {
        (Op::MemLoad | Op::MemStore, Imm::Mem(access))
            if func.mems[access.mem].space == MemSpace::Private =>
        {
            Some(access)
        }
        _ => None,
    }
}

/// The values that a load gives or a store takes.
pub(super) fn moved(func: &Func, inst: Inst) -> &[Value] {
    let data = &func.insts[inst];
    match data.op {
        Op::MemLoad => &data.results,
        _ => &data.args[1..],
    }
}

/// The truth value that a word was made of.
pub(super) fn truth_behind(func: &Func, value: Value) -> Option<Value> {
    let data = func.def(value).filter(|data| data.op == Op::UConvert)?;
    (func.ty(data.args[0]) == Type::B1 && func.ty(value) == Type::B32).then_some(data.args[0])
}

/// The byte address of an access if it is constant, aligned and inside the variable.
fn constant_address(func: &Func, inst: Inst, access: Access) -> Option<u32> {
    let start = u32::try_from(func.as_const(func.insts[inst].args[0])?).ok()?;
    let mut at = u64::from(start);
    for &value in moved(func, inst) {
        let ty = func.ty(value);
        let bytes = u64::from(ty.bytes());
        if ty == Type::B1 || at % bytes != 0 {
            return None;
        }
        at += bytes;
    }
    (at <= u64::from(func.mems[access.mem].size)).then_some(start)
}

impl Slots {
    pub(super) fn find(func: &Func, ctx: &mut Ctx) -> Option<Slots> {
        // Words that are reached at constant addresses: (mem, word, reached as a whole).
        let mut words: Vec<(Mem, u32, bool)> = Vec::with_capacity(64);
        let mut pairs: Vec<(Mem, u32)> = Vec::new();
        // Bytes that anything else may reach.
        let mut pinned: Vec<(Mem, u32, u32)> = Vec::new();
        let mut accesses: Vec<(Inst, Access, Option<u32>)> = Vec::with_capacity(64);
        let mut events: Vec<Event> = Vec::with_capacity(64);
        walk(func, |event| {
            let Event::Inst(inst) = event else {
                events.push(event);
                return;
            };
            ctx.steps += 1;
            let data = &func.insts[inst];
            if data.op.flags().has(Flags::REGIONS) {
                events.push(event);
                return;
            }
            if !matches!(data.imm, Imm::Mem(_) | Imm::MemAtomic(..)) {
                return;
            }
            if let Some(access) = private_access(func, inst) {
                let address = constant_address(func, inst, access);
                accesses.push((inst, access, address));
                events.push(event);
                let Some(mut at) = address else {
                    pinned.push((access.mem, access.lo, access.hi));
                    // An address that is constant and yet not inside is not worth a thought.
                    if func.as_const(func.insts[inst].args[0]).is_some() {
                        pinned.push((access.mem, 0, u32::MAX));
                    }
                    return;
                };
                for &value in moved(func, inst) {
                    let ty = func.ty(value);
                    words.push((access.mem, at / 4, ty != Type::B16));
                    if ty == Type::B64 {
                        words.push((access.mem, at / 4 + 1, true));
                        pairs.push((access.mem, at / 4));
                    }
                    at += ty.bytes();
                }
            } else if let Imm::Mem(access) | Imm::MemAtomic(access, _) = func.insts[inst].imm {
                pinned.push((access.mem, access.lo, access.hi));
            }
        });
        words.sort_unstable();
        // The whole flag sorts last, so it survives from the back.
        words.reverse();
        words.dedup_by_key(|word| (word.0, word.1));
        words.reverse();
        if words.is_empty() {
            return None;
        }
        pinned.sort_unstable();
        let mut held = vec![false; words.len()];
        let mut next = 0;
        let mut reach: Option<(Mem, u32)> = None;
        for (index, &(mem, word, _)) in words.iter().enumerate() {
            let (lo, hi) = (word.saturating_mul(4), word.saturating_mul(4).saturating_add(4));
            while next < pinned.len() && (pinned[next].0, pinned[next].1) < (mem, hi) {
                let (of, _, end) = pinned[next];
                reach = match reach {
                    Some((held, so_far)) if held == of => Some((of, so_far.max(end))),
                    _ => Some((of, end)),
                };
                next += 1;
            }
            held[index] = matches!(reach, Some((of, end)) if of == mem && end > lo);
        }
        let position = |mem: Mem, word: u32| {
            words
                .binary_search_by_key(&(mem, word), |entry| (entry.0, entry.1))
                .expect("every constant access was collected")
        };
        for &(mem, word) in &pairs {
            let (low, high) = (position(mem, word), position(mem, word + 1));
            let either = held[low] || held[high];
            held[low] = either;
            held[high] = either;
        }
        let mut first = vec![u32::MAX; words.len()];
        let mut types = Vec::new();
        for (index, &(_, _, whole)) in words.iter().enumerate() {
            if held[index] || !ctx.draw() {
                continue;
            }
            first[index] = types.len() as u32;
            match whole {
                true => types.push(Type::B32),
                false => types.extend([Type::B16, Type::B16]),
            }
        }
        for &(mem, word) in &pairs {
            // Fuel may have run out between the two.
            let (low, high) = (position(mem, word), position(mem, word + 1));
            if first[low] == u32::MAX || first[high] == u32::MAX {
                first[low] = u32::MAX;
                first[high] = u32::MAX;
            }
        }
        if first.iter().all(|&slot| slot == u32::MAX) {
            return None;
        }
        let mut parts = Vec::new();
        // Stored values with the numbers of their parts.
        let mut stores: Vec<(usize, Value)> = Vec::new();
        for (inst, access, address) in accesses {
            if func.insts[inst].op == Op::MemStore {
                let values = moved(func, inst).iter().enumerate();
                stores.extend(values.map(|(index, &value)| (parts.len() + index, value)));
            }
            let Some(mut at) = address else {
                parts.extend(moved(func, inst).iter().map(|_| Part::Memory));
                continue;
            };
            for &value in moved(func, inst) {
                let ty = func.ty(value);
                let index = position(access.mem, at / 4);
                let (slot, whole, high) = (first[index], words[index].2, at % 4 != 0);
                parts.push(match ty {
                    _ if slot == u32::MAX => Part::Memory,
                    Type::B16 if !whole => Part::Slot(slot + u32::from(high)),
                    Type::B16 if high => Part::High(slot),
                    Type::B16 => Part::Low(slot),
                    Type::B64 => Part::Pair(slot, first[position(access.mem, at / 4 + 1)]),
                    Type::B1 | Type::B32 => Part::Slot(slot),
                });
                at += ty.bytes();
            }
        }
        let mut slots = Slots { types, parts, events };
        slots.find_truths(func, &stores);
        Some(slots)
    }

    /// Word slots that only ever hold truth values as words hold the truth values themselves.
    fn find_truths(&mut self, func: &Func, stores: &[(usize, Value)]) {
        let mut truths: Vec<bool> = self.types.iter().map(|&ty| ty == Type::B32).collect();
        for part in &self.parts {
            match *part {
                Part::Low(slot) | Part::High(slot) => truths[slot as usize] = false,
                Part::Pair(low, high) => {
                    truths[low as usize] = false;
                    truths[high as usize] = false;
                }
                Part::Memory | Part::Slot(_) => {}
            }
        }
        let mut some = vec![false; truths.len()];
        for &(part, value) in stores {
            if let Part::Slot(slot) = self.parts[part] {
                some[slot as usize] |= truth_behind(func, value).is_some();
                let holds = truth_behind(func, value).is_some()
                    || func.as_const(value).is_some_and(|bits| bits <= 1);
                truths[slot as usize] &= holds;
            }
        }
        for (slot, ty) in self.types.iter_mut().enumerate() {
            if truths[slot] && some[slot] {
                *ty = Type::B1;
            }
        }
    }
}
