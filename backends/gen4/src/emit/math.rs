//! Messages to extended math. G45 vol. 4, chapter 6.

use super::{Emit, File, From, How, MATH, Type, general, into, source, within};
use crate::inst::{Condition, Function, Source};
use crate::isa::Machine;
use crate::isa::operand::Place;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::Reg;

/// The descriptor of a function of one operand. 6.1.1.
pub(super) fn descriptor(function: Function) -> u32 {
    0x0111_0000 | function as u32
}

/// The word that sets the flag by a condition of operands of a type: its condition, and the type that it makes. A product that is
/// cut off to an integer is 0 where it is below 1 (conversions come before conditions, 11.8).
pub(super) fn sets(condition: Condition, ty: Type) -> (Opcode, u32, Type) {
    match condition {
        Condition::ProductBelowOne => (Opcode::Mul, Condition::Equal as u32, Type::D),
        Condition::AnyBit => (Opcode::And, Condition::NotEqual as u32, Type::Ud),
        Condition::NoBit => (Opcode::And, Condition::Equal as u32, Type::Ud),
        _ => (Opcode::Cmp, condition as u32, ty),
    }
}

impl Emit<'_> {
    /// A function of one operand. Of 16 lanes G45 sends both halves by one instruction (ERRATA E21), the 965 takes two.
    pub(super) fn math(&mut self, dst: Reg, function: Function, of: Source) -> Result<(), Failure> {
        let (dst, of) = (general(dst), source(of, Type::F));
        let descriptor = descriptor(function);
        let From::Operand(from) = of else {
            return Err(super::internal("a number goes to extended math"));
        };
        // What is the same in all lanes may stand in a register that is no first of two.
        let even = matches!(from.place, Place::Direct { register, .. } if register % 2 == 0);
        if self.machine == Machine::G45 && self.abi.rows() == 2 && even {
            let how = How { halves: true, ..How::default() };
            return self.send((MATH, how), into(File::Grf, dst, Type::F), from, descriptor);
        }
        self.parts(|emit, part, how| {
            let to = into(File::Grf, dst + part, Type::F);
            let From::Operand(from) = within(of, part) else {
                return Err(super::internal("a number goes to extended math"));
            };
            emit.send((MATH, how), to, from, descriptor)
        })
    }

    /// The quotient of integers, or the remainder; signed or not. The denominator goes first. isa/gen4.md 0.8; G45 vol. 4, 6.1.1.
    pub(super) fn divide(
        &mut self,
        (dst, remainder, signed): (Reg, bool, bool),
        numerator: Source,
        denominator: Source,
    ) -> Result<(), Failure> {
        let ty = if signed { Type::D } else { Type::Ud };
        let function = if remainder { 0xd } else { 0xc } | u32::from(signed) << 4;
        let dst = general(dst);
        let (numerator, denominator) = (source(numerator, ty), source(denominator, ty));
        self.parts(|emit, part, how| {
            let second = into(File::Mrf, u32::from(MATH) + 1, ty);
            emit.word(Opcode::Mov, how, second, &[within(numerator, part)])?;
            let to = into(File::Grf, dst + part, ty);
            let From::Operand(from) = within(denominator, part) else {
                return Err(super::internal("a number goes to extended math"));
            };
            emit.send((MATH, how), to, from, 0x0121_0000 | function)
        })
    }
}
