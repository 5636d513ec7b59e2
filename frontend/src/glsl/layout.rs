//! Memory layout: where scalars lie in buffers (GLSL 4.60, 4.4.5; OpenGL 7.6.2.2) and in private memory.

use super::types::{Opaque, StructId, Ty, Types};
use crate::lower::Result;
use crate::lower::types::{Leaf, dense_bytes, width};
use crate::stop::Stop;
use std::rc::Rc;

/// Rules of a layout.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Private memory: one word a scalar, two for 64 bits, without gaps.
    Dense,
    Std140,
    Std430,
    Scalar,
}

/// How what a way through memory reaches lies there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    pub rule: Rule,
    pub row_major: bool,
    /// Bytes between components of a column of a row-major matrix.
    pub column: Option<u32>,
}

impl Packing {
    pub const DENSE: Packing = Packing { rule: Rule::Dense, row_major: false, column: None };

    pub fn of(rule: Rule, row_major: bool) -> Packing {
        Packing { rule, row_major, column: None }
    }
}

/// A structure in memory.
#[derive(Debug)]
pub struct Laid {
    /// Bytes of each member from the start.
    pub offsets: Vec<u32>,
    pub size: u64,
    pub align: u64,
    /// Bytes up to the end of the last scalar.
    pub end: u64,
}

impl Types {
    /// Bytes and alignment of a type; a runtime array has no bytes.
    pub fn extent(&self, ty: Ty, packing: Packing) -> (u64, u64) {
        let Packing { rule, row_major, .. } = packing;
        let scalar_bytes = |scalar: naga::Scalar| match (rule, scalar.kind) {
            (Rule::Dense, _) => dense_bytes(scalar),
            (_, naga::ScalarKind::Bool) => 4,
            _ => u64::from(scalar.width),
        };
        let vector_align = |scalar: naga::Scalar, lanes: u64| match rule {
            // Words follow one another without gaps, as [`Types::count`] counts them.
            Rule::Dense => 4,
            Rule::Scalar => scalar_bytes(scalar),
            Rule::Std140 | Rule::Std430 => scalar_bytes(scalar) * lanes.next_power_of_two(),
        };
        match ty {
            // A counter is a word.
            Ty::Opaque(Opaque::Counter) => (4, 4),
            Ty::Void | Ty::Opaque(_) => (0, 1),
            Ty::Scalar(scalar) => (scalar_bytes(scalar), vector_align(scalar, 1)),
            Ty::Reference(_) => (8, if rule == Rule::Dense { 4 } else { 8 }),
            Ty::Vector(scalar, lanes) => {
                let lanes = u64::from(lanes);
                (lanes * scalar_bytes(scalar), vector_align(scalar, lanes))
            }
            Ty::Matrix(scalar, columns, rows) => {
                let (lines, across) = match row_major && rule != Rule::Dense {
                    true => (rows, columns),
                    false => (columns, rows),
                };
                let (stride, align) = self.line(scalar, across, rule);
                (u64::from(lines) * stride, align)
            }
            Ty::Array(id) => {
                let (of, length) = self.array(id);
                let (stride, align) = self.element_extent(of, packing);
                (stride.saturating_mul(length.unwrap_or(0).into()), align)
            }
            Ty::Struct(id) => {
                let laid = self.laid(id, rule, row_major);
                (laid.size, laid.align)
            }
        }
    }

    /// Bytes between the columns, or rows, of a matrix, and their alignment.
    fn line(&self, scalar: naga::Scalar, across: u8, rule: Rule) -> (u64, u64) {
        let (size, align) = self.extent(Ty::Vector(scalar, across), Packing::of(rule, false));
        match rule {
            Rule::Dense | Rule::Scalar => (size, align),
            Rule::Std140 => (align.next_multiple_of(16), align.next_multiple_of(16)),
            Rule::Std430 => (align, align),
        }
    }

    /// Bytes between the elements of an array, and their alignment.
    fn element_extent(&self, of: Ty, packing: Packing) -> (u64, u64) {
        let (size, align) = self.extent(of, packing);
        let align = match packing.rule {
            Rule::Std140 => align.next_multiple_of(16),
            _ => align,
        };
        (size.div_ceil(align).saturating_mul(align), align)
    }

    /// A structure in memory.
    pub fn laid(&self, id: StructId, rule: Rule, row_major: bool) -> Rc<Laid> {
        if let Some(known) = self.laid.borrow().get(&(id, rule, row_major)) {
            return known.clone();
        }
        let mut laid = Laid { offsets: Vec::new(), size: 0, align: 1, end: 0 };
        for member in &self.structure(id).members {
            let own = Packing::of(rule, member.row_major.unwrap_or(row_major));
            let (size, align) = self.extent(member.ty, own);
            let stated = rule != Rule::Dense;
            let align = match member.align.filter(|_| stated) {
                Some(more) => align.max(more.into()),
                None => align,
            };
            let from = match member.offset.filter(|_| stated) {
                Some(offset) => u64::from(offset),
                None => laid.size,
            };
            let at = from.div_ceil(align).saturating_mul(align);
            laid.offsets.push(u32::try_from(at).unwrap_or(u32::MAX));
            laid.end = laid.end.max(at.saturating_add(self.end_of(member.ty, own)));
            laid.size = at.saturating_add(size);
            laid.align = laid.align.max(align);
        }
        if rule == Rule::Std140 {
            laid.align = laid.align.next_multiple_of(16);
        }
        laid.size = laid.size.div_ceil(laid.align).saturating_mul(laid.align);
        let laid = Rc::new(laid);
        self.laid.borrow_mut().insert((id, rule, row_major), laid.clone());
        laid
    }

    /// Bytes up to the end of the last scalar.
    pub fn end_of(&self, ty: Ty, packing: Packing) -> u64 {
        match ty {
            Ty::Struct(id) => self.laid(id, packing.rule, packing.row_major).end,
            Ty::Matrix(scalar, columns, rows) => {
                let (lines, across) =
                    if packing.row_major { (rows, columns) } else { (columns, rows) };
                let stride = self.extent(ty, packing).0 / u64::from(lines);
                u64::from(lines - 1) * stride + u64::from(across) * u64::from(scalar.width)
            }
            _ => self.extent(ty, packing).0,
        }
    }

    /// Bytes up to the end of the last member, the padding of that member's type included, that of the block not.
    pub fn unpadded(&self, id: StructId, packing: Packing) -> u64 {
        let laid = self.laid(id, packing.rule, packing.row_major);
        match (laid.offsets.last(), self.structure(id).members.last()) {
            (Some(&offset), Some(member)) => {
                let row_major = member.row_major.unwrap_or(packing.row_major);
                let own = Packing::of(packing.rule, row_major);
                u64::from(offset).saturating_add(self.extent(member.ty, own).0)
            }
            _ => 0,
        }
    }

    /// Bytes between the elements of a vector, matrix or array, and how these lie.
    pub fn stride(&self, ty: Ty, packing: Packing) -> (u32, Packing) {
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        match ty {
            Ty::Vector(scalar, _) => {
                let (own, _) = self.extent(Ty::Scalar(scalar), packing);
                (packing.column.unwrap_or(bytes(own)), packing)
            }
            Ty::Matrix(scalar, columns, rows) => {
                match packing.row_major && packing.rule != Rule::Dense {
                    true => {
                        let (row, _) = self.line(scalar, columns, packing.rule);
                        let (own, _) = self.extent(Ty::Scalar(scalar), packing);
                        (bytes(own), Packing { column: Some(bytes(row)), ..packing })
                    }
                    false => (bytes(self.line(scalar, rows, packing.rule).0), packing),
                }
            }
            Ty::Array(id) => {
                let (of, _) = self.array(id);
                (bytes(self.element_extent(of, packing).0), packing)
            }
            _ => (0, packing),
        }
    }

    /// A member's bytes from the start of its structure, and how it lies.
    pub fn member_at(&self, id: StructId, index: u32, packing: Packing) -> (u32, Packing) {
        let laid = self.laid(id, packing.rule, packing.row_major);
        let member = self.structure(id).members.get(index as usize);
        let row_major = member.and_then(|member| member.row_major).unwrap_or(packing.row_major);
        let offset = laid.offsets.get(index as usize).copied().unwrap_or(0);
        (offset, Packing::of(packing.rule, row_major))
    }

    /// The scalars of a type in memory, in order.
    pub fn flatten(&self, ty: Ty, packing: Packing) -> Result<Vec<Leaf>> {
        let mut leaves = Vec::with_capacity(self.leaf_count(ty)?);
        self.flatten_into(ty, packing, 0, &mut leaves)?;
        Ok(leaves)
    }

    fn flatten_into(&self, ty: Ty, packing: Packing, base: u32, out: &mut Vec<Leaf>) -> Result<()> {
        match ty {
            Ty::Void | Ty::Opaque(_) => {}
            Ty::Scalar(scalar) => out.push(Leaf { offset: base, ty: width(scalar) }),
            Ty::Reference(_) => out.push(Leaf { offset: base, ty: width(naga::Scalar::U64) }),
            Ty::Struct(id) => {
                for (index, member) in (0..).zip(&self.structure(id).members) {
                    let (offset, own) = self.member_at(id, index, packing);
                    self.flatten_into(member.ty, own, base.wrapping_add(offset), out)?;
                }
            }
            _ => {
                let Some((of, Some(length))) = self.elements(ty) else {
                    return Err(Stop::invalid("an array without a length is copied whole"));
                };
                let (stride, own) = self.stride(ty, packing);
                for index in 0..length {
                    let at = base.wrapping_add(index.wrapping_mul(stride));
                    self.flatten_into(of, own, at, out)?;
                }
            }
        }
        Ok(())
    }
}
