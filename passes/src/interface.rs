//! Dead outputs by the pipeline: what no colour target and no later stage takes is not written, and what a target masks is
//! zero.
//!
//! The outputs that are left tell a machine what it exports.

use crate::ctx::Ctx;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use gpucc_ir::driver::State;
use gpucc_ir::ssa::{Func, Imm, Op, Output, OutputKind, Region, Span, Stage, Value};

/// What becomes of an output.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// It is taken; a bit for each component that is of use.
    Taken(u8),
    /// Nothing takes it.
    Dead,
}

const WHOLE: Fate = Fate::Taken(15);

fn fate(func: &Func, state: &State, output: Output) -> Fate {
    let OutputKind::Location { location, blend_src, .. } = func.outputs[output].kind else {
        return WHOLE;
    };
    match (func.stage, &state.fragment, &state.vertex.outputs) {
        (Stage::Fragment, Some(fragment), _) if !fragment.takes(location) => Fate::Dead,
        // A second source goes with the first.
        (Stage::Fragment, Some(fragment), _) if blend_src == 0 => {
            let taken = |&component: &u8| fragment.takes_component(location, component);
            Fate::Taken((0..4).filter(taken).fold(0, |mask, component| mask | 1 << component))
        }
        (Stage::Vertex, _, Some(read)) => {
            let captured =
                state.vertex.stream.outputs.iter().any(|it| it.location == Some(location));
            if captured || read.contains(&location) { WHOLE } else { Fate::Dead }
        }
        _ => WHOLE,
    }
}

/// Drops outputs, and gives the others numbers without gaps.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let Some(state) = ctx.pipeline else {
        return false;
    };
    let fates: Vec<Fate> = func.outputs.keys().map(|output| fate(func, state, output)).collect();
    if fates.iter().all(|&fate| fate == WHOLE) || ctx.out_of_fuel() {
        return false;
    }
    let mut kept = PrimaryMap::new();
    // The number behind the pass, and the components of use.
    let mut places: SecondaryMap<Output, Option<(Output, u8)>> = SecondaryMap::new();
    for ((output, data), fate) in func.outputs.iter().zip(fates) {
        if let Fate::Taken(mask) = fate {
            places[output] = Some((kept.push(data.clone()), mask));
        }
    }
    let mut changed = kept.len() != func.outputs.len();
    let regions: Vec<Region> = func.regions.keys().collect();
    for region in regions {
        ctx.steps += func.regions[region].insts.len() as u64;
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut left = Vec::with_capacity(insts.len());
        for inst in insts {
            if let Imm::Output(output, component) = func.insts[inst].imm {
                let Some((number, mask)) = places[output] else {
                    continue;
                };
                if mask >> component & 1 == 0 && !is_constant(func, func.insts[inst].args[0]) {
                    changed = true;
                    let ty = func.ty(func.insts[inst].args[0]);
                    let zero = func.new_constant(ty, 0, Span::NONE);
                    left.push(zero);
                    func.insts[inst].args[0] = func.insts[zero].results[0];
                }
                func.insts[inst].imm = Imm::Output(number, component);
            }
            left.push(inst);
        }
        func.regions[region].insts = left;
    }
    func.outputs = kept;
    if changed {
        ctx.draw();
    }
    changed
}

fn is_constant(func: &Func, value: Value) -> bool {
    func.def(value).is_some_and(|data| data.op == Op::Const)
}
