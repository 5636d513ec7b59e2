//! Random programs with one thing changed: each change breaks an invariant, and the verifier says so.

use super::*;
use crate::ssa::Sig;
use crate::ssa::random::{Config, Rng, program};

/// All instructions in place, with the region and position of each.
fn places(func: &Func) -> Vec<(Region, usize, Inst)> {
    let mut places = Vec::new();
    for (region, ..) in func.regions_in_order() {
        for (index, &inst) in func.regions[region].insts.iter().enumerate() {
            places.push((region, index, inst));
        }
    }
    places
}

/// Changes one thing at a place, or nothing when the change does not apply there.
type Change = fn(&mut Func, &mut Rng, (Region, usize, Inst)) -> bool;

/// Ops whose operand count is fixed.
fn fixed_count(op: Op) -> bool {
    !matches!(op, Op::FDot | Op::BufferStore | Op::MemStore | Op::TexQuery | Op::Tex)
}

const CHANGES: &[(&str, Change)] = &[
    ("a region loses its terminator", |func, _, (region, ..)| {
        func.regions[region].insts.pop();
        true
    }),
    ("an instruction stands twice", |func, _, (region, index, inst)| {
        func.regions[region].insts.insert(index, inst);
        true
    }),
    ("an instruction is lost whose result is used", |func, _, (region, index, inst)| {
        let used =
            |value| places(func).iter().any(|&(.., user)| func.insts[user].args.contains(&value));
        if !func.insts[inst].results.iter().any(|&result| used(result)) {
            return false;
        }
        func.regions[region].insts.remove(index);
        true
    }),
    ("an operand is lost", |func, _, (.., inst)| {
        let data = &mut func.insts[inst];
        fixed_count(data.op) && data.args.pop().is_some()
    }),
    ("an operand is added", |func, _, (.., inst)| {
        let data = &mut func.insts[inst];
        let Some(&first) = data.args.first() else {
            return false;
        };
        data.args.push(first);
        fixed_count(data.op)
    }),
    ("an operand is a later value", |func, rng, (.., inst)| {
        let later = func
            .values
            .iter()
            .filter(|(_, data)| data.def == ValueDef::Result(inst, 0))
            .map(|(value, _)| value)
            .next();
        let data = &mut func.insts[inst];
        match later {
            Some(later) if !data.args.is_empty() => {
                let at = rng.below(data.args.len());
                data.args[at] = later;
                true
            }
            _ => false,
        }
    }),
    ("an operand has another width", |func, rng, (.., inst)| {
        let data = &func.insts[inst];
        let loose = matches!(data.op, Op::UConvert | Op::SConvert | Op::FConvert | Op::SToF)
            || matches!(data.op, Op::UToF | Op::FToS | Op::FToU | Op::FrexpExp)
            || matches!(data.op, Op::BufferStore | Op::MemStore | Op::Not | Op::Shl)
            || matches!(data.op, Op::LShr | Op::AShr | Op::FLdexp);
        if loose || data.args.is_empty() {
            return false;
        }
        let at = rng.below(data.args.len());
        let ty = func.ty(data.args[at]);
        let other = if ty == Type::B1 { Type::B32 } else { Type::B1 };
        let place = places(func)
            .into_iter()
            .find(|&(.., user)| user == inst)
            .expect("the instruction stands somewhere");
        let constant = func.new_inst(
            InstData {
                op: Op::Const,
                args: Default::default(),
                imm: Imm::Bits(0),
                regions: Default::default(),
                results: Default::default(),
                span: Default::default(),
                bundle: None,
            },
            &[other],
        );
        func.regions[place.0].insts.insert(place.1, constant);
        let value = func.insts[constant].results[0];
        func.insts[inst].args[at] = value;
        // One operand alone may not differ; a pair that may be truth values needs both.
        true
    }),
    ("a result has another width", |func, _, (.., inst)| {
        let data = &func.insts[inst];
        let free = matches!(data.op.sig(), Sig::Const | Sig::Convert)
            || matches!(data.op, Op::BufferLoad | Op::MemLoad | Op::If | Op::Block | Op::Loop);
        let Some(&result) = data.results.first() else {
            return false;
        };
        func.values[result].ty = match func.ty(result) {
            Type::B64 => Type::B16,
            _ => Type::B64,
        };
        !free
    }),
    ("a result is given away", |func, _, (.., inst)| {
        let Some(&result) = func.insts[inst].results.first() else {
            return false;
        };
        func.values[result].def = ValueDef::Result(inst, 99);
        true
    }),
    ("an immediate is missing", |func, _, (.., inst)| {
        let had = func.insts[inst].imm != Imm::None;
        func.insts[inst].imm = Imm::None;
        had
    }),
    ("an immediate is too many", |func, _, (.., inst)| {
        let had = func.insts[inst].imm != Imm::None;
        func.insts[inst].imm = Imm::Bits(0);
        !had
    }),
    ("a constant does not fit", |func, _, (.., inst)| {
        let is =
            func.insts[inst].op == Op::Const && func.ty(func.insts[inst].results[0]) != Type::B64;
        if is {
            func.insts[inst].imm = Imm::Bits(1 << 32);
        }
        is
    }),
    ("a construct loses a region", |func, _, (.., inst)| func.insts[inst].regions.pop().is_some()),
    ("a region has two owners", |func, _, (.., inst)| {
        let body = func.body;
        match func.insts[inst].regions.first_mut() {
            Some(first) => {
                *first = body;
                true
            }
            None => false,
        }
    }),
    ("an arm has a parameter", |func, _, (.., inst)| {
        if !matches!(func.insts[inst].op, Op::If | Op::Block) {
            return false;
        }
        let region = func.insts[inst].regions[0];
        func.add_param(region, Type::B32);
        true
    }),
    ("a loop's body has one parameter more", |func, _, (.., inst)| {
        if func.insts[inst].op != Op::Loop {
            return false;
        }
        let region = func.insts[inst].regions[0];
        func.add_param(region, Type::B32);
        true
    }),
    ("an exit names what is no block", |func, _, (.., inst)| {
        let is = func.insts[inst].op == Op::Exit;
        if is {
            func.insts[inst].imm = Imm::Label(inst);
        }
        is
    }),
    ("next ends something else", |func, _, (.., inst)| {
        let is = matches!(func.insts[inst].op, Op::Yield | Op::Break | Op::Continue);
        if is {
            func.insts[inst].op = Op::Next;
        }
        is
    }),
    ("an access leaves its variable", |func, _, (.., inst)| match &mut func.insts[inst].imm {
        Imm::Mem(access) => {
            access.hi = u32::MAX;
            true
        }
        _ => false,
    }),
];

#[test]
fn one_change_to_a_random_program_is_refused() {
    let mut rng = Rng::new(3);
    let mut applied = vec![0; CHANGES.len()];
    for seed in 0..40 {
        let config = [Config::COMPUTE, Config::FRAGMENT][seed as usize % 2];
        let func = program(seed, &config);
        for (index, (what, change)) in CHANGES.iter().enumerate() {
            let places = places(&func);
            // The first place from a random one on where the change applies.
            let start = rng.below(places.len());
            for step in 0..places.len() {
                let place = places[(start + step) % places.len()];
                let mut broken = func.clone();
                if !change(&mut broken, &mut rng, place) {
                    continue;
                }
                applied[index] += 1;
                let Err(error) = verify(&broken) else {
                    let line = Names::new(&func).inst(&func, place.2);
                    panic!("seed {seed}: {what} at `{line}`, and nothing is said");
                };
                // The message is made without harm too.
                assert!(!error.to_string().is_empty());
                break;
            }
        }
    }
    for ((what, _), count) in CHANGES.iter().zip(applied) {
        assert!(count > 0, "{what}: never applied");
    }
}
