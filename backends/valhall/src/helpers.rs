//! Termination of helper invocations.
//!
//! Helper lanes: texels that they need not fetch, and where they end. isa/valhall_rogue.md 1.8, Helper threads.
//!
//! Helpers run for what their neighbours in the quad take from them: computed levels of detail, and values across
//! lanes. Behind the last such instruction nothing hangs on them.

use crate::inst::{Inst, Op};
use crate::isa::{Opcode, Unit, f};
use cranelift_entity::{EntityRef, SecondaryMap};
use gpucc_ir::mach::{Block, Edges, Func, Inst as _, Node, Reg};

/// The flow value that ends helpers.
const DISCARD: u32 = 13;

/// LOD modes that take derivatives across the quad.
const COMPUTED: u32 = 1;
const COMPUTED_BIAS: u32 = 5;

/// Whether an instruction takes something from other lanes.
pub fn needs(word: &gpucc_isa::Inst) -> bool {
    match Opcode::of(word.op()) {
        Opcode::TexSingle | Opcode::TexGather | Opcode::TexDual => {
            matches!(word.get(f::LOD_MODE), COMPUTED | COMPUTED_BIAS)
        }
        Opcode::TexGradient => !word.flag(f::DERIVATIVE),
        // Other forms of CLPER are foreign.
        Opcode::ClperI32 | Opcode::Wmask => true,
        opcode => opcode.unit() == Unit::Vt,
    }
}

/// Whether any instruction does.
fn any(func: &Func<Inst>) -> bool {
    let blocks = func.layout.iter().map(|&block| &func.blocks[block]);
    let mut nodes = blocks.flat_map(|block| &block.nodes);
    nodes.any(|node| node.inst.op().is_some_and(|op| needs(&op.word)))
}

/// Whether the row has texels that helpers may go without.
fn fetches(op: &Op) -> bool {
    op.opcode.unit() == Unit::T && op.word.has_field(f::SKIP)
}

/// Marks texture instructions whose texels no helper needs: nothing that is taken across lanes, no branch, no address
/// and no store hangs on them. Over virtual registers.
pub fn skip(func: &mut Func<Inst>) {
    if !any(func) {
        return;
    }
    // Who writes each register, and what helpers need.
    let mut writers: SecondaryMap<gpucc_ir::mach::VReg, Vec<(Block, u32)>> = SecondaryMap::new();
    let mut needed = vec![false; func.vregs.len()];
    let mut work = Vec::new();
    let mut need = |reg: Reg, work: &mut Vec<_>| {
        if let Some(v) = reg.as_virt()
            && !std::mem::replace(&mut needed[v.index()], true)
        {
            work.push(v);
        }
    };
    for &block in &func.layout {
        for (at, node) in func.blocks[block].nodes.iter().enumerate() {
            let root = node.inst.op().is_some_and(is_root);
            node.inst.operands(&mut |operand| {
                let Some(v) = operand.reg.as_virt() else {
                    return;
                };
                if operand.role.is_def() {
                    writers[v].push((block, at as u32));
                } else if root {
                    need(operand.reg, &mut work);
                }
            });
        }
    }
    while let Some(v) = work.pop() {
        for &(block, at) in &writers[v] {
            let inst = &func.blocks[block].nodes[at as usize].inst;
            if let Inst::Copy { dst, src } = inst {
                for (to, from) in dst.iter().zip(src) {
                    if to.as_virt() == Some(v) {
                        need(*from, &mut work);
                    }
                }
                continue;
            }
            inst.operands(&mut |operand| {
                if !operand.role.is_def() {
                    need(operand.reg, &mut work);
                }
            });
        }
    }
    for &block in &func.layout {
        for node in &mut func.blocks[block].nodes {
            if let Inst::Op(op) = &mut node.inst
                && fetches(op)
            {
                let mut results = op.write.iter().filter_map(|reg| reg.as_virt());
                if !results.any(|v| needed[v.index()]) {
                    op.word = op.word.with(f::SKIP, 1);
                }
            }
        }
    }
}

/// What a helper must have the sources of, whatever becomes of the result.
fn is_root(op: &Op) -> bool {
    let output = matches!(op.opcode, Opcode::Atest | Opcode::ZsEmit | Opcode::Blend);
    let message = op.opcode.is_message() && !output && !fetches(op);
    message || op.target.is_some() || op.opcode == Opcode::DiscardF32 || needs(&op.word)
}

/// Lets helpers end behind the last instruction that needs them, on every way: on that instruction, or on the first
/// one behind it that has no other flow. Waits and tails stand already; nothing is added for it.
pub fn end(func: &mut Func<Inst>) {
    let uses = |node: &Node<Inst>| node.inst.op().is_some_and(|op| needs(&op.word));
    let mut last: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
    let mut found = false;
    for &block in &func.layout {
        last[block] = func.blocks[block].nodes.iter().rposition(uses);
        found |= last[block].is_some();
    }
    if !found {
        return;
    }
    // Blocks at whose start, and at whose end, somebody is still to come who needs them.
    let mut before: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut after: SecondaryMap<Block, bool> = SecondaryMap::new();
    let preds = func.predecessors(Edges::Logical);
    let mut work: Vec<Block> = func.layout.clone();
    while let Some(block) = work.pop() {
        let mut successors = func.successors(Edges::Logical, block).iter();
        after[block] = successors.any(|&to| before[to]);
        let now = after[block] || last[block].is_some();
        if now && !before[block] {
            before[block] = true;
            work.extend_from_slice(preds.of(block));
        }
    }
    // Ways on which they still have to end.
    let mut alive: SecondaryMap<Block, bool> = SecondaryMap::new();
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        let from = match last[block] {
            _ if after[block] => None,
            Some(at) => Some(at),
            None if alive[block] => Some(0),
            None => None,
        };
        let placed = from.is_some_and(|from| place(&mut func.blocks[block].nodes[from..]));
        if after[block] || from.is_some() && !placed {
            for &to in func.successors(Edges::Logical, block) {
                alive[to] |= !before[to];
            }
        }
    }
}

/// Puts the flow on the first instruction that has none.
fn place(nodes: &mut [Node<Inst>]) -> bool {
    for node in nodes {
        if let Inst::Op(op) = &mut node.inst
            && op.word.get(f::FLOW) == 0
        {
            op.word = op.word.with(f::FLOW, DISCARD);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
