//! Loads of words that lie beside each other become one: one address, one message, one wait. isa/rogue-pipeline.md 2.5, 2.8.

use crate::inst::{Inst, Message, Port, Step, TEMP};
use crate::isa::fields::f;
use crate::isa::group::Ops;
use crate::isa::ops::{Backend, Bitwise0, Main};
use crate::isa::register::{Register, Special, special};
use cranelift_entity::EntityRef;
use gpucc_ir::mach::{Demand, Func, Node, Reg, Role, VReg};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The integer 1 among the constants. 3.2.
const ONE: Register = Register::Special(1);
/// Words of one message.
const MOST: usize = 16;

/// What an offset is made of beside a number: a product of two sources.
type Product = Option<(Factor, Factor)>;

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Factor {
    Reg(u32),
    Fixed(Register),
}

/// What a register of an offset or an address holds.
#[derive(Copy, Clone)]
enum Held {
    Number(u32),
    Sum(Product, u32),
    /// The low word of an address of a binding.
    Address(u16, Product, u32),
}

/// A load of words of a binding.
struct Load {
    at: usize,
    offset: u32,
    results: SmallVec<[Reg; 4]>,
}

/// The binding, what its offset has beside a number, and whether somebody may write it.
type Key = (u16, Product, bool);

/// Joins loads within every block.
pub fn join(func: &mut Func<Inst>) {
    let held = vec![None; func.vregs.len()];
    let mut joiner =
        Joiner { func, held, open: BTreeMap::new(), joined: Vec::new(), gone: Vec::new() };
    for number in 0..joiner.func.layout.len() {
        let block = joiner.func.layout[number];
        let nodes = std::mem::take(&mut joiner.func.blocks[block].nodes);
        let mut nodes = joiner.block(nodes);
        for node in &mut nodes {
            if let Inst::Step(step) = &mut node.inst {
                joiner.first_byte(step);
            }
        }
        joiner.func.blocks[block].nodes = nodes;
    }
}

struct Joiner<'a> {
    func: &'a mut Func<Inst>,
    held: Vec<Option<Held>>,
    /// Loads that nothing parts, in order.
    open: BTreeMap<Key, Vec<Load>>,
    /// What stands in the place of a node.
    joined: Vec<(usize, SmallVec<[Step; 3]>)>,
    gone: Vec<usize>,
}

impl Joiner<'_> {
    fn block(&mut self, nodes: Vec<Node<Inst>>) -> Vec<Node<Inst>> {
        for (at, node) in nodes.iter().enumerate() {
            let Inst::Step(step) = &node.inst else {
                if !matches!(node.inst, Inst::Copy { .. }) {
                    self.close(&nodes, |_| true);
                }
                continue;
            };
            // Control groups are those of a mutex, too.
            let parts = step.group.atom || matches!(step.group.ops, Ops::Control(_));
            if step.message == Some(Message::Stores) || parts {
                self.close(&nodes, |key| key.2);
            }
            if let Some((to, what)) = self.holds(step) {
                self.held[to.index()] = Some(what);
            }
            if let Some((key, load)) = self.load(step, at) {
                self.open.entry(key).or_default().push(load);
            }
        }
        self.close(&nodes, |_| true);
        if self.joined.is_empty() {
            return nodes;
        }
        self.joined.sort_by_key(|(at, _)| *at);
        self.gone.sort_unstable();
        let (mut joined, mut gone) =
            (self.joined.drain(..).peekable(), self.gone.drain(..).peekable());
        let mut new = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.into_iter().enumerate() {
            if let Some((_, steps)) = joined.next_if(|(place, _)| *place == at) {
                new.extend(
                    steps.into_iter().map(|step| Node { inst: step.into(), span: node.span }),
                );
            } else if gone.next_if_eq(&at).is_none() {
                new.push(node);
            }
        }
        new
    }

    /// The address of a binding's first byte stands in its descriptor. 4.4.
    fn first_byte(&self, step: &mut Step) {
        let Ops::Main(ops) = &step.group.ops else { return };
        let place = match ops.backend.map(|word| Backend::of(word.op())) {
            Some(Backend::Ld) => 0,
            Some(Backend::St) => 3,
            _ => return,
        };
        if let (Factor::Reg(_), Some(Held::Address(base, None, 0))) = self.source(step, place) {
            step.ports.retain(|port| port.place != place);
            step.group.sources[usize::from(place)] = Register::Shared(base);
        }
    }

    /// What a source holds.
    fn source(&self, step: &Step, place: u8) -> (Factor, Option<Held>) {
        match step.ports.iter().find(|port| port.place == place).and_then(|port| port.reg.as_virt())
        {
            Some(reg) => {
                (Factor::Reg(reg.index() as u32), self.held.get(reg.index()).copied().flatten())
            }
            None => {
                let register = step.group.sources[usize::from(place)];
                let number = match register {
                    Register::Special(number) => match special(number) {
                        Special::Constant(bits) => Some(Held::Number(bits)),
                        _ => None,
                    },
                    _ => None,
                };
                (Factor::Fixed(register), number)
            }
        }
    }

    /// A source of a sum or an address as a product and a number.
    fn sum(&self, step: &Step, place: u8) -> (Product, u32) {
        match self.source(step, place) {
            (_, Some(Held::Number(bits))) => (None, bits),
            (_, Some(Held::Sum(product, more))) => (product, more),
            (factor, _) => (Some((factor, Factor::Fixed(ONE))), 0),
        }
    }

    /// What the low word of a step holds, where it is a part of an address.
    fn holds(&self, step: &Step) -> Option<(VReg, Held)> {
        let to = step.ports.iter().find(|port| port.place == crate::inst::W0)?;
        let to = to.reg.as_virt().filter(|_| to.part.is_whole())?;
        let what = match &step.group.ops {
            Ops::Bitwise([Some(word), None, None])
                if Bitwise0::of(word.op()) == Bitwise0::Imm32 =>
            {
                Held::Number(word.get(f::VALUE))
            }
            Ops::Main(ops) => {
                let [Some(word), None, None, None, None, None] = ops.places() else { return None };
                let bare =
                    [f::NEG0, f::NEG1, f::NEG2, f::ABS0, f::ABS1, f::ABS2, f::CARRY, f::SIGNED];
                let bare = || bare.iter().all(|&id| !word.flag(id));
                let one =
                    step.group.sources[1] == ONE && step.ports.iter().all(|port| port.place != 1);
                match Main::of(word.op()) {
                    Main::Imadd32 if bare() => {
                        let (_, Some(Held::Number(more))) = self.source(step, 2) else {
                            return None;
                        };
                        if one {
                            let (product, number) = self.sum(step, 0);
                            Held::Sum(product, number.wrapping_add(more))
                        } else {
                            Held::Sum(Some((self.source(step, 0).0, self.source(step, 1).0)), more)
                        }
                    }
                    Main::Imadd64 if bare() && one => {
                        let Register::Shared(base) = step.group.sources[2] else { return None };
                        let (product, number) = self.sum(step, 0);
                        Held::Address(base, product, number)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some((to, what))
    }

    fn load(&self, step: &Step, at: usize) -> Option<(Key, Load)> {
        let Ops::Main(ops) = &step.group.ops else { return None };
        let word = ops.backend.filter(|word| Backend::of(word.op()) == Backend::Ld)?;
        let written = match step.message? {
            Message::Reads => false,
            Message::Loads => true,
            Message::Stores | Message::Decides => return None,
        };
        let results: SmallVec<[Reg; 4]> =
            step.ports.iter().filter(|port| port.place == 3).map(|port| port.reg).collect();
        let (base, product, offset) = match self.source(step, 0) {
            (_, Some(Held::Address(base, product, offset))) => (base, product, offset),
            (Factor::Fixed(Register::Shared(base)), _) => (base, None, 0),
            _ => return None,
        };
        (results.len() as u32 == word.get(f::BURST))
            .then_some(((base, product, written), Load { at, offset, results }))
    }

    /// Joins what is open of those bindings that are asked.
    fn close(&mut self, nodes: &[Node<Inst>], asked: impl Fn(&Key) -> bool) {
        let mut open = std::mem::take(&mut self.open);
        open.retain(|key, loads| {
            if !asked(key) {
                return true;
            }
            loads.sort_by_key(|load| (load.offset, load.at));
            let mut rest = &loads[..];
            while let Some(first) = rest.first() {
                let (mut count, mut words) = (1, first.results.len());
                while let Some(next) = rest.get(count)
                    && next.offset == first.offset.wrapping_add(4 * words as u32)
                    && words + next.results.len() <= MOST
                {
                    words += next.results.len();
                    count += 1;
                }
                let (run, others) = rest.split_at(count);
                if run.len() > 1 {
                    self.run(nodes, *key, run);
                }
                rest = others;
            }
            false
        });
        self.open = open;
    }

    /// One load in the place of those of a run.
    fn run(&mut self, nodes: &[Node<Inst>], (base, product, _): Key, run: &[Load]) {
        let earliest = run.iter().map(|load| load.at).min().unwrap_or(run[0].at);
        let Inst::Step(lowest) = &nodes[run[0].at].inst else { return };
        let span = nodes[earliest].span;
        let mut steps: SmallVec<[Step; 3]> = SmallVec::new();
        let mut load = (**lowest).clone();
        load.ports.retain(|port| port.place == 0);
        if earliest != run[0].at && load.ports.iter().any(|port| port.place == 0) {
            if product.is_some() {
                // What leads to the lowest is made behind the first.
                return;
            }
            let mut fresh = || self.func.make_vreg(Demand::scalar(TEMP), span);
            let (low, high) = (fresh(), fresh());
            let number = crate::isa::register::constant(run[0].offset);
            let offset = match number {
                Some(number) => crate::inst::Src::Fixed(Register::Special(number)),
                None => {
                    let reg = fresh();
                    steps.push(Step::number(reg, run[0].offset));
                    crate::inst::Src::Reg(reg.into())
                }
            };
            steps.push(Step::address(base, offset, low, high));
            for port in &mut load.ports {
                port.reg = if port.offset == 0 { low.into() } else { high.into() };
            }
        }
        let results: SmallVec<[Reg; 16]> =
            run.iter().flat_map(|load| load.results.iter().copied()).collect();
        if let Ops::Main(ops) = &mut load.group.ops {
            ops.backend = ops.backend.map(|word| word.with(f::BURST, results.len() as u32 % 16));
        }
        for (&reg, offset) in results.iter().zip(0u8..) {
            let port = Port { ranged: true, offset, ..Port::whole(3, reg, Role::EarlyDef) };
            load.ports.push(port);
        }
        steps.push(load);
        self.joined.push((earliest, steps));
        self.gone.extend(run.iter().map(|load| load.at).filter(|&at| at != earliest));
    }
}
