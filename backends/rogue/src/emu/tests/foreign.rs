//! The public compiler's programs for functions of a known name give what the name says: evidence for what a group does that
//! is independent of our own reading.

use super::bench::{CODE, END, numerics};
use super::bytes;
use super::golden::rows;
use crate::emu::inst::{Kind, Register};
use crate::emu::machine::{Machine, Run};
use crate::emu::memory::Memory;
use crate::emu::register::Common;
use crate::emu::task::{Iterated, Sizes, Task};
use crate::emu::{Stage, program};

/// The four components before they are packed, in each instance: of inputs a and b, whose sets follow that of 1 / w, and
/// whose integers are constants.
fn colour(
    name: &str,
    a: impl Fn(usize, usize) -> u32,
    b: impl Fn(usize, usize) -> u32,
    flat: [u32; 8],
) -> Option<Vec<[u32; 4]>> {
    let wanted = format!("fragment shader {name}.frag ");
    let row = rows().iter().find(|row| row.program && row.note.starts_with(&wanted))?;
    let groups = program(&row.bytes).expect("decodes");
    // The last pack of four is the output's.
    let (offset, sources) = groups.iter().rev().find_map(|(offset, group)| match &group.kind {
        Kind::Main(main) if main.pack.is_some() && group.repeat == 4 => {
            Some((*offset as usize, group.sources[usize::from(main.external)]))
        }
        _ => None,
    })?;
    let mut code = row.bytes[..offset].to_vec();
    while code.len() % 8 != 4 {
        code.extend(bytes("03 80 6e 00 f1 ff"));
    }
    code.extend(bytes("02 80 6e 00"));
    code.extend(bytes(END));
    let mut memory = Memory::default();
    memory.map(CODE, code.len() + 64).expect("maps");
    memory.write(CODE, &code).expect("is mapped");
    let mut task = Task::new(row.stage, 0, Sizes { temps: 64, inputs: 0 }, u32::MAX, 0);
    task.p0_defined = u32::MAX;
    task.fragments.samples = [1; 32];
    let mut given = Iterated::new(10);
    given.sets.fill([1f32.to_bits(); 32]);
    for component in 0..4 {
        given.sets[1 + component] = std::array::from_fn(|lane| a(lane, component));
        given.sets[5 + component] = std::array::from_fn(|lane| b(lane, component));
    }
    task.fragments.given = Some(given);
    let mut coefficients = Common::new("cf", 48);
    for (set, word) in flat.into_iter().enumerate() {
        coefficients.set(4 * set + 2, word);
    }
    let mut shared = Common::new("sh", 8);
    // The mask of samples of a fragment shader's meta word.
    shared.set(0, 0xffff << 9);
    let mut machine = Machine::new(&row.core, numerics(&row.core), &mut memory, CODE, 1);
    (machine.shared, machine.coefficients) = (shared, vec![coefficients]);
    machine.lower_precision = true;
    let mut tasks = [task];
    let mut steps = 10_000;
    machine
        .run(&mut tasks, &mut Run { steps: &mut steps, trace: None })
        .unwrap_or_else(|trap| panic!("{name}: {trap}"));
    let Register::File(_, first) = sources else { return None };
    let word = |lane: usize, at: usize| tasks[0].temps.peek(usize::from(first) + at, lane);
    let colours = (0..32).map(|lane| [0, 1, 2, 3].map(|at| word(lane, at).expect("is written")));
    assert_eq!(row.stage, Stage::Fragment);
    Some(colours.collect())
}

/// Functions that the public compiler makes of polynomials.
const COARSE: [&str; 3] = ["f_asin", "f_atan2", "f_pow"];

#[test]
fn functions_of_floats_are_what_their_names_say() {
    type Function = (&'static str, fn(f32, f32) -> f32);
    // The last ones are polynomials of few terms.
    let functions: [Function; 16] = [
        ("f_trunc", |a, _| a.trunc()),
        ("f_floor", |a, _| a.floor()),
        ("f_ceil", |a, _| a.ceil()),
        ("f_fract", |a, _| a - a.floor()),
        ("f_sign", |a, _| if a == 0.0 { 0.0 } else { a.signum() }),
        ("f_sqrt", |a, _| a.sqrt()),
        ("f_exp", |a, _| a.exp()),
        ("f_exp2", |a, _| a.exp2()),
        ("f_log2", |a, _| a.log2()),
        ("f_sin", |a, _| a.sin()),
        ("f_cos", |a, _| a.cos()),
        ("f_min", f32::min),
        ("f_rnd", |a, _| a.round()),
        ("f_asin", |a, _| a.asin()),
        ("f_atan2", f32::atan2),
        ("f_pow", f32::powf),
    ];
    let a = |lane: usize, at: usize| (lane as f32 * 0.375 - 5.8 + at as f32 * 0.1).to_bits();
    let b = |lane: usize, at: usize| (at as f32 - lane as f32 * 0.2).to_bits();
    let mut compared = 0;
    for (name, function) in functions {
        let Some(found) = colour(name, a, b, [0; 8]) else { continue };
        for (lane, found) in found.iter().enumerate() {
            for at in 0..4 {
                let (a, b) = (f32::from_bits(a(lane, at)), f32::from_bits(b(lane, at)));
                let (found, expected) = (f32::from_bits(found[at]), function(a, b));
                let bound = if COARSE.contains(&name) { 2e-3 } else { 1e-5 };
                let near = (found - expected).abs() <= bound * expected.abs().max(0.1);
                // A power of a negative number is undefined.
                let none = expected.is_nan() || name == "f_pow" && a < 0.0;
                assert!(near || none, "{name}({a}, {b}) is {expected}, not {found}");
                compared += usize::from(near);
            }
        }
    }
    assert!(rows().is_empty() || compared > 1000, "{compared}");
}

#[test]
fn functions_of_integers_are_what_their_names_say() {
    // Of a component and of the one at the other end, as floats, which is what the programs put out.
    type Function = (&'static str, fn(u32, u32) -> f32);
    let functions: [Function; 6] = [
        ("u_msb", |a, _| if a == 0 { -1.0 } else { (31 - a.leading_zeros()) as f32 }),
        ("i_lsb", |a, _| if a == 0 { -1.0 } else { a.trailing_zeros() as f32 }),
        ("i_rev", |a, _| a.reverse_bits() as i32 as f32),
        ("u_borrow", |a, b| a.wrapping_sub(b).wrapping_add(u32::from(a < b)) as f32),
        ("i_mulx", |a, b| {
            let product = i64::from(a as i32) * i64::from(b as i32);
            (product >> 32) as i32 as f32 + product as i32 as f32
        }),
        ("u_mod", |a, b| (a % b.max(1)) as f32),
    ];
    let mut compared = 0;
    for words in [
        [0u32, 1, 0x8000_0000, 0x1234_5678],
        [u32::MAX, 0x00ff_0000, 12, 7],
        [1_000_000_007, 123_456_789, 9973, 65_521],
    ] {
        let flat = [words[0], words[1], words[2], words[3], 0, 0, 0, 0];
        for (name, function) in functions {
            let divides = name == "u_mod";
            if divides && words.contains(&0) {
                continue;
            }
            let Some(found) = colour(name, |_, _| 0, |_, _| 0, flat) else { continue };
            // Half of a product's components are the other half.
            for at in 0..if name == "i_mulx" { 1 } else { 4 } {
                let found = f32::from_bits(found[9][at]);
                let expected = function(words[at], words[3 - at]);
                assert_eq!(found, expected, "{name}({:#x}, {:#x})", words[at], words[3 - at]);
                compared += 1;
            }
        }
    }
    assert!(rows().is_empty() || compared > 50, "{compared}");
}
