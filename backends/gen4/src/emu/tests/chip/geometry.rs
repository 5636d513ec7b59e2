//! Geometry threads: payloads, entries and their marks, and which messages to the URB are valid. G45 vol. 4, 8.4;
//! isa/gen4-pipeline.md 1.2, 3, 4.4.

use super::draw::{COLOR, Draws, PIXEL, SETUP, VERTEX, bytes};
use super::{BATCH, BOTH, PROGRAM, STATE};
use crate::emu::{Given, Model, Rule, Run, Trap};

const GEOMETRY: u32 = STATE + 0x300;

/// A strip of a line: each vertex of the primitive has a row, r1 and r2.
const STRIP: &str = "mov(8) m1<1>UD g0<8,8,1>UD { align1 nomask };
mov(1) m1.2<1>UD 14UD { align1 nomask };
mov(8) m2<1>UD g1<8,8,1>UD { align1 nomask };
send(8) 1 g10<1>UD null<8,8,1>UD 0x0621e000 { align1 };
mov(1) m1<1>UD g10<0,1,0>UD { align1 nomask };
mov(1) m1.2<1>UD 13UD { align1 nomask };
mov(8) m2<1>UD g2<8,8,1>UD { align1 nomask };
send(8) 1 g11<1>UD null<8,8,1>UD 0x0621e000 { align1 };
mov(1) m1<1>UD g11<0,1,0>UD { align1 nomask };
send(8) 1 null<1>UD null<8,8,1>UD 0x86108000 { align1 EOT };";

/// The entry of a vertex that a thread wrote, and whether it begins an object.
type Vertex = (Vec<u8>, bool);

/// Two threads, of four entries of one unit each.
const STATE_WORDS: [u32; 7] = [PROGRAM | 2, 0, 0, 1 | 1 << 11, 1 << 25 | 8 << 11, 0, 0];

/// A row of eight numbers from one on.
fn row(first: u32) -> Vec<u8> {
    bytes(&std::array::from_fn::<u32, 8, _>(|at| first + at as u32))
}

fn lines(count: u32) -> Vec<Given> {
    let line = |n: u32| Given {
        topology: 2,
        vertices: vec![row(100 * n).into(), row(100 * n + 50).into()],
    };
    (0..count).map(line).collect()
}

fn emitted(
    model: Model,
    text: &str,
    state: [u32; 7],
    given: &[Given],
) -> Result<Vec<Vec<Vertex>>, Trap> {
    let mut draws = Draws::new(model, text);
    draws.gpu.set_order(7);
    draws.send()?;
    let list = [
        // Entries of the vertex unit up to unit 64, of this one up to 72.
        [0x6000_2f01, 64 | 72 << 10 | 72 << 20, 128 | 132 << 20].as_slice(),
        &[0x7800_0005, VERTEX, GEOMETRY | 1, 0, SETUP, PIXEL, COLOR],
        &[0x0500_0000],
    ]
    .concat();
    draws.gpu.memory().write(GEOMETRY, &bytes(&state)).unwrap();
    draws.gpu.memory().write(BATCH, &bytes(&list)).unwrap();
    let mut steps = 10_000;
    let mut run = Run { steps: &mut steps, trace: None };
    draws.gpu.batch(BATCH, 4 * list.len() as u32, &mut run)?;
    let made = draws.gpu.geometry_threads(given, &mut run)?;
    let all = made.into_iter().map(|vertices| vertices.into_iter());
    Ok(all.map(|of| of.map(|one| (one.entry.into_bytes(), one.begins)).collect()).collect())
}

/// The vertices of a line that leaves as it came.
fn whole(n: u32) -> Vec<Vertex> {
    vec![(row(100 * n), true), (row(100 * n + 50), false)]
}

#[test]
fn a_thread_takes_a_primitive_and_emits_a_strip() {
    for model in BOTH {
        let made = emitted(model, STRIP, STATE_WORDS, &lines(20));
        let made = made.unwrap_or_else(|trap| panic!("{trap}"));
        assert_eq!(made, (0..20).map(whole).collect::<Vec<_>>());
    }
}

/// Each row of 8.4.2's table of combinations that is valid, with the same strip behind it.
#[test]
fn all_valid_messages_have_their_effect() {
    let second = "send(8) 1 g11<1>UD null<8,8,1>UD 0x0621e000";
    let first = "send(8) 1 g10<1>UD null<8,8,1>UD 0x0621e000";
    let nothing = |descriptor: &str| {
        format!("send(8) 1 null<1>UD null<8,8,1>UD {descriptor} {{ align1 }};\n")
    };
    let apart = format!("{}{second}", nothing("0x06204000"));
    for (what, from, to) in [
        ("a part of an entry, said to be of use", second, apart.as_str()),
        ("a part of an entry, of no use yet", second, &apart.replace("0x06204000", "0x06200000")),
        ("no part of it", second, &apart.replace("0x06204000", "0x06100000")),
        (
            "an entry that is complete by a message without data",
            second,
            &apart.replace("0x0621e000", "0x0611e000"),
        ),
        (
            "an entry that is asked for apart",
            first,
            &format!("{}send(8) 1 g10<1>UD null<8,8,1>UD 0x06112000", nothing("0x0620c000")),
        ),
        ("an entry of no use, and another one", second, &{
            let skips = "send(8) 1 g12<1>UD null<8,8,1>UD 0x0611a000 { align1 };\nmov(1) m1<1>UD g12<0,1,0>UD { align1 nomask };\n";
            format!("{skips}{second}")
        }),
        ("the check of setup threads", second, &second.replace("0x0621e000", "0x0621f000")),
    ] {
        for model in BOTH {
            let text = STRIP.replace(from, to);
            assert_ne!(text, STRIP, "{what}");
            let made = emitted(model, &text, STATE_WORDS, &lines(3));
            let made = made.unwrap_or_else(|trap| panic!("{what}: {trap}"));
            assert_eq!(made, (0..3).map(whole).collect::<Vec<_>>(), "{what}");
        }
    }
    // The last vertex ends the thread, or a message that writes nothing behind it does.
    let (before, _) = STRIP.split_once(second).unwrap();
    for end in [
        "send(8) 1 null<1>UD null<8,8,1>UD 0x8620c000 { align1 EOT };".to_string(),
        format!(
            "{}send(8) 1 null<1>UD null<8,8,1>UD 0x86100000 {{ align1 EOT }};",
            nothing("0x0620c000")
        ),
    ] {
        let made = emitted(Model::G45, &format!("{before}{end}"), STATE_WORDS, &lines(2));
        assert_eq!(made.unwrap_or_else(|trap| panic!("{end}: {trap}")), [whole(0), whole(1)]);
    }
}

#[test]
fn geometry_threads_have_rules() {
    let handle = "mov(1) m1<1>UD g10<0,1,0>UD";
    for (what, from, to, rule) in [
        ("two entries", "0x0621e000", "0x0621e400", Rule::UrbHandle),
        ("coefficients", "0x0621e000", "0x0621e800", Rule::UrbForm),
        ("a swizzle", "0x0621e000", "0x0621ec00", Rule::UrbForm),
        ("the first handle again", handle, "mov(1) m1<1>UD g0<0,1,0>UD", Rule::UrbComplete),
        ("no ID", handle, "and(1) m1<1>UD g10<0,1,0>UD 0xffffUD", Rule::UrbHandle),
        ("no handle", handle, "and(1) m1<1>UD g10<0,1,0>UD 0xffff0000UD", Rule::UrbHandle),
        ("an allocation beside an open entry", "0x0621e000", "0x06112000", Rule::UrbAllocate),
        ("an allocation and a part", "0x0621e000", "0x06212000", Rule::UrbAllocate),
        (
            "no reply",
            "g11<1>UD null<8,8,1>UD 0x0621e000",
            "null<1>UD null<8,8,1>UD 0x0620e000",
            Rule::UrbForm,
        ),
        ("an end beside an open entry", "0x86108000", "0x86100000", Rule::UrbComplete),
        ("an end with a part", "0x86108000", "0x86204000", Rule::UrbComplete),
        ("beyond the entry", "0x0621e000", "0x0621e020", Rule::UrbBounds),
        ("no start", "14UD", "12UD", Rule::ClipOutput),
        ("no end", "13UD", "12UD", Rule::ClipOutput),
        ("two starts", "13UD", "15UD", Rule::ClipOutput),
        ("two topologies", "13UD", "21UD", Rule::ClipOutput),
        ("a row that nobody wrote", "g2<8,8,1>UD", "g9<8,8,1>UD", Rule::Undefined),
        (
            "another thread's number",
            "mov(1) m1<1>UD g11",
            "mov(1) m1.5<1>UD 9UD { align1 nomask };\nmov(1) m1<1>UD g11",
            Rule::Header,
        ),
    ] {
        let text = STRIP.replace(from, to);
        assert_ne!(text, STRIP, "{what}");
        let trap = emitted(Model::G45, &text, STATE_WORDS, &lines(1)).expect_err(what);
        assert_eq!(trap.rule, rule, "{what}: {trap}");
    }
}

#[test]
fn geometry_states_have_rules() {
    for (what, models, word, change, rule) in [
        ("a priority", &BOTH[..], 1, 1 << 17, Rule::ThreadState),
        ("numbers of vertices", &BOTH[..1], 4, 1 << 10, Rule::ThreadState),
        ("whether it renders", &BOTH, 4, 1 << 8, Rule::ThreadState),
        ("three threads", &BOTH, 4, 1 << 26, Rule::ThreadState),
        ("entries beyond the fence", &BOTH, 4, 1 << 19, Rule::Fences),
        ("the first register", &BOTH, 3, 2, Rule::ThreadState),
        ("a viewport", &BOTH, 6, 1, Rule::ThreadState),
        ("a reserved bit", &BOTH, 6, 1 << 4, Rule::ThreadState),
        ("another order", &BOTH, 6, 1 << 30, Rule::ThreadState),
        ("a row more than a vertex has", &BOTH, 3, 1 << 12, Rule::Payload),
    ] {
        for &model in models {
            let mut state = STATE_WORDS;
            state[word] ^= change;
            let trap = emitted(model, STRIP, state, &lines(1)).expect_err(what);
            assert_eq!(trap.rule, rule, "{what}: {trap}");
        }
    }
    // G45 counts, and adjacent vertices are its alone.
    let mut state = STATE_WORDS;
    state[4] |= 1 << 10;
    emitted(Model::G45, STRIP, state, &lines(1)).unwrap_or_else(|trap| panic!("{trap}"));
    let adjacent = [Given { topology: 9, ..lines(1)[0].clone() }];
    let trap = emitted(Model::I965, STRIP, STATE_WORDS, &adjacent).unwrap_err();
    assert_eq!(trap.rule, Rule::NotBuilt);
    emitted(Model::G45, STRIP, STATE_WORDS, &adjacent).unwrap_or_else(|trap| panic!("{trap}"));
}
