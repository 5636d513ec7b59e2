//! Small sources that ask for much: each ends with its exit code, within 512 MiB of address space, 256 MiB of memory
//! and ten seconds. The larger half of them once ended the process.

use crate::common::Folder;
use std::fmt::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const COMMAND: &str = env!("CARGO_BIN_EXE_gpucc");

/// What one run took.
struct Run {
    code: Option<i32>,
    said: String,
    time: Duration,
    /// Bytes held at most, as far as they were seen.
    memory: u64,
}

/// Most memory that a process has held so far.
fn held(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}

fn run(folder: &Folder, arguments: &[&str]) -> Run {
    // A file holds any length of messages, a pipe does not.
    let said = folder.path("said");
    let file = std::fs::File::create(&said).expect("writable");
    let mut command = match cfg!(target_os = "linux") {
        true => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "ulimit -v 524288; exec \"$0\" \"$@\""]);
            shell.arg(COMMAND);
            shell
        }
        false => Command::new(COMMAND),
    };
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::from(file));
    let start = Instant::now();
    let mut child = command.spawn().expect("the command starts");
    let mut memory = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        memory = memory.max(held(&child).unwrap_or(0));
        if start.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let time = start.elapsed();
    let status = child.wait().expect("it has ended");
    let said = std::fs::read(&said).expect("readable");
    Run { code: status.code(), said: String::from_utf8_lossy(&said).into_owned(), time, memory }
}

/// One source ends with one of some exit codes.
fn ends(folder: &Folder, (name, text, codes): (&str, &[u8], &[i32]), wrong: &mut String) {
    let path = folder.write(name, text);
    for target in ["r700", "valhall"] {
        let run = run(folder, &[&path, "--target", target, "-o", &folder.path("out")]);
        let first = run.said.lines().next().unwrap_or_default();
        let coded = run.code.is_some_and(|code| codes.contains(&code));
        // A limit says what is needed and how to get by.
        let hint = run.said.contains(" = ") || run.said.contains("note: ");
        let told = run.code != Some(4) || run.said.contains("need") && hint;
        let small = run.memory < 256 << 20 && run.time < Duration::from_secs(10);
        if !(coded && told && small) {
            let _ = writeln!(
                wrong,
                "{name} {target}: {:?} after {:?} with {} MiB: {first}",
                run.code,
                run.time,
                run.memory >> 20
            );
        }
    }
}

fn all_end(group: &str, attacks: &[(&str, String, &[i32])]) {
    let folder = Folder::new(group);
    let mut wrong = String::new();
    for (name, text, codes) in attacks {
        ends(&folder, (name, text.as_bytes(), codes), &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

const LIMIT: &[i32] = &[4];
const FINE: &[i32] = &[0];
const INVALID: &[i32] = &[1];
/// It compiles, or a limit of this machine's or of the budget is in the way.
const EITHER: &[i32] = &[0, 4];

/// A compute program in WGSL.
fn wgsl(before: &str, body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n{before}\
         @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {{\n{body}\n}}\n"
    )
}

/// A line for each number.
fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn wgsl_values_that_double_or_are_huge() {
    let chain = |n: usize| each(n, |k| format!("const c{} = array(c{k}, c{k});\n", k + 1));
    let pairs = format!("const c0 = array(1, 2);\n{}", chain(40));
    let structures = each(40, |k| {
        format!("struct S{0} {{ a: S{k}, b: S{k} }}\nconst c{0} = S{0}(c{k}, c{k});\n", k + 1)
    });
    let structures = format!("struct S0 {{ x: u32, y: u32 }}\nconst c0 = S0(1, 2);\n{structures}");
    let table = format!("const T = array<u32, 8000>({});\n", "1,".repeat(8000));
    let read = each(3000, |k| format!("o[{k}] = T[{k}];\n"));
    let huge = "array<i32, 1000000000>()";
    all_end(
        "values",
        &[
            ("doubled.wgsl", wgsl(&pairs, &format!("o[0] = u32(c40{});", "[0]".repeat(41))), LIMIT),
            (
                "doubled_local.wgsl",
                wgsl("", &format!("{pairs} o[0] = u32(c26[id.x]{});", "[0]".repeat(26))),
                LIMIT,
            ),
            ("compared.wgsl", wgsl(&format!("{pairs}const z = c40 == c40;"), ""), LIMIT),
            (
                "structures.wgsl",
                wgsl(&structures, &format!("o[0] = c40{}.x;", ".a".repeat(40))),
                LIMIT,
            ),
            ("table.wgsl", wgsl(&table, &read), LIMIT),
            ("table_once.wgsl", wgsl(&table, "o[0] = T[id.x];"), EITHER),
            ("negated.wgsl", wgsl("", &format!("let x = -{huge};")), LIMIT),
            ("any.wgsl", wgsl("", "let x = any(array<bool, 1000000000>());"), LIMIT),
            ("equal.wgsl", wgsl("", &format!("if ({huge} == {huge}) {{ o[0] = 1u; }}")), LIMIT),
            ("of_values.wgsl", wgsl(&format!("const X = {huge};\n"), "o[0] = u32(X[5]);"), LIMIT),
            (
                "nested.wgsl",
                wgsl("", "const x = array<array<array<i32, 65536>, 65536>, 4>();"),
                LIMIT,
            ),
            (
                "alias.wgsl",
                wgsl("const N = 1u << 30u; alias A = array<u32, N>;\n", "let x = any(A());"),
                LIMIT,
            ),
            ("declared.wgsl", wgsl("", "var a = array<u32, 1000000>(); o[0] = a[id.x];"), LIMIT),
            (
                "copied.wgsl",
                wgsl(
                    "",
                    &format!(
                        "var a: array<u32, 60000>; a[id.x] = 1u; var b: array<u32, 60000>; {} o[0] = b[id.y];",
                        "b = a; a = b;".repeat(400)
                    ),
                ),
                LIMIT,
            ),
            (
                "buffers_copied.wgsl",
                wgsl(
                    "@group(0) @binding(1) var<storage> v: array<u32, 65536>; @group(0) @binding(2) var<storage, read_write> w: array<u32, 65536>;\n",
                    &"w = v;".repeat(300),
                ),
                LIMIT,
            ),
        ],
    );
}

#[test]
fn wgsl_declarations_that_are_huge() {
    let aliases = each(40, |k| format!("alias A{} = array<A{k}, 2>;\n", k + 1));
    let read = "o[0] = p[id.y];";
    let vertex = "@vertex fn vs() -> V { var v: V; return v; }\n";
    let array = |space: &str| format!("var<{space}> p: array<u32, 1000000000>;\n");
    all_end(
        "declarations",
        &[
            (
                "aliases.wgsl",
                wgsl(&format!("alias A0 = array<u32, 2>;\n{aliases}"), "var v: A40; o[0] = 1u;"),
                LIMIT,
            ),
            ("private.wgsl", wgsl(&array("private"), read), LIMIT),
            ("workgroup.wgsl", wgsl(&array("workgroup"), read), LIMIT),
            (
                "location.wgsl",
                format!(
                    "struct V {{ @builtin(position) p: vec4f, @location(4294967295) a: vec4f }}\n{vertex}"
                ),
                LIMIT,
            ),
            (
                "locations.wgsl",
                format!(
                    "struct V {{ @builtin(position) p: vec4f,\n{} }}\n{vertex}",
                    each(1000, |k| format!("@location({k}) a{k}: vec4f,\n"))
                ),
                LIMIT,
            ),
            (
                "override.wgsl",
                format!(
                    "override N: u32 = 4000000000;\nvar<workgroup> p: array<u32, N>;\n{}",
                    wgsl("", read)
                ),
                LIMIT,
            ),
        ],
    );
}

#[test]
fn wgsl_declarations_without_end() {
    all_end(
        "declarations",
        &[
            ("keywords.wgsl", "const ".repeat(170_000), INVALID),
            ("names.wgsl", "const a ".repeat(60_000), INVALID),
            ("functions.wgsl", "fn f() ".repeat(60_000), LIMIT),
            ("locals.wgsl", format!("fn f() {{ {}", "let a ".repeat(60_000)), INVALID),
        ],
    );
}

#[test]
fn wgsl_calls_that_double() {
    let calls = |first: &str, n: usize| {
        let chain = each(n, |k| format!("fn g{}() {{ g{k}(); g{k}(); }}\n", k + 1));
        wgsl(&format!("{first}{chain}"), &format!("g{n}();"))
    };
    let values =
        each(30, |k| format!("fn g{0}(x: u32) -> u32 {{ return g{k}(g{k}(x)); }}\n", k + 1));
    let loops = |n: usize| {
        let chain = each(n, |k| {
            format!(
                "fn g{0}(x: u32) -> u32 {{ return g{k}(x) + g{k}(x + {0}u) + g{k}(x * 2u) + g{k}(x + o[1]); }}\n",
                k + 1
            )
        });
        let first = "fn g0(x: u32) -> u32 { var y = x; for (var i = 0u; i < x; i++) { y = y * 3u + o[y & 7u]; } return y; }\n";
        wgsl(&format!("{first}{chain}"), &format!("o[0] = g{n}(id.x);"))
    };
    // Each call is a hundred instructions once its loops are unrolled.
    let unrolled = wgsl(
        "fn g0(x: u32) -> u32 { var y = x; for (var i = 0u; i < 4u; i++) { if (y < 5u) { y += 50u; } else { y *= 3u; } } return y; }\n\
         fn g1(x: u32) -> u32 { var y = x; for (var i = 0u; i < 4u; i++) { y = g0(y) ^ x; } return y; }\n",
        &format!("var y = id.x;\n{}o[0] = y;", "y = g1(y);\n".repeat(4000)),
    );
    all_end(
        "calls",
        &[
            ("stores.wgsl", calls("fn g0() { o[0] += 1u; }\n", 40), LIMIT),
            ("empty.wgsl", calls("fn g0() {}\n", 40), LIMIT),
            (
                "values.wgsl",
                wgsl(
                    &format!("fn g0(x: u32) -> u32 {{ return x; }}\n{values}"),
                    "o[0] = g30(id.x);",
                ),
                LIMIT,
            ),
            (
                "variables.wgsl",
                calls("fn g0() { var a: array<u32, 1000>; a[o[1]] = 3u; o[0] += a[o[2]]; }\n", 20),
                LIMIT,
            ),
            ("unrolled.wgsl", unrolled, EITHER),
            ("loops_64.wgsl", loops(3), FINE),
            ("loops_256.wgsl", loops(4), FINE),
            ("loops_1024.wgsl", loops(5), FINE),
            ("loops_65536.wgsl", loops(8), LIMIT),
            ("loops_2_to_60.wgsl", loops(30), LIMIT),
        ],
    );
}

#[test]
fn glsl_interfaces_that_are_huge() {
    let vertex = |out: &str, set: &str| {
        format!("#version 450\n{out}\nvoid main() {{ {set} gl_Position = vec4(1.0); }}\n")
    };
    let fragment = |input: &str, read: &str| {
        format!(
            "#version 450\n{input}\nlayout(location = 0) out vec4 c;\nvoid main() {{ c = vec4({read}); }}\n"
        )
    };
    let structures = each(30, |k| format!("struct S{} {{ S{k} a; S{k} b; }};\n", k + 1));
    let values = each(30, |k| {
        format!("struct S{0} {{ S{k} a; S{k} b; }}; const S{0} c{0} = S{0}(c{k}, c{k});\n", k + 1)
    });
    all_end(
        "interfaces",
        &[
            ("out.vert", vertex("layout(location = 0) out float f[2000000000];", "f[0] = 6.0;"), LIMIT),
            ("block.vert", vertex("layout(location = 0) out block { float f[1999999999]; } x;", "x.f[0] = 6.0;"), LIMIT),
            ("captured.vert", vertex("layout(xfb_buffer = 0, xfb_offset = 0) out block { float f; vec4 v; float g[1999999999]; } x;", "x.g[1] = 7.0;"), LIMIT),
            ("clip.vert", vertex("out float gl_ClipDistance[2000000000];", "gl_ClipDistance[0] = 1.0;"), LIMIT),
            ("in.frag", fragment("layout(location = 0) in vec4 v[100000000];", "v[3]"), LIMIT),
            ("arrays.frag", fragment("layout(location = 0) in vec4 v[10000][10000];", "v[3][1]"), LIMIT),
            ("constant.frag", fragment("const int N = 10000; layout(location = 0) in vec4 v[N * 10000];", "v[3]"), LIMIT),
            ("macro.frag", fragment("#define N 100000000\nlayout(location = 0) in vec4 v[N];", "v[3]"), LIMIT),
            ("specialized.frag", fragment("layout(constant_id = 0) const int N = 100000000;\nlayout(location = 0) in vec4 v[N];", "v[3]"), LIMIT),
            ("matrices.frag", fragment("layout(location = 0) in mat4 v[100000000];", "v[3][0]"), LIMIT),
            ("members.frag", fragment("struct A { float x[1000]; }; struct B { A a[1000]; }; struct C { B b[1000]; }; layout(location = 0) flat in C v;", "v.b[1].a[1].x[1]"), LIMIT),
            ("blocks.frag", fragment("layout(location = 0) in B { vec4 a; } b[100000000];", "b[3].a"), LIMIT),
            ("doubled.frag", fragment(&format!("struct S0 {{ float x, y; }};\n{structures}layout(location = 0) in S30 v;"), "1.0"), LIMIT),
            ("values.frag", fragment(&format!("struct S0 {{ float x, y; }}; const S0 c0 = S0(1.0, 2.0);\n{values}"), &format!("c30{}.x", ".a".repeat(30))), LIMIT),
            ("old.frag", "#version 120\nvarying vec4 v[100000000];\nvoid main() { gl_FragColor = v[3]; }\n".to_owned(), LIMIT),
            ("coordinates.frag", "#version 120\nvarying vec4 gl_TexCoord[100000000];\nvoid main() { gl_FragColor = gl_TexCoord[3]; }\n".to_owned(), LIMIT),
            ("attributes.vert", "#version 150\nin vec4 v[100000000];\nvoid main() { gl_Position = v[3]; }\n".to_owned(), LIMIT),
            ("located.vert", vertex("layout(location = 2147483647) out vec4 v;", "v = vec4(1.0);"), LIMIT),
            ("local.frag", fragment("", "0.0); float a[1000000000]; a[int(c.x)] = 1.0; c = vec4(a[int(c.y)]"), LIMIT),
        ],
    );
}

/// A SPIR-V module from its instructions: opcode and operands. 1 is void, 2 its function type, 3 the entry point,
/// 4 `uint`, 5 a label.
fn spirv(types: &[&[u32]], body: &[&[u32]]) -> Vec<u8> {
    let mut words: Vec<u32> = vec![0x0723_0203, 0x0001_0300, 0, 100_000, 0];
    let mut add = |inst: &[u32]| {
        words.push((inst.len() as u32) << 16 | inst[0]);
        words.extend_from_slice(&inst[1..]);
    };
    let name = u32::from_le_bytes(*b"main");
    for inst in [&[17, 1][..], &[14, 0, 1], &[15, 5, 3, name, 0], &[16, 3, 17, 1, 1, 1]] {
        add(inst);
    }
    for inst in [&[19, 1][..], &[33, 2, 1], &[21, 4, 32, 0], &[43, 4, 6, 1]] {
        add(inst);
    }
    types.iter().for_each(|inst| add(inst));
    add(&[54, 1, 3, 0, 2]);
    add(&[248, 5]);
    body.iter().for_each(|inst| add(inst));
    add(&[253]);
    add(&[56]);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn spirv_composites_that_are_huge() {
    let folder = Folder::new("composites");
    let mut wrong = String::new();
    let mut ends =
        |name: &str, bytes: &[u8], codes: &[i32]| ends(&folder, (name, bytes, codes), &mut wrong);
    // 10 is the length, 11 the array, 12 a pointer to it, 13 a variable, 14 its value.
    let array = |length: u32| -> Vec<Vec<u32>> {
        vec![vec![43, 4, 10, length], vec![28, 11, 4, 10], vec![32, 12, 7, 11]]
    };
    let refs = |insts: &[Vec<u32>]| -> Vec<Vec<u32>> { insts.to_vec() };
    let module = |types: Vec<Vec<u32>>, body: Vec<Vec<u32>>| {
        let types: Vec<&[u32]> = types.iter().map(Vec::as_slice).collect();
        let body: Vec<&[u32]> = body.iter().map(Vec::as_slice).collect();
        spirv(&types, &body)
    };
    let loaded = vec![vec![59, 12, 13, 7], vec![61, 11, 14, 13]];
    let with = |more: Vec<Vec<u32>>| -> Vec<Vec<u32>> { [refs(&loaded), more].concat() };
    ends("none.spv", &module(array(16), with(vec![vec![82, 11, 15, 6, 14, 1]])), FINE);
    ends("insert.spv", &module(array(u32::MAX), with(vec![vec![82, 11, 15, 6, 14, 1]])), LIMIT);
    ends(
        "insert_1e8.spv",
        &module(array(100_000_000), with(vec![vec![82, 11, 15, 6, 14, 1]])),
        LIMIT,
    );
    let many =
        (0..2000).map(|k| vec![82, 11, 16 + k, 6, if k == 0 { 14 } else { 15 + k }, k]).collect();
    ends("inserts.spv", &module(array(60_000), with(many)), LIMIT);
    let mut specialized = array(1_000_000_000);
    specialized[0] = vec![50, 4, 10, 1_000_000_000];
    ends("specialized.spv", &module(specialized, with(vec![vec![82, 11, 15, 6, 14, 1]])), LIMIT);
    let null = [array(1_000_000_000), vec![vec![46, 11, 20]]].concat();
    ends("null_insert.spv", &module(null.clone(), vec![vec![82, 11, 15, 6, 20, 1]]), LIMIT);
    ends("null.spv", &module(null, vec![vec![59, 12, 13, 7, 20]]), LIMIT);
    let mut doubled: Vec<Vec<u32>> = vec![vec![30, 20, 4, 4]];
    doubled.extend((0..30).map(|k| vec![30, 21 + k, 20 + k, 20 + k]));
    doubled.push(vec![32, 12, 7, 50]);
    ends("doubled.spv", &module(doubled, vec![vec![59, 12, 13, 7]]), LIMIT);
    // A block of a word and of a runtime array at this byte.
    let buffer = |offset: u32| -> Vec<Vec<u32>> {
        vec![
            vec![71, 10, 6, 4],
            vec![72, 11, 0, 35, 0],
            vec![72, 11, 1, 35, offset],
            vec![71, 11, 2],
            vec![71, 13, 33, 0],
            vec![71, 13, 34, 0],
            vec![29, 10, 4],
            vec![30, 11, 4, 10],
            vec![32, 12, 12, 11],
            vec![59, 12, 13, 12],
            vec![32, 14, 12, 4],
        ]
    };
    let stored = vec![vec![65, 14, 15, 13, 6, 6], vec![62, 15, 6]];
    // An atomic store to a variable of one invocation; two entry points of one name.
    let private = [vec![32, 20, 7, 4], vec![59, 20, 21, 7], vec![228, 21, 6, 6, 6]];
    ends("atomic.spv", &module(vec![private[0].clone()], private[1..].to_vec()), INVALID);
    let name = u32::from_le_bytes(*b"main");
    ends("twice.spv", &module(vec![vec![15, 5, 3, name, 0]], Vec::new()), INVALID);
    ends("near.spv", &module(buffer(4), stored.clone()), FINE);
    ends("far.spv", &module(buffer(0xfff7_0000), stored), LIMIT);
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn spirv_structures_that_double() {
    let folder = Folder::new("structures");
    let mut wrong = String::new();
    // 10 is what stands innermost, and each type up to 70 holds the one before it twice; 71 is a block of the last and a word.
    let doubled = |inner: Vec<u32>| -> Vec<Vec<u32>> {
        let mut types = vec![inner];
        types.extend((11..=70).map(|id| vec![30, id, id - 1, id - 1]));
        types.push(vec![30, 71, 70, 4]);
        types
    };
    let in_buffer = |inner: Vec<u32>, class: u32| -> Vec<u8> {
        let mut types: Vec<Vec<u32>> =
            (11..=70).flat_map(|id| [vec![72, id, 0, 35, 0], vec![72, id, 1, 35, 0]]).collect();
        types.extend([vec![72, 71, 0, 35, 0], vec![72, 71, 1, 35, 4], vec![71, 71, 2]]);
        types.extend([vec![71, 81, 33, 0], vec![71, 81, 34, 0]]);
        types.extend(doubled(inner));
        types.extend([vec![32, 80, class, 71], vec![59, 80, 81, class], vec![32, 82, class, 4]]);
        let body = [vec![65, 82, 83, 81, 6], vec![61, 4, 84, 83]];
        let types: Vec<&[u32]> = types.iter().map(Vec::as_slice).collect();
        let body: Vec<&[u32]> = body.iter().map(Vec::as_slice).collect();
        spirv(&types, &body)
    };
    let word = vec![30, 10, 4];
    let nothing = vec![30, 10];
    for (name, inner, class, codes) in [
        ("words in a buffer.spv", &word, 12, FINE),
        ("nothing in a buffer.spv", &nothing, 12, FINE),
        ("words in a uniform.spv", &word, 2, FINE),
        ("nothing in a variable.spv", &nothing, 6, FINE),
        ("words in a variable.spv", &word, 6, LIMIT),
    ] {
        ends(&folder, (name, &in_buffer(inner.clone(), class), codes), &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn spirv_decorations_that_groups_multiply() {
    let folder = Folder::new("groups");
    let mut wrong = String::new();
    // 10 is a group of so many decorations, which so many ids get.
    let module = |decorations: usize, members: u32| {
        let mut types: Vec<Vec<u32>> = vec![vec![71, 10, 19]; decorations];
        types.push(vec![73, 10]);
        types.extend((0..8).map(|_| [vec![74, 10], (100..100 + members).collect()].concat()));
        let types: Vec<&[u32]> = types.iter().map(Vec::as_slice).collect();
        spirv(&types, &[])
    };
    ends(&folder, ("few.spv", &module(2, 10_000), FINE), &mut wrong);
    ends(&folder, ("many.spv", &module(20_000, 60_000), LIMIT), &mut wrong);
    assert!(wrong.is_empty(), "\n{wrong}");
}
