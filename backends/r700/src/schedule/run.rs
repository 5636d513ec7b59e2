//! A run of ALU work with its dependences, and sums of products as chains.

use crate::inst::{Alu, FILES, Inst, Source, Src};
use crate::isa::{AluOp, Isa};
use crate::late::Variables;
use crate::op::{self, Units};
use gpucc_ir::mach::{Node, VReg};
use gpucc_passes::mach::{Depend, Dependence, Graph, Model};
use smallvec::SmallVec;

/// The machine as the dependence graph asks for it: a group reads before it writes.
struct Machine<'v> {
    variables: &'v Variables,
}

impl Model<Inst> for Machine<'_> {
    fn latency(&self, _from: &Inst, _to: &Inst, why: Dependence) -> u32 {
        u32::from(why != Dependence::Anti)
    }

    /// The next value of a variable comes after the reads of its value now.
    fn follows(&self, inst: &Inst, visit: &mut dyn FnMut(VReg)) {
        self.variables.replaced(inst).into_iter().for_each(visit);
    }
}

/// A run with what is known of it.
pub(super) struct Run {
    pub nodes: Vec<Node<Inst>>,
    pub graph: Graph,
    /// No order has fewer groups.
    pub least: u32,
    /// Its constants alone ask for so many groups.
    pub constants: u32,
}

/// A pair of constants: buffer, index, and half of the vector.
type Pair = (u8, u16, u8);

fn pair_of(source: &Source) -> Option<Pair> {
    match source.src {
        Src::Const { buffer, index, chan } => Some((buffer, index, chan / 2)),
        _ => None,
    }
}

impl Run {
    pub fn of(
        nodes: Vec<Node<Inst>>,
        vregs: usize,
        depend: &mut Depend,
        variables: &Variables,
        isa: &'static Isa,
    ) -> Run {
        let machine = Machine { variables };
        let graph = depend.build(&nodes, 0..nodes.len(), vregs, FILES, &machine);
        let mut run = Run { graph: graph.clone(), nodes, least: 0, constants: 0 };
        (run.least, run.constants) = run.least(isa);
        run
    }

    /// By node: its height, and before all others the ALU operations that read two pairs of constants.
    pub fn pairs_first(&self) -> Vec<u32> {
        let highest = self.graph.height.iter().max().map_or(0, |height| height + 1);
        let nodes = self.nodes.iter().zip(&self.graph.height);
        let urgency = nodes.map(|(node, height)| {
            let pairs: SmallVec<[Pair; 3]> = match &node.inst {
                Inst::Alu(alu) => alu.src.iter().filter_map(pair_of).collect(),
                _ => SmallVec::new(),
            };
            let two = pairs.iter().any(|pair| *pair != pairs[0]);
            height + if two { highest } else { 0 }
        });
        urgency.collect()
    }

    /// Groups that slots, units, constants and the longest chain ask for, and those that constants do.
    fn least(&self, isa: &'static Isa) -> (u32, u32) {
        let (mut slots, mut trans, mut whole) = (0u32, 0u32, 0u32);
        let mut pairs: SmallVec<[Pair; 16]> = SmallVec::new();
        let mut pair = |source: &Source| pairs.extend(pair_of(source));
        for node in &self.nodes {
            match &node.inst {
                Inst::Alu(alu) => {
                    slots += 1;
                    trans += u32::from(op::units(isa, alu.op) == Units::Trans);
                    alu.src.iter().for_each(&mut pair);
                }
                Inst::Dot { src, .. } => {
                    slots += 4;
                    whole += 1;
                    src.iter().flatten().for_each(&mut pair);
                }
                Inst::Cube { .. } => {
                    slots += 4;
                    whole += 1;
                }
                // Its pair of slots is x and y.
                Inst::Double(double) => {
                    slots += op::units(isa, double.op).together() as u32;
                    whole += 1;
                    double.src.iter().flatten().for_each(&mut pair);
                }
                _ => {}
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let chain = self.graph.height.iter().max().map_or(0, |height| height + 1);
        let constants = pairs.len().div_ceil(2) as u32;
        let most = slots.div_ceil(5).max(trans).max(whole);
        (most.max(constants).max(chain), constants)
    }
}

/// A sum of products as the chain that has the same bits, the last product first; none where a
/// source has a modifier that chains lack. Products of zeroes before all others are left out: the sum
/// begins with +0 then, as theirs would.
pub(super) fn chain(inst: &Inst) -> Option<SmallVec<[Inst; 4]>> {
    let Inst::Dot { dst, src, clamp } = inst else {
        return None;
    };
    let unfit = |source: &Source| source.abs || source.src == Src::Reg(*dst);
    if src.iter().flatten().any(unfit) {
        return None;
    }
    let zero = Source::bits(0);
    let skipped = src.iter().rev().take_while(|&&pair| pair == [zero; 2]);
    let last = 4 - skipped.count();
    let mut out: SmallVec<[Inst; 4]> = SmallVec::new();
    for (number, &[a, b]) in src[..last].iter().enumerate().rev() {
        let mut link = if number + 1 < last {
            let sum = Source::reg(*dst);
            Alu::new(AluOp::MULADD_IEEE, Some(*dst), &[a, b, sum])
        } else if last < 4 {
            Alu::new(AluOp::MULADD_IEEE, Some(*dst), &[a, b, zero])
        } else {
            Alu::new(AluOp::MUL_IEEE, Some(*dst), &[a, b])
        };
        link.clamp = *clamp && number == 0;
        out.push(Inst::Alu(link));
    }
    (last > 0).then_some(out)
}

/// The run with chains in the place of sums of products.
pub(super) fn with_chains(nodes: &[Node<Inst>]) -> Vec<Node<Inst>> {
    let mut out = Vec::with_capacity(nodes.len() * 2);
    for node in nodes {
        match chain(&node.inst) {
            Some(links) => out.extend(links.into_iter().map(|inst| Node { inst, span: node.span })),
            None => out.push(node.clone()),
        }
    }
    out
}
