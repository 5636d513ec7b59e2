//! Every form of statement and expression, executed: what stands beside the source is what WGSL says.

use crate::common::buffers::Buffers;
use gpucc_frontend::{Options, Source, parse};
use gpucc_ir::ssa;

/// Runs `main` of a module in one workgroup; gives the words of binding (0, 0).
fn run_with(text: &str, options: &Options, groups: [u32; 3]) -> Vec<u32> {
    let parsed = parse(Source::Wgsl(text), "test.wgsl", options)
        .unwrap_or_else(|failure| panic!("{}", failure.render()));
    let func = &parsed.module.funcs[0];
    if let Err(broken) = ssa::verify(func) {
        panic!("{broken}\n{func}");
    }
    let mut world = Buffers::new(func, 64);
    // Binding (0, 1) holds 1, 2, 3, ...
    if let Some(input) = Buffers::find(func, 0, 1) {
        let size = world.bytes[&input].len() as u32;
        let bytes = (1..=size / 4).flat_map(u32::to_le_bytes).collect();
        world.bytes.insert(input, bytes);
    }
    world.dispatch(func, groups).expect("it runs to its end");
    let output = Buffers::find(func, 0, 0).expect("the output is used");
    world.bytes[&output]
        .chunks(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Runs statements that write `out[..]`, behind module-scope declarations; checks the first words.
#[track_caller]
fn gives(declarations: &str, body: &str, expected: &[i64]) {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<i32, 16>;\n{declarations}\n\
         @compute @workgroup_size(1) fn main() {{\n{body}\n}}\n"
    );
    let got = run_with(&text, &Options::default(), [1; 3]);
    let got: Vec<i64> = got.iter().map(|&word| i64::from(word as i32)).collect();
    assert_eq!(&got[..expected.len()], expected, "{body}");
}

/// The same for floats, to 6 digits.
#[track_caller]
fn gives_floats(declarations: &str, body: &str, expected: &[f32]) {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<f32, 16>;\n{declarations}\n\
         @compute @workgroup_size(1) fn main() {{\n{body}\n}}\n"
    );
    let got = run_with(&text, &Options::default(), [1; 3]);
    for (&word, &want) in got.iter().zip(expected) {
        let got = f32::from_bits(word);
        let near = (got - want).abs() <= 1e-6 * want.abs().max(1e-6);
        assert!(near || got == want, "{got} is not {want}: {body}");
    }
}

const INPUT: &str = "@group(0) @binding(1) var<storage, read> in: array<i32, 16>;";

#[test]
fn integers_divide_and_shift_as_wgsl_says() {
    gives(
        INPUT,
        "let z = in[0] - 1; out[0] = 7 / z; out[1] = 7 % z; out[2] = -7 / in[1]; out[3] = -7 % in[1];
         let min = i32(-2147483647) - in[0]; out[4] = min / -in[0]; out[5] = min % -in[0];
         out[6] = in[0] << u32(in[4]); out[7] = -16 >> u32(in[1]); out[8] = i32(u32(min) >> 31u);",
        &[7, 0, -3, -1, -2147483648, 0, 32, -4, 1],
    );
}

#[test]
fn if_else_chains_choose_one_arm() {
    gives(
        INPUT,
        "for (var i = 0; i < 4; i++) {
            if in[i] == 1 { out[i] = 10; } else if in[i] == 2 { out[i] = 20; } else if in[i] == 3 { out[i] = 30; } else { out[i] = 40; }
         }",
        &[10, 20, 30, 40],
    );
}

#[test]
fn loops_break_continue_and_run_continuing() {
    gives(
        "",
        "var i = 0; var sum = 0;
         loop { if i == 10 { break; } if i % 2 == 1 { continue; } sum += i; continuing { i++; } }
         out[0] = sum;
         var n = 0; loop { n += 3; continuing { n += 1; break if n > 10; } } out[1] = n;
         var w = 100; while w > 7 { w /= 2; } out[2] = w;
         var f = 0; for (var j = 0; j < 5; j++) { if j == 3 { continue; } f = f * 10 + j; } out[3] = f;",
        &[20, 12, 6, 124],
    );
}

#[test]
fn continuing_sees_values_of_the_body() {
    gives(
        INPUT,
        "var i = 0; var sum = 0;
         loop {
            let step = in[i] + 1;
            if sum > 100 { break; }
            let p = &out[in[i]];
            if step == 3 { continue; }
            continuing { i += step; sum += step; *p = sum; break if sum + step > 20; }
         }
         out[0] = i;",
        &[14, 2, 0, 6, 0, 0, 0, 14],
    );
}

#[test]
fn nested_loops_keep_their_own_breaks() {
    gives(
        "",
        "var hits = 0;
         for (var i = 0; i < 5; i++) { for (var j = 0; j < 5; j++) { if j > i { break; } if (i + j) % 2 == 0 { continue; } hits++; } }
         out[0] = hits;",
        &[6],
    );
}

#[test]
fn switches_of_every_shape() {
    let few = "fn few(x: i32) -> i32 { switch x { case 1, 2: { return 12; } default: { return 0; } case 3: { } } return 3; }";
    let many = "fn many(x: u32) -> i32 { var r = -1; switch x {
        case 0u: { r = 0; } case 1u: { r = 10; } case 2u, 3u: { if x == 3u { break; } r = 20; }
        case 9u: { r = 90; } default: { r = 99; } case 7u: { r = 70; } } return r; }";
    gives(
        &format!("{INPUT} {few} {many}"),
        "out[0] = few(1); out[1] = few(2); out[2] = few(3); out[3] = few(in[3]);
         out[4] = many(0u); out[5] = many(1u); out[6] = many(u32(in[1])); out[7] = many(u32(in[2])); out[8] = many(7u); out[9] = many(9u); out[10] = many(100u);",
        &[12, 12, 3, 0, 0, 10, 20, -1, 70, 90, 99],
    );
}

#[test]
fn a_switch_in_a_loop_breaks_itself_and_continues_the_loop() {
    gives(
        "",
        "var a = 0; var b = 0;
         for (var i = 0; i < 6; i++) {
            switch i { case 1: { continue; } case 3: { if a > 0 { break; } a += 100; } default: { a += 1; } }
            b += 1;
         }
         out[0] = a; out[1] = b;",
        &[4, 5],
    );
}

#[test]
fn early_returns_leave_loops_and_switches() {
    let find = "fn find(what: i32) -> i32 { for (var i = 0; i < 16; i++) { switch in[i] { case 5: { if what == 5 { return 500 + i; } } default: { } } if in[i] == what { return i; } } return -1; }";
    gives(
        &format!("{INPUT} {find}"),
        "out[0] = find(3); out[1] = find(5); out[2] = find(99);",
        &[2, 504, -1],
    );
}

#[test]
fn calls_pass_values_structs_and_pointers() {
    gives(
        "struct S { a: i32, v: vec2<i32> }
         var<private> counter: i32 = 7;
         fn bump(p: ptr<function, i32>, q: ptr<private, i32>) -> i32 { *p += 1; *q += 2; return *p * *q; }
         fn make(x: i32) -> S { return S(x, vec2<i32>(x + 1, x + 2)); }
         fn total(s: S) -> i32 { return s.a + s.v.x * s.v.y; }",
        "var n = 4; out[0] = bump(&n, &counter); out[1] = n; out[2] = counter;
         let s = make(3); out[3] = total(s); var t = s; t.v.y = 10; out[4] = total(t); out[5] = total(s);
         let e = &t.v; (*e).x = 1; out[6] = total(t);",
        &[45, 5, 9, 23, 43, 23, 13],
    );
}

#[test]
fn dynamic_indices_reach_every_composite() {
    gives(
        &format!("{INPUT}
         const table = array<i32, 12>(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8);
         struct Row {{ a: array<vec3<i32>, 3>, b: i32 }}
         var<private> rows: array<Row, 2>;"),
        "let i = in[1]; let j = in[0];
         out[0] = table[i + 3];
         let v = vec4<i32>(10, 11, 12, 13); out[1] = v[i];
         var w = vec3<i32>(1, 2, 3); w[i] = 9; out[2] = w.x * 100 + w.y * 10 + w.z;
         rows[j].a[i].y = 5; rows[j].b = 6; rows[0].a[i][i] = 8;
         out[3] = rows[1].a[2].y + rows[j].b; out[4] = rows[0].a[2].z; out[5] = rows[0].a[2].y;
         let copy = rows; out[6] = copy[j].a[i].y; let short = array<i32, 3>(7, 8, 9); out[7] = short[j];
         var big: array<array<i32, 8>, 20>; big[i][j] = 77; out[8] = big[2][1] + big[3][1];",
        &[9, 12, 129, 11, 8, 0, 5, 8, 77],
    );
}

#[test]
fn indices_out_of_range_are_clamped_by_the_interpreter() {
    gives(
        INPUT,
        "var a = array<i32, 3>(1, 2, 3); let far = in[15] * 100; out[0] = a[far]; out[1] = a[-far];
         let v = vec2<i32>(4, 5); out[2] = v[far];",
        &[3, 3, 5],
    );
}

#[test]
fn matrices_multiply_by_columns() {
    gives_floats(
        "@group(0) @binding(1) var<uniform> u: mat3x3<f32>;",
        "let m = mat2x3<f32>(1, 2, 3, 4, 5, 6); let v = m * vec2<f32>(10, 100);
         out[0] = v.x; out[1] = v.y; out[2] = v.z;
         let r = vec3<f32>(1, 10, 100) * m; out[3] = r.x; out[4] = r.y;
         let p = mat2x2<f32>(1, 2, 3, 4) * mat2x2<f32>(5, 6, 7, 8);
         out[5] = p[0].x; out[6] = p[0].y; out[7] = p[1].x; out[8] = p[1].y;
         let t = transpose(m); out[9] = t[2].y; out[10] = determinant(mat3x3<f32>(2, 0, 1, 1, 3, 2, 1, 1, 4));
         out[11] = (m * 2.0)[1].z; out[12] = (m + m)[0].y;",
        &[410., 520., 630., 321., 654., 23., 34., 31., 46., 6., 18., 12., 4.],
    );
}

#[test]
fn buffers_follow_their_layout_rules() {
    gives(
        "struct Inner { a: i32, b: vec3<i32>, c: i32 }
         struct Outer { first: i32, inner: array<Inner, 2>, m: mat3x2<f32>, tail: array<vec2<i32>> }
         @group(0) @binding(1) var<storage, read> buf: Outer;",
        "out[0] = buf.first; out[1] = buf.inner[1].a; out[2] = buf.inner[1].b.z; out[3] = buf.inner[1].c;
         out[4] = bitcast<i32>(buf.m[2].y); out[5] = buf.tail[1].x; out[6] = i32(arrayLength(&buf.tail));
         let all = buf.inner[0]; out[7] = all.b.y;",
        // first at 0; inner at 16, stride 32 (b at +16, c at +28); m at 80, columns of 8; tail at 104.
        &[1, 13, 19, 20, 26, 29, 8, 10],
    );
}

#[test]
fn short_circuits_do_not_evaluate_their_right_side() {
    gives(
        "var<private> calls = 0; fn yes() -> bool { calls += 1; return true; } fn no() -> bool { calls += 10; return false; }",
        "let a = no() && yes(); let b = yes() || no(); out[0] = i32(a); out[1] = i32(b); out[2] = calls; out[3] = select(5, 6, yes() && (no() || yes()));",
        &[0, 1, 11, 6],
    );
}

#[test]
fn vectors_swizzle_compose_and_convert() {
    gives(
        "",
        "let v = vec4<f32>(1.5, -2.5, 3.9, -4.9); let i = vec4<i32>(v.wzyx); out[0] = i.x; out[1] = i.y; out[2] = i.z; out[3] = i.w;
         out[4] = i32(u32(-5.0)); out[5] = i32(3e38); out[6] = i32(all(vec3<bool>(true, true, false))); out[7] = i32(any(v.xy < vec2(0.0)));
         let s = vec3<i32>(vec2<i32>(7), 8); out[8] = s.x + s.y + s.z; out[9] = bitcast<i32>(1.0f); out[10] = i32(bool(0.5));",
        &[-4, 3, -2, 1, 0, 2147483647, 0, 1, 22, 0x3f80_0000, 1],
    );
}

#[test]
fn float_builtins_follow_their_definitions() {
    gives_floats(
        "@group(0) @binding(1) var<storage, read> bits: array<i32, 16>; fn f(i: i32) -> f32 { return f32(bits[i]); }",
        "let a = vec3<f32>(f(0), f(1), f(2)); let b = vec3<f32>(f(3), f(4), f(5));
         let c = cross(a, b); out[0] = c.x; out[1] = c.y; out[2] = c.z;
         out[3] = length(a.xy); out[4] = distance(a, b); out[5] = mix(f(1), f(3), 0.25); out[6] = smoothstep(f(0), f(4), f(2));
         out[7] = step(f(2), f(1)); out[8] = normalize(b).x; out[9] = reflect(a, vec3<f32>(0, 1, 0)).y;
         let m = modf(f(2) / 2.0); out[10] = m.fract; out[11] = m.whole; let e = frexp(f(5)); out[12] = e.fract; out[13] = f32(e.exp);
         out[14] = ldexp(f(2), bits[3]); out[15] = sign(-f(0)) + degrees(radians(f(8))) + faceForward(a, a, b).x;",
        &[
            -3., 6., -3., 5f32.sqrt(), 27f32.sqrt(), 2.5, 0.5, 0., 4. / 77f32.sqrt(), -2., 0.5, 1., 0.75, 3., 48., 7.,
        ],
    );
}

#[test]
fn refraction_bends_and_reflects_totally() {
    gives_floats(
        "@group(0) @binding(1) var<storage, read> bits: array<i32, 4>;",
        "let n = vec2<f32>(0.0, f32(bits[0])); let i = vec2<f32>(0.6, -0.8);
         let r = refract(i, n, 0.5); out[0] = r.x; out[1] = r.y; let t = refract(i, n, 2.0); out[2] = t.x; out[3] = t.y;",
        &[0.3, -(0.91f32.sqrt()), 0., 0.],
    );
}

#[test]
fn integer_builtins_follow_their_definitions() {
    gives(
        INPUT,
        "let x = in[4]; out[0] = countOneBits(x); out[1] = countLeadingZeros(x); out[2] = countTrailingZeros(in[7]); out[3] = firstLeadingBit(-in[7]);
         out[4] = firstTrailingBit(in[11]); out[5] = reverseBits(in[0]); out[6] = extractBits(-in[7], 1u, 4u); out[7] = insertBits(0, -1, 4u, 4u);
         out[8] = abs(-x); out[9] = clamp(x, 1, 3); out[10] = sign(-x); out[11] = dot(vec3<i32>(in[0], in[1], in[2]), vec3<i32>(4, 5, 6));
         out[12] = i32(extractBits(u32(-in[7]), 28u, 10u)); out[13] = max(min(x, 2), -1); out[14] = dot4I8Packed(0x01ff0203u, 0x01010101u);",
        &[2, 29, 3, 2, 2, i32::MIN as i64, -4, 240, 5, 3, -1, 32, 15, 2, 5],
    );
}

#[test]
fn packing_is_exact_at_both_ends() {
    gives(
        "@group(0) @binding(1) var<storage, read> bits: array<i32, 4>;",
        "let one = f32(bits[0]); out[0] = i32(pack4x8unorm(vec4(one, 0, 0.5, -3))); out[1] = i32(pack4x8snorm(vec4(one, -one, 0, 9)));
         out[2] = i32(pack2x16unorm(vec2(one, 0.5))); out[3] = i32(pack2x16snorm(vec2(-one, one))); out[4] = i32(pack2x16float(vec2(one, -2)));
         let u = unpack4x8unorm(u32(bits[0]) * 0xff00ffu); out[5] = i32(u.x == 1.0 && u.y == 0.0 && u.z == 1.0);
         let s = unpack4x8snorm(u32(bits[0]) * 0x7f80817fu); out[6] = i32(s.x == 1.0 && s.y == -1.0 && s.z == -1.0 && s.w == 1.0);
         let h = unpack2x16unorm(u32(bits[0]) * 0xffff0000u); out[7] = i32(h.x == 0.0 && h.y == 1.0); let g = unpack2x16snorm(u32(bits[0]) * 0x7fff8001u); out[8] = i32(g.x == -1.0 && g.y == 1.0);
         out[9] = i32(unpack2x16float(u32(bits[0]) * 0xc0003c00u).y); out[10] = i32(pack4xI8(vec4<i32>(1, -1, 2, -2))); out[11] = unpack4xI8(u32(bits[0]) * 0x80ff0102u).w; out[12] = i32(pack4xU8Clamp(vec4<u32>(300, 1, 2, 3)));",
        &[0x0080_00ff, 0x7f00_817f, 0x8000_ffffu32 as i32 as i64, 0x7fff_8001, 0xc000_3c00u32 as i32 as i64, 1, 1, 1, 1, -2, 0xfe02_ff01u32 as i32 as i64, -128, 0x0302_01ff],
    );
}

#[test]
fn workgroup_memory_barriers_and_atomics_cooperate() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32, 16>;
        @group(0) @binding(2) var<storage, read_write> total: atomic<u32>;
        var<workgroup> shared_words: array<u32, 8>; var<workgroup> sum: atomic<u32>; var<workgroup> flag: bool;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {
            shared_words[i] = i * i; atomicAdd(&sum, i); if i == 0u { flag = true; }
            workgroupBarrier();
            let everyone = workgroupUniformLoad(&flag);
            out[g.x * 8u + i] = shared_words[7u - i] + u32(everyone) + 100u * atomicLoad(&sum);
            let old = atomicCompareExchangeWeak(&total, 0u, 5u); if old.exchanged { atomicMax(&total, 9u); }
        }";
    let got = run_with(text, &Options::default(), [2, 1, 1]);
    let want: Vec<u32> = (0..16).map(|i: u32| (7 - i % 8).pow(2) + 1 + 2800).collect();
    assert_eq!(got, want);
}

#[test]
fn overrides_take_values_by_name_number_and_default() {
    let text = "
        override a: i32 = 3; @id(7) override b: i32; override c = a * 2; override n: u32 = 2; override flag: bool = false;
        @group(0) @binding(0) var<storage, read_write> out: array<i32, 4>; var<workgroup> w: array<i32, n * 2>;
        @compute @workgroup_size(n) fn main() { out[0] = a; out[1] = b; out[2] = c; w[1] = 1; out[3] = select(0, w[1], flag); }";
    let options = |pairs: &[(&str, f64)], default| Options {
        overrides: pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        overrides_default: default,
        ..Options::default()
    };
    let run = |options: &Options| run_with(text, options, [1; 3]);
    assert_eq!(run(&options(&[("a", 5.0), ("7", 4.0), ("flag", 1.0)], None)), [5, 4, 10, 1]);
    assert_eq!(run(&options(&[("b", -1.0)], None))[..3], [3, u32::MAX, 6]);
    assert_eq!(run(&options(&[], Some(1.0)))[..3], [3, 1, 6]);
    let missing =
        parse(Source::Wgsl(text), "o.wgsl", &options(&[], None)).expect_err("b has no value");
    assert_eq!(missing.exit_code(), 1);
    assert!(missing.render().contains("`b` has no value"));
    let unknown =
        parse(Source::Wgsl(text), "o.wgsl", &options(&[("zz", 1.0)], None)).expect_err("unknown");
    assert_eq!(unknown.exit_code(), 1);
    assert!(unknown.render().contains("a, b, c, n, flag"));
}

#[test]
fn half_precision_rounds_every_operation() {
    let text = "enable f16;
        @group(0) @binding(0) var<storage, read_write> out: array<vec2<f16>, 4>; @group(0) @binding(1) var<storage, read> in: array<i32, 4>;
        var<private> keep: array<f16, 4>;
        @compute @workgroup_size(1) fn main() { let x = f16(in[0]); keep[in[1]] = x + 2048.0h; keep[1] = x / 3.0h;
            out[0] = vec2<f16>(keep[2], keep[1]); out[1] = vec2<f16>(f16(f32(x) * 65520.0), -x); }";
    let got = run_with(text, &Options::default(), [1; 3]);
    assert_eq!(got[..2], [0x3555_6800, 0xbc00_7c00]);
}

#[test]
fn glsl_switches_fall_through_and_conversions_hold() {
    let text = "#version 450
        layout(local_size_x = 1) in; layout(set = 0, binding = 0) buffer Out { int a[8]; } o;
        int f(int x) { int r = 0; switch (x) { case 0: r += 1; case 1: r += 10; break; case 2: r += 100; default: r += 1000; case 5: r += 10000; } return r; }
        void main() { o.a[0] = f(0); o.a[1] = f(1); o.a[2] = f(2); o.a[3] = f(5); o.a[4] = f(9); mat2 m = inverse(mat2(2.0, 0.0, 0.0, 4.0)); o.a[5] = int(m[1].y * 100.0); }";
    let stage = ssa::Stage::Compute;
    let parsed = parse(Source::Glsl { text, stage }, "t.comp", &Options::default())
        .unwrap_or_else(|failure| panic!("{}", failure.render()));
    let func = &parsed.module.funcs[0];
    ssa::verify(func).expect("it verifies");
    let mut world = Buffers::new(func, 0);
    world.dispatch(func, [1; 3]).expect("it runs");
    let output = Buffers::find(func, 0, 0).expect("it is used");
    let words: Vec<u32> = world.bytes[&output]
        .chunks(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    assert_eq!(words[..6], [11, 10, 11100, 10000, 11000, 25]);
}

#[test]
fn interfaces_keep_locations_builtins_and_interpolation() {
    use ssa::{Builtin, InputKind, Interpolation, OutputKind, Sampling, Scalar};
    let text = "
        struct Out { @builtin(position) p: vec4<f32>, @location(1) @interpolate(flat) id: u32, @location(0) @interpolate(linear, centroid) uv: vec2<f32> }
        @vertex fn vs(@builtin(vertex_index) v: u32, @location(3) a: vec3<f32>) -> Out { return Out(vec4(a, 1.0), v, a.xy); }
        @fragment fn fs(in: Out, @builtin(front_facing) front: bool) -> @location(2) vec4<f32> { if !front { discard; } return vec4(in.uv, in.p.xy); }";
    let parsed = parse(Source::Wgsl(text), "i.wgsl", &Options::default()).expect("it is valid");
    let [vs, fs] = &parsed.module.funcs[..] else {
        panic!("two entry points");
    };
    ssa::verify(vs).expect("vs verifies");
    ssa::verify(fs).expect("fs verifies");
    let inputs: Vec<_> =
        vs.inputs.values().map(|input| (input.kind, input.components, input.scalar)).collect();
    let plain = |location| InputKind::Location {
        location,
        interpolation: Interpolation::Perspective,
        sampling: Sampling::Center,
    };
    assert_eq!(inputs[0], (InputKind::Builtin(Builtin::VertexIndex), 1, Scalar::U32));
    assert_eq!(inputs[1], (plain(3), 3, Scalar::F32));
    let kinds: Vec<_> = vs.outputs.values().map(|output| output.kind).collect();
    assert_eq!(kinds[0], OutputKind::Builtin(Builtin::Position));
    let flat =
        OutputKind::Location { location: 1, blend_src: 0, interpolation: Interpolation::Flat };
    assert_eq!(kinds[1], flat);
    let uv = fs.inputs.values().find(|input| input.name == "uv").expect("uv is an input");
    let linear = InputKind::Location {
        location: 0,
        interpolation: Interpolation::Linear,
        sampling: Sampling::Centroid,
    };
    assert_eq!(uv.kind, linear);
    let ops: Vec<ssa::Op> = fs.insts.values().map(|inst| inst.op).collect();
    assert!(ops.contains(&ssa::Op::Demote));
    assert!(!ops.contains(&ssa::Op::Exit), "a WGSL discard goes on as a helper");
}

#[test]
fn every_instruction_of_a_body_knows_its_source_line() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: f32;\n@compute @workgroup_size(1)\nfn main() {\n  let a = o * 2.0;\n  o = a + 1.0;\n}\n";
    let parsed = parse(Source::Wgsl(text), "s.wgsl", &Options::default()).expect("it is valid");
    let func = &parsed.module.funcs[0];
    let line = |op| {
        let inst = func.insts.values().find(|inst| inst.op == op).expect("it is there");
        parsed.source.location(inst.span).expect("it has a place").line
    };
    assert_eq!(line(ssa::Op::FMul), 4);
    assert_eq!(line(ssa::Op::FAdd), 5);
    assert_eq!(line(ssa::Op::BufferStore), 5);
}

#[test]
fn the_lanes_of_a_vector_operation_are_one_bundle() {
    let text = "@group(0) @binding(0) var<storage, read_write> o: vec4<f32>;\n@compute @workgroup_size(1) fn main() { o = o * o; }";
    let parsed = parse(Source::Wgsl(text), "b.wgsl", &Options::default()).expect("it is valid");
    let func = &parsed.module.funcs[0];
    let bundles: Vec<_> = func
        .insts
        .values()
        .filter(|inst| inst.op == ssa::Op::FMul)
        .map(|inst| inst.bundle.expect("it is a lane"))
        .collect();
    assert_eq!(bundles.len(), 4);
    for (lane, bundle) in bundles.iter().enumerate() {
        assert_eq!((bundle.id(), usize::from(bundle.lane())), (bundles[0].id(), lane));
    }
}

#[test]
fn subgroup_functions_become_ballots_shuffles_and_reductions() {
    let text = "enable subgroups;
@group(0) @binding(0) var<storage, read_write> o: array<vec4u>;
@compute @workgroup_size(16) fn main(@builtin(subgroup_invocation_id) lane: u32) {
    let ballot = subgroupBallot(lane < 3u);
    let sum = subgroupAdd(vec2f(f32(lane)));
    let before = subgroupExclusiveAdd(i32(lane)) + subgroupMin(i32(lane));
    let all = subgroupAll(lane < 99u);
    let other = subgroupShuffleXor(lane, 1u) + subgroupBroadcastFirst(lane) + quadSwapDiagonal(lane);
    subgroupBarrier();
    o[lane] = ballot + vec4u(u32(sum.x + sum.y), u32(before), u32(all), other);
}";
    let parsed = parse(Source::Wgsl(text), "s.wgsl", &Options::default()).expect("it is valid");
    let func = &parsed.module.funcs[0];
    let said: Vec<String> = func
        .to_string()
        .lines()
        .filter_map(|line| {
            let rest = line.split(" = ").nth(1).unwrap_or(line.trim());
            let words: Vec<&str> = rest.split([' ', ',']).take(3).collect();
            let known = ["ballot", "shuffle", "reduce", "subgroup_barrier"];
            known.contains(&words[0]).then(|| {
                let fixed = words.iter().take_while(|word| !word.starts_with('%'));
                fixed
                    .copied()
                    .filter(|word| !word.is_empty() && !word.starts_with(['!', '#']))
                    .collect::<Vec<_>>()
                    .join(" ")
            })
        })
        .collect();
    assert_eq!(
        said,
        [
            "ballot",
            "reduce all fadd",
            "reduce all fadd",
            "reduce exclusive iadd",
            "reduce all smin",
            "reduce all and",
            "shuffle xor",
            "shuffle first",
            "shuffle xor",
            "subgroup_barrier",
        ]
    );
}
