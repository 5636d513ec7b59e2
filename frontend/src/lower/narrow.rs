//! Integers of 8 bits: words whose upper 24 bits are zeros.
//!
//! What depends on the sign extends it first, and what may reach beyond the eighth bit is cut behind. In buffers a byte
//! is a part of a word; a store of one changes the word by two atomics, since other invocations may own the rest of it.

use super::frame::{Base, Place};
use super::types::{Leaf, width};
use super::{Lower, Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{AtomicOp, Op, Resource, Type, Value};
use naga::ScalarKind;

/// True for integers of 8 bits.
pub fn is_byte(scalar: naga::Scalar) -> bool {
    scalar.width == 1 && scalar.kind != ScalarKind::Bool
}

impl<S> Lower<'_, S> {
    /// The low eight bits of integers of 8 bits; others stay.
    pub fn cut(&mut self, scalar: naga::Scalar, values: Values) -> Values {
        if !is_byte(scalar) {
            return values;
        }
        let mask = self.u32(0xff);
        values.into_iter().map(|value| self.op2(Op::And, value, mask)).collect()
    }

    /// Integers of 8 bits with their sign in the upper bits; others stay.
    pub fn extended_by_sign(&mut self, scalar: naga::Scalar, values: Values) -> Values {
        if !is_byte(scalar) {
            return values;
        }
        let by = self.u32(24);
        let shifted: Values =
            values.into_iter().map(|value| self.op2(Op::Shl, value, by)).collect();
        shifted.into_iter().map(|value| self.op2(Op::AShr, value, by)).collect()
    }

    /// The word that a byte of a buffer lies in, and its first bit there.
    fn word_around(&mut self, buffer: Resource, place: &Place, offset: u32) -> (Place, Value) {
        let offset = place.offset.wrapping_add(offset);
        if place.dynamic.is_none() {
            let bit = self.u32(offset % 4 * 8);
            return (Place { offset: offset & !3, ..place.clone() }, bit);
        }
        let address = self.address(&Place { offset, ..place.clone() }, 0);
        let (rest, eight) = (self.u32(3), self.u32(3));
        let within = self.op2(Op::And, address, rest);
        let bit = self.op2(Op::Shl, within, eight);
        // The last word of an array whose length the driver says may lie beyond a buffer that ends within it.
        if place.hi == u32::MAX {
            let around = self.brought_within(buffer, place.element, address, 4, 4);
            return (around, bit);
        }
        let mask = self.u32(!3);
        let word = self.op2(Op::And, address, mask);
        (Place { offset: 0, dynamic: Some(word), ..place.clone() }, bit)
    }

    /// Reads scalars of which some are bytes of a buffer.
    pub fn load_bytes(&mut self, place: &Place, leaves: &[Leaf], bytes: &[bool]) -> Result<Values> {
        let mut values = Values::with_capacity(leaves.len());
        for (leaf, &byte) in leaves.iter().zip(bytes) {
            let Base::Buffer(buffer) = place.base else {
                return Err(Stop::internal("a byte outside of a buffer"));
            };
            if !byte {
                values.extend(self.load_leaves(place, std::slice::from_ref(leaf)));
                continue;
            }
            let (around, bit) = self.word_around(buffer, place, leaf.offset);
            let address = self.address(&around, 0);
            let word = self.b().buffer_load(buffer, place.element, address, &[Type::B32])[0];
            let mask = self.u32(0xff);
            let shifted = self.op2(Op::LShr, word, bit);
            values.push(self.op2(Op::And, shifted, mask));
        }
        Ok(values)
    }

    /// Writes scalars of which some are bytes of a buffer.
    pub fn store_bytes(
        &mut self,
        place: &Place,
        leaves: &[Leaf],
        bytes: &[bool],
        values: &[Value],
    ) -> Result<()> {
        for ((leaf, &byte), &value) in leaves.iter().zip(bytes).zip(values) {
            if !byte {
                self.store_leaves(place, std::slice::from_ref(leaf), &[value]);
                continue;
            }
            let Base::Buffer(buffer) = place.base else {
                return Err(Stop::internal("a byte outside of a buffer"));
            };
            let (around, bit) = self.word_around(buffer, place, leaf.offset);
            let mask = self.u32(0xff);
            let own = self.op2(Op::Shl, mask, bit);
            let others = self.op1(Op::Not, own);
            let moved = self.op2(Op::Shl, value, bit);
            self.atomic(&around, AtomicOp::And, Type::B32, &[others])?;
            self.atomic(&around, AtomicOp::Or, Type::B32, &[moved])?;
        }
        Ok(())
    }

    /// The same bits as other scalars, where some of both are bytes.
    pub fn bitcast_bytes(
        &mut self,
        values: &Values,
        from: naga::Scalar,
        to: naga::Scalar,
    ) -> Values {
        let (mask, eight) = (self.u32(0xff), self.u32(8));
        let mut bytes = Values::new();
        for &value in values {
            let words: Values = match width(from) {
                Type::B64 => {
                    [Op::Lo64, Op::Hi64].map(|half| self.op1(half, value)).into_iter().collect()
                }
                Type::B16 => Values::from_elem(self.convert(Op::UConvert, Type::B32, value), 1),
                _ => Values::from_elem(value, 1),
            };
            for mut word in words {
                for at in 0..u32::from(from.width).min(4) {
                    if at > 0 {
                        word = self.op2(Op::LShr, word, eight);
                    }
                    bytes.push(self.op2(Op::And, word, mask));
                }
            }
        }
        if is_byte(to) {
            return bytes;
        }
        let mut words = Values::new();
        for part in bytes.chunks(usize::from(to.width).min(4)) {
            let mut word = self.u32(0);
            for &byte in part.iter().rev() {
                let up = self.op2(Op::Shl, word, eight);
                word = self.op2(Op::Or, up, byte);
            }
            words.push(word);
        }
        match width(to) {
            Type::B16 => {
                words.into_iter().map(|word| self.convert(Op::UConvert, Type::B16, word)).collect()
            }
            Type::B64 => {
                words.chunks_exact(2).map(|pair| self.op2(Op::Join64, pair[0], pair[1])).collect()
            }
            _ => words,
        }
    }
}
