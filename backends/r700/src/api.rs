//! What a caller gives: chips, options, the pipeline state that a driver knows; and figures and registers of a program.

use gpucc_ir::budget::Budget;
pub use gpucc_ir::driver::{
    Attribute, BindingSlot, Effort, Failure, Fetch, State, Step, Uniforms, VertexBuffer,
    VertexForm, VertexState,
};

use gpucc_machine::named::Name;

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
        self.chips().iter().copied().find(|chip| chip.name() == name)
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

/// Elements of a unit of STACK_SIZE, on every chip: drivers that run on all of them divide by it.
pub(crate) const STACK_ENTRY: u32 = 4;

impl Chip {
    /// Every R6xx chip, the default first.
    pub const R6XX: [Chip; 6] =
        [Chip::Rv670, Chip::Rv610, Chip::Rv630, Chip::Rv620, Chip::Rv635, Chip::R600];
    /// Every R700 chip, the default first.
    pub const ALL: [Chip; 5] = [Chip::Rv770, Chip::Rv790, Chip::Rv740, Chip::Rv730, Chip::Rv710];
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
    /// Registers of a lane, for all programs that run and eight clause temporaries. Drivers know it: the guide has none.
    pub const fn register_rows(self) -> u32 {
        match self {
            Chip::Rv730 | Chip::Rv740 | Chip::Rv610 | Chip::Rv620 | Chip::Rv630 | Chip::Rv635 => {
                128
            }
            Chip::Rv770 | Chip::Rv790 | Chip::Rv710 | Chip::R600 | Chip::Rv670 => 256,
        }
    }
    /// Most registers of a program: as many are left for the other one of a pair, and 120 have numbers that are no clause
    /// temporaries' (R700 ISA 2.2).
    pub const fn stage_registers(self) -> u32 {
        let half = (self.register_rows() - 8) / 2;
        if half < 120 { half } else { 120 }
    }
    /// Most entries of the stack that a program may take: what public drivers give pixels and vertices each. They keep the
    /// split, and a program beyond its share never starts. docs/errata.md 53.
    pub const fn stage_stack(self) -> u32 {
        match self {
            Chip::Rv610 | Chip::Rv620 | Chip::Rv630 | Chip::Rv635 | Chip::Rv670 => 40,
            Chip::R600 | Chip::Rv710 | Chip::Rv730 | Chip::Rv740 | Chip::Rv770 | Chip::Rv790 => 128,
        }
    }
    /// Elements that a loop takes of the stack: an entry of R700 ISA 3.6.5.
    pub const fn loop_elements(self) -> u32 {
        if self.wave() == 64 { 4 } else { 8 }
    }
    /// Entries of the stack for control flow at its deepest: an open push takes an element, two more are lost while any
    /// is open, and a loop takes what wavefronts of the chip ask for. R700 ISA 3.6.5.
    pub const fn stack_entries(self, loops: u32, pushes: u32) -> u32 {
        let lost = if pushes > 0 { 2 } else { 0 };
        (loops * self.loop_elements() + pushes + lost).div_ceil(STACK_ENTRY)
    }
    /// Elements that a subroutine's return address takes of the stack. R700 ISA 3.6.5.
    pub const fn call_elements(self) -> u32 {
        if self.wave() == 16 { 2 } else { 1 }
    }
    /// Vertices are fetched through the vertex cache; without one only VTX_TC fetches. Guide, SQ_CONFIG.VC_ENABLE.
    pub const fn has_vertex_cache(self) -> bool {
        !matches!(self, Chip::Rv710 | Chip::Rv610 | Chip::Rv620)
    }
    /// A group of NOPs follows one that writes a register by index. Peers' drivers put it there: docs/errata.md 12.
    pub const fn rests_after_indexed_writes(self) -> bool {
        match self.family() {
            Family::R700 => matches!(self, Chip::Rv770 | Chip::Rv790),
            Family::R600 => !matches!(self, Chip::Rv670),
        }
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
    pub name: Name,
    /// Byte address.
    pub address: u32,
    /// Packed value.
    pub value: u32,
    /// The bits of these fields; the others are the driver's.
    pub mask: u32,
    /// The fields that make it, by the guide's names.
    pub fields: Vec<(Name, u32)>,
}

/// Fetch resource of the constant tables: the one that belongs to the driver's constant buffer, which
/// nothing fetches from.
pub const TABLES: u32 = 15;
/// Bytes of an element of that resource.
pub const TABLE_STRIDE: u32 = 16;

/// Figures of the program, by the contract's names.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Length of the code.
    pub code_bytes: u32,
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
    /// Groups that no order of the same operations goes below.
    pub alu_groups_lower_bound: u32,
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
    /// Rows that control flow writes to memory.
    pub memory_rows: u32,
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
            ("alu_groups_lower_bound", self.alu_groups_lower_bound.into()),
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
