//! Draws with a geometry program by the commands of a whole chip, against the shared rasteriser with the same program by hand.

use super::MEMBERS;
use super::draw::{Between, Corner, SIZE, compare_through, corners};
use crate::machine::Member;
use gpucc_emu::draw::{Cull, Draw, Topology};
use gpucc_ir::ssa::parse;
use gpucc_machine::Machine;

/// What is emitted of each primitive: two strips, the first of them of two triangles.
const EMITS: [(usize, [f32; 2], bool); 7] = [
    (0, [0.0, 0.0], true),
    (1, [0.5, -0.125], false),
    (2, [-0.25, 0.5], false),
    (3, [0.625, 0.75], false),
    (1, [-0.5, -0.5], true),
    (2, [0.0, -0.75], false),
    (0, [-0.75, 0.25], false),
];

/// The geometry program for primitives of a kind and so many vertices. It passes on what the vertex program varies.
fn between(takes: &str, count: usize) -> Between {
    let emits: Vec<_> =
        EMITS.iter().map(|&(n, place, begins)| (n % count, place, begins)).collect();
    let mut inputs = String::new();
    for vertex in 0..count {
        inputs +=
            &format!("in{} = \"p{vertex}\" f32 x 4 corner {vertex} builtin position\n", 4 * vertex);
        for (at, location) in [(1, 5), (2, 3), (3, 7)] {
            inputs += &format!(
                "in{} = \"v{location}_{vertex}\" f32 x 4 corner {vertex} location {location}\n",
                4 * vertex + at
            );
        }
    }
    let (mut body, mut value) = (String::new(), 0);
    for (number, &(vertex, place, begins)) in emits.iter().enumerate() {
        if begins && number > 0 {
            body += "end_primitive\n";
        }
        for output in 0..4 {
            for component in 0..4 {
                let input = 4 * vertex + output;
                body += &format!("%{value}: b32 = input in{input}.{component}\n");
                if let Some(more) = place.get(component).filter(|_| output == 0) {
                    let [add, sum] = [value + 1, value + 2];
                    body += &format!("%{add}: b32 = const {:#x}\n", more.to_bits());
                    body += &format!("%{sum}: b32 = fadd %{value}, %{add}\n");
                    value = sum;
                }
                body += &format!("output out{output}.{component}, %{value}\n");
                value += 1;
            }
        }
        body += "emit_vertex\n";
    }
    let text = format!(
        "func \"between\" geometry {takes} to 7 triangle_strip {{
          {inputs}
          out0 = \"position\" f32 x 4 builtin position
          out1 = \"near\" f32 x 4 location 5 perspective
          out2 = \"level\" f32 x 4 location 3 perspective
          out3 = \"one\" f32 x 4 location 7 perspective
        }} body {{ {body} yield }}"
    );
    let mut module = parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    Between { func: module.funcs.remove(0), emits }
}

/// Places with few bits, so that sums of them are exact.
fn places(count: usize) -> Vec<Corner> {
    let place = |n: usize| {
        let at = |factor: usize| (factor * n % 15) as f32 / 8.0 - 0.875;
        [at(4), at(7), 0.5 + at(2) / 4.0, 1.0 + (n % 3) as f32 / 2.0]
    };
    corners(&(0..count).map(place).collect::<Vec<_>>())
}

#[test]
fn a_geometry_program_stands_between_vertices_and_the_clipper() {
    for (topology, takes, count, wide) in [
        (Topology::PointList, "points", 1, false),
        (Topology::LineList, "lines", 2, false),
        (Topology::LineStrip, "lines", 2, false),
        (Topology::TriangleList, "triangles", 3, false),
        (Topology::LineListAdjacency, "lines_adjacency", 4, true),
        (Topology::TriangleListAdjacency, "triangles_adjacency", 6, true),
    ] {
        // The 965 has no primitives with adjacency.
        let members: Vec<&Member> =
            MEMBERS.into_iter().filter(|member| !wide || member.about().name == "g45").collect();
        assert_eq!(members.len(), if wide { 1 } else { 2 });
        let draw = Draw { topology, ..Draw::new(13, 2, SIZE, SIZE) };
        compare_through(&members, draw, &places(13), &between(takes, count));
    }
}

#[test]
fn strips_of_a_geometry_program_turn_and_indices_choose_its_vertices() {
    for (cull, front_ccw) in [(Cull::Back, true), (Cull::Back, false), (Cull::Front, true)] {
        let indices = Some(vec![4, 2, 3, 0, 1, 2, 9, 8, 5]);
        let draw = Draw { cull, front_ccw, indices, ..Draw::new(9, 1, SIZE, SIZE) };
        compare_through(&MEMBERS, draw, &places(13), &between("triangles", 3));
    }
}
