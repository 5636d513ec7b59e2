//! Vertices that a geometry thread emits: one URB entry is open at a time, and its header is a register. G45 vol. 4, 8.2 to 8.4;
//! isa/gen4-pipeline.md 4.4, 5.4.

use super::vertex::HEADER;
use super::{Emit, From, How, LANES, NULL, ONE, SCALAR, grf, into};
use crate::abi::Taken;
use crate::isa::operand::{File, Operand, Place, Type};
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;

/// The last vertex of its strip, and the first one: bits of the header's word 2 below the type of the primitive.
pub const END: u32 = 1;
pub const START: u32 = 2;
/// Doublewords of the header.
const HANDLE: u8 = 0;
const PRIMITIVE: u8 = 2;

/// What the header says of the first vertex of a strip. A point is the first and the last one.
pub fn first(taken: &Taken) -> u32 {
    let end = if taken.topology() == 1 { END } else { 0 };
    taken.topology() << 2 | START | end
}

/// What it says of the vertices behind.
pub fn inner(taken: &Taken) -> u32 {
    taken.topology() << 2
}

/// One channel, whatever is masked.
fn once() -> How {
    How { size: Some(ONE), no_mask: true, ..How::default() }
}

/// A doubleword of a register as a destination, and as a source.
fn dword(register: u8, dword: u8) -> (Operand, From) {
    let byte = 4 * u32::from(dword);
    let place = Place::Direct { register: register.into(), byte };
    let to = Operand { place, ..into(File::Grf, register.into(), Type::Ud) };
    (to, From::Operand(grf(register.into(), byte, Type::Ud, SCALAR)))
}

impl Emit<'_> {
    /// The header of the first entry, and that of memory's messages where there are some: r0 has the type of the primitive where
    /// they have an offset. 5.10.5.
    pub(super) fn begin_geometry(&mut self, memory: bool) -> Result<(), Failure> {
        let Some(taken) = &self.abi.taken else { return Ok(()) };
        let first = first(taken);
        let (header, open) = (self.abi.header(), self.abi.open_entry());
        let part = How { part: Some(0), no_mask: true, ..How::default() };
        let r0 = From::Operand(grf(0, 0, Type::Ud, LANES));
        if memory {
            self.word(Opcode::Mov, part, into(File::Grf, header.into(), Type::Ud), &[r0])?;
            let (offset, _) = dword(header, PRIMITIVE);
            self.word(Opcode::Mov, once(), offset, &[From::Number(0, Type::Ud)])?;
        }
        self.word(Opcode::Mov, part, into(File::Grf, open.into(), Type::Ud), &[r0])?;
        let (to, _) = dword(open, PRIMITIVE);
        self.word(Opcode::Mov, once(), to, &[From::Number(first, Type::Ud)])
    }

    /// The slots so far go to the open entry, whole registers whatever is masked: an interleaved message would name a second
    /// entry, which the thread does not have (8.4.2, Swizzle Control). A reply has zeros beside the handle: the header keeps its
    /// other words.
    pub(super) fn leave(&mut self, row: u8, count: u8, complete: bool) -> Result<(), Failure> {
        let open = self.abi.open_entry();
        let header = grf(open.into(), 0, Type::Ud, LANES);
        let length = (u32::from(count) + 1) << 20;
        // Used.
        let descriptor = 0x0600_4000 | length | u32::from(row) << 4;
        if !complete {
            let nowhere = into(File::Arf, NULL, Type::Ud);
            return self.send((HEADER, How::default()), nowhere, header, descriptor);
        }
        let reply = open + 1;
        let to = into(File::Grf, reply.into(), Type::Ud);
        // Complete, and another one is allocated.
        self.send((HEADER, How::default()), to, header, descriptor | 0x0001_a000)?;
        let (handle, _) = dword(open, HANDLE);
        let (_, from) = dword(reply, HANDLE);
        self.word(Opcode::Mov, once(), handle, &[from])
    }

    /// What the header says of the open entry.
    pub(super) fn mark(&mut self, bits: u32, joins: bool) -> Result<(), Failure> {
        let (to, from) = dword(self.abi.open_entry(), PRIMITIVE);
        let number = From::Number(bits, Type::Ud);
        match joins {
            true => self.word(Opcode::Or, once(), to, &[from, number]),
            false => self.word(Opcode::Mov, once(), to, &[number]),
        }
    }

    /// The thread ends: the open entry is complete and of no use. isa/gen4-pipeline.md 4.3.
    pub(super) fn close(&mut self) -> Result<(), Failure> {
        let header = grf(self.abi.open_entry().into(), 0, Type::Ud, LANES);
        let nowhere = into(File::Arf, NULL, Type::Ud);
        self.send((HEADER, How::default()), nowhere, header, 0x8610_8000)
    }
}
