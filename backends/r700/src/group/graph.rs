//! Dependences among the operations of one window.

use super::Item;
use crate::isa::AluOp;
use crate::op;
use crate::slot::{Read, Slot};
use smallvec::SmallVec;

/// Added to the height of what uses AR, and of what stands between it and its MOVA.
pub const AR_FIRST: u32 = 1 << 20;
/// Cells of the register file, then the address register.
const ADDRESS: usize = 512;
const CELLS: usize = 513;
const NONE: u32 = u32::MAX;

/// The numbers are of operations in their order in the window.
#[derive(Default)]
pub struct Graph {
    /// What follows, and by how many groups at least.
    pub succ: Vec<SmallVec<[(u32, u32); 4]>>,
    /// How many must come before.
    pub preds: Vec<u32>,
    /// Groups that must come behind.
    pub height: Vec<u32>,
    /// The first group that may hold it.
    pub earliest: Vec<u32>,
    /// Of a MOVA: operations that use its AR.
    pub users: Vec<u32>,
}

impl Graph {
    fn edge(&mut self, from: usize, to: usize, latency: u32) {
        if from != to {
            self.succ[from].push((to as u32, latency));
            self.preds[to] += 1;
        }
    }

    /// Dependences among the operations of one window.
    pub fn build(items: &[Item]) -> Graph {
        let n = items.len();
        let mut succ = Vec::new();
        succ.resize_with(n, SmallVec::new);
        let mut graph = Graph {
            succ,
            preds: vec![0; n],
            height: vec![0; n],
            earliest: vec![0; n],
            users: vec![0; n],
        };
        // What stands from a MOVA to its last user names the MOVA.
        let mut behind: Vec<Option<u32>> = vec![None; n];
        let mut last_mova = 0;
        for (at, item) in items.iter().enumerate() {
            if item.op() == AluOp::MOVA_INT {
                last_mova = at;
            } else if item.is_user() {
                graph.users[last_mova] += 1;
                let mut back = at;
                while back > last_mova && behind[back].is_none() {
                    behind[back] = Some(last_mova as u32);
                    back -= 1;
                }
            }
        }
        // (item, latency to a reader) of the last write of each cell.
        let mut writer: Vec<Option<(u32, u32)>> = vec![None; CELLS];
        // The reads since: the last one of each cell in `read`, with the one before it.
        let mut readers: Vec<u32> = vec![NONE; CELLS];
        let mut read: Vec<(u32, u32)> = Vec::new();
        let mut reads: Vec<usize> = Vec::new();
        let mut writes: Vec<usize> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            reads.clear();
            writes.clear();
            let mut indexed = false;
            let mut write_latency = 1;
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
                        write_latency = 2;
                    }
                }
                if slot.op == AluOp::MOVA_INT {
                    writes.push(ADDRESS);
                }
            }
            let plain = reads.len();
            if let Some(range) = item.range.filter(|_| indexed) {
                let cells = range.cells().map(usize::from);
                if write_latency == 2 {
                    writes.extend(cells.clone());
                }
                reads.extend(cells);
                reads.push(ADDRESS);
            }
            let mova = behind[at];
            let mut depend = |from: u32, latency: u32| {
                graph.edge(from as usize, at, latency);
                // AR dies with the clause: its MOVA waits until nothing else can hold up its users.
                if let Some(mova) = mova.filter(|&mova| from < mova) {
                    graph.edge(from as usize, mova as usize, latency.saturating_sub(1));
                }
            };
            for (number, &c) in reads.iter().enumerate() {
                if let Some((from, latency)) = writer[c] {
                    // Also a plain write waits a group for a read through AR.
                    let element = number >= plain && c != ADDRESS;
                    depend(from, latency.max(1 + u32::from(element)));
                }
            }
            for &c in &writes {
                // The hazard is of reads alone.
                if let Some((from, _)) = writer[c] {
                    depend(from, 1);
                }
                // A group reads before it writes; but AR changes for the whole group.
                let latency = u32::from(c == ADDRESS);
                let mut next = readers[c];
                while next != NONE {
                    let (reader, before) = read[next as usize];
                    depend(reader, latency);
                    next = before;
                }
            }
            for &c in &reads {
                read.push((at as u32, readers[c]));
                readers[c] = read.len() as u32 - 1;
            }
            for &c in &writes {
                writer[c] = Some((at as u32, write_latency));
                readers[c] = NONE;
            }
        }
        // KILL and PRED_SET come after everything else, PRED_SET after KILL.
        let rank = |item: &Item| {
            if item.slots().iter().any(Slot::narrows) {
                2
            } else {
                u8::from(op::is_kill(item.op()))
            }
        };
        for (at, item) in items.iter().enumerate() {
            let mine = rank(item);
            if mine > 0 {
                // What must follow it (it overwrites what the test reads) cannot come before it.
                let mut follows = vec![false; n];
                let mut stack = vec![at];
                while let Some(from) = stack.pop() {
                    if !std::mem::replace(&mut follows[from], true) {
                        stack.extend(graph.succ[from].iter().map(|&(to, _)| to as usize));
                    }
                }
                for (other, before) in items.iter().enumerate() {
                    if rank(before) < mine && !follows[other] {
                        graph.edge(other, at, 0);
                    }
                }
            }
        }
        for at in (0..n).rev() {
            let tallest = graph.succ[at]
                .iter()
                .map(|&(to, latency)| graph.height[to as usize] + latency)
                .max()
                .unwrap_or(0);
            graph.height[at] = tallest;
        }
        // Users of the address register go first: AR dies with the clause.
        for (height, behind) in graph.height.iter_mut().zip(&behind) {
            if behind.is_some() {
                *height += AR_FIRST;
            }
        }
        graph
    }
}
