//! What a program reads and the driver fills.

use gpucc_ir::ssa::{Func, Resource};
use serde::{Deserialize, Serialize};

/// Something that the program reads and the driver fills.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverConstant {
    /// Its number, where it is not its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<u32>,
    /// What stands there.
    #[serde(flatten)]
    pub word: DriverWord,
}

/// What stands in a driver's constant.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DriverWord {
    /// One number about an image.
    OfImage {
        /// Which.
        what: ImageWord,
        /// Of which image.
        binding: BindingName,
        /// Its element.
        element: u32,
    },
    /// Anything else.
    Other(Driven),
}

impl DriverWord {
    /// The binding that it is about.
    pub fn binding_mut(&mut self) -> Option<&mut BindingName> {
        match self {
            DriverWord::OfImage { binding, .. } => Some(binding),
            DriverWord::Other(driven) => match driven {
                Driven::Image { binding }
                | Driven::Uniform { binding, .. }
                | Driven::BufferSize { binding, .. }
                | Driven::Pitch { binding, .. }
                | Driven::Rows { binding, .. }
                | Driven::Sampler { binding, .. } => Some(binding),
                Driven::NumWorkgroups { .. }
                | Driven::Draw
                | Driven::StorageBuffer { .. }
                | Driven::WorkgroupMemory
                | Driven::Constant { .. }
                | Driven::FirstVertex
                | Driven::FirstInstance
                | Driven::DrawIndex
                | Driven::ViewIndex
                | Driven::VertexCount
                | Driven::StreamAddress { .. }
                | Driven::ViewportScale { .. }
                | Driven::ViewportOffset { .. }
                | Driven::Unused => None,
            },
        }
    }
}

/// A number about an image.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageWord {
    /// Texels of level 0 on the first axis.
    Width,
    /// On the second.
    Height,
    /// On the third.
    Depth,
    /// Layers; cubes of a cube array.
    Layers,
    /// Mip levels.
    Levels,
    /// Samples of a texel.
    Samples,
    /// f32: half a texel of level 0 on the first axis, `0.5 / width`.
    EdgeLowX,
    /// On the second.
    EdgeLowY,
    /// f32: `1 - edge_low_x`.
    EdgeHighX,
    /// `1 - edge_low_y`.
    EdgeHighY,
}

/// See [`DriverWord`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Driven {
    /// Workgroups of the dispatch: on one axis, or on all.
    NumWorkgroups {
        /// The axis.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        axis: Option<u8>,
    },
    /// First vertex, first instance, draw index, 0.
    Draw,
    /// A storage buffer's base in dwords and size in bytes within the aperture; of a stored texture pitch and rows too.
    StorageBuffer {
        /// The number within the aperture.
        aperture_index: u32,
    },
    /// Workgroup memory's base in dwords within the aperture, and dwords of one workgroup.
    WorkgroupMemory,
    /// Width, height, layers (cubes of a cube array, depth in three dimensions), levels.
    Image {
        /// Of which image.
        binding: BindingName,
    },
    /// These bits.
    Constant {
        /// The bits.
        bits: u32,
    },
    /// The word of a uniform buffer or of the immediates.
    Uniform {
        /// Which (element 0).
        binding: BindingName,
        /// Byte offset, a multiple of 4.
        offset: u32,
    },
    /// The first vertex.
    FirstVertex,
    /// The first instance.
    FirstInstance,
    /// The draw's number among those of one command.
    DrawIndex,
    /// The number of the view that is drawn, of machines that know none.
    ViewIndex,
    /// Vertices of an instance.
    VertexCount,
    /// The address of a transform feedback buffer.
    StreamAddress {
        /// Which buffer.
        buffer: u8,
        /// The high word.
        high: bool,
    },
    /// f32: screen = device coordinate * scale + offset.
    ViewportScale {
        /// The axis.
        axis: u8,
    },
    /// f32: see [`Driven::ViewportScale`].
    ViewportOffset {
        /// The axis.
        axis: u8,
    },
    /// Bytes bound to a buffer.
    BufferSize {
        /// Which.
        binding: BindingName,
        /// Its element.
        element: u32,
    },
    /// Texels from one row of a linear surface to the next.
    Pitch {
        /// Which.
        binding: BindingName,
        /// Its element.
        element: u32,
    },
    /// Rows from one slice of a linear surface to the next.
    Rows {
        /// Which.
        binding: BindingName,
        /// Its element.
        element: u32,
    },
    /// A word of a sampler ([`TexQuery::Sampler`](gpucc_ir::ssa::TexQuery)), of programs that compare or gather by arithmetic.
    Sampler {
        /// Which.
        binding: BindingName,
        /// Its element.
        element: u32,
        /// Which word.
        number: u8,
    },
    /// Padding that nobody reads.
    Unused,
}

/// A binding by its numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindingName {
    /// Bind group.
    pub group: u32,
    /// Binding.
    pub binding: u32,
    /// Element of a binding array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u32>,
    /// The binding in the expanded SSA; absent in what was read from text.
    #[serde(skip)]
    pub resource: Option<Resource>,
}

impl BindingName {
    /// A binding of a function.
    pub fn of(func: &Func, resource: Resource) -> BindingName {
        let data = &func.resources[resource];
        BindingName {
            group: data.group,
            binding: data.binding,
            element: None,
            resource: Some(resource),
        }
    }
}
