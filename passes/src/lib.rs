#![forbid(unsafe_code)]
//! Shared passes: what every target does to structured SSA before it lowers it.
//!
//! # Use
//! ```
//! use gpucc_ir::ssa::{Func, Numerics, Stage};
//! use gpucc_passes::{Ctx, Neutral, Options, Plan, Quiet, Runner};
//! # let mut func = Func::new("main", Stage::Compute);
//! # gpucc_ir::ssa::Builder::at_body(&mut func).end(gpucc_ir::ssa::Op::Yield, &[]);
//! let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
//! let plan = Plan::for_options(&ctx.options);
//! Runner::default().run(&plan, &mut func, &mut ctx, &mut Quiet).unwrap();
//! ```
//! A pass is one file with one `run(&mut Func, &mut Ctx) -> bool` that says whether it changed
//! something; an analysis returns a value. Dumping, skipping, stopping, fuel, timing and
//! verification live in the one [`Runner`].
//!
//! [`expand`] is what back ends call to get rid of ops that their machine lacks; [`uniformity`] is
//! the analysis that lowering asks. `mach` holds the machine-level passes that back ends share.

pub mod algebra;
pub mod bound_loops;
pub mod copy_prop;
pub mod ctx;
pub mod dce;
pub mod demoted;
pub mod exits_to_guards;
pub mod expand;
pub mod float_range;
pub mod fold;
pub mod forward;
pub mod gvn;
pub mod hoist;
pub mod if_convert;
pub mod interface;
pub mod join;
pub mod join_exits;
pub mod licm;
pub mod mach;
pub mod mem2reg;
pub mod pass;
pub mod prune;
pub(crate) mod range;
pub mod relaxed_fold;
pub(crate) mod rename;
pub mod robust;
pub mod runner;
pub mod scalar_replace;
pub mod settle_loops;
pub(crate) mod shape;
pub mod signs;
pub mod simplify;
pub(crate) mod spare;
pub mod strength;
pub mod tables;
pub(crate) mod tail_exits;
pub mod uniformity;
pub mod unroll;
pub(crate) mod walk;
pub mod words;
pub mod zero_workgroup;

pub use ctx::{Ctx, Level, Neutral, Options, Robustness, TargetInfo};
pub use runner::{Observer, PASSES, Pass, Plan, Proof, Quiet, Report, RunError, Runner, Timing};
