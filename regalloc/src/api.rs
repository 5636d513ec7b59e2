//! What a target gives the allocator and what it gets back.

use gpucc_ir::budget::{Budget, Exceeded};
use gpucc_ir::mach::{Cell, File, FileId, Inst, Part, Reg, Slot, VReg, VRegData};
use std::ops::Range;

/// The hooks of one target: how to copy, spill and recompute.
///
/// Instructions made here are placed by the allocator among the function's own; they may use the
/// registers they are given and nothing else that the allocator manages.
pub trait Target<I: Inst> {
    /// A copy of one register of `file` to another. [`Inst::is_copy`] must hold of it.
    /// A physical register of several cells is named by its first; where `shape` has fewer cells than the register, a part
    /// is copied, and virtual registers are told their cells later.
    fn copy(&mut self, to: Reg, from: Reg, shape: Shape) -> I;

    /// Exchanges two physical registers without another one; `None` when the target cannot. Each
    /// instruction must be a copy by [`Inst::is_copy`] (a two-way parallel copy counts). Asked only
    /// when a cycle of copies must be broken and no cell is free.
    fn swap(&mut self, _a: Cell, _b: Cell, _shape: Shape) -> Option<I> {
        None
    }

    /// Stores `value` to a spill slot: [`Inst::access`] must answer `Store(slot)`.
    /// `value` is a fresh virtual register that nothing else uses afterwards.
    fn store(&mut self, slot: Slot, value: VReg, shape: Shape) -> I;

    /// Loads a spill slot into the fresh register `value`: [`Inst::access`] must answer `Load(slot)`.
    fn load(&mut self, slot: Slot, value: VReg, shape: Shape) -> I;

    /// Where in its row the value of a slot must lie while it is stored. R700 scratch writes do not
    /// swizzle: component k of a slot's row is written from channel k.
    fn slot_phases(&self, _slot: Slot, _file: FileId) -> gpucc_ir::mach::Phases {
        gpucc_ir::mach::Phases::ANY
    }

    /// Whether registers of a shape can be stored and loaded; those that cannot stay in registers.
    fn can_spill(&self, shape: Shape) -> bool {
        shape.count == 1
    }

    /// A file to which registers of a shape go before they go to memory: a [`Target::copy`] moves between the two files.
    /// The same number of cells is taken there. `None`: straight to memory. No file leads back to itself.
    fn spill_file(&self, _shape: Shape) -> Option<FileId> {
        None
    }

    /// True when the instruction may be executed again wherever its result is needed, instead of
    /// keeping or spilling it: a constant, a uniform load. It has one definition, no register uses
    /// and no side effect.
    fn remat(&self, _inst: &I) -> bool {
        false
    }

    /// True when two instructions do the same, operands apart. Proves rematerialisation; a target
    /// whose `remat` is always false need not answer.
    fn same_operation(&self, _a: &I, _b: &I) -> bool {
        false
    }
}

/// The shape of a register that a hook handles.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Shape {
    /// The file.
    pub file: FileId,
    /// Cells.
    pub count: u16,
    /// Distance between cells.
    pub stride: u8,
    /// Each lane has a value of its own: what moves it runs under the mask. Otherwise it ignores the mask.
    pub per_lane: bool,
}

impl Shape {
    /// What a register needs, as the hooks are told.
    #[inline]
    pub fn of(data: &VRegData) -> Shape {
        Shape {
            file: data.demand.file,
            count: data.demand.count,
            stride: data.demand.stride,
            per_lane: data.per_lane,
        }
    }

    /// Cells from the first to the last, those between them included.
    #[inline]
    pub(crate) fn extent(self) -> u32 {
        (u32::from(self.count) - 1) * u32::from(self.stride) + 1
    }

    /// What moves a part of it.
    pub(crate) fn part(self, part: Part) -> Shape {
        let count = part.cells(self.count).len() as u16;
        Shape { count, stride: if part.is_whole() || count > 1 { self.stride } else { 1 }, ..self }
    }
}

/// How cells are chosen among the free ones.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Policy {
    /// As few rows as possible, but rotating among the rows in use, so that a later scheduler finds
    /// few false dependences. At least this many rows may be opened without a reason.
    Compact {
        /// Rows that may be used freely.
        free_rows: u16,
    },
    /// As few cells as possible: a cell that holds something at another time before one that nothing has held yet,
    /// and among those the one that is taken again soonest, so that long gaps stay for what lives long.
    Tight,
}

/// Limits and taste. One entry per file, in the order of the target's files.
#[derive(Clone, Debug)]
pub struct Options {
    /// Usable rows of each file, from row 0 (R700: the GPR budget, at most 124 minus bit bucket).
    pub rows: Vec<u16>,
    /// Rows inside that limit that do not exist, of some files (Valhall at full occupancy: the middle
    /// half of the file). Only operands that a target fixes there lie in them.
    pub holes: Vec<(FileId, Range<u16>)>,
    /// The rows of `holes` exist after all where something would have to be stored to memory without them.
    pub fill_holes: bool,
    /// How cells are chosen.
    pub policy: Policy,
    /// Cells that the target names whatever is done here: to [`Policy::Tight`] they are not new.
    pub named: Vec<Cell>,
    /// Memory and work that allocation may take.
    pub budget: Budget,
}

impl Options {
    /// All rows of all files, compact.
    pub fn for_files(files: &[File]) -> Options {
        let rows = files.iter().map(|file| file.cells / u16::from(file.row)).collect();
        Options {
            rows,
            holes: Vec::new(),
            fill_holes: false,
            policy: Policy::Compact { free_rows: 8 },
            named: Vec::new(),
            budget: Budget::default(),
        }
    }

    /// Whether a row of a file does not exist.
    pub(crate) fn is_hole(&self, file: FileId, row: u16) -> bool {
        self.holes.iter().any(|(of, rows)| *of == file && rows.contains(&row))
    }
}

/// What allocation did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// Cell of each virtual register of the function as it was given, by index; `None` when it was
    /// spilled, recomputed or never used.
    pub cells: Vec<Option<Cell>>,
    /// Rows used of each file: one past the highest row that holds anything.
    pub rows_used: Vec<u16>,
    /// One past the highest spill slot.
    pub slots: u32,
    /// The rows of [`Options::holes`] were used, as [`Options::fill_holes`] allows.
    pub filled_holes: bool,
    /// Registers spilled to slots.
    pub spilled: u32,
    /// Registers spilled to another file; some of them may have gone on to slots.
    pub moved: u32,
    /// Registers recomputed at their uses.
    pub recomputed: u32,
    /// Copies inserted.
    pub copies_inserted: u32,
    /// Copies of the program that vanished.
    pub copies_removed: u32,
    /// Rounds of allocation; 1 without spills.
    pub rounds: u32,
    /// Steps of work: a measure of time that is the same on every machine.
    pub steps: u64,
}

/// Why a function could not be allocated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The function breaks an invariant; the back end that built it is to blame.
    #[error("machine function is not valid for allocation: {0}")]
    Invalid(String),
    /// One instruction's operands do not fit the file together, even with everything else spilled.
    #[error(
        "the operands of one instruction need more of file {file} than its {rows} rows: raise the budget or lower the instruction differently (instruction {instruction})"
    )]
    OutOfRegisters {
        /// The file's name.
        file: &'static str,
        /// Rows available.
        rows: u16,
        /// Number of the instruction in program order.
        instruction: u32,
    },
    /// A register that cannot be spilled (fixed, or several cells in a file without spill code)
    /// lives across too much.
    #[error("the spill budget of {rounds} rounds is used up; this is the allocator's fault")]
    NotConverged {
        /// Rounds tried.
        rounds: u32,
    },
    /// More lives at once, or more work is needed, than the budget has.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// The checker refuses the result: the allocator's fault, never the user's.
    #[error("the register checker refuses the allocation: {0}")]
    Check(#[from] crate::check::Refusal),
}
