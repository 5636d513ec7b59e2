//! The table of operations: name, shape, flags and meaning, one row each.
//!
//! The evaluation function of each row that computes stands in [`super::eval`], over the same enum,
//! so that a new row does not compile until it has one.

use super::func::Type;
use Type::{B1, B16, B32, B64};

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
    /// Float arithmetic: flushes its operands as the model says, and its NaNs are canonical, so that it
    /// cannot tell `x` from `x * 1`.
    pub const ARITHMETIC: Flags = Flags(128);

    /// Both sets together.
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// True when every flag of `other` is set.
    #[inline]
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
    /// These types to those.
    Fixed(&'static [Type], &'static [Type]),
    /// Operand and result types fixed by the row's documentation.
    Custom,
}

/// What bits stand for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// Anything: they are passed on as they are.
    Any,
    /// An integer, or its bits one by one.
    Int,
    /// A float of their width.
    Float,
}

macro_rules! ops {
    ($( $(#[$doc:meta])+ $variant:ident = $name:literal, $sig:ident $( ($($types:tt)+) )?,
        $reads:ident -> $makes:ident, $($flag:ident)|+ ; )+) => {
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
            #[inline]
            pub const fn sig(self) -> Sig {
                match self { $( Op::$variant => Sig::$sig $( ($($types)+) )?, )+ }
            }
            /// What its operands of the width that the signature calls `T` are read as.
            #[inline]
            pub const fn reads(self) -> Number {
                match self { $( Op::$variant => Number::$reads, )+ }
            }
            /// What its results are.
            pub const fn makes(self) -> Number {
                match self { $( Op::$variant => Number::$makes, )+ }
            }
            /// Properties.
            #[inline]
            pub const fn flags(self) -> Flags {
                const FLAGS: &[Flags] = &[ $( Flags(0) $( .with(Flags::$flag) )+, )+ ];
                FLAGS[self as usize]
            }
        }
    };
}

// A row is `Variant = "name", signature, what it reads -> what it makes, flags`.
// "WGSL" below means the language's rule for the case; "exact" that only the model's denormal rule
// touches the result; "approx" that the model defines the function (Numerics).
ops! {
    /// The bits of `Imm::Bits`.
    Const = "const", Const, Any -> Any, PURE;

    // Integers.
    /// Wraps.
    IAdd = "iadd", Binary, Int -> Int, COMMUTES;
    /// Wraps.
    ISub = "isub", Binary, Int -> Int, PURE;
    /// Wraps.
    IMul = "imul", Binary, Int -> Int, COMMUTES;
    /// High half of the unsigned product.
    UMulHi = "umulhi", Binary, Int -> Int, COMMUTES;
    /// High half of the signed product.
    SMulHi = "smulhi", Binary, Int -> Int, COMMUTES;
    /// WGSL: x / 0 = x, MIN / -1 = MIN.
    SDiv = "sdiv", Binary, Int -> Int, PURE;
    /// WGSL: x / 0 = x.
    UDiv = "udiv", Binary, Int -> Int, PURE;
    /// WGSL: x % 0 = 0, MIN % -1 = 0; takes the sign of x.
    SRem = "srem", Binary, Int -> Int, PURE;
    /// WGSL: x % 0 = 0.
    URem = "urem", Binary, Int -> Int, PURE;
    /// Wraps.
    INeg = "ineg", Unary, Int -> Int, PURE;
    /// abs(MIN) = MIN.
    IAbs = "iabs", Unary, Int -> Int, PURE;
    /// Signed minimum.
    SMin = "smin", Binary, Int -> Int, COMMUTES;
    /// Signed maximum.
    SMax = "smax", Binary, Int -> Int, COMMUTES;
    /// Unsigned minimum.
    UMin = "umin", Binary, Int -> Int, COMMUTES;
    /// Unsigned maximum.
    UMax = "umax", Binary, Int -> Int, COMMUTES;
    /// Bitwise and; logical on B1.
    And = "and", BinaryBits, Int -> Int, COMMUTES;
    /// Bitwise or; logical on B1.
    Or = "or", BinaryBits, Int -> Int, COMMUTES;
    /// Bitwise exclusive or; "differs" on B1.
    Xor = "xor", BinaryBits, Int -> Int, COMMUTES;
    /// Bitwise not; logical on B1.
    Not = "not", UnaryBits, Int -> Int, PURE;
    /// The amount is taken modulo the width.
    Shl = "shl", Shift, Int -> Int, PURE;
    /// Zeros come in; the amount is taken modulo the width.
    LShr = "lshr", Shift, Int -> Int, PURE;
    /// The sign comes in; the amount is taken modulo the width.
    AShr = "ashr", Shift, Int -> Int, PURE;
    /// Bits that are set.
    PopCount = "popcount", Unary, Int -> Int, PURE;
    /// Bit i goes to width-1-i.
    BitReverse = "bitreverse", Unary, Int -> Int, PURE;
    /// Leading zeros; the width for 0.
    Clz = "clz", Unary, Int -> Int, PURE;
    /// Trailing zeros; the width for 0.
    Ctz = "ctz", Unary, Int -> Int, PURE;
    /// Number of the highest set bit, all ones for 0.
    UMsb = "umsb", Unary, Int -> Int, PURE;
    /// Number of the highest bit that differs from the sign, all ones for 0 and -1.
    SMsb = "smsb", Unary, Int -> Int, PURE;
    /// Number of the lowest set bit, all ones for 0.
    Lsb = "lsb", Unary, Int -> Int, PURE;
    /// WGSL extractBits, zero-extended: value, offset, count; offset and count are clamped to the width.
    UBfe = "ubfe", ExtractBits, Int -> Int, PURE;
    /// WGSL extractBits, sign-extended.
    SBfe = "sbfe", ExtractBits, Int -> Int, PURE;
    /// WGSL insertBits: value, new bits, offset, count.
    Bfi = "bfi", InsertBits, Int -> Int, PURE;
    /// Equal.
    IEq = "ieq", CompareBits, Int -> Any, COMMUTES;
    /// Not equal.
    INe = "ine", CompareBits, Int -> Any, COMMUTES;
    /// Signed less.
    SLt = "slt", Compare, Int -> Any, PURE;
    /// Signed less or equal.
    SLe = "sle", Compare, Int -> Any, PURE;
    /// Unsigned less.
    ULt = "ult", Compare, Int -> Any, PURE;
    /// Unsigned less or equal.
    ULe = "ule", Compare, Int -> Any, PURE;

    // Floats: B16 is f16, B32 is f32, B64 is f64.
    /// Exact (RNE).
    FAdd = "fadd", Binary, Float -> Float, COMMUTES | ARITHMETIC;
    /// Exact (RNE).
    FSub = "fsub", Binary, Float -> Float, ARITHMETIC;
    /// Exact (RNE).
    FMul = "fmul", Binary, Float -> Float, COMMUTES | ARITHMETIC;
    /// Quotient; correctly rounded in the reference model.
    FDiv = "fdiv", Binary, Float -> Float, ARITHMETIC;
    /// x - y * trunc(x / y) as if computed without rounding: takes the sign of x.
    FRem = "frem", Binary, Float -> Float, PURE;
    /// a * b + c; fused or rounded twice as the model says.
    FMa = "fma", Ternary, Float -> Float, COMMUTES | ARITHMETIC;
    /// Flips the sign bit.
    FNeg = "fneg", Unary, Float -> Float, PURE;
    /// Clears the sign bit.
    FAbs = "fabs", Unary, Float -> Float, PURE;
    /// -1, 0 or 1.
    FSign = "fsign", Unary, Float -> Float, PURE;
    /// Minimum; the NaN rule is the model's (reference: the other operand).
    FMin = "fmin", Binary, Float -> Float, COMMUTES;
    /// Maximum; the NaN rule is the model's (reference: the other operand).
    FMax = "fmax", Binary, Float -> Float, COMMUTES;
    /// Clamped to 0..=1; NaN gives 0.
    FSat = "fsat", Unary, Float -> Float, PURE;
    /// Toward minus infinity.
    FFloor = "ffloor", Unary, Float -> Float, ARITHMETIC;
    /// Toward plus infinity.
    FCeil = "fceil", Unary, Float -> Float, ARITHMETIC;
    /// Toward zero.
    FTrunc = "ftrunc", Unary, Float -> Float, ARITHMETIC;
    /// To the nearest, ties to even.
    FRound = "fround", Unary, Float -> Float, ARITHMETIC;
    /// x - floor(x).
    FFract = "ffract", Unary, Float -> Float, ARITHMETIC;
    /// Ordered equal.
    FEq = "feq", Compare, Float -> Any, COMMUTES;
    /// Unordered not equal (NaN != NaN).
    FNe = "fne", Compare, Float -> Any, COMMUTES;
    /// Ordered less.
    FLt = "flt", Compare, Float -> Any, PURE;
    /// Ordered less or equal.
    FLe = "fle", Compare, Float -> Any, PURE;
    /// Sum of products, 2 to 4 pairs; order and fusing are the model's.
    FDot = "fdot", Dot, Float -> Float, ARITHMETIC;
    /// Square root; approx.
    FSqrt = "fsqrt", Unary, Float -> Float, ARITHMETIC;
    /// 1 / sqrt(x); approx.
    FRsq = "frsq", Unary, Float -> Float, ARITHMETIC;
    /// 1 / x; approx.
    FRcp = "frcp", Unary, Float -> Float, ARITHMETIC;
    /// 2^x; approx.
    FExp2 = "fexp2", Unary, Float -> Float, ARITHMETIC;
    /// Base-2 logarithm; approx.
    FLog2 = "flog2", Unary, Float -> Float, ARITHMETIC;
    /// e^x; approx.
    FExp = "fexp", Unary, Float -> Float, ARITHMETIC;
    /// Natural logarithm; approx.
    FLog = "flog", Unary, Float -> Float, ARITHMETIC;
    /// x^y for x >= 0; approx.
    FPow = "fpow", Binary, Float -> Float, ARITHMETIC;
    /// Radians; approx.
    FSin = "fsin", Unary, Float -> Float, ARITHMETIC;
    /// Radians; approx.
    FCos = "fcos", Unary, Float -> Float, ARITHMETIC;
    /// Radians; approx.
    FTan = "ftan", Unary, Float -> Float, PURE;
    /// sin(2 pi x) for |x| <= 0.5; approx. For machines whose unit takes turns.
    FSinTurns = "fsin_turns", Unary, Float -> Float, PURE;
    /// cos(2 pi x) for |x| <= 0.5; approx. For machines whose unit takes turns.
    FCosTurns = "fcos_turns", Unary, Float -> Float, PURE;
    /// Approx.
    FAsin = "fasin", Unary, Float -> Float, PURE;
    /// Approx.
    FAcos = "facos", Unary, Float -> Float, PURE;
    /// Approx.
    FAtan = "fatan", Unary, Float -> Float, PURE;
    /// atan2(y, x); approx.
    FAtan2 = "fatan2", Binary, Float -> Float, PURE;
    /// Approx.
    FSinh = "fsinh", Unary, Float -> Float, PURE;
    /// Approx.
    FCosh = "fcosh", Unary, Float -> Float, PURE;
    /// Approx.
    FTanh = "ftanh", Unary, Float -> Float, PURE;
    /// Approx.
    FAsinh = "fasinh", Unary, Float -> Float, PURE;
    /// Approx.
    FAcosh = "facosh", Unary, Float -> Float, PURE;
    /// Approx.
    FAtanh = "fatanh", Unary, Float -> Float, PURE;
    /// x * 2^e, e signed; exact with one rounding.
    FLdexp = "fldexp", Shift, Float -> Float, PURE;
    /// Fraction of frexp, in [0.5, 1) with the sign; x itself for 0, NaN and infinity.
    FrexpFract = "frexp_fract", Unary, Float -> Float, PURE;
    /// Exponent of frexp as B32 signed; 0 for 0, NaN and infinity. The result type is given as B32.
    FrexpExp = "frexp_exp", Convert, Float -> Int, PURE;

    // Conversions; the result type is given.
    /// Signed integer to float, RNE.
    SToF = "s2f", Convert, Int -> Float, PURE;
    /// Unsigned integer to float, RNE.
    UToF = "u2f", Convert, Int -> Float, PURE;
    /// Float to signed, toward zero, clamped to what both types hold (f32 to i32: at most
    /// 2147483520), NaN gives 0.
    FToS = "f2s", Convert, Float -> Int, PURE;
    /// Float to unsigned, toward zero, clamped to what both types hold (f32 to u32: at most
    /// 4294967040), NaN gives 0.
    FToU = "f2u", Convert, Float -> Int, PURE;
    /// Float to float of another width, RNE.
    FConvert = "fconvert", Convert, Float -> Float, PURE;
    /// Zero-extends, truncates, or makes 0 / 1 of a B1.
    UConvert = "uconvert", Convert, Int -> Int, PURE;
    /// Sign-extends or truncates.
    SConvert = "sconvert", Convert, Int -> Int, PURE;
    /// f32 rounded to f16 precision and range, as f32.
    FQuantize = "fquantize", Unary, Float -> Float, PURE;
    /// f32, f32 -> B32: two f16, RNE, the first low.
    PackHalf = "pack_half", Fixed(&[B32, B32], &[B32]), Float -> Any, PURE;
    /// B32 -> f32: the f16 in the low half.
    UnpackHalfLo = "unpack_half_lo", Fixed(&[B32], &[B32]), Any -> Float, PURE;
    /// B32 -> f32: the f16 in the high half.
    UnpackHalfHi = "unpack_half_hi", Fixed(&[B32], &[B32]), Any -> Float, PURE;
    /// B16, B16 -> B32: the first low.
    Join16 = "join16", Fixed(&[B16, B16], &[B32]), Any -> Any, PURE;
    /// B32 -> B16: the low half.
    Lo16 = "lo16", Fixed(&[B32], &[B16]), Any -> Any, PURE;
    /// B32 -> B16: the high half.
    Hi16 = "hi16", Fixed(&[B32], &[B16]), Any -> Any, PURE;
    /// B32, B32 -> B64: the first low.
    Join64 = "join64", Fixed(&[B32, B32], &[B64]), Any -> Any, PURE;
    /// B64 -> B32: the low half.
    Lo64 = "lo64", Fixed(&[B64], &[B32]), Any -> Any, PURE;
    /// B64 -> B32: the high half.
    Hi64 = "hi64", Fixed(&[B64], &[B32]), Any -> Any, PURE;
    /// x, y, z -> f32: the component of a direction along s of the face it points to ([`super::cube`]).
    CubeS = "cube_s", Fixed(&[B32, B32, B32], &[B32]), Float -> Float, PURE;
    /// x, y, z -> f32: the component along t.
    CubeT = "cube_t", Fixed(&[B32, B32, B32], &[B32]), Float -> Float, PURE;
    /// x, y, z -> f32: twice the magnitude of the largest component.
    CubeMajor = "cube_major", Fixed(&[B32, B32, B32], &[B32]), Float -> Float, PURE;
    /// x, y, z -> f32: the face's number, 0..=5.
    CubeFace = "cube_face", Fixed(&[B32, B32, B32], &[B32]), Float -> Float, PURE;
    /// c, a, b: a when c, else b.
    Select = "select", Select, Any -> Any, PURE;

    // Memory. Addresses are bytes (B32); a binding array's element is operand 0 (see ResourceData::count).
    /// \[element,\] address -> 1 to 4 values (B32, B16 or B64) one after the other. Naturally aligned per value.
    BufferLoad = "buffer_load", Custom, Any -> Any, READS;
    /// \[element,\] address, values.
    BufferStore = "buffer_store", Custom, Any -> Any, EFFECT;
    /// \[element\] -> B32: bytes bound.
    BufferSize = "buffer_size", Custom, Any -> Any, PURE;
    /// \[element,\] address, operands of the atomic -> the old word (none for Store).
    BufferAtomic = "buffer_atomic", Custom, Any -> Any, EFFECT | READS;
    /// address -> 1 to 4 values. 16 bits have a word of their own in a variable: nobody reads its other half.
    MemLoad = "mem_load", Custom, Any -> Any, READS;
    /// address, values.
    MemStore = "mem_store", Custom, Any -> Any, EFFECT;
    /// address, operands of the atomic -> the old word.
    MemAtomic = "mem_atomic", Custom, Any -> Any, EFFECT | READS;
    /// index, length -> index: marks where an index meets a length (both B32 unsigned). The
    /// robustness pass makes it a clamp, a guard or nothing; the interpreter clamps to length-1.
    /// With length 0 the result is 0, and an access whose address is made of it
    /// ([`Op::makes_address`]) does not happen: it reads 0 and writes nothing.
    Index = "index", Fixed(&[B32, B32], &[B32]), Int -> Int, PURE;

    // Interface.
    /// -> B32: component `Imm::Input.1` of an input (f16 inputs: B16).
    Input = "input", Custom, Any -> Any, PURE;
    /// value: component `Imm::Output.1` of an output.
    Output = "output", Custom, Any -> Any, EFFECT;
    /// Geometry: a vertex of what the outputs hold, behind the last one of its strip. Outputs keep what they hold; a
    /// component that was never written is 0.
    EmitVertex = "emit_vertex", Fixed(&[], &[]), Any -> Any, EFFECT;
    /// Geometry: the next vertex begins a strip.
    EndPrimitive = "end_primitive", Fixed(&[], &[]), Any -> Any, EFFECT;

    // Textures. Results: four B32 (f32 or integer bits), or one where TexOp::compare (gather: four).
    /// \[texture element\] \[sampler element\] coordinates (Dim::coords, f32; Load: i32), \[layer i32\],
    /// \[reference f32 if compare\], then by kind: SampleBias bias f32; SampleLevel level f32 (i32 for
    /// depth textures without compare is converted by the front end); SampleGrad ddx then ddy, each
    /// Dim::coords f32; Load level or sample i32 (absent for storage textures).
    /// Projected coordinates of a cube are s and t in 1..=2 and the face's number, all f32, and each
    /// gradient is one of s and t with an unused third component. A lookup of single texels (`TexOp::texel`) has coordinates
    /// of a texel's centre, and a level or gradients of 0.
    /// Implicit-level kinds are quad ops: see [`super::InstData::flags`].
    Tex = "tex", Custom, Any -> Any, READS;
    /// \[element\] \[level\] -> B32s.
    TexQuery = "tex_query", Custom, Any -> Any, PURE;
    /// \[element\] coordinates i32, \[layer\], four B32.
    ImageStore = "image_store", Custom, Any -> Any, EFFECT;
    /// \[element\] coordinates i32, \[layer\], operands of the atomic -> the old word.
    ImageAtomic = "image_atomic", Custom, Any -> Any, EFFECT | READS;

    // Quads and cooperation.
    /// Difference across the quad in x (coarse or fine, as the machine likes).
    Ddx = "ddx", Unary, Float -> Float, QUAD;
    /// Difference across the quad in y.
    Ddy = "ddy", Unary, Float -> Float, QUAD;
    /// Difference of the own row.
    DdxFine = "ddx_fine", Unary, Float -> Float, QUAD;
    /// Difference of the own column.
    DdyFine = "ddy_fine", Unary, Float -> Float, QUAD;
    /// Difference of the upper row.
    DdxCoarse = "ddx_coarse", Unary, Float -> Float, QUAD;
    /// Difference of the left column.
    DdyCoarse = "ddy_coarse", Unary, Float -> Float, QUAD;
    /// The invocation becomes a helper: it goes on, its effects are dropped.
    Demote = "demote", Fixed(&[], &[]), Any -> Any, EFFECT;
    /// -> B1: is a helper.
    IsHelper = "is_helper", Fixed(&[], &[B1]), Any -> Any, READS;
    /// b1 -> four B32: a bit for each active lane of the subgroup where it holds, lane 0 lowest.
    Ballot = "ballot", Fixed(&[B1], &[B32, B32, B32, B32]), Any -> Any, EFFECT;
    /// T \[, B32\] -> T: the value in another lane of the subgroup, by `Imm::Shuffle`; undefined where
    /// that lane is not active.
    Shuffle = "shuffle", Custom, Any -> Any, EFFECT;
    /// T -> T: what the active lanes of the subgroup make together, by `Imm::Reduce`; lanes are
    /// combined in ascending order.
    Reduce = "reduce", Custom, Any -> Any, EFFECT;
    /// Memory of the subgroup's lanes is in order.
    SubgroupBarrier = "subgroup_barrier", Fixed(&[], &[]), Any -> Any, EFFECT;
    /// -> two B32, low and high: a counter that rises while a subgroup runs. Where it starts and how fast it counts is the
    /// machine's, so the interpreter marks what depends on it.
    Clock = "clock", Fixed(&[], &[B32, B32]), Any -> Any, EFFECT;
    /// The same of a counter that the whole device has.
    DeviceClock = "device_clock", Fixed(&[], &[B32, B32]), Any -> Any, EFFECT;
    /// Waits for the workgroup.
    Barrier = "barrier", Custom, Any -> Any, EFFECT | UNIFORM;

    // Control.
    /// condition; regions then, else.
    If = "if", Custom, Any -> Any, REGIONS;
    /// initial values of the body's parameters; regions body, continuing.
    Loop = "loop", Custom, Any -> Any, REGIONS;
    /// One region.
    Block = "block", Custom, Any -> Any, REGIONS;
    /// Values of the owner.
    Yield = "yield", Custom, Any -> Any, TERMINATOR;
    /// Results of the innermost loop.
    Break = "break", Custom, Any -> Any, TERMINATOR;
    /// Parameters of the innermost loop's continuing.
    Continue = "continue", Custom, Any -> Any, TERMINATOR;
    /// Parameters of the body's next trip; ends continuing.
    Next = "next", Custom, Any -> Any, TERMINATOR;
    /// condition, the loop's results, then the body's parameters; ends continuing.
    BreakIf = "break_if", Custom, Any -> Any, TERMINATOR;
    /// Results of the labelled block.
    Exit = "exit", Custom, Any -> Any, TERMINATOR;
    /// Never reached.
    Unreachable = "unreachable", Custom, Any -> Any, TERMINATOR;
}

impl Op {
    /// Ends a region.
    #[inline]
    pub const fn is_terminator(self) -> bool {
        self.flags().has(Flags::TERMINATOR)
    }
    /// Computes its results from its operands and nothing else, and may run at any time.
    #[inline]
    pub const fn is_pure(self) -> bool {
        let flags = self.flags().0;
        flags & !(Flags::COMMUTES.0 | Flags::ARITHMETIC.0) == 0
    }
    /// Gives the truth of a comparison.
    #[inline]
    pub const fn is_comparison(self) -> bool {
        matches!(self.sig(), Sig::Compare | Sig::CompareBits)
    }
    /// The comparison that holds where this one does not, and whether it takes the operands the other way round. That of an order of
    /// floats holds so where neither operand is a NaN alone.
    pub const fn opposite(self) -> Option<(Op, bool)> {
        Some(match self {
            Op::IEq => (Op::INe, false),
            Op::INe => (Op::IEq, false),
            Op::FEq => (Op::FNe, false),
            Op::FNe => (Op::FEq, false),
            Op::ULt => (Op::ULe, true),
            Op::ULe => (Op::ULt, true),
            Op::SLt => (Op::SLe, true),
            Op::SLe => (Op::SLt, true),
            Op::FLt => (Op::FLe, true),
            Op::FLe => (Op::FLt, true),
            _ => return None,
        })
    }
    /// The type of its result where that follows from its operands' types.
    pub fn result(self, args: impl Fn(usize) -> Type) -> Option<Type> {
        Some(match self.sig() {
            Sig::Compare | Sig::CompareBits => Type::B1,
            Sig::Select => args(1),
            Sig::Fixed(_, &[ty]) => ty,
            Sig::Const | Sig::Convert | Sig::Custom | Sig::Fixed(..) => return None,
            Sig::Unary
            | Sig::Binary
            | Sig::BinaryBits
            | Sig::UnaryBits
            | Sig::Shift
            | Sig::Ternary
            | Sig::ExtractBits
            | Sig::InsertBits
            | Sig::Dot => args(0),
        })
    }
    /// A machine may be off in it, or compute it by way of what it is off in. What a reciprocal makes of integers is none.
    pub fn is_approximated(self) -> bool {
        matches!(self, Op::FDiv | Op::FRem) || (Op::FSqrt..=Op::FAtanh).contains(&self)
    }
    /// Makes an address out of indices, scales and offsets: what holds for its operands' indices holds for its result.
    #[inline]
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
                    super::TexKind::Sample
                        | super::TexKind::SampleBias
                        | super::TexKind::QueryLevel
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
