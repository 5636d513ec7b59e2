//! Machine IR as text, one instruction a line: for dumps, for people and for [`crate::parse`], which reads all of it back.
//!
//! ```text
//! v3 = FMA.f32.clamp_0_1 v0.neg, u4, ^v1.h0          results, sources with their lanes and signs; ^ marks a last use
//! @v4:v5 = LOAD.i64.wait0 offset:8 fau[2:3] reads:0x1    staging registers have an @; memory that a message touches
//! STORE.i32 @v4 v6:_                                 a pair of which only the low word is read
//! ```
//! `fau[2]` and `fau[lane_id].w0` are what lowering asks of the uniforms, `u4` and `lane_id.w0` the places that they get, `#7`
//! is a constant without a place yet and `0x3f800000` one of the small constants.

use crate::fau::{LUT, Read};
use crate::inst::{self, Inst, Op, Src};
use crate::isa::{self, Source, SourceByte, f};
use gpucc_ir::mach::{self, Func, Names, Reg};
use gpucc_isa::{Field, FieldId, Kind};
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

/// `v1, v2 = `.
fn results(out: &mut dyn Write, names: Names, list: &[Reg]) -> fmt::Result {
    for (k, &reg) in list.iter().enumerate() {
        let end = if k + 1 == list.len() { " = " } else { ", " };
        write!(out, "{}{end}", register(names, reg))?;
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

/// The name of a special and its word.
fn special(read: Read) -> Option<(&'static str, u8)> {
    match SourceByte::decode(read.byte(), read.page()) {
        Some(SourceByte::Special { what, word }) => Some((what.name(), word)),
        _ => None,
    }
}

/// The name of a special that lowering asks for.
pub fn special_name(what: inst::Special) -> &'static str {
    special(what.read(0)).map_or("?", |(name, _)| name)
}

/// The first entry of the table of small constants that has the value of this one.
pub fn first_alike(entry: u8) -> Option<u8> {
    let value = LUT.get(usize::from(entry))?;
    let first = LUT.iter().position(|known| known == value)?;
    Some(first as u8)
}

fn source(out: &mut dyn Write, names: Names, source: &Src) -> fmt::Result {
    match *source {
        Src::Reg(reg) => out.write_str(&register(names, reg)),
        Src::Low(reg) => write!(out, "{}:_", register(names, reg)),
        Src::Pair(pair) => registers(out, names, &pair),
        Src::Fau(entry) => write!(out, "fau[{}]", entry.0),
        Src::FauPair(entry) => write!(out, "fau[{}:{}]", entry.0, u32::from(entry.0) + 1),
        Src::Special(what, word) => write!(out, "fau[{}].w{word}", special_name(what)),
        Src::Special64(what) => write!(out, "fau[{}]", special_name(what)),
        Src::Bits(bits) => write!(out, "#{bits:#x}"),
        Src::Fast(Read::Lut(entry)) => match first_alike(entry) {
            Some(first) if first == entry => write!(out, "{:#x}", LUT[usize::from(entry)]),
            _ => write!(out, "lut{entry}"),
        },
        Src::Fast(Read::Uniform(word)) => write!(out, "u{word}"),
        Src::Fast(read) => match special(read) {
            Some((name, word)) => write!(out, "{name}.w{word}"),
            None => out.write_str("?"),
        },
    }
}

/// The fields that a source's own text says: lanes, abs, neg, and the inversion of the third.
pub fn of_source(index: usize, source: &Source) -> [Option<FieldId>; 4] {
    let not = (index == 2).then_some(f::NOT2);
    [source.swizzle(), source.abs(), source.neg(), not]
}

/// Fields that say where operands are: [`crate::emit`] fills them in.
const PLACES: [FieldId; 12] = [
    f::OPCODE,
    f::FAU_PAGE,
    f::DST,
    f::SR,
    f::SR_COUNT,
    f::SR_WRITE,
    f::SR_WRITE_COUNT,
    f::SRC0,
    f::SRC1,
    f::SRC2,
    f::SRC3,
    f::FLOW,
];

/// The fields of a row that stand as `name:number` behind the mnemonic: those that nothing else of the text says.
pub fn numbered(opcode: isa::Opcode) -> impl Iterator<Item = &'static Field> {
    let shape = opcode.shape();
    let said = move |id: FieldId| {
        let mut sources = shape.sources.iter().enumerate();
        PLACES.contains(&id)
            || shape.modifiers.contains(&id)
            || sources.any(|(k, source)| of_source(k, source).contains(&Some(id)))
    };
    let op = opcode.op();
    let fields = op.format.fields();
    fields.filter(move |field| !op.is_fixed(field) && !said(field.id))
}

/// `.name` of a field that is not as usual.
fn modifier(out: &mut dyn Write, word: &gpucc_isa::Inst, id: FieldId) -> fmt::Result {
    let Some(field) = word.op().format.field(id) else {
        return Ok(());
    };
    let value = field.get(word.bits());
    match field.kind {
        _ if value == field.get(word.op().usual) => Ok(()),
        Kind::Enum(set) => write!(out, ".{}", set.name_of(value).unwrap_or("?")),
        _ => write!(out, ".{}", field.name),
    }
}

fn op(out: &mut dyn Write, names: Names, op: &Op) -> fmt::Result {
    results(out, names, &op.dst)?;
    if !op.write.is_empty() {
        out.write_char('@')?;
        registers(out, names, &op.write)?;
        out.write_str(" = ")?;
    }
    out.write_str(op.opcode.name())?;
    let shape = op.opcode.shape();
    for &id in shape.modifiers.iter().chain(&[f::FLOW]) {
        modifier(out, &op.word, id)?;
    }
    for field in numbered(op.opcode) {
        let value = field.get(op.word.bits());
        match field.kind {
            _ if value == field.get(op.word.op().usual) => {}
            Kind::Signed => write!(out, " {}:{}", field.name, field.signed(value))?,
            _ => write!(out, " {}:{value:#x}", field.name)?,
        }
    }
    if !op.read.is_empty() {
        out.write_str(" @")?;
        registers(out, names, &op.read)?;
    }
    for (k, (src, place)) in op.src.iter().zip(shape.sources).enumerate() {
        out.write_str(if k == 0 { " " } else { ", " })?;
        if op.last >> k & 1 != 0 {
            out.write_char('^')?;
        }
        source(out, names, src)?;
        for id in of_source(k, place).into_iter().flatten() {
            match id {
                _ if Some(id) == place.swizzle() => modifier(out, &op.word, id)?,
                _ if !op.word.flag(id) => {}
                _ if Some(id) == place.abs() => out.write_str(".abs")?,
                f::NOT2 => out.write_str(".not")?,
                _ => out.write_str(".neg")?,
            }
        }
    }
    if let Some(target) = op.target {
        write!(out, " -> {target}")?;
    }
    for (word, set) in [(" divergent", op.divergent), (" tied", op.tied)] {
        out.write_str(if set { word } else { "" })?;
    }
    if !op.second.is_empty() {
        out.write_str(" second ")?;
        registers(out, names, &op.second)?;
    }
    for &(reg, at) in &op.clobbers {
        write!(out, " clobbers {}=r{at}", register(names, reg))?;
    }
    if let Some(slot) = op.spill {
        write!(out, " spill {}", slot.0)?;
    }
    if let Some(effects) = op.effects {
        if effects.reads != 0 || effects.writes == 0 {
            write!(out, " reads:{:#x}", effects.reads)?;
        }
        if effects.writes != 0 {
            write!(out, " writes:{:#x}", effects.writes)?;
        }
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
                results(out, names, dst)?;
                out.write_str("copy ")?;
                registers(out, names, src)
            }
            Inst::Op(inst) => op(out, names, inst),
        }
    }
}
