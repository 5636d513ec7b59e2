//! From a compiled entry point to the report.

use crate::binary::Binary;
use crate::compiler::Compiled;
use crate::pipeline::Pipeline;
use crate::report::{Code, Line, Shader};
use crate::source::SourceText;
pub use gpucc_machine::described::hex;
use std::time::Duration;

/// One entry point's part of the report. [`Shader::flow`] and [`Shader::properties`] are left empty, for they cost time: who
/// wants them asks [`crate::Program::flow`] and [`crate::Properties::of`].
pub fn shader_report(compiled: &Compiled, source: &SourceText, frontend: Duration) -> Shader {
    let mut shader = binary_report(compiled, source);
    if compiled.program.is_none() {
        shader.stats.instructions = compiled.ssa.live_insts() as u64;
    }
    shader.stats.compile_microseconds = compiled.compile_time.as_micros() as u64;
    shader.stats.frontend_microseconds = frontend.as_micros() as u64;
    shader
}

/// The same of an entry point that comes from a cache; its times are 0.
pub fn binary_report(binary: &Binary, source: &SourceText) -> Shader {
    let program = binary.program.as_ref();
    Shader {
        source: source.name.clone(),
        entry: binary.entry.clone(),
        stage: binary.stage.name().into(),
        code: Code::of(program.map_or(&[], |program| program.code())),
        properties: None,
        described: program.map(|program| program.compiled().described.clone()).unwrap_or_default(),
        lines: program.map_or_else(Vec::new, |program| lines(program.lines(), source)),
        flow: Vec::new(),
    }
}

fn lines(spans: &[(u32, gpucc_ir::ssa::Span)], source: &SourceText) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for &(offset, span) in spans {
        if span.is_none() {
            continue;
        }
        let (file, line, column) = source.shown(span.start);
        if lines
            .last()
            .is_some_and(|last| (&*last.file, last.line, last.column) == (file, line, column))
        {
            continue;
        }
        lines.push(Line { offset, file: file.to_owned(), line, column });
    }
    lines
}

/// What `--write-pipeline` writes: what was given, then what the entry points inferred.
pub fn merge_pipelines(given: &Pipeline, inferred: &[Pipeline]) -> Pipeline {
    let mut all = given.clone();
    for pipeline in inferred {
        if let Some(vertex) = &pipeline.vertex {
            all.vertex = Some(vertex.clone());
        }
        if let Some(fragment) = &pipeline.fragment {
            all.fragment = Some(fragment.clone());
        }
        for binding in &pipeline.bindings {
            if !all
                .bindings
                .iter()
                .any(|known| (known.group, known.binding) == (binding.group, binding.binding))
            {
                all.bindings.push(*binding);
            }
        }
    }
    all
}
