//! R6xx: the register guide's chapter 4 over the same rows. What differs from R700 is here and nowhere else: the formats
//! of clauses, OP2 and fetches, instructions that came later, and where shifts and MOVA_GPR_INT execute.

use super::fields::{self as l, f};
use super::ops::{
    AluOp, CfOp, EXPORT_SWIZ, FetchOp, Formats, MEM_DSR, MEM_DSW, MEM_RD, TRANS, alu_rows, cf_rows,
    fetch_rows, flag,
};
use gpucc_isa::{Enum, Field, Format, Kind, Member, Op, OpId, Piece, Span};

const U: Kind = Kind::Unsigned;
const B: Kind = Kind::Flag;

macro_rules! at {
    ($id:ident $hi:literal : $lo:literal $kind:expr) => {
        Field::new(f::$id, stringify!($id), &[Piece { hi: $hi, lo: $lo }], $kind)
    };
}

macro_rules! members {
    ($name:literal { $($value:literal $member:literal),* $(,)? }) => {
        Enum::new($name, &[$(Member { value: $value, name: $member }),*])
    };
}

/// TYPE of MEM_*: scratch and reduction buffers are read by the same instructions that write them. Guide 4,
/// CF_ALLOC_EXPORT_WORD0.
static MEMORY_TYPE_E: Enum =
    members!("MEMORY_TYPE" { 0 "WRITE", 1 "WRITE_IND", 2 "READ", 3 "READ_IND" });
/// Guide 4, ALU_WORD0.
static INDEX_MODE_E: Enum =
    members!("INDEX_MODE_R6XX" { 0 "AR_X", 1 "AR_Y", 2 "AR_Z", 3 "AR_W", 4 "LOOP" });

/// Guide 4, ALU_WORD0.
const SRC_SEL: &[Span] = &[
    Span { first: 0, last: 127, name: "GPR" },
    Span { first: 128, last: 159, name: "KCACHE0" },
    Span { first: 160, last: 191, name: "KCACHE1" },
    Span { first: 248, last: 252, name: "INLINE" },
    Span { first: 253, last: 253, name: "LITERAL" },
    Span { first: 254, last: 254, name: "PV" },
    Span { first: 255, last: 255, name: "PS" },
    Span { first: 256, last: 511, name: "CFILE" },
];

/// Guide 4, CF_WORD0, CF_WORD1: COUNT reaches 8.
#[rustfmt::skip]
const CF_FIELDS: &[Field] = &[
    at!(ADDR             31:0  U),
    at!(POP_COUNT        34:32 U),
    at!(CF_CONST         39:35 U),
    at!(COND             41:40 Kind::Enum(&l::COND_E)),
    at!(COUNT            44:42 U).minus_one(),
    at!(CALL_COUNT       50:45 U),
    at!(END_OF_PROGRAM   53:53 B),
    at!(VALID_PIXEL_MODE 54:54 B),
    at!(CF_INST          61:55 U),
    at!(WHOLE_QUAD_MODE  62:62 B),
    at!(BARRIER          63:63 B).usually(1),
];

/// Guide 4, CF_ALU_WORD0, CF_ALU_WORD1.
#[rustfmt::skip]
const CF_ALU_FIELDS: &[Field] = &[
    at!(ADDR            21:0  U),
    at!(KCACHE_BANK0    25:22 U),
    at!(KCACHE_BANK1    29:26 U),
    at!(KCACHE_MODE0    31:30 Kind::Enum(&l::KCACHE_MODE_E)),
    at!(KCACHE_MODE1    33:32 Kind::Enum(&l::KCACHE_MODE_E)),
    at!(KCACHE_ADDR0    41:34 U),
    at!(KCACHE_ADDR1    49:42 U),
    at!(COUNT           56:50 U).minus_one(),
    at!(USES_WATERFALL  57:57 B),
    at!(CF_INST         61:58 U),
    at!(WHOLE_QUAD_MODE 62:62 B),
    at!(BARRIER         63:63 B).usually(1),
];

const TYPE_MEMORY: &[Field] = &[at!(TYPE 14:13 Kind::Enum(&MEMORY_TYPE_E))];

/// Guide 4, ALU_WORD0.
#[rustfmt::skip]
const ALU0: &[Field] = &[
    at!(SRC0_SEL    8:0   Kind::Select(SRC_SEL)),
    at!(SRC0_REL    9:9   B),
    at!(SRC0_CHAN  11:10  Kind::Enum(&l::CHAN_E)),
    at!(SRC0_NEG   12:12  B),
    at!(SRC1_SEL   21:13  Kind::Select(SRC_SEL)),
    at!(SRC1_REL   22:22  B),
    at!(SRC1_CHAN  24:23  Kind::Enum(&l::CHAN_E)),
    at!(SRC1_NEG   25:25  B),
    at!(INDEX_MODE 28:26  Kind::Enum(&INDEX_MODE_E)),
    at!(PRED_SEL   30:29  Kind::Enum(&l::PRED_SEL_E)),
    at!(LAST       31:31  B),
];

/// Guide 4, ALU_WORD1_OP2: FOG_MERGE stands where R700 has the low bit of OMOD, and ALU_INST is ten bits.
#[rustfmt::skip]
const ALU1_OP2: &[Field] = &[
    at!(SRC0_ABS            32:32 B),
    at!(SRC1_ABS            33:33 B),
    at!(UPDATE_EXECUTE_MASK 34:34 B),
    at!(UPDATE_PRED         35:35 B),
    at!(WRITE_MASK          36:36 B).usually(1),
    at!(FOG_MERGE           37:37 B),
    at!(OMOD                39:38 Kind::Enum(&l::OMOD_E)),
    at!(ALU_INST            49:40 U),
];

/// Guide 4, ALU_WORD1_OP3.
#[rustfmt::skip]
const ALU1_OP3: &[Field] = &[
    at!(SRC2_SEL  40:32 Kind::Select(SRC_SEL)),
    at!(SRC2_REL  41:41 B),
    at!(SRC2_CHAN 43:42 Kind::Enum(&l::CHAN_E)),
    at!(SRC2_NEG  44:44 B),
    at!(ALU_INST  49:45 U),
];

/// Guide 4, VTX_WORD2: without ALT_CONST.
#[rustfmt::skip]
const VTX2: &[Field] = &[
    at!(OFFSET              79:64 U),
    at!(ENDIAN_SWAP         81:80 Kind::Enum(&l::ENDIAN_E)),
    at!(CONST_BUF_NO_STRIDE 82:82 B),
    at!(MEGA_FETCH          83:83 B),
];

/// Guide 4, TEX_WORD0: without ALT_CONST.
#[rustfmt::skip]
const TEX0: &[Field] = &[
    at!(TEX_INST          4:0  U),
    at!(BC_FRAC_MODE      5:5  B),
    at!(FETCH_WHOLE_QUAD  7:7  B),
    at!(RESOURCE_ID      15:8  U),
    at!(SRC_GPR          22:16 U),
    at!(SRC_REL          23:23 B),
];

static CF: Format = Format::new("CF_WORD_R6XX", 64, 32, &[CF_FIELDS], "guide 4");
static CF_ALU: Format = Format::new("CF_ALU_WORD_R6XX", 64, 32, &[CF_ALU_FIELDS], "guide 4");
static EXPORT_BUF: Format = Format::new(
    "CF_ALLOC_EXPORT_WORD_BUF_R6XX",
    64,
    32,
    &[l::ALLOC_EXPORT0, TYPE_MEMORY, l::ALLOC_EXPORT_BUF, l::ALLOC_EXPORT1],
    "guide 4",
);
static OP2: Format =
    Format::new("ALU_WORD_OP2_R6XX", 64, 32, &[ALU0, ALU1_OP2, l::ALU1], "guide 4");
static OP3: Format =
    Format::new("ALU_WORD_OP3_R6XX", 64, 32, &[ALU0, ALU1_OP3, l::ALU1], "guide 4");
static VTX_GPR: Format = Format::new(
    "VTX_WORD_GPR_R6XX",
    128,
    32,
    &[l::VTX0, l::DST, l::DST_SEL, l::VTX1_CONST, l::DATA, VTX2],
    "guide 4",
);
static VTX_SEM: Format = Format::new(
    "VTX_WORD_SEM_R6XX",
    128,
    32,
    &[l::VTX0, l::SEMANTIC, l::DST_SEL, l::VTX1_CONST, l::DATA, VTX2],
    "guide 4",
);
static TEX: Format =
    Format::new("TEX_WORD_R6XX", 128, 32, &[TEX0, l::DST, l::DST_SEL, l::TEX1, l::TEX2], "guide 4");

/// The memory and data-share formats stand for rows that R6xx lacks.
pub static FORMATS: Formats = Formats {
    cf: &CF,
    cf_alu: &CF_ALU,
    export_buf: &EXPORT_BUF,
    export_swiz: &EXPORT_SWIZ,
    op2: &OP2,
    op3: &OP3,
    vtx_gpr: &VTX_GPR,
    vtx_sem: &VTX_SEM,
    tex: &TEX,
    mem_rd: &MEM_RD,
    mem_dsw: &MEM_DSW,
    mem_dsr: &MEM_DSR,
};

/// Rows of R700 as R6xx has them: `absent` ones are gone; `reserved` ones are numbers that chapter 4 leaves out and foreign
/// programs may hold (digest 3.70): decoded, never emitted.
const fn as_r600<const N: usize>(mut rows: [Op; N], absent: &[OpId], reserved: &[OpId]) -> [Op; N] {
    let mut i = 0;
    while i < N {
        rows[i].cite = "guide 4";
        i += 1;
    }
    i = 0;
    while i < absent.len() {
        rows[absent[i].0 as usize].flags |= flag::ABSENT;
        i += 1;
    }
    i = 0;
    while i < reserved.len() {
        let row = &mut rows[reserved[i].0 as usize];
        row.flags |= flag::RESERVED;
        row.cite = "guide 4, -";
        i += 1;
    }
    rows
}

pub static CF_OPS: [Op; CfOp::ALL.len()] = as_r600(
    cf_rows(&FORMATS),
    &[
        CfOp::WAIT_ACK.id(),
        CfOp::TEX_ACK.id(),
        CfOp::VTX_ACK.id(),
        CfOp::VTX_TC_ACK.id(),
        CfOp::MEM_EXPORT.id(),
    ],
    &[CfOp::END_PROGRAM.id()],
);

/// Shifts execute in trans alone, and MOVA_GPR_INT exists.
const fn alu() -> [Op; AluOp::ALL.len()] {
    let mut rows = as_r600(
        alu_rows(&FORMATS),
        &[],
        &[
            AluOp::FREXP_64.id(),
            AluOp::ADD_64.id(),
            AluOp::MUL_64.id(),
            AluOp::FLT64_TO_FLT32.id(),
            AluOp::FLT32_TO_FLT64.id(),
            AluOp::LDEXP_64.id(),
            AluOp::FRACT_64.id(),
            AluOp::PRED_SETGT_64.id(),
            AluOp::PRED_SETE_64.id(),
            AluOp::PRED_SETGE_64.id(),
            AluOp::MULADD_64.id(),
            AluOp::MULADD_64_M2.id(),
            AluOp::MULADD_64_M4.id(),
            AluOp::MULADD_64_D2.id(),
        ],
    );
    let shifts = [AluOp::ASHR_INT, AluOp::LSHR_INT, AluOp::LSHL_INT];
    let mut i = 0;
    while i < shifts.len() {
        rows[shifts[i] as usize].units = TRANS;
        i += 1;
    }
    rows[AluOp::MOVA_GPR_INT as usize].flags &= !flag::RESERVED;
    rows
}

pub static ALU_OPS: [Op; AluOp::ALL.len()] = alu();

pub static FETCH_OPS: [Op; FetchOp::ALL.len()] = as_r600(
    fetch_rows(&FORMATS),
    &[
        FetchOp::READ_SCRATCH.id(),
        FetchOp::READ_REDUCT.id(),
        FetchOp::READ_MEM.id(),
        FetchOp::DS_LOCAL_WRITE.id(),
        FetchOp::DS_LOCAL_READ.id(),
        FetchOp::DS_GLOBAL_WRITE.id(),
        FetchOp::DS_GLOBAL_READ.id(),
        FetchOp::KEEP_GRADIENTS.id(),
    ],
    &[FetchOp::FETCH4.id()],
);
