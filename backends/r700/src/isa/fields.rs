//! Every field and enumeration of the R700 microcode formats, in the order of the R700 ISA document's chapter 10, with
//! its names. Bits count from the low end of the whole instruction, so bit 32 is bit 0 of word 1.
//!
//! R700 ISA ch. 10 and R6xx/R7xx register guide ch. 5; where they differ the guide wins (ERRATA.md).

use gpucc_isa::{Enum, Field, FieldId, Kind, Member, Piece, Span};

/// Names one field; [`gpucc_isa::Inst::get`] and [`gpucc_isa::Inst::set`] take it.
pub mod f {
    use gpucc_isa::FieldId;

    macro_rules! ids {
        ($($name:ident)*) => {
            ids!(@ 0u8, $($name)*);
            /// All ids with their names, in order.
            pub const ALL: &[(FieldId, &str)] = &[$(($name, stringify!($name))),*];
        };
        (@ $n:expr, $name:ident $($rest:ident)*) => {
            pub const $name: FieldId = FieldId($n);
            ids!(@ $n + 1, $($rest)*);
        };
        (@ $n:expr,) => {};
    }

    ids! {
        ADDR POP_COUNT CF_CONST COND COUNT CALL_COUNT END_OF_PROGRAM VALID_PIXEL_MODE CF_INST WHOLE_QUAD_MODE BARRIER
        KCACHE_BANK0 KCACHE_BANK1 KCACHE_MODE0 KCACHE_MODE1 KCACHE_ADDR0 KCACHE_ADDR1 ALT_CONST
        ARRAY_BASE TYPE RW_GPR RW_REL INDEX_GPR ELEM_SIZE SEL_X SEL_Y SEL_Z SEL_W ARRAY_SIZE COMP_MASK BURST_COUNT
        SRC0_SEL SRC0_REL SRC0_CHAN SRC0_NEG SRC1_SEL SRC1_REL SRC1_CHAN SRC1_NEG INDEX_MODE PRED_SEL LAST
        SRC0_ABS SRC1_ABS UPDATE_EXECUTE_MASK UPDATE_PRED WRITE_MASK OMOD ALU_INST
        SRC2_SEL SRC2_REL SRC2_CHAN SRC2_NEG BANK_SWIZZLE DST_GPR DST_REL DST_CHAN CLAMP
        VTX_INST FETCH_TYPE FETCH_WHOLE_QUAD BUFFER_ID SRC_GPR SRC_REL SRC_SEL_X SRC_SEL_Y SRC_SEL_Z SRC_SEL_W
        MEGA_FETCH_COUNT SEMANTIC_ID DST_SEL_X DST_SEL_Y DST_SEL_Z DST_SEL_W USE_CONST_FIELDS DATA_FORMAT
        NUM_FORMAT_ALL FORMAT_COMP_ALL SRF_MODE_ALL OFFSET ENDIAN_SWAP CONST_BUF_NO_STRIDE MEGA_FETCH
        TEX_INST BC_FRAC_MODE RESOURCE_ID LOD_BIAS COORD_TYPE_X COORD_TYPE_Y COORD_TYPE_Z COORD_TYPE_W
        OFFSET_X OFFSET_Y OFFSET_Z SAMPLER_ID
        MEM_OP UNCACHED INDEXED MEM_REQ_SIZE BURST_CNT
        SRC_REL_MODE DST_INDEX DST_STRIDE SIMD_WAVE_REL RD_OFFSET DST_REL_MODE DST_WR_X DST_WR_Y DST_WR_Z DST_WR_W
        BROADCAST WATERFALL MUX_CNTL
        FOG_MERGE USES_WATERFALL
    }
}

macro_rules! enums {
    ($($(#[$doc:meta])* $id:ident $name:literal { $($value:literal $member:literal),* $(,)? })*) => {
        $($(#[$doc])* pub static $id: Enum =
            Enum::new($name, &[$(Member { value: $value, name: $member }),*]);)*
    };
}

enums! {
    /// R700 ISA 10.1 CF_WORD1; the guide has value 1, which the document's chapter 3 leaves out.
    COND_E "COND" { 0 "ACTIVE", 1 "FALSE", 2 "BOOL", 3 "NOT_BOOL" }
    /// R700 ISA 10.1 CF_ALU_WORD0.
    KCACHE_MODE_E "KCACHE_MODE" { 0 "NOP", 1 "LOCK_1", 2 "LOCK_2", 3 "LOCK_LOOP_INDEX" }
    /// TYPE of EXPORT and EXPORT_DONE. R700 ISA 10.1 CF_ALLOC_EXPORT_WORD0.
    EXPORT_TYPE_E "EXPORT_TYPE" { 0 "PIXEL", 1 "POS", 2 "PARAM" }
    /// TYPE of MEM_*: the guide's meaning; the document still says "read" for 2 and 3 (ERRATA E14).
    WRITE_TYPE_E "WRITE_TYPE" { 0 "WRITE", 1 "WRITE_IND", 2 "WRITE_ACK", 3 "WRITE_IND_ACK" }
    /// Component selects of exports and fetch results. 6 is reserved.
    SEL_E "SEL" { 0 "X", 1 "Y", 2 "Z", 3 "W", 4 "0", 5 "1", 7 "MASK" }
    /// Component select of a fetch address: one of four.
    SEL4_E "SEL4" { 0 "X", 1 "Y", 2 "Z", 3 "W" }
    /// R700 ISA 10.2 ALU_WORD0; 5 and 6 only there, not in the guide.
    INDEX_MODE_E "INDEX_MODE" { 0 "AR_X", 1 "AR_Y", 2 "AR_Z", 3 "AR_W", 4 "LOOP", 5 "GLOBAL", 6 "GLOBAL_AR_X" }
    /// R700 ISA 10.2 ALU_WORD0. 1 is reserved.
    PRED_SEL_E "PRED_SEL" { 0 "OFF", 2 "ZERO", 3 "ONE" }
    /// R700 ISA 10.2 ALU_WORD1_OP2.
    OMOD_E "OMOD" { 0 "OFF", 1 "M2", 2 "M4", 3 "D2" }
    /// In a vector slot; the trans slot reads 0..=3 as SCL_210, SCL_122, SCL_212, SCL_221. R700 ISA 4.7.7, 10.2.
    BANK_SWIZZLE_E "BANK_SWIZZLE" {
        0 "VEC_012", 1 "VEC_021", 2 "VEC_120", 3 "VEC_102", 4 "VEC_201", 5 "VEC_210",
    }
    CHAN_E "CHAN" { 0 "X", 1 "Y", 2 "Z", 3 "W" }
    /// R700 ISA 10.3 VTX_WORD0. 3 is reserved.
    FETCH_TYPE_E "FETCH_TYPE" { 0 "VERTEX_DATA", 1 "INSTANCE_DATA", 2 "NO_INDEX_OFFSET" }
    /// R700 ISA 10.3 VTX_WORD1, columns put back in order (ERRATA E15).
    DATA_FORMAT_E "DATA_FORMAT" {
        0 "INVALID", 1 "8", 2 "4_4", 3 "3_3_2", 5 "16", 6 "16_FLOAT", 7 "8_8", 8 "5_6_5", 9 "6_5_5", 10 "1_5_5_5",
        11 "4_4_4_4", 12 "5_5_5_1", 13 "32", 14 "32_FLOAT", 15 "16_16", 16 "16_16_FLOAT", 17 "8_24", 18 "8_24_FLOAT",
        19 "24_8", 20 "24_8_FLOAT", 21 "10_11_11", 22 "10_11_11_FLOAT", 23 "11_11_10", 24 "11_11_10_FLOAT",
        25 "2_10_10_10", 26 "8_8_8_8", 27 "10_10_10_2", 28 "X24_8_32_FLOAT", 29 "32_32", 30 "32_32_FLOAT",
        31 "16_16_16_16", 32 "16_16_16_16_FLOAT", 34 "32_32_32_32", 35 "32_32_32_32_FLOAT", 37 "1", 38 "1_REVERSED",
        39 "GB_GR", 40 "BG_RG", 41 "32_AS_8", 42 "32_AS_8_8", 43 "5_9_9_9_SHAREDEXP", 44 "8_8_8", 45 "16_16_16",
        46 "16_16_16_FLOAT", 47 "32_32_32", 48 "32_32_32_FLOAT", 49 "BC1", 50 "BC2", 51 "BC3", 52 "BC4", 53 "BC5",
        54 "APC0", 55 "APC1", 56 "APC2", 57 "APC3", 58 "APC4", 59 "APC5", 60 "APC6", 61 "APC7", 62 "CTX1",
    }
    NUM_FORMAT_E "NUM_FORMAT" { 0 "NORM", 1 "INT", 2 "SCALED" }
    FORMAT_COMP_E "FORMAT_COMP" { 0 "UNSIGNED", 1 "SIGNED" }
    SRF_MODE_E "SRF_MODE" { 0 "ZERO_CLAMP_MINUS_ONE", 1 "NO_ZERO" }
    ENDIAN_E "ENDIAN" { 0 "NONE", 1 "8IN16", 2 "8IN32" }
    COORD_TYPE_E "COORD_TYPE" { 0 "UNNORMALIZED", 1 "NORMALIZED" }
    /// R700 ISA 10.6. 3 is reserved.
    REL_MODE_E "REL_MODE" { 0 "NONE", 1 "LOOP", 2 "GLOBAL" }
    /// R700 ISA 10.6 MEM_DSR_WORD1.
    MUX_E "MUX_CNTL" { 0 "NONE", 1 "FFT_PERMUTE", 2 "WORD_SELECT" }
}

/// Source selects. R700 ISA 10.2 ALU_WORD0; 244..=247 only there, not in the guide (ERRATA E70).
pub const SRC_SEL: &[Span] = &[
    Span { first: 0, last: 127, name: "GPR" },
    Span { first: 128, last: 159, name: "KCACHE0" },
    Span { first: 160, last: 191, name: "KCACHE1" },
    Span { first: 244, last: 247, name: "DOUBLE" },
    Span { first: 248, last: 252, name: "INLINE" },
    Span { first: 253, last: 253, name: "LITERAL" },
    Span { first: 254, last: 254, name: "PV" },
    Span { first: 255, last: 255, name: "PS" },
    Span { first: 256, last: 511, name: "CFILE" },
];

const U: Kind = Kind::Unsigned;
const B: Kind = Kind::Flag;

const fn e(set: &'static Enum) -> Kind {
    Kind::Enum(set)
}

/// A field in one piece.
macro_rules! at {
    ($id:ident $hi:literal : $lo:literal $kind:expr) => {
        Field::new(f::$id, stringify!($id), &[Piece { hi: $hi, lo: $lo }], $kind)
    };
}

/// A field of pieces, the most significant first.
macro_rules! pieces {
    ($id:ident [$($hi:literal : $lo:literal),*] $kind:expr) => {
        Field::new(f::$id, stringify!($id), &[$(Piece { hi: $hi, lo: $lo }),*], $kind)
    };
}

/// R700 ISA 10.1 CF_WORD0, CF_WORD1.
#[rustfmt::skip]
pub const CF: &[Field] = &[
    at!(ADDR             31:0  U),
    at!(POP_COUNT        34:32 U),
    at!(CF_CONST         39:35 U),
    at!(COND             41:40 e(&COND_E)),
    pieces!(COUNT        [51:51, 44:42] U).minus_one(),
    at!(CALL_COUNT       50:45 U),
    at!(END_OF_PROGRAM   53:53 B),
    at!(VALID_PIXEL_MODE 54:54 B),
    at!(CF_INST          61:55 U),
    at!(WHOLE_QUAD_MODE  62:62 B),
    at!(BARRIER          63:63 B).usually(1),
];

/// R700 ISA 10.1 CF_ALU_WORD0, CF_ALU_WORD1.
#[rustfmt::skip]
pub const CF_ALU: &[Field] = &[
    at!(ADDR            21:0  U),
    at!(KCACHE_BANK0    25:22 U),
    at!(KCACHE_BANK1    29:26 U),
    at!(KCACHE_MODE0    31:30 e(&KCACHE_MODE_E)),
    at!(KCACHE_MODE1    33:32 e(&KCACHE_MODE_E)),
    at!(KCACHE_ADDR0    41:34 U),
    at!(KCACHE_ADDR1    49:42 U),
    at!(COUNT           56:50 U).minus_one(),
    at!(ALT_CONST       57:57 B),
    at!(CF_INST         61:58 U),
    at!(WHOLE_QUAD_MODE 62:62 B),
    at!(BARRIER         63:63 B).usually(1),
];

/// R700 ISA 10.1 CF_ALLOC_EXPORT_WORD0 without TYPE, whose values depend on the instruction.
#[rustfmt::skip]
pub const ALLOC_EXPORT0: &[Field] = &[
    at!(ARRAY_BASE 12:0  U),
    at!(RW_GPR     21:15 U),
    at!(RW_REL     22:22 B),
    at!(INDEX_GPR  29:23 U),
    at!(ELEM_SIZE  31:30 U),
];

pub const TYPE_EXPORT: &[Field] = &[at!(TYPE 14:13 e(&EXPORT_TYPE_E))];
pub const TYPE_WRITE: &[Field] = &[at!(TYPE 14:13 e(&WRITE_TYPE_E))];

/// R700 ISA 10.1 CF_ALLOC_EXPORT_WORD1.
#[rustfmt::skip]
pub const ALLOC_EXPORT1: &[Field] = &[
    at!(BURST_COUNT      52:49 U).minus_one(),
    at!(END_OF_PROGRAM   53:53 B),
    at!(VALID_PIXEL_MODE 54:54 B),
    at!(CF_INST          61:55 U),
    at!(WHOLE_QUAD_MODE  62:62 B),
    at!(BARRIER          63:63 B).usually(1),
];

/// R700 ISA 10.1 CF_ALLOC_EXPORT_WORD1_BUF.
#[rustfmt::skip]
pub const ALLOC_EXPORT_BUF: &[Field] = &[
    at!(ARRAY_SIZE 43:32 U),
    at!(COMP_MASK  47:44 U),
];

/// R700 ISA 10.1 CF_ALLOC_EXPORT_WORD1_SWIZ.
#[rustfmt::skip]
pub const ALLOC_EXPORT_SWIZ: &[Field] = &[
    at!(SEL_X 34:32 e(&SEL_E)),
    at!(SEL_Y 37:35 e(&SEL_E)),
    at!(SEL_Z 40:38 e(&SEL_E)),
    at!(SEL_W 43:41 e(&SEL_E)),
];

/// R700 ISA 10.2 ALU_WORD0.
#[rustfmt::skip]
pub const ALU0: &[Field] = &[
    at!(SRC0_SEL    8:0   Kind::Select(SRC_SEL)),
    at!(SRC0_REL    9:9   B),
    at!(SRC0_CHAN  11:10  e(&CHAN_E)),
    at!(SRC0_NEG   12:12  B),
    at!(SRC1_SEL   21:13  Kind::Select(SRC_SEL)),
    at!(SRC1_REL   22:22  B),
    at!(SRC1_CHAN  24:23  e(&CHAN_E)),
    at!(SRC1_NEG   25:25  B),
    at!(INDEX_MODE 28:26  e(&INDEX_MODE_E)),
    at!(PRED_SEL   30:29  e(&PRED_SEL_E)),
    at!(LAST       31:31  B),
];

/// R700 ISA 10.2 ALU_WORD1_OP2_V2, below bit 18. ALU_INST is 11 bits on R700 (ERRATA E1).
#[rustfmt::skip]
pub const ALU1_OP2: &[Field] = &[
    at!(SRC0_ABS            32:32 B),
    at!(SRC1_ABS            33:33 B),
    at!(UPDATE_EXECUTE_MASK 34:34 B),
    at!(UPDATE_PRED         35:35 B),
    at!(WRITE_MASK          36:36 B).usually(1),
    at!(OMOD                38:37 e(&OMOD_E)),
    at!(ALU_INST            49:39 U),
];

/// R700 ISA 10.2 ALU_WORD1_OP3, below bit 18.
#[rustfmt::skip]
pub const ALU1_OP3: &[Field] = &[
    at!(SRC2_SEL  40:32 Kind::Select(SRC_SEL)),
    at!(SRC2_REL  41:41 B),
    at!(SRC2_CHAN 43:42 e(&CHAN_E)),
    at!(SRC2_NEG  44:44 B),
    at!(ALU_INST  49:45 U),
];

/// The half of ALU_WORD1 that OP2 and OP3 share. R700 ISA 10.2.
#[rustfmt::skip]
pub const ALU1: &[Field] = &[
    at!(BANK_SWIZZLE 52:50 e(&BANK_SWIZZLE_E)),
    at!(DST_GPR      59:53 U),
    at!(DST_REL      60:60 B),
    at!(DST_CHAN     62:61 e(&CHAN_E)),
    at!(CLAMP        63:63 B),
];

/// R700 ISA 10.3 VTX_WORD0.
#[rustfmt::skip]
pub const VTX0: &[Field] = &[
    at!(VTX_INST          4:0  U),
    at!(FETCH_TYPE        6:5  e(&FETCH_TYPE_E)),
    at!(FETCH_WHOLE_QUAD  7:7  B),
    at!(BUFFER_ID        15:8  U),
    at!(SRC_GPR          22:16 U),
    at!(SRC_REL          23:23 B),
    at!(SRC_SEL_X        25:24 e(&SEL4_E)),
    at!(MEGA_FETCH_COUNT 31:26 U).minus_one(),
];

/// The destination of VTX_WORD1_GPR, TEX_WORD1 and MEM_RD_WORD1. R700 ISA 10.3 to 10.5.
#[rustfmt::skip]
pub const DST: &[Field] = &[
    at!(DST_GPR 38:32 U),
    at!(DST_REL 39:39 B),
];

/// VTX_WORD1_SEM. R700 ISA 10.3.
pub const SEMANTIC: &[Field] = &[at!(SEMANTIC_ID 39:32 U)];

/// The selects of every fetch result. R700 ISA 10.3 to 10.5.
#[rustfmt::skip]
pub const DST_SEL: &[Field] = &[
    at!(DST_SEL_X 43:41 e(&SEL_E)),
    at!(DST_SEL_Y 46:44 e(&SEL_E)),
    at!(DST_SEL_Z 49:47 e(&SEL_E)),
    at!(DST_SEL_W 52:50 e(&SEL_E)),
];

/// R700 ISA 10.3 VTX_WORD1.
pub const VTX1_CONST: &[Field] = &[at!(USE_CONST_FIELDS 53:53 B)];

/// The number format of VTX_WORD1 and MEM_RD_WORD1. R700 ISA 10.3, 10.5.
#[rustfmt::skip]
pub const DATA: &[Field] = &[
    at!(DATA_FORMAT     59:54 e(&DATA_FORMAT_E)),
    at!(NUM_FORMAT_ALL  61:60 e(&NUM_FORMAT_E)),
    at!(FORMAT_COMP_ALL 62:62 e(&FORMAT_COMP_E)),
    at!(SRF_MODE_ALL    63:63 e(&SRF_MODE_E)),
];

/// R700 ISA 10.3 VTX_WORD2.
#[rustfmt::skip]
pub const VTX2: &[Field] = &[
    at!(OFFSET              79:64 U),
    at!(ENDIAN_SWAP         81:80 e(&ENDIAN_E)),
    at!(CONST_BUF_NO_STRIDE 82:82 B),
    at!(MEGA_FETCH          83:83 B),
    at!(ALT_CONST           84:84 B),
];

/// R700 ISA 10.4 TEX_WORD0; ALT_CONST as in the guide (ERRATA E58).
#[rustfmt::skip]
pub const TEX0: &[Field] = &[
    at!(TEX_INST          4:0  U),
    at!(BC_FRAC_MODE      5:5  B),
    at!(FETCH_WHOLE_QUAD  7:7  B),
    at!(RESOURCE_ID      15:8  U),
    at!(SRC_GPR          22:16 U),
    at!(SRC_REL          23:23 B),
    at!(ALT_CONST        24:24 B),
];

/// R700 ISA 10.4 TEX_WORD1 above DST_SEL_W.
#[rustfmt::skip]
pub const TEX1: &[Field] = &[
    at!(LOD_BIAS     59:53 Kind::Fixed(4)),
    at!(COORD_TYPE_X 60:60 e(&COORD_TYPE_E)).usually(1),
    at!(COORD_TYPE_Y 61:61 e(&COORD_TYPE_E)).usually(1),
    at!(COORD_TYPE_Z 62:62 e(&COORD_TYPE_E)).usually(1),
    at!(COORD_TYPE_W 63:63 e(&COORD_TYPE_E)).usually(1),
];

/// R700 ISA 10.4 TEX_WORD2. Offsets are in half texels (ERRATA E59); the selects take MASK as well (ERRATA E75).
#[rustfmt::skip]
pub const TEX2: &[Field] = &[
    at!(OFFSET_X   68:64 Kind::Fixed(1)),
    at!(OFFSET_Y   73:69 Kind::Fixed(1)),
    at!(OFFSET_Z   78:74 Kind::Fixed(1)),
    at!(SAMPLER_ID 83:79 U),
    at!(SRC_SEL_X  86:84 e(&SEL_E)),
    at!(SRC_SEL_Y  89:87 e(&SEL_E)),
    at!(SRC_SEL_Z  92:90 e(&SEL_E)),
    at!(SRC_SEL_W  95:93 e(&SEL_E)),
];

/// R700 ISA 10.5 MEM_RD_WORD0.
#[rustfmt::skip]
pub const MEM_RD0: &[Field] = &[
    at!(VTX_INST          4:0  U),
    at!(ELEM_SIZE         6:5  U),
    at!(FETCH_WHOLE_QUAD  7:7  B),
    at!(MEM_OP           10:8  U),
    at!(UNCACHED         11:11 B),
    at!(INDEXED          12:12 B),
    at!(MEM_REQ_SIZE     14:13 U),
    at!(SRC_GPR          22:16 U),
    at!(SRC_REL          23:23 B),
    at!(SRC_SEL_X        25:24 e(&SEL4_E)),
    at!(BURST_CNT        29:26 U).minus_one(),
];

/// R700 ISA 10.5 MEM_RD_WORD2.
#[rustfmt::skip]
pub const MEM_RD2: &[Field] = &[
    at!(ARRAY_BASE  76:64 U),
    at!(ENDIAN_SWAP 81:80 e(&ENDIAN_E)),
    at!(MEGA_FETCH  83:83 B),
    at!(ARRAY_SIZE  95:84 U),
];

/// R700 ISA 10.6 MEM_DSW_WORD0 to MEM_DSW_WORD2.
#[rustfmt::skip]
pub const MEM_DSW: &[Field] = &[
    at!(VTX_INST       4:0  U),
    at!(MEM_OP        10:8  U),
    at!(SRC_GPR       17:11 U),
    at!(SRC_REL_MODE  19:18 e(&REL_MODE_E)),
    at!(SRC_SEL_X     22:20 e(&SEL_E)),
    at!(SRC_SEL_Y     25:23 e(&SEL_E)),
    at!(SRC_SEL_Z     28:26 e(&SEL_E)),
    at!(SRC_SEL_W     31:29 e(&SEL_E)),
    at!(DST_INDEX     39:32 U),
    at!(DST_STRIDE    56:48 U),
    at!(SIMD_WAVE_REL 63:63 B),
    at!(BURST_CNT     67:64 U).minus_one(),
];

/// R700 ISA 10.6 MEM_DSR_WORD0 to MEM_DSR_WORD2.
#[rustfmt::skip]
pub const MEM_DSR: &[Field] = &[
    at!(VTX_INST      4:0  U),
    at!(MEM_OP       10:8  U),
    at!(SRC_GPR      17:11 U),
    at!(SRC_REL_MODE 19:18 e(&REL_MODE_E)),
    at!(SRC_SEL_X    22:20 e(&SEL_E)),
    at!(SRC_SEL_Y    25:23 e(&SEL_E)),
    at!(RD_OFFSET    31:26 U),
    at!(DST_GPR      38:32 U),
    at!(DST_REL_MODE 40:39 e(&REL_MODE_E)),
    at!(DST_WR_X     41:41 B),
    at!(DST_WR_Y     42:42 B),
    at!(DST_WR_Z     43:43 B),
    at!(DST_WR_W     44:44 B),
    at!(BROADCAST    48:48 B),
    at!(WATERFALL    49:49 B),
    at!(MUX_CNTL     54:52 e(&MUX_E)),
    at!(BURST_CNT    67:64 U).minus_one(),
];

/// The fields `X Y Z W` of one kind, for code that walks the components.
pub const SELS: [FieldId; 4] = [f::SEL_X, f::SEL_Y, f::SEL_Z, f::SEL_W];
pub const DST_SELS: [FieldId; 4] = [f::DST_SEL_X, f::DST_SEL_Y, f::DST_SEL_Z, f::DST_SEL_W];
pub const SRC_SELS: [FieldId; 4] = [f::SRC_SEL_X, f::SRC_SEL_Y, f::SRC_SEL_Z, f::SRC_SEL_W];
pub const COORD_TYPES: [FieldId; 4] =
    [f::COORD_TYPE_X, f::COORD_TYPE_Y, f::COORD_TYPE_Z, f::COORD_TYPE_W];
pub const DST_WRS: [FieldId; 4] = [f::DST_WR_X, f::DST_WR_Y, f::DST_WR_Z, f::DST_WR_W];
