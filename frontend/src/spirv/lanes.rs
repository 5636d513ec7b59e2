//! Operations lane by lane: what operands they take, and comparisons that hold for NaN.

use super::module::Inst;
use super::program::Id;
use super::types::Ty;
use super::{Frame, OfSpirv};
use crate::lower::narrow::is_byte;
use crate::lower::types::width;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Value};
use naga::ScalarKind;
use rspirv::spirv::Op as Code;

/// How the lanes of an operand must look.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Float,
    Bool,
}

impl Kind {
    pub(super) fn fits(self, scalar: naga::Scalar) -> bool {
        match self {
            Kind::Int => matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint),
            Kind::Float => scalar.kind == ScalarKind::Float,
            Kind::Bool => scalar.kind == ScalarKind::Bool,
        }
    }
}

/// An operation lane by lane: what it takes and gives, and whether its operands are exchanged.
pub(super) struct Lanes {
    op: Op,
    takes: Kind,
    gives: Kind,
    exchanged: bool,
}

/// Operations of one or two operands that are one of ours.
pub(super) fn lanes_of(code: Code) -> Option<Lanes> {
    use Kind::{Bool, Float, Int};
    let (op, takes, gives, exchanged) = match code {
        Code::SNegate => (Op::INeg, Int, Int, false),
        Code::FNegate => (Op::FNeg, Float, Float, false),
        Code::Not => (Op::Not, Int, Int, false),
        Code::LogicalNot => (Op::Not, Bool, Bool, false),
        Code::BitReverse => (Op::BitReverse, Int, Int, false),
        Code::BitCount => (Op::PopCount, Int, Int, false),
        Code::IAdd => (Op::IAdd, Int, Int, false),
        Code::ISub => (Op::ISub, Int, Int, false),
        Code::IMul => (Op::IMul, Int, Int, false),
        Code::UDiv => (Op::UDiv, Int, Int, false),
        Code::SDiv => (Op::SDiv, Int, Int, false),
        Code::UMod => (Op::URem, Int, Int, false),
        Code::SRem => (Op::SRem, Int, Int, false),
        Code::FAdd => (Op::FAdd, Float, Float, false),
        Code::FSub => (Op::FSub, Float, Float, false),
        Code::FMul => (Op::FMul, Float, Float, false),
        Code::FDiv => (Op::FDiv, Float, Float, false),
        Code::FRem => (Op::FRem, Float, Float, false),
        Code::BitwiseAnd => (Op::And, Int, Int, false),
        Code::BitwiseOr => (Op::Or, Int, Int, false),
        Code::BitwiseXor => (Op::Xor, Int, Int, false),
        Code::LogicalAnd => (Op::And, Bool, Bool, false),
        Code::LogicalOr => (Op::Or, Bool, Bool, false),
        Code::LogicalEqual => (Op::IEq, Bool, Bool, false),
        Code::LogicalNotEqual => (Op::INe, Bool, Bool, false),
        Code::IEqual => (Op::IEq, Int, Bool, false),
        Code::INotEqual => (Op::INe, Int, Bool, false),
        Code::ULessThan => (Op::ULt, Int, Bool, false),
        Code::UGreaterThan => (Op::ULt, Int, Bool, true),
        Code::ULessThanEqual => (Op::ULe, Int, Bool, false),
        Code::UGreaterThanEqual => (Op::ULe, Int, Bool, true),
        Code::SLessThan => (Op::SLt, Int, Bool, false),
        Code::SGreaterThan => (Op::SLt, Int, Bool, true),
        Code::SLessThanEqual => (Op::SLe, Int, Bool, false),
        Code::SGreaterThanEqual => (Op::SLe, Int, Bool, true),
        Code::FOrdEqual => (Op::FEq, Float, Bool, false),
        Code::FUnordNotEqual => (Op::FNe, Float, Bool, false),
        Code::FOrdLessThan => (Op::FLt, Float, Bool, false),
        Code::FOrdGreaterThan => (Op::FLt, Float, Bool, true),
        Code::FOrdLessThanEqual => (Op::FLe, Float, Bool, false),
        Code::FOrdGreaterThanEqual => (Op::FLe, Float, Bool, true),
        _ => return None,
    };
    Some(Lanes { op, takes, gives, exchanged })
}

/// The comparison that is the same where no operand is NaN, and the one whose opposite holds for NaN too.
pub(super) fn without_nan(code: Code) -> Option<(Code, Option<Code>)> {
    Some(match code {
        Code::FUnordEqual => (Code::FOrdEqual, None),
        Code::FOrdNotEqual => (Code::FUnordNotEqual, None),
        Code::FUnordLessThan => (Code::FOrdLessThan, Some(Code::FOrdGreaterThanEqual)),
        Code::FUnordGreaterThan => (Code::FOrdGreaterThan, Some(Code::FOrdLessThanEqual)),
        Code::FUnordLessThanEqual => (Code::FOrdLessThanEqual, Some(Code::FOrdGreaterThan)),
        Code::FUnordGreaterThanEqual => (Code::FOrdGreaterThanEqual, Some(Code::FOrdLessThan)),
        _ => return None,
    })
}

/// What is said of types that an instruction does not take.
pub(super) fn mismatch() -> Stop {
    Stop::invalid("operands and result of this instruction do not have the types that it takes")
}

impl<'p> OfSpirv<'p> {
    /// Scalar type and lanes of a value that is a scalar or vector of a kind.
    pub(super) fn shape_of(&self, id: Id, kind: Kind) -> Result<(naga::Scalar, usize)> {
        let program = self.source.program;
        let shape = program.shape(program.type_of(id)?)?;
        if kind.fits(shape.0) { Ok(shape) } else { Err(mismatch()) }
    }

    /// The scalars of an operand with as many lanes as the result.
    pub(super) fn like(
        &mut self,
        frame: &mut Frame<'p>,
        id: Id,
        kind: Kind,
        lanes: usize,
    ) -> Result<(naga::Scalar, Values)> {
        let (scalar, count) = self.shape_of(id, kind)?;
        let values = self.values(frame, id)?;
        if count != lanes || values.len() != lanes {
            return Err(mismatch());
        }
        Ok((scalar, values))
    }

    pub(super) fn lane_by_lane(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &Inst,
        by: &Lanes,
    ) -> Result<Values> {
        let (result, lanes) = self.source.program.shape(inst.operand(0))?;
        if !by.gives.fits(result) {
            return Err(mismatch());
        }
        let mut operands: Vec<Values> = Vec::with_capacity(2);
        let mut scalar = None;
        for &id in inst.rest(2) {
            let (own, values) = self.like(frame, id, by.takes, lanes)?;
            let values = match by.op {
                Op::SDiv | Op::SRem | Op::SLt | Op::SLe => self.extended_by_sign(own, values),
                _ => values,
            };
            if scalar.is_some_and(|known: naga::Scalar| known.width != own.width) {
                return Err(mismatch());
            }
            scalar = Some(own);
            operands.push(values);
        }
        let takes = match by.op {
            Op::INeg | Op::FNeg | Op::Not | Op::BitReverse | Op::PopCount => 1,
            _ => 2,
        };
        if operands.len() != takes {
            return Err(mismatch());
        }
        if by.exchanged {
            operands.reverse();
        }
        let operands: Vec<&Values> = operands.iter().collect();
        let mut values = self.map(by.op, &operands)?;
        if by.op == Op::BitReverse && is_byte(result) {
            let by = Values::from_elem(self.u32(24), 1);
            values = self.map(Op::LShr, &[&values, &by])?;
        }
        let values = self.cut(result, values);
        // A count of bits may be of another width than what is counted.
        let (from, to) = (scalar.map(width), width(result));
        match by.op {
            Op::PopCount if from != Some(to) => {
                self.lanes(lanes, |lower, lane| Ok(lower.convert(Op::UConvert, to, values[lane])))
            }
            _ => Ok(values),
        }
    }

    pub(super) fn same_widths(&self, a: &[Value], b: &[Value]) -> Result<()> {
        let ty = a.first().map(|&value| self.ty(value));
        let same = a.iter().chain(b).all(|&value| Some(self.ty(value)) == ty);
        if same { Ok(()) } else { Err(mismatch()) }
    }

    /// Requires values of floats.
    pub(super) fn floats(&self, ids: &[Id]) -> Result<()> {
        let program = self.source.program;
        for &id in ids {
            let (Ty::Scalar(scalar) | Ty::Vector(scalar, ..) | Ty::Matrix(scalar, ..)) =
                program.ty(program.type_of(id)?)?
            else {
                return Err(mismatch());
            };
            if scalar.kind != ScalarKind::Float {
                return Err(mismatch());
            }
        }
        Ok(())
    }
}
