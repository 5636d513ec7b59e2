//! What a caller gives and gets: options, the pipeline state that a driver knows, the compiled
//! program with everything needed to run it, and failures that say whose fault they are.

use gpucc_ir::budget::Budget;
pub use gpucc_ir::driver::{
    Attribute, BindingSlot, Effort, Failure, Fetch, State, Step, Uniforms, VertexBuffer,
    VertexForm, VertexState,
};
use gpucc_ir::ssa::{Func, Input, Interpolation, Output, Resource, Span};

/// Which instruction set a chip has.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Family {
    /// The register guide's chapter 4.
    R600,
    /// The R700 ISA document and the register guide's chapter 5.
    R700,
}

impl Family {
    /// The target's name.
    pub const fn name(self) -> &'static str {
        match self {
            Family::R600 => "r600",
            Family::R700 => "r700",
        }
    }
    /// The machine's name in messages.
    pub const fn machine(self) -> &'static str {
        match self {
            Family::R600 => "R6xx",
            Family::R700 => "R700",
        }
    }
    /// Its chips, the default first.
    pub const fn chips(self) -> &'static [Chip] {
        match self {
            Family::R600 => &Chip::R6XX,
            Family::R700 => &Chip::ALL,
        }
    }
    /// The chip of this name.
    pub fn chip(self, name: &str) -> Option<Chip> {
        self.chips()
            .iter()
            .copied()
            .find(|chip| chip.name() == name)
    }
    /// The tables.
    pub const fn isa(self) -> &'static crate::isa::Isa {
        match self {
            Family::R600 => &crate::isa::R600,
            Family::R700 => &crate::isa::R700,
        }
    }
}

/// A chip. They differ in instruction set, in the size of a wavefront and of a stack entry, and in their caches.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Chip {
    /// The default.
    #[default]
    Rv770,
    /// RV770 at higher clocks.
    Rv790,
    /// Half an RV770.
    Rv740,
    /// Wavefronts of 32.
    Rv730,
    /// Wavefronts of 32, no vertex cache.
    Rv710,
    /// R6xx, the default of that target.
    Rv670,
    /// R6xx: wavefronts of 16, no vertex cache.
    Rv610,
    /// R6xx: wavefronts of 32.
    Rv630,
    /// R6xx: wavefronts of 16, no vertex cache.
    Rv620,
    /// R6xx: wavefronts of 32.
    Rv635,
    /// The first R6xx.
    R600,
}

impl Chip {
    /// Every R6xx chip, the default first.
    pub const R6XX: [Chip; 6] = [
        Chip::Rv670,
        Chip::Rv610,
        Chip::Rv630,
        Chip::Rv620,
        Chip::Rv635,
        Chip::R600,
    ];
    /// Every R700 chip, the default first.
    pub const ALL: [Chip; 5] = [
        Chip::Rv770,
        Chip::Rv790,
        Chip::Rv740,
        Chip::Rv730,
        Chip::Rv710,
    ];
    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Chip::Rv770 => "rv770",
            Chip::Rv790 => "rv790",
            Chip::Rv740 => "rv740",
            Chip::Rv730 => "rv730",
            Chip::Rv710 => "rv710",
            Chip::Rv670 => "rv670",
            Chip::Rv610 => "rv610",
            Chip::Rv630 => "rv630",
            Chip::Rv620 => "rv620",
            Chip::Rv635 => "rv635",
            Chip::R600 => "r600",
        }
    }
    /// Its instruction set.
    pub const fn family(self) -> Family {
        match self {
            Chip::Rv770 | Chip::Rv790 | Chip::Rv740 | Chip::Rv730 | Chip::Rv710 => Family::R700,
            Chip::Rv670 | Chip::Rv610 | Chip::Rv630 | Chip::Rv620 | Chip::Rv635 | Chip::R600 => {
                Family::R600
            }
        }
    }
    /// Lanes of a wavefront. The guide promises 64 for R600, 32 and 16 for derivatives (PA_SC_MPASS_PS_CNTL).
    pub const fn wave(self) -> u32 {
        match self {
            Chip::Rv770 | Chip::Rv790 | Chip::Rv740 | Chip::Rv670 | Chip::R600 => 64,
            Chip::Rv730 | Chip::Rv710 | Chip::Rv630 | Chip::Rv635 => 32,
            Chip::Rv610 | Chip::Rv620 => 16,
        }
    }
    /// Double precision: "not available on all R7xx products" (R700 ISA 4.12); peers and products say that
    /// RV770 and RV790 have it. The guide's chapter on R6xx has no such operations.
    pub const fn has_doubles(self) -> bool {
        matches!(self, Chip::Rv770 | Chip::Rv790)
    }
    /// Subentries of a stack entry. R700 ISA 3.6.5.
    pub const fn subentries(self) -> u32 {
        if self.wave() == 64 { 4 } else { 8 }
    }
    /// Subentries of a subroutine's return address. R700 ISA 3.6.5.
    pub const fn call_subentries(self) -> u32 {
        if self.wave() == 16 { 2 } else { 1 }
    }
    /// Vertices are fetched through the vertex cache; without one only VTX_TC fetches. Guide, SQ_CONFIG.VC_ENABLE.
    pub const fn has_vertex_cache(self) -> bool {
        !matches!(self, Chip::Rv710 | Chip::Rv610 | Chip::Rv620)
    }
    /// MOVA_INT's AR.x indexes registers. On the other R6xx chips registers add a "GPR index" that MOVA_GPR_INT loads and
    /// nothing describes (guide 4, INDEX_MODE): they index no registers.
    pub const fn indexes_registers(self) -> bool {
        matches!(self.family(), Family::R700) || matches!(self, Chip::Rv670)
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
    /// Indices of private variables are in range by the shader's promise.
    pub trusts_indices: bool,
    /// Memory and work that the program may take.
    pub budget: Budget,
    /// How the passes over machine IR run.
    pub passes: gpucc_passes::mach::Control,
}

/// One hardware register that a driver programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRegister {
    /// The register guide's name.
    pub name: String,
    /// Byte address.
    pub address: u32,
    /// Packed value.
    pub value: u32,
    /// The bits of these fields; the others are the driver's.
    pub mask: u32,
    /// The fields that make it, by the guide's names.
    pub fields: Vec<(&'static str, u32)>,
}

/// Where a binding of the shader stands on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Constant-cache buffer (uniform buffers by static address).
    pub kcache: Option<u32>,
    /// Fetch resource (dynamic uniforms, storage reads, textures), stage-relative.
    pub resource: Option<u32>,
    /// Sampler.
    pub sampler: Option<u32>,
    /// Index into the scatter aperture's bases, `c(2+i)` of the driver constants.
    pub aperture_index: Option<u32>,
}

/// A binding and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSlot {
    /// The binding in [`Compiled::expanded`].
    pub resource: Resource,
    /// Its place.
    pub slot: Slot,
}

/// Where a stage input stands when the program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSlot {
    /// The input in [`Compiled::expanded`].
    pub input: Input,
    /// General-purpose register, where it has one at the start.
    pub register: Option<u32>,
    /// First channel, 0..=3.
    pub channel: u32,
    /// Semantic that links a vertex output to a fragment input (location + 1).
    pub semantic: Option<u32>,
    /// How it varies (fragment).
    pub interpolation: Option<Interpolation>,
    /// Vertex attributes: the fetch resource, stage-relative, and the byte offset within an element.
    pub attribute: Option<AttributeFetch>,
}

/// How an attribute comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeFetch {
    /// Fetch resource (160 + buffer).
    pub resource: u32,
    /// Byte offset within an element.
    pub offset: u32,
    /// WebGPU vertex format name.
    pub format: String,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Advances by instance.
    pub per_instance: bool,
}

/// Fetch resource of [`Compiled::tables`]: the one that belongs to the driver's constant buffer, which
/// nothing fetches from.
pub const TABLES: u32 = 15;
/// Bytes of an element of that resource.
pub const TABLE_STRIDE: u32 = 16;

/// What kind of export carries an output.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// Colour target.
    Pixel,
    /// Position and its companions (index 60..=63).
    Position,
    /// Parameter to the fragment stage.
    Parameter,
    /// Depth, stencil and mask (index 61 of the pixel exports).
    Depth,
}

impl ExportKind {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            ExportKind::Pixel => "pixel",
            ExportKind::Position => "position",
            ExportKind::Parameter => "parameter",
            ExportKind::Depth => "depth",
        }
    }
}

/// Where a stage output leaves the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSlot {
    /// The output in [`Compiled::expanded`].
    pub output: Output,
    /// Which export.
    pub export: ExportKind,
    /// The export's index (ARRAY_BASE).
    pub index: u32,
    /// First component of the export.
    pub channel: u32,
    /// Components.
    pub components: u32,
    /// Semantic that links it to a fragment input (location + 1).
    pub semantic: Option<u32>,
}

/// One vec4 of kcache buffer 15 that the program reads. Places are fixed by the ABI.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DriverConstant {
    /// c0: number of workgroups x, y, z, 0.
    NumWorkgroups,
    /// c1: first vertex, first instance, draw index, 0.
    Draw,
    /// c(2+i): storage buffer i: base in dwords within the scatter aperture, size in bytes, 0, 0.
    /// Storage textures that the program stores to follow the buffers: linear surfaces with their
    /// pitch in texels and their rows a slice as third and fourth.
    Storage {
        /// The number within the aperture.
        index: u32,
    },
    /// Workgroup memory within the scatter aperture: base in dwords, dwords of one workgroup, 0, 0.
    /// Stands after the last storage buffer.
    Workgroup {
        /// The vec4's number.
        constant: u32,
    },
    /// One image: width, height, layers (cubes of a cube array, depth in three dimensions), levels.
    Image {
        /// The vec4's number.
        constant: u32,
        /// The binding.
        resource: Resource,
        /// Element of an array of bindings.
        element: u32,
    },
}

impl DriverConstant {
    /// Which vec4 of the buffer it is.
    pub const fn constant(self) -> u32 {
        match self {
            DriverConstant::NumWorkgroups => 0,
            DriverConstant::Draw => 1,
            DriverConstant::Storage { index } => 2 + index,
            DriverConstant::Workgroup { constant } | DriverConstant::Image { constant, .. } => {
                constant
            }
        }
    }
}

/// How a dispatch of a compute program is laid out. abi-r700: Compute.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ComputeLayout {
    /// Threads that one workgroup takes: the wavefront's size when lanes cooperate, else the
    /// workgroup's size.
    pub threads_per_workgroup: u32,
    /// Dwords of workgroup memory within the scatter aperture, per workgroup.
    pub workgroup_dwords: u32,
    /// Dwords of the local data share that each thread owns.
    pub share_stride: u32,
}

/// Figures of the program, by the contract's names.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// ALU slots and fetch, export and control-flow instructions.
    pub instructions: u32,
    /// Vec4 stores to scratch that the allocator made.
    pub spills: u32,
    /// Vec4 loads from scratch that the allocator made.
    pub fills: u32,
    /// Scratch bytes of one invocation.
    pub scratch_bytes: u32,
    /// Workgroup memory in bytes.
    pub shared_bytes: u32,
    /// Loops.
    pub loops: u32,
    /// Conditional jumps.
    pub branches: u32,
    /// Wavefronts of a SIMD that fit, over the most that fit.
    pub occupancy: f64,
    /// Estimated clocks of a wavefront.
    pub cycles: f64,
    /// No schedule is faster than this.
    pub cycles_lower_bound: f64,
    /// ALU groups.
    pub alu_groups: u32,
    /// ALU slots in use.
    pub alu_slots: u32,
    /// Literal dwords.
    pub literals: u32,
    /// Control-flow instructions.
    pub cf_instructions: u32,
    /// ALU clauses.
    pub alu_clauses: u32,
    /// Texture clauses.
    pub tex_clauses: u32,
    /// Vertex-fetch clauses.
    pub vtx_clauses: u32,
    /// Texture instructions.
    pub tex_instructions: u32,
    /// Vertex-fetch instructions.
    pub vtx_instructions: u32,
    /// Rows exported.
    pub exports: u32,
    /// General-purpose registers.
    pub gprs: u32,
    /// Stack entries.
    pub stack_entries: u32,
}

impl Stats {
    /// What limits the program: the unit with the most estimated clocks.
    pub fn bound_unit(&self) -> &'static str {
        crate::cost::bound_unit(self)
    }

    /// The contract's `machine` keys in their order.
    pub fn machine(&self) -> Vec<(&'static str, f64)> {
        let per_group = if self.alu_groups == 0 {
            0.0
        } else {
            f64::from(self.alu_slots) / f64::from(self.alu_groups)
        };
        vec![
            ("alu_groups", self.alu_groups.into()),
            ("alu_slots", self.alu_slots.into()),
            ("slots_per_group", per_group),
            ("literals", self.literals.into()),
            ("cf_instructions", self.cf_instructions.into()),
            ("alu_clauses", self.alu_clauses.into()),
            ("tex_clauses", self.tex_clauses.into()),
            ("vtx_clauses", self.vtx_clauses.into()),
            ("tex_instructions", self.tex_instructions.into()),
            ("vtx_instructions", self.vtx_instructions.into()),
            ("gprs", self.gprs.into()),
            ("stack_entries", self.stack_entries.into()),
        ]
    }
}

/// A finished program and all that is needed to run and to check it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Machine code: little-endian dwords, to be placed at a multiple of 256 bytes.
    pub code: Vec<u8>,
    /// Registers that the program fixes.
    pub state: Vec<StateRegister>,
    /// Places of the bindings.
    pub resources: Vec<ResourceSlot>,
    /// Places of the stage inputs.
    pub inputs: Vec<InputSlot>,
    /// Places of the stage outputs.
    pub outputs: Vec<OutputSlot>,
    /// What the program reads of kcache buffer 15.
    pub driver_constants: Vec<DriverConstant>,
    /// Vertex, where the pipeline asks for it: the fetch program that CALL_FS runs, to be placed like [`Compiled::code`].
    pub fetch_program: Option<Vec<u8>>,
    /// Constant tables that the program fetches: the memory behind fetch resource [`TABLES`], whose
    /// elements are 16 bytes. Empty when there are none.
    pub tables: Vec<u8>,
    /// Compute: the dispatch.
    pub compute: Option<ComputeLayout>,
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
