//! Reads the text that [`print`](super::print()) writes.

use super::func::{Block, Edges, Func, VRegData};
use super::inst::Inst;
use super::regs::{Demand, Files, Names, Phases, VReg};
use crate::ssa::Span;
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
        let fail = |message: String| ParseError {
            line: number,
            message,
        };
        let lead = (raw.len() - raw.trim_start().len()) as u32;
        let line = raw.split(';').next().unwrap_or("").trim();
        let span = Span {
            start: offset + lead,
            end: offset + lead + line.len() as u32,
        };
        offset += raw.len() as u32 + 1;
        if line.is_empty() {
            continue;
        }
        if !named {
            let name = line
                .strip_prefix("mach ")
                .ok_or_else(|| fail("expected `mach \"name\"` first".into()))?;
            let name = name.trim();
            let inner = name
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            func.name = inner
                .ok_or_else(|| fail("the name stands in quotes".into()))?
                .to_owned();
            named = true;
        } else if let Some((id, rest)) = header(line, "v") {
            if current.is_some() {
                return Err(fail("registers are declared before the first block".into()));
            }
            if id as usize != func.vregs.len() {
                return Err(fail(format!(
                    "expected v{}: registers are declared in order",
                    func.vregs.len()
                )));
            }
            let data = vreg(rest, files, span).map_err(fail)?;
            func.vregs.push(data);
        } else if let Some((id, rest)) = header(line, "b") {
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
        return Err(ParseError {
            line: 1,
            message: "expected `mach \"name\"` first".into(),
        });
    }
    for (from, kind, to, line) in edges {
        let to = Block::from_u32(to);
        if !placed.get(to.index()).copied().unwrap_or(false) {
            return Err(ParseError {
                line,
                message: format!("{to} is not placed"),
            });
        }
        func.add_edge(kind, from, to);
    }
    Ok(func)
}

/// `v12: rest` or `b12: rest`; `v12:0b11 = name` is an instruction.
fn header<'t>(line: &'t str, prefix: &str) -> Option<(u32, &'t str)> {
    let (word, rest) = line.split_once(':')?;
    let number = word.strip_prefix(prefix)?.parse().ok()?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some((number, rest))
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
        let value = words
            .next()
            .ok_or_else(|| format!("`{key}` needs a number"))?;
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
            let to = word
                .strip_prefix('b')
                .and_then(|number| number.parse().ok());
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
        self.parse(word)
            .ok_or_else(|| format!("`{word}` is no register"))
    }
}
