//! Machine IR: flat blocks with logical and physical edges, over registers that are arrays of cells.
//!
//! One shape serves every back end. A back end brings three things: its register [`Files`], an
//! instruction type that implements [`Inst`], and (for allocation and scheduling) the hooks of the
//! crates that ask for more. It gets a function type, a printer and a parser of the same text, a
//! verifier, Graphviz, liveness, register allocation with a checker, and a scheduler.
//!
//! # Two kinds of edges
//! A block has *logical* successors (where one lane goes) and *physical* successors (where the
//! thread goes). On a machine with branches they are the same. On a mask-stack machine (R700, Gen4)
//! a divergent `if` falls from the then arm into the else arm: the physical edge then -> else exists,
//! the logical one does not. A value held per lane lives over logical edges: lanes of the other arm
//! do not write it. A value not held per lane (a uniform cell, a message header, an address
//! register) lives over physical edges, because the thread executes both arms. Its writes ignore the mask, as do those of
//! instructions that say so ([`Inst::ignores_mask`]): they reach cells of lanes that wait ([`live::waiting`]).
//!
//! # Values
//! Virtual registers may be defined more than once: an `if` result is written in both arms, a loop
//! parameter before the loop and in the latch. A definition replaces the whole value *of the lanes
//! that execute it*; an instruction that keeps some of the old value (predication)
//! also uses it, with the definition [`Relation::Tied`] to that use.
//!
//! # Parts
//! An operand may name a [`Part`] of a register of several cells: half of a wide value, one vector of a fetch's result. A
//! definition of a part writes these cells and leaves the others, which need hold nothing: liveness goes by cells
//! ([`live::Pieces`]). The register has its place from the first of its cells that is written to the last that is read.

mod flow;
mod func;
mod inst;
pub mod live;
mod parse;
pub mod plain;
mod print;
mod regs;
mod verify;

pub use flow::{Adjacency, Loop, Loops};
pub use func::{Block, BlockData, Edges, Func, Node, VRegData};
pub use inst::{Access, Inst, Operand, Relation, Role, Slot};
pub use parse::{ParseError, ParseInst, parse, reads_back};
pub use print::{PrintInst, dot, print, print_with_spans};
pub use regs::{Cell, Demand, File, FileId, Files, Names, Part, Phases, Reg, Scope, VReg};
pub use verify::{Fault, verify};
