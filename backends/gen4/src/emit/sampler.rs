//! Messages to the sampler: header, parameters, descriptor. G45 vol. 4, 4.8.1.

use super::{Emit, File, From, HEADER, How, LANES, NULL, ONE, Type, general, grf, into};
use crate::inst::{Lookup, Source};
use crate::isa::Machine;
use crate::isa::operand::{Operand, Place};
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::Reg;

/// The sampler as a shared function. G45 vol. 4, table 14-15.
const SAMPLER: u32 = 2;
/// The byte of the header's doubleword that says what a message does beside its parameters.
const CONTROL: u32 = 8;

impl Emit<'_> {
    /// Header, parameters of one or two registers each, and the message. In a program of eight lanes the upper registers stay as
    /// they are: no channel of theirs is enabled.
    pub(super) fn sample(
        &mut self,
        dst: &[Reg],
        lookup: &Lookup,
        parameters: &[Source],
    ) -> Result<(), Failure> {
        // The level of a quad comes from its lanes whether they are enabled or not.
        let alone = How { no_mask: true, ..How::default() };
        let step = if lookup.wide { 2u8 } else { 1 };
        for (number, &parameter) in (0u8..).zip(parameters) {
            self.move_to(HEADER + 1 + step * number, parameter, alone)?;
        }
        let shared = grf(self.abi.header().into(), 0, Type::Ud, LANES);
        let header = match lookup.control {
            0 => shared,
            control => {
                let to = into(File::Mrf, HEADER.into(), Type::Ud);
                let part = How { part: Some(0), ..alone };
                self.word(Opcode::Mov, part, to, &[From::Operand(shared)])?;
                let place = Place::Direct { register: HEADER.into(), byte: CONTROL };
                let once = How { size: Some(ONE), ..alone };
                let to = Operand { place, ..to };
                self.word(Opcode::Mov, once, to, &[From::Number(control, Type::Ud)])?;
                Operand { file: File::Arf, ..grf(NULL, 0, Type::Ud, LANES) }
            }
        };
        let length = 1 + u32::from(step) * parameters.len() as u32;
        let message = match self.machine {
            Machine::G45 => u32::from(lookup.message) << 12,
            Machine::Gen4 => u32::from(lookup.message) << 14 | (lookup.reply as u32) << 12,
        };
        let descriptor = SAMPLER << 24
            | length << 20
            | (dst.len() as u32 * u32::from(self.abi.rows())) << 16
            | message
            | u32::from(lookup.sampler) << 8
            | u32::from(lookup.surface);
        let Some(&first) = dst.first() else { return Ok(()) };
        // Doublewords as the destination: of eight lanes the lower channels of either form.
        let dst = into(File::Grf, general(first), Type::Ud);
        self.send((HEADER, How::default()), dst, header, descriptor)
    }
}
