//! Register regions. G45 vol. 4, 11.3.10; vectors as numbers, 11.3.5.

use super::super::Model;
use super::super::decode::{
    Broken, Compression, File, Instruction, Opcode, Operand, Place, Rows, Source,
};
use super::super::execute::{accumulator, execution};
use super::super::register::BYTES;
use super::super::rows::{distance, extent};
use super::super::rule::Rule;
use super::super::value::Type;
use super::{hold, number, sources};

pub fn check(model: Model, inst: &Instruction) -> Result<(), Broken> {
    sizes(inst)?;
    let compressed = inst.compression == Compression::Compressed;
    // Both halves of a compressed instruction have the same extents.
    let channels = if compressed { inst.channels / 2 } else { inst.channels };
    let half = Instruction { channels, ..*inst };
    let mut two = false;
    for (which, source) in sources(inst) {
        if inst.align16 {
            let wide = source.ty.bytes() == 4;
            hold(wide, Rule::Align16Type, "a source of Align16 has elements of 4 bytes")?;
        }
        rows(inst, source)?;
        indices(model, &half, source, which)?;
        two |= spans(&half, source, which)?;
    }
    destination(model, inst, &half, two)?;
    vector(inst)
}

/// Rule 1: 8 channels of dwords, 16 of words, twice that compressed.
fn sizes(inst: &Instruction) -> Result<(), Broken> {
    let written = (!inst.dst.is_null()).then_some(inst.dst.ty);
    let types = sources(inst).map(|(_, source)| source.ty).chain(number(inst)).chain(written);
    let largest = types.map(Type::bytes).max().unwrap_or(1);
    let native = if largest == 4 { 8 } else { 16 };
    let most = if inst.compression == Compression::Compressed { 2 * native } else { native };
    hold(inst.channels <= most, Rule::ExecutionSize, "more channels than the type allows")
}

/// Rules 3 to 8.
fn rows(inst: &Instruction, source: &Source) -> Result<(), Broken> {
    let Rows::Plain { vertical, width, horizontal } = source.rows else { return Ok(()) };
    let (width, horizontal) = (u32::from(width), u32::from(horizontal));
    hold(inst.channels >= width, Rule::Width, "a row is wider than the execution size")?;
    hold(width > 1 || horizontal == 0, Rule::OneWide, "a horizontal stride of one element")?;
    let Some(vertical) = vertical.map(u32::from) else { return Ok(()) };
    if inst.channels == width && horizontal != 0 {
        let fits = vertical == width * horizontal;
        hold(fits, Rule::RowStride, "the vertical stride of a single row")?;
    }
    let scalar = inst.channels > 1 || width > 1 || vertical == 0;
    hold(scalar, Rule::OneWide, "the strides of a single element")?;
    let one = vertical != 0 || horizontal != 0 || width == 1;
    hold(one, Rule::OneWide, "no strides and a width")
}

/// Rules 13.2 and 13.5, table 11-31, and 11.3.4.4: indices in a group are aligned to their number.
fn indices(model: Model, half: &Instruction, source: &Source, which: usize) -> Result<(), Broken> {
    let Place::Indirect { index, .. } = source.place else { return Ok(()) };
    let early = model.is_early();
    hold(which == 0 || !early, Rule::IndexRows, "the 965 has no index of a second source")?;
    if half.opcode == Opcode::Movi {
        return Ok(());
    }
    let Rows::Plain { vertical: None, width, .. } = source.rows else { return Ok(()) };
    hold(which == 0, Rule::IndexRows, "a second source has one index")?;
    let count = half.channels / u32::from(width).min(half.channels);
    hold(count <= 8, Rule::IndexRows, "more than 8 indices")?;
    let aligned = u32::from(index).is_multiple_of(count.next_power_of_two());
    hold(aligned, Rule::IndexRows, "indices are aligned to their number")?;
    let last = early && count == 2 && index == 6 && width == 1;
    hold(!last, Rule::IndexRows, "two indices of the 965 begin before a0.6")
}

/// Rules 11 and 12; whether the source has two registers.
fn spans(half: &Instruction, source: &Source, which: usize) -> Result<bool, Broken> {
    if accumulator(source.file, source.place).is_some() {
        return Ok(false);
    }
    let Some((low, high)) = extent(half, source) else { return Ok(false) };
    let Rows::Plain { width, vertical, .. } = source.rows else {
        hold(high < BYTES, Rule::Crosses, "a source of Align16 leaves its register")?;
        return Ok(false);
    };
    let scalars = matches!(half.opcode, Opcode::Line | Opcode::Pln) && which == 0;
    if high < BYTES || scalars {
        return Ok(false);
    }
    let one = source.file == File::Architecture;
    hold(!one && high < 2 * BYTES, Rule::Crosses, "a source leaves its two registers")?;
    let width = u32::from(width);
    for first in (0..half.channels).step_by(width as usize) {
        let last = (first + width).min(half.channels) - 1;
        let end = |channel| low + distance(source, channel).unwrap_or(0);
        let inside = end(first) / BYTES == (end(last) + source.ty.bytes() - 1) / BYTES;
        hold(inside, Rule::Crosses, "a row leaves its register")?;
    }
    let stride = u32::from(vertical.unwrap_or(0)) * source.ty.bytes();
    hold(which == 0 || stride == BYTES, Rule::SecondCrosses, "the second source's rows")?;
    Ok(true)
}

/// Rules 9 and 10. `two`: a source has two registers.
fn destination(
    model: Model,
    inst: &Instruction,
    half: &Instruction,
    two: bool,
) -> Result<(), Broken> {
    let dst = &inst.dst;
    let (size, stride) = (dst.ty.bytes(), u32::from(dst.stride));
    hold(stride > 0, Rule::DestinationStride, "a destination's stride of 0")?;
    let late = dst.file != File::Message || matches!(dst.place, Place::Direct { .. });
    hold(late || model == Model::G45, Rule::IndexRows, "the 965 has no index of m0")?;
    if dst.is_null() {
        return Ok(());
    }
    hold(!inst.align16 || size == 4, Rule::Align16Type, "a destination of Align16")?;
    let wide = execution(inst).bytes();
    let raw = matches!(&inst.first, Operand::Register(source)
        if source.ty == dst.ty && !source.absolute && !source.negate && !inst.saturate);
    let packed = size == 1 && stride == 1 && inst.channels > 1;
    let raw_bytes = size == 1 && raw && matches!(inst.opcode, Opcode::Mov | Opcode::Movi);
    hold(!packed || raw_bytes, Rule::PackedBytes, "bytes side by side")?;
    let exempt = raw_bytes || inst.opcode == Opcode::Movi;
    let far = exempt || inst.channels == 1 || stride * size >= wide;
    hold(far, Rule::DestinationStride, "elements closer than the execution type")?;
    let Place::Direct { byte, .. } = dst.place else { return Ok(()) };
    let byte = u32::from(byte);
    let relaxed = size == 1 && model == Model::G45 && byte % wide == 1;
    let aligned = exempt || byte.is_multiple_of(wide) || relaxed;
    hold(aligned, Rule::DestinationAligned, "a destination's byte")?;
    let end = byte + (half.channels - 1) * stride * size + size;
    hold(end <= BYTES, Rule::Crosses, "a destination leaves its register")?;
    if two {
        let lower = (0..half.channels).filter(|at| byte + at * stride * size < BYTES / 2).count();
        let lower = lower as u32;
        let fits = lower == 0 || lower == half.channels || 2 * lower == half.channels;
        hold(fits, Rule::SplitDestination, "a destination split unevenly")?;
    }
    Ok(())
}

/// 11.3.5; 13.2.3, note 2.
fn vector(inst: &Instruction) -> Result<(), Broken> {
    let Some(ty @ (Type::V | Type::Vf)) = number(inst) else { return Ok(()) };
    let step = u32::from(inst.dst.stride) * inst.dst.ty.bytes();
    let apart = inst.channels == 1 || step == ty.bytes();
    hold(apart, Rule::Vector, "the destination's stride beside a vector")?;
    if let Place::Direct { byte, .. } = inst.dst.place {
        hold(byte % 16 == 0, Rule::Vector, "the destination's byte beside a vector")?;
    }
    let words = ty != Type::V || sources(inst).all(|(_, source)| source.ty.bytes() < 4);
    let words = words && sources(inst).all(|(_, source)| ty != Type::V || !source.ty.is_float());
    hold(words, Rule::Vector, "a vector of integers stands beside words")
}
