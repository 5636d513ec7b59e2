//! The table of operations: name, shape, flags and meaning, one row each.
//!
//! The evaluation function of each row that computes stands in [`super::eval`], over the same enum,
//! so that a new row does not compile until it has one.

/// Properties that passes ask about.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// Nothing special: computes, may run when its results are not needed, order is free.
    pub const PURE: Flags = Flags(0);
    /// The first two operands may be swapped.
    pub const COMMUTES: Flags = Flags(1);
    /// Changes something beyond its results; never removed, never reordered with its like.
    pub const EFFECT: Flags = Flags(2);
    /// Depends on memory that effects may change.
    pub const READS: Flags = Flags(4);
    /// Exchanges values within a quad: must not move into or out of divergent control flow.
    pub const QUAD: Flags = Flags(8);
    /// All invocations of the workgroup must reach it together.
    pub const UNIFORM: Flags = Flags(16);
    /// Ends a region.
    pub const TERMINATOR: Flags = Flags(32);
    /// Owns regions.
    pub const REGIONS: Flags = Flags(64);

    /// Both sets together.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// True when every flag of `other` is set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Operand and result types. `T` is any of B16, B32, B64 (and B1 where the row says bits).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sig {
    /// `() -> T`, the type is given.
    Const,
    /// `T -> T`.
    Unary,
    /// `T, T -> T`.
    Binary,
    /// `T, T -> T`, B1 allowed.
    BinaryBits,
    /// `T -> T`, B1 allowed.
    UnaryBits,
    /// `T, B32 -> T`.
    Shift,
    /// `T, T, T -> T`.
    Ternary,
    /// `T, T -> B1`.
    Compare,
    /// `T, T -> B1`, B1 operands allowed.
    CompareBits,
    /// `B1, T, T -> T`, B1 data allowed.
    Select,
    /// `T -> U`, the result type is given.
    Convert,
    /// `T, B32, B32 -> T`.
    ExtractBits,
    /// `T, T, B32, B32 -> T`.
    InsertBits,
    /// `2n x T -> T`, 2 <= n <= 4: all of one side, then all of the other.
    Dot,
    /// Operand and result types fixed by the row's documentation.
    Custom,
}

macro_rules! ops {
    ($( $(#[$doc:meta])+ $variant:ident = $name:literal, $sig:ident, $($flag:ident)|+ ; )+) => {
        /// An operation of structured SSA.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Op { $( $(#[$doc])+ $variant, )+ }

        impl Op {
            /// Every operation, in table order.
            pub const ALL: &'static [Op] = &[ $( Op::$variant, )+ ];

            /// The name in the text form.
            pub const fn name(self) -> &'static str {
                match self { $( Op::$variant => $name, )+ }
            }
            /// Operand and result types.
            pub const fn sig(self) -> Sig {
                match self { $( Op::$variant => Sig::$sig, )+ }
            }
            /// Properties.
            #[inline]
            pub const fn flags(self) -> Flags {
                match self { $( Op::$variant => Flags(0) $( .with(Flags::$flag) )+, )+ }
            }
        }
    };
}

// "WGSL" below means the language's rule for the case; "exact" that only the model's denormal rule
// touches the result; "approx" that the model defines the function (Numerics).
ops! {
    /// The bits of `Imm::Bits`.
    Const = "const", Const, PURE;

    // Integers.
    /// Wraps.
    IAdd = "iadd", Binary, COMMUTES;
    /// Wraps.
    ISub = "isub", Binary, PURE;
    /// Wraps.
    IMul = "imul", Binary, COMMUTES;
    /// High half of the unsigned product.
    UMulHi = "umulhi", Binary, COMMUTES;
    /// High half of the signed product.
    SMulHi = "smulhi", Binary, COMMUTES;
    /// WGSL: x / 0 = x, MIN / -1 = MIN.
    SDiv = "sdiv", Binary, PURE;
    /// WGSL: x / 0 = x.
    UDiv = "udiv", Binary, PURE;
    /// WGSL: x % 0 = 0, MIN % -1 = 0; takes the sign of x.
    SRem = "srem", Binary, PURE;
    /// WGSL: x % 0 = 0.
    URem = "urem", Binary, PURE;
    /// Wraps.
    INeg = "ineg", Unary, PURE;
    /// abs(MIN) = MIN.
    IAbs = "iabs", Unary, PURE;
    /// Signed minimum.
    SMin = "smin", Binary, COMMUTES;
    /// Signed maximum.
    SMax = "smax", Binary, COMMUTES;
    /// Unsigned minimum.
    UMin = "umin", Binary, COMMUTES;
    /// Unsigned maximum.
    UMax = "umax", Binary, COMMUTES;
    /// Bitwise and; logical on B1.
    And = "and", BinaryBits, COMMUTES;
    /// Bitwise or; logical on B1.
    Or = "or", BinaryBits, COMMUTES;
    /// Bitwise exclusive or; "differs" on B1.
    Xor = "xor", BinaryBits, COMMUTES;
    /// Bitwise not; logical on B1.
    Not = "not", UnaryBits, PURE;
    /// The amount is taken modulo the width.
    Shl = "shl", Shift, PURE;
    /// Zeros come in; the amount is taken modulo the width.
    LShr = "lshr", Shift, PURE;
    /// The sign comes in; the amount is taken modulo the width.
    AShr = "ashr", Shift, PURE;
    /// Bits that are set.
    PopCount = "popcount", Unary, PURE;
    /// Bit i goes to width-1-i.
    BitReverse = "bitreverse", Unary, PURE;
    /// Leading zeros; the width for 0.
    Clz = "clz", Unary, PURE;
    /// Trailing zeros; the width for 0.
    Ctz = "ctz", Unary, PURE;
    /// Number of the highest set bit, all ones for 0.
    UMsb = "umsb", Unary, PURE;
    /// Number of the highest bit that differs from the sign, all ones for 0 and -1.
    SMsb = "smsb", Unary, PURE;
    /// Number of the lowest set bit, all ones for 0.
    Lsb = "lsb", Unary, PURE;
    /// WGSL extractBits, zero-extended: value, offset, count; offset and count are clamped to the width.
    UBfe = "ubfe", ExtractBits, PURE;
    /// WGSL extractBits, sign-extended.
    SBfe = "sbfe", ExtractBits, PURE;
    /// WGSL insertBits: value, new bits, offset, count.
    Bfi = "bfi", InsertBits, PURE;
    /// Equal.
    IEq = "ieq", CompareBits, COMMUTES;
    /// Not equal.
    INe = "ine", CompareBits, COMMUTES;
    /// Signed less.
    SLt = "slt", Compare, PURE;
    /// Signed less or equal.
    SLe = "sle", Compare, PURE;
    /// Unsigned less.
    ULt = "ult", Compare, PURE;
    /// Unsigned less or equal.
    ULe = "ule", Compare, PURE;

    // Floats: B16 is f16, B32 is f32, B64 is f64.
    /// Exact (RNE).
    FAdd = "fadd", Binary, COMMUTES;
    /// Exact (RNE).
    FSub = "fsub", Binary, PURE;
    /// Exact (RNE).
    FMul = "fmul", Binary, COMMUTES;
    /// Quotient; correctly rounded in the reference model.
    FDiv = "fdiv", Binary, PURE;
    /// x - y * trunc(x / y) as if computed without rounding: takes the sign of x.
    FRem = "frem", Binary, PURE;
    /// a * b + c; fused or rounded twice as the model says.
    FMa = "fma", Ternary, COMMUTES;
    /// Flips the sign bit.
    FNeg = "fneg", Unary, PURE;
    /// Clears the sign bit.
    FAbs = "fabs", Unary, PURE;
    /// -1, 0 or 1.
    FSign = "fsign", Unary, PURE;
    /// Minimum; the NaN rule is the model's (reference: the other operand).
    FMin = "fmin", Binary, COMMUTES;
    /// Maximum; the NaN rule is the model's (reference: the other operand).
    FMax = "fmax", Binary, COMMUTES;
    /// Clamped to 0..=1; NaN gives 0.
    FSat = "fsat", Unary, PURE;
    /// Toward minus infinity.
    FFloor = "ffloor", Unary, PURE;
    /// Toward plus infinity.
    FCeil = "fceil", Unary, PURE;
    /// Toward zero.
    FTrunc = "ftrunc", Unary, PURE;
    /// To the nearest, ties to even.
    FRound = "fround", Unary, PURE;
    /// x - floor(x).
    FFract = "ffract", Unary, PURE;
    /// Ordered equal.
    FEq = "feq", Compare, COMMUTES;
    /// Unordered not equal (NaN != NaN).
    FNe = "fne", Compare, COMMUTES;
    /// Ordered less.
    FLt = "flt", Compare, PURE;
    /// Ordered less or equal.
    FLe = "fle", Compare, PURE;
    /// Sum of products, 2 to 4 pairs; order and fusing are the model's.
    FDot = "fdot", Dot, PURE;
    /// Square root; approx.
    FSqrt = "fsqrt", Unary, PURE;
    /// 1 / sqrt(x); approx.
    FRsq = "frsq", Unary, PURE;
    /// 1 / x; approx.
    FRcp = "frcp", Unary, PURE;
    /// 2^x; approx.
    FExp2 = "fexp2", Unary, PURE;
    /// Base-2 logarithm; approx.
    FLog2 = "flog2", Unary, PURE;
    /// e^x; approx.
    FExp = "fexp", Unary, PURE;
    /// Natural logarithm; approx.
    FLog = "flog", Unary, PURE;
    /// x^y for x >= 0; approx.
    FPow = "fpow", Binary, PURE;
    /// Radians; approx.
    FSin = "fsin", Unary, PURE;
    /// Radians; approx.
    FCos = "fcos", Unary, PURE;
    /// Radians; approx.
    FTan = "ftan", Unary, PURE;
    /// sin(2 pi x) for |x| <= 0.5; approx. For machines whose unit takes turns.
    FSinTurns = "fsin_turns", Unary, PURE;
    /// cos(2 pi x) for |x| <= 0.5; approx. For machines whose unit takes turns.
    FCosTurns = "fcos_turns", Unary, PURE;
    /// Approx.
    FAsin = "fasin", Unary, PURE;
    /// Approx.
    FAcos = "facos", Unary, PURE;
    /// Approx.
    FAtan = "fatan", Unary, PURE;
    /// atan2(y, x); approx.
    FAtan2 = "fatan2", Binary, PURE;
    /// Approx.
    FSinh = "fsinh", Unary, PURE;
    /// Approx.
    FCosh = "fcosh", Unary, PURE;
    /// Approx.
    FTanh = "ftanh", Unary, PURE;
    /// Approx.
    FAsinh = "fasinh", Unary, PURE;
    /// Approx.
    FAcosh = "facosh", Unary, PURE;
    /// Approx.
    FAtanh = "fatanh", Unary, PURE;
    /// x * 2^e, e signed; exact with one rounding.
    FLdexp = "fldexp", Shift, PURE;
    /// Fraction of frexp, in [0.5, 1) with the sign; x itself for 0, NaN and infinity.
    FrexpFract = "frexp_fract", Unary, PURE;
    /// Exponent of frexp as B32 signed; 0 for 0, NaN and infinity. The result type is given as B32.
    FrexpExp = "frexp_exp", Convert, PURE;

    // Conversions; the result type is given.
    /// Signed integer to float, RNE.
    SToF = "s2f", Convert, PURE;
    /// Unsigned integer to float, RNE.
    UToF = "u2f", Convert, PURE;
    /// Float to signed, toward zero, clamped to what both types hold (f32 to i32: at most
    /// 2147483520), NaN gives 0.
    FToS = "f2s", Convert, PURE;
    /// Float to unsigned, toward zero, clamped to what both types hold (f32 to u32: at most
    /// 4294967040), NaN gives 0.
    FToU = "f2u", Convert, PURE;
    /// Float to float, RNE.
    FConvert = "fconvert", Convert, PURE;
    /// Zero-extends, truncates, or makes 0 / 1 of a B1.
    UConvert = "uconvert", Convert, PURE;
    /// Sign-extends or truncates.
    SConvert = "sconvert", Convert, PURE;
    /// f32 rounded to f16 precision and range, as f32.
    FQuantize = "fquantize", Unary, PURE;
    /// f32, f32 -> B32: two f16, RNE, the first low.
    PackHalf = "pack_half", Custom, PURE;
    /// B32 -> f32: the f16 in the low half.
    UnpackHalfLo = "unpack_half_lo", Custom, PURE;
    /// B32 -> f32: the f16 in the high half.
    UnpackHalfHi = "unpack_half_hi", Custom, PURE;
    /// B16, B16 -> B32: the first low.
    Join16 = "join16", Custom, PURE;
    /// B32 -> B16: the low half.
    Lo16 = "lo16", Custom, PURE;
    /// B32 -> B16: the high half.
    Hi16 = "hi16", Custom, PURE;
    /// B32, B32 -> B64: the first low.
    Join64 = "join64", Custom, PURE;
    /// B64 -> B32: the low half.
    Lo64 = "lo64", Custom, PURE;
    /// B64 -> B32: the high half.
    Hi64 = "hi64", Custom, PURE;
    /// x, y, z -> f32: the component of a direction along s of the face it points to ([`super::cube`]).
    CubeS = "cube_s", Custom, PURE;
    /// x, y, z -> f32: the component along t.
    CubeT = "cube_t", Custom, PURE;
    /// x, y, z -> f32: twice the magnitude of the largest component.
    CubeMajor = "cube_major", Custom, PURE;
    /// x, y, z -> f32: the face's number, 0..=5.
    CubeFace = "cube_face", Custom, PURE;
    /// c, a, b: a when c, else b.
    Select = "select", Select, PURE;

    // Memory. Addresses are bytes (B32); a binding array's element is operand 0 (see ResourceData::count).
    /// \[element,\] address -> 1 to 4 values (B32, B16 or B64) one after the other. Naturally aligned per value.
    BufferLoad = "buffer_load", Custom, READS;
    /// \[element,\] address, values.
    BufferStore = "buffer_store", Custom, EFFECT;
    /// \[element\] -> B32: bytes bound.
    BufferSize = "buffer_size", Custom, PURE;
    /// \[element,\] address, operands of the atomic -> the old word (none for Store).
    BufferAtomic = "buffer_atomic", Custom, EFFECT | READS;
    /// address -> 1 to 4 values. 16 bits have a word of their own in a variable: nobody reads its other half.
    MemLoad = "mem_load", Custom, READS;
    /// address, values.
    MemStore = "mem_store", Custom, EFFECT;
    /// address, operands of the atomic -> the old word.
    MemAtomic = "mem_atomic", Custom, EFFECT | READS;
    /// index, length -> index: marks where an index meets a length (both B32 unsigned). The
    /// robustness pass makes it a clamp, a guard or nothing; the interpreter clamps to length-1.
    /// With length 0 the result is 0, and an access whose address is made of it
    /// ([`Op::makes_address`]) does not happen: it reads 0 and writes nothing.
    Index = "index", Custom, PURE;

    // Interface.
    /// -> B32: component `Imm::Input.1` of an input (f16 inputs: B16).
    Input = "input", Custom, PURE;
    /// value: component `Imm::Output.1` of an output.
    Output = "output", Custom, EFFECT;

    // Textures. Results: four B32 (f32 or integer bits), or one where TexOp::compare (gather: four).
    /// \[texture element\] \[sampler element\] coordinates (Dim::coords, f32; Load: i32), \[layer i32\],
    /// \[reference f32 if compare\], then by kind: SampleBias bias f32; SampleLevel level f32 (i32 for
    /// depth textures without compare is converted by the front end); SampleGrad ddx then ddy, each
    /// Dim::coords f32; Load level or sample i32 (absent for storage textures).
    /// Projected coordinates of a cube are s and t in 1..=2 and the face's number, all f32, and each
    /// gradient is one of s and t with an unused third component.
    /// Implicit-level kinds are quad ops: see [`super::InstData::flags`].
    Tex = "tex", Custom, READS;
    /// \[element\] \[level\] -> B32s.
    TexQuery = "tex_query", Custom, PURE;
    /// \[element\] coordinates i32, \[layer\], four B32.
    ImageStore = "image_store", Custom, EFFECT;
    /// \[element\] coordinates i32, \[layer\], operands of the atomic -> the old word.
    ImageAtomic = "image_atomic", Custom, EFFECT | READS;

    // Quads and cooperation.
    /// Difference across the quad in x (coarse or fine, as the machine likes).
    Ddx = "ddx", Unary, QUAD;
    /// Difference across the quad in y.
    Ddy = "ddy", Unary, QUAD;
    /// Difference of the own row.
    DdxFine = "ddx_fine", Unary, QUAD;
    /// Difference of the own column.
    DdyFine = "ddy_fine", Unary, QUAD;
    /// Difference of the upper row.
    DdxCoarse = "ddx_coarse", Unary, QUAD;
    /// Difference of the left column.
    DdyCoarse = "ddy_coarse", Unary, QUAD;
    /// The invocation becomes a helper: it goes on, its effects are dropped.
    Demote = "demote", Custom, EFFECT;
    /// -> B1: is a helper.
    IsHelper = "is_helper", Custom, READS;
    /// b1 -> four B32: a bit for each active lane of the subgroup where it holds, lane 0 lowest.
    Ballot = "ballot", Custom, EFFECT;
    /// T \[, B32\] -> T: the value in another lane of the subgroup, by `Imm::Shuffle`; undefined where
    /// that lane is not active.
    Shuffle = "shuffle", Custom, EFFECT;
    /// T -> T: what the active lanes of the subgroup make together, by `Imm::Reduce`; lanes are
    /// combined in ascending order.
    Reduce = "reduce", Custom, EFFECT;
    /// Memory of the subgroup's lanes is in order.
    SubgroupBarrier = "subgroup_barrier", Custom, EFFECT;
    /// Waits for the workgroup.
    Barrier = "barrier", Custom, EFFECT | UNIFORM;

    // Control.
    /// condition; regions then, else.
    If = "if", Custom, REGIONS;
    /// initial values of the body's parameters; regions body, continuing.
    Loop = "loop", Custom, REGIONS;
    /// One region.
    Block = "block", Custom, REGIONS;
    /// Values of the owner.
    Yield = "yield", Custom, TERMINATOR;
    /// Results of the innermost loop.
    Break = "break", Custom, TERMINATOR;
    /// Parameters of the innermost loop's continuing.
    Continue = "continue", Custom, TERMINATOR;
    /// Parameters of the body's next trip; ends continuing.
    Next = "next", Custom, TERMINATOR;
    /// condition, the loop's results, then the body's parameters; ends continuing.
    BreakIf = "break_if", Custom, TERMINATOR;
    /// Results of the labelled block.
    Exit = "exit", Custom, TERMINATOR;
    /// Never reached.
    Unreachable = "unreachable", Custom, TERMINATOR;
}

impl Op {
    /// Ends a region.
    pub const fn is_terminator(self) -> bool {
        self.flags().has(Flags::TERMINATOR)
    }
    /// Computes its results from its operands and nothing else, and may run at any time.
    pub const fn is_pure(self) -> bool {
        let flags = self.flags().0;
        flags & !Flags::COMMUTES.0 == 0
    }
    /// Makes an address out of indices, scales and offsets: what holds for its operands' indices holds for its result.
    pub const fn makes_address(self) -> bool {
        matches!(self, Op::IAdd | Op::IMul | Op::Shl | Op::Or | Op::Index)
    }
    /// Finds an operation by its text name.
    pub fn by_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.name() == name)
    }
}

impl super::InstData {
    /// Properties of this instruction: those of its op, and QUAD for texture instructions that take
    /// their level of detail from the quad.
    #[inline]
    pub fn flags(&self) -> Flags {
        let flags = self.op.flags();
        match &self.imm {
            super::Imm::Tex(tex)
                if matches!(
                    tex.kind,
                    super::TexKind::Sample | super::TexKind::SampleBias
                ) =>
            {
                flags.with(Flags::QUAD)
            }
            _ => flags,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_own_op() {
        for &op in Op::ALL {
            assert_eq!(Op::by_name(op.name()), Some(op));
        }
    }
}
