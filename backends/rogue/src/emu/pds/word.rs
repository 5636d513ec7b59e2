//! Bits of words of 32 bits.

/// The highest and the lowest bit of a field.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Field(pub u32, pub u32);

/// A word.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Word(pub u32);

impl Word {
    /// A field's value.
    pub const fn get(self, Field(high, low): Field) -> u32 {
        let bits = high - low + 1;
        let mask = if bits == 32 { u32::MAX } else { (1 << bits) - 1 };
        self.0 >> low & mask
    }

    /// A bit.
    pub const fn bit(self, at: u32) -> bool {
        self.0 >> at & 1 == 1
    }
}
