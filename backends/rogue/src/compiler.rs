//! Rogue as a machine: names, limits, what is asked of it and what it gives.

use crate::chip::{Chip, NAMES};
use crate::isa::program::{ProgramError, assemble, disassemble, listing};
use crate::{back, device, expand, numerics, refuse, target};
use gpucc_emu::device::Device;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Func, Numerics};
use gpucc_machine::assembler::{Assembler, AssemblyError, ListingLine};
use gpucc_machine::{About, Compiled, Errors, Request, Site, Steps};
use gpucc_passes::pass::Listed;
use gpucc_passes::{Plan, TargetInfo};

/// Imagination PowerVR Rogue.
#[derive(Copy, Clone, Debug)]
pub struct Rogue;

/// The machine.
pub static ROGUE: Rogue = Rogue;

static ABOUT: About = About {
    name: "rogue",
    machine: "Imagination PowerVR Rogue",
    short: "Rogue",
    chips: NAMES,
    stages: &["vertex", "fragment", "compute"],
    limits: &[
        ("registers", crate::inst::TEMPS as u64),
        ("workgroup_invocations", back::INVOCATIONS),
    ],
    noticed: 90,
};

impl gpucc_machine::Machine for Rogue {
    fn about(&self) -> &'static About {
        &ABOUT
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        refuse::TABLE.to_vec()
    }
    fn info(&self) -> &'static dyn TargetInfo {
        &target::ROGUE
    }
    fn numerics(&self, chip: &str) -> Numerics {
        numerics::numerics(Chip::named(chip))
    }
    fn errors(&self) -> Option<Errors> {
        Some(numerics::ERRORS)
    }
    fn plan(&self, request: &Request) -> Plan {
        expand::plan(request.effort)
    }
    fn machine_passes(&self) -> Vec<Listed> {
        back::machine_passes()
    }
    fn admit(&self, ssa: &Func, _: &str) -> Result<(), Failure> {
        refuse::check(ssa, ABOUT.machine)
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        back::finish(expanded, Chip::named(request.chip), request)
    }
    fn assembler(&self) -> &'static dyn Assembler {
        &Text
    }
    fn device(&self, compiled: &Compiled, chip: &str) -> Box<dyn Device> {
        Box::new(device::Machine::new(compiled, Chip::named(chip)))
    }
    fn sites(&self, _: &Compiled) -> Vec<Site> {
        Vec::new()
    }
}

/// Assembler and disassembler. A token is a byte, a line of numbers a group.
#[derive(Copy, Clone, Debug)]
struct Text;

impl Assembler for Text {
    fn token_bytes(&self) -> usize {
        1
    }
    fn units(&self) -> &'static [&'static str] {
        &["program"]
    }
    fn disassemble(&self, _: &str, code: &[u8]) -> Result<String, AssemblyError> {
        disassemble(code).map_err(wrong)
    }
    fn assemble(&self, _: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        assemble(text).map_err(|error| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        })
    }
    fn listing(&self, code: &[u8]) -> Result<Vec<ListingLine>, AssemblyError> {
        let groups = listing(code).map_err(wrong)?;
        let lines = |(offset, text): &(usize, String)| -> Vec<ListingLine> {
            let line = |line: &str| ListingLine {
                offset: *offset as u32,
                flow: false,
                text: line.to_owned(),
            };
            text.lines().map(line).collect()
        };
        Ok(groups.iter().flat_map(lines).collect())
    }
    fn steps(&self, code: &[u8]) -> Result<Steps, AssemblyError> {
        // Of no code, nothing.
        let _ = code;
        Ok(Steps { list: Vec::new(), cells: 1, prefix: "r" })
    }
}

fn wrong(error: ProgramError) -> AssemblyError {
    AssemblyError::Code { offset: error.offset, message: error.reason.to_string() }
}
