//! Signs, floors and clamps become modifiers of who reads or makes a value; what a copy reads, its reader reads itself. 2.1, 2.2.

use super::work::{Choice, Slot, Val, Work};
use crate::inst::{Inst, Message, Port, Step};
use crate::isa::disasm::asks_external;
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::ops::{Backend, Main};
use crate::isa::register::Register;
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Func, Node, Role, VReg};
use gpucc_isa::{FieldId, Inst as Word};

/// 1.0 among the constants. 3.2.
const ONE: Slot = Slot::Fixed(Register::Special(64));

/// What a register is: another source with modifiers, floor first, then magnitude, then sign. 2.1.
#[derive(Copy, Clone)]
struct Alias {
    slot: Slot,
    floor: bool,
    magnitude: bool,
    negated: bool,
}

impl Alias {
    fn is_plain(&self) -> bool {
        !self.floor && !self.magnitude && !self.negated
    }
}

/// Folds over a whole function; what nobody reads then stays for the sweep.
pub fn fold(func: &mut Func<Inst>) {
    let size = func.vregs.len();
    let (mut uses, mut definitions) = (vec![0u32; size], vec![0u32; size]);
    for node in func.layout.iter().flat_map(|&block| &func.blocks[block].nodes) {
        node.inst.each(|reg, role| {
            let Some(reg) = reg.as_virt() else { return };
            let of = if role.is_def() { &mut definitions } else { &mut uses };
            of[reg.index()] += 1;
        });
    }
    let mut aliases: Vec<Option<Alias>> = vec![None; size];
    let mut makers = vec![None; size];
    for (number, &block) in func.layout.iter().enumerate() {
        for node in &mut func.blocks[block].nodes {
            let Inst::Step(step) = &mut node.inst else { continue };
            read(step, &aliases);
            let once = |port: &Port| {
                port.part.is_whole()
                    && port.reg.as_virt().is_some_and(|reg| definitions[reg.index()] == 1)
            };
            if let Some((to, alias)) = alias(step)
                && once(&to)
                && let Some(to) = to.reg.as_virt()
                && (matches!(alias.slot, Slot::Fixed(_))
                    || matches!(alias.slot, Slot::Port(from) if once(&from)))
            {
                aliases[to.index()] = Some(alias);
            }
        }
        let mut clamps = Clamps { uses: &uses, definitions: &definitions, makers: &mut makers };
        clamps.clamp(&mut func.blocks[block].nodes, number);
    }
}

/// The one operation of a step that does nothing but it, with its result.
fn lone(step: &Step) -> Option<(Work, Port)> {
    let Ops::Main(ops) = &step.group.ops else { return None };
    let more = ops.p0.is_some() && ops.p1.is_some() || ops.pack.is_some() || ops.test.is_some();
    if more || !step.pure {
        return None;
    }
    let work = Work::of(step)?;
    let [(Slot::Port(to), Choice::One(Val::Op(0)))] = work.writes[..] else { return None };
    (work.alus.len() == 1).then_some((work, to))
}

/// What a step makes a register stand for.
fn alias(step: &Step) -> Option<(Port, Alias)> {
    let (work, to) = lone(step)?;
    let alu = &work.alus[0];
    let word = alu.word;
    let floor = match Main::of(word.op()) {
        Main::Mbyp => false,
        Main::Fmul if alu.sources[1].is(ONE) => {
            if !word.flag(f::FLR0) || word.flag(f::SAT) || word.flag(f::ABS1) || word.flag(f::LP) {
                return None;
            }
            true
        }
        _ => return None,
    };
    let (magnitude, negated) = (word.flag(f::ABS0), word.flag(f::NEG0));
    Some((to, Alias { slot: alu.sources[0], floor, magnitude, negated }))
}

/// Where the sign stands among [modifiers].
const SIGN: usize = 2;

/// Fields of the modifiers of a source of an operation, where it has them: floor, magnitude, sign.
fn modifiers(word: &Word, source: usize) -> [Option<FieldId>; 3] {
    let ids = match source {
        0 => [f::FLR0, f::ABS0, f::NEG0],
        1 => [f::FLR0, f::ABS1, f::NEG1],
        _ => [f::FLR2, f::ABS2, f::NEG2],
    };
    let mut ids = ids.map(|id| word.has_field(id).then_some(id));
    if source == 1 {
        ids[0] = None;
    }
    ids
}

/// The operation with a source that is what its register stands for.
fn modified(word: Word, source: usize, alias: &Alias) -> Option<Word> {
    if alias.is_plain() {
        return Some(word);
    }
    // Modifiers of integers mean something else.
    if Main::of(word.op()) >= Main::Unpck {
        return None;
    }
    let fields = modifiers(&word, source);
    let has = |id: Option<FieldId>| id.is_some_and(|id| word.flag(id));
    let (floor, magnitude, negated) = (has(fields[0]), has(fields[1]), has(fields[2]));
    // A floor is taken before anything else.
    if floor && !alias.is_plain() {
        return None;
    }
    let wanted = [
        alias.floor,
        magnitude || alias.magnitude,
        if magnitude { negated } else { negated != alias.negated },
    ];
    let mut word = word;
    for (at, (field, wanted)) in fields.into_iter().zip(wanted).enumerate() {
        word = match field {
            Some(id) => word.with(id, wanted.into()),
            None if !wanted => word,
            // The sign of a factor is that of the product.
            None if at == SIGN && Main::of(word.op()) == Main::Fmul && source == 1 => {
                word.with(f::NEG0, u32::from(!word.flag(f::NEG0)))
            }
            None => return None,
        };
    }
    Some(word)
}

/// Sources of a step become what they stand for, where its operations can say so.
fn read(step: &mut Step, aliases: &[Option<Alias>]) {
    if step.message == Some(Message::Stores) {
        stored(step, aliases);
    }
    if step.message.is_some() || step.group.repeat != 1 {
        return;
    }
    let bitwise = matches!(step.group.ops, Ops::Bitwise(_));
    let phases = match &step.group.ops {
        Ops::Main(ops) if ops.backend.is_none() => [ops.p0, ops.p1],
        Ops::Bitwise(_) => [None, None],
        _ => return,
    };
    let mut phases = phases;
    let mut at = 0;
    while at < step.ports.len() {
        let port = step.ports[at];
        at += 1;
        let plain = port.role == Role::Use && !port.ranged && !port.indexed && port.part.is_whole();
        let Some(reg) = port.reg.as_virt().filter(|_| plain && port.place < 6) else { continue };
        let Some(alias) = aliases[reg.index()] else { continue };
        let (place, phase) = (usize::from(port.place), usize::from(port.place / 3));
        let fits = match alias.slot {
            Slot::Port(_) => true,
            Slot::Fixed(_) => alias.slot.fits(place),
        };
        if !fits {
            continue;
        }
        let external = asks_external(&step.group) && usize::from(step.group.selectors.is0) == place;
        let operand = phases[phase].is_some_and(|word| place % 3 < arity(&word));
        if operand && !bitwise {
            if external && !alias.is_plain() {
                continue;
            }
            let Some(word) = phases[phase].and_then(|word| modified(word, place % 3, &alias))
            else {
                continue;
            };
            phases[phase] = Some(word);
        } else if !alias.is_plain() {
            continue;
        }
        match alias.slot {
            Slot::Port(from) => {
                step.ports[at - 1] = Port { place: port.place, role: Role::Use, ..from };
            }
            Slot::Fixed(register) => {
                step.group.sources[place] = register;
                at -= 1;
                step.ports.remove(at);
            }
        }
    }
    if let Ops::Main(ops) = &mut step.group.ops {
        [ops.p0, ops.p1] = phases;
    }
}

/// A word that a message stores alone is what its register stands for.
fn stored(step: &mut Step, aliases: &[Option<Alias>]) {
    let stores = |word: Word| Backend::of(word.op()) == Backend::St;
    if !matches!(&step.group.ops, Ops::Main(ops) if ops.backend.is_some_and(stores)) {
        return;
    }
    let data = step.ports.iter().position(|port| port.place == 0 && !port.ranged);
    let Some(at) = data.filter(|&at| step.ports[at].part.is_whole()) else { return };
    let alias = step.ports[at].reg.as_virt().and_then(|reg| aliases[reg.index()]);
    let Some(alias) = alias.filter(Alias::is_plain) else { return };
    match alias.slot {
        Slot::Port(from) => step.ports[at] = Port { place: 0, role: Role::Use, ..from },
        Slot::Fixed(register) if alias.slot.fits(0) => {
            step.group.sources[0] = register;
            step.ports.remove(at);
        }
        Slot::Fixed(_) => {}
    }
}

/// How many sources an operation of phases 0 and 1 has.
fn arity(word: &Word) -> usize {
    match Main::of(word.op()) {
        Main::Fadd | Main::Fmul => 2,
        row if row == Main::Fmad || row >= Main::Iadd => 3,
        _ => 1,
    }
}

/// What is asked of registers where a clamp is.
struct Clamps<'a> {
    uses: &'a [u32],
    definitions: &'a [u32],
    /// The block and the node of the block that makes a register by an operation that can clamp.
    makers: &'a mut [Option<(usize, usize)>],
}

impl Clamps<'_> {
    /// The register that a step clamps and does nothing else with.
    fn clamped(&self, work: &Work) -> Option<VReg> {
        let alu = &work.alus[0];
        let word = alu.word;
        let bare = [f::NEG0, f::ABS0, f::FLR0, f::ABS1]
            .iter()
            .all(|&id| !word.has_field(id) || !word.flag(id));
        if Main::of(word.op()) != Main::Fmul
            || !alu.sources[1].is(ONE)
            || !word.flag(f::SAT)
            || !bare
        {
            return None;
        }
        let Slot::Port(from) = alu.sources[0] else { return None };
        let from = from.reg.as_virt()?;
        (self.uses[from.index()] == 1 && self.definitions[from.index()] == 1).then_some(from)
    }

    /// A clamp of what an operation makes for it alone is the operation's. 2.2.
    fn clamp(&mut self, nodes: &mut Vec<Node<Inst>>, block: usize) {
        let mut gone = Vec::new();
        for at in 0..nodes.len() {
            let Inst::Step(step) = &nodes[at].inst else { continue };
            let Some((work, to)) = lone(step) else { continue };
            let Some(to_reg) = to.reg.as_virt().filter(|reg| self.definitions[reg.index()] == 1)
            else {
                continue;
            };
            let word = work.alus[0].word;
            if let Some(from) = self.clamped(&work)
                && let Some((home, maker)) = self.makers[from.index()]
                && home == block
                && let Inst::Step(step) = &mut nodes[maker].inst
                && let Ops::Main(ops) = &mut step.group.ops
                && let Some(word) = ops.p0
            {
                ops.p0 = Some(word.with(f::SAT, 1));
                for port in step.ports.iter_mut().filter(|port| port.role.is_def()) {
                    port.reg = to.reg;
                }
                gone.push(at);
                continue;
            }
            let row = Main::of(word.op());
            if matches!(row, Main::Fadd | Main::Fmul | Main::Fmad) && !word.flag(f::LP) {
                self.makers[to_reg.index()] = Some((block, at));
            }
        }
        let mut at = 0;
        nodes.retain(|_| {
            at += 1;
            gone.binary_search(&(at - 1)).is_err()
        });
    }
}
