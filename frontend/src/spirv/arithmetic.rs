//! Arithmetic that is more than an operation lane by lane: conversions, shifts, remainders, fields of bits, carries, derivatives.

use super::lanes::{Kind, mismatch};
use super::module::Inst;
use super::program::{Id, op};
use super::types::Ty;
use super::{Frame, OfSpirv};
use crate::lower::emit::pick;
use crate::lower::narrow::is_byte;
use crate::lower::types::width;
use crate::lower::{Result, Values};
use gpucc_ir::ssa::{Op, Stage, Type};
use naga::{DerivativeAxis, DerivativeControl, RelationalFunction, ScalarKind};
use rspirv::spirv::{Op as Code, StorageClass};

impl<'p> OfSpirv<'p> {
    /// Arithmetic that is more than an operation lane by lane; none where it is no such instruction.
    pub(super) fn beyond_lanes(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &'p Inst,
        code: Code,
    ) -> Result<Option<Values>> {
        let program = self.source.program;
        let ty = inst.operand(0);
        let [a, b, c, d] = [2, 3, 4, 5].map(|at| inst.operand(at));
        let lanes = || program.shape(ty).map(|(_, count)| count);
        Ok(Some(match code {
            Code::ConvertFToU
            | Code::ConvertFToS
            | Code::ConvertSToF
            | Code::ConvertUToF
            | Code::UConvert
            | Code::SConvert
            | Code::FConvert => self.conversion(frame, inst)?,
            Code::QuantizeToF16 => {
                let (_, values) = self.like(frame, a, Kind::Float, lanes()?)?;
                self.map(Op::FQuantize, &[&values])?
            }
            Code::Bitcast => self.bitcast(frame, inst)?,
            Code::ConvertPtrToU | Code::ConvertUToPtr if program.has_addresses => {
                self.address_as_number(frame, inst)?
            }
            Code::ShiftLeftLogical | Code::ShiftRightLogical | Code::ShiftRightArithmetic => {
                let op = match code {
                    Code::ShiftLeftLogical => Op::Shl,
                    Code::ShiftRightLogical => Op::LShr,
                    _ => Op::AShr,
                };
                let lanes = lanes()?;
                let (own, mut base) = self.like(frame, a, Kind::Int, lanes)?;
                let (_, by) = self.like(frame, b, Kind::Int, lanes)?;
                let by = self.words_of(&by)?;
                if op == Op::AShr {
                    base = self.extended_by_sign(own, base);
                }
                let values = self.map(op, &[&base, &by])?;
                self.cut(own, values)
            }
            Code::SMod => {
                let lanes = lanes()?;
                let (own, x) = self.like(frame, a, Kind::Int, lanes)?;
                let (other, y) = self.like(frame, b, Kind::Int, lanes)?;
                self.same_widths(&x, &y)?;
                let x = self.extended_by_sign(own, x);
                let y = self.extended_by_sign(other, y);
                let values = self.modulo(&x, &y)?;
                self.cut(own, values)
            }
            Code::FMod => {
                let lanes = lanes()?;
                let (_, x) = self.like(frame, a, Kind::Float, lanes)?;
                let (_, y) = self.like(frame, b, Kind::Float, lanes)?;
                self.same_widths(&x, &y)?;
                let ratio = self.map(Op::FDiv, &[&x, &y])?;
                let whole = self.map(Op::FFloor, &[&ratio])?;
                let product = self.map(Op::FMul, &[&y, &whole])?;
                self.map(Op::FSub, &[&x, &product])?
            }
            Code::IAddCarry | Code::ISubBorrow | Code::UMulExtended | Code::SMulExtended => {
                self.extended(frame, inst)?
            }
            Code::Any | Code::All => {
                let (_, count) = self.shape_of(a, Kind::Bool)?;
                let (_, values) = self.like(frame, a, Kind::Bool, count)?;
                let fun = match code {
                    Code::Any => RelationalFunction::Any,
                    _ => RelationalFunction::All,
                };
                self.relational(fun, &values)?
            }
            Code::IsNan | Code::IsInf => {
                let (_, values) = self.like(frame, a, Kind::Float, lanes()?)?;
                let fun = match code {
                    Code::IsNan => RelationalFunction::IsNan,
                    _ => RelationalFunction::IsInf,
                };
                self.relational(fun, &values)?
            }
            Code::Select => {
                let condition = self.values(frame, a)?;
                let (accept, reject) = (self.values(frame, b)?, self.values(frame, c)?);
                let truths = condition.iter().all(|&value| self.ty(value) == Type::B1);
                let fits = condition.len() == 1 || condition.len() == accept.len();
                if !truths || !fits || program.type_of(b)? != ty || program.type_of(c)? != ty {
                    return Err(mismatch());
                }
                self.lanes(accept.len(), |lower, lane| {
                    let condition = pick(&condition, lane);
                    Ok(lower.select(condition, accept[lane], reject[lane]))
                })?
            }
            Code::BitFieldInsert | Code::BitFieldSExtract | Code::BitFieldUExtract => {
                let lanes = lanes()?;
                let (own, base) = self.like(frame, a, Kind::Int, lanes)?;
                let values = if code == Code::BitFieldInsert {
                    let (_, new) = self.like(frame, b, Kind::Int, lanes)?;
                    self.same_widths(&base, &new)?;
                    let (offset, count) = (self.word_of(frame, c)?, self.word_of(frame, d)?);
                    self.map(Op::Bfi, &[&base, &new, &offset, &count])?
                } else {
                    let (offset, count) = (self.word_of(frame, b)?, self.word_of(frame, c)?);
                    let op = if code == Code::BitFieldSExtract { Op::SBfe } else { Op::UBfe };
                    self.map(op, &[&base, &offset, &count])?
                };
                self.cut(own, values)
            }
            _ => return Ok(None),
        }))
    }

    /// Derivatives; none where it is no such instruction.
    pub(super) fn derivatives(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &'p Inst,
        code: Code,
    ) -> Result<Option<Values>> {
        let program = self.source.program;
        let ty = inst.operand(0);
        let [a] = [2].map(|at| inst.operand(at));
        let lanes = || program.shape(ty).map(|(_, count)| count);
        Ok(Some(match code {
            Code::DPdx
            | Code::DPdy
            | Code::Fwidth
            | Code::DPdxFine
            | Code::DPdyFine
            | Code::FwidthFine
            | Code::DPdxCoarse
            | Code::DPdyCoarse
            | Code::FwidthCoarse => {
                if self.stage != Stage::Compute {
                    self.of_fragments("a derivative")?;
                }
                let (_, values) = self.like(frame, a, Kind::Float, lanes()?)?;
                use DerivativeAxis as A;
                use DerivativeControl as C;
                let (axis, control) = match code {
                    Code::DPdx => (A::X, C::None),
                    Code::DPdy => (A::Y, C::None),
                    Code::Fwidth => (A::Width, C::None),
                    Code::DPdxFine => (A::X, C::Fine),
                    Code::DPdyFine => (A::Y, C::Fine),
                    Code::FwidthFine => (A::Width, C::Fine),
                    Code::DPdxCoarse => (A::X, C::Coarse),
                    Code::DPdyCoarse => (A::Y, C::Coarse),
                    _ => (A::Width, C::Coarse),
                };
                self.derivative(axis, control, &values)?
            }
            _ => return Ok(None),
        }))
    }

    /// Integers of any width as words, lane by lane.
    fn words_of(&mut self, values: &Values) -> Result<Values> {
        self.lanes(values.len(), |lower, lane| {
            Ok(match lower.ty(values[lane]) {
                Type::B64 => lower.op1(Op::Lo64, values[lane]),
                Type::B32 => values[lane],
                Type::B1 | Type::B16 => lower.convert(Op::UConvert, Type::B32, values[lane]),
            })
        })
    }

    fn word_of(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Values> {
        let (_, values) = self.like(frame, id, Kind::Int, 1)?;
        self.words_of(&values)
    }

    fn conversion(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let (to, lanes) = self.source.program.shape(inst.operand(0))?;
        let (takes, gives, from, into) = match op(inst) {
            Code::ConvertFToU => (Kind::Float, Kind::Int, ScalarKind::Float, ScalarKind::Uint),
            Code::ConvertFToS => (Kind::Float, Kind::Int, ScalarKind::Float, ScalarKind::Sint),
            Code::ConvertSToF => (Kind::Int, Kind::Float, ScalarKind::Sint, ScalarKind::Float),
            Code::ConvertUToF => (Kind::Int, Kind::Float, ScalarKind::Uint, ScalarKind::Float),
            Code::UConvert => (Kind::Int, Kind::Int, ScalarKind::Uint, ScalarKind::Uint),
            Code::SConvert => (Kind::Int, Kind::Int, ScalarKind::Sint, ScalarKind::Sint),
            _ => (Kind::Float, Kind::Float, ScalarKind::Float, ScalarKind::Float),
        };
        let (scalar, values) = self.like(frame, inst.operand(2), takes, lanes)?;
        if !gives.fits(to) {
            return Err(mismatch());
        }
        let values = match from {
            ScalarKind::Sint => self.extended_by_sign(scalar, values),
            _ => values,
        };
        let wide = |scalar: naga::Scalar| if is_byte(scalar) { 4 } else { scalar.width };
        let from = naga::Scalar { kind: from, width: wide(scalar) };
        let into = naga::Scalar { kind: into, width: wide(to) };
        let values =
            self.lanes(lanes, |lower, lane| lower.convert_scalar(values[lane], from, into))?;
        Ok(self.cut(to, values))
    }

    /// Scalar type and lanes; a pointer to physical storage is a number of 64 bits.
    fn shape_of_bits(&self, ty: Id) -> Result<(naga::Scalar, usize)> {
        let program = self.source.program;
        match program.ty(ty)? {
            Ty::Pointer(StorageClass::PhysicalStorageBuffer, _) => Ok((naga::Scalar::U64, 1)),
            _ => program.shape(ty),
        }
    }

    /// `OpConvertPtrToU` and `OpConvertUToPtr`: a number is cut to its type, and one of fewer bits gets zeros.
    fn address_as_number(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let program = self.source.program;
        let (to, lanes) = self.shape_of_bits(inst.operand(0))?;
        let (from, _) = self.shape_of_bits(program.type_of(inst.operand(2))?)?;
        let pointer = match op(inst) {
            Code::ConvertPtrToU => program.type_of(inst.operand(2))?,
            _ => inst.operand(0),
        };
        let is_pointer =
            matches!(program.ty(pointer)?, Ty::Pointer(StorageClass::PhysicalStorageBuffer, _));
        if !is_pointer || lanes != 1 || [from, to].iter().any(|kind| !Kind::Int.fits(*kind)) {
            return Err(mismatch());
        }
        let value = self.scalar(frame, inst.operand(2))?;
        let converted = match (self.ty(value), width(to)) {
            (own, to) if own == to => value,
            (_, to) => self.convert(Op::UConvert, to, value),
        };
        Ok(self.cut(to, Values::from_elem(converted, 1)))
    }

    /// The same bits as other scalars: of one width, or of twice or half as many.
    fn bitcast(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let program = self.source.program;
        let (to, lanes) = self.shape_of_bits(inst.operand(0))?;
        let (from, count) = self.shape_of_bits(program.type_of(inst.operand(2))?)?;
        let values = self.values(frame, inst.operand(2))?;
        if to.kind == ScalarKind::Bool || from.kind == ScalarKind::Bool {
            return Err(mismatch());
        }
        if is_byte(from) || is_byte(to) {
            if usize::from(from.width) * count != usize::from(to.width) * lanes {
                return Err(mismatch());
            }
            return Ok(self.bitcast_bytes(&values, from, to));
        }
        let (from, to) = (width(from), width(to));
        if u64::from(from.bits()) * count as u64 != u64::from(to.bits()) * lanes as u64 {
            return Err(mismatch());
        }
        Ok(self.recast(values, from, to))
    }

    /// Sums with carries and products of twice the width.
    fn extended(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let program = self.source.program;
        let (own, lanes) = self.shape_of(inst.operand(2), Kind::Int)?;
        let (_, mut a) = self.like(frame, inst.operand(2), Kind::Int, lanes)?;
        let (_, mut b) = self.like(frame, inst.operand(3), Kind::Int, lanes)?;
        self.same_widths(&a, &b)?;
        program.leaf_count(inst.operand(0))?;
        if is_byte(own) && matches!(op(inst), Code::UMulExtended | Code::SMulExtended) {
            if op(inst) == Code::SMulExtended {
                (a, b) = (self.extended_by_sign(own, a), self.extended_by_sign(own, b));
            }
            let product = self.map(Op::IMul, &[&a, &b])?;
            let eight = Values::from_elem(self.u32(8), 1);
            let upper = self.map(Op::LShr, &[&product, &eight])?;
            let mut both = self.cut(own, product);
            both.extend(self.cut(own, upper));
            return Ok(both);
        }
        let ty = self.ty(a[0]);
        let (one, zero) = (self.constant(ty, 1), self.constant(ty, 0));
        let code = op(inst);
        let low_op = match code {
            Code::IAddCarry => Op::IAdd,
            Code::ISubBorrow => Op::ISub,
            _ => Op::IMul,
        };
        let low = self.map(low_op, &[&a, &b])?;
        let mut low = self.cut(own, low);
        let high = self.lanes(lanes, |lower, lane| {
            Ok(match code {
                Code::UMulExtended => lower.op2(Op::UMulHi, a[lane], b[lane]),
                Code::SMulExtended => lower.op2(Op::SMulHi, a[lane], b[lane]),
                _ => {
                    let over = match code {
                        Code::IAddCarry => lower.op2(Op::ULt, low[lane], a[lane]),
                        _ => lower.op2(Op::ULt, a[lane], b[lane]),
                    };
                    lower.select(over, one, zero)
                }
            })
        })?;
        low.extend(high);
        Ok(low)
    }
}
