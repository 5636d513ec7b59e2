//! Functions of GLSL.std.450 that naga lacks, wholly or in some forms.

use super::Gaps;
use crate::spirv::module::Inst;
use crate::spirv::ops::*;

impl Gaps<'_> {
    /// Functions of GLSL.std.450.
    pub fn function(&mut self, inst: &Inst) -> Option<()> {
        let (ty, id, function) = (inst.operand(0), inst.operand(1), inst.operand(3));
        let given = inst.rest(4).to_vec();
        let set = [self.glsl, function];
        let scalar = self.shape(ty).is_some_and(|shape| shape.1 == 1);
        match (function, &given[..]) {
            (MODF, &[x, pointer]) => {
                let whole = self.std(ty, TRUNC, &[x]);
                self.out.push(Inst::new(self.at, OP_STORE, &[pointer, whole]));
                self.emit_as(OP_F_SUB, ty, id, &[x, whole]);
            }
            (MODF_STRUCT, &[x]) => {
                let own = *self.of.get(&x)?;
                let whole = self.std(own, TRUNC, &[x]);
                let fract = self.emit(OP_F_SUB, own, &[x, whole]);
                self.emit_as(OP_COMPOSITE_CONSTRUCT, ty, id, &[fract, whole]);
            }
            (FREXP, &[x, pointer]) if self.is_float32(ty) => {
                let (fract, exponent) = self.frexp(ty, x);
                // The pointer's type says what the exponent is.
                let int = self.global(OP_TYPE_INT, &[32, 1]);
                let ints = self.like(ty, int);
                let exponent = self.cast(exponent, ints);
                self.out.push(Inst::new(self.at, OP_STORE, &[pointer, exponent]));
                self.emit_as(OP_BITCAST, ty, id, &[fract]);
            }
            (FREXP_STRUCT, &[x]) => {
                let own = *self.of.get(&x)?;
                let member = match self.types.get(&ty)? {
                    (OP_TYPE_STRUCT, members) => *members.get(1)?,
                    _ => return None,
                };
                if !self.is_float32(own) || self.integers(member)?.0 != 32 {
                    return None;
                }
                let (fract, exponent) = self.frexp(own, x);
                let fract = self.emit(OP_BITCAST, own, &[fract]);
                let exponent = self.cast(exponent, member);
                self.emit_as(OP_COMPOSITE_CONSTRUCT, ty, id, &[fract, exponent]);
            }
            (U_MIN | U_MAX | U_CLAMP, _) => {
                return self.with_sign(inst, OP_EXT_INST, &set, &given, 0).then_some(());
            }
            (S_MIN | S_MAX | S_CLAMP | S_ABS | S_SIGN | FIND_S_MSB, _) => {
                return self.with_sign(inst, OP_EXT_INST, &set, &given, 1).then_some(());
            }
            (FIND_U_MSB, _) => {
                return self.with_sign(inst, OP_EXT_INST, &set, &given, 0).then_some(());
            }
            (FIND_LSB, _) => {
                let sign = self.integers(ty)?.1;
                return self.with_sign(inst, OP_EXT_INST, &set, &given, sign).then_some(());
            }
            (LDEXP, &[x, exponent]) => {
                let own = *self.of.get(&exponent)?;
                if self.integers(own)? != (32, 0) {
                    return None;
                }
                let int = self.global(OP_TYPE_INT, &[32, 1]);
                let ints = self.like(ty, int);
                let exponent = self.cast(exponent, ints);
                self.emit_as(OP_EXT_INST, ty, id, &[set[0], set[1], x, exponent]);
            }
            (NORMALIZE, &[x]) if scalar => {
                let length = self.std(ty, F_ABS, &[x]);
                self.emit_as(OP_F_DIV, ty, id, &[x, length]);
            }
            (REFLECT, &[i, n]) if scalar && self.is_float32(ty) => {
                let two = self.splat(ty, 2f32.to_bits());
                let dot = self.emit(OP_F_MUL, ty, &[n, i]);
                let twice = self.emit(OP_F_MUL, ty, &[two, dot]);
                let along = self.emit(OP_F_MUL, ty, &[twice, n]);
                self.emit_as(OP_F_SUB, ty, id, &[i, along]);
            }
            (FACE_FORWARD, &[n, i, reference]) if scalar => {
                let truth = self.global(OP_TYPE_BOOL, &[]);
                let zero = self.splat(ty, 0);
                let dot = self.emit(OP_F_MUL, ty, &[reference, i]);
                let faces = self.emit(OP_F_ORD_LESS_THAN, truth, &[dot, zero]);
                let back = self.emit(OP_F_NEGATE, ty, &[n]);
                self.emit_as(OP_SELECT, ty, id, &[faces, n, back]);
            }
            (REFRACT, &[i, n, eta]) if scalar && self.is_float32(ty) => {
                let truth = self.global(OP_TYPE_BOOL, &[]);
                let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1f32.to_bits()));
                let dot = self.emit(OP_F_MUL, ty, &[n, i]);
                let square = self.emit(OP_F_MUL, ty, &[dot, dot]);
                let rest = self.emit(OP_F_SUB, ty, &[one, square]);
                let eta2 = self.emit(OP_F_MUL, ty, &[eta, eta]);
                let part = self.emit(OP_F_MUL, ty, &[eta2, rest]);
                let k = self.emit(OP_F_SUB, ty, &[one, part]);
                let inside = self.emit(OP_F_ORD_LESS_THAN, truth, &[k, zero]);
                let root = self.std(ty, SQRT, &[k]);
                let bent = self.emit(OP_F_MUL, ty, &[eta, dot]);
                let sum = self.emit(OP_F_ADD, ty, &[bent, root]);
                let along = self.emit(OP_F_MUL, ty, &[sum, n]);
                let straight = self.emit(OP_F_MUL, ty, &[eta, i]);
                let out = self.emit(OP_F_SUB, ty, &[straight, along]);
                self.emit_as(OP_SELECT, ty, id, &[inside, zero, out]);
            }
            _ => return None,
        }
        Some(())
    }

    /// Fraction (as words) and exponent of 32-bit floats; zeros and what is smaller than any normal
    /// number stay what they are.
    fn frexp(&mut self, ty: u32, x: u32) -> (u32, u32) {
        let word = self.global(OP_TYPE_INT, &[32, 0]);
        let words = self.like(ty, word);
        let truth = self.global(OP_TYPE_BOOL, &[]);
        let truths = self.like(ty, truth);
        let number = |gaps: &mut Self, bits| gaps.splat(words, bits);
        let bits = self.emit(OP_BITCAST, words, &[x]);
        let by = number(self, 23);
        let high = self.emit(OP_SHIFT_RIGHT_LOGICAL, words, &[bits, by]);
        let mask = number(self, 255);
        let biased = self.emit(OP_BITWISE_AND, words, &[high, mask]);
        let bias = number(self, 126);
        let exponent = self.emit(OP_I_SUB, words, &[biased, bias]);
        let keep = number(self, 0x807f_ffff);
        let kept = self.emit(OP_BITWISE_AND, words, &[bits, keep]);
        let half = number(self, 0x3f00_0000);
        let fract = self.emit(OP_BITWISE_OR, words, &[kept, half]);
        let zero = number(self, 0);
        let small = self.emit(OP_I_EQUAL, truths, &[biased, zero]);
        let fract = self.emit(OP_SELECT, words, &[small, bits, fract]);
        let exponent = self.emit(OP_SELECT, words, &[small, zero, exponent]);
        (fract, exponent)
    }

    /// Rounded to the precision of 16 bits and back.
    pub fn quantized(&mut self, inst: &Inst) -> Option<()> {
        let (ty, id, value) = (inst.operand(0), inst.operand(1), inst.operand(2));
        let (scalar, count) = self.shape(ty)?;
        if !self.is_float32(ty) || self.glsl == 0 {
            return None;
        }
        let word = self.global(OP_TYPE_INT, &[32, 0]);
        let pair = self.global(OP_TYPE_VECTOR, &[scalar, 2]);
        let mut members = Vec::new();
        for index in 0..count {
            let one = match count {
                1 => value,
                _ => self.emit(OP_COMPOSITE_EXTRACT, scalar, &[value, index]),
            };
            let both = self.emit(OP_COMPOSITE_CONSTRUCT, pair, &[one, one]);
            let packed = self.std(word, PACK_HALF, &[both]);
            let unpacked = self.std(pair, UNPACK_HALF, &[packed]);
            if count == 1 {
                self.emit_as(OP_COMPOSITE_EXTRACT, ty, id, &[unpacked, 0]);
                return Some(());
            }
            members.push(self.emit(OP_COMPOSITE_EXTRACT, scalar, &[unpacked, 0]));
        }
        self.emit_as(OP_COMPOSITE_CONSTRUCT, ty, id, &members);
        Some(())
    }
}
