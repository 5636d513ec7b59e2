//! Keys and blobs through the interface.

use crate::calls::{Compiler, bytes, copied, said, wgsl_source, zeros};
use gpucc_capi::abi::gpucc_bytes;
use gpucc_capi::compiler::{gpucc_compile_pair, gpucc_result_destroy};
use gpucc_capi::device::{
    gpucc_device_bind_buffer, gpucc_device_create, gpucc_device_destroy, gpucc_device_dispatch,
    gpucc_device_read, gpucc_verification, gpucc_verify,
};
use gpucc_capi::gpucc_last_message;
use gpucc_capi::input::{gpucc_options, gpucc_request};
use gpucc_capi::result::{gpucc_result, gpucc_result_info, gpucc_result_json};
use gpucc_capi::status::gpucc_status;
use gpucc_capi::store::{
    gpucc_key, gpucc_pair_keys, gpucc_request_key, gpucc_result_blob, gpucc_result_key,
    gpucc_result_load,
};
use std::ptr::{null, null_mut};

const PAIR: &str = "
    struct Corner { @builtin(position) position: vec4f, @location(0) one: vec4f, @location(1) two: vec4f }
    @vertex fn corner(@location(0) at: vec4f) -> Corner { return Corner(at, at, at * 2.0); }
    @fragment fn shade(corner: Corner) -> @location(0) vec4f { return corner.two; }";

const NO_KEY: gpucc_key = gpucc_key { bytes: [0; 32] };

fn key(compiler: &Compiler, request: &gpucc_request) -> gpucc_key {
    let mut key = NO_KEY;
    // SAFETY: they lead to what they say.
    let status = unsafe { gpucc_request_key(compiler.0, request, &mut key) };
    assert_eq!(status, gpucc_status::GPUCC_OK);
    key
}

fn load(
    compiler: &Compiler,
    request: &gpucc_request,
    key: &gpucc_key,
    blob: &[u8],
) -> (gpucc_status, *mut gpucc_result) {
    let mut result = null_mut();
    // SAFETY: they lead to what they say.
    let status = unsafe { gpucc_result_load(compiler.0, request, key, bytes(blob), &mut result) };
    (status, result)
}

/// The key that a result knows, or how asking for it ends.
fn own_key(result: *const gpucc_result) -> Result<gpucc_key, gpucc_status> {
    let mut key = gpucc_key { bytes: [7; 32] };
    // SAFETY: it is a result or null, and the place is one.
    match unsafe { gpucc_result_key(result, &mut key) } {
        gpucc_status::GPUCC_OK => Ok(key),
        status => {
            assert_eq!(key, NO_KEY);
            Err(status)
        }
    }
}

#[test]
fn a_result_knows_the_key_of_its_request() {
    let compiler = Compiler::new("valhall");
    let wrong = wgsl_source("@compute @workgroup_size(1) fn m() { let x = y; }");
    let request = gpucc_request { source: &wrong, ..zeros() };
    let (status, result) = compiler.request(&request);
    assert_eq!(status, gpucc_status::GPUCC_INVALID);
    assert_eq!(own_key(result), Ok(key(&compiler, &request)), "failures have keys");
    // SAFETY: it is a result.
    unsafe { gpucc_result_destroy(result) };
    let text = gpucc_capi::input::gpucc_source { data: bytes(b"\xff\xfe"), ..wrong };
    let (status, result) = compiler.request(&gpucc_request { source: &text, ..zeros() });
    assert_eq!(status, gpucc_status::GPUCC_INVALID);
    assert_eq!(own_key(result), Err(gpucc_status::GPUCC_USAGE));
    assert!(said(gpucc_last_message()).contains("has no key"));
    // SAFETY: it is a result.
    unsafe { gpucc_result_destroy(result) };
    assert_eq!(own_key(null()), Err(gpucc_status::GPUCC_USAGE));
}

/// The report without the times.
fn report(result: *const gpucc_result) -> String {
    // SAFETY: it is a result.
    let json = said(unsafe { gpucc_result_json(result) });
    json.lines().filter(|line| !line.contains("_microseconds")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_loaded_result_tells_what_the_compiled_one_did() {
    let text = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] = id.x; }";
    for target in ["r700", "g45", "valhall", "rogue"] {
        let compiler = Compiler::new(target);
        let (source, options) = (wgsl_source(text), zeros::<gpucc_options>());
        let request = gpucc_request { source: &source, options: &options, ..zeros() };
        let key = key(&compiler, &request);
        let (status, result) = compiler.request(&request);
        assert_eq!(status, gpucc_status::GPUCC_OK, "{target}");
        // SAFETY: it is a result, and the key a key.
        let blob = copied(unsafe { gpucc_result_blob(result, &key) });
        let (status, loaded) = load(&compiler, &request, &key, &blob);
        assert_eq!(status, gpucc_status::GPUCC_OK, "{target}: {}", said(gpucc_last_message()));
        assert_eq!(report(result), report(loaded), "{target}");
        assert_eq!([own_key(result), own_key(loaded)], [Ok(key), Ok(key)], "{target}");
        // SAFETY: they are results.
        unsafe {
            assert!(!gpucc_result_info(loaded).is_null());
            let mut proof =
                gpucc_verification { invocations: 0, words: 0, inputs: 0, mismatches: 0 };
            assert_eq!(gpucc_verify(loaded, 2, 0, &mut proof), gpucc_status::GPUCC_USAGE);
            assert!(gpucc_result_blob(loaded, &key).data.is_null(), "it has a blob already");
            assert!(gpucc_result_blob(result, &NO_KEY).data.is_null(), "the key is another");
            gpucc_result_destroy(loaded);
            gpucc_result_destroy(result);
        }
        let mut damaged = blob.clone();
        damaged[blob.len() - 1] ^= 1;
        for (blob, key) in [(&damaged[..], &key), (&blob[..40], &key), (&blob[..], &NO_KEY)] {
            let (status, none) = load(&compiler, &request, key, blob);
            assert_eq!((status, none.is_null()), (gpucc_status::GPUCC_USAGE, true), "{target}");
        }
    }
}

#[test]
fn a_loaded_program_without_bounds_runs_and_a_stop_is_not_taken_for_a_bug() {
    let text = "struct Work { at: u32, words: array<u32> }
        @group(0) @binding(0) var<storage, read_write> work: Work;
        @compute @workgroup_size(1) fn main() { work.words[work.at] = 5u; }";
    let compiler = Compiler::new("valhall");
    let (source, options) = (wgsl_source(text), gpucc_options { robust: 2, ..zeros() });
    let request = gpucc_request { source: &source, options: &options, ..zeros() };
    let key = key(&compiler, &request);
    let (status, result) = compiler.request(&request);
    assert_eq!(status, gpucc_status::GPUCC_OK);
    // SAFETY: it is a result, and the key a key.
    let blob = copied(unsafe { gpucc_result_blob(result, &key) });
    let (status, loaded) = load(&compiler, &request, &key, &blob);
    assert_eq!(status, gpucc_status::GPUCC_OK);
    let run = |result: *const gpucc_result, at: u32| {
        let (mut device, mut out, mut size) = (null_mut(), [0; 12], 0);
        let data: Vec<u8> = [at, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
        let place = zeros();
        // SAFETY: they lead to what they say.
        unsafe {
            assert_eq!(gpucc_device_create(result, null(), &mut device), gpucc_status::GPUCC_OK);
            let bound = gpucc_device_bind_buffer(device, &place, bytes(&data));
            assert_eq!(bound, gpucc_status::GPUCC_OK);
            let status = gpucc_device_dispatch(device, 1, 1, 1);
            gpucc_device_read(device, &place, out.as_mut_ptr(), out.len(), &mut size);
            gpucc_device_destroy(device);
            (status, out[8])
        }
    };
    for (result, beyond) in
        [(result, gpucc_status::GPUCC_MISMATCH), (loaded, gpucc_status::GPUCC_USAGE)]
    {
        assert_eq!(run(result, 1), (gpucc_status::GPUCC_OK, 5));
        assert_eq!(run(result, 1 << 20).0, beyond, "{}", said(gpucc_last_message()));
    }
    assert!(said(gpucc_last_message()).contains("loaded"), "{}", said(gpucc_last_message()));
    // SAFETY: nobody uses them any more.
    unsafe {
        gpucc_result_destroy(result);
        gpucc_result_destroy(loaded);
    }
}

#[test]
fn keys_of_a_pair_depend_on_both_stages() {
    let compiler = Compiler::new("valhall");
    let keys = |fragment: &str| {
        let (vs, fs) = (wgsl_source(PAIR), wgsl_source(fragment));
        let request = |source| gpucc_request { source, ..zeros() };
        let (vertex, fragment) = (request(&raw const vs), request(&raw const fs));
        let (mut first, mut second) = (NO_KEY, NO_KEY);
        let (mut one, mut two) = (null_mut(), null_mut());
        // SAFETY: they lead to what they say.
        unsafe {
            let status = gpucc_pair_keys(compiler.0, &vertex, &fragment, &mut first, &mut second);
            assert_eq!(status, gpucc_status::GPUCC_OK);
            let status = gpucc_compile_pair(compiler.0, &vertex, &fragment, &mut one, &mut two);
            assert_eq!(status, gpucc_status::GPUCC_OK);
            let blobs =
                [copied(gpucc_result_blob(one, &first)), copied(gpucc_result_blob(two, &second))];
            assert_eq!([own_key(one), own_key(two)], [Ok(first), Ok(second)]);
            let (status, loaded) = load(&compiler, &vertex, &first, &blobs[0]);
            assert_eq!(status, gpucc_status::GPUCC_OK);
            assert_eq!(report(one), report(loaded));
            for result in [one, two, loaded] {
                gpucc_result_destroy(result);
            }
            (first, second, blobs)
        }
    };
    let (plain, other) = (keys(PAIR), keys(&PAIR.replace("corner.two", "corner.one")));
    assert_eq!(plain, keys(PAIR));
    assert_ne!(plain.0, other.0, "the vertex stage writes something else");
    assert_ne!(plain.1, other.1);
    assert_ne!(plain.0, plain.1);
}

#[test]
fn null_pointers_are_usage() {
    let compiler = Compiler::new("r700");
    let source = wgsl_source(PAIR);
    let request = gpucc_request { source: &source, stage: 2, ..zeros() };
    let mut key = NO_KEY;
    let none = gpucc_bytes { data: null(), size: 3 };
    let mut result = null_mut();
    // SAFETY: null is allowed to be given.
    unsafe {
        let usage = gpucc_status::GPUCC_USAGE;
        assert_eq!(gpucc_request_key(null(), &request, &mut key), usage);
        assert_eq!(gpucc_request_key(compiler.0, null(), &mut key), usage);
        assert_eq!(gpucc_request_key(compiler.0, &request, null_mut()), usage);
        assert!(gpucc_result_blob(null(), &key).data.is_null());
        assert_eq!(gpucc_result_load(compiler.0, &request, null(), none, &mut result), usage);
        assert_eq!(gpucc_result_load(compiler.0, &request, &key, none, &mut result), usage);
        assert_eq!(gpucc_result_load(compiler.0, &request, &key, none, null_mut()), usage);
    }
}
