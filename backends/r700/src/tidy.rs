//! Machine code as lowering leaves it, tidied before it is ordered: nothing is computed twice in a block,
//! and nothing that nobody reads.

use crate::inst::{Alu, Inst, Source, Src};
use crate::isa::AluOp;
use crate::op;
use cranelift_entity::{EntityRef, SecondaryMap};
use gpucc_ir::mach::{Func, Inst as _, Node, Reg, Role, VReg};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// An operation and its sources as numbers.
type Key = SmallVec<[u64; 4]>;

/// An operation of the same sources as one before it in its block gives way to it: addresses of
/// neighbouring fetches, mostly. Moves stay, since they are there to put a value in a place of its own.
pub fn number(func: &mut Func<Inst>) {
    let mut writes: SecondaryMap<VReg, u32> = SecondaryMap::new();
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            node.inst.operands(&mut |operand| {
                if operand.role.is_def()
                    && let Some(v) = operand.reg.as_virt()
                {
                    writes[v] += 1;
                }
            });
        }
    }
    let mut instead: SecondaryMap<VReg, Option<VReg>> = SecondaryMap::new();
    let mut any = false;
    let mut known: BTreeMap<Key, VReg> = BTreeMap::new();
    for &block in &func.layout {
        known.clear();
        for node in &mut func.blocks[block].nodes {
            if any {
                node.inst.rewrite(&mut |reg, role| match reg.as_virt() {
                    Some(v) if role == Role::Use => instead[v].map_or(reg, Reg::from),
                    _ => reg,
                });
            }
            if let Inst::Alu(alu) = &node.inst
                && let Some(v) = alu.dst.and_then(Reg::as_virt)
                && let Some(key) = key(alu, &writes)
                && writes[v] == 1
            {
                let first = *known.entry(key).or_insert(v);
                if first != v {
                    instead[v] = Some(first);
                    any = true;
                }
            }
        }
    }
}

/// The operation as a key; none for moves, and where a source is written more than once.
fn key(alu: &Alu, writes: &SecondaryMap<VReg, u32>) -> Option<Key> {
    if alu.op == AluOp::MOV || op::is_kill(alu.op) || op::is_pred_set(alu.op) {
        return None;
    }
    let mut key = Key::new();
    key.push(
        u64::from(alu.op.id().0) << 8 | u64::from(alu.omod.code()) << 1 | u64::from(alu.clamp),
    );
    for &Source { src, neg, abs } in &alu.src {
        let (kind, value) = match src {
            Src::Reg(reg) => {
                let v = reg.as_virt().filter(|&v| writes[v] == 1)?;
                (0, v.index() as u64)
            }
            Src::Const {
                buffer,
                index,
                chan,
            } => {
                let place = u64::from(buffer) << 24 | u64::from(index) << 8 | u64::from(chan);
                (1, place)
            }
            Src::Bits(bits) => (2, u64::from(bits)),
        };
        key.push(value << 8 | kind << 2 | u64::from(neg) << 1 | u64::from(abs));
    }
    Some(key)
}

/// Removes ALU work whose results nobody reads: addresses that lowering took apart, mostly.
pub fn sweep(func: &mut Func<Inst>) {
    let mut uses: SecondaryMap<VReg, u32> = SecondaryMap::new();
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            each_use(&node.inst, |v| uses[v] += 1);
        }
    }
    // Backwards, so that what a dead instruction reads is looked at after it.
    for &block in func.layout.iter().rev() {
        let nodes = std::mem::take(&mut func.blocks[block].nodes);
        let mut kept: Vec<Node<Inst>> = Vec::with_capacity(nodes.len());
        for node in nodes.into_iter().rev() {
            let result = match &node.inst {
                Inst::Alu(Alu { dst: Some(dst), .. })
                | Inst::Dot { dst, .. }
                | Inst::ArrayRead { dst, .. } => dst.as_virt(),
                _ => None,
            };
            if result.is_some_and(|v| uses[v] == 0) {
                each_use(&node.inst, |v| uses[v] -= 1);
            } else {
                kept.push(node);
            }
        }
        kept.reverse();
        func.blocks[block].nodes = kept;
    }
}

/// Calls for every register that an instruction reads, as often as it does.
pub fn each_use(inst: &Inst, mut visit: impl FnMut(VReg)) {
    inst.operands(&mut |operand| {
        if operand.role == Role::Use
            && let Some(v) = operand.reg.as_virt()
        {
            visit(v);
        }
    });
}

#[cfg(test)]
mod tests;
