//! Groups that nothing can tell apart where they stand.

use super::bits::{Sure, same_bits};
use super::live::{Around, Fact, crosses};
use crate::isa::Group;
use crate::isa::disasm::{asks_external, is_constant, is_unary};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, MainOps, Ops, Selectors};
use crate::isa::ops::{Backend, Control, Main};
use crate::isa::register::{File, Register, Special, special};
use crate::legal::named;
use gpucc_isa::{FieldId, Inst};

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
    if ends_at_once(old, new, around) {
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
}

/// What the phases of a bitwise group do.
#[derive(PartialEq)]
struct Bits {
    /// Row and number of the mask that goes on.
    mask: Option<(u32, u32, u32)>,
    shift1: Option<u32>,
    /// What is counted, and of what.
    count: Option<(u32, u32)>,
    /// The logical operation.
    logical: Option<u128>,
    /// Shift, and test as far as it is asked.
    shift: Option<(u32, Option<(u32, u32)>)>,
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
        from_zero(&mut group, around);
        first_external(&mut group);
        same_feeds(&mut group, around);
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
        Plain { group, bits }
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

/// Sources that phase 0 names, and that nothing depends on: the other factor is 0, or a first part of a reduction takes no result
/// of one. 2.2, 2.5.
pub fn spared(group: &Group) -> Vec<usize> {
    const FIRST: u32 = 0;
    let Ops::Main(MainOps { p0: Some(word), p1, backend: None, .. }) = &group.ops else {
        return Vec::new();
    };
    let zero = |port: usize| group.repeat == 1 && group.sources[port] == Register::ZERO;
    let ports: &[usize] = match Main::of(word.op()) {
        Main::Imadd32 | Main::Imadd64 if zero(1) => &[0],
        Main::Imadd32 | Main::Imadd64 if zero(0) => &[1],
        Main::Fred if word.get(f::PART) == FIRST && p1.is_none() => &[3],
        _ => &[],
    };
    let external = asks_external(group).then_some(usize::from(group.selectors.is0));
    ports.iter().copied().filter(|port| external != Some(*port)).collect()
}

/// The counter of whoever starts at 0 stays 0 where the condition always holds, whichever operation it is. 2.7.
fn from_zero(group: &mut Group, around: &Around) {
    const ALWAYS: u32 = 0;
    let Ops::Control(inst) = &mut group.ops else { return };
    let zero = group.sources[0] == Register::ZERO;
    let stays = match Control::of(inst.op()) {
        Control::Cndst => inst.get(f::COND) == ALWAYS,
        Control::Cndlt => inst.get(f::COND) == ALWAYS && !around.behind.reads_p0(),
        Control::Cndend => true,
        _ => false,
    };
    if zero && stays {
        *inst = Inst::usual(Control::Cndst.op()).with(f::COND, ALWAYS);
    }
}

/// The sources that a bitwise group reads. 2.6.
fn bits_read(group: &Group) -> [bool; 6] {
    let (Some(bits), Ops::Bitwise([_, logical, _])) = (bits(group), &group.ops) else {
        return [true; 6];
    };
    const BYPASS: u32 = 7;
    const MASK_TOP: u32 = 6;
    let ones = bits.mask.is_some_and(|(numbered, ones, _)| numbered == 0 && ones == 1);
    let masked = bits.mask.is_some_and(|(numbered, ..)| numbered == 0);
    let top = bits.shift.is_some_and(|(shift, _)| shift == MASK_TOP);
    let by = bits.shift1.is_some_and(|shift| matches!(shift, 1 | 3));
    let second = logical.is_some_and(|logical| logical.get(f::LOGIC) != BYPASS);
    [
        ones || top,
        masked || by,
        bits.shift1.is_some() || bits.count.is_some(),
        second,
        bits.shift.is_some(),
        false,
    ]
}

/// The first shift that goes left by S1. 2.6.
const SHIFT_LEFT: u32 = 3;

fn bits(group: &Group) -> Option<Bits> {
    let Ops::Bitwise([Some(first), logical, shift]) = &group.ops else { return None };
    let numbered = first.get(f::BIT_IMM);
    let zero = |port: usize| group.sources[port] == Register::ZERO;
    let nothing = match numbered {
        0 => first.get(f::BITMASK) == 0 && zero(1),
        _ => first.get(f::VALUE) == 0,
    };
    let masked = match logical {
        Some(logical) => {
            let kept = !nothing && group.sources[3] != Register::ZERO;
            logical.flag(f::MASK_A) || logical.flag(f::MASK_B) && kept
        }
        None => shift.is_some() || group.writes[0].is_some(),
    };
    let tests = |shift: &Inst| shift.flag(f::PWEN) && shift.get(f::TEST_SRC) == 1;
    let counted = group.writes[1].is_some() || shift.as_ref().is_some_and(tests);
    let of = first.get(f::COUNT_SRC);
    let shifted = logical.is_some() || counted && of == 1;
    Some(Bits {
        mask: masked.then(|| (numbered, first.get(f::BITMASK) & !numbered, first.get(f::VALUE))),
        shift1: shifted.then(|| match first.get(f::SHIFT1) {
            // By no bits.
            SHIFT_LEFT if zero(1) => 0,
            shift => shift,
        }),
        count: counted.then(|| (first.get(f::COUNT_OP), of)),
        logical: logical.map(|logical| {
            let mut logical = logical;
            if nothing || zero(3) {
                logical = logical.with(f::MASK_B, 0);
            }
            // Whatever is combined with 0 so stays.
            if zero(3) && matches!(logical.get(f::LOGIC), 2 | 7) {
                logical = logical.with(f::LOGIC, 0);
            }
            logical.bits()
        }),
        shift: shift.map(|shift| {
            let test = (shift.get(f::TEST_SRC), shift.get(f::BIT_TEST));
            (shift.get(f::SHIFT2), shift.flag(f::PWEN).then_some(test))
        }),
    })
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

fn cleared(inst: &mut Option<Inst>, fields: &[FieldId]) {
    let Some(inst) = inst else { return };
    for &field in fields {
        if inst.has_field(field) {
            *inst = inst.with(field, 0);
        }
    }
}

/// Whether the backend reads a write port. 2.8.
fn backend_reads(ops: &MainOps, port: u32) -> bool {
    use Backend as B;
    let Some(inst) = ops.backend else { return false };
    match B::of(inst.op()) {
        B::UvswWrite | B::UvswWriteReg | B::UvswWriteEmitEndtask | B::UvswWriteEmitEndtaskReg => {
            inst.get(f::DSEL) == port
        }
        B::Depthf => port == 0,
        B::Setl => inst.get(f::LINK_SRC) == port,
        _ => false,
    }
}

/// Whether an operation gives 0 by its sources, of which the first is 0.
fn gives_zero(inst: &Inst, sources: &[Register]) -> bool {
    let zero = |at: usize| sources[at] == Register::ZERO;
    let flag = |id| inst.has_field(id) && inst.flag(id);
    // What lower precision gives no document says.
    let odd = [f::NEG0, f::NEG1, f::NEG2, f::LP].into_iter().any(flag);
    let gives = match Main::of(inst.op()) {
        Main::Mbyp => !odd,
        Main::Fadd | Main::Fmul => zero(1) && !odd,
        Main::Fmad => zero(1) && zero(2) && !odd,
        Main::Imadd32 => zero(2) && !inst.flag(f::CARRY),
        // Neighbours have the same constant.
        Main::Fdsx | Main::Fdsy | Main::Fdsxf | Main::Fdsyf => true,
        _ => false,
    };
    zero(0) && gives
}

/// Flags and modes that say when, modifiers of what has no sign, and p0 where nobody reads it.
fn operations(
    ops: &mut MainOps,
    sources: &[Register; 6],
    selectors: &Selectors,
    writes: [Option<Register>; 2],
    once: bool,
    around: &Around,
) {
    for (op, first) in [(&mut ops.p0, 0), (&mut ops.p1, 3)] {
        if op.as_ref().is_some_and(|inst| gives_zero(inst, &sources[first..first + 3])) {
            *op = Some(Inst::usual(Main::Mbyp.op()));
        }
    }
    cleared(&mut ops.backend, &[f::CACHE, f::SWAP, f::KEPT]);
    // The float below a whole word is what a core that rounds toward zero gives anyway.
    const WORDS: [u32; 2] = [6, 7];
    let unpacks =
        |word: &Inst| Main::of(word.op()) == Main::Unpck && WORDS.contains(&word.get(f::FORMAT));
    if around.toward_zero && ops.p0.as_ref().is_some_and(unpacks) {
        cleared(&mut ops.p0, &[f::SCALE]);
    }
    if writes[1].is_none() && !backend_reads(ops, 1) {
        cleared(&mut ops.mov, &[f::MOV_W1]);
    }
    if writes[0].is_none() && !backend_reads(ops, 0) {
        cleared(&mut ops.mov, &[f::MOV_W0, f::MASK]);
    }
    if !around.behind.reads_p0() {
        cleared(&mut ops.test, &[f::PWEN]);
        cleared(&mut ops.backend, &[f::PWEN]);
    }
    let high = sources[usize::from(selectors.is0)];
    for (op, first) in [(&mut ops.p0, 0), (&mut ops.p1, 3)] {
        for (at, field) in [f::ABS0, f::ABS1, f::ABS2].into_iter().enumerate() {
            let wide = op.is_some_and(|word| Main::of(word.op()) == Main::Imadd64) && at == 2;
            // What is known is of the first turn's registers.
            if once && !wide && around.known.is_positive(sources[first + at]) {
                cleared(op, &[field]);
            }
        }
        let Some(word) = op.as_ref().filter(|word| integer(word)) else { continue };
        let wide = Main::of(word.op()) == Main::Imadd64;
        // 0 has no sign.
        let modifiers = [[f::NEG0, f::ABS0], [f::NEG1, f::ABS1], [f::NEG2, f::ABS2]];
        for (at, fields) in modifiers.iter().enumerate().take(if wide { 2 } else { 3 }) {
            if sources[first + at] == Register::ZERO {
                cleared(op, fields);
            }
        }
        // The third operand of a wide one is a pair.
        if wide && sources[2] == Register::ZERO && high == Register::ZERO {
            cleared(op, &[f::NEG2]);
        }
        // Memory is smaller than 2 GiB: the offset of an address has no sign.
        let one = sources[1] == Register::Special(1);
        if wide && one && matches!(sources[2], Register::Shared(_)) {
            cleared(op, &[f::SIGNED]);
        }
    }
    // The low words of products and sums are the same for both kinds of numbers.
    if ops.p0.is_some_and(|inst| Main::of(inst.op()) == Main::Imadd32) {
        cleared(&mut ops.p0, &[f::SIGNED]);
    }
    if ops.pack.is_some_and(|pack| is_constant(&pack)) {
        cleared(&mut ops.pack, &[f::RTZ, f::SCALE]);
    }
    // Equal words are equal as numbers of either kind.
    if let Some(test) = &mut ops.test {
        const SAME: [u32; 3] = [0, 4, 7];
        const U32: u32 = 5;
        const S32: u32 = 6;
        let (code, ty) = (test.get(f::TEST), test.get(f::TYPE));
        if SAME.contains(&code) && ty == S32 {
            *test = test.with(f::TYPE, U32);
        }
    }
    bounds(ops, selectors, writes);
}

/// Of two equal numbers either is chosen: whether a comparison holds for them is nobody's concern.
fn bounds(ops: &mut MainOps, selectors: &Selectors, writes: [Option<Register>; 2]) {
    let Some(test) = ops.test.filter(|test| !test.flag(f::PWEN)) else { return };
    let Some(mov) = ops.mov.filter(|mov| !mov.flag(f::ALWAYS)) else { return };
    // Greater and less, and with equality; floats have two zeros.
    let code = match test.get(f::TEST) {
        code @ (5 | 8) => code + 1,
        _ => return,
    };
    if test.get(f::TYPE) == 0 || ops.backend.is_some() {
        return;
    }
    let compared = [selectors.is[0] as u32, selectors.is[1] as u32];
    let either = |port: usize| {
        let chosen = [mov.get([f::MOV_W0, f::MOV_W1][port]), selectors.is[3 + port] as u32];
        let swapped = [chosen[1], chosen[0]];
        writes[port].is_none()
            || chosen[0] == chosen[1]
            || chosen == compared
            || swapped == compared
    };
    if either(0) && either(1) {
        ops.test = Some(test.with(f::TEST, code));
    }
}

/// Sums of products of words.
fn integer(word: &Inst) -> bool {
    matches!(Main::of(word.op()), Main::Imadd32 | Main::Imadd64)
}

/// What passes a source on as it is.
fn passes_on(word: &Option<Inst>) -> bool {
    let plain = |word: &Inst| {
        let signs = [f::NEG0, f::ABS0].into_iter();
        let mut signs = signs.filter(|&id| word.has_field(id));
        Main::of(word.op()) == Main::Mbyp && !signs.any(|id| word.flag(id))
    };
    word.as_ref().is_some_and(plain)
}

/// The register that a feed gives as it is.
pub fn given(group: &Group, feed: Feed) -> Option<Register> {
    let Ops::Main(ops) = &group.ops else { return None };
    let wide =
        |word: &Inst| matches!(Main::of(word.op()), Main::Add6432 | Main::Add64 | Main::Imadd64);
    match feed {
        Feed::Ft0 => passes_on(&ops.p0).then_some(group.sources[0]),
        Feed::Ft1 => passes_on(&ops.p1).then_some(group.sources[3]),
        Feed::Ft2 => match ops.pack.filter(is_constant)?.get(f::FORMAT) {
            30 => Some(Register::ZERO),
            _ => Some(Register::Special(64)),
        },
        Feed::Fte if ops.p0.as_ref().is_some_and(wide) => None,
        Feed::Fte => Some(group.sources[usize::from(group.selectors.is0)]),
    }
}

/// Feeds that give the same register are one.
fn same_feeds(group: &mut Group, around: &Around) {
    const FEEDS: [Feed; 4] = [Feed::Ft0, Feed::Ft1, Feed::Ft2, Feed::Fte];
    // A pack takes what the others give, and gives them something.
    let plain = FEEDS.map(|feed| given(group, feed));
    let once = group.repeat == 1;
    // Numbers are one that are not 0, where that is all that somebody asks.
    let truths = plain.map(|register| {
        let sure = register.map_or(Sure::default(), |register| around.bits.sure(register));
        if sure.is_not_zero() { Some(Register::Special(1)) } else { register }
    });
    let one = |feed: Feed, registers: &[Option<Register>; 4]| {
        let register = FEEDS.into_iter().position(|other| other == feed);
        let register = register.and_then(|at| registers[at]);
        let first = registers.iter().position(|other| other.is_some() && *other == register);
        first.map_or(feed, |at| FEEDS[at])
    };
    let writes = group.writes;
    // A part of a word that is not 0 may be 0, and the backend takes the word.
    let whole = match &group.ops {
        Ops::Main(ops) => {
            let part = |mov: &Inst| mov.get(f::MASK) != 15;
            ops.backend.is_none() && !ops.mov.as_ref().is_some_and(part)
        }
        _ => true,
    };
    let asked = writes.map(|write| {
        let zero = write.is_some_and(|to| once && whole && around.asked.of(to).is_zero_alone());
        if zero { &truths } else { &plain }
    });
    for (at, feed) in group.selectors.is.iter_mut().enumerate() {
        *feed = one(*feed, at.checked_sub(3).map_or(&plain, |port| asked[port]));
    }
    let Ops::Main(MainOps { mov: Some(mov), .. }) = &mut group.ops else { return };
    for (field, port) in [(f::MOV_W0, 0), (f::MOV_W1, 1)] {
        let feed = FEEDS.into_iter().find(|feed| *feed as u32 == mov.get(field));
        if let (Some(feed), Some(_)) = (feed, writes[port]) {
            *mov = mov.with(field, one(feed, asked[port]) as u32);
        }
    }
}

/// Where nobody asks for the high word, a product and sum of 64 bits is one of 32.
fn narrow(group: &mut Group) {
    let fte = Feed::Fte as u32;
    let asked = group.selectors.is.contains(&Feed::Fte);
    let Ops::Main(ops) = &mut group.ops else { return };
    let moves = |mov: Inst| mov.get(f::MOV_W0) == fte || mov.get(f::MOV_W1) == fte;
    let programmed = ops.pack.is_some_and(|pack| pack.flag(f::PROG));
    let Some(word) = ops.p0.filter(|word| Main::of(word.op()) == Main::Imadd64) else { return };
    if asked || ops.mov.is_some_and(moves) || programmed || word.flag(f::ABS2) {
        return;
    }
    let fields = [f::NEG0, f::ABS0, f::NEG1, f::ABS1, f::NEG2, f::CARRY];
    let same = |to: Inst, field: FieldId| match word.has_field(field) && to.has_field(field) {
        true => to.with(field, word.get(field)),
        false => to,
    };
    ops.p0 = Some(fields.into_iter().fold(Inst::usual(Main::Imadd32.op()), same));
    group.selectors.is0 = 0;
}

/// Numbers of which no operand has a sign are of either kind.
fn unsigned(group: &mut Group, around: &Around) {
    const U32: u32 = 5;
    const S32: u32 = 6;
    let Ops::Main(MainOps { test: Some(test), .. }) = &group.ops else { return };
    let feeds = &group.selectors.is[..if is_unary(test) { 1 } else { 2 }];
    let positive = |feed: &Feed| {
        given(group, *feed).is_some_and(|register| around.known.is_positive(register))
    };
    if group.repeat == 1 && test.get(f::TYPE) == S32 && feeds.iter().all(positive) {
        let test = test.with(f::TYPE, U32);
        if let Ops::Main(ops) = &mut group.ops {
            ops.test = Some(test);
        }
    }
}

/// Numbers that are small are the same in their low bytes.
fn sized(group: &mut Group, around: &Around) {
    const U32: u32 = 5;
    /// Zero, equal, other.
    const SAME: [u32; 3] = [0, 4, 7];
    let Ops::Main(MainOps { test: Some(test), .. }) = &group.ops else { return };
    const F32: u32 = 0;
    const Z: u32 = 0;
    // A float without a sign that is no denormal is 0 where its bits are.
    let plain = given(group, group.selectors.is[0]).is_some_and(|at| around.known.is_plain(at));
    if group.repeat == 1 && test.get(f::TEST) == Z && test.get(f::TYPE) == F32 && plain {
        let test = test.with(f::TYPE, U32);
        if let Ops::Main(ops) = &mut group.ops {
            ops.test = Some(test);
        }
        return;
    }
    // Bits of each type, and of them those of a number that is not negative.
    let (bits, positive) = match test.get(f::TYPE) {
        1 => (16, 16),
        2 => (16, 15),
        3 => (8, 8),
        4 => (8, 7),
        6 => (32, 31),
        _ => return,
    };
    if group.repeat != 1 || test.has_field(f::ELEM) && test.get(f::ELEM) != 0 {
        return;
    }
    let holds = if SAME.contains(&test.get(f::TEST)) { bits } else { positive };
    let feeds = &group.selectors.is[..if is_unary(test) { 1 } else { 2 }];
    let small = |feed: &Feed| {
        let most = given(group, *feed).map(|register| around.bits.sure(register).most());
        most.is_some_and(|most| u64::from(most) < 1 << holds)
    };
    if feeds.iter().all(small) {
        let test = test.with(f::TYPE, U32);
        if let Ops::Main(ops) = &mut group.ops {
            ops.test = Some(test);
        }
    }
}

/// Selectors that something asks; the others are 0.
fn selectors(group: &mut Group) {
    let Ops::Main(ops) = &group.ops else { return };
    let none = Selectors::default();
    let mut asked = [false; 5];
    asked[0] = ops.test.is_some();
    asked[1] = ops.test.is_some_and(|test| !is_unary(&test));
    asked[2] = ops.pack.is_some_and(|pack| !is_constant(&pack));
    let saved = ops.backend.is_some_and(|inst| Backend::of(inst.op()) == Backend::Savmsk);
    let whole =
        |mov: &Inst, port: usize| mov.flag(f::ALWAYS) && (port == 1 || mov.get(f::MASK) == 15);
    for port in 0..2 {
        let taken = group.writes[port].is_some() && !saved || backend_reads(ops, port as u32);
        asked[3 + port] = taken && !ops.mov.is_some_and(|mov| whole(&mov, port));
    }
    for (at, asked) in asked.into_iter().enumerate() {
        if !asked {
            group.selectors.is[at] = none.is[at];
        }
    }
}
