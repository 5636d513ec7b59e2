//! The rules whose breach ends a run, by name. Sections are those of the G45 manual, volume 4, of
//! isa/gen4-pipeline.md (`P`), or `ABI` (docs/abi-gen4.md).

#[rustfmt::skip]
gpucc_emu::rules! {
    "G45 vol. 4";
    // The execution unit: its engineer adds here.
    Steps = "L1 the run stays within its step limit", "-";
    // Words.
    Opcode = "W1 the opcode is one of this chip", "13.3";
    Reserved = "W2 reserved bits are 0", "13.2";
    Code = "W3 a field has no reserved value", "13.2";
    CompactForm = "W4 a compact instruction is one of G45 without a number, and stands where one may", "11.6";
    Number = "W5 the last source alone is a number, and one of 16 bits stands in both halves", "13.2.1";
    Register = "W6 the register exists", "11.3, 13.2.1";
    Alignment = "W7 an element lies at a multiple of its size", "11.3.10 rule 10";
    Descriptor = "W8 a message's descriptor is a number or a0.0", "14.2.44";
    Function = "W9 a message names a shared function", "14.2.44";
    Illegal = "W10 illegal is not executed", "13.3.5";
    // Registers.
    RegisterCount = "R1 the register is one that the thread has", "11.3.2";
    Undefined = "R2 a value that decides was written before", "11.3.2";
    ControlRegister = "R3 exceptions are not raised", "11.3.4.11";
    SwitchMissing = "R4 an access to masks and control registers switches threads", "11.3.4.7 to 11.3.4.11";
    IndexRows = "R5 the indices of a source are aligned to their number, within a0, and of a chip that has them", "11.3.4.4, 11.3.10 rule 13";
    Granularity = "R6 an architecture register is written in its own units, and a mask stack is read and written as a whole", "11.3.4.2 to 11.3.4.11";
    MaskRead = "R7 on the 965 two instructions stand between one that reads a mask and one that changes masks", "11.3.4.7";
    Held = "R8 a register whose dependency was held is read and written after an instruction that clears it", "11.3.2, 13.2.2";
    // Regions.
    ExecutionSize = "G1 the channels fit the largest type", "11.3.10 rule 1";
    Width = "G2 a row is not wider than the execution size", "11.3.10 rule 3";
    RowStride = "G3 a single row has its own vertical stride", "11.3.10 rule 4";
    OneWide = "G4 rows of one element have no horizontal stride", "11.3.10 rules 6 to 8";
    Crosses = "G5 a region stays within its registers, and a row within one", "11.3.10 rules 9, 11, 12, 13.4";
    SecondCrosses = "G6 a second source that leaves its register has a vertical stride of 32 bytes", "11.3.10 rule 11.2";
    DestinationAligned = "G7 a destination is aligned to the execution type", "11.3.10 rules 10.1, 10.5";
    DestinationStride = "G8 a destination's elements are as far apart as the execution type is wide", "11.3.10 rules 10.1, 10.2";
    PackedBytes = "G9 bytes side by side are written by a raw mov", "11.3.10 rule 10.3";
    SplitDestination = "G10 beside a source of two registers the destination is within an OWord or split evenly", "11.3.10 rule 10.4";
    Align16Type = "G11 four elements of Align16 span 16 bytes", "11.3.8";
    TwoRows = "G12 behind a branch no instruction of the 965 reads two registers from outside", "11.3.10 rule 14";
    // Compression.
    Compressible = "C1 the instruction can be compressed", "11.5.3, 14.2";
    CompressedSize = "C2 a compressed instruction has 16 or 32 channels of Align1", "11.5.3";
    CompressedOperand = "C3 a compressed operand begins with an even register and its first element", "11.5.3";
    CompressedBytes = "C4 bytes beside dwords have a horizontal stride of 0 or 2", "11.5.3";
    CompressedArchitecture = "C5 a compressed instruction names no architecture register but acc0", "11.5.3";
    CompressedIndex = "C6 a compressed index is even, and one for its operand", "11.5.2";
    Compr4 = "C7 compr4 is G45's, of a message register", "11.5.2";
    CompressedFlags = "C8 on the 965 the halves of 32 channels have neither flags nor an accumulator to read", "11.5.2";
    SecondHalf = "C9 the second half is one of 8 channels at most", "11.5.2";
    // Accumulators and vectors.
    AccumulatorOperand = "A1 an accumulator is the first source, plain, or the destination, plain, of an instruction that has one", "11.3.4.5, 14.2";
    AccumulatorRegion = "A2 an accumulator's region and type are those of the instruction", "11.3.4.5, 11.3.9";
    Vector = "A3 beside a vector the destination is aligned to 16 bytes, its elements as far apart as the vector's", "11.3.5, 13.2.3";
    AccumulatorTwice = "A4 on the 965 acc1 is not named by two instructions in a row", "11.3.4.5";
    // Instructions.
    Types = "O1 the types are those of the instruction", "14.2";
    FloatBesideDword = "O2 no dword integer stands beside a float", "14.2";
    Saturation = "O3 the instruction can be saturated", "14.2";
    Condition = "O4 the condition is one that the instruction makes", "11.8, 14.2";
    Predicate = "O5 the predicate is there where it must, and only where it may", "14.2";
    Operand = "O6 the operands are those of the instruction", "14.2";
    Size = "O7 the channels are those of the instruction", "14.2";
    Modifier = "O8 the source modifiers are those of the instruction", "14.2";
    SelectBytes = "O9 sel writes no odd bytes", "14.2.43";
    // Control flow.
    BranchOperands = "F1 a branch has ip as its operands, do and endif have none, and D is the type of its distance", "11.10, 14.2";
    BranchMode = "F2 a branch is not compressed and its masks are those of all channels", "11.5.2, 14.2";
    PopCount = "F3 else and endif pop 1, and what leaves no loop pops nothing", "14.2";
    StackOverflow = "F4 the masks fit their stack", "11.3.4.9";
    StackUnderflow = "F5 a mask that is popped was pushed", "11.3.4.9";
    StackOperand = "F6 msave, mrest, push and pop name a stack, and a mask or a number", "14.2";
    NoMask = "F7 jmpi has NoMask", "14.2.20";
    WaitOperand = "F8 wait names a notification register, twice the same", "14.2.47";
    WaitTwice = "F9 something stands between two waits", "14.2.47";
    StackLeft = "F10 a thread of the 965 leaves its mask stacks empty", "11.3.4.8, 11.3.4.9";
    // Messages, as far as the execution unit knows them.
    MessageLength = "S1 a message has 1 to 15 registers up to m15", "14.2.44";
    ResponseLength = "S2 a reply has up to 8 registers, and a destination where it has any", "14.2.44";
    MessageOperand = "S3 a message's source is null or a whole general register, its destination null or general", "14.2.44";
    MessageType = "S4 a message's destination has words or dwords, and words for 16 channels", "14.2.44";
    MessageCompressed = "S5 a message is not compressed but G45's extended math", "11.5.3, 14.2.44";
    MessageCheck = "S6 a message does not waive the check of its destination", "14.2.44";
    MessageReserved = "S7 reserved bits of a descriptor are 0", "14.2.44";
    EndOfThread = "S8 a thread ends with a message that has no reply, to a function that ends threads", "14.2.44, 11.7";
    RepliesOverlap = "S9 two replies that are under way have no register in common", "14.2.44";
    Overtaken = "S10 a register with a reply under way is written by an instruction that waits for it", "14.2.44";
    SendUnread = "S11 on the 965 a reply's register is read between a write and the message", "14.2.44";
    ReplyUnread = "S12 on the 965 a reply is read before its register is written again", "14.2.44";
    ReplyLeft = "S13 a thread ends when no reply to it is under way", "8.4";
    // Messages, state and fixed functions: their engineer adds here.
    Mapped = "M1 an access lies within mapped memory", "-";
    Stale = "M2 what the render cache holds is flushed before another cache reads it", "5.10.1, P 9.12";
    Uncommitted = "M3 a thread reads back what it wrote after a commit", "5.10.1";
    Prefetch = "M4 128 bytes behind an instruction are mapped", "11.5, P 1.1";
    // Messages.
    Header = "H1 a header has the words of r0 that its message reads", "5.10, P 9.13";
    MathFunction = "H2 extended math has the function", "6.1";
    MathForm = "H3 extended math has the registers, channels and bits of its function", "6.1";
    PortType = "H4 the data port has the message", "5.10";
    PortForm = "H5 a message of the data port has the registers of its type", "5.10";
    PortAligned = "H6 an offset is a multiple of what is read or written", "5.10.2 to 5.10.5";
    PortSurface = "H7 a block or scattered message has a linear buffer", "5.10.2 to 5.10.5";
    PortMode = "H8 a buffer behind the render cache is in read/write mode", "5.10.2 to 5.10.5";
    PortBounds = "H9 an access lies within its surface or scratch", "5.10.2 to 5.10.5";
    PortMask = "H10 on the 965 a message of one OWord enables its channels alone", "5.10.2";
    UrbUnit = "H11 only threads with a URB entry write to one", "8.4";
    UrbForm = "H12 a URB message has the opcode, swizzle and registers of one", "8.4";
    UrbHandle = "H13 a URB message names the thread's entry", "8.4";
    UrbBounds = "H14 a URB write lies within its entry", "8.4";
    UrbComplete = "H15 a thread completes its entries once, and before it ends", "8.4";
    UrbAllocate = "H16 one entry is allocated at a time, by GS and CLIP", "8.4";
    Gateway = "H17 a gateway message has the form of one", "7.1";
    GatewayOpen = "H18 a gateway is opened once, and before it is used", "7.1";
    Spawner = "H19 a root thread of media ends with a message of one register to the thread spawner, which frees its entry", "P 5.7";
    EndUnit = "H20 a thread ends with a message to the function that its unit asks", "11.7, P 5";
    TargetUnit = "H21 pixel threads alone write to render targets", "5.10.6";
    TargetForm = "H22 a render target write has the type and registers that the state asks", "5.10.6, P 9.9";
    TargetMask = "H23 the dispatched mask of a render target write is that of r0", "5.10.6, P 9.9";
    TargetFormat = "H24 a render target has a format that is rendered to, and blended where it is", "P 1.5";
    TargetLast = "H25 the last render target write ends the thread", "5.10.6, P 9.13";
    SamplerForm = "H26 a sampler message has one of the pairs of type and length", "4.8.1";
    SamplerState = "H27 a sampler state has no reserved values", "4.7";
    // State and commands.
    Command = "K1 the command is one of this chip", "P 1.4";
    CommandLength = "K2 a command has its length, within the batch", "P 1.4";
    CommandReserved = "K3 reserved bits of commands and state are 0", "P 1";
    Pipeline = "K4 the command belongs to the pipeline that is selected", "P 1.4";
    FlushMissing = "K5 MI_FLUSH stands before PIPELINE_SELECT", "P 7.4";
    FenceLine = "K6 URB_FENCE lies within a line of 64 bytes", "P 7.4";
    Fences = "K7 URB sections are in order, within the URB, and hold their entries", "P 1.3, 9.13";
    Bases = "K8 base addresses are set before what is relative to them", "P 7.4";
    Constants = "K9 constants fit their entry and are uploaded before they are read", "P 1.4, 9.13";
    StateAligned = "K10 a pointer is aligned to its object", "P 1";
    SurfaceState = "K11 a surface state is one", "P 1.5";
    Vfe = "K12 VFE_STATE is in generic mode without children", "P 6";
    Interface = "K13 an interface descriptor is one", "P 6";
    Payload = "K14 a payload fits its URB entry and the registers", "P 6, 9.13";
    Deadlock = "K15 threads do not wait for each other for ever", "-";
    ThreadState = "K16 the state of a unit is one", "P 1.1, 9.13";
    ClipOutput = "K18 what a clip thread writes begins and ends as objects", "P 4.3";
    DepthClampMissing = "K19 on the 965 a clamp of depth offsets stands between constants and threads with untested depth", "P 7.1";
    NotBuilt = "K17 the emulator has what is used", "-";
}

/// What ends a run of this machine.
pub type Trap = gpucc_emu::trap::Trap<Rule>;
