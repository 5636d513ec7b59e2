//! Layouts of WGSL's structures against a calculator of the tests' own, which follows WGSL 14.4.

use crate::common::buffers::Buffers;
use gpucc_frontend::{Options, Source, parse};
use gpucc_ir::ssa::random::Rng;
use std::fmt::Write;

/// A type with its alignment and size in bytes.
#[derive(Clone)]
struct Type {
    text: String,
    align: u32,
    size: u32,
    /// Words with the path that leads to each.
    words: Vec<(String, u32)>,
    /// What a word is: `u32` or `f32`.
    float: Vec<bool>,
}

fn up(value: u32, align: u32) -> u32 {
    value.div_ceil(align) * align
}

fn scalar(float: bool) -> Type {
    let text = if float { "f32" } else { "u32" }.to_owned();
    Type { text, align: 4, size: 4, words: vec![(String::new(), 0)], float: vec![float] }
}

fn vector(n: u32, float: bool) -> Type {
    let words = (0..n).map(|at| (format!("[{at}]"), 4 * at)).collect();
    Type {
        text: format!("vec{n}<{}>", scalar(float).text),
        align: if n == 2 { 8 } else { 16 },
        size: 4 * n,
        words,
        float: vec![float; n as usize],
    }
}

fn array(element: &Type, n: u32) -> Type {
    let stride = up(element.size, element.align);
    let words = (0..n).flat_map(|at| {
        let words = element.words.iter();
        words.map(move |(path, offset)| (format!("[{at}]{path}"), at * stride + offset))
    });
    Type {
        text: format!("array<{}, {n}>", element.text),
        align: element.align,
        size: stride * n,
        words: words.collect(),
        float: element.float.repeat(n as usize),
    }
}

fn matrix(columns: u32, rows: u32) -> Type {
    let all = array(&vector(rows, true), columns);
    Type { text: format!("mat{columns}x{rows}<f32>"), ..all }
}

fn member(rng: &mut Rng, structures: &[Type]) -> Type {
    let n = 2 + rng.below(3) as u32;
    let float = rng.one_in(2);
    let plain = match rng.below(5) {
        0 => vector(n, float),
        1 => matrix(2 + rng.below(3) as u32, n),
        2 | 3 if !structures.is_empty() => structures[rng.below(structures.len())].clone(),
        _ => scalar(float),
    };
    match rng.below(4) {
        0 if plain.words.len() < 40 => array(&plain, 1 + rng.below(3) as u32),
        _ => plain,
    }
}

/// A structure with its declaration.
fn structure(rng: &mut Rng, name: &str, others: &[Type], declared: &mut String) -> Type {
    let mut made =
        Type { text: name.to_owned(), align: 1, size: 0, words: Vec::new(), float: Vec::new() };
    let _ = write!(declared, "struct {name} {{ ");
    for index in 0..1 + rng.below(4) {
        let ty = member(rng, others);
        let (mut align, mut size) = (ty.align, ty.size);
        if rng.one_in(3) {
            align = ty.align << rng.below(3);
            let _ = match rng.below(3) {
                0 => write!(declared, "@align({align}) "),
                1 => write!(declared, "@align(ONE * {align}u) "),
                _ => write!(declared, "@align(1 << {}u) ", align.trailing_zeros()),
            };
        }
        if rng.one_in(4) {
            size += 4 * rng.below(5) as u32;
            let _ = write!(declared, "@size({size}) ");
        }
        let _ = write!(declared, "m{index}: {}, ", ty.text);
        let offset = up(made.size, align);
        made.words
            .extend(ty.words.iter().map(|(path, at)| (format!(".m{index}{path}"), offset + at)));
        made.float.extend(&ty.float);
        made.size = offset + size;
        made.align = made.align.max(align);
    }
    made.size = up(made.size, made.align);
    declared.push_str("}\n");
    made
}

#[test]
fn members_of_random_structures_stand_where_the_language_puts_them() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut declared = "const ONE = 1u;\n".to_owned();
        let mut all = Vec::new();
        for index in 0..4 {
            let made = structure(&mut rng, &format!("S{index}"), &all, &mut declared);
            all.push(made);
        }
        let last = array(&all[3], 2);
        let mut stores = String::new();
        for (index, ((path, _), float)) in last.words.iter().zip(&last.float).enumerate().take(400)
        {
            let value = if *float {
                format!("bitcast<f32>({}u)", index + 1)
            } else {
                format!("{}u", index + 1)
            };
            let _ = writeln!(stores, "o{path} = {value};");
        }
        // Structures may be declared in any order.
        let mut lines: Vec<&str> = declared.lines().collect();
        if rng.one_in(2) {
            lines.reverse();
        }
        let text = format!(
            "{}\n@group(0) @binding(0) var<storage, read_write> o: {};\n\
             @compute @workgroup_size(1) fn main() {{\n{stores}}}",
            lines.join("\n"),
            last.text
        );
        let parsed = parse(Source::Wgsl(&text), "test", &Options::default())
            .unwrap_or_else(|failure| panic!("{}\n{text}", failure.render()));
        let func = &parsed.module.funcs[0];
        let mut world = Buffers::new(func, 0);
        world.dispatch(func, [1; 3]).expect("it runs to its end");
        let bytes = &world.bytes[&Buffers::find(func, 0, 0).expect("it is used")];
        assert_eq!(bytes.len() as u32, last.size, "{text}");
        for (index, (path, offset)) in last.words.iter().enumerate().take(400) {
            let at = *offset as usize;
            let word = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            assert_eq!(word as usize, index + 1, "{path} of\n{text}");
        }
    }
}

fn code(text: &str) -> u8 {
    let parsed = parse(Source::Wgsl(text), "test", &Options::default());
    parsed.map_or_else(|failure| failure.exit_code(), |_| 0)
}

/// A module with these structures and a uniform buffer of a type.
fn uniform(structures: &str, ty: &str, read: &str) -> String {
    format!(
        "{structures}\n@group(0) @binding(0) var<uniform> u: {ty};\n\
         @group(0) @binding(1) var<storage, read_write> o: u32;\n\
         @compute @workgroup_size(1) fn main() {{ o = {read}; }}"
    )
}

#[test]
fn a_raised_alignment_counts_for_the_rules_of_uniform_buffers() {
    let raised = "struct A { @align(16) x: u32 } struct B { p: u32, a: A, b: array<A, 2> }";
    assert_eq!(code(&uniform(raised, "B", "u.a.x + u.b[1].x")), 0);
    let plain = "struct A { x: u32 } struct B { p: u32, a: A }";
    assert_eq!(code(&uniform(plain, "B", "u.a.x")), 1);
}

#[test]
fn an_alignment_below_that_of_a_raised_type_is_refused_at_its_place() {
    let text =
        uniform("struct A { @align(32) x: u32 } struct B { p: u32, @align(16) a: A }", "B", "u.p");
    let failure = parse(Source::Wgsl(&text), "test", &Options::default()).expect_err("too low");
    assert_eq!(failure.exit_code(), 1);
    let span = failure.diagnostics[0].labels[0].span;
    assert_eq!(span.start as usize, text.rfind("16").expect("it is there"));
}

#[test]
fn places_behind_a_raised_structure_stay_the_users() {
    let text =
        "struct A { @align(16) x: u32 } struct B { p: u32, a: A, }\nfn f() { let z = wrong; }";
    let failure = parse(Source::Wgsl(text), "test", &Options::default()).expect_err("no such name");
    let span = failure.diagnostics[0].labels[0].span;
    assert_eq!(&text[span.start as usize..span.end as usize], "wrong");
}
