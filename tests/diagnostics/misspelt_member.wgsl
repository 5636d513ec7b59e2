struct Light {
    position: vec3f,
    intensity: f32,
}

@group(0) @binding(0) var<uniform> light: Light;

@fragment
fn main() -> @location(0) vec4f {
    return vec4f(light.postion * light.intensity, 1.0);
}
