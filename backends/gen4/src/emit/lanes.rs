//! What the lanes of a step tell each other: ballots by the flag, values by regions and by addresses. G45 vol. 4, 11.3.4.4, 11.3.7.

use super::*;

/// Rows of one element, each with an address of its own. G45 vol. 4, 11.3.7, VxH.
const BY_ADDRESS: Region = Region::Rows { vertical: 15, width: 0, horizontal: 0 };

/// Eight bytes, one of each doubleword.
const BYTES: Region = Region::Rows { vertical: 6, width: 3, horizontal: 3 };

impl Emit<'_> {
    /// An operation on a part of each doubleword. Bytes beside doublewords are none of a compressed instruction (11.5.3).
    pub(super) fn piece(&mut self, inst: &Inst) -> Result<(), Failure> {
        let Inst::Piece { opcode, to, dst, ty, byte, source: of, second } = inst else {
            return Ok(());
        };
        let parts = if ty.bytes() == 1 { BYTES } else { HALVES };
        let (first, dword, region) = match of.src {
            Src::Reg(reg) => (general(reg), 0, parts),
            Src::Fixed(register) => (register.into(), 0, parts),
            Src::Scalar { register, dword } => (register.into(), dword.into(), SCALAR),
            _ => return Err(super::internal("a part of no register")),
        };
        let byte = 4 * dword + u32::from(*byte);
        let word = |emit: &mut Self, part: u32, how: How| {
            let at = if region == SCALAR { first } else { first + part };
            let mut from: SmallVec<[From; 2]> = SmallVec::new();
            from.push(From::Operand(grf(at, byte, *ty, region)));
            from.extend(second.map(|of| within(source(of, Type::F), part)));
            emit.word(*opcode, how, into(File::Grf, general(*dst) + part, *to), &from)
        };
        match ty.bytes() == 1 && region != SCALAR {
            true => self.parts(word),
            false => word(self, 0, How::default()),
        }
    }

    /// The flag of the lanes that are there, before which it is 0: a comparison writes no other lane's.
    pub(super) fn ballot(&mut self, dst: Reg, of: Source) -> Result<(), Failure> {
        let (flag, bits) = architecture(FLAG, 0);
        let once = How { size: Some(ONE), no_mask: true, ..How::default() };
        self.word(Opcode::Mov, once, flag, &[From::Number(0, Type::Uw)])?;
        let how = How { condition: Condition::NotEqual as u32, ..How::default() };
        let from = [source(of, Type::D), From::Number(0, Type::D)];
        self.word(Opcode::Cmp, how, into(File::Arf, NULL, Type::D), &from)?;
        // A compressed instruction names no flag. 11.5.3.
        self.parts(|emit, part, how| {
            let dst = into(File::Grf, general(dst) + part, Type::Ud);
            emit.word(Opcode::Mov, how, dst, &[bits])
        })
    }

    pub(super) fn spread(&mut self, of: Source) -> Result<(), Failure> {
        let dst = into(File::Grf, self.abi.spread().into(), Type::Ud);
        let all = How { no_mask: true, ..How::default() };
        self.word(Opcode::Mov, all, dst, &[From::Number(0, Type::Ud)])?;
        self.word(Opcode::Mov, How::default(), dst, &[source(of, Type::Ud)])
    }

    pub(super) fn lane(&mut self, dst: Reg, lane: u8) -> Result<(), Failure> {
        let register = u32::from(self.abi.spread() + lane / 8);
        let of = From::Operand(grf(register, 4 * u32::from(lane % 8), Type::Ud, SCALAR));
        self.word(Opcode::Mov, How::default(), into(File::Grf, general(dst), Type::Ud), &[of])
    }

    /// Addresses are bytes from r0 on, eight at once: an element of a0 each. 11.3.4.3, 11.3.9.
    pub(super) fn gather(&mut self, dst: Reg, bytes: Reg) -> Result<(), Failure> {
        let (address, _) = architecture(ADDRESS, 0);
        let place = Place::Indirect { index: 0, offset: 0 };
        let found = From::Operand(Operand { place, ..grf(0, 0, Type::Ud, BY_ADDRESS) });
        let first = From::Number(32 * u32::from(self.abi.spread()), Type::Uw);
        self.parts(|emit, part, how| {
            let bytes = From::Operand(grf(general(bytes) + part, 0, Type::Uw, HALVES));
            emit.word(Opcode::Add, how, address, &[bytes, first])?;
            let dst = into(File::Grf, general(dst) + part, Type::Ud);
            emit.word(Opcode::Mov, how, dst, &[found])
        })
    }
}
