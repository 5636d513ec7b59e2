//! The integration tests of this crate: one binary, so that they are linked once.

mod common;
mod contract;
mod cost;
mod doubles;
mod features;
mod files;
mod languages;
mod laws;
mod outputs;
mod picture;
mod state_block;
mod terascale;
mod usage;
mod valhall;
