//! Uniforms outside of blocks, which OpenGL has and Vulkan has not: they become members of one block.

use super::bindings::is_opaque;
use super::text::Work;
use crate::diagnostic::Diagnostic;

/// Types that need no declaration of their own.
fn is_builtin(ty: &str) -> bool {
    let vector = |prefix: &str| {
        ty.strip_prefix(prefix).is_some_and(|rest| matches!(rest, "vec2" | "vec3" | "vec4"))
    };
    matches!(ty, "float" | "int" | "uint")
        || ["", "i", "u"].into_iter().any(vector)
        || ty.starts_with("mat")
}

/// What a loose uniform is declared as where a block cannot have its type, and what a use becomes.
fn shareable(ty: &str) -> Option<(String, &str)> {
    match ty {
        "bool" => Some(("uint".to_owned(), "bool")),
        "bvec2" | "bvec3" | "bvec4" => Some((format!("u{}", &ty[1..]), ty)),
        _ => None,
    }
}

impl<'a> Work<'a> {
    /// Loose uniforms into a block: those of simple types together, others each in its place.
    pub fn loose_uniforms(&mut self) {
        let mut depth = 0i32;
        let mut together: Option<usize> = None;
        let mut index = 0;
        while index < self.tokens.len() {
            let word = self.word(index);
            match word {
                "{" | "(" => depth += 1,
                "}" | ")" => depth -= 1,
                "uniform" if depth == 0 => {
                    if let Some((end, alone, members)) = self.loose(index) {
                        let first = self.declaration_start(index);
                        self.blank(first, end);
                        let at = self.tokens[first].start;
                        if alone {
                            let text = format!("uniform gpucc_Uniform{first} {{ {members} }};");
                            self.insert(at, text);
                        } else {
                            together.get_or_insert(at);
                            self.loose.push(members);
                        }
                        index = end;
                    }
                }
                _ => {}
            }
            index += 1;
        }
        if self.loose.is_empty() {
            return;
        }
        let text = format!("uniform gpucc_Uniforms {{ {} }};", self.loose.join(" "));
        // Built-in uniforms alone, or a version before the first: everything uses them.
        self.prelude.push(text);
        let message =
            "uniforms without a block are members of the block `gpucc_Uniforms`, in order";
        self.notes.push(Diagnostic::note("uniforms", message));
    }

    /// A declaration of loose uniforms: its last token, whether it needs what stands before it, and
    /// the members that it makes.
    fn loose(&mut self, index: usize) -> Option<(usize, bool, String)> {
        let mut ty = index + 1;
        while matches!(self.word(ty), "highp" | "mediump" | "lowp") {
            ty += 1;
        }
        let name = self.word(ty);
        if !self.is_word(ty) || is_opaque(name) || name == "struct" || self.word(ty + 1) == "{" {
            return None;
        }
        if matches!(name, "layout" | "subpassInput" | "atomic_uint" | "readonly" | "writeonly")
            || name.starts_with("acceleration")
            || name.contains("subpass")
            || name.contains("tensor")
        {
            return None;
        }
        let mut at = self.after_index(ty + 1);
        let dims = self.between(ty + 1, at);
        let shared = shareable(name);
        let mut alone = shared.is_none() && !is_builtin(name) || has_name(dims);
        let mut members = String::new();
        let mut declared = Vec::new();
        loop {
            let variable = self.word(at);
            if !self.is_word(at) {
                return None;
            }
            let end = self.after_index(at + 1);
            let own = self.between(at + 1, end);
            if own.replace(' ', "").contains("[]") {
                return None;
            }
            alone |= has_name(own);
            let stored = shared.as_ref().map_or(name, |pair| &pair.0);
            members.push_str(&format!("{stored} {variable}{own}{dims}; "));
            let levels = [own, dims].concat().matches('[').count();
            declared.push((at, variable, levels));
            at = end;
            if self.word(at) == "=" {
                let mut nesting = 0i32;
                while at < self.tokens.len() {
                    match self.word(at) {
                        "(" | "{" | "[" => nesting += 1,
                        ")" | "}" | "]" => nesting -= 1,
                        "," | ";" if nesting == 0 => break,
                        _ => {}
                    }
                    at += 1;
                }
                let message = format!(
                    "the initial value of the uniform `{variable}` is for the driver to set"
                );
                self.notes.push(Diagnostic::note("uniforms", message));
            }
            match self.word(at) {
                "," => at += 1,
                ";" => break,
                _ => return None,
            }
        }
        if let Some((_, wrap)) = shared {
            for (at, variable, levels) in declared {
                if !self.wrap_uses(at, variable, levels, wrap) {
                    return None;
                }
            }
        }
        Some((at, alone, members))
    }

    /// Puts every use of a variable and of its elements into a conversion. False where another
    /// declaration has the name.
    fn wrap_uses(&mut self, declared: usize, name: &str, levels: usize, wrap: &str) -> bool {
        let mut uses = Vec::new();
        for &at in self.uses(name) {
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            if at == declared || before == "." {
                continue;
            }
            let keyword = matches!(before, "return" | "else" | "do" | "case");
            if !keyword && at > 0 && self.is_word(at - 1) {
                return false;
            }
            let mut end = at + 1;
            for _ in 0..levels {
                if self.word(end) != "[" {
                    return false;
                }
                let Some(close) = self.closing(end) else {
                    return false;
                };
                end = close + 1;
            }
            uses.push((at, end));
        }
        for (at, end) in uses {
            let (start, after) = (self.tokens[at].start, self.tokens[end - 1].end);
            self.insert(start, format!("{wrap}("));
            self.insert(after, ")");
        }
        true
    }
}

/// True for array sizes that are not plain numbers.
fn has_name(dims: &str) -> bool {
    dims.chars().any(|c| c.is_ascii_alphabetic() || c == '_')
}
