//! Places: parts of variables and buffers, read and written as wide as they lie together.

use super::frame::{Base, Place};
use super::types::{Leaf, Length, width};
use super::{Lower, OfNaga, Result, Values};
use crate::Needs;
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{Access, AtomicOp, Imm, MemSpace, Op, Resource, ResourceKind, Type, Value};
use naga::{AtomicFunction, ScalarKind, TypeInner};
use smallvec::SmallVec;

/// Arrays with more scalars than this are filled by a loop.
pub const FILL_STRAIGHT: usize = 64;
/// Buffer accesses do not cross such a boundary of the constant offset: it is the line of constant
/// caches and the widest fetch.
const LINE: u32 = 16;

impl<S> Lower<'_, S> {
    /// The byte address of a place plus a constant.
    pub fn address(&mut self, place: &Place, extra: u32) -> Value {
        let offset = place.offset.wrapping_add(extra);
        match place.dynamic {
            Some(dynamic) => self.add_address(dynamic, offset),
            None => self.u32(offset),
        }
    }

    /// The bytes of a variable that an access at `leaves` of a place may touch.
    fn access(&self, mem: gpucc_ir::ssa::Mem, place: &Place, leaves: &[Leaf]) -> Access {
        match (place.dynamic, leaves.first(), leaves.last()) {
            (None, Some(first), Some(last)) => Access {
                mem,
                lo: place.offset + first.offset,
                hi: place.offset + last.offset + last.ty.bytes(),
            },
            _ => Access { mem, lo: place.lo, hi: place.hi },
        }
    }

    /// The number of leaves from `from` on that one instruction can take.
    fn run(&self, place: &Place, leaves: &[Leaf], from: usize) -> usize {
        let first = leaves[from];
        let line = |leaf: Leaf| (place.offset.wrapping_add(leaf.offset)) / LINE;
        let mut count = 1;
        while count < 4 {
            let Some(&next) = leaves.get(from + count) else {
                break;
            };
            let previous = leaves[from + count - 1];
            let adjacent = next.offset == previous.offset + previous.ty.bytes();
            let same_line = match place.base {
                Base::Buffer(_) => line(next) == line(first),
                Base::Mem(_) => true,
            };
            if !adjacent || next.ty != first.ty || !same_line {
                break;
            }
            count += 1;
        }
        count
    }

    /// Reads scalars.
    pub fn load_leaves(&mut self, place: &Place, leaves: &[Leaf]) -> Values {
        let Some(order) = by_address(leaves) else {
            return self.load_ascending(place, leaves);
        };
        let ascending: Vec<Leaf> = order.iter().map(|&at| leaves[at]).collect();
        let loaded = self.load_ascending(place, &ascending);
        let mut values = loaded.clone();
        for (at, value) in order.into_iter().zip(loaded) {
            values[at] = value;
        }
        values
    }

    fn load_ascending(&mut self, place: &Place, leaves: &[Leaf]) -> Values {
        let mut values = Values::with_capacity(leaves.len());
        let mut from = 0;
        while from < leaves.len() {
            let count = self.run(place, leaves, from);
            let group = &leaves[from..from + count];
            let types: SmallVec<[Type; 4]> = group.iter().map(|leaf| stored(leaf.ty)).collect();
            let address = self.address(place, group[0].offset);
            let mut loaded = match place.base {
                Base::Mem(mem) => {
                    let access = self.access(mem, place, group);
                    self.b().mem_load(access, address, &types)
                }
                Base::Buffer(buffer) => {
                    self.b().buffer_load(buffer, place.element, address, &types)
                }
            };
            if group[0].ty == Type::B1 {
                for value in &mut loaded {
                    *value = self.truth(*value);
                }
            }
            values.extend(loaded);
            from += count;
        }
        values
    }

    /// Writes scalars, as many as there are leaves.
    pub fn store_leaves(&mut self, place: &Place, leaves: &[Leaf], values: &[Value]) {
        let Some(order) = by_address(leaves) else {
            return self.store_ascending(place, leaves, values);
        };
        let ascending: Vec<Leaf> = order.iter().map(|&at| leaves[at]).collect();
        let values: Values = order.iter().map(|&at| values[at]).collect();
        self.store_ascending(place, &ascending, &values);
    }

    fn store_ascending(&mut self, place: &Place, leaves: &[Leaf], values: &[Value]) {
        let mut from = 0;
        while from < leaves.len() {
            let count = self.run(place, leaves, from);
            let group = &leaves[from..from + count];
            let address = self.address(place, group[0].offset);
            let mut words = Values::from_slice(&values[from..from + count]);
            if group[0].ty == Type::B1 {
                for word in &mut words {
                    *word = self.word(*word);
                }
            }
            let words = words.as_slice();
            match place.base {
                Base::Mem(mem) => {
                    let access = self.access(mem, place, group);
                    self.b().mem_store(access, address, words);
                }
                Base::Buffer(buffer) => {
                    self.b().buffer_store(buffer, place.element, address, words);
                }
            }
            from += count;
        }
    }

    /// A truth value as the word that stands for it in memory.
    pub fn word(&mut self, value: Value) -> Value {
        match self.func.as_const(value) {
            Some(bits) => self.u32(bits as u32),
            None => self.convert(Op::UConvert, Type::B32, value),
        }
    }

    /// The truth value that a word in memory stands for.
    pub fn truth(&mut self, word: Value) -> Value {
        let zero = self.u32(0);
        self.op2(Op::INe, word, zero)
    }

    /// Runs `each` for every index below a length.
    pub fn for_each(
        &mut self,
        length: u32,
        each: impl FnOnce(&mut Self, Value) -> Result<()>,
    ) -> Result<()> {
        let init = self.u32(0);
        let body = self.nested(|lower| {
            let region = lower.region;
            let index = lower.func.add_param(region, Type::B32);
            let count = lower.u32(length);
            let checked = lower.op2(Op::Index, index, count);
            each(lower, checked)?;
            lower.b().end(Op::Continue, &[index]);
            Ok(())
        })?;
        let continuing = self.nested(|lower| {
            let region = lower.region;
            let index = lower.func.add_param(region, Type::B32);
            let (one, end) = (lower.u32(1), lower.u32(length));
            let next = lower.op2(Op::IAdd, index, one);
            let done = lower.op2(Op::ULe, end, next);
            lower.b().end(Op::BreakIf, &[done, next]);
            Ok(())
        })?;
        self.b().inst(Op::Loop, Imm::None, &[init], &[body, continuing], &[]);
        Ok(())
    }

    /// The element at an index below the length.
    pub fn dynamic_part(&mut self, place: &Place, stride: u32, index: Value, length: u32) -> Place {
        let scaled = self.mul_address(index, stride);
        let dynamic = match place.dynamic {
            Some(outer) => self.op2(Op::IAdd, outer, scaled),
            None => scaled,
        };
        let (lo, hi) = match place.dynamic {
            Some(_) => (place.lo, place.hi),
            None => (place.offset, place.offset.saturating_add(length.saturating_mul(stride))),
        };
        Place { dynamic: Some(dynamic), lo, hi, ..place.clone() }
    }

    /// The element at an index that may be out of range.
    pub fn element(
        &mut self,
        place: &Place,
        stride: u32,
        length: Length,
        index: Value,
    ) -> Result<Place> {
        if let (Some(bits), Length::Known(length)) = (self.func.as_const(index), length)
            && bits < u64::from(length)
        {
            let offset = (bits as u32).wrapping_mul(stride);
            return Ok(Place { offset: place.offset.wrapping_add(offset), ..place.clone() });
        }
        if let (Length::Runtime, Some(from), Base::Buffer(buffer)) =
            (length, place.dynamic, place.base)
        {
            // Only physical storage has such arrays at places that are not constant.
            let scaled = self.mul_address(index, stride);
            let offset = self.u32(place.offset);
            let first = self.op2(Op::IAdd, from, offset);
            let byte = self.op2(Op::IAdd, first, scaled);
            let align = 1 << stride.trailing_zeros().min(3);
            return Ok(self.brought_within(buffer, None, byte, stride.into(), align));
        }
        let (count, known) = match length {
            Length::Known(count) => (self.u32(count), count),
            Length::Runtime => (self.runtime_length(place, stride)?, u32::MAX),
        };
        let checked = self.op2(Op::Index, index, count);
        Ok(self.dynamic_part(place, stride, checked, known))
    }

    /// Elements of the runtime array of a stride at a place.
    pub fn runtime_length(&mut self, place: &Place, stride: u32) -> Result<Value> {
        let Base::Buffer(buffer) = place.base else {
            return Err(Stop::internal("a runtime array outside of a buffer"));
        };
        let most = i32::MAX as u64;
        if u64::from(place.offset) > most {
            let what = "bytes before a runtime array";
            let hint = "no buffer is that large";
            return Err(Stop::limit(what, place.offset.into(), most, hint));
        }
        let stride = stride.max(1);
        let (offset, element) = (place.offset, place.element);
        if element.is_some() || place.dynamic.is_some() {
            return Ok(self.length_code(buffer, element, offset, stride));
        }
        if let Some(&length) = self.lengths.get(&(buffer, offset, stride)) {
            return Ok(length);
        }
        let prologue = self.prologue;
        let length = self.within(prologue, |lower| lower.length_code(buffer, None, offset, stride));
        self.lengths.insert((buffer, offset, stride), length);
        Ok(length)
    }

    /// Elements of an array at a constant byte of a buffer that the bound bytes hold.
    pub fn length_code(
        &mut self,
        buffer: Resource,
        element: Option<Value>,
        offset: u32,
        stride: u32,
    ) -> Value {
        let args: Values = element.into_iter().collect();
        let mut b = self.b();
        let inst = b.inst(Op::BufferSize, Imm::Resource(buffer), &args, &[], &[Type::B32]);
        let mut bytes = b.result(inst);
        if offset != 0 {
            // A binding may end before the array begins.
            let offset = self.u32(offset);
            let enough = self.op2(Op::UMax, bytes, offset);
            bytes = self.op2(Op::ISub, enough, offset);
        }
        match stride {
            1 => bytes,
            _ if stride.is_power_of_two() => {
                let amount = self.u32(stride.trailing_zeros());
                self.op2(Op::LShr, bytes, amount)
            }
            _ => {
                let stride = self.u32(stride);
                self.op2(Op::UDiv, bytes, stride)
            }
        }
    }

    /// One atomic on a word of 32 or 64 bits; gives the old one. Machines subtract 32 bits alone.
    pub fn atomic(
        &mut self,
        place: &Place,
        op: AtomicOp,
        ty: Type,
        operands: &[Value],
    ) -> Result<Value> {
        if let (AtomicOp::Sub, Type::B64) = (op, ty) {
            let negative = self.op1(Op::INeg, operands[0]);
            return self.atomic(place, AtomicOp::Add, ty, &[negative]);
        }
        let inst = self.atomic_inst(place, op, ty, operands, &[ty])?;
        Ok(self.func.insts[inst].results[0])
    }

    /// An atomic store.
    pub fn atomic_store(&mut self, place: &Place, value: Value) -> Result<()> {
        let ty = self.ty(value);
        self.atomic_inst(place, AtomicOp::Store, ty, &[value], &[])?;
        Ok(())
    }

    /// Arithmetic on a float in memory; gives the old one.
    pub fn atomic_float(&mut self, place: &Place, op: Op, value: Value) -> Result<Value> {
        let (op, value) = self.float_atomic(op, value)?;
        self.atomic(place, op, Type::B32, &[value])
    }

    /// The operation that arithmetic on a float in memory or in a texel is, and its operand.
    pub fn float_atomic(&mut self, op: Op, value: Value) -> Result<(AtomicOp, Value)> {
        if self.ty(value) != Type::B32 {
            let what = "atomics on floats that are not of 32 bits";
            return Err(Stop::unsupported(what, LOWERING).needing(Needs::Atomics));
        }
        Ok(match op {
            Op::FMin => (AtomicOp::FMin, value),
            Op::FMax => (AtomicOp::FMax, value),
            Op::FSub => (AtomicOp::FAdd, self.op1(Op::FNeg, value)),
            _ => (AtomicOp::FAdd, value),
        })
    }

    fn atomic_inst(
        &mut self,
        place: &Place,
        op: AtomicOp,
        ty: Type,
        operands: &[Value],
        results: &[Type],
    ) -> Result<gpucc_ir::ssa::Inst> {
        if !matches!(ty, Type::B32 | Type::B64) {
            return Err(Stop::unsupported("16-bit atomics", LOWERING).needing(Needs::Atomics));
        }
        let address = self.address(place, 0);
        let mut args = Values::new();
        args.extend(place.element);
        args.push(address);
        args.extend_from_slice(operands);
        let word = [Leaf { offset: 0, ty }];
        Ok(match place.base {
            Base::Mem(mem) => {
                if self.func.mems[mem].space != MemSpace::Workgroup {
                    let message = "an atomic operation on a variable that is not shared";
                    return Err(Stop::invalid(message));
                }
                let access = self.access(mem, place, &word);
                let imm = Imm::MemAtomic(access, op);
                self.b().inst(Op::MemAtomic, imm, &args, &[], results)
            }
            Base::Buffer(buffer) => {
                // Readers do not ask it of every pointer.
                let kind = self.func.resources[buffer].kind;
                if !matches!(kind, ResourceKind::Storage { .. }) {
                    let message = "an atomic operation on a buffer that is not storage";
                    return Err(Stop::invalid(message));
                }
                let imm = Imm::BufferAtomic(buffer, op);
                self.b().inst(Op::BufferAtomic, imm, &args, &[], results)
            }
        })
    }
}

impl OfNaga<'_> {
    /// Reads a value of a type.
    pub fn load(&mut self, place: &Place, inner: &TypeInner) -> Result<Values> {
        if let TypeInner::Atomic(scalar) = *inner {
            let word = self.atomic(place, AtomicOp::Load, width(scalar), &[])?;
            return Ok(Values::from_elem(word, 1));
        }
        let leaves = self.source.types.flatten(inner, place.layout)?;
        Ok(self.load_leaves(place, &leaves))
    }

    /// Writes a value of a type.
    pub fn store(&mut self, place: &Place, inner: &TypeInner, values: &[Value]) -> Result<()> {
        if let (TypeInner::Atomic(_), [value]) = (inner, values) {
            return self.atomic_store(place, *value);
        }
        let leaves = self.source.types.flatten(inner, place.layout)?;
        if leaves.len() != values.len() {
            return Err(Stop::internal("a value does not fit the place it is stored in"));
        }
        self.store_leaves(place, &leaves, values);
        Ok(())
    }

    /// Zeroes a variable; large arrays by a loop.
    pub fn zero(&mut self, place: &Place, inner: &TypeInner) -> Result<()> {
        let leaves = self.source.types.dense_size(inner) / 4;
        if leaves <= FILL_STRAIGHT as u64 {
            let widths = self.source.types.widths(inner)?;
            let zeros: Values = widths.iter().map(|&ty| self.constant(ty, 0)).collect();
            return self.store(place, inner, &zeros);
        }
        match *inner {
            TypeInner::Struct { ref members, .. } => {
                let mut offset = place.offset;
                for member in members {
                    let inner = self.source.types.inner(member.ty);
                    let part = Place { offset, ..place.clone() };
                    self.zero(&part, inner)?;
                    offset += self.source.types.dense_size(inner) as u32;
                }
                Ok(())
            }
            TypeInner::Array { base, .. } => {
                let Length::Known(length) = self.source.types.length(inner)? else {
                    return Err(Stop::internal("a variable is a runtime array"));
                };
                let (stride, element) =
                    (self.source.types.stride(inner, place.layout), self.source.types.inner(base));
                self.for_each(length, |lower, index| {
                    let part = lower.dynamic_part(place, stride, index, length);
                    lower.zero(&part, element)
                })
            }
            _ => Err(Stop::internal("a large value is neither array nor structure")),
        }
    }

    /// A member, or an element at a constant index that may lie beyond a runtime array's end.
    pub fn element_at(&mut self, place: &Place, inner: &TypeInner, index: u32) -> Result<Place> {
        match inner {
            TypeInner::Array { .. } | TypeInner::BindingArray { .. } => {
                let index = self.u32(index);
                self.element_of_place(place, inner, index)
            }
            _ => Ok(self.part_of_place(place, inner, index)),
        }
    }

    /// A member, or an element at a constant index that is in range.
    pub fn part_of_place(&self, place: &Place, inner: &TypeInner, index: u32) -> Place {
        let offset = self.source.types.member_offset(inner, index, place.layout);
        Place { offset: place.offset.wrapping_add(offset), ..place.clone() }
    }

    /// The element at an index that may be out of range.
    pub fn element_of_place(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        index: Value,
    ) -> Result<Place> {
        let stride = self.source.types.stride(inner, place.layout);
        let length = self.source.types.length(inner)?;
        self.element(place, stride, length, index)
    }
}

/// The order of leaves by their addresses, where they have another: those of a row-major matrix.
fn by_address(leaves: &[Leaf]) -> Option<Vec<usize>> {
    if leaves.is_sorted_by_key(|leaf| leaf.offset) {
        return None;
    }
    let mut order: Vec<usize> = (0..leaves.len()).collect();
    order.sort_by_key(|&at| leaves[at].offset);
    Some(order)
}

/// How a scalar lies in memory: truth values are words.
pub fn stored(ty: Type) -> Type {
    match ty {
        Type::B1 => Type::B32,
        Type::B16 | Type::B32 | Type::B64 => ty,
    }
}

/// What an atomic function does to a scalar.
pub enum Atomic {
    /// One operation of memory.
    Native(AtomicOp),
    /// Arithmetic that memory does not know.
    Float(Op),
}

/// The operation that an atomic function is on a scalar.
pub fn atomic_op(fun: AtomicFunction, scalar: naga::Scalar) -> Result<Atomic> {
    let signed = scalar.kind == ScalarKind::Sint;
    if scalar.kind == ScalarKind::Float {
        return Ok(Atomic::Float(match fun {
            AtomicFunction::Add => Op::FAdd,
            AtomicFunction::Subtract => Op::FSub,
            AtomicFunction::Min => Op::FMin,
            AtomicFunction::Max => Op::FMax,
            AtomicFunction::Exchange { compare: None } => {
                return Ok(Atomic::Native(AtomicOp::Exchange));
            }
            _ => {
                let what = "this atomic operation on floats";
                return Err(Stop::unsupported(what, LOWERING).needing(Needs::Atomics));
            }
        }));
    }
    Ok(Atomic::Native(match fun {
        AtomicFunction::Add => AtomicOp::Add,
        AtomicFunction::Subtract => AtomicOp::Sub,
        AtomicFunction::And => AtomicOp::And,
        AtomicFunction::ExclusiveOr => AtomicOp::Xor,
        AtomicFunction::InclusiveOr => AtomicOp::Or,
        AtomicFunction::Min if signed => AtomicOp::SMin,
        AtomicFunction::Min => AtomicOp::UMin,
        AtomicFunction::Max if signed => AtomicOp::SMax,
        AtomicFunction::Max => AtomicOp::UMax,
        AtomicFunction::Exchange { compare: None } => AtomicOp::Exchange,
        AtomicFunction::Exchange { compare: Some(_) } => AtomicOp::CompareExchange,
    }))
}
