//! State of the primitive processor and of pixel programs. Pipeline page 5.4.

enums! {
    PASS "Pass type" {
        0 "opaque", 1 "translucent", 2 "punch_through", 3 "viewport", 4 "fast_punch_through", 5 "depth_feedback",
        6 "anti_alias",
    }
}

words! {
    /// Which words follow.
    header "PPP state header" 32 "5.4" {
        ISPCTL [0:0] Flag; FRONT_A [1:1] Flag; FRONT_B [2:2] Flag; BACK_A [3:3] Flag; BACK_B [4:4] Flag; DBSC [5:5] Flag;
        PDS0 [6:6] Flag; PDS1 [7:7] Flag; PDS2 [8:8] Flag; PDS3 [9:9] Flag; REGION_CLIP [10:10] Flag;
        VIEWPORT [11:11] Flag; VIEWPORTS [15:12] Unsigned; WCLAMP [16:16] Flag; OUTPUTS [17:17] Flag;
        VARYING0 [18:18] Flag; VARYING1 [19:19] Flag; VARYING2 [20:20] Flag; CONTROL [21:21] Flag;
        STREAM0 [22:22] Flag; STREAM1 [23:23] Flag; TERMINATE [25:25] Flag;
    }
    ispctl "ISPCTL" 32 "5.4" {
        UPASS [25:22] Unsigned; TAGWRITE_DISABLE [21:21] Flag; TWO_SIDED [19:19] Flag; BPRES [18:18] Flag;
        DEPTH_BIAS [17:17] Flag; SCISSOR [16:16] Flag; VISIBILITY [15:0] Unsigned;
    }
    ispa "ISPA" 32 "5.4" {
        OBJTYPE [31:28] Unsigned; PASSTYPE [26:24] Enum(&e::PASS); DWRITE_DISABLE [21:21] Flag; DCMP [19:17] Unsigned;
        WIDTH [15:8] Unsigned; SREF [7:0] Unsigned;
    }
    output_sel "Output selection" 32 "5.4" {
        VTXSIZE [31:24] Unsigned; UNCLAMPED_Z [21:21] Flag; RENDER_TARGET [20:20] Flag; VIEWPORT_TARGET [19:19] Flag;
        PSPRITE_SIZE [18:18] Flag; CLAMP_Z [17:17] Flag; RHW [16:16] Flag; CULL [15:8] Unsigned; CLIP [7:0] Unsigned;
    }
    /// Numbers of varyings of 32 bits; the second word holds those of 16.
    varying "Varying" 32 "5.4" { NPC [23:16] Unsigned; FLAT [15:8] Unsigned; LINEAR [7:0] Unsigned; }
    /// VARYING_SIZE counts 16 coefficients.
    sizeinfo1 "PDS size information 1" 32 "5.4" {
        UNIFORM_SIZE [31:23] Unsigned; TEXTURE_SIZE [22:16] Unsigned; PDS_VARYING [15:10] Unsigned;
        VARYING_SIZE [9:4] Unsigned; TEMP_SIZE [3:0] Unsigned;
    }
    /// SHARED_SIZE counts 16 shared registers.
    sizeinfo2 "PDS size information 2" 32 "5.4" { SHARED_SIZE [31:23] Unsigned; TRI_MERGE_DISABLE [14:14] Flag; }
}
