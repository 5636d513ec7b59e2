//! What people are told of a machine, and how far its functions may be off.

use crate::assembler::Assembler;
use gpucc_ir::ssa::numerics::Perturbation;

/// Names, chips and stages of a machine.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The name on the command line.
    pub name: &'static str,
    /// What the machine is.
    pub machine: &'static str,
    /// How messages call it.
    pub short: &'static str,
    /// Chips of the family, the default first.
    pub chips: &'static [&'static str],
    /// Shader stages, by name.
    pub stages: &'static [&'static str],
    /// Of a hundred changes of a field ([`crate::Site`]), how many a test must notice at least.
    pub noticed: u32,
}

/// A machine that no code is made for yet. It may have an assembler before.
#[derive(Copy, Clone)]
pub struct Planned {
    /// Names and chips; no stages, for nothing is compiled.
    pub about: About,
    /// What the silicon cannot do, as [`crate::Machine::refusals`].
    pub refusals: &'static [(&'static str, &'static str)],
    /// Assembler and disassembler, where there are some.
    pub assembler: Option<&'static dyn Assembler>,
}

impl Planned {
    /// A machine that has a name and chips, and nothing else is known of it.
    pub const fn named(
        name: &'static str,
        machine: &'static str,
        short: &'static str,
        chips: &'static [&'static str],
    ) -> Planned {
        let about = About { name, machine, short, chips, stages: &[], noticed: 100 };
        Planned { about, refusals: &[], assembler: None }
    }
}

/// The limit that each machine with a compute stage has among its own.
pub const INVOCATIONS: &str = "workgroup invocations";

/// All stages that shaders have.
pub const STAGES: &[&str] = &["vertex", "geometry", "fragment", "compute"];

/// Those of machines that run no geometry shaders.
pub const WITHOUT_GEOMETRY: &[&str] = &["vertex", "fragment", "compute"];

/// How far a chip's approximated functions may be off. Under [`gpucc_ir::ssa::Numerics::perturbed`] the interpreter errs as the
/// emulator does.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Errors {
    /// The bounds.
    pub bounds: Perturbation,
    /// 1 / w of a pixel is a reciprocal, which errs as others do.
    pub reciprocal_w: bool,
}
