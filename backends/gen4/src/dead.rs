//! What nobody reads, behind allocation: moves that put values together leave some that another move writes over.

use crate::clean::is_pure;
use crate::forward::{live_out, touched};
use crate::inst::Inst;
use gpucc_ir::mach::Func;

/// Drops steps whose registers nobody reads.
pub fn drop_dead(func: &mut Func<Inst>) {
    let live = live_out(func);
    for &block in &func.layout {
        let mut live = live[cranelift_entity::EntityRef::index(block)];
        let nodes = &mut func.blocks[block].nodes;
        let mut kept = Vec::with_capacity(nodes.len());
        while let Some(node) = nodes.pop() {
            let (read, written) = touched(&node.inst);
            if is_pure(&node.inst) && written != 0 && written & live == 0 {
                continue;
            }
            live = live & !written | read;
            kept.push(node);
        }
        kept.reverse();
        *nodes = kept;
    }
}
