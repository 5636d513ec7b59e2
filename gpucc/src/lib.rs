#![forbid(unsafe_code)]
//! gpucc: shaders in, machine code out, for GPUs whose instruction sets are documented.
//!
//! ```
//! use gpucc::{Compiler, Options, Source, Target};
//! let source = "@fragment fn main() -> @location(0) vec4f { return vec4f(1.0); }";
//! let compiler = Compiler::new(Target::Interp, None)?;
//! let options = Options::default();
//! let parsed = compiler.parse(Source::Wgsl(source), Default::default(), &options)?;
//! for entry in parsed.entries {
//!     let compiled = compiler.compile(&entry.func?, &options)?;
//!     assert_eq!(compiled.entry, "main");
//! }
//! # Ok::<(), gpucc::Failure>(())
//! ```
//!
//! A [`Compiler`] is immutable and may be shared between threads; [`Options`] holds all that steers a
//! compilation; [`Compiled`] is code, figures, places, state and lines; a [`Failure`] says whose
//! fault it is. Nothing here reads the environment, prints, starts threads for itself (the front
//! end's quarantine apart) or touches files: that is the command's.

mod assembler;
pub mod backend;
mod cfg;
mod compiler;
mod describe;
mod elf;
pub mod execute;
mod explorer;
mod failure;
mod front;
mod guard;
pub mod pipeline;
pub mod report;
mod source;
mod target;
pub mod verify;

pub use assembler::{Assembler, AssemblyError, assembler};
pub use cfg::cfg;
pub use compiler::{
    Choice, Compiled, Compiler, Effort, Entry, Options, Parsed, PassTime, Source, pass_names,
    passes,
};
pub use describe::{hex, merge_pipelines, shader_report};
pub use elf::{elf, unique_names};
pub use explorer::explorer;
pub use failure::{Diagnostic, Failure, FailureKind, Label, Severity};
pub use front::print as print_ir;
pub use gpucc_ir::ssa::{Func, Stage};
pub use guard::panic_message;
pub use pipeline::{Pipeline, Robust};
pub use source::{SourceText, message};
pub use target::{Refusal, Target, TargetInfo};

/// Name and version, as reports carry it.
pub const PRODUCER: &str = concat!("gpucc ", env!("CARGO_PKG_VERSION"));
