//! Copy propagation and dead code elimination on machine IR before allocation.

use crate::inst::{Inst, Port, Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Ops};
use crate::isa::ops::Main;
use crate::isa::register::{Register, Special, special};
use crate::pack::predicate;
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Func, Inst as _, Reg, Role, VReg};
use smallvec::SmallVec;

/// What registers are, by their numbers.
struct Counts {
    definitions: Vec<u32>,
    uses: Vec<u32>,
}

/// Forwards copies, then drops what nobody reads.
pub fn clean(func: &mut Func<Inst>) {
    let counts = count(func);
    propagate(func, &counts);
    keep_indices(func);
    drop_unread(func);
}

/// Drops steps that put into the index register what it holds: the same work on the same values as the step before that led it, in one
/// block, where who runs stays the same.
fn keep_indices(func: &mut Func<Inst>) {
    for &block in &func.layout {
        let mut held: Option<Step> = None;
        func.blocks[block].nodes.retain(|node| {
            let Inst::Step(step) = &node.inst else {
                held = None;
                return true;
            };
            if leads(step) {
                let same = |other: &Step| other.group == step.group && other.ports == step.ports;
                if held.as_ref().is_some_and(same) {
                    return false;
                }
                held = Some((**step).clone());
                return true;
            }
            let index = |to: &Register| matches!(to, Register::Index(_));
            let mut changes = step.group.writes.iter().flatten().any(index);
            node.inst.each(|reg, role| {
                let read = |port: &Port| port.reg == reg;
                changes |=
                    role.is_def() && held.as_ref().is_some_and(|led| led.ports.iter().any(read));
            });
            if changes || matches!(step.group.ops, Ops::Control(_)) {
                held = None;
            }
            true
        });
    }
}

/// Whether a step does nothing but put what it computes of values and constants into the first index register.
fn leads(step: &Step) -> bool {
    let group = &step.group;
    let settled = |register: &Register| match *register {
        Register::Special(number) => matches!(special(number), Special::Constant(_)),
        Register::Shared(_) => true,
        _ => false,
    };
    let value = |port: &Port| {
        port.role == Role::Use && port.part.is_whole() && !port.indexed && !port.ranged
    };
    let alone = match &group.ops {
        Ops::Main(ops) => ops.backend.is_none() && ops.test.is_none(),
        Ops::Bitwise(phases) => phases[2].as_ref().is_none_or(|shift| !shift.flag(f::PWEN)),
        Ops::Control(_) => false,
    };
    alone
        && group.writes == [Some(Register::Index(0)), None]
        && group.condition == Condition::Runs
        && predicate(group) == (false, false)
        && (group.repeat, group.atom, group.end) == (1, false, false)
        && step.message.is_none()
        && group.sources.iter().all(settled)
        && step.ports.iter().all(value)
}

/// Drops what nobody reads.
pub fn drop_unread(func: &mut Func<Inst>) {
    let mut counts = count(func);
    sweep(func, &mut counts);
}

fn count(func: &Func<Inst>) -> Counts {
    let size = func.vregs.len();
    let mut counts = Counts { definitions: vec![0; size], uses: vec![0; size] };
    for node in func.layout.iter().flat_map(|&block| &func.blocks[block].nodes) {
        node.inst.each(|reg, role| {
            let Some(reg) = reg.as_virt() else { return };
            let of = match role.is_def() {
                true => &mut counts.definitions,
                false => &mut counts.uses,
            };
            of[reg.index()] += 1;
        });
    }
    counts
}

/// What a step copies that does nothing else.
fn copied(step: &Step) -> Option<(Reg, Src)> {
    let Ops::Main(main) = &step.group.ops else { return None };
    let [Some(word), None, None, None, None, None] = main.places() else { return None };
    let plain = Main::of(word.op()) == Main::Mbyp && !word.flag(f::NEG0) && !word.flag(f::ABS0);
    let whole = step.ports.iter().all(|port| port.part.is_whole() && !port.indexed);
    match (plain && step.pure && whole, &step.ports[..]) {
        (true, [dst]) => Some((dst.reg, Src::Fixed(step.group.sources[0]))),
        (true, [src, dst]) => Some((dst.reg, Src::Reg(src.reg))),
        _ => None,
    }
}

fn copies(inst: &Inst) -> SmallVec<[(Reg, Reg); 2]> {
    match inst {
        Inst::Copy { dst, src, count: 1 } => dst.iter().copied().zip(src.iter().copied()).collect(),
        Inst::Step(step) => match copied(step) {
            Some((to, Src::Reg(from))) => SmallVec::from_slice(&[(to, from)]),
            _ => SmallVec::new(),
        },
        _ => SmallVec::new(),
    }
}

/// Readers of a copy read what was copied, where both are written once: it is the same wherever the copy is. Ranges keep registers of
/// their own.
fn propagate(func: &mut Func<Inst>, counts: &Counts) {
    let mut stands_for: Vec<Option<VReg>> = vec![None; func.vregs.len()];
    for &block in &func.layout {
        for node in &mut func.blocks[block].nodes {
            let ranged = |inst: &Inst| match inst {
                Inst::Step(step) => step.ports.iter().any(|port| port.ranged || port.indexed),
                _ => false,
            };
            if !ranged(&node.inst) {
                node.inst.rewrite(&mut |reg, role| match (reg.as_virt(), role) {
                    (Some(virt), Role::Use) => stands_for[virt.index()].map_or(reg, Reg::virt),
                    _ => reg,
                });
            }
            for (to, from) in copies(&node.inst) {
                if let (Some(to), Some(from)) = (to.as_virt(), from.as_virt())
                    && [to, from].iter().all(|reg| counts.definitions[reg.index()] == 1)
                {
                    stands_for[to.index()] = Some(from);
                }
            }
        }
    }
}

/// Loads have no effect but their results, either.
fn is_pure(inst: &Inst) -> bool {
    match inst {
        Inst::Step(step) => {
            let loads = step.message.is_some_and(|message| message != crate::inst::Message::Stores);
            step.pure || loads
        }
        Inst::Copy { .. } => true,
        _ => false,
    }
}

/// From the end on, for readers stand behind: what makes only registers that nobody reads goes.
fn sweep(func: &mut Func<Inst>, counts: &mut Counts) {
    for &block in func.layout.iter().rev() {
        let nodes = &mut func.blocks[block].nodes;
        let mut kept = Vec::with_capacity(nodes.len());
        while let Some(node) = nodes.pop() {
            let (mut read, mut makes) = (false, false);
            node.inst.each(|reg, role| {
                if role.is_def() {
                    makes = true;
                    let virt = reg.as_virt();
                    read |= virt.is_none_or(|reg| counts.uses[reg.index()] > 0);
                }
            });
            if makes && !read && is_pure(&node.inst) {
                node.inst.each(|reg, role| {
                    if let (false, Some(reg)) = (role.is_def(), reg.as_virt()) {
                        counts.uses[reg.index()] -= 1;
                    }
                });
                continue;
            }
            kept.push(node);
        }
        kept.reverse();
        *nodes = kept;
    }
}
