//! The faces of a cube: which one a direction points to, and its components there. R700, Valhall and
//! the shared sampler all mean this table.

/// The face of a direction, 0..=5: +x -x +y -y +z -z. The largest coordinate by magnitude decides;
/// z wins over y and y over x when they tie.
pub fn face([x, y, z]: [f32; 3]) -> u32 {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (axis, value) = if az >= ax && az >= ay {
        (4, z)
    } else if ay >= ax {
        (2, y)
    } else {
        (0, x)
    };
    axis + u32::from(value < 0.0)
}

/// The components of `v` along s, t and the axis of a face. The third is signed as the axis is, so
/// it is negative on faces 1, 3 and 5 for what lies before them.
pub fn components(face: u32, [x, y, z]: [f32; 3]) -> (f32, f32, f32) {
    match face {
        0 => (-z, -y, x),
        1 => (z, -y, x),
        2 => (x, z, y),
        3 => (x, -z, y),
        4 => (x, -y, z),
        _ => (-x, -y, z),
    }
}

/// The components of `v` along s, t and the major axis of the face that `direction` points to, and
/// that face.
pub fn axes(direction: [f32; 3], v: [f32; 3]) -> (f32, f32, f32, u32) {
    let face = face(direction);
    let (s, t, major) = components(face, v);
    (s, t, major, face)
}
