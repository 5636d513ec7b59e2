#![forbid(unsafe_code)]
//! Intel Gen4 (965) and G45: optimised structured SSA becomes machine code, and a strict emulator runs it.

mod abi;
mod back;
mod clean;
mod cost;
mod dead;
mod describe;
mod device;
mod emit;
pub mod emu;
mod expand;
mod fetch;
mod forward;
mod inst;
pub mod isa;
mod kernels;
pub mod legal;
mod lower;
mod machine;
mod numerics;
mod pack;
mod predicate;
mod refuse;
mod regs;
mod schedule;
mod sites;
mod steps;
mod target;
mod targets;
mod text;
mod vue;
mod when;

pub use machine::{G45, GEN4};
