//! The register file for the allocator: how to copy, and how to spill to the thread's scratch. G45 vol. 4, 5.10.5.

use crate::abi::Abi;
use crate::inst::{GPR, Inst, Source, Src, files};
use crate::isa::operand::Type;
use crate::isa::ops::Opcode;
use crate::lower::STATELESS;
use gpucc_ir::budget::Budget;
use gpucc_ir::mach::{Cell, Func, Inst as _, Node, Reg, Slot, VReg};
use gpucc_regalloc::{Error, Options, Policy, Shape, Target};
use smallvec::SmallVec;

/// What allocation decided.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Registers {
    /// One past the highest register that is used.
    pub used: u32,
    /// Bytes of scratch of the thread, spills included.
    pub scratch: u32,
    pub spilled: u32,
    pub filled: u32,
}

/// What has its place before allocation.
#[derive(Copy, Clone)]
pub struct Places {
    /// Bytes of scratch that variables and cells take.
    pub scratch: u32,
    /// Bytes of scratch of a doubleword of each lane that it may belong to.
    pub slot_bytes: u32,
    /// Registers behind the payload that variables and stacks of masks have.
    pub taken: u8,
}

/// The allocator's hooks. A slot is a doubleword of each lane that may have it at once.
struct Hooks {
    /// Bytes of scratch that variables take, whole doublewords of all lanes.
    first: u32,
    /// The register with the byte offsets of the lanes.
    lanes: u8,
    /// Bytes of a slot.
    bytes: u32,
    /// Values may go to scratch.
    spills: bool,
}

impl Hooks {
    fn offset(&self, slot: Slot) -> u32 {
        self.first + self.bytes * slot.0
    }
}

impl Target<Inst> for Hooks {
    fn can_spill(&self, shape: Shape) -> bool {
        self.spills && shape.count == 1
    }

    fn copy(&mut self, to: Reg, from: Reg, _shape: Shape) -> Inst {
        Inst::Copy { dst: SmallVec::from_slice(&[to]), src: SmallVec::from_slice(&[from]) }
    }

    fn swap(&mut self, a: Cell, b: Cell, _shape: Shape) -> Option<Inst> {
        let (a, b) = (Reg::phys(a), Reg::phys(b));
        Some(Inst::Copy { dst: SmallVec::from_slice(&[a, b]), src: SmallVec::from_slice(&[b, a]) })
    }

    fn store(&mut self, slot: Slot, value: VReg, _shape: Shape) -> Inst {
        Inst::Write {
            address: Src::Fixed(self.lanes).into(),
            value: Src::Reg(value.into()).into(),
            offset: self.offset(slot),
            surface: STATELESS,
            slot: Some(slot),
        }
    }

    fn load(&mut self, slot: Slot, value: VReg, _shape: Shape) -> Inst {
        Inst::Read {
            dst: value.into(),
            address: Src::Fixed(self.lanes).into(),
            offset: self.offset(slot),
            surface: STATELESS,
            slot: Some(slot),
        }
    }

    /// A move of a number or of the payload is cheaper than a reload.
    fn remat(&self, inst: &Inst) -> bool {
        matches!(inst, Inst::Alu { opcode: Opcode::Mov, sources, .. }
            if sources.iter().all(|source| matches!(source.src, Src::Bits(_) | Src::Scalar { .. })))
    }

    fn same_operation(&self, a: &Inst, b: &Inst) -> bool {
        match (a, b) {
            (
                Inst::Alu { opcode, to, from, saturate, sources, .. },
                Inst::Alu {
                    opcode: opcode2,
                    to: to2,
                    from: from2,
                    saturate: saturate2,
                    sources: sources2,
                    ..
                },
            ) => {
                (opcode, to, from, saturate) == (opcode2, to2, from2, saturate2)
                    && sources == sources2
            }
            _ => false,
        }
    }
}

/// Gives every virtual register its place behind the payload's registers. Copies become moves, and cells become registers.
///
/// # Errors
/// See [`Error`]; where nothing `spills`, that the registers do not do.
pub fn allocate(
    func: &mut Func<Inst>,
    abi: &Abi,
    Places { scratch: variables, slot_bytes: bytes, taken }: Places,
    spills: bool,
    budget: Budget,
) -> Result<Registers, Error> {
    let first = variables.next_multiple_of(abi.lane_bytes());
    let files = files(abi.lanes);
    let payload = (abi.payload() + taken).div_ceil(abi.rows());
    let options = Options {
        policy: Policy::Tight,
        holes: vec![(GPR, 0..u16::from(payload))],
        budget,
        ..Options::for_files(files.0)
    };
    let mut hooks = Hooks { first, lanes: abi.lane_offsets(), bytes, spills };
    let allocation = gpucc_regalloc::allocate(func, &mut hooks, &options)?;
    let used = allocation.rows_used.first().copied().unwrap_or(0).max(payload.into());
    let filled = func
        .layout
        .iter()
        .flat_map(|&block| &func.blocks[block].nodes)
        .filter(|node| matches!(node.inst, Inst::Read { slot: Some(_), .. }))
        .count();
    moves(func);
    registers(func, abi.rows());
    Ok(Registers {
        used: u32::from(used) * u32::from(abi.rows()),
        scratch: if allocation.slots == 0 {
            variables
        } else {
            first.saturating_add(bytes.saturating_mul(allocation.slots))
        },
        spilled: allocation.spilled,
        filled: filled as u32,
    })
}

/// Cells of several registers become the first of these.
fn registers(func: &mut Func<Inst>, rows: u8) {
    if rows == 1 {
        return;
    }
    for &block in &func.layout {
        for node in &mut func.blocks[block].nodes {
            node.inst.rewrite(&mut |reg, _| {
                let cell = reg.cell();
                Reg::phys(Cell { index: cell.index * u16::from(rows), ..cell })
            });
        }
    }
}

/// A move of a register to itself, which the allocator made so.
fn stays(inst: &Inst) -> bool {
    match inst {
        Inst::Alu { opcode: Opcode::Mov, to, dst, from, sources, .. } => {
            let same = |source: &Source| source.src == Src::Reg(*dst) && source.is_plain();
            to == from && *to == Type::Ud && sources.iter().all(same)
        }
        _ => false,
    }
}

/// Copies become moves, exchanges become three exclusive ors; what moves nothing goes.
fn moves(func: &mut Func<Inst>) {
    for &block in &func.layout {
        let nodes = &mut func.blocks[block].nodes;
        nodes.retain(|node| !stays(&node.inst));
        if !nodes.iter().any(|node| matches!(node.inst, Inst::Copy { .. })) {
            continue;
        }
        for node in std::mem::take(nodes) {
            let Inst::Copy { dst, src } = &node.inst else {
                nodes.push(node);
                continue;
            };
            let mut push = |opcode, dst: Reg, sources: &[Reg]| {
                let sources = sources.iter().map(|&reg| Source::from(Src::Reg(reg))).collect();
                let (to, saturate) = (Type::Ud, false);
                let inst = Inst::Alu { opcode, to, dst, from: to, saturate, sources };
                nodes.push(Node { inst, span: node.span });
            };
            if let ([a, b], [c, d]) = (&dst[..], &src[..])
                && a == d
                && b == c
            {
                for (to, other) in [(*a, *b), (*b, *a), (*a, *b)] {
                    push(Opcode::Xor, to, &[to, other]);
                }
                continue;
            }
            // The allocator orders every other parallel copy before it hands it back.
            for (&to, &from) in dst.iter().zip(src) {
                push(Opcode::Mov, to, &[from]);
            }
        }
    }
}
