//! Bounds on a text before a reader sees it: size, nesting, operators in a row, `else if`, cases.
//!
//! Readers recurse over brackets, operator chains and `else if` chains. The scan reads
//! tokens only (comments are skipped), never recurses, and takes linear time.

use crate::Limits;
use crate::source::Language;
use crate::stop::Stop;
use gpucc_ir::ssa::Span;

/// What is counted between one pair of brackets.
#[derive(Default)]
struct Level {
    /// `(`, `[` or `{`; 0 outside of all.
    bracket: u8,
    /// Operators since the expression began.
    operators: u64,
    /// The deepest operator chain of a bracketed operand of this expression.
    inner: u64,
    /// Subscripts, members and calls in a row.
    postfix: u64,
    /// `else if` of the open chain.
    else_ifs: u64,
    /// Cases of the switch whose body this is.
    cases: u64,
    /// Between `case` and `:` or `{`, where commas separate selectors.
    in_selector: bool,
}

impl Level {
    fn new_expression(&mut self) {
        self.operators = 0;
        self.inner = 0;
        self.postfix = 0;
    }
}

/// The scanner's state.
struct Scan<'a> {
    limits: &'a Limits,
    levels: Vec<Level>,
    /// Operators of all open levels.
    open_operators: u64,
    /// `else if` of all open levels.
    open_else_ifs: u64,
    /// Tokens since the outermost bracket opened.
    body_tokens: u64,
    /// Declarations at module scope.
    declarations: u64,
    /// The greatest [`Scan::depth`] so far.
    deepest: u64,
    /// Braces at module scope.
    bodies: u64,
}

/// Checks the size of a text.
pub fn check_size(text: &str, limits: &Limits) -> Result<(), Stop> {
    let (needed, available) = (text.len() as u64, limits.source_bytes);
    if needed > available {
        return Err(Stop::limit("source size in bytes", needed, available, "split the source"));
    }
    Ok(())
}

/// How deep readers recurse over a text at most that is [flat](check): brackets, operators and `else if` together.
const FLAT: u64 = 16;
/// Commas and assignments of a statement of such a text.
const FLAT_ROW: u32 = 64;
/// Functions and structures of such a text: calls are inlined, and types hold one another.
const FLAT_BODIES: u64 = 8;

/// Checks a text against the limits; that of GLSL has no macros any more, and [`check_size`] saw it before. Gives whether so
/// little of it nests that any thread has the stack to read it.
pub fn check(text: &str, language: Language, limits: &Limits) -> Result<bool, Stop> {
    let bytes = text.as_bytes();
    if language != Language::Glsl {
        check_size(text, limits)?;
    }
    let mut scan = Scan {
        limits,
        levels: vec![Level::default()],
        open_operators: 0,
        open_else_ifs: 0,
        body_tokens: 0,
        declarations: 0,
        deepest: 0,
        bodies: 0,
    };
    let mut at = 0;
    // Commas and assignments of a statement: those of GLSL may nest to the right.
    let mut row = 0;
    let mut previous: &[u8] = b"";
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = line_end(bytes, at);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = comment_end(bytes, at, language);
                continue;
            }
            b'0'..=b'9' => at = number_end(bytes, at),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' | 128.. => {
                at = word_end(bytes, at);
            }
            _ => at += symbol_length(&bytes[at..]),
        }
        let token = &bytes[start..at];
        scan.token(token, previous, start)?;
        row = match token {
            b";" | b"{" | b"}" => 0,
            b"," | b"=" => row + 1,
            [.., b'='] if !matches!(token, b"==" | b"!=" | b"<=" | b">=") => row + 1,
            _ => row,
        };
        scan.deepest = scan.deepest.max(scan.depth());
        if language == Language::Glsl && row > FLAT_ROW {
            scan.deepest = scan.deepest.max(FLAT + 1);
        }
        previous = token;
    }
    Ok(scan.deepest <= FLAT && scan.bodies <= FLAT_BODIES)
}

/// The end of a logical line: a backslash before the line end continues it.
pub fn logical_line_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(length) = bytes[at..].iter().position(|&byte| byte == b'\n') {
        let end = at + length;
        if !text[from..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        at = end + 1;
    }
    text.len()
}

pub fn line_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes[from..].iter().position(|&byte| byte == b'\n');
    rest.map_or(bytes.len(), |length| from + length)
}

/// WGSL's block comments nest, GLSL's do not.
pub fn comment_end(bytes: &[u8], from: usize, language: Language) -> usize {
    let (mut at, mut depth) = (from + 2, 1u32);
    while at < bytes.len() && depth > 0 {
        match &bytes[at..] {
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
            }
            [b'/', b'*', ..] if language == Language::Wgsl => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    at
}

pub fn word_end(bytes: &[u8], from: usize) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 128;
    let length = bytes[from..].iter().position(|byte| !is_word(byte));
    length.map_or(bytes.len(), |length| from + length)
}

pub fn number_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'.' | b'_' => at += 1,
            byte if byte.is_ascii_alphanumeric() => {
                at += 1;
                let exponent = matches!(byte, b'e' | b'E' | b'p' | b'P');
                let hexadecimal = bytes[from..].starts_with(b"0x") && matches!(byte, b'e' | b'E');
                if exponent && !hexadecimal && matches!(bytes.get(at), Some(b'+' | b'-')) {
                    at += 1;
                }
            }
            _ => break,
        }
    }
    at
}

fn symbol_length(rest: &[u8]) -> usize {
    match rest {
        [b'&', b'&', ..] | [b'|', b'|', ..] | [b'<', b'<', ..] | [b'-', b'>', ..] => 2,
        [
            b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^',
            b'=',
            ..,
        ] => 2,
        _ => 1,
    }
}

impl Scan<'_> {
    /// What is open around the last token: brackets, operators, `else if`, and the chains in front.
    fn depth(&self) -> u64 {
        let top = self.levels.last().map_or(0, |top| top.postfix + top.inner);
        self.levels.len() as u64 - 1 + self.open_operators + self.open_else_ifs + top
    }

    fn top(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the outermost level stays")
    }

    fn token(&mut self, token: &[u8], previous: &[u8], at: usize) -> Result<(), Stop> {
        // A chain of `else if` ends where something other than `else` follows its block.
        if previous == b"}" && token != b"else" {
            let chain = std::mem::take(&mut self.top().else_ifs);
            self.open_else_ifs -= chain;
        }
        // naga's time is quadratic in the expressions of a function and in the declarations.
        if self.levels.len() == 1 {
            self.bodies += u64::from(token == b"{");
            self.body_tokens = 0;
            if token == b";" || token == b"{" {
                self.declarations += 1;
                let needed = self.declarations;
                self.bound("declarations", needed, self.limits.declarations, at)?;
            }
        } else if self.levels[1].bracket == b'{' {
            self.body_tokens += 1;
            let needed = self.body_tokens;
            self.bound("tokens of one function", needed, self.limits.function_tokens, at)?;
        }
        match token {
            [b'(' | b'[' | b'{'] => return self.open(token[0], at),
            [b')' | b']' | b'}'] => self.close(token[0]),
            b";" | b"=" => self.new_expression(),
            b"," => {
                if self.top().in_selector {
                    self.case(at)?;
                }
                self.new_expression();
            }
            b":" => {
                self.top().in_selector = false;
                self.operator(at)?;
            }
            b"." => {
                self.top().postfix += 1;
                let postfix = self.top().postfix;
                self.bound("members and subscripts in a row", postfix, self.limits.operators, at)?;
            }
            b"if" if previous == b"else" => {
                self.top().else_ifs += 1;
                self.open_else_ifs += 1;
                let needed = self.open_else_ifs;
                self.bound("`else if` in a chain", needed, self.limits.else_ifs, at)?;
            }
            b"case" | b"default" => {
                self.top().in_selector = true;
                self.case(at)?;
            }
            // Without braces these nest like operators.
            b"if" | b"for" | b"while" | b"do" | b"else" => self.operator(at)?,
            [
                b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'!' | b'~' | b'<' | b'>'
                | b'=' | b'?',
                ..,
            ] => {
                self.top().postfix = 0;
                self.operator(at)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn new_expression(&mut self) {
        self.open_operators -= self.top().operators;
        self.top().new_expression();
    }

    fn operator(&mut self, at: usize) -> Result<(), Stop> {
        self.top().operators += 1;
        self.open_operators += 1;
        let top = self.top();
        let chain = top.operators + top.inner;
        let needed = chain.max(self.open_operators);
        self.bound("operators in one expression", needed, self.limits.operators, at)
    }

    fn case(&mut self, at: usize) -> Result<(), Stop> {
        self.top().cases += 1;
        let needed = self.top().cases;
        self.bound("cases of one switch", needed, self.limits.cases, at)
    }

    fn open(&mut self, bracket: u8, at: usize) -> Result<(), Stop> {
        if bracket == b'{' {
            self.top().in_selector = false;
        } else {
            self.top().postfix += 1;
            let postfix = self.top().postfix;
            self.bound("members and subscripts in a row", postfix, self.limits.operators, at)?;
        }
        self.levels.push(Level { bracket, ..Level::default() });
        let needed = self.levels.len() as u64 - 1;
        self.bound("depth of nested brackets", needed, self.limits.nesting, at)
    }

    /// Closes the innermost level; one too many closes nothing (naga says what is wrong).
    fn close(&mut self, bracket: u8) {
        if self.levels.len() < 2 {
            return;
        }
        let closed = self.levels.pop().expect("there are two levels");
        self.open_operators -= closed.operators;
        self.open_else_ifs -= closed.else_ifs;
        if bracket == b'}' && closed.bracket == b'{' {
            self.new_expression();
        } else {
            let chain = closed.operators + closed.inner;
            let top = self.top();
            top.inner = top.inner.max(chain);
        }
    }

    fn bound(&self, what: &str, needed: u64, available: u64, at: usize) -> Result<(), Stop> {
        if needed <= available {
            return Ok(());
        }
        let span = Span { start: at as u32, end: at as u32 + 1 };
        Err(Stop::limit(what, needed, available, "write it as several smaller pieces").at(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wgsl(text: &str) -> Result<bool, Stop> {
        check(text, Language::Wgsl, &Limits::default())
    }

    #[test]
    fn ordinary_code_passes() {
        let body = "x = a + b * (c - d) / f(e, g[1].y); if x < 3 { y(); } else if z { } else { }\n";
        let text = format!("fn main() {{ {} }}", body.repeat(2000));
        assert!(wgsl(&text).is_ok());
    }

    /// Reads a flat text on a thread with half of the stack that callers have at least; 80 KiB are enough.
    fn read_on_a_small_thread(source: crate::Source<'_>) {
        let (text, language) = match source {
            crate::Source::Wgsl(text) => (text, Language::Wgsl),
            crate::Source::Glsl { text, .. } => (text, Language::Glsl),
            crate::Source::SpirV(_) => panic!("it is no text"),
        };
        let limits = Limits::default();
        assert!(check(text, language, &limits).is_ok_and(|flat| flat), "{text}");
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(128 << 10);
            let options = crate::Options::default();
            let read = move || crate::parse(source, "flat", &options).map(|_| ());
            let thread = thread.spawn_scoped(scope, read).expect("it starts");
            let result = thread.join().expect("it does not panic");
            result.unwrap_or_else(|failure| panic!("{}", failure.render()));
        });
    }

    #[test]
    fn what_is_flat_needs_little_stack() {
        let parentheses = format!("{}x{}", "(".repeat(14), ")".repeat(14));
        let calls = format!("{}x{}", "abs(".repeat(14), ")".repeat(14));
        let subscripts = format!("{}0{}", "o[u32(".repeat(6), ")]".repeat(6));
        let minus = format!("{}x", "- ".repeat(14));
        let sum = format!("x{}", " + x".repeat(14));
        for value in [parentheses, calls, minus, sum] {
            let wgsl = format!(
                "@group(0) @binding(0) var<storage, read_write> o: array<f32>;\n\
                 @compute @workgroup_size(1) fn main() {{ let x = o[1]; o[0] = {value}; }}"
            );
            read_on_a_small_thread(crate::Source::Wgsl(&wgsl));
            let text = format!(
                "#version 450\nlayout(local_size_x = 1) in; layout(binding = 0) buffer B {{ float o[]; }};\n\
                 void main() {{ float x = o[1]; o[0] = {value}; }}"
            );
            let stage = gpucc_ir::ssa::Stage::Compute;
            read_on_a_small_thread(crate::Source::Glsl { text: &text, stage });
        }
        let blocks = format!("{}o[0] = {subscripts};{}", "{".repeat(2), "}".repeat(2));
        let nested = format!("{}o[0] = 1.0;{}", "if (o[1] > 0.0) { ".repeat(6), "}".repeat(6));
        let callees: String =
            (1..7).map(|k| format!("fn f{k}() -> f32 {{ return f{}(); }}\n", k - 1)).collect();
        for body in [blocks, nested, "o[0] = f6();".to_owned()] {
            let callees = if body.contains("f6") { callees.as_str() } else { "" };
            read_on_a_small_thread(crate::Source::Wgsl(&format!(
                "@group(0) @binding(0) var<storage, read_write> o: array<f32>;\n\
                 fn f0() -> f32 {{ return o[2]; }}\n{callees}\
                 @compute @workgroup_size(1) fn main() {{ {body} }}"
            )));
        }
        // Deeper ones are not flat, and neither are many functions.
        let deep = format!("fn f() {{ x = {}0{}; }}", "(".repeat(17), ")".repeat(17));
        assert_eq!(wgsl(&deep).ok(), Some(false));
        assert_eq!(wgsl(&"fn f() {} ".repeat(9)).ok(), Some(false));
        assert_eq!(wgsl("fn f() {}").ok(), Some(true));
    }

    #[test]
    fn deep_brackets_are_refused_where_the_limit_is_crossed() {
        let text = format!("x = {}", "(".repeat(100_000));
        let stop = wgsl(&text).expect_err("too deep");
        assert_eq!(stop.span.start, 4 + 127);
        assert!(wgsl(&format!("{}{}", "(".repeat(127), ")".repeat(127))).is_ok());
    }

    #[test]
    fn a_megabyte_of_plus_is_refused() {
        assert!(wgsl(&"+".repeat(1 << 20)).is_err());
        assert!(wgsl(&format!("x = 1{};", " + 1".repeat(1000))).is_ok());
        assert!(wgsl(&format!("x = 1{};", " + 1".repeat(1002))).is_err());
    }

    #[test]
    fn a_long_operand_list_is_no_long_expression() {
        let text = format!("x = array({});", "1 + 2, ".repeat(5000));
        assert!(wgsl(&text).is_ok());
    }

    #[test]
    fn bracketed_operands_count_with_the_chain_they_stand_in() {
        let inner = "1 + ".repeat(600);
        let text = format!("x = ({inner} 1) {};", "+ 1".repeat(600));
        assert!(wgsl(&text).is_err());
    }

    #[test]
    fn else_if_chains_are_bounded_and_a_new_statement_ends_one() {
        let chain = |n: usize| format!("if a {{}} {}", "else if b {} ".repeat(n));
        assert!(wgsl(&chain(500)).is_ok());
        assert!(wgsl(&chain(501)).is_err());
        assert!(wgsl(&format!("{} {}", chain(400), chain(400))).is_ok());
    }

    #[test]
    fn cases_are_bounded_per_switch_and_selectors_count() {
        assert!(wgsl(&format!("switch x {{ {} }}", "case 1: {} ".repeat(16_384))).is_err());
        assert!(wgsl(&format!("switch x {{ case {} 1: {{}} }}", "1, ".repeat(16_384))).is_err());
        let small = format!("switch x {{ {} }}", "case 1: {} ".repeat(9000));
        assert!(wgsl(&format!("{small} {small}")).is_ok());
    }

    #[test]
    fn comments_hide_what_they_hold_and_wgsl_comments_nest() {
        let deep = "(".repeat(1000);
        assert!(wgsl(&format!("// {deep}\n /* /* */ {deep} */")).is_ok());
        assert!(check(&format!("/* /* */ {deep}"), Language::Glsl, &Limits::default()).is_err());
    }

    #[test]
    fn functions_and_declarations_are_bounded() {
        let body = |n: usize| format!("fn f() {{ {} }}", "x();".repeat(n));
        assert!(wgsl(&body(32_000)).is_ok());
        assert!(wgsl(&body(33_000)).is_err());
        assert!(wgsl(&format!("{} {}", body(30_000), body(30_000))).is_ok());
        assert!(wgsl(&"const a = 1;".repeat(16_384)).is_ok());
        assert!(wgsl(&"const a = 1;".repeat(16_385)).is_err());
    }

    #[test]
    fn unbalanced_closing_brackets_do_not_panic() {
        assert!(wgsl(")))}}}]]](((").is_ok());
        assert!(wgsl("/*").is_ok());
        assert!(wgsl("{)}(}").is_ok());
    }

    #[test]
    fn a_source_that_is_too_long_is_refused_before_it_is_read() {
        let limits = Limits { source_bytes: 10, ..Limits::default() };
        assert!(check("fn main() {}", Language::Wgsl, &limits).is_err());
    }
}
