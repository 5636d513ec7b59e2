//! Numbers in shared registers, which the driver fills. isa/rogue-pipeline.md 4.4.

use crate::isa::register::{Register, Special, special};

/// Numbers that the driver puts into shared registers in a row.
pub struct Constants {
    /// The first register.
    pub first: u16,
    /// How many there may be.
    pub most: u16,
    pub numbers: Vec<u32>,
}

impl Constants {
    /// The number that a register holds for good.
    pub fn value(&self, register: Register) -> Option<u32> {
        match register {
            Register::Special(number) => match special(number) {
                Special::Constant(bits) => Some(bits),
                _ => None,
            },
            Register::Shared(number) => {
                self.numbers.get(usize::from(number.checked_sub(self.first)?)).copied()
            }
            _ => None,
        }
    }

    /// The first of registers in a row with these numbers.
    pub fn row(&mut self, bits: &[u32]) -> Option<u16> {
        let held = self.numbers.windows(bits.len()).position(|window| window == bits);
        // What stands at the end is continued.
        let begun =
            (0..=bits.len()).find(|&gone| self.numbers.ends_with(&bits[..bits.len() - gone]));
        let at = match held {
            Some(at) => at,
            None => {
                let begun = bits.len() - begun?;
                if self.numbers.len() + bits.len() - begun > usize::from(self.most) {
                    return None;
                }
                self.numbers.extend(&bits[begun..]);
                self.numbers.len() - bits.len()
            }
        };
        Some(self.first + at as u16)
    }
}
