//! Buffers, variables and storage textures, with the marks of who touched what.

use super::exec::{Machine, Mask};
use super::texture::texel_number;
use super::{Inexact, Lanes, Word};
use crate::Map;
use crate::ssa::eval::eval;
use crate::ssa::func::{Func, Imm, Inst, InstData, Mem, MemSpace, Type, Value};
use crate::ssa::op::Op;
use crate::ssa::resource::{AtomicOp, Resource, ResourceKind, SampleType};
use crate::ssa::world::TexelAddress;

/// Words that the variables of all lanes take together.
pub(super) fn words(func: &Func, lanes: &Lanes) -> u64 {
    let groups = u64::from(lanes.workgroup.iter().max().map_or(1, |&last| last + 1));
    let sizes = func.mems.values().map(|mem| {
        let columns = match mem.space {
            MemSpace::Private => lanes.count as u64,
            MemSpace::Workgroup => groups,
            MemSpace::Constant => 1,
        };
        u64::from(mem.size.div_ceil(4)).saturating_mul(columns)
    });
    sizes.fold(0, u64::saturating_add)
}

/// Variables and epochs of a run.
pub(super) struct Memory {
    /// Per variable: `[word][lane]` for private ones, `[word][workgroup]` for workgroup ones.
    words: Vec<Vec<u32>>,
    /// The same for taint; empty when nothing is followed.
    taint: Vec<Vec<bool>>,
    /// Lanes (private) or workgroups of the run.
    columns: Vec<usize>,
    /// Barriers passed, per workgroup.
    pub(super) epochs: Vec<u32>,
    /// The instruction that is being executed.
    pub(super) at: Option<Inst>,
    /// The first that accessed a variable, a buffer or an array of bindings beyond its end.
    pub(super) beyond: Option<Inst>,
    touched: Touches,
    tainted_words: Map<Word, bool>,
    sums: Map<Word, Sum>,
}

/// Who touched a word, as far as it takes to see a race.
#[derive(Copy, Clone, Debug, Default)]
struct Touch {
    write: Option<By>,
    read: Option<By>,
}

/// Words of a table that are kept side by side; what lies further is rare and kept in a map.
const DENSE_WORDS: usize = 1 << 14;

/// Who touched which word.
struct Touches {
    /// Per binding (its element 0), then per variable (every workgroup), by word.
    dense: Vec<Vec<Touch>>,
    sparse: Map<Word, Touch>,
    buffers: usize,
    groups: usize,
}

impl Touches {
    fn new(func: &Func, groups: usize) -> Touches {
        Touches {
            dense: vec![Vec::new(); func.resources.len() + func.mems.len()],
            sparse: Map::default(),
            buffers: func.resources.len(),
            groups,
        }
    }

    fn at(&mut self, word: Word) -> &mut Touch {
        let place = match word {
            Word::Buffer(buffer, 0, address) => {
                Some((buffer.as_u32() as usize, address as usize / 4))
            }
            Word::Workgroup(group, mem, address) => Some((
                self.buffers + mem.as_u32() as usize,
                address as usize / 4 * self.groups + group as usize,
            )),
            Word::Buffer(..) | Word::Texel(..) => None,
        };
        match place {
            Some((table, index)) if index < DENSE_WORDS => {
                let table = &mut self.dense[table];
                if table.len() <= index {
                    table.resize((index + 1).next_power_of_two(), Touch::default());
                }
                &mut table[index]
            }
            _ => self.sparse.entry(word).or_default(),
        }
    }
}

/// One invocation, or several of one epoch.
#[derive(Copy, Clone, Debug)]
struct By {
    lane: u32,
    several: bool,
    group: u32,
    several_groups: bool,
    epoch: u32,
    /// What kind of atomics; `None` for other accesses.
    atomic: Option<Family>,
}

/// Atomic functions that may come in any order among themselves and leave the same word.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Family {
    Load,
    Sum,
    And,
    Or,
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
    FSum,
    FMin,
    FMax,
    /// Stores and exchanges; their results follow from the order and are marked as such.
    Exchange,
    /// Several of them.
    Mixed,
}

impl By {
    /// True when either this access or that of `by` may come first.
    fn apart(&self, by: &By) -> bool {
        (self.lane != by.lane || self.several)
            && (self.several_groups || self.group != by.group || self.epoch == by.epoch)
    }
    /// True when which of the two comes first changes the word or what is read.
    fn unordered(&self, by: &By) -> bool {
        self.apart(by) && !agree(self.atomic, by.atomic)
    }
    fn join(old: Option<By>, by: By) -> Option<By> {
        Some(match old {
            None => by,
            Some(old) => By {
                several: old.epoch == by.epoch && (old.several || old.lane != by.lane)
                    || old.several_groups
                    || old.group != by.group,
                several_groups: old.several_groups || old.group != by.group,
                atomic: match (old.atomic, by.atomic) {
                    _ if old.epoch != by.epoch => by.atomic,
                    (Some(old), Some(by)) if old == by || by == Family::Load => Some(old),
                    (Some(Family::Load), Some(by)) => Some(by),
                    (Some(_), Some(_)) => Some(Family::Mixed),
                    _ => None,
                },
                ..by
            },
        })
    }
}

/// True for accesses whose order does not change the word: `a + b - c`, but not `min(a, b) - c`.
fn agree(one: Option<Family>, other: Option<Family>) -> bool {
    let any_order = |family| matches!(family, Family::Load | Family::Exchange);
    match (one, other) {
        (Some(one), Some(other)) => one == other || any_order(one) || any_order(other),
        _ => false,
    }
}

const fn family(op: AtomicOp) -> Family {
    match op {
        AtomicOp::Load => Family::Load,
        AtomicOp::Add | AtomicOp::Sub => Family::Sum,
        AtomicOp::And => Family::And,
        AtomicOp::Or => Family::Or,
        AtomicOp::Xor => Family::Xor,
        AtomicOp::SMin => Family::SMin,
        AtomicOp::SMax => Family::SMax,
        AtomicOp::UMin => Family::UMin,
        AtomicOp::UMax => Family::UMax,
        AtomicOp::FAdd => Family::FSum,
        AtomicOp::FMin => Family::FMin,
        AtomicOp::FMax => Family::FMax,
        AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => Family::Exchange,
    }
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum How {
    Read,
    Write,
    Atomic(Family),
}

impl Memory {
    pub(super) fn new(func: &Func, lanes: &Lanes, follow: bool) -> Memory {
        let groups = lanes.workgroup.iter().map(|&group| group as usize + 1).max().unwrap_or(1);
        let columns: Vec<usize> = func
            .mems
            .values()
            .map(|mem| match mem.space {
                MemSpace::Private => lanes.count,
                MemSpace::Workgroup => groups,
                MemSpace::Constant => 1,
            })
            .collect();
        let sizes: Vec<usize> = func
            .mems
            .values()
            .zip(&columns)
            .map(|(mem, columns)| mem.size.div_ceil(4) as usize * columns)
            .collect();
        Memory {
            at: None,
            beyond: None,
            words: func
                .mems
                .values()
                .zip(&sizes)
                .map(|(mem, &size)| match mem.space {
                    MemSpace::Constant => mem.words.clone(),
                    MemSpace::Private | MemSpace::Workgroup => vec![0; size],
                })
                .collect(),
            taint: sizes.iter().map(|&size| vec![false; if follow { size } else { 0 }]).collect(),
            columns,
            epochs: vec![0; groups],
            touched: Touches::new(func, groups),
            tainted_words: Map::default(),
            sums: Map::default(),
        }
    }
}

/// Where an access goes, for one lane.
#[derive(Copy, Clone)]
enum Place {
    Buffer(Resource, u32),
    Mem(Mem),
}

impl Machine<'_> {
    pub(super) fn memory_access(&mut self, data: &InstData, active: &Mask) {
        match data.op {
            Op::BufferSize => {
                let Imm::Resource(buffer) = data.imm else {
                    return;
                };
                for lane in active.iter() {
                    let element = self.element(buffer, &data.args, lane).0;
                    let size = self.world.buffer_size(buffer, element);
                    self.set(data.results[0], lane, size.into());
                    self.set_taint(data.results[0], lane, false);
                }
            }
            Op::ImageStore => self.image_store(data, active),
            Op::ImageAtomic => self.image_atomic(data, active),
            _ if self.moves_rows(data, active) => {}
            _ => {
                for lane in active.iter() {
                    self.lane_access(data, lane);
                }
            }
        }
    }

    /// Where all lanes load or store the same whole words of a private variable, the words of all lanes stand side by
    /// side and move together. False, with nothing done, where that does not hold.
    fn moves_rows(&mut self, data: &InstData, active: &Mask) -> bool {
        let Imm::Mem(access) = data.imm else {
            return false;
        };
        let (loads, moved) = match data.op {
            Op::MemLoad => (true, data.results.as_slice()),
            Op::MemStore => (false, &data.args[1..]),
            _ => return false,
        };
        let mem = &self.func.mems[access.mem];
        let (address, Some(first)) = (data.args[0], active.iter().next()) else {
            return false;
        };
        let start = self.get(address, first);
        let within =
            start.is_multiple_of(4) && start + 4 * moved.len() as u64 <= u64::from(mem.size);
        let apart = |lane| {
            self.get(address, lane) != start
                || self.tainted(address, lane)
                || self.is_nowhere(address, lane)
        };
        if mem.space != MemSpace::Private
            || !within
            || moved.iter().any(|&value| self.ty(value) != Type::B32)
            || active.iter().any(apart)
        {
            return false;
        }
        let (count, variable) = (self.lanes.count, access.mem.as_u32() as usize);
        let follows = self.follows();
        for (&value, word) in moved.iter().zip(start as usize / 4..) {
            let (row, at) = (self.slots.row(value) * count, word * count);
            let values = &mut self.values[row..row + count];
            let words = &mut self.memory.words[variable][at..at + count];
            match loads {
                true => active.iter().for_each(|lane| values[lane] = words[lane].into()),
                false => active.iter().for_each(|lane| words[lane] = values[lane] as u32),
            }
            // What a load gives is no address of nothing.
            if loads && !self.nowhere.is_empty() {
                active.iter().for_each(|lane| self.nowhere[row + lane] = false);
            }
            for lane in active.iter().filter(|_| follows) {
                if loads {
                    let taint = self.memory.taint[variable][at + lane];
                    self.taint[row + lane] = taint || self.may_be_written(access.mem, lane);
                } else {
                    self.memory.taint[variable][at + lane] = self.taint[row + lane];
                }
            }
        }
        true
    }

    /// The element of a binding array and how many operands it took.
    pub(super) fn element(&self, resource: Resource, args: &[Value], lane: usize) -> (u32, usize) {
        match self.func.resources[resource].count {
            Some(_) => (self.get(args[0], lane) as u32, 1),
            None => (0, 0),
        }
    }

    fn lane_access(&mut self, data: &InstData, lane: usize) {
        let (place, skip) = match data.imm {
            Imm::Resource(buffer) | Imm::BufferAtomic(buffer, _) => {
                let (element, skip) = self.element(buffer, &data.args, lane);
                (Place::Buffer(buffer, element), skip)
            }
            Imm::Mem(access) | Imm::MemAtomic(access, _) => (Place::Mem(access.mem), 0),
            _ => return,
        };
        let address_value = data.args[skip];
        let address = self.get(address_value, lane) as u32;
        let operands = &data.args[skip + 1..];
        let wild = data.args[..=skip].iter().any(|&v| self.tainted(v, lane));
        if self.is_nowhere(address_value, lane) {
            for &result in &data.results {
                self.set(result, lane, 0);
                self.set_taint(result, lane, wild);
            }
            if wild && data.op != Op::BufferLoad && data.op != Op::MemLoad {
                self.exclude_place(place);
            }
            return;
        }
        match data.op {
            Op::BufferLoad | Op::MemLoad => {
                let mut at = address;
                for &result in &data.results {
                    let ty = self.ty(result);
                    let (bits, taint) = self.load(place, at, ty, lane);
                    self.set(result, lane, bits);
                    self.set_taint(result, lane, taint || wild);
                    at = at.wrapping_add(ty.bytes());
                }
            }
            Op::BufferStore | Op::MemStore => {
                if self.helper[lane] && self.shared(place) {
                    return;
                }
                let mut at = address;
                for &value in operands {
                    let (ty, bits) = (self.ty(value), self.get(value, lane));
                    let taint = self.tainted(value, lane);
                    self.store(place, at, ty, bits, taint, lane);
                    at = at.wrapping_add(ty.bytes());
                }
                if wild {
                    self.exclude_place(place);
                }
            }
            _ => self.atomic(data, place, address, operands, wild, lane),
        }
    }

    fn atomic(
        &mut self,
        data: &InstData,
        place: Place,
        address: u32,
        operands: &[Value],
        wild: bool,
        lane: usize,
    ) {
        let (Imm::BufferAtomic(_, op) | Imm::MemAtomic(_, op)) = data.imm else {
            return;
        };
        if self.helper[lane] {
            if let Some(&result) = data.results.first() {
                self.set(result, lane, 0);
                self.set_taint(result, lane, false);
            }
            return;
        }
        let word = operands.first().or(data.results.first());
        let wide = word.is_some_and(|&word| self.ty(word) == Type::B64);
        let addresses = [address, address.wrapping_add(4)];
        let addresses = &addresses[..1 + usize::from(wide)];
        let mut old = 0;
        for (k, &address) in addresses.iter().enumerate() {
            self.mark(place, address, How::Atomic(family(op)), lane);
            old |= u64::from(self.word(place, address, lane)) << (32 * k);
        }
        let given = |k: usize| operands.get(k).map_or(0, |&v| self.get(v, lane));
        let new = match (float_op(op), wide) {
            (Some(float), _) => {
                let b32 = Type::B32;
                eval(float, b32, b32, &[old, given(0)], self.numerics).unwrap_or(old)
            }
            (None, true) => wide_atomic_result(op, old, given(0), given(1)),
            (None, false) => atomic_result(op, old as u32, given(0) as u32, given(1) as u32).into(),
        };
        let taint = operands.iter().any(|&v| self.tainted(v, lane));
        let ordered = match (op, self.name(place, address, lane)) {
            (AtomicOp::FAdd, Some(word)) if self.follows() => {
                let [old, added, new] = [old, given(0), new].map(|bits| bits as u32);
                !self.memory.sums.entry(word).or_default().is_exact(old, added, new)
            }
            // Alone between two barriers there is no other order.
            _ => !commutes(op) && addresses.iter().any(|&at| self.moves(place, at, lane)),
        };
        for (k, &address) in addresses.iter().enumerate() {
            if op != AtomicOp::Load {
                self.put_word(place, address, (new >> (32 * k)) as u32, u32::MAX, lane);
            }
            if taint || (self.follows() && ordered) {
                self.taint_word(place, address, true, lane);
            }
        }
        if let Some(&result) = data.results.first() {
            self.set(result, lane, old);
            // What a barrier separates from all changes is the same in every order.
            let loads = op == AtomicOp::Load;
            let hangs = |&at: &u32| self.moves(place, at, lane) || self.word_taint(place, at, lane);
            let order = !loads || addresses.iter().any(hangs);
            self.set_taint(result, lane, order);
            self.marks.atomic_results |= self.lanes.count > 1;
        }
        if wild {
            self.exclude_place(place);
        }
    }

    fn load(&mut self, place: Place, address: u32, ty: Type, lane: usize) -> (u64, bool) {
        let low = self.load_word(place, address & !3, lane);
        match ty {
            Type::B16 => (u64::from(low.0 >> (8 * (address & 2))) & 0xffff, low.1),
            Type::B64 => {
                let high = self.load_word(place, (address & !3).wrapping_add(4), lane);
                (u64::from(high.0) << 32 | u64::from(low.0), low.1 || high.1)
            }
            Type::B1 => (u64::from(low.0 != 0), low.1),
            Type::B32 => (low.0.into(), low.1),
        }
    }

    fn load_word(&mut self, place: Place, address: u32, lane: usize) -> (u32, bool) {
        self.mark(place, address, How::Read, lane);
        let word = self.word(place, address, lane);
        (word, self.follows() && self.word_taint(place, address, lane))
    }

    fn store(&mut self, place: Place, address: u32, ty: Type, bits: u64, taint: bool, lane: usize) {
        let at = address & !3;
        match ty {
            Type::B16 => {
                let shift = 8 * (address & 2);
                let word = (bits as u32 & 0xffff) << shift;
                self.store_word(place, at, word, 0xffff << shift, taint, lane);
            }
            Type::B64 => {
                self.store_word(place, at, bits as u32, u32::MAX, taint, lane);
                let next = at.wrapping_add(4);
                self.store_word(place, next, (bits >> 32) as u32, u32::MAX, taint, lane);
            }
            Type::B1 | Type::B32 => {
                self.store_word(place, at, bits as u32, u32::MAX, taint, lane);
            }
        }
    }

    fn store_word(
        &mut self,
        place: Place,
        address: u32,
        word: u32,
        mask: u32,
        taint: bool,
        lane: usize,
    ) {
        self.mark(place, address, How::Write, lane);
        self.put_word(place, address, word, mask, lane);
        if self.follows() {
            let keep = mask != u32::MAX && self.word_taint(place, address, lane);
            self.taint_word(place, address, taint || keep, lane);
        }
    }

    fn column(&self, mem: Mem, lane: usize) -> usize {
        match self.func.mems[mem].space {
            MemSpace::Private => lane,
            MemSpace::Workgroup => self.lanes.workgroup[lane] as usize,
            MemSpace::Constant => 0,
        }
    }

    fn goes_beyond(&mut self) {
        let at = self.memory.at;
        self.memory.beyond = self.memory.beyond.or(at);
    }

    /// Notes the instruction, and whether it names elements that its arrays of bindings do not have.
    pub(super) fn accesses(&mut self, inst: Inst, data: &InstData, active: &Mask) {
        self.memory.at = Some(inst);
        let resources = match data.imm {
            Imm::Resource(one)
            | Imm::BufferAtomic(one, _)
            | Imm::ImageAtomic(one, _)
            | Imm::Query(one, _) => [Some(one), None],
            Imm::Tex(tex) => [Some(tex.texture), tex.sampler.expand()],
            _ => return,
        };
        let counts =
            resources.iter().flatten().filter_map(|&resource| self.func.resources[resource].count);
        for (count, &element) in counts.zip(&data.args) {
            if active.iter().any(|lane| self.get(element, lane) >= u64::from(count)) {
                self.goes_beyond();
            }
        }
    }

    /// Position of a variable's word; `None` outside of it.
    fn position(&self, mem: Mem, address: u32, lane: usize) -> Option<usize> {
        (address < self.func.mems[mem].size).then(|| {
            (address / 4) as usize * self.memory.columns[mem.as_u32() as usize]
                + self.column(mem, lane)
        })
    }

    fn word(&mut self, place: Place, address: u32, lane: usize) -> u32 {
        match place {
            Place::Buffer(buffer, element) => {
                if address >= self.world.buffer_size(buffer, element) {
                    self.goes_beyond();
                }
                self.world.load_word(buffer, element, address)
            }
            Place::Mem(mem) => match self.position(mem, address, lane) {
                Some(at) => self.memory.words[mem.as_u32() as usize][at],
                None => {
                    self.goes_beyond();
                    0
                }
            },
        }
    }

    fn put_word(&mut self, place: Place, address: u32, word: u32, mask: u32, lane: usize) {
        match place {
            Place::Buffer(buffer, element) => {
                if address >= self.world.buffer_size(buffer, element) {
                    self.goes_beyond();
                }
                self.world.store_word(buffer, element, address, word, mask);
            }
            Place::Mem(mem) => {
                let Some(at) = self.position(mem, address, lane) else {
                    self.goes_beyond();
                    return;
                };
                let to = &mut self.memory.words[mem.as_u32() as usize][at];
                *to = *to & !mask | word & mask;
            }
        }
    }

    /// True for memory that other invocations see.
    fn shared(&self, place: Place) -> bool {
        match place {
            Place::Buffer(..) => true,
            Place::Mem(mem) => self.func.mems[mem].space == MemSpace::Workgroup,
        }
    }

    /// The name of a shared word that some invocation may write; `None` for all others.
    fn name(&self, place: Place, address: u32, lane: usize) -> Option<Word> {
        match place {
            Place::Buffer(buffer, element) => match self.func.resources[buffer].kind {
                ResourceKind::Storage { access, .. } if access.store || access.atomic => {
                    Some(Word::Buffer(buffer, element, address))
                }
                _ => None,
            },
            Place::Mem(mem) => (self.func.mems[mem].space == MemSpace::Workgroup)
                .then(|| Word::Workgroup(self.lanes.workgroup[lane], mem, address)),
        }
    }

    fn mark(&mut self, place: Place, address: u32, how: How, lane: usize) {
        if let Some(word) = self.name(place, address, lane) {
            self.mark_word(word, how, lane);
        }
    }

    /// Whether other invocations may change the word before or after this one reads it.
    fn moves(&self, place: Place, address: u32, lane: usize) -> bool {
        let word = self.name(place, address, lane);
        word.is_none_or(|word| self.known_moving(word))
    }

    fn mark_word(&mut self, word: Word, how: How, lane: usize) {
        let group = self.lanes.workgroup[lane];
        let by = By {
            lane: lane as u32,
            several: false,
            group,
            several_groups: false,
            epoch: self.memory.epochs[group as usize],
            atomic: match how {
                How::Atomic(family) => Some(family),
                How::Read | How::Write => None,
            },
        };
        let touch = self.memory.touched.at(word);
        let writes = !matches!(how, How::Read | How::Atomic(Family::Load));
        let race = touch.write.is_some_and(|old| old.unordered(&by))
            || writes && touch.read.is_some_and(|old| old.unordered(&by));
        let other = if writes { touch.read } else { touch.write };
        // What a store or an exchange leaves follows from which of the two writes comes last.
        let replaces = |by: &By| matches!(by.atomic, Some(Family::Exchange | Family::Mixed));
        let last = touch
            .write
            .is_some_and(|old| writes && old.apart(&by) && (replaces(&old) || replaces(&by)));
        let moves =
            matches!(how, How::Atomic(_)) && (last || other.is_some_and(|old| old.apart(&by)));
        if writes {
            touch.write = By::join(touch.write, by);
        } else {
            touch.read = By::join(touch.read, by);
        }
        if race {
            self.marks.racy.insert(word);
        }
        if moves {
            self.marks.moving.insert(word);
        }
    }

    fn word_taint(&self, place: Place, address: u32, lane: usize) -> bool {
        let doubtful = match place {
            Place::Buffer(buffer, _) => self.excluded.resources.contains(&buffer),
            Place::Mem(mem) => self.may_be_written(mem, lane),
        };
        if doubtful {
            return true;
        }
        if let Place::Mem(mem) = place
            && self.func.mems[mem].space == MemSpace::Private
        {
            return self
                .position(mem, address, lane)
                .is_some_and(|at| self.memory.taint[mem.as_u32() as usize][at]);
        }
        self.name(place, address, lane).is_some_and(|word| {
            self.known_racy(word) || self.memory.tainted_words.get(&word).copied().unwrap_or(false)
        })
    }

    fn taint_word(&mut self, place: Place, address: u32, taint: bool, lane: usize) {
        if !self.follows() {
            return;
        }
        if let Place::Mem(mem) = place
            && self.func.mems[mem].space == MemSpace::Private
        {
            if let Some(at) = self.position(mem, address, lane) {
                self.memory.taint[mem.as_u32() as usize][at] = taint;
            }
            return;
        }
        if let Some(word) = self.name(place, address, lane) {
            self.memory.tainted_words.insert(word, taint);
            if taint {
                self.excluded.words.insert(word);
            }
        }
    }

    /// A store at an address that depends on the order of invocations may have gone anywhere.
    fn exclude_place(&mut self, place: Place) {
        match place {
            Place::Buffer(buffer, _) => {
                self.excluded.resources.insert(buffer);
            }
            Place::Mem(_) => self.excluded.all = true,
        }
    }

    fn image_store(&mut self, data: &InstData, active: &Mask) {
        let Imm::Resource(image) = data.imm else {
            return;
        };
        // A texel's format rounds.
        let floats = match self.func.resources[image].kind {
            ResourceKind::StorageTexture { format, sample, .. } => {
                sample == SampleType::Float && !format.0.ends_with("32float")
            }
            _ => false,
        };
        let rounds = floats && self.inexact == Inexact::Floats;
        for lane in active.iter() {
            if self.helper[lane] {
                continue;
            }
            let (at, used) = self.texel_address(image, &data.args, lane);
            let texel: [u32; 4] = std::array::from_fn(|k| {
                data.args.get(used + k).map_or(0, |&v| self.get(v, lane) as u32)
            });
            self.mark_texel(image, &at, How::Write, lane);
            let wild = data.args[..used].iter().any(|&v| self.tainted(v, lane));
            let taint = rounds || data.args[used..].iter().any(|&v| self.tainted(v, lane));
            if wild {
                self.excluded.resources.insert(image);
            }
            if taint {
                let word = Word::Texel(image, at.texture.1, texel_number(&at));
                self.excluded.words.insert(word);
                self.memory.tainted_words.insert(word, true);
            }
            self.world.store_texel(&at, texel);
        }
    }

    fn image_atomic(&mut self, data: &InstData, active: &Mask) {
        let Imm::ImageAtomic(image, op) = data.imm else {
            return;
        };
        for lane in active.iter() {
            let mut old = 0;
            if !self.helper[lane] {
                let (at, used) = self.texel_address(image, &data.args, lane);
                self.mark_texel(image, &at, How::Atomic(family(op)), lane);
                let operands = &data.args[used..];
                let given = |k: usize| operands.get(k).map_or(0, |&v| self.get(v, lane));
                let (first, second) = (given(0), given(1));
                let mut texel = self.world.load_texel(&at);
                let word = operands.first().or(data.results.first());
                if word.is_some_and(|&word| self.ty(word) == Type::B64) {
                    old = u64::from(texel[0]) | u64::from(texel[1]) << 32;
                    let new = wide_atomic_result(op, old, first, second);
                    (texel[0], texel[1]) = (new as u32, (new >> 32) as u32);
                } else {
                    old = texel[0].into();
                    texel[0] = match float_op(op) {
                        Some(float) => {
                            let b32 = Type::B32;
                            let new = eval(float, b32, b32, &[old, first], self.numerics);
                            new.map_or(texel[0], |bits| bits as u32)
                        }
                        None => atomic_result(op, texel[0], first as u32, second as u32),
                    };
                }
                if op == AtomicOp::FAdd && self.follows() {
                    let word = Word::Texel(image, at.texture.1, texel_number(&at));
                    let sum = self.memory.sums.entry(word).or_default();
                    if !sum.is_exact(old as u32, first as u32, texel[0]) {
                        self.excluded.words.insert(word);
                        self.memory.tainted_words.insert(word, true);
                    }
                }
                self.world.store_texel(&at, texel);
                if data.args.iter().any(|&v| self.tainted(v, lane)) {
                    self.excluded.resources.insert(image);
                }
            }
            if let Some(&result) = data.results.first() {
                self.set(result, lane, old);
                self.set_taint(result, lane, true);
                self.marks.atomic_results |= self.lanes.count > 1;
            }
        }
    }

    /// Marks the load of a storage texture's texel and gives its taint.
    pub(super) fn mark_texel_load(
        &mut self,
        image: Resource,
        at: &TexelAddress,
        lane: usize,
    ) -> bool {
        self.mark_texel(image, at, How::Read, lane);
        let word = Word::Texel(image, at.texture.1, texel_number(at));
        self.follows()
            && (self.known_racy(word)
                || self.excluded.resources.contains(&image)
                || self.memory.tainted_words.get(&word).copied().unwrap_or(false))
    }

    fn mark_texel(&mut self, image: Resource, at: &TexelAddress, how: How, lane: usize) {
        if let ResourceKind::StorageTexture { access, .. } = self.func.resources[image].kind
            && (access.store || access.atomic)
        {
            let word = Word::Texel(image, at.texture.1, texel_number(at));
            self.mark_word(word, how, lane);
        }
    }
}

/// Operations whose final value does not depend on their order.
const fn commutes(op: AtomicOp) -> bool {
    match op {
        AtomicOp::Load
        | AtomicOp::Add
        | AtomicOp::Sub
        | AtomicOp::And
        | AtomicOp::Or
        | AtomicOp::Xor
        | AtomicOp::SMin
        | AtomicOp::SMax
        | AtomicOp::UMin
        | AtomicOp::UMax
        | AtomicOp::FMin
        | AtomicOp::FMax => true,
        // A sum may: see [`Sum`].
        AtomicOp::FAdd | AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => false,
    }
}

/// What a float atomic does.
const fn float_op(op: AtomicOp) -> Option<Op> {
    match op {
        AtomicOp::FAdd => Some(Op::FAdd),
        AtomicOp::FMin => Some(Op::FMin),
        AtomicOp::FMax => Some(Op::FMax),
        _ => None,
    }
}

/// The terms that atomics have added to a word, as far as it takes to say that no order of them rounds: then every order
/// gives the same sum.
#[derive(Clone, Default)]
pub(super) struct Sum {
    /// What the last addition left; something else means that the word was written since.
    last: Option<u32>,
    /// All terms are multiples of 2 to this power.
    quantum: i32,
    /// Sum of the terms without their signs.
    total: f64,
}

impl Sum {
    /// Takes one more term; true when all sums of some of the terms are exact: multiples of the quantum that 23 bits hold,
    /// none of them subnormal.
    fn is_exact(&mut self, old: u32, added: u32, new: u32) -> bool {
        if self.last != Some(old) {
            (self.quantum, self.total) = (i32::MAX, 0.0);
            self.take(old);
        }
        self.take(added);
        self.last = Some(new);
        self.quantum >= -126 && self.total < 2f64.powi(self.quantum.min(128) + 23)
    }

    fn take(&mut self, bits: u32) {
        let (exponent, fraction) = (bits >> 23 & 0xff, bits & 0x007f_ffff);
        if bits << 1 == 0 {
            return;
        }
        // What is no number, or subnormal, makes the sum inexact for good.
        let lowest = match exponent {
            0 | 0xff => i32::MIN,
            _ => exponent as i32 - 150 + (fraction | 0x0080_0000).trailing_zeros() as i32,
        };
        self.quantum = self.quantum.min(lowest);
        self.total += f64::from(f32::from_bits(bits).abs());
    }
}

/// What an atomic leaves in a word of memory. For `CompareExchange` the operands are compare, value.
macro_rules! atomic_result {
    ($name:ident, $word:ty, $signed:ty) => {
        fn $name(op: AtomicOp, old: $word, first: $word, second: $word) -> $word {
            match op {
                AtomicOp::Load => old,
                AtomicOp::Store | AtomicOp::Exchange => first,
                AtomicOp::Add => old.wrapping_add(first),
                AtomicOp::Sub => old.wrapping_sub(first),
                AtomicOp::And => old & first,
                AtomicOp::Or => old | first,
                AtomicOp::Xor => old ^ first,
                AtomicOp::SMin => (old as $signed).min(first as $signed) as $word,
                AtomicOp::SMax => (old as $signed).max(first as $signed) as $word,
                AtomicOp::UMin => old.min(first),
                AtomicOp::UMax => old.max(first),
                // Floats are computed under the model: see `float_op`.
                AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => old,
                AtomicOp::CompareExchange if old == first => second,
                AtomicOp::CompareExchange => old,
            }
        }
    };
}

atomic_result!(atomic_result, u32, i32);
atomic_result!(wide_atomic_result, u64, i64);

#[cfg(test)]
mod tests {
    use super::Sum;

    /// Whether the sum of these stays exact to the end.
    fn exact(terms: &[f32]) -> bool {
        let mut sum = Sum::default();
        let mut value = terms[0];
        terms[1..].iter().fold(true, |_, &term| {
            let old = value;
            value += term;
            sum.is_exact(old.to_bits(), term.to_bits(), value.to_bits())
        })
    }

    #[test]
    fn a_sum_is_exact_when_no_order_of_its_terms_rounds() {
        assert!(exact(&[0.0, 0.25, -3.5, 1000.0]));
        assert!(exact(&[-0.0, 0.0]));
        // In this order nothing rounds, in others it does.
        assert!(!exact(&[16777216.0, -16777216.0, 1.0, 1.0]));
        assert!(!exact(&[0.1, 0.2, 0.3]));
        assert!(!exact(&[1.0, f32::INFINITY]));
        assert!(!exact(&[f32::NAN, 1.0]));
        assert!(!exact(&[0.0, f32::from_bits(1)]));
        // Once inexact, always inexact.
        assert!(!exact(&[1.0, 1e-30, 1.0]));
    }

    #[test]
    fn a_word_that_was_written_since_begins_a_new_sum() {
        let mut sum = Sum::default();
        let bits = f32::to_bits;
        assert!(!sum.is_exact(bits(0.1), bits(0.2), bits(0.3)));
        assert!(sum.is_exact(bits(2.0), bits(1.0), bits(3.0)));
        assert!(sum.is_exact(bits(3.0), bits(1.0), bits(4.0)));
    }
}
