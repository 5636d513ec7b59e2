//! What the manual forbids of an instruction beyond its word, one rule a sentence of it. G45 vol. 4, 11.3.10, 11.5.3, 14.2.

mod operation;
mod region;

use super::Model;
use super::decode::{
    ACCUMULATOR, ADDRESS, Broken, COMPR4, CONTROL, Compression, DEPTH, Destination, FLAG, File,
    Form, IP, Instruction, MASK, NOTIFICATION, Opcode, Operand, Place, Rows, STACK, Source, hold,
};
use super::execute::{accumulator, is_packed};
use super::rule::Rule;
use super::value::Type;

/// Whether a chip may execute an instruction.
///
/// # Errors
/// The first rule that it breaks.
pub fn instruction(model: Model, inst: &Instruction) -> Result<(), Broken> {
    match inst.opcode.form() {
        Form::Bare => return Ok(()),
        Form::Message => return super::send::check(model, inst),
        Form::Branch => return branch(model, inst),
        Form::One | Form::Two => {}
    }
    match inst.opcode {
        Opcode::Jmpi => jump(inst),
        Opcode::Do => {
            plain(inst)?;
            absent(inst)?;
            hold(inst.channels <= 16, Rule::BranchMode, "a loop of 32 channels")?;
            hold(inst.predicate == 0, Rule::Predicate, "do has no predicate")
        }
        Opcode::Wait => wait(inst),
        Opcode::Msave | Opcode::Mrest | Opcode::Push | Opcode::Pop => stacked(inst),
        _ => {
            let second = inst.compression == Compression::SecondHalf;
            hold(
                !second || inst.channels <= 8,
                Rule::SecondHalf,
                "the second half of more than 8 channels",
            )?;
            switches(model, inst)?;
            granularity(inst)?;
            compression(model, inst)?;
            accumulators(inst)?;
            region::check(model, inst)?;
            operation::check(inst)
        }
    }
}

/// The register sources, the first one first.
fn sources(inst: &Instruction) -> impl Iterator<Item = (usize, &Source)> {
    [&inst.first, &inst.second].into_iter().enumerate().filter_map(
        |(number, operand)| match operand {
            Operand::Register(source) if !source.is_null() => Some((number, source)),
            _ => None,
        },
    )
}

/// The number among the sources.
fn number(inst: &Instruction) -> Option<Type> {
    [inst.first, inst.second].into_iter().find_map(|operand| match operand {
        Operand::Number { ty, .. } => Some(ty),
        _ => None,
    })
}

/// Neither compressed, nor with a condition, nor saturated.
fn plain(inst: &Instruction) -> Result<(), Broken> {
    let normal = inst.compression == Compression::Normal;
    hold(normal, Rule::BranchMode, "control flow is not compressed")?;
    let none = inst.condition == super::decode::Condition::None;
    hold(none, Rule::Condition, "control flow makes no condition")?;
    hold(!inst.saturate, Rule::Saturation, "control flow is not saturated")
}

fn is_ip(dst: &Destination, source: &Operand) -> bool {
    let ip = |file, place| {
        file == File::Architecture && matches!(place, Place::Direct { register: IP, .. })
    };
    let source = matches!(source, Operand::Register(source) if ip(source.file, source.place));
    ip(dst.file, dst.place) && source
}

/// 11.10: an operand that an instruction does not have is null.
fn absent(inst: &Instruction) -> Result<(), Broken> {
    let bare = inst.dst.is_null() && sources(inst).next().is_none();
    hold(bare, Rule::BranchOperands, "an operand that is not there is not null")
}

fn branch(model: Model, inst: &Instruction) -> Result<(), Broken> {
    plain(inst)?;
    hold(inst.channels <= 16, Rule::BranchMode, "a branch of 32 channels")?;
    let typed = matches!(inst.second, Operand::Number { ty: Type::D, .. });
    hold(typed, Rule::BranchOperands, "the distance of a branch is a D")?;
    if inst.opcode == Opcode::Endif {
        absent(inst)?;
    } else {
        let operands = is_ip(&inst.dst, &inst.first);
        hold(operands, Rule::BranchOperands, "the operands of a branch are ip")?;
    }
    let (pops, predicated) = match inst.opcode {
        Opcode::Else | Opcode::Endif => (inst.pop == 1, false),
        // What a stack never holds is never popped.
        Opcode::Break | Opcode::Cont => (inst.pop <= model.mask_depth(), true),
        _ => (inst.pop == 0, true),
    };
    hold(pops, Rule::PopCount, "the masks that a branch pops")?;
    hold(predicated || inst.predicate == 0, Rule::Predicate, "else and endif have no predicate")?;
    let still = inst.opcode != Opcode::Endif || inst.jump == 0;
    hold(still, Rule::Reserved, "endif has no distance")
}

fn jump(inst: &Instruction) -> Result<(), Broken> {
    plain(inst)?;
    hold(inst.channels == 1, Rule::Size, "jmpi has one channel")?;
    hold(inst.no_mask, Rule::NoMask, "jmpi without NoMask")?;
    hold(is_ip(&inst.dst, &inst.first), Rule::BranchOperands, "the operands of jmpi are ip")?;
    let fits = match inst.second {
        Operand::Number { ty, .. } => ty.is_dword(),
        Operand::Register(source) => source.ty.is_dword() && !source.is_null(),
        Operand::Absent => false,
    };
    hold(fits, Rule::BranchOperands, "the distance of jmpi is a dword")
}

fn wait(inst: &Instruction) -> Result<(), Broken> {
    plain(inst)?;
    hold(inst.channels == 1, Rule::Size, "wait has one channel")?;
    hold(inst.predicate == 0, Rule::Predicate, "wait has no predicate")?;
    let named = |file, place| {
        file == File::Architecture
            && matches!(place, Place::Direct { register, byte: 0 } if register & 0xf0 == NOTIFICATION)
    };
    let same = matches!(&inst.first, Operand::Register(source)
        if source.file == inst.dst.file && source.place == inst.dst.place);
    let fits = named(inst.dst.file, inst.dst.place) && same;
    hold(fits, Rule::WaitOperand, "wait names n0 or n1 twice")
}

fn stacked(inst: &Instruction) -> Result<(), Broken> {
    plain(inst)?;
    hold(inst.channels == 1, Rule::Size, "a mask's instruction has one channel")?;
    hold(inst.predicate == 0, Rule::Predicate, "a mask's instruction has no predicate")?;
    let unsigned = |ty: Type| !ty.is_signed() && !ty.is_float();
    let types = unsigned(inst.dst.ty)
        && sources(inst).all(|(_, source)| unsigned(source.ty))
        && number(inst).is_none_or(|ty| ty == Type::Ud);
    hold(types, Rule::Types, "masks are unsigned")?;
    let bare = sources(inst).all(|(_, source)| !source.absolute && !source.negate);
    hold(bare, Rule::Modifier, "masks have no modifiers")?;
    let named = |file: File| file == File::Architecture;
    let fits = named(inst.dst.file)
        && matches!(&inst.first, Operand::Register(source) if named(source.file));
    hold(fits, Rule::StackOperand, "masks and stacks are architecture registers")
}

/// 11.3.4.7 to 11.3.4.11: the pipeline does not keep these registers in order.
fn switches(model: Model, inst: &Instruction) -> Result<(), Broken> {
    let class = |file: File, place: Place| match (file, place) {
        (File::Architecture, Place::Direct { register, .. }) => Some(register & 0xf0),
        _ => None,
    };
    // The 965 keeps the stacks in order, and waits some clocks behind one that names a mask. 11.3.4.7 to 11.3.4.9.
    let asked = |class: Option<u8>| match class {
        Some(MASK | STACK | DEPTH) => model == Model::G45,
        Some(CONTROL) => true,
        _ => false,
    };
    let needs = asked(class(inst.dst.file, inst.dst.place))
        || sources(inst).any(|(_, source)| asked(class(source.file, source.place)));
    hold(!needs || inst.switch, Rule::SwitchMissing, "an explicit access without Switch")
}

/// Whether an explicit source is a mask.
pub fn reads_mask(inst: &Instruction) -> bool {
    sources(inst).any(|(_, source)| {
        let mask = matches!(source.place, Place::Direct { register: MASK, .. });
        source.file == File::Architecture && mask
    })
}

/// Whether an operand is acc1, but for the second half, which has it by itself.
pub fn names_second_accumulator(inst: &Instruction) -> bool {
    let named = |file, place| accumulator(file, place) == Some(1);
    let operand = named(inst.dst.file, inst.dst.place)
        || sources(inst).any(|(_, source)| named(source.file, source.place));
    operand && inst.compression != Compression::SecondHalf
}

/// 11.3.4.2: the least that is written of an architecture register, and 11.3.4.8: the least that is read of a mask stack.
fn granularity(inst: &Instruction) -> Result<(), Broken> {
    for (_, source) in sources(inst) {
        let Place::Direct { register, byte } = source.place else { continue };
        if source.file == File::Architecture && register & 0xf0 == STACK {
            let read = inst.channels * source.ty.bytes();
            let beside = matches!(source.rows, Rows::Plain { vertical: Some(vertical), width, horizontal: 1 } if vertical == width);
            let whole = byte % 16 == 0 && read.is_multiple_of(16) && beside;
            hold(whole, Rule::Granularity, "a part of a mask stack is read")?;
        }
    }
    let dst = &inst.dst;
    let (File::Architecture, Place::Direct { register, byte }) = (dst.file, dst.place) else {
        return Ok(());
    };
    let size = dst.ty.bytes();
    let fits = match register & 0xf0 {
        ADDRESS | ACCUMULATOR | FLAG | MASK | DEPTH => size >= 2,
        CONTROL | NOTIFICATION | IP => size == 4,
        STACK => {
            let written = inst.channels * size;
            byte % 16 == 0 && written.is_multiple_of(16) && (inst.channels == 1 || dst.stride == 1)
        }
        _ => true,
    };
    hold(fits, Rule::Granularity, "a part of an architecture register")
}

/// 11.5.3.
fn compression(model: Model, inst: &Instruction) -> Result<(), Broken> {
    let marked = matches!(inst.dst.place, Place::Direct { register, .. }
        if inst.dst.file == File::Message && register & COMPR4 != 0);
    hold(!marked || model == Model::G45, Rule::Compr4, "compr4 of the 965")?;
    if inst.compression != Compression::Compressed {
        return Ok(());
    }
    let never = matches!(inst.opcode, Opcode::Movi | Opcode::Sad2 | Opcode::Sada2);
    hold(!never, Rule::Compressible, "this instruction cannot be compressed")?;
    let sized = matches!(inst.channels, 16 | 32) && !inst.align16;
    hold(sized, Rule::CompressedSize, "a compressed instruction's channels")?;
    if inst.channels == 32 && model.is_early() {
        let flags = inst.predicate != 0 || inst.condition != super::decode::Condition::None;
        let reads = matches!(inst.opcode, Opcode::Mac | Opcode::Mach);
        hold(!flags && !reads, Rule::CompressedFlags, "32 channels of the 965")?;
    }
    let architecture = |file: File, place: Place| {
        let named = matches!(place, Place::Direct { register: 0x00 | 0x20, .. });
        file != File::Architecture || named
    };
    let dst = &inst.dst;
    let fits = architecture(dst.file, dst.place)
        && sources(inst).all(|(_, source)| architecture(source.file, source.place));
    hold(fits, Rule::CompressedArchitecture, "an architecture register")?;
    let dwords = inst.channels == 16 && dst.ty.bytes() == 4 && dst.stride == 1;
    match dst.place {
        Place::Indirect { index, .. } => {
            hold(index % 2 == 0, Rule::CompressedIndex, "the destination's index is odd")?;
            hold(dst.file == File::General, Rule::CompressedIndex, "an index of m0")?;
        }
        Place::Direct { register, byte } => {
            let even = dst.file != File::General || register % 2 == 0;
            hold(even, Rule::CompressedOperand, "the destination's register is odd")?;
            let first = byte == 0 || dst.file == File::General && !dwords || dst.is_null();
            hold(first, Rule::CompressedOperand, "the destination begins within a register")?;
        }
    }
    for (number, source) in sources(inst) {
        compressed_source(inst, number, source, dwords)?;
    }
    Ok(())
}

fn compressed_source(
    inst: &Instruction,
    number: usize,
    source: &Source,
    dwords: bool,
) -> Result<(), Broken> {
    let Place::Direct { register, byte } = source.place else {
        let Place::Indirect { index, .. } = source.place else { return Ok(()) };
        let single = !matches!(source.rows, Rows::Plain { vertical: None, .. });
        let fits = single && index % 2 == 0;
        return hold(fits, Rule::CompressedIndex, "a source's index is odd, or not the only one");
    };
    if source.is_scalar() || accumulator(source.file, source.place).is_some() {
        return Ok(());
    }
    let Rows::Plain { horizontal, .. } = source.rows else { return Ok(()) };
    if dwords && source.ty.is_byte() {
        let fits = matches!(horizontal, 0 | 2);
        hold(fits, Rule::CompressedBytes, "the stride of bytes beside dwords")?;
    }
    let packed = dwords && is_packed(source);
    // The public compiler knows an erratum of later chips and keeps to the first source everywhere (isa/gen4.md 1.5).
    hold(!packed || number == 0, Rule::CompressedOperand, "packed words as the second source")?;
    let plane = inst.opcode == Opcode::Pln && number == 1;
    let even = packed || register % 2 == 0;
    hold(even || plane, Rule::CompressedOperand, "a source's register is odd")?;
    // Words of every second place may begin with the second one (ERRATA.md E25).
    let upper = source.ty.bytes() * u32::from(horizontal) == 4 && source.ty.bytes() == 2;
    let first = byte == 0 || !dwords || upper && byte == 2;
    hold(first, Rule::CompressedOperand, "a source begins within a register")
}

/// 11.3.4.5 and the sentences of 14.2 about accumulators.
fn accumulators(inst: &Instruction) -> Result<(), Broken> {
    let written = accumulator(inst.dst.file, inst.dst.place);
    let mut read = None;
    for (number, source) in sources(inst) {
        let Some(which) = accumulator(source.file, source.place) else { continue };
        hold(number == 0, Rule::AccumulatorOperand, "an accumulator as the second source")?;
        let bare = !source.absolute && !source.negate;
        hold(bare, Rule::AccumulatorOperand, "an accumulator with a modifier")?;
        let reads = matches!(
            inst.opcode,
            Opcode::Mov
                | Opcode::Sel
                | Opcode::Not
                | Opcode::And
                | Opcode::Or
                | Opcode::Xor
                | Opcode::Shr
                | Opcode::Shl
                | Opcode::Asr
                | Opcode::Cmp
                | Opcode::Cmpn
                | Opcode::Add
                | Opcode::Avg
        );
        hold(reads, Rule::AccumulatorOperand, "this instruction reads no accumulator")?;
        accumulator_region(inst, source)?;
        read = Some(which);
    }
    let Some(written) = written else { return Ok(()) };
    let writes = matches!(
        inst.opcode,
        Opcode::Mov
            | Opcode::Sel
            | Opcode::Not
            | Opcode::And
            | Opcode::Or
            | Opcode::Xor
            | Opcode::Add
            | Opcode::Mul
            | Opcode::Avg
            | Opcode::Mac
            | Opcode::Mach
            | Opcode::Line
            | Opcode::Pln
            | Opcode::Sad2
            | Opcode::Sada2
    );
    hold(writes, Rule::AccumulatorOperand, "this instruction writes no accumulator")?;
    hold(!inst.saturate, Rule::AccumulatorOperand, "an accumulator is saturated")?;
    let same = read.is_none_or(|read| read == written && inst.opcode != Opcode::Mov);
    hold(same, Rule::AccumulatorOperand, "the accumulators of source and destination")?;
    let fits = matches!(
        (super::execute::execution(inst), inst.dst.ty),
        (super::value::Execution::Float, Type::F)
            | (super::value::Execution::Dword, Type::D | Type::Ud)
            | (super::value::Execution::Word, Type::W | Type::Uw)
    );
    hold(fits, Rule::AccumulatorRegion, "nothing is converted into an accumulator")?;
    hold(inst.dst.stride == 1, Rule::AccumulatorRegion, "an accumulator's stride")
}

/// The region of an accumulator that is read is that of the destination.
fn accumulator_region(inst: &Instruction, source: &Source) -> Result<(), Broken> {
    let Place::Direct { byte, .. } = source.place else { return Ok(()) };
    let size = source.ty.bytes();
    hold(size > 1, Rule::AccumulatorRegion, "bytes of an accumulator")?;
    let in_line = (0..inst.channels.min(16))
        .all(|channel| super::rows::distance(source, channel) == Some(channel * size));
    hold(in_line, Rule::AccumulatorRegion, "an accumulator's elements stand side by side")?;
    let dst = &inst.dst;
    if dst.is_null() || inst.channels == 1 {
        return Ok(());
    }
    let start = match dst.place {
        Place::Direct { byte, .. } => u32::from(byte),
        Place::Indirect { .. } => u32::from(byte),
    };
    let same = u32::from(dst.stride) * dst.ty.bytes() == size && start == u32::from(byte);
    hold(same, Rule::AccumulatorRegion, "the region of an accumulator is the destination's")
}

/// Whether an operand is a0 (which general rules do not concern).
fn is_address(file: File, place: Place) -> bool {
    file == File::Architecture && matches!(place, Place::Direct { register: ADDRESS, .. })
}
