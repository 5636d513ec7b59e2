//! A choice between a value and what one word makes, before allocation: the word is predicated and leaves the value elsewhere.
//! Vertices have choices with their comparisons, on lanes or on components.

use crate::clean::count;
use crate::inst::{Inst, Source, Src, Swizzled};
use gpucc_ir::mach::{self, Func, Inst as _, Reg, VReg};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

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

/// The register that a choice of these components takes as it is.
fn taken(source: &Swizzled, channels: u8) -> Option<VReg> {
    let own = (0..4).all(|at| channels >> at & 1 == 0 || source.select >> (2 * at) & 3 == at);
    whole(&source.of).filter(|_| own)
}

/// Makes predicated words of vertices' choices whose other value is read no more.
pub fn apply(func: &mut Func<Inst>) {
    let counts = count(func);
    let once = |reg: VReg| counts.definitions.get(index(reg)) == Some(&1);
    // What leaves in a message is made in its register by a choice alone.
    let mut leaves: BTreeSet<VReg> = BTreeSet::new();
    for node in func.layout.iter().flat_map(|&block| &func.blocks[block].nodes) {
        if let Inst::Slot { values, .. } = &node.inst {
            let registers = values.iter().filter_map(|value| match value.src {
                Src::Reg(reg) | Src::Part { reg, .. } => reg.as_virt(),
                _ => None,
            });
            leaves.extend(registers);
        }
    }
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
                Inst::Alu { dst, saturate: false, .. }
                | Inst::Vector { dst, saturate: false, keep: None, .. }
                    if steady =>
                {
                    let made = dst.as_virt().filter(|&reg| counts.uses[index(reg)] == 1);
                    makers.extend(made.map(|reg| (reg, at)));
                }
                Inst::Choose { dst, channels, sources, keep: None, .. } if steady => {
                    if dst.as_virt().is_none_or(|dst| leaves.contains(&dst)) {
                        continue;
                    }
                    let [_, _, yes, no] = sources;
                    let registers = taken(yes, *channels).zip(taken(no, *channels));
                    let Some((yes, no)) = registers else { continue };
                    let last = |reg: VReg| read.get(&reg) == Some(&counts.uses[index(reg)]);
                    let found = [(yes, no, false), (no, yes, true)].into_iter();
                    let mut found = found.filter(|&(_, keep, _)| last(keep)).filter_map(
                        |(made, keep, opposite)| {
                            let from = *makers.get(&made)?;
                            let inst = applied(&nodes[at].inst, &nodes[from].inst, keep, opposite);
                            Some((from, inst?))
                        },
                    );
                    if let Some((from, inst)) = found.next() {
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

/// The word of a choice between what it makes and what is kept, where both have the same components.
fn applied(choice: &Inst, word: &Inst, keep: VReg, opposite: bool) -> Option<Inst> {
    let &Inst::Choose {
        dst, condition, ty, channels, inverse, sources: [first, second, ..], ..
    } = choice
    else {
        return None;
    };
    let (opcode, to, from, sources): (_, _, _, SmallVec<[Swizzled; 2]>) = match word {
        Inst::Alu { opcode, to, from, sources, .. } if channels == 0 => {
            let lanes = sources.iter().map(|&of| Swizzled { of, select: 0 });
            (*opcode, *to, *from, lanes.collect())
        }
        Inst::Vector { opcode, to, from, sources, channels: made, .. }
            if channels != 0 && *made == channels =>
        {
            (*opcode, *to, *from, sources.clone())
        }
        _ => return None,
    };
    Some(Inst::Apply {
        dst,
        condition,
        ty,
        channels,
        inverse: inverse ^ opposite,
        test: [first, second],
        opcode,
        to,
        from,
        sources,
        keep: keep.into(),
    })
}
