//! Every row of the table that is executed, once at least, with the result that the documents give.

use super::super::table::{self, Code, FORMS};
use super::messages::MESSAGES;
use super::{Bench, assemble};
use std::collections::BTreeSet;

/// Rows whose results are in r8.
#[rustfmt::skip]
const ROWS: &[(&str, u32)] = &[
    ("S8_TO_S32 r8, r7.b2", 0xFFFF_FFE1),
    ("U8_TO_U32 r8, r7.b2", 0x0000_00E1),
    ("S8_TO_F32 r8, r7.b1", 0xC300_0000),
    ("U8_TO_F32 r8, r7.b1", 0x4300_0000),
    ("V2S8_TO_V2S16 r8, r7.b12", 0xFFE1_FF80),
    ("V2U8_TO_V2U16 r8, r7.b12", 0x00E1_0080),
    ("V2S8_TO_V2F16 r8, r7.b03", 0xCC00_57F0),
    ("V2U8_TO_V2F16 r8, r7.b03", 0x5B80_57F0),
    ("S16_TO_S32 r8, r7.h10", 0xFFFF_F0E1),
    ("U16_TO_U32 r8, r7.h10", 0x0000_F0E1),
    ("S16_TO_F32 r8, r7.h00", 0xC6FF_0200),
    ("U16_TO_F32 r8, r7.h00", 0x4700_7F00),
    ("V2S16_TO_V2F16 r8, r7", 0xEB90_F7F8),
    ("V2U16_TO_V2F16 r8, r7", 0x7B87_7804),
    ("S32_TO_F32 r8, r5", 0xCF00_0000),
    ("U32_TO_F32 r8, r6", 0x4D91_A2B4),
    ("F16_TO_S32.rtz r8, r10.h10", 0xFFFF_FFFF),
    ("F16_TO_U32 r8, r10.h00", 0x0000_0002),
    ("F16_TO_F32 r8, r10.h1", 0xBFE0_0000),
    ("F32_TO_S32.rtn r8, r11", 0xFFFF_FFFD),
    ("F32_TO_U32.rtp r8, r0", 0x0000_0002),
    ("FROUND.f32.rtz r8, r11", 0xC000_0000),
    ("F32_TO_S32.rtna r8, r11", 0xFFFF_FFFD),
    ("F32_TO_S32 r8, r11", 0xFFFF_FFFE),
    ("V2F16_TO_V2S16 r8, r10", 0xFFFE_0002),
    ("V2F16_TO_V2U16 r8, r4", 0x0003_0000),
    ("FROUND.v2f16.rtp r8, r10", 0xBC00_4200),
    ("MOV.i32 r8, r6", 0x1234_5678),
    ("CLZ.u32 r8, r6", 0x0000_0003),
    ("CLZ.v2u16 r8, r6", 0x0003_0001),
    ("CLZ.v4u8 r8, r6", 0x0302_0101),
    ("IABS.s32 r8, r5", 0x7FFF_FFFF),
    ("IABS.v2s16 r8, r7", 0x0F1F_7F81),
    ("IABS.v4s8 r8, r7", 0x101F_807F),
    ("POPCOUNT.i32 r8, r6", 0x0000_000D),
    ("BITREV.i32 r8, r6", 0x1E6A_2C48),
    ("NOT_OLD.i32 r8, r6", 0xEDCB_A987),
    ("WMASK.subgroup8 r8, r5", 0x0000_00FF),
    ("FLUSH.f32.none.ftz r8, r5", 0x8000_0000),
    ("FLUSH.v2f16.quiet_nan.ftz r8, r13", 0x7E01_0000),
    ("FLUSH.v2f16.flush_nan r8, r13", 0x0000_0001),
    ("FREXPM.f32 r8, r0", 0x3F40_0000),
    ("FREXPE.f32 r8, r0", 0x0000_0001),
    ("FREXPM.f32.log r8, r11", 0xBFA0_0000),
    ("FREXPE.f32.log r8, r11", 0x0000_0001),
    ("FREXPM.f32.sqrt r8, r0", 0x3EC0_0000),
    ("FREXPE.f32.sqrt r8, r0", 0x0000_0001),
    ("FREXPM.v2f16 r8, r10", 0xBB00_3900),
    ("FREXPE.v2f16 r8, r10", 0x0001_0002),
    ("FREXPM.v2f16.log r8, r10", 0xBB00_3D00),
    ("FREXPE.v2f16.log r8, r10", 0x0001_0001),
    ("FREXPM.v2f16.sqrt r8, r10", 0xB700_3900),
    ("FREXPE.v2f16.sqrt r8, r10", 0x0001_0001),
    ("FRCP.f32 r8, r1", 0xBF00_0000),
    ("FRCP.f16 r8.h1, r4.h00", 0x4000_AAAA),
    ("FRSQ.f32 r8, r2", 0x4000_0000),
    ("FRSQ.f16 r8.h0, r14.h10", 0xAAAA_4000),
    ("FSIN_TABLE.u6 r8, r12", 0x3F80_0000),
    ("FCOS_TABLE.u6 r8, r15", 0xBF80_0000),
    ("FLOGD.f32 r8, r0", 0x3FD4_7FCC),
    ("IADD.u32 r8, r7, r6", 0x0315_D6F7),
    ("IADD.u32.sat r8, r7, r6", 0xFFFF_FFFF),
    ("ISUB.u32 r8, r7, r6", 0xDEAD_2A07),
    ("ISUB.u32.sat r8, r7, r6", 0xDEAD_2A07),
    ("IMUL.i32 r8, r7, r6", 0xB2AA_E588),
    ("IMUL.i32.sat r8, r7, r6", 0xFFFF_FFFF),
    ("HADD.u32 r8, r7, r6", 0x818A_EB7B),
    ("HADD.u32.rhadd r8, r7, r6", 0x818A_EB7C),
    ("ICMP_OR.u32.lt.m1 r8, r7, r6, 0x0", 0x0000_0000),
    ("ICMP_AND.u32.lt.m1 r8, r7, r6, 0xFFFFFFFF", 0x0000_0000),
    ("ICMP_OR.u32.ge.m1 r8, r7, r6, 0x0", 0xFFFF_FFFF),
    ("ICMP_AND.u32.ge.m1 r8, r7, r6, 0xFFFFFFFF", 0xFFFF_FFFF),
    ("IADD.v2u16 r8, r7, r6", 0x0315_D6F7),
    ("IADD.v2u16.sat r8, r7, r6", 0xFFFF_D6F7),
    ("ISUB.v2u16 r8, r7, r6", 0xDEAD_2A07),
    ("ISUB.v2u16.sat r8, r7, r6", 0xDEAD_2A07),
    ("IMUL.v2i16 r8, r7, r6", 0xBFB4_E588),
    ("IMUL.v2i16.sat r8, r7, r6", 0xFFFF_FFFF),
    ("HADD.v2u16 r8, r7, r6", 0x818A_6B7B),
    ("HADD.v2u16.rhadd r8, r7, r6", 0x818B_6B7C),
    ("ICMP_OR.v2u16.lt.m1 r8, r7, r6, 0x0", 0x0000_0000),
    ("ICMP_AND.v2u16.lt.m1 r8, r7, r6, 0xFFFFFFFF", 0x0000_0000),
    ("ICMP_OR.v2u16.ge.m1 r8, r7, r6, 0x0", 0xFFFF_FFFF),
    ("ICMP_AND.v2u16.ge.m1 r8, r7, r6, 0xFFFFFFFF", 0xFFFF_FFFF),
    ("IADD.v4u8 r8, r7, r6", 0x0215_D6F7),
    ("IADD.v4u8.sat r8, r7, r6", 0xFFFF_D6F7),
    ("ISUB.v4u8 r8, r7, r6", 0xDEAD_2A07),
    ("ISUB.v4u8.sat r8, r7, r6", 0xDEAD_2A07),
    ("IMUL.v4i8 r8, r7, r6", 0xE0B4_0088),
    ("IMUL.v4i8.sat r8, r7, r6", 0xFFFF_FFFF),
    ("HADD.v4u8 r8, r7, r6", 0x818A_6B7B),
    ("HADD.v4u8.rhadd r8, r7, r6", 0x818B_6B7C),
    ("ICMP_OR.v4u8.lt.m1 r8, r7, r6, 0x0", 0x0000_0000),
    ("ICMP_AND.v4u8.lt.m1 r8, r7, r6, 0xFFFFFFFF", 0x0000_0000),
    ("ICMP_OR.v4u8.ge.m1 r8, r7, r6, 0x0", 0xFFFF_FFFF),
    ("ICMP_AND.v4u8.ge.m1 r8, r7, r6, 0xFFFFFFFF", 0xFFFF_FFFF),
    ("IADD.s32 r8, r7, r6", 0x0315_D6F7),
    ("IADD.s32.sat r8, r7, r6", 0x0315_D6F7),
    ("ISUB.s32 r8, r7, r6", 0xDEAD_2A07),
    ("ISUB.s32.sat r8, r7, r6", 0xDEAD_2A07),
    ("IMUL.s32 r8, r7, r6", 0xB2AA_E588),
    ("IMUL.s32.sat r8, r7, r6", 0x8000_0000),
    ("HADD.s32 r8, r7, r6", 0x018A_EB7B),
    ("HADD.s32.rhadd r8, r7, r6", 0x018A_EB7C),
    ("ICMP_OR.s32.lt.m1 r8, r7, r6, 0x0", 0xFFFF_FFFF),
    ("ICMP_AND.s32.lt.m1 r8, r7, r6, 0xFFFFFFFF", 0xFFFF_FFFF),
    ("ICMP_OR.s32.ge.m1 r8, r7, r6, 0x0", 0x0000_0000),
    ("ICMP_AND.s32.ge.m1 r8, r7, r6, 0xFFFFFFFF", 0x0000_0000),
    ("IADD.v2s16 r8, r7, r6", 0x0315_D6F7),
    ("IADD.v2s16.sat r8, r7, r6", 0x0315_D6F7),
    ("ISUB.v2s16 r8, r7, r6", 0xDEAD_2A07),
    ("ISUB.v2s16.sat r8, r7, r6", 0xDEAD_8000),
    ("IMUL.v2s16 r8, r7, r6", 0xBFB4_E588),
    ("IMUL.v2s16.sat r8, r7, r6", 0x8000_8000),
    ("HADD.v2s16 r8, r7, r6", 0x018A_EB7B),
    ("HADD.v2s16.rhadd r8, r7, r6", 0x018B_EB7C),
    ("ICMP_OR.v2s16.lt.m1 r8, r7, r6, 0x0", 0xFFFF_FFFF),
    ("ICMP_AND.v2s16.lt.m1 r8, r7, r6, 0xFFFFFFFF", 0xFFFF_FFFF),
    ("ICMP_OR.v2s16.ge.m1 r8, r7, r6, 0x0", 0x0000_0000),
    ("ICMP_AND.v2s16.ge.m1 r8, r7, r6, 0xFFFFFFFF", 0x0000_0000),
    ("IADD.v4s8 r8, r7, r6", 0x0215_D6F7),
    ("IADD.v4s8.sat r8, r7, r6", 0x0215_D67F),
    ("ISUB.v4s8 r8, r7, r6", 0xDEAD_2A07),
    ("ISUB.v4s8.sat r8, r7, r6", 0xDEAD_8007),
    ("IMUL.v4s8 r8, r7, r6", 0xE0B4_0088),
    ("IMUL.v4s8.sat r8, r7, r6", 0x8080_807F),
    ("HADD.v4s8 r8, r7, r6", 0x010A_EB7B),
    ("HADD.v4s8.rhadd r8, r7, r6", 0x010B_EB7C),
    ("ICMP_OR.v4s8.lt.m1 r8, r7, r6, 0x0", 0xFFFF_FF00),
    ("ICMP_AND.v4s8.lt.m1 r8, r7, r6, 0xFFFFFFFF", 0xFFFF_FF00),
    ("ICMP_OR.v4s8.ge.m1 r8, r7, r6, 0x0", 0x0000_00FF),
    ("ICMP_AND.v4s8.ge.m1 r8, r7, r6, 0xFFFFFFFF", 0x0000_00FF),
    ("IADDC.u32 r8, r5, r7, r17", 0x70E1_8081),
    ("ISUBB.u32 r8, r6, r7, r17", 0x2152_D5F8),
    ("ICMP_MULTI.u32.lt.u1 r8, r6, r7, 0x0", 0x0000_0001),
    ("ICMP_MULTI.s32.lt.m1 r8, r7, r6, 0x0", 0xFFFF_FFFF),
    ("CLPER.i32.subgroup4 r8, r6, r17.b00", 0x1234_5678),
    ("MKVEC.v2i16 r8, r6.h10, r7.h00", 0x807F_1234),
    ("MKVEC.v2i8 r8, r6.b3, r7.b1, r6", 0x5678_8012),
    ("FADD.f32 r8, r0, r1", 0xBF00_0000),
    ("FADD.v2f16 r8, r3, r4", 0x3C00_3E00),
    ("FMIN.f32 r8, r0, r1", 0xC000_0000),
    ("FMAX.f32 r8, r0, r1", 0x3FC0_0000),
    ("FMIN.v2f16 r8, r3, r4", 0xC000_3800),
    ("FMAX.v2f16 r8, r3, r4", 0x4200_3C00),
    ("V2F32_TO_V2F16 r8, r0, r1", 0xC000_3E00),
    ("LDEXP.f32 r8, r0, r17", 0x4140_0000),
    ("LDEXP.v2f16 r8, r4, r18", 0x4600_3400),
    ("FEXP.f32 r8, r19, r16", 0x4100_0000),
    ("FADD_LSCALE.f32 r8, r1, r0", 0xBFA0_0000),
    ("FADD_LSCALE.f32 r8, 0x3EA2F983, r0", 0x3F88_BE61),
    ("FADD_LSCALE.f32.rtz r8, 0x3EA2F983, r0", 0x3F88_BE60),
    ("FADD_LSCALE.f32.rtp r8, 0x3EA2F983, r0", 0x3F88_BE61),
    ("FMA.f32 r8, r0, r1, r2", 0xC030_0000),
    ("FMA.v2f16 r8, r3, r4, r10", 0xC7C0_4200),
    ("IADD_IMM.i32 r8, r6, #0xF0000001", 0x0234_5679),
    ("IADD_IMM.v2i16 r8, r6, #0xF000FFFF", 0x0234_5677),
    ("IADD_IMM.v4i8 r8, r6, #0x01FF10F0", 0x1333_6668),
    ("FADD_IMM.f32 r8, r0, #0x40000000", 0x4060_0000),
    ("FADD_IMM.v2f16 r8, r3, #0x3C003800", 0xBC00_3E00),
    ("FCMP_OR.f32.lt.m1 r8, r1, r0, 0x0", 0xFFFF_FFFF),
    ("FCMP_AND.f32.gt.m1 r8, r1, r0, 0xFFFFFFFF", 0x0000_0000),
    ("FCMP_OR.v2f16.lt.f1 r8, r3, r4, 0x0", 0x3C00_0000),
    ("FCMP_AND.v2f16.gt.m1 r8, r3, r4, 0xFFFFFFFF", 0x0000_FFFF),
    ("CSEL.f32.lt r8, r1, r0, r6, r7", 0x1234_5678),
    ("CSEL.v2f16.lt r8, r3, r4, r6, r7", 0x1234_807F),
    ("CSEL.u32.lt r8, r7, r6, r0, r1", 0xC000_0000),
    ("CSEL.s32.lt r8, r7, r6, r0, r1", 0x3FC0_0000),
    ("CSEL.v2u16.lt r8, r7, r6, r3, r4", 0x4200_3800),
    ("CSEL.v2s16.lt r8, r7, r6, r3, r4", 0xC000_3C00),
    ("MUX.i32 r8, r6, r7, r0", 0xF0E1_807F),
    ("MUX.i32.neg r8, r6, r7, r5", 0x1234_5678),
    ("MUX.v2i16.neg r8, r6, r7, r3", 0x1234_807F),
    ("MUX.v2i16.fp_zero r8, r6, r7, r13", 0xF0E1_807F),
    ("MUX.v4i8 r8, r6, r7, r13", 0xF0E1_567F),
    ("MUX.v4i8.bit r8, r6, r7, r5", 0x70E1_807E),
    ("CUBEFACE1 r8, r0, r1, r2", 0x4000_0000),
    ("CUBEFACE2_V9 r8, r0, r1, r2", 0x6000_0000),
    ("CUBE_SSEL r8, r0, r2, r5", 0x3E80_0000),
    ("CUBE_TSEL r8, r0, r2, r17", 0xBFC0_0000),
    ("IDP.v4s8 r8, r7, r6, r17", 0x0000_091F),
    ("IDP.v4u8 r8, r7, r6, r17", 0x0000_A51F),
    ("IDP.v4u8.sat r8, r7, r6, 0xFFFFFFFF", 0xFFFF_FFFF),
    ("FMA_RSCALE.f32 r8, r0, r1, r2, r17", 0xC1B0_0000),
    ("FMA_RSCALE_N.f32 r8, 0x0, r16, r2, r17", 0x4000_0000),
    ("FMA_RSCALE_LEFT.f32 r8, 0x0, r16, r2, r17", 0x4000_0000),
    ("FMA_RSCALE.f32 r8, 0x3EA2F983, 0x3EA2F983, 0x0.neg, 0x0", 0x3DCF_817A),
    ("FMA_RSCALE.f32.rtz r8, 0x3EA2F983, 0x3EA2F983, 0x0.neg, 0x0", 0x3DCF_8179),
    ("FMA_RSCALE_N.f32.rtz r8, 0x0, r16, r2, r17", 0x4000_0000),
    ("FMA_RSCALE_LEFT.f32.rtz r8, 0x0, r16, r2, r17", 0x4000_0000),
    ("RSHIFT_AND.i32 r8, r7, r17.b00, r6", 0x1214_1008),
    ("LSHIFT_AND.i32 r8, r7, r17.b00, r6", 0x0204_0278),
    ("RROT_AND.i32 r8, r7, r17.b00, r6", 0x1214_1008),
    ("LROT_AND.i32 r8, r7, r17.b00, r6", 0x0204_0278),
    ("RSHIFT_AND.i32.signed r8, r7, r17.b00, r6", 0x1214_1008),
    ("RSHIFT_OR.i32 r8, r7, r17.b00, r6", 0x1E3C_767F),
    ("LSHIFT_OR.i32 r8, r7, r17.b00, r6", 0x973C_57F8),
    ("RROT_OR.i32 r8, r7, r17.b00, r6", 0xFE3C_767F),
    ("LROT_OR.i32 r8, r7, r17.b00, r6", 0x973C_57FF),
    ("RSHIFT_OR.i32.signed r8, r7, r17.b00, r6", 0xFE3C_767F),
    ("RSHIFT_XOR.i32 r8, r7, r17.b00, r6", 0x0C28_6677),
    ("LSHIFT_XOR.i32 r8, r7, r17.b00, r6", 0x9538_5580),
    ("RROT_XOR.i32 r8, r7, r17.b00, r6", 0xEC28_6677),
    ("LROT_XOR.i32 r8, r7, r17.b00, r6", 0x9538_5587),
    ("RSHIFT_XOR.i32.signed r8, r7, r17.b00, r6", 0xEC28_6677),
    ("RSHIFT_AND.v2i16 r8, r7, r17.b00, r6", 0x1214_1008),
    ("LSHIFT_AND.v2i16 r8, r7, r17.b00, r6", 0x0200_0278),
    ("RROT_AND.v2i16 r8, r7, r17.b00, r6", 0x1214_5008),
    ("LROT_AND.v2i16 r8, r7, r17.b00, r6", 0x0204_0278),
    ("RSHIFT_AND.v2i16.signed r8, r7, r17.b00, r6", 0x1214_5008),
    ("RSHIFT_OR.v2i16 r8, r7, r17.b00, r6", 0x1E3C_567F),
    ("LSHIFT_OR.v2i16 r8, r7, r17.b00, r6", 0x973C_57F8),
    ("RROT_OR.v2i16 r8, r7, r17.b00, r6", 0x3E3C_F67F),
    ("LROT_OR.v2i16 r8, r7, r17.b00, r6", 0x973F_57FC),
    ("RSHIFT_OR.v2i16.signed r8, r7, r17.b00, r6", 0xFE3C_F67F),
    ("RSHIFT_XOR.v2i16 r8, r7, r17.b00, r6", 0x0C28_4677),
    ("LSHIFT_XOR.v2i16 r8, r7, r17.b00, r6", 0x953C_5580),
    ("RROT_XOR.v2i16 r8, r7, r17.b00, r6", 0x2C28_A677),
    ("LROT_XOR.v2i16 r8, r7, r17.b00, r6", 0x953B_5584),
    ("RSHIFT_XOR.v2i16.signed r8, r7, r17.b00, r6", 0xEC28_A677),
    ("RSHIFT_AND.v4i8 r8, r7, r17.b00, r6", 0x1214_1008),
    ("LSHIFT_AND.v4i8 r8, r7, r17.b00, r6", 0x0000_0078),
    ("RROT_AND.v4i8 r8, r7, r17.b00, r6", 0x1234_1068),
    ("LROT_AND.v4i8 r8, r7, r17.b00, r6", 0x0204_0478),
    ("RSHIFT_AND.v4i8.signed r8, r7, r17.b00, r6", 0x1234_5008),
    ("RSHIFT_OR.v4i8 r8, r7, r17.b00, r6", 0x1E3C_567F),
    ("LSHIFT_OR.v4i8 r8, r7, r17.b00, r6", 0x923C_56F8),
    ("RROT_OR.v4i8 r8, r7, r17.b00, r6", 0x1E3C_56FF),
    ("LROT_OR.v4i8 r8, r7, r17.b00, r6", 0x973F_56FB),
    ("RSHIFT_OR.v4i8.signed r8, r7, r17.b00, r6", 0xFEFC_F67F),
    ("RSHIFT_XOR.v4i8 r8, r7, r17.b00, r6", 0x0C28_4677),
    ("LSHIFT_XOR.v4i8 r8, r7, r17.b00, r6", 0x923C_5680),
    ("RROT_XOR.v4i8 r8, r7, r17.b00, r6", 0x0C08_4697),
    ("LROT_XOR.v4i8 r8, r7, r17.b00, r6", 0x953B_5283),
    ("RSHIFT_XOR.v4i8.signed r8, r7, r17.b00, r6", 0xECC8_A677),
    ("LSHIFT_AND.i32.not_result r8, r7, r17.b00, r6.not", 0x7AF7_FE7F),
];

/// Rows whose results are in r8 and r9.
#[rustfmt::skip]
const PAIRS: &[(&str, u64)] = &[
    ("IADD.u64 r8, r20, r22", 0x0000_0002_0000_0001),
    ("ISUB.u64 r8, r22, r20", 0xFFFF_FFFE_0000_0003),
    ("IADD.s64 r8, r20, r24.w0", 0x0000_0001_7FFF_FFFF),
    ("ISUB.s64 r8, r22, r24", 0x7FFF_FFFE_8000_0002),
    ("IADD.u64.sat r8, r24, r24", 0xFFFF_FFFF_FFFF_FFFF),
    ("ISUB.u64.sat r8, r22, r20", 0x0000_0000_0000_0000),
    ("IADD.s64.sat r8, r24, r24", 0x8000_0000_0000_0000),
    ("SHADDX.u64 r8, r20, r22.w0, shift:0x2", 0x0000_0002_0000_0007),
    ("SHADDX.s64 r8, r22, r24.w0, shift:0x1", 0xFFFF_FFFF_0000_0002),
    ("IMULD.u64 r8, r20.w0, r24.w0", 0x7FFF_FFFF_8000_0000),
    ("IMULD.s64 r8, r20.w0, r24.w0", 0x0000_0000_8000_0000),
    ("NOT_OLD.i64 r8, r24", 0x7FFF_FFFE_7FFF_FFFF),
    ("RSHIFT_AND.i64 r8, r24, r17.b00, r20", 0x0000_0000_3000_0000),
    ("LSHIFT_AND.i64 r8, r24, r17.b00, r20", 0x0000_0000_0000_0000),
    ("RROT_AND.i64 r8, r24, r17.b00, r20", 0x0000_0000_3000_0000),
    ("LROT_AND.i64 r8, r24, r17.b00, r20", 0x0000_0000_0000_0004),
    ("RSHIFT_AND.i64.signed r8, r24, r17.b00, r20", 0x0000_0000_3000_0000),
    ("RSHIFT_OR.i64 r8, r24, r17.b00, r20", 0x1000_0001_FFFF_FFFF),
    ("LSHIFT_OR.i64 r8, r24, r17.b00, r20", 0x0000_000D_FFFF_FFFF),
    ("RROT_OR.i64 r8, r24, r17.b00, r20", 0x1000_0001_FFFF_FFFF),
    ("LROT_OR.i64 r8, r24, r17.b00, r20", 0x0000_000D_FFFF_FFFF),
    ("RSHIFT_OR.i64.signed r8, r24, r17.b00, r20", 0xF000_0001_FFFF_FFFF),
    ("RSHIFT_XOR.i64 r8, r24, r17.b00, r20", 0x1000_0001_CFFF_FFFF),
    ("LSHIFT_XOR.i64 r8, r24, r17.b00, r20", 0x0000_000D_FFFF_FFFF),
    ("RROT_XOR.i64 r8, r24, r17.b00, r20", 0x1000_0001_CFFF_FFFF),
    ("LROT_XOR.i64 r8, r24, r17.b00, r20", 0x0000_000D_FFFF_FFFB),
    ("RSHIFT_XOR.i64.signed r8, r24, r17.b00, r20", 0xF000_0001_CFFF_FFFF),
];

/// Programs of more than one row, with what stands in r8.
const FLOW: &[(&str, u32)] = &[
    ("IADD_IMM.i32 r8, 0x0, #0x5\nBRANCHZ r6, offset:1\nIADD_IMM.i32 r8, 0x0, #0x6", 5),
    // The next place is 8, and the jump goes to 24: over the addition.
    (
        "IADD_IMM.i32 r30, program_counter.w0, #0x10\nBRANCHZI.eq.absolute 0x0, r30\nIADD_IMM.i32 r6, r6, #0x1\nMOV.i32 r8, r6",
        0x1234_5678,
    ),
    ("BARRIER.slot7.wait\nMOV.i32 r8, r6", 0x1234_5678),
];

fn bench() -> Bench {
    super::values::floats()
        .reg(7, 0xF0E1_807F)
        .reg(8, 0xAAAA_AAAA)
        .reg(10, 0xBF00_4100) // halves 2.5, -1.75
        .float(11, -2.5)
        .reg(12, 16)
        .reg(13, 0x7C01_0001) // halves: the least subnormal, a NaN
        .reg(14, 0x3400_3400) // halves 0.25
        .reg(15, 32)
        .float(16, 50_331_648.0) // 3 in fixed point
        .reg(17, 3)
        .reg(18, 0x0001_FFFF) // halves -1, 1
        .reg(19, 0x0300_0000)
        .reg(20, 0xFFFF_FFFF)
        .reg(21, 1)
        .reg(22, 2)
        .reg(23, 0)
        .reg(24, 0x8000_0000)
        .reg(25, 0x8000_0001)
}

#[test]
fn rows_compute_what_the_documents_say() {
    let mut wrong = Vec::new();
    for &(text, value) in ROWS.iter().chain(FLOW) {
        let found = bench().result(&format!("{text}\nNOP.end"), 8);
        if found != value {
            wrong.push(format!("{text}: {found:#010x}, not {value:#010x}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn rows_of_64_bits_compute_what_the_documents_say() {
    let mut wrong = Vec::new();
    for &(text, value) in PAIRS {
        let text = format!("{text}\nNOP.end");
        let [low, high] = [8, 9].map(|reg| u64::from(bench().result(&text, reg)));
        let found = low | high << 32;
        if found != value {
            wrong.push(format!("{text}: {found:#018x}, not {value:#018x}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_row_is_executed_or_refused_with_a_reason() {
    let arithmetic = ROWS.iter().chain(FLOW).map(|&(text, _)| text);
    let pairs = PAIRS.iter().map(|&(text, _)| text);
    let messages = MESSAGES.iter().map(|message| message.text);
    // The bench ends its programs by NOP; discards are tested beside fragments, exchanges beside memory.
    let others = [
        "NOP",
        "DISCARD.f32.lt r0, r1",
        "ATOM_RETURN.i32.slot0.axchg.compare.wait0 @r4, @r6:r7, r0, offset:0x0",
    ];
    let mut executed = BTreeSet::new();
    for text in arithmetic.chain(pairs).chain(messages).chain(others) {
        for word in assemble(text).chunks_exact(8) {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            executed.insert(table::find(word).expect("a word").name);
        }
    }
    let refused = |code| matches!(code, Code::Missing(_));
    let missing: Vec<&str> = FORMS
        .iter()
        .filter(|form| executed.contains(form.name) == refused(form.code))
        .map(|form| form.name)
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn every_row_that_is_undocumented_has_its_reason_for_readers() {
    let errata = include_str!("../../../ERRATA.md");
    for form in FORMS {
        if let Code::Missing(reason) = form.code {
            let stem = form.name.split('.').next().expect("a name");
            // The list has the public assembler's names.
            let name = match stem {
                "SEG_SUB" => "SEG_ADD",
                "FATAN_TABLE" => "FATAN_ASSIST",
                "FPOW_SC_DET" | "FPOW_SC_APPLY" => "FPOW_SC",
                _ => stem.trim_end_matches("_A").trim_end_matches("_B").trim_end_matches("_C"),
            };
            assert!(errata.contains(name), "{name}");
            assert!(errata.contains(reason), "{reason}");
        }
    }
}
