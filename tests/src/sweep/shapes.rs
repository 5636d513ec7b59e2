//! Programs of one kind at any size, as WGSL: each kind is large in another way.

use std::fmt::Write;

/// A kind of program.
pub struct Shape {
    /// Name on the command line.
    pub name: &'static str,
    /// What there is much of.
    pub about: &'static str,
    /// The text of about so many SSA instructions.
    pub text: fn(usize) -> String,
}

/// Every kind.
pub const SHAPES: &[Shape] = &[
    Shape { name: "straight", about: "arithmetic in one block", text: straight },
    Shape { name: "alive", about: "values that all live at once", text: alive },
    Shape { name: "nests", about: "branches thirty deep, one nest after the other", text: nests },
    Shape { name: "loops", about: "loops in a row that carry three values", text: loops },
    Shape { name: "carried", about: "values that one loop carries", text: carried },
    Shape { name: "variables", about: "variables, each written in a branch", text: variables },
    Shape { name: "array", about: "run-time accesses of one private array", text: array },
    Shape { name: "arrays", about: "private arrays, each indexed once at run time", text: arrays },
    Shape { name: "table", about: "elements of a constant array", text: table },
    Shape { name: "uniforms", about: "members of one uniform buffer", text: uniforms },
    Shape { name: "bindings", about: "buffers bound", text: bindings },
    Shape { name: "texels", about: "texture fetches", text: texels },
    Shape { name: "cases", about: "cases of one switch", text: cases },
    Shape { name: "returns", about: "early returns from one function", text: returns },
    Shape { name: "breaks", about: "breaks out of one loop", text: breaks },
    Shape { name: "calls", about: "calls of a few functions", text: calls },
    Shape { name: "stores", about: "reads and writes of one storage buffer", text: stores },
    Shape { name: "barriers", about: "workgroup memory between barriers", text: barriers },
    Shape { name: "matrices", about: "products of matrices", text: matrices },
    Shape { name: "branches", about: "branches in a row that change one value", text: branches },
    Shape { name: "inlined", about: "loops that calls of calls inline", text: inlined },
    Shape { name: "chain", about: "functions that each call the one before", text: chain },
    Shape { name: "copies", about: "whole private arrays copied", text: copies },
    Shape { name: "unrolled", about: "small loops of known trip counts", text: unrolled },
];

/// A compute program: what stands before the function, and its body, in which `x` is a number of the invocation's own
/// and `i` its index; what `x` is in the end is stored.
fn program(before: &str, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n{before}\
         @compute @workgroup_size(64)\n\
         fn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n\
         let i = id.x;\nvar x = data[i];\n{body}data[i] = x;\n}}\n"
    )
}

/// `count` lines, each made of its number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn straight(size: usize) -> String {
    let body = lines(size / 4, |k| format!("x = max(x * {}.5, x + {k}.25);\n", k % 7));
    program("", &body)
}

fn alive(size: usize) -> String {
    let count = size / 6;
    let mut body = lines(count, |k| format!("let v{k} = x * {k}.5 + f32(i);\n"));
    body.push_str(&lines(count, |k| format!("x = x * v{} + 1.0;\n", count - 1 - k)));
    program("", &body)
}

fn nests(size: usize) -> String {
    let nest = |k: usize| {
        let mut text = lines(30, |depth| {
            format!("if (x < {}.5) {{ x = x * 1.5 + {depth}.0;\n", k * 30 + depth)
        });
        text.push_str(&"}".repeat(30));
        text.push('\n');
        text
    };
    program("", &lines(size / 150, nest))
}

fn loops(size: usize) -> String {
    let body = lines(size / 20, |k| {
        format!(
            "{{ var a = x; var b = {k}.5; for (var j = 0u; j < i + {k}u; j++) {{ let c = a * b; b = a + 0.5; a = c; }} x = a - b; }}\n"
        )
    });
    program("", &body)
}

fn carried(size: usize) -> String {
    let count = size / 12;
    let mut body = lines(count, |k| format!("var v{k} = x + {k}.5;\n"));
    body.push_str("for (var j = 0u; j < i; j++) {\n");
    body.push_str(&lines(count, |k| format!("v{k} = v{k} * x + v{};\n", (k + 1) % count.max(1))));
    body.push_str("}\n");
    body.push_str(&lines(count, |k| format!("x += v{k};\n")));
    program("", &body)
}

fn variables(size: usize) -> String {
    let count = size / 14;
    let mut body = lines(count, |k| format!("var v{k} = x;\n"));
    body.push_str(&lines(count, |k| {
        format!("if (x < {k}.5) {{ v{k} += {k}.25; x = v{k} * 0.5; }}\n")
    }));
    body.push_str(&lines(count, |k| format!("x = x * v{k} + 1.0;\n")));
    program("", &body)
}

fn array(size: usize) -> String {
    let mut body = "var a: array<f32, 512>;\n".to_owned();
    body.push_str(&lines(size / 20, |k| {
        format!("a[(i + {k}u) % 512u] = x; x += a[(i * {k}u) % 512u];\n")
    }));
    program("", &body)
}

fn arrays(size: usize) -> String {
    let body = lines(size / 60, |k| {
        format!(
            "{{ var a = array<f32, 6>(x, 1.5, x * 2.0, {k}.5, x + 3.0, 9.0); a[(i + {k}u) % 6u] = 0.5; x += a[i % 6u]; }}\n"
        )
    });
    program("", &body)
}

fn table(size: usize) -> String {
    let count = (size / 4).max(1);
    let mut before = format!("const T = array<f32, {count}>(");
    for k in 0..count {
        let _ = write!(before, "{}.5,", k * 7 % 1000);
    }
    before.push_str(");\n");
    let body = format!("let a = T; x += a[i % {count}u] * a[(i * 3u) % {count}u];\n");
    program(&before, &body)
}

fn uniforms(size: usize) -> String {
    let count = size / 8;
    let members = lines(count, |k| format!("m{k}: vec2<f32>,\n"));
    let before = format!("struct U {{\n{members}}}\n@group(0) @binding(1) var<uniform> u: U;\n");
    let body = lines(count, |k| format!("x = x * u.m{k}.x + u.m{}.y;\n", count - 1 - k));
    program(&before, &body)
}

fn bindings(size: usize) -> String {
    let count = size / 8;
    let before =
        lines(count, |k| format!("@group(1) @binding({k}) var<uniform> b{k}: vec4<f32>;\n"));
    let body = lines(count, |k| format!("x = x * b{k}.x + b{k}.w;\n"));
    program(&before, &body)
}

fn texels(size: usize) -> String {
    let before = "@group(0) @binding(1) var t: texture_2d<f32>;\n\
                  @group(0) @binding(2) var s: sampler;\n";
    let body = lines(size / 16, |k| {
        format!(
            "x += textureSampleLevel(t, s, vec2<f32>(x, {k}.5), 0.0).{};\n",
            ["x", "y", "z", "w"][k % 4]
        )
    });
    program(before, &body)
}

fn cases(size: usize) -> String {
    let mut body = "switch (i) {\n".to_owned();
    body.push_str(&lines(size / 6, |k| format!("case {}u: {{ x = x * {k}.5 + 1.0; }}\n", k * 3)));
    body.push_str("default: {}\n}\n");
    program("", &body)
}

fn returns(size: usize) -> String {
    let body = lines(size / 10, |k| {
        format!("x = x * 1.5; if (x > {k}.5) {{ data[i + 1u] = {k}.0; return; }}\n")
    });
    program("", &body)
}

fn breaks(size: usize) -> String {
    let mut body = "loop {\n".to_owned();
    body.push_str(&lines(size / 8, |k| {
        format!("x = x * 1.5 + {k}.5; if (x > {k}.5) {{ break; }}\n")
    }));
    body.push_str("}\n");
    program("", &body)
}

fn calls(size: usize) -> String {
    let before = "fn noise(p: f32) -> f32 { return fract(sin(p) * 43758.5); }\n\
                  fn two(p: f32, q: ptr<function, f32>) -> f32 { if (p < 0.5) { return noise(p); } *q += p; return noise(*q); }\n";
    let body = lines(size / 60, |k| format!("x = two(x + {k}.5, &x);\n"));
    // A pointer must not alias an argument that is read behind it.
    program(before, &body.replace("&x", "&y").replacen("x =", "var y = x;\nx =", 1))
}

fn stores(size: usize) -> String {
    let body = lines(size / 12, |k| {
        format!("data[i + {k}u] = x + {k}.5; x += data[i * 3u + {}u];\n", k / 2)
    });
    program("", &body)
}

fn barriers(size: usize) -> String {
    let before = "var<workgroup> w: array<f32, 64>;\n";
    let body = lines(size / 16, |k| {
        format!(
            "w[i % 64u] = x; workgroupBarrier(); x += w[(i + {k}u) % 64u]; workgroupBarrier();\n"
        )
    });
    program(before, &body)
}

fn matrices(size: usize) -> String {
    let before = "@group(0) @binding(1) var<uniform> m: array<mat4x4<f32>, 8>;\n";
    let mut body = "var v = vec4<f32>(x, 1.0, 2.0, 3.0);\n".to_owned();
    body.push_str(&lines(size / 50, |k| format!("v = m[{}] * v + vec4<f32>({k}.5);\n", k % 8)));
    body.push_str("x = dot(v, v);\n");
    program(before, &body)
}

fn unrolled(size: usize) -> String {
    let body = lines(size / 60, |k| {
        format!("for (var j = 0; j < 8; j++) {{ x = x * f32(j) + {k}.5; }}\n")
    });
    program("", &body)
}

fn branches(size: usize) -> String {
    let body = lines(size / 12, |k| format!("if (data[i + {k}u] > 3.0) {{ x = x * 3.5; }}\n"));
    program("", &body)
}

/// Four calls at each level, so that the last level has as many loops as the size asks for.
fn inlined(size: usize) -> String {
    let mut before = "fn level0(x: f32, n: u32) -> f32 { var y = x; for (var j = 0u; j < n; j++) { y = y * 3.5 + data[j]; } return y; }\n".to_owned();
    let (mut level, mut loops) = (0, 1);
    while loops * 4 * 24 <= size {
        let _ = writeln!(
            before,
            "fn level{}(x: f32, n: u32) -> f32 {{ return level{level}(x, n) + level{level}(x + 1.5, n) + level{level}(x * 2.5, n) + level{level}(x, n + 1u); }}",
            level + 1
        );
        level += 1;
        loops *= 4;
    }
    let count = (size / (loops * 24)).max(1);
    let body = lines(count, |k| format!("x += level{level}(x + {k}.5, i);\n"));
    program(&before, &body)
}

fn chain(size: usize) -> String {
    let count = (size / 8).max(1);
    let mut before = "fn step0(x: f32) -> f32 { return x * 1.5; }\n".to_owned();
    before.push_str(&lines(count.min(400), |k| {
        let after = k + 1;
        format!("fn step{after}(x: f32) -> f32 {{ return step{k}(x + {k}.5) * x + 0.25; }}\n")
    }));
    let last = count.min(400);
    let body = lines(count.div_ceil(400), |_| format!("x = step{last}(x);\n"));
    program(&before, &body)
}

fn copies(size: usize) -> String {
    let mut body = "var a: array<f32, 16>; var b: array<f32, 16>;\n".to_owned();
    body.push_str(&lines(size / 130, |k| {
        format!("a[i % 16u] = x; b = a; b[(i + {k}u) % 16u] = 2.5; a = b; x += a[{}];\n", k % 16)
    }));
    program("", &body)
}
