//! Launches: what stands in the registers when a program starts, and what it leaves. The ABI says how.

use super::lanes::{Word, each};
use super::memory::{Emitted, Memory};
use super::program::Program;
use super::rule::{Rule, Trap};
use super::state::{Stage, State, address};
use super::wave::{Launch, Trace, Wave};
use gpucc_ir::ssa::Sampling;
use gpucc_ir::ssa::random::Rng;

/// What one export place received over a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// 0 pixel, 1 position, 2 parameter.
    pub kind: u32,
    /// Place: ARRAY_BASE.
    pub base: u32,
    /// By thread.
    pub values: Vec<[u32; 4]>,
    /// By thread: bit c when component c was written.
    pub written: Vec<u8>,
}

/// What a launch leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// By kind and base.
    pub exports: Vec<Export>,
    /// Pixels: by thread, true when the pixel was covered and not killed.
    pub valid: Vec<bool>,
    /// The ring that was written: an item a thread.
    pub ring: Vec<Option<u32>>,
    /// What geometry threads signalled, in order.
    pub emitted: Vec<(u32, Emitted)>,
    /// Steps that were executed.
    pub steps: u64,
}

impl Launched {
    /// An export place.
    pub fn export(&self, kind: u32, base: u32) -> Option<&Export> {
        self.exports.iter().find(|e| e.kind == kind && e.base == base)
    }

    fn collect(&mut self, wave: &Wave, lanes: u64, threads: usize) {
        for value in &wave.exports {
            let found =
                self.exports.iter().position(|e| (e.kind, e.base) == (value.kind, value.base));
            let place = found.unwrap_or_else(|| {
                self.exports.push(Export {
                    kind: value.kind,
                    base: value.base,
                    values: vec![[0; 4]; threads],
                    written: vec![0; threads],
                });
                self.exports.len() - 1
            });
            let export = &mut self.exports[place];
            for lane in each(lanes) {
                let thread = wave.first_thread as usize + lane;
                for c in 0..4 {
                    if value.written[c] >> lane & 1 == 1 {
                        export.values[thread][c] = value.words[c].v[lane];
                        export.written[thread] |= 1 << c;
                    }
                }
            }
        }
    }
}

/// Quads of pixels: four threads each, upper left, upper right, lower left, lower right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PixelBatch {
    /// By quad: bit i when pixel i is covered.
    pub covered: Vec<u8>,
    /// By quad: faces the viewer.
    pub front: Vec<bool>,
    /// By thread: x, y, z and w (not 1 / w: the machine gives w).
    pub position: Vec<[f32; 4]>,
    /// By thread: the place in a point, s and t from its upper left corner; empty where no points are drawn.
    pub point: Vec<[f32; 2]>,
    /// By thread: the sample, where there are several.
    pub sample: Vec<u32>,
    /// Components of each parameter: the rest of its register is undefined.
    pub components: Vec<u8>,
    /// `[thread][parameter]`, flattened.
    pub parameters: Vec<[u32; 4]>,
    /// By parameter: the semantic by which SPI_PS_INPUT_CNTL finds it, and where in the pixel it is taken. Empty: parameter k stands in register k.
    pub semantics: Vec<(u32, Sampling)>,
}

struct Prepared {
    program: Program,
    fetch: Option<Program>,
}

fn prepare(code: &[u8], state: &State, threads: u32) -> Result<Prepared, Trap> {
    let program = Program::load(code, state, false)?;
    super::registers::check(state, &program, threads)?;
    let fetch = match &state.fetch_program {
        Some(code) => Some(Program::load(code, state, true)?),
        None => None,
    };
    Ok(Prepared { program, fetch })
}

/// Runs every wavefront: `start` gives lanes and valid lanes and sets registers.
fn launch(
    code: &[u8],
    state: &mut State,
    threads: u32,
    mut trace: Option<Trace>,
    mut start: impl FnMut(&mut Wave, u64) -> Result<(), Trap>,
) -> Result<Launched, Trap> {
    let prepared = prepare(code, state, threads)?;
    let mut memory = Memory::new(std::mem::take(&mut state.aperture.words));
    memory.streams = std::mem::take(&mut state.streams);
    memory.ring = vec![None; threads as usize * state.ring_item() as usize];
    let mut launched = Launched { valid: vec![false; threads as usize], ..Launched::default() };
    let mut left = state.steps;
    let width = super::chip::facts(state.chip).wave;
    let mut result = Ok(());
    for (number, first, count) in waves(state, width, threads) {
        let lanes = if count == 64 { u64::MAX } else { (1 << count) - 1 };
        memory.clear_share();
        let run = Launch {
            state,
            program: &prepared.program,
            fetch_program: prepared.fetch.as_ref(),
            memory: &mut memory,
            steps_left: &mut left,
            trace: trace.as_mut().map(|t| &mut **t as Trace),
        };
        result = Wave::new(run, lanes, lanes, first, number).and_then(|mut wave| {
            start(&mut wave, lanes)?;
            wave.run()?;
            launched.collect(&wave, lanes, threads as usize);
            for lane in each(wave.valid) {
                launched.valid[first as usize + lane] = true;
            }
            Ok(())
        });
        if result.is_err() {
            break;
        }
    }
    state.aperture.words = memory.words;
    state.streams = memory.streams;
    launched.ring = memory.ring;
    launched.emitted = memory.emitted;
    launched.steps = state.steps - left;
    state.steps = left;
    result.map(|()| launched)
}

/// Wavefronts in the order in which they run: number from 1, first thread and threads. What leaves in a stream or a ring
/// leaves in the order of the threads.
fn waves(state: &State, width: u32, threads: u32) -> Vec<(u32, u32, u32)> {
    let mut next = state.first_wave.map_or(width, |lanes| lanes.clamp(1, width));
    let mut first = 0;
    let mut all = Vec::with_capacity(threads.div_ceil(width) as usize + 1);
    while first < threads {
        let count = next.min(threads - first);
        all.push((all.len() as u32 + 1, first, count));
        first += count;
        next = width;
    }
    let free = matches!(state.stage, Stage::Compute | Stage::Vertex | Stage::Pixel)
        && state.streams.iter().all(Option::is_none);
    if state.order != 0 && free {
        let mut rng = Rng::new(state.order);
        for at in (1..all.len()).rev() {
            all.swap(at, rng.below(at + 1));
        }
    }
    all
}

fn needs(state: &State, stage: Stage) -> Result<(), Trap> {
    if state.stage == stage {
        return Ok(());
    }
    let detail = format!("the state is for {:?}, the launch for {stage:?}", state.stage);
    Err(Trap::new(Rule::State, 0, detail))
}

/// Dispatches `threads` threads of a compute program; memory is left in the state's aperture, also after
/// an error. R0.x is the thread, everything else is undefined.
///
/// # Errors
/// The rule that the program breaks.
pub fn run_compute(
    code: &[u8],
    state: &mut State,
    threads: u32,
    trace: Option<Trace>,
) -> Result<Launched, Trap> {
    needs(state, Stage::Compute)?;
    launch(code, state, threads, trace, |wave, lanes| {
        let mut word = Word::UNDEFINED;
        word.poison = !lanes;
        for lane in each(lanes) {
            word.v[lane] = wave.first_thread + lane as u32;
        }
        wave.set(0, 0, &word);
        Ok(())
    })
}

/// Runs a vertex program, or one before a geometry program, on (vertex, instance) pairs: R0.x and R0.w.
///
/// # Errors
/// The rule that the program breaks.
pub fn run_vertices(
    code: &[u8],
    state: &mut State,
    ids: &[(u32, u32)],
    trace: Option<Trace>,
) -> Result<Launched, Trap> {
    if state.stage != Stage::Export {
        needs(state, Stage::Vertex)?;
    }
    let threads = ids.len() as u32;
    launch(code, state, threads, trace, |wave, lanes| {
        let mut words = [Word::UNDEFINED; 2];
        for word in &mut words {
            word.poison = !lanes;
        }
        for lane in each(lanes) {
            let (vertex, instance) = ids[wave.first_thread as usize + lane];
            words[0].v[lane] = vertex;
            words[1].v[lane] = instance;
        }
        wave.set(0, 0, &words[0]);
        wave.set(0, 3, &words[1]);
        Ok(())
    })
}

/// What a geometry thread finds: where its vertices stand in the ES-GS ring, and its numbers.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Primitive {
    /// R0.x, R0.y, R0.w, R1.x, R1.y, R1.z.
    pub vertices: [u32; 6],
    /// R0.z.
    pub primitive: u32,
    /// R1.w.
    pub invocation: u32,
}

/// Runs a geometry program on primitives. Which register holds what is a driver's knowledge: isa/r700.md 4.6.
///
/// # Errors
/// The rule that the program breaks.
pub fn run_geometry(
    code: &[u8],
    state: &mut State,
    primitives: &[Primitive],
    trace: Option<Trace>,
) -> Result<Launched, Trap> {
    needs(state, Stage::Geometry)?;
    let threads = primitives.len() as u32;
    launch(code, state, threads, trace, |wave, lanes| {
        let first = wave.first_thread as usize;
        for cell in 0..8 {
            let mut word = Word::UNDEFINED;
            word.poison = !lanes;
            for lane in each(lanes) {
                let p = &primitives[first + lane];
                let [a, b, c, d, e, f] = p.vertices;
                word.v[lane] = [a, b, p.primitive, c, d, e, f, p.invocation][cell as usize];
            }
            wave.set(cell / 4, cell % 4, &word);
        }
        Ok(())
    })
}

/// What the entries of SPI_PS_INPUT_CNTL say must be there. Register guide, SPI.
fn entries(state: &State, control0: u32, control1: u32, count: u32) -> Result<(), Trap> {
    let trap = |detail: String| Err(Trap::new(Rule::State, 0, detail));
    let total = control0 & 63;
    if total > 32 {
        return trap(format!("NUM_INTERP is {total}, there are 32 entries"));
    }
    let places = [
        ("position", control0 >> 8 & 1, control0 >> 10 & 31),
        ("the front face", control1 >> 8 & 1, control1 >> 12 & 31),
    ];
    for (what, on, register) in places {
        if on == 1 && register >= total {
            return trap(format!("{what} in R{register} is not counted by NUM_INTERP"));
        }
    }
    let flat_shading = state.register(address::SPI_INTERP_CONTROL_0).unwrap_or(0) & 1 == 1;
    let samples = control0 >> 26 & 3;
    let (perspective, linear) = (control0 >> 28 & 1 == 1, control0 >> 29 & 1 == 1);
    for n in 0..total {
        let Some(entry) = state.register(address::SPI_PS_INPUT_CNTL_0 + 4 * n) else {
            return trap(format!("SPI_PS_INPUT_CNTL_{n} is not programmed"));
        };
        let bit = |at: u32| entry >> at & 1 == 1;
        if bit(10) && !flat_shading {
            return trap(format!("parameter {n} is flat without FLAT_SHADE_ENA"));
        }
        if n >= count || bit(10) || bit(17) {
            continue;
        }
        let missing = match (bit(11), bit(18)) {
            (_, true) if control0 >> 31 == 0 => Some("BARYC_AT_SAMPLE_ENA"),
            (true, _) if samples == 1 => Some("CENTROIDS"),
            (false, false) if samples == 0 => Some("CENTERS"),
            _ if samples == 3 => Some("a BARYC_SAMPLE_CNTL that is defined"),
            _ if bit(12) && !linear => Some("LINEAR_GRADIENT_ENA"),
            // Perspective is on where linear is off.
            _ if !bit(12) && linear && !perspective => Some("PERSP_GRADIENT_ENA"),
            _ => None,
        };
        if let Some(missing) = missing {
            return trap(format!("parameter {n} wants {missing}"));
        }
    }
    Ok(())
}

/// Which parameter arrives in which register: `(register, parameter)`. A register whose semantic nobody exports keeps what
/// nobody wrote.
fn linked(
    state: &State,
    batch: &PixelBatch,
    control0: Option<u32>,
) -> Result<Vec<(u32, usize)>, Trap> {
    let count = batch.components.len();
    if batch.semantics.is_empty() {
        return Ok((0..count).map(|n| (n as u32, n)).collect());
    }
    let trap = |detail: String| Err(Trap::new(Rule::State, 0, detail));
    if batch.semantics.len() != count {
        return trap("the lists of the batch have different lengths".into());
    }
    let mut linked = Vec::new();
    for register in 0..control0.unwrap_or(0) & 63 {
        let entry = state.register(address::SPI_PS_INPUT_CNTL_0 + 4 * register);
        let entry = super::model::InputEntry::of(entry.unwrap_or(0));
        let wanted = (entry.semantic, entry.sampling);
        let found = batch.semantics.iter().position(|&own| own == wanted);
        // What is flat is the same at each place.
        let found = found.or_else(|| batch.semantics.iter().position(|own| own.0 == wanted.0));
        linked.extend(found.filter(|_| entry.semantic != 0).map(|n| (register, n)));
    }
    Ok(linked)
}

/// Select of T where it is 1.0 at the top.
const TOP: u32 = 8;

/// Registers whose parameter a point replaces: the select of each component, and what they hold where nothing is
/// drawn that has a place in a point. Guide, SPI_INTERP_CONTROL_0 and SPI_PS_INPUT_CNTL.
fn sprites(state: &State, total: u32) -> Vec<(u32, [u32; 4], [f32; 4])> {
    let control = state.register(address::SPI_INTERP_CONTROL_0).unwrap_or(0);
    let selects = [2, 5, 8, 11].map(|low| match control >> low & 7 {
        3 if control >> 14 & 1 == 1 => TOP,
        select => select,
    });
    (0..total)
        .filter_map(|n| {
            let entry = state.register(address::SPI_PS_INPUT_CNTL_0 + 4 * n)?;
            let default = match entry >> 8 & 3 {
                0 => [0.0; 4],
                1 => [0.0, 0.0, 0.0, 1.0],
                2 => [1.0, 1.0, 1.0, 0.0],
                _ => [1.0; 4],
            };
            let on = entry >> 17 & control >> 1 & 1 == 1;
            on.then_some((n, selects, default))
        })
        .collect()
}

/// Runs a pixel program on quads. Parameters, position and face stand where the state's SPI registers say.
///
/// # Errors
/// The rule that the program breaks, or a batch whose lists do not fit together.
pub fn run_pixels(
    code: &[u8],
    state: &mut State,
    batch: &PixelBatch,
    trace: Option<Trace>,
) -> Result<Launched, Trap> {
    needs(state, Stage::Pixel)?;
    let quads = batch.covered.len();
    let count = batch.components.len();
    let fits = batch.front.len() == quads
        && batch.position.len() == quads * 4
        && batch.parameters.len() == quads * 4 * count;
    if !fits {
        return Err(Trap::new(Rule::State, 0, "the lists of the batch have different lengths"));
    }
    let control0 = state.register(address::SPI_PS_IN_CONTROL_0);
    let control1 = state.register(address::SPI_PS_IN_CONTROL_1).unwrap_or(0);
    if let Some(control) = control0
        && batch.semantics.is_empty()
        && (control & 63) < count as u32
    {
        let detail = format!("NUM_INTERP is {}, {count} parameters arrive", control & 63);
        return Err(Trap::new(Rule::State, 0, detail));
    }
    if let Some(control) = control0 {
        entries(state, control, control1, count as u32)?;
    }
    let linked = linked(state, batch, control0)?;
    let control0 = control0.unwrap_or(0);
    let sprites = sprites(state, control0 & 63);
    launch(code, state, quads as u32 * 4, trace, |wave, lanes| {
        let first = wave.first_thread as usize;
        let mut valid = 0u64;
        for lane in each(lanes) {
            let thread = first + lane;
            valid |= u64::from(batch.covered[thread / 4] >> (thread % 4) & 1) << lane;
        }
        wave.valid = valid;
        // A quad starts when some of its pixels are covered: the others are helpers.
        wave.active &= super::lanes::quads(valid);
        let fill = |f: &dyn Fn(usize) -> u32| {
            let mut word = Word::UNDEFINED;
            word.poison = !lanes;
            for lane in each(lanes) {
                word.v[lane] = f(first + lane);
            }
            word
        };
        for &(register, parameter) in &linked {
            for c in 0..usize::from(batch.components[parameter]).min(4) {
                let word = fill(&|thread| batch.parameters[thread * count + parameter][c]);
                wave.set(register, c as u32, &word);
            }
        }
        for &(register, overrides, default) in &sprites {
            for (c, select) in (0u32..).zip(overrides) {
                // SPI_PNT_SPRITE_SEL_NONE keeps what was interpolated.
                if select > 3 && select != TOP && !batch.point.is_empty() {
                    continue;
                }
                let coordinate = |thread: usize, n: usize| batch.point.get(thread).map(|st| st[n]);
                let word = fill(&|thread| {
                    let value = match (select, batch.point.is_empty()) {
                        (0, false) => Some(0.0),
                        (1, false) => Some(1.0),
                        (2, false) => coordinate(thread, 0),
                        (3, false) => coordinate(thread, 1),
                        (TOP, false) => coordinate(thread, 1).map(|t| 1.0 - t),
                        _ => None,
                    };
                    value.unwrap_or(default[c as usize]).to_bits()
                });
                wave.set(register, c, &word);
            }
        }
        if control0 >> 8 & 1 == 1 {
            let register = control0 >> 10 & 31;
            for c in 0..4 {
                let word = fill(&|thread| batch.position[thread][c].to_bits());
                wave.set(register, c as u32, &word);
            }
        }
        if control1 >> 8 & 1 == 1 {
            let (channel, register) = (control1 >> 9 & 3, control1 >> 12 & 31);
            let all_bits = control1 >> 11 & 1 == 1;
            let word = fill(&|thread| match (batch.front[thread / 4], all_bits) {
                (true, true) => 1,
                (false, true) => 0,
                (true, false) => 1f32.to_bits(),
                (false, false) => (-1f32).to_bits(),
            });
            wave.set(register, channel, &word);
        }
        if control1 >> 24 & 1 == 1 {
            let register = control1 >> 25 & 31;
            let word = fill(&|thread| batch.sample.get(thread).copied().unwrap_or(0));
            wave.set(register, 3, &word);
        }
        Ok(())
    })
}
