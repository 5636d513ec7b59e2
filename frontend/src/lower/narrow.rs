//! Integers of 8 bits: words whose upper 24 bits are zeros.
//!
//! What depends on the sign extends it first, and what may reach beyond the eighth bit is cut behind. In buffers a byte
//! is a part of a word; a store of one changes the word by two atomics, since other invocations may own the rest of it.
//! Blocks of workgroup memory, which other blocks share, are read and written as words of 32 bits whatever they hold.

use super::frame::{Base, Place};
use super::types::{Leaf, width};
use super::{Lower, Result, Values};
use gpucc_ir::ssa::{AtomicOp, Op, Type, Value};
use naga::ScalarKind;

/// True for integers of 8 bits.
pub fn is_byte(scalar: naga::Scalar) -> bool {
    scalar.width == 1 && scalar.kind != ScalarKind::Bool
}

/// How a scalar is reached in memory.
enum Way {
    Whole,
    /// As two words.
    Words([Leaf; 2]),
    /// As a part of a word; its bits.
    Part(u32),
}

fn way(place: &Place, leaf: &Leaf, byte: bool) -> Way {
    match leaf.ty {
        _ if byte => Way::Part(0xff),
        Type::B16 if place.is_shared_block() => Way::Part(0xffff),
        Type::B64 if place.is_shared_block() => Way::Words(
            [0, 4].map(|at| Leaf { offset: leaf.offset.wrapping_add(at), ty: Type::B32 }),
        ),
        _ => Way::Whole,
    }
}

/// Some scalar is not one word of a shared block.
fn has_parts(place: &Place, leaves: &[Leaf]) -> bool {
    place.is_shared_block() && leaves.iter().any(|leaf| leaf.ty != Type::B32)
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

    /// Reads scalars, of which `bytes` says which are integers of 8 bits, in order; none where no scalar is.
    pub fn load_scalars(
        &mut self,
        place: &Place,
        leaves: &[Leaf],
        bytes: Option<&[bool]>,
    ) -> Values {
        if bytes.is_none() && !has_parts(place, leaves) {
            return self.load_leaves(place, leaves);
        }
        let mut values = Values::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let byte = bytes.is_some_and(|bytes| bytes[at]);
            match way(place, leaf, byte) {
                Way::Whole => values.extend(self.load_leaves(place, std::slice::from_ref(leaf))),
                Way::Words(words) => {
                    let words = self.load_leaves(place, &words);
                    values.push(self.op2(Op::Join64, words[0], words[1]));
                }
                Way::Part(bits) => {
                    let (around, bit) = self.word_around(place, leaf.offset);
                    let word = [Leaf { offset: 0, ty: Type::B32 }];
                    let word = self.load_leaves(&around, &word)[0];
                    let shifted = self.op2(Op::LShr, word, bit);
                    values.push(match leaf.ty {
                        Type::B16 => self.convert(Op::UConvert, Type::B16, shifted),
                        _ => {
                            let mask = self.u32(bits);
                            self.op2(Op::And, shifted, mask)
                        }
                    });
                }
            }
        }
        values
    }

    /// Writes scalars, of which `bytes` says which are integers of 8 bits.
    pub fn store_scalars(
        &mut self,
        place: &Place,
        leaves: &[Leaf],
        bytes: Option<&[bool]>,
        values: &[Value],
    ) -> Result<()> {
        if bytes.is_none() && !has_parts(place, leaves) {
            self.store_leaves(place, leaves, values);
            return Ok(());
        }
        for (at, (leaf, &value)) in leaves.iter().zip(values).enumerate() {
            let byte = bytes.is_some_and(|bytes| bytes[at]);
            match way(place, leaf, byte) {
                Way::Whole => self.store_leaves(place, std::slice::from_ref(leaf), &[value]),
                Way::Words(words) => {
                    let halves = [Op::Lo64, Op::Hi64].map(|half| self.op1(half, value));
                    self.store_leaves(place, &words, &halves);
                }
                Way::Part(bits) => self.store_part(place, leaf, bits, value)?,
            }
        }
        Ok(())
    }

    /// Changes a part of a word, of which other invocations may own the rest.
    fn store_part(&mut self, place: &Place, leaf: &Leaf, bits: u32, value: Value) -> Result<()> {
        let (around, bit) = self.word_around(place, leaf.offset);
        let mask = self.u32(bits);
        let own = self.op2(Op::Shl, mask, bit);
        let others = self.op1(Op::Not, own);
        let value = match leaf.ty {
            Type::B16 => self.convert(Op::UConvert, Type::B32, value),
            _ => value,
        };
        let moved = self.op2(Op::Shl, value, bit);
        self.atomic(&around, AtomicOp::And, Type::B32, &[others])?;
        self.atomic(&around, AtomicOp::Or, Type::B32, &[moved])?;
        Ok(())
    }

    /// The word that a part of one lies in, and its first bit there.
    fn word_around(&mut self, place: &Place, offset: u32) -> (Place, Value) {
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
        if let (Base::Buffer(buffer), u32::MAX) = (place.base, place.hi) {
            let around = self.brought_within(buffer, place.element, address, 4, 4);
            return (around, bit);
        }
        let mask = self.u32(!3);
        let word = self.op2(Op::And, address, mask);
        // A shared block has whole words.
        let hi = place.hi.next_multiple_of(4);
        (Place { offset: 0, dynamic: Some(word), lo: 0, hi, ..place.clone() }, bit)
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
