//! Compilers, parsed sources, compilations.

use crate::abi::{self, Reply, gpucc_text};
use crate::callback::{Log, User};
use crate::entry::{entry, remember, value};
use crate::handle::{give, look, take};
use crate::input::{self, Given, gpucc_config, gpucc_options, gpucc_request, gpucc_source};
use crate::outcome::{Outcome, gpucc_outcome};
use crate::result::{Made, gpucc_result};
use crate::status::{gpucc_status, status};
use gpucc::{
    Budget, Choice, Compiled, Compiler, Diagnostic, Entry, Failure, Include, IncludedText,
    Includes, Key, Options, Parsed, Reading, SourceText, Stage, Target, TargetInfo,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// A compiler for one chip.
pub struct gpucc_compiler {
    pub(crate) compiler: Compiler,
    pub(crate) log: Log,
}

/// A source that was read: its entry points, or why there are none.
pub struct gpucc_parsed {
    given: Given,
    /// Target and chip that it was read for.
    machine: (Target, Option<&'static str>),
    /// What it was read with.
    options: Options,
    parsed: Result<Parsed, Failure>,
    /// What it is without values of constants, where it has any.
    reading: Option<Reading>,
    outcome: Outcome,
    names: Vec<String>,
    /// What it was read as for other values of constants.
    again: Readings,
}

impl gpucc_parsed {
    /// What it is with the values of constants and the budget of other options. The source is read again only where these
    /// decide how it reads.
    fn read_with(&self, compiler: &Compiler, options: &Options) -> Reply<Parsed> {
        match &self.reading {
            Some(reading) => compiler.specialize(reading, Choice::default(), options),
            None => self.given.parse(compiler, options),
        }
    }
}

/// Options that reading depends on, to the bit: values of constants by name, that of all others, the budget.
type ReadWith = (Vec<(String, u64)>, Option<u64>, Budget);

/// So many of them are kept: a module is specialized for one pipeline after the other.
const KEPT_READINGS: usize = 4;

fn read_with(options: &Options) -> ReadWith {
    let overrides = options.overrides.iter();
    let overrides = overrides.map(|(name, value)| (name.clone(), value.to_bits())).collect();
    (overrides, options.overrides_default.map(f64::to_bits), options.budget)
}

/// The latest readings of a source, the latest behind the others.
#[derive(Default)]
struct Readings(Mutex<VecDeque<(ReadWith, Arc<Parsed>)>>);

impl Readings {
    /// What was read with these options before.
    fn known(&self, with: &ReadWith) -> Option<Arc<Parsed>> {
        let again = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        again.iter().find(|(own, _)| own == with).map(|(_, parsed)| Arc::clone(parsed))
    }

    /// Keeps what was read with these options, in place of the oldest.
    fn keep(&self, with: ReadWith, parsed: Parsed) -> Arc<Parsed> {
        let parsed = Arc::new(parsed);
        let mut again = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster.
        if again.iter().all(|(own, _)| *own != with) {
            if again.len() == KEPT_READINGS {
                again.pop_front();
            }
            again.push_back((with, Arc::clone(&parsed)));
        }
        parsed
    }
}

/// The version of this interface: GPUCC_ABI_VERSION of the header that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn gpucc_abi_version() -> u32 {
    crate::GPUCC_ABI_VERSION
}

/// Name, version and build of the compiler: results are kept under it (gpucc_request_key).
#[unsafe(no_mangle)]
pub extern "C" fn gpucc_version() -> gpucc_text {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| gpucc::PRODUCER.to_owned() + "\0");
    gpucc_text { data: text.as_ptr().cast(), size: text.len() - 1 }
}

/// The targets: an array of objects with names, chips, stages, limits and what the silicon refuses.
#[unsafe(no_mangle)]
pub extern "C" fn gpucc_targets_json() -> gpucc_text {
    static TEXT: OnceLock<String> = OnceLock::new();
    value(gpucc_text::NONE, || {
        let text = TEXT.get_or_init(|| {
            let all: Vec<TargetInfo> = Target::ALL.iter().copied().map(TargetInfo::from).collect();
            serde_json::to_string_pretty(&all).unwrap_or_default() + "\0"
        });
        Ok(gpucc_text { data: text.as_ptr().cast(), size: text.len().saturating_sub(1) })
    })
}

/// Makes a compiler.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_compiler_create(
    config: *const gpucc_config,
    compiler: *mut *mut gpucc_compiler,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        unsafe { abi::write(compiler, std::ptr::null_mut(), "the place of the compiler") }?;
        // SAFETY: the caller's.
        let (config, target, chip) = unsafe {
            let config = abi::read(config)?;
            let target = abi::text(config.target, "gpucc_config.target")?;
            (config, target, abi::optional_text(config.chip, "gpucc_config.chip")?)
        };
        let target = Target::by_name(&target).ok_or_else(|| {
            let known: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
            let target = gpucc::printable(&target);
            Failure::usage(format!("there is no target '{target}'; there are {}", known.join(", ")))
        })?;
        let made = Compiler::new(target, chip.as_deref())?;
        let log = Log { tell: config.log, user: User(config.log_user) };
        // SAFETY: the caller's.
        unsafe { abi::write(compiler, give(gpucc_compiler { compiler: made, log }), "") }?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Takes a compiler into the caches before its first shader: compiles three small programs and forgets them. The first
/// compilation of a process takes two to three times as long as later ones, and behind this little longer. A driver calls
/// it where nobody waits, on any thread.
///
/// # Safety
/// The compiler is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_compiler_warm_up(compiler: *const gpucc_compiler) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let compiler = unsafe { look(compiler, "compiler") }?;
        compiler.compiler.warm_up();
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Ends a compiler. What it made does not need it.
///
/// # Safety
/// The compiler is null or one that nobody uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_compiler_destroy(compiler: *mut gpucc_compiler) {
    value((), || {
        // SAFETY: the caller's.
        unsafe { take(compiler) };
        Ok(())
    });
}

/// Reads a source once for several compilations. `*parsed` is set, on failure too where the arguments can be read: of a source
/// that is longer than any that is read, its outcome has the bytes that it has and those that are taken.
/// Of the options it takes the values of constants, the budget and `cancel`; the others are those of each request. A
/// compilation whose constants or budget are others goes on from what was read, and the latest four of these are kept. The
/// source is read again where it has no such constants, or where values decide how WGSL reads.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_parse(
    compiler: *const gpucc_compiler,
    source: *const gpucc_source,
    options: *const gpucc_options,
    parsed: *mut *mut gpucc_parsed,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        unsafe { abi::write(parsed, std::ptr::null_mut(), "the place of the parsed source") }?;
        // SAFETY: the same.
        let (compiler, mut given, mut options) = unsafe {
            let compiler = look(compiler, "compiler")?;
            (compiler, Given::read(source)?, input::options(options, std::ptr::null())?)
        };
        let texts = Arc::new(Texts::default());
        given.includes = given.includes.take().map(|from| texts.recording(from, &given.text.name));
        given.apply(&mut options);
        let (reading, read) = given.read_open(&compiler.compiler, &options);
        // The caller's functions are not asked behind this call.
        (options.cancel, options.includes) = (None, None);
        given.includes = given.includes.take().map(|_| texts.replaying(&given.text.name));
        let warnings = read.as_ref().map_or(&[][..], |parsed| &parsed.warnings);
        let failure = read.as_ref().err();
        if let Some(failure) = failure {
            remember(failure);
        }
        let outcome = Outcome::new(failure, warnings, Some(&given.text), &compiler.log);
        let status = status(failure);
        let entries = read.as_ref().map_or(&[][..], |parsed| &parsed.entries);
        let names =
            entries.iter().map(|entry| entry.name.replace('\0', "\u{fffd}") + "\0").collect();
        let machine = (compiler.compiler.target(), compiler.compiler.chip());
        let made = gpucc_parsed {
            given,
            machine,
            options,
            parsed: read,
            reading,
            outcome,
            names,
            again: Readings::default(),
        };
        // SAFETY: the same.
        unsafe { abi::write(parsed, give(made), "") }?;
        Ok(status)
    })
}

/// Ends a parsed source.
///
/// # Safety
/// It is null or nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_parsed_destroy(parsed: *mut gpucc_parsed) {
    value((), || {
        // SAFETY: the caller's.
        unsafe { take(parsed) };
        Ok(())
    });
}

/// How reading ended. An entry point that cannot be compiled fails alone, by its compilation.
///
/// # Safety
/// The parsed source is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_parsed_outcome(parsed: *const gpucc_parsed) -> *const gpucc_outcome {
    value(std::ptr::null(), || {
        // SAFETY: the caller's.
        let found = unsafe { look(parsed, "parsed source") }?;
        Ok(std::ptr::from_ref(found.outcome.get()))
    })
}

/// How many entry points it has.
///
/// # Safety
/// The parsed source is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_parsed_entry_count(parsed: *const gpucc_parsed) -> usize {
    // SAFETY: the caller's.
    value(0, || Ok(unsafe { look(parsed, "parsed source") }?.names.len()))
}

/// The name of an entry point, and its gpucc_stage where `stage` is not null: GPUCC_STAGE_ANY where it could not be read.
///
/// # Safety
/// The parsed source is null or one, and `stage` null or to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_parsed_entry(
    parsed: *const gpucc_parsed,
    index: usize,
    stage: *mut u32,
) -> gpucc_text {
    value(gpucc_text::NONE, || {
        // SAFETY: the caller's.
        let parsed = unsafe { look(parsed, "parsed source") }?;
        let entries = parsed.parsed.as_ref().map_or(&[][..], |parsed| &parsed.entries);
        let (Some(name), Some(entry)) = (parsed.names.get(index), entries.get(index)) else {
            return Err(Failure::usage(format!("there is no entry point number {index}")));
        };
        if !stage.is_null() {
            // SAFETY: the caller's.
            unsafe { abi::write(stage, stage_number(entry.stage), "the place of the stage") }?;
        }
        Ok(gpucc_text { data: name.as_ptr().cast(), size: name.len() - 1 })
    })
}

/// The gpucc_stage of a stage.
pub(crate) fn stage_number(stage: Option<Stage>) -> u32 {
    match stage {
        None => 0,
        Some(Stage::Vertex) => 1,
        Some(Stage::Fragment) => 2,
        Some(Stage::Compute) => 3,
        Some(Stage::Geometry) => 4,
    }
}

/// Included texts of a source, so that it can be read again.
#[derive(Default)]
struct Texts(Mutex<BTreeMap<Asks, Result<IncludedText, String>>>);

/// An `#include`: what it names, from where, and whether in angle brackets.
type Asks = (String, String, bool);

fn asks(include: &Include<'_>) -> Asks {
    (include.name.to_owned(), include.from.to_owned(), include.angled)
}

impl Texts {
    /// The caller's function, which is asked for each text once; its replies are kept.
    fn recording(self: &Arc<Texts>, from: Includes, name: &str) -> Includes {
        let texts = Arc::clone(self);
        let recording = Includes::new(move |include| {
            let known = texts.known(include);
            known.unwrap_or_else(|| {
                let reply = from.ask(include);
                let mut texts = texts.0.lock().unwrap_or_else(PoisonError::into_inner);
                texts.insert(asks(include), reply.clone());
                reply
            })
        });
        recording.for_source(name)
    }

    /// The reply that was kept.
    fn known(&self, include: &Include<'_>) -> Option<Result<IncludedText, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&asks(include)).cloned()
    }

    /// The replies that were kept.
    fn replaying(self: &Arc<Texts>, name: &str) -> Includes {
        let texts = Arc::clone(self);
        let replaying = Includes::new(move |include| {
            let reply = texts.known(include);
            reply.unwrap_or_else(|| Err("it was not included when the source was read".to_owned()))
        });
        replaying.for_source(name)
    }
}

/// A request as we keep it.
pub(crate) struct Asked<'a> {
    entry: Option<String>,
    pub stage: Option<Stage>,
    source: Where<'a>,
    pub options: Options,
}

/// Where the source of a request is.
enum Where<'a> {
    New(Box<Given>),
    Read(&'a gpucc_parsed),
}

impl<'a> Asked<'a> {
    /// Reads a request.
    ///
    /// # Safety
    /// The pointers lead to what their types say; a parsed source is not changed while `'a` lasts.
    pub unsafe fn read(from: *const gpucc_request) -> Reply<Asked<'a>> {
        // SAFETY: the caller's, here and below.
        let request = unsafe { abi::read(from) }?;
        let stage = input::stage(request.stage, "gpucc_request.stage")?;
        // SAFETY: the same.
        let (entry, mut options) = unsafe {
            let entry = abi::optional_text(request.entry, "gpucc_request.entry")?;
            (entry, input::options(request.options, request.pipeline)?)
        };
        let source = match (request.source.is_null(), request.parsed.is_null()) {
            (false, true) => {
                // SAFETY: the same.
                let mut given = unsafe { Given::read(request.source) }?;
                // The key and the code are of the same texts.
                let texts = Arc::new(Texts::default());
                given.includes =
                    given.includes.take().map(|from| texts.recording(from, &given.text.name));
                given.apply(&mut options);
                Where::New(Box::new(given))
            }
            (true, false) => {
                // SAFETY: the same.
                let parsed = unsafe { look(request.parsed, "parsed source") }?;
                parsed.given.apply(&mut options);
                Where::Read(parsed)
            }
            _ => {
                let message = "gpucc_request: give `source` or `parsed`, one of them";
                return Err(Failure::usage(message));
            }
        };
        Ok(Asked { entry, stage, source, options })
    }

    /// A parsed source is one of the same target and chip: what these lack is an error of reading.
    ///
    /// # Errors
    /// It is not.
    pub fn is_for(&self, compiler: &Compiler) -> Reply<()> {
        match &self.source {
            Where::Read(parsed) if parsed.machine != (compiler.target(), compiler.chip()) => {
                Err(Failure::usage("the source was parsed for another target or chip"))
            }
            _ => Ok(()),
        }
    }

    fn given(&self) -> &Given {
        match &self.source {
            Where::New(given) => given,
            Where::Read(parsed) => &parsed.given,
        }
    }

    /// That the text of the source was taken.
    ///
    /// # Errors
    /// As [`Given::admit`].
    pub fn admit(&self) -> Reply<()> {
        self.given().admit()
    }

    /// The key of what it gives.
    pub fn key(&self, compiler: &Compiler) -> Reply<Key> {
        let given = self.given();
        given.admit()?;
        let choice = Choice { entry: self.entry.as_deref(), stage: self.stage };
        compiler.key(given.source(), choice, &self.options)
    }

    /// The source's text.
    pub fn text(&self) -> &SourceText {
        &self.given().text
    }

    /// The entry point's program before the passes, with warnings and the time that reading took.
    fn func(&self, compiler: &Compiler) -> Reply<(gpucc::Func, Vec<Diagnostic>, Duration)> {
        let (again, fresh);
        let parsed = match &self.source {
            Where::Read(kept) => {
                let with = read_with(&self.options);
                match &kept.parsed {
                    Ok(parsed) if with == read_with(&kept.options) => parsed,
                    // What ended its reading may not end ours.
                    _ => {
                        again = match kept.again.known(&with) {
                            Some(known) => known,
                            None => {
                                let parsed = kept.read_with(compiler, &self.options)?;
                                kept.again.keep(with, parsed)
                            }
                        };
                        &again
                    }
                }
            }
            Where::New(given) => {
                fresh = given.parse(compiler, &self.options)?;
                &fresh
            }
        };
        let found = self.find(&parsed.entries)?;
        let func = found.func.as_ref().map_err(Clone::clone)?;
        Ok((func.clone(), parsed.warnings.clone(), parsed.frontend_time))
    }

    /// It asks for an entry point of this name and stage.
    pub fn is_answered(&self, entry: &str, stage: Stage) -> bool {
        self.entry.as_ref().is_none_or(|name| name == entry)
            && self.stage.is_none_or(|own| own == stage)
    }

    /// The one entry point that is asked for.
    fn find<'e>(&self, entries: &'e [Entry]) -> Reply<&'e Entry> {
        let is_asked = |entry: &&Entry| {
            self.entry.as_ref().is_none_or(|name| *name == entry.name)
                && self.stage.is_none_or(|stage| entry.stage.is_none_or(|own| own == stage))
        };
        let mut found = entries.iter().filter(is_asked);
        let known: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let known = format!("there are {}", gpucc::printable(&known.join(", ")));
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => {
                let name = gpucc::printable(self.entry.as_deref().unwrap_or("of this stage"));
                Err(Failure::usage(format!("there is no entry point '{name}'")).note(known))
            }
            (Some(_), Some(_)) => {
                Err(Failure::usage("there are several such entry points: name one").note(known))
            }
        }
    }

    /// A result of a compilation, or of what went wrong before.
    fn result(mut self, compiler: &gpucc_compiler, compiled: Reply<Half>) -> gpucc_result {
        let source = self.text().clone();
        (self.options.cancel, self.options.includes) = (None, None);
        let (compiled, warnings, frontend) = match compiled {
            Ok(done) => done,
            Err(failure) => {
                remember(&failure);
                return gpucc_result::failed(failure, &source, compiler);
            }
        };
        let own = compiler.compiler.clone();
        let options = self.options;
        let properties = None;
        let made =
            Made { compiler: own, options, compiled, source, warnings, frontend, properties };
        gpucc_result::new(made, compiler)
    }
}

/// Compiles an entry point. `*result` is set, on failure too where the arguments can be read. Equal requests give equal
/// results.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_compile(
    compiler: *const gpucc_compiler,
    request: *const gpucc_request,
    result: *mut *mut gpucc_result,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        unsafe { abi::write(result, std::ptr::null_mut(), "the place of the result") }?;
        // SAFETY: the same.
        let (compiler, asked) = unsafe { (look(compiler, "compiler")?, Asked::read(request)?) };
        asked.is_for(&compiler.compiler)?;
        let key = asked.key(&compiler.compiler).ok();
        let compiled = asked.func(&compiler.compiler).and_then(|(func, warnings, frontend)| {
            let compiled = compiler.compiler.compile(&func, &asked.options)?;
            Ok((compiled, warnings, frontend))
        });
        let made = asked.result(compiler, compiled).under(key);
        let status = made.status();
        // SAFETY: the same.
        unsafe { abi::write(result, give(made), "") }?;
        Ok(status)
    })
}

/// Compiles a vertex and a fragment entry point that are linked: the vertex program writes what the fragment program
/// reads, and nothing else. On failure the one of the two results that has it is set, and the other one is null.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_compile_pair(
    compiler: *const gpucc_compiler,
    vertex: *const gpucc_request,
    fragment: *const gpucc_request,
    vertex_result: *mut *mut gpucc_result,
    fragment_result: *mut *mut gpucc_result,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        let (compiler, vertex, fragment) = unsafe {
            // Both, whatever is wrong with one of them.
            let places = [
                abi::write(vertex_result, std::ptr::null_mut(), "the place of the vertex result"),
                abi::write(
                    fragment_result,
                    std::ptr::null_mut(),
                    "the place of the fragment result",
                ),
            ];
            places.into_iter().collect::<Reply<()>>()?;
            (look(compiler, "compiler")?, Asked::read(vertex)?, Asked::read(fragment)?)
        };
        vertex.is_for(&compiler.compiler)?;
        fragment.is_for(&compiler.compiler)?;
        if vertex_result == fragment_result {
            return Err(Failure::usage("both results have one place"));
        }
        if vertex.options.pipeline.vertex.as_ref().is_some_and(|state| state.outputs.is_some()) {
            let message = "gpucc_vertex_state.has_outputs: gpucc_compile_pair finds the outputs";
            return Err(Failure::usage(message));
        }
        let mut vertex = vertex;
        vertex.stage = Some(Stage::Vertex);
        let mut fragment = fragment;
        fragment.stage = Some(Stage::Fragment);
        let fragment_key = fragment.key(&compiler.compiler).ok();
        let vertex_key = fragment_key.as_ref().and_then(|read| {
            // What the vertex stage writes depends on what the fragment stage reads.
            Some(vertex.key(&compiler.compiler).ok()?.beside(read))
        });
        let (vs, fs) = match pair(&compiler.compiler, &mut vertex, &fragment) {
            Ok((vs, fs)) => (Some(Ok(vs)), Some(Ok(fs))),
            Err(Fault::Vertex(failure)) => (Some(Err(failure)), None),
            Err(Fault::Fragment(failure)) => (None, Some(Err(failure))),
        };
        let mut ended = gpucc_status::GPUCC_OK;
        let halves = [
            (fs, fragment, fragment_key, fragment_result),
            (vs, vertex, vertex_key, vertex_result),
        ];
        for (half, asked, key, place) in halves {
            let Some(half) = half else { continue };
            let made = asked.result(compiler, half).under(key);
            if made.status() != gpucc_status::GPUCC_OK {
                ended = made.status();
            }
            // SAFETY: the same.
            unsafe { abi::write(place, give(made), "") }?;
        }
        Ok(ended)
    })
}

type Half = (Compiled, Vec<Diagnostic>, Duration);

/// Which of a pair has a failure.
enum Fault {
    Vertex(Failure),
    Fragment(Failure),
}

fn pair(
    compiler: &Compiler,
    vertex: &mut Asked<'_>,
    fragment: &Asked<'_>,
) -> Result<(Half, Half), Fault> {
    let (vs, vs_warnings, vs_time) = vertex.func(compiler).map_err(Fault::Vertex)?;
    let (fs, fs_warnings, fs_time) = fragment.func(compiler).map_err(Fault::Fragment)?;
    gpucc::link::links(&vs, &fs).map_err(|mut failure| {
        // The other place is in another text.
        for diagnostic in &mut failure.diagnostics {
            diagnostic.labels.truncate(1);
        }
        Fault::Fragment(failure)
    })?;
    let compiled = compiler.compile(&fs, &fragment.options).map_err(Fault::Fragment)?;
    let state = vertex.options.pipeline.vertex.get_or_insert_default();
    state.outputs = Some(gpucc::link::read_locations(&compiled.ssa));
    let vs = compiler.compile(&vs, &vertex.options).map_err(Fault::Vertex)?;
    Ok(((vs, vs_warnings, vs_time), (compiled, fs_warnings, fs_time)))
}

/// Writes null pointers to the places of kernels.
///
/// # Safety
/// `results` has `room` places, or is null.
unsafe fn places_of_kernels(results: *mut *mut gpucc_result, room: usize) -> Reply<()> {
    if results.is_null() {
        return Ok(());
    }
    if !results.is_aligned() {
        return Err(Failure::usage("the places of the kernels are not aligned"));
    }
    for index in 0..room {
        // SAFETY: the caller's; the places are aligned.
        unsafe { results.add(index).write(std::ptr::null_mut()) };
    }
    Ok(())
}

/// Compiles the programs that fixed function needs around a pair: set-up, clipping. Most machines need none. `*count` is
/// how many there are; where `results` has room for as many, it gets them, and null pointers behind them. Else it gets null
/// pointers alone.
///
/// # Safety
/// The pointers lead to what their types say; `results` has `room` places, or is null and `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_compile_kernels(
    compiler: *const gpucc_compiler,
    vertex: *const gpucc_result,
    fragment: *const gpucc_result,
    results: *mut *mut gpucc_result,
    room: usize,
    count: *mut usize,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        let (compiler, vertex, fragment) = unsafe {
            let places = places_of_kernels(results, room);
            abi::write(count, 0, "the place of the count")?;
            places?;
            (
                look(compiler, "compiler")?,
                look(vertex, "vertex result")?,
                look(fragment, "fragment result")?,
            )
        };
        let (vertex, fragment) = (vertex.made(Stage::Vertex)?, fragment.made(Stage::Fragment)?);
        let own = |made: &Made| {
            let own = (made.compiler.target(), made.compiler.chip());
            own == (compiler.compiler.target(), compiler.compiler.chip())
        };
        if !own(vertex) || !own(fragment) {
            return Err(Failure::usage("the results are of another target or chip"));
        }
        let (Some(vs), Some(fs)) = (&vertex.compiled.program, &fragment.compiled.program) else {
            return Ok(gpucc_status::GPUCC_OK);
        };
        let kernels = compiler.compiler.kernels(vs, fs, &fragment.options)?;
        if room >= kernels.len() && !results.is_null() {
            let kernel = |program| gpucc_result::kernel(fragment, program, compiler);
            let made: Vec<gpucc_result> = kernels.iter().cloned().map(kernel).collect();
            for (index, made) in made.into_iter().enumerate() {
                // SAFETY: the same: index is less than room, and the places are aligned.
                unsafe { results.add(index).write(give(made)) };
            }
        }
        // SAFETY: the same.
        unsafe { abi::write(count, kernels.len(), "") }?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Ends a result. A device made of it stays.
///
/// # Safety
/// It is null or nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_destroy(result: *mut gpucc_result) {
    value((), || {
        // SAFETY: the caller's.
        unsafe { take(result) };
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "wgsl")]
    fn the_latest_four_readings_are_kept() {
        let compiler = Compiler::new(Target::by_name("interp").expect("there is one"), None);
        let compiler = compiler.expect("it has one chip");
        let with = |value: f64| {
            let mut options = Options::default();
            options.overrides.insert("n".to_owned(), value);
            options
        };
        let text = "override n: u32; @compute @workgroup_size(n) fn m() {}";
        let read = |value| {
            let source = gpucc::Source::Wgsl(text);
            compiler.parse(source, Choice::default(), &with(value)).expect("it is right")
        };
        let size = |parsed: &Parsed| {
            parsed.entries[0].func.as_ref().map_or(0, |func| func.workgroup_size[0])
        };
        let readings = Readings::default();
        for value in 1..=6 {
            let value = f64::from(value);
            assert!(readings.known(&read_with(&with(value))).is_none());
            readings.keep(read_with(&with(value)), read(value));
        }
        // One that is there already stays where and what it is.
        readings.keep(read_with(&with(4.0)), read(9.0));
        let sizes = (1..=6).map(|value| {
            let known = readings.known(&read_with(&with(f64::from(value))));
            known.map_or(0, |parsed| size(&parsed))
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [0, 0, 3, 4, 5, 6]);
        readings.keep(read_with(&with(7.0)), read(7.0));
        assert!(readings.known(&read_with(&with(3.0))).is_none(), "the oldest goes");
    }

    #[test]
    #[cfg(all(feature = "wgsl", feature = "glsl"))]
    fn other_constants_go_on_from_what_was_read() {
        let wgsl = "@id(3) override n: u32 = 1; var<workgroup> w: array<u32, n>;
            @group(0) @binding(0) var<storage, read_write> o: array<u32, 1>;
            @compute @workgroup_size(n) fn m() { w[n - 1u] = n; workgroupBarrier(); o[0] = w[0]; }";
        let glsl = "#version 450\nlayout(constant_id = 3) const int n = 2;
            layout(location = 0) out vec4 o; void main() { float a[n]; a[n - 1] = 1.0; o = vec4(a[0]); }";
        let target = Target::by_name("interp").expect("there is one");
        let compiler = Compiler::new(target, None).expect("it has one chip");
        for (language, stage, text) in [(1, 0, wgsl), (2, 2, glsl)] {
            // SAFETY: zeros are what a caller gives, and the pointers lead to what they say.
            let given = unsafe {
                let mut source: gpucc_source = std::mem::zeroed();
                source.struct_size = size_of::<gpucc_source>() as u32;
                (source.language, source.stage) = (language, stage);
                source.data = abi::gpucc_bytes { data: text.as_ptr(), size: text.len() };
                Given::read(&source).expect("it can be read")
            };
            let with = |value: f64| {
                let mut options = Options::default();
                options.overrides.insert("3".to_owned(), value);
                options
            };
            let (reading, parsed) = given.read_open(&compiler, &with(1.0));
            let mut kept = gpucc_parsed {
                given,
                machine: (compiler.target(), compiler.chip()),
                options: with(1.0),
                parsed,
                reading,
                outcome: Outcome::new(
                    None,
                    &[],
                    None,
                    &Log { tell: None, user: User(std::ptr::null_mut()) },
                ),
                names: Vec::new(),
                again: Readings::default(),
            };
            let funcs = |parsed: Reply<Parsed>| {
                let parsed = parsed.expect("it is right");
                let funcs =
                    parsed.entries.into_iter().map(|entry| entry.func.expect("it is right"));
                funcs.map(|func| func.to_string()).collect::<Vec<_>>()
            };
            let fresh = [2.0, 5.0].map(|value| funcs(kept.given.parse(&compiler, &with(value))));
            assert_ne!(fresh[0], fresh[1]);
            // Nobody can read this: what was read is all that there is.
            kept.given.text = SourceText::new("gone", Some("?".to_owned()));
            assert!(kept.given.parse(&compiler, &with(2.0)).is_err());
            let again = [2.0, 5.0].map(|value| funcs(kept.read_with(&compiler, &with(value))));
            assert_eq!(again, fresh);
        }
    }
}
