//! Control flow as a picture: structured SSA, or machine code, as Graphviz dot.

use crate::{Failure, Program};
use gpucc_ir::ssa::{Func, Imm, Inst, Op, Region};
use gpucc_machine::flow::busiest;
use gpucc_machine::named::Figure;
use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};
use std::collections::BTreeMap;

/// The control flow of a function in the dot language: a box a straight run of instructions, an edge
/// a way that control may go.
pub fn cfg(func: &Func) -> String {
    gpucc_ir::stack::for_regions(func, || draw(func))
}

/// The control flow of a program's machine code in the dot language: a box a run of instructions that a lane enters at the
/// first and leaves at the last, with its text and clocks.
///
/// # Errors
/// Code that our own disassembler refuses: our bug.
pub fn machine_cfg(program: &Program, name: &str) -> Result<String, Failure> {
    // Clauses stand elsewhere than where they run: lines by their places.
    let listing = program.listing()?;
    let mut text: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for line in &listing {
        text.entry(line.offset).or_default().push(line.text.trim_end());
    }
    let mut graph = DiGraph::new();
    for (program, steps) in program.steps()? {
        let list = &steps.list;
        let mut leads = vec![false; list.len() + 1];
        for (at, step) in list.iter().enumerate() {
            let goes_on = step.next.iter().all(|&next| next as usize == at + 1);
            leads[at + 1] |= !goes_on || step.next.is_empty();
            for &next in step.next.iter().filter(|&&next| next as usize != at + 1) {
                leads[next as usize] = true;
            }
        }
        // The box of each step.
        let mut boxes: Vec<NodeIndex> = Vec::with_capacity(list.len());
        let mut first = 0;
        for end in 1..=list.len() {
            if end < list.len() && !leads[end] {
                continue;
            }
            let run = &list[first..end];
            let mut label = String::new();
            if first == 0 && !program.is_empty() {
                label = format!("{program}\n");
            }
            for line in run.iter().flat_map(|step| text.get(&step.offset)).flatten() {
                label.push_str(line);
                label.push('\n');
            }
            let cycles: f64 = run.iter().map(|step| busiest(&step.clocks)).sum();
            label += &format!("{} cycles\n", Figure(cycles));
            let node = graph.add_node(label);
            boxes.extend(run.iter().map(|_| node));
            first = end;
        }
        for (at, step) in list.iter().enumerate() {
            for &next in &step.next {
                let (from, to) = (boxes[at], boxes[next as usize]);
                if from != to || next as usize <= at {
                    graph.update_edge(from, to, "");
                }
            }
        }
    }
    Ok(dot(&graph, name))
}

fn draw(func: &Func) -> String {
    let mut graph = Graph { func, graph: DiGraph::new() };
    let mut targets = Targets::default();
    let start = graph.node("start");
    let end = graph.region(func.body, start, "", &mut targets);
    if let Some(end) = end {
        let last = graph.node("end");
        graph.edge(end, last, "");
    }
    dot(&graph.graph, &func.name)
}

/// A graph in the dot language. Lines of boxes stand to the left.
fn dot(graph: &DiGraph<String, &'static str>, name: &str) -> String {
    let label = |text: &str| format!("label=\"{}\"", escape(text));
    let edge_label = |_: &_, edge: EdgeReference<'_, &'static str>| match *edge.weight() {
        "" => String::new(),
        how => label(how),
    };
    let node_label = |_: &_, (_, text): (NodeIndex, &String)| label(text);
    let config = [Config::EdgeNoLabel, Config::NodeNoLabel, Config::GraphContentOnly];
    let dot = Dot::with_attr_getters(graph, &config, &edge_label, &node_label);
    let name = escape(&crate::printable(name));
    format!("digraph \"{name}\" {{\n    node [shape=box fontname=monospace];\n{dot:?}}}\n")
}

/// Where the ways out of open constructs lead.
#[derive(Default)]
struct Targets {
    /// `(after, continuing)` of open loops.
    loops: Vec<(NodeIndex, NodeIndex)>,
    /// `(block, after)` of open blocks.
    blocks: Vec<(Inst, NodeIndex)>,
}

struct Graph<'f> {
    func: &'f Func,
    graph: DiGraph<String, &'static str>,
}

impl Graph<'_> {
    fn node(&mut self, label: &str) -> NodeIndex {
        self.graph.add_node(label.to_owned())
    }

    fn edge(&mut self, from: NodeIndex, to: NodeIndex, label: &'static str) {
        self.graph.add_edge(from, to, label);
    }

    /// Draws a region that is entered from a node; gives the node that falls out of its end, if any.
    fn region(
        &mut self,
        region: Region,
        from: NodeIndex,
        how: &'static str,
        targets: &mut Targets,
    ) -> Option<NodeIndex> {
        let mut count = 0;
        let mut at = from;
        let mut how = how;
        for &inst in &self.func.regions[region].insts {
            let data = &self.func.insts[inst];
            if data.regions.is_empty() && !data.op.is_terminator() {
                count += 1;
                continue;
            }
            let label = match count {
                0 => data.op.name().to_owned(),
                1 => format!("1 instruction, {}", data.op.name()),
                n => format!("{n} instructions, {}", data.op.name()),
            };
            count = 0;
            let node = self.node(&label);
            self.edge(at, node, how);
            how = "";
            match data.op {
                Op::If => {
                    let after = self.node("join");
                    for (&arm, how) in data.regions.iter().zip(["then", "else"]) {
                        if let Some(end) = self.region(arm, node, how, targets) {
                            self.edge(end, after, "");
                        }
                    }
                    at = after;
                }
                Op::Loop => {
                    let (body, after, continuing) =
                        (self.node("loop body"), self.node("after loop"), self.node("continuing"));
                    self.edge(node, body, "");
                    targets.loops.push((after, continuing));
                    if let Some(&region) = data.regions.first() {
                        self.region(region, body, "", targets);
                    }
                    targets.loops.pop();
                    if let Some(&region) = data.regions.get(1) {
                        let mut inner = Targets { loops: vec![(after, body)], blocks: Vec::new() };
                        self.region(region, continuing, "", &mut inner);
                    }
                    at = after;
                }
                Op::Block => {
                    let after = self.node("after block");
                    targets.blocks.push((inst, after));
                    if let Some(&region) = data.regions.first()
                        && let Some(end) = self.region(region, node, "", targets)
                    {
                        self.edge(end, after, "");
                    }
                    targets.blocks.pop();
                    at = after;
                }
                Op::Yield => return Some(node),
                Op::Break => {
                    if let Some(&(after, _)) = targets.loops.last() {
                        self.edge(node, after, "");
                    }
                    return None;
                }
                Op::Continue => {
                    if let Some(&(_, continuing)) = targets.loops.last() {
                        self.edge(node, continuing, "");
                    }
                    return None;
                }
                // In a continuing the second of the pair is the loop's body.
                Op::Next => {
                    if let Some(&(_, body)) = targets.loops.last() {
                        self.edge(node, body, "next");
                    }
                    return None;
                }
                Op::BreakIf => {
                    if let Some(&(after, body)) = targets.loops.last() {
                        self.edge(node, after, "break");
                        self.edge(node, body, "next");
                    }
                    return None;
                }
                Op::Exit => {
                    if let Imm::Label(block) = data.imm
                        && let Some(&(_, after)) =
                            targets.blocks.iter().rev().find(|(open, _)| *open == block)
                    {
                        self.edge(node, after, "exit");
                    }
                    return None;
                }
                _ => return None,
            }
        }
        Some(at)
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l")
}
