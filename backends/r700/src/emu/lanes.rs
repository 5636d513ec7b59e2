//! Values of all lanes of a wavefront, with poison: what the manual leaves undefined, and why.

use super::rule::Rule;

/// The most lanes of a wavefront.
pub const LANES: usize = 64;

/// Where poison comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The rule that says the value is undefined.
    pub rule: Rule,
    /// Byte offset of the instruction that left it.
    pub offset: u32,
}

impl Origin {
    /// Never written.
    pub const START: Origin = Origin { rule: Rule::Uninitialised, offset: 0 };
}

/// One word for each lane.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The words.
    pub v: [u32; LANES],
    /// Lanes whose word is undefined.
    pub poison: u64,
    /// Why.
    pub origin: Origin,
}

impl Word {
    /// Undefined in every lane.
    pub const UNDEFINED: Word = Word { v: [0; LANES], poison: u64::MAX, origin: Origin::START };

    /// The same in every lane.
    pub fn splat(value: u32) -> Word {
        Word { v: [value; LANES], poison: 0, origin: Origin::START }
    }

    /// Marks lanes undefined.
    pub fn poison(&mut self, lanes: u64, rule: Rule, offset: u32) {
        if lanes != 0 {
            self.poison |= lanes;
            self.origin = Origin { rule, offset };
        }
    }

    /// Takes over the poison of an operand.
    pub fn inherit(&mut self, from: &Word) {
        if from.poison != 0 {
            self.poison |= from.poison;
            self.origin = from.origin;
        }
    }

    /// Replaces some lanes.
    pub fn write(&mut self, from: &Word, lanes: u64, all: u64) {
        if lanes == all {
            *self = *from;
            return;
        }
        for lane in each(lanes) {
            self.v[lane] = from.v[lane];
        }
        self.poison = (self.poison & !lanes) | (from.poison & lanes);
        if from.poison & lanes != 0 {
            self.origin = from.origin;
        }
    }
}

/// The numbers of the set bits.
pub fn each(mut lanes: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if lanes == 0 {
            return None;
        }
        let lane = lanes.trailing_zeros();
        lanes &= lanes - 1;
        Some(lane as usize)
    })
}

/// Every quad with a lane in the set, whole.
pub fn quads(lanes: u64) -> u64 {
    let any = lanes | lanes >> 1 | lanes >> 2 | lanes >> 3;
    (any & 0x1111_1111_1111_1111) * 15
}
