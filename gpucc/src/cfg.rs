//! Control flow as a picture: structured SSA as Graphviz dot.

use gpucc_ir::ssa::{Func, Imm, Inst, Op, Region};
use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};

/// The control flow of a function in the dot language: a box a straight run of instructions, an edge
/// a way that control may go.
pub fn cfg(func: &Func) -> String {
    gpucc_ir::stack::for_regions(func, || draw(func))
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
    let label = |text: &str| format!("label=\"{}\"", escape(text));
    let edge_label = |_: &_, edge: EdgeReference<'_, &'static str>| match *edge.weight() {
        "" => String::new(),
        how => label(how),
    };
    let node_label = |_: &_, (_, text): (NodeIndex, &String)| label(text);
    let config = [Config::EdgeNoLabel, Config::NodeNoLabel, Config::GraphContentOnly];
    let dot = Dot::with_attr_getters(&graph.graph, &config, &edge_label, &node_label);
    let name = escape(&crate::printable(&func.name));
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
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
