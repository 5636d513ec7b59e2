//! GLSL as people write it to GLSL as naga reads it.
//!
//! naga reads GLSL 4.40 to 4.60 for Vulkan, with images and samplers apart. Here other versions of the
//! same language get a version that naga takes, combined samplers (`uniform sampler2D t;`) become a
//! texture and a sampler of the same binding, and blocks without a binding get the next free one.
//! Everything happens on tokens; [`Places`] leads back to the user's text.

mod beyond;
mod constants;
mod dialects;
mod layouts;
mod library;
mod uniforms;

pub use beyond::is_beyond_naga;
pub use layouts::{Placed, distances, place};

use crate::diagnostic::Diagnostic;
use crate::places::Places;
use gpucc_ir::ssa::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// Versions without a profile of their own whose programs are programs of 4.50.
const DESKTOP: [&str; 8] = ["130", "140", "150", "330", "400", "410", "420", "430"];
/// Versions of OpenGL ES likewise.
const EMBEDDED: [&str; 3] = ["300", "310", "320"];
/// Kinds of combined samplers that naga has textures for.
const SHAPES: [&str; 9] = [
    "1D",
    "2D",
    "3D",
    "Cube",
    "1DArray",
    "2DArray",
    "CubeArray",
    "2DMS",
    "2DMSArray",
];
/// Qualifiers that may stand between `uniform` and a type.
const PRECISIONS: [&str; 3] = ["highp", "mediump", "lowp"];

/// Qualifiers that may stand between `in` or `out` and a type.
const QUALIFIERS: [&str; 9] = [
    "flat",
    "smooth",
    "noperspective",
    "centroid",
    "sample",
    "highp",
    "mediump",
    "lowp",
    "invariant",
];

/// What is read instead.
#[derive(Debug, Default)]
pub struct Rewritten {
    /// The text.
    pub text: String,
    /// From places in it to places in the user's.
    pub places: Places,
    /// What was inferred.
    pub notes: Vec<Diagnostic>,
    /// Members of blocks whose places the text says.
    pub placed: Vec<Placed>,
}

/// Rewrites a text. What is not understood stays as it is, for naga to judge. Values of specialization
/// constants are taken out of `overrides`.
pub fn rewrite(text: &str, stage: Stage, overrides: &mut Vec<(String, f64)>) -> Rewritten {
    let mut work = Work::new(text, stage);
    work.constants(overrides);
    work.dialects();
    work.library();
    work.layouts();
    work.loose_uniforms();
    let first = work.finish();
    let mut second = as_vulkan(&first.text, stage);
    second.places.after(first.places);
    second.notes.splice(0..0, first.notes);
    second.placed = first.placed;
    second
}

/// The second step: what OpenGL leaves open and Vulkan wants to be told.
fn as_vulkan(text: &str, stage: Stage) -> Rewritten {
    let mut work = Work::new(text, stage);
    work.version();
    work.qualifiers();
    work.bindings();
    work.locations();
    work.samplers();
    work.finish()
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Token {
    start: usize,
    end: usize,
}

/// Words, numbers and single characters; comments are left out.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest[0] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                at += end.map_or(rest.len(), |end| end + 4);
                continue;
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => rest
                .iter()
                .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
                .unwrap_or(rest.len()),
            byte if byte < 0x80 => 1,
            _ => rest.iter().position(|b| *b < 0x80).unwrap_or(rest.len()),
        };
        tokens.push(Token {
            start: at,
            end: at + length,
        });
        at += length;
    }
    tokens
}

/// A combined sampler's type: the texture's, the sampler's, and the constructor that joins them.
struct Combined<'a> {
    texture: String,
    sampler: &'static str,
    joined: &'a str,
}

fn combined(name: &str) -> Option<Combined<'_>> {
    let (prefix, rest) = match name.strip_prefix(['i', 'u']) {
        Some(rest) => (&name[..1], rest),
        None => ("", name),
    };
    let shape = rest.strip_prefix("sampler")?;
    let (shape, sampler) = match shape.strip_suffix("Shadow") {
        Some(shape) => (shape, "samplerShadow"),
        None => (shape, "sampler"),
    };
    SHAPES.contains(&shape).then(|| Combined {
        texture: format!("{prefix}texture{shape}"),
        sampler,
        joined: name,
    })
}

struct Edit {
    at: usize,
    removed: usize,
    added: String,
}

struct Work<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    edits: Vec<Edit>,
    /// Names of combined samplers with the constructor of each.
    combined: BTreeMap<&'a str, &'a str>,
    /// Functions that take one.
    takers: BTreeSet<&'a str>,
    /// Combined samplers without a binding, and what they get.
    inferred: BTreeMap<&'a str, u32>,
    notes: Vec<Diagnostic>,
    stage: Stage,
    /// Where each word stands.
    words: BTreeMap<&'a str, Vec<usize>>,
    /// Braces around each token, and whether it is part of a directive.
    around: Vec<(u32, bool)>,
    /// What comes before everything but the version.
    prelude: Vec<String>,
    /// Members of the block of loose uniforms.
    loose: Vec<String>,
    placed: Vec<Placed>,
}

impl<'a> Work<'a> {
    fn new(text: &'a str, stage: Stage) -> Self {
        let tokens = tokens(text);
        let mut words: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut around = Vec::with_capacity(tokens.len());
        let mut depth = 0u32;
        let mut directive = false;
        let mut end = 0;
        for (index, token) in tokens.iter().enumerate() {
            let word = &text[token.start..token.end];
            let first = index == 0 || text[end..token.start].contains('\n');
            directive = if first { word == "#" } else { directive };
            end = token.end;
            if word == "}" {
                depth = depth.saturating_sub(1);
            }
            around.push((depth, directive));
            if word == "{" {
                depth += 1;
            }
            if word.len() > 1 || word.as_bytes()[0].is_ascii_alphabetic() {
                words.entry(word).or_default().push(index);
            }
        }
        Work {
            text,
            tokens,
            edits: Vec::new(),
            combined: BTreeMap::new(),
            takers: BTreeSet::new(),
            inferred: BTreeMap::new(),
            notes: Vec::new(),
            stage,
            words,
            around,
            prelude: Vec::new(),
            loose: Vec::new(),
            placed: Vec::new(),
        }
    }

    /// Where a word stands, in order.
    fn uses(&self, name: &str) -> &[usize] {
        self.words.get(name).map_or(&[], Vec::as_slice)
    }

    /// Braces around a token.
    fn depth(&self, index: usize) -> u32 {
        self.around.get(index).map_or(0, |around| around.0)
    }

    /// The bracket that closes the one at a token.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0i32;
        for at in open..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return (depth == 0 && at > open).then_some(at);
            }
        }
        None
    }

    /// The bracket that opens the one at a token.
    fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0i32;
        for at in (0..=close).rev() {
            match self.word(at) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return (depth == 0 && at < close).then_some(at);
            }
        }
        None
    }

    /// Replaces tokens whatever the length.
    fn replace_text(&mut self, first: usize, last: usize, added: &str) {
        let (start, end) = (self.tokens[first].start, self.tokens[last].end);
        self.edits.push(Edit {
            at: start,
            removed: end - start,
            added: added.to_owned(),
        });
    }

    fn word(&self, index: usize) -> &'a str {
        self.tokens
            .get(index)
            .map_or("", |token| &self.text[token.start..token.end])
    }

    fn is_word(&self, index: usize) -> bool {
        let first = self.word(index).bytes().next();
        first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    }

    fn insert(&mut self, at: usize, added: impl Into<String>) {
        let added = added.into();
        self.edits.push(Edit {
            at,
            removed: 0,
            added,
        });
    }

    fn replace(&mut self, first: usize, last: usize, added: impl Into<String>) {
        let (start, end) = (self.tokens[first].start, self.tokens[last].end);
        let mut added = added.into();
        while added.len() < end - start {
            added.push(' ');
        }
        self.edits.push(Edit {
            at: start,
            removed: end - start,
            added,
        });
    }

    /// `#version 310 es` and others that 4.50 can stand for, and names that it has for theirs.
    fn version(&mut self) {
        if self.word(0) == "#" && self.word(1) == "version" {
            let (number, profile) = (self.word(2), self.word(3));
            if EMBEDDED.contains(&number) && profile == "es" {
                self.replace(2, 3, "450");
            } else if DESKTOP.contains(&number) && profile != "es" && profile != "compatibility" {
                self.replace(2, 2, "450");
            }
        }
        for index in 0..self.tokens.len() {
            match self.word(index) {
                "gl_VertexID" => self.replace(index, index, "gl_VertexIndex"),
                "gl_InstanceID" => self.replace(index, index, "gl_InstanceIndex"),
                _ => {}
            }
        }
    }

    /// Precision and `invariant` mean nothing to a machine that computes everything alike, and naga
    /// knows few of the places where they may stand; nor `uniform` again within a block.
    fn qualifiers(&mut self) {
        let mut index = 0;
        let mut depth = 0;
        let mut block = None;
        while index < self.tokens.len() {
            let word = self.word(index);
            match word {
                "{" => {
                    depth += 1;
                    // `uniform Name {`
                    let interface = index >= 2
                        && matches!(self.word(index - 2), "uniform" | "buffer")
                        && self.is_word(index - 1);
                    if interface {
                        block = Some(depth);
                    }
                }
                "}" => {
                    if block == Some(depth) {
                        block = None;
                    }
                    depth -= 1;
                }
                "precision" if PRECISIONS.contains(&self.word(index + 1)) => {
                    let end = (index..index + 5).find(|at| self.word(*at) == ";");
                    if let Some(end) = end {
                        self.blank(index, end);
                        index = end;
                    }
                }
                "invariant" if self.is_word(index + 1) && self.word(index + 2) == ";" => {
                    self.blank(index, index + 2);
                    index += 2;
                }
                "invariant" | "highp" | "mediump" | "lowp" => self.blank(index, index),
                "uniform" if block.is_some() => self.blank(index, index),
                // naga has `barrier` alone, which orders all memory too.
                _ if self.orders_memory(index) => {
                    let mut next = index;
                    while self.orders_memory(next) {
                        next += 4;
                    }
                    if self.word(next) == "barrier" {
                        self.blank(index, next - 1);
                        index = next;
                        continue;
                    }
                }
                _ => {}
            }
            index += 1;
        }
    }

    /// `memoryBarrierShared();` and the like.
    fn orders_memory(&self, index: usize) -> bool {
        let name = self.word(index);
        (name.starts_with("memoryBarrier") || name == "groupMemoryBarrier")
            && (index + 1..)
                .zip(["(", ")", ";"])
                .all(|(at, word)| self.word(at) == word)
    }

    /// Spaces instead; lines stay.
    fn blank(&mut self, first: usize, last: usize) {
        let (start, end) = (self.tokens[first].start, self.tokens[last].end);
        let spaces = |c: char| if c == '\n' { '\n' } else { ' ' };
        let added: String = self.text[start..end]
            .chars()
            .filter(char::is_ascii)
            .map(spaces)
            .collect();
        self.edits.push(Edit {
            at: start,
            removed: end - start,
            added,
        });
    }

    /// Inputs and outputs without `location`: the next free ones, in the order of the text.
    fn locations(&mut self) {
        let mut depth = 0;
        let mut taken: [BTreeSet<u32>; 2] = Default::default();
        let mut without = Vec::new();
        for index in 0..self.tokens.len() {
            match self.word(index) {
                "{" | "(" => depth += 1,
                "}" | ")" => depth -= 1,
                word @ ("in" | "out") if depth == 0 && !self.in_directive(index) => {
                    let mut ty = index + 1;
                    while QUALIFIERS.contains(&self.word(ty)) {
                        ty += 1;
                    }
                    let block = self.is_word(ty) && self.word(ty + 1) == "{";
                    if !self.is_word(ty) || !block && !self.is_word(ty + 1) {
                        continue;
                    }
                    let direction = usize::from(word == "out");
                    let size = match block {
                        true => self.block_locations(ty + 1),
                        false => self.location_size(ty),
                    };
                    let name = ty + usize::from(!block);
                    let first = self.declaration_start(index);
                    let stated = (first..index)
                        .find(|&at| self.word(at) == "location" && self.word(at + 1) == "=");
                    match stated.map(|at| self.word(at + 2).parse::<u32>()) {
                        Some(Ok(at)) => {
                            taken[direction].extend(at..at.saturating_add(size.min(64)))
                        }
                        Some(Err(_)) => {}
                        None => without.push((direction, first, index, self.word(name), size)),
                    }
                }
                _ => {}
            }
        }
        for (direction, first, index, name, size) in without {
            if name.starts_with("gl_") || size > 64 {
                continue;
            }
            let fits = |at: &u32| (*at..at + size).all(|at| !taken[direction].contains(&at));
            let Some(free) = (0..1024).find(fits) else {
                continue;
            };
            taken[direction].extend(free..free + size);
            self.qualify(first, index, &format!("location = {free}"));
            let what = ["input", "output"][direction];
            self.notes.push(Diagnostic::note(
                "location",
                format!("the {what} `{name}` has no location: it gets {free}"),
            ));
        }
    }

    /// Locations that the members of a block take; more than there are where it says some itself.
    fn block_locations(&self, open: usize) -> u32 {
        let Some(close) = self.closing(open) else {
            return u32::MAX;
        };
        let mut size = 0u32;
        let mut at = open + 1;
        while at < close {
            let end = (at..close).find(|&end| self.word(end) == ";");
            while QUALIFIERS.contains(&self.word(at)) {
                at += 1;
            }
            if self.word(at) == "layout" {
                return u32::MAX;
            }
            size = size.saturating_add(self.location_size(at));
            at = end.map_or(close, |end| end + 1);
        }
        size
    }

    /// Locations that a declaration takes whose type stands at a token.
    fn location_size(&self, ty: usize) -> u32 {
        let name = self.word(ty);
        let columns = name
            .find("mat")
            .and_then(|at| name[at + 3..].chars().next())
            .and_then(|digit| digit.to_digit(10))
            .unwrap_or(1);
        let mut elements = 1u32;
        for at in [ty + 1, ty + 2] {
            if self.word(at) == "[" {
                let count: u32 = self.word(at + 1).parse().unwrap_or(1);
                elements = elements.saturating_mul(count);
            }
        }
        columns.saturating_mul(elements)
    }

    /// Adds to the `layout(...)` of the declaration that begins at a token, or gives it one.
    fn qualify(&mut self, first: usize, index: usize, what: &str) {
        let layout =
            (first..index).find(|&at| self.word(at) == "layout" && self.word(at + 1) == "(");
        match layout {
            Some(at) => {
                let inside = self.tokens[at + 1].end;
                self.insert(inside, format!("{what}, "));
            }
            None => {
                let start = self.tokens[first].start;
                self.insert(start, format!("layout({what}) "));
            }
        }
    }

    /// Blocks and opaque uniforms without `binding`: the next free one of set 0.
    fn bindings(&mut self) {
        let mut taken: BTreeSet<u32> = (0..self.tokens.len())
            .filter(|&index| self.word(index) == "binding" && self.word(index + 1) == "=")
            .filter_map(|index| self.word(index + 2).parse().ok())
            .collect();
        for index in 0..self.tokens.len() {
            if !matches!(self.word(index), "uniform" | "buffer") {
                continue;
            }
            let mut name = index + 1;
            while PRECISIONS.contains(&self.word(name))
                || matches!(
                    self.word(name),
                    "readonly" | "writeonly" | "coherent" | "volatile" | "restrict"
                )
            {
                name += 1;
            }
            let block = self.is_word(name) && self.word(name + 1) == "{";
            let opaque = is_opaque(self.word(name)) && self.is_word(name + 1);
            if !block && !opaque {
                continue;
            }
            let first = self.declaration_start(index);
            let words: Vec<&str> = (first..index).map(|at| self.word(at)).collect();
            let has = |word: &str| words.contains(&word);
            if has("binding") || has("push_constant") || has("shaderRecordEXT") || has("#") {
                continue;
            }
            let mut next = || {
                let free = (0..).find(|number| !taken.contains(number));
                let free = free.expect("there are fewer bindings than numbers");
                taken.insert(free);
                free
            };
            if opaque && combined(self.word(name)).is_some() {
                for name in self.declared(name + 1) {
                    let free = next();
                    self.inferred.insert(name, free);
                    self.note_binding(name, free);
                }
                continue;
            }
            let free = next();
            self.qualify(first, index, &format!("binding = {free}"));
            let what = match block {
                true => self.word(name),
                false => self.word(name + 1),
            };
            self.note_binding(what, free);
        }
    }

    fn note_binding(&mut self, what: &str, free: u32) {
        self.notes.push(Diagnostic::note(
            "binding",
            format!("`{what}` has no binding: it gets binding {free} of set 0"),
        ));
    }

    /// The names of a declaration whose first stands at a token.
    fn declared(&self, mut at: usize) -> Vec<&'a str> {
        let mut names = Vec::new();
        while self.is_word(at) {
            names.push(self.word(at));
            at = self.after_index(at + 1);
            if self.word(at) != "," {
                break;
            }
            at += 1;
        }
        names
    }

    /// The first token of the declaration that a token belongs to.
    fn declaration_start(&self, index: usize) -> usize {
        let mut first = index;
        while first > 0 {
            let before = self.tokens[first - 1];
            let ends = matches!(self.word(first - 1), ";" | "}" | "{");
            // A directive ends with its line.
            let directive = self.in_directive(first - 1)
                && self.text[before.end..self.tokens[first].start].contains('\n');
            if ends || directive {
                break;
            }
            first -= 1;
        }
        first
    }

    /// A token on a line that starts with `#`.
    fn in_directive(&self, index: usize) -> bool {
        self.around.get(index).is_some_and(|around| around.1)
    }

    fn samplers(&mut self) {
        // Open parentheses with what stands before each.
        let mut open: Vec<&'a str> = Vec::new();
        // Locals that hide a combined sampler: its constructor, and the depth of their block.
        let mut hidden: Vec<(&'a str, &'a str, usize)> = Vec::new();
        let mut starting: Vec<&'a str> = Vec::new();
        let mut depth = 0;
        let mut index = 0;
        while index < self.tokens.len() {
            let word = self.word(index);
            match word {
                "(" => open.push(match index.checked_sub(1) {
                    Some(before) => self.word(before),
                    None => "",
                }),
                ")" => {
                    open.pop();
                }
                "{" => depth += 1,
                "}" => {
                    depth = depth.max(1) - 1;
                    while let Some((name, joined, _)) = hidden.pop_if(|one| one.2 > depth) {
                        self.combined.insert(name, joined);
                    }
                }
                // A local's name counts from the end of its declaration on.
                ";" => {
                    for name in starting.drain(..) {
                        if let Some(joined) = self.combined.remove(name) {
                            hidden.push((name, joined, depth));
                        }
                    }
                }
                _ if self.is_word(index) => {
                    if let Some(kind) = combined(word) {
                        index = self.declaration(index, &kind, open.last().copied());
                        continue;
                    }
                    let before = index.checked_sub(1);
                    let declares = before.is_some_and(|before| {
                        self.is_word(before) && self.word(before) != "return"
                    });
                    if declares && depth > 0 && self.combined.contains_key(word) {
                        starting.push(word);
                        index += 1;
                        continue;
                    }
                    if let Some(joined) = self.combined.get(word).copied() {
                        index = self.usage(index, joined, open.last().copied());
                        continue;
                    }
                }
                _ => {}
            }
            index += 1;
        }
    }

    /// A combined type's name: declares a uniform or a parameter, or joins a texture and a sampler.
    /// Gives where to go on.
    fn declaration(&mut self, index: usize, kind: &Combined<'a>, within: Option<&'a str>) -> usize {
        let precise = index
            .checked_sub(1)
            .is_some_and(|before| PRECISIONS.contains(&self.word(before)));
        let qualifier = index.checked_sub(1 + usize::from(precise));
        let qualifier = qualifier.map_or("", |at| self.word(at));
        if !self.is_word(index + 1) {
            return index + 1;
        }
        match within {
            None if qualifier == "uniform" => self.uniforms(index, kind),
            Some(function) if matches!(qualifier, "(" | "," | "in" | "const") => {
                let name = self.word(index + 1);
                let end = self.after_index(index + 2);
                self.takers.insert(function);
                self.combined.insert(name, kind.joined);
                self.replace_exactly(index, &kind.texture);
                let index_text = self.between(index + 2, end);
                let added = format!(", {} {name}_sampler{index_text}", kind.sampler);
                let at = self.tokens[end - 1].end;
                self.insert(at, added);
                end
            }
            _ => index + 1,
        }
    }

    fn replace_exactly(&mut self, index: usize, added: &str) {
        let token = self.tokens[index];
        self.edits.push(Edit {
            at: token.start,
            removed: token.end - token.start,
            added: added.to_owned(),
        });
    }

    /// `uniform sampler2D a, b[4];`: a declaration for each, since naga gives the first alone a binding.
    fn uniforms(&mut self, index: usize, kind: &Combined<'a>) -> usize {
        let mut at = index + 1;
        let mut twins = Vec::new();
        let mut commas = Vec::new();
        loop {
            let end = self.after_index(at + 1);
            twins.push((self.word(at), self.between(at + 1, end)));
            at = end;
            match self.word(at) {
                "," if self.is_word(at + 1) => {
                    commas.push(at);
                    at += 1;
                }
                ";" => break,
                // Nothing that is a declaration.
                _ => return index + 1,
            }
        }
        let first = self.declaration_start(index);
        let start = self.tokens[first].start;
        // What was put in before belongs to each of them.
        let end = self.tokens[index].start;
        let mut head = self.text[start..end].to_owned();
        for edit in self.edits.iter().rev() {
            if (start..=end).contains(&edit.at) {
                let at = edit.at - start;
                head.replace_range(at..at + edit.removed, &edit.added);
            }
        }
        let one_line: Vec<&str> = head.split_whitespace().collect();
        let head = one_line.join(" ");
        let own_head = |name: &str, inferred: &BTreeMap<&str, u32>| match inferred.get(name) {
            None => head.clone(),
            Some(binding) => match head.split_once("layout(") {
                Some((before, after)) => format!("{before}layout(binding = {binding}, {after}"),
                None => format!("layout(binding = {binding}) {head}"),
            },
        };
        if let Some(binding) = self.inferred.get(twins[0].0) {
            let what = format!("binding = {binding}");
            self.qualify(first, index, &what);
        }
        self.replace_exactly(index, &kind.texture);
        for (comma, (name, _)) in commas.into_iter().zip(&twins[1..]) {
            let head = own_head(name, &self.inferred);
            self.replace_exactly(comma, &format!("; {head} {} ", kind.texture));
        }
        let after = self.tokens[at].end;
        for (name, index) in twins {
            let head = own_head(name, &self.inferred);
            let added = format!(" {head} {} {name}_sampler{index};", kind.sampler);
            self.insert(after, added);
            self.combined.insert(name, kind.joined);
        }
        at + 1
    }

    /// A use of a combined sampler: both halves as arguments of a function of the user's, else joined.
    fn usage(&mut self, index: usize, joined: &str, within: Option<&'a str>) -> usize {
        let before = index.checked_sub(1).map_or("", |before| self.word(before));
        if before == "." {
            return index + 1;
        }
        let name = self.word(index);
        let end = self.after_index(index + 1);
        let twin = format!("{name}_sampler{}", self.between(index + 1, end));
        let direct = matches!(before, "(" | ",") && matches!(self.word(end), "," | ")");
        let to_user = direct && within.is_some_and(|function| self.takers.contains(function));
        let (start, after) = (self.tokens[index].start, self.tokens[end - 1].end);
        if to_user {
            self.insert(after, format!(", {twin}"));
        } else {
            self.insert(start, format!("{joined}("));
            self.insert(after, format!(", {twin})"));
        }
        end
    }

    /// The token after `[...]`s that start at this one.
    fn after_index(&self, mut index: usize) -> usize {
        while self.word(index) == "[" {
            let mut depth = 0;
            loop {
                match self.word(index) {
                    "[" => depth += 1,
                    "]" => depth -= 1,
                    "" => return index,
                    _ => {}
                }
                index += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        index
    }

    fn between(&self, first: usize, end: usize) -> &'a str {
        match first < end {
            true => &self.text[self.tokens[first].start..self.tokens[end - 1].end],
            false => "",
        }
    }

    fn finish(mut self) -> Rewritten {
        let mut places = Places::default();
        if !self.prelude.is_empty() {
            let version = (0..self.tokens.len()).find(|&at| !self.in_directive(at));
            let last = (0..version.unwrap_or(self.tokens.len()))
                .rfind(|&at| self.word(at) == "version" && self.in_directive(at));
            let at = last.map_or(0, |last| {
                let from = self.tokens[last].end;
                let line = self.text[from..].find('\n');
                line.map_or(self.text.len(), |line| from + line + 1)
            });
            let added = format!("{}\n", self.prelude.concat().trim_end());
            let edit = Edit {
                at,
                removed: 0,
                added,
            };
            self.edits.insert(0, edit);
        }
        if self.edits.is_empty() {
            return Rewritten {
                text: self.text.to_owned(),
                places,
                notes: self.notes,
                placed: self.placed,
            };
        }
        // In the order of the text; of two at one place what only adds first, then the earlier.
        self.edits.sort_by_key(|edit| (edit.at, edit.removed > 0));
        let mut text = String::with_capacity(self.text.len() + 64 * self.edits.len());
        let mut at = 0;
        places.push(0, 0);
        for edit in &self.edits {
            // An index within an index was written already.
            if edit.at < at {
                continue;
            }
            text.push_str(&self.text[at..edit.at]);
            places.push(text.len(), edit.at);
            text.push_str(&edit.added);
            at = edit.at + edit.removed;
            places.push(text.len(), at);
        }
        text.push_str(&self.text[at..]);
        Rewritten {
            text,
            places,
            notes: self.notes,
            placed: self.placed,
        }
    }
}

/// Types whose variables need a binding of their own.
fn is_opaque(name: &str) -> bool {
    let bare = name.strip_prefix(['i', 'u']).unwrap_or(name);
    ["sampler", "texture", "image"]
        .iter()
        .any(|prefix| bare.starts_with(prefix) || name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::Span;

    fn rewrite(text: &str) -> Rewritten {
        as_vulkan(text, Stage::Fragment)
    }

    #[test]
    fn a_combined_sampler_becomes_a_texture_and_a_sampler_of_one_binding() {
        let text =
            "layout(set = 1, binding = 2) uniform sampler2D t;\nvoid f() { texture(t, uv); }";
        let rewritten = rewrite(text);
        assert_eq!(
            rewritten.text,
            "layout(set = 1, binding = 2) uniform texture2D t; \
             layout(set = 1, binding = 2) uniform sampler t_sampler;\n\
             void f() { texture(sampler2D(t, t_sampler), uv); }"
        );
        let at = rewritten.text.find("uv").expect("it is there") as u32;
        let original = rewritten.places.original(Span {
            start: at,
            end: at + 2,
        });
        assert_eq!(&text[original.start as usize..original.end as usize], "uv");
    }

    #[test]
    fn functions_take_both_halves() {
        let text = "layout(binding = 0) uniform sampler2DShadow s[2];\n\
            float f(highp sampler2DShadow a, vec3 p) { return texture(a, p); }\n\
            float g(vec3 p) { return f(s[1], p) + texture(s[0], p); }";
        let rewritten = rewrite(text).text;
        for part in [
            "uniform texture2D s[2]; layout(binding = 0) uniform samplerShadow s_sampler[2];",
            "float f(      texture2D a, samplerShadow a_sampler, vec3 p)",
            "return texture(sampler2DShadow(a, a_sampler), p)",
            "f(s[1], s_sampler[1], p) + texture(sampler2DShadow(s[0], s_sampler[0]), p)",
        ] {
            assert!(rewritten.contains(part), "{part}\n{rewritten}");
        }
    }

    #[test]
    fn blocks_without_a_binding_get_the_next_free_one_with_a_note() {
        let text = "layout(binding = 0) uniform A { vec4 a; };\nuniform B { vec4 b; };\n\
            layout(std430) buffer C { vec4 c; };\nlayout(push_constant) uniform D { vec4 d; };\n\
            uniform sampler2D t, u;";
        let rewritten = rewrite(text);
        for part in [
            "layout(binding = 1) uniform B",
            "layout(binding = 2, std430) buffer C",
            "layout(push_constant) uniform D",
            "layout(binding = 3) uniform texture2D t; layout(binding = 4) uniform texture2D  u;",
            "layout(binding = 3) uniform sampler t_sampler; layout(binding = 4) uniform sampler u_sampler;",
        ] {
            assert!(rewritten.text.contains(part), "{part}\n{}", rewritten.text);
        }
        assert_eq!(rewritten.notes.len(), 4);
    }

    #[test]
    fn versions_of_the_same_language_become_one_that_naga_reads() {
        for (before, after) in [
            ("#version 310 es\n", "#version 450   \n"),
            ("#version 330 core\n", "#version 450 core\n"),
            ("#version 460\n", "#version 460\n"),
            ("#version 120\n", "#version 120\n"),
            (
                "#version 330 compatibility\n",
                "#version 330 compatibility\n",
            ),
        ] {
            assert_eq!(rewrite(before).text, after);
        }
    }

    #[test]
    fn a_local_hides_a_combined_sampler_after_its_declaration() {
        let text = "layout(binding = 0) uniform sampler2D t;\n\
            void f() { { vec4 t = texture(t, p); g(t.x); } g(texture(t, p)); }";
        let rewritten = rewrite(text).text;
        let body = "void f() { { vec4 t = texture(sampler2D(t, t_sampler), p); g(t.x); } \
            g(texture(sampler2D(t, t_sampler), p)); }";
        assert!(rewritten.ends_with(body), "{rewritten}");
    }

    #[test]
    fn several_declared_at_once_get_a_declaration_each() {
        let text = "layout(binding = 0) uniform sampler2D a, b[2];";
        assert_eq!(
            rewrite(text).text,
            "layout(binding = 0) uniform texture2D a; layout(binding = 0) uniform texture2D  b[2]; \
             layout(binding = 0) uniform sampler a_sampler; layout(binding = 0) uniform sampler b_sampler[2];"
        );
    }

    #[test]
    fn precision_goes_and_lines_stay() {
        let text = "precision highp float;\nuniform\nlowp float f;\ninvariant gl_Position;\n";
        let rewritten = rewrite(text).text;
        assert_eq!(rewritten.lines().count(), text.lines().count());
        assert_eq!(
            rewritten.split_whitespace().collect::<Vec<_>>(),
            ["uniform", "float", "f;"]
        );
    }

    #[test]
    fn inputs_and_outputs_without_a_location_get_free_ones() {
        let text = "in mat3 m; in vec2 uv;\nlayout(location = 1) out vec4 c; flat out int k[2];\n\
            layout(local_size_x = 4) in;";
        let rewritten = rewrite(text);
        for part in [
            "layout(location = 0) in mat3 m;",
            "layout(location = 3) in vec2 uv;",
            "layout(location = 1) out vec4 c;",
            "layout(location = 2) flat out int k[2];",
            "layout(local_size_x = 4) in;",
        ] {
            assert!(rewritten.text.contains(part), "{part}\n{}", rewritten.text);
        }
        assert_eq!(rewritten.notes.len(), 3);
    }

    #[test]
    fn what_is_already_apart_stays() {
        let text = "layout(binding = 0) uniform texture2D t;\nlayout(binding = 1) uniform sampler s;\n\
            // uniform sampler2D u;\nvoid f() { texture(sampler2D(t, s), p); }";
        assert_eq!(rewrite(text).text, text);
    }
}
