//! Arrays of bindings on machines whose instructions have the numbers of resources and samplers as immediates (R700 ISA
//! 10.3, 10.4; G45 vol. 4, 4.8.1, 5.10): an element known only at run time becomes a choice among all. Reads are made of every
//! element and the wanted one is kept, which also keeps quads together; stores are guarded.

use crate::rename::Renames;
use crate::runner::{Pass, Proof, required};
use gpucc_ir::budget::{Budget, ENTRY};
use gpucc_ir::ssa::{Builder, Func, Imm, Inst, InstData, Op, Region, Type, Value};
use smallvec::SmallVec;

/// The pass.
pub const PASS: Pass = required(
    "binding_arrays",
    Proof::Exact,
    "elements of binding arrays are constants",
    |func, ctx| expand(func, ctx.budget),
);

/// Rewrites every access of an array of bindings whose element is not constant; true when there may be one. It stops where
/// there are more instructions than the budget has, which whoever runs the pass then refuses.
pub fn expand(func: &mut Func, budget: Budget) -> bool {
    if func.resources.values().all(|data| data.count.is_none()) {
        return false;
    }
    let mut renames = Renames::new();
    let most = budget.room(ENTRY);
    for (region, ..) in func.regions_in_order() {
        let list = std::mem::take(&mut func.regions[region].insts);
        for inst in list {
            one(func, region, inst, &mut renames, most);
        }
    }
    for data in func.insts.values_mut() {
        for arg in &mut data.args {
            *arg = renames.get(*arg);
        }
    }
    true
}

/// Operands that choose an element of an array of bindings, with the lengths of the arrays.
fn elements(func: &Func, data: &InstData) -> SmallVec<[(usize, u32); 2]> {
    let resources: SmallVec<[_; 2]> = match data.imm {
        Imm::Resource(resource) | Imm::Query(resource, _) => SmallVec::from_slice(&[resource]),
        Imm::Tex(tex) => [tex.texture].into_iter().chain(tex.sampler.expand()).collect(),
        _ => return SmallVec::new(),
    };
    let counts = resources.into_iter().filter_map(|resource| func.resources[resource].count);
    counts.enumerate().collect()
}

fn one(func: &mut Func, region: Region, inst: Inst, renames: &mut Renames, most: u64) {
    let data = func.insts[inst].clone();
    let chosen_by = elements(func, &data);
    let dynamic = chosen_by.iter().find(|&&(at, _)| func.as_const(data.args[at]).is_none());
    let room = func.insts.len() as u64 <= most;
    let Some(&(operand, count)) = dynamic.filter(|_| room) else {
        func.regions[region].insts.push(inst);
        return;
    };
    let types: SmallVec<[Type; 4]> = data.results.iter().map(|&v| func.ty(v)).collect();
    let element = data.args[operand];
    let mut chosen: Option<SmallVec<[Value; 4]>> = None;
    for number in 0..count.max(1) {
        if number > 0 && func.insts.len() as u64 > most {
            break;
        }
        let mut b = Builder::at(func, region);
        b.span = data.span;
        let constant = b.u32(number);
        let mut copy = data.clone();
        // A texture and its sampler are mostly the same element of two arrays.
        for &(at, length) in &chosen_by {
            if data.args[at] == element && number < length {
                copy.args[at] = constant;
            }
        }
        if types.is_empty() {
            let is = b.op2(Op::IEq, element, constant);
            b.if_else(
                is,
                &[],
                |b| {
                    b.inst(copy.op, copy.imm, &copy.args, &[], &[]);
                    vec![]
                },
                |_| vec![],
            );
            continue;
        }
        let is = b.op2(Op::IEq, element, constant);
        let made = func.new_inst(copy, &types);
        // The sampler may be an element of another array.
        one(func, region, made, renames, most);
        let values = SmallVec::from_slice(&func.insts[made].results);
        chosen = Some(match chosen {
            None => values,
            Some(before) => {
                let mut b = Builder::at(func, region);
                b.span = data.span;
                let pairs = values.into_iter().zip(before);
                pairs.map(|(new, old)| b.select(is, new, old)).collect()
            }
        });
    }
    for (&old, new) in data.results.iter().zip(chosen.into_iter().flatten()) {
        renames.set(old, new);
    }
}
