//! Words of uniform buffers at constant addresses are loaded once, where all their users see them, and
//! neighbours within a line of 16 bytes by one instruction. So are those of storage buffers that nobody writes,
//! within what the binding must hold.
//!
//! A load from such a buffer never faults and always gives the same, so it may stand anywhere above
//! its users: in the innermost region that holds all of them, right before the first. In a program of few such
//! words, which has registers to spare, a word that only an inner region needs comes with its neighbour.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{
    Builder, Func, Imm, Inst, Op, Region, Resource, ResourceKind, Span, Type, Value,
};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// One load and where it stands.
struct Load {
    inst: Inst,
    region: Region,
}

/// Where a word is wanted.
#[derive(Clone, Copy)]
struct Home {
    /// The innermost region that holds all users.
    region: Region,
    span: Span,
}

/// Merges the loads of a function; true when anything changed.
pub(super) fn run(func: &mut Func) -> bool {
    let order = func.regions_in_order();
    let mut parent: SecondaryMap<Region, Option<(Region, u32)>> = SecondaryMap::new();
    let mut owner_region: SecondaryMap<Inst, Option<Region>> = func.by_inst();
    let mut loads = Vec::new();
    for &(region, owner, depth) in &order {
        if let Some(outer) = owner.and_then(|inst| owner_region[inst]) {
            parent[region] = Some((outer, depth));
        }
        for &inst in &func.regions[region].insts {
            owner_region[inst] = Some(region);
            if is_candidate(func, inst) {
                loads.push(Load { inst, region });
            }
        }
    }
    // Each word's home: the innermost region around all its loads.
    let mut homes: BTreeMap<(Resource, u32), Home> = BTreeMap::new();
    for load in &loads {
        let data = &func.insts[load.inst];
        let (resource, first) = place(func, load.inst);
        for word in 0..data.results.len() as u32 {
            let span = data.span;
            homes
                .entry((resource, first + word))
                .and_modify(|home| home.region = common(&parent, home.region, load.region))
                .or_insert(Home { region: load.region, span });
        }
    }
    if loads.len() < 2 {
        return false;
    }
    if homes.len() <= FEW {
        gather(func, &order, &parent, &mut homes);
    }
    // Runs of words of one home within a line.
    let mut runs: BTreeMap<Region, Vec<(Resource, u32, u32, Span)>> = BTreeMap::new();
    for (&(resource, word), home) in &homes {
        let list = runs.entry(home.region).or_default();
        match list.last_mut() {
            Some((r, first, count, _))
                if *r == resource && *first + *count == word && !word.is_multiple_of(4) =>
            {
                *count += 1;
            }
            _ => list.push((resource, word, 1, home.span)),
        }
    }
    let mut values: BTreeMap<(Resource, u32), Value> = BTreeMap::new();
    // Outer regions first: what stands in them is above what stands within.
    for &(region, ..) in &order {
        let Some(list) = runs.get(&region) else {
            continue;
        };
        place_runs(func, region, list, &loads, &parent, &mut values);
    }
    replace(func, &order, &loads, &values);
    true
}

/// Words of a program that has registers to spare.
const FEW: usize = 16;

/// Words that may be held through loops that do not need them, for the sake of their neighbours.
const HELD: usize = 2;

/// Neighbours within a line move to the outer one's region; few of them over loops that do not need them, since they
/// are held all through those.
fn gather(
    func: &Func,
    order: &[(Region, Option<Inst>, u32)],
    parent: &Parents,
    homes: &mut BTreeMap<(Resource, u32), Home>,
) {
    let mut number: SecondaryMap<Region, u32> = SecondaryMap::new();
    let mut loops: Vec<(u32, Region)> = Vec::new();
    for (at, &(region, owner, _)) in order.iter().enumerate() {
        number[region] = at as u32;
        if owner.is_some_and(|inst| func.insts[inst].op == Op::Loop) {
            loops.push((at as u32, region));
        }
    }
    let over_a_loop = |from: Region, to: Region| {
        let begin = loops.partition_point(|&(at, _)| at <= number[to]);
        let end = loops.partition_point(|&(at, _)| at < number[from]);
        let between = &loops[begin.min(end)..end];
        let mut others = between.iter().rev();
        others.any(|&(_, body)| common(parent, body, from) != body)
    };
    let mut all = homes.clone();
    outwards(parent, &mut all, |_, _| true);
    let held = homes.iter().filter(|(key, home)| over_a_loop(home.region, all[key].region)).count();
    if held <= HELD {
        *homes = all;
    } else {
        outwards(parent, homes, |from, to| !over_a_loop(from, to));
    }
}

/// Moves words to their neighbours' regions, as far as they may.
fn outwards(
    parent: &Parents,
    homes: &mut BTreeMap<(Resource, u32), Home>,
    may: impl Fn(Region, Region) -> bool,
) {
    let words: Vec<(Resource, u32)> = homes.keys().copied().collect();
    let ascending = words.windows(2).map(|pair| (pair[0], pair[1]));
    let descending = words.windows(2).rev().map(|pair| (pair[0], pair[1]));
    for (a, b) in ascending.chain(descending) {
        if a.0 != b.0 || a.1 + 1 != b.1 || b.1.is_multiple_of(4) {
            continue;
        }
        let regions = [homes[&a].region, homes[&b].region];
        let outer = common(parent, regions[0], regions[1]);
        if regions.contains(&outer) && regions.iter().all(|&from| may(from, outer)) {
            for word in [a, b] {
                if let Some(home) = homes.get_mut(&word) {
                    home.region = outer;
                }
            }
        }
    }
}

/// A load of whole words, at a constant address, of a buffer that nobody writes.
fn is_candidate(func: &Func, inst: Inst) -> bool {
    let data = &func.insts[inst];
    let Imm::Resource(resource) = data.imm else {
        return false;
    };
    data.op == Op::BufferLoad
        && func.resources[resource].count.is_none()
        && func.as_const(data.args[0]).is_some_and(|address| {
            let end = address + 4 * data.results.len() as u64;
            address % 4 == 0 && end <= readable(func, resource)
        })
        && data.results.iter().all(|&r| func.ty(r) == Type::B32)
}

/// Bytes from the start of a buffer that may be read wherever that is convenient.
fn readable(func: &Func, resource: Resource) -> u64 {
    match func.resources[resource].kind {
        ResourceKind::Uniform { .. } => 1 << 16,
        ResourceKind::Storage { size, access, .. } if !access.store && !access.atomic => {
            size.into()
        }
        _ => 0,
    }
}

/// Buffer and first word of a load.
fn place(func: &Func, inst: Inst) -> (Resource, u32) {
    let data = &func.insts[inst];
    let address = func.as_const(data.args[0]).unwrap_or(0) as u32;
    match data.imm {
        Imm::Resource(resource) => (resource, address / 4),
        _ => unreachable!("candidates are loads of buffers"),
    }
}

type Parents = SecondaryMap<Region, Option<(Region, u32)>>;

fn depth(parent: &Parents, region: Region) -> u32 {
    parent[region].map_or(0, |(_, depth)| depth)
}

/// The innermost region around both.
fn common(parent: &Parents, mut a: Region, mut b: Region) -> Region {
    while a != b {
        let (da, db) = (depth(parent, a), depth(parent, b));
        if da >= db {
            match parent[a] {
                Some((outer, _)) => a = outer,
                None => return a,
            }
        } else {
            match parent[b] {
                Some((outer, _)) => b = outer,
                None => return b,
            }
        }
    }
    a
}

/// Puts the loads of one region before the first instruction of it that needs (or holds one that needs)
/// a word of theirs.
fn place_runs(
    func: &mut Func,
    region: Region,
    runs: &[(Resource, u32, u32, Span)],
    loads: &[Load],
    parent: &Parents,
    values: &mut BTreeMap<(Resource, u32), Value>,
) {
    // The instruction of this region that each load stands in, by its position.
    let mut position: SecondaryMap<Inst, Option<u32>> = SecondaryMap::new();
    let mut within: SecondaryMap<Region, Option<u32>> = SecondaryMap::new();
    for (at, &inst) in func.regions[region].insts.iter().enumerate() {
        position[inst] = Some(at as u32);
        for &inner in &func.insts[inst].regions {
            within[inner] = Some(at as u32);
        }
    }
    let mut first_use: BTreeMap<(Resource, u32), u32> = BTreeMap::new();
    for load in loads {
        let at = match position[load.inst] {
            Some(at) => Some(at),
            None => {
                let mut inner = Some(load.region);
                let mut found = None;
                while let Some(at) = inner {
                    if let Some(position) = within[at] {
                        found = Some(position);
                        break;
                    }
                    inner = parent[at].map(|(outer, _)| outer);
                }
                found
            }
        };
        let Some(at) = at else { continue };
        let (resource, first) = place(func, load.inst);
        for word in 0..func.insts[load.inst].results.len() as u32 {
            let entry = first_use.entry((resource, first + word)).or_insert(at);
            *entry = (*entry).min(at);
        }
    }
    let mut before: BTreeMap<u32, SmallVec<[usize; 2]>> = BTreeMap::new();
    for (number, &(resource, first, count, _)) in runs.iter().enumerate() {
        let at = (first..first + count)
            .filter_map(|word| first_use.get(&(resource, word)).copied())
            .min()
            .unwrap_or(0);
        before.entry(at).or_default().push(number);
    }
    let list = std::mem::take(&mut func.regions[region].insts);
    for (at, inst) in list.into_iter().enumerate() {
        for &number in before.get(&(at as u32)).into_iter().flatten() {
            let (resource, first, count, span) = runs[number];
            let mut b = Builder::at(func, region);
            b.span = span;
            let address = b.u32(4 * first);
            let types: SmallVec<[Type; 4]> = (0..count).map(|_| Type::B32).collect();
            let made = b.inst(Op::BufferLoad, Imm::Resource(resource), &[address], &[], &types);
            for (word, &value) in (first..).zip(&func.insts[made].results) {
                values.insert((resource, word), value);
            }
        }
        func.regions[region].insts.push(inst);
    }
}

/// The old loads go, their users take the new words.
fn replace(
    func: &mut Func,
    order: &[(Region, Option<Inst>, u32)],
    loads: &[Load],
    values: &BTreeMap<(Resource, u32), Value>,
) {
    let mut to: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut gone: SecondaryMap<Inst, bool> = SecondaryMap::new();
    for load in loads {
        let (resource, first) = place(func, load.inst);
        gone[load.inst] = true;
        for (word, &result) in (first..).zip(&func.insts[load.inst].results) {
            to[result] = values.get(&(resource, word)).copied();
        }
    }
    for &(region, ..) in order {
        func.regions[region].insts.retain(|&inst| !gone[inst]);
        for index in 0..func.regions[region].insts.len() {
            let inst = func.regions[region].insts[index];
            for arg in &mut func.insts[inst].args {
                if let Some(value) = to[*arg] {
                    *arg = value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{ResourceData, Scalar, Stage, verify};

    fn buffer(func: &mut Func, kind: ResourceKind) -> Resource {
        func.resources.push(ResourceData {
            group: 0,
            binding: 0,
            name: "u".into(),
            kind,
            count: None,
            scalar: Scalar::U32,
            mixed: false,
        })
    }

    fn word(b: &mut Builder, buffer: Resource, at: u32) -> Value {
        let address = b.u32(at);
        b.buffer_load(buffer, None, address, &[Type::B32])[0]
    }

    #[test]
    fn words_that_both_arms_load_are_loaded_once_above_them() {
        let mut func = Func::new("arms", Stage::Compute);
        let resource = buffer(&mut func, ResourceKind::Uniform { size: 64 });
        let mut b = Builder::at_body(&mut func);
        let load = |b: &mut Builder, at: u32| word(b, resource, at);
        let cond = b.bool(true);
        b.if_else(
            cond,
            &[Type::B32],
            |b| vec![load(b, 4)],
            |b| {
                let (x, y) = (load(b, 4), load(b, 32));
                vec![b.op2(Op::IAdd, x, y)]
            },
        );
        b.end(Op::Yield, &[]);
        assert!(run(&mut func));
        verify(&func).expect("still sound");
        let loads = |region: Region| {
            func.regions[region]
                .insts
                .iter()
                .filter(|&&inst| func.insts[inst].op == Op::BufferLoad)
                .count()
        };
        assert_eq!(loads(func.body), 1);
        let all: usize = func.regions_in_order().iter().map(|&(region, ..)| loads(region)).sum();
        assert_eq!(all, 2);
    }

    #[test]
    fn a_word_of_an_arm_comes_with_its_neighbour_outside() {
        let mut func = Func::new("line", Stage::Compute);
        func.bounds = gpucc_ir::ssa::Bounds::Trusted;
        let read_only = gpucc_ir::ssa::ImageAccess { load: true, store: false, atomic: false };
        let kind = ResourceKind::Storage { size: 32, stride: 4, access: read_only };
        let resource = buffer(&mut func, kind);
        let mut b = Builder::at_body(&mut func);
        let load = |b: &mut Builder, at: u32| word(b, resource, at);
        let outer = load(&mut b, 20);
        let zero = b.u32(0);
        let cond = b.op2(Op::IEq, outer, zero);
        // The last stands in the array behind, whose length nobody promises.
        b.if_else(cond, &[Type::B32], |b| vec![load(b, 24)], |b| vec![load(b, 36)]);
        b.end(Op::Yield, &[]);
        assert!(run(&mut func));
        verify(&func).expect("still sound");
        let loads = |region: Region| {
            let list = func.regions[region].insts.iter();
            list.filter(|&&inst| func.insts[inst].op == Op::BufferLoad)
                .map(|&inst| func.insts[inst].results.len())
                .collect::<Vec<_>>()
        };
        let found: Vec<_> =
            func.regions_in_order().iter().map(|&(region, ..)| loads(region)).collect();
        assert_eq!(found, [vec![2], vec![], vec![1]]);
    }

    #[test]
    fn many_words_are_not_held_through_a_loop_for_their_neighbour() {
        let loads_of_body = |words: u32| {
            let mut func = Func::new("loop", Stage::Compute);
            let resource = buffer(&mut func, ResourceKind::Uniform { size: 64 });
            let mut b = Builder::at_body(&mut func);
            let load = |b: &mut Builder, at: u32| word(b, resource, at);
            load(&mut b, 0);
            let cond = b.bool(true);
            let again = |b: &mut Builder, _: &[Value]| {
                b.end(Op::BreakIf, &[cond]);
            };
            let round = |b: &mut Builder, _: &[Value]| {
                b.end(Op::Continue, &[]);
            };
            b.loop_(&[], &[], &[], round, again);
            let then = |b: &mut Builder| {
                (1..=words).for_each(|word| {
                    load(b, 4 * word);
                });
                vec![]
            };
            b.if_else(cond, &[], then, |_| vec![]);
            b.end(Op::Yield, &[]);
            assert!(run(&mut func));
            verify(&func).expect("still sound");
            let insts = func.regions[func.body].insts.iter();
            let first = insts.map(|&inst| &func.insts[inst]).find(|data| data.op == Op::BufferLoad);
            first.map(|data| data.results.len())
        };
        assert_eq!(loads_of_body(1), Some(2));
        assert_eq!(loads_of_body(3), Some(1));
    }
}
