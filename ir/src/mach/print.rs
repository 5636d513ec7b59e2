//! The text of a machine function, and its graph for Graphviz.
//!
//! ```text
//! mach "main"
//! v0: R
//! v1: R count 8 stride 4
//! v2-v5: R phases 0b1 prefer 1
//! b0: logical b1 b2, physical b1
//!     v0 = load v2
//! ```
//! Neighbours that are declared alike share a line. A block's line says its edges; a lone `-> b1`
//! stands for the same edges of both kinds. Blocks come in program order. Spans are not printed.
//! Instructions print a part of a register as `v1[2..4]` ([`Part`](super::Part)): here its third and
//! fourth cell. The part of a physical register is counted from the cell that is named, `R5.z[0..2]`.

use super::func::{Block, Func, VRegData};
use super::inst::Inst;
use super::regs::{Names, Phases};
use crate::ssa::{Quoted, Span};
use std::fmt::{self, Write};

/// An instruction that prints itself, on one line, without the line's end.
pub trait PrintInst: Inst {
    /// Writes the instruction with registers as `names` spells them.
    fn print(&self, names: Names, out: &mut dyn Write) -> fmt::Result;
}

/// The function as text.
pub fn print<I: PrintInst>(func: &Func<I>) -> String {
    print_with_spans(func).0
}

/// The function as text, and the place of each line in the source.
pub fn print_with_spans<I: PrintInst>(func: &Func<I>) -> (String, Vec<Span>) {
    let (mut out, mut spans) = (String::new(), Vec::new());
    write_func(func, &mut out, &mut spans).expect("writing to a string cannot fail");
    (out, spans)
}

fn write_func<I: PrintInst>(
    func: &Func<I>,
    out: &mut String,
    spans: &mut Vec<Span>,
) -> fmt::Result {
    let names = func.files.names();
    writeln!(out, "mach {}", Quoted(&func.name))?;
    spans.push(Span::NONE);
    let mut vregs = func.vregs.iter().peekable();
    while let Some((v, data)) = vregs.next() {
        let demand = data.demand;
        let alike = |other: &VRegData| {
            (other.demand, other.per_lane, other.prefer) == (demand, data.per_lane, data.prefer)
        };
        let mut last = v;
        while let Some((other, _)) = vregs.next_if(|(_, other)| alike(other)) {
            last = other;
        }
        write!(out, "{v}")?;
        if last != v {
            write!(out, "-{last}")?;
        }
        write!(out, ": {}", func.files.get(demand.file).name)?;
        if demand.count != 1 {
            write!(out, " count {}", demand.count)?;
        }
        if demand.stride != 1 {
            write!(out, " stride {}", demand.stride)?;
        }
        if demand.phases != Phases::ANY {
            write!(out, " phases {:#b}", demand.phases.0)?;
        }
        if data.per_lane != func.files.get(demand.file).per_lane {
            write!(out, " per_lane {}", u8::from(data.per_lane))?;
        }
        if let Some(phase) = data.prefer {
            write!(out, " prefer {phase}")?;
        }
        out.push('\n');
        spans.push(Span::NONE);
    }
    for &block in &func.layout {
        let data = &func.blocks[block];
        write!(out, "{block}:")?;
        if data.logical == data.physical {
            write_list(out, " ->", &data.logical)?;
        } else {
            write_list(out, " logical", &data.logical)?;
            if !data.logical.is_empty() && !data.physical.is_empty() {
                out.push(',');
            }
            write_list(out, " physical", &data.physical)?;
        }
        out.push('\n');
        spans.push(Span::NONE);
        for node in &data.nodes {
            out.push_str("    ");
            node.inst.print(names, out)?;
            out.push('\n');
            spans.push(node.span);
        }
    }
    Ok(())
}

fn write_list(out: &mut String, word: &str, blocks: &[Block]) -> fmt::Result {
    if blocks.is_empty() {
        return Ok(());
    }
    out.push_str(word);
    for block in blocks {
        write!(out, " {block}")?;
    }
    Ok(())
}

/// The graph of a function in Graphviz's language: solid edges for lanes and thread alike, dashed
/// for lanes only, dotted for the thread only.
pub fn dot<I: PrintInst>(func: &Func<I>) -> String {
    let mut out = String::new();
    write_dot(func, &mut out).expect("writing to a string cannot fail");
    out
}

fn write_dot<I: PrintInst>(func: &Func<I>, out: &mut String) -> fmt::Result {
    let names = func.files.names();
    writeln!(out, "digraph {:?} {{", func.name)?;
    writeln!(out, "  node [shape=box, fontname=monospace];")?;
    for &block in &func.layout {
        let data = &func.blocks[block];
        let mut text = format!("{block}:\\l");
        for node in &data.nodes {
            let mut line = String::new();
            node.inst.print(names, &mut line)?;
            text.push_str(&line.replace('\\', "\\\\").replace('"', "\\\""));
            text.push_str("\\l");
        }
        writeln!(out, "  {block} [label=\"{text}\"];")?;
        for to in &data.logical {
            let style = if data.physical.contains(to) { "solid" } else { "dashed" };
            writeln!(out, "  {block} -> {to} [style={style}];")?;
        }
        for to in data.physical.iter().filter(|to| !data.logical.contains(to)) {
            writeln!(out, "  {block} -> {to} [style=dotted];")?;
        }
    }
    writeln!(out, "}}")
}
