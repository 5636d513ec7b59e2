//! Machine IR as text, one instruction a line: for dumps and for people.

use crate::fau::{LUT, Read};
use crate::inst::{Inst, Op, Src};
use crate::isa;
use gpucc_ir::mach::{self, Func, Names, Reg};
use gpucc_isa::Kind;
use std::fmt::{self, Write};

/// The function as text.
pub fn print(func: &Func<Inst>) -> String {
    mach::print(func)
}

fn registers(out: &mut dyn Write, names: Names, list: &[Reg]) -> fmt::Result {
    for (k, &reg) in list.iter().enumerate() {
        let colon = if k == 0 { "" } else { ":" };
        write!(out, "{colon}{}", register(names, reg))?;
    }
    Ok(())
}

/// Physical registers by number, although the file has rows of pairs.
fn register(names: Names, reg: Reg) -> String {
    match reg.as_phys() {
        Some(cell) => format!("r{}", cell.index),
        None => names.reg(reg).to_string(),
    }
}

fn source(out: &mut dyn Write, names: Names, source: &Src) -> fmt::Result {
    match *source {
        Src::Reg(reg) => out.write_str(&register(names, reg)),
        Src::Low(reg) => write!(out, "{}.w0", register(names, reg)),
        Src::Pair(pair) => registers(out, names, &pair),
        Src::Fau(entry) => write!(out, "fau[{}]", entry.0),
        Src::FauPair(entry) => write!(out, "fau[{}:{}]", entry.0, entry.0 + 1),
        Src::Special(special, word) => write!(out, "{special:?}.w{word}"),
        Src::Special64(special) => write!(out, "{special:?}"),
        Src::Bits(bits) => write!(out, "{bits:#x}"),
        Src::Fast(Read::Lut(entry)) => write!(out, "{:#x}", LUT[usize::from(entry & 31)]),
        Src::Fast(Read::Uniform(word)) => write!(out, "u{word}"),
        Src::Fast(Read::Special { page, slot, word }) => {
            write!(out, "special{page}.{slot}.w{word}")
        }
    }
}

fn op(out: &mut dyn Write, names: Names, op: &Op) -> fmt::Result {
    registers(out, names, &op.dst)?;
    if !op.dst.is_empty() {
        out.write_str(" = ")?;
    }
    if !op.write.is_empty() {
        out.write_char('@')?;
        registers(out, names, &op.write)?;
        out.write_str(" = ")?;
    }
    out.write_str(op.opcode.name())?;
    let usual = isa::Inst::usual(op.opcode.op());
    let shape = op.opcode.shape();
    for &id in shape.modifiers.iter().chain(shape.immediates) {
        let value = op.word.get(id);
        if value == usual.get(id) {
            continue;
        }
        match op.word.op().format.field(id) {
            Some(field) => match field.kind {
                Kind::Enum(set) => write!(out, ".{}", set.name_of(value).unwrap_or("?"))?,
                Kind::Flag => write!(out, ".{}", field.name)?,
                _ => write!(out, " {}:{value:#x}", field.name)?,
            },
            None => write!(out, ".{value}")?,
        }
    }
    if !op.read.is_empty() {
        out.write_str(" @")?;
        registers(out, names, &op.read)?;
    }
    for (k, (src, place)) in op.src.iter().zip(shape.sources).enumerate() {
        out.write_str(if k == 0 { " " } else { ", " })?;
        source(out, names, src)?;
        if let Some(id) = place.swizzle()
            && op.word.get(id) != usual.get(id)
            && let Some(field) = op.word.op().format.field(id)
            && let Kind::Enum(set) = field.kind
        {
            write!(out, ".{}", set.name_of(op.word.get(id)).unwrap_or("?"))?;
        }
        let set = |id: Option<gpucc_isa::FieldId>| id.is_some_and(|id| op.word.flag(id));
        if set(place.abs()) {
            out.write_str(".abs")?;
        }
        if set(place.neg()) {
            out.write_str(".neg")?;
        }
    }
    if let Some(target) = op.target {
        write!(out, " -> {target}")?;
    }
    if op.divergent {
        out.write_str(" divergent")?;
    }
    Ok(())
}

impl mach::PrintInst for Inst {
    fn print(&self, names: Names, out: &mut dyn Write) -> fmt::Result {
        match self {
            Inst::Entry(list) => {
                out.write_str("entry")?;
                for &(reg, cell) in list {
                    write!(out, " {}=r{}", register(names, reg), cell.index)?;
                }
                Ok(())
            }
            Inst::Copy { dst, src } => {
                registers(out, names, dst)?;
                out.write_str(" = copy ")?;
                registers(out, names, src)
            }
            Inst::Op(inst) => op(out, names, inst),
        }
    }
}
