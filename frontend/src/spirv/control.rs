//! Entry points, inlined functions, and the tree of control flow.

use super::module::Inst;
use super::plan::{self, Case, List, Stmt};
use super::pointers::Roots;
use super::program::{Entry, Function, Id, Program, READING, op, span};
use super::types::{Matrices, Ty};
use super::{Bound, Frame, OfSpirv, Operand, Pointer, Spirv};
use crate::lower::entry::workgroup_size;
use crate::lower::flow::INLINED;
use crate::lower::frame::{Base, Flow};
use crate::lower::narrow::is_byte;
use crate::lower::switch::Arm;
use crate::lower::types::Layout;
use crate::lower::{Lower, Result, Values};
use crate::stop::Stop;
use crate::{Diagnostic, Limits};
use gpucc_ir::budget;
use gpucc_ir::ssa::{Func, Imm, MemSpace, Op, ResourceKind, Stage, Type};
use gpucc_ir::{Map, Set};
use rspirv::spirv::Op as Code;
use std::rc::Rc;

/// Functions that an entry point calls, itself included, those that are called first.
fn reachable<'p>(program: &'p Program<'_>, entry: &Entry) -> Result<Vec<&'p Function>> {
    let Some(first) = program.function(entry.function) else {
        let message = format!("the entry point `{}` has no function", entry.name);
        return Err(Stop::invalid(message).at(entry.at));
    };
    let mut order = Vec::new();
    // 1: begun, 2: done.
    let mut state: Map<Id, u8> = Map::default();
    let mut stack = vec![(first, 0usize)];
    state.insert(first.id, 1);
    while let Some((function, at)) = stack.pop() {
        let Some(&callee) = function.calls.get(at) else {
            state.insert(function.id, 2);
            order.push(function);
            continue;
        };
        stack.push((function, at + 1));
        match state.get(&callee) {
            Some(1) => {
                let message = "a function calls itself, by others or straight";
                return Err(Stop::invalid(message).at(function.at));
            }
            Some(_) => {}
            None => {
                let Some(callee) = program.function(callee) else {
                    return Err(
                        Stop::invalid(format!("%{callee} is not a function")).at(function.at)
                    );
                };
                state.insert(callee.id, 1);
                stack.push((callee, 0));
            }
        }
    }
    Ok(order)
}

/// Refuses an entry point whose instructions, those of every function as often as it is called, are more than the
/// budget has room for.
fn check_size(program: &Program<'_>, order: &[&Function], limits: &Limits) -> Result<()> {
    let mut sizes: Map<Id, u64> = Map::default();
    let mut last = 0;
    for function in order {
        let mut size = 1u64;
        for block in &function.blocks {
            for inst in &program.insts[block.from..=block.end] {
                let callee = match op(inst) {
                    Code::FunctionCall => sizes.get(&inst.operand(2)).copied().unwrap_or(0),
                    _ => 0,
                };
                size = size.saturating_add(1).saturating_add(callee);
            }
        }
        sizes.insert(function.id, size);
        last = size;
    }
    limits.budget.hold(INLINED, last, budget::LOWERED).map_err(Stop::budget)
}

/// Lowers one entry point; also gives what was inferred.
pub fn lower(
    program: &Program<'_>,
    entry: &Entry,
    limits: &Limits,
) -> Result<(Func, Vec<Diagnostic>)> {
    let stage = entry.stage().map_err(|stop| stop.at(entry.at))?;
    let order = reachable(program, entry)?;
    check_size(program, &order, limits)?;
    let mut plans = Map::default();
    for function in &order {
        plans.insert(function.id, plan::plan(program, function, limits.region_depth)?);
    }
    let mut func = Func::new(entry.name.clone(), stage);
    func.place = entry.at;
    if stage == Stage::Compute {
        let Some(size) = entry.workgroup else {
            let message = format!("the entry point `{}` has no LocalSize", entry.name);
            return Err(Stop::invalid(message).at(entry.at));
        };
        func.workgroup_size = workgroup_size(size).map_err(|stop| stop.at(entry.at))?;
    }
    if stage == Stage::Geometry {
        func.geometry = Some(entry.primitives.whole().map_err(|stop| stop.at(entry.at))?);
    }
    func.early_fragment_tests = entry.early_tests;
    // What is inlined once makes about as much.
    func.reserve(program.insts.len());
    let source = Spirv {
        program,
        entry,
        plans: &plans,
        constants: Map::default(),
        variables: Map::default(),
        bindings: Map::default(),
        default_block: None,
        compared: Set::default(),
        texels: Set::default(),
        written: Set::default(),
        roots: match program.has_far {
            true => Roots::find(program, &order),
            false => Roots::default(),
        },
        takes_texels: program.insts.iter().any(|inst| op(inst) == Code::ImageTexelPointer),
        taken: Map::default(),
        inputs: None,
        outputs: Rc::default(),
    };
    let mut lower = Lower::new(source, func, true, limits);
    if stage == Stage::Compute {
        let whole = entry.quads.check(lower.func.workgroup_size);
        whole.map_err(|stop| stop.at(entry.at))?;
        lower.quads = entry.quads;
    }
    if entry.lower_left {
        let text = "fragment coordinates count from the lower left: the first row of the target's memory is the lowest one, \
                    as OpenGL has it";
        lower.notes.push(Diagnostic::note("fragment-origin", text));
    }
    let result = lower.entry(&order);
    let at = lower.span;
    result.map_err(|stop| stop.at(at))?;
    Ok(lower.finish())
}

impl<'p> OfSpirv<'p> {
    fn entry(&mut self, order: &[&'p Function]) -> Result<()> {
        let outputs = self.interface(order)?;
        self.source.outputs = Rc::clone(&outputs);
        // What the body computes depends on it.
        self.func.invariant = self.is_invariant(&outputs)?;
        let function = *order.last().expect("the entry point's function is there");
        self.labelled(|lower, label| {
            lower.whole = Some(label);
            lower.inline(function, Vec::new(), label)?;
            Ok(true)
        })?;
        if !self.ended() {
            // A geometry shader wrote them for each vertex.
            if self.stage != Stage::Geometry {
                self.outputs(&outputs)?;
            }
            self.end_open(Op::Yield);
        }
        Ok(())
    }

    /// Lowers a function in place; gives where its result is. `label` is the block that its returns exit.
    pub(super) fn inline(
        &mut self,
        function: &'p Function,
        arguments: Vec<Operand>,
        label: gpucc_ir::ssa::Inst,
    ) -> Result<Option<Pointer>> {
        self.step()?;
        let program = self.source.program;
        let Some(plan) = self.source.plans.get(&function.id) else {
            return Err(Stop::internal("a function without a plan"));
        };
        let slot = match program.ty(function.result)? {
            Ty::Void => None,
            ty if ty.is_handle() => {
                let what = "a function that gives a texture or a sampler";
                return Err(Stop::unsupported(what, READING));
            }
            _ => {
                let name = format!("{}.result", program.name(function.id));
                Some(self.private(&name, function.result)?)
            }
        };
        let mut frame = Frame {
            function,
            plan,
            values: vec![None; function.slots.len()],
            escaped: Map::default(),
            phis: Map::default(),
            scope: 0,
            label,
            slot,
            labels: Map::default(),
        };
        if arguments.len() != function.parameters.len() {
            return Err(Stop::invalid(
                "a call with another number of arguments than the function has",
            ));
        }
        for (&parameter, argument) in function.parameters.iter().zip(arguments) {
            let slot = function.slots[&parameter];
            frame.values[slot] = Some((argument, 0));
        }
        self.list(&mut frame, &plan.body)?;
        Ok(frame.slot)
    }

    /// A private variable of a type.
    pub(super) fn private(&mut self, name: &str, ty: Id) -> Result<Pointer> {
        let bytes = self.source.program.dense_size(ty)?;
        let mem = self.variable(name, bytes, MemSpace::Private)?;
        Ok(Pointer { place: self.place_of(mem), ty, matrices: Matrices::default() })
    }

    fn list(&mut self, frame: &mut Frame<'p>, list: &'p List) -> Result<Flow> {
        let outer = std::mem::replace(&mut frame.scope, list.scope);
        let mut flow = Flow::Open;
        for stmt in &list.stmts {
            self.step()?;
            flow = self.stmt(frame, stmt).map_err(|stop| stop.at(self.span))?;
            if flow == Flow::Dead || self.ended() {
                flow = Flow::Dead;
                break;
            }
        }
        frame.scope = outer;
        Ok(flow)
    }

    fn stmt(&mut self, frame: &mut Frame<'p>, stmt: &'p Stmt) -> Result<Flow> {
        match stmt {
            Stmt::Block(block) => return self.block(frame, *block),
            Stmt::If(condition, then, otherwise) => {
                let condition = self.truth_of(frame, *condition)?;
                return self.fork(condition, &mut |lower, holds| {
                    lower.list(frame, if holds { then } else { otherwise })
                });
            }
            Stmt::Switch(selector, cases, merge) => {
                return self.switch_stmt(frame, *selector, cases, *merge);
            }
            Stmt::Loop { body, next, break_if } => {
                return self.loop_stmt(frame, body, next, *break_if);
            }
            Stmt::Labelled(merge, body) => {
                let mut flow = Flow::Open;
                let open = self.labelled(|lower, label| {
                    frame.labels.insert(*merge, label);
                    flow = lower.list(frame, body)?;
                    Ok(flow == Flow::Open)
                })?;
                return Ok(if open { Flow::Open } else { Flow::Dead });
            }
            Stmt::Exit(merge) => {
                let Some(&label) = frame.labels.get(merge) else {
                    return Err(Stop::internal("an exit of a construct that is not around"));
                };
                self.exit(label);
            }
            Stmt::Break => {
                self.b().end(Op::Break, &[]);
            }
            Stmt::Continue => {
                self.b().end(Op::Continue, &[]);
            }
            Stmt::Return(block, falls) => {
                let inst = &self.source.program.insts[frame.function.blocks[*block].end];
                if op(inst) == Code::ReturnValue {
                    self.span = span(inst);
                    let values = self.values(frame, inst.operand(0))?;
                    let Some(slot) = frame.slot.clone() else {
                        return Err(Stop::invalid(
                            "a value is returned from a function that gives none",
                        ));
                    };
                    self.store(&slot, &values)?;
                }
                if !falls {
                    self.exit(frame.label);
                }
            }
            Stmt::Kill(falls) => {
                self.of_fragments("a discard")?;
                self.b().inst(Op::Demote, Imm::None, &[], &[], &[]);
                // Nothing leaves a `continuing`: there the invocation goes on as a helper, whose
                // effects nobody sees.
                if self.continuing > 0 {
                    return Ok(Flow::Open);
                }
                if let Some(whole) = self.whole
                    && !(*falls && whole == frame.label)
                {
                    self.exit(whole);
                }
            }
            Stmt::Unreachable(falls) => {
                // A program that is wrong about it leaves the function, and does not run into what follows.
                if self.continuing > 0 {
                    return Ok(Flow::Open);
                }
                if !falls {
                    self.exit(frame.label);
                }
            }
        }
        Ok(Flow::Dead)
    }

    fn switch_stmt(
        &mut self,
        frame: &mut Frame<'p>,
        selector: Id,
        cases: &'p [Case],
        merge: Id,
    ) -> Result<Flow> {
        let (kind, _) = self.source.program.shape(self.source.program.type_of(selector)?)?;
        let selector = self.scalar(frame, selector)?;
        if self.ty(selector) == Type::B1 {
            return Err(Stop::invalid("a switch takes an integer"));
        }
        // Literals of less than a word are extended by their sign.
        let mask = if is_byte(kind) { 0xff } else { u64::MAX };
        let arms: Vec<Arm<&'p List>> = cases
            .iter()
            .map(|case| Arm {
                values: case.values.iter().map(|value| value & mask).collect(),
                is_default: case.is_default,
                body: &case.body,
                falls_through: case.falls_through,
            })
            .collect();
        let mut flow = Flow::Open;
        let open = self.labelled(|lower, label| {
            frame.labels.insert(merge, label);
            flow = lower
                .arms(selector, &arms, label, &mut |lower, body, _| lower.list(frame, body))?;
            Ok(flow == Flow::Open)
        })?;
        Ok(if open { Flow::Open } else { Flow::Dead })
    }

    fn loop_stmt(
        &mut self,
        frame: &mut Frame<'p>,
        body: &'p List,
        next: &'p List,
        break_if: Option<(Id, bool)>,
    ) -> Result<Flow> {
        let at = self.span;
        let body = self.nested(|lower| {
            lower.list(frame, body)?;
            lower.end_open(Op::Continue);
            Ok(())
        })?;
        self.continuing += 1;
        let continuing = self.nested(|lower| {
            let flow = lower.list(frame, next)?;
            if flow == Flow::Dead || lower.ended() {
                lower.end_open(Op::Next);
                return Ok(());
            }
            match break_if {
                Some((condition, leaves)) => {
                    let outer = std::mem::replace(&mut frame.scope, next.scope);
                    let mut condition = lower.truth_of(frame, condition)?;
                    frame.scope = outer;
                    if !leaves {
                        condition = lower.op1(Op::Not, condition);
                    }
                    lower.b().end(Op::BreakIf, &[condition]);
                }
                None => lower.end_open(Op::Next),
            }
            Ok(())
        })?;
        self.continuing -= 1;
        self.span = at;
        self.b().inst(Op::Loop, Imm::None, &[], &[body, continuing], &[]);
        Ok(Flow::Open)
    }

    /// The instructions of a block, and what the phis behind it take from it.
    fn block(&mut self, frame: &mut Frame<'p>, number: usize) -> Result<Flow> {
        let program = self.source.program;
        let block = &frame.function.blocks[number];
        for inst in &program.insts[block.from..block.end] {
            self.step()?;
            self.span = span(inst);
            self.inst(frame, inst).map_err(|stop| stop.at(self.span))?;
            if self.ended() {
                return Ok(Flow::Dead);
            }
        }
        self.span = span(&program.insts[block.end]);
        self.leave(frame, number).map_err(|stop| stop.at(self.span))?;
        Ok(Flow::Open)
    }

    /// What a phi takes from a predecessor.
    fn taken(&mut self, phi: &Inst, from: Id) -> Option<Id> {
        /// Predecessors up to which they are looked through.
        const FEW: usize = 16;
        let mut pairs = phi.rest(2).chunks_exact(2);
        if pairs.len() <= FEW {
            return pairs.find(|pair| pair[1] == from).map(|pair| pair[0]);
        }
        let all = self.source.taken.entry(phi.operand(1)).or_insert_with(|| {
            // Of two pairs of one predecessor the first counts.
            pairs.rev().map(|pair| (pair[1], pair[0])).collect()
        });
        all.get(&from).copied()
    }

    /// Stores what the phis of the blocks behind take.
    fn leave(&mut self, frame: &mut Frame<'p>, number: usize) -> Result<()> {
        let program = self.source.program;
        let function = frame.function;
        let block = &function.blocks[number];
        let branch = &program.insts[block.end];
        let mut labels: Vec<Id> = match op(branch) {
            Code::Branch => vec![branch.operand(0)],
            Code::BranchConditional => vec![branch.operand(1), branch.operand(2)],
            // Literals stand between; none is a block's label by chance alone, and a store too many does no harm.
            Code::Switch => branch.rest(1).to_vec(),
            _ => return Ok(()),
        };
        labels.sort_unstable();
        labels.dedup();
        for label in labels {
            let Some(&target) = function.labels.get(&label) else {
                continue;
            };
            let target = &function.blocks[target];
            for inst in &program.insts[target.from..target.end] {
                match op(inst) {
                    Code::Phi => {}
                    Code::Line | Code::NoLine => continue,
                    _ => break,
                }
                let Some(taken) = self.taken(inst, block.label) else {
                    continue;
                };
                let variable = self.phi(frame, inst.operand(1), inst.operand(0))?;
                let values = self.values(frame, taken)?;
                self.store(&variable, &values)?;
            }
        }
        Ok(())
    }

    /// The variable of a phi.
    pub(super) fn phi(&mut self, frame: &mut Frame<'p>, id: Id, ty: Id) -> Result<Pointer> {
        let slot = self.slot(frame, id)?;
        if let Some(known) = frame.phis.get(&slot) {
            return Ok(known.clone());
        }
        if self.source.program.ty(ty)?.is_handle() {
            return Err(Stop::unsupported("a phi of textures or samplers", READING));
        }
        let made = self.private("phi", ty)?;
        frame.phis.insert(slot, made.clone());
        Ok(made)
    }

    /// Number of a value in its function.
    pub(super) fn slot(&self, frame: &Frame<'p>, id: Id) -> Result<usize> {
        match frame.function.slots.get(&id) {
            Some(&slot) => Ok(slot),
            None => Err(Stop::invalid(format!("%{id} is not a value of this function"))),
        }
    }

    /// Records what an instruction gives.
    pub(super) fn set(&mut self, frame: &mut Frame<'p>, id: Id, operand: Operand) -> Result<()> {
        let slot = self.slot(frame, id)?;
        if let Operand::Values(values) = &operand {
            self.keep(values.len())?;
            if frame.plan.escapes[slot] {
                self.escape(frame, slot, values)?;
            }
        }
        frame.values[slot] = Some((operand, frame.scope));
        Ok(())
    }

    /// Stores a value for uses that do not see it.
    fn escape(&mut self, frame: &mut Frame<'p>, slot: usize, values: &Values) -> Result<()> {
        let mems = match frame.escaped.get(&slot) {
            Some(mems) => mems.clone(),
            None => {
                let mut mems = Vec::with_capacity(values.len());
                for &value in values {
                    let ty = self.ty(value);
                    mems.push(self.scalar_variable("carried", ty)?);
                }
                frame.escaped.insert(slot, mems.clone());
                mems
            }
        };
        for (mem, &value) in mems.into_iter().zip(values) {
            self.write_scalar(mem, value);
        }
        Ok(())
    }

    /// What an id stands for, seen from the current scope.
    pub(super) fn operand(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Operand> {
        let operand = self.seen(frame, id)?;
        if let (Operand::Values(words), true) = (&operand, self.pointers_are_values())
            && let Some(far) = self.far(id, words)?
        {
            return Ok(Operand::Far(far));
        }
        Ok(operand)
    }

    fn pointers_are_values(&self) -> bool {
        self.source.program.has_far || self.source.program.has_addresses
    }

    fn seen(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Operand> {
        let Some(&slot) = frame.function.slots.get(&id) else {
            return self.global(id);
        };
        let Some((operand, scope)) = &frame.values[slot] else {
            return Err(Stop::invalid(format!("%{id} is used where it is not defined")));
        };
        if frame.plan.sees(*scope, frame.scope) {
            return Ok(operand.clone());
        }
        if let Operand::Values(values) = operand {
            let types: Vec<Type> = values.iter().map(|&value| self.ty(value)).collect();
            if let Some(constants) = self.constants_of(values) {
                return Ok(Operand::Values(constants));
            }
            let Some(mems) = frame.escaped.get(&slot).cloned() else {
                return Err(Stop::invalid(format!("%{id} is used where it is not defined")));
            };
            let read = mems.into_iter().zip(types).map(|(mem, ty)| self.read_scalar(mem, ty));
            return Ok(Operand::Values(read.collect()));
        }
        // Pointers, textures and samplers are made again.
        let Some(inst) = self.source.program.inst(id) else {
            return Err(Stop::internal("a value without its instruction"));
        };
        match self.evaluate(frame, inst)? {
            Some(operand) => Ok(operand),
            None => Err(Stop::invalid(format!("%{id} is used where it is not defined"))),
        }
    }

    /// Values that are all constants are visible everywhere.
    fn constants_of(&self, values: &Values) -> Option<Values> {
        values.iter().all(|&value| self.func.as_const(value).is_some()).then(|| values.clone())
    }

    /// The scalars of an id.
    pub(super) fn values(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Values> {
        if let Some(&slot) = frame.function.slots.get(&id)
            && let Some((Operand::Values(values), scope)) = &frame.values[slot]
            && *scope == frame.scope
        {
            return Ok(values.clone());
        }
        match self.operand(frame, id)? {
            Operand::Values(values) => Ok(values),
            operand @ (Operand::Far(_) | Operand::Pointer(_) | Operand::Binding(..))
                if self.pointers_are_values() =>
            {
                self.pointer_words(operand)
            }
            _ => Err(Stop::invalid(format!("%{id} is not a value that has scalars"))),
        }
    }

    /// The only scalar of an id.
    pub(super) fn scalar(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<gpucc_ir::ssa::Value> {
        match self.values(frame, id)?.as_slice() {
            [value] => Ok(*value),
            _ => Err(Stop::invalid(format!("%{id} is not a scalar"))),
        }
    }

    /// The truth value of an id.
    fn truth_of(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<gpucc_ir::ssa::Value> {
        let value = self.scalar(frame, id)?;
        match self.ty(value) {
            Type::B1 => Ok(value),
            _ => Err(Stop::invalid(format!("the condition %{id} is not a truth value"))),
        }
    }

    /// A constant, a variable or a function's parameter from outside.
    fn global(&mut self, id: Id) -> Result<Operand> {
        if let Some(values) = self.source.constants.get(&id) {
            return Ok(Operand::Values(values.clone()));
        }
        if let Some(pointer) = self.source.variables.get(&id) {
            return Ok(Operand::Pointer(pointer.clone()));
        }
        let program = self.source.program;
        let Some(inst) = program.inst(id) else {
            return Err(Stop::invalid(format!("%{id} is not defined")));
        };
        if op(inst) == Code::Variable {
            let (_, ty) = program.pointee(inst.operand(0))?;
            self.declare(id)?;
            return match self.source.variables.get(&id) {
                Some(pointer) => Ok(Operand::Pointer(pointer.clone())),
                None => Ok(Operand::Binding(Bound { variable: id, element: None }, ty)),
            };
        }
        let values = self.constant_values(id)?;
        self.source.constants.insert(id, values.clone());
        Ok(Operand::Values(values))
    }

    /// The scalars of a constant of the module.
    pub(super) fn constant_values(&mut self, id: Id) -> Result<Values> {
        if let Some(values) = self.source.constants.get(&id) {
            return Ok(values.clone());
        }
        let program = self.source.program;
        let inst = program.inst(id);
        let Some(inst) = inst else {
            return Err(Stop::invalid(format!("%{id} is not defined")));
        };
        let ty = inst.operand(0);
        // A constant is as deep as its type.
        program.leaf_count(ty)?;
        let values = match op(inst) {
            code @ (Code::ConstantTrue | Code::ConstantFalse) => {
                if program.widths(ty)?[..] != [Type::B1] {
                    return Err(Stop::invalid("true and false are Booleans").at(span(inst)));
                }
                Values::from_elem(self.bool(code == Code::ConstantTrue), 1)
            }
            Code::Constant => {
                let (scalar, 1) = program.shape(ty)? else {
                    return Err(Stop::invalid("OpConstant is a scalar").at(span(inst)));
                };
                let bits = u64::from(inst.operand(2)) | u64::from(inst.operand(3)) << 32;
                let width = crate::lower::types::width(scalar);
                let bits = if is_byte(scalar) { bits & 0xff } else { bits };
                Values::from_elem(self.constant(width, bits), 1)
            }
            Code::ConstantComposite => {
                let widths = program.widths(ty)?;
                let mut values = Values::with_capacity(widths.len());
                for (index, &part) in (0..).zip(inst.rest(2)) {
                    let (of, ..) = program.part(ty, index).map_err(|stop| stop.at(span(inst)))?;
                    let own = program.type_of(part)?;
                    // Integers of either sign pass as one another.
                    let alike = own == of
                        || matches!(
                            (program.ty(own)?, program.ty(of)?),
                            (Ty::Scalar(a), Ty::Scalar(b)) if a.width == b.width
                        );
                    if !alike {
                        let message = format!("%{part} does not have the type of part {index}");
                        return Err(Stop::invalid(message).at(span(inst)));
                    }
                    // Members stand before what they are members of.
                    if program.order(part).is_none() || program.order(part) >= program.order(id) {
                        return Err(Stop::invalid(format!("%{part} is not a constant before"))
                            .at(span(inst)));
                    }
                    let part = self.constant_values(part)?;
                    values.extend(part);
                }
                let fits = values.len() == widths.len()
                    && values.iter().zip(&widths).all(|(&value, &ty)| self.ty(value) == ty);
                if !fits {
                    return Err(
                        Stop::invalid("a constant whose parts do not make its type").at(span(inst))
                    );
                }
                values
            }
            Code::ConstantNull | Code::Undef => self.zeros(ty)?,
            other => {
                let what = format!("the constant Op{other:?}");
                let what = if other == Code::SpecConstantOp {
                    "this OpSpecConstantOp".to_owned()
                } else {
                    what
                };
                return Err(Stop::unsupported(what, READING).at(span(inst)));
            }
        };
        self.keep(values.len())?;
        self.source.constants.insert(id, values.clone());
        Ok(values)
    }

    /// Zeros of a type.
    pub(super) fn zeros(&mut self, ty: Id) -> Result<Values> {
        let widths = self.source.program.widths(ty)?;
        Ok(widths.into_iter().map(|ty| self.constant(ty, 0)).collect())
    }

    /// Which scalars of a type are bytes, in order; none where the type has none or memory has none.
    pub(super) fn bytes_within(&self, pointer: &Pointer) -> Result<Option<Vec<bool>>> {
        let program = self.source.program;
        if !program.has_bytes || pointer.place.layout == Layout::Dense {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(program.leaf_count(pointer.ty)?);
        self.bytes_into(pointer.ty, &mut bytes)?;
        Ok(bytes.contains(&true).then_some(bytes))
    }

    fn bytes_into(&self, ty: u32, out: &mut Vec<bool>) -> Result<()> {
        let program = self.source.program;
        let leaves = program.leaf_count(ty)?;
        match program.ty(ty)? {
            _ if leaves == 0 => {}
            Ty::Struct(members) => {
                for &index in &program.inside(ty)?.filled {
                    self.bytes_into(members[index as usize].ty, out)?;
                }
            }
            Ty::Array { of, .. } => {
                let from = out.len();
                self.bytes_into(*of, out)?;
                let element = out.len() - from;
                for _ in 1..leaves / element.max(1) {
                    out.extend_from_within(from..from + element);
                }
            }
            Ty::Scalar(scalar) | Ty::Vector(scalar, ..) | Ty::Matrix(scalar, ..) => {
                out.extend(std::iter::repeat_n(is_byte(*scalar), leaves));
            }
            _ => out.extend(std::iter::repeat_n(false, leaves)),
        }
        Ok(())
    }

    /// Reads what a pointer points to.
    pub(super) fn load(&mut self, pointer: &Pointer) -> Result<Values> {
        let layout = pointer.place.layout;
        let leaves = self.source.program.flatten(pointer.ty, layout, pointer.matrices)?;
        let bytes = self.bytes_within(pointer)?;
        Ok(self.load_scalars(&pointer.place, &leaves, bytes.as_deref()))
    }

    /// Writes what a pointer points to.
    pub(super) fn store(&mut self, pointer: &Pointer, values: &Values) -> Result<()> {
        let layout = pointer.place.layout;
        let leaves = self.source.program.flatten(pointer.ty, layout, pointer.matrices)?;
        let fits = leaves.len() == values.len()
            && leaves.iter().zip(values).all(|(leaf, &value)| leaf.ty == self.ty(value));
        if !fits {
            return Err(Stop::invalid("a value is stored where another type is"));
        }
        if let Base::Buffer(resource) = pointer.place.base {
            let kind = &self.func.resources[resource].kind;
            if !matches!(kind, ResourceKind::Storage { access, .. } if access.store) {
                return Err(Stop::invalid("a store to memory that may only be read"));
            }
        }
        let bytes = self.bytes_within(pointer)?;
        self.store_scalars(&pointer.place, &leaves, bytes.as_deref(), values)
    }
}
