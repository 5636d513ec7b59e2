//! Where Arm's description of v9 allows fewer values than the table takes: the table also reads words of the public
//! compiler, which fills fields that Arm reserves. What we emit keeps to these limits. A row here is
//!
//! `FIELD [values] rows;`

use super::fields::f;
use super::ops::Opcode;
use gpucc_isa::{FieldId, Inst};
use std::sync::OnceLock;

/// A field of some rows that takes these values only.
#[derive(Debug)]
pub struct Limit {
    pub field: FieldId,
    /// Bit v is set where v is allowed.
    pub values: u32,
    pub rows: &'static [Opcode],
}

/// A field with a value that v9 reserves.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{op}: v9 reserves {value} in {field}")]
pub struct Reserved {
    pub op: &'static str,
    pub field: &'static str,
    pub value: u32,
}

/// Whether an instruction is one of Arm's v9.
///
/// # Errors
/// The first field with a value that v9 reserves.
pub fn check(inst: &Inst) -> Result<(), Reserved> {
    let opcode = Opcode::of(inst.op());
    let wrong = |id: FieldId| Reserved {
        op: inst.op().name,
        field: inst.op().format.field(id).map_or("", |field| field.name),
        value: inst.get(id),
    };
    for &(field, values) in of_row(opcode) {
        let value = inst.get(field);
        if value >= 32 || values >> value & 1 == 0 {
            return Err(wrong(field));
        }
    }
    // Both at once are no treatment of exponents.
    if inst.flag(f::SQRT) && inst.flag(f::LOG) {
        return Err(wrong(f::LOG));
    }
    // A comparing exchange reads the old and the new value; nothing else compares.
    let values = match opcode {
        Opcode::AtomReturnI32 => 1,
        Opcode::AtomReturnI64 => 2,
        _ => return Ok(()),
    };
    let compares = inst.flag(f::COMPARE);
    if compares && inst.get(f::ATOM_OP) != 15 {
        return Err(wrong(f::ATOM_OP));
    }
    let count = inst.get(f::SR_COUNT);
    if compares != (count == 2 * values) && !(values == 2 && !compares && count == 1) {
        return Err(wrong(f::SR_COUNT));
    }
    Ok(())
}

/// Fields that Arm's description computes from others: what is flat or kept from before has no place of its own.
///
/// # Errors
/// The first field with a value that the others do not give.
pub fn relations(inst: &Inst) -> Result<(), Reserved> {
    use Opcode::*;
    let wrong = |id: FieldId| Reserved {
        op: inst.op().name,
        field: inst.op().format.field(id).map_or("", |field| field.name),
        value: inst.get(id),
    };
    match Opcode::of(inst.op()) {
        LdVarBufImmF32 | LdVarBufImmF16 | LdVarBufF32 | LdVarBufF16 => {
            let kept = inst.get(f::UPDATE) == 1;
            if inst.get(f::SOURCE_FORMAT) < 2 && !kept {
                return Err(wrong(f::UPDATE));
            }
            if kept && inst.get(f::SAMPLE) != 0 {
                return Err(wrong(f::SAMPLE));
            }
        }
        LdVarSpecial if inst.get(f::INDEX) != 0 && inst.get(f::VECSIZE) != 0 => {
            return Err(wrong(f::VECSIZE));
        }
        _ => {}
    }
    Ok(())
}

/// The values that a field of a row may have, bit v for value v, where they are fewer than its table's.
pub fn values(opcode: Opcode, field: FieldId) -> Option<u32> {
    let limit = of_row(opcode).iter().find(|(id, _)| *id == field);
    limit.map(|&(_, values)| values)
}

/// The limits of one row, in the order of the list: a field and the set of its values.
fn of_row(opcode: Opcode) -> &'static [(FieldId, u32)] {
    static ROWS: OnceLock<Vec<Vec<(FieldId, u32)>>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let mut rows = vec![Vec::new(); Opcode::ALL.len()];
        for limit in LIMITS {
            for &row in limit.rows {
                rows[row as usize].push((limit.field, limit.values));
            }
        }
        rows
    });
    &rows[opcode as usize]
}

macro_rules! limits {
    ($($field:ident [$($value:literal)*] $($row:ident)*;)*) => {
        /// Every limit.
        pub static LIMITS: &[Limit] = &[$(Limit {
            field: f::$field,
            values: $(1 << $value)|*,
            rows: &[$(Opcode::$row),*],
        }),*];
    };
}

limits! {
    ARRAY [0] VarTexBufGradient VarTexGradient;
    ATOM_OP [0 1 2 8 9 10 11 12 13 14] AtomI64;
    ATOM_OP [2 8 9 10 11 12 13 14 15] AtomReturnI32;
    ATOM_OP [2 8 9 10 11 12 13 14] AtomI32;
    CLAMP [0] FexpF32;
    CMP [0 1 2 3 4 5] IcmpOrU32 IcmpAndU32 IcmpMultiU32 IcmpOrV2u16 IcmpAndV2u16 IcmpOrV4u8 IcmpAndV4u8 IcmpOrS32 IcmpAndS32 IcmpMultiS32 IcmpOrV2s16 IcmpAndV2s16 IcmpOrV4s8 IcmpAndV4s8 CselU32 CselV2u16 CselS32 CselV2s16;
    DIMENSION [0 1 2] TexFetch VarTexBufSingle VarTexBufGradient VarTexBufDual VarTexSingle VarTexGradient VarTexDual;
    DIMENSION [1 3] TexGather;
    DIMENSION [1] TexWeights VarTexBufGather VarTexGather;
    FAU_PAGE [0] Nop Doorbell Eureka Kaboom LdVarFlatImm LdGclk Barrier;
    FORCE_DELTA [0] TexGradient;
    INDEX [0 2 3] LdVarSpecial;
    INTEGER_COORDS [0] VarTexBufGather VarTexGather;
    SWZ1 [4 5 6 7] ClperI32 RshiftAndI32 LshiftAndI32 RrotAndI32 LrotAndI32 ArshiftAndI32 RshiftOrI32 LshiftOrI32 RrotOrI32 LrotOrI32 ArshiftOrI32 RshiftXorI32 LshiftXorI32 RrotXorI32 LrotXorI32 ArshiftXorI32 RshiftAndI64 LshiftAndI64 RrotAndI64 LrotAndI64 ArshiftAndI64 RshiftOrI64 LshiftOrI64 RrotOrI64 LrotOrI64 ArshiftOrI64 RshiftXorI64 LshiftXorI64 RrotXorI64 LrotXorI64 ArshiftXorI64;
    LOD_MODE [0 1] VarTexBufSingle VarTexBufDual VarTexSingle VarTexDual;
    MUX [0 1 3] MuxV4i8;
    REGFMT [0 2 3 4 6] LdVarFlatImm LdVarFlat;
    REGFMT [0 2 3] LdVarImm LdVar;
    REGFMT [2] LdVarSpecial;
    REGISTER_TYPE [0] TexFetch TexWeights TexSingle TexGather TexGradient TexDual VarTexBufSingle VarTexBufGather VarTexBufGradient VarTexBufDual VarTexSingle VarTexGather VarTexGradient VarTexDual;
    REGISTER_WIDTH [0 1] VarTexBufSingle VarTexBufGather VarTexBufGradient VarTexSingle VarTexGather VarTexGradient;
    RESULT [0 1 2] IcmpOrU32 IcmpAndU32 IcmpOrV2u16 IcmpAndV2u16 FcmpOrF32 FcmpAndF32 FcmpOrV2f16 FcmpAndV2f16 IcmpOrS32 IcmpAndS32 IcmpMultiS32 IcmpOrV2s16 IcmpAndV2s16;
    RESULT [0 2] IcmpOrV4u8 IcmpAndV4u8 IcmpOrV4s8 IcmpAndV4s8;
    ROUND [0] F16ToF32;
    SATURATE [0] ImuldU64 ImuldS64;
    SHADOW [0] VarTexBufGradient VarTexGradient;
    SLOT [0 1 2] LdVarFlatImm LdGclk LdVarImm LdVarFlat LdVarSpecial LdVarBufImmF32 LdVarBufImmF16 LeaBufImm LoadI8 LoadI16 LoadI24 LoadI32 LoadI48 LoadI64 LoadI96 LoadI128 StoreI8 StoreI16 StoreI24 StoreI32 StoreI48 StoreI64 StoreI96 StoreI128 LdVar LdAttrImm LdTexImm LeaAttrImm LeaTexImm AtomI32 AtomI64 Atom1I32 Atom1ReturnI32 Atom1I64 Atom1ReturnI64 LdBufferI8 LdBufferI16 LdBufferI24 LdBufferI32 LdBufferI48 LdBufferI64 LdBufferI96 LdBufferI128 LeaBuffer LdVarBufF32 LdVarBufF16 LeaBuf LdCvt StCvt LdAttr LdTex LeaAttr LeaTex LdTile StTile Blend AtomReturnI32 AtomReturnI64 TexFetch TexWeights TexSingle TexGather TexGradient TexDual VarTexBufSingle VarTexBufGather VarTexBufGradient VarTexBufDual VarTexSingle VarTexGather VarTexGradient VarTexDual;
    SLOT [0] ZsEmit;
    SLOT [7] Barrier;
    SOURCE_FORMAT [0 2 3] LdVarBufImmF32 LdVarBufF32;
    SOURCE_FORMAT [1 2 3] LdVarBufImmF16 LdVarBufF16;
    SR_COUNT [1 2 3 4 5 6 7] TexSingle TexDual;
    SR_COUNT [1 2 3 4 6] TexGradient;
    SR_COUNT [1 2 3 4] LdVarFlatImm LdVarImm LdVarFlat LdVarBufImmF32 LdVar LdAttrImm LdTexImm LdVarBufF32 LdCvt StCvt LdAttr LdTex LdTile StTile TexFetch;
    SR_COUNT [1 2] LdVarSpecial LdVarBufImmF16 LoadI8 LoadI16 LoadI32 AtomI64 LdBufferI8 LdBufferI16 LdBufferI32 LdVarBufF16 AtomReturnI32;
    SR_COUNT [1] LoadI24 StoreI8 StoreI16 StoreI24 StoreI32 AtomI32 Atom1ReturnI32 LdBufferI24 Atest ZsEmit;
    SR_COUNT [2 3 4 5] TexGather;
    SR_COUNT [2 4] Blend;
    SR_COUNT [2] LdGclk LeaBufImm LoadI48 LoadI64 StoreI48 StoreI64 Atom1ReturnI64 LdBufferI48 LdBufferI64 LeaBuffer LeaBuf;
    SR_COUNT [3] LoadI96 StoreI96 LeaAttrImm LeaTexImm LdBufferI96 LeaAttr LeaTex;
    SR_COUNT [4 5 6] TexWeights;
    SR_COUNT [4] LoadI128 StoreI128 LdBufferI128;
    SR_COUNT [1 2 4] AtomReturnI64;
    SR_WRITE_COUNT [0 1 2 3] TexFetch TexWeights TexSingle TexGather TexGradient VarTexBufSingle VarTexBufGather VarTexBufGradient VarTexSingle VarTexGather VarTexGradient;
    SR_WRITE_COUNT [0] AtomReturnI32;
    SR_WRITE_COUNT [1 2 3 4 5 6 7] TexDual;
    SR_WRITE_COUNT [1] AtomReturnI64;
    SR_WRITE_COUNT [2 3 4 5 6 7] VarTexBufDual VarTexDual;
    SWZ0 [0 1] S16ToS32 S16ToF32 F16ToS32 U16ToU32 U16ToF32 F16ToU32 FrcpF16 FrsqF16 FpclassF16 MkvecV2i16;
    SWZ1 [0 1] MkvecV2i16;
    UNSIGNED [1] LoadI24 LoadI48 LoadI64 LoadI96 LoadI128 LdBufferI24 LdBufferI48 LdBufferI64 LdBufferI96 LdBufferI128;
    UPDATE [3] LdVarSpecial;
    VECSIZE [0 1] LdVarSpecial;
    VECSIZE [0] LeaAttr LeaTex;
    VECSIZE [3] Blend;
    WIDE_INDICES [0] TexDual VarTexBufDual VarTexDual;
    SWZ0 [0 2 3 4 5 6 7 8] IaddU64 IsubU64 IaddS64 IsubS64;
    SWZ0 [0 2 3 4 5 6 7] RshiftAndI64 LshiftAndI64 RrotAndI64 LrotAndI64 ArshiftAndI64 RshiftOrI64 LshiftOrI64 RrotOrI64 LrotOrI64 ArshiftOrI64 RshiftXorI64 LshiftXorI64 RrotXorI64 LrotXorI64 ArshiftXorI64;
    SWZ0 [0] S32ToF32 U32ToF32 FpclassF32;
    SWZ0 [2 3 4 5 6 7 8] ImuldU64 ImuldS64;
    SWZ1 [2 3 4 5 6 7 8] ImuldU64 ImuldS64;
}
