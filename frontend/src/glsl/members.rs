//! Members of blocks that are called like a global variable: naga takes a block's members for names of their own, also
//! where the block has a name (`u.color`), and the later declaration for the earlier. They get other names.

use super::text::Work;
use std::collections::{BTreeMap, BTreeSet};

/// A block with a name in front of its members.
struct Named<'a> {
    instance: &'a str,
    /// Where the members' names stand.
    members: Vec<usize>,
}

impl<'a> Work<'a> {
    /// Renames members that would hide a global variable, or be hidden by one.
    pub fn members(&mut self) {
        let mut globals: BTreeSet<&str> = BTreeSet::new();
        let mut blocks: Vec<Named<'a>> = Vec::new();
        for index in 0..self.tokens.len() {
            if self.depth(index) > 0 {
                continue;
            }
            if self.declares(index) {
                globals.insert(self.word(index));
            }
            let block = self.is_word(index) && self.word(index + 1) == "{";
            if !block || index == 0 || !self.is_word(index - 1) || self.word(index - 1) == "struct"
            {
                continue;
            }
            let Some(close) = self.closing(index + 1) else {
                return;
            };
            let members = (index + 2..close).filter(|&at| self.declares(at)).collect();
            match self.is_word(close + 1) {
                true => blocks.push(Named { instance: self.word(close + 1), members }),
                false => globals.extend(members.iter().map(|&at| self.word(at))),
            }
        }
        for Named { instance, members } in blocks {
            let mut renamed: BTreeMap<&str, String> = BTreeMap::new();
            for at in members {
                let name = self.word(at);
                if globals.contains(name) && !name.starts_with("gl_") {
                    let free = |name: &String| self.uses(name).is_empty();
                    let new = (0..).map(|n| format!("{name}_{n}")).find(free);
                    let new = new.expect("there are fewer words than numbers");
                    self.replace_exactly(at, &new);
                    renamed.insert(name, new);
                }
            }
            if renamed.is_empty() {
                continue;
            }
            for at in self.uses(instance).to_vec() {
                let dot = self.after_index(at + 1);
                if self.word(dot) == "."
                    && (at == 0 || self.word(at - 1) != ".")
                    && let Some(new) = renamed.get(self.word(dot + 1))
                {
                    self.replace_exactly(dot + 1, new);
                }
            }
        }
    }

    /// A token that is the name in a declaration of a variable or a member.
    fn declares(&self, index: usize) -> bool {
        let follows = index > 0
            && (self.is_word(index - 1) || matches!(self.word(index - 1), "]" | "," | "}"));
        let next = self.after_index(index + 1);
        // `float[4] x` declares x.
        let ends = matches!(self.word(next), ";" | "," | "=");
        self.is_word(index) && follows && ends
    }
}

#[cfg(test)]
mod tests {
    use crate::glsl::rewrite;
    use gpucc_ir::ssa::Stage;

    fn rewritten(text: &str) -> String {
        rewrite(text, Stage::Fragment, &mut Vec::new()).text
    }

    #[test]
    fn members_that_are_called_like_a_variable_get_another_name() {
        let text = rewritten(
            "#version 450\nlayout(location = 0) in vec4 color;\nlayout(binding = 0) uniform U { vec4 color; vec4 other; } u[2];\n\
             layout(location = 0) out vec4 o;\nvoid main() { o = color + u[1].color.zyxw + u[0].other; }\n",
        );
        assert!(text.contains("in vec4 color;"), "{text}");
        assert!(text.contains("o = color + u[1].color_0.zyxw"), "{text}");
        assert!(text.contains(".other"), "{text}");
    }

    #[test]
    fn a_member_may_be_called_like_its_block_s_name() {
        let text = rewritten(
            "#version 450\nlayout(binding = 0) uniform U { float[4] w; vec4 v[3], x; } v;\nvoid main() { vec4 a = v.v[1] + v.x; }\n",
        );
        assert!(text.contains("v_0[3]; vec4  x; } v;"), "{text}");
        assert!(text.contains("v.v_0[1] + v.x"), "{text}");
    }

    #[test]
    fn a_block_without_a_name_keeps_its_members() {
        let text = "#version 450\nlayout(binding = 0) uniform U { vec4 color; };\nvoid main() { vec4 a = color; }\n";
        assert_eq!(rewritten(text), text);
    }
}
