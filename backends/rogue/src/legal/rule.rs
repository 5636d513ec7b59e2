//! The rules by name, with the documents' words in ours and the place. Numbers alone are sections of the pipeline page
//! (isa/rogue-pipeline.md), "page" is the Main Instruction Group page; [A] marks an assumption.

macro_rules! rules {
    ($($name:ident $text:literal;)*) => {
        /// A rule of the documents.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
        #[allow(missing_docs, reason = "a rule's text says what it is")]
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
    // Phases.
    PhaseOneAlone "phase 1 needs phase 0 beside it (page, Opcodes)";
    BackendCompany "a backend instruction stands alone or with phases 0 and 2 (page, Opcodes)";
    Combination "no group has this combination of phases (1.1, oporg)";
    PhaseTwoArithmetic "phase 2 takes PACK, TEST and MOV alone (page, Opcodes)";
    PhaseZeroOnly "integers and unpack stand in phase 0 alone (2.2, 2.5)";
    ComplexPhase "a complex instruction stands in phase 0 (8) [A]";
    ComplexAlone "a complex instruction uses the entire main ALU (page, Complex Instructions)";
    FredAlone "fred is never issued with another instruction (page, Complex Instructions)";
    ComplexDestination "a complex instruction drives w0 through ft0 and nothing else (2.2)";
    FredDestination "part a of fred drives w1, part b w0, and no other (2.2)";
    SincModifiers "fsinc has no source modifiers (2.2)";
    BitwisePhases "phases 1 and 2 of the bitwise ALU work on what phase 0 makes (1.5)";
    Undocumented "nobody public says what this operation does (2.2, 2.5, 2.6, 2.7, 10)";
    // Header and bytes.
    Repeat "a group repeats 1 to 4 times (1.1, rpt)";
    ControlHeader "a control group neither repeats nor is atomic (1.1)";
    ControlCondition "a wait and a mutex have no condition, and an end of levels has none of its own (2.7) [A]";
    ControlEnd "of control groups `nop` alone ends a program (1.1, end)";
    RepeatedWork "a group that repeats computes, moves, packs or writes vertex outputs (1.1, rpt)";
    RepeatedRegister "a group that repeats reads registers that have a next one (1.1, rpt) [A]";
    OutputCheck "a group that touches outputs or tiled components checks the output-register lock (1.1, olchk)";
    Kept "reserved bits are 0 (8)";
    TooLong "a group has at most 16 words (1.1)";
    NoWord "no form of the word holds these registers (1.2, 1.4)";
    NoPlace "the bytes of the group have a place for all that it says (1.1, 1.2)";
    // Sources.
    PortCommon "coefficients, shared registers, index registers, what these lead to and pixel outputs are read at S0, S2 and S3 (1.2)";
    PortSpecial "special registers are read at S1, S2 and S4 (1.2)";
    UnknownSpecial "nobody public says what this special register is (3.1, 3.2)";
    CoeffAlt "the second view of coefficients is not used (3.1) [A]";
    RegisterLimit "an instance has 248 temporaries and 248 vertex inputs (3.1)";
    EightOutputs "this chip has four pixel outputs (3.1)";
    // Internal sources and results.
    FeedAbsent "the phase whose result this passes on is not there (1.3, 1.5)";
    MoveWithoutTest "movc asks the result of a test (1.5)";
    TestElement "the element of a test picks a lane of 8 or 16 bits (2.4)";
    PackElements "a pack takes as many elements as the format has (2.3)";
    PackProgram "a format that is told at run time is not told in the instruction, and is not the data (2.3)";
    // Destinations.
    WriteConstant "constants and special registers of the hardware are not written (1.4)";
    TwoWrites "w0 and w1 are different registers (1.4) [A]";
    WriteCoefficient "coefficients are written by compute programs alone (1.4) [A]";
    ControlWrites "of control groups those that adjust the execution mask and `savl` write, and w0 alone (2.7)";
    // Control.
    MaskIgnoresPe "what adjusts the execution mask runs whatever the mask is (2.7)";
    MaskWrites "what adjusts the execution mask writes its counter to w0 (2.7)";
    MaskThird "S3 of what adjusts the execution mask is constant 0 (2.7)";
    Iteration "this chip does not iterate in control groups (9.2)";
    // The backend.
    MessageDestination "a message's result lands in temporaries or vertex inputs, of a load in shared registers too (2.8, 1.4)";
    IteratedCoefficient "coefficients are what is iterated (2.8)";
    AddressNeedsLod "an address override comes with a level of detail (2.9)";
    SharedLevel "S3 of a lookup, a level for all instances, is constant 0 (2.9) [A]";
    IntegerLookup "this chip looks up neither integers nor arrays nor comparisons (2.9)";
    Stage "vertex programs write vertex outputs, fragment programs iterate, derive, give feedback and write pixels (2.2, 2.8, 4.1, 4.2)";
    // Programs.
    LastAligned "the last group lies in fetch lines of its own (1.1)";
    LastEnds "the last group ends the program or branches away (1.1, end)";
    BranchTarget "a branch goes to the beginning of a group (2.7)";
    WaitBeforeUse "the result of a message is read behind a wait for it (5.6)";
    WaitBeforeWrite "what a message reads or fills is written behind a wait for it (5.6) [A]";
}
