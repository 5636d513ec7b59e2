//! What compilations tell: failures, diagnostics, specialisation, cancellation, included texts.

use crate::calls::{Compiler, bytes, copied, said, text, wgsl_source, zeros};
use gpucc_capi::abi::gpucc_text;
use gpucc_capi::compiler::{
    gpucc_compile, gpucc_compiler_create, gpucc_parse, gpucc_parsed_destroy, gpucc_parsed_entry,
    gpucc_parsed_entry_count, gpucc_parsed_outcome, gpucc_result_destroy,
};
use gpucc_capi::input::{gpucc_config, gpucc_options, gpucc_override, gpucc_request, gpucc_source};
use gpucc_capi::result::{
    gpucc_result, gpucc_result_assembly, gpucc_result_info, gpucc_result_json,
    gpucc_result_outcome, gpucc_result_pipeline_json,
};
use gpucc_capi::status::gpucc_status;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const ADDS: &str = "override n = 1u;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(1) fn adds() { o[0] = n + 41u; }";

/// The code of a result, which ends.
fn code(result: *mut gpucc_result) -> Vec<u8> {
    // SAFETY: it is a result, and its info lives as long.
    unsafe {
        let info = gpucc_result_info(result);
        assert!(!info.is_null(), "{}", said(gpucc_result_json(result)));
        let code = copied((*info).code);
        gpucc_result_destroy(result);
        code
    }
}

#[test]
fn a_wrong_shader_has_a_place_and_is_in_the_report() {
    let compiler = Compiler::new("valhall");
    let (status, result) =
        compiler.compile("@compute @workgroup_size(1) fn m() {\n  let x = y;\n}", &zeros());
    assert_eq!(status, gpucc_status::GPUCC_INVALID);
    // SAFETY: it is a result; what it gives lives as long.
    unsafe {
        let outcome = &*gpucc_result_outcome(result);
        assert_eq!((outcome.status, outcome.diagnostic_count > 0), (1, true));
        let first = &**outcome.diagnostics;
        assert_eq!(
            (first.severity, first.line, first.column),
            (0, 2, 11),
            "{}",
            said(first.message)
        );
        assert!(gpucc_result_info(result).is_null());
        let json = said(gpucc_result_json(result));
        assert!(json.contains("\"gpucc-report\"") && json.contains("\"line\": 2"), "{json}");
        gpucc_result_destroy(result);
    }
}

#[test]
fn the_structures_say_what_the_report_says() {
    for target in ["r600", "r700", "gen4", "g45", "valhall", "rogue"] {
        let compiler = Compiler::new(target);
        let shader = "@group(1) @binding(2) var t: texture_2d<f32>;
            @group(1) @binding(3) var s: sampler;
            @fragment fn m(@location(4) c: vec2f) -> @location(0) vec4f { return textureSample(t, s, c); }";
        let (status, result) = compiler.compile(shader, &zeros());
        assert_eq!(status, gpucc_status::GPUCC_OK);
        // SAFETY: it is a result; what it gives lives as long.
        unsafe {
            let json = said(gpucc_result_json(result));
            let report: gpucc::report::Report =
                serde_json::from_str(&json).expect("it is a report");
            let shader = &report.shaders[0];
            let info = &*gpucc_result_info(result);
            assert_eq!(copied(info.code), shader.code.to_bytes());
            assert_eq!(info.binding_count, shader.resources.len());
            for (n, binding) in shader.resources.iter().enumerate() {
                let own = &**info.bindings.add(n);
                assert_eq!((own.group, own.binding), (binding.group, binding.binding));
                for (k, (name, entry)) in binding.slot.iter().enumerate() {
                    let slot = &*own.slots.add(k);
                    assert_eq!(
                        (said(slot.name), slot.value),
                        (name.to_string(), u64::from(*entry))
                    );
                }
            }
            assert_eq!(info.setting_count, shader.state.len());
            for (n, (name, setting)) in shader.state.iter().enumerate() {
                let own = &**info.settings.add(n);
                assert_eq!(said(own.name), *name);
                if let gpucc::described::Setting::Register { address, value, mask, .. } = setting {
                    assert_eq!((own.address, own.value, own.mask), (*address, *value, *mask));
                }
            }
            assert_eq!(info.input_count, shader.inputs.len());
            assert_eq!(info.output_count, shader.outputs.len());
            assert_eq!(info.driver_constant_count, shader.described.driver_constants.len());
            assert_eq!((*info.stats).instructions, shader.stats.instructions);
            assert!(!said(gpucc_result_assembly(result)).is_empty());
            gpucc::Pipeline::parse(&said(gpucc_result_pipeline_json(result))).expect("it is one");
            gpucc_result_destroy(result);
        }
    }
}

#[test]
fn a_kept_parse_specialises_as_a_new_one_does() {
    let compiler = Compiler::new("r700");
    let source = wgsl_source(ADDS);
    let mut parsed = null_mut();
    // SAFETY: they lead to what they say, here and below.
    let status = unsafe { gpucc_parse(compiler.0, &source, null(), &mut parsed) };
    assert_eq!(status, gpucc_status::GPUCC_OK);
    let mut stage = 0;
    // SAFETY: the same.
    let (count, name) =
        unsafe { (gpucc_parsed_entry_count(parsed), gpucc_parsed_entry(parsed, 0, &mut stage)) };
    assert_eq!((count, said(name).as_str(), stage), (1, "adds", 3));
    let mut codes = Vec::new();
    for value in [1.0, 7.0] {
        let chosen = gpucc_override { name: text("n"), value, ..zeros() };
        let options = gpucc_options { overrides: &chosen, override_count: 1, ..zeros() };
        let kept = compiler.request(&gpucc_request { parsed, options: &options, ..zeros() });
        let new = compiler.compile(ADDS, &options);
        let kept = code(kept.1);
        assert_eq!(kept, code(new.1));
        codes.push(kept);
    }
    assert_ne!(codes[0], codes[1]);
    // SAFETY: the same.
    unsafe { gpucc_parsed_destroy(parsed) };
}

unsafe extern "C" fn after_some(user: *mut c_void) -> u32 {
    // SAFETY: the test gives a number.
    let left = unsafe { &*user.cast::<AtomicU32>() };
    let asked = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
    asked.is_err().into()
}

#[test]
fn a_caller_cancels_whenever_it_likes() {
    let compiler = Compiler::new("valhall");
    let mut cancelled = 0;
    for asked in 0..1000 {
        let left = AtomicU32::new(asked);
        let user = std::ptr::from_ref(&left).cast_mut().cast();
        let options = gpucc_options { cancel: Some(after_some), cancel_user: user, ..zeros() };
        let (status, result) = compiler.compile(ADDS, &options);
        // SAFETY: it is a result.
        unsafe { gpucc_result_destroy(result) };
        match status {
            gpucc_status::GPUCC_CANCELLED => cancelled += 1,
            gpucc_status::GPUCC_OK => break,
            other => panic!("{other:?}"),
        }
    }
    // From before the first pass to behind the last.
    assert!((5..900).contains(&cancelled), "{cancelled}");
}

unsafe extern "C" fn finds(
    user: *mut c_void,
    name: gpucc_text,
    from: gpucc_text,
    angled: u32,
    found: *mut gpucc_text,
    given: *mut gpucc_text,
) -> u32 {
    // Each has a zero byte behind it.
    assert_eq!((&*said(name), angled), ("colour.glsl", 0));
    said(from);
    // SAFETY: the test gives a number; the places are the interface's.
    unsafe {
        (*user.cast::<AtomicU32>()).fetch_add(1, Ordering::Relaxed);
        *found = text("lib/colour.glsl");
        *given = text("const float part = SHARE;");
    }
    1
}

unsafe extern "C" fn hears(user: *mut c_void, severity: u32, message: gpucc_text) {
    assert!(severity <= 2);
    // SAFETY: the test gives a list.
    unsafe { &*user.cast::<Mutex<Vec<String>>>() }.lock().expect("whole").push(said(message));
}

#[test]
fn a_log_hears_each_message_of_a_compilation() {
    let heard = Mutex::new(Vec::<String>::new());
    let config = gpucc_config {
        target: text("valhall"),
        log: Some(hears),
        log_user: std::ptr::from_ref(&heard).cast_mut().cast(),
        ..zeros()
    };
    let mut made = null_mut();
    // SAFETY: they lead to what they say.
    let status = unsafe { gpucc_compiler_create(&config, &mut made) };
    assert_eq!(status, gpucc_status::GPUCC_OK);
    let compiler = Compiler(made);
    let (status, result) = compiler.compile("fn main( {", &zeros());
    assert_eq!(status, gpucc_status::GPUCC_INVALID);
    // SAFETY: it is a result.
    unsafe { gpucc_result_destroy(result) };
    let heard = heard.lock().expect("whole");
    assert!(heard.len() == 1 && !heard[0].is_empty(), "{heard:?}");
}

#[test]
fn a_kept_parse_is_read_again_for_minus_zero() {
    let wgsl = "override x: f32; @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        @compute @workgroup_size(1) fn main() { o[0] = bitcast<u32>(x); }";
    let compiler = Compiler::new("valhall");
    let source = wgsl_source(wgsl);
    let with = |value| gpucc_override { name: text("x"), value, ..zeros() };
    let (plus, minus) = (with(0.0), with(-0.0));
    let options =
        |one: &gpucc_override| gpucc_options { overrides: one, override_count: 1, ..zeros() };
    let (first, second) = (options(&plus), options(&minus));
    let mut parsed = null_mut();
    // SAFETY: they lead to what they say.
    let status = unsafe { gpucc_parse(compiler.0, &source, &first, &mut parsed) };
    assert_eq!(status, gpucc_status::GPUCC_OK);
    let code = |request: &gpucc_request| code(compiler.request(request).1);
    let kept = code(&gpucc_request { parsed, options: &second, ..zeros() });
    assert_eq!(kept, code(&gpucc_request { source: &source, options: &second, ..zeros() }));
    assert_ne!(kept, code(&gpucc_request { parsed, options: &first, ..zeros() }));
    let other = Compiler::new("r700");
    let (status, result) = other.request(&gpucc_request { parsed, options: &first, ..zeros() });
    assert_eq!((status, result.is_null()), (gpucc_status::GPUCC_USAGE, true));
    // SAFETY: nobody uses it any more.
    unsafe { gpucc_parsed_destroy(parsed) };
}

#[test]
fn glsl_includes_texts_and_reads_them_again_without_asking() {
    let compiler = Compiler::new("gen4");
    let glsl = "#version 450\n#include \"colour.glsl\"\nlayout(constant_id = 3) const int n = 2;\n\
                layout(location = 0) out vec4 o;\nvoid main() { o = vec4(part * float(n)); }";
    let count = AtomicU32::new(0);
    let define =
        gpucc_capi::input::gpucc_define { name: text("SHARE"), value: text("0.5"), ..zeros() };
    let source = gpucc_source {
        language: 2,
        stage: 2,
        data: bytes(glsl.as_bytes()),
        defines: &define,
        define_count: 1,
        include: Some(finds),
        include_user: std::ptr::from_ref(&count).cast_mut().cast(),
        ..zeros()
    };
    let mut parsed = null_mut();
    // SAFETY: they lead to what they say.
    let status = unsafe { gpucc_parse(compiler.0, &source, null(), &mut parsed) };
    assert_eq!(status, gpucc_status::GPUCC_OK);
    let chosen = gpucc_override { name: text("3"), value: 4.0, ..zeros() };
    let options = gpucc_options { overrides: &chosen, override_count: 1, ..zeros() };
    let kept = compiler.request(&gpucc_request { parsed, options: &options, ..zeros() });
    assert_eq!(kept.0, gpucc_status::GPUCC_OK);
    assert_eq!(count.load(Ordering::Relaxed), 1);
    let new = compiler.request(&gpucc_request { source: &source, options: &options, ..zeros() });
    assert_eq!(count.load(Ordering::Relaxed), 2);
    assert_eq!(code(kept.1), code(new.1));
    // SAFETY: nobody uses it any more.
    unsafe { gpucc_parsed_destroy(parsed) };
}

#[test]
fn a_message_has_all_its_places() {
    let shader = "@group(0) @binding(0) var<uniform> u: f32;
        @fragment fn m(@location(0) x: f32) -> @location(0) vec4f {
            if x > u { return vec4f(dpdx(x)); }
            return vec4f(0.0);
        }";
    let (status, result) = Compiler::new("valhall").compile(shader, &zeros());
    assert_eq!(status, gpucc_status::GPUCC_INVALID);
    // SAFETY: it is a result; what it gives lives as long.
    unsafe {
        let first = &**(*gpucc_result_outcome(result)).diagnostics;
        let labels = (0..first.label_count).map(|n| &**first.labels.add(n));
        let labels: Vec<_> = labels
            .map(|label| {
                let place = &shader[label.start as usize..label.end as usize];
                (label.line, label.is_primary, place, said(label.text))
            })
            .collect();
        assert!(labels.len() >= 2, "{labels:?}");
        assert_eq!((labels[0].0, labels[0].1, labels[0].2), (3, 1, "dpdx"), "{labels:?}");
        assert!(labels[1..].iter().all(|label| label.1 == 0 && !label.3.is_empty()), "{labels:?}");
        assert_eq!((first.line, first.start), ((*(*first.labels)).line, (*(*first.labels)).start));
        gpucc_result_destroy(result);
    }
}

#[test]
fn a_later_request_at_its_defaults_is_taken() {
    /// What a later header may declare.
    #[repr(C)]
    #[derive(Copy, Clone)]
    struct Later {
        request: gpucc_request,
        more: u64,
    }
    let compiler = Compiler::new("interp");
    let source = wgsl_source(ADDS);
    let struct_size = size_of::<Later>() as u32;
    let request = gpucc_request { struct_size, source: &source, ..zeros() };
    for (more, expected) in [(0, gpucc_status::GPUCC_OK), (1 << 40, gpucc_status::GPUCC_USAGE)] {
        let later = Later { request, more };
        // SAFETY: the structure is as long as it says.
        let (status, result) = compiler.request(unsafe { &*(&raw const later).cast() });
        assert_eq!(status, expected, "{}", said(gpucc_capi::gpucc_last_message()));
        // SAFETY: null, or a result.
        unsafe { gpucc_result_destroy(result) };
    }
}

#[test]
fn a_source_longer_than_any_is_not_read() {
    let compiler = Compiler::new("interp");
    let text = " ".repeat((4 << 20) + 1);
    let source = wgsl_source(&text);
    let request = gpucc_request { source: &source, ..zeros() };
    let (status, result) = compiler.request(&request);
    let mut parsed = null_mut();
    let mut key = gpucc_capi::store::gpucc_key { bytes: [0; 32] };
    // SAFETY: they lead to what they say.
    unsafe {
        assert_eq!(status, gpucc_status::GPUCC_LIMIT);
        let none = gpucc_capi::store::gpucc_request_key(compiler.0, &request, &mut key);
        assert_eq!((none, key.bytes), (gpucc_status::GPUCC_LIMIT, [0; 32]));
        let status = gpucc_parse(compiler.0, &source, null(), &mut parsed);
        assert_eq!(status, gpucc_status::GPUCC_LIMIT);
        for outcome in [gpucc_result_outcome(result), gpucc_parsed_outcome(parsed)] {
            let outcome = &*outcome;
            assert_eq!(outcome.status, gpucc_status::GPUCC_LIMIT as u32);
            assert_eq!([outcome.needed, outcome.available], [(4 << 20) + 1, 4 << 20]);
            assert_eq!(outcome.diagnostic_count, 1);
        }
        gpucc_result_destroy(result);
        // It stays unread, whatever asks for it.
        let request = gpucc_request { parsed, ..zeros() };
        let (status, result) = compiler.request(&request);
        assert_eq!((status, result.is_null()), (gpucc_status::GPUCC_LIMIT, false));
        let none = gpucc_capi::store::gpucc_request_key(compiler.0, &request, &mut key);
        assert_eq!(none, gpucc_status::GPUCC_LIMIT);
        gpucc_result_destroy(result);
        gpucc_parsed_destroy(parsed);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let compiler = Compiler::new("r700");
    let source = wgsl_source(ADDS);
    let good: gpucc_request = gpucc_request { source: &source, ..zeros() };
    let pipeline = gpucc_capi::state::gpucc_pipeline { uniforms: 7, ..zeros() };
    let reserved = gpucc_source { reserved: 1, ..source };
    let not_text = gpucc_text { data: c"\xff".as_ptr(), size: 1 };
    let cases = [
        (gpucc_request { struct_size: 8, ..good }, "gpucc_request.struct_size is 8"),
        (gpucc_request { struct_size: 1 << 20, ..good }, "gpucc_request.struct_size is"),
        (gpucc_request { stage: 9, ..good }, "gpucc_request.stage: there is no 9"),
        (gpucc_request { source: null(), ..good }, "give `source` or `parsed`"),
        (gpucc_request { pipeline: &pipeline, ..good }, "gpucc_pipeline.uniforms: there is no 7"),
        (gpucc_request { source: &reserved, ..good }, "gpucc_source.reserved is reserved"),
        (gpucc_request { entry: not_text, ..good }, "gpucc_request.entry is not UTF-8"),
        (gpucc_request { entry: text("other"), ..good }, "other"),
    ];
    for (request, words) in cases {
        let (status, result) = compiler.request(&request);
        let message = said(gpucc_capi::gpucc_last_message());
        assert_eq!(status, gpucc_status::GPUCC_USAGE, "{message}");
        assert!(message.contains(words), "{message}");
        // SAFETY: null, or a result.
        unsafe { gpucc_result_destroy(result) };
    }
    // SAFETY: null is what is tested.
    let status = unsafe { gpucc_compile(null(), &good, null_mut()) };
    assert_eq!(status, gpucc_status::GPUCC_USAGE);
}
