//! The rasteriser against a second way to say the same: no clipping, no projection, no fan of triangles, but for each
//! pixel the point of the primitive's plane that its centre sees, in homogeneous coordinates (Olano and Greer, "Triangle scan
//! conversion using 2D homogeneous coordinates", 1997).

use super::*;
use gpucc_ir::ssa::random::Rng;

const SIZE: u32 = 12;

/// A number between two bounds.
fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.below(1 << 20) as f64 / f64::from(1 << 20)
}

fn raster(rng: &mut Rng) -> Raster {
    let viewport = Viewport {
        x: rng.below(4) as f32 + 0.25,
        y: rng.below(4) as f32 - 1.5,
        width: 5.0 + rng.below(8) as f32,
        height: 4.0 + rng.below(9) as f32,
        near: 0.125 * rng.below(4) as f32,
        far: 1.0 - 0.25 * rng.below(3) as f32,
    };
    let bounds = [
        rng.below(3) as u32,
        rng.below(3) as u32,
        SIZE - rng.below(3) as u32,
        SIZE - rng.below(3) as u32,
    ];
    Raster::new(viewport, bounds, rng.below(2) == 0)
}

/// What a pixel shows of a primitive.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    times: u32,
    front: bool,
    depth: f64,
    inverse_w: f64,
    perspective: [f64; 3],
    linear: [f64; 3],
}

/// By row and column.
fn seen(raster: &Raster, topology: Topology, corners: &[Corner]) -> Vec<Vec<Seen>> {
    let mut rows = vec![vec![Seen::default(); SIZE as usize + 2]; SIZE as usize + 2];
    for piece in raster.pieces(topology, corners) {
        let mut cursor = piece.quads();
        while let Some(found) = cursor.next(&piece) {
            for pixel in (0..4usize).filter(|pixel| found.covered >> pixel & 1 == 1) {
                let (x, y) = (found.x as usize + (pixel & 1), found.y as usize + pixel / 2);
                let [center_x, center_y, depth, inverse_w] = found.position[pixel];
                assert_eq!([center_x, center_y], [x as f32 + 0.5, y as f32 + 0.5]);
                let cell = &mut rows[y][x];
                *cell = Seen {
                    times: cell.times + 1,
                    front: piece.front(),
                    depth: depth.into(),
                    inverse_w: inverse_w.into(),
                    perspective: piece.perspective(&found, pixel, false),
                    linear: piece.linear(&found, pixel, false),
                };
            }
        }
    }
    rows
}

/// In clip space at w = 1.
fn to_clip(viewport: &Viewport, x: f64, y: f64) -> [f64; 2] {
    [
        (x - f64::from(viewport.x)) / f64::from(viewport.width) * 2.0 - 1.0,
        1.0 - (y - f64::from(viewport.y)) / f64::from(viewport.height) * 2.0,
    ]
}

/// Twice the signed volume of three columns.
fn determinant(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// Everything that is linear over the screen: the corners' weights at w = 1, z / w, 1 - z / w, then the distances to
/// the user's planes. A pixel is inside where none is negative.
fn planes(corners: &[Corner; 3], viewport: &Viewport, x: f64, y: f64) -> Vec<f64> {
    let [x, y] = to_clip(viewport, x, y);
    let [a, b, c] = corners.each_ref().map(|c| [c.position[0], c.position[1], c.position[3]]);
    let (all, eye) = (determinant(a, b, c), [x, y, 1.0]);
    let weights =
        [determinant(eye, b, c) / all, determinant(a, eye, c) / all, determinant(a, b, eye) / all];
    let sum = |of: &dyn Fn(&Corner) -> f64| -> f64 {
        corners.iter().zip(weights).map(|(corner, weight)| weight * of(corner)).sum()
    };
    let z = sum(&|corner| corner.position[2]);
    let mut planes = weights.to_vec();
    planes.extend([z, 1.0 - z]);
    for plane in 0..corners[0].clip.len() {
        planes.push(sum(&|corner| corner.clip[plane].into()));
    }
    planes
}

/// What a pixel must show, from [`planes`].
fn values(corners: &[Corner; 3], viewport: &Viewport, planes: &[f64]) -> [f64; 8] {
    let (near, far) = (f64::from(viewport.near), f64::from(viewport.far));
    let inverse_w = planes[0] + planes[1] + planes[2];
    let mut values = [near + planes[3] * (far - near), inverse_w, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for n in 0..3 {
        values[2 + n] = planes[n] / inverse_w;
        values[5 + n] = planes[n] * corners[n].position[3];
    }
    values
}

/// A centre so near to an edge that snapping decides about it, in pixels.
const NEAR: f64 = 1.0 / 64.0;

#[test]
fn a_triangle_shows_at_each_pixel_the_point_that_its_centre_sees() {
    let mut rng = Rng::new(5);
    let (mut compared, mut outside, mut cut) = (0, 0, 0);
    for round in 0..3000 {
        let raster = raster(&mut rng);
        // A third of the corners may lie behind the eye, beside the guard band or beyond a plane.
        let wild = round % 3 == 0;
        let distances: [[f32; 2]; 3] =
            std::array::from_fn(|_| std::array::from_fn(|_| between(&mut rng, -0.5, 2.0) as f32));
        let kept = rng.below(3);
        let corners: [Corner; 3] = std::array::from_fn(|n| {
            let w = between(&mut rng, if wild { -1.0 } else { 0.5 }, 3.0);
            let reach = if wild { 40.0 } else { 1.5 };
            let z = if wild { between(&mut rng, -1.0, 2.5) } else { between(&mut rng, 0.0, w) };
            Corner {
                position: [
                    w.abs() * between(&mut rng, -reach, reach),
                    w.abs() * between(&mut rng, -reach, reach),
                    z,
                    w,
                ],
                clip: &distances[n][..kept],
                size: 1.0,
            }
        });
        let rows = seen(&raster, Topology::TriangleList, &corners);
        let shown = |x: f64, y: f64| planes(&corners, &raster.viewport, x, y);
        let columns = corners.each_ref().map(|c| [c.position[0], c.position[1], c.position[3]]);
        let ccw = determinant(columns[0], columns[1], columns[2]) > 0.0;
        for (y, row) in rows.iter().enumerate() {
            for (x, got) in row.iter().enumerate() {
                let [left, top, right, bottom] = raster.bounds.map(|bound| bound as usize);
                if x < left || y < top || x >= right || y >= bottom {
                    assert_eq!(got.times, 0, "round {round}: {x}, {y} lies beside the bounds");
                    continue;
                }
                let center = [x as f64 + 0.5, y as f64 + 0.5];
                let here = shown(center[0], center[1]);
                let beside = shown(center[0] + NEAR, center[1]);
                let below = shown(center[0], center[1] + NEAR);
                let slack = |of: &dyn Fn(&[f64]) -> f64| -> f64 {
                    (of(&beside) - of(&here)).abs() + (of(&below) - of(&here)).abs()
                };
                let near = |n: usize| here[n].abs() <= slack(&|p| p[n]) + 1e-9;
                // At w = 0 there is no point to see.
                if (0..here.len()).any(near) || here[0] + here[1] + here[2] > 1e4 {
                    continue;
                }
                if here.iter().any(|&plane| plane < 0.0) {
                    assert_eq!(got.times, 0, "round {round}: {x}, {y} is outside: {here:?}");
                    outside += 1;
                    continue;
                }
                assert_eq!(got.times, 1, "round {round}: {x}, {y} is inside: {here:?}");
                assert_eq!(got.front, ccw == raster.front_ccw, "round {round}");
                let of = |planes: &[f64]| values(&corners, &raster.viewport, planes);
                let want = of(&here);
                let mut found = vec![got.depth, got.inverse_w];
                found.extend(got.perspective);
                found.extend(got.linear);
                for n in 0..8 {
                    let within = slack(&|planes| of(planes)[n]) + 1e-5 * (1.0 + want[n].abs());
                    assert!(
                        (found[n] - want[n]).abs() <= within,
                        "round {round}: value {n} at {x}, {y}: {} and not {}",
                        found[n],
                        want[n]
                    );
                }
                compared += 1;
                cut += u32::from(wild);
            }
        }
    }
    assert!(compared > 10_000 && outside > 10_000 && cut > 1000, "{compared} {outside} {cut}");
}

#[test]
fn a_line_shows_what_lies_along_it() {
    let mut rng = Rng::new(6);
    let (mut compared, mut outside) = (0, 0);
    for round in 0..3000 {
        let line_width = if round % 3 == 0 { 1.0 + rng.below(16) as f32 / 4.0 } else { 1.0 };
        let raster = Raster { line_width, ..raster(&mut rng) };
        let viewport = raster.viewport;
        let distances: [[f32; 1]; 2] =
            std::array::from_fn(|_| [between(&mut rng, -0.5, 2.0) as f32]);
        let ends: [Corner; 2] = std::array::from_fn(|n| {
            let w = between(&mut rng, 0.5, 3.0);
            let [x, y] = [w * between(&mut rng, -1.5, 1.5), w * between(&mut rng, -1.5, 1.5)];
            let z = between(&mut rng, -0.2 * w, 1.2 * w);
            Corner { position: [x, y, z, w], clip: &distances[n], size: 1.0 }
        });
        let mix =
            |t: f64, of: &dyn Fn(&Corner) -> f64| of(&ends[0]) + t * (of(&ends[1]) - of(&ends[0]));
        let screen = |t: f64| {
            let [x, y, w] = [0, 1, 3].map(|n| mix(t, &|c| c.position[n]));
            [
                f64::from(viewport.x) + (x / w + 1.0) / 2.0 * f64::from(viewport.width),
                f64::from(viewport.y) + (1.0 - y / w) / 2.0 * f64::from(viewport.height),
            ]
        };
        // The part that no plane cuts off.
        let (mut first, mut last) = (0.0f64, 1.0f64);
        let kept: [&dyn Fn(&Corner) -> f64; 3] =
            [&|c| c.position[2], &|c| c.position[3] - c.position[2], &|c| c.clip[0].into()];
        for of in kept {
            let (a, b) = (of(&ends[0]), of(&ends[1]));
            let cut = a / (a - b);
            match (a < 0.0, b < 0.0) {
                (true, true) => first = 2.0,
                (true, false) => first = first.max(cut),
                (false, true) => last = last.min(cut),
                (false, false) => {}
            }
        }
        let rows = seen(&raster, Topology::LineList, &ends);
        let (p, q) = (screen(first), screen(last));
        let (dx, dy) = (q[0] - p[0], q[1] - p[1]);
        if first < last && (dx.abs() - dy.abs()).abs() < 0.05 {
            continue;
        }
        let major = usize::from(dy.abs() > dx.abs());
        for (y, row) in rows.iter().enumerate() {
            for (x, got) in row.iter().enumerate() {
                let center = [x as f64 + 0.5, y as f64 + 0.5];
                let along = (center[major] - p[major]) / (q[major] - p[major]);
                let minor = p[1 - major] + along * (q[1 - major] - p[1 - major]);
                let half = f64::from(line_width) / 2.0;
                let aside = half - (center[1 - major] - minor).abs();
                let length = (q[major] - p[major]).abs();
                let inside = along.min(1.0 - along) * length;
                let [left, top, right, bottom] = raster.bounds.map(|bound| bound as usize);
                let bounded = x >= left && y >= top && x < right && y < bottom;
                if !bounded || first >= last {
                    assert_eq!(got.times, 0, "round {round}: {x}, {y}");
                    continue;
                }
                if inside.abs() < 2.0 * NEAR || aside.abs() < 2.0 * NEAR || length < 0.25 {
                    continue;
                }
                let want = u32::from(inside > 0.0 && aside > 0.0);
                assert_eq!(got.times, want, "round {round}: {x}, {y}: {inside} {aside}");
                outside += u32::from(want == 0);
                if want == 0 {
                    continue;
                }
                assert!(got.front);
                // Where the line's point stands on the screen is known: its weight follows.
                let weight = |at: f64| {
                    let edge = [viewport.x, viewport.y][major];
                    let extent = [viewport.width, viewport.height][major];
                    let to_clip = (at - f64::from(edge)) / f64::from(extent) * 2.0 - 1.0;
                    let eye = if major == 0 { to_clip } else { -to_clip };
                    let of = |c: &Corner| c.position[major] - eye * c.position[3];
                    of(&ends[0]) / (of(&ends[0]) - of(&ends[1]))
                };
                let t = weight(center[major]);
                let within = 2.0 * (weight(center[major] + NEAR) - t).abs() + 1e-5;
                let weights = got.perspective;
                assert!((weights[0] + weights[1] - 1.0).abs() < 1e-9 && weights[2].abs() < 1e-9);
                assert!((weights[1] - t).abs() <= within, "round {round}: {weights:?}, {t}");
                let w = mix(t, &|c| c.position[3]);
                let linear = t * ends[1].position[3] / w;
                assert!((got.linear[1] - linear).abs() <= 8.0 * within, "round {round}");
                let z = mix(t, &|c| c.position[2]) / w;
                let depth = f64::from(viewport.near) + z * f64::from(viewport.far - viewport.near);
                assert!((got.depth - depth).abs() <= 8.0 * within, "round {round}");
                assert!((got.inverse_w - 1.0 / w).abs() <= 8.0 * within, "round {round}");
                compared += 1;
            }
        }
    }
    assert!(compared > 5000 && outside > 10_000, "{compared} {outside}");
}

#[test]
fn a_point_is_a_square_around_its_centre_that_faces_the_viewer() {
    let mut rng = Rng::new(7);
    let (mut compared, mut outside) = (0, 0);
    for round in 0..2000 {
        let mut raster = raster(&mut rng);
        raster.bounds = [0, 0, SIZE, SIZE];
        let viewport = raster.viewport;
        let w = between(&mut rng, -0.2, 2.0);
        let [x, y] = [w * between(&mut rng, -1.2, 1.2), w * between(&mut rng, -1.2, 1.2)];
        let z = between(&mut rng, -0.2, 1.2) * w;
        let clip = [between(&mut rng, -0.2, 1.0) as f32];
        let size = between(&mut rng, 0.0, 6.0) as f32;
        let corner = Corner { position: [x, y, z, w], clip: &clip, size };
        let kept = w > 0.0 && z >= 0.0 && z <= w && clip[0] >= 0.0;
        let center = [
            f64::from(viewport.x) + (x / w + 1.0) / 2.0 * f64::from(viewport.width),
            f64::from(viewport.y) + (1.0 - y / w) / 2.0 * f64::from(viewport.height),
        ];
        let half = f64::from(size.max(1.0)) / 2.0;
        let rows = seen(&raster, Topology::PointList, &[corner]);
        for (y, row) in rows.iter().enumerate().take(SIZE as usize) {
            for (x, got) in row.iter().enumerate().take(SIZE as usize) {
                let off = [x as f64 + 0.5 - center[0], y as f64 + 0.5 - center[1]];
                let inside = half - off[0].abs().max(off[1].abs());
                if kept && inside.abs() < NEAR {
                    continue;
                }
                let want = u32::from(kept && inside > 0.0);
                assert_eq!(got.times, want, "round {round}: {x}, {y}: {inside} from the edge");
                outside += u32::from(want == 0);
                if want == 1 {
                    assert!(got.front);
                    let depth =
                        f64::from(viewport.near) + z / w * f64::from(viewport.far - viewport.near);
                    assert!((got.depth - depth).abs() < 1e-5);
                    assert!((got.inverse_w * w - 1.0).abs() < 1e-5);
                    assert_eq!(got.perspective, [1.0, 0.0, 0.0]);
                    compared += 1;
                }
            }
        }
        for piece in raster.pieces(Topology::PointList, &[corner]) {
            let mut cursor = piece.quads();
            while let Some(found) = cursor.next(&piece) {
                for (pixel, coords) in piece.point_coords(&found).into_iter().enumerate() {
                    for axis in 0..2 {
                        let at = f64::from(found.position[pixel][axis]);
                        let want = (at - (center[axis] - half)) / (2.0 * half);
                        assert!((f64::from(coords[axis]) - want).abs() < 1e-4);
                    }
                }
            }
        }
    }
    assert!(compared > 3000 && outside > 3000, "{compared} {outside}");
}

#[test]
fn a_centroid_is_the_first_covered_pixel_of_the_quad() {
    let mut rng = Rng::new(8);
    let mut moved = 0;
    for _ in 0..300 {
        let raster = raster(&mut rng);
        let corners: [Corner; 3] = std::array::from_fn(|_| Corner {
            position: [between(&mut rng, -1.0, 1.0), between(&mut rng, -1.0, 1.0), 0.5, 1.0],
            clip: &[],
            size: 1.0,
        });
        for piece in raster.pieces(Topology::TriangleList, &corners) {
            let mut cursor = piece.quads();
            while let Some(found) = cursor.next(&piece) {
                for pixel in 0..4 {
                    let covered = found.covered >> pixel & 1 == 1;
                    let first = (0..4).find(|&p| found.covered >> p & 1 == 1).expect("one is");
                    let source = if covered { pixel } else { first };
                    for of in [Piece::perspective, Piece::linear] {
                        let weights = of(&piece, &found, pixel, true);
                        assert_eq!(weights, of(&piece, &found, source, false));
                        // What is covered lies between the corners.
                        assert!(weights.iter().all(|w| (-1e-9..=1.0 + 1e-9).contains(w)));
                    }
                    moved += u32::from(!covered);
                }
            }
        }
    }
    assert!(moved > 500, "{moved}");
}

#[test]
fn each_sample_is_covered_as_a_pixel_with_its_centre_there_would_be() {
    let mut rng = Rng::new(21);
    let mut parts = 0;
    for _ in 0..400 {
        let one = raster(&mut rng);
        let corners: [Corner; 3] = std::array::from_fn(|_| {
            let [x, y] = [between(&mut rng, -1.0, 1.0), between(&mut rng, -1.0, 1.0)];
            Corner { position: [x, y, 0.5, 1.0], clip: &[], size: 1.0 }
        });
        for samples in [2, 4, 8, 16] {
            let raster = Raster { samples, ..one };
            let mut found = vec![0u32; (SIZE * SIZE) as usize];
            for piece in raster.pieces(Topology::TriangleList, &corners) {
                let mut cursor = piece.quads();
                while let Some(quad) = cursor.next(&piece) {
                    for (pixel, mask) in quad.masks.iter().enumerate() {
                        let (x, y) = (quad.x + (pixel as u32 & 1), quad.y + (pixel as u32 >> 1));
                        if x < SIZE && y < SIZE {
                            found[(y * SIZE + x) as usize] |= mask;
                        }
                    }
                }
            }
            for (sample, [x, y]) in places(samples).iter().enumerate() {
                // The screen moves, so that the sample is where the centre was.
                let moved = |from: f32, place: u8| from + 0.5 - f32::from(place) / 256.0;
                let viewport = Viewport {
                    x: moved(one.viewport.x, *x),
                    y: moved(one.viewport.y, *y),
                    ..one.viewport
                };
                let rows = seen(&Raster { viewport, ..one }, Topology::TriangleList, &corners);
                for (at, mask) in found.iter().enumerate() {
                    let times = rows[at / SIZE as usize][at % SIZE as usize].times;
                    assert_eq!(mask >> sample & 1, times.min(1), "{samples} {sample} {at}");
                    parts += u32::from(times > 0 && mask.count_ones() < samples);
                }
            }
        }
    }
    assert!(parts > 10_000, "{parts}");
}
