//! Which words of private variables can be promoted, and what each access is made of.

use crate::{
    ctx::Ctx,
    walk::{Event, walk},
};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Access, Flags, Func, Imm, Inst, Mem, MemSpace, Op, Type, Value};
use std::ops::Range;

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

/// Words of private variables that are kept apart, at most: what has more stays in memory.
const MOST_WORDS: usize = 1 << 16;

/// The words of private variables, one number each.
struct Words {
    /// The first word of each variable; none of one that stays in memory.
    first: SecondaryMap<Mem, Option<u32>>,
    /// Reached at constant addresses, and by something else than halves.
    reached: Vec<Option<bool>>,
    /// Reached by something else.
    held: Vec<bool>,
    /// Accesses at run time that begin at a word, less those that end before it.
    begun: Vec<i32>,
}

impl Words {
    fn of(func: &Func) -> Words {
        let mut first = SecondaryMap::with_capacity(func.mems.len());
        let mut count = 0;
        for (mem, data) in &func.mems {
            let end = count + data.size.div_ceil(4) as usize;
            if data.space == MemSpace::Private && end <= MOST_WORDS {
                first[mem] = Some(count as u32);
                count = end;
            }
        }
        Words {
            first,
            reached: vec![None; count],
            held: vec![false; count],
            begun: vec![0; count + 1],
        }
    }

    /// The word that holds a byte of a variable.
    fn at(&self, mem: Mem, byte: u32) -> Option<usize> {
        Some((self.first[mem]? + byte / 4) as usize)
    }

    fn reach(&mut self, word: usize, whole: bool) {
        self.reached[word] = Some(whole || self.reached[word] == Some(true));
    }

    /// Some access at run time may reach these bytes of a variable.
    fn pin(&mut self, func: &Func, mem: Mem, bytes: Range<u32>) {
        let Some(first) = self.first[mem] else { return };
        let words = func.mems[mem].size.div_ceil(4);
        let (start, end) = (bytes.start / 4, bytes.end.div_ceil(4).min(words));
        if start < end {
            self.begun[(first + start) as usize] += 1;
            self.begun[(first + end) as usize] -= 1;
        }
    }

    /// All accesses are known.
    fn settle(&mut self) {
        let mut open = 0;
        for (held, begun) in self.held.iter_mut().zip(&self.begun) {
            open += begun;
            *held = open > 0;
        }
    }
}

impl Slots {
    pub(super) fn find(func: &Func, ctx: &mut Ctx) -> Option<Slots> {
        let mut words = Words::of(func);
        // Both words of values of 64 bits.
        let mut pairs: Vec<(usize, usize)> = Vec::new();
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
            let (Imm::Mem(access) | Imm::MemAtomic(access, _)) = data.imm else { return };
            if private_access(func, inst).is_none() {
                words.pin(func, access.mem, access.lo..access.hi);
                return;
            }
            let address = constant_address(func, inst, access);
            accesses.push((inst, access, address));
            events.push(event);
            let Some(mut at) = address else {
                // An address that is constant and yet not inside is not worth a thought.
                let wrong = func.as_const(data.args[0]).is_some();
                words.pin(func, access.mem, if wrong { 0..u32::MAX } else { access.lo..access.hi });
                return;
            };
            for &value in moved(func, inst) {
                let ty = func.ty(value);
                if let Some(word) = words.at(access.mem, at) {
                    words.reach(word, ty != Type::B16);
                    if ty == Type::B64 {
                        words.reach(word + 1, true);
                        pairs.push((word, word + 1));
                    }
                }
                at += ty.bytes();
            }
        });
        words.settle();
        for &(low, high) in &pairs {
            let either = words.held[low] || words.held[high];
            words.held[low] = either;
            words.held[high] = either;
        }
        let mut first = vec![u32::MAX; words.reached.len()];
        let mut types = Vec::with_capacity(64);
        for (word, first) in first.iter_mut().enumerate() {
            let Some(whole) = words.reached[word].filter(|_| !words.held[word] && ctx.draw())
            else {
                continue;
            };
            *first = types.len() as u32;
            match whole {
                true => types.push(Type::B32),
                false => types.extend([Type::B16, Type::B16]),
            }
        }
        for &(low, high) in &pairs {
            // Fuel may have run out between the two.
            if first[low] == u32::MAX || first[high] == u32::MAX {
                first[low] = u32::MAX;
                first[high] = u32::MAX;
            }
        }
        if first.iter().all(|&slot| slot == u32::MAX) {
            return None;
        }
        let mut parts = Vec::with_capacity(accesses.len());
        // Stored values with the numbers of their parts.
        let mut stores: Vec<(usize, Value)> = Vec::with_capacity(accesses.len());
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
                let word = words.at(access.mem, at).filter(|&word| first[word] != u32::MAX);
                parts.push(word.map_or(Part::Memory, |word| {
                    let (slot, whole, high) = (first[word], words.reached[word], at % 4 != 0);
                    match ty {
                        Type::B16 if whole == Some(false) => Part::Slot(slot + u32::from(high)),
                        Type::B16 if high => Part::High(slot),
                        Type::B16 => Part::Low(slot),
                        Type::B64 => Part::Pair(slot, first[word + 1]),
                        Type::B1 | Type::B32 => Part::Slot(slot),
                    }
                }));
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
