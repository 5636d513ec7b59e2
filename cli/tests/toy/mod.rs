//! A machine that exists nowhere: ten scalar instructions, one invocation at a time, a register for each value. It shows
//! what a machine has to give: this folder and the line `mod toy;` are all that it takes.
//!
//! Its arithmetic is the interpreter's, operation by operation, so that what its proofs prove is everything else:
//! places of bindings, inputs, memory, control flow, encoding and text.

mod emu;
mod isa;
mod lower;
mod tests;

use gpucc::Target;
use gpucc::compiled::{Placed, Program};
use gpucc::described::{Binding, Described, Dispatch, StageInput, Stats, Takes};
use gpucc::machine::{About, Assembler, Compiled, Machine, Request, Site};
use gpucc::named::Figure;
use gpucc_emu::device::Device;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Func, Numerics, ResourceKind, Stage};
use gpucc_passes::pass::Listed;
use gpucc_passes::{Neutral, Plan, TargetInfo};

/// The machine's value.
pub struct Toy;

/// What `machines.rs` would say of it.
pub const TOY: Target = Target::Machine(&Toy);

const ABOUT: About = About {
    name: "toy",
    machine: "a machine of ten instructions",
    short: "Toy",
    chips: &["toy1"],
    stages: &["compute"],
    noticed: 90,
};

impl Machine for Toy {
    fn about(&self) -> &'static About {
        &ABOUT
    }
    fn limits(&self, _: &str) -> Vec<(&'static str, u64)> {
        vec![("registers", isa::REGISTERS as u64), ("buffers", 256)]
    }
    fn refusals(&self) -> Vec<(&'static str, &'static str)> {
        vec![("atomic operations", "the toy's book: no instruction")]
    }
    fn info(&self) -> &'static dyn TargetInfo {
        &Neutral
    }
    fn numerics(&self, _: &str) -> Numerics {
        Numerics::REFERENCE
    }
    fn plan(&self, _: &Request) -> Plan {
        Plan::default()
    }
    fn machine_passes(&self) -> Vec<Listed> {
        Vec::new()
    }
    fn admit(&self, ssa: &Func, _: &str) -> Result<(), Failure> {
        lower::admit(ssa)
    }
    fn finish(&self, expanded: Func, request: &Request) -> Result<Compiled, Failure> {
        let code = lower::lower(&expanded)?;
        let registers = expanded.values.len() as u32;
        let described = Described {
            stats: Stats {
                instructions: code.len() as u64,
                code_bytes: 8 * code.len() as u64,
                registers: registers.into(),
                cycles: code.len() as f64,
                bound_unit: "issue".into(),
                ..Stats::default()
            },
            machine: [("jumps", Figure(lower::jumps(&code) as f64))].into_iter().collect(),
            resources: expanded
                .resources
                .keys()
                .map(|resource| {
                    let slot = [("buffer", lower::buffer(resource))];
                    Binding::of(&expanded, resource, slot.into_iter().collect())
                })
                .collect(),
            inputs: expanded
                .inputs
                .keys()
                .map(|input| {
                    let place = gpucc::described::InputPlace::Elsewhere {};
                    StageInput::of(&expanded, input, place)
                })
                .collect(),
            dispatch: Some(Dispatch {
                workgroup_size: expanded.workgroup_size,
                takes: Takes::Memory { workgroup_bytes: 0 },
            }),
            ..Described::default()
        };
        let bytes: Vec<u8> = code.iter().flat_map(|inst| inst.bytes()).collect();
        Ok(Compiled {
            programs: vec![Program {
                name: "".into(),
                code: Placed::Within(0..bytes.len()),
                registers,
            }],
            code: bytes,
            described,
            expanded,
            lines: Vec::new(),
            notes: Vec::new(),
            pipeline: request.pipeline.clone(),
            dumps: Vec::new(),
            times: Vec::new(),
        })
    }
    /// One program between two others, which does nothing: the toy has no fixed function to feed.
    fn kernels(
        &self,
        vertex: &Compiled,
        _: &Compiled,
        request: &Request,
    ) -> Result<Vec<Compiled>, Failure> {
        let mut nothing = Func::new("between", vertex.expanded.stage);
        let end = gpucc_ir::ssa::InstData {
            op: gpucc_ir::ssa::Op::Yield,
            args: Default::default(),
            imm: gpucc_ir::ssa::Imm::None,
            regions: Default::default(),
            results: Default::default(),
            span: gpucc_ir::ssa::Span::NONE,
            bundle: None,
        };
        let end = nothing.new_inst(end, &[]);
        nothing.regions[nothing.body].insts.push(end);
        Ok(vec![self.finish(nothing, request)?])
    }
    fn assembler(&self) -> &'static dyn Assembler {
        &isa::Text
    }
    fn device(&self, compiled: &Compiled, _: &str) -> Box<dyn Device> {
        Box::new(emu::Toy::new(compiled))
    }
    fn sites(&self, compiled: &Compiled, _: &str) -> Vec<Site> {
        let words = isa::words(&compiled.code);
        let site = |(number, word): (usize, u64)| {
            let inst = isa::TABLE.decode(word.into()).ok()?;
            Some(Site {
                offset: 8 * number,
                inst,
                meaning: Box::new(move |field, _| isa::is_read(&inst, field.id)),
            })
        };
        words.enumerate().filter_map(site).collect()
    }
}

/// A compute program with buffers and nothing else.
fn fits(func: &Func) -> bool {
    func.stage == Stage::Compute
        && func.mems.is_empty()
        && func.resources.values().all(|data| {
            let buffer =
                matches!(data.kind, ResourceKind::Storage { .. } | ResourceKind::Uniform { .. });
            buffer && data.count.is_none()
        })
}
