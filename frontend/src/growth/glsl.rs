//! Interfaces, constants and structures of GLSL, in the text that naga is about to read.

use super::integer::{self, Names};
use super::tokens::Tokens;
use super::{
    MOST_BYTES, MOST_LOCATIONS, MOST_NESTING, Size, bound, copies, members, place,
    too_many_locations,
};
use crate::source::Language;
use crate::stop::{READING, Stop};
use gpucc_ir::Map;

/// Words before a type in a declaration.
const QUALIFIERS: [&str; 21] = [
    "in",
    "out",
    "inout",
    "const",
    "uniform",
    "buffer",
    "shared",
    "flat",
    "smooth",
    "noperspective",
    "centroid",
    "sample",
    "patch",
    "invariant",
    "precise",
    "highp",
    "mediump",
    "lowp",
    "readonly",
    "writeonly",
    "coherent",
];

struct Scan<'t, 'a> {
    tokens: &'t Tokens<'a>,
    /// Expressions that constants are given, by name.
    constants: Map<&'a str, Vec<(usize, usize)>>,
    values: Map<&'a str, Option<i128>>,
    /// Structures and the opening brace of each.
    structures: Map<&'a str, usize>,
    sizes: Map<&'a str, Size>,
    /// Constants that were declared so far, in their scopes, and the expressions that a use becomes.
    scopes: Vec<Map<&'a str, u64>>,
}

impl Names for Scan<'_, '_> {
    /// The largest of all that a name may stand for: which one is chosen is the preprocessor's.
    fn value(&mut self, name: &str, depth: u32) -> Option<i128> {
        if let Some(&known) = self.values.get(name) {
            return known;
        }
        let tokens = self.tokens;
        let mut found: Vec<Option<i128>> = Vec::new();
        if let Some((&name, expressions)) = self.constants.get_key_value(name) {
            let expressions = expressions.clone();
            self.values.insert(name, None);
            for (from, end) in expressions {
                found.push(integer::value(tokens, from, end, self, depth));
            }
            self.values.swap_remove(name);
        }
        let all: Option<Vec<i128>> = found.into_iter().collect();
        let value = all.and_then(|all| all.into_iter().max());
        if let Some((&name, _)) = self.constants.get_key_value(name) {
            self.values.insert(name, value);
        }
        value
    }
}

/// Bounds what naga makes of arrays in interfaces, of constants, and of nested structures.
pub fn check(text: &str) -> Result<(), Stop> {
    let tokens = Tokens::new(text, Language::Glsl);
    let mut scan = Scan {
        tokens: &tokens,
        constants: Map::default(),
        values: Map::default(),
        structures: Map::default(),
        sizes: Map::default(),
        scopes: vec![Map::default()],
    };
    scan.declare();
    for at in 0..scan.structures.len() {
        if let Some((&name, &open)) = scan.structures.get_index(at) {
            let size = scan.named(name, 0);
            members(size.members, tokens.start(open))?;
        }
    }
    scan.lengths()?;
    scan.interfaces()?;
    scan.uses()?;
    tokens.check_walked()
}

impl<'a> Scan<'_, 'a> {
    /// Constants and structures, wherever they stand.
    fn declare(&mut self) {
        for at in 0..self.tokens.len() {
            match self.tokens.word(at) {
                "const" => {
                    for (name, from, end) in self.initialised(at) {
                        self.constants.entry(name).or_default().push((from, end));
                    }
                }
                "struct" if self.tokens.word(at + 2) == "{" => {
                    self.structures.insert(self.tokens.word(at + 1), at + 2);
                }
                _ => {}
            }
        }
    }

    /// Names of the declaration that begins at `const`, with the tokens of what each is given.
    fn initialised(&self, at: usize) -> Vec<(&'a str, usize, usize)> {
        let mut all = Vec::new();
        let mut from = at;
        loop {
            let equals = self.tokens.find(from, &["=", ";", ")"]);
            if self.tokens.word(equals) != "=" {
                return all;
            }
            let mut name = equals - 1;
            // Lengths stand between the name and the sign.
            while self.tokens.word(name) == "]" && name > at {
                let mut depth = 0u32;
                while name > at {
                    match self.tokens.word(name) {
                        "]" => depth += 1,
                        "[" => depth -= 1,
                        _ => {}
                    }
                    name -= 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            let end = self.tokens.find(equals + 1, &[",", ";", ")"]);
            all.push((self.tokens.word(name), equals + 1, end));
            if self.tokens.word(end) != "," {
                return all;
            }
            from = end + 1;
        }
    }

    /// The product of the lengths in brackets that begin at a token, and the token behind them. Brackets
    /// without a length count once.
    fn dimensions(&mut self, mut at: usize) -> (Option<u64>, usize) {
        let mut product = Some(1u64);
        while self.tokens.word(at) == "[" {
            let close = self.tokens.closing(at);
            if close > at + 1 {
                let value = integer::value(self.tokens, at + 1, close, self, 0);
                let length = integer::length(value);
                product = product.zip(length).map(|(a, b)| a.saturating_mul(b));
            }
            at = close + 1;
        }
        (product, at)
    }

    /// The size of a type by its name.
    fn named(&mut self, name: &str, depth: u32) -> Size {
        if let Some(&size) = self.sizes.get(name) {
            return size;
        }
        let Some((&name, &open)) = self.structures.get_key_value(name) else {
            // The columns of a matrix are locations of their own.
            let columns = name.trim_start_matches('d').strip_prefix("mat");
            let columns = columns.and_then(|rest| rest.bytes().next());
            let leaves = columns.map_or(1, |n| u64::from(n.saturating_sub(b'0')).clamp(1, 4));
            return Size { leaves, ..Size::ONE };
        };
        self.sizes.insert(name, Size::NONE);
        let size = self.block(open, depth);
        self.sizes.insert(name, size);
        size
    }

    /// The size of what stands in the braces that a token opens.
    fn block(&mut self, open: usize, depth: u32) -> Size {
        if depth > MOST_NESTING {
            return Size { leaves: u64::MAX, members: u64::MAX, known: true };
        }
        let close = self.tokens.closing(open);
        let mut size = Size::NONE;
        let mut at = open + 1;
        while at < close {
            let end = self.tokens.find(at, &[";", "}"]).min(close);
            let ty = self.type_at(at, end);
            let element = self.named(self.tokens.word(ty), depth + 1);
            let (of_type, mut name) = self.dimensions(ty + 1);
            while name < end {
                let (of_name, next) = self.dimensions(name + 1);
                let length = of_type.zip(of_name).map(|(a, b)| a.saturating_mul(b));
                size = size.and(element.times(length));
                name = self.tokens.find(next, &[",", ";", "}"]) + 1;
            }
            at = end + 1;
        }
        size
    }

    /// The type of the declaration in `at..end`: the first word that is no qualifier.
    fn type_at(&self, mut at: usize, end: usize) -> usize {
        while at < end {
            if self.tokens.word(at) == "layout" && self.tokens.word(at + 1) == "(" {
                at = self.tokens.closing(at + 1) + 1;
            } else if QUALIFIERS.contains(&self.tokens.word(at)) {
                at += 1;
            } else {
                break;
            }
        }
        at
    }

    /// Refuses lengths that no type of naga's has.
    fn lengths(&mut self) -> Result<(), Stop> {
        for at in 0..self.tokens.len() {
            if self.tokens.word(at) != "[" {
                continue;
            }
            let close = self.tokens.closing(at);
            // An expression at run time is no length.
            if close > at + 24 {
                continue;
            }
            let value = integer::value(self.tokens, at + 1, close, self, 0);
            if let Some(length) = integer::length(value) {
                let hint = "declare a shorter array";
                let start = self.tokens.start(at);
                bound("elements of one array", length, MOST_BYTES / 4, hint, start)?;
            }
        }
        Ok(())
    }

    /// Bounds the variables that naga makes of inputs and outputs.
    fn interfaces(&mut self) -> Result<(), Stop> {
        let mut at = 0;
        let mut total = 0u64;
        while at < self.tokens.len() {
            match self.tokens.word(at) {
                "(" | "[" | "{" => at = self.tokens.closing(at),
                "in" | "out" | "varying" | "attribute" => {
                    let (size, end) = self.interface(at);
                    let start = self.tokens.start(at);
                    if !size.known {
                        let feature = "an input or output whose length is computed in this way";
                        return Err(Stop::unsupported(feature, READING).at(place(start)));
                    }
                    total = total.saturating_add(size.leaves);
                    // Inputs and outputs, and components of one location apart.
                    if total > 8 * u64::from(MOST_LOCATIONS) {
                        return Err(too_many_locations(total).at(place(start)));
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        Ok(())
    }

    /// The size of the interface declared at a direction, and the token behind it.
    fn interface(&mut self, at: usize) -> (Size, usize) {
        let end = self.tokens.find(at, &[";"]);
        let ty = self.type_at(at, end);
        if ty < end && self.tokens.word(ty + 1) == "{" {
            let size = self.block(ty + 1, 0);
            let close = self.tokens.closing(ty + 1);
            let named = usize::from(self.tokens.is_word(close + 1));
            let (length, _) = self.dimensions(close + 1 + named);
            return (size.times(length), end);
        }
        let element = self.named(self.tokens.word(ty), 0);
        let (of_type, mut name) = self.dimensions(ty + 1);
        let mut size = Size::NONE;
        while name < end {
            let (of_name, next) = self.dimensions(name + 1);
            let length = of_type.zip(of_name).map(|(a, b)| a.saturating_mul(b));
            size = size.and(element.times(length));
            name = self.tokens.find(next, &[",", ";"]) + 1;
        }
        (size, end)
    }

    /// Charges every token with what naga makes of it.
    fn uses(&mut self) -> Result<(), Stop> {
        let mut total = 0u64;
        let mut open: Vec<(Vec<&'a str>, usize, u64)> = Vec::new();
        for at in 0..self.tokens.len() {
            match self.tokens.word(at) {
                "{" => self.scopes.push(Map::default()),
                "}" if self.scopes.len() > 1 => {
                    self.scopes.pop();
                }
                "const" => {
                    let all = self.initialised(at);
                    if let Some(&(.., end)) = all.last() {
                        let names = all.iter().map(|&(name, ..)| name).collect();
                        open.push((names, end, total));
                    }
                }
                _ => {}
            }
            while open.last().is_some_and(|&(_, end, _)| end <= at) {
                if let (Some((names, _, before)), Some(scope)) =
                    (open.pop(), self.scopes.last_mut())
                {
                    for name in names {
                        scope.insert(name, total - before);
                    }
                }
            }
            total = total.saturating_add(self.weight(at));
            copies(total, self.tokens.start(at))?;
        }
        Ok(())
    }

    /// Expressions that a token becomes.
    fn weight(&self, at: usize) -> u64 {
        let member = at > 0 && self.tokens.word(at - 1) == ".";
        if !self.tokens.is_word(at) || member {
            return 1;
        }
        let name = self.tokens.word(at);
        match self.local(name) {
            Some(weight) if !self.at_runtime(at + 1) => weight,
            _ => 1,
        }
    }

    fn local(&self, name: &str) -> Option<u64> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.get(name).copied())
    }

    /// An index that only the running program knows: naga leaves what is indexed in its place.
    fn at_runtime(&self, open: usize) -> bool {
        if self.tokens.word(open) != "[" {
            return false;
        }
        let close = self.tokens.closing(open);
        (open + 1..close).any(|at| {
            let name = self.tokens.word(at);
            let member = self.tokens.word(at - 1) == ".";
            let called = self.tokens.word(at + 1) == "(";
            let known = self.local(name).is_some();
            self.tokens.is_word(at) && !member && !called && !known
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> u8 {
        let done = crate::preprocess::preprocess(text, &crate::Options::default());
        let checked = done.and_then(|done| check(&done.text));
        checked.err().map_or(0, |stop| stop.exit_code())
    }

    #[test]
    fn arrays_in_interfaces_are_bounded_however_their_length_is_said() {
        for text in [
            "layout(location = 0) in vec4 v[100000000];",
            "in vec4 v[10000][10000];",
            "const int N = 10000; in vec4 v[N * N];",
            "#define N 10000\n#define M (N * N)\nin vec4 v[M];",
            "#if 0\n#define N 1\n#else\n#define N 100000000\n#endif\nout vec4 v[N];",
            "in vec4[100000000] v;",
            "flat in int a, b[100000000];",
            "in B { vec4 a[1000]; mat4 m[1000]; } b[1000];",
            "struct A { float x[1000]; }; struct C { A a[1000]; }; in C c;",
            "out gl_PerVertex { vec4 gl_Position; float gl_ClipDistance[2000000000]; };",
            "out float gl_ClipDistance[99999999999];",
            "layout(xfb_buffer = 0) out block { float f; vec4 v; float f2[99999999999]; } x;",
            "/* */ #define N 100000000\nin vec4 v[N];",
        ] {
            assert_eq!(code(text), 4, "{text}");
        }
        for text in [
            "in vec4 v[16]; in mat4 m[4]; out vec4 c;",
            "in B { vec4 a[4]; } b; out float gl_ClipDistance[8];",
            "in vec4 v[];",
            "layout(local_size_x = 64) in;",
            "buffer B { float x[100000000]; } b; uniform U { vec4 a[4096]; };",
            "void f(in float a[1000], out float b) { float c[1000]; }",
            "const int N = 3; in vec4 v[N + 1];",
        ] {
            assert_eq!(code(text), 0, "{text}");
        }
        assert_eq!(code("in vec4 v[int(sqrt(16.0))];"), 6);
    }

    #[test]
    fn constants_and_structures_that_double_are_refused() {
        let constants = |n: usize| {
            let mut text = "const float c0[2] = float[2](1.0, 2.0);\n".to_owned();
            for k in 0..n {
                let after = k + 1;
                text.push_str(&format!("const float c{after}[2] = float[2](c{k}, c{k});\n"));
            }
            text
        };
        assert_eq!(code(&constants(8)), 0);
        assert_eq!(code(&constants(30)), 4);
        let structures = |n: usize| {
            let mut text = "struct S0 { float x, y; };\n".to_owned();
            for k in 0..n {
                text.push_str(&format!("struct S{} {{ S{k} a; S{k} b; }};\n", k + 1));
            }
            text
        };
        assert_eq!(code(&structures(8)), 0);
        assert_eq!(code(&structures(30)), 4);
    }

    #[test]
    fn text_without_ends_takes_no_time() {
        for piece in ["const ", "const a b ", "struct S { a ", "in B { ", "x[", "in "] {
            let _ = check(&piece.repeat(20_000));
        }
        assert_eq!(code(&"const ".repeat(60_000)), 4);
    }

    #[test]
    fn broken_text_is_left_to_naga() {
        for text in [
            "const",
            "const int a = a; in vec4 v[3];",
            "struct S { S a; };",
            "struct",
            "struct S {",
            "in",
            "in vec4 v[",
            "]]]",
            "const a] = 3;",
            "in B {",
            "}}}",
            "const = 3;",
        ] {
            let _ = check(text);
        }
    }
}
