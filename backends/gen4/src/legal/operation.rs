//! What each instruction's page forbids. G45 vol. 4, 14.2; accumulators 11.3.4.5; vectors as numbers 11.3.5.

use super::{
    Rule, Word, control, destination_stride, hold, is_accumulator, is_byte, is_dword, is_float,
    is_null, is_scalar,
};
use crate::isa::fields::f;
use crate::isa::operand::{File, Operand, Place, Region, Type};
use crate::isa::ops::{Opcode, Shape, flag};

/// Bit of a source's modifier: the negative.
const NEGATIVE: u32 = 2;
/// All of a modifier that is the absolute value alone.
const ABSOLUTE: u32 = 1;

pub fn check(word: &Word<'_>) -> Result<(), Rule> {
    match word.opcode.shape() {
        Shape::Send | Shape::Special => return Ok(()),
        Shape::Branch { .. } | Shape::Do | Shape::Jump | Shape::Wait => {
            return control::check(word);
        }
        Shape::Unary | Shape::Binary => {}
    }
    control::switches(word)?;
    accumulators(word)?;
    types(word)?;
    vectors(word)?;
    single(word)
}

fn saturates(word: &Word<'_>) -> bool {
    word.inst().flag(f::SATURATE)
}

pub(super) fn has_condition(word: &Word<'_>) -> bool {
    word.inst().get(f::COND_MODIFIER) != 0
}

pub(super) fn is_predicated(word: &Word<'_>) -> bool {
    word.inst().get(f::PRED_CTRL) != 0
}

fn accumulators(word: &Word<'_>) -> Result<(), Rule> {
    let [first, second] = word.sources;
    hold(!second.as_ref().is_some_and(is_accumulator), Rule::AccumulatorSecond)?;
    let first = first.filter(is_accumulator);
    hold(first.is_none_or(|first| first.modifier == 0), Rule::AccumulatorModifier)?;
    let written = word.dst.filter(is_accumulator);
    hold(written.is_none() || !saturates(word), Rule::AccumulatorSaturates)?;
    use Opcode::{
        Asr, Dp2, Dp3, Dp4, Dph, Frc, Line, Lzd, Mac, Mach, Mov, Mul, Pln, Rndd, Rnde, Rndu, Rndz,
        Sad2, Sada2,
    };
    if first.is_some() {
        let barred = matches!(
            word.opcode,
            Dp2 | Dp3
                | Dp4
                | Dph
                | Frc
                | Line
                | Mac
                | Mach
                | Mul
                | Pln
                | Rndd
                | Rnde
                | Rndu
                | Rndz
                | Sad2
                | Sada2
        );
        hold(!barred, Rule::AccumulatorSource)?;
    }
    if written.is_some() {
        let barred = matches!(word.opcode, Asr | Frc | Lzd | Rndd | Rnde | Rndu | Rndz);
        hold(!barred, Rule::AccumulatorDestination)?;
    }
    if let (Some(first), Some(written)) = (first, written) {
        hold(word.opcode != Mov, Rule::AccumulatorDestination)?;
        hold(first.place == written.place, Rule::AccumulatorsDiffer)?;
    }
    Ok(())
}

/// Types that the pages allow.
fn types(word: &Word<'_>) -> Result<(), Rule> {
    let op = word.inst().op();
    let mut types = word.source_types();
    if op.has(flag::FLOAT) {
        hold(types.all(is_float), Rule::FloatSource)?;
    } else if op.has(flag::INTEGER) {
        hold(types.all(|ty| !is_float(ty)), Rule::IntegerSource)?;
        let written = word.dst.filter(|dst| !is_null(dst)).map(|dst| dst.ty);
        hold(!written.is_some_and(is_float), Rule::IntegerSource)?;
    }
    use Opcode::{Add, Cmp, Cmpn, Line, Mul};
    let mixes = matches!(word.opcode, Add | Cmp | Cmpn | Line | Mul);
    let float = word.source_types().any(is_float);
    let dword = word.source_types().any(is_dword);
    hold(!(mixes && float && dword), Rule::DwordBesideFloat)
}

/// Numbers that are vectors.
fn vectors(word: &Word<'_>) -> Result<(), Rule> {
    let (Some(number @ (Type::V | Type::Vf)), Some(dst)) = (word.number, word.dst) else {
        return Ok(());
    };
    if number == Type::V {
        let words = |source: &Operand| source.ty.bytes() < 4;
        hold(word.sources[0].as_ref().is_none_or(words), Rule::VectorWords)?;
    }
    let apart = destination_stride(&dst) * dst.ty.bytes() == number.bytes();
    let aligned = match dst.place {
        Place::Direct { byte, .. } => byte % 16 == 0,
        Place::Indirect { .. } => true,
    };
    hold(apart && aligned, Rule::VectorDestination)
}

/// One instruction's own sentences.
fn single(word: &Word<'_>) -> Result<(), Rule> {
    use Opcode::{
        And, Cmp, Cmpn, Dp2, Dp3, Dp4, Dph, Frc, Line, Lzd, Mac, Mach, Movi, Mrest, Msave, Mul,
        Not, Or, Pln, Pop, Push, Sad2, Sada2, Sel, Shl, Shr, Xor,
    };
    let sources = || word.sources.iter().flatten();
    match word.opcode {
        And | Or | Xor | Not | Frc => hold(!saturates(word), Rule::NoSaturation),
        Shl => {
            let dwords = word.source_types().any(is_dword);
            hold(!(saturates(word) && dwords), Rule::NoSaturation)
        }
        Shr => hold(sources().take(1).all(unsigned), Rule::ShiftUnsigned),
        Cmp | Cmpn => {
            hold(!saturates(word), Rule::NoSaturation)?;
            hold(has_condition(word), Rule::ConditionMissing)?;
            let named = |dst: Operand| dst.file == File::Arf && !is_null(&dst);
            hold(!word.dst.is_some_and(named), Rule::ComparisonDestination)
        }
        Sel => {
            hold(!has_condition(word), Rule::NoCondition)?;
            hold(is_predicated(word), Rule::PredicateMissing)?;
            let odd = |dst: Operand| {
                let odd = matches!(dst.place, Place::Direct { byte, .. } if byte % 2 == 1);
                is_byte(dst.ty) && (destination_stride(&dst) == 1 || odd)
            };
            hold(!word.dst.is_some_and(odd), Rule::SelectBytes)
        }
        Mul => {
            let dwords = word.source_types().any(is_dword);
            hold(!(dwords && word.dst.is_some_and(|dst| is_float(dst.ty))), Rule::DwordToFloat)?;
            let flags = saturates(word) || has_condition(word);
            hold(!(dwords && flags), Rule::DwordProductFlags)
        }
        Mac => hold(!word.source_types().any(is_dword), Rule::MacDword),
        Mach => mach(word),
        Lzd => {
            let dword = |source: &Operand| is_dword(source.ty) && unsigned(source);
            let unsigned = word.dst.is_some_and(|dst| dst.ty == Type::Ud);
            let number = matches!(word.number, None | Some(Type::Ud));
            hold(sources().all(dword) && number && unsigned, Rule::LeadingZeros)
        }
        Dp2 | Dp3 | Dp4 | Dph => {
            hold(word.size >= 4, Rule::DotSize)?;
            let one = |source: &Operand| match source.region {
                Region::Rows { horizontal, .. } => horizontal == 1,
                _ => true,
            };
            hold(sources().all(one), Rule::DotStride)
        }
        Line | Pln => line(word),
        Movi => movi(word),
        Sad2 | Sada2 => {
            let bytes = word.source_types().all(is_byte);
            let words = |dst: Operand| {
                let even = matches!(dst.place, Place::Direct { byte, .. } if byte % 4 == 0);
                dst.ty.bytes() == 2 && destination_stride(&dst) == 1 && even
            };
            hold(bytes && word.dst.is_some_and(words), Rule::SadTypes)?;
            hold(word.size >= 2, Rule::SadSize)
        }
        Msave | Mrest | Push | Pop => {
            hold(word.size == 1, Rule::OneChannel)?;
            hold(!is_predicated(word), Rule::NoPredicate)?;
            hold(!has_condition(word), Rule::NoCondition)?;
            let plain = |operand: &Operand| {
                matches!(operand.ty, Type::Ud | Type::Uw | Type::Ub) && operand.modifier == 0
            };
            let number = matches!(word.number, None | Some(Type::Ud | Type::Uw));
            hold(sources().chain(&word.dst).all(plain) && number, Rule::StackTypes)
        }
        _ => Ok(()),
    }
}

/// Unsigned without a modifier, or signed with the absolute value.
fn unsigned(source: &Operand) -> bool {
    match source.ty {
        Type::Ud | Type::Uw | Type::Ub => source.modifier == 0,
        _ => source.modifier == ABSOLUTE,
    }
}

fn mach(word: &Word<'_>) -> Result<(), Rule> {
    hold(!saturates(word), Rule::NoSaturation)?;
    let Some(dst) = word.dst else {
        return Ok(());
    };
    hold(word.source_types().chain([dst.ty]).all(is_dword), Rule::MachDword)?;
    let mut sources = word.sources.iter().flatten();
    let fits = match dst.ty {
        Type::Ud => {
            let absolute = |source: &Operand| {
                source.ty == Type::Ud || source.modifier & (ABSOLUTE | NEGATIVE) == ABSOLUTE
            };
            sources.all(absolute) && word.number != Some(Type::D)
        }
        _ => word.source_types().all(|ty| ty == Type::D),
    };
    hold(fits, Rule::MachTypes)
}

fn line(word: &Word<'_>) -> Result<(), Rule> {
    hold(matches!(word.size, 8 | 16), Rule::LineSize)?;
    let [Some(first), second] = word.sources else {
        return Err(Rule::LineScalar);
    };
    hold(is_scalar(&first) && first.ty == Type::F, Rule::LineScalar)?;
    let begins = matches!(first.place, Place::Direct { byte, .. } if byte % 16 == 0);
    hold(begins || matches!(first.place, Place::Indirect { .. }), Rule::LineSubregister)?;
    if word.opcode == Opcode::Line {
        return Ok(());
    }
    let even = |source: Operand| {
        matches!(source.place, Place::Direct { register, byte: 0 } if register % 2 == 0)
            && source.file == File::Grf
    };
    hold(second.is_some_and(even), Rule::PlaneRegister)
}

fn movi(word: &Word<'_>) -> Result<(), Rule> {
    hold(word.size < 16, Rule::MoviSize)?;
    let (Some(dst), Some(source)) = (word.dst, word.sources[0]) else {
        return Err(Rule::MoviSource);
    };
    let indexed = matches!(source.place, Place::Indirect { index: 0, .. });
    hold(indexed && source.file == File::Grf, Rule::MoviSource)?;
    let half = match dst.place {
        Place::Direct { byte, .. } => byte % 16 == 0,
        Place::Indirect { .. } => true,
    };
    let apart = destination_stride(&dst) * dst.ty.bytes() == source.ty.bytes();
    hold(!word.align16 && half && apart, Rule::MoviAlign)
}
