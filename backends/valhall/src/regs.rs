//! The register file as the allocator sees it: the split file of 32, then 64, then spills. isa/valhall_rogue.md 1.9.

use crate::fau::Read;
use crate::flow;
use crate::inst::{FILES, GPR, Inst, Op, Special, Src, cell};
use crate::isa::{Opcode, f};
use gpucc_ir::budget::Budget;
use gpucc_ir::mach::{Cell, Func, Node, Reg, Slot, VReg};
use gpucc_passes::mach::Effects;
use gpucc_regalloc::{Error, Options, Policy, Shape, Target};
use smallvec::SmallVec;
use std::ops::Range;

/// Rows (pairs of registers) that do not exist when 32 registers are allocated: r16 to r47.
const MIDDLE: Range<u16> = 8..24;
/// Their registers, one bit each.
pub const MIDDLE_CELLS: u64 = (1 << 48) - (1 << 16);
/// Memory access that goes to memory whatever caches say: that of private memory.
const FORCE: u32 = 3;
/// Bytes of private memory that the offset of an access reaches.
pub const REACH: u32 = 1 << 15;
/// The class of private memory in [`Op::effects`].
pub const PRIVATE: u32 = 1 << 30;

/// What allocation decided.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Registers that the hardware allocates to a thread: 32 or 64.
    pub work: u32,
    /// Bytes of private memory, spills included.
    pub private_bytes: u32,
    /// Values spilled.
    pub spilled: u32,
}

/// The allocator's hooks. A slot is a word of private memory: words never cross 16 bytes, as packed thread-local
/// storage demands.
struct Hooks {
    /// Bytes of private memory that variables take; a multiple of 4.
    first: u32,
}

impl Hooks {
    fn access(&self, opcode: Opcode, slot: Slot) -> Op {
        // Beyond the reach of an offset nothing is right: `allocate` looks at the number of slots.
        let offset = (self.first + 4 * slot.0) as u16;
        let mut op = Op::new(opcode)
            .from(&[Src::Fast(Special::ThreadLocalPointer.read(0))])
            .with(f::OFFSET, u32::from(offset))
            .with(f::ACCESS, FORCE);
        op.spill = Some(slot);
        let (reads, writes) = match opcode {
            Opcode::StoreI32 => (0, PRIVATE),
            _ => (PRIVATE, 0),
        };
        op.effects = Some(Effects { reads, writes });
        op
    }
}

impl Target<Inst> for Hooks {
    fn copy(&mut self, to: Reg, from: Reg, _shape: Shape) -> Inst {
        Inst::Copy { dst: SmallVec::from_slice(&[to]), src: SmallVec::from_slice(&[from]) }
    }

    fn swap(&mut self, a: Cell, b: Cell, _shape: Shape) -> Option<Inst> {
        let (a, b) = (Reg::phys(a), Reg::phys(b));
        Some(Inst::Copy { dst: SmallVec::from_slice(&[a, b]), src: SmallVec::from_slice(&[b, a]) })
    }

    fn store(&mut self, slot: Slot, value: VReg, _shape: Shape) -> Inst {
        let op = self.access(Opcode::StoreI32, slot);
        Inst::Op(Box::new(op.reading(&[value.into()])))
    }

    fn load(&mut self, slot: Slot, value: VReg, _shape: Shape) -> Inst {
        let op = self.access(Opcode::LoadI32, slot);
        Inst::Op(Box::new(op.writing(&[value.into()])))
    }

    /// An instruction of the execution engine that reads no register is cheaper than a reload.
    fn remat(&self, inst: &Inst) -> bool {
        inst.op().is_some_and(|op| {
            !op.opcode.is_message()
                && op.dst.len() == 1
                && op.target.is_none()
                && op.src.iter().all(|source| matches!(source, Src::Fast(_)))
        })
    }

    fn same_operation(&self, a: &Inst, b: &Inst) -> bool {
        match (a.op(), b.op()) {
            (Some(a), Some(b)) => a.opcode == b.opcode && a.word == b.word && a.src == b.src,
            _ => false,
        }
    }
}

/// Gives every virtual register its place: in the 32 registers of full occupancy, else in 64, else in memory. Copies
/// become moves.
///
/// # Errors
/// See [`Error`].
pub fn allocate(
    func: &mut Func<Inst>,
    private_bytes: u32,
    budget: Budget,
) -> Result<Registers, Error> {
    let first = private_bytes.next_multiple_of(4);
    let options = Options {
        policy: Policy::Tight,
        holes: vec![(GPR, MIDDLE)],
        fill_holes: true,
        named: named(func),
        budget,
        ..Options::for_files(FILES.0)
    };
    let allocation = gpucc_regalloc::allocate(func, &mut Hooks { first }, &options)?;
    let work = if allocation.filled_holes { 64 } else { 32 };
    let private_bytes = match allocation.slots {
        0 => private_bytes,
        slots => first + 4 * slots,
    };
    moves(func);
    Ok(Registers { work, private_bytes, spilled: allocation.spilled })
}

/// Registers that the program names whatever happens: the return address of blend shaders.
fn named(func: &Func<Inst>) -> Vec<Cell> {
    let blends = func.layout.iter().any(|&block| {
        let mut nodes = func.blocks[block].nodes.iter();
        nodes.any(|node| node.inst.op().is_some_and(|op| op.opcode == Opcode::Blend))
    });
    blends.then(|| cell(flow::LINK)).into_iter().collect()
}

/// Copies become moves, exchanges become three exclusive ors; what only allocation needed goes.
fn moves(func: &mut Func<Inst>) {
    for &block in &func.layout {
        let nodes = &mut func.blocks[block].nodes;
        let plain = |node: &Node<Inst>| matches!(node.inst, Inst::Op(_));
        if nodes.iter().all(plain) {
            continue;
        }
        for node in std::mem::take(nodes) {
            let (dst, src) = match &node.inst {
                Inst::Op(_) => {
                    nodes.push(node);
                    continue;
                }
                Inst::Entry(_) => continue,
                Inst::Copy { dst, src } => (dst, src),
            };
            let mut push = |op: Op| {
                nodes.push(Node { inst: Inst::Op(Box::new(op)), span: node.span });
            };
            if let ([a, b], [c, d]) = (&dst[..], &src[..])
                && a == d
                && b == c
            {
                for (to, other) in [(*a, *b), (*b, *a), (*a, *b)] {
                    let zero = Src::Fast(Read::ZERO);
                    push(
                        Op::new(Opcode::LshiftXorI32)
                            .from(&[Src::Reg(to), zero, Src::Reg(other)])
                            .to(to),
                    );
                }
                continue;
            }
            // The allocator orders every other parallel copy before it hands it back.
            for (&to, &from) in dst.iter().zip(src) {
                push(Op::new(Opcode::MovI32).from(&[Src::Reg(from)]).to(to));
            }
        }
    }
}
