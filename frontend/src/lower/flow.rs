//! Inlining, loops, and values that cross from a loop's body into its `continuing`.

use super::frame::{Carried, End, Flow, Frame, Operand, Place, Position, ResultAt, Target};
use super::{Lower, OfNaga, Result, Values};
use crate::stop::Stop;
use gpucc_ir::budget;
use gpucc_ir::ssa::{Imm, Inst, Mem, MemSpace, Op, Region, Type, Value};
use naga::{Block, Expression, Function, Handle, Statement, TypeInner};

impl<'a> OfNaga<'a> {
    /// Lowers a function in place. `label` is the block that its early returns exit.
    pub fn inline(
        &mut self,
        function: &'a Function,
        info: &'a naga::valid::FunctionInfo,
        arguments: Vec<Operand>,
        label: Inst,
    ) -> Result<Option<ResultAt>> {
        self.step()?;
        let name = function.name.as_deref().unwrap_or("function");
        // A discard leaves the block around the entry point, which the result must survive.
        let discards = self.discard_ends && self.whole == Some(label);
        let slot = match &function.result {
            Some(result) if discards || !returns_only_at_end(&function.body) => {
                let inner = self.source.types.inner(result.ty);
                let bytes = self.source.types.dense_size(inner);
                let name = format!("{name}.result");
                let mem = self.variable(&name, bytes, MemSpace::Private)?;
                Some(self.place_of(mem))
            }
            _ => None,
        };
        let count = function.expressions.len();
        let mut frame = Frame {
            function,
            info,
            values: vec![None; count],
            log: Vec::new(),
            carried: Vec::new(),
            patches: Vec::new(),
            spilled: Vec::new(),
            indexed: Vec::new(),
            locals: Vec::with_capacity(function.local_variables.len()),
            arguments,
            label,
            slot,
            result: None,
            breaks: Vec::new(),
        };
        self.mark_indexed(&mut frame)?;
        for (handle, local) in function.local_variables.iter() {
            self.span = crate::read::span(function.local_variables.get_span(handle));
            let inner = self.source.types.inner(local.ty);
            if let TypeInner::RayQuery { .. } = inner {
                return Err(Stop::unsupported("ray queries", crate::stop::LOWERING)
                    .needing(crate::Needs::RayTracing)
                    .at(self.span));
            }
            let bytes = self.source.types.dense_size(inner);
            let name = local.name.as_deref().unwrap_or("local");
            let mem = self.variable(name, bytes, MemSpace::Private)?;
            frame.locals.push(mem);
        }
        for (handle, local) in function.local_variables.iter() {
            self.span = crate::read::span(function.local_variables.get_span(handle));
            let inner = self.source.types.inner(local.ty);
            let place = self.place_of(frame.locals[handle.index()]);
            match local.init {
                Some(init) => {
                    let values = self.values(&mut frame, init)?;
                    self.store(&place, inner, &values)?;
                }
                None => self.zero(&place, inner)?,
            }
        }
        let end = End { returns: true, ..End::default() };
        self.block(&mut frame, &function.body, end)?;
        let Some(declared) = &function.result else {
            return Ok(None);
        };
        Ok(Some(match (frame.slot, frame.result) {
            (Some(place), _) => ResultAt::Place(place),
            (None, Some(values)) => ResultAt::Values(values),
            (None, None) => {
                // No `return` was reached: control does not get here.
                let widths = self.source.types.widths(self.source.types.inner(declared.ty))?;
                ResultAt::Values(widths.iter().map(|&ty| self.constant(ty, 0)).collect())
            }
        }))
    }

    /// A call statement.
    pub fn call(
        &mut self,
        frame: &mut Frame<'a>,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let mut operands = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            operands.push(self.operand(frame, argument)?);
        }
        let callee = &self.source.module.functions[function];
        let info = &self.source.info[function];
        let span = self.span;
        let mut left = None;
        self.labelled(|lower, label| {
            left = lower.inline(callee, info, operands, label)?;
            Ok(true)
        })?;
        self.span = span;
        if self.ended() {
            // The callee never returns; what follows is dead but must stand somewhere.
            return Ok(());
        }
        if let (Some(handle), Some(left), Some(declared)) = (result, left, &callee.result) {
            let values = match left {
                ResultAt::Values(values) => values,
                ResultAt::Place(place) => {
                    self.load(&place, self.source.types.inner(declared.ty))?
                }
            };
            self.set(frame, handle, Operand::Values(values))?;
        }
        Ok(())
    }

    /// A loop statement.
    pub fn loop_(
        &mut self,
        frame: &mut Frame<'a>,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<Flow> {
        let span = self.span;
        let logged = frame.log.len();
        frame.breaks.push(Target::Loop(break_if.is_some()));
        let end = End { continues: true, ..End::default() };
        let body = self.nested(|lower| {
            lower.block(frame, body, end)?;
            lower.end_open(Op::Continue);
            Ok(())
        })?;
        let carried = carry(frame, logged, body);
        self.continuing += 1;
        let continuing = self.nested(|lower| {
            lower.block(frame, continuing, End::default())?;
            if lower.ended() {
                return Ok(());
            }
            match break_if {
                Some(condition) => {
                    let condition = lower.scalar(frame, condition)?;
                    lower.b().end(Op::BreakIf, &[condition]);
                }
                None => {
                    lower.b().end(Op::Next, &[]);
                }
            }
            Ok(())
        })?;
        self.continuing -= 1;
        frame.log.truncate(logged);
        for handle in carried {
            frame.carried[handle.index()] = None;
        }
        self.patch(frame, body);
        self.span = span;
        self.b().inst(Op::Loop, Imm::None, &[], &[body, continuing], &[]);
        match frame.breaks.pop() {
            Some(Target::Loop(false)) => Ok(Flow::Dead),
            _ => Ok(Flow::Open),
        }
    }

    /// Puts the stores that carried values need into a loop's body.
    fn patch(&mut self, frame: &mut Frame<'a>, body: Region) {
        let all = std::mem::take(&mut frame.patches);
        let (mut own, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(position, ..)| position.0 == body);
        frame.patches = others;
        if own.is_empty() {
            return;
        }
        own.sort_by_key(|(position, ..)| position.1);
        let old = std::mem::take(&mut self.func.regions[body].insts);
        let mut new = Vec::with_capacity(old.len() + own.len());
        let mut from = 0;
        for ((_, at), value, mem) in own {
            new.extend_from_slice(&old[from..at]);
            from = at;
            let scratch = self.func.new_region();
            self.within(scratch, |lower| lower.write_scalar(mem, value));
            new.append(&mut self.func.regions[scratch].insts);
        }
        new.extend_from_slice(&old[from..]);
        self.func.regions[body].insts = new;
    }

    /// An operand of the loop's body, seen from its `continuing`.
    pub fn reload(&mut self, frame: &mut Frame<'a>, handle: Handle<Expression>) -> Result<Operand> {
        let mut carried = match frame.carried.get_mut(handle.index()).and_then(Option::take) {
            Some(carried) => carried,
            None => {
                return Err(Stop::internal("an expression is used before it is evaluated"));
            }
        };
        let mut operand = carried.operand.clone();
        match &mut operand {
            Operand::Values(values) => {
                for value in values {
                    *value = self.bring(frame, &mut carried, *value)?;
                }
            }
            Operand::Place(place) => {
                let Place { dynamic, element, .. } = place;
                for value in dynamic.iter_mut().chain(element) {
                    *value = self.bring_address(frame, &mut carried, *value)?;
                }
            }
            Operand::Handle(_, element) => {
                if let Some(value) = element {
                    *value = self.bring_address(frame, &mut carried, *value)?;
                }
            }
        }
        frame.carried[handle.index()] = Some(carried);
        Ok(operand)
    }

    /// A value of the loop's body, brought over by a variable.
    fn bring(
        &mut self,
        frame: &mut Frame<'a>,
        carried: &mut Carried,
        value: Value,
    ) -> Result<Value> {
        if self.func.as_const(value).is_some() {
            return Ok(value);
        }
        let ty = self.ty(value);
        let known = carried.mems.iter().find(|(of, _)| *of == value);
        let mem = match known {
            Some(&(_, mem)) => mem,
            None => {
                let made = self.scalar_variable("carried", ty)?;
                frame.patches.push((carried.position, value, made));
                carried.mems.push((value, made));
                made
            }
        };
        Ok(self.read_scalar(mem, ty))
    }

    /// An address of the loop's body, made again of indices that are brought over: what comes out of a variable could
    /// be anything, so it passes its bounds again. Addresses and lengths are as deep as types nest.
    fn bring_address(
        &mut self,
        frame: &mut Frame<'a>,
        carried: &mut Carried,
        value: Value,
    ) -> Result<Value> {
        let Some(data) = self.func.def(value) else {
            return self.bring(frame, carried, value);
        };
        let (op, imm, args) = (data.op, data.imm, data.args.clone());
        match op {
            Op::Index => {
                let index = self.bring(frame, carried, args[0])?;
                let length = self.bring_address(frame, carried, args[1])?;
                Ok(self.op2(Op::Index, index, length))
            }
            Op::IAdd | Op::IMul | Op::Shl | Op::ISub | Op::UMax | Op::LShr | Op::UDiv => {
                let a = self.bring_address(frame, carried, args[0])?;
                let b = self.bring_address(frame, carried, args[1])?;
                Ok(self.op2(op, a, b))
            }
            Op::BufferSize => {
                let element = args
                    .iter()
                    .map(|&element| self.bring_address(frame, carried, element))
                    .collect::<Result<Values>>()?;
                let mut b = self.b();
                let inst = b.inst(Op::BufferSize, imm, &element, &[], &[Type::B32]);
                Ok(b.result(inst))
            }
            _ => self.bring(frame, carried, value),
        }
    }

    /// Finds array values that are indexed dynamically; they go through memory.
    fn mark_indexed(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        for (_, expression) in frame.function.expressions.iter() {
            let Expression::Access { base, index } = *expression else {
                continue;
            };
            let inner = self.inner(frame, base);
            let array = matches!(inner, TypeInner::Array { .. } | TypeInner::Matrix { .. });
            let constant = matches!(
                frame.function.expressions[index],
                Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_)
            );
            if !array || constant || self.source.types.leaf_count_of(inner)? <= SELECT_LEAVES {
                continue;
            }
            let count = frame.function.expressions.len();
            frame.indexed.resize(count, false);
            frame.spilled.resize(count, None);
            frame.indexed[base.index()] = true;
        }
        Ok(())
    }

    /// Records what an expression evaluates to.
    pub fn set(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
        operand: Operand,
    ) -> Result<()> {
        if frame.indexed.get(handle.index()) == Some(&true)
            && let Operand::Values(values) = &operand
        {
            let inner = self.inner(frame, handle).clone();
            let mem = self.spill(&inner, values)?;
            frame.spilled[handle.index()] = Some(mem);
        }
        if let Operand::Values(values) = &operand {
            self.keep(values.len())?;
        }
        let position: Position = (self.region, self.func.regions[self.region].insts.len());
        frame.log.push((handle, position));
        frame.values[handle.index()] = Some(operand);
        Ok(())
    }

    /// Puts an array value into a variable. Constant ones are stored once, at the start.
    pub fn spill(&mut self, inner: &TypeInner, values: &Values) -> Result<Mem> {
        let constant = values.iter().all(|&value| self.func.as_const(value).is_some());
        if constant && let Some(&mem) = self.tables.get(values.as_slice()) {
            return Ok(mem);
        }
        let bytes = self.source.types.dense_size(inner);
        let name = if constant { "table" } else { "array" };
        let mem = self.variable(name, bytes, MemSpace::Private)?;
        let place = self.place_of(mem);
        if constant {
            let initial = self.initial;
            self.within(initial, |lower| lower.store(&place, inner, values))?;
            self.tables.insert(values.to_vec(), mem);
        } else {
            self.store(&place, inner, values)?;
        }
        Ok(mem)
    }
}

impl<S> Lower<'_, S> {
    /// Leaves the innermost loop or switch.
    pub fn break_out(&mut self, target: Option<&mut Target>, end: End) -> Result<Flow> {
        match target {
            Some(Target::Loop(broken)) => {
                *broken = true;
                self.b().end(Op::Break, &[]);
            }
            Some(Target::Switch(_)) if end.leaves_switch => {}
            Some(&mut Target::Switch(label)) => self.exit(label),
            None => return Err(Stop::internal("a break outside of loop and switch")),
        }
        Ok(Flow::Dead)
    }

    /// Counts one unit of work against the budget.
    pub fn step(&mut self) -> Result<()> {
        self.steps += 1;
        let needed = self.steps.max(self.func.insts.len() as u64);
        let budget = self.limits.budget;
        budget
            .hold(INLINED, needed, budget::LOWERED)
            .map_err(|exceeded| Stop::budget(exceeded).at(self.span))
    }

    /// Counts scalars of a value that is kept against the budget.
    pub fn keep(&mut self, scalars: usize) -> Result<()> {
        self.kept += scalars as u64;
        let budget = self.limits.budget;
        let what = "scalars of composite values";
        budget
            .hold(what, self.kept, budget::SCALAR)
            .map_err(|exceeded| Stop::budget(exceeded).at(self.span))
    }
}

/// What there are too many of where calls multiply.
pub const INLINED: &str = "instructions with calls inlined";

/// As [`SELECT_LEAVES`], of arrays of constants: a pass decides about them, and may make tables.
pub const CONSTANT_LEAVES: usize = 4;
/// Arrays of at most this many scalars are indexed by selects instead of through memory.
pub const SELECT_LEAVES: usize = 8;

/// Takes the operands that a loop's body recorded out of sight, for its `continuing` to reload.
fn carry(frame: &mut Frame<'_>, logged: usize, body: Region) -> Vec<Handle<Expression>> {
    let mut carried = Vec::new();
    for (handle, position) in frame.log.split_off(logged) {
        let Some(operand) = frame.values[handle.index()].take() else {
            continue;
        };
        if position.0 != body {
            continue;
        }
        let count = frame.values.len();
        if frame.carried.len() < count {
            frame.carried.resize(count, None);
        }
        frame.carried[handle.index()] = Some(Carried { operand, position, mems: Vec::new() });
        carried.push(handle);
    }
    carried
}

/// True when the only `return` is the last statement.
fn returns_only_at_end(body: &Block) -> bool {
    let mut last = body.last();
    while let Some(Statement::Block(inner)) = last {
        last = inner.last();
    }
    let ends = matches!(last, Some(Statement::Return { .. }));
    let mut count = 0;
    let mut stack = vec![body];
    while let Some(block) = stack.pop() {
        for statement in block.iter() {
            match statement {
                Statement::Return { .. } => count += 1,
                Statement::Block(inner) => stack.push(inner),
                Statement::If { accept, reject, .. } => stack.extend([accept, reject]),
                Statement::Switch { cases, .. } => {
                    stack.extend(cases.iter().map(|case| &case.body));
                }
                Statement::Loop { body, continuing, .. } => stack.extend([body, continuing]),
                _ => {}
            }
        }
    }
    ends && count == 1
}
