//! Machine IR as text, one instruction a line: for dumps and for people.

use crate::inst::{Alu, Inst, Lane, Omod, Source, Space, Src};
use crate::slot::{Read, Slot};
use gpucc_ir::mach::{self, Func, Names, Reg};
use std::fmt::{self, Write};

/// The function as text.
pub fn print(func: &Func<Inst>) -> String {
    mach::print(func)
}

fn source(out: &mut dyn Write, names: Names, source: &Source) -> fmt::Result {
    let sign = if source.neg { "-" } else { "" };
    let bar = if source.abs { "|" } else { "" };
    write!(out, "{sign}{bar}")?;
    match source.src {
        Src::Reg(reg) => write!(out, "{}", names.reg(reg))?,
        Src::Const {
            buffer,
            index,
            chan,
        } => {
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
    if alu.clamp {
        write!(out, " clamp")
    } else {
        Ok(())
    }
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

fn regs(out: &mut dyn Write, names: Names, list: &[Option<Reg>; 4]) -> fmt::Result {
    for reg in list {
        match reg {
            Some(reg) => write!(out, " {}", names.reg(*reg))?,
            None => write!(out, " _")?,
        }
    }
    Ok(())
}

const fn space(space: Space) -> &'static str {
    match space {
        Space::Scratch => "scratch",
        Space::Scatter => "scatter",
        Space::Stream(_) => "stream",
    }
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
                if *clamp {
                    write!(out, " clamp")
                } else {
                    Ok(())
                }
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
                for reg in double.dst.iter().flatten() {
                    write!(out, "{} ", names.reg(*reg))?;
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
                for (d, s) in dst.iter().zip(src) {
                    write!(out, "{}={} ", names.reg(*d), names.reg(*s))?;
                }
                write!(out, "copy")
            }
            Inst::ArrayRead { dst, from } => {
                write!(out, "{} = {}[", names.reg(*dst), names.reg(from.array))?;
                source(out, names, &from.index)?;
                write!(out, " + {}]", from.offset)
            }
            Inst::ArrayWrite { to, value, .. } => {
                write!(out, "{}[", names.reg(to.array))?;
                source(out, names, &to.index)?;
                write!(out, " + {}] = ", to.offset)?;
                source(out, names, value)
            }
            Inst::ArrayNew { array } => write!(out, "{} = array", names.reg(*array)),
            Inst::Vertex(fetch) => {
                regs(out, names, &fetch.dst)?;
                write!(
                    out,
                    " = VFETCH {} from {} + {} format {}",
                    names.reg(fetch.index),
                    fetch.resource,
                    fetch.offset,
                    fetch.data_format
                )
            }
            Inst::Texture(fetch) => {
                regs(out, names, &fetch.dst)?;
                write!(out, " = {}", fetch.op.name())?;
                lanes(out, names, &fetch.src)?;
                write!(out, " from {} sampler {}", fetch.resource, fetch.sampler)?;
                for src in fetch.gradients.iter().flat_map(|both| both.iter()) {
                    write!(out, " gradient")?;
                    lanes(out, names, src)?;
                }
                Ok(())
            }
            Inst::MemRead(read) => {
                regs(out, names, &read.dst)?;
                write!(out, " = read {} {}", space(read.space), read.base)?;
                if let Some(index) = read.index {
                    write!(out, " + {}", names.reg(index))?;
                }
                Ok(())
            }
            Inst::MemWrite(write) => {
                write!(out, "write {} {}", space(write.space), write.base)?;
                if let Some(index) = write.index {
                    write!(out, " + {}", names.reg(index))?;
                }
                regs(out, names, &write.src)
            }
            Inst::ShareWrite(write) => {
                write!(out, "share write {} of {}", write.index, write.stride)?;
                lanes(out, names, &write.src)
            }
            Inst::ShareRead(read) => {
                regs(out, names, &read.dst)?;
                let (bank, address) = (names.reg(read.bank), names.reg(read.address));
                write!(out, " = share read {bank} {address} + {}", read.offset)
            }
            Inst::WaitAck => write!(out, "wait"),
            Inst::Export(export) => {
                write!(out, "export {:?} {}", export.ty, export.base)?;
                lanes(out, names, &export.src)?;
                if export.done {
                    write!(out, " done")
                } else {
                    Ok(())
                }
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
            Read::Kcache {
                buffer,
                index,
                chan,
            } => format!("C{buffer}[{index}].{}", letter(chan)),
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
