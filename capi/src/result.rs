//! A result: what a compilation made, or why it made nothing.

use crate::abi::{Reply, gpucc_text};
use crate::compiler::gpucc_compiler;
use crate::entry::value;
use crate::handle::look;
use crate::outcome::{Arena, Fixed, Outcome, gpucc_outcome};
use crate::status::{gpucc_status, status};
use crate::typed::{self, gpucc_info};
use gpucc::report::{Report, Schema, Shader};
use gpucc::{
    Binary, Compiled, Compiler, Diagnostic, Failure, Key, Options, Program, Properties, SourceText,
    Stage, Stored,
};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a compilation made.
pub struct gpucc_result {
    outcome: Outcome,
    /// It points into the arena and into what was made.
    info: Option<Fixed<gpucc_info>>,
    _arena: Arena,
    made: Option<Arc<Made>>,
    /// A program of fixed function, which no shader is.
    is_kernel: bool,
    failure: Option<(Failure, SourceText, Compiler)>,
    json: OnceLock<String>,
    pipeline: OnceLock<String>,
    assembly: OnceLock<String>,
    blob: OnceLock<(Key, Vec<u8>)>,
    /// Of the request; none where the request has none, and of kernels.
    key: Option<Key>,
}

/// An entry point's code with all that made it.
#[derive(Clone)]
pub(crate) struct Made {
    pub compiler: Compiler,
    /// As they were given, without the caller's functions.
    pub options: Options,
    pub compiled: Compiled,
    pub source: SourceText,
    pub warnings: Vec<Diagnostic>,
    pub frontend: Duration,
    /// Of a result that was loaded: there is no SSA to find them in.
    pub properties: Option<Properties>,
}

/// A program whose SSA is gone, with its declarations in the SSA's place.
pub(crate) fn without_ssa(program: Program) -> Compiled {
    let ssa = program.expanded().declarations();
    let (entry, stage, notes) = (ssa.name.clone(), ssa.stage, program.notes());
    Compiled {
        binary: Binary { entry, stage, notes, program: Some(program) },
        ssa,
        dumps: Vec::new(),
        steps: Vec::new(),
        times: Vec::new(),
        compile_time: Duration::ZERO,
        ssa_is_bare: true,
    }
}

impl Made {
    /// Its part of the report.
    pub(crate) fn shader(&self) -> Shader {
        gpucc::shader_report(&self.compiled, &self.source, self.frontend)
    }
}

impl gpucc_result {
    /// The result of a compilation that ended well.
    pub(crate) fn new(made: Made, compiler: &gpucc_compiler) -> gpucc_result {
        let made = Arc::new(made);
        let mut arena = Arena::default();
        let info = typed::info(&made, &mut arena);
        let mut told = made.warnings.clone();
        told.extend(made.compiled.notes.iter().cloned());
        let outcome = Outcome::new(None, &told, Some(&made.source), &compiler.log);
        gpucc_result {
            info: Some(Fixed(info)),
            _arena: arena,
            made: Some(made),
            ..gpucc_result::of(outcome)
        }
    }

    /// How a compilation ended that made nothing.
    fn of(outcome: Outcome) -> gpucc_result {
        gpucc_result {
            outcome,
            info: None,
            _arena: Arena::default(),
            made: None,
            is_kernel: false,
            failure: None,
            json: OnceLock::new(),
            pipeline: OnceLock::new(),
            assembly: OnceLock::new(),
            blob: OnceLock::new(),
            key: None,
        }
    }

    /// A program of fixed function around one of ours.
    pub(crate) fn kernel(
        beside: &Made,
        program: Program,
        compiler: &gpucc_compiler,
    ) -> gpucc_result {
        let made = Made {
            compiler: beside.compiler.clone(),
            options: beside.options.clone(),
            compiled: without_ssa(program),
            source: SourceText::new("fixed function", None),
            warnings: Vec::new(),
            frontend: Duration::ZERO,
            properties: None,
        };
        gpucc_result { is_kernel: true, ..gpucc_result::new(made, compiler) }
    }

    /// The result of a compilation that failed.
    pub(crate) fn failed(
        failure: Failure,
        source: &SourceText,
        compiler: &gpucc_compiler,
    ) -> gpucc_result {
        let outcome = Outcome::new(Some(&failure), &[], Some(source), &compiler.log);
        gpucc_result {
            failure: Some((failure, source.clone(), compiler.compiler.clone())),
            ..gpucc_result::of(outcome)
        }
    }

    /// The result of a request with this key.
    pub(crate) fn under(self, key: Option<Key>) -> gpucc_result {
        gpucc_result { key, ..self }
    }

    /// The key of its request.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn key(&self) -> Reply<Key> {
        match self.key {
            Some(key) => Ok(key),
            None if self.is_kernel => self.shader().map(|_| Key([0; 32])),
            None => Err(Failure::usage("the result has no key, for its request has none")),
        }
    }

    /// How it ended.
    pub(crate) fn status(&self) -> gpucc_status {
        status(self.failure.as_ref().map(|(failure, ..)| failure))
    }

    /// What was made, of an entry point of a stage.
    ///
    /// # Errors
    /// The compilation failed, or it was of another stage.
    pub(crate) fn made(&self, stage: Stage) -> Reply<&Arc<Made>> {
        let made = self.shader()?;
        if made.compiled.stage != stage {
            let (is, wanted) = (made.compiled.stage.name(), stage.name());
            return Err(Failure::usage(format!(
                "the result is of the {is}, not the {wanted} stage"
            )));
        }
        Ok(made)
    }

    /// What was made of a shader.
    ///
    /// # Errors
    /// The compilation failed, or was of no shader.
    pub(crate) fn shader(&self) -> Reply<&Arc<Made>> {
        match &self.made {
            Some(made) if !self.is_kernel => Ok(made),
            Some(_) => Err(Failure::usage("the result is a program of fixed function")),
            None => Err(without_code()),
        }
    }

    /// The blob under a key. It is made once, so the key of later calls must be the same.
    pub(crate) fn blob(&self, key: Key) -> Reply<&[u8]> {
        let made = self.shader()?;
        if made.properties.is_some() {
            return Err(Failure::usage("the result was loaded: keep the blob that it came from"));
        }
        if self.blob.get().is_none() {
            let stored = Stored::of(&made.warnings, std::slice::from_ref(&made.compiled));
            let blob = stored.to_blob(&key)?;
            // Another thread may have been faster.
            self.blob.get_or_init(|| (key, blob));
        }
        match self.blob.get() {
            Some((own, blob)) if *own == key => Ok(blob),
            _ => Err(Failure::usage("the blob of this result has another key already")),
        }
    }

    fn report(&self) -> Reply<Report> {
        let made = self.made.as_ref();
        let failed = self.failure.as_ref();
        let compiler = made.map(|made| &made.compiler).or(failed.map(|(.., compiler)| compiler));
        let source = made.map(|made| &made.source).or(failed.map(|(_, source, _)| source));
        let messages = |all: &[Diagnostic]| {
            all.iter().map(|message| gpucc::message(message, source)).collect::<Vec<_>>()
        };
        let mut warnings = made.map_or_else(Vec::new, |made| messages(&made.warnings));
        warnings.extend(made.iter().flat_map(|made| messages(&made.compiled.notes)));
        let mut shaders = Vec::new();
        if let Some(made) = made {
            let mut shader = made.shader();
            let properties = made.properties.clone();
            shader.properties =
                Some(properties.unwrap_or_else(|| Properties::of(&made.compiled.ssa)));
            shader.flow = made.compiled.program.as_ref().map_or(Ok(Vec::new()), Program::flow)?;
            shaders.push(shader);
        }
        Ok(Report {
            schema: Schema::CURRENT,
            producer: gpucc::PRODUCER.into(),
            target: compiler.map_or("", |compiler| compiler.target().name()).into(),
            chip: compiler.and_then(Compiler::chip).map(Into::into),
            shaders,
            warnings,
            errors: failed.map_or_else(Vec::new, |(failure, ..)| messages(&failure.diagnostics)),
        })
    }
}

fn without_code() -> Failure {
    Failure::usage("the result is one of a compilation that failed")
}

/// A text of a result that is made when it is first asked for.
fn lazily(made: &OnceLock<String>, make: impl FnOnce() -> Reply<String>) -> Reply<gpucc_text> {
    let text = match made.get() {
        Some(text) => text,
        None => {
            let text = make()?.replace('\0', "\u{fffd}") + "\0";
            // Another thread may have been faster; its text is the same.
            made.get_or_init(|| text)
        }
    };
    Ok(gpucc_text { data: text.as_ptr().cast(), size: text.len().saturating_sub(1) })
}

/// How a compilation ended: status and diagnostics.
///
/// # Safety
/// The result is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_outcome(result: *const gpucc_result) -> *const gpucc_outcome {
    value(std::ptr::null(), || {
        // SAFETY: the caller's.
        let found = unsafe { look(result, "result") }?;
        Ok(std::ptr::from_ref(found.outcome.get()))
    })
}

/// Code, places and state; null where the compilation failed.
///
/// # Safety
/// The result is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_info(result: *const gpucc_result) -> *const gpucc_info {
    value(std::ptr::null(), || {
        // SAFETY: the caller's.
        let result = unsafe { look(result, "result") }?;
        result.info.as_ref().map(|info| std::ptr::from_ref(&info.0)).ok_or_else(without_code)
    })
}

/// The report of the command (`--emit json`): the same as the structures, and the diagnostics.
///
/// # Safety
/// The result is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_json(result: *const gpucc_result) -> gpucc_text {
    value(gpucc_text::NONE, || {
        // SAFETY: the caller's.
        let result = unsafe { look(result, "result") }?;
        lazily(&result.json, || {
            let text = serde_json::to_string_pretty(&result.report()?);
            text.map_err(|error| Failure::internal("the report", error))
        })
    })
}

/// The pipeline with what was inferred filled in, as JSON (docs/embedding.md).
///
/// # Safety
/// The result is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_pipeline_json(result: *const gpucc_result) -> gpucc_text {
    value(gpucc_text::NONE, || {
        // SAFETY: the caller's.
        let result = unsafe { look(result, "result") }?;
        let made = result.shader()?;
        lazily(&result.pipeline, || {
            let inferred = made.compiled.program.as_ref().map(Program::pipeline);
            Ok(inferred.as_ref().unwrap_or(&made.options.pipeline).to_json())
        })
    })
}

/// The code as text that assembles to the same bytes.
///
/// # Safety
/// The result is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_result_assembly(result: *const gpucc_result) -> gpucc_text {
    value(gpucc_text::NONE, || {
        // SAFETY: the caller's.
        let result = unsafe { look(result, "result") }?;
        let made = result.made.as_ref().ok_or_else(without_code)?;
        lazily(&result.assembly, || match &made.compiled.program {
            Some(program) => program.assembly(),
            None => Ok(gpucc::print_ir(&made.compiled.ssa)),
        })
    })
}
