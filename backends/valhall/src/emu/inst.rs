//! What a decoded instruction says.

/// Where a source comes from. isa 1.2.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A register (of a pair: the even one).
    Reg(u8),
    /// A uniform word, counted over the pages.
    Uniform(u16),
    /// A small constant.
    Constant(u32),
    /// A special value: page, number, word.
    Special(u8, u8, u8),
}

/// Which bits of a source count and how they become an operand. isa 1.5.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// All 32 (of 64: both words).
    Whole,
    /// Half as f16, converted to f32.
    Float(u8),
    /// Bytes from here, this many, extended by the sign of the type.
    Integer { first: u8, width: u8 },
    /// Bytes in this order.
    Bytes([u8; 4]),
    /// Two bytes, each extended to 16 bits by the sign of the type.
    TwoBytes([u8; 2]),
}

/// One source operand.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub place: Place,
    /// Last use of the register.
    pub last: bool,
    /// Two words.
    pub wide: bool,
    /// Which bits.
    pub select: Select,
    /// Negated, after `abs`.
    pub neg: bool,
    /// Without its sign.
    pub abs: bool,
    /// Complemented.
    pub not: bool,
}

/// Type of an ALU instruction: what its suffix says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// One f32.
    F32,
    /// Two f16.
    V2F16,
    /// One f16 in the low half.
    F16,
    /// Integers of this many bits.
    Int { bits: u8, signed: bool },
}

/// Rounding.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Round {
    /// To nearest, ties to even.
    Even,
    /// Up.
    Up,
    /// Down.
    Down,
    /// To zero.
    Zero,
    /// To nearest, ties away from zero.
    Away,
}

/// Clamp of a float result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// None.
    None,
    /// 0 to infinity.
    Positive,
    /// -1 to 1.
    Signed,
    /// 0 to 1.
    Unit,
}

/// A comparison.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Cmp {
    /// Equal.
    Eq,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// Different or unordered.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Different and ordered.
    GtLt,
    /// Ordered.
    Total,
}

/// How a comparison says true.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// 1.
    One,
    /// 1.0.
    Float,
    /// All ones.
    Minus,
    /// For the high half of a 64-bit comparison.
    Low,
}

/// How a comparison takes its third source.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Or.
    Or,
    /// And.
    And,
    /// Where the operands are equal: the result of the low half.
    Multi,
}

/// How a value is shifted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Right, zeros.
    Right,
    /// Left.
    Left,
    /// Rotated right.
    RotateRight,
    /// Rotated left.
    RotateLeft,
    /// Right, signs.
    Arithmetic,
}

/// What is done with the shifted value and the third source.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Logic {
    /// And.
    And,
    /// Or.
    Or,
    /// Exclusive or.
    Xor,
}

/// A condition of a branch: which bits count. isa 1.5.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BranchBits {
    /// All 32.
    Whole,
    /// The low half.
    Low,
    /// The high half.
    High,
}

/// Formats of staging registers. isa 1.5.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RegFormat {
    /// 32 bits by the descriptor's format.
    Auto,
    /// Floats of 32 bits.
    F32,
    /// Floats of 16 bits, two a register.
    F16,
    /// Signed of 32 bits.
    S32,
    /// Signed of 16 bits.
    S16,
    /// Unsigned of 32 bits.
    U32,
    /// Unsigned of 16 bits.
    U16,
}

impl RegFormat {
    /// True where two components share a register.
    pub const fn is_half(self) -> bool {
        matches!(self, RegFormat::F16 | RegFormat::S16 | RegFormat::U16)
    }
}

/// What the interpolator keeps. isa 1.8.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// Keeps what it computed.
    Store,
    /// Uses what was kept.
    Retrieve,
    /// Keeps nothing.
    Clobber,
    /// Does not interpolate.
    None,
}

/// Where a varying is taken.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sampled {
    /// At the pixel's centre.
    Center,
    /// At the centroid.
    Centroid,
    /// At the sample.
    Sample,
    /// At an offset in the source.
    Explicit,
}

/// How a varying is read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Varying {
    /// Its components in memory are f16 (else f32).
    pub half: bool,
    /// Not interpolated.
    pub flat: bool,
    /// What the interpolator keeps.
    pub update: Update,
    /// Where.
    pub sampled: Sampled,
}

/// How a texture instruction finds its level. isa 1.5.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LodMode {
    /// Level 0.
    Zero,
    /// From neighbours.
    Computed,
    /// From a register.
    Explicit,
    /// From neighbours, and a bias in a register.
    ComputedBias,
    /// From two registers that TEX_GRADIENT made.
    Gradient,
}

/// Which texture instruction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TexKind {
    /// Filtered.
    Single,
    /// One texel.
    Fetch,
    /// One component of four texels.
    Gather { component: u8, integer: bool },
    /// A gradient descriptor or a level of detail.
    Gradient { no_bias: bool, no_clamp: bool, derivative: bool },
}

/// A texture instruction. isa 1.11.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tex {
    /// Which.
    pub kind: TexKind,
    /// 0 to 3: 1D, 2D, 3D, cube.
    pub dim: u8,
    /// Two handles in place of one packed.
    pub wide: bool,
    /// Has a layer.
    pub array: bool,
    /// Has texel offsets.
    pub offset: bool,
    /// Has a reference.
    pub compare: bool,
    /// How the level is found.
    pub lod: LodMode,
    /// Components that are written.
    pub mask: u8,
    /// Results of 32 bits (else 16).
    pub full: bool,
    /// Helpers may be left out.
    pub skip: bool,
}

/// Atomic operations. isa 1.5.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// Sum.
    Add,
    /// Sum with 32 bits, extended by zeros.
    AddUnsigned,
    /// Sum with 32 bits, extended by their sign.
    AddSigned,
    /// Signed minimum.
    SMin,
    /// Signed maximum.
    SMax,
    /// Unsigned minimum.
    UMin,
    /// Unsigned maximum.
    UMax,
    /// And.
    And,
    /// Or.
    Or,
    /// Exclusive or.
    Xor,
    /// Exchange.
    Xchg,
    /// Exchange where the old value is the first staging operand.
    CmpXchg,
    /// One more.
    Inc,
    /// One less.
    Dec,
}

/// What an instruction does.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Op {
    Nop,
    Branch {
        bits: BranchBits,
        on_zero: bool,
        offset: i32,
    },
    Jump {
        bits: BranchBits,
        on_zero: bool,
    },
    Discard(Cmp),
    Barrier,
    FAdd {
        round: Round,
        clamp: Clamp,
    },
    FMin {
        max: bool,
        propagate: bool,
        clamp: Clamp,
    },
    Fma {
        round: Round,
        clamp: Clamp,
    },
    FmaRscale {
        special: u8,
        round: Round,
        clamp: Clamp,
    },
    FAddLscale {
        round: Round,
        clamp: Clamp,
    },
    FExp,
    Ldexp {
        round: Round,
    },
    Frexpm {
        special: u8,
    },
    Frexpe {
        special: u8,
        neg: bool,
    },
    Flush {
        nan: u8,
        ftz: bool,
        inf: bool,
    },
    FRound(Round),
    Frcp,
    Frsq,
    FSinTable,
    FCosTable,
    Flogd,
    ToInt {
        half: bool,
        bits: u8,
        signed: bool,
        round: Round,
    },
    ToFloat {
        half: bool,
        signed: bool,
        round: Round,
    },
    HalfToFloat,
    FloatsToHalves {
        round: Round,
        clamp: Clamp,
    },
    Move,
    Clz,
    IAbs,
    Popcount,
    BitRev,
    Wmask {
        size: u8,
    },
    IAdd {
        sub: bool,
        saturate: bool,
    },
    IAddCarry {
        sub: bool,
        carry: bool,
    },
    IMul {
        saturate: bool,
    },
    HAdd {
        up: bool,
    },
    ShiftAdd {
        shift: u8,
    },
    Clper {
        xor: bool,
        size: u8,
        inactive: u32,
    },
    MakeHalves,
    MakeBytes,
    ShiftLogic {
        shift: Shift,
        logic: Logic,
        not_result: bool,
    },
    Mux(u8),
    CubeSelect {
        t: bool,
    },
    CubeMajor,
    CubeFace,
    Dot {
        saturate: bool,
    },
    Compare {
        cmp: Cmp,
        truth: Truth,
        combine: Combine,
    },
    Select(Cmp),
    IAddImm(u32),
    FAddImm(u32),
    Load {
        bytes: u8,
        lane: u8,
        signed: bool,
        thread: bool,
        offset: i32,
    },
    Store {
        bytes: u8,
        lane: u8,
        thread: bool,
        offset: i32,
    },
    LoadBuffer {
        bytes: u8,
        lane: u8,
        signed: bool,
    },
    LeaBuffer,
    Atomic {
        op: Atom,
        bytes: u8,
        result: bool,
        offset: i32,
    },
    LdAttr {
        format: RegFormat,
        count: u8,
        handle: Option<(u8, u8)>,
    },
    LeaAttr {
        handle: Option<(u8, u8)>,
    },
    LdTex {
        format: RegFormat,
        count: u8,
        handle: Option<(u8, u8)>,
    },
    LeaTex {
        handle: Option<(u8, u8)>,
    },
    LdCvt {
        format: RegFormat,
        count: u8,
        offset: i32,
    },
    StCvt {
        format: RegFormat,
        count: u8,
        offset: i32,
    },
    LeaBuf {
        handle: Option<(u8, u8)>,
    },
    LdVar {
        format: RegFormat,
        count: u8,
        how: Varying,
        from: VaryingFrom,
    },
    LdVarSpecial {
        sampled: Sampled,
        what: u8,
        count: u8,
    },
    Clock {
        /// The system's time stamp; else cycles.
        system: bool,
    },
    Tex(Tex),
    VarTex(Tex, Varying),
    Atest,
    ZsEmit {
        z: bool,
        stencil: bool,
    },
    Blend {
        format: RegFormat,
        count: u8,
        target: i32,
    },
}

/// Where a varying's place is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum VaryingFrom {
    /// Byte offset in the varying buffer.
    Offset(u8),
    /// Byte offset in the second source.
    Source,
}

/// What happens at the end of an instruction. isa 1.6.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Slots that are waited for: bits 0 to 2, 6, 7.
    pub wait: u8,
    /// Lanes meet.
    pub reconverge: bool,
    /// Helpers end.
    pub discard: bool,
    /// The program ends.
    pub end: bool,
}

/// Registers of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Staging {
    /// The first.
    pub reg: u8,
    /// How many.
    pub count: u8,
}

/// Where a result goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Dest {
    /// Register (of a pair: the even one).
    pub reg: u8,
    /// Bytes that are written.
    pub bytes: u8,
    /// Two registers.
    pub wide: bool,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The table's name.
    pub name: &'static str,
    /// What it does.
    pub op: Op,
    /// Its type.
    pub ty: Ty,
    /// Its sources, by their places in the word.
    pub sources: Vec<Source>,
    /// Its destination.
    pub dest: Option<Dest>,
    /// Staging registers that are read.
    pub read: Option<Staging>,
    /// Staging registers that are written.
    pub write: Option<Staging>,
    /// Slot of a message.
    pub slot: Option<u8>,
    /// What happens at its end.
    pub flow: Flow,
}
