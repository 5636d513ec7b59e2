#![forbid(unsafe_code)]
//! What a machine is to the compiler: one trait, [`Machine`], and one typed result, [`Compiled`]. Knows no machine.
//!
//! - [`about`]: what people are told of a machine.
//! - [`assembler`]: text to machine code and back.
//! - [`compiled`]: a finished program with all that describes it; [`described`] is the part that the report holds.
//! - [`flow`]: live registers and ways through a program, from its bytes.
//! - [`named`]: ordered lists of names and values.
//! - [`place`]: whether two bindings would share an entry of a table.
//! - [`site`]: the instructions of a program that a test may break.
//! - [`text`]: passes over machine IR that is given as text.

pub mod about;
pub mod assembler;
pub mod compiled;
pub mod described;
pub mod flow;
pub mod named;
pub mod place;
pub mod site;
pub mod text;

pub use about::{About, Errors, Planned};
pub use assembler::{Assembler, AssemblyError, ListingLine};
pub use compiled::{Compiled, Program};
pub use described::{Code, Described};
pub use flow::{Flow, Steps};
pub use named::{Name, Named};
pub use place::Taken;
pub use site::Site;
pub use text::{Excerpt, TextError};

#[cfg(feature = "emulator")]
use gpucc_emu::device::{Device, Drawer};
use gpucc_ir::budget::Budget;
use gpucc_ir::driver::{Effort, Failure, State};
use gpucc_ir::ssa::{Func, Numerics, Output, Span};
use gpucc_passes::mach::Control;
use gpucc_passes::pass::Listed;
use gpucc_passes::{Plan, TargetInfo};

/// What steers one compilation, as far as a machine asks.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// One of [`About::chips`].
    pub chip: &'static str,
    /// How hard to try.
    pub effort: Effort,
    /// State that a driver would know.
    pub pipeline: State,
    /// Indices of private variables are in range by the shader's promise.
    pub trusts_indices: bool,
    /// Memory and work that the program may take.
    pub budget: Budget,
    /// How the passes over machine IR run.
    pub passes: Control,
}

/// What is left of an output behind the program.
pub struct Kept {
    /// Which.
    pub output: Output,
    /// Components that its target has; what is left of the others says nothing of the program.
    pub components: u32,
    /// Its words behind the target, of those that the program computes.
    pub words: Box<dyn Fn([u32; 4]) -> [u32; 4]>,
}

/// A machine that code is made for, with its assembler and its emulator.
///
/// The order of a compilation: the shared passes ask [`Machine::info`]; [`Machine::admit`] refuses what the silicon
/// lacks; [`Machine::plan`] makes the machine's own SSA, the reference for its bits, under [`Machine::numerics`];
/// [`Machine::finish`] makes code of it.
pub trait Machine: Send + Sync {
    /// Names, chips and stages.
    fn about(&self) -> &'static About;
    /// What a shader can have too much of on a chip, in the plural, and how much there is. [`Failure::Limit`] names one of them.
    fn limits(&self, chip: &str) -> Vec<(&'static str, u64)>;
    /// What the silicon cannot do: feature and the manual's section.
    fn refusals(&self) -> Vec<(&'static str, &'static str)>;
    /// `e_machine` and `e_flags` of an ELF file for a chip; `EM_NONE` where the machine has no number.
    fn elf(&self, chip: &str) -> (u16, u32) {
        let _ = chip;
        (0, 0)
    }
    /// What the shared passes ask.
    fn info(&self) -> &'static dyn TargetInfo;
    /// What the passes of [`Machine::plan`] ask.
    fn expansion_info(&self, request: &Request) -> &'static dyn TargetInfo {
        let _ = request;
        self.info()
    }
    /// How floats behave on a chip.
    fn numerics(&self, chip: &str) -> Numerics;
    /// How far the functions may be off that the machine approximates; `None` where nothing is known of it.
    fn errors(&self) -> Option<Errors> {
        None
    }
    /// The steps that make the machine's own SSA of SSA after the shared passes.
    fn plan(&self, request: &Request) -> Plan;
    /// The passes over machine IR, the lowering first.
    fn machine_passes(&self) -> Vec<Listed>;
    /// Runs passes over machine IR that is given as text, and gives back the text behind the last: what a test of one pass
    /// asks, and whoever looks for the pass that breaks a program. [`gpucc_passes::mach::runner::choose`] chooses the passes; the machine IR is
    /// checked before the first and behind each. Behind [`gpucc_passes::mach::runner::EMIT`] the assembly comes back, and without passes the text
    /// as the machine prints it.
    ///
    /// # Errors
    /// [`TextError`] says whether text, names or passes are at fault.
    fn run_passes(
        &self,
        excerpt: Excerpt<'_>,
        passes: &[&str],
        request: &Request,
    ) -> Result<String, TextError> {
        let _ = (excerpt, passes, request);
        Err(TextError::Failure(Failure::NotYet {
            feature: "machine IR as text".into(),
            stage: "the machine",
            span: Span::NONE,
        }))
    }
    /// Asks whether a chip can do what SSA after the shared passes does.
    ///
    /// # Errors
    /// [`Failure::Refused`] for what it cannot, [`Failure::Limit`] for what it has too few of.
    fn admit(&self, ssa: &Func, chip: &str) -> Result<(), Failure>;
    /// Makes code of structured SSA after [`Machine::plan`].
    ///
    /// # Errors
    /// [`Failure`] says whose fault it is.
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure>;
    /// Programs that no shader asks for and that fixed function needs around these two: set-up of primitives, clipping,
    /// blending. Empty on machines whose fixed function has no programs.
    ///
    /// # Errors
    /// As [`Machine::finish`].
    fn kernels(
        &self,
        vertex: &Compiled,
        fragment: &Compiled,
        request: &Request,
    ) -> Result<Vec<Compiled>, Failure> {
        let _ = (vertex, fragment, request);
        Ok(Vec::new())
    }
    /// Assembler and disassembler.
    fn assembler(&self) -> &'static dyn Assembler;
    /// The emulated machine with a program, set up from what [`Compiled`] says and from nothing else; the code is
    /// decoded from its bytes.
    #[cfg(feature = "emulator")]
    fn device(&self, compiled: &Compiled, chip: &str) -> Box<dyn Device>;
    /// The bits of a word of a setting of the state that the emulated machine looks at, as far as the machine says so: others
    /// change nothing there, and are refused.
    fn looked_at(&self, compiled: &Compiled, setting: &str, word: usize) -> u32 {
        let _ = (compiled, setting, word);
        u32::MAX
    }
    /// A vertex program leaves its position divided by w with 1 / w in the place of w, and linear varyings times w,
    /// as the expanded SSA does.
    fn divides_positions(&self) -> bool {
        false
    }
    /// A fragment program computes its inputs from planes: a test gives it values that lie in a plane of each quad, with sums
    /// that are exact.
    fn interpolates(&self) -> bool {
        false
    }
    /// The emulated machine that draws with these programs and those of [`Machine::kernels`] by itself, on machines that
    /// have such an emulator. A geometry program stands between the two.
    ///
    /// # Errors
    /// As [`Machine::kernels`].
    #[cfg(feature = "emulator")]
    fn drawer(
        &self,
        vertex: &Compiled,
        geometry: Option<&Compiled>,
        fragment: &Compiled,
        request: &Request,
    ) -> Result<Option<Box<dyn Drawer>>, Failure> {
        let _ = (vertex, geometry, fragment, request);
        Ok(None)
    }
    /// The outputs of a program of pixels of which less is left behind it than their words, on machines whose programs pack
    /// colours for the formats of their targets.
    fn kept(&self, compiled: &Compiled) -> Vec<Kept> {
        let _ = compiled;
        Vec::new()
    }
    /// Makes a sampler of a test one that the machine has; `words`: it is used with texels of 32 bits a component, without a
    /// comparison.
    fn restrict(&self, _: &mut gpucc_emu::sampler::Sampler, words: bool) {
        let _ = words;
    }
    /// The instructions of a program that the emulator of a chip executes, each with the changes of its fields that mean
    /// something: a test breaks them, and emulator or comparison must notice.
    #[cfg(feature = "emulator")]
    fn sites(&self, compiled: &Compiled, chip: &str) -> Vec<Site>;
}
