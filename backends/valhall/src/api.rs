//! What a caller gives and gets: options, the compiled program with everything needed to run it,
//! failures that say whose fault they are.

use gpucc_ir::budget::Budget;
pub use gpucc_ir::driver::{
    Attribute, BindingSlot, Effort, Failure, Fetch, State, Step, Uniforms, VertexBuffer,
    VertexForm, VertexState,
};
use gpucc_ir::ssa::{Func, Input, Interpolation, Output, Resource, Sampling, Span};

/// A member of the family. All run the same v9 instructions; they differ in their number of cores
/// and in how many execution engines a core has.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Chip {
    /// The default.
    #[default]
    G57,
    /// The first Valhall.
    G77,
    /// A larger G77.
    G78,
}

impl Chip {
    /// Every chip, the default first.
    pub const ALL: [Chip; 3] = [Chip::G57, Chip::G77, Chip::G78];
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Chip::G57 => "g57",
            Chip::G77 => "g77",
            Chip::G78 => "g78",
        }
    }
    /// Finds a chip by its name.
    pub fn by_name(name: &str) -> Option<Chip> {
        Chip::ALL.into_iter().find(|chip| chip.name() == name)
    }
}

/// Everything that steers one compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The chip.
    pub chip: Chip,
    /// How hard to try.
    pub effort: Effort,
    /// State that a driver would know.
    pub pipeline: State,
    /// Memory and work that the program may take.
    pub budget: Budget,
    /// How the passes over machine IR run.
    pub passes: gpucc_passes::mach::Control,
}

/// What a driver knows of an image and a shader may ask. abi-valhall: System values.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageWord {
    /// Texels of level 0 on an axis (0 width, 1 height, 2 depth).
    Size(u8),
    /// Layers; cubes of a cube array.
    Layers,
    /// Mip levels.
    Levels,
    /// Samples of a texel.
    Samples,
    /// f32: half a texel of level 0 on an axis, `0.5 / size`.
    EdgeLow(u8),
    /// f32: `1 - EdgeLow`.
    EdgeHigh(u8),
}

impl ImageWord {
    /// Every word in the order of a record of the info buffer.
    pub const ALL: [ImageWord; 10] = [
        ImageWord::Size(0),
        ImageWord::Size(1),
        ImageWord::Size(2),
        ImageWord::Layers,
        ImageWord::Levels,
        ImageWord::Samples,
        ImageWord::EdgeLow(0),
        ImageWord::EdgeLow(1),
        ImageWord::EdgeHigh(0),
        ImageWord::EdgeHigh(1),
    ];
    /// Byte offset within a record of the info buffer.
    pub fn offset(self) -> u32 {
        let at = ImageWord::ALL.iter().position(|&word| word == self);
        4 * at.expect("every word is in the list") as u32
    }
}

/// What stands in one 32-bit word of the fast access uniforms. abi-valhall: FAU.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FauWord {
    /// These bits.
    Constant(u32),
    /// The word at a byte offset of a uniform buffer or of the immediates.
    Uniform {
        /// The binding (element 0).
        resource: Resource,
        /// Byte offset, a multiple of 4.
        offset: u32,
    },
    /// Compute: workgroups of the dispatch on an axis.
    NumWorkgroups(u8),
    /// Vertex: the first vertex.
    FirstVertex,
    /// Vertex: the first instance.
    FirstInstance,
    /// Vertex, f32: screen = device coordinate * scale + offset, by axis (z too).
    ViewportScale(u8),
    /// Vertex, f32: see [`FauWord::ViewportScale`].
    ViewportOffset(u8),
    /// Vertex: vertices of an instance.
    VertexCount,
    /// Vertex: the address of a transform feedback buffer, low word then high; the low one stands at an even word.
    StreamAddress {
        /// Buffer, 0 to 3.
        buffer: u8,
        /// The high word.
        high: bool,
    },
    /// Bytes bound to a buffer.
    BufferSize {
        /// The binding.
        resource: Resource,
        /// Its element.
        element: u32,
    },
    /// A word about an image.
    Image {
        /// The binding.
        resource: Resource,
        /// Its element.
        element: u32,
        /// Which.
        word: ImageWord,
    },
    /// Padding that nobody reads.
    Unused,
}

/// Where a binding of the shader stands: its handle is `table << 24 | index`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Resource table.
    pub table: u32,
    /// Entry of the table; element e of a binding array stands at `index + e`.
    pub index: u32,
    /// Entries: elements of a binding array, else 1.
    pub count: u32,
}

impl Slot {
    /// The handle of element 0.
    pub const fn handle(self) -> u32 {
        self.table << 24 | self.index
    }
}

/// A binding and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSlot {
    /// The binding in [`Compiled::expanded`].
    pub resource: Resource,
    /// Its place.
    pub slot: Slot,
    /// Byte offset of its first record in the info buffer, where the program looks there.
    pub info: Option<u32>,
}

/// Where an input of the stage comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPlace {
    /// A preloaded register.
    Register(u8),
    /// Words of the FAU map, or a value that the program computes from preloaded registers.
    Computed,
    /// Attribute descriptor of table 1.
    Attribute(AttributeFetch),
    /// Byte offset within the varying record of a vertex.
    Varying(u32),
}

/// An input and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSlot {
    /// The input in [`Compiled::expanded`].
    pub input: Input,
    /// Its place.
    pub place: InputPlace,
    /// How it varies (fragment).
    pub interpolation: Option<Interpolation>,
    /// Where it is taken (fragment).
    pub sampling: Option<Sampling>,
}

/// How an attribute comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeFetch {
    /// Entry of table 1.
    pub index: u32,
    /// Entry of table 2.
    pub buffer: u32,
    /// Byte offset within an element.
    pub offset: u32,
    /// WebGPU vertex format name.
    pub format: String,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Advances by instance.
    pub per_instance: bool,
}

/// Where an output of the stage goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OutputPlace {
    /// IDVS: the position, 16 bytes at the linear id's slot.
    Position,
    /// IDVS: the point size, an f16 at offset 0 of the slot four further on.
    PointSize,
    /// IDVS: byte offset within the varying record.
    Varying(u32),
    /// Plain vertex form: the attribute descriptor of table 1 that takes it.
    Attribute(u32),
    /// A transform feedback buffer.
    Stream {
        /// Buffer, 0 to 3.
        buffer: u8,
        /// Byte within a vertex of the buffer.
        offset: u32,
    },
    /// Blend descriptor of the colour target, as first or second source.
    Blend {
        /// Colour target.
        target: u8,
        /// 1 for the second source of dual-source blending.
        source: u8,
    },
    /// ZS_EMIT's depth.
    Depth,
    /// ANDed into the coverage before ATEST.
    Coverage,
}

/// An output and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSlot {
    /// The output in [`Compiled::expanded`].
    pub output: Output,
    /// Its place.
    pub place: OutputPlace,
    /// Components.
    pub components: u8,
}

/// One resource table that the program refers to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TableUse {
    /// Table number.
    pub table: u32,
    /// Entries that it needs.
    pub entries: u32,
}

/// One of the programs in the binary.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramInfo {
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Bit k: register 48 + k is filled before the start.
    pub preload: u16,
    /// Registers in use.
    pub registers: u32,
    /// Registers of a thread: 32 (r0-r15 and r48-r63) or 64.
    pub work_registers: u32,
}

/// One descriptor that a driver writes, or its fields where the program decides them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Its name.
    pub name: String,
    /// Its words, as far as the compiler knows them.
    pub words: Vec<u32>,
    /// The bits of these fields; the others are the driver's.
    pub mask: Vec<u32>,
    /// The fields by name.
    pub fields: Vec<(&'static str, u32)>,
}

/// A table of constants that the driver puts into a uniform buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConstantBuffer {
    /// Entry of table 0.
    pub index: u32,
    /// Its words.
    pub words: Vec<u32>,
}

/// Figures of the program, by the contract's names.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Instructions, NOPs included, of all programs.
    pub instructions: u32,
    /// Stores that the allocator made.
    pub spills: u32,
    /// Loads that the allocator made.
    pub fills: u32,
    /// Thread-local bytes of one invocation.
    pub scratch_bytes: u32,
    /// Workgroup memory in bytes.
    pub shared_bytes: u32,
    /// Loops.
    pub loops: u32,
    /// Conditional jumps.
    pub branches: u32,
    /// Threads of a core that fit, over the most that fit.
    pub occupancy: f64,
    /// Cycles of the busiest unit, for one thread of a warp.
    pub cycles: f64,
    /// No program for this shader is faster than this.
    pub cycles_lower_bound: f64,
    /// Name of the busiest unit.
    pub bound_unit: &'static str,
    /// Cycles of the fused multiply-add unit.
    pub fma: f64,
    /// Cycles of the convert unit.
    pub cvt: f64,
    /// Cycles of the special-function unit.
    pub sfu: f64,
    /// Cycles of the varying unit.
    pub v: f64,
    /// Cycles of the load-store unit.
    pub ls: f64,
    /// Cycles of the texture unit.
    pub t: f64,
    /// FAU words.
    pub fau_words: u32,
    /// Registers of a thread: 32 or 64, the larger of the programs'.
    pub work_registers: u32,
    /// Registers in use, the larger of the programs'.
    pub registers: u32,
    /// NOPs left.
    pub nops: u32,
    /// Cycles of one warp that runs alone, every block once.
    pub warp_cycles: u32,
    /// No order of the same operations lets a warp alone be faster.
    pub warp_cycles_lower_bound: u32,
}

impl Stats {
    /// The contract's `machine` keys in their order.
    pub fn machine(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("fma", self.fma),
            ("cvt", self.cvt),
            ("sfu", self.sfu),
            ("v", self.v),
            ("ls", self.ls),
            ("t", self.t),
            ("fau_words", self.fau_words.into()),
            ("work_registers", self.work_registers.into()),
            ("nops", self.nops.into()),
            ("warp_cycles", self.warp_cycles.into()),
            ("warp_cycles_lower_bound", self.warp_cycles_lower_bound.into()),
        ]
    }
}

/// A program with everything needed to run it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The binary, little-endian: the main program and, for IDVS, the varying program.
    pub code: Vec<u8>,
    /// The programs in it: one, or position then varying.
    pub programs: Vec<ProgramInfo>,
    /// IDVS: first byte of the varying program, a multiple of 16. Absent when there are no varyings.
    pub secondary_offset: Option<u32>,
    /// FAU words from word 0 on, for all programs.
    pub fau: Vec<FauWord>,
    /// Resource tables.
    pub tables: Vec<TableUse>,
    /// Entry of table 0 that holds the info buffer, when the program reads it.
    pub info_buffer: Option<u32>,
    /// Tables of constants that the program reads.
    pub constants: Vec<ConstantBuffer>,
    /// Places of the bindings.
    pub resources: Vec<ResourceSlot>,
    /// Places of the stage inputs.
    pub inputs: Vec<InputSlot>,
    /// Places of the stage outputs.
    pub outputs: Vec<OutputSlot>,
    /// Bytes of the varying record of a vertex (IDVS), a multiple of 16.
    pub varying_stride: u32,
    /// Thread-local bytes of one invocation.
    pub tls_bytes: u32,
    /// Bytes of workgroup memory.
    pub wls_bytes: u32,
    /// What a driver programs.
    pub state: Vec<Descriptor>,
    /// The pipeline state with everything that was inferred filled in.
    pub pipeline: State,
    /// One line for each thing that was inferred.
    pub notes: Vec<String>,
    /// Figures.
    pub stats: Stats,
    /// Source position of the code from this byte offset on, ascending.
    pub lines: Vec<(u32, Span)>,
    /// The SSA after the target's expansions: what the interpreter must run under
    /// [`crate::numerics`] for the bits to be equal. Same inputs, outputs and resources as given.
    pub expanded: Func,
    /// `(pass, text)` after each pass of the back end, when [`gpucc_passes::mach::Control::dump`] asks for them.
    pub dumps: Vec<(&'static str, String)>,
    /// How long each stage took, when [`gpucc_passes::mach::Control::clock`] is lent.
    pub times: Vec<(&'static str, std::time::Duration)>,
}

impl Compiled {
    /// The work registers that the driver programs: the most that one of the programs needs.
    pub fn work_registers(&self) -> u32 {
        self.programs.iter().map(|program| program.work_registers).max().unwrap_or(32)
    }
}
