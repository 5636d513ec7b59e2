//! Words to text, in the syntax of the public assembler.

use super::TABLE;
use super::fields::{self, f};
use super::ops::Opcode;
use super::rules::{self, Broken};
use super::source::{CONSTANTS, SourceByte};
use gpucc_isa::{DecodeError, Enum, Field, Inst, Kind};
use std::fmt::Write;

/// Why a word is no instruction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WordError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("{op}: {rule}")]
    Rule { op: &'static str, rule: Broken },
}

/// Reads one word: layout, reserved values and rules.
///
/// # Errors
/// What is reserved or which rule is broken.
pub fn decode_word(word: u64) -> Result<Inst, WordError> {
    let inst = TABLE.decode(u128::from(word))?;
    rules::check(&inst).map_err(|rule| WordError::Rule { op: inst.op().name, rule })?;
    Ok(inst)
}

/// One word as one line of text.
///
/// # Errors
/// As [`decode_word`].
pub fn disassemble_word(word: u64) -> Result<String, WordError> {
    Ok(text_of(&decode_word(word)?))
}

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// One instruction as one line of text. Source bytes that mean nothing print as `?`: decode first.
pub fn text_of(inst: &Inst) -> String {
    let opcode = Opcode::of(inst.op());
    let shape = opcode.shape();
    let mut out = String::with_capacity(48);
    out.push_str(inst.op().name);
    for &id in shape.modifiers {
        if let Some(field) = inst.op().format.field(id)
            && !inst.op().is_fixed(field)
        {
            write_modifier(&mut out, field, inst.get(id));
        }
    }
    if silent_page(inst) != 0 {
        put!(out, ".fau_page{}", inst.get(f::FAU_PAGE));
    }
    match inst.get(f::FLOW) {
        0 => {}
        flow => put!(out, ".{}", fields::FLOW.name_of(flow).unwrap_or("?")),
    }
    let mut between = " ";
    if shape.dst.is_some() {
        put!(out, "{between}r{}", inst.get(f::DST));
        if let Some(field) = inst.op().format.field(f::DST_MASK) {
            write_modifier(&mut out, field, inst.get(f::DST_MASK));
        }
        between = ", ";
    }
    let (read, written) = rules::staging(inst);
    for (first, count) in written.into_iter().chain(read) {
        put!(out, "{between}@");
        for register in first..first + count {
            if register > first {
                out.push(':');
            }
            put!(out, "r{register}");
        }
        between = ", ";
    }
    for (i, source) in shape.sources.iter().enumerate() {
        out.push_str(between);
        between = ", ";
        let page = inst.get(f::FAU_PAGE) as u8;
        write_source(&mut out, inst.get(source.field) as u8, page);
        let flag = |id: Option<_>| id.is_some_and(|id| inst.flag(id));
        if flag(source.neg()) {
            out.push_str(".neg");
        }
        if flag(source.abs()) {
            out.push_str(".abs");
        }
        let selection = source.swizzle().into_iter().chain((i == 0).then_some(f::COMBINE));
        for id in selection {
            if let Some(field) = inst.op().format.field(id) {
                write_modifier(&mut out, field, inst.get(id));
            }
        }
        if i == 2 && inst.flag(f::NOT2) {
            out.push_str(".not");
        }
    }
    for &id in shape.immediates {
        let Some(field) = inst.op().format.field(id) else {
            continue;
        };
        let value = inst.get(id);
        match (id, field.kind) {
            (f::IMM, _) => put!(out, "{between}#{value:#X}"),
            (_, Kind::Signed) => put!(out, "{between}{}:{}", field.name, field.signed(value)),
            _ => put!(out, "{between}{}:{value:#X}", field.name),
        }
        between = ", ";
    }
    // The public syntax writes the digits of constants in capitals behind a small x.
    out.replace("0X", "0x")
}

/// The page where no source says it.
fn silent_page(inst: &Inst) -> u32 {
    let page = inst.get(f::FAU_PAGE);
    let said = Opcode::of(inst.op()).sources().iter().any(|source| {
        SourceByte::decode(inst.get(source.field) as u8, page as u8)
            .is_some_and(|byte| byte.page().is_some())
    });
    if said { 0 } else { page }
}

/// Whether the text always says which value it is.
pub(super) fn always_written(set: &'static Enum) -> bool {
    fields::ALWAYS_WRITTEN.iter().any(|known| std::ptr::eq(*known, set))
}

fn write_modifier(out: &mut String, field: &Field, value: u32) {
    match field.kind {
        Kind::Enum(set) if value != field.default || always_written(set) => {
            put!(out, ".{}", set.name_of(value).unwrap_or("?"));
        }
        Kind::Flag if value != 0 => put!(out, ".{}", field.name),
        _ => {}
    }
}

fn write_source(out: &mut String, byte: u8, page: u8) {
    match SourceByte::decode(byte, page) {
        Some(SourceByte::Register { index, last }) => {
            put!(out, "{}r{index}", if last { "^" } else { "" })
        }
        Some(SourceByte::Uniform(word)) => put!(out, "u{word}"),
        Some(SourceByte::Constant(number)) => {
            let value = CONSTANTS[usize::from(number)];
            if SourceByte::constant(value) == Some(SourceByte::Constant(number)) {
                put!(out, "{value:#X}")
            } else {
                put!(out, "lut{number}")
            }
        }
        Some(SourceByte::Special { what, word }) => put!(out, "{}.w{word}", what.name()),
        None => out.push('?'),
    }
}
