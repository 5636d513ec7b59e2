//! GLSL's preprocessor: text in, text without macros and conditions out, with a way back to the user's places.
//!
//! It is our own. pp-rs, which stands before naga's reader, knows neither `GL_ES` nor the version, expands without
//! a bound, and keeps of an expansion only the place of the last token. glsl-lang-pp comes with a parser generator,
//! which alone costs more time to build than this crate. The language is small.
//!
//! Macros expand as in C: arguments are expanded first, a macro is not expanded within itself, `##` joins tokens.
//! Time and memory are bounded by [`crate::Limits::expanded_tokens`]; conditions and arguments nest
//! [`NESTING`] deep at most.
//!
//! Lines stay where they are. Each token that a macro made stands for the place where the macro is used.
//! `#version` and `#extension` are left to the reader, but for extensions that nobody knows.
//!
//! `#include` takes its texts from [`Includes`]. They stand behind the source in one row of places, so that one number
//! says text and byte; [`Places`] leads from there to the source, and names the text, the line and the column.

mod condition;
mod include;
mod lex;

pub use include::{Include, IncludedText, Includes};

use crate::Options;
use crate::diagnostic::{Diagnostic, Severity};
use crate::places::{Included, Places};
use crate::stop::Stop;
use gpucc_ir::ssa::Span;
use gpucc_ir::{Map, Set};
use lex::{Kind, Lexer, Token};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

/// The pragma that a reader of the text sees (GL_KHR_memory_scope_semantics).
pub const MEMORY_MODEL: &str = "use_vulkan_memory_model";

/// Conditions within conditions, and uses of macros within arguments of macros.
const NESTING: usize = 128;
/// Texts that include one another.
const INCLUDES: usize = 32;

/// Names of extensions that the registries of OpenGL and Vulkan have, one a line.
const REGISTERED: &str = include_str!("preprocess/extensions.txt");

/// Extensions whose macros are defined in programs of OpenGL and Vulkan.
const EXTENSIONS: [&str; 43] = [
    "GL_ARB_arrays_of_arrays",
    "GL_ARB_bindless_texture",
    "GL_ARB_compute_shader",
    "GL_ARB_conservative_depth",
    "GL_ARB_cull_distance",
    "GL_ARB_derivative_control",
    "GL_ARB_draw_instanced",
    "GL_ARB_enhanced_layouts",
    "GL_ARB_explicit_attrib_location",
    "GL_ARB_explicit_uniform_location",
    "GL_ARB_fragment_coord_conventions",
    "GL_ARB_gpu_shader5",
    "GL_ARB_sample_shading",
    "GL_ARB_separate_shader_objects",
    "GL_ARB_shader_ballot",
    "GL_ARB_shader_bit_encoding",
    "GL_ARB_shader_draw_parameters",
    "GL_ARB_shader_group_vote",
    "GL_ARB_shader_image_load_store",
    "GL_ARB_shader_image_size",
    "GL_ARB_shader_storage_buffer_object",
    "GL_ARB_shader_texture_image_samples",
    "GL_ARB_shader_texture_lod",
    "GL_ARB_shading_language_420pack",
    "GL_ARB_shading_language_packing",
    "GL_ARB_texture_cube_map_array",
    "GL_ARB_texture_gather",
    "GL_ARB_texture_multisample",
    "GL_ARB_texture_query_levels",
    "GL_ARB_texture_query_lod",
    "GL_ARB_texture_rectangle",
    "GL_ARB_uniform_buffer_object",
    "GL_EXT_control_flow_attributes",
    "GL_EXT_nonuniform_qualifier",
    "GL_EXT_samplerless_texture_functions",
    "GL_EXT_scalar_block_layout",
    "GL_EXT_texture_array",
    "GL_EXT_shader_explicit_arithmetic_types_float16",
    "GL_KHR_shader_subgroup_arithmetic",
    "GL_KHR_shader_subgroup_ballot",
    "GL_KHR_shader_subgroup_basic",
    "GL_KHR_shader_subgroup_shuffle",
    "GL_KHR_shader_subgroup_vote",
];
/// The same of OpenGL ES.
const EXTENSIONS_ES: [&str; 8] = [
    "GL_EXT_frag_depth",
    "GL_EXT_shader_io_blocks",
    "GL_EXT_shader_texture_lod",
    "GL_EXT_texture_buffer",
    "GL_OES_EGL_image_external",
    "GL_OES_shader_io_blocks",
    "GL_OES_standard_derivatives",
    "GL_OES_texture_3D",
];

/// A text without macros.
#[derive(Debug)]
pub struct Preprocessed {
    /// The text.
    pub text: String,
    /// From places in it to places in the user's.
    pub places: Places,
    /// What to know about it.
    pub notes: Vec<Diagnostic>,
}

/// A macro.
#[derive(Debug)]
struct Macro<'a> {
    /// Its parameters in order, if it has a list of them.
    parameters: Option<Set<Cow<'a, str>>>,
    /// What it stands for.
    body: Vec<Token<'a>>,
    /// It is being expanded, and does not expand within itself.
    busy: Cell<bool>,
}

impl<'a> Macro<'a> {
    fn new(parameters: Option<Set<Cow<'a, str>>>, body: Vec<Token<'a>>) -> Rc<Macro<'a>> {
        Rc::new(Macro { parameters, body, busy: Cell::new(false) })
    }

    /// It stands for the same: a macro may be defined again as what it is.
    fn is(&self, other: &Macro<'a>) -> bool {
        let [ours, theirs] = [self, other].map(|it| it.parameters.as_ref().map(Set::as_slice));
        ours == theirs && self.body == other.body
    }
}

/// A condition that is open.
struct Open {
    /// Where its `#if` stands.
    at: Span,
    /// Its text counts.
    active: bool,
    /// One of its branches counted, or none can.
    done: bool,
    /// `#else` was seen.
    last: bool,
}

/// What is read next before the text goes on, last first.
#[derive(Debug)]
enum Pending<'a> {
    Token(Token<'a>),
    /// The end of what a macro made: from here on it may be used again.
    End(Rc<Macro<'a>>),
}

struct Preprocessor<'a> {
    /// The text that is read.
    lexer: Lexer<'a>,
    options: &'a Options,
    macros: Map<Cow<'a, str>, Rc<Macro<'a>>>,
    conditions: Vec<Open>,
    /// Tokens that macros made.
    made: u64,
    version: u32,
    /// The version is one of OpenGL ES.
    es: bool,
    /// An extension has strings.
    strings: bool,
    out: String,
    places: Places,
    /// Up to here the text is done.
    copied: usize,
    /// Texts that are included.
    included: Vec<Included>,
    /// Names of the texts that include one another up to the one that is read.
    open_texts: Vec<String>,
    /// Conditions that texts further out opened.
    outer_conditions: usize,
    notes: Vec<Diagnostic>,
}

/// Removes macros, conditions and includes.
pub fn preprocess(text: &str, options: &Options) -> Result<Preprocessed, Stop> {
    let main = options.includes.as_ref().map_or("", Includes::main);
    let mut work = Preprocessor {
        lexer: Lexer::new(Cow::Borrowed(text), 0),
        options,
        macros: Map::default(),
        conditions: Vec::new(),
        made: 0,
        version: 110,
        es: false,
        strings: false,
        out: String::with_capacity(text.len()),
        places: Places::default(),
        copied: 0,
        included: Vec::new(),
        open_texts: vec![main.to_owned()],
        outer_conditions: 0,
        notes: Vec::new(),
    };
    work.known(false);
    let result = work.given().and_then(|()| work.run());
    let mut places = work.places;
    places.include(work.included);
    let mut notes = work.notes;
    let unmoved = places.unmoved();
    for note in &mut notes {
        unmoved.mend(note);
    }
    match result {
        Ok(()) => Ok(Preprocessed { text: work.out, places, notes }),
        Err(stop) => Err(stop.mended(&unmoved)),
    }
}

impl<'a> Preprocessor<'a> {
    /// The macros of the options.
    fn given(&mut self) -> Result<(), Stop> {
        for (name, value) in &self.options.defines {
            let mut lexer = Lexer::new(Cow::Owned(format!("{name} {value}")), 0);
            let tokens: Vec<_> = std::iter::from_fn(|| lexer.next()).collect();
            self.define(&tokens, Span::NONE).map_err(|_| {
                Stop::invalid(format!(
                    "the options define `{name}` as `{value}`, which is no macro"
                ))
            })?;
        }
        Ok(())
    }

    /// Reads one text to its end.
    fn run(&mut self) -> Result<(), Stop> {
        let mut pending = Vec::new();
        while let Some(token) = self.lexer.next() {
            if token.first && token.is("#") {
                self.directive(token.span())?;
                continue;
            }
            if !self.active() {
                continue;
            }
            self.gap(token.start);
            let plain = token.kind != Kind::Word || !self.may_expand(&token.text);
            if plain {
                self.put_token(&token, token.start)?;
                self.copied = token.end;
                continue;
            }
            let at = token.start;
            self.copied = token.end;
            pending.push(Pending::Token(token));
            let mut separate = false;
            while let Some(token) = self.expanded(&mut pending, true)? {
                if separate {
                    self.out.push(' ');
                }
                self.put_token(&token, at)?;
                separate = true;
            }
            // The lines of the arguments.
            let done = self.copied.max(self.lexer.last_end());
            let lines = self.lexer.between(self.copied, done).matches('\n').count();
            self.out.extend(std::iter::repeat_n('\n', lines));
            self.copied = done;
        }
        self.gap(self.lexer.end());
        if let Some(start) = self.lexer.open_comment {
            let span = Span { start: start as u32, end: start as u32 + 2 };
            return Err(Stop::invalid("this comment has no end (GLSL 4.60, 3.4)").at(span));
        }
        match self.conditions.get(self.outer_conditions..).and_then(<[Open]>::last) {
            Some(open) => Err(Stop::invalid("this condition has no `#endif`").at(open.at)),
            None => Ok(()),
        }
    }

    fn active(&self) -> bool {
        self.conditions.last().is_none_or(|open| open.active)
    }

    /// White space up to a place: the lines of what was left out stay.
    fn gap(&mut self, to: usize) {
        let gap = self.lexer.between(self.copied.min(to), to);
        if gap.bytes().all(|byte| byte.is_ascii_whitespace()) {
            self.out.push_str(gap);
        } else {
            let lines = gap.bytes().filter(|&byte| byte == b'\n').count();
            self.out.extend(std::iter::repeat_n('\n', lines));
            self.out.push(' ');
        }
    }

    fn put(&mut self, text: &str, at: usize) {
        self.places.push(self.out.len(), at);
        self.out.push_str(text);
    }

    /// A token of the program, whose source is at `at`. Only comments, directives and what a condition leaves out may
    /// hold characters that GLSL does not use (GLSL 4.60, 3.1).
    fn put_token(&mut self, token: &Token<'a>, at: usize) -> Result<(), Stop> {
        let known = |c| ".+-/*%<>[](){}^|&~=!:;,?".contains(c);
        let string = self.strings && token.text.len() > 1 && token.text.starts_with('"');
        if token.kind == Kind::Symbol
            && !string
            && let Some(foreign) = token.text.chars().find(|&c| !known(c))
        {
            let span = Span { start: at as u32, end: (at + foreign.len_utf8()) as u32 };
            return Err(Stop::invalid(format!("{foreign:?} is no character of GLSL")).at(span));
        }
        self.put(&token.text, at);
        Ok(())
    }

    fn may_expand(&self, name: &str) -> bool {
        self.macros.contains_key(name) || matches!(name, "__LINE__" | "__FILE__" | "__VERSION__")
    }

    /// Macros that are there from the start; those of the other profile go.
    fn known(&mut self, es: bool) {
        let (gone, there): (&[&str], &[&str]) = match es {
            true => (&EXTENSIONS, &EXTENSIONS_ES),
            false => (&[], &EXTENSIONS),
        };
        for name in gone {
            self.macros.shift_remove(*name);
        }
        let always: &[&str] = match es {
            true => &["GL_ES", "GL_FRAGMENT_PRECISION_HIGH", "GL_es_profile"],
            false => &["GL_FRAGMENT_PRECISION_HIGH"],
        };
        for &name in there.iter().chain(always) {
            self.defined(Cow::Borrowed(name));
        }
    }

    /// A macro that stands for 1.
    fn defined(&mut self, name: Cow<'a, str>) {
        let one = Token {
            kind: Kind::Number,
            text: Cow::Borrowed("1"),
            start: 0,
            end: 0,
            first: false,
            spent: false,
        };
        self.macros.insert(name, Macro::new(None, vec![one]));
    }

    /// The next token of what is pending, expanded; `None` at its end. With `outside` the arguments of a macro may
    /// stand in the text that follows.
    fn expanded(
        &mut self,
        pending: &mut Vec<Pending<'a>>,
        outside: bool,
    ) -> Result<Option<Token<'a>>, Stop> {
        while let Some(item) = pending.pop() {
            let mut token = match item {
                Pending::End(done) => {
                    done.busy.set(false);
                    continue;
                }
                Pending::Token(token) => token,
            };
            if token.kind != Kind::Word || token.spent {
                return Ok(Some(token));
            }
            let special = match &*token.text {
                "__LINE__" => {
                    let line = self.lexer.line_of(token.start) as i64 + self.lexer.shift;
                    Some(line.max(0).to_string())
                }
                "__FILE__" => Some(self.lexer.source.to_string()),
                "__VERSION__" => Some(self.version.to_string()),
                _ => None,
            };
            if let Some(text) = special {
                (token.kind, token.text) = (Kind::Number, Cow::Owned(text));
                return Ok(Some(token));
            }
            let Some(found) = self.macros.get(&token.text).cloned() else {
                return Ok(Some(token));
            };
            if found.busy.get() {
                token.spent = true;
                return Ok(Some(token));
            }
            let body = match &found.parameters {
                None => found.body.clone(),
                Some(parameters) => {
                    if !self.opens(pending, outside) {
                        return Ok(Some(token));
                    }
                    let arguments = self.arguments(pending, outside, &token, parameters.len())?;
                    self.substituted(&found, parameters, arguments)?
                }
            };
            let body = joined(body).map_err(|stop| stop.at(token.span()))?;
            self.count(body.len(), &token)?;
            found.busy.set(true);
            pending.push(Pending::End(found));
            pending.extend(body.into_iter().rev().map(|mut made| {
                (made.start, made.end) = (token.start, token.end);
                Pending::Token(made)
            }));
        }
        Ok(None)
    }

    fn count(&mut self, tokens: usize, at: &Token<'a>) -> Result<(), Stop> {
        self.made += tokens as u64 + 1;
        let limit = self.options.limits.expanded_tokens;
        if self.made > limit {
            let what = "tokens after macro expansion";
            let hint = "expand less by macros";
            return Err(Stop::limit(what, self.made, limit, hint).at(at.span()));
        }
        Ok(())
    }

    /// Whether a list of arguments follows; its bracket is taken.
    fn opens(&mut self, pending: &mut Vec<Pending<'a>>, outside: bool) -> bool {
        while let Some(Pending::End(done)) = pending.last() {
            done.busy.set(false);
            pending.pop();
        }
        match pending.last() {
            Some(Pending::Token(token)) => {
                let opens = token.is("(");
                if opens {
                    pending.pop();
                }
                opens
            }
            _ => outside && self.lexer.take("("),
        }
    }

    /// The arguments up to the closing bracket, as they stand.
    fn arguments(
        &mut self,
        pending: &mut Vec<Pending<'a>>,
        outside: bool,
        name: &Token<'a>,
        parameters: usize,
    ) -> Result<Vec<Vec<Token<'a>>>, Stop> {
        let mut arguments = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let next = match pending.pop() {
                Some(Pending::End(done)) => {
                    done.busy.set(false);
                    continue;
                }
                Some(Pending::Token(token)) => Some(token),
                None if outside => {
                    self.lexer.next().filter(|token| !(token.first && token.is("#")))
                }
                None => None,
            };
            let Some(token) = next else {
                let message = format!("the arguments of the macro `{}` have no end", name.text);
                return Err(Stop::invalid(message).at(name.span()));
            };
            match &*token.text {
                ")" if depth == 0 => break,
                "," if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            self.count(0, &token)?;
            arguments.last_mut().expect("there is a first argument").push(token);
        }
        let empty = parameters == 0 && arguments.len() == 1 && arguments[0].is_empty();
        let given = if empty { 0 } else { arguments.len() };
        if given != parameters {
            let message =
                format!("the macro `{}` takes {parameters} arguments, not {given}", name.text);
            return Err(Stop::invalid(message).at(name.span()));
        }
        Ok(arguments)
    }

    /// The body of a macro with its arguments in it: expanded ones, but for those that `##` joins.
    fn substituted(
        &mut self,
        found: &Macro<'a>,
        parameters: &Set<Cow<'a, str>>,
        arguments: Vec<Vec<Token<'a>>>,
    ) -> Result<Vec<Token<'a>>, Stop> {
        let mut expanded: Vec<Option<Vec<Token<'a>>>> = vec![None; arguments.len()];
        let mut made = Vec::with_capacity(found.body.len());
        for (index, token) in found.body.iter().enumerate() {
            let position = match token.kind {
                Kind::Word => parameters.get_index_of(&token.text),
                _ => None,
            };
            let Some(position) = position else {
                made.push(token.clone());
                continue;
            };
            let joins = |at: Option<usize>| {
                at.and_then(|at| found.body.get(at)).is_some_and(|t| t.is("##"))
            };
            let before = made.len();
            if joins(index.checked_sub(1)) || joins(Some(index + 1)) {
                made.extend(arguments[position].iter().cloned());
                if arguments[position].is_empty() {
                    // Something must stand where `##` joins nothing.
                    made.push(Token {
                        kind: Kind::Nothing,
                        text: Cow::Borrowed(""),
                        ..token.clone()
                    });
                }
            } else {
                if expanded[position].is_none() {
                    expanded[position] = Some(self.expand_all(arguments[position].clone())?);
                }
                made.extend(expanded[position].iter().flatten().cloned());
            }
            self.count(made.len() - before, token)?;
        }
        Ok(made)
    }

    /// Tokens that stand for themselves: an argument, or a condition.
    fn expand_all(&mut self, tokens: Vec<Token<'a>>) -> Result<Vec<Token<'a>>, Stop> {
        if !tokens.iter().any(|token| token.kind == Kind::Word && self.may_expand(&token.text)) {
            return Ok(tokens);
        }
        self.lexer.depth += 1;
        if self.lexer.depth > NESTING {
            let what = "uses of macros within one another's arguments";
            return Err(Stop::limit(what, NESTING as u64 + 1, NESTING as u64, "nest less")
                .at(tokens[0].span()));
        }
        let mut pending: Vec<_> = tokens.into_iter().rev().map(Pending::Token).collect();
        let mut made = Vec::new();
        while let Some(token) = self.expanded(&mut pending, false)? {
            made.push(token);
        }
        self.lexer.depth -= 1;
        Ok(made)
    }

    fn directive(&mut self, hash: Span) -> Result<(), Stop> {
        let line = self.lexer.line();
        let Some(name) = line.first() else {
            return Ok(());
        };
        let at = name.span();
        let rest = &line[1..];
        match &*name.text {
            "if" | "ifdef" | "ifndef" => {
                let outer = self.active();
                if self.conditions.len() >= NESTING {
                    let (needed, limit) = (NESTING as u64 + 1, NESTING as u64);
                    return Err(Stop::limit("nested conditions", needed, limit, "nest less").at(at));
                }
                let active = outer
                    && match &*name.text {
                        "if" => self.condition(rest, at)?,
                        "ifdef" => self.is_defined(rest, at)?,
                        _ => !self.is_defined(rest, at)?,
                    };
                let done = active || !outer;
                self.conditions.push(Open { at: hash, active, done, last: false });
            }
            "elif" | "else" => {
                let is_else = name.is("else");
                let own = self.conditions.get_mut(self.outer_conditions..);
                let Some(open) = own.and_then(<[Open]>::last_mut) else {
                    return Err(Stop::invalid(format!("`#{}` without `#if`", name.text)).at(at));
                };
                if open.last {
                    return Err(Stop::invalid(format!("`#{}` after `#else`", name.text)).at(at));
                }
                let asked = !open.done;
                open.last = is_else;
                open.active = false;
                let active = asked && (is_else || self.condition(rest, at)?);
                if let Some(open) = self.conditions.last_mut() {
                    open.active = active;
                    open.done |= active;
                }
            }
            "endif" => {
                if self.conditions.len() == self.outer_conditions {
                    return Err(Stop::invalid("`#endif` without `#if`").at(at));
                }
                self.conditions.pop();
            }
            _ if !self.active() => {}
            "define" => {
                self.may_change(rest)?;
                self.define(rest, at)?;
            }
            "undef" => {
                let [name] = rest else {
                    return Err(Stop::invalid("`#undef` takes one name").at(at));
                };
                self.may_change(rest)?;
                self.macros.shift_remove(&name.text);
            }
            "error" => {
                let (start, end) =
                    (at.end as usize, line.last().map_or(at.end as usize, |t| t.end));
                let message = format!("#error{}", self.lexer.between(start, end));
                return Err(Stop::invalid(message).at(hash));
            }
            "line" => self.set_line(rest, at)?,
            // No other hint changes what a program means.
            "pragma" if !rest.first().is_some_and(|word| word.is(MEMORY_MODEL)) => {}
            "version" | "extension" | "pragma" => {
                if name.is("version") {
                    self.set_version(rest);
                } else if name.is("extension") && !self.extension(rest, at)? {
                    return Ok(());
                }
                self.gap(hash.start as usize);
                self.put("#", hash.start as usize);
                for (index, token) in line.iter().enumerate() {
                    if index > 0 {
                        self.out.push(' ');
                    }
                    self.put_token(token, token.start)?;
                }
                self.copied = line.last().map_or(self.copied, |last| last.end);
            }
            "include" => self.include(hash, at)?,
            other => {
                return Err(Stop::invalid(format!("there is no directive `#{other}`")).at(at));
            }
        }
        Ok(())
    }

    /// `#line`: messages go on to name lines of the text itself.
    fn set_line(&mut self, rest: &[Token<'a>], at: Span) -> Result<(), Stop> {
        let mut rest = self.expand_all(rest.to_vec())?;
        // A name in quotes is an extension's (GL_GOOGLE_cpp_style_line_directive).
        rest.truncate(
            rest.iter().position(|token| token.text.starts_with('"')).unwrap_or(rest.len()),
        );
        let values = condition::values(&rest, true).map_err(|stop| stop.at(at))?;
        let (line, source) = match values[..] {
            [line] => (line, i64::from(self.lexer.source)),
            [line, source] => (line, source),
            _ => (-1, -1),
        };
        let (Ok(line), Ok(source)) = (u32::try_from(line), u32::try_from(source)) else {
            let message = "`#line` takes the number of a line, and one of a source behind it";
            return Err(Stop::invalid(message).at(at));
        };
        // What the number counts for changed: the next line, or this one (GLSL 3.30, 3.3; ES 3.00, 3.4).
        let next = i64::from(line) + i64::from(!self.es && self.version < 330);
        self.lexer.shift = next - (self.lexer.line_of(at.start as usize) as i64 + 1);
        self.lexer.source = source;
        Ok(())
    }

    /// Judges an `#extension`; false where the reader is not to see it.
    fn extension(&mut self, rest: &[Token<'a>], at: Span) -> Result<bool, Stop> {
        let [name, colon, behaviour] = rest else {
            let message = "`#extension` is written `#extension NAME : BEHAVIOUR`";
            return Err(Stop::invalid(message).at(at));
        };
        let asked = &*behaviour.text;
        if !colon.is(":") || !matches!(asked, "require" | "enable" | "warn" | "disable") {
            let message = "an extension is to `require`, to `enable`, to `warn` of or to `disable`";
            return Err(Stop::invalid(message).at(behaviour.span()));
        }
        if name.is("all") {
            let can = matches!(asked, "warn" | "disable");
            let message = format!("`all` extensions together cannot be asked to `{asked}`");
            return if can { Ok(true) } else { Err(Stop::invalid(message).at(name.span())) };
        }
        if matches!(&*name.text, "GL_EXT_debug_printf" | "GL_EXT_spirv_intrinsics") {
            self.strings = asked != "disable";
        }
        if REGISTERED.lines().any(|known| name.is(known)) {
            // What a text switches on is there (GLSL 4.60, 3.3).
            if asked != "disable" {
                self.defined(name.text.clone());
            }
            return Ok(true);
        }
        let message = format!("there is no extension `{}`", name.text);
        match asked {
            "require" => Err(Stop::invalid(message).at(name.span())),
            "disable" => Ok(false),
            _ => {
                let mut warning = Diagnostic::note("extension", message).at(name.span(), "");
                warning.severity = Severity::Warning;
                self.notes.push(warning);
                Ok(false)
            }
        }
    }

    /// Reads the text that an `#include` names in its place.
    fn include(&mut self, hash: Span, at: Span) -> Result<(), Stop> {
        let line = self.lexer.raw_line(at.end as usize).trim_start();
        let name = match line.split_at_checked(1) {
            Some(("\"", rest)) => rest.split_once('"').map(|(name, _)| (name.to_owned(), false)),
            Some(("<", rest)) => rest.split_once('>').map(|(name, _)| (name.to_owned(), true)),
            _ => None,
        };
        let Some((name, angled)) = name.filter(|(name, _)| !name.is_empty()) else {
            return Err(Stop::invalid("`#include` takes a name in \"\" or <>").at(at));
        };
        let Some(includes) = &self.options.includes else {
            let message = format!("`{name}` cannot be included: no texts to include are given");
            return Err(Stop::invalid(message).at(at));
        };
        let from = self.open_texts.last().map_or("", String::as_str);
        let found = includes.ask(&Include { name: &name, angled, from });
        let found = found.map_err(|why| {
            Stop::invalid(format!("`{name}` cannot be included")).with_note(why).at(at)
        })?;
        if self.open_texts.len() > INCLUDES {
            if self.open_texts.contains(&found.name) {
                let message = format!("`{}` includes itself without end", found.name);
                return Err(Stop::invalid(message).at(at));
            }
            let (needed, limit) = (INCLUDES as u64 + 1, INCLUDES as u64);
            let what = "texts that include one another";
            return Err(Stop::limit(what, needed, limit, "include less deep").at(at));
        }
        let last = self.included.last().map(|last| last.base as usize + last.text.len() + 1);
        let base = last.unwrap_or_else(|| self.lexer.end() + 1);
        let (needed, limit) = ((base + found.text.len()) as u64, self.options.limits.source_bytes);
        if needed > limit {
            let what = "bytes of source with what it includes";
            return Err(Stop::limit(what, needed, limit, "include less").at(at));
        }
        self.gap(hash.start as usize);
        let done = self.lexer.last_end();
        let IncludedText { name, text } = found;
        let text = crate::with_line_feeds(&text).unwrap_or(text);
        let span = Span { start: hash.start, end: at.end };
        self.included.push(Included {
            name: name.clone(),
            text: text.clone(),
            base: base as u32,
            at: span,
        });
        let lexer = std::mem::replace(&mut self.lexer, Lexer::new(Cow::Owned(text), base));
        let outer = std::mem::replace(&mut self.outer_conditions, self.conditions.len());
        self.open_texts.push(name);
        self.copied = base;
        self.run()?;
        self.open_texts.pop();
        (self.lexer, self.outer_conditions, self.copied) = (lexer, outer, done);
        Ok(())
    }

    fn set_version(&mut self, rest: &[Token<'a>]) {
        let number = rest.first().and_then(|token| token.text.parse().ok());
        self.version = number.unwrap_or(self.version);
        let profile = rest.get(1).map(|token| &*token.text);
        let es = profile == Some("es") || self.version == 100;
        self.es = es;
        if es {
            self.known(true);
        }
        let name = match profile {
            Some("compatibility") => "GL_compatibility_profile",
            _ if !es && self.version >= 150 => "GL_core_profile",
            _ => return,
        };
        let Some(first) = rest.first() else {
            return;
        };
        let one = Token { kind: Kind::Number, text: Cow::Borrowed("1"), ..first.clone() };
        self.macros.insert(Cow::Borrowed(name), Macro::new(None, vec![one]));
    }

    fn is_defined(&self, rest: &[Token<'a>], at: Span) -> Result<bool, Stop> {
        match rest {
            [name, ..] if name.kind == Kind::Word => Ok(self.may_expand(&name.text)),
            _ => Err(Stop::invalid("the name of a macro is missing").at(at)),
        }
    }

    /// Refuses to change macros that the language keeps (GLSL 4.60, 3.3).
    fn may_change(&self, rest: &[Token<'a>]) -> Result<(), Stop> {
        match rest.first() {
            Some(name)
                if name.text.starts_with("GL_")
                    || matches!(&*name.text, "__LINE__" | "__FILE__" | "__VERSION__") =>
            {
                let message = format!(
                    "`{}` is kept by the language: it is not defined or undefined (GLSL 4.60, 3.3)",
                    name.text
                );
                Err(Stop::invalid(message).at(name.span()))
            }
            _ => Ok(()),
        }
    }

    fn define(&mut self, rest: &[Token<'a>], at: Span) -> Result<(), Stop> {
        let [name, body @ ..] = rest else {
            return Err(Stop::invalid("the name of a macro is missing").at(at));
        };
        if name.kind != Kind::Word || name.is("defined") {
            let message = format!("`{}` cannot be the name of a macro", name.text);
            return Err(Stop::invalid(message).at(name.span()));
        }
        let (mut parameters, mut body) = (None, body);
        if let Some(open) = body.first().filter(|open| open.is("(") && open.start == name.end) {
            let mut names = Set::default();
            let mut index = 1;
            loop {
                match body.get(index) {
                    Some(close) if close.is(")") && names.is_empty() => break,
                    Some(name) if name.kind == Kind::Word => {
                        if !names.insert(name.text.clone()) {
                            let message = format!("the parameter `{}` stands twice", name.text);
                            return Err(Stop::invalid(message).at(name.span()));
                        }
                    }
                    _ => {
                        return Err(
                            Stop::invalid("a list of parameters is malformed").at(open.span())
                        );
                    }
                }
                index += 1;
                match body.get(index) {
                    Some(close) if close.is(")") => break,
                    Some(comma) if comma.is(",") => index += 1,
                    _ => {
                        return Err(
                            Stop::invalid("a list of parameters is malformed").at(open.span())
                        );
                    }
                }
            }
            body = &body[index + 1..];
            parameters = Some(names);
        }
        if body.first().is_some_and(|t| t.is("##")) || body.last().is_some_and(|t| t.is("##")) {
            return Err(Stop::invalid("`##` joins two tokens: it stands between them").at(at));
        }
        let made = Macro::new(parameters, body.to_vec());
        if let Some(old) = self.macros.get(&name.text)
            && !old.is(&made)
            && !name.text.starts_with("GL_")
        {
            let message =
                format!("the macro `{}` is defined already, as something else", name.text);
            return Err(Stop::invalid(message).at(name.span()));
        }
        self.macros.insert(name.text.clone(), made);
        Ok(())
    }

    /// The truth of a condition.
    fn condition(&mut self, tokens: &[Token<'a>], at: Span) -> Result<bool, Stop> {
        let mut known = Vec::with_capacity(tokens.len());
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            index += 1;
            if !token.is("defined") {
                known.push(token.clone());
                continue;
            }
            let bracket = tokens.get(index).is_some_and(|open| open.is("("));
            index += usize::from(bracket);
            let name = tokens.get(index..).unwrap_or_default();
            let truth = self.is_defined(name, at)?;
            index += 1;
            if bracket && !tokens.get(index).is_some_and(|close| close.is(")")) {
                return Err(Stop::invalid("`defined(` has no `)`").at(token.span()));
            }
            index += usize::from(bracket);
            let text = Cow::Borrowed(if truth { "1" } else { "0" });
            known.push(Token { kind: Kind::Number, text, ..token.clone() });
        }
        let known = self.expand_all(known)?;
        condition::value(&known, self.es).map(|value| value != 0).map_err(|stop| stop.at(at))
    }
}

/// Tokens with `##` carried out.
fn joined(tokens: Vec<Token<'_>>) -> Result<Vec<Token<'_>>, Stop> {
    if !tokens.iter().any(|token| token.is("##") || token.kind == Kind::Nothing) {
        return Ok(tokens);
    }
    let mut made: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if !token.is("##") {
            made.push(token);
            continue;
        }
        let (Some(left), Some(right)) = (made.last_mut(), tokens.next()) else {
            return Err(Stop::invalid("`##` joins two tokens: it stands between them"));
        };
        let text = format!("{}{}", left.text, right.text);
        left.kind = match lex::single(&text) {
            Some(kind) => kind,
            None => return Err(Stop::invalid(format!("`##` makes `{text}`, which is no token"))),
        };
        // A name that may not expand makes another one, which may.
        (left.text, left.spent) = (Cow::Owned(text), false);
    }
    made.retain(|token| token.kind != Kind::Nothing);
    Ok(made)
}

#[cfg(test)]
mod tests;
