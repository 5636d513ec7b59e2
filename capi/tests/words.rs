//! Words of the state that a driver made: an emulated machine starts from them, refuses them, or says that it does not look.

use crate::calls::{Compiler, bytes, said, text, wgsl_source, zeros};
use gpucc_capi::abi::gpucc_text;
use gpucc_capi::compiler::{gpucc_compile_pair, gpucc_result_destroy};
use gpucc_capi::device as d;
use gpucc_capi::draw::gpucc_draw;
use gpucc_capi::gpucc_last_message;
use gpucc_capi::input::gpucc_request;
use gpucc_capi::result::{gpucc_result, gpucc_result_info};
use gpucc_capi::state::{
    gpucc_blend_component, gpucc_color_target, gpucc_fragment_state, gpucc_pipeline,
};
use gpucc_capi::status::gpucc_status::{
    self, GPUCC_INTERNAL, GPUCC_NOT_YET, GPUCC_OK, GPUCC_USAGE,
};
use gpucc_capi::typed::gpucc_setting_kind;
use gpucc_capi::upload::gpucc_device_set_words;
use std::collections::BTreeMap;
use std::ptr::{null, null_mut};

const COMPUTE: &str = "var<workgroup> w: array<u32, 4>;
    @group(0) @binding(0) var<storage, read_write> o: array<u32, 4>;
    @compute @workgroup_size(4) fn m(@builtin(local_invocation_index) i: u32) {
        w[3u - i] = i + 1u; workgroupBarrier(); o[i] = w[i]; }";

const DRAWN: &str = "@group(0) @binding(0) var<storage, read_write> o: array<u32, 4>;
    @group(0) @binding(1) var t: texture_2d<f32>;
    @group(0) @binding(2) var s: sampler;
    struct Corner { @builtin(position) at: vec4f, @location(0) color: vec4f }
    @vertex fn v(@builtin(vertex_index) n: u32) -> Corner {
        let at = vec4f(f32(i32(n & 1u) * 4 - 1), f32(i32(n >> 1u) * 4 - 1), 0.0, 1.0);
        return Corner(at, at * 0.25 + 0.5);
    }
    struct Pixel { @location(0) color: vec4f, @builtin(frag_depth) depth: f32 }
    @fragment fn f(corner: Corner) -> Pixel {
        o[1] = 7u;
        return Pixel(corner.color + textureSample(t, s, corner.color.xy), 0.5);
    }";

/// A setting that has words, its stage, its words, and the bits of them that are the program's.
struct Words {
    stage: u32,
    name: gpucc_text,
    shown: String,
    words: Vec<u32>,
    masks: Vec<u32>,
}

/// A program or a pair on a device, and what it does there.
struct Machine {
    device: *mut d::gpucc_device,
    results: Vec<*mut gpucc_result>,
    settings: Vec<Words>,
    numbers: Vec<(u32, gpucc_text)>,
    /// Of the texture.
    layers: u32,
}

/// The settings of a result: those with words, and those that are numbers.
unsafe fn settings(
    stage: u32,
    result: *const gpucc_result,
    all: &mut Vec<Words>,
    numbers: &mut Vec<(u32, gpucc_text)>,
) {
    // SAFETY: it is a result, which has as many settings and words as it says.
    unsafe {
        let info = &*gpucc_result_info(result);
        for n in 0..info.setting_count {
            let setting = &**info.settings.add(n);
            let (words, masks) = match setting.kind {
                k if k == gpucc_setting_kind::GPUCC_SETTING_DESCRIPTOR as u32 => (
                    std::slice::from_raw_parts(setting.words, setting.word_count).to_vec(),
                    std::slice::from_raw_parts(setting.masks, setting.word_count).to_vec(),
                ),
                k if k == gpucc_setting_kind::GPUCC_SETTING_REGISTER as u32 => {
                    (vec![setting.value], vec![setting.mask])
                }
                k => {
                    if k == gpucc_setting_kind::GPUCC_SETTING_NUMBER as u32 {
                        numbers.push((stage, setting.name));
                    }
                    continue;
                }
            };
            let shown = format!("{stage} {}", said(setting.name));
            all.push(Words { stage, name: setting.name, shown, words, masks });
        }
    }
}

impl Machine {
    fn new(target: &str, wgsl: &str) -> Machine {
        Machine::with(target, wgsl, null())
    }

    fn with(target: &str, wgsl: &str, pipeline: *const gpucc_pipeline) -> Machine {
        let compiler = Compiler::new(target);
        let source = wgsl_source(wgsl);
        let request = gpucc_request { source: &source, pipeline, ..zeros() };
        let layers = if wgsl.contains("texture_cube") { 6 } else { 1 };
        let (mut one, mut two, mut device) = (null_mut(), null_mut(), null_mut());
        let mut made = Machine {
            device,
            results: Vec::new(),
            settings: Vec::new(),
            numbers: Vec::new(),
            layers,
        };
        let is_pair = wgsl.contains("@vertex");
        // SAFETY: they lead to what they say, here and below.
        unsafe {
            let status = if is_pair {
                gpucc_compile_pair(compiler.0, &request, &request, &mut one, &mut two)
            } else {
                let (status, result) = compiler.request(&request);
                one = result;
                status
            };
            assert_eq!(status, GPUCC_OK, "{target}: {}", said(gpucc_last_message()));
            assert_eq!(d::gpucc_device_create(one, two, &mut device), GPUCC_OK);
            let first = if is_pair { 1 } else { 3 };
            settings(first, one, &mut made.settings, &mut made.numbers);
            if is_pair {
                settings(2, two, &mut made.settings, &mut made.numbers);
            }
            assert_eq!(d::gpucc_device_set_steps(device, 20_000), GPUCC_OK);
        }
        (made.device, made.results) = (device, vec![one, two]);
        made
    }

    fn give(&self, to: &Words, words: &[u32]) -> gpucc_status {
        // SAFETY: the same.
        unsafe {
            gpucc_device_set_words(self.device, to.stage, to.name, words.as_ptr(), words.len())
        }
    }

    /// What a run does: how it ends, and what it leaves.
    fn run(&self) -> (gpucc_status, Vec<u8>) {
        let buffer = zeros::<d::gpucc_place>();
        let texture = d::gpucc_place { binding: 1, ..zeros() };
        let plane = |format| d::gpucc_image {
            width: 4,
            height: 4,
            depth: 1,
            layers: 1,
            levels: 1,
            samples: 1,
            format: text(format),
            ..zeros()
        };
        let (color, depth) = (plane("rgba8unorm"), plane("depth32float"));
        let image = d::gpucc_image { layers: self.layers, ..color };
        let texels: Vec<u8> = (0..64).cycle().take(64 * self.layers as usize).collect();
        let draw = gpucc_draw {
            vertices: 3,
            instances: 1,
            depth_compare: d::gpucc_compare::GPUCC_COMPARE_ALWAYS as u32,
            depth_write: 1,
            ..zeros()
        };
        let mut out = vec![0; 64];
        let mut left = Vec::new();
        let mut size = 0;
        // SAFETY: the same.
        unsafe {
            let status = d::gpucc_device_bind_buffer(self.device, &buffer, bytes(&[0; 16]));
            assert_eq!(status, GPUCC_OK);
            let status = if self.results[1].is_null() {
                d::gpucc_device_dispatch(self.device, 1, 1, 1)
            } else {
                let (device, none) = (self.device, bytes(&[]));
                let given = [
                    d::gpucc_device_bind_image(device, &texture, &image, bytes(&texels)),
                    d::gpucc_device_set_target(device, 0, &color, none),
                    d::gpucc_device_set_target(device, d::GPUCC_DEPTH_TARGET, &depth, none),
                ];
                assert_eq!(given, [GPUCC_OK; 3]);
                d::gpucc_device_draw(device, &draw)
            };
            let to = out.as_mut_ptr();
            d::gpucc_device_read(self.device, &buffer, to, 64, &mut size);
            left.extend_from_slice(&out[..size.min(64)]);
            if !self.results[1].is_null() {
                for target in [0, d::GPUCC_DEPTH_TARGET] {
                    d::gpucc_device_read_target(self.device, target, to, 64, &mut size);
                    left.extend_from_slice(&out[..size.min(64)]);
                }
            }
            (status, left)
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: nobody uses them any more.
        unsafe {
            d::gpucc_device_destroy(self.device);
            self.results.iter().for_each(|&result| gpucc_result_destroy(result));
        }
    }
}

const TARGETS: [&str; 6] = ["r600", "r700", "gen4", "g45", "valhall", "rogue"];

/// The programs that a target has.
fn machines(target: &str) -> Vec<Machine> {
    if target == "r600" {
        // It has no workgroup memory, and stores nothing.
        let wgsl = DRAWN.replace("o[1] = 7u;", "if o[1] == 7u { discard; }");
        return vec![Machine::new(target, &wgsl)];
    }
    [COMPUTE, DRAWN].map(|wgsl| Machine::new(target, wgsl)).into_iter().collect()
}

#[test]
fn numbers_of_the_state_are_no_words() {
    let mut numbers = 0;
    for target in TARGETS {
        for machine in machines(target) {
            for &(stage, name) in &machine.numbers {
                for number in [0, 1, 128, 0x7fff_ffff, u32::MAX] {
                    // SAFETY: they lead to what they say.
                    let status =
                        unsafe { gpucc_device_set_words(machine.device, stage, name, &number, 1) };
                    let message = said(gpucc_last_message());
                    assert_eq!(status, GPUCC_USAGE, "{target}: {}: {message}", said(name));
                    assert!(message.contains("is a number"), "{message}");
                }
                numbers += 1;
            }
            assert_eq!(machine.run().0, GPUCC_OK, "{target}: {}", said(gpucc_last_message()));
        }
    }
    assert!(numbers > 10, "{numbers}");
}

#[test]
fn words_that_no_driver_makes_end_in_a_status() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 16) as u32
    };
    for target in TARGETS {
        for machine in machines(target) {
            for setting in &machine.settings {
                for round in 0..8 {
                    let words = setting.words.iter().map(|word| match round {
                        0 => 0,
                        1 => u32::MAX,
                        2..=4 => word ^ 1 << (random() % 32),
                        _ => random(),
                    });
                    let words: Vec<u32> = words.collect();
                    let status = machine.give(setting, &words);
                    assert!(matches!(status, GPUCC_OK | GPUCC_NOT_YET), "{status:?}");
                    let (status, _) = machine.run();
                    let message = said(gpucc_last_message());
                    let shown = &setting.shown;
                    assert_ne!(status, GPUCC_INTERNAL, "{target}: {shown} {words:x?}: {message}");
                    assert_eq!(machine.give(setting, &setting.words), GPUCC_OK, "{shown}");
                }
            }
            assert_eq!(machine.run().0, GPUCC_OK, "{target}: {}", said(gpucc_last_message()));
        }
    }
}

/// Settings of which no bit shows in any run of these programs: addresses of the driver's own, and what so simple a draw does
/// not ask for. Each is a gap of a machine or of the programs.
const UNSEEN: &[(&str, &[&str])] = &[
    (
        "r600",
        &[
            "1 SQ_CONFIG",
            "1 SQ_LOOP_CONST_32",
            "1 SQ_PGM_START_VS",
            "1 SQ_VSTMP_RING_ITEMSIZE",
            "2 SPI_INTERP_CONTROL_0",
            "2 SQ_CONFIG",
            "2 SQ_GPR_RESOURCE_MGMT_1",
            "2 SQ_LOOP_CONST_0",
            "2 SQ_PGM_START_PS",
            "2 SQ_PSTMP_RING_ITEMSIZE",
        ],
    ),
    (
        "r700",
        &[
            "1 SQ_LOOP_CONST_32",
            "1 SQ_PGM_START_VS",
            "1 SQ_VSTMP_RING_ITEMSIZE",
            "2 SPI_INTERP_CONTROL_0",
            "2 SQ_CONFIG",
            "2 SQ_GPR_RESOURCE_MGMT_1",
            "2 SQ_LOOP_CONST_0",
            "2 SQ_PGM_START_PS",
            "2 SQ_PSTMP_RING_ITEMSIZE",
            "3 SPI_VS_OUT_ID_0",
            "3 SQ_LOOP_CONST_32",
            "3 SQ_PGM_START_VS",
            "3 SQ_VSTMP_RING_ITEMSIZE",
            "3 VGT_MAX_VTX_INDX",
            "3 VGT_VTX_VECT_EJECT_REG",
        ],
    ),
    (
        "valhall",
        &[
            "1 Shader Program (position)",
            "1 Shader Program (varying)",
            "2 Depth/stencil",
            "2 Draw",
            "2 Shader Program",
        ],
    ),
];

#[test]
fn each_setting_is_looked_at_or_refused() {
    let mut unseen = Vec::new();
    for target in TARGETS {
        let mut counts: BTreeMap<String, [u32; 3]> = BTreeMap::new();
        for machine in machines(target) {
            let usual = machine.run();
            assert_eq!(usual.0, GPUCC_OK, "{target}: {}", said(gpucc_last_message()));
            for setting in &machine.settings {
                let count = counts.entry(setting.shown.clone()).or_default();
                for counts in bits(&machine, setting, &usual) {
                    for (sum, more) in count.iter_mut().zip(counts) {
                        *sum += more;
                    }
                }
            }
            assert_eq!(
                machine.run(),
                usual,
                "{target}: the words as gpucc gives them run as before"
            );
        }
        let [mut refused, mut visible] = [0; 2];
        for (name, [no, yes, nothing]) in counts {
            (refused, visible) = (refused + no, visible + yes);
            if yes == 0 && nothing > 0 {
                unseen.push((target, name));
            }
        }
        assert!(visible > 0, "{target}: the machine does not look at its state");
        // These programs bind none of the surfaces whose words the machine refuses.
        let refuses_none_here = ["gen4", "g45"].contains(&target);
        assert_eq!(refused > 0, !refuses_none_here, "{target}: {refused}");
    }
    let known =
        UNSEEN.iter().flat_map(|(target, names)| names.iter().map(move |name| (*target, *name)));
    let unseen: Vec<_> = unseen.iter().map(|(target, name)| (*target, name.as_str())).collect();
    assert_eq!(unseen, known.collect::<Vec<_>>());
}

/// How many bits of each word that are the program's are refused, are seen in a run, and do nothing in any.
fn bits(machine: &Machine, setting: &Words, usual: &(gpucc_status, Vec<u8>)) -> Vec<[u32; 3]> {
    let mut all = Vec::new();
    for (at, mask) in setting.masks.iter().enumerate() {
        let mut counts = [0; 3];
        for bit in (0..32).filter(|bit| mask >> bit & 1 == 1) {
            let mut words = setting.words.clone();
            words[at] ^= 1 << bit;
            let what = match machine.give(setting, &words) {
                GPUCC_NOT_YET => 0,
                GPUCC_OK if machine.run() != *usual => 1,
                GPUCC_OK => 2,
                other => panic!("{}: {other:?}", setting.shown),
            };
            counts[what] += 1;
            assert_eq!(machine.give(setting, &setting.words), GPUCC_OK);
        }
        all.push(counts);
    }
    all
}

#[test]
fn gen4_refuses_words_of_targets_and_looks_at_the_types_of_textures() {
    let cube = DRAWN
        .replace("texture_2d<f32>", "texture_cube<f32>")
        .replace("corner.color.xy", "corner.color.xyz")
        .replace("o[1] = 7u;", "if o[1] == 7u { discard; }");
    let one = gpucc_blend_component { operation: 0, src_factor: 1, dst_factor: 1 };
    let target = gpucc_color_target {
        write_mask: 15,
        format: text("rgba8unorm"),
        blends: 1,
        color: one,
        alpha: one,
        ..zeros()
    };
    let fragment = gpucc_fragment_state {
        samples: 1,
        targets: &target,
        target_count: 1,
        depth_stencil: text("depth32float"),
        ..zeros()
    };
    let pipeline = gpucc_pipeline { fragment: &fragment, ..zeros() };
    for target in ["gen4", "g45"] {
        let machine = Machine::with(target, &cube, &pipeline);
        let usual = machine.run();
        assert_eq!(usual.0, GPUCC_OK, "{target}: {}", said(gpucc_last_message()));
        let mut seen = BTreeMap::new();
        for setting in machine.settings.iter().filter(|setting| setting.stage == 2) {
            seen.insert(setting.shown.clone(), bits(&machine, setting, &usual));
        }
        let refused = |name: &str| {
            seen[name].iter().all(|counts| counts[1..] == [0, 0])
                && seen[name].iter().any(|counts| counts[0] > 0)
        };
        assert!(refused("2 SURFACE_STATE 0"), "{target}: the colour target: {seen:?}");
        assert!(refused("2 3DSTATE_DEPTH_BUFFER"), "{target}: {seen:?}");
        // Blending of the draw, not of these words.
        assert!(seen["2 COLOR_CALC_STATE"][6][0] > 0, "{target}: {seen:?}");
        let textures = seen.iter().filter(|(name, _)| {
            name.starts_with("2 SURFACE_STATE") && *name != "2 SURFACE_STATE 0"
        });
        // Six faces are refused, and each bit of the type is seen.
        let textures: Vec<_> = textures.map(|(_, counts)| counts[0]).collect();
        assert_eq!(textures, [[6, 3, 0]], "{target}: {seen:?}");
    }
}

#[test]
fn words_are_of_a_setting_and_as_many_as_it_has() {
    for target in TARGETS {
        for machine in machines(target) {
            let first = &machine.settings[0];
            assert_eq!(machine.give(first, &[1; 99]), GPUCC_USAGE, "{target}");
            let words = [1];
            // SAFETY: they lead to what they say.
            let status = unsafe {
                let device = machine.device;
                gpucc_device_set_words(device, first.stage, text("no such"), words.as_ptr(), 1)
            };
            assert_eq!(status, GPUCC_USAGE, "{target}");
            // Settings are of the programs, so a pair needs a stage.
            if !machine.results[1].is_null() {
                // SAFETY: the same.
                let status = unsafe {
                    let (words, count) = (first.words.as_ptr(), first.words.len());
                    gpucc_device_set_words(machine.device, 0, first.name, words, count)
                };
                assert_eq!(status, GPUCC_USAGE, "{target}");
            }
        }
    }
}

#[test]
fn what_the_manual_forbids_is_the_callers_with_its_rule() {
    let mut forbidden = 0;
    for target in TARGETS {
        for machine in machines(target) {
            for setting in &machine.settings {
                if machine.give(setting, &vec![0; setting.words.len()]) != GPUCC_OK {
                    continue;
                }
                if machine.run().0 == GPUCC_USAGE {
                    let message = said(gpucc_last_message());
                    assert!(message.contains("gpucc_device_set_words"), "{message}");
                    assert!(!message.contains("bug of gpucc"), "{message}");
                    assert!(!message.contains("internal error"), "{message}");
                    forbidden += 1;
                }
                assert_eq!(machine.give(setting, &setting.words), GPUCC_OK);
            }
        }
    }
    assert!(forbidden > 3, "{forbidden}");
}
