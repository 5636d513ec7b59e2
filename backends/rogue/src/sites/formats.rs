//! The parts of a group as formats of their own: header, words of sources and destinations, selectors, and operations as long
//! as they stand there. A part begins at a byte, and bits count from there. isa/rogue-pipeline.md 1.
//!
//! `FORM` has the bits that say how long a part is, `LENGTH` and `ASSIST` how long the group is: they say where the rest lies and
//! not what it does, and a reader who believes them reads something else.

use crate::isa::fields as isa;
use gpucc_isa::{Field, Format, Kind, Op, OpId, Piece};

macro_rules! ids {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names of the constants")]
        enum Number { $($name),* }
        $(pub const $name: FieldId = FieldId(Number::$name as u8);)*
    };
}

/// Names of the fields of these formats.
pub mod id {
    use gpucc_isa::FieldId;
    ids! {
        ASSIST LENGTH LONG FORM PHASES CHECK W1 W0 CONDITION END ALU ATOM REPEAT CONTROL
        BANK0 INDEX0 BANK1 INDEX1 BANK2 INDEX2 MUX IS1 IS2 IS3 IS4 IS5
        OPERATION EXT NEG0 ABS0 NEG2 SAT CODE SIGNED INT_OP TEST PWEN MOV_W0 MOV_W1
        FCNORM DRC DMA BACKEND EXT_A EXT_B DIM CHANNELS LOD PPLOD PROJ SBMODE NNCOORDS SNO SOO TAO
        EXT_C F16 SWAP CACHE WRITE
        LINK BPRED ABSOLUTE OFFSET ADJUST COND CND MUTEX MUTEX_ID TARGET BASE
        DEST COEFF PERSP W_COEFF ITER_MODE COUNT COEFF_INDEX W_INDEX SCHED
    }
}

use Kind::Unsigned;

macro_rules! parts {
    ($($part:ident { $($id:ident [$($hi:literal : $lo:literal),+];)* })*) => {
        $(const $part: &[Field] = &[$(
            Field::new(id::$id, stringify!($id), &[$(Piece { hi: $hi, lo: $lo }),+], Unsigned)
        ),*];)*
    };
}

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident $name:literal $bits:literal [$($part:ident),+];)*) => {
        $($(#[$doc])* pub static $row: Op = {
            static FORMAT: Format = Format::new($name, $bits, 8, &[$($part),+], "1");
            Op::new(OpId(0), $name, &FORMAT, &[])
        };)*
    };
}

parts! {
    BEGIN { ASSIST [7:4]; LENGTH [3:0]; LONG [15:15]; CHECK [11:11]; W1 [10:10]; W0 [9:9]; }
    BRIEF { PHASES [14:12]; CONDITION [8:8]; }
    FULL {
        PHASES [14:12]; CONDITION [16:16, 8:8]; END [23:23]; ALU [22:21]; ATOM [19:19]; REPEAT [18:17];
    }
    CONTROLS { CONDITION [16:16, 8:8]; END [23:23]; ALU [22:21]; CONTROL [20:17]; }
    ONE { FORM [7:7]; BANK0 [6:6]; INDEX0 [5:0]; }
    TWO { FORM [15:14, 7:7]; BANK0 [6:6]; INDEX0 [5:0]; BANK1 [13:13]; INDEX1 [12:8]; }
    ONE_LONG { FORM [15:14, 7:7]; BANK0 [11:10, 6:6]; INDEX0 [18:16, 9:8, 5:0]; }
    SECOND { FORM [23:23, 15:14, 7:7]; INDEX1 [17:16, 12:8]; BANK1 [19:19, 13:13]; }
    TWO_MORE { BANK0 [20:20, 6:6]; INDEX0 [18:18, 5:0]; }
    TWO_LONG {
        FORM [23:23, 15:14, 7:7]; BANK0 [27:27, 20:20, 6:6]; INDEX0 [31:29, 25:25, 18:18, 5:0]; BANK1 [19:19, 13:13];
        INDEX1 [24:24, 17:16, 12:8];
    }
    THIRD { BANK2 [31:30]; INDEX2 [29:24]; }
    THREE_MORE {
        FORM [34:34, 23:23, 15:14, 7:7]; BANK0 [35:35, 20:20, 6:6]; BANK1 [19:19, 13:13];
        INDEX1 [32:32, 17:16, 12:8];
    }
    A8 { INDEX0 [33:33, 18:18, 5:0]; }
    A11 { INDEX0 [42:40, 33:33, 18:18, 5:0]; }
    C8 { BANK2 [39:39, 31:30]; INDEX2 [38:37, 29:24]; }
    C8_UPPER { BANK2 [31:30]; INDEX2 [38:37, 29:24]; }
    C11 { BANK2 [39:39, 31:30]; INDEX2 [45:43, 38:37, 29:24]; }
    MUX_ONE { MUX [13:12]; }
    MUX_TWO { MUX [22:21]; }
    MUX_TWO_LONG { MUX [28:28, 22:21]; }
    MUX_THREE { MUX [36:36, 22:21]; }
    DESTINED_LONG { FORM [7:7]; BANK0 [11:10, 6:6]; INDEX0 [14:12, 9:8, 5:0]; }
    PAIR { FORM [15:15]; BANK0 [7:7]; INDEX0 [6:0]; BANK1 [14:14]; INDEX1 [13:8]; }
    PAIR_MORE {
        FORM [23:23, 15:15]; BANK0 [18:17, 7:7]; INDEX0 [16:16, 6:0]; BANK1 [22:21, 14:14]; INDEX1 [20:19, 13:8];
    }
    PAIR_LONG {
        FORM [23:23, 15:15]; BANK0 [18:17, 7:7]; INDEX0 [26:24, 16:16, 6:0]; BANK1 [22:21, 14:14];
        INDEX1 [29:27, 20:19, 13:8];
    }
    SELECTORS { IS5 [7:6]; IS4 [5:4]; IS3 [3:2]; IS2 [1:1]; IS1 [0:0]; }
    MAD { OPERATION [7:5]; EXT [4:4]; NEG0 [3:3]; ABS0 [2:2]; NEG2 [1:1]; SAT [0:0]; }
    SINGLE { OPERATION [7:5]; EXT [4:4]; CODE [3:0]; }
    INT { OPERATION [7:5]; EXT [4:4]; SIGNED [3:3]; NEG2 [2:2]; INT_OP [1:0]; }
    TESTS { OPERATION [7:5]; EXT [4:4]; TEST [3:1]; PWEN [0:0]; }
    MOVES { OPERATION [7:5]; EXT [4:4]; MOV_W1 [3:2]; MOV_W0 [1:0]; }
    SAMPLE {
        BACKEND [7:5]; FCNORM [4:4]; DRC [3:3]; DMA [2:0]; EXT_B [15:15]; DIM [14:13]; EXT_A [12:12]; CHANNELS [11:10];
        LOD [9:8];
    }
    SAMPLE_A {
        PPLOD [23:23]; PROJ [22:22]; SBMODE [21:20]; NNCOORDS [19:19]; SNO [18:18]; SOO [17:17]; TAO [16:16];
    }
    SAMPLE_B { EXT_C [31:31]; F16 [28:28]; SWAP [27:27]; CACHE [26:25]; WRITE [24:24]; }
    BRANCHES { LINK [4:4]; BPRED [3:2]; ABSOLUTE [1:1]; OFFSET [39:9]; }
    CONDITIONS { ADJUST [6:5]; COND [4:3]; CND [2:0]; }
    MUTEXES { MUTEX [7:6]; MUTEX_ID [3:0]; }
    BASES { TARGET [0:0]; BASE [8:1]; }
    ITERATE {
        DEST [7:0]; COEFF [15:10]; PERSP [9:8]; W_COEFF [23:18]; ITER_MODE [17:16]; COUNT [31:28]; COEFF_INDEX [27:26];
        W_INDEX [25:24]; F16 [38:38]; SCHED [35:34]; DRC [33:33]; SAT [32:32];
    }
}

rows! {
    /// Headers. 1.1.
    HEADER_BRIEF "Header of two bytes" 16 [BEGIN, BRIEF];
    HEADER_FULL "Header" 24 [BEGIN, FULL];
    HEADER_CONTROL "Header of control" 24 [BEGIN, CONTROLS];
    /// Words of sources. 1.2.
    SOURCE_1 "Source of a byte" 8 [ONE];
    SOURCE_2 "Sources of two bytes" 16 [TWO];
    LOWER_1_LONG "Lower source" 24 [ONE_LONG, MUX_ONE];
    UPPER_1_LONG "Upper source" 24 [ONE_LONG];
    LOWER_2_MORE "Two lower sources" 24 [SECOND, TWO_MORE, MUX_TWO];
    UPPER_2_MORE "Two upper sources" 24 [SECOND, TWO_MORE];
    LOWER_2_LONG "Two long lower sources" 32 [TWO_LONG, MUX_TWO_LONG];
    UPPER_2_LONG "Two long upper sources" 32 [TWO_LONG];
    LOWER_3 "Three lower sources" 32 [SECOND, TWO_MORE, THIRD, MUX_TWO];
    UPPER_3 "Three upper sources" 32 [SECOND, TWO_MORE, THIRD];
    LOWER_3_MORE "Three lower sources of five bytes" 40 [THREE_MORE, A8, C8, MUX_THREE];
    UPPER_3_MORE "Three upper sources of five bytes" 40 [THREE_MORE, A8, C8_UPPER];
    LOWER_3_LONG "Three long lower sources" 48 [THREE_MORE, A11, C11, MUX_THREE];
    UPPER_3_LONG "Three long upper sources" 48 [THREE_MORE, A11, C8_UPPER];
    /// Words of destinations. 1.4.
    DESTINATION_1 "Destination of a byte" 8 [ONE];
    DESTINATION_2 "Destination" 16 [DESTINED_LONG];
    DESTINATIONS_2 "Destinations of two bytes" 16 [PAIR];
    DESTINATIONS_3 "Destinations of three bytes" 24 [PAIR_MORE];
    DESTINATIONS_4 "Long destinations" 32 [PAIR_LONG];
    /// 1.3.
    SELECTOR "Selectors" 8 [SELECTORS];
    /// Short forms of operations. 2.1, 2.9.
    MAD_1 "Short multiply and add" 8 [MAD];
    SINGLE_1 "Short operation of one source" 8 [SINGLE];
    INT_1 "Short integers" 8 [INT];
    TEST_1 "Short test" 8 [TESTS];
    MOVE_1 "Short move" 8 [MOVES];
    SAMPLE_2 "Sample of two bytes" 16 [SAMPLE];
    SAMPLE_3 "Sample of three bytes" 24 [SAMPLE, SAMPLE_A];
    SAMPLE_4 "Sample of four bytes" 32 [SAMPLE, SAMPLE_A, SAMPLE_B];
    /// Operations of control behind the header. 2.7.
    BRANCH_5 "Branch behind its header" 40 [BRANCHES];
    CONDITION_1 "Execution mask behind its header" 8 [CONDITIONS];
    MUTEX_1 "Mutex behind its header" 8 [MUTEXES];
    BASE_2 "Base behind its header" 16 [BASES];
    ITERATE_5 "Iteration behind its header" 40 [ITERATE];
}

/// The words of S0 to S2 in the order of [`crate::isa::word::LOWER`].
pub static LOWER: [&Op; 8] = [
    &SOURCE_1,
    &SOURCE_2,
    &LOWER_1_LONG,
    &LOWER_2_MORE,
    &LOWER_2_LONG,
    &LOWER_3,
    &LOWER_3_MORE,
    &LOWER_3_LONG,
];

/// The words of S3 to S5 in the order of [`crate::isa::word::UPPER`].
pub static UPPER: [&Op; 8] = [
    &SOURCE_1,
    &SOURCE_2,
    &UPPER_1_LONG,
    &UPPER_2_MORE,
    &UPPER_2_LONG,
    &UPPER_3,
    &UPPER_3_MORE,
    &UPPER_3_LONG,
];

/// The word of one destination, of two.
pub static DESTINATION: [&Op; 2] = [&DESTINATION_1, &DESTINATION_2];
pub static DESTINATIONS: [&Op; 3] = [&DESTINATIONS_2, &DESTINATIONS_3, &DESTINATIONS_4];

/// The row of an operation's format with so many bytes, where shorter forms of it are.
pub fn short(format: &Format, bytes: usize) -> Option<&'static Op> {
    let is = |known: &Format| std::ptr::eq(format, known);
    Some(match bytes {
        1 if is(&isa::FMAD) => &MAD_1,
        1 if is(&isa::SNGL) => &SINGLE_1,
        1 if is(&isa::INT32_64) => &INT_1,
        1 if is(&isa::TST) => &TEST_1,
        1 if is(&isa::MOVC) => &MOVE_1,
        2 if is(&isa::SMP) || is(&isa::SMP_WRITE) => &SAMPLE_2,
        3 if is(&isa::SMP) || is(&isa::SMP_WRITE) => &SAMPLE_3,
        4 if is(&isa::SMP) || is(&isa::SMP_WRITE) => &SAMPLE_4,
        _ => return None,
    })
}

/// The row of an operation of control behind its header.
pub fn control(format: &Format) -> Option<&'static Op> {
    let is = |known: &Format| std::ptr::eq(format, known);
    let rows: [(&Format, &'static Op); 5] = [
        (&isa::BRANCH, &BRANCH_5),
        (&isa::CND, &CONDITION_1),
        (&isa::MUTEX, &MUTEX_1),
        (&isa::SBO, &BASE_2),
        (&isa::DITR, &ITERATE_5),
    ];
    rows.into_iter().find(|(known, _)| is(known)).map(|(_, row)| row)
}
