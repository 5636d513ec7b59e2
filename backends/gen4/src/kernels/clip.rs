//! The clipper of triangles, after Sutherland and Hodgman. A corner of the polygon is known by its weights of the three vertices:
//! one register, whatever an entry holds. Distances to planes are linear in the weights, and so is all that a corner's entry
//! has. isa/gen4-pipeline.md 4.3.

use super::Pair;
use super::text::{Label, Text};
use crate::isa::Machine;
use crate::vue::POSITION;
use gpucc_ir::ssa::Interpolation;

/// Two lists of corners, which take turns: three corners and one more for each of 14 planes. Vertices end before r31.
const LISTS: [usize; 2] = [31, 48];
/// Doublewords of numbers: corners of the list, where it begins, where the next one begins, how many that has, how many
/// are left to be looked at, where the one at hand is, where the next one goes, and where the plane is.
const NUMBERS: usize = 65;
const COUNT: usize = 0;
const LIST: usize = 1;
const OTHER: usize = 2;
const MADE: usize = 3;
const LEFT: usize = 4;
const AT: usize = 5;
const TO: usize = 6;
/// Where the distances to the plane at hand are.
const PLANE: usize = 7;
/// Bytes of a plane's distances.
const PLANE_BYTES: usize = 16;
/// Distances of the three vertices to a plane.
const DISTANCES: usize = 66;
/// Weights of the corner before and of that at hand; their distances in all channels.
const BEFORE: usize = 67;
const HERE: usize = 68;
const BEFORE_DISTANCE: usize = 69;
const HERE_DISTANCE: usize = 70;
const SUM: usize = 71;
const CROSSING: usize = 72;
const INVERSE: usize = 73;
/// The header of messages, and the reply to those that ask for an entry.
const HEADER: usize = 74;
const REPLY: usize = 75;
/// Weights of what is linear on the screen; the corner's position.
const LINEAR: usize = 76;
const PLACE: usize = 77;
/// Distances of the three vertices to each plane and a 0: two planes a register, up to 14.
const PLANES: usize = 78;
const REGISTERS: usize = 85;

/// The topology of a fan, and the marks of its first and last entries in the header.
const FAN: u32 = 6 << 2;
const START: u32 = 2;
const END: u32 = 1;
/// The topology of every second triangle of a strip, whose first two vertices are the other way round.
const REVERSED: u32 = 13;

struct Clip<'a> {
    text: Text,
    machine: Machine,
    pair: &'a Pair,
}

/// A doubleword of the numbers as source and as destination.
fn number(which: usize) -> String {
    format!("g{NUMBERS}.{which}<0,1,0>D")
}

fn to_number(which: usize) -> String {
    format!("g{NUMBERS}.{which}<1>D")
}

/// The program.
pub fn program(machine: Machine, pair: &Pair) -> Text {
    let mut clip = Clip { text: Text::default(), machine, pair };
    clip.text.uses(REGISTERS);
    let [kill, again, skip] = std::array::from_fn(|_| clip.text.label());
    clip.begin();
    let planes = clip.distances();
    clip.text.add(format!("mov(1) {} {}D", to_number(PLANE), 32 * PLANES));
    clip.text.place(again);
    clip.text.add(format!("mov(1) a0<1>UW g{NUMBERS}.{}<0,1,0>UW", 2 * PLANE));
    clip.text.add(format!("mov(4) g{DISTANCES}<1>F g[a0]<4,4,1>F"));
    clip.plane(skip, kill);
    clip.text.place(skip);
    let end = 32 * PLANES + PLANE_BYTES * planes;
    clip.text.add(format!("add(1) {} {} {PLANE_BYTES}D", to_number(PLANE), number(PLANE)));
    clip.text.add(format!("cmp.l.f0.0(1) null<1>D {} {end}D", number(PLANE)));
    clip.text.jump("(+f0.0) ", again);
    clip.emit();
    clip.text.place(kill);
    // Complete, and of no use.
    clip.text.end("send(8) 1 null<1>UD g0<8,8,1>UD 0x86108000");
    clip.text
}

impl Clip<'_> {
    /// A component of a slot of a vertex.
    fn component(&self, vertex: usize, slot: usize, component: usize) -> String {
        let register = 1 + vertex * self.pair.rows() + slot / 2;
        format!("g{register}.{}<0,1,0>F", 4 * (slot % 2) + component)
    }

    /// A slot of a vertex.
    fn slot(&self, vertex: usize, slot: usize, ty: &str) -> String {
        let register = 1 + vertex * self.pair.rows() + slot / 2;
        format!("g{register}.{}<4,4,1>{ty}", 4 * (slot % 2))
    }

    /// The distances of the vertices to all planes, which it counts.
    fn distances(&mut self) -> usize {
        // Near, far, left, right, top, bottom; near is a depth of 0 (isa/gen4-pipeline.md 0).
        let view = [
            (2, None),
            (2, Some("-")),
            (0, Some("")),
            (0, Some("-")),
            (1, Some("")),
            (1, Some("-")),
        ];
        let count = view.len() + self.pair.distances.len();
        for register in 0..count.div_ceil(2) {
            self.text.add(format!("mov(8) g{}<1>F 0F", PLANES + register));
        }
        let to = |plane: usize, vertex: usize| {
            format!("g{}.{}<1>F", PLANES + plane / 2, 4 * (plane % 2) + vertex)
        };
        for (plane, (axis, sign)) in view.into_iter().enumerate() {
            for vertex in 0..3 {
                let place = |component: usize| self.component(vertex, POSITION, component);
                let to = to(plane, vertex);
                let line = match sign {
                    None => format!("mov(1) {to} {}", place(axis)),
                    Some(sign) => format!("add(1) {to} {} {sign}{}", place(3), place(axis)),
                };
                self.text.add(line);
            }
        }
        for (plane, &(slot, component)) in (view.len()..).zip(&self.pair.distances) {
            for vertex in 0..3 {
                let from = self.component(vertex, slot, component);
                self.text.add(format!("mov(1) {} {from}", to(plane, vertex)));
            }
        }
        count
    }

    /// Three corners, which are the vertices.
    fn begin(&mut self) {
        let text = &mut self.text;
        let [list, other] = LISTS;
        text.add(format!("mov(8) g{DISTANCES}<1>F 0F"));
        for vertex in 0..3 {
            text.add(format!("mov(8) g{}<1>F 0F", list + vertex));
            text.add(format!("mov(1) g{}.{vertex}<1>F 1F", list + vertex));
        }
        text.add(format!("and(1) {} g0.2<0,1,0>UD 31UD", format_args!("g{NUMBERS}<1>UD")));
        text.add(format!("cmp.z.f0.0(1) null<1>D {} {REVERSED}D", number(COUNT)));
        for vertex in 0..2 {
            let register = list + vertex;
            text.add(format!("(+f0.0) mov(1) g{register}.{vertex}<1>F 0F"));
            text.add(format!("(+f0.0) mov(1) g{register}.{}<1>F 1F", 1 - vertex));
        }
        text.add(format!("mov(1) {} 3D", to_number(COUNT)));
        text.add(format!("mov(1) {} {}D", to_number(LIST), 32 * list));
        text.add(format!("mov(1) {} {}D", to_number(OTHER), 32 * other));
    }

    /// A message to extended math.
    fn inverse(&mut self, of: &str) {
        let wait = format!("mov(8) null<1>F g{INVERSE}<8,8,1>F");
        // The 965 does not check a message's destination: it is read before and behind. isa/gen4.md 5.1.
        if self.machine == Machine::Gen4 {
            self.text.add(&wait);
        }
        self.text.add(format!("send(8) 14 g{INVERSE}<1>F {of} 0x01110001"));
        if self.machine == Machine::Gen4 {
            self.text.add(&wait);
        }
    }

    /// The register that a number points to is read.
    fn fetch(&mut self, to: usize, pointer: usize) {
        // The low word of a doubleword.
        self.text.add(format!("mov(1) a0<1>UW g{NUMBERS}.{}<0,1,0>UW", 2 * pointer));
        self.text.add(format!("mov(8) g{to}<1>F g[a0]<8,8,1>F"));
    }

    /// The distance of a corner to the plane, to all channels.
    fn distance(&mut self, to: usize, corner: usize) {
        self.text.add(format!("mul(8) g{SUM}<1>F g{corner}<8,8,1>F g{DISTANCES}<8,8,1>F"));
        for other in 1..3 {
            let sum = format!("g{SUM}<0,1,0>F g{SUM}.{other}<0,1,0>F");
            self.text.add(format!("add(1) g{SUM}<1>F {sum}"));
        }
        self.text.add(format!("mov(8) g{to}<1>F g{SUM}<0,1,0>F"));
    }

    /// Puts a corner to the list that is made.
    fn put(&mut self, corner: usize) {
        self.text.add(format!("mov(1) a0<1>UW g{NUMBERS}.{}<0,1,0>UW", 2 * TO));
        self.text.add(format!("mov(8) g[a0]<1>F g{corner}<8,8,1>F"));
        self.text.add(format!("add(1) {} {} 32D", to_number(TO), number(TO)));
        self.text.add(format!("add(1) {} {} 1D", to_number(MADE), number(MADE)));
    }

    /// The corner between one inside and one outside, counted from the one inside so that both triangles at an edge agree.
    fn cross(&mut self, (inside, from): (usize, usize), (outside, to): (usize, usize)) {
        let text = &mut self.text;
        text.add(format!("add(8) g{SUM}<1>F g{from}<8,8,1>F -g{to}<8,8,1>F"));
        self.inverse(&format!("g{SUM}<8,8,1>F"));
        let text = &mut self.text;
        text.add(format!("mul(8) g{SUM}<1>F g{INVERSE}<8,8,1>F g{from}<8,8,1>F"));
        text.add(format!("add(8) g{CROSSING}<1>F g{outside}<8,8,1>F -g{inside}<8,8,1>F"));
        text.add(format!("mul(8) g{CROSSING}<1>F g{CROSSING}<8,8,1>F g{SUM}<8,8,1>F"));
        text.add(format!("add(8) g{CROSSING}<1>F g{CROSSING}<8,8,1>F g{inside}<8,8,1>F"));
        self.put(CROSSING);
    }

    /// Cuts the polygon off at the plane at hand; goes on at `skip` where no vertex is outside.
    fn plane(&mut self, skip: Label, kill: Label) {
        let [outside, whole, next] = std::array::from_fn(|_| self.text.label());
        let negative = |text: &mut Text, distance: usize| {
            text.add(format!("cmp.l.f0.0(8) null<1>F g{distance}<8,8,1>F 0F"));
        };
        negative(&mut self.text, DISTANCES);
        self.text.jump("(-f0.0.any8h) ", skip);
        let text = &mut self.text;
        text.add(format!("mov(1) {} 0D", to_number(MADE)));
        text.add(format!("mov(1) {} {}", to_number(TO), number(OTHER)));
        // The last corner comes before the first.
        text.add(format!("add(1) {} {} -1D", to_number(AT), number(COUNT)));
        text.add(format!("shl(1) {} {} 5D", to_number(AT), number(AT)));
        text.add(format!("add(1) {} {} {}", to_number(AT), number(AT), number(LIST)));
        self.fetch(BEFORE, AT);
        self.distance(BEFORE_DISTANCE, BEFORE);
        self.text.add(format!("mov(1) {} {}", to_number(LEFT), number(COUNT)));
        self.text.add(format!("mov(1) {} {}", to_number(AT), number(LIST)));
        let again = self.text.here();
        self.fetch(HERE, AT);
        self.distance(HERE_DISTANCE, HERE);
        negative(&mut self.text, BEFORE_DISTANCE);
        self.text.jump("(+f0.0) ", outside);
        negative(&mut self.text, HERE_DISTANCE);
        self.text.jump("(-f0.0) ", whole);
        let (before, here) = ((BEFORE, BEFORE_DISTANCE), (HERE, HERE_DISTANCE));
        self.cross(before, here);
        self.text.jump("", next);
        self.text.place(outside);
        negative(&mut self.text, HERE_DISTANCE);
        self.text.jump("(+f0.0) ", next);
        self.cross(here, before);
        self.text.place(whole);
        self.put(HERE);
        self.text.place(next);
        let text = &mut self.text;
        text.add(format!("mov(8) g{BEFORE}<1>F g{HERE}<8,8,1>F"));
        text.add(format!("mov(8) g{BEFORE_DISTANCE}<1>F g{HERE_DISTANCE}<8,8,1>F"));
        text.add(format!("add(1) {} {} 32D", to_number(AT), number(AT)));
        text.add(format!("add(1) {} {} -1D", to_number(LEFT), number(LEFT)));
        text.add(format!("cmp.g.f0.0(1) null<1>D {} 0D", number(LEFT)));
        text.jump("(+f0.0) ", again);
        text.add(format!("mov(1) {} {}", to_number(COUNT), number(MADE)));
        text.add(format!("mov(1) {} {}", to_number(AT), number(LIST)));
        text.add(format!("mov(1) {} {}", to_number(LIST), number(OTHER)));
        text.add(format!("mov(1) {} {}", to_number(OTHER), number(AT)));
        text.add(format!("cmp.l.f0.0(1) null<1>D {} 3D", number(COUNT)));
        text.jump("(+f0.0) ", kill);
    }

    /// Four components of a slot by weights.
    fn mix(&mut self, to: &str, weights: usize, slot: usize) {
        for vertex in 0..3 {
            let from = self.slot(vertex, slot, "F");
            let weight = format!("g{weights}.{vertex}<0,1,0>F");
            let product = if vertex == 0 { SUM } else { CROSSING };
            self.text.add(format!("mul(4) g{product}<1>F {from} {weight}"));
            let sum = if vertex == 2 { to.to_owned() } else { format!("g{SUM}<1>F") };
            if vertex > 0 {
                self.text.add(format!("add(4) {sum} g{SUM}<4,4,1>F g{CROSSING}<4,4,1>F"));
            }
        }
    }

    /// Weights on the screen: those of space, each by its vertex's w, as parts of their sum.
    fn linear_weights(&mut self) {
        for vertex in 0..3 {
            let w = self.component(vertex, POSITION, 3);
            let weight = format!("g{BEFORE}.{vertex}<0,1,0>F");
            self.text.add(format!("mul(1) g{LINEAR}.{vertex}<1>F {weight} {w}"));
        }
        self.text.add(format!("mul(4) g{LINEAR}<1>F g{LINEAR}<4,4,1>F g{INVERSE}<4,4,1>F"));
    }

    /// The corners leave as a fan, an entry each.
    fn emit(&mut self) {
        let rows = self.pair.rows();
        let length = (rows as u32 + 1) << 20;
        let text = &mut self.text;
        text.add(format!("mov(8) g{HEADER}<1>UD g0<8,8,1>UD"));
        text.add(format!("mov(1) g{HEADER}.2<1>UD {:#010x}UD", FAN | START));
        text.add(format!("mov(8) g{LINEAR}<1>F 0F"));
        text.add(format!("mov(1) {} {}", to_number(LEFT), number(COUNT)));
        text.add(format!("mov(1) {} {}", to_number(AT), number(LIST)));
        let (again, last) = (self.text.here(), self.text.label());
        self.fetch(BEFORE, AT);
        self.mix(&format!("g{PLACE}<1>F"), BEFORE, POSITION);
        self.inverse(&format!("g{PLACE}.3<0,1,0>F"));
        self.text.add("mov(4) m2<1>UD 0UD");
        self.text.add(format!("mul(4) m2.4<1>F g{PLACE}<4,4,1>F g{INVERSE}<4,4,1>F"));
        self.text.add(format!("mov(1) m2.7<1>F g{INVERSE}<0,1,0>F"));
        self.text.add(format!("mov(4) m3<1>F g{PLACE}<4,4,1>F"));
        if self.pair.varyings.iter().any(|(_, how)| *how == Interpolation::Linear) {
            self.linear_weights();
        }
        for slot in POSITION + 1..self.pair.slots {
            let to = format!("m{}.{}", 2 + slot / 2, 4 * (slot % 2));
            match self.pair.varies(slot) {
                // Nobody wrote the vertices' half of that row.
                _ if slot >= self.pair.written => self.text.add(format!("mov(4) {to}<1>UD 0UD")),
                // The first vertex provokes. docs/abi-gen4.md, Clipping.
                Interpolation::Flat => {
                    let from = self.slot(0, slot, "UD");
                    self.text.add(format!("mov(4) {to}<1>UD {from}"));
                }
                Interpolation::Linear => self.mix(&format!("{to}<1>F"), LINEAR, slot),
                _ => self.mix(&format!("{to}<1>F"), BEFORE, slot),
            }
        }
        let text = &mut self.text;
        text.add(format!("add(1) {} {} 32D", to_number(AT), number(AT)));
        text.add(format!("add(1) {} {} -1D", to_number(LEFT), number(LEFT)));
        text.add(format!("cmp.z.f0.0(1) null<1>D {} 0D", number(LEFT)));
        text.jump("(+f0.0) ", last);
        let wait = format!("mov(8) null<1>UD g{REPLY}<8,8,1>UD");
        if self.machine == Machine::Gen4 {
            text.add(&wait);
        }
        // Complete, used, and another entry is asked for.
        let descriptor = 0x0601_e000 | length;
        text.add(format!("send(8) 1 g{REPLY}<1>UD g{HEADER}<8,8,1>UD {descriptor:#010x}"));
        if self.machine == Machine::Gen4 {
            text.add(&wait);
        }
        // The handle alone: the rest of a reply is none of a header's. isa/gen4-pipeline.md 4.4.
        text.add(format!("mov(1) g{HEADER}<1>UD g{REPLY}<0,1,0>UD"));
        text.add(format!("mov(1) g{HEADER}.2<1>UD {FAN:#010x}UD"));
        text.jump("", again);
        text.place(last);
        text.add(format!("or(1) g{HEADER}.2<1>UD g{HEADER}.2<0,1,0>UD {END:#010x}UD"));
        let descriptor = 0x8600_c000 | length;
        text.end(format!("send(8) 1 null<1>UD g{HEADER}<8,8,1>UD {descriptor:#010x}"));
    }
}
