//! Removes instructions whose results nobody reads.

use super::copies::pairs;
use cranelift_entity::{EntityRef, EntitySet};
use gpucc_ir::mach::{Block, Func, Inst, Reg, Role, VReg};

/// What removing needs to know of an instruction.
pub trait Removable: Inst {
    /// It does more than write virtual registers, or it must stay for another reason.
    fn is_root(&self) -> bool;

    /// Drops results that are not wanted, as far as the instruction can do without them. False when nothing is left of it.
    /// Asked of instructions that are no roots.
    fn keep(&mut self, wanted: &dyn Fn(Reg) -> bool) -> bool;
}

const NONE: u32 = u32::MAX;

/// What writes a register.
#[derive(Clone, Copy)]
enum Definition {
    /// The instruction of this index.
    Inst(Block, u32),
    /// A pair of a parallel copy, each of which is for itself, with this source.
    Copy(VReg),
}

/// Removes what leads to no root, cycles through loops included. Linear.
pub fn remove_dead<I: Removable>(func: &mut Func<I>) {
    // The last definition of each register, and each definition with the one before it.
    let mut last: Vec<u32> = vec![NONE; func.vregs.len()];
    let mut defs: Vec<(Definition, u32)> = Vec::with_capacity(func.vregs.len());
    let mut wanted: EntitySet<VReg> = EntitySet::with_capacity(func.vregs.len());
    let mut work: Vec<VReg> = Vec::new();
    for &block in &func.layout {
        for (index, node) in func.blocks[block].nodes.iter().enumerate() {
            let root = node.inst.is_root();
            if node.inst.is_copy() && !root {
                for (to, from) in pairs(&node.inst) {
                    defs.push((Definition::Copy(from), last[to.index()]));
                    last[to.index()] = defs.len() as u32 - 1;
                }
                continue;
            }
            node.inst.operands(&mut |operand| {
                let Some(v) = operand.reg.as_virt() else {
                    return;
                };
                if operand.role.is_def() {
                    defs.push((Definition::Inst(block, index as u32), last[v.index()]));
                    last[v.index()] = defs.len() as u32 - 1;
                } else if root && wanted.insert(v) {
                    work.push(v);
                }
            });
        }
    }
    while let Some(v) = work.pop() {
        let mut next = last[v.index()];
        while next != NONE {
            let (definition, before) = defs[next as usize];
            next = before;
            let (block, index) = match definition {
                Definition::Inst(block, index) => (block, index),
                Definition::Copy(from) => {
                    if wanted.insert(from) {
                        work.push(from);
                    }
                    continue;
                }
            };
            let inst = &func.blocks[block].nodes[index as usize].inst;
            inst.operands(&mut |operand| {
                if operand.role == Role::Use
                    && let Some(from) = operand.reg.as_virt()
                    && wanted.insert(from)
                {
                    work.push(from);
                }
            });
        }
    }
    let is_wanted = |reg: Reg| reg.as_virt().is_none_or(|v| wanted.contains(v));
    for &block in &func.layout {
        let nodes = &mut func.blocks[block].nodes;
        nodes.retain_mut(|node| node.inst.is_root() || node.inst.keep(&is_wanted));
    }
}

/// Keeps the pairs of a parallel copy whose destinations are wanted. False when none is left.
pub fn keep_pairs<A: smallvec::Array<Item = Reg>>(
    dst: &mut smallvec::SmallVec<A>,
    src: &mut smallvec::SmallVec<A>,
    wanted: &dyn Fn(Reg) -> bool,
) -> bool {
    let mut kept = 0;
    for k in 0..dst.len() {
        if wanted(dst[k]) {
            (dst[kept], src[kept]) = (dst[k], src[k]);
            kept += 1;
        }
    }
    dst.truncate(kept);
    src.truncate(kept);
    kept > 0
}
