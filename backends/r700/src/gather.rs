//! Brings fetches of a block together, so that they share clauses and the ALU work around them is
//! not cut into small runs.
//!
//! Between two instructions with effects, each fetch goes as early as its operands allow, and ALU
//! work goes to the latest place before it is needed. Linear in instructions and dependences.

use crate::inst::Inst;
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Func, Inst as _, Node, Role, VReg};
use smallvec::SmallVec;

/// Reorders every block; registers are still virtual.
pub fn run(func: &mut Func<Inst>) {
    for block in func.layout.clone() {
        let nodes = &mut func.blocks[block].nodes;
        let fetches = nodes.iter().filter(|node| is_fetch(&node.inst)).count();
        if fetches < 2 {
            continue;
        }
        let mut out = Vec::with_capacity(nodes.len());
        let mut segment = Vec::new();
        for node in nodes.drain(..) {
            if moves(&node.inst) {
                segment.push(node);
            } else {
                reorder(&mut segment, &mut out);
                out.push(node);
            }
        }
        reorder(&mut segment, &mut out);
        *nodes = out;
    }
}

const fn is_fetch(inst: &Inst) -> bool {
    matches!(inst, Inst::Vertex(_) | Inst::Texture(_))
}

/// The instruction only computes or fetches.
const fn moves(inst: &Inst) -> bool {
    is_fetch(inst)
        || matches!(
            inst,
            Inst::Alu(_) | Inst::Dot { .. } | Inst::Cube { .. } | Inst::Copy { .. }
        )
}

/// Sorts a run of instructions by level: level n holds what needs results of n fetch clauses.
fn reorder(segment: &mut Vec<Node<Inst>>, out: &mut Vec<Node<Inst>>) {
    let n = segment.len();
    if segment.iter().filter(|node| is_fetch(&node.inst)).count() < 2 {
        out.append(segment);
        return;
    }
    let mut writer: SecondaryMap<VReg, Option<u32>> = SecondaryMap::new();
    let mut readers: SecondaryMap<VReg, SmallVec<[u32; 2]>> = SecondaryMap::new();
    let mut level = vec![0u32; n];
    let mut followers: Vec<SmallVec<[u32; 4]>> = vec![SmallVec::new(); n];
    for at in 0..n {
        let mut before: SmallVec<[u32; 8]> = SmallVec::new();
        let (mut reads, mut writes): (SmallVec<[VReg; 4]>, SmallVec<[VReg; 4]>) =
            (SmallVec::new(), SmallVec::new());
        segment[at].inst.operands(&mut |operand| {
            if let Some(v) = operand.reg.as_virt() {
                if operand.role == Role::Use {
                    reads.push(v);
                } else {
                    writes.push(v);
                }
            }
        });
        for &v in &reads {
            before.extend(writer[v]);
            readers[v].push(at as u32);
        }
        for &v in &writes {
            before.extend(writer[v]);
            before.extend(readers[v].drain(..).filter(|&reader| reader != at as u32));
            writer[v] = Some(at as u32);
        }
        for from in before {
            followers[from as usize].push(at as u32);
            // What comes after a fetch for any reason comes in a later level.
            let step = u32::from(is_fetch(&segment[from as usize].inst));
            level[at] = level[at].max(level[from as usize] + step);
        }
    }
    let last = level.iter().copied().max().unwrap_or(0);
    for at in (0..n).rev() {
        if !is_fetch(&segment[at].inst) {
            let latest = followers[at].iter().map(|&to| level[to as usize]).min();
            level[at] = latest.unwrap_or(last).max(level[at]);
        }
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&at| (level[at as usize], is_fetch(&segment[at as usize].inst)));
    let mut slots: Vec<Option<Node<Inst>>> = segment.drain(..).map(Some).collect();
    out.extend(order.into_iter().filter_map(|at| slots[at as usize].take()));
}
