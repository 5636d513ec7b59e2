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
