//! Every instruction of R700, in the order of its opcode, with the manual's names and a citation a row. This is the one
//! place that says which opcode an instruction has, what it takes and where it can execute.
//!
//! Citations are sections of the R700 ISA document; `E5` is a number in ERRATA.md; `-` means that the document lists
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

    /// The row keeps its number, but this member of the family lacks the instruction.
    pub const ABSENT: u32 = 1 << 21;

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
    &[l::ALLOC_EXPORT0, l::TYPE_EXPORT, l::ALLOC_EXPORT_SWIZ, l::ALLOC_EXPORT1],
    "10.1",
);
pub static EXPORT_BUF: Format = Format::new(
    "CF_ALLOC_EXPORT_WORD_BUF",
    64,
    32,
    &[l::ALLOC_EXPORT0, l::TYPE_WRITE, l::ALLOC_EXPORT_BUF, l::ALLOC_EXPORT1],
    "10.1",
);
pub static OP2: Format =
    Format::new("ALU_WORD_OP2", 64, 32, &[l::ALU0, l::ALU1_OP2, l::ALU1], "10.2");
pub static OP3: Format =
    Format::new("ALU_WORD_OP3", 64, 32, &[l::ALU0, l::ALU1_OP3, l::ALU1], "10.2");
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
    &[l::VTX0, l::SEMANTIC, l::DST_SEL, l::VTX1_CONST, l::DATA, l::VTX2],
    "10.3",
);
pub static TEX: Format =
    Format::new("TEX_WORD", 128, 32, &[l::TEX0, l::DST, l::DST_SEL, l::TEX1, l::TEX2], "10.4");
pub static MEM_RD: Format = Format::new(
    "MEM_RD_WORD",
    128,
    32,
    &[l::MEM_RD0, l::DST, l::DST_SEL, l::DATA, l::MEM_RD2],
    "10.5",
);
pub static MEM_DSW: Format = Format::new("MEM_DSW_WORD", 128, 32, &[l::MEM_DSW], "10.6");
pub static MEM_DSR: Format = Format::new("MEM_DSR_WORD", 128, 32, &[l::MEM_DSR], "10.6");

/// The formats of one member of the family. Its rows are built over them; code reads fields by id and does not notice
/// where a member keeps them.
#[derive(Debug)]
pub struct Formats {
    pub cf: &'static Format,
    pub cf_alu: &'static Format,
    pub export_buf: &'static Format,
    pub export_swiz: &'static Format,
    pub op2: &'static Format,
    pub op3: &'static Format,
    pub vtx_gpr: &'static Format,
    pub vtx_sem: &'static Format,
    pub tex: &'static Format,
    pub mem_rd: &'static Format,
    pub mem_dsw: &'static Format,
    pub mem_dsr: &'static Format,
}

pub static R700_FORMATS: Formats = Formats {
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

impl Formats {
    /// All of them, in the order of the document.
    pub const fn all(&self) -> [&'static Format; 12] {
        [
            self.cf,
            self.cf_alu,
            self.export_buf,
            self.export_swiz,
            self.op2,
            self.op3,
            self.vtx_gpr,
            self.vtx_sem,
            self.tex,
            self.mem_rd,
            self.mem_dsw,
            self.mem_dsr,
        ]
    }
}

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
        /// The rows over the formats of one member of the family.
        pub const fn cf_rows(formats: &Formats) -> [Op; CfOp::ALL.len()] {
            [$(Op {
                aliases: &[$($alias),*],
                flags: 0 $(| $flag)*,
                latency: latency::CF,
                cite: $cite,
                ..Op::new(CfOp::$name.id(), stringify!($name), formats.$format, &[(f::CF_INST, $code)])
            }),*]
        }
    };
}

#[rustfmt::skip]
cf_ops! {
    NOP              cf 0  [] "9.1, 10.1" "CF_END" "END";
    TEX              cf 1  [FETCH_CLAUSE] "9.1, 10.1";
    VTX              cf 2  [FETCH_CLAUSE] "9.1, 10.1";
    VTX_TC           cf 3  [FETCH_CLAUSE] "9.1, 10.1";
    LOOP_START       cf 4  [JUMPS] "9.1, 3.7.3, E20" "LOOP";
    LOOP_END         cf 5  [JUMPS] "9.1, 3.7.3" "ENDLOOP";
    LOOP_START_DX10  cf 6  [JUMPS] "9.1, 3.7.4" "LOOP_DX10";
    LOOP_START_NO_AL cf 7  [JUMPS] "9.1, 3.7.5" "LOOP_NO_AL";
    LOOP_CONTINUE    cf 8  [JUMPS] "9.1" "CONTINUE";
    LOOP_BREAK       cf 9  [JUMPS] "9.1" "BREAK";
    JUMP             cf 10 [JUMPS] "9.1, 10.1, E5, E9";
    PUSH             cf 11 [JUMPS] "9.1, 10.1";
    PUSH_ELSE        cf 12 [JUMPS] "9.1, 10.1";
    ELSE             cf 13 [JUMPS] "9.1, 10.1, E9b";
    POP              cf 14 [JUMPS] "9.1, 10.1";
    POP_JUMP         cf 15 [JUMPS] "10.1, -";
    POP_PUSH         cf 16 [JUMPS] "10.1, -";
    POP_PUSH_ELSE    cf 17 [JUMPS] "10.1, -";
    CALL             cf 18 [JUMPS] "9.1, 3.7.6";
    CALL_FS          cf 19 [] "9.1, 10.1";
    RETURN           cf 20 [] "9.1, 3.7.6" "RET";
    EMIT_VERTEX      cf 21 [] "9.1, 10.1";
    EMIT_CUT_VERTEX  cf 22 [] "9.1, 10.1";
    CUT_VERTEX       cf 23 [] "9.1, 10.1";
    KILL             cf 24 [JUMPS] "9.1, 10.1";
    END_PROGRAM      cf 25 [RESERVED] "10.1, E68";
    WAIT_ACK         cf 26 [] "9.1, 10.1, E68";
    TEX_ACK          cf 27 [FETCH_CLAUSE RESERVED] "10.1, E68";
    VTX_ACK          cf 28 [FETCH_CLAUSE RESERVED] "10.1, E68";
    VTX_TC_ACK       cf 29 [FETCH_CLAUSE RESERVED] "10.1, E68";
    MEM_STREAM0      export_buf 32 [WRITES_MEMORY] "9.1, 10.1, E14";
    MEM_STREAM1      export_buf 33 [WRITES_MEMORY] "9.1, 10.1, E19";
    MEM_STREAM2      export_buf 34 [WRITES_MEMORY] "9.1, 10.1";
    MEM_STREAM3      export_buf 35 [WRITES_MEMORY] "9.1, 10.1, E19";
    MEM_SCRATCH      export_buf 36 [WRITES_MEMORY] "9.1, 10.1";
    MEM_REDUCTION    export_buf 37 [WRITES_MEMORY] "9.1, 10.1" "MEM_REDUCT";
    MEM_RING         export_buf 38 [WRITES_MEMORY] "9.1, 10.1";
    EXPORT           export_swiz 39 [EXPORTS] "9.1, 10.1" "EXP";
    EXPORT_DONE      export_swiz 40 [EXPORTS] "9.1, 10.1" "EXP_DONE";
    MEM_EXPORT       export_buf 58 [WRITES_MEMORY] "9.1, 10.1, E70";
    ALU              cf_alu 8  [ALU_CLAUSE] "9.1, 10.1";
    ALU_PUSH_BEFORE  cf_alu 9  [ALU_CLAUSE] "9.1, 10.1";
    ALU_POP_AFTER    cf_alu 10 [ALU_CLAUSE] "9.1, 10.1";
    ALU_POP2_AFTER   cf_alu 11 [ALU_CLAUSE] "9.1, 10.1, E63";
    ALU_CONTINUE     cf_alu 13 [ALU_CLAUSE] "9.1, 10.1";
    ALU_BREAK        cf_alu 14 [ALU_CLAUSE] "9.1, 10.1, E63";
    ALU_ELSE_AFTER   cf_alu 15 [ALU_CLAUSE] "9.1, 10.1, E63";
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
        /// The rows over the formats of one member of the family.
        pub const fn alu_rows(formats: &Formats) -> [Op; AluOp::ALL.len()] {
            [$(Op {
                aliases: &[$($alias),*],
                sources: $sources,
                units: $units,
                flags: 0 $(| $flag)*,
                latency: if (0 $(| $flag)*) & MOVA != 0 { latency::MOVA } else { latency::ALU },
                cite: $cite,
                ..Op::new(AluOp::$name.id(), stringify!($name), formats.$format, &[(f::ALU_INST, $code)])
            }),*]
        }
    };
}

#[rustfmt::skip]
alu_ops! {
    ADD                 op2 0   2 VT [COMMUTES] "9.2";
    MUL                 op2 1   2 VT [COMMUTES] "9.2, 4.8.1";
    MUL_IEEE            op2 2   2 VT [COMMUTES] "9.2, 4.8.1";
    MAX                 op2 3   2 VT [] "9.2";
    MIN                 op2 4   2 VT [] "9.2";
    MAX_DX10            op2 5   2 VT [] "9.2";
    MIN_DX10            op2 6   2 VT [] "9.2";
    FREXP_64            op2 7   1 V  [QUAD_64] "9.2, E39";
    SETE                op2 8   2 VT [COMMUTES] "9.2";
    SETGT               op2 9   2 VT [] "9.2";
    SETGE               op2 10  2 VT [] "9.2";
    SETNE               op2 11  2 VT [COMMUTES] "9.2";
    SETE_DX10           op2 12  2 VT [INT_DST COMMUTES] "9.2, E51";
    SETGT_DX10          op2 13  2 VT [INT_DST] "9.2";
    SETGE_DX10          op2 14  2 VT [INT_DST] "9.2";
    SETNE_DX10          op2 15  2 VT [INT_DST COMMUTES] "9.2";
    FRACT               op2 16  1 VT [] "9.2";
    TRUNC               op2 17  1 VT [] "9.2";
    CEIL                op2 18  1 VT [] "9.2, E52";
    RNDNE               op2 19  1 VT [] "9.2, E50";
    FLOOR               op2 20  1 VT [] "9.2";
    MOVA                op2 21  1 V  [MOVA] "9.2, 4.8.2.2, E34";
    MOVA_FLOOR          op2 22  1 V  [MOVA] "9.2, 4.8.2.2, E34";
    ADD_64              op2 23  2 V  [PAIR_64 COMMUTES] "9.2, 4.12, E41";
    MOVA_INT            op2 24  1 V  [MOVA INT_SRC INT_DST] "9.2, 4.8.2.2, E34";
    MOV                 op2 25  1 VT [] "9.2";
    NOP                 op2 26  0 VT [] "9.2, E11" "ALU_NOP";
    MUL_64              op2 27  2 V  [QUAD_64 COMMUTES] "9.2, 4.12, E42";
    FLT64_TO_FLT32      op2 28  1 V  [PAIR_64] "9.2, E38";
    FLT32_TO_FLT64      op2 29  1 V  [PAIR_64] "9.2, E37";
    PRED_SETGT_UINT     op2 30  2 VT [PRED_SET INT_SRC] "10.2, -";
    PRED_SETGE_UINT     op2 31  2 VT [PRED_SET INT_SRC] "10.2, -";
    PRED_SETE           op2 32  2 VT [PRED_SET COMMUTES] "9.2";
    PRED_SETGT          op2 33  2 VT [PRED_SET] "9.2";
    PRED_SETGE          op2 34  2 VT [PRED_SET] "9.2";
    PRED_SETNE          op2 35  2 VT [PRED_SET COMMUTES] "9.2";
    PRED_SET_INV        op2 36  1 VT [PRED_SET] "9.2, E48";
    PRED_SET_POP        op2 37  2 VT [PRED_SET] "9.2";
    PRED_SET_CLR        op2 38  0 VT [PRED_SET] "9.2, E44";
    PRED_SET_RESTORE    op2 39  1 VT [PRED_SET] "9.2";
    PRED_SETE_PUSH      op2 40  2 VT [PRED_SET PRED_PUSH] "9.2";
    PRED_SETGT_PUSH     op2 41  2 VT [PRED_SET PRED_PUSH] "9.2, E47";
    PRED_SETGE_PUSH     op2 42  2 VT [PRED_SET PRED_PUSH] "9.2";
    PRED_SETNE_PUSH     op2 43  2 VT [PRED_SET PRED_PUSH] "9.2";
    KILLE               op2 44  2 VT [KILL COMMUTES] "9.2";
    KILLGT              op2 45  2 VT [KILL] "9.2";
    KILLGE              op2 46  2 VT [KILL] "9.2";
    KILLNE              op2 47  2 VT [KILL COMMUTES] "9.2";
    AND_INT             op2 48  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    OR_INT              op2 49  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    XOR_INT             op2 50  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    NOT_INT             op2 51  1 VT [INT_SRC INT_DST] "9.2";
    ADD_INT             op2 52  2 VT [INT_SRC INT_DST COMMUTES] "9.2, E13";
    SUB_INT             op2 53  2 VT [INT_SRC INT_DST] "9.2, E8";
    MAX_INT             op2 54  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    MIN_INT             op2 55  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    MAX_UINT            op2 56  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    MIN_UINT            op2 57  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    SETE_INT            op2 58  2 VT [INT_SRC INT_DST COMMUTES] "9.2, E51";
    SETGT_INT           op2 59  2 VT [INT_SRC INT_DST] "9.2";
    SETGE_INT           op2 60  2 VT [INT_SRC INT_DST] "9.2, E52";
    SETNE_INT           op2 61  2 VT [INT_SRC INT_DST COMMUTES] "9.2";
    SETGT_UINT          op2 62  2 VT [INT_SRC INT_DST] "9.2";
    SETGE_UINT          op2 63  2 VT [INT_SRC INT_DST] "9.2";
    KILLGT_UINT         op2 64  2 VT [KILL INT_SRC] "10.2, -";
    KILLGE_UINT         op2 65  2 VT [KILL INT_SRC] "10.2, -";
    PRED_SETE_INT       op2 66  2 VT [PRED_SET INT_SRC COMMUTES] "9.2";
    PRED_SETGT_INT      op2 67  2 VT [PRED_SET INT_SRC] "9.2";
    PRED_SETGE_INT      op2 68  2 VT [PRED_SET INT_SRC] "9.2";
    PRED_SETNE_INT      op2 69  2 VT [PRED_SET INT_SRC COMMUTES] "9.2";
    KILLE_INT           op2 70  2 VT [KILL INT_SRC COMMUTES] "10.2, -, E17";
    KILLGT_INT          op2 71  2 VT [KILL INT_SRC] "10.2, -, E17";
    KILLGE_INT          op2 72  2 VT [KILL INT_SRC] "10.2, -";
    KILLNE_INT          op2 73  2 VT [KILL INT_SRC COMMUTES] "10.2, -, E18";
    PRED_SETE_PUSH_INT  op2 74  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E18";
    PRED_SETGT_PUSH_INT op2 75  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E18";
    PRED_SETGE_PUSH_INT op2 76  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E18";
    PRED_SETNE_PUSH_INT op2 77  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E18";
    PRED_SETLT_PUSH_INT op2 78  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E18";
    PRED_SETLE_PUSH_INT op2 79  2 VT [PRED_SET PRED_PUSH INT_SRC] "9.2, E18";
    DOT4                op2 80  2 V  [REDUCTION] "9.2, 4.8.2.1";
    DOT4_IEEE           op2 81  2 V  [REDUCTION] "9.2, 4.8.2.1";
    CUBE                op2 82  2 V  [REDUCTION] "9.2, 4.8.2.1";
    MAX4                op2 83  1 V  [REDUCTION] "9.2, 4.8.2.1";
    MOVA_GPR_INT        op2 96  1 T  [MOVA INT_SRC INT_DST RESERVED] "10.2, -, E76";
    EXP_IEEE            op2 97  1 T  [] "9.2, E52";
    LOG_CLAMPED         op2 98  1 T  [] "9.2";
    LOG_IEEE            op2 99  1 T  [] "9.2";
    RECIP_CLAMPED       op2 100 1 T  [] "9.2, E52";
    RECIP_FF            op2 101 1 T  [] "9.2, E49";
    RECIP_IEEE          op2 102 1 T  [] "9.2, E52";
    RECIPSQRT_CLAMPED   op2 103 1 T  [] "9.2";
    RECIPSQRT_FF        op2 104 1 T  [] "9.2";
    RECIPSQRT_IEEE      op2 105 1 T  [] "9.2";
    SQRT_IEEE           op2 106 1 T  [] "9.2, E10";
    FLT_TO_INT          op2 107 1 T  [INT_DST] "9.2, E36";
    INT_TO_FLT          op2 108 1 T  [INT_SRC] "9.2";
    UINT_TO_FLT         op2 109 1 T  [INT_SRC] "9.2";
    SIN                 op2 110 1 T  [] "9.2, E77";
    COS                 op2 111 1 T  [] "9.2, E77";
    ASHR_INT            op2 112 2 VT [INT_SRC INT_DST] "9.2, E6";
    LSHR_INT            op2 113 2 VT [INT_SRC INT_DST] "9.2, E6, E7";
    LSHL_INT            op2 114 2 VT [INT_SRC INT_DST] "9.2, E6";
    MULLO_INT           op2 115 2 T  [INT_SRC INT_DST COMMUTES] "9.2";
    MULHI_INT           op2 116 2 T  [INT_SRC INT_DST COMMUTES] "9.2";
    MULLO_UINT          op2 117 2 T  [INT_SRC INT_DST COMMUTES] "9.2";
    MULHI_UINT          op2 118 2 T  [INT_SRC INT_DST COMMUTES] "9.2";
    RECIP_INT           op2 119 1 T  [INT_SRC INT_DST] "9.2";
    RECIP_UINT          op2 120 1 T  [INT_SRC INT_DST] "9.2";
    FLT_TO_UINT         op2 121 1 T  [INT_DST] "10.2, -, E36";
    LDEXP_64            op2 122 2 V  [PAIR_64] "9.2, E40";
    FRACT_64            op2 123 1 V  [PAIR_64] "9.2, E38";
    PRED_SETGT_64       op2 124 2 V  [PAIR_64 PRED_SET] "9.2, E45";
    PRED_SETE_64        op2 125 2 V  [PAIR_64 PRED_SET COMMUTES] "9.2, E45";
    PRED_SETGE_64       op2 126 2 V  [PAIR_64 PRED_SET] "9.2, E45";
    MULADD_64           op3 8   3 V  [QUAD_64] "9.2, 4.12";
    MULADD_64_M2        op3 9   3 V  [QUAD_64] "9.2, 4.12";
    MULADD_64_M4        op3 10  3 V  [QUAD_64] "9.2, 4.12";
    MULADD_64_D2        op3 11  3 V  [QUAD_64] "9.2, 4.12";
    MUL_LIT             op3 12  3 T  [] "9.2, 4.8.3";
    MUL_LIT_M2          op3 13  3 T  [] "9.2, 4.8.3";
    MUL_LIT_M4          op3 14  3 T  [] "9.2, 4.8.3";
    MUL_LIT_D2          op3 15  3 T  [] "9.2, 4.8.3";
    MULADD              op3 16  3 VT [COMMUTES] "9.2";
    MULADD_M2           op3 17  3 VT [COMMUTES] "9.2";
    MULADD_M4           op3 18  3 VT [COMMUTES] "9.2";
    MULADD_D2           op3 19  3 VT [COMMUTES] "9.2";
    MULADD_IEEE         op3 20  3 VT [COMMUTES] "9.2";
    MULADD_IEEE_M2      op3 21  3 VT [COMMUTES] "9.2";
    MULADD_IEEE_M4      op3 22  3 VT [COMMUTES] "9.2";
    MULADD_IEEE_D2      op3 23  3 VT [COMMUTES] "9.2";
    CNDE                op3 24  3 VT [] "9.2, 4.8.1" "CMOVE";
    CNDGT               op3 25  3 VT [] "9.2, 4.8.1" "CMOVGT";
    CNDGE               op3 26  3 VT [] "9.2, 4.8.1" "CMOVGE";
    CNDE_INT            op3 28  3 VT [INT_SRC INT_DST] "9.2, 4.8.1" "CMOVE_INT";
    CNDGT_INT           op3 29  3 VT [INT_SRC INT_DST] "9.2, 4.8.1" "CMOVGT_INT";
    CNDGE_INT           op3 30  3 VT [INT_SRC INT_DST] "9.2, 4.8.1" "CMOVGE_INT";
}

macro_rules! fetch_ops {
    ($($name:ident $format:ident [$($field:ident $code:literal),*] [$($flag:ident)*] $cite:literal
        $($alias:literal)*;)*) => {
        op_enum! {
            /// Fetch, memory-read and data-share instructions. R700 ISA 9.3 to 9.6, 10.3 to 10.6.
            FetchOp $($name)*
        }
        /// The rows over the formats of one member of the family.
        pub const fn fetch_rows(formats: &Formats) -> [Op; FetchOp::ALL.len()] {
            [$(Op {
                aliases: &[$($alias),*],
                sources: 1,
                flags: 0 $(| $flag)*,
                latency: latency::FETCH,
                cite: $cite,
                ..Op::new(FetchOp::$name.id(), stringify!($name), formats.$format, &[$((f::$field, $code)),*])
            }),*]
        }
    };
}

#[rustfmt::skip]
fetch_ops! {
    VFETCH                vtx_gpr [VTX_INST 0] [VERTEX] "9.3, 10.3" "FETCH" "VTX_FETCH";
    SEMFETCH              vtx_sem [VTX_INST 1] [VERTEX] "9.3, 10.3" "SEMANTIC" "VTX_SEMANTIC";
    READ_SCRATCH          mem_rd  [VTX_INST 2, MEM_OP 0] [MEMORY] "9.5, 10.5, E67" "RD_SCRATCH";
    READ_REDUCT           mem_rd  [VTX_INST 2, MEM_OP 1] [MEMORY] "9.5, 10.5, E67" "RD_REDUC";
    READ_MEM              mem_rd  [VTX_INST 2, MEM_OP 2] [MEMORY] "9.5, 10.5, E67" "RD_SCATTER";
    DS_LOCAL_WRITE        mem_dsw [VTX_INST 2, MEM_OP 4] [DATA_SHARE] "9.6, 10.6" "LOCAL_DS_WRITE";
    DS_LOCAL_READ         mem_dsr [VTX_INST 2, MEM_OP 5] [DATA_SHARE] "9.6, 10.6" "LOCAL_DS_READ";
    DS_GLOBAL_WRITE       mem_dsw [VTX_INST 2, MEM_OP 6] [DATA_SHARE RESERVED] "10.6, E78" "GLOBAL_DS_WRITE";
    DS_GLOBAL_READ        mem_dsr [VTX_INST 2, MEM_OP 7] [DATA_SHARE RESERVED] "10.6, E78" "GLOBAL_DS_READ";
    LD                    tex [TEX_INST 3]  [TEXTURE] "9.4, 10.4";
    GET_TEXTURE_RESINFO   tex [TEX_INST 4]  [TEXTURE] "9.4, 10.4";
    GET_NUMBER_OF_SAMPLES tex [TEX_INST 5]  [TEXTURE] "9.4, 10.4, E53";
    GET_COMP_TEX_LOD      tex [TEX_INST 6]  [TEXTURE] "9.4, 10.4" "GET_LOD";
    GET_GRADIENTS_H       tex [TEX_INST 7]  [TEXTURE] "9.4, 10.4";
    GET_GRADIENTS_V       tex [TEX_INST 8]  [TEXTURE] "9.4, 10.4";
    GET_LERP              tex [TEX_INST 9]  [TEXTURE] "9.4, 10.4, E53" "GET_LERP_FACTORS";
    KEEP_GRADIENTS        tex [TEX_INST 10] [TEXTURE] "9.4, 10.4";
    SET_GRADIENTS_H       tex [TEX_INST 11] [TEXTURE] "9.4, 10.4";
    SET_GRADIENTS_V       tex [TEX_INST 12] [TEXTURE] "9.4, 10.4";
    PASS                  tex [TEX_INST 13] [TEXTURE] "guide ch. 5 TEX_WORD0";
    SET_CUBEMAP_INDEX     tex [TEX_INST 14] [TEXTURE] "9.4, 10.4, E54";
    FETCH4                tex [TEX_INST 15] [TEXTURE] "10.4, -, E54";
    SAMPLE                tex [TEX_INST 16] [TEXTURE] "9.4, 10.4";
    SAMPLE_L              tex [TEX_INST 17] [TEXTURE] "9.4, 10.4";
    SAMPLE_LB             tex [TEX_INST 18] [TEXTURE] "9.4, 10.4";
    SAMPLE_LZ             tex [TEX_INST 19] [TEXTURE] "9.4, 10.4";
    SAMPLE_G              tex [TEX_INST 20] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_G_L            tex [TEX_INST 21] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_G_LB           tex [TEX_INST 22] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_G_LZ           tex [TEX_INST 23] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_C              tex [TEX_INST 24] [TEXTURE] "9.4, 10.4, E55";
    SAMPLE_C_L            tex [TEX_INST 25] [TEXTURE] "9.4, 10.4";
    SAMPLE_C_LB           tex [TEX_INST 26] [TEXTURE] "9.4, 10.4";
    SAMPLE_C_LZ           tex [TEX_INST 27] [TEXTURE] "9.4, 10.4";
    SAMPLE_C_G            tex [TEX_INST 28] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_C_G_L          tex [TEX_INST 29] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_C_G_LB         tex [TEX_INST 30] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
    SAMPLE_C_G_LZ         tex [TEX_INST 31] [TEXTURE USES_GRADIENTS] "9.4, 10.4";
}

pub static CF_OPS: [Op; CfOp::ALL.len()] = cf_rows(&R700_FORMATS);
pub static ALU_OPS: [Op; AluOp::ALL.len()] = alu_rows(&R700_FORMATS);
pub static FETCH_OPS: [Op; FetchOp::ALL.len()] = fetch_rows(&R700_FORMATS);
