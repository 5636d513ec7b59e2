//! Bindings and locations that OpenGL leaves open: the next free ones, in the order of the text.

use super::samplers::combined;
use super::text::Work;
use super::{PRECISIONS, QUALIFIERS};
use crate::diagnostic::Diagnostic;
use std::collections::BTreeSet;

impl<'a> Work<'a> {
    /// Blocks and opaque uniforms without `binding`: the next free one of set 0.
    pub fn bindings(&mut self) {
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
            if has("binding") || has("push_constant") || has("shaderRecordEXT") {
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

    /// Inputs and outputs without `location`: the next free ones, in the order of the text.
    pub fn locations(&mut self) {
        let mut depth = 0;
        let mut taken: [BTreeSet<u32>; 2] = Default::default();
        let mut without = Vec::new();
        for index in 0..self.tokens.len() {
            match self.word(index) {
                "{" | "(" => depth += 1,
                "}" | ")" => depth -= 1,
                word @ ("in" | "out") if depth == 0 => {
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
}

/// Types whose variables need a binding of their own.
pub fn is_opaque(name: &str) -> bool {
    let bare = name.strip_prefix(['i', 'u']).unwrap_or(name);
    ["sampler", "texture", "image"]
        .iter()
        .any(|prefix| bare.starts_with(prefix) || name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use crate::glsl::tests::rewrite;

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
}
