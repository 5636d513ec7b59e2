//! No access leaves its memory, whatever size a driver binds: buffers of 0 to 3 elements, of less than one, and of any
//! number of bytes; constant and dynamic indices; on every machine.

use crate::common::{Folder, gpucc, text};
use gpucc::execute::{Executor, VertexRun};
use gpucc::pipeline::Robust;
use gpucc::{Choice, Compiler, Options, Source, SourceText, Target};
use gpucc_emu::draw::VertexId;
use gpucc_emu::world::{Bindings, Bound};

/// Machines that write buffers.
const WRITERS: [Target; 3] = [Target::Interp, Target::R700, Target::VALHALL];

/// A compiled entry point, ready to run as often as one likes.
struct Program {
    compiler: Compiler,
    compiled: gpucc::Compiled,
    options: Options,
    text: SourceText,
    func: gpucc::Func,
}

impl Program {
    fn new(target: Target, robust: Robust, source: Source<'_>) -> Program {
        let compiler = Compiler::new(target, None).expect("a target that is built");
        let mut options = Options::default();
        options.robust = robust;
        let mut parsed =
            compiler.parse(source, Choice::default(), &options).expect("a right source");
        let func = parsed.entries.remove(0).func.expect("an entry point");
        let compiled = compiler.compile(&func, &options).expect("it compiles");
        Program { compiler, compiled, options, text: SourceText::new("bounds", None), func }
    }

    fn executor(&self) -> Executor {
        self.compiler.executor(&self.compiled, &self.options, &self.text)
    }

    fn bindings(&self, buffers: &[(u32, Vec<u8>)]) -> Bindings {
        let mut bindings = Bindings::new(&self.func);
        for (resource, data) in &self.func.resources {
            if let Some((_, bytes)) = buffers.iter().find(|(at, _)| *at == data.binding) {
                bindings.set(resource, Bound::Buffer(bytes.clone()));
            }
        }
        bindings
    }

    /// Bytes of a binding.
    fn bytes(&self, bindings: &Bindings, binding: u32) -> Vec<u8> {
        let mut all = self.func.resources.iter();
        let found = all.find(|(_, data)| data.binding == binding);
        let (resource, _) = found.expect("a binding of the shader");
        bindings.get(resource, 0).bytes().to_vec()
    }

    fn dispatch(&self, buffers: &[(u32, Vec<u8>)]) -> Bindings {
        let mut bindings = self.bindings(buffers);
        let result = self.executor().dispatch(&mut bindings, [1; 3]);
        result.expect("no rule of the machine is broken");
        bindings
    }
}

/// Bytes that tell their place.
fn pattern(bytes: usize, seed: u8) -> Vec<u8> {
    (0..bytes).map(|at| (at as u8).wrapping_mul(7).wrapping_add(seed)).collect()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn put(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Where an index goes, by the rule: no place is no access.
fn place(robust: Robust, index: u32, length: usize) -> Option<usize> {
    match robust {
        Robust::Restrict => length.checked_sub(1).map(|last| last.min(index as usize)),
        Robust::Zero => Some(index as usize).filter(|&index| index < length),
        Robust::Off => unreachable!("off has no rule"),
    }
}

const INDICES: [u32; 8] = [0, 1, 2, 3, 5, 70, 0x4000_0000, u32::MAX];

const WORDS: &str = "
struct Params { at: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> sink: array<u32>;
@group(0) @binding(3) var<storage, read_write> near: array<u32, 4>;
@group(0) @binding(5) var<storage, read_write> out: array<u32, 8>;
@compute @workgroup_size(1) fn main() {
  near[1] += 1u;
  out[0] = source[p.at];
  out[1] = source[70];
  out[2] = sink[p.at];
  sink[p.at] = 77u;
  sink[90] = 78u;
  out[3] = arrayLength(&sink);
}";

#[test]
fn an_array_of_words_may_have_any_size_and_any_index() {
    for target in WRITERS {
        for robust in [Robust::Restrict, Robust::Zero] {
            let program = Program::new(target, robust, Source::Wgsl(WORDS));
            for bytes in [0, 1, 2, 3, 4, 6, 8, 11, 12, 16] {
                for at in INDICES {
                    check_words(&program, target, robust, bytes, at);
                }
            }
        }
    }
}

fn check_words(program: &Program, target: Target, robust: Robust, bytes: usize, at: u32) {
    let (source, mut sink) = (pattern(bytes, 1), pattern(bytes, 2));
    let ran = program.dispatch(&[
        (0, words(&[at])),
        (1, source.clone()),
        (2, sink.clone()),
        (3, words(&[10, 20, 30, 40])),
        (5, vec![0xee; 32]),
    ]);
    let length = bytes / 4;
    let go = |index: u32| place(robust, index, length).map(|index| index * 4);
    let read = |bytes: &[u8], index: u32| go(index).map_or(0, |at| word(bytes, at));
    let out = [read(&source, at), read(&source, 70), read(&sink, at), length as u32];
    for (index, value) in [(at, 77), (90, 78)] {
        if let Some(at) = go(index) {
            put(&mut sink, at, value);
        }
    }
    let case = format!("{target:?} {robust:?}, {bytes} bytes, index {at:#x}");
    let got = program.bytes(&ran, 5);
    let got: Vec<u32> = (0..4).map(|k| word(&got, k * 4)).collect();
    assert_eq!(got, out, "{case}: what was read");
    assert_eq!(program.bytes(&ran, 2), sink, "{case}: what was written");
    assert_eq!(program.bytes(&ran, 3), words(&[10, 21, 30, 40]), "{case}: the neighbour");
}

const COUNTS: &str = "
struct Params { at: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<u32, 4>;
@compute @workgroup_size(1) fn main() {
  out[0] = atomicAdd(&counts[p.at], 5u);
  out[1] = atomicMax(&counts[3], 9u);
  out[2] = atomicLoad(&counts[p.at]);
  atomicStore(&counts[70], 12u);
}";

#[test]
fn an_atomic_on_no_element_does_nothing_and_gives_0() {
    for target in [Target::Interp, Target::VALHALL] {
        for robust in [Robust::Restrict, Robust::Zero] {
            let program = Program::new(target, robust, Source::Wgsl(COUNTS));
            for bytes in [0, 3, 4, 7, 8, 12, 16] {
                for at in INDICES {
                    check_counts(&program, target, robust, bytes, at);
                }
            }
        }
    }
}

fn check_counts(program: &Program, target: Target, robust: Robust, bytes: usize, at: u32) {
    let mut counts = pattern(bytes, 3);
    let ran = program.dispatch(&[(0, words(&[at])), (1, counts.clone()), (2, vec![0xee; 16])]);
    let go = |index: u32| place(robust, index, bytes / 4).map(|index| index * 4);
    // Gives what was there.
    let mut change = |index: u32, new: &dyn Fn(u32) -> u32| {
        let Some(at) = go(index) else { return 0 };
        let old = word(&counts, at);
        put(&mut counts, at, new(old));
        old
    };
    let out = [
        change(at, &|old| old.wrapping_add(5)),
        change(3, &|old| old.max(9)),
        change(at, &|old| old),
    ];
    change(70, &|_| 12);
    let case = format!("{target:?} {robust:?}, {bytes} bytes, index {at:#x}");
    let got = program.bytes(&ran, 2);
    let got: Vec<u32> = (0..3).map(|k| word(&got, k * 4)).collect();
    assert_eq!(got, out, "{case}: what was read");
    assert_eq!(program.bytes(&ran, 1), counts, "{case}: what was written");
}

const ELEMENTS: &str = "
struct Element { v: vec3u, w: array<u32, 5> }
struct Data { head: vec4u, n: u32, tail: array<Element> }
struct Params { at: u32, inner: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> source: Data;
@group(0) @binding(2) var<storage, read_write> sink: Data;
@group(0) @binding(3) var<storage, read_write> near: array<u32, 4>;
@group(0) @binding(5) var<storage, read_write> out: array<u32, 8>;
@compute @workgroup_size(1) fn main() {
  near[1] += 1u;
  out[0] = source.tail[p.at].v.y;
  out[1] = source.tail[p.at].w[p.inner];
  out[2] = source.tail[9].w[4];
  let e = &sink.tail[p.at];
  out[3] = (*e).w[p.inner];
  (*e).v = vec3u(1u, 2u, 3u);
  (*e).w[p.inner] = 4u;
  sink.tail[30].w[1] = 5u;
  out[5] = arrayLength(&sink.tail);
}";

/// Where the array begins in `Data`, and bytes of an `Element`.
const TAIL: usize = 32;
const STRIDE: usize = 32;

#[test]
fn an_array_behind_members_may_be_cut_anywhere() {
    for target in WRITERS {
        for robust in [Robust::Restrict, Robust::Zero] {
            let program = Program::new(target, robust, Source::Wgsl(ELEMENTS));
            let tails = [0, 4, 12, STRIDE - 4, STRIDE, STRIDE + 20, 2 * STRIDE, 3 * STRIDE];
            let whole = tails.iter().map(|tail| TAIL + tail);
            for bytes in whole.chain([0, 4, 16, TAIL - 4]) {
                for at in [0, 1, 2, 5, 0x0800_0000, u32::MAX] {
                    for inner in [0, 4, 5, u32::MAX] {
                        check_elements(&program, target, robust, bytes, at, inner);
                    }
                }
            }
        }
    }
}

fn check_elements(
    program: &Program,
    target: Target,
    robust: Robust,
    bytes: usize,
    at: u32,
    inner: u32,
) {
    let (source, mut sink) = (pattern(bytes, 1), pattern(bytes, 2));
    let ran = program.dispatch(&[
        (0, words(&[at, inner])),
        (1, source.clone()),
        (2, sink.clone()),
        (3, words(&[10, 20, 30, 40])),
        (5, vec![0xee; 32]),
    ]);
    let length = bytes.saturating_sub(TAIL) / STRIDE;
    let element = |index: u32| place(robust, index, length).map(|index| TAIL + index * STRIDE);
    let within = |index: u32, inner: u32| {
        let inner = place(robust, inner, 5)?;
        element(index).map(|at| at + 12 + inner * 4)
    };
    let read = |bytes: &[u8], at: Option<usize>| at.map_or(0, |at| word(bytes, at));
    let out = [
        read(&source, element(at).map(|at| at + 4)),
        read(&source, within(at, inner)),
        read(&source, within(9, 4)),
        read(&sink, within(at, inner)),
    ];
    if let Some(at) = element(at) {
        for k in 0..3 {
            put(&mut sink, at + 4 * k, k as u32 + 1);
        }
    }
    for (at, value) in [(within(at, inner), 4), (within(30, 1), 5)] {
        if let Some(at) = at {
            put(&mut sink, at, value);
        }
    }
    let case = format!("{target:?} {robust:?}, {bytes} bytes, index {at:#x}, within {inner}");
    let got = program.bytes(&ran, 5);
    let read: Vec<u32> = (0..4).map(|k| word(&got, k * 4)).collect();
    assert_eq!(read, out, "{case}: what was read");
    assert_eq!(word(&got, 20), length as u32, "{case}: the length");
    assert_eq!(program.bytes(&ran, 2), sink, "{case}: what was written");
    assert_eq!(program.bytes(&ran, 3), words(&[10, 21, 30, 40]), "{case}: the neighbour");
}

const VERTEX: &str = "
@group(0) @binding(0) var<storage, read> source: array<vec2u>;
struct Out { @builtin(position) place: vec4f, @location(0) @interpolate(flat) words: vec4u }
@vertex fn main(@builtin(vertex_index) at: u32) -> Out {
  return Out(vec4f(0.0, 0.0, 0.0, 1.0), vec4u(source[at * 0x10000u], source[at].y, source[70].x));
}";

#[test]
fn a_machine_that_only_reads_stays_in_range_too() {
    for target in [Target::Interp, Target::R600, Target::R700, Target::VALHALL] {
        for robust in [Robust::Restrict, Robust::Zero] {
            let program = Program::new(target, robust, Source::Wgsl(VERTEX));
            for bytes in [0, 4, 7, 8, 12, 16, 20, 24] {
                check_vertices(&program, target, robust, bytes);
            }
        }
    }
}

fn check_vertices(program: &Program, target: Target, robust: Robust, bytes: usize) {
    let source = pattern(bytes, 5);
    let mut bindings = program.bindings(&[(0, source.clone())]);
    let ids: Vec<VertexId> = (0..4).map(|vertex| VertexId { vertex, instance: 0 }).collect();
    let run = VertexRun { ids: &ids, first_vertex: 0, first_instance: 0, buffers: &[] };
    let outs = program.executor().vertices(&mut bindings, &run);
    let outs = outs.expect("no rule of the machine is broken");
    let location = program.func.outputs.values();
    let location =
        location.into_iter().position(|data| data.name.contains("words")).expect("the output");
    let read = |index: u32, part: usize| {
        place(robust, index, bytes / 8).map_or(0, |at| word(&source, at * 8 + part * 4))
    };
    for (at, out) in (0u32..).zip(&outs) {
        let far = at * 0x10000;
        let expected = [read(far, 0), read(far, 1), read(at, 1), read(70, 0)];
        let case = format!("{target:?} {robust:?}, {bytes} bytes, vertex {at}");
        assert_eq!(out[location], expected, "{case}");
    }
}

const GLSL: &str = "#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer A { uint n; uint a[]; };
layout(std430, binding = 1) buffer B { uint b[]; };
void main() { a[70] = 77u; b[1] = b[90] + a[65]; }
";

#[test]
fn constant_indices_are_bounded_in_glsl_too() {
    use gpucc_ir::ssa::Stage;
    for target in WRITERS {
        let source = Source::Glsl(GLSL, Stage::Compute);
        let program = Program::new(target, Robust::Restrict, source);
        let ran = program.dispatch(&[(0, words(&[5, 6, 7])), (1, words(&[1, 2, 3]))]);
        assert_eq!(program.bytes(&ran, 0), words(&[5, 6, 77]), "{target:?}");
        assert_eq!(program.bytes(&ran, 1), words(&[1, 80, 3]), "{target:?}");
        let ran = program.dispatch(&[(0, words(&[5])), (1, vec![])]);
        assert_eq!(program.bytes(&ran, 0), words(&[5]), "{target:?}");
    }
}

const UNMARKED: &str = "func \"main\" compute {
  res0 = \"a\" group 0 binding 0 storage 0 stride 4 load store as u32
} body {
  %0: b32 = const 0x8
  buffer_store res0, %0, %0
  yield
}
";

#[test]
fn an_unmarked_access_in_a_text_of_ir_is_an_error_with_its_line_unless_the_text_is_trusted() {
    let folder = Folder::new("unmarked");
    let file = folder.write("unmarked.ir", UNMARKED);
    let ran = gpucc(&[&file, "--target", "r700"]);
    let said = text(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("unmarked.ir:5:3"), "{said}");
    assert!(said.contains("`trusted`"), "{said}");
    let trusted = UNMARKED.replace("compute {", "compute trusted {");
    let file = folder.write("trusted.ir", trusted);
    let ran = gpucc(&[&file, "--target", "r700"]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran));
}

const BEYOND: &str = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() {
  out[30] = 7u;
}";

const ELEMENT: &str = "
enable wgpu_binding_array;
@group(0) @binding(0) var all: binding_array<texture_2d<f32>, 3>;
@group(0) @binding(4) var<storage, read> which: array<i32>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4f>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
  out[id.x] = textureLoad(all[which[id.x]], vec2i(0), 0);
}";

#[test]
fn without_bounds_an_illegal_access_is_the_users_error_with_its_place() {
    let folder = Folder::new("beyond");
    let file = folder.write("beyond.wgsl", BEYOND);
    let run = |robust: &str| {
        gpucc(&[
            "run",
            &file,
            "--target",
            "valhall",
            "--groups",
            "1",
            "--robust",
            robust,
            "--set",
            "0.0=zeros:8",
            "--dump",
            "0.0",
        ])
    };
    let ran = run("off");
    let said = text(&ran);
    assert_eq!(ran.status.code(), Some(5), "{said}");
    assert!(said.contains("beyond.wgsl:4:3"), "{said}");
    assert_eq!(text(&run("restrict")).trim(), "0.0: 0 7");
    assert_eq!(text(&run("zero")).trim(), "0.0: 0 0");
}

#[test]
fn an_element_beyond_an_array_of_bindings_is_the_users_error_too() {
    let program = Program::new(Target::VALHALL, Robust::Off, Source::Wgsl(ELEMENT));
    // A number in the place of the table of a handle; there are 62.
    let mut bindings = program.bindings(&[(4, words(&[100 << 24])), (5, vec![0; 16])]);
    let stop = program.executor().dispatch(&mut bindings, [1; 3]);
    let stop = stop.expect_err("there is no such table");
    let failure = stop.into_failure();
    assert_eq!(failure.exit_code(), 5, "{failure:?}");
    let place = ELEMENT.find("textureLoad").map(|at| at as u32);
    let label = failure.diagnostics[0].labels.first();
    assert_eq!(label.map(|label| label.start), place, "{failure:?}");
}

#[test]
fn a_built_in_value_of_another_type_is_the_users_error() {
    let folder = Folder::new("builtin");
    let wrong = "#version 400
out double gl_CullDistance[4];
void main() { gl_Position = vec4(0.0); gl_CullDistance[0] = 5.0; }
";
    let file = folder.write("cull.vert", wrong);
    let ran = gpucc(&[&file, "--target", "valhall"]);
    let said = text(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("CullDistance"), "{said}");
}

const CONTINUING: &str = "
struct Params { at: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(2) var<storage, read_write> sink: array<u32>;
@group(0) @binding(3) var<storage, read_write> near: array<u32, 4>;
@compute @workgroup_size(1) fn main() {
  near[1] += 1u;
  var i = 0u;
  loop {
    if (i >= 2u) { break; }
    let element = &sink[p.at + i];
    continuing {
      *element = *element + 10u;
      i = i + 1u;
    }
  }
}";

#[test]
fn a_pointer_of_a_loops_body_keeps_its_bounds_in_continuing() {
    for target in WRITERS {
        for robust in [Robust::Restrict, Robust::Zero] {
            let program = Program::new(target, robust, Source::Wgsl(CONTINUING));
            for bytes in [0, 3, 4, 8, 12] {
                for at in INDICES {
                    let mut sink = pattern(bytes, 4);
                    let near = words(&[10, 20, 30, 40]);
                    let ran = program.dispatch(&[(0, words(&[at])), (2, sink.clone()), (3, near)]);
                    for index in [at, at.wrapping_add(1)] {
                        if let Some(index) = place(robust, index, bytes / 4) {
                            let sum = word(&sink, index * 4).wrapping_add(10);
                            put(&mut sink, index * 4, sum);
                        }
                    }
                    let case = format!("{target:?} {robust:?}, {bytes} bytes, index {at:#x}");
                    assert_eq!(program.bytes(&ran, 2), sink, "{case}");
                    assert_eq!(program.bytes(&ran, 3), words(&[10, 21, 30, 40]), "{case}");
                }
            }
        }
    }
}

const HALVES: &str = "enable f16;
@group(0) @binding(0) var<storage, read_write> out: array<i32, 1>;
@compute @workgroup_size(1) fn main() {
  var parts = frexp(f16(out[0]));
  out[0] = i32(parts.exp);
}";

#[test]
fn the_exponent_of_a_half_is_stored_as_wide_as_its_place() {
    let program = Program::new(Target::Interp, Robust::Restrict, Source::Wgsl(HALVES));
    let ran = program.dispatch(&[(0, words(&[96]))]);
    assert_eq!(program.bytes(&ran, 0), words(&[7]));
}
