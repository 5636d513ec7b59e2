//! Two functions with one interface: bindings, inputs and outputs found by what they are called outside, in one order,
//! and those that nothing uses in both.

use gpucc_ir::ssa::{
    Func, Imm, Input, InputData, InputKind, Output, OutputData, OutputKind, Part, Resource,
    ResourceData, ResourceKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The name outside.
type Name = (u32, u32, String);
/// The name, and how many have it before.
type Key = (Name, usize);

fn of_resource(data: &ResourceData) -> Name {
    (data.group, data.binding, super::outside(data.kind))
}

fn of_input(data: &InputData) -> Name {
    match data.kind {
        InputKind::Location { location, sampling, .. } => {
            (location, sampling as u32, String::new())
        }
        InputKind::Corner { vertex, part: Part::Location(location) } => {
            (location, vertex.into(), String::new())
        }
        kind @ (InputKind::Builtin(_) | InputKind::Corner { .. }) => {
            (u32::MAX, 0, format!("{kind:?}"))
        }
    }
}

fn of_output(data: &OutputData) -> Name {
    match data.kind {
        OutputKind::Location { location, blend_src, .. } => {
            (location, blend_src.into(), String::new())
        }
        kind @ OutputKind::Builtin(_) => (u32::MAX, 0, format!("{kind:?}")),
    }
}

/// What the instructions of a function name.
#[derive(Default)]
struct Uses {
    resources: BTreeSet<Resource>,
    inputs: BTreeSet<Input>,
    outputs: BTreeSet<Output>,
}

fn uses(func: &Func) -> Uses {
    let mut uses = Uses::default();
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            match func.insts[inst].imm {
                Imm::Resource(resource)
                | Imm::Query(resource, _)
                | Imm::BufferAtomic(resource, _)
                | Imm::ImageAtomic(resource, _) => {
                    uses.resources.insert(resource);
                }
                Imm::Tex(tex) => {
                    uses.resources.insert(tex.texture);
                    uses.resources.extend(tex.sampler.expand());
                }
                Imm::Input(input, _) => {
                    uses.inputs.insert(input);
                }
                Imm::Output(output, _) => {
                    uses.outputs.insert(output);
                }
                _ => {}
            }
        }
    }
    uses
}

/// The key of each, in order.
fn keys<'a, E, D: 'a>(
    all: impl Iterator<Item = (E, &'a D)>,
    name: fn(&D) -> Name,
) -> Vec<(E, Key, &'a D)> {
    let mut counts: BTreeMap<Name, usize> = BTreeMap::new();
    all.map(|(entity, data)| {
        let name = name(data);
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        (entity, (name, *count), data)
    })
    .collect()
}

/// The data of each key, and whether something uses it.
fn named<'a, E: Ord, D: Clone + 'a>(
    all: impl Iterator<Item = (E, &'a D)>,
    name: fn(&D) -> Name,
    used: &BTreeSet<E>,
) -> BTreeMap<Key, (D, bool)> {
    let all = keys(all, name).into_iter();
    all.map(|(entity, key, data)| (key, (data.clone(), used.contains(&entity)))).collect()
}

/// Both functions' data by name: a function that does not use one takes the other's.
fn merged<D: Clone>(
    own: &BTreeMap<Key, (D, bool)>,
    other: &BTreeMap<Key, (D, bool)>,
) -> Vec<(Key, D)> {
    let keys: BTreeSet<&Key> = own.keys().chain(other.keys()).collect();
    let pick = |key: &Key| match (own.get(key), other.get(key)) {
        (Some((_, false)), Some((data, true))) | (Some((data, _)), _) | (None, Some((data, _))) => {
            Some((key.clone(), data.clone()))
        }
        (None, None) => None,
    };
    keys.into_iter().filter_map(pick).collect()
}

/// Gives two functions the same bindings, inputs and outputs in the same order, as far as they have what the other uses.
///
/// False where two bindings share a number: which is which, what they are and the order of their declarations say, and
/// compilers may have another.
pub fn align(a: &mut Func, b: &mut Func) -> bool {
    let (ua, ub) = (uses(a), uses(b));
    let resources =
        |func: &Func, uses: &Uses| named(func.resources.iter(), of_resource, &uses.resources);
    let inputs = |func: &Func, uses: &Uses| named(func.inputs.iter(), of_input, &uses.inputs);
    let outputs = |func: &Func, uses: &Uses| named(func.outputs.iter(), of_output, &uses.outputs);
    let (ra, rb) = (resources(a, &ua), resources(b, &ub));
    let (ia, ib) = (inputs(a, &ua), inputs(b, &ub));
    let (oa, ob) = (outputs(a, &ua), outputs(b, &ub));
    place(a, merged(&ra, &rb), merged(&ia, &ib), merged(&oa, &ob));
    place(b, merged(&rb, &ra), merged(&ib, &ia), merged(&ob, &oa));
    [&*a, &*b].into_iter().all(|func| {
        let mut seen = BTreeSet::new();
        func.resources.values().all(|data| {
            let is_sampler = matches!(data.kind, ResourceKind::Sampler { .. });
            seen.insert((data.group, data.binding, is_sampler))
        })
    })
}

fn place(
    func: &mut Func,
    resources: Vec<(Key, ResourceData)>,
    inputs: Vec<(Key, InputData)>,
    outputs: Vec<(Key, OutputData)>,
) {
    let old = std::mem::take(&mut func.resources);
    let own: BTreeMap<_, _> =
        keys(old.iter(), of_resource).into_iter().map(|(from, key, _)| (from, key)).collect();
    let numbers: BTreeMap<Key, Resource> =
        resources.into_iter().map(|(key, data)| (key, func.resources.push(data))).collect();
    let resource = |from: Resource| numbers[&own[&from]];
    let old_inputs = std::mem::take(&mut func.inputs);
    let own: BTreeMap<_, _> =
        keys(old_inputs.iter(), of_input).into_iter().map(|(from, key, _)| (from, key)).collect();
    let numbers: BTreeMap<Key, Input> =
        inputs.into_iter().map(|(key, data)| (key, func.inputs.push(data))).collect();
    let input = |from: Input| numbers[&own[&from]];
    let old_outputs = std::mem::take(&mut func.outputs);
    let own: BTreeMap<_, _> =
        keys(old_outputs.iter(), of_output).into_iter().map(|(from, key, _)| (from, key)).collect();
    let numbers: BTreeMap<Key, Output> =
        outputs.into_iter().map(|(key, data)| (key, func.outputs.push(data))).collect();
    let output = |from: Output| numbers[&own[&from]];
    let all: Vec<_> = func
        .regions_in_order()
        .into_iter()
        .flat_map(|(region, ..)| func.regions[region].insts.clone())
        .collect();
    for inst in all {
        let imm = &mut func.insts[inst].imm;
        *imm = match *imm {
            Imm::Resource(from) => Imm::Resource(resource(from)),
            Imm::Query(from, what) => Imm::Query(resource(from), what),
            Imm::BufferAtomic(from, op) => Imm::BufferAtomic(resource(from), op),
            Imm::ImageAtomic(from, op) => Imm::ImageAtomic(resource(from), op),
            Imm::Tex(mut tex) => {
                tex.texture = resource(tex.texture);
                tex.sampler = tex.sampler.expand().map(resource).into();
                Imm::Tex(tex)
            }
            Imm::Input(from, component) => Imm::Input(input(from), component),
            Imm::Output(from, component) => Imm::Output(output(from), component),
            other => other,
        };
    }
}
