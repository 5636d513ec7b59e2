//! Dot products of integers (SPV_KHR_integer_dot_product; SPIR-V 1.6, 3.49.13).

use super::module::Inst;
use super::program::op;
use super::{Frame, Id, OfSpirv};
use crate::lower::types::width;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Type, Value};
use naga::ScalarKind;
use rspirv::spirv::Op as Code;

/// Four components of 8 bits in a word (SPIR-V, Packed Vector Format).
const FOUR_BYTES: u32 = 0;

/// Which operand has signs, and whether the sum with a third one is brought into the result's range.
struct Form {
    signs: [bool; 2],
    saturates: bool,
}

fn form(code: Code) -> Option<Form> {
    let (signs, saturates) = match code {
        Code::SDot => ([true; 2], false),
        Code::UDot => ([false; 2], false),
        Code::SUDot => ([true, false], false),
        Code::SDotAccSat => ([true; 2], true),
        Code::UDotAccSat => ([false; 2], true),
        Code::SUDotAccSat => ([true, false], true),
        _ => return None,
    };
    Some(Form { signs, saturates })
}

fn mismatch() -> Stop {
    Stop::invalid("operands and result of this dot product do not have the types that it takes")
}

impl<'p> OfSpirv<'p> {
    /// The value of a dot product of integers; none of another instruction.
    pub(super) fn integer_dot(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &Inst,
    ) -> Result<Option<Values>> {
        let Some(form) = form(op(inst)) else {
            return Ok(None);
        };
        let program = self.source.program;
        let (result, count) = program.shape(inst.operand(0))?;
        let whole = |kind| matches!(kind, ScalarKind::Sint | ScalarKind::Uint);
        if count != 1 || !whole(result.kind) {
            return Err(mismatch());
        }
        let format = inst.rest(if form.saturates { 5 } else { 4 }).first().copied();
        let to = width(result);
        let x = self.components(frame, inst.operand(2), form.signs[0], format, to)?;
        let y = self.components(frame, inst.operand(3), form.signs[1], format, to)?;
        if x.len() != y.len() {
            return Err(mismatch());
        }
        let products = self.map(Op::IMul, &[&x, &y])?;
        let first = products[0];
        let sum = products[1..].iter().fold(first, |sum, &one| self.op2(Op::IAdd, sum, one));
        if !form.saturates {
            return Ok(Some(self.cut(result, Values::from_elem(sum, 1))));
        }
        let (own, 1) = program.shape(program.type_of(inst.operand(4))?)? else {
            return Err(mismatch());
        };
        if own.width != result.width {
            return Err(mismatch());
        }
        let mut added = self.values(frame, inst.operand(4))?;
        if form.signs[0] {
            added = self.extended_by_sign(own, added);
        }
        let sum = self.saturated(added[0], sum, to, u32::from(result.width) * 8, form.signs[0]);
        Ok(Some(self.cut(result, Values::from_elem(sum, 1))))
    }

    /// The components of an operand, a vector or a packed word, as wide as the result.
    fn components(
        &mut self,
        frame: &mut Frame<'p>,
        id: Id,
        signed: bool,
        format: Option<u32>,
        to: Type,
    ) -> Result<Values> {
        let program = self.source.program;
        let (scalar, count) = program.shape(program.type_of(id)?)?;
        if !matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint) {
            return Err(mismatch());
        }
        let mut values = self.values(frame, id)?;
        if count == 1 {
            if (format, scalar.width) != (Some(FOUR_BYTES), 4) {
                return Err(mismatch());
            }
            let word = values[0];
            let field = if signed { Op::SBfe } else { Op::UBfe };
            values = self.lanes(4, |lower, lane| {
                let (offset, bits) = (lower.u32(8 * lane as u32), lower.u32(8));
                Ok(lower.op3(field, word, offset, bits))
            })?;
        } else if signed {
            values = self.extended_by_sign(scalar, values);
        }
        let convert = if signed { Op::SConvert } else { Op::UConvert };
        self.lanes(values.len(), |lower, lane| {
            let value = values[lane];
            Ok(if lower.ty(value) == to { value } else { lower.convert(convert, to, value) })
        })
    }

    /// A sum that stays at the ends of the range of so many bits.
    fn saturated(&mut self, a: Value, b: Value, ty: Type, bits: u32, signed: bool) -> Value {
        let sum = self.op2(Op::IAdd, a, b);
        let most = u64::MAX >> (64 - bits);
        if bits == 8 {
            // A word holds the sum of two bytes.
            let (least, most) = if signed { (-128i32 as u32, 127) } else { (0, most as u32) };
            let (least, most) = (self.u32(least), self.u32(most));
            if !signed {
                return self.op2(Op::UMin, sum, most);
            }
            let sum = self.op2(Op::SMin, sum, most);
            return self.op2(Op::SMax, sum, least);
        }
        if !signed {
            let most = self.constant(ty, most);
            let wrapped = self.op2(Op::ULt, sum, a);
            return self.select(wrapped, most, sum);
        }
        let zero = self.constant(ty, 0);
        let (least, most) = (self.constant(ty, 1 << (bits - 1)), self.constant(ty, most >> 1));
        // Of one sign, and the sum has the other.
        let (by_a, by_b) = (self.op2(Op::Xor, a, sum), self.op2(Op::Xor, b, sum));
        let both = self.op2(Op::And, by_a, by_b);
        let wrapped = self.op2(Op::SLt, both, zero);
        let negative = self.op2(Op::SLt, a, zero);
        let end = self.select(negative, least, most);
        self.select(wrapped, end, sum)
    }
}
