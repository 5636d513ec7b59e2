//! How often each expression of a function is used.

use naga::{
    AtomicFunction, Block, Expression, Function, GatherMode, Handle, SampleLevel, Statement,
};

/// Counts them; `None` where the function has what no GLSL of ours has (rays, cooperative matrices).
pub fn count(function: &Function) -> Option<Vec<u32>> {
    let mut uses = Uses(vec![0; function.expressions.len()]);
    for (_, expression) in function.expressions.iter() {
        uses.expression(expression)?;
    }
    uses.block(&function.body)?;
    Some(uses.0)
}

struct Uses(Vec<u32>);

impl Uses {
    fn all<'h>(&mut self, handles: impl IntoIterator<Item = &'h Handle<Expression>>) {
        for handle in handles {
            self.0[handle.index()] += 1;
        }
    }

    fn expression(&mut self, expression: &Expression) -> Option<()> {
        use Expression as E;
        match expression {
            E::Literal(_)
            | E::Constant(_)
            | E::Override(_)
            | E::ZeroValue(_)
            | E::FunctionArgument(_)
            | E::GlobalVariable(_)
            | E::LocalVariable(_)
            | E::CallResult(_)
            | E::AtomicResult { .. }
            | E::WorkGroupUniformLoadResult { .. }
            | E::SubgroupBallotResult
            | E::SubgroupOperationResult { .. } => {}
            E::Compose { components, .. } => self.all(components),
            E::Access { base, index } => self.all([base, index]),
            E::AccessIndex { base: one, .. }
            | E::Splat { value: one, .. }
            | E::Swizzle { vector: one, .. }
            | E::Load { pointer: one }
            | E::Unary { expr: one, .. }
            | E::Derivative { expr: one, .. }
            | E::Relational { argument: one, .. }
            | E::As { expr: one, .. }
            | E::ArrayLength(one) => self.all([one]),
            E::ImageSample {
                image,
                sampler,
                coordinate,
                array_index,
                offset,
                level,
                depth_ref,
                ..
            } => {
                self.all([image, sampler, coordinate]);
                self.all(array_index.iter().chain(offset).chain(depth_ref));
                match level {
                    SampleLevel::Auto | SampleLevel::Zero => {}
                    SampleLevel::Exact(level) | SampleLevel::Bias(level) => self.all([level]),
                    SampleLevel::Gradient { x, y } => self.all([x, y]),
                }
            }
            E::ImageLoad { image, coordinate, array_index, sample, level } => {
                self.all([image, coordinate]);
                self.all(array_index.iter().chain(sample).chain(level));
            }
            E::ImageQuery { image, query } => {
                self.all([image]);
                if let naga::ImageQuery::Size { level } = query {
                    self.all(level);
                }
            }
            E::Binary { left, right, .. } => self.all([left, right]),
            E::Select { condition, accept, reject } => self.all([condition, accept, reject]),
            E::Math { arg, arg1, arg2, arg3, .. } => {
                self.all([arg]);
                self.all(arg1.iter().chain(arg2).chain(arg3));
            }
            E::RayQueryVertexPositions { .. }
            | E::RayQueryProceedResult
            | E::RayQueryGetIntersection { .. }
            | E::CooperativeLoad { .. }
            | E::CooperativeMultiplyAdd { .. } => return None,
        }
        Some(())
    }

    fn atomic(&mut self, function: &AtomicFunction) {
        if let AtomicFunction::Exchange { compare } = function {
            self.all(compare);
        }
    }

    fn block(&mut self, block: &Block) -> Option<()> {
        use Statement as S;
        for statement in block {
            match statement {
                S::Emit(_)
                | S::Break
                | S::Continue
                | S::Kill
                | S::ControlBarrier(_)
                | S::MemoryBarrier(_) => {}
                S::Block(inner) => self.block(inner)?,
                S::If { condition, accept, reject } => {
                    self.all([condition]);
                    self.block(accept)?;
                    self.block(reject)?;
                }
                S::Switch { selector, cases } => {
                    self.all([selector]);
                    for case in cases {
                        self.block(&case.body)?;
                    }
                }
                S::Loop { body, continuing, break_if } => {
                    self.block(body)?;
                    self.block(continuing)?;
                    self.all(break_if);
                }
                S::Return { value } => self.all(value),
                S::Store { pointer, value } => self.all([pointer, value]),
                S::ImageStore { image, coordinate, array_index, value } => {
                    self.all([image, coordinate, value]);
                    self.all(array_index);
                }
                S::Atomic { pointer, fun, value, result } => {
                    self.all([pointer, value]);
                    self.all(result);
                    self.atomic(fun);
                }
                S::ImageAtomic { image, coordinate, array_index, fun, value } => {
                    self.all([image, coordinate, value]);
                    self.all(array_index);
                    self.atomic(fun);
                }
                S::WorkGroupUniformLoad { pointer, result } => self.all([pointer, result]),
                S::Call { arguments, result, .. } => {
                    self.all(arguments);
                    self.all(result);
                }
                S::SubgroupBallot { result, predicate } => {
                    self.all([result]);
                    self.all(predicate);
                }
                S::SubgroupGather { mode, argument, result } => {
                    self.all([argument, result]);
                    match mode {
                        GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => {}
                        GatherMode::Broadcast(lane)
                        | GatherMode::Shuffle(lane)
                        | GatherMode::ShuffleDown(lane)
                        | GatherMode::ShuffleUp(lane)
                        | GatherMode::ShuffleXor(lane)
                        | GatherMode::QuadBroadcast(lane) => self.all([lane]),
                    }
                }
                S::SubgroupCollectiveOperation { argument, result, .. } => {
                    self.all([argument, result])
                }
                S::RayQuery { .. } | S::RayPipelineFunction(_) | S::CooperativeStore { .. } => {
                    return None;
                }
            }
        }
        Some(())
    }
}
