//! Lowering of the typed tree: entry point, inlined functions, statements.

use super::layout::Packing;
use super::tree::{Direction, Expr, Function, Kind, Program, Stmt, StmtKind};
use super::types::{Opaque, Ty};
use crate::lower::flow::INLINED;
use crate::lower::frame::{End, Flow, Place, Target};
use crate::lower::switch::Arm;
use crate::lower::{Lower, Result};
use crate::stop::Stop;
use crate::{Diagnostic, Limits};
use gpucc_ir::Map;
use gpucc_ir::budget;
use gpucc_ir::ssa::{Func, Imm, Inst, MemSpace, Op, Resource, Stage, Value};
use std::rc::Rc;

/// A place in memory with the type of what is there.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub place: Place,
    pub ty: Ty,
    pub packing: Packing,
    /// An array of bindings, whose element is not chosen yet.
    pub bindings: bool,
}

/// A binding, and the element of an array of them.
pub(super) type Bound = (Resource, Option<Value>);

/// A texture, a sampler, or both.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    pub texture: Option<Bound>,
    pub sampler: Option<Bound>,
    pub ty: Ty,
}

/// What a variable is.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    Memory(Pointer),
    Handle(Handle),
}

/// One function while it is inlined.
pub(super) struct Frame {
    pub locals: Vec<Option<Slot>>,
    /// The block around the function that a return exits.
    pub label: Inst,
    /// Where a return puts its value.
    pub slot: Option<Pointer>,
    /// What `break` leaves, innermost last.
    pub breaks: Vec<Target>,
}

/// What is lowered.
pub(super) struct Glsl<'p> {
    pub p: &'p Program,
    pub globals: Map<u32, Slot>,
    /// The block of uniforms that stand in none.
    pub loose: Option<Resource>,
    /// A function is called that never returns, so that code stands behind a terminator.
    pub has_dead_code: bool,
    /// Output variables, which a geometry shader reads for each vertex.
    pub outputs: Rc<[(u32, Pointer)]>,
}

pub(super) type OfGlsl<'p> = Lower<'p, Glsl<'p>>;

/// Functions that a program calls, itself included, those that are called first.
fn reachable(program: &Program) -> Result<Vec<u32>> {
    let mut order = Vec::new();
    // 1: begun, 2: done.
    let mut state: Map<u32, u8> = Map::default();
    for first in [0, program.main] {
        let mut stack = vec![(first, 0usize)];
        state.insert(first, 1);
        while let Some((number, at)) = stack.pop() {
            let function = &program.functions[number as usize];
            let Some(&callee) = function.calls.get_index(at) else {
                state.insert(number, 2);
                order.push(number);
                continue;
            };
            stack.push((number, at + 1));
            let called = &program.functions[callee as usize];
            match state.get(&callee) {
                Some(1) => {
                    let message = format!(
                        "`{}` calls itself, by others or straight (GLSL 4.60, 6.1)",
                        called.name
                    );
                    return Err(Stop::invalid(message).at(called.span));
                }
                Some(_) => {}
                None if called.body.is_none() => {
                    let message = format!("`{}` is called and not defined", called.name);
                    return Err(Stop::invalid(message).at(called.span));
                }
                None => {
                    state.insert(callee, 1);
                    stack.push((callee, 0));
                }
            }
        }
    }
    Ok(order)
}

/// Refuses recursion in functions that nothing calls.
fn check_recursion(program: &Program) -> Result<()> {
    let mut state = vec![0u8; program.functions.len()];
    for first in 0..program.functions.len() as u32 {
        if state[first as usize] != 0 {
            continue;
        }
        let mut stack = vec![(first, 0usize)];
        state[first as usize] = 1;
        while let Some((number, at)) = stack.pop() {
            let Some(&callee) = program.functions[number as usize].calls.get_index(at) else {
                state[number as usize] = 2;
                continue;
            };
            stack.push((number, at + 1));
            match state[callee as usize] {
                1 => {
                    let called = &program.functions[callee as usize];
                    let message = format!(
                        "`{}` calls itself, by others or straight (GLSL 4.60, 6.1)",
                        called.name
                    );
                    return Err(Stop::invalid(message).at(called.span));
                }
                0 => {
                    state[callee as usize] = 1;
                    stack.push((callee, 0));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Refuses a program whose expressions and statements, those of every function as often as it is called, are more than
/// the budget has room for.
fn check_size(program: &Program, order: &[u32], limits: &Limits) -> Result<()> {
    let mut sizes: Map<u32, u64> = Map::default();
    let mut last = 0;
    for number in order {
        let function = &program.functions[*number as usize];
        let mut size = function.size.saturating_add(1);
        for callee in &function.callees {
            size = size.saturating_add(sizes.get(callee).copied().unwrap_or(0));
        }
        sizes.insert(*number, size);
        last = size;
    }
    limits.budget.hold(INLINED, last, budget::LOWERED).map_err(Stop::budget)
}

/// Lowers the program; also gives what was inferred.
pub(super) fn lower(
    program: &Program,
    stage: Stage,
    limits: &Limits,
) -> Result<(Func, Vec<Diagnostic>)> {
    check_recursion(program)?;
    let order = reachable(program)?;
    check_size(program, &order, limits)?;
    let mut func = Func::new("main".to_owned(), stage);
    func.place = program.functions[program.main as usize].span;
    if stage == Stage::Compute {
        func.workgroup_size = crate::lower::entry::workgroup_size(program.workgroup)?;
    }
    if stage == Stage::Geometry {
        func.geometry = Some(program.primitives.whole().map_err(|stop| stop.at(func.place))?);
    }
    func.early_fragment_tests = program.early_tests;
    func.invariant = program.invariant;
    let source = Glsl {
        p: program,
        globals: Map::default(),
        loose: None,
        has_dead_code: false,
        outputs: Rc::default(),
    };
    let mut lower = Lower::new(source, func, true, limits);
    if stage == Stage::Compute {
        program.quads.check(lower.func.workgroup_size)?;
        lower.quads = program.quads;
    }
    let result = lower.entry(&order);
    let at = lower.span;
    result.map_err(|stop| stop.at(at))?;
    Ok(lower.finish())
}

impl<'p> OfGlsl<'p> {
    fn entry(&mut self, order: &[u32]) -> Result<()> {
        let program = self.source.p;
        let mut used: Vec<u32> = order
            .iter()
            .flat_map(|number| program.functions[*number as usize].globals.iter().copied())
            .collect();
        used.sort_unstable();
        used.dedup();
        self.resources(&used)?;
        self.inputs(&used)?;
        let outputs: Rc<[_]> = self.output_variables(&used)?.into();
        self.source.outputs = Rc::clone(&outputs);
        self.labelled(|lower, label| {
            lower.whole = Some(label);
            lower.variables(label)?;
            let main = &program.functions[program.main as usize];
            lower.inline(main, Vec::new(), label)?;
            Ok(true)
        })?;
        if !self.ended() {
            // A geometry shader wrote them for each vertex.
            if self.stage != Stage::Geometry {
                self.outputs(&outputs)?;
            }
            self.end_open(Op::Yield);
        }
        if self.source.has_dead_code {
            self.drop_behind_terminators();
        }
        Ok(())
    }

    /// Gives variables outside of functions their first values.
    fn variables(&mut self, label: Inst) -> Result<()> {
        let program = self.source.p;
        let mut frame = Frame { locals: Vec::new(), label, slot: None, breaks: Vec::new() };
        let initialised = (0..).zip(&program.globals).filter(|(_, global)| global.init.is_some());
        for (number, global) in initialised {
            let Some(Slot::Memory(pointer)) = self.source.globals.get(&number).cloned() else {
                continue;
            };
            if let Some(init) = &global.init {
                let values = self.values(&mut frame, init)?;
                self.store(&pointer, &values)?;
            }
        }
        Ok(())
    }

    /// Lowers a function in place; gives where its result is. `label` is the block that its returns exit.
    pub(super) fn inline(
        &mut self,
        function: &'p Function,
        arguments: Vec<Slot>,
        label: Inst,
    ) -> Result<Option<Pointer>> {
        self.step()?;
        let slot = match function.result {
            Ty::Void => None,
            ty => Some(self.private(&format!("{}.result", function.name), ty)?),
        };
        let mut locals: Vec<Option<Slot>> = arguments.into_iter().map(Some).collect();
        for local in function.locals.iter().skip(locals.len()) {
            let name = if local.name.is_empty() { "local" } else { &local.name };
            let pointer = self.private(name, local.ty)?;
            self.zero(&pointer)?;
            locals.push(Some(Slot::Memory(pointer)));
        }
        let mut frame = Frame { locals, label, slot, breaks: Vec::new() };
        let end = End { returns: true, ..End::default() };
        let body = function.body.as_deref().unwrap_or_default();
        self.list(&mut frame, body, end)?;
        Ok(frame.slot)
    }

    /// A private variable of a type.
    pub(super) fn private(&mut self, name: &str, ty: Ty) -> Result<Pointer> {
        self.memory(name, ty, MemSpace::Private)
    }

    pub(super) fn memory(&mut self, name: &str, ty: Ty, space: MemSpace) -> Result<Pointer> {
        let bytes = self.source.p.types.count(ty).1;
        let mem = self.variable(name, bytes, space)?;
        Ok(Pointer { place: self.place_of(mem), ty, packing: Packing::DENSE, bindings: false })
    }

    /// Lowers statements until control cannot go on. `end` says what the end of the list does.
    pub(super) fn list(&mut self, frame: &mut Frame, list: &'p [Stmt], end: End) -> Result<Flow> {
        let last = list.len().wrapping_sub(1);
        for (index, stmt) in list.iter().enumerate() {
            self.step()?;
            self.span = stmt.span;
            let here = if index == last { end } else { End::default() };
            // A jump may be followed by dead statements: what it skips to is the end all the same.
            let jump = match stmt.kind {
                StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Discard => {
                    end
                }
                _ => here,
            };
            let flow = self.stmt(frame, stmt, jump).map_err(|stop| stop.at(self.span))?;
            if flow == Flow::Dead || self.ended() {
                return Ok(Flow::Dead);
            }
        }
        Ok(Flow::Open)
    }

    fn stmt(&mut self, frame: &mut Frame, stmt: &'p Stmt, end: End) -> Result<Flow> {
        match &stmt.kind {
            StmtKind::Local(number, init) => {
                let values = self.values(frame, init)?;
                let pointer = self.local_pointer(frame, *number)?;
                self.store(&pointer, &values)?;
            }
            StmtKind::Expr(expr) => self.effect(frame, expr)?,
            StmtKind::Block(inner) => return self.list(frame, inner, end),
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.scalar(frame, condition)?;
                return self.fork(condition, &mut |lower, holds| {
                    lower.list(frame, if holds { then } else { otherwise }, end)
                });
            }
            StmtKind::Switch(selector, cases) => {
                let selector = self.scalar(frame, selector)?;
                let arms: Vec<Arm<&'p [Stmt]>> = cases
                    .iter()
                    .map(|case| Arm {
                        values: case.values.clone(),
                        is_default: case.is_default,
                        body: &case.body[..],
                        falls_through: case.falls_through,
                    })
                    .collect();
                let open = self.labelled(|lower, label| {
                    frame.breaks.push(Target::Switch(label));
                    let flow = lower.arms(selector, &arms, label, &mut |lower, body, leaves| {
                        let end = match leaves {
                            true => End { leaves_switch: true, ..end },
                            false => End::default(),
                        };
                        lower.list(frame, body, end)
                    });
                    frame.breaks.pop();
                    Ok(flow? == Flow::Open)
                })?;
                return Ok(if open { Flow::Open } else { Flow::Dead });
            }
            StmtKind::Loop { condition, body, next, test_last } => {
                return self.loop_stmt(frame, condition.as_ref(), body, next.as_ref(), *test_last);
            }
            StmtKind::Break => return self.break_out(frame.breaks.last_mut(), end),
            StmtKind::Continue => {
                if !end.continues {
                    self.b().end(Op::Continue, &[]);
                }
                return Ok(Flow::Dead);
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    match frame.slot.clone() {
                        Some(slot) => {
                            let values = self.values(frame, value)?;
                            self.store(&slot, &values)?;
                        }
                        None => self.effect(frame, value)?,
                    }
                }
                if !end.returns {
                    self.exit(frame.label);
                }
                return Ok(Flow::Dead);
            }
            StmtKind::Discard => {
                self.b().inst(Op::Demote, Imm::None, &[], &[], &[]);
                // Nothing leaves a `continuing`: there the invocation goes on as a helper, whose effects nobody sees.
                if self.continuing > 0 {
                    return Ok(Flow::Open);
                }
                if let Some(whole) = self.whole
                    && !(end.returns && whole == frame.label)
                {
                    self.exit(whole);
                }
                return Ok(Flow::Dead);
            }
            StmtKind::Demote => {
                self.b().inst(Op::Demote, Imm::None, &[], &[], &[]);
            }
        }
        Ok(Flow::Open)
    }

    fn loop_stmt(
        &mut self,
        frame: &mut Frame,
        condition: Option<&'p Expr>,
        body: &'p [Stmt],
        next: Option<&'p Expr>,
        test_last: bool,
    ) -> Result<Flow> {
        let span = self.span;
        let always = condition
            .is_none_or(|condition| condition.known().is_some_and(|known| known[0].truth()));
        frame.breaks.push(Target::Loop(!always));
        let end = End { continues: true, ..End::default() };
        let body = self.nested(|lower| {
            if let Some(condition) = condition.filter(|_| !test_last && !always) {
                let condition = lower.scalar(frame, condition)?;
                lower.fork(condition, &mut |lower, holds| {
                    if holds {
                        return Ok(Flow::Open);
                    }
                    lower.b().end(Op::Break, &[]);
                    Ok(Flow::Dead)
                })?;
            }
            lower.list(frame, body, end)?;
            lower.end_open(Op::Continue);
            Ok(())
        })?;
        self.continuing += 1;
        let continuing = self.nested(|lower| {
            if let Some(next) = next {
                lower.span = next.span;
                lower.effect(frame, next)?;
            }
            match condition.filter(|_| test_last && !always) {
                Some(condition) => {
                    let holds = lower.scalar(frame, condition)?;
                    let done = lower.op1(Op::Not, holds);
                    lower.b().end(Op::BreakIf, &[done]);
                }
                None => lower.end_open(Op::Next),
            }
            Ok(())
        })?;
        self.continuing -= 1;
        self.span = span;
        self.b().inst(Op::Loop, Imm::None, &[], &[body, continuing], &[]);
        match frame.breaks.pop() {
            Some(Target::Loop(false)) => Ok(Flow::Dead),
            _ => Ok(Flow::Open),
        }
    }

    /// A call; gives where its result is. What is written is copied back in the order of the parameters.
    pub(super) fn call(
        &mut self,
        frame: &mut Frame,
        number: u32,
        arguments: &'p [Expr],
    ) -> Result<Option<Pointer>> {
        let function = &self.source.p.functions[number as usize];
        let mut slots = Vec::with_capacity(arguments.len());
        let mut values = Vec::with_capacity(arguments.len());
        let mut targets = Vec::new();
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            if matches!(self.source.p.types.innermost(parameter.ty), Ty::Opaque(opaque) if opaque != Opaque::Counter)
            {
                let handle = self.handle(frame, argument)?;
                slots.push(Some(Slot::Handle(handle)));
                values.push(None);
            } else if parameter.ty == Ty::Opaque(Opaque::Counter) {
                let pointer = self.pointer(frame, argument)?;
                slots.push(Some(Slot::Memory(pointer)));
                values.push(None);
            } else if parameter.direction == Direction::In {
                slots.push(None);
                values.push(Some(self.values(frame, argument)?));
            } else {
                let target = self.target(frame, argument)?;
                targets.push((slots.len(), target, argument.ty));
                slots.push(None);
                values.push(None);
            }
        }
        for (at, target, _) in &targets {
            if function.parameters[*at].direction == Direction::InOut {
                values[*at] = Some(self.load_target(target)?);
            }
        }
        let mut made = Vec::with_capacity(slots.len());
        for (at, slot) in slots.into_iter().enumerate() {
            made.push(match slot {
                Some(slot) => slot,
                None => {
                    let local = &function.locals[at];
                    let name = if local.name.is_empty() { "argument" } else { &local.name };
                    let pointer = self.private(name, local.ty)?;
                    match &values[at] {
                        Some(values) => self.store(&pointer, values)?,
                        None => self.zero(&pointer)?,
                    }
                    Slot::Memory(pointer)
                }
            });
        }
        let written: Vec<Slot> = targets.iter().map(|(at, ..)| made[*at].clone()).collect();
        let span = self.span;
        let mut slot = None;
        self.labelled(|lower, label| {
            slot = lower.inline(function, made, label)?;
            Ok(true)
        })?;
        self.span = span;
        if self.ended() {
            self.source.has_dead_code = true;
            return Ok(slot);
        }
        for ((at, target, ty), slot) in targets.iter().zip(written) {
            let Slot::Memory(pointer) = slot else {
                continue;
            };
            let mut values = self.load(&pointer)?;
            let from = function.parameters[*at].ty;
            if let (Some(a), Some(b)) = (from.scalar(), ty.scalar())
                && a != b
            {
                values = self.converted(values, a, b)?;
            }
            self.store_target(target, &values)?;
        }
        Ok(slot)
    }

    /// An expression for what it does alone.
    pub(super) fn effect(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<()> {
        match &expr.kind {
            Kind::Call(number, arguments) => {
                self.span = expr.span;
                self.call(frame, *number, arguments)?;
            }
            Kind::Comma(a, b) => {
                self.effect(frame, a)?;
                if !self.ended() {
                    self.effect(frame, b)?;
                }
            }
            _ => {
                self.values(frame, expr)?;
            }
        }
        Ok(())
    }
}
