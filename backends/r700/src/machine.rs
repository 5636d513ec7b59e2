//! R700 and R6xx as machines: names, limits, what is asked of them and what they give.

use crate::api::{Chip, Family, Options};
use crate::{isa, limits};
use gpucc_emu::device::Device;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Func, Numerics};
use gpucc_machine::about::{About, Errors, WITHOUT_GEOMETRY};
use gpucc_machine::assembler::{Assembler, AssemblyError, ListingLine, hex_lines};
#[cfg(feature = "emulator")]
use gpucc_machine::described::Setting;
use gpucc_machine::{Excerpt, Machine, Request, Site, Steps, TextError};
use gpucc_passes::pass::Listed;
use gpucc_passes::{Plan, TargetInfo};

/// What R700 is told as.
const R700: About = About {
    name: Family::R700.name(),
    machine: "AMD R700 family (TeraScale)",
    short: Family::R700.machine(),
    chips: &["rv770", "rv790", "rv740", "rv730", "rv710"],
    stages: WITHOUT_GEOMETRY,
    noticed: 95,
};

const R600: About = About {
    name: Family::R600.name(),
    machine: "AMD R6xx family",
    short: Family::R600.machine(),
    chips: &["rv670", "rv610", "rv630", "rv620", "rv635", "r600"],
    // No instruction writes memory, so nothing is stored; see the refusals.
    ..R700
};

impl Family {
    /// The chip of this name; the default for a name that is not in the table.
    fn known_chip(self, name: &str) -> Chip {
        self.chip(name).unwrap_or(self.chips()[0])
    }
}

fn options(family: Family, request: &Request) -> Options {
    Options {
        chip: family.known_chip(request.chip),
        effort: request.effort,
        pipeline: request.pipeline.clone(),
        trusts_indices: request.trusts_indices,
        budget: request.budget,
        passes: request.passes.clone(),
    }
}

impl Machine for Family {
    fn about(&self) -> &'static About {
        match self {
            Family::R600 => &R600,
            Family::R700 => &R700,
        }
    }
    fn limits(&self, chip: &str) -> Vec<(&'static str, u64)> {
        limits::of(self.known_chip(chip))
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        crate::refusals_of(*self)
    }
    #[cfg(feature = "emulator")]
    fn looked_at(&self, compiled: &gpucc_machine::Compiled, setting: &str, _: usize) -> u32 {
        // A driver writes where the code is; the machine runs what it is given.
        let place = setting.starts_with("SQ_PGM_START_");
        match compiled.described.state.get(setting) {
            Some(Setting::Register { address, .. })
                if !place && !crate::emu::address::is_read(*address) =>
            {
                0
            }
            _ => u32::MAX,
        }
    }
    fn elf(&self, chip: &str) -> (u16, u32) {
        /// ELF's number of AMD's GPUs.
        const EM_AMDGPU: u16 = 224;
        let flags = match chip {
            "r600" => 1,
            "rv630" => 2,
            "rv670" => 4,
            "rv710" => 5,
            "rv730" => 6,
            "rv770" => 7,
            // No number of its own; the report names the chip.
            _ => 0,
        };
        (EM_AMDGPU, flags)
    }
    fn info(&self) -> &'static dyn TargetInfo {
        crate::target_info()
    }
    fn errors(&self) -> Option<Errors> {
        Some(crate::numerics::errors())
    }
    fn numerics(&self, _: &str) -> Numerics {
        crate::numerics_of(*self)
    }
    fn plan(&self, request: &Request) -> Plan {
        crate::plan(request.effort)
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
        crate::run_passes(excerpt, passes, &options(*self, request))
    }
    fn admit(&self, ssa: &Func, chip: &str) -> Result<(), Failure> {
        crate::admit(ssa, self.known_chip(chip))
    }
    fn finish(
        &self,
        expanded: Func,
        request: &Request,
    ) -> Result<gpucc_machine::Compiled, Failure> {
        crate::finish(expanded, &options(*self, request))
    }
    fn assembler(&self) -> &'static dyn Assembler {
        static R600: Text = Text(&isa::R600);
        static R700: Text = Text(&isa::R700);
        match self {
            Family::R600 => &R600,
            Family::R700 => &R700,
        }
    }
    #[cfg(feature = "emulator")]
    fn device(&self, compiled: &gpucc_machine::Compiled, chip: &str) -> Box<dyn Device> {
        Box::new(crate::device::Machine::new(self.known_chip(chip), compiled))
    }
    #[cfg(feature = "emulator")]
    fn sites(&self, compiled: &gpucc_machine::Compiled, _: &str) -> Vec<Site> {
        crate::sites::sites(&compiled.code)
    }
}

/// Assembler and disassembler of a family.
struct Text(&'static isa::Isa);

impl Assembler for Text {
    fn token_bytes(&self) -> usize {
        4
    }
    fn units(&self) -> &'static [&'static str] {
        &["program", "cf", "alu", "alu-slot", "fetch"]
    }
    fn disassemble(&self, unit: &str, code: &[u8]) -> Result<String, AssemblyError> {
        if unit == "program" {
            return isa::disasm::disassemble_of(self.0, code).map_err(wrong);
        }
        let words = isa::disasm::words_of(code).map_err(wrong)?;
        isa::disassemble_unit(self.0, kind_of(unit), &words).map_err(wrong)
    }
    fn assemble(&self, unit: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        let wrong = |error: gpucc_isa::Diagnostic| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        };
        if unit == "program" {
            let words = isa::asm::assemble_of(self.0, text).map_err(wrong)?;
            return Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect());
        }
        let words = isa::assemble_unit(self.0, kind_of(unit), text).map_err(wrong)?;
        Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }
    fn listing(&self, code: &[u8]) -> Result<Vec<ListingLine>, AssemblyError> {
        let lines = isa::disasm::listing_of(self.0, code).map_err(wrong)?;
        Ok(lines
            .into_iter()
            .map(|line| ListingLine { offset: line.offset, flow: line.flow, text: line.text })
            .collect())
    }
    fn steps(&self, code: &[u8]) -> Result<Steps, AssemblyError> {
        let words = isa::disasm::words_of(code).map_err(wrong)?;
        let program = isa::program::decode_program_of(self.0, &words).map_err(wrong)?;
        Ok(crate::steps::steps(&program))
    }
    fn hex_lines(&self, code: &[u8]) -> String {
        // Control flow and ALU instructions are two dwords each.
        hex_lines(code, 4, 2)
    }
}

fn wrong(error: isa::DecodeError) -> AssemblyError {
    AssemblyError::Code { offset: error.offset, message: error.reason.to_string() }
}

fn kind_of(unit: &str) -> isa::UnitKind {
    isa::UnitKind::named(unit).expect("units() names only these")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chips_that_are_told_are_those_of_the_table() {
        for family in [Family::R600, Family::R700] {
            let chips: Vec<&str> = family.chips().iter().map(|chip| chip.name()).collect();
            assert_eq!(family.about().chips, chips);
        }
    }
}
