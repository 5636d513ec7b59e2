//! How naga's types become scalars: counts, widths, and byte offsets in memory.
//!
//! Uniform, storage and immediate data lie as naga says ([`Layout::Host`]). Private and workgroup
//! variables lie densely, one word a scalar whatever its width (two for 64 bits), so that no two
//! scalars share a word ([`Layout::Dense`]).

use super::Result;
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{Scalar, Type};
use indexmap::IndexSet;
use naga::proc::IndexableLength;
use naga::{Handle, ScalarKind, TypeInner};
use std::hash::Hash;

/// Largest number of scalars that one value may have.
pub const MAX_LEAVES: u64 = 1 << 14;

/// Where the parts of a composite lie in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// naga's offsets and strides.
    Host,
    /// One word a scalar, two for 64 bits.
    Dense,
}

/// A scalar within a composite in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Bytes from the composite's start.
    pub offset: u32,
    /// Width.
    pub ty: Type,
}

/// Elements of what can be indexed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Length {
    /// Known.
    Known(u32),
    /// The binding's size decides.
    Runtime,
}

/// Sizes of every type of a module.
pub struct Types<'a> {
    pub module: &'a naga::Module,
    /// Scalars of each type; saturating.
    leaves: Vec<u64>,
    /// Bytes of each type under [`Layout::Dense`]; saturating.
    dense: Vec<u64>,
}

/// The width of a scalar.
pub fn width(scalar: naga::Scalar) -> Type {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Type::B1,
        (_, 2) => Type::B16,
        (_, 8) => Type::B64,
        _ => Type::B32,
    }
}

/// How an interface or buffer element is read.
pub fn reading(scalar: naga::Scalar) -> Scalar {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 2) => Scalar::F16,
        (ScalarKind::Float, _) => Scalar::F32,
        (ScalarKind::Sint, _) => Scalar::I32,
        (ScalarKind::Bool, _) => Scalar::Bool,
        _ => Scalar::U32,
    }
}

/// What a type consists of, for [`held`].
pub enum Parts<T> {
    /// Scalars of one type.
    Scalars(naga::Scalar),
    /// Values of these types, in this order.
    Of(Vec<T>),
    /// Nothing that memory holds.
    None,
}

/// The first scalar of a type in memory (U32 of a type without one), and whether others stand beside it, or one that
/// [`Scalar`] has no name for. Each type within is visited once.
pub fn held<T: Copy + Eq + Hash>(root: T, parts: impl Fn(T) -> Parts<T>) -> (Scalar, bool) {
    let (mut first, mut mixed) = (None, false);
    let (mut seen, mut left) = (IndexSet::new(), vec![root]);
    while let Some(ty) = left.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match parts(ty) {
            Parts::Scalars(scalar) => {
                let named =
                    scalar.width == 4 || (scalar.kind, scalar.width) == (ScalarKind::Float, 2);
                let first = *first.get_or_insert(scalar);
                mixed |= !named || first != scalar;
            }
            Parts::Of(types) => left.extend(types.into_iter().rev()),
            Parts::None => {}
        }
    }
    (first.map_or(Scalar::U32, reading), mixed)
}

/// Bytes of a scalar under [`Layout::Dense`].
pub fn dense_bytes(scalar: naga::Scalar) -> u64 {
    if width(scalar) == Type::B64 { 8 } else { 4 }
}

/// Bytes between the columns of a matrix.
fn column_stride(rows: naga::VectorSize, scalar: naga::Scalar) -> u32 {
    let rows = match rows {
        naga::VectorSize::Bi => 2,
        naga::VectorSize::Tri | naga::VectorSize::Quad => 4,
    };
    rows * u32::from(scalar.width)
}

impl<'a> Types<'a> {
    /// Counts every type once, in arena order.
    pub fn new(module: &'a naga::Module) -> Self {
        let mut types = Types {
            module,
            leaves: Vec::with_capacity(module.types.len()),
            dense: Vec::with_capacity(module.types.len()),
        };
        for (_, ty) in module.types.iter() {
            let (leaves, dense) = types.count(&ty.inner);
            types.leaves.push(leaves);
            types.dense.push(dense);
        }
        types
    }

    fn count(&self, inner: &TypeInner) -> (u64, u64) {
        let of = |handle: Handle<naga::Type>| {
            let index = handle.index();
            let leaves = self.leaves.get(index).copied().unwrap_or(0);
            (leaves, self.dense.get(index).copied().unwrap_or(0))
        };
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => (1, dense_bytes(scalar)),
            TypeInner::Vector { size, scalar } => {
                let n = size as u64;
                (n, n * dense_bytes(scalar))
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let n = columns as u64 * rows as u64;
                (n, n * dense_bytes(scalar))
            }
            TypeInner::Array { base, size, .. } => {
                let n = match size.resolve(self.module.to_ctx()) {
                    Ok(IndexableLength::Known(n)) => u64::from(n),
                    _ => 0,
                };
                let (leaves, dense) = of(base);
                (leaves.saturating_mul(n), dense.saturating_mul(n))
            }
            TypeInner::Struct { ref members, .. } => {
                members.iter().fold((0, 0), |(leaves, dense), member| {
                    let (l, d) = of(member.ty);
                    (u64::saturating_add(leaves, l), u64::saturating_add(dense, d))
                })
            }
            TypeInner::CooperativeMatrix { .. }
            | TypeInner::Pointer { .. }
            | TypeInner::ValuePointer { .. }
            | TypeInner::Image { .. }
            | TypeInner::Sampler { .. }
            | TypeInner::AccelerationStructure { .. }
            | TypeInner::RayQuery { .. }
            | TypeInner::BindingArray { .. } => (0, 0),
        }
    }

    /// The type behind a handle.
    pub fn inner(&self, handle: Handle<naga::Type>) -> &'a TypeInner {
        &self.module.types[handle].inner
    }

    /// Scalars of a value of a type.
    pub fn leaf_count(&self, handle: Handle<naga::Type>) -> Result<usize> {
        let leaves = self.leaves[handle.index()];
        self.bounded(leaves)
    }

    /// Scalars of a value of a type.
    pub fn leaf_count_of(&self, inner: &TypeInner) -> Result<usize> {
        self.bounded(self.count(inner).0)
    }

    fn bounded(&self, leaves: u64) -> Result<usize> {
        if leaves > MAX_LEAVES {
            return Err(Stop::limit(
                "scalars of one value",
                leaves,
                MAX_LEAVES,
                "index the variable instead of copying it whole",
            ));
        }
        Ok(leaves as usize)
    }

    /// Bytes of a type under [`Layout::Dense`].
    pub fn dense_size(&self, inner: &TypeInner) -> u64 {
        self.count(inner).1
    }

    /// Bytes of a type.
    pub fn size(&self, inner: &TypeInner, layout: Layout) -> u32 {
        match layout {
            Layout::Host => inner.size(self.module.to_ctx()),
            Layout::Dense => self.dense_size(inner).min(u64::from(u32::MAX)) as u32,
        }
    }

    /// Elements of a vector, matrix or array.
    pub fn length(&self, inner: &TypeInner) -> Result<Length> {
        match *inner {
            TypeInner::Vector { size, .. } => Ok(Length::Known(size as u32)),
            TypeInner::ValuePointer { size: Some(size), .. } => Ok(Length::Known(size as u32)),
            TypeInner::Matrix { columns, .. } => Ok(Length::Known(columns as u32)),
            TypeInner::Array { size, .. } | TypeInner::BindingArray { size, .. } => {
                match size.resolve(self.module.to_ctx()) {
                    Ok(IndexableLength::Known(n)) => Ok(Length::Known(n)),
                    Ok(IndexableLength::Dynamic) => Ok(Length::Runtime),
                    Err(error) => Err(Stop::invalid(error.to_string())),
                }
            }
            _ => Err(Stop::internal("a type that has no elements is indexed")),
        }
    }

    /// The type of the elements of a vector, matrix or array, or of a structure's member.
    pub fn element(&self, inner: &TypeInner, index: u32) -> Result<TypeInner> {
        Ok(match *inner {
            TypeInner::Vector { scalar, .. } => TypeInner::Scalar(scalar),
            TypeInner::Matrix { rows, scalar, .. } => TypeInner::Vector { size: rows, scalar },
            TypeInner::Array { base, .. } | TypeInner::BindingArray { base, .. } => {
                self.inner(base).clone()
            }
            TypeInner::Struct { ref members, .. } => match members.get(index as usize) {
                Some(member) => self.inner(member.ty).clone(),
                None => return Err(Stop::internal("no such member")),
            },
            _ => return Err(Stop::internal("a type that has no parts is taken apart")),
        })
    }

    /// Bytes between the elements of a vector, matrix or array.
    pub fn stride(&self, inner: &TypeInner, layout: Layout) -> u32 {
        match (layout, inner) {
            (Layout::Host, TypeInner::Vector { scalar, .. }) => u32::from(scalar.width),
            (Layout::Host, &TypeInner::Matrix { rows, scalar, .. }) => column_stride(rows, scalar),
            (Layout::Host, TypeInner::Array { stride, .. }) => *stride,
            (Layout::Dense, TypeInner::Vector { scalar, .. }) => dense_bytes(*scalar) as u32,
            (Layout::Dense, TypeInner::Matrix { rows, scalar, .. }) => {
                *rows as u32 * dense_bytes(*scalar) as u32
            }
            (Layout::Dense, TypeInner::Array { base, .. }) => {
                self.dense[base.index()].min(u64::from(u32::MAX)) as u32
            }
            _ => 0,
        }
    }

    /// Byte offset of a structure's member.
    pub fn member_offset(&self, inner: &TypeInner, index: u32, layout: Layout) -> u32 {
        let TypeInner::Struct { members, .. } = inner else {
            return index * self.stride(inner, layout);
        };
        match layout {
            Layout::Host => members.get(index as usize).map_or(0, |member| member.offset),
            Layout::Dense => members
                .iter()
                .take(index as usize)
                .map(|member| self.dense[member.ty.index()])
                .sum::<u64>()
                .min(u64::from(u32::MAX)) as u32,
        }
    }

    /// The number of scalars before a part of a value, and of the part.
    pub fn part(&self, inner: &TypeInner, index: u32) -> Result<(usize, usize)> {
        Ok(match *inner {
            TypeInner::Vector { .. } => (index as usize, 1),
            TypeInner::Matrix { rows, .. } => {
                let rows = rows as usize;
                (index as usize * rows, rows)
            }
            TypeInner::Array { base, .. } => {
                let count = self.leaf_count(base)?;
                (index as usize * count, count)
            }
            TypeInner::Struct { ref members, .. } => {
                let mut start = 0;
                for member in members.iter().take(index as usize) {
                    start += self.leaf_count(member.ty)?;
                }
                let Some(member) = members.get(index as usize) else {
                    return Err(Stop::internal("no such member"));
                };
                (start, self.leaf_count(member.ty)?)
            }
            _ => return Err(Stop::internal("a value that has no parts is taken apart")),
        })
    }

    /// The scalars of a type in memory, in order.
    pub fn flatten(&self, inner: &TypeInner, layout: Layout) -> Result<Vec<Leaf>> {
        let mut leaves = Vec::with_capacity(self.leaf_count_of(inner)?);
        self.flatten_into(inner, layout, 0, &mut leaves)?;
        Ok(leaves)
    }

    fn flatten_into(
        &self,
        inner: &TypeInner,
        layout: Layout,
        base: u32,
        out: &mut Vec<Leaf>,
    ) -> Result<()> {
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => {
                out.push(Leaf { offset: base, ty: width(scalar) })
            }
            TypeInner::Vector { size, scalar } => {
                let stride = self.stride(inner, layout);
                out.extend(
                    (0..size as u32)
                        .map(|lane| Leaf { offset: base + lane * stride, ty: width(scalar) }),
                );
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let stride = self.stride(inner, layout);
                let column = TypeInner::Vector { size: rows, scalar };
                for index in 0..columns as u32 {
                    self.flatten_into(&column, layout, base + index * stride, out)?;
                }
            }
            TypeInner::Array { base: element, .. } => {
                let Length::Known(length) = self.length(inner)? else {
                    return Err(Stop::internal("a runtime array is copied whole"));
                };
                let stride = self.stride(inner, layout);
                let element = self.inner(element);
                for index in 0..length {
                    self.flatten_into(element, layout, base + index * stride, out)?;
                }
            }
            TypeInner::Struct { ref members, .. } => {
                let mut dense = 0;
                for member in members {
                    let offset = match layout {
                        Layout::Host => member.offset,
                        Layout::Dense => dense,
                    };
                    self.flatten_into(self.inner(member.ty), layout, base + offset, out)?;
                    dense += self.dense[member.ty.index()] as u32;
                }
            }
            _ => {
                return Err(Stop::unsupported("a value of this type in memory", LOWERING));
            }
        }
        Ok(())
    }

    /// The widths of a value's scalars, in order.
    pub fn widths(&self, inner: &TypeInner) -> Result<Vec<Type>> {
        let leaves = self.flatten(inner, Layout::Dense)?;
        Ok(leaves.into_iter().map(|leaf| leaf.ty).collect())
    }
}
