//! naga in quarantine: text or words in, a valid naga module out, with the values of its overrides in a second step.

use crate::diagnostic::{Diagnostic, FailureKind};
use crate::growth::Tokens;
use crate::places::Places;
use crate::quarantine::{self, Escape};
use crate::rejected::rejected;
use crate::source::Language;
use crate::special::Kind;
use crate::stop::{READING, Stop};
use crate::{Options, Source};
use gpucc_ir::ssa::Span;
use naga::back::PipelineConstants;
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::front;
use naga::valid::{
    Capabilities, EntryPointError, FunctionInfo, ModuleInfo, ValidationError, ValidationFlags,
    Validator,
};
use naga::{AddressSpace, TypeInner};
use std::borrow::Cow;

/// A module that naga found valid. Its overrides have no values yet.
pub struct Unresolved {
    module: naga::Module,
    info: ModuleInfo,
    functions: Vec<naga::Handle<naga::Function>>,
    places: Places,
    language: Language,
    /// What naga read depends on values of overrides.
    is_bound: bool,
}

/// A module that naga found valid, with every override replaced by its value.
pub struct Valid<'a> {
    /// The module.
    pub module: Cow<'a, naga::Module>,
    /// What naga knows about its expressions.
    pub info: Cow<'a, ModuleInfo>,
    /// The entry points as functions, where naga's rules for interfaces are narrower than the language's.
    functions: &'a [naga::Handle<naga::Function>],
    /// From places in what naga read to the user's.
    pub places: &'a Places,
}

impl Unresolved {
    /// Whether its overrides may get values other than those that it was read with, and it has any.
    pub fn is_open(&self) -> bool {
        !self.is_bound && !self.module.overrides.is_empty()
    }

    /// In which language it is written.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The names of its entry points.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.module.entry_points.iter().map(|entry| entry.name.as_str())
    }

    /// The user's place of a place in the text that was prepared.
    pub fn original(&self, span: Span) -> Span {
        self.places.original(span)
    }

    /// Gives every override its value.
    ///
    /// # Errors
    /// A value for an override that is not there, one that is missing, and what is wrong with these values.
    pub fn resolve(&self, options: &Options) -> Result<Valid<'_>, Stop> {
        let shares_bindings = self.language != Language::Wgsl;
        let resolved =
            quarantine::catch(|| resolve(&self.module, &self.info, options, shares_bindings));
        let (module, info) = resolved
            .unwrap_or_else(|escape| Err(escaped(escape)))
            .map_err(|stop| stop.mended(&self.places))?;
        Ok(Valid { module, info, functions: &self.functions, places: &self.places })
    }
}

impl Valid<'_> {
    /// What naga knows about an entry point.
    pub fn entry_info(&self, index: usize) -> &FunctionInfo {
        match self.functions.get(index) {
            Some(function) => &self.info[*function],
            None => self.info.get_entry_point(index),
        }
    }
}

/// naga's span in our form.
pub fn span(span: naga::Span) -> Span {
    span.to_range()
        .map_or(Span::NONE, |range| Span { start: range.start as u32, end: range.end as u32 })
}

/// Reads and validates. `text` is the source without byte-order mark and macros, `prepared` the
/// way back from it to the user's.
pub fn read(
    source: Source<'_>,
    text: &str,
    prepared: Places,
    options: &Options,
) -> Result<Unresolved, Stop> {
    match quarantine::catch(|| read_unguarded(source, text, prepared, options)) {
        Ok(result) => result,
        Err(escape) => Err(escaped(escape)),
    }
}

/// A caught panic of naga is honest: valid as far as we know, and not readable yet.
pub fn escaped(escape: Escape) -> Stop {
    match escape {
        Escape::Panic(message) => {
            let first = message.lines().next().unwrap_or_default().to_owned();
            Stop::unsupported("this source makes naga panic", READING).with_note(first)
        }
        Escape::NoThread(message) => Stop::internal(format!("no thread for the reader: {message}")),
    }
}

fn read_unguarded(
    source: Source<'_>,
    text: &str,
    prepared: Places,
    options: &Options,
) -> Result<Unresolved, Stop> {
    let mut places = Places::default();
    let result = read_module(source, text, options, &mut places);
    places.after(prepared);
    let mut module = result.map_err(|stop| stop.mended(&places))?;
    module.places = places;
    Ok(module)
}

/// What is bound to a buffer in SPIR-V is a block: an array of them is one binding for each element, where
/// naga's reader makes one buffer of it.
fn arrays_of_blocks(module: &mut naga::Module) {
    for (_, variable) in module.global_variables.iter_mut() {
        let buffer = matches!(variable.space, AddressSpace::Uniform | AddressSpace::Storage { .. });
        if let TypeInner::Array { base, size, .. } = module.types[variable.ty].inner
            && buffer
            && variable.binding.is_some()
        {
            let inner = TypeInner::BindingArray { base, size };
            let ty = naga::Type { name: None, inner };
            variable.ty = module.types.insert(ty, naga::Span::UNDEFINED);
        }
    }
}

fn read_module(
    source: Source<'_>,
    text: &str,
    options: &Options,
    places: &mut Places,
) -> Result<Unresolved, Stop> {
    let mut is_bound = false;
    let mut module = match source {
        Source::Wgsl(_) => wgsl(text, options, places, &mut is_bound)?,
        Source::Glsl { .. } => return Err(Stop::internal("naga does not read GLSL here")),
        Source::SpirV(bytes) => spirv(bytes)?,
    };
    let language = match source {
        Source::Wgsl(_) => Language::Wgsl,
        Source::Glsl { .. } => Language::Glsl,
        Source::SpirV(_) => Language::SpirV,
    };
    crate::growth::module(&module)?;
    if language != Language::Wgsl {
        arrays_of_blocks(&mut module);
    }
    let mut flags = ValidationFlags::all();
    if language != Language::Wgsl {
        // Vulkan lets a texture and a sampler share a binding, and derivatives stand in divergent
        // control flow, where their value is undefined but the program is not wrong.
        flags.remove(ValidationFlags::BINDINGS);
        flags.remove(ValidationFlags::CONTROL_FLOW_UNIFORMITY);
    }
    let validate = |module: &naga::Module| {
        Validator::new(flags, Capabilities::all()).validate(module).map_err(Box::new)
    };
    let (info, functions) = match validate(&module) {
        Ok(info) => (info, Vec::new()),
        Err(error) => {
            let freeing = language != Language::Wgsl && is_about_interface(&error, &module);
            let freed = freeing.then(|| as_functions(&module));
            match freed.map(|(freed, functions)| (validate(&freed), functions)) {
                Some((Ok(info), functions)) => (info, functions),
                _ => {
                    let stop = rejected(&error, &module, language);
                    // The place is one in the text before it was rewritten.
                    let same = places.is_same();
                    let place = same.then(|| declared_at(text, error.as_inner()));
                    return Err(stop.at(place.unwrap_or(Span::NONE)));
                }
            }
        }
    };
    let unresolved = !functions.is_empty() && !module.overrides.is_empty();
    if unresolved {
        let feature = "specialization constants beside inputs or outputs of this type";
        return Err(Stop::unsupported(feature, READING));
    }
    let places = Places::default();
    Ok(Unresolved { module, info, functions, places, language, is_bound })
}

/// True for what naga asks of inputs and outputs, in modules of which it asks nothing else that moves
/// with them: [`as_functions`] gives up the checks of workgroup sizes too.
fn is_about_interface(error: &naga::WithSpan<ValidationError>, module: &naga::Module) -> bool {
    use EntryPointError as E;
    let about = matches!(
        error.as_inner(),
        ValidationError::EntryPoint {
            source: E::Argument(..) | E::Result(_) | E::MissingVertexOutputPosition,
            ..
        }
    );
    about
        && module.entry_points.iter().all(|entry| {
            matches!(entry.stage, naga::ShaderStage::Vertex | naga::ShaderStage::Fragment)
        })
}

/// The module with its entry points as functions: naga then asks nothing of their interfaces, where
/// SPIR-V has matrices, arrays, and vertex programs without a position.
fn as_functions(module: &naga::Module) -> (naga::Module, Vec<naga::Handle<naga::Function>>) {
    let mut freed = module.clone();
    let entries = std::mem::take(&mut freed.entry_points);
    let functions = entries
        .into_iter()
        .map(|entry| {
            let mut function = entry.function;
            for argument in &mut function.arguments {
                argument.binding = None;
            }
            if let Some(result) = &mut function.result {
                result.binding = None;
            }
            freed.functions.append(function, naga::Span::UNDEFINED)
        })
        .collect();
    (freed, functions)
}

#[cfg(feature = "wgsl")]
fn wgsl(
    text: &str,
    options: &Options,
    places: &mut Places,
    is_bound: &mut bool,
) -> Result<naga::Module, Stop> {
    let blanked = crate::wgsl::blank_directives(text);
    let mut text = blanked.as_deref().unwrap_or(text);
    crate::growth::wgsl(text)?;
    let corrected = crate::wgsl::correct(text, options)?;
    *is_bound = corrected.is_bound;
    if let Some((corrected, moved)) = &corrected.text {
        (text, *places) = (corrected, moved.clone());
    }
    let parsed = front::wgsl::parse_str(text).map(|mut module| {
        crate::wgsl::end_endless_functions(&mut module);
        module
    });
    parsed.map_err(|error| {
        let undeclared = undeclared(error.message());
        let message = match undeclared {
            Some(name) => format!("`{name}` is not declared"),
            None => in_users_words(error.message()),
        };
        let mut diagnostic = Diagnostic::error("wgsl", message);
        for (place, label) in error.labels() {
            let label = if matches!(label, "see msg" | "unknown identifier") { "" } else { label };
            diagnostic = diagnostic.at(span(place), in_users_words(label));
        }
        for note in error.notes() {
            diagnostic = diagnostic.with_note(note);
        }
        if let Some(meant) = undeclared.and_then(|name| crate::wgsl::meant(name, text)) {
            diagnostic = diagnostic.with_note(format!("did you mean `{meant}`?"));
        }
        let diagnostic = crate::wgsl::explained(diagnostic, text);
        if crate::rejected::is_too_large(error.message()) {
            Stop::too_large(diagnostic)
        } else if crate::wgsl::is_beyond_naga(error.message()) {
            unsupported_with(error.message(), diagnostic)
        } else {
            Stop::new(FailureKind::Invalid, diagnostic)
        }
    })
}

#[cfg(not(feature = "wgsl"))]
fn wgsl(_: &str, _: &Options, _: &mut Places, _: &mut bool) -> Result<naga::Module, Stop> {
    Err(Stop::internal("naga does not read WGSL here"))
}

/// The name that naga finds no declaration of.
fn undeclared(message: &str) -> Option<&str> {
    message.strip_prefix("no definition in scope for identifier: `")?.strip_suffix('`')
}

/// naga writes the types of literals in braces and the end of the text as an empty token.
fn in_users_words(text: &str) -> String {
    text.replace("{AbstractFloat}", "AbstractFloat")
        .replace("{AbstractInt}", "AbstractInt")
        .replace("found \"\"", "found the end of the text")
}

/// naga's own reading of SPIR-V, to compare ours with.
#[cfg(feature = "wgsl")]
fn spirv(bytes: &[u8]) -> Result<naga::Module, Stop> {
    let options = front::spv::Options {
        adjust_coordinate_space: false,
        strict_capabilities: false,
        block_ctx_dump_prefix: None,
    };
    let parsed = front::spv::parse_u8_slice(bytes, &options);
    parsed.map_err(|error| Stop::unsupported(error.to_string(), READING))
}

#[cfg(not(feature = "wgsl"))]
fn spirv(_: &[u8]) -> Result<naga::Module, Stop> {
    Err(Stop::internal("naga does not read SPIR-V here"))
}

pub fn unsupported_with(feature: &str, mut diagnostic: Diagnostic) -> Stop {
    diagnostic.message = format!("not supported by gpucc yet: {feature} ({READING})");
    diagnostic.code = "unsupported".to_owned();
    let kind =
        FailureKind::Unsupported { feature: feature.to_owned(), stage: READING, needs: None };
    Stop::new(kind, diagnostic)
}

/// Gives every override its value.
fn resolve<'a>(
    read: &'a naga::Module,
    info: &'a ModuleInfo,
    options: &Options,
    shares_bindings: bool,
) -> Result<(Cow<'a, naga::Module>, Cow<'a, ModuleInfo>), Stop> {
    if read.overrides.is_empty() && options.overrides.is_empty() {
        return Ok((Cow::Borrowed(read), Cow::Borrowed(info)));
    }
    // naga validates again with all of its flags, and moves the variables: shared bindings are
    // numbered apart meanwhile.
    let mut bindings = Vec::new();
    let mut module = Cow::Borrowed(read);
    if shares_bindings {
        let module = module.to_mut();
        for (_, variable) in module.global_variables.iter_mut() {
            if let Some(binding) = &mut variable.binding {
                let number = bindings.len() as u32;
                let apart = naga::ResourceBinding { group: 0, binding: number };
                bindings.push(std::mem::replace(binding, apart));
            }
        }
    }
    let mut values = PipelineConstants::default();
    for (name, value) in &options.overrides {
        let found = module.overrides.iter().find(|(_, item)| {
            item.name.as_deref() == Some(name.as_str())
                || item.id.is_some_and(|id| id.to_string() == *name)
        });
        let Some((handle, item, key)) = found.and_then(|(at, item)| Some((at, item, key(item)?)))
        else {
            let names: Vec<String> = module
                .overrides
                .iter()
                .filter_map(|(_, item)| item.name.clone().or_else(|| key(item)))
                .collect();
            let known = if names.is_empty() {
                "the shader has no overrides".to_owned()
            } else {
                format!("the shader's overrides are: {}", names.join(", "))
            };
            let message = format!("no override is named or numbered `{name}`");
            return Err(Stop::invalid(message).with_note(known));
        };
        fits(&module, handle, item, *value)?;
        values.insert(key, *value);
    }
    for (_, item) in module.overrides.iter() {
        if let (Some(value), None, Some(key)) = (options.overrides_default, item.init, key(item)) {
            values.entry(key).or_insert(value);
        }
    }
    let entry = options.entry.as_ref().and_then(|name| {
        module
            .entry_points
            .iter()
            .find(|entry| entry.name == *name && crate::stage_matches(entry.stage, options.stage))
            .map(|entry| (entry.stage, entry.name.as_str()))
    });
    match process_overrides(&module, info, entry, &values) {
        Ok((resolved, resolved_info)) => {
            let mut resolved = resolved.into_owned();
            for (_, variable) in resolved.global_variables.iter_mut() {
                if let Some(binding) = &mut variable.binding
                    && let Some(original) = bindings.get(binding.binding as usize)
                {
                    *binding = *original;
                }
            }
            Ok((Cow::Owned(resolved), Cow::Owned(resolved_info.into_owned())))
        }
        Err(error) => Err(bad_override(&module, &values, error)),
    }
}

/// Whether an override may have a value: numbers are finite, and in the range of the type behind their truncation. WebGPU
/// 10.3.1, Web IDL 3.2.
fn fits(
    module: &naga::Module,
    handle: naga::Handle<naga::Override>,
    item: &naga::Override,
    value: f64,
) -> Result<(), Stop> {
    use naga::Scalar as S;
    let TypeInner::Scalar(scalar) = module.types[item.ty].inner else { return Ok(()) };
    let (ty, fits) = match scalar {
        S::I32 => ("an `i32`", (i32::MIN.into()..=i32::MAX.into()).contains(&value.trunc())),
        S::U32 => ("a `u32`", (0.0..=u32::MAX.into()).contains(&value.trunc())),
        S::F32 => ("an `f32`", Kind::Float(32).admits(value)),
        S::F16 => ("an `f16`", Kind::Float(16).admits(value)),
        _ => return Ok(()),
    };
    if fits {
        return Ok(());
    }
    let name = item.name.clone().or(item.id.map(|id| id.to_string())).unwrap_or_default();
    let message = format!("the override `{name}` is {ty}, and cannot be {value}");
    Err(Stop::invalid(message).at(span(module.overrides.get_span(handle))))
}

/// Where a size of a workgroup stands that is an override without a positive value.
fn decided_size(module: &naga::Module, values: &PipelineConstants) -> Span {
    let value =
        |item: &naga::Override| match (key(item).and_then(|key| values.get(&key)), item.init) {
            (Some(value), _) => Some(value.trunc()),
            (None, Some(init)) => match module.global_expressions[init] {
                naga::Expression::Literal(naga::Literal::U32(value)) => Some(value.into()),
                naga::Expression::Literal(naga::Literal::I32(value)) => Some(value.into()),
                _ => None,
            },
            (None, None) => None,
        };
    let sizes = module.entry_points.iter().filter_map(|entry| entry.workgroup_size_overrides);
    let empty = sizes.flat_map(|sizes| sizes.into_iter().flatten()).find(|&size| {
        let naga::Expression::Override(handle) = module.global_expressions[size] else {
            return false;
        };
        value(&module.overrides[handle]).is_some_and(|value| value <= 0.0)
    });
    empty.map_or(Span::NONE, |size| span(module.global_expressions.get_span(size)))
}

/// What an override is named by.
fn key(item: &naga::Override) -> Option<String> {
    item.id.map(|id| id.to_string()).or_else(|| item.name.clone())
}

/// Where what is refused is declared, for what naga gives no place: the name of the function, or the attribute that gives the
/// workgroup its size.
fn declared_at(text: &str, error: &ValidationError) -> Span {
    let (name, is_size) = match error {
        ValidationError::EntryPoint { source, name, .. } => {
            (name, matches!(source, EntryPointError::OutOfRangeWorkgroupSize))
        }
        ValidationError::Function { name, .. } => (name, false),
        _ => return Span::NONE,
    };
    let tokens = Tokens::new(text);
    let declares = |at: &usize| {
        tokens.word(*at) == name && tokens.word(at - 1) == "fn" && tokens.word(at + 1) == "("
    };
    let Some(at) = (1..tokens.len()).find(declares) else { return Span::NONE };
    let sized =
        |start: &usize| tokens.word(*start) == "@" && tokens.word(start + 1) == "workgroup_size";
    let size = (0..at).rev().find(sized).filter(|_| is_size);
    let end = size.and_then(|size| (size..at).find(|&end| tokens.word(end) == ")"));
    let (first, last) = (size.unwrap_or(at), end.unwrap_or(at));
    let end = tokens.start(last) + tokens.word(last).len() as u32;
    Span { start: tokens.start(first), end }
}

fn bad_override(
    module: &naga::Module,
    values: &PipelineConstants,
    error: PipelineConstantError,
) -> Stop {
    let place = |key: &str| {
        let mut items = module.overrides.iter();
        let item = items.find(|(_, item)| {
            item.name.as_deref() == Some(key) || item.id.is_some_and(|id| id.to_string() == key)
        });
        item.map_or((key.to_owned(), Span::NONE), |(handle, item)| {
            let name = item.name.clone().unwrap_or_else(|| key.to_owned());
            (name, span(module.overrides.get_span(handle)))
        })
    };
    match error {
        PipelineConstantError::MissingValue(key) => {
            let (name, span) = place(&key);
            Stop::invalid(format!("the override `{name}` has no value"))
                .at(span)
                .with_note(format!(
                    "give one with `--override {name}=VALUE`, or one to all with `--overrides-default N`"
                ))
        }
        PipelineConstantError::ValidationError(error) => rejected(&error, module, Language::Wgsl),
        PipelineConstantError::NegativeWorkgroupSize => {
            Stop::invalid("a size of a workgroup is at least 1").at(decided_size(module, values))
        }
        error if crate::wgsl::is_beyond_naga(&error.to_string()) => {
            Stop::unsupported(error.to_string(), READING)
        }
        error => Stop::invalid(format!("overrides: {error}")),
    }
}
