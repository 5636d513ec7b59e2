//! Neighbouring words of private variables at constant addresses are loaded, or stored, by one instruction within a line
//! of 16 bytes: loads where the first of them stands, stores where the last does.
//!
//! Each region alone, between what else touches the variable. Private memory is no other invocation's, so nothing sees
//! when a store happens. Linear in the accesses.

use gpucc_ir::ssa::{
    Access, Builder, Func, Imm, Inst, Mem, MemSpace, Op, Region, Type, Value, ValueDef,
};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Bytes of a line.
const LINE: u32 = 16;
/// Words of a line.
const WORDS: usize = (LINE / 4) as usize;

/// Accesses of one line of a variable between which nothing else touches it.
#[derive(Default)]
struct Line {
    /// Where each word's load or store stands, and which of its values it is.
    loads: [Option<(usize, usize)>; WORDS],
    stores: [Option<(usize, usize)>; WORDS],
}

/// Variable, first byte, and by word what is loaded or stored.
type Merged = (Mem, u32, SmallVec<[Value; 4]>);

/// What became of a place of the region.
#[derive(Clone, Debug, Default)]
struct Fate {
    gone: bool,
    /// Loads before it.
    loads: SmallVec<[Merged; 1]>,
    /// Stores behind it.
    stores: SmallVec<[Merged; 1]>,
}

/// Merges the accesses of a function; true when anything changed.
pub(super) fn run(func: &mut Func) -> bool {
    if !func.mems.values().any(|mem| mem.space == MemSpace::Private) {
        return false;
    }
    let mut any = false;
    for (region, ..) in func.regions_in_order() {
        any |= merge(func, region);
    }
    any
}

/// The variable, first byte and words of an access of whole words within one line at a constant address.
fn place(func: &Func, inst: Inst) -> Option<(Mem, u32, usize)> {
    let data = &func.insts[inst];
    let Imm::Mem(access) = data.imm else {
        return None;
    };
    let moved = match data.op {
        Op::MemLoad => &data.results[..],
        _ => &data.args[1..],
    };
    let at = func.as_const(data.args[0])? as u32;
    let bytes = u32::try_from(4 * moved.len()).ok()?;
    let fits = at.is_multiple_of(4)
        && at % LINE + bytes <= LINE
        && at.checked_add(bytes)? <= func.mems[access.mem].size
        && moved.iter().all(|&value| func.ty(value) == Type::B32);
    fits.then_some((access.mem, at, moved.len()))
}

fn merge(func: &mut Func, region: Region) -> bool {
    let insts = func.regions[region].insts.clone();
    let mut fates: Vec<Fate> = Vec::new();
    fates.resize_with(insts.len(), Fate::default);
    let mut open: BTreeMap<(Mem, u32), Line> = BTreeMap::new();
    for (at, &inst) in insts.iter().enumerate() {
        let data = &func.insts[inst];
        if !data.regions.is_empty() {
            for (key, line) in std::mem::take(&mut open) {
                close(func, &insts, key, line, &mut fates);
            }
            continue;
        }
        let mem = match data.imm {
            Imm::Mem(access) => access.mem,
            Imm::MemAtomic(access, _) => access.mem,
            _ => continue,
        };
        if func.mems[mem].space != MemSpace::Private {
            continue;
        }
        let Some((_, first, count)) = place(func, inst) else {
            // Some word of the variable, or of several lines.
            let keys: Vec<(Mem, u32)> =
                open.range((mem, 0)..=(mem, u32::MAX)).map(|e| *e.0).collect();
            for key in keys {
                let line = open.remove(&key).unwrap_or_default();
                close(func, &insts, key, line, &mut fates);
            }
            continue;
        };
        let key = (mem, first / LINE);
        let words = (first % LINE / 4) as usize..(first % LINE / 4) as usize + count;
        let is_load = data.op == Op::MemLoad;
        let line = open.entry(key).or_default();
        // A load stays in front of stores and behind them; what is touched twice begins anew.
        let others = if is_load { &line.stores } else { &line.loads };
        let same = if is_load { &line.loads } else { &line.stores };
        if others.iter().any(Option::is_some) || same[words.clone()].iter().any(Option::is_some) {
            let line = std::mem::take(line);
            close(func, &insts, key, line, &mut fates);
        }
        let line = open.entry(key).or_default();
        let list = if is_load { &mut line.loads } else { &mut line.stores };
        for (value, word) in words.enumerate() {
            list[word] = Some((at, value));
        }
    }
    for (key, line) in open {
        close(func, &insts, key, line, &mut fates);
    }
    if !fates.iter().any(|fate| fate.gone) {
        return false;
    }
    func.regions[region].insts.clear();
    for (inst, fate) in insts.into_iter().zip(fates) {
        for (mem, at, results) in fate.loads {
            let mut b = Builder::at(func, region);
            b.span = b.func.insts[inst].span;
            let address = b.u32(at);
            let access = access(mem, at, results.len());
            let made = b.inst(Op::MemLoad, Imm::Mem(access), &[address], &[], &[]);
            // The values keep their names.
            for (index, &value) in results.iter().enumerate() {
                func.values[value].def = ValueDef::Result(made, index as u16);
                func.insts[made].results.push(value);
            }
        }
        if !fate.gone {
            func.regions[region].insts.push(inst);
        }
        for (mem, at, values) in fate.stores {
            let mut b = Builder::at(func, region);
            b.span = b.func.insts[inst].span;
            let address = b.u32(at);
            b.mem_store(access(mem, at, values.len()), address, &values);
        }
    }
    true
}

fn access(mem: Mem, at: u32, words: usize) -> Access {
    Access { mem, lo: at, hi: at + 4 * words as u32 }
}

/// Decides what happens to the accesses of a line.
fn close(func: &Func, insts: &[Inst], (mem, line): (Mem, u32), words: Line, fates: &mut [Fate]) {
    for (is_load, list) in [(true, words.loads), (false, words.stores)] {
        let mut from = 0;
        while from < WORDS {
            let run = list[from..].iter().take_while(|word| word.is_some()).count();
            let members: SmallVec<[(usize, usize); 4]> =
                list[from..from + run].iter().flatten().copied().collect();
            let (begin, begun) = (from, members.first().copied());
            from += run.max(1);
            let Some((first, _)) = begun else {
                continue;
            };
            if members.iter().all(|member| member.0 == first) {
                continue;
            }
            let values = members.iter().map(|&(at, value)| {
                let data = &func.insts[insts[at]];
                match is_load {
                    true => data.results[value],
                    false => data.args[1 + value],
                }
            });
            let made = (mem, LINE * line + 4 * begin as u32, values.collect());
            let places = members.iter().map(|member| member.0);
            match is_load {
                true => fates[places.clone().min().unwrap_or(first)].loads.push(made),
                false => fates[places.clone().max().unwrap_or(first)].stores.push(made),
            }
            for at in places {
                fates[at].gone = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{MemData, Stage, verify};

    /// Two variables of six words.
    fn func() -> (Func, [Mem; 2]) {
        let mut func = Func::new("private", Stage::Compute);
        let mut new = |name: &str| {
            func.mems.push(MemData {
                name: name.into(),
                size: 24,
                space: MemSpace::Private,
                words: Vec::new(),
            })
        };
        let mems = [new("a"), new("b")];
        (func, mems)
    }

    fn word(mem: Mem, at: u32) -> Access {
        access(mem, at, 1)
    }

    /// First byte and words of the accesses of an operation.
    fn list(func: &Func, op: Op) -> Vec<(u32, usize)> {
        let insts = func.regions[func.body].insts.iter();
        let these = insts.filter(|&&inst| func.insts[inst].op == op);
        these
            .map(|&inst| place(func, inst).map(|(_, at, words)| (at, words)).expect("whole words"))
            .collect()
    }

    #[test]
    fn a_copy_word_by_word_moves_lines() {
        let (mut func, [a, b_]) = func();
        let mut b = Builder::at_body(&mut func);
        for at in (0..24).step_by(4) {
            let address = b.u32(at);
            let value = b.mem_load(word(a, at), address, &[Type::B32])[0];
            b.mem_store(word(b_, at), address, &[value]);
        }
        b.end(Op::Yield, &[]);
        assert!(run(&mut func));
        verify(&func).expect("still sound");
        assert_eq!(list(&func, Op::MemLoad), [(0, 4), (16, 2)]);
        assert_eq!(list(&func, Op::MemStore), [(0, 4), (16, 2)]);
    }

    #[test]
    fn what_is_stored_between_two_loads_keeps_them_apart() {
        let (mut func, [a, _]) = func();
        let mut b = Builder::at_body(&mut func);
        let (zero, four) = (b.u32(0), b.u32(4));
        b.mem_load(word(a, 0), zero, &[Type::B32]);
        b.mem_store(word(a, 4), four, &[four]);
        b.mem_load(word(a, 4), four, &[Type::B32]);
        b.mem_store(word(a, 0), zero, &[four]);
        b.end(Op::Yield, &[]);
        assert!(!run(&mut func));
    }
}
