//! The integration tests of this crate: one binary, so that they are linked once.

mod common;
mod constants;
mod corpus;
mod cts;
mod forms;
mod languages;
mod layouts;
mod mutants;
mod refusals;
