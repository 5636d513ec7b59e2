//! Buffers, variables, atomics and barriers.

use super::address::{Address, Alignment, Reach, base_and_offset, fits};
use super::operand::{Lane, Opnd, build};
use super::{Lower, Place};
use crate::abi::{INFO_BUFFER_SIZE, INFO_RECORD, table};
use crate::api::FauWord;
use crate::inst::Src;
use crate::isa::{Opcode, f};
use gpucc_ir::mach::{Block, Reg, VReg};
use gpucc_ir::ssa::{self, InstData, Mem, MemSpace, Resource, Stage, Type, Value};
use gpucc_passes::mach::Effects;
use smallvec::SmallVec;
use std::ops::Range;

/// A load or a store of so many bytes.
fn load_row(bytes: u32) -> Opcode {
    match bytes {
        2 => Opcode::LoadI16,
        4 => Opcode::LoadI32,
        6 => Opcode::LoadI48,
        8 => Opcode::LoadI64,
        12 => Opcode::LoadI96,
        _ => Opcode::LoadI128,
    }
}
fn store_row(bytes: u32) -> Opcode {
    match bytes {
        2 => Opcode::StoreI16,
        4 => Opcode::StoreI32,
        6 => Opcode::StoreI48,
        8 => Opcode::StoreI64,
        12 => Opcode::StoreI96,
        _ => Opcode::StoreI128,
    }
}
fn buffer_row(bytes: u32) -> Opcode {
    match bytes {
        2 => Opcode::LdBufferI16,
        4 => Opcode::LdBufferI32,
        6 => Opcode::LdBufferI48,
        8 => Opcode::LdBufferI64,
        12 => Opcode::LdBufferI96,
        _ => Opcode::LdBufferI128,
    }
}

/// The class of workgroup memory in [`crate::inst::Op::effects`]; below it are those of storage buffers.
pub(super) const WORKGROUP: u32 = 1 << BUFFERS;
/// Classes of storage buffers: bindings do not alias unless their numbers are this far apart.
const BUFFERS: u32 = 20;

pub(super) fn reading(class: u32) -> Option<Effects> {
    Some(Effects { reads: class, writes: 0 })
}
pub(super) fn writing(class: u32) -> Option<Effects> {
    Some(Effects { reads: 0, writes: class })
}
pub(super) fn both(class: u32) -> Option<Effects> {
    Some(Effects { reads: class, writes: class })
}

/// A value among those that stand one after the other, or a word of one of 64 bits.
#[derive(Copy, Clone, Debug)]
pub(super) struct Piece {
    /// Index of the value.
    value: usize,
    /// Which word of a value of 64 bits; none for others.
    word: Option<u8>,
    /// Bytes in front of it.
    pub(super) at: u32,
    /// Its bytes: 2 or 4.
    pub(super) bytes: u32,
}

/// Runs of parts that one access moves. Within a run a word fills a register.
fn runs(parts: &[Piece], align: Alignment, packed: bool) -> SmallVec<[Range<usize>; 2]> {
    let mut runs = SmallVec::new();
    let mut first = 0;
    while let Some(head) = parts.get(first) {
        let one = |end: &usize| {
            let run = &parts[first..*end];
            let words_fit = |part: &Piece| part.bytes < 4 || (part.at - head.at).is_multiple_of(4);
            let bytes = bytes_of(run);
            run.iter().all(words_fit) && fits(head.at, bytes, align, packed)
        };
        let end = (first + 1..=parts.len()).rev().find(one);
        let end = end.unwrap_or(first + 1);
        runs.push(first..end);
        first = end;
    }
    runs
}

/// Bytes of parts that stand one after the other.
fn bytes_of(parts: &[Piece]) -> u32 {
    parts.iter().map(|part| part.bytes).sum()
}

impl Lower<'_> {
    /// Places for private variables in thread-local storage.
    pub(super) fn declare_variables(&mut self) {
        for (mem, data) in self.ssa.mems.iter() {
            if data.space == MemSpace::Private && self.is_accessed(mem) {
                self.private[mem] = Some(self.tls_bytes);
                self.tls_bytes += data.size.next_multiple_of(16);
            }
        }
    }

    fn is_accessed(&self, mem: Mem) -> bool {
        self.ssa.regions_in_order().iter().any(|&(region, ..)| {
            self.ssa.regions[region].insts.iter().any(|&inst| match self.ssa.insts[inst].imm {
                ssa::Imm::Mem(access) | ssa::Imm::MemAtomic(access, _) => access.mem == mem,
                _ => false,
            })
        })
    }

    /// The operand that is the element of an array of bindings, and the operands after it.
    pub(super) fn element<'d>(
        &self,
        data: &'d InstData,
        resource: Resource,
    ) -> (Option<Value>, &'d [Value]) {
        match self.ssa.resources[resource].count {
            Some(_) => (Some(data.args[0]), &data.args[1..]),
            None => (None, &data.args),
        }
    }

    /// The handle of a binding's element.
    pub(super) fn handle(&mut self, resource: Resource, element: Option<Value>) -> Opnd {
        let handle = self.abi.slots[resource].handle();
        match element {
            None => Opnd::bits(handle),
            Some(element) => match self.ssa.as_const(element) {
                Some(bits) => Opnd::bits(handle + bits as u32),
                None => {
                    let element = self.plain(element);
                    let element = Opnd::reg(self.in_register(element));
                    Opnd::reg(self.add_constant(element, handle))
                }
            },
        }
    }

    /// The class of a buffer's memory; nothing for what no invocation writes.
    pub(super) fn buffer_class(&self, resource: Resource) -> u32 {
        match self.ssa.resources[resource].kind {
            ssa::ResourceKind::Storage { access, .. } if access.store || access.atomic => {
                1 << (resource.as_u32() % BUFFERS)
            }
            _ => 0,
        }
    }

    fn variable_class(&self, mem: Mem) -> u32 {
        match self.ssa.mems[mem].space {
            // Tables were made private variables.
            MemSpace::Private | MemSpace::Constant => crate::regs::PRIVATE,
            MemSpace::Workgroup => WORKGROUP,
        }
    }

    /// Registers of `bytes` that an access moves.
    pub(super) fn staging(&mut self, bytes: u32) -> SmallVec<[VReg; 4]> {
        (0..bytes.div_ceil(4)).map(|_| self.fresh()).collect()
    }

    /// Values that loaded registers hold, one after the other.
    pub(super) fn define_loaded(&mut self, values: &[Value], registers: &[VReg]) {
        let mut byte = 0;
        for &value in values {
            let word = (byte / 4) as usize;
            let place = match self.ssa.ty(value) {
                Type::B16 => Place::Half(registers[word], (byte / 2 % 2) as u8),
                Type::B64 => {
                    Place::Pair([registers[word], registers[word + 1]].map(|v| Src::Reg(v.into())))
                }
                Type::B1 | Type::B32 => Place::Reg(registers[word]),
            };
            self.define(value, place);
            byte += self.ssa.ty(value).bytes();
        }
    }

    /// A load of values that stand one after the other, its operands given.
    pub(super) fn load_values(&mut self, load: crate::inst::Op, values: &[Value], class: u32) {
        let bytes = values.iter().map(|&value| self.ssa.ty(value).bytes()).sum();
        let registers = self.staging(bytes);
        let staging: SmallVec<[Reg; 4]> = registers.iter().map(|&v| v.into()).collect();
        let mut load = load.with(f::UNSIGNED, 1).writing(&staging);
        load.effects = reading(class);
        self.push(load);
        self.define_loaded(values, &registers);
    }

    /// The parts of values that stand one after the other in memory.
    fn parts(&self, values: &[Value]) -> SmallVec<[Piece; 8]> {
        let mut parts = SmallVec::new();
        let mut at = 0;
        for (value, &which) in values.iter().enumerate() {
            let words: &[Option<u8>] = match self.ssa.ty(which) {
                Type::B64 => &[Some(0), Some(1)],
                Type::B1 | Type::B16 | Type::B32 => &[None],
            };
            let bytes = self.ssa.ty(which).bytes().min(4);
            for &word in words {
                parts.push(Piece { value, word, at, bytes });
                at += bytes;
            }
        }
        parts
    }

    /// A load of a run of parts, its operands given. `low` keeps the low words of values of 64 bits until their high
    /// ones are loaded, perhaps by the next run.
    fn load_run(
        &mut self,
        load: crate::inst::Op,
        (run, values): (&[Piece], &[Value]),
        low: &mut [Option<VReg>; 4],
        class: u32,
    ) {
        let registers = self.staging(bytes_of(run));
        let staging: SmallVec<[Reg; 4]> = registers.iter().map(|&v| v.into()).collect();
        let mut load = load.with(f::UNSIGNED, 1).writing(&staging);
        load.effects = reading(class);
        self.push(load);
        for part in run {
            let byte = part.at - run[0].at;
            let register = registers[(byte / 4) as usize];
            let place = match (part.word, part.bytes) {
                (None, 2) => Place::Half(register, (byte / 2 % 2) as u8),
                (None, _) => Place::Reg(register),
                (Some(0), _) => {
                    low[part.value] = Some(register);
                    continue;
                }
                (Some(_), _) => {
                    let low = low[part.value].expect("the low word comes first");
                    Place::Pair([low, register].map(|v| Src::Reg(v.into())))
                }
            };
            self.define(values[part.value], place);
        }
    }

    /// Registers that hold a run of parts, for a store.
    fn gather_run(&mut self, run: &[Piece], values: &[Value]) -> SmallVec<[Reg; 4]> {
        let mut registers = SmallVec::new();
        let mut rest = run.iter();
        while let Some(part) = rest.next() {
            let value = values[part.value];
            let register = match (part.word, part.bytes) {
                (None, 2) => match rest.as_slice().first() {
                    // Only another half can follow within the register.
                    Some(next) if (part.at - run[0].at).is_multiple_of(4) => {
                        rest.next();
                        let (low, high) = (self.plain(value), self.plain(values[next.value]));
                        self.halves(low, high)
                    }
                    _ => self.low_half(value),
                },
                (None, _) => self.reg(value),
                (Some(word), _) => self.pair(value)[usize::from(word)],
            };
            registers.push(register.into());
        }
        registers
    }

    /// Registers that hold values one after the other.
    pub(super) fn gather(&mut self, values: &[Value]) -> SmallVec<[Reg; 4]> {
        let parts = self.parts(values);
        self.gather_run(&parts, values)
    }

    fn halves(&mut self, low: Opnd, high: Opnd) -> VReg {
        if let (Lane::Half(0), Lane::Half(1)) = (low.lane, high.lane)
            && low.src == high.src
        {
            return self.in_register(low.lane(Lane::All));
        }
        if let (Src::Bits(a), Src::Bits(b)) = (low.src, high.src) {
            return self.mov(Src::Bits(a & 0xffff | b << 16));
        }
        self.mkvec(low, high)
    }

    pub(super) fn buffer_load(&mut self, inst: ssa::Inst, resource: Resource) {
        let data = &self.ssa.insts[inst];
        let (element, rest) = self.element(data, resource);
        let (base, offset) = base_and_offset(self.ssa, rest[0]);
        if base.is_none() && element.is_none() && self.load_pushed(data, resource, offset as u32) {
            return;
        }
        let class = self.buffer_class(resource);
        self.words_of_buffer(rest[0], &data.results, class, |lower| {
            lower.handle(resource, element)
        });
    }

    /// Loads what stands from an address of a buffer on.
    pub(super) fn words_of_buffer(
        &mut self,
        address: Value,
        results: &[Value],
        class: u32,
        handle: impl Fn(&mut Self) -> Opnd,
    ) {
        let (base, offset) = base_and_offset(self.ssa, address);
        let parts = self.parts(results);
        let align = self.lines_of(address, &parts);
        let mut low = [None; 4];
        for run in runs(&parts, align, false) {
            let run = &parts[run];
            let at = run[0].at;
            let address = match (base, at) {
                (None, at) => Opnd::bits(offset as u32 + at),
                (Some(_), 0) => self.plain(address),
                (Some(_), at) => {
                    let whole = self.plain(address);
                    Opnd::reg(self.add_constant(whole, at))
                }
            };
            let address = match address.src {
                Src::Bits(_) => address,
                _ => Opnd::reg(self.in_register(address)),
            };
            let handle = handle(self);
            let load = build(buffer_row(bytes_of(run)), &[address, handle]);
            self.load_run(load, (run, results), &mut low, class);
        }
    }

    /// Words that stand in fast access uniforms need no load.
    fn load_pushed(&mut self, data: &InstData, resource: Resource, offset: u32) -> bool {
        let mut at = offset;
        let mut places: SmallVec<[Place; 4]> = SmallVec::new();
        for &result in &data.results {
            let bytes = self.ssa.ty(result).bytes();
            let Some(low) = self.abi.pushed(resource, at & !3) else {
                return false;
            };
            places.push(match self.ssa.ty(result) {
                Type::B64 => {
                    let Some(high) = self.abi.pushed(resource, at + 4) else {
                        return false;
                    };
                    Place::Pair([self.fau(low), self.fau(high)])
                }
                Type::B16 => {
                    let word = self.fau(low);
                    let reg = self.mov(word);
                    Place::Half(reg, (at / 2 % 2) as u8)
                }
                Type::B1 | Type::B32 => Place::Src(self.fau(low)),
            });
            at += bytes;
        }
        for (&result, &place) in data.results.iter().zip(&places) {
            self.define(result, place);
        }
        true
    }

    pub(super) fn buffer_store(&mut self, inst: ssa::Inst, resource: Resource) {
        let data = &self.ssa.insts[inst];
        let (element, rest) = self.element(data, resource);
        let (address, values) = (rest[0], &rest[1..]);
        let parts = self.parts(values);
        let bytes = bytes_of(&parts).into();
        let base = self.buffer_address(resource, element, address, Reach::Signed16, bytes);
        let guard = self.begin_effect();
        let runs = runs(&parts, self.lines_of(address, &parts), false);
        let runs = runs.iter().map(|run| &parts[run.clone()]);
        self.stores(base, (runs, values), self.buffer_class(resource), 0);
        self.end_effect(guard);
    }

    /// Stores values one after the other, in these runs of parts.
    fn stores<'p>(
        &mut self,
        base: Address,
        (runs, values): (impl Iterator<Item = &'p [Piece]>, &[Value]),
        class: u32,
        access: u32,
    ) {
        for run in runs {
            let registers = self.gather_run(run, values);
            let offset = base.offset + run[0].at as i32;
            let mut op = build(store_row(bytes_of(run)), &[Opnd::plain(base.base)])
                .with(f::OFFSET, u32::from(offset as i16 as u16))
                .with(f::ACCESS, access)
                .reading(&registers);
            op.effects = writing(class);
            self.push(op);
        }
    }

    /// What helpers must not do: a branch around it for those whose coverage is gone.
    pub(super) fn begin_effect(&mut self) -> Option<Block> {
        if !self.effects_are_guarded() {
            return None;
        }
        let mark = self.addresses.mark();
        self.addresses.guards.push(mark);
        let mask = self.coverage_mask();
        let skip = self.m.make_block();
        let mut op = build(Opcode::Branchz, &[Opnd::reg(mask)]).with(f::EQ, 1);
        op.target = Some(skip);
        op.divergent = true;
        self.push(op);
        let head = self.block;
        self.m.add_both_edges(head, skip);
        let body = self.m.make_block();
        self.m.add_both_edges(head, body);
        self.m.place(body);
        self.block = body;
        Some(skip)
    }

    /// Helper invocations run where quads exchange values.
    pub(super) fn effects_are_guarded(&self) -> bool {
        self.ssa.stage == Stage::Fragment && self.helpers
    }

    /// Ends what [`Self::begin_effect`] began.
    pub(super) fn end_effect(&mut self, guard: Option<Block>) {
        let Some(skip) = guard else { return };
        let from = self.block;
        self.m.add_both_edges(from, skip);
        self.m.place(skip);
        self.block = skip;
        if let Some(mark) = self.addresses.guards.pop() {
            self.addresses.release(mark);
        }
    }

    pub(super) fn buffer_size(&mut self, inst: ssa::Inst, resource: Resource) {
        let data = &self.ssa.insts[inst];
        let (element, _) = self.element(data, resource);
        let result = data.results[0];
        let known = match element {
            None => Some(0),
            Some(element) => self.ssa.as_const(element).map(|bits| bits as u32),
        };
        if let Some(element) = known {
            let word = self.fau(FauWord::BufferSize { resource, element });
            return self.define(result, Place::Src(word));
        }
        let reg = self.info_word(resource, element.expect("not a constant"), INFO_BUFFER_SIZE);
        self.define(result, Place::Reg(reg));
    }

    /// A word about the element of an array of bindings, from the info buffer.
    pub(super) fn info_word(&mut self, resource: Resource, element: Value, offset: u32) -> VReg {
        let first = self.abi.info.get(&resource).copied().unwrap_or(0);
        let index = self.abi.info_buffer.unwrap_or(0);
        let element = Opnd::reg(self.reg(element));
        let scaled = self.emit(Opcode::ImulI32, &[element, Opnd::bits(INFO_RECORD)]);
        let at = self.add_constant(Opnd::reg(scaled), first + offset);
        let reg = self.fresh();
        let handle = Opnd::bits(table::UNIFORM << 24 | index);
        let mut op = build(Opcode::LdBufferI32, &[Opnd::reg(at), handle])
            .with(f::UNSIGNED, 1)
            .writing(&[reg.into()]);
        op.effects = reading(0);
        self.push(op);
        reg
    }

    pub(super) fn mem_load(&mut self, inst: ssa::Inst, access: ssa::Access) {
        let data = &self.ssa.insts[inst];
        if self.ssa.mems[access.mem].space == MemSpace::Constant {
            let handle = self.abi.constant_buffer(access.mem);
            return self.words_of_buffer(data.args[0], &data.results, 0, |_| Opnd::bits(handle));
        }
        let parts = self.parts(&data.results);
        let bytes = bytes_of(&parts).into();
        let base = self.variable_address(access.mem, data.args[0], Reach::Signed16, bytes);
        let align = self.lines_of(data.args[0], &parts);
        let mut low = [None; 4];
        for run in runs(&parts, align, true) {
            let run = &parts[run];
            let offset = base.offset + run[0].at as i32;
            let load = build(load_row(bytes_of(run)), &[Opnd::plain(base.base)])
                .with(f::OFFSET, u32::from(offset as i16 as u16))
                .with(f::ACCESS, self.access(access.mem));
            let class = self.variable_class(access.mem);
            self.load_run(load, (run, &data.results), &mut low, class);
        }
    }

    /// The hint of accesses to a variable: thread-local memory is `force`.
    fn access(&self, mem: Mem) -> u32 {
        match self.ssa.mems[mem].space {
            MemSpace::Private | MemSpace::Constant => 3,
            MemSpace::Workgroup => 0,
        }
    }

    pub(super) fn mem_store(&mut self, inst: ssa::Inst, access: ssa::Access) {
        let data = &self.ssa.insts[inst];
        let values = &data.args[1..];
        let parts = self.parts(values);
        let bytes = bytes_of(&parts).into();
        let base = self.variable_address(access.mem, data.args[0], Reach::Signed16, bytes);
        let runs = runs(&parts, self.lines_of(data.args[0], &parts), true);
        let runs = runs.iter().map(|run| &parts[run.clone()]);
        let (class, hint) = (self.variable_class(access.mem), self.access(access.mem));
        self.stores(base, (runs, values), class, hint);
    }

    pub(super) fn barrier(&mut self) {
        self.push(build(Opcode::Barrier, &[]).with(f::SLOT, 7));
    }
}
