//! How large naga makes what a source says in few words, bounded before naga reads it.
//!
//! naga expands some forms element by element: constants are copied to each use, and an insertion into a SPIR-V composite names every
//! component. Ten tokens can ask for more memory than there is, and a failed allocation ends the
//! process. So the sizes are counted here first, on tokens (`wgsl`).
//! The counts are upper bounds of what naga makes, saturating, in time linear in the source.
//! [`module`] bounds what naga's validator would allocate for, and refuses layouts that it lets pass.

mod integer;
mod tokens;
mod wgsl;

pub use tokens::Tokens;
pub use wgsl::check as wgsl;

use crate::stop::{READING, Stop};
use gpucc_ir::ssa::Span;
use naga::{Binding, Module, TypeInner};

/// Expressions that constants may become where they are used: about 100 MiB of naga's.
const MOST_COPIES: u64 = 1 << 19;
/// Scalars of one value that is built without naming its elements (`array<f32, 64>()`): as many as
/// the words of all private variables.
const MOST_ZEROS: u64 = 1 << 18;
/// Members of one structure, those of nested structures included.
const MOST_MEMBERS: u64 = 1 << 14;
/// Bytes of a type: naga's limit too.
const MOST_BYTES: u64 = i32::MAX as u64;
/// Nested types.
const MOST_NESTING: u32 = 128;
/// Locations of one interface: more than any machine has.
pub const MOST_LOCATIONS: u32 = 256;

/// What a type or an expression becomes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Size {
    /// Scalars and vectors, every element of arrays counted.
    leaves: u64,
    /// The same with each array as one element: what a walk over the type visits.
    members: u64,
    /// False where a length is beyond what is computed here.
    known: bool,
}

impl Size {
    const ONE: Size = Size { leaves: 1, members: 1, known: true };
    const NONE: Size = Size { leaves: 0, members: 0, known: true };

    /// Both, one after the other.
    fn and(self, other: Size) -> Size {
        Size {
            leaves: self.leaves.saturating_add(other.leaves),
            members: self.members.saturating_add(other.members),
            known: self.known && other.known,
        }
    }

    /// An array of it; `None` is a length that is not known.
    fn times(self, length: Option<u64>) -> Size {
        Size {
            leaves: self.leaves.saturating_mul(length.unwrap_or(1)),
            members: self.members,
            known: self.known && length.is_some(),
        }
    }
}

fn place(at: u32) -> Span {
    Span { start: at, end: at + 1 }
}

/// Refuses more than `available` of something, at a byte of the source.
fn bound(what: &str, needed: u64, available: u64, hint: &'static str, at: u32) -> Result<(), Stop> {
    if needed <= available {
        return Ok(());
    }
    Err(Stop::limit(what, needed, available, hint).at(place(at)))
}

fn members(needed: u64, at: u32) -> Result<(), Stop> {
    let what = "members of one structure, nested ones counted";
    let hint = "nest fewer structures";
    bound(what, needed, MOST_MEMBERS, hint, at)
}

fn copies(needed: u64, at: u32) -> Result<(), Stop> {
    let what = "expressions that constants become where they are used";
    let hint = "put large constants into a private variable, or read them at fewer places";
    bound(what, needed, MOST_COPIES, hint, at)
}

fn zeros(size: Size, at: u32) -> Result<(), Stop> {
    if !size.known {
        let feature = "a value of an array whose length is computed in this way";
        return Err(Stop::unsupported(feature, READING).at(place(at)));
    }
    let what = "scalars of one value";
    let hint = "declare a shorter array, or keep it in a buffer";
    bound(what, size.leaves, MOST_ZEROS, hint, at)
}

/// Bounds locations and structures of a module that naga has read and not yet validated: its
/// validator keeps a set of bits up to the largest location.
pub fn module(module: &Module) -> Result<(), Stop> {
    strides(module)?;
    let at_location = |binding: Option<&Binding>, place: naga::Span| match binding {
        Some(&Binding::Location { location, .. }) => locations(location, place),
        _ => Ok(()),
    };
    for (handle, ty) in module.types.iter() {
        if let TypeInner::Struct { members, .. } = &ty.inner {
            for member in members {
                at_location(member.binding.as_ref(), module.types.get_span(handle))?;
            }
        }
    }
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    for function in entries.chain(module.functions.iter().map(|(_, function)| function)) {
        let result = function.result.as_ref();
        let result = result.and_then(|result| result.binding.as_ref());
        at_location(result, naga::Span::UNDEFINED)?;
        for argument in &function.arguments {
            at_location(argument.binding.as_ref(), naga::Span::UNDEFINED)?;
        }
    }
    Ok(())
}

/// Refuses arrays whose elements overlap, since the last element would end behind the array (SPIR-V 2.16.2), and
/// structures of more than [`MOST_BYTES`].
fn strides(module: &Module) -> Result<(), Stop> {
    // The last byte that a type uses, by the index of the type: naga keeps parts before what holds them.
    let mut extents: Vec<u64> = Vec::with_capacity(module.types.len());
    for (handle, ty) in module.types.iter() {
        let of = |part: naga::Handle<naga::Type>| extents.get(part.index()).copied().unwrap_or(0);
        let extent = match &ty.inner {
            TypeInner::Array { base, size, stride } => {
                let (element, stride) = (of(*base), u64::from(*stride));
                if element > stride {
                    let message = format!(
                        "the elements of an array take {element} bytes, and its stride is {stride}"
                    );
                    let span = crate::read::span(module.types.get_span(handle));
                    return Err(Stop::invalid(message).at(span));
                }
                let last = match size {
                    naga::ArraySize::Constant(count) => u64::from(count.get()) - 1,
                    _ => 0,
                };
                last * stride + element
            }
            TypeInner::Struct { members, .. } => {
                let ends = members.iter().map(|member| u64::from(member.offset) + of(member.ty));
                let end = ends.max().unwrap_or(0);
                let start = crate::read::span(module.types.get_span(handle)).start;
                let hint = "place members at smaller offsets";
                bound("bytes of one type", end, MOST_BYTES, hint, start)?;
                end
            }
            inner => u64::from(inner.size(module.to_ctx())),
        };
        extents.push(extent);
    }
    Ok(())
}

/// Numbers of locations: naga's validator keeps a bit for each.
const MOST_NUMBERED: u32 = 1 << 16;

/// Refuses a location that no machine has.
fn locations(location: u32, place: naga::Span) -> Result<(), Stop> {
    if location < MOST_NUMBERED {
        return Ok(());
    }
    let needed = u64::from(location) + 1;
    let what = "locations of inputs or outputs";
    let hint = "number locations from 0";
    let stop = Stop::limit(what, needed, u64::from(MOST_NUMBERED), hint);
    Err(stop.at(crate::read::span(place)))
}

/// Inputs or outputs that need more locations than there are.
pub fn too_many_locations(needed: u64) -> Stop {
    let what = "locations of inputs or outputs";
    let hint = "number locations from 0, and declare shorter arrays";
    Stop::limit(what, needed, u64::from(MOST_LOCATIONS), hint)
}
