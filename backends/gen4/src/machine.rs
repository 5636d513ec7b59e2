//! Both members of the family as machines: names, limits, what is asked of them and what they give.

use crate::isa::program::decode_program;
use crate::isa::{self, Machine};
use crate::legal::Chip;
use crate::{back, describe, expand, kernels, limits, numerics, refuse, steps, target, targets};
use gpucc_emu::device::{Device, Drawer};
use gpucc_emu::sampler::{Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Func, Numerics, Stage};
use gpucc_machine::about::STAGES;
use gpucc_machine::assembler::{Assembler, AssemblyError, ListingLine, hex_lines};
use gpucc_machine::{About, Compiled, Errors, Request, Site, Steps};
use gpucc_passes::pass::Listed;
use gpucc_passes::{Plan, TargetInfo};

/// A member of the family.
#[derive(Copy, Clone, Debug)]
pub struct Member {
    about: About,
    refusals: refuse::Table,
    text: Text,
}

const fn member(
    name: &'static str,
    machine: &'static str,
    short: &'static str,
    chips: &'static [&'static str],
    refusals: refuse::Table,
    table: Machine,
) -> Member {
    let about = About { name, machine, short, chips, stages: STAGES, noticed: 90 };
    Member { about, refusals, text: Text(table) }
}

/// Intel 965, G35, GM965.
pub static GEN4: Member =
    member("gen4", "Intel 965 family", "Gen4", &["i965", "gm965"], refuse::GEN4, Machine::Gen4);
/// Intel G45 and GM45, B stepping.
pub static G45: Member =
    member("g45", "Intel G45 family", "G45", &["g45", "gm45"], refuse::G45, Machine::G45);

fn chip(table: Machine, name: &str) -> Chip {
    match (table, name) {
        (Machine::G45, _) => Chip::G45,
        (Machine::Gen4, "gm965") => Chip::Gm965,
        (Machine::Gen4, _) => Chip::I965,
    }
}

impl gpucc_machine::Machine for Member {
    fn about(&self) -> &'static About {
        match self.text.0 {
            Machine::Gen4 => &GEN4.about,
            Machine::G45 => &G45.about,
        }
    }
    fn limits(&self, _: &str) -> Vec<(&'static str, u64)> {
        limits::of(self.text.0)
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        self.refusals.to_vec()
    }
    fn looked_at(&self, compiled: &Compiled, setting: &str, word: usize) -> u32 {
        match (setting, word) {
            // The type of a surface that is bound; the rest of its state comes of the image.
            (name, 0) if describe::is_bound_surface(compiled, name) => 7 << 29,
            // The surfaces of targets, the buffer of depths and the equations of blending come of the draw.
            (name, _) if name.starts_with(describe::SURFACE_STATE) => 0,
            (targets::DEPTH_BUFFER, _) | (describe::COLOR, 3 | 5 | 6) => 0,
            _ => u32::MAX,
        }
    }
    fn info(&self) -> &'static dyn TargetInfo {
        &target::LOADED
    }
    fn expansion_info(&self, request: &Request) -> &'static dyn TargetInfo {
        target::expansion_target(request)
    }
    fn numerics(&self, _: &str) -> Numerics {
        numerics::numerics(self.about.name)
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
        refuse::check(ssa, self.about.short, self.refusals)
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        if expanded.stage == Stage::Fragment
            && let Some(state) = &request.pipeline.fragment
        {
            targets::admit(state, self.text.0, (self.about.short, self.refusals))?;
        }
        back::finish(expanded, chip(self.text.0, request.chip), request)
    }
    fn assembler(&self) -> &'static dyn Assembler {
        match self.text.0 {
            Machine::Gen4 => &GEN4.text,
            Machine::G45 => &G45.text,
        }
    }
    #[cfg(feature = "emulator")]
    fn device(&self, compiled: &Compiled, name: &str) -> Box<dyn Device> {
        Box::new(crate::device::Machine::new(compiled, chip(self.text.0, name)))
    }
    fn interpolates(&self) -> bool {
        true
    }
    fn kernels(
        &self,
        vertex: &Compiled,
        fragment: &Compiled,
        request: &Request,
    ) -> Result<Vec<Compiled>, Failure> {
        kernels::kernels(self.text.0, &vertex.expanded, &fragment.expanded, request)
    }
    #[cfg(feature = "emulator")]
    fn drawer(
        &self,
        vertex: &Compiled,
        geometry: Option<&Compiled>,
        fragment: &Compiled,
        request: &Request,
    ) -> Result<Option<Box<dyn Drawer>>, Failure> {
        let made = self.kernels(geometry.unwrap_or(vertex), fragment, request)?;
        let chip = chip(self.text.0, request.chip);
        let drawing = crate::device::Drawing::new(vertex, geometry, fragment, &made, chip);
        Ok(drawing.map(|drawing| Box::new(drawing) as Box<dyn Drawer>))
    }
    /// Texels of 32 bits a component are not filtered, and nothing mirrors once to a border (isa/gen4-pipeline.md 1.5). A bias is added
    /// to levels that are given too, and without a filter between levels the least one is taken (G45 vol. 4, 4.2.1.5).
    fn restrict(&self, sampler: &mut Sampler, words: bool) {
        if words {
            (sampler.mag, sampler.min) = (Filter::Nearest, Filter::Nearest);
            sampler.mip = MipFilter::Nearest;
        }
        sampler.lod_bias = 0.0;
        if sampler.mip == MipFilter::None {
            sampler.lod_min = 0.0;
        }
        for wrap in &mut sampler.wrap {
            if *wrap == Wrap::MirrorOnceBorder {
                *wrap = Wrap::MirrorOnce;
            }
        }
    }
    #[cfg(feature = "emulator")]
    fn sites(&self, compiled: &Compiled, _: &str) -> Vec<Site> {
        crate::sites::sites(compiled, self.text.0)
    }
}

/// Assembler and disassembler of a member.
#[derive(Copy, Clone, Debug)]
struct Text(Machine);

impl Assembler for Text {
    fn token_bytes(&self) -> usize {
        4
    }
    fn units(&self) -> &'static [&'static str] {
        &["program"]
    }
    fn disassemble(&self, _: &str, code: &[u8]) -> Result<String, AssemblyError> {
        isa::disassemble(self.0, code).map_err(wrong)
    }
    fn assemble(&self, _: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        isa::assemble(self.0, text).map_err(|error| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        })
    }
    fn listing(&self, code: &[u8]) -> Result<Vec<ListingLine>, AssemblyError> {
        let program = decode_program(self.0, code).map_err(wrong)?;
        let line = |(offset, decoded): &(usize, isa::Decoded)| ListingLine {
            offset: *offset as u32,
            flow: false,
            text: isa::disasm::text_of(self.0, decoded),
        };
        Ok(program.iter().map(line).collect())
    }
    fn steps(&self, code: &[u8]) -> Result<Steps, AssemblyError> {
        steps::steps(self.0, code).map_err(wrong)
    }
    fn hex_lines(&self, code: &[u8]) -> String {
        // A line is an instruction, whose length its first doubleword says; what is none stays as it is.
        let mut lines = String::with_capacity(3 * code.len());
        let mut rest = code;
        while let Some(first) = rest.first_chunk::<4>() {
            let tokens = if isa::is_compact(u32::from_le_bytes(*first)) { 2 } else { 4 };
            let (unit, after) = rest.split_at(rest.len().min(4 * tokens));
            lines.push_str(&hex_lines(unit, 4, tokens));
            rest = after;
        }
        if !rest.is_empty() {
            lines.push_str(&hex_lines(rest, 4, 1));
        }
        lines
    }
}

fn wrong(error: isa::program::ProgramError) -> AssemblyError {
    AssemblyError::Code { offset: error.offset, message: error.reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_numbers_is_an_instruction() {
        let text = Text(Machine::G45);
        let code = text.assemble(
            "program",
            "nop ;\npln(16) g6<1>F g4<0,1,0>F g8<8,8,1>F { align1 compr compacted }; nenop ;",
        );
        let code = code.expect("text of the machine");
        assert_eq!(code.len(), 32);
        let lines = text.hex_lines(&code);
        let tokens: Vec<usize> = lines.lines().map(|line| line.split(' ').count()).collect();
        assert_eq!(tokens, [4, 2, 2]);
        let listing = text.listing(&code).expect("the same program");
        let offsets: Vec<u32> = listing.iter().map(|line| line.offset).collect();
        assert_eq!(offsets, [0, 16, 24]);
    }
}
