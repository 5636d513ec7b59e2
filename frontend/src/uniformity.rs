//! What a module of WGSL says of derivatives in non-uniform control flow. WGSL 2.3, 15.

use crate::places::Places;
use crate::read::span;
use gpucc_ir::ssa::Span;
use naga::diagnostic_filter::{
    DiagnosticFilterNode, FilterableTriggeringRule, Severity, StandardFilterableTriggeringRule,
};
use naga::{Function, Handle, Module};

/// How grave a module takes derivatives in non-uniform control flow (`derivative_uniformity`).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Gravity {
    /// They are right.
    Off,
    /// A note.
    Info,
    /// A warning.
    Warning,
    /// An error: what the language has where nothing else is said.
    #[default]
    Error,
}

/// The rules of a module: of the whole, and of functions that have their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UniformityRules {
    module: Gravity,
    functions: Vec<(Span, Gravity)>,
}

impl UniformityRules {
    /// What the module's directives and attributes say.
    pub(crate) fn of(module: &Module, places: &Places) -> UniformityRules {
        let whole = gravity(module, module.diagnostic_filter_leaf);
        let bodies = module.functions.iter().map(|(_, function)| function);
        let entries = module.entry_points.iter().map(|entry| &entry.function);
        let own = |function: &Function| {
            let leaf = function.diagnostic_filter_leaf;
            (leaf != module.diagnostic_filter_leaf).then(|| {
                let spans = function.body.span_iter().map(|(_, place)| span(*place));
                let hull = spans
                    .filter(|place| !place.is_none())
                    .reduce(|a, b| Span { start: a.start.min(b.start), end: a.end.max(b.end) });
                (places.original(hull.unwrap_or(Span::NONE)), gravity(module, leaf))
            })
        };
        UniformityRules {
            module: whole,
            functions: bodies.chain(entries).filter_map(own).collect(),
        }
    }

    /// The rule at a place.
    pub fn at(&self, place: Span) -> Gravity {
        let within = |outer: &Span| outer.start <= place.start && place.end <= outer.end;
        let own = self.functions.iter().find(|(body, _)| !body.is_none() && within(body));
        own.map_or(self.module, |&(_, gravity)| gravity)
    }
}

/// The nearest rule on the way from a leaf to the root.
fn gravity(module: &Module, leaf: Option<Handle<DiagnosticFilterNode>>) -> Gravity {
    const RULE: FilterableTriggeringRule =
        FilterableTriggeringRule::Standard(StandardFilterableTriggeringRule::DerivativeUniformity);
    let mut next = leaf;
    while let Some(node) = next.and_then(|handle| module.diagnostic_filters.try_get(handle).ok()) {
        if node.inner.triggering_rule == RULE {
            return match node.inner.new_severity {
                Severity::Off => Gravity::Off,
                Severity::Info => Gravity::Info,
                Severity::Warning => Gravity::Warning,
                Severity::Error => Gravity::Error,
            };
        }
        next = node.parent;
    }
    Gravity::default()
}
