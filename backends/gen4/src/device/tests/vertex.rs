//! Vertices: attributes of all formats, numbers, and what of an entry no output of the program says.

use super::MEMBERS;
use crate::machine::Member;
use gpucc_emu::device::{VertexOut, VertexRun};
use gpucc_emu::draw::VertexId;
use gpucc_emu::format::VertexFormat;
use gpucc_emu::world::Bindings;
use gpucc_ir::driver::{Attribute, State, Step, VertexBuffer};
use gpucc_ir::ssa::{Func, parse};
use gpucc_machine::{Machine, Request};

/// A vertex program with these inputs and outputs.
fn program(head: &str, body: &str) -> Func {
    let text = format!("func \"main\" vertex {{ {head} }} body {{ {body} yield }}");
    parse(&text).expect("text of the IR").funcs.remove(0)
}

fn run(member: &Member, func: Func, pipeline: &State, run: &VertexRun<'_>) -> Vec<VertexOut> {
    let about = member.about();
    let request =
        Request { chip: about.chips[0], pipeline: pipeline.clone(), ..Request::default() };
    let mut bindings = Bindings::new(&func);
    let compiled = member.finish(func, &request).expect("it compiles");
    let mut device = member.device(&compiled, request.chip);
    device.vertices(&mut bindings, run).expect("it runs")
}

/// Five vertices, an odd number, so that the last thread has one alone: each format gives what it holds.
#[test]
fn attributes_of_all_formats_are_read() {
    let ids: Vec<VertexId> = (0..5).map(|vertex| VertexId { vertex, instance: 0 }).collect();
    for &format in VertexFormat::ALL {
        let scalar = match (format.kind().is_integer(), format.name().starts_with('s')) {
            (false, _) => "f32",
            (true, true) => "i32",
            (true, false) => "u32",
        };
        let head = format!(
            "in0 = \"read\" {scalar} x 4 location 3 flat center
             out0 = \"place\" f32 x 4 builtin position
             out1 = \"seen\" {scalar} x 4 location 0 flat"
        );
        let body: String = (0..4)
            .map(|n| {
                format!(
                    "%{n}: b32 = input in0.{n}\n output out1.{n}, %{n}\n output out0.{n}, %{n}\n"
                )
            })
            .collect();
        let mut pipeline = State::default();
        let attribute =
            |offset| Attribute { location: 3, format: format.name().into(), buffer: 1, offset };
        pipeline.vertex.attributes.push(attribute(4));
        let stride = 4 + format.bytes().next_multiple_of(4);
        pipeline.vertex.buffers =
            [12, stride].map(|stride| VertexBuffer { stride, step: Step::Vertex }).to_vec();
        let bytes: Vec<u8> = (0..6 * stride).map(|n| (n * 37 + n / 5 + 1) as u8 & 0xbf).collect();
        let buffers = [Vec::new(), bytes.clone()];
        for member in MEMBERS {
            let draw =
                VertexRun { ids: &ids, first_vertex: 1, first_instance: 0, buffers: &buffers };
            let found = run(member, program(&head, &body), &pipeline, &draw);
            for (vertex, out) in found.iter().enumerate() {
                let at = (vertex + 1) * stride as usize + 4;
                let right = format.decode(&bytes[at..]);
                assert_eq!(out[1], right, "{} of vertex {vertex}", format.name());
            }
        }
    }
}

/// The numbers of vertices and instances count from the first; attributes of instances, too.
#[test]
fn numbers_and_instances_have_their_first() {
    let head = "in0 = \"vertex\" u32 x 1 builtin vertex_index
         in1 = \"instance\" u32 x 1 builtin instance_index
         in2 = \"each\" u32 x 1 location 0 flat center
         out0 = \"seen\" u32 x 3 location 0 flat
         out1 = \"place\" f32 x 4 builtin position";
    let body = "%0: b32 = input in0.0
         %1: b32 = input in1.0
         %2: b32 = input in2.0
         output out0.0, %0
         output out0.1, %1
         output out0.2, %2";
    let mut pipeline = State::default();
    pipeline.vertex.attributes.push(Attribute {
        location: 0,
        format: "uint32".into(),
        buffer: 0,
        offset: 0,
    });
    pipeline.vertex.buffers.push(VertexBuffer { stride: 4, step: Step::Instance });
    let buffers = [(100u32..120).flat_map(u32::to_le_bytes).collect::<Vec<u8>>()];
    let ids: Vec<VertexId> = [(7, 2), (0, 0), (3, 2), (9, 1)]
        .map(|(vertex, instance)| VertexId { vertex, instance })
        .to_vec();
    for member in MEMBERS {
        let draw = VertexRun { ids: &ids, first_vertex: 40, first_instance: 5, buffers: &buffers };
        let found = run(member, program(head, body), &pipeline, &draw);
        let seen: Vec<[u32; 4]> = found.iter().map(|out| out[0]).collect();
        let right = [[47, 7, 107, 0], [40, 5, 105, 0], [43, 7, 107, 0], [49, 6, 106, 0]];
        assert_eq!(seen, right, "{}", member.about().name);
    }
}

/// Vertices of one thread take different ways, and loops of different lengths.
#[test]
fn the_two_vertices_of_a_thread_diverge() {
    let head = "in0 = \"vertex\" u32 x 1 builtin vertex_index
         out0 = \"seen\" u32 x 2 location 0 flat
         out1 = \"place\" f32 x 4 builtin position";
    let body = "%0: b32 = input in0.0
         %1: b32 = const 1
         %2: b32 = const 0
         %3: b32 = and %0, %1
         %4: b1 = ieq %3, %2
         if %4 { output out0.0, %0 yield } else { %5: b32 = const 77 output out0.0, %5 yield }
         %6: b32 = loop %2, %2 body (%7: b32, %8: b32) {
           %9: b1 = ieq %7, %0
           if %9 { break %8 } else { yield }
           %10: b32 = iadd %8, %7
           %11: b32 = iadd %7, %1
           continue %11, %10
         } continuing (%12: b32, %13: b32) {
           next %12, %13
         }
         output out0.1, %6";
    let ids: Vec<VertexId> = (0..7).map(|vertex| VertexId { vertex, instance: 0 }).collect();
    for member in MEMBERS {
        let draw = VertexRun { ids: &ids, first_vertex: 0, first_instance: 0, buffers: &[] };
        let found = run(member, program(head, body), &State::default(), &draw);
        for (vertex, out) in (0u32..).zip(&found) {
            let first = if vertex % 2 == 0 { vertex } else { 77 };
            assert_eq!(out[0], [first, vertex * vertex.saturating_sub(1) / 2, 0, 0]);
        }
    }
}

/// Twenty slots leave by two messages.
#[test]
fn entries_of_all_sizes_leave_whole() {
    for count in [0usize, 1, 2, 8, 9, 10, 16, 17] {
        let mut head = String::from("out0 = \"place\" f32 x 4 builtin position\n");
        let mut body = String::new();
        for n in 0..count {
            head += &format!("out{} = \"o{n}\" u32 x 4 location {n} flat\n", n + 1);
            for c in 0..4 {
                let value = 4 * n + c;
                body += &format!(
                    "%{value}: b32 = const {}\noutput out{}.{c}, %{value}\n",
                    value + 9,
                    n + 1
                );
            }
        }
        let ids: Vec<VertexId> = (0..3).map(|vertex| VertexId { vertex, instance: 0 }).collect();
        for member in MEMBERS {
            let draw = VertexRun { ids: &ids, first_vertex: 0, first_instance: 0, buffers: &[] };
            let found = run(member, program(&head, &body), &State::default(), &draw);
            for out in &found {
                for (n, words) in out[1..].iter().enumerate() {
                    let right = [0, 1, 2, 3].map(|c| (4 * n + c + 9) as u32);
                    assert_eq!(*words, right, "{count} outputs");
                }
            }
        }
    }
}
