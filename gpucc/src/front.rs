//! From sources to structured SSA: the front end's interface in the facade's words.

use crate::compiler::{Choice, Entry, Parsed, Source};
use crate::failure::Label;
use crate::{Diagnostic, Failure, FailureKind, Severity, Target};
use gpucc_frontend::{self as frontend, Gravity};
use gpucc_ir::ssa::{self, Func, Span};
use gpucc_ir::stack;
use gpucc_passes::uniformity::flow;
use std::time::Duration;

/// Bytes that a source may have: longer ones are a [`FailureKind::Limit`].
pub fn longest_source() -> u64 {
    frontend::Limits::default().source_bytes
}

/// Reads a source, and keeps what it is without values of constants where other values may follow.
pub fn parse(
    source: Source<'_>,
    choice: Choice<'_>,
    asked: &crate::Options,
    target: Target,
    keeps: bool,
) -> (Option<frontend::Reading>, Result<Parsed, Failure>) {
    let text = match source {
        Source::Wgsl(text) | Source::Glsl(text, _) => text,
        Source::SpirV(_) | Source::Ir(_) => "",
    };
    let source = match source {
        Source::Wgsl(text) => frontend::Source::Wgsl(text),
        Source::SpirV(bytes) => frontend::Source::SpirV(bytes),
        Source::Glsl(text, stage) => frontend::Source::Glsl { text, stage },
        Source::Ir(text) => {
            let fed = frontend::with_line_feeds(text);
            return (None, stack::roomy(|| parse_ir(fed.as_deref().unwrap_or(text))));
        }
    };
    let options = front_options(choice, asked);
    let (reading, parsed) = match keeps {
        true => frontend::Reading::of(source, "", &options),
        false => (None, frontend::parse(source, "", &options)),
    };
    (reading, judged(parsed, text, choice, target))
}

/// A source that was read, with the values that constants have here.
pub fn specialize(
    reading: &frontend::Reading,
    choice: Choice<'_>,
    asked: &crate::Options,
    target: Target,
) -> Result<Parsed, Failure> {
    judged(reading.lower(&front_options(choice, asked)), reading.text(), choice, target)
}

fn front_options(choice: Choice<'_>, asked: &crate::Options) -> frontend::Options {
    frontend::Options {
        overrides: asked.all_overrides().into_iter().collect(),
        overrides_default: asked.overrides_default,
        entry: choice.entry.map(str::to_owned),
        stage: choice.stage,
        keep_going: true,
        ..text_options(asked)
    }
}

/// What the front end gave, in the facade's words.
fn judged(
    parsed: Result<frontend::Parsed, frontend::Failure>,
    text: &str,
    choice: Choice<'_>,
    target: Target,
) -> Result<Parsed, Failure> {
    let parsed = parsed.map_err(|problem| {
        let mut problem = failure(problem, target);
        // A wrong choice of entry point is wrong usage, not a wrong shader.
        let chosen = choice.entry.is_some() || choice.stage.is_some();
        if chosen && problem.summary().starts_with("the source has no ") {
            problem.kind = FailureKind::Usage;
        }
        if !text.is_empty() {
            point_at_end(&mut problem, text);
        }
        problem
    })?;
    let mut entries: Vec<Entry> = parsed.module.funcs.into_iter().map(entry).collect();
    entries.extend(parsed.failed.into_iter().map(|failed| Entry {
        name: failed.entry,
        stage: None,
        func: Err(failure(failed.failure, target)),
    }));
    let mut warnings: Vec<Diagnostic> = parsed.notes.iter().map(diagnostic).collect();
    if let Some(rules) = &parsed.uniformity {
        for entry in &mut entries {
            if let Ok(func) = &entry.func
                && let Err(failure) = uniform(func, rules, &mut warnings)
            {
                entry.func = Err(failure);
            }
        }
    }
    Ok(Parsed {
        entries,
        warnings,
        frontend_time: Duration::from_micros(
            parsed.microseconds.reading + parsed.microseconds.lowering,
        ),
    })
}

/// The options that decide what a text is.
fn text_options(asked: &crate::Options) -> frontend::Options {
    frontend::Options {
        defines: asked.defines.clone(),
        includes: asked.includes.clone(),
        limits: frontend::Limits { budget: asked.budget, ..frontend::Limits::default() },
        ..frontend::Options::default()
    }
}

/// GLSL behind the preprocessor.
pub fn preprocessed(text: &str, asked: &crate::Options, target: Target) -> Result<String, Failure> {
    frontend::preprocessed(text, &text_options(asked)).map_err(|problem| {
        let mut problem = failure(problem, target);
        point_at_end(&mut problem, text);
        problem
    })
}

/// Whether what needs uniform control flow has it; what is less than an error is added to the warnings. WGSL 15.
fn uniform(
    func: &Func,
    rules: &frontend::UniformityRules,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    let findings = stack::for_regions(func, || flow::findings(func));
    let mut errors: Vec<Diagnostic> = Vec::new();
    for finding in findings {
        let gravity = if finding.waits { Gravity::Error } else { rules.at(finding.place) };
        let severity = match gravity {
            Gravity::Off => continue,
            Gravity::Info => Severity::Note,
            Gravity::Warning => Severity::Warning,
            Gravity::Error => Severity::Error,
        };
        let what = match finding.what {
            "a derivative" => "a derivative".to_owned(),
            name => format!("`{name}`"),
        };
        let message = format!("{what} is only defined in uniform control flow");
        let mut found = Diagnostic::new(severity, message)
            .at(finding.place, "not every invocation may come here")
            .at(finding.condition, "this decides it");
        if let Some((why, place)) = finding.source {
            found = found.at(place, why);
        }
        if !finding.waits && severity == Severity::Error {
            found = found.note(
                "compute it before the branch, or write `diagnostic(off, derivative_uniformity);` at the top of the shader",
            );
        }
        let list = if severity == Severity::Error { &mut errors } else { &mut *warnings };
        // Several entry points may call one function.
        if !list.contains(&found) {
            list.push(found);
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Failure { kind: FailureKind::Invalid, diagnostics: errors, ir: None })
}

/// The end of a text has no span of its own: a message about it points at the last character.
fn point_at_end(failure: &mut Failure, text: &str) {
    for diagnostic in &mut failure.diagnostics {
        let about_end = diagnostic.message.contains("the end of the text")
            || diagnostic.message.contains("end of file")
            || diagnostic.message.contains("EndOfFile");
        if diagnostic.labels.is_empty() && about_end {
            let trimmed = text.trim_end();
            let last = trimmed.chars().next_back().map_or(0, char::len_utf8);
            diagnostic.labels.push(Label {
                start: (trimmed.len() - last) as u32,
                end: trimmed.len() as u32,
                text: "the text ends here".into(),
                primary: true,
            });
        }
    }
}

/// Elements of one array of bindings: more than any machine's tables hold, few enough to bind each.
const MOST_ELEMENTS: u32 = 1 << 16;

fn entry(func: Func) -> Entry {
    let counts = func.resources.values().filter_map(|data| data.count);
    let needed = counts.max().unwrap_or(0);
    Entry {
        name: func.name.clone(),
        stage: Some(func.stage),
        func: match needed <= MOST_ELEMENTS {
            true => Ok(func),
            false => Err(too_many_elements(needed)),
        },
    }
}

fn too_many_elements(needed: u32) -> Failure {
    let what = "elements of an array of bindings";
    Failure::limit(what, needed.into(), MOST_ELEMENTS.into())
        .note("declare as many as the program uses")
}

/// What the reader lacks and the machine too is the machine's.
fn failure(mut failure: frontend::Failure, target: Target) -> Failure {
    let kind = match failure.kind {
        frontend::FailureKind::Invalid => FailureKind::Invalid,
        frontend::FailureKind::Unsupported { feature, stage, needs } => {
            match needs.and_then(|needs| target.lacks(needs)) {
                Some((lack, manual)) => {
                    if let Some(first) = failure.diagnostics.first_mut() {
                        let machine = target.short();
                        first.message = format!("{machine} cannot do this: {lack} ({manual})");
                    }
                    FailureKind::Refused { feature: lack.to_owned(), manual: manual.to_owned() }
                }
                None => FailureKind::NotYet { feature, stage: stage.to_owned() },
            }
        }
        frontend::FailureKind::Limit { what, needed, available, .. } => {
            FailureKind::Limit { what, needed, available }
        }
        frontend::FailureKind::Internal => FailureKind::Internal { pass: "the front end".into() },
    };
    Failure { kind, diagnostics: failure.diagnostics.iter().map(diagnostic).collect(), ir: None }
}

fn diagnostic(diagnostic: &frontend::Diagnostic) -> Diagnostic {
    Diagnostic {
        severity: match diagnostic.severity {
            frontend::Severity::Error => Severity::Error,
            frontend::Severity::Warning => Severity::Warning,
            frontend::Severity::Note => Severity::Note,
        },
        message: diagnostic.message.clone(),
        labels: diagnostic
            .labels
            .iter()
            .enumerate()
            .map(|(index, label)| Label {
                start: label.span.start,
                end: label.span.end,
                text: label.text.clone(),
                primary: index == 0,
            })
            .collect(),
        notes: diagnostic.notes.clone(),
    }
}

/// Structured SSA as text that reads back.
pub fn print(func: &Func) -> String {
    stack::for_regions(func, || func.to_string())
}

/// Our own text. Positions that it carries belong to another source, so they are dropped.
fn parse_ir(text: &str) -> Result<Parsed, Failure> {
    let mut module = ssa::parse_in_place(text).map_err(|error| {
        let at = offset(text, error.line, error.column);
        let end = at + u32::from((at as usize) < text.len());
        Failure::invalid(error.message.clone()).at(Span { start: at, end })
    })?;
    for func in &mut module.funcs {
        ssa::verify(func).map_err(|broken| {
            let at = broken
                .inst
                .and_then(|inst| func.insts.get(inst))
                .map_or(Span::NONE, |data| data.span);
            let failure = Failure::invalid(format!("func \"{}\": {broken}", func.name)).at(at);
            match broken.invariant {
                15 => failure.note(
                    "keep the address in range with `index`, or write `trusted` behind the function's stage",
                ),
                _ => failure,
            }
        })?;
        for data in func.insts.values_mut() {
            data.span = Span::NONE;
        }
    }
    Ok(Parsed {
        entries: module.funcs.into_iter().map(entry).collect(),
        warnings: Vec::new(),
        frontend_time: Duration::ZERO,
    })
}

/// The byte offset of a line and a column in characters, both from 1.
fn offset(text: &str, line: u32, column: u32) -> u32 {
    let mut start = 0;
    for _ in 1..line {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => return text.len() as u32,
        }
    }
    let within: usize =
        text[start..].chars().take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    (start + within) as u32
}
