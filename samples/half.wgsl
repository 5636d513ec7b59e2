// Lighting in half precision: phones prefer it.
//
//   gpucc verify samples/half.wgsl --target valhall
enable f16;

struct Material { color: vec4<f16>, rough: f16, metal: f16 }

@group(0) @binding(0) var<uniform> material: Material;
@group(0) @binding(1) var<uniform> towards_light: vec4f;

@fragment
fn main(@location(0) normal: vec3f, @location(1) view: vec3f) -> @location(0) vec4f {
    let n = vec3<f16>(normalize(normal));
    let v = vec3<f16>(normalize(view));
    let l = vec3<f16>(towards_light.xyz);
    let h = normalize(v + l);
    let diffuse = max(dot(n, l), 0.0h);
    let shine = pow(max(dot(n, h), 0.0h), 2.0h + 30.0h * (1.0h - material.rough));
    let color = material.color.rgb * diffuse * (1.0h - material.metal) + shine;
    return vec4f(vec3f(color), f32(material.color.a));
}
