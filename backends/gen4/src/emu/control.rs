//! Masks, their stacks, and control flow. G45 vol. 4, 14.1.2, 14.1.3; isa/gen4.md 1.7.

use super::Model;
use super::decode::{Compression, Instruction, MASK, Opcode, Operand, Place, STACK, Source};
use super::register::{Fault, Registers};
use super::rule::Rule;
use super::value::Raw;

/// Of [`Registers::masks`].
pub const ACTIVE: usize = 0;
const IF: usize = 1;
const LOOP: usize = 2;
const CONTINUE: usize = 3;
/// Of [`Registers::stacks`].
const IF_STACK: usize = 0;
const LOOP_STACK: usize = 1;

/// The predicate's mask of 16 channels and those of its bits that are undefined. 11.4.
pub fn predicate(inst: &Instruction, flags: Raw) -> (u16, u16) {
    if inst.predicate == 0 {
        return (!0, 0);
    }
    let shift = 16 * u32::from(inst.flag);
    let half = |shift: u32| ((flags.bits >> shift) as u16, (flags.undefined >> shift) as u16);
    let chosen = half(shift);
    let (value, undefined) = match (inst.align16, inst.predicate) {
        (_, 1) => chosen,
        (true, 2..=5) => {
            let channel = u32::from(inst.predicate) - 2;
            let spread = |bits: u16| {
                let first = bits >> channel & 0x1111;
                first | first << 1 | first << 2 | first << 3
            };
            (spread(chosen.0), spread(chosen.1))
        }
        (true, 6) => grouped(chosen, 4, true),
        (true, _) => grouped(chosen, 4, false),
        (false, 2 | 3) => {
            let ((a, au), (b, bu)) = (half(0), half(16));
            if inst.predicate == 2 {
                let known = a & !au | b & !bu;
                (known, (au | bu) & !known)
            } else {
                let known = !a & !au | !b & !bu;
                (a & b & !known, (au | bu) & !known)
            }
        }
        (false, code) => grouped(chosen, 1 << (code / 2 - 1), code % 2 == 0),
    };
    let value = if inst.inverse { !value } else { value };
    (value, undefined)
}

/// Any or all of each group of channels.
fn grouped((value, undefined): (u16, u16), size: u32, any: bool) -> (u16, u16) {
    let mut out = (0, 0);
    for first in (0..16).step_by(size as usize) {
        let group = (((1u32 << size) - 1) << first) as u16;
        let deciding = if any { value } else { !value } & !undefined & group;
        let (set, unknown) =
            if deciding != 0 { (any, false) } else { (!any, undefined & group != 0) };
        out.0 |= if set { group } else { 0 };
        out.1 |= if unknown { group } else { 0 };
    }
    out
}

/// The channels of an instruction: those that masks enable, and the predicate's value. 14.1.3, Evaluate.
#[derive(Copy, Clone, Debug)]
pub struct Channels {
    /// Masks, size and destination mask, without the predicate.
    pub enabled: u16,
    /// The predicate, shifted like the masks.
    pub predicate: u16,
}

impl Channels {
    /// What is executed.
    pub const fn executed(self) -> u16 {
        self.enabled & self.predicate
    }
}

/// Evaluates the masks of an instruction that is not compressed. `halves`: its second half has the upper 8 channels.
/// `continues`: whether CMask counts.
///
/// # Errors
/// The predicate is undefined where a channel is enabled.
pub fn channels(
    inst: &Instruction,
    registers: &Registers,
    continues: bool,
) -> Result<Channels, Fault> {
    let [active, conditional, looping, continuing] = registers.masks;
    let mut enabled = active & conditional & looping;
    if continues {
        enabled &= continuing;
    }
    if inst.no_mask {
        enabled = !0;
    }
    let (mut value, mut undefined) = predicate(inst, registers.flags);
    let second = inst.compression == Compression::SecondHalf && inst.channels <= 8;
    if second {
        enabled >>= 8;
        value >>= 8;
        undefined >>= 8;
    }
    enabled &= ((1u32 << inst.channels.min(16)) - 1) as u16;
    enabled &= u16::from(inst.dst.mask) * 0x1111;
    if enabled & undefined != 0 {
        let channel = (enabled & undefined).trailing_zeros();
        return Err((Rule::Undefined, format!("the predicate of channel {channel}")));
    }
    Ok(Channels { enabled, predicate: value })
}

fn spf(registers: &Registers) -> bool {
    registers.control[0] & 4 != 0
}

/// Pushes a mask. 14.1.3, Push.
fn push(model: Model, registers: &mut Registers, which: usize, mask: u16) -> Result<(), Fault> {
    if spf(registers) {
        return Ok(());
    }
    let stack = &mut registers.stacks[which];
    let most = model.mask_depth();
    if stack.depth >= most {
        let name = ["conditions", "loops"][which];
        return Err((Rule::StackOverflow, format!("{most} masks are on the stack of {name}")));
    }
    stack.depth += 1;
    for (channel, counter) in stack.counters.iter_mut().enumerate() {
        if mask >> channel & 1 == 0 {
            *counter = counter.saturating_add(1);
        }
    }
    Ok(())
}

/// Pops some masks. 14.1.3, Pop.
fn pop(registers: &mut Registers, which: usize, count: u8) -> Result<(), Fault> {
    if spf(registers) {
        return Ok(());
    }
    let stack = &mut registers.stacks[which];
    if count > stack.depth {
        let name = ["conditions", "loops"][which];
        let depth = stack.depth;
        return Err((
            Rule::StackUnderflow,
            format!("{count} masks are popped of {depth} on the stack of {name}"),
        ));
    }
    stack.depth -= count;
    for counter in &mut stack.counters {
        *counter = counter.saturating_sub(count);
    }
    Ok(())
}

/// The mask on top. 14.1.3, TopOfStack.
fn top(registers: &Registers, which: usize) -> u16 {
    let counters = registers.stacks[which].counters.iter().enumerate();
    counters.fold(0, |mask, (channel, counter)| mask | u16::from(*counter == 0) << channel)
}

/// Executes an instruction of control flow; whether it jumps the distance in its word.
///
/// # Errors
/// The rule that it breaks.
pub fn branch(model: Model, inst: &Instruction, registers: &mut Registers) -> Result<bool, Fault> {
    let executed = channels(inst, registers, inst.opcode != Opcode::While)?.executed();
    match inst.opcode {
        Opcode::If => {
            push(model, registers, IF_STACK, registers.masks[IF])?;
            registers.masks[IF] = executed;
            Ok(executed == 0)
        }
        Opcode::Iff if executed == 0 => Ok(true),
        Opcode::Iff => {
            push(model, registers, IF_STACK, registers.masks[IF])?;
            registers.masks[IF] = executed;
            Ok(false)
        }
        Opcode::Else => {
            let top_mask = top(registers, IF_STACK);
            registers.masks[IF] = !registers.masks[IF] & top_mask;
            let executed = channels(inst, registers, true)?.executed();
            if executed == 0 {
                registers.masks[IF] = top_mask;
                pop(registers, IF_STACK, inst.pop)?;
            }
            Ok(executed == 0)
        }
        Opcode::Endif => {
            registers.masks[IF] = top(registers, IF_STACK);
            pop(registers, IF_STACK, inst.pop)?;
            Ok(false)
        }
        Opcode::While if executed != 0 => {
            registers.masks[LOOP] = executed;
            registers.masks[CONTINUE] = executed;
            Ok(true)
        }
        Opcode::While => {
            leave(registers)?;
            Ok(false)
        }
        Opcode::Break => {
            registers.masks[LOOP] &= !executed;
            registers.masks[CONTINUE] &= !executed;
            let jumps = registers.masks[LOOP] & registers.masks[ACTIVE] == 0;
            if jumps {
                leave(registers)?;
                restore(registers, inst.pop)?;
            }
            Ok(jumps)
        }
        Opcode::Cont => {
            registers.masks[CONTINUE] &= !executed;
            let jumps = registers.masks[CONTINUE] & registers.masks[ACTIVE] == 0;
            if jumps {
                restore(registers, inst.pop)?;
            }
            Ok(jumps)
        }
        // Halt.
        _ => {
            registers.masks[ACTIVE] &= !executed;
            Ok(registers.masks[ACTIVE] == 0)
        }
    }
}

/// Leaves a loop: CMask and LMask are popped.
fn leave(registers: &mut Registers) -> Result<(), Fault> {
    registers.masks[CONTINUE] = top(registers, LOOP_STACK);
    pop(registers, LOOP_STACK, 1)?;
    registers.masks[LOOP] = top(registers, LOOP_STACK);
    pop(registers, LOOP_STACK, 1)
}

/// Leaves some conditions on the way out of a loop's body.
fn restore(registers: &mut Registers, count: u8) -> Result<(), Fault> {
    if count == 0 {
        return Ok(());
    }
    pop(registers, IF_STACK, count - 1)?;
    registers.masks[IF] = top(registers, IF_STACK);
    pop(registers, IF_STACK, 1)
}

/// Enters a loop. In single program flow nothing happens. 14.2.9.
pub fn enter(model: Model, inst: &Instruction, registers: &mut Registers) -> Result<(), Fault> {
    if spf(registers) {
        return Ok(());
    }
    // The size is ignored: masks are always 16 channels wide.
    let whole = Instruction { channels: 16, compression: Compression::Normal, ..*inst };
    let executed = channels(&whole, registers, true)?.executed();
    push(model, registers, LOOP_STACK, registers.masks[LOOP])?;
    push(model, registers, LOOP_STACK, registers.masks[CONTINUE])?;
    registers.masks[LOOP] = executed;
    registers.masks[CONTINUE] = executed;
    Ok(())
}

/// The stack that an operand names: byte 0 of ms0 for conditions, byte 16 for loops.
fn stack(place: Place) -> Result<usize, Fault> {
    match place {
        Place::Direct { register: STACK, byte: 0 } => Ok(IF_STACK),
        Place::Direct { register: STACK, byte: 16 } => Ok(LOOP_STACK),
        _ => Err((Rule::StackOperand, "ms0.0 or ms0.16 is a stack".into())),
    }
}

/// The mask that an operand names.
fn mask(place: Place) -> Result<usize, Fault> {
    match place {
        Place::Direct { register: MASK, byte: byte @ (0 | 2 | 4 | 6) } => Ok(usize::from(byte / 2)),
        _ => Err((Rule::StackOperand, "mask0.0 to mask0.3 are masks".into())),
    }
}

fn first(inst: &Instruction) -> Result<&Source, Fault> {
    match &inst.first {
        Operand::Register(source) => Ok(source),
        _ => Err((Rule::StackOperand, "the source is a number".into())),
    }
}

/// MSAVE, MREST, PUSH and POP. 14.2.27, 14.2.28, 14.2.35, 14.2.36.
///
/// # Errors
/// The rule that it breaks.
pub fn stacked(
    model: Model,
    inst: &Instruction,
    registers: &mut Registers,
    depth: Option<u32>,
) -> Result<(), Fault> {
    match inst.opcode {
        Opcode::Msave | Opcode::Push => {
            let (stack, mask) = (stack(inst.dst.place)?, mask(first(inst)?.place)?);
            // What a mask gets is the execution mask of all channels.
            let whole = Instruction { channels: 16, ..*inst };
            let executed = channels(&whole, registers, true)?.executed();
            push(model, registers, stack, registers.masks[mask])?;
            if inst.opcode == Opcode::Msave {
                registers.masks[mask] = executed;
            }
            Ok(())
        }
        Opcode::Mrest => {
            let (mask, stack) = (mask(inst.dst.place)?, stack(first(inst)?.place)?);
            registers.masks[mask] = top(registers, stack);
            pop(registers, stack, 1)
        }
        // POP: the number stands second (undocumented: POP).
        _ => {
            let which = stack(first(inst)?.place)?;
            let same = inst.dst.is_null() || stack(inst.dst.place).is_ok_and(|dst| dst == which);
            let count = depth.filter(|depth| same && *depth < 16).ok_or_else(|| {
                (Rule::StackOperand, "POP takes 0 to 15 masks of the stack that it names".into())
            })?;
            pop(registers, which, count as u8)
        }
    }
}
