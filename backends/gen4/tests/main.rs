//! The integration tests of this crate: one binary, so that they are linked once.

mod code;
#[path = "../../../tests/src/shared.rs"]
mod foreign;
mod isa_files;
mod isa_golden;
mod isa_text;
mod legal;
mod pixels;
mod random;
mod short;
mod textures;
mod widths;
