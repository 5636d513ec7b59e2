//! A parsed source whose constants get other values is what a source that is read with these values is.

use crate::calls::{Compiler, bytes, copied, said, text, wgsl_source, zeros};
use gpucc_capi::compiler::{
    gpucc_parse, gpucc_parsed, gpucc_parsed_destroy, gpucc_parsed_outcome, gpucc_result_destroy,
};
use gpucc_capi::input::{gpucc_options, gpucc_override, gpucc_request, gpucc_source};
use gpucc_capi::result::{gpucc_result, gpucc_result_json, gpucc_result_outcome};
use gpucc_capi::status::gpucc_status;
use gpucc_capi::store::{gpucc_result_blob, gpucc_result_key};
use std::ptr::null_mut;

/// Sizes of arrays, a workgroup's size, a branch, and an error that depend on constants.
const ARRAYS: &str = "@id(3) override n: u32 = 2; override fast = false;
    override size = n * 2u + 1u;
    var<workgroup> shared_words: array<u32, size>;
    @group(0) @binding(0) var<storage, read_write> o: array<u32>;
    @compute @workgroup_size(n) fn main(@builtin(local_invocation_index) i: u32) {
        shared_words[size - 1u] = i;
        workgroupBarrier();
        if fast { o[i] = 7u / n; } else { o[i] = shared_words[size - 1u] + size; }
    }";
/// What naga reads depends on the constant.
const READ_FOR_NAGA: &str = "@id(3) override n: f32 = 0.5; const k = 2.0;
    @fragment fn main() -> @location(0) vec4f { return vec4f(smoothstep(0.0, k, n)); }";
/// Whether gpucc evaluates the shift before naga depends on the constant.
const SHIFT: &str = "@id(3) override n: f32 = 0.5; override by = u32(n) * 20u;
    @fragment fn main() -> @location(0) vec4f { return vec4f(f32(1 << by), n, 0.0, 1.0); }";
/// There is no value but those that are given.
const BARE: &str = "@id(3) override n: f32;
    @fragment fn main() -> @location(0) vec4f { return vec4f(n, 1.0 / n, 0.0, 1.0); }";
const GLSL: &str = "#version 450
    #define PART(x) (float(x) * 0.25)
    layout(constant_id = 3) const int n = 2;
    layout(location = 0) out vec4 o;
    void main() {
        float parts[n];
        for (int i = 0; i < n; i++) parts[i] = PART(i);
        o = vec4(parts[n - 1]);
    }";

fn inst(opcode: u32, operands: &[u32]) -> Vec<u32> {
    let first = (operands.len() as u32 + 1) << 16 | opcode;
    [&[first][..], operands].concat()
}

/// A module that stores the last element of an array of as many elements as the constant 3 says.
fn module() -> Vec<u8> {
    let main = [u32::from_le_bytes(*b"main"), 0];
    let [void, function, word, words, block, to_block, to_word, own, to_own] =
        [10, 11, 12, 13, 14, 15, 16, 17, 18];
    let [n, zero, one, last, variable, entry, array, place, value, out] =
        [20, 21, 22, 23, 24, 25, 26, 27, 28, 29];
    let insts = [
        inst(17, &[1]),
        inst(14, &[0, 1]),
        inst(15, &[5, entry, main[0], main[1], variable]),
        inst(16, &[entry, 17, 1, 1, 1]),
        inst(71, &[n, 1, 3]),
        inst(71, &[words, 6, 4]),
        inst(71, &[block, 2]),
        inst(72, &[block, 0, 35, 0]),
        inst(71, &[variable, 34, 0]),
        inst(71, &[variable, 33, 0]),
        inst(19, &[void]),
        inst(33, &[function, void]),
        inst(21, &[word, 32, 0]),
        inst(29, &[words, word]),
        inst(30, &[block, words]),
        inst(32, &[to_block, 12, block]),
        inst(32, &[to_word, 12, word]),
        inst(50, &[word, n, 2]),
        inst(43, &[word, zero, 0]),
        inst(43, &[word, one, 1]),
        inst(52, &[word, last, 130, n, one]),
        inst(28, &[own, word, n]),
        inst(32, &[to_own, 7, own]),
        inst(32, &[40, 7, word]),
        inst(59, &[to_block, variable, 12]),
        inst(54, &[void, entry, 0, function]),
        inst(248, &[30]),
        inst(59, &[to_own, array, 7]),
        inst(65, &[40, place, array, last]),
        inst(62, &[place, n]),
        inst(61, &[word, value, place]),
        inst(65, &[to_word, out, variable, zero, zero]),
        inst(62, &[out, value]),
        inst(253, &[]),
        inst(56, &[]),
    ];
    let header = [0x0723_0203, 0x0001_0300, 0, 50, 0];
    header.iter().chain(insts.iter().flatten()).flat_map(|word| word.to_le_bytes()).collect()
}

fn sources(module: &[u8]) -> Vec<(&'static str, gpucc_source)> {
    let wgsl = [("arrays", ARRAYS), ("naga", READ_FOR_NAGA), ("shift", SHIFT), ("bare", BARE)];
    let mut all: Vec<_> = wgsl.map(|(name, text)| (name, wgsl_source(text))).to_vec();
    let (language, stage) = (2, 2);
    let glsl = gpucc_source { language, stage, data: bytes(GLSL.as_bytes()), ..zeros() };
    all.push(("glsl", glsl));
    all.push(("spirv", gpucc_source { data: bytes(module), ..zeros() }));
    all
}

/// Everything that a result says: its key and bytes, or why there are none.
fn whole(result: *mut gpucc_result) -> (Vec<u8>, String) {
    // SAFETY: it is a result, and what it gives lives as long.
    unsafe {
        assert!(!result.is_null());
        let outcome = &*gpucc_result_outcome(result);
        let mut key = gpucc_capi::store::gpucc_key { bytes: [0; 32] };
        assert_eq!(gpucc_result_key(result, &mut key), gpucc_status::GPUCC_OK);
        let told = match outcome.status {
            0 => (copied(gpucc_result_blob(result, &key)), String::new()),
            _ => (Vec::new(), said(gpucc_result_json(result))),
        };
        gpucc_result_destroy(result);
        told
    }
}

#[test]
fn other_constants_make_what_a_fresh_reading_makes() {
    let module = module();
    let values = [None, Some(1.0), Some(3.0), Some(4.5), Some(-1.0), Some(0.0), Some(1e30)];
    let mut made = 0;
    for target in ["r600", "r700", "gen4", "g45", "valhall", "rogue"] {
        let compiler = Compiler::new(target);
        for (name, source) in sources(&module) {
            let given = values.map(|value| gpucc_override {
                name: text("3"),
                value: value.unwrap_or_default(),
                ..zeros()
            });
            // The last is a constant that is not there.
            let missing = gpucc_override { name: text("missing"), value: 1.0, ..zeros() };
            let options = given.iter().zip(values).map(|(one, value)| gpucc_options {
                overrides: one,
                override_count: value.is_some().into(),
                ..zeros()
            });
            let wrong = gpucc_options { overrides: &missing, override_count: 1, ..zeros() };
            let mut options: Vec<gpucc_options> = options.chain([wrong]).collect();
            options.push(gpucc_options {
                has_overrides_default: 1,
                overrides_default: 2.0,
                ..zeros()
            });
            // A source whose first values are wrong may get right ones.
            for first in [0, 2, 7] {
                let mut parsed: *mut gpucc_parsed = null_mut();
                // SAFETY: they lead to what they say.
                let status =
                    unsafe { gpucc_parse(compiler.0, &source, &options[first], &mut parsed) };
                // SAFETY: it is a parsed source.
                assert_eq!(unsafe { (*gpucc_parsed_outcome(parsed)).status }, status as u32);
                for (at, options) in options.iter().enumerate() {
                    let fresh = gpucc_request { source: &source, options, ..zeros() };
                    let kept = gpucc_request { parsed, options, ..zeros() };
                    let [kept, fresh] =
                        [kept, fresh].map(|request| whole(compiler.request(&request).1));
                    let strip = |(blob, json): (Vec<u8>, String)| {
                        let lines = json.lines().filter(|line| !line.contains("_microseconds"));
                        (blob, lines.collect::<Vec<_>>().join("\n"))
                    };
                    made += usize::from(!kept.0.is_empty());
                    let what = format!("{target} {name}: values {at} after {first}");
                    assert_eq!(strip(kept), strip(fresh), "{what}");
                }
                // SAFETY: nobody uses it any more.
                unsafe { gpucc_parsed_destroy(parsed) };
            }
        }
    }
    assert!(made > 250, "{made}");
}
