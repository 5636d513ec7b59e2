//! What holds around a group: who runs it, and what is read behind it.

use super::arithmetic::given;
use super::bits::{Asked, Bits, asked};
use super::known::Known;
use super::waiting::waiting;
use super::written::written;
use crate::isa::Group;
use crate::isa::fields::f;
use crate::isa::group::{Condition, Ops};
use crate::isa::ops::{Backend, Control, Main};
use crate::isa::register::{File, Register};
use crate::legal::{branch_of, reads_of, target_of, writes_of};
use gpucc_isa::Inst;

/// Registers of an instance: temporaries, vertex inputs, internal registers, index registers, p0.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Set([u64; 9]);

/// Places of the registers in a set.
const TEMPS: usize = 0;
const VERTEX_INPUTS: usize = 256;
const INTERNALS: usize = 512;
const INDICES: usize = 520;
/// Of p0.
pub const P0: usize = 522;

impl Set {
    /// Puts a place in.
    pub fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Takes a place out.
    pub fn remove(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    /// Whether a place is in it.
    pub fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Takes in another.
    pub fn unite(&mut self, other: &Set) {
        self.0.iter_mut().zip(other.0).for_each(|(to, from)| *to |= from);
    }

    /// What is in both.
    pub fn common(&self, other: &Set) -> Set {
        let mut set = *self;
        set.0.iter_mut().zip(other.0).for_each(|(to, from)| *to &= from);
        set
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
pub fn place(register: Register) -> Option<usize> {
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
    /// The register of every instance's counter.
    pub counter: Option<Register>,
    /// What p0 is for every instance that ran the group before: those alone whose mask operation it is may ask it.
    pub running: Option<bool>,
    /// What an instance may read behind it.
    pub behind: Set,
    /// What an instance may read behind it whose p0 is 0 there, and one whose p0 is 1.
    pub behind_p0: [Set; 2],
    /// Some group of the program reads the link register.
    pub links: bool,
    /// Numbers without signs.
    pub known: Known,
    /// Bits that are known.
    pub bits: Bits,
    /// What is asked of temporaries behind it.
    pub asked: Asked,
    /// What p0 says of a register.
    pub fact: Option<Fact>,
    /// The next group ends levels: the register of their counters, and how many.
    pub closes: Option<(Register, u32)>,
    /// From here on there are mask operations alone, and then the end.
    pub idle: bool,
    /// The core rounds toward zero.
    pub toward_zero: bool,
    /// What every instance has written that runs it, and no message since.
    pub written: Set,
    /// Messages of each counter may be under way.
    pub sent: [bool; 2],
}

/// p0 is 1 where a register's number is less than a bound, and 0 elsewhere.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    pub register: Register,
    pub bound: u32,
}

impl Fact {
    /// What a group makes p0 say that does nothing else.
    pub fn of(group: &Group, bits: &Bits) -> Option<Fact> {
        const Z: u32 = 0;
        const L: u32 = 8;
        const U32: u32 = 5;
        let Ops::Main(ops) = &group.ops else { return None };
        let test = ops.test.filter(|test| test.flag(f::PWEN) && test.get(f::TYPE) == U32)?;
        if group.repeat != 1 || group.writes != [None; 2] || ops.backend.is_some() {
            return None;
        }
        let register = given(group, group.selectors.is[0])?;
        if !matches!(register, Register::Temp(_) | Register::Vtxin(_)) {
            return None;
        }
        let bound = match test.get(f::TEST) {
            Z => 1,
            L => bits.sure(given(group, group.selectors.is[1])?).word()?,
            _ => return None,
        };
        Some(Fact { register, bound })
    }

    /// Behind a group before which it holds.
    fn behind(self, group: &Group, bits: &Bits) -> Option<Fact> {
        // A temporary by an index may be any.
        let writes = writes_of(group);
        let other =
            |to: &Register| *to != self.register && !matches!(to, Register::Relative { .. });
        if !writes.iter().all(other) {
            return None;
        }
        match (predicate(group).1, Fact::of(group, bits)) {
            (false, _) => Some(self),
            (true, Some(new)) if group.condition == Condition::IfP0 => {
                // Where p0 is 0, it stays.
                let bound = self.bound.min(new.bound);
                (new.register == self.register).then_some(Fact { bound, ..self })
            }
            _ => None,
        }
    }
}

/// What is known of each group of a program, with the numbers that its shared registers hold, how many instances a workgroup
/// has where vi0 numbers them, and whether its core rounds toward zero.
pub fn around(
    groups: &[(usize, Group)],
    numbers: &[(u32, u32)],
    instances: Option<u32>,
    toward_zero: bool,
) -> Vec<Around> {
    let mut known = Known::new(numbers.iter().copied(), instances.is_some());
    let mut bits = Bits::new(numbers.iter().copied(), instances);
    let behind = behind(groups);
    let asked = asked(groups, &behind, &Bits::new(numbers.iter().copied(), None));
    let came = came(groups);
    let written = written(groups);
    let links = groups.iter().any(|(_, group)| match &group.ops {
        Ops::Control(inst) => {
            use Control::*;
            matches!(Control::of(inst.op()), Lapc | Savl | CndsetlA | CndsetlB | Cndlpc)
        }
        _ => false,
    });
    let idle_from =
        groups.len() - groups.iter().rev().take_while(|(_, group)| idles(group)).count();
    let counter = counter(groups);
    let mut depth = 0i64;
    let mut p0 = None;
    let mut fact = None;
    let mut all = Vec::with_capacity(groups.len());
    let rest = behind.into_iter().zip(asked).zip(written).zip(came);
    for ((_, group), (((behind_p0, asked), (written, sent)), came)) in groups.iter().zip(rest) {
        if let Some(came) = came {
            p0 = came.p0(p0);
            fact = None;
            known.forget();
            bits.forget();
        }
        let all_run = depth == 0;
        // Those whose counter is 0 are those who run: by the one register of counters, or all.
        let counts = |register: Register| {
            counter == Some(register) || counter.is_some() && register == Register::ZERO && all_run
        };
        let running = p0.filter(|_| counts(group.sources[0]));
        if group.condition == Condition::IgnorePe && !all_run {
            // Instances that waited know nothing of what others did.
            known.forget();
            bits.forget();
            (p0, fact) = (None, None);
        }
        let written_by = writes_of(group);
        all.push(Around {
            all_run,
            p0,
            counter,
            running,
            behind: either(&behind_p0),
            behind_p0,
            links,
            known: known.clone(),
            bits: bits.clone(),
            asked,
            fact,
            closes: groups.get(all.len() + 1).and_then(|(_, next)| closes(next)),
            idle: all.len() >= idle_from,
            toward_zero,
            written,
            sent,
        });
        fact = match (fact, group.condition) {
            (_, Condition::Runs) if predicate(group).1 => Fact::of(group, &bits),
            (fact, _) => fact.and_then(|fact: Fact| fact.behind(group, &bits)),
        };
        known.pass(group, &written_by);
        bits.pass(group, &written_by);
        if predicate(group).1 {
            p0 = None;
        }
        let Ops::Control(inst) = &group.ops else { continue };
        let adjust = i64::from(inst.get(f::ADJUST));
        let row = Control::of(inst.op());
        match row {
            Control::Cndst if group.sources[0] == Register::ZERO => depth = adjust,
            Control::Cndst => depth += adjust,
            Control::Cndend | Control::Cndlt => depth -= adjust,
            _ => {}
        }
        if row != Control::Wdf && row != Control::Nop {
            known.forget();
            bits.forget();
            fact = None;
        }
        if branch_of(group).is_some_and(|branch| branch.get(f::BPRED) == 0) {
            // Those go on for whom the condition does not hold: all who run it are of one mind.
            p0 = match group.condition {
                Condition::IfP0 => Some(false),
                Condition::IfNotP0 => Some(true),
                _ => p0,
            };
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

/// The register of counters, where mask operations alone write it, and ask no other: it is 0 in those who run. 2.7.
fn counter(groups: &[(usize, Group)]) -> Option<Register> {
    let mask = |group: &Group| match &group.ops {
        Ops::Control(inst) => {
            (Control::Cndst..=Control::CndsetlA).contains(&Control::of(inst.op()))
        }
        _ => false,
    };
    let (masks, others): (Vec<_>, Vec<_>) =
        groups.iter().map(|(_, group)| group).partition(|group| mask(group));
    let counter = masks.first()?.writes[0]?;
    let own = |group: &&Group| {
        let asks = group.sources[0];
        group.writes[0] == Some(counter) && (asks == counter || asks == Register::ZERO)
    };
    let internal = matches!(counter, Register::Special(36..=43));
    let alone = others.iter().all(|group| !writes_of(group).contains(&counter));
    (internal && alone && masks.iter().all(own)).then_some(counter)
}

/// Whether a group is the end, or an operation that takes levels off and leads nowhere.
fn idles(group: &Group) -> bool {
    match &group.ops {
        Ops::Control(inst) => matches!(Control::of(inst.op()), Control::Cndend | Control::Nop),
        _ => false,
    }
}

/// The counters' register of a group that ends levels, and how many.
fn closes(group: &Group) -> Option<(Register, u32)> {
    match &group.ops {
        Ops::Control(inst) if Control::of(inst.op()) == Control::Cndend => {
            Some((group.sources[0], inst.get(f::ADJUST)))
        }
        _ => None,
    }
}

/// How a group is come to that a branch goes to.
#[derive(Copy, Clone, Debug)]
struct Came {
    /// Not by a branch alone.
    falls: bool,
    /// What p0 is for all who come by a branch.
    p0: Option<bool>,
}

impl Came {
    /// What p0 is, given what it is behind the group before.
    fn p0(self, before: Option<bool>) -> Option<bool> {
        self.p0.filter(|p0| !self.falls || before == Some(*p0))
    }
}

/// For each group that branches go to, how.
fn came(groups: &[(usize, Group)]) -> Vec<Option<Came>> {
    let mut came: Vec<Option<Came>> = vec![None; groups.len()];
    for (offset, group) in groups {
        let Some(branch) = branch_of(group) else { continue };
        let Some(to) = find(groups, target_of(*offset, branch)) else { continue };
        let p0 = match group.condition {
            Condition::IfP0 if branch.get(f::BPRED) == 0 => Some(true),
            Condition::IfNotP0 if branch.get(f::BPRED) == 0 => Some(false),
            _ => None,
        };
        let falls = to == 0 || !leaves(&groups[to - 1].1);
        came[to] = Some(match came[to] {
            Some(other) => Came { p0: other.p0.filter(|other| p0 == Some(*other)), ..other },
            None => Came { falls, p0 },
        });
    }
    came
}

/// Whether nobody goes on with the next group.
fn leaves(group: &Group) -> bool {
    branch_of(group).is_some_and(|branch| branch.get(f::BPRED) == 0)
        && group.condition == Condition::Runs
}

/// The group that begins at a byte.
pub fn find(groups: &[(usize, Group)], offset: i64) -> Option<usize> {
    let offset = usize::try_from(offset).ok()?;
    groups.binary_search_by_key(&offset, |(at, _)| *at).ok()
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
    let jumps: Vec<Option<usize>> = groups
        .iter()
        .map(|(offset, group)| find(groups, target_of(*offset, branch_of(group)?)))
        .collect();
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
pub fn looks_around(group: &Group) -> bool {
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
pub fn runs_always(group: &Group) -> bool {
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
pub fn predicate(group: &Group) -> (bool, bool) {
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
