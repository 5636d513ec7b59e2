//! Built-in variables of vertex, geometry, fragment and compute shaders: those of today, and the fixed pipeline's.

use super::types::{Member, Ty, Types, named};
use crate::lower::Result;
use crate::lower::ballot::Mask;
use crate::lower::located::DISTANCES;
use crate::stop::Stop;
use gpucc_ir::ssa::{Builtin, Stage};

/// What a built-in variable is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A built-in value of the machine.
    In(Builtin),
    Out(Builtin),
    /// True in lanes that only help.
    Helper,
    /// One bit for each lane of the subgroup: those whose numbers compare so with the own one.
    Mask(Mask),
    WorkgroupSize,
    /// There is one device.
    Zero,
    /// An input of old vertex shaders, or what they handed on.
    Attribute,
    Varying,
    /// The vertices of the primitive, with all that is built in.
    Vertices,
    /// Distances of the vertices, which fragments find at this location.
    Distances(u32),
    /// The colours of old fragment shaders.
    Colour,
    /// What the planes of the fixed pipeline clip by.
    ClipVertex,
    /// Uniform state of the fixed pipeline.
    State,
    /// A constant.
    Number(i64),
    /// Known, and not read; an input, or an output.
    Lacking,
    LackingOut,
}

/// A built-in variable.
#[derive(Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: &'static str,
    /// Its type, or that of its elements.
    pub ty: &'static str,
    /// Elements; 0 for what is no array.
    pub length: u32,
    pub what: What,
    pub stages: &'static [Stage],
}

const V: &[Stage] = &[Stage::Vertex];
const F: &[Stage] = &[Stage::Fragment];
const C: &[Stage] = &[Stage::Compute];
const VF: &[Stage] = &[Stage::Vertex, Stage::Fragment];
const G: &[Stage] = &[Stage::Geometry];
const VG: &[Stage] = &[Stage::Vertex, Stage::Geometry];
const ALL: &[Stage] = &[Stage::Vertex, Stage::Geometry, Stage::Fragment, Stage::Compute];

macro_rules! table {
    ($($name:literal $ty:literal $length:literal $what:expr, $stages:expr;)*) => {
        &[$(Variable { name: $name, ty: $ty, length: $length, what: $what, stages: $stages }),*]
    };
}

use What::{Attribute, Colour, In, Lacking, LackingOut, Number, Out, State, Varying};

/// Every built-in variable. What is placed without the text's help is placed in this order.
pub static VARIABLES: &[Variable] = table! {
    "gl_Vertex" "vec4" 0 Attribute, V;
    "gl_Normal" "vec3" 0 Attribute, V;
    "gl_Color" "vec4" 0 Attribute, V;
    "gl_SecondaryColor" "vec4" 0 Attribute, V;
    "gl_FogCoord" "float" 0 Attribute, V;
    "gl_MultiTexCoord0" "vec4" 0 Attribute, V;
    "gl_MultiTexCoord1" "vec4" 0 Attribute, V;
    "gl_MultiTexCoord2" "vec4" 0 Attribute, V;
    "gl_MultiTexCoord3" "vec4" 0 Attribute, V;
    "gl_MultiTexCoord4" "vec4" 0 Attribute, V;
    "gl_MultiTexCoord5" "vec4" 0 Attribute, V;
    "gl_MultiTexCoord6" "vec4" 0 Attribute, V;
    "gl_MultiTexCoord7" "vec4" 0 Attribute, V;
    "gl_FrontColor" "vec4" 0 Varying, V;
    "gl_Color" "vec4" 0 Varying, F;
    "gl_FrontSecondaryColor" "vec4" 0 Varying, V;
    "gl_SecondaryColor" "vec4" 0 Varying, F;
    "gl_FogFragCoord" "float" 0 Varying, VF;
    "gl_TexCoord" "vec4" 8 Varying, VF;
    "gl_BackColor" "vec4" 0 Varying, V;
    "gl_BackSecondaryColor" "vec4" 0 Varying, V;
    "gl_ClipVertex" "vec4" 0 What::ClipVertex, V;
    "gl_FragColor" "vec4" 0 Colour, F;
    "gl_FragData" "vec4" 8 Colour, F;
    "gl_SecondaryFragColorEXT" "vec4" 0 Colour, F;
    "gl_LastFragData" "vec4" 8 Lacking, F;
    "gl_ModelViewProjectionMatrix" "mat4" 0 State, ALL;
    "gl_ModelViewMatrix" "mat4" 0 State, ALL;
    "gl_ProjectionMatrix" "mat4" 0 State, ALL;
    "gl_NormalMatrix" "mat3" 0 State, ALL;
    "gl_TextureMatrix" "mat4" 8 State, ALL;
    "gl_ModelViewMatrixInverse" "mat4" 0 State, ALL;
    "gl_ProjectionMatrixInverse" "mat4" 0 State, ALL;
    "gl_ModelViewProjectionMatrixInverse" "mat4" 0 State, ALL;
    "gl_TextureMatrixInverse" "mat4" 8 State, ALL;
    "gl_ModelViewMatrixTranspose" "mat4" 0 State, ALL;
    "gl_ProjectionMatrixTranspose" "mat4" 0 State, ALL;
    "gl_ModelViewProjectionMatrixTranspose" "mat4" 0 State, ALL;
    "gl_TextureMatrixTranspose" "mat4" 8 State, ALL;
    "gl_ModelViewMatrixInverseTranspose" "mat4" 0 State, ALL;
    "gl_ProjectionMatrixInverseTranspose" "mat4" 0 State, ALL;
    "gl_ModelViewProjectionMatrixInverseTranspose" "mat4" 0 State, ALL;
    "gl_TextureMatrixInverseTranspose" "mat4" 8 State, ALL;
    "gl_NormalScale" "float" 0 State, ALL;
    "gl_DepthRange" "gl_DepthRangeParameters" 0 State, ALL;
    "gl_ClipPlane" "vec4" 6 State, ALL;
    "gl_Point" "gl_PointParameters" 0 State, ALL;
    "gl_FrontMaterial" "gl_MaterialParameters" 0 State, ALL;
    "gl_BackMaterial" "gl_MaterialParameters" 0 State, ALL;
    "gl_LightSource" "gl_LightSourceParameters" 8 State, ALL;
    "gl_LightModel" "gl_LightModelParameters" 0 State, ALL;
    "gl_FrontLightModelProduct" "gl_LightModelProducts" 0 State, ALL;
    "gl_BackLightModelProduct" "gl_LightModelProducts" 0 State, ALL;
    "gl_FrontLightProduct" "gl_LightProducts" 8 State, ALL;
    "gl_BackLightProduct" "gl_LightProducts" 8 State, ALL;
    "gl_TextureEnvColor" "vec4" 8 State, ALL;
    "gl_EyePlaneS" "vec4" 8 State, ALL;
    "gl_EyePlaneT" "vec4" 8 State, ALL;
    "gl_EyePlaneR" "vec4" 8 State, ALL;
    "gl_EyePlaneQ" "vec4" 8 State, ALL;
    "gl_ObjectPlaneS" "vec4" 8 State, ALL;
    "gl_ObjectPlaneT" "vec4" 8 State, ALL;
    "gl_ObjectPlaneR" "vec4" 8 State, ALL;
    "gl_ObjectPlaneQ" "vec4" 8 State, ALL;
    "gl_Fog" "gl_FogParameters" 0 State, ALL;
    "gl_NumSamples" "int" 0 State, F;
    "gl_VertexID" "int" 0 In(Builtin::VertexIndex), V;
    "gl_VertexIndex" "int" 0 In(Builtin::VertexIndex), V;
    "gl_InstanceID" "int" 0 In(Builtin::InstanceIndex), V;
    "gl_InstanceIDARB" "int" 0 In(Builtin::InstanceIndex), V;
    "gl_InstanceIndex" "int" 0 In(Builtin::InstanceIndex), V;
    "gl_BaseVertex" "int" 0 In(Builtin::BaseVertex), V;
    "gl_BaseVertexARB" "int" 0 In(Builtin::BaseVertex), V;
    "gl_BaseInstance" "int" 0 In(Builtin::BaseInstance), V;
    "gl_BaseInstanceARB" "int" 0 In(Builtin::BaseInstance), V;
    "gl_DrawID" "int" 0 In(Builtin::DrawIndex), V;
    "gl_DrawIDARB" "int" 0 In(Builtin::DrawIndex), V;
    "gl_Position" "vec4" 0 Out(Builtin::Position), VG;
    "gl_PointSize" "float" 0 Out(Builtin::PointSize), VG;
    "gl_ClipDistance" "float" 8 Out(Builtin::ClipDistance(0)), VG;
    "gl_CullDistance" "float" 8 Out(Builtin::CullDistance(0)), VG;
    "gl_Layer" "int" 0 Out(Builtin::Layer), V;
    "gl_ViewportIndex" "int" 0 LackingOut, VG;
    "gl_ViewportMask" "int" 1 LackingOut, VG;
    "gl_PrimitiveShadingRateEXT" "int" 0 LackingOut, V;
    "gl_Layer" "int" 0 LackingOut, G;
    "gl_in" "gl_PerVertex" 0 What::Vertices, G;
    "gl_PrimitiveIDIn" "int" 0 In(Builtin::PrimitiveIndex), G;
    "gl_InvocationID" "int" 0 In(Builtin::InvocationIndex), G;
    "gl_PrimitiveID" "int" 0 Out(Builtin::PrimitiveIndex), G;
    "gl_FragCoord" "vec4" 0 In(Builtin::Position), F;
    "gl_FrontFacing" "bool" 0 In(Builtin::FrontFacing), F;
    "gl_PointCoord" "vec2" 0 In(Builtin::PointCoord), F;
    "gl_SampleID" "int" 0 In(Builtin::SampleIndex), F;
    "gl_SamplePosition" "vec2" 0 In(Builtin::SamplePosition), F;
    "gl_SampleMaskIn" "int" 1 In(Builtin::SampleMask), F;
    "gl_PrimitiveID" "int" 0 In(Builtin::PrimitiveIndex), F;
    "gl_HelperInvocation" "bool" 0 What::Helper, F;
    "gl_Layer" "int" 0 In(Builtin::Layer), F;
    "gl_ViewportIndex" "int" 0 Lacking, F;
    "gl_ShadingRateEXT" "int" 0 Lacking, F;
    "gl_FragSizeEXT" "ivec2" 0 Lacking, F;
    "gl_FragInvocationCountEXT" "int" 0 Lacking, F;
    "gl_FullyCoveredEXT" "bool" 0 Lacking, F;
    "gl_FragFullyCoveredNV" "bool" 0 Lacking, F;
    "gl_BaryCoordEXT" "vec3" 0 Lacking, F;
    "gl_BaryCoordNV" "vec3" 0 Lacking, F;
    "gl_BaryCoordNoPerspEXT" "vec3" 0 Lacking, F;
    "gl_BaryCoordNoPerspNV" "vec3" 0 Lacking, F;
    "gl_BaryCoordSmoothAMD" "vec2" 0 Lacking, F;
    "gl_BaryCoordNoPerspAMD" "vec2" 0 Lacking, F;
    "gl_BaryCoordNoPerspCentroidAMD" "vec2" 0 Lacking, F;
    "gl_BaryCoordNoPerspSampleAMD" "vec2" 0 Lacking, F;
    "gl_BaryCoordSmoothCentroidAMD" "vec2" 0 Lacking, F;
    "gl_BaryCoordSmoothSampleAMD" "vec2" 0 Lacking, F;
    "gl_BaryCoordPullModelAMD" "vec3" 0 Lacking, F;
    "gl_ClipDistance" "float" 8 What::Distances(DISTANCES[0]), F;
    "gl_CullDistance" "float" 8 What::Distances(DISTANCES[1]), F;
    "gl_FragDepth" "float" 0 Out(Builtin::FragDepth), F;
    "gl_FragDepthEXT" "float" 0 Out(Builtin::FragDepth), F;
    "gl_SampleMask" "int" 1 Out(Builtin::SampleMask), F;
    "gl_FragStencilRefARB" "int" 0 Out(Builtin::StencilRef), F;
    "gl_ViewIndex" "int" 0 In(Builtin::ViewIndex), VF;
    "gl_ViewID_OVR" "uint" 0 In(Builtin::ViewIndex), VF;
    "gl_DeviceIndex" "int" 0 What::Zero, ALL;
    "gl_NumWorkGroups" "uvec3" 0 In(Builtin::NumWorkgroups), C;
    "gl_WorkGroupID" "uvec3" 0 In(Builtin::WorkgroupId), C;
    "gl_LocalInvocationID" "uvec3" 0 In(Builtin::LocalInvocationId), C;
    "gl_GlobalInvocationID" "uvec3" 0 In(Builtin::GlobalInvocationId), C;
    "gl_LocalInvocationIndex" "uint" 0 In(Builtin::LocalInvocationIndex), C;
    "gl_WorkGroupSize" "uvec3" 0 What::WorkgroupSize, C;
    "gl_LocalGroupSizeARB" "uvec3" 0 Lacking, C;
    "gl_NumSubgroups" "uint" 0 In(Builtin::NumSubgroups), C;
    "gl_SubgroupID" "uint" 0 In(Builtin::SubgroupId), C;
    "gl_SubgroupSize" "uint" 0 In(Builtin::SubgroupSize), ALL;
    "gl_SubGroupSizeARB" "uint" 0 In(Builtin::SubgroupSize), ALL;
    "gl_SubgroupInvocationID" "uint" 0 In(Builtin::SubgroupInvocationId), ALL;
    "gl_SubGroupInvocationARB" "uint" 0 In(Builtin::SubgroupInvocationId), ALL;
    "gl_SubgroupEqMask" "uvec4" 0 What::Mask(Mask::Equal), ALL;
    "gl_SubgroupLtMask" "uvec4" 0 What::Mask(Mask::Less), ALL;
    "gl_SubgroupLeMask" "uvec4" 0 What::Mask(Mask::LessEqual), ALL;
    "gl_SubgroupGtMask" "uvec4" 0 What::Mask(Mask::Greater), ALL;
    "gl_SubgroupGeMask" "uvec4" 0 What::Mask(Mask::GreaterEqual), ALL;
    "gl_SubGroupEqMaskARB" "uint64_t" 0 What::Mask(Mask::Equal), ALL;
    "gl_SubGroupLtMaskARB" "uint64_t" 0 What::Mask(Mask::Less), ALL;
    "gl_SubGroupLeMaskARB" "uint64_t" 0 What::Mask(Mask::LessEqual), ALL;
    "gl_SubGroupGtMaskARB" "uint64_t" 0 What::Mask(Mask::Greater), ALL;
    "gl_SubGroupGeMaskARB" "uint64_t" 0 What::Mask(Mask::GreaterEqual), ALL;
    "gl_MaxVertexAttribs" "int" 0 Number(16), ALL;
    "gl_MaxVertexUniformComponents" "int" 0 Number(1024), ALL;
    "gl_MaxVertexUniformVectors" "int" 0 Number(256), ALL;
    "gl_MaxVaryingComponents" "int" 0 Number(60), ALL;
    "gl_MaxVaryingVectors" "int" 0 Number(15), ALL;
    "gl_MaxVaryingFloats" "int" 0 Number(60), ALL;
    "gl_MaxVertexOutputComponents" "int" 0 Number(64), ALL;
    "gl_MaxVertexOutputVectors" "int" 0 Number(16), ALL;
    "gl_MaxGeometryInputComponents" "int" 0 Number(64), ALL;
    "gl_MaxGeometryOutputComponents" "int" 0 Number(128), ALL;
    "gl_MaxGeometryOutputVertices" "int" 0 Number(256), ALL;
    "gl_MaxGeometryTotalOutputComponents" "int" 0 Number(1024), ALL;
    "gl_MaxGeometryUniformComponents" "int" 0 Number(1024), ALL;
    "gl_MaxGeometryTextureImageUnits" "int" 0 Number(16), ALL;
    "gl_MaxFragmentInputComponents" "int" 0 Number(128), ALL;
    "gl_MaxFragmentInputVectors" "int" 0 Number(15), ALL;
    "gl_MaxVertexTextureImageUnits" "int" 0 Number(16), ALL;
    "gl_MaxCombinedTextureImageUnits" "int" 0 Number(80), ALL;
    "gl_MaxTextureImageUnits" "int" 0 Number(16), ALL;
    "gl_MaxTextureUnits" "int" 0 Number(8), ALL;
    "gl_MaxTextureCoords" "int" 0 Number(8), ALL;
    "gl_MaxLights" "int" 0 Number(8), ALL;
    "gl_MaxClipPlanes" "int" 0 Number(6), ALL;
    "gl_MaxClipDistances" "int" 0 Number(8), ALL;
    "gl_MaxCullDistances" "int" 0 Number(8), ALL;
    "gl_MaxCombinedClipAndCullDistances" "int" 0 Number(8), ALL;
    "gl_MaxFragmentUniformComponents" "int" 0 Number(1024), ALL;
    "gl_MaxFragmentUniformVectors" "int" 0 Number(256), ALL;
    "gl_MaxDrawBuffers" "int" 0 Number(8), ALL;
    "gl_MaxDualSourceDrawBuffersEXT" "int" 0 Number(1), ALL;
    "gl_MaxSamples" "int" 0 Number(4), ALL;
    "gl_MinProgramTexelOffset" "int" 0 Number(-8), ALL;
    "gl_MaxProgramTexelOffset" "int" 0 Number(7), ALL;
    "gl_MaxViewports" "int" 0 Number(16), ALL;
    "gl_MaxImageUnits" "int" 0 Number(8), ALL;
    "gl_MaxImageSamples" "int" 0 Number(0), ALL;
    "gl_MaxVertexImageUniforms" "int" 0 Number(0), ALL;
    "gl_MaxTessControlImageUniforms" "int" 0 Number(0), ALL;
    "gl_MaxTessEvaluationImageUniforms" "int" 0 Number(0), ALL;
    "gl_MaxGeometryImageUniforms" "int" 0 Number(0), ALL;
    "gl_MaxFragmentImageUniforms" "int" 0 Number(8), ALL;
    "gl_MaxComputeImageUniforms" "int" 0 Number(8), ALL;
    "gl_MaxCombinedImageUniforms" "int" 0 Number(8), ALL;
    "gl_MaxCombinedShaderOutputResources" "int" 0 Number(16), ALL;
    "gl_MaxCombinedImageUnitsAndFragmentOutputs" "int" 0 Number(8), ALL;
    "gl_MaxComputeUniformComponents" "int" 0 Number(1024), ALL;
    "gl_MaxComputeTextureImageUnits" "int" 0 Number(16), ALL;
    "gl_MaxComputeAtomicCounters" "int" 0 Number(8), ALL;
    "gl_MaxComputeAtomicCounterBuffers" "int" 0 Number(8), ALL;
    "gl_MaxVertexAtomicCounters" "int" 0 Number(0), ALL;
    "gl_MaxTessControlAtomicCounters" "int" 0 Number(0), ALL;
    "gl_MaxTessEvaluationAtomicCounters" "int" 0 Number(0), ALL;
    "gl_MaxGeometryAtomicCounters" "int" 0 Number(0), ALL;
    "gl_MaxFragmentAtomicCounters" "int" 0 Number(8), ALL;
    "gl_MaxCombinedAtomicCounters" "int" 0 Number(8), ALL;
    "gl_MaxAtomicCounterBindings" "int" 0 Number(1), ALL;
    "gl_MaxVertexAtomicCounterBuffers" "int" 0 Number(0), ALL;
    "gl_MaxTessControlAtomicCounterBuffers" "int" 0 Number(0), ALL;
    "gl_MaxTessEvaluationAtomicCounterBuffers" "int" 0 Number(0), ALL;
    "gl_MaxGeometryAtomicCounterBuffers" "int" 0 Number(0), ALL;
    "gl_MaxFragmentAtomicCounterBuffers" "int" 0 Number(1), ALL;
    "gl_MaxCombinedAtomicCounterBuffers" "int" 0 Number(1), ALL;
    "gl_MaxAtomicCounterBufferSize" "int" 0 Number(32), ALL;
    "gl_MaxTransformFeedbackBuffers" "int" 0 Number(4), ALL;
    "gl_MaxTransformFeedbackInterleavedComponents" "int" 0 Number(64), ALL;
    "gl_ShadingRateFlag2VerticalPixelsEXT" "int" 0 Number(1), ALL;
    "gl_ShadingRateFlag4VerticalPixelsEXT" "int" 0 Number(2), ALL;
    "gl_ShadingRateFlag2HorizontalPixelsEXT" "int" 0 Number(4), ALL;
    "gl_ShadingRateFlag4HorizontalPixelsEXT" "int" 0 Number(8), ALL;
    "gl_ScopeDevice" "int" 0 Number(1), ALL;
    "gl_ScopeWorkgroup" "int" 0 Number(2), ALL;
    "gl_ScopeSubgroup" "int" 0 Number(3), ALL;
    "gl_ScopeInvocation" "int" 0 Number(4), ALL;
    "gl_ScopeQueueFamily" "int" 0 Number(5), ALL;
    "gl_SemanticsRelaxed" "int" 0 Number(0), ALL;
    "gl_SemanticsAcquire" "int" 0 Number(2), ALL;
    "gl_SemanticsRelease" "int" 0 Number(4), ALL;
    "gl_SemanticsAcquireRelease" "int" 0 Number(8), ALL;
    "gl_SemanticsMakeAvailable" "int" 0 Number(0x2000), ALL;
    "gl_SemanticsMakeVisible" "int" 0 Number(0x4000), ALL;
    "gl_SemanticsVolatile" "int" 0 Number(0x8000), ALL;
    "gl_StorageSemanticsNone" "int" 0 Number(0), ALL;
    "gl_StorageSemanticsBuffer" "int" 0 Number(0x40), ALL;
    "gl_StorageSemanticsShared" "int" 0 Number(0x100), ALL;
    "gl_StorageSemanticsImage" "int" 0 Number(0x800), ALL;
    "gl_StorageSemanticsOutput" "int" 0 Number(0x1000), ALL;
};

/// The built-in variable of a name in a stage.
pub fn find(name: &str, stage: Stage) -> Option<&'static Variable> {
    VARIABLES.iter().find(|variable| variable.name == name && variable.stages.contains(&stage))
}

/// Structures of the fixed pipeline's state.
const STRUCTURES: [(&str, &[(&str, &str)]); 8] = [
    ("gl_DepthRangeParameters", &[("near", "float"), ("far", "float"), ("diff", "float")]),
    (
        "gl_PointParameters",
        &[
            ("size", "float"),
            ("sizeMin", "float"),
            ("sizeMax", "float"),
            ("fadeThresholdSize", "float"),
            ("distanceConstantAttenuation", "float"),
            ("distanceLinearAttenuation", "float"),
            ("distanceQuadraticAttenuation", "float"),
        ],
    ),
    (
        "gl_MaterialParameters",
        &[
            ("emission", "vec4"),
            ("ambient", "vec4"),
            ("diffuse", "vec4"),
            ("specular", "vec4"),
            ("shininess", "float"),
        ],
    ),
    (
        "gl_LightSourceParameters",
        &[
            ("ambient", "vec4"),
            ("diffuse", "vec4"),
            ("specular", "vec4"),
            ("position", "vec4"),
            ("halfVector", "vec4"),
            ("spotDirection", "vec3"),
            ("spotExponent", "float"),
            ("spotCutoff", "float"),
            ("spotCosCutoff", "float"),
            ("constantAttenuation", "float"),
            ("linearAttenuation", "float"),
            ("quadraticAttenuation", "float"),
        ],
    ),
    ("gl_LightModelParameters", &[("ambient", "vec4")]),
    ("gl_LightModelProducts", &[("sceneColor", "vec4")]),
    ("gl_LightProducts", &[("ambient", "vec4"), ("diffuse", "vec4"), ("specular", "vec4")]),
    (
        "gl_FogParameters",
        &[
            ("color", "vec4"),
            ("density", "float"),
            ("start", "float"),
            ("end", "float"),
            ("scale", "float"),
        ],
    ),
];

/// Members of a vertex of the primitive, in their order (GLSL 4.60, 7.1.4).
pub const OF_VERTICES: [&str; 4] =
    ["gl_Position", "gl_PointSize", "gl_ClipDistance", "gl_CullDistance"];

/// The type of `gl_in` with so many vertices. How many distances there are, the text says later.
pub fn vertices(types: &mut Types, count: u32) -> Result<Ty> {
    const NAME: &str = "gl_PerVertex";
    let vertex = match types.of_name(NAME) {
        Some(vertex) => vertex,
        None => {
            let distances = types.array_of(super::types::FLOAT, None)?;
            let vector = Ty::Vector(naga::Scalar::F32, 4);
            let all = [vector, super::types::FLOAT, distances, distances];
            let members = OF_VERTICES.into_iter().zip(all);
            types.add(NAME, members.map(|(name, ty)| Member::new(name, ty)).collect())?
        }
    };
    types.array_of(vertex, Some(count))
}

/// The type of a built-in variable, array or not.
pub fn type_of(variable: &Variable, types: &mut Types) -> Result<Ty> {
    let base = match named(variable.ty) {
        Some(ty) => ty,
        None => structure(variable.ty, types)?
            .ok_or_else(|| Stop::internal("a built-in variable of no type"))?,
    };
    match variable.length {
        0 => Ok(base),
        length => types.array_of(base, Some(length)),
    }
}

/// A structure of the fixed pipeline's state by its name.
pub fn structure(name: &str, types: &mut Types) -> Result<Option<Ty>> {
    let Some((_, members)) = STRUCTURES.iter().find(|(own, _)| *own == name) else {
        return Ok(None);
    };
    if let Some(ty) = types.of_name(name) {
        return Ok(Some(ty));
    }
    let member = |&(name, ty): &(&str, &str)| named(ty).map(|ty| Member::new(name, ty));
    let members: Option<Vec<Member>> = members.iter().map(member).collect();
    let members = members.ok_or_else(|| Stop::internal("a member of no type"))?;
    types.add(name, members).map(Some)
}
