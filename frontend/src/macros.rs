//! How large GLSL becomes when its macros are expanded, estimated before anyone expands them.
//!
//! A chain of `#define A B B` doubles at each link, so a hundred lines can stand for more tokens
//! than there is memory. The estimate is an upper bound for well-formed sources: the largest of all
//! definitions of a name counts, wherever it stands.

use crate::Limits;
use crate::stop::Stop;
use gpucc_ir::Map;
use gpucc_ir::ssa::Span;

/// Macros that expand into one another this deep are refused.
const DEPTH: u32 = 128;

/// One definition.
struct Macro<'a> {
    parameters: Vec<&'a str>,
    body: Vec<&'a str>,
}

/// What one use of a macro costs.
#[derive(Copy, Clone, Default)]
struct Cost {
    /// Tokens of its own.
    tokens: u64,
    /// How often an argument appears.
    times: u64,
}

/// Definitions and the costs found so far; `None` while one is being found.
struct Estimate<'a> {
    macros: Map<&'a str, Vec<Macro<'a>>>,
    costs: Map<&'a str, Option<Cost>>,
}

/// Refuses a text whose macros expand to more than the limit.
pub fn check(text: &str, limits: &Limits) -> Result<(), Stop> {
    if !text.contains("define") {
        return Ok(());
    }
    let mut estimate = Estimate { macros: Map::default(), costs: Map::default() };
    let mut plain: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        let line = &text[at..end];
        let tokens = tokens(line);
        match tokens.as_slice() {
            ["#", "define", name, rest @ ..] => {
                let parameters = text_after(line, name).starts_with('(');
                estimate.define(name, rest, parameters);
            }
            _ => plain.push((at, tokens)),
        }
        at = end + 1;
    }
    let mut total = 0u64;
    for (at, tokens) in plain {
        total = total.saturating_add(estimate.cost(&tokens, &[], 0).tokens);
        if total > limits.expanded_tokens {
            let span = Span { start: at as u32, end: at as u32 + 1 };
            let hint = "expand less by macros";
            let what = "tokens after macro expansion";
            return Err(Stop::limit(what, total, limits.expanded_tokens, hint).at(span));
        }
    }
    Ok(())
}

/// The end of a logical line: a backslash before the line end continues it.
pub fn line_end(text: &str, from: usize) -> usize {
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

fn text_after<'a>(line: &'a str, token: &str) -> &'a str {
    let start = token.as_ptr() as usize - line.as_ptr() as usize;
    &line[start + token.len()..]
}

/// Words, numbers and single symbols.
fn tokens(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() && first != '\\' {
            tokens.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    tokens
}

impl<'a> Estimate<'a> {
    fn define(&mut self, name: &'a str, rest: &[&'a str], parameters: bool) {
        let mut made = Macro { parameters: Vec::new(), body: rest.to_vec() };
        if parameters && let Some(close) = rest.iter().position(|&token| token == ")") {
            let names = rest[1..close].iter().copied();
            made.parameters = names.filter(|&token| token != ",").collect();
            made.body = rest[close + 1..].to_vec();
        }
        self.macros.entry(name).or_default().push(made);
    }

    /// Tokens that a list expands to, and how often the parameters appear in it at most.
    fn cost(&mut self, tokens: &[&'a str], parameters: &[&'a str], depth: u32) -> Cost {
        let mut total = Cost::default();
        let mut counts: Map<&str, u64> = Map::default();
        // How often what stands here is repeated by the macros around it.
        let mut factors = vec![1u64];
        for (index, &token) in tokens.iter().enumerate() {
            let factor = factors.last().copied().unwrap_or(1);
            match token {
                "(" => {
                    let called = index.checked_sub(1).map(|before| tokens[before]);
                    let times = called.map_or(1, |name| self.use_of(name, depth).times);
                    factors.push(factor.saturating_mul(times.max(1)));
                }
                ")" if factors.len() > 1 => {
                    factors.pop();
                }
                _ => {}
            }
            if parameters.contains(&token) {
                let count = counts.entry(token).or_default();
                *count = count.saturating_add(factor);
            }
            let own = self.use_of(token, depth).tokens;
            total.tokens = total.tokens.saturating_add(factor.saturating_mul(own));
        }
        total.times = counts.values().copied().max().unwrap_or(0);
        total
    }

    fn use_of(&mut self, name: &'a str, depth: u32) -> Cost {
        let plain = Cost { tokens: 1, times: 1 };
        if !self.macros.contains_key(name) {
            return plain;
        }
        match self.costs.get(name) {
            // A macro does not expand within itself.
            Some(None) => return plain,
            Some(&Some(cost)) => return cost,
            None => {}
        }
        if depth >= DEPTH {
            return Cost { tokens: u64::MAX, times: 1 };
        }
        self.costs.insert(name, None);
        let definitions = std::mem::take(&mut self.macros[name]);
        let mut cost = Cost::default();
        for definition in &definitions {
            let one = self.cost(&definition.body, &definition.parameters, depth + 1);
            cost.tokens = cost.tokens.max(one.tokens);
            cost.times = cost.times.max(one.times);
        }
        self.macros[name] = definitions;
        self.costs.insert(name, Some(cost));
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str) -> bool {
        check(text, &Limits::default()).is_ok()
    }

    #[test]
    fn doubling_chains_are_refused_in_either_order() {
        let link = |n: usize| format!("#define A{} A{n} A{n}\n", n + 1);
        let up: String = (0..60).map(link).collect();
        let down: String = (0..60).rev().map(link).collect();
        assert!(!fits(&format!("{up}A60")));
        assert!(!fits(&format!("{down}A60")));
        assert!(fits(&format!("{up}A10")));
    }

    #[test]
    fn arguments_that_double_are_refused() {
        let nested = |n: usize| format!("{}1{}", "D(".repeat(n), ")".repeat(n));
        let define = "#define D(x) ((x) \\\n + (x))\n";
        assert!(fits(&format!("{define}{}", nested(8))));
        assert!(!fits(&format!("{define}{}", nested(60))));
    }

    #[test]
    fn macros_that_name_themselves_end() {
        assert!(fits("#define A A A\n#define B C\n#define C B\nA B C"));
    }
}
