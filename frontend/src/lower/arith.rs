//! Unary and binary operators.

use super::emit::pick;
use super::frame::Frame;
use super::{Lower, OfNaga, Result, Values};
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{Op, Type};
use naga::{BinaryOperator, Expression, Handle, ScalarKind, TypeInner, UnaryOperator};

impl<'a> OfNaga<'a> {
    /// A unary operator, lane by lane.
    pub fn unary(
        &mut self,
        frame: &mut Frame<'a>,
        op: UnaryOperator,
        expr: Handle<Expression>,
    ) -> Result<Values> {
        let kind = self.kind(frame, expr)?;
        let values = self.values(frame, expr)?;
        let op = match (op, kind) {
            (UnaryOperator::Negate, ScalarKind::Float) => Op::FNeg,
            (UnaryOperator::Negate, _) => Op::INeg,
            (UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot, _) => Op::Not,
        };
        self.map(op, &[&values])
    }

    /// A binary operator.
    pub fn binary(
        &mut self,
        frame: &mut Frame<'a>,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Values> {
        let kind = self.kind(frame, left)?;
        let a = self.values(frame, left)?;
        let b = self.values(frame, right)?;
        if op == BinaryOperator::Multiply {
            let left_expr = left;
            let (left, right) = (self.inner(frame, left), self.inner(frame, right));
            let matrices = (
                matches!(left, TypeInner::Matrix { .. }),
                matches!(right, TypeInner::Matrix { .. }),
            );
            match matrices {
                (true, true) => {
                    let (TypeInner::Matrix { columns, .. }, TypeInner::Matrix { rows, .. }) =
                        (left, right)
                    else {
                        return Err(Stop::internal("a matrix is expected"));
                    };
                    debug_assert_eq!(*columns as u32, *rows as u32);
                    return self.matrix_matrix(&a, &b, *rows as usize);
                }
                (true, false) if b.len() > 1 => {
                    return self.product_vector(frame, left_expr, &a, b);
                }
                (false, true) if a.len() > 1 => return self.vector_matrix(&a, &b),
                _ => {}
            }
        }
        self.arithmetic(op, kind, &a, &b)
    }

    /// Matrix times vector. A matrix that is a product for this alone is taken apart, A (B v) for
    /// (A B) v: the same if computed exactly, fewer roundings, a fraction of the work
    /// (WGSL, reassociation and fusion). The product itself is left to nobody. Not where the position is
    /// invariant: another program may need the product too.
    fn product_vector(
        &mut self,
        frame: &mut Frame<'a>,
        expr: Handle<Expression>,
        matrix: &Values,
        mut vector: Values,
    ) -> Result<Values> {
        let mut expr = expr;
        let mut matrix = matrix.clone();
        while let Expression::Binary { op: BinaryOperator::Multiply, left, right } =
            frame.function.expressions[expr]
            && !self.func.invariant
        {
            let is_matrix =
                |lower: &Self, expr| matches!(lower.inner(frame, expr), TypeInner::Matrix { .. });
            if frame.info[expr].ref_count != 1 || !is_matrix(self, left) || !is_matrix(self, right)
            {
                break;
            }
            let inner = self.values(frame, right)?;
            vector = self.matrix_vector(&inner, &vector)?;
            matrix = self.values(frame, left)?;
            expr = left;
        }
        self.matrix_vector(&matrix, &vector)
    }
}

impl<S> Lower<'_, S> {
    /// The rest of a division that has the divisor's sign, lane by lane; one divisor serves all lanes.
    pub fn modulo(&mut self, x: &Values, y: &Values) -> Result<Values> {
        self.lanes(x.len().max(y.len()), |lower, lane| {
            let (x, y) = (pick(x, lane), pick(y, lane));
            let zero = lower.constant(lower.ty(x), 0);
            let rest = lower.op2(Op::SRem, x, y);
            let signs = lower.op2(Op::Xor, rest, y);
            let differ = lower.op2(Op::SLt, signs, zero);
            let some = lower.op2(Op::INe, rest, zero);
            let moves = lower.op2(Op::And, differ, some);
            let moved = lower.op2(Op::IAdd, rest, y);
            Ok(lower.select(moves, moved, rest))
        })
    }

    /// A binary operator, lane by lane, on scalars of a kind.
    pub fn arithmetic(
        &mut self,
        op: BinaryOperator,
        kind: ScalarKind,
        a: &Values,
        b: &Values,
    ) -> Result<Values> {
        use BinaryOperator as B;
        use ScalarKind as K;
        let float = kind == K::Float;
        let signed = kind == K::Sint;
        // Comparisons that the table lacks are those with the operands exchanged.
        let (op, exchanged) = match op {
            B::Add => (if float { Op::FAdd } else { Op::IAdd }, false),
            B::Subtract => (if float { Op::FSub } else { Op::ISub }, false),
            B::Multiply => (if float { Op::FMul } else { Op::IMul }, false),
            B::Divide if float => (Op::FDiv, false),
            B::Divide if signed => (Op::SDiv, false),
            B::Divide => (Op::UDiv, false),
            B::Modulo if float => (Op::FRem, false),
            B::Modulo if signed => (Op::SRem, false),
            B::Modulo => (Op::URem, false),
            B::Equal => (if float { Op::FEq } else { Op::IEq }, false),
            B::NotEqual => (if float { Op::FNe } else { Op::INe }, false),
            B::Less | B::Greater if float => (Op::FLt, op == B::Greater),
            B::Less | B::Greater if signed => (Op::SLt, op == B::Greater),
            B::Less | B::Greater => (Op::ULt, op == B::Greater),
            B::LessEqual | B::GreaterEqual if float => (Op::FLe, op == B::GreaterEqual),
            B::LessEqual | B::GreaterEqual if signed => (Op::SLe, op == B::GreaterEqual),
            B::LessEqual | B::GreaterEqual => (Op::ULe, op == B::GreaterEqual),
            B::And | B::LogicalAnd => (Op::And, false),
            B::InclusiveOr | B::LogicalOr => (Op::Or, false),
            B::ExclusiveOr => (Op::Xor, false),
            B::ShiftLeft => (Op::Shl, false),
            B::ShiftRight if signed => (Op::AShr, false),
            B::ShiftRight => (Op::LShr, false),
        };
        if float && matches!(op, Op::And | Op::Or | Op::Xor | Op::Shl | Op::LShr) {
            return Err(Stop::internal("a bit operation on floats"));
        }
        let shift = matches!(op, Op::Shl | Op::LShr | Op::AShr);
        let count = a.len().max(b.len());
        self.lanes(count, |lower, lane| {
            let (x, mut y) = (pick(a, lane), pick(b, lane));
            if shift && lower.ty(y) != Type::B32 {
                y = match lower.ty(y) {
                    Type::B64 => lower.op1(Op::Lo64, y),
                    Type::B1 => return Err(Stop::unsupported("a shift by a bool", LOWERING)),
                    Type::B16 | Type::B32 => lower.convert(Op::UConvert, Type::B32, y),
                };
            }
            Ok(if exchanged { lower.op2(op, y, x) } else { lower.op2(op, x, y) })
        })
    }
}
