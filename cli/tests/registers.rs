//! The registers that R700's report hands to a driver, each field against what the program does
//! (docs/abi-r700.md; "Radeon R6xx/R7xx 3D Register Reference Guide").

use crate::common::{Folder, gpucc, text};
use gpucc_emu::format::{Kind, VertexFormat};
use serde_json::Value;

/// The registers of the only entry point of a source.
struct Registers(Value);

impl Registers {
    fn of(file: &str, source: &str) -> Registers {
        let folder = Folder::new("registers");
        let shader = folder.write(file, source);
        let output = gpucc(&["--target", "r700", "--emit", "json", &shader]);
        assert!(output.status.success(), "{}", text(&output));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        Registers(report["shaders"][0]["state"].clone())
    }
    fn value(&self, name: &str) -> u32 {
        let value = self.0[name]["value"].as_u64();
        value.unwrap_or_else(|| panic!("no {name}: {}", self.0)) as u32
    }
    fn address(&self, name: &str) -> u32 {
        self.0[name]["address"].as_u64().expect("an address") as u32
    }
    fn mask(&self, name: &str) -> u32 {
        self.0[name]["mask"].as_u64().expect("a mask") as u32
    }
    fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some()
    }
}

/// A vertex shader with so many outputs at locations.
fn parameters(count: u32) -> String {
    let fields: Vec<String> =
        (0..count).map(|at| format!("@location({at}) v{at}: vec4f,")).collect();
    let values: Vec<String> = (0..count).map(|at| format!(", a * {at}.5")).collect();
    format!(
        "struct Out {{ @builtin(position) p: vec4f, {} }}
         @vertex fn main(@location(0) a: vec4f) -> Out {{ return Out(a{}); }}",
        fields.concat(),
        values.concat()
    )
}

#[test]
fn a_vertex_program_says_how_many_parameters_it_exports_and_how_they_are_called() {
    for count in [0, 1, 2, 4, 5, 9, 15] {
        let registers = Registers::of("vertex.wgsl", &parameters(count));
        // One at least, counted from one.
        let exported = count.max(1);
        assert_eq!(registers.value("SPI_VS_OUT_CONFIG"), (exported - 1) << 1);
        let mut names = Vec::new();
        for number in 0..exported.div_ceil(4) {
            let name = format!("SPI_VS_OUT_ID_{number}");
            assert_eq!(registers.address(&name), 0x28614 + 4 * number);
            let four = registers.value(&name);
            names.extend((0..4).map(|k| four >> (8 * k) & 0xff));
        }
        let next = format!("SPI_VS_OUT_ID_{}", exported.div_ceil(4));
        assert!(!registers.has(&next), "{count}");
        // Every parameter has a name of its own, and nothing else has one.
        let (own, others) = names.split_at(count as usize);
        let mut own = own.to_vec();
        own.sort_unstable();
        own.dedup();
        assert_eq!(own.len(), count as usize, "{names:?}");
        assert!(own.iter().all(|&name| name != 0));
        assert!(others.iter().all(|&name| name == 0), "{names:?}");
    }
}

#[test]
fn distances_and_point_sizes_are_enabled_one_by_one() {
    for (clip, cull) in [(0, 0), (1, 0), (3, 0), (4, 4), (5, 0), (8, 0), (0, 1), (0, 8), (2, 5)] {
        for size in [false, true] {
            let declared = |name: &str, count: u32| match count {
                0 => String::new(),
                _ => format!("out float gl_{name}Distance[{count}];\n"),
            };
            let written = |name: &str, count: u32| -> String {
                (0..count).map(|at| format!("gl_{name}Distance[{at}] = p.x * {at}.5;\n")).collect()
            };
            let source = format!(
                "#version 450\nlayout(location = 0) in vec4 p;\n{}{}void main() {{\ngl_Position = p;\n{}{}{}}}\n",
                declared("Clip", clip),
                declared("Cull", cull),
                written("Clip", clip),
                written("Cull", cull),
                if size { "gl_PointSize = p.y;\n" } else { "" },
            );
            let control = Registers::of("vertex.vert", &source).value("PA_CL_VS_OUT_CNTL");
            let what = format!("{clip} {cull} {size}: {control:#x}");
            // Culling ones come behind the clipping ones.
            let clips = (1 << clip) - 1;
            let culls = ((1 << cull) - 1) << clip;
            assert_eq!(control & 0xff, clips, "{what}");
            assert_eq!(control >> 8 & 0xff, culls, "{what}");
            // USE_VTX_POINT_SIZE with the vector that it stands in, then both vectors of distances.
            assert_eq!(control >> 16 & 1, u32::from(size), "{what}");
            assert_eq!(control >> 21 & 1, u32::from(size), "{what}");
            assert_eq!(control >> 22 & 1, u32::from(clip + cull > 0), "{what}");
            assert_eq!(control >> 23 & 1, u32::from(clip + cull > 4), "{what}");
            assert_eq!(control >> 17 & 15, 0, "{what}");
            assert_eq!(control >> 24, 0, "{what}");
        }
    }
}

#[test]
fn registers_that_drivers_share_with_programs_keep_what_the_driver_decides() {
    let vertex = Registers::of("vertex.wgsl", &parameters(1));
    let pixel = "@fragment fn main(@location(0) @interpolate(perspective, sample) a: vec4f)
        -> @location(0) vec4f { return a; }";
    let pixel = Registers::of("pixel.wgsl", pixel);
    let compute = "@group(0) @binding(0) var<storage, read_write> w: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { w[i] = i; }";
    let compute = Registers::of("compute.wgsl", compute);
    for registers in [&vertex, &pixel, &compute] {
        // VC_ENABLE, DX9_CONSTS, ALU_INST_PREFER_VECTOR, DX10_CLAMP: priorities are the driver's.
        assert_eq!(registers.mask("SQ_CONFIG"), 0b11101);
        // NUM_CLAUSE_TEMP_GPRS: how registers are divided is the driver's.
        assert_eq!(registers.mask("SQ_GPR_RESOURCE_MGMT_1"), 0xf000_0000);
    }
    // PS_ITER_SAMPLE.
    assert_eq!(pixel.mask("PA_SC_MODE_CNTL"), 1 << 17);
}

/// Locations and types of colours.
type Targets<'a> = &'a [(u32, &'a str)];

#[test]
fn a_pixel_program_says_which_targets_and_components_it_writes() {
    // Targets as components, then the mode of exports and the mask.
    // What nobody writes below the last target is exported masked, and has a component all the same.
    let rows: [(Targets<'_>, u32, u32, u32); 6] = [
        (&[(0, "vec4f")], 1 << 1, 0xf, 1),
        (&[(0, "f32"), (1, "vec2f"), (2, "vec3f"), (3, "vec4f")], 4 << 1, 0xf731, 15),
        (&[(1, "vec2f")], 2 << 1, 0x3f, 3),
        (
            &[(0, "vec4f"), (3, "f32"), (4, "vec2f"), (5, "vec3f"), (6, "vec4f"), (7, "vec2f")],
            8 << 1,
            0x3f73_111f,
            255,
        ),
        (&[(6, "f32")], 7 << 1, 0x0111_111f, 127),
        (&[], 1 << 1, 0xf, 1),
    ];
    for (targets, mode, mask, enabled) in rows {
        let fields: Vec<String> =
            targets.iter().map(|(at, ty)| format!("@location({at}) c{at}: {ty},")).collect();
        let values: Vec<String> = targets.iter().map(|(at, ty)| format!("{ty}({at}.5)")).collect();
        let source = match targets {
            [] => "@fragment fn main() {}".to_owned(),
            _ => format!(
                "struct Out {{ {} }}\n@fragment fn main() -> Out {{ return Out({}); }}",
                fields.concat(),
                values.join(", ")
            ),
        };
        let registers = Registers::of("pixel.wgsl", &source);
        assert_eq!(registers.value("SQ_PGM_EXPORTS_PS"), mode, "{targets:?}");
        assert_eq!(registers.value("CB_SHADER_MASK"), mask, "{targets:?}");
        assert_eq!(registers.value("CB_SHADER_CONTROL"), enabled, "{targets:?}");
    }
    let depth = Registers::of(
        "depth.wgsl",
        "struct Out { @builtin(frag_depth) d: f32, @builtin(sample_mask) m: u32 }
         @fragment fn main(@builtin(position) p: vec4f) -> Out { return Out(p.x * 0.01, 5u); }",
    );
    // Depth and a masked colour: mode 3; depth and mask are exported; z comes late.
    assert_eq!(depth.value("SQ_PGM_EXPORTS_PS"), 3);
    assert_eq!(depth.value("CB_SHADER_MASK"), 0xf);
    assert_eq!(depth.value("CB_SHADER_CONTROL"), 1);
    assert_eq!(depth.value("DB_SHADER_CONTROL"), 1 | 1 << 8);
}

#[test]
fn a_pixel_program_says_when_its_depth_is_tested() {
    let words = "@group(0) @binding(0) var<storage, read_write> w: array<u32>;\n";
    let (early, kill, both) = (
        "@early_depth_test(force)",
        "if p.x < 9.0 { discard; }",
        "if p.x < 9.0 { discard; } w[1] = 5u;",
    );
    // Z_ORDER: 0 late, 1 early; KILL_ENABLE; EXEC_ON_HIER_FAIL and EXEC_ON_NOOP.
    let rows = [
        ("", "", "", 1, 0, [0, 0]),
        ("", "", kill, 1, 1, [0, 0]),
        ("", early, kill, 1, 1, [0, 0]),
        (words, "", "w[1] = 5u;", 0, 0, [1, 0]),
        (words, "", both, 0, 1, [1, 0]),
        (words, early, "w[1] = 5u;", 1, 0, [0, 1]),
    ];
    for (global, attribute, statement, order, kills, hidden) in rows {
        let source = format!(
            "{global}@fragment {attribute} fn main(@builtin(position) p: vec4f) -> @location(0) vec4f {{
             {statement} return p; }}"
        );
        let control = Registers::of("order.wgsl", &source).value("DB_SHADER_CONTROL");
        assert_eq!(control >> 4 & 3, order, "{source}");
        assert_eq!(control >> 6 & 1, kills, "{source}");
        assert_eq!([control >> 10 & 1, control >> 11 & 1], hidden, "{source}");
    }
}

#[test]
fn a_pixel_program_says_what_is_interpolated_for_it_and_how() {
    let kinds = [
        ("perspective, center", 0),
        ("perspective, centroid", 1 << 11),
        ("perspective, sample", 1 << 18),
        ("linear, center", 1 << 12),
        ("linear, centroid", 1 << 12 | 1 << 11),
        ("linear, sample", 1 << 12 | 1 << 18),
        ("flat, first", 1 << 10),
    ];
    for first in kinds {
        for second in kinds {
            let source = format!(
                "@fragment fn main(@location(0) @interpolate({}) a: vec4f,
                   @location(2) @interpolate({}) b: vec2f) -> @location(0) vec4f {{ return a + b.xyxy; }}",
                first.0, second.0
            );
            let registers = Registers::of("inputs.wgsl", &source);
            for (number, (_, bits)) in [first, second].into_iter().enumerate() {
                let name = format!("SPI_PS_INPUT_CNTL_{number}");
                assert_eq!(registers.address(&name), 0x28644 + 4 * number as u32);
                let control = registers.value(&name);
                assert_eq!(control >> 8, bits >> 8, "{source}");
                assert_ne!(control & 0xff, 0, "{source}");
            }
            let control = registers.value("SPI_PS_IN_CONTROL_0");
            let either = |word: &str| first.0.contains(word) || second.0.contains(word);
            assert_eq!(control & 63, 2, "{source}");
            assert_eq!(control >> 8 & 1, 0, "{source}");
            // As public drivers do, whatever is interpolated.
            assert_eq!(control >> 28 & 1, 1, "{source}");
            assert_eq!(control >> 29 & 1, u32::from(either("linear")), "{source}");
            assert_eq!(control >> 31, u32::from(either("sample")), "{source}");
            let per_sample = registers.has("PA_SC_MODE_CNTL");
            assert_eq!(per_sample, either("sample"), "{source}");
            assert_eq!(registers.value("SPI_INPUT_Z"), 0);
        }
    }
    let source = "@fragment fn main(@builtin(position) p: vec4f, @location(1) a: vec4f,
        @builtin(front_facing) f: bool, @builtin(sample_index) s: u32) -> @location(0) vec4f {
        return p + a * select(1.0, 2.0, f) + f32(s); }";
    let registers = Registers::of("system.wgsl", source);
    let control = registers.value("SPI_PS_IN_CONTROL_0");
    let position = control >> 10 & 31;
    assert_eq!(control >> 8 & 1, 1);
    assert_eq!(registers.value("SPI_INPUT_Z"), 1);
    let other = registers.value("SPI_PS_IN_CONTROL_1");
    let (face, sample) = (other >> 12 & 31, other >> 25 & 31);
    // Front faces come as the sign of a number; the sample's number as a fixed point position.
    assert_eq!((other >> 8 & 1, other >> 11 & 1, other >> 24 & 1), (1, 0, 1));
    let mut rows = [0, position, face, sample];
    rows.sort_unstable();
    assert_eq!(control & 63, rows[3] + 1, "what is highest is still loaded");
    for row in [position, face, sample] {
        assert_ne!(row, 0, "row 0 is the location's");
    }
    assert_eq!(registers.value("PA_SC_MODE_CNTL"), 1 << 17);
    // Position is not interpolated.
    let flat = registers.value(&format!("SPI_PS_INPUT_CNTL_{position}"));
    assert_eq!((flat >> 10 & 1, flat >> 12 & 1), (1, 1));
}

#[test]
fn attributes_of_every_format_are_fetched_as_their_numbers() {
    let folder = Folder::new("formats");
    let classes = [("vec4f", "perspective"), ("vec4u", "flat"), ("vec4i", "flat")];
    let mut all = 0;
    for (class, (ty, interpolation)) in classes.into_iter().enumerate() {
        let names: Vec<&str> = VertexFormat::ALL
            .iter()
            .filter(|format| match format.kind() {
                Kind::Uint => class == 1,
                Kind::Sint => class == 2,
                _ => class == 0,
            })
            .map(|format| format.name())
            .collect();
        for names in names.chunks(8) {
            all += names.len();
            let list = |item: &dyn Fn(usize, &str) -> String| -> String {
                let items = names.iter().enumerate();
                let items: Vec<String> = items.map(|(at, name)| item(at, name)).collect();
                items.join(", ")
            };
            let source = format!(
                "struct Out {{ @builtin(position) p: vec4f, {} }}
                 @vertex fn main({}) -> Out {{ return Out(vec4f(1.0), {}); }}",
                list(&|at, _| format!("@location({at}) @interpolate({interpolation}) v{at}: {ty}")),
                list(&|at, _| format!("@location({at}) a{at}: {ty}")),
                list(&|at, _| format!("a{at}")),
            );
            let state = format!(
                r#"{{"vertex":{{"attributes":[{}],"buffers":[{{"stride":{},"step":"vertex"}}]}}}}"#,
                list(&|at, name| format!(
                    r#"{{"location":{at},"format":"{name}","buffer":0,"offset":{}}}"#,
                    16 * at
                )),
                16 * names.len(),
            );
            let shader = folder.write("formats.wgsl", source);
            let state = folder.write("formats.json", state);
            for target in ["r700", "valhall"] {
                let args = ["--inputs", "4", "--target", target, "--pipeline", &state, &shader];
                let output = gpucc(&[&["verify"][..], &args].concat());
                assert!(output.status.success(), "{names:?}: {}", text(&output));
                assert!(text(&output).contains(" 0 mismatches"), "{}", text(&output));
            }
        }
    }
    assert_eq!(all, VertexFormat::ALL.len());
}
