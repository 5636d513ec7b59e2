//! What naga's WGSL reader says, in the language's words and with what to do about it.

use crate::diagnostic::Diagnostic;
use crate::growth::Tokens;
use gpucc_ir::nearest::nearest;
use gpucc_ir::ssa::TexelFormat;
use std::fmt::Display;

/// Attributes of the language (WGSL, 11).
const ATTRIBUTES: &str =
    "align binding blend_src builtin compute const diagnostic fragment group id interpolate
    invariant location must_use size vertex workgroup_size";

/// Built-in values of the language (WGSL, 12.3.1.1).
const BUILTINS: &str = "vertex_index instance_index position front_facing frag_depth sample_index sample_mask
    local_invocation_id local_invocation_index global_invocation_id workgroup_id num_workgroups subgroup_invocation_id
    subgroup_size subgroup_id num_subgroups primitive_index clip_distances";

/// Words that begin declarations of GLSL and none of WGSL.
const GLSL: [&str; 12] = [
    "attribute",
    "varying",
    "uniform",
    "layout",
    "precision",
    "in",
    "out",
    "void",
    "vec4",
    "float",
    "mat4",
    "buffer",
];
/// Words that begin declarations of HLSL.
const HLSL: [&str; 8] = [
    "cbuffer",
    "Texture2D",
    "SamplerState",
    "float4",
    "float3",
    "float4x4",
    "RWStructuredBuffer",
    "static",
];

/// Types that a value is converted to by their name.
const SCALARS: [&str; 4] = ["f32", "i32", "u32", "f16"];

/// At most so many types of an argument are listed.
const MOST_TYPES: usize = 8;

/// The text between two parts of a message.
fn between<'m>(message: &'m str, head: &str, tail: &str) -> Option<&'m str> {
    message.strip_prefix(head)?.strip_suffix(tail)
}

/// Two parts of a message, around what separates them.
fn parts<'m>(message: &'m str, head: &str, middle: &str, tail: &str) -> Option<(&'m str, &'m str)> {
    between(message, head, tail)?.split_once(middle)
}

/// The message in plain words. `text` is what its places refer to.
pub fn explained(mut diagnostic: Diagnostic, text: &str) -> Diagnostic {
    let place = diagnostic.labels.first().map(|label| label.span);
    let place = place.map_or(text.len()..text.len(), |span| span.start as usize..span.end as usize);
    let words = Words { text, marked: text.get(place.clone()).unwrap_or(""), start: place.start };
    let said = std::mem::take(&mut diagnostic.message);
    let notes = std::mem::take(&mut diagnostic.notes);
    let told = words.parsed(&said).or_else(|| words.typed(&said, &notes));
    match told {
        Some(Told { message, notes }) => {
            // The labels that repeat the message go; those that mark other places stay.
            if let Some(label) = diagnostic.labels.first_mut() {
                label.text.clear();
            }
            (diagnostic.message, diagnostic.notes) = (message, notes);
        }
        None => {
            if let Some(label) = diagnostic.labels.first_mut()
                && said.starts_with(&label.text)
            {
                label.text.clear();
            }
            (diagnostic.message, diagnostic.notes) = (said, notes);
        }
    }
    diagnostic
}

/// A message with remarks.
struct Told {
    message: String,
    notes: Vec<String>,
}

fn told<const N: usize>(message: impl Into<String>, notes: [String; N]) -> Option<Told> {
    Some(Told { message: message.into(), notes: notes.into() })
}

/// What is meant by a name, as a remark.
fn meant<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    nearest(name, known).map(|name| format!("did you mean `{name}`?")).into_iter().collect()
}

struct Words<'t> {
    text: &'t str,
    /// What the first label marks.
    marked: &'t str,
    /// Where that begins.
    start: usize,
}

impl Words<'_> {
    /// What breaks the grammar.
    fn parsed(&self, said: &str) -> Option<Told> {
        let before = self.text.get(..self.start)?;
        if let Some((wanted, found)) = parts(said, "expected ", ", found \"", "\"") {
            if wanted == "`;`" && found == "?" {
                let remedy = "write `select(if_false, if_true, condition)`, or an `if`";
                return told("WGSL has no operator `?:`", [remedy.into()]);
            }
            let literal = before.trim_end_matches(['f', 'i', 'u', 'h']);
            let is_suffixed = before.len() == literal.len() + 1
                && literal.ends_with(|c: char| c.is_ascii_digit() || c == '.')
                && matches!(found, "32" | "16");
            if is_suffixed {
                let suffix = &before[literal.len()..];
                return told(
                    format!("the suffix of a literal is `{suffix}`, not `{suffix}{found}`"),
                    [],
                );
            }
            let is_name = found.starts_with(|c: char| c.is_alphabetic() || c == '_');
            if wanted.starts_with("assignment") && is_name {
                let ty =
                    before.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()?;
                return told(
                    format!("`{ty} {found}` declares nothing in WGSL"),
                    [format!("write `var {found}: TYPE = VALUE;`, or `let {found} = VALUE;`")],
                );
            }
            if wanted.starts_with("global item") {
                return self.other_language(found);
            }
        }
        if let Some(name) = between(said, "unknown attribute: `", "`") {
            let near = nearest(name, ATTRIBUTES.split_whitespace());
            let notes = near.map(|near| format!("did you mean `@{near}`?")).into_iter().collect();
            return Some(Told { message: format!("there is no attribute `@{name}`"), notes });
        }
        if let Some(name) = between(said, "unknown builtin: `", "`") {
            let notes = meant(name, BUILTINS.split_whitespace());
            return Some(Told { message: format!("there is no built-in value `{name}`"), notes });
        }
        if let Some(name) = between(said, "unknown storage format: `", "`") {
            let notes = meant(name, TexelFormat::NAMES.iter().copied());
            return Some(Told { message: format!("there is no storage format `{name}`"), notes });
        }
        if said == "workgroup size is missing on compute shader entry point" {
            return told(
                "a compute entry point needs `@workgroup_size`",
                ["as in `@compute @workgroup_size(64)`".into()],
            );
        }
        if let Some(name) = between(said, "name `", "` is a reserved keyword") {
            return told(format!("`{name}` is a reserved word"), ["choose another name".into()]);
        }
        if let Some(name) = between(said, "redefinition of `", "`") {
            return told(format!("`{name}` is declared twice"), []);
        }
        if said.ends_with("needs a 'binding' attribute")
            || said.ends_with("needs a 'group' attribute")
        {
            return told(
                "a resource has both `@group` and `@binding`",
                ["as in `@group(0) @binding(1) var<uniform> ...`".into()],
            );
        }
        let extension = between(said, "the `", "` enable extension is not enabled")?;
        told(
            format!("`{}` needs the extension `{extension}`", self.marked),
            [format!("write `enable {extension};` at the top of the shader")],
        )
    }

    /// A text that is no WGSL, by the word where the first declaration is expected.
    fn other_language(&self, found: &str) -> Option<Told> {
        let line = self.text.get(self.start..)?.lines().next()?;
        let directive = line.strip_prefix('#').map(str::trim_start);
        let begins = |words: &[&str]| {
            directive.is_some_and(|line| words.iter().any(|word| line.starts_with(word)))
        };
        if begins(&["import", "define_import_path"])
            || directive.is_some_and(|line| line.starts_with("{"))
        {
            let remedy = "compose the whole shader first, as the engine does";
            return told("`#import` is of naga_oil, and no WGSL", [remedy.into()]);
        }
        if begins(&["version", "extension"]) || GLSL.contains(&found) {
            return told(
                "this is GLSL, and is read as WGSL",
                ["give --lang glsl and --stage, or call the file .vert, .frag or .comp".into()],
            );
        }
        if HLSL.contains(&found) {
            let remedy = "compile it to SPIR-V first, as `dxc -spirv` does";
            return told("this is HLSL, which gpucc does not read", [remedy.into()]);
        }
        if directive.is_some() {
            let remedy =
                "run the preprocessor that it is written for, or write `const` and `override`";
            return told("WGSL has no preprocessor", [remedy.into()]);
        }
        let expected = "a declaration is expected here";
        told(format!("{expected}, not `{found}`"), [])
    }

    /// What breaks the rules of types and values.
    fn typed(&self, said: &str, notes: &[String]) -> Option<Told> {
        if said == "invalid left-hand side of assignment" {
            return self.assigned(notes);
        }
        if let Some((name, types)) = parts(said, "the type of `", "` is expected to be `", "`") {
            let (wanted, found) = types.split_once("`, but got `")?;
            let remedy =
                SCALARS.contains(&wanted).then(|| format!("convert it with `{wanted}(...)`"));
            let message = format!("`{name}` is declared `{wanted}`, and its value is `{found}`");
            return Some(Told { message, notes: remedy.into_iter().collect() });
        }
        let numbers = parts(said, "wrong number of arguments: expected ", ", found ", "");
        if let Some((wanted, found)) = numbers {
            let name = self.marked.split('(').next().unwrap_or_default();
            return told(
                format!("`{name}` takes {}, not {found}", counted(wanted, "argument")),
                [],
            );
        }
        if let Some((number, name)) = parts(said, "wrong type passed as argument #", " to `", "`") {
            let mut types: Vec<&str> = Vec::new();
            for note in notes.iter().filter_map(|note| note.strip_prefix("allowed type: ")) {
                if !types.contains(&note) && !note.contains("Abstract") {
                    types.push(note);
                }
            }
            let more = if types.len() > MOST_TYPES { ", ..." } else { "" };
            types.truncate(MOST_TYPES);
            return told(
                format!("argument {number} of `{name}` has a type that it does not take"),
                [format!("types there are {}{more}", types.join(", ").replace(['{', '}'], ""))],
            );
        }
        if let Some((wanted, found)) =
            parts(said, "Constructor expects ", " components, found ", "")
        {
            let name = self.marked.split('(').next().unwrap_or_default();
            return told(
                format!("`{name}` takes {}, not {found}", counted(wanted, "component")),
                [],
            );
        }
        if let Some(name) = between(said, "invalid field accessor `", "`") {
            return Some(self.member(name));
        }
        if said == "this operation is not supported in a const context" {
            return told(
                format!("`{}` is no constant", self.marked),
                ["declare with `let` what is known at run time alone".into()],
            );
        }
        if let Some((ty, value)) = parts(
            said,
            "the concrete type `",
            "` cannot represent the abstract value `",
            "` accurately",
        ) {
            return told(format!("`{ty}` does not hold `{value}`"), []);
        }
        if said == "RHS of shift operation is greater than or equal to 32" {
            return told("a value of 32 bits is shifted by less than 32", []);
        }
        (said == "Division by zero")
            .then(|| Told { message: "this divides by zero".into(), notes: Vec::new() })
    }

    fn assigned(&self, notes: &[String]) -> Option<Told> {
        let head = "consider declaring `";
        let name = notes.iter().find_map(|note| note.strip_prefix(head)?.split('`').next());
        let Some(name) = name else {
            let notes = match self.marked.contains('.') {
                true => vec!["assign component by component, or the whole vector".to_owned()],
                false => Vec::new(),
            };
            return Some(Told {
                message: format!("`{}` cannot be assigned to", self.marked),
                notes,
            });
        };
        // A parameter has its type behind its name, and no `let` before it.
        let declared = format!("let {name}");
        let is_let = self.text.get(..self.start)?.contains(&declared);
        match is_let {
            true => told(
                format!("`{name}` is declared with `let`, and cannot be assigned to"),
                [format!("declare it with `var {name}`")],
            ),
            false => told(
                format!("`{name}` is a parameter, and cannot be assigned to"),
                [format!("copy it first: `var copy = {name};`")],
            ),
        }
    }

    fn member(&self, name: &str) -> Told {
        let message = format!("there is no member or component `{name}`");
        let is_of = |set: &str| name.chars().all(|c| set.contains(c));
        if is_of("xyzwrgba") {
            let notes = match is_of("xyzw") || is_of("rgba") {
                true => {
                    vec!["the vector has fewer components, or at most four are taken".to_owned()]
                }
                false => vec!["components are of `xyzw` or of `rgba`, not of both".to_owned()],
            };
            return Told { message, notes };
        }
        let tokens = Tokens::new(self.text);
        // Members are declared as parameters and variables are: a colon is behind the name.
        let declared =
            (1..tokens.len()).filter(|&k| tokens.word(k) == ":").map(|k| tokens.word(k - 1));
        let mut notes = meant(name, declared);
        if notes.is_empty() && super::misspelt::is_predeclared(name) {
            notes.push(format!("`{name}` is a function: `{name}(value)`"));
        }
        Told { message, notes }
    }
}

/// `1 argument`, `2 arguments`.
pub fn counted(number: impl Display, what: &str) -> String {
    let number = number.to_string();
    format!("{number} {what}{}", if number == "1" { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use crate::{Options, Source, parse};

    /// The message, what its first label marks, and the first remark.
    fn told(text: &str) -> (String, String, String) {
        let failure = parse(Source::Wgsl(text), "a.wgsl", &Options::default());
        let one = failure.expect_err("it is wrong").diagnostics.remove(0);
        let marked = one
            .labels
            .first()
            .map_or("", |label| &text[label.span.start as usize..label.span.end as usize]);
        (one.message, marked.to_owned(), one.notes.first().cloned().unwrap_or_default())
    }

    #[test]
    fn mistakes_in_a_body_are_named_with_a_remedy() {
        let cases = [
            (
                "return a.x > 0.0 ? a : -a;",
                "WGSL has no operator `?:`",
                "?",
                "write `select(if_false, if_true, condition)`, or an `if`",
            ),
            ("return a * 1.0f32;", "the suffix of a literal is `f`, not `f32`", "32", ""),
            (
                "vec4 x = a; return x;",
                "`vec4 x` declares nothing in WGSL",
                "x",
                "write `var x: TYPE = VALUE;`, or `let x = VALUE;`",
            ),
            (
                "let x = a; x = a * 2.0; return x;",
                "`x` is declared with `let`, and cannot be assigned to",
                "x",
                "declare it with `var x`",
            ),
            (
                "a = a * 2.0; return a;",
                "`a` is a parameter, and cannot be assigned to",
                "a",
                "copy it first: `var copy = a;`",
            ),
            (
                "var x = a; x.xy = a.xy; return x;",
                "`x.xy` cannot be assigned to",
                "x.xy",
                "assign component by component, or the whole vector",
            ),
            (
                "let x: f32 = 1u; return a * x;",
                "`x` is declared `f32`, and its value is `u32`",
                "x",
                "convert it with `f32(...)`",
            ),
            ("return mix(a, a);", "`mix` takes 3 arguments, not 2", "mix", ""),
            (
                "return mix(a, a, 1u);",
                "argument 3 of `mix` has a type that it does not take",
                "mix",
                "types there are f32, vec2<f32>, vec3<f32>, vec4<f32>, f16, vec2<f16>, vec3<f16>, vec4<f16>, ...",
            ),
            ("return vec4f(1.0, 2.0);", "`vec4f` takes 4 components, not 2", "vec4f(1.0, 2.0)", ""),
            (
                "return a.xyzr;",
                "there is no member or component `xyzr`",
                "xyzr",
                "components are of `xyzw` or of `rgba`, not of both",
            ),
            (
                "return vec4f(a.length);",
                "there is no member or component `length`",
                "length",
                "`length` is a function: `length(value)`",
            ),
            (
                "var s: S; return s.colour;",
                "there is no member or component `colour`",
                "colour",
                "did you mean `color`?",
            ),
            (
                "const x = a.x; return a * x;",
                "`a` is no constant",
                "a",
                "declare with `let` what is known at run time alone",
            ),
            (
                "let x: i32 = 4000000000; return a * f32(x);",
                "`i32` does not hold `4000000000`",
                "4000000000",
                "",
            ),
            (
                "let x = 1u << 33u; return a * f32(x);",
                "a value of 32 bits is shifted by less than 32",
                "1u << 33u",
                "",
            ),
            ("let x = 1 / 0; return a * f32(x);", "this divides by zero", "1 / 0", ""),
            (
                "let class = a; return class;",
                "`class` is a reserved word",
                "class",
                "choose another name",
            ),
            (
                "let h: f16 = 1.0h; return a * f32(h);",
                "`1.0h` needs the extension `f16`",
                "1.0h",
                "write `enable f16;` at the top of the shader",
            ),
        ];
        for (body, message, marked, note) in cases {
            let text = format!(
                "struct S {{ color: vec4f }}\n@fragment fn main(@location(0) a: vec4f) -> @location(0) vec4f {{ {body} }}"
            );
            let found = told(&text);
            assert_eq!((&*found.0, &*found.1, &*found.2), (message, marked, note), "{body}");
        }
    }

    #[test]
    fn mistakes_in_declarations_are_named_with_a_remedy() {
        let main = "@compute @workgroup_size(1) fn main() {}";
        let cases = [
            (
                "@compute fn main() {}",
                "a compute entry point needs `@workgroup_size`",
                "as in `@compute @workgroup_size(64)`",
            ),
            (
                "@fragment fn main(@locaton(0) a: f32) {}",
                "there is no attribute `@locaton`",
                "did you mean `@location`?",
            ),
            (
                "@fragment fn main(@builtin(positon) a: vec4f) {}",
                "there is no built-in value `positon`",
                "did you mean `position`?",
            ),
            (
                "@group(0) var<uniform> p: vec4f;",
                "a resource has both `@group` and `@binding`",
                "as in `@group(0) @binding(1) var<uniform> ...`",
            ),
            ("fn f() {} fn f() {}", "`f` is declared twice", ""),
            (
                "#version 450\nvoid main() {}",
                "this is GLSL, and is read as WGSL",
                "give --lang glsl and --stage, or call the file .vert, .frag or .comp",
            ),
            (
                "attribute vec4 a;",
                "this is GLSL, and is read as WGSL",
                "give --lang glsl and --stage, or call the file .vert, .frag or .comp",
            ),
            (
                "cbuffer A { float4 x; };",
                "this is HLSL, which gpucc does not read",
                "compile it to SPIR-V first, as `dxc -spirv` does",
            ),
            (
                "#import bevy_pbr::forward_io",
                "`#import` is of naga_oil, and no WGSL",
                "compose the whole shader first, as the engine does",
            ),
            (
                "#ifdef A\n#endif",
                "WGSL has no preprocessor",
                "run the preprocessor that it is written for, or write `const` and `override`",
            ),
            ("}", "a declaration is expected here, not `}`", ""),
        ];
        for (text, message, note) in cases {
            let found = told(&format!("{text}\n{main}"));
            assert_eq!((&*found.0, &*found.2), (message, note), "{text}");
        }
    }
}
