//! Types of a SPIR-V module: scalars, and where they lie in memory.

use super::pointers::WORDS;
use super::program::{Id, Program};
use super::sizes::at_most;
use crate::Needs;
use crate::lower::types::{Layout, Leaf, dense_bytes, width};
use crate::stop::Stop;
use gpucc_ir::ssa::Type;
use rspirv::spirv::{BuiltIn, Decoration, Dim, StorageClass};

/// What the reader keeps of decorations.
#[derive(Clone, Debug, Default)]
pub struct Decorations {
    pub location: Option<u32>,
    pub component: Option<u32>,
    pub index: Option<u32>,
    pub binding: Option<u32>,
    pub set: Option<u32>,
    pub builtin: Option<u32>,
    pub offset: Option<u32>,
    pub array_stride: Option<u32>,
    pub matrix_stride: Option<u32>,
    pub row_major: bool,
    pub flat: bool,
    pub linear: bool,
    pub centroid: bool,
    pub sample: bool,
    pub per_vertex: bool,
    pub invariant: bool,
    pub volatile: bool,
    pub read_only: bool,
    pub write_only: bool,
    pub block: bool,
    pub buffer_block: bool,
}

impl Decorations {
    /// None at all.
    pub const PLAIN: Decorations = Decorations {
        location: None,
        component: None,
        index: None,
        binding: None,
        set: None,
        builtin: None,
        offset: None,
        array_stride: None,
        matrix_stride: None,
        row_major: false,
        flat: false,
        linear: false,
        centroid: false,
        sample: false,
        per_vertex: false,
        invariant: false,
        volatile: false,
        read_only: false,
        write_only: false,
        block: false,
        buffer_block: false,
    };

    /// Adds one, given by its words.
    pub fn add(&mut self, words: &[u32]) {
        use Decoration as D;
        let Some(decoration) = words.first().and_then(|&word| D::from_u32(word)) else {
            return;
        };
        let value = words.get(1).copied();
        match decoration {
            D::Location => self.location = value,
            D::Component => self.component = value,
            D::Index => self.index = value,
            D::Binding => self.binding = value,
            D::DescriptorSet => self.set = value,
            D::BuiltIn => self.builtin = value,
            D::Offset => self.offset = value,
            D::ArrayStride => self.array_stride = value,
            D::MatrixStride => self.matrix_stride = value,
            D::RowMajor => self.row_major = true,
            D::Flat => self.flat = true,
            D::NoPerspective => self.linear = true,
            D::Centroid => self.centroid = true,
            D::Sample => self.sample = true,
            D::PerVertexKHR => self.per_vertex = true,
            D::Invariant => self.invariant = true,
            D::Volatile => self.volatile = true,
            D::NonWritable => self.read_only = true,
            D::NonReadable => self.write_only = true,
            D::Block => self.block = true,
            D::BufferBlock => self.buffer_block = true,
            _ => {}
        }
    }

    /// The built-in value that is decorated.
    pub fn built_in(&self) -> Option<BuiltIn> {
        self.builtin.and_then(BuiltIn::from_u32)
    }
}

/// A member of a structure.
#[derive(Clone, Debug)]
pub struct Member {
    pub ty: Id,
    pub name: String,
    pub decorations: Decorations,
}

/// An image's type. Whether it holds depths is no part of it: SPIR-V 3.49.6 leaves that to what is done with it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Image {
    /// Type of what a texel gives.
    pub texel: Id,
    pub dim: Dim,
    pub arrayed: bool,
    pub multisampled: bool,
    /// Read and written without a sampler.
    pub storage: bool,
    pub format: u32,
}

/// A type.
#[derive(Clone, Debug)]
pub enum Ty {
    Void,
    Scalar(naga::Scalar),
    /// Scalar, components, type of a component.
    Vector(naga::Scalar, u32, Id),
    /// Scalar, rows, columns, type of a column.
    Matrix(naga::Scalar, u32, u32, Id),
    /// No length: the binding's size decides.
    Array {
        of: Id,
        length: Option<u32>,
        stride: u32,
    },
    Struct(Vec<Member>),
    Pointer(StorageClass, Id),
    Image(Image),
    Sampler,
    SampledImage(Id),
    Function,
    /// What the reader lacks.
    Lacking(&'static str, Option<Needs>),
}

impl Ty {
    /// Nothing computes with it: a pointer, a texture, a sampler.
    pub fn is_opaque(&self) -> bool {
        matches!(self, Ty::Pointer(..)) || self.is_handle()
    }

    /// A texture or a sampler.
    pub fn is_handle(&self) -> bool {
        matches!(self, Ty::Image(_) | Ty::Sampler | Ty::SampledImage(_))
    }
}

/// How the scalars of matrices and of their columns lie, which the way to them decides.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Matrices {
    /// Bytes between columns, or between rows of a row-major matrix.
    pub stride: u32,
    pub row_major: bool,
    /// Bytes between components of a column of a row-major matrix.
    pub column: Option<u32>,
}

impl Matrices {
    /// Those of a member.
    pub fn of(decorations: &Decorations) -> Matrices {
        Matrices {
            stride: decorations.matrix_stride.unwrap_or(0),
            row_major: decorations.row_major,
            column: None,
        }
    }
}

/// A part of a composite in memory.
#[derive(Copy, Clone, Debug)]
pub struct Part {
    pub ty: Id,
    /// Bytes from the start.
    pub offset: u32,
    pub matrices: Matrices,
}

impl Program<'_> {
    /// Scalar type and number of components of a scalar or vector.
    pub fn shape(&self, ty: Id) -> Result<(naga::Scalar, usize), Stop> {
        match *self.ty(ty)? {
            Ty::Scalar(scalar) => Ok((scalar, 1)),
            Ty::Vector(scalar, count, _) => Ok((scalar, count as usize)),
            _ => Err(Stop::invalid(format!("%{ty} is neither a scalar nor a vector type"))),
        }
    }

    /// The type of the elements of a vector, matrix or array, and how many there are.
    pub fn elements(&self, ty: Id) -> Result<(Id, Option<u32>), Stop> {
        match *self.ty(ty)? {
            Ty::Vector(_, count, of) => Ok((of, Some(count))),
            Ty::Matrix(_, _, columns, of) => Ok((of, Some(columns))),
            Ty::Array { of, length, .. } => Ok((of, length)),
            _ => Err(Stop::invalid(format!("the type %{ty} has no elements"))),
        }
    }

    /// Bytes between the elements of a vector, matrix or array, and how matrices lie in them.
    pub fn stride(
        &self,
        ty: Id,
        layout: Layout,
        matrices: Matrices,
    ) -> Result<(u32, Matrices), Stop> {
        let dense =
            |id| -> Result<u32, Stop> { Ok(self.dense_size(id)?.min(u64::from(u32::MAX)) as u32) };
        Ok(match (self.ty(ty)?, layout) {
            (Ty::Vector(scalar, ..), Layout::Dense) => (dense_bytes(*scalar) as u32, matrices),
            (Ty::Vector(scalar, ..), Layout::Host) => {
                (matrices.column.unwrap_or(scalar.width.into()), matrices)
            }
            (Ty::Matrix(_, _, _, of) | Ty::Array { of, .. }, Layout::Dense) => {
                (dense(*of)?, matrices)
            }
            (Ty::Matrix(scalar, ..), Layout::Host) => match matrices.row_major {
                true => {
                    let column = Some(matrices.stride);
                    (scalar.width.into(), Matrices { column, ..matrices })
                }
                false => (matrices.stride, matrices),
            },
            (Ty::Array { stride, .. }, Layout::Host) => (*stride, matrices),
            _ => return Err(Stop::invalid(format!("the type %{ty} has no elements"))),
        })
    }

    /// Workgroup variables of a type lie where the module says, over each other.
    pub fn is_shared_block(&self, ty: Id) -> bool {
        self.shares_workgroup && self.decorations(ty).block
    }

    /// A member of a structure in memory.
    pub fn member(&self, ty: Id, index: u32, layout: Layout) -> Result<Part, Stop> {
        let Ty::Struct(members) = self.ty(ty)? else {
            return Err(Stop::invalid(format!("the type %{ty} is no structure")));
        };
        let Some(member) = members.get(index as usize) else {
            return Err(Stop::invalid(format!("the structure %{ty} has no member {index}")));
        };
        let offset = match layout {
            Layout::Host => member.decorations.offset.unwrap_or(0),
            Layout::Dense => {
                let before = self.inside(ty)?.starts[index as usize].1;
                before.min(u64::from(u32::MAX)) as u32
            }
        };
        Ok(Part { ty: member.ty, offset, matrices: Matrices::of(&member.decorations) })
    }

    /// A part of a value: its type, the scalars before it, and its own.
    pub fn part(&self, ty: Id, index: u32) -> Result<(Id, usize, usize), Stop> {
        let beyond = || Stop::invalid(format!("the type %{ty} has no part {index}"));
        match self.ty(ty)? {
            Ty::Struct(members) => {
                let member = members.get(index as usize).ok_or_else(beyond)?;
                let start = self.inside(ty)?.starts[index as usize].0;
                Ok((member.ty, at_most(start)?, self.leaf_count(member.ty)?))
            }
            _ => {
                let (of, length) = self.elements(ty)?;
                if length.is_none_or(|length| index >= length) {
                    return Err(beyond());
                }
                let count = self.leaf_count(of)?;
                Ok((of, index as usize * count, count))
            }
        }
    }

    /// The scalars of a type in memory, in order.
    pub fn flatten(&self, ty: Id, layout: Layout, matrices: Matrices) -> Result<Vec<Leaf>, Stop> {
        let mut leaves = Vec::with_capacity(self.leaf_count(ty)?);
        self.flatten_into(ty, layout, matrices, 0, &mut leaves)?;
        Ok(leaves)
    }

    fn flatten_into(
        &self,
        ty: Id,
        layout: Layout,
        matrices: Matrices,
        base: u32,
        out: &mut Vec<Leaf>,
    ) -> Result<(), Stop> {
        match self.ty(ty)? {
            Ty::Pointer(StorageClass::PhysicalStorageBuffer, _) => {
                out.push(Leaf { offset: base, ty: Type::B64 });
            }
            Ty::Pointer(..) => {
                let words = (0..WORDS as u32).map(|at| base.wrapping_add(4 * at));
                out.extend(words.map(|offset| Leaf { offset, ty: Type::B32 }));
            }
            Ty::Scalar(scalar) => {
                // SPIR-V 2.16.1: truth values have no bytes that others see. OpenGL's default block has them.
                let hidden = self.default_block.offsets.is_empty();
                if hidden && layout == Layout::Host && scalar.kind == naga::ScalarKind::Bool {
                    return Err(Stop::invalid("a truth value in a buffer"));
                }
                out.push(Leaf { offset: base, ty: width(*scalar) });
            }
            Ty::Struct(_) => {
                // A member without scalars costs nothing, however often its structure stands within others.
                for &index in &self.inside(ty)?.filled {
                    let mut part = self.member(ty, index, layout)?;
                    if layout == Layout::Dense {
                        part.matrices = Matrices::default();
                    }
                    let at = base.wrapping_add(part.offset);
                    self.flatten_into(part.ty, layout, part.matrices, at, out)?;
                }
            }
            _ => {
                let (of, length) = self.elements(ty)?;
                let Some(length) = length else {
                    return Err(Stop::invalid("a runtime array is copied whole"));
                };
                if self.leaf_count(of)? == 0 {
                    return Ok(());
                }
                let (stride, matrices) = self.stride(ty, layout, matrices)?;
                for index in 0..length {
                    let at = base.wrapping_add(index.wrapping_mul(stride));
                    self.flatten_into(of, layout, matrices, at, out)?;
                }
            }
        }
        Ok(())
    }

    /// The widths of a value's scalars, in order.
    pub fn widths(&self, ty: Id) -> Result<Vec<Type>, Stop> {
        let leaves = self.flatten(ty, Layout::Dense, Matrices::default())?;
        Ok(leaves.into_iter().map(|leaf| leaf.ty).collect())
    }
}
