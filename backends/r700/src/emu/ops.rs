//! Every ALU instruction as the emulator reads the manual: number, kind of slot, operands, modifiers.
//! R700 ISA 4.8 and chapter 9; numbers by register guide chapter 5.

/// Where an instruction executes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Any slot.
    Any,
    /// Vector slots.
    Vector,
    /// The trans slot.
    Trans,
    /// All four vector slots together, one result.
    Reduction,
    /// Two neighbouring vector slots: a double.
    Pair,
    /// Four vector slots: a double product.
    Quad,
}

/// What the operands and the result are.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Floats in, float out: all modifiers.
    Float,
    /// Integers or bits in and out: no modifiers.
    Int,
    /// Floats in, bits out: source modifiers alone.
    FloatToBits,
    /// Integers in, float out: result modifiers alone.
    BitsToFloat,
}

/// What it does beside its result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Sets the predicate.
    Predicate,
    /// Kills pixels.
    Kill,
    /// Loads the address register.
    Mova,
}

macro_rules! alu_ops {
    ($( $code:literal $variant:ident $sources:literal $unit:ident $data:ident $effect:ident; )+) => {
        /// An ALU instruction.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, missing_docs)]
        pub enum AluOp { $( $variant, )+ }

        impl AluOp {
            /// Every instruction: two sources (or fewer) first, then three.
            pub const ALL: &'static [AluOp] = &[$(AluOp::$variant,)+];

            /// The manual's name.
            pub const fn name(self) -> &'static str {
                match self { $(AluOp::$variant => stringify!($variant),)+ }
            }
            /// ALU_INST.
            pub const fn code(self) -> u32 {
                match self { $(AluOp::$variant => $code,)+ }
            }
            /// Source operands.
            pub const fn sources(self) -> usize {
                match self { $(AluOp::$variant => $sources,)+ }
            }
            /// Where it executes.
            pub const fn unit(self) -> Unit {
                match self { $(AluOp::$variant => Unit::$unit,)+ }
            }
            /// What operands and result are.
            pub const fn data(self) -> Data {
                match self { $(AluOp::$variant => Data::$data,)+ }
            }
            /// What it does beside its result.
            pub const fn effect(self) -> Effect {
                match self { $(AluOp::$variant => Effect::$effect,)+ }
            }
        }
    };
}

#[rustfmt::skip]
alu_ops! {
      0 ADD 2 Any Float None;
      1 MUL 2 Any Float None;
      2 MUL_IEEE 2 Any Float None;
      3 MAX 2 Any Float None;
      4 MIN 2 Any Float None;
      5 MAX_DX10 2 Any Float None;
      6 MIN_DX10 2 Any Float None;
      7 FREXP_64 1 Quad Float None;
      8 SETE 2 Any Float None;
      9 SETGT 2 Any Float None;
     10 SETGE 2 Any Float None;
     11 SETNE 2 Any Float None;
     12 SETE_DX10 2 Any FloatToBits None;
     13 SETGT_DX10 2 Any FloatToBits None;
     14 SETGE_DX10 2 Any FloatToBits None;
     15 SETNE_DX10 2 Any FloatToBits None;
     16 FRACT 1 Any Float None;
     17 TRUNC 1 Any Float None;
     18 CEIL 1 Any Float None;
     19 RNDNE 1 Any Float None;
     20 FLOOR 1 Any Float None;
     21 MOVA 1 Vector FloatToBits Mova;
     22 MOVA_FLOOR 1 Vector FloatToBits Mova;
     23 ADD_64 2 Pair Float None;
     24 MOVA_INT 1 Vector Int Mova;
     25 MOV 1 Any Float None;
     26 NOP 0 Any Int None;
     27 MUL_64 2 Quad Float None;
     28 FLT64_TO_FLT32 1 Pair Float None;
     29 FLT32_TO_FLT64 1 Pair Float None;
     30 PRED_SETGT_UINT 2 Any Int Predicate;
     31 PRED_SETGE_UINT 2 Any Int Predicate;
     32 PRED_SETE 2 Any Float Predicate;
     33 PRED_SETGT 2 Any Float Predicate;
     34 PRED_SETGE 2 Any Float Predicate;
     35 PRED_SETNE 2 Any Float Predicate;
     36 PRED_SET_INV 1 Any Float Predicate;
     37 PRED_SET_POP 2 Any Float Predicate;
     38 PRED_SET_CLR 0 Any Float Predicate;
     39 PRED_SET_RESTORE 1 Any Float Predicate;
     40 PRED_SETE_PUSH 2 Any Float Predicate;
     41 PRED_SETGT_PUSH 2 Any Float Predicate;
     42 PRED_SETGE_PUSH 2 Any Float Predicate;
     43 PRED_SETNE_PUSH 2 Any Float Predicate;
     44 KILLE 2 Any Float Kill;
     45 KILLGT 2 Any Float Kill;
     46 KILLGE 2 Any Float Kill;
     47 KILLNE 2 Any Float Kill;
     48 AND_INT 2 Any Int None;
     49 OR_INT 2 Any Int None;
     50 XOR_INT 2 Any Int None;
     51 NOT_INT 1 Any Int None;
     52 ADD_INT 2 Any Int None;
     53 SUB_INT 2 Any Int None;
     54 MAX_INT 2 Any Int None;
     55 MIN_INT 2 Any Int None;
     56 MAX_UINT 2 Any Int None;
     57 MIN_UINT 2 Any Int None;
     58 SETE_INT 2 Any Int None;
     59 SETGT_INT 2 Any Int None;
     60 SETGE_INT 2 Any Int None;
     61 SETNE_INT 2 Any Int None;
     62 SETGT_UINT 2 Any Int None;
     63 SETGE_UINT 2 Any Int None;
     64 KILLGT_UINT 2 Any Int Kill;
     65 KILLGE_UINT 2 Any Int Kill;
     66 PRED_SETE_INT 2 Any Int Predicate;
     67 PRED_SETGT_INT 2 Any Int Predicate;
     68 PRED_SETGE_INT 2 Any Int Predicate;
     69 PRED_SETNE_INT 2 Any Int Predicate;
     70 KILLE_INT 2 Any Int Kill;
     71 KILLGT_INT 2 Any Int Kill;
     72 KILLGE_INT 2 Any Int Kill;
     73 KILLNE_INT 2 Any Int Kill;
     74 PRED_SETE_PUSH_INT 2 Any Int Predicate;
     75 PRED_SETGT_PUSH_INT 2 Any Int Predicate;
     76 PRED_SETGE_PUSH_INT 2 Any Int Predicate;
     77 PRED_SETNE_PUSH_INT 2 Any Int Predicate;
     78 PRED_SETLT_PUSH_INT 2 Any Int Predicate;
     79 PRED_SETLE_PUSH_INT 2 Any Int Predicate;
     80 DOT4 2 Reduction Float None;
     81 DOT4_IEEE 2 Reduction Float None;
     82 CUBE 2 Reduction Float None;
     83 MAX4 1 Reduction Float None;
     97 EXP_IEEE 1 Trans Float None;
     98 LOG_CLAMPED 1 Trans Float None;
     99 LOG_IEEE 1 Trans Float None;
    100 RECIP_CLAMPED 1 Trans Float None;
    101 RECIP_FF 1 Trans Float None;
    102 RECIP_IEEE 1 Trans Float None;
    103 RECIPSQRT_CLAMPED 1 Trans Float None;
    104 RECIPSQRT_FF 1 Trans Float None;
    105 RECIPSQRT_IEEE 1 Trans Float None;
    106 SQRT_IEEE 1 Trans Float None;
    107 FLT_TO_INT 1 Trans FloatToBits None;
    108 INT_TO_FLT 1 Trans BitsToFloat None;
    109 UINT_TO_FLT 1 Trans BitsToFloat None;
    110 SIN 1 Trans Float None;
    111 COS 1 Trans Float None;
    112 ASHR_INT 2 Any Int None;
    113 LSHR_INT 2 Any Int None;
    114 LSHL_INT 2 Any Int None;
    115 MULLO_INT 2 Trans Int None;
    116 MULHI_INT 2 Trans Int None;
    117 MULLO_UINT 2 Trans Int None;
    118 MULHI_UINT 2 Trans Int None;
    119 RECIP_INT 1 Trans Int None;
    120 RECIP_UINT 1 Trans Int None;
    121 FLT_TO_UINT 1 Trans FloatToBits None;
    122 LDEXP_64 2 Pair Float None;
    123 FRACT_64 1 Pair Float None;
    124 PRED_SETGT_64 2 Pair Float Predicate;
    125 PRED_SETE_64 2 Pair Float Predicate;
    126 PRED_SETGE_64 2 Pair Float Predicate;
      8 MULADD_64 3 Quad Float None;
      9 MULADD_64_M2 3 Quad Float None;
     10 MULADD_64_M4 3 Quad Float None;
     11 MULADD_64_D2 3 Quad Float None;
     12 MUL_LIT 3 Trans Float None;
     13 MUL_LIT_M2 3 Trans Float None;
     14 MUL_LIT_M4 3 Trans Float None;
     15 MUL_LIT_D2 3 Trans Float None;
     16 MULADD 3 Any Float None;
     17 MULADD_M2 3 Any Float None;
     18 MULADD_M4 3 Any Float None;
     19 MULADD_D2 3 Any Float None;
     20 MULADD_IEEE 3 Any Float None;
     21 MULADD_IEEE_M2 3 Any Float None;
     22 MULADD_IEEE_M4 3 Any Float None;
     23 MULADD_IEEE_D2 3 Any Float None;
     24 CNDE 3 Any Float None;
     25 CNDGT 3 Any Float None;
     26 CNDGE 3 Any Float None;
     28 CNDE_INT 3 Any Int None;
     29 CNDGT_INT 3 Any Int None;
     30 CNDGE_INT 3 Any Int None;
}

/// Instructions by number: three sources, or fewer.
const fn by_number(three: bool) -> [Option<AluOp>; 256] {
    let mut table = [None; 256];
    let mut n = 0;
    while n < AluOp::ALL.len() {
        let op = AluOp::ALL[n];
        if (op.sources() == 3) == three {
            table[op.code() as usize] = Some(op);
        }
        n += 1;
    }
    table
}

static OP2: [Option<AluOp>; 256] = by_number(false);
static OP3: [Option<AluOp>; 256] = by_number(true);

impl AluOp {
    /// A shift: R6xx executes it in trans alone.
    pub const fn is_shift(self) -> bool {
        matches!(self, AluOp::ASHR_INT | AluOp::LSHR_INT | AluOp::LSHL_INT)
    }

    /// The instruction of an OP2 number.
    pub fn op2(code: u32) -> Option<AluOp> {
        OP2.get(code as usize).copied().flatten()
    }

    /// The instruction of an OP3 number.
    pub fn op3(code: u32) -> Option<AluOp> {
        OP3.get(code as usize).copied().flatten()
    }
}
