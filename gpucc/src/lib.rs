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
//! fault it is. Nothing here reads the environment, prints or touches files: that is the command's.
//!
//! Any thread with 256 KiB of stack may call what is here: what recurses over a program runs on a thread
//! of its own ([`gpucc_ir::stack`]), which ends before the call does.

#![deny(missing_docs)]

mod assembler;
mod binary;
mod cfg;
mod compiler;
mod describe;
mod elf;
#[cfg(feature = "emulator")]
pub mod execute;
mod explorer;
mod failure;
mod front;
mod guard;
mod key;
pub mod link;
mod machines;
pub mod pipeline;
mod program;
mod properties;
pub mod report;
mod source;
mod target;
#[cfg(feature = "emulator")]
pub mod verify;
mod warm;

pub use assembler::{Assembler, AssemblyError, assembler};
pub use binary::{Binary, Rejected, Stored, StoredEntry};
pub use cfg::{cfg, machine_cfg};
pub use compiler::{
    Cancel, Choice, Compiled, Compiler, Effort, Entry, Include, IncludedText, Includes, Kept,
    Options, Parsed, PassTime, Reading, Source,
};
pub use describe::{binary_report, hex, merge_pipelines, shader_report};
pub use elf::{elf, unique_names};
pub use explorer::{Column, explorer};
pub use failure::{Diagnostic, Failure, FailureKind, Label, Severity};
pub use front::{longest_source, print as print_ir};
pub use gpucc_ir::budget::Budget;
pub use gpucc_ir::ssa::{Func, Stage};
/// What a machine is to the compiler: for the workspace's own tools, and no part of the interface.
#[doc(hidden)]
pub use gpucc_machine as machine;
pub use gpucc_machine::described::EvidenceClass;
#[doc(inline)]
pub use gpucc_machine::{compiled, described, flow, named};
pub use gpucc_passes::{Pass, Proof};
#[doc(hidden)]
pub use guard::panic_message;
pub use key::Key;
pub use pipeline::{Pipeline, Robust};
pub use program::Program;
pub use properties::Properties;
pub use source::{Origin, SourceText, message, printable};
pub use target::{Refusal, Target, TargetInfo};

/// Name, version and build, as reports carry them. The build is a commit; a hash of the sources follows it where they differ
/// from the commit's, and stands alone where there is no commit.
pub const PRODUCER: &str =
    concat!("gpucc ", env!("CARGO_PKG_VERSION"), " (", env!("GPUCC_BUILD"), ")");
