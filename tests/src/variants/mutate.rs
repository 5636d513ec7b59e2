//! Mutations of WGSL that mostly stay valid: operators, numbers and functions within their class, names within
//! their type, components within their vector, whole statements.

use gpucc_ir::ssa::random::Rng;
use std::collections::BTreeMap;

/// What a token is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Class {
    /// White space and comments.
    Space,
    Name,
    Number,
    /// Everything else, operators whole.
    Sign,
}

#[derive(Clone, Debug)]
struct Token {
    class: Class,
    text: String,
}

const SIGNS: [&str; 24] = [
    "<<=", ">>=", "->", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "++", "--", "::", "//", "/*",
];

/// Operators that take each other's place.
const OPERATORS: [&[&str]; 8] = [
    &["+", "-", "*", "/", "%"],
    &["<", "<=", ">", ">=", "==", "!="],
    &["&", "|", "^"],
    &["&&", "||"],
    &["<<", ">>"],
    &["+=", "-=", "*=", "/=", "%="],
    &["&=", "|=", "^="],
    &["++", "--"],
];

/// Functions that take each other's place.
const FUNCTIONS: [&[&str]; 6] = [
    &[
        "abs",
        "ceil",
        "cos",
        "exp2",
        "exp",
        "floor",
        "fract",
        "inverseSqrt",
        "log",
        "log2",
        "round",
        "saturate",
        "sign",
        "sin",
        "sqrt",
        "tan",
        "tanh",
        "trunc",
        "degrees",
        "radians",
        "atan",
    ],
    &["min", "max", "step", "atan2", "pow"],
    &["clamp", "mix", "smoothstep", "fma"],
    &[
        "countLeadingZeros",
        "countOneBits",
        "countTrailingZeros",
        "firstLeadingBit",
        "firstTrailingBit",
        "reverseBits",
    ],
    &["any", "all"],
    &["dpdx", "dpdxCoarse", "dpdxFine", "dpdy", "dpdyCoarse", "dpdyFine", "fwidth"],
];

const WHOLE: [&str; 12] =
    ["0", "1", "2", "3", "4", "7", "8", "31", "32", "255", "256", "2147483647"];
const FLOATS: [&str; 14] = [
    "0.0", "1.0", "2.0", "0.5", "0.25", "3.0", "1.5", "8.0", "255.0", "1e-3", "1e9", "1e-20",
    "3.4e38", "0.1",
];

fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let first = rest.chars().next().unwrap_or(' ');
        let run = |test: &dyn Fn(char) -> bool| {
            rest.char_indices().find(|&(_, c)| !test(c)).map_or(rest.len(), |(end, _)| end)
        };
        let (class, length) = if rest.starts_with("//") {
            (Class::Space, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (Class::Space, rest.find("*/").map_or(rest.len(), |end| end + 2))
        } else if first.is_whitespace() {
            (Class::Space, run(&char::is_whitespace))
        } else if first.is_alphabetic() || first == '_' {
            (Class::Name, run(&|c| c.is_alphanumeric() || c == '_'))
        } else if first.is_ascii_digit()
            || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            (Class::Number, number(rest))
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            (Class::Sign, sign.map_or(first.len_utf8(), |sign| sign.len()))
        };
        tokens.push(Token { class, text: rest[..length].to_owned() });
        at += length;
    }
    tokens
}

/// Length of the number at the start.
fn number(text: &str) -> usize {
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let sign = matches!(c, '+' | '-')
            && (matches!(before, 'e' | 'E') && !hexadecimal || matches!(before, 'p' | 'P'));
        if !(c.is_ascii_alphanumeric() || c == '.' || sign) {
            return at;
        }
        before = c;
    }
    text.len()
}

/// The tokens of a module and what is known of them.
struct Module {
    tokens: Vec<Token>,
    /// Positions of all that is no white space and outside of attributes.
    places: Vec<usize>,
}

impl Module {
    fn new(text: &str) -> Module {
        let tokens = tokens(text);
        let mut places = Vec::new();
        let mut attribute = 0;
        for (at, token) in tokens.iter().enumerate() {
            if token.class == Class::Space {
                continue;
            }
            // 1: behind `@`; 2: behind its name; from 3 on: in its parentheses.
            attribute = match (attribute, token.text.as_str()) {
                (_, "@") => 1,
                (1, _) => 2,
                (2, "(") => 3,
                (depth @ 3.., "(") => depth + 1,
                (3, ")") => {
                    attribute = 0;
                    continue;
                }
                (depth @ 3.., ")") => depth - 1,
                (depth @ 3.., _) => depth,
                _ => 0,
            };
            if attribute == 0 {
                places.push(at);
            }
        }
        Module { tokens, places }
    }

    fn text(&self, place: usize) -> &str {
        self.places.get(place).map_or("", |&at| self.tokens[at].text.as_str())
    }

    fn class(&self, place: usize) -> Class {
        self.places.get(place).map_or(Class::Space, |&at| self.tokens[at].class)
    }

    fn set(&mut self, place: usize, text: &str) {
        if let Some(&at) = self.places.get(place) {
            text.clone_into(&mut self.tokens[at].text);
        }
    }

    /// Places for which something holds.
    fn all(&self, test: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.places.len()).filter(|&place| test(place)).collect()
    }

    /// True behind what may be an operand, with white space around: so no bracket of a template list is meant.
    fn is_binary(&self, place: usize) -> bool {
        let Some(&at) = self.places.get(place) else {
            return false;
        };
        let space = |at: Option<usize>| {
            at.and_then(|at| self.tokens.get(at)).is_some_and(|token| token.class == Class::Space)
        };
        let before = place.checked_sub(1).map_or("", |before| self.text(before));
        let operand = place > 0 && self.class(place - 1) != Class::Sign && before != "return"
            || matches!(before, ")" | "]" | ">");
        operand && space(at.checked_sub(1)) && space(Some(at + 1))
    }

    /// Statements as ranges of tokens, `;` included, by the first place of each.
    fn statements(&self) -> Vec<(usize, usize)> {
        let mut list = Vec::new();
        let (mut braces, mut parentheses) = (0, 0);
        let mut start = None;
        for place in 0..self.places.len() {
            match self.text(place) {
                "{" => {
                    braces += 1;
                    start = None;
                    continue;
                }
                "}" => {
                    braces -= 1;
                    start = None;
                    continue;
                }
                "(" | "[" => parentheses += 1,
                ")" | "]" => parentheses -= 1,
                ";" if parentheses == 0 => {
                    if let Some(first) = start.take()
                        && braces > 0
                    {
                        list.push((first, place));
                    }
                    continue;
                }
                _ => {}
            }
            start.get_or_insert(place);
        }
        list
    }

    /// Names by the type that follows them where they are declared, of `let` and `const` under that word.
    fn types(&self) -> BTreeMap<String, String> {
        let mut types = BTreeMap::new();
        for place in 0..self.places.len() {
            if self.class(place) != Class::Name {
                continue;
            }
            let name = self.text(place).to_owned();
            if self.text(place + 1) == ":" && self.text(place + 2) != ":" {
                let mut ty = String::new();
                let mut depth = 0;
                for next in place + 2..place + 12 {
                    match self.text(next) {
                        "<" => depth += 1,
                        ">" => depth -= 1,
                        ">>" => depth -= 2,
                        "," | ")" | "{" | "=" | ";" | "}" | "" if depth <= 0 => break,
                        _ => {}
                    }
                    ty.push_str(self.text(next));
                }
                types.insert(name, ty);
            } else if let "let" | "const" | "var" = self.text(place.wrapping_sub(1)) {
                types.entry(name).or_insert("let".to_owned());
            }
        }
        types
    }
}

/// One to three mutations; the text itself where nothing fits.
pub fn mutated(rng: &mut Rng, text: &str) -> String {
    let mut module = Module::new(text);
    for _ in 0..1 + rng.below(3) {
        // What does not fit is tried otherwise.
        for _ in 0..8 {
            if mutate(rng, &mut module) {
                break;
            }
        }
        let text: String = module.tokens.iter().map(|t| t.text.as_str()).collect();
        module = Module::new(&text);
    }
    module.tokens.into_iter().map(|token| token.text).collect()
}

/// One mutation; false when there is nothing to mutate that way.
fn mutate(rng: &mut Rng, module: &mut Module) -> bool {
    match rng.below(12) {
        0..=2 => operator(rng, module),
        3..=5 => literal(rng, module),
        6 => function(rng, module),
        7 => components(rng, module),
        8 | 9 => name(rng, module),
        10 => truth(rng, module),
        _ => statement(rng, module),
    }
}

/// Another of a list.
fn other<'l>(rng: &mut Rng, list: &[&'l str], not: &str) -> Option<&'l str> {
    let others: Vec<&str> = list.iter().copied().filter(|one| *one != not).collect();
    (!others.is_empty()).then(|| rng.pick(&others))
}

/// A place of a list, or none.
fn chosen(rng: &mut Rng, places: &[usize]) -> Option<usize> {
    (!places.is_empty()).then(|| rng.pick(places))
}

fn operator(rng: &mut Rng, module: &mut Module) -> bool {
    let class = |text: &str| OPERATORS.into_iter().find(|class| class.contains(&text));
    let places = module.all(|place| {
        let text = module.text(place);
        module.class(place) == Class::Sign
            && class(text).is_some()
            && (matches!(text, "++" | "--") || module.is_binary(place))
    });
    let Some(place) = chosen(rng, &places) else {
        return false;
    };
    let old = module.text(place).to_owned();
    let new = class(&old).and_then(|class| other(rng, class, &old));
    new.is_some_and(|new| {
        module.set(place, new);
        true
    })
}

fn literal(rng: &mut Rng, module: &mut Module) -> bool {
    let places = module.all(|place| module.class(place) == Class::Number);
    let Some(place) = chosen(rng, &places) else {
        return false;
    };
    let old = module.text(place).to_owned();
    let hexadecimal = old.starts_with("0x") || old.starts_with("0X");
    let suffix = old.chars().last().filter(|last| match last {
        'u' | 'i' => true,
        'f' | 'h' => !hexadecimal,
        _ => false,
    });
    let digits = old.trim_end_matches(|c| Some(c) == suffix);
    let is_float = matches!(suffix, Some('f' | 'h'))
        || !hexadecimal && digits.contains(['.', 'e', 'E'])
        || hexadecimal && digits.contains(['.', 'p', 'P']);
    let mut new = match (is_float, rng.below(3)) {
        (false, 0) => {
            let value = digits.parse::<u32>().unwrap_or(1);
            let near = if rng.one_in(2) {
                value.wrapping_add(1) & 0x7fff_ffff
            } else {
                value.saturating_sub(1)
            };
            near.to_string()
        }
        (false, _) => rng.pick(&WHOLE).to_owned(),
        (true, 0) => {
            let value = digits.parse::<f32>().unwrap_or(1.0);
            format!("{:?}", value * rng.pick(&[0.5f32, 2.0, 10.0, 0.01]))
        }
        (true, _) => rng.pick(&FLOATS).to_owned(),
    };
    if suffix == Some('h') {
        new = rng.pick(&["0.0", "1.0", "0.5", "2.0", "1000.0"]).to_owned();
    }
    // Now and then one of another type.
    match suffix {
        Some('u') if rng.one_in(12) => new.push('i'),
        Some('i') if rng.one_in(12) => new.push('u'),
        Some(suffix) => new.push(suffix),
        None => {}
    }
    if new == old {
        return false;
    }
    module.set(place, &new);
    true
}

fn function(rng: &mut Rng, module: &mut Module) -> bool {
    let class = |text: &str| FUNCTIONS.into_iter().find(|class| class.contains(&text));
    let places =
        module.all(|place| class(module.text(place)).is_some() && module.text(place + 1) == "(");
    let Some(place) = chosen(rng, &places) else {
        return false;
    };
    let old = module.text(place).to_owned();
    let new = class(&old).and_then(|class| other(rng, class, &old));
    new.is_some_and(|new| {
        module.set(place, new);
        true
    })
}

/// Components in another order, of those that are named there and the first.
fn components(rng: &mut Rng, module: &mut Module) -> bool {
    let is_swizzle = |text: &str| {
        (1..=4).contains(&text.len())
            && (text.chars().all(|c| "xyzw".contains(c))
                || text.chars().all(|c| "rgba".contains(c)))
    };
    let places = module
        .all(|place| place > 0 && module.text(place - 1) == "." && is_swizzle(module.text(place)));
    let Some(place) = chosen(rng, &places) else {
        return false;
    };
    let old = module.text(place).to_owned();
    let mut letters: Vec<char> = old.chars().collect();
    letters.push(if old.chars().all(|c| "xyzw".contains(c)) { 'x' } else { 'r' });
    let new: String = old.chars().map(|_| rng.pick(&letters)).collect();
    module.set(place, &new);
    new != old
}

/// A name where another of its type is used.
fn name(rng: &mut Rng, module: &mut Module) -> bool {
    let types = module.types();
    let is_use = |place: usize| {
        place > 0
            && types.contains_key(module.text(place))
            && module.text(place + 1) != ":"
            && !matches!(module.text(place - 1), "." | "let" | "var" | "const" | ">" | "fn")
    };
    let places = module.all(is_use);
    let Some(place) = chosen(rng, &places) else {
        return false;
    };
    let old = module.text(place);
    // Those near by are more likely to be in scope.
    let near = place.saturating_sub(200)..place + 200;
    let others: Vec<String> = places
        .iter()
        .filter(|other| near.contains(*other))
        .map(|&other| module.text(other))
        .filter(|other| *other != old && types.get(*other) == types.get(old))
        .map(str::to_owned)
        .collect();
    if others.is_empty() {
        return false;
    }
    let new = others[rng.below(others.len())].clone();
    module.set(place, &new);
    true
}

fn truth(rng: &mut Rng, module: &mut Module) -> bool {
    let places = module.all(|place| {
        matches!(module.text(place), "true" | "false")
            || module.text(place) == "if" && module.text(place + 1) == "("
    });
    let Some(place) = chosen(rng, &places) else {
        return false;
    };
    match module.text(place) {
        "true" => module.set(place, "false"),
        "false" => module.set(place, "true"),
        _ => module.set(place, "if !"),
    }
    true
}

/// A statement that declares nothing: left out, or twice.
fn statement(rng: &mut Rng, module: &mut Module) -> bool {
    const KEPT: [&str; 12] = [
        "let",
        "var",
        "const",
        "return",
        "const_assert",
        "break",
        "continue",
        "case",
        "default",
        "fn",
        "struct",
        "@",
    ];
    let list: Vec<(usize, usize)> = module
        .statements()
        .into_iter()
        .filter(|&(first, _)| !KEPT.contains(&module.text(first)))
        .collect();
    if list.is_empty() {
        return false;
    }
    let (first, last) = list[rng.below(list.len())];
    let (from, to) = (module.places[first], module.places[last]);
    if rng.one_in(2) {
        module.tokens.drain(from..=to);
    } else {
        let again = module.tokens[from..=to].to_vec();
        module.tokens.splice(from..from, again);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_text() {
        let text =
            "// a > b\nfn f(x: vec2<f32>) -> f32 { return 0x1Fu + 1.5e-3f * x.y /* no */ >> 2; }";
        let list = tokens(text);
        let joined: String = list.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(joined, text);
        let words: Vec<&str> = list
            .iter()
            .filter(|token| token.class != Class::Space)
            .map(|token| token.text.as_str())
            .collect();
        assert_eq!(words[..6], ["fn", "f", "(", "x", ":", "vec2"]);
        assert!(words.contains(&"0x1Fu") && words.contains(&"1.5e-3f") && words.contains(&">>"));
    }

    #[test]
    fn attributes_and_template_lists_stay() {
        let text = "@group(0) @binding(3) var<storage> a: array<vec2<f32>>;\n\
                    @compute @workgroup_size(64) fn main() { }";
        let mut rng = Rng::new(0);
        for _ in 0..200 {
            assert_eq!(mutated(&mut rng, text), text);
        }
    }

    #[test]
    fn every_kind_of_mutation_happens() {
        let text = "fn f(a: f32, b: f32) -> f32 { var c = a + b; c = sin(a.x); if (true) { c += 2.0; } return c; }";
        let mut rng = Rng::new(1);
        let mutants: Vec<String> = (0..2000).map(|_| mutated(&mut rng, text)).collect();
        for part in
            ["a - b", "cos(", "if ! (", "(false)", "+= 0.5", "a + a", "{  }", "c += 2.0;c += 2.0;"]
        {
            let made = mutants.iter().any(|mutant| mutant.contains(part));
            assert!(made, "{part}: {}", mutants[0]);
        }
    }
}
