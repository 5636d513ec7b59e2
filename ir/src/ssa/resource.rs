//! Bindings, stage inputs and outputs, and how texels are reached.

use cranelift_entity::{entity_impl, packed_option::PackedOption};

/// A binding of the entry point.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(u32);
entity_impl!(Resource, "res");

/// A stage input.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input(u32);
entity_impl!(Input, "in");

/// A stage output.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Output(u32);
entity_impl!(Output, "out");

/// How the bits of an interface or buffer element are read by people and by fixed function.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// 32-bit float.
    F32,
    /// 32-bit signed.
    I32,
    /// 32-bit unsigned.
    U32,
    /// 16-bit float.
    F16,
    /// Truth value in a word.
    Bool,
}

/// What a texture gives when it is sampled.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum SampleType {
    /// f32 components.
    Float,
    /// i32 components.
    Sint,
    /// u32 components.
    Uint,
    /// One f32 depth component.
    Depth,
}

/// Dimension of a texture.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// 1D.
    D1,
    /// 2D.
    D2,
    /// 3D.
    D3,
    /// Cube: coordinates are a direction; size queries give the face.
    Cube,
}

impl Dim {
    /// Components of a coordinate.
    pub const fn coords(self) -> usize {
        match self {
            Dim::D1 => 1,
            Dim::D2 => 2,
            Dim::D3 | Dim::Cube => 3,
        }
    }
}

/// What a shader may do with a storage binding.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageAccess {
    /// May be loaded from.
    pub load: bool,
    /// May be stored to.
    pub store: bool,
    /// Used atomically.
    pub atomic: bool,
}

/// Texel format of a storage texture: its WebGPU name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct TexelFormat(pub &'static str);

/// What stands behind a binding.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// A uniform buffer of `size` bytes.
    Uniform {
        /// Bytes.
        size: u32,
    },
    /// A storage buffer.
    Storage {
        /// Bytes before a trailing runtime array (the whole size when there is none).
        size: u32,
        /// Element stride in bytes of a trailing runtime array, 0 when there is none.
        stride: u32,
        /// What the shader may do.
        access: ImageAccess,
    },
    /// Immediates (push constants) of `size` bytes.
    Immediate {
        /// Bytes.
        size: u32,
    },
    /// A sampled texture.
    Texture {
        /// Dimension.
        dim: Dim,
        /// Has layers.
        arrayed: bool,
        /// What it gives.
        sample: SampleType,
        /// Has several samples per texel.
        multisampled: bool,
    },
    /// A storage texture.
    StorageTexture {
        /// Dimension.
        dim: Dim,
        /// Has layers.
        arrayed: bool,
        /// Texel format.
        format: TexelFormat,
        /// What it gives.
        sample: SampleType,
        /// What the shader may do.
        access: ImageAccess,
    },
    /// A sampler.
    Sampler {
        /// Compares with a reference.
        comparison: bool,
    },
}

impl ResourceKind {
    /// Bytes that must be bound, without a runtime array; `None` of what is no buffer.
    pub const fn bytes(self) -> Option<u32> {
        match self {
            ResourceKind::Uniform { size }
            | ResourceKind::Immediate { size }
            | ResourceKind::Storage { size, .. } => Some(size),
            _ => None,
        }
    }

    /// The shader may store to it, or has atomic operations on it.
    pub const fn is_stored(self) -> bool {
        match self {
            ResourceKind::Storage { access, .. } | ResourceKind::StorageTexture { access, .. } => {
                access.store || access.atomic
            }
            _ => false,
        }
    }
}

/// A binding of the entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceData {
    /// Bind group (descriptor set).
    pub group: u32,
    /// Binding number.
    pub binding: u32,
    /// Source name.
    pub name: String,
    /// What stands behind it.
    pub kind: ResourceKind,
    /// Elements when it is an array of bindings: then operand 0 of every op on it is the element.
    pub count: Option<u32>,
    /// The first scalar of its memory: how to print its words when nothing else is said.
    pub scalar: Scalar,
    /// Its memory holds scalars of other types too, or of a type that [`Scalar`] has no name for.
    pub mixed: bool,
}

/// How an input varies over a primitive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Perspective correct.
    Perspective,
    /// Linear in screen space.
    Linear,
    /// The provoking (first) vertex's value.
    Flat,
}

/// Where an input is taken.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// Pixel centre.
    Center,
    /// Somewhere inside both pixel and primitive.
    Centroid,
    /// Each sample.
    Sample,
}

/// Clip and cull distances of a vertex, together: two rows of four (Vulkan's maxCombinedClipAndCullDistances).
pub const MOST_DISTANCES: u8 = 8;

/// Values that the pipeline makes or takes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// Vertex: index with the base added.
    VertexIndex,
    /// Vertex: instance with the first added.
    InstanceIndex,
    /// Vertex: the base alone (SPIR-V).
    BaseVertex,
    /// Vertex: the first instance alone (SPIR-V).
    BaseInstance,
    /// Vertex: which draw of a multi-draw (SPIR-V).
    DrawIndex,
    /// Vertex output: clip position, four f32. Fragment input: x, y, z, 1/w.
    Position,
    /// Vertex output: point size (SPIR-V).
    PointSize,
    /// Vertex output: clip distances, with the number of the first component's.
    ClipDistance(u8),
    /// Vertex output: cull distances; they are numbered behind the clip distances.
    CullDistance(u8),
    /// Vertex output: what transform feedback captures, with its number in the pipeline's list. Back ends make it.
    Streamed(u8),
    /// Fragment input: u32 truth value.
    FrontFacing,
    /// Fragment input: sample number.
    SampleIndex,
    /// Fragment input: where the sample lies in the pixel, two f32 from 0 to 1 (SPIR-V).
    SamplePosition,
    /// Fragment input and output: coverage.
    SampleMask,
    /// Fragment output: depth.
    FragDepth,
    /// Fragment output: what the stencil test refers to, its low 8 bits (SPIR-V).
    StencilRef,
    /// Fragment input, geometry input and output: primitive number.
    PrimitiveIndex,
    /// Geometry: which invocation of its primitive.
    InvocationIndex,
    /// Fragment input: position within a point (SPIR-V).
    PointCoord,
    /// Fragment input: view number.
    ViewIndex,
    /// Vertex output and fragment input: layer of the framebuffer (SPIR-V).
    Layer,
    /// Compute: three u32.
    GlobalInvocationId,
    /// Compute: three u32.
    LocalInvocationId,
    /// Compute: u32.
    LocalInvocationIndex,
    /// Compute: three u32.
    WorkgroupId,
    /// Compute: three u32.
    NumWorkgroups,
    /// Lanes of a subgroup.
    SubgroupSize,
    /// Lane within the subgroup.
    SubgroupInvocationId,
    /// Subgroups in a workgroup.
    NumSubgroups,
    /// Subgroup within the workgroup.
    SubgroupId,
}

impl Builtin {
    /// Components of its value.
    pub const fn components(self) -> u8 {
        match self {
            Builtin::Position
            | Builtin::ClipDistance(_)
            | Builtin::CullDistance(_)
            | Builtin::Streamed(_) => 4,
            Builtin::GlobalInvocationId
            | Builtin::LocalInvocationId
            | Builtin::WorkgroupId
            | Builtin::NumWorkgroups => 3,
            Builtin::PointCoord | Builtin::SamplePosition => 2,
            _ => 1,
        }
    }
}

/// Which input.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// Made by the pipeline.
    Builtin(Builtin),
    /// A user varying or vertex attribute.
    Location {
        /// Location.
        location: u32,
        /// How it varies (fragment only).
        interpolation: Interpolation,
        /// Where it is taken (fragment only).
        sampling: Sampling,
    },
    /// Geometry: what the vertex stage gave for a vertex of the primitive.
    Corner {
        /// Which vertex, below [`Corners::count`](super::Corners::count).
        vertex: u8,
        /// What of it.
        part: Part,
    },
}

/// What a vertex program gives a geometry program.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Position, point size, clip or cull distances.
    Builtin(Builtin),
    /// A user varying, by its location.
    Location(u32),
}

/// A stage input of up to four components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputData {
    /// Which.
    pub kind: InputKind,
    /// Components, 1..=4.
    pub components: u8,
    /// How its bits are read.
    pub scalar: Scalar,
    /// Source name.
    pub name: String,
}

/// Which output.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum OutputKind {
    /// Taken by the pipeline.
    Builtin(Builtin),
    /// A varying or colour target.
    Location {
        /// Location.
        location: u32,
        /// Dual-source blending: 1 for the second source.
        blend_src: u8,
        /// Vertex: how the fragment stage reads it.
        interpolation: Interpolation,
    },
}

/// A stage output of up to four components. Components are written at most once per execution, in a geometry program any
/// number of times: each vertex takes what was written last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputData {
    /// Which.
    pub kind: OutputKind,
    /// Components, 1..=4.
    pub components: u8,
    /// How its bits are read.
    pub scalar: Scalar,
    /// Source name.
    pub name: String,
}

/// What an atomic does with the word in memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Reads; no operand beside the address.
    Load,
    /// Writes the operand; no result.
    Store,
    /// Adds.
    Add,
    /// Subtracts.
    Sub,
    /// And.
    And,
    /// Or.
    Or,
    /// Exclusive or.
    Xor,
    /// Signed minimum.
    SMin,
    /// Signed maximum.
    SMax,
    /// Unsigned minimum.
    UMin,
    /// Unsigned maximum.
    UMax,
    /// Adds f32.
    FAdd,
    /// Minimum of f32.
    FMin,
    /// Maximum of f32.
    FMax,
    /// Exchanges.
    Exchange,
    /// Operands: compare, value. Result: the old word.
    CompareExchange,
}

/// Which lane of the subgroup a `shuffle` reads. All but `First` take a number.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// The lowest active lane.
    First,
    /// The lane of that number.
    Lane,
    /// The own number less that.
    Up,
    /// The own number and that.
    Down,
    /// The own number with these bits flipped.
    Xor,
    /// The lane of that number within the own four.
    Quad,
    /// The lane of that number, below the machine's size of subgroups; zeros where it is not active.
    OrZero,
}

/// Which lanes a `reduce` combines.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scan {
    /// All that are active.
    All,
    /// Those up to the own.
    Inclusive,
    /// Those before the own; the operation's identity where there are none.
    Exclusive,
}

/// What a `tex` instruction does. Operand order is given at [`super::Op::Tex`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum TexKind {
    /// Level of detail from the quad's derivatives.
    Sample,
    /// The same with a bias.
    SampleBias,
    /// Explicit level.
    SampleLevel,
    /// Explicit gradients.
    SampleGrad,
    /// Clamped to half a texel from the edge, level 0.
    SampleBaseClampToEdge,
    /// Four texels of one component: (0,1) (1,1) (1,0) (0,0).
    Gather,
    /// One texel by integer coordinates and level (or sample).
    Load,
    /// The level that `Sample` would take from the quad's derivatives (Vulkan, 16.5.7): after its clamps, before them, and
    /// two zeros.
    QueryLevel,
}

/// Constant texel offsets, on each axis: what every API guarantees, and what machines have fields for.
pub const TEXEL_OFFSETS: std::ops::RangeInclusive<i8> = -8..=7;

/// A texture instruction's fixed part.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct TexOp {
    /// What it does.
    pub kind: TexKind,
    /// The texture (for `Load` also a storage texture).
    pub texture: Resource,
    /// The sampler; none for `Load`.
    pub sampler: PackedOption<Resource>,
    /// Compares with a reference operand; the result is one value (four for `Gather`).
    pub compare: bool,
    /// `Gather`: the component.
    pub component: u8,
    /// Constant texel offset: each of [`TEXEL_OFFSETS`].
    pub offset: [i8; 3],
    /// The coordinates of a cube are on a face already: see [`super::Op::Tex`].
    pub projected: bool,
    /// The coordinates are a texel's centre, and that texel of level 0 is the result: filters and levels of the sampler do not
    /// count, but its wraps, its border and its comparison do.
    pub texel: bool,
}

/// What a `tex_query` asks.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum TexQuery {
    /// Size in texels at a level (operand: level, absent for multisampled and storage): one to three results.
    Size,
    /// Mip levels.
    Levels,
    /// Array layers.
    Layers,
    /// Samples per texel.
    Samples,
    /// A word of a sampler (operand: its number, a constant), for machines that do by arithmetic what no message of theirs does:
    /// 0 the modes ([`sampler_modes`]), 1 to 3 the least and the largest level and the bias (f32), 4 to 7 the border.
    Sampler,
}

/// Bits of the first word of a sampler, see [`TexQuery::Sampler`].
pub mod sampler_modes {
    /// Holds where the reference is less than the texel; the bits behind it where it is equal, greater, and where one is a NaN.
    pub const LESS: u32 = 1;
    /// The magnifying filter is linear.
    pub const MAG_LINEAR: u32 = 1 << 4;
    /// The minifying filter is linear.
    pub const MIN_LINEAR: u32 = 1 << 5;
    /// Levels are mixed.
    pub const MIP_LINEAR: u32 = 1 << 6;
    /// Level 0 alone.
    pub const MIP_NONE: u32 = 1 << 7;
    /// The first bit of the first axis' mode; each axis has [`WRAP_BITS`]. The two below [`BORDER`] are one of the numbers that
    /// follow, or 0.
    pub const WRAP: u32 = 8;
    /// See [`WRAP`].
    pub const WRAP_BITS: u32 = 3;
    /// Texels start again.
    pub const REPEATS: u32 = 1;
    /// They go back and forth.
    pub const MIRRORS: u32 = 2;
    /// They are mirrored once at 0.
    pub const MIRRORS_ONCE: u32 = 3;
    /// The border colour is outside, and else the nearest texel.
    pub const BORDER: u32 = 4;
}
