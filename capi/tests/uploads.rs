//! Push constants, dynamic offsets, and words of the state that a driver made.

use crate::calls::{Compiler, bytes, copied, said, text, wgsl_source, zeros};
use gpucc_capi::abi::gpucc_text;
use gpucc_capi::compiler::gpucc_result_destroy;
use gpucc_capi::device as d;
use gpucc_capi::gpucc_last_message;
use gpucc_capi::input::gpucc_request;
use gpucc_capi::result::{gpucc_result, gpucc_result_info};
use gpucc_capi::status::gpucc_status;
use gpucc_capi::typed::gpucc_setting_kind;
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

    fn words(&self, name: gpucc_text, words: &[u32]) -> gpucc_status {
        // SAFETY: the same.
        unsafe { u::gpucc_device_set_words(self.device, 0, name, words.as_ptr(), words.len()) }
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

#[test]
fn a_drivers_state_words_are_what_the_machine_starts_from() {
    let (ok, usage) = (gpucc_status::GPUCC_OK, gpucc_status::GPUCC_USAGE);
    let shader = "var<workgroup> w: array<u32, 4>;
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(4) fn m(@builtin(local_invocation_index) i: u32) {
            w[3u - i] = i + 1u; workgroupBarrier(); o[i] = w[i]; }";
    for target in ["r700", "valhall", "rogue"] {
        let compiler = Compiler::new(target);
        let run = Run::new(&compiler, shader);
        run.bind(&[0; 4]);
        // SAFETY: it is a result, and lives until the end.
        let info = unsafe { &*gpucc_result_info(run.result) };
        let mut refused = 0;
        let mut made = Vec::new();
        for n in 0..info.setting_count {
            // SAFETY: there are so many.
            let setting = unsafe { &**info.settings.add(n) };
            let words = match setting.kind {
                k if k == gpucc_setting_kind::GPUCC_SETTING_DESCRIPTOR as u32 => {
                    // SAFETY: it has as many words.
                    unsafe { std::slice::from_raw_parts(setting.words, setting.word_count) }
                        .to_vec()
                }
                k if k == gpucc_setting_kind::GPUCC_SETTING_REGISTER as u32
                    || k == gpucc_setting_kind::GPUCC_SETTING_NUMBER as u32 =>
                {
                    vec![setting.value]
                }
                _ => continue,
            };
            made.push((setting.name, words));
        }
        assert!(!made.is_empty(), "{target}");
        // The words as gpucc gives them run as before.
        for (name, words) in &made {
            assert_eq!(run.words(*name, words), ok, "{target}: {}", said(gpucc_last_message()));
        }
        assert_eq!(run.dispatch(), ok, "{target}: {}", said(gpucc_last_message()));
        assert_eq!(run.read(), raw(&[4, 3, 2, 1]), "{target}");
        // Others do something else, or are refused; none is our bug.
        for (name, words) in &made {
            assert_eq!(run.words(*name, &vec![0; words.len()]), ok);
            run.bind(&[0; 4]);
            let status = run.dispatch();
            let message = said(gpucc_last_message());
            assert!(matches!(status, s if s == ok || s == usage), "{target}: {message}");
            refused += u32::from(status == usage || run.read() != raw(&[4, 3, 2, 1]));
            assert_eq!(run.words(*name, words), ok);
        }
        assert!(refused > 0, "{target}: the machine does not look at its state");
        assert_eq!(run.words(text("no such"), &[1]), usage);
        assert_eq!(run.words(made[0].0, &[1; 99]), usage);
        assert!(!copied(info.code).is_empty());
    }
}
