//! The verifier of machine functions.
//!
//! # Invariants
//! 1. Every block of the layout is placed once; every edge leads to a placed block.
//! 2. Every register is declared and its file exists; physical cells lie within their file.
//! 3. A demand has `count >= 1`, `stride >= 1`, some phase within the row, and fits its file.
//! 4. Nothing follows an instruction that ends its block.
//! 5. `Tied` stands on a definition and names a use of the same instruction; operands of one
//!    `SameRow` or `Group` set are of one file; phases of operands are possible.
//! 6. A copy has as many definitions as uses, pairwise of the same file and count, and of the same stride where parts of
//!    several cells are copied, while they are virtual. A definition has as many cells as the use that it is tied to.
//! 7. A spill access moves exactly one register.
//! 8. Every virtual register that is used is defined somewhere, and on every path before it is used: over
//!    the edges on which its value lives, none is alive where the function begins. The same of each cell.
//! 9. A part lies within its register; of a physical cell it begins there.

use super::flow::Adjacency;
use super::func::{Block, Edges, Func};
use super::inst::{Access, Inst, Operand, Relation, Role};
use super::live::{Pieces, Scan};
use super::regs::{Demand, Files, Part, Reg, VReg};
use cranelift_entity::{EntityRef, EntitySet};

/// A broken invariant of a machine function: an error of whoever built or rewrote it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", place(.at))]
pub struct Fault {
    /// Block and index of the instruction, where there is one.
    pub at: Option<(Block, u32)>,
    /// The invariant and who breaks it.
    pub message: String,
}

fn place(at: &Option<(Block, u32)>) -> String {
    match at {
        Some((block, index)) => format!(" ({block}, instruction {index})"),
        None => String::new(),
    }
}

/// Checks every invariant of the module's list. Linear.
pub fn verify<I: Inst>(func: &Func<I>) -> Result<(), Fault> {
    let whole = |message: String| Fault { at: None, message };
    let mut placed: EntitySet<Block> = EntitySet::with_capacity(func.blocks.len());
    for &block in &func.layout {
        if block.index() >= func.blocks.len() {
            return Err(whole(format!("{block} is in the layout but does not exist")));
        }
        if !placed.insert(block) {
            return Err(whole(format!("{block} is placed twice")));
        }
    }
    for (v, data) in func.vregs.iter() {
        demand(data.demand, func.files).map_err(|message| whole(format!("{v}: {message}")))?;
    }
    let mut defined = EntitySet::with_capacity(func.vregs.len());
    let mut operands = Vec::new();
    let mut parts = Vec::new();
    let mut any_virtual = false;
    for &block in &func.layout {
        let data = &func.blocks[block];
        for &to in data.logical.iter().chain(&data.physical) {
            if !placed.contains(to) {
                return Err(whole(format!("{block} leads to {to}, which is not placed")));
            }
        }
        for (index, node) in data.nodes.iter().enumerate() {
            let fail = |message: String| Fault { at: Some((block, index as u32)), message };
            if node.inst.ends_block() && index + 1 != data.nodes.len() {
                return Err(fail("an instruction follows one that ends the block".into()));
            }
            operands.clear();
            node.inst.operands(&mut |operand| operands.push(operand));
            instruction(func, &node.inst, &operands).map_err(fail)?;
            for operand in &operands {
                let Some(v) = operand.reg.as_virt() else { continue };
                any_virtual = true;
                if operand.role.is_def() {
                    defined.insert(v);
                }
                if !operand.part.is_whole() {
                    parts.push((v.index(), func.vregs[v].demand.count, operand.part));
                }
            }
        }
    }
    if !any_virtual {
        return Ok(());
    }
    let never = |v: VReg, block: Block, index: usize| Fault {
        at: Some((block, index as u32)),
        message: format!("{v} is never defined"),
    };
    match undefined(func, &parts, &defined) {
        Err((v, block, index)) => Err(never(v, block, index)),
        Ok(Some(v)) => {
            Err(whole(format!("{v} is read on a path on which nothing was written to it")))
        }
        Ok(None) => Ok(()),
    }
}

/// A virtual register that is alive where the function begins, or the first use of one that nothing defines.
fn undefined<I: Inst>(
    func: &Func<I>,
    parts: &[(usize, u16, Part)],
    defined: &EntitySet<VReg>,
) -> Result<Option<VReg>, (VReg, Block, usize)> {
    let pieces = Pieces::of(func.vregs.len(), parts.iter().copied());
    let mut scan = Scan::new(pieces.count());
    let mut written = Vec::new();
    for (at, &block) in func.layout.iter().enumerate() {
        for (index, node) in func.blocks[block].nodes.iter().enumerate() {
            let mut missing = None;
            // What an instruction reads it reads before it writes.
            node.inst.operands(&mut |operand| {
                let Some(v) = operand.reg.as_virt() else { return };
                if operand.role.is_def() {
                    written.push((v, operand.part));
                } else if operand.role == Role::Use {
                    pieces.each(v.index(), operand.part, |number| scan.read(at, number));
                }
                if !defined.contains(v) {
                    missing = Some(v);
                }
            });
            if let Some(v) = missing {
                return Err((v, block, index));
            }
            for (v, part) in written.drain(..) {
                pieces.each(v.index(), part, |number| scan.write(at, number));
            }
        }
    }
    let preds = [Edges::Logical, Edges::Physical]
        .map(|edges| Adjacency::successors(func, edges).reversed());
    let preds = |number: usize| {
        let v = VReg::new(pieces.register(number));
        &preds[usize::from(!func.vregs[v].per_lane)]
    };
    let hold = |_| Ok::<(), std::convert::Infallible>(());
    let Ok(at_start) = scan.solve(func.layout.len(), preds, hold);
    let first = (!func.layout.is_empty()).then(|| at_start.of(0).first());
    Ok(first.flatten().map(|&number| VReg::new(pieces.register(number as usize))))
}

fn demand(demand: Demand, files: Files) -> Result<(), String> {
    let file = files.0.get(demand.file.0 as usize).ok_or("its file does not exist")?;
    if demand.count == 0 || demand.stride == 0 {
        return Err("count and stride are at least 1".into());
    }
    if demand.extent() > u32::from(file.cells) {
        return Err(format!(
            "it needs {} cells of {}, which has {}",
            demand.extent(),
            file.name,
            file.cells
        ));
    }
    possible(demand.phases.0, file.row)
}

fn possible(phases: u16, row: u8) -> Result<(), String> {
    if u32::from(phases) & ((1u32 << row) - 1) == 0 {
        return Err(format!("no phase of {phases:#b} is in a row of {row}"));
    }
    Ok(())
}

fn instruction<I: Inst>(func: &Func<I>, inst: &I, operands: &[Operand]) -> Result<(), String> {
    // The file of each SameRow and Group set.
    let mut sets: [[Option<u8>; 16]; 2] = [[None; 16]; 2];
    for operand in operands {
        let reg_demand = demand_of(func, operand.reg)?;
        let file = func.files.get(reg_demand.file);
        possible(operand.phases.0, file.row)?;
        part(operand, reg_demand)?;
        let (kind, set) = match operand.relation {
            Relation::Any => continue,
            Relation::Fixed(cell) => {
                if cell.file != reg_demand.file || cell.index >= file.cells {
                    return Err("a fixed cell lies outside the register's file".into());
                }
                continue;
            }
            Relation::SameRow(set) => (0, set),
            Relation::Group { set, .. } => (1, set),
            Relation::Tied(index) => {
                let target = operands.get(index as usize);
                if !operand.role.is_def() || target.is_none_or(|target| target.role != Role::Use) {
                    return Err("a tied operand is a definition that names a use".into());
                }
                if let Some(target) = target
                    && [operand, target].iter().all(|side| side.reg.as_virt().is_some())
                    && cells(operand, reg_demand) != cells(target, demand_of(func, target.reg)?)
                {
                    return Err("a tied operand has as many cells as the use it names".into());
                }
                continue;
            }
        };
        let entry = sets[kind].get_mut(set as usize).ok_or("set numbers are below 16")?;
        if *entry.get_or_insert(reg_demand.file.0) != reg_demand.file.0 {
            return Err("operands of one set are of different files".into());
        }
    }
    let uses = || operands.iter().filter(|operand| operand.role == Role::Use);
    let defs = || operands.iter().filter(|operand| operand.role.is_def());
    if inst.is_copy() {
        if uses().count() != defs().count() {
            return Err("a copy has as many definitions as uses".into());
        }
        for (from, to) in uses().zip(defs()) {
            let wholes = from.part.is_whole() && to.part.is_whole();
            let of = |side: &Operand| -> Result<(Demand, u16), String> {
                let demand = demand_of(func, side.reg)?;
                Ok((demand, cells(side, demand)))
            };
            let ((from, count), (to, to_count)) = (of(from)?, of(to)?);
            let strides = wholes || count == 1 || from.stride == to.stride;
            let physical = |reg: Reg| reg.as_phys().is_some();
            // The allocator may keep a register in another file.
            let any_physical = operands.iter().any(|operand| physical(operand.reg));
            if !any_physical && (from.file != to.file || count != to_count || !strides) {
                return Err("a copy moves between registers of one file and count".into());
            }
        }
    }
    match inst.access() {
        Some(Access::Store(_)) if uses().count() != 1 => {
            Err("a spill store uses exactly one register".into())
        }
        Some(Access::Load(_)) if defs().count() != 1 => {
            Err("a spill load defines exactly one register".into())
        }
        _ => Ok(()),
    }
}

fn cells(operand: &Operand, demand: Demand) -> u16 {
    operand.part.cells(demand.count).len() as u16
}

fn part(operand: &Operand, demand: Demand) -> Result<(), String> {
    let count = match operand.reg.as_virt() {
        Some(_) => demand.count,
        None if operand.part.placed() == operand.part => return Ok(()),
        None => 0,
    };
    if operand.part != Part::WHOLE && operand.part.cells(count).end > count {
        return Err(format!("the part {} lies outside its register", operand.part));
    }
    Ok(())
}

/// The demand behind an operand; a physical cell counts as a scalar.
fn demand_of<I>(func: &Func<I>, reg: Reg) -> Result<Demand, String> {
    if let Some(v) = reg.as_virt() {
        return Ok(func.vregs.get(v).ok_or_else(|| format!("{v} is not declared"))?.demand);
    }
    let cell = reg.cell();
    let file = func.files.0.get(cell.file.0 as usize).ok_or("a cell's file does not exist")?;
    if cell.index >= file.cells {
        return Err(format!("{}[{}] is outside its file", file.name, cell.index));
    }
    Ok(Demand::scalar(cell.file))
}

#[cfg(test)]
mod tests;
