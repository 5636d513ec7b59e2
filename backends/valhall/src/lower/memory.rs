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
    Some(Effects {
        reads: class,
        writes: 0,
    })
}
pub(super) fn writing(class: u32) -> Option<Effects> {
    Some(Effects {
        reads: 0,
        writes: class,
    })
}
pub(super) fn both(class: u32) -> Option<Effects> {
    Some(Effects {
        reads: class,
        writes: class,
    })
}

/// Runs of values that one access moves: first value and number of values.
fn runs(width: u32, count: usize, align: Alignment, packed: bool) -> SmallVec<[(usize, usize); 2]> {
    let mut runs = SmallVec::new();
    let mut first = 0;
    while first < count {
        let most = (count - first).min((16 / width) as usize);
        let len = (1..=most)
            .rev()
            .find(|&len| fits(width, first, len, align, packed));
        runs.push((first, len.unwrap_or(1)));
        first += len.unwrap_or(1);
    }
    runs
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
            self.ssa.regions[region]
                .insts
                .iter()
                .any(|&inst| match self.ssa.insts[inst].imm {
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

    /// Registers that hold values one after the other, for a store.
    pub(super) fn gather(&mut self, values: &[Value]) -> SmallVec<[Reg; 4]> {
        let mut registers = SmallVec::new();
        let mut k = 0;
        while k < values.len() {
            match self.ssa.ty(values[k]) {
                Type::B16 => {
                    let low = self.plain(values[k]);
                    match values.get(k + 1) {
                        Some(&next) => {
                            let high = self.plain(next);
                            registers.push(self.halves(low, high).into());
                        }
                        None => registers.push(self.low_half(values[k]).into()),
                    }
                    k += 2;
                    continue;
                }
                Type::B64 => registers.extend(self.pair(values[k]).map(Reg::from)),
                Type::B1 | Type::B32 => registers.push(self.reg(values[k]).into()),
            }
            k += 1;
        }
        registers
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
        let width = self.ssa.ty(results[0]).bytes();
        let align = self.lines(address, width);
        for (first, len) in runs(width, results.len(), align, false) {
            let bytes = width * len as u32;
            let at = width * first as u32;
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
            let load = build(buffer_row(bytes), &[address, handle]);
            self.load_values(load, &results[first..first + len], class);
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
        let width = self.ssa.ty(values[0]).bytes();
        let bytes = i64::from(width) * values.len() as i64;
        let base = self.buffer_address(resource, element, address, Reach::Signed16, bytes);
        let guard = self.begin_effect();
        let align = self.lines(address, width);
        self.stores(base, values, (align, false), self.buffer_class(resource), 0);
        self.end_effect(guard);
    }

    /// Stores values one after the other, in as few runs as their alignment allows in memory that may be packed.
    fn stores(
        &mut self,
        base: Address,
        values: &[Value],
        (align, packed): (Alignment, bool),
        class: u32,
        access: u32,
    ) {
        let width = self.ssa.ty(values[0]).bytes();
        for (first, len) in runs(width, values.len(), align, packed) {
            let registers = self.gather(&values[first..first + len]);
            let offset = base.offset + (width * first as u32) as i32;
            let mut op = build(store_row(width * len as u32), &[Opnd::plain(base.base)])
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
        let width = self.ssa.ty(data.results[0]).bytes();
        let bytes = i64::from(width) * data.results.len() as i64;
        let base = self.variable_address(access.mem, data.args[0], Reach::Signed16, bytes);
        let align = self.lines(data.args[0], width);
        for (first, len) in runs(width, data.results.len(), align, true) {
            let bytes = width * len as u32;
            let offset = base.offset + (width * first as u32) as i32;
            let load = build(load_row(bytes), &[Opnd::plain(base.base)])
                .with(f::OFFSET, u32::from(offset as i16 as u16))
                .with(f::ACCESS, self.access(access.mem));
            let class = self.variable_class(access.mem);
            self.load_values(load, &data.results[first..first + len], class);
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
        let width = self.ssa.ty(values[0]).bytes();
        let bytes = i64::from(width) * values.len() as i64;
        let base = self.variable_address(access.mem, data.args[0], Reach::Signed16, bytes);
        let align = self.lines(data.args[0], width);
        let (class, hint) = (self.variable_class(access.mem), self.access(access.mem));
        self.stores(base, values, (align, true), class, hint);
    }

    pub(super) fn barrier(&mut self) {
        self.push(build(Opcode::Barrier, &[]).with(f::SLOT, 7));
    }
}
