//! Before guards are made: which blocks and bodies become loops of one trip.

use super::{
    MAX_GUARDS,
    write::{plain, terminator},
};
use crate::shape::Shape;
use cranelift_entity::EntitySet;
use gpucc_ir::ssa::{Func, Imm, Inst, Op, Type, Value};
use smallvec::SmallVec;

/// Chooses the blocks that become loops of one trip; a loop with many `continue`s gets such a block
/// around its body.
pub(super) fn prepare(func: &mut Func, keep_continue: bool) -> (Shape, EntitySet<Inst>) {
    let mut shape = Shape::find(func);
    let mut wrapped: Vec<Inst> = Vec::new();
    if !keep_continue {
        let loops: Vec<Inst> = func
            .regions_in_order()
            .iter()
            .flat_map(|&(region, ..)| func.regions[region].insts.iter().copied())
            .filter(|&inst| func.insts[inst].op == Op::Loop)
            .collect();
        for inst in loops {
            let continues: Vec<Inst> = shape
                .terminators(inst)
                .filter(|&term| func.insts[term].op == Op::Continue)
                .collect();
            if continues.len() as u32 > MAX_GUARDS {
                wrapped.push(wrap_body(func, inst, &continues));
            }
        }
        if !wrapped.is_empty() {
            shape = Shape::find(func);
        }
    }
    let mut one_trip = EntitySet::new();
    for &(region, ..) in &func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            if func.insts[inst].op == Op::Block
                && shape.terminators(inst).count() as u32 > MAX_GUARDS + 1
            {
                one_trip.insert(inst);
            }
        }
    }
    (shape, one_trip)
}

fn wrap_body(func: &mut Func, inst: Inst, continues: &[Inst]) -> Inst {
    let (body, continuing) = (func.insts[inst].regions[0], func.insts[inst].regions[1]);
    let types: SmallVec<[Type; 4]> =
        func.regions[continuing].params.iter().map(|&param| func.ty(param)).collect();
    let inner = func.new_region();
    func.regions[inner].insts = std::mem::take(&mut func.regions[body].insts);
    let mut data = plain(Op::Block, Imm::None, &[]);
    data.regions.push(inner);
    data.span = func.insts[inst].span;
    let block = func.new_inst(data, &types);
    for &term in continues {
        func.insts[term].op = Op::Exit;
        func.insts[term].imm = Imm::Label(block);
    }
    let results: SmallVec<[Value; 4]> = func.insts[block].results.iter().copied().collect();
    let end = terminator(func, Op::Continue, Imm::None, &results);
    func.regions[body].insts = vec![block, end];
    block
}
