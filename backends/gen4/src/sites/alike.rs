//! Flips that leave what an instruction does as it is, whatever its operands hold.

use super::live::{self, Set};
use crate::isa::fields::f;
use crate::isa::operand::{File, Operand, Place, Region, Type};
use crate::isa::ops::{Opcode, Shape};
use crate::isa::{Decoded, Machine, decode};
use gpucc_isa::Field;

const TYPES: [gpucc_isa::FieldId; 3] = [f::DST_TYPE, f::SRC0_TYPE, f::SRC1_TYPE];

/// Whether a word computes the same with another value of a field.
pub fn same_value(word: &Decoded, field: &Field, value: u32) -> bool {
    let opcode = Opcode::of(word.inst.op());
    if field.id == f::SATURATE {
        return never_saturates(word, opcode);
    }
    if field.id == f::COMPR_CTRL {
        return either_half(word, opcode, value);
    }
    TYPES.contains(&field.id)
        && (same_bits(word, opcode, value)
            || same_number(word, field, value)
            || same_product(word, opcode, field, value)
            || field.id == f::SRC1_TYPE && is_count(word, opcode, value))
}

/// Which half of masks, flags and accumulators goes with a word that uses none of them. 13.2.2, ComprCtrl.
fn either_half(word: &Decoded, opcode: Opcode, value: u32) -> bool {
    let inst = &word.inst;
    let alone = [f::PRED_CTRL, f::COND_MODIFIER].iter().all(|&id| inst.get(id) == 0);
    let general = |id| File::of(inst.get(id)) != File::Arf;
    let explicit = matches!(opcode, Opcode::Mov | Opcode::Add | Opcode::Mul | Opcode::And);
    explicit
        && inst.flag(f::MASK_CTRL)
        && alone
        && [f::DST_FILE, f::SRC0_FILE, f::SRC1_FILE].into_iter().all(general)
        && inst.get(f::COMPR_CTRL) < 2
        && value < 2
}

/// Integers with or without a sign, of what has the same low bits either way.
fn same_bits(word: &Decoded, opcode: Opcode, value: u32) -> bool {
    let inst = &word.inst;
    let sources = [word.operands.src0, word.operands.src1];
    let absolute = sources.into_iter().flatten().any(|source| source.modifier & 1 == 1);
    use Opcode::{Add, And, Mov, Not, Or, Sel, Shl, Xor};
    let count = if opcode.shape() == Shape::Unary { 2 } else { 3 };
    // Codes 0 and 1 are doublewords, 2 and 3 words; 6 is a vector of words, of numbers alone.
    let sized = |code: u32| (code < 4 || code == 6).then_some(if code < 2 { 0 } else { 1 });
    matches!(opcode, Add | And | Mov | Not | Or | Sel | Shl | Xor)
        && !absolute
        && !inst.flag(f::SATURATE)
        && value < 4
        && TYPES[..count].iter().all(|&id| sized(inst.get(id)) == sized(value))
}

/// The low 32 bits of a product are the same whether the second factor or the result has a sign. 14.2.29.
fn same_product(word: &Decoded, opcode: Opcode, field: &Field, value: u32) -> bool {
    let inst = &word.inst;
    let second = word.operands.src1.is_none_or(|source| source.modifier & 1 == 0);
    let plain = File::of(inst.get(f::DST_FILE)) != File::Arf && !inst.flag(f::SATURATE);
    opcode == Opcode::Mul
        && plain
        && second
        && [f::DST_TYPE, f::SRC1_TYPE].contains(&field.id)
        && inst.get(f::DST_TYPE) < 2
        && inst.get(field.id) < 2
        && value < 2
}

/// A number that is the same in two types: one whose sign bit is 0 with a sign and without one, and 0 as one float or four.
fn same_number(word: &Decoded, field: &Field, value: u32) -> bool {
    let inst = &word.inst;
    let opcode = Opcode::of(inst.op());
    let bits = inst.get(f::SRC1);
    if opcode == Opcode::Mov && File::of(inst.get(f::SRC0_FILE)) == File::Imm {
        // 0 is the same bits in whatever of 32 bits it becomes.
        let whole = |code: u32| matches!(code, 0 | 1 | 7);
        let to = field.id == f::DST_TYPE && whole(inst.get(f::DST_TYPE)) && whole(value);
        // Numbers of 4 bits become words.
        let word = |code: u32| matches!(code, 2 | 3);
        let small =
            inst.get(f::SRC0_TYPE) == 6 && field.id == f::DST_TYPE && !inst.flag(f::SATURATE);
        return bits == 0 && to || small && word(inst.get(f::DST_TYPE)) && word(value);
    }
    let float = |code: u32| matches!(code, 5 | 7);
    let either = |code: u32| code < 2 && bits >> 31 == 0 || float(code) && bits == 0;
    let from = inst.get(f::SRC1_TYPE);
    // Beside a float, 0 of any type becomes the float.
    let beside_float = bits == 0 && word.operands.src0.is_some_and(|source| source.ty == Type::F);
    File::of(inst.get(f::SRC1_FILE)) == File::Imm
        && opcode.shape() == Shape::Binary
        // Both sources of this one have one sign. 14.2.24.
        && opcode != Opcode::Mach
        && field.id == f::SRC1_TYPE
        && (beside_float || either(from) && either(value) && float(from) == float(value))
}

/// How far a shift goes: five bits of it count, with a sign or without. 14.2.3, 14.2.45, 14.2.46.
fn is_count(word: &Decoded, opcode: Opcode, value: u32) -> bool {
    let shift = matches!(opcode, Opcode::Shl | Opcode::Shr | Opcode::Asr);
    shift && word.inst.get(f::SRC1_TYPE) < 2 && value < 2
}

/// Nothing leaves the range of the result's type: the word hands integers of that type on, or a number between 0 and 1, or
/// floats become integers, which they do within the range anyway. 13.2.2, Saturate; 10.4.
fn never_saturates(word: &Decoded, opcode: Opcode) -> bool {
    let inst = &word.inst;
    let to = Type::of(File::Grf, inst.get(f::DST_TYPE));
    let number = |file: gpucc_isa::FieldId, ty: gpucc_isa::FieldId| {
        let is = File::of(inst.get(file)) == File::Imm;
        is.then(|| Type::of(File::Imm, inst.get(ty))).flatten()
    };
    if opcode == Opcode::Mov
        && let Some(ty) = number(f::SRC0_FILE, f::SRC0_TYPE)
    {
        let bits = inst.get(f::SRC1);
        return to == Some(ty) && to != Some(Type::F)
            || to == Some(Type::F)
                && match ty {
                    Type::F => bits <= 1f32.to_bits(),
                    // 0 and 1 of four floats of 8 bits. 13.2.1, Imm32.
                    Type::Vf => bits.to_le_bytes().into_iter().all(|byte| byte <= 0x30),
                    _ => false,
                };
    }
    let whole = to.is_some_and(|ty| ty != Type::F);
    if whole && word.operands.src0.is_some_and(|source| source.ty == Type::F) {
        return true;
    }
    let same = |source: Option<Operand>| {
        source.is_none_or(|source| Some(source.ty) == to && source.modifier == 0)
    };
    let second = number(f::SRC1_FILE, f::SRC1_TYPE);
    let shift = matches!(opcode, Opcode::Shr | Opcode::Asr);
    whole
        && (shift || matches!(opcode, Opcode::Mov | Opcode::Sel))
        && same(word.operands.src0)
        && (shift || same(word.operands.src1) && second.is_none_or(|ty| Some(ty) == to))
}

/// Whether two predicates are both fulfilled for every lane that executes a word, where the flag is known: one that a lane's own
/// bit fulfils, by itself or with others. G45 vol. 4, 13.2.2, PredCtrl.
pub fn both_fulfilled(word: &Decoded, known: (Set, bool), value: u32) -> bool {
    let inst = &word.inst;
    let (flag, zero) = known;
    let fulfilled = |control: u32| {
        let any = matches!((control, zero), (2 | 4 | 6 | 8 | 10, false));
        let all = matches!((control, zero), (3 | 5 | 7 | 9 | 11, true));
        control < 2 || any || all
    };
    inst.get(f::ACCESS_MODE) == 0
        && !inst.flag(f::MASK_CTRL)
        && live::flag(word) == flag
        && inst.flag(f::PRED_INV) == zero
        && fulfilled(inst.get(f::PRED_CTRL))
        && fulfilled(value)
}

/// Whether a word does nothing that is noticed, before a flip and behind it: it writes what nobody reads, and no accumulator.
/// `noticed` is what is read behind it and what lanes read that wait.
pub fn does_nothing(
    machine: Machine,
    word: &Decoded,
    field: &Field,
    value: u32,
    noticed: Set,
) -> bool {
    use Opcode::{And, Asr, Cmp, Cmpn, Mov, Not, Or, Sel, Shl, Shr, Xor};
    let to = [f::DST, f::DST_FILE, f::DST_TYPE];
    let how = [
        f::OPCODE,
        f::SATURATE,
        f::PRED_CTRL,
        f::PRED_INV,
        f::FLAG_SUBREG,
        f::MASK_CTRL,
        f::COMPR_CTRL,
        f::SRC0_TYPE,
    ];
    // A compressed word waits for two registers.
    let halves = field.id == f::COMPR_CTRL && (value > 1 || word.inst.get(f::COMPR_CTRL) > 1);
    let conditional = word.inst.get(f::COND_MODIFIER) != 0;
    // A comparison's flag does not depend on its destination.
    let compares = matches!(Opcode::of(word.inst.op()), Cmp | Cmpn);
    let may = to.contains(&field.id) && (compares || !conditional)
        || how.contains(&field.id) && !conditional && !halves;
    let Ok(new) = decode(machine, field.put(word.inst.bits(), value)) else { return false };
    may && [word, &new].into_iter().all(|word| {
        let opcode = Opcode::of(word.inst.op());
        let quiet =
            matches!(opcode, Mov | Sel | Cmp | Cmpn | And | Or | Xor | Not | Shl | Shr | Asr);
        quiet && is_lost(word, noticed)
    })
}

/// Whether nobody reads a word's destination.
fn is_lost(word: &Decoded, noticed: Set) -> bool {
    let Some(dst) = word.operands.dst else { return true };
    let Place::Direct { register, .. } = dst.place else { return false };
    let named = dst.file == File::Arf && register != 0;
    !named && !noticed.meets(live::destination(word))
}

/// Whether a message is one register, into which it moves its source itself, and nobody reads what stood in the one or the
/// other. 14.2.44.
pub fn moves_itself(word: &Decoded, value: u32, noticed: Set) -> bool {
    let inst = &word.inst;
    let one = inst.get(f::SRC1) >> 20 & 15 == 1;
    let moves = word.operands.src0.is_some_and(|source| source.file == File::Grf);
    let place = [inst.get(f::MRF), value].map(|register| live::message(register, 1));
    one && moves && !place.into_iter().any(|place| noticed.meets(place))
}

/// Whether a source is read as one for all.
pub fn is_scalar(source: &Operand) -> bool {
    let scalar = matches!(source.region, Region::Rows { vertical: 0, horizontal: 0, .. });
    scalar && matches!(source.place, Place::Direct { .. })
}
