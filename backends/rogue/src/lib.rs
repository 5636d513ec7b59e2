#![forbid(unsafe_code)]
// The emulated machine asks for what nobody else does.
#![cfg_attr(not(feature = "emulator"), allow(dead_code, unused_imports))]
//! Imagination PowerVR Rogue: instruction groups as data, bytes and text, what the documents forbid of them, a back end that makes
//! them of structured SSA, and a strict emulator of the machine.

mod abi;
mod attribute;
mod back;
pub mod chip;
mod clean;
mod color;
mod compiler;
mod constants;
mod cost;
mod describe;
#[cfg(feature = "emulator")]
mod device;
mod emit;
#[cfg(feature = "emulator")]
pub mod emu;
mod evidence;
mod expand;
mod inst;
pub mod isa;
pub mod legal;
mod limits;
mod lower;
mod machine;
mod numerics;
mod pack;
mod refuse;
mod regs;
#[cfg(feature = "emulator")]
mod sites;
mod state;
mod steps;
mod target;
pub mod words;

pub use compiler::{ROGUE, Rogue};
pub use machine::Text;
