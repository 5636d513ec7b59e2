//! The integration tests of this crate: one binary, so that they are linked once.

mod common;
mod files;
mod scaling;
mod semantics;
mod uniformity;
