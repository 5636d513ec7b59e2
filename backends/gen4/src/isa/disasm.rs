//! Words to text, in the syntax of the public i965 assembler.

use super::fields::{self as l, f};
use super::implied::{Raw, implied, repeated};
use super::operand::{ARCHITECTURE, COMPR4, File, IP, Operand, Place, Region, Role, Type};
use super::ops::{Opcode, Shape};
use super::{Decoded, Machine, message};
use gpucc_isa::Inst;
use std::fmt::Write;

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// Names of predicate controls in Align1. 13.2.2.
pub(super) const PREDICATES: [&str; 12] = [
    "", "", ".anyv", ".allv", ".any2h", ".all2h", ".any4h", ".all4h", ".any8h", ".all8h",
    ".any16h", ".all16h",
];
/// The same in Align16.
pub(super) const PREDICATES16: [&str; 8] = ["", "", ".x", ".y", ".z", ".w", ".any4h", ".all4h"];

/// One instruction as one line of text.
pub fn text_of(machine: Machine, decoded: &Decoded) -> String {
    let inst = &decoded.inst;
    let opcode = Opcode::of(inst.op());
    let mut out = String::with_capacity(80);
    if opcode.shape() == Shape::Special {
        out.push_str(inst.op().name);
        out.push_str(if inst.flag(f::DEBUG_CTRL) { " { breakpoint };" } else { " ;" });
        return out;
    }
    head(&mut out, inst);
    let compressed = inst.get(f::COMPR_CTRL) == 2;
    let operands = &decoded.operands;
    let mut said = |operand: &Option<Operand>, role| {
        if let Some(operand) = operand {
            out.push(' ');
            write_operand(&mut out, operand, role, compressed);
        }
    };
    match opcode.shape() {
        Shape::Special | Shape::Do => {}
        Shape::Unary | Shape::Binary => {
            said(&operands.dst, Role::Destination);
            said(&operands.src0, Role::Source);
            said(&operands.src1, Role::Source);
            if File::of(inst.get(f::SRC0_FILE)) == File::Imm {
                write_number(&mut out, inst.get(f::SRC0_TYPE), inst.get(f::SRC1));
            } else if File::of(inst.get(f::SRC1_FILE)) == File::Imm {
                write_number(&mut out, inst.get(f::SRC1_TYPE), inst.get(f::SRC1));
            }
        }
        Shape::Wait => said(&operands.dst, Role::Destination),
        Shape::Jump => {
            said(&operands.src1, Role::Source);
            if File::of(inst.get(f::SRC1_FILE)) == File::Imm {
                write_number(&mut out, inst.get(f::SRC1_TYPE), inst.get(f::SRC1));
            }
        }
        Shape::Branch { jump, pop } => {
            let count = i32::from(inst.get(f::JUMP_COUNT) as u16 as i16);
            let levels = inst.get(f::POP_COUNT);
            if jump || count != 0 {
                put!(out, " Jump: {count}");
            }
            if pop || levels != 0 {
                put!(out, " Pop: {levels}");
            }
        }
        Shape::Send => {
            put!(out, " {}", inst.get(f::MRF));
            let mut said = |operand: &Option<Operand>, role| {
                if let Some(operand) = operand {
                    out.push(' ');
                    write_operand(&mut out, operand, role, compressed);
                }
            };
            said(&operands.dst, Role::Destination);
            said(&operands.src0, Role::Source);
            said(&operands.src1, Role::Source);
            let descriptor = inst.get(f::SRC1);
            let name = message::function(descriptor);
            match name {
                Some(name) => put!(out, " {descriptor:#010x} {name}"),
                None => put!(out, " {descriptor:#010x} function{}", descriptor >> 24 & 15),
            }
            out.push_str(" MsgDesc:");
            if operands.src1.is_some() {
                out.push_str(" indirect");
            } else {
                out.push_str(&message::describe(machine, descriptor));
            }
        }
    }
    options(&mut out, decoded, opcode);
    out
}

/// Predicate, mnemonic, condition, size.
fn head(out: &mut String, inst: &Inst) {
    let flag = inst.get(f::FLAG_SUBREG);
    let align16 = inst.flag(f::ACCESS_MODE);
    let predicate = inst.get(f::PRED_CTRL) as usize;
    if predicate != 0 {
        let sign = if inst.flag(f::PRED_INV) { '-' } else { '+' };
        let names: &[&str] = if align16 { &PREDICATES16 } else { &PREDICATES };
        put!(out, "({sign}f0.{flag}{}) ", names[predicate]);
    }
    out.push_str(inst.op().name);
    if inst.flag(f::SATURATE) {
        out.push_str(".sat");
    }
    match inst.get(f::COND_MODIFIER) {
        0 => {}
        code => put!(out, ".{}.f0.{flag}", l::COND_E.name_of(code).unwrap_or("?")),
    }
    put!(out, "({})", l::EXEC_E.name_of(inst.get(f::EXEC_SIZE)).unwrap_or("?"));
}

/// The braces: what is not said before them.
fn options(out: &mut String, decoded: &Decoded, opcode: Opcode) {
    let inst = &decoded.inst;
    let align16 = inst.flag(f::ACCESS_MODE);
    out.push_str(if align16 { " { align16" } else { " { align1" });
    if inst.flag(f::MASK_CTRL) {
        out.push_str(" nomask");
    }
    out.push_str(match (inst.flag(f::NO_DD_CLR), inst.flag(f::NO_DD_CHK)) {
        (false, false) => "",
        (true, false) => " NoDDClr",
        (false, true) => " NoDDChk",
        (true, true) => " NoDDClr,NoDDChk",
    });
    out.push_str(match inst.get(f::COMPR_CTRL) {
        0 => "",
        1 => " sechalf",
        _ if wide(decoded) => " compr4",
        _ => " compr",
    });
    if decoded.compact {
        out.push_str(" compacted");
    }
    out.push_str(match inst.get(f::THREAD_CTRL) {
        0 => "",
        1 => " atomic",
        _ => " switch",
    });
    if opcode.shape() == Shape::Send && inst.get(f::SRC1) >> 31 == 1 {
        out.push_str(" EOT");
    }
    if inst.flag(f::DEBUG_CTRL) {
        out.push_str(" breakpoint");
    }
    let said = inst.get(f::PRED_CTRL) != 0;
    if !said && inst.flag(f::PRED_INV) {
        out.push_str(" predinv");
    }
    if !said && inst.get(f::COND_MODIFIER) == 0 && inst.flag(f::FLAG_SUBREG) {
        out.push_str(" flag(1)");
    }
    match inst.get(f::GFX5_SFID) {
        0 => {}
        code => put!(out, " gfx5_sfid({code})"),
    }
    let mut implied = implied(opcode, align16, inst.get(f::EXEC_SIZE));
    if opcode.shape() == Shape::Wait {
        implied.src0 = decoded.operands.dst.as_ref().and_then(repeated);
    }
    let raw = |file, ty, bits| Raw { file: inst.get(file), ty: inst.get(ty), bits: inst.get(bits) };
    let compressed = inst.get(f::COMPR_CTRL) == 2;
    let operands = &decoded.operands;
    let unsaid = opcode.shape() == Shape::Wait;
    let rows = [
        (
            implied.dst.is_some_and(|known| known != raw(f::DST_FILE, f::DST_TYPE, f::DST)),
            "dst",
            &operands.dst,
            Role::Destination,
        ),
        (
            implied.src0.is_some_and(|known| known != raw(f::SRC0_FILE, f::SRC0_TYPE, f::SRC0))
                || unsaid && implied.src0.is_none(),
            "src0",
            &operands.src0,
            Role::Source,
        ),
        (
            implied.src1.is_some_and(|known| known != raw(f::SRC1_FILE, f::SRC1_TYPE, f::SRC1)),
            "src1",
            &operands.src1,
            Role::Source,
        ),
    ];
    for (other, name, operand, role) in rows {
        if let (true, Some(operand)) = (other, operand) {
            put!(out, " {name}(");
            write_operand(out, operand, role, compressed);
            out.push(')');
        }
    }
    if inst.get(f::SRC1_TYPE) != usual_second_type(inst, opcode) {
        put!(out, " src1_type({})", inst.get(f::SRC1_TYPE));
    }
    out.push_str(" };");
}

/// The type of a second source that the text does not say.
pub(super) fn usual_second_type(inst: &Inst, opcode: Opcode) -> u32 {
    match opcode.shape() {
        // Encoders repeat the type of a number.
        Shape::Unary | Shape::Wait => match File::of(inst.get(f::SRC0_FILE)) {
            File::Imm => inst.get(f::SRC0_TYPE),
            _ => 0,
        },
        Shape::Branch { .. } => 1,
        Shape::Send if File::of(inst.get(f::SRC1_FILE)) == File::Imm => 0,
        _ => inst.get(f::SRC1_TYPE),
    }
}

/// The halves of a compressed instruction write message registers 4 apart.
fn wide(decoded: &Decoded) -> bool {
    decoded.operands.dst.is_some_and(|dst| match dst.place {
        Place::Direct { register, .. } => dst.file == File::Mrf && register & COMPR4 != 0,
        Place::Indirect { .. } => false,
    })
}

fn write_operand(out: &mut String, operand: &Operand, role: Role, compressed: bool) {
    out.push_str(match operand.modifier {
        0 => "",
        1 => "(abs)",
        2 => "-",
        _ => "-(abs)",
    });
    if *operand == ip(operand.region, role) {
        out.push_str("ip");
        return;
    }
    match operand.place {
        Place::Direct { register, byte } => {
            match operand.file {
                File::Grf | File::Imm => put!(out, "g{register}"),
                File::Mrf if compressed => put!(out, "m{}", register & !COMPR4),
                File::Mrf => put!(out, "m{register}"),
                File::Arf => {
                    let known = ARCHITECTURE.iter().find(|(code, ..)| *code == register >> 4);
                    let name = known.map_or("?", |(_, name, _)| name);
                    out.push_str(name);
                    if !matches!(register, 0 | IP) {
                        put!(out, "{}", register & 15);
                    }
                }
            }
            if byte != 0 {
                put!(out, ".{}", byte / operand.ty.bytes());
            }
        }
        Place::Indirect { index, offset } => {
            out.push(if operand.file == File::Mrf { 'm' } else { 'g' });
            out.push_str("[a0");
            if index != 0 || role == Role::Destination {
                put!(out, ".{index}");
            }
            if offset != 0 {
                put!(out, " {offset}");
            }
            out.push(']');
        }
    }
    let horizontal = |code: u32| l::HORZ_E.name_of(code).unwrap_or("?");
    let vertical = |code: u32| l::VERT_INDIRECT_E.name_of(code).unwrap_or("?");
    match operand.region {
        Region::Stride(stride) => put!(out, "<{}>", horizontal(stride)),
        Region::Masked { stride, channels } => {
            put!(out, "<{}>", horizontal(stride));
            match channels {
                15 => {}
                0 => out.push_str(".none"),
                _ => {
                    out.push('.');
                    (0..4)
                        .filter(|channel| channels >> channel & 1 == 1)
                        .for_each(|channel| out.push(CHANNELS[channel]));
                }
            }
        }
        Region::Rows { vertical: rows, width, horizontal: columns } => {
            let width = l::WIDTH_E.name_of(width).unwrap_or("?");
            put!(out, "<{},{width},{}>", vertical(rows), horizontal(columns));
        }
        Region::Swizzled { vertical: rows, select } => {
            put!(out, "<{}>", vertical(rows));
            let channel = |at: u32| CHANNELS[(select >> (2 * at) & 3) as usize];
            match select {
                0xe4 => {}
                _ if (1..4).all(|at| channel(at) == channel(0)) => put!(out, ".{}", channel(0)),
                _ => {
                    out.push('.');
                    (0..4).for_each(|at| out.push(channel(at)));
                }
            }
        }
    }
    out.push_str(operand.ty.name());
}

/// Names of the four channels of Align16.
pub(super) const CHANNELS: [char; 4] = ['x', 'y', 'z', 'w'];

/// The instruction pointer as its bare name stands for it.
pub(super) fn ip(like: Region, role: Role) -> Operand {
    let region = match (like, role) {
        (Region::Stride(_), _) => Region::Stride(1),
        (Region::Masked { .. }, _) => Region::Masked { stride: 1, channels: 15 },
        (Region::Rows { .. }, _) => Region::Rows { vertical: 0, width: 0, horizontal: 0 },
        (Region::Swizzled { .. }, _) => Region::Swizzled { vertical: 3, select: 0xe4 },
    };
    let place = Place::Direct { register: IP, byte: 0 };
    Operand { file: File::Arf, ty: Type::Ud, place, region, modifier: 0 }
}

fn write_number(out: &mut String, code: u32, value: u32) {
    match Type::of(File::Imm, code) {
        Some(ty @ (Type::D | Type::W)) => {
            let number = if ty == Type::D { value as i32 } else { i32::from(value as u16 as i16) };
            put!(out, " {number}{}", ty.name());
        }
        Some(Type::Uw) => put!(out, " {:#06x}UW", value & 0xffff),
        Some(ty @ (Type::Ud | Type::V)) => put!(out, " {value:#010x}{}", ty.name()),
        Some(ty) => put!(out, " {value:#x}{}", ty.name()),
        None => put!(out, " ?"),
    }
}
