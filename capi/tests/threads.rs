//! Threads on one compiler: equal bytes, and memory that does not grow.

use crate::calls::{Compiler, copied, said, text, wgsl_source, zeros};
use gpucc_capi::compiler::{
    gpucc_compile, gpucc_parse, gpucc_parsed_destroy, gpucc_result_destroy,
};
use gpucc_capi::input::{gpucc_options, gpucc_override, gpucc_request};
use gpucc_capi::result::{gpucc_result_assembly, gpucc_result_info, gpucc_result_json};
use gpucc_capi::status::gpucc_status;
use gpucc_capi::store::{gpucc_key, gpucc_request_key, gpucc_result_blob};
use std::ptr::{null, null_mut};

const SHADERS: [&str; 3] = [
    "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
     @compute @workgroup_size(64) fn m(@builtin(global_invocation_id) i: vec3u) {
         var x = i.x; for (var n = 0u; n < 5u; n++) { x = x * 3u + n; } o[i.x] = x; }",
    "@fragment fn m(@location(0) c: vec4f) -> @location(0) vec4f { return sin(c) * 2.0; }",
    "@vertex fn m(@location(0) p: vec3f) -> @builtin(position) vec4f { return vec4f(p, 1.0); }",
];

fn code(compiler: &Compiler, shader: &str) -> Vec<u8> {
    let (status, result) = compiler.compile(shader, &zeros());
    assert_eq!(status, gpucc_status::GPUCC_OK);
    // SAFETY: it is a result, and its info lives as long.
    unsafe {
        let code = copied((*gpucc_result_info(result)).code);
        gpucc_result_destroy(result);
        code
    }
}

/// Compiles on 16 threads, each so often, and compares.
fn race(compiler: &Compiler, each: usize) {
    let expected = SHADERS.map(|shader| code(compiler, shader));
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let expected = &expected;
            scope.spawn(move || {
                for turn in 0..each {
                    let which = (thread + turn) % SHADERS.len();
                    assert_eq!(code(compiler, SHADERS[which]), expected[which]);
                }
            });
        }
    });
}

#[test]
fn threads_on_one_compiler_give_equal_bytes() {
    race(&Compiler::new("r700"), 12);
}

/// A handle that threads share; `gpucc_capi` asserts that it may be.
struct Shared<T>(*const T);
// SAFETY: the interface lets any thread use it.
unsafe impl<T> Sync for Shared<T> {}

#[test]
fn threads_share_parsed_sources_results_and_keys() {
    let compiler = Compiler::new("r700");
    let source = wgsl_source(
        "override n = 1u; @group(0) @binding(0) var<storage, read_write> o: array<u32, 4>;
         @compute @workgroup_size(4) fn m(@builtin(local_invocation_index) i: u32) { o[i] = i * n; }",
    );
    let chosen = gpucc_override { name: text("n"), value: 3.0, ..zeros() };
    let options = gpucc_options { overrides: &chosen, override_count: 1, ..zeros() };
    let (mut parsed, mut result) = (null_mut(), null_mut());
    let mut key = gpucc_key { bytes: [0; 32] };
    // SAFETY: they lead to what they say, here and below.
    unsafe {
        let done = gpucc_status::GPUCC_OK;
        assert_eq!(gpucc_parse(compiler.0, &source, null(), &mut parsed), done);
        let request = gpucc_request { parsed, options: &options, ..zeros() };
        assert_eq!(gpucc_compile(compiler.0, &request, &mut result), done);
        assert_eq!(gpucc_request_key(compiler.0, &request, &mut key), done);
    }
    let (parsed, result) = (Shared(parsed), Shared(result));
    let options = Shared(&raw const options);
    // Texts and blob are made by whoever asks first.
    let made = &result;
    let seen = || -> [Vec<u8>; 4] {
        // SAFETY: the same.
        unsafe {
            let json = said(gpucc_result_json(made.0));
            let assembly = said(gpucc_result_assembly(made.0));
            let blob = gpucc_result_blob(made.0, &key);
            [json.into(), assembly.into(), copied(blob), copied((*gpucc_result_info(made.0)).code)]
        }
    };
    let all: Vec<[Vec<u8>; 4]> = std::thread::scope(|scope| {
        let run = || {
            let (parsed, options, seen, compiler) = (&parsed, &options, &seen, &compiler);
            scope.spawn(move || {
                let request = gpucc_request { parsed: parsed.0, options: options.0, ..zeros() };
                let (mut own, mut made) = (gpucc_key { bytes: [0; 32] }, null_mut());
                // SAFETY: the same.
                unsafe {
                    let done = gpucc_status::GPUCC_OK;
                    assert_eq!(gpucc_request_key(compiler.0, &request, &mut own), done);
                    assert_eq!(own, key);
                    assert_eq!(gpucc_compile(compiler.0, &request, &mut made), done);
                    let seen = seen();
                    assert_eq!(copied((*gpucc_result_info(made)).code), seen[3]);
                    assert_eq!(copied(gpucc_result_blob(made, &key)), seen[2]);
                    gpucc_result_destroy(made);
                    seen
                }
            })
        };
        let threads: Vec<_> = (0..16).map(|_| run()).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends well")).collect()
    });
    assert!(all.iter().all(|one| *one == all[0] && one.iter().all(|part| !part.is_empty())));
    // SAFETY: nobody uses them any more.
    unsafe {
        gpucc_result_destroy(result.0.cast_mut());
        gpucc_parsed_destroy(parsed.0.cast_mut());
    }
}

/// KiB of memory that the process has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
#[ignore = "ten thousand compilations take a minute without optimisation"]
fn ten_thousand_compilations_take_no_more_memory() {
    let compiler = Compiler::new("r700");
    race(&compiler, 125);
    let before = resident();
    race(&compiler, 625);
    let after = resident();
    assert!(before > 0 && after < before + (16 << 10), "{before} KiB became {after} KiB");
}
