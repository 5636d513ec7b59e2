#![forbid(unsafe_code)]
//! Conformance runners and tests over the whole compiler.

pub mod corpus;
pub mod cts;
pub mod expectation;
pub mod fuzz;
pub mod mutate;
pub mod peers;
pub mod programs;
pub mod shared;
pub mod sweep;
