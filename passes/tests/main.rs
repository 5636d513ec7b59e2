//! The integration tests of this crate: one binary, so that they are linked once.

mod common;
mod files;
mod identities;
mod ranges;
mod sampler;
mod scaling;
mod semantics;
mod uniformity;
mod zeroes;
