//! What a driver does with gpucc: it makes a compiler for its chip once, compiles the two halves of a pipeline with the
//! state that it knows, and takes from the result what it uploads, binds and programs.
//!
//! ```text
//! cargo run --release -p gpucc --example driver
//! ```

// It shows; a driver would write registers.
#![allow(clippy::print_stdout)]

use gpucc::machine::described::{Binding, Setting};
use gpucc::pipeline::{Attribute, Step, VertexBuffer, VertexState};
use gpucc::{Choice, Compiled, Compiler, Failure, Options, Source, SourceText, Stage, Target};
use std::time::Duration;

const SHADER: &str = "
struct Corner { @builtin(position) position: vec4f, @location(0) colour: vec4f }
@group(0) @binding(0) var<uniform> transform: mat4x4f;

@vertex fn corner(@location(0) position: vec3f, @location(1) colour: vec4f) -> Corner {
    return Corner(transform * vec4f(position, 1.0), colour);
}

@fragment fn shade(corner: Corner) -> @location(0) vec4f {
    return corner.colour;
}
";

fn main() -> Result<(), Failure> {
    // Immutable, Send and Sync: one for the life of the device, used by every thread.
    let compiler = Compiler::new(Target::R700, Some("rv730"))?;

    // What the shader does not say. Whatever is left out is inferred, and noted.
    let mut options = Options::default();
    options.pipeline.vertex = Some(VertexState {
        attributes: vec![attribute(0, "float32x3", 0), attribute(1, "unorm8x4", 12)],
        buffers: vec![VertexBuffer { stride: 16, step: Step::Vertex }],
        ..VertexState::default()
    });

    for stage in [Stage::Vertex, Stage::Fragment] {
        // A failure says whose fault it is: `exit_code` and `kind` decide what to tell whom.
        describe(&compile(&compiler, stage, &options)?);
    }
    Ok(())
}

fn attribute(location: u32, format: &str, offset: u32) -> Attribute {
    Attribute { location, format: format.into(), buffer: 0, offset }
}

fn compile(compiler: &Compiler, stage: Stage, options: &Options) -> Result<Compiled, Failure> {
    let choice = Choice { stage: Some(stage), ..Choice::default() };
    let mut parsed = compiler.parse(Source::Wgsl(SHADER), choice, options)?;
    let entry = parsed.entries.remove(0);
    compiler.compile(&entry.func?, options)
}

/// The report is plain data: the same that `--emit json` writes.
fn describe(compiled: &Compiled) {
    let source = SourceText::new("shader.wgsl", Some(SHADER.into()));
    let report = gpucc::shader_report(compiled, &source, Duration::ZERO);
    println!("{} '{}'", report.stage, report.entry);
    println!("  upload {} bytes of code", report.code.bytes);
    for binding in &report.resources {
        let Binding { group, slot, .. } = binding;
        for (table, entry) in slot {
            println!("  bind {group}.{} at {entry} of {table}", binding.binding);
        }
    }
    for input in &report.inputs {
        println!("  input '{}': {:?}", input.name, input.place);
    }
    for (name, setting) in &report.state {
        // Another family of machines may have descriptors in memory in place of registers.
        if let Setting::Register { address, value, mask, .. } = setting {
            println!("  write {value:#010x} to {name} at {address:#x}, bits {mask:#010x}");
        }
    }
}
