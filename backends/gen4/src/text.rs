//! Machine IR as text, one step a line: for dumps and for people.
//!
//! ```text
//! v3 = mul.f.sat v0, -|v1|, 0x3f800000       results, sources with their signs; a number is its bits
//! v4.xyz = add.f v5.xyzw, g3.2:f.xxxx        a vector step: components that are written and read
//! cmp.f.l v0, v1                             sets the flag; `and` and `or` join it with the one before
//! v6 = sel !flag v1, 0x0                     where the flag is not set
//! ```
//! `g3` is a register of the payload, `g3.2` one doubleword of it for all lanes, `g3.2|6` one for each of two vertices.

use crate::inst::{
    Condition, Difference, Function, Inst, Masks, Source, Src, Stack, Swizzled, Test, UPPER,
};
use crate::isa::operand::Type;
use crate::isa::ops::{OPS, Opcode};
use gpucc_ir::mach::{Names, PrintInst, Reg};
use std::fmt::{self, Display, Write};

/// Writes a list with commas.
fn list<T>(
    out: &mut dyn Write,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut dyn Write, T) -> fmt::Result,
) -> fmt::Result {
    for (k, item) in items.into_iter().enumerate() {
        out.write_str(if k == 0 { "" } else { ", " })?;
        each(out, item)?;
    }
    Ok(())
}

fn src(out: &mut dyn Write, names: Names, src: Src) -> fmt::Result {
    match src {
        Src::Reg(reg) => write!(out, "{}", names.reg(reg)),
        Src::Fixed(register) => write!(out, "g{register}"),
        Src::Scalar { register, dword } => write!(out, "g{register}.{dword}"),
        Src::Pair { register, dword } => write!(out, "g{register}.{dword}|{}", dword + 4),
        Src::Part { reg, component } => write!(out, "{}.{}", names.reg(reg), letter(component)),
        Src::Bits(bits) => write!(out, "{bits:#x}"),
        Src::Floats(bits) => write!(out, "{bits:#x}:vf"),
        Src::There => out.write_str("there"),
        Src::Free => out.write_str("_"),
    }
}

fn source(out: &mut dyn Write, names: Names, source: &Source) -> fmt::Result {
    let bar = if source.absolute { "|" } else { "" };
    write!(out, "{}{bar}", if source.negate { "-" } else { "" })?;
    src(out, names, source.src)?;
    out.write_str(bar)
}

fn sources<'a>(
    out: &mut dyn Write,
    names: Names,
    all: impl IntoIterator<Item = &'a Source>,
) -> fmt::Result {
    list(out, all, |out, one| source(out, names, one))
}

fn swizzled(out: &mut dyn Write, names: Names, all: &[Swizzled]) -> fmt::Result {
    list(out, all, |out, one| {
        source(out, names, &one.of)?;
        let letters: String = (0..4).map(|k| letter(one.select >> (2 * k) & 3)).collect();
        write!(out, ".{letters}")
    })
}

/// The register whose other components stay.
fn kept(out: &mut dyn Write, names: Names, keep: Option<&Reg>) -> fmt::Result {
    match keep {
        Some(keep) => write!(out, " onto {}", names.reg(*keep)),
        None => Ok(()),
    }
}

const fn letter(component: u8) -> char {
    ['x', 'y', 'z', 'w'][(component & 3) as usize]
}

fn called(function: Function) -> &'static str {
    match function {
        Function::Inverse => "inv",
        Function::Log => "log",
        Function::Exp => "exp",
        Function::Root => "sqrt",
        Function::InverseRoot => "rsq",
    }
}

/// The components of a mask, behind a point; nothing where registers are of lanes.
fn channels(mask: u8) -> String {
    let letters = (0..4).filter(|k| mask >> k & 1 == 1).map(letter);
    let letters: String = letters.collect();
    if letters.is_empty() { letters } else { format!(".{letters}") }
}

fn name(opcode: Opcode) -> &'static str {
    OPS[opcode as usize].name
}

fn types(to: Type, from: Type) -> String {
    match to == from {
        true => to.name().to_lowercase(),
        false => format!("{}.{}", to.name(), from.name()).to_lowercase(),
    }
}

const fn condition(condition: Condition) -> &'static str {
    match condition {
        Condition::Equal => "e",
        Condition::NotEqual => "ne",
        Condition::Greater => "g",
        Condition::GreaterEqual => "ge",
        Condition::Less => "l",
        Condition::LessEqual => "le",
        Condition::ProductBelowOne => "product",
        Condition::AnyBit => "bits",
        Condition::NoBit => "nobits",
    }
}

fn test(out: &mut dyn Write, names: Names, test: &Test) -> fmt::Result {
    let join = match test.join {
        None => "",
        Some(false) => ".and",
        Some(true) => ".or",
    };
    write!(out, "cmp.{}.{}{join} ", types(test.ty, test.ty), condition(test.condition))?;
    sources(out, names, [&test.first, &test.second])
}

const fn flag(inverse: bool) -> &'static str {
    if inverse { "!flag" } else { "flag" }
}

const fn last(last: bool) -> &'static str {
    if last { " last" } else { "" }
}

/// Memory of a surface, a fixed distance behind the address.
fn place(out: &mut dyn Write, names: Names, address: &Source, at: (u32, u8)) -> fmt::Result {
    out.write_char('[')?;
    source(out, names, address)?;
    write!(out, " + {:#x}] surface {}", at.0, at.1)
}

impl PrintInst for Inst {
    fn print(&self, names: Names, out: &mut dyn Write) -> fmt::Result {
        let result = |out: &mut dyn Write, dst: &Reg, tail: &dyn Display| {
            write!(out, "{}{tail} = ", names.reg(*dst))
        };
        let registers = |out: &mut dyn Write, all: &[Reg]| {
            list(out, all, |out, reg| write!(out, "{}", names.reg(*reg)))
        };
        match self {
            Inst::Alu { opcode, to, dst, from, saturate, sources: all } => {
                result(out, dst, &"")?;
                let sat = if *saturate { ".sat" } else { "" };
                write!(out, "{}.{}{sat} ", name(*opcode), types(*to, *from))?;
                sources(out, names, all)
            }
            Inst::Vector { opcode, to, dst, from, saturate, channels: mask, sources, keep } => {
                result(out, dst, &channels(*mask))?;
                let sat = if *saturate { ".sat" } else { "" };
                write!(out, "{}.{}{sat} ", name(*opcode), types(*to, *from))?;
                swizzled(out, names, sources)?;
                kept(out, names, keep.as_ref())
            }
            Inst::Dot { dst, channels: mask, sources: all, keep } => {
                result(out, dst, &channels(*mask))?;
                out.write_str("dot ")?;
                sources(out, names, all)?;
                kept(out, names, keep.as_ref())
            }
            Inst::Choose { dst, condition: of, ty, channels: mask, inverse, sources, keep } => {
                result(out, dst, &channels(*mask))?;
                let not = if *inverse { ".not" } else { "" };
                write!(out, "choose.{}.{}{not} ", types(*ty, *ty), condition(*of))?;
                swizzled(out, names, sources)?;
                kept(out, names, keep.as_ref())
            }
            Inst::Apply {
                dst,
                condition: of,
                ty,
                channels: mask,
                inverse,
                test,
                opcode,
                to,
                from,
                sources,
                keep,
            } => {
                result(out, dst, &channels(*mask))?;
                let not = if *inverse { ".not" } else { "" };
                write!(out, "apply.{}.{}{not} ", types(*ty, *ty), condition(*of))?;
                swizzled(out, names, test)?;
                write!(out, " {}.{} ", name(*opcode), types(*to, *from))?;
                swizzled(out, names, sources)?;
                write!(out, " else {}", names.reg(*keep))
            }
            Inst::Copy { dst, src } => {
                registers(out, dst)?;
                out.write_str(" = copy ")?;
                registers(out, src)
            }
            Inst::Compare(of) => test(out, names, of),
            Inst::Truth { dst, test: of } => {
                result(out, dst, &"")?;
                test(out, names, of)
            }
            Inst::Flagged { dst, inverse } => {
                result(out, dst, &"")?;
                out.write_str(flag(*inverse))
            }
            Inst::Ballot { dst, source } => {
                result(out, dst, &"ballot ")?;
                sources(out, names, [source])
            }
            Inst::Spread { source } => {
                out.write_str("spread ")?;
                sources(out, names, [source])
            }
            Inst::Lane { dst, lane } => {
                result(out, dst, &"lane ")?;
                write!(out, "{lane}")
            }
            Inst::Gather { dst, bytes } => {
                result(out, dst, &"gather ")?;
                registers(out, &[*bytes])
            }
            Inst::Select { dst, inverse, yes, no } => {
                result(out, dst, &"")?;
                write!(out, "sel {} ", flag(*inverse))?;
                sources(out, names, [yes, no])
            }
            Inst::Piece { opcode, to, dst, ty, byte, source: of, second } => {
                result(out, dst, &"")?;
                write!(out, "{}.{} ", name(*opcode), types(*to, *ty))?;
                source(out, names, of)?;
                write!(out, "[{byte}]")?;
                match second {
                    Some(second) => {
                        out.write_str(", ")?;
                        source(out, names, second)
                    }
                    None => Ok(()),
                }
            }
            Inst::Product { dst, high, first, second } => {
                registers(out, &[*dst, *high])?;
                out.write_str(" = mul.d ")?;
                sources(out, names, [first, second])
            }
            Inst::ProductHigh { dst, ty, first, second } => {
                result(out, dst, &"")?;
                write!(out, "mulh.{} ", types(*ty, *ty))?;
                sources(out, names, [first, second])
            }
            Inst::Math { dst, function, source: of } => {
                result(out, dst, &"")?;
                write!(out, "math.{} ", called(*function))?;
                source(out, names, of)
            }
            Inst::MathVector { dst, function, channels: mask, source: of, keep } => {
                result(out, dst, &channels(*mask))?;
                write!(out, "math.{} ", called(*function))?;
                swizzled(out, names, std::slice::from_ref(of))?;
                kept(out, names, keep.as_ref())
            }
            Inst::Divide { dst, remainder, signed, numerator, denominator } => {
                result(out, dst, &"")?;
                let what = if *remainder { "rem" } else { "div" };
                write!(out, "math.{what}.{} ", if *signed { "d" } else { "ud" })?;
                source(out, names, numerator)?;
                out.write_str(", ")?;
                source(out, names, denominator)
            }
            Inst::Sample { dst, lookup, parameters } => {
                registers(out, dst)?;
                let wide = if lookup.wide { ".wide" } else { "" };
                write!(out, " = sample.{}{wide} ", lookup.message)?;
                sources(out, names, parameters)?;
                write!(out, " surface {} sampler {}", lookup.surface, lookup.sampler)?;
                write!(out, " control {:#x}", lookup.control)
            }
            Inst::Read { dst, address, offset, surface, .. } => {
                result(out, dst, &"")?;
                out.write_str("read ")?;
                place(out, names, address, (*offset, *surface))
            }
            Inst::ReadRow { dst, address, offset, surface } => {
                result(out, dst, &"")?;
                out.write_str("read.row ")?;
                place(out, names, address, (*offset, *surface))
            }
            Inst::Table { dst, offset, first, side } => {
                registers(out, dst)?;
                let side = if side.is_some() { ".side" } else { "" };
                write!(out, " = table{side} [")?;
                source(out, names, offset)?;
                write!(out, " + {first:#x}]")
            }
            Inst::Element { dst, offset, first } => {
                result(out, dst, &"")?;
                write!(out, "element r{first}[")?;
                source(out, names, offset)?;
                out.write_str("]")
            }
            Inst::SetElement { offset, first, value } => {
                write!(out, "element r{first}[")?;
                source(out, names, offset)?;
                out.write_str("] = ")?;
                source(out, names, value)
            }
            Inst::Write { address, value, offset, surface, .. } => {
                out.write_str("write ")?;
                place(out, names, address, (*offset, *surface))?;
                out.write_str(" = ")?;
                source(out, names, value)
            }
            Inst::If { inverse, otherwise } => {
                write!(out, "if {}{}", flag(*inverse), if *otherwise { " else" } else { "" })
            }
            Inst::Else => out.write_str("else"),
            Inst::EndIf => out.write_str("endif"),
            Inst::Do => out.write_str("do"),
            Inst::While { flag: None } => out.write_str("while"),
            Inst::While { flag: Some(inverse) } => write!(out, "while {}", flag(*inverse)),
            Inst::Guard(None) => out.write_str("all:"),
            Inst::Guard(Some(inverse)) => write!(out, "{}:", flag(*inverse)),
            Inst::DemoteWhere(of) => {
                out.write_str("demote ")?;
                test(out, names, of)
            }
            Inst::When { inverse, opcode, to, dst, from, sources: all, keep } => {
                result(out, dst, &"")?;
                write!(out, "when {} {}.{} ", flag(*inverse), name(*opcode), types(*to, *from))?;
                sources(out, names, all)?;
                write!(out, " else {}", names.reg(*keep))
            }
            Inst::Round { dst, source: of } => {
                result(out, dst, &"")?;
                out.write_str("round ")?;
                source(out, names, of)
            }
            Inst::DemoteBy(inverse) => write!(out, "demote {}", flag(*inverse)),
            Inst::Break(depth) => write!(out, "break {depth}"),
            Inst::Masks { stack, register, step } => {
                let stack = match stack {
                    Stack::Conditions => "conditions",
                    Stack::Loops => "loops",
                };
                match step {
                    Masks::Keep => write!(out, "g{register} = {stack}"),
                    Masks::Begin => write!(out, "g{register} = {stack} anew"),
                    Masks::Restore { depth } => write!(out, "{stack} = g{register} of {depth}"),
                }
            }
            Inst::Advance { steps, bytes } => {
                write!(out, "advance {steps}{}", if *bytes { " bytes" } else { "" })
            }
            Inst::Plane { dst, register, dword } => {
                result(out, dst, &"")?;
                write!(out, "plane g{register}.{dword}")
            }
            Inst::Center { dst, axis } => {
                result(out, dst, &"")?;
                write!(out, "center {}", letter(*axis))
            }
            Inst::Difference { dst, source, which } => {
                result(out, dst, &"")?;
                let name = match which {
                    Difference::CoarseX => "x.coarse",
                    Difference::FineX => "x.fine",
                    Difference::CoarseY => "y.coarse",
                    Difference::FineY => "y.fine",
                };
                write!(out, "difference.{name} {}", names.reg(*source))
            }
            Inst::Demote => out.write_str("demote"),
            Inst::Helper { dst } => {
                result(out, dst, &"")?;
                out.write_str("helper")
            }
            Inst::Target { values, depth, target, last: end } => {
                write!(out, "target {target} ")?;
                sources(out, names, values)?;
                if let Some(depth) = depth {
                    out.write_str(" depth ")?;
                    source(out, names, depth)?;
                }
                out.write_str(last(*end))
            }
            Inst::Slot { values, message } => {
                let half = if message & UPPER != 0 { ".4" } else { "" };
                write!(out, "m{}{half} = slot ", message & !UPPER)?;
                sources(out, names, values)
            }
            Inst::Entry { row, count, last: end } => {
                write!(out, "urb {row} count {count}{}", last(*end))
            }
            Inst::Leave { row, count, complete } => {
                write!(out, "urb {row} count {count}{}", if *complete { " complete" } else { "" })
            }
            Inst::Mark { bits, joins } => {
                write!(out, "mark {}{bits:#x}", if *joins { "+ " } else { "" })
            }
            Inst::Close => out.write_str("close"),
            Inst::End => out.write_str("end"),
        }
    }
}
