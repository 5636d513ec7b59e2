//! The instructions of a program that a test may break.

use gpucc_isa::{Field, Inst};

/// False for changes of a field to a value that leave the program's meaning as it is, so that nothing can notice them.
pub type Meaning = Box<dyn Fn(&Field, u32) -> bool>;

/// An instruction in the code.
pub struct Site {
    /// In bytes.
    pub offset: usize,
    /// The instruction that stands there.
    pub inst: Inst,
    /// Which changes of it mean something.
    pub meaning: Meaning,
}
