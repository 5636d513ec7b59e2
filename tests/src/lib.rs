#![forbid(unsafe_code)]
//! Conformance runners and tests over the whole compiler.

pub mod expectation;
pub mod shared;
