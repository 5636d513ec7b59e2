//! What an entry point does that its stage does not have: naga says neither what nor where.

use gpucc_ir::Set;
use naga::{Block, Expression, Function, Module, SampleLevel, ShaderStage, Span, Statement};

/// What is forbidden, where it is, and what stands for it.
pub struct Forbidden {
    /// The message.
    pub message: String,
    /// The operation.
    pub span: Span,
    /// What to write; may be empty.
    pub remedy: &'static str,
}

/// The first operation of an entry point, or of a function that it calls, that its stage does not have (WGSL, 17.8, 17.11
/// and 9.9).
pub fn forbidden(module: &Module, entry: &Function, stage: ShaderStage) -> Option<Forbidden> {
    let mut functions = vec![entry];
    let mut called = Set::default();
    while let Some(function) = functions.pop() {
        let found = (stage != ShaderStage::Fragment)
            .then(|| derivative(function))
            .flatten()
            .or_else(|| {
                statement(&function.body, stage, &mut |callee| {
                    if called.insert(callee) {
                        functions.extend(module.functions.try_get(callee));
                    }
                })
            });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// An expression that needs the neighbours of a fragment.
fn derivative(function: &Function) -> Option<Forbidden> {
    function.expressions.iter().find_map(|(handle, expression)| {
        let (what, remedy) = match expression {
            Expression::ImageSample {
                level: SampleLevel::Auto,
                depth_ref: None,
                gather: None,
                ..
            } => ("textureSample", "use `textureSampleLevel`"),
            Expression::ImageSample {
                level: SampleLevel::Auto,
                depth_ref: Some(_),
                gather: None,
                ..
            } => ("textureSampleCompare", "use `textureSampleCompareLevel`"),
            Expression::ImageSample { level: SampleLevel::Bias(_), .. } => {
                ("textureSampleBias", "use `textureSampleLevel`")
            }
            Expression::Derivative { .. } => ("a derivative", ""),
            _ => return None,
        };
        let what = if remedy.is_empty() { what.to_owned() } else { format!("`{what}`") };
        let message =
            format!("{what} needs neighbouring fragments, which only a fragment shader has");
        Some(Forbidden { message, span: function.expressions.get_span(handle), remedy })
    })
}

/// A statement of one stage alone. `calls` is told what the block calls.
fn statement(
    body: &Block,
    stage: ShaderStage,
    calls: &mut dyn FnMut(naga::Handle<Function>),
) -> Option<Forbidden> {
    let mut blocks = vec![body];
    while let Some(block) = blocks.pop() {
        for (statement, &span) in block.span_iter() {
            let (what, only) = match statement {
                Statement::Kill => ("`discard`", ShaderStage::Fragment),
                Statement::ControlBarrier(_) => ("a barrier", ShaderStage::Compute),
                Statement::WorkGroupUniformLoad { .. } => {
                    ("`workgroupUniformLoad`", ShaderStage::Compute)
                }
                Statement::Call { function, .. } => {
                    calls(*function);
                    continue;
                }
                Statement::Block(inner) => {
                    blocks.push(inner);
                    continue;
                }
                Statement::If { accept, reject, .. } => {
                    blocks.extend([reject, accept]);
                    continue;
                }
                Statement::Switch { cases, .. } => {
                    blocks.extend(cases.iter().rev().map(|case| &case.body));
                    continue;
                }
                Statement::Loop { body, continuing, .. } => {
                    blocks.extend([continuing, body]);
                    continue;
                }
                _ => continue,
            };
            if stage != only {
                let only = super::stage_name(only);
                let message = format!("{what} is only allowed in a {only} shader");
                return Some(Forbidden { message, span, remedy: "" });
            }
        }
    }
    None
}
