// A Fourier transform of 32 complex numbers: bit reversal, then five rounds of butterflies.
//
//   gpucc run samples/fourier.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=f32:1,0,1,0,1,0,1,0 --set 0.1=zeros:32 --dump 0.1:f32

@group(0) @binding(0) var<storage, read> signal: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> spectrum: array<vec2f>;

var<workgroup> samples: array<vec2f, 32>;

fn times(a: vec2f, b: vec2f) -> vec2f {
    return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

@compute @workgroup_size(32)
fn main(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) own: u32,
) {
    samples[reverseBits(own) >> 27u] = signal[id.x];
    workgroupBarrier();
    for (var half = 1u; half < 32u; half *= 2u) {
        let place = own % (half * 2u);
        let low = own - place + (place % half);
        let angle = -3.14159265 * f32(place % half) / f32(half);
        let twisted = times(samples[low + half], vec2f(cos(angle), sin(angle)));
        let first = samples[low];
        workgroupBarrier();
        samples[own] = select(first - twisted, first + twisted, place < half);
        workgroupBarrier();
    }
    spectrum[id.x] = samples[own];
}
