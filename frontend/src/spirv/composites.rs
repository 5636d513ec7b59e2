//! Vectors, matrices, arrays and structures as values: made, taken apart, multiplied.

use super::lanes::{Kind, mismatch};
use super::module::Inst;
use super::program::{Id, op};
use super::types::Ty;
use super::{Frame, OfSpirv};
use crate::lower::flow::{CONSTANT_LEAVES, SELECT_LEAVES};
use crate::lower::types::width;
use crate::lower::{Result, Values};
use gpucc_ir::ssa::{Op, Value};
use rspirv::spirv::Op as Code;

impl<'p> OfSpirv<'p> {
    /// Values that are made of others, and their parts; none where it is no such instruction.
    pub(super) fn composite(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &'p Inst,
        code: Code,
    ) -> Result<Option<Values>> {
        let program = self.source.program;
        let ty = inst.operand(0);
        let [a, b, c] = [2, 3, 4].map(|at| inst.operand(at));
        Ok(Some(match code {
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
            _ => return Ok(None),
        }))
    }

    /// Products of vectors and matrices; none where it is no such instruction.
    pub(super) fn products(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &'p Inst,
        code: Code,
    ) -> Result<Option<Values>> {
        let program = self.source.program;
        let ty = inst.operand(0);
        let [a, b] = [2, 3].map(|at| inst.operand(at));
        Ok(Some(match code {
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
}
