//! Every instruction of Valhall v9, in the order of its opcode. A row is
//!
//! `Variant "text name" [other names] LAYOUT UNIT opcode {other fixed fields} extension "where Arm's v9 description has it";`
//!
//! The text name is Mesa 25.0.7's. `-` as citation: the public assembler alone has the row; it is decoded for foreign
//! programs and never emitted.

use super::fields::f;
use super::shapes::{self, Operand, Shape, Source, Staging};
use gpucc_isa::{FieldId, Op, OpId};

/// The unit that executes an instruction.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u16)]
pub enum Unit {
    /// Multiply and add.
    Fma = 1,
    /// Conversions, integer addition, comparison, moves, branches.
    Cvt = 2,
    /// Special functions, shifts, integer products.
    Sfu = 4,
    /// Varyings.
    V = 8,
    /// Memory.
    Ls = 16,
    /// Textures.
    T = 32,
    /// Varyings and textures.
    Vt = 64,
    /// Messages to other places: blending, tiles, barriers.
    None = 128,
}

impl Unit {
    pub const NAMES: &[(u16, &str)] = &[
        (1, "FMA"),
        (2, "CVT"),
        (4, "SFU"),
        (8, "V"),
        (16, "LS"),
        (32, "T"),
        (64, "V and T"),
        (128, "message"),
    ];

    /// Whether the instruction is a message to another unit rather than work of the execution engine.
    pub const fn is_message(self) -> bool {
        !matches!(self, Unit::Fma | Unit::Cvt | Unit::Sfu)
    }
}

/// Flags of rows.
pub mod flag {
    /// Arm's v9 description lacks the row; decoded for foreign programs, never emitted.
    pub const FOREIGN: u32 = 1;

    /// Names, for documents.
    pub const NAMES: &[(u32, &str)] = &[(FOREIGN, "foreign")];
}

macro_rules! unit {
    (FMA) => {
        Unit::Fma
    };
    (CVT) => {
        Unit::Cvt
    };
    (SFU) => {
        Unit::Sfu
    };
    (V) => {
        Unit::V
    };
    (LS) => {
        Unit::Ls
    };
    (T) => {
        Unit::T
    };
    (VT) => {
        Unit::Vt
    };
    (NONE) => {
        Unit::None
    };
}

/// How a narrower part becomes a whole operand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Extension {
    Zero,
    Sign,
    /// By arithmetic shifts: nobody says how.
    Arithmetic,
}

macro_rules! extension {
    () => {
        Extension::Zero
    };
    ($extension:ident) => {
        Extension::$extension
    };
}

macro_rules! rows {
    ($($variant:ident $name:literal [$($alias:literal)*] $shape:ident $unit:ident $opcode:literal
        {$($field:ident = $value:literal)*} $($extension:ident)? $cite:literal;)*) => {
        /// One variant a row, in the order of the table.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        pub enum Opcode { $($variant),* }

        impl Opcode {
            pub const ALL: &[Opcode] = &[$(Opcode::$variant),*];
        }

        /// The table.
        pub static OPS: [Op; Opcode::ALL.len()] = [$(Op {
            aliases: &[$($alias),*],
            sources: shapes::$shape.sources.len() as u8,
            units: unit!($unit) as u16,
            flags: if $cite.as_bytes()[0] == b'-' { flag::FOREIGN } else { 0 },
            cite: $cite,
            ..Op::new(OpId(Opcode::$variant as u16), $name, &shapes::$shape.format,
                &[(f::OPCODE, $opcode), $((f::$field, $value)),*])
        }),*];

        static INFO: [(&Shape, Unit, Extension); OPS.len()] =
            [$((&shapes::$shape, unit!($unit), extension!($($extension)?))),*];
    };
}

impl Opcode {
    pub fn op(self) -> &'static Op {
        &OPS[self as usize]
    }

    /// The opcode of a row of the table.
    pub fn of(op: &Op) -> Opcode {
        Opcode::ALL[usize::from(op.id.0)]
    }

    pub fn name(self) -> &'static str {
        self.op().name
    }

    pub fn shape(self) -> &'static Shape {
        INFO[self as usize].0
    }

    pub fn unit(self) -> Unit {
        INFO[self as usize].1
    }

    /// How narrow parts of its sources are extended.
    pub fn extension(self) -> Extension {
        INFO[self as usize].2
    }

    pub fn is_message(self) -> bool {
        self.unit().is_message()
    }

    /// Sources in the order of the text.
    pub fn sources(self) -> &'static [Source] {
        self.shape().sources
    }

    pub fn dst(self) -> Option<Operand> {
        self.shape().dst
    }

    pub fn staging(self) -> Staging {
        self.shape().staging
    }

    /// Whether a field of the row can be chosen.
    pub fn has(self, field: FieldId) -> bool {
        self.op().format.field(field).is_some_and(|field| !self.op().is_fixed(field))
    }

    /// Whether the instruction signals a dependency slot: all messages but ALPHA tests, which always take slot 0.
    pub fn has_slot(self) -> bool {
        self.has(f::SLOT)
    }
}

rows! {
    Nop "NOP" [] BARE CVT 0x000 {DST_MASK=3} "NOP";
    Doorbell "DOORBELL" [] BARE NONE 0x004 {DST_MASK=3} "DOORBELL";
    Eureka "EUREKA" [] BARE NONE 0x005 {DST_MASK=3} "EUREKA";
    Kaboom "KABOOM" [] BARE NONE 0x006 {DST_MASK=3} "KABOOM";
    Branchz "BRANCHZ" ["BRANCH"] BRANCHZ CVT 0x01f {DST_MASK=3} "BRANCH";
    DiscardF32 "DISCARD.f32" [] DISCARD CVT 0x020 {DST_MASK=3} "DISCARD.f32";
    Branchzi "BRANCHZI" ["JUMP"] BRANCHZI CVT 0x02f {DST_MASK=3} "JUMP";
    JumpEx "JUMP_EX" [] JUMP_EX CVT 0x03f {DST_MASK=3} "JUMP_EX";
    LdVarFlatImm "LD_VAR_FLAT_IMM" [] LD_VAR_FLAT_IMM V 0x041 {SR_CONTROL=2} "LD_VAR_FLAT_IMM";
    LdGclk "LD_GCLK" [] LD_GCLK LS 0x044 {SR_CONTROL=2} "LD_GCLK";
    Barrier "BARRIER" [] BARRIER NONE 0x045 {DST_MASK=3} "BARRIER";
    LdVarImm "LD_VAR_IMM" [] LD_VAR_IMM V 0x054 {SR_CONTROL=2} "LD_VAR_IMM";
    LdVarFlat "LD_VAR_FLAT" [] LD_VAR_FLAT V 0x055 {SR_CONTROL=2} "LD_VAR_FLAT";
    LdVarSpecial "LD_VAR_SPECIAL" [] LD_VAR_SPECIAL V 0x056 {SR_CONTROL=2} "LD_VAR_SPECIAL";
    LdVarBufImmF32 "LD_VAR_BUF_IMM.f32" ["LD_VAR_IMM_F32"] LD_VAR_BUF_IMM V 0x05c {SR_CONTROL=2} "LD_VAR_BUF_IMM.f32";
    LdVarBufImmF16 "LD_VAR_BUF_IMM.f16" ["LD_VAR_IMM_F16"] LD_VAR_BUF_IMM V 0x05d {SR_CONTROL=2} "LD_VAR_BUF_IMM.f16";
    LeaBufImm "LEA_BUF_IMM" [] LEA_BUF_IMM LS 0x05e {SR_CONTROL=2} "LEA_BUF_IMM";
    LoadI8 "LOAD.i8" [] LOAD8 LS 0x060 {OP2=0 SR_CONTROL=2} "LOAD.i8";
    LoadI16 "LOAD.i16" [] LOAD16 LS 0x060 {OP2=1 SR_CONTROL=2} "LOAD.i16";
    LoadI24 "LOAD.i24" [] LOAD LS 0x060 {LANE=0 OP2=2 SR_CONTROL=2} "LOAD.i24";
    LoadI32 "LOAD.i32" [] LOAD32 LS 0x060 {OP2=3 SR_CONTROL=2} "LOAD.i32";
    LoadI48 "LOAD.i48" [] LOAD LS 0x060 {LANE=4 OP2=4 SR_CONTROL=2} "LOAD.i48";
    LoadI64 "LOAD.i64" [] LOAD LS 0x060 {LANE=7 OP2=5 SR_CONTROL=2} "LOAD.i64";
    LoadI96 "LOAD.i96" [] LOAD LS 0x060 {LANE=6 OP2=6 SR_CONTROL=2} "LOAD.i96";
    LoadI128 "LOAD.i128" [] LOAD LS 0x060 {LANE=7 OP2=7 SR_CONTROL=2} "LOAD.i128";
    StoreI8 "STORE.i8" [] STORE8 LS 0x061 {OP2=0 SR_CONTROL=1} "STORE.i8";
    StoreI16 "STORE.i16" [] STORE16 LS 0x061 {OP2=1 SR_CONTROL=1} "STORE.i16";
    StoreI24 "STORE.i24" [] STORE LS 0x061 {OP2=2 SR_CONTROL=1} "STORE.i24";
    StoreI32 "STORE.i32" [] STORE LS 0x061 {OP2=3 SR_CONTROL=1} "STORE.i32";
    StoreI48 "STORE.i48" [] STORE LS 0x061 {OP2=4 SR_CONTROL=1} "STORE.i48";
    StoreI64 "STORE.i64" [] STORE LS 0x061 {OP2=5 SR_CONTROL=1} "STORE.i64";
    StoreI96 "STORE.i96" [] STORE LS 0x061 {OP2=6 SR_CONTROL=1} "STORE.i96";
    StoreI128 "STORE.i128" [] STORE LS 0x061 {OP2=7 SR_CONTROL=1} "STORE.i128";
    LdVar "LD_VAR" [] LD_VAR V 0x064 {SR_CONTROL=2} "LD_VAR";
    LdAttrImm "LD_ATTR_IMM" [] LD_ATTR_IMM LS 0x066 {OP2=0 SR_CONTROL=2} "LD_ATTR_IMM";
    LdTexImm "LD_TEX_IMM" [] LD_ATTR_IMM LS 0x066 {OP2=1 SR_CONTROL=2} "LD_TEX_IMM";
    LeaAttrImm "LEA_ATTR_IMM" [] LEA_ATTR_IMM LS 0x067 {OP2=0 SR_CONTROL=2} "LEA_ATTR_IMM";
    LeaTexImm "LEA_TEX_IMM" [] LEA_ATTR_IMM LS 0x067 {OP2=1 SR_CONTROL=2} "LEA_TEX_IMM";
    AtomI32 "ATOM.i32" [] ATOM LS 0x068 {OP2=3 SR_CONTROL=1} "ATOM.i32";
    AtomI64 "ATOM.i64" [] ATOM LS 0x068 {OP2=5 SR_CONTROL=1} "ATOM.i64";
    Atom1I32 "ATOM1.i32" [] ATOM1 LS 0x069 {OP2=3 SR=0 SR_CONTROL=1 SR_COUNT=0} "ATOM1.i32";
    Atom1ReturnI32 "ATOM1_RETURN.i32" ["TODO.ATOM_C1.i32"] ATOM1_RETURN LS 0x069 {OP2=3 SR_CONTROL=2} "ATOM1_RETURN.i32";
    Atom1I64 "ATOM1.i64" [] ATOM1 LS 0x069 {OP2=5 SR=0 SR_CONTROL=1 SR_COUNT=0} "ATOM1.i64";
    Atom1ReturnI64 "ATOM1_RETURN.i64" ["TODO.ATOM_C1.i64"] ATOM1_RETURN LS 0x069 {OP2=5 SR_CONTROL=2} "ATOM1_RETURN.i64";
    LdBufferI8 "LD_BUFFER.i8" ["LD_PKA.i8"] LD_BUFFER8 LS 0x06a {OP2=0 SR_CONTROL=2} "LD_PKA.i8";
    LdBufferI16 "LD_BUFFER.i16" ["LD_PKA.i16"] LD_BUFFER16 LS 0x06a {OP2=1 SR_CONTROL=2} "LD_PKA.i16";
    LdBufferI24 "LD_BUFFER.i24" ["LD_PKA.i24"] LD_BUFFER LS 0x06a {LANE=0 OP2=2 SR_CONTROL=2} "LD_PKA.i24";
    LdBufferI32 "LD_BUFFER.i32" ["LD_PKA.i32"] LD_BUFFER32 LS 0x06a {OP2=3 SR_CONTROL=2} "LD_PKA.i32";
    LdBufferI48 "LD_BUFFER.i48" ["LD_PKA.i48"] LD_BUFFER LS 0x06a {LANE=4 OP2=4 SR_CONTROL=2} "LD_PKA.i48";
    LdBufferI64 "LD_BUFFER.i64" ["LD_PKA.i64"] LD_BUFFER LS 0x06a {LANE=7 OP2=5 SR_CONTROL=2} "LD_PKA.i64";
    LdBufferI96 "LD_BUFFER.i96" ["LD_PKA.i96"] LD_BUFFER LS 0x06a {LANE=6 OP2=6 SR_CONTROL=2} "LD_PKA.i96";
    LdBufferI128 "LD_BUFFER.i128" ["LD_PKA.i128"] LD_BUFFER LS 0x06a {LANE=7 OP2=7 SR_CONTROL=2} "LD_PKA.i128";
    LeaBuffer "LEA_BUFFER" ["LEA_PKA"] LEA_BUFFER LS 0x06b {SR_CONTROL=2} "LEA_PKA";
    LdVarBufF32 "LD_VAR_BUF.f32" [] LD_VAR_BUF V 0x06c {SR_CONTROL=2} "LD_VAR_BUF.f32";
    LdVarBufF16 "LD_VAR_BUF.f16" [] LD_VAR_BUF V 0x06d {SR_CONTROL=2} "LD_VAR_BUF.f16";
    LeaBuf "LEA_BUF" [] LEA_BUFFER LS 0x06e {SR_CONTROL=2} "LEA_BUF";
    LdCvt "LD_CVT" [] LD_CVT LS 0x070 {SR_CONTROL=2} "LD_CVT";
    StCvt "ST_CVT" ["ST_IMAGE"] ST_CVT LS 0x071 {SR_CONTROL=1} "ST_CVT";
    LdAttr "LD_ATTR" [] LD_ATTR LS 0x076 {OP2=0 SR_CONTROL=2} "LD_ATTR";
    LdTex "LD_TEX" [] LD_ATTR LS 0x076 {OP2=1 SR_CONTROL=2} "LD_TEX";
    LeaAttr "LEA_ATTR" [] LEA_ATTR LS 0x077 {OP2=0 SR_CONTROL=2} "LEA_ATTR";
    LeaTex "LEA_TEX" [] LEA_ATTR LS 0x077 {OP2=1 SR_CONTROL=2} "LEA_TEX";
    LdTile "LD_TILE" [] LD_TILE NONE 0x078 {SR_CONTROL=2} "LD_TILE";
    StTile "ST_TILE" [] ST_TILE NONE 0x079 {SR_CONTROL=1} "ST_TILE";
    Atest "ATEST" [] ATEST NONE 0x07d {SR_CONTROL=2} "ATEST";
    ZsEmit "ZS_EMIT" [] ZS_EMIT NONE 0x07e {SR_CONTROL=2} "ZS_EMIT";
    Blend "BLEND" [] BLEND NONE 0x07f {SR_CONTROL=1} "BLEND";
    S8ToS32 "S8_TO_S32" [] I8_TO_I32 CVT 0x090 {OP2=0} "S8_TO_S32";
    S8ToF32 "S8_TO_F32" [] I8_TO_F32 CVT 0x090 {OP2=1} "S8_TO_F32";
    V2s8ToV2s16 "V2S8_TO_V2S16" ["S8_TO_S16"] V2I8_TO_I16 CVT 0x090 {OP2=2} "V2S8_TO_V2S16";
    V2s8ToV2f16 "V2S8_TO_V2F16" ["S8_TO_F16"] V2I8_TO_F16 CVT 0x090 {OP2=3} "V2S8_TO_V2F16";
    S16ToS32 "S16_TO_S32" [] I16_TO_I32 CVT 0x090 {OP2=4} "S16_TO_S32";
    S16ToF32 "S16_TO_F32" [] I16_TO_F32 CVT 0x090 {OP2=5} "S16_TO_F32";
    V2s16ToV2f16 "V2S16_TO_V2F16" [] V2I16_TO_FLOAT CVT 0x090 {OP2=7} "V2S16_TO_V2F16";
    S32ToF32 "S32_TO_F32" [] I32_TO_FLOAT CVT 0x090 {OP2=9} "S32_TO_F32";
    F16ToS32 "F16_TO_S32" [] F16_TO_INT CVT 0x090 {OP2=10} "F16_TO_S32";
    F16ToF32 "F16_TO_F32" [] F16_TO_F32 CVT 0x090 {OP2=11} "F16_TO_F32";
    F32ToS32 "F32_TO_S32" [] F32_TO_INT CVT 0x090 {OP2=12} "F32_TO_S32";
    FroundF32 "FROUND.f32" [] FROUND_F32 CVT 0x090 {OP2=13} "FROUND.f32";
    V2f16ToV2s16 "V2F16_TO_V2S16" [] V2F16_TO_INT CVT 0x090 {OP2=14} "V2F16_TO_V2S16";
    FroundV2f16 "FROUND.v2f16" [] FROUND_F16 CVT 0x090 {OP2=15} "FROUND.v2f16";
    U8ToU32 "U8_TO_U32" [] I8_TO_I32 CVT 0x090 {OP2=16} "U8_TO_U32";
    U8ToF32 "U8_TO_F32" [] I8_TO_F32 CVT 0x090 {OP2=17} "U8_TO_F32";
    V2u8ToV2u16 "V2U8_TO_V2U16" ["U8_TO_U16"] V2I8_TO_I16 CVT 0x090 {OP2=18} "V2U8_TO_V2U16";
    V2u8ToV2f16 "V2U8_TO_V2F16" ["U8_TO_F16"] V2I8_TO_F16 CVT 0x090 {OP2=19} "V2U8_TO_V2F16";
    U16ToU32 "U16_TO_U32" [] I16_TO_I32 CVT 0x090 {OP2=20} "U16_TO_U32";
    U16ToF32 "U16_TO_F32" [] I16_TO_F32 CVT 0x090 {OP2=21} "U16_TO_F32";
    V2u16ToV2f16 "V2U16_TO_V2F16" [] V2I16_TO_FLOAT CVT 0x090 {OP2=23} "V2U16_TO_V2F16";
    U32ToF32 "U32_TO_F32" [] I32_TO_FLOAT CVT 0x090 {OP2=25} "U32_TO_F32";
    F16ToU32 "F16_TO_U32" [] F16_TO_INT CVT 0x090 {OP2=26} "F16_TO_U32";
    F32ToU32 "F32_TO_U32" [] F32_TO_INT CVT 0x090 {OP2=28} "F32_TO_U32";
    V2f16ToV2u16 "V2F16_TO_V2U16" [] V2F16_TO_INT CVT 0x090 {OP2=30} "V2F16_TO_V2U16";
    MovI32 "MOV.i32" [] MOV CVT 0x091 {OP2=0} "MOV.i32";
    ClzU32 "CLZ.u32" [] CLZ32 SFU 0x091 {OP2=4} "CLZ.u32";
    ClzV2u16 "CLZ.v2u16" [] CLZ16 SFU 0x091 {OP2=5} "CLZ.v2u16";
    ClzV4u8 "CLZ.v4u8" [] CLZ8 SFU 0x091 {OP2=6} "CLZ.v4u8";
    IabsS32 "IABS.s32" [] IABS32 CVT 0x091 {OP2=8} Sign "IABS.s32";
    IabsV2s16 "IABS.v2s16" [] IABS16 CVT 0x091 {OP2=9} Sign "IABS.v2s16";
    IabsV4s8 "IABS.v4s8" [] IABS8 CVT 0x091 {OP2=10} Sign "IABS.v4s8";
    PopcountI32 "POPCOUNT.i32" [] INT1 SFU 0x091 {OP2=12} "POPCOUNT.i32";
    BitrevI32 "BITREV.i32" [] INT1 SFU 0x091 {OP2=13} "BITREV.i32";
    NotOldI32 "NOT_OLD.i32" [] INT1 SFU 0x091 {OP2=14} "NOT_OLD.i32";
    Wmask "WMASK" [] WMASK CVT 0x095 {OP2=0} "WMASK";
    FlushF32 "FLUSH.f32" [] FLUSH_F32 CVT 0x098 {OP2=0} "FLUSH.f32";
    FlushV2f16 "FLUSH.v2f16" [] FLUSH_F16 CVT 0x098 {OP2=1} "FLUSH.v2f16";
    IlogbF32 "ILOGB.f32" [] ILOGB_F32 CVT 0x098 {OP2=4} "ILOGB.f32";
    IlogbV2f16 "ILOGB.v2f16" [] ILOGB_F16 CVT 0x098 {OP2=5} "ILOGB.v2f16";
    LogbF32 "LOGB.f32" [] LOGB_F32 CVT 0x098 {OP2=6} "LOGB.f32";
    LogbV2f16 "LOGB.v2f16" [] LOGB_F16 CVT 0x098 {OP2=7} "LOGB.v2f16";
    FrexpmF32 "FREXPM.f32" [] FREXPM_F32 CVT 0x099 {OP2=0} "FREXPM.f32";
    FrexpmV2f16 "FREXPM.v2f16" [] FREXPM_F16 CVT 0x099 {OP2=1} "FREXPM.v2f16";
    FrexpeF32 "FREXPE.f32" [] FREXPE_F32 CVT 0x099 {OP2=2} "FREXPE.f32";
    FrexpeV2f16 "FREXPE.v2f16" [] FREXPE_F16 CVT 0x099 {OP2=3} "FREXPE.v2f16";
    FrcpF32 "FRCP.f32" [] SFU_F32 SFU 0x09c {OP2=0} "FRCP.f32";
    FrcpF16 "FRCP.f16" [] SFU_F16 SFU 0x09c {OP2=1} "FRCP.f16";
    FrsqF32 "FRSQ.f32" [] SFU_F32 SFU 0x09c {OP2=2} "FRSQ.f32";
    FrsqF16 "FRSQ.f16" [] SFU_F16 SFU 0x09c {OP2=3} "FRSQ.f16";
    FsinTableU6 "FSIN_TABLE.u6" [] TRIG_TABLE SFU 0x09c {OP2=4} "FSIN_TABLE.u6";
    FcosTableU6 "FCOS_TABLE.u6" [] TRIG_TABLE SFU 0x09c {OP2=5} "FCOS_TABLE.u6";
    FsincosOffsetU6 "FSINCOS_OFFSET.u6" [] SINCOS_OFFSET SFU 0x09c {OP2=6} "FSINCOS_OFFSET.u6";
    FlogdF32 "FLOGD.f32" [] SFU_F32 SFU 0x09c {OP2=8} "FLOGD.f32";
    FpclassF32 "FPCLASS.f32" [] FPCLASS_F32 SFU 0x09c {OP2=10} "FPCLASS.f32";
    FpclassF16 "FPCLASS.f16" [] FPCLASS_F16 SFU 0x09c {OP2=11} "FPCLASS.f16";
    FlogTableF32 "FLOG_TABLE.f32" [] FLOG_TABLE SFU 0x09c {OP2=12} "FLOG_TABLE.f32";
    FexpTableU4 "FEXP_TABLE.u4" [] EXP_TABLE SFU 0x09c {OP2=13} "FEXP_TABLE.u4";
    FrcpApproxF32 "FRCP_APPROX.f32" [] SFU_F32 SFU 0x09c {OP2=14} "FRCP_APPROX.f32";
    FrsqApproxF32 "FRSQ_APPROX.f32" [] SFU_F32 SFU 0x09c {OP2=15} "FRSQ_APPROX.f32";
    FrcbrtApproxAF32 "FRCBRT_APPROX_A.f32" [] SFU_F32 SFU 0x09e {OP2=0} "FRCBRT_APPROX_A.f32";
    FrcbrtApproxBF32 "FRCBRT_APPROX_B.f32" [] FLOAT1 SFU 0x09e {OP2=1} "FRCBRT_APPROX_B.f32";
    FrcbrtApproxCF32 "FRCBRT_APPROX_C.f32" [] FLOAT1 SFU 0x09e {OP2=2} "FRCBRT_APPROX_C.f32";
    IaddU32 "IADD.u32" [] INT2_32 CVT 0x0a0 {OP2=0} "IADD.u32";
    IsubU32 "ISUB.u32" [] INT2_32 CVT 0x0a0 {OP2=1} "ISUB.u32";
    ImulI32 "IMUL.i32" ["IMUL.u32"] INT2_32 SFU 0x0a0 {OP2=10} "IMUL.u32";
    HaddU32 "HADD.u32" [] HADD32 CVT 0x0a0 {OP2=11} "HADD.u32";
    ClperI32 "CLPER.i32" ["CLPER"] CLPER32 SFU 0x0a0 {OP2=15} "CLPER";
    IaddV2u16 "IADD.v2u16" [] INT2_16 CVT 0x0a1 {OP2=0} "IADD.v2u16";
    IsubV2u16 "ISUB.v2u16" [] INT2_16 CVT 0x0a1 {OP2=1} "ISUB.v2u16";
    MkvecV2i16 "MKVEC.v2i16" [] MKVEC16 CVT 0x0a1 {OP2=5} "MKVEC.v2i16";
    ImulV2i16 "IMUL.v2i16" ["IMUL.v2u16"] INT2_16 SFU 0x0a1 {OP2=10} "IMUL.v2u16";
    HaddV2u16 "HADD.v2u16" [] HADD16 CVT 0x0a1 {OP2=11} "HADD.v2u16";
    ClperV2u16 "CLPER.v2u16" [] CLPER32 SFU 0x0a1 {OP2=15} "-";
    IaddV4u8 "IADD.v4u8" [] INT2_8 CVT 0x0a2 {OP2=0} "IADD.v4u8";
    IsubV4u8 "ISUB.v4u8" [] INT2_8 CVT 0x0a2 {OP2=1} "ISUB.v4u8";
    ImulV4i8 "IMUL.v4i8" ["IMUL.v4u8"] INT2_8 SFU 0x0a2 {OP2=10} "IMUL.v4u8";
    HaddV4u8 "HADD.v4u8" [] HADD8 CVT 0x0a2 {OP2=11} "HADD.v4u8";
    ClperV4u8 "CLPER.v4u8" [] CLPER32 SFU 0x0a2 {OP2=15} "-";
    FaddF32 "FADD.f32" [] FADD_F32 FMA 0x0a4 {OP2=0} "FADD.f32";
    FminF32 "FMIN.f32" [] FMIN_F32 CVT 0x0a4 {OP2=2} "FMIN.f32";
    FmaxF32 "FMAX.f32" [] FMIN_F32 CVT 0x0a4 {OP2=3} "FMAX.f32";
    LdexpF32 "LDEXP.f32" ["FRSCALE.f32"] LDEXP_F32 FMA 0x0a4 {OP2=6} "LDEXP.f32";
    FexpF32 "FEXP.f32" [] FEXP SFU 0x0a4 {OP2=8} "FEXP.f32";
    FaddLscaleF32 "FADD_LSCALE.f32" [] FADD_F32 FMA 0x0a4 {OP2=9} "FADD_LSCALE.f32";
    FmulSliceF32 "FMUL_SLICE.f32" [] FMUL_SLICE FMA 0x0a4 {OP2=10} "FMUL_SLICE.f32";
    FpowScDetF32 "FPOW_SC_DET.f32" [] POW_DET SFU 0x0a4 {OP2=13 OP3=0} "FPOW_SC_DET.f32";
    FpowScApply "FPOW_SC_APPLY" [] POW SFU 0x0a4 {OP2=13 OP3=1} "FPOW_SC_APPLY";
    FatanAssistF32 "FATAN_ASSIST.f32" [] ATAN SFU 0x0a4 {OP2=14 OP3=0} "FATAN_ASSIST.f32";
    FatanTableF32 "FATAN_ASSIST.f32.second" ["FATAN_TABLE.f32"] ATAN SFU 0x0a4 {OP2=14 OP3=1} Sign "FATAN_TABLE.f32";
    FaddV2f16 "FADD.v2f16" [] FADD_F16 FMA 0x0a5 {OP2=0} "FADD.v2f16";
    FminV2f16 "FMIN.v2f16" [] FMIN_F16 CVT 0x0a5 {OP2=2} "FMIN.v2f16";
    FmaxV2f16 "FMAX.v2f16" [] FMIN_F16 CVT 0x0a5 {OP2=3} "FMAX.v2f16";
    V2f32ToV2f16 "V2F32_TO_V2F16" [] PACK_HALVES CVT 0x0a5 {OP2=4} "V2F32_TO_V2F16";
    LdexpV2f16 "LDEXP.v2f16" ["FRSCALE.v2f16"] LDEXP_F16 FMA 0x0a5 {OP2=6} "LDEXP.v2f16";
    FmulCslice "FMUL_CSLICE" [] FMUL_CSLICE FMA 0x0a5 {OP2=10} "FMUL_CSLICE";
    IaddS32 "IADD.s32" [] INT2_32 CVT 0x0a8 {OP2=0} Sign "IADD.s32";
    IsubS32 "ISUB.s32" [] INT2_32 CVT 0x0a8 {OP2=1} Sign "ISUB.s32";
    ImulS32 "IMUL.s32" [] INT2_32 SFU 0x0a8 {OP2=10} Sign "IMUL.s32";
    HaddS32 "HADD.s32" [] HADD32 CVT 0x0a8 {OP2=11} Sign "HADD.s32";
    ClperS32 "CLPER.s32" [] CLPER32 SFU 0x0a8 {OP2=15} Sign "-";
    IaddV2s16 "IADD.v2s16" [] INT2_16 CVT 0x0a9 {OP2=0} Sign "IADD.v2s16";
    IsubV2s16 "ISUB.v2s16" [] INT2_16 CVT 0x0a9 {OP2=1} Sign "ISUB.v2s16";
    ImulV2s16 "IMUL.v2s16" [] INT2_16 SFU 0x0a9 {OP2=10} Sign "IMUL.v2s16";
    HaddV2s16 "HADD.v2s16" [] HADD16 CVT 0x0a9 {OP2=11} Sign "HADD.v2s16";
    ClperV2s16 "CLPER.v2s16" [] CLPER32 SFU 0x0a9 {OP2=15} Sign "-";
    IaddV4s8 "IADD.v4s8" [] INT2_8 CVT 0x0aa {OP2=0} Sign "IADD.v4s8";
    IsubV4s8 "ISUB.v4s8" [] INT2_8 CVT 0x0aa {OP2=1} Sign "ISUB.v4s8";
    ImulV4s8 "IMUL.v4s8" [] INT2_8 SFU 0x0aa {OP2=10} Sign "IMUL.v4s8";
    HaddV4s8 "HADD.v4s8" [] HADD8 CVT 0x0aa {OP2=11} Sign "HADD.v4s8";
    ClperV4s8 "CLPER.v4s8" [] CLPER32 SFU 0x0aa {OP2=15} Sign "-";
    IaddcU32 "IADDC.u32" [] CARRY CVT 0x0b0 {OP2=0} "IADDC.u32";
    IsubbU32 "ISUBB.u32" [] CARRY CVT 0x0b0 {OP2=1} "ISUBB.u32";
    FmaF32 "FMA.f32" [] FMA_F32 FMA 0x0b2 {} "FMA.f32";
    FmaV2f16 "FMA.v2f16" [] FMA_F16 FMA 0x0b3 {} "FMA.v2f16";
    RshiftAndI32 "RSHIFT_AND.i32" [] SHIFT32 SFU 0x0b4 {OP2=0 OP3=0} "RSHIFT_AND.i32";
    LshiftAndI32 "LSHIFT_AND.i32" [] SHIFT32 SFU 0x0b4 {OP2=0 OP3=1} "LSHIFT_AND.i32";
    RrotAndI32 "RROT_AND.i32" [] SHIFT32 SFU 0x0b4 {OP2=0 OP3=2} "RROT_AND.i32";
    LrotAndI32 "LROT_AND.i32" [] SHIFT32 SFU 0x0b4 {OP2=0 OP3=3} "LROT_AND.i32";
    ArshiftAndI32 "RSHIFT_AND.i32.signed" ["ARSHIFT_AND.i32"] SHIFT32 SFU 0x0b4 {OP2=0 OP3=4} Arithmetic "ARSHIFT_AND.i32";
    RshiftOrI32 "RSHIFT_OR.i32" [] SHIFT32 SFU 0x0b4 {OP2=1 OP3=0} "RSHIFT_OR.i32";
    LshiftOrI32 "LSHIFT_OR.i32" [] SHIFT32 SFU 0x0b4 {OP2=1 OP3=1} "LSHIFT_OR.i32";
    RrotOrI32 "RROT_OR.i32" [] SHIFT32 SFU 0x0b4 {OP2=1 OP3=2} "RROT_OR.i32";
    LrotOrI32 "LROT_OR.i32" [] SHIFT32 SFU 0x0b4 {OP2=1 OP3=3} "LROT_OR.i32";
    ArshiftOrI32 "RSHIFT_OR.i32.signed" ["ARSHIFT_OR.i32"] SHIFT32 SFU 0x0b4 {OP2=1 OP3=4} Arithmetic "ARSHIFT_OR.i32";
    RshiftXorI32 "RSHIFT_XOR.i32" [] SHIFT32 SFU 0x0b4 {OP2=2 OP3=0} "RSHIFT_XOR.i32";
    LshiftXorI32 "LSHIFT_XOR.i32" [] SHIFT32 SFU 0x0b4 {OP2=2 OP3=1} "LSHIFT_XOR.i32";
    RrotXorI32 "RROT_XOR.i32" [] SHIFT32 SFU 0x0b4 {OP2=2 OP3=2} "RROT_XOR.i32";
    LrotXorI32 "LROT_XOR.i32" [] SHIFT32 SFU 0x0b4 {OP2=2 OP3=3} "LROT_XOR.i32";
    ArshiftXorI32 "RSHIFT_XOR.i32.signed" ["ARSHIFT_XOR.i32"] SHIFT32 SFU 0x0b4 {OP2=2 OP3=4} Arithmetic "ARSHIFT_XOR.i32";
    RshiftAndV2i16 "RSHIFT_AND.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=0 OP3=0} "RSHIFT_AND.v2i16";
    LshiftAndV2i16 "LSHIFT_AND.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=0 OP3=1} "LSHIFT_AND.v2i16";
    RrotAndV2i16 "RROT_AND.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=0 OP3=2} "RROT_AND.v2i16";
    LrotAndV2i16 "LROT_AND.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=0 OP3=3} "LROT_AND.v2i16";
    ArshiftAndV2i16 "RSHIFT_AND.v2i16.signed" ["ARSHIFT_AND.v2i16"] SHIFT16 SFU 0x0b5 {OP2=0 OP3=4} Arithmetic "ARSHIFT_AND.v2i16";
    RshiftOrV2i16 "RSHIFT_OR.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=1 OP3=0} "RSHIFT_OR.v2i16";
    LshiftOrV2i16 "LSHIFT_OR.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=1 OP3=1} "LSHIFT_OR.v2i16";
    RrotOrV2i16 "RROT_OR.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=1 OP3=2} "RROT_OR.v2i16";
    LrotOrV2i16 "LROT_OR.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=1 OP3=3} "LROT_OR.v2i16";
    ArshiftOrV2i16 "RSHIFT_OR.v2i16.signed" ["ARSHIFT_OR.v2i16"] SHIFT16 SFU 0x0b5 {OP2=1 OP3=4} Arithmetic "ARSHIFT_OR.v2i16";
    RshiftXorV2i16 "RSHIFT_XOR.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=2 OP3=0} "RSHIFT_XOR.v2i16";
    LshiftXorV2i16 "LSHIFT_XOR.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=2 OP3=1} "LSHIFT_XOR.v2i16";
    RrotXorV2i16 "RROT_XOR.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=2 OP3=2} "RROT_XOR.v2i16";
    LrotXorV2i16 "LROT_XOR.v2i16" [] SHIFT16 SFU 0x0b5 {OP2=2 OP3=3} "LROT_XOR.v2i16";
    ArshiftXorV2i16 "RSHIFT_XOR.v2i16.signed" ["ARSHIFT_XOR.v2i16"] SHIFT16 SFU 0x0b5 {OP2=2 OP3=4} Arithmetic "ARSHIFT_XOR.v2i16";
    RshiftAndV4i8 "RSHIFT_AND.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=0 OP3=0} "RSHIFT_AND.v4i8";
    LshiftAndV4i8 "LSHIFT_AND.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=0 OP3=1} "LSHIFT_AND.v4i8";
    RrotAndV4i8 "RROT_AND.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=0 OP3=2} "RROT_AND.v4i8";
    LrotAndV4i8 "LROT_AND.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=0 OP3=3} "LROT_AND.v4i8";
    ArshiftAndV4i8 "RSHIFT_AND.v4i8.signed" ["ARSHIFT_AND.v4i8"] SHIFT8 SFU 0x0b6 {OP2=0 OP3=4} Arithmetic "ARSHIFT_AND.v4i8";
    RshiftOrV4i8 "RSHIFT_OR.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=1 OP3=0} "RSHIFT_OR.v4i8";
    LshiftOrV4i8 "LSHIFT_OR.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=1 OP3=1} "LSHIFT_OR.v4i8";
    RrotOrV4i8 "RROT_OR.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=1 OP3=2} "RROT_OR.v4i8";
    LrotOrV4i8 "LROT_OR.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=1 OP3=3} "LROT_OR.v4i8";
    ArshiftOrV4i8 "RSHIFT_OR.v4i8.signed" ["ARSHIFT_OR.v4i8"] SHIFT8 SFU 0x0b6 {OP2=1 OP3=4} Arithmetic "ARSHIFT_OR.v4i8";
    RshiftXorV4i8 "RSHIFT_XOR.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=2 OP3=0} "RSHIFT_XOR.v4i8";
    LshiftXorV4i8 "LSHIFT_XOR.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=2 OP3=1} "LSHIFT_XOR.v4i8";
    RrotXorV4i8 "RROT_XOR.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=2 OP3=2} "RROT_XOR.v4i8";
    LrotXorV4i8 "LROT_XOR.v4i8" [] SHIFT8 SFU 0x0b6 {OP2=2 OP3=3} "LROT_XOR.v4i8";
    ArshiftXorV4i8 "RSHIFT_XOR.v4i8.signed" ["ARSHIFT_XOR.v4i8"] SHIFT8 SFU 0x0b6 {OP2=2 OP3=4} Arithmetic "ARSHIFT_XOR.v4i8";
    MuxI32 "MUX.i32" [] MUX32 SFU 0x0b8 {} "MUX.i32";
    MuxV2i16 "MUX.v2i16" [] MUX16 SFU 0x0b9 {} "MUX.v2i16";
    MuxV4i8 "MUX.v4i8" [] MUX8 SFU 0x0ba {} "MUX.v4i8";
    CubeSsel "CUBE_SSEL" [] CUBE_SEL SFU 0x0bc {OP2=0} "CUBE_SSEL";
    CubeTsel "CUBE_TSEL" [] CUBE_SEL SFU 0x0bc {OP2=1} "CUBE_TSEL";
    MkvecV2i8 "MKVEC.v2i8" ["MKVEC.v4i8"] MKVEC8 CVT 0x0bd {} "MKVEC.v2i8";
    Cubeface1 "CUBEFACE1" [] CUBEFACE1 CVT 0x0c0 {} "CUBEFACE1";
    Cubeface2V9 "CUBEFACE2_V9" ["CUBEFACE2"] CUBEFACE2 CVT 0x0c1 {} "CUBEFACE2";
    IdpV4s8 "IDP.v4s8" ["IDPADD.v4s8"] DOT8 FMA 0x0c2 {OP2=0} Sign "IDPADD.v4s8";
    IdpV4u8 "IDP.v4u8" ["IDPADD.v4u8"] DOT8 FMA 0x0c2 {OP2=1} "IDPADD.v4u8";
    IcmpOrU32 "ICMP_OR.u32" [] ICMP32 CVT 0x0f0 {OP2=0} "ICMP_OR.u32";
    IcmpAndU32 "ICMP_AND.u32" [] ICMP32 CVT 0x0f0 {OP2=1} "ICMP_AND.u32";
    IcmpMultiU32 "ICMP_MULTI.u32" [] ICMP32 CVT 0x0f0 {OP2=2} "ICMP_MULTI.u32";
    IcmpOrV2u16 "ICMP_OR.v2u16" [] ICMP16 CVT 0x0f1 {OP2=0} "ICMP_OR.v2u16";
    IcmpAndV2u16 "ICMP_AND.v2u16" [] ICMP16 CVT 0x0f1 {OP2=1} "ICMP_AND.v2u16";
    IcmpOrV4u8 "ICMP_OR.v4u8" [] ICMP8 CVT 0x0f2 {OP2=0} "ICMP_OR.v4u8";
    IcmpAndV4u8 "ICMP_AND.v4u8" [] ICMP8 CVT 0x0f2 {OP2=1} "ICMP_AND.v4u8";
    FcmpOrF32 "FCMP_OR.f32" [] FCMP_F32 CVT 0x0f4 {OP2=0} "FCMP_OR.f32";
    FcmpAndF32 "FCMP_AND.f32" [] FCMP_F32 CVT 0x0f4 {OP2=1} "FCMP_AND.f32";
    FcmpOrV2f16 "FCMP_OR.v2f16" [] FCMP_F16 CVT 0x0f5 {OP2=0} "FCMP_OR.v2f16";
    FcmpAndV2f16 "FCMP_AND.v2f16" [] FCMP_F16 CVT 0x0f5 {OP2=1} "FCMP_AND.v2f16";
    IcmpOrS32 "ICMP_OR.s32" [] ICMP32 CVT 0x0f8 {OP2=0} Sign "ICMP_OR.s32";
    IcmpAndS32 "ICMP_AND.s32" [] ICMP32 CVT 0x0f8 {OP2=1} Sign "ICMP_AND.s32";
    IcmpMultiS32 "ICMP_MULTI.s32" [] ICMP32 CVT 0x0f8 {OP2=2} Sign "ICMP_MULTI.s32";
    IcmpOrV2s16 "ICMP_OR.v2s16" [] ICMP16 CVT 0x0f9 {OP2=0} Sign "ICMP_OR.v2s16";
    IcmpAndV2s16 "ICMP_AND.v2s16" [] ICMP16 CVT 0x0f9 {OP2=1} Sign "ICMP_AND.v2s16";
    IcmpOrV4s8 "ICMP_OR.v4s8" [] ICMP8 CVT 0x0fa {OP2=0} Sign "ICMP_OR.v4s8";
    IcmpAndV4s8 "ICMP_AND.v4s8" [] ICMP8 CVT 0x0fa {OP2=1} Sign "ICMP_AND.v4s8";
    IaddImmI32 "IADD_IMM.i32" [] IADD_IMM32 CVT 0x110 {} "IADD_IMM.i32";
    IaddImmV2i16 "IADD_IMM.v2i16" [] IADD_IMM16 CVT 0x111 {} "IADD_IMM.v2i16";
    IaddImmV4i8 "IADD_IMM.v4i8" [] IADD_IMM8 CVT 0x112 {} "IADD_IMM.v4i8";
    FaddImmF32 "FADD_IMM.f32" [] FADD_IMM32 FMA 0x114 {} "FADD_IMM.f32";
    FaddImmV2f16 "FADD_IMM.v2f16" [] FADD_IMM16 FMA 0x115 {} "FADD_IMM.v2f16";
    AtomReturnI32 "ATOM_RETURN.i32" ["TODO.ATOM_C.i32"] ATOM_RETURN LS 0x120 {OP2=3 SR_CONTROL=3} "ATOM_RETURN.i32";
    AtomReturnI64 "ATOM_RETURN.i64" ["TODO.ATOM_C.i64"] ATOM_RETURN LS 0x120 {OP2=5 SR_CONTROL=3} "ATOM_RETURN.i64";
    TexFetch "TEX_FETCH" [] TEX_FETCH T 0x125 {SECONDARY_WIDTH=0} "TEX_FETCH";
    TexWeights "TEX_WEIGHTS" [] TEX_WEIGHTS T 0x126 {SECONDARY_WIDTH=0} "TEX_WEIGHTS";
    TexSingle "TEX_SINGLE" ["TEX"] TEX_SINGLE T 0x128 {SECONDARY_WIDTH=0} "TEX_SINGLE";
    TexGather "TEX_GATHER" [] TEX_GATHER T 0x129 {SECONDARY_WIDTH=0} "TEX_GATHER";
    TexGradient "TEX_GRADIENT" [] TEX_GRADIENT T 0x12a {SECONDARY_WIDTH=0} "TEX_GRADIENT";
    TexDual "TEX_DUAL" [] TEX_SINGLE T 0x12f {} "TEX_DUAL";
    VarTexBufSingle "VAR_TEX_BUF_SINGLE" ["TODO.VAR_TEX"] VAR_TEX_SINGLE VT 0x130 {SR_CONTROL=2} "VAR_TEX_BUF_SINGLE";
    VarTexBufGather "VAR_TEX_BUF_GATHER" [] VAR_TEX_GATHER VT 0x131 {SR_CONTROL=2} "VAR_TEX_BUF_GATHER";
    VarTexBufGradient "VAR_TEX_BUF_GRADIENT" [] VAR_TEX_GRADIENT VT 0x132 {SR_CONTROL=2} "VAR_TEX_BUF_GRADIENT";
    VarTexBufDual "VAR_TEX_BUF_DUAL" [] VAR_TEX_SINGLE VT 0x137 {SR_CONTROL=2} "VAR_TEX_BUF_DUAL";
    VarTexSingle "VAR_TEX_SINGLE" [] VAR_TEX_SINGLE VT 0x138 {SR_CONTROL=2} "VAR_TEX_SINGLE";
    VarTexGather "VAR_TEX_GATHER" [] VAR_TEX_GATHER VT 0x139 {SR_CONTROL=2} "VAR_TEX_GATHER";
    VarTexGradient "VAR_TEX_GRADIENT" [] VAR_TEX_GRADIENT VT 0x13a {SR_CONTROL=2} "VAR_TEX_GRADIENT";
    VarTexDual "VAR_TEX_DUAL" [] VAR_TEX_SINGLE VT 0x13f {SR_CONTROL=2} "VAR_TEX_DUAL";
    CselU32 "CSEL.u32" [] CSEL32 CVT 0x150 {} "CSEL.u32";
    CselV2u16 "CSEL.v2u16" [] CSEL16 CVT 0x151 {} "CSEL.v2u16";
    CselF32 "CSEL.f32" [] CSEL_F32 CVT 0x154 {} "CSEL.f32";
    CselV2f16 "CSEL.v2f16" [] CSEL_F16 CVT 0x155 {} "CSEL.v2f16";
    CselS32 "CSEL.s32" ["CSEL.i32"] CSEL32 CVT 0x158 {} Sign "CSEL.s32";
    CselV2s16 "CSEL.v2s16" ["CSEL.v2i16"] CSEL16 CVT 0x159 {} Sign "CSEL.v2s16";
    FmaRscaleF32 "FMA_RSCALE.f32" [] FMA_RSCALE FMA 0x160 {} "FMA_RSCALE.f32";
    FmaRscaleNF32 "FMA_RSCALE_N.f32" ["FMA_RSCALE.f32.n"] FMA_RSCALE FMA 0x161 {} "FMA_RSCALE.f32";
    FmaRscaleLeftF32 "FMA_RSCALE_LEFT.f32" ["FMA_RSCALE.f32.left"] FMA_RSCALE FMA 0x162 {} "FMA_RSCALE.f32";
    FmaRscaleScale16F32 "FMA_RSCALE_SCALE16.f32" ["FMA_RSCALE.f32.n_add"] FMA_RSCALE FMA 0x163 {} "FMA_RSCALE.f32";
    FmaRscaleF32Rtz "FMA_RSCALE.f32.rtz" ["FMA_RSCALE.f32.round_zero"] FMA_RSCALE FMA 0x164 {} "FMA_RSCALE.f32";
    FmaRscaleNF32Rtz "FMA_RSCALE_N.f32.rtz" ["FMA_RSCALE.f32.n.round_zero"] FMA_RSCALE FMA 0x165 {} "FMA_RSCALE.f32";
    FmaRscaleLeftF32Rtz "FMA_RSCALE_LEFT.f32.rtz" ["FMA_RSCALE.f32.left.round_zero"] FMA_RSCALE FMA 0x166 {} "FMA_RSCALE.f32";
    FmaRscaleScale16F32Rtz "FMA_RSCALE_SCALE16.f32.rtz" ["FMA_RSCALE.f32.n_add.round_zero"] FMA_RSCALE FMA 0x167 {} "FMA_RSCALE.f32";
    NotOldI64 "NOT_OLD.i64" [] INT1_64 SFU 0x191 {DST_MASK=3 OP2=14} "NOT_OLD.i64";
    IaddU64 "IADD.u64" [] INT2_64 CVT 0x1a3 {DST_MASK=3 OP2=0} "IADD.u64";
    IsubU64 "ISUB.u64" [] INT2_64 CVT 0x1a3 {DST_MASK=3 OP2=1} "ISUB.u64";
    SegAddU64 "SEG_ADD.u64" [] SEG_ADD CVT 0x1a3 {DST_MASK=3 OP2=6 OP3=0} "SEG_ADD.u64";
    SegSubU64 "SEG_ADD.u64.neg" ["SEG_SUB.u64"] SEG_ADD CVT 0x1a3 {DST_MASK=3 OP2=6 OP3=1} "SEG_SUB.u64";
    ShaddxU64 "SHADDX.u64" ["SHADD.u64"] SHADDX CVT 0x1a3 {DST_MASK=3 OP2=7} "SHADD.u64";
    ImuldU64 "IMULD.u64" ["IMUL.u64"] INT2_64 SFU 0x1a3 {DST_MASK=3 OP2=10} "IMUL.u64";
    ClperU64 "CLPER.u64" [] CLPER64 SFU 0x1a3 {DST_MASK=3 OP2=15} "-";
    IaddS64 "IADD.s64" [] INT2_64 CVT 0x1ab {DST_MASK=3 OP2=0} Sign "IADD.s64";
    IsubS64 "ISUB.s64" [] INT2_64 CVT 0x1ab {DST_MASK=3 OP2=1} Sign "ISUB.s64";
    ShaddxS64 "SHADDX.s64" ["SHADD.s64"] SHADDX CVT 0x1ab {DST_MASK=3 OP2=7} Sign "SHADD.s64";
    ImuldS64 "IMULD.s64" ["IMUL.s64"] INT2_64 SFU 0x1ab {DST_MASK=3 OP2=10} Sign "IMUL.s64";
    ClperS64 "CLPER.s64" [] CLPER64 SFU 0x1ab {DST_MASK=3 OP2=15} Sign "-";
    RshiftAndI64 "RSHIFT_AND.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=0 OP3=0} "RSHIFT_AND.i64";
    LshiftAndI64 "LSHIFT_AND.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=0 OP3=1} "LSHIFT_AND.i64";
    RrotAndI64 "RROT_AND.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=0 OP3=2} "RROT_AND.i64";
    LrotAndI64 "LROT_AND.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=0 OP3=3} "LROT_AND.i64";
    ArshiftAndI64 "RSHIFT_AND.i64.signed" ["ARSHIFT_AND.i64"] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=0 OP3=4} Arithmetic "ARSHIFT_AND.i64";
    RshiftOrI64 "RSHIFT_OR.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=1 OP3=0} "RSHIFT_OR.i64";
    LshiftOrI64 "LSHIFT_OR.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=1 OP3=1} "LSHIFT_OR.i64";
    RrotOrI64 "RROT_OR.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=1 OP3=2} "RROT_OR.i64";
    LrotOrI64 "LROT_OR.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=1 OP3=3} "LROT_OR.i64";
    ArshiftOrI64 "RSHIFT_OR.i64.signed" ["ARSHIFT_OR.i64"] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=1 OP3=4} Arithmetic "ARSHIFT_OR.i64";
    RshiftXorI64 "RSHIFT_XOR.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=2 OP3=0} "RSHIFT_XOR.i64";
    LshiftXorI64 "LSHIFT_XOR.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=2 OP3=1} "LSHIFT_XOR.i64";
    RrotXorI64 "RROT_XOR.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=2 OP3=2} "RROT_XOR.i64";
    LrotXorI64 "LROT_XOR.i64" [] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=2 OP3=3} "LROT_XOR.i64";
    ArshiftXorI64 "RSHIFT_XOR.i64.signed" ["ARSHIFT_XOR.i64"] SHIFT64 SFU 0x1b7 {DST_MASK=3 OP2=2 OP3=4} Arithmetic "ARSHIFT_XOR.i64";
}
