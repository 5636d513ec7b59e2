//! Last uses: registers that nobody reads after an instruction.

use super::Analysis;
use super::pending::{bit, facts, touched};
use crate::inst::{Inst, Src};
use crate::isa::Opcode;
use gpucc_ir::mach::live::{Live, Scan};
use gpucc_ir::mach::{Edges, Func};

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
        let mut alive = set(live.behind(position));
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

/// Which of the 64 registers are alive across blocks.
fn live(func: &Func<Inst>) -> Live {
    let mut scan = Scan::new(64);
    for (at, &block) in func.layout.iter().enumerate() {
        for op in func.blocks[block].nodes.iter().filter_map(|n| n.inst.op()) {
            let touched = touched(op);
            each(touched.reads, |register| scan.read(at, register));
            each(touched.writes, |register| scan.write(at, register));
        }
    }
    Live::of(func, Edges::Logical, scan)
}

fn each(mut set: u64, mut visit: impl FnMut(usize)) {
    while set != 0 {
        visit(set.trailing_zeros() as usize);
        set &= set - 1;
    }
}

fn set(registers: impl Iterator<Item = u32>) -> u64 {
    registers.fold(0, |set, register| set | 1 << register)
}

/// Registers that hold a value when the program starts: those that some way reads before it writes them.
pub fn live_at_start(func: &Func<Inst>) -> u64 {
    set(live(func).before(0).iter().copied())
}
