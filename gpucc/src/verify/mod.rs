//! Verification: the encoded bytes, run on the strict emulator, against the reference interpreter.
//!
//! # What is proved
//! 1. **Bits.** The interpreter runs the SSA after the machine's expansions under its numeric model;
//!    the emulator runs the bytes. Every compared word is equal, and NaN equals NaN.
//! 2. **Passes.** The interpreter runs the SSA before and after each shared pass under one model, and
//!    every compared word is equal.
//!
//! # What is left out
//! Words whose value depends on the order of invocations, as the interpreter's marks say; helper
//! pixels; runs that take more than a million steps.

pub mod inputs;
mod locate;
pub mod random;

use crate::compiler::{Compiled, Compiler, Options};
use crate::execute::{Executor, FragmentOut, Stop, VertexOut, VertexRun, interp as run};
use crate::pipeline::Robust;
use crate::{Diagnostic, Failure, FailureKind, SourceText};
use gpucc_emu::image::Image;
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::interp::{self, Excluded, Lanes, Outcome, Word};
use gpucc_ir::ssa::{
    Builtin, Func, Numerics, OutputKind, Resource, ResourceKind, Scalar, Span, Stage,
};
use inputs::{Case, GROUPS, SIZES, Sizes, StageCase};

/// Interpreted steps after which an input is given up.
const STEPS: u64 = 1_000_000;
/// Inputs on which every single pass is checked; the whole of them is checked on all.
const PASS_INPUTS: u32 = 4;

/// What a verification found.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Entry point.
    pub entry: String,
    /// Invocations of one run.
    pub invocations: u64,
    /// Inputs tried.
    pub inputs: u32,
    /// Inputs that were compared to the end.
    pub counted: u32,
    /// Inputs on which a word differed.
    pub mismatches: u32,
    /// Words left out because their value depends on the order of invocations.
    pub racy_words: u64,
    /// Inputs that took too many steps.
    pub out_of_steps: u32,
    /// Inputs that lead beyond an array or a buffer, where bytes and reference part, of a shader that is
    /// trusted not to ([`Robust::Off`]).
    pub undefined: u32,
    /// Words compared.
    pub words: u64,
    /// The first word that differed.
    pub first: Option<Difference>,
}

impl Summary {
    /// True when nothing differed and at least half of the inputs counted.
    pub fn holds(&self) -> bool {
        self.mismatches == 0 && self.counted * 2 >= self.inputs
    }

    /// The line that the command prints.
    pub fn line(&self, target: &str) -> String {
        format!(
            "verified: {target} entry '{}': {} invocations x {} inputs, {} mismatches (racy words {}, out of steps {})",
            self.entry,
            self.invocations,
            self.inputs,
            self.mismatches,
            self.racy_words,
            self.out_of_steps
        )
    }

    /// The failure that a summary without success is.
    pub fn failure(&self, target: &str) -> Option<Failure> {
        if self.holds() {
            return None;
        }
        if let Some(first) = &self.first {
            return Some(Failure::new(
                FailureKind::Mismatch,
                Diagnostic::error(format!("{target} entry '{}': {first}", self.entry))
                    .at(first.span, "the value comes from here")
                    .note(self.line(target)),
            ));
        }
        let failure = Failure::new(
            FailureKind::Mismatch,
            Diagnostic::error(format!(
                "{target} entry '{}': only {} of {} inputs could be compared",
                self.entry, self.counted, self.inputs
            ))
            .note(self.line(target)),
        );
        Some(match self.undefined {
            0 => failure,
            n => failure.note(format!(
                "on {n} inputs an index lies beyond its array, for which --robust off has no rule"
            )),
        })
    }
}

/// One word that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Number of the input.
    pub input: u32,
    /// Which word, in words.
    pub place: String,
    /// What the reference says.
    pub expected: String,
    /// Who disagrees.
    pub who: String,
    /// What it says.
    pub got: String,
    /// Source of the word, when known.
    pub span: Span,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "input {}: {} is {} in the interpreter and {} {}",
            self.input, self.place, self.expected, self.got, self.who
        )
    }
}

/// Everything that a run may change and that is compared.
struct Results {
    bindings: Bindings,
    vertices: Vec<VertexOut>,
    pixels: Vec<FragmentOut>,
}

/// The reference's results and what of them must not be compared.
struct Reference {
    results: Results,
    excluded: Excluded,
    atomics: bool,
    beyond: bool,
}

/// Verifies a compiled entry point on `inputs` inputs.
///
/// # Errors
/// A shader that cannot be run, or code that breaks a rule of the machine (our bug). Mismatches are
/// no error: they stand in the summary.
pub fn verify(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    count: u32,
    seed: u64,
) -> Result<Summary, Failure> {
    verify_sized(compiler, compiled, source, options, count, seed, &SIZES)
}

/// [`verify`] with other sizes: arrays that end before the invocations do show what bounds are for.
///
/// # Errors
/// As of [`verify`].
pub fn verify_sized(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    count: u32,
    seed: u64,
    sizes: &Sizes,
) -> Result<Summary, Failure> {
    let numerics = compiler.numerics();
    let original = compiled.steps.first().map_or(&compiled.ssa, |step| &step.1);
    let mut summary = Summary {
        entry: compiled.entry.clone(),
        invocations: inputs::invocations(original),
        inputs: count,
        ..Summary::default()
    };
    for number in 0..count {
        let vertex = options.pipeline.vertex.as_ref();
        let case = Case::new(original, vertex, seed, number, sizes)?;
        let found = check(
            compiler,
            compiled,
            source,
            options,
            &numerics,
            &case,
            number,
            &mut summary,
        );
        let excused = matches!(found, Ok(Some(_)) | Err(Stop::Illegal { .. }))
            && options.robust == Robust::Off
            && leads_beyond(compiled, options, &numerics, &case);
        match found {
            _ if excused => summary.undefined += 1,
            Ok(None) => summary.counted += 1,
            Ok(Some(difference)) => {
                summary.counted += 1;
                summary.mismatches += 1;
                summary.first.get_or_insert(difference);
            }
            Err(Stop::OutOfSteps) => summary.out_of_steps += 1,
            Err(stop) => return Err(stop.into_failure()),
        }
    }
    Ok(summary)
}

/// One input: the first difference, if there is one.
#[allow(clippy::too_many_arguments)]
fn check(
    compiler: &Compiler,
    compiled: &Compiled,
    source: &SourceText,
    options: &Options,
    numerics: &Numerics,
    case: &Case,
    number: u32,
    summary: &mut Summary,
) -> Result<Option<Difference>, Stop> {
    // The passes, each against the one before it.
    let mut steps = passes(compiled, options, number);
    if steps.len() == 1 && compiled.program.is_some() {
        // Alone it has nothing to differ from.
        steps.clear();
    }
    let mut before: Option<(Reference, &Func)> = None;
    for (name, func) in &steps {
        let after = reference(func, numerics, case)?;
        if let Some((before, _)) = &before {
            let mut comparison = Comparison::new(func, number, format!("after pass {name}"));
            comparison.results(&before.results, &after.results, &before.excluded, case);
            if let Some(mut difference) = comparison.first {
                difference.span = locate::span(func, numerics, case, &comparison.word);
                return Ok(Some(difference));
            }
        }
        if before.is_none()
            && after.atomics
            && let Some(difference) = alone(&steps, numerics, case, number)?
        {
            return Ok(Some(difference));
        }
        before = Some((after, func));
    }
    let Some(program) = &compiled.program else {
        if let Some((reference, func)) = &before {
            summary.racy_words += racy_words(&reference.excluded);
            let mut comparison = Comparison::new(func, number, String::new());
            comparison.results(
                &reference.results,
                &reference.results,
                &reference.excluded,
                case,
            );
            summary.words += comparison.compared;
        }
        return Ok(None);
    };
    let expanded = program.expanded();
    let viewed = case.viewed_by(expanded);
    let case = &viewed;
    let reference = reference(expanded, numerics, case)?;
    summary.racy_words += racy_words(&reference.excluded);
    let mut executor = program.executor(source).map_err(Stop::Cannot)?;
    let who = format!("on {}", compiler.target().name());
    let mut comparison = Comparison::new(expanded, number, who.clone());
    match machine(executor.as_mut(), case) {
        Ok(results) => {
            comparison.results(&reference.results, &results, &reference.excluded, case);
        }
        Err(Stop::OutOfSteps) => {
            // The reference ended, so the machine must.
            return Ok(Some(Difference {
                input: number,
                place: "the run".into(),
                expected: "finished".into(),
                who,
                got: "without an end".into(),
                span: Span::NONE,
            }));
        }
        Err(stop) => return Err(stop),
    }
    summary.words += comparison.compared;
    if let Some(mut difference) = comparison.first {
        difference.span = locate::span(expanded, numerics, case, &comparison.word);
        return Ok(Some(difference));
    }
    Ok(None)
}

/// The input makes the shader access what lies beyond an array or a buffer, once nothing keeps it within.
fn leads_beyond(compiled: &Compiled, options: &Options, numerics: &Numerics, case: &Case) -> bool {
    let steps = passes(compiled, options, 0);
    let expanded = compiled.program.as_ref().map(|program| program.expanded());
    let mut funcs = steps.into_iter().map(|(_, func)| func).chain(expanded);
    funcs.any(|func| {
        reference(func, numerics, &case.viewed_by(func)).is_ok_and(|reference| reference.beyond)
    })
}

/// The SSA between passes that is compared on this input: every one on the first inputs, else the
/// first and the last.
fn passes<'c>(
    compiled: &'c Compiled,
    options: &Options,
    number: u32,
) -> Vec<(&'static str, &'c Func)> {
    let mut steps: Vec<(&'static str, &Func)> = compiled
        .steps
        .iter()
        .map(|(name, func)| (*name, func))
        .collect();
    if options.robust != Robust::Restrict {
        // Other rules than clamping are made by the pass: what comes before it has no rule.
        if let Some(at) = steps.iter().position(|(name, _)| *name == "robust") {
            steps.drain(..at);
        }
    }
    if number >= PASS_INPUTS && steps.len() > 2 {
        let last = steps.len() - 1;
        steps.drain(1..last);
    }
    if steps.is_empty() {
        steps.push(("frontend", &compiled.ssa));
    }
    steps
}

/// Words that hold what an atomic returned are compared with one invocation alone.
fn alone(
    steps: &[(&'static str, &Func)],
    numerics: &Numerics,
    case: &Case,
    number: u32,
) -> Result<Option<Difference>, Stop> {
    let mut before: Option<Results> = None;
    for (name, func) in steps {
        if func.stage != Stage::Compute {
            return Ok(None);
        }
        let mut lanes = Lanes::compute(func, GROUPS, 0, 1);
        lanes.count = 1;
        lanes.workgroup.truncate(1);
        lanes.helper.truncate(1);
        for input in &mut lanes.inputs {
            input.truncate(1);
        }
        let mut bindings = case.bindings.clone();
        let outcome = interpret(func, numerics, &lanes, &mut bindings, None);
        if outcome.is_err() {
            // A barrier that waits for the others, or too long a run: nothing to compare.
            return Ok(None);
        }
        let after = Results {
            bindings,
            vertices: Vec::new(),
            pixels: Vec::new(),
        };
        if let Some(before) = &before {
            let mut comparison =
                Comparison::new(func, number, format!("after pass {name}, run alone"));
            comparison.results(before, &after, &Excluded::default(), case);
            if comparison.first.is_some() {
                return Ok(comparison.first);
            }
        }
        before = Some(after);
    }
    Ok(None)
}

fn racy_words(excluded: &Excluded) -> u64 {
    let outputs: usize = excluded
        .outputs
        .iter()
        .map(|lanes| lanes.iter().filter(|&&out| out).count())
        .sum();
    excluded.words.len() as u64 + outputs as u64
}

fn interpret(
    func: &Func,
    numerics: &Numerics,
    lanes: &Lanes,
    bindings: &mut Bindings,
    marks: Option<&interp::Marks>,
) -> Result<Outcome, Stop> {
    let mut options = interp::Options::new(numerics);
    options.steps = STEPS;
    options.marks = marks;
    interp::run(func, lanes, bindings, options).map_err(|stop| run::stopped(func, stop))
}

/// Lanes of a case.
fn lanes(func: &Func, case: &Case) -> Lanes {
    match &case.stage {
        StageCase::Compute(groups) => Lanes::compute(func, *groups, 0, groups.iter().product()),
        StageCase::Vertex {
            ids,
            first_vertex,
            first_instance,
            buffers,
            layout,
        } => run::vertex_lanes(
            func,
            layout,
            &VertexRun {
                ids,
                first_vertex: *first_vertex,
                first_instance: *first_instance,
                buffers,
            },
        ),
        StageCase::Fragment(batch) => run::quad_lanes(func, batch),
    }
}

fn reference(func: &Func, numerics: &Numerics, case: &Case) -> Result<Reference, Stop> {
    let lanes = lanes(func, case);
    let mut bindings = case.bindings.clone();
    let mut outcome = interpret(func, numerics, &lanes, &mut bindings, None)?;
    let atomics = outcome.marks.atomic_results;
    if !outcome.marks.is_empty() {
        let marks = std::mem::take(&mut outcome.marks);
        bindings = case.bindings.clone();
        outcome = interpret(func, numerics, &lanes, &mut bindings, Some(&marks))?;
    }
    Ok(Reference {
        results: results(bindings, &outcome, case),
        excluded: outcome.excluded,
        atomics,
        beyond: outcome.beyond,
    })
}

fn results(bindings: Bindings, outcome: &Outcome, case: &Case) -> Results {
    let (vertices, pixels) = match &case.stage {
        StageCase::Compute(_) => (Vec::new(), Vec::new()),
        StageCase::Vertex { ids, .. } => (run::vertex_outs(outcome, ids.len()), Vec::new()),
        StageCase::Fragment(batch) => (Vec::new(), run::pixel_outs(outcome, batch)),
    };
    Results {
        bindings,
        vertices,
        pixels,
    }
}

fn machine(executor: &mut dyn Executor, case: &Case) -> Result<Results, Stop> {
    let mut results = Results {
        bindings: case.bindings.clone(),
        vertices: Vec::new(),
        pixels: Vec::new(),
    };
    match &case.stage {
        StageCase::Compute(groups) => executor.dispatch(&mut results.bindings, *groups)?,
        StageCase::Vertex {
            ids,
            first_vertex,
            first_instance,
            buffers,
            ..
        } => {
            results.vertices = executor.vertices(
                &mut results.bindings,
                &VertexRun {
                    ids,
                    first_vertex: *first_vertex,
                    first_instance: *first_instance,
                    buffers,
                },
            )?;
        }
        StageCase::Fragment(batch) => {
            results.pixels = executor.quads(&mut results.bindings, batch)?;
        }
    }
    Ok(results)
}

/// Which word differed, for finding its source.
#[derive(Clone, Debug, Default)]
enum WordId {
    #[default]
    None,
    Memory(Word),
    Output(usize, u8),
    Discard,
}

/// Compares results word by word.
struct Comparison<'f> {
    func: &'f Func,
    input: u32,
    who: String,
    compared: u64,
    first: Option<Difference>,
    word: WordId,
}

impl<'f> Comparison<'f> {
    fn new(func: &'f Func, input: u32, who: String) -> Self {
        Comparison {
            func,
            input,
            who,
            compared: 0,
            first: None,
            word: WordId::None,
        }
    }

    fn word(
        &mut self,
        scalar: Scalar,
        expected: u32,
        got: u32,
        place: impl FnOnce() -> (String, WordId),
    ) {
        self.compared += 1;
        if self.first.is_some() || equal(scalar, expected, got) {
            return;
        }
        let (place, word) = place();
        self.word = word;
        self.first = Some(Difference {
            input: self.input,
            place,
            expected: show(scalar, expected),
            who: self.who.clone(),
            got: show(scalar, got),
            span: Span::NONE,
        });
    }

    fn results(&mut self, expected: &Results, got: &Results, excluded: &Excluded, case: &Case) {
        if excluded.all {
            return;
        }
        for (resource, data) in &self.func.resources {
            if excluded.resources.contains(&resource) {
                continue;
            }
            for element in 0..data.count.unwrap_or(1) {
                match (
                    data.kind,
                    expected.bindings.get(resource, element),
                    got.bindings.get(resource, element),
                ) {
                    (ResourceKind::Storage { .. }, Bound::Buffer(a), Bound::Buffer(b)) => {
                        self.buffer(resource, element, a, b, excluded);
                    }
                    (ResourceKind::StorageTexture { .. }, Bound::Image(a), Bound::Image(b)) => {
                        self.image(resource, a, b, excluded);
                    }
                    _ => {}
                }
            }
        }
        for (lane, (a, b)) in expected.vertices.iter().zip(&got.vertices).enumerate() {
            self.outputs(a, b, lane, excluded, || format!("vertex invocation {lane}"));
        }
        let StageCase::Fragment(batch) = &case.stage else {
            return;
        };
        for (lane, (a, b)) in expected.pixels.iter().zip(&got.pixels).enumerate() {
            let quad = &batch.quads[lane / 4];
            if quad.covered >> (lane % 4) & 1 == 0 {
                continue;
            }
            let (x, y) = (quad.x + lane as u32 % 2, quad.y + lane as u32 % 4 / 2);
            let pixel = || format!("pixel ({x}, {y})");
            let [gone, missing] = [a, b].map(|pixel| self.gone(pixel));
            self.word(Scalar::Bool, gone.into(), missing.into(), || {
                (format!("the discard bit of {}", pixel()), WordId::Discard)
            });
            if !gone && !missing {
                self.outputs(&a.outputs, &b.outputs, lane, excluded, pixel);
            }
        }
    }

    /// Nothing of the pixel reaches a target: it was discarded, or its sample mask is empty. A
    /// machine may know the two as one coverage.
    fn gone(&self, pixel: &FragmentOut) -> bool {
        let mask = self
            .func
            .outputs
            .values()
            .position(|data| data.kind == OutputKind::Builtin(Builtin::SampleMask));
        pixel.discarded || mask.is_some_and(|index| pixel.outputs[index][0] == 0)
    }

    fn outputs(
        &mut self,
        expected: &[[u32; 4]],
        got: &[[u32; 4]],
        lane: usize,
        excluded: &Excluded,
        what: impl Fn() -> String,
    ) {
        for (index, (output, data)) in self.func.outputs.iter().enumerate() {
            let (Some(a), Some(b)) = (expected.get(index), got.get(index)) else {
                continue;
            };
            for component in 0..usize::from(data.components) {
                let left_out = excluded
                    .outputs
                    .get(index * 4 + component)
                    .is_some_and(|lanes| lanes.get(lane).copied().unwrap_or(false));
                if left_out {
                    continue;
                }
                let name = || match data.kind {
                    OutputKind::Location { location, .. } => format!("location {location}"),
                    OutputKind::Builtin(builtin) => format!("{builtin:?}").to_lowercase(),
                };
                let letter = ["x", "y", "z", "w"][component];
                self.word(data.scalar, a[component], b[component], || {
                    (
                        format!("{}.{letter} of {}", name(), what()),
                        WordId::Output(output.as_u32() as usize, component as u8),
                    )
                });
            }
        }
    }

    fn buffer(
        &mut self,
        resource: Resource,
        element: u32,
        expected: &[u8],
        got: &[u8],
        excluded: &Excluded,
    ) {
        let data = &self.func.resources[resource];
        let (group, binding, name, scalar) =
            (data.group, data.binding, data.name.clone(), data.scalar);
        for (index, (a, b)) in expected
            .chunks_exact(4)
            .zip(got.chunks_exact(4))
            .enumerate()
        {
            let address = index as u32 * 4;
            let word = Word::Buffer(resource, element, address);
            if excluded.words.contains(&word) {
                continue;
            }
            let [a, b] = [a, b].map(|w| u32::from_le_bytes(w.try_into().expect("chunks of four")));
            self.word(scalar, a, b, || {
                (
                    format!("word {index} of {group}.{binding} ({name})"),
                    WordId::Memory(word),
                )
            });
        }
    }

    fn image(&mut self, resource: Resource, expected: &Image, got: &Image, excluded: &Excluded) {
        let data = &self.func.resources[resource];
        let (group, binding, name) = (data.group, data.binding, data.name.clone());
        // Texels that depend on the order of invocations are named by coordinates: leave the image
        // out when there is one.
        let racy = excluded
            .words
            .iter()
            .any(|word| matches!(word, Word::Texel(r, ..) if *r == resource));
        if racy {
            return;
        }
        let floats = matches!(data.kind, ResourceKind::StorageTexture { format, .. }
            if format.0.ends_with("32float"));
        // Words of floats, so that every NaN is equal to every other, or bytes.
        let (size, scalar) = match floats {
            true => (4, Scalar::F32),
            false => (1, Scalar::U32),
        };
        let words = |image: &Image| -> Vec<u32> {
            let word = |bytes: &[u8]| {
                bytes
                    .iter()
                    .rev()
                    .fold(0, |all, &b| all << 8 | u32::from(b))
            };
            image.bytes().chunks(size).map(word).collect()
        };
        for (index, (a, b)) in words(expected).into_iter().zip(words(got)).enumerate() {
            self.word(scalar, a, b, || {
                (
                    format!("byte {} of {group}.{binding} ({name})", index * size),
                    WordId::Memory(Word::Texel(resource, 0, 0)),
                )
            });
        }
    }
}

/// Equal bits; NaN equals NaN in words that are read as floats.
fn equal(scalar: Scalar, a: u32, b: u32) -> bool {
    let nan = |bits: u32| f32::from_bits(bits).is_nan();
    a == b || (scalar == Scalar::F32 && nan(a) && nan(b))
}

fn show(scalar: Scalar, bits: u32) -> String {
    match scalar {
        Scalar::F32 => format!("{:?} ({bits:#010x})", f32::from_bits(bits)),
        Scalar::I32 => format!("{} ({bits:#010x})", bits as i32),
        Scalar::U32 | Scalar::F16 | Scalar::Bool => format!("{bits} ({bits:#010x})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nan_is_equal_to_every_other_but_only_as_a_float() {
        assert!(equal(Scalar::F32, 0x7FC0_0000, 0xFFC0_0001));
        assert!(!equal(Scalar::U32, 0x7FC0_0000, 0xFFC0_0001));
        assert!(!equal(Scalar::F32, 0, 0x8000_0000));
    }

    #[test]
    fn fewer_than_half_of_the_inputs_is_no_proof() {
        let summary = Summary {
            inputs: 12,
            counted: 5,
            out_of_steps: 7,
            ..Summary::default()
        };
        assert_eq!(summary.failure("r700").map(|f| f.exit_code()), Some(5));
    }
}
