//! From a compiled entry point to the report.

use crate::compiler::Compiled;
use crate::pipeline::Pipeline;
use crate::report::{Code, Line, Shader, Stats};
use crate::source::SourceText;
use serde_json::Map;
use std::time::Duration;

/// Bytes as pairs of hexadecimal digits in memory order.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// One entry point's part of the report.
pub fn shader_report(compiled: &Compiled, source: &SourceText, frontend: Duration) -> Shader {
    let code = compiled
        .program
        .as_deref()
        .map_or(&[][..], |program| program.code());
    let mut shader = Shader {
        source: source.name.clone(),
        entry: compiled.entry.clone(),
        stage: compiled.stage.name(),
        code: Code {
            bytes: code.len(),
            hex: hex(code),
        },
        stats: Stats {
            instructions: compiled.ssa.live_insts() as u64,
            ..Stats::default()
        },
        machine: Map::new(),
        resources: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        state: Map::new(),
        driver_constants: Vec::new(),
        fetch_program: None,
        tables: None,
        dispatch: None,
        lines: Vec::new(),
    };
    if let Some(program) = &compiled.program {
        program.describe(&mut shader);
        shader.lines = lines(program.lines(), source);
    }
    shader.stats.compile_microseconds = compiled.compile_time.as_micros() as u64;
    shader.stats.frontend_microseconds = frontend.as_micros() as u64;
    shader
}

fn lines(spans: &[(u32, gpucc_ir::ssa::Span)], source: &SourceText) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for &(offset, span) in spans {
        if span.is_none() {
            continue;
        }
        let (line, column) = source.position(span.start);
        if lines
            .last()
            .is_some_and(|last| (last.line, last.column) == (line, column))
        {
            continue;
        }
        lines.push(Line {
            offset,
            file: source.name.clone(),
            line,
            column,
        });
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

#[cfg(test)]
mod tests {
    #[test]
    fn hex_is_two_digits_a_byte_in_memory_order() {
        assert_eq!(super::hex(&[0, 0x1f, 0xa0]), "001fa0");
    }
}
