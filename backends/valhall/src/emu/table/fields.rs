//! Where fields of instruction words stand and which of their values v9 has, after Arm's description.

use super::Field;

const fn any(at: u8, width: u8) -> Field {
    Field { at, width, values: u32::MAX }
}

/// The values from 0 on.
const fn first(at: u8, width: u8, count: u32) -> Field {
    Field { at, width, values: (1 << count) - 1 }
}

const fn of(at: u8, width: u8, list: &[u32]) -> Field {
    let (mut values, mut i) = (0, 0);
    while i < list.len() {
        values |= 1 << list[i];
        i += 1;
    }
    Field { at, width, values }
}

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident $make:ident($($arg:expr),*);)*) => {
        $($(#[$doc])* pub const $name: Field = $make($($arg),*);)*
    };
}

#[rustfmt::skip]
fields! {
    // In every word.
    OPCODE any(48, 9);
    PAGE any(57, 2);
    FLOW of(59, 4, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 15]);
    // Source bytes.
    S0 any(0, 8);
    S1 any(8, 8);
    S2 any(16, 8);
    S3 any(24, 8);
    // Signs of float sources: bit 0 negates, bit 1 takes the old sign away before.
    SIGN0 any(38, 2);
    SIGN1 any(36, 2);
    SIGN2 any(34, 2);
    // Halves of float sources: `widen_m`, `swiz_m`, lanes.
    WIDEN0 first(28, 2, 3);
    WIDEN1 first(26, 2, 3);
    WIDEN2 first(24, 2, 3);
    HALVES0 any(28, 2);
    HALVES1 any(26, 2);
    HALVES2 any(24, 2);
    HALF0 any(28, 1);
    HALF1 any(26, 1);
    BYTE0 any(28, 2);
    BYTE_AT_36 any(36, 2);
    BYTE_AT_38 any(38, 2);
    // Parts of integer sources: `widen_int_m`, `swiz_int_m`, `lanes_int_m`.
    INT0 of(36, 4, &[0, 2, 3, 4, 5, 6, 7]);
    INT1 of(26, 4, &[0, 2, 3, 4, 5, 6, 7]);
    LONG0 of(36, 4, &[0, 2, 3, 4, 5, 6, 7, 8]);
    LONG1 of(26, 4, &[0, 2, 3, 4, 5, 6, 7, 8, 9]);
    FACTOR0 of(36, 4, &[2, 3, 4, 5, 6, 7, 8]);
    FACTOR1 of(26, 4, &[2, 3, 4, 5, 6, 7, 8]);
    PAIRS0 first(36, 4, 14);
    PAIRS1 first(26, 4, 14);
    BYTES0 first(36, 4, 12);
    BYTES1 first(26, 4, 12);
    TWO_BYTES any(36, 4);
    // Counts of shifts, and the lane of CLPER.
    SHIFT_BYTE of(26, 4, &[4, 5, 6, 7]);
    SHIFT_BYTES of(26, 4, &[0, 4, 5, 6, 7, 10, 11]);
    // Results.
    REG any(40, 6);
    MASK of(46, 2, &[1, 2, 3]);
    NARROW any(46, 2);
    // What arithmetic does.
    ROUND any(30, 2);
    ROUND_TIES first(30, 3, 5);
    NAN_RULE first(30, 2, 2);
    CLAMP any(32, 2);
    STICKY any(34, 1);
    RSCALE_SPECIAL any(48, 2);
    RSCALE_ZERO any(50, 1);
    LDEXP_INF first(28, 2, 3);
    FREXP_MODE first(24, 2, 3);
    NEG_RESULT any(30, 1);
    NAN_MODE first(8, 2, 3);
    FTZ any(10, 1);
    FLUSH_INF any(11, 1);
    POWER first(20, 2, 2);
    TABLE_OFFSET any(30, 1);
    TABLE_SCALE any(30, 1);
    ADJUST of(31, 2, &[0, 2]);
    LOG_MODE first(31, 2, 3);
    PRECISION first(33, 2, 3);
    SATURATE any(30, 1);
    UP any(30, 1);
    CARRY any(30, 1);
    LEADING_ONES any(30, 1);
    SHIFT any(20, 3);
    KEEP_NULL any(39, 1);
    LOGIC first(24, 2, 3);
    SHIFT_KIND first(32, 3, 5);
    NOT_RESULT any(30, 1);
    NOT2 any(35, 1);
    MUX any(32, 2);
    MUX_BYTES of(32, 2, &[0, 1, 3]);
    CMP any(32, 3);
    CMP_INT first(32, 3, 6);
    TRUTH first(30, 2, 3);
    TRUTH_BYTES of(30, 2, &[0, 2]);
    TRUTH_LOW any(30, 2);
    INACTIVE any(22, 4);
    LANE_OP first(32, 4, 5);
    SUBGROUP first(36, 4, 4);
    IMMEDIATE any(8, 32);
    // Branches.
    BRANCH_OFFSET any(8, 27);
    CONSERVATIVE any(35, 1);
    ON_ZERO any(36, 1);
    BRANCH_BITS first(37, 3, 5);
    ABSOLUTE any(40, 1);
    DIVERGE any(32, 1);
    STACK_MODE any(33, 2);
    // Messages: slot, staging registers and their counts.
    SLOT of(30, 3, &[0, 1, 2]);
    SR any(40, 6);
    SR_WRITE any(16, 6);
    SR_COUNT any(33, 3);
    SR_12 of(33, 3, &[1, 2]);
    SR_24 of(33, 3, &[2, 4]);
    SR_1234 of(33, 3, &[1, 2, 3, 4]);
    SR_12346 of(33, 3, &[1, 2, 3, 4, 6]);
    SR_1TO7 of(33, 3, &[1, 2, 3, 4, 5, 6, 7]);
    SR_2345 of(33, 3, &[2, 3, 4, 5]);
    SR_456 of(33, 3, &[4, 5, 6]);
    /// Staging registers that are written, less one.
    WRITES any(36, 3);
    WRITES_4 first(36, 3, 4);
    WRITES_2TO8 of(36, 3, &[1, 2, 3, 4, 5, 6, 7]);
    WRITES_3TO8 of(36, 3, &[2, 3, 4, 5, 6, 7]);
    // Memory.
    OFFSET8 any(8, 8);
    OFFSET16 any(8, 16);
    ACCESS first(24, 3, 4);
    ACCESS_CVT first(37, 3, 4);
    LANE_1 any(36, 1);
    LANE_2 any(36, 2);
    LANE_3 any(36, 3);
    UNSIGNED any(39, 1);
    ATOM1 first(22, 3, 5);
    ATOM32 of(22, 4, &[2, 8, 9, 10, 11, 12, 13, 14]);
    ATOM32_RETURN of(22, 4, &[2, 8, 9, 10, 11, 12, 13, 14, 15]);
    ATOM64 of(22, 4, &[0, 1, 2, 8, 9, 10, 11, 12, 13, 14]);
    ATOM64_RETURN of(22, 4, &[0, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15]);
    // Descriptors, formats of registers, components less one.
    TABLE_AT_8 any(8, 4);
    TABLE_AT_16 any(16, 4);
    INDEX_AT_12 any(12, 8);
    INDEX_AT_20 any(20, 4);
    FORMAT_ALL of(24, 3, &[0, 2, 3, 4, 5, 6, 7]);
    FORMAT_FLAT of(24, 3, &[0, 2, 3, 4, 6]);
    FORMAT_VAR of(24, 3, &[0, 2, 3]);
    COUNT any(28, 2);
    COUNT2 first(28, 2, 2);
    // Varyings, tests of fragments.
    VARYING_OFFSET any(16, 8);
    VARYING_32 of(24, 2, &[0, 2, 3]);
    VARYING_16 of(24, 2, &[1, 2, 3]);
    SPECIAL_VARYING of(12, 3, &[0, 2, 3]);
    UPDATE of(36, 2, &[0, 1, 3]);
    SAMPLE any(38, 2);
    CLOCK_SOURCE of(0, 3, &[6, 7]);
    STENCIL any(24, 1);
    DEPTH any(25, 1);
    Z_STENCIL any(36, 1);
    // Textures.
    WIDE any(8, 1);
    ARRAY any(10, 1);
    TEXEL_OFFSET any(11, 1);
    COMPARE any(12, 1);
    LOD_MODE of(13, 3, &[0, 1, 4, 5, 6]);
    LOD_COMPUTED first(13, 3, 2);
    INTEGER any(13, 1);
    NO_BIAS any(13, 1);
    NO_CLAMP any(14, 1);
    DERIVATIVE any(15, 1);
    COMPONENT any(14, 2);
    WRITE_MASK of(22, 4, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    DIM any(28, 2);
    DIM_3 first(28, 2, 3);
    DIM_GATHER of(28, 2, &[1, 3]);
    SKIP any(39, 1);
    FULL any(46, 1);
    FULL2 any(47, 1);
    VAR_FULL any(24, 1);
    VAR_FULL2 any(25, 1);
    VAR_PLACE of(33, 3, &[0, 1, 2, 3, 4, 6, 7]);
}
