#![forbid(unsafe_code)]
//! Imagination PowerVR Rogue: instruction groups as data, bytes and text, and what the documents forbid of them.

pub mod isa;
pub mod legal;
