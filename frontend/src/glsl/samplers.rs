//! Combined samplers (`uniform sampler2D t;`) become a texture and a sampler of the same binding.

use super::PRECISIONS;
use super::text::Work;
use std::collections::BTreeMap;

/// Kinds of combined samplers that naga has textures for.
const SHAPES: [&str; 9] =
    ["1D", "2D", "3D", "Cube", "1DArray", "2DArray", "CubeArray", "2DMS", "2DMSArray"];

/// A combined sampler's type: the texture's, the sampler's, and the constructor that joins them.
pub struct Combined<'a> {
    texture: String,
    sampler: &'static str,
    joined: &'a str,
}

pub fn combined(name: &str) -> Option<Combined<'_>> {
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

impl<'a> Work<'a> {
    /// Takes every combined sampler apart.
    pub fn samplers(&mut self) {
        self.takers.extend(super::intrinsics::GATHERS);
        let earlier = self.edits.len();
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
                    self.show(&mut hidden, depth);
                }
                // A local's name counts from the end of its declaration on.
                ";" => {
                    for name in starting.drain(..) {
                        if let Some(joined) = self.combined.remove(name) {
                            hidden.push((name, joined, depth));
                        }
                    }
                    // The parameters of a function that is declared and not defined.
                    self.show(&mut hidden, depth);
                }
                _ if self.is_word(index) => {
                    if let Some(kind) = combined(word) {
                        index = self.declaration(index, &kind, open.last().copied(), earlier);
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
                    // A parameter hides it in the block that follows.
                    if declares
                        && !open.is_empty()
                        && let Some(joined) = self.combined.remove(word)
                    {
                        hidden.push((word, joined, 1));
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

    /// Names that locals and parameters hid until the block ended whose depth is given.
    fn show(&mut self, hidden: &mut Vec<(&'a str, &'a str, usize)>, depth: usize) {
        while let Some((name, joined, _)) = hidden.pop_if(|one| one.2 > depth) {
            self.combined.insert(name, joined);
        }
    }

    /// A combined type's name: declares a uniform or a parameter, or joins a texture and a sampler.
    /// `earlier` edits were there before. Gives where to go on.
    fn declaration(
        &mut self,
        index: usize,
        kind: &Combined<'a>,
        within: Option<&'a str>,
        earlier: usize,
    ) -> usize {
        let precise =
            index.checked_sub(1).is_some_and(|before| PRECISIONS.contains(&self.word(before)));
        let qualifier = index.checked_sub(1 + usize::from(precise));
        let qualifier = qualifier.map_or("", |at| self.word(at));
        if !self.is_word(index + 1) {
            return index + 1;
        }
        match within {
            None if qualifier == "uniform" => self.uniforms(index, kind, earlier),
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

    /// `uniform sampler2D a, b[4];`: a declaration for each, since naga gives the first alone a binding.
    fn uniforms(&mut self, index: usize, kind: &Combined<'a>, earlier: usize) -> usize {
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
        // What was put in before belongs to each of them, but for the samplers of the declaration that ends here.
        let end = self.tokens[index].start;
        let mut head = self.text[start..end].to_owned();
        for edit in self.edits[..earlier].iter().rev() {
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
}

#[cfg(test)]
mod tests {
    use crate::glsl::tests::rewrite;
    use gpucc_ir::ssa::Span;

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
        let original = rewritten.places.original(Span { start: at, end: at + 2 });
        assert_eq!(&text[original.start as usize..original.end as usize], "uv");
    }

    #[test]
    fn declarations_without_a_space_between_them_are_taken_apart_once_each() {
        let rewritten = rewrite("uniform sampler2D a;uniform sampler2D b;uniform sampler2D c;");
        for name in ["a", "b", "c"] {
            let texture = format!("uniform texture2D {name};");
            let sampler = format!("uniform sampler {name}_sampler;");
            for part in [texture, sampler] {
                assert_eq!(rewritten.text.matches(&part).count(), 1, "{}", rewritten.text);
            }
        }
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
    fn what_is_already_apart_stays() {
        let text = "layout(binding = 0) uniform texture2D t;\nlayout(binding = 1) uniform sampler s;\n\
            // uniform sampler2D u;\nvoid f() { texture(sampler2D(t, s), p); }";
        assert_eq!(rewrite(text).text, text);
    }
}
