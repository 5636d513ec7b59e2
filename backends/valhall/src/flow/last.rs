//! Last uses: registers that nobody reads after an instruction.

use super::Analysis;
use super::pending::{bit, facts};
use crate::emit;
use crate::inst::{Inst, Src};
use crate::isa::Opcode;
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Edges, Func};

/// Marks registers that nobody reads after an instruction. Staging registers are never marked, nor registers that a
/// message may still be reading. A pair is marked when both halves are dead.
pub fn mark_last_uses(func: &mut Func<Inst>, analysis: &Analysis) {
    let live = live_at_end(func);
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
        let mut alive = live[block];
        for (node, busy) in func.blocks[block].nodes.iter_mut().zip(busy).rev() {
            let Inst::Op(op) = &mut node.inst else {
                continue;
            };
            let facts = facts(op);
            alive &= !facts.writes;
            // What a blend shader gets is never dead.
            let kept = if op.opcode == Opcode::Blend {
                u64::MAX
            } else {
                0
            };
            let dead = !(alive | busy | facts.staging | kept);
            let fields = op.opcode.sources();
            for (source, place) in op.src.iter().zip(fields) {
                let registers = match *source {
                    Src::Reg(reg) => bit(reg),
                    // The other half of the pair would die with it.
                    Src::Low(reg) => bit(reg) | bit(reg) << 1,
                    Src::Pair(pair) => bit(pair[0]) | bit(pair[1]),
                    _ => continue,
                };
                if registers & !dead == 0 {
                    let byte = op.word.get(place.field);
                    op.word = op.word.with(place.field, byte | emit::LAST_USE);
                }
            }
            alive |= facts.reads;
        }
    }
}

/// Registers that are read after the end of each block.
fn live_at_end(func: &Func<Inst>) -> SecondaryMap<Block, u64> {
    let mut gen_kill: SecondaryMap<Block, (u64, u64)> = SecondaryMap::new();
    for &block in &func.layout {
        let (mut read, mut written) = (0, 0);
        for node in &func.blocks[block].nodes {
            if let Some(op) = node.inst.op() {
                let facts = facts(op);
                read |= facts.reads & !written;
                written |= facts.writes;
            }
        }
        gen_kill[block] = (read, written);
    }
    let mut out: SecondaryMap<Block, u64> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for &block in func.layout.iter().rev() {
            let mut live = 0;
            for &to in func.successors(Edges::Logical, block) {
                let (read, written) = gen_kill[to];
                live |= read | out[to] & !written;
            }
            if live != out[block] {
                out[block] = live;
                changed = true;
            }
        }
    }
    out
}

/// Registers that hold a value when the program starts: those that some way reads before it writes them.
pub fn live_at_start(func: &Func<Inst>) -> u64 {
    let mut alive = live_at_end(func)[func.layout[0]];
    for node in func.blocks[func.layout[0]].nodes.iter().rev() {
        if let Some(op) = node.inst.op() {
            let facts = facts(op);
            alive = alive & !facts.writes | facts.reads;
        }
    }
    alive
}
