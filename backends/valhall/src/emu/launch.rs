//! Launches: workgroups, vertices and quads, from registers at the start to what is left at the end.

use super::fragment::{Fragment, Record};
use super::program::Program;
use super::rule::{Rule, Trap};
use super::state::{Stage, State, WORKGROUP_BASE};
use super::value::{Dice, LANES, Mask, Word};
use super::warp::{Env, Status, Trace, Warp};
use std::collections::BTreeMap;

/// Instructions that a warp executes before another may, where several run.
const QUANTUM: usize = 64;

fn lanes(count: usize) -> Mask {
    if count >= LANES { u16::MAX } else { (1 << count) - 1 }
}

/// A dispatch of a compute program.
#[derive(Copy, Clone, Debug)]
pub struct Dispatch {
    /// Invocations of a workgroup.
    pub size: [u32; 3],
    /// Workgroups.
    pub groups: [u32; 3],
    /// Registers 48 + k that are filled.
    pub preload: u16,
    /// Workgroups may share a warp.
    pub merge: bool,
}

/// An invocation: its workgroup, and its number there.
type Invocation = ([u32; 3], u32);

/// Runs the workgroups one after the other, in an order of the dice's choice; in warps without gaps where they may share
/// them (errata 139).
///
/// # Errors
/// The first rule that is broken.
pub fn run_compute(
    code: &[u8],
    state: &mut State,
    dispatch: &Dispatch,
    trace: Trace<'_>,
) -> Result<u64, Trap> {
    let program = Program::load(code, 0, Stage::Compute, state.work_registers)?;
    program.prefetch(code, &state.memory, state.code)?;
    let [x, y, z] = dispatch.groups;
    let mut order: Vec<[u32; 3]> = Vec::new();
    for gz in 0..z {
        for gy in 0..y {
            order.extend((0..x).map(|gx| [gx, gy, gz]));
        }
    }
    let mut dice = Dice::new(state.seed);
    for k in (1..order.len()).rev() {
        order.swap(k, dice.below(k + 1));
    }
    let mut env = Env { program: &program, state, dice, steps: 0, trace };
    let size: u32 = dispatch.size.iter().product();
    if dispatch.merge {
        let mut rest = order.iter().flat_map(|&group| (0..size).map(move |n| (group, n)));
        for number in 0.. {
            let invocations: Vec<Invocation> = rest.by_ref().take(LANES).collect();
            if invocations.is_empty() {
                break;
            }
            let mut warp = compute_warp(&env, dispatch, number, &invocations);
            run_group(&mut env, std::slice::from_mut(&mut warp))?;
        }
        return Ok(env.steps);
    }
    for (done, group) in order.into_iter().enumerate() {
        let bytes = env.state.workgroup_bytes as usize;
        if bytes > 0 {
            let garbage = [0xEF, 0xBE, 0xAD, 0xDE].into_iter().cycle().take(bytes).collect();
            env.state.memory.map(WORKGROUP_BASE, garbage, true);
        }
        let mut warps = Vec::new();
        for first in (0..size).step_by(LANES) {
            let count = (size - first).min(LANES as u32) as usize;
            let number = (done as u32 * size).div_ceil(LANES as u32) + first / LANES as u32;
            let invocations: Vec<Invocation> =
                (first..first + count as u32).map(|n| (group, n)).collect();
            warps.push(compute_warp(&env, dispatch, number, &invocations));
        }
        run_group(&mut env, &mut warps)?;
    }
    if env.state.workgroup_bytes > 0 {
        env.state.memory.unmap(WORKGROUP_BASE);
    }
    Ok(env.steps)
}

/// isa 2.1: r55 local x and y, r56 local z, r57-59 workgroup, r60-62 global invocation.
fn compute_warp(
    env: &Env<'_, '_>,
    dispatch: &Dispatch,
    number: u32,
    invocations: &[Invocation],
) -> Warp {
    let mut warp = Warp::new(number, lanes(invocations.len()), 0, env.state.thread_bytes);
    let invocation = |lane: usize| invocations.get(lane).copied().unwrap_or(invocations[0]);
    let [sx, sy, _] = dispatch.size;
    let local = |lane: usize| {
        let n = invocation(lane).1;
        [n % sx, n / sx % sy, n / sx / sy]
    };
    let global = |axis: usize| {
        Word::from_fn(|lane| {
            let group = invocation(lane).0[axis];
            group.wrapping_mul(dispatch.size[axis]).wrapping_add(local(lane)[axis])
        })
    };
    let group = |axis: usize| Word::from_fn(|lane| invocation(lane).0[axis]);
    let values = [
        (55, Word::from_fn(|lane| local(lane)[0] & 0xFFFF | local(lane)[1] << 16)),
        (56, Word::from_fn(|lane| local(lane)[2] & 0xFFFF)),
        (57, group(0)),
        (58, group(1)),
        (59, group(2)),
        (60, global(0)),
        (61, global(1)),
        (62, global(2)),
    ];
    fill(&mut warp, dispatch.preload, &values);
    warp
}

/// Fills the registers that the program asks for.
fn fill(warp: &mut Warp, preload: u16, values: &[(u8, Word)]) {
    for (reg, word) in values {
        if preload >> (reg - 48) & 1 == 1 {
            warp.preload(*reg, *word);
        }
    }
}

/// Runs the warps of a workgroup to their ends, from barrier to barrier.
fn run_group(env: &mut Env<'_, '_>, warps: &mut [Warp]) -> Result<(), Trap> {
    let mut status = vec![Status::Running; warps.len()];
    loop {
        let running: Vec<usize> =
            (0..warps.len()).filter(|&k| status[k] == Status::Running).collect();
        if running.is_empty() {
            let waiting = status.iter().filter(|&&s| s == Status::Barrier).count();
            if waiting == 0 {
                return Ok(());
            }
            if let Some(k) = status.iter().position(|&s| s == Status::Ended) {
                let detail = format!("{waiting} warps wait, warp {} has ended", warps[k].number);
                let waits = status.iter().position(|&s| s == Status::Barrier).expect("counted");
                return Err(warps[waits].trap(Rule::BarrierDivergent, detail, None));
            }
            status.fill(Status::Running);
            continue;
        }
        let k = running[env.dice.below(running.len())];
        let quantum = if warps.len() == 1 { u32::MAX } else { 1 + env.dice.below(QUANTUM) as u32 };
        status[k] = warps[k].run(env, quantum)?;
    }
}

/// Vertices: each a thread.
#[derive(Clone, Debug)]
pub struct Vertices {
    /// First byte of the program.
    pub entry: u32,
    /// Registers 48 + k that are filled.
    pub preload: u16,
    /// Warps have half of their lanes: the program's `Vertex warp limit`. isa 2.7.
    pub half: bool,
    /// Linear id, vertex and instance of each thread, the first ones added.
    pub ids: Vec<[u32; 3]>,
}

/// Runs a vertex program; what it leaves lies in memory.
///
/// # Errors
/// The first rule that is broken.
pub fn run_vertices(
    code: &[u8],
    state: &mut State,
    run: &Vertices,
    trace: Trace<'_>,
) -> Result<u64, Trap> {
    let program = Program::load(code, run.entry, Stage::Vertex, state.work_registers)?;
    program.prefetch(code, &state.memory, state.code)?;
    let dice = Dice::new(state.seed);
    let mut env = Env { program: &program, state, dice, steps: 0, trace };
    let width = if run.half { LANES / 2 } else { LANES };
    for (number, ids) in run.ids.chunks(width).enumerate() {
        let thread_bytes = env.state.thread_bytes;
        let mut warp = Warp::new(number as u32, lanes(ids.len()), run.entry, thread_bytes);
        let of = |k: usize| Word::from_fn(|lane| ids.get(lane).map_or(0, |id| id[k]));
        let values = [(59, of(0)), (60, of(1)), (61, of(2)), (62, Word::splat(0))];
        fill(&mut warp, run.preload, &values);
        run_group(&mut env, std::slice::from_mut(&mut warp))?;
    }
    Ok(env.steps)
}

/// One quad at the start.
#[derive(Clone, Debug, Default)]
pub struct QuadStart {
    /// Bit k: pixel k is covered.
    pub covered: u8,
    /// Faces the viewer.
    pub front: bool,
    /// Column and row of the first pixel.
    pub at: [u32; 2],
    /// Primitive.
    pub primitive: u32,
    /// Depth and 1 / w of each pixel.
    pub depth_w: [[f32; 2]; 4],
    /// Place of each pixel in a point.
    pub point: [[f32; 2]; 4],
    /// Bit k of each pixel: sample k is covered.
    pub masks: [u32; 4],
    /// The sample that the program runs for.
    pub sample: u32,
}

/// Quads of pixels: upper left, upper right, lower left, lower right.
#[derive(Clone, Debug, Default)]
pub struct Pixels {
    /// Registers 48 + k that are filled.
    pub preload: u16,
    /// Pixels that are not covered run for their neighbours. isa 2.7.
    pub helpers: bool,
    /// The quads.
    pub quads: Vec<QuadStart>,
    /// Varyings by byte offset; the words are `[pixel of the batch][component]`.
    pub varyings: Vec<PixelVarying>,
    /// Components of each colour target that must be defined.
    pub needed: [u8; 8],
    /// The second source of blending is read.
    pub dual: bool,
}

/// One 16-byte place of the varying record.
#[derive(Clone, Debug)]
pub struct PixelVarying {
    /// Byte offset.
    pub offset: u32,
    /// Holds f16.
    pub half: bool,
    /// Not interpolated.
    pub flat: bool,
    /// Where it is taken.
    pub sampled: super::inst::Sampled,
    /// By pixel: f32 bits, raw words, or f16 bits where `half`.
    pub values: Vec<[u32; 4]>,
}

/// What one pixel leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PixelOut {
    /// DISCARD ended it.
    pub killed: bool,
    /// The coverage last handed on; `None` without ATEST.
    pub coverage: Option<u32>,
    /// Depth.
    pub depth: Option<u32>,
    /// What the stencil test refers to.
    pub stencil: Option<u32>,
    /// By target and source.
    pub colors: BTreeMap<(u8, u8), [u32; 4]>,
}

/// Runs a fragment program; four pixels a quad.
///
/// # Errors
/// The first rule that is broken.
pub fn run_pixels(
    code: &[u8],
    state: &mut State,
    pixels: &Pixels,
    trace: Trace<'_>,
) -> Result<Vec<PixelOut>, Trap> {
    let program = Program::load(code, 0, Stage::Fragment, state.work_registers)?;
    program.prefetch(code, &state.memory, state.code)?;
    let dice = Dice::new(state.seed);
    let mut env = Env { program: &program, state, dice, steps: 0, trace };
    let mut out = Vec::with_capacity(4 * pixels.quads.len());
    for (number, quads) in pixels.quads.chunks(LANES / 4).enumerate() {
        let count = 4 * quads.len();
        let first = number * LANES;
        let mut fragment = fragment(pixels, quads, first, count);
        if !pixels.helpers {
            fragment.absent = fragment.helpers;
        }
        let started = lanes(count) & !fragment.absent;
        let mut warp = Warp::new(number as u32, started, 0, env.state.thread_bytes);
        let noise = env.dice.below(8) as u32;
        pixel_registers(&mut warp, pixels, quads, noise);
        fragment.place = Some(warp.regs[61].word);
        warp.fragment = Some(Box::new(fragment));
        run_group(&mut env, std::slice::from_mut(&mut warp))?;
        let fragment = warp.fragment.expect("given above");
        // Helpers may end before the others: `discard` ends them.
        let untested = started & !fragment.helpers & !fragment.killed & !fragment.tested;
        if untested != 0 {
            let detail = format!("lanes {untested:04x} end without it");
            return Err(Trap::new(Rule::Atest, 0, detail));
        }
        for lane in 0..count {
            let mut colors = BTreeMap::new();
            for (&key, (words, written)) in &fragment.colors {
                if written >> lane & 1 == 1 {
                    colors.insert(key, words.map(|word| word.v[lane]));
                }
            }
            out.push(PixelOut {
                killed: fragment.killed >> lane & 1 == 1,
                coverage: fragment.coverage[lane],
                depth: fragment.depth[lane],
                stencil: fragment.stencil[lane],
                colors,
            });
        }
    }
    Ok(out)
}

/// isa 2.1: r57 primitive, r58 zero in front, r59 pixel, r60 coverage, r61 sample mask and number, above which `noise`
/// stands (errata 117).
fn pixel_registers(warp: &mut Warp, pixels: &Pixels, quads: &[QuadStart], noise: u32) {
    let of = |f: &dyn Fn(&QuadStart, u32) -> u32| {
        Word::from_fn(|lane| quads.get(lane / 4).map_or(0, |quad| f(quad, lane as u32 % 4)))
    };
    let covered = |quad: &QuadStart, pixel: u32| quad.covered >> pixel & 1 == 1;
    let values = [
        (57, of(&|quad, _| quad.primitive)),
        (58, of(&|quad, _| u32::from(!quad.front))),
        (
            59,
            of(&|quad, pixel| {
                let (x, y) = (quad.at[0] + (pixel & 1), quad.at[1] + (pixel >> 1));
                x & 0xFFFF | y << 16
            }),
        ),
        // Every bit, so that what a sample mask output leaves of it can be read back.
        (60, of(&|quad, pixel| if covered(quad, pixel) { u32::MAX } else { 0 })),
        (
            61,
            of(&|quad, pixel| {
                quad.masks[pixel as usize] & 0xFFFF | quad.sample << 16 | noise << 21
            }),
        ),
        (62, Word::splat(0)),
    ];
    fill(warp, pixels.preload, &values);
}

fn fragment(pixels: &Pixels, quads: &[QuadStart], first: usize, count: usize) -> Fragment {
    let mut covered: Mask = 0;
    for (k, quad) in quads.iter().enumerate() {
        covered |= u16::from(quad.covered & 15) << (4 * k);
    }
    let mut fragment = Fragment {
        helpers: lanes(count) & !covered,
        needed: pixels.needed,
        dual: pixels.dual,
        ..Fragment::default()
    };
    let special = |of: &dyn Fn(&QuadStart) -> [[f32; 2]; 4]| {
        [0, 1].map(|k| {
            Word::from_fn(|lane| {
                let quad = quads.get(lane / 4);
                quad.map_or(0, |quad| of(quad)[lane % 4][k].to_bits())
            })
        })
    };
    fragment.depth_w = Some(special(&|quad| quad.depth_w));
    fragment.point = Some(special(&|quad| quad.point));
    for varying in &pixels.varyings {
        let words = std::array::from_fn(|c| {
            Word::from_fn(|lane| varying.values.get(first + lane).map_or(0, |v| v[c]))
        });
        let record =
            Record { words, half: varying.half, flat: varying.flat, sampled: varying.sampled };
        fragment.records.entry(varying.offset).or_default().push(record);
    }
    fragment
}
