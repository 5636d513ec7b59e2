//! Every field, enumeration and format of the operations of a group, with the public table's names. Bits count from the
//! low end of the operation's first byte: byte `k` is bits `8k+7:8k`.
//!
//! A format is the longest form of its operation. Shorter forms leave bytes at the end out ([`Cut`]); which form a group
//! has is no part of the operation. Fields that say so ([`f::EXT`] and the like) are 1 in the longest form.
//!
//! Sections are those of the pipeline page (isa/rogue-pipeline.md); [A] marks what it marks as an assumption.

use gpucc_isa::{Enum, Field, Format, Kind, Member, Piece};

/// Names one field; [`gpucc_isa::Inst::get`] and [`gpucc_isa::Inst::set`] take it.
pub mod f {
    use gpucc_isa::FieldId;

    macro_rules! ids {
        ($($name:ident)*) => {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names of the constants")]
            enum Number { $($name),* }
            $(#[doc = concat!("The field `", stringify!($name), "`.")]
            pub const $name: FieldId = FieldId(Number::$name as u8);)*
        };
    }

    ids! {
        MAIN_OP EXT EXT_B EXT_C CODE
        SAT NEG0 ABS0 FLR0 NEG1 ABS1 NEG2 ABS2 FLR2 LP
        GAMMA PART ITER TRIG PWEN
        ELEM SCALE RTZ PROG FORMAT
        SIGNED INT_OP WIDE S0CH S1CH S2CH CARRY
        TEST TYPE
        MOV_W0 MOV_W1 MASK ALWAYS P2END
        BACKEND DSEL IMM UVSW ADDRESS SRC STREAM MASK_MODE MASK_OP
        EXE PARAM PHAS END RATE TEMPS LINK_SRC
        VISTEST FEEDBACK
        PERSP DRC ITER_MODE COUNT FREEP
        DMA ADD_SRC BURST BURST_SRC CACHE KEPT TILED DATA_SRC SIZE MASK_SRC
        FCNORM DIM CHANNELS LOD PPLOD PROJ SBMODE NNCOORDS SNO SOO TAO F16 SWAP WRITE
        DIRECT F16_INPUT COMPARE INTEGER ARRAY
        ATOMIC DST_SRC
        PHASE BIT7 COUNT_SRC COUNT_OP BIT_IMM SHIFT1 BITMASK VALUE
        MASK_B MASK_A LOGIC
        TEST_SRC BIT_TEST SHIFT2
        CTRL MISC LINK BPRED ABSOLUTE OFFSET
        ADJUST COND CND MUTEX ID TARGET
        DEST COEFF W_COEFF SCHED COEFF_INDEX W_INDEX TEX_OFF SMP_OFF
    }
}

macro_rules! enums {
    ($($(#[$doc:meta])* $id:ident $name:literal { $($value:literal $member:literal),* $(,)? })*) => {
        $($(#[$doc])* pub static $id: Enum =
            Enum::new($name, &[$(Member { value: $value, name: $member }),*]);)*
    };
}

enums! {
    /// 2.3. 13 and 24 to 29 are free.
    FORMAT_E "Pack format" {
        0 "u8888", 1 "s8888", 2 "o8888", 3 "u1616", 4 "s1616", 5 "o1616", 6 "u32", 7 "s32", 8 "u1010102",
        9 "s1010102", 10 "u111110", 11 "s111110", 12 "f111110", 14 "f16f16", 15 "f32", 16 "cov", 17 "u565u565",
        18 "d24s8", 19 "s8d24", 20 "f32_mask", 21 "2f10f10f10", 22 "s8888ogl", 23 "s1616ogl", 30 "zero", 31 "one",
    }
    /// 2.1: the element of a register.
    ELEM_E "Element" { 0 "e0", 1 "e1", 2 "e2", 3 "e3" }
    /// 2.1, int8_16: the third source's half.
    HALF_E "Half" { 0 "elo", 1 "ehi" }
    /// 2.1, int8_16.
    WIDE_E "Width of small integers" { 0 "i8", 1 "i16" }
    /// 2.1, fred.
    PART_E "Part of a reduction" { 0 "a", 1 "b" }
    /// 2.1, fred.
    TRIG_E "Kind of a reduction" { 0 "sin", 1 "cos" }
    /// 2.4.
    TEST_E "Test" {
        0 "z", 1 "gz", 2 "gez", 3 "c", 4 "e", 5 "g", 6 "ge", 7 "ne", 8 "l", 9 "le",
    }
    /// 2.4.
    TYPE_E "Type of a test" { 0 "f32", 1 "u16", 2 "s16", 3 "u8", 4 "s8", 5 "u32", 6 "s32" }
    /// 1.3: what drives a write port.
    FEED_E "Feed" { 0 "ft0", 1 "ft1", 2 "ft2", 3 "fte" }
    /// 2.8: the ports of sources. 6 and 7 are none.
    SRC_E "Source" { 0 "s0", 1 "s1", 2 "s2", 3 "s3", 4 "s4", 5 "s5" }
    /// 2.8, uvsw: the write port that is written.
    DSEL_E "Write port" { 0 "w0", 1 "w1" }
    /// 2.8, msk.
    MASK_MODE_E "Mask" { 0 "vm", 1 "icm", 2 "icmoc", 3 "icmi", 4 "caxy" }
    /// 2.8, phas.
    RATE_E "Rate" { 0 "inst", 1 "smp_sel", 2 "smp_full" }
    /// 2.8, fitr; 2.7, ditr.
    ITER_MODE_E "Place of iteration" { 0 "pixel", 1 "sample", 2 "centroid" }
    /// 2.8, ld.
    LD_CACHE_E "Cache mode of loads" { 0 "normal", 1 "bypass", 2 "force_line_fill" }
    /// 2.8, st.
    ST_CACHE_E "Cache mode of stores" { 0 "writethrough", 1 "writeback", 2 "lazywriteback" }
    /// 2.8, st.
    SIZE_E "Size of an element" { 0 "8bit", 1 "16bit", 2 "32bit" }
    /// 2.9. 0 is none.
    DIM_E "Dimensions" { 1 "1d", 2 "2d", 3 "3d" }
    /// 2.9.
    LOD_E "Level of detail" { 0 "none", 1 "bias", 2 "replace", 3 "gradient" }
    /// 2.9; the names of 26.2 (section 8).
    SBMODE_E "Raw results" { 0 "none", 1 "rawdata", 2 "coeffs", 3 "both" }
    /// 2.8.
    ATOMIC_E "Atomic operation" {
        0 "add", 1 "sub", 2 "xchg", 4 "umin", 5 "imin", 6 "umax", 7 "imax", 8 "and", 9 "or", 10 "xor",
    }
    /// 2.6: what the counter reads.
    COUNT_SRC_E "Source of the count" { 0 "s2", 1 "ft2" }
    /// 2.6.
    COUNT_OP_E "Count" { 0 "cbs", 1 "ftb", 2 "byp" }
    /// 2.6.
    LOGIC_E "Logical operation" { 0 "or", 1 "and", 2 "xor", 4 "nor", 5 "nand", 6 "xnor", 7 "byp" }
    /// 2.6.
    BIT_TEST_E "Test of bits" { 0 "z", 1 "nz" }
    /// 2.6: what the test reads.
    TEST_SRC_E "Source of the test" { 0 "ft5", 1 "ft3" }
    /// 2.6.
    SHIFT2_E "Second shift" {
        0 "lsl", 1 "shr", 2 "rol", 3 "cps", 4 "asr_twb", 5 "asr_pwb", 6 "asr_mtb", 7 "asr_ftb",
    }
    /// 2.7: which instances a branch asks.
    BPRED_E "Branch condition" { 0 "cc", 1 "allinst", 2 "anyinst" }
    /// 2.7.
    COND_E "Condition of an adjustment" { 0 "if(1)", 1 "if(p0)", 2 "if(0)", 3 "if(!p0)" }
    /// 2.7, sbo.
    TARGET_E "Base" { 0 "coeff", 1 "shared" }
    /// 2.7, ditr.
    PERSP_E "Perspective" { 0 "none", 1 "iter_mul", 2 "iter_mul_store", 3 "mul_stored" }
    /// 2.7, ditr.
    SCHED_E "Scheduling" { 0 "none", 1 "swap", 2 "wdf" }
    /// 2.7, ditr.
    INDEX_E "Index register" { 0 "none", 1 "idx0", 2 "idx1" }
    /// 2.7, itrsmp: two bits of mode.
    ITRSMP_MODE_E "Place of iteration of itrsmp" { 0 "pixel", 1 "sample", 2 "centroid" }
}

macro_rules! fields {
    ($($(#[$doc:meta])* $vis:vis $list:ident {
        $($id:ident [$($hi:literal : $lo:literal),+] $kind:expr $(, usually $usual:literal)? ;)*
    })*) => {
        $($(#[$doc])* $vis const $list: &[Field] = &[$(
            Field::new(f::$id, stringify!($id), &[$(Piece { hi: $hi, lo: $lo }),+], $kind)$(.usually($usual))?
        ),*];)*
    };
}

use Kind::{Flag, Signed, Unsigned};

fields! {
    SUM {
        MAIN_OP [7:6] Unsigned; LP [5:5] Flag; SAT [4:4] Flag; NEG0 [3:3] Flag; ABS0 [2:2] Flag; ABS1 [1:1] Flag;
        FLR0 [0:0] Flag;
    }
    MAD {
        MAIN_OP [7:5] Unsigned; EXT [4:4] Flag; NEG0 [3:3] Flag; ABS0 [2:2] Flag; NEG2 [1:1] Flag; SAT [0:0] Flag;
        LP [12:12] Flag; ABS1 [11:11] Flag; NEG1 [10:10] Flag; FLR2 [9:9] Flag; ABS2 [8:8] Flag;
    }
    SINGLE { MAIN_OP [7:5] Unsigned; EXT [4:4] Flag; CODE [3:0] Unsigned; }
    MODIFIERS { NEG0 [9:9] Flag; ABS0 [8:8] Flag; }
    GAMMAS { GAMMA [10:10] Unsigned; }
    UNPACK { ELEM [15:14] Kind::Enum(&ELEM_E); SCALE [13:13] Flag; FORMAT [12:8] Kind::Enum(&FORMAT_E); }
    REDUCE {
        PART [15:15] Kind::Enum(&PART_E); ITER [14:12] Unsigned; TRIG [11:11] Kind::Enum(&TRIG_E); PWEN [10:10] Flag;
    }
    SMALL {
        MAIN_OP [7:5] Unsigned; EXT [4:4] Flag; INT_OP [3:2] Unsigned; SIGNED [1:1] Flag;
        WIDE [0:0] Kind::Enum(&WIDE_E);
        S2CH [15:15] Kind::Enum(&HALF_E); EXT_B [14:14] Flag; NEG2 [13:13] Flag; ABS2 [12:12] Flag; ABS1 [11:11] Flag;
        NEG0 [10:10] Flag; ABS0 [9:9] Flag; SAT [8:8] Flag;
        S1CH [19:18] Kind::Enum(&ELEM_E); S0CH [17:16] Kind::Enum(&ELEM_E);
    }
    INT {
        MAIN_OP [7:5] Unsigned; EXT [4:4] Flag; SIGNED [3:3] Flag; NEG2 [2:2] Flag; INT_OP [1:0] Unsigned;
        CARRY [14:14] Flag; NEG1 [13:13] Flag; NEG0 [12:12] Flag; ABS0 [10:10] Flag; ABS1 [9:9] Flag; ABS2 [8:8] Flag;
    }
    PACKS { PROG [15:15] Flag; RTZ [14:14] Flag; SCALE [13:13] Flag; FORMAT [12:8] Kind::Enum(&FORMAT_E); }
    TESTS {
        MAIN_OP [7:5] Unsigned; EXT [4:4] Flag; TEST [8:8, 3:1] Kind::Enum(&TEST_E); PWEN [0:0] Flag;
        TYPE [15:13] Kind::Enum(&TYPE_E); P2END [12:12] Flag; ELEM [11:10] Kind::Enum(&ELEM_E);
    }
    MOVES {
        MAIN_OP [7:5] Unsigned; EXT [4:4] Flag; MOV_W1 [3:2] Kind::Enum(&FEED_E); MOV_W0 [1:0] Kind::Enum(&FEED_E);
        MASK [13:10] Unsigned, usually 15; ALWAYS [9:9] Flag; P2END [8:8] Flag;
    }
    UVSW_FIRST { BACKEND [7:5] Unsigned; DSEL [4:4] Kind::Enum(&DSEL_E); IMM [3:3] Flag; UVSW [2:0] Unsigned; }
    UVSW_ADDRESS { ADDRESS [15:8] Unsigned; }
    PORT { SRC [10:8] Kind::Enum(&SRC_E); }
    UVSW_STREAM { STREAM [9:8] Unsigned; }
    SAVED_MASK { BACKEND [7:5] Unsigned; MASK_OP [4:3] Unsigned; MASK_MODE [2:0] Kind::Enum(&MASK_MODE_E); }
    PHAS_FIRST { BACKEND [7:5] Unsigned; EXE [4:2] Kind::Enum(&SRC_E); PHAS [0:0] Unsigned; }
    PHAS_SOURCE { PARAM [10:8] Kind::Enum(&SRC_E); }
    PHAS_NUMBERS { END [1:1] Flag; RATE [15:14] Kind::Enum(&RATE_E); TEMPS [13:8] Unsigned; }
    LINKS { BACKEND [7:5] Unsigned; LINK_SRC [0:0] Kind::Enum(&DSEL_E); }
    VISIBILITY { BACKEND [7:5] Unsigned; PWEN [2:2] Flag; VISTEST [1:1] Unsigned; FEEDBACK [0:0] Unsigned; }
    ITERATE {
        BACKEND [7:5] Unsigned; PERSP [4:4] Unsigned; DRC [3:3] Unsigned; ITER_MODE [1:0] Kind::Enum(&ITER_MODE_E);
        SAT [12:12] Flag; COUNT [11:8] Unsigned;
    }
    EMIT { BACKEND [7:5] Unsigned; FREEP [1:1] Flag; }
    TRANSFER { BACKEND [7:5] Unsigned; IMM [4:4] Unsigned; DRC [3:3] Unsigned; DMA [2:0] Unsigned; }
    FENCED { ADD_SRC [10:8] Kind::Enum(&SRC_E); }
    MEMORY { ADD_SRC [15:13] Kind::Enum(&SRC_E); }
    BURST_NUMBER { BURST [16:16, 12:10] Unsigned; }
    BURST_PORT { BURST_SRC [12:10] Kind::Enum(&SRC_E); }
    LOADS { CACHE [9:8] Kind::Enum(&LD_CACHE_E); }
    /// Vendor words have it set, and nobody says what it means (section 8).
    LOAD_KEPT { KEPT [17:17] Flag; }
    STORES {
        CACHE [9:8] Kind::Enum(&ST_CACHE_E); TILED [23:23] Unsigned; DATA_SRC [22:20] Kind::Enum(&SRC_E);
        SIZE [19:18] Kind::Enum(&SIZE_E);
    }
    /// Vendor words have 5 in the kept bits (section 8).
    TILES { KEPT [31:27] Unsigned; MASK_SRC [26:24] Kind::Enum(&SRC_E); }
    SAMPLES {
        BACKEND [7:5] Unsigned; FCNORM [4:4] Flag; DRC [3:3] Unsigned; DMA [2:0] Unsigned;
        EXT_B [15:15] Flag; DIM [14:13] Kind::Enum(&DIM_E); EXT [12:12] Flag; CHANNELS [11:10] Unsigned;
        LOD [9:8] Kind::Enum(&LOD_E);
        PPLOD [23:23] Flag; PROJ [22:22] Flag; SBMODE [21:20] Kind::Enum(&SBMODE_E); NNCOORDS [19:19] Flag;
        SNO [18:18] Flag; SOO [17:17] Flag; TAO [16:16] Flag;
        EXT_C [31:31] Flag; F16 [28:28] Flag; SWAP [27:27] Flag; WRITE [24:24] Unsigned;
        DIRECT [36:36] Flag; F16_INPUT [35:35] Flag; COMPARE [34:34] Flag; INTEGER [33:33] Flag; ARRAY [32:32] Flag;
    }
    SAMPLE_READS { CACHE [26:25] Kind::Enum(&LD_CACHE_E); }
    SAMPLE_WRITES { CACHE [26:25] Kind::Enum(&ST_CACHE_E); }
    ATOMICS { ATOMIC [15:12] Kind::Enum(&ATOMIC_E); SRC [10:8] Kind::Enum(&SRC_E); DST_SRC [18:16] Kind::Enum(&SRC_E); }
    BITS {
        BIT7 [7:7] Flag; COUNT_SRC [6:6] Kind::Enum(&COUNT_SRC_E); COUNT_OP [1:1, 5:5] Kind::Enum(&COUNT_OP_E), usually 2;
        BIT_IMM [4:4] Unsigned; SHIFT1 [3:2] Unsigned; BITMASK [0:0] Unsigned;
    }
    VALUE16 { VALUE [23:8] Unsigned; }
    VALUE32 { VALUE [39:8] Unsigned; }
    LOGICAL {
        PHASE [7:6] Unsigned; MASK_B [5:5] Flag; MASK_A [3:3] Flag; LOGIC [2:0] Kind::Enum(&LOGIC_E);
    }
    SHIFTS {
        PHASE [7:6] Unsigned; PWEN [5:5] Flag; TEST_SRC [4:4] Kind::Enum(&TEST_SRC_E);
        BIT_TEST [3:3] Kind::Enum(&BIT_TEST_E); SHIFT2 [2:0] Kind::Enum(&SHIFT2_E);
    }
    CONTROL { CTRL [4:1] Unsigned; }
    WAITS { MISC [7:7] Unsigned; }
    BRANCHES {
        LINK [12:12] Flag; BPRED [11:10] Kind::Enum(&BPRED_E); ABSOLUTE [9:9] Flag; OFFSET [47:17] Signed;
    }
    CONDITIONS { ADJUST [14:13] Unsigned; COND [12:11] Kind::Enum(&COND_E); CND [10:8] Unsigned; }
    MUTEXES { MUTEX [15:14] Unsigned; ID [11:8] Unsigned; }
    BASES { TARGET [8:8] Kind::Enum(&TARGET_E); OFFSET [16:9] Unsigned; }
    ITERATE_DIRECT {
        DEST [15:8] Unsigned; COEFF [23:18] Unsigned; PERSP [17:16] Kind::Enum(&PERSP_E); W_COEFF [31:26] Unsigned;
        ITER_MODE [25:24] Kind::Enum(&ITER_MODE_E); COUNT [39:36] Unsigned; COEFF_INDEX [35:34] Kind::Enum(&INDEX_E);
        W_INDEX [33:32] Kind::Enum(&INDEX_E); F16 [46:46] Flag; SCHED [43:42] Kind::Enum(&SCHED_E); DRC [41:41] Unsigned;
        SAT [40:40] Flag;
    }
    ITERATE_SAMPLE {
        DEST [15:8] Unsigned; COEFF [23:18] Unsigned; PERSP [17:16] Kind::Enum(&PERSP_E); TEX_OFF [31:26] Unsigned;
        DRC [25:25] Unsigned; ITER_MODE [64:64, 24:24] Kind::Enum(&ITRSMP_MODE_E); SMP_OFF [39:34] Unsigned;
        DIM [33:32] Kind::Enum(&DIM_E); W_COEFF [47:42] Unsigned; PROJ [41:41] Flag; SAT [40:40] Flag;
        EXT [55:55] Flag; F16 [54:54] Flag; SCHED [53:52] Kind::Enum(&SCHED_E); CHANNELS [51:50] Unsigned;
        NNCOORDS [49:49] Flag; FCNORM [48:48] Flag;
        EXT_B [63:63] Flag; COUNT [62:59] Unsigned; COMPARE [58:58] Flag;
        COEFF_INDEX [68:67] Kind::Enum(&INDEX_E); W_INDEX [66:65] Kind::Enum(&INDEX_E);
    }
}

/// A byte at the end of a format that a shorter form leaves out.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The bit that is 1 where the byte is there.
    pub bit: u8,
    /// What the byte is where it is not there.
    pub absent: u8,
}

const fn cut(bit: u8) -> Cut {
    Cut { bit, absent: 0 }
}

macro_rules! formats {
    ($($(#[$doc:meta])* $id:ident $name:literal $bits:literal [$($part:ident),+] [$($cut:expr),*] $cite:literal;)*) => {
        $($(#[$doc])* pub static $id: Format = Format::new($name, $bits, 8, &[$($part),+], $cite);)*

        /// All formats, for documents.
        pub static FORMATS: &[&Format] = &[$(&$id),*];

        /// The bytes that shorter forms of a format leave out, in the order of memory.
        pub fn cuts(format: &Format) -> &'static [Cut] {
            // Most formats have none and are not asked for.
            $(if const { !<[Cut]>::is_empty(&[$($cut),*]) } && std::ptr::eq(format, &$id) {
                return const { &[$($cut),*] };
            })*
            &[]
        }

        /// Bits of an operation's first byte that say of some format that bytes are left out.
        pub const FIRST_CUTS: u8 = {
            let cuts: &[Cut] = &[$($($cut,)*)*];
            let (mut bits, mut at) = (0, 0);
            while at < cuts.len() {
                if cuts[at].bit < 8 {
                    bits |= 1 << cuts[at].bit;
                }
                at += 1;
            }
            bits
        };
    };
}

formats! {
    FADD "Sum or product" 8 [SUM] [] "2.1";
    FMAD "Multiply and add" 16 [MAD] [cut(4)] "2.1";
    SNGL "One source" 16 [SINGLE, MODIFIERS] [cut(4)] "2.1";
    GAMMA "Gamma" 16 [SINGLE, MODIFIERS, GAMMAS] [cut(4)] "2.1";
    UPCK "Unpack" 16 [SINGLE, UNPACK] [] "2.1";
    FRED "Range reduction" 16 [SINGLE, MODIFIERS, REDUCE] [] "2.1";
    INT8_16 "Small integers" 24 [SMALL] [cut(4), cut(14)] "2.1";
    INT32_64 "Integers" 16 [INT] [cut(4)] "2.1";
    PCK "Pack" 16 [SINGLE, PACKS] [] "2.1";
    TST "Test" 16 [TESTS] [cut(4)] "2.1";
    /// That the short form moves all four bytes is an assumption [A].
    MOVC "Move" 16 [MOVES] [Cut { bit: 4, absent: 0x3c }] "2.1";
    UVSW "Output" 8 [UVSW_FIRST] [] "2.8";
    UVSW_PORT "Output at a register's address" 16 [UVSW_FIRST, PORT] [] "2.8";
    UVSW_IMM "Output at an address" 16 [UVSW_FIRST, UVSW_ADDRESS] [] "2.8";
    UVSW_CUT "Output to a stream" 16 [UVSW_FIRST, UVSW_STREAM] [] "2.8";
    MSK "Mask" 8 [SAVED_MASK] [] "2.8";
    MSK_PORT "Mask of a register" 16 [SAVED_MASK, PORT] [] "2.8";
    PHAS_REG "Phase change by registers" 16 [PHAS_FIRST, PHAS_SOURCE] [] "2.8";
    PHAS_IMM "Phase change" 16 [PHAS_FIRST, PHAS_NUMBERS] [] "2.8";
    SETL "Link" 8 [LINKS] [] "2.8";
    VIST "Visibility" 8 [VISIBILITY] [] "2.8";
    FITR "Iteration" 16 [ITERATE] [] "2.8";
    EMITPIX "Pixel" 8 [EMIT] [] "2.8";
    IDF "Fence" 16 [TRANSFER, FENCED] [] "2.8";
    LD "Load" 24 [TRANSFER, MEMORY, BURST_NUMBER, LOADS, LOAD_KEPT] [] "2.8";
    LD_REG "Load of as many words as a register says" 16 [TRANSFER, MEMORY, BURST_PORT, LOADS] [] "2.8";
    ST "Store" 24 [TRANSFER, MEMORY, BURST_NUMBER, STORES] [] "2.8";
    ST_REG "Store of as many elements as a register says" 24 [TRANSFER, MEMORY, BURST_PORT, STORES] [] "2.8";
    ST_TILED "Store to a tile" 32 [TRANSFER, MEMORY, BURST_NUMBER, STORES, TILES] [] "2.8";
    ST_TILED_REG "Store to a tile of as many elements as a register says" 32
        [TRANSFER, MEMORY, BURST_PORT, STORES, TILES] [] "2.8";
    SMP "Sample" 40 [SAMPLES, SAMPLE_READS] [cut(12), cut(15), cut(31)] "2.9";
    SMP_WRITE "Texture write" 40 [SAMPLES, SAMPLE_WRITES] [cut(12), cut(15), cut(31)] "2.9";
    ATOM "Atomic" 24 [TRANSFER, ATOMICS] [] "2.8";
    BIT0 "Bitwise phase 0" 8 [BITS] [] "2.6";
    BIT0_16 "Bitwise phase 0 with 16 bits" 24 [BITS, VALUE16] [] "2.6";
    BIT0_32 "Bitwise phase 0 with 32 bits" 40 [BITS, VALUE32] [] "2.6";
    BIT1 "Bitwise phase 1" 8 [LOGICAL] [] "2.6";
    BIT2 "Bitwise phase 2" 8 [SHIFTS] [] "2.6";
    /// The first byte of the formats of control operations stands for the header's third byte.
    CTRL "Control" 8 [CONTROL] [] "2.7";
    CTRL_WAIT "Wait" 8 [CONTROL, WAITS] [] "2.7";
    /// Its byte is 0.
    CTRL_NOP "No operation" 16 [CONTROL] [] "2.7";
    BRANCH "Branch" 48 [CONTROL, BRANCHES] [] "2.7";
    CND "Execution mask" 16 [CONTROL, CONDITIONS] [] "2.7";
    MUTEX "Mutex" 16 [CONTROL, MUTEXES] [] "2.7";
    SBO "Base of a bank" 24 [CONTROL, BASES] [] "2.7";
    DITR "Iteration of coefficients" 48 [CONTROL, ITERATE_DIRECT] [] "2.7";
    ITRSMP "Iteration and sample" 72 [CONTROL, ITERATE_SAMPLE] [cut(55), cut(63)] "2.7, the public compiler";
}
