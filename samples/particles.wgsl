// A particle step: an array of structures is read, changed and written back.
//
//   gpucc run samples/particles.wgsl --target r700 --robust zero --groups 1 \
//       --set 0.0=f32:0,-9.81,0.1,0.01 \
//       --set 0.1=f32:0,0,1,5,0,1 --dump 0.1:f32

struct Particle {
    position: vec2f,
    velocity: vec2f,
    age: f32,
    alive: u32,
}

struct Params {
    gravity: vec2f,
    dt: f32,
    drag: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> particles: array<Particle>;

fn bounce(p: ptr<function, Particle>) {
    if (*p).position.y < 0.0 && (*p).velocity.y < 0.0 {
        (*p).position.y = -(*p).position.y;
        (*p).velocity = (*p).velocity * vec2f(0.9, -0.7);
    }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&particles) {
        return;
    }
    var p = particles[id.x];
    if p.alive == 0u {
        return;
    }
    p.velocity = (p.velocity + params.gravity * params.dt) * (1.0 - params.drag * params.dt);
    p.position += p.velocity * params.dt;
    p.age += params.dt;
    p.alive = select(0u, 1u, p.age < 10.0);
    bounce(&p);
    particles[id.x] = p;
}
