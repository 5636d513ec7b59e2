//! Every field and enumeration of the native instruction word (128 bits), of the operands within it and of the compact
//! word (64 bits), with the manual's names. Bits count from the low end of the whole word.
//!
//! An operand's bits depend on the access mode and on the addressing mode, so an instruction holds an operand as one
//! field (`Dst`, `Src0`, `Src1`), and the tables of operands say what is inside it.
//!
//! G45 PRM vol. 4, 13.2 and 13.2.1; `E1` is a number in ERRATA.md.

use gpucc_isa::{Enum, Field, FieldId, Format, Kind, Member, Piece};

/// Names one field; [`gpucc_isa::Inst::get`] and [`gpucc_isa::Inst::set`] take it.
pub mod f {
    use gpucc_isa::FieldId;

    macro_rules! ids {
        ($($name:ident)*) => {
            ids!(@ 0u8, $($name)*);
        };
        (@ $n:expr, $name:ident $($rest:ident)*) => {
            pub const $name: FieldId = FieldId($n);
            ids!(@ $n + 1, $($rest)*);
        };
        (@ $n:expr,) => {};
    }

    ids! {
        OPCODE ACCESS_MODE MASK_CTRL NO_DD_CLR NO_DD_CHK COMPR_CTRL THREAD_CTRL PRED_CTRL PRED_INV EXEC_SIZE
        COND_MODIFIER MRF DEBUG_CTRL SATURATE
        DST_FILE DST_TYPE SRC0_FILE SRC0_TYPE SRC1_FILE SRC1_TYPE DST SRC0 FLAG_SUBREG GFX5_SFID SRC1 JUMP_COUNT
        POP_COUNT
        SUBREG REG HORZ_STRIDE ADDR_MODE SUBREG4 CHAN_EN ADDR_IMM ADDR_SUBREG SRC_MOD WIDTH VERT_STRIDE
        CHAN_SEL
        CONTROL_INDEX DATATYPE_INDEX SUBREG_INDEX SRC0_INDEX SRC1_INDEX DST_REG SRC0_REG SRC1_REG COMPACT
        EOT SFID MLEN RLEN FUNCTION SIGNED PARTIAL SAT_RESULT SCALAR SNAPSHOT BTI SAMPLER SAMPLER_TYPE
        RETURN_FORMAT READ_TYPE WRITE_TYPE MSG_CTRL CACHE COMMIT LAST_RT RT_TYPE URB_OPCODE URB_OFFSET SWIZZLE
        ALLOCATE USED COMPLETE FAST_COMPOSITE SUB_FUNCTION ACK NOTIFY TS_OPCODE REQUESTER RESOURCE
    }
}

macro_rules! enums {
    ($($(#[$doc:meta])* $id:ident $name:literal { $($value:literal $member:literal),* $(,)? })*) => {
        $($(#[$doc])* pub static $id: Enum =
            Enum::new($name, &[$(Member { value: $value, name: $member }),*]);)*
    };
}

enums! {
    /// 13.2.2, AccessMode.
    ACCESS_E "AccessMode" { 0 "align1", 1 "align16" }
    /// 13.2.2, ComprCtrl.
    COMPR_E "ComprCtrl" { 0 "normal", 1 "sechalf", 2 "compr" }
    /// 13.2.2, ThreadCtrl. The BNF alone has `atomic` (E9).
    THREAD_E "ThreadCtrl" { 0 "normal", 1 "atomic", 2 "switch" }
    /// 13.2.2, ExecSize. 7 is reserved, and words of a public test have it (E10).
    EXEC_E "ExecSize" { 0 "1", 1 "2", 2 "4", 3 "8", 4 "16", 5 "32", 7 "reserved7" }
    /// 13.2.1, CondModifier; `e` and `ne` are other names of `z` and `nz`.
    COND_E "CondModifier" {
        0 "none", 1 "z", 2 "nz", 3 "g", 4 "ge", 5 "l", 6 "le", 7 "r", 8 "o", 9 "u",
    }
    /// 13.2.3, RegFile of a destination.
    DST_FILE_E "RegFile of destinations" { 0 "ARF", 1 "GRF", 2 "MRF" }
    /// 13.2.3, RegFile of a source. An MRF register cannot be read (11.3.3).
    SRC_FILE_E "RegFile of sources" { 0 "ARF", 1 "GRF", 3 "IMM" }
    /// RegFile of a source that must be an immediate number.
    IMM_FILE_E "RegFile of jumps" { 3 "IMM" }
    /// RegFile of a source that is not there.
    NO_FILE_E "RegFile of no source" { 0 "ARF" }
    /// 13.2.3, types of registers.
    REG_TYPE_E "Type of registers" { 0 "UD", 1 "D", 2 "UW", 3 "W", 4 "UB", 5 "B", 7 "F" }
    /// 13.2.3, types of registers and of immediate numbers: which of the two follows from the file.
    SRC_TYPE_E "SrcType" { 0 "UD", 1 "D", 2 "UW", 3 "W", 4 "UB", 5 "B or VF", 6 "V", 7 "F" }
    /// 13.2.1, AddrMode.
    ADDR_MODE_E "AddrMode" { 0 "direct", 1 "indirect" }
    /// 13.2.1, SrcMod: the absolute value is taken first.
    SRC_MOD_E "SrcMod" { 0 "none", 1 "(abs)", 2 "-", 3 "-(abs)" }
    /// 13.2.1, HorzStride, in elements.
    HORZ_E "HorzStride" { 0 "0", 1 "1", 2 "2", 3 "4" }
    /// 13.2.3, Reserved in Align16; every encoder writes 1 (E2).
    HORZ16_E "HorzStride of align16" { 0 "0", 1 "1" }
    /// 13.2.1, Width, in elements.
    WIDTH_E "Width" { 0 "1", 1 "2", 2 "4", 3 "8", 4 "16" }
    /// 13.2.1, VertStride, in elements.
    VERT_E "VertStride" { 0 "0", 1 "1", 2 "2", 3 "4", 4 "8", 5 "16", 6 "32" }
    /// The same where the operand is indirect: an address register for each row or element.
    VERT_INDIRECT_E "VertStride of indirect" {
        0 "0", 1 "1", 2 "2", 3 "4", 4 "8", 5 "16", 6 "32", 15 "VxH",
    }
    /// 13.2.1: in Align16 no other is allowed.
    VERT16_E "VertStride of align16" { 0 "0", 3 "4" }
}

const fn field(id: FieldId, name: &'static str, pieces: &'static [Piece], kind: Kind) -> Field {
    Field::new(id, name, pieces, kind)
}

macro_rules! fields {
    ($($(#[$doc:meta])* $vis:vis $list:ident {
        $($id:ident $name:literal [$($hi:literal : $lo:literal),+] $kind:expr $(, usually $usual:literal)? ;)*
    })*) => {
        $($(#[$doc])* $vis const $list: &[Field] = &[$(
            field(f::$id, $name, &[$(Piece { hi: $hi, lo: $lo }),+], $kind)$(.usually($usual))?
        ),*];)*
    };
}

use Kind::{Flag, Signed, Unsigned};

fields! {
    /// 13.2.2, Operation doubleword, without what `send` has otherwise. Bit 28 is MaskCtrlEx, whose values are reserved.
    OPERATION {
        OPCODE "Opcode" [6:0] Unsigned;
        ACCESS_MODE "AccessMode" [8:8] Kind::Enum(&ACCESS_E);
        MASK_CTRL "MaskCtrl" [9:9] Flag;
        NO_DD_CLR "NoDDClr" [10:10] Flag;
        NO_DD_CHK "NoDDChk" [11:11] Flag;
        COMPR_CTRL "ComprCtrl" [13:12] Kind::Enum(&COMPR_E);
        THREAD_CTRL "ThreadCtrl" [15:14] Kind::Enum(&THREAD_E);
        PRED_CTRL "PredCtrl" [19:16] Unsigned;
        PRED_INV "PredInv" [20:20] Flag;
        EXEC_SIZE "ExecSize" [23:21] Kind::Enum(&EXEC_E);
        DEBUG_CTRL "DebugCtrl" [30:30] Flag;
        SATURATE "Saturate" [31:31] Flag;
    }
    CONDITION { COND_MODIFIER "CondModifier" [27:24] Kind::Enum(&COND_E); }
    /// 13.2.2, CurrDst.RegNum of `send`.
    MESSAGE_REGISTER { MRF "CurrDst.RegNum" [27:24] Unsigned; }
    /// 13.2.3, Destination doubleword; 13.2.4, the first source.
    OPERANDS {
        DST_FILE "Dst.RegFile" [33:32] Kind::Enum(&DST_FILE_E);
        DST_TYPE "Dst.DstType" [36:34] Kind::Enum(&REG_TYPE_E);
        SRC0_FILE "Src0.RegFile" [38:37] Kind::Enum(&SRC_FILE_E);
        SRC0_TYPE "Src0.SrcType" [41:39] Kind::Enum(&SRC_TYPE_E);
        DST "Dst" [63:48] Unsigned;
        SRC0 "Src0" [88:64] Unsigned;
        FLAG_SUBREG "FlagSubRegNum" [89:89] Flag;
    }
    /// 13.2.5, the second source: an operand, or a number.
    SECOND {
        SRC1_FILE "Src1.RegFile" [43:42] Kind::Enum(&SRC_FILE_E);
        SRC1_TYPE "Src1.SrcType" [46:44] Kind::Enum(&SRC_TYPE_E);
        SRC1 "Src1 or Imm32" [127:96] Unsigned;
    }
    /// The same of an instruction with one source: a number belongs to that.
    NO_SECOND {
        SRC1_FILE "Src1.RegFile" [43:42] Kind::Enum(&NO_FILE_E);
        SRC1_TYPE "Src1.SrcType" [46:44] Kind::Enum(&SRC_TYPE_E);
        SRC1 "Imm32" [127:96] Unsigned;
    }
    /// 13.4.1, LocationStackCtrl: how far in instructions, and how many levels are popped.
    LOCATION {
        SRC1_FILE "Src1.RegFile" [43:42] Kind::Enum(&IMM_FILE_E), usually 3;
        SRC1_TYPE "Src1.SrcType" [46:44] Kind::Enum(&SRC_TYPE_E), usually 1;
        JUMP_COUNT "JumpCount" [111:96] Signed;
        POP_COUNT "PopCount" [115:112] Unsigned;
    }
    /// 14.2.44, `send`: the function of Gen5's words stands where Gen4's are 0 (E11).
    DESCRIPTOR {
        SRC1_FILE "Src1.RegFile" [43:42] Kind::Enum(&SRC_FILE_E), usually 3;
        SRC1_TYPE "Src1.SrcType" [46:44] Kind::Enum(&SRC_TYPE_E);
        GFX5_SFID "Gfx5Sfid" [95:92] Unsigned;
        SRC1 "MsgDesc" [127:96] Unsigned;
    }
    /// 13.3.5: no operands, no control.
    NOTHING {
        OPCODE "Opcode" [6:0] Unsigned;
        DEBUG_CTRL "DebugCtrl" [30:30] Flag;
    }
    /// Table 13-7.
    DST_DIRECT {
        SUBREG "SubRegNum" [4:0] Unsigned;
        REG "RegNum" [12:5] Unsigned;
        HORZ_STRIDE "HorzStride" [14:13] Kind::Enum(&HORZ_E), usually 1;
        ADDR_MODE "AddrMode" [15:15] Kind::Enum(&ADDR_MODE_E);
    }
    /// Table 13-9.
    DST_INDIRECT {
        ADDR_IMM "AddrImm" [9:0] Signed;
        ADDR_SUBREG "AddrSubRegNum" [12:10] Unsigned;
        HORZ_STRIDE "HorzStride" [14:13] Kind::Enum(&HORZ_E), usually 1;
        ADDR_MODE "AddrMode" [15:15] Kind::Enum(&ADDR_MODE_E);
    }
    /// Table 13-6.
    DST16_DIRECT {
        CHAN_EN "ChanEn" [3:0] Unsigned, usually 15;
        SUBREG4 "SubRegNum[4]" [4:4] Unsigned;
        REG "RegNum" [12:5] Unsigned;
        HORZ_STRIDE "HorzStride" [14:13] Kind::Enum(&HORZ16_E), usually 1;
        ADDR_MODE "AddrMode" [15:15] Kind::Enum(&ADDR_MODE_E);
    }
    /// Table 13-8.
    DST16_INDIRECT {
        CHAN_EN "ChanEn" [3:0] Unsigned, usually 15;
        ADDR_IMM "AddrImm[9:4]" [9:4] Signed;
        ADDR_SUBREG "AddrSubRegNum" [12:10] Unsigned;
        HORZ_STRIDE "HorzStride" [14:13] Kind::Enum(&HORZ16_E), usually 1;
        ADDR_MODE "AddrMode" [15:15] Kind::Enum(&ADDR_MODE_E);
    }
    /// Tables 13-11 and 13-15.
    SRC_DIRECT {
        SUBREG "SubRegNum" [4:0] Unsigned;
        REG "RegNum" [12:5] Unsigned;
        SRC_MOD "SrcMod" [14:13] Kind::Enum(&SRC_MOD_E);
        ADDR_MODE "AddrMode" [15:15] Kind::Enum(&ADDR_MODE_E);
        HORZ_STRIDE "HorzStride" [17:16] Kind::Enum(&HORZ_E);
        WIDTH "Width" [20:18] Kind::Enum(&WIDTH_E);
        VERT_STRIDE "VertStride" [24:21] Kind::Enum(&VERT_E);
    }
    /// Tables 13-13 and 13-17.
    SRC_INDIRECT {
        ADDR_IMM "AddrImm" [9:0] Signed;
        ADDR_SUBREG "AddrSubRegNum" [12:10] Unsigned;
        SRC_MOD "SrcMod" [14:13] Kind::Enum(&SRC_MOD_E);
        ADDR_MODE "AddrMode" [15:15] Kind::Enum(&ADDR_MODE_E);
        HORZ_STRIDE "HorzStride" [17:16] Kind::Enum(&HORZ_E);
        WIDTH "Width" [20:18] Kind::Enum(&WIDTH_E);
        VERT_STRIDE "VertStride" [24:21] Kind::Enum(&VERT_INDIRECT_E);
    }
    /// Tables 13-10 and 13-14.
    SRC16_DIRECT {
        CHAN_SEL "ChanSel" [19:16, 3:0] Unsigned, usually 0xe4;
        SUBREG4 "SubRegNum[4]" [4:4] Unsigned;
        REG "RegNum" [12:5] Unsigned;
        SRC_MOD "SrcMod" [14:13] Kind::Enum(&SRC_MOD_E);
        ADDR_MODE "AddrMode" [15:15] Kind::Enum(&ADDR_MODE_E);
        VERT_STRIDE "VertStride" [24:21] Kind::Enum(&VERT16_E), usually 3;
    }
    /// Tables 13-12 and 13-16.
    SRC16_INDIRECT {
        CHAN_SEL "ChanSel" [19:16, 3:0] Unsigned, usually 0xe4;
        ADDR_IMM "AddrImm[9:4]" [9:4] Signed;
        ADDR_SUBREG "AddrSubRegNum" [12:10] Unsigned;
        SRC_MOD "SrcMod" [14:13] Kind::Enum(&SRC_MOD_E);
        ADDR_MODE "AddrMode" [15:15] Kind::Enum(&ADDR_MODE_E);
        VERT_STRIDE "VertStride" [24:21] Kind::Enum(&VERT16_E), usually 3;
    }
    /// Table 13-18.
    COMPACT_WORD {
        OPCODE "Opcode" [6:0] Unsigned;
        DEBUG_CTRL "DebugCtrl" [7:7] Flag;
        CONTROL_INDEX "ControlIndex" [12:8] Unsigned;
        DATATYPE_INDEX "DataTypeIndex" [17:13] Unsigned;
        SUBREG_INDEX "SubRegIndex" [22:18] Unsigned;
        COND_MODIFIER "CondModifier" [27:24] Kind::Enum(&COND_E);
        FLAG_SUBREG "FlagSubRegNum" [28:28] Flag;
        COMPACT "CompactCtrl" [29:29] Flag;
        SRC0_INDEX "Src0Index" [34:30] Unsigned;
        SRC1_INDEX "Src1Index" [39:35] Unsigned;
        DST_REG "Dst.RegNum" [47:40] Unsigned;
        SRC0_REG "Src0.RegNum" [55:48] Unsigned;
        SRC1_REG "Src1.RegNum" [63:56] Unsigned;
    }
}

macro_rules! formats {
    ($($(#[$doc:meta])* $id:ident $parts_id:ident $name:literal $bits:literal $word:literal [$($part:expr),*] $cite:literal;)*) => {
        $(
            const $parts_id: &[&[Field]] = &[$($part),*];
            $(#[$doc])*
            pub static $id: Format = Format::new($name, $bits, $word, $parts_id, $cite);
        )*
    };
}

formats! {
    /// One source.
    UNARY UNARY_PARTS "Unary" 128 32 [OPERATION, CONDITION, OPERANDS, NO_SECOND] "G45 vol. 4, 13.2";
    /// Two sources.
    BINARY BINARY_PARTS "Binary" 128 32 [OPERATION, CONDITION, OPERANDS, SECOND] "G45 vol. 4, 13.2";
    /// A place to go to and levels to pop.
    BRANCH BRANCH_PARTS "Branch" 128 32 [OPERATION, CONDITION, OPERANDS, LOCATION] "G45 vol. 4, 13.2, 14.2";
    /// A message.
    SEND SEND_PARTS "Send" 128 32 [OPERATION, MESSAGE_REGISTER, OPERANDS, DESCRIPTOR] "G45 vol. 4, 13.2, 14.2.44";
    /// No operand.
    SPECIAL SPECIAL_PARTS "Special" 128 32 [NOTHING] "G45 vol. 4, 13.3.5";
    /// The form of 64 bits.
    COMPACT COMPACT_PARTS "Compact" 64 32 [COMPACT_WORD] "G45 vol. 4, 11.6, table 13-18";
    /// Operands, by access mode and addressing mode.
    DST_D DST_D_PARTS "Dst align1 direct" 16 16 [DST_DIRECT] "G45 vol. 4, table 13-7";
    DST_I DST_I_PARTS "Dst align1 indirect" 16 16 [DST_INDIRECT] "G45 vol. 4, table 13-9";
    DST16_D DST16_D_PARTS "Dst align16 direct" 16 16 [DST16_DIRECT] "G45 vol. 4, table 13-6";
    DST16_I DST16_I_PARTS "Dst align16 indirect" 16 16 [DST16_INDIRECT] "G45 vol. 4, table 13-8";
    SRC_D SRC_D_PARTS "Src align1 direct" 32 32 [SRC_DIRECT] "G45 vol. 4, tables 13-11, 13-15";
    SRC_I SRC_I_PARTS "Src align1 indirect" 32 32 [SRC_INDIRECT] "G45 vol. 4, tables 13-13, 13-17";
    SRC16_D SRC16_D_PARTS "Src align16 direct" 32 32 [SRC16_DIRECT] "G45 vol. 4, tables 13-10, 13-14";
    SRC16_I SRC16_I_PARTS "Src align16 indirect" 32 32 [SRC16_INDIRECT] "G45 vol. 4, tables 13-12, 13-16";
}

/// The formats of whole words, for documents.
pub const WORDS: [&Format; 6] = [&UNARY, &BINARY, &BRANCH, &SEND, &SPECIAL, &COMPACT];
/// The formats of operands, for documents.
pub const OPERAND_FORMATS: [&Format; 8] =
    [&DST_D, &DST_I, &DST16_D, &DST16_I, &SRC_D, &SRC_I, &SRC16_D, &SRC16_I];
