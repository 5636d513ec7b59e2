//! Numbers that the machine has no constant for stand in shared registers, which the driver fills: what reads one has it at a source of
//! its own, and where no such source is free a move brings it, which shares a group. isa/rogue-pipeline.md 1.2, 4.4.

use super::work::{Slot, Work};
use crate::constants::Constants;
use crate::inst::{Inst, Message, Port, Src, Step};
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::ops::{Backend, Bitwise0, Main};
use crate::isa::register::Register;
use crate::legal::Context;
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Block, Func, Reg, Role, VReg};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The number that a step puts into one register, and does nothing else.
fn number(step: &Step) -> Option<(u32, Port)> {
    let Ops::Bitwise([Some(word), None, None]) = &step.group.ops else { return None };
    let [to] = step.ports[..] else { return None };
    let plain = step.pure && step.group.repeat == 1 && to.part.is_whole() && !to.indexed;
    (plain && Bitwise0::of(word.op()) == Bitwise0::Imm32).then(|| (word.get(f::VALUE), to))
}

/// What reads a register: the block and the node.
type Reader = (Block, usize);

/// Puts the numbers of a function into shared registers.
pub fn share(func: &mut Func<Inst>, constants: &mut Constants, context: &Context) {
    if constants.most == 0 {
        return;
    }
    let mut places: BTreeMap<u32, Register> = BTreeMap::new();
    let mut definitions = vec![0u32; func.vregs.len()];
    // The shared register of each register that holds a number for good.
    let mut held: Vec<Option<Register>> = vec![None; func.vregs.len()];
    for node in func.layout.iter().flat_map(|&block| &func.blocks[block].nodes) {
        node.inst.each(|reg, role| {
            if let (true, Some(reg)) = (role.is_def(), reg.as_virt()) {
                definitions[reg.index()] += 1;
            }
        });
    }
    for at in 0..func.layout.len() {
        let block = func.layout[at];
        for node in &mut func.blocks[block].nodes {
            let Inst::Step(step) = &mut node.inst else { continue };
            let Some((bits, to)) = number(step) else { continue };
            let place = match places.get(&bits) {
                Some(&place) => place,
                None if constants.numbers.len() == usize::from(constants.most) => continue,
                None => {
                    let place = constants.first + constants.numbers.len() as u16;
                    constants.numbers.push(bits);
                    places.insert(bits, Register::Shared(place));
                    Register::Shared(place)
                }
            };
            if let Some(reg) = to.reg.as_virt().filter(|reg| definitions[reg.index()] == 1) {
                held[reg.index()] = Some(place);
            }
            **step = Step::copy(to.reg, Src::Fixed(place));
        }
    }
    rows(func, &definitions, constants);
    if places.is_empty() {
        return;
    }
    let mut readers: BTreeMap<VReg, Vec<Reader>> = BTreeMap::new();
    for &block in &func.layout {
        for (at, node) in func.blocks[block].nodes.iter().enumerate() {
            node.inst.each(|reg, role| {
                if let Some(reg) = reg.as_virt()
                    && !role.is_def()
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
}

/// The number that a step copies and does nothing else.
fn copied(step: &Step, constants: &Constants) -> Option<(VReg, u32)> {
    let Ops::Main(ops) = &step.group.ops else { return None };
    let [Some(word), None, None, None, None, None] = ops.places() else { return None };
    let [to] = step.ports[..] else { return None };
    let bare = Main::of(word.op()) == Main::Mbyp && !word.flag(f::NEG0) && !word.flag(f::ABS0);
    let plain = bare && step.pure && step.group.repeat == 1 && to.part.is_whole() && !to.indexed;
    let bits = constants.value(step.group.sources[0])?;
    plain.then_some((to.reg.as_virt()?, bits))
}

/// Numbers in a row that a message stores are read where they stand in a row.
fn rows(func: &mut Func<Inst>, definitions: &[u32], constants: &mut Constants) {
    let mut held: Vec<Option<u32>> = vec![None; func.vregs.len()];
    for &block in &func.layout {
        for node in &mut func.blocks[block].nodes {
            let once = |reg: VReg| definitions[reg.index()] == 1;
            if let Inst::Copy { dst, src, count: 1 } = &node.inst {
                for (to, from) in dst.iter().zip(src) {
                    if let (Some(to), Some(from)) = (to.as_virt(), from.as_virt()) {
                        held[to.index()] = held[from.index()].filter(|_| once(to));
                    }
                }
            }
            let Inst::Step(step) = &mut node.inst else { continue };
            if let Some((reg, bits)) = copied(step, constants) {
                held[reg.index()] = Some(bits).filter(|_| once(reg));
            }
            if step.message != Some(Message::Stores) {
                continue;
            }
            let stores = |word: Word| Backend::of(word.op()) == Backend::St;
            if !matches!(&step.group.ops, Ops::Main(ops) if ops.backend.is_some_and(stores)) {
                continue;
            }
            let data = step.ports.iter().filter(|port| port.place == 0);
            let bits = data.map(|port| held[port.reg.as_virt()?.index()]);
            let bits: Option<SmallVec<[u32; 16]>> = bits.collect();
            if let Some(bits) = bits.filter(|bits| bits.len() > 1)
                && let Some(first) = constants.row(&bits)
            {
                step.ports.retain(|port| port.place != 0);
                step.group.sources[0] = Register::Shared(first);
            }
        }
    }
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
