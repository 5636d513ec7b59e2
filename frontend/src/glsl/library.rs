//! Functions and constants of the language that naga lacks, in the language itself.

use super::text::Work;

/// Functions over the four sizes of a vector: names, and the definition with `F`, `I`, `U` and `B` for the
/// types of floats, signed and unsigned integers and truth values.
const FUNCTIONS: [(&str, &str); 18] = [
    ("modf", "F modf(F x, out F whole) { whole = trunc(x); return x - whole; }"),
    (
        "uaddCarry",
        "U uaddCarry(U x, U y, out U carry) { U sum = x + y; carry = U(lessThan_(sum, x)); return sum; }",
    ),
    (
        "usubBorrow",
        "U usubBorrow(U x, U y, out U borrow) { borrow = U(lessThan_(x, y)); return x - y; }",
    ),
    (
        "umulExtended",
        "void umulExtended(U x, U y, out U msb, out U lsb) { msb = gpucc_high(x, y); lsb = x * y; }",
    ),
    (
        "imulExtended",
        "void imulExtended(I x, I y, out I msb, out I lsb) { U a = U(x); U b = U(y); \
         msb = I(gpucc_high(a, b) - (a >> 31u) * b - (b >> 31u) * a); lsb = x * y; }",
    ),
    (
        "frexp",
        "F frexp(F x, out I e) { U w = floatBitsToUint(x); U p = (w >> 23u) & U(255u); B tiny = equal_(p, U(0u)); \
         e = mix(I(p) - I(126), I(0), tiny); \
         return uintBitsToFloat(mix((w & U(0x807fffffu)) | U(0x3f000000u), w, tiny)); }",
    ),
    (
        "findMSB",
        "I gpucc_findMSB(I x) { return findMSB(x); } I gpucc_findMSB(U x) { return I(findMSB(x)); }",
    ),
    (
        "findLSB",
        "I gpucc_findLSB(I x) { return findLSB(x); } I gpucc_findLSB(U x) { return I(findLSB(x)); }",
    ),
    (
        "bitCount",
        "I gpucc_bitCount(I x) { return bitCount(x); } I gpucc_bitCount(U x) { return I(bitCount(x)); }",
    ),
    (
        "atomicAdd",
        "I gpucc_atomicAdd(I word, I value) { return word; } U gpucc_atomicAdd(U word, U value) { return word; } F gpucc_atomicAdd(F word, F value) { return word; }",
    ),
    (
        "atomicMin",
        "I gpucc_atomicMin(I word, I value) { return word; } U gpucc_atomicMin(U word, U value) { return word; } F gpucc_atomicMin(F word, F value) { return word; }",
    ),
    (
        "atomicMax",
        "I gpucc_atomicMax(I word, I value) { return word; } U gpucc_atomicMax(U word, U value) { return word; } F gpucc_atomicMax(F word, F value) { return word; }",
    ),
    (
        "atomicAnd",
        "I gpucc_atomicAnd(I word, I value) { return word; } U gpucc_atomicAnd(U word, U value) { return word; }",
    ),
    (
        "atomicOr",
        "I gpucc_atomicOr(I word, I value) { return word; } U gpucc_atomicOr(U word, U value) { return word; }",
    ),
    (
        "atomicXor",
        "I gpucc_atomicXor(I word, I value) { return word; } U gpucc_atomicXor(U word, U value) { return word; }",
    ),
    (
        "atomicExchange",
        "I gpucc_atomicExchange(I word, I value) { return word; } U gpucc_atomicExchange(U word, U value) { return word; } F gpucc_atomicExchange(F word, F value) { return word; }",
    ),
    (
        "atomicCompSwap",
        "I gpucc_atomicCompSwap(I word, I expected, I value) { return word; } U gpucc_atomicCompSwap(U word, U expected, U value) { return word; }",
    ),
    (
        "gpucc_high",
        "U gpucc_high(U x, U y) { U a = x & U(65535u); U b = x >> 16u; U c = y & U(65535u); U d = y >> 16u; \
         U m = b * c + ((a * c) >> 16u); U n = a * d + (m & U(65535u)); return b * d + (m >> 16u) + (n >> 16u); }",
    ),
];
/// Those whose name naga has for another type.
const RENAMED: [&str; 3] = ["findMSB", "findLSB", "bitCount"];
/// Least values that every implementation has.
const CONSTANTS: [(&str, u32); 26] = [
    ("gl_MaxVertexAttribs", 16),
    ("gl_MaxVertexOutputComponents", 64),
    ("gl_MaxVertexUniformComponents", 1024),
    ("gl_MaxVertexTextureImageUnits", 16),
    ("gl_MaxVertexUniformVectors", 256),
    ("gl_MaxVaryingComponents", 60),
    ("gl_MaxVaryingFloats", 60),
    ("gl_MaxVaryingVectors", 15),
    ("gl_MaxFragmentInputComponents", 128),
    ("gl_MaxFragmentUniformComponents", 1024),
    ("gl_MaxFragmentUniformVectors", 256),
    ("gl_MaxDrawBuffers", 8),
    ("gl_MaxTextureImageUnits", 16),
    ("gl_MaxCombinedTextureImageUnits", 80),
    ("gl_MaxClipDistances", 8),
    ("gl_MaxCullDistances", 8),
    ("gl_MaxCombinedClipAndCullDistances", 8),
    ("gl_MaxTextureCoords", 8),
    ("gl_MaxTextureUnits", 2),
    ("gl_MaxClipPlanes", 8),
    ("gl_MaxLights", 8),
    ("gl_MaxComputeImageUniforms", 8),
    ("gl_MaxComputeTextureImageUnits", 16),
    ("gl_MaxComputeUniformComponents", 1024),
    ("gl_MaxSamples", 4),
    ("gl_MaxImageUnits", 8),
];

impl<'a> Work<'a> {
    /// Puts before the text what of the library it uses.
    pub fn library(&mut self) {
        let mut wanted: Vec<&str> = Vec::new();
        for (name, _) in FUNCTIONS {
            let called = |work: &Self, at: usize| work.word(at + 1) == "(";
            let uses = self.uses(name).to_vec();
            // A function of the text's own has its type in front of its name.
            let own = uses.iter().any(|&at| {
                let before = at.checked_sub(1).map_or("", |before| self.word(before));
                self.depth(at) == 0 && self.word(at + 1) == "(" && is_type(before)
            });
            // Counters are incremented by addition.
            let counts = name == "atomicAdd"
                && ["atomicCounterIncrement", "atomicCounterDecrement"]
                    .iter()
                    .any(|name| !self.uses(name).is_empty());
            if own || !counts && !uses.iter().any(|&at| called(self, at)) {
                continue;
            }
            wanted.push(name);
            if RENAMED.contains(&name) || name.starts_with("atomic") {
                for at in uses {
                    self.replace_exactly(at, &format!("gpucc_{name}"));
                }
            }
        }
        if wanted.iter().any(|name| name.ends_with("mulExtended")) {
            wanted.insert(0, "gpucc_high");
        }
        for name in wanted {
            let (_, text) = FUNCTIONS
                .iter()
                .find(|function| function.0 == name)
                .expect("the name comes from the table");
            // Words change atomically, vectors do not.
            let sizes = if name.starts_with("atomic") { 1 } else { 4 };
            for size in 1..=sizes {
                let made = sized(text, size);
                self.prelude.push(made);
            }
        }
        for (name, value) in CONSTANTS {
            if !self.uses(name).is_empty() {
                let own = name.replacen("gl_", "gpucc_", 1);
                for at in self.uses(name).to_vec() {
                    self.replace_exactly(at, &own);
                }
                self.prelude.push(format!("const int {own} = {value}; "));
            }
        }
        self.scalar_swizzles();
        self.literals();
        self.sizes();
    }

    /// `1.0LF` is `double(1.0)`. Of 16 bits naga has types and no functions.
    fn literals(&mut self) {
        for index in 0..self.tokens.len() {
            let word = self.word(index);
            let number = word.as_bytes()[0].is_ascii_digit() && !word.starts_with("0x");
            let stem = word.strip_suffix("LF").map(|stem| (stem, "double"));
            let Some((stem, ty)) = stem.filter(|_| number) else {
                continue;
            };
            // `1.0LF` is three tokens; `.5LF` is two.
            let mut first = index;
            if index > 0
                && self.word(index - 1) == "."
                && self.tokens[index - 1].end == self.tokens[index].start
            {
                first = index - 1;
                let whole = first.checked_sub(1).filter(|&at| {
                    self.word(at).bytes().all(|byte| byte.is_ascii_digit())
                        && self.tokens[at].end == self.tokens[first].start
                });
                first = whole.unwrap_or(first);
            }
            let before = &self.text[self.tokens[first].start..self.tokens[index].start];
            let dot = if before.is_empty() { ".0" } else { "" };
            self.replace_text(first, index, &format!("{ty}({before}{stem}{dot})"));
        }
    }

    /// `x.rrr` of a scalar: a vector of it. What is a scalar is told by its declaration, or by the function.
    fn scalar_swizzles(&mut self) {
        for index in 2..self.tokens.len() {
            let field = self.word(index);
            let alike = matches!(field.len(), 2..=4)
                && ["x", "r", "s"]
                    .iter()
                    .any(|one| field.bytes().all(|byte| byte == one.as_bytes()[0]));
            if !alike || self.word(index - 1) != "." {
                continue;
            }
            let (start, scalar) = match self.word(index - 2) {
                ")" => {
                    let Some(open) = self.opening(index - 2).filter(|&open| open > 0) else {
                        continue;
                    };
                    let function = self.word(open - 1);
                    let dot = matches!(function, "max" | "min" | "clamp")
                        && self.starts_with_dot(open + 1);
                    (open - 1, dot || matches!(function, "dot" | "length" | "distance" | "float"))
                }
                name => (index - 2, self.is_float(name)),
            };
            let alone = start == 0 || self.word(start - 1) != ".";
            if scalar && alone {
                let (at, after) = (self.tokens[start].start, self.tokens[index - 2].end);
                self.insert(at, format!("vec{}(", field.len()));
                self.edits.push(crate::places::Edit {
                    at: after,
                    removed: self.tokens[index].end - after,
                    added: ")".to_owned(),
                });
            }
        }
    }

    fn starts_with_dot(&self, index: usize) -> bool {
        matches!(self.word(index), "dot" | "length" | "distance") && self.word(index + 1) == "("
    }

    /// A name that is declared as a float alone, wherever it is declared.
    fn is_float(&self, name: &str) -> bool {
        let mut declared = false;
        for &at in self.uses(name) {
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            if before == "float" && self.word(at + 1) != "[" {
                declared = true;
            } else if is_type(before) && before != "float" {
                return false;
            }
        }
        declared
    }

    /// Sizes that the text leaves to the compiler: of workgroups in array sizes.
    fn sizes(&mut self) {
        for &at in &self.uses("gl_WorkGroupSize").to_vec() {
            let axis = match self.word(at + 2) {
                "x" => "local_size_x",
                "y" => "local_size_y",
                "z" => "local_size_z",
                _ => continue,
            };
            let declared = self.uses(axis).first().copied();
            let by_id = !self.uses(&format!("{axis}_id")).is_empty();
            let value = declared.map_or("1", |at| self.word(at + 2));
            if self.word(at + 1) == "." && !by_id && value.parse::<u32>().is_ok() {
                let text = format!("{}u", value.trim_end_matches(['u', 'U']));
                self.replace_text(at, at + 2, &text);
            }
        }
    }
}

fn is_type(word: &str) -> bool {
    let vector = ["", "i", "u", "b", "d"].iter().any(|prefix| {
        word.strip_prefix(prefix).is_some_and(|rest| matches!(rest, "vec2" | "vec3" | "vec4"))
    });
    vector
        || matches!(word, "float" | "int" | "uint" | "bool" | "void" | "double")
        || word.starts_with("mat")
}

/// A definition for vectors of a size.
fn sized(text: &str, size: usize) -> String {
    let (types, scalars) = (["vec", "ivec", "uvec", "bvec"], ["float", "int", "uint", "bool"]);
    let name = |at: usize| match size {
        1 => scalars[at].to_owned(),
        _ => format!("{}{size}", types[at]),
    };
    let mut out = String::with_capacity(2 * text.len());
    let mut rest = text;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let length = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => 1,
        };
        let word = &rest[..length];
        rest = &rest[length..];
        match word {
            "F" => out.push_str(&name(0)),
            "I" => out.push_str(&name(1)),
            "U" => out.push_str(&name(2)),
            "B" => out.push_str(&name(3)),
            // Comparisons are operators on scalars and functions on vectors.
            "lessThan_" | "equal_" => {
                let end = rest.find(')').map_or(rest.len(), |end| end + 1);
                // An argument may itself be a call.
                let end = match rest[1..end].contains('(') {
                    true => rest[end..].find(')').map_or(end, |more| end + more + 1),
                    false => end,
                };
                let arguments = sized(&rest[..end], size);
                rest = &rest[end..];
                let function = word.trim_end_matches('_');
                let operator = if word == "equal_" { " == " } else { " < " };
                match size {
                    1 => out.push_str(&arguments.replacen(", ", operator, 1)),
                    _ => out.push_str(&format!("{function}{arguments}")),
                }
            }
            _ => out.push_str(word),
        }
    }
    out.push(' ');
    out
}
