//! What the documents leave open, chosen by a seed: the order of tasks and instances, when messages complete, and what
//! stands in bits that nothing defines.

use gpucc_ir::ssa::random::Rng;

/// Numbers that a seed fixes.
#[derive(Clone, Debug)]
pub struct Order(Rng);

impl Order {
    /// The order of a seed.
    pub const fn new(seed: u64) -> Order {
        Order(Rng::new(seed))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below a limit that is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit)
    }

    /// Puts things in an order of chance.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at + 1));
        }
    }
}
