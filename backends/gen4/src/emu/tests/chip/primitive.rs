//! 3DPRIMITIVE through vertex fetch, setup and pixel threads.

use super::draw::{Draws, PIXEL, SETUP, bytes};
use super::pixel::PROGRAM as PIXELS;
use super::{BATCH, BOTH, PROGRAM};
use crate::emu::tests::machine;
use crate::emu::{Model, Rule, Run, Trap};
use crate::isa::assemble;

const VERTICES: u32 = 0x7_0000;

/// Coefficients of two slots from three vertices.
const SETUP_PROGRAM: &str = "send(8) 1 g6<1>F g1.2<0,1,0>F 0x01110001 { align1 };
add(8) g7<1>F g4<8,8,1>F -g3<8,8,1>F { align1 };
add(8) g8<1>F g5<8,8,1>F -g3<8,8,1>F { align1 };
mul(8) g9<1>F g7<8,8,1>F g1.6<0,1,0>F { align1 };
mul(8) g10<1>F g8<8,8,1>F g1.5<0,1,0>F { align1 };
add(8) g9<1>F g9<8,8,1>F -g10<8,8,1>F { align1 };
mul(8) m2<1>F g9<8,8,1>F g6<8,8,1>F { align1 };
mul(8) g9<1>F g8<8,8,1>F g1.3<0,1,0>F { align1 };
mul(8) g10<1>F g7<8,8,1>F g1.4<0,1,0>F { align1 };
add(8) g9<1>F g9<8,8,1>F -g10<8,8,1>F { align1 };
mul(8) m3<1>F g9<8,8,1>F g6<8,8,1>F { align1 };
mov(8) m4<1>F g3<8,8,1>F { align1 };
send(8) 1 null<1>UD g0<8,8,1>UD 0x8640c800 { align1 EOT };";

/// The pixels' program at PROGRAM, that of setup behind it; vertices pass; nothing is culled.
fn draws(model: Model) -> Draws {
    let mut draws = Draws::new(model, PIXELS);
    let code = assemble(machine(model), SETUP_PROGRAM).unwrap();
    let memory = draws.gpu.memory();
    memory.write(PROGRAM + 0x400, &code).unwrap();
    memory.map(VERTICES, 0x1000).unwrap();
    draws.vertex[6] = 0;
    draws.setup[0] = (PROGRAM + 0x400) | 6;
    draws.setup[6] = 0x88 << 9 | 1 << 29;
    draws
}

/// Corners of the screen as vertices whose colour is x, y, 5, 1.
fn corners(draws: &mut Draws, places: &[[f32; 2]]) {
    let vertices = places.iter().flat_map(|[x, y]| [*x, *y, 0.25, 1.0, *x, *y, 5.0, 1.0]);
    let words: Vec<u32> = vertices.map(f32::to_bits).collect();
    draws.gpu.memory().write(VERTICES, &bytes(&words)).unwrap();
}

/// Header of zeros, NDC and position from the first attribute, the colour from the second.
fn commands(draw: [u32; 6]) -> Vec<u32> {
    let mut commands = vec![0x7808_0003, 32, VERTICES, 0, 0];
    let element = |offset: u32, control: u32, place: u32| {
        [1 << 26 | offset, control << 28 | control << 24 | control << 20 | control << 16 | place]
    };
    commands.push(0x7809_0007);
    commands.extend(element(0, 2, 0));
    commands.extend(element(0, 1, 4));
    commands.extend(element(0, 1, 8));
    commands.extend(element(16, 1, 12));
    commands.extend(draw);
    commands
}

fn go(draws: &mut Draws, mut commands: Vec<u32>) -> Result<(), Trap> {
    draws.send()?;
    commands.push(0x0500_0000);
    draws.gpu.memory().write(BATCH, &bytes(&commands)).unwrap();
    let mut steps = 100_000;
    let mut run = Run { steps: &mut steps, trace: None };
    draws.gpu.batch(BATCH, 4 * commands.len() as u32, &mut run)
}

/// A list (4), strip (5) or fan (6) of so many vertices.
const fn primitive(topology: u32, count: u32) -> [u32; 6] {
    [0x7b00_0004 | topology << 10, count, 0, 1, 0, 0]
}

#[test]
fn a_triangle_is_interpolated_and_owns_its_upper_and_left_edges() {
    for model in BOTH {
        let mut draws = draws(model);
        corners(&mut draws, &[[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]);
        go(&mut draws, commands(primitive(4, 3))).unwrap_or_else(|trap| panic!("{trap}"));
        for y in 0..8 {
            for x in 0..16 {
                let right = match x + y < 7 {
                    true => [x as f32 + 0.5, y as f32 + 0.5, 5.0, 1.0],
                    false => [0.0; 4],
                };
                assert_eq!(draws.texel(x, y), right, "{x}, {y}");
            }
        }
    }
}

/// Sums in the target: every pixel of the square gets one triangle.
#[test]
fn triangles_side_by_side_cover_each_pixel_once() {
    let square = [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]];
    let around = [[4.0, 4.0], [0.0, 0.0], [8.0, 0.0], [8.0, 8.0], [0.0, 8.0], [0.0, 0.0]];
    // Edges through the centres of pixels: those at the top and left belong to the square.
    let centres = square.map(|corner| corner.map(|x| x + 0.5));
    for (topology, places) in [(5, &square[..]), (6, &around[..]), (5, &centres[..])] {
        let mut draws = draws(Model::G45);
        draws.target[0] |= 1 << 13;
        draws.color[3] = 1 << 12;
        draws.color[6] = 1 << 19 | 1 << 24;
        corners(&mut draws, places);
        go(&mut draws, commands(primitive(topology, places.len() as u32)))
            .unwrap_or_else(|trap| panic!("{trap}"));
        for y in 0..8 {
            for x in 0..16 {
                let alpha = if x < 8 { 1.0 } else { 0.0 };
                assert_eq!(draws.texel(x, y)[3], alpha, "{topology}: {x}, {y}");
            }
        }
    }
}

#[test]
fn indices_choose_vertices_and_culling_drops_sides() {
    let places = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [8.0, 0.0], [0.0, 8.0]];
    for (cull, drawn) in [(1, true), (2, false), (3, true), (0, false)] {
        let mut draws = draws(Model::G45);
        draws.setup[6] = 0x88 << 9 | cull << 29;
        corners(&mut draws, &places);
        // The second index is the first that counts, and the base is -1: vertices 0, 3, 4.
        draws.gpu.memory().write(VERTICES + 0x800, &[9, 1, 4, 5]).unwrap();
        let mut list = commands(primitive(4, 3));
        let draw = list.len() - 6;
        list.splice(draw..draw, [0x780a_0001, VERTICES + 0x800, VERTICES + 0x803]);
        let draw = list.len() - 6;
        list[draw] |= 1 << 15;
        (list[draw + 2], list[draw + 5]) = (1, !0);
        go(&mut draws, list).unwrap_or_else(|trap| panic!("{trap}"));
        // Clockwise is the front of this state.
        let right = if drawn { [2.5, 3.5, 5.0, 1.0] } else { [0.0; 4] };
        assert_eq!(draws.texel(2, 3), right, "{cull}");
    }
}

/// Passes three vertices of four slots as a fan; the marks of each stand in word 2 of its header.
const CLIP_PROGRAM: &str = "mov(8) m1<1>UD g0<8,8,1>UD { align1 nomask };
mov(1) m1.2<1>UD 26UD { align1 nomask };
mov(8) m2<1>UD g1<8,8,1>UD { align1 nomask };
mov(8) m3<1>UD g2<8,8,1>UD { align1 nomask };
send(8) 1 g10<1>UD null<8,8,1>UD 0x0631e000 { align1 };
mov(1) m1<1>UD g10<0,1,0>UD { align1 nomask };
mov(1) m1.2<1>UD 24UD { align1 nomask };
mov(8) m2<1>UD g3<8,8,1>UD { align1 nomask };
mov(8) m3<1>UD g4<8,8,1>UD { align1 nomask };
send(8) 1 g11<1>UD null<8,8,1>UD 0x0631e000 { align1 };
mov(1) m1<1>UD g11<0,1,0>UD { align1 nomask };
mov(1) m1.2<1>UD 25UD { align1 nomask };
mov(8) m2<1>UD g5<8,8,1>UD { align1 nomask };
mov(8) m3<1>UD g6<8,8,1>UD { align1 nomask };
send(8) 1 null<1>UD null<8,8,1>UD 0x8630c000 { align1 EOT };";
/// Writes nothing.
const KILL: &str = "send(8) 1 null<1>UD g0<8,8,1>UD 0x86108000 { align1 EOT };";

/// A triangle with a viewport of 4 by 4 around 2, 2 and a clipper of five entries of a unit.
fn clipped(model: Model, text: &str, places: &[[f32; 2]]) -> Result<[f32; 4], Trap> {
    clipped_with(model, text, places, 5 << 11)
}

/// The same with another word 4 of the clipper's state.
fn clipped_with(
    model: Model,
    text: &str,
    places: &[[f32; 2]],
    entries: u32,
) -> Result<[f32; 4], Trap> {
    let mut draws = draws(model);
    let clip = SETUP + 0x300;
    draws.setup[5] = (SETUP + 0x200) | 2;
    let matrix = [2.0f32, 2.0, 1.0, 2.0, 2.0, 0.0].map(f32::to_bits);
    let code = assemble(machine(model), text).unwrap();
    let memory = draws.gpu.memory();
    memory.write(SETUP + 0x200, &bytes(&matrix)).unwrap();
    memory.write(PROGRAM + 0x800, &code).unwrap();
    // Two rows of each vertex from r1 on; xy, z and a depth from 0 are tested.
    let tests = 1 << 27 | 1 << 28 | 1 << 30;
    let words = [(PROGRAM + 0x800) | 2, 1 << 31, 0, 1 | 2 << 11, entries, tests, 0, 0, 0, 0, 0];
    memory.write(clip, &bytes(&words)).unwrap();
    corners(&mut draws, places);
    let mut list = vec![0x6000_2f01, 64 | 64 << 10 | 80 << 20, 128 | 132 << 20];
    list.extend([0x6002_0100, super::CONSTANTS]);
    let (vertex, color) = (super::draw::VERTEX, super::draw::COLOR);
    list.extend([0x7800_0005, vertex, 0, clip | 1, SETUP, PIXEL, color]);
    list.extend(commands(primitive(4, 3)));
    go(&mut draws, list)?;
    Ok(draws.texel(1, 1))
}

#[test]
fn the_clip_test_rejects_accepts_and_starts_threads() {
    let (inside, outside) =
        ([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], [[2.0, -1.0], [3.0, -1.0], [2.0, 1.0]]);
    let across = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 1.0]];
    for model in BOTH {
        // Neither of the first two has a thread: a program that kills is not run.
        assert_eq!(clipped(model, KILL, &inside).unwrap()[3], 1.0);
        assert_eq!(clipped(model, KILL, &outside).unwrap(), [0.0; 4]);
        assert_eq!(clipped(model, KILL, &across).unwrap(), [0.0; 4]);
        let passed = clipped(model, CLIP_PROGRAM, &across).unwrap_or_else(|trap| panic!("{trap}"));
        assert_eq!(passed[3], 1.0);
    }
}

#[test]
fn clip_threads_have_rules() {
    let across = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 1.0]];
    for (what, from, to, rule) in [
        ("no start", "26UD", "24UD", Rule::ClipOutput),
        ("no end", "25UD", "24UD", Rule::ClipOutput),
        ("two starts", " 24UD", " 26UD", Rule::ClipOutput),
        ("lines", "26UD", "14UD", Rule::NotBuilt),
        (
            "the first handle again",
            "m1<1>UD g10<0,1,0>UD",
            "m1<1>UD g0<0,1,0>UD",
            Rule::UrbComplete,
        ),
        ("an unknown handle", "m1<1>UD g10<0,1,0>UD", "m1<1>UD 7UD", Rule::UrbHandle),
        ("allocates before it completes", "0x0631e000", "0x06316000", Rule::UrbAllocate),
        ("does not complete", "0x8630c000", "0x86304000", Rule::UrbComplete),
        ("a vertex that is missing", "g6<8,8,1>UD", "g20<8,8,1>UD", Rule::Undefined),
    ] {
        let text = CLIP_PROGRAM.replace(from, to);
        let trap = clipped(Model::G45, &text, &across).expect_err(what);
        assert_eq!(trap.rule, rule, "{what}: {trap}");
    }
}

/// isa/gen4-pipeline.md 7.15.
#[test]
fn a_clip_thread_has_five_entries_and_two_have_as_many_each() {
    let across = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 1.0]];
    for (threads, entries, fits) in [
        (1u32, 4u32, false),
        (1, 5, true),
        (1, 7, true),
        (2, 8, false),
        (2, 10, true),
        (2, 11, false),
    ] {
        for model in BOTH {
            let word = (threads - 1) << 25 | entries << 11;
            let rule = clipped_with(model, KILL, &across, word).err().map(|trap| trap.rule);
            let right = if fits { None } else { Some(Rule::ThreadState) };
            assert_eq!(rule, right, "{threads} threads of {entries} entries");
        }
    }
}

#[test]
fn draws_have_rules() {
    type Case = (&'static str, Rule, fn(&mut Vec<u32>));
    let cases: &[Case] = &[
        ("a topology", Rule::NotBuilt, |list| list[14] = 0x7b00_0004 | 1 << 10),
        ("a vertex beyond", Rule::PortBounds, |list| list[3] = 1),
        ("a vertex of no memory", Rule::Mapped, |list| list[2] = 0x9000_0000),
        ("a vertex that was not written", Rule::Undefined, |list| list[16] = 8),
        ("no buffer", Rule::ThreadState, |list| list[8] |= 1 << 27),
        ("no indices", Rule::ThreadState, |list| list[14] |= 1 << 15),
        ("a format", Rule::NotBuilt, |list| list[8] |= 0x1ff << 16),
        ("no store", Rule::Undefined, |list| list[7] &= !(7 << 28)),
        ("too many instances", Rule::Steps, |list| (list[15], list[17]) = (0, !0)),
        ("too many vertices", Rule::NotBuilt, |list| list[15] = !0),
        ("a reserved bit of a buffer", Rule::CommandReserved, |list| list[1] |= 1 << 11),
        ("a reserved bit of buffers", Rule::CommandReserved, |list| list[0] |= 0x100),
        ("a reserved bit of elements", Rule::CommandReserved, |list| list[5] |= 0x100),
        ("a reserved bit of an element", Rule::CommandReserved, |list| list[6] |= 1 << 11),
        ("a reserved control", Rule::CommandReserved, |list| list[7] |= 1 << 31),
        ("a first instance", Rule::CommandReserved, |list| list[18] = 1),
        ("indirect", Rule::CommandReserved, |list| list[14] |= 1 << 9),
        ("half a buffer", Rule::CommandLength, |list| {
            list[0] += 1;
            list.insert(5, 0);
        }),
    ];
    for (what, rule, change) in cases {
        let mut draws = draws(Model::I965);
        corners(&mut draws, &[[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]);
        let mut list = commands(primitive(4, 3));
        change(&mut list);
        let trap = go(&mut draws, list).expect_err(what);
        assert_eq!(trap.rule, *rule, "{what}: {trap}");
    }
}
