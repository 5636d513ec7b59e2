//! A source that is read once and lowered for several values of its constants.
//!
//! What a source is before its constants have values is kept: naga's module, SPIR-V's instructions, and GLSL's syntax.
//! Sizes of arrays and the choice of code that depend on the constants are computed from there.

use crate::entries::Entries;
use crate::places::Places;
use crate::stop::Stop;
use crate::{
    Diagnostic, FailedEntry, Failure, Language, Microseconds, Options, Parsed, Source, SourceMap,
    UniformityRules, choose, elapsed, glsl, lower, prepare, quarantine, read, spirv,
};
use gpucc_ir::ssa;
use std::collections::BTreeMap;
use std::time::Instant;

/// A source that was read. Its specialization constants and overrides have no values yet.
pub struct Reading {
    map: SourceMap,
    notes: Vec<Diagnostic>,
    /// Any thread has the stack to lower it.
    is_flat: bool,
    kept: Kept,
}

/// What was read, without values of constants.
enum Kept {
    #[cfg(feature = "wgsl")]
    /// By naga, with the places of the entry points' names.
    Naga(Box<read::Unresolved>, BTreeMap<String, ssa::Span>),
    SpirV(spirv::Module),
    #[cfg(feature = "glsl")]
    Glsl(Box<glsl::Kept>),
    #[cfg(feature = "glsl")]
    /// Behind the preprocessor. Its syntax nests so deep that not every thread can drop it, so it is parsed for each set of values.
    DeepGlsl {
        text: String,
        places: Places,
        stage: ssa::Stage,
    },
}

/// What is lowered.
struct Lowered {
    entries: Entries,
    microseconds: Microseconds,
    uniformity: Option<UniformityRules>,
}

impl Reading {
    /// Reads a source, and lowers its entry points with the values that the options give. The reading is `None` where other
    /// values require that the source is read again: it has no constants with values of the caller's, what naga reads
    /// depends on them, or reading failed. A source that was read may be kept although these values are wrong.
    pub fn of(
        source: Source<'_>,
        name: &str,
        options: &Options,
    ) -> (Option<Reading>, Result<Parsed, Failure>) {
        let (reading, parsed) = parse(source, name, options);
        (reading.filter(|reading| reading.kept.is_open()), parsed)
    }

    /// What [`crate::parse`] gives of the source with these options, of which `defines`, `includes` and all limits but the
    /// budget are those that it was read with. The source is not read.
    ///
    /// # Errors
    /// As [`crate::parse`].
    pub fn lower(&self, options: &Options) -> Result<Parsed, Failure> {
        let work = || lower(&self.kept, options);
        let is_spirv = matches!(self.kept, Kept::SpirV(_));
        let lowered = run(self.is_flat, is_spirv, work).unwrap_or_else(Err);
        finish(lowered, &self.map, &self.notes)
    }

    /// The text that messages about it point into; empty for SPIR-V.
    pub fn text(&self) -> &str {
        &self.map.text
    }
}

impl Kept {
    /// Whether its constants may get other values.
    fn is_open(&self) -> bool {
        match self {
            #[cfg(feature = "wgsl")]
            Kept::Naga(module, _) => module.is_open(),
            Kept::SpirV(module) => spirv::is_open(module),
            #[cfg(feature = "glsl")]
            Kept::Glsl(kept) => kept.is_open(),
            #[cfg(feature = "glsl")]
            Kept::DeepGlsl { text, .. } => glsl::is_open(text),
        }
    }
}

/// Reads and lowers a source, and gives what was read too. `name` is what messages call it.
///
/// # Errors
/// As [`crate::parse`].
pub fn parse(
    source: Source<'_>,
    name: &str,
    options: &Options,
) -> (Option<Reading>, Result<Parsed, Failure>) {
    let map = match source {
        Source::Wgsl(text) => SourceMap::text(name, Language::Wgsl, text),
        Source::Glsl { text, .. } => SourceMap::text(name, Language::Glsl, text),
        Source::SpirV(_) => SourceMap::words(name),
    };
    let start = Instant::now();
    let (text, places, notes, is_flat) = match prepare(source, &map.text, options) {
        Ok(prepared) => prepared,
        Err(stop) => return (None, Err(stop.into_failure(&map))),
    };
    let scanned = elapsed(start);
    let work = || {
        let start = Instant::now();
        let kept = read(source, &text, places, is_flat, options)?;
        let reading = elapsed(start);
        let lowered = lower(&kept, options).map(|mut lowered| {
            match source {
                Source::Wgsl(_) => lowered.microseconds.reading += reading,
                Source::SpirV(_) | Source::Glsl { .. } => lowered.microseconds.lowering += reading,
            }
            lowered.microseconds.lowering += scanned;
            lowered
        });
        Ok((kept, lowered))
    };
    let (kept, lowered) = match run(is_flat, matches!(source, Source::SpirV(_)), work) {
        Ok(Ok((kept, lowered))) => (kept, lowered),
        Ok(Err(stop)) | Err(stop) => return (None, Err(stop.into_failure(&map))),
    };
    let parsed = finish(lowered, &map, &notes);
    (Some(Reading { map, notes, is_flat, kept }), parsed)
}

/// Runs work where there is the stack for it.
fn run<T: Send>(is_flat: bool, is_spirv: bool, work: impl FnOnce() -> T + Send) -> Result<T, Stop> {
    let result = match (is_flat, is_spirv) {
        // A thread takes longer to start than a small module to read.
        (true, _) => quarantine::catch_silently(work),
        (false, true) => quarantine::run(quarantine::SPIRV_STACK_BYTES, work),
        (false, false) => quarantine::run(quarantine::STACK_BYTES, work),
    };
    result.map_err(read::escaped)
}

/// What callers get.
fn finish(
    lowered: Result<Lowered, Stop>,
    map: &SourceMap,
    notes: &[Diagnostic],
) -> Result<Parsed, Failure> {
    let Lowered { entries, microseconds, uniformity } =
        lowered.map_err(|stop| stop.into_failure(map))?;
    let failed = entries.failed.into_iter();
    Ok(Parsed {
        module: ssa::Module { funcs: entries.funcs },
        notes: notes.iter().cloned().chain(entries.notes).collect(),
        microseconds,
        failed: failed
            .map(|(entry, stop)| FailedEntry { entry, failure: stop.into_failure(map) })
            .collect(),
        uniformity,
        source: map.clone(),
    })
}

/// Reads what does not depend on values of constants.
fn read(
    source: Source<'_>,
    text: &str,
    places: Places,
    is_flat: bool,
    options: &Options,
) -> Result<Kept, Stop> {
    match source {
        Source::SpirV(bytes) if !options.by_naga => {
            Ok(Kept::SpirV(ours("reading", || spirv::read(bytes))?))
        }
        #[cfg(feature = "glsl")]
        Source::Glsl { stage, .. } if is_flat => {
            let kept = ours("reading", || glsl::read(text.to_owned(), stage, places))?;
            Ok(Kept::Glsl(Box::new(kept)))
        }
        #[cfg(feature = "glsl")]
        Source::Glsl { stage, .. } => Ok(Kept::DeepGlsl { text: text.to_owned(), places, stage }),
        #[cfg(feature = "wgsl")]
        Source::Wgsl(_) | Source::SpirV(_) => {
            let module = read::read(source, text, places, options)?;
            let place = |name| module.original(declaration(text, name));
            let names = module.names().map(|name| (name.to_owned(), place(name))).collect();
            Ok(Kept::Naga(Box::new(module), names))
        }
        #[cfg(not(all(feature = "wgsl", feature = "glsl")))]
        _ => Err(Stop::internal("this build has no such reader")),
    }
}

/// That this build reads the language.
///
/// # Errors
/// The reader was left out.
pub fn admit(source: Source<'_>) -> Result<(), Stop> {
    let left_out = |language: &str, feature: &str| {
        let what = format!("{language} in a build without the feature `{feature}`");
        Err(Stop::unsupported(what, "reading").with_note("give SPIR-V, or build with the feature"))
    };
    match source {
        Source::Wgsl(_) if !cfg!(feature = "wgsl") => left_out("WGSL", "wgsl"),
        Source::Glsl { .. } if !cfg!(feature = "glsl") => left_out("GLSL", "glsl"),
        Source::Wgsl(_) | Source::Glsl { .. } | Source::SpirV(_) => Ok(()),
    }
}

/// A panic of ours is our bug, not naga's.
fn ours<T>(what: &str, work: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
    quarantine::catch(work)
        .unwrap_or_else(|escape| Err(Stop::internal(format!("{what} broke: {escape:?}"))))
}

/// Gives the constants their values, and lowers the entry points that are asked for.
fn lower(kept: &Kept, options: &Options) -> Result<Lowered, Stop> {
    let start = Instant::now();
    let alone = |entries| Lowered {
        entries,
        microseconds: Microseconds { reading: 0, lowering: elapsed(start) },
        uniformity: None,
    };
    match kept {
        Kept::SpirV(module) => ours("reading", || spirv::lower(module, options)).map(alone),
        #[cfg(feature = "glsl")]
        Kept::Glsl(kept) => ours("reading", || glsl::lower(kept, options)).map(alone),
        #[cfg(feature = "glsl")]
        Kept::DeepGlsl { text, places, stage } => {
            let whole = || {
                let kept = glsl::read(text.clone(), *stage, places.clone())?;
                glsl::lower(&kept, options)
            };
            ours("reading", whole).map(alone)
        }
        #[cfg(feature = "wgsl")]
        Kept::Naga(module, names) => lower_module(module, names, options),
    }
}

#[cfg(feature = "wgsl")]
fn lower_module(
    read: &read::Unresolved,
    declared: &BTreeMap<String, ssa::Span>,
    options: &Options,
) -> Result<Lowered, Stop> {
    let start = Instant::now();
    let valid = read.resolve(options)?;
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
            let language = read.language();
            ours("lowering", || lower::lower(&valid, &types, index, stage, language, &limits))
        });
        let result =
            result.map_err(|stop| stop.mended(valid.places)).map(|(mut func, mut notes)| {
                for inst in func.insts.values_mut() {
                    inst.span = valid.places.original(inst.span);
                }
                func.place = declared.get(&entry.name).copied().unwrap_or(ssa::Span::NONE);
                for note in &mut notes {
                    valid.places.mend(note);
                }
                (func, notes)
            });
        entries.add(&entry.name, result, options)?;
    }
    let microseconds = Microseconds { reading, lowering: elapsed(start) };
    let uniformity = (read.language() == Language::Wgsl)
        .then(|| UniformityRules::of(&valid.module, valid.places));
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

#[cfg(all(test, not(feature = "wgsl")))]
mod tests {
    use super::*;

    #[test]
    fn a_language_that_is_left_out_is_not_supported_yet() {
        let source = Source::Wgsl("@compute @workgroup_size(1) fn m() {}");
        let failure = crate::parse(source, "", &Options::default()).expect_err("it has no reader");
        assert_eq!(failure.exit_code(), 6);
        assert!(failure.render().contains("without the feature `wgsl`"), "{}", failure.render());
    }
}

#[cfg(all(test, feature = "wgsl"))]
mod kept {
    use super::*;

    fn is_kept(body: &str) -> bool {
        let text = format!(
            "override n = 2u; const k = 2.0;
             @fragment fn main() -> @location(0) vec4f {{ {body} return vec4f(f32(n)); }}"
        );
        let (reading, parsed) = Reading::of(Source::Wgsl(&text), "", &Options::default());
        parsed.unwrap_or_else(|failure| panic!("{}", failure.render()));
        reading.is_some()
    }

    #[test]
    fn wgsl_is_kept_unless_what_naga_reads_depends_on_an_override() {
        assert!(is_kept("var a = n; a += n << 1u;"));
        assert!(is_kept("let a = smoothstep(0.0, k, 0.5);"));
        assert!(!is_kept("let a = smoothstep(0.0, k, f32(n));"));
        assert!(!is_kept("let a = 1 << n;"));
        assert!(!is_kept("const f = frexp(vec4(1.0, 2.0, 3.0, 4.0)); let a = f.fract[n];"));
        // The value that was found before counts as well.
        assert!(!is_kept("let a = 1u + n; let b = 1 << n; let c = 2 << n;"));
    }
}
