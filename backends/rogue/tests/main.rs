//! The integration tests of this crate: one binary, so that they are linked once.

#[path = "../../../tests/src/shared.rs"]
mod foreign;
mod isa_golden;
