//! The machine instruction: a row of the table with its modifiers, and operands apart for the allocator.
//!
//! Before allocation operands are virtual registers, after it cells of `r0`..`r63`. Every register is 32
//! bits; a 64-bit operand is an aligned pair of them, an f16 is a half that the word's swizzle or widen
//! field selects.

use crate::fau::Read;
use crate::isa::Opcode;
use gpucc_ir::mach::{
    self, Access, Block, Cell, File, FileId, Files, Operand, Phases, Reg, Relation, Role, Scope,
};
use gpucc_passes::mach::Effects;
use smallvec::SmallVec;

/// General-purpose registers: 64 of 32 bits, in rows of an aligned pair (isa/valhall_rogue.md 1.2, 1.9).
pub const GPR: FileId = FileId(0);
/// The register files of the machine.
pub const FILES: Files =
    Files(&[File { name: "r", cells: 64, row: 2, per_lane: true, scope: Scope::Function }]);

/// The cell of a register number, 0..=63.
pub const fn cell(register: u8) -> Cell {
    Cell { file: GPR, index: register as u16 }
}

/// A word of the fast access uniforms: an index into the list of contents that lowering makes. Which
/// word of which page it becomes is decided by [`crate::fau`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FauRef(pub u16);

/// What programs read of that which the machine knows by itself (isa/valhall_rogue.md 1.2). Each is 64 bits.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Special {
    /// What ATEST wants.
    AtestDatum,
    /// Address of the places of samples: x and y of each in 256ths of a pixel, 16 bits each.
    SamplePositions,
    /// Blend descriptor of a render target, 0..=7.
    BlendDescriptor(u8),
    /// Base of this thread's private memory.
    ThreadLocalPointer,
    /// Base of the workgroup's memory.
    WorkgroupLocalPointer,
    /// Lane within the warp.
    LaneId,
    /// Address of the next instruction.
    ProgramCounter,
}

impl Special {
    /// The FAU page it stands in.
    pub const fn page(self) -> u32 {
        match self {
            Special::AtestDatum | Special::SamplePositions | Special::BlendDescriptor(_) => 0,
            Special::ThreadLocalPointer | Special::WorkgroupLocalPointer => 1,
            Special::LaneId | Special::ProgramCounter => 3,
        }
    }
    /// Its 64-bit slot within the page.
    pub const fn slot(self) -> u32 {
        match self {
            Special::LaneId | Special::ThreadLocalPointer => 1,
            Special::WorkgroupLocalPointer => 3,
            Special::AtestDatum => 5,
            Special::SamplePositions => 6,
            Special::BlendDescriptor(target) => 8 + target as u32,
            Special::ProgramCounter => 15,
        }
    }
    /// One word of it, 0 or 1, as a source reads it.
    pub const fn read(self, word: u8) -> Read {
        Read::Special { page: self.page() as u8, slot: self.slot() as u8, word }
    }
}

/// A place that a source reads.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Src {
    /// A 32-bit register.
    Reg(Reg),
    /// A 64-bit value in an aligned pair: low word first.
    Pair([Reg; 2]),
    /// A 64-bit source of which the instruction reads the low word alone: an even register.
    Low(Reg),
    /// A word of the fast access uniforms.
    Fau(FauRef),
    /// 64 bits of them: this entry of the list and the next one, in one aligned slot.
    FauPair(FauRef),
    /// One word (0 or 1) of a special.
    Special(Special, u8),
    /// All 64 bits of a special.
    Special64(Special),
    /// A constant; in a 64-bit source it is zero-extended. [`crate::constants`] finds its form. The bits
    /// are those of the whole word that the source's modifiers then select from.
    Bits(u32),
    /// A word of uniforms, constants or specials in its final place; the low one in a 64-bit source.
    Fast(Read),
}

impl Src {
    /// The register, if it is one.
    pub const fn as_reg(self) -> Option<Reg> {
        match self {
            Src::Reg(reg) => Some(reg),
            _ => None,
        }
    }
}

impl From<mach::VReg> for Src {
    fn from(v: mach::VReg) -> Src {
        Src::Reg(v.into())
    }
}

/// One instruction of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// The row.
    pub opcode: Opcode,
    /// The row with its modifiers and immediates. [`crate::flow`] fills in flow and slot, [`crate::emit`] operands, counts of
    /// staging registers and page.
    pub word: gpucc_isa::Inst,
    /// Where the result goes: nothing, a register, or an aligned pair.
    pub dst: SmallVec<[Reg; 2]>,
    /// As many sources as the row has.
    pub src: SmallVec<[Src; 4]>,
    /// Sources whose registers nobody reads afterwards, one bit each: [`crate::flow`] marks them.
    pub last: u8,
    /// Staging registers read, consecutive, aligned when there are several.
    pub read: SmallVec<[Reg; 4]>,
    /// Staging registers written, consecutive, aligned when there are several.
    pub write: SmallVec<[Reg; 4]>,
    /// Staging registers read and written are the same ones, in the same order (ATEST, ZS_EMIT, LD_TILE: one field).
    pub tied: bool,
    /// BLEND: the second source, in r4 on.
    pub second: SmallVec<[Reg; 4]>,
    /// Registers that the instruction may overwrite beside its results, each with a name for it that
    /// nobody reads.
    pub clobbers: SmallVec<[(Reg, u8); 2]>,
    /// Where a branch leads.
    pub target: Option<Block>,
    /// A branch that lanes of one warp may take differently.
    pub divergent: bool,
    /// This is the allocator's own spill or reload.
    pub spill: Option<mach::Slot>,
    /// What memory a message touches, in classes that lowering chooses; `None` is anything.
    pub effects: Option<Effects>,
}

impl Op {
    /// A row with its usual modifiers and no operands.
    pub fn new(opcode: Opcode) -> Op {
        Op {
            opcode,
            word: gpucc_isa::Inst::usual(opcode.op()),
            dst: SmallVec::new(),
            src: SmallVec::new(),
            last: 0,
            read: SmallVec::new(),
            write: SmallVec::new(),
            tied: false,
            second: SmallVec::new(),
            clobbers: SmallVec::new(),
            target: None,
            divergent: false,
            spill: None,
            effects: None,
        }
    }
    /// With a destination of 32 bits.
    #[must_use]
    pub fn to(mut self, dst: impl Into<Reg>) -> Op {
        self.dst = SmallVec::from_slice(&[dst.into()]);
        self
    }
    /// With these sources.
    #[must_use]
    pub fn from(mut self, src: &[Src]) -> Op {
        self.src = SmallVec::from_slice(src);
        self
    }
    /// With a modifier.
    ///
    /// # Panics
    /// When the row has no such field or the field no such value: an error in the lowering.
    #[must_use]
    #[track_caller]
    pub fn with(mut self, field: gpucc_isa::FieldId, value: u32) -> Op {
        self.word = self.word.with(field, value);
        self
    }
    /// With staging registers that are read.
    #[must_use]
    pub fn reading(mut self, registers: &[Reg]) -> Op {
        self.read = SmallVec::from_slice(registers);
        self
    }
    /// With staging registers that are written.
    #[must_use]
    pub fn writing(mut self, registers: &[Reg]) -> Op {
        self.write = SmallVec::from_slice(registers);
        self
    }
}

/// One machine instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Inst {
    /// These registers hold their values when the program starts.
    Entry(SmallVec<[(Reg, Cell); 4]>),
    /// A parallel copy.
    Copy {
        /// Destinations.
        dst: SmallVec<[Reg; 2]>,
        /// Sources.
        src: SmallVec<[Reg; 2]>,
    },
    /// An instruction of the table.
    Op(Box<Op>),
}

impl Inst {
    /// The instruction of the table, if it is one.
    pub fn op(&self) -> Option<&Op> {
        match self {
            Inst::Op(op) => Some(op),
            _ => None,
        }
    }
}

/// Numbers of the groups of registers within one instruction.
mod set {
    pub const READ: u8 = 0;
    pub const WRITE: u8 = 1;
    pub const SOURCE: u8 = 2;
    pub const DST: u8 = 6;
}

/// The coverage mask's register. isa/valhall_rogue.md 1.10.
const COVERAGE: u8 = 60;

/// The register that source `index` must be in.
fn fixed_source(opcode: Opcode, index: usize) -> Option<Cell> {
    matches!((opcode, index), (Opcode::Atest, 0) | (Opcode::ZsEmit, 2) | (Opcode::Blend, 1))
        .then_some(cell(COVERAGE))
}

/// Operand `offset` of a group of `len` registers: alone it may be anywhere, the first of several is even.
fn grouped(operand: Operand, set: u8, offset: usize, len: usize) -> Operand {
    if len == 1 {
        return operand;
    }
    let operand = operand.with(Relation::Group { set, offset: offset as u8 });
    operand.at(Phases::only((offset % 2) as u8))
}

impl mach::Inst for Inst {
    fn operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            Inst::Entry(list) => {
                for &(reg, cell) in list {
                    visit(Operand::def_of(reg).with(Relation::Fixed(cell)));
                }
            }
            Inst::Copy { dst, src } => {
                for &src in src {
                    visit(Operand::use_of(src));
                }
                for &dst in dst {
                    visit(Operand::def_of(dst));
                }
            }
            Inst::Op(op) => {
                for (k, &reg) in op.read.iter().enumerate() {
                    let read = Operand::use_of(reg);
                    visit(match op.opcode {
                        Opcode::Blend => read.with(Relation::Fixed(cell(k as u8))),
                        _ => grouped(read, set::READ, k, op.read.len()),
                    });
                }
                for (k, &reg) in (4..).zip(&op.second) {
                    visit(Operand::use_of(reg).with(Relation::Fixed(cell(k))));
                }
                for (number, src) in (set::SOURCE..).zip(&op.src) {
                    match *src {
                        Src::Reg(reg) => {
                            let index = usize::from(number - set::SOURCE);
                            let source = Operand::use_of(reg);
                            visit(match fixed_source(op.opcode, index) {
                                Some(cell) => source.with(Relation::Fixed(cell)),
                                None => source,
                            });
                        }
                        Src::Low(reg) => visit(Operand::use_of(reg).at(Phases::only(0))),
                        Src::Pair(pair) => {
                            for (k, reg) in pair.into_iter().enumerate() {
                                visit(grouped(Operand::use_of(reg), number, k, 2));
                            }
                        }
                        Src::Fau(_)
                        | Src::FauPair(_)
                        | Src::Special(..)
                        | Src::Special64(_)
                        | Src::Bits(_)
                        | Src::Fast(_) => {}
                    }
                }
                for (k, &reg) in op.write.iter().enumerate() {
                    let def = Operand::def_of(reg);
                    if op.tied {
                        visit(def.with(Relation::Tied(k as u8)));
                    } else if matches!(op.opcode, Opcode::Atest | Opcode::ZsEmit) {
                        visit(def.with(Relation::Fixed(cell(COVERAGE))));
                    } else {
                        visit(grouped(def, set::WRITE, k, op.write.len()));
                    }
                }
                for (k, &reg) in op.dst.iter().enumerate() {
                    visit(grouped(Operand::def_of(reg), set::DST, k, op.dst.len()));
                }
                for &(reg, at) in &op.clobbers {
                    visit(Operand::def_of(reg).with(Relation::Fixed(cell(at))));
                }
            }
        }
    }

    fn rewrite(&mut self, map: &mut dyn FnMut(Reg, Role) -> Reg) {
        match self {
            Inst::Entry(list) => {
                for (reg, _) in list {
                    *reg = map(*reg, Role::Def);
                }
            }
            Inst::Copy { dst, src } => {
                for src in src {
                    *src = map(*src, Role::Use);
                }
                for dst in dst {
                    *dst = map(*dst, Role::Def);
                }
            }
            Inst::Op(op) => {
                for reg in op.read.iter_mut().chain(&mut op.second) {
                    *reg = map(*reg, Role::Use);
                }
                for src in &mut op.src {
                    match src {
                        Src::Reg(reg) | Src::Low(reg) => *reg = map(*reg, Role::Use),
                        Src::Pair(pair) => {
                            for reg in pair {
                                *reg = map(*reg, Role::Use);
                            }
                        }
                        Src::Fau(_)
                        | Src::FauPair(_)
                        | Src::Special(..)
                        | Src::Special64(_)
                        | Src::Bits(_)
                        | Src::Fast(_) => {}
                    }
                }
                for reg in &mut op.write {
                    *reg = map(*reg, Role::Def);
                }
                for reg in &mut op.dst {
                    *reg = map(*reg, Role::Def);
                }
                for (reg, _) in &mut op.clobbers {
                    *reg = map(*reg, Role::Def);
                }
            }
        }
    }

    fn is_copy(&self) -> bool {
        matches!(self, Inst::Copy { .. })
    }

    fn ends_block(&self) -> bool {
        self.op().is_some_and(|op| op.target.is_some())
    }

    fn access(&self) -> Option<Access> {
        let op = self.op()?;
        let slot = op.spill?;
        Some(if op.read.is_empty() { Access::Load(slot) } else { Access::Store(slot) })
    }
}
