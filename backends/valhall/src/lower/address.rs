//! Addresses of buffers and variables, and how well they are aligned.

use super::Lower;
use super::memory::Piece;
use super::operand::{Opnd, build};
use crate::inst::{Special, Src};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::{Reg, VReg};
use gpucc_ir::ssa::{self, Mem, MemSpace, Op, Resource, Value};

/// Addresses within buffers and variables that instructions before have computed, innermost region last.
#[derive(Default)]
pub(super) struct Addresses {
    list: Vec<Known>,
    /// Shifted values that are at hand.
    shifted: Vec<(Base, VReg)>,
    /// What was known before the code that helpers jump over.
    pub(super) guards: Vec<(usize, usize)>,
}

/// A computed address: so many bytes behind a base.
struct Known {
    origin: Origin,
    base: Option<Base>,
    offset: i64,
    pair: [VReg; 2],
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
pub(super) enum Reach {
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

/// Byte of its line modulo `unit`: address = offset (mod unit).
#[derive(Copy, Clone, Debug)]
pub(super) struct Alignment {
    unit: u32,
    offset: u32,
}

/// One access may move `bytes` bytes from byte `at` behind the aligned address on: at most 16 of a size that exists, at
/// a multiple of its elements (1.9), and where memory is `packed` in lines of 16 bytes none that may cross one.
pub(super) fn fits(at: u32, bytes: u32, align: Alignment, packed: bool) -> bool {
    if !matches!(bytes, 2 | 4 | 6 | 8 | 12 | 16) {
        return false;
    }
    let Alignment { unit, offset } = align;
    let start = (offset + at) % unit;
    // Loads of 6 bytes count in halves of words, those of more in words.
    let element = if bytes.is_multiple_of(4) { 4 } else { 2 };
    let aligned = unit.is_multiple_of(element) && start.is_multiple_of(element);
    aligned && (!packed || start + bytes <= unit)
}

/// What is added to a constant offset: a value, shifted left.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Base {
    value: Value,
    shift: u32,
}

/// Splits off constants that are added, also to what is shifted or multiplied: base and offset.
pub(super) fn base_and_offset(ssa: &ssa::Func, mut address: Value) -> (Option<Base>, i64) {
    let (mut offset, mut shift) = (0i64, 0u32);
    loop {
        if let Some(bits) = ssa.as_const(address) {
            return (None, offset + (i64::from(bits as u32 as i32) << shift));
        }
        let base = Base { value: address, shift };
        let Some(def) = ssa.def(address) else {
            return (Some(base), offset);
        };
        let constant =
            |k: usize| ssa.as_const(*def.args.get(k)?).map(|c| i64::from(c as u32 as i32));
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
    /// The address of a byte of a buffer: one LEA_BUFFER for all accesses near the same base.
    pub(super) fn buffer_address(
        &mut self,
        resource: Resource,
        element: Option<Value>,
        address: Value,
        reach: Reach,
        last: i64,
    ) -> Address {
        let (base, offset) = base_and_offset(self.ssa, address);
        let near = |offset: i64| reach.holds(offset) && reach.holds(offset + last);
        let origin = Origin::Buffer(resource, element);
        // What was accessed before lies within the buffer: from there distances are the same in 32 and in 64 bits.
        if let Some(known) = self.known(origin, base)
            && near(offset - known.offset)
        {
            return Address {
                base: Src::Pair(known.pair.map(Reg::from)),
                offset: (offset - known.offset) as i32,
            };
        }
        let (at, start) = match base {
            None if near(offset) => (Opnd::bits(0), 0),
            Some(base) if offset <= 0 && near(offset) => (self.shifted(base), 0),
            // The sum wraps at 32 bits, as the source has it (`x[i + 1u]` with the largest i); LEA_BUFFER's does not.
            _ => (self.plain(address), offset),
        };
        let at = match at.src {
            Src::Bits(_) => at,
            _ => Opnd::reg(self.in_register(at)),
        };
        let handle = self.handle(resource, element);
        let pair = [self.fresh(), self.fresh()];
        self.push(build(Opcode::LeaBuffer, &[at, handle]).writing(&pair.map(Reg::from)));
        self.addresses.list.push(Known { origin, base, offset: start, pair });
        Address { base: Src::Pair(pair.map(Reg::from)), offset: (offset - start) as i32 }
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

    fn known(&self, origin: Origin, base: Option<Base>) -> Option<&Known> {
        let mut latest = self.addresses.list.iter().rev();
        latest.find(|known| known.origin == origin && known.base == base)
    }

    /// The address of a byte of a variable.
    pub(super) fn variable_address(
        &mut self,
        mem: Mem,
        address: Value,
        reach: Reach,
        last: i64,
    ) -> Address {
        let (origin, special, start) = match self.ssa.mems[mem].space {
            MemSpace::Private | MemSpace::Constant => {
                (Origin::Private, Special::ThreadLocalPointer, self.private[mem].expect("declared"))
            }
            MemSpace::Workgroup => {
                (Origin::Workgroup, Special::WorkgroupLocalPointer, self.abi.workgroup_offset[mem])
            }
        };
        let (base, offset) = base_and_offset(self.ssa, address);
        let offset = offset + i64::from(start);
        let near = reach.holds(offset) && reach.holds(offset + last);
        if base.is_none() && near {
            return Address { base: Src::Special64(special), offset: offset as i32 };
        }
        // A base that is not near is computed with its offset.
        let (key, extra, offset) = match near {
            true => (base, 0, offset),
            false => (Some(Base { value: address, shift: 0 }), i64::from(start), 0),
        };
        if extra == 0
            && let Some(known) = self.known(origin, key)
        {
            return Address { base: Src::Pair(known.pair.map(Reg::from)), offset: offset as i32 };
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
        // The base has a sign: `x[i + 1u]` with the largest i is element 0, one behind -1.
        let pair = match key_base.shift {
            0 => self.emit_pair(Opcode::IaddS64, &sources, &[]),
            by => self.emit_pair(Opcode::ShaddxS64, &sources, &[(f::SHIFT, by)]),
        };
        if extra == 0 {
            self.addresses.list.push(Known { origin, base: key, offset: 0, pair });
        }
        Address { base: Src::Pair(pair.map(Reg::from)), offset: offset as i32 }
    }

    /// How an address of values of `width` bytes lies in its line: buffers and variables start at multiples of 16.
    fn lines(&self, address: Value, width: u32) -> Alignment {
        let (base, offset) = base_and_offset(self.ssa, address);
        match base {
            None => Alignment { unit: 16, offset: (offset & 15) as u32 },
            Some(base) => {
                let unit =
                    (alignment(self.ssa, base.value, 8) << base.shift).clamp(width.min(4), 16);
                Alignment { unit, offset: (offset & i64::from(unit - 1)) as u32 }
            }
        }
    }

    /// What is known of the address of values that stand one after the other: each of them is aligned by itself, so
    /// a word behind a half says where the half stands in its word.
    pub(super) fn lines_of(&self, address: Value, parts: &[Piece]) -> Alignment {
        let Some(word) = parts.iter().find(|part| part.bytes == 4) else {
            return self.lines(address, 2);
        };
        if word.at.is_multiple_of(4) {
            return self.lines(address, 4);
        }
        match self.lines(address, 2) {
            Alignment { unit: 2, .. } => Alignment { unit: 4, offset: 2 },
            known => known,
        }
    }
}
