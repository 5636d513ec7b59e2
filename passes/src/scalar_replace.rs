//! Small private arrays indexed at run time become trees of selects, so that they need no memory.
//!
//! An access at a run-time address is taken apart into accesses at every constant address that it may
//! have; `mem2reg` then promotes the words. Only variables of at most
//! [`crate::TargetInfo::select_chain_limit`] words, or for which the selects are cheaper than the accesses
//! that they save ([`crate::TargetInfo::access_worth`]), all of whose accesses are of whole words, and only
//! after the robustness pass: an address is then in range, or the shader has promised so. Variables of which
//! an index names registers stay where that takes fewer instructions ([`crate::TargetInfo::indexed_registers`]).

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
    /// Words that accesses at run-time addresses move.
    moved: u32,
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
    let bits = ctx.target.chooses_by_bits();
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
                        fact.moved += count;
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
    let (mut registers, each) = ctx.target.indexed_registers(func.stage);
    let mut any = false;
    for (mem, data) in func.mems.iter() {
        let fact = &mut facts[mem];
        let small = data.size / 4 <= limit;
        let saved = worth.saturating_mul(fact.accesses);
        let cheap = fact.selects.saturating_mul(2) <= saved && fact.selects <= budget;
        let indexed = (data.size / 4).next_power_of_two();
        let dear = fact.fits && fact.selects > each.saturating_mul(fact.moved);
        if fact.dynamic && dear && indexed <= registers {
            registers -= indexed;
            fact.fits = false;
        }
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
                    apart(func, scratch, inst, access, (&mut renames, bits));
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
    // What is below zero is no multiple of a scale, though its bits may be.
    let mut wraps = false;
    while let Some(data) = func.def(value) {
        let Some(by) = data.args.get(1).and_then(|&by| func.as_const(by)) else {
            break;
        };
        let by = by as u32;
        let scale = match data.op {
            Op::IAdd => {
                let differs = |key: &u32| i64::from(*key) - i64::from(by as i32);
                wraps |= keys.iter().any(|key| u32::try_from(differs(key)).is_err());
                keys.iter_mut().for_each(|key| *key = key.wrapping_sub(by));
                value = data.args[0];
                continue;
            }
            Op::Shl if by < 16 => 1 << by,
            Op::IMul if by > 0 => by,
            _ => break,
        };
        if wraps || keys.iter().any(|key| key % scale != 0) {
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
    (renames, bits): (&mut Renames, bool),
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
            let by_bits = bits.then(|| choose_by_bits(&mut b, index, &choices)).flatten();
            let value = by_bits.unwrap_or_else(|| {
                // What was subtracted may have wrapped.
                choices.sort_by_key(|&(key, _)| key);
                choose(&mut b, index, &choices)
            });
            renames.set(data.results[moved as usize], value);
        }
    }
}

/// The value that belongs to a key, of at least four whose keys have one power of two between them: a tree of choices, each
/// level of which asks for one bit of the key. None for other keys.
fn choose_by_bits(b: &mut Builder<'_>, key: Value, choices: &[(u32, Value)]) -> Option<Value> {
    let [(first, _), (second, _), ..] = *choices else { return None };
    let step = second.wrapping_sub(first);
    let regular = choices.windows(2).all(|pair| pair[1].0.wrapping_sub(pair[0].0) == step);
    if choices.len() < 4 || !step.is_power_of_two() || !regular {
        return None;
    }
    let levels = choices.len().next_power_of_two().trailing_zeros();
    let low = step.trailing_zeros();
    // The bits of keys that follow each other count, from those of the first key on.
    let mut values: Vec<Option<Value>> = vec![None; 1 << levels];
    for (number, &(_, value)) in (0u32..).zip(choices) {
        let place = (first >> low).wrapping_add(number) & ((1 << levels) - 1);
        values[place as usize] = Some(value);
    }
    let zero = b.u32(0);
    for level in low..(low + levels).min(32) {
        let (of, bit) = bit_of(b.func, key, level, DEPTH);
        let mask = b.u32(1 << bit);
        let set = b.op2(Op::And, of, mask);
        let set = b.op2(Op::INe, set, zero);
        values = values
            .chunks(2)
            .map(|pair| match *pair {
                [Some(clear), Some(one)] => Some(b.select(set, one, clear)),
                [clear, one] => clear.or(one),
                _ => None,
            })
            .collect();
    }
    values.into_iter().flatten().next()
}

/// All bits up to the highest one of a number.
fn filled(number: u32) -> u32 {
    u32::MAX.checked_shr(number.leading_zeros()).unwrap_or(0)
}

/// Bits that may be set in a value.
fn mask(func: &Func, value: Value, depth: u32) -> u32 {
    if let Some(bits) = func.as_const(value) {
        return bits as u32;
    }
    let Some(data) = func.def(value).filter(|_| depth > 0) else { return u32::MAX };
    if func.ty(value) != Type::B32 {
        return u32::MAX;
    }
    let of = |at: usize| mask(func, data.args[at], depth - 1);
    let by = |at: usize| func.as_const(data.args[at]).map(|bits| bits as u32 & 31);
    let positive = |mask: u32| mask >> 31 == 0;
    match data.op {
        Op::And => of(0) & of(1),
        Op::Or | Op::Xor => of(0) | of(1),
        Op::Select => of(1) | of(2),
        Op::Shl => by(1).map_or(u32::MAX, |by| of(0) << by),
        Op::LShr => by(1).map_or(u32::MAX, |by| of(0) >> by),
        Op::UMin => filled(of(0).min(of(1))),
        Op::SMin if positive(of(0)) && positive(of(1)) => filled(of(0).min(of(1))),
        Op::SMax => match [of(0), of(1)] {
            [one, other] if positive(one) && positive(other) => filled(one.max(other)),
            [one, other] if positive(one) || positive(other) => i32::MAX as u32,
            _ => u32::MAX,
        },
        Op::IAdd => of(0).checked_add(of(1)).map_or(u32::MAX, filled),
        _ => u32::MAX,
    }
}

/// The value and the bit of it that a bit of a value is.
fn bit_of(func: &Func, value: Value, bit: u32, depth: u32) -> (Value, u32) {
    let Some(data) = func.def(value).filter(|_| depth > 0 && func.ty(value) == Type::B32) else {
        return (value, bit);
    };
    let number = |at: usize| func.as_const(data.args[at]).map(|bits| bits as u32);
    let masks = || [0, 1].map(|at| mask(func, data.args[at], DEPTH));
    let inner = match data.op {
        Op::Shl => number(1).filter(|&by| by <= bit).map(|by| (0, bit - by)),
        Op::LShr => number(1).filter(|&by| by < 32 - bit).map(|by| (0, bit + by)),
        Op::And => number(1).filter(|mask| mask >> bit & 1 == 1).map(|_| (0, bit)),
        Op::IAdd | Op::Or => {
            let [one, other] = masks();
            // Nothing is carried from below.
            let apart = data.op == Op::Or || one & other & ((1 << bit) - 1) == 0;
            match (one >> bit & 1, other >> bit & 1) {
                (_, 0) if apart => Some((0, bit)),
                (0, _) if apart => Some((1, bit)),
                _ => None,
            }
        }
        _ => None,
    };
    match inner {
        Some((at, bit)) => bit_of(func, data.args[at], bit, depth - 1),
        None => (value, bit),
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

    struct Bits;

    impl crate::TargetInfo for Bits {
        fn select_chain_limit(&self) -> u32 {
            16
        }
        fn chooses_by_bits(&self) -> bool {
            true
        }
    }

    /// The operations of a read of one word of `size` by an index, of which `wrap` makes something first.
    fn read(size: u32, wrap: impl Fn(&mut Builder<'_>, Value) -> Value) -> (Func, Vec<Op>) {
        let mut func = Func::new("apart", Stage::Vertex);
        let mem = func.mems.push(MemData {
            name: "a".into(),
            size: 4 * size,
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
        let place = wrap(&mut b, index);
        let all = Access { mem, lo: 0, hi: 4 * size };
        b.mem_load(all, place, &[Type::B32]);
        b.end(Op::Yield, &[]);
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Bits);
        assert!(run(&mut func, &mut ctx));
        verify(&func).expect("still sound");
        let insts = &func.regions[func.body].insts;
        let ops = insts.iter().map(|&inst| func.insts[inst].op).collect();
        (func, ops)
    }

    fn count(ops: &[Op], op: Op) -> usize {
        ops.iter().filter(|&&other| other == op).count()
    }

    #[test]
    fn bits_of_the_index_choose_between_elements() {
        for (size, bits) in [(4, 2), (5, 3), (8, 3), (10, 4)] {
            let (_, ops) = read(size, |b, index| {
                let two = b.u32(2);
                b.op2(Op::Shl, index, two)
            });
            assert_eq!(count(&ops, Op::And), bits, "{size} elements");
            assert_eq!(count(&ops, Op::Select), size as usize - 1, "{size} elements");
        }
    }

    /// The row and the column of a matrix have a bit of the place each.
    #[test]
    fn bits_are_asked_for_where_they_come_from() {
        let (func, ops) = read(4, |b, index| {
            let [one, two, three, four] = [1, 2, 3, 4].map(|number| b.u32(number));
            let column = b.op2(Op::LShr, index, four);
            let column = b.op2(Op::And, column, one);
            let column = b.op2(Op::Shl, column, two);
            let row = b.op2(Op::Shl, index, three);
            b.op2(Op::IAdd, row, column)
        });
        assert_eq!(count(&ops, Op::Select), 3);
        let insts = &func.regions[func.body].insts;
        let index = insts.iter().map(|&inst| &func.insts[inst]).find(|data| data.op == Op::Input);
        let index = index.expect("it is read").results[0];
        let tests: Vec<(Value, Option<u64>)> = insts
            .iter()
            .map(|&inst| &func.insts[inst])
            .filter(|data| data.op == Op::INe)
            .filter_map(|data| func.def(data.args[0]))
            .map(|and| (and.args[0], func.as_const(and.args[1])))
            .collect();
        assert_eq!(tests, [(index, Some(16)), (index, Some(1))]);
    }

    struct Indexed;

    impl crate::TargetInfo for Indexed {
        fn select_chain_limit(&self) -> u32 {
            16
        }
        fn indexed_registers(&self, stage: Stage) -> (u32, u32) {
            if stage == Stage::Vertex { (16, 5) } else { (0, 0) }
        }
    }

    #[test]
    fn an_array_stays_where_an_index_names_registers_in_fewer_instructions() {
        let stays = |size: u32, stage: Stage| {
            let mut func = Func::new("indexed", stage);
            let data = MemData {
                name: "a".into(),
                size: 4 * size,
                space: MemSpace::Private,
                words: Vec::new(),
            };
            let mem = func.mems.push(data);
            let all = Access { mem, lo: 0, hi: 4 * size };
            let mut b = Builder::at_body(&mut func);
            let zero = b.u32(0);
            let index = b.mem_load(all, zero, &[Type::B32])[0];
            b.mem_store(all, index, &[zero]);
            b.end(Op::Yield, &[]);
            let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Indexed);
            !run(&mut func, &mut ctx)
        };
        assert!(stays(6, Stage::Vertex));
        assert!(!stays(5, Stage::Vertex), "five selects are as many");
        assert!(!stays(6, Stage::Fragment));
    }

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
