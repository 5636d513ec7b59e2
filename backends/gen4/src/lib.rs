#![forbid(unsafe_code)]
// The emulated machine asks for what nobody else does.
#![cfg_attr(not(feature = "emulator"), allow(dead_code, unused_imports))]
//! Intel Gen4 (965) and G45: optimised structured SSA becomes machine code, and a strict emulator runs it.

mod abi;
mod back;
mod clean;
mod cost;
mod dead;
mod describe;
#[cfg(feature = "emulator")]
mod device;
mod dots;
mod emit;
#[cfg(feature = "emulator")]
pub mod emu;
mod expand;
mod fetch;
mod forward;
mod inst;
pub mod isa;
mod kernels;
pub mod legal;
mod limits;
mod lower;
mod machine;
mod numerics;
mod pack;
mod predicate;
mod refuse;
mod regs;
mod schedule;
#[cfg(feature = "emulator")]
mod sites;
mod steps;
mod strips;
mod target;
mod targets;
mod text;
mod vue;
mod when;

pub use machine::{G45, GEN4};
