//! The integration tests of this crate: one binary, so that they are linked once.

mod descriptors;
#[path = "../../../tests/src/shared.rs"]
mod foreign;
mod isa_arm;
mod isa_files;
mod isa_golden;
mod isa_text;
mod random;
