//! What naga's validator refuses, in the words of the user's language: naga names expressions by numbers and types by
//! its own structures.

use crate::diagnostic::{Diagnostic, FailureKind};
use crate::lower::entry::workgroup_size;
use crate::read::{span, unsupported_with};
use crate::source::Language;
use crate::stop::Stop;
use naga::back::binary_operation_str;
use naga::common::wgsl::TypeContext;
use naga::proc::{ResolveContext, TypeResolution};
use naga::valid::{EntryPointError, ExpressionError, FunctionError, ValidationError};
use naga::{
    AddressSpace, Expression, Function, GlobalVariable, Handle, Module, ShaderStage, StorageAccess,
    TypeInner, UnaryOperator,
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
    let own = match (function, entry) {
        (Some((error, function)), _) => Speller { module, function }.spell(error),
        (None, Some((error, _))) => of_interface(error, module),
        (None, None) => None,
    };
    // The innermost reason says most; the outer ones say where.
    let mut reasons: Vec<&(dyn Error + 'static)> = vec![inner];
    let mut next = inner.source();
    while let Some(reason) = next {
        reasons.push(reason);
        next = reason.source();
    }
    let innermost = reasons.pop();
    let message = own.unwrap_or_else(|| {
        without_numbers(&innermost.map(ToString::to_string).unwrap_or_default())
    });
    let mut diagnostic = Diagnostic::error("validation", message);
    for (place, label) in error.spans() {
        diagnostic = diagnostic.at(span(*place), without_handle(label));
    }
    if let (true, Some((error, function))) = (diagnostic.labels.is_empty(), entry)
        && let Some(place) = place_of(error, function)
    {
        diagnostic = diagnostic.at(span(place), "");
    }
    if let Some((FunctionError::InvalidStorePointer(pointer), function)) = function
        && let Some(name) = read_only(module, function, *pointer)
    {
        diagnostic = diagnostic
            .with_note(format!("`{name}` can only be read: declare it `var<storage, read_write>`"));
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
    let workgroups = module.entry_points.iter().map(|entry| entry.workgroup_size);
    if reason == "Workgroup size is out of range"
        && let Some(stop) =
            workgroups.filter(|size| !size.contains(&0)).find_map(|size| workgroup_size(size).err())
    {
        return stop;
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
        EntryPointError::BindingCollision(global) => {
            format!("`{}` has the group and the binding of another variable", name(global)?)
        }
        EntryPointError::InvalidGlobalUsage(global, wanted) => format!(
            "`{}` is declared so that it cannot be used in this way ({wanted:?})",
            name(global)?
        ),
        _ => return None,
    })
}

/// naga gives no place for what is wrong with an interface: the parameter, or where the function returns.
fn place_of(error: &EntryPointError, function: &Function) -> Option<naga::Span> {
    let place = match error {
        EntryPointError::Argument(number, _) => function
            .expressions
            .iter()
            .find(|(_, expression)| matches!(expression, Expression::FunctionArgument(n) if n == number))
            .map(|(handle, _)| function.expressions.get_span(handle)),
        _ => function.body.span_iter().last().map(|(_, span)| *span),
    };
    place.filter(naga::Span::is_defined)
}

/// The storage buffer that a pointer leads into, when it may only be read.
fn read_only<'m>(
    module: &'m Module,
    function: &Function,
    pointer: Handle<Expression>,
) -> Option<&'m str> {
    let mut at = pointer;
    loop {
        match *function.expressions.try_get(at).ok()? {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => at = base,
            Expression::GlobalVariable(global) => {
                let variable = module.global_variables.try_get(global).ok()?;
                let AddressSpace::Storage { access } = variable.space else {
                    return None;
                };
                let fixed = !access.contains(StorageAccess::STORE);
                return fixed.then_some(variable.name.as_deref()?);
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
            F::Expression { source, .. } => match source {
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
                _ => return None,
            },
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

    fn inner(&self, inner: &TypeInner) -> String {
        let resolution = TypeResolution::Value(inner.clone());
        self.module.to_ctx().type_resolution_to_string(&resolution)
    }

    /// The type of an expression.
    fn of(&self, expression: Handle<Expression>) -> String {
        let Function { local_variables, arguments, expressions, .. } = self.function;
        let context = ResolveContext::with_locals(self.module, local_variables, arguments);
        let mut types = naga::front::Typifier::new();
        let known = expressions.try_get(expression).is_ok()
            && types.grow(expression, expressions, &context).is_ok();
        if known {
            let ty = &types[expression];
            format!("`{}`", self.module.to_ctx().type_resolution_to_string(ty))
        } else {
            "this".to_owned()
        }
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
        assert!(position.message.contains("position"));
        assert_eq!(marked, "return vec4f();");
        let (stage, marked) = refused(
            "@fragment fn main(@builtin(vertex_index) i: u32) -> @location(0) vec4f { return vec4f(); }",
        );
        assert_eq!(marked, "i");
        assert!(stage.notes.contains(&"in the parameter `i`".to_owned()), "{stage:?}");
        let (twice, _) = refused(
            "@group(0) @binding(0) var a: texture_2d<f32>; @group(0) @binding(0) var b: texture_2d<f32>;\n\
             @fragment fn main() -> @location(0) vec4f { return textureLoad(a, vec2i(), 0) + textureLoad(b, vec2i(), 0); }",
        );
        assert_eq!(twice.message, "`b` has the group and the binding of another variable");
        let (store, marked) = refused(
            "@group(0) @binding(0) var<storage> a: array<f32>;\n\
             @compute @workgroup_size(1) fn main() { a[0] = 1.0; }",
        );
        assert_eq!(marked, "a[0]");
        assert!(store.notes.iter().any(|note| note.contains("`a` can only be read")), "{store:?}");
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
            ("if 1 { } return vec4f();", "the condition of `if` is boolean, not `i32`", "1"),
        ];
        for (body, message, marked) in cases {
            let found = refused(body);
            assert_eq!((found.0.as_str(), found.1.as_str()), (message, marked));
            assert_eq!(found.2, ["in the fragment entry point `main`"]);
        }
    }
}
