//! 3DPRIMITIVE: vertices, primitives of the geometry unit where it is on, triangles, the fixed clip test, setup,
//! rasterisation, pixels. isa/gen4-pipeline.md 2, 9.3 to 9.7.

use super::super::memory::Refused;
use super::super::rule::{Rule, Trap};
use super::super::run::Run;
use super::fetch::Primitive;
use super::geometry::assembled;
use super::vertex::Left;
use super::{Gpu, Object, Placed, Subspan};

/// Subspans that are gathered before threads run.
const GATHERED: usize = 4096;
/// Subspans of a bounding box that count as a step.
const LOOKED_AT: u64 = 64;
/// The greatest column and row.
const EDGE: i64 = 8191;

/// What the clipper makes of an object.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Reject,
    Accept,
    /// By a thread: the fixed planes that it needs (far, near, ymax, ymin, xmax, xmin from bit 0), and flags of headers.
    Clip(u32, u32),
}

/// Vertices of each triangle, and which provokes. Of a strip every second one turns the other way round.
fn triangles(
    topology: u32,
    count: usize,
    provoking: usize,
) -> Result<Vec<([usize; 3], usize)>, Refused> {
    let most = count.saturating_sub(2);
    Ok(match topology {
        4 => (0..count / 3).map(|n| ([3 * n, 3 * n + 1, 3 * n + 2], provoking)).collect(),
        5 => (0..most)
            .map(|n| match n % 2 {
                0 => ([n, n + 1, n + 2], provoking),
                _ => ([n, n + 2, n + 1], (3 - provoking) % 3),
            })
            .collect(),
        6 => (0..most).map(|n| ([0, n + 1, n + 2], provoking)).collect(),
        _ => return Err((Rule::NotBuilt, format!("topology {topology:#x}"))),
    })
}

impl Gpu {
    /// The URB entries of an instance's vertices as the fetcher leaves them, by the words of 3DPRIMITIVE behind its header.
    ///
    /// # Errors
    /// The rule that the state breaks.
    pub fn fetched(
        &self,
        header: u32,
        words: &[u32; 5],
        instance: u32,
    ) -> Result<Vec<Vec<u8>>, Trap> {
        let entries = Primitive::of(self.model, header, words)
            .and_then(|primitive| self.fetcher.instance(&self.memory, &primitive, instance));
        entries.map_err(|(rule, detail)| Trap::new(rule, 0, detail))
    }

    /// Draws.
    ///
    /// # Errors
    /// The rule that the state or a thread breaks.
    pub(super) fn draw(&mut self, primitive: &Primitive, run: &mut Run<'_>) -> Result<(), Trap> {
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        for instance in 0..primitive.instances {
            spend(run, 1)?;
            let fetched = self.fetcher.instance(&self.memory, primitive, instance).map_err(trap)?;
            let vertices = self.vertex_entries(&fetched, run)?;
            if self.state.units.is_none_or(|units| units.geometry.is_none()) {
                self.objects(primitive.topology, &vertices, run)?;
                continue;
            }
            let given = assembled(primitive.topology, &vertices).map_err(trap)?;
            spend(run, given.len() as u64)?;
            for emitted in self.geometry_threads(&given, run)? {
                for object in emitted.chunk_by(|_, next| !next.begins) {
                    let topology = object.first().map_or(0, |first| first.topology);
                    let vertices: Vec<Left> = object.iter().map(|one| one.entry.clone()).collect();
                    self.objects(topology, &vertices, run)?;
                }
            }
        }
        Ok(())
    }

    /// Objects behind the vertex and geometry units.
    fn objects(&mut self, topology: u32, vertices: &[Left], run: &mut Run<'_>) -> Result<(), Trap> {
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        let provoking = self.provoking(topology).map_err(trap)?;
        let triangles = triangles(topology, vertices.len(), provoking).map_err(trap)?;
        for (corners, provoking) in triangles {
            spend(run, 1)?;
            let vertices = corners.iter().map(|at| vertices[*at].clone()).collect();
            let object = Object { topology, vertices, provoking };
            match self.clipped(&object).map_err(trap)? {
                Verdict::Reject => {}
                Verdict::Accept => self.object(&object, run)?,
                Verdict::Clip(planes, flags) => {
                    for object in self.clip_thread(&object, planes, flags, run)? {
                        self.object(&object, run)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The vertex that provokes: SF_STATE, word 7.
    pub(super) fn provoking(&self, topology: u32) -> Result<usize, Refused> {
        let word = self.setup_word(7)?;
        let vertex = (if topology == 6 { word >> 25 & 3 } else { word >> 29 & 3 }) as usize;
        match vertex {
            0..=2 => Ok(vertex),
            _ => Err((Rule::ThreadState, "no vertex provokes".into())),
        }
    }

    fn setup_word(&self, word: u32) -> Result<u32, Refused> {
        let missing = || (Rule::Bases, "no 3DSTATE_PIPELINED_POINTERS were sent".to_string());
        let units = self.state.units.ok_or_else(missing)?;
        let at = self.bases()?.general.wrapping_add(units.setup);
        self.memory.state(at.wrapping_add(4 * word))
    }

    /// The clip test of normalised device coordinates, slot 1, and the header's flags.
    fn clipped(&self, object: &Object) -> Result<Verdict, Refused> {
        let Some(pointer) = self.state.units.and_then(|units| units.clip) else {
            return Ok(Verdict::Accept);
        };
        let general = self.bases()?.general;
        let at = general.wrapping_add(pointer);
        let d5 = self.memory.state(at.wrapping_add(20))?;
        match d5 >> 13 & 7 {
            0 => {}
            3 => return Ok(Verdict::Reject),
            4 => return Ok(Verdict::Accept),
            mode => return Err((Rule::NotBuilt, format!("clip mode {mode}"))),
        }
        let mut guard = [-1.0, 1.0, -1.0, 1.0];
        if d5 >> 26 & 1 == 1 {
            let at = general.wrapping_add(self.memory.state(at.wrapping_add(24))? & !31);
            for (word, limit) in (0..).zip(&mut guard) {
                *limit = f32::from_bits(self.memory.state(at.wrapping_add(4 * word))?);
            }
        }
        let near = if d5 >> 30 & 1 == 1 { 0.0 } else { -1.0 };
        let enables = d5 >> 16 & 0xff;
        let (mut all, mut any, mut must) = (!0u32, 0, false);
        for vertex in &object.vertices {
            let [x, y, z, w] =
                [vertex.float(4)?, vertex.float(5)?, vertex.float(6)?, vertex.float(7)?];
            let flags = vertex.word(3)? & enables;
            let outside = |tests: [bool; 4]| {
                tests.iter().rev().fold(0u32, |bits, test| bits << 1 | u32::from(*test))
            };
            let sides = outside([x < -1.0, x > 1.0, y < -1.0, y > 1.0]) * (d5 >> 28 & 1);
            let depth = outside([z < near, z > 1.0, false, false]) * (d5 >> 27 & 1);
            let beyond = x < guard[0] || x > guard[1] || y < guard[2] || y > guard[3];
            let negative = w < 0.0 && d5 >> 25 & 1 == 1;
            must |= beyond && d5 >> 28 & 1 == 1 || depth != 0 || flags != 0 || negative;
            all &= sides | depth << 4 | flags << 8;
            any |= sides | depth << 4 | flags << 8;
        }
        Ok(match (all != 0, must) {
            (true, _) => Verdict::Reject,
            (false, true) => {
                // xmin, xmax, ymin, ymax, near, far here; the thread has them the other way round.
                let planes = (0..6).fold(0, |planes, bit| planes << 1 | any >> bit & 1);
                Verdict::Clip(planes, any >> 8)
            }
            (false, false) => Verdict::Accept,
        })
    }

    /// An object that is drawn: culled, set up, rasterised.
    fn object(&mut self, object: &Object, run: &mut Run<'_>) -> Result<(), Trap> {
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        let placed = self.placed(object)?;
        let culled = match self.setup_word(6).map_err(trap)? >> 29 & 3 {
            0 => true,
            1 => false,
            2 => !placed.back,
            _ => placed.back,
        };
        if culled || placed.determinant == 0.0 || placed.determinant.is_nan() {
            return Ok(());
        }
        let bounds = self.bounds().map_err(trap)?;
        let Some(area) = Area::of(&placed, bounds) else { return Ok(()) };
        let entry = self.setup_thread(object, run)?;
        let mut spans = Vec::new();
        for y in (area.low[1] & !1..=area.high[1]).step_by(2) {
            let width = (area.high[0] - area.low[0]) as u64 / 2 + 1;
            spend(run, width / LOOKED_AT + 1)?;
            for x in (area.low[0] & !1..=area.high[0]).step_by(2) {
                spans.extend(area.span(&placed, x, y));
                if spans.len() == GATHERED {
                    self.pixel_threads(&entry, &spans, 0, run)?;
                    spans.clear();
                }
            }
        }
        self.pixel_threads(&entry, &spans, 0, run)
    }

    /// Columns and rows that are drawn to: the drawing rectangle and the scissor.
    fn bounds(&self) -> Result<[i64; 4], Refused> {
        let rectangle = self.state.rectangle;
        let missing = || (Rule::Bases, "no 3DSTATE_DRAWING_RECTANGLE was sent".to_string());
        let mut bounds = rectangle.ok_or_else(missing)?.map(i64::from);
        if self.setup_word(6)? >> 17 & 1 == 1 {
            let at = self.bases()?.general.wrapping_add(self.setup_word(5)? & !31);
            for (pair, word) in [(0, 24), (2, 28)] {
                let corner = self.memory.state(at.wrapping_add(word))?;
                for (axis, limit) in [corner & 0xffff, corner >> 16].into_iter().enumerate() {
                    let bound = &mut bounds[pair + axis];
                    let limit = i64::from(limit);
                    *bound = if pair == 0 { limit.max(*bound) } else { limit.min(*bound) };
                }
            }
        }
        Ok(bounds)
    }
}

/// Takes steps, which are not there without end.
fn spend(run: &mut Run<'_>, steps: u64) -> Result<(), Trap> {
    match run.steps.checked_sub(steps) {
        Some(left) => {
            *run.steps = left;
            Ok(())
        }
        None => Err(Trap::new(Rule::Steps, 0, "the steps are used up by a draw")),
    }
}

/// A triangle on the grid of 256ths, turned clockwise (y down), and the pixels that it may cover.
struct Area {
    corners: [[i64; 2]; 3],
    bounds: [i64; 4],
    low: [i64; 2],
    high: [i64; 2],
}

impl Area {
    fn of(placed: &Placed, bounds: [i64; 4]) -> Option<Area> {
        let fixed =
            |at: usize| placed.corners.get(at).map(|c| c.map(|x| (f64::from(x) * 256.0) as i64));
        let mut corners = [fixed(0)?, fixed(1)?, fixed(2)?];
        // Beyond this the fixed-point range of the unit ends.
        if corners.iter().flatten().any(|x| x.abs() > 256 * 4 * EDGE) {
            return None;
        }
        if placed.determinant < 0.0 {
            corners.swap(1, 2);
        }
        let range = |axis: usize| {
            let numbers = corners.map(|corner| corner[axis]);
            let least = numbers.iter().min().copied().unwrap_or(0);
            let most = numbers.iter().max().copied().unwrap_or(0);
            let low = (least + 255).div_euclid(256).max(bounds[axis]).max(0);
            (low, most.div_euclid(256).min(bounds[2 + axis]).min(EDGE))
        };
        let ((left, right), (top, bottom)) = (range(0), range(1));
        (left <= right && top <= bottom).then_some(Area {
            corners,
            bounds,
            low: [left, top],
            high: [right, bottom],
        })
    }

    /// Whether the triangle covers a pixel's centre: edges at the top and left belong to it.
    fn covers(&self, x: i64, y: i64) -> bool {
        let [left, top, right, bottom] = self.bounds;
        let within = x >= left && y >= top && x <= right && y <= bottom;
        within
            && (0..3).all(|edge| {
                let ([ax, ay], [bx, by]) = (self.corners[edge], self.corners[(edge + 1) % 3]);
                let (dx, dy) = (bx - ax, by - ay);
                let side = dx * (256 * y - ay) - dy * (256 * x - ax);
                side > 0 || side == 0 && (dy < 0 || dy == 0 && dx > 0)
            })
    }

    /// The four pixels from an even one on, if any is covered.
    fn span(&self, placed: &Placed, x: i64, y: i64) -> Option<Subspan> {
        let covered = (0..4).fold(0u8, |bits, pixel| {
            bits | u8::from(self.covers(x + (pixel & 1), y + (pixel >> 1))) << pixel
        });
        if covered == 0 {
            return None;
        }
        Some(Subspan {
            at: [x as u16, y as u16],
            covered,
            depth: std::array::from_fn(|pixel| {
                depth(placed, (x + (pixel as i64 & 1)) as f64, (y + (pixel as i64 >> 1)) as f64)
            }),
            origin: placed.corners[0],
            back: placed.back,
        })
    }
}

/// The plane of the triangle's depths at a pixel, within 0 and 1.
fn depth(placed: &Placed, x: f64, y: f64) -> f32 {
    let corner = |at: usize| placed.corners[at].map(f64::from);
    let ([x0, y0], [x1, y1], [x2, y2]) = (corner(0), corner(1), corner(2));
    let [z0, z1, z2] = [0, 1, 2].map(|at: usize| f64::from(placed.depths[at][0]));
    let (dx, dy) = (x - x0, y - y0);
    let determinant = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0);
    let along_x = ((z1 - z0) * (y2 - y0) - (z2 - z0) * (y1 - y0)) / determinant;
    let along_y = ((z2 - z0) * (x1 - x0) - (z1 - z0) * (x2 - x0)) / determinant;
    (z0 + along_x * dx + along_y * dy).clamp(0.0, 1.0) as f32
}
