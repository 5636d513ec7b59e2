//! Machine IR as text, one instruction a line: for dumps, for people, and for [`parse`](super::parse), which reads it back.

use crate::inst::{Alu, Indexed, Inst, Lane, Omod, Source, Space, Src};
use crate::slot::{Read, Slot};
use gpucc_ir::mach::{self, Names, Reg};
use std::fmt::{self, Write};

fn source(out: &mut dyn Write, names: Names, source: &Source) -> fmt::Result {
    let sign = if source.neg { "-" } else { "" };
    let bar = if source.abs { "|" } else { "" };
    write!(out, "{sign}{bar}")?;
    match source.src {
        Src::Reg(reg) => write!(out, "{}", names.reg(reg))?,
        Src::Const { buffer, index, chan } => {
            write!(out, "C{buffer}[{index}].{}", letter(chan))?;
        }
        Src::Bits(bits) => write!(out, "{bits:#x}")?,
    }
    write!(out, "{bar}")
}

const fn letter(chan: u8) -> char {
    ['x', 'y', 'z', 'w'][(chan & 3) as usize]
}

fn alu(out: &mut dyn Write, names: Names, alu: &Alu) -> fmt::Result {
    if let Some(dst) = alu.dst {
        write!(out, "{} = ", names.reg(dst))?;
    }
    write!(out, "{}", alu.op)?;
    for (index, s) in alu.src.iter().enumerate() {
        write!(out, "{} ", if index == 0 { "" } else { "," })?;
        source(out, names, s)?;
    }
    match alu.omod {
        Omod::Off => {}
        Omod::Mul2 => write!(out, " *2")?,
        Omod::Mul4 => write!(out, " *4")?,
        Omod::Div2 => write!(out, " /2")?,
    }
    if alu.clamp { write!(out, " clamp") } else { Ok(()) }
}

fn lanes(out: &mut dyn Write, names: Names, list: &[Lane; 4]) -> fmt::Result {
    for lane in list {
        match lane {
            Lane::Reg(reg) => write!(out, " {}", names.reg(*reg))?,
            Lane::Zero => write!(out, " 0")?,
            Lane::One => write!(out, " 1")?,
            Lane::Masked => write!(out, " _")?,
        }
    }
    Ok(())
}

fn reg_or_none(out: &mut dyn Write, names: Names, reg: Option<Reg>) -> fmt::Result {
    match reg {
        Some(reg) => write!(out, "{}", names.reg(reg)),
        None => write!(out, "_"),
    }
}

/// What a fetch writes, and ` =`: a component that is not the place's own stands behind the register.
fn results(
    out: &mut dyn Write,
    names: Names,
    list: &[Option<Reg>; 4],
    select: &[u8; 4],
) -> fmt::Result {
    for (place, (&reg, &component)) in (0..).zip(list.iter().zip(select)) {
        reg_or_none(out, names, reg)?;
        if component != place {
            write!(out, "@{component}")?;
        }
        write!(out, " ")?;
    }
    write!(out, "=")
}

/// Where in memory.
fn place(
    out: &mut dyn Write,
    names: Names,
    space: Space,
    base: u16,
    index: Option<Reg>,
    size: u16,
    elements: u8,
) -> fmt::Result {
    match space {
        Space::Scratch => write!(out, "scratch")?,
        Space::Scatter => write!(out, "scatter")?,
        Space::Stream(number) => write!(out, "stream{number}")?,
    }
    write!(out, " {base}")?;
    if let Some(index) = index {
        write!(out, " + {}", names.reg(index))?;
    }
    if size != 0 {
        write!(out, " of {size}")?;
    }
    write!(out, " elements {elements}")
}

fn slot(out: &mut dyn Write, slot: Option<mach::Slot>) -> fmt::Result {
    match slot {
        Some(mach::Slot(number)) => write!(out, " slot {number}"),
        None => Ok(()),
    }
}

fn indexed(out: &mut dyn Write, names: Names, of: &Indexed) -> fmt::Result {
    write!(out, "{}[", names.reg(of.array))?;
    source(out, names, &of.index)?;
    write!(out, " + {} of {}]", of.offset, of.count)
}

impl mach::PrintInst for Inst {
    fn print(&self, names: Names, out: &mut dyn Write) -> fmt::Result {
        match self {
            Inst::Entry(list) => {
                write!(out, "entry")?;
                for (reg, cell) in list {
                    write!(out, " {}={}", names.reg(*reg), names.reg(Reg::phys(*cell)))?;
                }
                Ok(())
            }
            Inst::Alu(inst) => alu(out, names, inst),
            Inst::Dot { dst, src, clamp } => {
                write!(out, "{} = DOT4_IEEE", names.reg(*dst))?;
                for [a, b] in src {
                    write!(out, " ")?;
                    source(out, names, a)?;
                    write!(out, "*")?;
                    source(out, names, b)?;
                }
                if *clamp { write!(out, " clamp") } else { Ok(()) }
            }
            Inst::Cube { dst, src } => {
                for reg in dst {
                    write!(out, "{} ", names.reg(*reg))?;
                }
                write!(out, "= CUBE")?;
                for reg in src {
                    write!(out, " {}", names.reg(*reg))?;
                }
                Ok(())
            }
            Inst::Double(double) => {
                for dst in double.dst {
                    reg_or_none(out, names, dst)?;
                    write!(out, " ")?;
                }
                write!(out, "= {}", double.op.name())?;
                for [high, low] in &double.src {
                    write!(out, " ")?;
                    source(out, names, high)?;
                    write!(out, ":")?;
                    source(out, names, low)?;
                }
                Ok(())
            }
            Inst::Copy { dst, src } => {
                write!(out, "copy")?;
                for (d, s) in dst.iter().zip(src) {
                    write!(out, " {}={}", names.reg(*d), names.reg(*s))?;
                }
                Ok(())
            }
            Inst::ArrayRead { dst, from } => {
                write!(out, "{} = ", names.reg(*dst))?;
                indexed(out, names, from)
            }
            Inst::ArrayWrite { to, result, value } => {
                write!(out, "{} = ", names.reg(*result))?;
                indexed(out, names, to)?;
                write!(out, " with ")?;
                source(out, names, value)
            }
            Inst::ArrayNew { array } => write!(out, "{} = array", names.reg(*array)),
            Inst::Vertex(fetch) => {
                results(out, names, &fetch.dst, &fetch.select)?;
                write!(
                    out,
                    " VFETCH {} from {} + {} format {} num {} bytes {} type {}",
                    names.reg(fetch.index),
                    fetch.resource,
                    fetch.offset,
                    fetch.data_format,
                    fetch.num_format,
                    fetch.bytes,
                    fetch.fetch_type
                )?;
                match fetch.signed {
                    true => write!(out, " signed"),
                    false => Ok(()),
                }
            }
            Inst::Texture(fetch) => {
                results(out, names, &fetch.dst, &fetch.select)?;
                write!(out, " {}", fetch.op.name())?;
                lanes(out, names, &fetch.src)?;
                write!(out, " from {} sampler {}", fetch.resource, fetch.sampler)?;
                if fetch.normalized != [true; 4] {
                    write!(out, " texels ")?;
                    for chan in (0..4).filter(|&chan| !fetch.normalized[usize::from(chan)]) {
                        write!(out, "{}", letter(chan))?;
                    }
                }
                if fetch.offset != [0; 3] {
                    let [x, y, z] = fetch.offset;
                    write!(out, " offset {x} {y} {z}")?;
                }
                for src in fetch.gradients.iter().flat_map(|both| both.iter()) {
                    write!(out, " gradient")?;
                    lanes(out, names, src)?;
                }
                Ok(())
            }
            Inst::MemRead(read) => {
                results(out, names, &read.dst, &read.select)?;
                write!(out, " read ")?;
                let (base, size) = (read.base, read.size);
                place(out, names, read.space, base, read.index, size, read.elements)?;
                slot(out, read.slot)
            }
            Inst::MemWrite(write) => {
                write!(out, "write")?;
                for reg in write.src {
                    write!(out, " ")?;
                    reg_or_none(out, names, reg)?;
                }
                write!(out, " to ")?;
                let (base, size) = (write.base, write.size);
                place(out, names, write.space, base, write.index, size, write.elements)?;
                if write.valid {
                    write!(out, " valid")?;
                }
                slot(out, write.slot)
            }
            Inst::ShareWrite(write) => {
                write!(out, "share write {} of {}", write.index, write.stride)?;
                lanes(out, names, &write.src)
            }
            Inst::ShareRead(read) => {
                results(out, names, &read.dst, &[0, 1, 2, 3])?;
                let (bank, address) = (names.reg(read.bank), names.reg(read.address));
                write!(out, " share read {bank} {address} + {}", read.offset)
            }
            Inst::WaitAck => write!(out, "wait"),
            Inst::Export(export) => {
                write!(out, "export {:?} {}", export.ty, export.base)?;
                lanes(out, names, &export.src)?;
                if export.done { write!(out, " done") } else { Ok(()) }
            }
            Inst::If(test) => {
                write!(out, "if ")?;
                alu(out, names, test)
            }
            Inst::Else => write!(out, "else"),
            Inst::EndIf => write!(out, "endif"),
            Inst::LoopStart => write!(out, "loop"),
            Inst::LoopEnd => write!(out, "endloop"),
            Inst::Break => write!(out, "break"),
            Inst::End => write!(out, "end"),
        }
    }
}

/// Operations with real registers, a line each: those of one group together, numbered.
pub fn run(out: &mut String, groups: &[Vec<Slot>]) {
    for (number, group) in groups.iter().enumerate() {
        for slot in group {
            // Writing to a string never fails.
            let _ = writeln!(out, "    {number:4} {}", slot_text(slot));
        }
    }
}

fn slot_text(slot: &Slot) -> String {
    let rel = |rel: bool| if rel { "[AR]" } else { "" };
    let mut text = match slot.dst {
        Some(dst) => format!("R{}{}.{} = ", dst.gpr, rel(dst.rel), letter(dst.chan)),
        None => String::new(),
    };
    text += slot.op.name();
    for source in slot.sources() {
        let sign = if source.neg { "-" } else { "" };
        let bar = if source.abs { "|" } else { "" };
        let read = match source.read {
            Read::Gpr { gpr, chan, rel: by } => format!("R{gpr}{}.{}", rel(by), letter(chan)),
            Read::Kcache { buffer, index, chan } => format!("C{buffer}[{index}].{}", letter(chan)),
            Read::Literal(bits) => format!("{bits:#x}"),
            Read::Inline(operand) => format!("{operand:?}"),
            Read::Pv(unit) => format!("PV.{}", letter(unit)),
            Read::Ps => "PS".into(),
        };
        text += &format!(" {sign}{bar}{read}{bar}");
    }
    text += ["", " *2", " *4", " /2"][usize::from(slot.omod & 3)];
    if slot.clamp {
        text += " clamp";
    }
    text
}
