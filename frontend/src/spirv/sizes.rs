//! How much a type takes: scalars, bytes, alignment, locations.
//!
//! A structure of `n` words may stand within others 2^n times, so every answer is worked out once a type and kept.

use super::interface::is_long;
use super::pointers::WORDS;
use super::program::{Id, Program};
use super::types::{Matrices, Ty};
use crate::lower::types::{MAX_LEAVES, dense_bytes};
use crate::stop::Stop;
use gpucc_ir::Map;
use rspirv::spirv::StorageClass;
use std::rc::Rc;

/// What is known of types so far.
#[derive(Default)]
pub(super) struct Sizes {
    /// Scalars and dense bytes.
    counts: Map<Id, (u64, u64)>,
    /// Bytes in a buffer, and the stride of the runtime array at the end, of arrays and structures.
    extents: Map<(Id, Matrices), (u64, u32)>,
    /// Bytes of the widest vector and of the widest scalar.
    widths: Map<Id, (u64, u64)>,
    locations: Map<Id, u32>,
    structures: Map<Id, Rc<Inside>>,
}

/// The members of a structure.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Scalars and dense bytes before each.
    pub starts: Vec<(u64, u64)>,
    /// Those that have scalars.
    pub filled: Vec<u32>,
}

/// A number of scalars that a value may have.
pub(super) fn at_most(leaves: u64) -> Result<usize, Stop> {
    if leaves > MAX_LEAVES {
        let hint = "index the variable instead of copying it whole";
        return Err(Stop::limit("scalars of one value", leaves, MAX_LEAVES, hint));
    }
    Ok(leaves as usize)
}

impl Program<'_> {
    /// Scalars of a value of a type.
    pub fn leaf_count(&self, ty: Id) -> Result<usize, Stop> {
        at_most(self.count(ty)?.0)
    }

    /// Bytes of a type under [`crate::lower::types::Layout::Dense`], saturating.
    pub fn dense_size(&self, ty: Id) -> Result<u64, Stop> {
        Ok(self.count(ty)?.1)
    }

    /// Scalars and dense bytes, saturating. Types nest as deep as the module declares them.
    pub(super) fn count(&self, ty: Id) -> Result<(u64, u64), Stop> {
        if let Some(&known) = self.sizes.borrow().counts.get(&ty) {
            return Ok(known);
        }
        let of = |scalar, count: u32| (u64::from(count), u64::from(count) * dense_bytes(scalar));
        let found = match self.ty(ty)? {
            Ty::Scalar(scalar) => of(*scalar, 1),
            Ty::Vector(scalar, count, _) => of(*scalar, *count),
            Ty::Matrix(scalar, rows, columns, _) => of(*scalar, rows * columns),
            Ty::Array { of, length: Some(length), .. } => {
                let (leaves, dense) = self.count(*of)?;
                let times = |n: u64| n.saturating_mul((*length).into());
                (times(leaves), times(dense))
            }
            Ty::Struct(members) => {
                let mut all = (0u64, 0u64);
                for member in members {
                    let (leaves, dense) = self.count(member.ty)?;
                    all = (all.0.saturating_add(leaves), all.1.saturating_add(dense));
                }
                all
            }
            Ty::Pointer(StorageClass::PhysicalStorageBuffer, _) => (1, 8),
            Ty::Pointer(..) if self.has_far => (WORDS as u64, 4 * WORDS as u64),
            Ty::Pointer(..) => {
                let what = "a pointer is a value, and the module does not declare VariablePointers";
                return Err(Stop::invalid(what));
            }
            _ => return Err(Stop::invalid(format!("a value of the type %{ty} has no scalars"))),
        };
        self.sizes.borrow_mut().counts.insert(ty, found);
        Ok(found)
    }

    /// What lies within a structure; nothing of other types.
    pub(super) fn inside(&self, ty: Id) -> Result<Rc<Inside>, Stop> {
        if let Some(known) = self.sizes.borrow().structures.get(&ty) {
            return Ok(known.clone());
        }
        let mut inside = Inside::default();
        if let Ty::Struct(members) = self.ty(ty)? {
            let mut all = (0u64, 0u64);
            for (index, member) in (0..).zip(members) {
                inside.starts.push(all);
                let (leaves, dense) = self.count(member.ty)?;
                all = (all.0.saturating_add(leaves), all.1.saturating_add(dense));
                if leaves > 0 {
                    inside.filled.push(index);
                }
            }
        }
        let inside = Rc::new(inside);
        self.sizes.borrow_mut().structures.insert(ty, inside.clone());
        Ok(inside)
    }

    /// Bytes from the start to the end of a type as a buffer holds it, a runtime array left out, and its stride.
    pub fn extent(&self, ty: Id, matrices: Matrices) -> Result<(u64, u32), Stop> {
        let matrices = match self.ty(ty)? {
            // Its members say how matrices lie.
            Ty::Struct(_) => Matrices::default(),
            Ty::Array { .. } => matrices,
            _ => return self.extent_of(ty, matrices),
        };
        if let Some(&known) = self.sizes.borrow().extents.get(&(ty, matrices)) {
            return Ok(known);
        }
        let found = self.extent_of(ty, matrices)?;
        self.sizes.borrow_mut().extents.insert((ty, matrices), found);
        Ok(found)
    }

    fn extent_of(&self, ty: Id, matrices: Matrices) -> Result<(u64, u32), Stop> {
        let end = |count: u32, stride: u32, last: u64| {
            (u64::from(count.saturating_sub(1)) * u64::from(stride)).saturating_add(last)
        };
        Ok(match self.ty(ty)? {
            Ty::Scalar(scalar) => (scalar.width.into(), 0),
            Ty::Vector(scalar, count, _) => {
                let stride = matrices.column.unwrap_or(scalar.width.into());
                (end(*count, stride, scalar.width.into()), 0)
            }
            Ty::Matrix(scalar, rows, columns, _) => {
                let (lines, across) = match matrices.row_major {
                    true => (*rows, *columns),
                    false => (*columns, *rows),
                };
                self.aligned(ty, matrices.stride.into(), || format!("MatrixStride of %{ty}"))?;
                (end(lines, matrices.stride, u64::from(across) * u64::from(scalar.width)), 0)
            }
            Ty::Pointer(StorageClass::PhysicalStorageBuffer, _) => (8, 0),
            Ty::Array { of, length, stride } => {
                self.array_extent(ty, *of, *length, *stride, matrices)?
            }
            Ty::Struct(members) => {
                let (mut most, mut tail) = (0, 0);
                for (index, member) in members.iter().enumerate() {
                    let offset = u64::from(member.decorations.offset.unwrap_or(0));
                    self.aligned(member.ty, offset, || {
                        format!("Offset of member {index} of %{ty}")
                    })?;
                    let (bytes, stride) =
                        self.extent(member.ty, Matrices::of(&member.decorations))?;
                    if stride > 0 {
                        tail = stride;
                    }
                    most = offset.saturating_add(bytes).max(most);
                }
                (most, tail)
            }
            _ => return Err(Stop::invalid(format!("the type %{ty} lies in no buffer"))),
        })
    }

    /// Scalars lie at multiples of their bytes under every layout that Vulkan knows (Vulkan, 15.8.4).
    fn aligned(&self, ty: Id, bytes: u64, what: impl Fn() -> String) -> Result<(), Stop> {
        let unit = self.widest(ty)?;
        if bytes.is_multiple_of(unit) {
            return Ok(());
        }
        Err(Stop::invalid(format!("the {} is {bytes}, no multiple of {unit}", what())))
    }

    fn array_extent(
        &self,
        ty: Id,
        of: Id,
        length: Option<u32>,
        stride: u32,
        matrices: Matrices,
    ) -> Result<(u64, u32), Stop> {
        if length.is_none() && stride == 0 {
            return Err(Stop::invalid(format!("the runtime array %{ty} has no ArrayStride")));
        }
        let bytes = self.extent(of, matrices)?.0;
        if stride == 0 {
            return Ok((bytes, 0));
        }
        if bytes > u64::from(stride) {
            let what = format!(
                "the elements of the array %{ty} overlap: they have {bytes} bytes, and its ArrayStride is {stride}"
            );
            return Err(Stop::invalid(what));
        }
        self.aligned(of, stride.into(), || format!("ArrayStride of %{ty}"))?;
        let most = i32::MAX as u64;
        if u64::from(stride) > most {
            let hint = "declare smaller elements";
            let what = "bytes of an element of an array";
            return Err(Stop::limit(what, stride.into(), most, hint));
        }
        // The last element takes its whole stride.
        Ok(match length {
            Some(length) => (u64::from(length) * u64::from(stride), 0),
            None => (0, stride),
        })
    }

    /// The alignment of a type, in bytes.
    pub(super) fn alignment(&self, ty: Id) -> Result<u64, Stop> {
        Ok(self.vector_and_scalar(ty)?.0)
    }

    /// Bytes of the largest scalar within a type: whatever the layout, its places are multiples of that.
    pub(super) fn widest(&self, ty: Id) -> Result<u64, Stop> {
        Ok(self.vector_and_scalar(ty)?.1)
    }

    /// Bytes of the widest vector and of the widest scalar of a type, 8 for a pointer.
    fn vector_and_scalar(&self, ty: Id) -> Result<(u64, u64), Stop> {
        if let Some(&known) = self.sizes.borrow().widths.get(&ty) {
            return Ok(known);
        }
        let of = |scalar: naga::Scalar, rows: u32| {
            let width = u64::from(scalar.width);
            (width * u64::from(rows.next_power_of_two()), width)
        };
        let found = match self.ty(ty)? {
            Ty::Scalar(scalar) => of(*scalar, 1),
            Ty::Pointer(..) => (8, 8),
            Ty::Vector(scalar, count, _) => of(*scalar, *count),
            Ty::Matrix(scalar, rows, ..) => of(*scalar, *rows),
            Ty::Array { of, .. } => self.vector_and_scalar(*of)?,
            Ty::Struct(members) => {
                let mut most = (1, 1);
                for member in members {
                    let own = self.vector_and_scalar(member.ty)?;
                    most = (own.0.max(most.0), own.1.max(most.1));
                }
                most
            }
            _ => (1, 1),
        };
        self.sizes.borrow_mut().widths.insert(ty, found);
        Ok(found)
    }

    /// Locations that a type takes as an input or output, saturating.
    pub(super) fn locations(&self, ty: Id) -> Result<u32, Stop> {
        if let Some(&known) = self.sizes.borrow().locations.get(&ty) {
            return Ok(known);
        }
        let found = match self.ty(ty)? {
            Ty::Struct(members) => {
                let mut sum = 0u32;
                for member in members {
                    sum = sum.saturating_add(self.locations(member.ty)?);
                }
                sum
            }
            Ty::Matrix(scalar, rows, columns, _) if is_long(*scalar, *rows) => 2 * columns,
            Ty::Matrix(_, _, columns, _) => *columns,
            Ty::Vector(scalar, count, _) if is_long(*scalar, *count) => 2,
            Ty::Array { of, length: Some(length), .. } => {
                self.locations(*of)?.saturating_mul(*length)
            }
            _ => 1,
        };
        self.sizes.borrow_mut().locations.insert(ty, found);
        Ok(found)
    }
}
