//! Local common-subexpression elimination and dead code.
//!
//! Machine code as lowering leaves it, tidied before it is ordered: nothing is computed twice in a block,
//! and nothing that nobody reads.

use crate::inst::{Alu, Inst, Source, Src};
use crate::isa::AluOp;
use crate::op;
use cranelift_entity::{EntityRef, SecondaryMap};
use gpucc_ir::mach::{Func, Inst as _, Reg, Role, VReg};
use gpucc_passes::mach::{Removable, keep_pairs, writes};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// An operation and its sources as numbers.
type Key = SmallVec<[u64; 4]>;

/// An operation of the same sources as one before it in its block gives way to it: addresses of
/// neighbouring fetches, mostly. Moves stay, since they are there to put a value in a place of its own.
pub fn number(func: &mut Func<Inst>) {
    let writes = writes(func);
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
                && writes[v.index()] == 1
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
fn key(alu: &Alu, writes: &[u8]) -> Option<Key> {
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
                let v = reg.as_virt().filter(|&v| writes[v.index()] == 1)?;
                (0, v.index() as u64)
            }
            Src::Const { buffer, index, chan } => {
                let place = u64::from(buffer) << 24 | u64::from(index) << 8 | u64::from(chan);
                (1, place)
            }
            Src::Bits(bits) => (2, u64::from(bits)),
        };
        key.push(value << 8 | kind << 2 | u64::from(neg) << 1 | u64::from(abs));
    }
    Some(key)
}

impl Removable for Inst {
    /// Only ALU work and copies go: addresses that lowering took apart, mostly.
    fn is_root(&self) -> bool {
        match self {
            Inst::Alu(Alu { dst: Some(_), .. }) | Inst::Dot { .. } | Inst::ArrayRead { .. } => {
                false
            }
            Inst::Copy { dst, .. } => dst.iter().any(|reg| reg.as_virt().is_none()),
            _ => true,
        }
    }

    fn keep(&mut self, wanted: &dyn Fn(Reg) -> bool) -> bool {
        match self {
            Inst::Alu(Alu { dst: Some(dst), .. })
            | Inst::Dot { dst, .. }
            | Inst::ArrayRead { dst, .. } => wanted(*dst),
            Inst::Copy { dst, src } => keep_pairs(dst, src, wanted),
            _ => true,
        }
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
