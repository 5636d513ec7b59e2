//! Words that the reports and failures of all machines share.

use crate::{Diagnostic, Failure, FailureKind};
use gpucc_ir::driver;
use gpucc_ir::ssa::{
    Builtin, Func, Input, InputKind, Interpolation, Output, OutputKind, Resource, ResourceKind,
};
use serde_json::{Map, Value, json};

/// Whole numbers without a fraction.
pub fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        (value as i64).into()
    } else {
        value.into()
    }
}

/// A binding in reports, with its places of the machine.
pub fn resource(func: &Func, resource: Resource, places: Map<String, Value>) -> Value {
    let data = &func.resources[resource];
    json!({
        "group": data.group,
        "binding": data.binding,
        "kind": kind(&data.kind),
        "name": data.name,
        "slot": places,
    })
}

/// An input in reports: what it is, without its place.
pub fn input(func: &Func, input: Input) -> Map<String, Value> {
    let data = &func.inputs[input];
    let what = match data.kind {
        InputKind::Builtin(which) => ("builtin", builtin(which).into()),
        InputKind::Location { location, .. } => ("location", location.into()),
    };
    variable(what, &data.name, data.components.into())
}

/// An output in reports, of which `components` have a place: what it is, without its place.
pub fn output(func: &Func, output: Output, components: Value) -> Map<String, Value> {
    let data = &func.outputs[output];
    let what = match data.kind {
        OutputKind::Builtin(which) => ("builtin", builtin(which).into()),
        OutputKind::Location { location, .. } => ("location", location.into()),
    };
    variable(what, &data.name, components)
}

fn variable((what, which): (&str, Value), name: &str, components: Value) -> Map<String, Value> {
    [
        (what.to_owned(), which),
        ("name".to_owned(), name.into()),
        ("components".to_owned(), components),
    ]
    .into_iter()
    .collect()
}

/// The name of a kind of binding in reports.
fn kind(kind: &ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Uniform { .. } => "uniform",
        ResourceKind::Storage { .. } => "storage",
        ResourceKind::Immediate { .. } => "immediate",
        ResourceKind::Texture { .. } => "texture",
        ResourceKind::StorageTexture { .. } => "storage_texture",
        ResourceKind::Sampler { .. } => "sampler",
    }
}

/// The name of a builtin in reports: WGSL's where WGSL has it.
fn builtin(builtin: Builtin) -> String {
    let name = match builtin {
        Builtin::VertexIndex => "vertex_index",
        Builtin::InstanceIndex => "instance_index",
        Builtin::BaseVertex => "base_vertex",
        Builtin::BaseInstance => "base_instance",
        Builtin::DrawIndex => "draw_index",
        Builtin::Position => "position",
        Builtin::PointSize => "point_size",
        Builtin::ClipDistance(first) => return format!("clip_distances_{first}"),
        Builtin::CullDistance(first) => return format!("cull_distances_{first}"),
        Builtin::Streamed(number) => return format!("streamed_{number}"),
        Builtin::FrontFacing => "front_facing",
        Builtin::SampleIndex => "sample_index",
        Builtin::SampleMask => "sample_mask",
        Builtin::FragDepth => "frag_depth",
        Builtin::PrimitiveIndex => "primitive_index",
        Builtin::PointCoord => "point_coord",
        Builtin::ViewIndex => "view_index",
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
    name.to_owned()
}

/// The name of a way to vary in reports.
pub const fn interpolation(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Perspective => "perspective",
        Interpolation::Linear => "linear",
        Interpolation::Flat => "flat",
    }
}

/// A back end's failure in the facade's words; `target` is the machine's name on the command line.
pub fn failure(failure: driver::Failure, target: &str) -> Failure {
    let message = failure.to_string();
    match failure {
        driver::Failure::Refused {
            feature,
            manual,
            span,
            ..
        } => Failure::new(
            FailureKind::Refused {
                feature: feature.to_owned(),
                manual: manual.to_owned(),
            },
            Diagnostic::error(message),
        )
        .at(span),
        driver::Failure::Limit {
            what,
            needed,
            available,
            hint,
            span,
        } => Failure::new(
            FailureKind::Limit {
                what: what.to_owned(),
                needed,
                available,
            },
            Diagnostic::error(format!(
                "too many {what}: {needed} needed, {available} available on {target}"
            )),
        )
        .at(span)
        .note(hint),
        driver::Failure::NotYet {
            feature,
            stage,
            span,
        } => Failure::not_yet(feature, format!("{target}: {stage}")).at(span),
        driver::Failure::Internal { pass, message } => {
            Failure::internal(format!("{target}: {pass}"), message)
        }
    }
}
