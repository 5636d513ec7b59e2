//! Every operation of a group, a row each, by the place in which it stands: what it is called, which bits tell it from
//! others, how its text reads. Tables, text and documents follow from these rows and from [`super::fields`].
//!
//! Names are those that the public compiler prints, where it prints one. Sections are those of the pipeline page.

use super::fields::{self as l, f};
use gpucc_isa::{FieldId, Op, OpId, Table};

/// A modifier behind the name of an operation, each with its dot.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mod {
    /// This word where the flag is 1.
    Flag(FieldId, &'static str),
    /// The value's name.
    Name(FieldId),
    /// The value's name where it is another than this.
    Unless(FieldId, u32),
    /// The bytes of a register that are moved, where these are not all: `.e0.e2`, or `.none`.
    Bytes(FieldId),
    /// `.kept(N)` where reserved bits are not 0.
    Kept(FieldId),
    /// `.WORD(idxN)` where an index register is added.
    Index(FieldId, &'static str),
}

/// Modifiers of a source; absent ones are `None`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Modifiers {
    pub flr: Option<FieldId>,
    pub abs: Option<FieldId>,
    pub neg: Option<FieldId>,
    pub lane: Option<FieldId>,
}

/// An operand as the text has it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// This word, which says nothing.
    Text(&'static str),
    /// The result of the phase: `ft0` in phase 0, `ft1` in phase 1.
    Ft,
    /// The source of this number; in phase 1 three more.
    Src(u8, Modifiers),
    /// This source in every phase.
    Port(u8),
    /// The source that a field names.
    PortOf(FieldId),
    /// One word where the flag is 1, another where it is 0.
    If(FieldId, &'static str, &'static str),
    /// The second operand of a test, `_` where the test has one.
    Second,
    /// The source of a pack, `_` where the format is a constant.
    Packed,
    /// Both choices of a move.
    Moved,
    /// A number.
    Number(FieldId),
    /// A number whose value 0 is the one beyond the field's greatest.
    Count(FieldId),
    /// A number that the field holds less one.
    Plus(FieldId),
    /// `drcN`.
    Drc(FieldId),
    /// A hexadecimal number.
    Hex(FieldId),
    /// A register: its prefix, and registers in a unit of the field.
    Register(&'static str, u8, FieldId),
    /// Where a branch goes.
    Target,
}

/// How the text of an operation reads.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Syntax {
    pub mods: &'static [Mod],
    pub args: &'static [Arg],
}

macro_rules! table {
    ($(#[$doc:meta])* $rows:ident $table:ident $kind:ident $title:literal {
        $($variant:ident $name:literal $(/ $alias:literal)* $format:ident [$($field:ident $value:literal),*]
            [$($mods:expr),*] [$($args:expr),*] $cite:literal;)*
    }) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs, reason = "a row's name is the variant's")]
        pub enum $kind { $($variant),* }

        impl $kind {
            /// All rows in order.
            pub const ALL: &[$kind] = &[$($kind::$variant),*];

            /// The row of an operation of this table.
            pub fn of(op: &Op) -> $kind {
                $kind::ALL[usize::from(op.id.0)]
            }

            /// The operation.
            pub fn op(self) -> &'static Op {
                &$rows[self as usize]
            }
        }

        static $rows: &[Op] = &[$(Op {
            aliases: &[$($alias),*],
            cite: $cite,
            ..Op::new(OpId($kind::$variant as u16), $name, &l::$format, &[$((f::$field, $value)),*])
        }),*];

        $(#[$doc])*
        pub static $table: Table = Table::new($title, $rows);

        impl $kind {
            /// How its text reads.
            pub fn syntax(self) -> Syntax {
                const SYNTAX: &[Syntax] = &[$(Syntax { mods: &[$($mods),*], args: &[$($args),*] }),*];
                SYNTAX[self as usize]
            }
        }
    };
}

use Arg::{
    Count, Drc, Ft, Hex, If, Moved, Number, Packed, Plus, Port, PortOf, Register, Second, Src,
    Target, Text,
};
use Mod::{Bytes, Flag, Index, Kept, Name, Unless};

const NONE: Modifiers = Modifiers { flr: None, abs: None, neg: None, lane: None };
const S0: Arg = Src(0, Modifiers { abs: Some(f::ABS0), neg: Some(f::NEG0), ..NONE });
const S0_FLR: Arg =
    Src(0, Modifiers { flr: Some(f::FLR0), abs: Some(f::ABS0), neg: Some(f::NEG0), ..NONE });
const S0_PLAIN: Arg = Src(0, NONE);
const S1: Arg = Src(1, Modifiers { abs: Some(f::ABS1), neg: Some(f::NEG1), ..NONE });
const S1_ABS: Arg = Src(1, Modifiers { abs: Some(f::ABS1), ..NONE });
const S2: Arg = Src(2, Modifiers { abs: Some(f::ABS2), neg: Some(f::NEG2), ..NONE });
const S2_FLR: Arg =
    Src(2, Modifiers { flr: Some(f::FLR2), abs: Some(f::ABS2), neg: Some(f::NEG2), ..NONE });
const L0: Arg =
    Src(0, Modifiers { abs: Some(f::ABS0), neg: Some(f::NEG0), lane: Some(f::S0CH), ..NONE });
const L1: Arg = Src(1, Modifiers { abs: Some(f::ABS1), lane: Some(f::S1CH), ..NONE });
const L2: Arg =
    Src(2, Modifiers { abs: Some(f::ABS2), neg: Some(f::NEG2), lane: Some(f::S2CH), ..NONE });
const P0: Arg = If(f::PWEN, "p0", "_");
const CARRY: Arg = If(f::CARRY, "p0", "_");
const W0: Arg = Text("w0");
const FTE: Arg = Text("fte");
const IS0: Arg = Text("is0");
const LP: Mod = Flag(f::LP, "lp");
const SAT: Mod = Flag(f::SAT, "sat");
const SIGNED: Mod = Flag(f::SIGNED, "s");

table! {
    /// Phases 0 and 1 of a main group. 2.1, 2.2, 2.5.
    MAIN_ROWS MAIN Main "main" {
        Fadd "fadd" FADD [MAIN_OP 0] [LP, SAT] [Ft, S0_FLR, S1_ABS] "2.1, 2.2";
        Fmul "fmul" / "mul" FADD [MAIN_OP 1] [LP, SAT] [Ft, S0_FLR, S1_ABS] "2.1, 2.2";
        Fmad "fmad" / "mad" FMAD [MAIN_OP 6, EXT 1] [LP, SAT] [Ft, S0, S1, S2_FLR] "2.1, 2.2";
        Frcp "frcp" SNGL [MAIN_OP 4, EXT 1, CODE 0] [] [W0, S0] "2.1, 2.2";
        Frsq "frsq" SNGL [MAIN_OP 4, EXT 1, CODE 1] [] [W0, S0] "2.1, 2.2";
        Flog "flog" SNGL [MAIN_OP 4, EXT 1, CODE 2] [] [W0, S0] "2.1, 2.2";
        Fexp "fexp" SNGL [MAIN_OP 4, EXT 1, CODE 3] [] [W0, S0] "2.1, 2.2";
        F16sop "f16sop" SNGL [MAIN_OP 4, EXT 1, CODE 4] [] [Ft, S0] "2.1, 2.2";
        Flogcn "flogcn" SNGL [MAIN_OP 4, EXT 1, CODE 5] [] [W0, S0] "2.1, 2.2";
        Gcmp "gcmp" GAMMA [MAIN_OP 4, EXT 1, CODE 6, GAMMA 0] [] [W0, S0] "2.1, 2.2";
        Gexp "gexp" GAMMA [MAIN_OP 4, EXT 1, CODE 6, GAMMA 1] [] [W0, S0] "2.1, 2.2";
        Mbyp "mbyp" / "mbyp0" / "mbyp1" SNGL [MAIN_OP 4, EXT 1, CODE 7] [] [Ft, S0] "2.1, 2.2";
        Fdsx "fdsx" SNGL [MAIN_OP 4, EXT 1, CODE 8] [] [Ft, S0] "2.1, 2.2";
        Fdsy "fdsy" SNGL [MAIN_OP 4, EXT 1, CODE 9] [] [Ft, S0] "2.1, 2.2";
        Fdsxf "fdsxf" SNGL [MAIN_OP 4, EXT 1, CODE 10] [] [Ft, S0] "0.6, 2.2";
        Fdsyf "fdsyf" SNGL [MAIN_OP 4, EXT 1, CODE 11] [] [Ft, S0] "0.6, 2.2";
        Unpck "unpck" UPCK [MAIN_OP 4, EXT 1, CODE 12] [Unless(f::ELEM, 0), Flag(f::SCALE, "scale"), Name(f::FORMAT)] [Ft, S0_PLAIN] "2.1, 2.2";
        Fred "fred" FRED [MAIN_OP 4, EXT 1, CODE 13] [Name(f::TRIG), Name(f::PART)]
            [W0, Text("w1"), P0, S0, Port(3), Number(f::ITER)] "2.1, 2.2";
        Fsinc "fsinc" SNGL [MAIN_OP 4, EXT 1, CODE 14] [] [W0, Text("p0"), S0] "2.1, 2.2";
        Farctanc "farctanc" SNGL [MAIN_OP 4, EXT 1, CODE 15] [] [W0, S0] "2.1, 2.2";
        Iadd "iadd" INT8_16 [MAIN_OP 5, EXT 1, EXT_B 1, INT_OP 0] [Name(f::WIDE), SIGNED, SAT] [Ft, L0, L1, L2] "2.1, 2.5";
        Imul "imul" INT8_16 [MAIN_OP 5, EXT 1, EXT_B 1, INT_OP 1] [Name(f::WIDE), SIGNED, SAT] [Ft, L0, L1, L2] "2.1, 2.5";
        Imad01 "imad_0_1" INT8_16 [MAIN_OP 5, EXT 1, EXT_B 1, INT_OP 2] [Name(f::WIDE), SIGNED, SAT] [Ft, L0, L1, L2] "2.1, 2.5";
        Imad23 "imad_2_3" INT8_16 [MAIN_OP 5, EXT 1, EXT_B 1, INT_OP 3] [Name(f::WIDE), SIGNED, SAT] [Ft, L0, L1, L2] "2.1, 2.5";
        Add6432 "add64_32" INT32_64 [MAIN_OP 7, EXT 1, INT_OP 0] [SIGNED] [Ft, FTE, S0, S1, S2, CARRY] "2.1, 2.5";
        Add64 "add64" INT32_64 [MAIN_OP 7, EXT 1, INT_OP 1] [SIGNED] [Ft, FTE, S0, S1, S2, IS0, CARRY] "2.1, 2.5";
        Imadd32 "imadd32" INT32_64 [MAIN_OP 7, EXT 1, INT_OP 2] [SIGNED] [Ft, S0, S1, S2, CARRY] "2.1, 2.5";
        Imadd64 "imadd64" INT32_64 [MAIN_OP 7, EXT 1, INT_OP 3] [SIGNED] [Ft, FTE, S0, S1, S2, IS0, CARRY] "2.1, 2.5";
    }
}

table! {
    /// PACK of phase 2. 2.1, 2.3.
    PACK_ROWS PACK Pack "pack" {
        Pck "pck" PCK [MAIN_OP 4, EXT 1, CODE 12, PROG 0]
            [Flag(f::RTZ, "roundzero"), Flag(f::SCALE, "scale"), Name(f::FORMAT)]
            [Text("ft2"), Packed] "2.1, 2.3";
        PckProg "pck.prog" PCK [MAIN_OP 4, EXT 1, CODE 12, PROG 1]
            [Flag(f::RTZ, "roundzero"), Flag(f::SCALE, "scale"), Unless(f::FORMAT, 0)] [Text("ft2"), Text("is3"), FTE] "2.1, 2.3";
    }
}

table! {
    /// TEST of phase 2. 2.4.
    TEST_ROWS TEST Test "test" {
        Tst "tst" TST [MAIN_OP 7, EXT 1, P2END 0] [Name(f::TYPE), Name(f::TEST), Unless(f::ELEM, 0)]
            [Text("ftt"), P0, Text("is1"), Second] "2.1, 2.4";
    }
}

table! {
    /// MOV of phase 2. 1.5.
    MOVE_ROWS MOVE Move "move" {
        Movc "movc" MOVC [MAIN_OP 6, EXT 1, P2END 0, ALWAYS 0] [Bytes(f::MASK)] [Moved] "1.5, 2.1";
        Movwm "movwm" MOVC [MAIN_OP 6, EXT 1, P2END 0, ALWAYS 1] [Bytes(f::MASK)] [Moved] "1.5, 2.1";
    }
}

const DSEL: Arg = If(f::DSEL, "w1", "w0");
const ADD: Arg = PortOf(f::ADD_SRC);
const DRC: Arg = Drc(f::DRC);
const S3: Arg = Port(3);

table! {
    /// The backend of a main group. 2.8, 2.9.
    BACKEND_ROWS BACKEND Backend "backend" {
        UvswWriteReg "uvsw.write.reg" UVSW_PORT [BACKEND 0, IMM 0, UVSW 0] [] [DSEL, PortOf(f::SRC)] "2.8";
        UvswWrite "uvsw.write" UVSW_IMM [BACKEND 0, IMM 1, UVSW 0] [] [DSEL, Hex(f::ADDRESS)] "2.8";
        UvswEmit "uvsw.emit" UVSW [BACKEND 0, DSEL 0, IMM 0, UVSW 1] [] [] "2.8";
        UvswEmitImm "uvsw.emit.imm" UVSW_CUT [BACKEND 0, DSEL 0, IMM 1, UVSW 1] [] [Number(f::STREAM)] "2.8";
        UvswCut "uvsw.cut" UVSW [BACKEND 0, DSEL 0, IMM 0, UVSW 2] [] [] "2.8";
        UvswCutImm "uvsw.cut.imm" UVSW_CUT [BACKEND 0, DSEL 0, IMM 1, UVSW 2] [] [Number(f::STREAM)] "2.8";
        UvswEmitCut "uvsw.emit.cut" UVSW [BACKEND 0, DSEL 0, IMM 0, UVSW 3] [] [] "2.8";
        UvswEmitCutImm "uvsw.emit.cut.imm" UVSW_CUT [BACKEND 0, DSEL 0, IMM 1, UVSW 3] [] [Number(f::STREAM)] "2.8";
        UvswEndtask "uvsw.endtask" UVSW [BACKEND 0, DSEL 0, IMM 0, UVSW 4] [] [] "2.8";
        UvswEmitEndtask "uvsw.emit.endtask" UVSW [BACKEND 0, DSEL 0, IMM 0, UVSW 5] [] [] "2.8";
        UvswWriteEmitEndtaskReg "uvsw.write.emit.endtask.reg" UVSW_PORT [BACKEND 0, IMM 0, UVSW 6] [] [DSEL, PortOf(f::SRC)] "2.8";
        UvswWriteEmitEndtask "uvsw.write.emit.endtask" UVSW_IMM [BACKEND 0, IMM 1, UVSW 6] [] [DSEL, Hex(f::ADDRESS)] "2.8";
        Savmsk "savmsk" MSK [BACKEND 1, MASK_OP 0] [Name(f::MASK_MODE)] [W0, Text("w1")] "2.8";
        Movmsk "movmsk" MSK [BACKEND 1, MASK_OP 2, MASK_MODE 1] [] [W0, Text("w1")] "2.8";
        MovmskSm "movmsk.sm" MSK_PORT [BACKEND 1, MASK_OP 3, MASK_MODE 1] [] [W0, Text("w1"), PortOf(f::SRC)] "2.8";
        PhasReg "phas.reg" PHAS_REG [BACKEND 2, PHAS 0] [] [PortOf(f::EXE), PortOf(f::PARAM)] "2.8";
        Phas "phas" PHAS_IMM [BACKEND 2, PHAS 1] [Name(f::RATE), Flag(f::END, "end")] [PortOf(f::EXE), Number(f::TEMPS)] "2.8";
        Setl "setl" SETL [BACKEND 3] [] [If(f::LINK_SRC, "w1", "w0")] "2.8";
        Depthf "depthf" VIST [BACKEND 4, PWEN 0, VISTEST 0, FEEDBACK 0] [] [Text("drc0"), W0] "2.8";
        Alphaf "alphaf" VIST [BACKEND 4, VISTEST 1, FEEDBACK 0] [] [P0, Text("drc0"), Port(0), Port(1), Port(2)] "2.8";
        Alphatst "alphatst" VIST [BACKEND 4, VISTEST 1, FEEDBACK 1] [] [P0, Text("drc0"), Port(0), Port(1), Port(2)] "2.8";
        Fitr "fitr" FITR [BACKEND 5, PERSP 0] [Name(f::ITER_MODE), SAT] [S3, DRC, Port(0), Count(f::COUNT)] "2.8";
        Fitrp "fitrp" FITR [BACKEND 5, PERSP 1] [Name(f::ITER_MODE), SAT] [S3, DRC, Port(0), Port(2), Count(f::COUNT)] "2.8";
        Emitpix "emitpix" EMITPIX [BACKEND 6] [Flag(f::FREEP, "freep")] [Port(0), Port(2)] "2.8";
        Idf "idf" IDF [BACKEND 7, IMM 0, DMA 0] [] [DRC, ADD] "2.8";
        Ld "ld" LD [BACKEND 7, IMM 1, DMA 1] [Unless(f::CACHE, 0), Kept(f::KEPT)] [S3, DRC, Count(f::BURST), ADD] "2.8";
        LdReg "ld.reg" LD_REG [BACKEND 7, IMM 0, DMA 1] [Unless(f::CACHE, 0)] [S3, DRC, PortOf(f::BURST_SRC), ADD] "2.8";
        St "st" ST [BACKEND 7, IMM 1, DMA 2, TILED 0] [Name(f::CACHE)]
            [PortOf(f::DATA_SRC), Number(f::SIZE), DRC, Count(f::BURST), ADD, Text("_")] "2.8";
        StReg "st.reg" ST_REG [BACKEND 7, IMM 0, DMA 2, TILED 0] [Name(f::CACHE)]
            [PortOf(f::DATA_SRC), Number(f::SIZE), DRC, PortOf(f::BURST_SRC), ADD, Text("_")] "2.8";
        StTiled "st.tiled" ST_TILED [BACKEND 7, IMM 1, DMA 2, TILED 1] [Name(f::CACHE), Kept(f::KEPT)]
            [PortOf(f::DATA_SRC), Number(f::SIZE), DRC, Count(f::BURST), ADD, PortOf(f::MASK_SRC)] "2.8";
        StTiledReg "st.tiled.reg" ST_TILED_REG [BACKEND 7, IMM 0, DMA 2, TILED 1] [Name(f::CACHE), Kept(f::KEPT)]
            [PortOf(f::DATA_SRC), Number(f::SIZE), DRC, PortOf(f::BURST_SRC), ADD, PortOf(f::MASK_SRC)] "2.8";
        Smp "smp" SMP [BACKEND 7, DMA 4, EXT 1, EXT_B 1, EXT_C 1, WRITE 0] [Name(f::DIM), Flag(f::PROJ, "proj"), Flag(f::FCNORM, "fcnorm"), Flag(f::NNCOORDS, "nncoords"), Unless(f::LOD, 0), Flag(f::PPLOD, "pplod"), Flag(f::TAO, "tao"), Flag(f::SOO, "soo"), Flag(f::SNO, "sno"), Unless(f::SBMODE, 0), Flag(f::ARRAY, "array"), Flag(f::INTEGER, "integer"), Flag(f::COMPARE, "compare"), Flag(f::F16, "f16"), Flag(f::F16_INPUT, "f16in"), Flag(f::DIRECT, "direct"), Flag(f::SWAP, "swap"), Unless(f::CACHE, 0)]
            [Port(4), DRC, Port(0), Port(1), Port(2), Port(3), Plus(f::CHANNELS)] "2.9";
        SmpWrite "smp.wrt" SMP_WRITE [BACKEND 7, DMA 4, EXT 1, EXT_B 1, EXT_C 1, WRITE 1] [Name(f::DIM), Flag(f::PROJ, "proj"), Flag(f::FCNORM, "fcnorm"), Flag(f::NNCOORDS, "nncoords"), Unless(f::LOD, 0), Flag(f::PPLOD, "pplod"), Flag(f::TAO, "tao"), Flag(f::SOO, "soo"), Flag(f::SNO, "sno"), Unless(f::SBMODE, 0), Flag(f::ARRAY, "array"), Flag(f::INTEGER, "integer"), Flag(f::COMPARE, "compare"), Flag(f::F16, "f16"), Flag(f::F16_INPUT, "f16in"), Flag(f::DIRECT, "direct"), Flag(f::SWAP, "swap"), Unless(f::CACHE, 0)]
            [Port(4), DRC, Port(0), Port(1), Port(2), Port(3), Plus(f::CHANNELS)] "2.9";
        Atomic "atomic" ATOM [BACKEND 7, IMM 0, DMA 5] [Name(f::ATOMIC)] [PortOf(f::DST_SRC), DRC, PortOf(f::SRC)] "2.8";
    }
}

const COUNT: Mod = Unless(f::COUNT_OP, 2);
const OF: Mod = Unless(f::COUNT_SRC, 0);
/// W1 is what was shifted, where nothing is counted.
const OF_FT2: Mod = Unless(f::COUNT_SRC, 1);
const KEPT: Mod = Flag(f::BIT7, "b7");
const FT0: Arg = Text("ft0");
const FT1: Arg = Text("ft1");
const FT2: Arg = Text("ft2");
const FT3: Arg = Text("ft3");
const B0: Arg = Port(0);
const B1: Arg = Port(1);
const B2: Arg = Port(2);

table! {
    /// Phase 0 of a bitwise group. 2.6.
    BIT0_ROWS BITWISE0 Bitwise0 "bitwise phase 0" {
        Bbyp "bbyp0bm" / "bbyp0s1" BIT0 [BIT_IMM 0, SHIFT1 0, BITMASK 0, COUNT_OP 2] [OF, KEPT] [FT0, FT1, B0, B1] "2.6";
        Cbs "cbs" BIT0 [BIT_IMM 0, SHIFT1 0, BITMASK 0, COUNT_OP 0] [OF, KEPT] [FT3, B2] "2.6";
        Ftb "ftb" BIT0 [BIT_IMM 0, SHIFT1 0, BITMASK 0, COUNT_OP 1] [OF, KEPT] [FT3, B2] "2.6";
        Shuffle "shuffle" BIT0 [BIT_IMM 0, SHIFT1 1, BITMASK 0] [COUNT, OF_FT2, KEPT] [FT2, B2, B1] "2.6";
        Rev "rev" BIT0 [BIT_IMM 0, SHIFT1 2, BITMASK 0] [COUNT, OF_FT2, KEPT] [FT2, B2] "2.6";
        Lsl "lsl" BIT0 [BIT_IMM 0, SHIFT1 3, BITMASK 0] [COUNT, OF, KEPT] [FT2, B2, B1] "2.6";
        Msk "msk_bbyp0s1" BIT0 [BIT_IMM 0, SHIFT1 0, BITMASK 1] [COUNT, OF, KEPT] [FT0, FT1, FT2, B0, B1, B2] "2.6";
        MskShuffle "msk_shuffle" BIT0 [BIT_IMM 0, SHIFT1 1, BITMASK 1] [COUNT, OF_FT2, KEPT] [FT0, FT1, FT2, B0, B1, B2] "2.6";
        MskRev "msk_rev" BIT0 [BIT_IMM 0, SHIFT1 2, BITMASK 1] [COUNT, OF_FT2, KEPT] [FT0, FT1, FT2, B0, B1, B2] "2.6";
        MskLsl "msk_lsl" BIT0 [BIT_IMM 0, SHIFT1 3, BITMASK 1] [COUNT, OF, KEPT] [FT0, FT1, FT2, B0, B1, B2] "2.6";
        Imm16 "bbyp0bm_imm16" BIT0_16 [BIT_IMM 1, BITMASK 0, SHIFT1 0] [COUNT, OF, KEPT] [FT0, FT1, B0, Hex(f::VALUE)] "2.6";
        Imm16Shuffle "shuffle_imm16" BIT0_16 [BIT_IMM 1, BITMASK 0, SHIFT1 1] [COUNT, OF_FT2, KEPT] [FT1, FT2, B2, B1, Hex(f::VALUE)] "2.6";
        Imm16Rev "rev_imm16" BIT0_16 [BIT_IMM 1, BITMASK 0, SHIFT1 2] [COUNT, OF_FT2, KEPT] [FT1, FT2, B2, Hex(f::VALUE)] "2.6";
        Imm16Lsl "lsl_imm16" BIT0_16 [BIT_IMM 1, BITMASK 0, SHIFT1 3] [COUNT, OF, KEPT] [FT1, FT2, B2, B1, Hex(f::VALUE)] "2.6";
        Imm32 "bbyp0bm_imm32" BIT0_32 [BIT_IMM 1, BITMASK 1, SHIFT1 0] [COUNT, OF, KEPT] [FT0, FT1, B0, Hex(f::VALUE)] "2.6";
        Imm32Shuffle "shuffle_imm32" BIT0_32 [BIT_IMM 1, BITMASK 1, SHIFT1 1] [COUNT, OF_FT2, KEPT] [FT1, FT2, B2, B1, Hex(f::VALUE)] "2.6";
        Imm32Rev "rev_imm32" BIT0_32 [BIT_IMM 1, BITMASK 1, SHIFT1 2] [COUNT, OF_FT2, KEPT] [FT1, FT2, B2, Hex(f::VALUE)] "2.6";
        Imm32Lsl "lsl_imm32" BIT0_32 [BIT_IMM 1, BITMASK 1, SHIFT1 3] [COUNT, OF, KEPT] [FT1, FT2, B2, B1, Hex(f::VALUE)] "2.6";
    }
}

table! {
    /// Phase 1 of a bitwise group. 2.6.
    BIT1_ROWS BITWISE1 Bitwise1 "bitwise phase 1" {
        Logical "logical" BIT1 [PHASE 1] [Name(f::LOGIC)]
            [Text("ft4"), If(f::MASK_A, "ft1", "_"), FT2, If(f::MASK_B, "~ft1", "_"), Port(3)] "2.6";
    }
}

table! {
    /// Phase 2 of a bitwise group. 2.6.
    BIT2_ROWS BITWISE2 Bitwise2 "bitwise phase 2" {
        Shift "shift" BIT2 [PHASE 0] [Name(f::SHIFT2), Unless(f::TEST_SRC, 0), Unless(f::BIT_TEST, 0)]
            [Text("ft5"), Text("ft4"), Port(4), P0] "2.6";
    }
}

const PE: Arg = Text("pe");
const IF: Mod = Name(f::COND);
const ADJUST: Arg = Number(f::ADJUST);

table! {
    /// The operation of a control group. 2.7.
    CONTROL_ROWS CONTROL Control "control" {
        Br "br" BRANCH [CTRL 0] [Flag(f::LINK, "link"), Unless(f::BPRED, 0), Flag(f::ABSOLUTE, "abs")] [Target] "2.7, 0.1";
        Lapc "lapc" CTRL [CTRL 1] [] [] "2.7";
        Savl "savl" CTRL [CTRL 2] [] [W0] "2.7";
        Cndst "cndst" CND [CTRL 3, CND 0] [IF] [PE, W0, Port(0), ADJUST] "2.7";
        Cndef "cndef" CND [CTRL 3, CND 1] [IF] [PE, W0, Port(0), ADJUST] "2.7";
        Cndsm "cndsm" CND [CTRL 3, CND 2] [IF, Kept(f::ADJUST)] [PE, W0, Port(0), Port(2)] "2.7";
        Cndlt "cndlt" CND [CTRL 3, CND 3] [IF] [PE, W0, Text("p0"), Port(0), ADJUST] "2.7";
        Cndend "cndend" CND [CTRL 3, CND 4] [Unless(f::COND, 0)] [PE, W0, Port(0), ADJUST] "2.7";
        CndsetlB "cndsetl.b" CND [CTRL 3, CND 5] [IF] [PE, W0, Port(0), ADJUST] "2.7";
        Cndlpc "cndlpc" CND [CTRL 3, CND 6] [IF] [PE, W0, Port(0), ADJUST] "2.7";
        CndsetlA "cndsetl.a" CND [CTRL 3, CND 7] [IF] [PE, W0, Port(0), ADJUST] "2.7";
        Wop "wop" CTRL [CTRL 4] [] [] "2.7";
        Wdf "wdf" CTRL_WAIT [CTRL 5] [] [Drc(f::MISC)] "2.7";
        MutexRelease "mutex.release" MUTEX [CTRL 6, MUTEX 0] [] [Number(f::ID)] "2.7";
        MutexReleaseSleep "mutex.release.sleep" MUTEX [CTRL 6, MUTEX 1] [] [Number(f::ID)] "2.7";
        MutexReleaseWakeup "mutex.release.wakeup" MUTEX [CTRL 6, MUTEX 2] [] [Number(f::ID)] "2.7";
        MutexLock "mutex.lock" MUTEX [CTRL 6, MUTEX 3] [] [Number(f::ID)] "2.7";
        Nop "nop" CTRL_NOP [CTRL 7] [] [] "2.7";
        Itrsmp "itrsmp" ITRSMP [CTRL 8, EXT 1, EXT_B 1]
            [Name(f::DIM), Flag(f::PROJ, "proj"), Flag(f::FCNORM, "fcnorm"), Flag(f::NNCOORDS, "nncoords"), Name(f::ITER_MODE), Unless(f::PERSP, 0), Unless(f::SCHED, 0), Flag(f::F16, "f16"), Flag(f::COMPARE, "compare"), SAT, Index(f::COEFF_INDEX, "cf"), Index(f::W_INDEX, "w")]
            [Register("r", 1, f::DEST), DRC, Register("cf", 4, f::COEFF), Register("cf", 4, f::W_COEFF), Number(f::TEX_OFF), Number(f::SMP_OFF), Plus(f::CHANNELS), Number(f::COUNT)]
            "2.7";
        Sbo "sbo" SBO [CTRL 11] [Name(f::TARGET)] [Hex(f::OFFSET)] "2.7";
        Ditr "ditr" DITR [CTRL 12, PERSP 0] [Kept(f::W_COEFF), Name(f::ITER_MODE), Unless(f::SCHED, 0), Flag(f::F16, "f16"), SAT, Index(f::COEFF_INDEX, "cf"), Index(f::W_INDEX, "w")]
            [Register("r", 1, f::DEST), DRC, Register("cf", 4, f::COEFF), Count(f::COUNT)] "2.7";
        Ditrp "ditrp" DITR [CTRL 12, PERSP 1] [Name(f::ITER_MODE), Unless(f::SCHED, 0), Flag(f::F16, "f16"), SAT, Index(f::COEFF_INDEX, "cf"), Index(f::W_INDEX, "w")]
            [Register("r", 1, f::DEST), DRC, Register("cf", 4, f::COEFF), Register("cf", 4, f::W_COEFF), Count(f::COUNT)] "2.7";
        DitrStore "ditrp.store" DITR [CTRL 12, PERSP 2] [Name(f::ITER_MODE), Unless(f::SCHED, 0), Flag(f::F16, "f16"), SAT, Index(f::COEFF_INDEX, "cf"), Index(f::W_INDEX, "w")]
            [Register("r", 1, f::DEST), DRC, Register("cf", 4, f::COEFF), Register("cf", 4, f::W_COEFF), Count(f::COUNT)] "2.7";
        DitrStored "ditrp.stored" DITR [CTRL 12, PERSP 3] [Name(f::ITER_MODE), Unless(f::SCHED, 0), Flag(f::F16, "f16"), SAT, Index(f::COEFF_INDEX, "cf"), Index(f::W_INDEX, "w")]
            [Register("r", 1, f::DEST), DRC, Register("cf", 4, f::COEFF), Register("cf", 4, f::W_COEFF), Count(f::COUNT)] "2.7";
    }
}

/// Every table, for documents and tests.
pub static TABLES: [&Table; 9] =
    [&MAIN, &PACK, &TEST, &MOVE, &BACKEND, &BITWISE0, &BITWISE1, &BITWISE2, &CONTROL];

/// The operands of `bbyp0s1`, which is what the public text calls `bbyp0bm` where phase 1 reads its second result.
pub static BBYP0S1: &[Arg] = &[FT2, FT3, B2];

/// Whether a control group with this operation has words of sources. 1.2, 2.7.
pub fn control_has_sources(op: &Op) -> bool {
    std::ptr::eq(op.format, &l::CND)
}
