//! The machine level that back ends share: the runner and its passes, liveness within blocks, the dependence graph and the
//! scheduler.
//!
//! A back end describes its machine by a [`Model`]: latencies, effects, what nothing moves across. A machine that issues one
//! instruction a cycle gives its functions to [`schedule`]. One that issues groups fills them from a [`Queue`] over the same
//! [`Graph`], and its rules say what a group admits.

mod alive;
mod copies;
mod dead;
mod depend;
mod model;
mod queue;
pub mod runner;
mod schedule;
mod trees;

pub use alive::{Alive, Lives, Touch};
pub use copies::{forward_copies, writes};
pub use dead::{Removable, keep_pairs, remove_dead};
pub use depend::{Depend, Edge, Graph};
pub use model::{Dependence, Effects, Model};
pub use queue::{Key, Queue};
pub use runner::Control;
pub use schedule::{overlap, schedule};
pub use trees::Tree;
