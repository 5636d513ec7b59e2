//! Constant expressions of WGSL against an evaluator of the tests' own: every built-in function that has constants.

use crate::common::buffers::Buffers;
use gpucc_frontend::{Options, Source, parse};
use gpucc_ir::ssa::random::Rng;

/// The words that a module with these declarations and stores leaves in 16 words.
fn run(declarations: &str, body: &str) -> Result<Vec<u32>, String> {
    let text = format!(
        "enable f16;\n@group(0) @binding(0) var<storage, read_write> out: array<u32, 16>;\n{declarations}\n\
         @compute @workgroup_size(1) fn main() {{\n{body}\n}}\n"
    );
    let parsed = parse(Source::Wgsl(&text), "test.wgsl", &Options::default())
        .map_err(|failure| format!("{} {}", failure.exit_code(), failure.render()))?;
    let func = &parsed.module.funcs[0];
    let mut world = Buffers::new(func, 0);
    world.dispatch(func, [1; 3])?;
    let out = Buffers::find(func, 0, 0).ok_or("nothing is written")?;
    let words = world.bytes[&out].chunks(4);
    Ok(words
        .map(|word| word.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
        .collect())
}

/// What the components of a value become in the words.
#[derive(Copy, Clone, PartialEq)]
enum As {
    Float,
    Bits,
}

/// Checks the components of a constant in every place where a constant may stand; gives what went wrong.
fn wrong(
    expression: &str,
    components: usize,
    kind: As,
    near: &dyn Fn(&[u32]) -> Option<String>,
) -> Vec<String> {
    let store = |name: &str| -> String {
        let all = (0..components).map(|at| {
            let part = if components == 1 { name.to_owned() } else { format!("{name}[{at}]") };
            match kind {
                As::Float => format!("out[{at}] = bitcast<u32>(f32({part}));"),
                As::Bits => format!("out[{at}] = bitcast<u32>({part});"),
            }
        });
        all.collect()
    };
    let cases = [
        (format!("const k = {expression};"), store("k")),
        (String::new(), format!("const k = {expression}; {}", store("k"))),
        (String::new(), format!("let k = {expression}; {}", store("k"))),
        (format!("var<private> k = {expression};"), store("k")),
    ];
    let check = |(declarations, body): &(String, String)| match run(declarations, body) {
        Ok(words) => near(&words).map(|why| format!("{declarations} {body}: {why}")),
        Err(why) => Some(format!("{declarations} {body}: {why}")),
    };
    cases.iter().filter_map(check).collect()
}

/// The literal of a float and its value in a type.
fn literal(value: f64, suffix: &str) -> (String, f64) {
    let value = match suffix {
        "f" => f64::from(value as f32),
        "h" => half(value),
        _ => value,
    };
    let text = format!("{:?}{suffix}", if suffix == "f" { f64::from(value as f32) } else { value });
    match suffix {
        "f" => (format!("{:?}f", value as f32), value),
        _ => (text, value),
    }
}

/// The nearest number of eleven bits.
fn half(value: f64) -> f64 {
    if value == 0.0 {
        return value;
    }
    let step = 2f64.powi((value.abs().log2().floor() as i32).max(-14) - 10);
    (value / step).round_ties_even() * step
}

fn close(words: &[u32], wanted: &[f64], relative: f64, absolute: f64) -> Option<String> {
    wanted.iter().zip(words).find_map(|(&wanted, &word)| {
        let got = f64::from(f32::from_bits(word));
        let near = (got - wanted).abs() <= relative * wanted.abs() + absolute;
        (!near).then(|| format!("{got} is not {wanted}"))
    })
}

/// Name, the range of every argument, and the value.
type Row = (&'static str, &'static [(f64, f64)], fn(&[f64]) -> f64);

/// Functions of each component.
const COMPONENTS: &[Row] = &[
    ("abs", &[(-9.0, 9.0)], |x| if x[0] < 0.0 { -x[0] } else { x[0] }),
    ("acos", &[(-1.0, 1.0)], |x| x[0].acos()),
    ("acosh", &[(1.0, 9.0)], |x| (x[0] + (x[0] * x[0] - 1.0).sqrt()).ln()),
    ("asin", &[(-1.0, 1.0)], |x| x[0].asin()),
    ("asinh", &[(-9.0, 9.0)], |x| x[0].signum() * (x[0].abs() + (x[0] * x[0] + 1.0).sqrt()).ln()),
    ("atan", &[(-9.0, 9.0)], |x| x[0].atan()),
    ("atanh", &[(-0.999, 0.999)], |x| ((1.0 + x[0]) / (1.0 - x[0])).ln() / 2.0),
    ("atan2", &[(-9.0, 9.0), (-9.0, 9.0)], |x| x[0].atan2(x[1])),
    ("ceil", &[(-9.0, 9.0)], |x| -(-x[0]).floor()),
    ("clamp", &[(-9.0, 9.0), (-5.0, 0.0), (0.0, 5.0)], |x| x[0].clamp(x[1], x[2])),
    ("cos", &[(-3.0, 3.0)], |x| x[0].cos()),
    ("cosh", &[(-3.0, 3.0)], |x| (x[0].exp() + (-x[0]).exp()) / 2.0),
    ("degrees", &[(-3.0, 3.0)], |x| x[0] * 180.0 / std::f64::consts::PI),
    ("exp", &[(-3.0, 3.0)], |x| std::f64::consts::E.powf(x[0])),
    ("exp2", &[(-3.0, 3.0)], |x| 2f64.powf(x[0])),
    ("floor", &[(-9.0, 9.0)], |x| x[0].floor()),
    ("fma", &[(-9.0, 9.0), (-9.0, 9.0), (-9.0, 9.0)], |x| x[0] * x[1] + x[2]),
    ("fract", &[(-9.0, 9.0)], |x| x[0] - x[0].floor()),
    ("inverseSqrt", &[(0.1, 9.0)], |x| x[0].powf(-0.5)),
    ("log", &[(0.1, 9.0)], |x| x[0].ln()),
    ("log2", &[(0.1, 9.0)], |x| x[0].ln() / 2f64.ln()),
    ("max", &[(-9.0, 9.0), (-9.0, 9.0)], |x| if x[0] > x[1] { x[0] } else { x[1] }),
    ("min", &[(-9.0, 9.0), (-9.0, 9.0)], |x| if x[0] < x[1] { x[0] } else { x[1] }),
    ("mix", &[(-9.0, 9.0), (-9.0, 9.0), (0.0, 1.0)], |x| x[0] + (x[1] - x[0]) * x[2]),
    ("pow", &[(0.1, 4.0), (-3.0, 3.0)], |x| (x[1] * x[0].ln()).exp()),
    ("radians", &[(-90.0, 90.0)], |x| x[0] * std::f64::consts::PI / 180.0),
    ("round", &[(-9.0, 9.0)], |x| x[0].round_ties_even()),
    ("saturate", &[(-2.0, 2.0)], |x| x[0].clamp(0.0, 1.0)),
    ("sign", &[(-9.0, 9.0)], |x| x[0].signum()),
    ("sin", &[(-3.0, 3.0)], |x| x[0].sin()),
    ("sinh", &[(-3.0, 3.0)], |x| (x[0].exp() - (-x[0]).exp()) / 2.0),
    ("smoothstep", &[(-2.0, 0.0), (0.5, 2.0), (-3.0, 3.0)], |x| {
        let t = ((x[2] - x[0]) / (x[1] - x[0])).clamp(0.0, 1.0);
        3.0 * t * t - 2.0 * t * t * t
    }),
    ("sqrt", &[(0.0, 9.0)], |x| x[0].powf(0.5)),
    ("step", &[(-9.0, 9.0), (-9.0, 9.0)], |x| if x[1] < x[0] { 0.0 } else { 1.0 }),
    ("tan", &[(-1.0, 1.0)], |x| x[0].sin() / x[0].cos()),
    ("tanh", &[(-3.0, 3.0)], |x| (x[0].exp() - (-x[0]).exp()) / (x[0].exp() + (-x[0]).exp())),
    ("trunc", &[(-9.0, 9.0)], |x| x[0].signum() * x[0].abs().floor()),
];

fn no_faults(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn functions_of_components_have_their_values_in_every_type_and_place() {
    let mut rng = Rng::new(1);
    let mut faults = Vec::new();
    for &(name, ranges, value) in COMPONENTS {
        for (suffix, length) in [("", 1), ("f", 1), ("h", 1), ("", 3), ("f", 2), ("f", 4), ("h", 2)]
        {
            let mut texts = Vec::new();
            let mut columns: Vec<Vec<f64>> = vec![Vec::new(); length];
            for &(low, high) in ranges {
                let all = columns.iter_mut().map(|column| {
                    let x = low + (high - low) * rng.below(1 << 20) as f64 / (1 << 20) as f64;
                    let (text, value) = literal(x, suffix);
                    column.push(value);
                    text
                });
                let all: Vec<String> = all.collect();
                texts.push(match length {
                    1 => all[0].clone(),
                    _ => format!("vec{length}({})", all.join(", ")),
                });
            }
            let wanted: Vec<f64> = columns.iter().map(|column| value(column)).collect();
            // Half of what naga computes in f16 is rounded at each step.
            let (relative, absolute) = if suffix == "h" { (8e-3, 2e-2) } else { (3e-6, 3e-6) };
            let expression = format!("{name}({})", texts.join(", "));
            let near = |words: &[u32]| close(words, &wanted, relative, absolute);
            faults.extend(wrong(&expression, length, As::Float, &near));
        }
    }
    no_faults(&faults);
}

#[test]
fn floats_of_other_forms_have_their_values() {
    let cases: &[(&str, &[f64])] = &[
        ("mix(vec2(1.0, 2.0), vec2(3.0, 6.0), 0.25)", &[1.5, 3.0]),
        ("mix(vec2f(1.0, 2.0), vec2(3, 6), 0.25)", &[1.5, 3.0]),
        ("mix(vec3h(), vec3h(2h), vec3h(0.5h))", &[1.0, 1.0, 1.0]),
        ("atanh(-0.99999994f)", &[-8.664_339_756_999_316]),
        ("atanh(0.99999994f)", &[8.664_339_756_999_316]),
        ("atanh(1e-20f)", &[1e-20]),
        ("cross(vec3(1.0, 2.0, 3.0), vec3(-4.0, 5.0, 6.0))", &[-3.0, -18.0, 13.0]),
        ("cross(vec3f(1, 2, 3), vec3f(-4, 5, 6))", &[-3.0, -18.0, 13.0]),
        ("dot(vec2(3.0, 4.0), vec2(5.0, 6.0))", &[39.0]),
        ("dot(vec3f(3, 4, 1), vec3f(5, 6, 2))", &[41.0]),
        ("distance(vec2(1.0, 1.0), vec2(4.0, 5.0))", &[5.0]),
        ("distance(2.0, -1.5)", &[3.5]),
        ("length(vec2(3.0, 4.0))", &[5.0]),
        ("length(-2.5f)", &[2.5]),
        ("normalize(vec2(3.0, 4.0))", &[0.6, 0.8]),
        ("faceForward(vec2(1.0, 2.0), vec2(1.0, 0.0), vec2(-1.0, 0.0))", &[1.0, 2.0]),
        ("faceForward(vec2f(1.0, 2.0), vec2f(1.0, 0.0), vec2f(1.0, 0.0))", &[-1.0, -2.0]),
        ("reflect(vec2(1.0, -1.0), vec2(0.0, 1.0))", &[1.0, 1.0]),
        ("refract(vec2(0.6, -0.8), vec2(0.0, 1.0), 0.5)", &[0.3, -0.953_939_201_416_946]),
        ("refract(vec2f(0.6, -0.8), vec2f(0.0, 1.0), 2.0)", &[0.0, 0.0]),
        ("determinant(mat2x2(1.0, 2.0, 3.0, 4.0))", &[-2.0]),
        ("determinant(mat3x3f(2, 0, 1, 1, 3, 2, 1, 1, 4))", &[18.0]),
        ("determinant(mat4x4f(1,0,2,0, 0,3,0,1, 0,1,1,0, 2,0,0,1))", &[-1.0]),
        ("transpose(mat2x3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))[1]", &[2.0, 5.0]),
        ("transpose(mat3x2f(1, 2, 3, 4, 5, 6))[1]", &[2.0, 4.0, 6.0]),
        ("ldexp(1.5, 4)", &[24.0]),
        ("ldexp(1.5f, -4i)", &[0.09375]),
        ("ldexp(1.5, -4i)", &[0.09375]),
        ("ldexp(vec2h(1.5h, 3h), vec2(1, 2))", &[3.0, 12.0]),
        ("ldexp(3.0e-38f, 3)", &[2.4e-37]),
        ("frexp(12.0).fract", &[0.75]),
        ("frexp(-12.0f).fract", &[-0.75]),
        ("frexp(vec2(0.0, 0.1875)).fract", &[0.0, 0.75]),
        ("modf(-3.25).fract", &[-0.25]),
        ("modf(-3.25h).whole", &[-3.0]),
        ("modf(vec2f(3.75, -0.5)).fract", &[0.75, -0.5]),
        ("modf(vec2f(3.75, -0.5)).whole", &[3.0, 0.0]),
        ("quantizeToF16(1.0009)", &[1.000_976_562_5]),
        ("quantizeToF16(vec2f(0.1, -65504.0))", &[0.099_975_585_937_5, -65504.0]),
        ("bitcast<f32>(0x40490fdbu)", &[3.141_592_741_012_573]),
        ("bitcast<f32>(-1082130432)", &[-1.0]),
        ("bitcast<vec2f>(vec2u(0x3f800000u, 0x40000000u))", &[1.0, 2.0]),
        ("bitcast<vec2h>(0x4000bc00u)", &[-1.0, 2.0]),
        ("unpack2x16float(0x4000bc00u)", &[-1.0, 2.0]),
        ("unpack2x16snorm(0x80007fffu)", &[1.0, -1.0]),
        ("unpack2x16unorm(0x8000ffffu)", &[1.0, 0.500_007_629_510_948]),
        ("unpack4x8snorm(0x40817f00u)", &[0.0, 1.0, -1.0, 0.503_937_007_874_016]),
        ("unpack4x8unorm(0x80ff0033u)", &[0.2, 0.0, 1.0, 0.501_960_784_313_725]),
        ("select(1.5, 2.5, true)", &[2.5]),
        ("select(vec2(1.0, 2.0), vec2(3.0, 4.0), vec2(true, false))", &[3.0, 2.0]),
        ("1e300 / 1e299", &[10.0]),
        ("mix(1e300, 3e300, 0.5) / 1e300", &[2.0]),
        ("vec4f(vec2f(), 3.0, 4.0).zw", &[3.0, 4.0]),
        ("vec3(vec2(), 3.0).z", &[3.0]),
        ("mat2x2f(vec2f(), vec2f(1, 2))[1]", &[1.0, 2.0]),
        ("mix(sqrt(4.0), max(1.0, 6.0), 1.0 / 4.0)", &[3.0]),
        ("mix(array(1.0, 2.0)[1], vec3(4.0, 5.0, 6.0).z, 0.5)", &[4.0]),
        ("mix((mat2x2(1.0, 2.0, 3.0, 4.0) * vec2(1.0, 1.0)).y, 0.0, 0.5)", &[3.0]),
        ("mix(f32(7 % 4), f32(1u << 3u), 0.5)", &[5.5]),
    ];
    let mut faults = Vec::new();
    for &(expression, wanted) in cases {
        let near = |words: &[u32]| close(words, wanted, 1e-6, 0.0);
        faults.extend(wrong(expression, wanted.len(), As::Float, &near));
    }
    no_faults(&faults);
}

/// Functions of integers: the call, and what it gives, each component 32 bits.
#[test]
fn functions_of_integers_have_their_bits_in_every_place() {
    let mut rng = Rng::new(2);
    let mut faults = Vec::new();
    for round in 0..12 {
        let [a, b] = [0, 1].map(|_| match round {
            0 => 0,
            1 => u32::MAX,
            2 => 0x8000_0000,
            3 => 0x7fff_ffff,
            _ => (rng.bits() >> rng.below(32)) as u32,
        });
        let (offset, count) = (rng.below(33) as u32, rng.below(33) as u32);
        let count = count.min(32 - offset);
        let mask = (1u64 << count) - 1;
        let field = (u64::from(a) >> offset & mask) as u32;
        let signed_field = if count == 0 {
            0
        } else {
            ((u64::from(field) << (64 - count)) as i64 >> (64 - count)) as u32
        };
        let inserted = (u64::from(a) & !(mask << offset) | (u64::from(b) & mask) << offset) as u32;
        let s = |x: u32| format!("bitcast<i32>({x}u)");
        let bits_above = |x: u32| (0..32).rev().take_while(|bit| x >> bit & 1 == 0).count() as u32;
        let bits_below = |x: u32| (0..32).take_while(|bit| x >> bit & 1 == 0).count() as u32;
        let set = |x: u32| (0..32).filter(|bit| x >> bit & 1 == 1).count() as u32;
        let folded = if (a as i32) < 0 { !a } else { a };
        let highest = |x: u32| if x == 0 { u32::MAX } else { 31 - bits_above(x) };
        let byte = |x: u32, at: u32| x >> (8 * at) & 0xff;
        let byte_signed = |x: u32, at: u32| i64::from(byte(x, at) as u8 as i8);
        let sum = |f: &dyn Fn(u32) -> i64| (0..4).map(f).sum::<i64>() as u32;
        let list = |f: &dyn Fn(u32) -> i64| (0..4).map(f).map(|x| x as u32).collect::<Vec<_>>();
        let cases = [
            (format!("countLeadingZeros({a}u)"), vec![bits_above(a)]),
            (format!("countLeadingZeros({})", s(a)), vec![bits_above(a)]),
            (format!("countTrailingZeros({a}u)"), vec![bits_below(a)]),
            (format!("countOneBits(vec2({a}u, {b}u))"), vec![set(a), set(b)]),
            (format!("firstLeadingBit({a}u)"), vec![highest(a)]),
            (format!("firstLeadingBit({})", s(a)), vec![highest(folded)]),
            (
                format!("firstTrailingBit({a}u)"),
                vec![if a == 0 { u32::MAX } else { bits_below(a) }],
            ),
            (
                format!("reverseBits({a}u)"),
                vec![(0..32).fold(0, |sum, bit| sum << 1 | a >> bit & 1)],
            ),
            (format!("extractBits({a}u, {offset}, {count}u)"), vec![field]),
            (format!("extractBits({}, {offset}u, {count})", s(a)), vec![signed_field]),
            (format!("insertBits({a}u, {b}u, {offset}u, {count}u)"), vec![inserted]),
            (format!("insertBits({}, {}, {offset}, {count})", s(a), s(b)), vec![inserted]),
            (format!("insertBits(vec2({a}u), vec2({b}u), {offset}, {count})"), vec![inserted; 2]),
            (
                format!("dot4U8Packed({a}u, {b}u)"),
                vec![sum(&|at| i64::from(byte(a, at) * byte(b, at)))],
            ),
            (
                format!("dot4I8Packed({a}u, {b}u)"),
                vec![sum(&|at| byte_signed(a, at) * byte_signed(b, at))],
            ),
            (format!("unpack4xU8({a}u)"), list(&|at| i64::from(byte(a, at)))),
            (format!("unpack4xI8({a}u)"), list(&|at| byte_signed(a, at))),
            (format!("pack4xU8(vec4u({}u, {}u, {}u, {}u))", a, a >> 8, a >> 16, a >> 24), vec![a]),
            (format!("pack4xI8(unpack4xI8({a}u))"), vec![a]),
            (format!("pack4xU8Clamp(vec4u({a}u))"), vec![a.min(255) * 0x0101_0101]),
            (
                format!("pack4xI8Clamp(vec4i({}))", s(a)),
                vec![((a as i32).clamp(-128, 127) as u32 & 0xff) * 0x0101_0101],
            ),
            (format!("abs({})", s(a)), vec![(a as i32).unsigned_abs()]),
            (format!("sign({})", s(a)), vec![(a as i32).signum() as u32]),
            (format!("min({a}u, {b}u)"), vec![if a < b { a } else { b }]),
            (format!("max({}, {})", s(a), s(b)), vec![if (a as i32) > b as i32 { a } else { b }]),
            (format!("clamp({a}u, 5u, 500u)"), vec![a.clamp(5, 500)]),
            (
                format!("dot(vec2({a}u, 2u), vec2(3u, {b}u))"),
                vec![a.wrapping_mul(3).wrapping_add(b.wrapping_mul(2))],
            ),
            (format!("bitcast<vec2u>(vec2i({}, {}))", s(a), s(b)), vec![a, b]),
            (format!("select({a}u, {b}u, any(vec2(true, false)))"), vec![b]),
            (format!("select({a}u, {b}u, all(vec2(true, false)))"), vec![a]),
        ];
        for (expression, wanted) in cases {
            let near = |words: &[u32]| {
                (words[..wanted.len()] != wanted[..])
                    .then(|| format!("{words:x?} are not {wanted:x?}"))
            };
            faults.extend(wrong(&expression, wanted.len(), As::Bits, &near));
        }
    }
    no_faults(&faults);
}

#[test]
fn packing_and_abstract_integers_have_their_bits() {
    let cases: &[(&str, &[u32])] = &[
        ("pack2x16float(vec2(-1.0, 2.0))", &[0x4000_bc00]),
        ("pack2x16snorm(vec2f(1.0, -1.0))", &[0x8001_7fff]),
        ("pack2x16unorm(vec2(0.5, 7.0))", &[0xffff_8000]),
        ("pack4x8snorm(vec4(0.0, 1.0, -1.0, 0.5))", &[0x4081_7f00]),
        ("pack4x8unorm(vec4f(0.2, 0.0, 1.0, -3.0))", &[0x00ff_0033]),
        ("frexp(12.0).exp", &[4]),
        ("frexp(vec2f(0.0, 0.1875)).exp", &[0, -2i32 as u32]),
        ("frexp(6e-8h).exp", &[-23i32 as u32]),
        ("frexp(1e-40f).exp", &[-132i32 as u32]),
        ("i32((-8) >> 64u)", &[u32::MAX]),
        ("i32((-8) >> 63u)", &[u32::MAX]),
        ("i32(-8 >> 100)", &[u32::MAX]),
        ("i32(8 >> 64u)", &[0]),
        ("i32(0 << 70u)", &[0]),
        ("vec2i(vec2(-8, 5) >> vec2(64u, 70u))", &[u32::MAX, 0]),
        ("(3 - (-8 >> 65u)) * 2", &[8]),
        ("i32(abs(-8) >> 64u)", &[0]),
        ("-8 >> 2u", &[-2i32 as u32]),
        ("bitcast<u32>(1.0)", &[0x3f80_0000]),
        ("bitcast<i32>(4294967295u)", &[u32::MAX]),
        ("bitcast<u32>(vec2h(-1h, 2h))", &[0x4000_bc00]),
        ("u32(mix(2.0, 4.0, 0.5))", &[3]),
    ];
    let mut faults = Vec::new();
    for &(expression, wanted) in cases {
        let near = |words: &[u32]| {
            (words[..wanted.len()] != *wanted).then(|| format!("{words:x?} are not {wanted:x?}"))
        };
        faults.extend(wrong(expression, wanted.len(), As::Bits, &near));
    }
    no_faults(&faults);
}

#[track_caller]
fn gives(declarations: &str, body: &str, wanted: &[u32]) {
    let words = run(declarations, body).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(&words[..wanted.len()], wanted);
}

#[test]
fn a_constant_of_the_innermost_scope_counts() {
    gives(
        "const n = 4.0; fn half(n: f32) -> u32 { return u32(mix(n, 0.0, 0.5)); }",
        "{ const n = 8; out[0] = u32(mix(0.0, n, 0.5)); } out[1] = u32(mix(0.0, n, 0.5));
         for (const n = 16; out[2] == 0u;) { out[2] = u32(mix(0.0, n, 0.5)); }
         out[3] = u32(mix(0.0, n, 0.5)); out[4] = half(20.0);
         let n = f32(out[4]); out[5] = u32(mix(n, 0.0, 0.5));",
        &[4, 2, 8, 2, 10, 5],
    );
}

#[test]
fn what_has_the_name_of_a_built_in_function_is_not_taken_for_it() {
    gives(
        "fn mix(a: f32, b: f32, c: f32) -> f32 { return 7.0; } const k = 1.0;",
        "out[0] = u32(mix(k, 2.0, 0.5)); let modf = 3u; out[1] = modf;",
        &[7, 3],
    );
}

#[test]
fn constants_stand_where_only_constants_may() {
    gives(
        "const_assert smoothstep(0, 2, 1) == 0.5; const_assert (-8) >> 64u == -1;
         const r = frexp(12.0); struct S { a: array<u32, u32(mix(2.0, 4.0, 0.5))>, @align(1 << u32(r.exp)) b: u32 }
         @group(0) @binding(1) var<storage, read_write> s: array<S, 2>;",
        "switch 4u { case u32(ldexp(1.0, 2)): { out[0] = 1u; } default {} }
         let q = r; out[1] = u32(q.fract * 4.0); s[1].b = 1u; out[2] = s[1].b;",
        &[1, 3, 1],
    );
}

#[test]
fn a_shift_whose_operands_are_no_one_expression_is_read_once() {
    let failure =
        run("const a = 8;", "out[0] = u32(a(8) >> 64u);").expect_err("`a` is no function");
    assert!(failure.starts_with('1'), "{failure}");
}

#[test]
fn calls_without_a_value_are_the_users_error_at_their_place() {
    for (expression, part) in [
        ("atanh(1.0)", "`atanh`"),
        ("smoothstep(1.0, 1.0, 2.0)", "edges"),
        ("extractBits(1u, 20u, 20u)", "more than 32"),
        ("insertBits(1u, 1u, 33u, 0u)", "more than 32"),
        ("ldexp(1f, 200)", "exponent"),
        ("quantizeToF16(1e6f)", "f16"),
        ("pack2x16float(vec2f(1e6))", "f16"),
        ("bitcast<f32>(0x7fc00000u)", "finite"),
        ("unpack2x16float(0x7c00u)", "finite"),
    ] {
        let text = format!(
            "const k = {expression};\n@compute @workgroup_size(1) fn main() {{ let x = k; }}"
        );
        let failure =
            parse(Source::Wgsl(&text), "test", &Options::default()).expect_err(expression);
        assert_eq!(failure.exit_code(), 1, "{expression}");
        let diagnostic = &failure.diagnostics[0];
        assert!(diagnostic.message.contains(part), "{}", diagnostic.message);
        assert_eq!(diagnostic.labels[0].span.start, 10, "{expression}");
    }
}

#[test]
fn calls_of_overrides_have_the_values_that_the_options_give() {
    let text = "@group(0) @binding(0) var<storage, read_write> out: array<f32, 4>;
                override a: f32 = 2.0; @id(7) override b = -0.5; override c: i32;
                override q = mix(a, 6.0, 0.5); override w = atanh(b) + ldexp(1.0, c);
                @compute @workgroup_size(1) fn main() { out[0] = q; out[1] = w; out[2] = atanh(b); }";
    let overrides = vec![("7".to_owned(), -0.999_999_94), ("a".to_owned(), 4.0)];
    let options = Options { overrides, overrides_default: Some(3.0), ..Options::default() };
    let parsed =
        parse(Source::Wgsl(text), "test", &options).unwrap_or_else(|f| panic!("{}", f.render()));
    let func = &parsed.module.funcs[0];
    let mut world = Buffers::new(func, 0);
    world.dispatch(func, [1; 3]).expect("it runs to its end");
    let bytes = &world.bytes[&Buffers::find(func, 0, 0).expect("it is used")];
    let words: Vec<u32> = bytes
        .chunks(4)
        .map(|word| word.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
        .collect();
    let far = 8.664_339_756_999_316;
    assert_eq!(close(&words, &[5.0, 8.0 - far, -far], 1e-6, 0.0), None);
}

#[test]
fn a_constant_does_not_depend_on_an_override() {
    let text = "override a = 1.0; const k = mix(a, 2.0, 0.5); @compute @workgroup_size(1) fn main() { let x = k; }";
    let failure = parse(Source::Wgsl(text), "test", &Options::default()).expect_err("it is wrong");
    assert_eq!(failure.exit_code(), 1);
}

#[test]
fn what_is_not_evaluated_is_no_fault_of_the_text() {
    let text = "struct S { x: f32 } const s = S(0.5); const k = mix(1.0, 2.0, s.x);
                @compute @workgroup_size(1) fn main() { let x = k; }";
    let failure = parse(Source::Wgsl(text), "test", &Options::default()).expect_err("not yet");
    assert_eq!(failure.exit_code(), 6);
    assert!(failure.diagnostics[0].message.contains("Mix"), "{}", failure.render());
}
