//! Scripts that run shaders and say what must come of it: shaders, buffers, images, pipelines, and steps in order.
//!
//! [`crate::amber`] and [`crate::vkscript`] read their texts; [`run`] does what they say.

mod draw;
pub mod formats;
mod run;
pub mod values;

use gpucc::{Failure, Robust, Stage};
use gpucc_emu::draw::{Bias, Cull, DepthState, LogicOp, Polygon, Topology};
use gpucc_emu::format::Format;
use gpucc_emu::image::Extent;
use gpucc_emu::sampler::{Compare, Sampler};
use gpucc_ir::ssa::Dim;
use indexmap::IndexMap;
use rspirv::spirv::ExecutionModel;
pub use run::{USUAL_SIZE, can_assemble, run};
use std::collections::BTreeMap;
use values::{Tolerance, Type};

/// Positions as they come.
const PASS_THROUGH: &str = "#version 450\nlayout(location = 0) in vec4 position;\n\
    void main() { gl_Position = position; }\n";

/// The vertex shader of rectangles.
pub fn pass_through() -> Shader {
    Shader { stage: Stage::Vertex, code: Code::Glsl(PASS_THROUGH.to_owned()) }
}

/// A shader of a script.
pub struct Shader {
    pub stage: Stage,
    pub code: Code,
}

/// What a shader is written in.
pub enum Code {
    Glsl(String),
    /// Text of SPIR-V, and the environment that it is for.
    SpirV {
        text: String,
        environment: Option<String>,
    },
}

/// The stage of a name; one that gpucc does not compile is SPIR-V's.
///
/// # Errors
/// There is no such stage.
pub fn stage(name: &str) -> Result<Result<Stage, ExecutionModel>, Failure> {
    use ExecutionModel as Other;
    Ok(Err(match name.replace('_', " ").as_str() {
        "vertex" => return Ok(Ok(Stage::Vertex)),
        "geometry" => return Ok(Ok(Stage::Geometry)),
        "fragment" => return Ok(Ok(Stage::Fragment)),
        "compute" => return Ok(Ok(Stage::Compute)),
        "tessellation control" => Other::TessellationControl,
        "tessellation evaluation" => Other::TessellationEvaluation,
        "ray generation" => Other::RayGenerationKHR,
        "intersection" => Other::IntersectionKHR,
        "any hit" => Other::AnyHitKHR,
        "closest hit" => Other::ClosestHitKHR,
        "miss" => Other::MissKHR,
        "call" => Other::CallableKHR,
        _ => return Err(unknown(name)),
    }))
}

/// What a name stands for as the script begins.
pub enum Buffer {
    /// Values. The name is that of a Vulkan format, where the script says one.
    Values { ty: Type, format: Option<String>, bytes: Vec<u8> },
    /// Texels, and what they are as values; of the size of the framebuffer that it is part of where it has none of its own.
    Image {
        ty: Type,
        format: Format,
        size: Option<Extent>,
        levels: u32,
        samples: u32,
        bytes: Option<Vec<u8>>,
    },
}

/// Buffers at a place.
#[derive(Clone)]
pub struct Binding {
    /// Descriptor set and number; none for the immediates.
    pub place: Option<(u32, u32)>,
    /// Several for an array.
    pub buffers: Vec<String>,
    /// Bytes of the buffer in front.
    pub offset: usize,
    /// Looks into an image at the same place.
    pub sampler: Option<String>,
}

/// A shader as a pipeline has it.
#[derive(Clone)]
pub struct Attached {
    pub shader: String,
    pub entry: Option<String>,
    pub constants: BTreeMap<String, f64>,
}

/// A buffer that vertices come from, element by element.
#[derive(Clone)]
pub struct Attribute {
    pub location: u32,
    pub buffer: String,
    /// By its WebGPU name.
    pub format: &'static str,
    /// Bytes from one element to the next.
    pub stride: u32,
}

/// An image that is drawn to.
#[derive(Clone)]
pub struct Attachment {
    pub image: String,
    pub location: usize,
    pub level: u32,
}

/// Where clip space goes: left, top, width and height in pixels, and the depths of 0 and 1.
pub type Area = ([f32; 4], [f32; 2]);

/// A pipeline.
#[derive(Clone, Default)]
pub struct Pipeline {
    pub shaders: Vec<Attached>,
    pub bindings: Vec<Binding>,
    pub attributes: Vec<Attribute>,
    pub indices: Option<String>,
    pub colors: Vec<Attachment>,
    /// Images that take the means of the samples of [`Pipeline::colors`], in their order.
    pub resolves: Vec<String>,
    pub depth_stencil: Option<String>,
    /// Width and height; 250 by 250 where the script does not say.
    pub size: Option<[u32; 2]>,
    pub viewport: Option<Area>,
    pub depth: Option<DepthState>,
    pub cull: Cull,
    /// Clockwise is front.
    pub clockwise: bool,
    /// Bit c: component c is kept.
    pub masked: u8,
    pub polygon: Polygon,
    /// Bits of colours and targets meet in place of blending.
    pub logic: Option<LogicOp>,
    /// Pixels; 1 where the script does not say.
    pub line_width: Option<f32>,
    /// Depths are clamped, and nothing is clipped by its depth.
    pub clamp_depth: bool,
    pub bias: Bias,
}

/// Values that a buffer must hold.
pub struct Values {
    pub buffer: String,
    pub ty: Type,
    /// Bytes in front.
    pub at: usize,
    pub relation: Relation,
    pub values: Vec<String>,
}

/// How what is found stands to what is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    Equal,
    /// One for each value, or one for all.
    Near(Vec<Tolerance>),
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A colour that an area of an image must have.
pub struct Texels {
    pub image: String,
    /// Left, top, width, height.
    pub area: [u32; 4],
    /// The first three components, or all four.
    pub components: usize,
    pub color: [f64; 4],
    pub tolerances: [Tolerance; 4],
}

/// What must hold.
pub enum Check {
    /// Two buffers are equal.
    Same(String, String),
    Values(Values),
    Texels(Texels),
    /// The colours of two images are spread alike, up to so much.
    Spread {
        images: [String; 2],
        most: f64,
    },
}

/// What is drawn.
#[derive(Copy, Clone)]
pub enum Shape {
    /// Left, top, width and height in clip space.
    Rectangle([f32; 4]),
    /// Elements of the attributes, or of the indices.
    Elements { topology: Primitives, first: u32, count: Option<u32>, indexed: bool },
}

/// How elements make primitives.
#[derive(Copy, Clone)]
pub enum Primitives {
    As(Topology),
    Fan,
}

impl Primitives {
    /// By its Vulkan name.
    ///
    /// # Errors
    /// What the rasteriser does not have.
    pub fn from_name(name: &str) -> Result<Primitives, Failure> {
        Ok(Primitives::As(match name {
            "TRIANGLE_LIST" => Topology::TriangleList,
            "TRIANGLE_STRIP" => Topology::TriangleStrip,
            "LINE_LIST" => Topology::LineList,
            "LINE_STRIP" => Topology::LineStrip,
            "POINT_LIST" => Topology::PointList,
            "LINE_LIST_WITH_ADJACENCY" => Topology::LineListAdjacency,
            "LINE_STRIP_WITH_ADJACENCY" => Topology::LineStripAdjacency,
            "TRIANGLE_LIST_WITH_ADJACENCY" => Topology::TriangleListAdjacency,
            "TRIANGLE_STRIP_WITH_ADJACENCY" => Topology::TriangleStripAdjacency,
            "TRIANGLE_FAN" => return Ok(Primitives::Fan),
            _ => return Err(Failure::not_yet(format!("drawing {name}"), "scripts")),
        }))
    }
}

/// What is done in order.
pub enum Step {
    Dispatch { pipeline: String, groups: [u32; 3] },
    Draw { pipeline: String, shape: Shape },
    ClearColor { pipeline: String, color: [f64; 4] },
    ClearDepth { pipeline: String, depth: f32 },
    Clear(String),
    Store { buffer: String, at: usize, bytes: Vec<u8> },
    Expect(Check),
}

/// A whole script.
#[derive(Default)]
pub struct Script {
    pub shaders: IndexMap<String, Shader>,
    pub buffers: IndexMap<String, Buffer>,
    pub samplers: IndexMap<String, Sampler>,
    pub pipelines: IndexMap<String, Pipeline>,
    pub steps: Vec<Step>,
    /// A stage that is none of [`Stage`]'s: what stands behind such a shader was not read.
    pub other_stage: Option<ExecutionModel>,
    /// Depths may lie beyond 0 and 1.
    pub unrestricted_depth: bool,
    /// What happens beyond the ends of buffers and vectors.
    pub robust: Robust,
}

/// A comparison by a name of Vulkan's: `less_or_equal`.
pub fn compare(name: &str) -> Option<Compare> {
    Compare::from_name(&name.to_lowercase().replace("_or_", "-").replace('_', "-"))
}

/// A line of texels.
pub const fn line(width: u32) -> Extent {
    Extent { dim: Dim::D1, ..Extent::plane(width, 1) }
}

/// A part of a script that the runner does not understand.
pub fn unknown(what: &str) -> Failure {
    Failure::usage(format!("not understood: {}", what.trim()))
}
