//! What every emulated machine shares around its program: the verbs that run one, why a run stops, bindings as bytes, and
//! one launch of a program's bytes with its trace.

use crate::draw::{Draw, Early, QuadBatch, Targets, VertexId};
use crate::trap::{Law, Trap};
use crate::world::{Bindings, Bound};
use gpucc_ir::ssa::Span;
pub use gpucc_ir::ssa::interp::Emitted;
use gpucc_ir::ssa::numerics::Perturbation;
use std::fmt::Write;

/// What fresh memory holds, so that nobody mistakes it for zeros.
pub const GARBAGE: u32 = 0xDEAD_BEEF;

/// Invocations of one dispatch, or vertices of one draw, that are emulated: a few minutes of them.
pub const MOST_INVOCATIONS: u64 = 1 << 26;

/// Bytes of a trace that are kept: nobody reads more, and a long run has no end of it.
const LONGEST_TRACE: usize = 256 << 20;

/// Why a run stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// More steps than allowed, which is how many: neither right nor wrong.
    OutOfSteps(u64),
    /// The machine's manual forbids what the code did, or what the report says does not hold: our bug.
    Illegal {
        /// The rule's name.
        rule: String,
        /// What happened, and where in the code.
        message: String,
        /// Source position, when known.
        span: Span,
    },
    /// More is asked than an emulator does.
    TooLarge(String),
    /// The shader breaks a rule of its language.
    Invalid {
        /// Which, in words.
        message: String,
        /// Source position, when known.
        span: Span,
    },
}

/// How many invocations a dispatch has.
///
/// # Errors
/// [`Stop::TooLarge`] for more than [`MOST_INVOCATIONS`].
pub fn invocations(groups: [u32; 3], group: u32) -> Result<u32, Stop> {
    let count = groups.iter().fold(u64::from(group), |count, &n| count.saturating_mul(n.into()));
    match u32::try_from(count) {
        Ok(count) if u64::from(count) <= MOST_INVOCATIONS => Ok(count),
        _ => Err(Stop::TooLarge(format!(
            "{count} invocations are too many to be emulated: at most {MOST_INVOCATIONS}"
        ))),
    }
}

/// One draw's vertices.
#[derive(Clone, Debug)]
pub struct VertexRun<'a> {
    /// Which, without the first vertex and instance.
    pub ids: &'a [VertexId],
    /// Added to vertex numbers.
    pub first_vertex: u32,
    /// Added to instance numbers.
    pub first_instance: u32,
    /// Bytes of the vertex buffers, by the numbers of the pipeline's layout.
    pub buffers: &'a [Vec<u8>],
}

/// What one vertex gives: four words for each output of the function, in the outputs' order; 0
/// where nothing was written.
pub type VertexOut = Vec<[u32; 4]>;

/// One primitive of a geometry program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrimitiveIn {
    /// Number of the primitive.
    pub number: u32,
    /// Four words for each input of the function that is of a vertex ([`InputKind::Corner`](gpucc_ir::ssa::InputKind)), in the
    /// inputs' order; the others have words that nobody reads.
    pub inputs: Vec<[u32; 4]>,
}

/// What a geometry program emits for one primitive: all its invocations, in their order. Each begins a strip.
pub type PrimitiveOut = Vec<Emitted>;

/// What one pixel gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FragmentOut {
    /// Demoted.
    pub discarded: bool,
    /// For each output of the function, in the outputs' order, four words.
    pub outputs: Vec<[u32; 4]>,
}

/// An emulated machine with a program, ready to run. Inputs and outputs are those of the function that the program was
/// made from. Between the calls of one draw bindings stay the same, but for what the program itself stores.
pub trait Device {
    /// Runs workgroups of a compute program.
    ///
    /// # Errors
    /// [`Stop`].
    fn dispatch(&mut self, bindings: &mut Bindings, groups: [u32; 3]) -> Result<(), Stop>;
    /// Runs vertices.
    ///
    /// # Errors
    /// [`Stop`].
    fn vertices(
        &mut self,
        bindings: &mut Bindings,
        run: &VertexRun<'_>,
    ) -> Result<Vec<VertexOut>, Stop>;
    /// Runs a geometry program; what each primitive becomes, in order.
    ///
    /// # Errors
    /// [`Stop`]. By default the emulated machine has no such programs.
    fn primitives(
        &mut self,
        bindings: &mut Bindings,
        primitives: &[PrimitiveIn],
    ) -> Result<Vec<PrimitiveOut>, Stop> {
        let _ = (bindings, primitives);
        Err(Stop::TooLarge("the emulated machine runs no geometry programs".into()))
    }
    /// Runs quads; the batch's varyings are the function's location inputs in their order. Gives
    /// four pixels a quad.
    ///
    /// # Errors
    /// [`Stop`].
    fn quads(
        &mut self,
        bindings: &mut Bindings,
        batch: &QuadBatch,
    ) -> Result<Vec<FragmentOut>, Stop>;
    /// A pixel of its quads has at most so many samples.
    fn most_samples(&self) -> u32 {
        1
    }
    /// The fragment program runs for each sample, as the state around it says.
    fn by_sample(&self) -> bool {
        false
    }
    /// What happens to pixels before the program runs, as the state around it says.
    fn early(&self) -> Early {
        Early::default()
    }
    /// What counts steps and keeps the trace. A step is one instruction of a wavefront or a warp. At the start there are as
    /// many as the machine executes in about four seconds.
    fn launcher(&mut self) -> &mut Launcher;
    /// Steps that are left.
    fn steps(&self) -> u64;
    /// Chooses by a seed what the machine leaves open: the order of wavefronts or warps, where they begin, when messages
    /// arrive, what stands in bits that nothing defines.
    fn set_order(&mut self, seed: u64) {
        let _ = seed;
    }
    /// Makes the functions that the machine approximates err as the perturbation says; [`None`] makes them exact again.
    fn set_errors(&mut self, errors: Option<Perturbation>) {
        let _ = errors;
    }
    /// What the last call stored where nothing is bound, on machines whose memory has no fences there.
    fn stray(&self) -> Option<&str> {
        None
    }
}

/// A draw as a driver sends it.
pub struct DrawCall<'a> {
    /// Fixed function around the programs.
    pub state: &'a Draw,
    /// Bytes of the vertex buffers, by the numbers of the pipeline's layout.
    pub buffers: &'a [Vec<u8>],
    /// Bindings of the vertex program, then of the fragment program.
    pub bindings: [&'a mut Bindings; 2],
    /// Those of the geometry program between them, where the machine was made with one.
    pub between: Option<&'a mut Bindings>,
    /// What is drawn to.
    pub targets: &'a mut Targets,
}

/// An emulated machine with a vertex and a fragment program, a geometry program between them where there is one, and the programs
/// of its fixed function, which draws by itself: vertices, primitives, clipping, setup, rasterisation, tests and blending are its units'.
pub trait Drawer {
    /// Draws. False where the emulator's units lack something that the draw asks for: then nothing was drawn.
    ///
    /// # Errors
    /// [`Stop`].
    fn draw(&mut self, call: DrawCall<'_>) -> Result<bool, Stop>;
    /// What counts steps and keeps the trace.
    fn launcher(&mut self) -> &mut Launcher;
}

/// The bytes of words in memory order.
pub fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Bytes as words in memory order; what a last word lacks is [`GARBAGE`].
pub fn words_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks(4).map(|chunk| {
        let mut word = GARBAGE.to_le_bytes();
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    })
}

/// Overwrites bytes by words, as far as there are both.
pub fn write_words(bytes: &mut [u8], words: &[u32]) {
    for (place, word) in bytes.chunks_mut(4).zip(words) {
        let len = place.len();
        place.copy_from_slice(&word.to_le_bytes()[..len]);
    }
}

/// The memory of a binding that a program may store to: a buffer's bytes, or those of an image's level 0.
pub fn memory_of(bound: &Bound) -> &[u8] {
    match bound {
        Bound::Image(image) => image.level_bytes(0),
        _ => bound.bytes(),
    }
}

/// [`memory_of`], to copy back what a program stored; `None` where nothing of that kind is bound.
pub fn memory_of_mut(bound: &mut Bound) -> Option<&mut [u8]> {
    match bound {
        Bound::Buffer(bytes) => Some(bytes),
        Bound::Image(image) => Some(image.level_bytes_mut(0)),
        Bound::Nothing | Bound::Sampler(_) => None,
    }
}

/// Adds to a trace, or says once that the rest is left out.
pub fn record(trace: &mut String, text: std::fmt::Arguments<'_>) {
    if trace.len() < LONGEST_TRACE {
        let _ = trace.write_fmt(text);
        if trace.len() >= LONGEST_TRACE {
            trace.push_str("... the rest is left out\n");
        }
    }
}

/// A program's bytes, the steps that its runs may take, and what they executed.
pub struct Launcher {
    code: Vec<u8>,
    /// Source positions by code offset, ascending.
    lines: Vec<(u32, Span)>,
    tracing: bool,
    trace: String,
    /// Steps that were set.
    limit: u64,
    /// Of these, what is left.
    pub steps: u64,
}

impl Launcher {
    /// For bytes whose instructions came from `lines`, which may take so many steps.
    pub fn new(code: &[u8], lines: &[(u32, Span)], steps: u64) -> Launcher {
        Launcher {
            code: code.to_vec(),
            lines: lines.to_vec(),
            tracing: false,
            trace: String::new(),
            limit: steps,
            steps,
        }
    }

    /// Runs the bytes; `run` gets them with the writer of the trace, when tracing is on.
    ///
    /// # Errors
    /// [`Stop`]: out of steps, or the rule that was broken with the source position it came from.
    pub fn run<T, R: Law>(
        &mut self,
        run: impl FnOnce(&[u8], Option<&mut dyn FnMut(&str)>) -> Result<T, Trap<R>>,
    ) -> Result<T, Stop> {
        let trace = &mut self.trace;
        let mut write = |line: &str| {
            record(trace, format_args!("{line}\n"));
        };
        let result =
            if self.tracing { run(&self.code, Some(&mut write)) } else { run(&self.code, None) };
        result.map_err(|trap| self.stop(&trap))
    }

    fn stop<R: Law>(&self, trap: &Trap<R>) -> Stop {
        if trap.rule == R::STEPS {
            return Stop::OutOfSteps(self.limit);
        }
        let at = self.lines.partition_point(|&(offset, _)| offset <= trap.offset);
        let span = at.checked_sub(1).map_or(Span::NONE, |index| self.lines[index].1);
        Stop::Illegal { rule: "the emulated machine".into(), message: trap.to_string(), span }
    }

    /// Text of what was executed since the last call, when tracing is on.
    pub fn take_trace(&mut self) -> String {
        std::mem::take(&mut self.trace)
    }

    /// Sets the steps that runs from here on may take together.
    pub fn set_steps(&mut self, steps: u64) {
        (self.limit, self.steps) = (steps, steps);
    }

    /// Turns tracing on or off.
    pub fn set_trace(&mut self, on: bool) {
        self.tracing = on;
    }

    /// Runs what has no bytes: `run` gets the steps that are left, and the trace when tracing is on. It says `None` when it
    /// ran out of steps.
    ///
    /// # Errors
    /// [`Stop::OutOfSteps`], and what `run` says.
    pub fn interpret<T>(
        &mut self,
        run: impl FnOnce(&mut u64, Option<&mut String>) -> Result<Option<T>, Stop>,
    ) -> Result<T, Stop> {
        let trace = self.tracing.then_some(&mut self.trace);
        run(&mut self.steps, trace)?.ok_or(Stop::OutOfSteps(self.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes_go_both_ways_and_a_cut_word_is_filled_with_garbage() {
        let bytes = [1, 2, 3, 4, 5];
        let words: Vec<u32> = words_of(&bytes).collect();
        assert_eq!(words, [0x0403_0201, 0xDEAD_BE05]);
        let mut back = [0; 5];
        write_words(&mut back, &words);
        assert_eq!(back, bytes);
        assert_eq!(bytes_of(&[0x0403_0201]), bytes[..4]);
    }

    #[test]
    fn too_many_invocations_are_told_and_never_wrap() {
        assert_eq!(invocations([2, 3, 4], 5), Ok(120));
        let too_large =
            |groups, group| matches!(invocations(groups, group), Err(Stop::TooLarge(_)));
        assert!(too_large([1 << 26, 1, 1], 2));
        assert!(too_large([u32::MAX; 3], u32::MAX));
    }
}
