//! The integration tests of this crate: one binary, so that they are linked once.

mod common;
mod dispatch;
mod groups;
mod isa_files;
mod isa_golden;
mod isa_r600;
mod isa_text;
mod random;
mod stack;
mod unreached;
