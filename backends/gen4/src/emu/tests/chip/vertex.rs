//! Vertex and setup threads: payloads, entries, and the numbers of an object.

use super::BOTH;
use super::draw::{Draws, SETUP, bytes};
use crate::emu::{Model, Object, Rule, Run, Trap};

/// Writes attribute 0 (g2) to slots 0 and 2, attribute 1 (g3) plus a constant of 100 to slot 1.
const PROGRAM: &str = "mov(8) g10<1>F g1<0,1,0>UD { align1 };
mov(8) m2<1>UD g2<8,8,1>UD { align1 };
add(8) m3<1>UD g3<8,8,1>UD g1<0,1,0>UD { align1 };
mov(8) m4<1>UD g2<8,8,1>UD { align1 };
mov(8) m5<1>UD g2<8,8,1>UD { align1 };
send(8) 1 null<1>UD g0<8,8,1>UD 0x8650c400 { align1 EOT };";

fn vertices(draws: &mut Draws, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Trap> {
    draws.send()?;
    let mut steps = 10_000;
    draws.gpu.vertex_threads(inputs, &mut Run { steps: &mut steps, trace: None })
}

/// Vertex n: attributes 10 n and up.
fn inputs(count: u32) -> Vec<Vec<u8>> {
    (0..count).map(|n| bytes(&std::array::from_fn::<u32, 8, _>(|at| 10 * n + at as u32))).collect()
}

#[test]
fn vertices_run_in_pairs_and_write_their_own_entry() {
    for model in BOTH {
        for count in [1, 2, 3, 40] {
            let mut draws = Draws::new(model, PROGRAM);
            draws.gpu.set_order(u64::from(count));
            let out = vertices(&mut draws, &inputs(count)).unwrap_or_else(|trap| panic!("{trap}"));
            assert_eq!(out.len(), count as usize);
            for (n, entry) in (0..).zip(&out) {
                let first = [0, 1, 2, 3].map(|at| 10 * n + at);
                let second = [104, 105, 106, 107].map(|at| 10 * n + at);
                let expected = [first, second, first, first].concat();
                assert_eq!(*entry, bytes(&expected), "{n} of {count}");
            }
        }
    }
}

#[test]
fn a_disabled_unit_lets_entries_pass() {
    let mut draws = Draws::new(Model::G45, PROGRAM);
    draws.vertex[6] = 0;
    assert_eq!(vertices(&mut draws, &inputs(3)).unwrap(), inputs(3));
}

/// Bits 6:0 of the header's word 2 are reserved but in geometry and clip threads. 8.4.3.1.
const MARKED: &str = "mov(1) g0.2<1>UD 1UD { align1 nomask };\nsend(8) 1";

#[test]
fn a_part_of_an_entry_needs_not_say_that_it_is_of_use() {
    let part = "send(8) 1 null<1>UD g0<8,8,1>UD 0x06500400 { align1 };\nsend(8) 1";
    for model in BOTH {
        let mut draws = Draws::new(model, &PROGRAM.replace("send(8) 1", part));
        let out = vertices(&mut draws, &inputs(2)).unwrap_or_else(|trap| panic!("{trap}"));
        let mut plain = Draws::new(model, PROGRAM);
        assert_eq!(out, vertices(&mut plain, &inputs(2)).unwrap());
    }
}

#[test]
fn vertex_threads_have_rules() {
    type Change = fn(&mut Draws);
    let nothing: Change = |_| {};
    type Case = (&'static str, &'static str, &'static str, Rule, Change);
    let cases: &[Case] = &[
        ("not complete", "0x8650c400", "0x86504400", Rule::UrbComplete, nothing),
        ("of no use", "0x8650c400", "0x86508400", Rule::UrbComplete, nothing),
        ("allocates", "0x8650c400", "0x8650e400", Rule::UrbForm, nothing),
        ("an opcode", "0x8650c400", "0x8650c401", Rule::UrbForm, nothing),
        ("one register", "0x8650c400", "0x8620c400", Rule::UrbForm, nothing),
        ("beyond the entry", "0x8650c400", "0x8650c430", Rule::UrbBounds, nothing),
        ("another header", "g0<8,8,1>UD 0x8650", "g1<8,8,1>UD 0x8650", Rule::Header, nothing),
        ("a place in a strip", "send(8) 1", MARKED, Rule::UrbForm, nothing),
        ("a register that is missing", "m4<1>UD", "m7<1>UD", Rule::Undefined, nothing),
        ("the thread spawner", "0x8650c400", "0x87100000", Rule::EndUnit, nothing),
        ("no constants", "", "", Rule::ThreadState, |draws| draws.vertex[3] &= !(63 << 25)),
        ("no rows", "", "", Rule::ThreadState, |draws| draws.vertex[3] &= !(63 << 11)),
        ("too many threads", "", "", Rule::ThreadState, |draws| draws.vertex[4] |= 63 << 25),
        ("more threads than pairs of entries", "", "", Rule::ThreadState, |draws| {
            draws.vertex[4] += 1 << 25;
        }),
        ("entries beyond the fence", "", "", Rule::Fences, |draws| draws.vertex[4] |= 31 << 19),
        ("rows beyond the entry", "", "", Rule::Payload, |draws| draws.vertex[3] |= 63 << 11),
        ("reserved bits", "", "", Rule::ThreadState, |draws| draws.vertex[3] |= 1 << 10),
    ];
    for (what, from, to, rule, change) in cases {
        let text = if from.is_empty() { PROGRAM.to_string() } else { PROGRAM.replace(from, to) };
        let mut draws = Draws::new(Model::G45, &text);
        change(&mut draws);
        let trap = vertices(&mut draws, &inputs(2)).expect_err(what);
        assert_eq!(trap.rule, *rule, "{what}: {trap}");
    }
}

/// Writes Cx = dx0, Cy = determinant, C0 = the first row of the first vertex.
const SETUP_PROGRAM: &str = "mov(8) m2<1>UD g1.3<0,1,0>UD { align1 };
mov(8) m3<1>UD g1.2<0,1,0>UD { align1 };
mov(8) m4<1>UD g3<8,8,1>UD { align1 };
send(8) 1 null<1>UD g0<8,8,1>UD 0x8640c800 { align1 EOT };";

/// A vertex at a place of the screen.
fn vertex(x: f32, y: f32, value: u32) -> Vec<u8> {
    let mut words = vec![0; 16];
    for (word, number) in words[4..8].iter_mut().zip([x, y, 0.5, 1.0]) {
        *word = number.to_bits();
    }
    for (word, number) in words[8..].iter_mut().zip(value..) {
        *word = number;
    }
    bytes(&words)
}

fn triangle() -> Object {
    let vertices = vec![vertex(8.5, 4.5, 10), vertex(0.5, 0.5, 20), vertex(4.5, 8.5, 30)];
    let vertices = vertices.into_iter().map(Into::into).collect();
    Object { topology: 4, vertices, provoking: 2 }
}

fn setup(draws: &mut Draws, object: &Object) -> Result<Vec<u8>, Trap> {
    draws.setup[6] = 0x88 << 9;
    draws.send()?;
    let mut steps = 1000;
    draws.gpu.setup_thread(object, &mut Run { steps: &mut steps, trace: None })
}

#[test]
fn a_setup_thread_gets_the_topmost_vertex_first() {
    for model in BOTH {
        let mut draws = Draws::new(model, SETUP_PROGRAM);
        let entry = setup(&mut draws, &triangle()).unwrap_or_else(|trap| panic!("{trap}"));
        // The order is 20, 30, 10: dx0 = 4, dy0 = 8, dx2 = 8, dy2 = 4.
        let (dx0, determinant) = (4.0f32.to_bits(), (4.0f32 * 4.0 - 8.0 * 8.0).to_bits());
        let expected: Vec<u32> = (20..28).flat_map(|c0| [dx0, determinant, 0, c0]).collect();
        assert_eq!(entry, bytes(&expected));
        let placed = draws.gpu.placed(&triangle()).unwrap();
        assert_eq!(placed.corners, [[0.0, 0.0], [4.0, 8.0], [8.0, 4.0]]);
        assert_eq!((placed.first, placed.back), (1, true));
    }
}

#[test]
fn the_viewport_is_applied() {
    let mut draws = Draws::new(Model::G45, SETUP_PROGRAM);
    draws.setup[5] = (SETUP + 0x200) | 2 | 1;
    let matrix = [2.0f32, -3.0, 0.5, 1.0, 40.0, 0.25].map(f32::to_bits);
    draws.gpu.memory().write(SETUP + 0x200, &bytes(&matrix)).unwrap();
    setup(&mut draws, &triangle()).unwrap_or_else(|trap| panic!("{trap}"));
    let placed = draws.gpu.placed(&triangle()).unwrap();
    // x = 2 x + 1 - 0.5, y = 40 - 3 y - 0.5.
    assert_eq!(placed.corners, [[9.5, 14.0], [17.5, 26.0], [1.5, 38.0]]);
    assert_eq!(placed.depths[0], [0.5, 1.0]);
}

#[test]
fn setup_threads_have_rules() {
    type Change = fn(&mut Draws);
    let nothing: Change = |_| {};
    type Case = (&'static str, &'static str, &'static str, Rule, Change);
    let cases: &[Case] = &[
        ("four registers", "0x8640c800", "0x8650c800", Rule::UrbForm, nothing),
        ("an odd row", "0x8640c800", "0x8640c810", Rule::UrbForm, nothing),
        ("beyond the entry", "0x8640c800", "0x8640c860", Rule::UrbBounds, nothing),
        ("a coefficient that is missing", "m3<1>", "m7<1>", Rule::Undefined, nothing),
        ("another handle", "g0<8,8,1>UD 0x8640", "g3<8,8,1>UD 0x8640", Rule::Header, nothing),
        ("the first register", "", "", Rule::ThreadState, |draws| draws.setup[3] += 1),
        ("the first row", "", "", Rule::ThreadState, |draws| draws.setup[3] &= !(63 << 4)),
        ("rows beyond the vertex", "", "", Rule::Payload, |draws| draws.setup[3] += 1 << 11),
        ("too many threads", "", "", Rule::ThreadState, |draws| draws.setup[4] |= 63 << 25),
        ("an exception", "", "", Rule::ThreadState, |draws| draws.setup[1] |= 1 << 13),
        ("a reserved bit of d1", "", "", Rule::ThreadState, |draws| draws.setup[1] |= 1 << 28),
        ("a reserved bit of d4", "", "", Rule::ThreadState, |draws| draws.setup[4] |= 1 << 24),
    ];
    for (what, from, to, rule, change) in cases {
        let text = SETUP_PROGRAM.replace(if from.is_empty() { "\u{0}" } else { from }, to);
        let mut draws = Draws::new(Model::G45, &text);
        change(&mut draws);
        let trap = setup(&mut draws, &triangle()).expect_err(what);
        assert_eq!(trap.rule, *rule, "{what}: {trap}");
    }
    let mut draws = Draws::new(Model::G45, SETUP_PROGRAM);
    draws.send().unwrap();
    let mut steps = 100;
    let mut run = Run { steps: &mut steps, trace: None };
    let trap = draws.gpu.setup_thread(&triangle(), &mut run).unwrap_err();
    assert_eq!(trap.rule, Rule::ThreadState, "a bias is missing");
}
