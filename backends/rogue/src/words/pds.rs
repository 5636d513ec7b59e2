//! PDS: instructions, and the operands of its outputs. Pipeline page 5.1.
//!
//! What the page gives no bits of has no word here: 64-bit shifts and logic (opcode A), `STM`.

enums! {
    DOUT "Output" { 0 "doutd", 1 "doutw", 2 "doutu", 3 "doutv", 4 "douti", 5 "doutc" }
    COMPARE "Comparison" { 0 "eq", 1 "gt", 2 "lt", 3 "ne" }
    CONDITION "Condition" {
        0 "p0", 1 "if0", 2 "if1", 3 "so0", 4 "so1", 5 "so2", 6 "so3", 7 "global", 8 "keep", 9 "oob",
    }
    SPECIAL "Special operation" {
        0 "ld", 1 "st", 2 "wdf", 3 "limm", 4 "lock", 5 "release", 6 "halt", 7 "stmc", 8 "stmp", 9 "idiv", 10 "aa",
        11 "idf", 12 "pol", 15 "nop",
    }
    LOGIC "Logical operation" {
        0 "none", 1 "not", 2 "and", 3 "or", 4 "xor", 5 "xnor", 6 "nand", 7 "nor",
    }
    RATE "Sample rate" { 0 "instance", 1 "selective", 2 "full" }
    CACHE "Cache mode" { 0 "cached", 1 "bypass", 2 "force_line_fill" }
    STORE "Destination" { 0 "unified", 1 "common" }
    SHADE "Shade model" { 0 "flat_vertex0", 1 "flat_vertex1", 2 "flat_vertex2", 3 "gouraud" }
}

words! {
    /// Sends a pair of operands to another unit.
    dout "DOUT" 32 "5.1" {
        OPCODE [31:28] Unsigned, is 15; CC [27:27] Flag; END [26:26] Flag; SRC1 [23:16] Unsigned; SRC0 [14:8] Unsigned;
        DST [2:0] Enum(&e::DOUT);
    }
    /// Sends memory: address = src0 * src1 + src2, as src3 says.
    ddmad "DDMAD" 32 "5.1" {
        OPCODE [31:28] Unsigned, is 14; CC [27:27] Flag; END [26:26] Flag; SRC0 [25:18] Unsigned; SRC1 [17:13] Unsigned;
        SRC2 [12:6] Unsigned; SRC3 [5:0] Unsigned;
    }
    /// A sum or difference of 32 bits.
    add32 "ADD32" 32 "5.1" {
        OPCODE [31:28] Unsigned, is 9; CC [27:27] Flag; SIGNED [26:26] Flag; SUB [24:24] Flag; SRC0 [21:14] Unsigned;
        SRC1 [13:6] Unsigned; DST [5:0] Unsigned;
    }
    /// A sum of 64 bits.
    add64 "ADD64" 32 "5.1" {
        OPCODE [31:28] Unsigned, is 8; SRC0 [18:12] Unsigned; SRC1 [11:5] Unsigned; DST [4:0] Unsigned;
    }
    /// A product and a sum.
    mad "MAD" 32 "5.1" {
        OPCODE [31:30] Unsigned, is 0; SUB [29:29] Flag; SIGNED [28:28] Flag; CC [27:27] Flag; SRC0 [26:19] Unsigned;
        SRC1 [18:11] Unsigned; SRC2 [10:4] Unsigned; DST [3:0] Unsigned;
    }
    /// A comparison, with a register or a number.
    cmp "CMP" 32 "5.1" {
        OPCODE [31:28] Unsigned, is 11; COP [26:25] Enum(&e::COMPARE); ONE [24:24] Unsigned, is 1;
        IMMEDIATE [23:23] Flag; SRC0 [22:18] Unsigned; SRC1 [17:2] Unsigned;
    }
    /// A branch by so many instructions.
    bra "BRA" 32 "5.1" {
        OPCODE [31:28] Unsigned, is 12; SRCC [27:24] Enum(&e::CONDITION); NEG [23:23] Flag;
        SETC [22:19] Enum(&e::CONDITION); ADDR [18:0] Signed;
    }
    /// Special operations without operands: halt, waits, fences, locks.
    sp "SP" 32 "5.1" {
        OPCODE [31:28] Unsigned, is 13; CC [27:27] Flag; OP [26:23] Enum(&e::SPECIAL);
    }
    /// A number of 16 bits to a register.
    limm "LIMM" 32 "5.1" {
        OPCODE [31:28] Unsigned, is 13; CC [27:27] Flag; OP [26:23] Enum(&e::SPECIAL), is 3; DST [22:18] Unsigned;
        VALUE [17:2] Unsigned; GLOBAL [1:1] Flag;
    }
    /// Shifts and logic of 32 bits.
    sftlp32 "SFTLP32" 32 "5.1" {
        OPCODE [31:29] Unsigned, is 2; IMMEDIATE [28:28] Flag; CC [27:27] Flag; LOP [26:24] Enum(&e::LOGIC);
        SRC0 [23:19] Unsigned; SRC1 [18:11] Unsigned; SRC2 [10:5] Unsigned; DST [4:0] Unsigned;
    }
    /// DOUTU, source 0: starts a shader program. TEMPS counts units of four (section 8).
    doutu "DOUTU source 0" 64 "5.1" {
        EXE_OFF [31:2] Unsigned; SAMPLE_RATE [34:33] Enum(&e::RATE); TEMPS [40:35] Unsigned; DUAL_PHASE [41:41] Flag;
    }
    /// DOUTD, source 0: where the memory is. The policy lies where the driver's encoder puts it (section 8) [A].
    doutd "DOUTD source 0" 64 "5.1, 8" {
        SBASE_LO [31:0] Unsigned; SBASE_HI [39:32] Unsigned; DOFFSET [52:40] Unsigned; SLCMODE [63:62] Unsigned;
    }
    /// DOUTD, source 1: how much, and to which registers.
    doutd_to "DOUTD source 1" 32 "5.1" {
        BSIZE [11:0] Unsigned; REPEAT [12:12] Flag; A0 [25:13] Unsigned; CMODE [27:26] Enum(&e::CACHE);
        DEST [28:28] Enum(&e::STORE); WORDSIZE [30:29] Unsigned; LAST [31:31] Flag;
    }
    /// DOUTW, source 1: which words, and to which registers. The page names these fields, and they lie where those of
    /// DOUTD do [A]. BSIZE: the low word, the high one, both, none.
    doutw_to "DOUTW source 1" 32 "5.1" {
        BSIZE [1:0] Unsigned; A0 [25:13] Unsigned; DEST [28:28] Enum(&e::STORE); LAST [31:31] Flag;
    }
    /// DDMAD, source 3: the same with a check of bounds.
    ddmad_to "DDMAD source 3" 64 "5.1" {
        BSIZE [11:0] Unsigned; REPEAT [12:12] Flag; A0 [25:13] Unsigned; CMODE [27:26] Enum(&e::CACHE);
        DEST [28:28] Enum(&e::STORE); WORDSIZE [30:29] Unsigned; LAST [31:31] Flag; TEST [32:32] Flag;
        MSIZE [63:33] Unsigned;
    }
    /// DOUTI: a varying to a set of coefficients.
    douti "DOUTI source 0" 64 "5.1" {
        F16_OFF [7:0] Unsigned; F32_OFF [15:8] Unsigned; PERSPECTIVE [16:16] Flag; F16 [17:17] Flag;
        SIZE [19:18] Unsigned, plus 1; WRAP_U [20:20] Flag; WRAP_V [21:21] Flag; WRAP_S [22:22] Flag;
        POINT_SPRITE [23:23] Flag; SHADE_MODEL [25:24] Enum(&e::SHADE); PRIMITIVE_ID [26:26] Flag;
        DEPTH_BIAS [27:27] Flag; DEST [61:54] Unsigned; LAST [63:63] Flag;
    }
}
