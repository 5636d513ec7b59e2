//! Message register coalescing, behind allocation: what is made for a message alone is made in its register. G45 vol. 4,
//! 11.3.3: message registers are written as others are and keep what they hold.

use crate::abi::Abi;
use crate::emit::{covered, messages, payload};
use crate::inst::{GPR, Inst, MESSAGE, REGISTERS, Source, Src, Swizzled, UPPER, is_line};
use crate::isa::Machine;
use crate::isa::ops::Opcode;
use gpucc_ir::mach::{self, Block, Cell, Edges, Func, Inst as _, Reg};
use smallvec::SmallVec;

/// A bit for each general register.
pub type Set = u128;

/// Registers that a step reads and writes.
pub fn touched(inst: &Inst) -> (Set, Set) {
    let (mut read, mut written) = (0, 0);
    inst.operands(&mut |operand: mach::Operand| {
        if let Some(cell) = operand.reg.as_phys()
            && cell.file == GPR
        {
            let bit = 1 << (cell.index & 127);
            *if operand.role.is_def() { &mut written } else { &mut read } |= bit;
        }
    });
    (read, written)
}

/// Registers that somebody reads behind each block.
pub fn live_out(func: &Func<Inst>) -> Vec<Set> {
    let at = |block: Block| cranelift_entity::EntityRef::index(block);
    let size = func.blocks.len();
    let (mut read, mut written) = (vec![0; size], vec![0; size]);
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            let (uses, defs) = touched(&node.inst);
            read[at(block)] |= uses & !written[at(block)];
            written[at(block)] |= defs;
        }
    }
    // Lanes that wait keep what they have: what one way writes is dead before it for the lanes of that way alone, and a
    // register counts as alive where any way reads it.
    let mut live: Vec<Set> = vec![0; size];
    let predecessors = [Edges::Logical, Edges::Physical].map(|edges| func.predecessors(edges));
    let mut todo: Vec<Block> = func.layout.clone();
    while let Some(block) = todo.pop() {
        let before = read[at(block)] | live[at(block)] & !written[at(block)];
        for of in &predecessors {
            for &earlier in of.of(block) {
                if before & !live[at(earlier)] != 0 {
                    live[at(earlier)] |= before;
                    todo.push(earlier);
                }
            }
        }
    }
    live
}

/// Lets results go straight to message registers.
pub fn forward(func: &mut Func<Inst>, abi: &Abi) {
    let live = live_out(func);
    let mut made = vec![Made::default(); usize::from(REGISTERS)];
    for &block in &func.layout {
        let out = live[cranelift_entity::EntityRef::index(block)];
        forward_block(&mut func.blocks[block].nodes, out, abi, &mut made);
    }
}

/// The registers of a set.
fn each(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (number < usize::from(REGISTERS)).then_some(number)
    })
}

/// What a block knows of a general register.
#[derive(Clone, Default)]
struct Made {
    /// The step that wrote it last.
    by: Option<usize>,
    /// Steps before, whose components that one left as they were.
    also: SmallVec<[usize; 3]>,
    /// Readers since the first of them.
    reads: u32,
}

/// The register whose other components a vector leaves as they were, where it reads nothing else of it.
fn kept(inst: &Inst) -> Option<usize> {
    let (Inst::Vector { keep: Some(keep), .. } | Inst::Choose { keep: Some(keep), .. }) = inst
    else {
        return None;
    };
    let same = |source: &&Source| matches!(source.src, Src::Reg(reg) if reg == *keep);
    let number = usize::from(keep.as_phys()?.index & 127);
    inst.sources().iter().all(|source| !same(source)).then_some(number)
}

/// The components of its register that a vector writes.
fn written_components(inst: &Inst) -> Option<u8> {
    match inst {
        Inst::Vector { channels, .. } | Inst::Choose { channels: channels @ 1.., .. } => {
            Some(*channels)
        }
        _ => None,
    }
}

/// Sources of a message with the message registers that they go to.
type Places = SmallVec<[(usize, u16); 4]>;

/// The register of a source that the step does nothing to, and where the message wants it: nowhere else does the step read it.
fn places(inst: &Inst, source: usize, registers: &[(usize, u16)]) -> Option<(Reg, Places)> {
    let sources = inst.sources();
    let found = sources.get(source)?;
    let Src::Reg(reg) = found.src else { return None };
    let same = |at: usize| sources.get(at).is_some_and(|other| other.src == found.src);
    let all = (0..sources.len()).filter(|&at| same(at)).count();
    let plain = (0..sources.len()).all(|at| !same(at) || sources[at].is_plain());
    let places: Places = registers.iter().copied().filter(|&(at, _)| same(at)).collect();
    (plain && places.len() == all).then_some((reg, places))
}

/// One word makes the result, so that making it again costs no more than moving it.
fn is_word(inst: &Inst, abi: &Abi) -> bool {
    match inst {
        Inst::Plane { .. } => abi.chip.machine() == Machine::G45,
        Inst::Alu { .. } | Inst::Select { .. } => true,
        Inst::Dot { sources, .. } => sources.len() == 4 && is_line(sources),
        _ => false,
    }
}

/// The result goes to a message register.
fn retarget(inst: &mut Inst, register: u16) {
    if let Inst::Alu { dst, .. }
    | Inst::Select { dst, .. }
    | Inst::Choose { dst, .. }
    | Inst::Dot { dst, .. }
    | Inst::Plane { dst, .. } = inst
    {
        *dst = Reg::phys(Cell { file: MESSAGE, index: register });
    }
}

/// Whether a step can write a message register instead, or components of one.
fn is_movable(inst: &Inst, components: bool) -> bool {
    match inst {
        Inst::Alu { .. } | Inst::Select { .. } => true,
        Inst::Choose { channels, .. } => components && *channels == 0,
        Inst::Plane { .. } | Inst::Dot { .. } => !components,
        _ => false,
    }
}

/// A vector has in one component what it has in another.
fn repeat(inst: &mut Inst, of: usize, to: usize) {
    let sources: &mut [Swizzled] = match inst {
        // One sum of all that it reads is in each component already. G45 vol. 4, 14.2.10 to 14.2.13.
        Inst::Vector { opcode: Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph, .. } => {
            return;
        }
        Inst::Vector { sources, .. } => sources,
        Inst::Choose { sources, .. } => sources,
        _ => return,
    };
    for source in sources {
        source.select =
            source.select & !(3 << (2 * to)) | (source.select >> (2 * of) & 3) << (2 * to);
        if let Src::Floats(floats) = &mut source.of.src {
            let byte = *floats >> (8 * of) & 0xff;
            *floats = *floats & !(0xff << (8 * to)) | byte << (8 * to);
        }
    }
}

/// Vectors whose components stand in a slot as they are, and nowhere else, are made there.
fn forward_vectors(
    nodes: &mut [mach::Node<Inst>],
    at: usize,
    made: &[Made],
    alive: Set,
    last: &mut [[Option<usize>; 4]; 32],
) {
    for first in 0..4 {
        let Inst::Slot { values, message } = &nodes[at].inst else { return };
        let (values, register) = (*values, *message);
        let Src::Part { reg, .. } = values[first].src else { continue };
        let Some(cell) = reg.as_phys() else { continue };
        let number = usize::from(cell.index & 127);
        let Made { by: Some(by), also, reads: 0 } = &made[number] else { continue };
        // Who made each component.
        let mut makers = [None; 4];
        let mut vectors = true;
        for &maker in also.iter().chain([by]) {
            let channels = written_components(&nodes[maker].inst);
            vectors &= channels.is_some();
            for component in (0..4).filter(|k| channels.unwrap_or(0) >> k & 1 == 1) {
                makers[component] = Some(maker);
            }
        }
        let of = |value: &Source| matches!(value.src, Src::Part { reg: other, .. } | Src::Reg(other) if other == reg);
        let fits = |component: usize| {
            let same = Src::Part { reg, component: component as u8 };
            values[component].src == same && values[component].is_plain()
        };
        let taken: SmallVec<[usize; 4]> =
            (0..4).filter(|&component| of(&values[component])).collect();
        let last = &mut last[usize::from(register & (UPPER | 15))];
        let free = |component: usize, by: Option<usize>| {
            by.is_some_and(|by| last[component].is_none_or(|at| at < by))
        };
        let whole =
            (0..4).all(|component| makers[component].is_none() || taken.contains(&component));
        let moves =
            taken.iter().all(|&component| fits(component) && free(component, makers[component]));
        if !vectors || alive >> number & 1 == 1 || !whole || !moves {
            continue;
        }
        // What nobody reads is written with what the last of them writes.
        let by = *by;
        let own = (0..4).find(|&component| makers[component] == Some(by));
        let open: SmallVec<[usize; 4]> = (0..4)
            .filter(|&component| values[component].src == Src::Free && free(component, Some(by)))
            .collect();
        for &component in open.iter().filter(|_| own.is_some()) {
            repeat(&mut nodes[by].inst, own.unwrap_or(0), component);
            makers[component] = Some(by);
        }
        for &maker in also.iter().chain([&by]) {
            let mask = (0..4).filter(|&component| makers[component] == Some(maker));
            let mask = mask.fold(0, |all, component| all | 1 << component);
            if let Inst::Vector { dst, channels, keep, .. }
            | Inst::Choose { dst, channels, keep, .. } = &mut nodes[maker].inst
            {
                (*channels, *keep) = (mask, None);
                let index = u16::from(register) | u16::from(mask) << 8;
                *dst = Reg::phys(Cell { file: MESSAGE, index });
            }
        }
        for (last, maker) in last.iter_mut().zip(makers) {
            *last = maker.or(*last);
        }
        let taken = (0..4).filter(|&component| makers[component].is_some());
        let taken: SmallVec<[usize; 4]> = taken.collect();
        if let Inst::Slot { values, .. } = &mut nodes[at].inst {
            for component in taken {
                values[component].src = Src::There;
            }
        }
    }
}

/// Nothing is known in `made` of what earlier blocks made.
fn forward_block(nodes: &mut Vec<mach::Node<Inst>>, out: Set, abi: &Abi, made: &mut [Made]) {
    let count = nodes.len();
    // What is alive behind each message.
    let mut live = out;
    let mut behind: Vec<Set> = Vec::new();
    let mut sets: Vec<(Set, Set)> = nodes.iter().map(|node| touched(&node.inst)).collect();
    for (node, &(read, written)) in nodes.iter().zip(&sets).rev() {
        if !payload(&node.inst, abi).is_empty() {
            behind.push(live & !written);
        }
        live = live & !written | read;
    }
    let known = sets.iter().fold(0, |known, (read, written)| known | read | written);
    // The step that wrote each component of each message register last, and behind them those of the upper halves.
    let mut last: [[Option<usize>; 4]; 32] = [[None; 4]; 32];
    // Results that several registers of a message want are made once more for each, behind these steps.
    let mut again: Vec<(usize, Inst)> = Vec::new();
    for at in 0..count {
        let registers = payload(&nodes[at].inst, abi);
        if !registers.is_empty() {
            let alive = behind.pop().unwrap_or(!0);
            let (read, _) = sets[at];
            forward_vectors(nodes, at, made, alive, &mut last);
            for &(source, first) in &registers {
                let found = places(&nodes[at].inst, source, &registers);
                let Some((reg, mut places)) = found else { continue };
                // Components of a slot are written together, and what nobody reads with them.
                let slot = first >> 8 != 0;
                let mut first = first;
                if slot {
                    let sources = nodes[at].inst.sources();
                    let free = |at: &usize| sources.get(*at).is_some_and(|of| of.src == Src::Free);
                    let taken = registers.iter().copied().filter(|(at, _)| free(at));
                    places.extend(taken.collect::<Places>());
                    first = places.iter().fold(0, |all, &(_, register)| all | register);
                }
                let Some(cell) = reg.as_phys() else { continue };
                let number = usize::from(cell.index & 127);
                let (Some(by), 0) = (made[number].by, made[number].reads) else { continue };
                let covered: SmallVec<[u8; 8]> =
                    places.iter().flat_map(|&(_, register)| covered(register, abi)).collect();
                let once = slot || places.len() == 1 || is_word(&nodes[by].inst, abi);
                if !once || !is_movable(&nodes[by].inst, slot) {
                    continue;
                }
                let channels = if slot { first >> 8 } else { 15 };
                let written = |channel: &usize| channels >> channel & 1 == 1;
                let free = covered.iter().all(|&part| {
                    let last = &last[usize::from(part)];
                    (0..4).filter(written).all(|channel| last[channel].is_none_or(|at| at < by))
                });
                if alive >> number & 1 == 1 || read >> number & 1 == 0 || !free {
                    continue;
                }
                for &(_, register) in places.iter().skip(if slot { places.len() } else { 1 }) {
                    let mut other = nodes[by].inst.clone();
                    retarget(&mut other, register);
                    again.push((by, other));
                }
                retarget(&mut nodes[by].inst, first);
                for part in covered {
                    for channel in (0..4).filter(written) {
                        last[usize::from(part)][channel] = Some(by);
                    }
                }
                for (number, source) in nodes[at].inst.sources_mut().into_iter().enumerate() {
                    if places.iter().any(|&(place, _)| place == number) {
                        source.src = Src::There;
                    }
                }
            }
        }
        let part = matches!(nodes[at].inst, Inst::Slot { .. });
        for register in messages(&nodes[at].inst, abi) {
            let own = register & (UPPER | 15);
            last[usize::from(own)] = [Some(at); 4];
            if !part {
                last[usize::from(own | UPPER)] = [Some(at); 4];
            }
        }
        if !registers.is_empty() {
            // Sources that are where the message wants them are read no more.
            sets[at] = touched(&nodes[at].inst);
        }
        let (mut read, mut written) = sets[at];
        if let Some(number) = kept(&nodes[at].inst) {
            let made = &mut made[number];
            made.also.extend(made.by.replace(at));
            (read, written) = (read & !(1 << number), written & !(1 << number));
        }
        each(read).for_each(|number| made[number].reads += 1);
        each(written).for_each(|number| made[number] = Made { by: Some(at), ..Made::default() });
    }
    each(known).for_each(|number| made[number] = Made::default());
    insert(nodes, again);
}

/// Puts each step behind the one of its number.
fn insert(nodes: &mut Vec<mach::Node<Inst>>, mut steps: Vec<(usize, Inst)>) {
    if steps.is_empty() {
        return;
    }
    steps.sort_by_key(|&(at, _)| at);
    let mut steps = steps.into_iter().peekable();
    let mut all = Vec::with_capacity(nodes.len() + steps.len());
    for (at, node) in nodes.drain(..).enumerate() {
        let span = node.span;
        all.push(node);
        while let Some((_, inst)) = steps.next_if(|&(place, _)| place == at) {
            all.push(mach::Node { inst, span });
        }
    }
    *nodes = all;
}
