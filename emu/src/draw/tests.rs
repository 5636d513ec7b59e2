use super::*;
use crate::image::Extent;
use std::convert::Infallible;

/// Vertices from a list; the fragment program writes varying 0, or white without one.
struct Fixed {
    vertices: Vec<Vertex>,
    quads: Vec<QuadBatch>,
    depth: Option<f32>,
}

impl Fixed {
    fn new(vertices: &[([f32; 4], [f32; 4])]) -> Fixed {
        let vertices = vertices
            .iter()
            .map(|&(position, value)| Vertex {
                position,
                varyings: vec![value.map(f32::to_bits)],
                ..Vertex::default()
            })
            .collect();
        Fixed { vertices, quads: Vec::new(), depth: None }
    }
}

impl Shade for Fixed {
    type Error = Infallible;

    fn vertices(&mut self, ids: &[VertexId]) -> Result<Vec<Vertex>, Infallible> {
        Ok(ids.iter().map(|id| self.vertices[id.vertex as usize].clone()).collect())
    }

    fn quads(&mut self, batch: &QuadBatch) -> Result<Vec<Pixel>, Infallible> {
        self.quads.push(batch.clone());
        let mut out = Vec::new();
        for quad in 0..batch.quads.len() {
            for pixel in 0..4 {
                let color = if batch.varyings > 0 {
                    batch.varying(quad, pixel, 0)
                } else {
                    [1f32.to_bits(); 4]
                };
                let colors = vec![Some(color)];
                out.push(Pixel { colors, depth: self.depth, ..Pixel::default() });
            }
        }
        Ok(out)
    }
}

fn run(fixed: &mut Fixed, draw_state: &Draw, size: u32) -> (Vec<Vec<[f32; 4]>>, DrawStats) {
    let image = Image::new(Format::Rgba32Float, Extent::plane(size, size)).expect("fits");
    let mut targets = Targets { colors: vec![image], depth: None };
    let Ok(stats) = draw(draw_state, fixed, &mut targets);
    let rows = (0..size)
        .map(|y| {
            (0..size)
                .map(|x| {
                    let texel = Texel { x, y, ..Texel::default() };
                    targets.colors[0].load(texel).expect("inside").map(f32::from_bits)
                })
                .collect()
        })
        .collect();
    (rows, stats)
}

fn smooth() -> Varying {
    Varying { interpolation: Interpolation::Perspective, sampling: Sampling::Center }
}

fn picture(rows: &[Vec<[f32; 4]>]) -> Vec<String> {
    rows.iter()
        .map(|row| row.iter().map(|p| if p[3] == 0.0 { '.' } else { '#' }).collect())
        .collect()
}

const ONE: [f32; 4] = [1.0; 4];

#[test]
fn two_triangles_cover_a_square_once_each_pixel() {
    let corners = [
        ([-1.0, -1.0, 0.0, 1.0], ONE),
        ([1.0, -1.0, 0.0, 1.0], ONE),
        ([-1.0, 1.0, 0.0, 1.0], ONE),
        ([-1.0, 1.0, 0.0, 1.0], ONE),
        ([1.0, -1.0, 0.0, 1.0], ONE),
        ([1.0, 1.0, 0.0, 1.0], ONE),
    ];
    let add = crate::blend::BlendComponent {
        op: crate::blend::BlendOp::Add,
        src: crate::blend::Factor::One,
        dst: crate::blend::Factor::One,
    };
    for size in [4, 5, 7, 16] {
        let mut fixed = Fixed::new(&corners);
        let mut state = Draw::new(6, 1, size, size);
        let blend = Some(Blend { color: add, alpha: add });
        state.targets = vec![TargetState { blend, ..TargetState::default() }];
        let (rows, stats) = run(&mut fixed, &state, size);
        assert!(rows.iter().flatten().all(|&p| p == ONE), "{size}");
        assert_eq!(stats.pixels, u64::from(size * size));
        assert_eq!(stats.primitives, 2);
    }
}

#[test]
fn the_top_left_rule_gives_shared_edges_to_one_side() {
    // Corner at pixel centres (0.5, 0.5), (3.5, 0.5), (0.5, 3.5) of a 4x4 target.
    let at = |x: f32, y: f32| [x / 2.0 - 1.0, 1.0 - y / 2.0, 0.0, 1.0];
    let corners = [(at(0.5, 0.5), ONE), (at(3.5, 0.5), ONE), (at(0.5, 3.5), ONE)];
    let (rows, _) = run(&mut Fixed::new(&corners), &Draw::new(3, 1, 4, 4), 4);
    // Without varyings the colour is white; the diagonal's centres are on the edge and not covered.
    assert_eq!(picture(&rows), ["###.", "##..", "#...", "...."]);
}

#[test]
fn helpers_fill_the_quads_and_are_not_written() {
    let at = |x: f32, y: f32| [x / 2.0 - 1.0, 1.0 - y / 2.0, 0.0, 1.0];
    let corners = [(at(0.0, 0.0), ONE), (at(1.2, 0.0), ONE), (at(0.0, 1.2), ONE)];
    let mut fixed = Fixed::new(&corners);
    let mut state = Draw::new(3, 1, 4, 4);
    state.varyings = vec![smooth()];
    let (rows, stats) = run(&mut fixed, &state, 4);
    assert_eq!(picture(&rows), ["#...", "....", "....", "...."]);
    assert_eq!(stats.quads, 1);
    assert_eq!(fixed.quads[0].quads[0].covered, 1);
    assert_eq!(fixed.quads[0].values.len(), 4);
}

#[test]
fn interpolation_is_perspective_linear_or_flat() {
    // One triangle over all of the target; the right corner is three times as far.
    let far = [3.0 * 3.0, -3.0, 0.0, 3.0];
    let corners =
        [([-1.0, -1.0, 0.0, 1.0], [0.0; 4]), (far, ONE), ([-1.0, 3.0, 0.0, 1.0], [0.0; 4])];
    let mut fixed = Fixed::new(&corners);
    let mut state = Draw::new(3, 1, 4, 4);
    let linear = Interpolation::Linear;
    let flat = Interpolation::Flat;
    state.varyings = vec![
        smooth(),
        Varying { interpolation: linear, ..smooth() },
        Varying { interpolation: flat, ..smooth() },
    ];
    for v in &mut fixed.vertices {
        let value = v.varyings[0];
        v.varyings = vec![value; 3];
    }
    run(&mut fixed, &state, 4);
    let batch = &fixed.quads[0];
    let first = batch.quads.iter().position(|q| (q.x, q.y) == (0, 2)).expect("lower left");
    // Pixel (0, 3): centre x = 0.5 of 8 (the far corner is at x = 8): linear weight 1/16.
    let linear = f32::from_bits(batch.varying(first, 2, 1)[0]);
    assert_eq!(linear, 0.0625);
    // (1/16 / 3) / (15/16 + 1/16/3) = 1 / 46.
    let perspective = f32::from_bits(batch.varying(first, 2, 0)[0]);
    assert_eq!(perspective, 1.0 / 46.0);
    assert_eq!(batch.varying(first, 2, 2)[0], 0);
    // 1 / w there: 15/16 + 1/48.
    assert_eq!(batch.quads[first].position[2][3], (15.0 / 16.0 + 1.0 / 48.0f64) as f32);
}

#[test]
fn what_lies_behind_the_eye_is_clipped() {
    let corners = [
        ([-1.0, -1.0, 0.0, 1.0], ONE),
        ([1.0, -1.0, 0.0, 1.0], ONE),
        ([0.0, 1.0, -1.0, -1.0], ONE),
    ];
    let (rows, stats) = run(&mut Fixed::new(&corners), &Draw::new(3, 1, 8, 8), 8);
    // The two front corners lie on z = 0 and the third behind it: only an edge remains.
    assert_eq!(stats.pixels, 0, "{:?}", picture(&rows));
    let corners = [
        ([-1.0, -1.0, 0.5, 1.0], ONE),
        ([1.0, -1.0, 0.5, 1.0], ONE),
        ([0.0, -1.0, -1.0, -1.0], ONE),
    ];
    let (_, stats) = run(&mut Fixed::new(&corners), &Draw::new(3, 1, 8, 8), 8);
    assert!(stats.pixels <= 64);
}

#[test]
fn values_survive_clipping() {
    // A triangle much larger than the guard band with a value equal to its clip-space x.
    let p = |x: f32, y: f32| ([x, y, 0.5, 1.0], [x; 4]);
    let corners = [p(-100.0, -100.0), p(100.0, -100.0), p(0.0, 300.0)];
    let mut state = Draw::new(3, 1, 4, 4);
    state.varyings = vec![smooth()];
    let (rows, _) = run(&mut Fixed::new(&corners), &state, 4);
    for row in rows {
        for (x, pixel) in row.iter().enumerate() {
            let expected = (x as f32 + 0.5) / 2.0 - 1.0;
            assert!((pixel[0] - expected).abs() < 1e-4, "{x}: {}", pixel[0]);
        }
    }
}

#[test]
fn culling_follows_the_winding() {
    let ccw =
        [([-1.0, -1.0, 0.0, 1.0], ONE), ([3.0, -1.0, 0.0, 1.0], ONE), ([-1.0, 3.0, 0.0, 1.0], ONE)];
    let mut state = Draw::new(3, 1, 2, 2);
    let pixels = |state: &Draw| run(&mut Fixed::new(&ccw), state, 2).1.pixels;
    state.cull = Cull::Back;
    assert_eq!(pixels(&state), 4);
    state.cull = Cull::Front;
    assert_eq!(pixels(&state), 0);
    state.front_ccw = false;
    assert_eq!(pixels(&state), 4);
}

#[test]
fn a_primitive_goes_when_all_its_corners_are_outside_by_one_distance() {
    let corners =
        [([-1.0, -1.0, 0.0, 1.0], ONE), ([3.0, -1.0, 0.0, 1.0], ONE), ([-1.0, 3.0, 0.0, 1.0], ONE)];
    let pixels = |distances: [[f32; 2]; 3]| {
        let mut fixed = Fixed::new(&corners);
        for (vertex, distances) in fixed.vertices.iter_mut().zip(distances) {
            vertex.cull_distances = distances.to_vec();
        }
        run(&mut fixed, &Draw::new(3, 1, 2, 2), 2).1.pixels
    };
    // One corner inside keeps the whole primitive: nothing is clipped.
    assert_eq!(pixels([[-1.0, 1.0], [-2.0, 1.0], [0.0, 1.0]]), 4);
    // Each corner is outside, but by no distance all of them.
    assert_eq!(pixels([[-1.0, 1.0], [-2.0, -1.0], [0.5, -1.0]]), 4);
    assert_eq!(pixels([[1.0, -1.0], [2.0, -0.5], [3.0, -9.0]]), 0);
    // What is no number is not negative.
    assert_eq!(pixels([[-1.0, 1.0], [-2.0, 1.0], [f32::NAN, 1.0]]), 4);
}

#[test]
fn the_nearer_triangle_wins_whatever_the_order() {
    let sheet = |z: f32, c: f32| {
        [
            ([-1.0, -1.0, z, 1.0], [c; 4]),
            ([3.0, -1.0, z, 1.0], [c; 4]),
            ([-1.0, 3.0, z, 1.0], [c; 4]),
        ]
    };
    for (first, second) in [(0.25, 0.5), (0.5, 0.25)] {
        let corners = [sheet(first, first), sheet(second, second)].concat();
        let mut fixed = Fixed::new(&corners);
        let mut state = Draw::new(6, 1, 2, 2);
        state.varyings = vec![Varying { interpolation: Interpolation::Flat, ..smooth() }];
        state.depth = Some(DepthState { compare: Compare::Less, write: true });
        let plane = Extent::plane(2, 2);
        let mut depth = Image::new(Format::Depth32Float, plane).expect("fits");
        depth.fill([1f32.to_bits(), 0, 0, 0]);
        let color = Image::new(Format::R32Float, plane).expect("fits");
        let mut targets = Targets { colors: vec![color], depth: Some(depth) };
        let Ok(_) = draw(&state, &mut fixed, &mut targets);
        let seen = targets.colors[0].load(Texel::default()).expect("inside");
        assert_eq!(f32::from_bits(seen[0]), 0.25);
        let held = targets.depth.expect("given").load(Texel::default()).expect("inside");
        assert_eq!(f32::from_bits(held[0]), 0.25);
    }
}

#[test]
fn points_and_lines_cover_their_pixels() {
    let at = |x: f32, y: f32| ([x / 2.0 - 1.0, 1.0 - y / 2.0, 0.0, 1.0], ONE);
    let mut state = Draw::new(1, 1, 4, 4);
    state.topology = Topology::PointList;
    let (rows, _) = run(&mut Fixed::new(&[at(1.5, 2.5)]), &state, 4);
    assert_eq!(picture(&rows), ["....", "....", ".#..", "...."]);
    let mut fixed = Fixed::new(&[at(2.0, 2.0)]);
    fixed.vertices[0].point_size = Some(2.0);
    assert_eq!(picture(&run(&mut fixed, &state, 4).0), ["....", ".##.", ".##.", "...."]);
    // The pixel right of and below the centre lies three quarters of the way to the lower right corner.
    let mut quads = fixed.quads.iter().flat_map(|batch| &batch.quads);
    let last = quads.rfind(|quad| (quad.x, quad.y) == (2, 2));
    assert_eq!(last.map(|quad| quad.point[0]), Some([0.75; 2]));
    state.topology = Topology::LineList;
    state.vertices = 2;
    let (rows, _) = run(&mut Fixed::new(&[at(0.0, 1.5), at(4.0, 1.5)]), &state, 4);
    assert_eq!(picture(&rows), ["....", "####", "....", "...."]);
    let (rows, _) = run(&mut Fixed::new(&[at(2.5, 0.0), at(2.5, 3.0)]), &state, 4);
    assert_eq!(picture(&rows), ["..#.", "..#.", "..#.", "...."]);
    state.line_width = 3.0;
    let (rows, _) = run(&mut Fixed::new(&[at(1.0, 1.5), at(4.0, 1.5)]), &state, 4);
    assert_eq!(picture(&rows), [".###", ".###", ".###", "...."]);
    // Along the steeper axis a column moves with the line.
    let (rows, _) = run(&mut Fixed::new(&[at(1.5, 0.0), at(2.75, 4.0)]), &state, 4);
    assert_eq!(picture(&rows), ["###.", "###.", ".###", ".###"]);
    state.line_width = 2.0;
    let (rows, _) = run(&mut Fixed::new(&[at(0.0, 2.0), at(4.0, 2.0)]), &state, 4);
    assert_eq!(picture(&rows), ["....", "####", "####", "...."]);
}

#[test]
fn strips_keep_their_facing_and_scissors_cut() {
    let p = |x: f32, y: f32| ([x, y, 0.0, 1.0], ONE);
    let corners = [p(-1.0, -1.0), p(1.0, -1.0), p(-1.0, 1.0), p(1.0, 1.0)];
    let mut state = Draw::new(4, 1, 4, 4);
    state.topology = Topology::TriangleStrip;
    state.cull = Cull::Back;
    assert_eq!(run(&mut Fixed::new(&corners), &state, 4).1.pixels, 16);
    state.scissor = Some([1, 0, 2, 3]);
    let (rows, _) = run(&mut Fixed::new(&corners), &state, 4);
    assert_eq!(picture(&rows), [".##.", ".##.", ".##.", "...."]);
}

#[test]
fn depths_are_moved_by_steps_and_slopes_and_clamped_where_nothing_is_clipped() {
    // Depth 0.25 at the left edge, 0.75 at the right one.
    let depths = |z: [f32; 2], change: &dyn Fn(&mut Draw)| {
        let corners = [[-1.0, 1.0, z[0]], [3.0, 1.0, 2.0 * z[1] - z[0]], [-1.0, -3.0, z[0]]];
        let mut state = Draw::new(3, 1, 4, 4);
        state.depth = Some(DepthState { compare: Compare::Always, write: true });
        change(&mut state);
        let plane = |format| Image::new(format, Extent::plane(4, 4)).expect("an image");
        let mut targets = Targets {
            colors: vec![plane(Format::Rgba8Unorm)],
            depth: Some(plane(Format::Depth32Float)),
        };
        let mut fixed = Fixed::new(&corners.map(|[x, y, z]| ([x, y, z, 1.0], [0.0; 4])));
        let Ok(_) = draw(&state, &mut fixed, &mut targets);
        let at = |x| Texel { x, y: 1, ..Texel::default() };
        let depth = targets.depth.expect("a depth");
        [0, 3].map(|x| f32::from_bits(depth.load(at(x)).expect("a texel")[0]))
    };
    assert_eq!(depths([0.25, 0.75], &|_| {}), [0.3125, 0.6875]);
    let moved = |bias: Bias| depths([0.25, 0.75], &|state| state.bias = bias);
    // A quarter's slope is an eighth from pixel to pixel.
    assert_eq!(moved(Bias { slope: 2.0, ..Bias::default() }), [0.5625, 0.9375]);
    assert_eq!(moved(Bias { slope: 2.0, clamp: 0.125, ..Bias::default() }), [0.4375, 0.8125]);
    // The largest depth of the corners, 1.25, is clipped to 1: steps of 2^-23.
    let constant = (1 << 20) as f32;
    assert_eq!(moved(Bias { constant, ..Bias::default() }), [0.4375, 0.8125]);
    let beyond = |clamp_depth| depths([1.5, 1.5], &|state| state.clamp_depth = clamp_depth);
    assert_eq!((beyond(false), beyond(true)), ([0.0; 2], [1.0; 2]));
    // What a bias moves beyond 1 is cut off there, or kept.
    let far = Bias { slope: 8.0, ..Bias::default() };
    let kept = |unrestricted_depth| {
        depths([0.25, 0.75], &|state| {
            (state.bias, state.unrestricted_depth) = (far, unrestricted_depth)
        })
    };
    assert_eq!((kept(false), kept(true)), ([1.0; 2], [1.3125, 1.6875]));
}

#[test]
fn triangles_leave_their_edges_or_their_corners() {
    let corners = [[-0.75, 0.75], [0.75, 0.75], [-0.75, -0.75]];
    let written = |polygon| {
        let mut state = Draw::new(3, 1, 16, 16);
        state.polygon = polygon;
        let mut fixed = Fixed::new(&corners.map(|[x, y]| ([x, y, 0.5, 1.0], [0.0; 4])));
        run(&mut fixed, &state, 16).1.pixels
    };
    assert_eq!(written(Polygon::Point), 3);
    let (edges, whole) = (written(Polygon::Line), written(Polygon::Fill));
    assert!((34..=40).contains(&edges) && whole > edges, "{edges} of {whole}");
}

/// A picture of four samples a pixel, and its means.
fn run_four(fixed: &mut Fixed, state: &Draw, depth: Option<f32>) -> (Image, Image) {
    let extent = Extent { samples: 4, ..Extent::plane(4, 4) };
    let image = |format| Image::new(format, extent).expect("an image");
    let mut targets = Targets { colors: vec![image(Format::Rgba32Float)], depth: None };
    if let Some(depth) = depth {
        let mut plane = image(Format::Depth32Float);
        plane.fill([depth.to_bits(); 4]);
        targets.depth = Some(plane);
    }
    let Ok(_) = draw(state, fixed, &mut targets);
    let samples = targets.colors.remove(0);
    let mut means = Image::new(Format::Rgba32Float, Extent::plane(4, 4)).expect("an image");
    means.resolve(&samples);
    (samples, means)
}

fn reds(image: &Image, y: u32, sample: u32) -> [f32; 4] {
    let at = |x| Texel { x, y, sample, ..Texel::default() };
    [0, 1, 2, 3].map(|x| f32::from_bits(image.load(at(x)).expect("inside")[0]))
}

/// The left part of the screen, up to `edge` pixels of four, with depths of 0 at its left and `far` at four pixels.
fn left_part(edge: f32, far: f32) -> Fixed {
    let x = edge / 2.0 - 1.0;
    let z = far * edge / 4.0;
    let corners = [[-1.0, 1.0, 0.0], [x, 1.0, z], [-1.0, -1.0, 0.0], [x, -1.0, z]];
    Fixed::new(&corners.map(|[x, y, z]| ([x, y, z, 1.0], ONE)))
}

#[test]
fn an_edge_covers_the_samples_on_its_side_and_the_mean_is_their_share() {
    let mut state = Draw::new(4, 1, 4, 4);
    state.topology = Topology::TriangleStrip;
    // Samples lie at 1/8, 3/8, 5/8 and 7/8 of a pixel's width: of the third, the one at 1/8 is covered.
    for (edge, share) in [(2.25, 0.25), (2.5, 0.5), (2.75, 0.75), (2.1, 0.0)] {
        let (_, means) = run_four(&mut left_part(edge, 0.0), &state, None);
        assert_eq!(reds(&means, 1, 0), [1.0, 1.0, share, 0.0], "{edge}");
    }
    // Standard place 2 is the leftmost one.
    let (samples, _) = run_four(&mut left_part(2.25, 0.0), &state, None);
    let third: Vec<f32> = (0..4).map(|sample| reds(&samples, 1, sample)[2]).collect();
    assert_eq!(third, [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn every_sample_is_tested_at_its_own_depth() {
    let mut state = Draw::new(4, 1, 4, 4);
    state.topology = Topology::TriangleStrip;
    state.depth = Some(DepthState { compare: Compare::Less, write: true });
    // Depth is a quarter of the pixels from the left: half of the third pixel lies before 0.625.
    let (_, means) = run_four(&mut left_part(4.0, 1.0), &state, Some(0.625));
    assert_eq!(reds(&means, 1, 0), [1.0, 1.0, 0.5, 0.0]);
}

/// Runs for each sample: gives the position, and leaves some of the samples.
struct Sampled {
    fixed: Fixed,
    by_sample: bool,
    mask: Option<u32>,
    early: Early,
}

impl Shade for Sampled {
    type Error = Infallible;

    fn vertices(&mut self, ids: &[VertexId]) -> Result<Vec<Vertex>, Infallible> {
        self.fixed.vertices(ids)
    }

    fn quads(&mut self, batch: &QuadBatch) -> Result<Vec<Pixel>, Infallible> {
        let mut pixels = self.fixed.quads(batch)?;
        for (at, pixel) in pixels.iter_mut().enumerate() {
            let quad = &batch.quads[at / 4];
            let [x, y, ..] = quad.position[at % 4];
            let values = [x.fract(), y.fract(), quad.sample() as f32, quad.mask(at % 4) as f32];
            pixel.colors = vec![Some(values.map(f32::to_bits))];
            pixel.mask = self.mask;
        }
        Ok(pixels)
    }

    fn by_sample(&self) -> bool {
        self.by_sample
    }

    fn early(&self) -> Early {
        self.early
    }
}

#[test]
fn a_program_sees_samples_that_the_test_before_it_took() {
    let mut state = Draw::new(4, 1, 4, 4);
    state.topology = Topology::TriangleStrip;
    state.depth = Some(DepthState { compare: Compare::Less, write: true });
    for early in [false, true] {
        let extent = Extent { samples: 4, ..Extent::plane(4, 4) };
        let image = |format| Image::new(format, extent).expect("an image");
        let mut depth = image(Format::Depth32Float);
        depth.fill([0.625f32.to_bits(); 4]);
        let mut targets = Targets { colors: vec![image(Format::Rgba32Float)], depth: Some(depth) };
        let early = Early { test: early, write: early };
        let fixed = left_part(4.0, 1.0);
        let Ok(_) =
            draw(&state, &mut Sampled { fixed, by_sample: false, mask: None, early }, &mut targets);
        let masks = [0, 1, 2, 3].map(|sample| {
            let at = Texel { x: 2, y: 0, sample, ..Texel::default() };
            f32::from_bits(targets.colors[0].load(at).expect("inside")[3])
        });
        // Two of the third pixel's samples pass. The primitive covers all four.
        assert_eq!(masks, [15.0, 0.0, 15.0, 0.0], "{early:?}");
    }
}

#[test]
fn a_program_runs_for_pixels_or_for_samples_at_their_standard_places() {
    let mut state = Draw::new(4, 1, 4, 4);
    state.topology = Topology::TriangleStrip;
    let seen = |by_sample, mask, at: [u32; 2]| {
        let extent = Extent { samples: 4, ..Extent::plane(4, 4) };
        let image = Image::new(Format::Rgba32Float, extent).expect("an image");
        let mut targets = Targets { colors: vec![image], depth: None };
        let mut shade =
            Sampled { fixed: left_part(2.25, 0.0), by_sample, mask, early: Early::default() };
        let Ok(_) = draw(&state, &mut shade, &mut targets);
        [0, 1, 2, 3].map(|sample| {
            let at = Texel { x: at[0], y: at[1], sample, ..Texel::default() };
            targets.colors[0].load(at).expect("inside").map(f32::from_bits)
        })
    };
    let places = [[0.375, 0.125], [0.875, 0.375], [0.125, 0.625], [0.625, 0.875]];
    for (number, found) in seen(true, None, [0, 0]).into_iter().enumerate() {
        let [x, y] = places[number];
        assert_eq!(found, [x, y, number as f32, (1 << number) as f32]);
    }
    assert_eq!(seen(false, None, [0, 0]), [[0.5, 0.5, 0.0, 15.0]; 4]);
    // Of the third pixel one sample is covered, and nothing is written to the others.
    let none = [0.0; 4];
    assert_eq!(seen(false, None, [2, 1]), [none, none, [0.5, 0.5, 0.0, 4.0], none]);
    // What the program leaves of a pixel's samples.
    let left = [0.5, 0.5, 0.0, 15.0];
    assert_eq!(seen(false, Some(0b1010), [0, 0]), [none, left, none, left]);
    assert_eq!(seen(true, Some(0b0001), [0, 0])[1], none);
}

/// The vertices of a draw's primitives by their numbers, as a geometry program gets them.
struct Numbers(Vec<(u32, Vec<u32>)>);

impl Shade for Numbers {
    type Error = Infallible;

    fn vertices(&mut self, ids: &[VertexId]) -> Result<Vec<Vertex>, Infallible> {
        let one = |id: &VertexId| Vertex { varyings: vec![[id.vertex; 4]], ..Vertex::default() };
        Ok(ids.iter().map(one).collect())
    }

    fn geometry(&self) -> Option<Emits> {
        Some(Emits::Points)
    }

    fn primitives(&mut self, primitives: &[Primitive]) -> Result<Vec<Vec<Emitted>>, Infallible> {
        let number = |vertex: &Vertex| vertex.varyings[0][0];
        self.0.extend(
            primitives.iter().map(|it| (it.number, it.vertices.iter().map(number).collect())),
        );
        Ok(vec![Vec::new(); primitives.len()])
    }

    fn quads(&mut self, _: &QuadBatch) -> Result<Vec<Pixel>, Infallible> {
        unreachable!("nothing is emitted")
    }
}

fn primitives(topology: Topology, vertices: u32) -> Vec<Vec<u32>> {
    let mut numbers = Numbers(Vec::new());
    let mut state = Draw::new(vertices, 1, 4, 4);
    state.topology = topology;
    let Ok(_) = draw(&state, &mut numbers, &mut Targets::default());
    assert!(numbers.0.iter().zip(0..).all(|((number, _), at)| *number == at));
    numbers.0.into_iter().map(|(_, vertices)| vertices).collect()
}

/// Vulkan 1.3, 21.1: the tables of primitive topologies.
#[test]
fn each_topology_makes_its_primitives_with_their_adjacency() {
    use Topology::*;
    assert_eq!(primitives(PointList, 2), [[0], [1]]);
    assert_eq!(primitives(LineList, 5), [[0, 1], [2, 3]]);
    assert_eq!(primitives(LineStrip, 3), [[0, 1], [1, 2]]);
    assert_eq!(primitives(TriangleList, 7), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(primitives(TriangleStrip, 5), [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
    assert_eq!(primitives(LineListAdjacency, 9), [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert_eq!(primitives(LineStripAdjacency, 5), [[0, 1, 2, 3], [1, 2, 3, 4]]);
    assert_eq!(primitives(TriangleListAdjacency, 12), [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]);
    let strip = |vertices| primitives(TriangleStripAdjacency, vertices);
    assert!(strip(5).is_empty());
    // One triangle has no next one, even where a vertex of it is there.
    assert_eq!(strip(6), [[0, 1, 2, 5, 4, 3]]);
    assert_eq!(strip(7), [[0, 1, 2, 5, 4, 3]]);
    assert_eq!(strip(8), [[0, 1, 2, 6, 4, 3], [2, 5, 6, 7, 4, 0]]);
    assert_eq!(
        strip(12),
        [[0, 1, 2, 6, 4, 3], [2, 5, 6, 8, 4, 0], [4, 2, 6, 10, 8, 7], [6, 9, 10, 11, 8, 4]]
    );
    // Batches of vertices do not show.
    assert_eq!(primitives(TriangleStrip, 130).len(), 128);
    assert_eq!(strip(140).len(), 68);
}

/// A strip of a triangle and a vertex too few, then a whole one, for each primitive.
struct Strips(Fixed);

impl Shade for Strips {
    type Error = Infallible;

    fn vertices(&mut self, ids: &[VertexId]) -> Result<Vec<Vertex>, Infallible> {
        self.0.vertices(ids)
    }

    fn geometry(&self) -> Option<Emits> {
        Some(Emits::TriangleStrip)
    }

    fn primitives(&mut self, primitives: &[Primitive]) -> Result<Vec<Vec<Emitted>>, Infallible> {
        let one = |primitive: &Primitive| {
            let mut all = Vec::new();
            let [x, y, ..] = primitive.vertices[0].position;
            for (begins, dx, dy) in [
                (true, -1.0, -1.0),
                (false, 1.0, -1.0),
                (true, -1.0, -1.0),
                (false, 1.0, -1.0),
                (false, -1.0, 1.0),
                (false, 1.0, 1.0),
            ] {
                let mut vertex = primitive.vertices[0].clone();
                vertex.position = [x + dx * 0.5, y + dy * 0.5, 0.0, 1.0];
                vertex.primitive = Some(7 + primitive.number);
                all.push(Emitted { vertex, begins });
            }
            all
        };
        Ok(primitives.iter().map(one).collect())
    }

    fn quads(&mut self, batch: &QuadBatch) -> Result<Vec<Pixel>, Infallible> {
        self.0.quads(batch)
    }
}

#[test]
fn what_a_geometry_program_emits_is_drawn_in_strips_that_begin_anew() {
    let mut strips =
        Strips(Fixed::new(&[([-0.5, 0.5, 0.0, 1.0], ONE), ([0.5, -0.5, 0.0, 1.0], ONE)]));
    let image = Image::new(Format::Rgba32Float, Extent::plane(4, 4)).expect("fits");
    let mut targets = Targets { colors: vec![image], depth: None };
    let mut state = Draw::new(2, 1, 4, 4);
    (state.topology, state.varyings) = (Topology::PointList, vec![smooth()]);
    let Ok(stats) = draw(&state, &mut strips, &mut targets);
    assert_eq!((stats.vertices, stats.primitives, stats.pixels), (2, 4, 8));
    let covered = |x, y| {
        let texel = Texel { x, y, ..Texel::default() };
        targets.colors[0].load(texel).expect("inside")[3] != 0
    };
    let rows: Vec<String> =
        (0..4).map(|y| (0..4).map(|x| if covered(x, y) { '#' } else { '.' }).collect()).collect();
    assert_eq!(rows, ["##..", "##..", "..##", "..##"]);
    let numbers: Vec<u32> =
        strips.0.quads.iter().flat_map(|batch| &batch.quads).map(|quad| quad.primitive).collect();
    assert!(numbers.iter().all(|number| [7, 8].contains(number)), "{numbers:?}");
}
