@fragment
fn main() -> @location(0) vec4f {
    let höhe = 1.0; let größe = höhe + fehlt;
    return vec4f(größe);
}
