//! WGSL as people write it to WGSL as naga reads it.

mod builtins;
mod constants;
mod layout;
mod misspelt;
mod operators;
mod value;
mod words;

use crate::Options;
use crate::growth::Tokens;
use crate::places::{self, Places};
use crate::stop::Stop;
pub use misspelt::meant;
use naga::{Expression, Span, Statement};
pub use words::{counted, explained};

/// Extensions of the language that naga has without knowing their names, or that change nothing here.
const EXTENSIONS: [&str; 12] = [
    "readonly_and_readwrite_storage_textures",
    "packed_4x8_integer_dot_product",
    "unrestricted_pointer_parameters",
    "pointer_composite_access",
    "uniform_buffer_standard_layout",
    "subgroup_id",
    "subgroup_uniformity",
    "texture_and_sampler_let",
    "texture_formats_tier1",
    "immediate_address_space",
    "linear_indexing",
    "fragment_depth",
];

/// Names of the language that naga has not.
const MISSING: [&str; 7] = [
    "subgroupElect",
    "global_invocation_index",
    "workgroup_index",
    "subgroup_size_control",
    "chromium_experimental_subgroup_matrix",
    "swizzle_assignment",
    "buffer_view",
];

/// A text as naga reads it.
pub struct Corrected {
    /// It, and the way back from it; `None` where nothing is changed.
    pub text: Option<(String, Places)>,
    /// It depends on values of overrides.
    pub is_bound: bool,
}

/// What naga reads wrongly or not at all, said so that it reads it rightly.
///
/// # Errors
/// The user's, of which naga would say nothing, or something else.
pub fn correct(text: &str, options: &Options) -> Result<Corrected, Stop> {
    let tokens = Tokens::new(text);
    let mut reader = constants::Reader::new(&tokens, options);
    let mut edits = layout::alignments(&mut reader)?;
    edits.extend(constants::values(&mut reader)?);
    let is_bound = reader.is_bound;
    Ok(Corrected { text: (!edits.is_empty()).then(|| places::edited(text, edits)), is_bound })
}

/// True for a complaint about what the language has and naga's reader has not.
pub fn is_beyond_naga(message: &str) -> bool {
    let not_yet = ["not yet supported", "not yet implemented", "Not implemented as constant"];
    not_yet.iter().any(|text| message.contains(text))
        || MISSING.iter().any(|name| message.contains(&format!("`{name}`")))
}

/// naga has the subgroup functions but refuses `enable subgroups;`, and has most extensions of the
/// language but not their names: such words are blanked, and a directive that says nothing else
/// disappears. Offsets stay.
pub fn blank_directives(text: &str) -> Option<String> {
    let subgroups = blank(text, "enable", &["subgroups"]);
    let both = blank(subgroups.as_deref().unwrap_or(text), "requires", &EXTENSIONS);
    both.or(subgroups)
}

fn blank(text: &str, directive: &str, known: &[&str]) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    let mut from = 0;
    while let Some(found) = text[from..].find(directive) {
        let start = from + found;
        from = start + directive.len();
        let Some(length) = text[from..].find(';') else {
            break;
        };
        let list = &text[from..from + length];
        let alone = !text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let names: Vec<&str> = list.split(',').map(str::trim).collect();
        let plain =
            names.iter().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        if !alone
            || !plain
            || !list.starts_with(char::is_whitespace)
            || !names.iter().any(|name| known.contains(name))
        {
            continue;
        }
        changed = true;
        let kept: Vec<&str> = names.into_iter().filter(|name| !known.contains(name)).collect();
        let rest = if kept.iter().all(|name| name.is_empty()) {
            String::new()
        } else {
            format!("{directive} {};", kept.join(", "))
        };
        let whole = start..from + length + 1;
        for (index, byte) in bytes[whole].iter_mut().enumerate() {
            let new = rest.as_bytes().get(index).copied().unwrap_or(b' ');
            if *byte != b'\n' || new != b' ' {
                *byte = new;
            }
        }
    }
    changed.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// A function may end in a loop that is left by `return` alone. naga puts a `return` without a value
/// behind it and then refuses that: there it gets a value, which nobody sees.
pub fn end_endless_functions(module: &mut naga::Module) {
    for (_, function) in module.functions.iter_mut() {
        let Some(result) = &function.result else {
            continue;
        };
        let [.., before, Statement::Return { value: None }] = &function.body[..] else {
            continue;
        };
        if !never_ends(before) {
            continue;
        }
        let zero = function.expressions.append(Expression::ZeroValue(result.ty), Span::UNDEFINED);
        if let Some(Statement::Return { value }) = function.body.iter_mut().last() {
            *value = Some(zero);
        }
    }
}

/// Control never comes behind this statement.
fn never_ends(statement: &Statement) -> bool {
    match statement {
        Statement::Loop { body, break_if, .. } => break_if.is_none() && !breaks(body),
        Statement::Block(block) => block.iter().any(never_ends),
        _ => false,
    }
}

/// A `break` of the loop itself, not of one within.
fn breaks(block: &naga::Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Break => true,
        Statement::Block(block) => breaks(block),
        Statement::If { accept, reject, .. } => breaks(accept) || breaks(reject),
        // A `break` in a switch leaves the switch.
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enabling_subgroups_is_blanked_and_other_extensions_stay() {
        let blank = |text| blank_directives(text).expect("it changes");
        assert_eq!(blank("enable subgroups;fn"), "                 fn");
        assert_eq!(blank("enable f16, subgroups;fn"), "enable f16;           fn");
        assert_eq!(blank_directives("// re-enable subgroups a b;"), None);
        assert_eq!(blank_directives("fn subgroups() {}"), None);
    }

    #[test]
    fn requirements_that_are_met_are_blanked_and_others_stay() {
        let blank = |text| blank_directives(text).expect("it changes");
        let text = "requires pointer_composite_access, what_is_this;fn";
        assert_eq!(blank(text).trim_end(), format!("{:<48}fn", "requires what_is_this;"));
        assert_eq!(blank("requires subgroup_id;").trim(), "");
        let both = blank("enable subgroups;\nrequires subgroup_id;\nfn");
        assert_eq!(both.split_whitespace().collect::<Vec<_>>(), ["fn"]);
    }
}
