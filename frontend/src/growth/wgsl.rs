//! Constants, constructed values and structures of WGSL.

use super::integer::{self, Names};
use super::tokens::Tokens;
use super::{MOST_NESTING, Size, copies, members, zeros};
use crate::stop::Stop;
use gpucc_ir::Map;

/// What a name of the module stands for, with the tokens that say so.
#[derive(Copy, Clone)]
enum Declared {
    /// `alias` and its type.
    Alias(usize),
    /// `struct` and its opening brace.
    Struct(usize),
    /// `const` and its expression.
    Constant(usize, usize),
}

struct Scan<'t, 'a> {
    tokens: &'t Tokens<'a>,
    declared: Map<&'a str, Declared>,
    sizes: Map<&'a str, Size>,
    values: Map<&'a str, Option<i128>>,
    /// Expressions that a use of a constant becomes.
    weights: Map<&'a str, u64>,
    /// Constants of the functions' scopes, the innermost last.
    locals: Vec<Map<&'a str, u64>>,
}

impl Names for Scan<'_, '_> {
    fn value(&mut self, name: &str, depth: u32) -> Option<i128> {
        if let Some(&known) = self.values.get(name) {
            return known;
        }
        let (&name, &declared) = self.declared.get_key_value(name)?;
        let Declared::Constant(from, end) = declared else {
            return None;
        };
        // A constant that names itself has no value.
        self.values.insert(name, None);
        let value = integer::value(self.tokens, from, end, self, depth);
        self.values.insert(name, value);
        value
    }
}

/// Bounds what naga makes of constants, of values of arrays, and of nested structures.
pub fn check(text: &str) -> Result<(), Stop> {
    let tokens = Tokens::new(text);
    let mut scan = Scan {
        tokens: &tokens,
        declared: Map::default(),
        sizes: Map::default(),
        values: Map::default(),
        weights: Map::default(),
        locals: Vec::new(),
    };
    scan.declare();
    for at in 0..scan.declared.len() {
        let Some((&name, &declared)) = scan.declared.get_index(at) else {
            break;
        };
        if let Declared::Struct(open) = declared {
            let size = scan.named(name, 0);
            members(size.members, scan.tokens.start(open))?;
        }
    }
    scan.uses()?;
    tokens.check_walked()
}

impl<'a> Scan<'_, 'a> {
    /// Declarations at module scope; the last of a name counts, naga refuses two.
    fn declare(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let name = self.tokens.word(at + 1);
            match self.tokens.word(at) {
                "(" | "[" | "{" => at = self.tokens.closing(at),
                "alias" => {
                    self.declared.insert(name, Declared::Alias(at + 3));
                }
                "struct" => {
                    self.declared.insert(name, Declared::Struct(at + 2));
                }
                "const" => {
                    let (from, end) = self.expression(at);
                    self.declared.insert(name, Declared::Constant(from, end));
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The expression of the declaration that begins at a token.
    fn expression(&self, at: usize) -> (usize, usize) {
        let end = self.tokens.find(at, &[";"]);
        let equals = self.tokens.find(at, &["=", ";"]);
        ((equals + 1).min(end), end)
    }

    /// The size of a type by its name.
    fn named(&mut self, name: &str, depth: u32) -> Size {
        if let Some(&size) = self.sizes.get(name) {
            return size;
        }
        let Some((&name, &declared)) = self.declared.get_key_value(name) else {
            return builtin(name);
        };
        // A type that holds itself has no size; naga says so.
        self.sizes.insert(name, Size::NONE);
        let size = match declared {
            Declared::Alias(at) => self.ty(at, depth + 1).0,
            Declared::Struct(open) => self.structure(open, depth),
            Declared::Constant(..) => Size::ONE,
        };
        self.sizes.insert(name, size);
        size
    }

    fn structure(&mut self, open: usize, depth: u32) -> Size {
        let close = self.tokens.closing(open);
        let mut size = Size::NONE;
        let mut at = open + 1;
        while at < close {
            let colon = self.tokens.find(at, &[":"]);
            if colon >= close {
                break;
            }
            let (member, next) = self.ty(colon + 1, depth + 1);
            size = size.and(member);
            at = next.max(colon + 1);
        }
        size
    }

    /// The size of the type that begins at a token, and the token behind it.
    fn ty(&mut self, at: usize, depth: u32) -> (Size, usize) {
        let word = self.tokens.word(at);
        let template = self.tokens.word(at + 1) == "<";
        if depth > MOST_NESTING {
            let unknown = Size { leaves: u64::MAX, members: u64::MAX, known: true };
            return (unknown, at + 1);
        }
        if word == "array" && template {
            let (element, next) = self.ty(at + 2, depth + 1);
            if self.tokens.word(next) != "," {
                return (element, next + 1);
            }
            let end = self.tokens.template_end(next + 1);
            if end == next + 1 {
                return (element, end + 1);
            }
            // A comma may follow the length.
            let last = end - usize::from(self.tokens.word(end - 1) == ",");
            let length = integer::value(self.tokens, next + 1, last, self, depth)
                .or_else(|| integer::picked(self.tokens, next + 1, last));
            return (element.times(integer::length(length)), end + 1);
        }
        let size = self.named(word, depth);
        match template {
            true => (size, self.tokens.template_end(at + 2) + 1),
            false => (size, at + 1),
        }
    }

    /// Charges every token with what naga makes of it.
    fn uses(&mut self) -> Result<(), Stop> {
        let mut total = 0u64;
        // Constants whose expressions are being read: name, last token, total before.
        let mut open: Vec<(&'a str, usize, u64)> = Vec::new();
        for at in 0..self.tokens.len() {
            match self.tokens.word(at) {
                "{" => self.locals.push(Map::default()),
                "}" => {
                    self.locals.pop();
                }
                "const" if !self.locals.is_empty() => {
                    let (_, end) = self.expression(at);
                    open.push((self.tokens.word(at + 1), end, total));
                }
                ";" => {
                    while let Some(&(name, end, before)) = open.last()
                        && end <= at
                    {
                        open.pop();
                        if let Some(scope) = self.locals.last_mut() {
                            scope.insert(name, total - before);
                        }
                    }
                }
                _ => {}
            }
            total = total.saturating_add(self.weight(at, 0)?);
            copies(total, self.tokens.start(at))?;
        }
        Ok(())
    }

    /// Expressions that the token becomes.
    fn weight(&mut self, at: usize, depth: u32) -> Result<u64, Stop> {
        let name = self.tokens.word(at);
        let member = at > 0 && self.tokens.word(at - 1) == ".";
        if !self.tokens.is_word(at) || member {
            return Ok(1);
        }
        if let Some(weight) = self.local(name) {
            return Ok(if self.at_runtime(at + 1) { 1 } else { weight });
        }
        match self.declared.get(name).copied() {
            Some(Declared::Constant(from, end)) => {
                if self.at_runtime(at + 1) || from <= at && at < end {
                    return Ok(1);
                }
                self.constant(at, from, end, depth)
            }
            None if name != "array" => Ok(1),
            _ => {
                if name == "array" && self.tokens.word(at + 1) != "<" {
                    return Ok(1);
                }
                if name != "array" && self.tokens.word(at + 1) != "(" {
                    return Ok(1);
                }
                let (size, next) = self.ty(at, 0);
                if self.tokens.word(next) != "(" || self.tokens.word(next + 1) != ")" {
                    return Ok(1);
                }
                zeros(size, self.tokens.start(at))?;
                // Zeros become expressions only within a constant that is computed with; a list of
                // handles is small beside an expression.
                Ok(1 + size.leaves / 16)
            }
        }
    }

    fn constant(&mut self, at: usize, from: usize, end: usize, depth: u32) -> Result<u64, Stop> {
        let name = self.tokens.word(at);
        if let Some(&weight) = self.weights.get(name) {
            return Ok(weight);
        }
        // A constant that names itself; naga says so.
        self.weights.insert(name, 1);
        let mut weight = 0u64;
        for at in from..end {
            weight = weight.saturating_add(self.weight(at, depth + 1)?);
        }
        self.weights.insert(name, weight);
        Ok(weight)
    }

    fn local(&self, name: &str) -> Option<u64> {
        let mut scopes = self.locals.iter().rev();
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
            let called = matches!(self.tokens.word(at + 1), "(" | "<");
            self.tokens.is_word(at)
                && !member
                && !called
                && !matches!(name, "true" | "false")
                && self.local(name).is_none()
                && !self.declared.contains_key(name)
        })
    }
}

/// Types that the language has.
fn builtin(name: &str) -> Size {
    let columns = |rest: &str| rest.bytes().next().map_or(1, |n| u64::from(n.saturating_sub(b'0')));
    let leaves = if let Some(rest) = name.strip_prefix("vec") {
        columns(rest)
    } else if let Some(rest) = name.strip_prefix("mat") {
        columns(rest) * rest.get(2..).map_or(1, columns)
    } else {
        1
    };
    Size { leaves: leaves.clamp(1, 16), ..Size::ONE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> u8 {
        check(text).err().map_or(0, |stop| stop.exit_code())
    }

    #[test]
    fn a_doubling_of_constants_is_counted_wherever_it_stands() {
        let chain = |prefix: &str, n: usize| {
            let mut text = format!("{prefix}const c0 = array(1, 2);\n");
            for k in 0..n {
                text.push_str(&format!("const c{} = array(c{k}, c{k});\n", k + 1));
            }
            text
        };
        assert_eq!(code(&chain("", 12)), 0);
        assert_eq!(code(&chain("", 40)), 4);
        assert_eq!(code(&format!("{} }}", chain("fn f() {", 12))), 0);
        assert_eq!(code(&format!("{} }}", chain("fn f() {", 40))), 4);
        let backwards: String = chain("", 40).lines().rev().collect();
        assert_eq!(code(&backwards), 4);
    }

    #[test]
    fn a_table_is_copied_to_constant_indices_alone() {
        let table = format!("const T = array<u32, 8000>({});\n", "1,".repeat(8000));
        let uses = |index: &str| {
            format!("{table} fn f(i: u32) {{ {} }}", format!("x = T[{index}];").repeat(100))
        };
        assert_eq!(code(&uses("i")), 0);
        assert_eq!(code(&uses("i * 3u + 1u")), 0);
        assert_eq!(code(&uses("5")), 4);
        assert_eq!(code(&uses("min(5, 6)")), 4);
    }

    #[test]
    fn zeros_are_counted_and_buffers_are_not() {
        assert_eq!(code("fn f() { let a = array<u32, 1000>(); }"), 0);
        assert_eq!(code("fn f() { let a = -array<i32, 1000000000>(); }"), 4);
        assert_eq!(code("alias A = array<array<i32, 65536>, 65536>; const x = A();"), 4);
        assert_eq!(code("const N = 1u << 30u; fn f() { any(array<bool, N>()); }"), 4);
        assert_eq!(code("struct S { a: array<u32, 1000000000> } fn f() { let x = S(); }"), 4);
        assert_eq!(code("const N = pow(2, 30); fn f() { let a = array<u32, N>(); }"), 6);
        assert_eq!(code("var<storage> s: array<u32, 1000000000>;"), 0);
        assert_eq!(code("fn f() { let a = array<u32, 3>(1, 2, 3); }"), 0);
        assert_eq!(code("fn f() { let a = array<i32, array(array(6))[0][0]>(); }"), 0);
        assert_eq!(code("fn f() { let a = array<i32, array(1, 6000000)[1]>(); }"), 4);
    }

    #[test]
    fn structures_that_double_are_refused_and_large_arrays_in_them_are_not() {
        let chain = |n: usize| {
            let mut text = "struct S0 { x: u32, @align(16) y: vec4<f32>, }\n".to_owned();
            for k in 0..n {
                text.push_str(&format!("struct S{} {{ a: S{k}, b: array<S{k}, 3> }}\n", k + 1));
            }
            text
        };
        assert_eq!(code(&chain(8)), 0);
        assert_eq!(code(&chain(40)), 4);
        assert_eq!(code("struct S { a: array<vec4<f32>, 1000000> }"), 0);
    }

    #[test]
    fn text_without_ends_takes_no_time() {
        for piece in [
            "const ",
            "const a = b ",
            "struct S { a ",
            "alias A = array<",
            "x[",
            "fn f() { const a ",
        ] {
            let _ = check(&piece.repeat(20_000));
        }
        assert_eq!(code(&format!("fn f() {{ {}", "const a ".repeat(60_000))), 4);
    }

    #[test]
    fn broken_text_is_left_to_naga() {
        for text in [
            "const",
            "const a = a;",
            "struct S { a: S }",
            "alias A = A;",
            "array<array<",
            "struct",
            "struct S {",
            "alias",
            "const x = array<u32, ;",
            "}}}}",
            "fn f() { const }",
            "array<u32,>()",
            "array<>()",
        ] {
            assert_eq!(code(text), 0, "{text}");
        }
        let deep =
            format!("fn f() {{ let x = {}u32{}(); }}", "array<".repeat(5000), ">".repeat(5000));
        assert!(matches!(code(&deep), 0 | 4));
    }
}
