//! SEND: the implied move, the channels that a message names, and where its reply goes. G45 vol. 4, 14.2.44.

use super::Model;
use super::control;
use super::decode::{Broken, Compression, File, Instruction, Operand, Place, hold};
use super::execute::{each, halves};
use super::message::{Message, Register, SharedFunctions};
use super::register::{BYTES, Cell, Fault};
use super::rows::gather;
use super::rule::{Rule, Trap};
use super::thread::{Next, Thread, is_second_half};
use super::value::{Execution, Number, Raw, converted};

/// Numbers of shared functions. Table 14-15.
const NULL: u32 = 0;
const MATH: u32 = 1;
const SAMPLER: u32 = 2;
const DATA_READ: u32 = 4;

/// A descriptor's fields.
#[derive(Copy, Clone)]
struct Descriptor(u32);

impl Descriptor {
    const fn function(self) -> u32 {
        self.0 >> 24 & 15
    }

    const fn length(self) -> u32 {
        self.0 >> 20 & 15
    }

    const fn response(self) -> u32 {
        self.0 >> 16 & 15
    }
}

/// What a descriptor must obey beside its instruction.
fn described(model: Model, inst: &Instruction, bits: u32, ends: bool) -> Result<(), Broken> {
    let descriptor = Descriptor(bits);
    let (function, length) = (descriptor.function(), descriptor.length());
    hold(bits >> 28 & 7 == 0, Rule::MessageReserved, "bits 30:28 of a descriptor")?;
    hold(function != NULL && function < 8, Rule::Function, "the null function, or none")?;
    let last = u32::from(inst.message) + length;
    hold(length >= 1 && last <= 16, Rule::MessageLength, "registers of a message")?;
    let response = descriptor.response();
    hold(response <= 8, Rule::ResponseLength, "a reply of more than 8 registers")?;
    let has = inst.dst.file == File::General;
    hold(has == (response > 0), Rule::ResponseLength, "a reply and a destination go together")?;
    if ends {
        hold(response == 0, Rule::EndOfThread, "the last message has a reply")?;
        let wrong = matches!(function, MATH | SAMPLER | DATA_READ);
        hold(!wrong, Rule::EndOfThread, "this function does not end a thread")?;
    }
    let compressed = inst.compression == Compression::Compressed;
    let math = function == MATH && model == Model::G45 && length == 1 && inst.channels == 16;
    hold(!compressed || math, Rule::MessageCompressed, "a compressed message")?;
    // The second half of a compressed message has the next registers.
    let even = match (inst.dst.place, &inst.first) {
        _ if !compressed => true,
        (Place::Direct { register, .. }, Operand::Register(first)) => {
            let first = match first.place {
                Place::Direct { register, .. } => first.is_null() || register % 2 == 0,
                Place::Indirect { .. } => false,
            };
            first && register % 2 == 0 && last <= 15 && response == 1
        }
        _ => false,
    };
    hold(even, Rule::CompressedOperand, "registers of a compressed message")
}

/// What a message must obey before it is executed.
///
/// # Errors
/// The rule that it breaks.
pub fn check(model: Model, inst: &Instruction) -> Result<(), Broken> {
    let dst = &inst.dst;
    hold(!inst.no_check, Rule::MessageCheck, "NoDDChk of a message")?;
    let general = dst.file == File::General || dst.is_null();
    hold(general, Rule::MessageOperand, "the destination of a message")?;
    let Operand::Register(first) = &inst.first else {
        return Err((Rule::MessageOperand, "the source of a message is a number"));
    };
    let direct = matches!(first.place, Place::Direct { .. });
    let whole = first.is_null() || first.file == File::General && direct;
    hold(whole, Rule::MessageOperand, "the source of a message")?;
    let compressed = inst.compression == Compression::Compressed;
    let channels = if compressed { inst.channels / 2 } else { inst.channels };
    hold(channels <= 16, Rule::MessageType, "32 channels of a message")?;
    let size = dst.ty.bytes();
    hold(size > 1, Rule::MessageType, "bytes as the destination of a message")?;
    hold(channels <= 8 || size == 2, Rule::MessageType, "dwords of 16 channels")?;
    if let Place::Direct { byte, .. } = dst.place {
        let stride = if channels == 1 { 0 } else { u32::from(dst.stride) };
        let end = u32::from(byte) + ((channels - 1) * stride + 1) * size;
        hold(end <= BYTES, Rule::Crosses, "a message's destination leaves its register")?;
        hold(dst.stride > 0, Rule::DestinationStride, "a destination's stride of 0")?;
    }
    let second = inst.compression == Compression::SecondHalf;
    hold(!second || channels <= 8, Rule::SecondHalf, "the second half of 16 channels")?;
    if let Operand::Number { bits, .. } = inst.second {
        described(model, inst, bits & 0x7fff_ffff, bits >> 31 == 1)?;
    }
    Ok(())
}

/// Sends a message, both halves of a compressed one in turn.
///
/// # Errors
/// The rule that it breaks, or the shared function's trap.
pub fn send(
    thread: &mut Thread,
    inst: &Instruction,
    functions: &mut dyn SharedFunctions,
    offset: u32,
) -> Result<Next, Trap> {
    let trap = |(rule, detail): Fault| Trap::new(rule, offset, detail);
    let (bits, ends) = match inst.second {
        Operand::Number { bits, .. } => (bits, bits >> 31 == 1),
        // The end of a thread comes from the instruction's last bit, which a register leaves 0.
        _ => (thread.registers.descriptor().map_err(trap)? & 0x7fff_ffff, false),
    };
    described(thread.model, inst, bits & 0x7fff_ffff, ends)
        .map_err(|(rule, what)| trap((rule, what.into())))?;
    if inst.compression == Compression::Compressed {
        for inst in halves(thread.model, inst) {
            one(thread, &inst, functions, bits, ends, offset)?;
        }
    } else {
        one(thread, inst, functions, bits, ends, offset)?;
    }
    if !ends {
        return Ok(Next::On);
    }
    if let Some(register) = thread.registers.under_way() {
        return Err(trap((Rule::ReplyLeft, format!("a reply is under way to r{register}"))));
    }
    let left = thread
        .registers
        .stacks
        .iter()
        .any(|stack| stack.depth != 0 || stack.counters.iter().any(|counter| *counter != 0));
    if thread.model.is_early() && left {
        return Err(trap((Rule::StackLeft, "the thread ends with masks on a stack".into())));
    }
    Ok(Next::End)
}

fn one(
    thread: &mut Thread,
    inst: &Instruction,
    functions: &mut dyn SharedFunctions,
    bits: u32,
    ends: bool,
    offset: u32,
) -> Result<(), Trap> {
    let trap = |(rule, detail): Fault| Trap::new(rule, offset, detail);
    let descriptor = Descriptor(bits);
    let executed = control::channels(inst, &thread.registers, true).map_err(trap)?.executed();
    let (enabled, register) = destination(thread, inst, executed).map_err(trap)?;
    implied_move(thread, inst, descriptor.function()).map_err(trap)?;
    let response = descriptor.response();
    if response > 0 {
        thread.registers.room(register, response).map_err(trap)?;
    }
    let first = usize::from(inst.message);
    let cells = &thread.registers.message[first..first + descriptor.length() as usize];
    let payload: Vec<Register> = cells.iter().map(Cell::register).collect();
    let signed = inst.dst.ty.is_signed()
        && matches!(&inst.first, Operand::Register(source) if source.ty.is_signed());
    let message = Message {
        function: descriptor.function() as u8,
        descriptor: bits,
        end_of_thread: ends,
        channels: inst.channels,
        second_half: is_second_half(inst),
        enabled,
        saturate: inst.saturate,
        signed,
        payload: &payload,
        response,
        sender: &thread.sender,
        offset,
    };
    let reply = functions.send(&message)?;
    if response > 0 {
        thread.registers.expect(register, response, reply, !inst.no_clear).map_err(trap)?;
    }
    Ok(())
}

/// The channel enables as the bus has them, by the place of an element within 256 bits, and the reply's register.
fn destination(thread: &Thread, inst: &Instruction, executed: u16) -> Result<(u16, u32), Fault> {
    let dst = &inst.dst;
    let size = dst.ty.bytes();
    let base = match dst.place {
        Place::Direct { register, byte } => BYTES * u32::from(register) + u32::from(byte),
        Place::Indirect { index, offset } => {
            let base = thread.registers.index(u32::from(index))? as i32 + i32::from(offset);
            u32::try_from(base)
                .map_err(|_| (Rule::RegisterCount, "a reply before r0".to_string()))?
        }
    };
    let mut enabled = 0;
    for channel in each(executed) {
        let byte = base % BYTES + channel as u32 * u32::from(dst.stride) * size;
        if byte >= BYTES {
            return Err((Rule::Crosses, "a message's destination leaves its register".into()));
        }
        enabled |= 1 << (byte / size);
    }
    Ok((enabled, base / BYTES))
}

/// The implied move: one whole register as it is, but for extended math by the source's region, modifiers and types.
/// No channel is masked. isa/gen4.md 1.8.
fn implied_move(thread: &mut Thread, inst: &Instruction, function: u32) -> Result<(), Fault> {
    let Operand::Register(source) = &inst.first else { return Ok(()) };
    if source.is_null() {
        return Ok(());
    }
    let at = usize::from(inst.message);
    let Place::Direct { register, .. } = source.place else { return Ok(()) };
    if function != MATH {
        thread.registers.message[at] = thread.registers.whole(u32::from(register))?;
        return Ok(());
    }
    let elements = gather(&mut thread.registers, inst, source, !0)?;
    let mut cell = Cell::UNDEFINED;
    let dst = &inst.dst;
    let size = dst.ty.bytes();
    let byte = match dst.place {
        Place::Direct { byte, .. } => u32::from(byte),
        Place::Indirect { .. } => 0,
    };
    let execution = Execution::of(std::iter::once(source.ty));
    let plain = source.ty == dst.ty && !source.absolute && !source.negate;
    for (channel, raw) in elements.iter().enumerate().take(inst.channels as usize) {
        let raw = if plain {
            *raw
        } else if raw.undefined != 0 {
            Raw::unknown(dst.ty)
        } else {
            let number = Number::of(raw.bits, source.ty).widened(execution);
            let number = number.modified(source.absolute, source.negate, source.ty, execution);
            Raw::new(converted(number, dst.ty, false, false, false).0)
        };
        let byte = byte + channel as u32 * u32::from(dst.stride) * size;
        if byte >= BYTES {
            return Err((Rule::Crosses, "an implied move leaves its register".into()));
        }
        cell.set(byte, dst.ty, raw);
    }
    thread.registers.message[at] = cell;
    Ok(())
}
