//! Random control flow in WGSL: loops, switches and calls in one another, left at any place, in functions that return
//! from any depth, with constructs within `continuing`. The bytes must do what the interpreter does.

use crate::programs::{Tally, judge, writes_memory};
use gpucc::{Choice, Compiler, Options, Source, SourceText};
use gpucc_ir::ssa::random::Rng;
use std::fmt::Write as _;

/// Functions of a program; each may call those before it.
const FUNCTIONS: usize = 2;
/// Constructs nest no deeper within a function.
const DEEPEST: u32 = 4;

/// The program of a seed: a compute program or, where `fragment`, a fragment program.
pub fn source(seed: u64, fragment: bool) -> String {
    let mut writer = Writer {
        rng: Rng::new(seed),
        text: String::new(),
        indent: 1,
        loops: 0,
        function: 0,
        fragment,
    };
    let mut text = String::from("@group(0) @binding(0) var<uniform> u: vec4u;\n");
    if !fragment {
        text.push_str("@group(0) @binding(1) var<storage, read_write> out: array<vec4u>;\n");
    }
    text.push_str("var<private> seen: u32;\n");
    for function in 0..FUNCTIONS {
        writer.function = function;
        let name = format!("fn f{function}(n: u32, start: u32) -> u32 {{\n    var acc = start;\n");
        writer.text = name;
        let budget = 2 + writer.rng.below(8) as u32;
        writer.block(budget, 0, Around::default());
        writer.line("return acc;");
        writer.text.push_str("}\n");
        text.push_str(&writer.text);
    }
    let last = FUNCTIONS - 1;
    let call = format!("f{last}(n, n * 7u + u.w)");
    if fragment {
        let _ = write!(
            text,
            "@fragment fn main(@location(0) @interpolate(flat) n: u32) -> @location(0) vec4u {{\n    \
             let acc = {call};\n    return vec4u(acc, seen, acc ^ seen, n);\n}}\n"
        );
    } else {
        let _ = write!(
            text,
            "@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{\n    \
             let n = id.x;\n    let acc = {call};\n    out[id.x] = vec4u(acc, seen, acc ^ seen, n);\n}}\n"
        );
    }
    text
}

/// What may be left from here.
#[derive(Copy, Clone, Default)]
struct Around {
    /// A loop's body: `continue` is allowed.
    body: bool,
    /// A loop's body or a switch: `break` is allowed.
    breaks: bool,
    /// Within a `continuing`: no return.
    continuing: bool,
}

struct Writer {
    rng: Rng,
    text: String,
    indent: usize,
    loops: u32,
    function: usize,
    fragment: bool,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let indent = "    ".repeat(self.indent);
        let _ = writeln!(self.text, "{indent}{line}");
    }

    fn open(&mut self, line: &str) {
        self.line(line);
        self.indent += 1;
    }

    fn close(&mut self, line: &str) {
        self.indent -= 1;
        self.line(line);
    }

    /// One in three is the same for all invocations, one depends on the invocation alone.
    fn condition(&mut self) -> String {
        let k = self.rng.below(5);
        match self.rng.below(6) {
            0 => format!("(u.x >> {k}u & 1u) == 1u"),
            1 => format!("u.y % {}u < 2u", 2 + k),
            2 | 3 => format!("(n >> {k}u & 1u) == 1u"),
            _ => format!("(acc >> {k}u & 1u) == 1u"),
        }
    }

    fn block(&mut self, mut budget: u32, depth: u32, around: Around) {
        while budget > 0 {
            budget -= 1;
            let inner = budget.min(3);
            match self.rng.below(if depth < DEEPEST { 11 } else { 4 }) {
                0..=2 => self.act(),
                3 => self.leave_if(around),
                4 | 5 => {
                    let condition = self.condition();
                    self.open(&format!("if ({condition}) {{"));
                    self.arm(inner, depth + 1, around);
                    if self.rng.one_in(2) {
                        self.close("} else {");
                        self.indent += 1;
                        self.arm(inner, depth + 1, around);
                    }
                    self.close("}");
                }
                6 if self.rng.one_in(2) => self.search(inner, depth, around),
                6 | 7 => self.loop_(inner, depth, around),
                8 => self.switch(inner, depth, around),
                9 => {
                    self.open("{");
                    self.block(inner, depth + 1, around);
                    self.close("}");
                }
                _ => self.act(),
            }
        }
    }

    fn act(&mut self) {
        let k = self.rng.below(1000);
        match self.rng.below(6) {
            0 if self.function > 0 && self.rng.one_in(2) => {
                let callee = self.rng.below(self.function);
                self.line(&format!("acc += f{callee}(n + {k}u, acc);"));
            }
            1 => self.line(&format!("seen += acc ^ {k}u;")),
            2 => self.line(&format!("acc ^= n << {}u;", k % 9)),
            _ => self.line(&format!("acc = acc * 31u + {k}u;")),
        }
    }

    /// A block that may end by leaving.
    fn arm(&mut self, budget: u32, depth: u32, around: Around) {
        self.block(budget, depth, around);
        if self.rng.one_in(4) {
            self.leave(around);
        }
    }

    fn leave_if(&mut self, around: Around) {
        let condition = self.condition();
        self.open(&format!("if ({condition}) {{"));
        self.act();
        self.leave(around);
        self.close("}");
    }

    /// A jump, where there is one; nothing comes behind it in its block.
    fn leave(&mut self, around: Around) {
        match self.rng.below(5) {
            0 | 1 if around.breaks => self.line("break;"),
            2 if around.body => self.line("continue;"),
            3 if self.fragment && self.rng.one_in(6) => self.line("discard;"),
            3 | 4 if !around.continuing => self.line("return acc;"),
            _ => self.act(),
        }
    }

    /// A search of at most eight trips, with an arm that would go round for ever and that nobody takes.
    fn search(&mut self, budget: u32, depth: u32, around: Around) {
        let (at, to) = (format!("p{}", self.loops), format!("t{}", self.loops));
        self.loops += 1;
        self.line(&format!("var {at} = n & 7u;"));
        self.line(&format!("let {to} = (acc ^ u.x) & 7u;"));
        self.open("loop {");
        self.open(&format!("if ({at} != (u.w | 64u)) {{"));
        self.open(&format!("if ({at} == {to}) {{"));
        self.act();
        if around.continuing || self.rng.one_in(2) {
            self.line("break;");
        } else {
            self.line("return acc;");
        }
        self.close("}");
        self.line(&format!("{at} = ({at} + 1u) & 7u;"));
        let inner = Around { body: false, breaks: true, ..around };
        self.block(budget, depth + 2, inner);
        self.close("}");
        self.close("}");
    }

    /// At most four trips, counted before anything may leave.
    fn loop_(&mut self, budget: u32, depth: u32, around: Around) {
        let counter = format!("c{}", self.loops);
        self.loops += 1;
        self.line(&format!("var {counter} = 0u;"));
        let body = Around { body: true, breaks: true, ..around };
        let limit = 1 + self.rng.below(4);
        let kind = self.rng.below(4);
        match kind {
            0 => self.open(&format!("while ({counter} < {limit}u) {{")),
            1 => self.open("for (var i = n & 3u; i < 5u; i++) {"),
            _ => self.open("loop {"),
        }
        self.line(&format!("if ({counter} >= {limit}u) {{ break; }}"));
        self.line(&format!("{counter}++;"));
        self.block(budget, depth + 1, body);
        if kind > 1 && self.rng.one_in(2) {
            self.open("continuing {");
            let inner = Around { continuing: true, ..Around::default() };
            if depth + 2 < DEEPEST {
                self.block(budget.min(2), depth + 2, inner);
            } else {
                self.act();
            }
            if self.rng.one_in(2) {
                let condition = self.condition();
                self.line(&format!("break if {condition};"));
            }
            self.close("}");
        }
        self.close("}");
    }

    fn switch(&mut self, budget: u32, depth: u32, around: Around) {
        let selector = match self.rng.below(3) {
            0 => "u.z % 4u",
            1 => "n % 4u",
            _ => "acc % 4u",
        };
        self.open(&format!("switch ({selector}) {{"));
        let inner = Around { breaks: true, ..around };
        for case in ["case 0u: {", "case 1u, 3u: {", "default: {"] {
            if case.starts_with("case") && self.rng.one_in(4) {
                continue;
            }
            self.open(case);
            self.arm(budget.min(2), depth + 1, inner);
            self.close("}");
        }
        self.close("}");
    }
}

/// Compiles, runs and compares the programs of `seeds`; odd ones are fragment programs, and all where no
/// program writes memory.
///
/// # Panics
/// Never on account of a program: what goes wrong is tallied.
pub fn run(compiler: &Compiler, seeds: std::ops::Range<u64>, inputs: u32) -> Tally {
    let mut tally = Tally::default();
    let options = Options::default();
    for seed in seeds {
        let fragment = !writes_memory(compiler.target()) || !seed.is_multiple_of(2);
        let text = source(seed, fragment);
        let parsed = compiler.parse(Source::Wgsl(&text), Choice::default(), &options);
        let func = parsed.and_then(|mut parsed| parsed.entries.remove(0).func);
        let name = SourceText::new(format!("flow_{seed}"), Some(text));
        match func {
            Ok(func) => judge(&mut tally, compiler, &name, &func, &options, (seed, inputs)),
            Err(failure) => tally.failures.push((seed, failure.summary().to_owned())),
        }
    }
    tally
}
