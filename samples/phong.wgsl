// Three lit spheres. The mesh is made from the vertex number, so nothing has to be bound.
//
//   gpucc render samples/phong.wgsl --target r700 --size 256x256 --draw 4608,3 --depth \
//       --clear 0.07,0.08,0.11,1 -o phong.png

const SLICES: u32 = 32u; // around the axis
const STACKS: u32 = 24u; // from pole to pole; 32 * 24 * 6 = 4608 vertices a sphere
const PI: f32 = 3.14159265;

struct Varying {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) @interpolate(flat) sphere: u32,
}

// Corners of the two triangles of one patch, as (slice, stack) steps.
fn corner(k: u32) -> vec2u {
    return vec2u((0x1Au >> k) & 1u, (0x34u >> k) & 1u);
}

fn centre(sphere: u32) -> vec3f {
    let angle = f32(sphere) * (2.0 * PI / 3.0) + 0.5;
    return vec3f(cos(angle), 0.85 * sin(angle) + 0.05, 0.35 * sin(angle));
}

@vertex
fn vs(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Varying {
    let patch_number = vertex / 6u;
    let step = corner(vertex % 6u);
    let slice = patch_number % SLICES + step.x;
    let stack = patch_number / SLICES + step.y;

    let longitude = f32(slice) * (2.0 * PI / f32(SLICES));
    let latitude = f32(stack) * (PI / f32(STACKS));
    let normal = vec3f(
        sin(latitude) * cos(longitude),
        cos(latitude),
        sin(latitude) * sin(longitude),
    );
    let world = centre(instance) + 0.8 * normal;

    // A perspective camera at z = 4 that looks along -z.
    let depth = 4.0 - world.z;
    var out: Varying;
    out.clip = vec4f(2.1 * world.xy, depth * 0.5 - 0.5, depth);
    out.world = world;
    out.normal = normal;
    out.sphere = instance;
    return out;
}

fn base_color(sphere: u32) -> vec3f {
    switch sphere {
        case 0u: { return vec3f(0.90, 0.33, 0.22); }
        case 1u: { return vec3f(0.24, 0.62, 0.85); }
        default: { return vec3f(0.95, 0.75, 0.25); }
    }
}

@fragment
fn fs(in: Varying) -> @location(0) vec4f {
    let n = normalize(in.normal);
    let to_light = normalize(vec3f(2.5, 3.5, 4.0) - in.world);
    let to_eye = normalize(vec3f(0.0, 0.0, 4.0) - in.world);

    let diffuse = max(dot(n, to_light), 0.0);
    let mirrored = reflect(-to_light, n);
    let highlight = pow(max(dot(mirrored, to_eye), 0.0), 40.0);
    let rim = 0.25 * (1.0 - max(dot(n, to_eye), 0.0));

    let color = base_color(in.sphere) * (0.12 + 0.85 * diffuse + rim) + 0.5 * highlight;
    return vec4f(sqrt(clamp(color, vec3f(0.0), vec3f(1.0))), 1.0); // sqrt: a cheap gamma
}
