//! Gen4's and G45's constants: programs whose uniforms are pushed run on the strict emulator, and the results are compared with the
//! interpreter's.

use crate::common::verified;
use gpucc::pipeline::Uniforms;
use gpucc::{Options, Source, Target};

/// Words of two buffers in all stages, read at once, in branches, and beside what is read from memory; sizes that a program
/// asks for stand among the constants too.
const PUSHED: &str = "
struct Camera { matrix: mat4x4f, tint: vec4f, shift: vec3f, count: u32 }
@group(0) @binding(0) var<uniform> camera: Camera;
@group(1) @binding(0) var<uniform> table: array<vec4f, 8>;
@group(1) @binding(1) var<storage, read_write> out: array<f32>;

struct Varying { @builtin(position) position: vec4f, @location(0) color: vec4f }

@vertex fn vs(@location(0) place: vec3f, @builtin(vertex_index) number: u32) -> Varying {
    let moved = camera.matrix * vec4f(place + camera.shift, 1.0);
    return Varying(moved, camera.tint * table[number % 8u] + table[2]);
}

@fragment fn fs(in: Varying) -> @location(0) vec4f {
    var color = in.color * camera.tint;
    if in.color.x < table[1].y || camera.count > 7u {
        color += table[5] / (1.0 + in.color * in.color);
    }
    return clamp(color, vec4f(0.0), vec4f(1.0));
}

@compute @workgroup_size(24) fn cs(@builtin(local_invocation_index) lane: u32) {
    let scaled = camera.tint.z * f32(lane / (camera.count | 1u)) + table[lane % 8u].w;
    if lane < arrayLength(&out) {
        out[lane] = select(scaled, camera.shift.y, lane == camera.count);
    }
}
";

#[test]
fn uniforms_among_the_constants_are_what_the_buffers_hold() {
    for target in [Target::GEN4, Target::G45] {
        for uniforms in [Uniforms::Loaded, Uniforms::Pushed] {
            let mut options = Options::default();
            options.pipeline.uniforms = uniforms;
            verified(target, options, "pushed.wgsl", Source::Wgsl(PUSHED));
        }
    }
}
