//! Promotion of constant arrays to constant memory.
//!
//! Private arrays that hold nothing but constants wherever they are read at a run-time address become
//! constant variables: tables that stand in the program, instead of stores that fill the array again
//! in every invocation.
//!
//! One walk in program order knows of every word whether it is a constant. An `if` keeps what both
//! arms leave equal, a loop or block what nothing in it stores otherwise. A store at a run-time
//! address leaves no word a constant that it may write. Equal contents are one table. Linear in the
//! words stored (of a store at a run-time address those that it may write) and in the words of the
//! tables.

use crate::{ctx::Ctx, walk::Event, walk::walk};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{
    Access, Builder, Func, Imm, Inst, InstData, Mem, MemData, MemSpace, Op, Type, Value,
};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Makes tables.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let Some((fewest, most)) = ctx.target.table_words() else {
        return false;
    };
    let mut tables = Tables::of(func, ctx, fewest, most);
    if tables.words.iter().all(|(_, words)| words.is_none()) {
        return false;
    }
    let mut order = Vec::new();
    walk(func, |event| order.push(event));
    for event in order {
        match event {
            Event::Inst(inst) => tables.inst(func, ctx, inst),
            Event::After(inst) => tables.after(func, inst),
            Event::Enter(_) => tables.enter(),
            Event::Leave(_) => tables.leave(),
        }
    }
    tables.changed
}

/// Constant variables that are chosen become private ones that the program fills at its start, for machines whose programs come
/// without tables, or without as many.
pub fn fill(func: &mut Func, mut chosen: impl FnMut(&MemData) -> bool) {
    let mut stores = Vec::new();
    for mem in func.mems.keys() {
        let data = &func.mems[mem];
        if data.space != MemSpace::Constant || !chosen(data) {
            continue;
        }
        func.mems[mem].space = MemSpace::Private;
        let words = std::mem::take(&mut func.mems[mem].words);
        let scratch = func.new_region();
        let mut b = Builder::at(func, scratch);
        for (number, part) in (0u32..).zip(words.chunks(4)) {
            let lo = 16 * number;
            let hi = lo + 4 * part.len() as u32;
            let values: SmallVec<[Value; 4]> = part.iter().map(|&word| b.u32(word)).collect();
            let address = b.u32(lo);
            b.mem_store(Access { mem, lo, hi }, address, &values);
        }
        stores.append(&mut func.regions[scratch].insts);
    }
    let body = func.body;
    func.regions[body].insts.splice(0..0, stores);
}

/// A word of a variable.
type Word = (Mem, u32);

/// What a word held before, where it changed since a region began.
type Before = BTreeMap<Word, Option<u32>>;

struct Tables {
    fewest: u32,
    most: u32,
    /// Of each variable that may have a table: its words where they are constants.
    words: SecondaryMap<Mem, Option<Vec<Option<u32>>>>,
    /// The stores to such variables in each loop or block.
    stored: SecondaryMap<Inst, Vec<Inst>>,
    /// Changes of the regions around the place.
    trail: Vec<Before>,
    /// What the arms of the `if`s around the place left, in order.
    arms: Vec<Vec<Before>>,
    /// The table of a content.
    made: BTreeMap<Vec<u32>, Mem>,
    /// The table that a variable had at its last load, while nothing was stored since.
    current: BTreeMap<(Mem, u32, u32), Mem>,
    changed: bool,
}

fn address_of(func: &Func, data: &InstData) -> Option<u32> {
    u32::try_from(func.as_const(data.args[0])?).ok()
}

impl Tables {
    fn of(func: &Func, ctx: &mut Ctx, fewest: u32, most: u32) -> Tables {
        let mut words: SecondaryMap<Mem, Option<Vec<Option<u32>>>> = SecondaryMap::new();
        for (mem, data) in &func.mems {
            let fits =
                data.space == MemSpace::Private && (fewest..=most).contains(&(data.size / 4));
            // Nobody stores to what is between the elements.
            words[mem] = fits.then(|| vec![Some(0); data.size as usize / 4]);
        }
        let mut stored: SecondaryMap<Inst, Vec<Inst>> = SecondaryMap::new();
        let mut around: Vec<Inst> = Vec::new();
        walk(func, |event| match event {
            Event::Inst(inst) => {
                ctx.steps += 1;
                let data = &func.insts[inst];
                match data.imm {
                    Imm::Mem(access) if data.op == Op::MemStore => {
                        let whole = data.args[1..].iter().all(|&v| func.ty(v) == Type::B32);
                        let at = address_of(func, data);
                        if !whole || at.is_some_and(|at| at % 4 != 0) || access.lo % 4 != 0 {
                            words[access.mem] = None;
                            return;
                        }
                        let Some(words) = &mut words[access.mem] else {
                            return;
                        };
                        for ((_, word), _) in Self::writes(func, inst) {
                            if let Some(word) = words.get_mut(word as usize) {
                                *word = None;
                            }
                        }
                        for &construct in &around {
                            stored[construct].push(inst);
                        }
                    }
                    Imm::MemAtomic(access, _) => words[access.mem] = None,
                    _ => {}
                }
                if matches!(data.op, Op::Loop | Op::Block) {
                    around.push(inst);
                }
            }
            Event::After(inst) => {
                if around.last() == Some(&inst) {
                    around.pop();
                }
            }
            Event::Enter(_) | Event::Leave(_) => {}
        });
        Tables {
            fewest,
            most,
            words,
            stored,
            trail: Vec::new(),
            arms: Vec::new(),
            made: BTreeMap::new(),
            current: BTreeMap::new(),
            changed: false,
        }
    }

    fn set(&mut self, (mem, at): Word, new: Option<u32>) {
        let Some(word) = self.words[mem].as_mut().and_then(|words| words.get_mut(at as usize))
        else {
            return;
        };
        if *word == new {
            return;
        }
        if let Some(before) = self.trail.last_mut() {
            before.entry((mem, at)).or_insert(*word);
        }
        *word = new;
        let stale: Vec<_> = self
            .current
            .range((mem, 0, 0)..=(mem, u32::MAX, u32::MAX))
            .map(|(&key, _)| key)
            .collect();
        for key in stale {
            self.current.remove(&key);
        }
    }

    /// The words that a store writes, or may write at a run-time address, with what it writes.
    fn writes(func: &Func, inst: Inst) -> SmallVec<[(Word, Option<u32>); 4]> {
        let data = &func.insts[inst];
        let Imm::Mem(access) = data.imm else {
            return SmallVec::new();
        };
        let Some(at) = address_of(func, data) else {
            let words = access.lo / 4..access.hi.div_ceil(4);
            return words.map(|word| ((access.mem, word), None)).collect();
        };
        (at / 4..)
            .zip(&data.args[1..])
            .map(|(word, &value)| {
                let bits = func.as_const(value).map(|bits| bits as u32);
                ((access.mem, word), bits)
            })
            .collect()
    }

    /// The contents of the variable that a store writes are followed.
    fn is_followed(&self, func: &Func, store: Inst) -> bool {
        matches!(func.insts[store].imm, Imm::Mem(access) if self.words[access.mem].is_some())
    }

    /// Forgets what the construct stores otherwise.
    fn forget(&mut self, func: &Func, inst: Inst) {
        for index in 0..self.stored[inst].len() {
            let store = self.stored[inst][index];
            if !self.is_followed(func, store) {
                continue;
            }
            for (word, new) in Self::writes(func, store) {
                let now = self.words[word.0].as_ref().and_then(|words| words.get(word.1 as usize));
                if now.is_some_and(|&now| now != new) {
                    self.set(word, None);
                }
            }
        }
    }

    fn inst(&mut self, func: &mut Func, ctx: &mut Ctx, inst: Inst) {
        match func.insts[inst].op {
            Op::MemStore if self.is_followed(func, inst) => {
                let written = Self::writes(func, inst);
                ctx.steps += written.len() as u64;
                for (word, new) in written {
                    self.set(word, new);
                }
            }
            Op::MemLoad => self.load(func, ctx, inst),
            Op::Loop => self.forget(func, inst),
            _ => {}
        }
        if !func.insts[inst].regions.is_empty() {
            self.arms.push(Vec::new());
        }
    }

    fn enter(&mut self) {
        self.trail.push(Before::new());
    }

    /// What a region changed is undone, and kept for what comes after the construct.
    fn leave(&mut self) {
        let Some(before) = self.trail.pop() else {
            return;
        };
        let mut left = Before::new();
        // Undone outside of any region's trail: the region around saw nothing of it.
        let around = std::mem::take(&mut self.trail);
        for (word, old) in before {
            let now = self.words[word.0].as_ref().map(|words| words[word.1 as usize]);
            left.insert(word, now.flatten());
            self.set(word, old);
        }
        self.trail = around;
        if let Some(arms) = self.arms.last_mut() {
            arms.push(left);
        }
    }

    fn after(&mut self, func: &Func, inst: Inst) {
        let arms = self.arms.pop().unwrap_or_default();
        match func.insts[inst].op {
            Op::If => {
                for (number, arm) in arms.iter().enumerate() {
                    for (&word, &left) in arm {
                        let now = self.words[word.0].as_ref().map(|words| words[word.1 as usize]);
                        let others = arms.iter().enumerate().filter(|&(other, _)| other != number);
                        let same = left.is_some()
                            && others
                                .into_iter()
                                .all(|(_, other)| other.get(&word).copied().or(now) == Some(left));
                        // The second arm finds what the first made of the word.
                        if number == 0 || !arms[0].contains_key(&word) {
                            self.set(word, if same { left } else { None });
                        }
                    }
                }
            }
            Op::Block => self.forget(func, inst),
            _ => {}
        }
    }

    fn load(&mut self, func: &mut Func, ctx: &mut Ctx, inst: Inst) {
        let data = &func.insts[inst];
        let Imm::Mem(access) = data.imm else { return };
        let Some(words) = &self.words[access.mem] else {
            return;
        };
        let count = (access.hi - access.lo) / 4;
        let whole = data.results.iter().all(|&value| func.ty(value) == Type::B32);
        if func.as_const(data.args[0]).is_some()
            || !whole
            || access.lo % 4 != 0
            || access.hi % 4 != 0
            || !(self.fewest..=self.most).contains(&count)
        {
            return;
        }
        let key = (access.mem, access.lo, access.hi);
        let table = match self.current.get(&key) {
            Some(&table) => table,
            None => {
                let range = access.lo as usize / 4..access.hi as usize / 4;
                let part: Option<Vec<u32>> = words[range].iter().copied().collect();
                ctx.steps += u64::from(count);
                let Some(part) = part else { return };
                // Addresses stay what they are.
                let mut content = vec![0; access.lo as usize / 4];
                content.extend(part);
                let name = func.mems[access.mem].name.clone();
                let table = *self.made.entry(content).or_insert_with_key(|words| {
                    func.mems.push(MemData {
                        name,
                        size: 4 * words.len() as u32,
                        space: MemSpace::Constant,
                        words: words.clone(),
                    })
                });
                self.current.insert(key, table);
                table
            }
        };
        if ctx.draw() {
            func.insts[inst].imm = Imm::Mem(Access { mem: table, ..access });
            self.changed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, ctx::TargetInfo};
    use gpucc_ir::ssa::{Numerics, parse, verify};

    /// A machine with tables from two words on.
    struct Tabled;

    impl TargetInfo for Tabled {
        fn table_words(&self) -> Option<(u32, u32)> {
            Some((2, 8))
        }
    }

    /// What the pass makes of a body that has an array of four words and an index.
    fn after(body: &str) -> (bool, Func) {
        let text = format!(
            "func \"main\" vertex trusted {{\n  in0 = \"i\" u32 x 1 builtin vertex_index\n  \
             out0 = \"\" f32 x 4 builtin position\n  mem0 = \"a\" private 16\n}} body {{\n  \
             %0: b32 = input in0.0\n  %1: b32 = const 2\n  %2: b32 = shl %0, %1\n  \
             %3: b32 = const 0\n  %4: b32 = const 7\n  %5: b32 = const 8\n  \
             %6: b32 = const 9\n  %7: b1 = ieq %0, %4\n{body}  yield\n}}\n"
        );
        let mut func = parse(&text).expect("it parses").funcs.remove(0);
        verify(&func).expect("it is sound");
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Tabled);
        let changed = run(&mut func, &mut ctx);
        verify(&func).expect("it stays sound");
        (changed, func)
    }

    fn contents(func: &Func) -> Vec<Vec<u32>> {
        let tables = func.mems.values().filter(|data| data.space == MemSpace::Constant);
        tables.map(|data| data.words.clone()).collect()
    }

    const FILL: &str = "  mem_store mem0[0..16], %3, %4, %4, %5, %6\n";
    const LOAD: &str = "  %20: b32 = mem_load mem0[0..16], %2\n  output out0.0, %20\n";

    #[test]
    fn an_array_of_constants_is_a_table_and_equal_ones_are_one() {
        let (changed, func) = after(&format!(
            "{FILL}{LOAD}{FILL}  %21: b32 = mem_load mem0[0..16], %2\n  output out0.1, %21\n"
        ));
        assert!(changed);
        assert_eq!(contents(&func), [[7, 7, 8, 9]]);
    }

    #[test]
    fn words_that_nobody_stores_are_zeros() {
        let (_, func) = after(&format!("  mem_store mem0[0..12], %3, %4, %4, %5\n{LOAD}"));
        assert_eq!(contents(&func), [[7, 7, 8, 0]]);
    }

    #[test]
    fn a_store_at_run_time_or_of_a_variable_keeps_the_array() {
        assert!(!after(&format!("{FILL}  mem_store mem0[0..16], %2, %4\n{LOAD}")).0);
        assert!(!after(&format!("{FILL}  mem_store mem0[0..4], %3, %0\n{LOAD}")).0);
        // Behind it the array may be filled again; a loop leaves what it may write unknown.
        let written = "  mem_store mem0[0..16], %2, %3\n";
        assert_eq!(contents(&after(&format!("{written}{FILL}{LOAD}")).1), [[7, 7, 8, 9]]);
        let part = "  mem_store mem0[4..8], %2, %3\n";
        let rest = "  %21: b32 = mem_load mem0[8..16], %2\n  output out0.1, %21\n";
        assert_eq!(contents(&after(&format!("{FILL}{part}{rest}")).1), [[0, 0, 8, 9]]);
        // What is read before it is stored is not known.
        assert!(!after(&format!("{LOAD}{FILL}")).0);
    }

    #[test]
    fn arms_must_leave_the_same() {
        let arms = |first: &str, second: &str| {
            format!(
                "{FILL}  if %7 {{\n    mem_store mem0[0..4], %3, {first}\n    yield\n  }} else {{\n    \
                 mem_store mem0[0..4], %3, {second}\n    yield\n  }}\n{LOAD}"
            )
        };
        let (_, func) = after(&arms("%5", "%5"));
        assert_eq!(contents(&func), [[8, 7, 8, 9]]);
        assert!(!after(&arms("%5", "%6")).0);
        assert!(!after(&arms("%4", "%6")).0);
    }

    #[test]
    fn a_loop_knows_what_its_later_trips_begin_with() {
        let trips = |before: &str, after: &str| {
            format!(
                "{FILL}  loop body {{\n{before}{LOAD}{after}    if %7 {{\n      break\n    }} else {{\n      yield\n    }}\n    \
                 continue\n  }} continuing {{\n    next\n  }}\n"
            )
        };
        let other = "    mem_store mem0[0..4], %3, %6\n";
        assert_eq!(contents(&after(&trips("", "")).1), [[7, 7, 8, 9]]);
        assert_eq!(contents(&after(&trips(other, "")).1), [[9, 7, 8, 9]]);
        assert!(!after(&trips("", other)).0);
    }

    #[test]
    fn a_machine_without_tables_fills_the_array_itself() {
        let (_, mut func) = after(&format!("{FILL}{LOAD}"));
        fill(&mut func, |_| true);
        verify(&func).expect("it is sound");
        assert!(contents(&func).is_empty());
        assert!(func.mems.values().all(|data| data.words.is_empty()));
    }
}
