#![forbid(unsafe_code)]
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
mod rejected;
mod source;
mod spirv;
mod stop;
mod uniformity;
mod wgsl;

pub use diagnostic::{Diagnostic, Failure, FailureKind, Label, Needs, Severity, render};
pub use preprocess::{Include, IncludedText, Includes};
pub use quarantine::silence_quarantined_panics;
pub use source::{Language, Location, SourceMap};

use entries::Entries;
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
    /// naga reads SPIR-V, where it is built with the feature `naga-spirv`: to compare our reader with it.
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
    let map = match source {
        Source::Wgsl(text) => SourceMap::text(name, Language::Wgsl, text),
        Source::Glsl { text, .. } => SourceMap::text(name, Language::Glsl, text),
        Source::SpirV(_) => SourceMap::words(name),
    };
    let start = Instant::now();
    let (text, places, notes, is_flat) = match prepare(source, &map.text, options) {
        Ok(prepared) => prepared,
        Err(stop) => return Err(stop.into_failure(&map)),
    };
    let scanned = elapsed(start);
    let work = || read_and_lower(source, &map, &text, places, options);
    let result = match source {
        // A thread takes longer to start than a small module to read.
        _ if is_flat => quarantine::catch_silently(work),
        Source::SpirV(_) => quarantine::run(quarantine::SPIRV_STACK_BYTES, work),
        Source::Wgsl(_) | Source::Glsl { .. } => quarantine::run(quarantine::STACK_BYTES, work),
    };
    let result = match result {
        Ok(result) => result,
        Err(escape) => Err(read::escaped(escape)),
    };
    match result {
        Ok(lowered) => Ok(Parsed {
            module: ssa::Module { funcs: lowered.entries.funcs },
            notes: notes.into_iter().chain(lowered.entries.notes).collect(),
            microseconds: Microseconds {
                reading: lowered.microseconds.reading,
                lowering: lowered.microseconds.lowering + scanned,
            },
            failed: lowered
                .entries
                .failed
                .into_iter()
                .map(|(entry, stop)| FailedEntry { entry, failure: stop.into_failure(&map) })
                .collect(),
            uniformity: lowered.uniformity,
            source: map,
        }),
        Err(stop) => Err(stop.into_failure(&map)),
    }
}

/// GLSL as its reader gets it, for people: macros expanded, conditions decided, included texts in their places. What
/// directives leave empty is one line.
///
/// # Errors
/// [`FailureKind::Invalid`] for wrong directives and for includes that are not found; [`FailureKind::Limit`] for texts
/// beyond [`Limits`].
pub fn preprocessed(text: &str, options: &Options) -> Result<String, Failure> {
    let map = SourceMap::text("", Language::Glsl, text);
    let done = prescan::check_size(&map.text, &options.limits)
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

/// What the quarantine thread gives back.
struct Lowered {
    entries: Entries,
    microseconds: Microseconds,
    uniformity: Option<UniformityRules>,
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

fn read_and_lower(
    source: Source<'_>,
    map: &SourceMap,
    text: &str,
    places: Places,
    options: &Options,
) -> Result<Lowered, Stop> {
    let start = Instant::now();
    if let Source::SpirV(bytes) = source
        && !options.by_naga
    {
        let work = || spirv::read(bytes, options);
        // A panic of ours is our bug.
        let entries = quarantine::catch(work)
            .unwrap_or_else(|escape| Err(Stop::internal(format!("reading broke: {escape:?}"))))?;
        return Ok(Lowered {
            entries,
            microseconds: Microseconds { reading: 0, lowering: elapsed(start) },
            uniformity: None,
        });
    }
    if let Source::Glsl { stage, .. } = source {
        let work = || glsl::read(text, stage, &places, options);
        // A panic of ours is our bug.
        let entries = quarantine::catch(work)
            .unwrap_or_else(|escape| Err(Stop::internal(format!("reading broke: {escape:?}"))))?;
        return Ok(Lowered {
            entries,
            microseconds: Microseconds { reading: 0, lowering: elapsed(start) },
            uniformity: None,
        });
    }
    let valid = read::read(source, text, places, options)?;
    let reading = elapsed(start);
    let start = Instant::now();
    let names: Vec<_> = valid
        .module
        .entry_points
        .iter()
        .map(|entry| {
            let stage = lower::stage_of(entry.stage).ok();
            (entry.name.as_str(), stage, format!("{:?}", entry.stage))
        })
        .collect();
    let chosen = choose(&names, options)?;
    let types = lower::Types::new(&valid.module);
    let mut entries = Entries::default();
    for index in chosen {
        let limits = entries.limits(options);
        let entry = &valid.module.entry_points[index];
        let result = lower::stage_of(entry.stage).and_then(|stage| {
            let work = || lower::lower(&valid, &types, index, stage, map.language, &limits);
            // A panic of ours is our bug, not naga's.
            quarantine::catch(work)
                .unwrap_or_else(|escape| Err(Stop::internal(format!("lowering broke: {escape:?}"))))
        });
        let result =
            result.map_err(|stop| stop.mended(&valid.places)).map(|(mut func, mut notes)| {
                for inst in func.insts.values_mut() {
                    inst.span = valid.places.original(inst.span);
                }
                func.place = valid.places.original(declaration(text, &entry.name));
                for note in &mut notes {
                    valid.places.mend(note);
                }
                (func, notes)
            });
        entries.add(&entry.name, result, options)?;
    }
    let microseconds = Microseconds { reading, lowering: elapsed(start) };
    let uniformity =
        (map.language == Language::Wgsl).then(|| UniformityRules::of(&valid.module, &valid.places));
    Ok(Lowered { entries, microseconds, uniformity })
}

/// The name in the declaration of a WGSL function: naga keeps no place of an entry point.
fn declaration(text: &str, name: &str) -> ssa::Span {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let found = text.match_indices(name).find(|(at, _)| {
        let before = text[..*at].trim_end();
        let line = before.rsplit('\n').next().unwrap_or(before);
        let keyword =
            before.strip_suffix("fn").filter(|rest| !rest.bytes().last().is_some_and(is_word));
        let ends = !text[at + name.len()..].bytes().next().is_some_and(is_word);
        keyword.is_some() && before.len() < *at && ends && !line.contains("//")
    });
    found.map_or(ssa::Span::NONE, |(at, _)| ssa::Span {
        start: at as u32,
        end: (at + name.len()) as u32,
    })
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
    }
}
