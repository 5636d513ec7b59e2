// Many materials in one draw: an array of bindings, chosen by the material's number.
//
//   gpucc verify samples/materials.wgsl --target r700
enable wgpu_binding_array;

struct Material { scale: vec2f, texture: u32, mirrored: u32 }

@group(0) @binding(0) var<storage, read> materials: array<Material>;
@group(0) @binding(1) var textures: binding_array<texture_2d<f32>, 4>;
@group(0) @binding(2) var filters: binding_array<sampler, 2>;
@group(0) @binding(3) var<uniform> material: vec4u;

@fragment
fn main(@location(0) uv: vec2f) -> @location(0) vec4f {
    let chosen = materials[material.x];
    let place = uv * chosen.scale;
    let texel = textureSample(textures[chosen.texture % 4u], filters[chosen.mirrored & 1u], place);
    let size = textureDimensions(textures[chosen.texture % 4u]);
    let detail = textureLoad(textures[0], vec2u(material.yz) % size, 0);
    return mix(texel, detail, 0.25);
}
