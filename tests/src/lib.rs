#![forbid(unsafe_code)]
//! Conformance runners and tests over the whole compiler.

pub mod amber;
pub mod corpus;
pub mod cts;
pub mod expectation;
pub mod flow;
pub mod fuzz;
pub mod limited;
pub mod mutate;
pub mod peers;
pub mod programs;
pub mod readers;
pub mod repro;
mod script;
pub mod shared;
pub mod state;
pub mod sweep;
pub mod variants;
mod vkscript;
