//! Copy propagation and dead code elimination on machine IR before allocation.

use crate::inst::{Inst, Src};
use crate::isa::operand::Type;
use crate::isa::ops::Opcode;
use gpucc_ir::mach::{self, Func, Inst as _, Reg, Role, VReg};

/// What registers are, by their numbers.
pub struct Counts {
    pub definitions: Vec<u32>,
    pub uses: Vec<u32>,
}

/// Forwards copies, then drops what nobody reads.
pub fn clean(func: &mut Func<Inst>) {
    let counts = count(func);
    propagate(func, &counts);
    let mut counts = count(func);
    sweep(func, &mut counts);
}

/// Counts definitions and uses of each register.
pub fn count(func: &Func<Inst>) -> Counts {
    let size = func.vregs.len();
    let mut counts = Counts { definitions: vec![0; size], uses: vec![0; size] };
    for node in func.layout.iter().flat_map(|&block| &func.blocks[block].nodes) {
        node.inst.operands(&mut |operand: mach::Operand| {
            let Some(reg) = operand.reg.as_virt() else { return };
            let of = match operand.role.is_def() {
                true => &mut counts.definitions,
                false => &mut counts.uses,
            };
            of[index(reg)] += 1;
        });
    }
    counts
}

fn index(reg: VReg) -> usize {
    cranelift_entity::EntityRef::index(reg)
}

/// The copies of an instruction that does nothing else.
fn copies(inst: &Inst) -> Vec<(Reg, Reg)> {
    match inst {
        Inst::Copy { dst, src } => dst.iter().copied().zip(src.iter().copied()).collect(),
        Inst::Alu { opcode: Opcode::Mov, to, dst, from, saturate: false, sources } => {
            match sources.first() {
                Some(source) if to == from && *to == Type::Ud && source.is_plain() => {
                    match source.src {
                        Src::Reg(reg) => vec![(*dst, reg)],
                        _ => Vec::new(),
                    }
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Readers of a copy read what was copied, where both are written once: it is the same wherever the copy is.
fn propagate(func: &mut Func<Inst>, counts: &Counts) {
    let mut stands_for: Vec<Option<VReg>> = vec![None; func.vregs.len()];
    for &block in &func.layout {
        for node in &mut func.blocks[block].nodes {
            node.inst.rewrite(&mut |reg, role| match (reg.as_virt(), role) {
                (Some(virt), Role::Use) => stands_for[index(virt)].map_or(reg, Reg::virt),
                _ => reg,
            });
            for (to, from) in copies(&node.inst) {
                if let (Some(to), Some(from)) = (to.as_virt(), from.as_virt())
                    && [to, from].iter().all(|&reg| counts.definitions[index(reg)] == 1)
                {
                    stands_for[index(to)] = Some(from);
                }
            }
        }
    }
}

/// Nothing but its results tells that a step was there.
pub fn is_pure(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Alu { .. }
            | Inst::Vector { .. }
            | Inst::Dot { .. }
            | Inst::Piece { .. }
            | Inst::Choose { .. }
            | Inst::Copy { .. }
            | Inst::Truth { .. }
            | Inst::Flagged { .. }
            | Inst::Select { .. }
            | Inst::When { .. }
            | Inst::Apply { .. }
            | Inst::Product { .. }
            | Inst::ProductHigh { .. }
            | Inst::Math { .. }
            | Inst::MathVector { .. }
            | Inst::Divide { .. }
            | Inst::Sample { .. }
            | Inst::Read { slot: None, .. }
            | Inst::ReadRow { .. }
            | Inst::Table { .. }
            | Inst::Element { .. }
            | Inst::Plane { .. }
            | Inst::Difference { .. }
            | Inst::Round { .. }
            | Inst::Helper { .. }
            | Inst::Ballot { .. }
            | Inst::Lane { .. }
            | Inst::Gather { .. }
    )
}

/// From the end on, for readers stand behind: what makes only registers that nobody reads goes, and comparisons whose flag
/// nobody takes.
fn sweep(func: &mut Func<Inst>, counts: &mut Counts) {
    for &block in func.layout.iter().rev() {
        let nodes = &mut func.blocks[block].nodes;
        let mut kept = Vec::with_capacity(nodes.len());
        let mut flag = false;
        while let Some(node) = nodes.pop() {
            let mut read = false;
            let mut makes = false;
            node.inst.operands(&mut |operand: mach::Operand| {
                if operand.role.is_def() {
                    makes = true;
                    let virt = operand.reg.as_virt();
                    read |= virt.is_none_or(|reg| counts.uses[index(reg)] > 0);
                }
            });
            let unread = makes && !read && is_pure(&node.inst);
            let undecided = matches!(node.inst, Inst::Compare(_)) && !flag;
            if unread || undecided {
                node.inst.operands(&mut |operand: mach::Operand| {
                    if let (false, Some(reg)) = (operand.role.is_def(), operand.reg.as_virt()) {
                        counts.uses[index(reg)] -= 1;
                    }
                });
                continue;
            }
            match &node.inst {
                Inst::Compare(test) => flag = test.join.is_some(),
                Inst::Truth { .. } | Inst::Round { .. } | Inst::Ballot { .. } => flag = false,
                Inst::If { .. }
                | Inst::While { flag: Some(_) }
                | Inst::Select { .. }
                | Inst::When { .. }
                | Inst::Flagged { .. } => flag = true,
                _ => {}
            }
            kept.push(node);
        }
        kept.reverse();
        *nodes = kept;
    }
}
