//! Declarations of several things at once, which naga reads as fewer.

use super::text::Work;

/// Words before a name that are no type.
const NO_TYPES: [&str; 8] =
    ["uniform", "in", "const", "highp", "mediump", "lowp", "return", "else"];
/// Qualifiers of what has a location.
const INTERFACES: [&str; 4] = ["in", "out", "attribute", "varying"];
/// Qualifiers and words of a type before the first name of a declaration, at most.
const LONGEST_HEAD: usize = 32;

impl Work<'_> {
    /// Takes them apart.
    pub fn declarations(&mut self) {
        self.structures();
        self.lists();
        self.sampler_names();
    }

    /// `uniform struct { vec4 a; } u;`: a structure with a name, and a variable of it.
    fn structures(&mut self) {
        for &index in &self.uses("struct").to_vec() {
            let named = self.is_word(index + 1);
            let open = index + 1 + usize::from(named);
            let (Some(close), "{", 0) = (self.closing(open), self.word(open), self.depth(index))
            else {
                continue;
            };
            let name = match named {
                true => self.word(index + 1).to_owned(),
                false => format!("gpucc_Struct{index}"),
            };
            let first = self.declaration_start(index);
            if first < index {
                let start = self.tokens[first].start;
                let body = self.between(open, close + 1);
                self.insert(start, format!("struct {name} {body}; "));
                self.replace_text(index, close, &name);
            } else if !named {
                self.insert(self.tokens[index].end, format!(" {name}"));
            }
        }
    }

    /// `vec3 a[2], b[3];` and `in vec4 p, c;`: a declaration for each, since naga gives the later ones the lengths and
    /// the location of the earlier ones too.
    fn lists(&mut self) {
        for first in 0..self.tokens.len() {
            let begins = first == 0
                || matches!(self.word(first - 1), ";" | "{" | "}")
                || self.in_directive(first - 1);
            if !begins
                || self.in_directive(first)
                || !self.is_word(first)
                || matches!(self.word(first), "return" | "else")
            {
                continue;
            }
            let Some(name) = self.first_name(first) else {
                continue;
            };
            let located = self.depth(first) == 0
                && (first..name).any(|at| INTERFACES.contains(&self.word(at)));
            if let Some(commas) = self.commas(name, located) {
                let head = self.between(first, name);
                for comma in commas {
                    self.replace_text(comma, comma, &format!("; {head} "));
                }
            }
        }
    }

    /// The first name that a declaration declares, behind qualifiers and a type.
    fn first_name(&self, first: usize) -> Option<usize> {
        let mut at = first;
        while self.is_word(at) && at - first < LONGEST_HEAD {
            at = match (self.word(at), self.word(at + 1)) {
                // What it says is about the first name.
                ("layout", _) => return None,
                (_, "[" | "," | "=" | ";") => return (at > first).then_some(at),
                _ => at + 1,
            };
        }
        None
    }

    /// The commas of a list of names that begins at a token, if one of them is an array or all are to be `apart`.
    fn commas(&self, mut at: usize, mut apart: bool) -> Option<Vec<usize>> {
        let mut commas = Vec::new();
        while self.is_word(at) {
            let mut end = self.after_index(at + 1);
            apart |= end > at + 1;
            if self.word(end) == "=" {
                while !matches!(self.word(end), "," | ";" | "" | ")" | "]" | "}") {
                    end = match self.word(end) {
                        "(" | "[" | "{" => self.closing(end)? + 1,
                        _ => end + 1,
                    };
                }
            }
            match self.word(end) {
                "," => commas.push(end),
                ";" => return (apart && !commas.is_empty()).then_some(commas),
                _ => return None,
            }
            at = end + 1;
        }
        None
    }

    /// `sampler` is a name like others, until Vulkan makes a type of it.
    fn sampler_names(&mut self) {
        let uses = self.uses("sampler").to_vec();
        let declared = uses
            .iter()
            .filter_map(|at| at.checked_sub(1))
            .any(|before| self.is_word(before) && !NO_TYPES.contains(&self.word(before)));
        if declared {
            for at in uses {
                self.replace_exactly(at, "sampler_");
            }
        }
    }
}
