//! What is a proof and what is none, what its inputs hold, and that no run goes on for ever.

use crate::common::{Folder, gpucc, text};
use gpucc::pipeline::{ColorTarget, FragmentState};
use gpucc::verify::inputs::{Case, MOST_SMALL, SIZES};
use gpucc::verify::{Plan, Summary, Whole, verify, verify_plan};
use gpucc::{Choice, Compiled, Compiler, Func, Options, Source, SourceText, Target};
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_emu::sampler::{Sampler, Wrap};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::Resource;
use std::collections::BTreeSet;

const MACHINES: [Target; 2] = [Target::R700, Target::VALHALL];

#[track_caller]
fn says(args: &[&str], code: i32, words: &[&str]) {
    let output = gpucc(args);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{args:?}: `{word}` is not in: {said}");
    }
}

/// The one entry point of a text.
#[track_caller]
fn parsed(target: Target, wgsl: &str) -> (Compiler, Func) {
    let compiler = Compiler::new(target, None).expect("built");
    let options = Options::default();
    let mut entries =
        compiler.parse(Source::Wgsl(wgsl), Choice::default(), &options).expect("valid").entries;
    let func = entries.remove(0).func.expect("supported");
    (compiler, func)
}

const ENDLESS: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32, 4>;
    @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
        loop { o[i] = o[i] * 3u + 1u; if (o[i] == 5u) { break; } }
    }";

#[test]
fn a_run_without_an_end_says_how_many_steps_it_took() {
    let folder = Folder::new("endless");
    let path = folder.write("endless.wgsl", ENDLESS);
    for target in ["r700", "valhall", "interp"] {
        let run = ["run", &path, "--target", target, "--groups", "1", "--dump", "0.0"];
        let limited = [&run[..], &["--max-steps", "5000"]].concat();
        says(&limited, 4, &["within 5000 steps", "--max-steps"]);
    }
    let none = ["run", &path, "--target", "r700", "--groups", "1", "--dump", "0.0", "--max-steps"];
    says(&[&none[..], &["0"]].concat(), 2, &["--max-steps"]);
}

#[test]
fn a_proof_that_runs_out_of_steps_is_none() {
    let folder = Folder::new("steps");
    let path = folder.write("endless.wgsl", ENDLESS);
    for target in ["r700", "valhall", "interp"] {
        let verify = ["verify", &path, "--target", target, "--max-steps", "40000"];
        says(&verify, 5, &["no proof: only 0 of 12", "have 40000", "--max-steps"]);
    }
    // One that ends has its proof with as many, and none with fewer.
    let short = ENDLESS.replace("o[i] == 5u", "true");
    let path = folder.write("short.wgsl", short);
    for (steps, code) in [("40000", 0), ("12", 5)] {
        let verify = ["verify", &path, "--target", "r700", "--max-steps", steps];
        says(&verify, code, &[]);
    }
}

#[test]
fn a_proof_that_compares_nothing_that_is_written_is_none() {
    let folder = Folder::new("nothing");
    let shader = |body: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> o: array<u32, 512>;
             @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) g: vec3u) {{ {body} }}"
        )
    };
    let cases = [
        (
            "idle",
            "if (o[0] == 0x12345u && o[1] == 0x54321u) { o[2] = 1u; }",
            5,
            "nothing is written",
        ),
        ("racy", "o[3] = g.x;", 5, "only 0 of the"),
        // One word in seventeen is not racy.
        ("nearly", "o[g.x / 2u] = g.x; if (g.x == 0u) { o[40] = 7u; }", 5, "no proof: only"),
        ("own", "o[g.x] = g.x; o[300] = g.x;", 0, "0 mismatches"),
        // Each workgroup writes the word, but only one invocation of it: one workgroup alone has no race.
        ("groups", "if (g.x % 8u == 3u) { o[3] = g.x; }", 0, "0 mismatches"),
    ];
    for (name, body, code, word) in cases {
        let path = folder.write(&format!("{name}.wgsl"), shader(body));
        for target in ["r700", "valhall", "interp"] {
            let verify = ["verify", &path, "--target", target];
            says(&verify, code, &[word]);
        }
    }
}

/// A shader whose last pass is replaced by one that makes another shader of it: what an unsound rewrite does.
#[track_caller]
fn notices(expression: &str, folded: &str) {
    let shader = |value: &str| {
        format!(
            "@group(0) @binding(0) var<storage> a: array<f32>;
             @group(0) @binding(1) var<storage, read_write> o: array<f32>;
             @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) {{
                 if (g.x < arrayLength(&a) && g.x < arrayLength(&o)) {{ let x = a[g.x]; o[g.x] = {value}; }}
             }}"
        )
    };
    let (compiler, right) = parsed(Target::Interp, &shader(expression));
    let (_, wrong) = parsed(Target::Interp, &shader(folded));
    let mut options = Options::default();
    options.keep_steps = true;
    let mut compiled = compiler.compile(&right, &options).expect("compiles");
    let source = SourceText::new("planted", None);
    let proof =
        |compiled: &Compiled| verify(&compiler, compiled, &source, &options, 12, 0).expect("runs");
    assert!(proof(&compiled).holds(), "{expression}");
    compiled.steps.push(gpucc::Kept { name: "planted", proof: gpucc::Proof::Exact, func: wrong });
    let summary = proof(&compiled);
    let first = summary.first.expect(expression).to_string();
    assert!(first.contains("after pass planted"), "{first}");
}

#[test]
fn folds_that_forget_infinities_nans_or_negative_zeros_are_noticed() {
    notices("x - x", "0.0");
    notices("x * 0.0", "0.0");
    notices("x + 0.0", "x");
    notices("0.0 - x", "-x");
    notices("x / x", "1.0");
    notices("select(1.0, 2.0, x == x)", "2.0");
    notices("select(1.0, 2.0, x < 0.0)", "select(2.0, 1.0, x >= 0.0)");
}

#[test]
fn inputs_have_few_elements_parts_of_one_and_indices_about_the_end() {
    let (_, func) = parsed(
        Target::Interp,
        "struct S { n: vec2u, list: array<vec3f> }
         @group(0) @binding(0) var<storage, read_write> s: S;
         @group(0) @binding(1) var<uniform> many: array<vec4u, 16>;
         @group(0) @binding(2) var<uniform> f: array<vec4f, 8>;
         var<private> fixed: array<f32, 37>;
         @compute @workgroup_size(1) fn main() {
             let at = many[0]; fixed[at.x] = f[at.y].x; s.list[at.z].y = fixed[at.w] + fixed[s.n.x];
         }",
    );
    let [array, index, floats] = [0, 1, 2].map(Resource::from_u32);
    let (mut elements, mut parts, mut usual) = (BTreeSet::new(), BTreeSet::new(), 0);
    let (mut indices, mut words) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..160 {
        let case = Case::new(&func, None, 0, number, &SIZES).expect("can be held");
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four"));
        let size = case.bindings.get(array, 0).bytes().len() as u32 - 16;
        if size == 256 * 16 {
            usual += 1;
        } else {
            assert!(size < (MOST_SMALL + 1) * 16, "{size}");
            elements.insert(size / 16);
            parts.insert(size % 16);
        }
        let bytes = case.bindings.get(index, 0).bytes();
        indices.extend(bytes.chunks_exact(4).map(word));
        let bytes = case.bindings.get(floats, 0).bytes();
        assert_eq!(bytes.len(), 128);
        words.extend(bytes.chunks_exact(4).map(word));
    }
    assert_eq!(usual, 120);
    assert_eq!(elements, BTreeSet::from([0, 1, 2, 3]));
    assert!(parts.iter().any(|part| part % 4 != 0), "{parts:?}");
    assert!(parts.contains(&0) && parts.contains(&4), "{parts:?}");
    for edge in [0, 36, 37, 38, 7, 8, 9, 255, 256, 257, 0x8000_0000, u32::MAX] {
        assert!(indices.contains(&edge), "{edge:#x}: {indices:?}");
    }
    for special in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0] {
        assert!(words.contains(&special.to_bits()), "{special}");
    }
}

#[test]
fn samplers_of_half_of_the_inputs_wrap_in_another_way_on_each_axis() {
    let (_, func) = parsed(
        Target::Interp,
        "@group(0) @binding(0) var t: texture_2d<f32>;
         @group(0) @binding(1) var s: sampler;
         @fragment fn main(@location(0) p: vec2f) -> @location(0) vec4f { return textureSample(t, s, p); }",
    );
    let mut seen = BTreeSet::new();
    for number in 0..1000 {
        let case = Case::new(&func, None, 0, number, &SIZES).expect("can be held");
        let Bound::Sampler(sampler) = case.bindings.get(Resource::from_u32(1), 0) else {
            panic!("a sampler is bound");
        };
        let [x, y, z] = sampler.wrap;
        assert_eq!(x != y && y != z && x != z, number % 2 == 1, "input {number}");
        seen.insert(format!("{x:?} {y:?}"));
    }
    // Every pair of different modes, and the usual sampler.
    assert_eq!(seen.len(), 31, "{seen:?}");
}

/// Worked out by hand: columns repeat, rows clamp and mirror, so that no two modes may be exchanged.
#[test]
fn a_sampler_wraps_each_axis_in_its_own_way_on_every_machine() {
    const WGSL: &str = "@group(0) @binding(0) var t: texture_3d<f32>;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage> at: array<vec4f, 4>;
        @group(0) @binding(3) var<storage, read_write> o: array<f32, 4>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
            o[i] = textureSampleLevel(t, s, at[i].xyz, 0.0).x;
        }";
    // Texel (x, y, z) of 4 x 4 x 4 holds x + 10 y + 100 z.
    let extent = Extent { dim: gpucc_ir::ssa::Dim::D3, depth: 4, ..Extent::plane(4, 4) };
    let mut image = Image::new(Format::R32Float, extent).expect("fits");
    for n in 0..64u32 {
        let (x, y, z) = (n % 4, n / 4 % 4, n / 16);
        let at = Texel { x, y, z, ..Texel::default() };
        image.store(at, [((x + 10 * y + 100 * z) as f32).to_bits(), 0, 0, 0]);
    }
    let sampler = Sampler { wrap: [Wrap::Repeat, Wrap::Clamp, Wrap::Mirror], ..Sampler::default() };
    // Texel 5 of a row is 1 repeated, 3 clamped, 2 mirrored; texel -2 is 2, 0 and 1.
    let [five, two] = [1.375f32, -0.375];
    let at = [[five; 3], [two; 3], [five, two, five], [two, five, two]];
    let expected = [231.0f32, 102.0, 201.0, 132.0];
    for target in [Target::R700, Target::VALHALL, Target::Interp] {
        let (compiler, func) = parsed(target, WGSL);
        let compiled = compiler.compile(&func, &Options::default()).expect("compiles");
        let source = SourceText::new("wraps", None);
        let mut executor = compiler.executor(&compiled, &Options::default(), &source);
        let bytes = at.iter().flat_map(|[x, y, z]| [*x, *y, *z, 0.0]);
        let mut bindings = Bindings::new(&func);
        for (number, bound) in [
            Bound::Image(image.clone()),
            Bound::Sampler(sampler),
            Bound::Buffer(bytes.flat_map(f32::to_le_bytes).collect()),
        ]
        .into_iter()
        .enumerate()
        {
            let resource = func.resources.iter().find(|(_, data)| data.binding == number as u32);
            bindings.set(resource.expect("is used").0, bound);
        }
        executor.dispatch(&mut bindings, [1; 3]).expect("ends");
        let output = func.resources.iter().find(|(_, data)| data.binding == 3);
        let output = bindings.get(output.expect("is used").0, 0).bytes();
        let found: Vec<f32> = output
            .chunks_exact(4)
            .map(|word| f32::from_le_bytes(word.try_into().expect("four")))
            .collect();
        assert_eq!(found, expected, "{}", target.name());
    }
}

/// The last workgroup that stores wins, and which that is no machine promises.
#[test]
fn another_order_runs_the_workgroups_in_another_order() {
    const WGSL: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32, 1>;
        @compute @workgroup_size(64) fn main(@builtin(workgroup_id) g: vec3u) { o[0] = g.x; }";
    for target in MACHINES {
        let (compiler, func) = parsed(target, WGSL);
        let options = Options::default();
        let compiled = compiler.compile(&func, &options).expect("compiles");
        let source = SourceText::new("order", None);
        let resource = func.resources.keys().next().expect("the buffer");
        let last = |order: u64| {
            let mut executor = compiler.executor(&compiled, &options, &source);
            executor.set_order(order);
            let mut bindings = Bindings::new(&func);
            bindings.set(resource, Bound::Buffer(vec![0xff; 4]));
            executor.dispatch(&mut bindings, [8, 1, 1]).expect("ends");
            bindings.get(resource, 0).bytes()[0]
        };
        let found: BTreeSet<u8> = (1..=16).map(last).collect();
        assert!(found.len() > 3 && found.iter().all(|&group| group < 8), "{found:?}");
    }
    let histogram = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/histogram.wgsl");
    says(&["verify", histogram, "--target", "valhall", "--adversarial=3"], 0, &["0 mismatches"]);
}

/// Bytes that lie behind a buffer's end are nobody's: a machine that writes there is caught.
#[test]
fn small_buffers_are_proved_where_every_access_asks_for_the_length() {
    let shader = "struct S { n: u32, list: array<vec2u> }
        @group(0) @binding(0) var<storage, read_write> s: S;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) g: vec3u) {
            if (g.x < arrayLength(&s.list)) { s.list[g.x] += vec2u(1u, g.x); }
            if (g.x < arrayLength(&o)) { o[g.x] = arrayLength(&s.list) + g.x; }
        }";
    for target in MACHINES {
        crate::common::verified(target, Options::default(), "lengths", Source::Wgsl(shader));
    }
}

/// A colour of which a target of bytes keeps the least.
const COLOR: &str = "@group(0) @binding(0) var<uniform> u: vec4f;
    @fragment fn fs(@location(0) v: vec4f) -> @location(0) vec4f { return v * u + 0.001; }";

/// What a plan finds of [`COLOR`] for a target of bytes.
fn of_color(machine: Target, plan: &Plan) -> Summary {
    let target =
        ColorTarget { format: "rgba8unorm".to_owned(), write_mask: ColorTarget::ALL, blend: None };
    let mut options = Options::default();
    options.pipeline.fragment =
        Some(FragmentState { targets: vec![Some(target)], ..FragmentState::default() });
    let (compiler, func) = parsed(machine, COLOR);
    let compiled = compiler.compile(&func, &options).expect("supported");
    let source = SourceText::new("color", None);
    verify_plan(&compiler, &compiled, &source, &options, plan).expect("runs")
}

/// The second proof looks at other bytes: those that the same entry point is without targets.
#[test]
fn where_a_program_packs_the_same_entry_point_without_targets_is_proved_besides() {
    for (machine, packs) in [(Target::ROGUE, true), (Target::VALHALL, false)] {
        let [once, both] =
            [false, true].map(|whole| of_color(machine, &Plan { whole, ..Plan::new(4, 1) }));
        assert!(once.holds() && both.holds(), "{once:?} {both:?}");
        assert!(matches!(once.whole, Whole::NotOwed));
        // What it compares is no word of the first.
        assert_eq!((both.proved, both.owed, both.taken), (once.proved, once.owed, once.taken));
        match both.whole {
            Whole::Tried(found) => {
                assert!(packs && found.holds() && found.owed == once.owed, "{found:?}");
            }
            other => assert!(!packs && matches!(other, Whole::NotOwed), "{other:?}"),
        }
    }
}

#[test]
fn the_proof_without_targets_takes_what_steps_are_left_and_is_none_without_them() {
    let plan = |steps| Plan { whole: true, steps, ..Plan::new(1, 1) };
    let once = of_color(Target::ROGUE, &Plan { whole: false, ..plan(1 << 20) });
    assert!(once.holds() && once.taken >= 16, "{once:?}");
    let steps = once.taken + once.taken / 8;
    let starved = of_color(Target::ROGUE, &plan(steps));
    let Whole::Tried(found) = &starved.whole else { panic!("is owed: {starved:?}") };
    assert!(found.out_of_steps == 1 && starved.taken + found.taken <= steps, "{starved:?}");
    let lack = starved.lack().expect("is no proof");
    assert!(lack.contains("without targets, only 0 of 1 inputs"), "{lack}");
    assert!(starved.failure("rogue").is_some_and(|failure| failure.exit_code() == 5));
    assert!(of_color(Target::ROGUE, &plan(4 * steps)).holds());
}

/// What hangs on a branch by an atomic's result is left out: what both arms may write, and what follows. Other words are proved.
#[test]
fn a_branch_by_the_order_of_invocations_leaves_out_what_it_may_write() {
    let shader = |body: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> next: atomic<u32>;
             @group(0) @binding(1) var<storage, read_write> compact: array<u32, 64>;
             @group(0) @binding(2) var<storage, read_write> own: array<u32, 64>;
             var<workgroup> shared_word: u32;
             @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{
                 own[i] = i * 3u;
                 {body}
             }}"
        )
    };
    let proved = [
        "if (i % 2u == 0u) { let at = atomicAdd(&next, 1u); if (at < 32u) { compact[at] = i; } }",
        // The arm that is not taken counts as well, and what it makes.
        "var a = 0u; if (atomicAdd(&next, 1u) > 1000u) { compact[i] = 1u; a = 1u; } compact[i] = a;",
        // A loop that is left by such a value.
        "loop { let at = atomicAdd(&next, 1u); if (at > 40u || at == i) { break; } compact[at] = i; }",
    ];
    let folder = Folder::new("order");
    for (number, body) in proved.into_iter().enumerate() {
        let path = folder.write(&format!("proved{number}.wgsl"), shader(body));
        for target in ["interp", "valhall", "rogue"] {
            says(&["verify", &path, "--target", target], 0, &[" 0 mismatches"]);
        }
    }
    // What was read before, by anyone, might have been read behind.
    let body = "let before = compact[i]; own[i] = before;
        if (atomicAdd(&next, 1u) > 1000u) { compact[(i + 1u) % 64u] = 1u; }";
    let path = folder.write("late.wgsl", shader(body));
    says(&["verify", &path, "--target", "valhall"], 5, &["no proof"]);
}
