//! Chains of the bitwise ALU in one group: a shift to the left and a mask in phase 0, a logical operation in phase 1, another shift in
//! phase 2. Numbers that only a logical operation reads stand in the group itself. isa/rogue-pipeline.md 2.6.

use crate::inst::{Inst, Port, Step, W0};
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::ops::{Bitwise0, Bitwise1, Bitwise2};
use crate::isa::register::Register;
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Func, Node, Role, VReg};
use gpucc_isa::Inst as Word;

/// Codes of logical operations. 2.6.
const OR: u32 = 0;
const AND: u32 = 1;
/// The code of a shift to the left in phase 2.
const LEFT: u32 = 0;
/// All bits among the constants. 3.2.
const ONES: Register = Register::Special(143);

/// What is known of registers.
struct Known {
    uses: Vec<u32>,
    definitions: Vec<u32>,
    /// Numbers that are in registers for good.
    numbers: Vec<Option<u32>>,
    /// The block and the node of the block that made a register.
    makers: Vec<Option<(usize, usize)>>,
}

/// The whole register of a port that neither leads nor follows.
fn reg(port: &Port) -> Option<VReg> {
    let plain = port.part.is_whole() && !port.indexed && !port.ranged && port.offset == 0;
    port.reg.as_virt().filter(|_| plain)
}

fn phases(inst: &Inst) -> Option<(&Step, [Option<Word>; 3])> {
    let Inst::Step(step) = inst else { return None };
    let Ops::Bitwise(phases) = step.group.ops else { return None };
    let plain = step.pure && step.group.repeat == 1 && !step.group.atom;
    plain.then_some((step, phases))
}

/// Makes chains within every block.
pub fn chain(func: &mut Func<Inst>) {
    let size = func.vregs.len();
    let mut known = Known {
        uses: vec![0; size],
        definitions: vec![0; size],
        numbers: vec![None; size],
        makers: vec![None; size],
    };
    for node in func.layout.iter().flat_map(|&block| &func.blocks[block].nodes) {
        node.inst.each(|reg, role| {
            let Some(reg) = reg.as_virt() else { return };
            match role.is_def() {
                true => known.definitions[reg.index()] += 1,
                false => known.uses[reg.index()] += 1,
            }
        });
    }
    for (number, &block) in func.layout.iter().enumerate() {
        let nodes = &mut func.blocks[block].nodes;
        for at in 0..nodes.len() {
            known.node(nodes, at, number);
        }
    }
}

impl Known {
    fn once(&self, reg: VReg) -> bool {
        self.definitions[reg.index()] == 1
    }

    fn node(&mut self, nodes: &mut [Node<Inst>], at: usize, block: usize) {
        let Some((step, [first, logical, shift])) = phases(&nodes[at].inst) else { return };
        let bypass = first.is_some_and(|word| Bitwise0::of(word.op()) == Bitwise0::Bbyp);
        let made = match (logical, shift) {
            (Some(logical), None) if bypass => {
                self.masked(step, logical).or_else(|| self.shifted(nodes, step, logical, block))
            }
            (None, Some(shift)) if bypass => self.behind(nodes, step, shift, block),
            _ => None,
        };
        if let Some(step) = made {
            nodes[at].inst = step.into();
        }
        let Some((step, phases)) = phases(&nodes[at].inst) else { return };
        let Some(to) = step.ports.iter().find(|port| port.place == W0).and_then(reg) else {
            return;
        };
        if self.once(to) {
            self.makers[to.index()] = Some((block, at));
            if let [Some(word), None, None] = phases
                && Bitwise0::of(word.op()) == Bitwise0::Imm32
            {
                self.numbers[to.index()] = Some(word.get(f::VALUE));
            }
        }
    }

    /// A logical operation with a number: what is masked away of all bits is the number. 2.6.
    fn masked(&self, step: &Step, logical: Word) -> Option<Step> {
        let number = |place: u8| {
            let port = step.ports.iter().find(|port| port.place == place)?;
            self.numbers[reg(port)?.index()]
        };
        let (place, bits) = [3, 2].into_iter().find_map(|place| Some((place, number(place)?)))?;
        let both = logical.get(f::LOGIC) == AND;
        let value = if both { bits } else { !bits };
        let row = if value <= 0xffff { Bitwise0::Imm16 } else { Bitwise0::Imm32 };
        let first = Word::usual(row.op()).with(f::VALUE, value);
        let logical = match both {
            true => logical.with(f::LOGIC, OR).with(f::MASK_A, 1),
            false => logical.with(f::MASK_B, 1),
        };
        let mut made = step.clone();
        made.ports.retain(|port| port.place != place);
        let other = 5 - place;
        // What is left is what phase 0 passes on.
        let fixed = step.group.sources[usize::from(other)];
        for port in made.ports.iter_mut().filter(|port| port.place == other) {
            port.place = 2;
        }
        made.group.sources = [Register::ZERO; 6];
        made.group.sources[2] = fixed;
        made.group.sources[3] = if both { Register::ZERO } else { ONES };
        made.group.ops = Ops::Bitwise([Some(first), Some(logical), None]);
        Some(made)
    }

    /// The node that made what a source reads, of this block and for this source alone, and which reads what nobody changes.
    fn maker<'a>(
        &self,
        nodes: &'a [Node<Inst>],
        step: &Step,
        place: u8,
        block: usize,
    ) -> Option<(&'a Step, [Option<Word>; 3])> {
        let port = step.ports.iter().find(|port| port.place == place)?;
        let from = reg(port)?;
        let (_, at) = self.makers[from.index()].filter(|(home, _)| *home == block)?;
        let (maker, phases) = phases(&nodes[at].inst)?;
        let still = maker.ports.iter().filter(|port| port.role == Role::Use);
        let mut still = still.map(|port| reg(port).is_some_and(|reg| self.once(reg)));
        let alone =
            self.uses[from.index()] == 1 && maker.ports.iter().all(|port| port.place != W0 + 1);
        (alone && still.all(|still| still)).then_some((maker, phases))
    }

    /// A logical operation of what is shifted to the left.
    fn shifted(
        &self,
        nodes: &[Node<Inst>],
        step: &Step,
        logical: Word,
        block: usize,
    ) -> Option<Step> {
        [2u8, 3].into_iter().find_map(|place| {
            let (maker, [_, None, Some(shift)]) = self.maker(nodes, step, place, block)? else { return None };
            let first = matches!(&maker.group.ops, Ops::Bitwise([Some(word), ..]) if Bitwise0::of(word.op()) == Bitwise0::Bbyp);
            if !first || shift.get(f::SHIFT2) != LEFT || shift.flag(f::PWEN) {
                return None;
            }
            let mut made = step.clone();
            made.ports.retain(|port| port.place != place);
            made.group.sources = [Register::ZERO; 6];
            move_source(&mut made, step, 5 - place, 3);
            move_source(&mut made, maker, 1, 2);
            move_source(&mut made, maker, 4, 1);
            let lsl = Word::usual(Bitwise0::Lsl.op());
            made.group.ops = Ops::Bitwise([Some(lsl), Some(logical), None]);
            fits(&made).then_some(made)
        })
    }

    /// A shift of what a logical operation makes.
    fn behind(&self, nodes: &[Node<Inst>], step: &Step, shift: Word, block: usize) -> Option<Step> {
        let (maker, [first, Some(logical), None]) = self.maker(nodes, step, 1, block)? else {
            return None;
        };
        if shift.flag(f::PWEN)
            || Bitwise1::of(logical.op()) != Bitwise1::Logical
            || Bitwise2::of(shift.op()) != Bitwise2::Shift
        {
            return None;
        }
        let mut made = maker.clone();
        made.ports.retain(|port| !port.role.is_def());
        move_source(&mut made, step, 4, 4);
        made.ports.extend(step.ports.iter().filter(|port| port.role.is_def()).copied());
        made.group.ops = Ops::Bitwise([first, Some(logical), Some(shift)]);
        Some(made)
    }
}

/// Common registers stand at S0, S2 and S3 alone. 1.2.
fn fits(step: &Step) -> bool {
    let sources = step.group.sources.iter().zip(0..);
    sources.into_iter().all(|(&register, at)| super::work::Slot::Fixed(register).fits(at))
}

/// Puts what another step has at a source to a source of this one.
fn move_source(made: &mut Step, from: &Step, place: u8, to: u8) {
    made.ports.retain(|port| port.place != to);
    made.group.sources[usize::from(to)] = from.group.sources[usize::from(place)];
    if let Some(port) = from.ports.iter().find(|port| port.place == place) {
        made.ports.insert(0, Port { place: to, ..*port });
    }
}
