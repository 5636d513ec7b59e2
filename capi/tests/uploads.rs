//! Push constants, dynamic offsets, and what must be bound.

use crate::calls::{Compiler, bytes, said, wgsl_source, zeros};
use gpucc_capi::compiler::gpucc_result_destroy;
use gpucc_capi::device as d;
use gpucc_capi::gpucc_last_message;
use gpucc_capi::input::gpucc_request;
use gpucc_capi::result::{gpucc_result, gpucc_result_info};
use gpucc_capi::status::gpucc_status;
use gpucc_capi::upload as u;
use std::ptr::{null, null_mut};

const PUSHED: &str = "struct Pushed { a: vec2u, b: vec2u }
    var<immediate> pushed: Pushed;
    @group(0) @binding(0) var<storage, read_write> o: array<u32>;
    @compute @workgroup_size(1) fn m() { o[0] = pushed.a.y * 1000u + pushed.b.x; o[1] = arrayLength(&o); }";

fn raw(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

struct Run {
    result: *mut gpucc_result,
    device: *mut d::gpucc_device,
}

impl Run {
    fn new(compiler: &Compiler, wgsl: &str) -> Run {
        let source = wgsl_source(wgsl);
        let (status, result) = compiler.request(&gpucc_request { source: &source, ..zeros() });
        assert_eq!(status, gpucc_status::GPUCC_OK, "{}", said(gpucc_last_message()));
        let mut device = null_mut();
        // SAFETY: they lead to what they say, here and below.
        let status = unsafe { d::gpucc_device_create(result, null(), &mut device) };
        assert_eq!(status, gpucc_status::GPUCC_OK);
        Run { result, device }
    }

    fn bind(&self, words: &[u32]) {
        // SAFETY: the same.
        let status =
            unsafe { d::gpucc_device_bind_buffer(self.device, &zeros(), bytes(&raw(words))) };
        assert_eq!(status, gpucc_status::GPUCC_OK);
    }

    fn push(&self, offset: u32, words: &[u32]) -> gpucc_status {
        // SAFETY: the same.
        unsafe { u::gpucc_device_push(self.device, 0, offset, bytes(&raw(words))) }
    }

    fn range(&self, offset: u64, size: u64) -> gpucc_status {
        // SAFETY: the same.
        unsafe { u::gpucc_device_set_range(self.device, &zeros(), offset, size) }
    }

    fn dispatch(&self) -> gpucc_status {
        // SAFETY: the same.
        unsafe { d::gpucc_device_dispatch(self.device, 1, 1, 1) }
    }

    fn read(&self) -> Vec<u8> {
        let (mut out, mut size) = ([0; 256], 0);
        // SAFETY: the same.
        let status = unsafe {
            d::gpucc_device_read(self.device, &zeros(), out.as_mut_ptr(), out.len(), &mut size)
        };
        assert_eq!(status, gpucc_status::GPUCC_OK);
        out[..size].to_vec()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // SAFETY: nobody uses them any more.
        unsafe {
            d::gpucc_device_destroy(self.device);
            gpucc_result_destroy(self.result);
        }
    }
}

#[test]
fn ranges_are_pushed_and_seen() {
    let (ok, usage) = (gpucc_status::GPUCC_OK, gpucc_status::GPUCC_USAGE);
    for target in ["r700", "g45", "valhall", "rogue", "interp"] {
        let compiler = Compiler::new(target);
        let run = Run::new(&compiler, PUSHED);
        run.bind(&[9; 8]);
        assert_eq!([run.push(0, &[1, 2, 3, 4]), run.push(8, &[7, 0, 5, 5])], [ok; 2]);
        // The words in front of the range and behind it stay.
        assert_eq!(run.range(8, 12), ok, "{target}: {}", said(gpucc_last_message()));
        assert_eq!(run.dispatch(), ok, "{target}: {}", said(gpucc_last_message()));
        assert_eq!(run.read(), raw(&[9, 9, 2007, 3, 9, 9, 9, 9]), "{target}");
        assert_eq!([run.range(16, 0), run.dispatch()], [ok; 2]);
        assert_eq!(run.read(), raw(&[9, 9, 2007, 3, 2007, 4, 9, 9]), "{target}");
        assert_eq!([run.range(34, 0), run.range(2, 8), run.range(8, u64::MAX)], [usage; 3]);
        run.bind(&[9; 2]);
        assert_eq!(run.dispatch(), ok);
        assert_eq!(run.read(), raw(&[2007, 2]), "{target}: what is bound anew has no range");
    }
}

#[test]
fn bindings_that_no_emulator_holds_are_a_limit() {
    let shader = "@group(0) @binding(0) var<storage, read_write> o: array<u32, 500000000>;
        @compute @workgroup_size(1) fn m() { o[3] = 1u; }";
    let (source, compiler) = (wgsl_source(shader), Compiler::new("interp"));
    let (status, result) = compiler.request(&gpucc_request { source: &source, ..zeros() });
    assert_eq!(status, gpucc_status::GPUCC_OK);
    let mut device = null_mut();
    // SAFETY: they lead to what they say.
    unsafe {
        let status = d::gpucc_device_create(result, null(), &mut device);
        assert_eq!((status, device.is_null()), (gpucc_status::GPUCC_LIMIT, true));
        gpucc_result_destroy(result);
    }
}

#[test]
fn a_binding_says_what_must_be_bound() {
    let compiler = Compiler::new("valhall");
    let run = Run::new(&compiler, PUSHED);
    // SAFETY: it is a result.
    let info = unsafe { &*gpucc_result_info(run.result) };
    // SAFETY: there are so many.
    let all = (0..info.binding_count).map(|n| unsafe { &**info.bindings.add(n) });
    let mut told: Vec<_> =
        all.map(|one| (one.kind, one.size, one.stride, one.count, one.is_stored)).collect();
    told.sort();
    assert_eq!(told, [(1, 0, 4, 1, 1), (2, 16, 0, 1, 0)]);
}
