//! Threads on one compiler: equal bytes, and memory that does not grow.

use crate::calls::{Compiler, copied, zeros};
use gpucc_capi::compiler::gpucc_result_destroy;
use gpucc_capi::result::gpucc_result_info;
use gpucc_capi::status::gpucc_status;

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
