//! Numbers that the machine has no constant for stand in shared registers, which the driver fills: what reads one has it at a source of
//! its own, and where no such source is free a move brings it, which shares a group. isa/rogue-pipeline.md 1.2, 4.4.

use super::work::{Slot, Work};
use crate::inst::{Inst, Port, Src, Step};
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::ops::Bitwise0;
use crate::isa::register::Register;
use crate::legal::Context;
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Block, Func, Inst as _, Reg, Role, VReg};
use std::collections::BTreeMap;

/// Where numbers go.
#[derive(Copy, Clone)]
pub struct Room {
    /// The first shared register.
    pub first: u16,
    /// How many there are.
    pub count: u16,
}

/// The number that a step puts into one register, and does nothing else.
fn number(step: &Step) -> Option<(u32, Port)> {
    let Ops::Bitwise([Some(word), None, None]) = &step.group.ops else { return None };
    let [to] = step.ports[..] else { return None };
    let plain = step.pure && step.group.repeat == 1 && to.part.is_whole() && !to.indexed;
    (plain && Bitwise0::of(word.op()) == Bitwise0::Imm32).then(|| (word.get(f::VALUE), to))
}

/// What reads a register: the block and the node.
type Reader = (Block, usize);

/// Puts the numbers of a function into shared registers; gives them in their order.
pub fn share(func: &mut Func<Inst>, room: Room, context: &Context) -> Vec<u32> {
    let mut numbers = Vec::new();
    let mut places: BTreeMap<u32, Register> = BTreeMap::new();
    let mut definitions = vec![0u32; func.vregs.len()];
    // The shared register of each register that holds a number for good.
    let mut held: Vec<Option<Register>> = vec![None; func.vregs.len()];
    for node in func.layout.iter().flat_map(|&block| &func.blocks[block].nodes) {
        node.inst.operands(&mut |operand| {
            if let (true, Some(reg)) = (operand.role.is_def(), operand.reg.as_virt()) {
                definitions[reg.index()] += 1;
            }
        });
    }
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        for node in &mut func.blocks[block].nodes {
            let Inst::Step(step) = &mut node.inst else { continue };
            let Some((bits, to)) = number(step) else { continue };
            if numbers.len() == usize::from(room.count) && !places.contains_key(&bits) {
                continue;
            }
            let place = *places.entry(bits).or_insert_with(|| {
                numbers.push(bits);
                Register::Shared(room.first + numbers.len() as u16 - 1)
            });
            if let Some(reg) = to.reg.as_virt().filter(|reg| definitions[reg.index()] == 1) {
                held[reg.index()] = Some(place);
            }
            **step = Step::copy(to.reg, Src::Fixed(place));
        }
    }
    if numbers.is_empty() {
        return numbers;
    }
    let mut readers: BTreeMap<VReg, Vec<Reader>> = BTreeMap::new();
    for &block in &func.layout {
        for (at, node) in func.blocks[block].nodes.iter().enumerate() {
            node.inst.operands(&mut |operand| {
                if let Some(reg) = operand.reg.as_virt()
                    && !operand.role.is_def()
                    && held[reg.index()].is_some()
                {
                    readers.entry(reg).or_default().push((block, at));
                }
            });
        }
    }
    for (reg, mut readers) in readers {
        let Some(place) = held[reg.index()] else { continue };
        readers.dedup();
        let direct = readers.iter().map(|&(block, at)| {
            reads(&func.blocks[block].nodes[at].inst, reg.into(), place, context)
        });
        // A register that stays is as good for all.
        let Some(direct) = direct.collect::<Option<Vec<Inst>>>() else { continue };
        for ((block, at), inst) in readers.into_iter().zip(direct) {
            func.blocks[block].nodes[at].inst = inst;
        }
    }
    numbers
}

/// An instruction that reads a shared register in the place of another.
fn reads(inst: &Inst, reg: Reg, place: Register, context: &Context) -> Option<Inst> {
    let step = match inst {
        Inst::Step(step) => step,
        Inst::Copy { dst, src, count: 1 } if dst.len() == 1 && src[0] == reg => {
            return Some(Step::copy(dst[0], Src::Fixed(place)).into());
        }
        _ => return None,
    };
    let of = |port: &&Port| port.reg == reg && port.role == Role::Use;
    let plain = |port: &Port| !port.ranged && !port.indexed && port.part.is_whole();
    if step.group.repeat != 1 || !step.ports.iter().filter(of).all(plain) {
        return None;
    }
    let fits = |port: &Port| Slot::Fixed(place).fits(port.place.into());
    if step.ports.iter().filter(of).all(fits) {
        let mut step = step.clone();
        for port in step.ports.iter().filter(of).copied().collect::<Vec<Port>>() {
            step.group.sources[usize::from(port.place)] = place;
        }
        step.ports.retain(|port| port.reg != reg || port.role != Role::Use);
        return Some(Inst::Step(step));
    }
    let mut work = Work::of(step)?;
    for slot in work.alus.iter_mut().flat_map(|alu| alu.sources.iter_mut().chain(&mut alu.addend)) {
        if matches!(slot, Slot::Port(port) if port.reg == reg) {
            *slot = Slot::Fixed(place);
        }
    }
    work.lay(context).map(Inst::from)
}
