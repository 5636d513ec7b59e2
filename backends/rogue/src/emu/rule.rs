//! The rules whose breach ends a run, by name. Sections are those of isa/rogue-pipeline.md; `S` is the seed's page (Main
//! Instruction Group), `R` the Rogue chapter of isa/valhall_rogue.md. What is ours to assume says so: [A].

#[rustfmt::skip]
gpucc_emu::rules! {
    "rogue-pipeline";
    Steps = "L1 the run stays within its step limit", "-";
    NotBuilt = "L2 the emulator has what is used", "-";
    Undocumented = "L3 a public document says what the operation does", "10";
    // Bytes of a group.
    Truncated = "W1 a group lies within its program", "1.1";
    Length = "W2 the length is that of header, operations, operands and padding", "1.1";
    DecodeAssist = "W3 the decode assist counts the bytes that it is defined by", "1.1";
    Reserved = "W4 reserved bits are 0", "1, 2";
    Code = "W5 a field has no reserved value", "1, 2";
    Padding = "W6 an odd group ends with FF, and padding is F0 plus its words, then FF", "1.1";
    PhaseEnd = "W7 the phase-2 end bit stands on the last word of phase 2, and there alone", "1.1";
    BitwisePhases = "W8 a bitwise group has phase 0", "2.6, R3 [A]";
    ExtensionOrder = "W9 the extensions of a texture word come in order", "0.2 [A]";
    // Operands.
    Port = "O1 the bank may stand on the port", "1.2";
    Register = "O2 the register is one that the bank has", "3.1, 3.2";
    Written = "O3 the register can be written", "1.4";
    CoefficientWrite = "O4 coefficients are written by compute programs alone", "1.4 [A]";
    SharedWrite = "O5 shared registers are written by ports and loads alone", "1.4, 9.1";
    Overlap = "O6 a group that touches pixel outputs or their address is checked for overlap", "1.1";
    Bounds = "O7 the register is within what the state words give the program", "3.1, 5";
    Undefined = "O8 what is read was written", "3.1";
    TwoWrites = "O9 the write ports name different registers", "1.4 [A]";
    // Main groups.
    Feedthrough = "M1 a feedthrough that is read is driven by a phase of the group", "1.5, S";
    PhaseOne = "M2 phase 1 has a float operation, a bypass or a derivative", "2.2, 8";
    ComplexAlone = "M3 a complex operation is alone in its group", "2.2, 8, S";
    ReducePort = "M4 part a of a reduction goes to W1 and part b to W0", "2.2";
    ReduceParts = "M5 part b of a reduction is given what part a made of the same operand", "2.2";
    ProgrammedPack = "M6 a programmed pack names no format and takes it from the external feedthrough", "2.3";
    TestType = "M7 a test's element is one of its type", "2.4";
    WritePort = "M8 what an operation writes has the port for it", "1.4, 2";
    Repeat = "M9 a repeated group moves, packs, unpacks, computes or writes to the vertex buffer", "1.1";
    RepeatSpecial = "M10 a repeated group steps through registers that have a next one", "1.1 [A]";
    Predicate = "M11 the predicate that is read was written", "3.1";
    Quad = "M12 a derivative is of a fragment, and its neighbours are there", "2.2";
    // Control flow.
    ConditionHeader = "C1 a mask operation ignores the execution bit, has W0 and a zero on S3", "2.7";
    BranchTarget = "C2 a branch leads to the start of a group", "1.1, 2.7";
    BranchDiffers = "C3 instances that execute a branch agree on it", "2.7 [A]";
    ControlPorts = "C4 a control operation has the ports that it is given", "2.7";
    EndAligned = "C5 the last group starts at, and is, a multiple of 8 bytes", "1.1";
    Link = "C6 the link that is read was written, the same by every instance", "2.7";
    Mutex = "C7 a mutex is locked by a task that does not hold it, and released by the one that does", "2.7, 4.3";
    Deadlock = "C8 some task can always go on", "4.3";
    MutexHeld = "C9 a task ends without a mutex", "2.7 [A]";
    Unconditional = "C10 a wait and a mutex have no condition, and an end of levels has none of its own", "2.7 [A]";
    // Messages.
    Pending = "D1 a register whose message is under way is neither read nor written", "5.6";
    Held = "D2 a register that a message under way reads is not written", "5.6 [A]";
    PendingEnd = "D3 a task ends when none of its messages is under way", "5.6";
    Mapped = "D4 an access lies within mapped memory", "-";
    Aligned = "D5 an access is aligned to its size", "2.8 [A]";
    BurstLength = "D6 a burst from a register is of 1 to 1024 words", "2.8";
    Iterator = "D7 an iterator names coefficients in sets of four", "4.2, 2.7";
    IteratorStage = "D8 fragments iterate, and with the instruction that the core has", "3.3, 4.2";
    VertexAddress = "D9 a vertex output is within the vertex's size", "4.1, 5.3";
    VertexEnd = "D10 a vertex program ends by an end of task, after which nothing is written", "2.8, 4.1";
    VertexStage = "D11 vertex programs alone write to the vertex buffer", "4.1";
    Feedback = "D12 a fragment gives feedback at most once, and before the outputs it decides on", "2.8, 4.2";
    FeedbackStage = "D13 fragments alone give feedback to the rasteriser", "2.8";
    TextureWords = "D14 a texture or sampler word is one", "4.5";
    TextureData = "D15 a texture operation has the data words of its form, and 18 at most", "2.9";
    TextureFeature = "D16 the core has the form of the texture operation", "2.9";
    EmissionWait = "D18 a wait for outputs stands between two emissions of a pixel", "2.7, 4.6";
    DepthRange = "D19 a depth is within 0 and 1, unless it may lie beyond", "4.2";
    SharedLevel = "D20 the level that a texture operation has for all instances is none: a zero on S3", "2.9 [A]";
    CacheMode = "D17 the cache mode is one", "2.8";
    // Launch.
    PdsCode = "K1 a word of a PDS program is an instruction", "5.1";
    PdsRegister = "K2 a PDS register exists and was written", "5.1";
    PdsAligned = "K3 PDS segments are aligned to 16 bytes", "5.1";
    PdsEnd = "K4 a PDS program ends, and its last transfer says so", "5.1";
    PdsTarget = "K5 a transfer's destination is within the store that the task has", "5.1";
    Stream = "K6 a word of a control stream is one", "5.2, 5.3";
    StreamReserved = "K7 reserved bits of a control stream are 0", "5.2, 5.3";
    Workgroup = "K8 a workgroup fits the core", "3.3, 5.2";
    Temporaries = "K9 a program has at most the temporaries that the store of its core holds", "3.3";
    State = "K10 a state word is one, and fits the program and the core", "5.4, 4.6";
    Resident = "K11 tasks of a workgroup that wait for one another are in the store at once", "3.3, 4.3";
    Fence = "K12 a fence follows the last kernel of a stream", "5.2";
}

/// What ends a run of this machine.
pub type Trap = gpucc_emu::trap::Trap<Rule>;

/// Why something is refused, before its place is known.
pub type Refused = (Rule, String);
