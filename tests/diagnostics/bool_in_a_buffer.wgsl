struct Params {
    on: bool,
}

@group(0) @binding(0) var<uniform> params: Params;

@fragment
fn main() -> @location(0) vec4f {
    return select(vec4f(0.0), vec4f(1.0), params.on);
}
