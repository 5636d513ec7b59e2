//! A run of ALU work with its dependences, the queue of what is ready, and sums of products as chains.

use crate::depend::Seen;
use crate::inst::{Alu, Inst, Source, Src};
use crate::isa::{AluOp, Isa};
use crate::late::Variables;
use crate::op::{self, Units};
use gpucc_ir::mach::Node;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A run with what is known of it.
pub(super) struct Run {
    pub nodes: Vec<Node<Inst>>,
    pub graph: Graph,
    /// No order has fewer groups.
    pub least: u32,
}

impl Run {
    pub fn of(
        nodes: Vec<Node<Inst>>,
        seen: &mut Seen,
        variables: &Variables,
        isa: &'static Isa,
    ) -> Run {
        let graph = Graph::build(&nodes, seen, variables);
        let mut run = Run {
            nodes,
            graph,
            least: 0,
        };
        run.least = run.least(isa);
        run
    }

    /// Groups that slots, units, constants and the longest chain ask for.
    fn least(&self, isa: &'static Isa) -> u32 {
        let (mut slots, mut trans, mut whole) = (0u32, 0u32, 0u32);
        let mut pairs: SmallVec<[(u8, u16, u8); 16]> = SmallVec::new();
        let mut pair = |source: &Source| {
            if let Src::Const {
                buffer,
                index,
                chan,
            } = source.src
            {
                pairs.push((buffer, index, chan / 2));
            }
        };
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
        let chain = self
            .graph
            .height
            .iter()
            .max()
            .map_or(0, |height| height + 1);
        let constants = pairs.len().div_ceil(2) as u32;
        let most = slots.div_ceil(5).max(trans).max(whole);
        most.max(constants).max(chain)
    }
}

/// Dependences within a run.
#[derive(Default)]
pub(super) struct Graph {
    /// What follows, and by how many groups at least.
    pub succ: Vec<SmallVec<[(u32, u32); 4]>>,
    pub preds: Vec<u32>,
    /// Groups that must come behind.
    pub height: Vec<u32>,
}

impl Graph {
    fn build(segment: &[Node<Inst>], seen: &mut Seen, variables: &Variables) -> Graph {
        let n = segment.len();
        let mut succ = Vec::new();
        succ.resize_with(n, SmallVec::new);
        let mut graph = Graph {
            succ,
            preds: vec![0; n],
            height: vec![0; n],
        };
        seen.start();
        for (at, node) in segment.iter().enumerate() {
            let mut edge = |from: u32, latency: u32| {
                graph.succ[from as usize].push((at as u32, latency));
                graph.preds[at] += 1;
            };
            let touched = seen.before(&node.inst, &mut edge);
            // The next value of a variable comes after the reads of its value now.
            for v in variables.replaced(&node.inst) {
                for &reader in seen.readers(v) {
                    edge(reader, 0);
                }
            }
            seen.note(at as u32, &touched);
        }
        for at in (0..n).rev() {
            let tallest = graph.succ[at]
                .iter()
                .map(|&(to, latency)| graph.height[to as usize] + latency)
                .max();
            graph.height[at] = tallest.unwrap_or(0);
        }
        graph
    }
}

type Ready = BTreeSet<(Reverse<u32>, u32)>;

/// What an attempt may place.
pub(super) struct Queue {
    pub ready: Ready,
    later: Vec<u32>,
    preds: Vec<u32>,
    earliest: Vec<u32>,
    /// The group that is filled.
    pub now: u32,
}

impl Queue {
    /// What nothing comes before is ready.
    pub fn of(graph: &Graph) -> Queue {
        let n = graph.preds.len();
        let first = (0..n).filter(|&at| graph.preds[at] == 0);
        Queue {
            ready: first
                .map(|at| (Reverse(graph.height[at]), at as u32))
                .collect(),
            later: Vec::new(),
            preds: graph.preds.clone(),
            earliest: vec![0; n],
            now: 0,
        }
    }

    /// What was waiting for this group is ready.
    pub fn wake(&mut self, graph: &Graph) {
        let Queue {
            ready,
            later,
            earliest,
            now,
            ..
        } = self;
        later.retain(|&at| {
            let due = earliest[at as usize] <= *now;
            if due {
                ready.insert((Reverse(graph.height[at as usize]), at));
            }
            !due
        });
    }

    /// An operation was placed; true when something may join its group.
    pub fn release(&mut self, graph: &Graph, at: u32) -> bool {
        let mut joined = false;
        for &(to, latency) in &graph.succ[at as usize] {
            let index = to as usize;
            self.earliest[index] = self.earliest[index].max(self.now + latency);
            self.preds[index] -= 1;
            if self.preds[index] == 0 {
                if self.earliest[index] <= self.now {
                    self.ready.insert((Reverse(graph.height[index]), to));
                    joined = true;
                } else {
                    self.later.push(to);
                }
            }
        }
        joined
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
            Some(links) => out.extend(links.into_iter().map(|inst| Node {
                inst,
                span: node.span,
            })),
            None => out.push(node.clone()),
        }
    }
    out
}
