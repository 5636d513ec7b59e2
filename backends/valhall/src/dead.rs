//! Which instructions may go when nobody reads their results, for [`remove_dead`].

use crate::inst::{Inst, Op};
use crate::isa::{Opcode, Unit, f};
use gpucc_ir::mach::{Func, Reg};
use gpucc_passes::mach::{Removable, forward_copies, keep_pairs, remove_dead};

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

impl Removable for Inst {
    fn is_root(&self) -> bool {
        match self {
            Inst::Op(op) => !is_pure(op),
            Inst::Copy { dst, .. } => dst.iter().any(|reg| reg.as_virt().is_none()),
            Inst::Entry(_) => false,
        }
    }

    fn keep(&mut self, wanted: &dyn Fn(Reg) -> bool) -> bool {
        match self {
            Inst::Op(op) => {
                let stays = op.dst.iter().chain(&op.write).any(|&reg| wanted(reg));
                if stays {
                    narrow(op, wanted);
                }
                stays
            }
            Inst::Entry(list) => {
                list.retain(|&mut (reg, _)| wanted(reg));
                !list.is_empty()
            }
            Inst::Copy { dst, src } => keep_pairs(dst, src, wanted),
        }
    }
}

/// Removes copies of what never changes, and instructions whose results nobody reads. Linear.
pub fn run(func: &mut Func<Inst>) {
    forward_copies(func);
    remove_dead(func);
}

/// A load brings no more words than somebody reads, as far as these are the last.
fn narrow(op: &mut Op, is_wanted: impl Fn(Reg) -> bool) {
    let rows = match op.opcode {
        Opcode::LdBufferI64 | Opcode::LdBufferI96 | Opcode::LdBufferI128 => {
            [Opcode::LdBufferI32, Opcode::LdBufferI64, Opcode::LdBufferI96]
        }
        Opcode::LoadI64 | Opcode::LoadI96 | Opcode::LoadI128 => {
            [Opcode::LoadI32, Opcode::LoadI64, Opcode::LoadI96]
        }
        _ => return,
    };
    let words = op.write.iter().rposition(|&reg| is_wanted(reg));
    let words = words.map_or(0, |last| last + 1);
    let Some(&row) = rows.get(words.wrapping_sub(1)).filter(|_| words < op.write.len()) else {
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
    use gpucc_ir::mach::{Demand, VReg};
    use gpucc_ir::ssa::Span;
    use smallvec::SmallVec;

    #[test]
    fn only_what_leads_to_an_effect_stays() {
        let mut func = Func::new("dead", FILES);
        let block = func.push_block();
        let v: Vec<VReg> =
            (0..6).map(|_| func.make_vreg(Demand::scalar(GPR), Span::NONE)).collect();
        let r = |k: usize| Reg::from(v[k]);
        let entry = SmallVec::from_slice(&[(r(0), cell(60)), (r(1), cell(61))]);
        let copy = |to: [usize; 2], from: [usize; 2]| Inst::Copy {
            dst: to.map(r).into_iter().collect(),
            src: from.map(r).into_iter().collect(),
        };
        let mov = |to: usize, from: usize| {
            Inst::Op(Box::new(Op::new(Opcode::MovI32).from(&[Src::Reg(r(from))]).to(r(to))))
        };
        let store = Op::new(Opcode::StoreI32).from(&[Src::Pair([r(0), r(0)])]).reading(&[r(4)]);
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
        assert_eq!(body, "entry v0=r60\n    v4 = MOV.i32 v0\n    STORE.i32 @v4 v0:v0");
    }

    #[test]
    fn a_load_brings_the_words_up_to_the_last_that_is_read() {
        let read = |wanted: &[usize]| {
            let mut func = Func::new("narrow", FILES);
            let block = func.push_block();
            let v: Vec<VReg> =
                (0..4).map(|_| func.make_vreg(Demand::scalar(GPR), Span::NONE)).collect();
            let words: Vec<Reg> = v.iter().map(|&v| v.into()).collect();
            let load = Op::new(Opcode::LoadI128)
                .from(&[Src::Bits(0)])
                .with(f::OFFSET, 8)
                .with(f::UNSIGNED, 1)
                .writing(&words);
            func.push(block, Inst::Op(Box::new(load)), Span::NONE);
            for &k in wanted {
                let store = Op::new(Opcode::StoreI32).from(&[Src::Bits(0)]).reading(&[v[k].into()]);
                func.push(block, Inst::Op(Box::new(store)), Span::NONE);
            }
            run(&mut func);
            let first = func.blocks[block].nodes[0].inst.op().unwrap().clone();
            assert_eq!((first.word.get(f::OFFSET), first.word.get(f::UNSIGNED)), (8, 1));
            (first.opcode, first.write.len())
        };
        assert_eq!(read(&[0, 3]), (Opcode::LoadI128, 4));
        assert_eq!(read(&[2]), (Opcode::LoadI96, 3));
        assert_eq!(read(&[0, 1]), (Opcode::LoadI64, 2));
        assert_eq!(read(&[0]), (Opcode::LoadI32, 1));
    }
}
