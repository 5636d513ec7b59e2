//! The file of temporaries for the allocator. isa/rogue-pipeline.md 3.

use crate::inst::{FILES, Inst, Src, Step};
use crate::isa::group::Ops;
use crate::isa::ops::{Bitwise0, Main};
use crate::isa::register::Register;
use gpucc_ir::budget::Budget;
use gpucc_ir::mach::{Access, Cell, Func, Node, Reg, Slot, VReg};
use gpucc_isa::Inst as Word;
use gpucc_regalloc::{Error, Options, Policy, Shape, Target};
use smallvec::SmallVec;

/// Temporaries with which every slot has its task. isa/rogue-pipeline.md 3.3.
pub const FREE_TEMPS: u16 = 24;

/// The allocator's hooks.
struct Hooks {
    /// Registers may go to memory.
    spills: bool,
}

impl Target<Inst> for Hooks {
    fn can_spill(&self, shape: Shape) -> bool {
        self.spills && shape.count == 1
    }

    fn copy(&mut self, to: Reg, from: Reg, shape: Shape) -> Inst {
        let (dst, src) = (SmallVec::from_slice(&[to]), SmallVec::from_slice(&[from]));
        Inst::Copy { dst, src, count: shape.count }
    }

    fn swap(&mut self, a: Cell, b: Cell, shape: Shape) -> Option<Inst> {
        let (a, b) = (Reg::phys(a), Reg::phys(b));
        let (dst, src) = (SmallVec::from_slice(&[a, b]), SmallVec::from_slice(&[b, a]));
        (shape.count == 1).then_some(Inst::Copy { dst, src, count: 1 })
    }

    fn store(&mut self, slot: Slot, value: VReg, _: Shape) -> Inst {
        Inst::Spill { reg: value.into(), access: Access::Store(slot) }
    }

    fn load(&mut self, slot: Slot, value: VReg, _: Shape) -> Inst {
        Inst::Spill { reg: value.into(), access: Access::Load(slot) }
    }

    /// A number is made again rather than kept.
    fn remat(&self, inst: &Inst) -> bool {
        number_of(inst).is_some()
    }

    fn same_operation(&self, a: &Inst, b: &Inst) -> bool {
        match (number_of(a), number_of(b)) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }
}

/// The number that a step puts into a register and does nothing else, in a word of its own or a register that nobody writes.
fn number_of(inst: &Inst) -> Option<(Word, Register)> {
    let Inst::Step(step) = inst else { return None };
    let from = step.group.sources[0];
    let alone = step.ports.len() == 1 && step.ports[0].part.is_whole() && step.group.repeat == 1;
    match &step.group.ops {
        Ops::Bitwise([Some(word), None, None])
            if Bitwise0::of(word.op()) == Bitwise0::Imm32 && alone =>
        {
            Some((*word, from))
        }
        Ops::Main(ops) => match (ops.places(), from) {
            ([Some(word), None, None, None, None, None], Register::Shared(_)) if alone => {
                (Main::of(word.op()) == Main::Mbyp && step.pure).then_some((*word, from))
            }
            _ => None,
        },
        _ => None,
    }
}

/// What a program takes.
pub struct Taken {
    /// One past the highest register.
    pub registers: u32,
    /// Words of scratch memory for registers.
    pub slots: u32,
}

/// Gives every virtual register its place among so many temporaries, and makes groups of copies.
///
/// # Errors
/// See [`Error`].
pub fn allocate(
    func: &mut Func<Inst>,
    budget: Budget,
    spills: bool,
    temps: u16,
) -> Result<Taken, Error> {
    // So many temporaries cost nothing.
    let named = (0..FREE_TEMPS.min(temps)).map(crate::inst::cell).collect();
    let rows = vec![temps];
    let policy = Policy::Tight;
    let options = Options { rows, policy, named, budget, ..Options::for_files(FILES.0) };
    let allocation = gpucc_regalloc::allocate(func, &mut Hooks { spills }, &options)?;
    moves(func);
    Ok(Taken {
        registers: allocation.rows_used.first().copied().unwrap_or(0).into(),
        slots: allocation.slots,
    })
}

/// Copies become moves, two a group where both are read before one is written.
fn moves(func: &mut Func<Inst>) {
    for &block in &func.layout {
        let nodes = &mut func.blocks[block].nodes;
        if !nodes.iter().any(|node| matches!(node.inst, Inst::Copy { .. })) {
            continue;
        }
        for node in std::mem::take(nodes) {
            let Inst::Copy { dst, src, count } = &node.inst else {
                nodes.push(node);
                continue;
            };
            let mut push = |step: Step| nodes.push(Node { inst: step.into(), span: node.span });
            let pairs = dst.iter().zip(src).filter(|(to, from)| to != from);
            let pairs: SmallVec<[(Reg, Reg); 4]> =
                pairs.flat_map(|(to, from)| cells(*to, *from, *count)).collect();
            // The allocator orders every parallel copy of more than an exchange before it hands it back.
            for pair in pairs.chunks(2) {
                match *pair {
                    [(to, from), (other, second)] => {
                        let mut step = Step::copy(to, Src::Reg(from));
                        if let Ops::Main(main) = &mut step.group.ops {
                            main.p1 = Some(Word::usual(Main::Mbyp.op()));
                        }
                        let step = step.from(3, Src::Reg(second)).to(1, other);
                        push(step.select(5, crate::isa::group::Feed::Ft1));
                    }
                    [(to, from)] => push(Step::copy(to, Src::Reg(from))),
                    _ => {}
                }
            }
        }
    }
}

/// The cells of a copy, in an order in which none is written before it is read.
fn cells(to: Reg, from: Reg, count: u16) -> Vec<(Reg, Reg)> {
    let (first, second) = (to.cell().index, from.cell().index);
    let pair = |at: u16| {
        let reg = |index: u16| Reg::phys(crate::inst::cell(index + at));
        (reg(first), reg(second))
    };
    match first > second {
        true => (0..count).rev().map(pair).collect(),
        false => (0..count).map(pair).collect(),
    }
}
