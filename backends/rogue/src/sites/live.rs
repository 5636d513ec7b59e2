//! What holds around a group: who runs it, and what is read behind it.

use super::known::Known;
use super::waiting::waiting;
use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::{Condition, MainOps, Ops};
use crate::isa::ops::{Backend, Control, Main};
use crate::isa::register::{File, Register};
use crate::legal::{branch_of, reads_of, target_of, writes_of};
use gpucc_isa::Inst;
use std::collections::BTreeSet;

/// Registers of an instance: temporaries, vertex inputs, internal registers, index registers, p0.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Set([u64; 9]);

/// Places of the registers in a set.
const TEMPS: usize = 0;
const VERTEX_INPUTS: usize = 256;
const INTERNALS: usize = 512;
const INDICES: usize = 520;
const P0: usize = 522;

impl Set {
    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn remove(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Takes in another.
    pub fn unite(&mut self, other: &Set) {
        self.0.iter_mut().zip(other.0).for_each(|(to, from)| *to |= from);
    }

    /// Whether a register is no instance's own, or is in the set.
    pub fn reads(&self, register: Register) -> bool {
        place(register).is_none_or(|at| self.has(at))
    }

    /// Whether p0 is.
    pub fn reads_p0(&self) -> bool {
        self.has(P0)
    }

    /// All of a file.
    fn insert_file(&mut self, file: File) {
        let first = match file {
            File::Temp => TEMPS,
            File::Vtxin => VERTEX_INPUTS,
            _ => return,
        };
        (first..first + 248).for_each(|at| self.insert(at));
    }
}

/// The place of a register that is an instance's own.
fn place(register: Register) -> Option<usize> {
    match register {
        Register::Temp(number) if number < 248 => Some(TEMPS + usize::from(number)),
        Register::Vtxin(number) if number < 248 => Some(VERTEX_INPUTS + usize::from(number)),
        Register::Special(number @ 36..=43) => Some(INTERNALS + usize::from(number - 36)),
        Register::Index(number) => Some(INDICES + usize::from(number)),
        _ => None,
    }
}

/// What is known of a group by where it stands.
#[derive(Clone, Debug)]
pub struct Around {
    /// Every instance runs it: no mask operation before it is open.
    pub all_run: bool,
    /// What p0 is for every instance that runs it.
    pub p0: Option<bool>,
    /// What an instance may read behind it.
    pub behind: Set,
    /// What an instance may read behind it whose p0 is 0 there, and one whose p0 is 1.
    pub behind_p0: [Set; 2],
    /// Some group of the program reads the link register.
    pub links: bool,
    /// Numbers without signs.
    pub known: Known,
    /// What every instance has written before it, and no message since.
    pub written: Set,
    /// Messages of each counter may be under way.
    pub sent: [bool; 2],
}

/// What is known of each group of a program.
pub fn around(groups: &[(usize, Group)], mut known: Known) -> Vec<Around> {
    let behind = behind(groups);
    let targets: BTreeSet<i64> = groups
        .iter()
        .filter_map(|(offset, group)| Some(target_of(*offset, branch_of(group)?)))
        .collect();
    let links = groups.iter().any(|(_, group)| match &group.ops {
        Ops::Control(inst) => {
            use Control::*;
            matches!(Control::of(inst.op()), Lapc | Savl | CndsetlA | CndsetlB | Cndlpc)
        }
        _ => false,
    });
    let mut depth = 0i64;
    let mut p0 = None;
    let mut all = Vec::with_capacity(groups.len());
    let mut written = Written::default();
    for ((offset, group), behind_p0) in groups.iter().zip(behind) {
        if targets.contains(&(*offset as i64)) {
            p0 = None;
            known.forget();
        }
        let all_run = depth == 0;
        all.push(Around {
            all_run,
            p0,
            behind: either(&behind_p0),
            behind_p0,
            links,
            known: known.clone(),
            written: written.set,
            sent: written.sent,
        });
        written.pass(*offset, group, all_run);
        known.pass(group, &writes_of(group));
        if predicate(group).1 {
            p0 = None;
        }
        let Ops::Control(inst) = &group.ops else { continue };
        let adjust = i64::from(inst.get(f::ADJUST));
        match Control::of(inst.op()) {
            Control::Cndst if group.sources[0] == Register::ZERO => depth = adjust,
            Control::Cndst => depth += adjust,
            Control::Cndend | Control::Cndlt => depth -= adjust,
            _ => {}
        }
        let row = Control::of(inst.op());
        if row != Control::Wdf && row != Control::Nop {
            known.forget();
        }
        if (Control::Cndst..=Control::CndsetlA).contains(&row) {
            // Those go on for whom the condition holds.
            p0 = match (row, inst.get(f::COND)) {
                (Control::Cndst, 1) => Some(true),
                (Control::Cndst, 3) => Some(false),
                // Those for whom it holds wait.
                (Control::Cndsm, 1) => Some(false),
                (Control::Cndsm, 3) => Some(true),
                _ => None,
            };
        }
    }
    all
}

/// What all instances have written, in straight code.
#[derive(Copy, Clone, Default)]
struct Written {
    set: Set,
    sent: [bool; 2],
    /// Groups before this byte may be skipped.
    skipped: i64,
}

impl Written {
    fn pass(&mut self, offset: usize, group: &Group, all_run: bool) {
        if let Some(branch) = branch_of(group) {
            self.skipped = self.skipped.max(target_of(offset, branch));
        }
        let sends = match &group.ops {
            Ops::Main(MainOps { backend: Some(word), .. }) => {
                if word.has_field(f::DRC) {
                    self.sent[word.get(f::DRC) as usize & 1] = true;
                }
                true
            }
            Ops::Control(wait) if Control::of(wait.op()) == Control::Wdf => {
                self.sent[wait.get(f::MISC) as usize & 1] = false;
                false
            }
            Ops::Control(other) => {
                // Instances come from elsewhere, with messages that they sent there.
                if Control::of(other.op()) != Control::Nop {
                    self.sent = [true; 2];
                }
                true
            }
            _ => false,
        };
        let places = writes_of(group).into_iter().filter_map(place);
        if sends {
            places.for_each(|at| self.set.remove(at));
        } else if runs_always(group) && all_run && offset as i64 >= self.skipped {
            places.for_each(|at| self.set.insert(at));
            if predicate(group).1 {
                self.set.insert(P0);
            }
        }
    }
}

/// What is in one of two sets.
fn either([zero, one]: &[Set; 2]) -> Set {
    let mut set = *zero;
    set.unite(one);
    set
}

/// Liveness, backwards until nothing changes: of instances whose p0 is 0, and of those whose p0 is 1. A group that runs
/// where p0 is the other does nothing to them. What any instance may read is in one of the two.
fn behind(groups: &[(usize, Group)]) -> Vec<[Set; 2]> {
    let find = |offset: i64| {
        let offset = usize::try_from(offset).ok()?;
        groups.binary_search_by_key(&offset, |(at, _)| *at).ok()
    };
    let jumps: Vec<Option<usize>> =
        groups.iter().map(|(offset, group)| find(target_of(*offset, branch_of(group)?))).collect();
    let touched: Vec<(Set, Set)> = groups.iter().map(|(_, group)| touches(group)).collect();
    let waiting = waiting(groups, touched.iter().map(|(reads, _)| reads));
    let pure: Vec<bool> = groups.iter().map(|(_, group)| is_pure(group)).collect();
    // Behind the last group that sends something there are outputs alone.
    let sends = |group: &Group| matches!(&group.ops, Ops::Main(ops) if ops.backend.is_some());
    let last = groups.iter().rposition(|(_, group)| sends(group) || mixes(group));
    let mut before = vec![[Set::default(); 2]; groups.len() + 1];
    let mut behind = vec![[Set::default(); 2]; groups.len()];
    loop {
        let mut changed = false;
        for at in (0..groups.len()).rev() {
            let mut sets = before[at + 1];
            for to in [jumps[at], waiting[at].resumes].into_iter().flatten() {
                sets.iter_mut().zip(&before[to]).for_each(|(set, there)| set.unite(there));
            }
            sets.iter_mut().for_each(|set| set.unite(&waiting[at].reads));
            behind[at] = sets;
            let any = either(&sets);
            let (reads, writes) = &touched[at];
            let group = &groups[at].1;
            let mixes = mixes(group) || predicate(group).1;
            for (set, skip) in sets.iter_mut().zip([Condition::IfP0, Condition::IfNotP0]) {
                if mixes {
                    *set = any;
                }
                if skip == group.condition && !mixes && !looks_around(group) {
                    continue;
                }
                // What is computed for nobody asks for nothing.
                if pure[at] && (0..P0).all(|at| !writes.has(at) || !set.has(at)) {
                    continue;
                }
                // All of these instances run it, where p0 is known of each.
                if runs_always(group) || !mixes && !looks_around(group) {
                    (0..=P0).filter(|at| writes.has(*at)).for_each(|at| set.remove(at));
                }
                set.unite(reads);
            }
            if feeds(group) && last.is_some_and(|last| last == at) {
                // A pixel without feedback leaves nothing.
                sets[0] = Set::default();
            }
            changed |= before[at] != sets;
            before[at] = sets;
        }
        if !changed {
            return behind;
        }
    }
}

/// Whether a group that every instance runs computes, and leaves temporaries alone. Neighbours read nothing of it.
fn is_pure(group: &Group) -> bool {
    let own = |register: &Register| matches!(register, Register::Temp(_) | Register::Vtxin(_));
    let computes = match &group.ops {
        Ops::Main(ops) => ops.backend.is_none() && !looks_around(group),
        Ops::Bitwise(_) => true,
        Ops::Control(_) => false,
    };
    let runs = group.condition == Condition::Runs && !group.end;
    computes && runs && !predicate(group).1 && group.writes.iter().flatten().all(own)
}

/// Whether an operation of a group writes p0, or looks at neighbours.
fn looks_around(group: &Group) -> bool {
    let Ops::Main(ops) = &group.ops else { return false };
    [ops.p0, ops.p1].iter().flatten().any(crosses)
}

/// Whether an operation writes p0, or looks at neighbours.
pub fn crosses(word: &Inst) -> bool {
    let row = Main::of(word.op());
    matches!(row, Main::Fsinc | Main::Fred | Main::Fdsx | Main::Fdsy | Main::Fdsxf | Main::Fdsyf)
}

/// Behind such a control group instances go on that waited before it.
fn mixes(group: &Group) -> bool {
    match &group.ops {
        Ops::Control(inst) => !matches!(Control::of(inst.op()), Control::Wdf | Control::Nop),
        _ => false,
    }
}

/// Feedback of those whose p0 is 1.
fn feeds(group: &Group) -> bool {
    let Ops::Main(ops) = &group.ops else { return false };
    let feeds = |inst: Inst| matches!(Backend::of(inst.op()), Backend::Alphaf | Backend::Depthf);
    group.condition == Condition::IfP0 && ops.backend.is_some_and(feeds)
}

/// What a group reads, and what it writes of every instance that runs it. Those that wait keep what they have, and go another way
/// ([`waiting`]).
fn touches(group: &Group) -> (Set, Set) {
    let (mut reads, mut writes) = (Set::default(), Set::default());
    for register in reads_of(group) {
        reads.insert_all(register);
    }
    for register in group.sources.iter().chain(group.writes.iter().flatten()) {
        if let Register::Relative { index, .. } = *register {
            reads.insert(INDICES + usize::from(index));
        }
    }
    writes_of(group).into_iter().filter_map(place).for_each(|at| writes.insert(at));
    let (asks, gives) = predicate(group);
    if asks || !runs_always(group) {
        reads.insert(P0);
    }
    if gives {
        writes.insert(P0);
    }
    (reads, writes)
}

/// Whether p0 does not decide who runs a group.
fn runs_always(group: &Group) -> bool {
    matches!(group.condition, Condition::Runs | Condition::IgnorePe)
}

impl Set {
    fn insert_all(&mut self, register: Register) {
        match register {
            Register::Relative { file, .. } => self.insert_file(file),
            _ => place(register).into_iter().for_each(|at| self.insert(at)),
        }
    }
}

/// Whether operations ask p0, and whether they write it.
fn predicate(group: &Group) -> (bool, bool) {
    match &group.ops {
        Ops::Main(ops) => {
            let words = || ops.places().into_iter().flatten();
            let flag = |id| words().any(|word| word.has_field(id) && word.flag(id));
            let sinc = ops.p0.is_some_and(|word| Main::of(word.op()) == Main::Fsinc);
            (flag(f::CARRY), flag(f::PWEN) || sinc)
        }
        Ops::Bitwise(phases) => (false, phases[2].as_ref().is_some_and(|word| word.flag(f::PWEN))),
        Ops::Control(inst) => {
            let row = Control::of(inst.op());
            let asks = (Control::Cndst..=Control::CndsetlA).contains(&row)
                && matches!(inst.get(f::COND), 1 | 3);
            (asks, row == Control::Cndlt)
        }
    }
}
