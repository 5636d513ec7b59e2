//! Where texels lie: levels, layers, slices, faces, tiles, buffers; loads and sizes. isa/gen4-pipeline.md 1.5, 4.8.1.4.

use super::*;

/// Fills a surface so that each texel is a number of its own, by where it should lie.
fn mark(bench: &mut Bench, [left, top]: [u32; 2], [width, height]: [u32; 2], first: f32) {
    for y in 0..height {
        for x in 0..width {
            bench.float([left + x, top + y], first + (y * width + x) as f32);
        }
    }
}

fn loaded(bench: &mut Bench, at: [u32; 4]) -> f32 {
    f32::from_bits(bench.load(at).unwrap()[0])
}

/// Layers of 6 by 5 texels: 6 rows of level 0, 2 of level 1, and 22 more between.
#[test]
fn layers_are_below_each_other() {
    for model in BOTH {
        let mut bench = Bench::new(model, Kind::Plane, R32F, [6, 5, 3, 2], 64);
        for layer in 0..3 {
            let top = layer * (6 + 2 + 22);
            mark(&mut bench, [0, top], [6, 5], 1000.0 * layer as f32);
            mark(&mut bench, [0, top + 6], [3, 2], 1000.0 * layer as f32 + 500.0);
        }
        for layer in 0..3 {
            let first = 1000.0 * layer as f32;
            assert_eq!(loaded(&mut bench, [5, 4, layer, 0]), first + 29.0);
            assert_eq!(loaded(&mut bench, [2, 1, layer, 1]), first + 505.0);
            // The layer of a sample is a float, clamped to those that are there.
            for (told, right) in [(layer as f32, first), (-3.0, 0.0), (7.0, 2000.0)] {
                assert_eq!(bench.at([0.01, 0.01, told], 0.0), right);
            }
        }
        // Beyond layers, levels, columns or rows there is nothing.
        for at in [[0, 0, 3, 0], [0, 0, 0, 2], [6, 0, 0, 0], [0, 5, 0, 0], [0, 2, 0, 1], [!0; 4]] {
            let right = [0, 0, 0, 1f32.to_bits()];
            assert_eq!(bench.load(at).unwrap(), right, "{at:?}");
        }
        // Two layers from layer 1 on.
        bench.surface[3] = 1 << 21 | 63 << 3;
        bench.surface[4] = 1 << 17;
        assert_eq!(loaded(&mut bench, [0, 0, 1, 0]), 2000.0);
        assert_eq!(loaded(&mut bench, [0, 0, 2, 0]), 0.0);
        assert_eq!(bench.at([0.01, 0.01, 0.0], 0.0), 1000.0);
    }
}

/// Lines in layers: v is the layer.
#[test]
fn layers_of_lines_are_the_second_coordinate() {
    let mut bench = Bench::new(Model::G45, Kind::Line, R32F, [4, 1, 2, 1], 64);
    mark(&mut bench, [0, 0], [4, 1], 0.0);
    mark(&mut bench, [0, 2 + 2 + 22], [4, 1], 10.0);
    assert_eq!(loaded(&mut bench, [2, 0, 0, 0]), 2.0);
    assert_eq!(loaded(&mut bench, [2, 1, 0, 0]), 12.0);
    assert_eq!(bench.at([0.9, 1.0, 0.0], 0.0), 13.0);
    let reply = bench.words(2 << 12, &[[0; 8]; 2], 8).unwrap();
    assert_eq!([0, 2, 4, 6].map(|at: usize| reply.registers[at].0.words[0]), [4, 2, 0, 1]);
}

/// Slices of level n lie 2^n side by side; levels below each other.
#[test]
fn slices_of_a_volume_are_side_by_side() {
    let mut bench = Bench::new(Model::G45, Kind::Volume, R32F, [4, 4, 4, 3], 64);
    for z in 0..4 {
        mark(&mut bench, [0, 4 * z], [4, 4], 100.0 * z as f32);
    }
    // Two slices of 2 by 2, one beside the other, from row 16 on; one of 1 by 1 below them.
    for z in 0..2 {
        mark(&mut bench, [4 * z, 16], [2, 2], 1000.0 + 100.0 * z as f32);
    }
    bench.float([0, 18], 5000.0);
    assert_eq!(loaded(&mut bench, [3, 2, 3, 0]), 311.0);
    assert_eq!(loaded(&mut bench, [1, 1, 1, 1]), 1103.0);
    assert_eq!(loaded(&mut bench, [0, 0, 0, 2]), 5000.0);
    assert_eq!(bench.at([0.1, 0.1, 0.9], 0.0), 300.0);
    let reply = bench.words(2 << 12, &[[0; 8], [1; 8]], 8).unwrap();
    let size = |half: usize| [0, 2, 4, 6].map(|at: usize| reply.registers[at + half].0.words[0]);
    assert_eq!((size(0), size(1)), ([4, 4, 4, 3], [2, 2, 2, 3]));
    // Slices are filtered; r is an offset's axis too.
    let mut bench = Bench::new(Model::G45, Kind::Volume, R8, [1, 1, 2, 1], 64);
    bench.texel([0, 2], &[255]);
    bench.sampler[0] = filters(LINEAR, LINEAR, 0);
    assert_eq!(bench.at([0.5; 3], 0.0), 0.5);
    bench.control = 1;
    assert_eq!(loaded(&mut bench, [0; 4]), 1.0);
}

/// Faces as slices of a volume, in the order +x -x +y -y +z -z.
fn cube(code: u32) -> Bench {
    let mut bench = Bench::new(Model::G45, Kind::Cube, code, [4, 4, 1, 1], 64);
    bench.sampler[1] = 832 << 12 | CUBE << 6 | CUBE << 3 | CUBE;
    bench
}

#[test]
fn a_cube_has_six_faces() {
    let mut bench = cube(R32F);
    for face in 0..6 {
        mark(&mut bench, [0, 4 * face], [4, 4], 100.0 * face as f32);
    }
    // The upper left corner of each face, of directions by Direct3D's and OpenGL's rule.
    let corners = [
        [1.0, 0.9, 0.9],
        [-1.0, 0.9, -0.9],
        [-0.9, 1.0, -0.9],
        [-0.9, -1.0, 0.9],
        [-0.9, 0.9, 1.0],
        [0.9, 0.9, -1.0],
    ];
    for (face, corner) in corners.into_iter().enumerate() {
        assert_eq!(bench.at(corner, 0.0), 100.0 * face as f32, "{face}");
        // Slopes come with u and v on the face, and the face's number.
        let face = face as f32;
        let told = [-0.9, 0.9, face, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(bench.eight(2, &told).unwrap()[0], 100.0 * face + 12.0);
    }
    assert_eq!(
        bench.eight(2, &[0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        Err(Rule::SamplerForm)
    );
    assert_eq!(bench.sixteen(1, &[0.5, 0.1, 0.1, 0.0]), Err(Rule::SamplerForm));
    let reply = bench.words(2 << 12, &[[0; 8]; 2], 8).unwrap();
    assert_eq!([0, 2, 4, 6].map(|at: usize| reply.registers[at].0.words[0]), [4, 4, 0, 1]);
    // All wrap modes are those of a cube, or the state says that they are.
    bench.sampler[1] = 832 << 12 | CUBE << 6 | CUBE << 3 | CLAMP;
    assert_eq!(bench.sixteen(1, &[1.0, 0.0, 0.0, 0.0]), Err(Rule::SamplerState));
    bench.sampler[1] |= 1 << 9;
    assert!(bench.sixteen(1, &[1.0, 0.0, 0.0, 0.0]).is_ok());
    bench.surface[3] |= 1 << 21;
    assert_eq!(bench.sixteen(1, &[1.0, 0.0, 0.0, 0.0]), Err(Rule::SurfaceState));
}

#[test]
fn filters_cross_the_edges_of_a_cube() {
    let mut bench = cube(R8);
    // +x is 0, +z is 255: between them half of each.
    for y in 0..4 {
        bench.texel([0, 16 + y], &[255; 4]);
    }
    bench.sampler[0] = filters(LINEAR, LINEAR, 0);
    assert_eq!(bench.at([1.0, 0.0, 0.999_999], 0.0), 0.5);
    assert_eq!(bench.at([1.0, 0.0, 0.0], 0.0), 0.0);
}

#[test]
fn tiles_of_both_kinds_are_read() {
    for (walk, pitch) in [(0, 512), (1, 128)] {
        let mut bench = Bench::new(Model::G45, Kind::Plane, R32F, [32, 40, 1, 1], pitch);
        bench.surface[3] |= 2 | walk;
        // X: rows of 512 bytes, 8 a tile. Y: columns of 16 bytes, 32 rows each.
        for (x, y, value) in [(0, 0, 1.0f32), (5, 3, 2.0), (31, 7, 3.0), (9, 33, 4.0)] {
            let at = match walk {
                0 => y / 8 * 4096 + y % 8 * 512 + 4 * x,
                _ => y / 32 * 4096 + x / 4 * 512 + y % 32 * 16 + x % 4 * 4,
            };
            bench.memory.write(TEXELS + at, &value.to_le_bytes()).unwrap();
            bench.textures.clear();
            assert_eq!(loaded(&mut bench, [x, y, 0, 0]), value, "{walk} {x} {y}");
        }
    }
}

/// Elements of a buffer are its pitch apart; beyond the last there is nothing.
#[test]
fn elements_of_a_buffer_are_loaded() {
    for model in BOTH {
        let mut bench = Bench::new(model, Kind::Buffer, RGBA32F, [3, 1, 1, 1], 32);
        for n in 0..3u32 {
            let texel: Vec<u32> = (0..4).map(|c| 4 * n + c).collect();
            bench.memory.write(TEXELS + 32 * n, &bytes(&texel)).unwrap();
        }
        assert_eq!(bench.load([2, 0, 0, 0]).unwrap(), [8, 9, 10, 11]);
        assert_eq!(bench.load([3, 0, 0, 0]).unwrap(), [0; 4]);
        assert_eq!(bench.load([!0, 0, 0, 0]).unwrap(), [0; 4]);
        // One coordinate is enough.
        let reply = bench.send(3, &[[1; 8]; 2], 8).unwrap();
        assert_eq!(components(&reply, 2).map(f32::to_bits), [4, 5, 6, 7]);
        // The level of a buffer is 0 on the 965.
        assert_eq!(bench.load([0, 0, 0, 1]).is_ok(), model == Model::G45);
        // Elements are read as the surface's format.
        bench.surface[0] = 4 << 29 | R8 << 18;
        bench.surface[3] = 0;
        bench.memory.write(TEXELS, &[0, 255, 0]).unwrap();
        assert_eq!(bench.load([1, 0, 0, 0]).unwrap()[0], 1f32.to_bits());
    }
}

/// What a format lacks is 0, and alpha 1; loads of 8 bits a channel without alpha have alpha 0. 4.7.2.1.2, 4.8.1.4, errata.
#[test]
fn absent_components_have_their_defaults() {
    let one = 1f32.to_bits();
    for (code, sampled, alpha) in
        [(R16, true, one), (R8, true, 0), (R32U, false, 1), (0x143, false, 0), (0xcb, false, 0)]
    {
        let mut bench = Bench::new(Model::G45, Kind::Plane, code, [4, 4, 1, 1], 64);
        let found = bench.load([0; 4]).unwrap();
        assert_eq!(found, [0, 0, 0, alpha], "{code:#x}");
        let beyond = bench.load([4, 0, 0, 0]).unwrap();
        assert_eq!(beyond, [0, 0, 0, alpha], "{code:#x}");
        if sampled {
            assert_eq!(bench.sixteen(0, &[0.5; 2]).unwrap(), [0.0, 0.0, 0.0, 1.0]);
        }
    }
}

#[test]
fn offsets_move_texels() {
    let mut bench = Bench::new(Model::G45, Kind::Plane, R32F, [4, 4, 1, 1], 64);
    mark(&mut bench, [0, 0], [4, 4], 0.0);
    // u by 1, v by -1.
    bench.control = 1 << 8 | 15 << 4;
    assert_eq!(loaded(&mut bench, [1, 2, 0, 0]), 6.0);
    assert_eq!(loaded(&mut bench, [!0, 1, 0, 0]), 0.0);
    assert_eq!(bench.at([0.3, 0.6, 0.0], 0.0), 6.0);
    assert_eq!(bench.load([0, 0, 0, 0]).unwrap()[0], 0);
}
