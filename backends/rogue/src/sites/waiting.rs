//! What instances do that a mask operation makes wait: they run no group up to where their counter is 0 again, but for those that
//! ignore the execution mask. isa/rogue-pipeline.md 2.7.

use super::live::Set;
use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::{Condition, Ops};
use crate::isa::ops::Control;

/// The condition that holds for every instance.
const ALWAYS: u32 = 0;

/// The instances that one group makes wait.
#[derive(Clone, Default)]
pub struct Waiting {
    /// The group with which they may go on: behind an `else`, or the end of a level. Where some wait beyond that end, the same is
    /// said of it.
    pub resumes: Option<usize>,
    /// What they read meanwhile.
    pub reads: Set,
}

/// A level that is open.
#[derive(Default)]
struct Level {
    /// The group whose instances go on with the next arm or the end.
    next: Option<usize>,
    /// The groups whose instances go on with the end.
    left: Vec<usize>,
    /// Those whose instances went on with another arm.
    gone: Vec<usize>,
    /// What groups within read that ignore the mask.
    reads: Set,
}

impl Level {
    /// The end: its number, or none of a level that is open where the program ends.
    fn close(self, end: Option<usize>, waiting: &mut [Waiting]) {
        for from in self.next.into_iter().chain(self.left) {
            waiting[from].resumes = end;
            waiting[from].reads.unite(&self.reads);
        }
        for from in self.gone.into_iter().chain(end) {
            // Who leaves a loop at its end waits while others run it again.
            waiting[from].reads.unite(&self.reads);
        }
    }
}

/// What is known of the instances that each group makes wait; `reads` are the registers that each group reads.
pub fn waiting<'a>(
    groups: &[(usize, Group)],
    reads: impl Iterator<Item = &'a Set>,
) -> Vec<Waiting> {
    let mut waiting = vec![Waiting::default(); groups.len()];
    let mut open: Vec<Level> = Vec::new();
    for (at, ((_, group), reads)) in groups.iter().zip(reads).enumerate() {
        match (mask_of(group), open.last_mut()) {
            (Some((Control::Cndst, condition)), _) => {
                let next = (condition != ALWAYS).then_some(at);
                open.push(Level { next, ..Level::default() });
            }
            (Some((Control::Cndef, _)), Some(level)) => {
                if let Some(from) = level.next.replace(at) {
                    // They run the operation itself too.
                    waiting[from].resumes = Some(at + 1);
                    waiting[from].reads.unite(reads);
                    level.gone.push(from);
                }
            }
            (Some((Control::Cndsm, _)), Some(level)) => level.left.push(at),
            (Some((Control::Cndend | Control::Cndlt, _)), Some(_)) => {
                let Some(level) = open.pop() else { continue };
                if let Some(outer) = open.last_mut() {
                    outer.reads.unite(&level.reads);
                    // Who left for an outer level waits on.
                    if !level.left.is_empty() {
                        outer.left.push(at);
                    }
                }
                level.close(Some(at), &mut waiting);
            }
            (None, Some(level)) if group.condition == Condition::IgnorePe => {
                level.reads.unite(reads);
            }
            _ => {}
        }
    }
    while let Some(level) = open.pop() {
        if let Some(outer) = open.last_mut() {
            outer.reads.unite(&level.reads);
        }
        level.close(None, &mut waiting);
    }
    waiting
}

/// The mask operation that a group is, and its condition.
fn mask_of(group: &Group) -> Option<(Control, u32)> {
    let Ops::Control(inst) = &group.ops else { return None };
    let row = Control::of(inst.op());
    (Control::Cndst..=Control::CndsetlA).contains(&row).then(|| (row, inst.get(f::COND)))
}
