//! The integration tests of this crate: one binary, so that they are linked once.

mod code;
#[path = "../../../tests/src/shared.rs"]
mod foreign;
mod isa_agree;
mod isa_files;
mod isa_golden;
mod isa_text;
mod legal;
mod limits;
mod memory;
mod pack;
mod samples;
mod sites;
mod subgroups;
mod textures;
mod words;
