//! Last uses: registers that nobody reads after an instruction.

use super::Analysis;
use super::pending::{bit, facts, touched};
use crate::inst::{Inst, Src};
use crate::isa::Opcode;
use gpucc_ir::mach::{Adjacency, Edges, Func};

/// Marks registers that nobody reads after an instruction. Staging registers are never marked, nor registers that a
/// message may still be reading. A pair is marked when both halves are dead.
pub fn mark_last_uses(func: &mut Func<Inst>, analysis: &Analysis) {
    let live = live(func);
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        // What pending messages may still read, before each instruction.
        let mut pending = analysis.begin[block];
        let busy: Vec<u64> = func.blocks[block]
            .nodes
            .iter()
            .map(|node| {
                let Some(op) = node.inst.op() else { return 0 };
                let facts = facts(op);
                pending.wait(pending.needed(&facts));
                pending.issue(&facts);
                pending.read.iter().fold(0, |set, &slot| set | slot)
            })
            .collect();
        let mut alive = live.behind(position);
        for (node, busy) in func.blocks[block].nodes.iter_mut().zip(busy).rev() {
            let Inst::Op(op) = &mut node.inst else {
                continue;
            };
            let touched = touched(op);
            alive &= !touched.writes;
            // What a blend shader gets is never dead.
            let kept = if op.opcode == Opcode::Blend { u64::MAX } else { 0 };
            let dead = !(alive | busy | touched.staging | kept);
            for (k, source) in op.src.iter().enumerate() {
                let registers = match *source {
                    Src::Reg(reg) => bit(reg),
                    // The other half of the pair would die with it.
                    Src::Low(reg) => 0b11 << reg.cell().index,
                    Src::Pair(pair) => bit(pair[0]) | bit(pair[1]),
                    _ => continue,
                };
                if registers & !dead == 0 {
                    op.last |= 1 << k;
                }
            }
            alive |= touched.reads;
        }
    }
}

/// Which of the 64 registers are alive where blocks begin, a bit each, and where their lanes go. Blocks go by their places
/// in the layout.
struct Live {
    before: Vec<u64>,
    nexts: Adjacency<u32>,
}

impl Live {
    /// The registers that are alive behind a block.
    fn behind(&self, block: usize) -> u64 {
        self.nexts.of(block).iter().fold(0, |set, &next| set | self.before[next as usize])
    }
}

/// Which registers are alive across blocks. A block is looked at again only when one behind it reads more than was known:
/// at most 64 times.
fn live(func: &Func<Inst>) -> Live {
    let nexts = Adjacency::successors(func, Edges::Logical);
    let preds = nexts.reversed();
    let mut written = vec![0u64; nexts.len()];
    let mut live = Live { before: vec![0; nexts.len()], nexts };
    for (at, &block) in func.layout.iter().enumerate() {
        for op in func.blocks[block].nodes.iter().filter_map(|n| n.inst.op()) {
            let touched = touched(op);
            live.before[at] |= touched.reads & !written[at];
            written[at] |= touched.writes;
        }
    }
    let mut todo: Vec<u32> = (0..written.len() as u32).collect();
    let mut waits = vec![true; written.len()];
    while let Some(block) = todo.pop() {
        let at = block as usize;
        waits[at] = false;
        let through = live.behind(at) & !written[at] & !live.before[at];
        if through == 0 {
            continue;
        }
        live.before[at] |= through;
        for &from in preds.of(at) {
            if !std::mem::replace(&mut waits[from as usize], true) {
                todo.push(from);
            }
        }
    }
    live
}

/// Registers that hold a value when the program starts: those that some way reads before it writes them.
pub fn live_at_start(func: &Func<Inst>) -> u64 {
    live(func).before[0]
}
