//! The integration tests of this crate: one binary, so that they are linked once.

mod common;
mod control_forms;
mod lock_step;
mod mutated_text;
mod native;
mod rounding;
