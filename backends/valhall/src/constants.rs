//! Constant materialisation.
//!
//! Finds the cheapest form of every constant: table entry, modifiers, immediate, or one move that all uses share; and
//! gives uniforms and specials the words that their instructions may read together.
//!
//! Runs before registers are allocated. Afterwards the sources of every instruction are registers, pairs and
//! [`Src::Fast`], and what stands together is what [`crate::fau`] admits. Orders of preference are those of
//! isa/valhall_rogue.md 1.8.

mod words;

use crate::api::FauWord;
use crate::fau::{self, LUT, Read, Reader};
use crate::inst::{FauRef, GPR, Inst, Op, Src};
use crate::isa::{Extension, Opcode, Operand, Source, f, limits};
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Demand, Func, Loops, Node, Reg};
use gpucc_ir::ssa::Span;
use gpucc_isa::{FieldId, Kind};
use gpucc_passes::mach::Tree;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// What a source needs in a register.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Moved {
    Bits(u32),
    Fast(Read),
}

/// A move that several instructions share.
struct Shared {
    reg: Reg,
    /// Where it is read: block and node.
    uses: Vec<(Block, u32)>,
}

/// Words of uniforms that stand in the page of the small constants.
const PAGE: usize = 64;

/// Resolves all sources of the programs of a binary. Returns what stands in each word of the uniforms, which they share;
/// constants that stand there are added to `entries`.
pub fn run(funcs: &mut [Func<Inst>], entries: &mut Vec<FauWord>) -> Vec<Option<FauRef>> {
    for func in funcs.iter_mut() {
        for position in 0..func.layout.len() {
            let block = func.layout[position];
            for node in &mut func.blocks[block].nodes {
                if let Inst::Op(op) = &mut node.inst
                    && op.src.iter().any(|source| matches!(source, Src::Bits(_)))
                {
                    immediate_form(op);
                    small_constants(op);
                }
            }
        }
    }
    push_constants(funcs, entries);
    let map = words::words(funcs, entries);
    let mut word_of: BTreeMap<FauRef, u8> = BTreeMap::new();
    for (word, entry) in map.iter().enumerate() {
        if let (Some(entry), Ok(word)) = (*entry, u8::try_from(word)) {
            word_of.insert(entry, word);
        }
    }
    for func in funcs {
        function(func, &Known { word_of: &word_of, entries });
    }
    map
}

/// What uniforms hold, and where.
struct Known<'a> {
    word_of: &'a BTreeMap<FauRef, u8>,
    entries: &'a [FauWord],
}

/// Constants of the table become that.
fn small_constants(op: &mut Op) {
    let shape = op.opcode.shape();
    for (k, source) in shape.sources.iter().enumerate() {
        let Some(&Src::Bits(bits)) = op.src.get(k) else {
            continue;
        };
        if let Some((entry, fields)) = entry(op, source, bits) {
            for (field, value) in fields {
                op.word = op.word.with(field, value);
            }
            op.src[k] = Src::Fast(Read::Lut(entry));
        }
    }
}

/// Gives the constants that are read most words of the uniforms, as far as their page has room.
fn push_constants(funcs: &mut [Func<Inst>], entries: &mut Vec<FauWord>) {
    let mut weight: BTreeMap<(u32, bool), u64> = BTreeMap::new();
    let mut taken: BTreeSet<FauRef> = BTreeSet::new();
    for func in funcs.iter() {
        let loops = Loops::of(func);
        for &block in &func.layout {
            let frequency = 1u64 << (3 * loops.depth(block).min(7));
            for node in &func.blocks[block].nodes {
                let Some(op) = node.inst.op() else { continue };
                for (k, source) in op.src.iter().enumerate() {
                    match *source {
                        Src::Bits(bits) => {
                            *weight.entry((bits, is_wide(op, k))).or_default() += frequency;
                        }
                        Src::Fau(entry) => {
                            taken.insert(entry);
                        }
                        Src::FauPair(entry) => {
                            taken.insert(entry);
                            taken.insert(FauRef(entry.0 + 1));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    // Entries that are 64 bits leave no holes, single ones at most one.
    let mut room = PAGE.saturating_sub(taken.len().next_multiple_of(2));
    let mut order: Vec<((u32, bool), u64)> = weight.into_iter().collect();
    order.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut pushed: BTreeMap<(u32, bool), FauRef> = BTreeMap::new();
    for (key, _) in order {
        let size = 1 + usize::from(key.1);
        if size > room || entries.len() + size > usize::from(u16::MAX) {
            continue;
        }
        room -= size;
        pushed.insert(key, FauRef(entries.len() as u16));
        entries.push(FauWord::Constant(key.0));
        if key.1 {
            entries.push(FauWord::Constant(0));
        }
    }
    for func in funcs {
        for &block in &func.layout {
            for node in &mut func.blocks[block].nodes {
                let Inst::Op(op) = &mut node.inst else {
                    continue;
                };
                for k in 0..op.src.len() {
                    let Src::Bits(bits) = op.src[k] else { continue };
                    let wide = is_wide(op, k);
                    op.src[k] = match pushed.get(&(bits, wide)) {
                        Some(&entry) if wide => Src::FauPair(entry),
                        Some(&entry) => Src::Fau(entry),
                        None => continue,
                    };
                }
            }
        }
    }
}

fn function(func: &mut Func<Inst>, known: &Known<'_>) {
    let mut moved: BTreeMap<Moved, Shared> = BTreeMap::new();
    for position in 0..func.layout.len() {
        let block = func.layout[position];
        for index in 0..func.blocks[block].nodes.len() {
            let Inst::Op(op) = &mut func.blocks[block].nodes[index].inst else {
                continue;
            };
            let in_register =
                |source: &Src| matches!(source, Src::Reg(_) | Src::Pair(_) | Src::Low(_));
            if op.src.iter().all(in_register) {
                continue;
            }
            let requests: SmallVec<[(usize, Moved, bool); 4]> = resolve(op, known)
                .into_iter()
                .map(|(source, key)| (source, key, is_wide(op, source)))
                .collect();
            for (source, key, wide) in requests {
                let keys: SmallVec<[Moved; 2]> = match key {
                    _ if !wide => SmallVec::from_slice(&[key]),
                    Moved::Bits(_) => SmallVec::from_slice(&[key, Moved::Bits(0)]),
                    Moved::Fast(read) => SmallVec::from_slice(&[key, Moved::Fast(read.high())]),
                };
                let mut regs: SmallVec<[Reg; 2]> = SmallVec::new();
                for key in keys {
                    let vregs = &mut func.vregs;
                    let shared = moved.entry(key).or_insert_with(|| Shared {
                        reg: Reg::virt(vregs.push(gpucc_ir::mach::VRegData {
                            demand: Demand::scalar(GPR),
                            per_lane: true,
                            prefer: None,
                            span: Span::NONE,
                        })),
                        uses: Vec::new(),
                    });
                    if shared.uses.last() != Some(&(block, index as u32)) {
                        shared.uses.push((block, index as u32));
                    }
                    regs.push(shared.reg);
                }
                let Inst::Op(op) = &mut func.blocks[block].nodes[index].inst else {
                    continue;
                };
                op.src[source] = match regs[..] {
                    [low, high] => Src::Pair([low, high]),
                    _ => Src::Reg(regs[0]),
                };
            }
        }
    }
    place(func, moved);
}

/// Whether a source is 64 bits.
fn is_wide(op: &Op, source: usize) -> bool {
    op.opcode.shape().sources.get(source).is_some_and(|source| source.kind.is_pair())
}

/// Resolves the sources of one instruction; what must come from a register is returned.
fn resolve(op: &mut Op, known: &Known<'_>) -> SmallVec<[(usize, Moved); 4]> {
    let mut requests: SmallVec<[(usize, Moved); 4]> = SmallVec::new();
    // Constants among the uniforms: moving one needs no uniform.
    let mut constants: SmallVec<[Option<u32>; 4]> = SmallVec::new();
    for k in 0..op.src.len() {
        let uniform = |entry: FauRef| {
            let word = known.word_of.get(&entry).copied();
            Read::Uniform(word.expect("every entry that is read has a word"))
        };
        let mut constant = None;
        op.src[k] = match op.src[k] {
            Src::Fau(entry) | Src::FauPair(entry) => {
                if let Some(&FauWord::Constant(bits)) = known.entries.get(usize::from(entry.0)) {
                    constant = Some(bits);
                }
                Src::Fast(uniform(entry))
            }
            Src::Special(special, word) => Src::Fast(special.read(word)),
            Src::Special64(special) => Src::Fast(special.read(0)),
            Src::Bits(bits) => {
                requests.push((k, Moved::Bits(bits)));
                Src::Bits(bits)
            }
            other => other,
        };
        constants.push(constant);
    }
    let fast: SmallVec<[Option<(Read, bool)>; 4]> = op
        .src
        .iter()
        .enumerate()
        .map(|(k, source)| match *source {
            Src::Fast(read) => Some((read, is_wide(op, k))),
            _ => None,
        })
        .collect();
    let away = fau::repair(Reader::of(op.opcode), &fast);
    for (k, source) in fast.iter().enumerate() {
        if let Some((read, _)) = *source
            && away >> k & 1 != 0
        {
            requests.push((
                k,
                match (constants[k], read) {
                    (Some(bits), _) => Moved::Bits(bits),
                    (None, Read::Lut(entry)) => Moved::Bits(LUT[usize::from(entry)]),
                    (None, other) => Moved::Fast(other),
                },
            ));
        }
    }
    requests
}

/// The value of a source as the instruction computes with it: its lanes, extended, with abs and neg.
#[derive(Copy, Clone, PartialEq, Eq, Default)]
struct Lanes {
    count: u8,
    list: [u64; MOST_LANES],
}

/// A word has four bytes.
const MOST_LANES: usize = 4;

impl Lanes {
    fn push(&mut self, lane: u64) {
        self.list[usize::from(self.count)] = lane;
        self.count += 1;
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        self.list.into_iter().take(usize::from(self.count))
    }
}

/// Which parts of a word a source reads.
#[derive(Copy, Clone)]
enum Selection {
    /// All of it, in lanes of its own width.
    Whole,
    /// Parts of so many bits, by their numbers.
    Parts { unit: u32, count: u8, numbers: [u8; MOST_LANES] },
}

impl Selection {
    /// By the modifier's name; `None` when it means nothing here.
    fn of(kind: Operand, select: Option<&str>) -> Option<Selection> {
        let Some(select) = select.filter(|&name| name != "none") else {
            return Some(Selection::Whole);
        };
        let unit = match select.as_bytes().first()? {
            b'b' => 8,
            b'h' => 16,
            b'w' => 32,
            _ => return None,
        };
        let fits = match kind {
            Operand::F32 => unit == 16,
            _ => unit <= kind.bits(),
        };
        let digits = &select.as_bytes()[1..];
        if !fits || digits.len() > MOST_LANES {
            return None;
        }
        let mut numbers = [0; MOST_LANES];
        for (number, digit) in numbers.iter_mut().zip(digits) {
            *number = digit.checked_sub(b'0')?;
        }
        Some(Selection::Parts { unit, count: digits.len() as u8, numbers })
    }

    /// Whether lanes may be what it makes of some word: nothing that is no half is made of halves, and what is extended
    /// has zeros or ones above its parts.
    fn reaches(self, kind: Operand, lanes: &Lanes) -> bool {
        let Selection::Parts { unit, .. } = self else { return true };
        if kind == Operand::F32 {
            return lanes.list[0] & HALF_ZEROS == 0;
        }
        let ones = u64::MAX >> (64 - kind.bits()) >> (unit - 1);
        lanes.iter().all(|lane| lane >> unit == 0 || lane >> (unit - 1) == ones)
    }

    /// What it makes of a word; `None` when that is in doubt.
    #[inline]
    fn lanes(self, kind: Operand, extend: Extension, bits: u32) -> Option<Lanes> {
        let width = kind.bits();
        let mut list = Lanes::default();
        let (unit, count, numbers) = match self {
            Selection::Whole if width >= 32 => {
                list.push(u64::from(bits));
                return Some(list);
            }
            Selection::Whole => {
                for at in (0..32).step_by(width as usize) {
                    list.push(u64::from(bits) >> at & ((1 << width) - 1));
                }
                return Some(list);
            }
            Selection::Parts { unit, count, numbers } => (unit, count, numbers),
        };
        for &number in &numbers[..usize::from(count)] {
            list.push(part(kind, extend, bits, unit, number)?);
        }
        Some(list)
    }

    /// The first lane of what it makes of a word, where that is never in doubt.
    #[inline]
    fn first_lane(self, kind: Operand, extend: Extension, bits: u32) -> Option<u64> {
        match self {
            Selection::Whole => Some(u64::from(bits) & (u64::MAX >> (64 - kind.bits()))),
            Selection::Parts { count: 0, .. } => None,
            _ if extend == Extension::Arithmetic => None,
            Selection::Parts { unit, numbers, .. } => part(kind, extend, bits, unit, numbers[0]),
        }
    }
}

/// A part of a word as a lane; `None` when that is in doubt.
#[inline]
fn part(kind: Operand, extend: Extension, bits: u32, unit: u32, number: u8) -> Option<u64> {
    let at = u32::from(number) * unit;
    let raw = match at {
        0..32 => u64::from(bits) >> at & ((1u64 << unit) - 1),
        _ => 0,
    };
    if kind == Operand::F32 {
        return Some(u64::from(half_to_single(raw as u16)));
    }
    let width = kind.bits();
    let negative = unit < width && raw >> (unit - 1) == 1;
    Some(match extend {
        Extension::Arithmetic if negative => return None,
        Extension::Sign if negative => {
            let shift = 64 - unit;
            ((raw << shift) as i64 >> shift) as u64 & (u64::MAX >> (64 - width))
        }
        _ => raw,
    })
}

/// Bits of a single that are zeros where it is a half.
const HALF_ZEROS: u64 = 0x1fff;

/// A half as a single, exactly; NaN stays NaN.
fn half_to_single(half: u16) -> u32 {
    let sign = u32::from(half >> 15) << 31;
    let (exponent, mantissa) = (u32::from(half >> 10 & 31), u32::from(half & 0x3ff));
    sign | match (exponent, mantissa) {
        (0, 0) => 0,
        (0, _) => {
            let shift = mantissa.leading_zeros() - 21;
            (113 - shift) << 23 | (mantissa << shift & 0x3ff) << 13
        }
        (31, _) => 0xff << 23 | mantissa << 13,
        _ => (exponent + 112) << 23 | mantissa << 13,
    }
}

/// Applies abs and neg.
fn absneg(kind: Operand, mut list: Lanes, abs: bool, neg: bool) -> Lanes {
    let sign = 1u64 << (kind.bits() - 1);
    for lane in &mut list.list[..usize::from(list.count)] {
        if abs {
            *lane &= !sign;
        }
        if neg {
            *lane ^= sign;
        }
    }
    list
}

/// Whether some lane is a float that is no number: those keep the form that lowering gave them.
fn has_nan(kind: Operand, list: &Lanes) -> bool {
    match kind {
        Operand::F32 => list.iter().any(|lane| f32::from_bits(lane as u32).is_nan()),
        Operand::F16 | Operand::V2F16 => list.iter().any(|lane| lane & 0x7fff > 0x7c00),
        _ => false,
    }
}

/// Fields of a word and what they must become.
type Modifiers = SmallVec<[(FieldId, u32); 2]>;

/// A table entry for a constant source, and the modifiers that must change.
fn entry(op: &Op, source: &Source, bits: u32) -> Option<(u8, Modifiers)> {
    let exact = LUT.iter().position(|&entry| entry == bits);
    if let Some(entry) = exact {
        return Some((entry as u8, SmallVec::new()));
    }
    if source.kind.is_pair() {
        return None;
    }
    let row = op.word.op();
    let field = |id: Option<FieldId>| id.filter(|&id| row.format.field(id).is_some());
    let (swizzle, neg, abs) = (field(source.swizzle()), field(source.neg()), field(source.abs()));
    let set = swizzle.and_then(|id| match row.format.field(id)?.kind {
        Kind::Enum(set) => Some(set),
        _ => None,
    });
    let extend = Opcode::of(row).extension();
    let now = swizzle.map(|id| op.word.get(id));
    let name = |value: u32| set.and_then(|set| set.name_of(value));
    let flag = |id: Option<FieldId>| id.is_some_and(|id| op.word.flag(id));
    let kind = source.kind;
    let wanted = absneg(
        kind,
        Selection::of(kind, now.and_then(name))?.lanes(kind, extend, bits)?,
        flag(abs),
        flag(neg),
    );
    if has_nan(kind, &wanted) {
        return None;
    }
    // The selection that there is already, then the others.
    let members = set.map_or(&[][..], |set| set.members).iter();
    let others = members.map(|member| Some(member.value)).filter(|&value| value != now);
    for select in std::iter::once(now).chain(others) {
        let Some(selection) = Selection::of(kind, select.and_then(name)) else {
            continue;
        };
        if !selection.reaches(kind, &wanted) {
            continue;
        }
        let both = [wanted, absneg(kind, wanted, false, true)];
        let mut found = [None; 2];
        for (number, &entry) in LUT.iter().enumerate() {
            // The first lane tells most entries apart.
            let first = selection.first_lane(kind, extend, entry);
            if first.is_some_and(|first| both.iter().all(|lanes| lanes.list[0] != first)) {
                continue;
            }
            let Some(lanes) = selection.lanes(kind, extend, entry) else {
                break;
            };
            for (found, wanted) in found.iter_mut().zip(&both) {
                if found.is_none() && lanes == *wanted {
                    *found = Some(number);
                }
            }
        }
        for (negated, number) in [false, true].into_iter().zip(found) {
            let Some(number) = number.filter(|_| !negated || neg.is_some()) else {
                continue;
            };
            let mut fields: SmallVec<[(FieldId, u32); 2]> = SmallVec::new();
            if let (Some(id), Some(value)) = (swizzle, select) {
                fields.push((id, value));
            }
            if let Some(id) = neg {
                fields.push((id, u32::from(negated)));
            }
            if let Some(id) = abs {
                fields.push((id, 0));
            }
            let mut word = op.word;
            for &(id, value) in &fields {
                word = word.with(id, value);
            }
            // A row may lack this selection.
            if limits::check(&word).is_ok() {
                return Some((number as u8, fields));
            }
        }
    }
    None
}

/// Turns an addition of a constant into the form with an immediate, and a move of a constant into the move of constants.
fn immediate_form(op: &mut Op) {
    let row = op.opcode;
    if row == Opcode::MovI32
        && let [Src::Bits(bits)] = op.src[..]
    {
        if !LUT.contains(&bits) {
            let dst = std::mem::take(&mut op.dst);
            *op = constant(bits);
            op.dst = dst;
        }
        return;
    }
    let (form, subtract) = match row {
        Opcode::IaddU32 | Opcode::IaddS32 => (Opcode::IaddImmI32, false),
        Opcode::IsubU32 | Opcode::IsubS32 => (Opcode::IaddImmI32, true),
        Opcode::IaddV2u16 | Opcode::IaddV2s16 => (Opcode::IaddImmV2i16, false),
        Opcode::IsubV2u16 | Opcode::IsubV2s16 => (Opcode::IaddImmV2i16, true),
        Opcode::IaddV4u8 | Opcode::IaddV4s8 => (Opcode::IaddImmV4i8, false),
        Opcode::FaddF32 => (Opcode::FaddImmF32, false),
        Opcode::FaddV2f16 => (Opcode::FaddImmV2f16, false),
        _ => return,
    };
    let usual = [f::SATURATE, f::CLAMP, f::ROUND, f::STICKY, f::DST_MASK];
    let plain = gpucc_isa::Inst::usual(row.op());
    if usual.iter().any(|&id| op.word.get(id) != plain.get(id)) {
        return;
    }
    let shape = row.shape();
    let (constant_at, other_at) = match op.src[..] {
        [Src::Bits(_), Src::Bits(_)] => return,
        [_, Src::Bits(_)] => (1, 0),
        [Src::Bits(_), _] if !subtract => (0, 1),
        _ => return,
    };
    let other = &shape.sources[other_at];
    let modifiers = [other.swizzle(), other.neg(), other.abs()];
    if modifiers.into_iter().flatten().any(|id| op.word.get(id) != plain.get(id)) {
        return;
    }
    let Src::Bits(bits) = op.src[constant_at] else {
        return;
    };
    let Some(mut value) = selected(op, &shape.sources[constant_at], bits) else {
        return;
    };
    if subtract {
        value = match form {
            Opcode::IaddImmI32 => value.wrapping_neg(),
            _ => {
                let half = |at: u32| u32::from(((value >> at) as u16).wrapping_neg()) << at;
                half(0) | half(16)
            }
        };
    }
    let (dst, source) = (std::mem::take(&mut op.dst), op.src[other_at]);
    *op = Op::new(form).from(&[source]).with(f::IMM, value);
    op.dst = dst;
}

/// A constant after its modifiers, as one word.
fn selected(op: &Op, source: &Source, bits: u32) -> Option<u32> {
    let row = op.word.op();
    let name = source.swizzle().and_then(|id| {
        let Kind::Enum(set) = row.format.field(id)?.kind else {
            return None;
        };
        set.name_of(op.word.get(id))
    });
    let extend = Opcode::of(row).extension();
    let flag = |id: Option<FieldId>| id.is_some_and(|id| op.word.flag(id));
    let list = absneg(
        source.kind,
        Selection::of(source.kind, name)?.lanes(source.kind, extend, bits)?,
        flag(source.abs()),
        flag(source.neg()),
    );
    if has_nan(source.kind, &list) {
        return None;
    }
    let width = source.kind.bits();
    (u32::from(list.count) * width == 32).then(|| {
        list.iter()
            .enumerate()
            .fold(0, |word, (k, lane)| word | (lane as u32) << (k as u32 * width))
    })
}

/// The move of a constant: an addition to zero (isa/valhall_rogue.md 1.8).
fn constant(bits: u32) -> Op {
    Op::new(Opcode::IaddImmI32).from(&[Src::Fast(Read::Lut(0))]).with(f::IMM, bits)
}

/// Puts each shared move where it runs least: in the nearest block that dominates its uses, outside of loops.
fn place(func: &mut Func<Inst>, moved: BTreeMap<Moved, Shared>) {
    if moved.is_empty() {
        return;
    }
    let tree = Tree::dominators(func);
    let loops = Loops::of(func);
    let mut inserts: SecondaryMap<Block, Vec<(u32, Node<Inst>)>> = SecondaryMap::new();
    for (key, shared) in moved {
        let mut op = match key {
            Moved::Bits(bits) => constant(bits),
            Moved::Fast(read) => Op::new(Opcode::MovI32).from(&[Src::Fast(read)]),
        };
        op.dst = SmallVec::from_slice(&[shared.reg]);
        let mut home = Some(shared.uses[0].0).filter(|&block| tree.reaches(block));
        for &(block, _) in &shared.uses {
            home = home.filter(|_| tree.reaches(block)).and_then(|home| tree.common(home, block));
        }
        while let Some(block) = home
            && loops.depth(block) > 0
            && let Some(up) = tree.parent(block)
        {
            home = Some(up);
        }
        let mut places: SmallVec<[(Block, u32); 2]> = SmallVec::new();
        match home {
            Some(block) => {
                let nodes = &func.blocks[block].nodes;
                let first = shared.uses.iter().find(|place| place.0 == block);
                let end = nodes.len() - usize::from(nodes.last().is_some_and(ends));
                places.push((block, first.map_or(end as u32, |place| place.1)));
            }
            // Blocks that are never reached: each on its own.
            None => {
                for &(block, index) in &shared.uses {
                    if !places.iter().any(|place| place.0 == block) {
                        places.push((block, index));
                    }
                }
            }
        }
        for (block, index) in places {
            let span =
                func.blocks[block].nodes.get(index as usize).map_or(Span::NONE, |node| node.span);
            let inst = Inst::Op(Box::new(op.clone()));
            inserts[block].push((index, Node { inst, span }));
        }
    }
    for &block in &func.layout {
        let mut list = std::mem::take(&mut inserts[block]);
        if list.is_empty() {
            continue;
        }
        list.sort_by_key(|&(index, _)| index);
        let nodes = &mut func.blocks[block].nodes;
        let old = std::mem::take(nodes);
        let mut next = list.into_iter().peekable();
        for (index, node) in old.into_iter().enumerate() {
            while let Some((_, node)) = next.next_if(|&(at, _)| at as usize <= index) {
                nodes.push(node);
            }
            nodes.push(node);
        }
        nodes.extend(next.map(|(_, node)| node));
    }
}

fn ends(node: &Node<Inst>) -> bool {
    gpucc_ir::mach::Inst::ends_block(&node.inst)
}

#[cfg(test)]
mod tests;
