//! Dependences among the operations of one window.

use super::Item;
use crate::isa::AluOp;
use crate::op;
use crate::slot::{Read, Slot};
use gpucc_passes::mach::{Depend, Dependence, Graph};

/// Added to the height of what uses AR, and of what stands between it and its MOVA.
pub const AR_FIRST: u32 = 1 << 20;
/// Cells of the register file, then the address register.
const ADDRESS: usize = 512;
const CELLS: usize = 513;

/// The dependences of one window. The numbers are of operations in their order in the window.
#[derive(Default)]
pub struct Window {
    pub graph: Graph,
    /// What goes first: groups that must come behind, and users of the address register before all else, for AR dies with
    /// the clause.
    pub urgency: Vec<u32>,
    /// Of a MOVA: operations that use its AR.
    pub users: Vec<u32>,
}

impl Window {
    /// Dependences among the operations of one window.
    pub fn of(items: &[Item], depend: &mut Depend) -> Window {
        let n = items.len();
        let mut users = vec![0; n];
        // What stands from a MOVA to its last user names the MOVA.
        let mut behind: Vec<Option<u32>> = vec![None; n];
        let mut last_mova = 0;
        for (at, item) in items.iter().enumerate() {
            if item.op() == AluOp::MOVA_INT {
                last_mova = at;
            } else if item.is_user() {
                users[last_mova] += 1;
                let mut back = at;
                while back > last_mova && behind[back].is_none() {
                    behind[back] = Some(last_mova as u32);
                    back -= 1;
                }
            }
        }
        depend.begin(CELLS);
        // Groups from an operation to one that reads its result.
        let mut results: Vec<u32> = Vec::with_capacity(n);
        // What an operation behind a MOVA waits for, the MOVA does too: it waits until nothing else can hold up its users.
        let mut held: Vec<(u32, u32)> = Vec::new();
        let mut reads: Vec<usize> = Vec::new();
        let mut writes: Vec<usize> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            reads.clear();
            writes.clear();
            let mut indexed = false;
            let mut result = 1;
            for slot in item.slots() {
                for s in slot.sources() {
                    indexed |= matches!(s.read, Read::Gpr { rel: true, .. });
                    reads.extend(s.read.cell().map(usize::from));
                }
                if let Some(dst) = slot.dst {
                    writes.extend(dst.cell().map(usize::from));
                    if dst.rel {
                        indexed = true;
                        // One group between an indexed write and a read. R700 ISA 4.11.
                        result = 2;
                    }
                }
                if slot.op == AluOp::MOVA_INT {
                    writes.push(ADDRESS);
                }
            }
            let plain = reads.len();
            if let Some(range) = item.range.filter(|_| indexed) {
                let cells = range.cells().map(usize::from);
                if result == 2 {
                    writes.extend(cells.clone());
                }
                reads.extend(cells);
                reads.push(ADDRESS);
            }
            results.push(result);
            let (results, at) = (&results, at as u32);
            for (number, &c) in reads.iter().enumerate() {
                // Also a plain write waits a group for a read through AR.
                let element = u32::from(number >= plain && c != ADDRESS);
                depend.read(c, at, |from, _| {
                    let latency = results[from as usize].max(1 + element);
                    held.push((from, latency));
                    latency
                });
            }
            for &c in &writes {
                depend.write(c, at, |from, why| {
                    // A group reads before it writes; but AR changes for the whole group. The hazard is of reads alone.
                    let latency = u32::from(why != Dependence::Anti || c == ADDRESS);
                    held.push((from, latency));
                    latency
                });
            }
            let mova = behind[at as usize];
            for (from, latency) in held.drain(..) {
                if let Some(mova) = mova.filter(|&mova| from < mova) {
                    depend.link(from, mova, latency.saturating_sub(1));
                }
            }
        }
        let mut graph = depend.finish(n);
        let tests = tests_last(items, graph);
        if !tests.is_empty() {
            for (from, to) in tests {
                depend.link(from, to, 0);
            }
            graph = depend.finish(n);
        }
        let heights = graph.height.iter().zip(&behind);
        let first = |(height, behind): (&u32, &Option<u32>)| match behind {
            Some(_) => height + AR_FIRST,
            None => *height,
        };
        Window { graph: graph.clone(), urgency: heights.map(first).collect(), users }
    }
}

/// KILL and PRED_SET come after everything else, PRED_SET after KILL: `(before, behind)`.
fn tests_last(items: &[Item], graph: &Graph) -> Vec<(u32, u32)> {
    let rank = |item: &Item| {
        if item.slots().iter().any(Slot::narrows) { 2 } else { u8::from(op::is_kill(item.op())) }
    };
    let mut added: Vec<(u32, u32)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let mine = rank(item);
        if mine == 0 {
            continue;
        }
        // What must follow it (it overwrites what the test reads) cannot come before it.
        let mut follows = vec![false; items.len()];
        let mut stack = vec![at as u32];
        while let Some(from) = stack.pop() {
            if !std::mem::replace(&mut follows[from as usize], true) {
                stack.extend(graph.successors(from).iter().map(|edge| edge.to));
                let more = added.iter().filter(|&&(before, _)| before == from);
                stack.extend(more.map(|&(_, behind)| behind));
            }
        }
        for (other, before) in items.iter().enumerate() {
            if rank(before) < mine && !follows[other] {
                added.push((other as u32, at as u32));
            }
        }
    }
    added
}
