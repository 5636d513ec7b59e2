//! The mask of samples that a program leaves, where pixels have one sample. The chips look at masks of several samples alone
//! (register guide, DB_SHADER_CONTROL: MASK_EXPORT_ENABLE; docs/errata.md 40), so a pixel whose mask lacks its sample is killed.

use gpucc_ir::driver::{Failure, State};
use gpucc_ir::ssa::{Builder, Builtin, Func, Imm, Op, OutputKind, Span};

/// Writes of the mask. The readers of languages write it once, behind everything else.
fn writes(func: &Func) -> usize {
    let regions = func.regions_in_order().into_iter();
    let insts = regions.flat_map(|(region, ..)| &func.regions[region].insts);
    let masks = insts.filter(|&&inst| match func.insts[inst].imm {
        Imm::Output(output, _) => {
            func.insts[inst].op == Op::Output
                && func.outputs[output].kind == OutputKind::Builtin(Builtin::SampleMask)
        }
        _ => false,
    });
    masks.count()
}

/// # Errors
/// [`Failure::NotYet`] for a mask that is written more than once: which write is the last is not known where it stands.
pub fn admit(func: &Func) -> Result<(), Failure> {
    let kind = OutputKind::Builtin(Builtin::SampleMask);
    if !func.outputs.values().any(|data| data.kind == kind) || writes(func) < 2 {
        return Ok(());
    }
    Err(Failure::NotYet {
        feature: "several writes of a mask of samples".to_owned(),
        stage: "the calling convention",
        span: Span::NONE,
    })
}

/// Kills pixels whose mask lacks the one sample. A pipeline that does not say how many samples there are has one.
pub fn kill(func: &mut Func, state: Option<&State>) -> bool {
    let fragment = state.and_then(|state| state.fragment.as_ref());
    if fragment.and_then(|fragment| fragment.samples).unwrap_or(1) > 1 {
        return false;
    }
    let kind = OutputKind::Builtin(Builtin::SampleMask);
    let Some(mask) = func.outputs.iter().find(|(_, data)| data.kind == kind) else { return false };
    let mask = mask.0;
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let data = &func.insts[inst];
            let value = match data.imm {
                Imm::Output(output, _) if output == mask && data.op == Op::Output => data.args[0],
                _ => {
                    func.regions[region].insts.push(inst);
                    continue;
                }
            };
            let lacks = func.as_const(value).map(|bits| bits & 1 == 0);
            if lacks != Some(false) {
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                let (one, zero) = (b.u32(1), b.u32(0));
                let bit = b.op2(Op::And, value, one);
                let lacks = b.op2(Op::IEq, bit, zero);
                b.if_else(
                    lacks,
                    &[],
                    |b| {
                        b.inst(Op::Demote, Imm::None, &[], &[], &[]);
                        Vec::new()
                    },
                    |_| Vec::new(),
                );
                changed = true;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}
