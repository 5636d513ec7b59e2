//! A choice between a value and what one word makes, before allocation: the word is predicated and leaves the value elsewhere.
//! Vertices have choices with their comparisons, on lanes or on components.

use crate::clean::{Counts, count};
use crate::inst::{Inst, Source, Src, Swizzled};
use gpucc_ir::Map;
use gpucc_ir::mach::{self, Func, Inst as _, Node, Reg, VReg};
use smallvec::SmallVec;
use std::collections::BTreeSet;

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

/// What stands before a step of a block.
struct Seen<'a> {
    counts: &'a Counts,
    /// Steps of one word whose result one step reads, by their results.
    makers: Map<VReg, usize>,
    /// Readers so far.
    read: Map<VReg, u32>,
    /// The last steps of the block so far that assign registers which are assigned more than once.
    assigned: Map<VReg, usize>,
    /// Registers that the step at hand reads and that are assigned next, in this block.
    over: SmallVec<[VReg; 2]>,
}

impl Seen<'_> {
    fn once(&self, reg: VReg) -> bool {
        self.counts.definitions.get(index(reg)) == Some(&1)
    }

    /// Counts what a step reads, and notes what it assigns again.
    fn look(&mut self, inst: &Inst, at: usize) {
        inst.operands(&mut |operand: mach::Operand| {
            if let Some(reg) = operand.reg.as_virt() {
                if !operand.role.is_def() {
                    *self.read.entry(reg).or_default() += 1;
                } else if !self.once(reg) {
                    self.assigned.insert(reg, at);
                }
            }
        });
    }

    /// All that a step names is assigned once.
    fn is_steady(&self, inst: &Inst) -> bool {
        let mut steady = true;
        inst.operands(&mut |operand: mach::Operand| {
            steady &= operand.reg.as_virt().is_none_or(|reg| self.once(reg));
        });
        steady
    }

    /// Whether nobody reads a register any more.
    fn is_last(&self, reg: VReg) -> bool {
        match self.once(reg) {
            true => self.read.get(&reg) == Some(&self.counts.uses[index(reg)]),
            false => self.over.contains(&reg),
        }
    }

    /// What a step of the block reads has been the same since, and nobody but its reader has its result.
    fn is_same(&self, inst: &Inst, at: usize) -> bool {
        let mut same = true;
        inst.operands(&mut |operand: mach::Operand| {
            let Some(reg) = operand.reg.as_virt() else { return };
            same &= match operand.role.is_def() {
                true => self.once(reg),
                false => self.assigned.get(&reg).is_none_or(|&assigned| assigned < at),
            };
        });
        same
    }
}

/// Of each step of a block, where it is a choice, the registers that are assigned more than once and that nobody reads behind it before
/// a step of the block assigns them.
fn over(nodes: &[Node<Inst>], counts: &Counts) -> Vec<SmallVec<[VReg; 2]>> {
    let mut found = vec![SmallVec::new(); nodes.len()];
    // Whether a register is assigned next, or read.
    let mut next: Map<VReg, bool> = Map::default();
    for (at, node) in nodes.iter().enumerate().rev() {
        let mut read: SmallVec<[VReg; 4]> = SmallVec::new();
        node.inst.operands(&mut |operand: mach::Operand| {
            let Some(reg) = operand.reg.as_virt() else { return };
            match operand.role.is_def() {
                true => {
                    next.insert(reg, true);
                }
                false => read.push(reg),
            }
        });
        if let Inst::Select { dst, .. } = &node.inst {
            let many = |reg: &VReg| counts.definitions.get(index(*reg)) != Some(&1);
            let free = read.iter().copied().filter(many);
            let free =
                free.filter(|reg| next.get(reg) == Some(&true) && dst.as_virt() != Some(*reg));
            found[at] = free.collect();
        }
        // What a step keeps of its result it reads.
        next.extend(read.into_iter().map(|reg| (reg, false)));
    }
    found
}

/// Puts words in the place of choices. `word` gives the step that makes one of the values, and what makes it in the choice's
/// place; it is asked for each step.
fn rewrite(
    func: &mut Func<Inst>,
    word: impl Fn(&Seen, &[Node<Inst>], &Inst) -> Option<(usize, Inst)>,
) {
    let counts = count(func);
    for block in func.layout.clone() {
        let nodes = &mut func.blocks[block].nodes;
        let mut over = over(nodes, &counts);
        let (makers, read, assigned, none) = Default::default();
        let mut seen = Seen { counts: &counts, makers, read, assigned, over: none };
        let mut gone = vec![false; nodes.len()];
        for at in 0..nodes.len() {
            seen.look(&nodes[at].inst, at);
            seen.over = std::mem::take(&mut over[at]);
            match &nodes[at].inst {
                Inst::Alu { dst, saturate: false, .. }
                | Inst::Vector { dst, saturate: false, keep: None, .. } => {
                    let made = dst.as_virt().filter(|&reg| counts.uses[index(reg)] == 1);
                    seen.makers.extend(made.map(|reg| (reg, at)));
                }
                choice => {
                    if let Some((from, inst)) = word(&seen, nodes, choice) {
                        nodes[at].inst = inst;
                        gone[from] = true;
                    }
                }
            }
        }
        let mut gone = gone.into_iter();
        nodes.retain(|_| !gone.next().unwrap_or(false));
    }
}

/// Makes predicated words of choices whose other value is read no more.
pub fn when(func: &mut Func<Inst>) {
    rewrite(func, |seen, nodes, choice| {
        let Inst::Select { dst, inverse, yes, no } = choice else { return None };
        let (yes, no) = whole(yes).zip(whole(no))?;
        let found = [(yes, no, *inverse), (no, yes, !inverse)].into_iter();
        let mut found =
            found.filter(|&(_, keep, _)| seen.is_last(keep)).filter_map(|(made, keep, inverse)| {
                let from = *seen.makers.get(&made)?;
                let same = seen.is_same(&nodes[from].inst, from);
                same.then_some(())?;
                Some((from, predicated(&nodes[from].inst, *dst, keep, inverse)?))
            });
        found.next()
    });
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
    rewrite(func, |seen, nodes, choice| {
        let Inst::Choose { dst, channels, sources: [_, _, yes, no], keep: None, .. } = choice
        else {
            return None;
        };
        if !seen.is_steady(choice) || dst.as_virt().is_none_or(|dst| leaves.contains(&dst)) {
            return None;
        }
        let (yes, no) = taken(yes, *channels).zip(taken(no, *channels))?;
        let found = [(yes, no, false), (no, yes, true)].into_iter();
        let mut found = found.filter(|&(_, keep, _)| seen.is_last(keep)).filter_map(
            |(made, keep, opposite)| {
                let from = *seen.makers.get(&made)?;
                seen.is_steady(&nodes[from].inst).then_some(())?;
                Some((from, applied(choice, &nodes[from].inst, keep, opposite)?))
            },
        );
        found.next()
    });
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
