//! The interpreter: what a [`Func`] means. Every machine is measured against it.
//!
//! Invocations run in lock step: one walk over the regions carries all lanes, each construct under
//! the mask of the lanes that are in it, each value as an array over lanes. Barriers are then points
//! that a workgroup's lanes must reach together, and quads are lanes `4k..4k+4` (upper left, upper
//! right, lower left, lower right).
//!
//! Lock step is one legal order among many, so it says nothing about racy programs. Every access to
//! storage and workgroup memory is therefore marked with its invocation and its barrier epoch
//! ([`Marks`]); a second run that is given the marks of the first follows what depends on racy
//! words ([`Outcome::excluded`]).

mod doubt;
mod exec;
mod memory;
mod slots;
mod subgroup;
mod texture;

use super::func::{Func, Inst, Mem, MemSpace, Stage};
use super::numerics::Numerics;
use super::resource::{Builtin, Input, InputKind, Resource};
use super::world::World;
use crate::Set;

/// Most words of variables that the invocations of one run may have together: 512 MiB.
const MOST_WORDS: u64 = 1 << 27;

/// A word that invocations share: of a buffer's element, of a workgroup's variable, or of an image.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// A storage buffer's word: binding, element, byte address.
    Buffer(Resource, u32, u32),
    /// A workgroup variable's word: workgroup within the run, variable, byte address.
    Workgroup(u32, Mem, u32),
    /// A storage texture's texel: binding, element, and x, y, z, layer folded into a number.
    Texel(Resource, u32, u64),
}

/// Words whose final value, or whose readers, depend on the order of invocations, and what else machines may give differently.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Touched by two invocations in one epoch, one writing, not both atomically.
    pub racy: Set<Word>,
    /// Words that an atomic changed while another invocation could read them: what it read says who came first.
    pub moving: Set<Word>,
    /// Some invocation used the value that an atomic returned.
    pub atomic_results: bool,
    /// Some invocation read what is in a lane that was not there: a quad's or a subgroup's.
    pub absent_lanes: bool,
    /// Some invocation used a value that no rule fixes: a clock's, or a level that a sampler rounds.
    pub free: bool,
}

impl Marks {
    /// True when nothing depends on the order of invocations or on the machine's choice.
    pub fn is_empty(&self) -> bool {
        self.racy.is_empty() && !self.atomic_results && !self.absent_lanes && !self.free
    }
}

/// What must not be compared, because it follows from what depends on the order of invocations.
#[derive(Clone, Debug, Default)]
pub struct Excluded {
    /// Everything: control flow depended on it in a way that is not told apart.
    pub all: bool,
    /// Whether loops end: how many times one runs depended on it.
    pub endless: bool,
    /// Words written with such a value, and the racy words themselves.
    pub words: Set<Word>,
    /// Buffers and images written at such an address, or behind such a branch.
    pub resources: Set<Resource>,
    /// Per output component (`output index * 4 + component`), per lane.
    pub outputs: Vec<Vec<bool>>,
}

impl Excluded {
    /// Excludes besides what another run of the same shape excludes.
    pub fn join(&mut self, other: &Excluded) {
        self.all |= other.all;
        self.endless |= other.endless;
        self.words.extend(other.words.iter().cloned());
        self.resources.extend(other.resources.iter().copied());
        for (lanes, others) in self.outputs.iter_mut().zip(&other.outputs) {
            for (lane, &other) in lanes.iter_mut().zip(others) {
                *lane |= other;
            }
        }
    }
}

/// Lanes of a subgroup: neighbours in the order of their local index. The only machine of ours that
/// has subgroups has them of this size.
pub const SUBGROUP: u32 = 16;

/// Lanes that cost one unit of [`Options::work`] together: those of a wavefront.
pub const WAVE: usize = 64;
/// What a sample costs, in instructions: about as long as that many take.
pub const FETCH: u64 = 8;

/// The invocations of a run and what they are given.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Number of invocations; a multiple of 4 in fragment programs.
    pub count: usize,
    /// `[input][lane]`: four words each, by input number.
    pub inputs: Vec<Vec<[u32; 4]>>,
    /// Workgroup of each lane within the run (0 without workgroups).
    pub workgroup: Vec<u32>,
    /// Fragment: lanes that only help their quad.
    pub helper: Vec<bool>,
}

impl Lanes {
    /// `count` lanes of one workgroup, all inputs 0, no helpers.
    pub fn new(func: &Func, count: usize) -> Lanes {
        Lanes {
            count,
            inputs: vec![vec![[0; 4]; count]; func.inputs.len()],
            workgroup: vec![0; count],
            helper: vec![false; count],
        }
    }

    /// The invocations of the workgroups `from..to` (counted x first) of a dispatch of `groups`
    /// workgroups, with every compute builtin filled in.
    pub fn compute(func: &Func, groups: [u32; 3], from: u32, to: u32) -> Lanes {
        let [sx, sy, sz] = func.workgroup_size.map(|n| n.max(1));
        let size = sx * sy * sz;
        let mut lanes = Lanes::new(func, ((to - from) * size) as usize);
        for lane in 0..lanes.count {
            let (group, local) = (from + lane as u32 / size, lane as u32 % size);
            lanes.workgroup[lane] = group - from;
            let id =
                [group % groups[0], group / groups[0] % groups[1], group / groups[0] / groups[1]];
            let at = [local % sx, local / sx % sy, local / sx / sy];
            for (input, data) in func.inputs.iter() {
                let InputKind::Builtin(builtin) = data.kind else {
                    continue;
                };
                lanes.inputs[slot(input)][lane] = match builtin {
                    Builtin::GlobalInvocationId => {
                        [id[0] * sx + at[0], id[1] * sy + at[1], id[2] * sz + at[2], 0]
                    }
                    Builtin::LocalInvocationId => [at[0], at[1], at[2], 0],
                    Builtin::LocalInvocationIndex => [local, 0, 0, 0],
                    Builtin::WorkgroupId => [id[0], id[1], id[2], 0],
                    Builtin::NumWorkgroups => [groups[0], groups[1], groups[2], 0],
                    Builtin::SubgroupSize => [SUBGROUP, 0, 0, 0],
                    Builtin::SubgroupInvocationId => [local % SUBGROUP, 0, 0, 0],
                    Builtin::SubgroupId => [local / SUBGROUP, 0, 0, 0],
                    Builtin::NumSubgroups => [size.div_ceil(SUBGROUP), 0, 0, 0],
                    _ => continue,
                };
            }
        }
        lanes
    }
}

/// Position of an input in [`Lanes::inputs`].
pub fn slot(input: Input) -> usize {
    input.as_u32() as usize
}

/// A vertex that a geometry program emitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emitted {
    /// Four words for each output, by output number; 0 where nothing was written.
    pub outputs: Vec<[u32; 4]>,
    /// It begins a strip, as each point does.
    pub begins: bool,
}

/// What a run leaves behind, beside what it did to its [`World`].
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// `[output][lane]`: four words each, by output number; 0 where nothing was written.
    pub outputs: Vec<Vec<[u32; 4]>>,
    /// Geometry: what each lane emitted, in order.
    pub emitted: Vec<Vec<Emitted>>,
    /// Lanes that were demoted (or were helpers from the start).
    pub helper: Vec<bool>,
    /// Instructions executed (once for all lanes together).
    pub steps: u64,
    /// What depends on the order of invocations.
    pub marks: Marks,
    /// What follows from it: filled when the run was given marks.
    pub excluded: Excluded,
    /// The first instruction that accessed a variable, a buffer or an array of bindings beyond its end: reads gave 0 and
    /// writes went nowhere, which no machine owes.
    pub beyond: Option<Inst>,
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The limit of steps was reached, or that of work.
    #[error("the run took more than {0} steps")]
    OutOfSteps(u64),
    /// Some lanes of a workgroup reached a barrier and others did not.
    #[error("{0}: a barrier in divergent control flow")]
    DivergentBarrier(Inst),
    /// Control reached `unreachable`.
    #[error("{0}: reached `unreachable`")]
    Unreachable(Inst),
    /// Values and variables of all invocations together do not fit.
    #[error("the invocations of a run need {needed} words of memory, more than {available}")]
    Memory {
        /// Words.
        needed: u64,
        /// Words.
        available: u64,
    },
    /// The function breaks an invariant of the verifier.
    #[error("{0}: malformed: {1}")]
    Malformed(Inst, &'static str),
}

/// Sees every executed instruction.
pub trait Trace {
    /// `lanes` are those that executed it; `value(lane, k)` gives result `k`.
    fn executed(
        &mut self,
        func: &Func,
        inst: Inst,
        lanes: &[usize],
        value: &dyn Fn(usize, usize) -> u64,
    );
}

/// Results that another form of a program may give in other bits; what follows from them is excluded.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inexact {
    /// None.
    #[default]
    Nothing,
    /// Those of functions that machines approximate ([`Op::is_approximated`](super::Op::is_approximated)): a quotient that a
    /// machine makes of a reciprocal counts, and so do the face of a cube and the level of a comparison.
    Functions,
    /// All that is computed of floats, that a sampler filters, and that a texel's format rounds. Integers, memory, texels and
    /// choices between them are left.
    Floats,
}

/// How a run is done.
pub struct Options<'a> {
    /// The numeric model.
    pub numerics: &'a Numerics,
    /// The most instructions to execute (counted once for all lanes together).
    pub steps: u64,
    /// Work that is left, and what the run leaves of it: an instruction costs one for every
    /// [`WAVE`] lanes begun, and [`FETCH`] times that where it samples a texture.
    pub work: Option<&'a mut u64>,
    /// Marks of an earlier run over the same input: then [`Outcome::excluded`] is filled.
    pub marks: Option<&'a Marks>,
    /// What is excluded beside what follows from the marks.
    pub inexact: Inexact,
    /// Sees every executed instruction.
    pub trace: Option<&'a mut dyn Trace>,
    /// Takes [`Outcome::beyond`], of runs too that stop early.
    pub beyond: Option<&'a mut Option<Inst>>,
}

impl<'a> Options<'a> {
    /// One million steps, any work, nothing else.
    pub fn new(numerics: &'a Numerics) -> Options<'a> {
        Options {
            numerics,
            steps: 1_000_000,
            work: None,
            marks: None,
            inexact: Inexact::Nothing,
            trace: None,
            beyond: None,
        }
    }
}

/// Runs a verified function.
///
/// # Errors
/// [`Stop`]; the world keeps what was stored until then.
pub fn run<'a>(
    func: &'a Func,
    lanes: &'a Lanes,
    world: &'a mut dyn World,
    options: Options<'a>,
) -> Result<Outcome, Stop> {
    let needed = memory::words(func, lanes);
    if needed > MOST_WORDS {
        return Err(Stop::Memory { needed, available: MOST_WORDS });
    }
    exec::Machine::new(func, lanes, world, options).run()
}

/// Bytes of workgroup memory.
pub fn workgroup_bytes(func: &Func) -> u32 {
    func.mems.values().filter(|mem| mem.space == MemSpace::Workgroup).map(|mem| mem.size).sum()
}

/// True for programs whose lanes form quads.
fn has_quads(func: &Func) -> bool {
    func.stage == Stage::Fragment
}

#[cfg(test)]
mod tests;
