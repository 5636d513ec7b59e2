//! The fragment side of a pipeline from outside: every format that a colour target may have is drawn into and read back, the
//! state says what it is, and what cannot be is refused.

use crate::common::{Folder, gpucc};
use gpucc_emu::format::{Format, Kind};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

const SIZE: &str = "12x10";
const MACHINES: [&str; 6] = ["r700", "r600", "valhall", "gen4", "g45", "rogue"];

/// A triangle whose colours run beyond what formats hold, in both directions.
fn scene(scalar: &str) -> String {
    let color = match scalar {
        "f32" => {
            "vec4f(p.x * 0.125 - 0.25, 1.375 - p.y * 0.1875, p.x * p.y * 0.0078125, p.x * 0.0625)"
        }
        "i32" => "vec4i(i32(p.x) * 30 - 140, i32(p.y) * 9000 - 40000, i32(p.x * p.y), -3)",
        _ => "vec4u(u32(p.x) * 30u, u32(p.y) * 9000u, u32(p.x * p.y) << 25u, 5u)",
    };
    format!(
        "@vertex fn vs(@builtin(vertex_index) v: u32) -> @builtin(position) vec4f {{
            return vec4f(f32(v & 1u) * 4.0 - 1.0, f32(v >> 1u) * 4.0 - 1.0, 0.5, 1.0);
        }}
        @fragment fn fs(@builtin(position) p: vec4f) -> @location(0) vec4<{scalar}> {{
            return {color};
        }}"
    )
}

fn scalar_of(format: Format) -> &'static str {
    match format.kind() {
        Kind::Uint => "u32",
        Kind::Sint => "i32",
        _ => "f32",
    }
}

struct Scene {
    folder: Folder,
}

impl Scene {
    fn new(name: &str) -> Scene {
        let folder = Folder::new(name);
        for scalar in ["f32", "i32", "u32"] {
            fs::write(folder.path(&format!("{scalar}.wgsl")), scene(scalar)).expect("written");
        }
        Scene { folder }
    }

    fn pipeline(&self, targets: &Value) -> String {
        let path = self.folder.path("pipeline.json");
        fs::write(&path, json!({ "fragment": targets }).to_string()).expect("written");
        path
    }

    /// The texels of target 0 after a draw.
    fn drawn(&self, source: &str, machine: &str, pipeline: &str) -> Vec<u8> {
        self.drawn_with(source, machine, pipeline, &["--draw", "3"])
    }

    fn drawn_with(&self, source: &str, machine: &str, pipeline: &str, more: &[&str]) -> Vec<u8> {
        let path = |name: &str| self.folder.path(name);
        let (source, dump) = (path(source), format!("0={}", path("out.bin")));
        let picture = path("out.png");
        let args = [
            "render",
            &source,
            "--target",
            machine,
            "--size",
            SIZE,
            "--pipeline",
            pipeline,
            "--dump",
            &dump,
            "--clear",
            "0.25,0.5,0.75,1",
            "-o",
            &picture,
        ];
        let args = [&args[..], more].concat();
        let output = gpucc(&args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {text}");
        fs::read(self.folder.path("out.bin")).expect("a dump")
    }

    fn refused(&self, targets: &Value, source: &str, machine: &str, exit: i32, words: &str) {
        let pipeline = self.pipeline(targets);
        let source = self.folder.path(source);
        let output =
            gpucc(&[&source, "--target", machine, "--stage", "fragment", "--pipeline", &pipeline]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit), "{targets}: {text}");
        assert!(text.contains(words), "{targets}: {text}");
    }

    /// The settings of the fragment program's report.
    fn state(&self, targets: &Value, source: &str, machine: &str) -> Value {
        let pipeline = self.pipeline(targets);
        let source = self.folder.path(source);
        let output = gpucc(&[
            &source,
            "--target",
            machine,
            "--stage",
            "fragment",
            "--pipeline",
            &pipeline,
            "--emit",
            "json",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        report["shaders"][0]["state"].clone()
    }
}

fn target(format: &str) -> Value {
    json!({ "targets": [{ "format": format }] })
}

#[test]
fn every_format_is_drawn_into_and_read_back() {
    let scene = Scene::new("color-targets");
    for &format in Format::ALL.iter().filter(|format| format.renders()) {
        let source = format!("{}.wgsl", scalar_of(format));
        // What the interpreter draws into words of 32 bits, converted.
        let wide = match format.kind() {
            Kind::Uint => Format::Rgba32Uint,
            Kind::Sint => Format::Rgba32Sint,
            _ => Format::Rgba32Float,
        };
        let exact = scene.drawn(&source, "interp", &scene.pipeline(&target(wide.name())));
        let mut wanted = Vec::new();
        for texel in exact.chunks_exact(16) {
            let mut out = [0; 16];
            format.encode(wide.decode(texel), &mut out);
            wanted.extend_from_slice(&out[..format.bytes() as usize]);
        }
        let distinct: BTreeSet<&[u8]> = wanted.chunks_exact(format.bytes() as usize).collect();
        assert!(distinct.len() > 4, "{format:?} shows nothing");
        for machine in MACHINES {
            let got = scene.drawn(&source, machine, &scene.pipeline(&target(format.name())));
            assert_eq!(got, wanted, "{machine} {format:?}");
        }
    }
}

#[test]
fn what_a_program_leaves_in_its_targets_is_proved() {
    let scene = Scene::new("color-proof");
    for scalar in ["f16", "f32", "i32", "u32"] {
        let text = format!(
            "{} struct F {{ @location(0) a: vec4<{scalar}>, @location(1) b: vec2<{scalar}>, @location(3) c: {scalar} }}
            @fragment fn fs(@location(0) @interpolate({}) v: vec4<{scalar}>) -> F {{
                return F(v * {scalar}(2), v.yx, v.x + v.w);
            }}",
            if scalar == "f16" { "enable f16;" } else { "" },
            if scalar.starts_with('f') { "perspective" } else { "flat" },
        );
        fs::write(scene.folder.path("proof.wgsl"), text).expect("written");
        let source = scene.folder.path("proof.wgsl");
        let fits = |format: &&Format| {
            let wanted = if scalar == "f16" { "f32" } else { scalar };
            format.renders() && scalar_of(**format) == wanted
        };
        let formats: Vec<&str> =
            Format::ALL.iter().filter(fits).map(|format| format.name()).collect();
        let small: Vec<&str> = (formats.iter().copied())
            .filter(|name| name.starts_with("r8") || name.starts_with("r16"))
            .collect();
        for (n, format) in formats.iter().enumerate() {
            let narrow = json!({ "format": small[n % small.len()] });
            let targets = json!({ "targets": [{ "format": format }, narrow, null, narrow] });
            // The second colour has two components.
            let pipeline = scene.pipeline(&targets);
            let args = ["verify", &source, "--target", "rogue", "--pipeline", &pipeline];
            let output = gpucc(&[&args[..], &["--inputs", "4"]].concat());
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{scalar} {format}: {text}");
        }
    }
}

#[test]
fn a_colour_of_bytes_is_one_pack_into_an_output_register() {
    let scene = Scene::new("color-pack");
    for (format, packs, registers) in
        [("rgba8unorm", &["pck.scale.u8888"][..], 1), ("rgba16float", &["pck.f16f16"; 2], 2)]
    {
        let pipeline = scene.pipeline(&target(format));
        let source = scene.folder.path("f32.wgsl");
        let args = [&source[..], "--target", "rogue", "--stage", "fragment"];
        let output = gpucc(&[&args[..], &["--pipeline", &pipeline]].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        let found: Vec<&str> = text.split_whitespace().filter(|w| w.starts_with("pck")).collect();
        assert_eq!(found, packs, "{text}");
        let left = text.split_whitespace().filter(|word| word.starts_with("po")).count();
        assert_eq!(left, registers, "{text}");
    }
}

#[test]
fn a_format_is_what_the_state_says() {
    let scene = Scene::new("color-state");
    for (machine, settings) in [
        ("r700", &["CB_COLOR0_INFO"][..]),
        ("r600", &["CB_COLOR0_INFO"]),
        ("valhall", &["Blend 0"]),
        ("gen4", &["SURFACE_STATE 0"]),
        ("g45", &["SURFACE_STATE 0"]),
        ("rogue", &["PBE_STATE 0", "PBE_REG 0"]),
    ] {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for &format in Format::ALL.iter().filter(|format| format.renders()) {
            let source = format!("{}.wgsl", scalar_of(format));
            let state = scene.state(&target(format.name()), &source, machine);
            let mut all = String::new();
            for setting in settings {
                let words = state[*setting].to_string();
                assert!(words.len() > 10, "{machine} {format:?}: {state}");
                all += &words;
            }
            seen.insert(all);
        }
        let alike = match machine {
            // The tile holds one, two and four normalised bytes alike; red and blue change places behind it.
            "valhall" => 4,
            // Integers of 10 and 2 bits are a word.
            "rogue" => 1,
            _ => 0,
        };
        let formats = Format::ALL.iter().filter(|format| format.renders()).count();
        assert_eq!(seen.len(), formats - alike, "{machine}");
    }
    // Halves, gamma, and blue first.
    let srgb = scene.state(&target("bgra8unorm-srgb"), "f32.wgsl", "rogue");
    assert_eq!(srgb["PBE_STATE 0"]["fields"]["second SOURCE_FORMAT"], Value::Null);
    assert_eq!(srgb["PBE_STATE 0"]["fields"]["second NORM"], 1);
    assert_eq!(srgb["PBE_REG 0"]["fields"]["first GAMMA"], 1);
    assert_eq!(srgb["PBE_REG 0"]["fields"]["first SWIZ0"], 2);
    // Register guide 9: COLOR_16_16_16_16_FLOAT, NUMBER_FLOAT; 3: short exports go to normalised bytes.
    let half = scene.state(&target("rgba16float"), "f32.wgsl", "r700");
    assert_eq!(half["CB_COLOR0_INFO"]["fields"]["FORMAT"], 32);
    assert_eq!(half["DB_SHADER_CONTROL"]["fields"]["DUAL_EXPORT_ENABLE"], 0);
    let bytes = scene.state(&target("bgra8unorm"), "f32.wgsl", "r700");
    assert_eq!(bytes["CB_COLOR0_INFO"]["fields"]["COMP_SWAP"], 1);
    assert_eq!(bytes["DB_SHADER_CONTROL"]["fields"]["DUAL_EXPORT_ENABLE"], 1);
}

#[test]
fn masks_blending_samples_and_depth_are_in_the_state() {
    let scene = Scene::new("color-blend");
    let over = json!({ "src_factor": "src-alpha", "dst_factor": "one-minus-src-alpha" });
    let pipeline = json!({
        "targets": [{ "format": "rgba8unorm", "write_mask": 7, "blend": { "color": over, "alpha": over } }],
        "samples": 4, "alpha_to_coverage": true, "depth_stencil": "depth16unorm",
    });
    let state = scene.state(&pipeline, "f32.wgsl", "r700");
    let field = |register: &str, field: &str| state[register]["fields"][field].clone();
    assert_eq!(field("CB_TARGET_MASK", "TARGET0_ENABLE"), 7);
    assert_eq!(field("CB_COLOR_CONTROL", "TARGET_BLEND_ENABLE"), 1);
    assert_eq!(field("CB_BLEND0_CONTROL", "COLOR_DESTBLEND"), 5);
    assert_eq!(field("PA_SC_AA_CONFIG", "MSAA_NUM_SAMPLES"), 2);
    assert_eq!(field("PA_SC_MODE_CNTL", "MSAA_ENABLE"), 1);
    assert_eq!(field("DB_ALPHA_TO_MASK", "ALPHA_TO_MASK_ENABLE"), 1);
    assert_eq!(field("DB_DEPTH_INFO", "FORMAT"), 1);
    let state = scene.state(&pipeline, "f32.wgsl", "valhall");
    let field = |descriptor: &str, field: &str| state[descriptor]["fields"][field].clone();
    assert_eq!(field("Blend 0", "Mode"), 2);
    assert_eq!(field("Blend 0", "Color Mask"), 7);
    assert_eq!(field("Blend 0", "Load Destination"), 1);
    assert_eq!(field("Draw", "Shader modifies coverage"), 1);
    assert_eq!(field("Draw", "Allow forward pixel to kill"), 0);
    // The chip's samples are its pixels.
    scene.refused(&pipeline, "f32.wgsl", "g45", 3, "pixels of several samples");
    let mut single = pipeline.clone();
    single["samples"] = json!(1);
    single["alpha_to_coverage"] = json!(false);
    let state = scene.state(&single, "f32.wgsl", "g45");
    let field = |descriptor: &str, field: &str| state[descriptor]["fields"][field].clone();
    assert_eq!(field("SURFACE_STATE 0", "color blend enable"), 1);
    // Alpha alone is kept.
    assert_eq!(field("SURFACE_STATE 0", "write disables"), 8);
    assert_eq!(field("COLOR_CALC_STATE", "color source factor"), 3);
    assert_eq!(field("COLOR_CALC_STATE", "alpha destination factor"), 19);
    assert_eq!(field("3DSTATE_DEPTH_BUFFER", "surface format"), 5);
    // A format that the tile has no form of its own for is blended by a program of the driver's.
    let half = json!({ "targets": [{ "format": "rgba16float", "blend": { "color": over } }] });
    assert_eq!(scene.state(&half, "f32.wgsl", "valhall")["Blend 0"]["fields"]["Mode"], 0);
}

#[test]
fn blending_and_masks_draw_what_the_interpreter_draws() {
    let scene = Scene::new("color-draw");
    let factors = ["zero", "one", "src", "one-minus-dst", "dst-alpha", "src-alpha-saturated"];
    for (n, factor) in factors.into_iter().enumerate() {
        let part = json!({ "operation": "add", "src_factor": factor, "dst_factor": "one-minus-src-alpha" });
        let color =
            json!({ "format": "rgba8unorm", "write_mask": 15 - n, "blend": { "color": part } });
        let pipeline = scene.pipeline(&json!({ "targets": [color] }));
        let wanted = scene.drawn("f32.wgsl", "interp", &pipeline);
        for machine in MACHINES {
            assert_eq!(scene.drawn("f32.wgsl", machine, &pipeline), wanted, "{machine} {factor}");
        }
    }
}

#[test]
fn the_mean_of_four_samples_is_the_same_on_each_machine_that_has_them() {
    let scene = Scene::new("several-samples");
    // The diagonal edge and a colour of each sample.
    let source = "@vertex fn vs(@builtin(vertex_index) v: u32) -> @builtin(position) vec4f {
            return vec4f(f32(v & 1u) * 3.0 - 1.0, f32(v >> 1u) * 2.5 - 1.0, 0.5, 1.0);
        }
        @fragment fn fs(@builtin(position) p: vec4f, @builtin(sample_index) s: u32)
            -> @location(0) vec4f {
            return vec4f(fract(p.x), fract(p.y), f32(s) / 4.0, 1.0);
        }";
    fs::write(scene.folder.path("edge.wgsl"), source).expect("written");
    let mut state = json!({ "targets": [{ "format": "rgba16float" }], "samples": 4 });
    let pipeline = scene.pipeline(&state);
    let wanted = scene.drawn("edge.wgsl", "interp", &pipeline);
    for machine in ["r700", "r600", "valhall", "rogue"] {
        assert_eq!(scene.drawn("edge.wgsl", machine, &pipeline), wanted, "{machine}");
    }
    let halves = wanted.as_chunks::<2>().0.iter();
    let floats: Vec<f32> = halves.map(|half| half::f16::from_le_bytes(*half).to_f32()).collect();
    // Samples lie around the centre, and their mean number is 1.5. The pixel lies within.
    assert_eq!(floats[4 * 24..4 * 25], [0.5, 0.5, 0.375, 1.0]);
    // Pixels of the edge have what was there, 0.75, in samples 0 and 1, and 0.5 in sample 2. Sample 3 gives 0.75 too.
    let shares: BTreeSet<u32> = floats.iter().skip(2).step_by(4).map(|b| b.to_bits()).collect();
    assert_eq!(shares, [0.375f32, 0.6875, 0.75].map(f32::to_bits).into());
    state["samples"] = json!(1);
    let pipeline = scene.pipeline(&state);
    assert_ne!(scene.drawn("edge.wgsl", "interp", &pipeline), wanted);
}

/// Two triangles that cut each other, and what the fragments of them give.
const SAMPLED: [&str; 5] = [
    // Interpolated at the sample beside other places.
    "struct F { @location(0) c: vec4f }
    @fragment fn fs(v: V, @location(1) @interpolate(perspective, sample) s: f32) -> F {
        return F(vec4f(v.a, s, v.c, v.p.z));
    }",
    // The position is that of the pixel, and bits of a mask are left.
    "struct F { @location(0) c: vec4f, @builtin(sample_mask) m: u32 }
    @fragment fn fs(v: V) -> F {
        return F(vec4f(fract(v.p.x), v.p.w, v.c, v.a), 0x65u + u32(v.p.x) * 3u);
    }",
    // Masks go in and out of a program that runs for each sample; some are discarded.
    "struct F { @location(0) c: vec4f, @builtin(sample_mask) m: u32 }
    @fragment fn fs(v: V, @builtin(sample_index) s: u32, @builtin(sample_mask) m: u32) -> F {
        if s == 1u && v.p.x > 4.0 { discard; }
        return F(vec4f(fract(v.p.xy), f32(m) / 16.0, dpdx(v.p.x)), ~(m * u32(v.p.y > 7.0)));
    }",
    // Each sample has a depth of its own.
    "struct F { @location(0) c: vec4f, @builtin(frag_depth) d: f32 }
    @fragment fn fs(v: V, @builtin(sample_index) s: u32) -> F {
        return F(vec4f(v.a, f32(s) * 0.125, v.p.z, 1.0), v.p.z + f32(s & 1u) * 0.125);
    }",
    // More words than there are output registers.
    "struct F { @location(0) c: vec4f, @location(1) d: vec4f, @location(2) e: vec4f }
    @fragment fn fs(v: V, @builtin(sample_index) s: u32) -> F {
        return F(vec4f(f32(s) * 0.25), vec4f(v.a), vec4f(v.c));
    }",
];

#[test]
fn programs_of_each_kind_draw_the_same_mean_of_any_number_of_samples() {
    let scene = Scene::new("sampled");
    let over = json!({ "src_factor": "src-alpha", "dst_factor": "one-minus-src-alpha" });
    for (number, fragment) in SAMPLED.iter().enumerate() {
        let extra =
            if number == 0 { "@location(1) @interpolate(perspective, sample) s: f32," } else { "" };
        let given = if number == 0 { "f32(k) * 0.5," } else { "" };
        let source = format!(
            "struct V {{ @builtin(position) p: vec4f, @location(0) @interpolate(perspective, center) a: f32,
                @location(2) @interpolate(linear, centroid) c: f32 }}
            struct O {{ @builtin(position) p: vec4f, @location(0) @interpolate(perspective, center) a: f32, {extra}
                @location(2) @interpolate(linear, centroid) c: f32 }}
            @vertex fn vs(@builtin(vertex_index) v: u32) -> O {{
                let k = v % 3u;
                let w = 1.0 + f32(k);
                let p = vec4f(f32(k & 1u) * 2.75 - 1.0, f32(k >> 1u) * 2.5 - 1.0, f32((k + v / 3u) % 3u) * 0.375, 1.0);
                return O(p * w, f32(k), {given} f32(v) * 0.25);
            }}
            {fragment}"
        );
        fs::write(scene.folder.path("all.wgsl"), source).expect("written");
        for samples in [2, 4, 8] {
            let mut target = json!({ "format": "rgba16float" });
            if number == 4 {
                target["blend"] = json!({ "color": over, "alpha": over });
            }
            let targets = vec![target; if number == 4 { 3 } else { 1 }];
            let state = json!({ "targets": targets, "samples": samples });
            let pipeline = scene.pipeline(&state);
            let more = ["--draw", "6", "--depth"];
            let wanted = scene.drawn_with("all.wgsl", "interp", &pipeline, &more);
            for chip in ["gx6250", "axe1_16m", "bxs_4_64"] {
                if samples == 8 && chip != "gx6250" {
                    continue;
                }
                let more = [&more[..], &["--chip", chip]].concat();
                let drawn = scene.drawn_with("all.wgsl", "rogue", &pipeline, &more);
                assert_eq!(drawn, wanted, "{number} of {samples} samples on {chip}");
            }
        }
    }
}

#[test]
fn depths_beyond_0_and_1_count_where_the_pipeline_says_so() {
    let scene = Scene::new("unrestricted-depth");
    // The second triangle is nearer, if depths below 0 are told apart.
    let source = "struct V { @builtin(position) p: vec4f, @location(0) @interpolate(flat) n: u32 }
        @vertex fn vs(@builtin(vertex_index) v: u32) -> V {
            let k = v % 3u;
            return V(vec4f(f32(k & 1u) * 4.0 - 1.0, f32(k >> 1u) * 4.0 - 1.0, 0.5, 1.0), v / 3u);
        }
        struct F { @location(0) c: vec4f, @builtin(frag_depth) d: f32 }
        @fragment fn fs(v: V) -> F {
            return F(vec4f(f32(v.n)), -0.5 - 0.5 * f32(v.n));
        }";
    fs::write(scene.folder.path("deep.wgsl"), source).expect("written");
    let [file, dump, picture] =
        ["deep.wgsl", "out.bin", "out.png"].map(|name| scene.folder.path(name));
    let dump_to = format!("0={dump}");
    let render = |machine: &str, unrestricted: bool| {
        let format = json!([{ "format": "rgba32float" }]);
        let state = json!({ "targets": format, "unrestricted_depth": unrestricted });
        let pipeline = scene.pipeline(&state);
        let args = [
            "render",
            &file,
            "--target",
            machine,
            "--size",
            "4x4",
            "--draw",
            "6",
            "--depth",
            "--pipeline",
            &pipeline,
            "--dump",
            &dump_to,
            "-o",
            &picture,
        ];
        gpucc(&args)
    };
    for machine in ["interp", "r700", "g45", "valhall", "rogue"] {
        for (unrestricted, wanted) in [(false, 0.0f32), (true, 1.0)] {
            let output = render(machine, unrestricted);
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{machine}: {text}");
            let bytes = fs::read(&dump).expect("a dump");
            assert_eq!(bytes[..4], wanted.to_le_bytes(), "{machine} {unrestricted}");
        }
    }
}

#[test]
fn what_no_target_takes_is_not_computed() {
    let scene = Scene::new("color-dead");
    let source = "
        struct F { @location(0) a: vec4f, @location(1) b: vec4f }
        @fragment fn fs(@builtin(position) p: vec4f) -> F {
            return F(vec4f(p.x, sin(p.y), 0.0, 1.0), vec4f(cos(p.x), exp(p.y), log(p.x), 1.0));
        }";
    fs::write(scene.folder.path("two.wgsl"), source).expect("written");
    for machine in MACHINES {
        let code = |targets: &Value| {
            let pipeline = scene.pipeline(targets);
            let source = scene.folder.path("two.wgsl");
            let output =
                gpucc(&[&source, "--target", machine, "--pipeline", &pipeline, "--emit", "hex"]);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            output.stdout.len()
        };
        let both =
            code(&json!({ "targets": [{ "format": "rgba8unorm" }, { "format": "rgba8unorm" }] }));
        let first = code(&json!({ "targets": [{ "format": "rgba8unorm" }, null] }));
        let red = code(&json!({ "targets": [{ "format": "rgba8unorm", "write_mask": 1 }] }));
        assert!(red < first && first < both, "{machine}: {red}, {first}, {both}");
    }
}

#[test]
fn what_a_target_cannot_be_is_refused() {
    let scene = Scene::new("color-wrong");
    let blend =
        json!({ "color": { "operation": "max", "src_factor": "src-alpha", "dst_factor": "one" } });
    let one = |more: Value| json!({ "targets": [more] });
    let cases = [
        (
            one(json!({ "format": "rgb9e5ufloat" })),
            "`rgb9e5ufloat` is no format of a colour target; these are r8unorm, ",
        ),
        (
            one(json!({ "format": "rgba9" })),
            "`rgba9` is not a WebGPU texture format; known are r8unorm, ",
        ),
        (
            one(json!({ "format": "r32uint" })),
            "`r32uint` takes u32, but entry point 'fs' writes f32 to location 0",
        ),
        (
            one(json!({ "format": "rgba8sint", "blend": {} })),
            "`rgba8sint` holds integers, which are not blended",
        ),
        (
            one(json!({ "format": "rgba8unorm", "blend": blend })),
            "min and max take the factors `one` and `one`",
        ),
        (
            one(
                json!({ "format": "rgba8unorm", "blend": { "color": { "src_factor": "src_alpha" } } }),
            ),
            "unknown variant `src_alpha`",
        ),
        (
            json!({ "targets": [{ "format": "rgba32float" }], "samples": 4 }),
            "`rgba32float` has one sample a pixel",
        ),
        (
            json!({ "samples": 1, "alpha_to_coverage": true }),
            "a pixel of one sample has nothing to cover",
        ),
        (
            json!({ "depth_stencil": "nonsense" }),
            "`nonsense` is not a WebGPU depth or stencil format",
        ),
    ];
    for (targets, words) in cases {
        for machine in ["r700", "valhall", "interp"] {
            scene.refused(&targets, "f32.wgsl", machine, 2, words);
        }
    }
    // Public drivers know of chips that hang or draw wrongly.
    let integers = json!({ "targets": [{ "format": "rgba8uint" }], "samples": 4 });
    scene.refused(&integers, "u32.wgsl", "r700", 3, "integer colour targets of several samples");
    let floats = json!({ "targets": [{ "format": "rg11b10ufloat" }], "samples": 4 });
    scene.refused(&floats, "f32.wgsl", "r600", 3, "rg11b10ufloat targets of several samples");
    let part = |factor: &str| json!({ "color": { "src_factor": factor }, "alpha": {} });
    let two = json!({ "targets": [
        { "format": "rgba8unorm", "blend": part("one") },
        { "format": "rgba8unorm", "blend": part("zero") },
    ] });
    scene.refused(&two, "f32.wgsl", "gen4", 3, "blend equations that differ between targets");
    let wide = json!({ "targets": [{ "format": "rgba16unorm", "blend": {} }] });
    scene.refused(&wide, "f32.wgsl", "gen4", 3, "blending in the format of this target");
    scene.state(&wide, "f32.wgsl", "g45");
    let sixteen = json!({ "targets": [{ "format": "rgba8unorm" }], "samples": 16 });
    for machine in ["r700", "rogue"] {
        scene.refused(&sixteen, "f32.wgsl", machine, 4, "too many samples of a pixel");
    }
    let mut covered = json!({ "targets": [{ "format": "rgba8unorm" }], "samples": 4 });
    let mask = "@fragment fn fs(@builtin(sample_mask) m: u32) -> @location(0) vec4f {
        return vec4f(f32(m));
    }";
    fs::write(scene.folder.path("mask.wgsl"), mask).expect("written");
    scene.refused(&covered, "mask.wgsl", "rogue", 6, "covered samples of whole pixels");
    covered["alpha_to_coverage"] = json!(true);
    scene.refused(&covered, "f32.wgsl", "rogue", 6, "alpha that covers samples");
}
