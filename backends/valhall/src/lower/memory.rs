//! Buffers, variables, atomics and barriers.

use super::operand::{Lane, Opnd, build};
use super::{Lower, Place};
use crate::abi::{INFO_BUFFER_SIZE, INFO_RECORD, table};
use crate::api::{Failure, FauWord};
use crate::inst::{Special, Src};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::{Block, Reg, VReg};
use gpucc_ir::ssa::{self, AtomicOp, InstData, Mem, MemSpace, Op, Resource, Stage, Type, Value};
use gpucc_passes::mach::Effects;
use smallvec::SmallVec;

/// Addresses within buffers that instructions before have computed, innermost region last: handle or
/// special, base, and the pair of registers.
#[derive(Default)]
pub(super) struct Addresses {
    list: Vec<(Origin, Option<Base>, [VReg; 2])>,
    /// Shifted values that are at hand.
    shifted: Vec<(Base, VReg)>,
    /// What was known before the code that helpers jump over.
    guards: Vec<(usize, usize)>,
}

/// What an address counts from.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Origin {
    Buffer(Resource, Option<Value>),
    Private,
    Workgroup,
}

impl Addresses {
    /// Where a region starts.
    pub fn mark(&self) -> (usize, usize) {
        (self.list.len(), self.shifted.len())
    }
    /// What a region computed does not hold outside.
    pub fn release(&mut self, (list, shifted): (usize, usize)) {
        self.list.truncate(list);
        self.shifted.truncate(shifted);
    }
}

/// An address as an instruction takes it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Address {
    pub(super) base: Src,
    pub(super) offset: i32,
}

/// What an immediate offset may be.
#[derive(Copy, Clone, Debug)]
enum Reach {
    /// LOAD, STORE: 16 bits with sign.
    Signed16,
    /// Atomics: 8 bits.
    Unsigned8,
}

impl Reach {
    fn holds(self, offset: i64) -> bool {
        match self {
            Reach::Signed16 => i16::try_from(offset).is_ok(),
            Reach::Unsigned8 => u8::try_from(offset).is_ok() && offset % 4 == 0,
        }
    }
}

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
const WORKGROUP: u32 = 1 << BUFFERS;
/// Classes of storage buffers: bindings do not alias unless their numbers are this far apart.
const BUFFERS: u32 = 20;

fn reading(class: u32) -> Option<Effects> {
    Some(Effects {
        reads: class,
        writes: 0,
    })
}
fn writing(class: u32) -> Option<Effects> {
    Some(Effects {
        reads: 0,
        writes: class,
    })
}
fn both(class: u32) -> Option<Effects> {
    Some(Effects {
        reads: class,
        writes: class,
    })
}

/// Runs of values that one access moves: at most 16 bytes, and none that crosses a line of 16 where
/// `lines` says at which byte of a line the first value stands (or how well it is aligned).
fn runs(width: u32, count: usize, align: Option<Alignment>) -> SmallVec<[(usize, usize); 2]> {
    let mut runs = SmallVec::new();
    let mut first = 0;
    while first < count {
        let mut len = 1;
        while first + len < count && fits(width, first, len + 1, align) {
            len += 1;
        }
        // Sizes that exist: 2, 4, 6, 8, 12, 16 bytes.
        if width * len as u32 == 10 || width * len as u32 == 14 {
            len -= 1;
        }
        runs.push((first, len));
        first += len;
    }
    runs
}

/// Byte of its line modulo `unit`: address = offset (mod unit).
#[derive(Copy, Clone, Debug)]
struct Alignment {
    unit: u32,
    offset: u32,
}

fn fits(width: u32, first: usize, len: usize, align: Option<Alignment>) -> bool {
    let bytes = width * len as u32;
    if bytes > 16 {
        return false;
    }
    match align {
        None => true,
        Some(Alignment { unit, offset }) => {
            // The run lies within one aligned block of `unit` bytes.
            let start = (offset + width * first as u32) % unit;
            start + bytes <= unit
        }
    }
}

/// What is added to a constant offset: a value, shifted left.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Base {
    value: Value,
    shift: u32,
}

/// Splits off constants that are added, also to what is shifted or multiplied: base and offset.
fn base_and_offset(ssa: &ssa::Func, mut address: Value) -> (Option<Base>, i64) {
    let (mut offset, mut shift) = (0i64, 0u32);
    loop {
        if let Some(bits) = ssa.as_const(address) {
            return (None, offset + (i64::from(bits as u32 as i32) << shift));
        }
        let base = Base {
            value: address,
            shift,
        };
        let Some(def) = ssa.def(address) else {
            return (Some(base), offset);
        };
        let constant = |k: usize| {
            ssa.as_const(*def.args.get(k)?)
                .map(|c| i64::from(c as u32 as i32))
        };
        match def.op {
            Op::IAdd => match (constant(0), constant(1)) {
                (_, Some(c)) => {
                    offset += c << shift;
                    address = def.args[0];
                }
                (Some(c), None) => {
                    offset += c << shift;
                    address = def.args[1];
                }
                (None, None) => return (Some(base), offset),
            },
            Op::Shl => match constant(1) {
                Some(by @ 0..=7) if shift + by as u32 <= 7 => {
                    shift += by as u32;
                    address = def.args[0];
                }
                _ => return (Some(base), offset),
            },
            _ => return (Some(base), offset),
        }
    }
}

/// A power of two, at most 16, that divides the value.
fn alignment(ssa: &ssa::Func, value: Value, depth: u32) -> u32 {
    if let Some(bits) = ssa.as_const(value) {
        return 1 << (bits as u32 | 16).trailing_zeros();
    }
    let Some(def) = ssa.def(value) else { return 1 };
    if depth == 0 {
        return 1;
    }
    let of = |k: usize| alignment(ssa, def.args[k], depth - 1);
    match def.op {
        Op::IAdd | Op::ISub | Op::Or | Op::Xor => of(0).min(of(1)),
        Op::UMin | Op::UMax | Op::SMin | Op::SMax => of(0).min(of(1)),
        Op::And => of(0).max(of(1)),
        Op::IMul => (of(0) * of(1)).min(16),
        Op::Shl => match ssa.as_const(def.args[1]) {
            Some(by) => (of(0) << (by & 31).min(4)).min(16),
            None => of(0),
        },
        Op::Select => of(1).min(of(2)),
        _ => 1,
    }
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
    fn element<'d>(&self, data: &'d InstData, resource: Resource) -> (Option<Value>, &'d [Value]) {
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
    fn buffer_class(&self, resource: Resource) -> u32 {
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
    fn staging(&mut self, bytes: u32) -> SmallVec<[VReg; 4]> {
        (0..bytes.div_ceil(4)).map(|_| self.fresh()).collect()
    }

    /// Values that loaded registers hold, one after the other.
    fn define_loaded(&mut self, values: &[Value], registers: &[VReg]) {
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

    /// Registers that hold values one after the other, for a store.
    fn gather(&mut self, values: &[Value]) -> SmallVec<[Reg; 4]> {
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
    fn words_of_buffer(
        &mut self,
        address: Value,
        results: &[Value],
        class: u32,
        handle: impl Fn(&mut Self) -> Opnd,
    ) {
        let (base, offset) = base_and_offset(self.ssa, address);
        let width = self.ssa.ty(results[0]).bytes();
        for (first, len) in runs(width, results.len(), None) {
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
            let registers = self.staging(bytes);
            let staging: SmallVec<[Reg; 4]> = registers.iter().map(|&v| v.into()).collect();
            let mut op = build(buffer_row(bytes), &[address, handle])
                .with(f::UNSIGNED, 1)
                .writing(&staging);
            op.effects = reading(class);
            self.push(op);
            self.define_loaded(&results[first..first + len], &registers);
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

    /// The address of a byte of a buffer: one LEA_BUFFER for all accesses near the same base.
    fn buffer_address(
        &mut self,
        resource: Resource,
        element: Option<Value>,
        address: Value,
        reach: Reach,
        last: i64,
    ) -> Address {
        let (base, offset) = base_and_offset(self.ssa, address);
        let near = reach.holds(offset) && reach.holds(offset + last);
        let whole = Base {
            value: address,
            shift: 0,
        };
        let (base, offset) = match near {
            true => (base, offset),
            false => (Some(whole), 0),
        };
        let origin = Origin::Buffer(resource, element);
        let pair = match self.known(origin, base) {
            Some(pair) => pair,
            None => {
                let at = match base {
                    None => Opnd::bits(0),
                    Some(base) => self.shifted(base),
                };
                let at = match at.src {
                    Src::Bits(_) => at,
                    _ => Opnd::reg(self.in_register(at)),
                };
                let handle = self.handle(resource, element);
                let pair = [self.fresh(), self.fresh()];
                let op = build(Opcode::LeaBuffer, &[at, handle]).writing(&pair.map(Reg::from));
                self.push(op);
                self.addresses.list.push((origin, base, pair));
                pair
            }
        };
        Address {
            base: Src::Pair(pair.map(Reg::from)),
            offset: offset as i32,
        }
    }

    /// A base as one operand. Where the address is the base alone its value may be there already.
    fn shifted(&mut self, base: Base) -> Opnd {
        let value = self.plain(base.value);
        match (base.shift, value.src) {
            (0, _) => value,
            (by, Src::Bits(bits)) => Opnd::bits(bits << by),
            (by, _) => {
                let known = self.addresses.shifted.iter().rev();
                if let Some(&(_, reg)) = known.clone().find(|&&(known, _)| known == base) {
                    return Opnd::reg(reg);
                }
                let sources = [value, Opnd::bits(by), Opnd::bits(0)];
                let reg = self.emit(Opcode::LshiftOrI32, &sources);
                self.addresses.shifted.push((base, reg));
                Opnd::reg(reg)
            }
        }
    }

    /// Remembers a value shifted left by a constant.
    pub(super) fn remember_shift(&mut self, value: Value, by: u32, reg: VReg) {
        let base = Base { value, shift: by };
        self.addresses.shifted.push((base, reg));
    }

    fn known(&self, origin: Origin, base: Option<Base>) -> Option<[VReg; 2]> {
        self.addresses
            .list
            .iter()
            .rev()
            .find(|&&(o, b, _)| o == origin && b == base)
            .map(|&(.., pair)| pair)
    }

    pub(super) fn buffer_store(&mut self, inst: ssa::Inst, resource: Resource) {
        let data = &self.ssa.insts[inst];
        let (element, rest) = self.element(data, resource);
        let (address, values) = (rest[0], &rest[1..]);
        let width = self.ssa.ty(values[0]).bytes();
        let bytes = i64::from(width) * values.len() as i64;
        let base = self.buffer_address(resource, element, address, Reach::Signed16, bytes);
        let guard = self.begin_effect();
        self.stores(base, values, None, self.buffer_class(resource), 0);
        self.end_effect(guard);
    }

    /// Stores values one after the other, in as few runs as `align` allows.
    fn stores(
        &mut self,
        base: Address,
        values: &[Value],
        align: Option<Alignment>,
        class: u32,
        access: u32,
    ) {
        let width = self.ssa.ty(values[0]).bytes();
        for (first, len) in runs(width, values.len(), align) {
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

    /// The address of a byte of a variable.
    fn variable_address(&mut self, mem: Mem, address: Value, reach: Reach, last: i64) -> Address {
        let (origin, special, start) = match self.ssa.mems[mem].space {
            MemSpace::Private | MemSpace::Constant => (
                Origin::Private,
                Special::ThreadLocalPointer,
                self.private[mem].expect("declared"),
            ),
            MemSpace::Workgroup => (
                Origin::Workgroup,
                Special::WorkgroupLocalPointer,
                self.abi.workgroup_offset[mem],
            ),
        };
        let (base, offset) = base_and_offset(self.ssa, address);
        let offset = offset + i64::from(start);
        let near = reach.holds(offset) && reach.holds(offset + last);
        if base.is_none() && near {
            return Address {
                base: Src::Special64(special),
                offset: offset as i32,
            };
        }
        // A base that is not near is computed with its offset.
        let (key, extra, offset) = match near {
            true => (base, 0, offset),
            false => (
                Some(Base {
                    value: address,
                    shift: 0,
                }),
                i64::from(start),
                0,
            ),
        };
        if extra == 0
            && let Some(pair) = self.known(origin, key)
        {
            return Address {
                base: Src::Pair(pair.map(Reg::from)),
                offset: offset as i32,
            };
        }
        let key_base = key.expect("a base, or the address itself");
        let at = self.plain(key_base.value);
        let at = match at.src {
            Src::Bits(bits) => Opnd::reg(self.mov(Src::Bits(bits.wrapping_add(extra as u32)))),
            _ => {
                let reg = Opnd::reg(self.in_register(at));
                Opnd::reg(self.add_constant(reg, extra as u32))
            }
        };
        let sources = [Opnd::plain(Src::Special64(special)), self.extended(at)];
        let pair = match key_base.shift {
            0 => self.emit_pair(Opcode::IaddU64, &sources, &[]),
            by => self.emit_pair(Opcode::ShaddxU64, &sources, &[(f::SHIFT, by)]),
        };
        if extra == 0 {
            self.addresses.list.push((origin, key, pair));
        }
        Address {
            base: Src::Pair(pair.map(Reg::from)),
            offset: offset as i32,
        }
    }

    /// How an address of a variable lies in its line: variables start at multiples of 16.
    fn lines(&self, address: Value) -> Alignment {
        let (base, offset) = base_and_offset(self.ssa, address);
        match base {
            None => Alignment {
                unit: 16,
                offset: (offset & 15) as u32,
            },
            Some(base) => {
                let unit = (alignment(self.ssa, base.value, 8) << base.shift).clamp(4, 16);
                Alignment {
                    unit,
                    offset: (offset & i64::from(unit - 1)) as u32,
                }
            }
        }
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
        let align = self.lines(data.args[0]);
        for (first, len) in runs(width, data.results.len(), Some(align)) {
            let bytes = width * len as u32;
            let registers = self.staging(bytes);
            let staging: SmallVec<[Reg; 4]> = registers.iter().map(|&v| v.into()).collect();
            let offset = base.offset + (width * first as u32) as i32;
            let mut op = build(load_row(bytes), &[Opnd::plain(base.base)])
                .with(f::OFFSET, u32::from(offset as i16 as u16))
                .with(f::UNSIGNED, 1)
                .with(f::ACCESS, self.access(access.mem))
                .writing(&staging);
            op.effects = reading(self.variable_class(access.mem));
            self.push(op);
            self.define_loaded(&data.results[first..first + len], &registers);
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
        let align = self.lines(data.args[0]);
        let (class, hint) = (self.variable_class(access.mem), self.access(access.mem));
        self.stores(base, values, Some(align), class, hint);
    }

    pub(super) fn buffer_atomic(
        &mut self,
        inst: ssa::Inst,
        resource: Resource,
        op: AtomicOp,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (element, rest) = self.element(data, resource);
        if op == AtomicOp::Load {
            let address = self.plain(rest[0]);
            let address = match address.src {
                Src::Bits(_) => address,
                _ => Opnd::reg(self.in_register(address)),
            };
            let handle = self.handle(resource, element);
            let bytes = self.ssa.ty(data.results[0]).bytes();
            let registers = self.staging(bytes);
            let staging: SmallVec<[Reg; 4]> = registers.iter().map(|&v| v.into()).collect();
            let mut load = build(buffer_row(bytes), &[address, handle])
                .with(f::UNSIGNED, 1)
                .writing(&staging);
            load.effects = reading(self.buffer_class(resource));
            self.push(load);
            self.define_loaded(&data.results, &registers);
            return Ok(());
        }
        let base = self.buffer_address(resource, element, rest[0], Reach::Unsigned8, 0);
        // Helpers jump over it: their result is 0.
        let old = self.staging(self.ssa.ty(rest[1]).bytes());
        if self.effects_are_guarded() {
            for &old in &old {
                self.emit_to(old, Opcode::MovI32, &[Opnd::bits(0)], &[]);
            }
        }
        let guard = self.begin_effect();
        let class = self.buffer_class(resource);
        self.atomic(base, op, data, &rest[1..], &old, class);
        self.end_effect(guard);
        Ok(())
    }

    pub(super) fn mem_atomic(
        &mut self,
        inst: ssa::Inst,
        access: ssa::Access,
        op: AtomicOp,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let base = self.variable_address(access.mem, data.args[0], Reach::Unsigned8, 0);
        if op == AtomicOp::Load {
            let bytes = self.ssa.ty(data.results[0]).bytes();
            let registers = self.staging(bytes);
            let staging: SmallVec<[Reg; 4]> = registers.iter().map(|&v| v.into()).collect();
            let row = match bytes {
                8 => Opcode::LoadI64,
                _ => Opcode::LoadI32,
            };
            let mut load = build(row, &[Opnd::plain(base.base)])
                .with(f::OFFSET, base.offset as u32)
                .with(f::UNSIGNED, 1)
                .writing(&staging);
            load.effects = reading(WORKGROUP);
            self.push(load);
            self.define_loaded(&data.results, &registers);
            return Ok(());
        }
        let old = self.staging(self.ssa.ty(data.args[1]).bytes());
        self.atomic(base, op, data, &data.args[1..], &old, WORKGROUP);
        Ok(())
    }

    /// One atomic, whose result goes to `old`.
    pub(super) fn atomic(
        &mut self,
        base: Address,
        op: AtomicOp,
        data: &InstData,
        operands: &[Value],
        old: &[VReg],
        class: u32,
    ) {
        let wide = old.len() == 2;
        let result = data
            .results
            .first()
            .copied()
            .filter(|&result| self.uses.count(result) > 0);
        let address = Opnd::plain(base.base);
        let offset = base.offset as u32;
        let code = match op {
            AtomicOp::Load | AtomicOp::Add | AtomicOp::Sub => 2,
            AtomicOp::And => 12,
            AtomicOp::Or => 13,
            AtomicOp::Xor => 14,
            AtomicOp::SMin => 8,
            AtomicOp::SMax => 9,
            AtomicOp::UMin => 10,
            AtomicOp::UMax => 11,
            AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => 15,
        };
        let mut read = self.gather(operands);
        if op == AtomicOp::Sub {
            let value = Opnd::plain(Src::Reg(read[0]));
            read[0] = self.emit(Opcode::IsubU32, &[Opnd::bits(0), value]).into();
        }
        if op == AtomicOp::Store || op == AtomicOp::Exchange && result.is_none() {
            let row = [Opcode::StoreI32, Opcode::StoreI64][usize::from(wide)];
            let mut store = build(row, &[address])
                .with(f::OFFSET, offset)
                .reading(&read);
            store.effects = writing(class);
            return self.push(store);
        }
        if result.is_none() && op != AtomicOp::CompareExchange {
            let row = [Opcode::AtomI32, Opcode::AtomI64][usize::from(wide)];
            let mut atom = build(row, &[address])
                .with(f::ATOM_OP, code)
                .with(f::OFFSET, offset)
                .reading(&read);
            atom.effects = both(class);
            return self.push(atom);
        }
        let compare = u32::from(op == AtomicOp::CompareExchange);
        let row = [Opcode::AtomReturnI32, Opcode::AtomReturnI64][usize::from(wide)];
        let staging: SmallVec<[Reg; 4]> = old.iter().map(|&v| v.into()).collect();
        let mut atom = build(row, &[address])
            .with(f::ATOM_OP, code)
            .with(f::COMPARE, compare)
            .with(f::OFFSET, offset)
            .reading(&read)
            .writing(&staging);
        atom.effects = both(class);
        self.push(atom);
        if let Some(result) = result {
            self.define_loaded(&[result], old);
        }
    }

    pub(super) fn barrier(&mut self) {
        self.push(build(Opcode::Barrier, &[]).with(f::SLOT, 7));
    }
}
