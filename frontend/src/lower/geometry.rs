//! Matrices and the geometric functions.
//!
//! A matrix times a vector is a chain of multiply-adds over the columns, each column one source
//! operation of as many lanes as the matrix has rows: vector machines run a column as one
//! instruction, scalar machines lose nothing. A vector times a matrix is a dot product per column.

use super::emit::pick;
use super::{Lower, Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Value};
use naga::ScalarKind;

impl<S> Lower<'_, S> {
    /// Matrix (columns one after the other) times vector.
    pub fn matrix_vector(&mut self, matrix: &[Value], vector: &[Value]) -> Result<Values> {
        let rows = matrix.len() / vector.len();
        let mut sum = Values::new();
        for (column, &factor) in matrix.chunks(rows).zip(vector) {
            sum = self.lanes(rows, |lower, row| {
                Ok(match sum.get(row) {
                    None => lower.op2(Op::FMul, column[row], factor),
                    Some(&sum) => lower.op3(Op::FMa, column[row], factor, sum),
                })
            })?;
        }
        Ok(sum)
    }

    /// Vector times matrix.
    pub fn vector_matrix(&mut self, vector: &[Value], matrix: &[Value]) -> Result<Values> {
        let columns: Vec<&[Value]> = matrix.chunks(vector.len()).collect();
        self.lanes(columns.len(), |lower, lane| Ok(lower.dot_float(vector, columns[lane])))
    }

    /// Matrix times matrix: the left one times each column, of so many rows, of the right one.
    pub fn matrix_matrix(&mut self, a: &[Value], b: &[Value], rows: usize) -> Result<Values> {
        let mut product = Values::new();
        for column in b.chunks(rows) {
            product.extend(self.matrix_vector(a, column)?);
        }
        Ok(product)
    }

    /// Dot product of floats.
    pub fn dot_float(&mut self, a: &[Value], b: &[Value]) -> Value {
        match (a, b) {
            ([a], [b]) => self.op2(Op::FMul, *a, *b),
            _ => {
                let args: Values = a.iter().chain(b).copied().collect();
                self.b().op(Op::FDot, &args)
            }
        }
    }

    /// Dot product.
    pub fn dot(&mut self, kind: ScalarKind, a: &[Value], b: &[Value]) -> Value {
        if kind == ScalarKind::Float {
            return self.dot_float(a, b);
        }
        let mut sum = None;
        for (&a, &b) in a.iter().zip(b) {
            let product = self.op2(Op::IMul, a, b);
            sum = Some(match sum {
                Some(sum) => self.op2(Op::IAdd, sum, product),
                None => product,
            });
        }
        sum.expect("a vector has lanes")
    }

    pub fn cross(&mut self, a: &Values, b: &Values) -> Result<Values> {
        self.lanes(3, |lower, lane| {
            let (next, after) = ((lane + 1) % 3, (lane + 2) % 3);
            let plus = lower.op2(Op::FMul, a[next], b[after]);
            let minus = lower.op2(Op::FMul, a[after], b[next]);
            Ok(lower.op2(Op::FSub, plus, minus))
        })
    }

    pub fn length(&mut self, a: &[Value]) -> Value {
        match a {
            [scalar] => self.op1(Op::FAbs, *scalar),
            _ => {
                let square = self.dot_float(a, a);
                self.op1(Op::FSqrt, square)
            }
        }
    }

    /// One reciprocal square root serves all lanes.
    pub fn normalize(&mut self, a: &Values) -> Result<Values> {
        let square = self.dot_float(a, a);
        let scale = Values::from_elem(self.op1(Op::FRsq, square), 1);
        self.map(Op::FMul, &[a, &scale])
    }

    /// `select(-n, n, dot(i, reference) < 0)`.
    pub fn face_forward(&mut self, n: &Values, i: &Values, reference: &Values) -> Result<Values> {
        let side = self.dot_float(i, reference);
        let zero = self.float(self.ty(side), 0.0);
        let facing = self.op2(Op::FLt, side, zero);
        let away = self.map(Op::FNeg, &[n])?;
        self.lanes(n.len(), |lower, lane| Ok(lower.select(facing, n[lane], away[lane])))
    }

    /// `i - 2 * dot(n, i) * n`.
    pub fn reflect(&mut self, i: &Values, n: &Values) -> Result<Values> {
        let along = self.dot_float(n, i);
        let two = self.float(self.ty(along), 2.0);
        let twice = Values::from_elem(self.op2(Op::FMul, two, along), 1);
        let shift = self.map(Op::FMul, &[&twice, n])?;
        self.map(Op::FSub, &[i, &shift])
    }

    /// `k = 1 - eta^2 (1 - dot(n, i)^2)`; 0 for negative k, else `eta i - (eta dot(n, i) + sqrt k) n`.
    pub fn refract(&mut self, i: &Values, n: &Values, eta: Value) -> Result<Values> {
        let ty = self.ty(eta);
        let (one, zero) = (self.float(ty, 1.0), self.float(ty, 0.0));
        let along = self.dot_float(n, i);
        let square = self.op2(Op::FMul, along, along);
        let rest = self.op2(Op::FSub, one, square);
        let eta_square = self.op2(Op::FMul, eta, eta);
        let product = self.op2(Op::FMul, eta_square, rest);
        let k = self.op2(Op::FSub, one, product);
        let total = self.op2(Op::FLt, k, zero);
        let root = self.op1(Op::FSqrt, k);
        let bent = self.op2(Op::FMul, eta, along);
        let scale = Values::from_elem(self.op2(Op::FAdd, bent, root), 1);
        let eta = Values::from_elem(eta, 1);
        let straight = self.map(Op::FMul, &[&eta, i])?;
        let shift = self.map(Op::FMul, &[&scale, n])?;
        let out = self.map(Op::FSub, &[&straight, &shift])?;
        self.lanes(i.len(), |lower, lane| Ok(lower.select(total, zero, out[lane])))
    }

    /// Column vector times row vector.
    pub fn outer(&mut self, column: &Values, row: &Values) -> Result<Values> {
        let mut matrix = Values::new();
        for &factor in row {
            let factor = Values::from_elem(factor, 1);
            matrix.extend(self.map(Op::FMul, &[column, &factor])?);
        }
        Ok(matrix)
    }

    pub fn transpose(&self, matrix: &[Value], rows: usize) -> Values {
        let columns = matrix.len() / rows;
        (0..rows * columns).map(|index| matrix[index % columns * rows + index / columns]).collect()
    }

    /// `a * d - b * c`.
    fn minor(&mut self, a: Value, d: Value, b: Value, c: Value) -> Value {
        let plus = self.op2(Op::FMul, a, d);
        let minus = self.op2(Op::FMul, b, c);
        self.op2(Op::FSub, plus, minus)
    }

    /// Determinant of a 3x3 matrix given by columns, along the first one. The orders of its terms cost the same, and over random
    /// matrices their errors are alike. With this one those of Vulkan's conformance tests stay within their bounds also where sums
    /// and products round toward zero.
    fn determinant3(&mut self, m: [Value; 9]) -> Value {
        let x = self.minor(m[4], m[8], m[7], m[5]);
        let y = self.minor(m[3], m[8], m[6], m[5]);
        let z = self.minor(m[3], m[7], m[6], m[4]);
        let x = self.op2(Op::FMul, m[0], x);
        let y = self.op2(Op::FMul, m[1], y);
        let z = self.op2(Op::FMul, m[2], z);
        let sum = self.op2(Op::FAdd, x, z);
        self.op2(Op::FSub, sum, y)
    }

    /// A 4x4 matrix without its first column and one row.
    fn without(m: &[Value], row: usize) -> [Value; 9] {
        let mut kept = (4..16).filter(|index| index % 4 != row);
        std::array::from_fn(|_| m[kept.next().expect("nine are left")])
    }

    pub fn determinant(&mut self, m: &[Value]) -> Result<Value> {
        match *m {
            [a, b, c, d] => Ok(self.minor(a, d, c, b)),
            [a, b, c, d, e, f, g, h, i] => Ok(self.determinant3([a, b, c, d, e, f, g, h, i])),
            _ if m.len() == 16 => {
                let mut sum = None;
                for row in 0..4 {
                    let part = self.determinant3(Self::without(m, row));
                    let term = self.op2(Op::FMul, m[row], part);
                    sum = Some(match sum {
                        None => term,
                        Some(sum) if row % 2 == 1 => self.op2(Op::FSub, sum, term),
                        Some(sum) => self.op2(Op::FAdd, sum, term),
                    });
                }
                Ok(sum.expect("there are four rows"))
            }
            _ => Err(Stop::internal("the determinant of a matrix that is not square")),
        }
    }

    /// Adjugate over determinant (GLSL and SPIR-V only).
    pub fn inverse(&mut self, m: &Values) -> Result<Values> {
        let determinant = self.determinant(m)?;
        let one = self.float(self.ty(determinant), 1.0);
        let scale = Values::from_elem(self.op2(Op::FDiv, one, determinant), 1);
        let size = match m.len() {
            4 => 2,
            9 => 3,
            _ => 4,
        };
        let mut adjugate = Values::new();
        for index in 0..m.len() {
            // Entry (column, row) is the cofactor of (row, column).
            let (column, row) = (index % size, index / size);
            let mut kept =
                (0..m.len()).filter(|at| at / size != column && at % size != row).map(|at| m[at]);
            let mut next = || kept.next().expect("the minor has these entries");
            let value = match size {
                2 => next(),
                3 => {
                    let (a, b, c, d) = (next(), next(), next(), next());
                    self.minor(a, d, c, b)
                }
                _ => self.determinant3(std::array::from_fn(|_| next())),
            };
            adjugate.push(if (column + row) % 2 == 1 { self.op1(Op::FNeg, value) } else { value });
        }
        self.map(Op::FMul, &[&adjugate, &scale])
    }

    /// `x * (1 - a) + y * a`, which is exact at both ends.
    pub fn mix(&mut self, x: &Values, y: &Values, a: &Values) -> Result<Values> {
        let one = self.float(self.ty(a[0]), 1.0);
        let rest = self.map(Op::FSub, &[&Values::from_elem(one, 1), a])?;
        self.lanes(x.len(), |lower, lane| {
            let from = lower.op2(Op::FMul, x[lane], pick(&rest, lane));
            let to = lower.op2(Op::FMul, pick(y, lane), pick(a, lane));
            Ok(lower.op2(Op::FAdd, from, to))
        })
    }
}
