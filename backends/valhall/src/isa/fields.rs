//! Fields and enumerations of the 64-bit instruction word. Names of values are those of the public assembler (Mesa
//! 25.0.7); where Arm's description names a value that Mesa lacks, its name is Arm's.
//!
//! A field id means the same in every row, whatever bits hold it: `SWZ0` selects lanes of source 0 whether the row calls
//! that widening, a swizzle, a lane or a byte, and the row's enumeration says which.

use gpucc_isa::{Enum, Field, FieldId, Kind, Member, Piece};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// Ids of all fields.
        pub mod f {
            use gpucc_isa::FieldId;
            $($(#[$doc])* pub const $name: FieldId = FieldId($id);)*
        }
    };
}

ids! {
    /// The 9-bit opcode.
    OPCODE = 0,
    /// Second opcode, where several rows share one opcode.
    OP2 = 1,
    /// Third opcode: shift operation, direction of a segment addition.
    OP3 = 2,
    /// Page of fast-access uniforms and special values that every such source refers to.
    FAU_PAGE = 3,
    /// What happens after the instruction: waits, reconvergence, end.
    FLOW = 4,
    DST = 5,
    /// Halves of the destination that are written.
    DST_MASK = 6,
    /// First staging register; the only one, or the one that is read where another is written.
    SR = 7,
    /// Whether staging registers are read, written or both.
    SR_CONTROL = 8,
    /// Number of staging registers that `SR` names.
    SR_COUNT = 9,
    /// First staging register that is written where `SR` is read.
    SR_WRITE = 10,
    /// Number of staging registers that are written, less one.
    SR_WRITE_COUNT = 11,
    /// Dependency slot that the message signals.
    SLOT = 12,
    /// Source bytes, by place in the word.
    SRC0 = 13,
    SRC1 = 14,
    SRC2 = 15,
    SRC3 = 16,
    NEG0 = 17,
    NEG1 = 18,
    NEG2 = 19,
    ABS0 = 20,
    ABS1 = 21,
    ABS2 = 22,
    /// Lanes of a source: widening, swizzle, lane or byte selection.
    SWZ0 = 23,
    SWZ1 = 24,
    SWZ2 = 25,
    /// Source 2 is inverted bit by bit.
    NOT2 = 26,
    /// The result is inverted bit by bit.
    NOT_RESULT = 27,
    CLAMP = 28,
    ROUND = 29,
    CMP = 30,
    /// What a comparison returns for true.
    RESULT = 31,
    SATURATE = 32,
    MUX = 33,
    /// Half-additions round up.
    RHADD = 34,
    SUBGROUP = 35,
    LANE_OP = 36,
    INACTIVE = 37,
    NAN_MODE = 38,
    FTZ = 39,
    FLUSH_INF = 40,
    SQRT = 41,
    LOG = 42,
    NEG_RESULT = 43,
    /// The 32-bit constant of the _IMM instructions.
    IMM = 44,
    /// Byte offset of an access, or instructions a branch skips.
    OFFSET = 45,
    /// Which part of a branch condition counts.
    COMBINE = 46,
    CONSERVATIVE = 47,
    /// Branches if zero.
    EQ = 48,
    ABSOLUTE = 49,
    DIVERGE = 50,
    STACK_MODE = 51,
    VECSIZE = 52,
    REGFMT = 53,
    SOURCE_FORMAT = 54,
    SAMPLE = 55,
    UPDATE = 56,
    SAMPLE_UPDATE = 57,
    INDEX = 58,
    TABLE = 59,
    /// Memory access hint.
    ACCESS = 60,
    /// Where a narrow load lands in its register.
    LANE = 61,
    UNSIGNED = 62,
    TARGET = 63,
    Z = 64,
    STENCIL = 65,
    Z_STENCIL = 66,
    ATOM_OP = 67,
    COMPARE = 68,
    /// Left shift of the added operand.
    SHIFT = 69,
    PRESERVE_NULL = 70,
    SKIP = 71,
    REGISTER_TYPE = 72,
    REGISTER_WIDTH = 73,
    SECONDARY_WIDTH = 74,
    WRITE_MASK = 75,
    DIMENSION = 76,
    WIDE_INDICES = 77,
    ARRAY = 78,
    TEXEL_OFFSET = 79,
    SHADOW = 80,
    LOD_MODE = 81,
    INTEGER_COORDS = 82,
    FETCH_COMPONENT = 83,
    FORCE_DELTA = 84,
    LOD_BIAS_DISABLE = 85,
    LOD_CLAMP_DISABLE = 86,
    DERIVATIVE = 87,
    STICKY = 88,
    /// NaN in minimum and maximum.
    SEM = 89,
    /// Treatment of infinities when scaling.
    INF = 90,
    /// Leading ones instead of zeroes.
    MASK = 91,
    CARRY = 92,
    TABLE_OFFSET = 93,
    TABLE_SCALE = 94,
    ADJ = 95,
    LOG_MODE = 96,
    PRECISION = 97,
    POW = 98,
    CLOCK = 99,
    SOURCE_F32 = 100,
}

macro_rules! enums {
    ($($(#[$doc:meta])* $name:ident $title:literal [$($value:literal $text:literal),* $(,)?];)*) => {
        $($(#[$doc])* pub static $name: Enum =
            Enum::new($title, &[$(Member { value: $value, name: $text }),*]);)*
    };
}

enums! {
    FLOW "flow" [0 "none", 1 "wait0", 2 "wait1", 3 "wait01", 4 "wait2", 5 "wait02", 6 "wait12", 7 "wait012",
        8 "wait0126", 9 "wait", 10 "reconverge", 13 "discard", 15 "end"];
    DST_MASK "destination mask" [1 "h0", 2 "h1", 3 "none"];
    /// Float results may also be narrowed to 16 bits, written to both halves.
    DST_NARROW "narrowing destination mask" [0 "h01", 1 "h0", 2 "h1", 3 "none"];
    SR_CONTROL "staging control" [1 "read", 2 "write", 3 "read_write"];
    SLOT "slot" [0 "slot0", 1 "slot1", 2 "slot2", 7 "slot7"];
    WIDEN_F32 "widen f16" [0 "none", 1 "h0", 2 "h1"];
    SWZ_F16 "halves" [0 "h00", 1 "h10", 2 "h01", 3 "h11"];
    WIDEN_I32 "widen to 32" [0 "none", 2 "h0", 3 "h1", 4 "b0", 5 "b1", 6 "b2", 7 "b3"];
    WIDEN_I64 "widen to 64" [0 "none", 2 "h0", 3 "h1", 4 "b0", 5 "b1", 6 "b2", 7 "b3", 8 "w0", 9 "w1"];
    SWZ_I16 "halves or bytes to 16" [0 "h00", 1 "h10", 2 "h01", 3 "h11", 4 "b00", 5 "b20", 6 "b02", 7 "b22", 8 "b11",
        9 "b31", 10 "b13", 11 "b33", 12 "b01", 13 "b23"];
    SWZ_I8 "bytes" [0 "b0123", 1 "b3210", 2 "b0101", 3 "b2323", 4 "b0000", 5 "b1111", 6 "b2222", 7 "b3333", 8 "b2301",
        9 "b1032", 10 "b0011", 11 "b2233"];
    LANE8 "byte" [0 "b0", 1 "b1", 2 "b2", 3 "b3"];
    LANE16 "half" [0 "h0", 1 "h1"];
    HALF_SWZ "two bytes" [0 "b00", 1 "b10", 2 "b20", 3 "b30", 4 "b01", 5 "b11", 6 "b21", 7 "b31", 8 "b02", 9 "b12",
        10 "b22", 11 "b32", 12 "b03", 13 "b13", 14 "b23", 15 "b33"];
    /// The public assembler writes one digit twice for one byte. 0 stands in words of Mesa 22 and reads as reserved.
    COUNT_B32 "shift count byte" [0 "reserved", 4 "b00", 5 "b11", 6 "b22", 7 "b33"];
    COUNT_B16 "shift count bytes" [0 "b02", 4 "b00", 5 "b11", 6 "b22", 7 "b33", 10 "b01", 11 "b23"];
    COUNT_B8 "shift count lanes" [0 "b0123", 1 "b3210", 2 "b0101", 3 "b2323", 4 "b00", 5 "b11", 6 "b22", 7 "b33",
        8 "b2301", 9 "b1032", 10 "b0011", 11 "b2233"];
    CLAMP "clamp" [0 "none", 1 "clamp_0_inf", 2 "clamp_m1_1", 3 "clamp_0_1"];
    ROUND "round" [0 "rte", 1 "rtp", 2 "rtn", 3 "rtz"];
    ROUND_NA "round or ties away" [0 "rte", 1 "rtp", 2 "rtn", 3 "rtz", 4 "rtna"];
    CMP "condition" [0 "eq", 1 "gt", 2 "ge", 3 "ne", 4 "lt", 5 "le", 6 "gtlt", 7 "total"];
    RESULT "result type" [0 "i1", 1 "f1", 2 "m1", 3 "u1"];
    MUX "mux" [0 "neg", 1 "int_zero", 2 "fp_zero", 3 "bit"];
    SUBGROUP "subgroup" [0 "subgroup2", 1 "subgroup4", 2 "subgroup8", 3 "subgroup16"];
    LANE_OP "lane operation" [0 "none", 1 "xor", 2 "accumulate", 3 "shift", 4 "rotate"];
    INACTIVE "inactive result" [0 "zero", 1 "umax", 2 "i1", 3 "v2i1", 4 "smin", 5 "smax", 6 "v2smin", 7 "v2smax",
        8 "v4smin", 9 "v4smax", 10 "f1", 11 "v2f1", 12 "infn", 13 "inf", 14 "v2infn", 15 "v2inf"];
    NAN_MODE "nan mode" [0 "none", 1 "flush_nan", 2 "quiet_nan"];
    COMBINE "combine" [0 "none", 1 "h0", 2 "h1", 3 "and", 4 "lowbits"];
    STACK_MODE "stack mode" [0 "return", 1 "call", 2 "none", 3 "replace"];
    VECSIZE "vector size" [0 "none", 1 "v2", 2 "v3", 3 "v4"];
    REGFMT "register format" [0 "auto", 2 "f32", 3 "f16", 4 "s32", 5 "s16", 6 "u32", 7 "u16"];
    /// 7 stands in words of Mesa 22, whose text calls it by its neighbour's name.
    SOURCE_FORMAT "source format" [0 "src_flat32", 1 "src_flat16", 2 "src_f32", 3 "src_f16", 7 "explicit_store"];
    SAMPLE "sample" [0 "center", 1 "centroid", 2 "sample", 3 "explicit"];
    UPDATE "update" [0 "store", 1 "retrieve", 3 "clobber"];
    SAMPLE_UPDATE "sample and update" [0 "center_store", 1 "centroid_store", 2 "sample_store", 3 "explicit_store",
        4 "center_clobber", 6 "sample_clobber", 7 "retrieve"];
    ACCESS "memory access" [0 "none", 1 "istream", 2 "estream", 3 "force"];
    LOAD_LANE8 "load lane of 8" [0 "b0", 1 "b1", 2 "b2", 3 "b3", 4 "h0", 5 "h1", 6 "w0", 7 "d0"];
    LOAD_LANE16 "load lane of 16" [0 "h0", 1 "h1", 2 "w0", 3 "d0"];
    LOAD_LANE32 "load lane of 32" [0 "w0", 1 "d0"];
    STORE_BYTE_LANE "byte to store" [0 "b0", 1 "b1", 2 "b2", 3 "b3"];
    STORE_HALF_LANE "half to store" [0 "h0", 1 "h1"];
    ATOM_OP "atomic operation" [0 "aaddu", 1 "aadds", 2 "aadd", 8 "asmin", 9 "asmax", 10 "aumin", 11 "aumax", 12 "aand",
        13 "aor", 14 "axor", 15 "axchg"];
    ATOM1_OP "atomic operation with 1" [0 "ainc", 1 "adec", 2 "aumax1", 3 "asmax1", 4 "aor1"];
    REGISTER_TYPE "register type" [0 "none", 1 "f", 2 "u", 3 "s"];
    REGISTER_WIDTH "register width" [0 "16", 1 "32"];
    SECONDARY_WIDTH "secondary width" [0 "16", 1 "32"];
    VARTEX_WIDTH "register widths" [0 "16", 1 "32", 2 "16.32", 3 "32.32"];
    WRITE_MASK "write mask" [1 "r", 2 "g", 3 "rg", 4 "b", 5 "rb", 6 "gb", 7 "rgb", 8 "a", 9 "ra", 10 "ga", 11 "rga",
        12 "ba", 13 "rba", 14 "gba", 15 "rgba"];
    DIMENSION "dimension" [0 "1d", 1 "2d", 2 "3d", 3 "cube"];
    LOD_MODE "LOD mode" [0 "zero", 1 "computed", 4 "explicit", 5 "computed_bias", 6 "grdesc"];
    FETCH_COMPONENT "component" [0 "gather4_r", 1 "gather4_g", 2 "gather4_b", 3 "gather4_a"];
    SEM "NaN" [0 "nan_suppress", 1 "nan_propagate"];
    INF "infinity" [0 "none", 1 "inf", 2 "inf0"];
    ADJ "adjustment" [0 "none", 2 "low"];
    LOG_MODE "logarithm" [0 "red", 1 "base2", 2 "natural"];
    PRECISION "precision" [0 "none", 1 "high", 2 "low"];
    POW "power" [0 "pow", 1 "powr"];
    CLOCK "clock" [6 "cycle_counter", 7 "system_timestamp"];
}

/// Enumerations whose every value is written; of all others the usual value is left out.
pub static ALWAYS_WRITTEN: &[&Enum] = &[
    &SLOT,
    &LANE8,
    &LANE16,
    &HALF_SWZ,
    &COUNT_B32,
    &COUNT_B16,
    &COUNT_B8,
    &CMP,
    &RESULT,
    &REGFMT,
    &SOURCE_FORMAT,
    &SAMPLE,
    &UPDATE,
    &SAMPLE_UPDATE,
    &ATOM_OP,
    &ATOM1_OP,
    &NAN_MODE,
    &REGISTER_WIDTH,
    &SECONDARY_WIDTH,
    &VARTEX_WIDTH,
    &DIMENSION,
    &LOD_MODE,
    &FETCH_COMPONENT,
    &CLOCK,
];

macro_rules! bits {
    ($hi:literal : $lo:literal) => {
        &[Piece { hi: $hi, lo: $lo }]
    };
    ($bit:literal) => {
        &[Piece { hi: $bit, lo: $bit }]
    };
}

const fn number(id: FieldId, name: &'static str, at: &'static [Piece]) -> Field {
    Field::new(id, name, at, Kind::Unsigned)
}
const fn signed(id: FieldId, name: &'static str, at: &'static [Piece]) -> Field {
    Field::new(id, name, at, Kind::Signed)
}
const fn flag(id: FieldId, name: &'static str, at: &'static [Piece]) -> Field {
    Field::new(id, name, at, Kind::Flag)
}
const fn named(id: FieldId, name: &'static str, at: &'static [Piece], set: &'static Enum) -> Field {
    Field::new(id, name, at, Kind::Enum(set))
}

/// In every word: opcode, page, flow.
pub const WORD: &[Field] = &[
    number(f::OPCODE, "opcode", bits!(56:48)),
    number(f::FAU_PAGE, "fau_page", bits!(58:57)),
    named(f::FLOW, "flow", bits!(62:59), &FLOW),
];

/// A destination register.
pub const DST: &[Field] = &[
    number(f::DST, "dst", bits!(45:40)),
    named(f::DST_MASK, "dst_mask", bits!(47:46), &DST_MASK).usually(3),
];
/// A destination that can be narrowed to 16 bits.
pub const DST_N: &[Field] = &[
    number(f::DST, "dst", bits!(45:40)),
    named(f::DST_MASK, "dst_mask", bits!(47:46), &DST_NARROW).usually(3),
];
/// No destination: the mask stays, and is full.
pub const NO_DST: &[Field] = &[named(f::DST_MASK, "dst_mask", bits!(47:46), &DST_MASK).usually(3)];

/// Staging registers that are read or written, as the control says.
pub const STAGING: &[Field] = &[
    number(f::SR_COUNT, "sr_count", bits!(35:33)).usually(1),
    number(f::SR, "sr", bits!(45:40)),
    named(f::SR_CONTROL, "sr_control", bits!(47:46), &SR_CONTROL),
];
/// Staging registers that are written, counted less one.
pub const STAGING_W: &[Field] = &[
    number(f::SR_WRITE_COUNT, "sr_write_count", bits!(38:36)).minus_one(),
    number(f::SR, "sr", bits!(45:40)),
    named(f::SR_CONTROL, "sr_control", bits!(47:46), &SR_CONTROL),
];
/// One group of staging registers that is read and one that is written.
pub const STAGING_RW: &[Field] = &[
    number(f::SR_WRITE, "sr_write", bits!(21:16)),
    number(f::SR_COUNT, "sr_count", bits!(35:33)).usually(1),
    number(f::SR_WRITE_COUNT, "sr_write_count", bits!(38:36)).minus_one(),
    number(f::SR, "sr", bits!(45:40)),
];
pub const SR_CONTROL_FIELD: &[Field] =
    &[named(f::SR_CONTROL, "sr_control", bits!(47:46), &SR_CONTROL)];
pub const SLOT_FIELD: &[Field] = &[named(f::SLOT, "slot", bits!(32:30), &SLOT)];

pub const S0: &[Field] = &[number(f::SRC0, "src0", bits!(7:0))];
pub const S1: &[Field] = &[number(f::SRC1, "src1", bits!(15:8))];
pub const S2: &[Field] = &[number(f::SRC2, "src2", bits!(23:16))];
pub const S3: &[Field] = &[number(f::SRC3, "src3", bits!(31:24))];

pub const ABSNEG0: &[Field] = &[flag(f::NEG0, "neg0", bits!(38)), flag(f::ABS0, "abs0", bits!(39))];
pub const ABSNEG1: &[Field] = &[flag(f::NEG1, "neg1", bits!(36)), flag(f::ABS1, "abs1", bits!(37))];
pub const ABSNEG2: &[Field] = &[flag(f::NEG2, "neg2", bits!(34)), flag(f::ABS2, "abs2", bits!(35))];
pub const WIDEN0: &[Field] = &[named(f::SWZ0, "widen0", bits!(29:28), &WIDEN_F32)];
pub const WIDEN1: &[Field] = &[named(f::SWZ1, "widen1", bits!(27:26), &WIDEN_F32)];
pub const WIDEN2: &[Field] = &[named(f::SWZ2, "widen2", bits!(25:24), &WIDEN_F32)];
pub const HALVES0: &[Field] = &[named(f::SWZ0, "swz0", bits!(29:28), &SWZ_F16).usually(2)];
pub const HALVES1: &[Field] = &[named(f::SWZ1, "swz1", bits!(27:26), &SWZ_F16).usually(2)];
pub const HALVES2: &[Field] = &[named(f::SWZ2, "swz2", bits!(25:24), &SWZ_F16).usually(2)];
pub const INT32_0: &[Field] = &[named(f::SWZ0, "widen0", bits!(39:36), &WIDEN_I32)];
pub const INT32_1: &[Field] = &[named(f::SWZ1, "widen1", bits!(29:26), &WIDEN_I32)];
pub const INT16_0: &[Field] = &[named(f::SWZ0, "swz0", bits!(39:36), &SWZ_I16).usually(2)];
pub const INT16_1: &[Field] = &[named(f::SWZ1, "swz1", bits!(29:26), &SWZ_I16).usually(2)];
pub const INT8_0: &[Field] = &[named(f::SWZ0, "lanes0", bits!(39:36), &SWZ_I8)];
pub const INT8_1: &[Field] = &[named(f::SWZ1, "lanes1", bits!(29:26), &SWZ_I8)];
pub const INT64_0: &[Field] = &[named(f::SWZ0, "widen0", bits!(39:36), &WIDEN_I64)];
pub const INT64_1: &[Field] = &[named(f::SWZ1, "widen1", bits!(29:26), &WIDEN_I64)];
pub const COUNT32_1: &[Field] = &[named(f::SWZ1, "lanes1", bits!(29:26), &COUNT_B32).usually(4)];
pub const COUNT16_1: &[Field] = &[named(f::SWZ1, "lanes1", bits!(29:26), &COUNT_B16).usually(4)];
pub const COUNT8_1: &[Field] = &[named(f::SWZ1, "lanes1", bits!(29:26), &COUNT_B8).usually(4)];
pub const BYTE0: &[Field] = &[named(f::SWZ0, "lane0", bits!(29:28), &LANE8)];
pub const HALF0: &[Field] = &[named(f::SWZ0, "lane0", bits!(28), &LANE16)];
pub const BYTES0: &[Field] = &[named(f::SWZ0, "swz0", bits!(39:36), &HALF_SWZ).usually(8)];
pub const MKVEC_BYTES: &[Field] =
    &[named(f::SWZ0, "lane0", bits!(39:38), &LANE8), named(f::SWZ1, "lane1", bits!(37:36), &LANE8)];
pub const NOT2: &[Field] = &[flag(f::NOT2, "not", bits!(35))];
pub const NOT_RESULT: &[Field] = &[flag(f::NOT_RESULT, "not_result", bits!(30))];

/// Second opcodes, by place.
pub const OP2_4: &[Field] = &[number(f::OP2, "opcode2", bits!(19:16))];
pub const OP2_5: &[Field] = &[number(f::OP2, "opcode2", bits!(20:16))];
pub const OP2_24: &[Field] = &[number(f::OP2, "opcode2", bits!(25:24))];
pub const OP2_MEMORY: &[Field] = &[number(f::OP2, "memory_width", bits!(29:27))];
pub const OP2_DESCRIPTOR: &[Field] = &[number(f::OP2, "descriptor_type", bits!(38:37))];
pub const OP3_24: &[Field] = &[number(f::OP3, "opcode3", bits!(25:24))];
pub const OP3_SHIFT: &[Field] = &[number(f::OP3, "shift_operation", bits!(34:32))];
pub const OP3_NEG: &[Field] = &[number(f::OP3, "neg", bits!(38))];

pub const CLAMP_FIELD: &[Field] = &[named(f::CLAMP, "clamp", bits!(33:32), &CLAMP)];
pub const ROUND2: &[Field] = &[named(f::ROUND, "round", bits!(31:30), &ROUND)];
pub const ROUND3: &[Field] = &[named(f::ROUND, "round", bits!(32:30), &ROUND_NA)];
pub const STICKY: &[Field] = &[flag(f::STICKY, "sticky", bits!(34))];
pub const SEM_FIELD: &[Field] = &[named(f::SEM, "sem", bits!(31:30), &SEM)];
pub const CMP_FIELD: &[Field] = &[named(f::CMP, "cmp", bits!(34:32), &CMP)];
pub const RESULT_FIELD: &[Field] = &[named(f::RESULT, "result_type", bits!(31:30), &RESULT)];
pub const SATURATE: &[Field] = &[flag(f::SATURATE, "saturate", bits!(30))];
pub const RHADD: &[Field] = &[flag(f::RHADD, "rhadd", bits!(30))];
pub const MUX_FIELD: &[Field] = &[named(f::MUX, "mux", bits!(33:32), &MUX).usually(1)];
pub const SUBGROUP_FIELD: &[Field] =
    &[named(f::SUBGROUP, "subgroup", bits!(39:36), &SUBGROUP).usually(3)];
pub const PERMUTE: &[Field] = &[
    named(f::INACTIVE, "inactive_result", bits!(25:22), &INACTIVE),
    named(f::LANE_OP, "lane_op", bits!(35:32), &LANE_OP),
];
pub const FLUSH: &[Field] = &[
    named(f::NAN_MODE, "nan_mode", bits!(9:8), &NAN_MODE),
    flag(f::FTZ, "ftz", bits!(10)),
    flag(f::FLUSH_INF, "flush_inf", bits!(11)),
];
pub const FREXP: &[Field] = &[flag(f::SQRT, "sqrt", bits!(24)), flag(f::LOG, "log", bits!(25))];
pub const NEG_RESULT: &[Field] = &[flag(f::NEG_RESULT, "neg_result", bits!(30))];
pub const CLZ_MASK: &[Field] = &[flag(f::MASK, "mask", bits!(30))];
pub const CARRY: &[Field] = &[flag(f::CARRY, "carry", bits!(30))];
pub const TABLE_OFFSET: &[Field] = &[flag(f::TABLE_OFFSET, "offset", bits!(30))];
pub const TABLE_SCALE: &[Field] = &[flag(f::TABLE_SCALE, "scale", bits!(30))];
pub const EXP_ADJ: &[Field] = &[named(f::ADJ, "adj", bits!(32:31), &ADJ)];
pub const LOG_TABLE: &[Field] = &[
    named(f::LOG_MODE, "mode", bits!(32:31), &LOG_MODE),
    named(f::PRECISION, "precision", bits!(34:33), &PRECISION),
];
pub const POW_FIELD: &[Field] = &[named(f::POW, "func", bits!(21:20), &POW)];
pub const SCALE_INF: &[Field] = &[named(f::INF, "inf", bits!(29:28), &INF)];
pub const IMM32: &[Field] = &[number(f::IMM, "constant", bits!(39:8))];

pub const BRANCH: &[Field] = &[
    flag(f::CONSERVATIVE, "conservative", bits!(35)),
    flag(f::EQ, "eq", bits!(36)),
    named(f::COMBINE, "combine", bits!(39:37), &COMBINE),
];
pub const BRANCH_OFFSET: &[Field] = &[signed(f::OFFSET, "offset", bits!(34:8))];
pub const ABSOLUTE: &[Field] = &[flag(f::ABSOLUTE, "absolute", bits!(40))];
pub const JUMP_STACK: &[Field] = &[
    flag(f::DIVERGE, "diverge", bits!(32)),
    named(f::STACK_MODE, "stack_mode", bits!(34:33), &STACK_MODE).usually(2),
];

pub const VECSIZE_FIELD: &[Field] = &[named(f::VECSIZE, "vecsize", bits!(29:28), &VECSIZE)];
pub const REGFMT_FIELD: &[Field] = &[named(f::REGFMT, "register_format", bits!(26:24), &REGFMT)];
pub const SOURCE_FORMAT_FIELD: &[Field] =
    &[named(f::SOURCE_FORMAT, "source_format", bits!(27:24), &SOURCE_FORMAT)];
pub const INTERPOLATE: &[Field] = &[
    named(f::UPDATE, "update", bits!(37:36), &UPDATE),
    named(f::SAMPLE, "sample", bits!(39:38), &SAMPLE),
];
pub const INDEX_8_12: &[Field] =
    &[number(f::TABLE, "table", bits!(11:8)), number(f::INDEX, "index", bits!(19:12))];
pub const INDEX_16_20: &[Field] =
    &[number(f::TABLE, "table", bits!(19:16)), number(f::INDEX, "index", bits!(23:20))];
pub const INDEX_12: &[Field] = &[number(f::INDEX, "index", bits!(15:12))];
pub const INDEX_16: &[Field] = &[number(f::INDEX, "index", bits!(23:16))];
pub const ACCESS_24: &[Field] = &[named(f::ACCESS, "memory_access", bits!(26:24), &ACCESS)];
pub const ACCESS_37: &[Field] = &[named(f::ACCESS, "memory_access", bits!(39:37), &ACCESS)];
pub const OFFSET16: &[Field] = &[signed(f::OFFSET, "offset", bits!(23:8))];
pub const OFFSET8: &[Field] = &[number(f::OFFSET, "offset", bits!(15:8))];
pub const TARGET: &[Field] = &[number(f::TARGET, "target", bits!(15:8))];
pub const UNSIGNED: &[Field] = &[flag(f::UNSIGNED, "unsigned", bits!(39))];
pub const LANE_8: &[Field] = &[named(f::LANE, "lane", bits!(38:36), &LOAD_LANE8)];
pub const LANE_16: &[Field] = &[named(f::LANE, "lane", bits!(38:36), &LOAD_LANE16)];
pub const LANE_32: &[Field] = &[named(f::LANE, "lane", bits!(38:36), &LOAD_LANE32)];
/// Widths that have one lane only; the row fixes it.
pub const LANE_ANY: &[Field] = &[number(f::LANE, "lane", bits!(38:36))];
pub const STORE_BYTE: &[Field] = &[named(f::LANE, "lane", bits!(37:36), &STORE_BYTE_LANE)];
pub const STORE_HALF: &[Field] = &[named(f::LANE, "lane", bits!(36), &STORE_HALF_LANE)];
pub const ZS: &[Field] = &[flag(f::STENCIL, "stencil", bits!(24)), flag(f::Z, "z", bits!(25))];
pub const Z_STENCIL: &[Field] = &[flag(f::Z_STENCIL, "z_stencil", bits!(36))];
pub const ATOM: &[Field] = &[named(f::ATOM_OP, "atom_opc", bits!(25:22), &ATOM_OP)];
pub const ATOM1: &[Field] = &[named(f::ATOM_OP, "atom_opc", bits!(25:22), &ATOM1_OP)];
pub const COMPARE: &[Field] = &[flag(f::COMPARE, "compare", bits!(26))];
pub const SHIFT: &[Field] = &[number(f::SHIFT, "shift", bits!(22:20))];
pub const PRESERVE_NULL: &[Field] = &[flag(f::PRESERVE_NULL, "preserve_null", bits!(39))];
pub const CLOCK_FIELD: &[Field] = &[named(f::CLOCK, "source", bits!(2:0), &CLOCK).usually(6)];

/// What every texture instruction with its own coordinates has.
pub const TEX: &[Field] = &[
    flag(f::WIDE_INDICES, "wide_indices", bits!(8)),
    named(f::WRITE_MASK, "write_mask", bits!(25:22), &WRITE_MASK).usually(15),
    named(f::REGISTER_TYPE, "register_type", bits!(27:26), &REGISTER_TYPE),
    named(f::DIMENSION, "dimension", bits!(29:28), &DIMENSION),
    flag(f::SKIP, "skip", bits!(39)),
    named(f::REGISTER_WIDTH, "register_width", bits!(46), &REGISTER_WIDTH).usually(1),
    named(f::SECONDARY_WIDTH, "secondary_width", bits!(47), &SECONDARY_WIDTH),
];
/// What every texture instruction with varyings as coordinates has.
pub const VAR_TEX: &[Field] = &[
    flag(f::WIDE_INDICES, "wide_indices", bits!(8)),
    named(f::REGISTER_WIDTH, "register_width", bits!(25:24), &VARTEX_WIDTH).usually(1),
    named(f::REGISTER_TYPE, "register_type", bits!(27:26), &REGISTER_TYPE),
    named(f::DIMENSION, "dimension", bits!(29:28), &DIMENSION),
    named(f::SAMPLE_UPDATE, "sample_and_update", bits!(35:33), &SAMPLE_UPDATE),
    flag(f::SKIP, "skip", bits!(39)),
];
pub const ARRAY: &[Field] = &[flag(f::ARRAY, "array_enable", bits!(10))];
pub const TEXEL_OFFSET: &[Field] = &[flag(f::TEXEL_OFFSET, "texel_offset", bits!(11))];
pub const SHADOW: &[Field] = &[flag(f::SHADOW, "shadow", bits!(12))];
pub const LOD_MODE_FIELD: &[Field] = &[named(f::LOD_MODE, "lod_mode", bits!(15:13), &LOD_MODE)];
pub const INTEGER_COORDS: &[Field] = &[flag(f::INTEGER_COORDS, "integer_coordinates", bits!(13))];
pub const GATHER: &[Field] =
    &[named(f::FETCH_COMPONENT, "fetch_component", bits!(15:14), &FETCH_COMPONENT)];
pub const FORCE_DELTA: &[Field] = &[flag(f::FORCE_DELTA, "force_delta_enable", bits!(12))];
pub const LOD_DISABLE: &[Field] = &[
    flag(f::LOD_BIAS_DISABLE, "lod_bias_disable", bits!(13)),
    flag(f::LOD_CLAMP_DISABLE, "lod_clamp_disable", bits!(14)),
];
pub const DERIVATIVE: &[Field] = &[flag(f::DERIVATIVE, "derivative_enable", bits!(15))];
