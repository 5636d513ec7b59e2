//! What pixels have beside other lanes: their places, planes, differences across quads, lanes that live no longer, targets.
//! isa/gen4.md 2.2.

use super::*;

impl Emit<'_> {
    /// The pixels' coordinates in words, and how far they are from the first vertex: r1 has those of each quad's upper left pixel.
    /// isa/gen4.md 2.2.
    pub(super) fn pixels(&mut self, read: [bool; 2], deltas: bool) -> Result<(), Failure> {
        let alone = How { no_mask: true, ..How::default() };
        for (axis, steps) in [(0, 0x1010_1010), (1, 0x1100_1100)] {
            if !read[axis as usize] && !deltas {
                continue;
            }
            // The same word for the four pixels of a quad.
            let quads = Region::Rows { vertical: 2, width: 2, horizontal: 0 };
            let corner = From::Operand(grf(1, 8 + 2 * axis, Type::Uw, quads));
            let pixels = into(File::Grf, self.abi.pixels()[axis as usize].into(), Type::Uw);
            let how = How { size: Some(self.all()), ..alone };
            self.word(Opcode::Add, how, pixels, &[corner, From::Number(steps, Type::V)])?;
        }
        if !deltas {
            return Ok(());
        }
        let side_by_side = self.machine == Machine::G45 && self.abi.lanes == 16;
        let parts: &[Option<u32>] = if side_by_side { &[Some(0), Some(1)] } else { &[None] };
        for &part in parts {
            for axis in 0..2 {
                let [words, delta] =
                    [self.abi.pixels(), self.abi.deltas()].map(|of| u32::from(of[axis as usize]));
                let at = part.unwrap_or(0);
                let first = Operand { modifier: 2, ..grf(1, 4 * axis, Type::F, SCALAR) };
                let from =
                    [From::Operand(grf(words, 16 * at, Type::Uw, LANES)), From::Operand(first)];
                let dst = into(File::Grf, delta + 2 * at, Type::F);
                self.word(Opcode::Add, How { part, ..alone }, dst, &from)?;
            }
        }
        Ok(())
    }

    /// value + dx * slope + dy * slope: one instruction on G45, two on the 965. G45 vol. 4, 14.2.21, 14.2.34.
    pub(super) fn plane(&mut self, dst: Reg, register: u32, dword: u32) -> Result<(), Failure> {
        let usual = How::default();
        let [columns, rows] =
            self.abi.deltas().map(|delta| From::Operand(grf(delta.into(), 0, Type::F, LANES)));
        let slope = |at: u32| From::Operand(grf(register, 4 * at, Type::F, SCALAR));
        let dst = result(dst, Type::F);
        match self.machine {
            Machine::G45 => self.word(Opcode::Pln, usual, dst, &[slope(dword), columns]),
            Machine::Gen4 => {
                let nowhere = into(File::Arf, NULL, Type::F);
                self.word(Opcode::Line, usual, nowhere, &[slope(dword), columns])?;
                self.word(Opcode::Mac, usual, dst, &[slope(dword + 1), rows])
            }
        }
    }

    /// Two pixels of each quad, less one another.
    pub(super) fn difference(
        &mut self,
        dst: Reg,
        of: Reg,
        which: Difference,
    ) -> Result<(), Failure> {
        let (of, dst) = (general(of), general(dst));
        let quad = Region::Rows { vertical: 3, width: 2, horizontal: 0 };
        let row = Region::Rows { vertical: 2, width: 1, horizontal: 0 };
        let (region, other) = match which {
            Difference::CoarseX => (quad, 1),
            Difference::CoarseY => (quad, 2),
            Difference::FineX => (row, 1),
            Difference::FineY => return self.column(dst, of),
        };
        // What begins within a register is not compressed. 11.5.3.
        self.parts(|emit, part, how| {
            let negative = Operand { modifier: 2, ..grf(of + part, 0, Type::F, region) };
            let other = grf(of + part, 4 * other, Type::F, region);
            let from = [From::Operand(other), From::Operand(negative)];
            emit.word(Opcode::Add, how, into(File::Grf, dst + part, Type::F), &from)
        })
    }

    /// The lower row less the upper one, which Align16 alone can say: zwzw - xyxy.
    fn column(&mut self, dst: u32, of: u32) -> Result<(), Failure> {
        let select = |select| Region::Swizzled { vertical: 3, select };
        self.parts(|emit, part, how| {
            let region = Region::Masked { stride: 1, channels: 15 };
            let dst = Operand { region, ..into(File::Grf, dst + part, Type::F) };
            let negative = Operand { modifier: 2, ..grf(of + part, 0, Type::F, select(0x44)) };
            let lower = grf(of + part, 0, Type::F, select(0xee));
            let from = [From::Operand(lower), From::Operand(negative)];
            emit.word(Opcode::Add, how, dst, &from)?;
            match emit.words.last_mut() {
                Some(word) => word.set(f::ACCESS_MODE, 1).map_err(internal),
                None => Ok(()),
            }
        })
    }

    /// The flag's lanes live no longer, or those that it has not. Lanes that are not there have never lived.
    pub(super) fn demote_by(&mut self, inverse: bool) -> Result<(), Failure> {
        let once = How { size: Some(ONE), no_mask: true, ..How::default() };
        let [(flag, read), (living, lives)] = [0, 2].map(|byte| architecture(FLAG, byte));
        if inverse {
            self.word(Opcode::Not, once, flag, &[read])?;
        }
        self.lives = true;
        self.word(Opcode::Or, once, living, &[lives, read])
    }

    /// A message to a target: r0 with the pixels that live, r1, four colours of all pixels, and where depth is computed the
    /// depth and that which is stored. Of 16 pixels the four colours of the lower eight stand before those of the others. G45
    /// vol. 4, 5.10.6.
    pub(super) fn target(
        &mut self,
        values: &[Source; 4],
        depth: Option<Source>,
        target: u8,
        last: bool,
    ) -> Result<(), Failure> {
        let alone = How { no_mask: true, ..How::default() };
        let rows = u32::from(self.abi.rows());
        if self.abi.kills && target == 0 {
            // The commit of a write is the header's; the 965 does not check who writes it next. 14.2.44, errata.
            if self.commits && self.machine == Machine::Gen4 {
                self.wait(self.abi.header().into())?;
            }
            let once = How { size: Some(ONE), ..alone };
            let (_, flag) = architecture(FLAG, 2);
            self.word(Opcode::Not, once, into(File::Grf, 0, Type::Uw), &[flag])?;
        }
        let second = into(File::Mrf, u32::from(HEADER) + 1, Type::Ud);
        let r1 = From::Operand(grf(1, 0, Type::Ud, LANES));
        self.word(Opcode::Mov, How { part: Some(0), ..alone }, second, &[r1])?;
        for (component, &value) in (0u8..).zip(values) {
            match color(component, self.abi) {
                Some(register) => self.move_to(register, value, How::default())?,
                None => self.parts(|emit, part, how| {
                    let to = u32::from(HEADER) + 2 + u32::from(component) + 4 * part;
                    let from = [within(source(value, Type::Ud), part)];
                    emit.word(Opcode::Mov, how, into(File::Mrf, to, Type::Ud), &from)
                })?,
            }
        }
        let mut length = 2 + rows * values.len() as u32;
        if let Some(depth) = depth {
            for value in [depth, Src::Fixed(Abi::STORED_DEPTH).into()] {
                self.move_to(HEADER + length as u8, value, alone)?;
                length += rows;
            }
        }
        // A write of a target by 16 pixels (type 0) or by eight (type 4); the last one ends the thread.
        let form = if rows == 2 { 0x0500_4000 } else { 0x0500_4400 };
        let end = if last { 0x8000_0800 } else { 0 };
        let nowhere = into(File::Arf, NULL, Type::Ud);
        let header = grf(0, 0, Type::Ud, LANES);
        let descriptor = form | length << 20 | end | u32::from(target);
        self.send((HEADER, How::default()), nowhere, header, descriptor)
    }
}
