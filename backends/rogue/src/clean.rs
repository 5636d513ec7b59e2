//! Copy propagation and dead code elimination on machine IR before allocation.

use crate::inst::{Inst, Src, Step};
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::ops::Main;
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
    drop_unread(func);
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
