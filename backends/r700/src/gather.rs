//! Clustering of fetches.
//!
//! Brings fetches of a block together, so that they share clauses and the ALU work around them is
//! not cut into small runs.
//!
//! Between two instructions with effects, each fetch goes as early as its operands allow, and ALU
//! work goes to the latest place before it is needed. Linear in instructions and dependences.

use crate::inst::Inst;
use gpucc_ir::mach::{Files, Func, Node};
use gpucc_passes::mach::{Depend, Model};

/// Dependences by registers alone.
struct Order;

impl Model<Inst> for Order {}

/// What a graph is built over.
#[derive(Copy, Clone)]
struct At {
    vregs: usize,
    files: Files,
}

/// Reorders every block; registers are still virtual.
pub fn run(func: &mut Func<Inst>) {
    let mut depend = Depend::default();
    let at = At { vregs: func.vregs.len(), files: func.files };
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
                reorder(&mut segment, &mut out, &mut depend, at);
                out.push(node);
            }
        }
        reorder(&mut segment, &mut out, &mut depend, at);
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
fn reorder(segment: &mut Vec<Node<Inst>>, out: &mut Vec<Node<Inst>>, depend: &mut Depend, at: At) {
    let n = segment.len();
    if segment.iter().filter(|node| is_fetch(&node.inst)).count() < 2 {
        out.append(segment);
        return;
    }
    let graph = depend.build(segment, 0..n, at.vregs, at.files, &Order);
    let mut level = vec![0u32; n];
    for from in 0..n {
        // What comes after a fetch for any reason comes in a later level.
        let step = u32::from(is_fetch(&segment[from].inst));
        for edge in graph.successors(from as u32) {
            let to = edge.to as usize;
            level[to] = level[to].max(level[from] + step);
        }
    }
    let last = level.iter().copied().max().unwrap_or(0);
    for at in (0..n).rev() {
        if !is_fetch(&segment[at].inst) {
            let followers = graph.successors(at as u32).iter();
            let latest = followers.map(|edge| level[edge.to as usize]).min();
            level[at] = latest.unwrap_or(last).max(level[at]);
        }
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by_key(|&at| (level[at as usize], is_fetch(&segment[at as usize].inst)));
    let mut slots: Vec<Option<Node<Inst>>> = segment.drain(..).map(Some).collect();
    out.extend(order.into_iter().filter_map(|at| slots[at as usize].take()));
}
