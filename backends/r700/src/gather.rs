//! Brings fetches of a block together, so that they share clauses and the ALU work around them is
//! not cut into small runs.
//!
//! Between two instructions with effects, each fetch goes as early as its operands allow, and ALU
//! work goes to the latest place before it is needed. Linear in instructions and dependences.

use crate::depend::Seen;
use crate::inst::Inst;
use gpucc_ir::mach::{Func, Node};
use smallvec::SmallVec;

/// Reorders every block; registers are still virtual.
pub fn run(func: &mut Func<Inst>) {
    let mut seen = Seen::default();
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
                reorder(&mut segment, &mut out, &mut seen);
                out.push(node);
            }
        }
        reorder(&mut segment, &mut out, &mut seen);
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
            Inst::Alu(_)
                | Inst::Dot { .. }
                | Inst::Cube { .. }
                | Inst::Double(_)
                | Inst::Copy { .. }
        )
}

/// Sorts a run of instructions by level: level n holds what needs results of n fetch clauses.
fn reorder(segment: &mut Vec<Node<Inst>>, out: &mut Vec<Node<Inst>>, seen: &mut Seen) {
    let n = segment.len();
    if segment.iter().filter(|node| is_fetch(&node.inst)).count() < 2 {
        out.append(segment);
        return;
    }
    let mut level = vec![0u32; n];
    let mut followers: Vec<SmallVec<[u32; 4]>> = Vec::new();
    followers.resize_with(n, SmallVec::new);
    seen.start();
    for (at, node) in segment.iter().enumerate() {
        let touched = seen.before(&node.inst, &mut |from, _| {
            followers[from as usize].push(at as u32);
            // What comes after a fetch for any reason comes in a later level.
            let step = u32::from(is_fetch(&segment[from as usize].inst));
            level[at] = level[at].max(level[from as usize] + step);
        });
        seen.note(at as u32, &touched);
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
