//! The rules whose breach ends a run, by name.
//! Sections are those of the R700 ISA document, or of the register guide (RG).

#[rustfmt::skip]
gpucc_emu::rules! {
    "R700 ISA";
    // The program as bytes.
    ProgramSize = "L1 the program is whole quadwords and not empty", "3.1";
    Address = "L2 an address lies within the program", "3.1";
    Alignment = "L3 fetch clauses start at 16-byte boundaries", "3.2";
    Reserved = "L4 reserved fields are 0", "10";
    Opcode = "L5 the opcode exists", "10";
    ClauseLimit = "L6 a clause is no longer than its kind allows", "3.2, RG 5";
    FallsOff = "L7 control flow stays within the control-flow program", "3.1";
    EndOfProgram = "L8 the program ends with END_OF_PROGRAM outside of loops, branches and subroutines", "3.3";
    Unsupported = "L9 the instruction's meaning is documented well enough to be run", "-";
    Stage = "L10 the instruction belongs to this kind of program", "3.4";
    MixedClause = "L11 a fetch clause holds fetches of its own kind", "5, 6, 7";
    Condition = "L12 clause instructions test the active mask alone", "3.6";
    PixelModes = "L13 WHOLE_QUAD_MODE and VALID_PIXEL_MODE exclude each other", "3.3";
    Waterfall = "L14 on R6xx a clause that loads AR has USES_WATERFALL set", "3.3.1";
    State = "S1 the state that the program needs is programmed", "RG 3";
    // Registers, by what drivers know: docs/errata.md.
    DepthOrder = "S2 Z_ORDER is 0 or 1: the chips lock up with the others", "RG 3, errata 51";
    HiddenStores = "S3 a pixel program that stores runs for hidden pixels, or depth is tested before", "RG 3, errata 52";
    RegisterShare = "S7 NUM_GPRS is at most half of the chip's registers", "RG 3, errata 53";
    StackShare = "S12 STACK_SIZE is at most a stage's share of the chip's stack", "RG 3, errata 53";
    Rasterised = "S8 the points of a dispatch are not rasterised, nor is depth or a target on", "RG 2, errata 81, 82";
    PointNumbers = "S9 a dispatch numbers its points from 0 on and fills wavefronts with them", "RG 1, errata 82";
    TargetGap = "S4 CB_SHADER_MASK has a component of every target below the highest", "RG 3, errata 36";
    Colorless = "S5 a pixel program exports one colour at least, if masked", "RG 3, errata 37";
    TargetWaits = "S6 a target that is enabled gets an export", "RG 3, errata 38";
    TargetFormat = "S10 a colour target's numbers, clamping and precision fit its format", "RG 9, CB_COLOR0_INFO";
    ShortExport = "S11 exports of 16 bits go to clamped targets of at most 11 bits, and two quads an export to these alone", "RG 9, CB_COLOR0_INFO; RG 3";
    // Groups.
    SlotOrder = "G1 slots stand in the order x, y, z, w, trans", "4.3";
    GroupEnd = "G1 a group ends within its clause with LAST set and its literals present", "4.3";
    SlotTaken = "G2 each unit executes at most one instruction of a group", "4.4";
    SlotKind = "G2 an instruction stands in a slot that can execute it", "4.8";
    PredicateCount = "G4 a group has one PRED_SET* or one KILL*, not both", "4.8.1.1";
    KillPlace = "G4 KILL* stands in the last group of its clause", "4.8.1.1";
    Reduction = "G5 a reduction fills x, y, z and w with equal modifiers", "4.8.2.1";
    ReductionResult = "G5 the result of a reduction is read from PV.x", "4.8.2.1";
    MovaIndex = "G6 no AR index in a group with MOVA*", "4.6.1";
    MovaCount = "G6 one MOVA* a group", "4.9.5";
    MovaResult = "G6 what MOVA* leaves in PV and registers is undefined", "4.9.5";
    OneIndex = "G7 a group uses one element of AR", "4.6.1";
    IndexMode = "G7 the index mode fits the operand", "4.6.1";
    IndexLoaded = "G7 AR is loaded in an earlier group of the same clause", "4.6.1";
    IndexRange = "G7 a loaded index lies in -256..=255", "4.8.2";
    IndexTemp = "G7 clause temporaries are not indexed", "4.6.1";
    IndexHazard = "G8 a register written by index is not read by another index in the next group", "4.11";
    IndexRest = "G8 on R6xx but RV670, RV770 and RV790 a group of four NOPs follows a write by index", "errata 12";
    DoubleWrite = "G9 two vector slots write different elements", "4.9.2";
    UpdateBits = "G10 UPDATE_PRED and UPDATE_EXECUTE_MASK belong to PRED_SET*", "4.9.3";
    StalePv = "G11 PV holds what the slot of the group before wrote", "4.6.2";
    StalePs = "G11 PS holds what the trans slot of the group before wrote", "4.6.2";
    RelativeResult = "G12 what a write by index leaves in PV and PS is not read", "errata 21";
    IntegerModifiers = "G13 integer operands and results have no modifiers", "4.7.2, 4.9.1";
    DoubleChip = "D1 double precision exists on this chip", "4.12";
    DoubleSlots = "D2 each slot of a double takes the dwords and modifiers that the instruction asks of it", "9.2";
    DoubleWord = "D3 a double's result is read from the elements that hold it", "9.2";
    NoFields = "G14 PRED_SEL, INDEX_MODE and source selects have defined values", "10";
    // Ports.
    ReadPort = "P1 one register of a channel a cycle", "4.7.7";
    ConstantPort = "P2 at most two pairs of constants a group", "4.7.5";
    BankSwizzle = "P3 the bank swizzle is one of those defined", "4.7.7";
    TransConstants = "P4 trans reads at most two constants", "4.7.8";
    TransCycle = "P5 trans reads registers after its constants", "4.7.8";
    // Registers and constants.
    UndeclaredGpr = "R1 registers lie below NUM_GPRS or are clause temporaries", "4.6.3";
    ClauseTemp = "R2 clause temporaries belong to one ALU clause", "4.6";
    Uninitialised = "R3 a register is written before its value is observed", "2";
    KcacheUnlocked = "K1 a constant's line is locked by the clause", "4.6.4";
    KcacheBounds = "K2 a constant lies within its buffer", "RG 3";
    ConstantFile = "K3 the constant file exists in DX9 mode alone", "RG 3";
    Predicate = "R4 an instruction that its predicate turned off leaves no result", "4.10";
    // Values.
    ShiftAmount = "V1 shift amounts are below 32", "4.8.1";
    FloatToInt = "V2 a converted float fits the integer", "4.8.3";
    Turns = "V3 SIN and COS take half a turn either way: -0.5 to 0.5, on R6xx -pi to pi", "4.8.3";
    RecipZero = "V4 the integer reciprocal of 0 is undefined", "9.2";
    // Control flow.
    StackDepth = "C1 the stack stays within STACK_SIZE", "3.6.5";
    StackUnderflow = "C2 a pop finds what was pushed", "3.7.2";
    StackKind = "C3 loops, branches and calls nest", "3.7";
    OutsideLoop = "C4 loop instructions stand within a loop", "3.7.3";
    OutsideCall = "C5 RETURN stands within a subroutine", "3.7.6";
    CallPop = "C6 POP_COUNT of a call is 0", "3.7.6";
    Steps = "C7 the run stays within its step limit", "-";
    // Ordering.
    Barrier = "B1 BARRIER waits for what an instruction depends on", "3.3";
    FetchChain = "B2 a fetch does not use a register loaded in the same clause", "2.4";
    MegaFetch = "B3 a mini-fetch follows a mega-fetch that covers it", "5";
    Acknowledge = "B4 written memory is read after WAIT_ACK", "8.2";
    Uncached = "B5 memory that the program writes is read UNCACHED or not at all", "8.2";
    // Fetches, memory and exports.
    Resource = "M1 a fetch names a resource of its kind that is bound", "5, 6";
    FetchFormat = "M2 the data format can be fetched", "RG 5";
    Swizzle = "M3 select and swizzle fields have defined values", "10";
    Gradients = "M4 gradients are set in the same clause for the same resource and sampler", "6";
    ComputedLod = "M5 a computed level of detail needs a pixel program", "6";
    ArrayFilter = "M11 TEX_ARRAY_OVERRIDE is set where 1D and 2D arrays are sampled, and nowhere else", "RG 8, errata 61";
    ResourceRange = "M12 a fetch names one of the 160 resources of pixels and primitives, or of the 176 of vertices", "10.4";
    ElementSize = "M6 ELEM_SIZE and COMP_MASK fit the memory instruction", "8";
    ScratchRange = "M7 scratch accesses stay within what is declared", "8.1";
    ShareRange = "M8 data share addresses are aligned and within the stride", "7";
    RingRange = "M10 ring writes stay within the item that is declared", "3.4.2";
    MemoryBurst = "M9 BURST_COUNT fits chip and registers", "8";
    ExportBase = "E1 an export names a place of its type", "3.5";
    ExportDone = "E2 the last export of each type, and it alone, is EXPORT_DONE", "3.5";
    ExportMissing = "E3 a program exports what its kind must", "3.5";
    ExportCount = "E4 what is exported is what the state declares", "RG 3";
}

/// What ends a run of this machine.
pub type Trap = gpucc_emu::trap::Trap<Rule>;
