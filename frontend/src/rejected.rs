//! What naga's validator refuses, in the words of the user's language: naga names expressions by numbers and types by
//! its own structures.

mod stage;

use crate::diagnostic::{Diagnostic, FailureKind};
use crate::lower::entry::workgroup_size;
use crate::read::{span, unsupported_with};
use crate::source::Language;
use crate::stop::Stop;
use crate::wgsl::counted;
use naga::back::binary_operation_str;
use naga::common::wgsl::TryToWgsl;
use naga::common::wgsl::TypeContext;
use naga::proc::{ResolveContext, TypeResolution};
use naga::valid::{
    CallError, ComposeError, Disalignment, EntryPointError, ExpressionError, FunctionError,
    GlobalVariableError, TypeFlags, ValidationError, VaryingError,
};
use naga::{
    AddressSpace, Block, Expression, Function, GlobalVariable, Handle, ImageClass, Module,
    ResourceBinding, ShaderStage, Statement, SwitchValue, TypeInner, UnaryOperator,
};
use std::error::Error;

/// The reason, and what holds it as notes. Of WGSL it is the user's error. naga's rules for its own form say little about
/// GLSL and SPIR-V, of which it often makes what it then refuses; such sources are valid as far as we know.
pub fn rejected(
    error: &naga::WithSpan<ValidationError>,
    module: &Module,
    language: Language,
) -> Stop {
    let inner = error.as_inner();
    let function = in_function(inner, module);
    let entry = entry_of(inner, module);
    let variable = of_variable(inner, module);
    let forbidden = match (inner, entry) {
        (
            ValidationError::EntryPoint { stage, .. },
            Some((EntryPointError::ForbiddenStageOperations, function)),
        ) => stage::forbidden(module, function, *stage),
        _ => None,
    };
    let own = match (function, entry) {
        (Some((error, function)), _) => Speller { module, function }.spell(error),
        (None, Some(_)) if let Some(forbidden) = &forbidden => Some(forbidden.message.clone()),
        (None, Some((EntryPointError::OutOfRangeWorkgroupSize, function))) => {
            let mut entries = module.entry_points.iter();
            let own = entries.find(|entry| std::ptr::eq(&entry.function, function));
            let is_empty = own.is_some_and(|entry| entry.workgroup_size.contains(&0));
            is_empty.then(|| "a size of a workgroup is at least 1".to_owned())
        }
        (None, Some((error, _))) => of_interface(error, module),
        (None, None) => variable.as_ref().map(|(message, _)| message.clone()),
    };
    // The innermost reason says most; the outer ones say where.
    let mut reasons: Vec<&(dyn Error + 'static)> = vec![inner];
    let mut next = inner.source();
    while let Some(reason) = next {
        reasons.push(reason);
        next = reason.source();
    }
    let innermost = reasons.pop();
    let spelled = own.is_some();
    let message = own.unwrap_or_else(|| {
        without_numbers(&innermost.map(ToString::to_string).unwrap_or_default())
    });
    let mut diagnostic = Diagnostic::error("validation", message);
    if let Some((error, function)) = function
        && let Some(place) = place_in(error, function)
    {
        diagnostic = diagnostic.at(span(place), "");
    }
    if let Some(forbidden) = &forbidden {
        diagnostic = diagnostic.at(span(forbidden.span), "");
        if !forbidden.remedy.is_empty() {
            diagnostic = diagnostic.with_note(forbidden.remedy);
        }
    }
    for (place, label) in error.spans() {
        let label = if spelled { "" } else { without_handle(label) };
        if diagnostic.labels.first().is_none_or(|label| label.span != span(*place)) {
            diagnostic = diagnostic.at(span(*place), label);
        }
    }
    if let (true, Some((error, function))) = (diagnostic.labels.is_empty(), entry)
        && let Some(place) = place_of(error, function)
    {
        diagnostic = diagnostic.at(span(place), "");
    }
    if let Some((EntryPointError::BindingCollision(second), _)) = entry
        && let Some((first, _)) = same_binding(*second, module)
    {
        let first = span(module.global_variables.get_span(first));
        diagnostic = diagnostic.at(first, "the first one");
    }
    if let Some((FunctionError::InvalidStorePointer(pointer), function)) = function
        && let Some((name, space)) = variable_of(module, function, *pointer)
    {
        let remedy = match space {
            AddressSpace::Storage { .. } => "declare it `var<storage, read_write>`",
            AddressSpace::Uniform => "what is written stands in `var<storage, read_write>`",
            _ => "what is written stands in a `var`",
        };
        diagnostic = diagnostic.with_note(format!("`{name}` can only be read: {remedy}"));
    }
    if let Some((_, remedy)) = variable {
        diagnostic = diagnostic.with_note(remedy);
        // The rest is how naga comes to it.
        reasons.clear();
    }
    if let Some((FunctionError::Expression { source, .. }, _)) = function
        && let Some(remedy) = remedy(source)
    {
        diagnostic = diagnostic.with_note(remedy);
    }
    if let Some((FunctionError::InvalidCall { .. }, _)) = function {
        // The label is on it.
        reasons.retain(|reason| !reason.is::<FunctionError>());
    }
    for reason in reasons.into_iter().rev() {
        let text = match reason.downcast_ref() {
            Some(ValidationError::EntryPoint { stage, name, .. }) => {
                format!("in the {} entry point `{name}`", stage_name(*stage))
            }
            Some(ValidationError::Function { name, .. }) => format!("in the function `{name}`"),
            _ if let Some(EntryPointError::Argument(number, _)) = reason.downcast_ref() => {
                let arguments = entry.map(|(_, function)| &function.arguments);
                match arguments.and_then(|list| list.get(*number as usize)?.name.as_deref()) {
                    Some(name) => format!("in the parameter `{name}`"),
                    None => format!("in parameter {}", number + 1),
                }
            }
            _ => match without_numbers(&reason.to_string()).as_str() {
                // The label is on it.
                "Expression is invalid" => continue,
                text => format!("in: {text}"),
            },
        };
        diagnostic = diagnostic.with_note(text);
    }
    let feature = match function {
        Some((FunctionError::InvalidArgumentPointerSpace { .. }, _)) => {
            Some("pointers to module variables as function parameters")
        }
        Some((FunctionError::ExpressionAlreadyInScope(_), _)) => {
            Some("this control flow of the reader's making")
        }
        _ => None,
    };
    let reason = diagnostic.message.clone();
    if reason == "Workgroup size is out of range" {
        let workgroups = module.entry_points.iter().map(|entry| entry.workgroup_size);
        let mut sizes = workgroups.filter(|size| !size.contains(&0));
        let most = |size: [u32; 3]| size.into_iter().max().unwrap_or(0);
        if let Some(stop) = sizes.clone().find_map(|size| workgroup_size(size).err()) {
            return stop;
        }
        if let Some(size) = sizes.find(|&size| most(size) > MOST_ACROSS) {
            let hint = "use smaller workgroups, and more of them";
            let (needed, available) = (most(size).into(), MOST_ACROSS.into());
            return Stop::limit("invocations of a workgroup across", needed, available, hint);
        }
    }
    if is_too_large(&reason) {
        return Stop::too_large(diagnostic);
    }
    match feature {
        Some(feature) => unsupported_with(feature, diagnostic),
        None if language != Language::Wgsl => unsupported_with(&reason, diagnostic),
        None => Stop::new(FailureKind::Invalid, diagnostic),
    }
}

/// What naga takes of one size of a workgroup.
const MOST_ACROSS: u32 = 0x4000;

/// naga's words for a type beyond its limit of 2 GiB, which no language has.
pub fn is_too_large(message: &str) -> bool {
    message.contains("Size exceeds limit of")
        || matches!(message, "type is too large" | "struct member is too large")
}

/// The function whose body is refused, and why.
fn in_function<'e, 'm>(
    error: &'e ValidationError,
    module: &'m Module,
) -> Option<(&'e FunctionError, &'m Function)> {
    match error {
        ValidationError::Function { handle, source, .. } => {
            Some((source, module.functions.try_get(*handle).ok()?))
        }
        ValidationError::EntryPoint { source: EntryPointError::Function(source), name, stage } => {
            let mut entries = module.entry_points.iter();
            let entry = entries.find(|entry| entry.name == *name && entry.stage == *stage)?;
            Some((source, &entry.function))
        }
        _ => None,
    }
}

/// The entry point of which something other than its body is refused, and what.
fn entry_of<'e, 'm>(
    error: &'e ValidationError,
    module: &'m Module,
) -> Option<(&'e EntryPointError, &'m Function)> {
    let ValidationError::EntryPoint { source, name, stage } = error else {
        return None;
    };
    let mut entries = module.entry_points.iter();
    let entry = entries.find(|entry| entry.name == *name && entry.stage == *stage)?;
    Some((source, &entry.function))
}

/// What naga says of a variable by its number, by its name.
fn of_interface(error: &EntryPointError, module: &Module) -> Option<String> {
    let name = |global: &Handle<GlobalVariable>| {
        let variable = module.global_variables.try_get(*global).ok()?;
        variable.name.as_deref()
    };
    Some(match error {
        EntryPointError::BindingCollision(second) => {
            let (first, binding) = same_binding(*second, module)?;
            let (first, second) = (name(&first)?, name(second)?);
            let (group, binding) = (binding.group, binding.binding);
            format!("`{first}` and `{second}` both have `@group({group}) @binding({binding})`")
        }
        EntryPointError::Argument(_, error) | EntryPointError::Result(error) => {
            return of_varying(error);
        }
        EntryPointError::MissingVertexOutputPosition => {
            "a vertex entry point returns `@builtin(position)`".to_owned()
        }
        EntryPointError::InvalidGlobalUsage(global, wanted) => format!(
            "`{}` is declared so that it cannot be used in this way ({wanted:?})",
            name(global)?
        ),
        _ => return None,
    })
}

/// What is wrong with an input or output, by the names of the language.
fn of_varying(error: &VaryingError) -> Option<String> {
    Some(match error {
        VaryingError::MissingBinding => "this has neither `@location` nor `@builtin`".to_owned(),
        VaryingError::BindingCollision { location } => {
            format!("`@location({location})` is given twice")
        }
        VaryingError::InvalidBuiltInStage(builtin) => {
            format!("this stage has no `{}` here", builtin.try_to_wgsl()?)
        }
        VaryingError::DuplicateBuiltIn(builtin) => {
            format!("`{}` is given twice", builtin.try_to_wgsl()?)
        }
        VaryingError::InvalidBuiltInType(builtin, _) => {
            format!("`{}` is of another type", builtin.try_to_wgsl()?)
        }
        VaryingError::InvalidInterpolationForInteger => {
            "integers between stages need `@interpolate(flat)`".to_owned()
        }
        _ => return None,
    })
}

/// What is wrong with a variable of the module, and what to do about it.
fn of_variable(error: &ValidationError, module: &Module) -> Option<(String, &'static str)> {
    let ValidationError::GlobalVariable { source, handle, name } = error else {
        return None;
    };
    let variable = module.global_variables.try_get(*handle).ok()?;
    let space = match variable.space {
        AddressSpace::Uniform => "uniform",
        AddressSpace::Storage { .. } => "storage",
        AddressSpace::WorkGroup => "workgroup",
        AddressSpace::Private => "private",
        _ => "",
    };
    let ty = || module.to_ctx().type_to_string(variable.ty);
    Some(match source {
        GlobalVariableError::InvalidBinding if variable.binding.is_none() => (
            format!("`{name}` has neither `@group` nor `@binding`"),
            "a resource has both, as in `@group(0) @binding(1) var<uniform> ...`",
        ),
        GlobalVariableError::InvalidBinding => (
            format!("`{name}` is no resource, and takes neither `@group` nor `@binding`"),
            "resources are textures, samplers, `var<uniform>` and `var<storage>`",
        ),
        GlobalVariableError::MissingTypeFlags { required, seen } => {
            let missing = *required - *seen;
            if missing.contains(TypeFlags::SIZED) {
                let message = format!("`{}` has no fixed size, and `var<{space}>` needs one", ty());
                (message, "give the array a length, or use `var<storage>`")
            } else if missing.contains(TypeFlags::HOST_SHAREABLE) {
                return Some(unshareable(name));
            } else {
                return None;
            }
        }
        GlobalVariableError::Alignment(AddressSpace::Uniform, _, disalignment) => {
            return misaligned(disalignment, name);
        }
        GlobalVariableError::Alignment(_, _, Disalignment::NonHostShareable) => unshareable(name),
        _ => return None,
    })
}

fn unshareable(name: &str) -> (String, &'static str) {
    let message = format!("`{name}` has a type that a buffer cannot hold, such as `bool`");
    (message, "use `u32`, and compare it with 0")
}

/// How the layout of a variable breaks the rules of uniform buffers, and what to do about it.
fn misaligned(disalignment: &Disalignment, name: &str) -> Option<(String, &'static str)> {
    Some(match disalignment {
        Disalignment::ArrayStride { stride, alignment } => (
            format!(
                "elements of an array in a uniform buffer are {alignment} bytes apart, or a multiple, not {stride}"
            ),
            "use elements of 16 bytes, as `array<vec4f, N>`, or a storage buffer, `var<storage, read>`",
        ),
        Disalignment::MemberOffset { offset, alignment, .. } => (
            format!(
                "a structure or an array in a uniform buffer begins at a multiple of {alignment} bytes, not at {offset}"
            ),
            "write `@align(16)` before the member, or use a storage buffer, `var<storage, read>`",
        ),
        Disalignment::NonHostShareable => unshareable(name),
        _ => return None,
    })
}

/// What to do about an expression that is refused.
fn remedy(error: &ExpressionError) -> Option<&'static str> {
    let ExpressionError::ComparisonSamplingMismatch { image, sampler, has_ref } = error else {
        return None;
    };
    let is_depth = matches!(image, ImageClass::Depth { .. });
    Some(match (is_depth, sampler, has_ref) {
        (false, _, true) => "declare the texture as `texture_depth_2d` or another depth texture",
        (_, false, true) => "declare the sampler as `sampler_comparison`",
        _ => "declare the sampler as `sampler`, or use `textureSampleCompare`",
    })
}

/// The place of a fault in a body where naga marks another.
fn place_in(error: &FunctionError, function: &Function) -> Option<naga::Span> {
    let value = match error {
        FunctionError::InvalidReturnType { expression: Some(value), .. } => value,
        FunctionError::ConflictingSwitchCase(value) => return switch_with(&function.body, value),
        _ => return None,
    };
    // naga marks the value, which a parameter has where it is declared.
    let Expression::FunctionArgument(_) = function.expressions.try_get(*value).ok()? else {
        return None;
    };
    let mut statements = function.body.span_iter();
    let (_, place) = statements.find(|(statement, _)| {
        matches!(statement, Statement::Return { value: found } if *found == Some(*value))
    })?;
    place.is_defined().then_some(*place)
}

/// The first `switch` that has a case twice.
fn switch_with(block: &Block, value: &SwitchValue) -> Option<naga::Span> {
    block.span_iter().find_map(|(statement, place)| match statement {
        Statement::Switch { cases, .. } => {
            let twice = cases.iter().filter(|case| case.value == *value).count() > 1;
            let within = || cases.iter().find_map(|case| switch_with(&case.body, value));
            twice.then_some(*place).or_else(within)
        }
        Statement::Block(body) => switch_with(body, value),
        Statement::If { accept, reject, .. } => {
            switch_with(accept, value).or_else(|| switch_with(reject, value))
        }
        Statement::Loop { body, continuing, .. } => {
            switch_with(body, value).or_else(|| switch_with(continuing, value))
        }
        _ => None,
    })
}

/// The variable before this one that has its group and binding.
fn same_binding(
    second: Handle<GlobalVariable>,
    module: &Module,
) -> Option<(Handle<GlobalVariable>, ResourceBinding)> {
    let binding = module.global_variables.try_get(second).ok()?.binding?;
    let mut all = module.global_variables.iter();
    let (first, _) = all.find(|(one, data)| *one != second && data.binding == Some(binding))?;
    Some((first, binding))
}

/// naga gives no place for what is wrong with an interface: the parameter, or where the function returns.
fn place_of(error: &EntryPointError, function: &Function) -> Option<naga::Span> {
    let place = match error {
        EntryPointError::Argument(number, _) => function
            .expressions
            .iter()
            .find(|(_, expression)| matches!(expression, Expression::FunctionArgument(n) if n == number))
            .map(|(handle, _)| function.expressions.get_span(handle)),
        // The size stands before the function.
        EntryPointError::OutOfRangeWorkgroupSize => None,
        _ => function.body.span_iter().last().map(|(_, span)| *span),
    };
    place.filter(naga::Span::is_defined)
}

/// The variable of the module that a pointer leads into, with its memory.
fn variable_of<'m>(
    module: &'m Module,
    function: &Function,
    pointer: Handle<Expression>,
) -> Option<(&'m str, AddressSpace)> {
    let mut at = pointer;
    loop {
        match *function.expressions.try_get(at).ok()? {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => at = base,
            Expression::GlobalVariable(global) => {
                let variable = module.global_variables.try_get(global).ok()?;
                return Some((variable.name.as_deref()?, variable.space));
            }
            _ => return None,
        }
    }
}

struct Speller<'m> {
    module: &'m Module,
    function: &'m Function,
}

impl Speller<'_> {
    /// The commonest errors of types in our own words.
    fn spell(&self, error: &FunctionError) -> Option<String> {
        use ExpressionError as E;
        use FunctionError as F;
        let text = match error {
            F::Expression { handle, source } => match source {
                E::InvalidBinaryOperandTypes { op, lhs_type, rhs_type, .. } => {
                    let (a, b) = (self.inner(lhs_type), self.inner(rhs_type));
                    let op = binary_operation_str(*op);
                    format!("`{op}` does not work on `{a}` and `{b}`")
                }
                E::InvalidUnaryOperandType(op, operand) => {
                    let op = match op {
                        UnaryOperator::Negate => "-",
                        UnaryOperator::LogicalNot => "!",
                        UnaryOperator::BitwiseNot => "~",
                    };
                    format!("`{op}` does not work on {}", self.of(*operand))
                }
                E::IndexOutOfBounds(base, index) => {
                    format!("{} has no element {index}", self.behind(*base))
                }
                E::InvalidIndexType(index) => {
                    format!("an index is an integer, not {}", self.of(*index))
                }
                E::SelectValuesTypeMismatch { accept, reject } => {
                    let (a, b) = (self.inner(reject), self.inner(accept));
                    format!("`select` chooses between values of one type, not `{a}` and `{b}`")
                }
                E::SelectConditionNotABool { actual } => {
                    let condition = self.inner(actual);
                    format!("the condition of `select` is boolean, not `{condition}`")
                }
                E::ComparisonSamplingMismatch { image, sampler, has_ref } => {
                    match (image, sampler, has_ref) {
                        (ImageClass::Depth { .. }, true, false) => {
                            "a comparison sampler compares, and this asks for no comparison"
                        }
                        (ImageClass::Depth { .. }, ..) => "a comparison needs a comparison sampler",
                        _ => "a comparison needs a depth texture",
                    }
                    .to_owned()
                }
                E::Compose(error) => return self.composed(*handle, error),
                _ => return None,
            },
            F::InvalidCall { function, error } => return self.called(*function, error),
            F::InvalidReturnType { expression, expected_ty } => {
                let declared = expected_ty.map(|ty| self.module.to_ctx().type_to_string(ty));
                match (declared, expression) {
                    (Some(ty), None) => format!("the function ends without its result, `{ty}`"),
                    (Some(ty), Some(value)) => {
                        format!("the function returns `{ty}`, not {}", self.of(*value))
                    }
                    (None, _) => "the function returns nothing".to_owned(),
                }
            }
            F::InvalidIfType(condition) => {
                format!("the condition of `if` is boolean, not {}", self.of(*condition))
            }
            F::InvalidStorePointer(pointer) => {
                match variable_of(self.module, self.function, *pointer) {
                    Some((name, _)) => format!("`{name}` cannot be written"),
                    None => "this cannot be written".to_owned(),
                }
            }
            F::BreakOutsideOfLoopOrSwitch => {
                "`break` is only allowed in a loop or a `switch`".to_owned()
            }
            F::ConflictingSwitchCase(value) => {
                let value = match value {
                    SwitchValue::I32(value) => value.to_string(),
                    SwitchValue::U32(value) => format!("{value}u"),
                    SwitchValue::Default => "default".to_owned(),
                };
                format!("`{value}` is twice a case of this `switch`")
            }
            F::ContinueOutsideOfLoop => "`continue` is only allowed in a loop".to_owned(),
            F::InvalidSwitchType(value) => {
                format!("`switch` chooses by an integer, not by {}", self.of(*value))
            }
            F::InvalidStoreTypes { pointer, value } => {
                let (to, value) = (self.of(*pointer), self.of(*value));
                format!("{value} is not what {to} points to")
            }
            _ => return None,
        };
        Some(text)
    }

    /// A value whose parts do not make it.
    fn composed(&self, value: Handle<Expression>, error: &ComposeError) -> Option<String> {
        let of = self.of(value);
        Some(match error {
            ComposeError::ComponentCount { given, expected } => {
                format!("{of} takes {}, not {given}", counted(*expected, "component"))
            }
            ComposeError::ComponentType { index } => {
                let Expression::Compose { components, .. } =
                    self.function.expressions.try_get(value).ok()?
                else {
                    return None;
                };
                let part = self.of(*components.get(*index as usize)?);
                format!("component {} of {of} is {part}, which it does not take", index + 1)
            }
            ComposeError::Type(_) => return None,
        })
    }

    /// A call whose arguments are not the parameters of the function.
    fn called(&self, callee: Handle<Function>, error: &CallError) -> Option<String> {
        let callee = self.module.functions.try_get(callee).ok()?;
        let name = callee.name.as_deref()?;
        Some(match error {
            CallError::ArgumentCount { required, seen } => {
                format!("`{name}` takes {}, not {seen}", counted(*required, "argument"))
            }
            CallError::ArgumentType { index, required, seen_expression } => {
                let parameter = callee.arguments.get(*index)?.name.as_deref()?;
                let (ty, found) =
                    (self.module.to_ctx().type_to_string(*required), self.of(*seen_expression));
                format!("`{parameter}` of `{name}` is `{ty}`, and its argument is {found}")
            }
            _ => return None,
        })
    }

    fn inner(&self, inner: &TypeInner) -> String {
        let resolution = TypeResolution::Value(inner.clone());
        self.module.to_ctx().type_resolution_to_string(&resolution)
    }

    /// The type of an expression, of a pointer what it leads to.
    fn behind(&self, expression: Handle<Expression>) -> String {
        self.spelled(expression, |ty| match *ty.inner_with(&self.module.types) {
            TypeInner::Pointer { base, .. } => self.module.to_ctx().type_to_string(base),
            _ => self.module.to_ctx().type_resolution_to_string(ty),
        })
    }

    /// The type of an expression.
    fn of(&self, expression: Handle<Expression>) -> String {
        self.spelled(expression, |ty| self.module.to_ctx().type_resolution_to_string(ty))
    }

    /// What `spell` makes of the type of an expression.
    fn spelled(
        &self,
        expression: Handle<Expression>,
        spell: impl Fn(&TypeResolution) -> String,
    ) -> String {
        let Function { local_variables, arguments, expressions, .. } = self.function;
        let context = ResolveContext::with_locals(self.module, local_variables, arguments);
        let mut types = naga::front::Typifier::new();
        let known = expressions.try_get(expression).is_ok()
            && types.grow(expression, expressions, &context).is_ok();
        if known { format!("`{}`", spell(&types[expression])) } else { "this".to_owned() }
    }
}

const fn stage_name(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::Vertex => "vertex",
        ShaderStage::Fragment => "fragment",
        ShaderStage::Compute => "compute",
        ShaderStage::Task => "task",
        ShaderStage::Mesh => "mesh",
        ShaderStage::RayGeneration => "ray generation",
        ShaderStage::Miss => "miss",
        ShaderStage::AnyHit => "any-hit",
        ShaderStage::ClosestHit => "closest-hit",
    }
}

/// `Accessing with index [1] can't be done` without what nobody but naga knows.
fn without_numbers(text: &str) -> String {
    let words = text.split(' ').filter(|word| {
        let number = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
        number.is_none_or(|number| !number.bytes().all(|byte| byte.is_ascii_digit()))
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A label that names one of naga's things by its number says nothing.
fn without_handle(label: &str) -> &str {
    match label {
        "invalid return" => "",
        _ if label.starts_with("naga::") => "",
        _ => label,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Source, parse};

    /// The message, the text that the first label marks, and the notes.
    fn refused(body: &str) -> (String, String, Vec<String>) {
        let text = format!("@fragment fn main() -> @location(0) vec4f {{ {body} }}");
        let failure =
            parse(Source::Wgsl(&text), "a.wgsl", &Options::default()).expect_err("it is wrong");
        let diagnostic = &failure.diagnostics[0];
        let label = &diagnostic.labels[0];
        assert_eq!(label.text, "");
        let marked = &text[label.span.start as usize..label.span.end as usize];
        (diagnostic.message.clone(), marked.to_owned(), diagnostic.notes.clone())
    }

    #[test]
    fn interfaces_are_refused_at_a_place_and_by_name() {
        let refused = |text: &str| {
            let failure = parse(Source::Wgsl(text), "a.wgsl", &Options::default());
            let diagnostic = failure.expect_err("it is wrong").diagnostics[0].clone();
            let place = diagnostic.labels[0].span;
            let marked = text[place.start as usize..place.end as usize].to_owned();
            (diagnostic, marked)
        };
        let (position, marked) =
            refused("@vertex fn main() -> @location(0) vec4f { return vec4f(); }");
        assert_eq!(position.message, "a vertex entry point returns `@builtin(position)`");
        assert_eq!(marked, "return vec4f();");
        let (stage, marked) = refused(
            "@fragment fn main(@builtin(vertex_index) i: u32) -> @location(0) vec4f { return vec4f(); }",
        );
        assert_eq!((&*stage.message, &*marked), ("this stage has no `vertex_index` here", "i"));
        assert!(stage.notes.contains(&"in the parameter `i`".to_owned()), "{stage:?}");
        let (twice, _) = refused(
            "@group(0) @binding(0) var a: texture_2d<f32>; @group(0) @binding(0) var b: texture_2d<f32>;\n\
             @fragment fn main() -> @location(0) vec4f { return textureLoad(a, vec2i(), 0) + textureLoad(b, vec2i(), 0); }",
        );
        assert_eq!(twice.message, "`a` and `b` both have `@group(0) @binding(0)`");
        assert_eq!(twice.labels.len(), 2, "both of them are marked");
        let (store, marked) = refused(
            "@group(0) @binding(0) var<storage> a: array<f32>;\n\
             @compute @workgroup_size(1) fn main() { a[0] = 1.0; }",
        );
        assert_eq!(marked, "a[0]");
        assert_eq!(store.message, "`a` cannot be written");
        assert!(store.notes.iter().any(|note| note.contains("`a` can only be read")), "{store:?}");
        for (interface, message) in [
            ("a: f32", "this has neither `@location` nor `@builtin`"),
            ("@location(0) a: f32, @location(0) b: f32", "`@location(0)` is given twice"),
            ("@location(0) a: u32", "integers between stages need `@interpolate(flat)`"),
            ("@builtin(position) a: vec2f", "`position` is of another type"),
        ] {
            let (found, _) = refused(&format!("@fragment fn main({interface}) {{}}"));
            assert_eq!(found.message, message);
        }
        for (member, message, remedy) in [
            (
                "array<f32, 4>",
                "elements of an array in a uniform buffer are 16 bytes apart, or a multiple, not 4",
                "array<vec4f, N>",
            ),
            (
                "S",
                "a structure or an array in a uniform buffer begins at a multiple of 16 bytes, not at 4",
                "`@align(16)`",
            ),
        ] {
            let (found, _) = refused(&format!(
                "struct T {{ x: f32 }} struct S {{ y: f32, t: T }}\n\
                 @group(0) @binding(0) var<uniform> a: {member};\n@fragment fn main() {{}}"
            ));
            assert_eq!(found.message, message);
            assert!(found.notes.len() == 1 && found.notes[0].contains(remedy), "{found:?}");
        }
    }

    #[test]
    fn wrong_types_are_named_as_in_the_source() {
        let cases = [
            (
                "let x = 1.0; return vec4f(x) + vec3f(1.0);",
                "`+` does not work on `vec4<f32>` and `vec3<f32>`",
                "vec4f(x) + vec3f(1.0)",
            ),
            (
                "return vec3f(1.0);",
                "the function returns `vec4<f32>`, not `vec3<f32>`",
                "vec3f(1.0)",
            ),
            ("let a = true; return vec4f(f32(-a));", "`-` does not work on `bool`", "-a"),
            (
                "var a: array<f32, 4>; let i = 1.5f; return vec4f(a[i]);",
                "an index is an integer, not `f32`",
                "a[i]",
            ),
            (
                "var a: array<f32, 3>; return vec4f(a[3]);",
                "`array<f32, 3>` has no element 3",
                "a[3]",
            ),
            ("break; return vec4f();", "`break` is only allowed in a loop or a `switch`", "break;"),
            (
                "loop { switch 1 { case 1, 2 {} case 2 {} default {} } break; } return vec4f();",
                "`2` is twice a case of this `switch`",
                "switch 1 { case 1, 2 {} case 2 {} default {} }",
            ),
            ("if 1 { } return vec4f();", "the condition of `if` is boolean, not `i32`", "1"),
        ];
        for (body, message, marked) in cases {
            let found = refused(body);
            assert_eq!((found.0.as_str(), found.1.as_str()), (message, marked));
            assert_eq!(found.2, ["in the fragment entry point `main`"]);
        }
    }
}
