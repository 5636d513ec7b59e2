//! Execution of moves, logic and arithmetic: regions are gathered, channels computed, enabled ones written.
//! G45 vol. 4, 11.3.6 to 11.3.11, 11.5.2; isa/gen4.md 1.4, 1.5.

use super::Model;
use super::alu::{Input, Mode, Output};
use super::control::{self, Channels};
use super::decode::{
    ACCUMULATOR, COMPR4, Compression, Condition, File, Instruction, Opcode, Operand, Place, Rows,
    Source,
};
use super::register::{BYTES, Fault, Registers, aligned, span};
use super::rows::{crosses, extent, gather, indexed};
use super::rule::Rule;
use super::thread::{Thread, is_second_half};
use super::value::{Execution, Raw, Type, Wide, element};

/// Executes an instruction that computes: both halves of a compressed one in turn. 11.5.2.
///
/// # Errors
/// The rule that it breaks.
pub fn execute(thread: &mut Thread, inst: &Instruction) -> Result<(), Fault> {
    if inst.compression != Compression::Compressed {
        return half(thread, inst);
    }
    for inst in halves(thread.model, inst) {
        half(thread, &inst)?;
    }
    Ok(())
}

/// The two instructions that a compressed one stands for. 11.5.2.
pub fn halves(model: Model, inst: &Instruction) -> [Instruction; 2] {
    let mut first =
        Instruction { compression: Compression::Normal, channels: inst.channels / 2, ..*inst };
    let mut second =
        Instruction { compression: Compression::SecondHalf, channels: inst.channels / 2, ..*inst };
    second.message = (inst.message + 1) & 15;
    match (inst.dst.file, &mut first.dst.place, &mut second.dst.place) {
        (
            File::Message,
            Place::Direct { register: first, .. },
            Place::Direct { register: second, .. },
        ) => {
            let step = if *first & COMPR4 == 0 { 1 } else { 4 };
            *first &= !COMPR4;
            *second = *first + step;
        }
        (_, _, Place::Indirect { index, .. }) => *index |= 1,
        (_, _, Place::Direct { register, .. }) if !inst.dst.is_null() => *register |= 1,
        _ => {}
    }
    let dwords = inst.channels == 16 && inst.dst.ty.bytes() == 4 && inst.dst.stride == 1;
    for (number, operand) in [&mut second.first, &mut second.second].into_iter().enumerate() {
        let Operand::Register(source) = operand else { continue };
        if source.is_null() {
            continue;
        }
        let scalar = source.is_scalar();
        let packed = dwords && is_packed(source);
        match &mut source.place {
            // The 965 advances an index of a scalar too.
            Place::Indirect { index, .. } if !scalar || model.is_early() => *index |= 1,
            Place::Direct { register, .. } if inst.opcode == Opcode::Pln && number == 1 => {
                *register += 2;
            }
            Place::Direct { .. } if scalar => {}
            Place::Direct { byte, .. } if packed => *byte |= 16,
            Place::Direct { register, .. } => *register |= 1,
            Place::Indirect { .. } => {}
        }
    }
    [first, second]
}

/// Words side by side, or bytes as far apart: 8 channels take half of a register.
pub fn is_packed(source: &Source) -> bool {
    let Rows::Plain { horizontal, .. } = source.rows else { return false };
    u32::from(horizontal) * source.ty.bytes() == 2
}

/// One instruction of at most 16 channels.
fn half(thread: &mut Thread, inst: &Instruction) -> Result<(), Fault> {
    let channels = control::channels(inst, &thread.registers, true)?;
    let selects = inst.opcode == Opcode::Sel;
    let executed = if selects { channels.enabled } else { channels.executed() };
    packed_bytes(inst, executed)?;
    let mut outputs = compute(thread, inst, channels, executed)?;
    write_accumulator(thread, inst, executed, &mut outputs);
    if inst.condition != Condition::None {
        let shift = 16 * u32::from(inst.flag)
            + if is_second_half(inst) && inst.channels <= 8 { 8 } else { 0 };
        for channel in each(executed) {
            let output = &outputs[channel];
            let flags = &mut thread.registers.flags;
            let bit = 1 << (channel as u32 + shift);
            flags.bits = flags.bits & !bit | if output.flag { bit } else { 0 };
            flags.undefined = flags.undefined & !bit | if output.flag_undefined { bit } else { 0 };
        }
    }
    write(thread, inst, executed, &outputs)
}

/// 11.3.10.2: two bytes side by side share a channel, so all channels of a packed raw mov must be enabled.
fn packed_bytes(inst: &Instruction, executed: u16) -> Result<(), Fault> {
    let packed = inst.dst.ty.is_byte() && inst.dst.stride == 1 && inst.channels > 1;
    let all = ((1u32 << inst.channels.min(16)) - 1) as u16;
    if packed && inst.opcode == Opcode::Mov && executed != all && executed != 0 {
        let what = format!("channels {executed:#06x} of {} are enabled", inst.channels);
        return Err((Rule::PackedBytes, what));
    }
    Ok(())
}

/// The set channels, lowest first.
pub fn each(mut mask: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let channel = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(channel)
    })
}

/// Types of the sources that are there.
fn types(inst: &Instruction) -> impl Iterator<Item = Type> {
    [inst.first, inst.second].into_iter().filter_map(|operand| match operand {
        Operand::Register(source) if !source.is_null() => Some(source.ty),
        Operand::Number { ty, .. } => Some(ty),
        _ => None,
    })
}

/// The execution type. 11.3.9.
pub fn execution(inst: &Instruction) -> Execution {
    Execution::of(types(inst))
}

/// The accumulator that an operand names.
pub fn accumulator(file: File, place: Place) -> Option<usize> {
    match (file, place) {
        (File::Architecture, Place::Direct { register, .. }) if register & 0xf0 == ACCUMULATOR => {
            Some(usize::from(register & 1))
        }
        _ => None,
    }
}

/// The accumulator that an instruction reads and writes by itself. 11.3.4.5, 11.5.2.
fn implied(model: Model, inst: &Instruction) -> usize {
    // Errata: 16 channels of the 965 always have acc0.
    let forced = model.is_early() && inst.channels == 16;
    usize::from(is_second_half(inst) && !forced)
}

/// All channels' results; those of channels that are not needed stand for nothing.
fn compute(
    thread: &mut Thread,
    inst: &Instruction,
    channels: Channels,
    executed: u16,
) -> Result<Vec<Output>, Fault> {
    let count = inst.channels as usize;
    let named = match &inst.first {
        Operand::Register(source) => accumulator(source.file, source.place),
        _ => None,
    };
    let mode = Mode {
        opcode: inst.opcode,
        execution: execution(inst),
        ty: inst.dst.ty,
        saturate: inst.saturate,
        condition: inst.condition,
        alternate: thread.registers.control[0] & 1 != 0,
        accumulator: named.is_some(),
    };
    // What a group computes needs all of its channels.
    let whole = matches!(
        inst.opcode,
        Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph | Opcode::Sad2 | Opcode::Sada2
    );
    let needed = if whole { !0 } else { executed };
    let first = input(thread, inst, &inst.first, needed, 0)?;
    let second = input(thread, inst, &inst.second, needed, 1)?;
    let which = named.unwrap_or(implied(thread.model, inst));
    match inst.opcode {
        Opcode::Line | Opcode::Pln => return plane(thread, inst, &mode, &first, &second),
        _ if whole => return Ok(groups(thread, inst, &mode, &first, &second, which)),
        _ => {}
    }
    let offset = accumulator_offset(inst);
    let mut outputs = Vec::with_capacity(count);
    for channel in 0..count {
        if executed >> channel & 1 == 0 {
            outputs.push(mode.undefined());
            continue;
        }
        let acc = &thread.registers.accumulators[which][(channel + offset) & 15];
        let (a, b) = (&first[channel], &second[channel]);
        outputs.push(match inst.opcode {
            Opcode::Mov | Opcode::Movi if mode.accumulator => mode.moved_accumulator(acc),
            Opcode::Mov | Opcode::Movi => mode.moved(a),
            Opcode::Sel if channels.predicate >> channel & 1 == 0 => mode.moved(b),
            Opcode::Sel if mode.accumulator => mode.moved_accumulator(acc),
            Opcode::Sel => mode.moved(a),
            Opcode::Cmp | Opcode::Cmpn => mode.compare(a, b, acc),
            Opcode::Not
            | Opcode::And
            | Opcode::Or
            | Opcode::Xor
            | Opcode::Shl
            | Opcode::Shr
            | Opcode::Asr => mode.logic(a, b, acc),
            _ => mode.arithmetic(a, b, acc),
        });
    }
    Ok(outputs)
}

/// Where in the accumulator a source that names it begins, in elements.
fn accumulator_offset(inst: &Instruction) -> usize {
    match &inst.first {
        Operand::Register(source) if accumulator(source.file, source.place).is_some() => {
            match source.place {
                Place::Direct { byte, .. } => usize::from(byte) / source.ty.bytes() as usize,
                Place::Indirect { .. } => 0,
            }
        }
        _ => 0,
    }
}

/// LINE and PLN: scalars of four elements in the first source, vectors in the second and the register behind it.
/// 14.2.21, 14.2.34.
fn plane(
    thread: &mut Thread,
    inst: &Instruction,
    mode: &Mode,
    first: &[Input; 16],
    second: &[Input; 16],
) -> Result<Vec<Output>, Fault> {
    let (Operand::Register(scalars), Operand::Register(vector)) = (&inst.first, &inst.second)
    else {
        return Err((Rule::Operand, "LINE and PLN read registers".into()));
    };
    let Place::Direct { register, byte } = scalars.place else {
        return Err((Rule::Operand, "the scalars of LINE and PLN have no index".into()));
    };
    let one = Input { raw: Raw::new(1.0f32.to_bits()), ty: Type::F, ..Input::NONE };
    let mut scalar = |element: u32| -> Result<Input, Fault> {
        let address = BYTES * u32::from(register) + u32::from(byte & 16) + 4 * element;
        let raw = thread.registers.general(address, Type::F)?;
        Ok(Input { raw, ..first[0] })
    };
    let constant = scalar(3)?;
    let mut terms = vec![[(one, one); 3]; inst.channels as usize];
    let mut count = 2;
    for (channel, terms) in terms.iter_mut().enumerate() {
        terms[0] = (first[0], second[channel]);
        terms[1] = (constant, one);
    }
    if inst.opcode == Opcode::Pln {
        let slope = scalar(1)?;
        let Place::Direct { register, byte } = vector.place else {
            return Err((Rule::Operand, "the vectors of PLN have no index".into()));
        };
        let behind = Source { place: Place::Direct { register: register + 1, byte }, ..*vector };
        let third = input(thread, inst, &Operand::Register(behind), !0, 1)?;
        count = 3;
        for (channel, terms) in terms.iter_mut().enumerate() {
            terms[2] = (slope, third[channel]);
        }
    }
    Ok(terms.iter().map(|terms| mode.sum(&terms[..count], true)).collect())
}

/// Dot products of four channels, and differences of two.
fn groups(
    thread: &Thread,
    inst: &Instruction,
    mode: &Mode,
    first: &[Input; 16],
    second: &[Input; 16],
    which: usize,
) -> Vec<Output> {
    let count = inst.channels as usize;
    let mut outputs = vec![mode.undefined(); count];
    if matches!(inst.opcode, Opcode::Sad2 | Opcode::Sada2) {
        for channel in (0..count.saturating_sub(1)).step_by(2) {
            let pairs = [0, 1].map(|at| (first[channel + at], second[channel + at]));
            let acc = &thread.registers.accumulators[which][channel];
            outputs[channel] = mode.differences(&pairs, acc);
        }
        return outputs;
    }
    let one = Input { raw: Raw::new(1.0f32.to_bits()), ty: Type::F, ..Input::NONE };
    let length = match inst.opcode {
        Opcode::Dp2 => 2,
        Opcode::Dp3 => 3,
        _ => 4,
    };
    for base in (0..count & !3).step_by(4) {
        let mut terms = [0, 1, 2, 3].map(|at| (first[base + at], second[base + at]));
        if inst.opcode == Opcode::Dph {
            terms[3].0 = one;
        }
        let output = mode.sum(&terms[..length], false);
        outputs[base..base + 4].fill(output);
    }
    outputs
}

/// The elements of a source by channel. `which`: the first or the second source.
fn input(
    thread: &mut Thread,
    inst: &Instruction,
    operand: &Operand,
    needed: u16,
    which: u32,
) -> Result<[Input; 16], Fault> {
    let mut inputs = [Input::NONE; 16];
    match operand {
        Operand::Absent => {}
        Operand::Number { ty, bits } => {
            for (channel, input) in inputs.iter_mut().enumerate() {
                *input = Input {
                    raw: Raw::new(element(*bits, *ty, channel as u32)),
                    ty: *ty,
                    ..Input::NONE
                };
            }
        }
        Operand::Register(source) => {
            let elements = if accumulator(source.file, source.place).is_some() {
                [Raw::new(0); 16]
            } else {
                gather(&mut thread.registers, inst, source, needed)?
            };
            for (input, raw) in inputs.iter_mut().zip(elements) {
                *input =
                    Input { raw, ty: source.ty, absolute: source.absolute, negate: source.negate };
            }
            two_rows(thread, inst, source, which)?;
        }
    }
    Ok(inputs)
}

/// 11.3.10 rule 14 [DevBW, DevCL]: behind a branch, an instruction that is not compressed does not read two registers
/// that came from outside of the EU.
fn two_rows(thread: &Thread, inst: &Instruction, source: &Source, which: u32) -> Result<(), Fault> {
    let asked = thread.model.is_early() && thread.after_branch;
    if !asked || inst.compression != Compression::Normal || source.file != File::General {
        return Ok(());
    }
    let (Place::Direct { register, .. }, Some((low, high))) = (source.place, extent(inst, source))
    else {
        return Ok(());
    };
    let first = u32::from(register) + low / BYTES;
    let last = u32::from(register) + high / BYTES;
    if last > first && thread.registers.is_from_outside(span(first, last - first + 1)) {
        return Err((
            Rule::TwoRows,
            format!("source {which} reads r{first} and r{last} behind a branch"),
        ));
    }
    Ok(())
}

/// The general registers that an instruction writes directly.
pub fn written(inst: &Instruction, registers: &Registers) -> u128 {
    if inst.dst.file != File::General {
        return 0;
    }
    let first = match inst.dst.place {
        Place::Direct { register, .. } => u32::from(register),
        Place::Indirect { index, offset } => {
            match indexed(registers, index.into(), offset.into()) {
                Ok(address) => address / BYTES,
                Err(_) => return 0,
            }
        }
    };
    let count = if inst.compression == Compression::Compressed { 2 } else { 1 };
    span(first, count)
}

/// Accumulators: the one that the destination names, else the implied one of an arithmetic instruction. Channels that
/// are not executed become undefined. 11.3.4.5.
fn write_accumulator(
    thread: &mut Thread,
    inst: &Instruction,
    executed: u16,
    outputs: &mut [Output],
) {
    let named = accumulator(inst.dst.file, inst.dst.place);
    let implicit = inst.opcode.accumulates() && thread.registers.control[0] & 2 == 0;
    let which = match named {
        Some(which) => which,
        None if implicit => implied(thread.model, inst),
        None => return,
    };
    let offset = match (named, inst.dst.place) {
        (Some(_), Place::Direct { byte, .. }) => usize::from(byte) / inst.dst.ty.bytes() as usize,
        _ => 0,
    };
    for (channel, output) in outputs.iter_mut().enumerate() {
        let wide = &mut thread.registers.accumulators[which][(channel + offset) & 15];
        let computed = std::mem::take(&mut output.wide);
        *wide = if executed >> channel & 1 == 1 { computed } else { Wide::Undefined };
    }
}

/// Writes the results of the enabled channels.
fn write(
    thread: &mut Thread,
    inst: &Instruction,
    executed: u16,
    outputs: &[Output],
) -> Result<(), Fault> {
    let dst = &inst.dst;
    let (size, stride) = (dst.ty.bytes(), u32::from(dst.stride));
    let registers = &mut thread.registers;
    if executed == 0 || accumulator(dst.file, dst.place).is_some() || dst.is_null() {
        return Ok(());
    }
    let base = match dst.place {
        Place::Direct { register, byte } => match dst.file {
            File::Architecture => u32::from(byte),
            _ => BYTES * u32::from(register) + u32::from(byte),
        },
        Place::Indirect { index, offset } => {
            indexed(registers, u32::from(index), i32::from(offset))?
        }
    };
    crosses(base, (inst.channels - 1) * stride * size)?;
    aligned(base, dst.ty)?;
    if dst.file == File::General {
        registers.claim(base / BYTES, !inst.no_check, !inst.no_clear)?;
    }
    for channel in each(executed) {
        let address = base + channel as u32 * stride * size;
        let raw = outputs[channel].raw;
        match (dst.file, dst.place) {
            (File::General, _) => registers.put(address, dst.ty, raw),
            (File::Message, _) => {
                let register = (address / BYTES) as usize;
                let Some(cell) = registers.message.get_mut(register) else {
                    return Err((Rule::Register, format!("m{register}")));
                };
                cell.set(address % BYTES, dst.ty, raw);
            }
            (File::Architecture, Place::Direct { register, .. }) => {
                registers.set_architecture(register, address, dst.ty, raw)?;
            }
            (File::Architecture, Place::Indirect { .. }) => {}
        }
    }
    Ok(())
}
