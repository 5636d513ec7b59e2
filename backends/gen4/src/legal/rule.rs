//! The rules by name, with the manual's words in ours and its section.

macro_rules! rules {
    ($($name:ident $text:literal;)*) => {
        /// A rule of the manual.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
        pub enum Rule {
            $(#[error($text)] $name),*
        }

        impl Rule {
            /// All rules in order.
            pub const ALL: &[Rule] = &[$(Rule::$name),*];
        }
    };
}

rules! {
    // Regions.
    ExecSizeReserved "the execution size is reserved (13.2.2)";
    ExecSizeType "more channels than elements of the largest type allow (11.3.10 rule 1, table 11-30)";
    WidthAboveSize "the width exceeds the execution size (11.3.10 rule 3)";
    RowStride "one row fills the execution size: the vertical stride must be width times horizontal stride (11.3.10 rule 4)";
    WidthOneStride "the width is 1: the horizontal stride must be 0 (11.3.10 rule 6)";
    ScalarStride "size and width are 1: both strides must be 0 (11.3.10 rule 7)";
    ScalarWidth "both strides are 0: the width must be 1 (11.3.10 rule 8)";
    DestinationCrosses "the destination crosses a register (11.3.10 rule 9)";
    DestinationAlignment "the destination is not aligned to the execution type (11.3.10 rule 10.1.1)";
    DestinationStride "the destination's elements are closer than the execution type (11.3.10 rule 10.1.2)";
    DestinationStrideZero "a destination's horizontal stride must not be 0 (11.3.10 rule 10.2)";
    PackedBytes "packed bytes are written by a raw mov alone (11.3.10 rule 10.3)";
    SplitDestination "a source of two registers: the destination must be within an OWord or split evenly (11.3.10 rule 10.4)";
    RelaxedBytes "this chip aligns bytes of a destination as all else (11.3.10, restriction of rule 10.5)";
    SourceTwoRegisters "a source is within two registers (11.3.10 rule 11)";
    RowCrosses "a row of a source crosses a register (11.3.10 rule 11.1)";
    SecondCrosses "a second source that crosses a register needs a vertical stride of 32 bytes (11.3.10 rule 11.2)";
    Align16Crosses "an align16 source is within one register (11.3.10 rule 12)";
    Align16Row "four elements of an align16 operand span 16 bytes (11.3.8)";
    IndirectMessage "this chip has no indirect message registers (11.3.3, table 11-4)";
    IndirectSecond "this chip has no indirect second source (11.3.10 table 11-31)";
    IndirectSecondRows "an indirect second source has one index (11.3.10 rule 13.2)";
    IndexSix "two indices must not begin at a0.6 on this chip (11.3.10 rule 13.5)";
    IndexSeven "bytes behind a0.7 with a negative offset are not for this chip (11.3.10 rule 13.6)";
    // Compression.
    CompressedAlign16 "align16 cannot be compressed (11.5.3)";
    CompressedSize "a compressed instruction has 16 or 32 channels (11.5.3)";
    CompressedControl "control flow and messages cannot be compressed (11.5.3)";
    CompressedNever "this instruction cannot be compressed (14.2)";
    CompressedRegister "a compressed operand begins at an even register (11.5.3, operand alignment)";
    CompressedByte "a compressed operand begins with the first element of its register (11.5.3, exceptions A and D)";
    CompressedPackedWords "packed words beside a dword destination begin at byte 0 (11.5.3, exception C)";
    CompressedBytes "bytes beside a dword destination have a horizontal stride of 0 or 2 (11.5.3, exception C)";
    CompressedArchitecture "a compressed instruction names no architecture register but acc0 (11.5.3)";
    CompressedIndex "a compressed indirect operand has one index, an even one (11.5.2)";
    Compr4 "this chip has no compr4 (11.5.2)";
    CompressedAccumulates "this chip cannot compress 32 channels that read an accumulator (11.5.2, errata)";
    // Accumulators and numbers.
    AccumulatorSecond "an accumulator is the first source alone (11.3.4.5)";
    AccumulatorModifier "an accumulator has no source modifier (11.3.4.5)";
    AccumulatorSaturates "an accumulator as the destination is not saturated (11.3.4.5)";
    AccumulatorsDiffer "source and destination are different accumulators (11.3.4.5)";
    AccumulatorSource "this instruction must not read an accumulator (14.2)";
    AccumulatorDestination "this instruction must not write an accumulator (14.2)";
    VectorWords "a vector of integers belongs to words (13.2.3, note 2)";
    VectorDestination "beside a vector the destination is aligned to 16 bytes, a word or a dword apart (11.3.5)";
    // Single instructions.
    FloatSource "this instruction reads floats alone (14.2)";
    IntegerSource "this instruction reads integers alone (14.2)";
    DwordBesideFloat "a dword integer must not stand beside a float (14.2)";
    DwordToFloat "a product of dwords must not be a float (14.2.29)";
    DwordProductFlags "a product of dwords has neither saturation nor condition (14.2.29)";
    MacDword "mac has no dwords (14.2.23)";
    MachDword "mach has dwords alone (14.2.24)";
    MachTypes "mach: a signed operand of an unsigned result needs (abs), and a signed result signed operands (14.2.24)";
    NoSaturation "this instruction is not saturated (14.2)";
    ConditionMissing "a comparison has a condition (14.2.6, 14.2.7)";
    ComparisonDestination "a comparison must not write an architecture register (14.2.6, 14.2.7)";
    PredicateMissing "sel has a predicate (14.2.43)";
    SelectBytes "sel must not write odd bytes (14.2.43)";
    ShiftUnsigned "shr takes unsigned numbers, signed ones with (abs), and no other modifier (14.2.46)";
    LeadingZeros "lzd takes unsigned dwords, signed ones with (abs), and makes an unsigned dword (14.2.22)";
    DotSize "a dot product has at least 4 channels (14.2.10 to 14.2.13)";
    DotStride "a dot product's horizontal strides are 1 (14.2.10 to 14.2.13)";
    LineSize "line and pln have 8 or 16 channels (14.2.21, 14.2.34)";
    LineScalar "the first source of line and pln is a float scalar (14.2.21, 14.2.34)";
    LineSubregister "the first source of line and pln begins at element 0 or 4 (14.2.21, 14.2.34)";
    PlaneRegister "the second source of pln begins at an even register (14.2.34)";
    MoviSource "movi reads an indirect general register from a0.0 on, one index an element (14.2.26)";
    MoviAlign "movi is align1, and writes at byte 0 or 16 with the source's element apart (14.2.26)";
    MoviSize "movi has less than 16 channels (14.2.26)";
    SadTypes "sad2 and sada2 make words of bytes (14.2.41, 14.2.42)";
    SadSize "sad2 and sada2 have at least 2 channels (14.2.41, 14.2.42)";
    OneChannel "this instruction has one channel (14.2)";
    NoPredicate "this instruction has no predicate (14.2)";
    StackTypes "a mask-stack instruction has unsigned integers without modifiers (14.2.27, 14.2.28, 14.2.35, 14.2.36)";
    BranchOperands "destination and first source of a branch are ip (14.2)";
    NoCondition "this instruction makes no condition (14.2, column Cond Mod)";
    JumpNoMask "jmpi has NoMask (14.2.20)";
    PopCount "else and endif pop 1, break and cont no more than a stack holds, other branches 0 (14.2.5, 14.2.8, 14.2.14 to 14.2.19, 14.2.48)";
    SwitchMissing "an instruction that names masks, their stacks or the control register switches threads (11.3.4.7 to 11.3.4.11)";
    WaitRegister "wait names a notification register, twice the same (14.2.47)";
    // Messages.
    MessageLength "a message has 1 to 15 registers (14.2.44)";
    MessageRegisters "a message ends at m15 (11.3.3)";
    ResponseLength "a response has at most 8 registers (14.2.44)";
    ResponseMissing "a general register as the destination expects a response (14.2.44)";
    MessageType "a message's destination is of words or dwords (14.2.44)";
    MessageWords "a message of 16 channels has a destination of words, aligned to a register (14.2.44)";
    MessageSource "a message's source is null or a general register that is named directly (14.2.44)";
    MessageNoDDChk "a message does not check its destination (14.2.44)";
    Descriptor "the descriptor is reserved (14.2.44 and the shared function's chapter)";
    EndDestination "a thread's last message has no destination (14.2.44)";
    EndFunction "a thread must not end with this shared function (14.2.44)";
    MathLength "math: the lengths do not fit the function (6.1)";
    SamplerLength "sampler: there is no such message of these lengths (4.8.1)";
    DataLength "data port: the lengths do not fit the message (5.10)";
    UrbLength "URB: the response does not fit allocate (8.4)";
    // Programs.
    NativeAlign "an instruction of 16 bytes begins at a multiple of 16 (11.6.3)";
    NenopFirst "nenop fills the second half of 16 bytes (11.6.3)";
    WaitTwice "something stands between two waits (14.2.47)";
}
