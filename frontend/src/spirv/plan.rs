//! A function's control flow as a tree, and which values leave the part of it that makes them.
//!
//! SPIR-V's blocks are structured by their merge instructions (SPIR-V 2.11): the tree follows them. A branch that
//! does not fall to where control goes anyway becomes an exit of the construct that it leaves. A value that is used
//! where its definition is out of scope goes through a variable.

use super::program::{Block, Function, Id, Merge, Program, READING, op, span};
use crate::stop::Stop;
use gpucc_ir::Set;
use gpucc_ir::ssa::Span;
use rspirv::spirv::Op;

/// A list of statements and what may be seen from it.
#[derive(Debug, Default)]
pub struct List {
    pub scope: Scope,
    pub stmts: Vec<Stmt>,
}

/// Number of a scope; see [`Plan::sees`].
pub type Scope = usize;

/// One body of a switch.
#[derive(Debug)]
pub struct Case {
    pub values: Vec<u64>,
    pub is_default: bool,
    pub falls_through: bool,
    pub body: List,
}

/// A statement.
#[derive(Debug)]
pub enum Stmt {
    /// The instructions of a block.
    Block(usize),
    /// Condition, then, else.
    If(Id, List, List),
    /// Selector, cases, the label that leaves it.
    Switch(Id, Vec<Case>, Id),
    Loop {
        body: List,
        next: List,
        /// Condition at the end of `next`, and whether it leaves the loop when it holds.
        break_if: Option<(Id, bool)>,
    },
    /// A list that exits of the label leave.
    Labelled(Id, List),
    Exit(Id),
    Break,
    Continue,
    /// The block that it ends; true where nothing has to be jumped over.
    Return(usize, bool),
    /// True where nothing has to be jumped over.
    Kill(bool),
    /// True where nothing has to be jumped over.
    Unreachable(bool),
}

/// The tree of a function.
#[derive(Debug)]
pub struct Plan {
    pub body: List,
    /// Outer scope and depth of each scope.
    scopes: Vec<(Scope, u32)>,
    /// Scope of each block; none where control does not get to.
    pub scope_of: Vec<Option<Scope>>,
    /// Values that need a variable, by slot.
    pub escapes: Vec<bool>,
    /// Uses of each value, by slot.
    pub uses: Vec<u32>,
    /// The block that makes each value, by slot.
    home: Vec<Option<usize>>,
}

impl Plan {
    /// What is made in one scope can be seen from another.
    pub fn sees(&self, maker: Scope, mut user: Scope) -> bool {
        let depth = self.scopes[maker].1;
        while self.scopes[user].1 > depth {
            user = self.scopes[user].0;
        }
        user == maker
    }
}

/// A construct around what is being built.
#[derive(Copy, Clone, Debug)]
enum Around {
    Selection { merge: Id },
    Switch { merge: Id },
    Loop { header: Id, merge: Id, next: Id },
    Next { header: Id },
}

struct Build<'p, 'a> {
    program: &'p Program<'a>,
    function: &'p Function,
    around: Vec<Around>,
    /// Labels of the cases of the innermost switch.
    cases: Vec<Vec<Id>>,
    scopes: Vec<(Scope, u32)>,
    scope_of: Vec<Option<Scope>>,
    /// Merges that something branches to.
    reached: Set<Id>,
    /// Labels that something exits.
    exited: Set<Id>,
    limit: u64,
}

/// Where a list of statements ends.
enum End {
    /// It does not fall out at its end.
    Dead,
    /// It falls to what follows its construct.
    Falls,
    /// It falls into a case of the switch around.
    Into(Id),
    /// At the end of a loop's continue construct: a condition, and whether it leaves when it holds.
    BreakIf(Id, bool),
}

/// Where a branch goes.
enum Target {
    Stmt(Stmt),
    Falls,
    Into(Id),
    Block(usize),
}

impl Target {
    /// What follows where it is no statement.
    fn next(self) -> Next {
        match self {
            Target::Stmt(_) => Next::End(End::Dead),
            Target::Falls => Next::End(End::Falls),
            Target::Into(case) => Next::End(End::Into(case)),
            Target::Block(next) => Next::Block(next),
        }
    }
}

/// Plans a function. Nesting is bounded by `limit`.
///
/// # Errors
/// Control flow that is not structured, and what breaks its rules.
pub fn plan(program: &Program<'_>, function: &Function, limit: u64) -> Result<Plan, Stop> {
    let mut build = Build {
        program,
        function,
        around: Vec::new(),
        cases: Vec::new(),
        scopes: vec![(0, 0)],
        scope_of: vec![None; function.blocks.len()],
        reached: Set::default(),
        exited: Set::default(),
        limit,
    };
    let mut body = List::default();
    if function.blocks.is_empty() {
        return Err(Stop::invalid("a function without a body is called").at(function.at));
    }
    build.chain(0, &mut body)?;
    strip(&mut body.stmts, &Falls { labels: Vec::new(), continues: false, returns: true });
    let slots = function.slots.len();
    let mut plan = Plan {
        body,
        scopes: build.scopes,
        scope_of: build.scope_of,
        escapes: vec![false; slots],
        uses: vec![0; slots],
        home: vec![None; slots],
    };
    find_escapes(program, function, &mut plan)?;
    Ok(plan)
}

impl Build<'_, '_> {
    fn scope(&mut self, outer: Scope) -> Result<Scope, Stop> {
        let depth = self.scopes[outer].1 + 1;
        if u64::from(depth) > self.limit {
            let hint = "nest less, or call less deeply";
            let what = "nesting of control flow";
            return Err(Stop::limit(what, depth.into(), self.limit, hint).at(self.function.at));
        }
        self.scopes.push((outer, depth));
        Ok(self.scopes.len() - 1)
    }

    fn inside(&mut self, outer: Scope) -> Result<List, Stop> {
        Ok(List { scope: self.scope(outer)?, stmts: Vec::new() })
    }

    fn at(&self, block: &Block) -> gpucc_ir::ssa::Span {
        span(&self.program.insts[block.end])
    }

    /// Where a branch of a block goes.
    fn target(&mut self, label: Id, block: &Block) -> Result<Target, Stop> {
        let unstructured = |what: &str| {
            Stop::unsupported(format!("control flow that is not structured: {what}"), READING)
        };
        let (mut crossed_loop, mut crossed_next, mut innermost) = (false, false, true);
        for around in self.around.iter().rev().copied() {
            match around {
                Around::Selection { merge } | Around::Switch { merge } if merge == label => {
                    self.reached.insert(merge);
                    if innermost {
                        return Ok(Target::Falls);
                    }
                    if crossed_next {
                        return Err(unstructured("a branch out of a continue construct"));
                    }
                    self.exited.insert(merge);
                    return Ok(Target::Stmt(Stmt::Exit(merge)));
                }
                Around::Loop { merge, .. } if merge == label => {
                    self.reached.insert(merge);
                    if crossed_loop {
                        return Err(unstructured("a branch out of two loops"));
                    }
                    return Ok(Target::Stmt(Stmt::Break));
                }
                Around::Loop { header, next, .. } if label == next || label == header => {
                    if crossed_loop || (label == header && header != next) {
                        return Err(unstructured("a branch to the header of a loop"));
                    }
                    return Ok(Target::Stmt(Stmt::Continue));
                }
                Around::Next { header } if header == label => {
                    if !innermost {
                        return Err(unstructured("a back edge within a construct"));
                    }
                    return Ok(Target::Falls);
                }
                _ => {}
            }
            if let (Around::Switch { .. }, true, Some(cases)) =
                (around, innermost, self.cases.last())
                && cases.contains(&label)
            {
                return Ok(Target::Into(label));
            }
            crossed_next |= matches!(around, Around::Next { .. });
            crossed_loop |= matches!(around, Around::Loop { .. } | Around::Next { .. });
            innermost = false;
        }
        match self.labelled(label, self.at(block))? {
            0 => Err(Stop::invalid("a branch to the first block of a function").at(self.at(block))),
            found => Ok(Target::Block(found)),
        }
    }

    /// The block of a label.
    fn labelled(&self, label: Id, at: Span) -> Result<usize, Stop> {
        self.function.labels.get(&label).copied().ok_or_else(|| {
            Stop::invalid(format!("%{label} is not a block of this function")).at(at)
        })
    }

    /// A list that begins with a branch to a label.
    fn arm(&mut self, label: Id, block: &Block, list: &mut List) -> Result<End, Stop> {
        match self.jump(label, block, list)? {
            Next::Block(next) => self.chain(next, list),
            Next::End(end) => Ok(end),
        }
    }

    /// The statements from a block on.
    fn chain(&mut self, first: usize, list: &mut List) -> Result<End, Stop> {
        let function = self.function;
        let mut at = first;
        loop {
            let block = &function.blocks[at];
            if self.scope_of[at].is_some() {
                let what = "control flow that is not structured: a block that two constructs share";
                return Err(Stop::unsupported(what, READING).at(self.at(block)));
            }
            if let Some(Merge::Loop { merge, next }) = block.merge {
                self.labelled(merge, self.at(block))?;
                self.labelled(next, self.at(block))?;
                self.loop_(at, merge, next, list)?;
                match self.behind(merge)? {
                    Some(behind) => at = behind,
                    None => return Ok(End::Dead),
                }
                continue;
            }
            self.scope_of[at] = Some(list.scope);
            list.stmts.push(Stmt::Block(at));
            match self.leave(block, list)? {
                Next::Block(next) => at = next,
                Next::End(end) => return Ok(end),
            }
        }
    }

    /// The block behind a construct, where something reaches it.
    fn behind(&mut self, merge: Id) -> Result<Option<usize>, Stop> {
        if !self.reached.contains(&merge) {
            return Ok(None);
        }
        self.labelled(merge, self.function.at).map(Some)
    }

    fn loop_(&mut self, at: usize, merge: Id, next: Id, list: &mut List) -> Result<(), Stop> {
        let function = self.function;
        let block = &function.blocks[at];
        let header = block.label;
        let mut body = self.inside(list.scope)?;
        self.scope_of[at] = Some(body.scope);
        body.stmts.push(Stmt::Block(at));
        self.around.push(Around::Loop { header, merge, next });
        // What the header's branch does belongs to the body.
        match self.leave(block, &mut body)? {
            Next::Block(following) => {
                self.chain(following, &mut body)?;
            }
            Next::End(_) => {}
        }
        self.around.pop();
        let mut tail = self.inside(list.scope)?;
        let mut break_if = None;
        let known = function.labels.get(&next).copied();
        if next != header
            && let Some(first) = known
            && self.scope_of[first].is_none()
        {
            self.around.push(Around::Loop { header: 0, merge, next: 0 });
            self.around.push(Around::Next { header });
            let end = self.chain(first, &mut tail)?;
            self.around.truncate(self.around.len() - 2);
            if let End::BreakIf(condition, leaves) = end {
                break_if = Some((condition, leaves));
                self.reached.insert(merge);
            }
        }
        list.stmts.push(Stmt::Loop { body, next: tail, break_if });
        Ok(())
    }

    /// What the branch at the end of a block does.
    fn leave(&mut self, block: &Block, list: &mut List) -> Result<Next, Stop> {
        let inst = &self.program.insts[block.end];
        let number = self.function.labels[&block.label];
        let dead = |list: &mut List, stmt| {
            list.stmts.push(stmt);
            Ok(Next::End(End::Dead))
        };
        let continuing = self.around.iter().any(|around| matches!(around, Around::Next { .. }));
        match op(inst) {
            Op::Return | Op::ReturnValue if continuing => {
                let message = "a function returns within a loop's continue construct";
                Err(Stop::invalid(message).at(self.at(block)))
            }
            Op::Branch => self.jump(inst.operand(0), block, list),
            Op::BranchConditional => self.branch(block, list),
            Op::Switch => self.switch(block, list),
            Op::Return | Op::ReturnValue => dead(list, Stmt::Return(number, false)),
            Op::Kill | Op::TerminateInvocation => dead(list, Stmt::Kill(false)),
            Op::Unreachable => dead(list, Stmt::Unreachable(false)),
            other => {
                let what = format!("a block that ends in Op{other:?}");
                Err(Stop::unsupported(what, READING).at(self.at(block)))
            }
        }
    }

    fn jump(&mut self, label: Id, block: &Block, list: &mut List) -> Result<Next, Stop> {
        Ok(match self.target(label, block)? {
            Target::Stmt(stmt) => {
                list.stmts.push(stmt);
                Next::End(End::Dead)
            }
            other => other.next(),
        })
    }

    fn branch(&mut self, block: &Block, list: &mut List) -> Result<Next, Stop> {
        let inst = &self.program.insts[block.end];
        let (condition, yes, no) = (inst.operand(0), inst.operand(1), inst.operand(2));
        if yes == no && block.merge.is_none() {
            return self.jump(yes, block, list);
        }
        if let Some(Merge::Selection(merge)) = block.merge {
            self.around.push(Around::Selection { merge });
            let outer = self.inside(list.scope)?;
            let (mut then, mut otherwise) = (self.inside(outer.scope)?, self.inside(outer.scope)?);
            for (label, arm) in [(yes, &mut then), (no, &mut otherwise)] {
                if let End::Into(_) | End::BreakIf(..) = self.arm(label, block, arm)? {
                    let what =
                        "control flow that is not structured: a branch into another construct";
                    return Err(Stop::unsupported(what, READING).at(self.at(block)));
                }
            }
            self.around.pop();
            let fork = Stmt::If(condition, then, otherwise);
            list.stmts.push(match self.exited.contains(&merge) {
                true => Stmt::Labelled(merge, List { stmts: vec![fork], ..outer }),
                false => fork,
            });
            return Ok(match self.behind(merge)? {
                Some(behind) => Next::Block(behind),
                None => Next::End(End::Dead),
            });
        }
        // At the end of a continue construct: the back edge, and the way out.
        if let Some(&Around::Next { header }) = self.around.last()
            && (yes == header || no == header)
        {
            let out = if yes == header { no } else { yes };
            let Some(Around::Loop { merge, .. }) = self.around.iter().rev().nth(1) else {
                return Err(Stop::internal("a continue construct without its loop"));
            };
            if out == *merge {
                return Ok(Next::End(End::BreakIf(condition, out == yes)));
            }
        }
        let (mut then, mut otherwise) = (self.inside(list.scope)?, self.inside(list.scope)?);
        let targets = [self.target(yes, block)?, self.target(no, block)?];
        let next = match targets {
            // One way leaves: what the other does stands behind.
            [Target::Stmt(stmt), other] => {
                then.stmts.push(stmt);
                list.stmts.push(Stmt::If(condition, then, otherwise));
                return Ok(match other {
                    Target::Stmt(stmt) => {
                        list.stmts.push(stmt);
                        Next::End(End::Dead)
                    }
                    other => other.next(),
                });
            }
            [other, Target::Stmt(stmt)] => {
                otherwise.stmts.push(stmt);
                list.stmts.push(Stmt::If(condition, then, otherwise));
                return Ok(other.next());
            }
            [yes, no] => {
                let first = self.way(yes, &mut then)?;
                match (first, self.way(no, &mut otherwise)?) {
                    (End::Dead, end) | (end, End::Dead) => end,
                    (End::Falls, End::Falls) => End::Falls,
                    (End::Into(a), End::Into(b)) if a == b => End::Into(a),
                    _ => return Err(self.parted(block)),
                }
            }
        };
        if let End::BreakIf(..) = next {
            return Err(self.parted(block));
        }
        list.stmts.push(Stmt::If(condition, then, otherwise));
        Ok(Next::End(next))
    }

    /// A list that begins where a branch goes.
    fn way(&mut self, target: Target, list: &mut List) -> Result<End, Stop> {
        match target.next() {
            Next::Block(next) => self.chain(next, list),
            Next::End(end) => Ok(end),
        }
    }

    fn parted(&self, block: &Block) -> Stop {
        let what = "control flow that is not structured: a branch without a merge";
        Stop::unsupported(what, READING).at(self.at(block))
    }

    fn switch(&mut self, block: &Block, list: &mut List) -> Result<Next, Stop> {
        let inst = &self.program.insts[block.end];
        let selector = inst.operand(0);
        let Some(Merge::Selection(merge)) = block.merge else {
            return Err(self.parted(block));
        };
        let ty = self.program.type_of(selector).map_err(|stop| stop.at(span(inst)))?;
        let (scalar, _) = self.program.shape(ty).map_err(|stop| stop.at(span(inst)))?;
        let words = if scalar.width == 8 { 2 } else { 1 };
        // Bodies by their labels, in order; those that go straight behind the switch need none.
        let mut bodies: gpucc_ir::Map<Id, (Vec<u64>, bool)> = gpucc_ir::Map::default();
        let default = inst.operand(1);
        for pair in inst.rest(2).chunks_exact(words + 1) {
            let value = match words {
                1 => u64::from(pair[0]),
                _ => u64::from(pair[0]) | u64::from(pair[1]) << 32,
            };
            let mask = gpucc_ir::ssa::Type::mask(crate::lower::types::width(scalar));
            bodies.entry(pair[words]).or_default().0.push(value & mask);
        }
        bodies.entry(default).or_default().1 = true;
        self.around.push(Around::Switch { merge });
        // A case may be where a construct around ends or goes on.
        let is_outer = |label: Id| {
            self.around.iter().any(|around| match *around {
                Around::Selection { merge } | Around::Switch { merge } => merge == label,
                Around::Loop { header, merge, next } => [header, merge, next].contains(&label),
                Around::Next { header } => header == label,
            })
        };
        let own: Vec<Id> = bodies.keys().copied().filter(|&label| !is_outer(label)).collect();
        self.cases.push(own);
        let outer = self.inside(list.scope)?;
        let mut built = Vec::with_capacity(bodies.len());
        for (label, (values, is_default)) in bodies {
            let mut body = self.inside(outer.scope)?;
            let end = if label == merge {
                self.reached.insert(merge);
                End::Falls
            } else {
                let first = self.labelled(label, self.at(block))?;
                let is_case = matches!(self.target(label, block)?, Target::Into(_));
                if is_case {
                    self.chain(first, &mut body)?
                } else {
                    self.arm(label, block, &mut body)?
                }
            };
            let into = match end {
                End::Into(case) => Some(case),
                End::BreakIf(..) => return Err(self.parted(block)),
                End::Dead | End::Falls => None,
            };
            built.push((
                label,
                into,
                Case { values, is_default, falls_through: into.is_some(), body },
            ));
        }
        self.cases.pop();
        self.around.pop();
        let cases = in_falling_order(built).ok_or_else(|| self.parted(block))?;
        self.exited.insert(merge);
        let switch = Stmt::Switch(selector, cases, merge);
        list.stmts.push(switch);
        Ok(match self.behind(merge)? {
            Some(behind) => Next::Block(behind),
            None => Next::End(End::Dead),
        })
    }
}

/// What follows a block.
enum Next {
    Block(usize),
    End(End),
}

/// Cases so that each stands before the one that it falls into.
fn in_falling_order(built: Vec<(Id, Option<Id>, Case)>) -> Option<Vec<Case>> {
    let entered: Set<Id> = built.iter().filter_map(|(_, into, _)| *into).collect();
    let mut left: gpucc_ir::Map<Id, (Option<Id>, Case)> =
        built.into_iter().map(|(label, into, case)| (label, (into, case))).collect();
    let mut order = Vec::with_capacity(left.len());
    let firsts: Vec<Id> = left.keys().copied().filter(|label| !entered.contains(label)).collect();
    for first in firsts {
        let mut next = Some(first);
        while let Some(label) = next {
            // A case that two others fall into is taken already.
            let (into, case) = left.swap_remove(&label)?;
            order.push(case);
            next = into;
        }
    }
    left.is_empty().then_some(order)
}

/// Where falling out of a list leads anyway.
#[derive(Clone)]
struct Falls {
    labels: Vec<Id>,
    continues: bool,
    returns: bool,
}

/// Leaves out jumps to where control goes anyway.
fn strip(stmts: &mut Vec<Stmt>, falls: &Falls) {
    let last = stmts.len().wrapping_sub(1);
    let nowhere = Falls { labels: Vec::new(), continues: false, returns: false };
    for (index, stmt) in stmts.iter_mut().enumerate() {
        let here = if index == last { falls } else { &nowhere };
        match stmt {
            Stmt::If(_, then, otherwise) => {
                strip(&mut then.stmts, here);
                strip(&mut otherwise.stmts, here);
            }
            Stmt::Switch(_, cases, label) => {
                let through = cases.iter().any(|case| case.falls_through);
                let mut inner = here.clone();
                inner.labels.push(*label);
                for case in cases {
                    strip(&mut case.body.stmts, if through { &nowhere } else { &inner });
                }
            }
            Stmt::Labelled(label, body) => {
                let mut inner = here.clone();
                inner.labels.push(*label);
                strip(&mut body.stmts, &inner);
            }
            Stmt::Loop { body, next, .. } => {
                let inner = Falls { continues: true, ..nowhere.clone() };
                strip(&mut body.stmts, &inner);
                strip(&mut next.stmts, &nowhere);
            }
            Stmt::Return(_, falls) | Stmt::Kill(falls) | Stmt::Unreachable(falls) => {
                *falls = here.returns;
            }
            _ => {}
        }
    }
    let falls_anyway = match stmts.last() {
        Some(Stmt::Exit(label)) => falls.labels.contains(label),
        Some(Stmt::Continue) => falls.continues,
        _ => false,
    };
    if falls_anyway {
        stmts.pop();
    }
}

/// Ids that an instruction uses; what is no value of the function has no slot.
pub fn operands(inst: &super::module::Inst) -> impl Iterator<Item = Id> + '_ {
    // From operand, up to operand, without the literal at one.
    let all = usize::MAX;
    let (from, to, literal) = match op(inst) {
        Op::Store => (0, 2, all),
        Op::ReturnValue | Op::BranchConditional | Op::Switch => (0, 1, all),
        Op::CopyMemory => (0, 2, all),
        Op::AtomicStore => (0, all, all),
        Op::ImageWrite => (0, all, 3),
        Op::Branch | Op::Line | Op::NoLine | Op::ControlBarrier | Op::MemoryBarrier => (0, 0, all),
        Op::Load | Op::CompositeExtract | Op::ArrayLength => (2, 3, all),
        Op::CompositeInsert | Op::VectorShuffle => (2, 4, all),
        Op::Variable => (3, 4, all),
        Op::ExtInst => (4, all, all),
        Op::ImageSampleImplicitLod
        | Op::ImageSampleExplicitLod
        | Op::ImageSampleProjImplicitLod
        | Op::ImageSampleProjExplicitLod
        | Op::ImageFetch
        | Op::ImageRead => (2, all, 4),
        Op::ImageSampleDrefImplicitLod
        | Op::ImageSampleDrefExplicitLod
        | Op::ImageSampleProjDrefImplicitLod
        | Op::ImageSampleProjDrefExplicitLod
        | Op::ImageGather
        | Op::ImageDrefGather => (2, all, 5),
        _ => (2, all, all),
    };
    let operands = inst.operands().iter().copied().enumerate();
    operands.filter(move |&(at, _)| (from..to).contains(&at) && at != literal).map(|(_, id)| id)
}

/// Instructions whose results are made again where they are out of sight: pointers, textures, samplers.
fn is_made_again(inst: &super::module::Inst, program: &Program<'_>) -> bool {
    match op(inst) {
        Op::AccessChain
        | Op::InBoundsAccessChain
        | Op::PtrAccessChain
        | Op::InBoundsPtrAccessChain
        | Op::SampledImage
        | Op::Image
        | Op::ImageTexelPointer => true,
        Op::Load | Op::CopyObject => program.ty(inst.operand(0)).is_ok_and(|ty| ty.is_opaque()),
        _ => false,
    }
}

/// How many results that are made again may lead to one another.
const MOST_AGAIN: u32 = 64;

fn find_escapes(program: &Program<'_>, function: &Function, plan: &mut Plan) -> Result<(), Stop> {
    for (number, block) in function.blocks.iter().enumerate() {
        for inst in &program.insts[block.from..block.end] {
            if let Some(&slot) = function.slots.get(&inst.operand(1)) {
                // Only results stand there: an instruction without one has no slot of that number made here.
                if program.inst(inst.operand(1)).is_some_and(|made| made.at == inst.at) {
                    plan.home[slot] = Some(number);
                }
            }
        }
    }
    for (number, block) in function.blocks.iter().enumerate() {
        let Some(scope) = plan.scope_of[number] else {
            continue;
        };
        for inst in &program.insts[block.from..=block.end] {
            if op(inst) == Op::Phi {
                for pair in inst.rest(2).chunks_exact(2) {
                    let from = function.labels.get(&pair[1]).and_then(|&from| plan.scope_of[from]);
                    if let Some(from) = from {
                        used(program, function, plan, pair[0], from, 0)?;
                    }
                }
                continue;
            }
            for id in operands(inst) {
                used(program, function, plan, id, scope, 0)?;
            }
        }
    }
    conditions(program, function, plan)
}

/// Conditions at the ends of continue constructs are used there.
fn conditions(program: &Program<'_>, function: &Function, plan: &mut Plan) -> Result<(), Stop> {
    fn collect(list: &List, all: &mut Vec<(Id, Scope)>) {
        for stmt in &list.stmts {
            match stmt {
                Stmt::If(_, then, otherwise) => {
                    collect(then, all);
                    collect(otherwise, all);
                }
                Stmt::Switch(_, cases, _) => {
                    for case in cases {
                        collect(&case.body, all);
                    }
                }
                Stmt::Loop { body, next, break_if } => {
                    collect(body, all);
                    collect(next, all);
                    all.extend(break_if.map(|(condition, _)| (condition, next.scope)));
                }
                Stmt::Labelled(_, body) => collect(body, all),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    collect(&plan.body, &mut all);
    for (condition, scope) in all {
        used(program, function, plan, condition, scope, 0)?;
    }
    Ok(())
}

fn used(
    program: &Program<'_>,
    function: &Function,
    plan: &mut Plan,
    id: Id,
    scope: Scope,
    depth: u32,
) -> Result<(), Stop> {
    let Some(&slot) = function.slots.get(&id) else {
        return Ok(());
    };
    plan.uses[slot] += 1;
    let Some(home) = plan.home[slot].and_then(|block| plan.scope_of[block]) else {
        return Ok(());
    };
    if plan.sees(home, scope) {
        return Ok(());
    }
    let Some(inst) = program.inst(id) else {
        return Ok(());
    };
    if !is_made_again(inst, program) {
        plan.escapes[slot] = true;
        return Ok(());
    }
    if depth == MOST_AGAIN {
        let what = "a pointer that is made of many others";
        return Err(Stop::unsupported(what, READING).at(span(inst)));
    }
    for operand in operands(inst).collect::<Vec<_>>() {
        used(program, function, plan, operand, scope, depth + 1)?;
    }
    Ok(())
}
