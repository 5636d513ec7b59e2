//! Control flow that nests deeper than the stacks of masks of any chip, in every stage, with every way out of it.

use crate::common::verified_on;
use gpucc::{Choice, Compiler, Options, Source, Target};
use std::fmt::Write as _;

/// Chips with stacks of 15, 7 and 12 masks.
const CHIPS: [(Target, Option<&str>); 3] =
    [(Target::GEN4, Some("i965")), (Target::GEN4, Some("gm965")), (Target::G45, None)];

/// So many conditions around a text; each turns some lanes away, and some of these do other work.
fn conditions(count: u32, within: &str) -> String {
    let mut text = String::new();
    for k in 0..count {
        let _ = writeln!(text, "if ((sum ^ (sum >> 5u)) % 37u != {k}u) {{ sum = sum * 3u + {k}u;");
    }
    text.push_str(within);
    for k in (0..count).rev() {
        let other = if k % 2 == 1 { "else { sum ^= sum << 3u; }" } else { "" };
        let _ = writeln!(text, "}} {other}");
    }
    text
}

/// So many loops around a text, of one trip or two, which lanes leave and shorten.
fn loops(count: u32, within: &str) -> String {
    let mut text = String::new();
    for k in 0..count {
        let _ = writeln!(
            text,
            "for (var i{k} = 0u; i{k} <= (n >> {k}u & 1u); i{k}++) {{ sum = sum * 5u + i{k};"
        );
        match k % 3 {
            1 => text.push_str("if (sum % 7u == 3u) { sum += 9u; break; }\n"),
            2 => text.push_str("if (sum % 11u == 3u) { sum += 3u; continue; }\n"),
            _ => {}
        }
    }
    text.push_str(within);
    text.push_str(&"}".repeat(count as usize));
    text
}

/// Verifies a body in a function of `n`, which has `sum`, in all stages on every chip.
#[track_caller]
fn everywhere(name: &str, body: &str) {
    let function = format!("fn deep(n: u32) -> u32 {{ var sum = n + 1u; {body} return sum; }}");
    let vertex = "@vertex fn vs(@location(0) a: u32, @builtin(vertex_index) i: u32) -> Varying {
             return Varying(vec4f(f32(a & 3u), f32(i), 0.0, 1.0), deep(a + i));
         }";
    let draws = format!(
        "{function}
         struct Varying {{ @builtin(position) place: vec4f, @location(0) @interpolate(flat) sum: u32 }}
         {vertex}
         @fragment fn fs(in: Varying) -> @location(0) vec4u {{
             let sum = deep(in.sum + u32(in.place.x));
             return vec4u(sum, sum >> 8u, sum >> 16u, sum >> 24u);
         }}"
    );
    let computes = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         {function}
         @compute @workgroup_size(40) fn cs(@builtin(global_invocation_id) id: vec3u) {{
             out[id.x] = deep(id.x);
         }}"
    );
    for chip in CHIPS {
        for text in [&draws, &computes] {
            verified_on(chip, Options::default(), name, Source::Wgsl(text));
        }
    }
}

#[test]
fn conditions_nest_twenty_deep() {
    everywhere("conditions", &conditions(20, "sum += 1000u;"));
    everywhere("returns", &conditions(20, "if (sum % 3u == 0u) { return sum; } sum += 5u;"));
}

#[test]
fn loops_nest_ten_deep() {
    everywhere("loops", &loops(10, "sum += 1u;"));
    let within = conditions(17, "if (sum % 3u == 0u) { return sum; } sum += 5u;");
    everywhere("loops_and_conditions", &loops(4, &within));
}

#[test]
fn lanes_leave_a_loop_out_of_conditions_deeper_than_a_stack() {
    let leaves = "if (sum % 3u == 0u) { sum += 1u; break; }
         sum += 100u;
         if (sum % 5u == 2u) { continue; }";
    let trips = "for (var t = 0u; t < 3u + (n & 3u); t++) { sum += t;";
    let once = format!("{trips} {} sum += 7u; }}", conditions(20, leaves));
    everywhere("leaves", &once);
    // All lanes leave at once, where nothing but the jump itself comes back.
    everywhere("all_leave", &format!("{trips} {} }}", conditions(16, "sum += 9u; break;")));
    everywhere("within", &conditions(11, &loops(1, &once)));
}

#[test]
fn selections_in_loops_in_conditions_nest() {
    let mut text = String::from("sum += 11u; if (sum % 31u == 3u) { return sum; }");
    for k in (0..8).rev() {
        text = format!(
            "if ((sum ^ (sum >> 4u)) % 19u != {k}u) {{
                 for (var j{k} = 0u; j{k} <= (n >> {shift}u & 1u); j{k}++) {{
                     switch (sum % 3u) {{
                         case 0u: {{ sum += {k}u; }}
                         case 1u: {{ if (sum % 5u == 0u) {{ break; }} sum *= 3u; }}
                         default: {{ sum ^= {k}u; if (sum % 23u == 1u) {{ continue; }} }}
                     }}
                     {text}
                     if (sum % 29u == {k}u) {{ break; }}
                 }}
             }}",
            shift = k % 2
        );
    }
    everywhere("selections", &text);
}

#[test]
fn pixels_go_out_of_conditions_deeper_than_a_stack() {
    let body = conditions(20, "if (sum % 3u == 0u) { discard; } sum += 5u;");
    let text = format!(
        "@fragment fn fs(@location(0) @interpolate(flat) n: u32, @builtin(position) at: vec4f) -> @location(0) vec4u {{
             var sum = n + u32(at.x);
             {body}
             return vec4u(sum, sum >> 8u, sum >> 16u, 1u);
         }}"
    );
    for chip in CHIPS {
        verified_on(chip, Options::default(), "discards", Source::Wgsl(&text));
    }
}

/// Barriers in loops that some invocations leave, around what nests.
#[test]
fn invocations_meet_around_what_nests() {
    let within = loops(2, &conditions(20, "sum += 1000u; if (sum % 3u == 0u) { break; }"));
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         @group(0) @binding(1) var<storage, read> given: array<u32>;
         var<workgroup> shared_sums: array<u32, 40>;
         fn deep(n: u32) -> u32 {{ var sum = n + 1u; {within} return sum; }}
         @compute @workgroup_size(40)
         fn cs(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3u) {{
             for (var q = 0u; q < given[0] % 4u; q++) {{
                 shared_sums[lane] = deep(given[lane]);
                 workgroupBarrier();
                 out[lane + 40u * group.x] += shared_sums[39u - lane];
                 workgroupBarrier();
                 if (given[1] % 2u == q) {{ break; }}
             }}
         }}"
    );
    for chip in CHIPS {
        verified_on(chip, Options::default(), "barriers", Source::Wgsl(&text));
    }
}

/// Stacks that no register has room for are a limit of the machine, with its name.
#[test]
fn more_stacks_than_registers_are_a_limit() {
    let mut text = String::from(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32, 512>;
         fn g0() { o[0] += 1u; }\n",
    );
    for k in 1..=300 {
        let before = k - 1;
        let _ =
            writeln!(text, "fn g{k}() {{ for (var i = 0u; i < o[{k}]; i++) {{ g{before}(); }} }}");
    }
    text.push_str("@compute @workgroup_size(1) fn main() { g300(); }");
    let compiler = Compiler::new(Target::GEN4, Some("gm965")).expect("it is built");
    let options = Options::default();
    let parsed = compiler.parse(Source::Wgsl(&text), Choice::default(), &options);
    let entry = parsed.expect("it parses").entries.remove(0);
    let failure = compiler.compile(&entry.func.expect("it lowers"), &options).err();
    let failure = failure.expect("too deep");
    assert_eq!(failure.exit_code(), 4);
    assert!(failure.summary().contains("masks of deep control flow"), "{failure}");
}
