//! Names that mean a row with some of its fields fixed: the aliases of Arm's description and of the first public table. The
//! assembler takes them, with the fixed operands left out or written in full; the disassembler prints the row.

use super::fields::f;
use super::ops::Opcode;
use gpucc_isa::FieldId;

/// A name for a row with fixed fields.
#[derive(Debug)]
pub struct Alias {
    pub name: &'static str,
    pub opcode: Opcode,
    pub fixed: &'static [(FieldId, u32)],
}

/// Modifiers under other names: theirs, ours.
pub const MODIFIERS: &[(&str, &str)] = &[
    ("round_up", "rtp"),
    ("round_down", "rtn"),
    ("round_zero", "rtz"),
    ("round_na", "rtna"),
    ("round_up", "rhadd"),
    ("sat", "saturate"),
    ("tex1d", "1d"),
    ("tex2d", "2d"),
    ("tex3d", "3d"),
    ("wide", "wide_indices"),
    ("array", "array_enable"),
    ("compare", "shadow"),
    ("auto32", "auto"),
    ("dst16", "16"),
    ("dst32", "32"),
    ("disable_lod_bias", "lod_bias_disable"),
    ("disable_lod_clamp", "lod_clamp_disable"),
    ("derivative", "derivative_enable"),
    ("zext", "unsigned"),
    ("c", "u1"),
    ("c", "carry"),
    ("not", "eq"),
    ("not", "not_result"),
    ("add", "aadd"),
    ("smin", "asmin"),
    ("smax", "asmax"),
    ("umin", "aumin"),
    ("umax", "aumax"),
    ("and", "aand"),
    ("or", "aor"),
    ("xor", "axor"),
    ("xchg", "axchg"),
    ("pos", "istream"),
    ("vary", "estream"),
    ("tl", "force"),
];

/// The alias of this name.
pub fn named(name: &str) -> Option<&'static Alias> {
    ALL.iter().find(|alias| alias.name == name)
}

macro_rules! aliases {
    ($($name:literal = $opcode:ident [$($field:ident = $value:literal)*];)*) => {
        /// Every alias.
        pub static ALL: &[Alias] = &[$(Alias {
            name: $name,
            opcode: Opcode::$opcode,
            fixed: &[$((f::$field, $value)),*],
        }),*];
    };
}

aliases! {
    "AND.i32" = LshiftAndI32 [SWZ1=4 SRC1=0xc0];
    "AND.i64" = LshiftAndI64 [SWZ1=4 SRC1=0xc0];
    "AND.v2i16" = LshiftAndV2i16 [SWZ1=0 SRC1=0xc0];
    "AND.v4i8" = LshiftAndV4i8 [SWZ1=0 SRC1=0xc0];
    "OR.i32" = LshiftOrI32 [SWZ1=4 SRC1=0xc0];
    "OR.i64" = LshiftOrI64 [SWZ1=4 SRC1=0xc0];
    "OR.v2i16" = LshiftOrV2i16 [SWZ1=0 SRC1=0xc0];
    "OR.v4i8" = LshiftOrV4i8 [SWZ1=0 SRC1=0xc0];
    "XOR.i32" = LshiftXorI32 [SWZ1=4 SRC1=0xc0];
    "XOR.i64" = LshiftXorI64 [SWZ1=4 SRC1=0xc0];
    "XOR.v2i16" = LshiftXorV2i16 [SWZ1=0 SRC1=0xc0];
    "XOR.v4i8" = LshiftXorV4i8 [SWZ1=0 SRC1=0xc0];
    "NOT.i32" = LshiftXorI32 [SWZ1=4 NOT2=1 SRC1=0xc0 SRC2=0xc0];
    "NOT.i64" = LshiftXorI64 [SWZ1=4 NOT2=1 SRC1=0xc0 SRC2=0xc0];
    "NOT.v2i16" = LshiftXorV2i16 [SWZ1=0 NOT2=1 SRC1=0xc0 SRC2=0xc0];
    "NOT.v4i8" = LshiftXorV4i8 [SWZ1=0 NOT2=1 SRC1=0xc0 SRC2=0xc0];
    "LSHIFT.i32" = LshiftOrI32 [SRC2=0xc0];
    "LSHIFT.i64" = LshiftOrI64 [SRC2=0xc0];
    "LSHIFT.v2i16" = LshiftOrV2i16 [SRC2=0xc0];
    "LSHIFT.v4i8" = LshiftOrV4i8 [SRC2=0xc0];
    "RSHIFT.i32" = RshiftOrI32 [SRC2=0xc0];
    "RSHIFT.i64" = RshiftOrI64 [SRC2=0xc0];
    "RSHIFT.v2i16" = RshiftOrV2i16 [SRC2=0xc0];
    "RSHIFT.v4i8" = RshiftOrV4i8 [SRC2=0xc0];
    "ARSHIFT.i32" = ArshiftOrI32 [SRC2=0xc0];
    "ARSHIFT.i64" = ArshiftOrI64 [SRC2=0xc0];
    "ARSHIFT.v2i16" = ArshiftOrV2i16 [SRC2=0xc0];
    "ARSHIFT.v4i8" = ArshiftOrV4i8 [SRC2=0xc0];
    "LROT.i32" = LrotOrI32 [SRC2=0xc0];
    "LROT.i64" = LrotOrI64 [SRC2=0xc0];
    "LROT.v2i16" = LrotOrV2i16 [SRC2=0xc0];
    "LROT.v4i8" = LrotOrV4i8 [SRC2=0xc0];
    "RROT.i32" = RrotOrI32 [SRC2=0xc0];
    "RROT.i64" = RrotOrI64 [SRC2=0xc0];
    "RROT.v2i16" = RrotOrV2i16 [SRC2=0xc0];
    "RROT.v4i8" = RrotOrV4i8 [SRC2=0xc0];
    "ICMP.s32" = IcmpOrS32 [SRC2=0xc0];
    "ICMP.u32" = IcmpOrU32 [SRC2=0xc0];
    "ICMP.v2s16" = IcmpOrV2s16 [SRC2=0xc0];
    "ICMP.v2u16" = IcmpOrV2u16 [SRC2=0xc0];
    "ICMP.v4s8" = IcmpOrV4s8 [SRC2=0xc0];
    "ICMP.v4u8" = IcmpOrV4u8 [SRC2=0xc0];
    "FCMP.f32" = FcmpOrF32 [SRC2=0xc0];
    "FCMP.v2f16" = FcmpOrV2f16 [SRC2=0xc0];
    "ICMP.s32.and" = IcmpAndS32 [];
    "ICMP.u32.and" = IcmpAndU32 [];
    "ICMP.v2s16.and" = IcmpAndV2s16 [];
    "ICMP.v2u16.and" = IcmpAndV2u16 [];
    "ICMP.v4s8.and" = IcmpAndV4s8 [];
    "ICMP.v4u8.and" = IcmpAndV4u8 [];
    "FCMP.f32.and" = FcmpAndF32 [];
    "FCMP.v2f16.and" = FcmpAndV2f16 [];
    "ICMP.s32.seq" = IcmpMultiS32 [];
    "ICMP.u32.seq" = IcmpMultiU32 [];
    "FABS.f32" = FaddF32 [NEG1=1 ABS0=1 SRC1=0xc0];
    "FNEG.f32" = FaddF32 [NEG1=1 NEG0=1 SRC1=0xc0];
    "FMUL.f32" = FmaF32 [NEG2=1 SRC2=0xc0];
    "FABS.v2f16" = FaddV2f16 [NEG1=1 ABS0=1 SRC1=0xc0];
    "FNEG.v2f16" = FaddV2f16 [NEG1=1 NEG0=1 SRC1=0xc0];
    "FMUL.v2f16" = FmaV2f16 [NEG2=1 SRC2=0xc0];
    "FADD_RSCALE.f32" = FmaRscaleF32 [SRC1=0xd0];
    "FMUL_RSCALE.f32" = FmaRscaleF32 [NEG2=1 SRC2=0xc0];
    "MOV_IMM.i32" = IaddImmI32 [SRC0=0xc0];
    "MOV_IMM.v2i16" = IaddImmV2i16 [SRC0=0xc0];
    "MOV_IMM.v4i8" = IaddImmV4i8 [SRC0=0xc0];
    "ADR" = IaddImmI32 [SRC0=0xfe FAU_PAGE=3];
    "SWZ.v2i16" = IaddV2u16 [SRC1=0xc0];
    "SWZ.v4i8" = IaddV4u8 [SRC1=0xc0];
    "AXCHG.i32" = AtomReturnI32 [ATOM_OP=15];
    "ACMPXCHG.i32" = AtomReturnI32 [ATOM_OP=15 COMPARE=1];
    "AXCHG.i64" = AtomReturnI64 [ATOM_OP=15];
    "ACMPXCHG.i64" = AtomReturnI64 [ATOM_OP=15 COMPARE=1];
}
