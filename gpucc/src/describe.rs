//! From a compiled entry point to the report.

use crate::compiler::Compiled;
use crate::pipeline::Pipeline;
use crate::report::{Code, Described, Line, Shader, Stats};
use crate::source::SourceText;
pub use gpucc_machine::described::hex;
use std::time::Duration;

/// One entry point's part of the report. [`Shader::flow`] and [`Shader::properties`] are left empty, for they cost time: who
/// wants them asks [`crate::Program::flow`] and [`crate::Properties::of`].
pub fn shader_report(compiled: &Compiled, source: &SourceText, frontend: Duration) -> Shader {
    let program = compiled.program.as_ref();
    let mut described = match program {
        Some(program) => program.compiled().described.clone(),
        None => Described {
            stats: Stats { instructions: compiled.ssa.live_insts() as u64, ..Stats::default() },
            ..Described::default()
        },
    };
    described.stats.compile_microseconds = compiled.compile_time.as_micros() as u64;
    described.stats.frontend_microseconds = frontend.as_micros() as u64;
    Shader {
        source: source.name.clone(),
        entry: compiled.entry.clone(),
        stage: compiled.stage.name().into(),
        code: Code::of(program.map_or(&[], |program| program.code())),
        properties: None,
        described,
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
        let (line, column) = source.position(span.start);
        if lines.last().is_some_and(|last| (last.line, last.column) == (line, column)) {
            continue;
        }
        lines.push(Line { offset, file: source.name.clone(), line, column });
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
