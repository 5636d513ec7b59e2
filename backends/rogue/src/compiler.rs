//! Rogue as a machine: names, limits, what is asked of it and what it gives.

use crate::abi::{computes_depth, samples, unrestricted};
use crate::chip::{Chip, NAMES};
use crate::describe::OUTPUT_REGISTERS;
use crate::machine::Text;
use crate::{back, color, expand, limits, numerics, refuse, state, target};
use gpucc_emu::device::Device;
use gpucc_emu::sampler::{Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Builtin, Func, Numerics, OutputKind, Scalar, Stage};
use gpucc_machine::about::WITHOUT_GEOMETRY;
use gpucc_machine::described::Setting;
use gpucc_machine::{About, Assembler, Compiled, Errors, Kept, Request, Site};
use gpucc_passes::pass::Listed;
use gpucc_passes::{Plan, TargetInfo};

/// Imagination PowerVR Rogue.
#[derive(Copy, Clone, Debug)]
pub struct Rogue;

/// The machine by its name.
pub static ROGUE: Rogue = Rogue;

static ABOUT: About = About {
    name: "rogue",
    machine: "Imagination PowerVR Rogue",
    short: refuse::SHORT,
    chips: NAMES,
    stages: WITHOUT_GEOMETRY,
    noticed: 85,
};

impl gpucc_machine::Machine for Rogue {
    fn about(&self) -> &'static About {
        &ABOUT
    }
    fn limits(&self, chip: &str) -> Vec<(&'static str, u64)> {
        limits::of(Chip::named(chip))
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        refuse::TABLE.to_vec()
    }
    fn looked_at(&self, compiled: &Compiled, setting: &str, _: usize) -> u32 {
        match (compiled.expanded.stage, setting) {
            // The machine has no use for the header. Both programs of a draw fill the blocks; it takes those of the pixel program.
            (_, state::HEADER) | (Stage::Vertex, state::OUTPUTS | state::VARYING_COUNTS) => 0,
            _ => u32::MAX,
        }
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
        expand::plan(request.effort, samples(&request.pipeline) > 1)
    }
    fn machine_passes(&self) -> Vec<Listed> {
        back::machine_passes()
    }
    fn admit(&self, ssa: &Func, chip: &str) -> Result<(), Failure> {
        refuse::check(ssa, Chip::named(chip))
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        back::finish(expanded, Chip::named(request.chip), request)
    }
    fn assembler(&self) -> &'static dyn Assembler {
        &Text
    }
    #[cfg(feature = "emulator")]
    fn device(&self, compiled: &Compiled, chip: &str) -> Box<dyn Device> {
        Box::new(crate::device::Machine::new(compiled, Chip::named(chip)))
    }
    /// What is compared is sampled before: depths are not filtered where they are (isa/rogue-pipeline.md 2.9). Nothing mirrors once to
    /// a border (4.5).
    fn restrict(&self, sampler: &mut Sampler, _: bool) {
        if sampler.compare.is_some() {
            (sampler.mag, sampler.min) = (Filter::Nearest, Filter::Nearest);
            if sampler.mip == MipFilter::Linear {
                sampler.mip = MipFilter::Nearest;
            }
        }
        for wrap in &mut sampler.wrap {
            if *wrap == Wrap::MirrorOnceBorder {
                *wrap = Wrap::MirrorOnce;
            }
        }
    }
    /// Colours that the program packs are what their formats hold.
    fn kept(&self, compiled: &Compiled) -> Vec<Kept> {
        let func = &compiled.expanded;
        let registers = compiled.described.state.get(OUTPUT_REGISTERS);
        let (Stage::Fragment, Some(Setting::Number(registers))) = (func.stage, registers) else {
            return Vec::new();
        };
        // A depth is clamped unless the pipeline lets it lie beyond 0 and 1. None is left where tests come before the program.
        let unrestricted = unrestricted(&compiled.pipeline);
        let depth = OutputKind::Builtin(Builtin::FragDepth);
        let depths =
            func.outputs.iter().filter(|(_, data)| data.kind == depth).map(|(output, _)| {
                let components = u32::from(computes_depth(func));
                let words = move |[depth, ..]: [u32; 4]| {
                    [if unrestricted { depth } else { clamped(depth) }, 0, 0, 0]
                };
                Kept { output, components, words: Box::new(words) }
            });
        let colors = color::colors(func, &compiled.pipeline, *registers as u16);
        let kept = colors.into_iter().map(|color| {
            let half = func.outputs[color.output].scalar == Scalar::F16;
            Kept {
                output: color.output,
                components: color.format.components(),
                words: Box::new(move |words| color.kept(half, words)),
            }
        });
        kept.chain(depths).collect()
    }
    #[cfg(feature = "emulator")]
    fn sites(&self, compiled: &Compiled, chip: &str) -> Vec<Site> {
        crate::sites::sites(compiled, Chip::named(chip).core())
    }
}

/// A depth as an operation that saturates leaves it: denormals and NaN are 0. 2.1.
fn clamped(bits: u32) -> u32 {
    let depth = f32::from_bits(bits);
    if depth >= f32::MIN_POSITIVE { depth.min(1.0).to_bits() } else { 0 }
}
