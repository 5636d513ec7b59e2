//! Words of the language in reports.

use crate::named::Name;
use gpucc_ir::ssa::Builtin;

/// The name of a builtin in reports: WGSL's where WGSL has it.
pub fn builtin(builtin: Builtin) -> Name {
    let name = match builtin {
        Builtin::VertexIndex => "vertex_index",
        Builtin::InstanceIndex => "instance_index",
        Builtin::BaseVertex => "base_vertex",
        Builtin::BaseInstance => "base_instance",
        Builtin::DrawIndex => "draw_index",
        Builtin::Position => "position",
        Builtin::PointSize => "point_size",
        Builtin::ClipDistance(first) => return format!("clip_distances_{first}").into(),
        Builtin::CullDistance(first) => return format!("cull_distances_{first}").into(),
        Builtin::Streamed(number) => return format!("streamed_{number}").into(),
        Builtin::FrontFacing => "front_facing",
        Builtin::SampleIndex => "sample_index",
        Builtin::SamplePosition => "sample_position",
        Builtin::SampleMask => "sample_mask",
        Builtin::FragDepth => "frag_depth",
        Builtin::StencilRef => "stencil_ref",
        Builtin::PrimitiveIndex => "primitive_index",
        Builtin::InvocationIndex => "invocation_index",
        Builtin::PointCoord => "point_coord",
        Builtin::ViewIndex => "view_index",
        Builtin::Layer => "layer",
        Builtin::GlobalInvocationId => "global_invocation_id",
        Builtin::LocalInvocationId => "local_invocation_id",
        Builtin::LocalInvocationIndex => "local_invocation_index",
        Builtin::WorkgroupId => "workgroup_id",
        Builtin::NumWorkgroups => "num_workgroups",
        Builtin::SubgroupSize => "subgroup_size",
        Builtin::SubgroupInvocationId => "subgroup_invocation_id",
        Builtin::NumSubgroups => "num_subgroups",
        Builtin::SubgroupId => "subgroup_id",
    };
    name.into()
}

/// Serde of an optional value by `NAMES`.
macro_rules! by_name {
    ($type:ty) => {
        use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

        pub fn serialize<S: Serializer>(
            value: &Option<$type>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            let named = |value| NAMES.iter().find(|(known, _)| *known == value);
            value.and_then(named).map(|(_, name)| name).serialize(serializer)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<$type>, D::Error> {
            let Some(text) = Option::<String>::deserialize(deserializer)? else {
                return Ok(None);
            };
            let found = NAMES.iter().find(|(_, name)| *name == text);
            let unknown = || D::Error::custom(format!("nothing is called '{text}'"));
            found.map(|&(value, _)| Some(value)).ok_or_else(unknown)
        }
    };
}

/// Names of [`Interpolation`] in reports.
pub mod ways {
    use gpucc_ir::ssa::Interpolation;

    pub const NAMES: &[(Interpolation, &str)] = &[
        (Interpolation::Perspective, "perspective"),
        (Interpolation::Linear, "linear"),
        (Interpolation::Flat, "flat"),
    ];
    by_name!(Interpolation);
}

/// Names of [`Sampling`] in reports.
pub mod spots {
    use gpucc_ir::ssa::Sampling;

    pub const NAMES: &[(Sampling, &str)] = &[
        (Sampling::Center, "center"),
        (Sampling::Centroid, "centroid"),
        (Sampling::Sample, "sample"),
    ];
    by_name!(Sampling);
}
