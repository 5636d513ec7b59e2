//! Reads the text that [`print`](super::print()) writes.

use super::func::{Block, Edges, Func, Node, VRegData};
use super::inst::Inst;
use super::print::PrintInst;
use super::regs::{Demand, Files, Names, Phases, VReg};
use crate::ssa::{Span, unquote};
use cranelift_entity::EntityRef;

/// An instruction that reads its own text.
pub trait ParseInst: Inst {
    /// The instruction of one line (no leading or trailing space). An error says what is wrong.
    fn parse(line: &str, names: Names) -> Result<Self, String>;
}

/// Why a text is no machine function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// What is wrong and what is expected.
    pub message: String,
}

/// Block and register numbers beyond this are refused, so that a short text cannot ask for much memory.
const HIGHEST_NUMBER: u32 = 10_000_000;

/// More registers than these need a text of as many bytes, for the same reason.
const MOST_REGISTERS: u32 = 100_000;

/// Parses one function. Spans of nodes are the byte ranges of their lines.
pub fn parse<I: ParseInst>(text: &str, files: Files) -> Result<Func<I>, ParseError> {
    let mut func = Func::new("", files);
    let mut current: Option<Block> = None;
    let mut named = false;
    let mut edges: Vec<(Block, Edges, u32, u32)> = Vec::new();
    let mut placed = Vec::new();
    let mut offset = 0u32;
    for (index, raw) in text.split('\n').enumerate() {
        let number = index as u32 + 1;
        let fail = |message: String| ParseError { line: number, message };
        let lead = (raw.len() - raw.trim_start().len()) as u32;
        let line = raw.split(';').next().unwrap_or("").trim();
        let span = Span { start: offset + lead, end: offset + lead + line.len() as u32 };
        offset += raw.len() as u32 + 1;
        if line.is_empty() {
            continue;
        }
        if !named {
            // A name may hold what elsewhere begins a comment.
            let name = raw.trim_start().strip_prefix("mach ");
            let name = name.ok_or_else(|| fail("expected `mach \"name\"` first".into()))?;
            let (name, rest) = unquote(name).map_err(fail)?;
            if !rest.split(';').next().unwrap_or("").trim().is_empty() {
                return Err(fail("nothing stands behind the name".into()));
            }
            func.name = name;
            named = true;
        } else if let Some((first, last, rest)) = registers(line) {
            if current.is_some() {
                return Err(fail("registers are declared before the first block".into()));
            }
            if first as usize != func.vregs.len() || last < first {
                return Err(fail(format!(
                    "expected v{}: registers are declared in order",
                    func.vregs.len()
                )));
            }
            if last > MOST_REGISTERS && last as usize > text.len() {
                return Err(fail("the register number is out of bounds".into()));
            }
            let data = vreg(rest, files, span).map_err(fail)?;
            for _ in first..=last {
                func.vregs.push(data);
            }
        } else if let Some((id, rest)) = header(line) {
            if id > HIGHEST_NUMBER || id as usize > text.len() {
                return Err(fail("the block number is out of bounds".into()));
            }
            let block = block_of(&mut func, &mut placed, id);
            if placed[block.index()] {
                return Err(fail(format!("{block} is placed twice")));
            }
            placed[block.index()] = true;
            func.place(block);
            current = Some(block);
            edge_list(rest, block, number, &mut edges).map_err(fail)?;
        } else {
            let block = current.ok_or_else(|| fail("expected a register or a block".into()))?;
            let inst = I::parse(line, files.names()).map_err(fail)?;
            let mut unknown: Option<VReg> = None;
            inst.operands(&mut |operand| {
                if let Some(v) = operand.reg.as_virt()
                    && v.index() >= func.vregs.len()
                {
                    unknown = Some(v);
                }
            });
            if let Some(v) = unknown {
                return Err(fail(format!("{v} is not declared")));
            }
            func.push(block, inst, span);
        }
    }
    if !named {
        return Err(ParseError { line: 1, message: "expected `mach \"name\"` first".into() });
    }
    for (from, kind, to, line) in edges {
        let to = Block::from_u32(to);
        if !placed.get(to.index()).copied().unwrap_or(false) {
            return Err(ParseError { line, message: format!("{to} is not placed") });
        }
        func.add_edge(kind, from, to);
    }
    Ok(func)
}

/// Whether the text of a function says all of it but the spans: what it reads back as is the same function.
///
/// # Errors
/// What is lost, in words.
pub fn reads_back<I: PrintInst + ParseInst + PartialEq>(func: &Func<I>) -> Result<(), String> {
    let text = super::print(func);
    let back: Func<I> = parse(&text, func.files).map_err(|error| error.to_string())?;
    let plain = |data: &VRegData| (data.demand, data.per_lane, data.prefer);
    let vregs = |func: &Func<I>| -> Vec<_> { func.vregs.values().map(plain).collect() };
    if back.name != func.name || back.layout != func.layout || vregs(&back) != vregs(func) {
        return Err("the text changes the name, the blocks or the registers".into());
    }
    for &block in &func.layout {
        let (old, new) = (&func.blocks[block], &back.blocks[block]);
        if (&old.logical, &old.physical) != (&new.logical, &new.physical) {
            return Err(format!("the text changes the edges of {block}"));
        }
        let differ = |(old, new): (&Node<I>, &Node<I>)| old.inst != new.inst;
        let place = old.nodes.iter().zip(&new.nodes).position(differ);
        if place.is_some() || old.nodes.len() != new.nodes.len() {
            return Err(format!("the text changes {block}, instruction {}", place.unwrap_or(0)));
        }
    }
    Ok(())
}

/// What follows a name in a declaration begins with a space: `v12:0b11 = name` is an instruction.
fn declares(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(char::is_whitespace)
}

/// `v12: rest` or `v12-v14: rest`.
fn registers(line: &str) -> Option<(u32, u32, &str)> {
    let (names, rest) = line.split_once(':')?;
    let (first, last) = names.split_once('-').unwrap_or((names, names));
    let number = |name: &str| name.strip_prefix('v')?.parse().ok();
    let numbers = (number(first)?, number(last)?, rest);
    declares(rest).then_some(numbers)
}

/// `b12: rest`.
fn header(line: &str) -> Option<(u32, &str)> {
    let (word, rest) = line.split_once(':')?;
    let number = word.strip_prefix('b')?.parse().ok()?;
    declares(rest).then_some((number, rest))
}

fn block_of<I>(func: &mut Func<I>, placed: &mut Vec<bool>, id: u32) -> Block {
    while func.blocks.len() <= id as usize {
        func.make_block();
        placed.push(false);
    }
    Block::from_u32(id)
}

fn vreg(rest: &str, files: Files, span: Span) -> Result<VRegData, String> {
    let mut words = rest.split_whitespace();
    let name = words.next().ok_or("expected the register's file")?;
    let file = files
        .ids()
        .find(|&id| files.get(id).name == name)
        .ok_or_else(|| format!("no file `{name}`"))?;
    let mut data = VRegData {
        demand: Demand::scalar(file),
        per_lane: files.get(file).per_lane,
        prefer: None,
        span,
    };
    while let Some(key) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{key}` needs a number"))?;
        let value = match value.strip_prefix("0b") {
            Some(bits) => u16::from_str_radix(bits, 2),
            None => value.parse(),
        };
        let value = value.map_err(|_| format!("`{key}` needs a number"))?;
        match key {
            "count" if value > 0 => data.demand.count = value,
            "stride" if (1..=255).contains(&value) => data.demand.stride = value as u8,
            "phases" => data.demand.phases = Phases(value),
            "per_lane" if value < 2 => data.per_lane = value == 1,
            "prefer" if value < 16 => data.prefer = Some(value as u8),
            _ => return Err(format!("`{key} {value}` is no property of a register")),
        }
    }
    Ok(data)
}

fn edge_list(
    rest: &str,
    from: Block,
    line: u32,
    edges: &mut Vec<(Block, Edges, u32, u32)>,
) -> Result<(), String> {
    for part in rest.split(',') {
        let mut words = part.split_whitespace();
        let Some(kind) = words.next() else { continue };
        let kinds: &[Edges] = match kind {
            "->" => &[Edges::Logical, Edges::Physical],
            "logical" => &[Edges::Logical],
            "physical" => &[Edges::Physical],
            _ => return Err("expected `->`, `logical` or `physical`".into()),
        };
        for word in words {
            let to = word.strip_prefix('b').and_then(|number| number.parse().ok());
            let to = to.ok_or_else(|| format!("`{word}` is no block"))?;
            edges.extend(kinds.iter().map(|&kind| (from, kind, to, line)));
        }
    }
    Ok(())
}

/// Registers are named in text by [`Names`]; here so that instruction parsers need one import.
impl Names {
    /// Like [`Names::parse`], with an error that says what was found.
    pub fn expect(&self, word: &str) -> Result<super::regs::Reg, String> {
        self.parse(word).ok_or_else(|| format!("`{word}` is no register"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mach::plain::{FILES, Plain};
    use crate::mach::print;

    fn read(text: &str) -> Result<Func<Plain>, ParseError> {
        parse(text, FILES)
    }

    #[test]
    fn neighbours_that_are_declared_alike_share_a_line() {
        let text = "mach \"a \\\"b\\\"; c\"\nv0: R\nv1-v3: R count 2\nv4: R\nb0:\n    v0 = a\n";
        let func = read(text).expect("machine IR");
        assert_eq!((func.vregs.len(), func.name.as_str()), (5, "a \"b\"; c"));
        assert_eq!(print(&func), text);
        assert_eq!(reads_back(&func), Ok(()));
        let apart = read("mach \"m\"\nv0: R\nv1: R\nb0:\n").expect("machine IR");
        assert_eq!(print(&apart), "mach \"m\"\nv0-v1: R\nb0:\n");
    }

    #[test]
    fn registers_out_of_order_and_more_than_a_short_text_has_are_refused() {
        for line in ["v1-v3: R", "v0-v4000000000: R", "v0-v200000: R", "v0-: R"] {
            let error = read(&format!("mach \"m\"\n{line}\nb0:\n")).expect_err(line);
            assert_eq!(error.line, 2, "{line}");
        }
    }
}
