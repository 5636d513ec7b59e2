//! Small private arrays indexed at run time become trees of selects, so that they need no memory.
//!
//! An access at a run-time address is taken apart into accesses at every constant address that it may
//! have; `mem2reg` then promotes the words. Only variables of at most
//! [`crate::TargetInfo::select_chain_limit`] words, or for which the selects are cheaper than the accesses
//! that they save ([`crate::TargetInfo::access_worth`]), all of whose accesses are of whole words, and only
//! after the robustness pass: an address is then in range, or the shader has promised so.

use crate::{ctx::Ctx, rename::Renames};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Access, Builder, Func, Imm, Inst, Mem, MemSpace, Op, Type, Value};
use smallvec::SmallVec;

/// Words of the largest variable that is taken apart.
const MOST_WORDS: u32 = 64;
/// Selects that all chains of a function may take together: with more, the program and what it keeps in
/// registers grow beyond what the accesses cost, also where one access is worth many selects.
const MOST_SELECTS: u32 = 400;

/// What is known of one variable.
#[derive(Clone, Copy, Default)]
struct Facts {
    fits: bool,
    /// Selects that its chains take.
    selects: u32,
    /// Memory accesses of up to four words.
    accesses: u32,
    /// Words loaded and stored at constant addresses in the region that is being looked at: neighbours, as a rule.
    near: [u32; 2],
    dynamic: bool,
}

impl Facts {
    /// A region ends.
    fn end(&mut self) {
        let near = std::mem::take(&mut self.near);
        self.accesses += near.iter().map(|words| words.div_ceil(4)).sum::<u32>();
    }
}

/// Takes small arrays apart.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let limit = ctx.target.select_chain_limit();
    let worth = ctx.target.access_worth();
    let regions = func.regions_in_order();
    let mut facts: SecondaryMap<Mem, Facts> = SecondaryMap::new();
    for (mem, data) in func.mems.iter() {
        let most = if worth == 0 { limit } else { MOST_WORDS };
        facts[mem].fits = data.space == MemSpace::Private && data.size / 4 <= most.max(limit);
    }
    let mut touched: Vec<Mem> = Vec::new();
    for &(region, ..) in &regions {
        for &inst in &func.regions[region].insts {
            ctx.steps += 1;
            let data = &func.insts[inst];
            match data.imm {
                Imm::Mem(access) => {
                    let moved = match data.op {
                        Op::MemLoad => &data.results[..],
                        _ => &data.args[1..],
                    };
                    let words = moved.iter().all(|&value| func.ty(value) == Type::B32);
                    let fact = &mut facts[access.mem];
                    fact.fits &= words && access.lo % 4 == 0 && access.hi % 4 == 0;
                    let count = moved.len() as u32;
                    if func.as_const(data.args[0]).is_some() {
                        if fact.near == [0; 2] {
                            touched.push(access.mem);
                        }
                        fact.near[usize::from(data.op == Op::MemStore)] += count;
                        continue;
                    }
                    fact.accesses += count.div_ceil(4);
                    if fact.fits {
                        fact.dynamic = true;
                        let places = places(func, data.args[0], access, count).len() as u32;
                        fact.selects = fact.selects.saturating_add(places * count);
                    }
                }
                Imm::MemAtomic(access, _) => facts[access.mem].fits = false,
                _ => {}
            }
        }
        touched.drain(..).for_each(|mem| facts[mem].end());
    }
    let mut budget = MOST_SELECTS;
    let mut any = false;
    for (mem, data) in func.mems.iter() {
        let fact = &mut facts[mem];
        let small = data.size / 4 <= limit;
        let saved = worth.saturating_mul(fact.accesses);
        let cheap = fact.selects.saturating_mul(2) <= saved && fact.selects <= budget;
        fact.fits &= fact.dynamic && (small || cheap);
        if fact.fits {
            budget = budget.saturating_sub(fact.selects);
            any = true;
        }
    }
    if !any || !ctx.draw() {
        return false;
    }
    let mut renames = Renames::new();
    for &(region, ..) in &regions {
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            renames.args(func, inst);
            match func.insts[inst].imm {
                Imm::Mem(access)
                    if facts[access.mem].fits
                        && func.as_const(func.insts[inst].args[0]).is_none() =>
                {
                    let scratch = func.new_region();
                    apart(func, scratch, inst, access, &mut renames);
                    out.append(&mut func.regions[scratch].insts);
                }
                _ => out.push(inst),
            }
        }
        func.regions[region].insts = out;
    }
    renames.apply(func);
    true
}

/// How far addresses are followed.
const DEPTH: u32 = 8;

/// The value is `rest` more than a multiple of `unit`; of nothing, where it is constant.
fn steps(func: &Func, value: Value, depth: u32) -> (u32, i64) {
    let anything = (1, 0);
    if let Some(bits) = func.as_const(value) {
        return (0, i64::from(bits as u32 as i32));
    }
    let Some(data) = func.def(value).filter(|_| depth > 0) else {
        return anything;
    };
    let of = |k: usize| steps(func, data.args[k], depth - 1);
    let scaled = |by: u32| {
        let (unit, rest) = of(0);
        unit.checked_mul(by).zip(rest.checked_mul(by.into()))
    };
    match data.op {
        Op::IAdd => {
            let ((a, x), (b, y)) = (of(0), of(1));
            (gcd(a, b), x.saturating_add(y))
        }
        Op::Shl => match func.as_const(data.args[1]) {
            Some(by @ 0..=15) => scaled(1 << by).unwrap_or(anything),
            _ => anything,
        },
        Op::IMul => match func.as_const(data.args[1]) {
            Some(by) => scaled(by as u32).unwrap_or(anything),
            None => anything,
        },
        _ => anything,
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The addresses that an access of so many words may have, ascending.
fn places(func: &Func, address: Value, access: Access, count: u32) -> SmallVec<[u32; 16]> {
    let (unit, rest) = steps(func, address, DEPTH);
    let unit = i64::from(unit.max(1));
    let last = access.hi.saturating_sub(4 * count);
    let all = (access.lo..=last).step_by(4);
    let kept: SmallVec<[u32; 16]> =
        all.clone().filter(|&at| (i64::from(at) - rest) % unit == 0).collect();
    // Nothing fits only where the access can never happen.
    if kept.is_empty() { all.collect() } else { kept }
}

/// What decides between the places: the index before it was scaled, and what it is for each.
fn key(func: &Func, address: Value, places: &[u32]) -> (Value, SmallVec<[u32; 16]>) {
    let mut value = address;
    let mut keys: SmallVec<[u32; 16]> = SmallVec::from_slice(places);
    while let Some(data) = func.def(value) {
        let Some(by) = data.args.get(1).and_then(|&by| func.as_const(by)) else {
            break;
        };
        let by = by as u32;
        let scale = match data.op {
            Op::IAdd => {
                keys.iter_mut().for_each(|key| *key = key.wrapping_sub(by));
                value = data.args[0];
                continue;
            }
            Op::Shl if by < 16 => 1 << by,
            Op::IMul if by > 0 => by,
            _ => break,
        };
        if keys.iter().any(|key| key % scale != 0) {
            break;
        }
        keys.iter_mut().for_each(|key| *key /= scale);
        value = data.args[0];
    }
    (value, keys)
}

fn apart(
    func: &mut Func,
    scratch: gpucc_ir::ssa::Region,
    inst: Inst,
    access: Access,
    renames: &mut Renames,
) {
    let data = func.insts[inst].clone();
    let stores = data.op == Op::MemStore;
    let count = if stores { data.args.len() - 1 } else { data.results.len() } as u32;
    let places = places(func, data.args[0], access, count);
    let (index, keys) = key(func, data.args[0], &places);
    let mut b = Builder::at(func, scratch);
    b.span = data.span;
    let word = |at: u32| Access { mem: access.mem, lo: at, hi: at + 4 };
    for moved in 0..count {
        // Value `moved` of the access stands 4 * moved bytes after its address.
        let mut choices: Vec<(u32, Value)> = Vec::new();
        for (&place, &key) in places.iter().zip(&keys) {
            let at = place + 4 * moved;
            let here = b.u32(at);
            let now = b.mem_load(word(at), here, &[Type::B32])[0];
            if stores {
                let key = b.u32(key);
                let hit = b.op2(Op::IEq, index, key);
                let new = b.select(hit, data.args[1 + moved as usize], now);
                b.mem_store(word(at), here, &[new]);
            } else {
                choices.push((key, now));
            }
        }
        if !stores {
            // What was subtracted may have wrapped.
            choices.sort_by_key(|&(key, _)| key);
            let value = choose(&mut b, index, &choices);
            renames.set(data.results[moved as usize], value);
        }
    }
}

/// The value that belongs to a key, of values by ascending keys: a tree of choices.
fn choose(b: &mut Builder<'_>, key: Value, choices: &[(u32, Value)]) -> Value {
    match choices {
        [] => b.u32(0),
        &[(_, value)] => value,
        &[(first, yes), (_, no)] => {
            let first = b.u32(first);
            let hit = b.op2(Op::IEq, key, first);
            b.select(hit, yes, no)
        }
        _ => {
            let (low, high) = choices.split_at(choices.len() / 2);
            let (yes, no) = (choose(b, key, low), choose(b, key, high));
            let bound = b.u32(high[0].0);
            let less = b.op2(Op::ULt, key, bound);
            b.select(less, yes, no)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctx::{Neutral, Options};
    use gpucc_ir::ssa::{MemData, Numerics, Stage, verify};

    #[test]
    fn an_element_of_two_vectors_is_chosen_by_its_index_alone() {
        let mut func = Func::new("apart", Stage::Vertex);
        let mem = func.mems.push(MemData {
            name: "a".into(),
            size: 16,
            space: MemSpace::Private,
            words: Vec::new(),
        });
        let input = func.inputs.push(gpucc_ir::ssa::InputData {
            name: "i".into(),
            scalar: gpucc_ir::ssa::Scalar::U32,
            components: 1,
            kind: gpucc_ir::ssa::InputKind::Builtin(gpucc_ir::ssa::Builtin::VertexIndex),
        });
        let mut b = Builder::at_body(&mut func);
        let index = b.input(input, 0);
        let (zero, three) = (b.u32(0), b.u32(3));
        let all = Access { mem, lo: 0, hi: 16 };
        b.mem_store(all, zero, &[zero, three, three, zero]);
        let place = b.op2(Op::Shl, index, three);
        b.mem_load(all, place, &[Type::B32, Type::B32]);
        b.end(Op::Yield, &[]);
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        assert!(run(&mut func, &mut ctx));
        verify(&func).expect("still sound");
        let compared: Vec<Value> = func.regions[func.body]
            .insts
            .iter()
            .filter(|&&inst| func.insts[inst].op == Op::IEq)
            .map(|&inst| func.insts[inst].args[0])
            .collect();
        assert_eq!(compared, [index, index], "one choice for each component");
    }
}
