//! The layouts of instructions: which fields a word has, what its operands are, and in which order the text says them.

use super::fields::{self as l, f};
use gpucc_isa::{Field, FieldId, Format};

/// What an operand holds.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operand {
    F32,
    /// Two 16-bit floats.
    V2F16,
    /// One 16-bit float, in the half that the source's lane or the destination's mask says.
    F16,
    I32,
    V2I16,
    V4I8,
    I64,
    /// 32 bits of any meaning.
    B32,
    /// 64 bits of any meaning: an address or a descriptor.
    B64,
}

impl Operand {
    /// Whether one source byte stands for an even register, uniform or constant and the one behind it.
    pub const fn is_pair(self) -> bool {
        matches!(self, Operand::I64 | Operand::B64)
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Operand::F32 | Operand::V2F16 | Operand::F16)
    }

    /// Bits of one component.
    pub const fn bits(self) -> u32 {
        match self {
            Operand::F32 | Operand::I32 | Operand::B32 => 32,
            Operand::V2F16 | Operand::F16 | Operand::V2I16 => 16,
            Operand::V4I8 => 8,
            Operand::I64 | Operand::B64 => 64,
        }
    }
}

/// One source.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Which byte of the word: `SRC0` to `SRC3`.
    pub field: FieldId,
    pub kind: Operand,
}

impl Source {
    /// Number of the byte in the word, which is also the number in the names of its modifiers.
    pub const fn byte(self) -> usize {
        (self.field.0 - f::SRC0.0) as usize
    }

    /// Lane selection: widening, swizzle, byte or half.
    pub const fn swizzle(self) -> Option<FieldId> {
        match self.byte() {
            0 => Some(f::SWZ0),
            1 => Some(f::SWZ1),
            2 => Some(f::SWZ2),
            _ => None,
        }
    }

    pub const fn neg(self) -> Option<FieldId> {
        match self.byte() {
            0 => Some(f::NEG0),
            1 => Some(f::NEG1),
            2 => Some(f::NEG2),
            _ => None,
        }
    }

    pub const fn abs(self) -> Option<FieldId> {
        match self.byte() {
            0 => Some(f::ABS0),
            1 => Some(f::ABS1),
            2 => Some(f::ABS2),
            _ => None,
        }
    }
}

/// What an instruction does with groups of consecutive registers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Staging {
    None,
    /// `SR`, `SR_COUNT` of them, are read.
    Read,
    /// `SR`, `SR_COUNT` of them, are written.
    Write,
    /// `SR`, `SR_WRITE_COUNT` of them, are written.
    WriteOnly,
    /// `SR_WRITE`, `SR_WRITE_COUNT` of them, are written; `SR`, `SR_COUNT` of them, are read.
    ReadWrite,
    /// As `ReadWrite`, and a count of 0 means that 8 are read.
    Texture,
}

impl Staging {
    pub const fn reads(self) -> bool {
        matches!(self, Staging::Read | Staging::ReadWrite | Staging::Texture)
    }

    pub const fn writes(self) -> bool {
        !matches!(self, Staging::None | Staging::Read)
    }
}

/// The layout of one or more rows.
#[derive(Debug)]
pub struct Shape {
    pub format: Format,
    pub dst: Option<Operand>,
    /// In the order of the text.
    pub sources: &'static [Source],
    pub staging: Staging,
    /// Modifiers behind the mnemonic, in the order of the text.
    pub modifiers: &'static [FieldId],
    /// Constants behind the sources, in the order of the text.
    pub immediates: &'static [FieldId],
}

const fn shape(name: &'static str, parts: &'static [&'static [Field]]) -> Shape {
    Shape {
        format: Format::new(name, 64, 64, parts, "digest 1.1-1.5; Arm's v9 description"),
        dst: None,
        sources: &[],
        staging: Staging::None,
        modifiers: &[],
        immediates: &[],
    }
}

macro_rules! shapes {
    ($($name:ident $title:literal [$($part:ident)*]
        $(dst $dst:ident)? $(src [$($src:ident $kind:ident),*])? $(staging $staging:ident)?
        $(text [$($modifier:ident)*])? $(imm [$($imm:ident)*])?;)*) => {
        $(pub static $name: Shape = Shape {
            $(dst: Some(Operand::$dst),)?
            $(sources: &[$(Source { field: f::$src, kind: Operand::$kind }),*],)?
            $(staging: Staging::$staging,)?
            $(modifiers: &[$(f::$modifier),*],)?
            $(immediates: &[$(f::$imm),*],)?
            ..shape($title, &[l::WORD, $(l::$part),*])
        };)*

        /// Every shape, for documents.
        pub static ALL: &[&Shape] = &[$(&$name),*];
    };
}

shapes! {
    // Control.
    BARE "bare" [NO_DST];
    BRANCHZ "branch" [NO_DST S0 BRANCH BRANCH_OFFSET] src [SRC0 B32] text [CONSERVATIVE EQ] imm [OFFSET];
    BRANCHZI "indirect branch" [NO_DST S0 S1 BRANCH ABSOLUTE] src [SRC0 B32, SRC1 B32] text [CONSERVATIVE EQ ABSOLUTE];
    JUMP_EX "jump with stack" [NO_DST S0 S1 S2 BRANCH JUMP_STACK] src [SRC0 B32, SRC1 B32, SRC2 B32]
        text [DIVERGE STACK_MODE CONSERVATIVE EQ];
    DISCARD "discard" [NO_DST S0 S1 ABSNEG0 ABSNEG1 WIDEN0 WIDEN1 CMP_FIELD] src [SRC0 F32, SRC1 F32] text [CMP];
    BARRIER "barrier" [NO_DST SLOT_FIELD] text [SLOT];
    // Varyings.
    LD_VAR_SPECIAL "special varying"
        [STAGING SLOT_FIELD S0 INDEX_12 REGFMT_FIELD VECSIZE_FIELD INTERPOLATE] src [SRC0 B32] staging Write
        text [VECSIZE REGFMT SAMPLE UPDATE SLOT] imm [INDEX];
    LD_VAR_BUF_IMM "varying of a buffer, constant offset"
        [STAGING SLOT_FIELD S0 INDEX_16 SOURCE_FORMAT_FIELD VECSIZE_FIELD INTERPOLATE] src [SRC0 B32] staging Write
        text [SLOT VECSIZE SOURCE_FORMAT SAMPLE UPDATE] imm [INDEX];
    LD_VAR_BUF "varying of a buffer"
        [STAGING SLOT_FIELD S0 S1 SOURCE_FORMAT_FIELD VECSIZE_FIELD INTERPOLATE] src [SRC0 B32, SRC1 B32] staging Write
        text [SLOT VECSIZE SOURCE_FORMAT SAMPLE UPDATE];
    LD_VAR_IMM "varying, constant index"
        [STAGING SLOT_FIELD S0 INDEX_8_12 REGFMT_FIELD VECSIZE_FIELD INTERPOLATE] src [SRC0 B32] staging Write
        text [SLOT VECSIZE REGFMT SAMPLE UPDATE] imm [TABLE INDEX];
    LD_VAR "varying" [STAGING SLOT_FIELD S0 S1 REGFMT_FIELD VECSIZE_FIELD INTERPOLATE] src [SRC0 B32, SRC1 B32]
        staging Write text [SLOT VECSIZE REGFMT SAMPLE UPDATE];
    LD_VAR_FLAT_IMM "flat varying, constant index" [STAGING SLOT_FIELD INDEX_8_12 REGFMT_FIELD VECSIZE_FIELD]
        staging Write text [SLOT VECSIZE REGFMT] imm [TABLE INDEX];
    LD_VAR_FLAT "flat varying" [STAGING SLOT_FIELD S0 REGFMT_FIELD VECSIZE_FIELD] src [SRC0 B32] staging Write
        text [SLOT VECSIZE REGFMT];
    // Attributes, textures without sampler, buffers, memory.
    LD_ATTR_IMM "attribute or texel, constant index"
        [STAGING SLOT_FIELD S0 S1 OP2_DESCRIPTOR INDEX_16_20 REGFMT_FIELD VECSIZE_FIELD] src [SRC0 B32, SRC1 B32]
        staging Write text [VECSIZE REGFMT SLOT] imm [INDEX TABLE];
    LD_ATTR "attribute or texel" [STAGING SLOT_FIELD S0 S1 S2 OP2_DESCRIPTOR REGFMT_FIELD VECSIZE_FIELD]
        src [SRC0 B32, SRC1 B32, SRC2 B32] staging Write text [VECSIZE REGFMT SLOT];
    LEA_ATTR_IMM "address of attribute or texel, constant index"
        [STAGING SLOT_FIELD S0 S1 OP2_DESCRIPTOR INDEX_16_20] src [SRC0 B32, SRC1 B32] staging Write
        text [SLOT] imm [TABLE INDEX];
    LEA_ATTR "address of attribute or texel" [STAGING SLOT_FIELD S0 S1 S2 OP2_DESCRIPTOR VECSIZE_FIELD]
        src [SRC0 B32, SRC1 B32, SRC2 B32] staging Write text [VECSIZE SLOT];
    LD_BUFFER8 "buffer load of 8" [STAGING SLOT_FIELD S0 S1 OP2_MEMORY ACCESS_24 LANE_8 UNSIGNED]
        src [SRC0 B32, SRC1 B32] staging Write text [LANE UNSIGNED ACCESS SLOT];
    LD_BUFFER16 "buffer load of 16" [STAGING SLOT_FIELD S0 S1 OP2_MEMORY ACCESS_24 LANE_16 UNSIGNED]
        src [SRC0 B32, SRC1 B32] staging Write text [LANE UNSIGNED ACCESS SLOT];
    LD_BUFFER32 "buffer load of 32" [STAGING SLOT_FIELD S0 S1 OP2_MEMORY ACCESS_24 LANE_32 UNSIGNED]
        src [SRC0 B32, SRC1 B32] staging Write text [LANE UNSIGNED ACCESS SLOT];
    LD_BUFFER "buffer load" [STAGING SLOT_FIELD S0 S1 OP2_MEMORY ACCESS_24 LANE_ANY UNSIGNED]
        src [SRC0 B32, SRC1 B32] staging Write text [UNSIGNED ACCESS SLOT];
    LOAD8 "load of 8" [STAGING SLOT_FIELD S0 OFFSET16 OP2_MEMORY ACCESS_24 LANE_8 UNSIGNED]
        src [SRC0 B64] staging Write text [ACCESS LANE UNSIGNED SLOT] imm [OFFSET];
    LOAD16 "load of 16" [STAGING SLOT_FIELD S0 OFFSET16 OP2_MEMORY ACCESS_24 LANE_16 UNSIGNED]
        src [SRC0 B64] staging Write text [ACCESS LANE UNSIGNED SLOT] imm [OFFSET];
    LOAD32 "load of 32" [STAGING SLOT_FIELD S0 OFFSET16 OP2_MEMORY ACCESS_24 LANE_32 UNSIGNED]
        src [SRC0 B64] staging Write text [ACCESS LANE UNSIGNED SLOT] imm [OFFSET];
    LOAD "load" [STAGING SLOT_FIELD S0 OFFSET16 OP2_MEMORY ACCESS_24 LANE_ANY UNSIGNED]
        src [SRC0 B64] staging Write text [ACCESS UNSIGNED SLOT] imm [OFFSET];
    STORE8 "store of 8" [STAGING SLOT_FIELD S0 OFFSET16 OP2_MEMORY ACCESS_24 STORE_BYTE]
        src [SRC0 B64] staging Read text [ACCESS LANE SLOT] imm [OFFSET];
    STORE16 "store of 16" [STAGING SLOT_FIELD S0 OFFSET16 OP2_MEMORY ACCESS_24 STORE_HALF]
        src [SRC0 B64] staging Read text [ACCESS LANE SLOT] imm [OFFSET];
    STORE "store" [STAGING SLOT_FIELD S0 OFFSET16 OP2_MEMORY ACCESS_24]
        src [SRC0 B64] staging Read text [ACCESS SLOT] imm [OFFSET];
    LEA_BUFFER "address in a buffer" [STAGING SLOT_FIELD S0 S1] src [SRC0 B32, SRC1 B32] staging Write text [SLOT];
    LEA_BUF_IMM "address in a buffer, constant index" [STAGING SLOT_FIELD S0 INDEX_8_12] src [SRC0 B32] staging Write
        text [SLOT] imm [TABLE INDEX];
    LD_CVT "converting load" [STAGING SLOT_FIELD S0 S2 OFFSET8 REGFMT_FIELD VECSIZE_FIELD ACCESS_37]
        src [SRC0 B64, SRC2 B32] staging Write text [SLOT ACCESS VECSIZE REGFMT] imm [OFFSET];
    ST_CVT "converting store" [STAGING SLOT_FIELD S0 S2 OFFSET8 REGFMT_FIELD VECSIZE_FIELD ACCESS_37]
        src [SRC0 B64, SRC2 B32] staging Read text [SLOT ACCESS VECSIZE REGFMT] imm [OFFSET];
    LD_GCLK "clock" [STAGING SLOT_FIELD CLOCK_FIELD] staging Write text [CLOCK SLOT];
    ATOM "atomic" [STAGING SLOT_FIELD S0 OFFSET8 OP2_MEMORY ATOM] src [SRC0 B64] staging Read
        text [SLOT ATOM_OP] imm [OFFSET];
    ATOM1 "atomic with 1" [STAGING SLOT_FIELD S0 OFFSET8 OP2_MEMORY ATOM1] src [SRC0 B64]
        text [SLOT ATOM_OP] imm [OFFSET];
    ATOM1_RETURN "atomic with 1, returning" [STAGING SLOT_FIELD S0 OFFSET8 OP2_MEMORY ATOM1] src [SRC0 B64] staging Write
        text [SLOT ATOM_OP] imm [OFFSET];
    ATOM_RETURN "atomic, returning" [STAGING_RW SR_CONTROL_FIELD SLOT_FIELD S0 OFFSET8 OP2_MEMORY ATOM COMPARE]
        src [SRC0 B64] staging ReadWrite text [SLOT COMPARE ATOM_OP] imm [OFFSET];
    // Fragment output.
    LD_TILE "tile load" [STAGING SLOT_FIELD S0 S1 S2 REGFMT_FIELD VECSIZE_FIELD Z_STENCIL]
        src [SRC0 B32, SRC1 B32, SRC2 B32] staging Write text [VECSIZE REGFMT Z_STENCIL SLOT];
    ST_TILE "tile store" [STAGING SLOT_FIELD S0 S1 S2 REGFMT_FIELD VECSIZE_FIELD]
        src [SRC0 B32, SRC1 B32, SRC2 B32] staging Read text [VECSIZE REGFMT SLOT];
    BLEND "blend" [STAGING SLOT_FIELD S0 S2 TARGET REGFMT_FIELD VECSIZE_FIELD] src [SRC0 B64, SRC2 B32] staging Read
        text [SLOT VECSIZE REGFMT] imm [TARGET];
    ATEST "alpha test" [STAGING S0 S1 S2 WIDEN1] src [SRC0 B32, SRC1 F32, SRC2 B32] staging Write;
    ZS_EMIT "depth and stencil" [STAGING SLOT_FIELD S0 S1 S2 ZS] src [SRC0 B32, SRC1 B32, SRC2 B32] staging Write
        text [Z STENCIL SLOT];
    // Conversions.
    I32_TO_FLOAT "integer to float" [DST S0 OP2_5 ROUND3 INT32_0] dst F32 src [SRC0 I32] text [ROUND];
    V2I16_TO_FLOAT "integers to halves" [DST S0 OP2_5 ROUND3 INT16_0] dst V2F16 src [SRC0 V2I16] text [ROUND];
    I16_TO_I32 "half to integer" [DST S0 OP2_5 HALVES0] dst I32 src [SRC0 V2I16];
    I16_TO_F32 "half integer to float" [DST S0 OP2_5 HALVES0] dst F32 src [SRC0 V2I16];
    F32_TO_INT "float to integer" [DST S0 OP2_5 ROUND3 ABSNEG0] dst I32 src [SRC0 F32] text [ROUND];
    F16_TO_INT "half to 32-bit integer" [DST S0 OP2_5 ROUND3 HALVES0 ABSNEG0] dst I32 src [SRC0 F16] text [ROUND];
    V2F16_TO_INT "halves to integers" [DST S0 OP2_5 ROUND3 HALVES0 ABSNEG0] dst V2I16 src [SRC0 V2F16] text [ROUND];
    F16_TO_F32 "half to float" [DST S0 OP2_5 ROUND2 HALF0 ABSNEG0] dst F32 src [SRC0 F16] text [ROUND];
    I8_TO_I32 "byte to integer" [DST S0 OP2_5 BYTE0] dst I32 src [SRC0 V4I8];
    I8_TO_F32 "byte to float" [DST S0 OP2_5 BYTE0] dst F32 src [SRC0 V4I8];
    V2I8_TO_I16 "bytes to halves" [DST S0 OP2_5 BYTES0] dst V2I16 src [SRC0 V4I8];
    V2I8_TO_F16 "bytes to half floats" [DST S0 OP2_5 BYTES0] dst V2F16 src [SRC0 V4I8];
    FROUND_F32 "round to integral" [DST S0 OP2_5 ROUND3 WIDEN0 ABSNEG0] dst F32 src [SRC0 F32] text [ROUND];
    FROUND_F16 "round halves to integral" [DST S0 OP2_5 ROUND3 HALVES0 ABSNEG0] dst V2F16 src [SRC0 V2F16] text [ROUND];
    PACK_HALVES "floats to halves" [DST S0 S1 OP2_4 ROUND2 CLAMP_FIELD ABSNEG0 ABSNEG1] dst V2F16
        src [SRC0 F32, SRC1 F32] text [CLAMP ROUND];
    // One source.
    MOV "move" [DST S0 OP2_5] dst B32 src [SRC0 B32];
    INT1 "integer, one source" [DST S0 OP2_5] dst I32 src [SRC0 I32];
    INT1_64 "64-bit integer, one source" [DST S0 OP2_5] dst I64 src [SRC0 I64];
    CLZ32 "leading zeroes" [DST S0 OP2_5 CLZ_MASK] dst I32 src [SRC0 I32] text [MASK];
    CLZ16 "leading zeroes of halves" [DST S0 OP2_5 CLZ_MASK HALVES0] dst V2I16 src [SRC0 V2I16] text [MASK];
    CLZ8 "leading zeroes of bytes" [DST S0 OP2_5 CLZ_MASK] dst V4I8 src [SRC0 V4I8] text [MASK];
    IABS32 "absolute" [DST S0 OP2_5 INT32_0] dst I32 src [SRC0 I32];
    IABS16 "absolute of halves" [DST S0 OP2_5 INT16_0] dst V2I16 src [SRC0 V2I16];
    IABS8 "absolute of bytes" [DST S0 OP2_5 INT8_0] dst V4I8 src [SRC0 V4I8];
    WMASK "warp mask" [DST S0 OP2_5 SUBGROUP_FIELD] dst I32 src [SRC0 B32] text [SUBGROUP];
    FLUSH_F32 "flush" [DST S0 OP2_5 FLUSH WIDEN0 ABSNEG0] dst F32 src [SRC0 F32] text [NAN_MODE FTZ FLUSH_INF];
    FLUSH_F16 "flush halves" [DST S0 OP2_5 FLUSH HALVES0 ABSNEG0] dst V2F16 src [SRC0 V2F16]
        text [NAN_MODE FTZ FLUSH_INF];
    FREXPM_F32 "mantissa" [DST S0 OP2_5 FREXP WIDEN0 ABSNEG0] dst F32 src [SRC0 F32] text [SQRT LOG];
    FREXPM_F16 "mantissas of halves" [DST S0 OP2_5 FREXP HALVES0 ABSNEG0] dst V2F16 src [SRC0 V2F16] text [SQRT LOG];
    FREXPE_F32 "exponent" [DST S0 OP2_5 FREXP WIDEN0 NEG_RESULT] dst I32 src [SRC0 F32] text [SQRT LOG NEG_RESULT];
    FREXPE_F16 "exponents of halves" [DST S0 OP2_5 FREXP HALVES0 NEG_RESULT] dst V2I16 src [SRC0 V2F16]
        text [SQRT LOG NEG_RESULT];
    LOGB_F32 "exponent as float" [DST S0 OP2_5 WIDEN0] dst F32 src [SRC0 F32];
    LOGB_F16 "exponents of halves as floats" [DST S0 OP2_5 HALVES0] dst V2F16 src [SRC0 V2F16];
    ILOGB_F32 "exponent as integer" [DST S0 OP2_5 WIDEN0] dst I32 src [SRC0 F32];
    ILOGB_F16 "exponents of halves as integers" [DST S0 OP2_5 HALVES0] dst V2I16 src [SRC0 V2F16];
    SFU_F32 "special function" [DST S0 OP2_5 WIDEN0 ABSNEG0] dst F32 src [SRC0 F32];
    SFU_F16 "special function of a half" [DST S0 OP2_5 HALVES0 ABSNEG0] dst F16 src [SRC0 F16];
    FPCLASS_F32 "class" [DST S0 OP2_5 WIDEN0 ABSNEG0] dst I32 src [SRC0 F32];
    FPCLASS_F16 "class of a half" [DST S0 OP2_5 HALVES0 ABSNEG0] dst I32 src [SRC0 F16];
    FLOG_TABLE "logarithm table" [DST S0 OP2_5 WIDEN0 ABSNEG0 LOG_TABLE] dst F32 src [SRC0 F32] text [LOG_MODE PRECISION];
    TRIG_TABLE "trigonometric table" [DST S0 OP2_5 TABLE_OFFSET] dst F32 src [SRC0 B32] text [TABLE_OFFSET];
    SINCOS_OFFSET "trigonometric offset" [DST S0 OP2_5 TABLE_SCALE] dst F32 src [SRC0 B32] text [TABLE_SCALE];
    EXP_TABLE "exponential table" [DST S0 OP2_5 EXP_ADJ] dst F32 src [SRC0 B32] text [ADJ];
    FLOAT1 "float, one source" [DST S0 OP2_5] dst F32 src [SRC0 F32];
    // Two sources.
    FADD_F32 "float addition" [DST_N S0 S1 OP2_4 WIDEN0 WIDEN1 ABSNEG0 ABSNEG1 CLAMP_FIELD ROUND2 STICKY] dst F32
        src [SRC0 F32, SRC1 F32] text [CLAMP ROUND STICKY];
    FADD_F16 "addition of halves" [DST S0 S1 OP2_4 HALVES0 HALVES1 ABSNEG0 ABSNEG1 CLAMP_FIELD ROUND2 STICKY] dst V2F16
        src [SRC0 V2F16, SRC1 V2F16] text [CLAMP ROUND STICKY];
    FMIN_F32 "minimum or maximum" [DST S0 S1 OP2_4 WIDEN0 WIDEN1 ABSNEG0 ABSNEG1 CLAMP_FIELD SEM_FIELD] dst F32
        src [SRC0 F32, SRC1 F32] text [CLAMP SEM];
    FMIN_F16 "minimum or maximum of halves" [DST S0 S1 OP2_4 HALVES0 HALVES1 ABSNEG0 ABSNEG1 CLAMP_FIELD SEM_FIELD]
        dst V2F16 src [SRC0 V2F16, SRC1 V2F16] text [CLAMP SEM];
    LDEXP_F32 "scaling" [DST S0 S1 OP2_4 ABSNEG0 ROUND3 SCALE_INF] dst F32 src [SRC0 F32, SRC1 I32] text [ROUND INF];
    LDEXP_F16 "scaling of halves" [DST S0 S1 OP2_4 ABSNEG0 ROUND3 SCALE_INF] dst V2F16 src [SRC0 V2F16, SRC1 V2I16]
        text [ROUND INF];
    FEXP "exponential" [DST S0 S1 OP2_4 WIDEN1 ABSNEG1 CLAMP_FIELD] dst F32 src [SRC0 I32, SRC1 F32] text [CLAMP];
    ATAN "arc tangent helper" [DST S0 S1 OP2_4 OP3_24] dst F32 src [SRC0 F32, SRC1 F32];
    POW "power helper" [DST S0 S1 OP2_4 OP3_24] dst F32 src [SRC0 F32, SRC1 F32];
    POW_DET "power helper, function" [DST S0 S1 OP2_4 OP3_24 POW_FIELD] dst F32 src [SRC0 F32, SRC1 F32] text [POW];
    FMUL_SLICE "slice product" [DST S0 S1 OP2_4] dst F32 src [SRC0 F32, SRC1 F32];
    FMUL_CSLICE "slice product of a half" [DST S0 S1 OP2_4 HALF0 ABSNEG0] dst F32 src [SRC0 F16, SRC1 F32];
    INT2_32 "integer, two sources" [DST S0 S1 OP2_4 INT32_0 INT32_1 SATURATE] dst I32 src [SRC0 I32, SRC1 I32]
        text [SATURATE];
    INT2_16 "halves, two sources" [DST S0 S1 OP2_4 INT16_0 INT16_1 SATURATE] dst V2I16 src [SRC0 V2I16, SRC1 V2I16]
        text [SATURATE];
    INT2_8 "bytes, two sources" [DST S0 S1 OP2_4 INT8_0 INT8_1 SATURATE] dst V4I8 src [SRC0 V4I8, SRC1 V4I8]
        text [SATURATE];
    INT2_64 "64-bit integer, two sources" [DST S0 S1 OP2_4 INT64_0 INT64_1 SATURATE] dst I64 src [SRC0 I64, SRC1 I64]
        text [SATURATE];
    HADD32 "half addition" [DST S0 S1 OP2_4 INT32_0 INT32_1 RHADD] dst I32 src [SRC0 I32, SRC1 I32] text [RHADD];
    HADD16 "half addition of halves" [DST S0 S1 OP2_4 INT16_0 INT16_1 RHADD] dst V2I16 src [SRC0 V2I16, SRC1 V2I16]
        text [RHADD];
    HADD8 "half addition of bytes" [DST S0 S1 OP2_4 INT8_0 INT8_1 RHADD] dst V4I8 src [SRC0 V4I8, SRC1 V4I8]
        text [RHADD];
    SEG_ADD "segment addition" [DST S0 S1 OP2_4 OP3_NEG INT64_1 PRESERVE_NULL] dst I64 src [SRC0 I64, SRC1 I64]
        text [PRESERVE_NULL];
    SHADDX "shifted addition" [DST S0 S1 OP2_4 INT64_1 SHIFT] dst I64 src [SRC0 I64, SRC1 I64] imm [SHIFT];
    CLPER32 "lane permutation" [DST S0 S1 OP2_4 COUNT32_1 SUBGROUP_FIELD PERMUTE] dst B32 src [SRC0 B32, SRC1 V4I8]
        text [SUBGROUP LANE_OP INACTIVE];
    CLPER64 "64-bit lane permutation" [DST S0 S1 OP2_4 COUNT32_1 SUBGROUP_FIELD PERMUTE] dst B64 src [SRC0 B64, SRC1 V4I8]
        text [SUBGROUP LANE_OP INACTIVE];
    MKVEC16 "halves to vector" [DST S0 S1 OP2_4 HALVES0 HALVES1] dst V2I16 src [SRC0 V2I16, SRC1 V2I16];
    IADD_IMM32 "integer and constant" [DST S0 IMM32] dst I32 src [SRC0 I32] imm [IMM];
    IADD_IMM16 "halves and constants" [DST S0 IMM32] dst V2I16 src [SRC0 V2I16] imm [IMM];
    IADD_IMM8 "bytes and constants" [DST S0 IMM32] dst V4I8 src [SRC0 V4I8] imm [IMM];
    FADD_IMM32 "float and constant" [DST S0 IMM32] dst F32 src [SRC0 F32] imm [IMM];
    FADD_IMM16 "half floats and constants" [DST S0 IMM32] dst V2F16 src [SRC0 V2F16] imm [IMM];
    // Three sources.
    FMA_F32 "multiply and add" [DST_N S0 S1 S2 WIDEN0 WIDEN1 WIDEN2 ABSNEG0 ABSNEG1 ABSNEG2 CLAMP_FIELD ROUND2] dst F32
        src [SRC0 F32, SRC1 F32, SRC2 F32] text [CLAMP ROUND];
    FMA_F16 "multiply and add halves"
        [DST S0 S1 S2 HALVES0 HALVES1 HALVES2 ABSNEG0 ABSNEG1 ABSNEG2 CLAMP_FIELD ROUND2] dst V2F16
        src [SRC0 V2F16, SRC1 V2F16, SRC2 V2F16] text [CLAMP ROUND];
    SHIFT32 "shift and combine" [DST S0 S1 S2 OP2_24 OP3_SHIFT INT32_0 COUNT32_1 NOT2 NOT_RESULT] dst I32
        src [SRC0 I32, SRC1 V4I8, SRC2 I32] text [NOT_RESULT];
    SHIFT16 "shift and combine halves" [DST S0 S1 S2 OP2_24 OP3_SHIFT INT16_0 COUNT16_1 NOT2 NOT_RESULT] dst V2I16
        src [SRC0 V2I16, SRC1 V4I8, SRC2 V2I16] text [NOT_RESULT];
    SHIFT8 "shift and combine bytes" [DST S0 S1 S2 OP2_24 OP3_SHIFT INT8_0 COUNT8_1 NOT2 NOT_RESULT] dst V4I8
        src [SRC0 V4I8, SRC1 V4I8, SRC2 V4I8] text [NOT_RESULT];
    SHIFT64 "64-bit shift and combine" [DST S0 S1 S2 OP2_24 OP3_SHIFT INT64_0 COUNT32_1 NOT2 NOT_RESULT] dst I64
        src [SRC0 I64, SRC1 V4I8, SRC2 I64] text [NOT_RESULT];
    MUX32 "bitwise select" [DST S0 S1 S2 MUX_FIELD] dst B32 src [SRC0 B32, SRC1 B32, SRC2 B32] text [MUX];
    MUX16 "select of halves" [DST S0 S1 S2 HALVES0 HALVES1 HALVES2 MUX_FIELD] dst V2I16
        src [SRC0 V2I16, SRC1 V2I16, SRC2 V2I16] text [MUX];
    MUX8 "select of bytes" [DST S0 S1 S2 MUX_FIELD] dst V4I8 src [SRC0 V4I8, SRC1 V4I8, SRC2 V4I8] text [MUX];
    CUBE_SEL "cube coordinate" [DST S0 S1 S2 OP2_24 WIDEN0 WIDEN1 ABSNEG0 ABSNEG1] dst F32
        src [SRC0 F32, SRC1 F32, SRC2 B32];
    CUBEFACE1 "cube face, magnitude" [DST S0 S1 S2 WIDEN0 WIDEN1 WIDEN2 ABSNEG0 ABSNEG1 ABSNEG2] dst F32
        src [SRC0 F32, SRC1 F32, SRC2 F32];
    CUBEFACE2 "cube face, number" [DST S0 S1 S2 WIDEN0 WIDEN1 WIDEN2 ABSNEG0 ABSNEG1 ABSNEG2] dst B32
        src [SRC0 F32, SRC1 F32, SRC2 F32];
    MKVEC8 "bytes to vector" [DST S0 S1 S2 MKVEC_BYTES] dst V4I8 src [SRC0 V4I8, SRC1 V4I8, SRC2 B32];
    DOT8 "dot product of bytes" [DST S0 S1 S2 OP2_24 SATURATE] dst I32 src [SRC0 V4I8, SRC1 V4I8, SRC2 I32]
        text [SATURATE];
    CARRY "addition with carry" [DST S0 S1 S2 OP2_24 CARRY] dst I32 src [SRC0 I32, SRC1 I32, SRC2 I32] text [CARRY];
    ICMP32 "integer comparison" [DST S0 S1 S2 OP2_24 INT32_0 INT32_1 CMP_FIELD RESULT_FIELD] dst I32
        src [SRC0 I32, SRC1 I32, SRC2 I32] text [CMP RESULT];
    ICMP16 "comparison of halves" [DST S0 S1 S2 OP2_24 INT16_0 INT16_1 CMP_FIELD RESULT_FIELD] dst V2I16
        src [SRC0 V2I16, SRC1 V2I16, SRC2 V2I16] text [CMP RESULT];
    ICMP8 "comparison of bytes" [DST S0 S1 S2 OP2_24 INT8_0 INT8_1 CMP_FIELD RESULT_FIELD] dst V4I8
        src [SRC0 V4I8, SRC1 V4I8, SRC2 V4I8] text [CMP RESULT];
    FCMP_F32 "float comparison" [DST S0 S1 S2 OP2_24 WIDEN0 WIDEN1 ABSNEG0 ABSNEG1 CMP_FIELD RESULT_FIELD] dst I32
        src [SRC0 F32, SRC1 F32, SRC2 I32] text [CMP RESULT];
    FCMP_F16 "comparison of half floats" [DST S0 S1 S2 OP2_24 HALVES0 HALVES1 ABSNEG0 ABSNEG1 CMP_FIELD RESULT_FIELD]
        dst V2I16 src [SRC0 V2F16, SRC1 V2F16, SRC2 V2I16] text [CMP RESULT];
    // Four sources.
    CSEL_F32 "float comparison and select" [DST S0 S1 S2 S3 CMP_FIELD] dst B32
        src [SRC0 F32, SRC1 F32, SRC2 B32, SRC3 B32] text [CMP];
    CSEL_F16 "comparison of half floats and select" [DST S0 S1 S2 S3 CMP_FIELD] dst V2I16
        src [SRC0 V2F16, SRC1 V2F16, SRC2 V2I16, SRC3 V2I16] text [CMP];
    CSEL32 "integer comparison and select" [DST S0 S1 S2 S3 CMP_FIELD] dst B32
        src [SRC0 I32, SRC1 I32, SRC2 B32, SRC3 B32] text [CMP];
    CSEL16 "comparison of halves and select" [DST S0 S1 S2 S3 CMP_FIELD] dst V2I16
        src [SRC0 V2I16, SRC1 V2I16, SRC2 V2I16, SRC3 V2I16] text [CMP];
    FMA_RSCALE "multiply, add and scale" [DST S0 S1 S2 S3 ABSNEG0 ABSNEG1 ABSNEG2 CLAMP_FIELD] dst F32
        src [SRC0 F32, SRC1 F32, SRC2 F32, SRC3 I32] text [CLAMP];
    // Textures.
    TEX_FETCH "texel fetch" [STAGING_RW SLOT_FIELD S0 TEX ARRAY TEXEL_OFFSET] src [SRC0 B64] staging Texture
        text [SLOT SKIP REGISTER_TYPE REGISTER_WIDTH SECONDARY_WIDTH WRITE_MASK DIMENSION WIDE_INDICES ARRAY TEXEL_OFFSET];
    TEX_SINGLE "sample" [STAGING_RW SLOT_FIELD S0 TEX ARRAY TEXEL_OFFSET SHADOW LOD_MODE_FIELD] src [SRC0 B64]
        staging Texture text [SLOT SKIP REGISTER_TYPE REGISTER_WIDTH SECONDARY_WIDTH WRITE_MASK DIMENSION WIDE_INDICES
            ARRAY TEXEL_OFFSET SHADOW LOD_MODE];
    TEX_GATHER "gather" [STAGING_RW SLOT_FIELD S0 TEX ARRAY TEXEL_OFFSET SHADOW INTEGER_COORDS GATHER] src [SRC0 B64]
        staging Texture text [SLOT SKIP REGISTER_TYPE REGISTER_WIDTH SECONDARY_WIDTH WRITE_MASK DIMENSION WIDE_INDICES
            ARRAY TEXEL_OFFSET INTEGER_COORDS FETCH_COMPONENT SHADOW];
    TEX_GRADIENT "gradient" [STAGING_RW SLOT_FIELD S0 TEX FORCE_DELTA LOD_DISABLE DERIVATIVE] src [SRC0 B64]
        staging Texture text [SLOT SKIP REGISTER_TYPE REGISTER_WIDTH SECONDARY_WIDTH WRITE_MASK DIMENSION WIDE_INDICES
            FORCE_DELTA LOD_BIAS_DISABLE LOD_CLAMP_DISABLE DERIVATIVE];
    TEX_WEIGHTS "filter weights" [STAGING_RW SLOT_FIELD S0 TEX ARRAY TEXEL_OFFSET INTEGER_COORDS] src [SRC0 B64]
        staging Texture text [SLOT SKIP REGISTER_TYPE REGISTER_WIDTH SECONDARY_WIDTH WRITE_MASK DIMENSION WIDE_INDICES
            ARRAY TEXEL_OFFSET INTEGER_COORDS];
    VAR_TEX_SINGLE "sample at a varying" [STAGING_W SLOT_FIELD S0 S2 VAR_TEX ARRAY SHADOW LOD_MODE_FIELD]
        src [SRC0 B64, SRC2 B32] staging WriteOnly text [SLOT SKIP SAMPLE_UPDATE REGISTER_TYPE REGISTER_WIDTH DIMENSION
            WIDE_INDICES ARRAY SHADOW LOD_MODE];
    VAR_TEX_GATHER "gather at a varying" [STAGING_W SLOT_FIELD S0 S2 VAR_TEX ARRAY SHADOW INTEGER_COORDS GATHER]
        src [SRC0 B64, SRC2 B32] staging WriteOnly text [SLOT SKIP SAMPLE_UPDATE REGISTER_TYPE REGISTER_WIDTH DIMENSION
            WIDE_INDICES ARRAY INTEGER_COORDS FETCH_COMPONENT SHADOW];
    VAR_TEX_GRADIENT "gradient at a varying" [STAGING_W SLOT_FIELD S0 S2 VAR_TEX ARRAY SHADOW LOD_DISABLE]
        src [SRC0 B64, SRC2 B32] staging WriteOnly text [SLOT SKIP SAMPLE_UPDATE REGISTER_TYPE REGISTER_WIDTH DIMENSION
            WIDE_INDICES ARRAY SHADOW LOD_BIAS_DISABLE LOD_CLAMP_DISABLE];
}
