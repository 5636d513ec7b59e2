//! Groups that nothing can tell apart where they stand.

use super::arithmetic::{
    constants, narrow, operations, same_feeds, selectors, sized, spared, unsigned,
};
use super::bits::same_bits;
use super::bitwise::{Bits, bits, bits_read};
use super::live::{Around, Fact, crosses};
use crate::isa::Group;
use crate::isa::disasm::{asks_external, is_constant};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Ops};
use crate::isa::ops::Control;
use crate::isa::register::{File, Register, Special, special};
use crate::legal::named;
use gpucc_isa::Inst;

/// Whether two groups do the same where one of them stands.
pub fn alike(old: &Group, new: &Group, around: &Around) -> bool {
    if let (Ops::Control(release), Ops::Control(wakeup)) = (&old.ops, &new.ops)
        && Control::of(release.op()) == Control::MutexRelease
        && Control::of(wakeup.op()) == Control::MutexReleaseWakeup
        && release.get(f::ID) == wakeup.get(f::ID)
    {
        // Who is woken for nothing looks and sleeps again.
        return true;
    }
    if ends_at_once(old, new, around) || ends_for_nobody(old, new, around) {
        return true;
    }
    let same = Group { condition: old.condition, ..new.clone() };
    if implied(old, new, around) {
        return alike(old, &same, around);
    }
    if old.condition != new.condition && concerns_nobody(old, new, around) {
        return alike(old, &same, around);
    }
    if old.repeat < new.repeat && goes_nowhere(new, old.repeat, around)
        || new.repeat < old.repeat && goes_nowhere(old, new.repeat, around)
    {
        let same = Group { repeat: old.repeat, ..new.clone() };
        return same_turns(old, &same, around);
    }
    same_turns(old, new, around)
}

/// Whether two groups are an `else` of nothing: whoever ran waits for the end that follows, or does not, and goes on there.
fn ends_at_once(old: &Group, new: &Group, around: &Around) -> bool {
    let (Ops::Control(before), Ops::Control(after)) = (&old.ops, &new.ops) else { return false };
    let other = |inst: &Inst| Control::of(inst.op()) != Control::Cndef;
    if other(before) || other(after) {
        return false;
    }
    let Some((counter, levels)) = around.closes else { return false };
    let plain = |inst: &Inst| inst.with(f::ADJUST, 0);
    let of = |group: &Group, inst: &Inst| Group {
        ops: Ops::Control(plain(inst)),
        layout: Default::default(),
        ..group.clone()
    };
    of(old, before) == of(new, after)
        && old.writes[0] == Some(counter)
        && before.get(f::ADJUST) <= levels
        && after.get(f::ADJUST) <= levels
}

/// Whether two groups end levels where nobody does anything behind: how many is nobody's concern.
fn ends_for_nobody(old: &Group, new: &Group, around: &Around) -> bool {
    let plain = |group: &Group| match &group.ops {
        Ops::Control(inst) if Control::of(inst.op()) == Control::Cndend => Some(Group {
            ops: Ops::Control(inst.with(f::ADJUST, 0)),
            layout: Default::default(),
            ..group.clone()
        }),
        _ => None,
    };
    around.idle && plain(old).is_some_and(|old| plain(new) == Some(old))
}

/// Whether those whose p0 is 0 run one of two groups alone, which asks for what p0 does not let be: it gives them 0.
fn implied(old: &Group, new: &Group, around: &Around) -> bool {
    let conditions = [old.condition, new.condition];
    let (Some(known), Some(now)) = (around.fact, Fact::of(old, &around.bits)) else {
        return false;
    };
    matches!(conditions, [Condition::Runs, Condition::IfP0] | [Condition::IfP0, Condition::Runs])
        && now.register == known.register
        && now.bound <= known.bound
}

/// Whether two groups do the same that repeat equally often.
fn same_turns(old: &Group, new: &Group, around: &Around) -> bool {
    let live = |group: &Group| {
        let writes = group.writes.map(|write| write.filter(|to| around.behind.reads(*to)));
        Group { writes, layout: Default::default(), ..group.clone() }
    };
    if same_bits(&live(old), &live(new), &around.bits, &around.asked) {
        return true;
    }
    let (old, new) = (Plain::of(old, around), Plain::of(new, around));
    old == new || idle(&old.group) && idle(&new.group)
}

/// Whether those instances alone run one of the groups and not the other that read nothing of what it writes.
fn concerns_nobody(old: &Group, new: &Group, around: &Around) -> bool {
    let runs = |group: &Group| match group.condition {
        Condition::Runs => Some([true, true]),
        Condition::IfNotP0 => Some([true, false]),
        Condition::IfP0 => Some([false, true]),
        Condition::IgnorePe => None,
    };
    let (Some(before), Some(after)) = (runs(old), runs(new)) else { return false };
    (0..2).filter(|&p0| before[p0] != after[p0]).all(|p0| {
        let reads = &around.behind_p0[p0];
        leaves(new, 0, |register| reads.reads(register))
    })
}

/// The turns of a group from one on leave nothing but registers that nobody reads behind it.
fn goes_nowhere(group: &Group, first: u8, around: &Around) -> bool {
    leaves(group, first, |register| around.behind.reads(register))
}

/// Whether the turns of a group from one on compute, and leave nothing that somebody reads.
fn leaves(group: &Group, first: u8, reads: impl Fn(Register) -> bool) -> bool {
    let computes = match &group.ops {
        Ops::Main(ops) => {
            ops.backend.is_none()
                && (first == 0 || ops.pack.is_none_or(|pack| is_constant(&pack)))
                && !ops.test.is_some_and(|test| test.flag(f::PWEN))
                && !ops.p0.is_some_and(|word| crosses(&word))
                && !ops.p1.is_some_and(|word| crosses(&word))
        }
        Ops::Bitwise(phases) => !phases[2].as_ref().is_some_and(|shift| shift.flag(f::PWEN)),
        Ops::Control(_) => false,
    };
    let dead = |register: &Register| {
        let mut turns = first..group.repeat;
        turns.all(|turn| match *register {
            Register::Temp(number) => !reads(Register::Temp(number + u16::from(turn))),
            Register::Vtxin(number) => !reads(Register::Vtxin(number + u16::from(turn))),
            _ => false,
        })
    };
    computes && !group.end && group.writes.iter().flatten().all(dead)
}

/// A group of arithmetic whose results nobody reads.
fn idle(group: &Group) -> bool {
    let computes = match &group.ops {
        Ops::Main(ops) => ops.backend.is_none() && !ops.test.is_some_and(|test| test.flag(f::PWEN)),
        Ops::Bitwise(phases) => !phases[2].as_ref().is_some_and(|shift| shift.flag(f::PWEN)),
        Ops::Control(_) => false,
    };
    computes && !group.end && group.writes == [None; 2]
}

/// A group without what nothing asks of it.
#[derive(PartialEq)]
struct Plain {
    group: Group,
    bits: Option<Bits>,
    /// What phases 0 and 1 give where that is known.
    constants: [Option<u32>; 2],
}

impl Plain {
    fn of(group: &Group, around: &Around) -> Plain {
        let mut group = group.clone();
        group.layout = Default::default();
        if !touches_outputs(&group) {
            group.olchk = false;
        }
        group.condition = match (group.condition, around.p0) {
            (Condition::IgnorePe, _) if around.all_run => Condition::Runs,
            (Condition::IfP0, Some(true)) | (Condition::IfNotP0, Some(false)) => Condition::Runs,
            (condition, _) => condition,
        };
        group.atom &= shares(&group);
        for write in &mut group.writes {
            *write = write.filter(|register| around.behind.reads(*register));
        }
        if let Ops::Control(branch) = &mut group.ops
            && Control::of(branch.op()) == Control::Br
            && !around.links
        {
            *branch = branch.with(f::LINK, 0);
        }
        decided(&mut group, around);
        from_zero(&mut group, around);
        first_external(&mut group);
        same_feeds(&mut group, around);
        floored(&mut group, around);
        let once = group.repeat == 1;
        if let Ops::Main(ops) = &mut group.ops {
            operations(ops, &group.sources, &group.selectors, group.writes, once, around);
        }
        if let Ops::Bitwise([_, _, Some(shift)]) = &mut group.ops
            && shift.flag(f::PWEN)
            && !around.behind.reads_p0()
        {
            *shift = shift.with(f::PWEN, 0);
        }
        selectors(&mut group);
        unsigned(&mut group, around);
        sized(&mut group, around);
        same_feeds(&mut group, around);
        narrow(&mut group);
        let constants = constants(&mut group, around);
        let mut read = [false; 6];
        match &group.ops {
            Ops::Bitwise(_) => read = bits_read(&group),
            _ => named(&group).iter().for_each(|(_, port)| read[usize::from(*port)] = true),
        }
        if asks_external(&group) {
            read[usize::from(group.selectors.is0)] = true;
        } else {
            group.selectors.is0 = 0;
        }
        for port in spared(&group) {
            read[port] = false;
        }
        for (source, read) in group.sources.iter_mut().zip(read) {
            if !read {
                *source = Register::ZERO;
            }
        }
        let bits = bits(&group);
        if bits.is_some() {
            group.ops = Ops::Bitwise([None; 3]);
        }
        Plain { group, bits, constants }
    }
}

/// The external feedthrough is of the first source with its register.
fn first_external(group: &mut Group) {
    let register = group.sources[usize::from(group.selectors.is0)];
    let same = group.sources.iter().position(|source| *source == register);
    if let (Ops::Main(_), Some(first)) = (&group.ops, same) {
        group.selectors.is0 = first as u8;
    }
}

/// The floor of a whole number is the number. 2.1.
fn floored(group: &mut Group, around: &Around) {
    let sources = group.sources;
    let Ops::Main(ops) = &mut group.ops else { return };
    if group.repeat != 1 {
        return;
    }
    for (word, first) in [(&mut ops.p0, 0), (&mut ops.p1, 3)] {
        let Some(word) = word else { continue };
        for (id, port) in [(f::FLR0, 0), (f::FLR2, 2)] {
            if word.has_field(id) && around.known.is_whole(sources[first + port]) {
                *word = word.with(id, 0);
            }
        }
    }
}

/// A mask operation asks those who run: what their p0 is known to be, its condition always holds, or never. An `else` asks those
/// who wait. 2.7.
fn decided(group: &mut Group, around: &Around) {
    const ALWAYS: u32 = 0;
    const IF_P0: u32 = 1;
    const NEVER: u32 = 2;
    const IF_NOT_P0: u32 = 3;
    let Ops::Control(inst) = &mut group.ops else { return };
    let Some(p0) = around.running else { return };
    if !matches!(Control::of(inst.op()), Control::Cndst | Control::Cndsm | Control::Cndlt) {
        return;
    }
    let holds = match inst.get(f::COND) {
        IF_P0 => p0,
        IF_NOT_P0 => !p0,
        _ => return,
    };
    *inst = inst.with(f::COND, if holds { ALWAYS } else { NEVER });
}

/// The counter of whoever starts at 0 stays 0 where the condition always holds, whichever operation it is. 2.7.
fn from_zero(group: &mut Group, around: &Around) {
    const ALWAYS: u32 = 0;
    const NEVER: u32 = 2;
    let Ops::Control(inst) = &mut group.ops else { return };
    // Where everybody runs, every counter is 0.
    let zero = group.sources[0] == Register::ZERO
        || around.all_run && around.counter == Some(group.sources[0]);
    let stays = match Control::of(inst.op()) {
        Control::Cndsm => {
            matches!(inst.get(f::COND), ALWAYS | NEVER) && group.sources[2] == Register::ZERO
        }
        Control::Cndst => inst.get(f::COND) == ALWAYS,
        Control::Cndlt => inst.get(f::COND) == ALWAYS && !around.behind.reads_p0(),
        Control::Cndend => true,
        _ => false,
    };
    if zero && stays {
        *inst = Inst::usual(Control::Cndst.op()).with(f::COND, ALWAYS);
    }
}

/// The lock is checked for these. 1.1, olchk.
fn touches_outputs(group: &Group) -> bool {
    let registers = group.sources.iter().chain(group.writes.iter().flatten());
    registers.copied().any(|register| match register {
        Register::Special(number) => {
            matches!(number, 32..=35 | 46 | 54..=61 | 119..=126 | 164..=167)
        }
        Register::Relative { file, .. } => file == File::Pixout,
        _ => false,
    })
}

/// What a group writes is shared among instances. 1.1, atom.
fn shares(group: &Group) -> bool {
    group.writes.iter().flatten().any(|&register| match register {
        Register::Coeff(_) | Register::Shared(_) => true,
        Register::Relative { file, .. } => matches!(file, File::Coeff | File::Shared),
        Register::Special(number) => matches!(special(number), Special::Named(_)),
        _ => false,
    })
}
