//! Each instruction's own restrictions. G45 vol. 4, 14.2; conditions, 11.8.

use super::super::decode::{
    Broken, Compression, Condition, File, Instruction, Opcode, Operand, Place, Rows,
};
use super::super::execute::execution;
use super::super::rule::Rule;
use super::super::value::{Execution, Type};
use super::{hold, is_address, number, sources};

/// Types of the sources, a number's among them.
fn types(inst: &Instruction) -> impl Iterator<Item = Type> {
    sources(inst).map(|(_, source)| source.ty).chain(number(inst))
}

pub fn check(inst: &Instruction) -> Result<(), Broken> {
    conditions(inst)?;
    saturation(inst)?;
    let float = types(inst).any(Type::is_float);
    let dword = types(inst).any(Type::is_dword);
    // Nothing is converted for the null register.
    let integer = !float && (inst.dst.is_null() || !inst.dst.ty.is_float());
    match inst.opcode {
        Opcode::Add | Opcode::Cmp | Opcode::Cmpn => {
            hold(!float || !dword, Rule::FloatBesideDword, "a dword beside a float")?;
            if inst.opcode != Opcode::Add {
                let fits = inst.dst.file != File::Architecture || inst.dst.is_null();
                hold(fits, Rule::Operand, "a comparison writes an architecture register")?;
            }
            Ok(())
        }
        Opcode::Mul => {
            hold(!float || !dword, Rule::FloatBesideDword, "a dword beside a float")?;
            let whole = !dword || !inst.dst.ty.is_float();
            hold(whole, Rule::Types, "a product of dwords is no float")
        }
        Opcode::Mac => hold(!dword, Rule::Types, "mac has no dwords"),
        Opcode::Mach => mach(inst),
        Opcode::And
        | Opcode::Or
        | Opcode::Xor
        | Opcode::Not
        | Opcode::Shl
        | Opcode::Asr
        | Opcode::Avg => hold(integer, Rule::Types, "integers alone"),
        Opcode::Shr => {
            hold(integer, Rule::Types, "integers alone")?;
            unsigned(inst)
        }
        Opcode::Lzd => {
            let fits = inst.dst.ty == Type::Ud && types(inst).all(Type::is_dword);
            hold(fits, Rule::Types, "lzd has dwords, and its result is unsigned")?;
            unsigned(inst)
        }
        Opcode::Frc | Opcode::Rndd | Opcode::Rndu | Opcode::Rnde | Opcode::Rndz => {
            hold(types(inst).all(Type::is_float), Rule::Types, "floats alone")
        }
        Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph => dot(inst),
        Opcode::Line | Opcode::Pln => plane(inst),
        Opcode::Sel => {
            hold(inst.predicate != 0, Rule::Predicate, "sel without a predicate")?;
            let odd = matches!(inst.dst.place, Place::Direct { byte, .. } if byte % 2 == 1);
            let bytes = inst.dst.ty.is_byte();
            hold(!bytes || !odd && inst.dst.stride != 1, Rule::SelectBytes, "odd bytes of sel")
        }
        Opcode::Sad2 | Opcode::Sada2 => differences(inst),
        Opcode::Movi => movi(inst),
        _ => Ok(()),
    }
}

fn conditions(inst: &Instruction) -> Result<(), Broken> {
    let condition = inst.condition;
    let ordered = matches!(
        condition,
        Condition::Zero
            | Condition::NotZero
            | Condition::Greater
            | Condition::GreaterEqual
            | Condition::Less
            | Condition::LessEqual
    );
    let fits = match inst.opcode {
        Opcode::Cmp | Opcode::Cmpn => ordered,
        Opcode::Sel => condition == Condition::None,
        // The sign of a logic operation is undefined.
        Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not => {
            matches!(condition, Condition::None | Condition::Zero | Condition::NotZero)
        }
        Opcode::Mul if types(inst).any(Type::is_dword) => condition == Condition::None,
        Opcode::Rndd | Opcode::Rndu | Opcode::Rnde | Opcode::Rndz => true,
        _ => condition != Condition::Increment,
    };
    hold(fits, Rule::Condition, "the condition of this instruction")
}

fn saturation(inst: &Instruction) -> Result<(), Broken> {
    let fits = match inst.opcode {
        Opcode::And
        | Opcode::Or
        | Opcode::Xor
        | Opcode::Not
        | Opcode::Cmp
        | Opcode::Cmpn
        | Opcode::Mach
        | Opcode::Frc => false,
        Opcode::Shl => execution(inst) == Execution::Word,
        Opcode::Mul => !types(inst).any(Type::is_dword),
        _ => true,
    };
    hold(!inst.saturate || fits, Rule::Saturation, "this instruction is not saturated")
}

/// SHR and LZD: unsigned numbers, or the absolute value of signed ones.
fn unsigned(inst: &Instruction) -> Result<(), Broken> {
    let fits = match &inst.first {
        Operand::Register(source) => !source.negate && source.absolute == source.ty.is_signed(),
        Operand::Number { ty, .. } => !ty.is_signed(),
        Operand::Absent => true,
    };
    hold(fits, Rule::Modifier, "the first source is not unsigned")
}

fn mach(inst: &Instruction) -> Result<(), Broken> {
    let dwords = inst.dst.ty.is_dword() && types(inst).all(Type::is_dword);
    hold(dwords, Rule::Types, "mach has dwords alone")?;
    let fits = if inst.dst.ty == Type::D {
        types(inst).all(|ty| ty == Type::D)
    } else {
        number(inst).is_none_or(|ty| ty == Type::Ud)
            && sources(inst).all(|(_, source)| source.ty == Type::Ud || source.absolute)
    };
    hold(fits, Rule::Types, "the signs of mach")
}

fn dot(inst: &Instruction) -> Result<(), Broken> {
    let channels =
        if inst.compression == Compression::Compressed { inst.channels / 2 } else { inst.channels };
    hold(channels >= 4, Rule::Size, "a dot product of less than 4 channels")?;
    hold(types(inst).all(Type::is_float), Rule::Types, "floats alone")?;
    let lines = sources(inst).all(
        |(_, source)| !matches!(source.rows, Rows::Plain { horizontal, .. } if horizontal != 1),
    );
    hold(lines, Rule::Operand, "a dot product's elements stand side by side")
}

fn plane(inst: &Instruction) -> Result<(), Broken> {
    hold(matches!(inst.channels, 8 | 16), Rule::Size, "line and pln have 8 or 16 channels")?;
    let (Operand::Register(scalars), Operand::Register(vector)) = (&inst.first, &inst.second)
    else {
        return Err((Rule::Operand, "line and pln read registers"));
    };
    let fits = scalars.ty == Type::F && scalars.is_scalar() && scalars.file == File::General;
    hold(fits, Rule::Operand, "the first source is a float for all channels")?;
    let quad = matches!(scalars.place, Place::Direct { byte: 0 | 16, .. });
    hold(quad, Rule::Operand, "the first source begins at element 0 or 4")?;
    hold(vector.file == File::General, Rule::Operand, "the second source is a general register")?;
    if inst.opcode == Opcode::Line {
        return hold(!vector.ty.is_dword(), Rule::FloatBesideDword, "a dword beside a float");
    }
    hold(vector.ty == Type::F, Rule::Types, "pln reads floats alone")?;
    let even = matches!(vector.place, Place::Direct { register, .. }
        if register % 2 == 0 && register < 126);
    hold(even, Rule::Operand, "the second source of pln is an even register")
}

fn differences(inst: &Instruction) -> Result<(), Broken> {
    let bytes = types(inst).all(Type::is_byte);
    let words = matches!(inst.dst.ty, Type::W | Type::Uw);
    hold(bytes && words, Rule::Types, "sad2 and sada2 make words of bytes")?;
    hold(inst.channels >= 2, Rule::Size, "sad2 and sada2 have two channels and more")?;
    let even = matches!(inst.dst.place, Place::Direct { byte, .. } if byte % 4 == 0);
    hold(even && inst.dst.stride == 1, Rule::Operand, "words from an even one on, side by side")
}

fn movi(inst: &Instruction) -> Result<(), Broken> {
    let Operand::Register(source) = &inst.first else {
        return Err((Rule::Operand, "movi reads a register"));
    };
    let based = source.file == File::General
        && matches!(source.place, Place::Indirect { index: 0, .. })
        && !is_address(source.file, source.place);
    hold(based, Rule::Operand, "movi reads general registers by a0.0")?;
    hold(!inst.align16 && inst.channels <= 8, Rule::Size, "movi has up to 8 channels of Align1")?;
    let size = u32::from(inst.dst.stride) * inst.dst.ty.bytes();
    hold(size == source.ty.bytes(), Rule::Operand, "movi's elements are as far apart as wide")?;
    let half = match inst.dst.place {
        Place::Direct { byte, .. } => byte % 16 == 0,
        Place::Indirect { .. } => true,
    };
    hold(half, Rule::Operand, "movi writes from byte 0 or 16 on")
}
