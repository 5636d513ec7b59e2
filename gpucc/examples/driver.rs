//! What a driver does with gpucc: it makes a compiler for its chip once, compiles the two halves of a pipeline with the
//! state that it knows, and takes from the result what it uploads, binds and programs.
//!
//! ```text
//! cargo run --release -p gpucc --example driver
//! ```

// It shows; a driver would write registers.
#![allow(clippy::print_stdout)]

use gpucc::described::{Binding, Setting};
use gpucc::execute::{self, Bound};
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
        describe(&compile(&compiler, SHADER, stage, &options)?);
    }
    run(&compiler)
}

const TRIPLES: &str = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(8) fn triples(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = id.x * 3u;
}
";

/// What a driver's test does: it runs the code on the emulated machine, which is set up from the result alone.
fn run(compiler: &Compiler) -> Result<(), Failure> {
    let options = Options::default();
    let compiled = compile(compiler, TRIPLES, Stage::Compute, &options)?;
    let source = SourceText::new("triples.wgsl", Some(TRIPLES.into()));
    let mut bindings = execute::bindings(&compiled.ssa)?;
    let Some((out, _)) = compiled.ssa.resources.iter().next() else { return Ok(()) };
    bindings.set(out, Bound::Buffer(vec![0; 16 * 4]));
    let mut machine = compiler.executor(&compiled, &options, &source);
    machine.dispatch(&mut bindings, [2, 1, 1]).map_err(execute::Stop::into_failure)?;
    let words = bindings.get(out, 0).bytes().chunks(4);
    assert!(words.enumerate().all(|(n, word)| word == (n as u32 * 3).to_le_bytes()));
    println!("'triples' ran on the emulated machine");
    Ok(())
}

fn attribute(location: u32, format: &str, offset: u32) -> Attribute {
    Attribute { location, format: format.into(), buffer: 0, offset }
}

fn compile(
    compiler: &Compiler,
    shader: &str,
    stage: Stage,
    options: &Options,
) -> Result<Compiled, Failure> {
    let choice = Choice { stage: Some(stage), ..Choice::default() };
    let mut parsed = compiler.parse(Source::Wgsl(shader), choice, options)?;
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
