//! Instruction groups as the emulator sees them. Section numbers are those of isa/rogue-pipeline.md.

/// A register file that an index register reaches too. 1.2.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum File {
    /// Temporaries, by instance.
    Temp,
    /// Vertex inputs, by instance.
    VertexIn,
    /// Coefficients, one for all instances of a task.
    Coefficient,
    /// Shared registers, one for all tasks.
    Shared,
    /// Pixel outputs, by instance.
    PixelOut,
}

/// What an operand names. 1.2, 3.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Register {
    /// A special constant's bits. 3.2.
    Constant(u32),
    /// A register of a file.
    File(File, u16),
    /// i0 to i7.
    Internal(u8),
    /// Registers of the cluster, shared by all tasks.
    Global(u8),
    /// idx0 and idx1.
    Index(u8),
    /// Other special registers, by number.
    Special(u8),
    /// A register of a file, as many behind this one as the index register says.
    Relative {
        /// Which index register.
        index: u8,
        /// The file.
        file: File,
        /// The register where the index is 0.
        offset: u16,
    },
}

/// When a group executes in an instance. 1.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `e1_zx`: where the execution bit is on.
    Executing,
    /// `e1_z1`: where p0 is set too.
    IfTrue,
    /// `ex_zx`: everywhere.
    Always,
    /// `e1_z0`: where p0 is clear too.
    IfFalse,
}

/// One group. 1.1.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its bytes, padding included.
    pub length: u8,
    /// When it executes.
    pub condition: Condition,
    /// The overlap check.
    pub checked: bool,
    /// It is the last one.
    pub end: bool,
    /// It is atomic over instances.
    pub atomic: bool,
    /// How often it executes, 1 to 4.
    pub repeat: u8,
    /// S0 to S5.
    pub sources: [Register; 6],
    /// W0 and W1, where they are written.
    pub writes: [Option<Register>; 2],
    /// What it does.
    pub kind: Kind,
}

/// The three kinds of groups.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Floats, integers, packing, tests, moves and the backend.
    Main(Main),
    /// The bitwise ALU.
    Bitwise(Bitwise),
    /// Control.
    Control(Control),
}

/// A feedthrough: FT0, FT1, FT2 or the external one. 1.3.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Feed {
    /// Of phase 0.
    Ft0,
    /// Of phase 1.
    Ft1,
    /// Of the pack.
    Ft2,
    /// The external one: a source, or the high word of phase 0.
    Fte,
}

/// A main group. 1.5.
#[derive(Clone, Debug, PartialEq)]
pub struct Main {
    /// Phase 0.
    pub p0: Option<Alu>,
    /// Phase 1.
    pub p1: Option<Alu>,
    /// Phase 2: pack.
    pub pack: Option<Pack>,
    /// Phase 2: test.
    pub test: Option<Test>,
    /// Phase 2: move.
    pub mov: Option<Move>,
    /// Backend.
    pub backend: Option<Backend>,
    /// Which source the external feedthrough is.
    pub external: u8,
    /// The test's two operands: IS1 and IS2.
    pub tested: [Feed; 2],
    /// The pack's operand: IS3.
    pub packed: Feed,
    /// IS4 and IS5.
    pub defaults: [Feed; 2],
}

/// Modifiers of one source, applied in this order: floor, magnitude, sign. 2.1.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Down to an integer.
    pub floor: bool,
    /// Without the sign.
    pub abs: bool,
    /// With the other sign.
    pub neg: bool,
}

/// Operations of one operand. 2.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Single {
    /// 1 / x.
    Rcp,
    /// 1 / sqrt(x).
    Rsq,
    /// Base-2 logarithm.
    Log,
    /// 2^x.
    Exp,
    /// Sums of products of halves.
    F16Sop,
    /// The logarithm's companion.
    LogCn,
    /// Gamma compression.
    GammaCompress,
    /// Gamma expansion.
    GammaExpand,
    /// The bits.
    Bypass,
    /// The derivative along x, one for the quad.
    Dsx,
    /// The derivative along y, one for the quad.
    Dsy,
    /// The derivative along x, by row.
    DsxFine,
    /// The derivative along y, by column.
    DsyFine,
    /// Of a reduced angle.
    Sinc,
    /// Arc tangent's companion.
    ArcTanC,
}

impl Single {
    /// It takes the whole main ALU. 2.2, 8.
    pub const fn is_complex(self) -> bool {
        !matches!(
            self,
            Single::Bypass | Single::Dsx | Single::Dsy | Single::DsxFine | Single::DsyFine
        )
    }
}

/// Integer operations of 32 and 64 bits. 2.5.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Wide {
    /// {S1:S0} + S2.
    Add64By32,
    /// Of two operands of 64 bits.
    Add64,
    /// The low word of S0 * S1 + S2.
    Mad32,
    /// S0 * S1 + {FTE:S2}.
    Mad64,
}

/// An operation of phase 0 or 1. 2.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Alu {
    /// A sum or a product.
    Float {
        /// A product.
        product: bool,
        /// Lower precision.
        low: bool,
        /// Clamped to 0 to 1.
        saturate: bool,
        /// Of the first operand and the second one.
        modifiers: [Modifiers; 2],
    },
    /// a * b + c.
    Mad {
        /// Lower precision.
        low: bool,
        /// Clamped to 0 to 1.
        saturate: bool,
        /// Of the three operands.
        modifiers: [Modifiers; 3],
    },
    /// One operand.
    Single(Single, Modifiers),
    /// An element of packed data.
    Unpack {
        /// How it is packed.
        format: Format,
        /// Which element.
        element: u8,
        /// Normalised, or an integer rounded toward zero.
        flag: bool,
    },
    /// Range reduction of angles.
    Reduce {
        /// The second part.
        second: bool,
        /// The iteration.
        iteration: u8,
        /// For cosines.
        cosine: bool,
        /// p0 is written.
        predicate: bool,
        /// Of the operand.
        modifiers: Modifiers,
    },
    /// Integers of 8 and 16 bits.
    Short {
        /// Sum, product, products of the lanes 0 and 1, of 2 and 3.
        op: u8,
        /// Of 16 bits.
        half: bool,
        /// All fields, which nothing public explains.
        fields: u32,
    },
    /// Integers of 32 and 64 bits.
    Wide {
        /// Which.
        op: Wide,
        /// Operands are signed.
        signed: bool,
        /// p0 is added.
        carry: bool,
        /// Of the three operands; no floors.
        modifiers: [Modifiers; 3],
    },
}

/// How data are packed. 2.3.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    U8888,
    S8888,
    O8888,
    U1616,
    S1616,
    O1616,
    U32,
    S32,
    U1010102,
    S1010102,
    U111110,
    S111110,
    F111110,
    F16F16,
    F32,
    Coverage,
    U565U565,
    D24S8,
    S8D24,
    F32Mask,
    TwoF10F10F10,
    S8888Ogl,
    S1616Ogl,
    Zero,
    One,
}

impl Format {
    /// By its number.
    pub const fn from_number(number: u8) -> Option<Format> {
        Some(match number {
            0 => Format::U8888,
            1 => Format::S8888,
            2 => Format::O8888,
            3 => Format::U1616,
            4 => Format::S1616,
            5 => Format::O1616,
            6 => Format::U32,
            7 => Format::S32,
            8 => Format::U1010102,
            9 => Format::S1010102,
            10 => Format::U111110,
            11 => Format::S111110,
            12 => Format::F111110,
            14 => Format::F16F16,
            15 => Format::F32,
            16 => Format::Coverage,
            17 => Format::U565U565,
            18 => Format::D24S8,
            19 => Format::S8D24,
            20 => Format::F32Mask,
            21 => Format::TwoF10F10F10,
            22 => Format::S8888Ogl,
            23 => Format::S1616Ogl,
            30 => Format::Zero,
            31 => Format::One,
            _ => return None,
        })
    }
}

/// A pack. 2.3.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pack {
    /// The format comes from the external feedthrough.
    pub programmed: bool,
    /// Toward zero, else to nearest.
    pub toward_zero: bool,
    /// Normalised.
    pub scale: bool,
    /// The format.
    pub format: Format,
}

/// What a test asks of a, or of a and b. 2.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// a is 0.
    Zero,
    /// a > 0.
    Positive,
    /// a >= 0.
    NotNegative,
    /// The carry.
    Carry,
    /// a = b.
    Equal,
    /// a > b.
    Greater,
    /// a >= b.
    GreaterEqual,
    /// a != b.
    NotEqual,
    /// a < b.
    Less,
    /// a <= b.
    LessEqual,
}

impl Relation {
    /// It looks at b too.
    pub const fn of_two(self) -> bool {
        !matches!(
            self,
            Relation::Zero | Relation::Positive | Relation::NotNegative | Relation::Carry
        )
    }
}

/// The type of a test's operands. 2.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Type {
    F32,
    U16,
    S16,
    U8,
    S8,
    U32,
    S32,
}

/// A test. 2.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// What is asked.
    pub relation: Relation,
    /// Of what.
    pub kind: Type,
    /// Which element of short types.
    pub element: u8,
    /// p0 is written.
    pub predicate: bool,
}

/// A move. 1.5.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Of W0 and W1 where the test holds.
    pub taken: [Feed; 2],
    /// Bytes of W0.
    pub mask: u8,
    /// Whatever the test says.
    pub always: bool,
}

/// What the vertex buffer is told. 2.8.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Uvsw {
    /// A word is written: by W1 rather than W0, and where.
    pub write: Option<(bool, Address)>,
    /// The vertex is done, in this stream.
    pub emit: Option<u8>,
    /// The strip is cut.
    pub cut: bool,
    /// The task is done.
    pub end_task: bool,
}

/// Where a vertex output goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A number.
    Number(u8),
    /// The port of the register that has it.
    Port(u8),
}

/// How long a burst is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Burst {
    /// 1 to 16 words.
    Number(u8),
    /// The port of the register that has it.
    Port(u8),
}

/// Where an iterator evaluates. 2.8.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The pixel.
    Pixel,
    /// The sample.
    Sample,
    /// The centroid.
    Centroid,
}

/// Atomic operations of memory. 2.8.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Atomic {
    Add,
    Sub,
    Exchange,
    UMin,
    SMin,
    UMax,
    SMax,
    And,
    Or,
    Xor,
}

/// A texture operation. 2.9.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Results are floats.
    pub normalise: bool,
    /// The data fence.
    pub drc: u8,
    /// 1 to 3.
    pub dimensions: u8,
    /// 1 to 4.
    pub channels: u8,
    /// Where the level comes from.
    pub lod: Lod,
    /// A level for each pixel.
    pub per_pixel: bool,
    /// Coordinates are divided by what follows them.
    pub projected: bool,
    /// 0, 1 raw data, 2 coefficients, 3 both.
    pub raw: u8,
    /// Coordinates are texels.
    pub integers: bool,
    /// A sample number is given.
    pub sample: bool,
    /// Offsets are given.
    pub offsets: bool,
    /// The address is given.
    pub address: bool,
    /// Results are halves.
    pub half: bool,
    /// The schedule swaps.
    pub swap: bool,
    /// The cache mode.
    pub cache: u8,
    /// Texels are written.
    pub write: bool,
    /// The extension C: direct, half input, comparison, integer, array.
    pub extended: Option<Extended>,
}

/// Extension C of a texture operation. 2.9.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extended {
    /// The state is in the instruction's registers.
    pub direct: bool,
    /// Coordinates are halves.
    pub half_input: bool,
    /// Texels are compared.
    pub compares: bool,
    /// Results are integers.
    pub integer: bool,
    /// There is an array index.
    pub array: bool,
}

/// Where a level comes from. 2.9.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Lod {
    /// From the quad.
    Normal,
    /// From the quad, and a bias.
    Bias,
    /// A word.
    Replace,
    /// Gradients.
    Gradients,
}

/// Which mask is saved. 2.8.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MaskMode {
    Valid,
    Coverage,
    CoverageOc,
    CoverageI,
    Xy,
}

/// A backend operation. 2.8, 2.9.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The vertex buffer.
    Uvsw(Uvsw),
    /// A mask becomes W0.
    SaveMask(MaskMode),
    /// A mask is set from a port.
    MoveMask(Option<u8>),
    /// The phase changes.
    Phase,
    /// W0 or W1 becomes the link.
    SetLink(u8),
    /// Depth feedback.
    Depth,
    /// A test of alpha: p0 is written, and feedback is left out.
    AlphaTest {
        /// p0 is written.
        predicate: bool,
        /// It only tests.
        quiet: bool,
    },
    /// Iterated coefficients.
    Iterate {
        /// Divided by the iterated reciprocal of w.
        perspective: bool,
        /// The data fence.
        drc: u8,
        /// Where.
        mode: Mode,
        /// Clamped.
        saturate: bool,
        /// 1 to 16.
        count: u8,
    },
    /// A pixel goes to its target.
    EmitPixel {
        /// The output registers are freed.
        free: bool,
    },
    /// A fence of memory.
    Fence {
        /// The data fence.
        drc: u8,
        /// The port of the address.
        address: u8,
    },
    /// A load, to S3.
    Load {
        /// The data fence.
        drc: u8,
        /// The port of the address.
        address: u8,
        /// Words.
        burst: Burst,
        /// Normal, bypass, forced line fill.
        cache: u8,
    },
    /// A store.
    Store {
        /// The data fence.
        drc: u8,
        /// The port of the address.
        address: u8,
        /// The port of the data.
        data: u8,
        /// Elements.
        burst: Burst,
        /// Bytes of an element: 1, 2 or 4.
        size: u8,
        /// Write through, back, lazily back.
        cache: u8,
        /// The port of the coverage of a tiled store, with the bits that nothing public explains.
        tiled: Option<(u8, u8)>,
    },
    /// A texture operation.
    Sample(Sample),
    /// An atomic operation.
    Atomic {
        /// The data fence.
        drc: u8,
        /// Which.
        op: Atomic,
        /// The port of address and data.
        source: u8,
        /// The port of the result's register.
        destination: u8,
    },
}

/// A bitwise group. 2.6.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Bitwise {
    /// Phase 0.
    pub p0: Masks,
    /// Phase 1.
    pub logical: Option<Logical>,
    /// Phase 2.
    pub shift: Option<Shift>,
}

/// Phase 0 of a bitwise group. 2.6.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Masks {
    /// FT2 is counted rather than S2.
    pub counts_shifted: bool,
    /// What FT3 is.
    pub count: Count,
    /// What FT2 is.
    pub shift: FirstShift,
    /// What FT1 is.
    pub mask: Mask,
}

/// What FT3 is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Count {
    /// Bits that are set.
    Bits,
    /// The highest bit that is set.
    Top,
    /// The operand.
    Bypass,
}

/// What FT2 is of S2.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FirstShift {
    /// The same.
    Bypass,
    /// Its low half's bits between those of S1's.
    Interleave,
    /// Its bits backwards.
    Reverse,
    /// Left by S1.
    Left,
}

/// What FT1 is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// S1, beside S0 as FT0.
    Bypass,
    /// As many ones as S0 says, as many bits up as S1 says.
    Ones,
    /// A number.
    Number(u32),
}

/// Phase 1 of a bitwise group.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Logical {
    /// S3 without the mask, rather than S3.
    pub mask_b: bool,
    /// FT2 within the mask, rather than FT2.
    pub mask_a: bool,
    /// The operation.
    pub op: LogicalOp,
}

/// What phase 1 does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LogicalOp {
    Or,
    And,
    Xor,
    Nor,
    Nand,
    Xnor,
    Bypass,
}

/// Phase 2 of a bitwise group.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shift {
    /// p0 is written.
    pub predicate: bool,
    /// FT3 is tested rather than FT5.
    pub tests_count: bool,
    /// It is not zero, rather than zero.
    pub not_zero: bool,
    /// The shift.
    pub op: ShiftOp,
}

/// How phase 2 shifts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ShiftOp {
    Left,
    Right,
    Rotate,
    Cps,
    ArithmeticTop,
    ArithmeticPartial,
    ArithmeticMask,
    ArithmeticFirst,
}

/// A mask operation. 2.7.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Conditional {
    Start,
    Else,
    Set,
    Loop,
    End,
    SetLinkB,
    LoopLink,
    SetLinkA,
}

/// Of which instances a mask operation is true. 2.7.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum When {
    Always,
    IfTrue,
    Never,
    IfFalse,
}

/// Which instances decide on a branch. 2.7.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Deciding {
    /// Those that execute it.
    Condition,
    /// It is taken when none executes.
    All,
    /// When any.
    Any,
}

/// A control operation. 2.7.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// A branch.
    Branch {
        /// The link is written.
        link: bool,
        /// Who decides.
        deciding: Deciding,
        /// The offset is an address.
        absolute: bool,
        /// Bytes from the start of the group.
        offset: i32,
    },
    /// A branch to the link.
    Return,
    /// The link becomes W0.
    SaveLink,
    /// The execution mask.
    Conditional {
        /// Which.
        op: Conditional,
        /// Of which instances it is true.
        when: When,
        /// By how much counters change.
        adjust: u8,
    },
    /// Waits for pixel outputs.
    WaitOutputs,
    /// Waits for a data fence.
    Wait(u8),
    /// A mutex: 0 release, 1 and sleep, 2 and wake up, 3 lock.
    Mutex {
        /// What.
        op: u8,
        /// Which.
        id: u8,
    },
    /// Nothing.
    Nop,
    /// Iterates and samples: nothing public explains it.
    IterateSample {
        /// Its bytes.
        bytes: [u8; 8],
        /// How many.
        count: u8,
    },
    /// An offset of a common store.
    StoreOffset {
        /// Of shared registers, rather than coefficients.
        shared: bool,
        /// The offset.
        offset: u8,
    },
    /// Iterated coefficients.
    Iterate(Iterate),
}

/// The iterator as a control operation. 2.7.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Iterate {
    /// The temporary.
    pub destination: u8,
    /// The first coefficient.
    pub coefficient: u8,
    /// The first coefficient of the reciprocal of w.
    pub reciprocal: u8,
    /// None, iterated, iterated and kept, kept.
    pub perspective: u8,
    /// Where.
    pub mode: Mode,
    /// 1 to 16.
    pub count: u8,
    /// Index registers of both coefficients: none, idx0, idx1.
    pub indices: [u8; 2],
    /// Results are halves.
    pub half: bool,
    /// None, swap, wait.
    pub schedule: u8,
    /// The data fence.
    pub drc: u8,
    /// Clamped.
    pub saturate: bool,
}
