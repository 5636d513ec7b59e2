//! Uniform control flow by the rules of a language: which instructions that need all invocations may run without some.
//!
//! WGSL 15.2. The walk goes through the tree of regions in program order and keeps what made control flow non-uniform: a branch
//! by a varying condition, until its arms have met again; a loop that some leave earlier than others, for all its trips; and
//! a way out that some have taken (return, break, continue), until where it leads.

use super::{Uniformity, is_source};
use crate::ctx::Ctx;
use crate::shape::Shape;
use crate::walk::{Event, walk};
use crate::{Neutral, Options, copy_prop, mem2reg};
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::ssa::{
    Builtin, Flags, Func, Imm, InputKind, Inst, Mem, MemSpace, Numerics, Op, Region, ResourceKind,
    Span, Stage, TexKind, Value,
};

/// An instruction that needs uniform control flow and may not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is, as the language calls it.
    pub what: &'static str,
    /// Its place.
    pub place: Span,
    /// It waits for other invocations, which is wrong whatever a source says; else its value is undefined.
    pub waits: bool,
    /// The condition that parts invocations.
    pub condition: Span,
    /// What makes the condition differ, and where; absent where it is no one value.
    pub source: Option<(String, Span)>,
}

/// Instructions of a function, in program order, that need uniform control flow and may not have it.
pub fn findings(func: &Func) -> Vec<Finding> {
    if !is_suspect(func) {
        return Vec::new();
    }
    // Variables become values, so that what they hold is known.
    let mut func = func.clone();
    let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
    mem2reg::run(&mut func, &mut ctx);
    copy_prop::run(&mut func, &mut ctx);
    let uniformity = with_variables(&func);
    let shape = Shape::find(&func);
    let mut walk = Walk { func: &func, shape: &shape, uniformity: &uniformity, found: Vec::new() };
    walk.region(func.body, None);
    let Walk { mut found, .. } = walk;
    found.sort_by_key(|&(inst, _)| inst);
    found.dedup_by_key(|&mut (inst, _)| inst);
    found.into_iter().map(|(inst, cause)| finding(&func, &uniformity, inst, cause)).collect()
}

/// Whether an instruction asks for uniform control flow, and how the language calls it.
fn needs(func: &Func, inst: Inst) -> Option<(&'static str, bool)> {
    let data = &func.insts[inst];
    match (data.op, data.imm) {
        (Op::Barrier, Imm::Barrier { storage, texture, .. }) if func.stage == Stage::Compute => {
            let what = match (storage, texture) {
                (true, _) => "storageBarrier",
                (_, true) => "textureBarrier",
                _ => "workgroupBarrier",
            };
            Some((what, true))
        }
        _ if !data.flags().has(Flags::QUAD) || func.stage != Stage::Fragment => None,
        (Op::Tex, Imm::Tex(tex)) => Some((
            match tex.kind {
                TexKind::SampleBias => "textureSampleBias",
                TexKind::QueryLevel => "textureQueryLod",
                _ if tex.compare => "textureSampleCompare",
                _ => "textureSample",
            },
            false,
        )),
        (Op::Ddx | Op::DdxFine | Op::DdxCoarse | Op::Ddy | Op::DdyFine | Op::DdyCoarse, _) => {
            Some(("a derivative", false))
        }
        _ => None,
    }
}

/// Whether a branch or a loop comes before something that needs uniform control flow, around it or earlier.
fn is_suspect(func: &Func) -> bool {
    let (mut branches, mut suspect) = (false, false);
    walk(func, |event| {
        if let Event::Inst(inst) = event {
            suspect |= branches && needs(func, inst).is_some();
            branches |= matches!(func.insts[inst].op, Op::If | Op::Loop);
        }
    });
    suspect
}

/// The uniformity of a function's values where private variables that only ever hold uniform values are uniform.
fn with_variables(func: &Func) -> Uniformity {
    let shared = shared_loads(func);
    let mut loads: SecondaryMap<Mem, Vec<Inst>> = SecondaryMap::new();
    walk(func, |event| {
        if let Event::Inst(inst) = event
            && let Some(mem) = own_load(func, inst)
        {
            loads[mem].push(inst);
        }
    });
    let varies =
        |inst| own_load(func, inst).is_none() && !shared.contains(inst) && is_source(func, inst);
    Uniformity::from_sources(func, varies, loads)
}

/// The variable of the invocation's own that an instruction loads from.
fn own_load(func: &Func, inst: Inst) -> Option<Mem> {
    match (func.insts[inst].op, func.insts[inst].imm) {
        (Op::MemLoad, Imm::Mem(access)) => {
            (func.mems[access.mem].space != MemSpace::Workgroup).then_some(access.mem)
        }
        _ => None,
    }
}

/// Loads of workgroup variables between two barriers with nothing that writes between them: `workgroupUniformLoad`.
fn shared_loads(func: &Func) -> EntitySet<Inst> {
    let mut shared = EntitySet::new();
    for (region, ..) in func.regions_in_order() {
        let mut open: Option<Vec<Inst>> = None;
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            match data.op {
                Op::Barrier => {
                    for load in open.replace(Vec::new()).into_iter().flatten() {
                        shared.insert(load);
                    }
                }
                Op::MemLoad => {
                    if let Some(open) = &mut open {
                        open.push(inst);
                    }
                }
                _ if !data.regions.is_empty() || data.flags().has(Flags::EFFECT) => open = None,
                _ => {}
            }
        }
    }
    shared
}

/// A way out that only some invocations may have taken: what it leaves, whether it goes on with the next trip, and why.
#[derive(Copy, Clone)]
struct Leave {
    target: Inst,
    goes_on: bool,
    cause: Inst,
}

struct Walk<'a> {
    func: &'a Func,
    shape: &'a Shape,
    uniformity: &'a Uniformity,
    found: Vec<(Inst, Inst)>,
}

impl Walk<'_> {
    /// Walks a region that is entered with this cause of non-uniform control flow, if any.
    fn region(&mut self, region: Region, entered: Option<Inst>) -> Vec<Leave> {
        let func = self.func;
        let mut now = entered;
        let mut left: Vec<Leave> = Vec::new();
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            if let Some(cause) = now
                && needs(func, inst).is_some()
            {
                self.found.push((inst, cause));
            }
            match data.op {
                Op::If => {
                    let varies = !self.uniformity.is_uniform(data.args[0]);
                    let inside = now.or(varies.then_some(inst));
                    for &arm in &data.regions {
                        left.extend(self.region(arm, inside));
                    }
                }
                Op::Block => {
                    let leaves = self.region(data.regions[0], now);
                    left.extend(leaves.into_iter().filter(|leave| leave.target != inst));
                }
                Op::Loop => {
                    let leaves = self.trips(inst, now);
                    left.extend(leaves.into_iter().filter(|leave| leave.target != inst));
                }
                Op::BreakIf => {
                    let varies = !self.uniformity.is_uniform(data.args[0]);
                    if let Some(cause) = now.or(varies.then_some(inst)) {
                        left.extend(self.leave(inst, cause));
                    }
                }
                Op::Break | Op::Continue | Op::Exit => {
                    if let Some(cause) = now {
                        left.extend(self.leave(inst, cause));
                    }
                }
                _ => {}
            }
            now = now.or(left.first().map(|leave| leave.cause));
        }
        // One of each place is enough.
        left.sort_by_key(|leave| (leave.target, leave.goes_on));
        left.dedup_by_key(|leave| (leave.target, leave.goes_on));
        left
    }

    fn leave(&self, inst: Inst, cause: Inst) -> Option<Leave> {
        let target = self.shape.target[inst].expand()?;
        Some(Leave { target, goes_on: self.func.insts[inst].op == Op::Continue, cause })
    }

    /// A loop: where some leave it earlier than others, every trip is one that some do not make.
    fn trips(&mut self, inst: Inst, now: Option<Inst>) -> Vec<Leave> {
        let [body, continuing] = [0, 1].map(|index| self.func.insts[inst].regions[index]);
        let mut leaves = self.region(body, now);
        leaves.extend(self.region(continuing, now));
        let parts = leaves.iter().find(|leave| !(leave.goes_on && leave.target == inst));
        if now.is_none()
            && let Some(&Leave { cause, .. }) = parts
        {
            self.region(body, Some(cause));
            self.region(continuing, Some(cause));
        }
        leaves
    }
}

fn finding(func: &Func, uniformity: &Uniformity, inst: Inst, cause: Inst) -> Finding {
    let (what, waits) = needs(func, inst).expect("found by it");
    let condition = func.insts[cause].args[0];
    let place = func.def(condition).map_or(Span::NONE, |data| data.span);
    Finding {
        what,
        place: func.insts[inst].span,
        waits,
        condition: if place.is_none() { func.insts[cause].span } else { place },
        source: source(func, uniformity, condition),
    }
}

/// What makes a value vary, by the first varying operand of each operation.
fn source(func: &Func, uniformity: &Uniformity, mut value: Value) -> Option<(String, Span)> {
    // A chain of operands ends: values stand before their uses.
    for _ in 0..func.values.len() {
        let data = func.def(value)?;
        let name = |resource| func.resources[resource].name.clone();
        let text = match (data.op, data.imm) {
            (Op::Input, Imm::Input(input, _)) => {
                let input = &func.inputs[input];
                match input.kind {
                    InputKind::Builtin(Builtin::Position) => {
                        format!("`{}` is another for each pixel", input.name)
                    }
                    InputKind::Builtin(_) => {
                        format!("`{}` is another for each invocation", input.name)
                    }
                    InputKind::Location { .. } | InputKind::Corner { .. } => {
                        format!("the input `{}` may differ between invocations", input.name)
                    }
                }
            }
            (
                Op::BufferLoad | Op::BufferAtomic,
                Imm::Resource(resource) | Imm::BufferAtomic(resource, _),
            ) if matches!(func.resources[resource].kind, ResourceKind::Storage { access, .. }
                    if access.store || access.atomic) =>
            {
                format!("other invocations may write `{}`", name(resource))
            }
            (Op::MemLoad | Op::MemAtomic, Imm::Mem(access) | Imm::MemAtomic(access, _))
                if func.mems[access.mem].space == MemSpace::Workgroup =>
            {
                format!("other invocations may write `{}`", func.mems[access.mem].name)
            }
            _ if data.flags().has(Flags::QUAD) => "its neighbours decide this value".to_owned(),
            _ => {
                let varying = |arg: &&Value| !uniformity.is_uniform(**arg);
                value = *data.args.iter().find(varying)?;
                continue;
            }
        };
        return Some((text, data.span));
    }
    None
}
