//! Values of fields with which one instruction says the same: nothing can tell them apart.

use crate::isa::{CONSTANTS, Opcode, f};
use gpucc_isa::{Field, Inst};

/// Whether an instruction means the same with another value of a field:
/// - another constant of the table with the same bits, or with the same count of a shift;
/// - another direction of a shift by nothing, or of nothing;
/// - natural numbers that are at most 0, and those that equal it;
/// - the smaller of two integers, whichever it is of two that are equal;
/// - the rounding of a logarithm's m - 1, which is exact for m from 0.75 to 1.5;
/// - magnitude, count of bits and reversal of 0, which are 0.
pub(super) fn same(inst: &Inst, field: &Field, value: u32) -> bool {
    let old = inst.get(field.id);
    let opcode = Opcode::of(inst.op());
    let shift = inst.has_field(f::NOT2);
    match field.id {
        f::SRC1 if shift => {
            let counts = [old, value].map(|byte| count(inst, byte));
            counts[0].is_some() && counts[0] == counts[1]
        }
        f::SRC0 | f::SRC1 | f::SRC2 | f::SRC3 => {
            constant(old).is_some() && constant(old) == constant(value)
        }
        f::OP3 if shift => {
            const ARITHMETIC: u32 = 4;
            let nothing = zero(inst.get(f::SRC0)) || count(inst, inst.get(f::SRC1)) == Some(0);
            nothing && value <= ARITHMETIC
        }
        f::ROUND if opcode == Opcode::FaddLscaleF32 => {
            let one = constant(inst.get(f::SRC0)) == Some(1f32.to_bits());
            // Away from zero and so on: a sum of nothing differs by its sign where it is rounded down.
            const DOWN: u32 = 2;
            one && inst.flag(f::NEG0) && value != DOWN
        }
        f::CMP => same_comparison(inst, opcode, old, value),
        f::OP2 if opcode == Opcode::MovI32 => {
            const ABSOLUTE: [u32; 3] = [8, 9, 10];
            const BITS: [u32; 2] = [12, 13];
            let kept = ABSOLUTE.contains(&value) || BITS.contains(&value);
            zero(inst.get(f::SRC0)) && kept
        }
        _ => false,
    }
}

/// The small constant that a source byte names.
fn constant(byte: u32) -> Option<u32> {
    let index = byte.checked_sub(0xc0)?;
    CONSTANTS.get(index as usize).copied()
}

fn zero(byte: u32) -> bool {
    constant(byte) == Some(0)
}

/// By how much a shift by a constant moves.
fn count(inst: &Inst, byte: u32) -> Option<u32> {
    let lane = inst.get(f::SWZ1).checked_sub(4).filter(|&lane| lane < 4)?;
    let width = Opcode::of(inst.op()).sources()[0].kind.bits();
    constant(byte).map(|bits| bits >> (8 * lane) & (width - 1))
}

fn same_comparison(inst: &Inst, opcode: Opcode, old: u32, value: u32) -> bool {
    const EQ: u32 = 0;
    const GT: u32 = 1;
    const GE: u32 = 2;
    const NE: u32 = 3;
    const LT: u32 = 4;
    const LE: u32 = 5;
    let either = |pairs: &[[u32; 2]]| {
        let found = |&[a, b]: &[u32; 2]| (old, value) == (a, b) || (old, value) == (b, a);
        pairs.iter().any(found)
    };
    let natural = matches!(opcode, Opcode::CselU32 | Opcode::IcmpOrU32 | Opcode::IcmpAndU32);
    if natural && zero(inst.get(f::SRC1)) && either(&[[EQ, LE], [NE, GT]]) {
        return true;
    }
    if natural && zero(inst.get(f::SRC0)) && either(&[[EQ, GE], [NE, LT]]) {
        return true;
    }
    if !matches!(opcode, Opcode::CselU32 | Opcode::CselS32) {
        return false;
    }
    // All but the mark of a last use.
    let source = |field| {
        let byte = inst.get(field);
        if byte < 0x80 { byte & 0x3f } else { byte }
    };
    let [a, b, c, d] = [f::SRC0, f::SRC1, f::SRC2, f::SRC3].map(source);
    ([a, b] == [c, d] || [a, b] == [d, c]) && either(&[[LT, LE], [GT, GE]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{assemble_line, decode_word};
    use gpucc_isa::FieldId;

    #[test]
    fn what_says_the_same_is_told_from_what_does_not() {
        let cases: &[(&str, FieldId, u32, bool)] = &[
            ("LSHIFT_AND.i32 r0, r1, 0x0.b00, r2", f::OP3, 3, true),
            ("LSHIFT_AND.i32 r0, r1, 0x3020100.b11, r2", f::OP3, 3, false),
            ("LSHIFT_AND.i32 r0, r1, 0x0.b00, r2", f::OP3, 5, false),
            ("LSHIFT_AND.i32 r0, r1, 0x0.b00, r2", f::SRC1, 0xdc, true),
            ("LSHIFT_AND.i32 r0, r1, 0x0.b00, r2", f::SRC1, 0xc1, false),
            ("FMA.f32 r0, r1, r2, 0x0", f::SRC2, 0xd5, true),
            ("FMA.f32 r0, r1, r2, 0x0", f::SRC2, 0xd4, false),
            ("CSEL.u32.eq r0, r1, 0x0, r2, r3", f::CMP, 5, true),
            ("CSEL.s32.eq r0, r1, 0x0, r2, r3", f::CMP, 5, false),
            ("CSEL.u32.lt r0, 0x0, r1, r2, r3", f::CMP, 3, true),
            ("CSEL.s32.lt r0, ^r1, r2, r1, r2", f::CMP, 5, true),
            ("CSEL.s32.lt r0, r1, r2, r1, r3", f::CMP, 5, false),
            ("CSEL.f32.lt r0, r1, r2, r1, r2", f::CMP, 5, false),
            ("MOV.i32 r0, 0x0", f::OP2, 12, true),
            ("MOV.i32 r0, 0x0", f::OP2, 4, false),
        ];
        for &(text, id, value, expected) in cases {
            let inst = decode_word(assemble_line(text).expect("assembles")).expect("a row");
            let field = inst.op().format.field(id).expect("the row has it");
            assert_eq!(same(&inst, field, value), expected, "{text}: {value}");
        }
    }
}
