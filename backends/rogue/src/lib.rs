#![forbid(unsafe_code)]
//! Imagination PowerVR Rogue.

pub mod emu;
