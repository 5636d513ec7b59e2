//! What a caller gives: the chip, options, state. What stands in the fast access uniforms.

use gpucc_ir::budget::Budget;
pub use gpucc_ir::driver::{
    Attribute, BindingSlot, Effort, Failure, Fetch, State, Step, Uniforms, VertexBuffer,
    VertexForm, VertexState,
};
use gpucc_ir::ssa::Resource;
use gpucc_machine::described::ImageWord;

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
