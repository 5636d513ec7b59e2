//! Every instruction of Gen4 and G45 in the order of its opcode, with the manual's name and a citation a row. This is the
//! one place that says which opcode an instruction has and how its text reads.
//!
//! Citations are sections of the G45 manual, volume 4; `E1` is a number in ERRATA.md.

use super::fields::{self as l, f};
use gpucc_isa::{Op, OpId, Table};

/// Flags of the rows.
pub mod flag {
    /// G45 alone has it. 13.3.1, 13.3.4, 13.3.5.
    pub const G45: u32 = 1 << 0;
    /// Never writes an accumulator by itself, and cannot be compressed: flow control and messages. 13.3.1, 13.3.2.
    pub const CONTROL: u32 = 1 << 1;
    /// Writes an accumulator by itself. 13.3.3, 13.3.4.
    pub const ACCUMULATES: u32 = 1 << 2;
    /// Reads floats alone. 14.2.
    pub const FLOAT: u32 = 1 << 3;
    /// Reads integers alone. 14.2.
    pub const INTEGER: u32 = 1 << 4;
    /// Cannot be compressed though its group can. 14.2.26, 14.2.41, 14.2.42.
    pub const UNCOMPRESSED: u32 = 1 << 5;

    /// Names, for documents.
    pub const NAMES: &[(u32, &str)] = &[
        (G45, "G45 alone"),
        (CONTROL, "control"),
        (ACCUMULATES, "writes acc"),
        (FLOAT, "float sources"),
        (INTEGER, "integer sources"),
        (UNCOMPRESSED, "not compressed"),
    ];
}

/// How the text of an instruction reads.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Destination and one source.
    Unary,
    /// Destination and two sources.
    Binary,
    /// `Jump: N`, and `Pop: N` where it is said or not 0. The operands are implied.
    Branch { jump: bool, pop: bool },
    /// All operands are implied.
    Do,
    /// The second source alone; the others are implied.
    Jump,
    /// Message register, destination, source, descriptor.
    Send,
    /// The destination, which the source repeats.
    Wait,
    /// Nothing.
    Special,
}

macro_rules! ops {
    ($($variant:ident $name:literal $opcode:literal $format:ident ($shape:expr) [$($flag:ident)*] $sources:literal $cite:literal;)*) => {
        /// A row.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Opcode { $($variant),* }

        impl Opcode {
            /// All rows in order.
            pub const ALL: &[Opcode] = &[$(Opcode::$variant),*];

            /// The row of an instruction of this table.
            pub fn of(op: &Op) -> Opcode {
                Opcode::ALL[usize::from(op.id.0)]
            }

            /// How its text reads.
            pub fn shape(self) -> Shape {
                const SHAPES: &[Shape] = &[$($shape),*];
                SHAPES[self as usize]
            }
        }

        /// The rows.
        pub static OPS: &[Op] = &[$(Op {
            flags: 0 $(| flag::$flag)*,
            sources: $sources,
            cite: $cite,
            ..Op::new(OpId(Opcode::$variant as u16), $name, &l::$format, &[(f::OPCODE, $opcode)])
        }),*];
    };
}

use Shape::{Binary, Branch, Send, Special, Unary};

ops! {
    Illegal "illegal" 0x00 SPECIAL (Special) [] 0 "13.3.5";
    Mov "mov" 0x01 UNARY (Unary) [] 1 "14.2.25";
    Sel "sel" 0x02 BINARY (Binary) [] 2 "14.2.43";
    Movi "movi" 0x03 UNARY (Unary) [G45 UNCOMPRESSED] 1 "14.2.26";
    Not "not" 0x04 UNARY (Unary) [INTEGER] 1 "14.2.32";
    And "and" 0x05 BINARY (Binary) [INTEGER] 2 "14.2.2";
    Or "or" 0x06 BINARY (Binary) [INTEGER] 2 "14.2.33";
    Xor "xor" 0x07 BINARY (Binary) [INTEGER] 2 "14.2.49";
    Shr "shr" 0x08 BINARY (Binary) [INTEGER] 2 "14.2.46";
    Shl "shl" 0x09 BINARY (Binary) [INTEGER] 2 "14.2.45";
    Asr "asr" 0x0c BINARY (Binary) [INTEGER] 2 "14.2.3";
    Cmp "cmp" 0x10 BINARY (Binary) [] 2 "14.2.6";
    Cmpn "cmpn" 0x11 BINARY (Binary) [] 2 "14.2.7";
    Jmpi "jmpi" 0x20 BINARY (Shape::Jump) [CONTROL] 1 "14.2.20, E6";
    If "if" 0x22 BRANCH (Branch { jump: true, pop: false }) [CONTROL] 1 "14.2.18";
    Iff "iff" 0x23 BRANCH (Branch { jump: true, pop: false }) [CONTROL] 1 "14.2.19";
    Else "else" 0x24 BRANCH (Branch { jump: true, pop: true }) [CONTROL] 1 "14.2.14";
    Endif "endif" 0x25 BRANCH (Branch { jump: false, pop: true }) [CONTROL] 1 "14.2.15, E5";
    Do "do" 0x26 BINARY (Shape::Do) [CONTROL] 0 "14.2.9";
    While "while" 0x27 BRANCH (Branch { jump: true, pop: false }) [CONTROL] 1 "14.2.48";
    Break "break" 0x28 BRANCH (Branch { jump: true, pop: true }) [CONTROL] 1 "14.2.5";
    Cont "cont" 0x29 BRANCH (Branch { jump: true, pop: true }) [CONTROL] 1 "14.2.8";
    Halt "halt" 0x2a BRANCH (Branch { jump: true, pop: false }) [CONTROL] 1 "14.2.17";
    Msave "msave" 0x2c UNARY (Unary) [CONTROL INTEGER] 1 "14.2.28";
    Mrest "mrest" 0x2d UNARY (Unary) [CONTROL INTEGER] 1 "14.2.27";
    Push "push" 0x2e UNARY (Unary) [CONTROL INTEGER] 1 "14.2.36, E7";
    Pop "pop" 0x2f BINARY (Binary) [CONTROL INTEGER] 2 "14.2.35, E8";
    Wait "wait" 0x30 UNARY (Shape::Wait) [CONTROL] 1 "14.2.47";
    Send "send" 0x31 SEND (Send) [CONTROL] 1 "14.2.44";
    Add "add" 0x40 BINARY (Binary) [ACCUMULATES] 2 "14.2.1";
    Mul "mul" 0x41 BINARY (Binary) [ACCUMULATES] 2 "14.2.29";
    Avg "avg" 0x42 BINARY (Binary) [ACCUMULATES INTEGER] 2 "14.2.4";
    Frc "frc" 0x43 UNARY (Unary) [ACCUMULATES FLOAT] 1 "14.2.16";
    Rndu "rndu" 0x44 UNARY (Unary) [ACCUMULATES FLOAT] 1 "14.2.38";
    Rndd "rndd" 0x45 UNARY (Unary) [ACCUMULATES FLOAT] 1 "14.2.37";
    Rnde "rnde" 0x46 UNARY (Unary) [ACCUMULATES FLOAT] 1 "14.2.39";
    Rndz "rndz" 0x47 UNARY (Unary) [ACCUMULATES FLOAT] 1 "14.2.40";
    Mac "mac" 0x48 BINARY (Binary) [ACCUMULATES] 2 "14.2.23";
    Mach "mach" 0x49 BINARY (Binary) [ACCUMULATES INTEGER] 2 "14.2.24";
    Lzd "lzd" 0x4a UNARY (Unary) [ACCUMULATES INTEGER] 1 "14.2.22";
    Sad2 "sad2" 0x50 BINARY (Binary) [ACCUMULATES INTEGER UNCOMPRESSED] 2 "14.2.41";
    Sada2 "sada2" 0x51 BINARY (Binary) [ACCUMULATES INTEGER UNCOMPRESSED] 2 "14.2.42";
    Dp4 "dp4" 0x54 BINARY (Binary) [ACCUMULATES FLOAT] 2 "14.2.12";
    Dph "dph" 0x55 BINARY (Binary) [ACCUMULATES FLOAT] 2 "14.2.13";
    Dp3 "dp3" 0x56 BINARY (Binary) [ACCUMULATES FLOAT] 2 "14.2.11";
    Dp2 "dp2" 0x57 BINARY (Binary) [ACCUMULATES FLOAT] 2 "14.2.10";
    Line "line" 0x59 BINARY (Binary) [ACCUMULATES] 2 "14.2.21";
    Pln "pln" 0x5a BINARY (Binary) [G45 ACCUMULATES FLOAT] 2 "14.2.34";
    Nenop "nenop" 0x7d SPECIAL (Special) [G45] 0 "14.2.30, 11.6.3";
    Nop "nop" 0x7e SPECIAL (Special) [] 0 "14.2.31";
}

/// The rows of G45.
pub static G45: Table = Table::new("g45", OPS);
/// The rows of the 965.
pub static GEN4: Table = Table::new("gen4", OPS).without(flag::G45);

macro_rules! operands {
    ($($(#[$doc:meta])* $table:ident $rows:ident $name:literal $direct:literal $indirect:literal $d:ident $i:ident;)*) => {
        $(
            static $rows: &[Op] = &[
                Op { cite: "13.2.1", ..Op::new(OpId(0), $direct, &l::$d, &[(f::ADDR_MODE, 0)]) },
                Op { cite: "13.2.1", ..Op::new(OpId(1), $indirect, &l::$i, &[(f::ADDR_MODE, 1)]) },
            ];
            $(#[$doc])*
            pub static $table: Table = Table::new($name, $rows);
        )*
    };
}

operands! {
    /// Destinations of Align1.
    DST_ALIGN1 DST_ALIGN1_ROWS "destination of align1" "destination" "indirect destination" DST_D DST_I;
    /// Destinations of Align16.
    DST_ALIGN16 DST_ALIGN16_ROWS "destination of align16" "align16 destination" "indirect align16 destination" DST16_D DST16_I;
    /// Sources of Align1.
    SRC_ALIGN1 SRC_ALIGN1_ROWS "source of align1" "source" "indirect source" SRC_D SRC_I;
    /// Sources of Align16.
    SRC_ALIGN16 SRC_ALIGN16_ROWS "source of align16" "align16 source" "indirect align16 source" SRC16_D SRC16_I;
}

/// The tables of operands, for documents and coverage.
pub static OPERAND_TABLES: [&Table; 4] = [&DST_ALIGN1, &DST_ALIGN16, &SRC_ALIGN1, &SRC_ALIGN16];
