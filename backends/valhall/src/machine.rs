//! Valhall as a machine: names, limits, what is asked of it and what it gives.

use crate::api::{Chip, Options};
use crate::isa;
use gpucc_emu::device::Device;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Func, Numerics};
use gpucc_machine::about::{About, Errors, WITHOUT_GEOMETRY};
use gpucc_machine::assembler::{Assembler, AssemblyError};
use gpucc_machine::{Compiled, Excerpt, Machine, Request, Site, Steps, TextError};
use gpucc_passes::pass::Listed;
use gpucc_passes::{Plan, TargetInfo};

/// Arm Valhall v9.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Valhall;

const ABOUT: About = About {
    name: "valhall",
    machine: "Arm Valhall v9",
    short: "Valhall v9",
    chips: &["g57", "g77", "g78"],
    stages: WITHOUT_GEOMETRY,
    // There is a modifier on nearly every source, some of them on values whose sign, size or precision no input of the
    // samples changes: 95 in the mean of seeds, and 93 must hold.
    noticed: 95,
};

fn options(request: &Request) -> Options {
    Options {
        chip: Chip::by_name(request.chip).unwrap_or_default(),
        effort: request.effort,
        pipeline: request.pipeline.clone(),
        budget: request.budget,
        passes: request.passes.clone(),
    }
}

impl Machine for Valhall {
    fn about(&self) -> &'static About {
        &ABOUT
    }
    fn limits(&self, _: &str) -> Vec<(&'static str, u64)> {
        crate::limits::all()
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        crate::refusals().to_vec()
    }
    fn info(&self) -> &'static dyn TargetInfo {
        crate::target_info()
    }
    fn expansion_info(&self, request: &Request) -> &'static dyn TargetInfo {
        crate::expansion_target(&options(request))
    }
    fn looked_at(&self, compiled: &Compiled, setting: &str, word: usize) -> u32 {
        crate::looked::looked_at(compiled.expanded.stage, setting, word)
    }
    fn errors(&self) -> Option<Errors> {
        Some(crate::numerics::ERRORS)
    }
    fn numerics(&self, _: &str) -> Numerics {
        crate::numerics()
    }
    fn plan(&self, request: &Request) -> Plan {
        crate::plan(&options(request))
    }
    fn machine_passes(&self) -> Vec<Listed> {
        crate::machine_passes()
    }
    fn run_passes(
        &self,
        excerpt: Excerpt<'_>,
        passes: &[&str],
        request: &Request,
    ) -> Result<String, TextError> {
        crate::back::run_passes(excerpt, passes, &options(request))
    }
    fn admit(&self, ssa: &Func, _: &str) -> Result<(), Failure> {
        crate::admit(ssa)
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        crate::finish(expanded, &options(request))
    }
    fn assembler(&self) -> &'static dyn Assembler {
        &Text
    }
    #[cfg(feature = "emulator")]
    fn device(&self, compiled: &Compiled, _: &str) -> Box<dyn Device> {
        Box::new(crate::device::Machine::new(compiled))
    }
    fn divides_positions(&self) -> bool {
        true
    }
    #[cfg(feature = "emulator")]
    fn sites(&self, compiled: &Compiled, _: &str) -> Vec<Site> {
        crate::sites::sites(compiled)
    }
}

/// Assembler and disassembler. A word is a line.
struct Text;

impl Assembler for Text {
    fn token_bytes(&self) -> usize {
        8
    }
    fn units(&self) -> &'static [&'static str] {
        &["program"]
    }
    fn disassemble(&self, _: &str, code: &[u8]) -> Result<String, AssemblyError> {
        isa::disassemble(code).map_err(wrong)
    }
    fn steps(&self, code: &[u8]) -> Result<Steps, AssemblyError> {
        crate::steps::steps(code).map_err(wrong)
    }
    fn assemble(&self, _: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        isa::assemble(text).map_err(|error| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        })
    }
}

fn wrong(error: isa::ProgramError) -> AssemblyError {
    AssemblyError::Code { offset: error.offset, message: error.reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chips_that_are_told_are_those_of_the_table() {
        assert_eq!(ABOUT.chips, Chip::ALL.map(Chip::name));
    }
}
