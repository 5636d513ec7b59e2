//! Register regions. G45 vol. 4, 11.3.10.

use super::{Chip, Rule, Word, architecture, destination_stride, hold, is_byte, is_null, stride};
use crate::isa::fields::f;
use crate::isa::operand::{File, Operand, Place, Region, Type};
use crate::isa::ops::Opcode;

/// Bytes of a register.
const REGISTER: u32 = 32;
/// The code of a vertical stride that stands for an index a row.
const VXH: u32 = 15;

pub fn check(word: &Word<'_>) -> Result<(), Rule> {
    sizes(word)?;
    let registers = word.sources.iter().chain([&word.dst]).flatten();
    let wide = |operand: &Operand| is_null(operand) || operand.ty.bytes() == 4;
    hold(!word.align16 || registers.into_iter().all(wide), Rule::Align16Row)?;
    for (number, source) in word.sources.iter().enumerate() {
        if let Some(source) = source.filter(|source| !is_null(source)) {
            rows(word, &source)?;
            indices(word, &source, number)?;
            extent(word, &source, number)?;
        }
    }
    if let Some(dst) = word.dst {
        let indirect = dst.file == File::Mrf && matches!(dst.place, Place::Indirect { .. });
        hold(!(indirect && word.chip.early()), Rule::IndirectMessage)?;
        destination(word, &dst)?;
        if word.chip == Chip::Gm965 {
            index_seven(&dst)?;
        }
    }
    Ok(())
}

/// Rule 1.
fn sizes(word: &Word<'_>) -> Result<(), Rule> {
    let written = word.dst.filter(|dst| !is_null(dst)).map(|dst| dst.ty);
    let largest = word.source_types().chain(written).map(Type::bytes).max().unwrap_or(1);
    // What compression halves is the native size; scalars of the control registers count as all else.
    let most = if largest == 4 { 8 } else { 16 };
    hold(word.half() <= most, Rule::ExecSizeType)
}

/// Rules 3 to 8.
fn rows(word: &Word<'_>, source: &Operand) -> Result<(), Rule> {
    let Region::Rows { vertical, width, horizontal } = source.region else {
        return Ok(());
    };
    let (width, columns) = (1 << width, stride(horizontal));
    hold(word.size >= width, Rule::WidthAboveSize)?;
    hold(width != 1 || columns == 0, Rule::WidthOneStride)?;
    if vertical == VXH {
        return Ok(());
    }
    let rows = stride(vertical);
    if word.size == width && columns != 0 {
        hold(rows == width * columns, Rule::RowStride)?;
    }
    hold(word.size != 1 || width != 1 || rows == 0, Rule::ScalarStride)?;
    hold(rows != 0 || columns != 0 || width == 1, Rule::ScalarWidth)
}

/// Rules 13.2, 13.5, 13.6, and the table of indirect sources.
fn indices(word: &Word<'_>, source: &Operand, number: usize) -> Result<(), Rule> {
    let Place::Indirect { index, .. } = source.place else {
        return Ok(());
    };
    if number == 1 {
        hold(word.chip != Chip::I965, Rule::IndirectSecond)?;
    }
    if let Region::Rows { vertical: VXH, width, .. } = source.region {
        hold(number == 0, Rule::IndirectSecondRows)?;
        let two = word.half() == 2 << width;
        hold(!(word.chip.early() && two && index == 6), Rule::IndexSix)?;
    }
    match word.chip {
        Chip::Gm965 => index_seven(source),
        _ => Ok(()),
    }
}

fn index_seven(operand: &Operand) -> Result<(), Rule> {
    let seven = matches!(operand.place, Place::Indirect { index: 7, offset: ..0 });
    hold(!(seven && is_byte(operand.ty)), Rule::IndexSeven)
}

/// Rules 11 and 12 of a source whose registers are named, for one of the halves.
fn extent(word: &Word<'_>, source: &Operand, number: usize) -> Result<(), Rule> {
    let Place::Direct { byte, .. } = source.place else {
        return Ok(());
    };
    if architecture(source).is_some() {
        return Ok(());
    }
    let bytes = source.ty.bytes();
    match source.region {
        Region::Rows { vertical, width, horizontal } => {
            let (row, columns) = (stride(vertical) * bytes, stride(horizontal) * bytes);
            let width = (1 << width).min(word.half());
            let mut end = byte;
            for at in 0..word.half() / width {
                let first = byte + at * row;
                let last = first + (width - 1) * columns + bytes - 1;
                hold(first / REGISTER == last / REGISTER, Rule::RowCrosses)?;
                end = end.max(last);
            }
            hold(end < 2 * REGISTER, Rule::SourceTwoRegisters)?;
            let crosses = end >= REGISTER;
            hold(!(crosses && number == 1) || row == REGISTER, Rule::SecondCrosses)?;
            if crosses {
                split(word)?;
            }
            Ok(())
        }
        Region::Swizzled { vertical, .. } => {
            let groups = if vertical == 0 { 1 } else { (word.half() / 4).max(1) };
            hold(byte + groups * 4 * bytes <= REGISTER, Rule::Align16Crosses)
        }
        Region::Stride(_) | Region::Masked { .. } => Ok(()),
    }
}

/// Rule 10.4: what is written of one register while a source comes from two.
fn split(word: &Word<'_>) -> Result<(), Rule> {
    let Some(dst) = word.dst.filter(|dst| !is_null(dst)) else {
        return Ok(());
    };
    let Place::Direct { byte, .. } = dst.place else {
        return Ok(());
    };
    let step = destination_stride(&dst) * dst.ty.bytes();
    let lower = (0..word.half()).filter(|channel| (byte + channel * step) % REGISTER < 16).count();
    let all = word.half() as usize;
    hold(lower == 0 || lower == all || 2 * lower == all, Rule::SplitDestination)
}

/// A mov that changes no bit: one type, no modifier, no saturation, no condition. So does movi, whose own rule puts its
/// elements side by side (14.2.26).
fn raw_move(word: &Word<'_>, dst: &Operand) -> bool {
    if word.opcode == Opcode::Movi {
        return true;
    }
    let inst = word.inst();
    let plain = !inst.flag(f::SATURATE) && inst.get(f::COND_MODIFIER) == 0;
    word.opcode == Opcode::Mov
        && plain
        && word.sources[0].is_some_and(|source| source.ty == dst.ty && source.modifier == 0)
}

/// Rules 9 and 10.
fn destination(word: &Word<'_>, dst: &Operand) -> Result<(), Rule> {
    if let Region::Stride(code) = dst.region {
        hold(code != 0, Rule::DestinationStrideZero)?;
    }
    if is_null(dst) {
        return Ok(());
    }
    let bytes = dst.ty.bytes();
    let step = destination_stride(dst) * bytes;
    let raw = raw_move(word, dst);
    let execution = word.execution().bytes();
    if is_byte(dst.ty) {
        let packed = step == 1;
        hold(!packed || raw || word.size == 1, Rule::PackedBytes)?;
    }
    let free = raw && (is_byte(dst.ty) || bytes >= execution);
    if !free {
        hold(word.size == 1 || step >= execution, Rule::DestinationStride)?;
        if let Place::Direct { byte, .. } = dst.place {
            match (is_byte(dst.ty), byte % execution) {
                (_, 0) => {}
                (true, 1) => hold(!word.chip.early(), Rule::RelaxedBytes)?,
                _ => return Err(Rule::DestinationAlignment),
            }
        }
    }
    let Place::Direct { byte, .. } = dst.place else {
        return Ok(());
    };
    if dst.file == File::Arf {
        return Ok(());
    }
    let end = byte + (word.half() - 1) * step + bytes;
    hold(end <= REGISTER, Rule::DestinationCrosses)
}
