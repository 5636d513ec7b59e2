//! The rules whose breach ends a run, by name.
//! Sections are those of isa/valhall_rogue.md, `XML` (Arm's description) or `ABI` (docs/abi-valhall.md).

#[rustfmt::skip]
gpucc_emu::rules! {
    "Valhall";
    // The program as bytes.
    ProgramSize = "L1 the program is whole 64-bit words and not empty", "1.1";
    Address = "L2 control flow stays within the program", "1.8";
    Reserved = "L3 opcodes, reserved bits and reserved values are those of the table", "XML";
    Unsupported = "L4 the instruction's meaning is documented well enough to be run", "-";
    Stage = "L5 the instruction belongs to this kind of program", "1.10";
    Steps = "L6 the run stays within its step limit", "-";
    Prefetch = "L8 the 128 bytes behind the last instruction are mapped, and zeros where no code stands", "errata 130";
    DestMask = "L7 a destination's write mask fits the width of the result", "1.1";
    // Registers.
    RegisterFile = "R1 with 32 registers a thread r16 to r47 do not exist", "1.9";
    Pair = "R2 64-bit operands are pairs from an even register", "1.2";
    Undefined = "R3 a value that is observed was written before", "1.9";
    LastUse = "R4 a register marked as last used is not read again before it is written", "1.8";
    LastUseStaging = "R5 a register is not marked as last used while a message still reads it", "1.8";
    NotWaited = "R6 the result of a message is read after a wait for its slot", "1.8";
    Overwritten = "R7 the result register of a message is written after a wait for its slot", "1.8";
    StagingAlign = "R8 two and more staging registers start at an even one", "1.8";
    StagingCount = "R9 the staging counts are what the instruction moves", "XML";
    StagingRange = "R10 staging registers lie within the file", "1.9";
    // Fast-access uniforms.
    FauPage = "F1 an instruction reads one page of FAU", "1.3";
    FauSlots = "F2 one 64-bit uniform slot an instruction, two a message (one ATEST and BLEND)", "1.3";
    FauBits = "F3 at most 64 bits of uniforms and constants an instruction", "1.3";
    FauSpecial = "F4 at most one special value, beside uniforms in messages only", "1.3";
    FauMessage = "F5 messages read neither the warp id nor specials of page 3", "1.3";
    FauReserved = "F6 the special value exists", "1.2";
    FauModifier = "F7 special values have no float modifiers", "1.3";
    FauRange = "F8 a uniform word is one that the driver pushed", "2.3";
    // Control flow.
    Divergence = "C1 a branch that splits the warp carries reconverge", "1.8";
    Reconverge = "C2 lanes that run into waiting lanes carry reconverge", "1.8";
    BarrierDivergent = "C3 every lane of the workgroup arrives at a barrier together", "1.8";
    BarrierMemory = "C4 a barrier is issued after every message before it was waited for", "1.8";
    BarrierWait = "C5 nothing but a wait for slot 7 follows a barrier", "1.8";
    // Messages.
    MemoryOrder = "M1 memory that a message writes is accessed after a wait for its slot", "1.8";
    VaryingOrder = "M2 the interpolation state is written, and lanes part, after a wait for the varyings before", "1.8";
    Interpolation = "M3 a varying is read as it was declared and stored", "1.11";
    MemoryMap = "M4 an access lies within mapped memory", "4.13";
    MemoryAlign = "M5 an access is aligned to its elements", "1.9";
    MemoryWrite = "M6 read-only memory is not written", "2.4";
    ThreadMemory = "M7 an access to thread storage stays within 16 bytes", "1.9";
    // Descriptors.
    Table = "D1 a handle names a table and an entry that exist", "2.4";
    Descriptor = "D2 the descriptor is of the kind that the instruction reads", "2.4";
    HandleUniform = "D3 a handle is the same in every lane", "1.11";
    TexelFormat = "D4 the format of a texel and of its registers agree", "1.11";
    // Fragments.
    Atest = "G1 ATEST comes before the first ZS_EMIT or BLEND, and before the end", "1.10";
    TileWait = "G2 right in front of ATEST and ZS_EMIT every message was waited for by wait0126, of BLEND and LD_TILE by wait", "errata 104";
    Coverage = "G3 coverage goes through r60", "1.10";
    BlendTarget = "G4 BLEND reads the descriptor of a render target that exists, once", "1.10";
    AtestDatum = "G6 the third source of ATEST is its datum", "1.10";
    Alpha = "G7 ATEST tests the alpha of the first target, and 1 where that has fewer components", "1.10";
    BlendCall = "G8 behind a BLEND stands the call of its blend shader, which BLEND jumps over or ends before", "1.10";
    AfterAtest = "G9 no message is issued between ATEST and the wait for it", "errata 101";
    Conversion = "G10 a blend descriptor converts four components into a format of the colour's kind", "1.10";
    Neighbours = "G11 nothing is taken from other lanes behind ATEST, which may end them", "errata 101";
    Helper = "G5 a computed level of detail has its four lanes", "1.8";
}

/// What ends a run of this machine.
pub type Trap = gpucc_emu::trap::Trap<Rule>;
