//! Setup: of each component of two slots at a time the slopes along x and y, and the value at the first vertex.
//! isa/gen4-pipeline.md 3.2, 4.2.

use super::text::Text;
use super::{Class, Pair};
use crate::isa::Machine;
use crate::vue::POSITION;
use gpucc_ir::ssa::Interpolation;

/// The first register of vertices: r1 has the numbers of the primitive, r2 depth and 1 / w of each vertex.
const VERTICES: usize = 3;
/// Pairs of slots of a message: three registers each, up to m13.
const MOST: usize = 4;
/// Behind the vertices, at most 27 registers: the values of two slots at each vertex, differences, the inverse determinant.
const VALUES: usize = 32;
const DIFFERENCES: usize = 35;
const PRODUCT: usize = 37;
const INVERSE: usize = 38;
const REGISTERS: usize = 40;

/// What stands in half of the registers of values.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Half {
    Nothing,
    Position,
    Slot(usize, Interpolation),
    /// The place in a point: 0 to 1 from its upper left corner on, which counts as the first vertex (isa/gen4-pipeline.md 4.2).
    Point,
}

impl Half {
    /// Its value is the same everywhere.
    fn is_flat(self) -> bool {
        matches!(self, Half::Nothing | Half::Point | Half::Slot(_, Interpolation::Flat))
    }
}

/// A pair of slots that becomes three message registers, and where its values at each vertex are.
struct Halves {
    halves: [Half; 2],
    values: [usize; 3],
    /// They are where the vertices' rows are, so that nothing is moved there.
    in_place: bool,
    /// The vertices have both halves of these rows.
    whole: bool,
}

impl Halves {
    fn of(pair: &Pair, halves: [Half; 2]) -> Halves {
        let slots = halves.map(|half| match half {
            Half::Position => Some(POSITION),
            Half::Slot(slot, _) => Some(slot),
            Half::Nothing | Half::Point => None,
        });
        let first = slots[0].filter(|slot| slot % 2 == 0);
        let next = first.is_some_and(|first| slots[1].is_none_or(|second| second == first + 1));
        match first.filter(|_| next) {
            Some(slot) => {
                let whole = slots[1].is_some() || slot + 1 < pair.written;
                let values = [0, 1, 2].map(|vertex| row(pair, vertex, slot));
                Halves { halves, values, in_place: true, whole }
            }
            None => {
                let values = [VALUES, VALUES + 1, VALUES + 2];
                Halves { halves, values, in_place: false, whole: false }
            }
        }
    }
}

/// Where a vertex has a slot. Rows from the second on are there: slots 2 and 3.
fn row(pair: &Pair, vertex: usize, slot: usize) -> usize {
    VERTICES + vertex * (pair.rows() - 1) + (slot - POSITION) / 2
}

/// The program for a class.
pub fn program(machine: Machine, pair: &Pair, class: Class) -> Text {
    let mut text = Text::default();
    text.uses(REGISTERS);
    let vertices = match class {
        Class::Points => 1,
        Class::Lines => 2,
        Class::Triangles => 3,
    };
    let mut halves = vec![Half::Position];
    halves.extend(pair.varyings.iter().map(|&(slot, how)| Half::Slot(slot, how)));
    halves.extend(pair.point.then_some(Half::Point));
    // Which vertex flat slots have.
    if halves.iter().any(|half| matches!(half, Half::Slot(_, Interpolation::Flat))) {
        for (flag, vertex) in (0..).zip(1..vertices) {
            text.add(format!("cmp.z.f0.{flag}(8) null<1>D g1.1<0,1,0>D {vertex}D"));
        }
    }
    // Of a point the width.
    match class {
        Class::Points if pair.point => inverse(&mut text, machine, 3),
        Class::Points => {}
        _ => inverse(&mut text, machine, 2),
    }
    // A row that is changed in place is changed once: no slot that is read stands twice.
    halves.resize(2 * pair.setup_pairs(), Half::Nothing);
    let pairs: Vec<Halves> =
        halves.chunks(2).map(|two| Halves::of(pair, [two[0], two[1]])).collect();
    let messages = pairs.len().div_ceil(MOST);
    for (number, part) in pairs.chunks(MOST).enumerate() {
        for (at, halves) in part.iter().enumerate() {
            gather(&mut text, pair, vertices, halves);
            planes(&mut text, class, 2 + 3 * at, halves);
        }
        let length = (1 + 3 * part.len()) << 20;
        let offset = (4 * MOST * number) << 4;
        let send = |bits: u32| {
            let descriptor = bits | (length | offset) as u32;
            format!("send(8) 1 null<1>UD g0<8,8,1>UD {descriptor:#010x}")
        };
        // Used, transposed; the last is complete and ends the thread.
        if number + 1 == messages {
            text.end(send(0x8600_c800));
        } else {
            text.add(send(0x0600_4800));
        }
    }
    text
}

/// The reciprocal of a number of the primitive: the determinant, or a point's width.
fn inverse(text: &mut Text, machine: Machine, number: usize) {
    let wait = format!("mov(8) null<1>F g{INVERSE}<8,8,1>F");
    // The 965 does not check a message's destination: it is read before and behind. isa/gen4.md 5.1.
    if machine == Machine::Gen4 {
        text.add(&wait);
    }
    text.add(format!("send(8) 14 g{INVERSE}<1>F g1.{number}<0,1,0>F 0x01110001"));
    if machine == Machine::Gen4 {
        text.add(&wait);
    }
}

/// The values of two slots at each vertex.
fn gather(text: &mut Text, pair: &Pair, vertices: usize, halves: &Halves) {
    let perspective = |half| matches!(half, Half::Slot(_, Interpolation::Perspective));
    if halves.in_place && halves.halves.into_iter().all(perspective) {
        for vertex in 0..vertices {
            let (value, inverse) = (halves.values[vertex], 2 * vertex + 1);
            text.add(format!("mul(8) g{value}<1>F g{value}<8,8,1>F g2.{inverse}<0,1,0>F"));
        }
        return;
    }
    for half in 0..2 {
        gather_half(text, pair, vertices, halves, half);
    }
}

/// The values of a slot at each vertex, in the lower or upper four channels of the registers of values.
fn gather_half(text: &mut Text, pair: &Pair, vertices: usize, halves: &Halves, half: usize) {
    let in_place = halves.in_place;
    let to = |vertex: usize, ty: &str| format!("g{}.{}<1>{ty}", halves.values[vertex], 4 * half);
    let from = |vertex: usize, slot: usize, ty: &str| {
        format!("g{}.{}<4,4,1>{ty}", row(pair, vertex, slot), 4 * (slot % 2))
    };
    match halves.halves[half] {
        Half::Nothing | Half::Point => text.add(format!("mov(4) {} 0UD", to(0, "UD"))),
        Half::Position => {
            for vertex in 0..vertices {
                let register = halves.values[vertex];
                // Nobody reads the planes of x and y.
                if !in_place {
                    text.add(format!("mov(4) {} 0UD", to(vertex, "UD")));
                }
                let depth = 2 * vertex;
                text.add(format!("mov(2) g{register}.{}<1>F g2.{depth}<2,2,1>F", 4 * half + 2));
            }
        }
        Half::Slot(slot, Interpolation::Flat) => {
            if !in_place {
                text.add(format!("mov(4) {} {}", to(0, "UD"), from(0, slot, "UD")));
            }
            for (flag, vertex) in (0..).zip(1..vertices) {
                let from = from(vertex, slot, "UD");
                text.add(format!("(+f0.{flag}) mov(4) {} {from}", to(0, "UD")));
            }
        }
        Half::Slot(slot, how) => {
            for vertex in 0..vertices {
                let (to, from) = (to(vertex, "F"), from(vertex, slot, "F"));
                match how {
                    Interpolation::Perspective => {
                        let inverse = 2 * vertex + 1;
                        text.add(format!("mul(4) {to} {from} g2.{inverse}<0,1,0>F"));
                    }
                    _ if in_place => {}
                    _ => text.add(format!("mov(4) {to} {from}")),
                }
            }
        }
    }
}

/// Slopes and first values of two slots to three message registers.
fn planes(text: &mut Text, class: Class, message: usize, halves: &Halves) {
    let level = halves.halves.map(|half| half.is_flat() || class == Class::Points);
    // Flat halves of whole rows have slopes too, which are written over.
    if level == [false; 2] || halves.whole && level.contains(&false) {
        slopes(text, class, message, halves.values, 0, 8);
    } else {
        for half in (0..2).filter(|half| !level[*half]) {
            slopes(text, class, message, halves.values, 4 * half, 4);
        }
    }
    for part in 0..2 {
        if level == [true; 2] {
            text.add(format!("mov(8) m{}<1>UD 0UD", message + part));
        } else if let Some(half) = level.iter().position(|level| *level) {
            text.add(format!("mov(4) m{}.{}<1>UD 0UD", message + part, 4 * half));
        }
        let point = halves.halves.iter().position(|half| *half == Half::Point);
        if let Some(half) = point.filter(|_| class == Class::Points) {
            let to = format!("m{}.{}<1>F", message + part, 4 * half + part);
            text.add(format!("mov(1) {to} g{INVERSE}<0,1,0>F"));
        }
    }
    text.add(format!("mov(8) m{}<1>UD g{}<8,8,1>UD", message + 2, halves.values[0]));
}

/// Slopes along x and y of so many components from one on.
fn slopes(
    text: &mut Text,
    class: Class,
    message: usize,
    values: [usize; 3],
    from: usize,
    count: usize,
) {
    let region = format!("<{count},{count},1>F");
    let value = |vertex: usize| format!("g{}.{from}{region}", values[vertex]);
    let local = |register: usize| format!("g{register}.{from}");
    let scalar = |number: usize| format!("g1.{number}<0,1,0>F");
    let (dx0, dx2, dy0, dy2) = (scalar(3), scalar(4), scalar(5), scalar(6));
    let (one, two) = (local(DIFFERENCES), local(DIFFERENCES + 1));
    let (product, inverse) = (local(PRODUCT), format!("g{INVERSE}.{from}{region}"));
    text.add(format!("add({count}) {one}<1>F {} -{}", value(1), value(0)));
    if class == Class::Lines {
        for (part, along) in [(0, &dx0), (1, &dy0)] {
            text.add(format!("mul({count}) {product}<1>F {one}{region} {along}"));
            let to = format!("m{}.{from}<1>F", message + part);
            text.add(format!("mul({count}) {to} {product}{region} {inverse}"));
        }
        return;
    }
    text.add(format!("add({count}) {two}<1>F {} -{}", value(2), value(0)));
    for (part, [a, ka, b, kb]) in [(0, [&one, &dy2, &two, &dy0]), (1, [&two, &dx0, &one, &dx2])] {
        if count == 8 {
            // The accumulator has the first product.
            text.add(format!("mul(8) null<1>F {a}{region} {ka}"));
            text.add(format!("mac(8) {product}<1>F {b}{region} -{kb}"));
        } else {
            // The second vertex's values are needed no more.
            let other = local(values[1]);
            text.add(format!("mul(4) {product}<1>F {a}{region} {ka}"));
            text.add(format!("mul(4) {other}<1>F {b}{region} {kb}"));
            text.add(format!("add(4) {product}<1>F {product}{region} -{other}{region}"));
        }
        let to = format!("m{}.{from}<1>F", message + part);
        text.add(format!("mul({count}) {to} {product}{region} {inverse}"));
    }
}
