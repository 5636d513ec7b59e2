//! Instructions: values, memory, calls.

use super::module::Inst;
use super::program::{Id, READING, op};
use super::types::Ty;
use super::{Frame, OfSpirv, Operand, Pointer};
use crate::Needs;
use crate::lower::ballot::Mask;
use crate::lower::emit::pick;
use crate::lower::flow::{CONSTANT_LEAVES, SELECT_LEAVES};
use crate::lower::memory::{Atomic, atomic_op};
use crate::lower::narrow::is_byte;
use crate::lower::types::width;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{AtomicOp, Imm, Op, Scan, Shuffle, Stage, Type, Value};
use naga::{AtomicFunction, DerivativeAxis, DerivativeControl, RelationalFunction, ScalarKind};
use rspirv::spirv::{Op as Code, StorageClass};

/// How the lanes of an operand must look.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
    Bool,
}

impl Kind {
    fn fits(self, scalar: naga::Scalar) -> bool {
        match self {
            Kind::Int => matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint),
            Kind::Float => scalar.kind == ScalarKind::Float,
            Kind::Bool => scalar.kind == ScalarKind::Bool,
        }
    }
}

/// An operation lane by lane: what it takes and gives, and whether its operands are exchanged.
struct Lanes {
    op: Op,
    takes: Kind,
    gives: Kind,
    exchanged: bool,
}

/// Operations of one or two operands that are one of ours.
fn lanes_of(code: Code) -> Option<Lanes> {
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
fn without_nan(code: Code) -> Option<(Code, Option<Code>)> {
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

fn mismatch() -> Stop {
    Stop::invalid("operands and result of this instruction do not have the types that it takes")
}

impl<'p> OfSpirv<'p> {
    /// An instruction of a block.
    pub(super) fn inst(&mut self, frame: &mut Frame<'p>, inst: &'p Inst) -> Result<()> {
        match op(inst) {
            Code::Nop | Code::Line | Code::NoLine | Code::SelectionMerge | Code::LoopMerge => {}
            Code::Variable => {
                let (_, ty) = self.source.program.pointee(inst.operand(0))?;
                if self.source.program.ty(ty)?.is_handle() {
                    let what = "variables that hold textures or samplers";
                    return Err(Stop::unsupported(what, READING));
                }
                let name = self.source.program.name(inst.operand(1));
                let name = if name.is_empty() { "local" } else { &name };
                let pointer = self.private(name, ty)?;
                self.initialise(&pointer, inst.rest(3).first().copied())?;
                self.set(frame, inst.operand(1), Operand::Pointer(pointer))?;
            }
            Code::Phi => {
                let pointer = self.phi(frame, inst.operand(1), inst.operand(0))?;
                let values = self.load(&pointer)?;
                self.set(frame, inst.operand(1), Operand::Values(values))?;
            }
            Code::Store => {
                let values = self.values(frame, inst.operand(1))?;
                self.give(frame, inst.operand(0), &values)?;
            }
            Code::CopyMemory => {
                let values = self.load_at(frame, inst.operand(1))?;
                self.give(frame, inst.operand(0), &values)?;
            }
            Code::AtomicStore => {
                let value = self.scalar(frame, inst.operand(3))?;
                self.atomic_write(frame, inst.operand(0), value)?;
            }
            Code::ImageWrite => self.image_write(frame, inst)?,
            Code::ControlBarrier => self.control_barrier(inst)?,
            // Orders the memory accesses of one invocation as others see them. Every machine here
            // keeps them in program order up to the next control barrier, so there is nothing to do.
            Code::MemoryBarrier => {}
            // What is assumed changes nothing.
            Code::AssumeTrueKHR => {
                let truth = self.scalar(frame, inst.operand(0))?;
                if self.ty(truth) != Type::B1 {
                    return Err(mismatch());
                }
            }
            Code::DemoteToHelperInvocation => {
                self.of_fragments("demote")?;
                self.b().inst(Op::Demote, Imm::None, &[], &[], &[]);
            }
            Code::FunctionCall => {
                if let Some(operand) = self.call(frame, inst)? {
                    self.set(frame, inst.operand(1), operand)?;
                }
            }
            Code::BeginInvocationInterlockEXT | Code::EndInvocationInterlockEXT => {
                let stop = Stop::unsupported("fragment shader interlock", READING);
                return Err(stop.needing(Needs::Interlock));
            }
            other => match self.evaluate(frame, inst)? {
                Some(operand) => self.set(frame, inst.operand(1), operand)?,
                None => return Err(lacking(other, inst)),
            },
        }
        Ok(())
    }

    fn call(&mut self, frame: &mut Frame<'p>, inst: &'p Inst) -> Result<Option<Operand>> {
        let program = self.source.program;
        let Some(callee) = program.function(inst.operand(2)) else {
            return Err(Stop::internal("a call of what is no function"));
        };
        let mut arguments = Vec::with_capacity(inst.rest(3).len());
        for (at, &argument) in inst.rest(3).iter().enumerate() {
            let wanted = callee.parameters.get(at).map(|&parameter| program.type_of(parameter));
            if wanted.transpose()? != Some(program.type_of(argument)?) {
                return Err(Stop::invalid("an argument does not have its parameter's type"));
            }
            arguments.push(self.operand(frame, argument)?);
        }
        let at = self.span;
        let mut slot = None;
        self.labelled(|lower, label| {
            slot = lower.inline(callee, arguments, label)?;
            Ok(true)
        })?;
        self.span = at;
        if self.ended() {
            return Ok(None);
        }
        match slot {
            Some(slot) => Ok(Some(Operand::Values(self.load(&slot)?))),
            None => Ok(None),
        }
    }

    /// What only fragment shaders may do.
    pub(super) fn of_fragments(&self, what: &str) -> Result<()> {
        match self.stage {
            Stage::Fragment => Ok(()),
            stage => Err(Stop::invalid(format!("{what} in a {} shader", stage.name()))),
        }
    }

    /// A clock as a value of the instruction's type: 64 bits, or two words of 32.
    pub(super) fn clock(&mut self, inst: &Inst, op: Op) -> Result<Values> {
        let made = self.b().inst(op, Imm::None, &[], &[], &[Type::B32; 2]);
        let words = Values::from_slice(&self.func.insts[made].results);
        Ok(match self.source.program.shape(inst.operand(0))?.1 {
            1 => Values::from_elem(self.op2(Op::Join64, words[0], words[1]), 1),
            _ => words,
        })
    }

    fn control_barrier(&mut self, inst: &Inst) -> Result<()> {
        let [scope, _, semantics] = [0, 1, 2].map(|at| self.constant_values(inst.operand(at)));
        let known = |values: Values| self.func.as_const(values[0]).unwrap_or(0);
        let (scope, semantics) = (known(scope?), known(semantics?));
        if scope == SUBGROUP {
            self.b().inst(Op::SubgroupBarrier, Imm::None, &[], &[], &[]);
            return Ok(());
        }
        let imm = Imm::Barrier {
            storage: semantics & 0x40 != 0,
            workgroup: semantics & 0x100 != 0,
            texture: semantics & 0x800 != 0,
        };
        self.b().inst(Op::Barrier, imm, &[], &[], &[]);
        Ok(())
    }

    /// What an instruction gives; none where it is not one that the reader knows.
    pub(super) fn evaluate(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &'p Inst,
    ) -> Result<Option<Operand>> {
        let program = self.source.program;
        let (ty, code) = (inst.operand(0), op(inst));
        let operand = match code {
            Code::AccessChain | Code::InBoundsAccessChain => {
                let base = self.operand(frame, inst.operand(2))?;
                return self.walk(frame, inst, base, inst.rest(3)).map(Some);
            }
            Code::PtrAccessChain | Code::InBoundsPtrAccessChain => {
                let (class, _) = program.pointee(ty)?;
                if !program.has_far && class != StorageClass::PhysicalStorageBuffer {
                    let what = "a pointer moves along an array, and the module does not declare VariablePointers";
                    return Err(Stop::invalid(what));
                }
                let base = self.far_beside(frame, inst)?;
                return self.walk(frame, inst, Operand::Far(base), inst.rest(4)).map(Some);
            }
            Code::Load => {
                let from = self.operand(frame, inst.operand(2))?;
                match from {
                    Operand::Binding(bound, to) if program.ty(to)?.is_opaque() => {
                        if to != ty {
                            return Err(mismatch());
                        }
                        match program.ty(ty)? {
                            Ty::SampledImage(_) => Operand::Sampled(bound, bound),
                            _ => Operand::Handle(bound),
                        }
                    }
                    from => Operand::Values(self.at(from, Some(ty), &mut |lower, pointer| {
                        if pointer.ty != ty {
                            return Err(mismatch());
                        }
                        lower.load(pointer)
                    })?),
                }
            }
            Code::CopyObject => {
                if program.type_of(inst.operand(2))? != ty {
                    return Err(mismatch());
                }
                self.operand(frame, inst.operand(2))?
            }
            Code::SampledImage => {
                let own = program.type_of(inst.operand(2))?;
                let Ty::SampledImage(of) = program.ty(ty)? else {
                    return Err(mismatch());
                };
                match (program.ty(*of)?, program.ty(own)?) {
                    (Ty::Image(wanted), Ty::Image(image)) if wanted == image => {}
                    _ => return Err(mismatch()),
                }
                let image = self.operand(frame, inst.operand(2))?;
                let sampler = self.operand(frame, inst.operand(3))?;
                match (image, sampler) {
                    (Operand::Handle(image), Operand::Handle(sampler)) => {
                        Operand::Sampled(image, sampler)
                    }
                    _ => return Err(mismatch()),
                }
            }
            Code::Image => match self.operand(frame, inst.operand(2))? {
                Operand::Sampled(image, _) => Operand::Handle(image),
                _ => return Err(mismatch()),
            },
            Code::ImageTexelPointer => self.texel_pointer(frame, inst)?,
            Code::Undef => Operand::Values(self.zeros(ty)?),
            _ => match self.computed(frame, inst)? {
                Some(values) => {
                    let widths = program.widths(ty)?;
                    let fits = values.len() == widths.len()
                        && values.iter().zip(&widths).all(|(&value, &ty)| self.ty(value) == ty);
                    if !fits {
                        return Err(mismatch());
                    }
                    Operand::Values(values)
                }
                None => return Ok(None),
            },
        };
        Ok(Some(operand))
    }

    /// Walks from a pointer to a part of what it points to.
    fn walk(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &Inst,
        base: Operand,
        indices: &[Id],
    ) -> Result<Operand> {
        let program = self.source.program;
        let (_, wanted) = program.pointee(inst.operand(0))?;
        let mut at = base;
        for &index in indices {
            at = match at {
                Operand::Far(far) => Operand::Far(self.far_part(frame, far, index)?),
                Operand::Binding(bound, ty) if matches!(program.ty(ty)?, Ty::Array { .. }) => {
                    let (of, _) = program.elements(ty)?;
                    let index = self.index(frame, index)?;
                    Operand::Binding(self.bound_element(bound, ty, index)?, of)
                }
                at => {
                    let pointer = self.pointer(at)?;
                    Operand::Pointer(match program.ty(pointer.ty)? {
                        Ty::Struct(_) => {
                            let number = self.index(frame, index)?;
                            let Some(number) = self.func.as_const(number) else {
                                let message =
                                    "a member of a structure at an index that is no constant";
                                return Err(Stop::invalid(message));
                            };
                            self.member_of(&pointer, number as u32)?
                        }
                        _ => {
                            let index = self.index(frame, index)?;
                            self.element_of(&pointer, index)?
                        }
                    })
                }
            };
        }
        let reached = match &at {
            Operand::Pointer(pointer) => pointer.ty,
            Operand::Far(far) => Self::far_type(far),
            Operand::Binding(_, ty) => *ty,
            _ => return Err(mismatch()),
        };
        if reached != wanted {
            let message = format!("an access chain reaches the type %{reached}, not %{wanted}");
            return Err(Stop::invalid(message));
        }
        Ok(at)
    }

    /// An index as a word.
    pub(super) fn index(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Value> {
        let program = self.source.program;
        let (kind, _) = program.shape(program.type_of(id)?)?;
        let mut index = self.scalar(frame, id)?;
        if kind.kind == ScalarKind::Sint {
            index = self.extended_by_sign(kind, Values::from_elem(index, 1))[0];
        }
        Ok(match self.ty(index) {
            Type::B64 => self.op1(Op::Lo64, index),
            Type::B16 => self.convert(Op::UConvert, Type::B32, index),
            Type::B32 => index,
            Type::B1 => return Err(Stop::invalid("an index is an integer")),
        })
    }

    /// Scalar type and lanes of a value that is a scalar or vector of a kind.
    fn shape_of(&self, id: Id, kind: Kind) -> Result<(naga::Scalar, usize)> {
        let program = self.source.program;
        let shape = program.shape(program.type_of(id)?)?;
        if kind.fits(shape.0) { Ok(shape) } else { Err(mismatch()) }
    }

    /// The scalars of an operand with as many lanes as the result.
    fn like(
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

    fn lane_by_lane(&mut self, frame: &mut Frame<'p>, inst: &Inst, by: &Lanes) -> Result<Values> {
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

    /// The scalars that an instruction computes.
    fn computed(&mut self, frame: &mut Frame<'p>, inst: &'p Inst) -> Result<Option<Values>> {
        let program = self.source.program;
        let ty = inst.operand(0);
        let mut code = op(inst);
        let mut negated = false;
        if let Some((plain, opposite)) = without_nan(code) {
            match opposite {
                Some(opposite) if program.keeps_nan => (code, negated) = (opposite, true),
                _ => code = plain,
            }
        }
        if let Some(by) = lanes_of(code) {
            let values = self.lane_by_lane(frame, inst, &by)?;
            return Ok(Some(if negated { self.map(Op::Not, &[&values])? } else { values }));
        }
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
            Code::VectorTimesScalar | Code::MatrixTimesScalar => {
                let factor = self.scalar(frame, b)?;
                let values = self.values(frame, a)?;
                self.floats(&[a, b])?;
                let factor = Values::from_elem(factor, 1);
                self.same_widths(&values, &factor)?;
                if program.type_of(a)? != ty {
                    return Err(mismatch());
                }
                self.map(Op::FMul, &[&values, &factor])?
            }
            Code::VectorTimesMatrix => {
                let (rows, _) = self.matrix(b)?;
                let (vector, matrix) = (self.values(frame, a)?, self.values(frame, b)?);
                self.floats(&[a])?;
                if vector.len() != rows {
                    return Err(mismatch());
                }
                self.same_widths(&vector, &matrix)?;
                self.vector_matrix(&vector, &matrix)?
            }
            Code::MatrixTimesVector => self.matrix_times_vector(frame, a, b)?,
            Code::MatrixTimesMatrix => {
                let ((_, columns), (rows, _)) = (self.matrix(a)?, self.matrix(b)?);
                let (left, right) = (self.values(frame, a)?, self.values(frame, b)?);
                if columns != rows {
                    return Err(mismatch());
                }
                self.same_widths(&left, &right)?;
                self.matrix_matrix(&left, &right, rows)?
            }
            Code::OuterProduct => {
                let (column, row) = (self.values(frame, a)?, self.values(frame, b)?);
                self.floats(&[a, b])?;
                self.same_widths(&column, &row)?;
                self.outer(&column, &row)?
            }
            Code::Transpose => {
                let (rows, _) = self.matrix(a)?;
                let matrix = self.values(frame, a)?;
                self.transpose(&matrix, rows)
            }
            Code::Dot => {
                let (_, count) = self.shape_of(a, Kind::Float)?;
                let (_, x) = self.like(frame, a, Kind::Float, count)?;
                let (_, y) = self.like(frame, b, Kind::Float, count)?;
                self.same_widths(&x, &y)?;
                Values::from_elem(self.dot_float(&x, &y), 1)
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
            Code::CompositeConstruct => {
                program.leaf_count(ty)?;
                let mut values = Values::new();
                for &part in inst.rest(2) {
                    let part = self.values(frame, part)?;
                    values.extend(part);
                }
                values
            }
            Code::CompositeExtract => {
                let values = self.values(frame, a)?;
                let (found, start, count) = self.path(program.type_of(a)?, inst.rest(3))?;
                if found != ty || start + count > values.len() {
                    return Err(mismatch());
                }
                Values::from_slice(&values[start..start + count])
            }
            Code::CompositeInsert => {
                let part = self.values(frame, a)?;
                let mut values = self.values(frame, b)?;
                let (found, start, count) = self.path(ty, inst.rest(4))?;
                let fits = program.type_of(a)? == found
                    && program.type_of(b)? == ty
                    && part.len() == count
                    && start + count <= values.len();
                if !fits {
                    return Err(mismatch());
                }
                values[start..start + count].copy_from_slice(&part);
                values
            }
            Code::CopyLogical => self.values(frame, a)?,
            Code::VectorShuffle => {
                let (scalar, _) = program.shape(ty)?;
                let mut all = self.values(frame, a)?;
                all.extend(self.values(frame, b)?);
                let undefined = self.constant(width(scalar), 0);
                let mut values = Values::new();
                for &lane in inst.rest(4) {
                    values.push(match lane {
                        u32::MAX => undefined,
                        _ => *all.get(lane as usize).ok_or_else(mismatch)?,
                    });
                }
                values
            }
            Code::VectorExtractDynamic => {
                let vector = self.values(frame, a)?;
                let (_, count) = program.shape(program.type_of(a)?)?;
                let index = self.index(frame, b)?;
                self.pick_part(program.type_of(a)?, &vector, index, count as u32)?
            }
            Code::VectorInsertDynamic => {
                let (vector, part) = (self.values(frame, a)?, self.scalar(frame, b)?);
                let index = self.index(frame, c)?;
                if program.type_of(a)? != ty || self.ty(vector[0]) != self.ty(part) {
                    return Err(mismatch());
                }
                self.lanes(vector.len(), |lower, lane| {
                    let number = lower.u32(lane as u32);
                    let here = lower.op2(Op::IEq, index, number);
                    Ok(lower.select(here, part, vector[lane]))
                })?
            }
            Code::ArrayLength => {
                let pointer = self.operand(frame, a)?;
                self.at(pointer, Some(ty), &mut |lower, pointer| {
                    let array = lower.member_of(pointer, b)?;
                    let Ty::Array { length: None, stride, .. } = *program.ty(array.ty)? else {
                        return Err(mismatch());
                    };
                    Ok(Values::from_elem(lower.runtime_length(&array.place, stride)?, 1))
                })?
            }
            Code::AtomicLoad
            | Code::AtomicExchange
            | Code::AtomicCompareExchange
            | Code::AtomicIIncrement
            | Code::AtomicIDecrement
            | Code::AtomicIAdd
            | Code::AtomicISub
            | Code::AtomicSMin
            | Code::AtomicUMin
            | Code::AtomicSMax
            | Code::AtomicUMax
            | Code::AtomicAnd
            | Code::AtomicOr
            | Code::AtomicXor
            | Code::AtomicFAddEXT
            | Code::AtomicFMinEXT
            | Code::AtomicFMaxEXT => Values::from_elem(self.atomic_read(frame, inst)?, 1),
            Code::PtrEqual | Code::PtrNotEqual | Code::PtrDiff if program.has_far => {
                Values::from_elem(self.compared_pointers(frame, inst)?, 1)
            }
            Code::IsHelperInvocationEXT => {
                let inst = self.b().inst(Op::IsHelper, Imm::None, &[], &[], &[Type::B1]);
                Values::from_slice(&self.func.insts[inst].results)
            }
            Code::ReadClockKHR => {
                let scope = self.constant_values(inst.operand(2))?;
                match self.func.as_const(scope[0]) {
                    Some(DEVICE) => self.clock(inst, Op::DeviceClock)?,
                    Some(SUBGROUP) => self.clock(inst, Op::Clock)?,
                    _ => {
                        return Err(Stop::invalid(
                            "a clock is the device's or the subgroup's (SPV_KHR_shader_clock)",
                        ));
                    }
                }
            }
            Code::ExtInst if inst.operand(2) == program.glsl => self.function(frame, inst)?,
            Code::ExtInst => match program.amd.get(&inst.operand(2)) {
                Some(&set) => self.function_of_amd(frame, set, inst)?,
                None => return Ok(None),
            },
            _ if matches!(inst.opcode(), 86..=107 | FRAGMENT_MASK | FRAGMENT) => {
                match self.image_value(frame, inst)? {
                    Some(values) => values,
                    None => return Ok(None),
                }
            }
            _ if matches!(inst.opcode(), DOT..=DOT_LAST) => match self.integer_dot(frame, inst)? {
                Some(values) => values,
                None => return Ok(None),
            },
            // What is expected changes nothing.
            Code::ExpectKHR => self.values(frame, a)?,
            _ if matches!(inst.opcode(), 333..=366 | BALLOT..=READ | QUAD_ALL | QUAD_ANY | AMD..=AMD_LAST) => {
                match self.group(frame, inst)? {
                    Some(values) => values,
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// A part of a value at constant indices: its type, the scalars before it, and its own.
    fn path(&self, ty: Id, path: &[u32]) -> Result<(Id, usize, usize)> {
        let program = self.source.program;
        let (mut ty, mut start, mut count) = (ty, 0, program.leaf_count(ty)?);
        for &index in path {
            let (of, before, own) = program.part(ty, index)?;
            (ty, start, count) = (of, start + before, own);
        }
        Ok((ty, start, count))
    }

    /// The element of a value at an index that may be out of range.
    fn pick_part(&mut self, ty: Id, values: &Values, index: Value, length: u32) -> Result<Values> {
        if let Some(bits) = self.func.as_const(index)
            && bits < u64::from(length)
        {
            let (_, start, count) = self.source.program.part(ty, bits as u32)?;
            return Ok(Values::from_slice(&values[start..start + count]));
        }
        let constants = self.known(values).is_some();
        let most = if constants { CONSTANT_LEAVES } else { SELECT_LEAVES };
        if values.len() > most {
            let array = self.private("array", ty)?;
            self.store(&array, values)?;
            let part = self.element_of(&array, index)?;
            return self.load(&part);
        }
        self.choose(values, index, length)
    }

    fn same_widths(&self, a: &[Value], b: &[Value]) -> Result<()> {
        let ty = a.first().map(|&value| self.ty(value));
        let same = a.iter().chain(b).all(|&value| Some(self.ty(value)) == ty);
        if same { Ok(()) } else { Err(mismatch()) }
    }

    /// Requires values of floats.
    fn floats(&self, ids: &[Id]) -> Result<()> {
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

    /// Rows and columns of a matrix.
    pub(super) fn matrix(&self, id: Id) -> Result<(usize, usize)> {
        let program = self.source.program;
        match *program.ty(program.type_of(id)?)? {
            Ty::Matrix(_, rows, columns, _) => Ok((rows as usize, columns as usize)),
            _ => Err(mismatch()),
        }
    }

    /// Matrix times vector. A matrix that is a product for this alone is taken apart, A (B v) for (A B) v: the same
    /// if computed exactly, fewer roundings, a fraction of the work. The product itself is left to nobody. Not where
    /// the position is invariant: another program may need the product too.
    fn matrix_times_vector(
        &mut self,
        frame: &mut Frame<'p>,
        matrix: Id,
        vector: Id,
    ) -> Result<Values> {
        let program = self.source.program;
        let mut vector = self.values(frame, vector)?;
        let mut id = matrix;
        loop {
            let (_, columns) = self.matrix(id)?;
            if columns != vector.len() {
                return Err(mismatch());
            }
            let product = program.inst(id).filter(|made| op(made) == Code::MatrixTimesMatrix);
            let alone = frame.function.slots.get(&id).is_some_and(|&slot| {
                let here = matches!(&frame.values[slot], Some((_, scope)) if *scope == frame.scope);
                frame.plan.uses[slot] == 1 && here
            });
            let Some(product) = product.filter(|_| alone && !self.func.invariant) else {
                break;
            };
            let (left, right) = (product.operand(2), product.operand(3));
            let seen = [left, right].iter().all(|id| {
                frame.function.slots.get(id).is_none_or(|&slot| {
                    matches!(&frame.values[slot], Some((_, scope)) if frame.plan.sees(*scope, frame.scope))
                })
            });
            if !seen {
                break;
            }
            let inner = self.values(frame, right)?;
            self.same_widths(&inner, &vector)?;
            vector = self.matrix_vector(&inner, &vector)?;
            id = left;
        }
        let matrix = self.values(frame, id)?;
        self.same_widths(&matrix, &vector)?;
        self.matrix_vector(&matrix, &vector)
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

    /// The same bits as other scalars: of one width, or of twice or half as many.
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

    /// The type of the word that an atomic changes; texels apart.
    fn atomic_scalar(&self, pointer: &Pointer) -> Result<naga::Scalar> {
        match *self.source.program.ty(pointer.ty)? {
            Ty::Scalar(scalar) if scalar.kind != ScalarKind::Bool && !is_byte(scalar) => Ok(scalar),
            _ => Err(mismatch()),
        }
    }

    /// What a pointer points to.
    fn load_at(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Values> {
        let program = self.source.program;
        let (_, ty) = program.pointee(program.type_of(id)?)?;
        let from = self.operand(frame, id)?;
        self.at(from, Some(ty), &mut |lower, pointer| lower.load(pointer))
    }

    fn atomic_write(&mut self, frame: &mut Frame<'p>, id: Id, value: Value) -> Result<()> {
        if let Operand::Texel(..) = self.operand(frame, id)? {
            self.texel_atomic(frame, id, AtomicOp::Exchange, &[value])?;
            return Ok(());
        }
        let pointer = self.operand(frame, id)?;
        self.at(pointer, None, &mut |lower, pointer| {
            if width(lower.atomic_scalar(pointer)?) != lower.ty(value) {
                return Err(mismatch());
            }
            lower.atomic_store(&pointer.place, value)?;
            Ok(Values::new())
        })?;
        Ok(())
    }

    fn atomic_read(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Value> {
        let gives = inst.operand(0);
        let (result, _) = self.source.program.shape(gives)?;
        let ty = width(result);
        let pointer = inst.operand(2);
        let code = op(inst);
        let mut operands = Values::new();
        let (fun, signed) = match code {
            Code::AtomicLoad => {
                return match self.operand(frame, pointer)? {
                    Operand::Texel(bound, coordinates) => self.texel_load(bound, &coordinates, ty),
                    pointer => {
                        let found = self.at(pointer, Some(gives), &mut |lower, pointer| {
                            if lower.atomic_scalar(pointer)? != result {
                                return Err(mismatch());
                            }
                            let word = lower.atomic(&pointer.place, AtomicOp::Load, ty, &[])?;
                            Ok(Values::from_elem(word, 1))
                        })?;
                        Ok(found[0])
                    }
                };
            }
            Code::AtomicIIncrement | Code::AtomicIDecrement => {
                operands.push(self.constant(ty, 1));
                match code {
                    Code::AtomicIIncrement => (AtomicFunction::Add, false),
                    _ => (AtomicFunction::Subtract, false),
                }
            }
            Code::AtomicCompareExchange => {
                // The new value stands before the one that is compared.
                let (new, old) = (inst.operand(6), inst.operand(7));
                operands.push(self.scalar(frame, old)?);
                operands.push(self.scalar(frame, new)?);
                (AtomicFunction::Exchange { compare: None }, false)
            }
            _ => {
                operands.push(self.scalar(frame, inst.operand(5))?);
                match code {
                    Code::AtomicExchange => (AtomicFunction::Exchange { compare: None }, false),
                    Code::AtomicIAdd | Code::AtomicFAddEXT => (AtomicFunction::Add, false),
                    Code::AtomicISub => (AtomicFunction::Subtract, false),
                    Code::AtomicSMin => (AtomicFunction::Min, true),
                    Code::AtomicUMin | Code::AtomicFMinEXT => (AtomicFunction::Min, false),
                    Code::AtomicSMax => (AtomicFunction::Max, true),
                    Code::AtomicUMax | Code::AtomicFMaxEXT => (AtomicFunction::Max, false),
                    Code::AtomicAnd => (AtomicFunction::And, false),
                    Code::AtomicOr => (AtomicFunction::InclusiveOr, false),
                    _ => (AtomicFunction::ExclusiveOr, false),
                }
            }
        };
        if operands.iter().any(|&value| self.ty(value) != ty) {
            return Err(mismatch());
        }
        let mut scalar = result;
        if scalar.kind != ScalarKind::Float {
            scalar.kind = if signed { ScalarKind::Sint } else { ScalarKind::Uint };
        }
        let op = match code {
            Code::AtomicCompareExchange => Atomic::Native(AtomicOp::CompareExchange),
            _ => atomic_op(fun, scalar)?,
        };
        if let Operand::Texel(..) = self.operand(frame, pointer)? {
            let (op, value) = match op {
                Atomic::Native(op) => (op, None),
                Atomic::Float(op) => {
                    let (op, value) = self.float_atomic(op, operands[0])?;
                    (op, Some(value))
                }
            };
            let operands = value.map_or(operands, |value| Values::from_elem(value, 1));
            return self.texel_atomic(frame, pointer, op, &operands);
        }
        let pointer = self.operand(frame, pointer)?;
        let found = self.at(pointer, Some(gives), &mut |lower, pointer| {
            if lower.atomic_scalar(pointer)? != result {
                return Err(mismatch());
            }
            let word = match &op {
                Atomic::Native(op) => lower.atomic(&pointer.place, *op, ty, &operands),
                Atomic::Float(op) => lower.atomic_float(&pointer.place, *op, operands[0]),
            };
            Ok(Values::from_elem(word?, 1))
        })?;
        Ok(found[0])
    }

    /// Operations of a subgroup.
    fn group(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Option<Values>> {
        let program = self.source.program;
        // SPV_KHR_shader_ballot and SPV_KHR_subgroup_vote name no scope.
        let (code, first) = match op(inst) {
            Code::SubgroupFirstInvocationKHR => (Code::GroupNonUniformBroadcastFirst, 2),
            Code::SubgroupReadInvocationKHR => (Code::GroupNonUniformBroadcast, 2),
            Code::SubgroupBallotKHR => (Code::GroupNonUniformBallot, 2),
            Code::SubgroupAllKHR => (Code::GroupNonUniformAll, 2),
            Code::SubgroupAnyKHR => (Code::GroupNonUniformAny, 2),
            Code::SubgroupAllEqualKHR => (Code::GroupNonUniformAllEqual, 2),
            code => (code, 3),
        };
        let values =
            |lower: &mut Self, frame: &mut Frame<'p>, at| lower.values(frame, inst.operand(at));
        let shuffle = match code {
            Code::GroupNonUniformBroadcastFirst => Some((Shuffle::First, None)),
            Code::GroupNonUniformBroadcast | Code::GroupNonUniformShuffle => {
                Some((Shuffle::Lane, Some(first + 1)))
            }
            Code::GroupNonUniformShuffleXor => Some((Shuffle::Xor, Some(4))),
            Code::GroupNonUniformShuffleUp => Some((Shuffle::Up, Some(4))),
            Code::GroupNonUniformShuffleDown => Some((Shuffle::Down, Some(4))),
            Code::GroupNonUniformQuadBroadcast => Some((Shuffle::Quad, Some(4))),
            Code::GroupNonUniformQuadSwap => Some((Shuffle::Xor, Some(4))),
            _ => None,
        };
        if let Some((which, lane)) = shuffle {
            let mut number = match lane {
                Some(at) => Some(self.index(frame, inst.operand(at))?),
                None => None,
            };
            if code == Code::GroupNonUniformQuadSwap {
                // Horizontal, vertical, diagonal: the bits of the lane's number that change.
                let direction = number.and_then(|value| self.func.as_const(value));
                let Some(direction @ 0..=2) = direction else {
                    return Err(Stop::invalid("a swap within a quad has one of three directions"));
                };
                number = Some(self.u32(direction as u32 + 1));
            }
            let mut found = Values::new();
            for value in values(self, frame, first)? {
                let args: Values = [value].into_iter().chain(number).collect();
                found.push(self.one(Op::Shuffle, Imm::Shuffle(which), &args));
            }
            return Ok(Some(found));
        }
        let combine = match code {
            Code::GroupNonUniformElect => {
                // The lowest active lane.
                let lane = self.lane_number();
                let first = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[lane]);
                return Ok(Some(Values::from_elem(self.op2(Op::IEq, lane, first), 1)));
            }
            Code::GroupNonUniformAll | Code::GroupNonUniformAny => {
                let op = if code == Code::GroupNonUniformAll { Op::And } else { Op::Or };
                let value = self.scalar(frame, inst.operand(first))?;
                if self.ty(value) != Type::B1 {
                    return Err(mismatch());
                }
                let made = self.one(Op::Reduce, Imm::Reduce(Scan::All, op), &[value]);
                return Ok(Some(Values::from_elem(made, 1)));
            }
            Code::GroupNonUniformAllEqual => {
                let mut all = self.bool(true);
                let float = program.shape(program.type_of(inst.operand(first))?)?.0.kind
                    == ScalarKind::Float;
                for value in values(self, frame, first)? {
                    let other = self.one(Op::Shuffle, Imm::Shuffle(Shuffle::First), &[value]);
                    let equal = self.op2(if float { Op::FEq } else { Op::IEq }, value, other);
                    let equal = self.one(Op::Reduce, Imm::Reduce(Scan::All, Op::And), &[equal]);
                    all = self.op2(Op::And, all, equal);
                }
                return Ok(Some(Values::from_elem(all, 1)));
            }
            Code::GroupNonUniformBallot => {
                let truth = self.scalar(frame, inst.operand(first))?;
                if self.ty(truth) != Type::B1 {
                    return Err(mismatch());
                }
                let inst = self.b().inst(Op::Ballot, Imm::None, &[truth], &[], &[Type::B32; 4]);
                return Ok(Some(Values::from_slice(&self.func.insts[inst].results)));
            }
            Code::GroupNonUniformInverseBallot => {
                let lane = self.lane_number();
                let words = self.ballot(frame, inst.operand(3))?;
                return Ok(Some(Values::from_elem(self.lane_bit(&words, lane)?, 1)));
            }
            Code::GroupNonUniformBallotBitExtract => {
                let words = self.ballot(frame, inst.operand(3))?;
                let lane = self.index(frame, inst.operand(4))?;
                return Ok(Some(Values::from_elem(self.lane_bit(&words, lane)?, 1)));
            }
            Code::GroupNonUniformBallotBitCount => {
                let mask = match inst.operand(3) {
                    0 => None,
                    1 => Some(Mask::LessEqual),
                    2 => Some(Mask::Less),
                    _ => return Err(mismatch()),
                };
                let words = self.ballot(frame, inst.operand(4))?;
                return Ok(Some(Values::from_elem(self.ballot_count(&words, mask)?, 1)));
            }
            Code::GroupNonUniformBallotFindLSB | Code::GroupNonUniformBallotFindMSB => {
                let words = self.ballot(frame, inst.operand(3))?;
                let last = code == Code::GroupNonUniformBallotFindMSB;
                return Ok(Some(Values::from_elem(self.ballot_end(&words, last), 1)));
            }
            Code::GroupNonUniformRotateKHR => {
                let by = self.index(frame, inst.operand(4))?;
                let size = match inst.rest(5) {
                    [size] => Some(self.index(frame, *size)?),
                    _ => None,
                };
                let own = values(self, frame, 3)?;
                return Ok(Some(self.rotated(&own, by, size)?));
            }
            Code::GroupNonUniformQuadAllKHR | Code::GroupNonUniformQuadAnyKHR => {
                let op = match code {
                    Code::GroupNonUniformQuadAllKHR => Op::And,
                    _ => Op::Or,
                };
                let value = self.scalar(frame, inst.operand(2))?;
                if self.ty(value) != Type::B1 {
                    return Err(mismatch());
                }
                return Ok(Some(Values::from_elem(self.quad_truth(op, value), 1)));
            }
            Code::GroupNonUniformIAdd | Code::GroupIAddNonUniformAMD => Op::IAdd,
            Code::GroupNonUniformFAdd | Code::GroupFAddNonUniformAMD => Op::FAdd,
            Code::GroupNonUniformIMul => Op::IMul,
            Code::GroupNonUniformFMul => Op::FMul,
            Code::GroupNonUniformSMin | Code::GroupSMinNonUniformAMD => Op::SMin,
            Code::GroupNonUniformUMin | Code::GroupUMinNonUniformAMD => Op::UMin,
            Code::GroupNonUniformFMin | Code::GroupFMinNonUniformAMD => Op::FMin,
            Code::GroupNonUniformSMax | Code::GroupSMaxNonUniformAMD => Op::SMax,
            Code::GroupNonUniformUMax | Code::GroupUMaxNonUniformAMD => Op::UMax,
            Code::GroupNonUniformFMax | Code::GroupFMaxNonUniformAMD => Op::FMax,
            Code::GroupNonUniformBitwiseAnd | Code::GroupNonUniformLogicalAnd => Op::And,
            Code::GroupNonUniformBitwiseOr | Code::GroupNonUniformLogicalOr => Op::Or,
            Code::GroupNonUniformBitwiseXor | Code::GroupNonUniformLogicalXor => Op::Xor,
            _ => return Ok(None),
        };
        let scan = match inst.operand(3) {
            0 => Some(Scan::All),
            1 => Some(Scan::Inclusive),
            2 => Some(Scan::Exclusive),
            CLUSTERED => None,
            _ => return Err(Stop::unsupported("operations of parts of a subgroup", READING)),
        };
        let (scalar, count) = program.shape(program.type_of(inst.operand(4))?)?;
        let bits = matches!(combine, Op::And | Op::Or | Op::Xor);
        let fits = match combine {
            Op::FAdd | Op::FMul | Op::FMin | Op::FMax => Kind::Float.fits(scalar),
            _ if bits => Kind::Int.fits(scalar) || Kind::Bool.fits(scalar),
            _ => Kind::Int.fits(scalar),
        };
        if !fits {
            return Err(mismatch());
        }
        let mut found = Values::with_capacity(count);
        let own = values(self, frame, 4)?;
        let own = match combine {
            Op::SMin | Op::SMax => self.extended_by_sign(scalar, own),
            _ => own,
        };
        let Some(scan) = scan else {
            let size = self.scalar(frame, inst.operand(5))?;
            let size = self.func.as_const(size).filter(|size| size.is_power_of_two());
            let Some(size) = size else {
                let message = "the size of a cluster is a constant power of two (SPIR-V, OpGroupNonUniformIAdd)";
                return Err(Stop::invalid(message));
            };
            let found = self.clustered(combine, &own, size)?;
            return Ok(Some(self.cut(scalar, found)));
        };
        for value in own {
            found.push(self.one(Op::Reduce, Imm::Reduce(scan, combine), &[value]));
        }
        Ok(Some(self.cut(scalar, found)))
    }

    /// The four words of a ballot.
    fn ballot(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Values> {
        let words = self.values(frame, id)?;
        let whole = words.len() == 4 && words.iter().all(|&word| self.ty(word) == Type::B32);
        if whole { Ok(words) } else { Err(mismatch()) }
    }
}

/// Scopes (SPIR-V 3.27).
const DEVICE: u64 = 1;
const SUBGROUP: u64 = 3;
/// The group operation of clusters (SPIR-V 3.29).
const CLUSTERED: u32 = 3;
/// Dot products of integers.
const DOT: u32 = Code::SDot as u32;
const DOT_LAST: u32 = Code::SUDotAccSat as u32;
/// Operations of subgroups by extensions.
const BALLOT: u32 = Code::SubgroupBallotKHR as u32;
const READ: u32 = Code::SubgroupReadInvocationKHR as u32;
const QUAD_ALL: u32 = Code::GroupNonUniformQuadAllKHR as u32;
const QUAD_ANY: u32 = Code::GroupNonUniformQuadAnyKHR as u32;
const AMD: u32 = Code::GroupIAddNonUniformAMD as u32;
const AMD_LAST: u32 = Code::GroupSMaxNonUniformAMD as u32;
/// SPV_AMD_shader_fragment_mask.
const FRAGMENT_MASK: u32 = Code::FragmentMaskFetchAMD as u32;
const FRAGMENT: u32 = Code::FragmentFetchAMD as u32;

/// What the reader lacks, in the words of every language where a machine may lack it too.
fn lacking(code: Code, inst: &Inst) -> Stop {
    let name = match op(inst) {
        Code::Nop => format!("the instruction {}", inst.opcode()),
        _ => format!("Op{code:?}"),
    };
    let stop = Stop::unsupported(name.clone(), READING);
    if name.contains("RayQuery") || name.contains("TraceRay") {
        return Stop::unsupported("ray queries", READING).needing(Needs::RayTracing);
    }
    if name.contains("CooperativeMatrix") {
        return Stop::unsupported("cooperative matrices", READING)
            .needing(Needs::CooperativeMatrices);
    }
    if name.contains("ImageSparse") {
        return Stop::unsupported("sparse residency", READING).needing(Needs::Residency);
    }
    stop
}
