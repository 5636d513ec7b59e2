//! What the instances that run a group have written before it, and which messages may be under way.

use super::live::{P0, Set, find, place, predicate, runs_always};
use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::{Condition, MainOps, Ops};
use crate::isa::ops::Control;
use crate::legal::{branch_of, target_of, writes_of};
use gpucc_isa::Inst;

/// Registers, by who has written them: those whose p0 is 0, those whose p0 is 1, and all.
#[derive(Copy, Clone, Default)]
struct Halves([Set; 3]);

/// The place of all in [`Halves`].
const ALL: usize = 2;

impl Halves {
    fn insert(&mut self, who: usize, at: usize) {
        self.0[who].insert(at);
        if self.0[0].has(at) && self.0[1].has(at) {
            self.0[ALL].insert(at);
        }
    }

    fn remove(&mut self, at: usize) {
        self.0.iter_mut().for_each(|set| set.remove(at));
    }

    /// p0 is another now.
    fn forget(&mut self) {
        self.0[..ALL].fill(Set::default());
    }
}

/// A level of the execution mask that is open.
#[derive(Default)]
struct Level {
    /// What was written before it.
    before: Set,
    /// What the first arm has written besides.
    arm: Option<Set>,
    /// Some leave it before its end.
    left: bool,
}

/// In straight code, what was written before each group by those that run it; of a group that everybody runs, by everybody.
#[derive(Default)]
struct Walk {
    now: Halves,
    /// What messages of each counter will have written.
    coming: [Halves; 2],
    levels: Vec<Level>,
    /// Groups before this byte may be skipped.
    skipped: i64,
}

impl Walk {
    fn before(&self, group: &Group) -> Set {
        match self.levels.first() {
            Some(level) if group.condition == Condition::IgnorePe => level.before,
            _ => self.now.0[ALL],
        }
    }

    fn pass(&mut self, offset: usize, group: &Group) {
        if let Some(branch) = branch_of(group).filter(|branch| branch.get(f::BPRED) == 0) {
            self.skipped = self.skipped.max(target_of(offset, branch));
        }
        let always = offset as i64 >= self.skipped;
        let who = match group.condition {
            Condition::IfP0 => 1,
            Condition::IfNotP0 => 0,
            Condition::Runs | Condition::IgnorePe => ALL,
        };
        let places = writes_of(group).into_iter().filter_map(place);
        if let Some(drc) = counter(group) {
            for at in places {
                self.now.remove(at);
                if always && drc < 2 {
                    self.coming[drc].insert(who, at);
                }
            }
        } else if always {
            places.for_each(|at| self.now.insert(who, at));
        }
        if predicate(group).1 {
            self.now.forget();
            self.coming.iter_mut().for_each(Halves::forget);
            let sends = matches!(&group.ops, Ops::Main(MainOps { backend: Some(_), .. }));
            if always && !sends && runs_always(group) {
                self.now.insert(ALL, P0);
            }
        }
        let Ops::Control(inst) = &group.ops else { return };
        let row = Control::of(inst.op());
        if row == Control::Wdf {
            let drc = inst.get(f::MISC) as usize & 1;
            let came = std::mem::take(&mut self.coming[drc]);
            for who in (0..3).filter(|_| always) {
                let landed = (0..=P0).filter(|at| came.0[who].has(*at));
                landed.for_each(|at| self.now.insert(who, at));
            }
        }
        if (Control::Cndst..=Control::CndsetlA).contains(&row) {
            self.mask(row, inst.get(f::ADJUST));
        }
    }

    fn mask(&mut self, row: Control, levels: u32) {
        self.now.forget();
        self.coming = Default::default();
        match row {
            // Levels are counted one by one.
            Control::Cndst | Control::Cndend | Control::Cndlt if levels != 1 => {
                *self = Walk { skipped: i64::MAX, ..Walk::default() };
            }
            Control::Cndst => {
                self.levels.push(Level { before: self.now.0[ALL], ..Level::default() });
            }
            Control::Cndsm => self.levels.iter_mut().for_each(|level| level.left = true),
            Control::Cndef => match self.levels.last_mut() {
                Some(level) => {
                    level.arm = Some(self.now.0[ALL]);
                    self.now.0[ALL] = level.before;
                }
                None => self.now = Halves::default(),
            },
            Control::Cndend | Control::Cndlt => {
                let level = self.levels.pop().unwrap_or_default();
                let both = match level.arm.filter(|_| !level.left) {
                    Some(arm) => arm.common(&self.now.0[ALL]),
                    None => level.before,
                };
                self.now.0[ALL] = both;
            }
            _ => *self = Walk { skipped: i64::MAX, ..Walk::default() },
        }
    }
}

/// The counter of a group's message.
fn counter(group: &Group) -> Option<usize> {
    let inst: &Inst = match &group.ops {
        Ops::Main(ops) => ops.backend.as_ref()?,
        Ops::Control(inst) => inst,
        Ops::Bitwise(_) => return None,
    };
    inst.has_field(f::DRC).then(|| inst.get(f::DRC) as usize)
}

/// For each group of a program, what those have written who run it, without what messages still write, and whether messages of each
/// counter may be under way.
pub fn written(groups: &[(usize, Group)]) -> Vec<(Set, [bool; 2])> {
    let mut walk = Walk::default();
    let sets = groups.iter().map(|(offset, group)| {
        let set = walk.before(group);
        walk.pass(*offset, group);
        set
    });
    sets.collect::<Vec<_>>().into_iter().zip(sent(groups)).collect()
}

/// Messages that may be under way before each group, along every way to it.
fn sent(groups: &[(usize, Group)]) -> Vec<[bool; 2]> {
    use Control as C;
    let odd = |group: &Group| match &group.ops {
        Ops::Control(inst) => {
            let row = C::of(inst.op());
            matches!(row, C::Lapc | C::Savl | C::CndsetlA | C::CndsetlB | C::Cndlpc)
                || row == C::Br && inst.flag(f::LINK)
        }
        _ => false,
    };
    if groups.iter().any(|(_, group)| odd(group)) {
        return vec![[true; 2]; groups.len()];
    }
    let mut before = vec![[false; 2]; groups.len()];
    loop {
        let mut changed = false;
        for (at, (offset, group)) in groups.iter().enumerate() {
            let mut sent = before[at];
            if let Some(drc) = counter(group) {
                sent[drc & 1] = true;
            }
            let mut jump = None;
            if let Ops::Control(inst) = &group.ops {
                match C::of(inst.op()) {
                    C::Wdf => sent[inst.get(f::MISC) as usize & 1] = false,
                    C::Br => jump = find(groups, target_of(*offset, inst)),
                    _ => {}
                }
            }
            // Behind a branch too: where nobody runs it, all go on.
            for to in [at + 1].into_iter().chain(jump).filter(|to| *to < groups.len()) {
                for (there, sent) in before[to].iter_mut().zip(sent) {
                    changed |= sent && !*there;
                    *there |= sent;
                }
            }
        }
        if !changed {
            return before;
        }
    }
}
