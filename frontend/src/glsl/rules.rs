//! Rules of versions and profiles: what the language lets a text use that says its version (GLSL 4.60, 3.6, 4.3 to 4.7 and 5.1;
//! GLSL ES 3.20, 4.7.4). A text without `#version` may use what any version has.
//!
//! They follow from tokens and syntax alone, and are asked before names have meanings.

use super::ast::{
    Base, Block, Declaration, Declarator, Function, Item, Qualifiers, Stmt, StmtKind,
};
use super::check::invalid;
use super::token::{Dialect, Kind, Token};
use super::types;
use super::variables::{self, What};
use crate::lower::Result;
use gpucc_ir::Set;
use gpucc_ir::ssa::{Span, Stage};

/// Words that every version keeps for itself (GLSL 1.10 to 4.60, 3.6; ES 1.00 to 3.20, 3.6 to 3.8).
const RESERVED: [&str; 26] = [
    "asm",
    "class",
    "union",
    "enum",
    "typedef",
    "template",
    "this",
    "goto",
    "inline",
    "noinline",
    "public",
    "static",
    "extern",
    "external",
    "interface",
    "long",
    "short",
    "fixed",
    "input",
    "output",
    "fvec2",
    "fvec3",
    "fvec4",
    "sizeof",
    "cast",
    "namespace",
];

/// Operators of integers that 1.30 and ES 3.00 brought.
const OF_INTEGERS: [&str; 13] =
    ["&", "|", "^", "~", "<<", ">>", "%", "&=", "|=", "^=", "<<=", ">>=", "%="];

/// Functions that 1.30 and ES 3.00 brought.
const OF_TEXTURES: [&str; 9] = [
    "texture",
    "textureLod",
    "textureProj",
    "textureGrad",
    "textureOffset",
    "textureProjLod",
    "textureProjGrad",
    "texelFetch",
    "texelFetchOffset",
];

/// Interpolations (GLSL 4.60, 4.5).
const INTERPOLATION: [&str; 4] = ["flat", "smooth", "noperspective", "__explicitInterpAMD"];

/// Textures that have a precision of their own in ES (ES 3.20, 4.7.4).
const PRECISE_TEXTURES: [&str; 3] = ["sampler2D", "samplerCube", "samplerExternalOES"];

/// Checks a text.
///
/// # Errors
/// What the text's version, profile and extensions do not have, at its place.
pub fn check(
    tokens: &[Token<'_>],
    items: &[Item<'_>],
    dialect: &Dialect,
    stage: Stage,
) -> Result<()> {
    if !dialect.stated {
        return Ok(());
    }
    if stage == Stage::Compute && !dialect.since(430, 310, &["compute_shader"]) {
        return invalid(
            "compute shaders need version 430, or 310 es (GLSL 4.60, 1.2.1)",
            tokens[0].span,
        );
    }
    if stage == Stage::Geometry && !dialect.since(150, 320, &["geometry_shader"]) {
        return invalid(
            "geometry shaders need version 150, or 320 es (GLSL 4.60, 1.2.1)",
            tokens[0].span,
        );
    }
    let functions: Set<&str> = items
        .iter()
        .filter_map(|item| match item {
            Item::Function(function) => Some(function.name),
            _ => None,
        })
        .collect();
    for pair in tokens.windows(2) {
        let own = |name: &str| functions.contains(name);
        token(pair[0], pair[1], dialect, stage, &own)?;
    }
    if dialect.es {
        precisions(tokens, stage)?;
    }
    for item in items {
        match item {
            Item::Declaration(declaration) => {
                check_qualifiers(&declaration.qualifiers, dialect)?;
                variable(declaration, dialect, stage)?;
            }
            Item::Block(block) => {
                check_qualifiers(&block.qualifiers, dialect)?;
                of_block(block, dialect)?;
            }
            Item::Function(function) => of_function(function)?,
            Item::Qualified(qualifiers, _) => alone(qualifiers)?,
        }
    }
    Ok(())
}

fn token(
    token: Token<'_>,
    next: Token<'_>,
    dialect: &Dialect,
    stage: Stage,
    is_own: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let (text, span) = (token.text, token.span);
    let newer = |what: &str| {
        let message = format!("{what} `{text}` needs version 130, or 300 es");
        invalid(message, span)
    };
    let integers = dialect.since(130, 300, &["gpu_shader4"]);
    match token.kind {
        Kind::Symbol if OF_INTEGERS.contains(&text) && !integers => {
            newer("the operator")?;
        }
        Kind::Number if text.ends_with(['u', 'U']) && !integers => newer("the number")?,
        Kind::Word => {}
        _ => return Ok(()),
    }
    if RESERVED.contains(&text) {
        return invalid(format!("`{text}` is a reserved word (GLSL 4.60, 3.6)"), span);
    }
    let called = next.text == "(" && !is_own(text);
    let of_quads = called
        && ["dFdx", "dFdy", "fwidth"].iter().any(|start| {
            text.strip_prefix(start).is_some_and(|rest| matches!(rest, "" | "Fine" | "Coarse"))
        });
    match text {
        _ if dialect.es && dialect.version < 300 && text.contains("__") => {
            invalid(format!("`{text}`: names with `__` are reserved (GLSL ES 1.00, 3.8)"), span)
        }
        _ if of_quads && stage != Stage::Fragment && !dialect.has("compute_shader_derivatives") => {
            let message = format!("`{text}` is a function of fragment shaders (GLSL 4.60, 8.14.1)");
            invalid(message, span)
        }
        "switch" | "case" if !dialect.since(130, 300, &[]) => newer("the word"),
        "uint" | "uvec2" | "uvec3" | "uvec4" if !integers => newer("the type"),
        "attribute" | "varying" if dialect.removed(420, 300) => {
            let message = format!("`{text}` is of older versions: `in` and `out` stand here");
            invalid(message, span)
        }
        _ if called && OF_TEXTURES.contains(&text) && !integers => newer("the function"),
        _ if called && dialect.es && dialect.version >= 300 && is_old_lookup(text) => {
            let message = format!("the function `{text}` is of version 100: `texture` stands here");
            invalid(message, span)
        }
        "gl_FragColor" | "gl_FragData" if dialect.removed(420, 300) => {
            let message = format!("`{text}` is of older versions: declare an output");
            invalid(message, span)
        }
        "gl_FragDepth" if !dialect.since(0, 300, &["frag_depth"]) => {
            let message = "`gl_FragDepth` needs version 300 es, or GL_EXT_frag_depth";
            invalid(message, span)
        }
        "dFdx" | "dFdy" | "fwidth"
            if called && !dialect.since(0, 300, &["standard_derivatives"]) =>
        {
            let message = format!("`{text}` needs version 300 es, or GL_OES_standard_derivatives");
            invalid(message, span)
        }
        _ if text.starts_with("gl_") && dialect.removed(150, 100) && is_fixed(text, stage) => {
            let message = format!("`{text}` is of the compatibility profile (GLSL 4.60, 7.1)");
            invalid(message, span)
        }
        _ => Ok(()),
    }
}

/// `texture2D` and its like, which ES 3.00 does not have.
fn is_old_lookup(name: &str) -> bool {
    ["texture2D", "textureCube"].iter().any(|start| {
        name.strip_prefix(start).is_some_and(|rest| matches!(rest, "" | "Lod" | "Proj" | "ProjLod"))
    })
}

/// A variable of the fixed pipeline.
fn is_fixed(name: &str, stage: Stage) -> bool {
    let found = variables::find(name, stage).map(|variable| variable.what);
    matches!(found, Some(What::Attribute | What::Varying | What::State | What::ClipVertex))
        && !matches!(name, "gl_DepthRange" | "gl_NumSamples")
}

fn variable(declaration: &Declaration<'_>, dialect: &Dialect, stage: Stage) -> Result<()> {
    let qualifiers = &declaration.qualifiers;
    let found = qualifiers.words.iter().find(|(word, _)| matches!(*word, "in" | "out"));
    if let Some((word, at)) = found {
        let built_in = declaration.declared.iter().all(|one| one.name.starts_with("gl_"));
        let older = ["gpu_shader4", "explicit_attrib_location", "separate_shader_objects"];
        if !built_in && !dialect.since(130, 300, &older) {
            let message = format!(
                "`{word}` needs version 130, or 300 es: `attribute` and `varying` stand here"
            );
            return invalid(message, *at);
        }
        let outside =
            (stage, *word) == (Stage::Vertex, "in") || (stage, *word) == (Stage::Fragment, "out");
        let further = |(word, _): &&(&str, Span)| {
            INTERPOLATION.contains(word) || matches!(*word, "centroid" | "sample" | "patch")
        };
        if let (true, Some(&(word, at))) = (outside, qualifiers.words.iter().find(further)) {
            let side =
                if stage == Stage::Vertex { "input of a vertex" } else { "output of a fragment" };
            let message =
                format!("`{word}` qualifies no {side} shader (GLSL 4.60, 4.3.4 and 4.3.6)");
            return invalid(message, at);
        }
    }
    let of_stages = |word: &str| matches!(word, "in" | "out" | "attribute" | "varying");
    if let Some(&(word, at)) = qualifiers.words.iter().find(|(word, _)| of_stages(word)) {
        let place = qualifiers.layout.iter().find(|item| item.name == "location");
        let outside =
            matches!((stage, word), (Stage::Vertex, "in" | "attribute") | (Stage::Fragment, "out"));
        // Between stages since 4.10 and ES 3.10.
        let (version, es) = if outside { (330, 300) } else { (410, 310) };
        let extensions = ["explicit_attrib_location", "separate_shader_objects"];
        if let Some(item) = place.filter(|_| !dialect.since(version, es, &extensions)) {
            let message = format!("`location` needs version {version}, or {es} es, here");
            return invalid(message, item.span);
        }
        let doubles = matches!(&declaration.ty.base, Base::Name(name)
            if *name == "double" || name.starts_with("dvec") || name.starts_with("dmat"));
        let fetched = stage == Stage::Vertex && matches!(word, "in" | "attribute");
        if doubles && fetched && !dialect.since(410, u32::MAX, &["vertex_attrib_64bit"]) {
            let message = "doubles as inputs of vertices need version 410 (GLSL 4.10, 4.3.4)";
            return invalid(message, declaration.ty.span);
        }
        let whole = matches!(&declaration.ty.base, Base::Name(name)
            if matches!(*name, "int" | "uint") || name.starts_with("ivec") || name.starts_with("uvec"));
        if whole && !dialect.since(130, 300, &["gpu_shader4"]) {
            let message = "inputs and outputs of integers need version 130, or 300 es";
            return invalid(message, declaration.ty.span);
        }
        let into = stage == Stage::Vertex && matches!(word, "in" | "attribute");
        let is_array = |one: &Declarator<'_>| !one.lengths.is_empty();
        let array = !declaration.ty.lengths.is_empty() || declaration.declared.iter().any(is_array);
        if into && array && (dialect.es || dialect.version < 150) {
            let message =
                "arrays as inputs of vertices need version 150, and ES has none (GLSL 4.60, 4.3.4)";
            return invalid(message, at);
        }
    }
    let offset = qualifiers.layout.iter().find(|item| item.name == "offset");
    let counter = matches!(declaration.ty.base, Base::Name("atomic_uint"));
    if let Some(item) = offset.filter(|_| !counter) {
        let message = "`offset` is that of a block's member or of a counter (GLSL 4.60, 4.4.5)";
        return invalid(message, item.span);
    }
    if let Some((word, at)) = interpolations(qualifiers).nth(1) {
        return invalid(format!("`{word}` is a second interpolation (GLSL 4.60, 4.5)"), at);
    }
    Ok(())
}

/// Where a qualifier stands before 4.20 and 3.10 of ES, by what it says; none for those that may stand anywhere.
fn rank(word: &str) -> Option<u8> {
    Some(match word {
        "invariant" | "precise" => 0,
        _ if INTERPOLATION.contains(&word) => 1,
        "centroid" | "sample" | "patch" => 2,
        "const" | "in" | "out" | "inout" | "uniform" | "attribute" | "varying" => 3,
        "highp" | "mediump" | "lowp" => 4,
        _ => return None,
    })
}

/// Qualifiers of a variable or block: their order, and a binding.
fn check_qualifiers(qualifiers: &Qualifiers<'_>, dialect: &Dialect) -> Result<()> {
    if dialect.since(420, 310, &["shading_language_420pack"]) {
        return Ok(());
    }
    let bound = ["shader_atomic_counters", "shader_storage_buffer", "shader_image_load_store"];
    let binding = qualifiers.layout.iter().find(|item| item.name == "binding");
    if let Some(item) = binding.filter(|_| !bound.iter().any(|part| dialect.has(part))) {
        let message = "`binding` needs version 420, 310 es, or GL_ARB_shading_language_420pack";
        return invalid(message, item.span);
    }
    let mut last = 0;
    for &(word, at) in &qualifiers.words {
        let Some(rank) = rank(word) else { continue };
        if rank < last {
            let message = format!(
                "`{word}` stands too late: the order is free from version 420 and 310 es on (GLSL 3.30, 4.7)"
            );
            return invalid(message, at);
        }
        last = rank;
    }
    Ok(())
}

/// `layout(early_fragment_tests) in;`
fn alone(qualifiers: &Qualifiers<'_>) -> Result<()> {
    let tests = qualifiers.layout.iter().find(|item| item.name == "early_fragment_tests");
    match tests {
        Some(item) if !qualifiers.has("in") => {
            let message = "`early_fragment_tests` qualifies `in` (GLSL 4.60, 4.4.1.3)";
            invalid(message, item.span)
        }
        _ => Ok(()),
    }
}

/// A function with a result returns one somewhere (GLSL 4.60, 6.1).
fn of_function(function: &Function<'_>) -> Result<()> {
    let none = matches!(function.result.base, Base::Name("void"));
    match &function.body {
        Some(body) if !none && !returns(body) => {
            let message = format!("`{}` returns no value (GLSL 4.60, 6.1)", function.name);
            invalid(message, function.span)
        }
        _ => Ok(()),
    }
}

/// A `return` stands among statements; they nest no deeper than the parser lets them.
fn returns(body: &[Stmt<'_>]) -> bool {
    let one = |stmt: &Stmt<'_>| returns(std::slice::from_ref(stmt));
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(body) | StmtKind::Switch(_, body) => returns(body),
        StmtKind::If(_, then, other) => one(then) || other.as_deref().is_some_and(one),
        StmtKind::For(_, _, _, body) | StmtKind::While(_, body) | StmtKind::Do(body, _) => {
            one(body)
        }
        _ => false,
    })
}

fn interpolations<'q>(qualifiers: &'q Qualifiers<'_>) -> impl Iterator<Item = (&'q str, Span)> {
    qualifiers.words.iter().filter(|(word, _)| INTERPOLATION.contains(word)).copied()
}

fn of_block(block: &Block<'_>, dialect: &Dialect) -> Result<()> {
    let has = |word| block.qualifiers.has(word);
    let (known, message) = if has("buffer") {
        let message = "blocks of buffers need version 430, or 310 es (GLSL 4.60, 4.3.7)";
        (dialect.since(430, 310, &["shader_storage_buffer_object", "buffer_reference"]), message)
    } else if has("uniform") {
        let packed = block.qualifiers.layout.iter().find(|item| item.name == "std430");
        let push = block.qualifiers.layout.iter().any(|item| item.name == "push_constant");
        if let (Some(item), false, false) = (packed, push, dialect.has("scalar_block_layout")) {
            let message = "std430 is a layout of buffers: for uniforms it needs GL_EXT_scalar_block_layout (GLSL 4.60, 4.4.5)";
            return invalid(message, item.span);
        }
        let message = "blocks of uniforms need version 140, or 300 es (GLSL 4.60, 4.3.9)";
        (dialect.since(140, 300, &["uniform_buffer_object"]), message)
    } else {
        return Ok(());
    };
    if known { Ok(()) } else { invalid(message, block.span) }
}

/// Floats of fragment shaders of ES have a precision, and so do most textures (ES 3.20, 4.7.4).
fn precisions(tokens: &[Token<'_>], stage: Stage) -> Result<()> {
    // Types with a default precision, and how many there are outside of each open scope.
    let mut known: Vec<&str> = PRECISE_TEXTURES.to_vec();
    if stage != Stage::Fragment {
        known.push("float");
    }
    let mut scopes = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match (token.kind, token.text) {
            (Kind::Symbol, "{") => scopes.push(known.len()),
            (Kind::Symbol, "}") => known.truncate(scopes.pop().unwrap_or(known.len())),
            (Kind::Word, "precision") => {
                let kind = tokens.get(at + 2).and_then(|token| rounded(token.text));
                let is_new = |kind: &&str| !known.contains(kind);
                let of_language = |kind: &&str| types::named(kind).is_some();
                known.extend(kind.filter(is_new).filter(of_language));
            }
            (Kind::Word, text) => {
                let Some(kind) = rounded(text) else { continue };
                if known.contains(&kind) || qualified(&tokens[..at]) || !declares(&tokens[at..]) {
                    continue;
                }
                let message = format!(
                    "`{text}` has no precision, and the text says no default one (GLSL ES 3.20, 4.7.4)"
                );
                return invalid(message, token.span);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The type whose precision one has; none for what has none, or always one.
fn rounded(name: &str) -> Option<&str> {
    let digits = |rest: &str| {
        !rest.is_empty() && rest.bytes().all(|byte| matches!(byte, b'2'..=b'4' | b'x'))
    };
    let plain = ["vec", "mat"].iter().any(|kind| name.strip_prefix(kind).is_some_and(digits));
    if name == "float" || plain {
        return Some("float");
    }
    let texture = name.trim_start_matches(['i', 'u']);
    (texture.starts_with("sampler") && texture.len() > "sampler".len()).then_some(name)
}

/// A precision stands among the words in front of a type.
fn qualified(before: &[Token<'_>]) -> bool {
    let words = before.iter().rev().take_while(|token| token.kind == Kind::Word);
    words.take(8).any(|token| matches!(token.text, "highp" | "mediump" | "lowp" | "precision"))
}

/// A name stands behind a type and its brackets, so it is no constructor. Built-in variables have their own precision.
fn declares(tokens: &[Token<'_>]) -> bool {
    let mut open = 0u32;
    for token in &tokens[1..] {
        match (token.kind, token.text) {
            (Kind::Symbol, "[") => open += 1,
            (Kind::Symbol, "]") => open = open.saturating_sub(1),
            (Kind::End, _) => return false,
            _ if open > 0 => {}
            (kind, text) => return kind == Kind::Word && !text.starts_with("gl_"),
        }
    }
    false
}
