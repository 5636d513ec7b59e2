//! Draws whose stages store: a binding of both stages is one buffer.

use crate::calls::{Compiler, bytes, said, text, wgsl_source, zeros};
use gpucc_capi::compiler::{gpucc_compile_pair, gpucc_result_destroy};
use gpucc_capi::device as d;
use gpucc_capi::draw::gpucc_draw;
use gpucc_capi::gpucc_last_message;
use gpucc_capi::input::gpucc_request;
use gpucc_capi::status::gpucc_status;
use std::ptr::null_mut;

/// The fragment stage counts, and the vertex stage reads what it counts into.
const PAIR: &str = "
    struct Counts { scale: f32, pixels: atomic<u32>, last: u32 }
    @group(0) @binding(0) var<storage, read_write> counts: Counts;
    struct Corner { @builtin(position) position: vec4f, @location(0) @interpolate(flat) seen: u32 }
    @vertex fn corner(@builtin(vertex_index) n: u32) -> Corner {
        let x = f32(i32(n & 1u) * 4 - 1) * counts.scale;
        let y = f32(i32(n >> 1u) * 4 - 1) * counts.scale;
        return Corner(vec4f(x, y, 0.0, 1.0), counts.last);
    }
    @fragment fn shade(corner: Corner) -> @location(0) vec4f {
        atomicAdd(&counts.pixels, 1u);
        counts.last = corner.seen + 1u;
        return vec4f(1.0);
    }";

struct Device(*mut d::gpucc_device);

impl Device {
    fn new(compiler: &Compiler, wgsl: &str) -> Device {
        let source = wgsl_source(wgsl);
        let request = gpucc_request { source: &source, ..zeros() };
        let (mut vs, mut fs, mut device) = (null_mut(), null_mut(), null_mut());
        // SAFETY: they lead to what they say, here and below.
        unsafe {
            let status = gpucc_compile_pair(compiler.0, &request, &request, &mut vs, &mut fs);
            assert_eq!(status, gpucc_status::GPUCC_OK, "{}", said(gpucc_last_message()));
            assert_eq!(d::gpucc_device_create(vs, fs, &mut device), gpucc_status::GPUCC_OK);
            gpucc_result_destroy(vs);
            gpucc_result_destroy(fs);
        }
        let made = Device(device);
        let image = d::gpucc_image {
            width: 4,
            height: 4,
            depth: 1,
            layers: 1,
            levels: 1,
            samples: 1,
            format: text("rgba8unorm"),
            ..zeros()
        };
        // SAFETY: the same.
        let status = unsafe { d::gpucc_device_set_target(made.0, 0, &image, bytes(&[])) };
        assert_eq!(status, gpucc_status::GPUCC_OK);
        made
    }

    fn bind(&self, place: &d::gpucc_place, words: &[u32]) {
        let data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        // SAFETY: the same.
        let status = unsafe { d::gpucc_device_bind_buffer(self.0, place, bytes(&data)) };
        assert_eq!(status, gpucc_status::GPUCC_OK, "{}", said(gpucc_last_message()));
    }

    fn draw(&self) {
        let draw = gpucc_draw { vertices: 3, instances: 1, ..zeros() };
        // SAFETY: the same.
        let status = unsafe { d::gpucc_device_draw(self.0, &draw) };
        assert_eq!(status, gpucc_status::GPUCC_OK, "{}", said(gpucc_last_message()));
    }

    fn read(&self, place: &d::gpucc_place) -> Result<Vec<u32>, gpucc_status> {
        let (mut out, mut size) = ([0; 64], 0);
        // SAFETY: the same.
        match unsafe { d::gpucc_device_read(self.0, place, out.as_mut_ptr(), out.len(), &mut size) }
        {
            gpucc_status::GPUCC_OK => {
                let words = out[..size].chunks(4);
                Ok(words.map(|word| word.try_into().map_or(0, u32::from_le_bytes)).collect())
            }
            other => Err(other),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more.
        unsafe { d::gpucc_device_destroy(self.0) };
    }
}

#[test]
fn a_buffer_of_both_stages_is_one_buffer() {
    let one = 1f32.to_bits();
    for target in ["valhall", "rogue", "interp"] {
        let compiler = Compiler::new(target);
        let device = Device::new(&compiler, PAIR);
        let any = zeros::<d::gpucc_place>();
        let of = |stage| d::gpucc_place { stage, ..zeros() };
        device.bind(&any, &[one, 100, 7]);
        device.draw();
        // The fragment stage has stored, whoever is asked; the next draw goes on from there.
        for place in [any, of(1), of(2)] {
            assert_eq!(device.read(&place), Ok(vec![one, 116, 8]), "{target}");
        }
        device.draw();
        assert_eq!(
            device.read(&any),
            Ok(vec![one, 132, 9]),
            "{target}: vertices load what pixels stored"
        );
        // Another buffer for one stage.
        device.bind(&of(1), &[one, 0, 40]);
        device.draw();
        assert_eq!(device.read(&any), Err(gpucc_status::GPUCC_USAGE), "{target}");
        assert_eq!(device.read(&of(1)), Ok(vec![one, 0, 40]), "{target}");
        assert_eq!(device.read(&of(2)), Ok(vec![one, 148, 41]), "{target}");
        // One again.
        device.bind(&any, &[one, 0, 0]);
        device.draw();
        assert_eq!(device.read(&any), Ok(vec![one, 16, 1]), "{target}");
    }
}

/// Two elements of an array: the fragment stage stores what the vertex stage has read, and one.
const ARRAY: &str = "enable wgpu_binding_array;
    struct Counts { scale: f32, other: u32, last: u32 }
    @group(0) @binding(0) var<storage, read_write> counts: binding_array<Counts, 2>;
    struct Corner { @builtin(position) position: vec4f, @location(0) @interpolate(flat) seen: vec2u }
    @vertex fn corner(@builtin(vertex_index) n: u32) -> Corner {
        let x = f32(i32(n & 1u) * 4 - 1) * counts[0].scale;
        let y = f32(i32(n >> 1u) * 4 - 1) * counts[1].scale;
        return Corner(vec4f(x, y, 0.0, 1.0), vec2u(counts[0].last, counts[1].last));
    }
    @fragment fn shade(corner: Corner) -> @location(0) vec4f {
        counts[0].last = corner.seen.x + 1u;
        counts[1].last = corner.seen.y + 1u;
        return vec4f(1.0);
    }";

fn element(stage: u32, element: u32) -> d::gpucc_place {
    d::gpucc_place { stage, element, ..zeros() }
}

#[test]
fn elements_of_an_array_are_one_buffer_each() {
    let one = 1f32.to_bits();
    for target in ["gen4", "g45", "valhall", "rogue", "interp"] {
        let compiler = Compiler::new(target);
        let device = Device::new(&compiler, ARRAY);
        let last = |stage, n| device.read(&element(stage, n)).map(|words| words[2]);
        // Element 0 is another buffer of each stage, though they hold the same; element 1 is one.
        device.bind(&element(1, 0), &[one, 0, 5]);
        device.bind(&element(2, 0), &[one, 0, 5]);
        device.bind(&element(0, 1), &[one, 0, 7]);
        for round in 1..3 {
            device.draw();
            assert_eq!([last(1, 0), last(2, 0)], [Ok(5), Ok(6)], "{target}");
            assert_eq!([last(1, 1), last(2, 1)], [Ok(7 + round); 2], "{target}");
        }
        assert_eq!(last(0, 0), Err(gpucc_status::GPUCC_USAGE), "{target}");
        // One again, element for element.
        device.bind(&element(2, 1), &[one, 0, 70]);
        device.bind(&element(0, 0), &[one, 0, 50]);
        device.draw();
        assert_eq!([last(1, 0), last(2, 0)], [Ok(51); 2], "{target}");
        assert_eq!([last(1, 1), last(2, 1)], [Ok(9), Ok(10)], "{target}");
    }
}

#[test]
fn stages_may_have_other_counts_of_elements() {
    let one = 1f32.to_bits();
    let wgsl = ARRAY.replace(
        "struct Corner",
        "@group(0) @binding(0) var<storage, read_write> fewer: binding_array<Counts, 1>;
        struct Corner",
    );
    let wgsl = wgsl.replace("counts[0].last = corner.seen.x", "fewer[0].last = corner.seen.x");
    let wgsl = wgsl.replace("counts[1].last = corner.seen.y + 1u;", "");
    for target in ["valhall", "rogue", "interp"] {
        let compiler = Compiler::new(target);
        let device = Device::new(&compiler, &wgsl);
        let last = |stage, n| device.read(&element(stage, n)).map(|words| words[2]);
        device.bind(&element(0, 0), &[one, 0, 5]);
        device.bind(&element(0, 1), &[one, 0, 7]);
        device.draw();
        device.draw();
        assert_eq!([last(0, 0), last(1, 0), last(2, 0)], [Ok(7); 3], "{target}");
        assert_eq!([last(0, 1), last(1, 1)], [Ok(7); 2], "{target}");
        let usage = Err(gpucc_status::GPUCC_USAGE);
        assert_eq!([last(2, 1), last(0, 2)], [usage; 2], "{target}");
        // Element 1 is the vertex stage's alone, so a range of it is, too.
        // SAFETY: they lead to what they say.
        let range = |stage, n| unsafe {
            gpucc_capi::upload::gpucc_device_set_range(device.0, &element(stage, n), 0, 12)
        };
        assert_eq!(range(1, 1), gpucc_status::GPUCC_OK, "{target}");
        assert_eq!(range(1, 0), gpucc_status::GPUCC_USAGE, "{target}");
    }
}

#[test]
fn a_new_device_has_one_buffer_where_stages_declare_other_sizes() {
    let wgsl = "
        @group(0) @binding(0) var<storage, read_write> few: array<u32, 2>;
        @group(0) @binding(0) var<storage, read_write> many: array<u32, 3>;
        @vertex fn corner(@builtin(vertex_index) n: u32) -> @builtin(position) vec4f {
            return vec4f(f32(i32(n & 1u) * 4 - 1), f32(i32(n >> 1u) * 4 - 1), f32(few[0]), 1.0);
        }
        @fragment fn shade() -> @location(0) vec4f { many[2] = 4u; return vec4f(1.0); }";
    for target in ["gen4", "valhall", "interp"] {
        for wgsl in [
            wgsl.to_owned(),
            wgsl.replace("few[0]", "many[2]").replace("many[2] = 4u", "few[1] = 4u"),
        ] {
            let device = Device::new(&Compiler::new(target), &wgsl);
            for stage in 0..3 {
                assert_eq!(device.read(&element(stage, 0)), Ok(vec![0; 3]), "{target}");
            }
            device.draw();
            let stored = if wgsl.contains("few[1] = 4u") { [0, 4, 0] } else { [0, 0, 4] };
            assert_eq!(device.read(&element(0, 0)), Ok(stored.to_vec()), "{target}");
        }
    }
}

#[test]
fn a_buffer_is_one_where_the_machine_draws_by_itself() {
    let one = 1f32.to_bits();
    // Without the atomic, the machine's own units do all of it.
    let wgsl = PAIR.replace("atomicAdd(&counts.pixels, 1u);", "").replace("atomic<u32>", "u32");
    for target in ["gen4", "g45"] {
        let device = Device::new(&Compiler::new(target), &wgsl);
        device.bind(&element(0, 0), &[one, 100, 7]);
        for round in 1..3 {
            device.draw();
            for stage in 0..3 {
                let place = element(stage, 0);
                assert_eq!(device.read(&place), Ok(vec![one, 100, 7 + round]), "{target}");
            }
        }
    }
}
