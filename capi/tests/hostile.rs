//! Hostile calls: structures whose numbers, sizes and pointers are wrong. None may end the process, and each that is refused
//! has a message. What a caller's pointers lead to is there, for C cannot say more.

use crate::calls::{Compiler, bytes, copied, said, text, wgsl_source, zeros};
use gpucc_capi::abi::gpucc_text;
use gpucc_capi::compiler as c;
use gpucc_capi::device as d;
use gpucc_capi::draw::gpucc_draw;
use gpucc_capi::gpucc_last_message;
use gpucc_capi::input::{
    gpucc_config, gpucc_define, gpucc_options, gpucc_override, gpucc_request, gpucc_source,
};
use gpucc_capi::result as r;
use gpucc_capi::state as s;
use gpucc_capi::status::gpucc_status;
use gpucc_capi::store as st;
use gpucc_capi::upload as u;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Numbers from a seed (xorshift).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }
    fn number(&mut self) -> u32 {
        const LIKED: [u32; 9] = [0, 1, 2, 3, 4, 15, 64, 1 << 31, u32::MAX];
        match self.below(4) {
            0 => self.next() as u32,
            _ => LIKED[self.below(LIKED.len())],
        }
    }
}

/// Spoils a structure now and then. `wide` are the places of pointers and functions, which become null; `sizes` those of sizes,
/// which become 0 or more than memory has.
fn spoil<T: Copy>(rng: &mut Rng, value: &mut T, wide: &[usize], sizes: &[usize]) {
    if rng.below(12) != 0 {
        return;
    }
    let size = size_of::<T>();
    let at = rng.below(size / 4) * 4;
    let word = at / 8 * 8;
    let to: *mut u8 = std::ptr::from_mut(value).cast();
    // SAFETY: the places are within the structure, which has no padding and takes every pattern of bits.
    unsafe {
        if wide.contains(&word) {
            to.add(word).cast::<u64>().write_unaligned(0);
        } else if sizes.contains(&word) {
            let many = if rng.below(2) == 0 { 0 } else { u64::MAX - 7 };
            to.add(word).cast::<u64>().write_unaligned(many);
        } else {
            to.add(at).cast::<u32>().write_unaligned(rng.number());
        }
    }
}

const SHADERS: [&str; 5] = [
    "@group(0) @binding(0) var<storage, read_write> o: array<u32, 8>;
     @compute @workgroup_size(4) fn m(@builtin(local_invocation_index) i: u32) { o[i] = i; }",
    "override n = 2u; @compute @workgroup_size(1) fn m() { let x = n; }",
    "struct V { @builtin(position) p: vec4f, @location(1) c: vec4f }
     @vertex fn v(@location(0) p: vec4f) -> V { return V(p, p); }
     @fragment fn f(v: V) -> @location(0) vec4f { return v.c; }",
    "@compute @workgroup_size(1) fn m() { oops }",
    "",
];

const TEXTS: [&str; 6] = ["", "m", "rgba8unorm", "float32x4", "depth32float", "\u{202e}\0x"];

fn any_text(rng: &mut Rng, usual: &'static str) -> gpucc_text {
    match rng.below(16) {
        0 => text(TEXTS[rng.below(TEXTS.len())]),
        1 if rng.below(4) == 0 => gpucc_text { data: c"\xff\xfe".as_ptr(), size: 2 },
        2 if rng.below(4) == 0 => gpucc_text { data: null(), size: 9 },
        _ => text(usual),
    }
}

/// What stands at the place of a handle before a call: a call that makes no handle writes null there.
fn unset<T>() -> *mut T {
    std::ptr::dangling_mut()
}

/// A call's status, and its message where it failed.
fn checked(status: gpucc_status) -> bool {
    if status == gpucc_status::GPUCC_OK {
        return true;
    }
    let message = said(gpucc_last_message());
    assert!(!message.is_empty(), "{status:?} without a message");
    assert_ne!(status, gpucc_status::GPUCC_INTERNAL, "{message}");
    false
}

/// What the caller's functions do in one round.
struct Moods {
    rng: Mutex<Rng>,
    /// Calls until the caller cancels.
    patience: AtomicU32,
}

unsafe extern "C" fn hostile_cancel(user: *mut c_void) -> u32 {
    // SAFETY: each of these gets the moods of its round.
    let moods = unsafe { &*user.cast::<Moods>() };
    let left =
        moods.patience.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
    if left.is_err() { u32::MAX } else { 0 }
}

unsafe extern "C" fn hostile_include(
    user: *mut c_void,
    name: gpucc_text,
    from: gpucc_text,
    angled: u32,
    found: *mut gpucc_text,
    given: *mut gpucc_text,
) -> u32 {
    said(name);
    said(from);
    assert!(angled <= 1);
    // SAFETY: the same.
    let moods = unsafe { &*user.cast::<Moods>() };
    let mut rng = moods.rng.lock().expect("whole");
    let bytes =
        |bytes: &'static [u8]| gpucc_text { data: bytes.as_ptr().cast(), size: bytes.len() };
    let replies = [
        text(""),
        text("float f() { return 1.0; }"),
        // It includes itself, whatever the file is called.
        text("#include \"x\"\n"),
        bytes(b"\xff\xfe\0"),
        gpucc_text { data: null(), size: usize::MAX },
        gpucc_text { data: c"x".as_ptr(), size: usize::MAX / 2 },
        text("\u{202e}\0#error"),
    ];
    // SAFETY: the places are the interface's.
    unsafe {
        *found = replies[rng.below(replies.len())];
        *given = replies[rng.below(replies.len())];
    }
    [0, 1, u32::MAX][rng.below(3)]
}

unsafe extern "C" fn hostile_log(user: *mut c_void, severity: u32, message: gpucc_text) {
    assert!(severity <= 2 && user.is_null() && !said(message).is_empty());
}

/// A parse and a compilation of GLSL whose functions fail, cancel, and give what is no text.
fn moody(rng: &mut Rng, compiler: &Compiler) {
    let moods = Moods {
        rng: Mutex::new(Rng(rng.next() | 1)),
        patience: AtomicU32::new(rng.below(200) as u32),
    };
    let user: *mut c_void = std::ptr::from_ref(&moods).cast_mut().cast();
    let glsl = "#version 450\n#include \"a\"\n#include <b>\nlayout(location = 0) out vec4 o;
        void main() { o = vec4(1.0); }";
    let mut source = gpucc_source {
        language: 2,
        stage: 2,
        data: bytes(glsl.as_bytes()),
        include: Some(hostile_include),
        include_user: user,
        ..zeros()
    };
    if rng.below(2) == 0 {
        source = wgsl_source(SHADERS[rng.below(2)]);
    }
    let options = gpucc_options { cancel: Some(hostile_cancel), cancel_user: user, ..zeros() };
    let mut request = gpucc_request { source: &source, options: &options, ..zeros() };
    let (mut parsed, mut result) = (unset(), unset());
    let mut key = st::gpucc_key { bytes: [7; 32] };
    // SAFETY: what pointers lead to is there.
    unsafe {
        checked(c::gpucc_parse(compiler.0, &source, &options, &mut parsed));
        checked(st::gpucc_request_key(compiler.0, &request, &mut key));
        if rng.below(2) == 0 && !parsed.is_null() {
            (request.source, request.parsed) = (null(), parsed);
        }
        checked(c::gpucc_compile(compiler.0, &request, &mut result));
        c::gpucc_result_destroy(result);
        c::gpucc_parsed_destroy(parsed);
    }
}

/// Whatever a result gives, whether there is one or not; keys, blobs and kernels of it.
///
/// # Safety
/// They are null or results; the request is one.
unsafe fn look_at(
    rng: &mut Rng,
    compiler: &Compiler,
    request: &gpucc_request,
    results: [*mut r::gpucc_result; 2],
) {
    let mut keys = [st::gpucc_key { bytes: [0; 32] }; 2];
    let [vertex_key, fragment_key] = &mut keys;
    let [first, second] = results;
    let mut kernels = [unset(); 4];
    let mut count = 0;
    let mut loaded = unset();
    let mut proof = d::gpucc_verification { invocations: 0, words: 0, inputs: 0, mismatches: 0 };
    // SAFETY: the caller's, and what other pointers lead to is there.
    unsafe {
        for result in results {
            r::gpucc_result_outcome(result);
            r::gpucc_result_info(result);
            said(r::gpucc_result_json(result));
            said(r::gpucc_result_pipeline_json(result));
            said(r::gpucc_result_assembly(result));
        }
        checked(st::gpucc_request_key(compiler.0, request, vertex_key));
        checked(st::gpucc_pair_keys(compiler.0, request, request, vertex_key, fragment_key));
        let mut own = st::gpucc_key { bytes: [0; 32] };
        let own_at = if rng.below(8) == 0 { null_mut() } else { &raw mut own };
        checked(st::gpucc_result_key(results[rng.below(2)], own_at));
        let mut blob = copied(st::gpucc_result_blob(first, vertex_key));
        if !blob.is_empty() && rng.below(2) == 0 {
            let at = rng.below(blob.len());
            blob[at] ^= 1 << rng.below(8);
            blob.truncate(rng.below(blob.len() + 1));
        }
        let taken = bytes(&blob);
        checked(st::gpucc_result_load(compiler.0, request, vertex_key, taken, &mut loaded));
        c::gpucc_result_destroy(loaded);
        let room = rng.below(5);
        let made = kernels.as_mut_ptr();
        let count_at = if rng.below(8) == 0 { null_mut() } else { &raw mut count };
        checked(c::gpucc_compile_kernels(compiler.0, first, second, made, room, count_at));
        kernels[..room].iter().for_each(|&kernel| c::gpucc_result_destroy(kernel));
        assert!(kernels[room..].iter().all(|&kernel| kernel == unset()));
        if rng.below(8) == 0 {
            let inputs = rng.number().min(70_000);
            let inputs = if inputs > 65_536 { inputs } else { inputs.min(2) };
            checked(d::gpucc_verify(first, inputs, rng.next(), &mut proof));
        }
    }
}

/// One round of calls. Says whether a device was made.
fn round(rng: &mut Rng, compilers: &[Compiler]) -> bool {
    let log = if rng.below(2) == 0 { None } else { Some(hostile_log as _) };
    let mut config = gpucc_config { target: any_text(rng, "gen4"), log, ..zeros() };
    spoil(rng, &mut config, &[8, 24, 40, 48], &[16, 32]);
    let mut made = unset();
    // SAFETY: what pointers lead to is there, here and below.
    unsafe {
        checked(c::gpucc_compiler_create(&config, &mut made));
        // It lasts longer than other calls.
        let warm = if rng.below(16) == 0 { made } else { std::ptr::null_mut() };
        checked(c::gpucc_compiler_warm_up(warm));
        c::gpucc_compiler_destroy(made);
    }
    let compiler = &compilers[rng.below(compilers.len())];
    moody(rng, compiler);
    assert_eq!(c::gpucc_abi_version(), gpucc_capi::GPUCC_ABI_VERSION);
    assert!(!said(c::gpucc_version()).is_empty() && !said(c::gpucc_targets_json()).is_empty());
    let mut attributes = [s::gpucc_attribute { format: any_text(rng, "float32x4"), ..zeros() }; 2];
    attributes[1].location = 1;
    spoil(rng, &mut attributes, &[8, 40], &[16, 48]);
    let mut buffer = s::gpucc_vertex_buffer { stride: 16, ..zeros() };
    spoil(rng, &mut buffer, &[], &[]);
    let streamed: s::gpucc_stream_output = zeros();
    let words = [16u32; 4];
    let mut vertex = s::gpucc_vertex_state {
        attributes: attributes.as_ptr(),
        attribute_count: rng.below(3),
        buffers: &buffer,
        buffer_count: 1,
        outputs: words.as_ptr(),
        stream_strides: words.as_ptr(),
        stream_outputs: &streamed,
        ..zeros()
    };
    spoil(rng, &mut vertex, &[16, 32, 48, 64, 80], &[24, 40, 56, 72, 88]);
    let mut target =
        s::gpucc_color_target { format: any_text(rng, "rgba8unorm"), write_mask: 15, ..zeros() };
    if rng.below(4) == 0 {
        target.blends = 1;
        spoil(rng, &mut target.color, &[], &[]);
    }
    spoil(rng, &mut target, &[8], &[16]);
    let mut fragment = s::gpucc_fragment_state { targets: &target, target_count: 1, ..zeros() };
    spoil(rng, &mut fragment, &[16, 32], &[24, 40]);
    let mut slots = [zeros::<s::gpucc_binding_slot>(); 2];
    slots[1].binding = 1;
    spoil(rng, &mut slots, &[], &[]);
    let mut pipeline = s::gpucc_pipeline {
        vertex: &vertex,
        fragment: &fragment,
        bindings: slots.as_ptr(),
        binding_count: rng.below(3),
        ..zeros()
    };
    spoil(rng, &mut pipeline, &[16, 24, 32], &[40]);
    let mut chosen = gpucc_override { name: any_text(rng, "n"), value: 3.0, ..zeros() };
    spoil(rng, &mut chosen, &[8], &[16]);
    let mut options = gpucc_options { overrides: &chosen, override_count: rng.below(2), ..zeros() };
    spoil(rng, &mut options, &[56, 72, 80], &[64]);
    let define = gpucc_define { name: text("a"), value: any_text(rng, "b"), ..zeros() };
    let shader = SHADERS[rng.below(SHADERS.len())];
    let mut source = gpucc_source { name: any_text(rng, "x"), ..wgsl_source(shader) };
    if rng.below(8) == 0 {
        (source.defines, source.define_count) = (&define, 1);
        (source.language, source.stage) = (rng.below(4) as u32, rng.below(4) as u32);
    }
    spoil(rng, &mut source, &[16, 32, 48, 64, 72], &[24, 40, 56]);
    let mut request = gpucc_request {
        source: &source,
        entry: any_text(rng, ""),
        options: &options,
        pipeline: &pipeline,
        ..zeros()
    };
    spoil(rng, &mut request, &[8, 24, 32, 40, 48], &[16]);
    let mut first;
    let (mut second, mut parsed) = (null_mut(), null_mut());
    // SAFETY: the same.
    unsafe {
        if rng.below(8) == 0 {
            parsed = unset();
            checked(c::gpucc_parse(compiler.0, &source, &options, &mut parsed));
            said(c::gpucc_parsed_entry(parsed, rng.below(3), null_mut()));
            c::gpucc_parsed_outcome(parsed);
            c::gpucc_parsed_entry_count(parsed);
            (request.source, request.parsed) = (null(), parsed);
        }
        if shader.contains("@vertex") {
            (first, second) = (unset(), unset());
            let none = rng.below(16) == 0;
            let place = if none { null_mut() } else { &raw mut first };
            checked(c::gpucc_compile_pair(compiler.0, &request, &request, place, &mut second));
            if none {
                first = null_mut();
            }
        } else {
            first = unset();
            checked(c::gpucc_compile(compiler.0, &request, &mut first));
        }
        let mut device = unset();
        let runs = checked(d::gpucc_device_create(first, second, &mut device));
        if runs {
            run(rng, device);
        }
        d::gpucc_device_destroy(device);
        look_at(rng, compiler, &request, [first, second]);
        for result in [first, second] {
            c::gpucc_result_destroy(result);
        }
        c::gpucc_parsed_destroy(parsed);
        runs
    }
}

/// Calls of a device.
///
/// # Safety
/// It is one.
unsafe fn run(rng: &mut Rng, device: *mut d::gpucc_device) {
    let mut place: d::gpucc_place = zeros();
    spoil(rng, &mut place, &[], &[]);
    let mut image = d::gpucc_image {
        width: 8,
        height: 8,
        depth: 1,
        layers: 1,
        levels: 1,
        samples: 1,
        format: any_text(rng, "rgba8unorm"),
        ..zeros()
    };
    spoil(rng, &mut image, &[32], &[40]);
    // A lie about a size that fits the memory is no lie.
    image.width = image.width.min(4096);
    let mut sampler: d::gpucc_sampler = zeros();
    spoil(rng, &mut sampler, &[], &[]);
    let mut draw = gpucc_draw { vertices: 3, instances: 1, ..zeros() };
    spoil(rng, &mut draw, &[16], &[24]);
    draw.vertices = draw.vertices.min(64);
    draw.instances = draw.instances.min(4);
    let data = [0x5a; 48];
    let mut out = [0; 64];
    let mut size = 0;
    let groups = [rng.number().min(3), 1, rng.number().min(2)];
    // SAFETY: what pointers lead to is there.
    unsafe {
        checked(d::gpucc_device_set_steps(device, 20_000));
        checked(d::gpucc_device_bind_buffer(device, &place, bytes(&data)));
        checked(d::gpucc_device_bind_image(device, &place, &image, bytes(&[])));
        checked(d::gpucc_device_bind_sampler(device, &place, &sampler));
        checked(d::gpucc_device_vertex_buffer(device, rng.number(), bytes(&data)));
        checked(d::gpucc_device_vertex_buffer(device, 0, bytes(&data)));
        checked(d::gpucc_device_set_target(device, 0, &image, bytes(&[])));
        let words = [rng.number(), rng.number()];
        let offset = rng.number();
        checked(u::gpucc_device_push(device, rng.number() & 3, offset, bytes(&data)));
        checked(u::gpucc_device_set_range(
            device,
            &place,
            rng.number().into(),
            rng.number().into(),
        ));
        let name = any_text(rng, "SQ_PGM_RESOURCES_PS");
        let (stage, count) = (rng.number() & 3, rng.below(3));
        checked(u::gpucc_device_set_words(device, stage, name, words.as_ptr(), count));
        checked(d::gpucc_device_dispatch(device, groups[0], groups[1], groups[2]));
        checked(d::gpucc_device_draw(device, &draw));
        checked(d::gpucc_device_read(device, &place, out.as_mut_ptr(), out.len(), &mut size));
        checked(d::gpucc_device_read_target(device, 0, out.as_mut_ptr(), 8, &mut size));
    }
}

fn compilers() -> Vec<Compiler> {
    ["r700", "gen4", "valhall", "rogue", "interp"].map(Compiler::new).into_iter().collect()
}

#[test]
fn hostile_calls_are_refused_and_end_nothing() {
    // The places that `spoil` is told are those of the structures.
    assert_eq!(offset_of!(gpucc_config, log), 40);
    assert_eq!(offset_of!(gpucc_options, overrides), 56);
    assert_eq!(offset_of!(gpucc_source, defines), 48);
    assert_eq!(offset_of!(gpucc_request, pipeline), 48);
    assert_eq!(offset_of!(s::gpucc_vertex_state, stream_outputs), 80);
    assert_eq!(offset_of!(s::gpucc_pipeline, bindings), 32);
    assert_eq!(offset_of!(s::gpucc_fragment_state, depth_stencil), 32);
    assert_eq!(offset_of!(d::gpucc_image, format), 32);
    assert_eq!(offset_of!(gpucc_draw, indices), 16);
    let (compilers, mut rng) = (compilers(), Rng(0x9e37_79b9_7f4a_7c15));
    // Each makes some ten calls.
    let ran = (0..400).filter(|_| round(&mut rng, &compilers)).count();
    assert!((40..360).contains(&ran), "{ran} of 400 were wholly right");
}

#[test]
fn every_function_of_the_header_is_called_with_hostile_arguments() {
    let header = include_str!("../include/gpucc.h");
    let own = include_str!("hostile.rs");
    let (_, functions) = header.split_once("extern \"C\" {").expect("functions are within it");
    let (functions, _) = functions.split_once("}  // extern").expect("it ends");
    let text: String = functions.lines().filter(|line| !line.starts_with("//")).collect();
    let names = text.split(';').filter_map(|one| {
        let (head, _) = one.split_once('(')?;
        head.rsplit([' ', '*']).next().filter(|name| name.starts_with("gpucc_"))
    });
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 35, "{names:?}");
    let lacks: Vec<_> = names.iter().filter(|name| !own.contains(&format!("{name}("))).collect();
    assert!(lacks.is_empty(), "no hostile call of {lacks:?}");
}

#[test]
#[ignore = "it lasts a minute"]
fn hostile_calls_for_a_minute() {
    let seed = std::env::var("GPUCC_SEED").ok().and_then(|text| text.parse().ok());
    let (compilers, mut rng) = (compilers(), Rng(seed.unwrap_or(88_172_645_463_325_252)));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        round(&mut rng, &compilers);
    }
}
