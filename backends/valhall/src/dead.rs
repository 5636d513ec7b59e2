//! Removes copies of what never changes, and instructions whose results nobody reads.

use crate::inst::{Inst, Op};
use crate::isa::{Opcode, Unit, f};
use cranelift_entity::{EntityRef, EntitySet};
use gpucc_ir::mach::{Block, Func, Inst as _, Reg, Role, VReg};

/// Whether an instruction does nothing but write its results.
fn is_pure(op: &Op) -> bool {
    let atomic = matches!(
        op.opcode,
        Opcode::AtomReturnI32
            | Opcode::AtomReturnI64
            | Opcode::Atom1ReturnI32
            | Opcode::Atom1ReturnI64
    );
    let results = !op.dst.is_empty() || !op.write.is_empty();
    results
        && !atomic
        && match op.opcode.unit() {
            Unit::Fma | Unit::Cvt | Unit::Sfu => op.target.is_none(),
            Unit::V | Unit::Ls | Unit::T | Unit::Vt => true,
            Unit::None => false,
        }
}

fn is_root(inst: &Inst) -> bool {
    match inst {
        Inst::Op(op) => !is_pure(op),
        Inst::Entry(_) | Inst::Copy { .. } => false,
    }
}

/// Removes both. Linear.
pub fn run(func: &mut Func<Inst>) {
    forward_copies(func);
    drop_dead(func);
}

/// Who reads a copy reads the original, where both are written once: the allocator makes the copies that places ask for.
fn forward_copies(func: &mut Func<Inst>) {
    let mut writes = vec![0u8; func.vregs.len()];
    let mut copies = false;
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            copies |= node.inst.is_copy();
            node.inst.operands(&mut |operand| {
                if let (Some(v), true) = (operand.reg.as_virt(), operand.role.is_def()) {
                    writes[v.index()] = writes[v.index()].saturating_add(1);
                }
            });
        }
    }
    if !copies {
        return;
    }
    let mut original: Vec<Option<VReg>> = vec![None; func.vregs.len()];
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            let Inst::Copy { dst, src } = &node.inst else {
                continue;
            };
            for (to, from) in dst.iter().zip(src) {
                if let (Some(to), Some(from)) = (to.as_virt(), from.as_virt())
                    && writes[to.index()] == 1
                    && writes[from.index()] == 1
                {
                    original[to.index()] = Some(from);
                }
            }
        }
    }
    // A copy's original may be a copy.
    for v in 0..original.len() {
        while let Some(up) = original[v]
            && let Some(above) = original[up.index()]
        {
            original[v] = Some(above);
        }
    }
    for &block in &func.layout {
        for node in &mut func.blocks[block].nodes {
            node.inst.rewrite(&mut |reg, role| match reg.as_virt() {
                Some(v) if role == Role::Use => original[v.index()].unwrap_or(v).into(),
                _ => reg,
            });
        }
    }
}

const NONE: u32 = u32::MAX;

fn drop_dead(func: &mut Func<Inst>) {
    // The last definition of each register, and each definition with the one before it.
    let mut last: Vec<u32> = vec![NONE; func.vregs.len()];
    let mut defs: Vec<(Block, u32, u32)> = Vec::with_capacity(func.vregs.len());
    let mut wanted: EntitySet<VReg> = EntitySet::with_capacity(func.vregs.len());
    let mut work: Vec<VReg> = Vec::new();
    for &block in &func.layout {
        for (index, node) in func.blocks[block].nodes.iter().enumerate() {
            let root = is_root(&node.inst);
            node.inst.operands(&mut |operand| {
                let Some(v) = operand.reg.as_virt() else {
                    return;
                };
                if operand.role.is_def() {
                    defs.push((block, index as u32, last[v.index()]));
                    last[v.index()] = defs.len() as u32 - 1;
                } else if root && wanted.insert(v) {
                    work.push(v);
                }
            });
        }
    }
    while let Some(v) = work.pop() {
        let mut next = last[v.index()];
        while next != NONE {
            let (block, index, before) = defs[next as usize];
            next = before;
            let inst = &func.blocks[block].nodes[index as usize].inst;
            if let Inst::Copy { dst, src } = inst {
                // Each pair of a parallel copy is for itself.
                for (to, from) in dst.iter().zip(src) {
                    if to.as_virt() == Some(v)
                        && let Some(from) = from.as_virt()
                        && wanted.insert(from)
                    {
                        work.push(from);
                    }
                }
                continue;
            }
            inst.operands(&mut |operand| {
                if operand.role == Role::Use
                    && let Some(from) = operand.reg.as_virt()
                    && wanted.insert(from)
                {
                    work.push(from);
                }
            });
        }
    }
    let is_wanted = |reg: Reg| reg.as_virt().is_none_or(|v| wanted.contains(v));
    for &block in &func.layout {
        func.blocks[block]
            .nodes
            .retain_mut(|node| match &mut node.inst {
                Inst::Op(op) => {
                    let stays =
                        !is_pure(op) || op.dst.iter().chain(&op.write).any(|&reg| is_wanted(reg));
                    if stays {
                        narrow(op, is_wanted);
                    }
                    stays
                }
                Inst::Entry(list) => {
                    list.retain(|&mut (reg, _)| is_wanted(reg));
                    !list.is_empty()
                }
                Inst::Copy { dst, src } => {
                    let keep: Vec<bool> = dst.iter().map(|&to| is_wanted(to)).collect();
                    let mut flags = keep.iter();
                    dst.retain(|_| *flags.next().expect("one flag a pair"));
                    let mut flags = keep.iter();
                    src.retain(|_| *flags.next().expect("one flag a pair"));
                    !dst.is_empty()
                }
            });
    }
}

/// A load brings no more words than somebody reads, as far as these are the last.
fn narrow(op: &mut Op, is_wanted: impl Fn(Reg) -> bool) {
    let rows = match op.opcode {
        Opcode::LdBufferI64 | Opcode::LdBufferI96 | Opcode::LdBufferI128 => [
            Opcode::LdBufferI32,
            Opcode::LdBufferI64,
            Opcode::LdBufferI96,
        ],
        Opcode::LoadI64 | Opcode::LoadI96 | Opcode::LoadI128 => {
            [Opcode::LoadI32, Opcode::LoadI64, Opcode::LoadI96]
        }
        _ => return,
    };
    let words = op.write.iter().rposition(|&reg| is_wanted(reg));
    let words = words.map_or(0, |last| last + 1);
    let Some(&row) = rows
        .get(words.wrapping_sub(1))
        .filter(|_| words < op.write.len())
    else {
        return;
    };
    op.write.truncate(words);
    let old = std::mem::replace(&mut op.word, Op::new(row).word);
    op.opcode = row;
    for field in [f::UNSIGNED, f::OFFSET, f::ACCESS] {
        if op.word.has_field(field) {
            op.word = op.word.with(field, old.get(field));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inst::{FILES, GPR, Src, cell};
    use gpucc_ir::mach::Demand;
    use gpucc_ir::ssa::Span;
    use smallvec::SmallVec;

    #[test]
    fn only_what_leads_to_an_effect_stays() {
        let mut func = Func::new("dead", FILES);
        let block = func.push_block();
        let v: Vec<VReg> = (0..6)
            .map(|_| func.make_vreg(Demand::scalar(GPR), Span::NONE))
            .collect();
        let r = |k: usize| Reg::from(v[k]);
        let entry = SmallVec::from_slice(&[(r(0), cell(60)), (r(1), cell(61))]);
        let copy = |to: [usize; 2], from: [usize; 2]| Inst::Copy {
            dst: to.map(r).into_iter().collect(),
            src: from.map(r).into_iter().collect(),
        };
        let mov = |to: usize, from: usize| {
            Inst::Op(Box::new(
                Op::new(Opcode::MovI32).from(&[Src::Reg(r(from))]).to(r(to)),
            ))
        };
        let store = Op::new(Opcode::StoreI32)
            .from(&[Src::Pair([r(0), r(0)])])
            .reading(&[r(4)]);
        for inst in [
            Inst::Entry(entry),
            copy([2, 3], [0, 1]),
            mov(4, 2),
            mov(5, 3),
            Inst::Op(Box::new(store)),
        ] {
            func.push(block, inst, Span::NONE);
        }
        run(&mut func);
        let text = crate::text::print(&func);
        let body = text.split_once("b0:").unwrap().1.trim();
        assert_eq!(
            body,
            "entry v0=r60\n    v4 = MOV.i32 v0\n    STORE.i32 @v4 v0:v0"
        );
    }

    #[test]
    fn a_load_brings_the_words_up_to_the_last_that_is_read() {
        let read = |wanted: &[usize]| {
            let mut func = Func::new("narrow", FILES);
            let block = func.push_block();
            let v: Vec<VReg> = (0..4)
                .map(|_| func.make_vreg(Demand::scalar(GPR), Span::NONE))
                .collect();
            let words: Vec<Reg> = v.iter().map(|&v| v.into()).collect();
            let load = Op::new(Opcode::LoadI128)
                .from(&[Src::Bits(0)])
                .with(f::OFFSET, 8)
                .with(f::UNSIGNED, 1)
                .writing(&words);
            func.push(block, Inst::Op(Box::new(load)), Span::NONE);
            for &k in wanted {
                let store = Op::new(Opcode::StoreI32)
                    .from(&[Src::Bits(0)])
                    .reading(&[v[k].into()]);
                func.push(block, Inst::Op(Box::new(store)), Span::NONE);
            }
            run(&mut func);
            let first = func.blocks[block].nodes[0].inst.op().unwrap().clone();
            assert_eq!(
                (first.word.get(f::OFFSET), first.word.get(f::UNSIGNED)),
                (8, 1)
            );
            (first.opcode, first.write.len())
        };
        assert_eq!(read(&[0, 3]), (Opcode::LoadI128, 4));
        assert_eq!(read(&[2]), (Opcode::LoadI96, 3));
        assert_eq!(read(&[0, 1]), (Opcode::LoadI64, 2));
        assert_eq!(read(&[0]), (Opcode::LoadI32, 1));
    }
}
