//! Subgroup operations: ballots, shuffles, reductions. Vectors go component by component.

use super::frame::{Frame, Operand};
use super::{Lower, OfNaga, Result, Values};
use gpucc_ir::ssa::{Imm, Op, Scan, Shuffle, Type, Value};
use naga::{
    CollectiveOperation, Direction, Expression, GatherMode, Handle, ScalarKind, SubgroupOperation,
};

impl<'a> OfNaga<'a> {
    /// One bit for each lane; without a predicate, those that are there.
    pub fn ballot(
        &mut self,
        frame: &mut Frame<'a>,
        result: Handle<Expression>,
        predicate: Option<Handle<Expression>>,
    ) -> Result<()> {
        let truth = match predicate {
            Some(predicate) => self.scalar(frame, predicate)?,
            None => self.constant(Type::B1, 1),
        };
        let inst = self.b().inst(Op::Ballot, Imm::None, &[truth], &[], &[Type::B32; 4]);
        let bits = Values::from_slice(&self.func.insts[inst].results);
        self.set(frame, result, Operand::Values(bits))
    }

    /// Values of another lane.
    pub fn shuffle(
        &mut self,
        frame: &mut Frame<'a>,
        mode: GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let (which, lane) = match mode {
            GatherMode::BroadcastFirst => (Shuffle::First, None),
            GatherMode::Broadcast(lane) | GatherMode::Shuffle(lane) => (Shuffle::Lane, Some(lane)),
            GatherMode::ShuffleDown(lane) => (Shuffle::Down, Some(lane)),
            GatherMode::ShuffleUp(lane) => (Shuffle::Up, Some(lane)),
            GatherMode::ShuffleXor(lane) => (Shuffle::Xor, Some(lane)),
            GatherMode::QuadBroadcast(lane) => (Shuffle::Quad, Some(lane)),
            GatherMode::QuadSwap(_) => (Shuffle::Xor, None),
        };
        let number = match (mode, lane) {
            (_, Some(lane)) => Some(self.scalar(frame, lane)?),
            (GatherMode::QuadSwap(direction), None) => Some(self.u32(match direction {
                Direction::X => 1,
                Direction::Y => 2,
                Direction::Diagonal => 3,
            })),
            _ => None,
        };
        let mut found = Values::new();
        for value in self.values(frame, argument)? {
            let args: Values = [value].into_iter().chain(number).collect();
            found.push(self.one(Op::Shuffle, Imm::Shuffle(which), &args));
        }
        self.set(frame, result, Operand::Values(found))
    }

    /// What the lanes make together.
    pub fn collective(
        &mut self,
        frame: &mut Frame<'a>,
        op: SubgroupOperation,
        lanes: CollectiveOperation,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        use SubgroupOperation as S;
        let kind = self.kind(frame, argument)?;
        let (float, signed) = (kind == ScalarKind::Float, kind == ScalarKind::Sint);
        let combine = match op {
            S::All | S::And => Op::And,
            S::Any | S::Or => Op::Or,
            S::Xor => Op::Xor,
            S::Add if float => Op::FAdd,
            S::Add => Op::IAdd,
            S::Mul if float => Op::FMul,
            S::Mul => Op::IMul,
            S::Min if float => Op::FMin,
            S::Min if signed => Op::SMin,
            S::Min => Op::UMin,
            S::Max if float => Op::FMax,
            S::Max if signed => Op::SMax,
            S::Max => Op::UMax,
        };
        let scan = match lanes {
            CollectiveOperation::Reduce => Scan::All,
            CollectiveOperation::InclusiveScan => Scan::Inclusive,
            CollectiveOperation::ExclusiveScan => Scan::Exclusive,
        };
        let mut found = Values::new();
        for value in self.values(frame, argument)? {
            found.push(self.one(Op::Reduce, Imm::Reduce(scan, combine), &[value]));
        }
        self.set(frame, result, Operand::Values(found))
    }
}

impl<S> Lower<'_, S> {
    /// An instruction with one result of its first argument's type.
    pub fn one(&mut self, op: Op, imm: Imm, args: &[Value]) -> Value {
        let ty = self.ty(args[0]);
        let inst = self.b().inst(op, imm, args, &[], &[ty]);
        self.func.insts[inst].results[0]
    }
}
