//! The rasteriser: clip, project, snap, and walk 2x2 quads under the top-left rule.
//!
//! # Definitions
//! Clip space is WebGPU's: `-w <= x, y <= w`, `0 <= z <= w`, y up; the screen's y is down. A
//! primitive is clipped against `z >= 0`, `z <= w` (unless depths are kept), `w >= 2^-20 *` the largest w, the user's clip
//! distances, and a guard band of 16 times the viewport; clipping keeps, for each new corner, its
//! weights with respect to the first corners, so that values are interpolated from those. Screen
//! positions are snapped to 1/256 pixel, round to nearest even. A pixel is covered when its centre
//! lies inside by exact integer arithmetic; centres on an edge belong to the triangle whose top or
//! left edge it is. Weights are f64.
//! Triangles may be drawn as their edges or corners. The bias of a triangle is added to all of its depths.
//! Lines cover the pixels that their centres' diamonds pass, approximated as a rectangle one pixel
//! wide along the major axis. Wider ones are as many pixels wide there, half of them on each side (Vulkan 1.3, Bresenham Line Segment
//! Rasterization); points are squares around the projected centre.
//! A pixel has one sample in its centre, or several at Vulkan's standard places, and is covered when one of them is.
//! Centroid takes the pixel's centre when all of its samples are covered, else its first covered sample, else (where the
//! pixel is a helper) that of the quad's first covered pixel: where it counts that is inside both pixel and primitive.

use crate::draw::Topology;

/// Where clip space goes on the screen.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Viewport {
    /// Left edge in pixels.
    pub x: f32,
    /// Upper edge in pixels.
    pub y: f32,
    /// Pixels.
    pub width: f32,
    /// Pixels.
    pub height: f32,
    /// Depth of z = 0.
    pub near: f32,
    /// Depth of z = w.
    pub far: f32,
}

impl Viewport {
    /// All of a target.
    pub fn whole(width: u32, height: u32) -> Viewport {
        Viewport { x: 0.0, y: 0.0, width: width as f32, height: height as f32, near: 0.0, far: 1.0 }
    }
}

/// A corner of a primitive.
#[derive(Copy, Clone, Debug)]
pub struct Corner<'a> {
    /// Clip space.
    pub position: [f64; 4],
    /// Distances to user planes.
    pub clip: &'a [f32],
    /// Width of a point.
    pub size: f32,
}

/// Fixed state of rasterisation.
#[derive(Copy, Clone, Debug)]
pub struct Raster {
    /// Viewport.
    pub viewport: Viewport,
    /// Left, top, right, bottom: pixels outside are never covered.
    pub bounds: [u32; 4],
    /// Counter-clockwise is front.
    pub front_ccw: bool,
    /// Depths beyond those of the view are kept: nothing is clipped by its depth.
    pub keeps_depths: bool,
    /// Width of lines in pixels.
    pub line_width: f32,
    /// How triangles are drawn.
    pub polygon: Polygon,
    /// What is added to the depths of triangles.
    pub bias: Bias,
    /// The smallest step of the target's depths; of floats (none), that of the largest depth of a triangle.
    pub depth_step: Option<f32>,
    /// Samples of a pixel.
    pub samples: u32,
}

/// How triangles are drawn.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Polygon {
    /// Wholly.
    #[default]
    Fill,
    /// Their edges, as lines.
    Line,
    /// Their corners, as points.
    Point,
}

/// What is added to the depths of triangles: `constant` of the smallest steps that depths can be apart, and `slope` times the
/// steepest change from pixel to pixel, together at most `clamp` where that is above 0, at least where it is below. Vulkan 1.3, Depth Bias.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Bias {
    /// Steps.
    pub constant: f32,
    /// A bound; none where it is 0.
    pub clamp: f32,
    /// Times the slope.
    pub slope: f32,
}

impl Bias {
    /// What is added to a triangle of these pieces: one number, so that they meet. All lie in its plane, and the largest one
    /// says its slope best.
    fn of(&self, pieces: &[Piece], step: Option<f32>) -> f64 {
        let Some(piece) = pieces.iter().max_by_key(|piece| piece.area) else {
            return 0.0;
        };
        if self.constant == 0.0 && self.slope == 0.0 {
            return 0.0;
        }
        let Piece { x, y, depth, .. } = *piece;
        let to_corner = |v: [i64; 3], n: usize| (v[n] - v[0]) as f64 / SUBPIXELS;
        let ([x1, x2], [y1, y2]) =
            ([to_corner(x, 1), to_corner(x, 2)], [to_corner(y, 1), to_corner(y, 2)]);
        let [z1, z2] = [depth[1] - depth[0], depth[2] - depth[0]];
        let area = x1 * y2 - x2 * y1;
        let along = |a: f64| (a / area).abs();
        let slope = along(z1 * y2 - z2 * y1).max(along(z2 * x1 - z1 * x2));
        let step = match step {
            Some(step) => f64::from(step),
            None => {
                let all = pieces.iter().flat_map(|piece| piece.depth);
                let largest = all.fold(0.0, |m: f64, z| m.max(z.abs()));
                let exponent = largest.max(f64::from(f32::MIN_POSITIVE)).log2().floor();
                (exponent - 23.0).exp2()
            }
        };
        let sum = f64::from(self.constant) * step + f64::from(self.slope) * slope;
        let clamp = f64::from(self.clamp);
        if clamp > 0.0 {
            sum.min(clamp)
        } else if clamp < 0.0 {
            sum.max(clamp)
        } else {
            sum
        }
    }
}

/// Subpixel positions per pixel.
const SUBPIXELS: f64 = 256.0;
/// Times the viewport that is kept beside it.
const GUARD: f64 = 16.0;
/// The place in the middle of a pixel.
const CENTER: [u8; 2] = [128, 128];

/// Standard places of a pixel's samples, in subpixels from its upper left corner. Vulkan 1.3, Multisampling.
static PLACES: [&[[u8; 2]]; 5] = [
    &[[128, 128]],
    &[[192, 192], [64, 64]],
    &[[96, 32], [224, 96], [32, 160], [160, 224]],
    &[[144, 80], [112, 176], [208, 144], [80, 48], [48, 208], [16, 112], [176, 240], [240, 16]],
    &[
        [144, 144],
        [112, 80],
        [80, 160],
        [192, 112],
        [48, 96],
        [160, 208],
        [208, 176],
        [176, 48],
        [96, 224],
        [128, 16],
        [64, 32],
        [32, 192],
        [0, 128],
        [240, 64],
        [224, 240],
        [16, 0],
    ],
];

/// The pixels of a quad of which samples are covered: bit i is that of pixel i.
pub fn covered(masks: [u32; 4]) -> u8 {
    (0..4).map(|pixel| u8::from(masks[pixel] != 0) << pixel).sum()
}

/// Places of a pixel's samples in 256ths of it: those of the largest power of two, up to 16, that is not above their number.
pub fn places(samples: u32) -> &'static [[u8; 2]] {
    PLACES[samples.max(1).ilog2().min(4) as usize]
}

/// A corner after clipping: position and weights of the primitive's first three corners.
#[derive(Copy, Clone, Debug)]
struct Clipped {
    position: [f64; 4],
    weights: [f64; 3],
}

/// One screen triangle of a primitive.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Snapped screen positions in subpixels.
    x: [i64; 3],
    y: [i64; 3],
    /// Twice the area in subpixels squared, positive.
    area: i64,
    depth: [f64; 3],
    inverse_w: [f64; 3],
    /// Weights of the primitive's corners at each corner.
    weights: [[f64; 3]; 3],
    /// w of the primitive's corners.
    corner_w: [f64; 3],
    front: bool,
    bounds: [u32; 4],
    /// Of a point: left, top, width.
    point: Option<[f64; 3]>,
    /// Places of a pixel's samples in subpixels.
    places: &'static [[u8; 2]],
}

/// A quad that a piece touches.
#[derive(Copy, Clone, Debug)]
pub struct Found {
    /// Left column, even.
    pub x: u32,
    /// Upper row, even.
    pub y: u32,
    /// Bit i: pixel i is covered.
    pub covered: u8,
    /// Bit k: sample k of the pixel is covered.
    pub masks: [u32; 4],
    /// Pixel centres, or the place of a sample in each pixel: x, y, depth, 1 / w.
    pub position: [[f32; 4]; 4],
    /// Screen-linear weights of the piece's corners there.
    linear: [[f64; 3]; 4],
    /// The same at each pixel's centroid.
    centroid: [[f64; 3]; 4],
}

/// Position of a walk over a piece.
#[derive(Copy, Clone, Debug)]
pub struct Cursor {
    x: u32,
    y: u32,
    area: [u32; 4],
}

impl Raster {
    /// Triangles as WebGPU has them: filled, clipped by depth and without bias.
    pub fn new(viewport: Viewport, bounds: [u32; 4], front_ccw: bool) -> Raster {
        Raster {
            viewport,
            bounds,
            front_ccw,
            keeps_depths: false,
            line_width: 1.0,
            polygon: Polygon::default(),
            bias: Bias::default(),
            depth_step: None,
            samples: 1,
        }
    }

    /// The screen triangles of a primitive of one, two or three corners.
    pub fn pieces(&self, topology: Topology, corners: &[Corner]) -> Vec<Piece> {
        match (topology, corners) {
            (Topology::PointList, [point]) => self.point(point),
            (Topology::LineList, [a, b]) => self.line(a, b),
            (_, [a, b, c]) => self.triangle([a, b, c]),
            _ => Vec::new(),
        }
    }

    fn triangle(&self, corners: [&Corner; 3]) -> Vec<Piece> {
        let mut polygon: Vec<Clipped> = (0..3)
            .map(|n| {
                let mut weights = [0.0; 3];
                weights[n] = 1.0;
                Clipped { position: corners[n].position, weights }
            })
            .collect();
        let corner_w = corners.map(|c| c.position[3]);
        if corners.iter().any(|c| c.position.iter().any(|v| !v.is_finite())) {
            return Vec::new();
        }
        self.clip(&mut polygon, &corners);
        let mut pieces = Vec::new();
        for n in 2..polygon.len() {
            let piece = self.project([polygon[0], polygon[n - 1], polygon[n]], corner_w);
            pieces.extend(piece);
        }
        let bias = self.bias.of(&pieces, self.depth_step);
        for piece in &mut pieces {
            piece.depth = piece.depth.map(|depth| depth + bias);
        }
        match (self.polygon, pieces.first()) {
            (Polygon::Fill, _) | (_, None) => pieces,
            (polygon, Some(first)) => self.outline(polygon, corners, (first.front, bias)),
        }
    }

    /// The edges or corners of a triangle that faces so and has this bias.
    fn outline(
        &self,
        polygon: Polygon,
        corners: [&Corner; 3],
        (front, bias): (bool, f64),
    ) -> Vec<Piece> {
        let parts: &[&[usize]] = match polygon {
            Polygon::Point => &[&[0], &[1], &[2]],
            _ => &[&[0, 1], &[1, 2], &[2, 0]],
        };
        let mut pieces = Vec::new();
        for part in parts {
            let own = match *part {
                [one] => self.point(corners[*one]),
                [from, to] => self.line(corners[*from], corners[*to]),
                _ => Vec::new(),
            };
            pieces.extend(own.into_iter().map(|piece| {
                let weights = piece.weights.map(|own| {
                    let mut weights = [0.0; 3];
                    for (corner, weight) in part.iter().zip(own) {
                        weights[*corner] = weight;
                    }
                    weights
                });
                let corner_w = corners.map(|corner| corner.position[3]);
                let depth = piece.depth.map(|depth| depth + bias);
                Piece { weights, corner_w, depth, front, ..piece }
            }));
        }
        pieces
    }

    fn clip(&self, polygon: &mut Vec<Clipped>, corners: &[&Corner]) {
        let largest = corners.iter().fold(0.0f64, |m, c| m.max(c.position[3].abs()));
        let least = largest / f64::from(1 << 20);
        clip_plane(polygon, |c| c.position[3] - least);
        if !self.keeps_depths {
            clip_plane(polygon, |c| c.position[2]);
            clip_plane(polygon, |c| c.position[3] - c.position[2]);
        }
        for axis in 0..2 {
            clip_plane(polygon, |c| GUARD * c.position[3] - c.position[axis]);
            clip_plane(polygon, |c| GUARD * c.position[3] + c.position[axis]);
        }
        let planes = corners.iter().map(|c| c.clip.len()).min().unwrap_or(0);
        for plane in 0..planes {
            clip_plane(polygon, |c| {
                corners
                    .iter()
                    .zip(c.weights)
                    .map(|(corner, weight)| weight * f64::from(corner.clip[plane]))
                    .sum()
            });
        }
    }

    /// Screen position in pixels.
    fn screen(&self, p: [f64; 4]) -> [f64; 2] {
        let v = &self.viewport;
        [
            f64::from(v.x) + (p[0] / p[3] + 1.0) * 0.5 * f64::from(v.width),
            f64::from(v.y) + (1.0 - p[1] / p[3]) * 0.5 * f64::from(v.height),
        ]
    }

    fn depth(&self, p: [f64; 4]) -> f64 {
        let v = &self.viewport;
        f64::from(v.near) + p[2] / p[3] * (f64::from(v.far) - f64::from(v.near))
    }

    fn project(&self, corners: [Clipped; 3], corner_w: [f64; 3]) -> Option<Piece> {
        let snap = |v: f64| (v * SUBPIXELS).round_ties_even() as i64;
        let screen = corners.map(|c| self.screen(c.position).map(snap));
        self.piece(
            screen.map(|s| s[0]),
            screen.map(|s| s[1]),
            corners.map(|c| self.depth(c.position)),
            corners.map(|c| 1.0 / c.position[3]),
            corners.map(|c| c.weights),
            corner_w,
        )
    }

    fn piece(
        &self,
        mut x: [i64; 3],
        mut y: [i64; 3],
        mut depth: [f64; 3],
        mut inverse_w: [f64; 3],
        mut weights: [[f64; 3]; 3],
        corner_w: [f64; 3],
    ) -> Option<Piece> {
        let mut area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
        if area == 0 {
            return None;
        }
        // With y down a positive area is clockwise to the eye.
        let front = (area < 0) == self.front_ccw;
        if area < 0 {
            area = -area;
            x.swap(1, 2);
            y.swap(1, 2);
            depth.swap(1, 2);
            inverse_w.swap(1, 2);
            weights.swap(1, 2);
        }
        let (bounds, point, places) = (self.bounds, None, places(self.samples));
        Some(Piece {
            x,
            y,
            area,
            depth,
            inverse_w,
            weights,
            corner_w,
            front,
            bounds,
            point,
            places,
        })
    }

    /// A square of two triangles around the projected centre, front-facing unless it is a triangle's corner.
    fn point(&self, corner: &Corner) -> Vec<Piece> {
        let mut kept = vec![Clipped { position: corner.position, weights: [1.0, 0.0, 0.0] }];
        if corner.position.iter().any(|v| !v.is_finite()) || corner.clip.iter().any(|&d| d < 0.0) {
            return Vec::new();
        }
        let [x, y, z, w] = corner.position;
        let inside = w > 0.0 && (self.keeps_depths || (0.0..=w).contains(&z));
        if !inside || x.abs() > GUARD * w || y.abs() > GUARD * w {
            kept.clear();
        }
        let Some(center) = kept.pop() else {
            return Vec::new();
        };
        let [sx, sy] = self.screen(center.position);
        let half = f64::from(corner.size.clamp(1.0, 8192.0)) / 2.0;
        let square = [[-half, -half], [half, -half], [half, half], [-half, half]];
        let mut pieces =
            self.flat_polygon(square.map(|[dx, dy]| [sx + dx, sy + dy]), [center; 4], [w, w, w]);
        for piece in &mut pieces {
            piece.point = Some([sx - half, sy - half, 2.0 * half]);
        }
        pieces
    }

    /// A rectangle as wide as lines are along the minor axis, front-facing unless it is a triangle's edge.
    fn line(&self, a: &Corner, b: &Corner) -> Vec<Piece> {
        let all = [a, b];
        if all.iter().any(|c| c.position.iter().any(|v| !v.is_finite())) {
            return Vec::new();
        }
        let mut ends = vec![
            Clipped { position: a.position, weights: [1.0, 0.0, 0.0] },
            Clipped { position: b.position, weights: [0.0, 1.0, 0.0] },
        ];
        self.clip(&mut ends, &all);
        // A clipped "polygon" of two corners comes back with each cut doubled: take the extremes.
        let Some((&first, rest)) = ends.split_first() else {
            return Vec::new();
        };
        let along = |c: &Clipped| c.weights[1];
        let (mut low, mut high) = (first, first);
        for &c in rest {
            if along(&c) < along(&low) {
                low = c;
            }
            if along(&c) > along(&high) {
                high = c;
            }
        }
        let [p, q] = [self.screen(low.position), self.screen(high.position)];
        let steep = (q[1] - p[1]).abs() > (q[0] - p[0]).abs();
        let half = f64::from(self.line_width.clamp(1.0, 8192.0)) / 2.0;
        let [dx, dy] = if steep { [half, 0.0] } else { [0.0, half] };
        let square = [
            [p[0] - dx, p[1] - dy],
            [q[0] - dx, q[1] - dy],
            [q[0] + dx, q[1] + dy],
            [p[0] + dx, p[1] + dy],
        ];
        let corner_w = [a.position[3], b.position[3], 1.0];
        self.flat_polygon(square, [low, high, high, low], corner_w)
    }

    fn flat_polygon(
        &self,
        screen: [[f64; 2]; 4],
        corners: [Clipped; 4],
        corner_w: [f64; 3],
    ) -> Vec<Piece> {
        let snap = |v: f64| (v * SUBPIXELS).round_ties_even() as i64;
        let mut pieces = Vec::new();
        for order in [[0, 1, 2], [0, 2, 3]] {
            let piece = self.piece(
                order.map(|n| snap(screen[n][0])),
                order.map(|n| snap(screen[n][1])),
                order.map(|n| self.depth(corners[n].position)),
                order.map(|n| 1.0 / corners[n].position[3]),
                order.map(|n| corners[n].weights),
                corner_w,
            );
            pieces.extend(piece.map(|piece| Piece { front: true, ..piece }));
        }
        pieces
    }
}

/// Keeps the part of a polygon where `distance` is not negative.
fn clip_plane(polygon: &mut Vec<Clipped>, distance: impl Fn(&Clipped) -> f64) {
    if polygon.iter().all(|c| distance(c) >= 0.0) {
        return;
    }
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for n in 0..polygon.len() {
        let (a, b) = (polygon[n], polygon[(n + 1) % polygon.len()]);
        let (da, db) = (distance(&a), distance(&b));
        if da >= 0.0 {
            kept.push(a);
        }
        if (da >= 0.0) != (db >= 0.0) {
            let t = da / (da - db);
            let mix = |x: f64, y: f64| x + (y - x) * t;
            let mut cut = a;
            for i in 0..4 {
                cut.position[i] = mix(a.position[i], b.position[i]);
            }
            for i in 0..3 {
                cut.weights[i] = mix(a.weights[i], b.weights[i]);
            }
            kept.push(cut);
        }
    }
    *polygon = kept;
}

impl Piece {
    /// True when it faces the viewer (points and lines always do).
    pub fn front(&self) -> bool {
        self.front
    }

    /// Where each pixel's centre of a quad lies in a point, 0 to 1 from its upper left corner; 0 in what is no
    /// point.
    pub fn point_coords(&self, found: &Found) -> [[f32; 2]; 4] {
        let [left, top, width] = self.point.unwrap_or([0.0, 0.0, f64::INFINITY]);
        found.position.map(|[x, y, ..]| {
            let within = |at: f32, edge: f64| ((f64::from(at) - edge) / width) as f32;
            [within(x, left), within(y, top)]
        })
    }

    /// A walk over the quads that the piece may touch.
    pub fn quads(&self) -> Cursor {
        let low = |v: [i64; 3]| v.iter().min().copied().unwrap_or(0).max(0) / 256;
        let high = |v: [i64; 3]| v.iter().max().copied().unwrap_or(0).max(0) / 256 + 1;
        let area = [
            (low(self.x) as u32).max(self.bounds[0]) & !1,
            (low(self.y) as u32).max(self.bounds[1]) & !1,
            (high(self.x) as u32).min(self.bounds[2]),
            (high(self.y) as u32).min(self.bounds[3]),
        ];
        Cursor { x: area[0], y: area[1], area }
    }

    /// The edge functions at a point in subpixels, unbiased, and whether the point is inside under
    /// the top-left rule.
    fn edges(&self, px: i64, py: i64) -> ([i64; 3], bool) {
        let mut inside = true;
        let mut edge = [0; 3];
        for (n, value) in edge.iter_mut().enumerate() {
            let (a, b) = ((n + 1) % 3, (n + 2) % 3);
            let (dx, dy) = (self.x[b] - self.x[a], self.y[b] - self.y[a]);
            *value = dx * (py - self.y[a]) - dy * (px - self.x[a]);
            // Clockwise with y down: a top edge goes right along a row, a left edge goes up.
            let owns = dy < 0 || (dy == 0 && dx > 0);
            inside &= *value > 0 || (*value == 0 && owns);
        }
        (edge, inside)
    }

    fn found(&self, x: u32, y: u32) -> Option<Found> {
        let mut masks = [0; 4];
        for (pixel, mask) in masks.iter_mut().enumerate() {
            let (px, py) = (x + (pixel as u32 & 1), y + (pixel as u32 >> 1));
            let [left, top, right, bottom] = self.bounds;
            if px < left || px >= right || py < top || py >= bottom {
                continue;
            }
            for (sample, &place) in self.places.iter().enumerate() {
                let (_, inside) = self.edges_at([px, py], place);
                *mask |= u32::from(inside) << sample;
            }
        }
        let covered = covered(masks);
        if covered == 0 {
            return None;
        }
        let (position, linear) = self.at([x, y], CENTER);
        let mut found = Found { x, y, covered, masks, position, linear, centroid: linear };
        let all = (1u64 << self.places.len()) - 1;
        let of = |pixel: usize| match u64::from(masks[pixel]) {
            0 => None,
            mask if mask == all => Some(linear[pixel]),
            mask => {
                let place = self.places[mask.trailing_zeros() as usize];
                Some(self.at([x, y], place).1[pixel])
            }
        };
        let first = of(covered.trailing_zeros() as usize);
        for (pixel, centroid) in found.centroid.iter_mut().enumerate() {
            *centroid = of(pixel).or(first).unwrap_or(linear[pixel]);
        }
        Some(found)
    }

    /// The quad as one of its pixels' samples has it: what is covered, and where.
    pub fn sampled(&self, found: &Found, sample: usize) -> Found {
        let (position, linear) = self.at([found.x, found.y], self.places[sample]);
        let masks = found.masks.map(|mask| mask & 1 << sample);
        Found { covered: covered(masks), masks, position, linear, ..*found }
    }

    fn edges_at(&self, [x, y]: [u32; 2], place: [u8; 2]) -> ([i64; 3], bool) {
        let [x, y] = [(x, place[0]), (y, place[1])]
            .map(|(at, place)| i64::from(at) * 256 + i64::from(place));
        self.edges(x, y)
    }

    /// What is at a place of each pixel of a quad: position, and weights of the corners.
    fn at(&self, [x, y]: [u32; 2], place: [u8; 2]) -> ([[f32; 4]; 4], [[f64; 3]; 4]) {
        let mut linear = [[0.0; 3]; 4];
        let mut position = [[0.0; 4]; 4];
        for pixel in 0..4 {
            let at = [x + (pixel as u32 & 1), y + (pixel as u32 >> 1)];
            let (edges, _) = self.edges_at(at, place);
            let w = edges.map(|edge| edge as f64 / self.area as f64);
            linear[pixel] = w;
            let dot = |v: [f64; 3]| w[0] * v[0] + w[1] * v[1] + w[2] * v[2];
            position[pixel] = [
                at[0] as f32 + f32::from(place[0]) / 256.0,
                at[1] as f32 + f32::from(place[1]) / 256.0,
                dot(self.depth) as f32,
                dot(self.inverse_w) as f32,
            ];
        }
        (position, linear)
    }

    fn place(found: &Found, pixel: usize, centroid: bool) -> [f64; 3] {
        if centroid { found.centroid[pixel] } else { found.linear[pixel] }
    }

    /// Perspective-correct weights of the primitive's corners at a pixel.
    pub fn perspective(&self, found: &Found, pixel: usize, centroid: bool) -> [f64; 3] {
        let linear = Piece::place(found, pixel, centroid);
        let mut sum = 0.0;
        let mut weights = [0.0; 3];
        for (corner, part) in linear.iter().enumerate() {
            let share = part * self.inverse_w[corner];
            sum += share;
            for (weight, w) in weights.iter_mut().zip(self.weights[corner]) {
                *weight += share * w;
            }
        }
        weights.map(|w| w / sum)
    }

    /// Screen-linear weights of the primitive's corners at a pixel.
    pub fn linear(&self, found: &Found, pixel: usize, centroid: bool) -> [f64; 3] {
        let perspective = self.perspective(found, pixel, centroid);
        let mut weights = [0.0; 3];
        let mut sum = 0.0;
        for n in 0..3 {
            weights[n] = perspective[n] * self.corner_w[n];
            sum += weights[n];
        }
        weights.map(|w| w / sum)
    }
}

impl Cursor {
    /// The next quad with a covered pixel, row by row.
    pub fn next(&mut self, piece: &Piece) -> Option<Found> {
        while self.y < self.area[3] {
            while self.x < self.area[2] {
                let (x, y) = (self.x, self.y);
                self.x += 2;
                if let Some(found) = piece.found(x, y) {
                    return Some(found);
                }
            }
            self.x = self.area[0];
            self.y += 2;
        }
        None
    }
}

#[cfg(test)]
mod tests;
