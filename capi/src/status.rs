//! The enums of the interface.

use gpucc::{Failure, FailureKind};

/// How a call ended: the exit codes of the command.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_status {
    /// Done.
    GPUCC_OK = 0,
    /// The shader is wrong.
    GPUCC_INVALID = 1,
    /// The call is wrong.
    GPUCC_USAGE = 2,
    /// The machine cannot do it, or only by means that gpucc_options.evidence forbids.
    GPUCC_REFUSED = 3,
    /// A limit of the machine or of the budget.
    GPUCC_LIMIT = 4,
    /// What ran and what should come out differ.
    GPUCC_MISMATCH = 5,
    /// gpucc does not do it yet.
    GPUCC_NOT_YET = 6,
    /// gpucc_options.cancel said so.
    GPUCC_CANCELLED = 7,
    /// A bug of gpucc.
    GPUCC_INTERNAL = 101,
}

impl gpucc_status {
    /// The status of a failure.
    pub(crate) fn of(kind: &FailureKind) -> gpucc_status {
        use gpucc_status as s;
        const ALL: [gpucc_status; 7] = [
            s::GPUCC_INVALID,
            s::GPUCC_USAGE,
            s::GPUCC_REFUSED,
            s::GPUCC_LIMIT,
            s::GPUCC_MISMATCH,
            s::GPUCC_NOT_YET,
            s::GPUCC_CANCELLED,
        ];
        let code = u32::from(kind.exit_code());
        ALL.into_iter().find(|status| *status as u32 == code).unwrap_or(s::GPUCC_INTERNAL)
    }
}

/// How a call ended that failed so, or did not.
pub(crate) fn status(failure: Option<&Failure>) -> gpucc_status {
    failure.map_or(gpucc_status::GPUCC_OK, |failure| gpucc_status::of(&failure.kind))
}

/// What a shader is for.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_stage {
    /// The only one there is.
    GPUCC_STAGE_ANY = 0,
    /// Vertices.
    GPUCC_STAGE_VERTEX = 1,
    /// Pixels.
    GPUCC_STAGE_FRAGMENT = 2,
    /// Workgroups.
    GPUCC_STAGE_COMPUTE = 3,
    /// Primitives.
    GPUCC_STAGE_GEOMETRY = 4,
}

/// What a source is written in.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_language {
    /// SPIR-V of Vulkan or OpenGL, either byte order.
    GPUCC_LANGUAGE_SPIRV = 0,
    /// WGSL.
    GPUCC_LANGUAGE_WGSL = 1,
    /// GLSL of one stage.
    GPUCC_LANGUAGE_GLSL = 2,
    /// The text of gpucc's own IR.
    GPUCC_LANGUAGE_IR = 3,
}

/// How hard to try.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_effort {
    /// GPUCC_EFFORT_FULL.
    GPUCC_EFFORT_DEFAULT = 0,
    /// Nothing.
    GPUCC_EFFORT_NONE = 1,
    /// What is cheap.
    GPUCC_EFFORT_SOME = 2,
    /// What pays.
    GPUCC_EFFORT_FULL = 3,
    /// Searches.
    GPUCC_EFFORT_MAX = 4,
}

/// What an access out of bounds does.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_robust {
    /// The index is clamped.
    GPUCC_ROBUST_RESTRICT = 0,
    /// Reads give 0, writes are dropped.
    GPUCC_ROBUST_ZERO = 1,
    /// Nothing is checked.
    GPUCC_ROBUST_OFF = 2,
}

/// Who vouches for what code does to the silicon.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_evidence {
    /// In options: any. Nothing is of this class.
    GPUCC_EVIDENCE_ANY = 0,
    /// A public driver uses it on hardware.
    GPUCC_EVIDENCE_PROVEN = 1,
    /// The manual alone describes it.
    GPUCC_EVIDENCE_MANUAL = 2,
    /// An assumption of gpucc.
    GPUCC_EVIDENCE_ASSUMPTION = 3,
}

/// How grave a diagnostic is.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_severity {
    /// Nothing was made.
    GPUCC_SEVERITY_ERROR = 0,
    /// Made, but look at this.
    GPUCC_SEVERITY_WARNING = 1,
    /// Made; this was assumed.
    GPUCC_SEVERITY_NOTE = 2,
}

/// Who brings attributes into registers, on machines that have a choice.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_fetch {
    /// The program itself.
    GPUCC_FETCH_INLINE = 0,
    /// The result's fetch program.
    GPUCC_FETCH_SEPARATE = 1,
}

/// How a vertex program is cut, on machines that have a choice.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_vertex_form {
    /// A program for the position and one for the rest.
    GPUCC_VERTEX_FORM_IDVS = 0,
    /// One program.
    GPUCC_VERTEX_FORM_PLAIN = 1,
}

/// What advances a vertex buffer.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_step {
    /// Each vertex.
    GPUCC_STEP_VERTEX = 0,
    /// Each instance.
    GPUCC_STEP_INSTANCE = 1,
}

/// Where uniform words at constant offsets are read from, on machines that have a choice.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_uniforms {
    /// Their buffer.
    GPUCC_UNIFORMS_LOADED = 0,
    /// The machine's constant words, which the driver fills.
    GPUCC_UNIFORMS_PUSHED = 1,
}

/// How source and destination are combined.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_blend_op {
    /// s * fs + d * fd
    GPUCC_BLEND_ADD = 0,
    /// s * fs - d * fd
    GPUCC_BLEND_SUBTRACT = 1,
    /// d * fd - s * fs
    GPUCC_BLEND_REVERSE_SUBTRACT = 2,
    /// min(s, d); both factors must be one
    GPUCC_BLEND_MIN = 3,
    /// max(s, d); both factors must be one
    GPUCC_BLEND_MAX = 4,
}

/// What a source or destination is multiplied by.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_factor {
    /// 0
    GPUCC_FACTOR_ZERO = 0,
    /// 1
    GPUCC_FACTOR_ONE = 1,
    /// Source colour.
    GPUCC_FACTOR_SRC = 2,
    /// 1 - source colour.
    GPUCC_FACTOR_ONE_MINUS_SRC = 3,
    /// Source alpha.
    GPUCC_FACTOR_SRC_ALPHA = 4,
    /// 1 - source alpha.
    GPUCC_FACTOR_ONE_MINUS_SRC_ALPHA = 5,
    /// Destination colour.
    GPUCC_FACTOR_DST = 6,
    /// 1 - destination colour.
    GPUCC_FACTOR_ONE_MINUS_DST = 7,
    /// Destination alpha.
    GPUCC_FACTOR_DST_ALPHA = 8,
    /// 1 - destination alpha.
    GPUCC_FACTOR_ONE_MINUS_DST_ALPHA = 9,
    /// min(source alpha, 1 - destination alpha); 1 for alpha.
    GPUCC_FACTOR_SRC_ALPHA_SATURATED = 10,
    /// Constant.
    GPUCC_FACTOR_CONSTANT = 11,
    /// 1 - constant.
    GPUCC_FACTOR_ONE_MINUS_CONSTANT = 12,
    /// Second source's colour.
    GPUCC_FACTOR_SRC1 = 13,
    /// 1 - second source's colour.
    GPUCC_FACTOR_ONE_MINUS_SRC1 = 14,
    /// Second source's alpha.
    GPUCC_FACTOR_SRC1_ALPHA = 15,
    /// 1 - second source's alpha.
    GPUCC_FACTOR_ONE_MINUS_SRC1_ALPHA = 16,
}
