#![forbid(unsafe_code)]
//! WGSL, SPIR-V and GLSL to structured SSA.
//!
//! [`parse`] is the whole interface: a [`Source`] goes in, and one [`ssa::Func`] per chosen entry
//! point comes out, in source order, with every call inlined and every vector, matrix, structure
//! and pointer taken apart into scalars and byte addresses. What is wrong comes back as a
//! [`Failure`] that says whose fault it is and where in the source.
//!
//! GLSL goes through a preprocessor of ours first. naga reads and validates the languages. It runs in quarantine: a pre-scan bounds size and
//! nesting, a thread of its own has the stack that its recursion needs, and a panic in it becomes
//! an honest "not supported by gpucc yet". No type of naga leaves this crate.
//!
//! Nothing here prints. A panic caught in quarantine still runs the process's panic hook, which by
//! default prints; a program that wants silence calls [`silence_quarantined_panics`] once.

mod diagnostic;
mod glsl;
mod growth;
mod lower;
mod places;
mod preprocess;
mod prescan;
mod quarantine;
mod read;
mod rejected;
mod source;
mod spirv;
mod stop;
mod wgsl;

pub use diagnostic::{Diagnostic, Failure, FailureKind, Label, Needs, Severity, render};
pub use quarantine::silence_quarantined_panics;
pub use source::{Language, Location, SourceMap};

use gpucc_ir::budget::{Budget, MADE};
use gpucc_ir::ssa;
use places::Places;
use std::borrow::Cow;
use std::time::Instant;
use stop::Stop;

/// What to compile.
#[derive(Copy, Clone, Debug)]
pub enum Source<'a> {
    /// WGSL text. A byte-order mark and either line ending are accepted.
    Wgsl(&'a str),
    /// SPIR-V words in either byte order.
    SpirV(&'a [u8]),
    /// GLSL text of one stage; the entry point is `main`.
    Glsl {
        /// The text.
        text: &'a str,
        /// Its stage.
        stage: ssa::Stage,
    },
}

/// Limits that keep time and memory bounded on any input.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of source.
    pub source_bytes: u64,
    /// Depth of nested brackets.
    pub nesting: u64,
    /// Binary operators in one expression.
    pub operators: u64,
    /// `else if` in open chains.
    pub else_ifs: u64,
    /// Cases of one switch.
    pub cases: u64,
    /// Tokens of one function body; naga's time is quadratic in it.
    pub function_tokens: u64,
    /// Declarations at module scope; naga's time is quadratic in them.
    pub declarations: u64,
    /// Tokens that GLSL's macros expand to.
    pub expanded_tokens: u64,
    /// Memory and work of all chosen entry points together, everything inlined.
    pub budget: Budget,
    /// Depth of nested regions, everything inlined.
    pub region_depth: u64,
    /// Bytes of private variables of one entry point.
    pub private_bytes: u64,
    /// Bytes of workgroup variables of one entry point.
    pub workgroup_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            source_bytes: 4 << 20,
            nesting: 127,
            operators: 1000,
            else_ifs: 500,
            cases: 16_383,
            function_tokens: 1 << 17,
            declarations: 1 << 14,
            expanded_tokens: 1 << 20,
            budget: Budget::default(),
            region_depth: 1000,
            private_bytes: 1 << 20,
            workgroup_bytes: 1 << 20,
        }
    }
}

/// What to make of the source.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values of overrides and specialization constants, by name or by number in decimal.
    /// Booleans are 0 and 1.
    pub overrides: Vec<(String, f64)>,
    /// A value for every override that has neither a default nor a value here.
    pub overrides_default: Option<f64>,
    /// Only the entry point of this name.
    pub entry: Option<String>,
    /// Only entry points of this stage.
    pub stage: Option<ssa::Stage>,
    /// Lower the other entry points when one fails; failures come in [`Parsed::failed`].
    pub keep_going: bool,
    /// Limits.
    pub limits: Limits,
}

/// An entry point that could not be lowered.
#[derive(Clone, Debug)]
pub struct FailedEntry {
    /// Its name.
    pub entry: String,
    /// Why.
    pub failure: Failure,
}

/// A source that was understood.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// One function per chosen entry point, in source order.
    pub module: ssa::Module,
    /// The source that spans refer to.
    pub source: SourceMap,
    /// What was inferred, and warnings.
    pub notes: Vec<Diagnostic>,
    /// Entry points that failed; empty unless [`Options::keep_going`] is set.
    pub failed: Vec<FailedEntry>,
    /// Wall-clock microseconds of reading and validation by naga, and of our lowering.
    pub microseconds: Microseconds,
}

/// Where the front end's time went; never part of any output that must be reproducible.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Microseconds {
    /// naga: reading, validation, overrides.
    pub reading: u64,
    /// Ours: pre-scan and lowering to SSA.
    pub lowering: u64,
}

/// Reads a source and lowers its entry points. `name` is what messages call the source.
///
/// # Errors
/// [`FailureKind::Invalid`] for anything that is wrong with the source, its overrides or the choice
/// of entry point; [`FailureKind::Unsupported`] for valid sources that naga or the lowering does not
/// handle; [`FailureKind::Limit`] for sources beyond [`Limits`]; [`FailureKind::Internal`] when the
/// lowering itself breaks.
pub fn parse(source: Source<'_>, name: &str, options: &Options) -> Result<Parsed, Failure> {
    let map = match source {
        Source::Wgsl(text) => SourceMap::text(name, Language::Wgsl, text),
        Source::Glsl { text, .. } => SourceMap::text(name, Language::Glsl, text),
        Source::SpirV(_) => SourceMap::words(name),
    };
    let start = Instant::now();
    let (text, places) = match prepare(source, &map.text, &options.limits) {
        Ok(prepared) => prepared,
        Err(stop) => return Err(stop.into_failure(&map)),
    };
    let scanned = elapsed(start);
    let stack = match source {
        Source::SpirV(_) => quarantine::SPIRV_STACK_BYTES,
        Source::Wgsl(_) | Source::Glsl { .. } => quarantine::STACK_BYTES,
    };
    let result = quarantine::run(stack, || read_and_lower(source, &map, &text, places, options));
    let result = match result {
        Ok(result) => result,
        Err(escape) => Err(read::escaped(escape)),
    };
    match result {
        Ok(lowered) => Ok(Parsed {
            module: ssa::Module { funcs: lowered.funcs },
            notes: lowered.notes,
            microseconds: Microseconds {
                reading: lowered.microseconds.reading,
                lowering: lowered.microseconds.lowering + scanned,
            },
            failed: lowered
                .failed
                .into_iter()
                .map(|(entry, stop)| FailedEntry { entry, failure: stop.into_failure(&map) })
                .collect(),
            source: map,
        }),
        Err(stop) => Err(stop.into_failure(&map)),
    }
}

/// What the quarantine thread gives back.
struct Lowered {
    funcs: Vec<ssa::Func>,
    notes: Vec<Diagnostic>,
    failed: Vec<(String, Stop)>,
    microseconds: Microseconds,
}

fn elapsed(start: Instant) -> u64 {
    start.elapsed().as_micros() as u64
}

/// What is read instead of the user's text, within the limits, and the way back from it.
fn prepare<'a>(
    source: Source<'_>,
    text: &'a str,
    limits: &Limits,
) -> Result<(Cow<'a, str>, Places), Stop> {
    let mut places = Places::default();
    let mut text = Cow::Borrowed(text);
    match source {
        Source::SpirV(bytes) => spirv::size(bytes, limits)?,
        Source::Wgsl(_) => prescan::check(&text, Language::Wgsl, limits)?,
        Source::Glsl { .. } => {
            prescan::check_size(&text, limits)?;
            let done = preprocess::preprocess(&text, limits)?;
            (text, places) = (Cow::Owned(done.text), done.places);
            prescan::check(&text, Language::Glsl, limits).map_err(|stop| stop.mended(&places))?;
        }
    }
    Ok((text, places))
}

fn read_and_lower(
    source: Source<'_>,
    map: &SourceMap,
    text: &str,
    places: Places,
    options: &Options,
) -> Result<Lowered, Stop> {
    let start = Instant::now();
    let valid = read::read(source, text, places, options)?;
    let reading = elapsed(start);
    let start = Instant::now();
    let chosen = choose(&valid.module, options)?;
    let types = lower::Types::new(&valid.module);
    let mut lowered = Lowered {
        funcs: Vec::with_capacity(chosen.len()),
        notes: valid.notes.clone(),
        failed: Vec::new(),
        microseconds: Microseconds::default(),
    };
    // Instructions of the entry points before: all are held at once.
    let mut made = 0u64;
    for index in chosen {
        let mut limits = options.limits;
        limits.budget = limits.budget.beside(made, MADE);
        let entry = &valid.module.entry_points[index];
        let result = lower::stage_of(entry.stage).and_then(|stage| {
            let work = || lower::lower(&valid, &types, index, stage, map.language, &limits);
            // A panic of ours is our bug, not naga's.
            quarantine::catch(work)
                .unwrap_or_else(|escape| Err(Stop::internal(format!("lowering broke: {escape:?}"))))
        });
        match result {
            Ok((mut func, notes)) => {
                made += func.insts.len() as u64;
                for inst in func.insts.values_mut() {
                    inst.span = valid.places.original(inst.span);
                }
                lowered.funcs.push(func);
                for mut note in notes {
                    valid.places.mend(&mut note);
                    if !lowered.notes.contains(&note) {
                        lowered.notes.push(note);
                    }
                }
            }
            Err(stop) => {
                let stop = stop.mended(&valid.places);
                let mut stop = stop.with_note(format!("in the entry point `{}`", entry.name));
                if made > 0 && stop.is_limit() {
                    stop = stop.with_note(format!(
                        "the entry points before it have {made} instructions; choose one to compile it alone"
                    ));
                }
                if !options.keep_going {
                    return Err(stop);
                }
                lowered.failed.push((entry.name.clone(), stop));
            }
        }
    }
    lowered.microseconds = Microseconds { reading, lowering: elapsed(start) };
    Ok(lowered)
}

/// The entry points that the options ask for, in source order.
fn choose(module: &naga::Module, options: &Options) -> Result<Vec<usize>, Stop> {
    let chosen: Vec<usize> = module
        .entry_points
        .iter()
        .enumerate()
        .filter(|(_, entry)| {
            options.entry.as_ref().is_none_or(|name| entry.name == *name)
                && stage_matches(entry.stage, options.stage)
        })
        .map(|(index, _)| index)
        .collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    if module.entry_points.is_empty() {
        let remedy = "mark a function with @vertex, @fragment or @compute";
        return Err(Stop::invalid("the source has no entry point").with_note(remedy));
    }
    let names: Vec<String> = module
        .entry_points
        .iter()
        .map(|entry| format!("`{}` ({:?})", entry.name, entry.stage).to_lowercase())
        .collect();
    let wanted = match (&options.entry, options.stage) {
        (Some(name), Some(stage)) => {
            format!("the source has no {} entry point `{name}`", stage.name())
        }
        (Some(name), None) => format!("the source has no entry point `{name}`"),
        (None, Some(stage)) => format!("the source has no {} entry point", stage.name()),
        (None, None) => "the source has no entry point".to_owned(),
    };
    Err(Stop::invalid(wanted).with_note(format!("it has {}", names.join(", "))))
}

fn stage_matches(stage: naga::ShaderStage, wanted: Option<ssa::Stage>) -> bool {
    match wanted {
        None => true,
        Some(ssa::Stage::Vertex) => stage == naga::ShaderStage::Vertex,
        Some(ssa::Stage::Fragment) => stage == naga::ShaderStage::Fragment,
        Some(ssa::Stage::Compute) => stage == naga::ShaderStage::Compute,
    }
}
