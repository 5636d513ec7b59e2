#![forbid(unsafe_code)]
//! Imagination PowerVR Rogue: instruction groups as data, bytes and text, what the documents forbid of them, and a strict
//! emulator of the machine.

pub mod emu;
pub mod isa;
pub mod legal;
