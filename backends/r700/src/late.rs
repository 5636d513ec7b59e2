//! Sinking of loop-carried updates, against interference.
//!
//! The next value of a variable is computed after the last reads of its value now, where nothing needs
//! it before: then both live in one register, and the copy at the end of the trip is none.
//!
//! Registers that copies join are one variable. Within a block, over virtual registers, before groups are
//! formed; linear in instructions.

use crate::inst::{Alu, Inst};
use crate::op;
use cranelift_entity::{EntityRef, SecondaryMap};
use gpucc_ir::mach::{Func, Inst as _, Node, Role, VReg};
use smallvec::SmallVec;

/// Registers joined by copies.
pub struct Variables {
    /// A register nearer to the representative; itself where it is one.
    parent: Vec<u32>,
}

impl Variables {
    /// Joins what copies join.
    pub fn of(func: &Func<Inst>) -> Variables {
        let mut new = Variables { parent: (0..func.vregs.len() as u32).collect() };
        for &block in &func.layout {
            for node in &func.blocks[block].nodes {
                let Inst::Copy { dst, src } = &node.inst else {
                    continue;
                };
                for (d, s) in dst.iter().zip(src) {
                    if let (Some(d), Some(s)) = (d.as_virt(), s.as_virt()) {
                        let (d, s) = (new.find(d), new.find(s));
                        new.parent[d.max(s) as usize] = d.min(s);
                    }
                }
            }
        }
        for index in 0..new.parent.len() {
            new.parent[index] = new.find(VReg::new(index));
        }
        new
    }

    fn find(&mut self, v: VReg) -> u32 {
        let mut at = v.index() as u32;
        while self.parent[at as usize] != at {
            // Halves the path.
            self.parent[at as usize] = self.parent[self.parent[at as usize] as usize];
            at = self.parent[at as usize];
        }
        at
    }

    /// What an operation overwrites if it is the next value of a variable: the sources that are the
    /// variable's value now.
    pub fn replaced(&self, inst: &Inst) -> SmallVec<[VReg; 2]> {
        let mut out = SmallVec::new();
        let Inst::Alu(Alu { op, dst, .. }) = inst else {
            return out;
        };
        let Some(dst) = dst.and_then(|dst| dst.as_virt()) else {
            return out;
        };
        if op::is_kill(*op) {
            return out;
        }
        let of = |v: VReg| self.parent.get(v.index());
        inst.operands(&mut |operand| {
            if operand.role == Role::Use
                && let Some(v) = operand.reg.as_virt()
                && v != dst
                && of(v).is_some()
                && of(v) == of(dst)
                && !out.contains(&v)
            {
                out.push(v);
            }
        });
        out
    }
}

/// What is known of a register while a block is walked from its end.
#[derive(Copy, Clone, Default)]
struct Seen {
    /// The block that the facts are of.
    block: u32,
    /// Its last read, if it has one.
    last_read: Option<u32>,
    /// The next instruction that reads it, and the next that writes it.
    next: [Option<u32>; 2],
}

/// Moves what can be later.
pub fn run(func: &mut Func<Inst>, variables: &Variables) {
    let mut seen: SecondaryMap<VReg, Seen> = SecondaryMap::new();
    for (number, block) in func.layout.clone().into_iter().enumerate() {
        let stamp = number as u32 + 1;
        let nodes = std::mem::take(&mut func.blocks[block].nodes);
        let mut moves: Vec<(u32, u32)> = Vec::new();
        // The next mark of control flow: behind it are other lanes.
        let mut end = nodes.len() as u32;
        for (at, node) in nodes.iter().enumerate().rev() {
            let replaced = variables.replaced(&node.inst);
            let latest = replaced.iter().filter_map(|&v| {
                let seen = seen[v];
                seen.last_read.filter(|_| seen.block == stamp)
            });
            if let Some(latest) = latest.max() {
                // On the way nothing may read or write the result or overwrite a source.
                let mut free = latest < end;
                node.inst.operands(&mut |operand| {
                    if let Some(v) = operand.reg.as_virt()
                        && seen[v].block == stamp
                    {
                        let [read, write] = seen[v].next;
                        let read = read.filter(|_| operand.role != Role::Use);
                        free &= read.into_iter().chain(write).all(|next| next > latest);
                    }
                });
                if free {
                    moves.push((latest, at as u32));
                }
            }
            if node.inst.ends_block() || matches!(node.inst, Inst::Else | Inst::EndIf) {
                end = at as u32;
            }
            node.inst.operands(&mut |operand| {
                if let Some(v) = operand.reg.as_virt() {
                    let seen = &mut seen[v];
                    if seen.block != stamp {
                        *seen = Seen { block: stamp, ..Seen::default() };
                    }
                    let read = operand.role == Role::Use;
                    if read {
                        seen.last_read.get_or_insert(at as u32);
                    }
                    seen.next[usize::from(!read)] = Some(at as u32);
                }
            });
        }
        func.blocks[block].nodes = if moves.is_empty() { nodes } else { reorder(nodes, moves) };
    }
}

/// Each move says behind which instruction another comes.
fn reorder(nodes: Vec<Node<Inst>>, mut moves: Vec<(u32, u32)>) -> Vec<Node<Inst>> {
    moves.sort_unstable();
    let mut out = Vec::with_capacity(nodes.len());
    let mut nodes: Vec<Option<Node<Inst>>> = nodes.into_iter().map(Some).collect();
    let mut late: Vec<Option<Node<Inst>>> =
        moves.iter().map(|&(_, at)| nodes[at as usize].take()).collect();
    let mut next = 0;
    for (at, node) in nodes.into_iter().enumerate() {
        out.extend(node);
        while next < moves.len() && moves[next].0 as usize == at {
            out.extend(late[next].take());
            next += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests;
