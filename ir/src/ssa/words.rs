//! The words of the text form: one name per member of every plain enumeration.

use super::{
    AtomicOp, Builtin, Corners, Dim, Emits, Interpolation, MemSpace, SampleType, Sampling, Scalar,
    Scan, Shuffle, Stage, TexKind, TexQuery, TexelFormat, Type,
};

macro_rules! words {
    ($( $ty:ident { $( $variant:ident $word:literal, )+ } )+) => { $(
        impl $ty {
            /// Every member, in declaration order.
            pub const ALL: &'static [$ty] = &[ $( $ty::$variant, )+ ];
            /// The word of the text form.
            pub const fn word(self) -> &'static str {
                match self { $( $ty::$variant => $word, )+ }
            }
            /// The member with this word.
            pub fn by_word(word: &str) -> Option<$ty> {
                $ty::ALL.iter().copied().find(|member| member.word() == word)
            }
        }
    )+ };
}

words! {
    Type { B1 "b1", B16 "b16", B32 "b32", B64 "b64", }
    Stage { Vertex "vertex", Fragment "fragment", Compute "compute", Geometry "geometry", }
    Corners {
        Points "points", Lines "lines", LinesAdjacency "lines_adjacency", Triangles "triangles",
        TrianglesAdjacency "triangles_adjacency",
    }
    Emits { Points "points", LineStrip "line_strip", TriangleStrip "triangle_strip", }
    MemSpace { Private "private", Workgroup "workgroup", Constant "constant", }
    Scalar { F32 "f32", I32 "i32", U32 "u32", F16 "f16", Bool "bool", }
    SampleType { Float "float", Sint "sint", Uint "uint", Depth "depth", }
    Dim { D1 "d1", D2 "d2", D3 "d3", Cube "cube", }
    Interpolation { Perspective "perspective", Linear "linear", Flat "flat", }
    Sampling { Center "center", Centroid "centroid", Sample "sample", }
    AtomicOp {
        Load "load", Store "store", Add "add", Sub "sub", And "and", Or "or", Xor "xor",
        SMin "smin", SMax "smax", UMin "umin", UMax "umax", FAdd "fadd", FMin "fmin", FMax "fmax",
        Exchange "exchange", CompareExchange "compare_exchange",
    }
    TexKind {
        Sample "sample", SampleBias "bias", SampleLevel "level", SampleGrad "grad",
        SampleBaseClampToEdge "base_clamp_to_edge", Gather "gather", Load "load", QueryLevel "query_level",
    }
    Shuffle { First "first", Lane "lane", Up "up", Down "down", Xor "xor", Quad "quad", OrZero "or_zero", }
    Scan { All "all", Inclusive "inclusive", Exclusive "exclusive", }
    TexQuery { Size "size", Levels "levels", Layers "layers", Samples "samples", Sampler "sampler", }
}

/// Every built-in but the clip distances, which carry a number.
const BUILTINS: &[(Builtin, &str)] = &[
    (Builtin::VertexIndex, "vertex_index"),
    (Builtin::InstanceIndex, "instance_index"),
    (Builtin::BaseVertex, "base_vertex"),
    (Builtin::BaseInstance, "base_instance"),
    (Builtin::DrawIndex, "draw_index"),
    (Builtin::Position, "position"),
    (Builtin::PointSize, "point_size"),
    (Builtin::FrontFacing, "front_facing"),
    (Builtin::SampleIndex, "sample_index"),
    (Builtin::SamplePosition, "sample_position"),
    (Builtin::SampleMask, "sample_mask"),
    (Builtin::ClipDistance(0), "clip_distance"),
    (Builtin::CullDistance(0), "cull_distance"),
    (Builtin::Streamed(0), "streamed"),
    (Builtin::FragDepth, "frag_depth"),
    (Builtin::StencilRef, "stencil_ref"),
    (Builtin::PrimitiveIndex, "primitive_index"),
    (Builtin::InvocationIndex, "invocation_index"),
    (Builtin::PointCoord, "point_coord"),
    (Builtin::ViewIndex, "view_index"),
    (Builtin::Layer, "layer"),
    (Builtin::GlobalInvocationId, "global_invocation_id"),
    (Builtin::LocalInvocationId, "local_invocation_id"),
    (Builtin::LocalInvocationIndex, "local_invocation_index"),
    (Builtin::WorkgroupId, "workgroup_id"),
    (Builtin::NumWorkgroups, "num_workgroups"),
    (Builtin::SubgroupSize, "subgroup_size"),
    (Builtin::SubgroupInvocationId, "subgroup_invocation_id"),
    (Builtin::NumSubgroups, "num_subgroups"),
    (Builtin::SubgroupId, "subgroup_id"),
];

impl Builtin {
    /// The word of the text form; its number follows where it has one.
    pub fn word(self) -> &'static str {
        BUILTINS
            .iter()
            .find(|&&(builtin, _)| builtin == self.with_number(0))
            .map_or("", |&(_, word)| word)
    }
    /// The built-in with this word, as number 0.
    pub fn by_word(word: &str) -> Option<Builtin> {
        BUILTINS.iter().find(|&&(_, name)| name == word).map(|&(builtin, _)| builtin)
    }
    /// Which of several it is.
    pub fn number(self) -> Option<u8> {
        match self {
            Builtin::ClipDistance(number)
            | Builtin::CullDistance(number)
            | Builtin::Streamed(number) => Some(number),
            _ => None,
        }
    }
    /// The same with another number, if it has one.
    #[must_use]
    pub fn with_number(self, number: u8) -> Builtin {
        match self {
            Builtin::ClipDistance(_) => Builtin::ClipDistance(number),
            Builtin::CullDistance(_) => Builtin::CullDistance(number),
            Builtin::Streamed(_) => Builtin::Streamed(number),
            other => other,
        }
    }
}

impl TexelFormat {
    /// The formats that storage textures may have in WGSL and in SPIR-V (its names in WebGPU's
    /// spelling).
    #[rustfmt::skip]
    pub const NAMES: &'static [&'static str] = &[
        "r8unorm", "r8snorm", "r8uint", "r8sint",
        "rg8unorm", "rg8snorm", "rg8uint", "rg8sint",
        "rgba8unorm", "rgba8snorm", "rgba8uint", "rgba8sint", "bgra8unorm",
        "r16unorm", "r16snorm", "r16uint", "r16sint", "r16float",
        "rg16unorm", "rg16snorm", "rg16uint", "rg16sint", "rg16float",
        "rgba16unorm", "rgba16snorm", "rgba16uint", "rgba16sint", "rgba16float",
        "r32uint", "r32sint", "r32float", "rg32uint", "rg32sint", "rg32float",
        "rgba32uint", "rgba32sint", "rgba32float", "r64uint", "r64sint",
        "rgb10a2uint", "rgb10a2unorm", "rg11b10ufloat",
    ];
    /// Whether a texel is one word of 64 bits: loads and stores take it as two of 32, low first.
    pub fn is_wide(self) -> bool {
        matches!(self.0, "r64uint" | "r64sint")
    }
    /// The format with this WebGPU name.
    pub fn by_name(name: &str) -> Option<TexelFormat> {
        TexelFormat::NAMES.iter().find(|&&known| known == name).map(|&known| TexelFormat(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_finds_its_own_member() {
        for &member in AtomicOp::ALL {
            assert_eq!(AtomicOp::by_word(member.word()), Some(member));
        }
        for &member in TexKind::ALL {
            assert_eq!(TexKind::by_word(member.word()), Some(member));
        }
        for &(builtin, word) in BUILTINS {
            assert_eq!(builtin.word(), word);
            assert_eq!(Builtin::by_word(word), Some(builtin));
        }
        for name in TexelFormat::NAMES {
            assert_eq!(TexelFormat::by_name(name), Some(TexelFormat(name)));
        }
    }
}
