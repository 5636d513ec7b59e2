//! Integers: products of twice the width, and operands whose declared sign is not the operation's.

use super::Gaps;
use crate::spirv::module::Inst;
use crate::spirv::ops::*;

impl Gaps<'_> {
    /// Sums with carries and products of twice the width, of 32-bit words.
    pub fn extended(&mut self, inst: &Inst) -> Option<()> {
        let (result, id, a, b) =
            (inst.operand(0), inst.operand(1), inst.operand(2), inst.operand(3));
        let member = match self.types.get(&result)? {
            (OP_TYPE_STRUCT, members) => *members.first()?,
            _ => return None,
        };
        if self.integers(member)?.0 != 32 {
            return None;
        }
        let word = self.global(OP_TYPE_INT, &[32, 0]);
        let ty = self.like(member, word);
        let [a, b] = [a, b].map(|value| self.cast(value, ty));
        let truth = self.global(OP_TYPE_BOOL, &[]);
        let truths = self.like(ty, truth);
        let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1));
        let (low, high) = match inst.opcode() {
            OP_I_ADD_CARRY => {
                let sum = self.emit(OP_I_ADD, ty, &[a, b]);
                let over = self.emit(OP_U_LESS_THAN, truths, &[sum, a]);
                (sum, self.emit(OP_SELECT, ty, &[over, one, zero]))
            }
            OP_I_SUB_BORROW => {
                let difference = self.emit(OP_I_SUB, ty, &[a, b]);
                let under = self.emit(OP_U_LESS_THAN, truths, &[a, b]);
                (difference, self.emit(OP_SELECT, ty, &[under, one, zero]))
            }
            opcode => {
                let low = self.emit(OP_I_MUL, ty, &[a, b]);
                let mut high = self.high(ty, a, b);
                if opcode == OP_S_MUL_EXTENDED {
                    // A negative factor counts for 2^32 too much of the other.
                    let top = self.splat(ty, 31);
                    for (of, other) in [(a, b), (b, a)] {
                        let sign = self.emit(OP_SHIFT_RIGHT_LOGICAL, ty, &[of, top]);
                        let extra = self.emit(OP_I_MUL, ty, &[sign, other]);
                        high = self.emit(OP_I_SUB, ty, &[high, extra]);
                    }
                }
                (low, high)
            }
        };
        let [low, high] = [low, high].map(|value| self.cast(value, member));
        self.emit_as(OP_COMPOSITE_CONSTRUCT, result, id, &[low, high]);
        Some(())
    }

    /// The upper word of a product: of four products of halves.
    fn high(&mut self, ty: u32, a: u32, b: u32) -> u32 {
        let (half, mask) = (self.splat(ty, 16), self.splat(ty, 0xffff));
        let parts = |gaps: &mut Self, value| {
            let low = gaps.emit(OP_BITWISE_AND, ty, &[value, mask]);
            (low, gaps.emit(OP_SHIFT_RIGHT_LOGICAL, ty, &[value, half]))
        };
        let ((a0, a1), (b0, b1)) = (parts(self, a), parts(self, b));
        let low = self.emit(OP_I_MUL, ty, &[a0, b0]);
        let middle = self.emit(OP_I_MUL, ty, &[a1, b0]);
        let other = self.emit(OP_I_MUL, ty, &[a0, b1]);
        let high = self.emit(OP_I_MUL, ty, &[a1, b1]);
        let carry = self.emit(OP_SHIFT_RIGHT_LOGICAL, ty, &[low, half]);
        let first = self.emit(OP_I_ADD, ty, &[middle, carry]);
        let (first_low, first_high) = parts(self, first);
        let second = self.emit(OP_I_ADD, ty, &[other, first_low]);
        let second_high = self.emit(OP_SHIFT_RIGHT_LOGICAL, ty, &[second, half]);
        let sum = self.emit(OP_I_ADD, ty, &[high, first_high]);
        self.emit(OP_I_ADD, ty, &[sum, second_high])
    }

    /// An operation on signed integers whose operands or result are declared without a sign.
    pub fn signed(&mut self, inst: &Inst, opcode: u32, before: &[u32], operands: &[u32]) -> bool {
        self.with_sign(inst, opcode, before, operands, 1)
    }

    pub fn with_sign(
        &mut self,
        inst: &Inst,
        opcode: u32,
        before: &[u32],
        operands: &[u32],
        sign: u32,
    ) -> bool {
        let ty = inst.operand(0);
        let Some((width, own)) = self.integers(ty) else {
            return false;
        };
        let fits = |gaps: &Self, value: &u32| {
            gaps.of.get(value).and_then(|ty| gaps.integers(*ty)) == Some((width, sign))
        };
        if own == sign && operands.iter().all(|value| fits(self, value)) {
            return false;
        }
        let scalar = self.global(OP_TYPE_INT, &[width, sign]);
        let wanted = self.like(ty, scalar);
        let mut all = before.to_vec();
        for value in operands {
            let value = self.cast(*value, wanted);
            all.push(value);
        }
        if wanted == ty {
            self.emit_as(opcode, ty, inst.operand(1), &all);
        } else {
            let made = self.emit(opcode, wanted, &all);
            self.emit_as(OP_BITCAST, ty, inst.operand(1), &[made]);
        }
        true
    }

    /// The remainder with the divisor's sign, exactly: naga takes a way through floats.
    pub fn modulo(&mut self, inst: &Inst) -> Option<()> {
        let (ty, id) = (inst.operand(0), inst.operand(1));
        let (width, _) = self.integers(ty)?;
        let scalar = self.global(OP_TYPE_INT, &[width, 1]);
        let wanted = self.like(ty, scalar);
        if width != 32 {
            return None;
        }
        let [a, b] = [inst.operand(2), inst.operand(3)].map(|value| self.cast(value, wanted));
        let truth = self.global(OP_TYPE_BOOL, &[]);
        let truths = self.like(ty, truth);
        let zero = self.splat(wanted, 0);
        let rest = self.emit(OP_S_REM, wanted, &[a, b]);
        let signs = self.emit(OP_BITWISE_XOR, wanted, &[rest, b]);
        let differ = self.emit(OP_S_LESS_THAN, truths, &[signs, zero]);
        let some = self.emit(OP_I_NOT_EQUAL, truths, &[rest, zero]);
        let own = self.emit(OP_SELECT, wanted, &[some, b, zero]);
        let more = self.emit(OP_SELECT, wanted, &[differ, own, zero]);
        let sum = self.emit(OP_I_ADD, wanted, &[rest, more]);
        self.emit_as(OP_BITCAST, ty, id, &[sum]);
        Some(())
    }

    /// Operands of the result's type.
    pub fn alike(&mut self, inst: &Inst) -> bool {
        match self.integers(inst.operand(0)) {
            Some((_, sign)) => self.with_sign(inst, inst.opcode(), &[], inst.rest(2), sign),
            None => false,
        }
    }
}
