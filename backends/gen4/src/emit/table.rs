//! Words of tables and of variables in registers, by index registers. G45 vol. 4, 11.3.9.

use super::{
    ADDRESS, EIGHT, Emit, FLAG, FOUR, From, HALVES, How, LANES, ONE, SCALAR, architecture, general,
    grf, into, source,
};
use crate::inst::{Side, Source, Src};
use crate::isa::operand::{File, Operand, Place, Region, Type};
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::Reg;

/// The code of two channels. G45 vol. 4, 13.2.2, ExecSize.
const TWO: u32 = 1;
/// The lanes of the second vertex.
const SECOND: u32 = 0xf0;
/// The vertical stride of sources with an index for each row. 13.2.4, VertStride.
const INDEXED: u32 = 15;

/// One word of each vertex's offset, or two.
fn of_vertices(source: Source, twice: bool) -> From {
    let width = u32::from(twice);
    let rows = Region::Rows { vertical: 4, width, horizontal: 0 };
    let at = |register: u32, dword: u8, region: Region| {
        From::Operand(grf(register, 4 * u32::from(dword), Type::Uw, region))
    };
    match source.src {
        Src::Reg(reg) => at(general(reg), 0, rows),
        Src::Part { reg, component } => at(general(reg), component, rows),
        Src::Pair { register, dword } => at(register.into(), dword, rows),
        Src::Scalar { register, dword } => at(register.into(), dword, SCALAR),
        Src::Fixed(register) => at(register.into(), 0, rows),
        Src::Bits(bits) | Src::Floats(bits) => From::Number(bits & 0xffff, Type::Uw),
        Src::There | Src::Free => From::Number(0, Type::Uw),
    }
}

/// One word of each of eight lanes' offsets.
fn of_lanes(source: Source, part: u32) -> From {
    let at = |register: u32| From::Operand(grf(register + part, 0, Type::Uw, HALVES));
    match source.src {
        Src::Reg(reg) => at(general(reg)),
        Src::Fixed(register) => at(register.into()),
        Src::Scalar { register, dword } => {
            From::Operand(grf(register.into(), 4 * u32::from(dword), Type::Uw, SCALAR))
        }
        _ => of_vertices(source, false),
    }
}

impl Emit<'_> {
    /// Loads the index registers, then moves the words.
    pub(super) fn table(
        &mut self,
        dst: &[Reg],
        offset: Source,
        first: u16,
        side: Option<Side>,
    ) -> Result<(), Failure> {
        let indices = into(File::Arf, ADDRESS, Type::Uw);
        let first = From::Number(first.into(), Type::Uw);
        if self.abi.is_vertex() {
            // Channels of the first vertex alone would decide, and nobody reads the index of a vertex that waits.
            let (size, twice) = match side {
                Some(Side::Two) => (FOUR, true),
                _ => (TWO, false),
            };
            let how = How { size: Some(size), no_mask: true, ..How::default() };
            self.word(Opcode::Add, how, indices, &[of_vertices(offset, twice), first])?;
            let (width, horizontal) = match side {
                Some(Side::Two) => (1, 1),
                Some(Side::Four) => (2, 1),
                None => (2, 0),
            };
            let region = Region::Rows { vertical: INDEXED, width, horizontal };
            let how = How { size: Some(EIGHT), ..How::default() };
            return self.indexed(dst, 0, how, region);
        }
        self.parts(|emit, part, how| {
            emit.word(Opcode::Add, how, indices, &[of_lanes(offset, part), first])?;
            let region = Region::Rows { vertical: INDEXED, width: 0, horizontal: 0 };
            emit.indexed(dst, part, how, region)
        })
    }

    /// The index register of each vertex: the byte of a word's register.
    fn index_vertices(&mut self, offset: Source, first: u8) -> Result<(), Failure> {
        let first = From::Number(32 * u32::from(first), Type::Uw);
        let how = How { size: Some(TWO), no_mask: true, ..How::default() };
        let indices = into(File::Arf, ADDRESS, Type::Uw);
        self.word(Opcode::Add, how, indices, &[of_vertices(offset, false), first])
    }

    /// Reads a word of a variable in registers.
    pub(super) fn element(&mut self, dst: Reg, offset: Source, first: u8) -> Result<(), Failure> {
        let dst = into(File::Grf, general(dst), Type::Ud);
        if let Src::Bits(bits) = offset.src {
            let from = From::Operand(grf(u32::from(first) + bits / 32, 0, Type::Ud, LANES));
            return self.word(Opcode::Mov, How::default(), dst, &[from]);
        }
        self.index_vertices(offset, first)?;
        // The second vertex has the upper half of each register.
        let (second, from) = architecture(ADDRESS, 2);
        let how = How { size: Some(ONE), no_mask: true, ..How::default() };
        self.word(Opcode::Add, how, second, &[from, From::Number(16, Type::Uw)])?;
        let region = Region::Rows { vertical: INDEXED, width: 2, horizontal: 0 };
        let place = Place::Indirect { index: 0, offset: 0 };
        let from = From::Operand(Operand { place, ..grf(0, 0, Type::Ud, region) });
        self.word(Opcode::Mov, How::default(), dst, &[from])
    }

    /// Writes a word of a variable in registers. A destination has one index: a word for each vertex, the second of which the flag
    /// keeps to its lanes.
    pub(super) fn set_element(
        &mut self,
        offset: Source,
        first: u8,
        value: Source,
    ) -> Result<(), Failure> {
        let value = source(value, Type::Ud);
        if let Src::Bits(bits) = offset.src {
            let dst = into(File::Grf, u32::from(first) + bits / 32, Type::Ud);
            return self.word(Opcode::Mov, How::default(), dst, &[value]);
        }
        self.index_vertices(offset, first)?;
        let to = |index: u32| {
            let place = Place::Indirect { index, offset: 0 };
            Operand { place, ..into(File::Grf, 0, Type::Ud) }
        };
        let half = match value {
            From::Operand(operand) if operand.region == LANES => {
                let region = Region::Rows { vertical: 3, width: 2, horizontal: 1 };
                From::Operand(Operand { region, ..operand })
            }
            other => other,
        };
        let how = How { size: Some(FOUR), ..How::default() };
        self.word(Opcode::Mov, how, to(0), &[half])?;
        let (flag, _) = architecture(FLAG, 2);
        let how = How { size: Some(ONE), no_mask: true, ..How::default() };
        self.word(Opcode::Mov, how, flag, &[From::Number(SECOND, Type::Uw)])?;
        let how = How { predicate: Some(false), other: true, ..How::default() };
        self.word(Opcode::Mov, how, to(1), &[value])
    }

    /// Moves a word for each result, from the indices on.
    fn indexed(&mut self, dst: &[Reg], part: u32, how: How, region: Region) -> Result<(), Failure> {
        for (number, &dst) in (0i32..).zip(dst) {
            let place = Place::Indirect { index: 0, offset: 4 * number };
            let from = Operand { place, ..grf(0, 0, Type::Ud, LANES) };
            let from = From::Operand(Operand { region, ..from });
            let dst = into(File::Grf, general(dst) + part, Type::Ud);
            self.word(Opcode::Mov, how, dst, &[from])?;
        }
        Ok(())
    }
}
