//! What one compilation may use of memory and work: one budget from the front end to the registers.
//!
//! Bytes and steps are counted, not measured, so that a program compiles or does not on every machine
//! alike. Whoever lets data grow asks [`Budget::hold`] first, with what one of them costs until the
//! program is encoded; whoever loops asks [`Budget::work`]. A refusal is a limit (exit 4) with what was
//! needed, what there is, and how to get by.

/// Bytes that do not depend on the program.
pub const FIXED: u64 = 16 << 20;
/// Bytes for one instruction as the front end makes it, up to the end of the shared passes. Measured at
/// 480 bytes where most of 365,000 instructions stay.
pub const LOWERED: u64 = 640;
/// Bytes for one instruction of an entry point that was compiled before, with its code.
pub const MADE: u64 = 1536;
/// Bytes for each value that an instruction takes or gives as the machine has it, up to its code, at least one an
/// instruction. Measured at 0.3 to 0.9 KiB where instructions compute, and at 1.2 KiB where tables are stored word by
/// word.
pub const PART: u64 = 1152;
/// Bytes for one instruction, used or not, in a function that passes work on. Measured at 210 bytes; the rest is for what
/// one pass may make before the next one asks.
pub const ENTRY: u64 = 288;
/// Bytes for one scalar of a composite value that the front end keeps until its function ends: lists are up to twice as long
/// as they are full.
pub const SCALAR: u64 = 8;
/// Bytes for one register that lives into or out of one block.
pub const LIVE: u64 = 24;

/// What there are too many of where operations become several that a machine has.
pub const EXPANDED: &str = "instructions as the machine has them";

/// Bytes and steps of one compilation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes that its data may take at once.
    pub memory: u64,
    /// Visits of instructions by passes, and moves of the register allocator.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { memory: 256 << 20, steps: 1 << 30 }
    }
}

/// More than the budget has.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many {what}: {needed} needed, {available} available; {hint}")]
pub struct Exceeded {
    /// Of what, in the plural.
    pub what: &'static str,
    /// How many the program needs; a lower bound where counting stopped.
    pub needed: u64,
    /// How many the budget has.
    pub available: u64,
    /// How to get by.
    pub hint: &'static str,
}

/// What a charge says whose caller wants no result any more ([`crate::cancel`]).
const CANCELLED: Exceeded =
    Exceeded { what: "steps before it was cancelled", needed: 1, available: 0, hint: "" };
/// How to get by with less memory.
const LESS_MEMORY: &str = "split the shader, call less often, or allow more memory (--memory)";
/// How to get by with fewer steps.
const FEWER_STEPS: &str = "split the shader, optimise less, or allow more steps (--steps)";

impl Budget {
    /// How many things of so many bytes there may be.
    pub const fn room(self, each: u64) -> u64 {
        self.memory.saturating_sub(FIXED) / each
    }

    /// What is left beside `taken` things of `each` bytes.
    pub const fn beside(self, taken: u64, each: u64) -> Budget {
        Budget { memory: self.memory.saturating_sub(taken.saturating_mul(each)), ..self }
    }

    /// Asks for `needed` things of `each` bytes.
    ///
    /// # Errors
    /// More than the memory holds; the caller cancels.
    pub fn hold(self, what: &'static str, needed: u64, each: u64) -> Result<(), Exceeded> {
        let available = self.room(each);
        exceeds(what, needed, available, LESS_MEMORY)
    }

    /// Asks for steps, those before included.
    ///
    /// # Errors
    /// More than there are; the caller cancels.
    pub fn work(self, what: &'static str, needed: u64) -> Result<(), Exceeded> {
        exceeds(what, needed, self.steps, FEWER_STEPS)
    }
}

#[inline]
fn exceeds(
    what: &'static str,
    needed: u64,
    available: u64,
    hint: &'static str,
) -> Result<(), Exceeded> {
    if crate::cancel::wanted() {
        return Err(CANCELLED);
    }
    if needed <= available {
        return Ok(());
    }
    Err(Exceeded { what, needed, available, hint })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_held_and_what_does_not_says_both_numbers() {
        let budget = Budget { memory: FIXED + 1000, steps: 10 };
        assert_eq!(budget.hold("things", 100, 10), Ok(()));
        let exceeded = budget.hold("things", 101, 10).expect_err("one too many");
        assert_eq!((exceeded.needed, exceeded.available), (101, 100));
        assert!(exceeded.to_string().contains("101 needed, 100 available"));
        assert_eq!(budget.work("steps", 10), Ok(()));
        assert!(budget.work("steps", 11).is_err());
        let small = Budget { memory: 0, ..budget };
        assert!(small.hold("things", 1, 1).is_err());
    }
}
