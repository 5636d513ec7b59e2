//! Draws by the chip with the programs of fixed function, against the shared rasteriser with programs by hand.

use super::MEMBERS;
use crate::machine::Member;
use gpucc_emu::device::DrawCall;
use gpucc_emu::draw::{
    self, Cull, DepthState, Draw, Emitted, Pixel, Primitive, QuadBatch, Shade, TargetState,
    Targets, Topology, Varying, Vertex, VertexId,
};
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::Compare;
use gpucc_emu::world::Bindings;
use gpucc_ir::driver::{
    Attribute, Blend, BlendComponent, BlendOp, Factor, State, Step, VertexBuffer,
};
use gpucc_ir::ssa::{Emits, Func, Interpolation, Sampling, parse};
use gpucc_machine::{Machine, Request};

/// A vertex: position, colour, distances to two planes.
pub(super) type Corner = ([f32; 4], [f32; 4], [f32; 2]);

pub(super) const SIZE: u32 = 32;
const WAYS: [Interpolation; 3] =
    [Interpolation::Perspective, Interpolation::Linear, Interpolation::Flat];

/// The vertex program passes attributes on: the colour three times, in three ways.
pub(super) fn vertex(planes: bool) -> Func {
    let clip = if planes { "out4 = \"cut\" f32 x 2 builtin clip_distance 0" } else { "" };
    let mut body = String::new();
    for component in 0..4 {
        body += &format!(
            "%{component}: b32 = input in0.{component}
             output out0.{component}, %{component}
             %1{component}: b32 = input in1.{component}
             output out1.{component}, %1{component}
             output out2.{component}, %1{component}
             output out3.{component}, %1{component}\n"
        );
    }
    for component in (0..2).filter(|_| planes) {
        body += &format!(
            "%2{component}: b32 = input in2.{component}
             output out4.{component}, %2{component}\n"
        );
    }
    let text = format!(
        "func \"pass\" vertex {{
          in0 = \"place\" f32 x 4 location 0 flat center
          in1 = \"color\" f32 x 4 location 1 flat center
          in2 = \"planes\" f32 x 2 location 2 flat center
          out0 = \"position\" f32 x 4 builtin position
          out1 = \"near\" f32 x 4 location 5 perspective
          out2 = \"level\" f32 x 4 location 3 linear
          out3 = \"one\" f32 x 4 location 7 flat
          {clip}
        }} body {{ {body} yield }}"
    );
    parse(&text).expect("text of the IR").funcs.remove(0)
}

/// The fragment program writes one of the three to each target.
pub(super) fn fragment() -> Func {
    let mut body = String::new();
    for way in 0..3 {
        for component in 0..4 {
            let value = 4 * way + component;
            body += &format!(
                "%{value}: b32 = input in{way}.{component}
                 output out{way}.{component}, %{value}\n"
            );
        }
    }
    let text = format!(
        "func \"paint\" fragment {{
          in0 = \"near\" f32 x 4 location 5 perspective center
          in1 = \"level\" f32 x 4 location 3 linear center
          in2 = \"one\" f32 x 4 location 7 flat center
          out0 = \"a\" f32 x 4 location 0 perspective
          out1 = \"b\" f32 x 4 location 1 perspective
          out2 = \"c\" f32 x 4 location 2 perspective
        }} body {{ {body} yield }}"
    );
    parse(&text).expect("text of the IR").funcs.remove(0)
}

/// A geometry program, and what it emits of each primitive: the number of a vertex, what is added to its place, and whether a strip
/// begins.
pub(super) struct Between {
    pub func: Func,
    pub emits: Vec<(usize, [f32; 2], bool)>,
}

/// The same programs.
struct ByHand<'a> {
    corners: &'a [Corner],
    planes: bool,
    between: Option<&'a Between>,
}

impl Shade for ByHand<'_> {
    type Error = ();

    fn vertices(&mut self, ids: &[VertexId]) -> Result<Vec<Vertex>, ()> {
        let of = |id: &VertexId| {
            let (position, color, planes) = self.corners[id.vertex as usize];
            let color = color.map(f32::to_bits);
            let planes = if self.planes { planes.to_vec() } else { Vec::new() };
            Vertex {
                position,
                varyings: vec![color; 3],
                clip_distances: planes,
                ..Vertex::default()
            }
        };
        Ok(ids.iter().map(of).collect())
    }

    fn quads(&mut self, batch: &QuadBatch) -> Result<Vec<Pixel>, ()> {
        let of = |at: usize| Pixel {
            colors: (0..3).map(|way| Some(batch.varying(at / 4, at % 4, way))).collect(),
            ..Pixel::default()
        };
        Ok((0..4 * batch.quads.len()).map(of).collect())
    }

    fn geometry(&self) -> Option<Emits> {
        self.between.map(|_| Emits::TriangleStrip)
    }

    fn primitives(&mut self, primitives: &[Primitive]) -> Result<Vec<Vec<Emitted>>, ()> {
        let of = |primitive: &Primitive| {
            let emits = self.between.into_iter().flat_map(|between| &between.emits);
            let emitted = |&(corner, [x, y], begins): &(usize, [f32; 2], bool)| {
                let mut vertex = primitive.vertices[corner].clone();
                vertex.position[0] += x;
                vertex.position[1] += y;
                Emitted { vertex, begins }
            };
            emits.map(emitted).collect()
        };
        Ok(primitives.iter().map(of).collect())
    }
}

fn targets(format: Format, depth: Option<Format>) -> Targets {
    let plane = |format| Image::new(format, Extent::plane(SIZE, SIZE)).expect("it fits");
    let mut colors = vec![plane(format); 3];
    for image in &mut colors {
        image.fill([0.25f32, 0.5, 0.75, 1.0].map(f32::to_bits));
    }
    let depth = depth.map(|format| {
        let mut image = plane(format);
        image.fill([0.75f32.to_bits(); 4]);
        image
    });
    Targets { colors, depth }
}

fn on_chip(member: &Member, draw: &Draw, by_hand: &ByHand<'_>, to: &mut Targets) {
    let (corners, planes) = (by_hand.corners, by_hand.planes);
    let mut pipeline = State::default();
    for (location, (format, offset)) in
        [("float32x4", 0), ("float32x4", 16), ("float32x2", 32)].into_iter().enumerate()
    {
        let location = location as u32;
        pipeline.vertex.attributes.push(Attribute {
            location,
            format: format.into(),
            buffer: 0,
            offset,
        });
    }
    pipeline.vertex.buffers.push(VertexBuffer { stride: 40, step: Step::Vertex });
    let request = Request { chip: member.about().chips[0], pipeline, ..Request::default() };
    let vertex = member.finish(vertex(planes), &request).expect("it compiles");
    let fragment = member.finish(fragment(), &request).expect("it compiles");
    let between = by_hand.between.map(|between| between.func.clone());
    let between = between.map(|func| member.finish(func, &request).expect("it compiles"));
    let drawer = member.drawer(&vertex, between.as_ref(), &fragment, &request);
    let drawer = drawer.expect("kernels are made");
    let mut drawer = drawer.expect("the machine draws by itself");
    let floats = corners.iter().flat_map(|(a, b, c)| [&a[..], &b[..], &c[..]].concat());
    let buffers = [floats.flat_map(f32::to_le_bytes).collect::<Vec<u8>>()];
    let (mut own, mut middle, mut others) =
        (Bindings::default(), Bindings::default(), Bindings::default());
    let bindings = [&mut own, &mut others];
    let between = by_hand.between.map(|_| &mut middle);
    let drawn =
        drawer.draw(DrawCall { state: draw, buffers: &buffers, bindings, between, targets: to });
    assert_eq!(drawn, Ok(true), "{}", member.about().name);
}

/// Draws both ways and compares all texels; of the picture by hand something must have been drawn.
fn compare(draw: Draw, corners: &[Corner], planes: bool, depth: Option<Format>) {
    compare_on(&MEMBERS, draw, ByHand { corners, planes, between: None }, depth);
}

/// The same on some machines with a geometry program.
pub(super) fn compare_through(
    members: &[&Member],
    draw: Draw,
    corners: &[Corner],
    between: &Between,
) {
    compare_on(members, draw, ByHand { corners, planes: false, between: Some(between) }, None);
}

fn compare_on(members: &[&Member], mut draw: Draw, mut shade: ByHand<'_>, depth: Option<Format>) {
    draw.varyings =
        WAYS.map(|interpolation| Varying { interpolation, sampling: Sampling::Center }).to_vec();
    draw.targets.resize(3, TargetState::default());
    let fresh = || targets(Format::Rgba32Float, depth);
    let mut reference = fresh();
    draw::draw(&draw, &mut shade, &mut reference).expect("nothing stops it");
    assert_ne!(reference.colors[2].bytes(), fresh().colors[2].bytes(), "nothing is drawn");
    let floats = |image: &Image| -> Vec<f32> {
        let words = image.bytes().chunks_exact(4);
        words.map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
    };
    for member in members {
        let mut found = fresh();
        on_chip(member, &draw, &shade, &mut found);
        for (way, (found, right)) in found.colors.iter().zip(&reference.colors).enumerate() {
            for (at, (a, b)) in floats(found).into_iter().zip(floats(right)).enumerate() {
                let near = if way == 2 { a == b } else { (a - b).abs() < 2e-4 };
                let (x, y) = (at as u32 / 4 % SIZE, at as u32 / 4 / SIZE);
                assert!(near, "{}: way {way} of {x}, {y}: {a} for {b}", member.about().name);
            }
        }
        if let (Some(found), Some(right), Some(Format::Depth32Float)) =
            (&found.depth, &reference.depth, depth)
        {
            for (a, b) in floats(found).into_iter().zip(floats(right)) {
                assert!((a - b).abs() < 1e-5, "depth {a} for {b}");
            }
        }
    }
}

fn corner(position: [f32; 4], n: f32) -> Corner {
    (position, [0.1 * n, 1.0 - 0.2 * n, 0.3 + 0.05 * n * n, 1.0], [0.5 - 0.3 * n, 0.25 * n - 0.4])
}

pub(super) fn corners(places: &[[f32; 4]]) -> Vec<Corner> {
    places.iter().zip(0u8..).map(|(place, n)| corner(*place, f32::from(n % 4))).collect()
}

/// Within the view, with another w for each corner.
const WITHIN: [[f32; 4]; 3] =
    [[-0.8, -0.9, 0.2, 1.0], [1.6, -1.2, 0.8, 2.0], [0.1, 0.7, 0.1, 0.75]];

#[test]
fn what_varies_in_three_ways_is_that_of_the_reference() {
    compare(Draw::new(3, 1, SIZE, SIZE), &corners(&WITHIN), false, None);
}

#[test]
fn strips_and_indices_turn_and_provoke_as_they_should() {
    let places = [
        [-0.9, -0.9, 0.5, 1.0],
        [-0.7, 0.9, 0.5, 1.5],
        [-0.1, -0.8, 0.5, 1.0],
        [0.3, 0.9, 0.5, 1.25],
        [0.9, -0.9, 0.5, 1.0],
    ];
    let strip = Draw { topology: Topology::TriangleStrip, ..Draw::new(5, 1, SIZE, SIZE) };
    for cull in [Cull::None, Cull::Back, Cull::Front] {
        for front_ccw in [true, false] {
            let draw = Draw { cull, front_ccw, ..strip.clone() };
            // One of the two ways is all culled.
            if cull == Cull::None || front_ccw != (cull == Cull::Back) {
                compare(draw, &corners(&places), false, None);
            }
        }
    }
    let indices = Some(vec![4, 2, 3, 0, 1, 2]);
    compare(Draw { indices, ..Draw::new(6, 1, SIZE, SIZE) }, &corners(&places), false, None);
}

#[test]
fn corners_outside_of_each_plane_are_cut_off() {
    let outside: [[f32; 4]; 7] = [
        [0.0, 0.3, -0.6, 1.0],
        [0.2, 0.4, 1.9, 1.0],
        [-20_000.0, 0.2, 0.4, 1.0],
        [30_000.0, 9.0, 0.4, 1.0],
        [0.3, -40_000.0, 0.4, 1.0],
        [0.1, 50_000.0, 0.4, 1.0],
        // Behind the eye.
        [0.4, 0.2, -0.5, -1.0],
    ];
    for place in outside {
        for at in 0..3 {
            let mut places = WITHIN;
            places[at] = place;
            compare(Draw::new(3, 1, SIZE, SIZE), &corners(&places), false, None);
        }
    }
    // Two corners beyond, and all six planes at once.
    let places = [[-40.0, -50.0, -30.0, 2.0], [60.0, -45.0, 40.0, 3.0], [2.0, 70.0, 10.0, 4.0]];
    compare(Draw::new(3, 1, SIZE, SIZE), &corners(&places), false, None);
}

#[test]
fn distances_to_planes_cut() {
    compare(Draw::new(3, 1, SIZE, SIZE), &corners(&WITHIN), true, None);
}

#[test]
fn depth_scissor_view_and_blending_are_the_chips() {
    let two = [
        WITHIN[0],
        WITHIN[1],
        WITHIN[2],
        [-0.9, 0.9, 0.9, 1.0],
        [-0.9, -0.9, 0.6, 1.0],
        [0.9, 0.2, 0.1, 1.0],
    ];
    let depth = Some(DepthState { compare: Compare::Less, write: true });
    let draw = Draw { depth, ..Draw::new(6, 1, SIZE, SIZE) };
    for format in [Format::Depth32Float, Format::Depth24Plus, Format::Depth16Unorm] {
        compare(draw.clone(), &corners(&two), false, Some(format));
    }
    let scissor = Some([5, 3, 14, 20]);
    compare(Draw { scissor, ..draw.clone() }, &corners(&two), false, None);
    let mut view = draw.clone();
    (view.viewport.x, view.viewport.y) = (4.0, 7.0);
    (view.viewport.width, view.viewport.height) = (20.0, 15.0);
    (view.viewport.near, view.viewport.far) = (0.25, 0.5);
    compare(view, &corners(&two), false, Some(Format::Depth32Float));
    let part = |op, src, dst| BlendComponent { op, src, dst };
    let blend = Blend {
        color: part(BlendOp::Add, Factor::SrcAlpha, Factor::OneMinusConstant),
        alpha: part(BlendOp::ReverseSubtract, Factor::One, Factor::Dst),
    };
    let mut blended = draw;
    blended.blend_constant = [0.25, 0.5, 0.75, 1.0];
    // The flat colours are compared by their bits: they are not blended.
    blended.targets = vec![
        TargetState { blend: Some(blend), masked: 0b0010, logic: None },
        TargetState { blend: Some(blend), masked: 0b1000, logic: None },
        TargetState { blend: None, masked: 0b0101, logic: None },
    ];
    compare(blended, &corners(&two), false, None);
}
