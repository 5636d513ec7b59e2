//! What a program costs by the public facts: a group takes a turn. isa/rogue-pipeline.md 6 has no clocks beyond that.

use crate::emit::Emitted;

/// Turns of a task, every group once.
pub fn turns(emitted: &Emitted) -> f64 {
    emitted.groups as f64
}

/// No schedule has fewer: a group has two write ports, and a message, a wait, a branch and the end are groups of their own.
pub fn bound(emitted: &Emitted) -> f64 {
    emitted.writes.div_ceil(2).max(1) as f64
}
