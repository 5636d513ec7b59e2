//! Store-to-load forwarding and dead-store elimination.
//!
//! What was stored to a private word is what a load of it gives, and a store that is overwritten
//! before anybody could read it goes.
//!
//! For variables that `mem2reg` leaves in memory because some access has a run-time address: between
//! such accesses, words at constant addresses are followed along each region. Regions inside another
//! know nothing of it; of what they touch, and where they may leave it, it forgets. Linear in the accesses.

use crate::{ctx::Ctx, rename::Renames};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Imm, Inst, Mem, MemSpace, Op, Region, Type, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What is known of one variable.
#[derive(Clone, Debug, Default)]
struct Words {
    /// The value of a word, by its byte address.
    value: BTreeMap<u32, Value>,
    /// The store that wrote a word last, while nobody could have read it: and which operand.
    pending: BTreeMap<u32, (Inst, usize)>,
    /// What a word with a pending store held before, as far as that is known.
    before: BTreeMap<u32, Value>,
}

/// What regions inside an instruction do.
#[derive(Clone, Debug, Default)]
struct Inside {
    /// Variables, by [`bit`].
    loads: u64,
    stores: u64,
    /// Ends or goes on with a loop around it.
    jumps: bool,
    /// Blocks that it leaves; beyond [`MOST_EXITS`] of them, some.
    exits: SmallVec<[Inst; 2]>,
    many: bool,
}

/// Blocks that regions are known to leave.
const MOST_EXITS: usize = 8;

impl Inside {
    fn add(&mut self, other: &Inside) {
        self.loads |= other.loads;
        self.stores |= other.stores;
        self.jumps |= other.jumps;
        self.many |= other.many;
        for &exit in &other.exits {
            self.exit(exit);
        }
    }

    fn exit(&mut self, block: Inst) {
        if !self.exits.contains(&block) {
            self.many |= self.exits.len() == MOST_EXITS;
            self.exits.truncate(MOST_EXITS - 1);
            self.exits.push(block);
        }
    }

    /// Control may go elsewhere than behind the instruction.
    fn escapes(&self) -> bool {
        self.jumps || self.many || !self.exits.is_empty()
    }
}

/// The bit of a variable; the last one is that of many.
fn bit(mem: Mem) -> u64 {
    1 << mem.as_u32().min(63)
}

/// What each region does, those inside it included.
fn look_inside(
    func: &Func,
    regions: &[(Region, Option<Inst>, u32)],
) -> SecondaryMap<Region, Inside> {
    let mut inside: SecondaryMap<Region, Inside> = SecondaryMap::new();
    for &(region, ..) in regions.iter().rev() {
        let mut all = Inside::default();
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            match (data.op, &data.imm) {
                (Op::MemLoad, Imm::Mem(access)) => all.loads |= bit(access.mem),
                (Op::MemStore, Imm::Mem(access)) => all.stores |= bit(access.mem),
                (_, Imm::MemAtomic(access, _)) => {
                    all.loads |= bit(access.mem);
                    all.stores |= bit(access.mem);
                }
                (Op::Break | Op::Continue, _) => all.jumps = true,
                (Op::Exit, &Imm::Label(block)) => all.exit(block),
                _ => {}
            }
            if !data.regions.is_empty() {
                all.add(&of_inst(func, inst, &inside));
            }
        }
        inside[region] = all;
    }
    inside
}

/// What the regions of an instruction do, seen from outside of it.
fn of_inst(func: &Func, inst: Inst, inside: &SecondaryMap<Region, Inside>) -> Inside {
    let data = &func.insts[inst];
    let mut all = Inside::default();
    for &region in &data.regions {
        all.add(&inside[region]);
    }
    all.jumps &= data.op != Op::Loop;
    all.exits.retain(|exit| *exit != inst);
    all
}

struct Forward<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    renames: Renames,
    words: BTreeMap<Mem, Words>,
    /// Operands of stores that need not be stored.
    dead: SecondaryMap<Inst, u64>,
    inside: SecondaryMap<Region, Inside>,
    changed: bool,
}

/// Forwards stores to loads.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let any = func.mems.values().any(|mem| mem.space == MemSpace::Private);
    if !any {
        return false;
    }
    let regions = func.regions_in_order();
    let mut forward = Forward {
        inside: look_inside(func, &regions),
        ctx,
        renames: Renames::new(),
        words: BTreeMap::new(),
        dead: SecondaryMap::new(),
        changed: false,
    };
    for (region, ..) in regions {
        forward.region(func, region);
    }
    let Forward { mut renames, dead, changed, .. } = forward;
    renames.apply(func);
    if changed {
        split(func, &dead);
    }
    changed
}

impl Forward<'_, '_> {
    fn region(&mut self, func: &mut Func, region: Region) {
        self.words.clear();
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.ctx.steps += 1;
            self.renames.args(func, inst);
            if !func.insts[inst].regions.is_empty() {
                let inside = of_inst(func, inst, &self.inside);
                self.words.retain(|&mem, words| {
                    if inside.loads & bit(mem) != 0 || inside.escapes() {
                        words.pending.clear();
                    }
                    inside.stores & bit(mem) == 0
                });
                out.push(inst);
                continue;
            }
            if !self.access(func, inst) {
                out.push(inst);
            }
        }
        func.regions[region].insts = out;
    }

    /// Follows an access; true when a load is not needed any more.
    fn access(&mut self, func: &Func, inst: Inst) -> bool {
        let data = &func.insts[inst];
        let access = match data.imm {
            Imm::Mem(access) if func.mems[access.mem].space == MemSpace::Private => access,
            Imm::MemAtomic(access, _) => {
                self.words.remove(&access.mem);
                return false;
            }
            _ => return false,
        };
        let words = self.words.entry(access.mem).or_default();
        let at = func.as_const(data.args[0]).map(|bits| bits as u32);
        let moved = match data.op {
            Op::MemLoad => &data.results[..],
            _ => &data.args[1..],
        };
        let whole = moved.iter().all(|&value| func.ty(value) == Type::B32);
        let in_range = |at: u32| {
            let end = u64::from(at) + 4 * moved.len() as u64;
            at.is_multiple_of(4) && end <= u64::from(func.mems[access.mem].size)
        };
        let Some(at) = at.filter(|&at| whole && in_range(at)) else {
            if data.op == Op::MemStore {
                words.value.clear();
            }
            words.pending.clear();
            return false;
        };
        let place = |index: usize| at + 4 * index as u32;
        if data.op == Op::MemStore {
            for (index, &value) in data.args[1..].iter().enumerate() {
                let word = place(index);
                let before = words.value.insert(word, value);
                if before == Some(value) && self.ctx.draw() {
                    // It is there already.
                    self.dead[inst] |= 1 << index.min(63);
                    self.changed = true;
                    continue;
                }
                match words.pending.insert(word, (inst, index)) {
                    Some((other, operand)) if self.ctx.draw() => {
                        self.dead[other] |= 1 << operand.min(63);
                        self.changed = true;
                        // What was there before is put back: without the store between nothing changes.
                        if words.before.get(&word) == Some(&value) && self.ctx.draw() {
                            self.dead[inst] |= 1 << index.min(63);
                            words.pending.remove(&word);
                        }
                    }
                    Some(_) => {
                        words.before.remove(&word);
                    }
                    None => {
                        match before {
                            Some(value) => words.before.insert(word, value),
                            None => words.before.remove(&word),
                        };
                    }
                }
            }
            return false;
        }
        let found: Option<Vec<Value>> =
            (0..moved.len()).map(|index| words.value.get(&place(index)).copied()).collect();
        if let Some(found) = found
            && self.ctx.draw()
        {
            for (&result, value) in data.results.iter().zip(found) {
                self.renames.set(result, value);
            }
            self.changed = true;
            return true;
        }
        for (index, &value) in data.results.iter().enumerate() {
            words.value.entry(place(index)).or_insert(value);
            words.pending.remove(&place(index));
        }
        false
    }
}

/// Takes the operands that need not be stored out of the stores.
fn split(func: &mut Func, dead: &SecondaryMap<Inst, u64>) {
    for (region, ..) in func.regions_in_order() {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            if dead[inst] == 0 {
                out.push(inst);
                continue;
            }
            let data = func.insts[inst].clone();
            let Imm::Mem(access) = data.imm else {
                out.push(inst);
                continue;
            };
            let Some(at) = func.as_const(data.args[0]).map(|bits| bits as u32) else {
                out.push(inst);
                continue;
            };
            let kept: Vec<usize> = (0..data.args.len() - 1)
                .filter(|&index| index > 62 || dead[inst] >> index & 1 == 0)
                .collect();
            // Runs of neighbours stay together.
            let mut from = 0;
            while from < kept.len() {
                let mut to = from + 1;
                while to < kept.len() && kept[to] == kept[to - 1] + 1 {
                    to += 1;
                }
                let first = kept[from];
                let mut address = data.clone();
                address.op = Op::Const;
                address.imm = Imm::Bits(u64::from(at) + 4 * first as u64);
                address.args.clear();
                let address = func.new_inst(address, &[Type::B32]);
                out.push(address);
                let mut store = data.clone();
                store.args = data.args[1 + first..=kept[to - 1] + 1].into();
                store.args.insert(0, func.insts[address].results[0]);
                let lo = at + 4 * first as u32;
                store.imm = Imm::Mem(gpucc_ir::ssa::Access {
                    lo,
                    hi: lo + 4 * (to - from) as u32,
                    ..access
                });
                out.push(func.new_inst(store, &[]));
                from = to;
            }
        }
        func.regions[region].insts = out;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::{Neutral, Options};
    use gpucc_ir::ssa::{Access, Builder, MemData, Numerics, Stage, verify};

    /// Stores a word, does something in a block, stores the word again behind that; how many stores are left.
    fn stores_around(between: impl FnOnce(&mut Builder<'_>, Inst, [Mem; 2])) -> usize {
        let mut func = Func::new("forward", Stage::Compute);
        let mems = ["a", "b"].map(|name| {
            func.mems.push(MemData {
                name: name.into(),
                size: 4,
                space: MemSpace::Private,
                words: Vec::new(),
            })
        });
        let mut b = Builder::at_body(&mut func);
        b.block(&[], |b, block| {
            let [zero, one, two] = [0, 1, 2].map(|bits| b.u32(bits));
            b.mem_store(word(mems[0]), zero, &[one]);
            let cond = b.bool(true);
            let then = |b: &mut Builder<'_>| {
                between(b, block, mems);
                vec![]
            };
            b.if_else(cond, &[], then, |_| vec![]);
            b.mem_store(word(mems[0]), zero, &[two]);
            vec![]
        });
        let zero = b.u32(0);
        b.mem_load(word(mems[0]), zero, &[Type::B32]);
        b.end(Op::Yield, &[]);
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        run(&mut func, &mut ctx);
        verify(&func).expect("still sound");
        let all = func.regions_in_order();
        let insts = all.iter().flat_map(|at| &func.regions[at.0].insts);
        let to_first = |inst: &&Inst| {
            let data = &func.insts[**inst];
            data.op == Op::MemStore && data.imm == Imm::Mem(word(mems[0]))
        };
        insts.filter(to_first).count()
    }

    fn word(mem: Mem) -> Access {
        Access { mem, lo: 0, hi: 4 }
    }

    #[test]
    fn what_happens_to_another_variable_between_two_stores_does_not_keep_the_first() {
        let stores = stores_around(|b, _, [_, other]| {
            let zero = b.u32(0);
            b.mem_store(word(other), zero, &[zero]);
            b.mem_load(word(other), zero, &[Type::B32]);
        });
        assert_eq!(stores, 1);
    }

    #[test]
    fn a_load_between_two_stores_keeps_the_first() {
        let stores = stores_around(|b, _, [this, _]| {
            let zero = b.u32(0);
            b.mem_load(word(this), zero, &[Type::B32]);
        });
        assert_eq!(stores, 2);
    }

    #[test]
    fn who_leaves_before_the_second_store_keeps_the_first() {
        let stores = stores_around(|b, block, _| {
            b.exit(block, &[]);
        });
        assert_eq!(stores, 2);
    }
}
