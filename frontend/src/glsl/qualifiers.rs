//! Semantic analysis of qualifiers: layouts, storage, interpolation (GLSL 4.60, 4.3 to 4.5).

use super::ast;
use super::check::{Check, invalid};
use super::layout::Rule;
use super::types::Varying;
use crate::lower::Result;
use crate::lower::quads::Quads;
use gpucc_ir::ssa::{Corners, Emits, Span, Stage};

/// What `layout(...)` says.
#[derive(Clone, Debug, Default)]
pub struct Layout<'a> {
    pub location: Option<u32>,
    pub component: Option<u32>,
    pub index: Option<u32>,
    pub binding: Option<u32>,
    pub set: Option<u32>,
    pub offset: Option<u32>,
    pub align: Option<u32>,
    pub rule: Option<Rule>,
    pub row_major: Option<bool>,
    pub push: bool,
    /// A block of pointers, and what they are multiples of.
    pub reference: bool,
    pub reference_align: Option<u32>,
    pub constant_id: Option<u32>,
    pub local_size: [Option<u32>; 3],
    pub local_size_id: [Option<u32>; 3],
    pub format: Option<&'static str>,
    pub early_tests: bool,
    pub quads: Quads,
    /// What a geometry shader takes, or emits: the storage tells which.
    pub primitive: Option<&'a str>,
    pub max_vertices: Option<u32>,
    pub invocations: Option<u32>,
    pub lacking: Option<&'static str>,
}

/// Names of formats, and WebGPU's.
const FORMATS: [(&str, &str); 41] = [
    ("rgba32f", "rgba32float"),
    ("rgba16f", "rgba16float"),
    ("rg32f", "rg32float"),
    ("rg16f", "rg16float"),
    ("r11f_g11f_b10f", "rg11b10ufloat"),
    ("r32f", "r32float"),
    ("r16f", "r16float"),
    ("rgba16", "rgba16unorm"),
    ("rgb10_a2", "rgb10a2unorm"),
    ("rgba8", "rgba8unorm"),
    ("rg16", "rg16unorm"),
    ("rg8", "rg8unorm"),
    ("r16", "r16unorm"),
    ("r8", "r8unorm"),
    ("rgba16_snorm", "rgba16snorm"),
    ("rgba8_snorm", "rgba8snorm"),
    ("rg16_snorm", "rg16snorm"),
    ("rg8_snorm", "rg8snorm"),
    ("r16_snorm", "r16snorm"),
    ("r8_snorm", "r8snorm"),
    ("rgba32i", "rgba32sint"),
    ("rgba16i", "rgba16sint"),
    ("rgba8i", "rgba8sint"),
    ("rg32i", "rg32sint"),
    ("rg16i", "rg16sint"),
    ("rg8i", "rg8sint"),
    ("r32i", "r32sint"),
    ("r16i", "r16sint"),
    ("r8i", "r8sint"),
    ("rgba32ui", "rgba32uint"),
    ("rgba16ui", "rgba16uint"),
    ("rgb10_a2ui", "rgb10a2uint"),
    ("rgba8ui", "rgba8uint"),
    ("rg32ui", "rg32uint"),
    ("rg16ui", "rg16uint"),
    ("rg8ui", "rg8uint"),
    ("r32ui", "r32uint"),
    ("r16ui", "r16uint"),
    ("r8ui", "r8uint"),
    ("r64ui", "r64uint"),
    ("r64i", ""),
];

/// Layouts that say nothing to the machines, or only what they assume.
const TOLD: [&str; 18] = [
    "origin_upper_left",
    "pixel_center_integer",
    "depth_any",
    "depth_greater",
    "depth_less",
    "depth_unchanged",
    "input_attachment_index",
    "post_depth_coverage",
    "num_views",
    "shared",
    "packed",
    "column_major",
    "bindless_sampler",
    "bindless_image",
    "bound_sampler",
    "bound_image",
    "viewport_relative",
    "secondary_view_offset",
];

impl<'a> Check<'a, '_> {
    /// An integer that the compiler must know.
    pub fn constant(&mut self, expr: &ast::Expr<'a>) -> Result<i64> {
        let value = self.expr(expr)?;
        match value.known() {
            Some(known) if value.ty.is_integer() => Ok(known[0].int()),
            _ => invalid("a constant integer is expected (GLSL 4.60, 4.3.3)", value.span),
        }
    }

    pub fn layout(&mut self, qualifiers: &ast::Qualifiers<'a>) -> Result<Layout<'a>> {
        let mut found = Layout::default();
        let es = self.dialect.es;
        let geometry = self.stage == Stage::Geometry;
        for item in &qualifiers.layout {
            let mut number = || -> Result<Option<u32>> {
                let Some(value) = &item.value else {
                    return invalid(format!("`{}` takes a number", item.name), item.span);
                };
                match u32::try_from(self.constant(value)?) {
                    Ok(number) => Ok(Some(number)),
                    Err(_) => {
                        invalid(format!("`{}` takes no negative number", item.name), value.span)
                    }
                }
            };
            let lower = item.name.to_ascii_lowercase();
            // Their case says nothing in OpenGL, but for those of newer extensions (GLSL 1.50, 4.3.8).
            let sized = es || item.name.ends_with("EXT") || item.name.ends_with("NV");
            match if sized { item.name } else { &lower } {
                "location" => found.location = number()?,
                "component" => found.component = number()?,
                "index" => found.index = number()?,
                "binding" => found.binding = number()?,
                "set" => found.set = number()?,
                "offset" => found.offset = number()?,
                "align" => {
                    found.align = number()?;
                    if !found.align.is_some_and(u32::is_power_of_two) {
                        return invalid(
                            "an alignment is a power of two (GLSL 4.60, 4.4.5)",
                            item.span,
                        );
                    }
                }
                "std140" => found.rule = Some(Rule::Std140),
                "std430" => found.rule = Some(Rule::Std430),
                "scalar" => found.rule = Some(Rule::Scalar),
                "shared" | "packed" if item.value.is_none() => found.rule = Some(Rule::Std140),
                "row_major" => found.row_major = Some(true),
                "column_major" => found.row_major = Some(false),
                "push_constant" => found.push = true,
                "constant_id" => found.constant_id = number()?,
                "local_size_x" => found.local_size[0] = number()?,
                "local_size_y" => found.local_size[1] = number()?,
                "local_size_z" => found.local_size[2] = number()?,
                "local_size_x_id" => found.local_size_id[0] = number()?,
                "local_size_y_id" => found.local_size_id[1] = number()?,
                "local_size_z_id" => found.local_size_id[2] = number()?,
                "early_fragment_tests" => found.early_tests = true,
                "local_size_variable" => {
                    found.lacking = Some("workgroups whose size the draw says");
                }
                "buffer_reference" => found.reference = true,
                "buffer_reference_align" => {
                    found.reference_align = number()?;
                    if !found.reference_align.is_some_and(u32::is_power_of_two) {
                        return invalid(
                            "an alignment is a power of two (GL_EXT_buffer_reference)",
                            item.span,
                        );
                    }
                }
                "shaderRecordEXT" | "shaderRecordNV" => found.lacking = Some("ray tracing shaders"),
                "pixel_interlock_ordered"
                | "pixel_interlock_unordered"
                | "sample_interlock_ordered"
                | "sample_interlock_unordered" => found.lacking = Some("fragment shader interlock"),
                "descriptor_heap" | "descriptor_stride" => {
                    found.lacking = Some("heaps of descriptors")
                }
                "max_vertices" if geometry => found.max_vertices = number()?,
                "invocations" if geometry => found.invocations = number()?,
                name if geometry
                    && (Corners::by_word(name).is_some() || Emits::by_word(name).is_some()) =>
                {
                    found.primitive = Some(item.name);
                }
                "stream" if geometry => {
                    if number()?.is_some_and(|stream| stream != 0) {
                        found.lacking = Some("streams of vertices beyond the first");
                    }
                }
                name if lower.starts_with("xfb_") || name == "stream" => {
                    if item.value.is_some() {
                        number()?;
                    }
                }
                name if name.starts_with("derivative_group_linear") => found.quads = Quads::Linear,
                name if name.starts_with("derivative_group_quads") => found.quads = Quads::Squares,
                name if name.ends_with("_attachment_readEXT") => {}
                name if name.starts_with("blend_support") => {}
                name if name.starts_with("full_quads") || name.starts_with("quad_derivatives") => {}
                "primitive_culling" => {}
                name if TOLD.contains(&name) => {
                    if item.value.is_some() {
                        number()?;
                    }
                }
                name => match FORMATS.iter().find(|(own, _)| *own == name) {
                    Some((_, format)) => found.format = Some(format),
                    None => {
                        let message = format!("`{name}` is no layout qualifier (GLSL 4.60, 4.4)");
                        return invalid(message, item.span);
                    }
                },
            }
        }
        Ok(found)
    }

    /// The word that says where a variable lives.
    pub fn storage(&self, qualifiers: &ast::Qualifiers<'a>, span: Span) -> Result<&'static str> {
        let mut found = "";
        // `varying out` of EXT_gpu_shader4 is an output.
        let directed = self.dialect.has("gpu_shader4")
            && qualifiers.words.iter().any(|(word, _)| matches!(*word, "in" | "out"));
        for (word, at) in &qualifiers.words {
            let own = match *word {
                "const" => "const",
                "in" => "in",
                "out" => "out",
                "uniform" => "uniform",
                "buffer" => "buffer",
                "shared" => "shared",
                "attribute" if self.stage == Stage::Vertex => "in",
                "attribute" => {
                    let stage = self.stage.name();
                    return invalid(
                        format!("a {stage} shader has no attributes (GLSL 1.20, 4.3.4)"),
                        *at,
                    );
                }
                "varying" if directed => continue,
                "varying" => match self.stage {
                    Stage::Vertex => "out",
                    Stage::Fragment => "in",
                    Stage::Compute => return invalid("a compute shader has no varyings", *at),
                    Stage::Geometry => {
                        return invalid(
                            "a geometry shader has no `varying`: `in` or `out` stands here",
                            *at,
                        );
                    }
                },
                // What the target holds is read before it is written.
                "inout" if self.dialect.has("framebuffer_fetch") => {
                    return Err(super::lacking("the value that a target holds").at(*at));
                }
                "inout" => return invalid("`inout` stands in front of parameters alone", *at),
                "patch" => return Err(super::lacking("tessellation shaders").at(*at)),
                word if word.starts_with("subroutine") => {
                    return Err(super::lacking("subroutines").at(*at));
                }
                word if word.starts_with("spirv_") => {
                    return Err(super::lacking("instructions of SPIR-V by name").at(*at));
                }
                word if word.starts_with("ray")
                    || word.starts_with("hit")
                    || word.starts_with("callable") =>
                {
                    return Err(super::lacking("ray tracing shaders").at(*at));
                }
                word if word.starts_with("task") => {
                    return Err(super::lacking("task and mesh shaders").at(*at));
                }
                word if word.starts_with("pervertex") || word.starts_with("__explicit") => {
                    return Err(super::lacking("per-vertex inputs").at(*at));
                }
                "tileImageEXT" => return Err(super::lacking("tile images").at(*at)),
                _ => continue,
            };
            if !found.is_empty() {
                return invalid(format!("`{found}` and `{own}` stand in one declaration"), *at);
            }
            found = own;
        }
        if found == "shared" && self.stage != Stage::Compute {
            return invalid(
                "shared variables are those of compute shaders (GLSL 4.60, 4.3.8)",
                span,
            );
        }
        Ok(found)
    }
}

/// Words about interpolation.
pub fn varying(qualifiers: &ast::Qualifiers<'_>) -> Varying {
    Varying {
        flat: qualifiers.has("flat"),
        linear: qualifiers.has("noperspective"),
        centroid: qualifiers.has("centroid"),
        sample: qualifiers.has("sample"),
    }
}
