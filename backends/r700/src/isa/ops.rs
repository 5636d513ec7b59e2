//! Every instruction of R700, in the order of its opcode, with the manual's names and a citation a row. This is the one
//! place that says which opcode an instruction has, what it takes and where it can execute.
//!
//! Citations are sections of the R700 ISA document; `E n` is our number in ERRATA.md; `-` means that the document lists
//! the opcode and nothing else.

use super::fields::{self as l, f};
use gpucc_isa::{Format, Op, OpId};

/// Units of an ALU row: the four vector slots.
pub const VECTOR: u16 = 1;
/// Units of an ALU row: the trans slot.
pub const TRANS: u16 = 2;

/// Flags of the rows. One row may have several.
pub mod flag {
    /// Sources are integers: NEG and ABS must be 0. R700 ISA 4.7.2.
    pub const INT_SRC: u32 = 1 << 0;
    /// The result is an integer: OMOD and CLAMP must be 0. R700 ISA 4.9.1.
    pub const INT_DST: u32 = 1 << 1;
    /// src0 and src1 can change places.
    pub const COMMUTES: u32 = 1 << 2;
    /// Computes a predicate; at most one a group. R700 ISA 4.8.1.1.
    pub const PRED_SET: u32 = 1 << 3;
    /// Counts on its first source and sets the predicate. R700 ISA 4.12.
    pub const PRED_PUSH: u32 = 1 << 4;
    /// Kills pixels; last group of its clause, pixel shaders only. R700 ISA 4.8.1.1.
    pub const KILL: u32 = 1 << 5;
    /// Writes the address register; its result is undefined. R700 ISA 4.8.2.2.
    pub const MOVA: u32 = 1 << 6;
    /// All four vector slots execute it together. R700 ISA 4.8.2.1.
    pub const REDUCTION: u32 = 1 << 7;
    /// Double precision over two slots. R700 ISA 4.12.
    pub const PAIR_64: u32 = 1 << 8;
    /// Double precision over four slots. R700 ISA 4.12.
    pub const QUAD_64: u32 = 1 << 9;
    /// The document reserves the number; decoded for foreign programs, never emitted.
    pub const RESERVED: u32 = 1 << 10;
    /// CF: starts a clause of ALU instructions.
    pub const ALU_CLAUSE: u32 = 1 << 11;
    /// CF: starts a clause of fetch instructions.
    pub const FETCH_CLAUSE: u32 = 1 << 12;
    /// CF: ADDR is a control-flow address.
    pub const JUMPS: u32 = 1 << 13;
    /// CF: writes to an export buffer (pixel, position, parameter).
    pub const EXPORTS: u32 = 1 << 14;
    /// CF: writes to memory.
    pub const WRITES_MEMORY: u32 = 1 << 15;
    /// Fetch: reads a vertex buffer.
    pub const VERTEX: u32 = 1 << 16;
    /// Fetch: goes through the texture unit.
    pub const TEXTURE: u32 = 1 << 17;
    /// Fetch: reads memory buffers.
    pub const MEMORY: u32 = 1 << 18;
    /// Fetch: the local data share.
    pub const DATA_SHARE: u32 = 1 << 19;
    /// Fetch: uses gradients that SET_GRADIENTS_* left.
    pub const USES_GRADIENTS: u32 = 1 << 20;

    /// Names, for documents.
    pub const NAMES: &[(u32, &str)] = &[
        (INT_SRC, "integer sources"),
        (INT_DST, "integer result"),
        (COMMUTES, "commutes"),
        (PRED_SET, "predicate"),
        (PRED_PUSH, "predicate counter"),
        (KILL, "kill"),
        (MOVA, "address register"),
        (REDUCTION, "reduction"),
        (PAIR_64, "64-bit, 2 slots"),
        (QUAD_64, "64-bit, 4 slots"),
        (RESERVED, "reserved"),
        (ALU_CLAUSE, "ALU clause"),
        (FETCH_CLAUSE, "fetch clause"),
        (JUMPS, "jumps"),
        (EXPORTS, "export"),
        (WRITES_MEMORY, "memory write"),
        (VERTEX, "vertex"),
        (TEXTURE, "texture"),
        (MEMORY, "memory read"),
        (DATA_SHARE, "data share"),
        (USES_GRADIENTS, "set gradients"),
    ];
}
use flag::*;

/// Latency classes, in groups or as "leaves the clause".
pub mod latency {
    /// Control flow.
    pub const CF: u8 = 0;
    /// The next group sees the result, forwarded. R700 ISA 4.11.
    pub const ALU: u8 = 1;
    /// Two groups until an index uses it; the hardware waits. R700 ISA 4.6.4.5.
    pub const MOVA: u8 = 2;
    /// The result is there after the clause.
    pub const FETCH: u8 = 3;
}

pub static CF: Format = Format::new("CF_WORD", 64, 32, &[l::CF], "10.1");
pub static CF_ALU: Format = Format::new("CF_ALU_WORD", 64, 32, &[l::CF_ALU], "10.1");
pub static EXPORT_SWIZ: Format = Format::new(
    "CF_ALLOC_EXPORT_WORD_SWIZ",
    64,
    32,
    &[
        l::ALLOC_EXPORT0,
        l::TYPE_EXPORT,
        l::ALLOC_EXPORT_SWIZ,
        l::ALLOC_EXPORT1,
    ],
    "10.1",
);
pub static EXPORT_BUF: Format = Format::new(
    "CF_ALLOC_EXPORT_WORD_BUF",
    64,
    32,
    &[
        l::ALLOC_EXPORT0,
        l::TYPE_WRITE,
        l::ALLOC_EXPORT_BUF,
        l::ALLOC_EXPORT1,
    ],
    "10.1",
);
pub static OP2: Format = Format::new(
    "ALU_WORD_OP2",
    64,
    32,
    &[l::ALU0, l::ALU1_OP2, l::ALU1],
    "10.2",
);
pub static OP3: Format = Format::new(
    "ALU_WORD_OP3",
    64,
    32,
    &[l::ALU0, l::ALU1_OP3, l::ALU1],
    "10.2",
);
pub static VTX_GPR: Format = Format::new(
    "VTX_WORD_GPR",
    128,
    32,
    &[l::VTX0, l::DST, l::DST_SEL, l::VTX1_CONST, l::DATA, l::VTX2],
    "10.3",
);
pub static VTX_SEM: Format = Format::new(
    "VTX_WORD_SEM",
    128,
    32,
    &[
        l::VTX0,
        l::SEMANTIC,
        l::DST_SEL,
        l::VTX1_CONST,
        l::DATA,
        l::VTX2,
    ],
    "10.3",
);
pub static TEX: Format = Format::new(
    "TEX_WORD",
    128,
    32,
    &[l::TEX0, l::DST, l::DST_SEL, l::TEX1, l::TEX2],
    "10.4",
);
pub static MEM_RD: Format = Format::new(
    "MEM_RD_WORD",
    128,
    32,
    &[l::MEM_RD0, l::DST, l::DST_SEL, l::DATA, l::MEM_RD2],
    "10.5",
);
pub static MEM_DSW: Format = Format::new("MEM_DSW_WORD", 128, 32, &[l::MEM_DSW], "10.6");
pub static MEM_DSR: Format = Format::new("MEM_DSR_WORD", 128, 32, &[l::MEM_DSR], "10.6");

/// All formats, in the order of the document.
pub static FORMATS: [&Format; 12] = [
    &CF,
    &CF_ALU,
    &EXPORT_BUF,
    &EXPORT_SWIZ,
    &OP2,
    &OP3,
    &VTX_GPR,
    &VTX_SEM,
    &TEX,
    &MEM_RD,
    &MEM_DSW,
    &MEM_DSR,
];

/// An enum with one variant a row, named as the manual names the row, and conversions from and to the row's number.
macro_rules! op_enum {
    ($(#[$doc:meta])* $enum:ident $($name:ident)*) => {
        $(#[$doc])*
        #[allow(non_camel_case_types, reason = "the manual's own names")]
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        pub enum $enum { $($name),* }

        impl $enum {
            pub const ALL: &'static [$enum] = &[$($enum::$name),*];

            pub const fn id(self) -> OpId {
                OpId(self as u16)
            }

            /// The variant of a row of this table.
            ///
            /// # Panics
            /// If the id is not from this table.
            pub fn of(id: OpId) -> $enum {
                $enum::ALL[usize::from(id.0)]
            }

            pub const fn name(self) -> &'static str {
                match self { $($enum::$name => stringify!($name)),* }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

macro_rules! cf_ops {
    ($($name:ident $format:ident $code:literal [$($flag:ident)*] $cite:literal $($alias:literal)*;)*) => {
        op_enum! {
            /// Control-flow instructions. R700 ISA 9.1, 10.1.
            CfOp $($name)*
        }
        pub static CF_OPS: [Op; CfOp::ALL.len()] = [$(Op {
            aliases: &[$($alias),*],
            flags: 0 $(| $flag)*,
            latency: latency::CF,
            cite: $cite,
            ..Op::new(CfOp::$name.id(), stringify!($name), &$format, &[(f::CF_INST, $code)])
        }),*];
    };
}

#[rustfmt::skip]
cf_ops! {
    NOP              CF 0  [] "9.1, 10.1" "CF_END" "END";
    TEX              CF 1  [FETCH_CLAUSE] "9.1, 10.1";
    VTX              CF 2  [FETCH_CLAUSE] "9.1, 10.1";
    VTX_TC           CF 3  [FETCH_CLAUSE] "9.1, 10.1";
    LOOP_START       CF 4  [JUMPS] "9.1, 3.7.3, E 3.20" "LOOP";
    LOOP_END         CF 5  [JUMPS] "9.1, 3.7.3" "ENDLOOP";
    LOOP_START_DX10  CF 6  [JUMPS] "9.1, 3.7.4" "LOOP_DX10";
    LOOP_START_NO_AL CF 7  [JUMPS] "9.1, 3.7.5" "LOOP_NO_AL";
    LOOP_CONTINUE    CF 8  [JUMPS] "9.1" "CONTINUE";
    LOOP_BREAK       CF 9  [JUMPS] "9.1" "BREAK";
    JUMP             CF 10 [JUMPS] "9.1, 10.1, E 3.5, E 3.9";
    PUSH             CF 11 [JUMPS] "9.1, 10.1";
    PUSH_ELSE        CF 12 [JUMPS] "9.1, 10.1";
    ELSE             CF 13 [JUMPS] "9.1, 10.1, E 3.9b";
    POP              CF 14 [JUMPS] "9.1, 10.1";
    POP_JUMP         CF 15 [JUMPS] "10.1, -";
    POP_PUSH         CF 16 [JUMPS] "10.1, -";
    POP_PUSH_ELSE    CF 17 [JUMPS] "10.1, -";
    CALL             CF 18 [JUMPS] "9.1, 3.7.6";
    CALL_FS          CF 19 [] "9.1, 10.1";
    RETURN           CF 20 [] "9.1, 3.7.6" "RET";
    EMIT_VERTEX      CF 21 [] "9.1, 10.1";
    EMIT_CUT_VERTEX  CF 22 [] "9.1, 10.1";
    CUT_VERTEX       CF 23 [] "9.1, 10.1";
    KILL             CF 24 [JUMPS] "9.1, 10.1";
    END_PROGRAM      CF 25 [RESERVED] "10.1, E 3.68";
    WAIT_ACK         CF 26 [] "9.1, 10.1, E 3.68";
    TEX_ACK          CF 27 [FETCH_CLAUSE RESERVED] "10.1, E 3.68";
    VTX_ACK          CF 28 [FETCH_CLAUSE RESERVED] "10.1, E 3.68";
    VTX_TC_ACK       CF 29 [FETCH_CLAUSE RESERVED] "10.1, E 3.68";
    MEM_STREAM0      EXPORT_BUF 32 [WRITES_MEMORY] "9.1, 10.1, E 3.14";
    MEM_STREAM1      EXPORT_BUF 33 [WRITES_MEMORY] "9.1, 10.1, E 3.19";
    MEM_STREAM2      EXPORT_BUF 34 [WRITES_MEMORY] "9.1, 10.1";
    MEM_STREAM3      EXPORT_BUF 35 [WRITES_MEMORY] "9.1, 10.1, E 3.19";
    MEM_SCRATCH      EXPORT_BUF 36 [WRITES_MEMORY] "9.1, 10.1";
    MEM_REDUCTION    EXPORT_BUF 37 [WRITES_MEMORY] "9.1, 10.1" "MEM_REDUCT";
    MEM_RING         EXPORT_BUF 38 [WRITES_MEMORY] "9.1, 10.1";
    EXPORT           EXPORT_SWIZ 39 [EXPORTS] "9.1, 10.1" "EXP";
    EXPORT_DONE      EXPORT_SWIZ 40 [EXPORTS] "9.1, 10.1" "EXP_DONE";
    MEM_EXPORT       EXPORT_BUF 58 [WRITES_MEMORY] "9.1, 10.1, E 3.70";
    ALU              CF_ALU 8  [ALU_CLAUSE] "9.1, 10.1";
    ALU_PUSH_BEFORE  CF_ALU 9  [ALU_CLAUSE] "9.1, 10.1";
    ALU_POP_AFTER    CF_ALU 10 [ALU_CLAUSE] "9.1, 10.1";
    ALU_POP2_AFTER   CF_ALU 11 [ALU_CLAUSE] "9.1, 10.1, E 3.63";
    ALU_CONTINUE     CF_ALU 13 [ALU_CLAUSE] "9.1, 10.1";
    ALU_BREAK        CF_ALU 14 [ALU_CLAUSE] "9.1, 10.1, E 3.63";
    ALU_ELSE_AFTER   CF_ALU 15 [ALU_CLAUSE] "9.1, 10.1, E 3.63";
}

const VT: u16 = VECTOR | TRANS;
const V: u16 = VECTOR;
const T: u16 = TRANS;

macro_rules! alu_ops {
    ($($name:ident $format:ident $code:literal $sources:literal $units:ident [$($flag:ident)*] $cite:literal
        $($alias:literal)*;)*) => {
        op_enum! {
            /// ALU instructions. R700 ISA 9.2, 10.2.
            AluOp $($name)*
        }
        pub static ALU_OPS: [Op; AluOp::ALL.len()] = [$(Op {
            aliases: &[$($alias),*],
            sources: $sources,
            units: $units,
            flags: 0 $(| $flag)*,
            latency: if (0 $(| $flag)*) & MOVA != 0 { latency::MOVA } else { latency::ALU },
            cite: $cite,
            ..Op::new(AluOp::$name.id(), stringify!($name), &$format, &[(f::ALU_INST, $code)])
        }),*];
    };
}

#[rustfmt::skip]
alu_ops! {
    ADD                 OP2 0   2 VT [COMMUTES] "9.2";
    MUL                 OP2 1   2 VT [COMMUTES] "9.2, 4.8.1";
    MUL_IEEE            OP2 2   2 VT [COMMUTES] "9.2, 4.8.1";
    MAX                 OP2 3   2 VT [] "9.2";
    MIN                 OP2 4   2 VT [] "9.2";
    MAX_DX10            OP2 5   2 VT [] "9.2";
    MIN_DX10            OP2 6   2 VT [] "9.2";
    FREXP_64            OP2 7   1 V  [QUAD_64] "9.2, E 3.39";
    SETE                OP2 8   2 VT [COMMUTES] "9.2";
    SETGT               OP2 9   2 VT [] "9.2";
    SETGE               OP2 10  2 VT [] "9.2";
    SETNE               OP2 11  2 VT [COMMUTES] "9.2";
    SETE_DX10           OP2 12  2 VT [INT_DST COMMUTES] "9.2, E 3.51";
    SETGT_DX10          OP2 13  2 VT [INT_DST] "9.2";
    SETGE_DX10          OP2 14  2 VT [INT_DST] "9.2";
    SETNE_DX10          OP2 15  2 VT [INT_DST COMMUTES] "9.2";
    FRACT               OP2 16  1 VT [] "9.2";
    TRUNC               OP2 17  1 VT [] "9.2";
    CEIL                OP2 18  1 VT [] "9.2, E 3.52";
    RNDNE               OP2 19  1 VT [] "9.2, E 3.50";
    FLOOR               OP2 20  1 VT [] "9.2";
    MOVA                OP2 21  1 V  [MOVA] "9.2, 4.8.2.2, E 3.34";
    MOVA_FLOOR          OP2 22  1 V  [MOVA] "9.2, 4.8.2.2, E 3.34";
    ADD_64              OP2 23  2 V  [PAIR_64 COMMUTES] "9.2, 4.12, E 3.41";
    MOVA_INT            OP2 24  1 V  [MOVA INT_SRC INT_DST] "9.2, 4.8.2.2, E 3.34";
    MOV                 OP2 25  1 VT [] "9.2";
    NOP                 OP2 26  0 VT [] "9.2, E 3.11" "ALU_NOP";
    MUL_64              OP2 27  2 V  [QUAD_64 COMMUTES] "9.2, 4.12, E 3.42";
    FLT64_TO_FLT32      OP2 28  1 V  [PAIR_64] "9.2, E 3.38";
    FLT32_TO_FLT64      OP2 29  1 V  [PAIR_64] "9.2, E 3.37";
    PRED_SETGT_UINT     OP2 30  2 VT [PRED_SET INT_SRC] "10.2, -";
    PRED_SETGE_UINT     OP2 31  2 VT [PRED_SET INT_SRC] "10.2, -";
    PRED_SETE           OP2 32  2 VT [PRED_SET COMMUTES] "9.2";
    PRED_SETGT          OP2 33  2 VT [PRED_SET] "9.2";
    PRED_SETGE          OP2 34  2 VT [PRED_SET] "9.2";
    PRED_SETNE          OP2 35  2 VT [PRED_SET COMMUTES] "9.2";
    PRED_SET_INV        OP2 36  1 VT [PRED_SET] "9.2, E 3.48";
    PRED_SET_POP        OP2 37  2 VT [PRED_SET] "9.2";
    PRED_SET_CLR        OP2 38  0 VT [PRED_SET] "9.2, E 3.44";
    PRED_SET_RESTORE    OP2 39  1 VT [PRED_SET] "9.2";
    PRED_SETE_PUSH      OP2 40  2 VT [PRED_SET PRED_PUSH] "9.2";
    PRED_SETGT_PUSH     OP2 41  2 VT [PRED_SET PRED_PUSH] "9.2, E 3.47";
    PRED_SETGE_PUSH     OP2 42  2 VT [PRED_SET PRED_PUSH] "9.2";
    PRED_SETNE_PUSH     OP2 43  2 VT [PRED_SET PRED_PUSH] "9.2";
    KILLE               OP2 44  2 VT [KILL COMMUTES] "9.2";
    KILLGT              OP2 45  2 VT [KILL] "9.2";
    KILLGE              OP2 46  2 VT [KILL] "9.2";
    KILLNE              OP2 47  2 VT [KILL COMMUTES] "9.2";
    AND_INT             OP2 48  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    OR_INT              OP2 49  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    XOR_INT             OP2 50  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    NOT_INT             OP2 51  1 VT [INT_SRC INT_DST] "9.2";
    ADD_INT             OP2 52  2 VT [INT_SRC INT_DST COMMUTES] "9.2, E 3.13";
    SUB_INT             OP2 53  2 VT [INT_SRC INT_DST] "9.2, E 3.8";
    MAX_INT             OP2 54  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    MIN_INT             OP2 55  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    MAX_UINT            OP2 56  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    MIN_UINT            OP2 57  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    SETE_INT            OP2 58  2 VT [INT_SRC INT_DST COMMUTES] "9.2, E 3.51";
    SETGT_INT           OP2 59  2 VT [INT_SRC INT_DST] "9.2";
    SETGE_INT           OP2 60  2 VT [INT_SRC INT_DST] "9.2, E 3.52";
    SETNE_INT           OP2 61  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    SETGT_UINT          OP2 62  2 VT [INT_SRC INT_DST] "9.2";
    SETGE_UINT          OP2 63  2 VT [INT_SRC INT_DST] "9.2";
    KILLGT_UINT         OP2 64  2 VT [KILL INT_SRC] "10.2, -";
    KILLGE_UINT         OP2 65  2 VT [KILL INT_SRC] "10.2, -";
    PRED_SETE_INT       OP2 66  2 VT [PRED_SET INT_SRC COMMUTES] "9.2";
    PRED_SETGT_INT      OP2 67  2 VT [PRED_SET INT_SRC] "9.2";
    PRED_SETGE_INT      OP2 68  2 VT [PRED_SET INT_SRC] "9.2";
    PRED_SETNE_INT      OP2 69  2 VT [PRED_SET INT_SRC COMMUTES] "9.2";
    KILLE_INT           OP2 70  2 VT [KILL INT_SRC COMMUTES] "10.2, -, E 3.17";
    KILLGT_INT          OP2 71  2 VT [KILL INT_SRC] "10.2, -, E 3.17";
    KILLGE_INT          OP2 72  2 VT [KILL INT_SRC] "10.2, -";
    KILLNE_INT          OP2 73  2 VT [KILL INT_SRC COMMUTES] "10.2, -, E 3.18";
    PRED_SETE_PUSH_INT  OP2 74  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E 3.18";
    PRED_SETGT_PUSH_INT OP2 75  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E 3.18";
    PRED_SETGE_PUSH_INT OP2 76  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E 3.18";
    PRED_SETNE_PUSH_INT OP2 77  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E 3.18";
    PRED_SETLT_PUSH_INT OP2 78  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E 3.18";
    PRED_SETLE_PUSH_INT OP2 79  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E 3.18";
    DOT4                OP2 80  2 V  [REDUCTION] "9.2, 4.8.2.1";
    DOT4_IEEE           OP2 81  2 V  [REDUCTION] "9.2, 4.8.2.1";
    CUBE                OP2 82  2 V  [REDUCTION] "9.2, 4.8.2.1";
    MAX4                OP2 83  1 V  [REDUCTION] "9.2, 4.8.2.1";
    MOVA_GPR_INT        OP2 96  1 T  [MOVA INT_SRC INT_DST RESERVED] "10.2, -, E T2";
    EXP_IEEE            OP2 97  1 T  [] "9.2, E 3.52";
    LOG_CLAMPED         OP2 98  1 T  [] "9.2";
    LOG_IEEE            OP2 99  1 T  [] "9.2";
    RECIP_CLAMPED       OP2 100 1 T  [] "9.2, E 3.52";
    RECIP_FF            OP2 101 1 T  [] "9.2, E 3.49";
    RECIP_IEEE          OP2 102 1 T  [] "9.2, E 3.52";
    RECIPSQRT_CLAMPED   OP2 103 1 T  [] "9.2";
    RECIPSQRT_FF        OP2 104 1 T  [] "9.2";
    RECIPSQRT_IEEE      OP2 105 1 T  [] "9.2";
    SQRT_IEEE           OP2 106 1 T  [] "9.2, E 3.10";
    FLT_TO_INT          OP2 107 1 T  [INT_DST] "9.2, E 3.36";
    INT_TO_FLT          OP2 108 1 T  [INT_SRC] "9.2";
    UINT_TO_FLT         OP2 109 1 T  [INT_SRC] "9.2";
    SIN                 OP2 110 1 T  [] "9.2, E T3";
    COS                 OP2 111 1 T  [] "9.2, E T3";
    ASHR_INT            OP2 112 2 VT [INT_SRC INT_DST] "9.2, E 3.6";
    LSHR_INT            OP2 113 2 VT [INT_SRC INT_DST] "9.2, E 3.6, E 3.7";
    LSHL_INT            OP2 114 2 VT [INT_SRC INT_DST] "9.2, E 3.6";
    MULLO_INT           OP2 115 2 T  [INT_SRC INT_DST COMMUTES] "9.2";
    MULHI_INT           OP2 116 2 T  [INT_SRC INT_DST COMMUTES] "9.2";
    MULLO_UINT          OP2 117 2 T  [INT_SRC INT_DST COMMUTES] "9.2";
    MULHI_UINT          OP2 118 2 T  [INT_SRC INT_DST COMMUTES] "9.2";
    RECIP_INT           OP2 119 1 T  [INT_SRC INT_DST] "9.2";
    RECIP_UINT          OP2 120 1 T  [INT_SRC INT_DST] "9.2";
    FLT_TO_UINT         OP2 121 1 T  [INT_DST] "10.2, -, E 3.36";
    LDEXP_64            OP2 122 2 V  [PAIR_64] "9.2, E 3.40";
    FRACT_64            OP2 123 1 V  [PAIR_64] "9.2, E 3.38";
    PRED_SETGT_64       OP2 124 2 V  [PAIR_64 PRED_SET] "9.2, E 3.45";
    PRED_SETE_64        OP2 125 2 V  [PAIR_64 PRED_SET COMMUTES] "9.2, E 3.45";
    PRED_SETGE_64       OP2 126 2 V  [PAIR_64 PRED_SET] "9.2, E 3.45";
    MULADD_64           OP3 8   3 V  [QUAD_64] "9.2, 4.12";
    MULADD_64_M2        OP3 9   3 V  [QUAD_64] "9.2, 4.12";
    MULADD_64_M4        OP3 10  3 V  [QUAD_64] "9.2, 4.12";
    MULADD_64_D2        OP3 11  3 V  [QUAD_64] "9.2, 4.12";
    MUL_LIT             OP3 12  3 T  [] "9.2, 4.8.3";
    MUL_LIT_M2          OP3 13  3 T  [] "9.2, 4.8.3";
    MUL_LIT_M4          OP3 14  3 T  [] "9.2, 4.8.3";
    MUL_LIT_D2          OP3 15  3 T  [] "9.2, 4.8.3";
    MULADD              OP3 16  3 VT [COMMUTES] "9.2";
    MULADD_M2           OP3 17  3 VT [COMMUTES] "9.2";
    MULADD_M4           OP3 18  3 VT [COMMUTES] "9.2";
    MULADD_D2           OP3 19  3 VT [COMMUTES] "9.2";
    MULADD_IEEE         OP3 20  3 VT [COMMUTES] "9.2";
    MULADD_IEEE_M2      OP3 21  3 VT [COMMUTES] "9.2";
    MULADD_IEEE_M4      OP3 22  3 VT [COMMUTES] "9.2";
    MULADD_IEEE_D2      OP3 23  3 VT [COMMUTES] "9.2";
    CNDE                OP3 24  3 VT [] "9.2, 4.8.1" "CMOVE";
    CNDGT               OP3 25  3 VT [] "9.2, 4.8.1" "CMOVGT";
    CNDGE               OP3 26  3 VT [] "9.2, 4.8.1" "CMOVGE";
    CNDE_INT            OP3 28  3 VT [INT_SRC INT_DST] "9.2, 4.8.1" "CMOVE_INT";
    CNDGT_INT           OP3 29  3 VT [INT_SRC INT_DST] "9.2, 4.8.1" "CMOVGT_INT";
    CNDGE_INT           OP3 30  3 VT [INT_SRC INT_DST] "9.2, 4.8.1" "CMOVGE_INT";
}

macro_rules! fetch_ops {
    ($($name:ident $format:ident [$($field:ident $code:literal),*] [$($flag:ident)*] $cite:literal
        $($alias:literal)*;)*) => {
        op_enum! {
            /// Fetch, memory-read and data-share instructions. R700 ISA 9.3 to 9.6, 10.3 to 10.6.
            FetchOp $($name)*
        }
        pub static FETCH_OPS: [Op; FetchOp::ALL.len()] = [$(Op {
            aliases: &[$($alias),*],
            sources: 1,
            flags: 0 $(| $flag)*,
            latency: latency::FETCH,
            cite: $cite,
            ..Op::new(FetchOp::$name.id(), stringify!($name), &$format, &[$((f::$field, $code)),*])
        }),*];
    };
}

#[rustfmt::skip]
fetch_ops! {
    VFETCH                VTX_GPR [VTX_INST 0] [VERTEX] "9.3, 10.3" "FETCH" "VTX_FETCH";
    SEMFETCH              VTX_SEM [VTX_INST 1] [VERTEX] "9.3, 10.3" "SEMANTIC" "VTX_SEMANTIC";
    READ_SCRATCH          MEM_RD  [VTX_INST 2, MEM_OP 0] [MEMORY] "9.5, 10.5, E 3.67" "RD_SCRATCH";
    READ_REDUCT           MEM_RD  [VTX_INST 2, MEM_OP 1] [MEMORY] "9.5, 10.5, E 3.67" "RD_REDUC";
    READ_MEM              MEM_RD  [VTX_INST 2, MEM_OP 2] [MEMORY] "9.5, 10.5, E 3.67" "RD_SCATTER";
    DS_LOCAL_WRITE        MEM_DSW [VTX_INST 2, MEM_OP 4] [DATA_SHARE] "9.6, 10.6" "LOCAL_DS_WRITE";
    DS_LOCAL_READ         MEM_DSR [VTX_INST 2, MEM_OP 5] [DATA_SHARE] "9.6, 10.6" "LOCAL_DS_READ";
    DS_GLOBAL_WRITE       MEM_DSW [VTX_INST 2, MEM_OP 6] [DATA_SHARE RESERVED] "10.6, E T4" "GLOBAL_DS_WRITE";
    DS_GLOBAL_READ        MEM_DSR [VTX_INST 2, MEM_OP 7] [DATA_SHARE RESERVED] "10.6, E T4" "GLOBAL_DS_READ";
    LD                    TEX [TEX_INST 3]  [TEXTURE] "9.4, 10.4";
    GET_TEXTURE_RESINFO   TEX [TEX_INST 4]  [TEXTURE] "9.4, 10.4";
    GET_NUMBER_OF_SAMPLES TEX [TEX_INST 5]  [TEXTURE] "9.4, 10.4, E 3.53";
    GET_COMP_TEX_LOD      TEX [TEX_INST 6]  [TEXTURE] "9.4, 10.4" "GET_LOD";
    GET_GRADIENTS_H       TEX [TEX_INST 7]  [TEXTURE] "9.4, 10.4";
    GET_GRADIENTS_V       TEX [TEX_INST 8]  [TEXTURE] "9.4, 10.4";
    GET_LERP              TEX [TEX_INST 9]  [TEXTURE] "9.4, 10.4, E 3.53" "GET_LERP_FACTORS";
    KEEP_GRADIENTS        TEX [TEX_INST 10] [TEXTURE] "9.4, 10.4";
    SET_GRADIENTS_H       TEX [TEX_INST 11] [TEXTURE] "9.4, 10.4";
    SET_GRADIENTS_V       TEX [TEX_INST 12] [TEXTURE] "9.4, 10.4";
    PASS                  TEX [TEX_INST 13] [TEXTURE] "guide ch. 5 TEX_WORD0";
    SET_CUBEMAP_INDEX     TEX [TEX_INST 14] [TEXTURE] "9.4, 10.4, E 3.54";
    FETCH4                TEX [TEX_INST 15] [TEXTURE] "10.4, -, E 3.54";
    SAMPLE                TEX [TEX_INST 16] [TEXTURE] "9.4, 10.4";
    SAMPLE_L              TEX [TEX_INST 17] [TEXTURE] "9.4, 10.4";
    SAMPLE_LB             TEX [TEX_INST 18] [TEXTURE] "9.4, 10.4";
    SAMPLE_LZ             TEX [TEX_INST 19] [TEXTURE] "9.4, 10.4";
    SAMPLE_G              TEX [TEX_INST 20] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_G_L            TEX [TEX_INST 21] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_G_LB           TEX [TEX_INST 22] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_G_LZ           TEX [TEX_INST 23] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_C              TEX [TEX_INST 24] [TEXTURE] "9.4, 10.4, E 3.55";
    SAMPLE_C_L            TEX [TEX_INST 25] [TEXTURE] "9.4, 10.4";
    SAMPLE_C_LB           TEX [TEX_INST 26] [TEXTURE] "9.4, 10.4";
    SAMPLE_C_LZ           TEX [TEX_INST 27] [TEXTURE] "9.4, 10.4";
    SAMPLE_C_G            TEX [TEX_INST 28] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_C_G_L          TEX [TEX_INST 29] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_C_G_LB         TEX [TEX_INST 30] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_C_G_LZ         TEX [TEX_INST 31] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
}
