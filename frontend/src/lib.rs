#![forbid(unsafe_code)]
// A build without a reader of texts leaves out what only that reader calls.
#![cfg_attr(
    not(all(feature = "wgsl", feature = "glsl")),
    allow(dead_code, unused_imports, unused_variables)
)]
//! WGSL, SPIR-V and GLSL to structured SSA.
//!
//! [`parse`] is the whole interface: a [`Source`] goes in, and one [`ssa::Func`] per chosen entry
//! point comes out, in source order, with every call inlined and every vector, matrix, structure
//! and pointer taken apart into scalars and byte addresses. What is wrong comes back as a
//! [`Failure`] that says whose fault it is and where in the source.
//!
//! SPIR-V and GLSL have readers of ours (`spirv`, `glsl`), the latter behind a preprocessor. naga reads and validates
//! WGSL. It runs in quarantine: a pre-scan bounds size and nesting, a thread of its own has the stack that its recursion
//! needs, and a panic in it becomes an honest "not supported by gpucc yet". No type of naga leaves this crate.
//!
//! Nothing here prints. A panic caught in quarantine still runs the process's panic hook, which by
//! default prints; a program that wants silence calls [`silence_quarantined_panics`] once.

mod diagnostic;
mod entries;
mod glsl;
mod growth;
mod lower;
mod places;
mod preprocess;
mod prescan;
mod quarantine;
mod read;
mod reading;
mod rejected;
mod source;
mod special;
mod spirv;
mod stop;
mod uniformity;
mod wgsl;

pub use diagnostic::{Diagnostic, Failure, FailureKind, Label, Needs, Severity, render};
pub use preprocess::{Include, IncludedText, Includes};
pub use quarantine::silence_quarantined_panics;
pub use reading::Reading;
pub use source::{Language, Location, SourceMap, with_line_feeds};

use gpucc_ir::budget::Budget;
use gpucc_ir::nearest::nearest;
use gpucc_ir::ssa;
use places::Places;
use std::borrow::Cow;
use std::time::Instant;
use stop::Stop;
pub use uniformity::{Gravity, UniformityRules};

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
    /// Macros of GLSL with what they stand for; parameters stand behind the name.
    pub defines: Vec<(String, String)>,
    /// Who gives the texts that GLSL includes; without it `#include` is an error.
    pub includes: Option<Includes>,
    /// Limits.
    pub limits: Limits,
    /// naga reads SPIR-V, where it is built with the feature `wgsl`: to compare our reader with it.
    pub by_naga: bool,
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
    /// Wall-clock microseconds of reading and of lowering.
    pub microseconds: Microseconds,
    /// What the source says of derivatives in non-uniform control flow; `None` for languages that leave them undefined there.
    pub uniformity: Option<UniformityRules>,
}

/// Where the front end's time went; never part of any output that must be reproducible.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Microseconds {
    /// naga: reading, validation, overrides; 0 for SPIR-V and GLSL, which are read while they are lowered.
    pub reading: u64,
    /// Ours: pre-scan and lowering to SSA.
    pub lowering: u64,
}

/// Reads a source and lowers its entry points. `name` is what messages call the source.
///
/// # Errors
/// [`FailureKind::Invalid`] for anything that is wrong with the source, its overrides or the choice
/// of entry point; [`FailureKind::Unsupported`] for valid sources that the reader or the lowering does not
/// handle; [`FailureKind::Limit`] for sources beyond [`Limits`]; [`FailureKind::Internal`] when the
/// lowering itself breaks.
pub fn parse(source: Source<'_>, name: &str, options: &Options) -> Result<Parsed, Failure> {
    reading::parse(source, name, options).1
}

/// GLSL as its reader gets it, for people: macros expanded, conditions decided, included texts in their places. What
/// directives leave empty is one line.
///
/// # Errors
/// [`FailureKind::Invalid`] for wrong directives and for includes that are not found; [`FailureKind::Limit`] for texts
/// beyond [`Limits`].
pub fn preprocessed(text: &str, options: &Options) -> Result<String, Failure> {
    let map = SourceMap::text("", Language::Glsl, text);
    let stage = ssa::Stage::Fragment;
    let done = reading::admit(Source::Glsl { text, stage })
        .and_then(|()| prescan::check_size(&map.text, &options.limits))
        .and_then(|()| preprocess::preprocess(&map.text, options));
    let done = done.map_err(|stop| stop.into_failure(&map))?;
    let mut text = String::new();
    for line in done.text.lines().map(str::trim_end) {
        if !line.is_empty() || !(text.is_empty() || text.ends_with("\n\n")) {
            text.push_str(line);
            text.push('\n');
        }
    }
    Ok(text)
}

fn elapsed(start: Instant) -> u64 {
    start.elapsed().as_micros() as u64
}

/// What is read instead of the user's text, within the limits, the way back from it, notes, and whether any thread has the
/// stack to read it.
fn prepare<'a>(
    source: Source<'_>,
    text: &'a str,
    options: &Options,
) -> Result<(Cow<'a, str>, Places, Vec<Diagnostic>, bool), Stop> {
    let limits = &options.limits;
    reading::admit(source)?;
    let mut places = Places::default();
    let mut notes = Vec::new();
    let mut text = Cow::Borrowed(text);
    let is_flat = match source {
        Source::SpirV(bytes) => {
            spirv::size(bytes, limits)?;
            !options.by_naga && spirv::is_flat(bytes)
        }
        Source::Wgsl(_) => prescan::check(&text, Language::Wgsl, limits)?,
        Source::Glsl { .. } => {
            prescan::check_size(&text, limits)?;
            let done = preprocess::preprocess(&text, options)?;
            (text, places, notes) = (Cow::Owned(done.text), done.places, done.notes);
            prescan::check(&text, Language::Glsl, limits).map_err(|stop| stop.mended(&places))?
        }
    };
    if let ([(name, _), ..], false) = (&*options.defines, matches!(source, Source::Glsl { .. })) {
        let message = format!("the macro `{name}` is not used: macros are GLSL's");
        notes.push(Diagnostic::note("macros", message));
    }
    Ok((text, places, notes, is_flat))
}

/// The entry points that the options ask for, in source order, of all with their stages and what these are called.
fn choose(
    entries: &[(&str, Option<ssa::Stage>, String)],
    options: &Options,
) -> Result<Vec<usize>, Stop> {
    let is_chosen = |(name, stage, _): &(&str, Option<ssa::Stage>, String)| {
        options.entry.as_ref().is_none_or(|wanted| name == wanted)
            && (options.stage.is_none() || *stage == options.stage)
    };
    let chosen: Vec<usize> =
        (0..entries.len()).filter(|&index| is_chosen(&entries[index])).collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    if entries.is_empty() {
        let remedy = "mark a function with @vertex, @fragment or @compute";
        return Err(Stop::invalid("the source has no entry point").with_note(remedy));
    }
    let names: Vec<String> = entries
        .iter()
        .map(|(name, _, stage)| format!("`{name}` ({})", stage.to_lowercase()))
        .collect();
    let misspelt =
        options.entry.as_deref().filter(|wanted| entries.iter().all(|row| row.0 != *wanted));
    let meant = misspelt.and_then(|wanted| nearest(wanted, entries.iter().map(|row| row.0)));
    let wanted = match (&options.entry, options.stage) {
        (Some(name), Some(stage)) => {
            format!("the source has no {} entry point `{name}`", stage.name())
        }
        (Some(name), None) => format!("the source has no entry point `{name}`"),
        (None, Some(stage)) => format!("the source has no {} entry point", stage.name()),
        (None, None) => "the source has no entry point".to_owned(),
    };
    let mut stop = Stop::invalid(wanted).with_note(format!("it has {}", names.join(", ")));
    if let Some(meant) = meant {
        stop = stop.with_note(format!("did you mean `{meant}`?"));
    }
    Err(stop)
}

fn stage_matches(stage: naga::ShaderStage, wanted: Option<ssa::Stage>) -> bool {
    match wanted {
        None => true,
        Some(ssa::Stage::Vertex) => stage == naga::ShaderStage::Vertex,
        Some(ssa::Stage::Fragment) => stage == naga::ShaderStage::Fragment,
        Some(ssa::Stage::Compute) => stage == naga::ShaderStage::Compute,
        // The language has none.
        Some(ssa::Stage::Geometry) => false,
    }
}
