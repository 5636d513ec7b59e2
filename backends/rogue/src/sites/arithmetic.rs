//! The operations of main groups without what nothing asks of them. 2.2 to 2.5.

use super::bits::Sure;
use super::live::Around;
use crate::isa::Group;
use crate::isa::disasm::{asks_external, is_constant, is_unary};
use crate::isa::fields::f;
use crate::isa::group::{Feed, MainOps, Ops, Selectors};
use crate::isa::ops::{Backend, Main};
use crate::isa::register::Register;
use gpucc_ir::ssa::numerics::Rounding;
use gpucc_ir::ssa::{Numerics, Op, Type, eval};
use gpucc_isa::{FieldId, Inst};

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
pub fn gives_zero(inst: &Inst, sources: &[Register]) -> bool {
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
pub fn operations(
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
pub fn same_feeds(group: &mut Group, around: &Around) {
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
    // A test of floats takes denormals for zeros.
    let floats = plain.map(|register| {
        let bits = register.and_then(|register| around.bits.sure(register).word());
        let zero = bits.is_some_and(|bits| bits << 1 >> 24 == 0);
        if zero { Some(Register::ZERO) } else { register }
    });
    let is_float = match &group.ops {
        Ops::Main(MainOps { test: Some(test), .. }) => test.get(f::TYPE) == 0,
        _ => false,
    };
    let tested = if is_float { &floats } else { &plain };
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
        *feed = match at {
            0 | 1 => one(*feed, tested),
            2 => one(*feed, &plain),
            port => one(*feed, asked[port - 3]),
        };
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
pub fn narrow(group: &mut Group) {
    let fte = Feed::Fte as u32;
    let asked = group.selectors.is.contains(&Feed::Fte);
    let Ops::Main(ops) = &mut group.ops else { return };
    let moves = |mov: Inst| mov.get(f::MOV_W0) == fte || mov.get(f::MOV_W1) == fte;
    let programmed = ops.pack.is_some_and(|pack| pack.flag(f::PROG));
    let Some(word) = ops.p0.filter(|word| Main::of(word.op()) == Main::Imadd64) else { return };
    // The high word of nothing and a carry is what is added to it, which is the external feedthrough of other operations.
    let zero = |port: usize| group.sources[port] == Register::ZERO;
    let passes = (zero(0) || zero(1)) && zero(2) && !word.flag(f::NEG2);
    let high = asked || ops.mov.is_some_and(moves) || programmed;
    if high && !passes || word.flag(f::ABS2) {
        return;
    }
    let fields = [f::NEG0, f::ABS0, f::NEG1, f::ABS1, f::NEG2, f::CARRY];
    let same = |to: Inst, field: FieldId| match word.has_field(field) && to.has_field(field) {
        true => to.with(field, word.get(field)),
        false => to,
    };
    ops.p0 = Some(fields.into_iter().fold(Inst::usual(Main::Imadd32.op()), same));
    if !high {
        group.selectors.is0 = 0;
    }
}

/// Numbers of which no operand has a sign are of either kind.
pub fn unsigned(group: &mut Group, around: &Around) {
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
pub fn sized(group: &mut Group, around: &Around) {
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
    if feeds.iter().all(small) || test.get(f::TEST) == Z && differs_within(group, around, bits) {
        let test = test.with(f::TYPE, U32);
        if let Ops::Main(ops) = &mut group.ops {
            ops.test = Some(test);
        }
    }
}

/// Whether a test of 0 asks for the difference of two numbers of so many bits: it is 0 where its low bits are.
fn differs_within(group: &Group, around: &Around, bits: u32) -> bool {
    let Ops::Main(MainOps { p0: Some(word), .. }) = &group.ops else { return false };
    let others = [f::NEG0, f::NEG1, f::ABS0, f::ABS1, f::ABS2, f::CARRY];
    let plain = !others.into_iter().any(|id| word.has_field(id) && word.flag(id));
    let differs = Main::of(word.op()) == Main::Imadd32 && plain && word.flag(f::NEG2);
    let small = |port: usize| u64::from(around.bits.sure(group.sources[port]).most()) < 1 << bits;
    differs
        && group.selectors.is[0] == Feed::Ft0
        && group.sources[1] == Register::Special(1)
        && small(0)
        && small(2)
}

/// Selectors that something asks; the others are 0.
pub fn selectors(group: &mut Group) {
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

/// What phases 0 and 1 give that read nothing but known numbers. They stand as moves of nothing then, whatever they
/// compute it by.
pub fn constants(group: &mut Group, around: &Around) -> [Option<u32>; 2] {
    let mut found = [None; 2];
    if group.repeat != 1 {
        return found;
    }
    let external = asks_external(group).then_some(usize::from(group.selectors.is0));
    let Ops::Main(ops @ MainOps { backend: None, .. }) = &mut group.ops else { return found };
    for (at, word) in [&mut ops.p0, &mut ops.p1].into_iter().enumerate() {
        let first = 3 * at;
        let numbers = [0, 1, 2].map(|port| around.bits.sure(group.sources[first + port]).word());
        let number = word.as_ref().and_then(|word| computed(word, numbers, around.toward_zero));
        if number.is_none() {
            continue;
        }
        *word = Some(Inst::usual(Main::Mbyp.op()));
        if external != Some(first) {
            group.sources[first] = Register::ZERO;
        }
        found[at] = number;
    }
    found
}

/// The number that an operation of floats gives, or a move. None where an operand or the result is no number, or a denormal, and where
/// a zero may have either sign.
fn computed(word: &Inst, numbers: [Option<u32>; 3], toward_zero: bool) -> Option<u32> {
    const SIGN: u32 = 1 << 31;
    let row = Main::of(word.op());
    let flag = |id| word.has_field(id) && word.flag(id);
    if row == Main::Mbyp {
        let size = if flag(f::ABS0) { numbers[0]? & !SIGN } else { numbers[0]? };
        return Some(if flag(f::NEG0) { size ^ SIGN } else { size });
    }
    let op = match row {
        Main::Fadd => Op::FAdd,
        Main::Fmul => Op::FMul,
        Main::Fmad => Op::FMa,
        _ => return None,
    };
    if flag(f::LP) || flag(f::SAT) {
        return None;
    }
    let rounding = if toward_zero { Rounding::TowardZero } else { Rounding::NearestEven };
    let numerics = Numerics { rounding, ..Numerics::REFERENCE };
    let plain = |bits: u32| f32::from_bits(bits).is_normal();
    let operand = |at: usize| {
        // The order of modifiers: floor, magnitude, sign. 2.1.
        let mut bits = numbers[at]?;
        let floored = [(0, f::FLR0), (2, f::FLR2)].into_iter().any(|(of, id)| of == at && flag(id));
        if floored && !plain(bits) && bits != 0 {
            // Denormals are flushed before.
            return None;
        }
        if floored {
            bits = f32::from_bits(bits).floor().to_bits();
        }
        if flag([f::ABS0, f::ABS1, f::ABS2][at]) {
            bits &= !SIGN;
        }
        if flag([f::NEG0, f::NEG1, f::NEG2][at]) {
            bits ^= SIGN;
        }
        (plain(bits) || bits == 0).then_some(u64::from(bits))
    };
    let count = if op == Op::FMa { 3 } else { 2 };
    let operands: Option<Vec<u64>> = (0..count).map(operand).collect();
    let bits = eval(op, Type::B32, Type::B32, &operands?, &numerics)? as u32;
    plain(bits).then_some(bits)
}
