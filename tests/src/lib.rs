#![forbid(unsafe_code)]
//! Conformance runners and tests over the whole compiler.

pub mod expectation;
pub mod shared;

// NOTE to the gpucc engineer (22:53): the lead is writing these runners now: `cts` (expression cases), `programs` (random
// structured programs), `mutate` (flipped fields), `speed` (corpus percentiles, size sweep), `corpus` (compile table).
// Yours stay: dependency laws, run/ files, diagnostics goldens, command contract, bad input, benches. Delete when read.
