#![forbid(unsafe_code)]
//! Intel Gen4 (965) and G45: optimised structured SSA becomes machine code, and a strict emulator runs it.

mod abi;
mod back;
mod describe;
mod device;
mod emit;
pub mod emu;
mod expand;
mod inst;
pub mod isa;
pub mod legal;
mod lower;
mod machine;
mod numerics;
mod refuse;
mod regs;
mod sites;
mod target;

pub use machine::{G45, GEN4};
