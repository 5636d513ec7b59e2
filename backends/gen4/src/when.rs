//! A choice between a value and what one word makes, before allocation: the word is predicated and leaves the value elsewhere.

use crate::clean::count;
use crate::inst::{Inst, Source, Src};
use gpucc_ir::mach::{self, Func, Inst as _, Reg, VReg};
use std::collections::BTreeMap;

fn index(reg: VReg) -> usize {
    cranelift_entity::EntityRef::index(reg)
}

/// The register that a source is.
fn whole(source: &Source) -> Option<VReg> {
    match source.src {
        Src::Reg(reg) if source.is_plain() => reg.as_virt(),
        _ => None,
    }
}

/// Makes predicated words of choices whose other value is read no more.
pub fn when(func: &mut Func<Inst>) {
    let counts = count(func);
    let once = |reg: VReg| counts.definitions[index(reg)] == 1;
    for block in func.layout.clone() {
        let nodes = &mut func.blocks[block].nodes;
        // Steps of one word whose result one step reads, by their results; and readers so far.
        let mut makers: BTreeMap<VReg, usize> = BTreeMap::new();
        let mut read: BTreeMap<VReg, u32> = BTreeMap::new();
        let mut gone = vec![false; nodes.len()];
        for at in 0..nodes.len() {
            let mut steady = true;
            nodes[at].inst.operands(&mut |operand: mach::Operand| {
                if let Some(reg) = operand.reg.as_virt() {
                    steady &= once(reg);
                    if !operand.role.is_def() {
                        *read.entry(reg).or_default() += 1;
                    }
                }
            });
            match &nodes[at].inst {
                Inst::Alu { dst, saturate: false, .. } if steady => {
                    let made = dst.as_virt().filter(|&reg| counts.uses[index(reg)] == 1);
                    makers.extend(made.map(|reg| (reg, at)));
                }
                Inst::Select { dst, inverse, yes, no } => {
                    let (dst, inverse) = (*dst, *inverse);
                    let Some((yes, no)) = whole(yes).zip(whole(no)) else { continue };
                    let last =
                        |reg: VReg| once(reg) && read.get(&reg) == Some(&counts.uses[index(reg)]);
                    let found = [(yes, no, inverse), (no, yes, !inverse)].into_iter();
                    let found = found.filter(|&(_, keep, _)| last(keep));
                    let mut found = found.filter_map(|(made, keep, inverse)| {
                        Some((*makers.get(&made)?, keep, inverse))
                    });
                    let Some((from, keep, inverse)) = found.next() else { continue };
                    if let Some(inst) = predicated(&nodes[from].inst, dst, keep, inverse) {
                        nodes[at].inst = inst;
                        gone[from] = true;
                    }
                }
                _ => {}
            }
        }
        let mut gone = gone.into_iter();
        nodes.retain(|_| !gone.next().unwrap_or(false));
    }
}

/// The word where the flag is set, or its opposite.
fn predicated(inst: &Inst, dst: Reg, keep: VReg, inverse: bool) -> Option<Inst> {
    let Inst::Alu { opcode, to, from, sources, .. } = inst else { return None };
    let (opcode, to, from, sources) = (*opcode, *to, *from, sources.clone());
    Some(Inst::When { inverse, opcode, to, dst, from, sources, keep: keep.into() })
}
