//! What the shared machine passes ask of a target's instruction type.

use super::regs::{Cell, Part, Phases, Reg};

/// What an instruction does with an operand, and when.
///
/// An instruction reads its uses, then writes its definitions: a definition may share a cell with
/// a use that ends here, an [`EarlyDef`](Role::EarlyDef) may not.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// Read.
    Use,
    /// Written after all uses were read.
    Def,
    /// Written before the uses are all read (relation `Early` of the register model).
    EarlyDef,
}

impl Role {
    /// Either kind of definition.
    #[inline]
    pub const fn is_def(self) -> bool {
        matches!(self, Role::Def | Role::EarlyDef)
    }
}

/// Where an operand must lie, in relation to others of the same instruction.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Anywhere its register's demand allows.
    Any,
    /// In exactly this cell (payloads, preloaded inputs, fixed results).
    Fixed(Cell),
    /// All operands with the same number lie in one row, in any permutation; distinct registers
    /// in distinct cells (R700 fetch sources, fetch results, exports: swizzles are free).
    SameRow(u8),
    /// All operands with the same number `set` lie at consecutive offsets from one base:
    /// `base + offset` cells (Valhall staging registers, Gen4 message payloads).
    Group {
        /// Which group of this instruction.
        set: u8,
        /// Cells from the base of the group.
        offset: u8,
    },
    /// This definition lies in the cells of the use that is the n-th operand visited (predicated
    /// writes, two-address forms).
    Tied(u8),
}

/// One register operand as an instruction reports it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The register. Once it is a physical cell it is the one where the part begins.
    pub reg: Reg,
    /// Which cells of it. Relation and phases are those of the first of these. A definition of a part leaves the other cells
    /// as they are.
    pub part: Part,
    /// Read or written.
    pub role: Role,
    /// Where it must lie relative to others.
    pub relation: Relation,
    /// Where in its row it may lie (its first cell); beyond what the register itself demands.
    pub phases: Phases,
}

impl Operand {
    /// A use without constraints.
    pub fn use_of(reg: impl Into<Reg>) -> Operand {
        Operand {
            reg: reg.into(),
            part: Part::WHOLE,
            role: Role::Use,
            relation: Relation::Any,
            phases: Phases::ANY,
        }
    }
    /// A definition without constraints.
    pub fn def_of(reg: impl Into<Reg>) -> Operand {
        Operand {
            reg: reg.into(),
            part: Part::WHOLE,
            role: Role::Def,
            relation: Relation::Any,
            phases: Phases::ANY,
        }
    }
    /// The same operand, only some of the cells.
    #[must_use]
    pub fn part(mut self, part: Part) -> Operand {
        self.part = part;
        self
    }
    /// The same operand under a relation.
    #[must_use]
    pub fn with(mut self, relation: Relation) -> Operand {
        self.relation = relation;
        self
    }
    /// The same operand, only at these positions of a row.
    #[must_use]
    pub fn at(mut self, phases: Phases) -> Operand {
        self.phases = phases;
        self
    }
}

/// A spill slot: as many bytes or elements as the target gives one register, numbered from 0.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

/// What a spill instruction does with its slot.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// Writes the one register it uses to the slot.
    Store(Slot),
    /// Reads the slot into the one register it defines.
    Load(Slot),
}

/// An instruction of one machine.
///
/// `operands` and `rewrite` visit the same operands in the same order: uses and definitions in any
/// order of the target's choice, but the same one every time. Non-register operands are not visited.
pub trait Inst: Clone {
    /// Reports every register operand.
    fn operands(&self, visit: &mut dyn FnMut(Operand));

    /// Replaces every register operand by what `map` says, in the order of `operands`. A physical cell is the one where the
    /// operand's [`Part`] begins.
    fn rewrite(&mut self, map: &mut dyn FnMut(Reg, Role) -> Reg);

    /// True for pure copies: the i-th definition receives the i-th use, all read before any is
    /// written (a parallel copy when there are several), and nothing else happens.
    fn is_copy(&self) -> bool {
        false
    }

    /// True when control leaves the block here: nothing may be inserted after it.
    fn ends_block(&self) -> bool {
        false
    }

    /// True when cells of files with clause scope lose their values here.
    fn ends_scope(&self) -> bool {
        false
    }

    /// True when the instruction writes for all lanes, also for those that wait elsewhere.
    fn ignores_mask(&self) -> bool {
        false
    }

    /// The spill slot this instruction moves a register to or from.
    fn access(&self) -> Option<Access> {
        None
    }
}
