//! Dead outputs by the pipeline's colour targets: what no target takes is not written, and what a target masks is zero.
//!
//! The outputs that are left tell a machine which targets it writes.

use crate::ctx::Ctx;
use cranelift_entity::{PrimaryMap, SecondaryMap};
use gpucc_ir::ssa::{
    Func, Imm, Inst, InstData, Op, Output, OutputKind, Region, Span, Stage, Value,
};
use smallvec::SmallVec;

/// Drops outputs, and gives the others numbers without gaps.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let Some(state) = ctx.pipeline.and_then(|pipeline| pipeline.fragment.as_ref()) else {
        return false;
    };
    let location = |func: &Func, output: Output| match func.outputs[output].kind {
        OutputKind::Location { location, blend_src: 0, .. } => Some(location),
        // A second source goes with the first.
        OutputKind::Location { .. } | OutputKind::Builtin(_) => None,
    };
    let useless = |func: &Func, output, component| {
        location(func, output).is_some_and(|at| !state.takes_component(at, component))
    };
    let dead = |func: &Func, output: Output| match func.outputs[output].kind {
        OutputKind::Location { location, .. } => !state.takes(location),
        OutputKind::Builtin(_) => false,
    };
    let some = |(output, _): (Output, _)| {
        dead(func, output) || (0..4).any(|component| useless(func, output, component))
    };
    if func.stage != Stage::Fragment || !func.outputs.iter().any(some) || ctx.out_of_fuel() {
        return false;
    }
    let mut kept = PrimaryMap::new();
    let mut numbers: SecondaryMap<Output, Option<Output>> = SecondaryMap::new();
    for (output, data) in &func.outputs {
        if !dead(func, output) {
            numbers[output] = Some(kept.push(data.clone()));
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
                let Some(number) = numbers[output] else {
                    continue;
                };
                if useless(func, output, component) && !is_constant(func, func.insts[inst].args[0])
                {
                    changed = true;
                    let zero = zero(func, inst);
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

/// A zero of the type that an output takes.
fn zero(func: &mut Func, output: Inst) -> Inst {
    let ty = func.ty(func.insts[output].args[0]);
    let data = InstData {
        op: Op::Const,
        args: SmallVec::new(),
        imm: Imm::Bits(0),
        regions: SmallVec::new(),
        results: SmallVec::new(),
        span: Span::NONE,
        bundle: None,
    };
    func.new_inst(data, &[ty])
}
