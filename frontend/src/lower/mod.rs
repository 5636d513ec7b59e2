//! naga's module to structured SSA, one function per entry point, everything scalar.
//!
//! # How
//! - Expressions are evaluated where naga's `Emit` says, once, into an [`Operand`]: scalars in
//!   order, a [`Place`] in memory, or a binding handle.
//! - Every local variable becomes a [`gpucc_ir::ssa::Mem`]; promotion to values is a pass.
//! - Constants, inputs and buffer sizes stand in a prologue at the top of the body, so that they
//!   are visible everywhere and exist once.
//! - Calls are inlined. An early `return`, a `break` out of a switch and SPIR-V's `OpKill` are exits
//!   of labelled blocks; a jump to where control flows anyway is left out, and a block that nobody
//!   exits dissolves.
//! - An expression of a loop's body that its `continuing` uses is out of scope there in SSA: it
//!   goes through a `Mem` of its own (see [`frame::Frame::carried`]).
//!
//! # What it costs
//! Linear in the instructions made. Recursion follows the nesting of statements and types, which
//! the pre-scan and naga bound, and [`crate::Limits::region_depth`] after inlining.

pub mod addresses;
pub mod amd;
mod arith;
pub mod ballot;
mod builtin;
mod convert;
pub mod emit;
pub(crate) mod entry;
mod expr;
pub mod flow;
pub mod frame;
mod geometry;
mod inlining;
pub mod interpolate;
pub mod located;
mod math;
pub mod memory;
pub mod narrow;
mod pack;
pub mod primitives;
pub mod quads;
pub mod resource;
mod stmt;
mod subgroup;
pub mod switch;
pub mod texture;
pub mod types;

use crate::Limits;
use crate::stop::Stop;
use frame::Place;
use gpucc_ir::Map;
use gpucc_ir::ssa::{
    Bundle, Func, Inst, Mem, Region, Resource, Sampling, Span, Stage, Type, Value,
};
use smallvec::SmallVec;

pub use entry::{lower, stage_of};
pub use types::Types;

/// What lowering gives or why it stopped.
pub type Result<T> = std::result::Result<T, Stop>;
/// Scalars in order.
pub type Values = SmallVec<[Value; 4]>;

/// What a global variable of the module is in the function.
#[derive(Clone, Debug)]
enum Global {
    /// Not used by the entry point, or not seen yet.
    Unused,
    /// A variable.
    Variable(Place),
    /// A texture, a sampler, or a buffer.
    Binding(Resource),
}

/// What is lowered where naga read it.
pub struct Naga<'a> {
    module: &'a naga::Module,
    info: &'a naga::valid::ModuleInfo,
    types: &'a Types<'a>,
    /// Values of module constants, as far as they were asked for.
    constant_values: Vec<Option<Values>>,
    globals: Vec<Global>,
    /// Fragments of the language read the distances that vertices clip by; those of WGSL do not.
    reads_distances: bool,
}

/// Lowering of what naga read.
type OfNaga<'a> = Lower<'a, Naga<'a>>;

/// The state of lowering one entry point of some source.
pub struct Lower<'a, S> {
    pub source: S,
    pub limits: &'a Limits,
    /// `discard` ends the invocation (SPIR-V, GLSL) instead of making it a helper (WGSL).
    pub discard_ends: bool,
    pub stage: Stage,
    pub func: Func,
    /// Where instructions go.
    pub region: Region,
    /// Constants, inputs, sizes: the top of the body.
    pub prologue: Region,
    /// Stores of initial values: after the prologue.
    pub initial: Region,
    pub span: Span,
    pub bundle: Option<Bundle>,
    pub next_bundle: u32,
    /// Regions around the current one.
    pub depth: u64,
    /// How many of them are a loop's `continuing`, which nothing may leave.
    pub continuing: u64,
    /// Statements and calls lowered; bounds inlining of functions that make no instruction.
    pub steps: u64,
    /// Scalars of composite values kept so far, those of functions that returned included.
    pub kept: u64,
    pub private_bytes: u64,
    pub workgroup_bytes: u64,
    /// What all blocks of workgroup memory lie in.
    shared: Option<Mem>,
    pub constants: Map<(Type, u64), Value>,
    /// Lengths of runtime arrays by binding, offset and stride.
    pub lengths: Map<(Resource, u32, u32), Value>,
    /// The buffer behind pointers to physical storage, once one is followed.
    physical: Option<Resource>,
    /// Constant arrays that are indexed dynamically, by their contents.
    pub tables: Map<Vec<Value>, Mem>,
    /// Which invocations of a compute shader are a quad.
    pub quads: quads::Quads,
    /// Copies of input variables at other places of the pixel; none: at an offset that the program says.
    pub copies: Map<(Mem, Option<Sampling>), interpolate::Copies>,
    /// Labelled blocks that are exited.
    pub exited: gpucc_ir::Set<Inst>,
    /// The block around the whole entry point.
    pub whole: Option<Inst>,
    /// What was inferred.
    pub notes: Vec<crate::Diagnostic>,
}
