//! The streams of the compute and the vertex data master. Pipeline page 5.2, 5.3. Addresses stand without the low bits that
//! their alignment makes 0.

enums! {
    CDM_BLOCK "CDM block" { 0 "kernel", 1 "link", 2 "terminate" }
    SD "State data" { 0 "none", 1 "pds", 2 "usc" }
    TARGET "Target" { 0 "all", 1 "any" }
    VDM_BLOCK "VDM block" {
        0 "ppp", 1 "pds", 2 "vdm", 3 "index_list", 4 "link", 5 "return", 6 "terminate", 7 "control",
    }
    PROVOKING "Flat vertex" { 0 "vertex0", 1 "vertex1", 2 "vertex2" }
    INDEX "Index size" { 0 "8", 1 "16", 2 "32" }
    TOPOLOGY "Topology" {
        0 "points", 1 "lines", 3 "line_strip", 5 "line_loop", 6 "triangles", 9 "triangle_strip", 11 "triangle_fan",
        12 "patches",
    }
}

words! {
    /// COMMON in 64 bytes, UNIFIED in 16 bytes, PDS_DATA in 16 bytes.
    cdm_kernel0 "CDM kernel 0" 32 "5.2" {
        BLOCK [31:30] Enum(&e::CDM_BLOCK), is 0; INDIRECT [29:29] Flag; OFFSETS [28:28] Flag; EVENT [27:27] Flag;
        COMMON [26:18] Unsigned; UNIFIED [17:12] Unsigned; PDS_TEMP [11:8] Unsigned; PDS_DATA [7:2] Unsigned;
        TARGET [1:1] Enum(&e::TARGET); FENCE [0:0] Flag;
    }
    cdm_kernel1 "CDM kernel 1" 32 "5.2" {
        DATA_ADDR [31:4] Unsigned; SD_TYPE [3:2] Enum(&e::SD); COMMON_SHARED [1:1] Flag;
    }
    cdm_kernel2 "CDM kernel 2" 32 "5.2" { CODE_ADDR [31:4] Unsigned; ONE_WG_PER_TASK [0:0] Flag; }
    /// Kernel 3 to 5: workgroups of a dimension.
    cdm_groups "CDM kernel 3 to 5" 32 "5.2" { COUNT_LESS_ONE [31:0] Unsigned; }
    cdm_kernel6 "CDM kernel 6" 32 "5.2" { INDIRECT_HI [7:0] Unsigned; }
    cdm_kernel7 "CDM kernel 7" 32 "5.2" { INDIRECT_LO [31:2] Unsigned; }
    /// MAX_INSTANCES 0 is 32.
    cdm_kernel8 "CDM kernel 8" 32 "5.2" {
        MAX_INSTANCES [31:27] Unsigned; X [26:18] Unsigned, plus 1; Y [17:9] Unsigned, plus 1; Z [8:0] Unsigned, plus 1;
    }
    cdm_link0 "CDM link 0" 32 "5.2" { BLOCK [31:30] Enum(&e::CDM_BLOCK), is 1; ADDR_HI [7:0] Unsigned; }
    cdm_link1 "CDM link 1" 32 "5.2" { ADDR_LO [31:2] Unsigned; }
    cdm_terminate "CDM terminate" 32 "5.2" { BLOCK [31:30] Enum(&e::CDM_BLOCK), is 2; }
    vdm_ppp0 "VDM PPP state 0" 32 "5.3" {
        BLOCK [31:29] Enum(&e::VDM_BLOCK), is 0; WORD_COUNT [15:8] Unsigned; ADDR_HI [7:0] Unsigned;
    }
    vdm_ppp1 "VDM PPP state 1" 32 "5.3" { ADDR_LO [31:2] Unsigned; }
    vdm_pds0 "VDM PDS state 0" 32 "5.3" {
        BLOCK [31:29] Enum(&e::VDM_BLOCK), is 1; DM_TARGET [28:28] Unsigned; USC_TARGET [25:25] Enum(&e::TARGET);
        COMMON [24:16] Unsigned; UNIFIED [15:10] Unsigned; PDS_TEMP [9:6] Unsigned; PDS_DATA [5:0] Unsigned;
    }
    vdm_pds1 "VDM PDS state 1" 32 "5.3" { DATA_ADDR [31:4] Unsigned; SD_TYPE [3:2] Enum(&e::SD); }
    vdm_pds2 "VDM PDS state 2" 32 "5.3" { CODE_ADDR [31:4] Unsigned; }
    vdm_state0 "VDM state 0" 32 "5.3" {
        BLOCK [31:29] Enum(&e::VDM_BLOCK), is 2; CUT_PRESENT [28:28] Flag; DATA_PRESENT [27:27] Flag;
        OTHER_PRESENT [26:26] Flag; CAM_SIZE [14:7] Unsigned; UVS_SCRATCH [6:6] Flag; CUT_ENABLE [5:5] Flag;
        FLATSHADE [2:1] Enum(&e::PROVOKING); PRIMITIVE_ID [0:0] Flag;
    }
    vdm_state1 "VDM state 1" 32 "5.3" { CUT_INDEX [31:0] Unsigned; }
    vdm_state2 "VDM state 2" 32 "5.3" { DATA_ADDR [31:4] Unsigned; }
    vdm_state3 "VDM state 3" 32 "5.3" { CODE_ADDR [31:4] Unsigned; }
    /// As many words as OUTPUT_SEL's VTXSIZE can say (5.4).
    vdm_state4 "VDM state 4" 32 "5.3" { OUTPUT_SIZE [7:0] Unsigned; }
    vdm_state5 "VDM state 5" 32 "5.3" {
        MAX_INSTANCES [29:25] Unsigned; COMMON [24:16] Unsigned; UNIFIED [15:10] Unsigned; PDS_TEMP [9:6] Unsigned;
        PDS_DATA [5:0] Unsigned;
    }
    /// The words behind it are those that its flags name: address, count, instances, offset, start, indirect.
    vdm_index_list "VDM index list 0" 32 "5.3" {
        BLOCK [31:29] Enum(&e::VDM_BLOCK), is 3; ADDR_PRESENT [28:28] Flag; COUNT_PRESENT [27:27] Flag;
        INSTANCES_PRESENT [26:26] Flag; OFFSET_PRESENT [25:25] Flag; START_PRESENT [24:24] Flag;
        INDIRECT_PRESENT [23:23] Flag; SPLIT_PRESENT [22:22] Flag; INDEX_SIZE [18:17] Enum(&e::INDEX);
        TOPOLOGY [11:8] Enum(&e::TOPOLOGY); BASE_HI [7:0] Unsigned;
    }
    vdm_terminate "VDM terminate" 32 "5.3" { BLOCK [31:29] Enum(&e::VDM_BLOCK), is 6; }
}
