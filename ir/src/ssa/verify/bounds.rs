//! Invariant 15: no access leaves the memory that it names.
//!
//! # The rule
//! An address is `c + s1 * i1 + s2 * i2 + ...`: constants, results of `index`, and other values whose largest value
//! is known. Each `index` result is below its length. The access is in range when the largest such address plus the
//! bytes of the access is at most
//! - the end of the access's part, for a variable;
//! - the size that the driver guarantees, for a buffer: the whole of a fixed type, and the bytes before a trailing
//!   runtime array. An address may then have no term with a length of the run time;
//! - the bound size of a buffer, when one term is an index below the number of elements that the binding holds:
//!   `(max(buffer_size, from) - from) / stride`. The scale is then at most the stride, and what the other terms and the
//!   access take is at most `from + stride`.
//!
//! The element of an array of bindings is below the array's length by the same rule.
//!
//! Addresses are exact: a sum that could wrap has no known range. One fact for each value, so the check is linear.

use super::{Broken, Verifier};
use crate::ssa::func::{Func, Imm, Inst, InstData, Type, Value};
use crate::ssa::op::Op;
use crate::ssa::resource::{Builtin, InputKind, Resource, ResourceKind};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

/// The binding whose size a length comes from: a buffer, and which of an array of buffers.
type Binding = (Resource, PackedOption<Value>);

/// What is known of a B32 value.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum Fact {
    /// Nothing.
    #[default]
    Unknown,
    /// From the first to the second number.
    Range(u32, u32),
    /// The bound bytes of a buffer, at least this number.
    Size(Binding, u32),
    /// The bound bytes behind this offset; 0 where there are none.
    Behind(Binding, u32),
    /// Elements that the bound bytes hold.
    Count(Binding, Elements),
    /// `scale` times an index below such a count, and a rest from 0 to `most`.
    Term { binding: Binding, elements: Elements, scale: u32, most: u32 },
}

/// The elements of a runtime array.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Byte at which the first begins.
    pub from: u32,
    /// Bytes from one to the next; not 0.
    pub stride: u32,
}

impl Elements {
    /// An index whose element begins beyond a buffer that holds no element, although no byte of it lies beyond 4 GiB.
    /// None where elements are so large that there is no such index.
    pub fn beyond(self) -> Option<u32> {
        let behind = (1u64 << 32) - u64::from(self.from);
        let index = (behind / u64::from(self.stride)).checked_sub(1)?;
        (index > 0).then(|| u32::try_from(index).ok())?
    }
}

/// Facts of all values of a function.
pub struct Facts(SecondaryMap<Value, Fact>);

impl Facts {
    /// One walk over the function.
    pub fn new(func: &Func) -> Facts {
        let mut facts = Facts(SecondaryMap::new());
        facts.0.resize(func.values.len());
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                facts.define(func, inst);
            }
        }
        facts
    }

    /// The runtime array whose number of elements this value is.
    pub fn elements(&self, length: Value) -> Option<Elements> {
        self.0[length].elements().map(|(_, elements)| elements)
    }

    /// An address with [`Elements::beyond`] in place of its index lies beyond a buffer that holds no element.
    pub fn leaves(&self, address: Value) -> bool {
        match self.0[address] {
            Fact::Term { elements, scale, .. } => elements.beyond().is_some_and(|index| {
                // Fewer bytes than this are bound.
                let end = u64::from(elements.from) + u64::from(elements.stride);
                u64::from(index) * u64::from(scale) >= end
            }),
            _ => false,
        }
    }

    fn define(&mut self, func: &Func, inst: Inst) {
        let data = &func.insts[inst];
        let [result] = data.results[..] else { return };
        if func.ty(result) != Type::B32 {
            return;
        }
        let fact = match data.op {
            Op::Const => match data.imm {
                Imm::Bits(bits) => Fact::Range(bits as u32, bits as u32),
                _ => Fact::Unknown,
            },
            Op::Input => match data.imm {
                Imm::Input(input, component) => {
                    let lanes = local_lanes(func, func.inputs[input].kind, component);
                    lanes.map_or(Fact::Unknown, |lanes| Fact::Range(0, lanes - 1))
                }
                _ => Fact::Unknown,
            },
            Op::BufferSize => match data.imm {
                Imm::Resource(buffer) => Fact::Size((buffer, data.args.first().copied().into()), 0),
                _ => Fact::Unknown,
            },
            _ => match data.args[..] {
                [a, b] if func.ty(b) == Type::B32 => binary(data.op, self.0[a], self.0[b]),
                _ => Fact::Unknown,
            },
        };
        self.0[result] = fact;
    }

    /// The largest value, when one is known.
    pub fn most(&self, value: Value) -> Option<u32> {
        match self.0[value] {
            Fact::Range(_, most) => Some(most),
            _ => None,
        }
    }
}

/// Invocations along an axis of the workgroup, or in all of it; none for other inputs.
fn local_lanes(func: &Func, kind: InputKind, component: u8) -> Option<u32> {
    let size = func.workgroup_size;
    let lanes = match kind {
        InputKind::Builtin(Builtin::LocalInvocationId) => *size.get(usize::from(component))?,
        InputKind::Builtin(Builtin::LocalInvocationIndex) => {
            size.iter().try_fold(1u32, |all, &n| all.checked_mul(n))?
        }
        _ => return None,
    };
    (lanes > 0).then_some(lanes)
}

fn binary(op: Op, a: Fact, b: Fact) -> Fact {
    use Fact::{Behind, Range, Size, Term, Unknown};
    match (op, a, b) {
        (Op::Index, _, Range(length, most)) if length == most => Range(0, length.saturating_sub(1)),
        (Op::Index, _, length) => match length.elements() {
            Some((binding, elements)) => Term { binding, elements, scale: 1, most: 0 },
            None => Unknown,
        },
        (Op::IAdd, Range(a, b), Range(c, d)) => match (a.checked_add(c), b.checked_add(d)) {
            (Some(least), Some(most)) => Range(least, most),
            _ => Unknown,
        },
        (Op::IAdd, term @ Term { .. }, Range(_, more))
        | (Op::IAdd, Range(_, more), term @ Term { .. }) => term.plus(more),
        (Op::IAdd, Size(binding, at), Range(less, same))
        | (Op::IAdd, Range(less, same), Size(binding, at))
            if less == same && at == less.wrapping_neg() =>
        {
            Behind(binding, at)
        }
        (Op::ISub, Size(binding, at), Range(from, same)) if from == same && at == from => {
            Behind(binding, at)
        }
        (Op::ISub, Range(a, b), Range(c, d)) if a >= d => Range(a - d, b - c),
        (Op::UMax, Size(binding, 0), Range(from, same))
        | (Op::UMax, Range(from, same), Size(binding, 0))
            // Passes see what is at most the largest number, and no buffer is that large anyway.
            if from == same && from <= i32::MAX as u32 =>
        {
            Size(binding, from)
        }
        (Op::IMul, fact, Range(by, same)) | (Op::IMul, Range(by, same), fact) if by == same => {
            fact.times(by)
        }
        (Op::IMul, Range(a, b), Range(c, d)) => match b.checked_mul(d) {
            Some(most) => Range(a * c, most),
            None => Unknown,
        },
        (Op::Shl, fact, Range(by, same)) if by == same && by < 32 => fact.times(1 << by),
        (Op::LShr, Range(least, most), Range(by, same)) if by == same && by < 32 => {
            Range(least >> by, most >> by)
        }
        (Op::LShr, fact, Range(by, same)) if by == same && by < 32 => fact.over(1 << by),
        (Op::UDiv, Range(least, most), Range(by, same)) if by == same && by > 0 => {
            Range(least / by, most / by)
        }
        (Op::UDiv, fact, Range(by, same)) if by == same && by > 0 => fact.over(by),
        (Op::URem, _, Range(by, same)) if by == same && by > 0 => Range(0, by - 1),
        // Rounded down to a multiple of a power of two.
        (Op::And, Range(_, most), Range(mask, same)) | (Op::And, Range(mask, same), Range(_, most))
            if mask == same && mask.leading_ones() + mask.trailing_zeros() == 32 =>
        {
            Range(0, most & mask)
        }
        (Op::And | Op::UMin, Range(_, a), Range(_, b)) => Range(0, a.min(b)),
        (Op::And | Op::UMin, Range(_, most), _) | (Op::And | Op::UMin, _, Range(_, most)) => {
            Range(0, most)
        }
        _ => Unknown,
    }
}

impl Fact {
    fn plus(self, more: u32) -> Fact {
        match self {
            Fact::Term { binding, elements, scale, most } => match most.checked_add(more) {
                Some(most) => Fact::Term { binding, elements, scale, most },
                None => Fact::Unknown,
            },
            _ => Fact::Unknown,
        }
    }

    fn times(self, by: u32) -> Fact {
        match self {
            // Passes see through it too, and what is left must be proved as well.
            _ if by == 0 => Fact::Range(0, 0),
            // Half of all addresses in one element: passes may subtract instead, and it holds no buffer's element anyway.
            Fact::Term { .. } if by > i32::MAX as u32 => Fact::Unknown,
            Fact::Range(least, most) => match most.checked_mul(by) {
                Some(most) => Fact::Range(least * by, most),
                None => Fact::Unknown,
            },
            Fact::Term { binding, elements, scale, most } => {
                match (scale.checked_mul(by), most.checked_mul(by)) {
                    (Some(scale), Some(most)) => Fact::Term { binding, elements, scale, most },
                    _ => Fact::Unknown,
                }
            }
            _ => Fact::Unknown,
        }
    }

    /// What this is the number of elements of; bytes are elements too.
    fn elements(self) -> Option<(Binding, Elements)> {
        match self {
            Fact::Size(binding, 0) => Some((binding, Elements { from: 0, stride: 1 })),
            Fact::Behind(binding, from) => Some((binding, Elements { from, stride: 1 })),
            Fact::Count(binding, elements) => Some((binding, elements)),
            _ => None,
        }
    }

    /// A number of elements over a number is one of larger elements.
    fn over(self, by: u32) -> Fact {
        let Some((binding, Elements { from, stride })) = self.elements() else {
            return Fact::Unknown;
        };
        match stride.checked_mul(by) {
            Some(stride) => Fact::Count(binding, Elements { from, stride }),
            None => Fact::Unknown,
        }
    }
}

/// Checks every access of a function that is [`Marked`](crate::ssa::Bounds::Marked).
///
/// # Errors
/// The first access that is not proved in range.
pub fn check(func: &Func) -> Result<(), Broken> {
    let facts = Facts::new(func);
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            if let Some(what) = unproved(func, &facts, &func.insts[inst]) {
                return Err(Verifier::new(func).broken(Some(inst), 15, what));
            }
        }
    }
    Ok(())
}

/// What an access is not proved to keep within.
fn unproved(func: &Func, facts: &Facts, data: &InstData) -> Option<String> {
    let elements = match data.imm {
        Imm::Resource(resource)
        | Imm::BufferAtomic(resource, _)
        | Imm::ImageAtomic(resource, _)
        | Imm::Query(resource, _) => [Some(resource), None],
        Imm::Tex(tex) => [Some(tex.texture), tex.sampler.expand()],
        _ => [None, None],
    };
    let mut args = data.args.iter();
    for resource in elements.into_iter().flatten() {
        if let Some(count) = func.resources[resource].count {
            let element = args.next().and_then(|&element| facts.most(element));
            if element.is_none_or(|element| element >= count) {
                return Some(format!("no index keeps the element of {resource} below {count}"));
            }
        }
    }
    let width = |values: &[Value]| -> u64 {
        let bytes = values.iter().map(|&v| u64::from(func.ty(v).bytes()));
        bytes.sum()
    };
    let &address = args.as_slice().first()?;
    let values = &args.as_slice()[1..];
    // An atomic touches one word: its operands and its result are as wide.
    let bytes = match data.op {
        Op::BufferLoad | Op::MemLoad => width(&data.results),
        Op::BufferStore | Op::MemStore => width(values),
        Op::BufferAtomic | Op::MemAtomic => {
            let word = values.first().or(data.results.first());
            word.map_or(4, |&word| u64::from(func.ty(word).bytes()))
        }
        _ => return None,
    };
    let fact = facts.0[address];
    match data.imm {
        Imm::Mem(access) | Imm::MemAtomic(access, _) => {
            let inside = matches!(fact, Fact::Range(least, most)
                if least >= access.lo && u64::from(most) + bytes <= u64::from(access.hi));
            (!inside).then(|| {
                format!("no index keeps these {bytes} bytes within {}..{}", access.lo, access.hi)
            })
        }
        Imm::Resource(buffer) | Imm::BufferAtomic(buffer, _) => {
            let kind = func.resources[buffer].kind;
            let element = func.resources[buffer].count.map(|_| data.args[0]);
            let inside = match fact {
                Fact::Range(_, most) => u64::from(most) + bytes <= guaranteed(kind),
                Fact::Term { binding, elements: Elements { from, stride }, scale, most } => {
                    binding.0 == buffer
                        && same(func, binding.1.expand(), element)
                        && scale <= stride
                        && u64::from(most) + bytes <= u64::from(from) + u64::from(stride)
                }
                _ => false,
            };
            (!inside).then(|| match kind {
                ResourceKind::Storage { size, stride, .. } if stride != 0 => format!(
                    "no index keeps these {bytes} bytes within {buffer}, of which {size} bytes and a number of \
                     elements that only buffer_size tells are bound"
                ),
                kind => format!(
                    "no index keeps these {bytes} bytes within the {} of {buffer}",
                    guaranteed(kind)
                ),
            })
        }
        _ => None,
    }
}

/// The same element of an array of buffers.
fn same(func: &Func, a: Option<Value>, b: Option<Value>) -> bool {
    let bits = |value: Option<Value>| value.and_then(|value| func.as_const(value));
    a == b || bits(a).is_some() && bits(a) == bits(b)
}

/// Bytes of a buffer that a driver binds at least.
fn guaranteed(kind: ResourceKind) -> u64 {
    match kind {
        ResourceKind::Uniform { size }
        | ResourceKind::Storage { size, .. }
        | ResourceKind::Immediate { size } => size.into(),
        ResourceKind::Texture { .. }
        | ResourceKind::StorageTexture { .. }
        | ResourceKind::Sampler { .. } => 0,
    }
}
