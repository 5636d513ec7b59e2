//! Splitting of large parallel copies.
//!
//! Takes parallel copies apart that move more than a file holds: what one instruction reads is in registers all at once,
//! and spilling does not help it.

use crate::api::{Options, Shape, Target};
use gpucc_ir::mach::{Demand, Func, Inst, Node, Operand, Reg, Relation, VRegData};
use gpucc_ir::ssa::Span;
use smallvec::SmallVec;

/// Cells that a copy may move whatever the file is.
const FEW: u32 = 16;

/// Replaces each copy that moves more than three quarters of a file by single ones: everything to new registers, then from
/// there to where it goes. Linear in operands.
pub(crate) fn apart<I: Inst, T: Target<I>>(func: &mut Func<I>, target: &mut T, options: &Options) {
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        let is_large = |node: &Node<I>| node.inst.is_copy() && !fits(func, &node.inst, options);
        if !func.blocks[block].nodes.iter().any(is_large) {
            continue;
        }
        for node in std::mem::take(&mut func.blocks[block].nodes) {
            let pairs = match node.inst.is_copy() && !fits(func, &node.inst, options) {
                true => pairs(&node.inst),
                false => None,
            };
            let Some(pairs) = pairs else {
                func.blocks[block].nodes.push(node);
                continue;
            };
            let mut behind = Vec::with_capacity(pairs.len());
            for (from, to) in pairs {
                let data = data(func, from);
                let shape = Shape::of(&data);
                let between = Reg::virt(func.vregs.push(data));
                let span = node.span;
                let inst = target.copy(between, from, shape);
                func.blocks[block].nodes.push(Node { inst, span });
                let inst = target.copy(to, between, shape);
                behind.push(Node { inst, span });
            }
            func.blocks[block].nodes.extend(behind);
        }
    }
}

fn data<I>(func: &Func<I>, reg: Reg) -> VRegData {
    let file = reg.as_phys().map(|cell| cell.file);
    VRegData {
        demand: demand(func, reg),
        per_lane: match (reg.as_virt(), file) {
            (Some(v), _) => func.vregs[v].per_lane,
            (None, file) => file.is_some_and(|file| func.files.get(file).per_lane),
        },
        prefer: None,
        span: Span::NONE,
    }
}

fn demand<I>(func: &Func<I>, reg: Reg) -> Demand {
    match reg.as_virt() {
        Some(v) => func.vregs[v].demand,
        None => Demand::scalar(reg.cell().file),
    }
}

/// Whether what a copy reads leaves a quarter of every file free.
fn fits<I: Inst>(func: &Func<I>, inst: &I, options: &Options) -> bool {
    let mut cells: SmallVec<[u32; 4]> = SmallVec::from_elem(0, func.files.0.len());
    inst.operands(&mut |operand| {
        if !operand.role.is_def() {
            let demand = demand(func, operand.reg);
            cells[usize::from(demand.file.0)] += operand.part.cells(demand.count).len() as u32;
        }
    });
    func.files.0.iter().enumerate().all(|(index, file)| {
        let row = u32::from(file.row);
        let whole = u32::from(file.cells) / row;
        let rows = options.rows.get(index).map_or(whole, |&rows| u32::from(rows));
        cells[index] <= FEW.max(rows.min(whole) * row * 3 / 4)
    })
}

/// Sources and destinations; `None` where some operand has a place of its own or is a part, which a target's copy of virtual
/// registers cannot say.
fn pairs<I: Inst>(inst: &I) -> Option<Vec<(Reg, Reg)>> {
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let mut free = true;
    inst.operands(&mut |operand: Operand| {
        free &= operand.relation == Relation::Any && operand.part.is_whole();
        match operand.role.is_def() {
            true => to.push(operand.reg),
            false => from.push(operand.reg),
        }
    });
    free.then(|| from.into_iter().zip(to).collect())
}
