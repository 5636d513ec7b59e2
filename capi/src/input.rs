//! What a compilation is told: source, options, request.

use crate::abi::{self, Reply, gpucc_bytes, gpucc_text};
use crate::callback::{self, gpucc_cancel_fn, gpucc_include_fn, gpucc_log_fn};
use crate::state::{self, gpucc_pipeline};
use gpucc::{
    Budget, Choice, Compiler, Effort, EvidenceClass, Failure, Options, Parsed, Reading, Robust,
    Source, SourceText, Stage,
};
use std::ffi::c_void;

/// A compiler's machine.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_config {
    /// sizeof(gpucc_config).
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// A target's name, as in gpucc_targets_json.
    pub target: gpucc_text,
    /// A chip of it; the target's usual one where this is empty.
    pub chip: gpucc_text,
    /// Is told every message of every call; null tells nobody.
    pub log: gpucc_log_fn,
    /// What `log` gets back.
    pub log_user: *mut c_void,
}

/// A macro of GLSL. Parameters stand behind the name: "f(x)".
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_define {
    /// sizeof(gpucc_define).
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Its name.
    pub name: gpucc_text,
    /// What it stands for.
    pub value: gpucc_text,
}

/// A source. Texts and bytes are read before the call that gets it returns, and are not needed any more then.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_source {
    /// sizeof(gpucc_source).
    pub struct_size: u32,
    /// A gpucc_language.
    pub language: u32,
    /// GLSL: the gpucc_stage of the text. Zero for other languages.
    pub stage: u32,
    /// Zero.
    pub reserved: u32,
    /// What reports and messages call it; "shader" where it is empty.
    pub name: gpucc_text,
    /// The text or the words of SPIR-V.
    pub data: gpucc_bytes,
    /// GLSL: macros.
    pub defines: *const gpucc_define,
    /// How many.
    pub define_count: usize,
    /// GLSL: gives included texts; without it #include is an error.
    pub include: gpucc_include_fn,
    /// What `include` gets back.
    pub include_user: *mut c_void,
}

/// The value of an override of WGSL or of a specialization constant.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_override {
    /// sizeof(gpucc_override).
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Its name, or its number in decimal.
    pub name: gpucc_text,
    /// Its value: converted to the constant's type; 0 is false.
    pub value: f64,
}

/// How to compile. Zeros are the defaults.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_options {
    /// sizeof(gpucc_options).
    pub struct_size: u32,
    /// A gpucc_effort.
    pub effort: u32,
    /// A gpucc_robust.
    pub robust: u32,
    /// The weakest gpucc_evidence that code may rest on.
    pub evidence: u32,
    /// 1: every loop ends.
    pub bound_loops: u32,
    /// 1: workgroup memory keeps what it has instead of zeros.
    pub keep_workgroup: u32,
    /// 1: the result keeps the program between the passes, so that gpucc_verify proves these too.
    pub keep_steps: u32,
    /// 1: constants without a value and a default get `overrides_default`.
    pub has_overrides_default: u32,
    /// See `has_overrides_default`.
    pub overrides_default: f64,
    /// Bytes that one call may take, counted; 0 is the default of 256 MiB.
    pub memory: u64,
    /// Steps of work that one call may take, counted; 0 is the default of 2^30.
    pub steps: u64,
    /// Values of constants.
    pub overrides: *const gpucc_override,
    /// How many.
    pub override_count: usize,
    /// Asked whether the call is to end; null lets it end by itself.
    pub cancel: gpucc_cancel_fn,
    /// What `cancel` gets back.
    pub cancel_user: *mut c_void,
}

/// A compilation of one entry point.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_request {
    /// sizeof(gpucc_request).
    pub struct_size: u32,
    /// A gpucc_stage: the entry point is of this one.
    pub stage: u32,
    /// Its name; where it is empty there must be one alone.
    pub entry: gpucc_text,
    /// The source, or null where `parsed` is one.
    pub source: *const gpucc_source,
    /// A source that was read before, or null.
    pub parsed: *const crate::compiler::gpucc_parsed,
    /// How; null is the default.
    pub options: *const gpucc_options,
    /// The pipeline around the shader; what is null or absent is inferred.
    pub pipeline: *const gpucc_pipeline,
}

/// A source of ours: it lives as long as it is needed.
#[derive(Clone)]
pub(crate) struct Given {
    language: Language,
    /// Its text; empty for SPIR-V.
    pub text: SourceText,
    bytes: Vec<u8>,
    defines: Vec<(String, String)>,
    pub includes: Option<gpucc::Includes>,
    /// Why its text was not taken: it is too long, or no text. Whatever reads the source fails so.
    refused: Option<Failure>,
}

#[derive(Copy, Clone)]
enum Language {
    SpirV,
    Wgsl,
    Glsl(Stage),
    Ir,
}

/// A stage by its number; none for any.
pub(crate) fn stage(number: u32, what: &str) -> Reply<Option<Stage>> {
    let all = [
        None,
        Some(Stage::Vertex),
        Some(Stage::Fragment),
        Some(Stage::Compute),
        Some(Stage::Geometry),
    ];
    abi::choice(number, &all, what)
}

impl Given {
    /// Copies a source.
    ///
    /// # Safety
    /// As [`abi::read`], and so for what its pointers lead to.
    pub(crate) unsafe fn read(from: *const gpucc_source) -> Reply<Given> {
        // SAFETY: the caller's, here and below.
        let source = unsafe { abi::read(from) }?;
        let stage = stage(source.stage, "gpucc_source.stage")?;
        // SAFETY: the same.
        let (name, data, defines) = unsafe {
            (
                abi::optional_text(source.name, "gpucc_source.name")?,
                abi::bytes(source.data, "gpucc_source.data")?,
                abi::read_all(source.defines, source.define_count)?,
            )
        };
        let defines = defines.into_iter().map(|define| {
            // SAFETY: the same.
            unsafe {
                let name = abi::text(define.name, "gpucc_define.name")?;
                Ok((name, abi::text(define.value, "gpucc_define.value")?))
            }
        });
        let defines = defines.collect::<Reply<Vec<_>>>()?;
        let language = match (source.language, stage) {
            (0, None) => Language::SpirV,
            (1, None) => Language::Wgsl,
            (2, Some(stage)) => Language::Glsl(stage),
            (2, None) => {
                return Err(Failure::usage("gpucc_source.stage: GLSL is of one stage: say which"));
            }
            (3, None) => Language::Ir,
            (0 | 1 | 3, Some(_)) => {
                return Err(Failure::usage("gpucc_source.stage: it is for GLSL alone"));
            }
            (language, _) => {
                let message = format!("gpucc_source.language: there is no {language}");
                return Err(Failure::usage(message));
            }
        };
        let is_glsl = matches!(language, Language::Glsl(_));
        if !is_glsl && (!defines.is_empty() || source.include.is_some()) {
            return Err(Failure::usage("gpucc_source: macros and #include are for GLSL alone"));
        }
        let name = name.unwrap_or_else(|| "shader".to_owned());
        let (text, bytes, refused) = match taken(data, &language) {
            Ok(Some(text)) => (Some(text.to_owned()), Vec::new(), None),
            Ok(None) => (None, data.to_vec(), None),
            Err(failure) => (None, Vec::new(), Some(failure)),
        };
        let includes = callback::includes(source.include, source.include_user);
        let includes = includes.map(|includes| includes.for_source(&name));
        let text = SourceText::new(name, text);
        Ok(Given { language, text, bytes, defines, includes, refused })
    }

    /// That its text was taken.
    ///
    /// # Errors
    /// It is too long, or no text.
    pub(crate) fn admit(&self) -> Reply<()> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// Reads it.
    ///
    /// # Errors
    /// As [`Compiler::parse`], and [`Given::admit`].
    pub(crate) fn parse(&self, compiler: &Compiler, options: &Options) -> Reply<Parsed> {
        self.admit()?;
        compiler.parse(self.source(), Choice::default(), options)
    }

    /// Reads it, and keeps what it is without values of constants.
    ///
    /// # Errors
    /// As [`Given::parse`].
    pub(crate) fn read_open(
        &self,
        compiler: &Compiler,
        options: &Options,
    ) -> (Option<Reading>, Reply<Parsed>) {
        match self.admit() {
            Ok(()) => compiler.read(self.source(), options),
            Err(failure) => (None, Err(failure)),
        }
    }

    /// The source as the facade takes it.
    pub(crate) fn source(&self) -> Source<'_> {
        let text = self.text.text.as_deref().unwrap_or_default();
        match self.language {
            Language::SpirV => Source::SpirV(&self.bytes),
            Language::Wgsl => Source::Wgsl(text),
            Language::Glsl(stage) => Source::Glsl(text, stage),
            Language::Ir => Source::Ir(text),
        }
    }

    /// Adds to options what the source itself says.
    pub(crate) fn apply(&self, options: &mut Options) {
        options.defines.clone_from(&self.defines);
        options.includes.clone_from(&self.includes);
    }
}

/// The text of a source, none of SPIR-V. A source is not looked at where it is longer than any that is read. Our own text has
/// 16 times the room: no reader bounds it.
///
/// # Errors
/// It is too long, or not UTF-8.
fn taken<'a>(data: &'a [u8], language: &Language) -> Reply<Option<&'a str>> {
    let most = gpucc::longest_source() * if matches!(language, Language::Ir) { 16 } else { 1 };
    if data.len() as u64 > most {
        return Err(Failure::limit("bytes of source", data.len() as u64, most));
    }
    if matches!(language, Language::SpirV) {
        return Ok(None);
    }
    let text = std::str::from_utf8(data);
    text.map(Some).map_err(|error| Failure::invalid(format!("the source is not UTF-8: {error}")))
}

/// Reads options and pipeline; both may be null.
///
/// # Safety
/// As [`abi::read`], and so for what their pointers lead to.
pub(crate) unsafe fn options(
    from: *const gpucc_options,
    pipeline: *const gpucc_pipeline,
) -> Reply<Options> {
    let mut options = Options::default();
    // SAFETY: the caller's.
    options.pipeline = unsafe { state::pipeline(pipeline) }?;
    // SAFETY: the same.
    let Some(given) = (unsafe { abi::read_optional(from) })? else {
        return Ok(options);
    };
    let efforts = [Effort::default(), Effort::None, Effort::Some, Effort::Full, Effort::Max];
    options.effort = abi::choice(given.effort, &efforts, "gpucc_options.effort")?;
    let robust = [Robust::Restrict, Robust::Zero, Robust::Off];
    options.robust = abi::choice(given.robust, &robust, "gpucc_options.robust")?;
    let evidence = [
        None,
        Some(EvidenceClass::Proven),
        Some(EvidenceClass::Manual),
        Some(EvidenceClass::Assumption),
    ];
    options.evidence = abi::choice(given.evidence, &evidence, "gpucc_options.evidence")?;
    options.bound_loops = abi::truth(given.bound_loops, "gpucc_options.bound_loops")?;
    options.keep_workgroup = abi::truth(given.keep_workgroup, "gpucc_options.keep_workgroup")?;
    options.keep_steps = abi::truth(given.keep_steps, "gpucc_options.keep_steps")?;
    let has = abi::truth(given.has_overrides_default, "gpucc_options.has_overrides_default")?;
    options.overrides_default = has.then_some(given.overrides_default);
    let usual = Budget::default();
    let or = |value: u64, usual: u64| if value == 0 { usual } else { value };
    options.budget =
        Budget { memory: or(given.memory, usual.memory), steps: or(given.steps, usual.steps) };
    // SAFETY: the same.
    for value in unsafe { abi::read_all(given.overrides, given.override_count) }? {
        // SAFETY: the same.
        let name = unsafe { abi::text(value.name, "gpucc_override.name") }?;
        options.overrides.insert(name, value.value);
    }
    options.cancel = callback::cancel(given.cancel, given.cancel_user);
    Ok(options)
}
