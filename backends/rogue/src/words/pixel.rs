//! State of the pixel back end. Pipeline page 4.6.

enums! {
    SOURCE "Source format" { 0 "f16", 1 "8bit" }
    PLACE "Source position" { 0 "0", 1 "32", 2 "64", 3 "96" }
    LAYOUT "Memory layout" { 0 "linear", 1 "twiddle_2d", 2 "twiddle_3d", 3 "tiled" }
    PACK "Pack mode" {
        0x00 "u8u8u8u8", 0x01 "s8s8s8s8", 0x04 "a1r5g5b5", 0x05 "r5g5b5a1", 0x06 "a4r4g4b4", 0x08 "u16u16u16u16",
        0x09 "s16s16s16s16", 0x0a "f16f16f16f16", 0x0b "u32u32u32u32", 0x0c "s32s32s32s32", 0x0d "f32f32f32f32",
        0x0e "a2r10b10g10", 0x0f "r10b10g10a2", 0x10 "a2f10f10f10", 0x12 "u8u8u8", 0x14 "r5g6b5", 0x17 "u16u16u16",
        0x19 "f16f16f16", 0x1a "u32u32u32", 0x1c "f11f11f10", 0x1d "f10f11f11", 0x1e "se9995", 0x1f "f32f32f32",
        0x20 "x24u8f32", 0x23 "u8u8", 0x24 "s8s8", 0x25 "u16u16", 0x26 "s16s16", 0x27 "f16f16", 0x28 "u32u32",
        0x29 "s32s32", 0x2a "f32f32", 0x2b "u24st8", 0x2c "st8u24", 0x2d "x8u24", 0x2e "u8x24", 0x2f "u8", 0x30 "s8",
        0x31 "u16", 0x32 "s16", 0x33 "f16", 0x34 "u32", 0x35 "s32", 0x36 "f32",
    }
}

words! {
    /// The address in words, its low half.
    state0 "PBE state word 0" 32 "4.6" { ADDRESS_LO [31:0] Unsigned; }
    state1 "PBE state word 1" 32 "4.6" {
        SOURCE_POS_128 [28:28] Flag; YUV_PMODE [27:23] Unsigned; DOWNSCALE [22:20] Unsigned;
        SOURCE_FORMAT [19:19] Enum(&e::SOURCE); MRT_INDEX [18:16] Unsigned; SOURCE_POS [15:14] Enum(&e::PLACE);
        NORM [13:13] Flag; PACKMODE [12:7] Enum(&e::PACK); EMPTYTILE [6:6] Flag; ADDRESS_HI [5:0] Unsigned;
    }
    reg0 "PBE register word 0" 64 "4.6" {
        TILERELATIVE [57:57] Flag; SIZE_Z [55:52] Unsigned; ROTATION [51:50] Unsigned; LINESTRIDE [49:34] Unsigned, plus 1;
        MEMLAYOUT [33:32] Enum(&e::LAYOUT); SWIZ3 [31:29] Unsigned; SWIZ2 [28:26] Unsigned; SWIZ1 [25:23] Unsigned;
        SWIZ0 [22:20] Unsigned; MINCLIP_X [19:6] Unsigned; TWOCOMP_GAMMA [5:5] Flag; GAMMA [4:4] Flag;
        COMPRESSION [3:3] Flag; COMPRESS_SIZE [2:2] Unsigned; Y_FLIP [0:0] Flag;
    }
    reg1 "PBE register word 1" 64 "4.6" {
        SIZE_X [63:60] Unsigned; MINCLIP_Y [59:46] Unsigned; MAXCLIP_X [45:32] Unsigned; SIZE_Y [31:28] Unsigned;
        ZSLICE [27:14] Unsigned; MAXCLIP_Y [13:0] Unsigned;
    }
}
