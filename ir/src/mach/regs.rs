//! Register files as arrays of cells, and the two kinds of register operands: virtual and physical.

use cranelift_entity::entity_impl;
use std::fmt;
use std::ops::Range;

/// A register file of one target: an index into its [`Files`].
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(pub u8);

/// How long a cell keeps its value.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Until it is overwritten.
    Function,
    /// Until the clause ends (an instruction with [`Inst::ends_scope`](super::Inst::ends_scope)).
    Clause,
}

/// One register file: `cells` cells in rows of `row`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// The prefix of its registers in text: lower or upper case letters, not `v`, `b` or `bb`.
    pub name: &'static str,
    /// Number of cells.
    pub cells: u16,
    /// Cells per row (R700 4, Gen4 8, Valhall 2, Rogue 1); at most 16.
    pub row: u8,
    /// Its values are per lane unless they say otherwise.
    pub per_lane: bool,
    /// How long cells keep their values.
    pub scope: Scope,
}

/// All register files of a target; [`FileId`] indexes them.
#[derive(Copy, Clone, Debug)]
pub struct Files(pub &'static [File]);

impl Files {
    /// The file of an id. Ids are made by the target that owns the table, so this indexes.
    #[inline]
    pub fn get(&self, id: FileId) -> &'static File {
        &self.0[id.0 as usize]
    }
    /// Ids of all files, in table order.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.0.len() as u8).map(FileId)
    }
    /// Names of registers of these files.
    pub fn names(self) -> Names {
        Names { files: self }
    }
}

/// A set of positions within a row: bit k is the k-th cell of the row.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Phases(pub u16);

impl Phases {
    /// Any position.
    pub const ANY: Phases = Phases(0xffff);
    /// Exactly the k-th cell of a row.
    pub const fn only(phase: u8) -> Phases {
        Phases(1 << phase)
    }
    /// Whether a position is in the set.
    pub const fn has(self, phase: u8) -> bool {
        self.0 >> phase & 1 != 0
    }
    /// Positions in both.
    #[must_use]
    pub const fn and(self, other: Phases) -> Phases {
        Phases(self.0 & other.0)
    }
    /// No position left.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Where something lies `cells` behind what lies at these positions of rows of `row`.
    #[must_use]
    pub const fn moved(self, cells: u32, row: u8) -> Phases {
        let (row, low) = (row as u32, self.0 as u32 & ((1 << row) - 1));
        let by = cells % row;
        if self.0 == Phases::ANY.0 {
            return self;
        }
        Phases(((low << by | low >> (row - by)) & ((1 << row) - 1)) as u16)
    }
}

/// What a virtual register needs: `count` cells, `stride` apart, the first at one of `phases`.
///
/// R700: a scalar is `{1, 1, any}`, an array of n elements indexed by AR `{n, 4, any}`. Gen4: eight
/// lanes of 32 bits `{8, 1, only(0)}`. Valhall: a 64-bit pair `{2, 1, only(0)}`.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Demand {
    /// The file it lives in.
    pub file: FileId,
    /// Number of cells.
    pub count: u16,
    /// Distance between consecutive cells.
    pub stride: u8,
    /// Where in a row the first cell may lie.
    pub phases: Phases,
}

impl Demand {
    /// One cell of the file, anywhere.
    #[inline]
    pub const fn scalar(file: FileId) -> Demand {
        Demand { file, count: 1, stride: 1, phases: Phases::ANY }
    }
    /// Cells from the first to one past the last.
    #[inline]
    pub const fn extent(&self) -> u32 {
        (self.count as u32 - 1) * self.stride as u32 + 1
    }
    /// Cells from the first of the register to the first of a part.
    pub const fn distance(&self, part: Part) -> u32 {
        part.first as u32 * self.stride as u32
    }
    /// What a part would need as a register of its own, in rows of `row`: it lies where it may lie within the whole.
    #[must_use]
    #[inline]
    pub const fn of_part(&self, part: Part, row: u8) -> Demand {
        if part.is_whole() {
            return *self;
        }
        Demand {
            count: part.count as u16,
            stride: if part.count == 1 { 1 } else { self.stride },
            phases: self.phases.moved(self.distance(part), row),
            ..*self
        }
    }
}

/// Which cells of a register an operand names: all of them, or some that follow each other, counted from 0 and whatever
/// their stride is. Printed behind the register, `v3[1..3]` for its second and third cell.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Part {
    first: u8,
    /// 0: all cells.
    count: u8,
}

impl Part {
    /// All cells.
    pub const WHOLE: Part = Part { first: 0, count: 0 };

    /// `count` cells from the `first`; at least one.
    pub const fn new(first: u8, count: u8) -> Part {
        Part { first, count }
    }
    /// Whether it names the whole register, however many cells that has.
    #[inline]
    pub const fn is_whole(self) -> bool {
        self.count == 0
    }
    /// The cells named of a register of `count`.
    #[inline]
    pub const fn cells(self, count: u16) -> Range<u16> {
        match self.is_whole() {
            true => 0..count,
            false => self.first as u16..self.first as u16 + self.count as u16,
        }
    }
    /// The same cells of a register of `count`, said as short as can be.
    #[must_use]
    pub const fn of(self, count: u16) -> Part {
        match self.first == 0 && self.count as u16 == count {
            true => Part::WHOLE,
            false => self,
        }
    }
    /// As many cells, from the first: what an operand says once a physical cell stands where the part begins.
    #[must_use]
    pub const fn placed(self) -> Part {
        Part { first: 0, ..self }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_whole() {
            true => Ok(()),
            false => write!(f, "[{}..{}]", self.first, self.cells(0).end),
        }
    }
}

/// A virtual register. Printed `v12`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VReg(u32);
entity_impl!(VReg, "v");

/// A physical cell: the place of a value, or its first cell when it has several.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell {
    /// The file.
    pub file: FileId,
    /// The cell's index in the file: row * row length + phase.
    pub index: u16,
}

impl Cell {
    /// The cell at a row and a phase of a file whose rows are `row_length` long.
    pub const fn at(file: FileId, row_length: u8, row: u16, phase: u8) -> Cell {
        Cell { file, index: row * row_length as u16 + phase as u16 }
    }
    /// The row of the cell.
    pub const fn row(self, row_length: u8) -> u16 {
        self.index / row_length as u16
    }
    /// The position within its row.
    #[inline]
    pub const fn phase(self, row_length: u8) -> u8 {
        (self.index % row_length as u16) as u8
    }
}

/// A register operand: one `u32` that is either a virtual register or a physical cell.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(u32);

impl Reg {
    const PHYSICAL: u32 = 1 << 31;

    /// A virtual register.
    #[inline]
    pub const fn virt(v: VReg) -> Reg {
        Reg(v.0)
    }
    /// A physical cell.
    pub const fn phys(cell: Cell) -> Reg {
        Reg(Reg::PHYSICAL | (cell.file.0 as u32) << 16 | cell.index as u32)
    }
    /// The virtual register, if it is one.
    #[inline]
    pub const fn as_virt(self) -> Option<VReg> {
        if self.0 & Reg::PHYSICAL == 0 { Some(VReg(self.0)) } else { None }
    }
    /// The cell, if it is physical.
    #[inline]
    pub const fn as_phys(self) -> Option<Cell> {
        if self.0 & Reg::PHYSICAL != 0 {
            Some(Cell { file: FileId((self.0 >> 16 & 0x7f) as u8), index: self.0 as u16 })
        } else {
            None
        }
    }
    /// The cell of an operand after allocation.
    ///
    /// # Panics
    /// On a virtual register: after allocation there is none (the verifier says so first).
    #[inline]
    pub fn cell(self) -> Cell {
        self.as_phys().expect("registers are physical after allocation")
    }
}

impl From<VReg> for Reg {
    fn from(v: VReg) -> Reg {
        Reg::virt(v)
    }
}
impl From<Cell> for Reg {
    fn from(cell: Cell) -> Reg {
        Reg::phys(cell)
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.as_virt(), self.as_phys()) {
            (Some(v), _) => write!(f, "{v}"),
            (None, Some(cell)) => write!(f, "file{}[{}]", cell.file.0, cell.index),
            (None, None) => Ok(()),
        }
    }
}

/// Text of registers, both ways: `v7`, and for cells `R5.z` (rows of 2 to 4), `g5.7` (longer rows),
/// `t5` (rows of 1).
#[derive(Copy, Clone, Debug)]
pub struct Names {
    /// The files whose prefixes are used.
    pub files: Files,
}

const LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

impl Names {
    /// A register as text.
    pub fn reg(&self, reg: Reg) -> RegName {
        RegName { files: self.files, reg }
    }

    /// The register that a word names and the part of it, as [`Part`] prints it.
    ///
    /// # Errors
    /// What is wrong with the word.
    pub fn part(&self, word: &str) -> Result<(Reg, Part), String> {
        let Some((name, cells)) = word.split_once('[') else {
            return Ok((self.expect(word)?, Part::WHOLE));
        };
        let reg = self.expect(name)?;
        let cells = cells.strip_suffix(']').and_then(|cells| {
            let (first, end) = cells.split_once("..")?;
            let (first, end): (u8, u16) = (first.parse().ok()?, end.parse().ok()?);
            let count = u8::try_from(end.checked_sub(u16::from(first))?).ok()?;
            (count > 0).then(|| Part::new(first, count))
        });
        let part = cells.ok_or_else(|| format!("`{word}` is no part of a register"))?;
        Ok((reg, part))
    }

    /// The register that a word names; `None` when it names none of these files.
    pub fn parse(&self, word: &str) -> Option<Reg> {
        let digits = word.find(|c: char| c.is_ascii_digit())?;
        let (prefix, rest) = word.split_at(digits);
        if prefix == "v" {
            let number: u32 = rest.parse().ok()?;
            return (number < Reg::PHYSICAL).then(|| Reg::virt(VReg::from_u32(number)));
        }
        let position = self.files.0.iter().position(|file| file.name == prefix)?;
        let (id, file) = (FileId(position as u8), &self.files.0[position]);
        let index = if file.row == 1 {
            rest.parse::<u32>().ok()?
        } else {
            let (row, phase) = rest.split_once('.')?;
            let row: u32 = row.parse().ok()?;
            let phase = if file.row <= 4 {
                let mut letters = phase.chars();
                let phase = LETTERS.iter().position(|&letter| phase.starts_with(letter))? as u32;
                letters.next();
                if letters.next().is_some() {
                    return None;
                }
                phase
            } else {
                phase.parse().ok()?
            };
            if phase >= u32::from(file.row) || row > u32::from(u16::MAX) {
                return None;
            }
            row * u32::from(file.row) + phase
        };
        let index = u16::try_from(index).ok()?;
        (index < file.cells).then(|| Reg::phys(Cell { file: id, index }))
    }
}

/// A register ready to be printed. Made by [`Names::reg`].
#[derive(Copy, Clone)]
pub struct RegName {
    files: Files,
    reg: Reg,
}

impl fmt::Display for RegName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(v) = self.reg.as_virt() {
            return write!(f, "{v}");
        }
        let cell = self.reg.cell();
        let Some(file) = self.files.0.get(cell.file.0 as usize) else {
            return write!(f, "{:?}", self.reg);
        };
        match file.row {
            1 => write!(f, "{}{}", file.name, cell.index),
            2..=4 => {
                let letter = LETTERS[cell.phase(file.row) as usize];
                write!(f, "{}{}.{}", file.name, cell.row(file.row), letter)
            }
            _ => write!(f, "{}{}.{}", file.name, cell.row(file.row), cell.phase(file.row)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: Files = Files(&[
        File { name: "R", cells: 512, row: 4, per_lane: true, scope: Scope::Function },
        File { name: "g", cells: 1024, row: 8, per_lane: true, scope: Scope::Function },
        File { name: "t", cells: 64, row: 1, per_lane: false, scope: Scope::Function },
    ]);

    #[test]
    fn every_cell_of_every_row_length_reads_back_as_printed() {
        let names = FILES.names();
        for id in FILES.ids() {
            for index in 0..FILES.get(id).cells {
                let reg = Reg::phys(Cell { file: id, index });
                assert_eq!(names.parse(&names.reg(reg).to_string()), Some(reg));
            }
        }
        let v = Reg::virt(VReg::from_u32(77));
        assert_eq!(names.parse("v77"), Some(v));
    }

    #[test]
    fn words_that_name_no_cell_are_refused() {
        for word in [
            "",
            "R",
            "R1",
            "R1.q",
            "R1.xy",
            "R128.x",
            "g1.8",
            "g128.0",
            "t64",
            "q1",
            "v",
            "v4294967295",
            "R1.",
        ] {
            assert_eq!(FILES.names().parse(word), None, "{word}");
        }
    }
}
