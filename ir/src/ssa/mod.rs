//! Structured SSA: the one program form that every machine-independent pass reads and writes.
//!
//! # Shape
//! A [`Func`] is one entry point with everything inlined. Its body is a [`Region`]: a list of
//! instructions that ends in a terminator. An instruction may own regions:
//!
//! | op | regions | results |
//! |---|---|---|
//! | `if c` | then, else | what the arms `yield` |
//! | `loop (inits)` | body, continuing | what `break` or `break_if` carries |
//! | `block` | one, labelled by the instruction itself | what `yield` or `exit` carries |
//!
//! Results take the place of phis, and dominance is lexical scope: a value is visible from its
//! definition to the end of the region that holds it, nested regions included.
//!
//! # Terminators
//! `yield (values)` ends a region of its own `if`, `block` or the function body. `break (values)`
//! and `continue (values)` may end any region below a loop's body (never below its `continuing`
//! without a loop in between) and target the innermost loop: `break` gives the loop's results,
//! `continue` gives the parameters of `continuing`. `continuing` ends in `next (values)`, which
//! gives the body's parameters of the next trip, or in `break_if c (results), next (values)`.
//! `exit ^block (values)` leaves a labelled `block` from any depth. `unreachable` ends what
//! control never leaves.
//!
//! # Values
//! Scalars typed by width alone ([`Type`]): the op says how the bits are read. Each instruction may
//! remember the source vector operation and lane that it came from ([`Bundle`]).
//!
//! # What stands around it
//! [`Op`] is the table of operations, [`eval`](mod@eval) what each computes under a numeric model
//! ([`Numerics`]), [`verify`](mod@verify) the list of invariants, [`parse`](mod@parse) the grammar
//! of the text that [`print`](mod@print) writes, [`interp`] the meaning of a whole function over a [`World`],
//! and [`random`] a source of programs for tests.

mod build;
mod compact;
pub mod cube;
pub mod eval;
mod func;
pub mod interp;
mod lex;
pub mod numerics;
mod op;
pub mod parse;
pub mod print;
pub mod random;
mod resource;
pub mod verify;
mod words;
mod world;

pub use build::Builder;
pub use eval::{eval, eval_inst, eval_lanes, identity};
pub use func::{
    Access, Bounds, Bundle, Corners, Emits, Func, Geometry, Imm, Inst, InstData, Mem, MemData,
    MemSpace, Module, Region, RegionData, Span, Stage, Type, Value, ValueData, ValueDef,
};
pub use lex::ParseError;
pub(crate) use lex::unquote;
pub use numerics::Numerics;
pub use op::{Flags, Number, Op, Sig};
pub use parse::{parse, parse_in_place};
pub use print::Names;
pub(crate) use print::Quoted;
pub use resource::{
    AtomicOp, Builtin, Dim, ImageAccess, Input, InputData, InputKind, Interpolation,
    MOST_DISTANCES, Output, OutputData, OutputKind, Part, Resource, ResourceData, ResourceKind,
    SampleType, Sampling, Scalar, Scan, Shuffle, TEXEL_OFFSETS, TexKind, TexOp, TexQuery,
    TexelFormat, sampler_modes,
};
pub use verify::{MAX_EMITTED, MAX_INVOCATIONS, MAX_NESTING, verify};
pub use world::{Lod, Sample, TexelAddress, World};
