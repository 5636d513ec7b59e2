//! Machine IR: what one step of a program does with registers of all its lanes, 8 or 16. An instruction here is one to four words
//! of the machine, or twice as many; what they hand over among themselves (the flag, an accumulator, message registers) never outlives it.

use crate::isa::operand::Type;
use crate::isa::ops::Opcode;
use gpucc_ir::mach::{
    self, Access, File, FileId, Files, Operand, Reg, Relation, Role, Scope, Slot,
};
use smallvec::SmallVec;

/// The general registers: one cell holds 32 bits of each lane, in one register of eight lanes or in two of 16, the first of which
/// is even.
pub const GPR: FileId = FileId(0);
/// Message registers, where a step's result may go straight; allocation knows nothing of them.
pub const MESSAGE: FileId = FileId(1);
/// The upper half of a message register, beside its number.
pub const UPPER: u8 = 16;
/// Number of general registers of a thread. G45 vol. 4, 11.3.2.
pub const REGISTERS: u16 = 128;
const fn file(cells: u16) -> File {
    File { name: "g", cells, row: 1, per_lane: true, scope: Scope::Function }
}
const OF_EIGHT: Files = Files(&[file(REGISTERS)]);
const OF_SIXTEEN: Files = Files(&[file(REGISTERS / 2)]);

/// The register files of a program of so many lanes.
pub const fn files(lanes: u32) -> Files {
    if lanes == 16 { OF_SIXTEEN } else { OF_EIGHT }
}

/// What a source reads.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Src {
    /// A register, lane by lane.
    Reg(Reg),
    /// A register of the payload, lane by lane; two of them where there are 16 lanes.
    Fixed(u8),
    /// One doubleword of a register of the payload, for all lanes.
    Scalar {
        /// Register.
        register: u8,
        /// Doubleword.
        dword: u8,
    },
    /// One doubleword of each half of a register of the payload: of the first vertex for the lower four lanes, of the second
    /// for the others.
    Pair {
        /// Register.
        register: u8,
        /// Doubleword, below 4.
        dword: u8,
    },
    /// One component of a register of two vertices, for the four lanes of each.
    Part {
        /// Register of components.
        reg: Reg,
        /// Component, below 4.
        component: u8,
    },
    /// A number.
    Bits(u32),
    /// Four floats of 8 bits, one a component, of a vector step alone. G45 vol. 4, 11.3.5.
    Floats(u32),
    /// What stands in the message's register already.
    There,
    /// Anything: a component of a slot that nobody reads.
    Free,
}

/// A source with what is done to it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Source {
    pub src: Src,
    /// The negative, of the absolute value where that is taken.
    pub negate: bool,
    /// The absolute value.
    pub absolute: bool,
}

/// The float of 8 bits that is a float of 32, if there is one: the sign, 3 bits of the exponent, 4 of the fraction. G45 vol. 4, 11.3.5.
pub fn small(bits: u32) -> Option<u32> {
    let (sign, exponent, fraction) = (bits >> 31, bits >> 23 & 0xff, bits & 0x7f_ffff);
    if bits << 1 == 0 {
        return Some(sign << 7);
    }
    // An exponent of 0 with a fraction of 0 is 0.
    let fits = (124..=131).contains(&exponent) && fraction.trailing_zeros() >= 19;
    let code = sign << 7 | exponent.wrapping_sub(124) << 4 | fraction >> 19;
    (fits && code & 0x7f != 0).then_some(code)
}

impl From<Src> for Source {
    fn from(src: Src) -> Source {
        Source { src, negate: false, absolute: false }
    }
}

/// Whether sources of [`Inst::Dot`] begin with what LINE makes: the product with a number and, as a product with 1, the number of the
/// constants that stands three behind it. G45 vol. 4, 14.2.21.
pub fn is_line(sources: &[Source]) -> bool {
    let pairs = sources.len() / 2;
    let [slope, offset, ..] = sources[..pairs] else { return false };
    let one = sources[pairs + 1].src == Src::Bits(1f32.to_bits());
    match (slope.src, offset.src) {
        (Src::Scalar { register, dword }, Src::Scalar { register: same, dword: last }) => {
            let plain = slope.is_plain() && offset.is_plain();
            one && plain && register == same && dword % 4 == 0 && last == dword + 3
        }
        _ => false,
    }
}

impl Source {
    /// Nothing is done to it.
    pub fn is_plain(&self) -> bool {
        !self.negate && !self.absolute
    }

    /// Where it stands among components.
    pub fn place(&self) -> Place {
        let of = |base: Base, src: Src, component: u8| Place {
            base,
            whole: Source { src, ..*self },
            component,
        };
        match self.src {
            Src::Reg(reg) => of(Base::Register(reg), self.src, 0),
            Src::Part { reg, component } => of(Base::Register(reg), Src::Reg(reg), component),
            Src::Fixed(register) => of(Base::Lanes(register), self.src, 0),
            Src::Pair { register, dword } => {
                of(Base::Pair(register), Src::Pair { register, dword: 0 }, dword)
            }
            Src::Scalar { register, dword } => {
                let half = Src::Scalar { register, dword: dword & 4 };
                of(Base::Half(register, dword / 4), half, dword & 3)
            }
            Src::Bits(bits) if small(bits).is_some() => of(Base::Floats, self.src, 0),
            Src::Bits(bits) | Src::Floats(bits) => of(Base::Number(bits), self.src, 0),
            Src::There | Src::Free => of(Base::Nothing, self.src, 0),
        }
    }
}

/// What one operand of Align16 takes all its components from. G45 vol. 4, 11.3.7.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Base {
    /// A register: of lanes, where each component is alike, or of two vertices.
    Register(Reg),
    /// A register of the payload, lane by lane.
    Lanes(u8),
    /// A register of the payload, of two vertices.
    Pair(u8),
    /// Half of a register of the payload, for both vertices.
    Half(u8, u8),
    /// One number.
    Number(u32),
    /// Numbers that floats of 8 bits are: one operand has one for each component.
    Floats,
    /// No operand.
    Nothing,
}

/// A source as a component.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub base: Base,
    /// The first component of the base, with what is done to it.
    pub whole: Source,
    /// The component, below 4.
    pub component: u8,
}

/// A source of a vector step: registers of components begin with the first of them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Swizzled {
    pub of: Source,
    /// The component that each of the four reads, 2 bits each, the first lowest.
    pub select: u8,
}

/// Conditions by their codes. G45 vol. 4, 13.2.1.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    Equal = 1,
    NotEqual = 2,
    Greater = 3,
    GreaterEqual = 4,
    Less = 5,
    LessEqual = 6,
    /// The product of both, which is no negative number, is below 1: cut off it is the integer 0.
    ProductBelowOne = 0x11,
    /// Some bit is set in both.
    AnyBit = 0x12,
    /// No bit is set in both.
    NoBit = 0x13,
}

impl Condition {
    /// The condition with the operands exchanged.
    pub fn exchanged(self) -> Condition {
        match self {
            Condition::Equal
            | Condition::NotEqual
            | Condition::ProductBelowOne
            | Condition::AnyBit
            | Condition::NoBit => self,
            Condition::Greater => Condition::Less,
            Condition::GreaterEqual => Condition::LessEqual,
            Condition::Less => Condition::Greater,
            Condition::LessEqual => Condition::GreaterEqual,
        }
    }

    /// The condition that holds where this one does not; none of an order of floats, which a NaN has not.
    pub fn opposite(self, ty: Type) -> Option<Condition> {
        match self {
            Condition::Equal => Some(Condition::NotEqual),
            Condition::NotEqual => Some(Condition::Equal),
            Condition::ProductBelowOne => None,
            Condition::AnyBit => Some(Condition::NoBit),
            Condition::NoBit => Some(Condition::AnyBit),
            _ if ty == Type::F => None,
            Condition::Greater => Some(Condition::LessEqual),
            Condition::GreaterEqual => Some(Condition::Less),
            Condition::Less => Some(Condition::GreaterEqual),
            Condition::LessEqual => Some(Condition::Greater),
        }
    }
}

/// A comparison that sets the flag.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Test {
    pub condition: Condition,
    pub ty: Type,
    /// Never a number.
    pub first: Source,
    pub second: Source,
    /// Only where the flag is set, or with true where it is not: the flag of other lanes stays.
    pub join: Option<bool>,
}

/// Functions of extended math. G45 vol. 4, 6.1.1.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Function {
    Inverse = 1,
    Log = 2,
    Exp = 3,
    Root = 4,
    InverseRoot = 5,
}

/// A stack of masks. G45 vol. 4, 11.3.4.8.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Stack {
    /// Of `if`.
    Conditions,
    /// Of `do`: two masks a loop.
    Loops,
}

/// What is done to a stack of masks and a half of a register, the lower one for conditions.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Masks {
    /// The register takes what is on the stack, which stays.
    Keep,
    /// The register takes what is on the stack, which is empty then.
    Begin,
    /// The stack gets what the register has: so many masks.
    Restore { depth: u8 },
}

/// One step.
#[derive(Clone, Debug)]
pub enum Inst {
    /// One word: an operation with the types of destination and sources. The first source is a number only where it is alone.
    /// `saturate`: floats are brought between 0 and 1.
    Alu {
        opcode: Opcode,
        to: Type,
        dst: Reg,
        from: Type,
        saturate: bool,
        sources: SmallVec<[Source; 2]>,
    },
    /// One word of Align16: the components of two vertices at once, one a lane. What it does not write is what `keep` was,
    /// or undefined.
    Vector {
        opcode: Opcode,
        to: Type,
        dst: Reg,
        from: Type,
        saturate: bool,
        /// A bit for each component that is written.
        channels: u8,
        sources: SmallVec<[Swizzled; 2]>,
        keep: Option<Reg>,
    },
    /// The dot product of the first half of the sources with the second half, to every lane of a vertex, or to the components of
    /// `channels`, where there are any; `keep` as [`Inst::Vector`] has it. `dots` makes vectors of it.
    Dot { dst: Reg, channels: u8, sources: SmallVec<[Source; 8]>, keep: Option<Reg> },
    /// One of two by a comparison, in each component of two vertices that is written, or in whole lanes. It has a flag of
    /// its own, so that it leaves the flag of [`Inst::Compare`] alone. `first` and `yes` are no numbers.
    Choose {
        dst: Reg,
        condition: Condition,
        ty: Type,
        /// A bit for each component; none where the registers are of lanes.
        channels: u8,
        /// `yes` where the comparison does not hold.
        inverse: bool,
        /// First and second operand of the comparison, `yes`, `no`.
        sources: [Swizzled; 4],
        /// What holds the components that are not written.
        keep: Option<Reg>,
    },
    /// As [`Inst::Choose`] between `keep` and what one word makes: the word is written where the comparison holds, or does not.
    /// Without `channels` all registers are of lanes.
    Apply {
        dst: Reg,
        condition: Condition,
        ty: Type,
        channels: u8,
        inverse: bool,
        /// First and second operand of the comparison.
        test: [Swizzled; 2],
        opcode: Opcode,
        to: Type,
        from: Type,
        sources: SmallVec<[Swizzled; 2]>,
        keep: Reg,
    },
    /// One operation on a part of each lane's doubleword, a byte or a word as `ty` says, from byte `byte` on: it is moved to a type,
    /// or as a float multiplied by the second source, or added to it. The source is as it is. A word, or one for each eight lanes.
    Piece {
        opcode: Opcode,
        to: Type,
        dst: Reg,
        ty: Type,
        byte: u8,
        source: Source,
        second: Option<Source>,
    },
    /// A parallel copy.
    Copy { dst: SmallVec<[Reg; 2]>, src: SmallVec<[Reg; 2]> },
    /// Sets the flag. It stays until the next step that sets it; what allocation puts between leaves it alone.
    Compare(Test),
    /// One where the test holds, else 0.
    Truth { dst: Reg, test: Test },
    /// One where the flag is set, or its opposite, else 0.
    Flagged { dst: Reg, inverse: bool },
    /// `yes` where the flag is set, or its opposite, else `no`. `yes` is no number.
    Select { dst: Reg, inverse: bool, yes: Source, no: Source },
    /// One word as [`Inst::Alu`] has it where the flag is set, or its opposite; elsewhere `dst` is what `keep` was.
    When {
        inverse: bool,
        opcode: Opcode,
        to: Type,
        dst: Reg,
        from: Type,
        sources: SmallVec<[Source; 2]>,
        keep: Reg,
    },
    /// The low half of a product of doublewords; `dst` and `high` are written before the factors are read for the last time.
    Product { dst: Reg, high: Reg, first: Source, second: Source },
    /// The nearest whole float of a magnitude, the even one of two; it sets the flag.
    Round { dst: Reg, source: Source },
    /// The high half.
    ProductHigh { dst: Reg, ty: Type, first: Source, second: Source },
    /// A message to extended math. The source is a register as it is.
    Math { dst: Reg, function: Function, source: Source },
    /// A message to extended math of Align16: a function of components of two vertices, as [`Inst::Vector`] has them.
    MathVector { dst: Reg, function: Function, channels: u8, source: Swizzled, keep: Option<Reg> },
    /// A message to extended math with two operands: the quotient of integers, or the remainder.
    Divide { dst: Reg, remainder: bool, signed: bool, numerator: Source, denominator: Source },
    /// A message to the sampler; the reply's registers lie side by side. In a program of eight lanes the form of 16 channels replies
    /// with two registers a component.
    Sample { dst: SmallVec<[Reg; 8]>, lookup: Lookup, parameters: SmallVec<[Source; 9]> },
    /// Reads a doubleword for each lane: address in bytes, plus `offset`.
    Read { dst: Reg, address: Source, offset: u32, surface: u8, slot: Option<Slot> },
    /// Reads the four doublewords at the address of each vertex plus `offset`, in bytes, both of which end with four zeros: the
    /// components of one register. G45 vol. 4, 5.10.3.
    ReadRow { dst: Reg, address: Source, offset: u32, surface: u8 },
    /// Words of a table among the constants, by each lane's offset in bytes: `first` is the byte among all general registers that
    /// offset 0 stands for. A result is a register of lanes for each word, or with `side` one register of two vertices, whose
    /// components are two or four words that are aligned to their size. G45 vol. 4, 11.3.9.
    Table { dst: SmallVec<[Reg; 4]>, offset: Source, first: u16, side: Option<Side> },
    /// A word of a variable in registers: `offset` is in bytes of registers, a whole one for each word, and counts from register
    /// `first` on. Each vertex has its own offset, and its own half of each register. Vertex programs alone. G45 vol. 4, 11.3.9.
    Element { dst: Reg, offset: Source, first: u8 },
    /// Writes one.
    SetElement { offset: Source, first: u8, value: Source },
    /// Writes one and waits for it when r0 is read next.
    Write { address: Source, value: Source, offset: u32, surface: u8, slot: Option<Slot> },
    /// Lanes whose flag is set, or its opposite, go on; the others wait for `Else`, or for `EndIf`.
    If { inverse: bool, otherwise: bool },
    /// The other lanes.
    Else,
    /// All lanes of before `If`.
    EndIf,
    /// A loop begins.
    Do,
    /// Lanes that have not left go back to `Do`: where that counts, those whose flag is set, or with true those whose flag is not.
    While { flag: Option<bool> },
    /// Lanes leave the loop, out of so many `If`s.
    Break(u8),
    /// A stack of masks goes to a half of a register, or comes back from it.
    Masks { stack: Stack, register: u8, step: Masks },
    /// What follows is for lanes whose flag is set alone, or with true for those whose flag is not; for all without one.
    Guard(Option<bool>),
    /// The lanes are those of so many steps further on; `bytes`: so are their byte offsets.
    Advance { steps: i32, bytes: bool },
    /// The value of a plane at each pixel: register and first doubleword of its slopes.
    Plane { dst: Reg, register: u8, dword: u8 },
    /// A coordinate of each pixel's middle, by axis.
    Center { dst: Reg, axis: u8 },
    /// A difference across each quad.
    Difference { dst: Reg, source: Reg, which: Difference },
    /// A bit for each lane that is there and whose source is not 0; the flag is another behind it.
    Ballot { dst: Reg, source: Source },
    /// The source of the lanes that are there, and 0 of the others, to the registers of the payload that all lanes read.
    Spread { source: Source },
    /// What one lane has there.
    Lane { dst: Reg, lane: u8 },
    /// What each lane asks for there: so many bytes behind the first.
    Gather { dst: Reg, bytes: Reg },
    /// Lanes become helpers.
    Demote,
    /// Lanes for which the test holds become helpers.
    DemoteWhere(Test),
    /// Lanes whose flag is set become helpers, or with true those whose flag is not; all of the thread's are there.
    DemoteBy(bool),
    /// One in helpers, 0 elsewhere.
    Helper { dst: Reg },
    /// The pixels' colour goes to a target; the last write ends the thread.
    Target { values: [Source; 4], depth: Option<Source>, target: u8, last: bool },
    /// A slot of two vertices to a message register, or of one vertex to a half of it ([`UPPER`]); the four lanes of a vertex
    /// have the same value in each component.
    Slot { values: [Source; 4], message: u8 },
    /// So many slots leave for a row of the URB entries; the last write ends the thread.
    Entry { row: u8, count: u8, last: bool },
    /// Geometry: so many message registers leave for a row of the open entry. Where that is complete, the next one is open behind it.
    Leave { row: u8, count: u8, complete: bool },
    /// Geometry: what the header says of the open entry's place in its strip; `joins`: beside what it says already.
    Mark { bits: u32, joins: bool },
    /// Geometry: the thread ends, and the open entry is of no use.
    Close,
    /// The thread ends.
    End,
}

/// What a message to the sampler says beside its parameters. G45 vol. 4, 4.8.1.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Lookup {
    /// Type of the message; its length says the rest.
    pub message: u8,
    /// The form of 16 channels: each parameter and each component of the reply has two registers of eight lanes.
    pub wide: bool,
    /// Entry of the binding table.
    pub surface: u8,
    /// Number of the sampler's state.
    pub sampler: u8,
    /// What the 965 is told of the reply.
    pub reply: Reply,
    /// Doubleword 2 of the header: level 0, components that are left out, offsets in texels.
    pub control: u32,
}

/// How components of a reply come on the 965. G45 vol. 4, 4.8.1.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    Float = 0,
    Unsigned = 2,
    Signed = 3,
}

/// How many words of a table lie side by side.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Side {
    Two,
    Four,
}

/// What a derivative takes the difference of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// The upper row.
    CoarseX,
    /// The own row.
    FineX,
    /// The left column.
    CoarseY,
    /// The own column.
    FineY,
}

macro_rules! visit {
    ($self:expr, $each:expr, $iter:ident $(, $mutable:tt)?) => {{
        let each = $each;
        macro_rules! source {
            ($source:expr) => {
                if let Src::Reg(reg) | Src::Part { reg, .. } = & $($mutable)? $source.src {
                    each(reg, Role::Use);
                }
            };
        }
        macro_rules! test {
            ($test:expr) => {
                source!($test.first);
                source!($test.second);
            };
        }
        match $self {
            Inst::Alu { dst, sources, .. } => {
                for source in sources.$iter() {
                    source!(source);
                }
                each(dst, Role::Def);
            }
            Inst::Vector { dst, sources, keep, .. } => {
                for source in sources.$iter() {
                    source!(source.of);
                }
                keep.$iter().for_each(|reg| each(reg, Role::Use));
                each(dst, Role::Def);
            }
            Inst::Dot { dst, sources, keep, .. } => {
                for source in sources.$iter() {
                    source!(source);
                }
                keep.$iter().for_each(|reg| each(reg, Role::Use));
                each(dst, Role::Def);
            }
            Inst::MathVector { dst, source, keep, .. } => {
                source!(source.of);
                keep.$iter().for_each(|reg| each(reg, Role::Use));
                each(dst, Role::Def);
            }
            Inst::Choose { dst, sources, keep, .. } => {
                for source in sources.$iter() {
                    source!(source.of);
                }
                keep.$iter().for_each(|reg| each(reg, Role::Use));
                each(dst, Role::Def);
            }
            Inst::Apply { dst, test, sources, keep, .. } => {
                for source in test.$iter() {
                    source!(source.of);
                }
                for source in sources.$iter() {
                    source!(source.of);
                }
                each(keep, Role::Use);
                each(dst, Role::Def);
            }
            Inst::Piece { dst, source, second, .. } => {
                source!(source);
                for source in second.$iter() {
                    source!(source);
                }
                each(dst, Role::Def);
            }
            Inst::Copy { dst, src } => {
                src.$iter().for_each(|reg| each(reg, Role::Use));
                dst.$iter().for_each(|reg| each(reg, Role::Def));
            }
            Inst::Compare(test) | Inst::DemoteWhere(test) => {
                test!(test);
            }
            Inst::Truth { dst, test } => {
                test!(test);
                each(dst, Role::Def);
            }
            Inst::Select { dst, yes, no, .. } => {
                source!(yes);
                source!(no);
                each(dst, Role::Def);
            }
            Inst::When { dst, sources, keep, .. } => {
                for source in sources.$iter() {
                    source!(source);
                }
                each(keep, Role::Use);
                each(dst, Role::Def);
            }
            Inst::Product { dst, high, first, second } => {
                source!(first);
                source!(second);
                each(dst, Role::EarlyDef);
                each(high, Role::EarlyDef);
            }
            Inst::ProductHigh { dst, first, second, .. } => {
                source!(first);
                source!(second);
                each(dst, Role::Def);
            }
            Inst::Math { dst, source, .. } | Inst::Round { dst, source } => {
                source!(source);
                each(dst, Role::Def);
            }
            Inst::Divide { dst, numerator, denominator, .. } => {
                source!(numerator);
                source!(denominator);
                each(dst, Role::EarlyDef);
            }
            Inst::Sample { dst, parameters, .. } => {
                for source in parameters.$iter() {
                    source!(source);
                }
                dst.$iter().for_each(|reg| each(reg, Role::Def));
            }
            Inst::Read { dst, address, .. } | Inst::ReadRow { dst, address, .. } => {
                source!(address);
                each(dst, Role::Def);
            }
            Inst::Table { dst, offset, .. } => {
                source!(offset);
                dst.$iter().for_each(|reg| each(reg, Role::Def));
            }
            Inst::Element { dst, offset, .. } => {
                source!(offset);
                each(dst, Role::Def);
            }
            Inst::Write { address: first, value: second, .. }
            | Inst::SetElement { offset: first, value: second, .. } => {
                source!(first);
                source!(second);
            }
            Inst::Plane { dst, .. }
            | Inst::Center { dst, .. }
            | Inst::Helper { dst }
            | Inst::Lane { dst, .. }
            | Inst::Flagged { dst, .. } => {
                each(dst, Role::Def);
            }
            Inst::Ballot { dst, source } => {
                source!(source);
                each(dst, Role::Def);
            }
            Inst::Spread { source } => {
                source!(source);
            }
            Inst::Gather { dst, bytes } => {
                each(bytes, Role::Use);
                each(dst, Role::Def);
            }
            Inst::Difference { dst, source, .. } => {
                each(source, Role::Use);
                each(dst, Role::Def);
            }
            Inst::Target { values, depth, .. } => {
                for value in values.$iter().chain(depth) {
                    source!(value);
                }
            }
            Inst::Slot { values, .. } => {
                for value in values.$iter() {
                    source!(value);
                }
            }
            Inst::If { .. }
            | Inst::Else
            | Inst::EndIf
            | Inst::Do
            | Inst::While { .. }
            | Inst::Break(_)
            | Inst::Masks { .. }
            | Inst::Advance { .. }
            | Inst::Guard(_)
            | Inst::Demote
            | Inst::DemoteBy(_)
            | Inst::Entry { .. }
            | Inst::Leave { .. }
            | Inst::Mark { .. }
            | Inst::Close
            | Inst::End => {}
        }
    }};
}

/// What a step reads beside registers that stand alone.
macro_rules! sources {
    ($self:expr, $iter:ident $(, $mutable:tt)?) => {
        match $self {
            Inst::Alu { sources, .. } | Inst::When { sources, .. } => sources.$iter().collect(),
            Inst::Dot { sources, .. } => sources.$iter().collect(),
            Inst::Choose { sources, .. } => {
                sources.$iter().map(|source| & $($mutable)? source.of).collect()
            }
            Inst::Vector { sources, .. } => {
                sources.$iter().map(|source| & $($mutable)? source.of).collect()
            }
            Inst::Apply { test, sources, .. } => {
                let all = test.$iter().chain(sources.$iter());
                all.map(|source| & $($mutable)? source.of).collect()
            }
            Inst::Sample { parameters, .. } => parameters.$iter().collect(),
            Inst::Piece { source, second, .. } => [source].into_iter().chain(second).collect(),
            Inst::Slot { values, .. } => values.$iter().collect(),
            Inst::Target { values, depth, .. } => values.$iter().chain(depth).collect(),
            Inst::Compare(test) | Inst::DemoteWhere(test) | Inst::Truth { test, .. } => {
                SmallVec::from_iter([& $($mutable)? test.first, & $($mutable)? test.second])
            }
            Inst::Select { yes: first, no: second, .. }
            | Inst::Product { first, second, .. }
            | Inst::ProductHigh { first, second, .. }
            | Inst::SetElement { offset: first, value: second, .. }
            | Inst::Write { address: first, value: second, .. } => {
                SmallVec::from_iter([first, second])
            }
            Inst::Read { address: source, .. }
            | Inst::ReadRow { address: source, .. }
            | Inst::Table { offset: source, .. }
            | Inst::Element { offset: source, .. }
            | Inst::Math { source, .. }
            | Inst::Round { source, .. }
            | Inst::Ballot { source, .. }
            | Inst::Spread { source } => {
                SmallVec::from_iter([source])
            }
            Inst::Divide { numerator, denominator, .. } => {
                SmallVec::from_iter([numerator, denominator])
            }
            Inst::MathVector { source, .. } => SmallVec::from_iter([& $($mutable)? source.of]),
            _ => SmallVec::new(),
        }
    };
}

impl Inst {
    /// The sources.
    pub fn sources(&self) -> SmallVec<[&Source; 4]> {
        sources!(self, iter)
    }

    /// The sources, to be changed.
    pub fn sources_mut(&mut self) -> SmallVec<[&mut Source; 4]> {
        sources!(self, iter_mut, mut)
    }

    /// A part of the result is what it was before: the last register that is read.
    pub fn keeps(&self) -> bool {
        matches!(
            self,
            Inst::When { .. }
                | Inst::Apply { .. }
                | Inst::Vector { keep: Some(_), .. }
                | Inst::Dot { keep: Some(_), .. }
                | Inst::MathVector { keep: Some(_), .. }
                | Inst::Choose { keep: Some(_), .. }
        )
    }

    /// The flag is another behind it.
    pub fn sets_flag(&self) -> bool {
        matches!(
            self,
            Inst::Compare(_) | Inst::Truth { .. } | Inst::Round { .. } | Inst::Ballot { .. }
        )
    }
}

impl mach::Inst for Inst {
    fn operands(&self, visit: &mut dyn FnMut(Operand)) {
        let side_by_side = matches!(self, Inst::Sample { .. });
        let kept = self.keeps();
        let (mut offset, mut visited) = (0, 0u8);
        let each = &mut |reg: &Reg, role: Role| {
            let mut operand = Operand { role, ..Operand::use_of(*reg) };
            if side_by_side && role.is_def() {
                operand = operand.with(Relation::Group { set: 0, offset });
                offset += 1;
            }
            // What is kept stands before.
            if kept && role.is_def() {
                operand = operand.with(Relation::Tied(visited - 1));
            }
            visited = visited.saturating_add(1);
            visit(operand);
        };
        visit!(self, each, iter);
    }

    fn rewrite(&mut self, map: &mut dyn FnMut(Reg, Role) -> Reg) {
        let each = &mut |reg: &mut Reg, role: Role| *reg = map(*reg, role);
        visit!(self, each, iter_mut, mut);
    }

    fn is_copy(&self) -> bool {
        matches!(self, Inst::Copy { .. })
    }

    fn ends_block(&self) -> bool {
        matches!(
            self,
            Inst::If { .. } | Inst::While { .. } | Inst::Break(_) | Inst::End | Inst::Close
        )
    }

    fn access(&self) -> Option<Access> {
        match self {
            Inst::Read { slot: Some(slot), .. } => Some(Access::Load(*slot)),
            Inst::Write { slot: Some(slot), .. } => Some(Access::Store(*slot)),
            _ => None,
        }
    }
}
