//! Strips and fans: the viewport transform, the numbers of an object, and its setup thread. isa/gen4-pipeline.md 1.2, 3, 9.5.

use super::super::dispatch::{Job, Limits};
use super::super::memory::Refused;
use super::super::message::{Register, Unit};
use super::super::rule::{Rule, Trap};
use super::super::run::Run;
use super::Gpu;
use super::unit::UnitState;
use super::vertex::{Entries, Left, written};

/// Words of SF_STATE.
const WORDS: u32 = 8;
/// Its section of the URB.
const SECTION: usize = 3;
/// Setup threads of the machine.
const MOST: u32 = 24;

/// A point, line or triangle, as the setup unit gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Topology that the object comes from, as 3DPRIMITIVE counts them.
    pub topology: u32,
    /// One to three vertex URB entries.
    pub vertices: Vec<Left>,
    /// The vertex whose values flat slots have.
    pub provoking: usize,
}

/// An object on the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Column and row of each vertex, less the pixel centre's 0.5, in steps of 1/256; the topmost vertex comes first.
    pub corners: Vec<[f32; 2]>,
    /// Depth and 1/w of each vertex.
    pub depths: Vec<[f32; 2]>,
    /// Which vertex of the object comes first.
    pub first: usize,
    /// The determinant of the two edges from the first vertex.
    pub determinant: f32,
    /// A triangle shows its back.
    pub back: bool,
}

fn state(gpu: &Gpu) -> Result<UnitState, Refused> {
    let missing = || (Rule::Bases, "no 3DSTATE_PIPELINED_POINTERS were sent".to_string());
    let units = gpu.state.units.ok_or_else(missing)?;
    let unit = UnitState::read(gpu, Unit::Setup, units.setup, WORDS)?;
    let refused = |what: &str| Err((Rule::ThreadState, format!("{what} of SF_STATE")));
    if unit.words[6] >> 9 & 0xff != 0x88 {
        return refused("the origin's bias");
    }
    if unit.start != 3 || unit.urb.0 != 1 || unit.constants.1 != 0 {
        return refused("the first register, the first row or the constants");
    }
    Ok(unit)
}

/// The nearest multiple of a 256th.
fn snapped(x: f32) -> f32 {
    ((f64::from(x) * 256.0).round() / 256.0) as f32
}

impl Gpu {
    /// Where an object is on the screen: the viewport transform of normalised device coordinates, slot 1.
    ///
    /// # Errors
    /// The state is none, or the vertices are too short or too many.
    pub fn placed(&self, object: &Object) -> Result<Placed, Trap> {
        self.place_object(object).map_err(|(rule, detail)| Trap::new(rule, 0, detail))
    }

    fn place_object(&self, object: &Object) -> Result<Placed, Refused> {
        let unit = state(self)?;
        let count = object.vertices.len();
        if !(1..=3).contains(&count) || object.provoking >= count {
            return Err((Rule::Payload, format!("an object of {count} vertices")));
        }
        let d5 = unit.words[5];
        let mut matrix = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        if d5 >> 1 & 1 == 1 {
            let at = self.bases()?.general.wrapping_add(d5 & !31);
            for (index, number) in matrix.iter_mut().enumerate() {
                *number = f32::from_bits(self.memory.state(at.wrapping_add(4 * index as u32))?);
            }
        }
        let mut corners = Vec::new();
        let mut depths = Vec::new();
        for vertex in &object.vertices {
            let ndc = [vertex.float(4)?, vertex.float(5)?, vertex.float(6)?];
            let screen: [f32; 3] = std::array::from_fn(|at| matrix[at] * ndc[at] + matrix[3 + at]);
            corners.push([snapped(screen[0] - 0.5), snapped(screen[1] - 0.5)]);
            depths.push([screen[2], vertex.float(7)?]);
        }
        // A rotation brings the topmost vertex of a triangle to the front.
        let top = |at: &usize| (corners[*at][1], corners[*at][0]);
        let first = match count {
            3 => (0..3)
                .min_by(|a, b| top(a).partial_cmp(&top(b)).unwrap_or(std::cmp::Ordering::Equal)),
            _ => None,
        };
        let first = first.unwrap_or(0);
        corners.rotate_left(first);
        depths.rotate_left(first);
        let edge = |to: usize| [corners[to][0] - corners[0][0], corners[to][1] - corners[0][1]];
        let determinant = match count {
            3 => {
                let ([dx0, dy0], [dx2, dy2]) = (edge(1), edge(2));
                dx0 * dy2 - dx2 * dy0
            }
            2 => {
                let [dx0, dy0] = edge(1);
                dx0 * dx0 + dy0 * dy0
            }
            _ => 0.0,
        };
        let counterclockwise = d5 & 1 == 1;
        let back =
            count == 3 && if counterclockwise { determinant > 0.0 } else { determinant < 0.0 };
        Ok(Placed { corners, depths, first, determinant, back })
    }

    /// Runs the setup thread of an object and gives its setup entry.
    ///
    /// # Errors
    /// The rule that the state or the thread breaks.
    pub fn setup_thread(&mut self, object: &Object, run: &mut Run<'_>) -> Result<Vec<u8>, Trap> {
        let trap = |(rule, detail): Refused| Trap::new(rule, 0, detail);
        let placed = self.placed(object)?;
        let job = self.setup_job(object, &placed).map_err(trap)?;
        let limits = Limits { threads: 1, entries: None };
        let ended = self.threads(vec![job], limits, run)?;
        match ended.first().and_then(|context| context.entries.first()) {
            Some(entry) => written(entry).map(Left::into_bytes).map_err(trap),
            None => Err(trap((Rule::UrbComplete, "no setup entry".into()))),
        }
    }

    fn setup_job(&self, object: &Object, placed: &Placed) -> Result<Job, Refused> {
        let unit = state(self)?;
        let entries = Entries::of(self, unit.words[4], SECTION, MOST)?;
        let mut payload = vec![Register::UNDEFINED; 3];
        let mut define = |register: usize, word: usize, value: u32| {
            let register: &mut Register = &mut payload[register];
            register.words[word] = value;
            register.undefined &= !(15 << (4 * word));
        };
        define(0, 0, entries.pool().handle(0));
        let count = object.vertices.len();
        let provoking = (object.provoking + count - placed.first) % count;
        define(1, 0, object.topology & 0x1f);
        define(1, 1, provoking as u32);
        define(1, 2, placed.determinant.to_bits());
        let corner = &placed.corners;
        let width = match count {
            1 => Some(point_width(&unit, &object.vertices[0])?),
            _ => None,
        };
        for (axis, word) in [(0, 3), (1, 5)] {
            for (other, word) in [(1, word), (2, word + 1)] {
                if let Some(found) = corner.get(other) {
                    define(1, word, (found[axis] - corner[0][axis]).to_bits());
                }
            }
        }
        if let Some(width) = width {
            define(1, 3, width.to_bits());
        }
        for (vertex, [depth, reciprocal]) in placed.depths.iter().enumerate() {
            define(2, 2 * vertex, depth.to_bits());
            define(2, 2 * vertex + 1, reciprocal.to_bits());
        }
        for vertex in 0..count {
            let entry = &object.vertices[(placed.first + vertex) % count];
            payload.extend(entry.rows(unit.urb)?);
        }
        let mut context =
            unit.context(payload[0], self.state.tables.map_or(0, |tables| tables[SECTION]));
        context.pool = entries.pool();
        context.give(entries.rows);
        unit.job(Unit::Setup, payload, 0xff, context)
    }
}

/// The width of a point in pixels: the state's, or that of the vertex's header, in eighths.
fn point_width(unit: &UnitState, vertex: &Left) -> Result<f32, Refused> {
    let eighths = match unit.words[7] >> 11 & 1 {
        1 => unit.words[7] & 0x7ff,
        _ => vertex.word(3)? >> 8 & 0x7ff,
    };
    Ok(eighths as f32 / 8.0)
}
