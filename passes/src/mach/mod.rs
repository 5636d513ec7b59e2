//! Machine-level passes that back ends share: the dependence graph and the list scheduler.
//!
//! A back end describes its machine to both by a [`Model`]; its rules of issue are a small copyable
//! state with the one verb [`Rules::admit`]. Single-issue machines (Gen4, Valhall) admit one
//! instruction per group; group machines (R700, Rogue) as many as their rules allow.
//!
//! The same scheduler runs before allocation (virtual registers; it watches pressure) and after it
//! (cells; it forms the final groups).

mod depend;
mod model;
mod schedule;

pub use depend::{Depend, Edge, Graph};
pub use model::{Dependence, Effects, Extent, Model, Rules};
pub use schedule::{Group, Pressure, Schedule, Scheduler, Stuck, Tuning, reorder};
