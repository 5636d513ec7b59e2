//! Which registers hold no negative float, as far as straight code tells: their absolute value is themselves.

use crate::isa::{CONSTANTS, Opcode, Operand, SourceByte, f, rules};
use gpucc_isa::{FieldId, Inst};
use std::collections::BTreeSet;

/// What is known of registers.
#[derive(Copy, Clone, Debug)]
pub(super) struct Signs {
    /// Registers whose sign is known to be positive, one bit each; a NaN counts, since arithmetic makes one without a sign.
    positive: u64,
    /// The register of whose value each one holds the floor: what is above that is positive.
    floor_of: [Option<u8>; 64],
}

impl Default for Signs {
    fn default() -> Signs {
        Signs { positive: 0, floor_of: [None; 64] }
    }
}

/// What is known before each instruction; nothing where branches lead to.
pub(super) fn signs(
    insts: &[Option<Inst>],
    targets: &BTreeSet<usize>,
    constants: &[Option<u32>],
) -> Vec<Signs> {
    let mut known = Signs::default();
    let mut all = Vec::with_capacity(insts.len());
    for (index, inst) in insts.iter().enumerate() {
        if targets.contains(&index) {
            known = Signs::default();
        }
        all.push(known);
        match inst {
            Some(inst) => known.step(inst, constants),
            None => known = Signs::default(),
        }
    }
    all
}

impl Signs {
    /// Whether the absolute value of a source is the source, whatever its own modifiers say.
    pub(super) fn positive(&self, inst: &Inst, source: FieldId, constants: &[Option<u32>]) -> bool {
        let byte = inst.get(source) as u8;
        match SourceByte::decode(byte, inst.get(f::FAU_PAGE) as u8) {
            Some(SourceByte::Register { index, .. }) => {
                self.positive >> index & 1 == 1 && whole(inst, source)
            }
            Some(byte) => value(byte, constants).is_some_and(|bits| bits & 0x8000_8000 == 0),
            None => false,
        }
    }

    /// What stands in the registers after an instruction.
    fn step(&mut self, inst: &Inst, constants: &[Option<u32>]) {
        let positive = self.makes_positive(inst, constants);
        let opcode = Opcode::of(inst.op());
        let mut written = 0u64;
        if inst.has_field(f::DST) {
            let dst = inst.get(f::DST);
            let wide = opcode.dst().is_some_and(Operand::is_pair);
            written = if wide { 3 << dst } else { 1 << dst };
        }
        let (_, staging) = rules::staging(inst);
        if let Some((first, count)) = staging {
            for register in first..(first + count).min(64) {
                written |= 1 << register;
            }
        }
        let floor = floor(inst);
        self.positive &= !written;
        if positive {
            self.positive |= written;
        }
        for (at, floor_of) in (0u8..).zip(&mut self.floor_of) {
            let stale = floor_of.is_some_and(|of| written >> of & 1 == 1);
            if stale || written >> at & 1 == 1 {
                *floor_of = floor.filter(|of| written >> at & 1 == 1 && written >> of & 1 == 0);
            }
        }
    }

    /// Whether a sum is a number without its own floor.
    fn fraction(&self, inst: &Inst) -> bool {
        let bare = |neg, abs| !inst.flag(neg) && !inst.flag(abs);
        let (Some(a), Some(b)) = (register(inst, f::SRC0), register(inst, f::SRC1)) else {
            return false;
        };
        self.floor_of[usize::from(b)] == Some(a)
            && bare(f::NEG0, f::ABS0)
            && inst.flag(f::NEG1)
            && !inst.flag(f::ABS1)
            && whole(inst, f::SRC0)
            && whole(inst, f::SRC1)
    }

    /// Whether a result of 32 bits has no sign.
    fn makes_positive(&self, inst: &Inst, constants: &[Option<u32>]) -> bool {
        let source = |source, neg, abs| {
            let flag = |field| inst.has_field(field) && inst.flag(field);
            !flag(neg) && (flag(abs) || self.positive(inst, source, constants))
        };
        let (a, b, c) = (
            || source(f::SRC0, f::NEG0, f::ABS0),
            || source(f::SRC1, f::NEG1, f::ABS1),
            || source(f::SRC2, f::NEG2, f::ABS2),
        );
        if inst.has_field(f::DST_MASK) && inst.get(f::DST_MASK) != 3 {
            return false;
        }
        if inst.has_field(f::ROUND) && inst.get(f::ROUND) != 0 {
            return false;
        }
        let float = Opcode::of(inst.op()).dst() == Some(Operand::F32);
        // From 0 to infinity, and from 0 to 1.
        if float && inst.has_field(f::CLAMP) && inst.get(f::CLAMP) & 1 == 1 {
            return true;
        }
        match Opcode::of(inst.op()) {
            Opcode::FmaF32 => {
                // Nothing is added, of either sign, to a product that has none.
                let alone = inst.get(f::SRC2) == super::ZERO;
                (square(inst) || a() && b()) && (alone || c())
            }
            Opcode::FaddF32 => a() && b() || self.fraction(inst),
            Opcode::FminF32 => a() && b(),
            Opcode::IaddImmI32 => {
                inst.get(f::SRC0) == super::ZERO && inst.get(f::IMM) & 0x8000_8000 == 0
            }
            // Of a NaN and a number the number.
            Opcode::FmaxF32 => {
                let number = |source, neg| {
                    let byte = SourceByte::decode(inst.get(source) as u8, 0);
                    let bits = byte.and_then(|byte| value(byte, &[]));
                    !inst.flag(neg) && bits.is_some_and(|bits| bits < 0x7f80_0000)
                };
                number(f::SRC0, f::NEG0) || number(f::SRC1, f::NEG1)
            }
            Opcode::FaddImmF32 => a() && inst.get(f::IMM) >> 31 == 0,
            Opcode::FrcpF32 | Opcode::FrsqF32 | Opcode::FroundF32 => a(),
            Opcode::FexpF32 | Opcode::U32ToF32 | Opcode::U16ToF32 | Opcode::U8ToF32 => true,
            Opcode::CselF32 | Opcode::CselU32 | Opcode::CselS32 => {
                [f::SRC2, f::SRC3].map(|s| self.positive(inst, s, constants)) == [true; 2]
            }
            Opcode::MovI32 => self.positive(inst, f::SRC0, constants),
            _ => false,
        }
    }
}

/// The bits of a constant, of the table or of the program's uniforms.
fn value(byte: SourceByte, constants: &[Option<u32>]) -> Option<u32> {
    match byte {
        SourceByte::Constant(at) => Some(CONSTANTS[usize::from(at)]),
        SourceByte::Uniform(word) => constants.get(usize::from(word)).copied().flatten(),
        _ => None,
    }
}

/// Whether a source is read as it stands, and not a half of it.
fn whole(inst: &Inst, source: FieldId) -> bool {
    let swizzle = [(f::SRC0, f::SWZ0), (f::SRC1, f::SWZ1), (f::SRC2, f::SWZ2), (f::SRC3, f::SWZ2)]
        .into_iter()
        .find(|(place, _)| *place == source)
        .map(|(_, swizzle)| swizzle);
    source == f::SRC3
        || swizzle.is_none_or(|swizzle| !inst.has_field(swizzle) || inst.get(swizzle) == 0)
}

/// The register whose floor an instruction makes.
fn floor(inst: &Inst) -> Option<u8> {
    const DOWN: u32 = 2;
    let plain = Opcode::of(inst.op()) == Opcode::FroundF32
        && inst.get(f::ROUND) == DOWN
        && !inst.flag(f::NEG0)
        && !inst.flag(f::ABS0);
    register(inst, f::SRC0).filter(|_| plain && whole(inst, f::SRC0))
}

/// The register that a source names.
fn register(inst: &Inst, source: FieldId) -> Option<u8> {
    match SourceByte::decode(inst.get(source) as u8, inst.get(f::FAU_PAGE) as u8) {
        Some(SourceByte::Register { index, .. }) => Some(index),
        _ => None,
    }
}

/// Whether both factors of a product are one number.
fn square(inst: &Inst) -> bool {
    // All but the mark of a last use.
    let register = |byte: u32| {
        if byte < 0x80 { byte & 0x3f } else { byte }
    };
    register(inst.get(f::SRC0)) == register(inst.get(f::SRC1))
        && inst.get(f::SWZ0) == inst.get(f::SWZ1)
        && inst.flag(f::NEG0) == inst.flag(f::NEG1)
        && inst.flag(f::ABS0) == inst.flag(f::ABS1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{assemble_line, decode_word};

    fn known_at_the_end(text: &[&str]) -> Signs {
        let line = |line: &&str| {
            let word = assemble_line(line).expect("assembles");
            decode_word(word).ok()
        };
        let mut insts: Vec<Option<Inst>> = text.iter().map(line).collect();
        insts.push(None);
        *signs(&insts, &BTreeSet::new(), &[]).last().expect("one at least")
    }

    #[test]
    fn squares_and_what_is_made_of_them_have_no_sign() {
        let known = known_at_the_end(&[
            "FMA.f32 r1, r0, ^r0, 0x0.neg",
            "FMA.f32 r2, r5, r5, r1",
            "FRSQ.f32 r3, r2",
            "FADD.f32.clamp_0_1 r4, r5, r6",
            "FMA.f32 r7, r3, r4, r5.abs",
            "FMAX.f32 r8, r5, 0x0",
        ]);
        assert_eq!(known.positive, 0b1_1001_1110);
    }

    #[test]
    fn what_is_above_a_floor_has_no_sign_while_both_stand() {
        let known = known_at_the_end(&[
            "FROUND.f32.rtn r1, r0",
            "FADD.f32 r2, r0, r1.neg",
            "FROUND.f32.rtn r3, r0",
            "FADD.f32 r0, r0, r5",
            "FADD.f32 r4, r0, r3.neg",
            "FROUND.f32.rtp r6, r0",
            "FADD.f32 r7, r0, r6.neg",
            "IADD_IMM.i32 r8, 0x0, #0x3F666666",
        ]);
        assert_eq!(known.positive, 0b1_0000_0100);
    }

    #[test]
    fn other_sums_other_writers_and_halves_may_have_one() {
        for last in [
            "FADD.f32 r1, r1, r2",
            "FMA.f32 r1, r1, r1.neg, 0x0.neg",
            "FMA.f32 r1, r0.h0, r0.h1, 0x0.neg",
            "FADD.f32.rtn r1, r1, r1",
            "LOAD.i64.unsigned.slot0 @r0:r1, r4, offset:0",
            "FADD.f32 r1, r1, r1.neg",
            "FMAX.f32 r1, r5, 0x3F800000.neg",
        ] {
            let known = known_at_the_end(&["FMA.f32 r1, r0, r0, 0x0.neg", last]);
            assert_eq!(known.positive & 2, 0, "{last}");
        }
    }
}
